/* mistake: the copy back into page-locked memory is asynchronous, and the thread reads it at once
 * fails: ThreadedContexts.EveryArrayOfAThreadIsRight
 * finds: race at "memcpy(job->array.values, staging"
 */
#include "lesson.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

struct job {
    const char *image;
    struct threaded_array array;
    struct threaded_result result;
    CUcontext context;
};

#define TRY(call)                                                                                  \
    do {                                                                                           \
        CUresult status = (call);                                                                  \
        if (status != CUDA_SUCCESS) return status;                                                 \
    } while (0)

/* In the current context, which takes all that is made here along when it ends. */
static CUresult work(struct job *job)
{
    size_t length = job->array.length, bytes = length * sizeof(float);
    CUmodule module;
    CUfunction function;
    CUstream stream;
    CUdeviceptr memory;
    float *staging;

    TRY(cuMemAllocHost((void **)&staging, bytes));
    TRY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    TRY(cuModuleLoadDataEx(&module, job->image, 0, NULL, NULL));
    TRY(cuModuleGetFunction(&function, module, MULTIPLY_DIVIDE_NAME));
    TRY(cuMemAlloc(&memory, bytes));
    TRY(cuMemcpyHtoDAsync(memory, job->array.values, bytes, stream));
    void *arguments[] = {&memory, &length};
    TRY(cuLaunchKernel(function, 1, 1, 1, MULTIPLY_DIVIDE_THREADS, 1, 1, 0, stream, arguments,
                       NULL));
    TRY(cuMemcpyDtoHAsync(staging, memory, bytes, stream));
    memcpy(job->array.values, staging, bytes);
    return CUDA_SUCCESS;
}

static int run(void *argument)
{
    struct job *job = argument;
    CUcontext popped;
    CUresult error = cuInit(0);
    if (!error) error = cuCtxCreate(&job->context, NULL, CU_CTX_SCHED_YIELD, 0);
    if (!error) error = cuCtxPopCurrent(&popped);
    if (!error) error = cuCtxPushCurrent(job->context);
    if (!error) error = work(job);
    if (job->context) cuCtxPopCurrent(&popped);

    job->result = (struct threaded_result){.error = error};
    for (size_t i = job->array.length; !error && i-- > 0;) job->result.sum += job->array.values[i];
    return 0;
}

static CUresult worst(const struct threaded_result *results, size_t count)
{
    CUresult error = CUDA_SUCCESS;
    for (size_t i = count; i-- > 0;)
        if (results[i].error) error = results[i].error;
    return error;
}

CUresult threaded_contexts_threads(const char *image, const struct threaded_array *arrays,
                                   size_t count, struct threaded_result *results)
{
    struct job *jobs = calloc(count + 1, sizeof *jobs);
    thrd_t *threads = calloc(count + 1, sizeof *threads);
    size_t started = 0;

    for (size_t i = 0; i < count; i++)
        results[i] = (struct threaded_result){.error = CUDA_ERROR_OPERATING_SYSTEM};
    while (jobs && threads && started < count) {
        jobs[started].image = image;
        jobs[started].array = arrays[started];
        if (thrd_create(&threads[started], run, &jobs[started]) != thrd_success) break;
        started++;
    }
    for (size_t i = 0; i < started; i++) thrd_join(threads[i], NULL);
    for (size_t i = 0; i < started; i++) {
        if (jobs[i].context) cuCtxDestroy(jobs[i].context);
        results[i] = jobs[i].result;
    }
    free(threads);
    free(jobs);
    return worst(results, count);
}

static int write_all(int pipe, const void *data, size_t size)
{
    for (const char *at = data; size > 0;) {
        ssize_t written = write(pipe, at, size);
        if (written <= 0) return -1;
        at += written;
        size -= (size_t)written;
    }
    return 0;
}

static int read_all(int pipe, void *data, size_t size)
{
    for (char *at = data; size > 0;) {
        ssize_t got = read(pipe, at, size);
        if (got <= 0) return -1;
        at += got;
        size -= (size_t)got;
    }
    return 0;
}

static void child(const char *image, const struct threaded_array *array, int pipe)
{
    struct job job = {.image = image, .array = *array};
    run(&job);
    if (job.context) cuCtxDestroy(job.context);
    int failed = write_all(pipe, &job.result, sizeof job.result);
    if (!failed && !job.result.error)
        failed = write_all(pipe, array->values, array->length * sizeof(float));
    _exit(failed ? 1 : 0);
}

CUresult threaded_contexts_processes(const char *image, const struct threaded_array *arrays,
                                     size_t count, struct threaded_result *results)
{
    int *pipes = calloc(count + 1, sizeof *pipes);

    for (size_t i = 0; i < count; i++)
        results[i] = (struct threaded_result){.error = CUDA_ERROR_OPERATING_SYSTEM};
    for (size_t i = 0; pipes && i < count; i++) {
        int ends[2];
        if (pipe(ends)) continue;
        pid_t pid = fork();
        if (pid == 0) {
            close(ends[0]);
            child(image, &arrays[i], ends[1]);
        }
        close(ends[1]);
        pipes[i] = ends[0];
    }
    for (size_t i = 0; pipes && i < count; i++) {
        struct threaded_result result;
        if (!pipes[i]) continue;
        if (!read_all(pipes[i], &result, sizeof result) &&
            (result.error ||
             !read_all(pipes[i], arrays[i].values, arrays[i].length * sizeof(float))))
            results[i] = result;
        close(pipes[i]);
    }
    while (wait(NULL) > 0) continue;
    free(pipes);
    return worst(results, count);
}
