// Wrong: a breadth-first search clears the counter of the next frontier in a second stream and
// waits for nothing of that: the counter may be cleared before the search or behind it. The
// kernel swaps as well (atomicCAS), in another array.
// Found: race
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t e = (call);                                                                    \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

constexpr int VERTICES = 500;

// A binary tree: vertex v leads to 2v + 1 and 2v + 2.
__global__ void expand(const int *frontier, int size, int *next, int *next_size, int *distance,
                       int level)
{
    for (int k = (int)(blockIdx.x * blockDim.x + threadIdx.x); k < 2 * size;
         k += (int)(gridDim.x * blockDim.x)) {
        const int to = 2 * frontier[k / 2] + 1 + k % 2;
        if (to < VERTICES && atomicCAS(&distance[to], -1, level + 1) == -1)
            next[atomicAdd(next_size, 1)] = to;
    }
}

int main()
{
    int *queues[2], *sizes, *distance, *found, size = 1, level = 0;
    cudaStream_t work, aside;
    cudaEvent_t cleared;
    for (int **queue = queues; queue < queues + 2; queue++)
        CHECK(cudaMalloc(queue, VERTICES * sizeof **queue));
    CHECK(cudaMalloc(&sizes, 2 * sizeof *sizes));
    CHECK(cudaMalloc(&distance, VERTICES * sizeof *distance));
    CHECK(cudaMallocHost(&found, sizeof *found));
    CHECK(cudaMemset(distance, 0xff, VERTICES * sizeof *distance));
    CHECK(cudaMemset(distance, 0, sizeof *distance));
    CHECK(cudaMemset(queues[0], 0, sizeof *queues[0]));
    CHECK(cudaMemset(sizes, 0, 2 * sizeof *sizes));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&cleared, cudaEventDisableTiming));

    for (; size > 0 && level < 2 * VERTICES; level++) {
        int *next_size = &sizes[(level + 1) % 2];
        CHECK(cudaMemsetAsync(next_size, 0, sizeof *next_size, aside));
        CHECK(cudaEventRecord(cleared, aside));
        expand<<<4, 64, 0, work>>>(queues[level % 2], size, queues[(level + 1) % 2], next_size,
                                   distance, level);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpyAsync(found, next_size, sizeof *found, cudaMemcpyDeviceToHost, work));
        CHECK(cudaStreamSynchronize(work));
        size = *found < VERTICES ? *found : VERTICES;
    }
    CHECK(cudaDeviceSynchronize());
    printf("%d levels\n", level);
    CHECK(cudaEventDestroy(cleared));
    CHECK(cudaStreamDestroy(work));
    CHECK(cudaStreamDestroy(aside));
    CHECK(cudaFreeHost(found));
    CHECK(cudaFree(distance));
    CHECK(cudaFree(sizes));
    for (int *queue : queues) CHECK(cudaFree(queue));
}
