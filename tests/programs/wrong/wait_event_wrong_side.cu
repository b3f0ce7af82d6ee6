// Wrong: cudaStreamWaitEvent is called for the producer instead of the consumer.
// Found: race
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CK(x)                                                                                      \
    do {                                                                                           \
        cudaError_t e = (x);                                                                       \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s (%d)\n", cudaGetErrorString(e), __LINE__);                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

template <class F> __global__ void forEach(int n, F f)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) f(i);
}

struct Stage {
    cudaStream_t stream;
    cudaEvent_t finished;
    Stage()
    {
        CK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        CK(cudaEventCreateWithFlags(&finished, cudaEventDisableTiming));
    }
    ~Stage()
    {
        cudaEventDestroy(finished);
        cudaStreamDestroy(stream);
    }
    template <class F> void run(int n, F f)
    {
        forEach<<<32, 128, 0, stream>>>(n, f);
        CK(cudaGetLastError());
        CK(cudaEventRecord(finished, stream));
    }
};

int main()
{
    const int n = 25000;
    int *keys, *squares, *out;
    CK(cudaMalloc(&keys, n * sizeof(int)));
    CK(cudaMalloc(&squares, n * sizeof(int)));
    CK(cudaMalloc(&out, n * sizeof(int)));
    CK(cudaMemset(keys, 0, n * sizeof(int)));
    CK(cudaMemset(squares, 0, n * sizeof(int)));
    CK(cudaDeviceSynchronize());

    std::vector<int> h(n);
    int bad = 0;
    {
        Stage producer, middle, consumer;
        producer.run(n, [=] __device__(int i) { keys[i] = (i * 37) % 4001; });

        CK(cudaStreamWaitEvent(middle.stream, producer.finished, 0));
        middle.run(n, [=] __device__(int i) { squares[i] = keys[i] * keys[i]; });

        CK(cudaStreamWaitEvent(middle.stream, middle.finished, 0));
        consumer.run(n, [=] __device__(int i) { out[i] = squares[n - 1 - i] + i; });

        CK(cudaMemcpyAsync(h.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost,
                           consumer.stream));
        CK(cudaStreamSynchronize(producer.stream));
        CK(cudaStreamSynchronize(middle.stream));
        CK(cudaStreamSynchronize(consumer.stream));
    }
    for (int i = 0; i < n; ++i) {
        int k = ((n - 1 - i) * 37) % 4001;
        if (h[i] != k * k + i && bad++ < 5)
            printf("out[%d] = %d, expected %d\n", i, h[i], k * k + i);
    }
    CK(cudaFree(keys));
    CK(cudaFree(squares));
    CK(cudaFree(out));
    if (bad) {
        printf("%d wrong\n", bad);
        return 1;
    }
    printf("PASS\n");
    return 0;
}
