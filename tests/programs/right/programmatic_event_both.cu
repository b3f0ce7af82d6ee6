// Right: kernels and copies that wait for a kernel's early event and for its end as well, in any
// way: nothing can begin before that end. And kernels that wait for all kernels whose early events
// are before them, also by way of other events and streams.
// Advice: none
#include <cuda_runtime.h>

#include <cstdio>

enum { N = 4096, THREADS = 128 };

#define MUST(call)                                                                                 \
    if ((call) != cudaSuccess) return 2

__global__ void fill(int *values)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    cudaTriggerProgrammaticLaunchCompletion();
    values[i] = i * 3;
}

__global__ void shift(const int *values, int *shifted)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    shifted[i] = values[(i + 1) % N];
}

__global__ void add(const int *values, const int *others, int *sums)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    cudaGridDependencySynchronize();
    sums[i] = values[(i + 1) % N] + others[(i + 2) % N];
}

static cudaStream_t first, second, third;
static cudaEvent_t early, early_too, whole;
static int *values, *others, *result, *host;

static cudaError_t fill_telling(cudaStream_t stream, cudaEvent_t event, int at_start, int *into)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticEvent;
    attribute.val.programmaticEvent.event = event;
    attribute.val.programmaticEvent.triggerAtBlockStart = at_start;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(N / THREADS);
    config.blockDim = dim3(THREADS);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, fill, into);
}

static int wait_for_both(int at_start, int early_first)
{
    MUST(fill_telling(first, early, at_start, values));
    MUST(cudaEventRecord(whole, first));
    MUST(cudaStreamWaitEvent(second, early_first ? early : whole, 0));
    MUST(cudaStreamWaitEvent(second, early_first ? whole : early, 0));
    shift<<<N / THREADS, THREADS, 0, second>>>(values, result);
    MUST(cudaMemcpyAsync(host, values, N * sizeof *host, cudaMemcpyDefault, second));
    MUST(cudaStreamSynchronize(second));
    if (host[N - 1] != (N - 1) * 3) return 1;
    // The end reaches the kernel by a third stream, of which the first event says nothing.
    MUST(fill_telling(first, early, at_start, values));
    MUST(cudaEventRecord(whole, first));
    MUST(cudaStreamWaitEvent(third, whole, 0));
    MUST(cudaMemsetAsync(others, 0, N * sizeof *others, third));
    MUST(cudaEventRecord(whole, third));
    MUST(cudaStreamWaitEvent(second, whole, 0));
    MUST(cudaStreamWaitEvent(second, early, 0));
    shift<<<N / THREADS, THREADS, 0, second>>>(values, result);
    MUST(cudaDeviceSynchronize());
    return 0;
}

static int wait_for_two(int at_start)
{
    MUST(fill_telling(first, early, at_start, values));
    MUST(fill_telling(third, early_too, at_start, others));
    MUST(cudaStreamWaitEvent(second, early, 0));
    MUST(cudaStreamWaitEvent(second, early_too, 0));
    MUST(cudaMemsetAsync(result, 0, sizeof *result, second));
    add<<<N / THREADS, THREADS, 0, second>>>(values, others, result);
    MUST(cudaDeviceSynchronize());
    // The second stream passes on what it waits for.
    MUST(fill_telling(first, early, at_start, values));
    MUST(cudaStreamWaitEvent(second, early, 0));
    MUST(cudaEventRecord(whole, second));
    MUST(cudaStreamWaitEvent(third, whole, 0));
    add<<<N / THREADS, THREADS, 0, third>>>(values, others, result);
    MUST(cudaMemcpyAsync(host, values, sizeof *host, cudaMemcpyDefault, third));
    MUST(cudaDeviceSynchronize());
    return 0;
}

// Ends the capture of both streams, and launches what was captured.
static int join_and_run()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    MUST(cudaEventRecord(whole, second));
    MUST(cudaStreamWaitEvent(first, whole, 0));
    MUST(cudaStreamEndCapture(first, &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, first));
    MUST(cudaStreamSynchronize(first));
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphDestroy(graph));
    return 0;
}

static int wait_in_graphs(int at_start)
{
    MUST(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal));
    MUST(fill_telling(first, early, at_start, values));
    MUST(cudaEventRecord(whole, first));
    MUST(cudaStreamWaitEvent(second, early, 0));
    MUST(cudaStreamWaitEvent(second, whole, 0));
    shift<<<N / THREADS, THREADS, 0, second>>>(values, result);
    if (const int status = join_and_run()) return status;
    // The kernel's end reaches the last node through the memset.
    MUST(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal));
    MUST(fill_telling(first, early, at_start, values));
    MUST(cudaStreamWaitEvent(second, early, 0));
    MUST(cudaMemsetAsync(others, 0, N * sizeof *others, first));
    MUST(cudaEventRecord(whole, first));
    MUST(cudaStreamWaitEvent(second, whole, 0));
    shift<<<N / THREADS, THREADS, 0, second>>>(values, result);
    if (const int status = join_and_run()) return status;
    // A copy has no way to begin before the end.
    MUST(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal));
    MUST(fill_telling(first, early, at_start, values));
    MUST(cudaStreamWaitEvent(second, early, 0));
    MUST(cudaMemcpyAsync(result, values, N * sizeof *values, cudaMemcpyDefault, second));
    return join_and_run();
}

int main()
{
    int status = 0;
    MUST(cudaMalloc(&values, N * sizeof *values));
    MUST(cudaMalloc(&others, N * sizeof *others));
    MUST(cudaMalloc(&result, N * sizeof *result));
    MUST(cudaMallocHost(&host, N * sizeof *host));
    MUST(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking));
    MUST(cudaEventCreateWithFlags(&early, cudaEventDisableTiming));
    MUST(cudaEventCreateWithFlags(&early_too, cudaEventDisableTiming));
    MUST(cudaEventCreateWithFlags(&whole, cudaEventDisableTiming));
    for (int at_start = 0; at_start < 2 && status == 0; at_start++) {
        for (int early_first = 0; early_first < 2 && status == 0; early_first++)
            status = wait_for_both(at_start, early_first);
        if (status == 0) status = wait_for_two(at_start);
        if (status == 0) status = wait_in_graphs(at_start);
    }
    MUST(cudaFree(values));
    MUST(cudaFree(others));
    MUST(cudaFree(result));
    MUST(cudaFreeHost(host));
    for (cudaStream_t stream : {first, second, third}) MUST(cudaStreamDestroy(stream));
    for (cudaEvent_t event : {early, early_too, whole}) MUST(cudaEventDestroy(event));
    return status;
}
