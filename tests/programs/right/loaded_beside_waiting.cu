// Right: kernels wait for something while others are loaded, or were loaded before, and none of
// them waits for what a load holds up. An H200 ends it.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    printf("%s\n", cudaGetErrorString(error));
    exit(1);
}

__global__ void until_told(volatile int *flag)
{
    while (*flag == 0) {
    }
}

// It gives up.
__global__ void a_while(volatile int *flag, int most, int *told)
{
    int k = 0;
    while (*flag == 0 && k < most) k++;
    *told = k < most;
}

// Each of them is a kernel of its own, and is loaded for itself.
template <int> __global__ void tells(int *flag)
{
    atomicExch(flag, 1);
}

enum { ATTRIBUTES, OCCUPANCY, LAUNCHED, OLDER, FIRST, FIRST_OF_HOST, FIRST_OF_IMPATIENT };

static int *flag, *told, *word;
static cudaStream_t one, two, three;

static void begin()
{
    check(cudaDeviceSynchronize());
    check(cudaMemset(flag, 0, sizeof *flag));
    check(cudaDeviceSynchronize());
    until_told<<<1, 1, 0, one>>>(flag);
}

int main()
{
    cudaFuncAttributes attributes;
    int blocks, is_told, *shared;
    check(cudaMalloc(&flag, sizeof *flag));
    check(cudaMalloc(&told, sizeof *told));
    check(cudaMalloc(&word, sizeof *word));
    check(cudaMemset(flag, 0, sizeof *flag));
    check(cudaMemset(word, 0, sizeof *word));
    check(cudaMallocHost(&shared, sizeof *shared));
    check(cudaStreamCreate(&one));
    check(cudaStreamCreate(&two));
    check(cudaStreamCreate(&three));

    check(cudaFuncGetAttributes(&attributes, tells<ATTRIBUTES>));
    begin();
    tells<ATTRIBUTES><<<1, 1, 0, two>>>(flag);

    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, tells<OCCUPANCY>, 1, 0));
    begin();
    tells<OCCUPANCY><<<1, 1, 0, two>>>(flag);

    tells<LAUNCHED><<<1, 1, 0, two>>>(flag);
    begin();
    tells<LAUNCHED><<<1, 1, 0, two>>>(flag);

    // What ends it is older than the load, or not of the device.
    check(cudaFuncGetAttributes(&attributes, tells<OLDER>));
    begin();
    tells<OLDER><<<1, 1, 0, two>>>(flag);
    tells<FIRST><<<1, 1, 0, three>>>(word);
    check(cudaDeviceSynchronize());

    *shared = 0;
    until_told<<<1, 1, 0, one>>>(shared);
    tells<FIRST_OF_HOST><<<1, 1, 0, two>>>(word);
    *(volatile int *)shared = 1;
    check(cudaDeviceSynchronize());

    check(cudaMemset(flag, 0, sizeof *flag));
    check(cudaDeviceSynchronize());
    a_while<<<1, 1, 0, one>>>(flag, 100000, told);
    tells<FIRST_OF_IMPATIENT><<<1, 1, 0, two>>>(word);
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(&is_told, told, sizeof is_told, cudaMemcpyDeviceToHost));
    printf("%s\n", is_told ? "told" : "PASS");

    check(cudaStreamDestroy(one));
    check(cudaStreamDestroy(two));
    check(cudaStreamDestroy(three));
    check(cudaFree(flag));
    check(cudaFree(told));
    check(cudaFree(word));
    check(cudaFreeHost(shared));
    return is_told;
}
