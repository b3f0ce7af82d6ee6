// Memory of one context in another context of the same device, asked of an H200: what kernels,
// fills, copies and frees may do there, and what a copy waits for.
//
//     nvcc -std=c++17 -arch=sm_90 -o context_memory tests/gpu/context_memory.cu -lcuda
//     ./context_memory >tests/gpu/context_memory.txt
#include "ask.cuh"

#include <atomic>
#include <functional>
#include <thread>

__device__ int variable = 7;

__global__ void read_one(const int *from, int *to)
{
    *to = *from;
}

__global__ void until(volatile int *flag)
{
    while (*flag == 0) {
    }
}

// Two contexts; the first one is current.
struct Two {
    CUcontext a, b;
    Two()
    {
        Q(cuInit(0));
        Q(cuCtxCreate(&a, NULL, 0, 0));
        Q(cuCtxCreate(&b, NULL, 0, 0));
        Q(cuCtxSetCurrent(a));
    }
};

static CUdeviceptr word(int value)
{
    CUdeviceptr p = 0;
    Q(cuMemAlloc(&p, 1 << 20));
    Q(cuMemcpyHtoD(p, &value, 4));
    Q(cuCtxSynchronize());
    return p;
}

// What a kernel of the current context reads there.
static void reads(const char *what, CUdeviceptr from)
{
    CUdeviceptr to = 0;
    int value = -1;
    Q(cuMemAlloc(&to, 4));
    read_one<<<1, 1>>>((const int *)from, (int *)to);
    DL(what, cuCtxSynchronize());
    if (cuMemcpyDtoH(&value, to, 4) == CUDA_SUCCESS) VL("  value", value);
    cudaGetLastError();
}

SECTION(allocated)
{
    Two two;
    const CUdeviceptr p = word(5);
    Q(cuCtxSetCurrent(two.b));
    reads("memory of the other context", p);
    D(cuCtxSetCurrent(two.a));
    int value = -1;
    D(cuMemcpyDtoH(&value, p, 4));
}

SECTION(primary)
{
    Two two;
    CUcontext primary = NULL;
    Q(cuDevicePrimaryCtxRetain(&primary, 0));
    Q(cuCtxSetCurrent(primary));
    const CUdeviceptr p = word(5);
    Q(cuCtxSetCurrent(two.b));
    reads("memory of the primary context", p);
}

SECTION(managed)
{
    Two two;
    CUdeviceptr p = 0;
    Q(cuMemAllocManaged(&p, 4, CU_MEM_ATTACH_GLOBAL));
    *(int *)p = 6;
    Q(cuCtxSetCurrent(two.b));
    reads("managed memory of the other context", p);
}

SECTION(page_locked)
{
    Two two;
    int *plain = NULL, *portable = NULL, *own = (int *)memalign(4096, 4096);
    CUdeviceptr seen = 0;
    unsigned flags = 99;
    Q(cuMemHostAlloc((void **)&plain, 4, 0));
    Q(cuMemHostAlloc((void **)&portable, 4, CU_MEMHOSTALLOC_PORTABLE));
    Q(cuMemHostRegister(own, 4096, 0));
    *plain = 1;
    *portable = 2;
    *own = 3;
    Q(cuCtxSetCurrent(two.b));
    D(cuMemHostGetFlags(&flags, plain));
    D(cuMemHostGetDevicePointer(&seen, plain, 0));
    reads("page-locked, portable", (CUdeviceptr)portable);
    reads("page-locked", (CUdeviceptr)plain);
    reads("registered", (CUdeviceptr)own);
    D(cuMemFreeHost(plain));
    D(cuMemHostUnregister(own));
}

SECTION(pools)
{
    Two two;
    CUstream stream;
    CUdeviceptr p = 0;
    int value = 8;
    Q(cuStreamCreate(&stream, 0));
    Q(cuMemAllocAsync(&p, 4, stream));
    Q(cuMemcpyHtoDAsync(p, &value, 4, stream));
    Q(cuStreamSynchronize(stream));
    Q(cuCtxSetCurrent(two.b));
    reads("memory of a pool", p);
    Q(cuStreamCreate(&stream, 0));
    D(cuMemFreeAsync(p, stream));
    D(cuStreamSynchronize(stream));
}

SECTION(variables)
{
    Two two;
    void *p = NULL;
    Q(cudaGetSymbolAddress(&p, variable));
    Q(cuCtxSetCurrent(two.b));
    reads("a variable of the other context", (CUdeviceptr)p);
}

