// A mistake on purpose: one thread makes two ranks without a group, so that the first one waits for
// the second. The device must say so; then the program is ended.
#include "tests/standins/comm.cuh"
#include <csignal>
#include <unistd.h>

static void enough(int)
{
    _exit(0);
}

int main()
{
    ncclUniqueId id;
    ncclComm_t comms[2];
    signal(SIGALRM, enough);
    alarm(8);
    MUST(ncclGetUniqueId(&id));
    for (int k = 0; k < 2; k++) {
        MUST(cudaSetDevice(k));
        MUST(ncclCommInitRank(&comms[k], 2, id, k));
    }
    return 0;
}
