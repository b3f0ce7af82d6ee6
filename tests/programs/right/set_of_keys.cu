// Right: a hash set in shared memory whose slots are filled by compare-and-swap, once each. A
// thread that has found its key reads the slot again plainly: what a failed swap or a look has read
// there cannot change any more.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int THREADS = 256, SLOTS = 64, NONE = -1;

// Swaps alone.
__device__ int *insert_swapping(int *slots, const int *keys, int i, bool *inserted)
{
    for (int at = keys[i] % SLOTS;; at = (at + 1) % SLOTS) {
        const int there = atomicCAS(&slots[at], NONE, i);
        *inserted = there == NONE;
        if (*inserted || keys[there] == keys[i]) return &slots[at];
    }
}

// Looks first, and swaps where it sees nothing.
__device__ int *insert_looking(int *slots, const int *keys, int i, bool *inserted)
{
    for (int at = keys[i] % SLOTS;; at = (at + 1) % SLOTS) {
        int there = slots[at];
        *inserted = false;
        if (there == NONE) {
            there = atomicCAS(&slots[at], NONE, i);
            *inserted = there == NONE;
        }
        if (*inserted || keys[there] == keys[i]) return &slots[at];
    }
}

// The same, as libcu++ has it: the swap takes a generic pointer and expects what was seen.
__device__ int swap(int *at, int expected, int value)
{
    int there;
    asm volatile("atom.cas.relaxed.cta.b32 %0, [%1], %2, %3;"
                 : "=r"(there)
                 : "l"(at), "r"(expected), "r"(value)
                 : "memory");
    return there;
}
__device__ int *insert_expecting(int *slots, const int *keys, int i, bool *inserted)
{
    for (int at = keys[i] % SLOTS;; at = (at + 1) % SLOTS) {
        const int seen = slots[at];
        const int there = seen == NONE ? swap(slots + at, seen, i) : seen;
        *inserted = there == NONE;
        if (*inserted || keys[there] == keys[i]) return &slots[at];
    }
}

template <int *insert(int *, const int *, int, bool *)>
__global__ void first_of(const int *keys, int *first, int *count)
{
    __shared__ int slots[SLOTS], inserted;
    for (int k = threadIdx.x; k < SLOTS; k += blockDim.x) slots[k] = NONE;
    if (threadIdx.x == 0) inserted = 0;
    __syncthreads();
    bool mine;
    const int *at = insert(slots, keys, threadIdx.x, &mine);
    if (mine) atomicAdd(&inserted, 1);
    first[threadIdx.x] = *at;
    __syncthreads();
    if (threadIdx.x == 0) *count = inserted;
}

int main()
{
    int host[THREADS], first[THREADS], count, wrong = 0, *keys, *found;
    for (int i = 0; i < THREADS; i++) host[i] = i * 7 % 20 + 60 * (i % 2);
    cudaMalloc(&keys, sizeof host);
    cudaMalloc(&found, sizeof host + sizeof count);
    cudaMemcpy(keys, host, sizeof host, cudaMemcpyHostToDevice);
    for (int way = 0; way < 3; way++) {
        if (way == 0) first_of<insert_swapping><<<1, THREADS>>>(keys, found, found + THREADS);
        if (way == 1) first_of<insert_looking><<<1, THREADS>>>(keys, found, found + THREADS);
        if (way == 2) first_of<insert_expecting><<<1, THREADS>>>(keys, found, found + THREADS);
        cudaMemcpy(first, found, sizeof first, cudaMemcpyDeviceToHost);
        cudaMemcpy(&count, found + THREADS, sizeof count, cudaMemcpyDeviceToHost);
        for (int i = 0; i < THREADS; i++) wrong += host[first[i]] != host[i];
        wrong += count != 20;
    }
    printf("%s\n", wrong == 0 ? "PASSED" : "FAILED");
    cudaFree(keys);
    cudaFree(found);
    return wrong != 0;
}
