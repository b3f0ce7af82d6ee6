// Wrong: as devices_heat, but the kernel does not wait for the edges that its neighbours send.
// Found: race
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t e = (call);                                                                    \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

// Cells 1 to n are the device's own, 0 and n + 1 its neighbours'.
__global__ void step(const float *now, float *next, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i <= n) next[i] = now[i] + 0.25f * (now[i - 1] - 2 * now[i] + now[i + 1]);
}

struct Part {
    float *cells[2];
    cudaStream_t stream;
    cudaEvent_t computed, sent;
};

int main()
{
    const int N = 300, STEPS = 40;
    int devices = 0;
    CHECK(cudaGetDeviceCount(&devices));
    std::vector<Part> parts(devices);
    std::vector<float> rod(N * devices + 2, 0.0f), other(N * devices + 2, 0.0f);
    for (int i = 1; i <= N * devices; i++) rod[i] = (float)(i * 37 % 101);

    for (int d = 0; d < devices; d++) {
        Part &p = parts[d];
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&p.computed, cudaEventDisableTiming));
        CHECK(cudaEventCreateWithFlags(&p.sent, cudaEventDisableTiming));
        for (float *&cells : p.cells) {
            CHECK(cudaMalloc(&cells, (N + 2) * sizeof(float)));
            CHECK(cudaMemcpyAsync(cells, &rod[d * N], (N + 2) * sizeof(float),
                                  cudaMemcpyHostToDevice, p.stream));
        }
        CHECK(cudaStreamSynchronize(p.stream));
    }
    for (int t = 0; t < STEPS; t++) {
        const int now = t % 2, next = 1 - now;
        for (int d = 0; d < devices; d++) {
            Part &p = parts[d];
            CHECK(cudaSetDevice(d));
            step<<<(N + 127) / 128, 128, 0, p.stream>>>(p.cells[now], p.cells[next], N);
            CHECK(cudaGetLastError());
            CHECK(cudaEventRecord(p.computed, p.stream));
        }
        for (int d = 0; d < devices; d++) {
            Part &p = parts[d];
            CHECK(cudaSetDevice(d));
            for (int near = d - 1; near <= d + 1; near += 2) {
                if (near < 0 || near >= devices) continue;
                // Not before the neighbour has computed: it may still read what it had there.
                CHECK(cudaStreamWaitEvent(p.stream, parts[near].computed, 0));
                const bool left = near < d;
                CHECK(cudaMemcpyPeerAsync(parts[near].cells[next] + (left ? N + 1 : 0), near,
                                          p.cells[next] + (left ? 1 : N), d, sizeof(float),
                                          p.stream));
            }
            CHECK(cudaEventRecord(p.sent, p.stream));
        }
        for (int i = 1; i <= N * devices; i++)
            other[i] = rod[i] + 0.25f * (rod[i - 1] - 2 * rod[i] + rod[i + 1]);
        rod.swap(other);
    }
    int bad = 0;
    for (int d = 0; d < devices; d++) {
        std::vector<float> mine(N);
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamSynchronize(parts[d].stream));
        CHECK(cudaMemcpy(mine.data(), parts[d].cells[STEPS % 2] + 1, N * sizeof(float),
                         cudaMemcpyDeviceToHost));
        for (int i = 0; i < N; i++) bad += std::fabs(mine[i] - rod[d * N + i + 1]) > 1e-3f;
    }
    for (int d = 0; d < devices; d++) {
        Part &p = parts[d];
        CHECK(cudaSetDevice(d));
        for (float *cells : p.cells) CHECK(cudaFree(cells));
        CHECK(cudaEventDestroy(p.computed));
        CHECK(cudaEventDestroy(p.sent));
        CHECK(cudaStreamDestroy(p.stream));
    }
    printf("%d devices, %d wrong\n", devices, bad);
    return bad != 0;
}
