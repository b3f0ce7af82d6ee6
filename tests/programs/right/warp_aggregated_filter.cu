// Right: stream compaction and histogram with warp-aggregated atomics (coalesced_threads,
// match_any, labeled_partition).
#include <algorithm>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

namespace cg = cooperative_groups;

static void check(cudaError_t e, int line)
{
    if (e != cudaSuccess) {
        fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(e));
        exit(1);
    }
}
#define CHECK(x) check((x), __LINE__)

// one atomic per group of converged threads
__device__ int aggregatedInc(int *counter)
{
    cg::coalesced_group active = cg::coalesced_threads();
    int base = 0;
    if (active.thread_rank() == 0) base = atomicAdd(counter, (int)active.size());
    return active.shfl(base, 0) + (int)active.thread_rank();
}

__global__ void filterPositive(const int *src, int n, int *dst, int *count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int v = src[i];
        if (v > 0) dst[aggregatedInc(count)] = v;
    }
}

// the same by hand, with the ballot of the whole warp
__global__ void filterMultiple(const int *src, int n, int divisor, int *dst,
                               unsigned long long *count)
{
    int rounds = (n + gridDim.x * blockDim.x - 1) / (gridDim.x * blockDim.x);
    int lane = threadIdx.x & 31;
    for (int r = 0; r < rounds; ++r) {
        int i = (r * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
        int v = i < n ? src[i] : 1;
        bool keep = i < n && v % divisor == 0;
        unsigned votes = __ballot_sync(0xffffffffu, keep);
        if (votes == 0) continue; // uniform in the warp
        int leader = __ffs(votes) - 1;
        unsigned long long base = 0;
        if (lane == leader) base = atomicAdd(count, (unsigned long long)__popc(votes));
        base = __shfl_sync(0xffffffffu, base, leader);
        if (keep) dst[base + __popc(votes & ((1u << lane) - 1))] = v;
    }
}

// histogram: equal bins of a warp are added once
__global__ void histogramMatch(const int *src, int n, int bins, unsigned *hist)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned active = __activemask(); // any subset will do: match works on it
    int bin = (int)((unsigned)src[i] % (unsigned)bins);
    unsigned peers = __match_any_sync(active, bin);
    if ((threadIdx.x & 31) == (unsigned)(__ffs(peers) - 1))
        atomicAdd(&hist[bin], (unsigned)__popc(peers));
}

// per-bucket sums with labeled_partition
__global__ void bucketSums(const int *src, int n, long long *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    auto active = cg::coalesced_threads();
    int bucket = (src[i] >> 3) & 3;
    auto group = cg::labeled_partition(active, bucket);
    int s = cg::reduce(group, src[i], cg::plus<int>());
    if (group.thread_rank() == 0)
        atomicAdd((unsigned long long *)&sums[bucket], (unsigned long long)(long long)s);
}

int main()
{
    const int n = 30001, bins = 37, divisor = 6;
    std::vector<int> h(n);
    uint32_t s = 12345;
    for (int &v : h) {
        s = s * 747796405u + 2891336453u;
        v = (int)(s >> 12) % 4001 - 2000;
    }
    int *src, *dst, *cnt;
    unsigned long long *cnt64;
    unsigned *hist;
    long long *sums;
    CHECK(cudaMalloc(&src, n * sizeof(int)));
    CHECK(cudaMalloc(&dst, n * sizeof(int)));
    CHECK(cudaMalloc(&cnt, sizeof(int)));
    CHECK(cudaMalloc(&cnt64, sizeof(*cnt64)));
    CHECK(cudaMalloc(&hist, bins * sizeof(unsigned)));
    CHECK(cudaMalloc(&sums, 4 * sizeof(long long)));
    CHECK(cudaMemcpy(src, h.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(cnt, 0, sizeof(int)));
    CHECK(cudaMemset(cnt64, 0, sizeof(*cnt64)));
    CHECK(cudaMemset(hist, 0, bins * sizeof(unsigned)));
    CHECK(cudaMemset(sums, 0, 4 * sizeof(long long)));
    bool ok = true;

    auto compareKept = [&](const char *name, size_t kept, std::vector<int> want) {
        std::vector<int> got(kept);
        CHECK(cudaMemcpy(got.data(), dst, kept * sizeof(int), cudaMemcpyDeviceToHost));
        std::sort(got.begin(), got.end());
        std::sort(want.begin(), want.end());
        if (got != want) {
            printf("%s: kept %zu, expected %zu, or other elements\n", name, kept, want.size());
            ok = false;
        }
    };

    filterPositive<<<20, 192>>>(src, n, dst, cnt);
    CHECK(cudaGetLastError());
    int kept = 0;
    CHECK(cudaMemcpy(&kept, cnt, sizeof(int), cudaMemcpyDeviceToHost));
    std::vector<int> want;
    for (int v : h)
        if (v > 0) want.push_back(v);
    compareKept("filterPositive", kept, want);

    filterMultiple<<<17, 128>>>(src, n, divisor, dst, cnt64);
    CHECK(cudaGetLastError());
    unsigned long long kept64 = 0;
    CHECK(cudaMemcpy(&kept64, cnt64, sizeof(kept64), cudaMemcpyDeviceToHost));
    want.clear();
    for (int v : h)
        if (v % divisor == 0) want.push_back(v);
    compareKept("filterMultiple", (size_t)kept64, want);

    histogramMatch<<<(n + 255) / 256, 256>>>(src, n, bins, hist);
    bucketSums<<<(n + 255) / 256, 256>>>(src, n, sums);
    CHECK(cudaGetLastError());
    std::vector<unsigned> gh(bins), rh(bins, 0);
    std::vector<long long> gs(4), rs(4, 0);
    CHECK(cudaMemcpy(gh.data(), hist, bins * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(gs.data(), sums, 4 * sizeof(long long), cudaMemcpyDeviceToHost));
    for (int v : h) {
        ++rh[(unsigned)v % (unsigned)bins];
        rs[(v >> 3) & 3] += v;
    }
    if (gh != rh) {
        printf("histogram differs\n");
        ok = false;
    }
    if (gs != rs) {
        printf("bucket sums differ\n");
        ok = false;
    }

    cudaFree(src);
    cudaFree(dst);
    cudaFree(cnt);
    cudaFree(cnt64);
    cudaFree(hist);
    cudaFree(sums);
    if (ok) printf("PASS\n");
    return ok ? 0 : 1;
}
