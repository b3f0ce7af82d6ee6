/* variant: a shared mapping for each child
 * orders: 3
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

/* One array, from beginning to end in a context of its own. *fresh: the new values, from malloc,
 * or NULL after an error. The array itself is only read: it changes when all has gone well. */
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
    if (__builtin_mul_overflow(length, sizeof *copy, &bytes)) {
        error = CUDA_ERROR_OUT_OF_MEMORY;
        goto unload;
    }
    if ((error = cuMemAlloc(&values, bytes))) goto unload;
    if (!(copy = malloc(bytes))) {
        error = CUDA_ERROR_OUT_OF_MEMORY;
        goto release;
    }

    if ((error = cuMemcpyHtoD(values, array->values, bytes))) goto release;
    void *parameters[] = {&values, &length};
    error =
        cuLaunchKernel(function, 1, 1, 1, MULTIPLY_DIVIDE_THREADS, 1, 1, 0, NULL, parameters, NULL);
    if (!error) error = cuMemcpyDtoH(copy, values, bytes); /* waits for the kernel */

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

static const struct threaded_result no_result = {CUDA_ERROR_OPERATING_SYSTEM, 0};

struct slot {
    const char *image;
    const struct threaded_array *array;
    struct threaded_result result;
    pthread_t thread;
    int started;
};

static void *run(void *argument)
{
    struct slot *slot = argument;
    const size_t length = slot->array->length;
    float *fresh;

    slot->result.error = transform(slot->image, slot->array, &fresh);
    if (fresh) {
        memcpy(slot->array->values, fresh, length * sizeof *fresh);
        slot->result.sum = total(fresh, length);
    }
    free(fresh);
    return &slot->result;
}

CUresult threaded_contexts_threads(const char *image, const struct threaded_array *arrays,
                                   size_t count, struct threaded_result *results)
{
    if (count == 0) return CUDA_SUCCESS;
    struct slot *slots = calloc(count, sizeof *slots);

    for (size_t i = 0; slots && i < count; i++) {
        slots[i].image = image;
        slots[i].array = &arrays[i];
        slots[i].started = !pthread_create(&slots[i].thread, NULL, run, &slots[i]);
    }
    for (size_t i = 0; i < count; i++) {
        void *value = NULL;
        if (slots && slots[i].started) pthread_join(slots[i].thread, &value);
        results[i] = value ? *(struct threaded_result *)value : no_result;
    }
    free(slots);
    return first_error(results, count);
}

struct report {
    int finished; /* written last */
    struct threaded_result result;
};

static void *map_shared(size_t size)
{
    void *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Without a place for the values the child runs all the same: what is too long for a mapping is
 * too long for the device as well, and it is the device's error that counts. */
static _Noreturn void child(const char *image, const struct threaded_array *array,
                            struct report *report, float *place)
{
    struct threaded_result result = {CUDA_SUCCESS, 0};
    float *fresh;

    result.error = transform(image, array, &fresh);
    if (!result.error && !place) result = no_result;
    if (!result.error) {
        memcpy(place, fresh, array->length * sizeof *fresh);
        result.sum = total(fresh, array->length);
    }
    report->result = result;
    report->finished = 1;
    _exit(0);
}

CUresult threaded_contexts_processes(const char *image, const struct threaded_array *arrays,
                                     size_t count, struct threaded_result *results)
{
    if (count == 0) return CUDA_SUCCESS;

    struct {
        pid_t pid; /* not above 0: there is none */
        struct report *report;
        float *place;
    } *children = calloc(count, sizeof *children);

    for (size_t i = 0; children && i < count; i++) {
        children[i].report = map_shared(sizeof *children[i].report);
        if (!children[i].report) continue;
        if (arrays[i].length <= SIZE_MAX / sizeof(float))
            children[i].place = map_shared(arrays[i].length * sizeof(float));
        children[i].pid = fork();
        if (children[i].pid == 0) child(image, &arrays[i], children[i].report, children[i].place);
    }

    for (size_t i = 0; i < count; i++) {
        results[i] = no_result;
        if (!children) continue;
        if (children[i].pid > 0) {
            while (waitpid(children[i].pid, NULL, 0) < 0 && errno == EINTR) continue;
            if (children[i].report->finished) results[i] = children[i].report->result;
            if (!results[i].error)
                memcpy(arrays[i].values, children[i].place, arrays[i].length * sizeof(float));
        }
        if (children[i].place) munmap(children[i].place, arrays[i].length * sizeof(float));
        if (children[i].report) munmap(children[i].report, sizeof *children[i].report);
    }
    free(children);
    return first_error(results, count);
}
