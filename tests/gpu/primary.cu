// Asks when a call of the runtime keeps the primary context alive: each call in a process of its
// own, with a primary context that somebody else retained current, with a context of cuCtxCreate
// current, and with none. "kept": it is alive still, when the one who retained it has released it.
// Each line is a case and its answer. primary.txt has an H200's.
//
//     nvcc -std=c++17 -arch=sm_90 -o primary tests/gpu/primary.cu -lcuda && ./primary
//     >tests/gpu/primary.txt
#include <cuda.h>
#include <cuda_runtime.h>

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void nothing() {}

static cudaError_t make_stream()
{
    cudaStream_t stream;
    cudaError_t error = cudaStreamCreate(&stream);
    return error == cudaSuccess ? cudaStreamDestroy(stream) : error;
}

static cudaError_t make_event()
{
    cudaEvent_t event;
    cudaError_t error = cudaEventCreate(&event);
    return error == cudaSuccess ? cudaEventDestroy(event) : error;
}

static cudaError_t make_memory()
{
    void *memory;
    cudaError_t error = cudaMalloc(&memory, 64);
    return error == cudaSuccess ? cudaFree(memory) : error;
}

static cudaError_t make_pinned()
{
    void *memory;
    cudaError_t error = cudaMallocHost(&memory, 64);
    return error == cudaSuccess ? cudaFreeHost(memory) : error;
}

static cudaError_t memory_info()
{
    size_t free, total;
    return cudaMemGetInfo(&free, &total);
}

static cudaError_t which_device()
{
    int device;
    return cudaGetDevice(&device);
}

static cudaError_t one_attribute()
{
    int value;
    return cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0);
}

static cudaError_t one_limit()
{
    size_t value;
    return cudaDeviceGetLimit(&value, cudaLimitStackSize);
}

static cudaError_t one_pointer()
{
    struct cudaPointerAttributes attributes;
    int local;
    return cudaPointerGetAttributes(&attributes, &local);
}

static cudaError_t one_function()
{
    struct cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, nothing);
}

static cudaError_t launch()
{
    nothing<<<1, 1>>>();
    return cudaGetLastError();
}

static cudaError_t set_device()
{
    return cudaSetDevice(0);
}

static cudaError_t free_null()
{
    return cudaFree(NULL);
}

static cudaError_t reset_device()
{
    return cudaDeviceReset();
}

static const struct {
    const char *name;
    cudaError_t (*call)();
} calls[] = {
    {"cudaMemGetInfo", memory_info},
    {"cudaMalloc", make_memory},
    {"cudaMallocHost", make_pinned},
    {"cudaFree(NULL)", free_null},
    {"cudaStreamCreate", make_stream},
    {"cudaEventCreate", make_event},
    {"cudaDeviceSynchronize", cudaDeviceSynchronize},
    {"cudaDeviceGetLimit", one_limit},
    {"cudaFuncGetAttributes", one_function},
    {"a launch", launch},
    {"cudaSetDevice", set_device},
    {"cudaPointerGetAttributes", one_pointer},
    {"cudaGetDevice", which_device},
    {"cudaDeviceGetAttribute", one_attribute},
    {"cudaGetLastError", cudaGetLastError},
    {"cudaDeviceReset", reset_device},
};

static int alive()
{
    unsigned flags;
    int active = -1;
    cuDevicePrimaryCtxGetState(0, &flags, &active);
    return active;
}

enum current { PRIMARY, MADE, NONE };

static void ask(const char *name, cudaError_t (*call)(), enum current current)
{
    CUcontext context = NULL, popped = NULL;
    cuInit(0);
    if (current == PRIMARY) cuDevicePrimaryCtxRetain(&context, 0);
    if (current == PRIMARY) cuCtxPushCurrent(context);
    if (current == MADE) cuCtxCreate(&context, NULL, 0, 0);
    const cudaError_t error = call();
    const int during = alive();
    CUcontext left = NULL;
    cuCtxGetCurrent(&left);
    const char *const stays = left == NULL ? "none" : left == context ? "the same" : "another";
    const char *const in_words[] = {"the primary one", "one of cuCtxCreate", "none"};
    printf("%s, current is %s: %d; alive %d; then current is %s", name, in_words[current], error,
           during, stays);
    if (current == PRIMARY) {
        cuCtxPopCurrent(&popped);
        const CUresult first = cuDevicePrimaryCtxRelease(0);
        printf("; released %d, %s", first, alive() ? "kept" : "gone");
        if (alive()) {
            const CUresult second = cuDevicePrimaryCtxRelease(0);
            printf("; once more %d, %s", second, alive() ? "kept" : "gone");
        }
    }
    printf("\n");
    fflush(stdout);
}

int main()
{
    for (int current = PRIMARY; current <= NONE; current++)
        for (const auto &row : calls) {
            fflush(stdout);
            const pid_t child = fork();
            if (child == 0) {
                ask(row.name, row.call, (enum current)current);
                _exit(0);
            }
            int status = 0;
            waitpid(child, &status, 0);
            if (status != 0) printf("%s, %d: ended with %d\n", row.name, current, status);
        }
    return 0;
}
