// Right: a thread that finds a key in a hash table waits for its value.
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <cuda_runtime.h>

static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    printf("%s\n", cudaGetErrorString(error));
    exit(1);
}

static int report(long wrong)
{
    printf(wrong ? "%ld wrong\n" : "PASS\n", wrong);
    return wrong != 0;
}

const int SLOTS = 256, N = 1024, EMPTY = -1;

struct Slot {
    int key, value;
};

__device__ int insert_and_find(Slot *slots, int key, int value)
{
    for (int at = key * 7 % SLOTS;; at = (at + 1) % SLOTS) {
        int old = atomicCAS(&slots[at].key, EMPTY, key);
        if (old == EMPTY) {
            cuda::atomic_ref<int, cuda::thread_scope_device>(slots[at].value)
                .store(value, cuda::memory_order_relaxed);
            return value;
        }
        if (old == key) {
            cuda::atomic_ref<int, cuda::thread_scope_device> there(slots[at].value);
            int found = EMPTY;
            while ((found = there.load(cuda::memory_order_relaxed)) == EMPTY) {
            }
            return found;
        }
    }
}

__global__ void insert(Slot *slots, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = insert_and_find(slots, i % 100, 1000 + i % 100);
}

int main()
{
    static int out[N];
    Slot *slots;
    int *dout;
    check(cudaMalloc(&slots, SLOTS * sizeof(Slot)));
    check(cudaMalloc(&dout, sizeof out));
    check(cudaMemset(slots, 0xff, SLOTS * sizeof(Slot)));
    insert<<<N / 128, 128>>>(slots, dout);
    check(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    long wrong = 0;
    for (int i = 0; i < N; i++) wrong += out[i] != 1000 + i % 100;
    check(cudaFree(slots));
    check(cudaFree(dout));
    return report(wrong);
}
