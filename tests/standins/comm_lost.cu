// Mistakes on purpose: ranks whose processes end in the middle, or were told different things. The
// others end with an error, and none waits for ever. What is printed is compared.
#include "tests/standins/comm.cuh"
#include <csignal>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1000 };

// Runs each as a process of its own, and waits for them all. This process uses no CUDA.
static void side_by_side(const std::vector<std::function<void()>> &all)
{
    fflush(stdout);
    for (const auto &one : all) {
        if (fork() != 0) continue;
        one();
        fflush(stdout);
        exit(0);
    }
    while (wait(nullptr) > 0) continue;
}

static ncclUniqueId new_id()
{
    ncclUniqueId id;
    MUST(ncclGetUniqueId(&id));
    return id;
}

static Rank come(const ncclUniqueId &id, int rank, int ranks)
{
    Rank mine = {rank, ranks, nullptr, nullptr};
    mine.here();
    MUST(cudaStreamCreate(&mine.stream));
    MUST(ncclCommInitRank(&mine.comm, ranks, id, rank));
    return mine;
}

static void sum(const Rank &mine)
{
    float *values;
    MUST(cudaMalloc(&values, N * sizeof(float)));
    MUST(cudaMemset(values, 0, N * sizeof(float)));
    MUST(ncclAllReduce(values, values, N, ncclFloat32, ncclSum, mine.comm, mine.stream));
}

static int state_of(const Rank &mine)
{
    int state = -1;
    MUST(ncclCommGetAsyncError(mine.comm, &state));
    return state;
}

static void dies(const ncclUniqueId &id, int rank, int ranks)
{
    come(id, rank, ranks);
    raise(SIGKILL);
}

// Waits as most programs do.
static void waits(const ncclUniqueId &id)
{
    const Rank mine = come(id, 0, 2);
    sum(mine);
    const int error = cudaStreamSynchronize(mine.stream);
    printf("waits: %d, %d, ", error, state_of(mine));
    ncclCommAbort(mine.comm);
    printf("%d\n", cudaStreamSynchronize(mine.stream));
}

// Looks for errors while it waits, and goes on without the other one.
static void watches(const ncclUniqueId &id)
{
    const Rank mine = come(id, 0, 2);
    sum(mine);
    while (cudaStreamQuery(mine.stream) == cudaErrorNotReady && state_of(mine) == 0) usleep(1000);
    const int state = state_of(mine);
    MUST(ncclCommAbort(mine.comm));
    printf("watches: %d, %d\n", state, cudaStreamSynchronize(mine.stream));
}

// One of three never comes, one has come and died.
static void meets_nobody(const ncclUniqueId &id)
{
    Rank mine = {0, 3, nullptr, nullptr};
    mine.here();
    printf("meets: %d\n", ncclCommInitRank(&mine.comm, 3, id, 0));
}

static void splits(const ncclUniqueId &id)
{
    ncclComm_t made;
    const Rank mine = come(id, 0, 2);
    printf("splits: %d\n", ncclCommSplit(mine.comm, 0, 0, &made, nullptr));
}

// All that the other one had to do it has done before it ended.
static void goes_on(const ncclUniqueId &id, int rank)
{
    const Rank mine = come(id, rank, 2);
    if (rank == 0) sleep(1);
    sum(mine);
    const int error = cudaStreamSynchronize(mine.stream);
    if (rank == 1) _exit(0);
    printf("goes on: %d, %d\n", error, state_of(mine));
}

// The process that made the id is over.
static void comes_too_late()
{
    ncclUniqueId id;
    ncclComm_t comm;
    int ends[2];
    if (pipe(ends) != 0) exit(1);
    if (fork() == 0) {
        id = new_id();
        _exit(write(ends[1], &id, sizeof id) != sizeof id);
    }
    wait(nullptr);
    if (read(ends[0], &id, sizeof id) != sizeof id) exit(1);
    printf("late: %d\n", ncclCommInitRank(&comm, 2, id, 0));
}

static void counts_differ()
{
    ncclComm_t comms[2];
    const ncclUniqueId id = new_id();
    MUST(ncclGroupStart());
    for (int k = 0; k < 2; k++) {
        MUST(cudaSetDevice(k));
        MUST(ncclCommInitRank(&comms[k], 2 + k, id, k));
    }
    printf("counts: %d\n", ncclGroupEnd());
}

int main()
{
    const ncclUniqueId ids[] = {new_id(), new_id(), new_id(), new_id(), new_id()};
    side_by_side({[&] { waits(ids[0]); }, [&] { dies(ids[0], 1, 2); }, [&] { watches(ids[1]); },
                  [&] { dies(ids[1], 1, 2); }});
    side_by_side({[&] { meets_nobody(ids[2]); },
                  [&] {
                      alarm(5); // in ncclCommInitRank, if busy too
                      dies(ids[2], 1, 3);
                  }});
    side_by_side({[&] { splits(ids[3]); }, [&] { dies(ids[3], 1, 2); }});
    side_by_side({[&] { goes_on(ids[4], 0); }, [&] { goes_on(ids[4], 1); }});
    side_by_side({comes_too_late});
    side_by_side({counts_differ});
    return 0;
}
