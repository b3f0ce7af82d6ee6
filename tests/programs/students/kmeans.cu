// k-means: centroids in constant memory, assignments, sums by atomics in shared memory,
// asynchronous copies in a loop until nothing moves.
#include <cfloat>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define K 6
#define DIM 3

#define gpu(call)                                                                                  \
    do {                                                                                           \
        if (cudaError_t e = (call)) {                                                              \
            fprintf(stderr, "%s failed in line %d: %s\n", #call, __LINE__, cudaGetErrorString(e)); \
            cudaDeviceReset();                                                                     \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__constant__ float centroids[K][DIM];
__device__ int moved;
__device__ float sums[K][DIM];
__device__ unsigned counts[K];

__global__ void clear()
{
    if (threadIdx.x < K) {
        counts[threadIdx.x] = 0;
        for (int d = 0; d < DIM; d++) sums[threadIdx.x][d] = 0;
    }
    if (threadIdx.x == 0) moved = 0;
}

__global__ void assign(const float *__restrict__ points, int *cluster, int n)
{
    __shared__ float local_sums[K][DIM];
    __shared__ unsigned local_counts[K];
    for (int i = threadIdx.x; i < K * DIM; i += blockDim.x) (&local_sums[0][0])[i] = 0;
    for (int i = threadIdx.x; i < K; i += blockDim.x) local_counts[i] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool changed = false;
    if (i < n) {
        float nearest = FLT_MAX;
        int best = 0;
        for (int k = 0; k < K; k++) {
            float distance = 0;
            for (int d = 0; d < DIM; d++) {
                float apart = points[d * n + i] - centroids[k][d];
                distance = fmaf(apart, apart, distance);
            }
            if (distance < nearest) nearest = distance, best = k;
        }
        changed = cluster[i] != best;
        cluster[i] = best;
        for (int d = 0; d < DIM; d++) atomicAdd(&local_sums[best][d], points[d * n + i]);
        atomicAdd(&local_counts[best], 1u);
    }
    int any = __syncthreads_count(changed);
    if (threadIdx.x == 0 && any > 0) atomicAdd(&moved, any);
    for (int k = threadIdx.x; k < K * DIM; k += blockDim.x)
        atomicAdd(&sums[0][0] + k, (&local_sums[0][0])[k]);
    for (int k = threadIdx.x; k < K; k += blockDim.x) atomicAdd(&counts[k], local_counts[k]);
}

int main()
{
    const int n = 3000;
    std::vector<float> points(n * DIM);
    std::vector<int> truth(n), cluster(n, -1);
    float start[K][DIM];
    unsigned seed = 12345;
    auto next = [&] { return (seed = seed * 1103515245u + 12345u) >> 16 & 0x7fff; };
    for (int i = 0; i < n; i++) {
        truth[i] = i % K;
        for (int d = 0; d < DIM; d++) // whole numbers: sums are exact in any order
            points[d * n + i] = (float)((truth[i] >> d & 1 ? 40 : -40) +
                                        (truth[i] == 5 && d == 1 ? 90 : 0) + (int)(next() % 9));
    }
    for (int k = 0; k < K; k++)
        for (int d = 0; d < DIM; d++) start[k][d] = points[d * n + k];

    float *device_points, (*host_sums)[DIM];
    unsigned *host_counts;
    int *device_cluster, *host_moved, rounds = 0;
    cudaStream_t stream;
    gpu(cudaStreamCreate(&stream));
    gpu(cudaMalloc((void **)&device_points, points.size() * sizeof(float)));
    gpu(cudaMalloc((void **)&device_cluster, n * sizeof(int)));
    gpu(cudaHostAlloc((void **)&host_sums, sizeof(float) * K * DIM, cudaHostAllocDefault));
    gpu(cudaHostAlloc((void **)&host_counts, sizeof(unsigned) * K, cudaHostAllocDefault));
    gpu(cudaHostAlloc((void **)&host_moved, sizeof(int), cudaHostAllocDefault));
    gpu(cudaMemcpy(device_points, points.data(), points.size() * sizeof(float),
                   cudaMemcpyHostToDevice));
    gpu(cudaMemcpy(device_cluster, cluster.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    for (int k = 0; k < K; k++)
        for (int d = 0; d < DIM; d++) host_sums[k][d] = start[k][d];
    do {
        gpu(cudaMemcpyToSymbolAsync(centroids, host_sums, sizeof(float) * K * DIM, 0,
                                    cudaMemcpyHostToDevice, stream));
        clear<<<1, 32, 0, stream>>>();
        assign<<<(n + 255) / 256, 256, 0, stream>>>(device_points, device_cluster, n);
        gpu(cudaGetLastError());
        gpu(cudaMemcpyFromSymbolAsync(host_sums, sums, sizeof(float) * K * DIM, 0,
                                      cudaMemcpyDeviceToHost, stream));
        gpu(cudaMemcpyFromSymbolAsync(host_counts, counts, sizeof(unsigned) * K, 0,
                                      cudaMemcpyDeviceToHost, stream));
        gpu(cudaMemcpyFromSymbolAsync(host_moved, moved, sizeof(int), 0, cudaMemcpyDeviceToHost,
                                      stream));
        gpu(cudaStreamSynchronize(stream));
        for (int k = 0; k < K; k++)
            for (int d = 0; d < DIM; d++)
                if (host_counts[k] > 0) host_sums[k][d] /= (float)host_counts[k];
        rounds++;
    } while (*host_moved > 0 && rounds < 50);
    gpu(cudaMemcpy(cluster.data(), device_cluster, n * sizeof(int), cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += cluster[i] != cluster[truth[i]];
    for (int k = 0; k < K; k++) printf("cluster %d: %u points\n", k, host_counts[k]);
    printf("%d rounds, %d points in the wrong cluster\n", rounds, wrong);
    gpu(cudaFreeHost(host_sums));
    gpu(cudaFreeHost(host_counts));
    gpu(cudaFreeHost(host_moved));
    gpu(cudaFree(device_points));
    gpu(cudaFree(device_cluster));
    gpu(cudaStreamDestroy(stream));
    gpu(cudaDeviceReset());
    return wrong != 0 || rounds == 50;
}
