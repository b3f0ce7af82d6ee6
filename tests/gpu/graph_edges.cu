// Edges between graph nodes, asked of a GPU: which data they may have, which queries would lose it,
// what captured launches make of it, and what a program may do with a capture's dependencies. Each
// line is a case and its answer. graph_edges.txt has an H200's.
//
//     nvcc -std=c++17 -arch=sm_90 -o graph_edges tests/gpu/graph_edges.cu -lcuda
//     ./graph_edges > tests/gpu/graph_edges.txt
#include "gpu.cuh"

#include <cstring>
#include <cuda.h>

static int *values, *sum;
static cudaStream_t stream, other;

__global__ void produce(int *p)
{
    p[threadIdx.x] = threadIdx.x + 1;
    cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void consume(const int *p, int *out)
{
    cudaGridDependencySynchronize();
    int all = 0;
    for (int i = 0; i < 32; i++) all += p[i];
    *out = all;
}

static void show_edges(const char *name, cudaGraph_t graph)
{
    cudaGraphNode_t from[8], to[8];
    cudaGraphEdgeData data[8];
    size_t count = 8;
    cudaError_t error = cudaGraphGetEdges(graph, from, to, data, &count);
    printf("%s: %s %zu", name, cudaGetErrorName(error), count);
    for (size_t i = 0; error == cudaSuccess && i < count; i++)
        printf(" (%d,%d,%d)", data[i].from_port, data[i].to_port, data[i].type);
    printf("\n");
}

static void run(cudaGraph_t graph)
{
    cudaGraphExec_t exec;
    int result;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost));
    printf("result %d\n", result);
    CHECK(cudaGraphExecDestroy(exec));
}

// ---- edges by hand ------------------------------------------------------------------------------

static cudaGraphNode_t kernel_node(cudaGraph_t graph, void *kernel, void **arguments,
                                   unsigned threads)
{
    cudaGraphNode_t node;
    cudaKernelNodeParams params = {};
    params.func = kernel;
    params.gridDim = dim3(1);
    params.blockDim = dim3(threads);
    params.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    return node;
}

static cudaGraphEdgeData edge(unsigned from_port, unsigned to_port, unsigned type,
                              unsigned reserved = 0)
{
    cudaGraphEdgeData data = {};
    data.from_port = (unsigned char)from_port;
    data.to_port = (unsigned char)to_port;
    data.type = (unsigned char)type;
    data.reserved[0] = (unsigned char)reserved;
    return data;
}

static void by_hand()
{
    cudaGraph_t graph, clone;
    cudaGraphNode_t fill, empty, list[8], more[8];
    cudaGraphEdgeData data;
    CHECK(cudaGraphCreate(&graph, 0));
    void *first[] = {&values}, *second[] = {&values, &sum};
    cudaGraphNode_t a = kernel_node(graph, (void *)produce, first, 32);
    cudaGraphNode_t b = kernel_node(graph, (void *)consume, second, 1);
    cudaMemsetParams params = {};
    params.dst = sum + 8;
    params.elementSize = 4;
    params.width = params.height = 1;
    CHECK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &params));
    CHECK(cudaGraphAddEmptyNode(&empty, graph, nullptr, 0));
    const struct {
        const char *name;
        cudaGraphEdgeData data;
    } wrong[] = {{"from port 3", edge(3, 0, 0)},
                 {"to port 1", edge(0, 1, 0)},
                 {"type 2", edge(0, 0, 2)},
                 {"reserved set", edge(0, 0, 0, 1)},
                 {"programmatic type with default port", edge(0, 0, 1)}};
    for (const auto &row : wrong)
        say(row.name, cudaGraphAddDependencies(graph, &a, &b, &row.data, 1));
    data = edge(1, 0, 1);
    say("programmatic from memset", cudaGraphAddDependencies(graph, &fill, &b, &data, 1));
    say("programmatic to memset", cudaGraphAddDependencies(graph, &a, &fill, &data, 1));
    say("programmatic to empty", cudaGraphAddDependencies(graph, &a, &empty, &data, 1));
    say("programmatic kernel to kernel", cudaGraphAddDependencies(graph, &a, &b, &data, 1));
    show_edges("now", graph);
    say("same edge again", cudaGraphAddDependencies(graph, &a, &b, &data, 1));
    say("default edge beside it", cudaGraphAddDependencies(graph, &a, &b, nullptr, 1));
    size_t count = 8;
    say("get edges without data", cudaGraphGetEdges(graph, list, more, nullptr, &count));
    count = 0;
    say("get edge count only", cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    printf("count %zu\n", count);
    cudaGraphEdgeData several[8];
    count = 8;
    say("dependencies without data", cudaGraphNodeGetDependencies(b, list, nullptr, &count));
    count = 8;
    say("dependents with data", cudaGraphNodeGetDependentNodes(a, list, several, &count));
    printf("dependents %zu\n", count);
    count = 8;
    say("dependents without data", cudaGraphNodeGetDependentNodes(a, list, nullptr, &count));
    data = edge(2, 0, 0);
    say("launch order beside it", cudaGraphAddDependencies(graph, &a, &b, &data, 1));
    say("launch order to memset", cudaGraphAddDependencies(graph, &a, &fill, &data, 1));
    say("launch order to empty", cudaGraphAddDependencies(graph, &a, &empty, &data, 1));
    say("launch order from memset", cudaGraphAddDependencies(graph, &fill, &empty, &data, 1));
    data = edge(1, 0, 0);
    say("programmatic port with default type", cudaGraphAddDependencies(graph, &a, &b, &data, 1));
    data = edge(2, 0, 1);
    say("remove with other port", cudaGraphRemoveDependencies(graph, &a, &b, &data, 1));
    show_edges("after removal", graph);
    CHECK(cudaGraphClone(&clone, graph));
    show_edges("clone", clone);
    CHECK(cudaGraphDestroy(clone));
    CHECK(cudaGraphDestroy(graph));
}

