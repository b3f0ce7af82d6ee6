// Right: the sources of a batch of copies stay until the stream has been waited for.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    printf("%s\n", cudaGetErrorString(error));
    exit(1);
}

static int report(long wrong)
{
    printf(wrong ? "%ld wrong\n" : "PASS\n", wrong);
    return wrong != 0;
}

const int N = 1000, COLUMNS = 3;

__global__ void add(const int *a, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) out[i] = a[i] + 1;
}

int main()
{
    static int host[COLUMNS][N];
    cudaStream_t stream;
    void *source[COLUMNS], *target[COLUMNS];
    int *out[COLUMNS];
    size_t sizes[COLUMNS];
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int k = 0; k < COLUMNS; k++) {
        check(cudaMalloc(&target[k], N * 4));
        check(cudaMalloc(&out[k], N * 4));
        int *column = (int *)malloc(N * 4);
        for (int i = 0; i < N; i++) column[i] = k * 10000 + i;
        source[k] = column;
        sizes[k] = N * 4;
    }
    cudaMemcpyAttributes attributes = {};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    size_t first = 0;
    check(cudaMemcpyBatchAsync(target, source, sizes, COLUMNS, &attributes, &first, 1, stream));
    check(cudaStreamSynchronize(stream));
    for (int k = 0; k < COLUMNS; k++) {
        for (int i = 0; i < N; i++)
            ((int *)source[k])[i] = -1; // what the next owner of the memory does
        free(source[k]);
    }
    for (int k = 0; k < COLUMNS; k++)
        add<<<(N + 127) / 128, 128, 0, stream>>>((int *)target[k], out[k]);
    check(cudaStreamSynchronize(stream));
    long wrong = 0;
    for (int k = 0; k < COLUMNS; k++) {
        check(cudaMemcpy(host[k], out[k], N * 4, cudaMemcpyDeviceToHost));
        for (int i = 0; i < N; i++) wrong += host[k][i] != k * 10000 + i + 1;
        check(cudaFree(target[k]));
        check(cudaFree(out[k]));
    }
    check(cudaStreamDestroy(stream));
    return report(wrong);
}
