/* mistake: an error is reported as exit status, which has eight bits
 * fails: ThreadedContexts.EveryErrorOfAChildIsReturnedAndNothingLeaks
 * finds: nothing, an exit status is no memory of the device's
 */
#define _GNU_SOURCE
#include "lesson.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct item {
    const char *image;
    const struct threaded_array *array;
    float *fresh; /* new values; NULL until there are any */
    struct threaded_result result;
    pthread_t thread;
    int running;
};

static CUresult go(struct item *item, CUmodule module)
{
    size_t length = item->array->length, bytes;
    CUfunction function;
    CUdeviceptr pointer;
    CUresult error, freed;

    error = cuModuleGetFunction(&function, module, MULTIPLY_DIVIDE_NAME);
    if (error) return error;
    if (__builtin_mul_overflow(length, sizeof(float), &bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
    error = cuMemAlloc(&pointer, bytes);
    if (error) return error;

    void *parameters[] = {&pointer, &length};
    item->fresh = malloc(bytes);
    if (!item->fresh) error = CUDA_ERROR_OUT_OF_MEMORY;
    if (!error) error = cuMemcpyHtoD(pointer, item->array->values, bytes);
    if (!error)
        error = cuLaunchKernel(function, 1, 1, 1, MULTIPLY_DIVIDE_THREADS, 1, 1, 0, NULL,
                               parameters, NULL);
    if (!error) error = cuMemcpyDtoH(item->fresh, pointer, bytes);
    freed = cuMemFree(pointer);
    return error ? error : freed;
}

static void do_item(struct item *item)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUresult error, undone;

    error = cuInit(0);
    if (!error) error = cuDeviceGet(&device, 0);
    if (!error) error = cuCtxCreate(&context, NULL, 0, device);
    if (!error) {
        error = cuModuleLoadData(&module, item->image);
        if (!error) {
            error = go(item, module);
            undone = cuModuleUnload(module);
            if (!error) error = undone;
        }
        undone = cuCtxDestroy(context);
        if (!error) error = undone;
    }
    item->result.error = error;
    item->result.sum = 0;
    for (size_t i = 0; !error && i < item->array->length; i++) item->result.sum += item->fresh[i];
}

static void *item_thread(void *argument)
{
    struct item *item = argument;
    do_item(item);
    if (!item->result.error)
        memcpy(item->array->values, item->fresh, item->array->length * sizeof(float));
    free(item->fresh);
    return &item->result;
}

static CUresult first_error(const struct threaded_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (results[i].error) return results[i].error;
    return CUDA_SUCCESS;
}

CUresult threaded_contexts_threads(const char *image, const struct threaded_array *arrays,
                                   size_t count, struct threaded_result *results)
{
    struct item *items = calloc(count + 1, sizeof *items);

    for (size_t i = 0; items && i < count; i++) {
        items[i].image = image;
        items[i].array = &arrays[i];
        items[i].running = !pthread_create(&items[i].thread, NULL, item_thread, &items[i]);
    }
    for (size_t i = 0; i < count; i++) {
        void *delivered = NULL;
        if (items && items[i].running) pthread_join(items[i].thread, &delivered);
        results[i] = (struct threaded_result){CUDA_ERROR_OPERATING_SYSTEM, 0};
        if (delivered) results[i] = *(struct threaded_result *)delivered;
    }
    free(items);
    return first_error(results, count);
}

struct share {
    int complete;
    double sum;
};

static void *shared(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void child(const char *image, const struct threaded_array *array, struct share *share,
                  float *values)
{
    struct item item = {.image = image, .array = array};
    do_item(&item);
    if (!item.result.error && !values) item.result.error = CUDA_ERROR_OPERATING_SYSTEM;
    if (!item.result.error) {
        memcpy(values, item.fresh, array->length * sizeof(float));
        share->sum = item.result.sum;
    }
    share->complete = 1;
    _exit((int)item.result.error);
}

CUresult threaded_contexts_processes(const char *image, const struct threaded_array *arrays,
                                     size_t count, struct threaded_result *results)
{
    struct share *shares = shared((count + 1) * sizeof *shares);
    struct {
        pid_t pid;
        float *values;
    } *children = calloc(count + 1, sizeof *children);

    for (size_t i = 0; shares && children && i < count; i++) {
        if (arrays[i].length <= SIZE_MAX / sizeof(float))
            children[i].values = shared(arrays[i].length * sizeof(float));
        children[i].pid = fork();
        if (children[i].pid == 0) child(image, &arrays[i], &shares[i], children[i].values);
    }

    for (size_t i = 0; i < count; i++) {
        results[i] = (struct threaded_result){CUDA_ERROR_OPERATING_SYSTEM, 0};
        if (!shares || !children) continue;
        if (children[i].pid > 0) {
            int status;
            pid_t ended;
            do ended = waitpid(children[i].pid, &status, 0);
            while (ended < 0 && errno == EINTR);
            if (ended > 0 && WIFEXITED(status) && shares[i].complete) {
                results[i].error = (CUresult)WEXITSTATUS(status);
                results[i].sum = shares[i].sum;
            }
        }
        if (!results[i].error)
            memcpy(arrays[i].values, children[i].values, arrays[i].length * sizeof(float));
        if (children[i].values) munmap(children[i].values, arrays[i].length * sizeof(float));
    }
    if (shares) munmap(shares, (count + 1) * sizeof *shares);
    free(children);
    return first_error(results, count);
}
