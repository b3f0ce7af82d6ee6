/* mistake: host functions get the address of the loop's variable
 * fails: Devices.EveryCellIsRight
 * finds: nothing, what host code reads of its own memory is not seen
 */
#include "lesson.h"

#include <stdatomic.h>
#include <stdlib.h>

static cudaError_t enable(int from, int to)
{
    int can = 0;
    cudaError_t error = cudaDeviceCanAccessPeer(&can, from, to);
    if (error != cudaSuccess) return error;
    if (!can) return cudaSuccess;
    error = cudaSetDevice(from);
    if (error != cudaSuccess) return error;
    error = cudaDeviceEnablePeerAccess(to, 0);
    if (error == cudaErrorPeerAccessAlreadyEnabled) {
        cudaGetLastError();
        error = cudaSuccess;
    }
    return error;
}

cudaError_t devices_link(const int devices[], int count)
{
    int old;
    cudaError_t error = cudaGetDevice(&old), put_back;
    if (error != cudaSuccess) return error;
    for (int i = 1; i < count && error == cudaSuccess; i++) {
        error = enable(devices[i - 1], devices[i]);
        if (error == cudaSuccess) error = enable(devices[i], devices[i - 1]);
    }
    put_back = cudaSetDevice(old);
    return error != cudaSuccess ? error : put_back;
}

enum { UP, DOWN, SIDES };

static atomic_int finished[65];

struct part {
    int device, first, rows;
    int *a, *b;
    cudaStream_t work, from[SIDES];
    cudaEvent_t made, got[SIDES];
};

struct all {
    struct part *parts;
    int count, columns;
    atomic_int done;
};

static void CUDART_CB one_is_done(void *argument)
{
    const int *number = argument;
    finished[*number] = 1;
}

static cudaError_t start(struct all *all, int i, const int *input)
{
    struct part *p = &all->parts[i];
    const size_t c = (size_t)all->columns, line = c * sizeof(int);
    const int up = i > 0, down = i + 1 < all->count;
    cudaError_t e = cudaSetDevice(p->device);
    if (!e) e = cudaStreamCreateWithFlags(&p->work, cudaStreamNonBlocking);
    if (!e) e = cudaEventCreateWithFlags(&p->made, cudaEventDisableTiming);
    for (int k = 0; k < SIDES; k++) {
        if (!e) e = cudaStreamCreateWithFlags(&p->from[k], cudaStreamNonBlocking);
        if (!e) e = cudaEventCreateWithFlags(&p->got[k], cudaEventDisableTiming);
    }
    if (!e) e = cudaMalloc((void **)&p->a, line * (size_t)(p->rows + 2));
    if (!e) e = cudaMalloc((void **)&p->b, line * (size_t)(p->rows + 2));
    if (!e && !up) e = cudaMemsetAsync(p->a, 0, line, p->work);
    if (!e && !up) e = cudaMemsetAsync(p->b, 0, line, p->work);
    if (!e && !down) e = cudaMemsetAsync(p->a + c * (size_t)(p->rows + 1), 0, line, p->work);
    if (!e && !down) e = cudaMemsetAsync(p->b + c * (size_t)(p->rows + 1), 0, line, p->work);
    if (!e)
        e = cudaMemcpyAsync(p->a + c * (size_t)!up, input + c * (size_t)(p->first - up),
                            line * (size_t)(up + p->rows + down), cudaMemcpyHostToDevice, p->work);
    return e;
}

static cudaError_t get(struct all *all, int i, int side)
{
    struct part *p = &all->parts[i], *n = side == UP ? p - 1 : p + 1;
    const size_t c = (size_t)all->columns, line = c * sizeof(int);
    int *to = side == UP ? p->b : p->b + c * (size_t)(p->rows + 1);
    const int *from = side == UP ? n->b + c * (size_t)n->rows : n->b + c;
    cudaError_t e = cudaSetDevice(p->device);
    if (!e) e = cudaStreamWaitEvent(p->from[side], n->made, 0);
    if (!e) e = cudaMemcpyPeerAsync(to, p->device, from, n->device, line, p->from[side]);
    if (!e) e = cudaEventRecord(p->got[side], p->from[side]);
    if (!e) e = cudaStreamWaitEvent(p->work, p->got[side], 0);
    return e;
}

