/* mistake: one read for values that a pipe does not hold at once
 * fails: ThreadedContexts.EveryArrayOfAProcessIsRight
 * finds: nothing, the pipe is no memory of the device's
 */
#include "lesson.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct outcome {
    struct threaded_result result;
    float *values; /* from malloc; NULL after an error */
};

static void transform(const char *image, const struct threaded_array *array, struct outcome *out)
{
    size_t length = array->length, bytes = length * sizeof(float);
    CUdevice device;
    CUcontext context = NULL;
    CUmodule module = NULL;
    CUfunction function;
    CUdeviceptr memory = 0;
    CUresult error;

    out->result.sum = 0;
    out->values = NULL;

    error = cuInit(0);
    if (!error) error = cuDeviceGet(&device, 0);
    if (!error) error = cuCtxCreate(&context, NULL, 0, device);
    if (!error) error = cuModuleLoadData(&module, image);
    if (!error) error = cuModuleGetFunction(&function, module, MULTIPLY_DIVIDE_NAME);
    if (!error && length > SIZE_MAX / sizeof(float)) error = CUDA_ERROR_OUT_OF_MEMORY;
    if (!error) error = cuMemAlloc(&memory, bytes);
    if (!error && !(out->values = malloc(bytes))) error = CUDA_ERROR_OUT_OF_MEMORY;
    if (!error) error = cuMemcpyHtoD(memory, array->values, bytes);
    if (!error) {
        void *parameters[] = {&memory, &length};
        error = cuLaunchKernel(function, 1, 1, 1, MULTIPLY_DIVIDE_THREADS, 1, 1, 0, NULL,
                               parameters, NULL);
    }
    if (!error) error = cuMemcpyDtoH(out->values, memory, bytes);
    if (context) { /* with all that is in it */
        CUresult destroyed = cuCtxDestroy(context);
        if (!error) error = destroyed;
    }

    out->result.error = error;
    if (error) {
        free(out->values);
        out->values = NULL;
    } else {
        for (size_t i = 0; i < length; i++) out->result.sum += out->values[i];
    }
}

struct job {
    const char *image;
    const struct threaded_array *array;
    struct threaded_result result;
    pthread_t id;
};

static void *run(void *argument)
{
    struct job *job = argument;
    struct outcome out;

    transform(job->image, job->array, &out);
    if (out.values) memcpy(job->array->values, out.values, job->array->length * sizeof(float));
    free(out.values);
    job->result = out.result;
    return &job->result;
}

static CUresult of_the_first(const struct threaded_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (results[i].error != CUDA_SUCCESS) return results[i].error;
    return CUDA_SUCCESS;
}

CUresult threaded_contexts_threads(const char *image, const struct threaded_array *arrays,
                                   size_t count, struct threaded_result *results)
{
    const struct threaded_result lost = {CUDA_ERROR_OPERATING_SYSTEM, 0};
    struct job **jobs = calloc(count + 1, sizeof *jobs);

    for (size_t i = 0; jobs && i < count; i++) {
        struct job *job = malloc(sizeof *job);
        if (!job) continue;
        job->image = image;
        job->array = &arrays[i];
        if (pthread_create(&job->id, NULL, run, job)) {
            free(job);
            continue;
        }
        jobs[i] = job;
    }
    for (size_t i = 0; i < count; i++) {
        results[i] = lost;
        if (!jobs || !jobs[i]) continue;
        void *delivered = NULL;
        if (!pthread_join(jobs[i]->id, &delivered) && delivered)
            results[i] = *(struct threaded_result *)delivered;
        free(jobs[i]);
    }
    free(jobs);
    return of_the_first(results, count);
}

static void write_all(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) _exit(1);
        at += n;
        size -= (size_t)n;
    }
}

/* Reads, also when a signal comes in between. */
static ssize_t receive(int fd, void *buffer, size_t size)
{
    ssize_t n;
    do n = read(fd, buffer, size);
    while (n < 0 && errno == EINTR);
    return n;
}

static struct threaded_result accept_from(int fd, const struct threaded_array *array)
{
    struct threaded_result result, lost = {CUDA_ERROR_OPERATING_SYSTEM, 0};
    float *values;

    if (receive(fd, &result, sizeof result) != (ssize_t)sizeof result) return lost;
    if (result.error) return result;

    values = malloc(array->length * sizeof *values);
    if (!values) return lost;
    if (receive(fd, values, array->length * sizeof *values) > 0)
        memcpy(array->values, values, array->length * sizeof *values);
    else
        result = lost;
    free(values);
    return result;
}

CUresult threaded_contexts_processes(const char *image, const struct threaded_array *arrays,
                                     size_t count, struct threaded_result *results)
{
    pid_t *pids = calloc(count + 1, sizeof *pids);
    int *fds = calloc(count + 1, sizeof *fds);

    for (size_t i = 0; i < count; i++) {
        int ends[2];
        results[i] = (struct threaded_result){CUDA_ERROR_OPERATING_SYSTEM, 0};
        if (!pids || !fds || pipe(ends)) continue;
        pid_t pid = fork();
        if (pid == 0) {
            struct outcome out;
            for (size_t k = 0; k < i; k++)
                if (pids[k] > 0) close(fds[k]);
            close(ends[0]);
            transform(image, &arrays[i], &out);
            write_all(ends[1], &out.result, sizeof out.result);
            if (out.values) write_all(ends[1], out.values, arrays[i].length * sizeof(float));
            _exit(0);
        }
        close(ends[1]);
        if (pid < 0) {
            close(ends[0]);
            continue;
        }
        pids[i] = pid;
        fds[i] = ends[0];
    }
    for (size_t i = 0; pids && fds && i < count; i++)
        if (pids[i] > 0) {
            results[i] = accept_from(fds[i], &arrays[i]);
            close(fds[i]);
        }
    for (size_t i = 0; pids && fds && i < count; i++)
        while (pids[i] > 0 && waitpid(pids[i], NULL, 0) < 0 && errno == EINTR)
            ;
    free(pids);
    free(fds);
    return of_the_first(results, count);
}
