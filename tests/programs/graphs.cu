// CUDA graphs: by stream capture and by hand, launched again, changed, embedded, with memory of
// their own; and what a capture forbids.
#include "program.cuh"
#include "tests/temporary.h"

#include <vector>

static const int count = 3000, threads = 128;

static int blocks()
{
    return (count + threads - 1) / threads;
}

__global__ void add(int *p, int value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += value;
}

__global__ void multiply(int *p, int value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] *= value;
}

__global__ void sum(int *to, const int *a, const int *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = a[i] + b[i];
}

__device__ int symbol[64];

static int *device_ints()
{
    int *p;
    CHECK(cudaMalloc(&p, count * sizeof(int)));
    CHECK(cudaMemset(p, 0, count * sizeof(int)));
    CHECK(cudaDeviceSynchronize()); // the streams below need not be ordered behind it
    return p;
}

static int *pinned_ints()
{
    int *p;
    CHECK(cudaMallocHost(&p, count * sizeof(int)));
    for (int i = 0; i < count; i++) p[i] = value_at(i);
    return p;
}

static void expect_all(const int *device, int value)
{
    std::vector<int> host(count);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host.data(), device, count * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; i++) {
        if (host[i] == value) continue;
        std::fprintf(stderr, "element %d is %d instead of %d\n", i, host[i], value);
        std::exit(1);
    }
}

// The parameters of a kernel over `count` elements, which point to `arguments`.
static cudaKernelNodeParams kernel_params(void *function, void **arguments)
{
    cudaKernelNodeParams params = {};
    params.func = function;
    params.gridDim = dim3(blocks());
    params.blockDim = dim3(threads);
    params.kernelParams = arguments;
    return params;
}

static cudaGraphExec_t instantiate(cudaGraph_t graph)
{
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}

static size_t nodes_of(cudaGraph_t graph)
{
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    return nodes;
}

static size_t edges_of(cudaGraph_t graph)
{
    size_t edges = 0;
    CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    return edges;
}

// Two streams fork from one and join: copies in, a kernel on each branch, a kernel of both.
static void capture_fork_join()
{
    int *a = device_ints(), *b = device_ints(), *both = device_ints();
    int *in = pinned_ints(), *out = pinned_ints();
    cudaStream_t first, second;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    CHECK(cudaStreamCreate(&first));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));

    CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(fork, first));
    CHECK(cudaStreamWaitEvent(second, fork, 0));
    const size_t bytes = count * sizeof(int);
    CHECK(cudaMemcpyAsync(a, in, bytes, cudaMemcpyHostToDevice, first));
    add<<<blocks(), threads, 0, first>>>(a, 5, count);
    CHECK(cudaMemcpyAsync(b, in, bytes, cudaMemcpyHostToDevice, second));
    multiply<<<blocks(), threads, 0, second>>>(b, 3, count);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(join, second));
    CHECK(cudaStreamWaitEvent(first, join, 0));
    sum<<<blocks(), threads, 0, first>>>(both, a, b, count);
    CHECK(cudaMemcpyAsync(out, both, bytes, cudaMemcpyDeviceToHost, first));
    CHECK(cudaStreamEndCapture(first, &graph));
    EXPECT(nodes_of(graph) == 6);
    EXPECT(edges_of(graph) == 5);
    expect_all(both, 0); // nothing has run

    cudaGraphExec_t exec = instantiate(graph);
    CHECK(cudaGraphDestroy(graph)); // the executable graph is on its own
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < count; i++) in[i] = value_at(i) + round; // read when it is launched
        CHECK(cudaGraphLaunch(exec, first));
        CHECK(cudaStreamSynchronize(first));
        for (int i = 0; i < count; i++) EXPECT(out[i] == 4 * (value_at(i) + round) + 5);
    }
    CHECK(cudaGraphExecDestroy(exec));
}

static int host_calls;

static void count_call(void *data)
{
    host_calls += *static_cast<int *>(data);
}

