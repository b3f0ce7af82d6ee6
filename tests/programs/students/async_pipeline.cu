// Asynchronous copies into shared memory: cuda::pipeline, cooperative groups, barriers, primitives.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cstdio>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <vector>
namespace cg = cooperative_groups;

#pragma nv_diag_suppress static_var_with_dynamic_init

template <int STAGES> __global__ void staged(const int *in, int *out, int batches)
{
    auto block = cg::this_thread_block();
    extern __shared__ int sh[];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> st;
    auto pipe = cuda::make_pipeline(block, &st);
    int B = block.size();
    const int *src = in + blockIdx.x * batches * B;
    for (int c = 0, f = 0; c < batches; c++) {
        for (; f < batches && f < c + STAGES; f++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, sh + (f % STAGES) * B, src + f * B, sizeof(int) * B, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        out[(blockIdx.x * batches + c) * B + threadIdx.x] =
            sh[(c % STAGES) * B + B - 1 - threadIdx.x] * 3;
        pipe.consumer_release();
    }
}

__global__ void cgcopy(const float *in, float *out, int n)
{
    __shared__ alignas(16) float s[256];
    auto b = cg::this_thread_block();
    float acc = 0;
    for (int base = 0; base < n; base += 256) {
        int m = min(256, n - base);
        cg::memcpy_async(b, s, in + base, sizeof(float) * m);
        cg::wait(b);
        for (int i = threadIdx.x; i < m; i += blockDim.x) acc += s[i];
        b.sync();
    }
    atomicAdd(out, acc);
}

__global__ void two(const int4 *in, int *out)
{
    __shared__ int4 s[2][64];
    auto b = cg::this_thread_block();
    cg::memcpy_async(b, s[0], in, sizeof s[0]);
    cg::memcpy_async(b, s[1], in + 64, cuda::aligned_size_t<16>(sizeof s[1]));
    cg::wait_prior<1>(b);
    int a = s[0][threadIdx.x ^ 1].x;
    cg::wait_prior<0>(b);
    out[threadIdx.x] = a + s[1][threadIdx.x ^ 3].w;
}

__global__ void barcopy(const double *in, double *out)
{
    __shared__ double s[128];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    auto b = cg::this_thread_block();
    if (b.thread_rank() == 0) init(&bar, b.size());
    b.sync();
    cuda::memcpy_async(b, s, in, cuda::aligned_size_t<8>(sizeof s), bar);
    bar.arrive_and_wait();
    out[threadIdx.x] = s[127 - threadIdx.x];
}

__global__ void prim(const int *in, int *out)
{
    __shared__ int s[4][32];
    for (int i = 0; i < 4; i++) {
        __pipeline_memcpy_async(&s[i][threadIdx.x], in + i * 32 + threadIdx.x, 4);
        __pipeline_commit();
    }
    int a = 0;
    __pipeline_wait_prior(2);
    a += s[0][threadIdx.x] + s[1][threadIdx.x];
    __pipeline_wait_prior(0);
    a += s[2][threadIdx.x] + s[3][threadIdx.x];
    out[threadIdx.x] = a;
}

int main()
{
    int B = 64, nb = 9, G = 3, N = B * nb * G;
    std::vector<int> h(N), g(N);
    for (int i = 0; i < N; i++) h[i] = i * i % 1009;
    int *d, *o, bad = 0;
    cudaMalloc(&d, N * 4);
    cudaMalloc(&o, N * 4);
    cudaMemcpy(d, h.data(), N * 4, cudaMemcpyHostToDevice);
    staged<2><<<G, B, 2 * B * 4>>>(d, o, nb);
    cudaMemcpy(g.data(), o, N * 4, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++) bad += g[i] != 3 * h[i / B * B + B - 1 - i % B];
    staged<4><<<G, B, 4 * B * 4>>>(d, o, nb);
    cudaMemcpy(g.data(), o, N * 4, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++) bad += g[i] != 3 * h[i / B * B + B - 1 - i % B];
    std::vector<float> f(1000);
    float s = 0, q;
    for (int i = 0; i < 1000; i++) s += f[i] = i % 13;
    float *df, *of;
    cudaMalloc(&df, 4000);
    cudaMalloc(&of, 4);
    cudaMemcpy(df, f.data(), 4000, cudaMemcpyHostToDevice);
    cudaMemset(of, 0, 4);
    cgcopy<<<1, 96>>>(df, of, 1000);
    cudaMemcpy(&q, of, 4, cudaMemcpyDeviceToHost);
    bad += q != s;
    two<<<1, 64>>>((int4 *)d, o);
    cudaMemcpy(g.data(), o, 256, cudaMemcpyDeviceToHost);
    for (int t = 0; t < 64; t++) bad += g[t] != h[4 * (t ^ 1)] + h[256 + 4 * (t ^ 3) + 3];
    prim<<<1, 32>>>(d, o);
    cudaMemcpy(g.data(), o, 128, cudaMemcpyDeviceToHost);
    for (int t = 0; t < 32; t++) bad += g[t] != h[t] + h[32 + t] + h[64 + t] + h[96 + t];
    double hd[128], gd[128], *dd;
    for (int i = 0; i < 128; i++) hd[i] = i * .5;
    cudaMalloc(&dd, 2048);
    cudaMemcpy(dd, hd, 1024, cudaMemcpyHostToDevice);
    barcopy<<<1, 128>>>(dd, dd + 128);
    cudaMemcpy(gd, dd + 128, 1024, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 128; i++) bad += gd[i] != hd[127 - i];
    cudaFree(d);
    cudaFree(o);
    cudaFree(df);
    cudaFree(of);
    cudaFree(dd);
    printf("%d bad %s\n", bad, cudaGetErrorString(cudaGetLastError()));
    return bad != 0;
}
