// What graphs answer, asked of a GPU through the runtime: updates, user objects, flags, memory,
// printing, and what calls become when they are captured. Each line is a case and its answer.
// graph_answers.txt has an H200's.
//
//     nvcc -std=c++17 -arch=sm_90 -o graph_answers tests/gpu/graph_answers.cu
//     ./graph_answers > tests/gpu/graph_answers.txt
#include "../temporary.h"
#include "gpu.cuh"

#include <atomic>
#include <cstring>
#include <string>

static int *device, *pinned;
static cudaStream_t stream;
static std::atomic<int> gone[8];

__managed__ long long managed[3] = {10, 20, 30};

__global__ void nothing() {}

static cudaGraphNode_t kernel_node(cudaGraph_t graph)
{
    cudaGraphNode_t node;
    cudaKernelNodeParams params = {};
    params.func = (void *)nothing;
    params.gridDim = params.blockDim = dim3(1);
    CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    return node;
}

// ---- updates ------------------------------------------------------------------------------------

static void updates()
{
    cudaGraph_t from, to, small, large;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    CHECK(cudaGraphCreate(&from, 0));
    CHECK(cudaGraphCreate(&to, 0));
    CHECK(cudaGraphAddMemcpyNode1D(&node, from, nullptr, 0, device + 64, device, 16,
                                   cudaMemcpyDefault));
    CHECK(cudaGraphAddMemcpyNode1D(&node, to, nullptr, 0, pinned, device, 16, cudaMemcpyDefault));
    CHECK(cudaGraphInstantiate(&exec, from, 0));
    say("copy destination kind", cudaGraphExecUpdate(exec, to, &info));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(from));
    CHECK(cudaGraphDestroy(to));

    CHECK(cudaGraphCreate(&from, 0));
    CHECK(cudaGraphCreate(&small, 0));
    CHECK(cudaGraphCreate(&large, 0));
    kernel_node(small);
    kernel_node(large);
    kernel_node(large);
    CHECK(cudaGraphAddChildGraphNode(&node, from, nullptr, 0, small));
    CHECK(cudaGraphInstantiate(&exec, from, 0));
    say("exec child set params topology differs",
        cudaGraphExecChildGraphNodeSetParams(exec, node, large));
    say("exec child set params same topology",
        cudaGraphExecChildGraphNodeSetParams(exec, node, small));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(from));
    CHECK(cudaGraphDestroy(small));
    CHECK(cudaGraphDestroy(large));
}

// ---- user objects -------------------------------------------------------------------------------

static void destroy(void *argument)
{
    gone[(intptr_t)argument]++;
}

static int wait_for(int object)
{
    for (int i = 0; i < 1500 && gone[object] == 0; i++) usleep(1000);
    return gone[object];
}

static void user_objects()
{
    cudaUserObject_t object;
    cudaGraph_t graphs[2];
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    say("refcount 2^31", cudaUserObjectCreate(&object, nullptr, destroy, 0x80000000u,
                                              cudaUserObjectNoDestructorSync));
    for (intptr_t i = 0; i < 2; i++) {
        CHECK(cudaGraphCreate(&graphs[i], 0));
        kernel_node(graphs[i]);
        CHECK(cudaUserObjectCreate(&object, (void *)(4 + i), destroy, 1,
                                   cudaUserObjectNoDestructorSync));
        CHECK(cudaGraphRetainUserObject(graphs[i], object, 1, cudaGraphUserObjectMove));
    }
    CHECK(cudaGraphInstantiate(&exec, graphs[0], 0));
    CHECK(cudaGraphDestroy(graphs[0]));
    say("update", cudaGraphExecUpdate(exec, graphs[1], &info));
    CHECK(cudaGraphDestroy(graphs[1]));
    usleep(30000);
    printf("new object kept: %d\n", gone[5] == 0);
    printf("old object gone after update: %d\n", wait_for(4));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaDeviceSynchronize());
    printf("new object gone: %d, old total: %d\n", wait_for(5), gone[4].load());
}

// ---- flags --------------------------------------------------------------------------------------

static void nothing_of_the_host(void *) {}

static void flags()
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaHostNodeParams host = {nothing_of_the_host, nullptr};
    CHECK(cudaGraphCreate(&graph, 0));
    kernel_node(graph);
    CHECK(cudaGraphAddHostNode(&node, graph, nullptr, 0, &host));
    for (unsigned long long asked : {0, 1, 2, 4, 8, 9, 16}) {
        cudaGraphExec_t exec = nullptr;
        unsigned long long read = 99;
        cudaError_t error = cudaGraphInstantiate(&exec, graph, asked);
        if (error == cudaSuccess) {
            CHECK(cudaGraphExecGetFlags(exec, &read));
            CHECK(cudaGraphExecDestroy(exec));
        }
        cudaGraphInstantiateParams params = {};
        params.flags = asked;
        cudaError_t other = cudaGraphInstantiateWithParams(&exec, graph, &params);
        if (other == cudaSuccess) CHECK(cudaGraphExecDestroy(exec));
        printf("flags %llu: %s reads %llu; with params %s result %d node %d\n", asked,
               cudaGetErrorName(error), read, cudaGetErrorName(other), params.result_out,
               params.errNode_out != nullptr);
        cudaGetLastError();
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphDestroy(graph));
}

// ---- memory -------------------------------------------------------------------------------------

static void show_memory(const char *name)
{
    unsigned long long used, used_high, reserved, reserved_high;
    CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
    CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &used_high));
    CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &reserved));
    CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemHigh, &reserved_high));
    printf("%s: used>0 %d, usedHigh>0 %d, reserved>0 %d, reservedHigh>0 %d\n", name, used > 0,
           used_high > 0, reserved > 0, reserved_high > 0);
}

