// Wrong: a block may end while another of its cluster still reads its shared memory.
// Found: shared memory of an ended block
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void __cluster_dims__(2, 1, 1) totals(int *out)
{
    __shared__ int total;
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    if (threadIdx.x == 0) total = (int)blockIdx.x + 1;
    cluster.sync();
    if (threadIdx.x == 0)
        out[blockIdx.x] = *cluster.map_shared_rank(&total, cluster.block_rank() ^ 1);
}

int main()
{
    int *out, host[4];
    if (cudaMalloc(&out, sizeof host) != cudaSuccess) return 1;
    totals<<<4, 64>>>(out);
    const cudaError_t error = cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) printf("%s\n", cudaGetErrorName(error));
    cudaFree(out);
    return 0;
}
