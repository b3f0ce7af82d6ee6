// C = A * B^T by tensor copies, as Hopper kernels do it: one warp asks for tiles, swizzled by 128
// bytes, three stages ahead; four warps multiply and give stages back; what they made goes out by a
// tensor copy, over the edges of the matrix. A second kernel adds up slices of K by reductions.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <cuda/ptx>
#include <cuda_runtime.h>
#include <vector>

namespace ptx = cuda::ptx;

constexpr int TILE = 32, STAGES = 3, CONSUMERS = 128, THREADS = CONSUMERS + 32;

struct Shared {
    alignas(1024) float a[STAGES][TILE][TILE];
    alignas(1024) float b[STAGES][TILE][TILE];
    alignas(128) float c[TILE][TILE];
    uint64_t full[STAGES], empty[STAGES];
};

// Element x of row y of a tile whose 16-byte chunks are swizzled.
__device__ float at(const float (*tile)[TILE], int y, int x)
{
    return tile[y][(((x / 4) ^ (y % 8)) * 4) + x % 4];
}

__device__ void wait(uint64_t *barrier, unsigned parity)
{
    while (!ptx::mbarrier_try_wait_parity(barrier, parity)) {
    }
}

__device__ void produce(Shared &s, const CUtensorMap &a, const CUtensorMap &b, int first, int last)
{
    for (int k = first, n = 0; k < last; k += TILE, n++) {
        const int stage = n % STAGES, row_a = blockIdx.y * TILE, row_b = blockIdx.x * TILE;
        if (n >= STAGES) wait(&s.empty[stage], (n / STAGES - 1) & 1);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                       &s.full[stage], 2 * sizeof s.a[0]);
        const int32_t from_a[] = {k, row_a}, from_b[] = {k, row_b};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s.a[stage], &a, from_a,
                                  &s.full[stage]);
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s.b[stage], &b, from_b,
                                  &s.full[stage]);
    }
}

template <bool ADDS>
__global__ void multiply(const __grid_constant__ CUtensorMap a,
                         const __grid_constant__ CUtensorMap b,
                         const __grid_constant__ CUtensorMap c, int first, int last)
{
    extern __shared__ unsigned char room[];
    Shared &s =
        *reinterpret_cast<Shared *>((reinterpret_cast<uintptr_t>(room) + 1023) / 1024 * 1024);
    const int t = threadIdx.x;
    if (t == 0) {
        for (int k = 0; k < STAGES; k++) {
            ptx::mbarrier_init(&s.full[k], 1);
            ptx::mbarrier_init(&s.empty[k], CONSUMERS);
        }
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    if (ADDS) {
        const int part = (last - first) / (int)gridDim.z;
        first += part * blockIdx.z;
        last = first + part;
    }
    if (t >= CONSUMERS) {
        if (t == CONSUMERS) produce(s, a, b, first, last);
        return;
    }
    float sum[8] = {};
    for (int k = first, n = 0; k < last; k += TILE, n++) {
        const int stage = n % STAGES;
        wait(&s.full[stage], n / STAGES & 1);
        for (int i = 0; i < TILE; i++)
            for (int j = 0; j < 8; j++)
                sum[j] += at(s.a[stage], t / 32 + 4 * j, i) * at(s.b[stage], t % 32, i);
        ptx::mbarrier_arrive(&s.empty[stage]);
    }
    for (int j = 0; j < 8; j++) s.c[t / 32 + 4 * j][t % 32] = sum[j];
    ptx::fence_proxy_async(ptx::space_shared);
    asm volatile("bar.sync 1, 128;" ::: "memory");
    if (t != 0) return;
    const int32_t to[] = {(int)blockIdx.x * TILE, (int)blockIdx.y * TILE};
    if (ADDS)
        ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &c, to,
                                         s.c);
    else
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &c, to, s.c);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
}

#define CHECK(call)                                                                                \
    do {                                                                                           \
        if (int e = (int)(call)) {                                                                 \
            printf("%s: %d\n", #call, e);                                                          \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

alignas(128) static CUtensorMap maps[3];

static void map_of(CUtensorMap *map, float *matrix, int rows, int columns,
                   CUtensorMapSwizzle swizzle)
{
    typedef CUresult encode_function(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                                     const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                                     const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                                     CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
    static encode_function *encode;
    cudaDriverEntryPointQueryResult found;
    if (encode == nullptr)
        CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000,
                                               cudaEnableDefault, &found));
    const cuuint64_t size[] = {(cuuint64_t)columns, (cuuint64_t)rows},
                     stride[] = {(columns * sizeof(float) + 15) / 16 * 16};
    const cuuint32_t box[] = {TILE, TILE}, step[] = {1, 1};
    CHECK(encode(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, matrix, size, stride, box, step,
                 CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                 CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
}

int main()
{
    const int m = 70, n = 50, k = 256, pitch_c = 52;
    std::vector<float> a(m * k), b(n * k), c(m * pitch_c, -1), should(m * pitch_c, -1);
    for (int i = 0; i < m * k; i++) a[i] = (float)(i * 37 % 19 - 9);
    for (int i = 0; i < n * k; i++) b[i] = (float)(i * 53 % 23 - 11);
    for (int y = 0; y < m; y++)
        for (int x = 0; x < n; x++) {
            float sum = 0;
            for (int i = 0; i < k; i++) sum += a[y * k + i] * b[x * k + i];
            should[y * pitch_c + x] = sum;
        }
    float *da, *db, *dc;
    CHECK(cudaMalloc(&da, a.size() * 4));
    CHECK(cudaMalloc(&db, b.size() * 4));
    CHECK(cudaMalloc(&dc, c.size() * 4));
    CHECK(cudaMemcpy(da, a.data(), a.size() * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b.data(), b.size() * 4, cudaMemcpyHostToDevice));
    map_of(&maps[0], da, m, k, CU_TENSOR_MAP_SWIZZLE_128B);
    map_of(&maps[1], db, n, k, CU_TENSOR_MAP_SWIZZLE_128B);
    map_of(&maps[2], dc, m, n, CU_TENSOR_MAP_SWIZZLE_NONE);
    const int bytes = sizeof(Shared) + 1024;
    const dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    CHECK(
        cudaFuncSetAttribute(multiply<false>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    CHECK(cudaFuncSetAttribute(multiply<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    int bad = 0;
    for (int adds = 0; adds < 2; adds++) {
        CHECK(cudaMemcpy(dc, c.data(), c.size() * 4, cudaMemcpyHostToDevice));
        if (adds) {
            CHECK(cudaMemset2D(dc, pitch_c * 4, 0, n * 4, m));
            multiply<true>
                <<<dim3(grid.x, grid.y, 4), THREADS, bytes>>>(maps[0], maps[1], maps[2], 0, k);
        } else {
            multiply<false><<<grid, THREADS, bytes>>>(maps[0], maps[1], maps[2], 0, k);
        }
        CHECK(cudaDeviceSynchronize());
        std::vector<float> got(c.size());
        CHECK(cudaMemcpy(got.data(), dc, got.size() * 4, cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < got.size(); i++) bad += got[i] != should[i];
        printf("%d of %zu elements differ\n", bad, got.size());
    }
    cudaFree(da);
    cudaFree(db);
    cudaFree(dc);
    return bad != 0;
}
