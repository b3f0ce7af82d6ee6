/* mistake: wait() takes a child of the caller's for one of its own
 * fails: ThreadedContexts.EveryChildIsWaitedFor
 * finds: as it comes, children that are not waited for may be still at work
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

static CUresult use(CUmodule module, const float *from, float **fresh, size_t length)
{
    CUfunction function;
    CUdeviceptr there = 0;
    CUresult error = CUDA_ERROR_OUT_OF_MEMORY;

    *fresh = NULL;
    if (length <= SIZE_MAX / sizeof(float)) error = cuMemAlloc(&there, length * sizeof(float));
    if (error) return error;
    error = cuMemcpyHtoD(there, from, length * sizeof(float));
    if (!error) error = cuModuleGetFunction(&function, module, MULTIPLY_DIVIDE_NAME);
    if (!error) {
        void *parameters[] = {&there, &length};
        error = cuLaunchKernel(function, 1, 1, 1, MULTIPLY_DIVIDE_THREADS, 1, 1, 0,
                               CU_STREAM_LEGACY, parameters, NULL);
    }
    if (!error) error = cuCtxSynchronize();
    if (!error) {
        *fresh = malloc(length * sizeof(float));
        error =
            *fresh ? cuMemcpyDtoH(*fresh, there, length * sizeof(float)) : CUDA_ERROR_OUT_OF_MEMORY;
    }
    CUresult freed = cuMemFree(there);
    return error ? error : freed;
}

static CUresult transform(const char *image, const struct threaded_array *array, float **fresh)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUresult error, e;

    *fresh = NULL;
    if ((error = cuInit(0)) || (error = cuDeviceGet(&device, 0)) ||
        (error = cuCtxCreate(&context, NULL, 0, device)))
        return error;
    error = cuModuleLoadData(&module, image);
    if (!error) {
        error = use(module, array->values, fresh, array->length);
        e = cuModuleUnload(module);
        if (!error) error = e;
    }
    e = cuCtxDestroy(context);
    return error ? error : e;
}

static double sum_of(const float *values, size_t length)
{
    double sum = 0;
    for (const float *v = values; v != values + length; v++) sum += *v;
    return sum;
}

struct start {
    const char *image;
    const struct threaded_array *array;
    pthread_t thread;
    int yes;
};

static void *main_of_thread(void *argument)
{
    const struct start *start = argument;
    const size_t length = start->array->length;
    struct threaded_result *result = calloc(1, sizeof *result);
    float *fresh;

    if (!result) return NULL;
    result->error = transform(start->image, start->array, &fresh);
    if (!result->error) {
        result->sum = sum_of(fresh, length);
        memcpy(start->array->values, fresh, length * sizeof *fresh);
    }
    free(fresh);
    return result;
}

static CUresult judge(const struct threaded_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (results[i].error != CUDA_SUCCESS) return results[i].error;
    return CUDA_SUCCESS;
}

CUresult threaded_contexts_threads(const char *image, const struct threaded_array *arrays,
                                   size_t count, struct threaded_result *results)
{
    struct start *starts = calloc(count + 1, sizeof *starts);

    for (size_t i = 0; starts && i < count; i++) {
        struct start *s = starts + i;
        s->image = image;
        s->array = arrays + i;
        s->yes = !pthread_create(&s->thread, NULL, main_of_thread, s);
    }
    for (size_t i = 0; i < count; i++) {
        void *value = NULL;
        results[i] = (struct threaded_result){CUDA_ERROR_OPERATING_SYSTEM, 0};
        if (!starts || !starts[i].yes || pthread_join(starts[i].thread, &value) || !value) continue;
        results[i] = *(struct threaded_result *)value;
        free(value);
    }
    free(starts);
    return judge(results, count);
}

struct board {
    int filled;
    struct threaded_result result;
};

static void *map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static _Noreturn void child(const char *image, const struct threaded_array *array,
                            struct board *board, float *space)
{
    float *fresh;
    board->result.error = transform(image, array, &fresh);
    if (!board->result.error && !space) board->result.error = CUDA_ERROR_OPERATING_SYSTEM;
    if (!board->result.error) {
        board->result.sum = sum_of(fresh, array->length);
        memcpy(space, fresh, array->length * sizeof *fresh);
    }
    board->filled = 1;
    _exit(0);
}

CUresult threaded_contexts_processes(const char *image, const struct threaded_array *arrays,
                                     size_t count, struct threaded_result *results)
{
    struct board *boards = map((count + 1) * sizeof *boards);
    float **spaces = calloc(count + 1, sizeof *spaces);
    size_t started = 0;

    for (size_t i = 0; boards && spaces && i < count; i++) {
        pid_t pid;
        if (arrays[i].length <= SIZE_MAX / sizeof(float))
            spaces[i] = map(arrays[i].length * sizeof(float));
        pid = fork();
        if (pid == 0) child(image, &arrays[i], &boards[i], spaces[i]);
        if (pid > 0) started++;
    }

    while (started > 0) {
        if (wait(NULL) > 0)
            started--;
        else if (errno != EINTR)
            break;
    }

    for (size_t i = 0; i < count; i++) {
        results[i] = (struct threaded_result){CUDA_ERROR_OPERATING_SYSTEM, 0};
        if (!boards || !spaces) continue;
        if (boards[i].filled) results[i] = boards[i].result;
        if (!results[i].error)
            memcpy(arrays[i].values, spaces[i], arrays[i].length * sizeof(float));
        if (spaces[i]) munmap(spaces[i], arrays[i].length * sizeof(float));
    }
    if (boards) munmap(boards, (count + 1) * sizeof *boards);
    free(spaces);
    return judge(results, count);
}
