/* variant: pipes read as files of the C library
 * orders: 3
 */
#define _GNU_SOURCE
#include "lesson.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The scopes note their errors where the array's first error is kept. */
struct context_scope {
    CUcontext handle;
    CUresult *first;
};
struct module_scope {
    CUmodule handle;
    CUresult *first;
};
struct memory_scope {
    CUdeviceptr handle;
    CUresult *first;
};

static int failed(CUresult *first, CUresult error)
{
    if (*first == CUDA_SUCCESS) *first = error;
    return error != CUDA_SUCCESS;
}

static void end_context(struct context_scope *s)
{
    failed(s->first, cuCtxDestroy(s->handle));
}
static void end_module(struct module_scope *s)
{
    failed(s->first, cuModuleUnload(s->handle));
}
static void end_memory(struct memory_scope *s)
{
    failed(s->first, cuMemFree(s->handle));
}

#define SCOPE(kind) __attribute__((cleanup(end_##kind), unused)) struct kind##_scope

static void in_scopes(CUresult *first, const char *image, const struct threaded_array *array,
                      float **fresh)
{
    size_t length = array->length;
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;

    if (failed(first, cuInit(0)) || failed(first, cuDeviceGet(&device, 0))) return;
    if (failed(first, cuCtxCreate(&context, NULL, 0, device))) return;
    SCOPE(context) own_context = {context, first};

    if (failed(first, cuModuleLoadData(&module, image))) return;
    SCOPE(module) own_module = {module, first};
    if (failed(first, cuModuleGetFunction(&function, module, MULTIPLY_DIVIDE_NAME))) return;

    if (length > SIZE_MAX / sizeof **fresh) {
        failed(first, CUDA_ERROR_OUT_OF_MEMORY);
        return;
    }
    if (failed(first, cuMemAlloc(&memory, length * sizeof **fresh))) return;
    SCOPE(memory) own_memory = {memory, first};

    if (failed(first, cuMemcpyHtoD(memory, array->values, length * sizeof **fresh))) return;
    void *parameters[] = {&memory, &length};
    if (failed(first, cuLaunchKernel(function, 1, 1, 1, MULTIPLY_DIVIDE_THREADS, 1, 1, 0, NULL,
                                     parameters, NULL)))
        return;
    *fresh = malloc(length * sizeof **fresh);
    if (!*fresh)
        failed(first, CUDA_ERROR_OUT_OF_MEMORY);
    else
        failed(first, cuMemcpyDtoH(*fresh, memory, length * sizeof **fresh));
}

/* New values only where nothing failed, the ends of the scopes included. */
static struct threaded_result new_values(const char *image, const struct threaded_array *array,
                                         float **fresh)
{
    struct threaded_result result = {CUDA_SUCCESS, 0};

    *fresh = NULL;
    in_scopes(&result.error, image, array, fresh);
    if (result.error) {
        free(*fresh);
        *fresh = NULL;
        return result;
    }
    for (size_t i = 0; i < array->length; i++) result.sum += (*fresh)[i];
    return result;
}

static CUresult first_error(const struct threaded_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (results[i].error) return results[i].error;
    return CUDA_SUCCESS;
}

static const struct threaded_result none = {CUDA_ERROR_OPERATING_SYSTEM, 0};

struct piece {
    const char *image;
    const struct threaded_array *array;
};

static void *do_piece(void *argument)
{
    const struct piece piece = *(const struct piece *)argument;
    struct threaded_result *result = malloc(sizeof *result);
    float *fresh;

    if (!result) return NULL;
    *result = new_values(piece.image, piece.array, &fresh);
    if (fresh) memcpy(piece.array->values, fresh, piece.array->length * sizeof *fresh);
    free(fresh);
    return result;
}

CUresult threaded_contexts_threads(const char *image, const struct threaded_array *arrays,
                                   size_t count, struct threaded_result *results)
{
    struct piece *pieces = calloc(count + 1, sizeof *pieces);
    pthread_t *threads = calloc(count + 1, sizeof *threads);
    int *errors = calloc(count + 1, sizeof *errors);
    const int able = pieces && threads && errors;

    for (size_t i = 0; able && i < count; i++) {
        pieces[i] = (struct piece){image, &arrays[i]};
        errors[i] = pthread_create(&threads[i], NULL, do_piece, &pieces[i]);
    }
    for (size_t i = 0; i < count; i++) {
        void *value = NULL;
        if (able && errors[i] == 0) pthread_join(threads[i], &value);
        results[i] = value ? *(struct threaded_result *)value : none;
        free(value);
    }
    free(errors);
    free(threads);
    free(pieces);
    return first_error(results, count);
}

static int write_whole(int fd, const void *data, size_t size)
{
    for (const char *p = data; size > 0;) {
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
    float *fresh;
    struct threaded_result result = new_values(image, array, &fresh);
    int error = write_whole(out, &result, sizeof result);
    if (!error && fresh) error = write_whole(out, fresh, array->length * sizeof *fresh);
    _exit(error ? 1 : 0);
}

/* fread stops at a signal, too; that is not the end of the file. */
static int read_whole(FILE *file, void *data, size_t size)
{
    char *p = data;
    while (size > 0) {
        errno = 0;
        size_t n = fread(p, 1, size, file);
        p += n;
        size -= n;
        if (size > 0 && (feof(file) || errno != EINTR)) return -1;
        clearerr(file);
    }
    return 0;
}

static struct threaded_result read_result(FILE *file, const struct threaded_array *array)
{
    struct threaded_result result;
    if (read_whole(file, &result, sizeof result)) return none;
    if (result.error) return result;

    float *fresh = malloc(array->length * sizeof *fresh);
    if (fresh && !read_whole(file, fresh, array->length * sizeof *fresh))
        memcpy(array->values, fresh, array->length * sizeof *fresh);
    else
        result = none;
    free(fresh);
    return result;
}

CUresult threaded_contexts_processes(const char *image, const struct threaded_array *arrays,
                                     size_t count, struct threaded_result *results)
{
    FILE **files = calloc(count + 1, sizeof *files);
    pid_t *pids = calloc(count + 1, sizeof *pids);

    for (size_t i = 0; i < count; i++) {
        int ends[2];
        results[i] = none;
        if (!files || !pids || pipe(ends)) continue;

        /* The stream is made first, so that no child is started that cannot be read. */
        files[i] = fdopen(ends[0], "r");
        if (!files[i]) {
            close(ends[0]);
            close(ends[1]);
            continue;
        }
        pids[i] = fork();
        if (pids[i] == 0) {
            for (size_t k = 0; k <= i; k++)
                if (files[k]) close(fileno(files[k]));
            child(image, &arrays[i], ends[1]);
        }
        close(ends[1]);
    }
    for (size_t i = 0; files && pids && i < count; i++) {
        if (!files[i]) continue;
        if (pids[i] > 0) results[i] = read_result(files[i], &arrays[i]);
        fclose(files[i]);
    }
    for (size_t i = 0; files && pids && i < count; i++)
        while (pids[i] > 0 && waitpid(pids[i], NULL, 0) < 0 && errno == EINTR) continue;

    free(files);
    free(pids);
    return first_error(results, count);
}
