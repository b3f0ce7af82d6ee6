// Wrong: a hash set in shared memory whose slots are filled by compare-and-swap; each thread then
// reads the slot of its neighbour's key, which it has never looked at, with no barrier between.
// Found: shared memory race
#include <cstdio>
#include <cuda_runtime.h>

constexpr int THREADS = 256, SLOTS = 64, NONE = -1;

__device__ int *insert_swapping(int *slots, const int *keys, int i, bool *inserted)
{
    for (int at = keys[i] % SLOTS;; at = (at + 1) % SLOTS) {
        const int there = atomicCAS(&slots[at], NONE, i);
        *inserted = there == NONE;
        if (*inserted || keys[there] == keys[i]) return &slots[at];
    }
}

__global__ void first_of_next(const int *keys, int *first)
{
    __shared__ int slots[SLOTS], home[THREADS];
    for (int k = threadIdx.x; k < SLOTS; k += blockDim.x) slots[k] = NONE;
    home[threadIdx.x] = keys[threadIdx.x] % SLOTS;
    __syncthreads();
    bool mine;
    insert_swapping(slots, keys, threadIdx.x, &mine);
    first[threadIdx.x] =
        slots[home[(threadIdx.x + 32) % THREADS]]; // wrong: not inserted yet, perhaps
}

int main()
{
    int host[THREADS], first[THREADS], *keys, *found;
    for (int i = 0; i < THREADS; i++) host[i] = i / 32 * 7 + 1;
    cudaMalloc(&keys, sizeof host);
    cudaMalloc(&found, sizeof host);
    cudaMemcpy(keys, host, sizeof host, cudaMemcpyHostToDevice);
    first_of_next<<<1, THREADS>>>(keys, found);
    cudaMemcpy(first, found, sizeof first, cudaMemcpyDeviceToHost);
    printf("%d\n", first[0]);
    cudaFree(keys);
    cudaFree(found);
    return 0;
}
