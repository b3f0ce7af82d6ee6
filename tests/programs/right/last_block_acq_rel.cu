// Right: the last block adds up what the others have stored. Nothing but the ticket orders them:
// each fetch_add releases what its block has stored, and acquires what those before it released.
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

constexpr int BLOCKS = 16;

__device__ cuda::atomic<unsigned, cuda::thread_scope_device> ticket;
__device__ int parts[BLOCKS], total;

__global__ void last()
{
    if (threadIdx.x != 0) return;
    parts[blockIdx.x] = 3 * blockIdx.x + 1;
    if (ticket.fetch_add(1, cuda::memory_order_acq_rel) != gridDim.x - 1) return;
    int sum = 0;
    for (int block = 0; block < BLOCKS; block++) sum += parts[block];
    total = sum;
}

int main()
{
    int sum;
    last<<<BLOCKS, 64>>>();
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyFromSymbol(&sum, total, sizeof sum));
    printf("%s\n", sum == 376 ? "PASS" : "wrong");
    return sum != 376;
}
