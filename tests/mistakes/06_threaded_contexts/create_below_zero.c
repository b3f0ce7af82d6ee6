/* mistake: pthread_create is looked at for a negative number, and a thread that is not there is
 * joined
 * fails: ThreadedContexts.EveryErrorIsReturnedAndNothingLeaks
 * finds: nothing, the thread never began
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

struct slot {
    const char *image;
    const struct threaded_array *array;
    float *fresh;
    struct threaded_result result;
    pthread_t thread;
    int started;
};

static int failed(struct slot *slot, CUresult error)
{
    if (slot->result.error == CUDA_SUCCESS) slot->result.error = error;
    return error != CUDA_SUCCESS;
}

static void compute(struct slot *slot)
{
    size_t length = slot->array->length;
    size_t bytes = length * sizeof(float);
    CUmodule module;
    CUfunction function;
    CUdeviceptr values;

    if (failed(slot, cuModuleLoadData(&module, slot->image))) return;
    if (length > SIZE_MAX / sizeof(float)) failed(slot, CUDA_ERROR_OUT_OF_MEMORY);
    if (!slot->result.error &&
        !failed(slot, cuModuleGetFunction(&function, module, MULTIPLY_DIVIDE_NAME)) &&
        !failed(slot, cuMemAlloc(&values, bytes))) {
        void *parameters[] = {&values, &length};
        slot->fresh = malloc(bytes);
        if (!slot->fresh) failed(slot, CUDA_ERROR_OUT_OF_MEMORY);
        if (slot->fresh && !failed(slot, cuMemcpyHtoD(values, slot->array->values, bytes)) &&
            !failed(slot, cuLaunchKernel(function, 1, 1, 1, MULTIPLY_DIVIDE_THREADS, 1, 1, 0, NULL,
                                         parameters, NULL)))
            failed(slot, cuMemcpyDtoH(slot->fresh, values, bytes));
        failed(slot, cuMemFree(values));
    }
    failed(slot, cuModuleUnload(module));
}

static void do_slot(struct slot *slot)
{
    CUdevice device;
    CUcontext context;

    if (failed(slot, cuInit(0)) || failed(slot, cuDeviceGet(&device, 0)) ||
        failed(slot, cuCtxCreate(&context, NULL, 0, device)))
        return;
    compute(slot);
    failed(slot, cuCtxDestroy(context));
    if (slot->result.error) return;
    for (size_t i = 0; i < slot->array->length; i++) slot->result.sum += slot->fresh[i];
}

static void *thread_main(void *argument)
{
    struct slot *slot = argument;
    do_slot(slot);
    if (!slot->result.error)
        memcpy(slot->array->values, slot->fresh, slot->array->length * sizeof(float));
    free(slot->fresh);
    return &slot->result;
}

static CUresult first_of(const struct threaded_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (results[i].error) return results[i].error;
    return CUDA_SUCCESS;
}

CUresult threaded_contexts_threads(const char *image, const struct threaded_array *arrays,
                                   size_t count, struct threaded_result *results)
{
    struct slot *slots = calloc(count + 1, sizeof *slots);

    for (size_t i = 0; i < count; i++) {
        results[i].error = CUDA_ERROR_OPERATING_SYSTEM;
        results[i].sum = 0;
        if (slots == NULL) continue;
        slots[i].image = image;
        slots[i].array = &arrays[i];
        if (pthread_create(&slots[i].thread, NULL, thread_main, &slots[i]) < 0) continue;
        slots[i].started = 1;
    }
    for (size_t i = 0; slots && i < count; i++) {
        void *value;
        if (slots[i].started && pthread_join(slots[i].thread, &value) == 0)
            results[i] = *(const struct threaded_result *)value;
    }
    free(slots);
    return first_of(results, count);
}

/* A page of its own for each child's answer, and as many as the array needs behind it. */
struct answer {
    int there;
    struct threaded_result result;
    float values[];
};

static size_t answer_size(size_t length)
{
    size_t room = sizeof(struct answer);
    if (length > (SIZE_MAX - room) / sizeof(float)) return room;
    return room + length * sizeof(float);
}

static struct answer *map_answer(size_t size)
{
    void *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

CUresult threaded_contexts_processes(const char *image, const struct threaded_array *arrays,
                                     size_t count, struct threaded_result *results)
{
    struct child {
        pid_t pid;
        struct answer *answer;
        size_t size;
        int small;
    } *children = calloc(count + 1, sizeof *children);

    for (size_t i = 0; children && i < count; i++) {
        struct child *c = &children[i];
        c->size = answer_size(arrays[i].length);
        c->answer = map_answer(c->size);
        if (!c->answer) { /* room for the error at least */
            c->small = 1;
            c->size = sizeof *c->answer;
            c->answer = map_answer(c->size);
        }
        if (arrays[i].length > (c->size - sizeof *c->answer) / sizeof(float)) c->small = 1;
        c->pid = c->answer ? fork() : -1;
        if (c->pid == 0) {
            struct slot slot = {.image = image, .array = &arrays[i]};
            do_slot(&slot);
            if (!slot.result.error && c->small)
                slot.result = (struct threaded_result){CUDA_ERROR_OPERATING_SYSTEM, 0};
            if (!slot.result.error)
                memcpy(c->answer->values, slot.fresh, arrays[i].length * sizeof(float));
            c->answer->result = slot.result;
            c->answer->there = 1;
            _exit(EXIT_SUCCESS);
        }
    }

    for (size_t i = 0; i < count; i++) {
        struct child *c = children ? &children[i] : NULL;
        results[i] = (struct threaded_result){CUDA_ERROR_OPERATING_SYSTEM, 0};
        if (!c) continue;
        if (c->pid > 0) {
            while (waitpid(c->pid, NULL, 0) == -1 && errno == EINTR)
                ;
            if (c->answer->there) results[i] = c->answer->result;
            if (!results[i].error)
                memcpy(arrays[i].values, c->answer->values, arrays[i].length * sizeof(float));
        }
        if (c->answer) munmap(c->answer, c->size);
    }
    free(children);
    return first_of(results, count);
}
