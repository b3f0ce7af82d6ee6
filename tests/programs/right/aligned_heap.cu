// Right: device malloc at multiples of an alignment, between pieces of any size, given back in
// another order and taken again.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t err = (call);                                                                  \
        if (err != cudaSuccess) {                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err));           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

constexpr int PIECES = 9, THREADS = 64, ROUNDS = 3;

__device__ size_t alignment_of(int k)
{
    return (size_t)8 << k;
}

__global__ void take_and_give(int *wrong)
{
    const int t = threadIdx.x;
    unsigned char *piece[PIECES];
    int bad = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < PIECES; k++) {
            const size_t size = 24 + 40 * (k % 4) + t % 7;
            piece[k] = k % 3 == 2
                           ? (unsigned char *)malloc(size)
                           : (unsigned char *)__nv_aligned_device_malloc(size, alignment_of(k));
            if (piece[k] == nullptr || (k % 3 != 2 && (uintptr_t)piece[k] % alignment_of(k) != 0))
                bad++;
            for (size_t i = 0; piece[k] != nullptr && i < size; i++) piece[k][i] = t * 3 + k;
        }
        for (int k = 0; k < PIECES; k++) {
            const int other = (k * 4 + round) % PIECES;
            const size_t size = 24 + 40 * (other % 4) + t % 7;
            for (size_t i = 0; piece[other] != nullptr && i < size; i++)
                if (piece[other][i] != (unsigned char)(t * 3 + other)) bad++;
            free(piece[other]);
        }
    }
    wrong[t] = bad;
}

int main()
{
    int *device, wrong[THREADS], bad = 0;
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 4 << 20));
    CHECK(cudaMalloc(&device, sizeof wrong));
    take_and_give<<<1, THREADS>>>(device);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(wrong, device, sizeof wrong, cudaMemcpyDeviceToHost));
    for (int t = 0; t < THREADS; t++) bad += wrong[t];
    CHECK(cudaFree(device));
    printf("%s\n", bad == 0 ? "done" : "wrong");
    return bad != 0;
}
