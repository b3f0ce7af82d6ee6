// Right: one thread sets the largest change of a round back when all have read it. The grid meets
// in a function that is called.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    printf("%s\n", cudaGetErrorString(error));
    exit(1);
}

static int report(long wrong)
{
    printf(wrong ? "%ld wrong\n" : "PASS\n", wrong);
    return wrong != 0;
}

const int BLOCKS = 4, T = 64, ROUNDS = 6;

__device__ __noinline__ void meet()
{
    cg::this_grid().sync();
}

__global__ void relax(int *change, const int *limit, int *rounds)
{
    int i = blockIdx.x * T + threadIdx.x, k = 0;
    for (; k < ROUNDS; k++) {
        atomicMax(change, i % (7 * (ROUNDS - k)));
        meet();
        int now = *change;
        meet();
        if (i == 0) *change = 0;
        meet();
        if (now < limit[k]) break;
    }
    rounds[i] = k;
}

int main()
{
    const int limits[ROUNDS] = {0, 1, 2, 3, 20, 20};
    int rounds[BLOCKS * T], *change, *limit, *dr;
    check(cudaMalloc(&change, sizeof *change));
    check(cudaMalloc(&limit, sizeof limits));
    check(cudaMalloc(&dr, sizeof rounds));
    check(cudaMemset(change, 0, sizeof *change));
    check(cudaMemcpy(limit, limits, sizeof limits, cudaMemcpyHostToDevice));
    void *arguments[] = {&change, &limit, &dr};
    check(cudaLaunchCooperativeKernel((void *)relax, BLOCKS, T, arguments, 0, 0));
    check(cudaMemcpy(rounds, dr, sizeof rounds, cudaMemcpyDeviceToHost));
    long wrong = 0;
    for (int i = 0; i < BLOCKS * T; i++) wrong += rounds[i] != 4;
    check(cudaFree(change));
    check(cudaFree(limit));
    check(cudaFree(dr));
    return report(wrong);
}
