/* mistake: a child is waited for before its pipe is read
 * fails: ThreadedContexts.ProcessesFinishTheirWork
 * finds: nothing, a pipe is no memory of the device's
 */
#include "lesson.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct work {
    const char *image;
    const struct threaded_array *array;
    float *fresh; /* the new values, from malloc */
    struct threaded_result result;
    pthread_t thread;
    int started;
};

static CUresult on_device(struct work *work)
{
    size_t length = work->array->length, bytes;
    CUmodule module;
    CUfunction function;
    CUdeviceptr array;
    CUresult error;

    if ((error = cuModuleLoadData(&module, work->image))) return error;
    if ((error = cuModuleGetFunction(&function, module, MULTIPLY_DIVIDE_NAME))) return error;
    if (__builtin_mul_overflow(length, sizeof(float), &bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
    if ((error = cuMemAlloc(&array, bytes))) return error;
    if (!(work->fresh = malloc(bytes))) return CUDA_ERROR_OUT_OF_MEMORY;
    if ((error = cuMemcpyHtoD(array, work->array->values, bytes))) return error;
    void *parameters[] = {&array, &length};
    if ((error = cuLaunchKernel(function, 1, 1, 1, MULTIPLY_DIVIDE_THREADS, 1, 1, 0, NULL,
                                parameters, NULL)))
        return error;
    return cuMemcpyDtoH(work->fresh, array, bytes);
}

/* Destroying the context unloads the module and frees the memory, however far it got. */
static void perform(struct work *work)
{
    struct threaded_result *result = &work->result;
    CUdevice device;
    CUcontext context;

    result->sum = 0;
    if ((result->error = cuInit(0))) return;
    if ((result->error = cuDeviceGet(&device, 0))) return;
    if ((result->error = cuCtxCreate(&context, NULL, 0, device))) return;
    result->error = on_device(work);
    CUresult destroyed = cuCtxDestroy(context);
    if (!result->error) result->error = destroyed;
    if (result->error) return;
    for (size_t i = 0; i < work->array->length; i++) result->sum += work->fresh[i];
}

static void *in_thread(void *argument)
{
    struct work *work = argument;
    perform(work);
    if (!work->result.error)
        memcpy(work->array->values, work->fresh, work->array->length * sizeof(float));
    free(work->fresh);
    return &work->result;
}

static CUresult first_in(const struct threaded_result *results, size_t count)
{
    for (const struct threaded_result *r = results; r < results + count; r++)
        if (r->error) return r->error;
    return CUDA_SUCCESS;
}

CUresult threaded_contexts_threads(const char *image, const struct threaded_array *arrays,
                                   size_t count, struct threaded_result *results)
{
    struct work *works = calloc(count + 1, sizeof *works);

    for (size_t i = 0; works && i < count; i++) {
        works[i].image = image;
        works[i].array = arrays + i;
        works[i].started = pthread_create(&works[i].thread, NULL, in_thread, &works[i]) == 0;
    }
    for (size_t i = 0; i < count; i++) {
        void *value = NULL;
        if (works && works[i].started) pthread_join(works[i].thread, &value);
        if (value)
            results[i] = *(const struct threaded_result *)value;
        else
            results[i] = (struct threaded_result){CUDA_ERROR_OPERATING_SYSTEM, 0};
    }
    free(works);
    return first_in(results, count);
}

static int write_fully(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n == -1 && errno == EINTR) continue;
        if (n <= 0) return 0;
        data += n;
        size -= (size_t)n;
    }
    return 1;
}

static int read_fully(int fd, char *data, size_t size)
{
    while (size) {
        ssize_t n = read(fd, data, size);
        if (n == -1 && errno == EINTR) continue;
        if (n <= 0) return 0;
        data += n;
        size -= (size_t)n;
    }
    return 1;
}

static void child(const char *image, const struct threaded_array *array, int fd)
{
    struct work work = {.image = image, .array = array};
    perform(&work);
    if (!write_fully(fd, (const char *)&work.result, sizeof work.result)) _exit(1);
    if (!work.result.error &&
        !write_fully(fd, (const char *)work.fresh, array->length * sizeof(float)))
        _exit(1);
    _exit(0);
}

static void fetch(int fd, const struct threaded_array *array, struct threaded_result *result)
{
    struct threaded_result sent;
    if (!read_fully(fd, (char *)&sent, sizeof sent)) return;
    if (!sent.error) {
        float *fresh = malloc(array->length * sizeof(float));
        int complete = fresh && read_fully(fd, (char *)fresh, array->length * sizeof(float));
        if (complete) memcpy(array->values, fresh, array->length * sizeof(float));
        free(fresh);
        if (!complete) return;
    }
    *result = sent;
}

CUresult threaded_contexts_processes(const char *image, const struct threaded_array *arrays,
                                     size_t count, struct threaded_result *results)
{
    struct {
        pid_t pid;
        int fd;
    } *children = calloc(count + 1, sizeof *children);

    for (size_t i = 0; i < count; i++) {
        int fds[2];
        results[i] = (struct threaded_result){CUDA_ERROR_OPERATING_SYSTEM, 0};
        if (!children || pipe(fds) != 0) continue;
        const pid_t pid = fork();
        if (pid == 0) {
            for (size_t k = 0; k < i; k++)
                if (children[k].pid) close(children[k].fd);
            close(fds[0]);
            child(image, &arrays[i], fds[1]);
        }
        close(fds[1]);
        if (pid > 0) {
            children[i].pid = pid;
            children[i].fd = fds[0];
        } else {
            close(fds[0]);
        }
    }

    for (size_t i = 0; children && i < count; i++) {
        int status = 0;
        pid_t ended;
        if (!children[i].pid) continue;
        do ended = waitpid(children[i].pid, &status, 0);
        while (ended < 0 && errno == EINTR);
        if (ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
            fetch(children[i].fd, &arrays[i], &results[i]);
        close(children[i].fd);
    }
    free(children);
    return first_in(results, count);
}
