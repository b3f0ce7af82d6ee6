/* variant: all arrays in one piece of memory, behind the structs; arguments as well */
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

size_t bytes_of(const structs_array *array)
{
    return (size_t)array->length * sizeof(float);
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
    char *device = NULL;
    size_t bytes = 0;

    if (count == 0) return cudaSuccess;
    for (int i = 0; i < count; i++) bytes += aligned(bytes_of(&arrays[i]), 16);
    structs_array *const copies = (structs_array *)calloc((size_t)count, sizeof *copies);
    if (copies == NULL) return cudaErrorMemoryAllocation;
    cudaError_t error = cudaMalloc(&device, (size_t)count * sizeof *copies + bytes);
    if (error != cudaSuccess) {
        free(copies);
        return error;
    }

    /* The structs begin where cudaMalloc is aligned, and the elements where the structs end. */
    char *next = device + (size_t)count * sizeof *copies;
    for (int i = 0; i < count && error == cudaSuccess; i++) {
        copies[i] = arrays[i];
        copies[i].data = (float *)next;
        if (arrays[i].length > 0)
            error = cudaMemcpyAsync(next, arrays[i].data, bytes_of(&arrays[i]), cudaMemcpyDefault,
                                    stream);
        next += aligned(bytes_of(&arrays[i]), 16);
    }
    const structs_array *const structs = (const structs_array *)device;
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(device, copies, (size_t)count * sizeof *copies, cudaMemcpyDefault,
                                stream);
    if (error == cudaSuccess)
        error = launch(multiply, dim3((unsigned)count), dim3(THREADS), stream, structs);
    if (error == cudaSuccess && first < count)
        error = launch(multiply, dim3((unsigned)(count - first)), dim3(THREADS), stream,
                       structs + first);
    for (int i = 0; i < count && error == cudaSuccess; i++)
        if (arrays[i].length > 0)
            error = cudaMemcpyAsync(arrays[i].data, copies[i].data, bytes_of(&arrays[i]),
                                    cudaMemcpyDefault, stream);
    keep(&error, cudaStreamSynchronize(stream));
    keep(&error, cudaFree(device));
    free(copies);
    return error;
}

/* Everything that goes to the device lies in front of everything that comes back; what does both
 * is where the two meet. */
extern "C" CUresult structs_call(CUfunction kernel, unsigned blocks, unsigned threads,
                                 const struct structs_argument *arguments, int count,
                                 CUstream stream)
{
    static const structs_way order[] = {STRUCTS_IN, STRUCTS_INOUT, STRUCTS_OUT};
    size_t begins[MOST_ARGUMENTS] = {0}, bytes = 0;
    alignas(16) unsigned char buffer[MOST_ARGUMENTS * LARGEST_VALUE];
    CUdeviceptr memory = 0;
    size_t size = 0;

    for (structs_way way : order)
        for (int i = 0; i < count; i++)
            if (arguments[i].way == way) {
                begins[i] = bytes = aligned(bytes, arguments[i].alignment);
                bytes += arguments[i].size;
            }
    CUresult result = bytes == 0 ? CUDA_SUCCESS : cuMemAlloc(&memory, bytes);
    if (result != CUDA_SUCCESS) return result;
    for (int i = 0; i < count; i++) {
        const structs_argument *a = &arguments[i];
        const CUdeviceptr there = memory + begins[i];
        const bool value = a->way == STRUCTS_VALUE;
        size = aligned(size, value ? a->alignment : alignof(CUdeviceptr));
        memcpy(buffer + size, value ? a->data : &there, value ? a->size : sizeof there);
        size += value ? a->size : sizeof there;
        if (result == CUDA_SUCCESS && (a->way == STRUCTS_IN || a->way == STRUCTS_INOUT))
            result = cuMemcpyAsync(there, (CUdeviceptr)a->data, a->size, stream);
    }
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_BUFFER_POINTER, buffer,
                     CU_LAUNCH_PARAM_END};
    if (result == CUDA_SUCCESS)
        result = cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, stream, NULL, extra);
    for (int i = 0; i < count && result == CUDA_SUCCESS; i++)
        if (arguments[i].way == STRUCTS_OUT || arguments[i].way == STRUCTS_INOUT)
            result = cuMemcpyAsync((CUdeviceptr)arguments[i].data, memory + begins[i],
                                   arguments[i].size, stream);
    keep(&result, cuStreamSynchronize(stream));
    if (memory != 0) keep(&result, cuMemFree(memory));
    return result;
}
