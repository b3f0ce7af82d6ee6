/* variant: threads begin at a gate; the pipes are read with poll
 * orders: 3
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

#define OR(error, call)                                                                            \
    do {                                                                                           \
        CUresult or_ = (call);                                                                     \
        if ((error) == CUDA_SUCCESS) (error) = or_;                                                \
    } while (0)

static CUresult transform(const char *image, const struct threaded_array *array, float **fresh,
                          double *sum)
{
    size_t length = array->length;
    CUdevice device;
    CUcontext context, popped;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    float *copy = NULL;

    *fresh = NULL;
    *sum = 0;
    CUresult error = cuInit(0);
    if (!error) error = cuDeviceGet(&device, 0);
    if (!error) error = cuCtxCreate(&context, NULL, CU_CTX_SCHED_BLOCKING_SYNC, device);
    if (error) return error;

    error = cuModuleLoadDataEx(&module, image, 0, NULL, NULL);
    if (!error) {
        error = cuModuleGetFunction(&function, module, MULTIPLY_DIVIDE_NAME);
        if (!error && length > SIZE_MAX / sizeof *copy) error = CUDA_ERROR_OUT_OF_MEMORY;
        if (!error) error = cuMemAlloc(&memory, length * sizeof *copy);
        if (!error) {
            void *parameters[] = {&memory, &length};
            copy = malloc(length * sizeof *copy);
            if (!copy) error = CUDA_ERROR_OUT_OF_MEMORY;
            if (!error) error = cuMemcpyHtoD(memory, array->values, length * sizeof *copy);
            if (!error)
                error = cuLaunchKernel(function, 1, 1, 1, MULTIPLY_DIVIDE_THREADS, 1, 1, 0, NULL,
                                       parameters, NULL);
            if (!error) error = cuMemcpyDtoH(copy, memory, length * sizeof *copy);
            OR(error, cuMemFree(memory));
        }
        OR(error, cuModuleUnload(module));
    }
    OR(error, cuCtxPopCurrent(&popped));
    OR(error, cuCtxDestroy(context));

    if (error) {
        free(copy);
        return error;
    }
    for (size_t i = 0; i < length; i++) *sum += copy[i];
    *fresh = copy;
    return CUDA_SUCCESS;
}

static CUresult first_error(const struct threaded_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (results[i].error) return results[i].error;
    return CUDA_SUCCESS;
}

struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t opens;
    int open;
};

static void pass(struct gate *gate)
{
    pthread_mutex_lock(&gate->mutex);
    while (!gate->open) pthread_cond_wait(&gate->opens, &gate->mutex);
    pthread_mutex_unlock(&gate->mutex);
}

static void open_gate(struct gate *gate)
{
    pthread_mutex_lock(&gate->mutex);
    gate->open = 1;
    pthread_cond_broadcast(&gate->opens);
    pthread_mutex_unlock(&gate->mutex);
}

struct runner {
    struct gate *gate;
    const char *image;
    const struct threaded_array *array;
    struct threaded_result result;
    pthread_t thread;
    int started;
};

static void *run(void *argument)
{
    struct runner *runner = argument;
    float *fresh;

    pass(runner->gate);
    runner->result.error = transform(runner->image, runner->array, &fresh, &runner->result.sum);
    if (fresh) memcpy(runner->array->values, fresh, runner->array->length * sizeof *fresh);
    free(fresh);
    return &runner->result;
}

CUresult threaded_contexts_threads(const char *image, const struct threaded_array *arrays,
                                   size_t count, struct threaded_result *results)
{
    struct gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
    struct runner *runners = calloc(count + 1, sizeof *runners);

    for (size_t i = 0; runners && i < count; i++) {
        runners[i].gate = &gate;
        runners[i].image = image;
        runners[i].array = &arrays[i];
        runners[i].started = pthread_create(&runners[i].thread, NULL, run, &runners[i]) == 0;
    }
    open_gate(&gate); /* for those that there are */

    for (size_t i = 0; i < count; i++) {
        void *value = NULL;
        results[i] = (struct threaded_result){CUDA_ERROR_OPERATING_SYSTEM, 0};
        if (!runners || !runners[i].started) continue;
        pthread_join(runners[i].thread, &value);
        if (value) results[i] = *(struct threaded_result *)value;
    }
    free(runners);
    pthread_cond_destroy(&gate.opens);
    pthread_mutex_destroy(&gate.mutex);
    return first_error(results, count);
}

