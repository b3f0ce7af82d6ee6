/* mistake: one fork that fails keeps the arrays behind it from being done
 * fails: ThreadedContexts.EveryErrorOfAChildIsReturnedAndNothingLeaks
 * finds: nothing, no call of CUDA's has to do with it
 */
#include "lesson.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static CUresult transform(const char *image, const struct threaded_array *array, float **fresh,
                          double *sum)
{
    size_t length = array->length;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    CUresult error, later;

    *fresh = NULL;
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
    if (error) goto destroy;
    error = CUDA_ERROR_OUT_OF_MEMORY;
    if (length > SIZE_MAX / sizeof(float)) goto destroy;
    error = cuMemAlloc(&memory, length * sizeof(float));
    if (error) goto destroy;
    error = cuMemcpyHtoD(memory, array->values, length * sizeof(float));
    if (error) goto destroy;
    void *parameters[] = {&memory, &length};
    error =
        cuLaunchKernel(function, 1, 1, 1, MULTIPLY_DIVIDE_THREADS, 1, 1, 0, NULL, parameters, NULL);
    if (error) goto destroy;
    *fresh = malloc(length * sizeof(float));
    error =
        *fresh ? cuMemcpyDtoH(*fresh, memory, length * sizeof(float)) : CUDA_ERROR_OUT_OF_MEMORY;

destroy: /* and with it the module and the memory */
    later = cuCtxDestroy(context);
    if (!error) error = later;
    if (error) {
        free(*fresh);
        *fresh = NULL;
    } else {
        for (size_t i = 0; i < length; i++) *sum += (*fresh)[i];
    }
    return error;
}

struct job {
    const char *image;
    const struct threaded_array *array;
};

static void *thread(void *argument)
{
    const struct job *job = argument;
    struct threaded_result *result = malloc(sizeof *result);
    float *fresh;

    if (!result) return NULL;
    result->error = transform(job->image, job->array, &fresh, &result->sum);
    if (fresh) memcpy(job->array->values, fresh, job->array->length * sizeof *fresh);
    free(fresh);
    return result;
}

static CUresult worst(const struct threaded_result *results, size_t count)
{
    size_t i = 0;
    while (i < count && !results[i].error) i++;
    return i < count ? results[i].error : CUDA_SUCCESS;
}

CUresult threaded_contexts_threads(const char *image, const struct threaded_array *arrays,
                                   size_t count, struct threaded_result *results)
{
    struct {
        struct job job;
        pthread_t thread;
        int started;
    } *table = calloc(count + 1, sizeof *table);

    for (size_t i = 0; table && i < count; i++) {
        table[i].job = (struct job){image, &arrays[i]};
        table[i].started = pthread_create(&table[i].thread, NULL, thread, &table[i].job) == 0;
    }
    for (size_t i = 0; i < count; i++) {
        void *value = NULL;
        if (table && table[i].started) pthread_join(table[i].thread, &value);
        if (value) {
            results[i] = *(struct threaded_result *)value;
            free(value);
        } else {
            results[i].error = CUDA_ERROR_OPERATING_SYSTEM;
            results[i].sum = 0;
        }
    }
    free(table);
    return worst(results, count);
}

/* One child, seen from the parent: first its result comes, then its values. */
struct child {
    pid_t pid;
    struct threaded_result result;
    float *values;
    size_t got, expected;
};

static void child_main(const char *image, const struct threaded_array *array, int out)
{
    struct threaded_result result;
    float *fresh;
    const char *parts[2];
    size_t sizes[2] = {sizeof result, 0};

    memset(&result, 0, sizeof result);
    result.error = transform(image, array, &fresh, &result.sum);
    parts[0] = (const char *)&result;
    parts[1] = (const char *)fresh;
    if (fresh) sizes[1] = array->length * sizeof *fresh;
    for (int part = 0; part < 2; part++)
        while (sizes[part] > 0) {
            ssize_t n = write(out, parts[part], sizes[part]);
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) _exit(1);
            parts[part] += n;
            sizes[part] -= (size_t)n;
        }
    _exit(0);
}

/* Reads what there is. Returns 0 when nothing more is to come or to be had from this child. */
static int take(struct child *child, int fd, const struct threaded_array *array)
{
    char *to = child->got < sizeof child->result
                   ? (char *)&child->result + child->got
                   : (char *)child->values + (child->got - sizeof child->result);
    size_t limit = child->got < sizeof child->result ? sizeof child->result : child->expected;
    ssize_t n = read(fd, to, limit - child->got);

    if (n < 0) return errno == EINTR;
    if (n == 0) return 0;
    child->got += (size_t)n;
    if (child->got == sizeof child->result) {
        if (child->result.error) return 0;
        child->values = malloc(array->length * sizeof(float));
        if (!child->values) return 0;
        child->expected = child->got + array->length * sizeof(float);
    }
    return child->got < child->expected;
}

static void deliver(const struct child *child, const struct threaded_array *array,
                    struct threaded_result *result)
{
    if (child->got < sizeof child->result) return;
    if (child->result.error) {
        *result = child->result;
    } else if (child->values && child->got == child->expected) {
        memcpy(array->values, child->values, array->length * sizeof(float));
        *result = child->result;
    }
}

CUresult threaded_contexts_processes(const char *image, const struct threaded_array *arrays,
                                     size_t count, struct threaded_result *results)
{
    struct child *children = calloc(count + 1, sizeof *children);
    struct pollfd *polls = calloc(count + 1, sizeof *polls);
    size_t open = 0;

    for (size_t i = 0; i < count; i++) {
        results[i] = (struct threaded_result){CUDA_ERROR_OPERATING_SYSTEM, 0};
        if (!children || !polls) continue;
        children[i].expected = sizeof children[i].result;
        polls[i] = (struct pollfd){.fd = -1, .events = POLLIN};
    }

    for (size_t i = 0; children && polls && i < count; i++) {
        int ends[2];
        if (pipe(ends)) continue;
        children[i].pid = fork();
        if (children[i].pid == 0) {
            for (size_t k = 0; k < i; k++)
                if (polls[k].fd >= 0) close(polls[k].fd);
            close(ends[0]);
            child_main(image, &arrays[i], ends[1]);
        }
        close(ends[1]);
        if (children[i].pid < 0) {
            close(ends[0]);
            break;
        }
        polls[i].fd = ends[0];
        open++;
    }

    while (open > 0) {
        if (poll(polls, (nfds_t)count, -1) < 0) {
            if (errno == EINTR) continue;
            break;
        }
        for (size_t i = 0; i < count; i++) {
            if (polls[i].fd < 0 || !polls[i].revents) continue;
            if (take(&children[i], polls[i].fd, &arrays[i])) continue;
            close(polls[i].fd);
            polls[i].fd = -1;
            open--;
        }
    }

    for (size_t i = 0; children && polls && i < count; i++) {
        if (polls[i].fd >= 0) close(polls[i].fd);
        if (children[i].pid > 0)
            while (waitpid(children[i].pid, NULL, 0) < 0 && errno == EINTR) continue;
        deliver(&children[i], &arrays[i], &results[i]);
        free(children[i].values);
    }
    free(polls);
    free(children);
    return worst(results, count);
}