static cudaError_t step(struct all *all)
{
    cudaError_t e = cudaSuccess;
    for (int i = 0; i < all->count && !e; i++) {
        struct part *p = &all->parts[i];
        e = cudaSetDevice(p->device);
        if (!e) e = stencil_launch(p->a, p->b, p->rows, all->columns, p->work);
        if (!e) e = cudaEventRecord(p->made, p->work);
    }
    return e;
}

static void swap(struct all *all)
{
    for (int i = 0; i < all->count; i++) {
        int *t = all->parts[i].a;
        all->parts[i].a = all->parts[i].b;
        all->parts[i].b = t;
    }
}

static cudaError_t end(struct all *all, int *output)
{
    const size_t c = (size_t)all->columns;
    cudaError_t e = cudaSuccess;
    int i;
    for (i = 0; i < all->count && !e; i++) {
        struct part *p = &all->parts[i];
        e = cudaSetDevice(p->device);
        if (!e)
            e = cudaMemcpyAsync(output + c * (size_t)p->first, p->a + c,
                                c * sizeof(int) * (size_t)p->rows, cudaMemcpyDeviceToHost, p->work);
        if (!e) e = cudaLaunchHostFunc(p->work, one_is_done, &i);
    }
    for (int k = 0; k < all->count && !e; k++) e = cudaStreamSynchronize(all->parts[k].work);
    return e;
}

static void keep(cudaError_t *e, cudaError_t more)
{
    if (!*e) *e = more;
}

static cudaError_t close_all(struct all *all)
{
    cudaError_t e = cudaSuccess;
    for (int i = 0; i < all->count; i++) {
        struct part *p = &all->parts[i];
        if (p->work) keep(&e, cudaStreamSynchronize(p->work));
        for (int k = 0; k < SIDES; k++)
            if (p->from[k]) keep(&e, cudaStreamSynchronize(p->from[k]));
    }
    for (int i = 0; i < all->count; i++) {
        struct part *p = &all->parts[i];
        if (p->a) keep(&e, cudaFree(p->a));
        if (p->b) keep(&e, cudaFree(p->b));
        if (p->made) keep(&e, cudaEventDestroy(p->made));
        for (int k = 0; k < SIDES; k++) {
            if (p->got[k]) keep(&e, cudaEventDestroy(p->got[k]));
            if (p->from[k]) keep(&e, cudaStreamDestroy(p->from[k]));
        }
        if (p->work) keep(&e, cudaStreamDestroy(p->work));
    }
    return e;
}

cudaError_t devices_steps(const int *input, int *output, int rows, int columns, int steps,
                          const int devices[], int count)
{
    struct all all = {.count = count, .columns = columns};
    int before;
    for (int i = 0; i < count; i++) finished[i] = 0;
    cudaError_t e = cudaGetDevice(&before);
    if (e) return e;
    all.parts = calloc((size_t)count, sizeof *all.parts);
    if (!all.parts) return cudaErrorMemoryAllocation;
    for (int i = 0, first = 0; i < count; i++) {
        all.parts[i].device = devices[i];
        all.parts[i].first = first;
        first += all.parts[i].rows = rows / count + (i < rows % count);
    }
    for (int i = 0; i < count && !e; i++) e = start(&all, i, input);
    for (int s = 0; s < steps && !e; s++) {
        e = step(&all);
        for (int i = 0; i < count && !e && s + 1 < steps; i++) {
            if (i > 0) e = get(&all, i, UP);
            if (!e && i + 1 < count) e = get(&all, i, DOWN);
        }
        swap(&all);
    }
    if (!e) e = end(&all, output);
    keep(&e, close_all(&all));
    for (int i = 0; i < count && !e; i++)
        if (!finished[i]) e = cudaErrorUnknown;
    free(all.parts);
    keep(&e, cudaSetDevice(before));
    return e;
}
