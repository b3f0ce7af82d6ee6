// Right: a kernel waits for a flag that another thread of the host sets, while a long kernel is
// loaded and runs beside it.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <thread>

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

// Long enough for the other thread to come in between.
__global__ void works(unsigned *word, unsigned steps)
{
    unsigned x = *word;
    for (unsigned k = 0; k < steps; k++) x = x * 1664525u + 1013904223u;
    *word = x;
}

int main()
{
    int *flag;
    unsigned *word;
    cudaStream_t waiting, working;
    check(cudaMallocHost(&flag, sizeof *flag));
    check(cudaMalloc(&word, sizeof *word));
    check(cudaMemset(word, 0, sizeof *word));
    *flag = 0;
    check(cudaStreamCreate(&waiting));
    check(cudaStreamCreate(&working));
    check(cudaDeviceSynchronize());
    std::thread other([flag] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        *(volatile int *)flag = 1;
    });
    until_told<<<1, 1, 0, waiting>>>(flag);
    works<<<1, 1, 0, working>>>(word, 8000000);
    check(cudaDeviceSynchronize());
    other.join();
    check(cudaStreamDestroy(waiting));
    check(cudaStreamDestroy(working));
    check(cudaFree(word));
    check(cudaFreeHost(flag));
}
