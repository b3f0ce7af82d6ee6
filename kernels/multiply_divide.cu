#include "kernels/multiply_divide.cuh"

/* Alone in its file: this is the image that a program of the driver API loads and parses in each of
 * its processes.
 *
 * extern "C": the name in the PTX, in traces and for cuModuleGetFunction is the one written here.
 */
extern "C" __global__ void multiply_divide(float *array, size_t length)
{
    work(array, length, 1.0f);
}

cudaError_t multiply_divide_launch(float *array, size_t length, cudaStream_t stream)
{
    return launch((const void *)multiply_divide, array, length, stream);
}
