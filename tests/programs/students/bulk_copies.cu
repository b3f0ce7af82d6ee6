// Bulk copies (cp.async.bulk) through two buffers, with barriers that count bytes.
#include <cstdio>
#include <cuda/barrier>
#include <cuda/ptx>
#include <utility>

__global__ void bulk(const int *in, int *out, int n)
{
    alignas(128) __shared__ int s[2][256];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> bar[2];
    if (threadIdx.x == 0) {
        init(&bar[0], blockDim.x);
        init(&bar[1], blockDim.x);
        cuda::device::experimental::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    int tiles = n / 256;
    auto issue = [&](int t) {
        cuda::barrier<cuda::thread_scope_block>::arrival_token tok;
        if (threadIdx.x == 0) {
            cuda::device::experimental::cp_async_bulk_global_to_shared(s[t & 1], in + t * 256,
                                                                       sizeof s[0], bar[t & 1]);
            tok = cuda::device::barrier_arrive_tx(bar[t & 1], 1, sizeof s[0]);
        } else
            tok = bar[t & 1].arrive();
        return tok;
    };
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        auto tok = issue(t);
        bar[t & 1].wait(std::move(tok));
        for (int i = threadIdx.x; i < 256; i += blockDim.x) s[t & 1][i] = s[t & 1][i] * 2 + 1;
        cuda::device::experimental::fence_proxy_async_shared_cta();
        __syncthreads();
        if (threadIdx.x == 0) {
            cuda::device::experimental::cp_async_bulk_shared_to_global(out + t * 256, s[t & 1],
                                                                       sizeof s[0]);
            cuda::device::experimental::cp_async_bulk_commit_group();
            cuda::device::experimental::cp_async_bulk_wait_group_read<0>();
        }
        __syncthreads();
    }
}

int main()
{
    const int n = 256 * 9;
    int *a, *b;
    cudaMallocManaged(&a, n * 4);
    cudaMallocManaged(&b, n * 4);
    for (int i = 0; i < n; i++) a[i] = i;
    bulk<<<2, 64>>>(a, b, n);
    cudaError_t e = cudaDeviceSynchronize();
    int bad = e != 0;
    for (int i = 0; i < n; i++) bad += b[i] != 2 * i + 1;
    cudaFree(a);
    cudaFree(b);
    printf("%d %s\n", bad, cudaGetErrorString(e));
    return bad != 0;
}
