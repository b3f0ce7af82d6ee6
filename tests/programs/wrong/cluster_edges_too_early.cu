// Wrong: blocks of a cluster read each other's edges behind a barrier of their own threads.
// Found: race in a cluster
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t e = (call);                                                                    \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void __cluster_dims__(2, 1, 1) edges(int *out)
{
    __shared__ int cells[64];
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    cells[threadIdx.x] = (int)(blockIdx.x * 64 + threadIdx.x);
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] =
        cluster.map_shared_rank(cells, cluster.block_rank() ^ 1)[63 - threadIdx.x];
    cluster.sync();
}

int main()
{
    int *out, host[256];
    CHECK(cudaMalloc(&out, sizeof host));
    edges<<<4, 64>>>(out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(out));
    return 0;
}