SECTION(calls)
{
    Two two;
    const CUdeviceptr p = word(5);
    CUdeviceptr base = 0, seen = 0;
    size_t size = 0;
    int value = -1;
    CUcontext whose = NULL;
    Q(cuCtxSetCurrent(two.b));
    const CUdeviceptr own = word(9);
    D(cuMemGetAddressRange(&base, &size, p));
    V(size);
    D(cuPointerGetAttribute(&seen, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, p));
    V(seen == p);
    D(cuPointerGetAttribute(&whose, CU_POINTER_ATTRIBUTE_CONTEXT, p));
    V(whose == two.a);
    D(cuMemsetD32(p, 3, 1));
    D(cuMemcpyDtoH(&value, p, 4));
    V(value);
    D(cuMemcpyDtoD(p, own, 4));
    D(cuMemcpyDtoH(&value, p, 4));
    V(value);
    D(cuMemcpyPeer(p, two.a, own, two.b, 4));
    D(cuMemcpyHtoD(p, &value, 4));
    CUstream stream;
    Q(cuStreamCreate(&stream, 0));
    D(cuMemcpyDtoDAsync(p, own, 4, stream));
    D(cuStreamWriteValue32(stream, p, 1, 0));
    D(cuStreamSynchronize(stream));
    D(cuCtxEnablePeerAccess(two.a, 0));
    D(cuMemFree(p));
    D(cuMemFree(own));
}

// Does a copy of the other context's memory, while that context is busy, wait?
static volatile int *go_on;

static void ask(const char *what, const Two &two, CUstream busy, const char *kind,
                const std::function<CUresult()> &call)
{
    *go_on = 0;
    Q(cuCtxSetCurrent(two.a));
    until<<<1, 1, 0, busy>>>(go_on);
    Q(cudaGetLastError());
    Q(cuCtxSetCurrent(two.b));
    std::atomic<bool> asked_all(false);
    std::thread other([&] {
        for (int k = 0; k < 1000 && !asked_all; k++) usleep(1000);
        *go_on = 1;
    });
    const CUresult code = call();
    const char *how = *go_on ? "waits" : "goes on";
    if (!*go_on) {
        CUresult state = CUDA_ERROR_NOT_READY;
        for (int k = 0; k < 50 && !*go_on && state == CUDA_ERROR_NOT_READY; k++) {
            usleep(200);
            state = cuStreamQuery(0);
        }
        how = *go_on ? "asking waits" : state == CUDA_SUCCESS ? "done" : "goes on, behind it";
    }
    asked_all = true;
    other.join();
    say("%s (%s): %s, %s", what, kind, name_of(code), how);
    Q(cuCtxSetCurrent(two.a));
    Q(cuCtxSynchronize());
    Q(cuCtxSetCurrent(two.b));
    Q(cuCtxSynchronize());
}

SECTION(waits)
{
    alarm(60);
    Two two;
    CUstream apart, ordinary;
    char *pinned = NULL;
    Q(cuMemHostAlloc((void **)&go_on, 4, CU_MEMHOSTALLOC_PORTABLE));
    Q(cuMemHostAlloc((void **)&pinned, 4096, CU_MEMHOSTALLOC_PORTABLE));
    const CUdeviceptr of_a = word(1);
    Q(cuStreamCreate(&apart, CU_STREAM_NON_BLOCKING));
    Q(cuStreamCreate(&ordinary, 0));
    *go_on = 1;
    until<<<1, 1>>>(go_on);
    Q(cuCtxSynchronize());
    Q(cuCtxSetCurrent(two.b));
    const CUdeviceptr of_b = word(2);
    const struct {
        CUstream stream;
        const char *kind;
    } busy[] = {{0, "L"}, {ordinary, "B"}, {apart, "N"}};
    for (const auto &each : busy) {
        ask("cuMemcpyDtoH of b's", two, each.stream, each.kind,
            [&] { return cuMemcpyDtoH(pinned, of_b, 4096); });
        ask("cuMemcpyDtoH of a's", two, each.stream, each.kind,
            [&] { return cuMemcpyDtoH(pinned, of_a, 4096); });
        ask("cuMemcpyHtoD of a's", two, each.stream, each.kind,
            [&] { return cuMemcpyHtoD(of_a, pinned, 4096); });
        ask("cuMemcpyDtoD from a to b", two, each.stream, each.kind,
            [&] { return cuMemcpyDtoD(of_b, of_a, 4096); });
        ask("cuMemcpyDtoDAsync from a to b", two, each.stream, each.kind,
            [&] { return cuMemcpyDtoDAsync(of_b, of_a, 4096, 0); });
        ask("cuMemcpyPeer", two, each.stream, each.kind,
            [&] { return cuMemcpyPeer(of_b, two.b, of_a, two.a, 4096); });
        ask("cuMemFree of a's", two, each.stream, each.kind, [&] {
            CUdeviceptr p = 0;
            Q(cuCtxSetCurrent(two.a));
            Q(cuMemAlloc(&p, 4096));
            Q(cuCtxSetCurrent(two.b));
            return cuMemFree(p);
        });
    }
}
