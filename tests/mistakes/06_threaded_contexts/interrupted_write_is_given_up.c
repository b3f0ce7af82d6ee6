/* mistake: a write that a signal interrupts is not made again, and the child ends with nothing said
 * fails: ThreadedContexts.EveryErrorOfAChildIsReturnedAndNothingLeaks
 * finds: nothing, a pipe is no memory of the device's
 */
#include "lesson.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

struct job {
    int started;
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

    TRY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    TRY(cuModuleLoadDataEx(&module, job->image, 0, NULL, NULL));
    TRY(cuModuleGetFunction(&function, module, MULTIPLY_DIVIDE_NAME));
    TRY(cuMemAlloc(&memory, bytes));
    TRY(cuMemcpyHtoDAsync(memory, job->array.values, bytes, stream));
    void *arguments[] = {&memory, &length};
    TRY(cuLaunchKernel(function, 1, 1, 1, MULTIPLY_DIVIDE_THREADS, 1, 1, 0, stream, arguments,
                       NULL));
    TRY(cuMemcpyDtoHAsync(job->array.values, memory, bytes, stream));
    return cuStreamSynchronize(stream);
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

    for (size_t i = 0; i < count; i++)
        results[i] = (struct threaded_result){.error = CUDA_ERROR_OPERATING_SYSTEM};
    for (size_t i = 0; jobs && threads && i < count; i++) {
        jobs[i].image = image;
        jobs[i].array = arrays[i];
        jobs[i].started = thrd_create(&threads[i], run, &jobs[i]) == thrd_success;
    }
    for (size_t i = 0; jobs && threads && i < count; i++)
        if (jobs[i].started) thrd_join(threads[i], NULL);
    for (size_t i = 0; jobs && threads && i < count; i++) {
        if (!jobs[i].started) continue;
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
        if (got < 0 && errno == EINTR) continue;
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
    int *pipes = calloc(count + 1, sizeof *pipes);
    pid_t *pids = calloc(count + 1, sizeof *pids);

    for (size_t i = 0; i < count; i++)
        results[i] = (struct threaded_result){.error = CUDA_ERROR_OPERATING_SYSTEM};
    for (size_t i = 0; pipes && pids && i < count; i++) {
        int ends[2];
        if (pipe(ends)) continue;
        pid_t pid = fork();
        if (pid == 0) {
            close(ends[0]);
            child(image, &arrays[i], ends[1]);
        }
        close(ends[1]);
        pipes[i] = ends[0];
        pids[i] = pid;
    }
    for (size_t i = 0; pipes && pids && i < count; i++) {
        struct threaded_result result;
        if (!pipes[i]) continue;
        if (!read_all(pipes[i], &result, sizeof result) &&
            (result.error ||
             !read_all(pipes[i], arrays[i].values, arrays[i].length * sizeof(float))))
            results[i] = result;
        close(pipes[i]);
    }
    for (size_t i = 0; pipes && pids && i < count; i++)
        if (pids[i] > 0) wait_for(pids[i], NULL);
    free(pids);
    free(pipes);
    return worst(results, count);
}
