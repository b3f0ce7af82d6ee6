/* mistake: for no elements the last error is returned, which an earlier call left
 * fails: HonestTiming.EverySumIsRight
 * finds: nothing, the error is of a call of the caller's
 */
#include "lesson.h"

#define THREADS 256

/* The index counts all threads of the grid. threadIdx.x alone counts those of a block. */
static __global__ void add(const float *a, const float *b, float *c, size_t n)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

extern "C" cudaError_t timing_add(const float *a, const float *b, float *c, size_t n,
                                  cudaStream_t stream)
{
    void *arguments[] = {&a, &b, &c, &n};
    if (n == 0) return cudaGetLastError();
    /* The launch's own error, and none that an earlier call has left behind. */
    return cudaLaunchKernel((const void *)add, dim3((unsigned)((n + THREADS - 1) / THREADS)),
                            dim3(THREADS), arguments, 0, stream);
}

/* What is made once, before anything is timed. */
struct things {
    float *a, *b, *c; /* on the device */
    size_t n, bytes;
    cudaStream_t stream;
    cudaEvent_t start, end;
};

/* On failure part of it; things_release copes with that. */
static cudaError_t things_make(struct things *things, size_t n)
{
    *things = (struct things){};
    if (n > SIZE_MAX / sizeof(float)) return cudaErrorMemoryAllocation;
    things->n = n;
    things->bytes = n * sizeof(float);
    cudaError_t error = cudaMalloc((void **)&things->a, things->bytes);
    if (error == cudaSuccess) error = cudaMalloc((void **)&things->b, things->bytes);
    if (error == cudaSuccess) error = cudaMalloc((void **)&things->c, things->bytes);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&things->stream, cudaStreamNonBlocking);
    if (error == cudaSuccess) error = cudaEventCreate(&things->start);
    if (error == cudaSuccess) error = cudaEventCreate(&things->end);
    return error;
}

/* Keeps the first error: it is the one that explains the others. */
static void keep(cudaError_t *first, cudaError_t error)
{
    if (*first == cudaSuccess) *first = error;
}

/* Waits first: after an error there may be work on the caller's memory. */
static void things_release(struct things *things, cudaError_t *error)
{
    if (things->stream != NULL) keep(error, cudaStreamSynchronize(things->stream));
    if (things->end != NULL) keep(error, cudaEventDestroy(things->end));
    if (things->start != NULL) keep(error, cudaEventDestroy(things->start));
    if (things->stream != NULL) keep(error, cudaStreamDestroy(things->stream));
    keep(error, cudaFree(things->c));
    keep(error, cudaFree(things->b));
    keep(error, cudaFree(things->a));
}

static cudaError_t copy_in(const struct things *things, const float *a, const float *b)
{
    cudaError_t error =
        cudaMemcpyAsync(things->a, a, things->bytes, cudaMemcpyHostToDevice, things->stream);
    if (error == cudaSuccess)
        error =
            cudaMemcpyAsync(things->b, b, things->bytes, cudaMemcpyHostToDevice, things->stream);
    return error;
}

static cudaError_t launch(const struct things *things)
{
    return timing_add(things->a, things->b, things->c, things->n, things->stream);
}

static cudaError_t launch_and_wait(const struct things *things)
{
    cudaError_t error = launch(things);
    if (error == cudaSuccess) error = cudaStreamSynchronize(things->stream);
    return error;
}

static cudaError_t all_of_it(const struct things *things, const float *a, const float *b, float *c)
{
    cudaError_t error = copy_in(things, a, b);
    if (error == cudaSuccess) error = launch(things);
    if (error == cudaSuccess)
        error =
            cudaMemcpyAsync(c, things->c, things->bytes, cudaMemcpyDeviceToHost, things->stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(things->stream);
    return error;
}

/* Whole numbers are subtracted, and only the difference becomes a double. */
static struct timing_time between(uint64_t begin, uint64_t end, unsigned includes)
{
    return (struct timing_time){(double)(end - begin) / 1000.0, includes};
}

/* The start, the launch, the end: nothing between them that takes the host time. */
static cudaError_t between_events(const struct things *things, struct timing_time *time)
{
    float milliseconds = 0.0f;
    cudaError_t error = cudaEventRecord(things->start, things->stream);
    if (error == cudaSuccess) error = launch(things);
    if (error == cudaSuccess) error = cudaEventRecord(things->end, things->stream);
    if (error == cudaSuccess) error = cudaEventSynchronize(things->end);
    if (error == cudaSuccess)
        error = cudaEventElapsedTime(&milliseconds, things->start, things->end);
    *time = (struct timing_time){milliseconds * 1000.0, TIMING_KERNEL};
    return error;
}

extern "C" cudaError_t timing_measure(const float *a, const float *b, float *c, size_t n,
                                      timing_clock now, struct timing_report *report)
{
    struct things things;
    uint64_t begin, end;

    cudaError_t error = things_make(&things, n);
    /* The kernel reads a and b each time, so they are there before the first. */
    if (error == cudaSuccess) error = copy_in(&things, a, b);
    if (error == cudaSuccess) error = cudaStreamSynchronize(things.stream);
    if (error != cudaSuccess) goto done;

    begin = now();
    error = launch_and_wait(&things);
    end = now();
    report->first = between(begin, end, TIMING_REQUEST | TIMING_LOADING | TIMING_KERNEL);
    if (error != cudaSuccess) goto done;

    begin = now();
    error = launch(&things);
    end = now();
    report->launch = between(begin, end, TIMING_REQUEST);
    /* Before the next time begins, this kernel has to be gone. */
    if (error == cudaSuccess) error = cudaStreamSynchronize(things.stream);
    if (error != cudaSuccess) goto done;

    begin = now();
    error = launch_and_wait(&things);
    end = now();
    report->waited = between(begin, end, TIMING_REQUEST | TIMING_KERNEL);
    if (error != cudaSuccess) goto done;

    error = between_events(&things, &report->kernel);
    if (error != cudaSuccess) goto done;

    begin = now();
    error = all_of_it(&things, a, b, c);
    end = now();
    report->transfers =
        between(begin, end, TIMING_REQUEST | TIMING_KERNEL | TIMING_COPY_IN | TIMING_COPY_OUT);

done:
    things_release(&things, &error);
    return error;
}
