// Wrong: last-block reduction without __threadfence between storing the partial result and drawing
// the ticket.
// Found: race between blocks
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define SAFE(x)                                                                                    \
    do {                                                                                           \
        cudaError_t e = (x);                                                                       \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s in line %d\n", cudaGetErrorString(e), __LINE__);                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

struct Moments {
    double n, sum, sum2;
};

__device__ unsigned blocksDone = 0;

__device__ Moments blockReduce(Moments m)
{
    __shared__ Moments sm[256];
    sm[threadIdx.x] = m;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) {
            sm[threadIdx.x].n += sm[threadIdx.x + s].n;
            sm[threadIdx.x].sum += sm[threadIdx.x + s].sum;
            sm[threadIdx.x].sum2 += sm[threadIdx.x + s].sum2;
        }
        __syncthreads();
    }
    Moments r = sm[0];
    __syncthreads();
    return r;
}

__global__ void variance(const float *v, int n, Moments *partial, double *result)
{
    __shared__ bool last;
    Moments m = {0, 0, 0};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        m.n += 1;
        m.sum += v[i];
        m.sum2 += (double)v[i] * v[i];
    }
    m = blockReduce(m);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = m;
        unsigned ticket = atomicAdd(&blocksDone, 1u);
        last = ticket == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last) return;

    Moments t = {0, 0, 0};
    for (int b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
        t.n += partial[b].n;
        t.sum += partial[b].sum;
        t.sum2 += partial[b].sum2;
    }
    t = blockReduce(t);
    if (threadIdx.x == 0) {
        double mean = t.sum / t.n;
        result[0] = mean;
        result[1] = t.sum2 / t.n - mean * mean;
        blocksDone = 0;
    }
}

int main()
{
    const int n = 70001, blocks = 40;
    std::vector<float> h(n);
    double mean = 0, var = 0;
    for (int i = 0; i < n; ++i) {
        h[i] = std::sin(0.001f * i) * 4.0f + 1.0f;
        mean += h[i];
    }
    mean /= n;
    for (float x : h) var += (x - mean) * (x - mean);
    var /= n;

    float *d;
    Moments *partial;
    double *result, got[2];
    SAFE(cudaMalloc(&d, n * sizeof(float)));
    SAFE(cudaMalloc(&partial, blocks * sizeof(Moments)));
    SAFE(cudaMalloc(&result, sizeof(got)));
    SAFE(cudaMemcpy(d, h.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    int bad = 0;
    for (int rep = 0; rep < 2; ++rep) {
        variance<<<blocks, 256>>>(d, n, partial, result);
        SAFE(cudaGetLastError());
        SAFE(cudaMemcpy(got, result, sizeof(got), cudaMemcpyDeviceToHost));
        if (std::fabs(got[0] - mean) > 1e-6 || std::fabs(got[1] - var) > 1e-6) {
            printf("mean %g variance %g, expected %g and %g\n", got[0], got[1], mean, var);
            ++bad;
        }
    }
    SAFE(cudaFree(d));
    SAFE(cudaFree(partial));
    SAFE(cudaFree(result));
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
