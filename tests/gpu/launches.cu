// Launches and kernels, asked of a GPU: which grids say that they can synchronise, which priority a
// captured launch leaves in its node, what of a kernel may be asked and set with no context, and
// what still works behind a fault. Each line is a case and its answer. Lines that begin with ~ are
// of what an H200 keeps of an earlier launch. launches.txt has its answers.
//
//     nvcc -std=c++17 -arch=sm_90 -o launches tests/gpu/launches.cu -lcuda
//     ./launches > tests/gpu/launches.txt
#include "tests/gpu/gpu.cuh"

#include <cooperative_groups.h>
#include <cstring>
#include <string>

static int *device;
static cudaStream_t stream;

__global__ void ask(int *out)
{
    if (blockIdx.x == 0) *out = cooperative_groups::this_grid().is_valid();
}

__global__ void outside(int *p)
{
    *p = 1;
}

// ---- attributes of a launch ---------------------------------------------------------------------

static cudaLaunchConfig_t config(unsigned blocks, cudaLaunchAttribute *attributes, unsigned count)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(1);
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = count;
    return config;
}

static void grid(const char *name, cudaLaunchAttribute *attributes, unsigned count)
{
    int valid = -1;
    cudaLaunchConfig_t how = config(2, attributes, count);
    CHECK(cudaMemset(device, 0xff, 64));
    CHECK(cudaDeviceSynchronize());
    say(name, cudaLaunchKernelEx(&how, ask, device));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&valid, device, sizeof valid, cudaMemcpyDefault));
    printf("%sgrid is valid: %d\n", name[0] == '~' ? "~" : "", valid);
}

static void captured(const char *name, cudaLaunchAttribute *attributes, unsigned count)
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    size_t nodes = 1;
    cudaLaunchAttributeValue value = {};
    cudaLaunchConfig_t how = config(1, attributes, count);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    say(name, cudaLaunchKernelEx(&how, ask, device));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphGetNodes(graph, &node, &nodes));
    CHECK(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributePriority, &value));
    printf("the node's priority: %d\n", value.priority);
    CHECK(cudaGraphDestroy(graph));
}

static void attributes()
{
    cudaLaunchAttribute of = {};
    of.id = cudaLaunchAttributeCooperative;
    of.val.cooperative = 0;
    grid("cooperative 0", &of, 1);
    grid("no attribute", nullptr, 0);
    of.val.cooperative = 1;
    grid("cooperative", &of, 1);
    of.val.cooperative = 0;
    grid("~cooperative 0 behind a cooperative one", &of, 1);
    grid("~no attribute behind a cooperative one", nullptr, 0);
    captured("captured", nullptr, 0);
    for (int priority : {0, -2, -5, -6, -99, 1, 7}) {
        const std::string name = "captured with priority " + std::to_string(priority);
        of = {};
        of.id = cudaLaunchAttributePriority;
        of.val.priority = priority;
        captured(name.c_str(), &of, 1);
    }
}

// ---- a kernel and no context --------------------------------------------------------------------

static const char code[] = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry kernel(.param .u64 p, .param .u32 n) { ret; }
.visible .entry bound() .maxntid 64, 1, 1
{
    .shared .align 4 .b8 room[256];
    .reg .b32 %r;
    mov.u32 %r, room;
    st.shared.u32 [%r], %r;
    ret;
}
)";

static void value_of(const char *name, CUkernel kernel, int attribute)
{
    int value = -7;
    say(name, cuKernelGetAttribute(&value, (CUfunction_attribute)attribute, kernel, 0));
    printf("is %d\n", value);
}

