/* variant: the driver API for everything but the launch */
#include "lesson.h"

#include <cuda.h>

static __global__ void add(const float *a, const float *b, float *c, size_t n)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

extern "C" cudaError_t timing_add(const float *a, const float *b, float *c, size_t n,
                                  cudaStream_t stream)
{
    void *arguments[] = {&a, &b, &c, &n};
    if (n == 0) return cudaSuccess;
    return cudaLaunchKernel((const void *)add, dim3((unsigned)((n + 255) / 256)), dim3(256),
                            arguments, 0, stream);
}

namespace
{

/* The numbers of both APIs' errors are the same. */
cudaError_t number(CUresult result)
{
    return (cudaError_t)(int)result;
}

class Timing
{
  public:
    Timing(const float *a, const float *b, float *c, size_t n)
        : a_(a), b_(b), c_(c), n_(n), bytes_(n * sizeof(float))
    {
    }

    cudaError_t run(timing_clock now, struct timing_report *report)
    {
        cudaError_t error = make();
        if (error == cudaSuccess) error = measure(now, report);
        cudaError_t last = release();
        return error != cudaSuccess ? error : last;
    }

  private:
    cudaError_t make()
    {
        if (n_ > SIZE_MAX / sizeof(float)) return cudaErrorMemoryAllocation;
        CUresult result = CUDA_SUCCESS;
        for (int k = 0; k < 3 && result == CUDA_SUCCESS; k++)
            result = cuMemAlloc(&memory_[k], bytes_);
        if (result == CUDA_SUCCESS) result = cuStreamCreate(&stream_, CU_STREAM_DEFAULT);
        for (int k = 0; k < 2 && result == CUDA_SUCCESS; k++)
            result = cuEventCreate(&events_[k], CU_EVENT_BLOCKING_SYNC);
        return number(result);
    }

    cudaError_t in()
    {
        CUresult result = cuMemcpyHtoDAsync(memory_[0], a_, bytes_, stream_);
        if (result == CUDA_SUCCESS) result = cuMemcpyHtoDAsync(memory_[1], b_, bytes_, stream_);
        return number(result);
    }

    cudaError_t out()
    {
        return number(cuMemcpyDtoHAsync(c_, memory_[2], bytes_, stream_));
    }

    cudaError_t launch()
    {
        return timing_add((const float *)memory_[0], (const float *)memory_[1], (float *)memory_[2],
                          n_, stream_);
    }

    cudaError_t wait()
    {
        return number(cuStreamSynchronize(stream_));
    }

    template <typename Steps>
    static cudaError_t take(timing_clock now, struct timing_time *time, unsigned includes,
                            Steps steps)
    {
        const uint64_t begin = now();
        const cudaError_t error = steps();
        const uint64_t end = now();
        *time = {(double)(end - begin) / 1000, includes};
        return error;
    }

    cudaError_t then(cudaError_t error, cudaError_t (Timing::*step)())
    {
        return error != cudaSuccess ? error : (this->*step)();
    }

    cudaError_t measure(timing_clock now, struct timing_report *report)
    {
        cudaError_t error = then(in(), &Timing::wait);
        if (error == cudaSuccess)
            error = take(now, &report->first, TIMING_REQUEST | TIMING_LOADING | TIMING_KERNEL,
                         [this] { return then(launch(), &Timing::wait); });
        if (error == cudaSuccess)
            error = take(now, &report->waited, TIMING_REQUEST | TIMING_KERNEL,
                         [this] { return then(launch(), &Timing::wait); });
        if (error == cudaSuccess)
            error = take(now, &report->launch, TIMING_REQUEST, [this] { return launch(); });
        error = then(error, &Timing::wait);
        if (error == cudaSuccess)
            error = take(now, &report->transfers,
                         TIMING_REQUEST | TIMING_KERNEL | TIMING_COPY_IN | TIMING_COPY_OUT, [this] {
                             cudaError_t error = then(in(), &Timing::launch);
                             return then(then(error, &Timing::out), &Timing::wait);
                         });
        return error != cudaSuccess ? error : by_events(&report->kernel);
    }

    cudaError_t by_events(struct timing_time *time)
    {
        float milliseconds = 0;
        cudaError_t error = number(cuEventRecord(events_[0], stream_));
        error = then(error, &Timing::launch);
        if (error == cudaSuccess) error = number(cuEventRecord(events_[1], stream_));
        if (error == cudaSuccess) error = number(cuEventSynchronize(events_[1]));
        if (error == cudaSuccess)
            error = number(cuEventElapsedTime(&milliseconds, events_[0], events_[1]));
        *time = {1000 * (double)milliseconds, TIMING_KERNEL};
        return error;
    }

    cudaError_t release()
    {
        CUresult first = CUDA_SUCCESS, result;
        if (stream_ != NULL) first = cuStreamSynchronize(stream_);
        for (CUevent event : events_)
            if (event != NULL && (result = cuEventDestroy(event)) != CUDA_SUCCESS && first == 0)
                first = result;
        if (stream_ != NULL && (result = cuStreamDestroy(stream_)) != CUDA_SUCCESS && first == 0)
            first = result;
        for (CUdeviceptr memory : memory_)
            if (memory != 0 && (result = cuMemFree(memory)) != CUDA_SUCCESS && first == 0)
                first = result;
        return number(first);
    }

    const float *a_, *b_;
    float *c_;
    size_t n_, bytes_;
    CUdeviceptr memory_[3] = {0, 0, 0};
    CUstream stream_ = NULL;
    CUevent events_[2] = {NULL, NULL};
};

} // namespace

extern "C" cudaError_t timing_measure(const float *a, const float *b, float *c, size_t n,
                                      timing_clock now, struct timing_report *report)
{
    return Timing(a, b, c, n).run(now, report);
}
