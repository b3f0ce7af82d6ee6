// Right: one-launch reductions, the last block to arrive (atomicInc ticket after __threadfence)
// adds the partial sums.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define cudaCheck(stmt)                                                                            \
    do {                                                                                           \
        cudaError_t err = stmt;                                                                    \
        if (err != cudaSuccess) {                                                                  \
            fprintf(stderr, "%s failed with %s\n", #stmt, cudaGetErrorString(err));                \
            exit(-1);                                                                              \
        }                                                                                          \
    } while (0)

__device__ unsigned int retirementCount = 0;

template <typename T, unsigned BLOCK> __device__ T blockSum(T v)
{
    __shared__ T warps[BLOCK / 32];
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
    __syncthreads(); // a previous call's reads are over
    if ((threadIdx.x & 31) == 0) warps[threadIdx.x >> 5] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < BLOCK / 32 ? warps[threadIdx.x] : T(0);
        for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
    }
    return v; // of use in thread 0
}

template <unsigned BLOCK>
__global__ void reduceSinglePass(const float *in, int n, volatile float *partial, float *out)
{
    __shared__ bool amLast;
    float s = 0.0f;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += BLOCK * gridDim.x) s += in[i];
    s = blockSum<float, BLOCK>(s);

    if (threadIdx.x == 0) {
        partial[blockIdx.x] = s;
        __threadfence(); // the partial sum is visible before the ticket is
        unsigned ticket =
            atomicInc(&retirementCount, gridDim.x - 1); // wraps to zero for the next launch
        amLast = ticket == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();

    if (amLast) {
        float t = 0.0f;
        for (unsigned i = threadIdx.x; i < gridDim.x; i += BLOCK) t += partial[i];
        t = blockSum<float, BLOCK>(t);
        if (threadIdx.x == 0) *out = t;
    }
}

struct MinMaxPos {
    int minVal, minPos, maxVal, maxPos;
};

__device__ MinMaxPos better(MinMaxPos a, MinMaxPos b)
{
    if (b.minVal < a.minVal || (b.minVal == a.minVal && b.minPos < a.minPos)) {
        a.minVal = b.minVal;
        a.minPos = b.minPos;
    }
    if (b.maxVal > a.maxVal || (b.maxVal == a.maxVal && b.maxPos < a.maxPos)) {
        a.maxVal = b.maxVal;
        a.maxPos = b.maxPos;
    }
    return a;
}

// every thread fences its own store here, the ticket is drawn by thread 0 after the barrier
__global__ void minMax(const int *in, int n, MinMaxPos *slots, unsigned *arrived, MinMaxPos *out)
{
    extern __shared__ MinMaxPos sm[];
    __shared__ unsigned isLast;
    MinMaxPos r{2147483647, -1, -2147483647 - 1, -1};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        r = better(r, MinMaxPos{in[i], i, in[i], i});
    sm[threadIdx.x] = r;
    __syncthreads();
    // the first eight threads each reduce an eighth and store it
    if (threadIdx.x < 8) {
        unsigned w = blockDim.x / 8;
        r = sm[threadIdx.x * w];
        for (unsigned k = 1; k < w; ++k) r = better(r, sm[threadIdx.x * w + k]);
        slots[blockIdx.x * 8 + threadIdx.x] = r;
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0) isLast = atomicAdd(arrived, 1u) + 1 == gridDim.x;
    __syncthreads();
    if (isLast && threadIdx.x == 0) {
        __threadfence();
        r = slots[0];
        for (unsigned k = 1; k < gridDim.x * 8; ++k) r = better(r, slots[k]);
        *out = r;
        *arrived = 0;
    }
}

int main()
{
    const int n = 50021, blocks = 29;
    std::vector<float> f(n);
    std::vector<int> v(n);
    double ref = 0;
    for (int i = 0; i < n; ++i) {
        f[i] = (float)((i * 7919) % 1000) / 1000.0f;
        v[i] = (int)((1103515245u * (unsigned)i + 12345u) >> 4) % 100000 - 50000;
        ref += f[i];
    }
    float *dF, *dPart, *dOut;
    int *dV;
    MinMaxPos *dSlots, *dMM;
    unsigned *dArr;
    cudaCheck(cudaMalloc(&dF, n * sizeof(float)));
    cudaCheck(cudaMalloc(&dV, n * sizeof(int)));
    cudaCheck(cudaMalloc(&dPart, blocks * sizeof(float)));
    cudaCheck(cudaMalloc(&dOut, sizeof(float)));
    cudaCheck(cudaMalloc(&dSlots, blocks * 8 * sizeof(MinMaxPos)));
    cudaCheck(cudaMalloc(&dMM, sizeof(MinMaxPos)));
    cudaCheck(cudaMalloc(&dArr, sizeof(unsigned)));
    cudaCheck(cudaMemset(dArr, 0, sizeof(unsigned)));
    cudaCheck(cudaMemcpy(dF, f.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    cudaCheck(cudaMemcpy(dV, v.data(), n * sizeof(int), cudaMemcpyHostToDevice));

    MinMaxPos want{v[0], 0, v[0], 0};
    for (int i = 1; i < n; ++i) {
        if (v[i] < want.minVal) {
            want.minVal = v[i];
            want.minPos = i;
        }
        if (v[i] > want.maxVal) {
            want.maxVal = v[i];
            want.maxPos = i;
        }
    }
    bool ok = true;
    for (int rep = 0; rep < 3; ++rep) {
        float got = 0;
        MinMaxPos mm{};
        cudaCheck(cudaMemset(dOut, 0, sizeof(float)));
        reduceSinglePass<256><<<blocks - rep, 256>>>(dF, n, dPart, dOut);
        cudaCheck(cudaGetLastError());
        minMax<<<blocks - rep, 64, 64 * sizeof(MinMaxPos)>>>(dV, n, dSlots, dArr, dMM);
        cudaCheck(cudaGetLastError());
        cudaCheck(cudaMemcpy(&got, dOut, sizeof(got), cudaMemcpyDeviceToHost));
        cudaCheck(cudaMemcpy(&mm, dMM, sizeof(mm), cudaMemcpyDeviceToHost));
        if (std::fabs(got - ref) > 1e-4 * ref) {
            printf("sum %f, expected %f\n", got, ref);
            ok = false;
        }
        if (mm.minVal != want.minVal || mm.minPos != want.minPos || mm.maxVal != want.maxVal ||
            mm.maxPos != want.maxPos) {
            printf("min %d at %d, max %d at %d; expected %d at %d, %d at %d\n", mm.minVal,
                   mm.minPos, mm.maxVal, mm.maxPos, want.minVal, want.minPos, want.maxVal,
                   want.maxPos);
            ok = false;
        }
    }
    cudaFree(dF);
    cudaFree(dV);
    cudaFree(dPart);
    cudaFree(dOut);
    cudaFree(dSlots);
    cudaFree(dMM);
    cudaFree(dArr);
    puts(ok ? "PASS" : "FAIL");
    return ok ? 0 : 1;
}
