/* variant: the image as a library of each thread's own, its kernel fetched for the context; a
 * result that is packed into what the thread returns; a child for each array that answers through
 * one shared page and one pipe for the values
 */
#include "lesson.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct task {
    const char *image;
    const struct threaded_array *array;
};

static CUresult in_context(const struct task *task)
{
    size_t length = task->array->length;
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    CUdeviceptr memory = 0;
    void *arguments[2] = {&memory, &length};

    CUresult error = cuLibraryLoadData(&library, task->image, NULL, NULL, 0, NULL, NULL, 0);
    if (!error) error = cuLibraryGetKernel(&kernel, library, MULTIPLY_DIVIDE_NAME);
    if (!error) error = cuMemAlloc(&memory, length * sizeof(float));
    if (!error) error = cuMemcpyHtoD(memory, task->array->values, length * sizeof(float));
    if (!error)
        error = cuLaunchKernel((CUfunction)kernel, 1, 1, 1, MULTIPLY_DIVIDE_THREADS, 1, 1, 0,
                               CU_STREAM_PER_THREAD, arguments, NULL);
    if (!error) error = cuStreamSynchronize(CU_STREAM_PER_THREAD);
    if (!error) error = cuMemcpyDtoH(task->array->values, memory, length * sizeof(float));
    if (memory) cuMemFree(memory);
    if (library) cuLibraryUnload(library);
    return error;
}

static struct threaded_result do_task(const struct task *task)
{
    struct threaded_result result = {.error = cuInit(0)};
    CUcontext context = NULL;
    if (!result.error) result.error = cuCtxCreate(&context, NULL, CU_CTX_SCHED_AUTO, 0);
    if (result.error) return result;
    result.error = in_context(task);
    cuCtxDestroy(context);
    for (size_t i = 0; !result.error && i < task->array->length; i++)
        result.sum += task->array->values[i];
    return result;
}

static void *thread_main(void *argument)
{
    struct threaded_result *result = malloc(sizeof *result);
    if (result) *result = do_task(argument);
    return result;
}

CUresult threaded_contexts_threads(const char *image, const struct threaded_array *arrays,
                                   size_t count, struct threaded_result *results)
{
    struct task *tasks = malloc((count + 1) * sizeof *tasks);
    pthread_t *threads = malloc((count + 1) * sizeof *threads);
    CUresult first = CUDA_SUCCESS;
    bool *started = calloc(count + 1, sizeof *started);

    for (size_t i = 0; tasks && threads && started && i < count; i++) {
        tasks[i] = (struct task){image, &arrays[i]};
        started[i] = !pthread_create(&threads[i], NULL, thread_main, &tasks[i]);
    }
    for (size_t i = 0; i < count; i++) {
        void *value = NULL;
        results[i] = (struct threaded_result){.error = CUDA_ERROR_OPERATING_SYSTEM};
        if (tasks && threads && started && started[i]) pthread_join(threads[i], &value);
        if (value) results[i] = *(struct threaded_result *)value;
        free(value);
        if (!first) first = results[i].error;
    }
    free(started);
    free(threads);
    free(tasks);
    return first;
}

static void child_main(const struct task *task, struct threaded_result *result, int pipe)
{
    const char *bytes = (const char *)task->array->values;
    size_t left = task->array->length * sizeof(float);
    *result = do_task(task);
    while (!result->error && left > 0) {
        ssize_t written = write(pipe, bytes, left);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) _exit(1);
        bytes += written;
        left -= (size_t)written;
    }
    _exit(0);
}

/* Waits for the child, whatever signals come meanwhile. */
static pid_t wait_for(pid_t child, int *status)
{
    pid_t ended;
    do ended = waitpid(child, status, 0);
    while (ended < 0 && errno == EINTR);
    return ended;
}

CUresult threaded_contexts_processes(const char *image, const struct threaded_array *arrays,
                                     size_t count, struct threaded_result *results)
{
    struct child {
        pid_t pid;
        int pipe;
    } *children = malloc((count + 1) * sizeof *children);
    struct threaded_result *shared =
        mmap(NULL, (count + 1) * sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
             -1, 0);
    CUresult first = CUDA_SUCCESS;

    for (size_t i = 0; i < count; i++) {
        int ends[2];
        results[i] = (struct threaded_result){.error = CUDA_ERROR_OPERATING_SYSTEM};
        if (!children || shared == MAP_FAILED || pipe(ends)) {
            if (children) children[i].pid = -1;
            continue;
        }
        children[i] = (struct child){fork(), ends[0]};
        if (children[i].pid == 0) {
            close(ends[0]);
            child_main(&(struct task){image, &arrays[i]}, &shared[i], ends[1]);
        }
        close(ends[1]);
    }
    for (size_t i = 0; children && i < count; i++) {
        char *to = (char *)arrays[i].values;
        ssize_t got = 0;
        int status = 0;
        if (children[i].pid < 0) continue;
        for (size_t left = arrays[i].length * sizeof(float); left > 0;
             left -= (size_t)got, to += got) {
            do got = read(children[i].pipe, to, left);
            while (got < 0 && errno == EINTR);
            if (got <= 0) break;
        }
        close(children[i].pipe);
        wait_for(children[i].pid, &status);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) results[i] = shared[i];
    }
    for (size_t i = count; i-- > 0;)
        if (results[i].error) first = results[i].error;
    if (shared != MAP_FAILED) munmap(shared, (count + 1) * sizeof *shared);
    free(children);
    return first;
}
