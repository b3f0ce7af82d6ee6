// Right: CUB device-wide algorithms on one stream: reduce, scan, radix sort with double buffer,
// histogram, select, RLE.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cub/cub.cuh>
#include <numeric>
#include <random>
#include <vector>

#define CubDebugExitLocal(e)                                                                       \
    do {                                                                                           \
        cudaError_t rc = (e);                                                                      \
        if (rc != cudaSuccess) {                                                                   \
            std::fprintf(stderr, "%s(%d): %s\n", __FILE__, __LINE__, cudaGetErrorString(rc));      \
            std::exit(2);                                                                          \
        }                                                                                          \
    } while (0)

struct BitOrOp {
    __host__ __device__ unsigned operator()(unsigned a, unsigned b) const
    {
        return a | b;
    }
};
struct Below {
    unsigned limit;
    __host__ __device__ bool operator()(unsigned v) const
    {
        return v < limit;
    }
};

// A growing scratch buffer, as every user of CUB ends up writing
struct Scratch {
    void *ptr = nullptr;
    size_t cap = 0;
    void *get(size_t bytes)
    {
        if (bytes > cap) {
            CubDebugExitLocal(cudaFree(ptr));
            CubDebugExitLocal(cudaMalloc(&ptr, bytes));
            cap = bytes;
        }
        return ptr;
    }
    ~Scratch()
    {
        cudaFree(ptr);
    }
};

#define WITH_TEMP(CALL)                                                                            \
    {                                                                                              \
        void *tmp = nullptr;                                                                       \
        size_t bytes = 0;                                                                          \
        CubDebugExitLocal(CALL);                                                                   \
        tmp = scratch.get(bytes ? bytes : 1);                                                      \
        CubDebugExitLocal(CALL);                                                                   \
    }

template <class T> static T *dalloc(size_t n)
{
    T *p;
    CubDebugExitLocal(cudaMalloc(&p, n * sizeof(T)));
    return p;
}
template <class T> static std::vector<T> fetch(const T *d, size_t n, cudaStream_t s)
{
    std::vector<T> h(n);
    CubDebugExitLocal(cudaMemcpyAsync(h.data(), d, n * sizeof(T), cudaMemcpyDeviceToHost, s));
    CubDebugExitLocal(cudaStreamSynchronize(s));
    return h;
}

static bool allOk = true;
static void verdict(const char *name, bool ok)
{
    if (!ok) {
        std::printf("%s: wrong result\n", name);
        allOk = false;
    }
}

