// sm_80 and later: asynchronous copies, redux, cluster registers, bfloat16 in hardware.
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) asynchronous(int *out, const int4 *in, __nv_bfloat16 *b)
{
    __shared__ int4 stage[32];
    __pipeline_memcpy_async(&stage[threadIdx.x], &in[threadIdx.x], sizeof(int4));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    int lane = threadIdx.x & 31;
    out[lane] = stage[31 - lane].x + __reduce_add_sync(~0u, lane) + __reduce_max_sync(~0u, lane);
    out[32] = cg::this_cluster().block_rank() + __reduce_xor_sync(~0u, (unsigned)lane);
    cg::this_cluster().sync();
    b[0] = __hmax(b[1], b[2]) + __hfma_relu(b[3], b[4], b[5]);
}
