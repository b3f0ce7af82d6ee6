// Right: several host threads, each on its own default stream, privatised histograms in shared
// memory, shared total, thread pool style.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <mutex>
#include <thread>
#include <vector>

#define CK(x)                                                                                      \
    do {                                                                                           \
        cudaError_t e = (x);                                                                       \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #x, cudaGetErrorString(e));             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

constexpr int BINS = 64;

__global__ void makeData(unsigned char *v, int n, unsigned seed)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned x = (i + 1) * 2654435761u + seed * 40503u;
        x ^= x >> 16;
        x *= 0x45d9f3bu;
        x ^= x >> 16;
        v[i] = (unsigned char)((x & 63) * ((x >> 8) & 63) >> 6); // not flat
    }
}

__global__ void histogram(const unsigned char *v, int n, unsigned *mine, unsigned *total)
{
    __shared__ unsigned h[2][BINS]; // one copy for each half of the block
    for (int b = threadIdx.x; b < 2 * BINS; b += blockDim.x) (&h[0][0])[b] = 0;
    __syncthreads();
    unsigned *my = h[threadIdx.x / (blockDim.x / 2)];
    const uchar4 *v4 = reinterpret_cast<const uchar4 *>(v);
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
        uchar4 q = v4[i];
        atomicAdd(&my[q.x], 1u);
        atomicAdd(&my[q.y], 1u);
        atomicAdd(&my[q.z], 1u);
        atomicAdd(&my[q.w], 1u);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) {
        unsigned c = h[0][b] + h[1][b];
        if (c) {
            atomicAdd(&mine[b], c);
            atomicAdd(&total[b], c);
        }
    }
}

static void reference(int n, unsigned seed, std::vector<unsigned> &h)
{
    for (int i = 0; i < n; ++i) {
        unsigned x = (i + 1) * 2654435761u + seed * 40503u;
        x ^= x >> 16;
        x *= 0x45d9f3bu;
        x ^= x >> 16;
        ++h[((x & 63) * ((x >> 8) & 63)) >> 6];
    }
}

int main()
{
    const int threads = 4, jobs = 10;
    unsigned *total;
    CK(cudaMalloc(&total, BINS * sizeof(unsigned)));
    CK(cudaMemset(total, 0, BINS * sizeof(unsigned)));
    CK(cudaDeviceSynchronize()); // the other threads' streams do not wait for this one's

    std::atomic<int> nextJob{0};
    std::mutex report;
    std::vector<std::vector<unsigned>> results(jobs);
    int device = 0;
    CK(cudaGetDevice(&device));

    auto worker = [&](int id) {
        CK(cudaSetDevice(device));
        const int cap = 12000;
        unsigned char *data;
        unsigned *hist, *hHist;
        CK(cudaMalloc(&data, cap));
        CK(cudaMalloc(&hist, BINS * sizeof(unsigned)));
        CK(cudaMallocHost(&hHist, BINS * sizeof(unsigned)));
        int done = 0;
        for (int j; (j = nextJob.fetch_add(1)) < jobs; ++done) {
            int n = 4000 + 800 * j; // a multiple of four
            CK(cudaMemsetAsync(hist, 0, BINS * sizeof(unsigned)));
            makeData<<<8, 128>>>(data, n, (unsigned)j);
            CK(cudaGetLastError());
            histogram<<<6, 128>>>(data, n, hist, total);
            CK(cudaGetLastError());
            CK(cudaMemcpyAsync(hHist, hist, BINS * sizeof(unsigned), cudaMemcpyDeviceToHost));
            CK(cudaStreamSynchronize(0)); // this thread's stream only
            results[j].assign(hHist, hHist + BINS);
        }
        {
            std::lock_guard<std::mutex> lock(report);
            if (done > jobs) printf("thread %d did %d jobs?\n", id, done);
        }
        CK(cudaFree(data));
        CK(cudaFree(hist));
        CK(cudaFreeHost(hHist));
    };
    std::vector<std::thread> pool;
    for (int t = 0; t < threads; ++t) pool.emplace_back(worker, t);
    for (auto &t : pool) t.join();

    std::vector<unsigned> got(BINS), all(BINS, 0);
    CK(cudaMemcpy(got.data(), total, BINS * sizeof(unsigned), cudaMemcpyDeviceToHost));
    int bad = 0;
    for (int j = 0; j < jobs; ++j) {
        std::vector<unsigned> ref(BINS, 0);
        reference(4000 + 800 * j, (unsigned)j, ref);
        for (int b = 0; b < BINS; ++b) all[b] += ref[b];
        if (results[j] != ref) {
            printf("job %d differs\n", j);
            ++bad;
        }
    }
    for (int b = 0; b < BINS; ++b)
        if (got[b] != all[b] && bad++ < 8) printf("bin %d: %u, expected %u\n", b, got[b], all[b]);

    // the legacy stream still exists beside the per-thread ones and waits for them
    unsigned char *v;
    CK(cudaMalloc(&v, 4096));
    makeData<<<4, 128, 0, cudaStreamPerThread>>>(v, 4096, 77u);
    CK(cudaGetLastError());
    CK(cudaMemsetAsync(total, 0, BINS * sizeof(unsigned), cudaStreamLegacy));
    histogram<<<2, 128, 0, cudaStreamLegacy>>>(v, 4096, total, total);
    CK(cudaGetLastError());
    CK(cudaStreamSynchronize(cudaStreamLegacy));
    CK(cudaMemcpy(got.data(), total, BINS * sizeof(unsigned), cudaMemcpyDeviceToHost));
    std::vector<unsigned> ref(BINS, 0);
    reference(4096, 77u, ref);
    for (int b = 0; b < BINS; ++b)
        if (got[b] != 2 * ref[b] && bad++ < 12)
            printf("legacy bin %d: %u, expected %u\n", b, got[b], 2 * ref[b]);
    CK(cudaFree(v));
    CK(cudaFree(total));
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