// A node of each kind, added one by one.
static void by_hand()
{
    int *p = device_ints(), *in = pinned_ints(), *out = pinned_ints();
    int five = 5, one = 1;
    cudaGraph_t graph, child;
    cudaGraphNode_t copy_in, kernel, inner, embedded, fill, empty, call, record, wait, copy_out,
        to_symbol;
    cudaEvent_t event;
    CHECK(cudaEventCreate(&event));
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphCreate(&child, 0));
    const size_t bytes = count * sizeof(int);
    CHECK(cudaGraphAddMemcpyNode1D(&copy_in, graph, nullptr, 0, p, in, bytes,
                                   cudaMemcpyHostToDevice));
    int n = count;
    void *arguments[] = {&p, &five, &n};
    cudaKernelNodeParams params = kernel_params((void *)add, arguments);
    CHECK(cudaGraphAddKernelNode(&kernel, graph, &copy_in, 1, &params));
    five = 99; // the arguments were copied
    int three = 3;
    void *inner_arguments[] = {&p, &three, &n};
    params = kernel_params((void *)multiply, inner_arguments);
    CHECK(cudaGraphAddKernelNode(&inner, child, nullptr, 0, &params));
    CHECK(cudaGraphAddChildGraphNode(&embedded, graph, &kernel, 1, child));
    CHECK(cudaGraphDestroy(child)); // it was copied
    cudaMemsetParams set = {};
    set.dst = p;
    set.value = 7;
    set.elementSize = 4;
    set.width = 10;
    set.height = 1;
    CHECK(cudaGraphAddMemsetNode(&fill, graph, &embedded, 1, &set));
    CHECK(cudaGraphAddMemcpyNodeToSymbol(&to_symbol, graph, nullptr, 0, symbol, in, sizeof symbol,
                                         0, cudaMemcpyHostToDevice));
    cudaGraphNode_t two[] = {fill, to_symbol};
    CHECK(cudaGraphAddEmptyNode(&empty, graph, two, 2));
    cudaHostNodeParams host = {count_call, &one};
    CHECK(cudaGraphAddHostNode(&call, graph, &empty, 1, &host));
    CHECK(cudaGraphAddEventRecordNode(&record, graph, &call, 1, event));
    CHECK(cudaGraphAddEventWaitNode(&wait, graph, &record, 1, event));
    CHECK(cudaGraphAddMemcpyNode1D(&copy_out, graph, &wait, 1, out, p, bytes,
                                   cudaMemcpyDeviceToHost));
    EXPECT(nodes_of(graph) == 10);

    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(embedded, &type));
    EXPECT(type == cudaGraphNodeTypeGraph);
    cudaKernelNodeParams got;
    CHECK(cudaGraphKernelNodeGetParams(kernel, &got));
    EXPECT(got.func == (void *)add && got.gridDim.x == (unsigned)blocks());
    EXPECT(*static_cast<int *>(got.kernelParams[1]) == 5);

    cudaGraphExec_t exec = instantiate(graph);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaEventQuery(event));
    EXPECT(host_calls == 2);
    for (int i = 0; i < count; i++) EXPECT(out[i] == (i < 10 ? 7 : 3 * (value_at(i) + 5)));
    int values[64];
    CHECK(cudaMemcpyFromSymbol(values, symbol, sizeof symbol));
    for (int i = 0; i < 64; i++) EXPECT(values[i] == value_at(i));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

// Single nodes of an executable graph get other parameters; the graph and what runs keep theirs.
static void change_nodes()
{
    int *p = device_ints(), *q = device_ints();
    int n = count, value = 1;
    cudaGraph_t graph;
    cudaGraphNode_t kernel, fill, copy;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaGraphCreate(&graph, 0));
    void *arguments[] = {&p, &value, &n};
    cudaKernelNodeParams params = kernel_params((void *)add, arguments);
    cudaMemsetParams set = {};
    set.dst = p;
    set.elementSize = 4;
    set.width = count;
    set.height = 1;
    CHECK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &set));
    CHECK(cudaGraphAddKernelNode(&kernel, graph, &fill, 1, &params));
    CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, q, p, count * sizeof(int),
                                   cudaMemcpyDeviceToDevice));
    cudaGraphExec_t exec = instantiate(graph);
    CHECK(cudaGraphLaunch(exec, stream));
    value = 20;
    CHECK(cudaGraphExecKernelNodeSetParams(exec, kernel, &params)); // not of the launch before
    expect_all(q, 1);
    CHECK(cudaGraphLaunch(exec, stream));
    expect_all(q, 20);
    set.value = 0x01010101;
    CHECK(cudaGraphExecMemsetNodeSetParams(exec, fill, &set));
    params.func = (void *)multiply; // another kernel altogether
    value = 2;
    CHECK(cudaGraphExecKernelNodeSetParams(exec, kernel, &params));
    CHECK(cudaGraphLaunch(exec, stream));
    expect_all(q, 0x02020202);
    CHECK(cudaGraphExecMemcpyNodeSetParams1D(exec, copy, q, p, 4, cudaMemcpyDeviceToDevice));
    CHECK(cudaGraphNodeSetEnabled(exec, kernel, 0));
    CHECK(cudaGraphLaunch(exec, stream));
    expect_all(p, 0x01010101);
    int first_two[2];
    CHECK(cudaMemcpy(first_two, q, sizeof first_two, cudaMemcpyDeviceToHost));
    EXPECT(first_two[0] == 0x01010101 && first_two[1] == 0x02020202);
    CHECK(cudaGraphNodeSetEnabled(exec, kernel, 1));

    cudaKernelNodeParams kept; // the graph's own node has not changed
    CHECK(cudaGraphKernelNodeGetParams(kernel, &kept));
    EXPECT(kept.func == (void *)add && *static_cast<int *>(kept.kernelParams[1]) == 1);
    EXPECT_ERROR(cudaGraphExecKernelNodeSetParams(exec, copy, &params), cudaErrorInvalidValue);
    cudaGetLastError();
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

