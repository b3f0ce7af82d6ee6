/* mistake: what the threads are handed is taken back before they are joined
 * fails: ThreadedContexts.ThreadsFinishTheirWork
 * finds: nothing, CUDA is asked for nothing that is wrong
 */
#include "lesson.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static CUresult run_kernel(const char *image, const struct threaded_array *array)
{
    CUmodule module = NULL;
    CUfunction kernel = NULL;
    CUdeviceptr device_values = 0;
    size_t length = array->length, bytes = length * sizeof *array->values;
    void *arguments[] = {&device_values, &length};

    CUresult error = cuModuleLoadData(&module, image);
    if (error) goto cleanup;
    error = cuModuleGetFunction(&kernel, module, MULTIPLY_DIVIDE_NAME);
    if (error) goto cleanup;
    error = cuMemAlloc(&device_values, bytes);
    if (error) goto cleanup;
    error = cuMemcpyHtoD(device_values, array->values, bytes);
    if (error) goto cleanup;
    error =
        cuLaunchKernel(kernel, 1, 1, 1, MULTIPLY_DIVIDE_THREADS, 1, 1, 0, NULL, arguments, NULL);
    if (error) goto cleanup;

    error = cuMemcpyDtoH(array->values, device_values, bytes);

cleanup:
    if (device_values) cuMemFree(device_values);
    if (module) cuModuleUnload(module);
    return error;
}

static struct threaded_result transform(const char *image, const struct threaded_array *array)
{
    struct threaded_result result = {.error = CUDA_SUCCESS, .sum = 0.0};
    CUcontext context = NULL;
    CUdevice device = 0;

    result.error = cuInit(0);
    if (result.error) return result;
    result.error = cuDeviceGet(&device, 0);
    if (result.error) return result;
    result.error = cuCtxCreate(&context, NULL, 0, device);
    if (result.error) return result;

    result.error = run_kernel(image, array);

    CUresult destroyed = cuCtxDestroy(context);
    if (!result.error) result.error = destroyed;
    if (!result.error)
        for (size_t i = 0; i < array->length; i++) result.sum += array->values[i];
    return result;
}

static CUresult first_error(const struct threaded_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (results[i].error) return results[i].error;
    return CUDA_SUCCESS;
}

struct job {
    const char *image;
    struct threaded_array array;
};

static void *thread_main(void *argument)
{
    const struct job job = *(const struct job *)argument;
    struct threaded_result *result = malloc(sizeof *result);
    if (result) *result = transform(job.image, &job.array);
    return result;
}

CUresult threaded_contexts_threads(const char *image, const struct threaded_array *arrays,
                                   size_t count, struct threaded_result *results)
{
    if (!count) return CUDA_SUCCESS;
    struct job job = {.image = image};
    pthread_t *threads = calloc(count, sizeof *threads);
    int *started = calloc(count, sizeof *started);

    for (size_t i = 0; i < count; i++) {
        job.array = arrays[i];
        if (threads && started) started[i] = !pthread_create(&threads[i], NULL, thread_main, &job);
    }
    job.image = NULL;

    for (size_t i = 0; i < count; i++) {
        void *value = NULL;
        results[i] = (struct threaded_result){.error = CUDA_ERROR_OPERATING_SYSTEM};
        if (!started || !started[i] || pthread_join(threads[i], &value) || !value) continue;
        results[i] = *(struct threaded_result *)value;
        free(value);
    }
    free(threads);
    free(started);
    return first_error(results, count);
}

struct region {
    struct threaded_result *results;
    float *values;
    size_t bytes;
};

static int region_make(struct region *region, const struct threaded_array *arrays, size_t count)
{
    size_t length = 0;
    for (size_t i = 0; i < count; i++) length += arrays[i].length;
    region->bytes = count * sizeof *region->results + length * sizeof *region->values;
    void *memory =
        mmap(NULL, region->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return -1;

    region->results = memory;
    region->values = (float *)(region->results + count);

    for (size_t i = 0; i < count; i++)
        region->results[i] = (struct threaded_result){.error = CUDA_ERROR_OPERATING_SYSTEM};
    for (size_t i = 0, at = 0; i < count; at += arrays[i++].length)
        memcpy(region->values + at, arrays[i].values, arrays[i].length * sizeof(float));
    return 0;
}

/* Waits for the child, whatever signals come meanwhile. */
static pid_t wait_for(pid_t child, int *status)
{
    pid_t ended;
    do ended = waitpid(child, status, 0);
    while (ended < 0 && errno == EINTR);
    return ended;
}

CUresult threaded_contexts_processes(const char *image, const struct threaded_array *arrays,
                                     size_t count, struct threaded_result *results)
{
    struct region region = {0};
    pid_t *children = NULL;

    if (!count) return CUDA_SUCCESS;
    for (size_t i = 0; i < count; i++)
        results[i] = (struct threaded_result){.error = CUDA_ERROR_OPERATING_SYSTEM};
    if (region_make(&region, arrays, count)) return CUDA_ERROR_OPERATING_SYSTEM;
    children = malloc(count * sizeof *children);
    if (!children) goto cleanup;

    for (size_t i = 0, at = 0; i < count; at += arrays[i++].length) {
        children[i] = fork();
        if (children[i]) continue;
        struct threaded_array own = {.values = region.values + at, .length = arrays[i].length};
        region.results[i] = transform(image, &own);

        _exit(0);
    }
    for (size_t i = 0, at = 0; i < count; at += arrays[i++].length) {
        int status = 0;
        if (children[i] < 0 || wait_for(children[i], &status) != children[i]) continue;
        if (!WIFEXITED(status) || WEXITSTATUS(status)) continue;
        results[i] = region.results[i];
        if (!results[i].error)
            memcpy(arrays[i].values, region.values + at, arrays[i].length * sizeof(float));
    }

cleanup:
    free(children);
    munmap(region.results, region.bytes);
    return first_error(results, count);
}
