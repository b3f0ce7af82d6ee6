/* mistake: for no arrays the last error is returned, which an earlier call left
 * fails: Structs.EveryArrayIsMultiplied
 * finds: nothing, the error is of a call of the caller's
 */
#include "lesson.h"

#include <stdlib.h>
#include <string.h>

namespace
{

constexpr unsigned THREADS = 128, SIDE = 16, MOST_ARGUMENTS = 16, LARGEST_VALUE = 16;

/* The first error explains the others. */
template <typename Error> void keep(Error *first, Error error)
{
    if (*first == (Error)0) *first = error;
}

/* The launch's own error comes back, and none that an earlier call left behind, as would with
 * cudaGetLastError after <<<>>>. */
template <typename... Parameters, typename... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream,
                   Arguments... arguments)
{
    void *pointers[] = {&arguments...};
    return cudaLaunchKernel((const void *)kernel, grid, block, pointers, 0, stream);
}

__global__ void double_elements(structs_matrix matrix)
{
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x < matrix.columns && y < matrix.rows) matrix.elements[y * matrix.stride + x] *= 2.0f;
}

/* The compiler for the host and that for the device each fill this in for themselves. */
__host__ __device__ void describe(structs_layout *layout)
{
    layout->size = sizeof(structs_sample);
    layout->alignment = alignof(structs_sample);
    layout->offsets[0] = offsetof(structs_sample, letter);
    layout->offsets[1] = offsetof(structs_sample, weight);
    layout->offsets[2] = offsetof(structs_sample, code);
    layout->offsets[3] = offsetof(structs_sample, colour);
    layout->offsets[4] = offsetof(structs_sample, data);
    layout->offsets[5] = offsetof(structs_sample, last);
}

__global__ void describe_on_device(structs_layout *layout)
{
    describe(layout);
}

/* A block to a struct; `arrays` and what its structs point to is device memory. */
__global__ void multiply(const structs_array *arrays)
{
    const structs_array mine = arrays[blockIdx.x];
    for (int i = (int)threadIdx.x; i < mine.length; i += (int)blockDim.x)
        mine.data[i] *= (float)mine.factor;
}

/* The structs as the device is to have them: each with memory of its own, in which its elements
 * are on their way. What was allocated is in copies[] also after an error; the rest of it is NULL.
 */
cudaError_t elements_to_device(const structs_array *arrays, structs_array *copies, int count,
                               cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < count && error == cudaSuccess; i++) {
        const size_t bytes = (size_t)arrays[i].length * sizeof(float);
        copies[i].factor = arrays[i].factor;
        copies[i].length = arrays[i].length;
        if (bytes == 0) continue;
        error = cudaMalloc(&copies[i].data, bytes);
        if (error != cudaSuccess) copies[i].data = NULL;
        if (error == cudaSuccess)
            error = cudaMemcpyAsync(copies[i].data, arrays[i].data, bytes, cudaMemcpyHostToDevice,
                                    stream);
    }
    return error;
}

cudaError_t elements_to_host(const structs_array *arrays, const structs_array *copies, int count,
                             cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < count && error == cudaSuccess; i++)
        if (arrays[i].length > 0)
            error = cudaMemcpyAsync(arrays[i].data, copies[i].data,
                                    (size_t)arrays[i].length * sizeof(float),
                                    cudaMemcpyDeviceToHost, stream);
    return error;
}

/* Where the next parameter begins: at the next multiple of its alignment. */
size_t aligned(size_t offset, size_t alignment)
{
    return (offset + alignment - 1) / alignment * alignment;
}

} // namespace

extern "C" cudaError_t structs_double(struct structs_matrix matrix, cudaStream_t stream)
{
    const dim3 block(SIDE, SIDE), grid(((unsigned)matrix.columns + SIDE - 1) / SIDE,
                                       ((unsigned)matrix.rows + SIDE - 1) / SIDE);
    return launch(double_elements, grid, block, stream, matrix);
}

