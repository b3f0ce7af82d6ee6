// Wrong: a kernel waits for the host's flag; before the host sets it, it uses a kernel of a library
// for the first time. On an H200 that call waits for the kernel, and the flag is never set.
// Found: kernel loaded too late
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <cuda_runtime.h>

static void check(int error)
{
    if (error == 0) return;
    printf("error %d\n", error);
    exit(1);
}

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry does_nothing()\n{\n\tret;\n}\n";

__global__ void until_told(volatile int *flag)
{
    while (*flag == 0) {
    }
}

int main()
{
    int *flag;
    cudaStream_t waiting, other;
    CUlibrary library;
    CUkernel kernel;
    check(cudaMallocHost(&flag, sizeof *flag));
    *flag = 0;
    check(cudaStreamCreate(&waiting));
    check(cudaStreamCreate(&other));
    check(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    check(cuLibraryGetKernel(&kernel, library, "does_nothing"));
    until_told<<<1, 1, 0, waiting>>>(flag);
    check(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, other, NULL, NULL));
    *(volatile int *)flag = 1;
    check(cudaDeviceSynchronize());
    check(cuLibraryUnload(library));
    check(cudaStreamDestroy(waiting));
    check(cudaStreamDestroy(other));
    check(cudaFreeHost(flag));
}
