// Wrong: the scaling in stream `apply` uses the norm computed in stream `measure` without a wait
// (cudaStreamWaitEvent is missing before it).
// Found: race
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

static void must(cudaError_t e, int line)
{
    if (e != cudaSuccess) {
        fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(e));
        exit(1);
    }
}
#define MUST(x) must((x), __LINE__)

__global__ void sumOfSquares(const float *v, int n, float *norm2)
{
    __shared__ float sm[128];
    float s = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        s += v[i] * v[i];
    sm[threadIdx.x] = s;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (threadIdx.x < k) sm[threadIdx.x] += sm[threadIdx.x + k];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(norm2, sm[0]);
}

__global__ void scaleInto(const float *v, float *out, int n, const float *norm2)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = v[i] * rsqrtf(*norm2);
}

int main()
{
    const int n = 30000, batches = 3;
    float *h, *hOut, *v, *out, *norm2;
    MUST(cudaMallocHost(&h, batches * n * sizeof(float)));
    MUST(cudaMallocHost(&hOut, batches * n * sizeof(float)));
    MUST(cudaMalloc(&v, batches * n * sizeof(float)));
    MUST(cudaMalloc(&out, batches * n * sizeof(float)));
    MUST(cudaMalloc(&norm2, batches * sizeof(float)));
    for (int i = 0; i < batches * n; ++i) h[i] = (float)((i * 11) % 19) - 9.0f;

    cudaStream_t measure, apply;
    MUST(cudaStreamCreateWithFlags(&measure, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&apply, cudaStreamNonBlocking));
    cudaEvent_t uploaded;
    MUST(cudaEventCreateWithFlags(&uploaded, cudaEventDisableTiming));

    MUST(cudaMemsetAsync(norm2, 0, batches * sizeof(float), measure));
    for (int b = 0; b < batches; ++b) {
        MUST(cudaMemcpyAsync(v + b * n, h + b * n, n * sizeof(float), cudaMemcpyHostToDevice,
                             measure));
        MUST(cudaEventRecord(uploaded, measure));
        MUST(cudaStreamWaitEvent(apply, uploaded, 0));
        sumOfSquares<<<16, 128, 0, measure>>>(v + b * n, n, norm2 + b);
        MUST(cudaGetLastError());
        scaleInto<<<(n + 127) / 128, 128, 0, apply>>>(v + b * n, out + b * n, n, norm2 + b);
        MUST(cudaGetLastError());
        MUST(cudaMemcpyAsync(hOut + b * n, out + b * n, n * sizeof(float), cudaMemcpyDeviceToHost,
                             apply));
    }
    MUST(cudaStreamSynchronize(measure));
    MUST(cudaStreamSynchronize(apply));

    int bad = 0;
    for (int b = 0; b < batches; ++b) {
        double s = 0;
        for (int i = 0; i < n; ++i) s += (double)h[b * n + i] * h[b * n + i];
        for (int i = 0; i < n; ++i) {
            double want = h[b * n + i] / std::sqrt(s);
            if (!(std::fabs(hOut[b * n + i] - want) < 1e-5) && bad++ < 5)
                printf("batch %d [%d]: %g, expected %g\n", b, i, hOut[b * n + i], want);
        }
    }
    MUST(cudaEventDestroy(uploaded));
    MUST(cudaStreamDestroy(measure));
    MUST(cudaStreamDestroy(apply));
    MUST(cudaFree(v));
    MUST(cudaFree(out));
    MUST(cudaFree(norm2));
    MUST(cudaFreeHost(h));
    MUST(cudaFreeHost(hOut));
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
