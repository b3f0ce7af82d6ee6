/* mistake: the factor in the device's own struct has no sign
 * fails: Structs.EveryArrayIsMultiplied
 * finds: nothing, every access is in bounds and in order
 */
#include "lesson.h"

#include <cstdlib>
#include <cstring>
#include <vector>

__global__ void twice(structs_matrix m)
{
    const int64_t all = (int64_t)m.rows * m.columns, threads = (int64_t)gridDim.x * blockDim.x;
    for (int64_t e = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; e < all; e += threads) {
        float *at = m.elements + (e / m.columns) * m.stride + e % m.columns;
        *at = *at + *at;
    }
}

extern "C" cudaError_t structs_double(structs_matrix matrix, cudaStream_t stream)
{
    const int64_t blocks = ((int64_t)matrix.rows * matrix.columns + 255) / 256;
    void *args[] = {&matrix};
    return cudaLaunchKernel((const void *)twice, dim3(blocks < 2048 ? (unsigned)blocks : 2048u),
                            dim3(256), args, 0, stream);
}

__host__ __device__ static structs_layout layout_here()
{
    structs_layout l = {sizeof(structs_sample), alignof(structs_sample), {}};
    l.offsets[0] = offsetof(structs_sample, letter);
    l.offsets[1] = offsetof(structs_sample, weight);
    l.offsets[2] = offsetof(structs_sample, code);
    l.offsets[3] = offsetof(structs_sample, colour);
    l.offsets[4] = offsetof(structs_sample, data);
    l.offsets[5] = offsetof(structs_sample, last);
    return l;
}

__global__ void write_layout(structs_layout *to)
{
    *to = layout_here();
}

extern "C" cudaError_t structs_layouts(structs_layout *host, structs_layout *device,
                                       cudaStream_t stream)
{
    structs_layout *d = nullptr;
    cudaError_t e, f;
    *host = layout_here();
    if ((e = cudaMallocAsync(&d, sizeof *d, stream)) != cudaSuccess) return e;
    void *args[] = {&d};
    e = cudaLaunchKernel((const void *)write_layout, dim3(1), dim3(1), args, 0, stream);
    if (e == cudaSuccess) e = cudaMemcpyAsync(device, d, sizeof *d, cudaMemcpyDefault, stream);
    if ((f = cudaFreeAsync(d, stream)) != cudaSuccess && e == cudaSuccess) e = f;
    if ((f = cudaStreamSynchronize(stream)) != cudaSuccess && e == cudaSuccess) e = f;
    return e;
}

struct device_array {
    float *data;
    int32_t length;
    uint16_t factor;
};

/* One launch: a row of blocks for each struct, and those from `first` on twice. */
__global__ void multiply_all(const device_array *arrays, int first)
{
    const device_array me = arrays[blockIdx.x];
    for (int i = blockIdx.y * blockDim.x + threadIdx.x; i < me.length;
         i += gridDim.y * blockDim.x) {
        float x = me.data[i] * me.factor;
        if ((int)blockIdx.x >= first) x *= me.factor;
        me.data[i] = x;
    }
}

/* One allocation: the structs, and behind them all elements. */
extern "C" cudaError_t structs_multiply(structs_array *arrays, int count, int first,
                                        cudaStream_t stream)
{
    if (count == 0) return cudaSuccess;
    size_t total = 0;
    for (int i = 0; i < count; i++) total += arrays[i].length;
    char *arena = nullptr;
    const size_t structs_bytes = count * sizeof(device_array);
    cudaError_t e = cudaMallocAsync((void **)&arena, structs_bytes + total * sizeof(float), stream),
                f;
    if (e != cudaSuccess) return e;

    std::vector<device_array> copies(count);
    float *next = (float *)(arena + structs_bytes);
    for (int i = 0; i < count && e == cudaSuccess; i++) {
        copies[i] = {next, arrays[i].length, (uint16_t)arrays[i].factor};
        if (arrays[i].length > 0)
            e = cudaMemcpyAsync(next, arrays[i].data, arrays[i].length * sizeof(float),
                                cudaMemcpyHostToDevice, stream);
        next += arrays[i].length;
    }
    if (e == cudaSuccess)
        e = cudaMemcpyAsync(arena, copies.data(), structs_bytes, cudaMemcpyHostToDevice, stream);
    if (e == cudaSuccess) {
        void *args[] = {&arena, &first};
        e = cudaLaunchKernel((const void *)multiply_all, dim3(count, 4), dim3(128), args, 0,
                             stream);
    }
    for (int i = 0; i < count && e == cudaSuccess; i++)
        if (arrays[i].length > 0)
            e = cudaMemcpyAsync(arrays[i].data, copies[i].data, arrays[i].length * sizeof(float),
                                cudaMemcpyDeviceToHost, stream);
    if ((f = cudaFreeAsync(arena, stream)) && !e) e = f;
    if ((f = cudaStreamSynchronize(stream)) && !e) e = f;
    return e;
}

extern "C" CUresult structs_call(CUfunction kernel, unsigned blocks, unsigned threads,
                                 const structs_argument *arguments, int count, CUstream stream)
{
    alignas(16) char buffer[16 * 16];
    std::vector<CUdeviceptr> made;
    size_t size = 0;
    CUresult r = CUDA_SUCCESS, s;
    CUdeviceptr where[16] = {};
    for (int i = 0; i < count && r == CUDA_SUCCESS; i++) {
        const structs_argument &a = arguments[i];
        const void *value = a.data;
        size_t bytes = a.size, alignment = a.alignment;
        if (a.way != STRUCTS_VALUE) {
            r = cuMemAllocAsync(&where[i], a.size, stream);
            if (r == CUDA_SUCCESS) made.push_back(where[i]);
            if (r == CUDA_SUCCESS && (a.way & 1)) /* IN and INOUT are odd */
                r = cuMemcpyAsync(where[i], (CUdeviceptr)a.data, a.size, stream);
            value = &where[i];
            bytes = alignment = sizeof(CUdeviceptr);
        }
        while (size % alignment) size++;
        memcpy(buffer + size, value, bytes);
        size += bytes;
    }
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_BUFFER_POINTER, buffer,
                     CU_LAUNCH_PARAM_END};
    if (r == CUDA_SUCCESS)
        r = cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, 0, stream, nullptr, extra);
    for (int i = 0; i < count && r == CUDA_SUCCESS; i++)
        if (arguments[i].way >= STRUCTS_OUT)
            r = cuMemcpyDtoHAsync(arguments[i].data, where[i], arguments[i].size, stream);
    for (CUdeviceptr one : made)
        if ((s = cuMemFreeAsync(one, stream)) && !r) r = s;
    if ((s = cuStreamSynchronize(stream)) && !r) r = s;
    return r;
}
