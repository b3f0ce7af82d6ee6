/* variant: the threads meet at a barrier, so that all contexts live at once; the module is
 * linked from the image
 */
#include "lesson.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* The barrier is for those that could be started, and is there when the lock is open. */
struct meeting {
    pthread_mutex_t lock;
    pthread_barrier_t everybody;
};

struct place {
    struct meeting *meeting; /* NULL: alone in its process */
    pthread_t thread;
    int started;
    const char *image;
    struct threaded_array array;
    struct threaded_result result;
};

static void compute(struct place *place)
{
    size_t length = place->array.length, bytes = length * sizeof(float);
    CUcontext context = NULL;
    CUmodule module = NULL;
    CUfunction function = NULL;
    CUdeviceptr memory = 0;
    CUlinkState link = NULL;
    float *staging = NULL;
    void *linked = NULL;
    size_t linked_bytes;
    CUresult error;

    place->result.sum = 0;
    if (!(error = cuInit(0))) error = cuCtxCreate(&context, NULL, 0, 0);
    if (place->meeting) {
        pthread_mutex_lock(&place->meeting->lock);
        pthread_mutex_unlock(&place->meeting->lock);
        pthread_barrier_wait(&place->meeting->everybody);
    }
    if (!error) error = cuMemAlloc(&memory, bytes);
    if (!error) error = cuMemAllocHost((void **)&staging, bytes);
    if (!error) error = cuLinkCreate(0, NULL, NULL, &link);
    if (!error)
        error = cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)place->image,
                              strlen(place->image) + 1, "image", 0, NULL, NULL);
    if (!error) error = cuLinkComplete(link, &linked, &linked_bytes);
    if (!error) error = cuModuleLoadData(&module, linked);
    if (!error) error = cuModuleGetFunction(&function, module, MULTIPLY_DIVIDE_NAME);
    if (!error) {
        void *arguments[] = {&memory, &length, NULL};
        memcpy(staging, place->array.values, bytes);
        error = cuMemcpyHtoDAsync(memory, staging, bytes, NULL);
        if (!error)
            error = cuLaunchKernel(function, 1, 1, 1, MULTIPLY_DIVIDE_THREADS, 1, 1, 0, NULL,
                                   arguments, NULL);
        if (!error) error = cuMemcpyDtoHAsync(staging, memory, bytes, NULL);
        if (!error) error = cuCtxSynchronize();
    }
    if (!error) {
        for (size_t i = 0; i < length; i++) place->result.sum += staging[i];
        memcpy(place->array.values, staging, bytes);
    }
    if (link) cuLinkDestroy(link);
    if (staging) cuMemFreeHost(staging);
    if (context) cuCtxDestroy(context);
    place->result.error = error;
}

static void *thread_main(void *argument)
{
    struct place *place = argument;
    compute(place);
    pthread_exit(&place->result);
}

static CUresult first(const struct threaded_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (results[i].error) return results[i].error;
    return CUDA_SUCCESS;
}

CUresult threaded_contexts_threads(const char *image, const struct threaded_array *arrays,
                                   size_t count, struct threaded_result *results)
{
    struct meeting meeting = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct place *places = calloc(count, sizeof *places);
    unsigned started = 0;

    for (size_t i = 0; i < count; i++)
        results[i] = (struct threaded_result){.error = CUDA_ERROR_OPERATING_SYSTEM};
    if (!places) return count ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
    pthread_mutex_lock(&meeting.lock);
    for (size_t i = 0; i < count; i++) {
        places[i] = (struct place){.meeting = &meeting, .image = image, .array = arrays[i]};
        places[i].started = !pthread_create(&places[i].thread, NULL, thread_main, &places[i]);
        started += (unsigned)places[i].started;
    }
    if (started) pthread_barrier_init(&meeting.everybody, NULL, started);
    pthread_mutex_unlock(&meeting.lock);
    for (size_t i = 0; i < count; i++) {
        void *value;
        if (!places[i].started || pthread_join(places[i].thread, &value)) continue;
        results[i] = *(struct threaded_result *)value;
    }
    if (started) pthread_barrier_destroy(&meeting.everybody);
    free(places);
    return first(results, count);
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
    struct place **shared = calloc(count, sizeof *shared);
    pid_t *children = calloc(count, sizeof *children);

    if (!shared || !children) {
        for (size_t i = 0; i < count; i++)
            results[i] = (struct threaded_result){.error = CUDA_ERROR_OPERATING_SYSTEM};
        free(shared);
        free(children);
        return count ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
    }
    for (size_t i = 0; i < count; i++) {
        size_t bytes = sizeof(struct place) + arrays[i].length * sizeof(float);
        results[i] = (struct threaded_result){.error = CUDA_ERROR_OPERATING_SYSTEM};
        children[i] = -1;
        shared[i] = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (shared[i] == MAP_FAILED) continue;
        shared[i]->image = image;
        shared[i]->array = arrays[i];
        shared[i]->array.values = (float *)(shared[i] + 1);
        shared[i]->result = results[i];
        memcpy(shared[i] + 1, arrays[i].values, arrays[i].length * sizeof(float));
        children[i] = fork();
        if (children[i] == 0) {
            compute(shared[i]);
            _exit(0);
        }
    }
    for (size_t i = 0; i < count; i++) {
        int status;
        if (children[i] < 0 || wait_for(children[i], &status) < 0) continue;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) continue;
        results[i] = shared[i]->result;
        if (results[i].error == CUDA_SUCCESS)
            memcpy(arrays[i].values, shared[i] + 1, arrays[i].length * sizeof(float));
    }
    for (size_t i = 0; i < count; i++)
        if (shared[i] != MAP_FAILED)
            munmap(shared[i], sizeof(struct place) + arrays[i].length * sizeof(float));
    free(shared);
    free(children);
    return first(results, count);
}
