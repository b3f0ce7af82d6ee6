// Wrong: a buffer still used by stream `work` is freed with cudaFreeAsync in stream `cleanup`,
// nothing orders the two.
// Found: freed in use
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CUDA_CHECK(call)                                                                           \
    do {                                                                                           \
        cudaError_t err = (call);                                                                  \
        if (err != cudaSuccess) {                                                                  \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                          \
                    cudaGetErrorString(err));                                                      \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void fillSequence(unsigned *v, int n, unsigned start)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] = start + 3u * i;
}

__global__ void windowSum(const unsigned *v, unsigned long long *out, int n, int window)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long s = 0;
    for (int k = 0; k < window; ++k) s += v[(i + k) % n];
    out[i] = s;
}

__global__ void mark(unsigned *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] = 0xffffffffu;
}

int main()
{
    int dev = 0, pools = 0;
    CUDA_CHECK(cudaGetDevice(&dev));
    CUDA_CHECK(cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, dev));
    if (!pools) {
        printf("no memory pools\nPASS\n");
        return 0;
    }
    const int n = 12000, window = 40, rounds = 3, grid = (n + 127) / 128;
    cudaStream_t work, cleanup;
    CUDA_CHECK(cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking));
    CUDA_CHECK(cudaStreamCreateWithFlags(&cleanup, cudaStreamNonBlocking));
    unsigned long long *result;
    CUDA_CHECK(cudaMalloc(&result, (size_t)rounds * n * sizeof(*result)));
    std::vector<unsigned long long> got((size_t)rounds * n);

    for (int r = 0; r < rounds; ++r) {
        unsigned *temp, *next;
        CUDA_CHECK(cudaMallocAsync(&temp, n * sizeof(unsigned), work));
        cudaEvent_t allocated;
        CUDA_CHECK(cudaEventCreateWithFlags(&allocated, cudaEventDisableTiming));
        CUDA_CHECK(cudaEventRecord(allocated, work));
        CUDA_CHECK(cudaStreamWaitEvent(cleanup, allocated, 0));
        fillSequence<<<grid, 128, 0, work>>>(temp, n, 1000u * r);
        windowSum<<<grid, 128, 0, work>>>(temp, result + (size_t)r * n, n, window);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaFreeAsync(temp, cleanup));

        // the other stream goes on with a buffer of its own, quite possibly the same memory
        CUDA_CHECK(cudaMallocAsync(&next, n * sizeof(unsigned), cleanup));
        mark<<<grid, 128, 0, cleanup>>>(next, n);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaFreeAsync(next, cleanup));
        CUDA_CHECK(cudaEventDestroy(allocated));
    }
    CUDA_CHECK(cudaStreamSynchronize(work));
    CUDA_CHECK(cudaStreamSynchronize(cleanup));
    CUDA_CHECK(
        cudaMemcpy(got.data(), result, got.size() * sizeof(*result), cudaMemcpyDeviceToHost));

    int bad = 0;
    for (int r = 0; r < rounds; ++r)
        for (int i = 0; i < n; ++i) {
            unsigned long long want = 0;
            for (int k = 0; k < window; ++k) want += 1000u * r + 3u * ((i + k) % n);
            if (got[(size_t)r * n + i] != want && bad++ < 5)
                printf("round %d [%d]: %llu, expected %llu\n", r, i, got[(size_t)r * n + i], want);
        }
    CUDA_CHECK(cudaFree(result));
    CUDA_CHECK(cudaStreamDestroy(work));
    CUDA_CHECK(cudaStreamDestroy(cleanup));
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
