// Right: a product of matrices by mma.sync: cp.async into swizzled shared memory, two stages,
// ldmatrix and ldmatrix.trans, m16n8k16 with sums of f32, and the result through stores of two.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t e = (call);                                                                    \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

constexpr int M_TILE = 64, N_TILE = 64, K_TILE = 64, THREADS = 128;

__device__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

// 16 bytes `chunk` of row `row`, of eight a row: eight rows' same chunk lie in different banks
__device__ int place(int row, int chunk)
{
    return row * K_TILE + ((chunk ^ (row & 7)) * 8);
}

__device__ void copy16(half *to, const half *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from)
                 : "memory");
}

__device__ void load_a(unsigned (&r)[4], const half *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row))
                 : "memory");
}

__device__ void load_b(unsigned (&r)[2], const half *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(shared_address(row))
                 : "memory");
}

__device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// C = A * B, all row by row; four warps, each 32 x 32 of a tile of 64 x 64
__global__ void __launch_bounds__(THREADS)
    gemm(const half *a, const half *b, float *c, int n, int k)
{
    __shared__ __align__(128) half as[2][M_TILE * K_TILE], bs[2][K_TILE * N_TILE];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int row = warp / 2 * 32, column = warp % 2 * 32;
    const int top = blockIdx.y * M_TILE, left = blockIdx.x * N_TILE;
    float sum[2][4][4] = {};

    auto fetch = [&](int at, int stage) {
        for (int i = threadIdx.x; i < M_TILE * 8; i += THREADS) {
            const int r = i / 8, chunk = i % 8;
            copy16(&as[stage][place(r, chunk)], &a[(size_t)(top + r) * k + at + 8 * chunk]);
            copy16(&bs[stage][place(r, chunk)], &b[(size_t)(at + r) * n + left + 8 * chunk]);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    fetch(0, 0);
    for (int at = 0, stage = 0; at < k; at += K_TILE, stage ^= 1) {
        if (at + K_TILE < k) {
            fetch(at + K_TILE, stage ^ 1);
            asm volatile("cp.async.wait_group 1;" ::: "memory");
        } else {
            asm volatile("cp.async.wait_group 0;" ::: "memory");
        }
        __syncthreads();
        for (int step = 0; step < K_TILE / 16; step++) {
            unsigned fa[2][4], fb[4][2];
            for (int i = 0; i < 2; i++)
                load_a(fa[i], &as[stage][place(row + 16 * i + lane % 16, 2 * step + lane / 16)]);
            for (int j = 0; j < 4; j++)
                load_b(fb[j], &bs[stage][place(16 * step + lane % 16, column / 8 + j)]);
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 4; j++) multiply(sum[i][j], fa[i], fb[j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++) {
            float *to = &c[(size_t)(top + row + 16 * i + lane / 4) * n + left + column + 8 * j +
                           lane % 4 * 2];
            *(float2 *)to = make_float2(sum[i][j][0], sum[i][j][1]);
            *(float2 *)(to + 8 * (size_t)n) = make_float2(sum[i][j][2], sum[i][j][3]);
        }
}

int main()
{
    constexpr int m = 128, n = 192, k = 256;
    std::vector<half> a(m * k), b(k * n);
    std::vector<float> c(m * n);
    for (size_t i = 0; i < a.size(); i++) a[i] = __float2half((float)(i * 7 % 15) - 7);
    for (size_t i = 0; i < b.size(); i++) b[i] = __float2half((float)(i * 11 % 13) - 6);
    half *da, *db;
    float *dc;
    CHECK(cudaMalloc(&da, a.size() * sizeof(half)));
    CHECK(cudaMalloc(&db, b.size() * sizeof(half)));
    CHECK(cudaMalloc(&dc, c.size() * sizeof(float)));
    CHECK(cudaMemcpy(da, a.data(), a.size() * sizeof(half), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b.data(), b.size() * sizeof(half), cudaMemcpyHostToDevice));
    gemm<<<dim3(n / N_TILE, m / M_TILE), THREADS>>>(da, db, dc, n, k);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int x = 0; x < k; x++)
                sum += __half2float(a[i * k + x]) * __half2float(b[x * n + j]);
            wrong += c[i * n + j] != sum;
        }
    printf("%d of %d wrong\n", wrong, m * n);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
    return wrong != 0;
}