// ---- captured launches --------------------------------------------------------------------------

static cudaLaunchConfig_t config_of(cudaLaunchAttribute *attribute, unsigned threads)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(threads);
    config.stream = stream;
    config.attrs = attribute;
    config.numAttrs = 1;
    return config;
}

static void serialized()
{
    cudaGraph_t graph;
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    for (int allowed = 0; allowed < 2; allowed++) {
        attribute.val.programmaticStreamSerializationAllowed = allowed;
        cudaLaunchConfig_t config = config_of(&attribute, 1);
        CHECK(cudaMemset(values, 0, 128));
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        produce<<<1, 32, 0, stream>>>(values);
        CHECK(cudaLaunchKernelEx(&config, consume, (const int *)values, sum));
        CHECK(cudaStreamEndCapture(stream, &graph));
        show_edges(allowed ? "captured allowed" : "captured not allowed", graph);
        run(graph);
        CHECK(cudaGraphDestroy(graph));
    }
    cudaLaunchConfig_t config = config_of(&attribute, 1);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemsetAsync(values, 0, 128, stream));
    say("programmatic after memset",
        cudaLaunchKernelEx(&config, consume, (const int *)values, sum));
    say("end", cudaStreamEndCapture(stream, &graph));
    show_edges("after memset", graph);
    CHECK(cudaGraphDestroy(graph));
}

static void events()
{
    for (int at_start = 0; at_start < 2; at_start++) {
        cudaEvent_t event, joined;
        cudaGraph_t graph, captured;
        cudaStreamCaptureStatus status;
        const cudaGraphNode_t *nodes;
        const cudaGraphEdgeData *data = nullptr;
        size_t count = 0;
        CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
        CHECK(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
        cudaLaunchAttribute attribute = {};
        attribute.id = cudaLaunchAttributeProgrammaticEvent;
        attribute.val.programmaticEvent.event = event;
        attribute.val.programmaticEvent.triggerAtBlockStart = at_start;
        cudaLaunchConfig_t config = config_of(&attribute, 32);
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        say("launch with programmatic event", cudaLaunchKernelEx(&config, produce, values));
        say("wait", cudaStreamWaitEvent(other, event, 0));
        say("info without edge data",
            cudaStreamGetCaptureInfo(other, &status, nullptr, &captured, &nodes, nullptr, &count));
        CHECK(cudaStreamGetCaptureInfo(other, &status, nullptr, &captured, &nodes, &data, &count));
        printf("info: deps %zu (%d,%d,%d)\n", count, data->from_port, data->to_port, data->type);
        consume<<<1, 1, 0, other>>>(values, sum);
        CHECK(cudaEventRecord(joined, other));
        CHECK(cudaStreamWaitEvent(stream, joined, 0));
        say("end", cudaStreamEndCapture(stream, &graph));
        show_edges("graph", graph);
        CHECK(cudaGraphDestroy(graph));
        CHECK(cudaEventDestroy(joined));
        CHECK(cudaEventDestroy(event));
    }
}

// What stands behind an early event of a captured kernel, and the edges that come of it.
enum Behind { KERNEL, DEPENDENT, COPY, FUNCTION, END_AS_WELL, END_BEFORE, BEHINDS };

static void nothing(void *) {}

static void put_behind(Behind what, cudaStream_t into)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = config_of(&attribute, 1);
    config.stream = into;
    if (what == DEPENDENT)
        CHECK(cudaLaunchKernelEx(&config, consume, (const int *)values, sum));
    else if (what == COPY)
        CHECK(cudaMemcpyAsync(sum, values, 4, cudaMemcpyDeviceToDevice, into));
    else if (what == FUNCTION)
        CHECK(cudaLaunchHostFunc(into, nothing, nullptr));
    else
        consume<<<1, 1, 0, into>>>(values, sum);
}

