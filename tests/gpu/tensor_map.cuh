// What tensor_map.cu asks a GPU to run: kernels that copy a box between a tensor and dynamic shared
// memory, in each way that PTX has for tiles. Bytes of shared memory that no copy fills are 0xcc.
#pragma once

#include "gpu.cuh"

#include <cstdint>
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>

// The driver's functions, as programs find them that are not linked with it.
typedef CUresult encode_function(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                                 const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                                 const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                                 CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

inline void *entry(const char *name)
{
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found));
    if (function == nullptr) {
        printf("%s is not there\n", name);
        exit(1);
    }
    return function;
}

__constant__ CUtensorMap constant_map;

struct Coordinates {
    int c[5];
};

__device__ unsigned near(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

// Dynamic shared memory, from a multiple of 1024 on.
__device__ unsigned char *room()
{
    extern __shared__ unsigned char dynamic[];
    return dynamic + (1024 - near(dynamic) % 1024) % 1024;
}

__device__ void make(uint64_t *object)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(near(object)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ void expect(uint64_t *object, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(near(object)),
                 "r"(bytes)
                 : "memory");
}

// Whether the phase is over before patience is.
__device__ bool await(uint64_t *object, unsigned parity)
{
    unsigned over = 0;
    for (int k = 0; k < 1 << 20 && !over; k++)
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;"
                     " selp.u32 %0, 1, 0, p; }"
                     : "=r"(over)
                     : "r"(near(object)), "r"(parity)
                     : "memory");
    return over;
}

__device__ void fence()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ void finish()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

#define LOAD(dimensions, coordinates, ...)                                                         \
    asm volatile(                                                                                  \
        "cp.async.bulk.tensor." dimensions                                                         \
        ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, " coordinates        \
        "], [%2];" ::"r"(to),                                                                      \
        "l"(map), "r"(object), __VA_ARGS__                                                         \
        : "memory")
#define STORE(dimensions, coordinates, ...)                                                        \
    asm volatile("cp.async.bulk.tensor." dimensions                                                \
                 ".global.shared::cta.tile.bulk_group [%1, " coordinates "], [%0];" ::"r"(from),   \
                 "l"(map), "n"(0), __VA_ARGS__                                                     \
                 : "memory")
#define FIVE(MOVE)                                                                                 \
    switch (rank) {                                                                                \
    case 1:                                                                                        \
        MOVE("1d", "{%3}", "r"(c[0]));                                                             \
        break;                                                                                     \
    case 2:                                                                                        \
        MOVE("2d", "{%3, %4}", "r"(c[0]), "r"(c[1]));                                              \
        break;                                                                                     \
    case 3:                                                                                        \
        MOVE("3d", "{%3, %4, %5}", "r"(c[0]), "r"(c[1]), "r"(c[2]));                               \
        break;                                                                                     \
    case 4:                                                                                        \
        MOVE("4d", "{%3, %4, %5, %6}", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));                \
        break;                                                                                     \
    default:                                                                                       \
        MOVE("5d", "{%3, %4, %5, %6, %7}", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4])); \
    }

__device__ void load_box(unsigned to, const CUtensorMap *map, const int *c, unsigned object,
                         unsigned rank){FIVE(LOAD)}

__device__
    void store_box(unsigned from, const CUtensorMap *map, const int *c, unsigned rank){FIVE(STORE)}

__device__ void copy_out(unsigned char *to, const unsigned char *from, unsigned bytes)
{
    for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) to[i] = from[i];
}

__device__ void load_all(const CUtensorMap *map, Coordinates at, unsigned rank, unsigned offset,
                         unsigned moved, unsigned shared, unsigned char *to)
{
    __shared__ uint64_t object;
    unsigned char *tile = room() + offset;
    for (unsigned i = threadIdx.x; i < shared; i += blockDim.x) tile[i] = 0xcc;
    if (threadIdx.x == 0) make(&object);
    fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        expect(&object, moved);
        load_box(near(tile), map, at.c, near(&object), rank);
    }
    const bool over = await(&object, 0);
    if (!over && threadIdx.x == 0) printf("~the copy does not end with %u bytes\n", moved);
    if (over) copy_out(to, tile, shared);
}

