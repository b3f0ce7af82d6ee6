// Wrong: in the last warp the shuffle tree takes and adds values from lanes that are not in the
// mask.
// Found: absent lanes
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CK(x)                                                                                      \
    do {                                                                                           \
        cudaError_t e = (x);                                                                       \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%d: %s\n", __LINE__, cudaGetErrorString(e));                          \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

// one result per 32 readings; stations report a number of readings that need not be a multiple of
// 32
__global__ void windowSums(const int *readings, int n, int *sums, int *peaks)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31;
    unsigned mask = __ballot_sync(0xffffffffu, i < n);
    if (i >= n) return;

    int sum = readings[i];
    for (int off = 16; off > 0; off /= 2) sum += __shfl_down_sync(mask, sum, off);

    // the maximum the careful way: never from a lane that is not there
    int peak = readings[i], live = __popc(mask);
    for (int off = 16; off > 0; off /= 2) {
        int src = lane + off < live ? lane + off : lane;
        int other = __shfl_sync(mask, peak, src);
        peak = max(peak, other);
    }
    if (lane == 0) {
        sums[i / 32] = sum;
        peaks[i / 32] = peak;
    }
}

static int run(int n)
{
    const int windows = (n + 31) / 32;
    std::vector<int> h(n), s(windows), p(windows), rs(windows, 0), rp(windows, -1);
    unsigned r = 7u + n;
    for (int i = 0; i < n; ++i) {
        r = r * 1664525u + 1013904223u;
        h[i] = (int)(r >> 20);
        rs[i / 32] += h[i];
        if (h[i] > rp[i / 32]) rp[i / 32] = h[i];
    }
    int *d, *ds, *dp;
    CK(cudaMalloc(&d, n * sizeof(int)));
    CK(cudaMalloc(&ds, windows * sizeof(int)));
    CK(cudaMalloc(&dp, windows * sizeof(int)));
    CK(cudaMemcpy(d, h.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    windowSums<<<(n + 127) / 128, 128>>>(d, n, ds, dp);
    CK(cudaGetLastError());
    CK(cudaMemcpy(s.data(), ds, windows * sizeof(int), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(p.data(), dp, windows * sizeof(int), cudaMemcpyDeviceToHost));
    CK(cudaFree(d));
    CK(cudaFree(ds));
    CK(cudaFree(dp));
    int bad = 0;
    for (int w = 0; w < windows; ++w) {
        if (s[w] != rs[w] && bad++ < 4)
            printf("n=%d window %d: sum %d, expected %d\n", n, w, s[w], rs[w]);
        if (p[w] != rp[w] && bad++ < 4)
            printf("n=%d window %d: peak %d, expected %d\n", n, w, p[w], rp[w]);
    }
    return bad;
}

int main()
{
    int bad = 0;
    for (int n : {1024, 1000, 331}) bad += run(n);
    if (bad) {
        printf("%d windows are wrong\n", bad);
        return 1;
    }
    printf("PASS\n");
    return 0;
}