extern "C" cudaError_t structs_layouts(struct structs_layout *host, struct structs_layout *device,
                                       cudaStream_t stream)
{
    structs_layout *there = NULL;

    describe(host);
    cudaError_t error = cudaMalloc(&there, sizeof *there);
    if (error != cudaSuccess) return error;
    error = launch(describe_on_device, dim3(1), dim3(1), stream, there);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(device, there, sizeof *device, cudaMemcpyDeviceToHost, stream);
    /* On failure as well: the kernel may still write. */
    keep(&error, cudaStreamSynchronize(stream));
    keep(&error, cudaFree(there));
    return error;
}

extern "C" cudaError_t structs_multiply(struct structs_array *arrays, int count, int first,
                                        cudaStream_t stream)
{
    const size_t bytes = (size_t)count * sizeof(structs_array);
    structs_array *device = NULL;

    if (count == 0) return cudaGetLastError();
    structs_array *const copies = (structs_array *)calloc((size_t)count, sizeof *copies);
    if (copies == NULL) return cudaErrorMemoryAllocation;

    cudaError_t error = cudaMalloc(&device, bytes);
    if (error != cudaSuccess) {
        free(copies);
        return error;
    }
    error = elements_to_device(arrays, copies, count, stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(device, copies, bytes, cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess)
        error = launch(multiply, dim3((unsigned)count), dim3(THREADS), stream, device);
    if (error == cudaSuccess && first < count)
        error = launch(multiply, dim3((unsigned)(count - first)), dim3(THREADS), stream,
                       device + first);
    if (error == cudaSuccess) error = elements_to_host(arrays, copies, count, stream);
    /* One way out: nothing is released that is still in use, and everything that was allocated. */
    keep(&error, cudaStreamSynchronize(stream));
    for (int i = 0; i < count; i++) keep(&error, cudaFree(copies[i].data));
    keep(&error, cudaFree(device));
    free(copies);
    return error;
}

extern "C" CUresult structs_call(CUfunction kernel, unsigned blocks, unsigned threads,
                                 const struct structs_argument *arguments, int count,
                                 CUstream stream)
{
    alignas(16) unsigned char buffer[MOST_ARGUMENTS * LARGEST_VALUE];
    CUdeviceptr memory[MOST_ARGUMENTS] = {0};
    CUresult result = CUDA_SUCCESS;
    size_t size = 0;

    for (int i = 0; i < count && result == CUDA_SUCCESS; i++) {
        const structs_argument *a = &arguments[i];
        const bool value = a->way == STRUCTS_VALUE;
        if (!value) {
            result = cuMemAlloc(&memory[i], a->size);
            if (result != CUDA_SUCCESS) memory[i] = 0;
        }
        if (result == CUDA_SUCCESS && (a->way == STRUCTS_IN || a->way == STRUCTS_INOUT))
            result = cuMemcpyHtoDAsync(memory[i], a->data, a->size, stream);
        size = aligned(size, value ? a->alignment : alignof(CUdeviceptr));
        memcpy(buffer + size, value ? a->data : &memory[i], value ? a->size : sizeof memory[i]);
        size += value ? a->size : sizeof memory[i];
    }
    /* Up to the end of the last parameter: a buffer that is longer than that is refused. */
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    if (result == CUDA_SUCCESS)
        result = cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, stream, NULL, extra);
    for (int i = 0; i < count && result == CUDA_SUCCESS; i++)
        if (arguments[i].way == STRUCTS_OUT || arguments[i].way == STRUCTS_INOUT)
            result = cuMemcpyDtoHAsync(arguments[i].data, memory[i], arguments[i].size, stream);
    keep(&result, cuStreamSynchronize(stream));
    for (int i = 0; i < count; i++)
        if (memory[i] != 0) keep(&result, cuMemFree(memory[i]));
    return result;
}
