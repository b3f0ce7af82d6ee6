// Right: a product of matrices on the tensor cores through nvcuda::wmma: tiles in shared memory,
// double-buffered, one 32 x 32 part of the result a warp; then the same in tf32, in bfloat16 and in
// bytes, from global memory, with what wmma says of layouts.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <type_traits>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t e = (call);                                                                    \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

using namespace nvcuda;

constexpr int TILE = 64, DEPTH = 32, PAD = 8, WARPS = 4;

// C = alpha * A * B + beta * C, all row by row; m, n and k are multiples of the tiles
__global__ void __launch_bounds__(32 * WARPS)
    gemm(const half *a, const half *b, float *c, int m, int n, int k, float alpha, float beta)
{
    __shared__ __align__(32) half as[2][TILE][DEPTH + PAD], bs[2][DEPTH][TILE + PAD];
    const int warp = threadIdx.x / 32, row = warp / 2 * 32, column = warp % 2 * 32;
    const int top = blockIdx.y * TILE, left = blockIdx.x * TILE;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (auto &line : sum)
        for (auto &part : line) wmma::fill_fragment(part, 0.0f);

    auto load = [&](int at, int stage) {
        for (int i = threadIdx.x; i < TILE * DEPTH / 8; i += 32 * WARPS) {
            const int r = i / (DEPTH / 8), q = i % (DEPTH / 8) * 8;
            *(uint4 *)&as[stage][r][q] = *(const uint4 *)&a[(size_t)(top + r) * k + at + q];
        }
        for (int i = threadIdx.x; i < DEPTH * TILE / 8; i += 32 * WARPS) {
            const int r = i / (TILE / 8), q = i % (TILE / 8) * 8;
            *(uint4 *)&bs[stage][r][q] = *(const uint4 *)&b[(size_t)(at + r) * n + left + q];
        }
    };
    load(0, 0);
    for (int at = 0, stage = 0; at < k; at += DEPTH, stage ^= 1) {
        __syncthreads();
        if (at + DEPTH < k) load(at + DEPTH, stage ^ 1);
        for (int step = 0; step < DEPTH; step += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb[2];
            for (int i = 0; i < 2; i++) {
                wmma::load_matrix_sync(fa[i], &as[stage][row + 16 * i][step], DEPTH + PAD);
                wmma::load_matrix_sync(fb[i], &bs[stage][step][column + 16 * i], TILE + PAD);
            }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++) wmma::mma_sync(sum[i][j], fa[i], fb[j], sum[i][j]);
        }
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            float *to = &c[(size_t)(top + row + 16 * i) * n + left + column + 16 * j];
            wmma::fragment<wmma::accumulator, 16, 16, 16, float> old;
            wmma::load_matrix_sync(old, to, n, wmma::mem_row_major);
            for (int x = 0; x < old.num_elements; x++)
                old.x[x] = alpha * sum[i][j].x[x] + beta * old.x[x];
            wmma::store_matrix_sync(to, old, n, wmma::mem_row_major);
        }
}

// one warp, one matrix of M x N, of a type of wmma's; B lies column by column
template <int M, int N, int K, typename Factor, typename Element, typename Sum>
__global__ void single(const Element *a, const Element *b, Sum *c, int depth)
{
    wmma::fragment<wmma::matrix_a, M, N, K, Factor, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, Factor, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, M, N, K, Sum> fc;
    wmma::fill_fragment(fc, Sum(0));
    for (int at = 0; at < depth; at += K) {
        wmma::load_matrix_sync(fa, a + at, depth);
        wmma::load_matrix_sync(fb, b + at, depth);
        if constexpr (std::is_same_v<Factor, wmma::precision::tf32>) {
            for (int x = 0; x < fa.num_elements; x++) fa.x[x] = wmma::__float_to_tf32(fa.x[x]);
            for (int x = 0; x < fb.num_elements; x++) fb.x[x] = wmma::__float_to_tf32(fb.x[x]);
        }
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c, fc, M, wmma::mem_col_major);
}

static double whole(size_t i)
{
    return (double)(i * 2654435761u % 17) - 8;
}

template <typename T> static T *upload(const std::vector<T> &from)
{
    T *to;
    CHECK(cudaMalloc(&to, from.size() * sizeof(T)));
    CHECK(cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
    return to;
}

template <int M, int N, int K, typename Factor, typename Element, typename Sum>
static int try_single(const char *name)
{
    constexpr int depth = 4 * K;
    std::vector<Element> a(M * depth), b(N * depth);
    std::vector<Sum> c(M * N);
    for (size_t i = 0; i < a.size(); i++) a[i] = Element((float)std::fabs(whole(i + 3)));
    for (size_t i = 0; i < b.size(); i++) b[i] = Element((float)std::fabs(whole(7 * i)));
    Element *da = upload(a), *db = upload(b);
    Sum *dc = upload(c);
    single<M, N, K, Factor><<<1, 32>>>(da, db, dc, depth);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), dc, c.size() * sizeof(Sum), cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int x = 0; x < depth; x++)
                sum += (double)(float)a[i * depth + x] * (double)(float)b[j * depth + x];
            wrong += (double)c[j * M + i] != sum;
        }
    printf("%s: %d wrong\n", name, wrong);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
    return wrong;
}

int main()
{
    constexpr int m = 128, n = 192, k = 96;
    std::vector<half> a(m * k), b(k * n);
    std::vector<float> c(m * n), got(m * n);
    for (size_t i = 0; i < a.size(); i++) a[i] = __float2half((float)whole(i) / 4);
    for (size_t i = 0; i < b.size(); i++) b[i] = __float2half((float)whole(5 * i + 1) / 2);
    for (size_t i = 0; i < c.size(); i++) c[i] = (float)whole(3 * i);
    half *da = upload(a), *db = upload(b);
    float *dc = upload(c);
    gemm<<<dim3(n / TILE, m / TILE), 32 * WARPS>>>(da, db, dc, m, n, k, 2.0f, -0.5f);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), dc, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int x = 0; x < k; x++)
                sum += (double)__half2float(a[i * k + x]) * (double)__half2float(b[x * n + j]);
            wrong += (double)got[i * n + j] != 2 * sum - 0.5 * (double)c[i * n + j];
        }
    printf("gemm: %d wrong\n", wrong);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
    wrong += try_single<16, 16, 16, half, half, half>("half");
    wrong += try_single<32, 8, 16, half, half, float>("half, 32 x 8");
    wrong += try_single<8, 32, 16, __nv_bfloat16, __nv_bfloat16, float>("bfloat16, 8 x 32");
    wrong += try_single<16, 16, 8, wmma::precision::tf32, float, float>("tf32");
    wrong += try_single<16, 16, 16, signed char, signed char, int>("signed bytes");
    wrong += try_single<32, 8, 16, unsigned char, unsigned char, int>("bytes, 32 x 8");
    wrong += try_single<8, 8, 4, double, double, double>("double");
    return wrong != 0;
}
