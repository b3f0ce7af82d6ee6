// Right: Monte Carlo with an own PCG generator in integers only, launch sizes from the occupancy
// API, results exact.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(x)                                                                                   \
    {                                                                                              \
        cudaError_t e_ = (x);                                                                      \
        if (e_) {                                                                                  \
            std::printf("%s (line %d): %s\n", #x, __LINE__, cudaGetErrorString(e_));               \
            std::exit(1);                                                                          \
        }                                                                                          \
    }

struct Pcg {
    uint64_t state, inc;
    __host__ __device__ explicit Pcg(uint64_t seed, uint64_t seq) : state(0), inc(seq << 1 | 1)
    {
        next();
        state += seed;
        next();
    }
    __host__ __device__ uint32_t next()
    {
        uint64_t old = state;
        state = old * 6364136223846793005ULL + inc;
        uint32_t x = (uint32_t)(((old >> 18) ^ old) >> 27), rot = (uint32_t)(old >> 59);
        return (x >> rot) | (x << ((32 - rot) & 31));
    }
};

constexpr int SAMPLES = 24; // points per path
constexpr int RUIN_BINS = 32;

__host__ __device__ inline unsigned quarterCircleHits(uint64_t path)
{
    Pcg g(1234, path);
    unsigned hits = 0;
    for (int k = 0; k < SAMPLES; ++k) {
        uint64_t x = g.next() >> 1, y = g.next() >> 1; // 31 bits each
        hits += x * x + y * y <= (uint64_t)0x7fffffff * 0x7fffffff;
    }
    return hits;
}

// gambler's ruin: starts with 5, each game wins or loses 1, ends at 0 or 10 or after 62 games
__host__ __device__ inline int ruinLength(uint64_t path)
{
    Pcg g(99, path);
    int money = 5, games = 0;
    while (money > 0 && money < 10 && games < 62) {
        money += (g.next() >> 31) ? 1 : -1;
        ++games;
    }
    return games;
}

__global__ void estimatePi(uint64_t paths, unsigned long long *hits)
{
    __shared__ unsigned warpHits[32];
    unsigned mine = 0;
    for (uint64_t p = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; p < paths;
         p += (uint64_t)gridDim.x * blockDim.x)
        mine += quarterCircleHits(p);
    for (int o = 16; o > 0; o >>= 1) mine += __shfl_down_sync(0xffffffffu, mine, o);
    if (threadIdx.x % 32 == 0) warpHits[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x < 32) {
        mine = threadIdx.x < blockDim.x / 32 ? warpHits[threadIdx.x] : 0;
        for (int o = 16; o > 0; o >>= 1) mine += __shfl_down_sync(0xffffffffu, mine, o);
        if (threadIdx.x == 0) atomicAdd(hits, (unsigned long long)mine);
    }
}

__global__ void ruinHistogram(uint64_t paths, unsigned *hist)
{
    extern __shared__ unsigned bins[];
    for (int b = threadIdx.x; b < RUIN_BINS; b += blockDim.x) bins[b] = 0;
    __syncthreads();
    for (uint64_t p = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; p < paths;
         p += (uint64_t)gridDim.x * blockDim.x)
        atomicAdd(&bins[ruinLength(p) / 2], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < RUIN_BINS; b += blockDim.x)
        if (bins[b]) atomicAdd(&hist[b], bins[b]);
}

struct SmemForBlock {
    __host__ __device__ size_t operator()(int) const
    {
        return RUIN_BINS * sizeof(unsigned);
    }
};

int main()
{
    const uint64_t piPaths = 6000, ruinPaths = 3000;
    int dev = 0;
    CHECK(cudaGetDevice(&dev));
    cudaDeviceProp prop;
    CHECK(cudaGetDeviceProperties(&prop, dev));

    // the largest block for which the occupancy is best
    int minGrid = 0, block = 0;
    CHECK(cudaOccupancyMaxPotentialBlockSize(&minGrid, &block, estimatePi, 0, 0));
    if (block < 32 || block > prop.maxThreadsPerBlock || block % prop.warpSize || minGrid < 1) {
        std::printf("the occupancy API proposes %d blocks of %d threads\n", minGrid, block);
        return 1;
    }
    int grid = (int)((piPaths + block - 1) / block);
    if (grid > minGrid) grid = minGrid;

    // shared memory that depends on the block size
    int minGrid2 = 0, block2 = 0;
    CHECK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&minGrid2, &block2, ruinHistogram,
                                                         SmemForBlock(), 256));
    int perSm = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perSm, ruinHistogram, block2,
                                                        RUIN_BINS * sizeof(unsigned)));
    if (perSm < 1 || block2 > 256 || perSm * block2 > prop.maxThreadsPerMultiProcessor) {
        std::printf("%d blocks of %d threads per SM\n", perSm, block2);
        return 1;
    }
    int grid2 = perSm * prop.multiProcessorCount;
    if (grid2 > 16) grid2 = 16;
    cudaFuncAttributes fa;
    CHECK(cudaFuncGetAttributes(&fa, estimatePi));
    if (fa.sharedSizeBytes < 32 * sizeof(unsigned) || fa.maxThreadsPerBlock < block) {
        std::printf("attributes: %zu bytes shared, %d threads\n", fa.sharedSizeBytes,
                    fa.maxThreadsPerBlock);
        return 1;
    }

    unsigned long long *dHits, hits = 0, refHits = 0;
    unsigned *dHist;
    std::vector<unsigned> hist(RUIN_BINS), refHist(RUIN_BINS, 0);
    CHECK(cudaMalloc(&dHits, sizeof(*dHits)));
    CHECK(cudaMalloc(&dHist, RUIN_BINS * sizeof(unsigned)));
    CHECK(cudaMemset(dHits, 0, sizeof(*dHits)));
    CHECK(cudaMemset(dHist, 0, RUIN_BINS * sizeof(unsigned)));
    estimatePi<<<grid, block>>>(piPaths, dHits);
    CHECK(cudaGetLastError());
    ruinHistogram<<<grid2, block2, RUIN_BINS * sizeof(unsigned)>>>(ruinPaths, dHist);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&hits, dHits, sizeof(hits), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(hist.data(), dHist, RUIN_BINS * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(dHits));
    CHECK(cudaFree(dHist));

    for (uint64_t p = 0; p < piPaths; ++p) refHits += quarterCircleHits(p);
    for (uint64_t p = 0; p < ruinPaths; ++p) ++refHist[ruinLength(p) / 2];
    double pi = 4.0 * (double)hits / (double)(piPaths * SAMPLES);
    int bad = 0;
    if (hits != refHits) {
        std::printf("%llu hits, expected %llu\n", hits, refHits);
        ++bad;
    }
    if (pi < 3.1 || pi > 3.2) {
        std::printf("pi is about %f?\n", pi);
        ++bad;
    }
    for (int b = 0; b < RUIN_BINS; ++b)
        if (hist[b] != refHist[b]) {
            std::printf("bin %d: %u, expected %u\n", b, hist[b], refHist[b]);
            ++bad;
        }
    if (bad) return 1;
    std::printf("PASS\n");
    return 0;
}
