/* mistake: a recv that a signal interrupts is taken for the end of what the child says
 * fails: ThreadedContexts.EveryErrorOfAChildIsReturnedAndNothingLeaks
 * finds: nothing, a socket is no memory of the device's
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

struct node {
    struct node *next;
    size_t index;
    const char *image;
    const struct threaded_array *array;
    struct threaded_result result;
    float *fresh;
    union {
        pthread_t thread;
        struct {
            pid_t pid;
            int socket;
        } child;
    } as;
};

static struct node *new_node(const char *image, const struct threaded_array *arrays, size_t index)
{
    struct node *node = calloc(1, sizeof *node);
    if (!node) return NULL;
    node->index = index;
    node->image = image;
    node->array = &arrays[index];
    return node;
}

/* Notes an error if it is the node's first; tells whether this was one. */
static int bad(struct node *node, CUresult error)
{
    if (!node->result.error) node->result.error = error;
    return error != CUDA_SUCCESS;
}

static void on_memory(struct node *node, CUfunction function, CUdeviceptr memory, size_t bytes)
{
    size_t length = node->array->length;
    void *parameters[] = {&memory, &length};

    if (bad(node, cuMemcpyHtoD(memory, node->array->values, bytes))) return;
    if (bad(node, cuLaunchKernel(function, 1, 1, 1, MULTIPLY_DIVIDE_THREADS, 1, 1, 0, NULL,
                                 parameters, NULL)))
        return;
    node->fresh = malloc(bytes);
    if (!node->fresh)
        bad(node, CUDA_ERROR_OUT_OF_MEMORY);
    else
        bad(node, cuMemcpyDtoH(node->fresh, memory, bytes));
}

static void on_context(struct node *node)
{
    const size_t length = node->array->length;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;

    if (bad(node, cuModuleLoadData(&module, node->image))) return;
    if (!bad(node, cuModuleGetFunction(&function, module, MULTIPLY_DIVIDE_NAME)) &&
        !bad(node, length > SIZE_MAX / sizeof(float) ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS) &&
        !bad(node, cuMemAlloc(&memory, length * sizeof(float)))) {
        on_memory(node, function, memory, length * sizeof(float));
        bad(node, cuMemFree(memory));
    }
    bad(node, cuModuleUnload(module));
}

/* Leaves the result and, without an error, the new values in the node. */
static void work_on(struct node *node)
{
    CUdevice device;
    CUcontext context;

    if (bad(node, cuInit(0)) || bad(node, cuDeviceGet(&device, 0)) ||
        bad(node, cuCtxCreate(&context, NULL, 0, device)))
        return;
    on_context(node);
    bad(node, cuCtxDestroy(context));

    if (node->result.error) {
        free(node->fresh);
        node->fresh = NULL;
        return;
    }
    for (size_t i = 0; i < node->array->length; i++) node->result.sum += node->fresh[i];
}

static void commit(struct node *node)
{
    if (node->fresh)
        memcpy(node->array->values, node->fresh, node->array->length * sizeof *node->fresh);
}

static void drop(struct node *node)
{
    free(node->fresh);
    free(node);
}

static void lost(struct threaded_result *results, size_t count)
{
    while (count-- > 0) results[count] = (struct threaded_result){CUDA_ERROR_OPERATING_SYSTEM, 0};
}

static CUresult first_of(const struct threaded_result *results, size_t count)
{
    CUresult error = CUDA_SUCCESS;
    while (count-- > 0)
        if (results[count].error) error = results[count].error;
    return error;
}

static void *thread_main(void *node)
{
    work_on(node);
    commit(node);
    return node;
}

CUresult threaded_contexts_threads(const char *image, const struct threaded_array *arrays,
                                   size_t count, struct threaded_result *results)
{
    struct node *list = NULL;

    lost(results, count);
    for (size_t i = 0; i < count; i++) {
        struct node *node = new_node(image, arrays, i);
        if (!node) continue;
        if (pthread_create(&node->as.thread, NULL, thread_main, node)) {
            drop(node);
            continue;
        }
        /* The thread does not look at next: the list is the starter's alone. */
        node->next = list;
        list = node;
    }
    while (list) {
        struct node *node = list;
        void *value = NULL;
        list = node->next;
        if (!pthread_join(node->as.thread, &value) && value)
            results[node->index] = ((struct node *)value)->result;
        drop(node);
    }
    return first_of(results, count);
}

static int move(int socket, void *data, size_t size, int out)
{
    for (char *p = data; size > 0;) {
        ssize_t n = out ? send(socket, p, size, MSG_NOSIGNAL) : recv(socket, p, size, 0);
        if (n < 0 && errno == EINTR && out) continue;
        if (n <= 0) return -1;
        p += n;
        size -= (size_t)n;
    }
    return 0;
}

static _Noreturn void child_main(struct node *node, int socket)
{
    work_on(node);
    int error = move(socket, &node->result, sizeof node->result, 1);
    if (!error && node->fresh)
        error = move(socket, node->fresh, node->array->length * sizeof *node->fresh, 1);
    _exit(error ? EXIT_FAILURE : EXIT_SUCCESS);
}

/* The parent's node, whose own work_on never ran, takes what the child's has. */
static int take_over(struct node *node)
{
    const size_t bytes = node->array->length * sizeof *node->fresh;
    if (move(node->as.child.socket, &node->result, sizeof node->result, 0)) return -1;
    if (node->result.error) return 0;
    node->fresh = malloc(bytes);
    if (!node->fresh) return -1;
    return move(node->as.child.socket, node->fresh, bytes, 0);
}

CUresult threaded_contexts_processes(const char *image, const struct threaded_array *arrays,
                                     size_t count, struct threaded_result *results)
{
    struct node *list = NULL;

    lost(results, count);
    for (size_t i = 0; i < count; i++) {
        struct node *node = new_node(image, arrays, i);
        int pair[2];
        if (!node) continue;
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) {
            drop(node);
            continue;
        }
        pid_t pid = fork();
        if (pid == 0) {
            for (; list; list = list->next) close(list->as.child.socket);
            close(pair[0]);
            child_main(node, pair[1]);
        }
        close(pair[1]);
        if (pid < 0) {
            close(pair[0]);
            drop(node);
            continue;
        }
        node->as.child.pid = pid;
        node->as.child.socket = pair[0];
        node->next = list;
        list = node;
    }
    while (list) {
        struct node *node = list;
        list = node->next;
        if (take_over(node) == 0) {
            commit(node);
            results[node->index] = node->result;
        }
        close(node->as.child.socket); /* a child that still sends sees EPIPE */
        while (waitpid(node->as.child.pid, NULL, 0) < 0 && errno == EINTR) continue;
        drop(node);
    }
    return first_of(results, count);
}
