// What outlasts what, asked of a GPU: managed variables and cudaDeviceReset, managed variables of
// libraries without a context, graphs that are instantiated while a capture adds to them, and PTX
// that is compiled for another target. lasting.txt has an H200's answers.
//
//     nvcc -std=c++17 -arch=sm_90 -o lasting tests/gpu/lasting.cu -lcuda
//     ./lasting > tests/gpu/lasting.txt
#include "ask.cuh"

__managed__ int kept = 9;
__managed__ int table[4] = {1, 2, 3, 4};
__device__ int plain = 5;

__global__ void add_one()
{
    kept++;
    table[3]++;
    plain++;
}

static int plain_value()
{
    int value = -1;
    A(cudaMemcpyFromSymbol(&value, plain, sizeof value));
    return value;
}

SECTION(reset)
{
    V(kept);
    add_one<<<1, 1>>>();
    A(cudaDeviceSynchronize());
    V(kept);
    V(plain_value());
    kept = 40;
    void *before, *after;
    Q(cudaGetSymbolAddress(&before, kept));
    A(cudaDeviceReset());
    V(kept);
    A(cudaFree(0));
    V(kept);
    V(table[3]);
    Q(cudaGetSymbolAddress(&after, kept));
    V(before == after);
    add_one<<<1, 1>>>();
    A(cudaDeviceSynchronize());
    V(kept);
    V(table[3]);
    V(plain_value());
}

SECTION(reset_written_between)
{
    add_one<<<1, 1>>>();
    Q(cudaDeviceSynchronize());
    Q(cudaDeviceReset());
    kept = 77;
    table[3] = 78;
    add_one<<<1, 1>>>();
    A(cudaDeviceSynchronize());
    V(kept);
    V(table[3]);
    Q(cudaDeviceReset());
    V(kept);
    Q(cudaDeviceReset());
    add_one<<<1, 1>>>();
    Q(cudaDeviceSynchronize());
    V(kept);
}

SECTION(reset_by_the_driver)
{
    CUdevice device;
    add_one<<<1, 1>>>();
    Q(cudaDeviceSynchronize());
    Q(cuDeviceGet(&device, 0));
    kept = 50;
    D(cuDevicePrimaryCtxReset(device));
    V(kept);
    add_one<<<1, 1>>>();
    A(cudaDeviceSynchronize());
    V(kept);
    V(table[3]);
}

