/* mistake: the context is popped, not destroyed, when the image is no module
 * fails: ThreadedContexts.ErrorsLeaveNothingBehind
 * finds: leak at "device)"
 */
#include "lesson.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static CUresult either(CUresult first, CUresult second)
{
    return first != CUDA_SUCCESS ? first : second;
}

static CUresult launch(CUfunction function, CUdeviceptr values, size_t length)
{
    void *parameters[] = {&values, &length};
    return cuLaunchKernel(function, 1, 1, 1, MULTIPLY_DIVIDE_THREADS, 1, 1, 0, NULL, parameters,
                          NULL);
}

static CUresult with_module(CUmodule module, const struct threaded_array *array, float **fresh)
{
    CUfunction function;
    CUdeviceptr values;
    size_t bytes;

    CUresult error = cuModuleGetFunction(&function, module, MULTIPLY_DIVIDE_NAME);
    if (error) return error;
    if (__builtin_mul_overflow(array->length, sizeof(float), &bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    error = cuMemAlloc(&values, bytes);
    if (error) return error;

    error = cuMemcpyHtoD(values, array->values, bytes);
    if (!error) error = launch(function, values, array->length);
    if (!error && !(*fresh = malloc(bytes))) error = CUDA_ERROR_OUT_OF_MEMORY;
    if (!error) error = cuMemcpyDtoH(*fresh, values, bytes);
    return either(error, cuMemFree(values));
}

static CUresult transform(const char *image, const struct threaded_array *array, float **fresh)
{
    CUdevice device;
    CUcontext context, popped;
    CUmodule module;
    CUresult error;

    error = cuInit(0);
    if (error) return error;
    error = cuDeviceGet(&device, 0);
    if (error) return error;
    error = cuCtxCreate(&context, NULL, 0, device);
    if (error) return error;

    error = cuModuleLoadData(&module, image);
    if (error) {
        cuCtxPopCurrent(&popped);
        return error;
    }

    error = with_module(module, array, fresh);
    error = either(error, cuModuleUnload(module));
    return either(error, cuCtxDestroy(context));
}

/* The result of one array; *fresh are the new values if there is no error, else NULL. */
static struct threaded_result process(const char *image, const struct threaded_array *array,
                                      float **fresh)
{
    struct threaded_result result = {CUDA_SUCCESS, 0};

    *fresh = NULL;
    result.error = transform(image, array, fresh);
    if (result.error) {
        free(*fresh);
        *fresh = NULL;
        return result;
    }
    for (size_t i = 0; i < array->length; i++) result.sum += (double)(*fresh)[i];
    return result;
}

struct order {
    const char *image;
    const struct threaded_array *array;
};

static void *thread(void *argument)
{
    const struct order *order = argument;
    struct threaded_result *result = malloc(sizeof *result);
    float *fresh;

    if (result == NULL) return NULL;
    *result = process(order->image, order->array, &fresh);
    if (fresh) memcpy(order->array->values, fresh, order->array->length * sizeof *fresh);
    free(fresh);
    return result;
}

static CUresult summary(const struct threaded_result *results, size_t count)
{
    CUresult first = CUDA_SUCCESS;
    for (size_t i = 0; i < count; i++) first = either(first, results[i].error);
    return first;
}

CUresult threaded_contexts_threads(const char *image, const struct threaded_array *arrays,
                                   size_t count, struct threaded_result *results)
{
    struct order *orders = calloc(count + 1, sizeof *orders);
    pthread_t *threads = calloc(count + 1, sizeof *threads);
    unsigned char *runs = calloc(count + 1, sizeof *runs);

    for (size_t i = 0; orders && threads && runs && i < count; i++) {
        orders[i] = (struct order){image, &arrays[i]};
        runs[i] = !pthread_create(&threads[i], NULL, thread, &orders[i]);
    }
    for (size_t i = 0; i < count; i++) {
        void *value = NULL;
        if (orders && threads && runs && runs[i]) pthread_join(threads[i], &value);
        results[i].error = CUDA_ERROR_OPERATING_SYSTEM;
        results[i].sum = 0;
        if (value) memcpy(&results[i], value, sizeof results[i]);
        free(value);
    }
    free(runs);
    free(threads);
    free(orders);
    return summary(results, count);
}

enum direction { IN, OUT };

static int transfer(enum direction direction, int fd, void *data, size_t size)
{
    char *at = data;
    while (size > 0) {
        ssize_t n = direction == IN ? read(fd, at, size) : write(fd, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return -1;
        at += n;
        size -= (size_t)n;
    }
    return 0;
}

static void child(const char *image, const struct threaded_array *array, int out)
{
    float *fresh;
    struct threaded_result result = process(image, array, &fresh);
    if (transfer(OUT, out, &result, sizeof result)) _exit(1);
    if (fresh && transfer(OUT, out, fresh, array->length * sizeof *fresh)) _exit(1);
    _exit(0);
}

static void collect(int in, const struct threaded_array *array, struct threaded_result *result)
{
    struct threaded_result sent;
    float *fresh = NULL;

    if (transfer(IN, in, &sent, sizeof sent)) return;
    if (sent.error == CUDA_SUCCESS) {
        fresh = malloc(array->length * sizeof *fresh);
        if (!fresh || transfer(IN, in, fresh, array->length * sizeof *fresh)) {
            free(fresh);
            return;
        }
        memcpy(array->values, fresh, array->length * sizeof *fresh);
        free(fresh);
    }
    *result = sent;
}

CUresult threaded_contexts_processes(const char *image, const struct threaded_array *arrays,
                                     size_t count, struct threaded_result *results)
{
    int *in = malloc((count + 1) * sizeof *in);
    pid_t *pids = malloc((count + 1) * sizeof *pids);

    for (size_t i = 0; i < count; i++) {
        int ends[2];
        results[i] = (struct threaded_result){CUDA_ERROR_OPERATING_SYSTEM, 0};
        if (!in || !pids) continue;
        pids[i] = -1;
        if (pipe(ends)) continue;
        pids[i] = fork();
        if (pids[i] == 0) {
            for (size_t k = 0; k < i; k++)
                if (pids[k] > 0) close(in[k]);
            close(ends[0]);
            child(image, &arrays[i], ends[1]);
        }
        close(ends[1]);
        if (pids[i] < 0)
            close(ends[0]);
        else
            in[i] = ends[0];
    }
    for (size_t i = 0; in && pids && i < count; i++) {
        if (pids[i] < 0) continue;
        collect(in[i], &arrays[i], &results[i]);
        close(in[i]);
    }
    for (size_t i = 0; in && pids && i < count; i++)
        if (pids[i] > 0)
            while (waitpid(pids[i], NULL, 0) < 0 && errno == EINTR) continue;
    free(in);
    free(pids);
    return summary(results, count);
}
