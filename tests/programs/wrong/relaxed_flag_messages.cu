// Wrong: message passing between blocks with a relaxed store of the flag (it should be a release
// store).
// Found: race between blocks
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(e)                                                                                   \
    do {                                                                                           \
        cudaError_t err = (e);                                                                     \
        if (err != cudaSuccess) {                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err));           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

constexpr int WIDTH = 64;

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

// wavefront: block b needs the row that block b - 1 has produced
__global__ void wavefront(int *rows, int *ready, int steps)
{
    const int b = blockIdx.x, t = threadIdx.x;
    for (int s = 0; s < steps; ++s) {
        int *mine = rows + (s * gridDim.x + b) * WIDTH;
        if (b == 0) {
            mine[t] = s * 100 + t;
        } else {
            if (t == 0) {
                Flag f(ready[s * gridDim.x + b - 1]);
                while (f.load(cuda::memory_order_acquire) == 0) {
                }
            }
            __syncthreads();
            const int *above = mine - WIDTH;
            mine[t] = (above[t] * 3 + above[(t + 1) % WIDTH] + b) & 0xffff;
        }
        __syncthreads();
        if (t == 0) {
            Flag f(ready[s * gridDim.x + b]);
            f.store(1, cuda::memory_order_relaxed);
        }
    }
}

int main()
{
    int steps = 10;
    const int blocks = 6, n = steps * blocks * WIDTH;
    int dev = 0, coop = 0;
    CHECK(cudaGetDevice(&dev));
    CHECK(cudaDeviceGetAttribute(&coop, cudaDevAttrCooperativeLaunch, dev));
    if (!coop) {
        printf("blocks may not be resident together here\nPASS\n");
        return 0;
    }
    int *rows, *ready;
    CHECK(cudaMalloc(&rows, n * sizeof(int)));
    CHECK(cudaMalloc(&ready, steps * blocks * sizeof(int)));
    CHECK(cudaMemset(ready, 0, steps * blocks * sizeof(int)));
    void *args[] = {&rows, &ready, &steps};
    CHECK(cudaLaunchCooperativeKernel((void *)wavefront, dim3(blocks), dim3(WIDTH), args, 0, 0));

    std::vector<int> got(n), ref(n);
    CHECK(cudaMemcpy(got.data(), rows, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int s = 0; s < steps; ++s)
        for (int b = 0; b < blocks; ++b)
            for (int t = 0; t < WIDTH; ++t) {
                int *mine = &ref[(s * blocks + b) * WIDTH];
                mine[t] = b == 0
                              ? s * 100 + t
                              : (mine[t - WIDTH] * 3 + mine[(t + 1) % WIDTH - WIDTH] + b) & 0xffff;
            }
    int bad = 0;
    for (int i = 0; i < n; ++i)
        if (got[i] != ref[i] && bad++ < 5)
            printf("step %d block %d [%d]: %d, expected %d\n", i / (blocks * WIDTH),
                   i / WIDTH % blocks, i % WIDTH, got[i], ref[i]);
    CHECK(cudaFree(rows));
    CHECK(cudaFree(ready));
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