__global__ void load(const __grid_constant__ CUtensorMap map, Coordinates at, unsigned rank,
                     unsigned offset, unsigned moved, unsigned shared, unsigned char *to)
{
    load_all(&map, at, rank, offset, moved, shared, to);
}

__global__ void load_by_constant(Coordinates at, unsigned rank, unsigned moved, unsigned char *to)
{
    load_all(&constant_map, at, rank, 0, moved, moved, to);
}

__global__ void load_by_global(const CUtensorMap *map, Coordinates at, unsigned rank,
                               unsigned moved, unsigned char *to)
{
    asm volatile("fence.proxy.tensormap::generic.acquire.sys [%0], 128;" ::"l"(map) : "memory");
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
    load_all(map, at, rank, 0, moved, moved, to);
}

__global__ void store(const __grid_constant__ CUtensorMap map, Coordinates at, unsigned rank,
                      unsigned offset, unsigned shared, const unsigned char *from)
{
    unsigned char *tile = room() + offset;
    for (unsigned i = threadIdx.x; i < shared; i += blockDim.x) tile[i] = from[i];
    fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        store_box(near(tile), &map, at.c, rank);
        finish();
    }
}

// Two boxes, two barriers, prefetched, with a policy for the cache; a third copy back.
__global__ void pipeline(const __grid_constant__ CUtensorMap map, unsigned moved, unsigned char *to)
{
    __shared__ uint64_t objects[2];
    unsigned char *tile = room();
    if (threadIdx.x == 0) {
        make(&objects[0]);
        make(&objects[1]);
    }
    fence();
    __syncthreads();
    for (int round = 0; round < 4; round++) {
        const int stage = round & 1;
        unsigned char *mine = tile + stage * 8192;
        if (threadIdx.x == 0) {
            asm volatile(
                "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&map),
                "r"(round * 8), "r"(0)
                : "memory");
            uint64_t policy;
            asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
            expect(&objects[stage], moved);
            asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::"
                         "bytes.L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(near(mine)),
                         "l"(&map), "r"(round * 8), "r"(round), "r"(near(&objects[stage])),
                         "l"(policy)
                         : "memory");
        }
        await(&objects[stage], round >> 1);
        copy_out(to + round * moved, mine, moved);
        __syncthreads();
    }
}

// The first block copies a box to some of its cluster.
__global__ void multicast(const __grid_constant__ CUtensorMap map, unsigned moved,
                          unsigned short ranks, unsigned char *to)
{
    __shared__ uint64_t object;
    unsigned char *tile = room();
    const unsigned rank = blockIdx.x;
    for (unsigned i = threadIdx.x; i < moved; i += blockDim.x) tile[i] = 0xcc;
    if (threadIdx.x == 0) {
        make(&object);
        if (ranks >> rank & 1) expect(&object, moved);
    }
    fence();
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    if (rank == 0 && threadIdx.x == 0)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::"
                     "bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(near(tile)),
                     "l"(&map), "r"(8), "r"(2), "r"(near(&object)), "h"(ranks)
                     : "memory");
    if (ranks >> rank & 1) await(&object, 0);
    copy_out(to + rank * moved, tile, moved);
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

#define REDUCE(operation)                                                                          \
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta." operation                    \
                 ".tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),                             \
                 "r"(at.c[0]), "r"(at.c[1]), "r"(near(tile))                                       \
                 : "memory")
enum Operation { ADD, MIN, MAX, INC, DEC, AND, OR, XOR };