// The work of one step, captured: on two branches, with other numbers each time.
static cudaGraph_t capture_step(cudaStream_t stream, cudaStream_t side, int *a, int *b, int value,
                                bool longer)
{
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    CHECK(cudaEventCreate(&fork));
    CHECK(cudaEventCreate(&join));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaMemsetAsync(a, 0, count * sizeof(int), stream));
    CHECK(cudaEventRecord(fork, stream));
    CHECK(cudaStreamWaitEvent(side, fork, 0));
    add<<<blocks(), threads, 0, stream>>>(a, value, count);
    add<<<blocks(), threads, 0, side>>>(b, value + 1, count);
    if (longer) add<<<blocks(), threads, 0, side>>>(b, 1, count);
    CHECK(cudaEventRecord(join, side));
    CHECK(cudaStreamWaitEvent(stream, join, 0));
    sum<<<blocks(), threads, 0, stream>>>(a, a, b, count);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaEventDestroy(fork));
    CHECK(cudaEventDestroy(join));
    return graph;
}

static void update_whole()
{
    int *a = device_ints(), *b = device_ints();
    cudaStream_t stream, side;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreate(&side));
    cudaGraph_t graph = capture_step(stream, side, a, b, 1, false);
    cudaGraphExec_t exec = instantiate(graph);
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphLaunch(exec, stream));
    expect_all(a, 1 + 2);
    int b_value = 2;
    cudaGraphExecUpdateResultInfo info;
    for (int value = 10; value < 13; value++) {
        graph = capture_step(stream, side, a, b, value, false);
        CHECK(cudaGraphExecUpdate(exec, graph, &info));
        EXPECT(info.result == cudaGraphExecUpdateSuccess);
        CHECK(cudaGraphDestroy(graph));
        CHECK(cudaGraphLaunch(exec, stream));
        b_value += value + 1;
        expect_all(a, value + b_value);
    }
    graph = capture_step(stream, side, a, b, 5, true);
    EXPECT_ERROR(cudaGraphExecUpdate(exec, graph, &info), cudaErrorGraphExecUpdateFailure);
    EXPECT(info.result == cudaGraphExecUpdateErrorTopologyChanged);
    cudaGetLastError();
    CHECK(cudaGraphLaunch(exec, stream)); // as it was
    expect_all(a, 12 + b_value + 13);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

