/* mistake: all handles but one are set to NULL, and what was never made is destroyed
 * fails: HonestTiming.EveryErrorIsReturnedAndNothingLeaks
 * finds: invalid handle at "cudaEventDestroy(all->stop)"
 */
#include "lesson.h"

static __global__ void add(const float *a, const float *b, float *c, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

extern "C" cudaError_t timing_add(const float *a, const float *b, float *c, size_t n,
                                  cudaStream_t stream)
{
    if (n == 0) return cudaSuccess;
    unsigned blocks = (unsigned)((n + 255) / 256);
    void *arguments[] = {&a, &b, &c, &n};
    return cudaLaunchKernel((const void *)add, dim3(blocks), dim3(256), arguments, 0, stream);
}

struct everything {
    float *a, *b, *c;
    cudaStream_t stream;
    cudaEvent_t start, stop;
};

static cudaError_t make(struct everything *all, size_t bytes)
{
    cudaError_t e = cudaMalloc((void **)&all->a, bytes);
    if (!e) e = cudaMalloc((void **)&all->b, bytes);
    if (!e) e = cudaMalloc((void **)&all->c, bytes);
    if (!e) e = cudaStreamCreateWithFlags(&all->stream, cudaStreamNonBlocking);
    if (!e) e = cudaEventCreate(&all->start);
    if (!e) e = cudaEventCreate(&all->stop);
    return e;
}

static void keep(cudaError_t *first, cudaError_t e)
{
    if (!*first) *first = e;
}

static cudaError_t unmake(struct everything *all)
{
    cudaError_t first = cudaSuccess;
    if (all->stop) keep(&first, cudaEventDestroy(all->stop));
    if (all->start) keep(&first, cudaEventDestroy(all->start));
    if (all->stream) keep(&first, cudaStreamDestroy(all->stream));
    if (all->c) keep(&first, cudaFree(all->c));
    if (all->b) keep(&first, cudaFree(all->b));
    if (all->a) keep(&first, cudaFree(all->a));
    return first;
}

static void enter(struct timing_time *time, uint64_t from, uint64_t to, unsigned includes)
{
    time->microseconds = (double)(to - from) / 1000.0;
    time->includes = includes;
}

static cudaError_t measure(const struct everything *all, const float *a, const float *b, float *c,
                           size_t n, timing_clock now, struct timing_report *report)
{
    size_t bytes = n * sizeof(float);
    cudaStream_t s = all->stream;
    uint64_t from, to;
    cudaError_t e;
    if ((e = cudaMemcpyAsync(all->a, a, bytes, cudaMemcpyHostToDevice, s))) return e;
    if ((e = cudaMemcpyAsync(all->b, b, bytes, cudaMemcpyHostToDevice, s))) return e;
    if ((e = cudaStreamSynchronize(s))) return e;

    from = now();
    if ((e = timing_add(all->a, all->b, all->c, n, s))) return e;
    if ((e = cudaStreamSynchronize(s))) return e;
    to = now();
    enter(&report->first, from, to, TIMING_REQUEST | TIMING_LOADING | TIMING_KERNEL);

    from = now();
    if ((e = timing_add(all->a, all->b, all->c, n, s))) return e;
    to = now();
    enter(&report->launch, from, to, TIMING_REQUEST);
    if ((e = cudaStreamSynchronize(s))) return e;

    from = now();
    if ((e = timing_add(all->a, all->b, all->c, n, s))) return e;
    if ((e = cudaStreamSynchronize(s))) return e;
    to = now();
    enter(&report->waited, from, to, TIMING_REQUEST | TIMING_KERNEL);

    from = now();
    if ((e = cudaMemcpyAsync(all->a, a, bytes, cudaMemcpyHostToDevice, s))) return e;
    if ((e = cudaMemcpyAsync(all->b, b, bytes, cudaMemcpyHostToDevice, s))) return e;
    if ((e = timing_add(all->a, all->b, all->c, n, s))) return e;
    if ((e = cudaMemcpyAsync(c, all->c, bytes, cudaMemcpyDeviceToHost, s))) return e;
    if ((e = cudaStreamSynchronize(s))) return e;
    to = now();
    enter(&report->transfers, from, to,
          TIMING_REQUEST | TIMING_KERNEL | TIMING_COPY_IN | TIMING_COPY_OUT);

    float ms;
    if ((e = cudaEventRecord(all->start, s))) return e;
    if ((e = timing_add(all->a, all->b, all->c, n, s))) return e;
    if ((e = cudaEventRecord(all->stop, s))) return e;
    if ((e = cudaEventSynchronize(all->stop))) return e;
    if ((e = cudaEventElapsedTime(&ms, all->start, all->stop))) return e;
    report->kernel.microseconds = ms * 1000.0;
    report->kernel.includes = TIMING_KERNEL;
    return cudaSuccess;
}

extern "C" cudaError_t timing_measure(const float *a, const float *b, float *c, size_t n,
                                      timing_clock now, struct timing_report *report)
{
    struct everything all;
    all.a = all.b = all.c = NULL;
    all.stream = NULL;
    all.start = NULL;
    if (n > (size_t)-1 / sizeof(float)) return cudaErrorMemoryAllocation;
    cudaError_t first = make(&all, n * sizeof(float));
    if (!first) {
        first = measure(&all, a, b, c, n, now, report);
        if (first) cudaStreamSynchronize(all.stream);
    }
    keep(&first, unmake(&all));
    return first;
}
