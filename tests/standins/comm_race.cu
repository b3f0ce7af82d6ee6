// A mistake on purpose: the collective's stream does not wait for the stream of the kernel that
// makes the values. The device must report a race, at the line of ncclAllReduce.
#include "tests/standins/comm.cuh"

__global__ void fill(float *values, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] = (float)i;
}

int main()
{
    enum { N = 1000, RANKS = 2 };
    ncclComm_t comms[RANKS];
    float *values[RANKS];
    cudaStream_t makes[RANKS], sums[RANKS];
    MUST(ncclCommInitAll(comms, RANKS, nullptr));
    for (int k = 0; k < RANKS; k++) {
        MUST(cudaSetDevice(k));
        MUST(cudaMalloc(&values[k], N * sizeof(float)));
        MUST(cudaStreamCreateWithFlags(&makes[k], cudaStreamNonBlocking));
        MUST(cudaStreamCreateWithFlags(&sums[k], cudaStreamNonBlocking));
        fill<<<(N + 127) / 128, 128, 0, makes[k]>>>(values[k], N);
    }
    MUST(ncclGroupStart());
    for (int k = 0; k < RANKS; k++)
        MUST(ncclAllReduce(values[k], values[k], N, ncclFloat32, ncclSum, comms[k], sums[k]));
    MUST(ncclGroupEnd());
    for (int k = 0; k < RANKS; k++) {
        MUST(cudaSetDevice(k));
        MUST(cudaDeviceSynchronize());
        MUST(cudaFree(values[k]));
        MUST(cudaStreamDestroy(makes[k]));
        MUST(cudaStreamDestroy(sums[k]));
        MUST(ncclCommDestroy(comms[k]));
    }
    return 0;
}