// Graphs in graphs, and a launch that is captured itself.
static void child_graphs()
{
    int *p = device_ints();
    int n = count, one = 1, two = 2;
    cudaGraph_t leaf, middle, whole;
    cudaGraphNode_t node, first, second, third;
    void *plus[] = {&p, &one, &n}, *times[] = {&p, &two, &n};
    CHECK(cudaGraphCreate(&leaf, 0));
    cudaKernelNodeParams params = kernel_params((void *)add, plus);
    CHECK(cudaGraphAddKernelNode(&node, leaf, nullptr, 0, &params));
    CHECK(cudaGraphCreate(&middle, 0)); // (p + 1) * 2 + 1
    CHECK(cudaGraphAddChildGraphNode(&first, middle, nullptr, 0, leaf));
    params = kernel_params((void *)multiply, times);
    CHECK(cudaGraphAddKernelNode(&second, middle, &first, 1, &params));
    CHECK(cudaGraphAddChildGraphNode(&third, middle, &second, 1, leaf));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    cudaGraphExec_t exec = instantiate(middle);
    CHECK(cudaGraphLaunch(exec, stream));
    expect_all(p, 3);

    // A graph comes into another as a node, not by a launch into a stream that is being captured.
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT_ERROR(cudaGraphLaunch(exec, stream), cudaErrorStreamCaptureUnsupported);
    EXPECT_ERROR(cudaStreamEndCapture(stream, &whole), cudaErrorStreamCaptureInvalidated);
    CHECK(cudaGraphCreate(&whole, 0));
    CHECK(cudaGraphAddChildGraphNode(&first, whole, nullptr, 0, middle));
    CHECK(cudaGraphAddChildGraphNode(&second, whole, &first, 1, middle));
    cudaGraphExec_t twice = instantiate(whole);
    CHECK(cudaGraphLaunch(twice, stream));
    expect_all(p, ((3 + 1) * 2 + 1 + 1) * 2 + 1);

    // A node inside an embedded graph is changed through the handle of the embedded graph's node.
    cudaGraph_t inside;
    CHECK(cudaGraphChildGraphNodeGetGraph(third, &inside));
    EXPECT(inside != leaf);
    size_t nodes = 1;
    CHECK(cudaGraphGetNodes(inside, &node, &nodes));
    one = 100;
    params = kernel_params((void *)add, plus);
    CHECK(cudaGraphExecKernelNodeSetParams(exec, node, &params));
    CHECK(cudaGraphLaunch(exec, stream));
    expect_all(p, (21 + 1) * 2 + 100);
    CHECK(cudaGraphDestroy(leaf));
    CHECK(cudaGraphDestroy(middle));
    CHECK(cudaGraphDestroy(whole));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphExecDestroy(twice));
}

struct Log {
    std::vector<int> values;
    const int *buffer;
};

static void note(void *data)
{
    Log *log = static_cast<Log *>(data);
    log->values.push_back(log->buffer[count - 1]);
}

// Host functions between the device's work see what is before them, each time.
static void host_nodes()
{
    int *p = device_ints(), *out = pinned_ints();
    Log log;
    log.buffer = out;
    cudaStream_t stream;
    cudaGraph_t graph;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 3; i++) {
        add<<<blocks(), threads, 0, stream>>>(p, 1, count);
        CHECK(cudaMemcpyAsync(out, p, count * sizeof(int), cudaMemcpyDeviceToHost, stream));
        CHECK(cudaLaunchHostFunc(stream, note, &log));
    }
    CHECK(cudaStreamEndCapture(stream, &graph));
    EXPECT(nodes_of(graph) == 9 && edges_of(graph) == 8);
    cudaGraphExec_t exec = instantiate(graph);
    for (int i = 0; i < 4; i++) CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(log.values.size() == 12);
    for (int i = 0; i < 12; i++) EXPECT(log.values[i] == i + 1);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

// One executable graph in several streams: its launches come one after another all the same.
static void relaunch()
{
    int *p = device_ints();
    cudaStream_t streams[4];
    cudaGraph_t graph;
    for (cudaStream_t &stream : streams)
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
    add<<<blocks(), threads, 0, streams[0]>>>(p, 3, count);
    multiply<<<blocks(), threads, 0, streams[0]>>>(p, 2, count);
    CHECK(cudaStreamEndCapture(streams[0], &graph));
    cudaGraphExec_t exec = instantiate(graph);
    int want = 0;
    for (int i = 0; i < 12; i++) {
        CHECK(cudaGraphLaunch(exec, streams[i % 4]));
        want = (want + 3) * 2;
    }
    expect_all(p, want);
    // A launch is ordered in its stream like other work.
    CHECK(cudaMemsetAsync(p, 0, count * sizeof(int), streams[1]));
    CHECK(cudaGraphLaunch(exec, streams[1]));
    add<<<blocks(), threads, 0, streams[1]>>>(p, 1, count);
    expect_all(p, 7);
    CHECK(cudaGraphLaunch(exec, streams[2]));
    CHECK(cudaGraphExecDestroy(exec)); // what was launched goes on
    expect_all(p, 20);
    CHECK(cudaGraphDestroy(graph));
}

