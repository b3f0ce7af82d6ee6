// Wrong: memory of a pool, allocated in the default stream, is used and freed in a stream
// that does not wait for that one. As in rapidsai/rmm, issue 2156.
// Found: freed in use
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

const int N = 1024;

__global__ void fill(int *p)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] = 9;
}

static void *allocate_sync(cudaMemPool_t pool, size_t bytes)
{
    void *p;
    check(cudaMallocFromPoolAsync(&p, bytes, pool, 0));
    return p;
}

int main()
{
    int *host;
    check(cudaMallocHost(&host, N * 4));
    cudaStream_t stream;
    cudaMemPool_t pool;
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    check(cudaMemPoolCreate(&pool, &properties));
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    int *p = (int *)allocate_sync(pool, N * 4);
    fill<<<N / 256, 256, 0, stream>>>(p);
    check(cudaMemcpyAsync(host, p, N * 4, cudaMemcpyDeviceToHost, stream));
    check(cudaFreeAsync(p, stream));
    check(cudaStreamSynchronize(stream));
    long wrong = 0;
    for (int i = 0; i < N; i++) wrong += host[i] != 9;
    check(cudaDeviceSynchronize());
    check(cudaStreamDestroy(stream));
    check(cudaMemPoolDestroy(pool));
    check(cudaFreeHost(host));
    return report(wrong);
}
