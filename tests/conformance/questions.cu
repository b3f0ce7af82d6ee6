// What the runtime answers where its documentation leaves room, or where one would guess wrong:
// sizes of 0, null pointers, copies against their direction, queries, errors that stay.
//
// questions.golden is what an NVIDIA H100 (driver 580, CUDA 13.0) printed; CTest compares the
// software device's answers with it, line by line. To ask a GPU again, on a machine that has one:
//
//     nvcc -cudart shared -gencode arch=compute_75,code=compute_75 questions.cu -o questions
//     ./questions >questions.golden
//
// Left out is what may differ from one run, one GPU or one computer to another: times, addresses,
// the names of devices, and whether a device can be used again, in the same process, after
// cudaDeviceReset has ended a context that a kernel had spoilt.
#include <cstdio>
#include <cstring>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

#define ASK(call) show(#call, call)

static void show(const char *call, cudaError_t answer)
{
    std::printf("%s\n    %s\n", call, cudaGetErrorName(answer));
}

// An error that the call leaves behind is taken, so that every answer is the call's own.
#define ASK_TAKE(call)                                                                             \
    do {                                                                                           \
        ASK(call);                                                                                 \
        take_last_error();                                                                         \
    } while (0)

static void take_last_error()
{
    std::printf("    last error %s\n", cudaGetErrorName(cudaGetLastError()));
}

__global__ void spin(long long cycles)
{
    long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

__global__ void __launch_bounds__(64) bounded(int *x)
{
    x[threadIdx.x] = 1;
}

__global__ void plain(int *x)
{
    x[threadIdx.x] = 1;
}

__global__ void astray(int *x)
{
    x[1ll << 40] = 1;
}

__device__ int variable[4];

static cudaStream_t s;
static cudaEvent_t recorded, unrecorded;
static void *p, *device, *pinned;
static int host[64];

static void the_device()
{
    int ordinal = -5;
    unsigned flags = 99;
    ASK(cudaGetDevice(&ordinal));
    std::printf("    device %d\n", ordinal);
    ASK(cudaGetDeviceFlags(&flags));
    std::printf("    flags %u\n", flags);
    ASK(cudaFree(nullptr)); // the context begins
    ASK(cudaGetDeviceFlags(&flags));
    std::printf("    flags %u\n", flags);
}

#define ASK_FOR_NOTHING(call)                                                                      \
    do {                                                                                           \
        p = &p;                                                                                    \
        ASK(call);                                                                                 \
        std::printf("    %s\n", p == nullptr ? "a null pointer" : "a pointer");                    \
    } while (0)

static void allocations_of_nothing()
{
    size_t pitch = 77;
    ASK_FOR_NOTHING(cudaMalloc(&p, 0));
    ASK_FOR_NOTHING(cudaMallocHost(&p, 0));
    ASK_FOR_NOTHING(cudaHostAlloc(&p, 0, 0));
    ASK_FOR_NOTHING(cudaMallocAsync(&p, 0, s));
    ASK_FOR_NOTHING(cudaMallocManaged(&p, 0));
    ASK_FOR_NOTHING(cudaMallocPitch(&p, &pitch, 0, 4));
    std::printf("    pitch %zu\n", pitch);
    take_last_error();
}

static void work_that_is_not_done()
{
    float ms;
    spin<<<1, 1, 0, s>>>(500000000);
    cudaEventRecord(recorded, s);
    ASK_TAKE(cudaStreamQuery(s));
    ASK_TAKE(cudaEventQuery(recorded));
    ASK_TAKE(cudaEventElapsedTime(&ms, recorded, recorded));
    ASK_TAKE(cudaEventElapsedTime(&ms, recorded, unrecorded));
    ASK(cudaStreamSynchronize(s));
}

#define ASK_ABOUT(pointer)                                                                         \
    do {                                                                                           \
        std::memset(&a, 7, sizeof a);                                                              \
        ASK(cudaPointerGetAttributes(&a, pointer));                                                \
        std::printf("    type %d, device %d, %s device pointer, %s host pointer\n", a.type,        \
                    a.device, a.devicePointer == (pointer) ? "as its" : "another",                 \
                    a.hostPointer == (pointer) ? "as its" : "another");                            \
    } while (0)

static void what_pointers_are()
{
    cudaPointerAttributes a;
    ASK_ABOUT(host);
    take_last_error();
    ASK_ABOUT(pinned);
    ASK_ABOUT(device);
    ASK(cudaPointerGetAttributes(&a, nullptr));
    std::printf("    type %d, device %d\n", a.type, a.device);
    take_last_error();
}

static void launches()
{
    std::printf("bounded<<<1, 128>>>, plain<<<1, 32, 50000>>>, plain<<<1, 2048>>>\n");
    bounded<<<1, 128>>>(static_cast<int *>(device));
    take_last_error();
    plain<<<1, 32, 50000>>>(static_cast<int *>(device));
    take_last_error();
    plain<<<1, 2048>>>(static_cast<int *>(device));
    take_last_error();
    ASK_TAKE(cudaLaunchKernel((const void *)nullptr, dim3(1), dim3(1), nullptr, 0, nullptr));
    ASK_TAKE(cudaLaunchKernel((const void *)launches, dim3(1), dim3(1), nullptr, 0, nullptr));
}

static void copies_and_fills()
{
    char *end = static_cast<char *>(device) + 1000;
    ASK_TAKE(cudaMemcpy(device, device, 16, cudaMemcpyHostToDevice));
    ASK_TAKE(cudaMemcpy(device, device, 16, cudaMemcpyDeviceToHost));
    ASK_TAKE(cudaMemcpy(host, host, 16, cudaMemcpyHostToDevice));
    ASK_TAKE(cudaMemcpy(host, host, 16, cudaMemcpyDeviceToDevice));
    ASK_TAKE(cudaMemcpy(device, host, 16, cudaMemcpyHostToHost));
    ASK_TAKE(cudaMemcpy(device, nullptr, 16, cudaMemcpyHostToDevice));
    ASK_TAKE(cudaMemcpy(nullptr, host, 16, cudaMemcpyHostToDevice));
    ASK_TAKE(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDefault));
    ASK_TAKE(cudaMemcpy(end, host, 100, cudaMemcpyHostToDevice)); // 24 bytes are left
    ASK_TAKE(cudaMemcpy2D(device, 8, host, 16, 16, 2, cudaMemcpyHostToDevice));
    ASK_TAKE(cudaMemset2D(device, 8, 0, 16, 2));
    ASK_TAKE(cudaMemset(host, 0, 4));
    ASK_TAKE(cudaMemset(pinned, 0, 4));
    ASK_TAKE(cudaMemset(nullptr, 0, 4));
    ASK_TAKE(cudaMemcpyToSymbol(variable, host, 32));
    ASK_TAKE(cudaMemcpyToSymbol(variable, host, 16, 4));
    ASK_TAKE(cudaMemcpyToSymbol(variable, host, 16, 0, cudaMemcpyDeviceToHost));
    ASK_TAKE(cudaMemcpyToSymbol((const void *)host, host, 16));
}

