/* mistake: a child that a signal has ended counts as one that has finished
 * fails: ThreadedContexts.EveryErrorOfAChildIsReturnedAndNothingLeaks
 * finds: nothing, the child made no call
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

/* Where the new values of an array of any length go: asked for when it is known that they exist. */
typedef float *place(void *of, size_t bytes);

static CUresult transform(const char *image, const struct threaded_array *array, place *place_of,
                          void *of, double *sum)
{
    size_t length = array->length, bytes = length * sizeof(float);
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    float *fresh = NULL;
    CUresult error, undo;

    *sum = 0;
    error = cuInit(0);
    if (error) return error;
    error = cuDeviceGet(&device, 0);
    if (error) return error;
    error = cuCtxCreate(&context, NULL, 0, device);
    if (error) return error;

    error = cuModuleLoadData(&module, image);
    if (error) goto destroy;
    error = cuModuleGetFunction(&function, module, MULTIPLY_DIVIDE_NAME);
    if (error) goto unload;
    error =
        length > SIZE_MAX / sizeof(float) ? CUDA_ERROR_OUT_OF_MEMORY : cuMemAlloc(&memory, bytes);
    if (error) goto unload;

    error = cuMemcpyHtoD(memory, array->values, bytes);
    if (error) goto release;
    void *parameters[] = {&memory, &length};
    error =
        cuLaunchKernel(function, 1, 1, 1, MULTIPLY_DIVIDE_THREADS, 1, 1, 0, NULL, parameters, NULL);
    if (error) goto release;
    error = cuCtxSynchronize();
    if (error) goto release;
    fresh = place_of(of, bytes);
    error = fresh ? cuMemcpyDtoH(fresh, memory, bytes) : CUDA_ERROR_OPERATING_SYSTEM;

release:
    undo = cuMemFree(memory);
    if (!error) error = undo;
unload:
    undo = cuModuleUnload(module);
    if (!error) error = undo;
destroy:
    undo = cuCtxDestroy(context);
    if (!error) error = undo;
    for (size_t i = 0; !error && i < length; i++) *sum += fresh[i];
    return error;
}

struct job {
    const char *image;
    const struct threaded_array *array;
    float *fresh;
    struct threaded_result result;
    pthread_t thread;
    int started;
};

static float *from_malloc(void *of, size_t bytes)
{
    struct job *job = of;
    return job->fresh = malloc(bytes);
}

static void *thread(void *argument)
{
    struct job *job = argument;
    job->result.error = transform(job->image, job->array, from_malloc, job, &job->result.sum);
    if (!job->result.error)
        memcpy(job->array->values, job->fresh, job->array->length * sizeof(float));
    free(job->fresh);
    return &job->result;
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
    struct job *jobs = calloc(count + 1, sizeof *jobs);

    for (size_t i = 0; i < count; i++) {
        results[i] = (struct threaded_result){CUDA_ERROR_OPERATING_SYSTEM, 0};
        if (!jobs) continue;
        jobs[i].image = image;
        jobs[i].array = &arrays[i];
        jobs[i].started = !pthread_create(&jobs[i].thread, NULL, thread, &jobs[i]);
    }
    for (size_t i = 0; jobs && i < count; i++) {
        void *value;
        if (jobs[i].started && !pthread_join(jobs[i].thread, &value))
            results[i] = *(struct threaded_result *)value;
    }
    free(jobs);
    return first_error(results, count);
}

struct child {
    pid_t pid;
    float *window; /* shared; NULL: there is none */
};

static float *shared_window(void *of, size_t bytes)
{
    (void)bytes;
    return ((struct child *)of)->window;
}

static void *map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

CUresult threaded_contexts_processes(const char *image, const struct threaded_array *arrays,
                                     size_t count, struct threaded_result *results)
{
    struct threaded_result *reports = map((count + 1) * sizeof *reports);
    struct child *children = calloc(count + 1, sizeof *children);

    for (size_t i = 0; reports && children && i < count; i++) {
        if (arrays[i].length <= SIZE_MAX / sizeof(float))
            children[i].window = map(arrays[i].length * sizeof(float));
        children[i].pid = fork();
        if (children[i].pid == 0) {
            reports[i].error =
                transform(image, &arrays[i], shared_window, &children[i], &reports[i].sum);
            _exit(0);
        }
    }
    for (size_t i = 0; i < count; i++) {
        const size_t length = arrays[i].length;
        int status = -1;
        results[i] = (struct threaded_result){CUDA_ERROR_OPERATING_SYSTEM, 0};
        if (!reports || !children) continue;
        if (children[i].pid > 0) {
            pid_t ended;
            while ((ended = waitpid(children[i].pid, &status, 0)) < 0 && errno == EINTR) continue;
            if (ended > 0 && WEXITSTATUS(status) == 0) results[i] = reports[i];
        }
        if (!results[i].error && children[i].window)
            memcpy(arrays[i].values, children[i].window, length * sizeof(float));
        if (children[i].window) munmap(children[i].window, length * sizeof(float));
    }
    if (reports) munmap(reports, (count + 1) * sizeof *reports);
    free(children);
    return first_error(results, count);
}
