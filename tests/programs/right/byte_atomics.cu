// Right: atomics of one byte and of two, which libcu++ and people who know only atomicCAS make of
// the word around them: in allocations that end within that word, in variables, in shared memory,
// and beside bytes that other threads store to.
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t err = (call);                                                                  \
        if (err != cudaSuccess) {                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err));           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

constexpr int BYTES = 5, THREADS = 64;

__device__ unsigned char letter;
__device__ short pair;

template <typename T> using Ref = cuda::atomic_ref<T, cuda::thread_scope_device>;

__global__ void variables()
{
    Ref<unsigned char>(letter).fetch_add(1, cuda::memory_order_relaxed);
    Ref<short>(pair).fetch_add(2);
}

__global__ void allocation(unsigned char *bytes)
{
    Ref<unsigned char>(bytes[threadIdx.x % BYTES]).fetch_add(1, cuda::memory_order_relaxed);
}

__device__ void count(unsigned char *at)
{
    unsigned *word = (unsigned *)((size_t)at & ~(size_t)3), shift = ((size_t)at & 3) * 8;
    unsigned old = *word, seen;
    do {
        seen = old;
        const unsigned next = ((seen >> shift & 255) + 1 & 255) << shift;
        old = atomicCAS(word, seen, (seen & ~(255u << shift)) | next);
    } while (old != seen);
}

__global__ void by_hand(unsigned char *bytes)
{
    count(&bytes[threadIdx.x % BYTES]);
}

// The even threads count in every fourth byte, and each of the others has a byte beside.
__global__ void beside(unsigned char *bytes)
{
    __shared__ unsigned char shared[THREADS + 1];
    const int t = threadIdx.x;
    shared[t] = 0;
    if (t == 0) shared[THREADS] = 7;
    __syncthreads();
    using Here = cuda::atomic_ref<unsigned char, cuda::thread_scope_block>;
    if (t % 2 == 1)
        shared[t] = (unsigned char)t;
    else
        Here(shared[t & ~3]).fetch_add(1, cuda::memory_order_relaxed);
    if (t == 1) Here(shared[THREADS]).fetch_add(1);
    __syncthreads();
    bytes[t] = shared[t] + shared[THREADS];
    if (blockIdx.x == 1 && t == 3) bytes[THREADS + 1] = 9;
    if (t == 0) Ref<unsigned char>(bytes[THREADS]).fetch_add(1, cuda::memory_order_relaxed);
}

int main()
{
    unsigned char *bytes, got[THREADS + 2], one;
    short two;
    bool right = true;
    CHECK(cudaMalloc(&bytes, BYTES));
    CHECK(cudaMemset(bytes, 0, BYTES));
    variables<<<2, THREADS>>>();
    allocation<<<2, 10 * BYTES>>>(bytes);
    by_hand<<<2, 10 * BYTES>>>(bytes);
    CHECK(cudaMemcpyFromSymbol(&one, letter, 1));
    CHECK(cudaMemcpyFromSymbol(&two, pair, 2));
    CHECK(cudaMemcpy(got, bytes, BYTES, cudaMemcpyDeviceToHost));
    right &= one == 2 * THREADS && two == 4 * THREADS;
    for (int k = 0; k < BYTES; k++) right &= got[k] == 40;
    CHECK(cudaFree(bytes));

    CHECK(cudaMalloc(&bytes, THREADS + 2));
    CHECK(cudaMemset(bytes, 0, THREADS + 2));
    beside<<<2, THREADS>>>(bytes);
    CHECK(cudaMemcpy(got, bytes, THREADS + 2, cudaMemcpyDeviceToHost));
    for (int t = 0; t < THREADS; t++) right &= got[t] == 8 + (t % 2 == 1 ? t : t % 4 == 0 ? 2 : 0);
    right &= got[THREADS] == 2 && got[THREADS + 1] == 9;
    CHECK(cudaFree(bytes));
    printf("%s\n", right ? "PASS" : "wrong");
    return !right;
}
