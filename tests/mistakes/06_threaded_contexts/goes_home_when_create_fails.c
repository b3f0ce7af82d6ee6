/* mistake: a thread that cannot be started ends the function, and those that run go on
 * fails: ThreadedContexts.EveryErrorIsReturnedAndNothingLeaks
 * finds: nothing, what is not written shows first
 */
#include "lesson.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static CUresult run_kernel(CUmodule module, CUdeviceptr values, size_t length)
{
    CUfunction function;
    void *arguments[] = {&values, &length};
    CUresult error = cuModuleGetFunction(&function, module, MULTIPLY_DIVIDE_NAME);
    if (error) return error;
    return cuLaunchKernel(function, 1, 1, 1, MULTIPLY_DIVIDE_THREADS, 1, 1, 0, NULL, arguments,
                          NULL);
}

static CUresult in_own_context(const char *image, const struct threaded_array *array, float **new)
{
    CUmodule module;
    CUdeviceptr values;
    CUresult error, e;
    size_t bytes;

    if (__builtin_mul_overflow(array->length, sizeof(float), &bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    error = cuModuleLoadData(&module, image);
    if (error) return error;

    error = cuMemAlloc(&values, bytes);
    if (!error) {
        *new = malloc(bytes);
        if (!*new) error = CUDA_ERROR_OUT_OF_MEMORY;
        if (!error) error = cuMemcpyHtoD(values, array->values, bytes);
        if (!error) error = run_kernel(module, values, array->length);
        if (!error) error = cuMemcpyDtoH(*new, values, bytes);
        e = cuMemFree(values);
        if (!error) error = e;
    }
    e = cuModuleUnload(module);
    return error ? error : e;
}

static CUresult do_array(const char *image, const struct threaded_array *array, float **new,
                         double *sum)
{
    CUdevice device;
    CUcontext context;
    CUresult error, destroyed;

    *new = NULL;
    *sum = 0;
    error = cuInit(0);
    if (error) return error;
    error = cuDeviceGet(&device, 0);
    if (error) return error;
    error = cuCtxCreate(&context, NULL, 0, device);
    if (error) return error;
    error = in_own_context(image, array, new);
    destroyed = cuCtxDestroy(context);
    if (!error) error = destroyed;
    for (size_t i = 0; !error && i < array->length; i++) *sum += (*new)[i];
    return error;
}

struct worker {
    const char *image;
    const struct threaded_array *array;
    pthread_t thread;
};

static void *worker_main(void *argument)
{
    const struct worker *worker = argument;
    struct threaded_result *result = malloc(sizeof *result);
    float *new;

    if (!result) return NULL;
    result->error = do_array(worker->image, worker->array, &new, &result->sum);
    if (!result->error) memcpy(worker->array->values, new, worker->array->length * sizeof *new);
    free(new);
    return result;
}

static CUresult start_all(struct worker *workers, const char *image,
                          const struct threaded_array *arrays, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        workers[i].image = image;
        workers[i].array = &arrays[i];
        if (pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]) != 0)
            return CUDA_ERROR_OPERATING_SYSTEM;
    }
    return CUDA_SUCCESS;
}

static CUresult first_error(const struct threaded_result *results, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        if (results[i].error) break;
    return i == count ? CUDA_SUCCESS : results[i].error;
}

CUresult threaded_contexts_threads(const char *image, const struct threaded_array *arrays,
                                   size_t count, struct threaded_result *results)
{
    struct worker *workers = calloc(count + 1, sizeof *workers);
    CUresult error;

    if (!workers) {
        for (size_t i = 0; i < count; i++)
            results[i] = (struct threaded_result){CUDA_ERROR_OPERATING_SYSTEM, 0};
        return count ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
    }

    error = start_all(workers, image, arrays, count);
    if (error) return error;

    for (size_t i = 0; i < count; i++) {
        void *value = NULL;
        pthread_join(workers[i].thread, &value);
        results[i] = value ? *(struct threaded_result *)value
                           : (struct threaded_result){CUDA_ERROR_OPERATING_SYSTEM, 0};
        free(value);
    }
    free(workers);
    return first_error(results, count);
}

/* What a child writes to its file: the result, and behind it the values, if there are any. */
static int save(FILE *file, const struct threaded_result *result, const float *new, size_t length)
{
    if (fwrite(result, sizeof *result, 1, file) != 1) return -1;
    if (!result->error && fwrite(new, sizeof *new, length, file) != length) return -1;
    return fflush(file);
}

static void load(FILE *file, const struct threaded_array *array, struct threaded_result *result)
{
    struct threaded_result saved;

    rewind(file);
    if (fread(&saved, sizeof saved, 1, file) != 1) return;
    if (saved.error == CUDA_SUCCESS) {
        float *new = malloc(array->length * sizeof *new);
        size_t got = new ? fread(new, sizeof *new, array->length, file) : 0;
        if (got == array->length) memcpy(array->values, new, array->length * sizeof *new);
        free(new);
        if (got != array->length) return;
    }
    *result = saved;
}

CUresult threaded_contexts_processes(const char *image, const struct threaded_array *arrays,
                                     size_t count, struct threaded_result *results)
{
    FILE **files = calloc(count + 1, sizeof *files);
    pid_t *pids = calloc(count + 1, sizeof *pids);

    for (size_t i = 0; i < count; i++) {
        results[i].error = CUDA_ERROR_OPERATING_SYSTEM;
        results[i].sum = 0;
        if (!files || !pids || !(files[i] = tmpfile())) continue;
        pids[i] = fork();
        if (pids[i] == 0) {
            struct threaded_result result;
            float *new;
            result.error = do_array(image, &arrays[i], &new, &result.sum);
            _exit(save(files[i], &result, new, arrays[i].length) ? 1 : 0);
        }
    }
    for (size_t i = 0; files && pids && i < count; i++) {
        if (pids[i] > 0) {
            while (waitpid(pids[i], NULL, 0) < 0 && errno == EINTR) continue;
            load(files[i], &arrays[i], &results[i]);
        }
        if (files[i]) fclose(files[i]);
    }
    free(files);
    free(pids);
    return first_error(results, count);
}
