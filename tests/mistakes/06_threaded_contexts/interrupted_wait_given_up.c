/* mistake: a wait that a signal interrupts is taken for the child's end
 * fails: ThreadedContexts.EveryErrorOfAChildIsReturnedAndNothingLeaks
 * finds: as it comes, the child may still be at work when its parent returns
 * told: as it comes, a child that is at work still has its context
 */
#include "lesson.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* The part between context and context: module, memory, copy, kernel, copy. The context is current
 * to this thread, and its end takes the module and the memory along; they are released here all the
 * same, so that each line that takes has its line that gives back. */
static CUresult run_kernel(const char *image, const struct threaded_array *array)
{
    CUmodule module = NULL;
    CUfunction kernel = NULL;
    CUdeviceptr device_values = 0;
    size_t length = array->length, bytes = length * sizeof *array->values;
    void *arguments[] = {&device_values, &length};

    /* A module belongs to the context that is current when it is loaded; a function of it can be
     * launched in no other. Hence one load for each context. */
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
    /* Waits for the kernel: both are in this context's default stream. */
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

    result.error = cuInit(0); /* may be called by every thread; the first one does the work */
    if (result.error) return result;
    result.error = cuDeviceGet(&device, 0);
    if (result.error) return result;
    result.error = cuCtxCreate(&context, NULL, 0, device); /* made, and current to this thread */
    if (result.error) return result;

    result.error = run_kernel(image, array);

    /* Popping would only take it off this thread's stack, and leave it alive with nobody to know
     * it. Destroying a context that is current pops it as well. */
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

/* ---- threads ------------------------------------------------------------------------------- */

struct job {
    pthread_t thread;
    int started;
    const char *image;
    struct threaded_array array;
};

/* What a thread returns must outlive the thread: memory from malloc, which the joiner frees, never
 * the address of a variable on this stack. */
static void *thread_main(void *argument)
{
    const struct job *job = argument;
    struct threaded_result *result = malloc(sizeof *result);
    if (result) *result = transform(job->image, &job->array);
    return result;
}

CUresult threaded_contexts_threads(const char *image, const struct threaded_array *arrays,
                                   size_t count, struct threaded_result *results)
{
    if (!count) return CUDA_SUCCESS;
    struct job *jobs = calloc(count, sizeof *jobs);
    if (!jobs) {
        for (size_t i = 0; i < count; i++)
            results[i] = (struct threaded_result){.error = CUDA_ERROR_OUT_OF_MEMORY};
        return CUDA_ERROR_OUT_OF_MEMORY;
    }

    for (size_t i = 0; i < count; i++) {
        jobs[i].image = image;
        jobs[i].array = arrays[i];
        jobs[i].started = !pthread_create(&jobs[i].thread, NULL, thread_main, &jobs[i]);
    }
    /* Only now: joining inside the first loop would run one thread after another. */
    for (size_t i = 0; i < count; i++) {
        void *value = NULL;
        results[i] = (struct threaded_result){.error = CUDA_ERROR_OPERATING_SYSTEM};
        if (!jobs[i].started || pthread_join(jobs[i].thread, &value) || !value) continue;
        results[i] = *(struct threaded_result *)value;
        free(value);
    }
    free(jobs);
    return first_error(results, count);
}

/* ---- processes ----------------------------------------------------------------------------- */

/* A child gets a copy of all our memory, and what it writes there stays its own. Only this region
 * is the same memory on both sides: the results, and behind them the arrays' values. */
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
    /* What stands here if a child dies before it can say anything. */
    for (size_t i = 0; i < count; i++)
        region->results[i] = (struct threaded_result){.error = CUDA_ERROR_OPERATING_SYSTEM};
    for (size_t i = 0, at = 0; i < count; at += arrays[i++].length)
        memcpy(region->values + at, arrays[i].values, arrays[i].length * sizeof(float));
    return 0;
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

    /* No CUDA before this loop: a driver that has been started cannot be carried over a fork, and
     * each call in the child would return CUDA_ERROR_NOT_INITIALIZED. */
    for (size_t i = 0, at = 0; i < count; at += arrays[i++].length) {
        children[i] = fork();
        if (children[i]) continue; /* the parent; or -1, and the result says so already */
        struct threaded_array own = {.values = region.values + at, .length = arrays[i].length};
        region.results[i] = transform(image, &own);
        /* _exit, not exit: the parent's buffers and exit handlers are the parent's business. */
        _exit(0);
    }
    for (size_t i = 0, at = 0; i < count; at += arrays[i++].length) {
        int status = 0;
        if (children[i] < 0 || waitpid(children[i], &status, 0) != children[i]) continue;
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
