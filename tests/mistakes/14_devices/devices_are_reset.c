/* mistake: each device is reset in the end
 * fails: Devices.EveryCellIsRight
 * fails: Devices.NothingLeaks
 * finds: nothing, the program crashes when the caller looks at its memory
 */
#include "lesson.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static cudaError_t try_direction(int self, int other, bool *changed)
{
    int possible = 0;
    cudaError_t e = cudaDeviceCanAccessPeer(&possible, self, other);
    if (e != cudaSuccess || possible == 0) return e;
    *changed = true;
    e = cudaSetDevice(self);
    if (e != cudaSuccess) return e;
    e = cudaDeviceEnablePeerAccess(other, 0);
    if (e == cudaErrorPeerAccessAlreadyEnabled) {
        (void)cudaGetLastError();
        return cudaSuccess;
    }
    return e;
}

cudaError_t devices_link(const int devices[], int count)
{
    int mine = -1;
    bool changed = false;
    cudaError_t e = cudaGetDevice(&mine);
    if (e != cudaSuccess) return e;
    for (int i = 0; i < count; i++) {
        for (int d = -1; d <= 1; d += 2) {
            const int j = i + d;
            if (j < 0 || j >= count) continue;
            e = try_direction(devices[i], devices[j], &changed);
            if (e != cudaSuccess) goto end;
        }
    }
end:
    if (changed) {
        cudaError_t back = cudaSetDevice(mine);
        if (e == cudaSuccess) e = back;
    }
    return e;
}

#define CHECK(x)                                                                                   \
    if ((e = (x)) != cudaSuccess) goto cleanup

static cudaError_t one_row(int *to, int to_device, const int *from, int from_device, size_t bytes,
                           cudaStream_t stream)
{
    struct cudaMemcpy3DPeerParms p;
    memset(&p, 0, sizeof p);
    p.srcDevice = from_device;
    p.srcPtr.ptr = (void *)from;
    p.srcPtr.pitch = p.srcPtr.xsize = bytes;
    p.srcPtr.ysize = 1;
    p.dstDevice = to_device;
    p.dstPtr.ptr = to;
    p.dstPtr.pitch = p.dstPtr.xsize = bytes;
    p.dstPtr.ysize = 1;
    p.extent.width = bytes;
    p.extent.height = 1;
    p.extent.depth = 1;
    return cudaMemcpy3DPeerAsync(&p, stream);
}

cudaError_t devices_steps(const int *input, int *output, int rows, int columns, int steps,
                          const int devices[], int count)
{
    size_t bytes = (size_t)columns * sizeof(int), c = (size_t)columns;
    int old = 0, s, i;
    cudaError_t e = cudaGetDevice(&old), e2;
    if (e != cudaSuccess) return e;

    int *height = calloc((size_t)count, sizeof(int)), *start = calloc((size_t)count, sizeof(int));
    int **a = calloc((size_t)count, sizeof(int *)), **b = calloc((size_t)count, sizeof(int *));
    cudaStream_t *stream = calloc((size_t)count, sizeof(cudaStream_t));
    cudaEvent_t *event = calloc((size_t)count, sizeof(cudaEvent_t));
    if (!height || !start || !a || !b || !stream || !event) {
        e = cudaErrorMemoryAllocation;
        goto no_memory;
    }

    for (i = 0; i < count; i++) {
        height[i] = rows / count + (rows % count > i);
        if (i > 0) start[i] = start[i - 1] + height[i - 1];
        size_t size = bytes * ((size_t)height[i] + 2);
        CHECK(cudaSetDevice(devices[i]));
        CHECK(cudaStreamCreate(&stream[i]));
        CHECK(cudaEventCreate(&event[i]));
        CHECK(cudaMalloc((void **)&a[i], size));
        CHECK(cudaMalloc((void **)&b[i], size));
        CHECK(cudaMemsetAsync(a[i], 0, size, stream[i]));
        CHECK(cudaMemsetAsync(b[i], 0, size, stream[i]));
        int lo = start[i] - (i > 0), hi = start[i] + height[i] + (i < count - 1);
        CHECK(cudaMemcpy2DAsync(a[i] + (i > 0 ? 0 : c), bytes, input + c * (size_t)lo, bytes, bytes,
                                (size_t)(hi - lo), cudaMemcpyHostToDevice, stream[i]));
    }
    for (s = 0; s < steps; s++) {
        for (i = 0; i < count; i++) {
            CHECK(cudaSetDevice(devices[i]));
            CHECK(stencil_launch(a[i], b[i], height[i], columns, stream[i]));
            CHECK(cudaEventRecord(event[i], stream[i]));
        }
        if (s + 1 < steps)
            for (i = 0; i < count; i++) {
                CHECK(cudaSetDevice(devices[i]));
                if (i > 0) {
                    CHECK(cudaStreamWaitEvent(stream[i], event[i - 1], 0));
                    CHECK(one_row(b[i], devices[i], b[i - 1] + c * (size_t)height[i - 1],
                                  devices[i - 1], bytes, stream[i]));
                }
                if (i < count - 1) {
                    CHECK(cudaStreamWaitEvent(stream[i], event[i + 1], 0));
                    CHECK(one_row(b[i] + c * (size_t)(height[i] + 1), devices[i], b[i + 1] + c,
                                  devices[i + 1], bytes, stream[i]));
                }
            }
        int **t = a;
        a = b;
        b = t;
    }
    for (i = 0; i < count; i++) {
        CHECK(cudaSetDevice(devices[i]));
        CHECK(cudaMemcpy2DAsync(output + c * (size_t)start[i], bytes, a[i] + c, bytes, bytes,
                                (size_t)height[i], cudaMemcpyDeviceToHost, stream[i]));
    }

cleanup:
    for (i = 0; i < count; i++)
        if (stream[i] && (e2 = cudaStreamSynchronize(stream[i])) && !e) e = e2;
    for (i = 0; i < count; i++) {
        if (a[i] && (e2 = cudaFree(a[i])) && !e) e = e2;
        if (b[i] && (e2 = cudaFree(b[i])) && !e) e = e2;
        if (event[i] && (e2 = cudaEventDestroy(event[i])) && !e) e = e2;
        if (stream[i] && (e2 = cudaStreamDestroy(stream[i])) && !e) e = e2;
    }
    for (i = 0; i < count; i++)
        if (!cudaSetDevice(devices[i]) && (e2 = cudaDeviceReset()) && !e) e = e2;
no_memory:
    free(height);
    free(start);
    free(a);
    free(b);
    free(stream);
    free(event);
    if ((e2 = cudaSetDevice(old)) && !e) e = e2;
    return e;
}
