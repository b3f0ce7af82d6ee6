// Wrong: one thread sets the largest change of a round back while other blocks, and other warps of
// its own, still read it.
// Found: global memory race
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));    \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

constexpr int CELLS = 600, ROUNDS = 8, BLOCKS = 6, THREADS = 64;

__global__ void relax(int *even, int *odd, int *change, int *history)
{
    cg::grid_group grid = cg::this_grid();
    int largest = 0;

    for (int round = 0; round < ROUNDS; round++) {
        const int *now = round % 2 ? odd : even;
        int *next = round % 2 ? even : odd;
        int mine = 0;
        for (int i = (int)grid.thread_rank(); i < CELLS; i += (int)grid.size()) {
            const int left = i > 0 ? now[i - 1] : 0, right = i < CELLS - 1 ? now[i + 1] : 1 << 20;
            next[i] = (left + right) / 2;
            mine = max(mine, abs(next[i] - now[i]));
        }
        atomicMax(change, mine);
        grid.sync();
        largest = max(largest, *change);
        if (grid.thread_rank() == 0) *change = 0;
        grid.sync();
    }
    history[grid.thread_rank()] = largest;
}

int main()
{
    int *even, *odd, *change, *history, back[BLOCKS * THREADS], differ = 0;

    CHECK(cudaMalloc(&even, CELLS * sizeof(int)));
    CHECK(cudaMalloc(&odd, CELLS * sizeof(int)));
    CHECK(cudaMalloc(&change, sizeof(int)));
    CHECK(cudaMalloc(&history, sizeof back));
    CHECK(cudaMemset(even, 0, CELLS * sizeof(int)));
    CHECK(cudaMemset(odd, 0, CELLS * sizeof(int)));
    CHECK(cudaMemset(change, 0, sizeof(int)));
    void *arguments[] = {&even, &odd, &change, &history};
    CHECK(cudaLaunchCooperativeKernel(relax, dim3(BLOCKS), dim3(THREADS), arguments, 0, nullptr));
    CHECK(cudaMemcpy(back, history, sizeof back, cudaMemcpyDeviceToHost));
    for (int i = 0; i < BLOCKS * THREADS; i++) differ += back[i] != 1 << 19;
    std::printf("%s\n", differ == 0 ? "right" : "wrong");
    CHECK(cudaFree(even));
    CHECK(cudaFree(odd));
    CHECK(cudaFree(change));
    CHECK(cudaFree(history));
    return differ == 0 ? 0 : 1;
}
