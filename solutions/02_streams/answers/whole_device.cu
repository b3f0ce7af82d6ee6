/* Question 1 of lesson 02: kernels that each fill the device by themselves, with and without
 * copies, in one stream and in four. Times are the device's own. */
#include <cuda_runtime.h>

#include <cstdio>

static const size_t floats = 1 << 20;
static const int lanes = 4;
static float *host[lanes], *device[lanes];
static cudaStream_t streams[lanes], clock_stream;
static cudaEvent_t first, last, done[lanes];

__global__ void fill_the_device(float *array, size_t length)
{
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    float value = i < length ? array[i] : 0;
    for (int round = 0; round < 200; round++) value = value * 1.5f + 1;
    if (i < length) array[i] = value;
}

static float run(bool one_stream, bool wait, bool copies)
{
    const size_t bytes = floats * sizeof(float);
    float milliseconds;

    cudaDeviceSynchronize();
    cudaEventRecord(first, clock_stream);
    for (int i = 0; i < lanes; i++) {
        cudaStream_t stream = streams[one_stream ? 0 : i];
        if (copies) cudaMemcpyAsync(device[i], host[i], bytes, cudaMemcpyHostToDevice, stream);
        fill_the_device<<<floats / 1024, 1024, 0, stream>>>(device[i], floats);
        if (copies) cudaMemcpyAsync(host[i], device[i], bytes, cudaMemcpyDeviceToHost, stream);
        if (wait) cudaDeviceSynchronize();
    }
    for (int i = 0; i < lanes; i++) {
        cudaEventRecord(done[i], streams[i]);
        cudaStreamWaitEvent(clock_stream, done[i], 0);
    }
    cudaEventRecord(last, clock_stream);
    cudaEventSynchronize(last);
    cudaEventElapsedTime(&milliseconds, first, last);
    return milliseconds;
}

int main()
{
    cudaStreamCreateWithFlags(&clock_stream, cudaStreamNonBlocking);
    cudaEventCreate(&first);
    cudaEventCreate(&last);
    for (int i = 0; i < lanes; i++) {
        cudaMallocHost(&host[i], floats * sizeof(float));
        cudaMalloc(&device[i], floats * sizeof(float));
        for (size_t j = 0; j < floats; j++) host[i][j] = 1;
        cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming);
    }
    run(true, true, true); /* a warm-up, which also fills the arrays */
    std::printf("kernels alone: one stream           %.3f ms\n", run(true, false, false));
    std::printf("kernels alone: four streams         %.3f ms\n", run(false, false, false));
    std::printf("with copies: one stream, and waits  %.3f ms\n", run(true, true, true));
    std::printf("with copies: one stream             %.3f ms\n", run(true, false, true));
    std::printf("with copies: four streams           %.3f ms\n", run(false, false, true));
    cudaDeviceReset();
    return 0;
}