// What a capture forbids, and that it is over then.
static void capture_errors()
{
    int *p = device_ints(), *q;
    cudaStream_t stream, other;
    cudaEvent_t event, outside;
    cudaGraph_t graph = nullptr;
    cudaStreamCaptureStatus status;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreate(&other));
    CHECK(cudaEventCreate(&event));
    CHECK(cudaEventCreate(&outside));
    CHECK(cudaEventRecord(outside, other));
    CHECK(cudaDeviceSynchronize());

    EXPECT_ERROR(cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal),
                 cudaErrorStreamCaptureUnsupported);

    // Waiting for what is only being captured.
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<blocks(), threads, 0, stream>>>(p, 1, count);
    EXPECT_ERROR(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
    CHECK(cudaStreamIsCapturing(stream, &status));
    EXPECT(status == cudaStreamCaptureStatusInvalidated);
    EXPECT_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    EXPECT(graph == nullptr);
    CHECK(cudaStreamIsCapturing(stream, &status));
    EXPECT(status == cudaStreamCaptureStatusNone);

    // The default stream would depend on the captured one.
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    EXPECT_ERROR(cudaMemsetAsync(p, 0, 4, nullptr), cudaErrorStreamCaptureImplicit);
    EXPECT_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);

    // A call with an effect of its own; a relaxed capture allows it.
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT_ERROR(cudaMalloc(&q, 16), cudaErrorStreamCaptureUnsupported);
    EXPECT_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CHECK(cudaMalloc(&q, 16));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphDestroy(graph));

    // A branch that is not joined.
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(event, stream));
    CHECK(cudaStreamWaitEvent(other, event, 0));
    add<<<blocks(), threads, 0, other>>>(p, 1, count);
    EXPECT_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureUnjoined);
    EXPECT(graph == nullptr);
    CHECK(cudaStreamIsCapturing(other, &status));
    EXPECT(status == cudaStreamCaptureStatusNone);

    // A dependency on work outside; an event that stands for no work that runs.
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    EXPECT_ERROR(cudaStreamWaitEvent(stream, outside, 0), cudaErrorStreamCaptureIsolation);
    EXPECT_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CHECK(cudaEventRecord(event, stream));
    EXPECT_ERROR(cudaEventQuery(event), cudaErrorCapturedEvent);
    EXPECT_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    cudaGetLastError();

    // And none of it ran, or stays.
    expect_all(p, 0);
    add<<<blocks(), threads, 0, stream>>>(p, 2, count);
    CHECK(cudaEventRecord(event, stream));
    CHECK(cudaEventSynchronize(event));
    expect_all(p, 2);
}

// Memory that a graph allocates and frees by itself, and memory that it leaves behind.
static void graph_memory()
{
    int *out = pinned_ints(), *inside, *left;
    cudaStream_t stream;
    cudaGraph_t graph;
    const size_t bytes = count * sizeof(int);
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMallocAsync(&inside, bytes, stream));
    CHECK(cudaMemsetAsync(inside, 0, bytes, stream));
    add<<<blocks(), threads, 0, stream>>>(inside, 6, count);
    CHECK(cudaMemcpyAsync(out, inside, bytes, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaFreeAsync(inside, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    EXPECT(nodes_of(graph) == 5);
    cudaGraphExec_t exec = instantiate(graph);
    for (int i = 0; i < 3; i++) {
        std::memset(out, 0, bytes);
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
        for (int k = 0; k < count; k++) EXPECT(out[k] == 6);
    }
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));

    cudaMemAllocNodeParams params = {};
    params.poolProps.allocType = cudaMemAllocationTypePinned;
    params.poolProps.location.type = cudaMemLocationTypeDevice;
    params.bytesize = bytes;
    cudaGraphNode_t allocate, fill;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemAllocNode(&allocate, graph, nullptr, 0, &params));
    left = static_cast<int *>(params.dptr);
    cudaMemsetParams set = {left, 0, 11, 4, (size_t)count, 1};
    CHECK(cudaGraphAddMemsetNode(&fill, graph, &allocate, 1, &set));
    exec = instantiate(graph);
    for (int i = 0; i < 2; i++) {
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaMemcpyAsync(out, left, bytes, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaFreeAsync(left, stream));
        CHECK(cudaStreamSynchronize(stream));
        for (int k = 0; k < count; k++) EXPECT(out[k] == 11);
    }
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

