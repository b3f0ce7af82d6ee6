// Copies and fills, asked of a GPU: where positions of a copy of boxes count elements, fills of a
// graph with values wider than an element, contexts that are left out, levels and arrays that are
// not there, batches of which one element is refused. Each line is a case and its answer.
// copies.txt has an H200's.
//
//     nvcc -std=c++17 -arch=sm_90 -o copies tests/gpu/copies.cu -lcuda
//     ./copies > tests/gpu/copies.txt
#include "gpu.cuh"

#include <cstring>

constexpr int BYTES = 8192;
static unsigned char *device, bytes[BYTES], back[BYTES];
static cudaStream_t stream;

// An x of memory counts elements of the array on the other side.
static void boxes()
{
    cudaArray_t array;
    unsigned hash = 2166136261u;
    const auto four = cudaCreateChannelDesc<float4>();
    CHECK(cudaMalloc3DArray(&array, &four, make_cudaExtent(8, 6, 5)));
    cudaMemcpy3DParms in = {}, out = {};
    in.srcPtr = make_cudaPitchedPtr(bytes, 128, 8, 6);
    in.dstArray = array;
    in.extent = make_cudaExtent(8, 6, 5);
    in.kind = cudaMemcpyHostToDevice;
    say("into an array", cudaMemcpy3D(&in));
    out.srcArray = array;
    out.srcPos = make_cudaPos(2, 1, 1);
    out.dstPtr = make_cudaPitchedPtr(back, 100, 6, 7);
    out.dstPos = make_cudaPos(1, 1, 0);
    out.extent = make_cudaExtent(5, 4, 3);
    out.kind = cudaMemcpyDeviceToHost;
    say("to a position", cudaMemcpy3D(&out));
    for (unsigned char byte : back) hash = (hash ^ byte) * 16777619u;
    printf("copied: %08x, one element further %d\n", hash, back[100 + 16]);
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaMemcpy3DParms kept = {};
    out.dstPtr = make_cudaPitchedPtr(device, 128, 8, 6);
    out.kind = cudaMemcpyDefault;
    CHECK(cudaGraphCreate(&graph, 0));
    say("the same as a node", cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &out));
    CHECK(cudaGraphMemcpyNodeGetParams(node, &kept));
    printf("its position: %zu %zu %zu\n", kept.dstPos.x, kept.dstPos.y, kept.dstPos.z);
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFreeArray(array));
}

// ---- fills of a graph
// ----------------------------------------------------------------------------

static void fill(unsigned value, unsigned element, size_t offset, size_t width, size_t height,
                 size_t pitch)
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    cudaMemsetParams of = {};
    of.dst = device + offset;
    of.value = value;
    of.elementSize = element;
    of.width = width;
    of.height = height;
    of.pitch = pitch;
    CHECK(cudaMemset(device, 0xee, BYTES));
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &of));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(back, device, BYTES, cudaMemcpyDeviceToHost));
    printf("%x in %u bytes at %zu:", value, element, offset);
    for (size_t y = 0; y < height; y++) {
        printf(y > 0 ? ", row" : " row");
        for (size_t i = 0; i < width * element && i < 24; i++)
            printf(" %02x", back[offset + y * pitch + i]);
    }
    printf("\n");
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

static void fills()
{
    const unsigned wide = 0x12345678;
    fill(wide, 2, 4, 10, 1, 0);
    fill(wide, 2, 6, 10, 1, 0);
    fill(wide, 2, 4, 9, 1, 0);
    fill(0xabcd, 1, 4, 10, 1, 0);
    fill(wide, 1, 4, 10, 1, 0);
    fill(wide, 1, 5, 10, 1, 0);
    fill(wide, 1, 6, 10, 1, 0);
    fill(wide, 1, 7, 10, 1, 0);
    fill(wide, 1, 7, 10, 3, 101);
    fill(wide, 2, 6, 10, 3, 102);
    fill(wide, 2, 4, 700, 1, 0);
}

// ---- contexts, levels, arrays
// --------------------------------------------------------------------

static void peers()
{
    CUcontext context;
    const CUdeviceptr p = (CUdeviceptr)device;
    cuCtxGetCurrent(&context);
    say("peer, no context", cuMemcpyPeer(p, nullptr, p + 64, nullptr, 8));
    say("peer, one context", cuMemcpyPeer(p, context, p + 64, nullptr, 8));
    say("peer in a stream", cuMemcpyPeerAsync(p, nullptr, p + 64, nullptr, 8, stream));
    CUDA_MEMCPY3D_PEER box = {};
    box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    box.srcDevice = p;
    box.dstDevice = p + 99;
    box.WidthInBytes = 8;
    box.Height = box.Depth = 1;
    say("box of peers, no context", cuMemcpy3DPeer(&box));
    box.srcLOD = 1;
    say("box of peers, a level of memory", cuMemcpy3DPeer(&box));
    CUDA_MEMCPY3D plain = {};
    plain.srcMemoryType = plain.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    plain.srcDevice = p;
    plain.dstDevice = p + 99;
    plain.WidthInBytes = 8;
    plain.Height = plain.Depth = 1;
    plain.dstLOD = 1;
    say("box, a level of memory", cuMemcpy3D(&plain));
    plain.Depth = 0;
    say("box of nothing, a level of memory", cuMemcpy3D(&plain));
}

