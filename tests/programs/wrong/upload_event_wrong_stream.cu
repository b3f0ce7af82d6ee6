// Wrong: the event that says "uploaded" is recorded in the compute stream instead of the copy
// stream.
// Found: race
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CUDA_OK(stmt)                                                                              \
    do {                                                                                           \
        cudaError_t err = (stmt);                                                                  \
        if (err != cudaSuccess) {                                                                  \
            fprintf(stderr, "line %d: %s failed: %s\n", __LINE__, #stmt, cudaGetErrorString(err)); \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void fir3(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float l = i > 0 ? in[i - 1] : in[0];
    float r = i < n - 1 ? in[i + 1] : in[n - 1];
    out[i] = 0.25f * l + 0.5f * in[i] + 0.25f * r;
}

class Pipeline
{
    static constexpr int kDepth = 2;
    cudaStream_t copy, compute;
    cudaEvent_t uploaded[kDepth], consumed[kDepth];
    float *din[kDepth], *dout[kDepth];
    int n, count = 0;

  public:
    explicit Pipeline(int frame) : n(frame)
    {
        CUDA_OK(cudaStreamCreateWithFlags(&copy, cudaStreamNonBlocking));
        CUDA_OK(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking));
        for (int k = 0; k < kDepth; ++k) {
            CUDA_OK(cudaEventCreateWithFlags(&uploaded[k], cudaEventDisableTiming));
            CUDA_OK(cudaEventCreateWithFlags(&consumed[k], cudaEventDisableTiming));
            CUDA_OK(cudaMalloc(&din[k], n * sizeof(float)));
            CUDA_OK(cudaMalloc(&dout[k], n * sizeof(float)));
        }
    }
    ~Pipeline()
    {
        for (int k = 0; k < kDepth; ++k) {
            cudaEventDestroy(uploaded[k]);
            cudaEventDestroy(consumed[k]);
            cudaFree(din[k]);
            cudaFree(dout[k]);
        }
        cudaStreamDestroy(copy);
        cudaStreamDestroy(compute);
    }
    // both host buffers are pinned and stay as they are until finish()
    void submit(const float *src, float *dst)
    {
        const int k = count % kDepth;
        if (count >= kDepth) CUDA_OK(cudaStreamWaitEvent(copy, consumed[k], 0));
        CUDA_OK(cudaMemcpyAsync(din[k], src, n * sizeof(float), cudaMemcpyHostToDevice, copy));
        CUDA_OK(cudaEventRecord(uploaded[k], compute));
        CUDA_OK(cudaStreamWaitEvent(compute, uploaded[k], 0));
        fir3<<<(n + 255) / 256, 256, 0, compute>>>(din[k], dout[k], n);
        CUDA_OK(cudaGetLastError());
        CUDA_OK(cudaEventRecord(consumed[k], compute));
        CUDA_OK(cudaMemcpyAsync(dst, dout[k], n * sizeof(float), cudaMemcpyDeviceToHost, compute));
        ++count;
    }
    void finish()
    {
        CUDA_OK(cudaStreamSynchronize(copy));
        CUDA_OK(cudaStreamSynchronize(compute));
    }
};

int main()
{
    const int frame = 20000, frames = 6;
    float *src, *dst;
    CUDA_OK(cudaMallocHost(&src, frame * frames * sizeof(float)));
    CUDA_OK(cudaMallocHost(&dst, frame * frames * sizeof(float)));
    for (int i = 0; i < frame * frames; ++i) src[i] = (float)((i * 13) % 101);
    {
        Pipeline p(frame);
        for (int f = 0; f < frames; ++f) p.submit(src + f * frame, dst + f * frame);
        p.finish();
    }
    int bad = 0;
    for (int f = 0; f < frames; ++f)
        for (int i = 0; i < frame; ++i) {
            const float *s = src + f * frame;
            float want =
                0.25f * s[i > 0 ? i - 1 : 0] + 0.5f * s[i] + 0.25f * s[i < frame - 1 ? i + 1 : i];
            if (!(std::fabs(dst[f * frame + i] - want) < 1e-3f) && bad++ < 5)
                printf("frame %d [%d]: %f, expected %f\n", f, i, dst[f * frame + i], want);
        }
    CUDA_OK(cudaFreeHost(src));
    CUDA_OK(cudaFreeHost(dst));
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
