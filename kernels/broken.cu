#include "kernels/broken.h"

/* The first page is never mapped, on no device. The address comes in as an argument, so that the
 * compiler knows nothing about it. */
#define NOBODYS_ADDRESS 64u

extern "C" __global__ void broken_configuration(float *array)
{
    array[0] = 0.0f;
}

extern "C" __global__ void broken_address(float *array, size_t length, size_t address)
{
    float *nobodys = (float *)address;
    nobodys[threadIdx.x] = array[threadIdx.x % length];
}

cudaError_t broken_configuration_launch(float *array, size_t length, cudaStream_t stream)
{
    (void)length;
    void *arguments[] = {&array};
    return cudaLaunchKernel((const void *)broken_configuration, dim3(1), dim3(4096), arguments, 0,
                            stream);
}

cudaError_t broken_address_launch(float *array, size_t length, cudaStream_t stream)
{
    size_t address = NOBODYS_ADDRESS;
    void *arguments[] = {&array, &length, &address};
    return cudaLaunchKernel((const void *)broken_address, dim3(1), dim3(32), arguments, 0, stream);
}