// Edges added, removed and asked for; clones; the graph drawn.
static void graph_structure()
{
    int *p = device_ints();
    int n = count;
    int values[] = {1, 2, 3, 4};
    cudaGraph_t graph, clone;
    cudaGraphNode_t nodes[4], found;
    CHECK(cudaGraphCreate(&graph, 0));
    for (int i = 0; i < 4; i++) { // p = ((p + 1) * 2 + 3) * 4, whatever order they were made in
        void *arguments[] = {&p, &values[i], &n};
        cudaKernelNodeParams params =
            kernel_params(i % 2 == 0 ? (void *)add : (void *)multiply, arguments);
        CHECK(cudaGraphAddKernelNode(&nodes[i], graph, nullptr, 0, &params));
    }
    cudaGraphNode_t from[] = {nodes[2], nodes[0], nodes[1]}, to[] = {nodes[3], nodes[1], nodes[2]};
    CHECK(cudaGraphAddDependencies(graph, from, to, nullptr, 3));
    EXPECT_ERROR(cudaGraphAddDependencies(graph, from, to, nullptr, 1), cudaErrorInvalidValue);
    cudaGetLastError();
    size_t roots = 0, edges = 8;
    CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
    EXPECT(roots == 1);
    cudaGraphNode_t edge_from[8], edge_to[8];
    CHECK(cudaGraphGetEdges(graph, edge_from, edge_to, nullptr, &edges));
    EXPECT(edges == 3);
    size_t dependencies = 1;
    CHECK(cudaGraphNodeGetDependencies(nodes[2], &found, nullptr, &dependencies));
    EXPECT(dependencies == 1 && found == nodes[1]);

    CHECK(cudaGraphClone(&clone, graph));
    CHECK(cudaGraphNodeFindInClone(&found, nodes[3], clone));
    EXPECT(found != nodes[3]);
    CHECK(cudaGraphDestroyNode(found)); // of the clone only
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    cudaGraphExec_t exec = instantiate(graph), without = instantiate(clone);
    CHECK(cudaGraphLaunch(exec, stream));
    expect_all(p, 20);
    CHECK(cudaMemset(p, 0, count * sizeof(int)));
    CHECK(cudaGraphLaunch(without, stream));
    expect_all(p, 5);

    cudaGraphExec_t none;
    CHECK(cudaGraphAddDependencies(graph, &nodes[3], &nodes[0], nullptr, 1));
    EXPECT_ERROR(cudaGraphInstantiate(&none, graph, 0), cudaErrorInvalidValue); // a cycle
    cudaGetLastError();
    CHECK(cudaGraphRemoveDependencies(graph, &nodes[3], &nodes[0], nullptr, 1));
    const char *path = temporary_file();
    CHECK(cudaGraphDebugDotPrint(graph, path, cudaGraphDebugDotFlagsVerbose));
    FILE *dot = std::fopen(path, "r");
    EXPECT(dot != nullptr);
    char line[512];
    int arrows = 0;
    while (std::fgets(line, sizeof line, dot) != nullptr)
        arrows += std::strstr(line, "->") != nullptr;
    std::fclose(dot);
    EXPECT(arrows == 3);
}

// External events: a record and a wait that are nodes, and order the graph with other streams.
static void external_events()
{
    int *p = device_ints(), *q = device_ints();
    cudaStream_t stream, other;
    cudaEvent_t go, done;
    cudaGraph_t graph;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&go));
    CHECK(cudaEventCreate(&done));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaStreamWaitEvent(stream, go, cudaEventWaitExternal));
    sum<<<blocks(), threads, 0, stream>>>(q, p, p, count);
    CHECK(cudaEventRecordWithFlags(done, stream, cudaEventRecordExternal));
    CHECK(cudaStreamEndCapture(stream, &graph));
    EXPECT(nodes_of(graph) == 3);
    cudaGraphExec_t exec = instantiate(graph);
    for (int i = 1; i <= 3; i++) {
        add<<<blocks(), threads, 0, other>>>(p, 1, count);
        CHECK(cudaEventRecord(go, other));
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamWaitEvent(other, done, 0));
        add<<<blocks(), threads, 0, other>>>(q, 100, count); // behind the graph's kernel
        expect_all(q, 2 * i + 100);
    }
}

static const Program programs[] = {
    {"capture_fork_join", capture_fork_join},
    {"by_hand", by_hand},
    {"change_nodes", change_nodes},
    {"update_whole", update_whole},
    {"child_graphs", child_graphs},
    {"host_nodes", host_nodes},
    {"relaunch", relaunch},
    {"capture_errors", capture_errors},
    {"graph_memory", graph_memory},
    {"graph_structure", graph_structure},
    {"external_events", external_events},
};

int main(int argc, char **argv)
{
    return run_programs(argc, argv, programs);
}
