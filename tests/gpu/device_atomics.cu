// Two devices that add to one counter at once, asked of two H200s: how many additions are lost, by
// the scope of the atomic and by whose memory it is. How many there are differs from run to run.
//
// None in memory of one of them, half of them in page-locked memory, with either scope.
//
//     nvcc -std=c++17 -arch=sm_90 -o device_atomics tests/gpu/device_atomics.cu -lcuda
//     ./device_atomics >tests/gpu/device_atomics.txt
#include "gpu.cuh"

enum { BLOCKS = 256, THREADS = 256, EACH = 200 };

__global__ void add(int *to, volatile int *begun, int all)
{
    if (threadIdx.x == 0 && blockIdx.x == 0) atomicAdd_system((int *)begun, 1);
    for (int k = 0; k < 1000000 && *begun < all; k++) {
    }
    for (int k = 0; k < EACH; k++) atomicAdd(to, 1);
}

__global__ void add_for_all(int *to, volatile int *begun, int all)
{
    if (threadIdx.x == 0 && blockIdx.x == 0) atomicAdd_system((int *)begun, 1);
    for (int k = 0; k < 1000000 && *begun < all; k++) {
    }
    for (int k = 0; k < EACH; k++) atomicAdd_system(to, 1);
}

static void ask(const char *what, int *counter, int *begun, bool for_all)
{
    const int expected = 2 * BLOCKS * THREADS * EACH;
    int value = 0;
    CHECK(cudaMemset(counter, 0, 4));
    CHECK(cudaDeviceSynchronize());
    *begun = 0;
    for (int device = 0; device < 2; device++) {
        CHECK(cudaSetDevice(device));
        if (for_all)
            add_for_all<<<BLOCKS, THREADS>>>(counter, begun, 2);
        else
            add<<<BLOCKS, THREADS>>>(counter, begun, 2);
        CHECK(cudaGetLastError());
    }
    for (int device = 1; device >= 0; device--) {
        CHECK(cudaSetDevice(device));
        CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaMemcpy(&value, counter, 4, cudaMemcpyDefault));
    /* How many are lost in page-locked memory is chance. */
    printf("%s%s, %s: %d of %d lost\n", what[0] == 'p' ? "~" : "", what,
           for_all ? "atomicAdd_system" : "atomicAdd", expected - value, expected);
}

int main()
{
    int *begun, *own, *pinned, *managed;
    CHECK(cudaSetDevice(1));
    CHECK(cudaDeviceEnablePeerAccess(0, 0));
    CHECK(cudaSetDevice(0));
    CHECK(cudaHostAlloc(&begun, 4, cudaHostAllocMapped | cudaHostAllocPortable));
    CHECK(cudaHostAlloc(&pinned, 4, cudaHostAllocMapped | cudaHostAllocPortable));
    CHECK(cudaMallocManaged(&managed, 4));
    CHECK(cudaMalloc(&own, 4));
    for (int k = 0; k < 2; k++) {
        ask("device 0's memory", own, begun, k != 0);
        ask("page-locked memory", pinned, begun, k != 0);
        ask("managed memory", managed, begun, k != 0);
    }
    return 0;
}