static void behind_early_events()
{
    static const char *const names[BEHINDS] = {"kernel",   "dependent kernel", "copy",
                                               "function", "end as well",      "end before"};
    cudaEvent_t event, whole;
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&whole, cudaEventDisableTiming));
    for (int early = 0; early < 3; early++) {
        cudaLaunchAttribute attribute = {};
        if (early == 2) {
            attribute.id = cudaLaunchAttributeLaunchCompletionEvent;
            attribute.val.launchCompletionEvent.event = event;
        } else {
            attribute.id = cudaLaunchAttributeProgrammaticEvent;
            attribute.val.programmaticEvent.event = event;
            attribute.val.programmaticEvent.triggerAtBlockStart = early;
        }
        cudaLaunchConfig_t config = config_of(&attribute, 32);
        printf("early event %d\n", early);
        for (int what = 0; what < BEHINDS; what++) {
            cudaGraph_t graph;
            CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
            CHECK(cudaLaunchKernelEx(&config, produce, values));
            if (what >= END_AS_WELL) CHECK(cudaEventRecord(whole, stream));
            if (what == END_BEFORE) CHECK(cudaStreamWaitEvent(other, whole, 0));
            CHECK(cudaStreamWaitEvent(other, event, 0));
            if (what == END_AS_WELL) CHECK(cudaStreamWaitEvent(other, whole, 0));
            put_behind((Behind)what, other);
            CHECK(cudaEventRecord(whole, other));
            CHECK(cudaStreamWaitEvent(stream, whole, 0));
            CHECK(cudaStreamEndCapture(stream, &graph));
            show_edges(names[what], graph);
            run(graph);
            CHECK(cudaGraphDestroy(graph));
        }
    }
    CHECK(cudaEventDestroy(event));
    CHECK(cudaEventDestroy(whole));
}

// ---- dependencies of a capture ------------------------------------------------------------------

static void show_dependencies(const char *name, CUstream captured)
{
    CUstreamCaptureStatus status;
    const CUgraphNode *nodes = nullptr;
    const CUgraphEdgeData *data = nullptr;
    size_t count = 0;
    CUresult result =
        cuStreamGetCaptureInfo(captured, &status, nullptr, nullptr, &nodes, &data, &count);
    say(name, result);
    printf("  deps %zu edges %s\n", count, data != nullptr ? "set" : "null");
}

static void dependencies()
{
    CUevent event, back;
    CUgraph graph, out = nullptr;
    CUgraphNode node;
    CUstreamCaptureStatus status;
    const CUgraphNode *nodes;
    size_t count;
    const CUdeviceptr d = (CUdeviceptr)values;
    cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
    cuEventCreate(&back, CU_EVENT_DISABLE_TIMING);
    cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    show_dependencies("begun", stream);
    cuMemsetD8Async(d, 1, 16, stream);
    show_dependencies("one op", stream);
    cuEventRecord(event, stream);
    cuStreamWaitEvent(other, event, 0);
    cuMemsetD8Async(d + 16, 2, 16, other);
    cuMemsetD8Async(d + 32, 3, 16, stream);
    cuEventRecord(back, other);
    cuStreamWaitEvent(stream, back, 0);
    show_dependencies("joined", stream);
    cuStreamGetCaptureInfo(stream, &status, nullptr, &graph, &nodes, nullptr, &count);
    const CUgraphNode both[2] = {nodes[0], nodes[1]};
    cuGraphAddEmptyNode(&node, graph, both, 2);
    say("set dependencies to it",
        cuStreamUpdateCaptureDependencies(stream, &node, nullptr, 1,
                                          CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    show_dependencies("set", stream);
    say("set to none", cuStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0,
                                                         CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    show_dependencies("set to none", stream);
    cuMemsetD8Async(d + 48, 4, 16, stream);
    say("end", cuStreamEndCapture(stream, &out)); // what is behind nothing any more is no mistake
    cuGraphGetRootNodes(out, nullptr, &count);
    printf("roots: %zu\n", count);
    cuGraphDestroy(out);
    // A call that invalidates a capture into a graph takes the graph with it; what is then found at
    // its handle, differs from run to run.
    CUgraphExec exec;
    cuGraphCreate(&graph, 0);
    cuStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0,
                                CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    cuMemsetD8Async(d, 9, 32, stream);
    say("instantiate while captured into", cuGraphInstantiate(&exec, graph, 0));
    say("end", cuStreamEndCapture(stream, &out));
    say("~nodes", cuGraphGetNodes(graph, nullptr, &count));
    cuEventDestroy(event);
    cuEventDestroy(back);
}

int main()
{
    CHECK(cudaMalloc(&values, 128));
    CHECK(cudaMalloc(&sum, 64));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    by_hand();
    serialized();
    events();
    behind_early_events();
    dependencies();
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaStreamDestroy(other));
    CHECK(cudaFree(values));
    CHECK(cudaFree(sum));
    return 0;
}