/* What comes from one child: the result first, then the values. */
struct feed {
    pid_t pid;
    struct threaded_result result;
    float *values;
    size_t got, expected; /* bytes, of both together */
};

static int write_whole(int fd, const void *data, size_t size)
{
    const char *p = data;
    while (size > 0) {
        ssize_t n = write(fd, p, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return -1;
        p += n;
        size -= (size_t)n;
    }
    return 0;
}

static _Noreturn void child(const char *image, const struct threaded_array *array, int out)
{
    struct threaded_result result;
    float *fresh;

    memset(&result, 0, sizeof result);
    result.error = transform(image, array, &fresh, &result.sum);
    if (write_whole(out, &result, sizeof result)) _exit(1);
    if (fresh && write_whole(out, fresh, array->length * sizeof *fresh)) _exit(1);
    _exit(0);
}

/* One read. Returns 1 if more is to come, 0 if this was the end, in whatever way. */
static int feed_from(struct feed *feed, int fd, size_t length)
{
    const size_t head = sizeof feed->result;
    char *to = feed->got < head ? (char *)&feed->result + feed->got
                                : (char *)feed->values + (feed->got - head);
    ssize_t n = read(fd, to, feed->expected - feed->got);
    if (n < 0) return errno == EINTR;
    if (n == 0) return 0;

    feed->got += (size_t)n;
    if (feed->got == head && feed->expected == head && !feed->result.error) {
        feed->values = malloc(length * sizeof *feed->values);
        if (!feed->values) return 0;
        feed->expected = head + length * sizeof *feed->values;
    }
    return feed->got < feed->expected;
}

/* Complete: an error alone, or a success with all its values. */
static int complete(const struct feed *feed)
{
    if (feed->got < sizeof feed->result || feed->got < feed->expected) return 0;
    return feed->result.error || feed->values;
}

CUresult threaded_contexts_processes(const char *image, const struct threaded_array *arrays,
                                     size_t count, struct threaded_result *results)
{
    struct feed *feeds = calloc(count + 1, sizeof *feeds);
    struct pollfd *polls = calloc(count + 1, sizeof *polls);
    const int able = feeds && polls;
    size_t open = 0;

    for (size_t i = 0; able && i < count; i++) {
        int ends[2];
        feeds[i].expected = sizeof feeds[i].result;
        polls[i].fd = -1;
        polls[i].events = POLLIN;
        if (pipe(ends)) continue;

        const pid_t pid = fork();
        if (pid == 0) {
            for (size_t k = 0; k < i; k++)
                if (polls[k].fd >= 0) close(polls[k].fd);
            close(ends[0]);
            child(image, &arrays[i], ends[1]);
        }
        close(ends[1]);
        if (pid < 0) {
            close(ends[0]);
            continue;
        }
        feeds[i].pid = pid;
        polls[i].fd = ends[0];
        open++;
    }

    while (open > 0) {
        int ready = poll(polls, (nfds_t)count, -1);
        if (ready < 0 && errno == EINTR) continue;
        for (size_t i = 0; i < count; i++) {
            /* Should poll itself fail, they are read one after another. */
            if (polls[i].fd < 0 || (ready >= 0 && !polls[i].revents)) continue;
            if (feed_from(&feeds[i], polls[i].fd, arrays[i].length)) continue;
            close(polls[i].fd);
            polls[i].fd = -1;
            open--;
        }
    }

    for (size_t i = 0; i < count; i++) {
        results[i] = (struct threaded_result){CUDA_ERROR_OPERATING_SYSTEM, 0};
        if (!able || feeds[i].pid <= 0) continue;
        while (waitpid(feeds[i].pid, NULL, 0) < 0 && errno == EINTR) continue;
        if (complete(&feeds[i])) {
            results[i] = feeds[i].result;
            if (!results[i].error)
                memcpy(arrays[i].values, feeds[i].values, arrays[i].length * sizeof(float));
        }
        free(feeds[i].values);
    }
    free(polls);
    free(feeds);
    return first_error(results, count);
}
