// Thread block clusters, asked of a GPU: what each block reads of its cluster, what blocks find in
// each other's shared memory, by plain accesses, atomics, barrier objects and bulk copies, which
// launches are refused and how, and how many clusters fit. Each line is a case and its answer.
// Lines that begin with ~ depend on the chip, or on what a GPU does with a mistake.
// cluster.txt has an H200's answers, cluster.chip.txt how many clusters fit on that one.
//
//     nvcc -std=c++17 -arch=sm_90a -o cluster tests/gpu/cluster.cu
//     ./cluster | grep -v '^~clusters' > tests/gpu/cluster.txt
#include "gpu.cuh"

#include <cooperative_groups.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

constexpr int ROOM = 1 << 16, THREADS = 64;
static unsigned *device, host[ROOM];

// The answer of what ran last, as a hash of so many words.
static void answer(const char *name, int words)
{
    uint64_t hash = 1469598103934665603ull;
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        printf("%s: %s\n", name, cudaGetErrorName(error));
        exit(1);
    }
    CHECK(cudaMemcpy(host, device, words * sizeof *host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < words; i++) hash = (hash ^ host[i]) * 1099511628211ull;
    printf("%s: %016llx %u %u\n", name, (unsigned long long)hash, host[0], host[words - 1]);
    CHECK(cudaMemset(device, 0, sizeof host));
}

// Launches with clusters that the launch asks for.
template <typename... P>
static cudaError_t launch(void (*kernel)(P...), dim3 grid, dim3 cluster, int threads, size_t shared,
                          P... args)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster.x;
    attribute.val.clusterDim.y = cluster.y;
    attribute.val.clusterDim.z = cluster.z;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = threads;
    config.dynamicSmemBytes = shared;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, kernel, args...);
}

// ---- what a block reads of its cluster ---------------------------------------------------------

__global__ void registers(unsigned *out)
{
    auto cluster = cg::this_cluster();
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned id, all, explicit_cluster;
    unsigned *mine = out + 16 * block;
    if (threadIdx.x != 0) return;
    asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }"
        : "=r"(explicit_cluster));
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(mine[0]));
    asm("mov.u32 %0, %%clusterid.y;" : "=r"(mine[1]));
    asm("mov.u32 %0, %%clusterid.z;" : "=r"(mine[2]));
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(id));
    asm("mov.u32 %0, %%nclusterid.y;" : "=r"(all));
    mine[3] = id * 100 + all;
    mine[4] = cluster.block_rank();
    mine[5] = cluster.num_blocks();
    mine[6] =
        cluster.dim_blocks().x * 10000 + cluster.dim_blocks().y * 100 + cluster.dim_blocks().z;
    mine[7] =
        cluster.block_index().x * 10000 + cluster.block_index().y * 100 + cluster.block_index().z;
    mine[8] = cluster.num_threads();
    mine[9] = cluster.thread_rank();
    mine[10] = explicit_cluster;
    mine[11] = gridDim.x * 10000 + gridDim.y * 100 + gridDim.z;
}

// ---- each other's shared memory ----------------------------------------------------------------

// Each block reads what all of its cluster have, whoever is nearest first.
__global__ void gather(unsigned *out)
{
    __shared__ unsigned own[THREADS];
    auto cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), blocks = cluster.num_blocks();
    own[threadIdx.x] = blockIdx.x * 1000 + threadIdx.x;
    cluster.sync();
    unsigned sum = 0;
    for (unsigned k = 0; k < blocks; k++) {
        const unsigned *other = cluster.map_shared_rank(own, (rank + k) % blocks);
        sum = sum * 31 + other[(threadIdx.x + k) % THREADS] + cluster.query_shared_rank(other);
    }
    out[blockIdx.x * THREADS + threadIdx.x] = sum;
    cluster.sync();
}

// Vectors and small words, written from far.
__global__ void scatter(unsigned *out)
{
    __shared__ __align__(16) unsigned words[4 * THREADS];
    __shared__ unsigned char bytes[THREADS];
    auto cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), next = (rank + 1) % cluster.num_blocks(),
                   t = threadIdx.x;
    cluster.sync();
    ((uint4 *)cluster.map_shared_rank(words, next))[t] = make_uint4(rank, t, rank * t, rank + t);
    cluster.map_shared_rank(bytes, next)[THREADS - 1 - t] = (unsigned char)(rank * 16 + t);
    cluster.sync();
    out[blockIdx.x * THREADS + t] = words[4 * t] + words[4 * t + 1] * 7 + words[4 * t + 2] * 13 +
                                    words[4 * t + 3] * 29 + bytes[t] * 1000;
}

