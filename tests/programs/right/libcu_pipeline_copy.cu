// Right: cuda::pipeline with memcpy_async: block-wide two-stage, per-thread pipeline, and
// memcpy_async on a cuda::barrier.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_runtime.h>
#include <vector>

#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;

#define CUDA_OK(e)                                                                                 \
    if ((e) != cudaSuccess) {                                                                      \
        fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(cudaGetLastError()));        \
        exit(3);                                                                                   \
    }

__device__ int mix(int a, int b)
{
    return (a ^ (b << 1)) + 7 * b;
}

// The block works on batch b while batch b + 1 is on its way.
template <int Stages> __global__ void stagedBatches(const int *in, int *out, int batches)
{
    auto block = cg::this_thread_block();
    extern __shared__ __align__(16) int smem[];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, Stages> state;
    auto pipe = cuda::make_pipeline(block, &state);
    const int per = (int)block.size();
    in += (size_t)blockIdx.x * batches * per;
    out += (size_t)blockIdx.x * batches * per;

    int fetch = 0;
    for (int compute = 0; compute < batches; ++compute) {
        for (; fetch < batches && fetch < compute + Stages; ++fetch) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, smem + (fetch % Stages) * per, in + fetch * per,
                               cuda::aligned_size_t<16>(sizeof(int) * per), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        const int *tile = smem + (compute % Stages) * per;
        int me = (int)block.thread_rank();
        out[compute * per + me] = mix(tile[me], tile[per - 1 - me]);
        pipe.consumer_release();
    }
}

// Each thread brings its own element and the next one ahead of time; neighbours meet at
// __syncthreads.
__global__ void perThreadPipeline(const int *in, int *out, int batches)
{
    __shared__ int buf[2][64];
    auto pipe = cuda::make_pipeline();
    const int i = threadIdx.x;
    in += (size_t)blockIdx.x * batches * 64;
    out += (size_t)blockIdx.x * batches * 64;

    pipe.producer_acquire();
    cuda::memcpy_async(&buf[0][i], &in[i], sizeof(int), pipe);
    pipe.producer_commit();
    for (int b = 0; b < batches; ++b) {
        if (b + 1 < batches) {
            pipe.producer_acquire();
            cuda::memcpy_async(&buf[(b + 1) & 1][i], &in[(b + 1) * 64 + i], sizeof(int), pipe);
            pipe.producer_commit();
            cuda::pipeline_consumer_wait_prior<1>(pipe);
        } else {
            cuda::pipeline_consumer_wait_prior<0>(pipe);
        }
        __syncthreads(); // everybody's element of batch b has arrived
        out[b * 64 + i] = mix(buf[b & 1][i], buf[b & 1][63 - i]);
        __syncthreads(); // the slot may be filled again
        pipe.consumer_release();
    }
}

__global__ void barrierCopy(const int *in, int *out, int batches)
{
    __shared__ alignas(16) int tile[128];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&bar, block.size());
    block.sync();
    in += (size_t)blockIdx.x * batches * 128;
    out += (size_t)blockIdx.x * batches * 128;
    for (int b = 0; b < batches; ++b) {
        cuda::memcpy_async(block, tile, in + b * 128, sizeof(int) * 128, bar);
        bar.arrive_and_wait();
        int me = threadIdx.x;
        out[b * 128 + me] = mix(tile[me], tile[127 - me]);
        block.sync();
    }
}

static bool verify(const char *name, const std::vector<int> &in, const std::vector<int> &out,
                   int per)
{
    for (size_t i = 0; i < in.size(); ++i) {
        size_t base = i / per * per, off = i % per;
        int a = in[i], b = in[base + per - 1 - off];
        int want = (a ^ (b << 1)) + 7 * b;
        if (out[i] != want) {
            printf("%s: [%zu] is %d, expected %d\n", name, i, out[i], want);
            return false;
        }
    }
    return true;
}

int main()
{
    const int blocks = 5, batches = 8;
    const int n = blocks * batches * 128;
    std::vector<int> h(n), g(n);
    for (int i = 0; i < n; ++i) h[i] = (int)((i * 2654435u) & 0xfffff);
    int *din, *dout;
    CUDA_OK(cudaMalloc(&din, n * sizeof(int)));
    CUDA_OK(cudaMalloc(&dout, n * sizeof(int)));
    CUDA_OK(cudaMemcpy(din, h.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    bool ok = true;

    CUDA_OK(cudaMemset(dout, 0, n * sizeof(int)));
    stagedBatches<2><<<blocks, 128, 2 * 128 * sizeof(int)>>>(din, dout, batches);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaMemcpy(g.data(), dout, n * sizeof(int), cudaMemcpyDeviceToHost));
    ok = verify("two stages", h, g, 128) && ok;

    CUDA_OK(cudaMemset(dout, 0, n * sizeof(int)));
    stagedBatches<4><<<blocks, 128, 4 * 128 * sizeof(int)>>>(din, dout, batches);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaMemcpy(g.data(), dout, n * sizeof(int), cudaMemcpyDeviceToHost));
    ok = verify("four stages", h, g, 128) && ok;

    CUDA_OK(cudaMemset(dout, 0, n * sizeof(int)));
    perThreadPipeline<<<blocks * 2, 64>>>(din, dout, batches);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaMemcpy(g.data(), dout, n * sizeof(int), cudaMemcpyDeviceToHost));
    ok = verify("per thread", h, g, 64) && ok;

    CUDA_OK(cudaMemset(dout, 0, n * sizeof(int)));
    barrierCopy<<<blocks, 128>>>(din, dout, batches);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaMemcpy(g.data(), dout, n * sizeof(int), cudaMemcpyDeviceToHost));
    ok = verify("barrier", h, g, 128) && ok;

    CUDA_OK(cudaFree(din));
    CUDA_OK(cudaFree(dout));
    if (!ok) return 1;
    printf("PASS\n");
    return 0;
}
