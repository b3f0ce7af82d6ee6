// Asks what the driver answers at the corners of contexts, functions, launches and modules, where
// documentation is silent or a GPU is laxer or stricter than it; and which NaN fma.oob knows. Each
// line is a question and its answer. corners.txt has an H200's.
//
//     nvcc -std=c++17 -arch=sm_90 -o corners tests/gpu/corners.cu -lcuda && ./corners
//     >tests/gpu/corners.txt
#include "tests/gpu/gpu.cuh"

#include <cstdint>
#include <thread>
#include <vector>

// .reqntid, and an architecture that is newer than the version.
static const char required[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".visible .entry shaped() .reqntid 32, 2, 1 { ret; }\n";
static const char too_new[] = ".version 7.0\n.target sm_90\n.address_size 64\n"
                              ".visible .entry plain() { ret; }\n";

static void number(const char *question, CUresult code, long long value)
{
    const char *name = "?";
    cuGetErrorName(code, &name);
    printf("%s: %s, %lld\n", question, name, value);
}

static CUfunction function_of(const char *ptx, const char *name)
{
    CUmodule module;
    CUfunction function = NULL;
    if (cuModuleLoadData(&module, ptx) == CUDA_SUCCESS)
        cuModuleGetFunction(&function, module, name);
    return function;
}

// ---- contexts -----------------------------------------------------------------------------------

static void contexts()
{
    CUcontext a, b;
    unsigned long long first = 0, second = 0;
    unsigned value = 0;
    CUdevice device = 7;
    size_t size = 0;

    say("destroy no context", cuCtxDestroy(NULL));
    cuCtxCreate(&a, NULL, 0, 0);
    cuCtxCreate(&b, NULL, 0, 0);
    cuCtxGetId(a, &first);
    cuCtxGetId(b, &second);
    printf("the second context's id is one more: %d\n", second == first + 1);
    const CUresult version = cuCtxGetApiVersion(b, &value);
    number("version of a context", version, value);
    cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 5000000);
    const CUresult heap = cuCtxGetLimit(&size, CU_LIMIT_MALLOC_HEAP_SIZE);
    number("a heap of 5000000 bytes", heap, (long long)size);
    say("flags of mapped memory", cuCtxSetFlags(CU_CTX_MAP_HOST));
    const CUresult flags = cuCtxGetFlags(&value);
    number("are", flags, value);
    cuCtxDestroy(b);
    std::thread([a] { cuCtxDestroy(a); }).join();
    const CUresult ended = cuCtxGetDevice(&device);
    number("device of a context that another thread has destroyed", ended, device);
    cuCtxPopCurrent(NULL);
}

// ---- functions and launches ---------------------------------------------------------------------

__global__ void plain(int *at)
{
    if (at != NULL) *at = (int)(blockDim.x * 100 + blockDim.y);
}

__device__ int variable;

// What is no kernel, to the functions of the runtime that want one.
static void no_kernel(const char *what, const void *address)
{
    const char *name = "?";
    size_t offset, bytes;
    int blocks;
    cudaFuncAttributes attributes;
    cudaFunction_t function;
    cudaKernel_t kernel;
    const struct {
        const char *call;
        cudaError_t error;
    } answers[] = {
        {"cudaFuncGetAttributes", cudaFuncGetAttributes(&attributes, address)},
        {"cudaFuncGetName", cudaFuncGetName(&name, address)},
        {"cudaFuncGetParamInfo", cudaFuncGetParamInfo(address, 0, &offset, &bytes)},
        {"cudaFuncSetAttribute",
         cudaFuncSetAttribute(address, cudaFuncAttributePreferredSharedMemoryCarveout, 50)},
        {"cudaFuncSetCacheConfig", cudaFuncSetCacheConfig(address, cudaFuncCachePreferL1)},
        {"cudaGetFuncBySymbol", cudaGetFuncBySymbol(&function, address)},
        {"cudaGetKernel", cudaGetKernel(&kernel, address)},
        {"cudaOccupancyMaxActiveBlocksPerMultiprocessor",
         cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, address, 32, 0)},
        {"cudaLaunchKernel", cudaLaunchKernel(address, dim3(1), dim3(1), NULL, 0, 0)},
    };
    for (const auto &answer : answers)
        printf("%s of %s: %s\n", answer.call, what, cudaGetErrorName(answer.error));
    cudaGetLastError();
}

static void kernels()
{
    const char *name = "?";
    cudaKernel_t kernel = NULL;

    no_kernel("a variable", (const void *)&variable);
    no_kernel("a host function", (const void *)no_kernel);
    no_kernel("NULL", NULL);
    CHECK(cudaGetKernel(&kernel, (const void *)plain));
    const cudaError_t named = cudaFuncGetName(&name, (const void *)kernel);
    printf("cudaFuncGetName of a handle: %s, %s\n", cudaGetErrorName(named), name);
}

static void functions()
{
    CUmodule module;
    CUfunction function = NULL;
    size_t offset = 0, bytes = 0;

    CHECK(cudaGetFuncBySymbol(&function, (const void *)plain));
    say("module of no function", cuFuncGetModule(&module, NULL));
    say("parameter of no function", cuFuncGetParamInfo(NULL, 0, &offset, &bytes));
    for (int blocks = 1; blocks <= 32; blocks *= 2) {
        char question[64];
        const CUresult code = cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, blocks, 32);
        snprintf(question, sizeof question, "dynamic shared memory of %d blocks", blocks);
        number(question, code, (long long)bytes);
    }
}

