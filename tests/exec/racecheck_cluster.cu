// More kernels for test_exec_watch, as racecheck_kernels.cu has them: clusters of two blocks, and
// what they do in each other's shared memory. Their names have "cluster" in them.
#include <cooperative_groups.h>
#include <cstdint>

namespace cg = cooperative_groups;

#define KERNEL extern "C" __global__ void __cluster_dims__(2, 1, 1)

__device__ int index()
{
    return threadIdx.x + blockIdx.x * blockDim.x;
}

__device__ unsigned other()
{
    return cg::this_cluster().block_rank() ^ 1;
}

__device__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ unsigned address_in(const void *p, unsigned rank)
{
    unsigned address;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(shared_address(p)), "r"(rank));
    return address;
}

__device__ void make(uint64_t *object, unsigned arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(object)),
                 "r"(arrivals)
                 : "memory");
}

__device__ void arrive_at(const uint64_t *object, unsigned rank)
{
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                     address_in(object, rank))
                 : "memory");
}

__device__ void wait_for(const uint64_t *object, unsigned parity)
{
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, "
                     "[%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(shared_address(object)), "r"(parity)
                     : "memory");
}

// ---- right -----------------------------------------------------------------------------------

KERNEL right_cluster_gather(const int *in, int *out, int n)
{
    __shared__ int own[128];
    auto cluster = cg::this_cluster();
    for (int round = 0; round < 3; round++) {
        own[threadIdx.x] = in[index()] + round;
        cluster.sync();
        out[index()] += cluster.map_shared_rank(own, other())[127 - threadIdx.x];
        cluster.sync();
    }
}

KERNEL right_cluster_bins(const int *in, int *out, int n)
{
    __shared__ int bins[16];
    auto cluster = cg::this_cluster();
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    cluster.sync();
    const int bin = in[index()] & 31;
    atomicAdd(cluster.map_shared_rank(bins, bin / 16) + bin % 16, 1);
    cluster.sync();
    if (threadIdx.x < 16)
        atomicAdd(&out[cluster.block_rank() * 16 + threadIdx.x], bins[threadIdx.x]);
}

KERNEL right_cluster_arrival(const int *in, int *out, int n)
{
    __shared__ int own[128];
    auto cluster = cg::this_cluster();
    own[threadIdx.x] = in[index()];
    auto token = cluster.barrier_arrive();
    int sum = in[(index() + 1) % n];
    cluster.barrier_wait(static_cast<decltype(token) &&>(token));
    sum += cluster.map_shared_rank(own, other())[127 - threadIdx.x];
    cluster.sync();
    out[index()] = sum;
}

// An arrival that does not release, behind a fence that does.
KERNEL right_cluster_fence(const int *in, int *out, int n)
{
    __shared__ int own[128];
    auto cluster = cg::this_cluster();
    own[threadIdx.x] = in[index()];
    __threadfence();
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
    out[index()] = cluster.map_shared_rank(own, other())[127 - threadIdx.x];
    cluster.sync();
}

// Rows go back and forth, each side tells the other when it has them and when it has read them.
KERNEL right_cluster_objects(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    __shared__ uint64_t full, empty;
    auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) {
        make(&full, 128);
        make(&empty, 128);
    }
    cluster.sync();
    for (unsigned round = 0; round < 4; round++) {
        cluster.map_shared_rank(tile, other())[threadIdx.x] = in[index()] + round;
        arrive_at(&full, other());
        wait_for(&full, round & 1);
        out[index()] += tile[127 - threadIdx.x];
        arrive_at(&empty, other());
        wait_for(&empty, round & 1);
    }
}

KERNEL right_cluster_bulk(const int *in, int *out, int n)
{
    __shared__ __align__(128) int from[128], to[128];
    __shared__ uint64_t object;
    auto cluster = cg::this_cluster();
    from[threadIdx.x] = in[index()];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (threadIdx.x == 0) {
        make(&object, 1);
        asm volatile(
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" ::"r"(shared_address(&object))
            : "memory");
    }
    cluster.sync();
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], "
                     "[%1], 512, [%2];" ::"r"(address_in(to, other())),
                     "r"(shared_address(from)), "r"(address_in(&object, other()))
                     : "memory");
    wait_for(&object, 0);
    out[index()] = to[127 - threadIdx.x];
    cluster.sync();
}

KERNEL right_cluster_stores(const int *in, int *out, int n)
{
    __shared__ int to[128];
    __shared__ uint64_t object;
    auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) {
        make(&object, 1);
        asm volatile(
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" ::"r"(shared_address(&object))
            : "memory");
    }
    cluster.sync();
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(
                     address_in(to + threadIdx.x, other())),
                 "r"(in[index()]), "r"(address_in(&object, other()))
                 : "memory");
    wait_for(&object, 0);
    out[index()] = to[127 - threadIdx.x];
    cluster.sync();
}