// The histogram of the CUDA Programming Guide: the bins are spread over the cluster's blocks.
__global__ void histogram(unsigned *out)
{
    extern __shared__ unsigned bins[];
    auto cluster = cg::this_cluster();
    const int each = 32, t = threadIdx.x;
    for (int k = t; k < each; k += blockDim.x) bins[k] = 0;
    cluster.sync();
    for (int k = 0; k < 16; k++) {
        const unsigned value = (blockIdx.x * 7919u + t * 104729u + k * 1299709u) >> 3;
        const unsigned bin = value % (each * cluster.num_blocks());
        atomicAdd(cluster.map_shared_rank(bins, bin / each) + bin % each, 1u);
    }
    cluster.sync();
    for (int k = t; k < each; k += blockDim.x)
        atomicAdd(&out[cluster.block_rank() * each + k], bins[k]);
}

// An arrival, other work, and then the wait.
__global__ void split(unsigned *out)
{
    __shared__ unsigned value, answer;
    auto cluster = cg::this_cluster();
    unsigned work = 0;
    for (int round = 0; round < 5; round++) {
        if (threadIdx.x == 0) value = cluster.block_rank() + 10 * round;
        auto token = cluster.barrier_arrive();
        for (int k = 0; k < 10; k++) work = work * 3 + k;
        cluster.barrier_wait(static_cast<decltype(token) &&>(token));
        if (threadIdx.x == 0)
            answer = *cluster.map_shared_rank(&value, (cluster.block_rank() + round) %
                                                          cluster.num_blocks());
        cluster.sync();
        work += answer;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = work;
}

__device__ unsigned near(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ unsigned far(const void *p, unsigned rank)
{
    unsigned address;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(near(p)), "r"(rank));
    return address;
}

// Addresses of 32 bits, and atomics of every kind.
__global__ void narrow(unsigned *out)
{
    __shared__ unsigned words[8];
    auto cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), t = threadIdx.x;
    if (t < 8) words[t] = 100 * rank + t;
    cluster.sync();
    const unsigned there = far(words, rank ^ 1);
    unsigned old = 0, of, same, space;
    if (t == 0) {
        asm volatile("atom.add.shared::cluster.u32 %0, [%1], 5;"
                     : "=r"(old)
                     : "r"(there)
                     : "memory");
        asm volatile("red.max.shared::cluster.u32 [%0+4], 77;" ::"r"(there) : "memory");
        asm volatile("atom.cas.shared::cluster.b32 %0, [%1+8], %2, 9;"
                     : "=r"(same)
                     : "r"(there), "r"(100 * (rank ^ 1) + 2)
                     : "memory");
        asm volatile("st.shared::cluster.u32 [%0+12], %1;" ::"r"(there), "r"(old + same)
                     : "memory");
    }
    cluster.sync();
    asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(of) : "r"(there));
    asm volatile("ld.shared::cluster.u32 %0, [%1+12];" : "=r"(same) : "r"(there) : "memory");
    const void *generic = cluster.map_shared_rank(words, rank ^ 1);
    space = __isShared(generic) + 2 * __isClusterShared(generic) + 4 * __isShared(words) +
            8 * __isClusterShared(words) + 16 * __isGlobal(generic);
    out[blockIdx.x * THREADS + t] = words[t % 8] + 1000 * of + 10000 * same + 1000000 * space;
    cluster.sync();
}

// ---- barrier objects and copies ----------------------------------------------------------------

__device__ void wait(const uint64_t *object, unsigned parity)
{
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, "
                     "[%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(near(object)), "r"(parity)
                     : "memory");
}

// Every block fills a row of the first one's tile and arrives at its object.
__global__ void arrive(unsigned *out)
{
    __shared__ unsigned tile[8 * THREADS];
    __shared__ uint64_t object;
    auto cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), blocks = cluster.num_blocks(), t = threadIdx.x;
    if (rank == 0 && t == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(near(&object)),
                     "r"(blocks * THREADS)
                     : "memory");
    cluster.sync();
    for (unsigned round = 0; round < 3; round++) {
        cluster.map_shared_rank(tile, 0)[rank * THREADS + t] = rank * 1000 + t + round;
        asm volatile(
            "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(far(&object, 0))
            : "memory");
        if (rank == 0) {
            wait(&object, round & 1);
            for (unsigned k = 0; k < blocks; k++)
                out[blockIdx.x * THREADS + t] += tile[k * THREADS + (t + 1) % THREADS] * (k + 1);
        }
        cluster.sync();
    }
}