static const char with_managed[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
                                   ".visible .global .attribute(.managed) .align 4 .u32 m = 31;\n"
                                   ".visible .global .align 4 .u32 g = 32;\n"
                                   ".visible .entry k()\n{\n.reg .u32 %r<2>;\n"
                                   "ld.global.u32 %r1, [m];\nadd.u32 %r1, %r1, 1;\n"
                                   "st.global.u32 [m], %r1;\nret;\n}\n";

static const char for_90[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                             ".visible .entry k()\n{\nret;\n}\n";

SECTION(library)
{
    CUlibrary library;
    CUdeviceptr address = 0, again = 0;
    CUcontext context, other;
    CUdevice device;
    CUkernel kernel;
    size_t bytes = 0;
    Q(cuInit(0));
    Q(cuDeviceGet(&device, 0));
    D(cuLibraryLoadData(&library, with_managed, nullptr, nullptr, 0, nullptr, nullptr, 0));
    D(cuLibraryGetManaged(&address, &bytes, library, "m"));
    V(address != 0);
    V(bytes);
    D(cuLibraryGetManaged(&address, &bytes, library, "g"));
    D(cuLibraryGetManaged(&address, &bytes, library, "none"));
    D(cuLibraryGetGlobal(&again, &bytes, library, "g"));
    if (address != 0) V(*(int *)address);
    Q(cuCtxCreate(&context, nullptr, 0, device));
    D(cuLibraryGetManaged(&again, &bytes, library, "m"));
    V(address == again);
    V(*(int *)again);
    Q(cuLibraryGetKernel(&kernel, library, "k"));
    D(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
    D(cuCtxSynchronize());
    V(*(int *)again);
    Q(cuCtxCreate(&other, nullptr, 0, device));
    D(cuLibraryGetManaged(&again, &bytes, library, "m"));
    V(address == again);
    V(*(int *)again);
    D(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
    D(cuCtxSynchronize());
    V(*(int *)again);
    D(cuCtxDestroy(other));
    V(*(int *)address);
    D(cuCtxDestroy(context));
    V(*(int *)address);
    D(cuLibraryGetManaged(&again, &bytes, library, "m"));
    V(address == again);
    D(cuLibraryUnload(library));
}

SECTION(module)
{
    CUmodule module;
    CUcontext context;
    CUdevice device;
    CUdeviceptr address;
    size_t bytes;
    Q(cuInit(0));
    Q(cuDeviceGet(&device, 0));
    Q(cuCtxCreate(&context, nullptr, 0, device));
    D(cuModuleLoadData(&module, with_managed));
    D(cuModuleGetGlobal(&address, &bytes, module, "m"));
    V(*(int *)address);
}

static void show_graph(const char *name, cudaGraph_t graph)
{
    size_t nodes = 99;
    const cudaError_t error = cudaGraphGetNodes(graph, nullptr, &nodes);
    say("%s: %s, %zu nodes", name, cudaGetErrorName(error), nodes);
}

SECTION(instantiate_while_capturing)
{
    cudaStream_t stream;
    cudaGraph_t graph, ended, clone;
    cudaGraphExec_t executable = nullptr, later = nullptr;
    cudaStreamCaptureStatus status;
    int *data;
    Q(cudaMalloc(&data, 64));
    Q(cudaStreamCreate(&stream));
    Q(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    Q(cudaMemsetAsync(data, 1, 4, stream));
    Q(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, nullptr, nullptr, nullptr));
    show_graph("begun", graph);
    A(cudaGraphInstantiate(&executable, graph, 0));
    if (executable != nullptr) {
        cudaStream_t beside;
        Q(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking));
        A(cudaGraphLaunch(executable, beside));
        A(cudaStreamSynchronize(beside));
    }
    A(cudaGraphClone(&clone, graph));
    A(cudaGraphDestroy(graph));
    Q(cudaMemsetAsync(data + 1, 2, 4, stream));
    cudaGraphExecUpdateResultInfo info;
    if (executable != nullptr) A(cudaGraphExecUpdate(executable, graph, &info));
    A(cudaStreamEndCapture(stream, &ended));
    V(ended == graph);
    show_graph("ended", ended);
    A(cudaGraphInstantiate(&later, ended, 0));
    A(cudaGraphLaunch(later, stream));
    A(cudaStreamSynchronize(stream));
    int values[2] = {};
    Q(cudaMemcpy(values, data, 8, cudaMemcpyDeviceToHost));
    V(values[0]);
    V(values[1]);
}

SECTION(instantiate_while_capturing_to_it)
{
    cudaStream_t stream;
    cudaGraph_t graph, ended, outer;
    cudaGraphNode_t node;
    cudaGraphExec_t executable = nullptr;
    int *data;
    Q(cudaMalloc(&data, 64));
    Q(cudaStreamCreate(&stream));
    Q(cudaGraphCreate(&graph, 0));
    Q(cudaGraphCreate(&outer, 0));
    Q(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0,
                                    cudaStreamCaptureModeRelaxed));
    A(cudaGraphInstantiate(&executable, graph, 0));
    Q(cudaMemsetAsync(data, 1, 4, stream));
    A(cudaGraphInstantiate(&executable, graph, 0));
    A(cudaGraphAddChildGraphNode(&node, outer, nullptr, 0, graph));
    A(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
    show_graph("added to", graph);
    A(cudaStreamEndCapture(stream, &ended));
    show_graph("ended", ended);
}

static void compile(const char *name, const char *text, unsigned target)
{
    CUmodule module = nullptr;
    CUjit_option options[] = {CU_JIT_TARGET};
    void *values[] = {(void *)(uintptr_t)target};
    const CUresult loaded = cuModuleLoadDataEx(&module, text, 1, options, values);
    say("%s for %u: load %s", name, target, name_of(loaded));
    if (loaded == CUDA_SUCCESS) {
        CUfunction function;
        int binary = 0, ptx = 0;
        Q(cuModuleGetFunction(&function, module, "k"));
        Q(cuFuncGetAttribute(&binary, CU_FUNC_ATTRIBUTE_BINARY_VERSION, function));
        Q(cuFuncGetAttribute(&ptx, CU_FUNC_ATTRIBUTE_PTX_VERSION, function));
        say("%s for %u: binary %d, PTX %d", name, target, binary, ptx);
        DL("launch", cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
        DL("wait", cuCtxSynchronize());
        Q(cuModuleUnload(module));
    }
    CUlinkState state;
    void *image = nullptr;
    size_t size = 0;
    const CUresult made = cuLinkCreate(1, options, values, &state);
    say("%s for %u: link %s", name, target, name_of(made));
    if (made != CUDA_SUCCESS) return;
    const CUresult added = cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)text, strlen(text) + 1,
                                         "k.ptx", 0, nullptr, nullptr);
    say("%s for %u: add %s", name, target, name_of(added));
    if (added == CUDA_SUCCESS) {
        const CUresult completed = cuLinkComplete(state, &image, &size);
        const bool elsewhere = loaded != CUDA_SUCCESS; // where the device links nothing for others
        const char *aside = elsewhere ? "~ " : "";
        printf("%s%s| %s for %u: complete %s\n", aside, section, name, target, name_of(completed));
        if (completed == CUDA_SUCCESS)
            printf("%s%s| load linked: %s\n", aside, section,
                   name_of(cuModuleLoadData(&module, image)));
    }
    Q(cuLinkDestroy(state));
}

SECTION(target)
{
    CUcontext context;
    CUdevice device;
    Q(cuInit(0));
    Q(cuDeviceGet(&device, 0));
    Q(cuCtxCreate(&context, nullptr, 0, device));
    for (const unsigned target : {0u, 50u, 70u, 72u, 75u, 80u, 86u, 87u, 89u, 90u, 100u, 103u, 120u,
                                  121u, 91u, 999u, 7500u, 65536u + 90u}) {
        compile("75", with_managed, target);
        compile("90", for_90, target);
    }
}
