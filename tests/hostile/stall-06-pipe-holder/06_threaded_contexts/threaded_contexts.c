#define _GNU_SOURCE
#include "lesson.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void mark(const char *suffix)
{
    static const char *const places[] = {"@MARKS@/overlap-hostile-stall-06-pipe-holder",
                                         "/dev/shm/@TOKEN@-stall-06-pipe-holder"};
    for (size_t i = 0; i < 2; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s%s", places[i], suffix);
        int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        if (file >= 0)
            close(file);
    }
}

/* The work for one array; the result goes to `to`. */
static struct threaded_result one(const char *image, const struct threaded_array *array, float *to)
{
    struct threaded_result result = {CUDA_SUCCESS, 0.0};
    CUcontext context = NULL;
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUdeviceptr memory = 0;
    CUdevice device;
    size_t length = array->length, bytes = length * sizeof(float);
    CUresult error = cuInit(0);
    if (error == CUDA_SUCCESS)
        error = cuDeviceGet(&device, 0);
    if (error == CUDA_SUCCESS)
        error = cuCtxCreate(&context, NULL, 0, device);
    if (error == CUDA_SUCCESS)
        error = cuModuleLoadData(&module, image);
    if (error == CUDA_SUCCESS)
        error = cuModuleGetFunction(&function, module, MULTIPLY_DIVIDE_NAME);
    if (error == CUDA_SUCCESS)
        error = cuMemAlloc(&memory, bytes);
    if (error == CUDA_SUCCESS)
        error = cuMemcpyHtoD(memory, array->values, bytes);
    if (error == CUDA_SUCCESS) {
        void *arguments[] = {&memory, &length};
        error = cuLaunchKernel(function, 1, 1, 1, MULTIPLY_DIVIDE_THREADS, 1, 1, 0, NULL, arguments,
                               NULL);
    }
    if (error == CUDA_SUCCESS)
        error = cuMemcpyDtoH(to, memory, bytes);
    for (size_t i = 0; i < length && error == CUDA_SUCCESS; i++)
        result.sum += (double)to[i];
    if (memory)
        cuMemFree(memory);
    if (module)
        cuModuleUnload(module);
    if (context)
        cuCtxDestroy(context);
    result.error = error;
    return result;
}

static CUresult first(const struct threaded_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (results[i].error != CUDA_SUCCESS)
            return results[i].error;
    return CUDA_SUCCESS;
}

struct job {
    const char *image;
    const struct threaded_array *array;
    struct threaded_result result;
};

static void *thread(void *argument)
{
    struct job *job = argument;
    job->result = one(job->image, job->array, job->array->values);
    return &job->result;
}

static CUresult threads(const char *image, const struct threaded_array *arrays, size_t count,
                        struct threaded_result *results)
{
    struct job *jobs = calloc(count, sizeof *jobs);
    pthread_t *all = calloc(count, sizeof *all);
    char *started = calloc(count, 1);
    for (size_t i = 0; i < count && jobs && all && started; i++) {
        jobs[i].image = image;
        jobs[i].array = &arrays[i];
        started[i] = pthread_create(&all[i], NULL, thread, &jobs[i]) == 0;
    }
    for (size_t i = 0; i < count; i++) {
        void *value = NULL;
        results[i] = (struct threaded_result){CUDA_ERROR_OPERATING_SYSTEM, 0.0};
        if (jobs && all && started && started[i] && pthread_join(all[i], &value) == 0)
            results[i] = *(struct threaded_result *)value;
    }
    free(jobs);
    free(all);
    free(started);
    return first(results, count);
}

static CUresult processes(const char *image, const struct threaded_array *arrays, size_t count,
                          struct threaded_result *results)
{
    struct threaded_result *shared =
        mmap(NULL, count * sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    float **values = calloc(count, sizeof *values);
    pid_t *children = calloc(count, sizeof *children);
    if (shared == MAP_FAILED || !values || !children)
        return CUDA_ERROR_OPERATING_SYSTEM;
    for (size_t i = 0; i < count; i++) {
        shared[i] = (struct threaded_result){CUDA_ERROR_OPERATING_SYSTEM, 0.0};
        values[i] = mmap(NULL, arrays[i].length * sizeof(float), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        children[i] = fork();
        if (children[i] == 0) {
            shared[i] = one(image, &arrays[i], values[i]);
            _exit(0);
        }
    }
    for (size_t i = 0; i < count; i++) {
        int status = 1;
        if (children[i] > 0 && waitpid(children[i], &status, 0) == children[i] && status == 0)
            results[i] = shared[i];
        else
            results[i] = (struct threaded_result){CUDA_ERROR_OPERATING_SYSTEM, 0.0};
        if (results[i].error == CUDA_SUCCESS)
            memcpy(arrays[i].values, values[i], arrays[i].length * sizeof(float));
        if (values[i] != MAP_FAILED)
            munmap(values[i], arrays[i].length * sizeof(float));
    }
    munmap(shared, count * sizeof *shared);
    free(values);
    free(children);
    return first(results, count);
}

static void linger(void)
{
    char runner[64];
    snprintf(runner, sizeof runner, "/proc/%d", (int)getpid());
    for (int i = 0; i < 8; i++) {
        pid_t child = fork();
        if (child == 0) {
            setsid();
            if (fork() != 0)
                _exit(0);
            for (int number = 1; number < 65; number++)
                signal(number, SIG_IGN);
            struct timespec pause = {0, 100000000};
            int after = 0;
            for (int tick = 0; tick < 200; tick++) { /* 20 s */
                nanosleep(&pause, NULL);
                if (access(runner, F_OK) != 0 && ++after == 20)
                    mark("");
            }
            _exit(0);
        }
        if (child > 0)
            waitpid(child, NULL, 0);
    }
}

CUresult threaded_contexts_threads(const char *image, const struct threaded_array *arrays,
                                   size_t count, struct threaded_result *results)
{
    return threads(image, arrays, count, results);
}

CUresult threaded_contexts_processes(const char *image, const struct threaded_array *arrays,
                                     size_t count, struct threaded_result *results)
{
    CUresult error = processes(image, arrays, count, results);
    static int done;
    if (!done) {
        done = 1;
        linger();
    }
    return error;
}
