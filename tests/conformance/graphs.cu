// What the runtime answers about graphs and stream capture where its documentation leaves room:
// which calls a capture forbids and whether they spoil it, captured events, joins, nodes with odd
// parameters, updates.
//
// graphs.golden is what an NVIDIA H200 (driver 580, CUDA 13.0) printed; see questions.cu.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void show(const char *call, cudaError_t answer)
{
    std::printf("%s\n    %s\n", call, cudaGetErrorName(answer));
    cudaGetLastError();
}

#define ASK(call) show(#call, call)

static void heading(const char *text)
{
    std::printf("\n== %s\n", text);
}

__global__ void plain(int *x)
{
    x[threadIdx.x] += 1;
}

__global__ void other(int *x)
{
    x[threadIdx.x] += 2;
}

__global__ void three(int *x, int y, double z)
{
    x[threadIdx.x] += y + (int)z;
}

__global__ void astray(int *x)
{
    x[1ll << 40] = 1;
}

__device__ int variable[64];

static cudaStream_t s, t, u; // s and u are blocking streams, t is not
static cudaEvent_t before, e, f;
static int *device, *second, *pinned;
static int host[64];
static cudaGraph_t graph;
static void *p;

static void nothing(void *) {}

static void nothing_callback(cudaStream_t, cudaError_t, void *) {}

static const char *status_name(cudaStreamCaptureStatus status)
{
    return status == cudaStreamCaptureStatusNone     ? "not capturing"
           : status == cudaStreamCaptureStatusActive ? "capturing"
                                                     : "invalidated";
}

static size_t count_nodes(cudaGraph_t of)
{
    size_t count = 0;
    if (of != nullptr) cudaGraphGetNodes(of, nullptr, &count);
    return count;
}

static void show_status(const char *name, cudaStream_t stream)
{
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaError_t answer = cudaStreamIsCapturing(stream, &status);
    std::printf("    %s is %s (%s)\n", name, status_name(status), cudaGetErrorName(answer));
}

static void show_types(cudaGraph_t of)
{
    cudaGraphNode_t nodes[16];
    size_t count = 16, edges = 0;
    if (of == nullptr || cudaGraphGetNodes(of, nodes, &count) != cudaSuccess) return;
    cudaGraphGetEdges(of, nullptr, nullptr, nullptr, &edges);
    std::printf("    types");
    for (size_t i = 0; i < count; i++) {
        cudaGraphNodeType type;
        cudaGraphNodeGetType(nodes[i], &type);
        std::printf(" %d", (int)type);
    }
    std::printf(", %zu edges\n", edges);
}

static void begin(cudaStream_t stream, cudaStreamCaptureMode mode)
{
    cudaError_t answer = cudaStreamBeginCapture(stream, mode);
    if (answer != cudaSuccess) show("cudaStreamBeginCapture", answer);
}