// A block copies its row to the next one, which waits for the bytes.
__global__ void copy(unsigned *out)
{
    __shared__ __align__(128) unsigned from[THREADS], to[THREADS];
    __shared__ uint64_t object;
    auto cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), next = (rank + 1) % cluster.num_blocks(),
                   t = threadIdx.x;
    from[t] = blockIdx.x * 1000 + t;
    if (t == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(near(&object)) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(near(&object)),
                     "r"((unsigned)sizeof to)
                     : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    cluster.sync();
    if (t == 0)
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], "
                     "[%1], %2, [%3];" ::"r"(far(to, next)),
                     "r"(near(from)), "r"((unsigned)sizeof to), "r"(far(&object, next))
                     : "memory");
    wait(&object, 0);
    out[blockIdx.x * THREADS + t] = to[t];
    cluster.sync();
}

// The first block copies a row of global memory to some of its cluster.
__global__ void multicast(const unsigned *in, unsigned *out, unsigned short ranks)
{
    __shared__ __align__(128) unsigned to[THREADS];
    __shared__ uint64_t object;
    auto cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), t = threadIdx.x;
    to[t] = 7;
    if (t == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(near(&object)) : "memory");
        if (ranks >> rank & 1)
            asm volatile(
                "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(near(&object)),
                "r"((unsigned)sizeof to)
                : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    cluster.sync();
    if (rank == 0 && t == 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
                     "cluster [%0], [%1], %2, [%3], %4;" ::"r"(near(to)),
                     "l"(in), "r"((unsigned)sizeof to), "r"(near(&object)), "h"(ranks)
                     : "memory");
    if (ranks >> rank & 1) wait(&object, 0);
    out[blockIdx.x * THREADS + t] = to[t];
    cluster.sync();
}

// Asynchronous stores and reductions to the next block's shared memory.
__global__ void store(unsigned *out)
{
    __shared__ __align__(16) unsigned to[4 * THREADS];
    __shared__ unsigned sum;
    __shared__ uint64_t object;
    auto cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank(), next = (rank + 1) % cluster.num_blocks(),
                   t = threadIdx.x;
    if (t == 0) {
        sum = 0;
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(near(&object)) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(near(&object)),
                     "r"((unsigned)sizeof to + 4 * THREADS)
                     : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    cluster.sync();
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%2, %3, %4, "
                 "%5}, [%1];" ::"r"(far(to + 4 * t, next)),
                 "r"(far(&object, next)), "r"(rank), "r"(t), "r"(rank * t), "r"(rank + t)
                 : "memory");
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes."
                 "add.u32 [%0], %2, [%1];" ::"r"(far(&sum, next)),
                 "r"(far(&object, next)), "r"(t + rank)
                 : "memory");
    wait(&object, 0);
    out[blockIdx.x * THREADS + t] =
        to[4 * t] + to[4 * t + 1] * 7 + to[4 * t + 2] * 13 + to[4 * t + 3] * 29 + sum * 1000;
    cluster.sync();
}

// ---- compiled for clusters ---------------------------------------------------------------------

__global__ void __cluster_dims__(4, 1, 1) compiled(unsigned *out)
{
    __shared__ unsigned own;
    auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) own = blockIdx.x;
    cluster.sync();
    out[blockIdx.x * THREADS + threadIdx.x] =
        *cluster.map_shared_rank(&own, 3 - cluster.block_rank()) * 100 + cluster.num_blocks();
    cluster.sync();
}

__global__ void __block_size__((THREADS, 1, 1), (2, 1, 1)) counted(unsigned *out)
{
    out[blockIdx.x * THREADS + threadIdx.x] =
        gridDim.x * 100 + cg::this_cluster().block_rank() * 10 + cg::this_cluster().num_blocks();
}

// ---- mistakes ----------------------------------------------------------------------------------

__global__ void ended(unsigned *out)
{
    __shared__ unsigned own;
    auto cluster = cg::this_cluster();
    own = blockIdx.x;
    cluster.sync();
    if (cluster.block_rank() == 1) return;
    for (int k = 0; k < 100; k++) __nanosleep(10000);
    out[threadIdx.x] = *cluster.map_shared_rank(&own, 1);
}

__global__ void beyond(unsigned *out)
{
    __shared__ unsigned own;
    auto cluster = cg::this_cluster();
    own = blockIdx.x;
    cluster.sync();
    out[threadIdx.x] = *cluster.map_shared_rank(&own, 5);
    cluster.sync();
}