__global__ void reduce(const __grid_constant__ CUtensorMap map, Coordinates at, Operation operation,
                       unsigned shared, const unsigned char *from)
{
    unsigned char *tile = room();
    for (unsigned i = threadIdx.x; i < shared; i += blockDim.x) tile[i] = from[i];
    fence();
    __syncthreads();
    if (threadIdx.x != 0) return;
    switch (operation) {
    case ADD:
        REDUCE("add");
        break;
    case MIN:
        REDUCE("min");
        break;
    case MAX:
        REDUCE("max");
        break;
    case INC:
        REDUCE("inc");
        break;
    case DEC:
        REDUCE("dec");
        break;
    case AND:
        REDUCE("and");
        break;
    case OR:
        REDUCE("or");
        break;
    default:
        REDUCE("xor");
    }
    finish();
}

// A map that is changed: a copy in shared memory gets another address, size and stride, goes to
// global memory, and is used from there.
__global__ void change(const __grid_constant__ CUtensorMap map, CUtensorMap *changed,
                       const unsigned char *address, unsigned width, uint64_t stride,
                       unsigned moved, unsigned char *to)
{
    __shared__ alignas(128) CUtensorMap copy;
    if (threadIdx.x < 32) ((unsigned *)&copy)[threadIdx.x] = ((const unsigned *)&map)[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(
                         near(&copy)),
                     "l"(address)
                     : "memory");
        asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %1;" ::"r"(
                         near(&copy)),
                     "r"(width)
                     : "memory");
        asm volatile(
            "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %1;" ::"r"(
                near(&copy)),
            "l"(stride)
            : "memory");
    }
    __syncthreads();
    if (threadIdx.x < 32)
        asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu."
                     "sync.aligned [%0], [%1], 128;" ::"l"(changed),
                     "r"(near(&copy))
                     : "memory");
    __syncthreads();
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(changed) : "memory");
    load_all(changed, Coordinates{{8, 1}}, 2, 0, moved, moved, to);
}

// A map made from zeros, as Triton makes it: f16, 64 x 16, boxes of 32 x 8, swizzled by 64 bytes.
__global__ void create(CUtensorMap *map, const unsigned char *address, unsigned moved,
                       unsigned char *to)
{
    __shared__ alignas(128) CUtensorMap made;
    if (threadIdx.x < 32) ((unsigned *)&made)[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(
                         near(&made)),
                     "l"(address)
                     : "memory");
        asm volatile("tensormap.replace.tile.rank.shared::cta.b1024.b32 [%0], 1;" ::"r"(near(&made))
                     : "memory");
        asm volatile(
            "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 0, %1;" ::"r"(near(&made)),
            "r"(32)
            : "memory");
        asm volatile(
            "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(near(&made)),
            "r"(8)
            : "memory");
        asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %1;" ::"r"(
                         near(&made)),
                     "r"(64)
                     : "memory");
        asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(
                         near(&made)),
                     "r"(16)
                     : "memory");
        asm volatile(
            "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %1;" ::"r"(
                near(&made)),
            "l"(uint64_t(128))
            : "memory");
        asm volatile(
            "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 0, %1;" ::"r"(
                near(&made)),
            "r"(1)
            : "memory");
        asm volatile(
            "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(
                near(&made)),
            "r"(1)
            : "memory");
        asm volatile(
            "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], 6;" ::"r"(near(&made))
            : "memory");
        asm volatile(
            "tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%0], 0;" ::"r"(
                near(&made))
            : "memory");
        asm volatile(
            "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], 2;" ::"r"(near(&made))
            : "memory");
        asm volatile(
            "tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%0], 0;" ::"r"(near(&made))
            : "memory");
    }
    __syncthreads();
    if (threadIdx.x < 32)
        asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu."
                     "sync.aligned [%0], [%1], 128;" ::"l"(map),
                     "r"(near(&made))
                     : "memory");
    __syncthreads();
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
    load_all(map, Coordinates{{16, 11}}, 2, 0, moved, moved, to);
}
