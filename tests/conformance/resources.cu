// What is answered when something runs out or is too large, when an image is no image, and when the
// environment takes the device away. Each question is asked in a process of its own, because some
// answers stay with the process.
//
// resources.golden is what an NVIDIA H100 (driver 580, CUDA 13.0) printed; CTest compares the
// software device's answers with it, line by line. To ask a GPU again, on a machine that has one:
//
//     nvcc -cudart shared -gencode arch=compute_75,code=compute_75 resources.cu -o resources -lcuda
//     ./resources >resources.golden
//
// Left out are two images that a GPU's driver treats otherwise: one with an instruction that nobody
// knows (a GPU refuses the module; the device names the instruction when a kernel comes to it) and
// one with an .extern variable that is used and never defined (a GPU loads it).
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

static void show(const char *call, cudaError_t answer)
{
    std::printf("  %s\n    %s\n", call, cudaGetErrorName(answer));
}

static void show(const char *call, CUresult answer)
{
    const char *name = "?";
    cuGetErrorName(answer, &name);
    std::printf("  %s\n    %s\n", call, name);
}

#define ASK(call) show(#call, call)

// ---- the stack ---------------------------------------------------------------------------------

__device__ __noinline__ int deep(int depth, int *out)
{
    volatile int room[16];
    if (depth == 0) return 0;
    room[depth & 15] = depth;
    int below = deep(depth - 1, out);
    return room[depth & 15] + below + out[0];
}

__global__ void recurse(int depth, int *out)
{
    out[1] = deep(depth, out);
}

static int *buffer()
{
    int *device = nullptr;
    cudaMalloc(&device, 1024);
    cudaMemset(device, 0, 1024);
    return device;
}

static void recursion_that_fits()
{
    int *out = buffer();
    recurse<<<1, 32>>>(4, out);
    ASK(cudaGetLastError());
    ASK(cudaDeviceSynchronize());
}

static void recursion_without_end()
{
    int *out = buffer();
    recurse<<<1, 32>>>(10000000, out);
    ASK(cudaGetLastError());
    ASK(cudaDeviceSynchronize());
    ASK(cudaGetLastError());
}

static void recursion_after_a_larger_stack()
{
    size_t size = 0;
    ASK(cudaDeviceGetLimit(&size, cudaLimitStackSize));
    std::printf("    %zu\n", size);
    ASK(cudaDeviceSetLimit(cudaLimitStackSize, 64 << 10));
    ASK(cudaDeviceGetLimit(&size, cudaLimitStackSize));
    std::printf("    %zu\n", size);
    int *out = buffer();
    recurse<<<1, 32>>>(300, out);
    ASK(cudaDeviceSynchronize());
    ASK(cudaDeviceSetLimit(cudaLimitStackSize, 1 << 30));
    ASK(cudaDeviceSetLimit(cudaLimitStackSize, 0));
    ASK(cudaDeviceGetLimit(&size, cudaLimitStackSize));
    std::printf("    %zu\n", size);
}

// ---- malloc in kernels -------------------------------------------------------------------------

__global__ void take(size_t bytes, int times, int *got)
{
    for (int i = 0; i < times; i++) got[i] = malloc(bytes) != nullptr;
}

static void heap_used_up()
{
    int *got = buffer(), host[64];
    size_t size = 0;
    ASK(cudaDeviceGetLimit(&size, cudaLimitMallocHeapSize));
    std::printf("    %zu\n", size);
    take<<<1, 1>>>(1 << 20, 64, got);
    ASK(cudaMemcpy(host, got, sizeof host, cudaMemcpyDeviceToHost));
    std::printf("    the first %s, the last %s\n", host[0] ? "given" : "refused",
                host[63] ? "given" : "refused");
    take<<<1, 1>>>(1ull << 40, 1, got);
    ASK(cudaMemcpy(host, got, sizeof host, cudaMemcpyDeviceToHost));
    std::printf("    2^40 bytes %s\n", host[0] ? "given" : "refused");
    take<<<1, 1>>>(0, 1, got);
    ASK(cudaMemcpy(host, got, sizeof host, cudaMemcpyDeviceToHost));
    std::printf("    0 bytes %s\n", host[0] ? "given" : "refused");
    ASK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
    ASK(cudaGetLastError());
}

static void heap_made_larger()
{
    size_t size = 0;
    ASK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 100 << 20));
    ASK(cudaDeviceGetLimit(&size, cudaLimitMallocHeapSize));
    std::printf("    at least what was asked for: %d\n", size >= 100u << 20);
    int *got = buffer(), host[64];
    take<<<1, 1>>>(1 << 20, 64, got);
    ASK(cudaMemcpy(host, got, sizeof host, cudaMemcpyDeviceToHost));
    std::printf("    the first %s, the last %s\n", host[0] ? "given" : "refused",
                host[63] ? "given" : "refused");
}

// ---- device memory -----------------------------------------------------------------------------