// A flag in the other block's shared memory, behind a fence.
KERNEL right_cluster_flag(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    __shared__ int flag;
    auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) flag = 0;
    cluster.sync();
    cluster.map_shared_rank(tile, other())[threadIdx.x] = in[index()];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(cluster.map_shared_rank(&flag, other()), 1);
    if (threadIdx.x == 0)
        while (atomicAdd(&flag, 0) == 0) {
        }
    __threadfence();
    __syncthreads();
    out[index()] = tile[127 - threadIdx.x];
    cluster.sync();
}

// Global memory: the cluster's barrier orders it, too.
KERNEL right_cluster_global(const int *in, int *out, int n)
{
    auto cluster = cg::this_cluster();
    out[index()] = in[index()];
    cluster.sync();
    const int sum = out[index() ^ 128] + 1;
    cluster.sync();
    out[index()] = sum;
}

// Nobody uses the shared memory of the block that ends first.
KERNEL right_cluster_left(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    auto cluster = cg::this_cluster();
    cluster.sync();
    if (cluster.block_rank() == 1) cluster.map_shared_rank(tile, 0)[threadIdx.x] = in[index()];
    cluster.sync();
    if (cluster.block_rank() == 1) return;
    out[index()] = tile[127 - threadIdx.x];
}

// Its own memory by its address in the cluster.
KERNEL right_cluster_own(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    auto cluster = cg::this_cluster();
    int *own = cluster.map_shared_rank(tile, cluster.block_rank());
    own[threadIdx.x] = in[index()];
    __syncthreads();
    out[index()] = tile[127 - threadIdx.x] + own[threadIdx.x ^ 1];
}

// ---- wrong -----------------------------------------------------------------------------------

KERNEL cluster_not_there_yet(const int *in, int *out, int n)
{
    __shared__ int own[128];
    auto cluster = cg::this_cluster();
    own[threadIdx.x] = in[index()]; // cluster_not_there_yet
    __syncthreads();
    out[index()] =
        cluster.map_shared_rank(own, other())[127 - threadIdx.x]; // cluster_not_there_yet
    cluster.sync();
}

KERNEL cluster_not_read_yet(const int *in, int *out, int n)
{
    __shared__ int own[128];
    auto cluster = cg::this_cluster();
    own[threadIdx.x] = in[index()];
    cluster.sync();
    out[index()] = cluster.map_shared_rank(own, other())[127 - threadIdx.x]; // cluster_not_read_yet
    __syncthreads();
    own[threadIdx.x] = in[index()] + 1; // cluster_not_read_yet
    cluster.sync();
}

KERNEL cluster_relaxed(const int *in, int *out, int n)
{
    __shared__ int own[128];
    auto cluster = cg::this_cluster();
    own[threadIdx.x] = in[index()]; // cluster_relaxed
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
    asm volatile("barrier.cluster.wait;" ::: "memory");
    out[index()] = cluster.map_shared_rank(own, other())[127 - threadIdx.x]; // cluster_relaxed
    cluster.sync();
}

KERNEL cluster_threads_of_one(const int *in, int *out, int n)
{
    __shared__ int own[128];
    auto cluster = cg::this_cluster();
    cluster.sync();
    int *there = cluster.map_shared_rank(own, other());
    there[threadIdx.x] = in[index()];        // cluster_threads_of_one
    out[index()] = there[127 - threadIdx.x]; // cluster_threads_of_one
    cluster.sync();
}

KERNEL cluster_sum(const int *in, int *out, int n)
{
    __shared__ int sum;
    auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) sum = 0;
    cluster.sync();
    if (threadIdx.x == 0) *cluster.map_shared_rank(&sum, 0) += in[index()]; // cluster_sum
    cluster.sync();
    if (threadIdx.x == 0) out[index()] = sum;
}

KERNEL cluster_object_forgotten(const int *in, int *out, int n)
{
    __shared__ int tile[128];
    __shared__ uint64_t full;
    auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) make(&full, 128);
    cluster.sync();
    cluster.map_shared_rank(tile, other())[threadIdx.x] = in[index()]; // cluster_object_forgotten
    arrive_at(&full, other());
    out[index()] = tile[127 - threadIdx.x]; // cluster_object_forgotten
    cluster.sync();
}

KERNEL cluster_ends_too_early(const int *in, int *out, int n)
{
    __shared__ int own[128];
    auto cluster = cg::this_cluster();
    own[threadIdx.x] = in[index()];
    cluster.sync();
    if (cluster.block_rank() == 1)
        out[index()] = cluster.map_shared_rank(own, 0)[127 - threadIdx.x]; // cluster_ends_too_early
}

KERNEL cluster_global_early(const int *in, int *out, int n)
{
    auto cluster = cg::this_cluster();
    out[index()] = in[index()]; // cluster_global_early
    __syncthreads();
    const int there = out[index() ^ 128]; // cluster_global_early
    atomicAdd(&out[n], there);
    cluster.sync();
}