int main()
{
    const int n = 20011;
    std::mt19937 rng(7);
    std::vector<unsigned> h(n);
    for (auto &v : h) v = rng() & 0xffffffu;
    cudaStream_t s;
    CubDebugExitLocal(cudaStreamCreate(&s));
    Scratch scratch;

    unsigned *in = dalloc<unsigned>(n), *out = dalloc<unsigned>(n), *one = dalloc<unsigned>(1);
    CubDebugExitLocal(
        cudaMemcpyAsync(in, h.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice, s));

    // reductions
    WITH_TEMP(cub::DeviceReduce::Sum(tmp, bytes, in, one, n, s));
    verdict("Sum", fetch(one, 1, s)[0] == std::accumulate(h.begin(), h.end(), 0u));
    WITH_TEMP(cub::DeviceReduce::Max(tmp, bytes, in, one, n, s));
    verdict("Max", fetch(one, 1, s)[0] == *std::max_element(h.begin(), h.end()));
    WITH_TEMP(cub::DeviceReduce::Reduce(tmp, bytes, in, one, n / 9, BitOrOp(), 1u, s));
    unsigned orRef = 1u;
    for (int i = 0; i < n / 9; ++i) orRef |= h[i];
    verdict("Reduce(or)", fetch(one, 1, s)[0] == orRef);

    // segmented reduction
    std::vector<int> offs = {0, 1, 1, 100, 5000, 5001, n};
    int nseg = (int)offs.size() - 1;
    int *doffs = dalloc<int>(offs.size());
    unsigned *segOut = dalloc<unsigned>(nseg);
    CubDebugExitLocal(
        cudaMemcpy(doffs, offs.data(), offs.size() * sizeof(int), cudaMemcpyHostToDevice));
    WITH_TEMP(cub::DeviceSegmentedReduce::Sum(tmp, bytes, in, segOut, nseg, doffs, doffs + 1, s));
    auto seg = fetch(segOut, nseg, s);
    for (int k = 0; k < nseg; ++k)
        verdict("SegmentedReduce",
                seg[k] == std::accumulate(h.begin() + offs[k], h.begin() + offs[k + 1], 0u));

    // scan
    WITH_TEMP(cub::DeviceScan::ExclusiveSum(tmp, bytes, in, out, n, s));
    {
        auto got = fetch(out, n, s);
        unsigned run = 0;
        bool ok = true;
        for (int i = 0; i < n; ++i) {
            ok = ok && got[i] == run;
            run += h[i];
        }
        verdict("ExclusiveSum", ok);
    }

    // radix sort of pairs; the library says which of the two buffers holds the result
    {
        unsigned *k2 = dalloc<unsigned>(n);
        int *v1 = dalloc<int>(n), *v2 = dalloc<int>(n);
        std::vector<int> iota(n);
        std::iota(iota.begin(), iota.end(), 0);
        CubDebugExitLocal(
            cudaMemcpyAsync(out, in, n * sizeof(unsigned), cudaMemcpyDeviceToDevice, s));
        CubDebugExitLocal(
            cudaMemcpyAsync(v1, iota.data(), n * sizeof(int), cudaMemcpyHostToDevice, s));
        cub::DoubleBuffer<unsigned> keys(out, k2);
        cub::DoubleBuffer<int> vals(v1, v2);
        WITH_TEMP(cub::DeviceRadixSort::SortPairs(tmp, bytes, keys, vals, n, 0, 24, s));
        auto gk = fetch(keys.Current(), n, s);
        auto gv = fetch(vals.Current(), n, s);
        std::stable_sort(iota.begin(), iota.end(), [&](int a, int b) { return h[a] < h[b]; });
        bool ok = gv == iota;
        for (int i = 0; i < n; ++i) ok = ok && gk[i] == h[iota[i]];
        verdict("SortPairs", ok);
        cudaFree(k2);
        cudaFree(v1);
        cudaFree(v2);
    }

    // histogram with 64 bins over [0, 2^24)
    {
        const int levels = 65;
        int *hist = dalloc<int>(levels - 1);
        WITH_TEMP(
            cub::DeviceHistogram::HistogramEven(tmp, bytes, in, hist, levels, 0u, 1u << 24, n, s));
        auto got = fetch(hist, levels - 1, s);
        std::vector<int> ref(levels - 1, 0);
        for (unsigned v : h) ++ref[v >> 18];
        verdict("HistogramEven", got == ref);
        cudaFree(hist);
    }

    // select and run-length encode
    {
        int *cnt = dalloc<int>(1), *runs = dalloc<int>(n);
        WITH_TEMP(cub::DeviceSelect::If(tmp, bytes, in, out, cnt, n, Below{1u << 22}, s));
        int kept = fetch(cnt, 1, s)[0];
        std::vector<unsigned> ref;
        std::copy_if(h.begin(), h.end(), std::back_inserter(ref), Below{1u << 22});
        verdict("Select::If", kept == (int)ref.size() && fetch(out, kept, s) == ref);

        std::vector<unsigned> steps(n);
        for (int i = 0; i < n; ++i) steps[i] = (unsigned)(i / 13 % 5);
        CubDebugExitLocal(
            cudaMemcpyAsync(in, steps.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice, s));
        WITH_TEMP(cub::DeviceRunLengthEncode::Encode(tmp, bytes, in, out, runs, cnt, n, s));
        int nr = fetch(cnt, 1, s)[0];
        auto len = fetch(runs, nr, s);
        auto val = fetch(out, nr, s);
        bool ok = nr == (n + 12) / 13;
        for (int i = 0; ok && i < nr; ++i)
            ok = val[i] == (unsigned)(i % 5) && len[i] == (i + 1 < nr ? 13 : n - 13 * i);
        verdict("RunLengthEncode", ok);
        cudaFree(cnt);
        cudaFree(runs);
    }
    cudaFree(in);
    cudaFree(out);
    cudaFree(one);
    cudaFree(doffs);
    cudaFree(segOut);
    CubDebugExitLocal(cudaStreamDestroy(s));
    if (!allOk) return 1;
    std::printf("PASS\n");
    return 0;
}