static void memory_used_up()
{
    void *p = nullptr;
    size_t free_bytes = 0, total = 0;
    ASK(cudaMemGetInfo(&free_bytes, &total));
    ASK(cudaMalloc(&p, 1ull << 50));
    ASK(cudaGetLastError());
    ASK(cudaMalloc(&p, SIZE_MAX));
    ASK(cudaMalloc(&p, SIZE_MAX - 511));
    ASK(cudaMalloc(&p, total + 1));
    ASK(cudaMallocManaged(&p, 1ull << 50));
    ASK(cudaMallocHost(&p, 1ull << 60));
    ASK(cudaMallocAsync(&p, 1ull << 50, nullptr));
    ASK(cudaMallocPitch(&p, &total, SIZE_MAX / 2, 4));
    ASK(cudaGetLastError());
    CUdeviceptr device = 0;
    ASK(cuMemAlloc(&device, 1ull << 50));
    ASK(cudaMalloc(&p, 1 << 20));
    ASK(cudaDeviceSynchronize());
}

// ---- shared memory -----------------------------------------------------------------------------

__global__ void with_static(int *x)
{
    __shared__ int part[2560]; // 10 KiB
    extern __shared__ int dynamic[];
    part[threadIdx.x] = dynamic[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (x != nullptr) x[threadIdx.x] = part[31 - threadIdx.x] + dynamic[threadIdx.x];
}

static cudaError_t launch_with(size_t shared)
{
    int *x = nullptr;
    void *arguments[] = {&x};
    cudaError_t code = cudaLaunchKernel(reinterpret_cast<const void *>(with_static), dim3(1),
                                        dim3(32), arguments, shared, nullptr);
    return code == cudaSuccess ? cudaDeviceSynchronize() : code;
}

static void shared_memory()
{
    ASK(launch_with(38 << 10));
    ASK(launch_with((38 << 10) + 4));
    ASK(cudaFuncSetAttribute(with_static, cudaFuncAttributeMaxDynamicSharedMemorySize, 48 << 10));
    ASK(launch_with(48 << 10));
    ASK(launch_with((48 << 10) + 4));
    ASK(cudaFuncSetAttribute(with_static, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
    ASK(cudaFuncSetAttribute(with_static, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
    ASK(launch_with(48 << 10));
    ASK(cudaFuncSetAttribute(with_static, cudaFuncAttributeMaxDynamicSharedMemorySize, 0));
    ASK(launch_with(4));
}

// ---- images ------------------------------------------------------------------------------------

static CUmodule module;

static void start_driver()
{
    cudaFree(nullptr); // the primary context
}

#define HEAD ".version 8.0\n.target sm_75\n.address_size 64\n"

static void bodies()
{
    static const struct {
        const char *name, *text;
    } rows[] = {
        {"a kernel", HEAD ".visible .entry k() { ret; }"},
        {"nothing", ""},
        {"a word", "garbage"},
        {"only the head", HEAD},
        {"no .target", ".version 8.0\n.address_size 64\n.visible .entry k() { ret; }"},
        {"no .version", ".target sm_75\n.address_size 64\n.visible .entry k() { ret; }"},
        {"version 99.0", ".version 99.0\n.target sm_75\n.address_size 64\n"
                         ".visible .entry k() { ret; }"},
        {"a target to come", ".version 8.0\n.target sm_999\n.address_size 64\n"
                             ".visible .entry k() { ret; }"},
        {"a later target", ".version 9.0\n.target sm_120\n.address_size 64\n"
                           ".visible .entry k() { ret; }"},
        {"a body without end", HEAD ".visible .entry k() { ret;"},
        {"an unknown register", HEAD ".visible .entry k() { mov.u32 %r1, 1; ret; }"},
        {"a type that does not fit", HEAD ".visible .entry k() { .reg .f32 f; .reg .u32 r;\n"
                                          "add.u32 r, r, f; ret; }"},
        {"a label that is not there", HEAD ".visible .entry k() { bra NOWHERE; ret; }"},
        {"a name twice", HEAD ".visible .entry k() { ret; }\n.visible .entry k() { ret; }"},
        {"49,153 bytes of static shared memory",
         HEAD ".visible .entry k() { .shared .b8 s[49153];\n.reg .b32 r; ld.shared.u32 r, [s];\n"
              "st.shared.u32 [s+4], r; ret; }"},
        {"49,152 bytes of static shared memory",
         HEAD ".visible .entry k() { .shared .b8 s[49152];\n.reg .b32 r; ld.shared.u32 r, [s];\n"
              "st.shared.u32 [s+4], r; ret; }"},
        {"600,000 bytes of local memory",
         HEAD ".visible .entry k(.param .u64 p) { .local .align 4 .b8 s[600000];\n"
              ".reg .b32 r; .reg .b64 a, b; ld.param.u64 a, [p]; mov.u64 b, s; add.u64 b, b, a;\n"
              "st.local.u32 [b], r; ld.local.u32 r, [b+64]; st.global.u32 [a], r; ret; }"},
        {"70,000 bytes of constants",
         HEAD ".visible .const .align 4 .b8 c[70000];\n.visible .entry k() { ret; }"},
        {"parameters of 4,356 bytes",
         HEAD ".visible .entry k(.param .align 4 .b8 p[4356]) { ret; }"},
        {"a function declared and not defined",
         HEAD ".extern .func f();\n.visible .entry k() { call f; ret; }"},
        {"addresses of 32 bits", ".version 8.0\n.target sm_75\n.address_size 32\n"
                                 ".visible .entry k() { ret; }"},
        {"not ASCII", HEAD ".visible .entry k\377() { ret; }"},
    };
    start_driver();
    for (const auto &row : rows) {
        module = nullptr;
        show(row.name, cuModuleLoadData(&module, row.text));
        if (module != nullptr) cuModuleUnload(module);
    }
    ASK(cuModuleLoadData(&module, nullptr));
    ASK(cuModuleLoadData(nullptr, HEAD));
    ASK(cuModuleLoad(&module, "/nowhere/at/all.ptx"));
    ASK(cudaGetLastError());
    CUfunction function;
    ASK(cuModuleLoadData(&module, HEAD ".visible .entry k() { ret; }"));
    ASK(cuModuleGetFunction(&function, module, "no_such_kernel"));
    ASK(cuModuleGetFunction(&function, module, ""));
}

// ---- kernels that end in other ways ------------------------------------------------------------

__global__ void traps()
{
    asm volatile("trap;");
}

static void a_trap()
{
    traps<<<1, 1>>>();
    ASK(cudaDeviceSynchronize());
    ASK(cudaGetLastError());
}

// ---- the environment ---------------------------------------------------------------------------

static void count_devices()
{
    int count = -1;
    void *p = nullptr;
    ASK(cuInit(0));
    ASK(cudaGetDeviceCount(&count));
    std::printf("    %d\n", count);
    ASK(cudaGetLastError());
    ASK(cudaMalloc(&p, 64));
    ASK(cudaGetLastError());
    count = -1;
    ASK(cuDeviceGetCount(&count));
    std::printf("    %d\n", count);
}

__global__ void astray(int *x)
{
    x[1ll << 40] = 1;
}

static void blocking()
{
    int *x = buffer();
    void *arguments[] = {&x};
    ASK(cudaLaunchKernel(reinterpret_cast<const void *>(astray), dim3(1), dim3(1), arguments, 0,
                         nullptr));
    ASK(cudaPeekAtLastError());
    ASK(cudaGetLastError());
    ASK(cudaDeviceSynchronize());
}

__global__ void spin(long long cycles)
{
    long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

static void query_while_blocking()
{
    spin<<<1, 1>>>(50000000);
    ASK(cudaStreamQuery(nullptr));
}

// ---- printf ------------------------------------------------------------------------------------

__global__ void print_lines(int count)
{
    for (int i = 0; i < count; i++) std::printf("    line %d\n", i);
}

static void print_to_the_end()
{
    size_t size = 0;
    ASK(cudaDeviceGetLimit(&size, cudaLimitPrintfFifoSize));
    std::printf("    %zu\n", size);
    print_lines<<<1, 1>>>(3);
    ASK(cudaDeviceSynchronize());
    ASK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20));
    ASK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 0));
}

// ------------------------------------------------------------------------------------------------

static void ask(const char *name, void (*question)(), const char *variable = nullptr,
                const char *value = nullptr)
{
    std::printf("%s", name);
    if (variable != nullptr) std::printf(" with %s=\"%s\"", variable, value);
    std::printf("\n");
    std::fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (variable != nullptr) setenv(variable, value, 1);
        question();
        std::fflush(stdout);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) std::printf("  ended with status 0x%x\n", static_cast<unsigned>(status));
}

int main()
{
    ask("recursion that fits", recursion_that_fits);
    ask("recursion without end", recursion_without_end);
    ask("recursion after a larger stack", recursion_after_a_larger_stack);
    ask("the kernels' heap used up", heap_used_up);
    ask("the kernels' heap made larger", heap_made_larger);
    ask("device memory used up", memory_used_up);
    ask("shared memory", shared_memory);
    ask("images", bodies);
    ask("a trap", a_trap);
    static const char *const visible[] = {"",        "0",   "-1",   "7",
                                          "garbage", "0,0", "0,-1", "NoDevFiles"};
    for (const char *value : visible) ask("devices", count_devices, "CUDA_VISIBLE_DEVICES", value);
    ask("a fault", blocking, "CUDA_LAUNCH_BLOCKING", "1");
    ask("a query", query_while_blocking, "CUDA_LAUNCH_BLOCKING", "1");
    ask("a query", query_while_blocking, "CUDA_LAUNCH_BLOCKING", "0");
    ask("printf", print_to_the_end);
}
