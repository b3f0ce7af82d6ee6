/* variant: the starter puts the values in place; System V memory
 * orders: 3
 */
#define _GNU_SOURCE
#include "lesson.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a thread delivers: the result and, if there is no error, the new values. */
struct delivery {
    struct threaded_result result;
    float *values;
};

struct step {
    CUresult first;
};

static int ok(struct step *step, CUresult error)
{
    if (step->first == CUDA_SUCCESS) step->first = error;
    return error == CUDA_SUCCESS;
}

static void in_module(struct step *step, CUmodule module, const struct threaded_array *array,
                      struct delivery *delivery)
{
    size_t length = array->length, bytes;
    CUfunction function;
    CUdeviceptr memory;

    if (__builtin_mul_overflow(length, sizeof(float), &bytes)) {
        ok(step, CUDA_ERROR_OUT_OF_MEMORY);
        return;
    }
    if (!ok(step, cuModuleGetFunction(&function, module, MULTIPLY_DIVIDE_NAME))) return;
    if (!ok(step, cuMemAlloc(&memory, bytes))) return;

    void *parameters[] = {&memory, &length};
    delivery->values = malloc(bytes);
    if (!delivery->values) ok(step, CUDA_ERROR_OUT_OF_MEMORY);
    if (delivery->values && ok(step, cuMemcpyHtoD(memory, array->values, bytes)) &&
        ok(step, cuLaunchKernel(function, 1, 1, 1, MULTIPLY_DIVIDE_THREADS, 1, 1, 0, NULL,
                                parameters, NULL)) &&
        ok(step, cuCtxSynchronize()))
        ok(step, cuMemcpyDtoH(delivery->values, memory, bytes));

    ok(step, cuMemFree(memory));
}

static void prepare(const char *image, const struct threaded_array *array,
                    struct delivery *delivery)
{
    struct step step = {CUDA_SUCCESS};
    CUdevice device;
    CUcontext context;
    CUmodule module;

    delivery->values = NULL;
    delivery->result.sum = 0;
    if (ok(&step, cuInit(0)) && ok(&step, cuDeviceGet(&device, 0)) &&
        ok(&step, cuCtxCreate(&context, NULL, 0, device))) {
        if (ok(&step, cuModuleLoadData(&module, image))) {
            in_module(&step, module, array, delivery);
            ok(&step, cuModuleUnload(module));
        }
        ok(&step, cuCtxDestroy(context));
    }

    delivery->result.error = step.first;
    if (step.first) {
        free(delivery->values);
        delivery->values = NULL;
        return;
    }
    for (size_t i = 0; i < array->length; i++) delivery->result.sum += delivery->values[i];
}

struct request {
    const char *image;
    const struct threaded_array *array;
    pthread_t thread;
    int under_way;
};

static void *serve(void *argument)
{
    const struct request *request = argument;
    struct delivery *delivery = malloc(sizeof *delivery);
    if (delivery) prepare(request->image, request->array, delivery);
    return delivery;
}

static CUresult verdict(const struct threaded_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (results[i].error != CUDA_SUCCESS) return results[i].error;
    return CUDA_SUCCESS;
}

CUresult threaded_contexts_threads(const char *image, const struct threaded_array *arrays,
                                   size_t count, struct threaded_result *results)
{
    struct request *requests = calloc(count + 1, sizeof *requests);

    for (size_t i = 0; requests && i < count; i++) {
        struct request *request = &requests[i];
        request->image = image;
        request->array = &arrays[i];
        request->under_way = !pthread_create(&request->thread, NULL, serve, request);
    }
    for (size_t i = 0; i < count; i++) {
        void *value = NULL;
        results[i] = (struct threaded_result){CUDA_ERROR_OPERATING_SYSTEM, 0};
        if (requests && requests[i].under_way) pthread_join(requests[i].thread, &value);
        if (!value) continue;

        struct delivery *delivery = value;
        results[i] = delivery->result;
        if (delivery->values)
            memcpy(arrays[i].values, delivery->values, arrays[i].length * sizeof(float));
        free(delivery->values);
        free(delivery);
    }
    free(requests);
    return verdict(results, count);
}

/* A piece of memory shared with one child. */
struct box {
    size_t room; /* how many values fit */
    int filled;
    struct threaded_result result;
    float values[];
};

/* Shared memory that is gone with its last user, however that one ends. */
static struct box *new_box(size_t room)
{
    if (room > (SIZE_MAX - sizeof(struct box)) / sizeof(float)) return NULL;
    int id = shmget(IPC_PRIVATE, sizeof(struct box) + room * sizeof(float),
                    IPC_CREAT | SHM_NORESERVE | 0600);
    if (id == -1) return NULL;
    void *memory = shmat(id, NULL, 0);
    shmctl(id, IPC_RMID, NULL);
    if (memory == (void *)-1) return NULL;
    struct box *box = memory;
    box->room = room;
    return box;
}

static _Noreturn void fill_box(struct box *box, const char *image,
                               const struct threaded_array *array)
{
    struct delivery delivery;
    prepare(image, array, &delivery);
    if (delivery.values && box->room < array->length) {
        delivery.result.error = CUDA_ERROR_OPERATING_SYSTEM;
        delivery.result.sum = 0;
    } else if (delivery.values) {
        memcpy(box->values, delivery.values, array->length * sizeof(float));
    }
    box->result = delivery.result;
    box->filled = 1;
    _exit(0);
}

CUresult threaded_contexts_processes(const char *image, const struct threaded_array *arrays,
                                     size_t count, struct threaded_result *results)
{
    struct box **boxes = calloc(count + 1, sizeof *boxes);
    pid_t *pids = calloc(count + 1, sizeof *pids);

    for (size_t i = 0; boxes && pids && i < count; i++) {
        boxes[i] = new_box(arrays[i].length);
        if (!boxes[i]) boxes[i] = new_box(0); /* for the error that is to be expected */
        pids[i] = boxes[i] ? fork() : -1;
        if (pids[i] == 0) fill_box(boxes[i], image, &arrays[i]);
    }
    for (size_t i = 0; i < count; i++) {
        results[i] = (struct threaded_result){CUDA_ERROR_OPERATING_SYSTEM, 0};
        if (!boxes || !pids) continue;
        if (pids[i] > 0) {
            while (waitpid(pids[i], NULL, 0) < 0 && errno == EINTR) continue;
            if (boxes[i]->filled) results[i] = boxes[i]->result;
            if (!results[i].error)
                memcpy(arrays[i].values, boxes[i]->values, arrays[i].length * sizeof(float));
        }
        if (boxes[i]) shmdt(boxes[i]);
    }
    free(boxes);
    free(pids);
    return verdict(results, count);
}