static void end(cudaStream_t stream)
{
    graph = nullptr;
    cudaError_t answer = cudaStreamEndCapture(stream, &graph);
    std::printf("    ended: %s, %s, %zu nodes\n", cudaGetErrorName(answer),
                graph != nullptr ? "a graph" : "no graph", count_nodes(graph));
    show_types(graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    graph = nullptr;
    cudaGetLastError();
}

// One call inside a capture of a stream: what it answers, and what becomes of the capture.
#define DURING(stream, mode, call)                                                                 \
    do {                                                                                           \
        begin(stream, mode);                                                                       \
        ASK(call);                                                                                 \
        show_status(#stream, stream);                                                              \
        end(stream);                                                                               \
    } while (0)

#define GLOBAL cudaStreamCaptureModeGlobal
#define LOCAL cudaStreamCaptureModeThreadLocal
#define RELAXED cudaStreamCaptureModeRelaxed

static void calls_that_are_unsafe()
{
    cudaStream_t made;
    cudaEvent_t event;
    cudaMemPool_t pool;
    size_t a, b;
    heading("unsafe calls, a non-blocking stream, global");
    DURING(t, GLOBAL, cudaMalloc(&p, 16));
    DURING(t, GLOBAL, cudaFree(nullptr));
    DURING(t, GLOBAL, cudaFree(second));
    if (cudaMalloc(&second, 4096) != cudaSuccess) second = nullptr;
    cudaGetLastError();
    DURING(t, GLOBAL, cudaMallocHost(&p, 16));
    DURING(t, GLOBAL, cudaHostRegister(host, sizeof host, 0));
    cudaHostUnregister(host);
    cudaGetLastError();
    DURING(t, GLOBAL, cudaMallocManaged(&p, 16));
    DURING(t, GLOBAL, cudaMemGetInfo(&a, &b));
    DURING(t, GLOBAL, cudaDeviceSynchronize());
    DURING(t, GLOBAL, cudaDeviceGetDefaultMemPool(&pool, 0));
    DURING(t, GLOBAL, cudaStreamCreate(&made));
    DURING(t, GLOBAL, cudaStreamDestroy(made));
    DURING(t, GLOBAL, cudaEventCreate(&event));
    DURING(t, GLOBAL, cudaEventDestroy(event));
    DURING(t, GLOBAL, cudaEventQuery(before));
    DURING(t, GLOBAL, cudaEventSynchronize(before));
    DURING(t, GLOBAL, cudaEventRecord(before, u));
    DURING(t, GLOBAL, cudaStreamQuery(u));
    DURING(t, GLOBAL, cudaStreamSynchronize(u));
    DURING(t, GLOBAL, cudaStreamQuery(nullptr));
    DURING(t, GLOBAL, cudaStreamSynchronize(nullptr));
    DURING(t, GLOBAL, cudaStreamQuery(t));
    DURING(t, GLOBAL, cudaStreamSynchronize(t));
    DURING(t, GLOBAL, cudaMemcpy(device, host, 16, cudaMemcpyHostToDevice));
    DURING(t, GLOBAL, cudaMemcpy(device, second, 16, cudaMemcpyDeviceToDevice));
    DURING(t, GLOBAL, cudaMemcpyToSymbol(variable, host, 16));
    DURING(t, GLOBAL, cudaMemset(device, 0, 16));
    DURING(t, GLOBAL, cudaMemsetAsync(device, 0, 16, nullptr));
    DURING(t, GLOBAL, cudaMemsetAsync(device, 0, 16, u));
    DURING(t, GLOBAL, cudaSetDevice(0));
    DURING(t, GLOBAL, cudaGetSymbolAddress(&p, variable));
    DURING(t, GLOBAL, cudaDeviceSetLimit(cudaLimitStackSize, 2048));
    heading("unsafe calls, thread-local and relaxed");
    DURING(t, LOCAL, cudaMalloc(&p, 16));
    DURING(t, LOCAL, cudaEventQuery(before));
    DURING(t, RELAXED, cudaMalloc(&p, 16));
    DURING(t, RELAXED, cudaEventQuery(before));
    DURING(t, RELAXED, cudaStreamSynchronize(u));
    DURING(t, RELAXED, cudaStreamSynchronize(nullptr));
    DURING(t, RELAXED, cudaDeviceSynchronize());
    DURING(t, RELAXED, cudaMemcpy(device, host, 16, cudaMemcpyHostToDevice));
    heading("a thread that is relaxed itself");
    cudaStreamCaptureMode mode = RELAXED;
    ASK(cudaThreadExchangeStreamCaptureMode(&mode));
    DURING(t, GLOBAL, cudaMalloc(&p, 16));
    DURING(t, LOCAL, cudaMalloc(&p, 16));
    ASK(cudaThreadExchangeStreamCaptureMode(&mode));
    std::printf("    was %d\n", (int)mode);
}

static void the_legacy_stream()
{
    heading("the legacy stream while a blocking stream is captured");
    DURING(s, RELAXED, cudaMemsetAsync(device, 0, 16, nullptr));
    DURING(s, RELAXED, cudaMemset(device, 0, 16));
    DURING(s, RELAXED, cudaMemcpy(device, host, 16, cudaMemcpyHostToDevice));
    DURING(s, GLOBAL, cudaMemcpy(device, host, 16, cudaMemcpyHostToDevice));
    DURING(s, RELAXED, cudaStreamQuery(nullptr));
    DURING(s, RELAXED, cudaStreamSynchronize(nullptr));
    DURING(s, RELAXED, cudaEventRecord(before, nullptr));
    DURING(s, RELAXED, cudaStreamWaitEvent(nullptr, before, 0));
    DURING(s, RELAXED, cudaLaunchHostFunc(nullptr, nothing, nullptr));
    DURING(s, RELAXED, cudaDeviceSynchronize());
    begin(s, RELAXED);
    plain<<<1, 1>>>(device);
    ASK(cudaGetLastError());
    end(s);
    cudaStreamCaptureStatus status;
    DURING(s, RELAXED, cudaStreamIsCapturing(nullptr, &status));
    DURING(s, RELAXED, cudaStreamGetCaptureInfo(nullptr, &status));
    heading("capturing the legacy stream, and the per-thread one");
    ASK(cudaStreamBeginCapture(nullptr, RELAXED));
    ASK(cudaStreamBeginCapture(cudaStreamLegacy, RELAXED));
    DURING(cudaStreamPerThread, RELAXED, cudaMemsetAsync(device, 0, 16, cudaStreamPerThread));
}

static void beginning_and_ending()
{
    cudaGraph_t got = (cudaGraph_t)1;
    cudaGraphExec_t exec;
    heading("beginning and ending");
    ASK(cudaStreamEndCapture(s, &got));
    std::printf("    %s\n", got == nullptr ? "null" : "left alone");
    ASK(cudaStreamBeginCapture(s, (cudaStreamCaptureMode)7));
    DURING(s, GLOBAL, cudaStreamBeginCapture(s, GLOBAL));
    begin(s, GLOBAL);
    ASK(cudaStreamEndCapture(s, nullptr));
    show_status("s", s);
    end(s);
    begin(s, GLOBAL);
    begin(u, GLOBAL);
    ASK(cudaStreamEndCapture(u, &got));
    ASK(cudaStreamEndCapture(s, &got));
    begin(s, GLOBAL);
    cudaStreamCaptureStatus status;
    cudaGraph_t inside = nullptr;
    const cudaGraphNode_t *tips;
    size_t tip_count = 99;
    unsigned long long id;
    cudaMemsetAsync(device, 0, 16, s);
    ASK(cudaStreamGetCaptureInfo(s, &status, &id, &inside, &tips, nullptr, &tip_count));
    std::printf("    %s, %zu tips\n", status_name(status), tip_count);
    ASK(cudaStreamGetCaptureInfo(s, nullptr));
    ASK(cudaGraphInstantiate(&exec, inside, 0));
    ASK(cudaGraphDestroy(inside));
    ASK(cudaGraphDestroyNode(tips[0]));
    cudaGraphNode_t added;
    ASK(cudaGraphAddEmptyNode(&added, inside, nullptr, 0));
    ASK(cudaStreamUpdateCaptureDependencies(s, &added, nullptr, 1,
                                            cudaStreamSetCaptureDependencies));
    cudaMemsetAsync(device, 0, 16, s);
    end(s);
    ASK(cudaStreamUpdateCaptureDependencies(s, nullptr, nullptr, 0, 0));
    heading("destroying a stream that is captured");
    cudaStream_t made;
    cudaStreamCreate(&made);
    begin(made, RELAXED);
    ASK(cudaStreamDestroy(made));
    cudaStreamCreate(&made);
    begin(s, RELAXED);
    cudaEventRecord(e, s);
    ASK(cudaStreamWaitEvent(made, e, 0));
    cudaMemsetAsync(device, 0, 16, made);
    ASK(cudaStreamDestroy(made));
    show_status("s", s);
    end(s);
    heading("an event destroyed while it is captured");
    begin(s, RELAXED);
    cudaEventCreate(&f);
    cudaEventRecord(f, s);
    ASK(cudaEventDestroy(f));
    end(s);
}

static void forks_and_joins()
{
    heading("a fork that is not joined");
    begin(s, GLOBAL);
    cudaEventRecord(e, s);
    ASK(cudaStreamWaitEvent(u, e, 0));
    show_status("u", u);
    ASK(cudaMemsetAsync(device, 0, 16, u));
    show_status("s", s);
    end(s);
    show_status("u", u);
    heading("a fork that gets no work");
    begin(s, GLOBAL);
    cudaMemsetAsync(device, 0, 16, s);
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(u, e, 0);
    end(s);
    show_status("u", u);
    heading("a fork before any work, without any work");
    begin(s, GLOBAL);
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(u, e, 0);
    end(s);
    heading("ended in the forked stream");
    begin(s, GLOBAL);
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(u, e, 0);
    cudaMemsetAsync(device, 0, 16, u);
    end(u);
    show_status("s", s);
    show_status("u", u);
    end(s);
    heading("joined, forked twice");
    begin(s, GLOBAL);
    cudaMemsetAsync(device, 0, 16, s);
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(u, e, 0);
    cudaStreamWaitEvent(t, e, 0);
    cudaMemsetAsync(device, 0, 16, u);
    cudaMemsetAsync(device, 0, 16, t);
    cudaEventRecord(e, u);
    cudaStreamWaitEvent(s, e, 0);
    cudaEventRecord(e, t);
    cudaStreamWaitEvent(s, e, 0);
    cudaMemsetAsync(device, 0, 16, s);
    end(s);
    heading("the forked stream's own events and waits");
    begin(s, GLOBAL);
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(u, e, 0);
    ASK(cudaStreamBeginCapture(u, GLOBAL));
    ASK(cudaStreamSynchronize(u));
    end(s);
    heading("waiting for an event of another capture");
    begin(s, GLOBAL);
    begin(u, GLOBAL);
    cudaEventRecord(e, s);
    ASK(cudaStreamWaitEvent(u, e, 0));
    show_status("s", s);
    show_status("u", u);
    end(s);
    end(u);
    heading("waiting for an event that was recorded before");
    DURING(s, GLOBAL, cudaStreamWaitEvent(s, before, 0));
    DURING(s, GLOBAL, cudaStreamWaitEvent(s, before, cudaEventWaitExternal));
    heading("waiting for an event that was never recorded");
    cudaEventCreate(&f);
    DURING(s, GLOBAL, cudaStreamWaitEvent(s, f, 0));
    DURING(s, GLOBAL, cudaStreamWaitEvent(s, f, cudaEventWaitExternal));
    heading("external records");
    DURING(s, GLOBAL, cudaEventRecordWithFlags(f, s, cudaEventRecordExternal));
    ASK(cudaEventQuery(f));
    ASK(cudaEventRecordWithFlags(f, s, cudaEventRecordExternal));
    ASK(cudaStreamWaitEvent(s, f, cudaEventWaitExternal));
    cudaStreamSynchronize(s);
    heading("the legacy stream waits for a captured event");
    begin(t, GLOBAL);
    cudaEventRecord(e, t);
    ASK(cudaStreamWaitEvent(nullptr, e, 0));
    show_status("t", t);
    end(t);
}

static void captured_events()
{
    float ms;
    heading("an event recorded in a capture that goes on");
    begin(s, RELAXED);
    cudaEventRecord(e, s);
    ASK(cudaEventQuery(e));
    show_status("s", s);
    end(s);
    begin(s, RELAXED);
    cudaEventRecord(e, s);
    ASK(cudaEventSynchronize(e));
    show_status("s", s);
    end(s);
    begin(s, RELAXED);
    cudaEventRecord(e, s);
    ASK(cudaEventElapsedTime(&ms, before, e));
    show_status("s", s);
    end(s);
    heading("the same when the capture has ended");
    ASK(cudaEventQuery(e));
    ASK(cudaEventSynchronize(e));
    ASK(cudaEventElapsedTime(&ms, before, e));
    ASK(cudaStreamWaitEvent(s, e, 0));
    ASK(cudaStreamWaitEvent(s, e, cudaEventWaitExternal));
    DURING(s, RELAXED, cudaStreamWaitEvent(s, e, 0));
    ASK(cudaEventRecord(e, s));
    ASK(cudaEventSynchronize(e));
    heading("re-recorded outside while the capture goes on");
    begin(s, RELAXED);
    cudaEventRecord(e, s);
    ASK(cudaEventRecord(e, t));
    ASK(cudaEventQuery(e) == cudaErrorNotReady ? cudaSuccess : cudaEventQuery(e));
    ASK(cudaStreamWaitEvent(s, e, 0));
    end(s);
}

static void what_can_be_captured()
{
    heading("what can be captured");
    DURING(s, RELAXED, cudaStreamAddCallback(s, nothing_callback, nullptr, 0));
    DURING(s, RELAXED, cudaLaunchHostFunc(s, nothing, nullptr));
    DURING(s, RELAXED, cudaMemcpyAsync(device, host, 0, cudaMemcpyHostToDevice, s));
    DURING(s, RELAXED, cudaMemcpyAsync(device, host, 16, cudaMemcpyHostToDevice, s));
    DURING(s, RELAXED, cudaMemcpyAsync(host, host + 8, 16, cudaMemcpyHostToHost, s));
    DURING(s, RELAXED, cudaMemsetAsync(device, 0, 0, s));
    DURING(s, RELAXED, cudaMemcpyToSymbolAsync(variable, host, 16, 0, cudaMemcpyHostToDevice, s));
    DURING(s, RELAXED, cudaMallocAsync(&p, 16, s));
    DURING(s, RELAXED, cudaFreeAsync(second, s));
    if (cudaMalloc(&second, 4096) != cudaSuccess) second = nullptr;
    cudaGetLastError();
    int *managed;
    cudaMallocManaged(&managed, 4096);
    DURING(s, RELAXED, cudaStreamAttachMemAsync(s, managed, 0, cudaMemAttachGlobal));
    cudaMemLocation there = {cudaMemLocationTypeDevice, 0};
    DURING(s, RELAXED, cudaMemPrefetchAsync(managed, 4096, there, 0, s));
    cudaFree(managed);
    begin(s, RELAXED);
    plain<<<0, 1, 0, s>>>(device);
    ASK(cudaGetLastError());
    show_status("s", s);
    end(s);
    cudaGraph_t made;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    cudaGraphCreate(&made, 0);
    cudaGraphAddEmptyNode(&node, made, nullptr, 0);
    cudaGraphInstantiate(&exec, made, 0);
    DURING(s, RELAXED, cudaGraphLaunch(exec, s));
    DURING(s, GLOBAL, cudaGraphInstantiate(&exec, made, 0));
    DURING(s, GLOBAL, cudaGraphUpload(exec, s));
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(made);
    heading("work in a stream whose capture is invalid");
    begin(s, RELAXED);
    cudaStreamSynchronize(s);
    cudaGetLastError();
    ASK(cudaMemsetAsync(device, 0, 16, s));
    ASK(cudaEventRecord(e, s));
    ASK(cudaStreamSynchronize(s));
    ASK(cudaStreamWaitEvent(s, before, 0));
    end(s);
}

// Calls that fail, or that are refused for more than one reason.
static void captures_once_more()
{
    cudaGraph_t made;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    void *arguments[] = {&device};
    cudaKernelNodeParams kernel = {(void *)plain, dim3(1), dim3(1), 0, arguments, nullptr};
    cudaGraphCreate(&made, 0);
    cudaGraphAddKernelNode(&node, made, nullptr, 0, &kernel);
    cudaGraphInstantiate(&exec, made, 0);
    heading("executable graphs during a capture");
    DURING(s, RELAXED, cudaGraphLaunch(exec, s));
    DURING(t, GLOBAL, cudaGraphLaunch(exec, u));
    DURING(s, RELAXED, cudaGraphUpload(exec, s));
    DURING(t, GLOBAL, cudaGraphUpload(exec, u));
    DURING(t, RELAXED, cudaGraphUpload(exec, u));
    DURING(s, GLOBAL, cudaGraphAddKernelNode(&node, made, nullptr, 0, &kernel));
    DURING(s, GLOBAL, cudaGraphExecKernelNodeSetParams(exec, node, &kernel));
    cudaGraphDestroyNode(node);
    cudaGraphExecUpdateResultInfo info;
    DURING(s, GLOBAL, cudaGraphExecUpdate(exec, made, &info));
    DURING(s, GLOBAL, cudaGraphExecDestroy(exec));
    heading("work that fails during a capture");
    DURING(s, RELAXED, cudaMemcpyAsync(nullptr, host, 16, cudaMemcpyHostToDevice, s));
    DURING(s, RELAXED, cudaMemcpyAsync(device, host, 16, cudaMemcpyDeviceToHost, s));
    DURING(s, RELAXED, cudaMemcpyAsync(device, host, 16, (cudaMemcpyKind)9, s));
    DURING(s, RELAXED, cudaMemcpyAsync(device, host, 8192, cudaMemcpyHostToDevice, s));
    DURING(s, RELAXED, cudaMemsetAsync(nullptr, 0, 16, s));
    DURING(s, RELAXED, cudaMemsetAsync(device, 0, 8192, s));
    DURING(s, RELAXED, cudaMemset2DAsync(device, 4, 0, 16, 2, s));
    DURING(s, RELAXED, cudaLaunchHostFunc(s, nullptr, nullptr));
    DURING(s, RELAXED, cudaMallocAsync(nullptr, 16, s));
    DURING(s, RELAXED, cudaFreeAsync(nullptr, s));
    DURING(s, RELAXED, cudaEventRecord(nullptr, s));
    DURING(s, RELAXED, cudaStreamWaitEvent(s, nullptr, 0));
    DURING(s, RELAXED, cudaLaunchKernel((void *)plain, dim3(1), dim3(2048), arguments, 0, s));
    DURING(s, RELAXED, cudaLaunchKernel((void *)plain, dim3(1), dim3(1), arguments, 1 << 20, s));
    DURING(s, RELAXED, cudaLaunchKernel((void *)host, dim3(1), dim3(1), arguments, 0, s));
    heading("the legacy stream's calls, all modes");
    DURING(t, LOCAL, cudaMemcpy(device, host, 16, cudaMemcpyHostToDevice));
    DURING(t, GLOBAL, cudaMemcpy(host, device, 16, cudaMemcpyDeviceToHost));
    DURING(t, GLOBAL, cudaMemcpy2D(device, 16, host, 16, 8, 2, cudaMemcpyHostToDevice));
    DURING(t, GLOBAL, cudaMemset(pinned, 0, 16));
    DURING(t, RELAXED, cudaFree(nullptr));
    DURING(t, GLOBAL, cudaFreeHost(nullptr));
    DURING(t, GLOBAL, cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20));
    size_t limit;
    DURING(t, GLOBAL, cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    heading("a captured event once its capture has ended, the graph being there");
    begin(s, RELAXED);
    cudaEventRecord(e, s);
    cudaStreamEndCapture(s, &graph);
    ASK(cudaEventQuery(e));
    ASK(cudaStreamWaitEvent(u, e, 0));
    cudaGraphDestroy(graph);
    ASK(cudaEventQuery(e));
    begin(s, RELAXED);
    cudaEventRecord(e, s);
    cudaStreamSynchronize(s);
    cudaGetLastError();
    end(s);
    ASK(cudaEventQuery(e));
    heading("a forked stream that is destroyed, without work");
    cudaStream_t fork;
    cudaStreamCreate(&fork);
    begin(s, RELAXED);
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(fork, e, 0);
    ASK(cudaStreamDestroy(fork));
    show_status("s", s);
    end(s);
    heading("kinds of copies that take each other's place");
    cudaGraphCreate(&made, 0);
    cudaGraphAddMemcpyNode1D(&node, made, nullptr, 0, host, device, 64, cudaMemcpyDeviceToHost);
    cudaGraphInstantiate(&exec, made, 0);
    ASK(cudaGraphExecMemcpyNodeSetParams1D(exec, node, pinned, device, 64, cudaMemcpyDeviceToHost));
    ASK(cudaGraphExecMemcpyNodeSetParams1D(exec, node, host, device, 64, cudaMemcpyDefault));
    ASK(cudaGraphExecMemcpyNodeSetParams1D(exec, node, nullptr, device, 64,
                                           cudaMemcpyDeviceToHost));
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(made);
}

static cudaError_t from_thread;

static void *end_elsewhere(void *)
{
    cudaGraph_t got;
    from_thread = cudaStreamEndCapture(s, &got);
    return nullptr;
}

static void *allocate_elsewhere(void *)
{
    from_thread = cudaMalloc(&p, 16);
    return nullptr;
}

static void *launch_elsewhere(void *)
{
    from_thread = cudaMemsetAsync(device, 0, 16, s);
    return nullptr;
}

static cudaError_t in_a_thread(void *(*function)(void *))
{
    pthread_t thread;
    pthread_create(&thread, nullptr, function, nullptr);
    pthread_join(thread, nullptr);
    return from_thread;
}

static void other_threads()
{
    heading("other threads");
    DURING(s, GLOBAL, in_a_thread(end_elsewhere));
    DURING(s, LOCAL, in_a_thread(end_elsewhere));
    begin(s, RELAXED);
    ASK(in_a_thread(end_elsewhere));
    show_status("s", s);
    DURING(s, GLOBAL, in_a_thread(allocate_elsewhere));
    DURING(s, LOCAL, in_a_thread(allocate_elsewhere));
    DURING(s, RELAXED, in_a_thread(allocate_elsewhere));
    DURING(s, GLOBAL, in_a_thread(launch_elsewhere));
}

static void nodes_by_hand()
{
    cudaGraphNode_t a, b, list[4];
    cudaGraphExec_t exec;
    size_t count;
    void *arguments[] = {&device};
    cudaKernelNodeParams kernel = {(void *)plain, dim3(1), dim3(1), 0, arguments, nullptr};
    cudaMemcpy3DParms copy = {};
    cudaMemsetParams set = {device, 0, 0, 4, 4, 1};
    cudaHostNodeParams call = {nothing, nullptr};

    heading("nodes by hand");
    ASK(cudaGraphCreate(nullptr, 0));
    ASK(cudaGraphCreate(&graph, 1));
    ASK(cudaGraphCreate(&graph, 0));
    ASK(cudaGraphInstantiate(&exec, graph, 0));
    ASK(cudaGraphLaunch(exec, s));
    cudaGraphExecDestroy(exec);
    ASK(cudaGraphAddEmptyNode(nullptr, graph, nullptr, 0));
    ASK(cudaGraphAddEmptyNode(&a, nullptr, nullptr, 0));
    ASK(cudaGraphAddEmptyNode(&a, graph, nullptr, 1));
    ASK(cudaGraphAddEmptyNode(&a, graph, nullptr, 0));
    list[0] = list[1] = a;
    ASK(cudaGraphAddEmptyNode(&b, graph, list, 2));
    ASK(cudaGraphAddEmptyNode(&b, graph, list, 1));
    ASK(cudaGraphAddDependencies(graph, &a, &b, nullptr, 1));
    ASK(cudaGraphAddDependencies(graph, &a, &a, nullptr, 1));
    ASK(cudaGraphAddDependencies(graph, &b, &a, nullptr, 1));
    ASK(cudaGraphInstantiate(&exec, graph, 0));
    cudaGraphInstantiateParams params = {};
    ASK(cudaGraphInstantiateWithParams(&exec, graph, &params));
    std::printf("    result %d, %s node\n", (int)params.result_out,
                params.errNode_out != nullptr ? "a" : "no");
    ASK(cudaGraphRemoveDependencies(graph, &b, &a, nullptr, 1));
    ASK(cudaGraphRemoveDependencies(graph, &b, &a, nullptr, 1));
    ASK(cudaGraphInstantiate(&exec, graph, 64));
    ASK(cudaGraphInstantiate(nullptr, graph, 0));
    count = 1;
    ASK(cudaGraphGetNodes(graph, list, &count));
    std::printf("    count %zu\n", count);
    count = 4;
    list[2] = list[3] = a;
    ASK(cudaGraphGetNodes(graph, list, &count));
    std::printf("    count %zu, the rest %s\n", count, list[3] == nullptr ? "null" : "left alone");
    ASK(cudaGraphNodeGetDependencies(b, nullptr, nullptr, &count));
    std::printf("    count %zu\n", count);
    ASK(cudaGraphDestroyNode(a));
    ASK(cudaGraphNodeGetDependencies(b, nullptr, nullptr, &count));
    std::printf("    count %zu\n", count);

    heading("kernel nodes");
    kernel.gridDim = dim3(0);
    ASK(cudaGraphAddKernelNode(&a, graph, nullptr, 0, &kernel));
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(2048);
    ASK(cudaGraphAddKernelNode(&a, graph, nullptr, 0, &kernel));
    kernel.blockDim = dim3(1);
    kernel.sharedMemBytes = 1 << 20;
    ASK(cudaGraphAddKernelNode(&a, graph, nullptr, 0, &kernel));
    ASK(cudaGraphInstantiate(&exec, graph, 0));
    kernel.sharedMemBytes = 0;
    kernel.func = nullptr;
    ASK(cudaGraphAddKernelNode(&a, graph, nullptr, 0, &kernel));
    kernel.func = (void *)host;
    ASK(cudaGraphAddKernelNode(&a, graph, nullptr, 0, &kernel));
    kernel.func = (void *)plain;
    kernel.kernelParams = nullptr;
    ASK(cudaGraphAddKernelNode(&a, graph, nullptr, 0, &kernel));
    kernel.kernelParams = arguments;
    ASK(cudaGraphAddKernelNode(&a, graph, nullptr, 0, nullptr));
    ASK(cudaGraphAddKernelNode(&a, graph, nullptr, 0, &kernel));
    cudaKernelNodeParams got = {};
    ASK(cudaGraphKernelNodeGetParams(a, &got));
    std::printf("    %s, %s extra, argument %s\n",
                got.func == (void *)plain ? "the host function" : "something else",
                got.extra == nullptr ? "no" : "an",
                got.kernelParams != nullptr && *(int **)got.kernelParams[0] == device ? "kept"
                                                                                      : "lost");
    ASK(cudaGraphKernelNodeGetParams(b, &got));
    ASK(cudaGraphMemcpyNodeSetParams1D(a, device, host, 16, cudaMemcpyHostToDevice));
    cudaGraphDestroy(graph);

    heading("copy nodes");
    cudaGraphCreate(&graph, 0);
    ASK(cudaGraphAddMemcpyNode1D(&a, graph, nullptr, 0, device, host, 0, cudaMemcpyHostToDevice));
    ASK(cudaGraphAddMemcpyNode1D(&a, graph, nullptr, 0, nullptr, host, 4, cudaMemcpyHostToDevice));
    ASK(cudaGraphAddMemcpyNode1D(&a, graph, nullptr, 0, host, device, 4, cudaMemcpyHostToDevice));
    ASK(cudaGraphAddMemcpyNode1D(&a, graph, nullptr, 0, device, host, 4, cudaMemcpyDeviceToHost));
    ASK(cudaGraphAddMemcpyNode1D(&a, graph, nullptr, 0, device, host, 4, (cudaMemcpyKind)9));
    ASK(cudaGraphAddMemcpyNode(&a, graph, nullptr, 0, &copy));
    ASK(cudaGraphAddMemcpyNode1D(&a, graph, nullptr, 0, device, host, 16, cudaMemcpyDefault));
    ASK(cudaGraphMemcpyNodeGetParams(a, &copy));
    std::printf("    kind %d, extent %zu %zu %zu, pitch %zu, size %zu %zu\n", (int)copy.kind,
                copy.extent.width, copy.extent.height, copy.extent.depth, copy.srcPtr.pitch,
                copy.srcPtr.xsize, copy.srcPtr.ysize);
    ASK(cudaGraphAddMemcpyNodeToSymbol(&b, graph, nullptr, 0, variable, host, 16, 0,
                                       cudaMemcpyHostToDevice));
    ASK(cudaGraphAddMemcpyNodeToSymbol(&b, graph, nullptr, 0, variable, host, 16, 4096,
                                       cudaMemcpyHostToDevice));
    cudaGraphDestroy(graph);

    heading("set nodes");
    cudaGraphCreate(&graph, 0);
    ASK(cudaGraphAddMemsetNode(&a, graph, nullptr, 0, &set));
    set.elementSize = 3;
    ASK(cudaGraphAddMemsetNode(&a, graph, nullptr, 0, &set));
    set.elementSize = 4;
    set.width = 0;
    ASK(cudaGraphAddMemsetNode(&a, graph, nullptr, 0, &set));
    set.width = 4;
    set.height = 0;
    ASK(cudaGraphAddMemsetNode(&a, graph, nullptr, 0, &set));
    set.height = 2;
    ASK(cudaGraphAddMemsetNode(&a, graph, nullptr, 0, &set)); // a pitch of 0
    set.height = 1;
    set.elementSize = 1;
    set.value = 0x1234;
    ASK(cudaGraphAddMemsetNode(&a, graph, nullptr, 0, &set));
    set.value = 0;
    set.dst = host;
    ASK(cudaGraphAddMemsetNode(&a, graph, nullptr, 0, &set));
    cudaGraphDestroy(graph);

    heading("host and event nodes");
    cudaGraphCreate(&graph, 0);
    ASK(cudaGraphAddHostNode(&a, graph, nullptr, 0, &call));
    call.fn = nullptr;
    ASK(cudaGraphAddHostNode(&a, graph, nullptr, 0, &call));
    ASK(cudaGraphAddEventRecordNode(&a, graph, nullptr, 0, e));
    ASK(cudaGraphAddEventRecordNode(&a, graph, nullptr, 0, nullptr));
    cudaEvent_t fresh;
    cudaEventCreate(&fresh);
    ASK(cudaGraphAddEventWaitNode(&b, graph, &a, 1, fresh)); // never recorded
    ASK(cudaGraphInstantiate(&exec, graph, 0));
    ASK(cudaGraphLaunch(exec, s));
    ASK(cudaStreamSynchronize(s));
    ASK(cudaEventQuery(e));
    cudaGraphExecDestroy(exec);
    heading("child graphs");
    cudaGraph_t child, inner; // a graph is not asked to hold itself: the driver crashes then
    cudaGraphCreate(&child, 0);
    ASK(cudaGraphAddChildGraphNode(&a, graph, nullptr, 0, child));
    ASK(cudaGraphChildGraphNodeGetGraph(a, &inner));
    std::printf("    %s\n", inner == child ? "the same" : "another");
    ASK(cudaGraphDestroy(inner));
    ASK(cudaGraphChildGraphNodeGetGraph(b, &inner));
    cudaGraphDestroy(child);
    cudaGraph_t clone;
    ASK(cudaGraphClone(&clone, graph));
    cudaGraphNode_t found;
    ASK(cudaGraphNodeFindInClone(&found, b, clone));
    ASK(cudaGraphNodeFindInClone(&found, b, graph));
    ASK(cudaGraphDestroy(clone));
    ASK(cudaGraphDestroy(graph));
    ASK(cudaGraphDestroy(nullptr));
    ASK(cudaGraphExecDestroy(nullptr));
    ASK(cudaGraphLaunch(nullptr, s));
}

static void executables()
{
    cudaGraphNode_t kernel_node, copy_node, set_node, host_node;
    cudaGraphExec_t exec;
    void *arguments[] = {&device};
    cudaKernelNodeParams kernel = {(void *)plain, dim3(1), dim3(1), 0, arguments, nullptr};
    cudaMemsetParams set = {device, 0, 0, 4, 4, 1};
    cudaHostNodeParams call = {nothing, nullptr};
    cudaGraphExecUpdateResultInfo info;
    unsigned enabled = 9;

    cudaGraphCreate(&graph, 0);
    cudaGraphAddKernelNode(&kernel_node, graph, nullptr, 0, &kernel);
    cudaGraphAddMemcpyNode1D(&copy_node, graph, &kernel_node, 1, pinned, device, 64,
                             cudaMemcpyDeviceToHost);
    cudaGraphAddMemsetNode(&set_node, graph, &copy_node, 1, &set);
    cudaGraphAddHostNode(&host_node, graph, &set_node, 1, &call);
    heading("changing an executable graph");
    ASK(cudaGraphInstantiate(&exec, graph, 0));
    int y = 1;
    double z = 2;
    void *more[] = {&device, &y, &z};
    kernel.func = (void *)three;
    kernel.kernelParams = more;
    ASK(cudaGraphExecKernelNodeSetParams(exec, kernel_node, &kernel));
    ASK(cudaGraphExecKernelNodeSetParams(exec, copy_node, &kernel));
    kernel.blockDim = dim3(2048);
    ASK(cudaGraphExecKernelNodeSetParams(exec, kernel_node, &kernel));
    kernel.blockDim = dim3(1);
    ASK(cudaGraphExecMemcpyNodeSetParams1D(exec, copy_node, host, device, 64,
                                           cudaMemcpyDeviceToHost)); // pinned to pageable
    ASK(cudaGraphExecMemcpyNodeSetParams1D(exec, copy_node, pinned, device, 32,
                                           cudaMemcpyDeviceToHost));
    ASK(cudaGraphExecMemcpyNodeSetParams1D(exec, copy_node, pinned, device, 128,
                                           cudaMemcpyDeviceToHost));
    ASK(cudaGraphExecMemcpyNodeSetParams1D(exec, copy_node, device, pinned, 64,
                                           cudaMemcpyHostToDevice));
    ASK(cudaGraphExecMemcpyNodeSetParams1D(exec, copy_node, second, device, 64,
                                           cudaMemcpyDeviceToDevice));
    set.width = 8;
    ASK(cudaGraphExecMemsetNodeSetParams(exec, set_node, &set));
    set.elementSize = 1;
    ASK(cudaGraphExecMemsetNodeSetParams(exec, set_node, &set));
    set.elementSize = 4;
    set.height = 2;
    set.pitch = 512;
    ASK(cudaGraphExecMemsetNodeSetParams(exec, set_node, &set));
    set.height = 1;
    ASK(cudaGraphNodeGetEnabled(exec, kernel_node, &enabled));
    std::printf("    %u\n", enabled);
    ASK(cudaGraphNodeSetEnabled(exec, kernel_node, 0));
    ASK(cudaGraphNodeSetEnabled(exec, host_node, 0));
    ASK(cudaGraphLaunch(exec, s));
    ASK(cudaGraphLaunch(exec, u));
    ASK(cudaGraphExecDestroy(exec));
    ASK(cudaDeviceSynchronize());

    heading("updating a whole executable graph");
    cudaGraph_t with;
    cudaGraphNode_t a, b;
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphClone(&with, graph);
    ASK(cudaGraphExecUpdate(exec, with, &info));
    std::printf("    result %d\n", (int)info.result);
    cudaGraphNodeFindInClone(&a, kernel_node, with);
    kernel.func = (void *)other;
    kernel.kernelParams = arguments;
    cudaGraphKernelNodeSetParams(a, &kernel);
    ASK(cudaGraphExecUpdate(exec, with, &info));
    std::printf("    result %d\n", (int)info.result);
    cudaGraphAddEmptyNode(&b, with, nullptr, 0);
    ASK(cudaGraphExecUpdate(exec, with, &info));
    std::printf("    result %d, %s node\n", (int)info.result,
                info.errorNode != nullptr ? "a" : "no");
    cudaGraphDestroyNode(b);
    cudaGraphNodeFindInClone(&b, copy_node, with);
    cudaGraphRemoveDependencies(with, &a, &b, nullptr, 1);
    ASK(cudaGraphExecUpdate(exec, with, &info));
    std::printf("    result %d, %s node, %s from\n", (int)info.result,
                info.errorNode != nullptr ? "a" : "no", info.errorFromNode != nullptr ? "a" : "no");
    cudaGraphDestroy(with);
    cudaGraphCreate(&with, 0);
    cudaGraphAddEmptyNode(&a, with, nullptr, 0);
    cudaGraphAddEmptyNode(&a, with, &a, 1);
    cudaGraphAddEmptyNode(&a, with, &a, 1);
    cudaGraphAddEmptyNode(&a, with, &a, 1);
    ASK(cudaGraphExecUpdate(exec, with, &info));
    std::printf("    result %d, %s node\n", (int)info.result,
                info.errorNode != nullptr ? "a" : "no");
    ASK(cudaGraphExecUpdate(exec, nullptr, &info));
    ASK(cudaGraphExecUpdate(exec, graph, nullptr));
    cudaGraphDestroy(with);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
}

static void memory_nodes()
{
    cudaGraphNode_t allocate, use, release;
    cudaGraphExec_t exec, again;
    cudaGraph_t clone;
    cudaMemAllocNodeParams params = {};
    heading("memory nodes");
    params.poolProps.allocType = cudaMemAllocationTypePinned;
    params.poolProps.location.type = cudaMemLocationTypeDevice;
    params.bytesize = 1024;
    cudaGraphCreate(&graph, 0);
    ASK(cudaGraphAddMemAllocNode(&allocate, graph, nullptr, 0, &params));
    std::printf("    %s\n", params.dptr != nullptr ? "an address" : "null");
    cudaMemsetParams set = {params.dptr, 0, 7, 4, 256, 1};
    ASK(cudaGraphAddMemsetNode(&use, graph, &allocate, 1, &set));
    ASK(cudaGraphClone(&clone, graph));
    ASK(cudaGraphDestroyNode(use));
    ASK(cudaGraphInstantiate(&exec, graph, 0));
    ASK(cudaGraphInstantiate(&again, graph, 0));
    ASK(cudaGraphLaunch(exec, s));
    ASK(cudaGraphLaunch(exec, s)); // not freed in between
    ASK(cudaMemcpyAsync(pinned, params.dptr, 1024, cudaMemcpyDeviceToHost, s));
    ASK(cudaStreamSynchronize(s));
    std::printf("    %d\n", pinned[255]);
    ASK(cudaFreeAsync(params.dptr, s));
    ASK(cudaGraphLaunch(exec, s));
    ASK(cudaFree(params.dptr));
    ASK(cudaFree(params.dptr));
    cudaGetLastError();
    ASK(cudaGraphExecDestroy(exec));
    ASK(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    ASK(cudaGraphLaunch(exec, s));
    ASK(cudaGraphLaunch(exec, s));
    ASK(cudaStreamSynchronize(s));
    ASK(cudaGraphExecDestroy(exec));
    ASK(cudaGraphAddMemFreeNode(&release, graph, &use, 1, params.dptr));
    ASK(cudaGraphAddMemFreeNode(&release, graph, &use, 1, params.dptr));
    ASK(cudaGraphAddMemFreeNode(&release, graph, nullptr, 0, device));
    ASK(cudaGraphDestroy(graph));
    heading("memory nodes by capture");
    begin(s, RELAXED);
    ASK(cudaMallocAsync(&p, 1024, s));
    ASK(cudaMemsetAsync(p, 0, 1024, s));
    ASK(cudaFreeAsync(p, s));
    graph = nullptr;
    ASK(cudaStreamEndCapture(s, &graph));
    show_types(graph);
    ASK(cudaGraphInstantiate(&exec, graph, 0));
    ASK(cudaGraphLaunch(exec, s));
    ASK(cudaGraphLaunch(exec, s));
    ASK(cudaStreamSynchronize(s));
    ASK(cudaGraphExecDestroy(exec));
    ASK(cudaGraphDestroy(graph));
}

static void faults()
{
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    void *arguments[] = {&device};
    cudaKernelNodeParams kernel = {(void *)astray, dim3(1), dim3(1), 0, arguments, nullptr};
    heading("a node that fails");
    cudaGraphCreate(&graph, 0);
    ASK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel));
    ASK(cudaGraphInstantiate(&exec, graph, 0));
    ASK(cudaGraphLaunch(exec, s));
    ASK(cudaStreamSynchronize(s));
    ASK(cudaGraphLaunch(exec, s));
    ASK(cudaGraphExecDestroy(exec));
    ASK(cudaGraphDestroy(graph));
    ASK(cudaStreamBeginCapture(s, GLOBAL));
}

static void begin_all()
{
    cudaStreamCreate(&s);
    cudaStreamCreate(&u);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaEventCreate(&before);
    cudaEventCreate(&e);
    cudaMalloc(&device, 4096);
    cudaMalloc(&second, 4096);
    cudaMallocHost(&pinned, 4096);
    plain<<<1, 1, 0, u>>>(device); // so that nothing has to be loaded during a capture
    other<<<1, 1, 0, u>>>(device);
    three<<<1, 1, 0, u>>>(device, 1, 2);
    cudaMemcpyToSymbol(variable, host, 16);
    cudaEventRecord(before, u);
    cudaDeviceSynchronize();
}

// Each in a process of its own, so that none can spoil the next, or end it.
int main()
{
    static void (*const parts[])() = {
        calls_that_are_unsafe, the_legacy_stream,    beginning_and_ending, forks_and_joins,
        captured_events,       what_can_be_captured, captures_once_more,   other_threads,
        nodes_by_hand,         executables,          memory_nodes,         faults,
    };
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    for (void (*part)() : parts) {
        pid_t child = fork();
        int status = 0;
        if (child == 0) {
            begin_all();
            part();
            std::fflush(stdout);
            _exit(0);
        }
        waitpid(child, &status, 0);
        if (WIFSIGNALED(status)) std::printf("    ended by signal %d\n", WTERMSIG(status));
    }
}
