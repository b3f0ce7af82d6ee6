// Wrong: a producer warp sets the flag of a full slot without a fence in front of it.
// Found: shared memory race
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

constexpr int SLOTS = 4, ITEMS = 12;
// warp 0 fills slots of a ring, warps 1 and 2 take them in turns
__global__ void ring(const float *in, float *out)
{
    __shared__ float slot[SLOTS][32];
    __shared__ volatile int full[SLOTS], freed[SLOTS];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x < SLOTS) full[threadIdx.x] = freed[threadIdx.x] = 0;
    __syncthreads();
    if (warp == 0) {
        for (int i = 0; i < ITEMS; ++i) {
            const int s = i % SLOTS, round = i / SLOTS;
            while (freed[s] < round) {
            }
            __threadfence_block();
            slot[s][lane] = in[i * 32 + lane] * 2.0f;
            __syncwarp();
            if (lane == 0) {
                full[s] = round + 1;
            }
        }
    } else {
        for (int i = warp - 1; i < ITEMS; i += 2) {
            const int s = i % SLOTS, round = i / SLOTS;
            while (full[s] <= round) {
            }
            __threadfence_block();
            out[i * 32 + lane] = slot[s][31 - lane];
            __syncwarp();
            if (lane == 0) {
                __threadfence_block();
                freed[s] = round + 1;
            }
        }
    }
}
int main()
{
    std::vector<float> h(ITEMS * 32), got(ITEMS * 32);
    for (size_t i = 0; i < h.size(); ++i) h[i] = i * 0.5f;
    float *in, *o;
    CHECK(cudaMalloc(&in, h.size() * 4));
    CHECK(cudaMalloc(&o, h.size() * 4));
    CHECK(cudaMemcpy(in, h.data(), h.size() * 4, cudaMemcpyHostToDevice));
    ring<<<1, 96>>>(in, o);
    CHECK(cudaMemcpy(got.data(), o, h.size() * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(in));
    CHECK(cudaFree(o));
    for (int i = 0; i < ITEMS; ++i)
        for (int l = 0; l < 32; ++l)
            if (got[i * 32 + l] != 2.0f * h[i * 32 + 31 - l]) return 1;
    return 0;
}
