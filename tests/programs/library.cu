// Programs that use the headers of the toolkit: half precision, the algorithms of cooperative
// groups, atomics and barriers of libcu++.
#include "tests/programs/program.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace cg = cooperative_groups;

__global__ void halves(const float *in, float *out)
{
    int i = threadIdx.x;
    __half h = __float2half(in[i]);
    __half2 pair = __halves2half2(h, __float2half(2.0f));
    pair = __hfma2(pair, pair, pair);
    out[3 * i] = __half2float(__low2half(pair));
    out[3 * i + 1] =
        __half2float(__high2half(pair)) + (__hgt(h, __float2half(0.0f)) ? 100.0f : 0.0f);
    out[3 * i + 2] = __bfloat162float(__float2bfloat16(in[i]) * __float2bfloat16(3.0f));
}

static void half_precision()
{
    const int n = 64;
    float in[n], out[3 * n], *device;
    for (int i = 0; i < n; i++) in[i] = static_cast<float>(i - 30) * 0.25f;
    CHECK(cudaMalloc(&device, 4 * n * sizeof(float)));
    CHECK(cudaMemcpy(device, in, sizeof in, cudaMemcpyHostToDevice));
    halves<<<1, n>>>(device, device + n);
    CHECK(cudaMemcpy(out, device + n, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        EXPECT(out[3 * i] == in[i] * in[i] + in[i]); // few bits: exact in a half
        EXPECT(out[3 * i + 1] == (in[i] > 0.0f ? 106.0f : 6.0f));
        EXPECT(out[3 * i + 2] == in[i] * 3.0f);
    }
    CHECK(cudaFree(device));
}

__global__ void algorithms(const int *in, int *out)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    int value = in[block.thread_rank()], *mine = out + block.thread_rank() * 4;
    mine[0] = cg::reduce(tile, value, cg::plus<int>());
    mine[1] = cg::reduce(tile, value, cg::greater<int>());
    mine[2] = cg::inclusive_scan(tile, value);
    mine[3] = static_cast<int>(cg::labeled_partition(tile, value % 3).size());
}

static void group_algorithms()
{
    const int n = 96;
    int in[n], out[n][4], *device;
    for (int i = 0; i < n; i++) in[i] = i * 31 % 17;
    CHECK(cudaMalloc(&device, sizeof in + sizeof out));
    CHECK(cudaMemcpy(device, in, sizeof in, cudaMemcpyHostToDevice));
    algorithms<<<1, n>>>(device, device + n);
    CHECK(cudaMemcpy(out, device + n, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        int sum = 0, largest = 0, before = 0, alike = 0, tile = i / 32 * 32;
        for (int k = tile; k < tile + 32; k++) {
            sum += in[k];
            largest = in[k] > largest ? in[k] : largest;
            before += k <= i ? in[k] : 0;
            alike += in[k] % 3 == in[i] % 3;
        }
        EXPECT(out[i][0] == sum && out[i][1] == largest);
        EXPECT(out[i][2] == before && out[i][3] == alike);
    }
    CHECK(cudaFree(device));
}

__device__ cuda::atomic<int, cuda::thread_scope_device> everybody;

__global__ void meet(int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int step;
    everybody.fetch_add(threadIdx.x, cuda::std::memory_order_relaxed);
    if (threadIdx.x == 0) {
        init(&barrier, blockDim.x);
        step = 5;
    }
    __syncthreads();
    out[threadIdx.x] = step;
    barrier.arrive_and_wait();
    if (threadIdx.x == 1) step = 7;
    barrier.arrive_and_wait();
    out[threadIdx.x] += step;
    if (threadIdx.x == 0) out[blockDim.x] = everybody.load();
}

static void atomics_and_barriers()
{
    const int n = 64;
    int out[n + 1], *device;
    CHECK(cudaMalloc(&device, sizeof out));
    meet<<<1, n>>>(device);
    CHECK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) EXPECT(out[i] == 12);
    EXPECT(out[n] == n * (n - 1) / 2);
    CHECK(cudaFree(device));
}

int main(int argc, char **argv)
{
    static const Program programs[] = {{"half_precision", half_precision},
                                       {"group_algorithms", group_algorithms},
                                       {"atomics_and_barriers", atomics_and_barriers}};
    return run_programs(argc, argv, programs);
}