static void with_no_context()
{
    const CUfunction_attribute dynamic = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    CUlibrary library;
    CUkernel kernel, bound;
    CUfunction function;
    CUcontext context;
    int value;
    size_t offset = 77, size = 77;
    NEED(cuLibraryLoadData(&library, code, nullptr, nullptr, 0, nullptr, nullptr, 0));
    NEED(cuLibraryGetKernel(&kernel, library, "kernel"));
    NEED(cuLibraryGetKernel(&bound, library, "bound"));
    value_of("threads", bound, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    value_of("shared", bound, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    value_of("binary version", kernel, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
    value_of("dynamic", kernel, dynamic);
    value_of("dynamic beside static", bound, dynamic);
    value_of("attribute 99", kernel, 99);
    say("parameter", cuKernelGetParamInfo(kernel, 1, &offset, &size));
    printf("at %zu, %zu bytes\n", offset, size);
    say("set", cuKernelSetAttribute(dynamic, 100000, kernel, 0));
    value_of("dynamic then", kernel, dynamic);
    say("set too much", cuKernelSetAttribute(dynamic, 300000, kernel, 0));
    say("set registers", cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_NUM_REGS, 3, kernel, 0));
    say("set for device 99", cuKernelSetAttribute(dynamic, 1, kernel, 99));
    say("function", cuKernelGetFunction(&function, kernel));
    NEED(cuCtxCreate(&context, nullptr, 0, 0));
    NEED(cuKernelGetFunction(&function, kernel));
    NEED(cuFuncGetAttribute(&value, dynamic, function));
    printf("the function's in a context: %d\n", value);
    NEED(cuCtxDestroy(context));
    value_of("dynamic behind it", kernel, dynamic);
    NEED(cuLibraryUnload(library));
}

// ---- copies of nothing
// ---------------------------------------------------------------------------

static void copies_of_nothing()
{
    cudaGraph_t graph;
    cudaStream_t ended;
    size_t nodes = 0;
    int number = 3, *const nowhere = (int *)16;
    CHECK(cudaStreamCreate(&ended));
    CHECK(cudaStreamDestroy(ended));
    say("0 bytes from null to null", cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDeviceToDevice));
    say("0 bytes of kind 9", cudaMemcpy(device, &number, 0, (cudaMemcpyKind)9));
    say("0 bytes to nowhere", cudaMemcpy(nowhere, &number, 0, cudaMemcpyHostToDevice));
    say("0 bytes from the wrong side", cudaMemcpy(device, device, 0, cudaMemcpyHostToDevice));
    say("0 bytes of kind 9 in a stream",
        cudaMemcpyAsync(device, &number, 0, (cudaMemcpyKind)9, stream));
    say("0 bytes in a stream that is gone",
        cudaMemcpyAsync(device, &number, 0, cudaMemcpyHostToDevice, ended));
    say("fill of 0 bytes of nothing", cudaMemset(nullptr, 0, 0));
    say("fill of 0 bytes of nowhere", cudaMemset(nowhere, 0, 0));
    say("fill of 0 bytes in a stream that is gone", cudaMemsetAsync(device, 0, 0, ended));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    say("captured copy of 0 bytes",
        cudaMemcpyAsync(device, &number, 0, cudaMemcpyHostToDevice, stream));
    say("captured fill of 0 bytes", cudaMemsetAsync(device, 0, 0, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    printf("nodes: %zu\n", nodes);
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    say("copy of 0 bytes beside a capture", cudaMemcpy(device, &number, 0, cudaMemcpyHostToDevice));
    say("the capture's end", cudaStreamEndCapture(stream, &graph));
    if (graph != nullptr) CHECK(cudaGraphDestroy(graph));
}

// ---- behind a fault -----------------------------------------------------------------------------

static void behind_a_fault()
{
    int number = 3, kind = -7;
    outside<<<1, 1>>>((int *)16);
    say("fault", cudaDeviceSynchronize());
    say("copy of 0 bytes", cudaMemcpy(device, &number, 0, cudaMemcpyHostToDevice));
    say("copy of 0 bytes of any kind", cudaMemcpy(device, &number, 0, cudaMemcpyDefault));
    say("copy of 0 bytes in a stream",
        cudaMemcpyAsync(device, &number, 0, cudaMemcpyHostToDevice, stream));
    say("copy of 4 bytes", cudaMemcpy(device, &number, 4, cudaMemcpyHostToDevice));
    say("copy on the host", cudaMemcpy(&kind, &number, 4, cudaMemcpyHostToHost));
    say("fill of 0 bytes", cudaMemset(device, 0, 0));
    say("driver: copy of 0 bytes", cuMemcpyHtoD((CUdeviceptr)device, &number, 0));
    say("driver: fill of 0 bytes", cuMemsetD8((CUdeviceptr)device, 0, 0));
    say("memory type",
        cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)device));
    printf("is %d\n", kind);
    CUdeviceptr start = 0;
    say("range",
        cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, (CUdeviceptr)device));
    printf("is right: %d\n", start == (CUdeviceptr)device);
    cudaPointerAttributes of = {};
    say("runtime: attributes", cudaPointerGetAttributes(&of, device));
}

int main()
{
    NEED(cuInit(0));
    with_no_context();
    CHECK(cudaMalloc(&device, 64));
    CHECK(cudaStreamCreate(&stream));
    attributes();
    copies_of_nothing();
    behind_a_fault();
    return 0;
}