static void arrays()
{
    const CUDA_ARRAY3D_DESCRIPTOR of = {8, 6, 4, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0};
    CUarray array;
    if (cuArray3DCreate(&array, &of) != CUDA_SUCCESS) exit(1);
    CUDA_MEMCPY3D box = {};
    box.srcMemoryType = CU_MEMORYTYPE_HOST;
    box.srcHost = bytes;
    box.srcPitch = 40;
    box.srcHeight = 7;
    box.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    box.dstArray = array;
    box.WidthInBytes = 32;
    box.Height = 6;
    box.Depth = 4;
    say("box into an array", cuMemcpy3D(&box));
    box.dstLOD = 1;
    say("box into a level", cuMemcpy3D(&box));
    box.dstLOD = 0;
    box.dstArray = nullptr;
    say("box into no array", cuMemcpy3D(&box));
    say("run of no array", cuMemcpyAtoH(back, nullptr, 0, 8));
    say("run of no bytes of no array", cuMemcpyAtoH(back, nullptr, 0, 0));
    say("run into no array", cuMemcpyDtoA(nullptr, 0, (CUdeviceptr)device, 8));
    cuArrayDestroy(array);
}

// ---- batches
// -------------------------------------------------------------------------------------

static cudaMemcpy3DOperand memory_at(void *at)
{
    cudaMemcpy3DOperand operand = {};
    operand.type = cudaMemcpyOperandTypePointer;
    operand.op.ptr.ptr = at;
    return operand;
}

static void reset(cudaMemcpy3DBatchOp *ops)
{
    memset(ops, 0, 2 * sizeof *ops);
    for (int i = 0; i < 2; i++) {
        ops[i].src = memory_at(bytes);
        ops[i].dst = memory_at(device + i * BYTES / 2);
        ops[i].extent = make_cudaExtent(30, 5, 3);
        ops[i].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    }
}

// Copies two boxes, and counts what has changed.
static void copy(const char *name, cudaMemcpy3DBatchOp *ops)
{
    int changed = 0;
    CHECK(cudaMemset(device, 0xee, BYTES));
    CHECK(cudaDeviceSynchronize());
    say(name, cudaMemcpy3DBatchAsync(2, ops, 0, stream));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(back, device, BYTES, cudaMemcpyDeviceToHost));
    for (unsigned char byte : back) changed += byte != 0xee;
    printf("copied: %d\n", changed);
    reset(ops);
}

static void batches()
{
    cudaMemcpy3DBatchOp ops[2];
    memset(bytes, 1, sizeof bytes);
    reset(ops);
    copy("two boxes", ops);
    ops[1].extent.depth = 0;
    copy("the second without depth", ops);
    ops[1].srcAccessOrder = cudaMemcpySrcAccessOrderInvalid;
    copy("the second in no order", ops);
    ops[1].src.type = (cudaMemcpy3DOperandType)3;
    copy("the second from elsewhere", ops);
    ops[1].flags = 8;
    copy("the second with flags", ops);
    ops[1].dst.op.ptr.ptr = device + BYTES - 96;
    copy("the second beyond the end", ops);
    ops[1].dst.op.ptr.ptr = nullptr;
    copy("the second to nowhere", ops);
    ops[1].dst.op.ptr.rowLength = 9;
    copy("the second with rows too short", ops);
}

static void captured(const char *name, cudaError_t (*batch)())
{
    cudaGraph_t graph = nullptr;
    size_t nodes = 99;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    say(name, batch());
    say("end of the capture", cudaStreamEndCapture(stream, &graph));
    if (graph == nullptr) return;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    printf("nodes: %zu\n", nodes);
    CHECK(cudaGraphDestroy(graph));
}

static void *managed;

static void in_captures()
{
    CHECK(cudaMallocManaged(&managed, 4096));
    captured("copies", [] {
        void *to[] = {device, device + 64}, *from[] = {bytes, bytes + 64};
        size_t sizes[] = {8, 8}, first = 0;
        cudaMemcpyAttributes of = {};
        of.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
        return cudaMemcpyBatchAsync((void *const *)to, (const void *const *)from, sizes, 2, &of,
                                    &first, 1, stream);
    });
    captured("no copies", [] {
        return cudaMemcpyBatchAsync(nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0, stream);
    });
    captured("boxes", [] {
        cudaMemcpy3DBatchOp ops[2];
        reset(ops);
        return cudaMemcpy3DBatchAsync(2, ops, 0, stream);
    });
    captured("discards", [] {
        size_t size = 4096;
        return cudaMemDiscardBatchAsync(&managed, &size, 1, 0, stream);
    });
    captured("a prefetch", [] {
        return cudaMemPrefetchAsync(managed, 4096, {cudaMemLocationTypeHost, 0}, 0, stream);
    });
    CHECK(cudaFree(managed));
}

int main()
{
    CHECK(cudaMalloc(&device, BYTES));
    CHECK(cudaStreamCreate(&stream));
    for (int i = 0; i < BYTES; i++) bytes[i] = (unsigned char)(i * 13 + i / 97);
    boxes();
    fills();
    peers();
    arrays();
    batches();
    in_captures();
    say("end", cudaDeviceSynchronize());
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(device));
    return 0;
}
