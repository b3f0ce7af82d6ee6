/* mistake: a thread returns the address of a thread-local variable
 * fails: ThreadedContexts.ThreadsFinishTheirWork
 * finds: nothing, the variable is on the host
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

/* One array, in a context of its own. On success *fresh are the new values, from malloc. */
static CUresult transform(const char *image, const struct threaded_array *array, float **fresh)
{
    size_t length = array->length, bytes;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr values;
    float *copy = NULL;
    CUresult error, undo;

    *fresh = NULL;
    if ((error = cuInit(0))) return error;
    if ((error = cuDeviceGet(&device, 0))) return error;
    if ((error = cuCtxCreate(&context, NULL, 0, device))) return error;
    if ((error = cuModuleLoadData(&module, image))) goto destroy;
    if ((error = cuModuleGetFunction(&function, module, MULTIPLY_DIVIDE_NAME))) goto unload;
    error = CUDA_ERROR_OUT_OF_MEMORY;
    if (__builtin_mul_overflow(length, sizeof *copy, &bytes)) goto unload;
    if ((error = cuMemAlloc(&values, bytes))) goto unload;
    error = CUDA_ERROR_OUT_OF_MEMORY;
    if (!(copy = malloc(bytes))) goto release;

    if ((error = cuMemcpyHtoD(values, array->values, bytes))) goto release;
    void *parameters[] = {&values, &length};
    error =
        cuLaunchKernel(function, 1, 1, 1, MULTIPLY_DIVIDE_THREADS, 1, 1, 0, NULL, parameters, NULL);
    if (!error) error = cuMemcpyDtoH(copy, values, bytes);

release:
    undo = cuMemFree(values);
    if (!error) error = undo;
unload:
    undo = cuModuleUnload(module);
    if (!error) error = undo;
destroy:
    undo = cuCtxDestroy(context);
    if (!error) error = undo;
    if (error) {
        free(copy);
        copy = NULL;
    }
    *fresh = copy;
    return error;
}

static double total(const float *values, size_t length)
{
    double sum = 0;
    for (size_t i = 0; i < length; i++) sum += values[i];
    return sum;
}

static CUresult first_error(const struct threaded_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (results[i].error) return results[i].error;
    return CUDA_SUCCESS;
}

struct job {
    const char *image;
    const struct threaded_array *array;
    pthread_t thread;
    int started;
};

static void *run(void *argument)
{
    static _Thread_local struct threaded_result outcome;
    const struct job *job = argument;
    float *fresh;

    outcome.sum = 0;
    outcome.error = transform(job->image, job->array, &fresh);
    if (!outcome.error) {
        memcpy(job->array->values, fresh, job->array->length * sizeof *fresh);
        outcome.sum = total(fresh, job->array->length);
    }
    free(fresh);
    return &outcome;
}

CUresult threaded_contexts_threads(const char *image, const struct threaded_array *arrays,
                                   size_t count, struct threaded_result *results)
{
    const struct threaded_result none = {CUDA_ERROR_OPERATING_SYSTEM, 0};
    struct job *jobs = calloc(count ? count : 1, sizeof *jobs);

    for (size_t i = 0; jobs && i < count; i++) {
        jobs[i].image = image;
        jobs[i].array = &arrays[i];
        jobs[i].started = pthread_create(&jobs[i].thread, NULL, run, &jobs[i]) == 0;
    }
    for (size_t i = 0; i < count; i++) {
        void *value = NULL;
        results[i] = none;
        if (jobs && jobs[i].started && !pthread_join(jobs[i].thread, &value) && value)
            results[i] = *(struct threaded_result *)value;
    }
    free(jobs);
    return first_error(results, count);
}

struct shared {
    int finished;
    struct threaded_result result;
};

static void child(const char *image, const struct threaded_array *array, struct shared *shared,
                  float *room)
{
    float *fresh;
    CUresult error = transform(image, array, &fresh);

    if (!error && !room) error = CUDA_ERROR_OPERATING_SYSTEM;
    if (!error) {
        memcpy(room, fresh, array->length * sizeof *fresh);
        shared->result.sum = total(fresh, array->length);
    }
    shared->result.error = error;
    shared->finished = 1;
    _exit(0);
}

static void *map(size_t size)
{
    void *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

CUresult threaded_contexts_processes(const char *image, const struct threaded_array *arrays,
                                     size_t count, struct threaded_result *results)
{
    if (!count) return CUDA_SUCCESS;
    struct shared *shared = map(count * sizeof *shared);
    float **rooms = calloc(count, sizeof *rooms);
    pid_t *pids = calloc(count, sizeof *pids);

    for (size_t i = 0; i < count; i++) {
        results[i] = (struct threaded_result){CUDA_ERROR_OPERATING_SYSTEM, 0};
        if (!shared || !rooms || !pids) continue;
        if (arrays[i].length <= SIZE_MAX / sizeof(float))
            rooms[i] = map(arrays[i].length * sizeof(float));
        pids[i] = fork();
        if (pids[i] == 0) child(image, &arrays[i], &shared[i], rooms[i]);
    }
    for (size_t i = 0; shared && rooms && pids && i < count; i++) {
        if (pids[i] > 0) {
            while (waitpid(pids[i], NULL, 0) < 0 && errno == EINTR) continue;
            if (shared[i].finished) results[i] = shared[i].result;
            if (!results[i].error)
                memcpy(arrays[i].values, rooms[i], arrays[i].length * sizeof(float));
        }
        if (rooms[i]) munmap(rooms[i], arrays[i].length * sizeof(float));
    }
    if (shared) munmap(shared, count * sizeof *shared);
    free(rooms);
    free(pids);
    return first_error(results, count);
}
