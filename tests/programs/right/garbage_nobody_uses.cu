// Right: a block that is not full scans shared memory of which some is nobody's, in place and up to
// the end, and stores what is its own; tiles have columns that nobody writes; and each thread
// changes words that it shares with no other of its warp, or that all set alike.
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

constexpr int THREADS = 128, N = 1000, BLOCKS = (N + THREADS - 1) / THREADS;

__global__ void scan(const int *in, int *out, int n)
{
    __shared__ int s[THREADS];
    const int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    if (i < n) s[t] = in[i];
    __syncthreads();
    for (int step = 1; step < THREADS; step *= 2) {
        const int below = t >= step ? s[t - step] : 0;
        __syncthreads();
        s[t] += below;
        __syncthreads();
    }
    if (i < n) out[i] = s[t];
}

__global__ void transpose(const int *in, int *out)
{
    __shared__ int tile[32][33];
    for (int y = threadIdx.y; y < 32; y += blockDim.y)
        tile[y][threadIdx.x] = in[y * 32 + threadIdx.x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += blockDim.y)
        out[y * 32 + threadIdx.x] = tile[threadIdx.x][y];
}

__global__ void change(int *values, int *flags)
{
    values[threadIdx.x]++;
    flags[threadIdx.x / 8] |= 4;
    __syncthreads();
    values[threadIdx.x ^ 1] *= 2;
}

int main()
{
    std::vector<int> values(1024), scanned(N), turned(1024);
    int *in, *out, *flags, wrong = 0;
    for (int i = 0; i < 1024; i++) values[i] = i % 7;
    CHECK(cudaMalloc(&in, 1024 * sizeof(int)));
    CHECK(cudaMalloc(&out, 1024 * sizeof(int)));
    CHECK(cudaMalloc(&flags, THREADS * sizeof(int)));
    CHECK(cudaMemset(flags, 0, THREADS * sizeof(int)));
    CHECK(cudaMemcpy(in, values.data(), 1024 * sizeof(int), cudaMemcpyHostToDevice));
    scan<<<BLOCKS, THREADS>>>(in, out, N);
    CHECK(cudaMemcpy(scanned.data(), out, N * sizeof(int), cudaMemcpyDeviceToHost));
    transpose<<<1, dim3(32, 8)>>>(in, out);
    CHECK(cudaMemcpy(turned.data(), out, 1024 * sizeof(int), cudaMemcpyDeviceToHost));
    change<<<1, THREADS>>>(in, flags);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    for (int i = 0, sum = 0; i < N; i++) {
        sum = i % THREADS == 0 ? values[i] : sum + values[i];
        wrong += scanned[i] != sum;
    }
    for (int i = 0; i < 1024; i++) wrong += turned[i] != values[i % 32 * 32 + i / 32];
    printf("%s\n", wrong ? "wrong" : "PASS");
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(flags));
    return wrong != 0;
}