static void launch(const char *question, CUlaunchAttributeID id,
                   const CUlaunchAttributeValue &value, unsigned grid)
{
    CUfunction function = NULL;
    CUlaunchAttribute attribute = {};
    CUlaunchConfig config = {};
    void *at = NULL, *parameters[] = {&at};

    CHECK(cudaGetFuncBySymbol(&function, (const void *)plain));
    attribute.id = id;
    attribute.value = value;
    config.gridDimX = grid, config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = 32, config.blockDimY = config.blockDimZ = 1;
    config.attrs = &attribute, config.numAttrs = 1;
    say(question, cuLaunchKernelEx(&config, function, parameters, NULL));
    CHECK(cudaDeviceSynchronize());
}

static void launches()
{
    CUlaunchAttributeValue value = {};
    value.clusterDim.x = value.clusterDim.y = value.clusterDim.z = 0;
    launch("a cluster of 0 x 0 x 0", CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, value, 4);
    value.clusterDim.y = value.clusterDim.z = 1;
    launch("a cluster of 0 x 1 x 1", CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, value, 4);
    value = {};
    value.sharedMemCarveout = 100;
    launch("carveout 100", CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, value, 4);
    value.sharedMemCarveout = 101;
    launch("carveout 101", CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, value, 4);
    value.sharedMemCarveout = (unsigned)-1;
    launch("carveout -1", CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, value, 4);
    value = {};
    value.syncPolicy = CU_SYNC_POLICY_YIELD;
    launch("a stream's attribute", CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, value, 4);

    CUfunction shaped = function_of(required, "shaped");
    say("a block of 32 x 1, 32 x 2 required",
        cuLaunchKernel(shaped, 1, 1, 1, 32, 1, 1, 0, 0, NULL, NULL));
    say("a block of 1, 32 x 2 required",
        cuLaunchKernel(shaped, 1, 1, 1, CU_LAUNCH_KERNEL_REQUIRED_BLOCK_DIM, 1, 1, 0, 0, NULL,
                       NULL));
    CHECK(cudaDeviceSynchronize());
}

static void active_clusters()
{
    CUfunction function = NULL;
    CUlaunchAttribute attribute = {};
    CUlaunchConfig config = {};
    int clusters = 0;

    CHECK(cudaGetFuncBySymbol(&function, (const void *)plain));
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = 3;
    attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    config.gridDimX = 4, config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = 32, config.blockDimY = config.blockDimZ = 1;
    config.attrs = &attribute, config.numAttrs = 1;
    say("active clusters of 3 in a grid of 4",
        cuOccupancyMaxActiveClusters(&clusters, function, &config));
}

// ---- modules ------------------------------------------------------------------------------------

static void modules()
{
    CUmodule module;
    CUjit_option option = CU_JIT_MAX_REGISTERS;
    void *none = NULL;

    say("sm_90 in PTX 7.0", cuModuleLoadData(&module, too_new));
    say("at most 0 registers", cuModuleLoadDataEx(&module, required, 1, &option, &none));
}

// ---- fma.oob ------------------------------------------------------------------------------------

__global__ void factors(uint16_t *results)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint16_t x = (uint16_t)i, one = 0x3c00, b_one = 0x3f80;
    asm("fma.rn.oob.f16 %0, %1, %2, %2;" : "=h"(results[i]) : "h"(x), "h"(one));
    asm("fma.rn.oob.f16 %0, %2, %1, %2;" : "=h"(results[65536 + i]) : "h"(x), "h"(one));
    asm("fma.rn.oob.f16 %0, %2, %2, %1;" : "=h"(results[2 * 65536 + i]) : "h"(x), "h"(one));
    asm("fma.rn.oob.bf16 %0, %1, %2, %2;" : "=h"(results[3 * 65536 + i]) : "h"(x), "h"(b_one));
    asm("fma.rn.oob.bf16 %0, %2, %1, %2;" : "=h"(results[4 * 65536 + i]) : "h"(x), "h"(b_one));
    asm("fma.rn.oob.bf16 %0, %2, %2, %1;" : "=h"(results[5 * 65536 + i]) : "h"(x), "h"(b_one));
    asm("fma.rn.ftz.relu.f16 %0, %1, %2, %2;" : "=h"(results[6 * 65536 + i]) : "h"(x), "h"(one));
    asm("fma.rn.oob.relu.f16 %0, %1, %2, %2;" : "=h"(results[7 * 65536 + i]) : "h"(x), "h"(one));
}

static void out_of_bounds()
{
    static const char *const forms[] = {"f16, a",  "f16, b",  "f16, c",        "bf16, a",
                                        "bf16, b", "bf16, c", "f16, ftz.relu", "f16, oob.relu"};
    const size_t count = sizeof forms / sizeof *forms;
    uint16_t *device;
    std::vector<uint16_t> results(count * 65536);
    CHECK(cudaMalloc(&device, results.size() * sizeof *device));
    factors<<<256, 256>>>(device);
    CHECK(cudaMemcpy(results.data(), device, results.size() * sizeof *device, cudaMemcpyDefault));
    for (size_t k = 0; k < count; k++) {
        uint64_t hash = 14695981039346656037u;
        printf("NaNs that give a number in %s:", forms[k]);
        for (uint32_t i = 0; i < 65536; i++) {
            const uint16_t result = results[k * 65536 + i];
            const uint32_t infinity = k >= 3 && k <= 5 ? 0x7f80 : 0x7c00;
            hash = (hash ^ result) * 1099511628211u;
            if ((i & 0x7fff) > infinity && result != 0x7fff) printf(" %04x -> %04x", i, result);
        }
        printf("; all results %016llx\n", (unsigned long long)hash);
    }
    CHECK(cudaFree(device));
}

int main()
{
    cuInit(0);
    contexts();
    CHECK(cudaFree(NULL));
    functions();
    launches();
    active_clusters();
    modules();
    out_of_bounds();
    kernels();
    return 0;
}