static void streams_and_events()
{
    ASK_TAKE(cudaStreamDestroy(nullptr));
    ASK_TAKE(cudaEventRecord(nullptr, s));
    ASK_TAKE(cudaEventQuery(nullptr));
    ASK_TAKE(cudaEventDestroy(nullptr));
    ASK_TAKE(cudaStreamWaitEvent(s, unrecorded, 0));
    ASK_TAKE(cudaStreamWaitEvent(s, unrecorded, 99));
}

static void memory_that_is_not_ones_own()
{
    ASK_TAKE(cudaFree(host));
    ASK_TAKE(cudaFree(static_cast<char *>(device) + 16));
    ASK_TAKE(cudaFree(pinned));
    ASK_TAKE(cudaFreeHost(device));
    ASK_TAKE(cudaFreeHost(host));
    ASK_TAKE(cudaHostUnregister(host));
    ASK_TAKE(cudaHostGetDevicePointer(&p, host, 0));
    ASK_TAKE(cudaHostRegister(host, 0, 0));
    ASK_TAKE(cudaHostRegister(pinned, 64, 0));
}

static void kernels_and_settings()
{
    cudaFuncAttributes attributes;
    cudaDriverEntryPointQueryResult status;
    int blocks = -1, can;
    ASK_TAKE(cudaFuncGetAttributes(&attributes, (const void *)nullptr));
    ASK_TAKE(cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 30));
    ASK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 2048, 0));
    std::printf("    %d blocks\n", blocks);
    take_last_error();
    ASK_TAKE(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 0, 0));
    p = &p;
    ASK(cudaGetDriverEntryPointByVersion("cuNo", &p, 13000, cudaEnableDefault, &status));
    std::printf("    status %d, %s\n", static_cast<int>(status),
                p == nullptr ? "a null pointer" : "a pointer");
    take_last_error();
    ASK_TAKE(cudaSetDevice(99));
    ASK_TAKE(cudaDeviceSetLimit(cudaLimitStackSize, 1 << 20));
    ASK_TAKE(cudaStreamCreateWithFlags(&s, 2));
    ASK_TAKE(cudaEventCreateWithFlags(&recorded, 64));
    ASK_TAKE(cudaDeviceEnablePeerAccess(0, 0));
    ASK_TAKE(cudaDeviceCanAccessPeer(&can, 0, 0));
    ASK_TAKE(cudaProfilerStart());
    ASK_TAKE(cudaMalloc(&p, (size_t)1 << 50));
}

// The error of a kernel stays: every later call that needs the context returns it.
static void after_a_kernel_that_went_astray()
{
    int value;
    std::printf("astray<<<1, 1>>>\n");
    astray<<<1, 1>>>(static_cast<int *>(device));
    ASK(cudaPeekAtLastError());
    ASK(cudaDeviceSynchronize());
    ASK(cudaGetLastError());
    ASK(cudaGetLastError());
    ASK(cudaPeekAtLastError());
    ASK(cudaMalloc(&p, 4));
    ASK(cudaGetLastError());
    ASK(cudaGetLastError());
    ASK(cudaFree(device));
    ASK(cudaFreeHost(pinned));
    ASK(cudaEventDestroy(recorded));
    ASK(cudaStreamDestroy(s));
    ASK(cudaGetDevice(&value));
    ASK(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
    std::printf("plain<<<1, 1>>>\n");
    plain<<<1, 1>>>(static_cast<int *>(device));
    ASK(cudaGetLastError());
    ASK(cudaSetDevice(0));
    ASK(cudaStreamQuery(nullptr));
    ASK(cudaDeviceReset());
    ASK(cudaGetLastError());
}

int main()
{
    the_device();
    cudaStreamCreate(&s);
    cudaEventCreate(&recorded);
    cudaEventCreate(&unrecorded);
    cudaMalloc(&device, 1024);
    cudaMallocHost(&pinned, 1024);
    allocations_of_nothing();
    work_that_is_not_done();
    what_pointers_are();
    launches();
    copies_and_fills();
    streams_and_events();
    memory_that_is_not_ones_own();
    kernels_and_settings();
    after_a_kernel_that_went_astray();
}
