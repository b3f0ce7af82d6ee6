// A program of two translation units of device code, built with -rdc=true.
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

int main(int argc, char **argv)
{
    static const Program programs[] = {{"two_units", two_units}};
    return run_programs(argc, argv, programs);
}