static void memory()
{
    cudaGraph_t graph;
    cudaGraphNode_t node, release;
    cudaGraphExec_t exec;
    cudaMemAllocNodeParams params = {};
    params.poolProps.allocType = cudaMemAllocationTypePinned;
    params.poolProps.location.type = cudaMemLocationTypeDevice;
    params.bytesize = 1000;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, &params));
    CHECK(cudaGraphAddMemFreeNode(&release, graph, &node, 1, params.dptr));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    show_memory("instantiated");
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    show_memory("after launches");
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaDeviceGraphMemTrim(0));
    show_memory("trimmed");
    void *p;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMallocAsync(&p, 128, stream));
    say("captured free", cudaFreeAsync(p, stream));
    say("captured free twice", cudaFreeAsync(p, stream));
    say("end", cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphDestroy(graph));
}

// ---- printing -----------------------------------------------------------------------------------

// Counts the lines that begin with a node's name, with an arrow or without, and the clusters.
static void print(const char *name, cudaGraph_t graph)
{
    static const char *const path = temporary_file();
    char line[512];
    int nodes = 0, edges = 0, clusters = 0;
    cudaError_t error = cudaGraphDebugDotPrint(graph, path, 0);
    FILE *dot = fopen(path, "r");
    while (fgets(line, sizeof line, dot) != nullptr) {
        clusters += strstr(line, "subgraph cluster") != nullptr;
        if (strncmp(line, "\"graph_", 7) != 0) continue;
        if (strstr(line, "\" -> \"") != nullptr)
            edges++;
        else
            nodes += strstr(line, "\"[") != nullptr;
    }
    fclose(dot);
    printf("%s: %s dot nodes %d edges %d clusters %d\n", name, cudaGetErrorName(error), nodes,
           edges, clusters);
}

static void printing()
{
    cudaGraph_t outer, middle, inner;
    cudaGraphNode_t a, b;
    CHECK(cudaGraphCreate(&outer, 0));
    CHECK(cudaGraphCreate(&middle, 0));
    CHECK(cudaGraphCreate(&inner, 0));
    print("empty", outer);
    CHECK(cudaGraphAddEmptyNode(&a, inner, nullptr, 0));
    CHECK(cudaGraphAddEmptyNode(&b, inner, &a, 1));
    CHECK(cudaGraphAddChildGraphNode(&a, middle, nullptr, 0, inner));
    CHECK(cudaGraphAddChildGraphNode(&b, middle, &a, 1, inner));
    CHECK(cudaGraphAddEmptyNode(&a, outer, nullptr, 0));
    CHECK(cudaGraphAddChildGraphNode(&b, outer, &a, 1, middle));
    print("nested", outer);
    print("nested child", middle);
    print("leaf", inner);
    CHECK(cudaGraphDestroy(outer));
    CHECK(cudaGraphDestroy(middle));
    CHECK(cudaGraphDestroy(inner));
}

// ---- captures -----------------------------------------------------------------------------------

static void captures()
{
    cudaGraph_t graph = nullptr;
    cudaEvent_t event;
    size_t count;
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    void *to[2] = {device, device + 100};
    const void *from[2] = {pinned, pinned + 3};
    size_t sizes[2] = {50, 31}, first = 0;
    cudaMemcpyAttributes attributes = {};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    say("captured batch", cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, stream));
    CHECK(cudaEventRecord(event, stream));
    say("end", cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphGetNodes(graph, nullptr, &count));
    printf("nodes %zu\n", count);
    CHECK(cudaGraphDestroy(graph));
    // The event is still one of the capture that has ended.
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    say("external record", cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal));
    say("external wait", cudaStreamWaitEvent(stream, event, cudaEventWaitExternal));
    say("end", cudaStreamEndCapture(stream, &graph));
    CHECK(cudaEventDestroy(event));
}

static void batch_of_boxes()
{
    unsigned char bytes[64];
    cudaMemcpy3DBatchOp ops[2] = {};
    CHECK(cudaMemset(device, 0xee, 64));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 2; i++) {
        ops[i].src.type = ops[i].dst.type = cudaMemcpyOperandTypePointer;
        ops[i].src.op.ptr.ptr = pinned;
        ops[i].dst.op.ptr.ptr = device;
        ops[i].extent = make_cudaExtent(8, 2, i == 0);
        ops[i].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    }
    say("3d depth 0", cudaMemcpy3DBatchAsync(2, ops, 0, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(bytes, device, sizeof bytes, cudaMemcpyDeviceToHost));
    int changed = 0;
    for (unsigned char byte : bytes) changed += byte != 0xee;
    printf("changed %d\n", changed);
}

static void symbols()
{
    void *address;
    size_t size = 0;
    long long read[3], five = 5;
    say("address of a managed variable", cudaGetSymbolAddress(&address, managed));
    say("size of a managed variable", cudaGetSymbolSize(&size, managed));
    printf("size %zu\n", size);
    managed[1] = 77;
    CHECK(cudaMemcpyFromSymbol(read, managed, sizeof read));
    printf("managed %lld %lld %lld\n", read[0], read[1], read[2]);
    say("to managed symbol", cudaMemcpyToSymbol(managed, &five, sizeof five, 16));
    CHECK(cudaDeviceSynchronize());
    printf("managed on host %lld\n", managed[2]);
}

int main()
{
    CHECK(cudaMalloc(&device, 1024));
    CHECK(cudaMallocHost(&pinned, 256));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    memset(pinned, 0, 256);
    updates();
    user_objects();
    flags();
    memory();
    printing();
    captures();
    batch_of_boxes();
    symbols();
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(device));
    return 0;
}
