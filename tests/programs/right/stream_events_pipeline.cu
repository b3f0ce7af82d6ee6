// Right: chunked copy-in / kernel / copy-out pipeline over three streams, two slots, events order
// the stages.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t err_ = (call);                                                                 \
        if (err_ != cudaSuccess) {                                                                 \
            fprintf(stderr, "%s:%d: %s -> %s\n", __FILE__, __LINE__, #call,                        \
                    cudaGetErrorString(err_));                                                     \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

constexpr int kChunks = 9;
constexpr int kChunkElems = 6000; // not a multiple of the block size
constexpr int kSlots = 2;

__global__ void horner(const float *in, float *out, int n, int chunk)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i];
    float r = 0.25f;
    for (int k = 0; k < 4; ++k) r = r * x + 1.0f / (k + 1);
    out[i] = r + chunk;
}

int main()
{
    const size_t total = (size_t)kChunks * kChunkElems;
    const size_t chunkBytes = kChunkElems * sizeof(float);

    float *hIn = nullptr, *hOut = nullptr;
    CHECK(cudaMallocHost(&hIn, total * sizeof(float)));
    CHECK(cudaMallocHost(&hOut, total * sizeof(float)));
    for (size_t i = 0; i < total; ++i) {
        hIn[i] = (float)((i * 2654435761u) & 0xffff) / 65536.0f;
        hOut[i] = -1.0f;
    }

    float *dIn[kSlots], *dOut[kSlots];
    for (int s = 0; s < kSlots; ++s) {
        CHECK(cudaMalloc(&dIn[s], chunkBytes));
        CHECK(cudaMalloc(&dOut[s], chunkBytes));
    }

    cudaStream_t copyIn, compute, copyOut;
    CHECK(cudaStreamCreateWithFlags(&copyIn, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&copyOut, cudaStreamNonBlocking));

    cudaEvent_t loaded[kSlots], computed[kSlots], drained[kSlots], start, stop;
    for (int s = 0; s < kSlots; ++s) {
        CHECK(cudaEventCreateWithFlags(&loaded[s], cudaEventDisableTiming));
        CHECK(cudaEventCreateWithFlags(&computed[s], cudaEventDisableTiming));
        CHECK(cudaEventCreateWithFlags(&drained[s], cudaEventDisableTiming));
    }
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));

    CHECK(cudaEventRecord(start, copyIn));
    for (int c = 0; c < kChunks; ++c) {
        const int s = c % kSlots;
        const size_t off = (size_t)c * kChunkElems;

        // the input slot is free once the kernel two chunks ago has read it
        if (c >= kSlots) CHECK(cudaStreamWaitEvent(copyIn, computed[s], 0));
        CHECK(cudaMemcpyAsync(dIn[s], hIn + off, chunkBytes, cudaMemcpyHostToDevice, copyIn));
        CHECK(cudaEventRecord(loaded[s], copyIn));

        // the output slot is free once its previous contents went out
        CHECK(cudaStreamWaitEvent(compute, loaded[s], 0));
        if (c >= kSlots) CHECK(cudaStreamWaitEvent(compute, drained[s], 0));
        horner<<<(kChunkElems + 255) / 256, 256, 0, compute>>>(dIn[s], dOut[s], kChunkElems, c);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(computed[s], compute));

        CHECK(cudaStreamWaitEvent(copyOut, computed[s], 0));
        CHECK(cudaMemcpyAsync(hOut + off, dOut[s], chunkBytes, cudaMemcpyDeviceToHost, copyOut));
        CHECK(cudaEventRecord(drained[s], copyOut));
    }
    CHECK(cudaEventRecord(stop, copyOut));
    CHECK(cudaEventSynchronize(stop));

    float ms = -1.0f;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    if (ms < 0.0f) {
        printf("negative elapsed time %f\n", ms);
        return 1;
    }

    int bad = 0;
    for (size_t i = 0; i < total; ++i) {
        float x = hIn[i], r = 0.25f;
        for (int k = 0; k < 4; ++k) r = r * x + 1.0f / (k + 1);
        float want = r + (float)(i / kChunkElems);
        if (std::fabs(hOut[i] - want) > 1e-5f * std::fabs(want) + 1e-5f) {
            if (bad++ < 5) printf("element %zu: got %f, expected %f\n", i, hOut[i], want);
        }
    }

    // the last kernels and copies are covered by `stop`, everything may go now
    for (int s = 0; s < kSlots; ++s) {
        CHECK(cudaEventDestroy(loaded[s]));
        CHECK(cudaEventDestroy(computed[s]));
        CHECK(cudaEventDestroy(drained[s]));
        CHECK(cudaFree(dIn[s]));
        CHECK(cudaFree(dOut[s]));
    }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaStreamDestroy(copyIn));
    CHECK(cudaStreamDestroy(compute));
    CHECK(cudaStreamDestroy(copyOut));
    CHECK(cudaFreeHost(hIn));
    CHECK(cudaFreeHost(hOut));

    if (bad) {
        printf("%d mismatches\n", bad);
        return 1;
    }
    printf("PASS\n");
    return 0;
}
