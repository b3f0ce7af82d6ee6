/* mistake: a child whose array has failed returns where it is to end
 * fails: ThreadedContexts.ProcessesReportErrors
 * finds: as it comes, the child goes on as the caller does, and comes to its end in time or not
 */
#define _GNU_SOURCE
#include "lesson.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct work {
    const char *image;
    const struct threaded_array *array;
    struct threaded_result result;
    float *fresh;
};

static void fail(struct work *work, CUresult error)
{
    if (work->result.error == CUDA_SUCCESS) work->result.error = error;
}

static void with_memory(struct work *work, CUfunction function, CUdeviceptr memory, size_t bytes)
{
    size_t length = work->array->length;
    void *parameters[] = {&memory, &length};

    work->fresh = malloc(bytes);
    if (!work->fresh) {
        fail(work, CUDA_ERROR_OUT_OF_MEMORY);
        return;
    }
    fail(work, cuMemcpyHtoD(memory, work->array->values, bytes));
    if (work->result.error) return;
    fail(work, cuLaunchKernel(function, 1, 1, 1, MULTIPLY_DIVIDE_THREADS, 1, 1, 0, NULL, parameters,
                              NULL));
    if (work->result.error) return;
    fail(work, cuMemcpyDtoH(work->fresh, memory, bytes));
}

static void with_module(struct work *work, CUmodule module)
{
    const size_t length = work->array->length;
    CUfunction function;
    CUdeviceptr memory;

    fail(work, cuModuleGetFunction(&function, module, MULTIPLY_DIVIDE_NAME));
    if (work->result.error) return;
    fail(work, length > SIZE_MAX / sizeof(float) ? CUDA_ERROR_OUT_OF_MEMORY
                                                 : cuMemAlloc(&memory, length * sizeof(float)));
    if (work->result.error) return;
    with_memory(work, function, memory, length * sizeof(float));
    fail(work, cuMemFree(memory));
}

static void with_context(struct work *work)
{
    CUmodule module;
    fail(work, cuModuleLoadData(&module, work->image));
    if (work->result.error) return;
    with_module(work, module);
    fail(work, cuModuleUnload(module));
}

static void do_work(struct work *work)
{
    CUdevice device;
    CUcontext context;

    fail(work, cuInit(0));
    if (!work->result.error) fail(work, cuDeviceGet(&device, 0));
    if (!work->result.error) fail(work, cuCtxCreate(&context, NULL, 0, device));
    if (work->result.error) return;
    with_context(work);
    fail(work, cuCtxDestroy(context));
    if (work->result.error) return;
    for (size_t i = 0; i < work->array->length; i++) work->result.sum += work->fresh[i];
}

static void *thread_work(void *argument)
{
    struct work *work = argument;
    do_work(work);
    if (!work->result.error)
        memcpy(work->array->values, work->fresh, work->array->length * sizeof *work->fresh);
    free(work->fresh);
    return &work->result;
}

static CUresult first(const struct threaded_result *results, size_t count)
{
    for (; count > 0; count--, results++)
        if (results->error) return results->error;
    return CUDA_SUCCESS;
}

CUresult threaded_contexts_threads(const char *image, const struct threaded_array *arrays,
                                   size_t count, struct threaded_result *results)
{
    struct work *works = calloc(count + 1, sizeof *works);
    pthread_t *threads = calloc(count + 1, sizeof *threads);
    int *codes = calloc(count + 1, sizeof *codes);

    for (size_t i = 0; works && threads && codes && i < count; i++) {
        works[i].image = image;
        works[i].array = &arrays[i];
        codes[i] = pthread_create(&threads[i], NULL, thread_work, &works[i]);
    }
    for (size_t i = 0; i < count; i++) {
        void *value = NULL;
        results[i] = (struct threaded_result){CUDA_ERROR_OPERATING_SYSTEM, 0};
        if (!works || !threads || !codes || codes[i]) continue;
        if (!pthread_join(threads[i], &value)) results[i] = *(struct threaded_result *)value;
    }
    free(codes);
    free(threads);
    free(works);
    return first(results, count);
}

static int send_all(int fd, const void *data, size_t size)
{
    const char *p = data;
    while (size > 0) {
        ssize_t n = send(fd, p, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        p += n;
        size -= (size_t)n;
    }
    return 0;
}

static int receive_all(int fd, void *data, size_t size)
{
    char *p = data;
    while (size > 0) {
        ssize_t n = recv(fd, p, size, MSG_WAITALL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return -1;
        p += n;
        size -= (size_t)n;
    }
    return 0;
}

static void receive(int fd, const struct threaded_array *array, struct threaded_result *result)
{
    const size_t bytes = array->length * sizeof(float);
    struct threaded_result r;

    if (receive_all(fd, &r, sizeof r)) return;
    if (!r.error) {
        float *fresh = malloc(bytes);
        if (!fresh || receive_all(fd, fresh, bytes)) {
            free(fresh);
            return;
        }
        memcpy(array->values, fresh, bytes);
        free(fresh);
    }
    *result = r;
}

CUresult threaded_contexts_processes(const char *image, const struct threaded_array *arrays,
                                     size_t count, struct threaded_result *results)
{
    struct {
        int socket;
        pid_t pid;
    } *children = calloc(count + 1, sizeof *children);

    for (size_t i = 0; i < count; i++) {
        int pair[2];
        results[i] = (struct threaded_result){CUDA_ERROR_OPERATING_SYSTEM, 0};
        if (!children) continue;
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) continue;

        const pid_t pid = fork();
        if (pid == 0) {
            struct work work = {.image = image, .array = &arrays[i]};
            for (size_t k = 0; k < i; k++)
                if (children[k].pid > 0) close(children[k].socket);
            close(pair[0]);
            do_work(&work);
            if (work.result.error) {
                send_all(pair[1], &work.result, sizeof work.result);
                close(pair[1]);
                free(work.fresh);
                free(children);
                return work.result.error;
            }
            if (send_all(pair[1], &work.result, sizeof work.result) == 0)
                send_all(pair[1], work.fresh, arrays[i].length * sizeof(float));
            _exit(0);
        }
        close(pair[1]);
        if (pid < 0) {
            close(pair[0]);
        } else {
            children[i].pid = pid;
            children[i].socket = pair[0];
        }
    }

    for (size_t i = 0; children && i < count; i++)
        if (children[i].pid > 0) {
            receive(children[i].socket, &arrays[i], &results[i]);
            close(children[i].socket);
        }
    for (size_t i = 0; children && i < count; i++)
        while (children[i].pid > 0 && waitpid(children[i].pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    free(children);
    return first(results, count);
}
