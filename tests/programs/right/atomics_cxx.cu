// Right: cuda::atomic_ref in two scopes, a counting semaphore, compare-exchange loops, cuda::std
// types.
#include "tests/programs/program.cuh"

#include <cuda/atomic>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/tuple>
#include <vector>
__device__ float fmaxAtomic(float *p, float v)
{
    cuda::atomic_ref<float, cuda::thread_scope_device> r(*p);
    float o = r.load(cuda::memory_order_relaxed);
    while (o < v && !r.compare_exchange_weak(o, v, cuda::memory_order_relaxed))
        ;
    return o;
}
__global__ void k(const float *in, int n, float *mx, unsigned *hist, int *top)
{
    __shared__ unsigned local[16];
    if (threadIdx.x < 16) local[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        fmaxAtomic(mx, in[i]);
        cuda::atomic_ref<unsigned, cuda::thread_scope_block> b(local[(int)in[i] & 15]);
        b.fetch_add(1, cuda::memory_order_relaxed);
        cuda::atomic_ref<int, cuda::thread_scope_device>(*top).fetch_max((int)in[i]);
    }
    __syncthreads();
    if (threadIdx.x < 16)
        cuda::atomic_ref<unsigned, cuda::thread_scope_device>(hist[threadIdx.x])
            .fetch_add(local[threadIdx.x], cuda::memory_order_relaxed);
}
__device__ cuda::counting_semaphore<cuda::thread_scope_device, 2> sem{2};
__device__ int inside, most, visits;
__global__ void guarded()
{
    if (threadIdx.x == 0) {
        sem.acquire();
        cuda::atomic_ref<int, cuda::thread_scope_device> in(inside), m(most), v(visits);
        int now = in.fetch_add(1) + 1;
        m.fetch_max(now);
        v.fetch_add(1);
        __nanosleep(100);
        in.fetch_sub(1);
        sem.release();
    }
}
__global__ void tup(int *o)
{
    cuda::std::array<int, 4> a = {1, 2, 3, 4};
    auto t = cuda::std::make_tuple(a[threadIdx.x & 3], 2.5f);
    o[threadIdx.x] = cuda::std::get<0>(t) * (int)cuda::std::get<1>(t);
}
int main()
{
    const int n = 3000;
    std::vector<float> h(n);
    unsigned want[16] = {}, got[16];
    for (int i = 0; i < n; i++) {
        h[i] = (i * 37 % 1009) * 0.5f;
        want[(int)h[i] & 15]++;
    }
    float *d, *mx, m;
    unsigned *hist;
    int *top, t;
    CHECK(cudaMalloc(&d, n * 4));
    CHECK(cudaMalloc(&mx, 4));
    CHECK(cudaMalloc(&hist, 64));
    CHECK(cudaMalloc(&top, 4));
    CHECK(cudaMemset(mx, 0, 4));
    CHECK(cudaMemset(hist, 0, 64));
    CHECK(cudaMemset(top, 0, 4));
    CHECK(cudaMemcpy(d, h.data(), n * 4, cudaMemcpyHostToDevice));
    k<<<(n + 127) / 128, 128>>>(d, n, mx, hist, top);
    CHECK(cudaMemcpy(&m, mx, 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(got, hist, 64, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&t, top, 4, cudaMemcpyDeviceToHost));
    EXPECT(m == 504 && t == 504);
    for (int i = 0; i < 16; i++) EXPECT(got[i] == want[i]);
    guarded<<<20, 32>>>();
    CHECK(cudaDeviceSynchronize());
    int v, x;
    CHECK(cudaMemcpyFromSymbol(&v, visits, 4));
    CHECK(cudaMemcpyFromSymbol(&x, most, 4));
    EXPECT(v == 20 && x >= 1 && x <= 2);
    tup<<<1, 8>>>((int *)hist);
    CHECK(cudaMemcpy(got, hist, 32, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8; i++) EXPECT(got[i] == (unsigned)(i % 4 + 1) * 2);
    CHECK(cudaFree(d));
    CHECK(cudaFree(mx));
    CHECK(cudaFree(hist));
    CHECK(cudaFree(top));
    puts("PASS");
    return 0;
}
