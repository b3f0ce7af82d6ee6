/* What the first two questions of lesson 10 are about: lists the devices, then takes all the memory
 * that the first says is free, twice. */
#include <cuda_runtime_api.h>
#include <stdio.h>

int main(void)
{
    size_t available = 0, total = 0;
    void *all = NULL, *more = NULL;
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);

    printf("%d devices: %s\n", error == cudaSuccess ? count : 0, cudaGetErrorName(error));
    for (int i = 0; error == cudaSuccess && i < count; i++) {
        struct cudaDeviceProp properties;
        error = cudaGetDeviceProperties(&properties, i);
        if (error == cudaSuccess)
            printf("%d: %s, %d.%d, %zu MiB, bus %02x\n", i, properties.name, properties.major,
                   properties.minor, properties.totalGlobalMem >> 20, properties.pciBusID);
    }
    if (error == cudaSuccess) error = cudaMemGetInfo(&available, &total);
    if (error == cudaSuccess) error = cudaMalloc(&all, available);
    if (error != cudaSuccess) return 1;
    printf("all that was free, once: %s\n", cudaGetErrorName(error));
    printf("and once more: %s\n", cudaGetErrorName(cudaMalloc(&more, available)));
    return cudaFree(all) == cudaSuccess ? 0 : 1;
}
