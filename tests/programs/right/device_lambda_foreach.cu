// Right: extended lambdas in grid-stride for_each / reduce / 2D loops, __host__ __device__ lambdas,
// if constexpr, parameter packs.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <type_traits>
#include <utility>
#include <vector>

#define CK(x)                                                                                      \
    do {                                                                                           \
        if (auto e = (x); e != cudaSuccess) {                                                      \
            std::fprintf(stderr, "%s -> %s, line %d\n", #x, cudaGetErrorName(e), __LINE__);        \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

template <class F> __global__ void forEachKernel(int n, F f)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) f(i);
}

template <class F> __global__ void forEach2dKernel(int w, int h, F f)
{
    for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < h; y += blockDim.y * gridDim.y)
        for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < w; x += blockDim.x * gridDim.x)
            f(x, y);
}

template <int Block, class T, class Map, class Combine>
__global__ void reduceKernel(int n, T *out, T init, Map map, Combine comb)
{
    __shared__ T sm[Block];
    T v = init;
    for (int i = blockIdx.x * Block + threadIdx.x; i < n; i += Block * gridDim.x)
        v = comb(v, map(i));
    sm[threadIdx.x] = v;
    __syncthreads();
#pragma unroll
    for (int s = Block / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) sm[threadIdx.x] = comb(sm[threadIdx.x], sm[threadIdx.x + s]);
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sm[0];
}

enum class Where { host, device };

template <Where W, class F> void parallelFor(int n, F f, cudaStream_t s = 0)
{
    if constexpr (W == Where::device) {
        forEachKernel<<<(n + 1023) / 1024, 256, 0, s>>>(n, f);
        CK(cudaGetLastError());
    } else {
        for (int i = 0; i < n; ++i) f(i);
    }
}

template <class T, class Map, class Combine>
T parallelReduce(int n, T init, Map map, Combine comb, cudaStream_t s = 0)
{
    constexpr int blocks = 12;
    T *d;
    CK(cudaMalloc(&d, blocks * sizeof(T)));
    reduceKernel<128><<<blocks, 128, 0, s>>>(n, d, init, map, comb);
    CK(cudaGetLastError());
    std::vector<T> part(blocks);
    CK(cudaMemcpyAsync(part.data(), d, blocks * sizeof(T), cudaMemcpyDeviceToHost, s));
    CK(cudaStreamSynchronize(s));
    CK(cudaFree(d));
    T r = init;
    for (const T &p : part) r = comb(r, p);
    return r;
}

// sum of any number of arrays
template <class T, class... Arrays> __global__ void addAll(T *out, int n, const Arrays *...arrays)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (T(0) + ... + static_cast<T>(arrays[i]));
}

template <class T> struct DeviceArray {
    T *p = nullptr;
    int n;
    explicit DeviceArray(int count) : n(count)
    {
        CK(cudaMalloc(&p, n * sizeof(T)));
    }
    ~DeviceArray()
    {
        cudaFree(p);
    }
    DeviceArray(const DeviceArray &) = delete;
    std::vector<T> host() const
    {
        std::vector<T> h(n);
        CK(cudaMemcpy(h.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
        return h;
    }
};

struct Extent {
    float lo, hi;
};

struct Kernel3 {
    int k[3][3];
};

int main()
{
    const int n = 7777;
    int bad = 0;
    auto fail = [&](const char *what, int i, double got, double want) {
        if (bad++ < 8) std::printf("%s[%d]: %g, expected %g\n", what, i, got, want);
    };

    // the same lambda on both sides
    DeviceArray<float> a(n), b(n);
    std::vector<float> ha(n);
    auto wave = [] __host__ __device__(int i) { return (float)((i * i) % 1013) * 0.125f - 30.0f; };
    {
        float *pa = a.p, *pb = b.p, *ph = ha.data();
        parallelFor<Where::device>(n, [=] __device__(int i) { pa[i] = wave(i); });
        parallelFor<Where::host>(n, [=](int i) { ph[i] = wave(i); });
        float scale = 3.0f;
        parallelFor<Where::device>(n, [=] __device__(int i) { pb[i] = scale * pa[n - 1 - i]; });
    }
    auto ga = a.host(), gb = b.host();
    for (int i = 0; i < n; ++i) {
        if (ga[i] != ha[i]) fail("a", i, ga[i], ha[i]);
        if (gb[i] != 3.0f * ha[n - 1 - i]) fail("b", i, gb[i], 3.0f * ha[n - 1 - i]);
    }

    // reductions with lambdas
    {
        const float *pa = a.p;
        double sum = parallelReduce(
            n, 0.0, [=] __device__(int i) { return (double)pa[i] * pa[i]; },
            [] __host__ __device__(double x, double y) { return x + y; });
        Extent e = parallelReduce(
            n, Extent{1e30f, -1e30f},
            [=] __device__(int i) {
                return Extent{pa[i], pa[i]};
            },
            [] __host__ __device__(Extent x, Extent y) {
                return Extent{x.lo < y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi};
            });
        double ref = 0;
        Extent re{1e30f, -1e30f};
        for (float v : ha) {
            ref += (double)v * v;
            re.lo = std::fmin(re.lo, v);
            re.hi = std::fmax(re.hi, v);
        }
        if (std::fabs(sum - ref) > 1e-9 * ref) fail("sum", 0, sum, ref);
        if (e.lo != re.lo) fail("lo", 0, e.lo, re.lo);
        if (e.hi != re.hi) fail("hi", 0, e.hi, re.hi);
    }

    // two dimensions, an array captured by value
    {
        const int w = 70, h = 45;
        DeviceArray<int> img(w * h);
        Kernel3 k3 = {{{1, 2, 1}, {2, 4, 2}, {1, 2, 1}}};
        int *p = img.p;
        auto src = [] __host__ __device__(int x, int y) { return (x * 31 + y * 17) % 256; };
        auto blur = [=] __host__ __device__(int x, int y) {
            int s = 0;
            for (int dy = -1; dy <= 1; ++dy)
                for (int dx = -1; dx <= 1; ++dx)
                    s += k3.k[dy + 1][dx + 1] * src(x + dx + 1, y + dy + 1);
            return s / 16;
        };
        forEach2dKernel<<<dim3(3, 3), dim3(16, 8)>>>(
            w, h, [=] __device__(int x, int y) { p[y * w + x] = blur(x, y); });
        CK(cudaGetLastError());
        auto got = img.host();
        for (int i = 0; i < w * h; ++i)
            if (got[i] != blur(i % w, i / w)) fail("blur", i, got[i], blur(i % w, i / w));
    }

    // fold expression over arrays of different types
    {
        DeviceArray<short> s(n);
        DeviceArray<double> out(n);
        short *ps = s.p;
        parallelFor<Where::device>(n, [=] __device__(int i) { ps[i] = (short)(i % 300 - 150); });
        addAll<<<(n + 255) / 256, 256>>>(out.p, n, a.p, b.p, s.p);
        CK(cudaGetLastError());
        auto got = out.host();
        for (int i = 0; i < n; ++i) {
            double want = (double)ha[i] + (double)(3.0f * ha[n - 1 - i]) + (i % 300 - 150);
            if (std::fabs(got[i] - want) > 1e-9) fail("addAll", i, got[i], want);
        }
    }
    if (bad) return 1;
    std::printf("PASS\n");
    return 0;
}