__global__ void outside(unsigned *out)
{
    __shared__ unsigned own[32];
    auto cluster = cg::this_cluster();
    own[threadIdx.x % 32] = blockIdx.x;
    cluster.sync();
    out[threadIdx.x] = cluster.map_shared_rank(own, 1)[1 << 20];
    cluster.sync();
}

static int mistake(const char *name)
{
    CHECK(cudaMalloc(&device, sizeof host));
    void (*kernel)(unsigned *) = !strcmp(name, "ended")    ? ended
                                 : !strcmp(name, "beyond") ? beyond
                                                           : outside;
    cudaError_t error = launch(kernel, dim3(2), dim3(2), THREADS, 0, device);
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    printf("~%s: %s\n", name, cudaGetErrorName(error));
    return 0;
}

// ---- the host's side ---------------------------------------------------------------------------

static void refusal(const char *name, cudaError_t error)
{
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    printf("%s: %s\n", name, cudaGetErrorName(error));
    cudaGetLastError();
}

template <typename... P> static void attributes(const char *name, void (*kernel)(P...))
{
    cudaFuncAttributes a;
    CHECK(cudaFuncGetAttributes(&a, (const void *)kernel));
    printf("attributes of %s: %d, %d x %d x %d, %d, %d\n", name, a.clusterDimMustBeSet,
           a.requiredClusterWidth, a.requiredClusterHeight, a.requiredClusterDepth,
           a.nonPortableClusterSizeAllowed, a.clusterSchedulingPolicyPreference);
}

static void occupancy(int cluster, int threads, size_t shared)
{
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    int clusters = -1, size = -1;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = cluster * 8;
    config.blockDim = threads;
    config.dynamicSmemBytes = shared;
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaError_t first = cudaOccupancyMaxActiveClusters(&clusters, histogram, &config);
    cudaGetLastError();
    cudaError_t second = cudaOccupancyMaxPotentialClusterSize(&size, histogram, &config);
    cudaGetLastError();
    printf("~clusters of %d blocks of %d threads and %d bytes: %d (%s), largest %d (%s)\n", cluster,
           threads, (int)shared, clusters, cudaGetErrorName(first), size, cudaGetErrorName(second));
}

static void graphs()
{
    cudaGraph_t graph;
    cudaGraphNode_t node, second;
    cudaGraphExec_t exec;
    void *args[] = {&device};
    cudaKernelNodeParams params = {};
    params.func = (void *)compiled;
    params.gridDim = 8;
    params.blockDim = THREADS;
    params.kernelParams = args;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params));
    params.func = (void *)gather;
    CHECK(cudaGraphAddKernelNode(&second, graph, &node, 1, &params));
    cudaKernelNodeAttrValue value = {};
    value.clusterDim.x = 2;
    value.clusterDim.y = value.clusterDim.z = 1;
    refusal("a node's clusters",
            cudaGraphKernelNodeSetAttribute(second, cudaLaunchAttributeClusterDimension, &value));
    memset(&value, 0, sizeof value);
    CHECK(cudaGraphKernelNodeGetAttribute(second, cudaLaunchAttributeClusterDimension, &value));
    printf("a node has clusters of %u x %u x %u\n", value.clusterDim.x, value.clusterDim.y,
           value.clusterDim.z);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, 0));
    answer("graph", 8 * THREADS);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

