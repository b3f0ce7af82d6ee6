// What a kernel's first use holds up while another kernel waits, asked of an H200: lazy loading is
// the default since CUDA 12.2. Each line says whether the call returned while that kernel ran, and
// whether what it asked for ran beside it or only when it had ended. The software device holds up
// nothing, and reports a program that could not go on: the lines where it differs begin with `~`.
//
//     nvcc -std=c++17 -arch=sm_90 -o lazy_loading tests/gpu/lazy_loading.cu -lcuda
//     ./lazy_loading >tests/gpu/lazy_loading.txt
#include "ask.cuh"

#include <cassert>

// It ends by the flag, or after so many looks at page-locked memory, which take some 0.2 s.
__global__ void waits(volatile int *flag)
{
    for (int k = 0; k < 200000 && *flag == 0; k++) {
    }
}
__global__ void other(int *word)
{
    *word = 1;
}
__global__ void third(int *word)
{
    *word = 2;
}
__global__ void of_much_memory(int *word)
{
    volatile int local[16000];
    for (int k = 0; k < 16000; k++) local[k] = k;
    *word = local[*word];
}
__global__ void printing(int *word)
{
    if (*word < 0) printf("%d\n", *word);
}
__global__ void asserting(int *word)
{
    assert(*word >= -100);
}
__global__ void allocating(int *word)
{
    int *own = (int *)malloc(16);
    if (own == NULL) return;
    *own = *word;
    *word = *own;
    free(own);
}
template <int BYTES> __global__ void of_local_memory(int *word)
{
    volatile int local[BYTES / 4];
    for (int k = 0; k < BYTES / 4; k++) local[k] = k;
    *word = local[*word & 1];
}
__device__ int symbol;

static cudaStream_t one, two, three;
static volatile int *flag;
static int *word, *pinned;

