// Programs of two translation units of device code, built with -rdc=true.
#include "tests/programs/program.cuh"

extern __device__ int shared_function(int x);
extern __device__ int shared_counter;
extern __constant__ float shared_table[4];
static __device__ int hidden = 2000;

static __device__ __noinline__ int step(int x)
{
    if (x == 78) printf("main %d\n", x);
    return x * 7 + hidden;
}

__global__ void use_both(int *out)
{
    int i = threadIdx.x;
    out[i] = shared_function(i) * 10 + step(i) + static_cast<int>(shared_table[i % 4]);
}

static void two_units()
{
    const int n = 64;
    int out[n], *device, counter = 8;
    CHECK(cudaMalloc(&device, sizeof out));
    CHECK(cudaMemcpyToSymbol(shared_counter, &counter, sizeof counter));
    use_both<<<1, n>>>(device);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT(out[i] == (i * 9 + 1000 + 8) * 10 + i * 7 + 2000 + (1 << i % 4));
    CHECK(cudaFree(device));
}

// What the device runtime (libcudadevrt) has for a cooperative grid: each block needs what all
// others wrote before the wait.
__global__ void sum_of_all(int *each, int *sums)
{
    const unsigned long long grid = cudaCGGetIntrinsicHandle(cudaCGScopeGrid);
    const unsigned block = blockIdx.x + gridDim.x * blockIdx.y, blocks = gridDim.x * gridDim.y;
    for (int round = 0; round < 3; round++) {
        if (threadIdx.x == 0) each[block] = block + round;
        if (cudaCGSynchronize(grid, 0) != cudaSuccess) return;
        if (threadIdx.x < 32) {
            int sum = 0;
            for (unsigned i = threadIdx.x; i < blocks; i += 32) sum += each[i];
            for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
            if (threadIdx.x == 0) sums[block] = sum;
        }
        cudaCGSynchronizeGrid(grid, 0);
    }
}

static void grid_by_handle()
{
    const int blocks = 12;
    int sums[blocks], *each, *device;
    CHECK(cudaMalloc(&each, sizeof sums));
    CHECK(cudaMalloc(&device, sizeof sums));
    void *arguments[] = {&each, &device};
    CHECK(cudaLaunchCooperativeKernel((void *)sum_of_all, dim3(4, 3), dim3(96), arguments));
    CHECK(cudaMemcpy(sums, device, sizeof sums, cudaMemcpyDeviceToHost));
    for (int sum : sums) EXPECT(sum == blocks * (blocks - 1) / 2 + 2 * blocks);
    CHECK(cudaFree(each));
    CHECK(cudaFree(device));
}

int main(int argc, char **argv)
{
    static const Program programs[] = {{"two_units", two_units},
                                       {"grid_by_handle", grid_by_handle}};
    return run_programs(argc, argv, programs);
}
