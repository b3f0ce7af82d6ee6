// Mistakes on purpose: ranks that call different collectives, that give different sizes, and that
// send more than is received; and a communicator that is used behind its end. Each is named, and no
// rank waits for ever.
#include "tests/standins/comm.cuh"

enum { N = 1000, RANKS = 2 };

static ncclComm_t comms[RANKS];
static float *values[RANKS];

static void begin()
{
    MUST(ncclCommInitAll(comms, RANKS, nullptr));
}

// Returns how many of the ranks' communicators know of an error.
static int end()
{
    int known = 0;
    for (int k = 0; k < RANKS; k++) {
        int state = 0;
        MUST(ncclCommGetAsyncError(comms[k], &state));
        known += state != 0;
        MUST(ncclCommAbort(comms[k]));
    }
    return known;
}

int main()
{
    int known = 0;
    for (int k = 0; k < RANKS; k++) {
        MUST(cudaSetDevice(k));
        MUST(cudaMalloc(&values[k], N * sizeof(float)));
        MUST(cudaMemset(values[k], 0, N * sizeof(float)));
    }
    begin();
    ncclAllReduce(values[0], values[0], N, ncclFloat32, ncclSum, comms[0], nullptr);
    ncclBcast(values[1], N, ncclFloat32, 0, comms[1], nullptr); // the other one sums
    known += end();
    begin();
    ncclAllReduce(values[0], values[0], N, ncclFloat32, ncclSum, comms[0], nullptr);
    ncclAllReduce(values[1], values[1], N / 2, ncclFloat32, ncclSum, comms[1], nullptr);
    known += end();
    begin();
    ncclSend(values[0], N, ncclFloat32, 1, comms[0], nullptr);
    ncclRecv(values[1], N - 1, ncclFloat32, 0, comms[1], nullptr);
    known += end();
    // It has ended.
    ncclAllReduce(values[0], values[0], N, ncclFloat32, ncclSum, comms[0], nullptr);
    for (int k = 0; k < RANKS; k++) MUST(cudaFree(values[k]));
    printf("known to %d\n", known);
    return 0;
}
