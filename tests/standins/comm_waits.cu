// A mistake on purpose: a thread that speaks for two ranks waits for the first one's sum before it
// has called the second one's. The device must say what the program waits for; then it is ended.
#include "tests/standins/comm.cuh"
#include <csignal>
#include <unistd.h>

static void enough(int)
{
    _exit(0);
}

int main()
{
    enum { N = 1000, RANKS = 2 };
    ncclComm_t comms[RANKS];
    float *values[RANKS];
    signal(SIGALRM, enough);
    alarm(15);
    MUST(ncclCommInitAll(comms, RANKS, nullptr));
    for (int k = 0; k < RANKS; k++) {
        MUST(cudaSetDevice(k));
        MUST(cudaMalloc(&values[k], N * sizeof(float)));
        MUST(cudaMemset(values[k], 0, N * sizeof(float)));
        MUST(ncclAllReduce(values[k], values[k], N, ncclFloat32, ncclSum, comms[k], nullptr));
        MUST(cudaDeviceSynchronize());
    }
    return 0;
}