int main(int argc, char **argv)
{
    int has = 0;
    if (argc > 1) return mistake(argv[1]);
    in_process(argv[0], "ended");
    in_process(argv[0], "beyond");
    in_process(argv[0], "outside");
    CHECK(cudaDeviceGetAttribute(&has, cudaDevAttrClusterLaunch, 0));
    printf("cluster launch: %d\n", has);
    CHECK(cudaMalloc(&device, sizeof host));
    CHECK(cudaMemset(device, 0, sizeof host));

    registers<<<dim3(4, 2, 2), 64>>>(device);
    answer("registers without clusters", 16 * 16);
    const dim3 shapes[] = {dim3(1),       dim3(2),       dim3(4),      dim3(8),
                           dim3(2, 2, 2), dim3(1, 4, 2), dim3(2, 1, 4)};
    for (dim3 shape : shapes) {
        char name[80];
        snprintf(name, sizeof name, "registers %u x %u x %u", shape.x, shape.y, shape.z);
        CHECK(launch(registers, dim3(8, 4, 4), shape, 64, 0, device));
        answer(name, 16 * 128);
    }
    for (int size = 1; size <= 8; size *= 2) {
        char name[80];
#define RUN(kernel, shared)                                                                        \
    snprintf(name, sizeof name, #kernel " %d", size);                                              \
    CHECK(launch(kernel, dim3(16), dim3(size), THREADS, shared, device));                          \
    answer(name, 16 * THREADS)
        RUN(gather, 0);
        RUN(scatter, 0);
        RUN(histogram, 128);
        RUN(split, 0);
        RUN(arrive, 0);
        RUN(copy, 0);
        RUN(store, 0);
        if (size > 1) {
            RUN(narrow, 0);
        }
    }
    unsigned *in;
    CHECK(cudaMalloc(&in, THREADS * sizeof *in));
    for (int i = 0; i < THREADS; i++) host[i] = 3 * i + 1;
    CHECK(cudaMemcpy(in, host, THREADS * sizeof *in, cudaMemcpyHostToDevice));
    CHECK(launch(multicast, dim3(16), dim3(8), THREADS, 0, (const unsigned *)in, device,
                 (unsigned short)0xa5));
    answer("multicast", 16 * THREADS);
    compiled<<<16, THREADS>>>(device);
    answer("compiled", 16 * THREADS);
    counted<<<3, THREADS>>>(device);
    answer("counted", 6 * THREADS);
    graphs();

    refusal("a grid that is no multiple", launch(gather, dim3(15), dim3(2), THREADS, 0, device));
    refusal("a compiled grid that is no multiple",
            (compiled<<<15, THREADS>>>(device), cudaGetLastError()));
    refusal("9 blocks", launch(gather, dim3(18), dim3(9), THREADS, 0, device));
    refusal("16 blocks", launch(gather, dim3(16), dim3(16), THREADS, 0, device));
    refusal("32 blocks", launch(gather, dim3(32), dim3(32), THREADS, 0, device));
    refusal("no blocks", launch(gather, dim3(16), dim3(0), THREADS, 0, device));
    refusal("no blocks in y", launch(gather, dim3(16), dim3(2, 0, 1), THREADS, 0, device));
    refusal("other than compiled", launch(compiled, dim3(16), dim3(2), THREADS, 0, device));
    refusal("as compiled", launch(compiled, dim3(16), dim3(4), THREADS, 0, device));
    CHECK(cudaFuncSetAttribute(gather, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    refusal("9 blocks, allowed", launch(gather, dim3(18), dim3(9), THREADS, 0, device));
    refusal("17 blocks, allowed", launch(gather, dim3(17), dim3(17), THREADS, 0, device));
    CHECK(cudaMemset(device, 0, sizeof host));
    CHECK(launch(gather, dim3(16), dim3(16), THREADS, 0, device));
    answer("gather 16", 16 * THREADS);
    attributes("gather", gather);
    attributes("scatter", scatter);
    attributes("compiled", compiled);
    attributes("counted", counted);
    refusal("width of a compiled one",
            cudaFuncSetAttribute(compiled, cudaFuncAttributeRequiredClusterWidth, 2));
    refusal("width", cudaFuncSetAttribute(scatter, cudaFuncAttributeRequiredClusterWidth, 2));
    refusal("height", cudaFuncSetAttribute(scatter, cudaFuncAttributeRequiredClusterHeight, 1));
    refusal("depth", cudaFuncSetAttribute(scatter, cudaFuncAttributeRequiredClusterDepth, 1));
    refusal("policy",
            cudaFuncSetAttribute(scatter, cudaFuncAttributeClusterSchedulingPolicyPreference, 2));
    refusal("policy 7",
            cudaFuncSetAttribute(scatter, cudaFuncAttributeClusterSchedulingPolicyPreference, 7));
    attributes("scatter", scatter);
    scatter<<<16, THREADS>>>(device);
    answer("scatter as set", 16 * THREADS);
    for (int cluster = 1; cluster <= 16; cluster *= 2) {
        occupancy(cluster, 64, 0);
        occupancy(cluster, 1024, 0);
        occupancy(cluster, 128, 40000);
    }
    CHECK(cudaFuncSetAttribute(histogram, cudaFuncAttributeMaxDynamicSharedMemorySize, 200000));
    occupancy(2, 256, 200000);
    occupancy(8, 256, 200000);
    CHECK(cudaFuncSetAttribute(histogram, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    occupancy(16, 64, 0);
    occupancy(16, 256, 200000);
    return 0;
}
