// What graphs, streams and events answer, asked of a GPU through the driver: batches of memory
// operations, events of a context, conditional nodes, kernels' parameters, a stream's attributes.
// Each line is a case and its answer. graph_driver.txt has an H200's.
//
//     nvcc -std=c++17 -arch=sm_90 -o graph_driver tests/gpu/graph_driver.cu -lcuda
//     ./graph_driver > tests/gpu/graph_driver.txt
#include "gpu.cuh"

#include <cstring>
#include <cuda.h>

static CUcontext context;
static CUstream stream, other;
static CUdeviceptr device;

__global__ void nothing() {}

// ---- values in memory ---------------------------------------------------------------------------

// Whether a wait for `value` passes when memory holds `there`; else `last` lets it pass.
static void wait_for(const char *name, unsigned there, unsigned value, unsigned flags,
                     unsigned last)
{
    CUresult result = CUDA_ERROR_NOT_READY;
    cuMemsetD32(device, there, 1);
    cuCtxSynchronize();
    cuStreamWaitValue32(stream, device, value, flags);
    for (int i = 0; i < 100 && result == CUDA_ERROR_NOT_READY; i++) {
        result = cuStreamQuery(stream);
        usleep(100);
    }
    cuStreamWriteValue32(other, device, last, 0);
    cuStreamSynchronize(other);
    cuStreamSynchronize(stream);
    printf("%s: %s\n", name, result == CUDA_SUCCESS ? "passes" : "waits");
}

