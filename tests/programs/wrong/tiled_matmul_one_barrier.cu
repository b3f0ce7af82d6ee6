// Wrong: tiled matrix product without the second __syncthreads: a fast warp loads the next tile
// while others still multiply.
// Found: shared memory race
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t err = (call);                                                                  \
        if (err != cudaSuccess) {                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err));           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

constexpr int TILE = 16;

__global__ void matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float sum = 0.0f;

    for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
        int ka = t * TILE + tx, kb = t * TILE + ty;
        As[ty][tx] = (row < M && ka < K) ? A[row * K + ka] : 0.0f;
        Bs[ty][tx] = (kb < K && col < N) ? B[kb * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += As[ty][k] * Bs[k][tx];
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

int main()
{
    const int M = 96, N = 80, K = 112;
    std::vector<float> A(M * K), B(K * N), C(M * N), ref(M * N, 0.0f);
    for (size_t i = 0; i < A.size(); ++i) A[i] = static_cast<float>(i % 13) - 6.0f;
    for (size_t i = 0; i < B.size(); ++i) B[i] = static_cast<float>(i % 7) - 3.0f;
    for (int r = 0; r < M; ++r)
        for (int k = 0; k < K; ++k)
            for (int c = 0; c < N; ++c) ref[r * N + c] += A[r * K + k] * B[k * N + c];

    float *dA, *dB, *dC;
    CHECK(cudaMalloc(&dA, A.size() * sizeof(float)));
    CHECK(cudaMalloc(&dB, B.size() * sizeof(float)));
    CHECK(cudaMalloc(&dC, C.size() * sizeof(float)));
    CHECK(cudaMemcpy(dA, A.data(), A.size() * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dB, B.data(), B.size() * sizeof(float), cudaMemcpyHostToDevice));

    dim3 block(TILE, TILE), grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    matmul<<<grid, block>>>(dA, dB, dC, M, N, K);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(C.data(), dC, C.size() * sizeof(float), cudaMemcpyDeviceToHost));

    int bad = 0;
    for (int i = 0; i < M * N; ++i)
        if (std::fabs(C[i] - ref[i]) > 1e-3f && bad++ < 5)
            printf("C[%d][%d] = %f, expected %f\n", i / N, i % N, C[i], ref[i]);

    CHECK(cudaFree(dA));
    CHECK(cudaFree(dB));
    CHECK(cudaFree(dC));
    if (bad) {
        printf("%d elements differ\n", bad);
        return 1;
    }
    printf("PASS\n");
    return 0;
}
