/* variant: each array is a level of a recursion
 * orders: 3
 */
#include "lesson.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static CUresult launch_and_fetch(CUfunction function, CUdeviceptr memory, size_t length,
                                 float **fresh)
{
    void *parameters[] = {&memory, &length};
    CUresult error =
        cuLaunchKernel(function, 1, 1, 1, MULTIPLY_DIVIDE_THREADS, 1, 1, 0, NULL, parameters, NULL);
    if (error) return error;
    *fresh = malloc(length * sizeof **fresh);
    if (!*fresh) return CUDA_ERROR_OUT_OF_MEMORY;
    return cuMemcpyDtoH(*fresh, memory, length * sizeof **fresh);
}

static CUresult on_the_device(const char *image, const struct threaded_array *array, float **fresh)
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;

    CUresult error = cuModuleLoadData(&module, image);
    if (error) return error;
    error = cuModuleGetFunction(&function, module, MULTIPLY_DIVIDE_NAME);
    if (error) return error;
    if (array->length > SIZE_MAX / sizeof(float)) return CUDA_ERROR_OUT_OF_MEMORY;
    error = cuMemAlloc(&memory, array->length * sizeof(float));
    if (error) return error;
    error = cuMemcpyHtoD(memory, array->values, array->length * sizeof(float));
    if (error) return error;
    return launch_and_fetch(function, memory, array->length, fresh);
}

/* The context is the only thing that is taken down by hand: the module and the memory are its own
 * and go with it, from wherever on_the_device got to. */
static struct threaded_result do_array(const char *image, const struct threaded_array *array,
                                       float **fresh)
{
    struct threaded_result result = {CUDA_SUCCESS, 0};
    CUdevice device;
    CUcontext context;

    *fresh = NULL;
    result.error = cuInit(0);
    if (!result.error) result.error = cuDeviceGet(&device, 0);
    if (!result.error) result.error = cuCtxCreate(&context, NULL, 0, device);
    if (result.error) return result;

    result.error = on_the_device(image, array, fresh);
    CUresult destroyed = cuCtxDestroy(context);
    if (!result.error) result.error = destroyed;

    if (result.error) {
        free(*fresh);
        *fresh = NULL;
    }
    for (size_t i = 0; *fresh && i < array->length; i++) result.sum += (*fresh)[i];
    return result;
}

static const struct threaded_result nothing = {CUDA_ERROR_OPERATING_SYSTEM, 0};

struct task {
    const char *image;
    const struct threaded_array *array;
    struct threaded_result result;
};

static void *thread_main(void *argument)
{
    struct task *task = argument;
    float *fresh;

    task->result = do_array(task->image, task->array, &fresh);
    if (fresh) memcpy(task->array->values, fresh, task->array->length * sizeof *fresh);
    free(fresh);
    return &task->result;
}

/* The task is on this call's stack, and this call ends after its thread. */
static CUresult from_thread(size_t i, const char *image, const struct threaded_array *arrays,
                            size_t count, struct threaded_result *results)
{
    if (i == count) return CUDA_SUCCESS;

    struct task task = {.image = image, .array = &arrays[i]};
    pthread_t thread;
    void *value = NULL;
    const int started = pthread_create(&thread, NULL, thread_main, &task) == 0;

    const CUresult of_the_rest = from_thread(i + 1, image, arrays, count, results);

    if (started) pthread_join(thread, &value);
    results[i] = value ? *(struct threaded_result *)value : nothing;
    return results[i].error ? results[i].error : of_the_rest;
}

CUresult threaded_contexts_threads(const char *image, const struct threaded_array *arrays,
                                   size_t count, struct threaded_result *results)
{
    return from_thread(0, image, arrays, count, results);
}

static int push(int fd, const void *data, size_t size)
{
    const char *p = data, *end = p + size;
    while (p != end) {
        ssize_t n = write(fd, p, (size_t)(end - p));
        if (n > 0)
            p += n;
        else if (n == 0 || errno != EINTR)
            return -1;
    }
    return 0;
}

static int pull(int fd, void *data, size_t size)
{
    char *p = data, *end = p + size;
    while (p != end) {
        ssize_t n = read(fd, p, (size_t)(end - p));
        if (n > 0)
            p += n;
        else if (n == 0 || errno != EINTR)
            return -1;
    }
    return 0;
}

/* The read ends that the calls above this one hold: a child closes its copies of them. */
struct held {
    int fd;
    const struct held *above;
};

static _Noreturn void child(const char *image, const struct threaded_array *array, int out)
{
    float *fresh;
    struct threaded_result result = do_array(image, array, &fresh);
    int bad = push(out, &result, sizeof result);
    if (!bad && fresh) bad = push(out, fresh, array->length * sizeof *fresh);
    _exit(bad ? 1 : 0);
}

static struct threaded_result read_from(int in, const struct threaded_array *array)
{
    struct threaded_result result;
    if (pull(in, &result, sizeof result)) return nothing;
    if (result.error) return result;

    float *fresh = malloc(array->length * sizeof *fresh);
    if (!fresh || pull(in, fresh, array->length * sizeof *fresh))
        result = nothing;
    else
        memcpy(array->values, fresh, array->length * sizeof *fresh);
    free(fresh);
    return result;
}

static CUresult from_child(size_t i, const char *image, const struct threaded_array *arrays,
                           size_t count, struct threaded_result *results, const struct held *above)
{
    if (i == count) return CUDA_SUCCESS;

    struct held own = {-1, above};
    pid_t pid = -1;
    int ends[2];

    if (pipe(ends) == 0) {
        pid = fork();
        if (pid == 0) {
            for (; above; above = above->above)
                if (above->fd >= 0) close(above->fd);
            close(ends[0]);
            child(image, &arrays[i], ends[1]);
        }
        close(ends[1]);
        if (pid > 0)
            own.fd = ends[0];
        else
            close(ends[0]);
    }

    const CUresult of_the_rest = from_child(i + 1, image, arrays, count, results, &own);

    results[i] = nothing;
    if (pid > 0) {
        results[i] = read_from(own.fd, &arrays[i]);
        close(own.fd); /* a child that still writes is told so by SIGPIPE, and ends */
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
    }
    return results[i].error ? results[i].error : of_the_rest;
}

CUresult threaded_contexts_processes(const char *image, const struct threaded_array *arrays,
                                     size_t count, struct threaded_result *results)
{
    return from_child(0, image, arrays, count, results, NULL);
}