static void begin()
{
    Q(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    Q(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    Q(cudaStreamCreateWithFlags(&three, cudaStreamNonBlocking));
    Q(cudaMallocHost((void **)&flag, 4));
    Q(cudaMallocHost((void **)&pinned, 4));
    Q(cudaMalloc(&word, 64));
    Q(cudaMemset(word, 0, 64));
    *flag = 1;
    waits<<<1, 1, 0, one>>>(flag);
    Q(cudaDeviceSynchronize());
    *flag = 0;
}
static void go()
{
    waits<<<1, 1, 0, one>>>(flag);
    Q(cudaGetLastError());
}
static bool waiting()
{
    return cudaStreamQuery(one) == cudaErrorNotReady;
}
// `differs`: the software device's answer is another.
static void seen(const char *what, bool differs, cudaStream_t stream)
{
    const bool returned = waiting();
    while (cudaStreamQuery(stream) == cudaErrorNotReady && waiting()) {
    }
    if (differs) printf("~");
    say("%s: %s, %s", what, returned ? "returns" : "waits", waiting() ? "beside" : "behind");
    *flag = 1;
    Q(cudaDeviceSynchronize());
    *flag = 0;
}
// The last: the call's stream.
#define HELD_UP(call, stream)                                                                      \
    go();                                                                                          \
    Q(call);                                                                                       \
    seen(#call, true, stream)
#define GOES_ON(call, stream)                                                                      \
    go();                                                                                          \
    Q(call);                                                                                       \
    seen(#call, false, stream)

static cudaError_t launch(void (*kernel)(int *), cudaStream_t stream = two)
{
    kernel<<<1, 1, 0, stream>>>(word);
    return cudaGetLastError();
}

SECTION(first_launch)
{
    begin();
    HELD_UP(launch(other), two);
    GOES_ON(launch(other), two);
}
SECTION(attributes_first)
{
    cudaFuncAttributes attributes;
    begin();
    Q(cudaFuncGetAttributes(&attributes, other));
    GOES_ON(launch(other), two);
}
SECTION(attributes_meanwhile)
{
    cudaFuncAttributes attributes;
    begin();
    go();
    Q(cudaFuncGetAttributes(&attributes, other));
    Q(launch(other));
    seen("attributes, then the launch", true, two);
}
SECTION(attribute_set_first)
{
    begin();
    Q(cudaFuncSetAttribute(other, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    GOES_ON(launch(other), two);
}
SECTION(occupancy_first)
{
    int blocks;
    begin();
    Q(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, other, 32, 0));
    GOES_ON(launch(other), two);
}
SECTION(handle_first)
{
    cudaFunction_t function;
    begin();
    Q(cudaGetFuncBySymbol(&function, (const void *)other));
    GOES_ON(launch(other), two);
}
SECTION(kernel_handle_first)
{
    cudaKernel_t kernel;
    begin();
    Q(cudaGetKernel(&kernel, (const void *)other));
    HELD_UP(launch(other), two);
}
SECTION(symbol_first)
{
    void *p;
    begin();
    Q(cudaGetSymbolAddress(&p, symbol));
    HELD_UP(launch(other), two);
}
SECTION(cooperative)
{
    void *arguments[] = {&word};
    begin();
    HELD_UP(cudaLaunchCooperativeKernel((const void *)other, 1, 1, arguments, 0, two), two);
}
// Behind a first launch: whatever it is, in whichever stream.
SECTION(behind_it)
{
    begin();
    Q(launch(third));
    Q(cudaDeviceSynchronize());
    go();
    Q(launch(other));
    Q(launch(third, three));
    seen("a kernel that is loaded, in a third stream", true, three);
}
SECTION(copy_behind_it)
{
    begin();
    go();
    Q(launch(other));
    Q(cudaMemcpyAsync(word, pinned, 4, cudaMemcpyHostToDevice, three));
    seen("a copy in a third stream", true, three);
}
SECTION(memset_behind_it)
{
    begin();
    go();
    Q(launch(other));
    Q(cudaMemsetAsync(word, 0, 4, three));
    seen("a memset in a third stream", true, three);
}
SECTION(just_before)
{
    begin();
    Q(launch(other));
    GOES_ON(launch(other), two);
}
SECTION(memory_calls)
{
    begin();
    GOES_ON(cudaMemsetAsync(word, 1, 4, two), two);
    GOES_ON(cudaMemset2DAsync(word, 16, 1, 3, 2, two), two);
    GOES_ON(cudaMemcpyAsync(word, word + 4, 16, cudaMemcpyDeviceToDevice, two), two);
    GOES_ON(cudaMemcpyAsync(word, pinned, 4, cudaMemcpyHostToDevice, two), two);
    GOES_ON(cudaMemcpyAsync(pinned, word, 4, cudaMemcpyDeviceToHost, two), two);
    GOES_ON(cudaMemcpy2DAsync(word, 8, word + 8, 8, 3, 2, cudaMemcpyDeviceToDevice, two), two);
}
// Two more that wait: local memory, and room for printf, that no kernel has needed so far.
SECTION(local_memory)
{
    cudaFuncAttributes attributes;
    begin();
    Q(cudaFuncGetAttributes(&attributes, of_much_memory));
    HELD_UP(launch(of_much_memory), two);
    GOES_ON(launch(of_much_memory), two);
}
SECTION(local_memory_by_a_limit)
{
    cudaFuncAttributes attributes;
    begin();
    Q(cudaFuncGetAttributes(&attributes, of_much_memory));
    Q(cudaDeviceSetLimit(cudaLimitStackSize, 70000));
    GOES_ON(launch(of_much_memory), two);
}
SECTION(prints)
{
    cudaFuncAttributes attributes;
    begin();
    Q(cudaFuncGetAttributes(&attributes, printing));
    HELD_UP(launch(printing), two);
    GOES_ON(launch(printing), two);
}
// Loaded, launched, and launched again. `differs`: where the first launch is held up.
static void loaded(const char *what, void (*kernel)(int *), bool differs)
{
    cudaFuncAttributes attributes;
    begin();
    Q(cudaFuncGetAttributes(&attributes, kernel));
    go();
    Q(launch(kernel));
    seen(what, differs, two);
    go();
    Q(launch(kernel));
    seen("again", false, two);
}
SECTION(asserts)
{
    loaded("asserts", asserting, true);
}
SECTION(allocates)
{
    loaded("allocates", allocating, true);
}
SECTION(local_2048)
{
    loaded("local_2048", of_local_memory<2048>, false);
}
SECTION(local_4096)
{
    loaded("local_4096", of_local_memory<4096>, true);
}
SECTION(local_4096_eager)
{
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    loaded("local_4096", of_local_memory<4096>, true);
}
SECTION(prints_eager)
{
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    loaded("prints", printing, true);
}
SECTION(graph)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    begin();
    Q(cudaStreamBeginCapture(two, cudaStreamCaptureModeRelaxed));
    Q(launch(other));
    Q(cudaStreamEndCapture(two, &graph));
    Q(cudaGraphInstantiate(&exec, graph, 0));
    GOES_ON(cudaGraphLaunch(exec, two), two);
}
SECTION(graph_meanwhile)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node;
    void *arguments[] = {&word};
    cudaKernelNodeParams params = {};
    begin();
    params.func = (void *)other;
    params.gridDim = params.blockDim = 1;
    params.kernelParams = arguments;
    go();
    Q(cudaGraphCreate(&graph, 0));
    Q(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params));
    Q(cudaGraphInstantiate(&exec, graph, 0));
    Q(cudaGraphLaunch(exec, two));
    seen("a graph of a kernel that is not loaded", true, two);
}
static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry first()\n"
                          "{\n\tret;\n}\n.visible .entry second()\n{\n\tret;\n}\n";
static CUresult launch(CUfunction function)
{
    return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, two, NULL, NULL);
}
SECTION(module)
{
    CUmodule module;
    CUfunction first, second;
    begin();
    Q(cuModuleLoadData(&module, ptx));
    Q(cuModuleGetFunction(&first, module, "first"));
    GOES_ON(launch(first), two);
    go();
    Q(cuModuleGetFunction(&second, module, "second"));
    Q(launch(second));
    seen("cuModuleGetFunction, then the launch", true, two);
}
// The first use of code that is in no module yet waits in the call.
SECTION(library)
{
    CUlibrary library;
    CUkernel first, second;
    begin();
    Q(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    Q(cuLibraryGetKernel(&first, library, "first"));
    Q(cuLibraryGetKernel(&second, library, "second"));
    HELD_UP(launch((CUfunction)first), two);
    GOES_ON(launch((CUfunction)first), two);
    HELD_UP(launch((CUfunction)second), two);
}
SECTION(library_loads_before)
{
    CUlibrary library;
    CUkernel first;
    CUfunction function;
    begin();
    Q(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    Q(cuLibraryGetKernel(&first, library, "first"));
    Q(cuKernelGetFunction(&function, first));
    GOES_ON(launch((CUfunction)first), two);
}
SECTION(eager)
{
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    begin();
    GOES_ON(launch(other), two);
}
