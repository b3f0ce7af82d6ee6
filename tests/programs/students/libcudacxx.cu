// libcu++: atomic_ref, barriers, semaphores, a mutex, a flag that is waited for, cuda::std.
#include <cstdio>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/limits>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/utility>

__global__ void minmax(const int *v, int n, int *mn, int *mx, unsigned long long *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    cuda::atomic_ref<int, cuda::thread_scope_device> a(*mn), b(*mx);
    a.fetch_min(v[i], cuda::memory_order_relaxed);
    b.fetch_max(v[i]);
    cuda::atomic_ref<unsigned long long> s(*sum);
    s += v[i];
}

__global__ void barrier_phases(int *out, int rounds)
{
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int buf[2][128];
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    int t = threadIdx.x;
    buf[0][t] = t;
    for (int r = 0; r < rounds; r++) {
        auto tok = bar.arrive();
        int mine = r + 1;
        bar.wait(cuda::std::move(tok));
        buf[(r + 1) & 1][t] = buf[r & 1][(t + 1) % blockDim.x] + mine;
    }
    bar.arrive_and_wait();
    out[t] = buf[rounds & 1][t];
}

__device__ cuda::std::optional<int> find(cuda::std::span<const int> s, int v)
{
    for (size_t i = 0; i < s.size(); i++)
        if (s[i] == v) return int(i);
    return cuda::std::nullopt;
}

__global__ void stdthings(const int *v, int n, int *out)
{
    cuda::std::array<int, 4> a{1, 2, 3, 4};
    auto t = cuda::std::make_tuple(a.size(), 2.5f, cuda::std::numeric_limits<int>::max());
    auto [x, y, z] = t;
    out[0] = x;
    out[1] = (int)(y * 2);
    out[2] = z;
    out[3] = find({v, (size_t)n}, v[n - 1]).value_or(-7);
    out[4] = find({v, (size_t)n}, -12345).value_or(-7);
}

struct Mutex {
    cuda::atomic<int, cuda::thread_scope_device> f;

    __device__ void lock()
    {
        while (f.exchange(1, cuda::memory_order_acquire)) __nanosleep(20);
    }

    __device__ void unlock()
    {
        f.store(0, cuda::memory_order_release);
    }
};

__global__ void critical(Mutex *m, int *c)
{
    if (threadIdx.x % 32 == 0) {
        m->lock();
        *c = *c + 1;
        m->unlock();
    }
}

__global__ void sem(cuda::counting_semaphore<cuda::thread_scope_device, 3> *s, int *inside,
                    int *peak)
{
    if (threadIdx.x == 0) {
        s->acquire();
        int k = atomicAdd(inside, 1) + 1;
        atomicMax(peak, k);
        __nanosleep(100);
        atomicSub(inside, 1);
        s->release();
    }
}

__global__ void mkflag(cuda::atomic<int, cuda::thread_scope_system> *f, int *data)
{
    if (blockIdx.x == 0) {
        *data = 77;
        f->store(1, cuda::memory_order_release);
        f->notify_all();
    } else {
        f->wait(0, cuda::memory_order_acquire);
        data[1] = *data + 1;
    }
}

int main()
{
    int n = 3000, *v, *o;
    unsigned long long *s;
    cudaMallocManaged(&v, n * 4);
    cudaMallocManaged(&o, 1024 * 4);
    cudaMallocManaged(&s, 8);
    int bad = 0;
    unsigned long long r = 0;
    for (int i = 0; i < n; i++) {
        v[i] = (i * 7919) % 10007;
        r += v[i];
    }
    o[0] = 1 << 30;
    o[1] = -1;
    *s = 0;
    minmax<<<(n + 127) / 128, 128>>>(v, n, o, o + 1, s);
    cudaDeviceSynchronize();
    bad += o[0] != 0 || *s != r;
    barrier_phases<<<1, 128>>>(o, 5);
    cudaDeviceSynchronize();
    for (int t = 0; t < 128; t++) bad += o[t] != (t + 5) % 128 + 15;
    stdthings<<<1, 1>>>(v, n, o);
    cudaDeviceSynchronize();
    bad += o[0] != 4 || o[1] != 5 || o[2] != 0x7fffffff || v[o[3]] != v[n - 1] || o[4] != -7;
    Mutex *m;
    cudaMallocManaged(&m, sizeof *m);
    new (m) Mutex{};
    o[0] = 0;
    critical<<<20, 64>>>(m, o);
    cudaDeviceSynchronize();
    bad += o[0] != 40;
    cuda::counting_semaphore<cuda::thread_scope_device, 3> *q;
    cudaMallocManaged(&q, sizeof *q);
    new (q) cuda::counting_semaphore<cuda::thread_scope_device, 3>(3);
    o[0] = o[1] = 0;
    sem<<<12, 32>>>(q, o, o + 1);
    cudaDeviceSynchronize();
    bad += o[0] != 0 || o[1] < 1 || o[1] > 3;
    cuda::atomic<int, cuda::thread_scope_system> *f;
    cudaMallocManaged(&f, sizeof *f);
    new (f) cuda::atomic<int, cuda::thread_scope_system>(0);
    mkflag<<<2, 1>>>(f, o);
    cudaDeviceSynchronize();
    bad += o[1] != 78;
    cudaFree(v);
    cudaFree(o);
    cudaFree(s);
    cudaFree(m);
    cudaFree(q);
    cudaFree(f);
    printf("%d %s\n", bad, cudaGetErrorString(cudaGetLastError()));
    return bad != 0;
}