static void values()
{
    CUdeviceptr managed;
    CUstreamBatchMemOpParams ops[1] = {};
    say("write32", cuStreamWriteValue32(stream, device + 4, 0xdeadbeef, 0));
    say("write32 no barrier",
        cuStreamWriteValue32(stream, device + 8, 5, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
    wait_for("geq 5 of 5", 5, 5, CU_STREAM_WAIT_VALUE_GEQ, 5);
    wait_for("geq 6 of 5", 5, 6, CU_STREAM_WAIT_VALUE_GEQ, 6);
    wait_for("geq 0xffffffff of 1 (cyclic)", 1, 0xffffffffu, CU_STREAM_WAIT_VALUE_GEQ, 1);
    wait_for("eq 7 of 8", 8, 7, CU_STREAM_WAIT_VALUE_EQ, 7);
    wait_for("and 6 of 4", 4, 6, CU_STREAM_WAIT_VALUE_AND, 4);
    wait_for("nor 0x0f of 0xfffffff0", 0xfffffff0u, 0x0f, CU_STREAM_WAIT_VALUE_NOR, 0);
    cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL);
    say("write managed memory", cuStreamWriteValue32(stream, managed, 55, 0));
    cuStreamSynchronize(stream);
    cuMemFree(managed);
    say("batch of 0", cuStreamBatchMemOp(stream, 0, ops, 0));
}

// ---- events -------------------------------------------------------------------------------------

static void events()
{
    CUcontext second;
    CUevent first, event, foreign;
    CUstream far;
    float ms;
    cuEventCreate(&first, 0);
    cuEventCreate(&event, 0);
    say("elapsed null out", cuEventElapsedTime(nullptr, first, event));
    cuEventRecord(first, stream);
    cuStreamSynchronize(stream);
    cuCtxCreate(&second, nullptr, 0, 0);
    cuEventCreate(&foreign, 0);
    cuStreamCreate(&far, 0);
    cuEventRecord(foreign, far);
    cuEventSynchronize(foreign);
    say("elapsed across contexts", cuEventElapsedTime(&ms, first, foreign));
    say("ctx record event", cuCtxRecordEvent(second, foreign));
    say("ctx wait event", cuCtxWaitEvent(second, foreign));
    say("ctx record event, other's", cuCtxRecordEvent(context, foreign));
    say("ctx record null", cuCtxRecordEvent(second, nullptr));
    cuCtxSynchronize();
    cuCtxDestroy(second);
    cuCtxSetCurrent(context);
    cuEventDestroy(first);
    cuEventDestroy(event);
}

// ---- nodes --------------------------------------------------------------------------------------

static void nodes()
{
    CUgraph graph, with_handle;
    CUgraphNode node;
    CUgraphConditionalHandle handle;
    CUkernelNodeAttrValue value;
    cuGraphCreate(&graph, 0);
    cuGraphCreate(&with_handle, 0);
    say("handle null ctx", cuGraphConditionalHandleCreate(&handle, graph, nullptr, 0, 0));
    cuGraphConditionalHandleCreate(&handle, with_handle, context, 0, CU_GRAPH_COND_ASSIGN_DEFAULT);
    CUgraphNodeParams any = {};
    any.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    any.conditional.handle = handle;
    any.conditional.type = CU_GRAPH_COND_TYPE_IF;
    any.conditional.size = 1;
    any.conditional.ctx = context;
    say("add in another graph", cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &any));
    any = {};
    any.type = CU_GRAPH_NODE_TYPE_MEMSET;
    any.memset.dst = device;
    any.memset.elementSize = 4;
    any.memset.width = 4;
    any.memset.height = 1;
    any.memset.ctx = context;
    any.reserved0[1] = 1;
    say("reserved0 set", cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &any));
    any.reserved0[1] = 0;
    any.reserved2 = 1;
    say("reserved2 set", cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &any));

    cudaFunction_t function;
    CHECK(cudaGetFuncBySymbol(&function, (const void *)nothing));
    CUDA_KERNEL_NODE_PARAMS kernel = {}, got;
    kernel.func = function;
    kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = 1;
    kernel.blockDimX = kernel.blockDimY = kernel.blockDimZ = 1;
    cuGraphAddKernelNode(&node, graph, nullptr, 0, &kernel);
    memset(&got, 0xff, sizeof got);
    cuGraphKernelNodeGetParams(node, &got);
    printf("got func %d kern null %d left %d ctx %d\n", got.func == function, got.kern == nullptr,
           got.kern == (CUkernel)(intptr_t)-1, got.ctx == context);
    say("attribute sync policy",
        cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    say("attribute domain map",
        cuGraphKernelNodeGetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &value));
    printf("map %d %d\n", value.memSyncDomainMap.default_, value.memSyncDomainMap.remote);

    CUDA_MEM_ALLOC_NODE_PARAMS memory = {};
    CUmemAccessDesc access = {};
    memory.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    memory.poolProps.location.type = access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    memory.bytesize = 1000;
    memory.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    say("alloc handle type fd", cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &memory));
    memory.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
    memory.accessDescs = &access;
    memory.accessDescCount = 1;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    say("alloc access read", cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &memory));
    cuGraphDestroy(graph);
    cuGraphDestroy(with_handle);
}

// ---- streams ------------------------------------------------------------------------------------

static void attributes()
{
    CUstreamAttrValue value = {};
    value.priority = -2;
    say("set priority", cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_PRIORITY, &value));
    say("copy attributes", cuStreamCopyAttributes(other, stream));
    cuStreamGetAttribute(other, CU_STREAM_ATTRIBUTE_PRIORITY, &value);
    printf("copied priority %d\n", value.priority);
    cuStreamGetAttribute(nullptr, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value);
    printf("null stream: policy %d\n", value.syncPolicy);
    CUstreamCaptureMode mode = (CUstreamCaptureMode)5;
    say("exchange to 5", cuThreadExchangeStreamCaptureMode(&mode));
    cuThreadExchangeStreamCaptureMode(&mode);
}

int main()
{
    CUgraph early;
    cuInit(0);
    say("graph with no context", cuGraphCreate(&early, 0));
    cuGraphDestroy(early);
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    cuMemAlloc(&device, 4096);
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    cuStreamCreateWithPriority(&other, CU_STREAM_NON_BLOCKING, -3);
    values();
    events();
    nodes();
    attributes();
    cuStreamDestroy(stream);
    cuStreamDestroy(other);
    cuMemFree(device);
    cuDevicePrimaryCtxRelease(0);
    return 0;
}
