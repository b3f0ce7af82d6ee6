// Right: tiled transpose with a padded tile and tiled matrix product with ragged edges, launch
// bounds, __ldg, register blocking.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CHECK_CUDA(call)                                                                           \
    do {                                                                                           \
        const cudaError_t error = call;                                                            \
        if (error != cudaSuccess) {                                                                \
            printf("Error: %s:%d, ", __FILE__, __LINE__);                                          \
            printf("code: %d, reason: %s\n", error, cudaGetErrorString(error));                    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

constexpr int TILE = 32;
constexpr int ROWS = 8;

// 32 x 32 tile moved by 32 x 8 threads
__global__ void transpose(const float *__restrict__ in, float *__restrict__ out, int w, int h)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < w && y + j < h)
            tile[threadIdx.y + j][threadIdx.x] = __ldg(&in[(size_t)(y + j) * w + x]);
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < h && y + j < w) out[(size_t)(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}

// the simplest tiled product
template <int B>
__global__ void __launch_bounds__(B *B)
    matmulTiled(const float *A, const float *Bm, float *C, int M, int N, int K)
{
    __shared__ float As[B][B];
    __shared__ float Bs[B][B];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * B + ty, col = blockIdx.x * B + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += B) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = col < N && k0 + ty < K ? Bm[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < B; ++k) acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = acc;
}

// 32 x 32 results per block of 64 threads, each thread holds 4 x 4; two shared tiles take turns
// (one barrier per step)
__global__ void __launch_bounds__(64, 4)
    matmulBlocked(const float *__restrict__ A, const float *__restrict__ Bm, float *__restrict__ C,
                  int M, int N, int K)
{
    constexpr int BK = 8;
    __shared__ float As[2][BK][32];
    __shared__ float Bs[2][BK][32];
    const int t = threadIdx.x, ty = t / 8, tx = t % 8;
    const int r0 = blockIdx.y * 32, c0 = blockIdx.x * 32;
    float acc[4][4] = {};

    auto load = [&](int buf, int k0) {
        for (int i = t; i < BK * 32; i += 64) {
            int k = i % BK, r = i / BK;
            As[buf][k][r] = r0 + r < M && k0 + k < K ? __ldg(&A[(r0 + r) * K + k0 + k]) : 0.0f;
            int c = i % 32, kk = i / 32;
            Bs[buf][kk][c] = c0 + c < N && k0 + kk < K ? __ldg(&Bm[(k0 + kk) * N + c0 + c]) : 0.0f;
        }
    };
    load(0, 0);
    __syncthreads();
    int buf = 0;
    for (int k0 = 0; k0 < K; k0 += BK, buf ^= 1) {
        if (k0 + BK < K) load(buf ^ 1, k0 + BK);
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float a[4], b[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                a[i] = As[buf][k][ty * 4 + i];
                b[i] = Bs[buf][k][tx + 8 * i];
            }
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) acc[i][j] = fmaf(a[i], b[j], acc[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            int r = r0 + ty * 4 + i, c = c0 + tx + 8 * j;
            if (r < M && c < N) C[r * N + c] = acc[i][j];
        }
}

static int compare(const char *name, const std::vector<float> &got, const std::vector<float> &want,
                   float tol)
{
    int bad = 0;
    for (size_t i = 0; i < want.size(); ++i)
        if (!(std::fabs(got[i] - want[i]) <= tol) && bad++ < 3)
            printf("%s[%zu]: %f, expected %f\n", name, i, got[i], want[i]);
    return bad;
}

int main()
{
    const int M = 75, N = 70, K = 53;
    std::vector<float> A(M * K), B(K * N), C(M * N, 0.0f), got(M * N), At(M * K), gotT(M * K);
    for (size_t i = 0; i < A.size(); ++i) A[i] = (float)((i * 17) % 23) / 23.0f - 0.5f;
    for (size_t i = 0; i < B.size(); ++i) B[i] = (float)((i * 29) % 31) / 31.0f - 0.5f;
    for (int r = 0; r < M; ++r)
        for (int k = 0; k < K; ++k) {
            At[k * M + r] = A[r * K + k];
            for (int c = 0; c < N; ++c) C[r * N + c] += A[r * K + k] * B[k * N + c];
        }
    float *dA, *dB, *dC, *dT;
    CHECK_CUDA(cudaMalloc(&dA, A.size() * sizeof(float)));
    CHECK_CUDA(cudaMalloc(&dB, B.size() * sizeof(float)));
    CHECK_CUDA(cudaMalloc(&dC, C.size() * sizeof(float)));
    CHECK_CUDA(cudaMalloc(&dT, A.size() * sizeof(float)));
    CHECK_CUDA(cudaMemcpy(dA, A.data(), A.size() * sizeof(float), cudaMemcpyHostToDevice));
    CHECK_CUDA(cudaMemcpy(dB, B.data(), B.size() * sizeof(float), cudaMemcpyHostToDevice));
    int bad = 0;

    transpose<<<dim3((K + TILE - 1) / TILE, (M + TILE - 1) / TILE), dim3(TILE, ROWS)>>>(dA, dT, K,
                                                                                        M);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaMemcpy(gotT.data(), dT, gotT.size() * sizeof(float), cudaMemcpyDeviceToHost));
    bad += compare("transpose", gotT, At, 0.0f);
    // and back again
    CHECK_CUDA(cudaMemset(dA, 0, A.size() * sizeof(float)));
    transpose<<<dim3((M + TILE - 1) / TILE, (K + TILE - 1) / TILE), dim3(TILE, ROWS)>>>(dT, dA, M,
                                                                                        K);
    CHECK_CUDA(cudaGetLastError());

    matmulTiled<16><<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(dA, dB, dC, M, N, K);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaMemcpy(got.data(), dC, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
    bad += compare("matmulTiled", got, C, 1e-4f);

    CHECK_CUDA(cudaMemset(dC, 0xff, C.size() * sizeof(float)));
    matmulBlocked<<<dim3((N + 31) / 32, (M + 31) / 32), 64>>>(dA, dB, dC, M, N, K);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaMemcpy(got.data(), dC, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
    bad += compare("matmulBlocked", got, C, 1e-4f);

    CHECK_CUDA(cudaFree(dA));
    CHECK_CUDA(cudaFree(dB));
    CHECK_CUDA(cudaFree(dC));
    CHECK_CUDA(cudaFree(dT));
    if (bad) {
        printf("%d wrong elements\n", bad);
        return 1;
    }
    printf("PASS\n");
    return 0;
}
