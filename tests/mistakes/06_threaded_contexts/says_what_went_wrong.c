/* mistake: the parent asks CUDA for the names of its children's errors
 * fails: ThreadedContexts.ProcessesReportErrors
 * finds: nothing, the call is legal
 */
#define _GNU_SOURCE
#include "lesson.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEEP(error, call)                                                                          \
    do {                                                                                           \
        CUresult keep_ = (call);                                                                   \
        if (!(error)) (error) = keep_;                                                             \
    } while (0)

static CUresult transform(const char *image, const struct threaded_array *array, float **fresh)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr values;
    size_t length = array->length;
    CUresult error = CUDA_SUCCESS;

    *fresh = NULL;
    KEEP(error, cuInit(0));
    if (!error) KEEP(error, cuDeviceGet(&device, 0));
    if (!error) KEEP(error, cuCtxCreate(&context, NULL, 0, device));
    if (error) return error;

    KEEP(error, cuModuleLoadData(&module, image));
    if (!error) {
        KEEP(error, cuModuleGetFunction(&function, module, MULTIPLY_DIVIDE_NAME));
        if (!error && length > SIZE_MAX / sizeof(float)) error = CUDA_ERROR_OUT_OF_MEMORY;
        if (!error) KEEP(error, cuMemAlloc(&values, length * sizeof(float)));
        if (!error) {
            void *parameters[] = {&values, &length};
            KEEP(error, cuMemcpyHtoD(values, array->values, length * sizeof(float)));
            if (!error)
                KEEP(error, cuLaunchKernel(function, 1, 1, 1, MULTIPLY_DIVIDE_THREADS, 1, 1, 0,
                                           NULL, parameters, NULL));
            if (!error && !(*fresh = malloc(length * sizeof(float))))
                error = CUDA_ERROR_OUT_OF_MEMORY;
            if (!error) KEEP(error, cuMemcpyDtoH(*fresh, values, length * sizeof(float)));
            KEEP(error, cuMemFree(values));
        }
        KEEP(error, cuModuleUnload(module));
    }
    KEEP(error, cuCtxDestroy(context));
    return error;
}

static double add_up(const float *values, size_t length)
{
    double sum = 0.0;
    while (length-- > 0) sum += *values++;
    return sum;
}

struct line {
    const char *image;
    const struct threaded_array *array;
    struct threaded_result result;
    pthread_t thread;
    int running;
};

static void *thread_of(void *argument)
{
    struct line *line = argument;
    const size_t length = line->array->length;
    float *fresh;

    line->result.error = transform(line->image, line->array, &fresh);
    line->result.sum = line->result.error ? 0.0 : add_up(fresh, length);
    if (!line->result.error) memcpy(line->array->values, fresh, length * sizeof *fresh);
    free(fresh);
    return &line->result;
}

/* Says which arrays failed and why; returns the first of the errors. */
static CUresult sum_up(const char *what, const struct threaded_result *results, size_t count)
{
    CUresult first = CUDA_SUCCESS;
    for (size_t i = 0; i < count; i++) {
        const char *name = NULL;
        if (results[i].error == CUDA_SUCCESS) continue;
        if (first == CUDA_SUCCESS) first = results[i].error;
        cuGetErrorName(results[i].error, &name);
        fprintf(stderr, "%s %zu: %s\n", what, i, name ? name : "unknown error");
    }
    return first;
}

CUresult threaded_contexts_threads(const char *image, const struct threaded_array *arrays,
                                   size_t count, struct threaded_result *results)
{
    struct line *lines = calloc(count + 1, sizeof *lines);

    for (size_t i = 0; lines && i < count; i++) {
        lines[i].image = image;
        lines[i].array = &arrays[i];
        lines[i].running = !pthread_create(&lines[i].thread, NULL, thread_of, &lines[i]);
    }
    for (size_t i = 0; i < count; i++) {
        void *result = NULL;
        if (lines && lines[i].running) pthread_join(lines[i].thread, &result);
        results[i].error = CUDA_ERROR_OPERATING_SYSTEM;
        results[i].sum = 0;
        if (result) results[i] = *(struct threaded_result *)result;
    }
    free(lines);
    return sum_up("thread", results, count);
}

struct note {
    int valid;
    struct threaded_result result;
};

static void *shared_memory(size_t size)
{
    void *p =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void child(const char *image, const struct threaded_array *array, struct note *note,
                  float *window)
{
    float *fresh;
    struct threaded_result result = {transform(image, array, &fresh), 0.0};

    if (!result.error && !window) result.error = CUDA_ERROR_OPERATING_SYSTEM;
    if (!result.error) {
        result.sum = add_up(fresh, array->length);
        memcpy(window, fresh, array->length * sizeof *fresh);
    }
    note->result = result;
    note->valid = 1;
    _exit(0);
}

CUresult threaded_contexts_processes(const char *image, const struct threaded_array *arrays,
                                     size_t count, struct threaded_result *results)
{
    struct note *notes = shared_memory((count + 1) * sizeof *notes);
    float **windows = calloc(count + 1, sizeof *windows);
    pid_t *pids = calloc(count + 1, sizeof *pids);
    const int able = notes && windows && pids;

    for (size_t i = 0; able && i < count; i++) {
        if (arrays[i].length <= SIZE_MAX / sizeof(float))
            windows[i] = shared_memory(arrays[i].length * sizeof(float));
        pids[i] = fork();
        if (pids[i] == 0) child(image, &arrays[i], &notes[i], windows[i]);
    }
    for (size_t i = 0; i < count; i++) {
        results[i].error = CUDA_ERROR_OPERATING_SYSTEM;
        results[i].sum = 0;
        if (!able) continue;
        if (pids[i] > 0) {
            while (waitpid(pids[i], NULL, 0) < 0 && errno == EINTR) continue;
            if (notes[i].valid) results[i] = notes[i].result;
        }
        if (!results[i].error)
            memcpy(arrays[i].values, windows[i], arrays[i].length * sizeof(float));
        if (windows[i]) munmap(windows[i], arrays[i].length * sizeof(float));
    }
    if (notes) munmap(notes, (count + 1) * sizeof *notes);
    free(windows);
    free(pids);
    return sum_up("process", results, count);
}
