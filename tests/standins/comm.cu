// The stand-in for NCCL: every collective, type and operator, messages, groups, splits, threads and
// processes, on two devices or more. The values are small whole numbers, so that each sum is exact
// in each type. NVIDIA's library gives the same.
#include "tests/standins/comm.cuh"

#include <cstdint>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <functional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

static int wrong;

#define EXPECT(what)                                                                               \
    do {                                                                                           \
        if (what) break;                                                                           \
        printf("line %d: not so: %s\n", __LINE__, #what);                                          \
        wrong++;                                                                                   \
    } while (0)

// What rank `rank` sends as element i.
static double value_of(int rank, size_t i)
{
    return (double)((i * 5 + (size_t)rank * 3) % 4 + 1);
}

template <class T> static T of(double x)
{
    return (T)x;
}
template <> __half of<__half>(double x)
{
    return __float2half((float)x);
}
template <> __nv_bfloat16 of<__nv_bfloat16>(double x)
{
    return __float2bfloat16((float)x);
}

// Device memory of a rank, with the given values.
template <class T> struct Buffer {
    T *at = nullptr;
    size_t count;

    Buffer(const Rank &rank, size_t n, const std::function<double(size_t)> &value) : count(n)
    {
        std::vector<T> host(n);
        for (size_t i = 0; i < n; i++) host[i] = of<T>(value(i));
        rank.here();
        MUST(cudaMalloc(&at, n * sizeof(T) + 1));
        MUST(cudaMemcpy(at, host.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    }
    Buffer(Buffer &&other) noexcept : at(other.at), count(other.count)
    {
        other.at = nullptr;
    }
    ~Buffer()
    {
        MUST(cudaFree(at));
    }
    bool has(size_t from, size_t n, const std::function<double(size_t)> &value) const
    {
        std::vector<T> host(n);
        MUST(cudaMemcpy(host.data(), at + from, n * sizeof(T), cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < n; i++) {
            const T expected = of<T>(value(i));
            if (memcmp(&host[i], &expected, sizeof(T)) != 0) return false;
        }
        return true;
    }
};

static double nothing(size_t)
{
    return 9;
}

static double combined(int op, int ranks, size_t i)
{
    double all = value_of(0, i);
    for (int k = 1; k < ranks; k++) {
        const double x = value_of(k, i);
        all = op == ncclProd  ? all * x
              : op == ncclMax ? (x > all ? x : all)
              : op == ncclMin ? (x < all ? x : all)
                              : all + x;
    }
    return op == ncclAvg ? all / ranks : all;
}

static void wait_for(const std::vector<Rank> &ranks)
{
    for (const Rank &rank : ranks) {
        rank.here();
        MUST(cudaStreamSynchronize(rank.stream));
    }
}

// A collective of all ranks by one thread: `call` for each, in a group.
static void together(const std::vector<Rank> &ranks, const std::function<int(const Rank &)> &call)
{
    MUST(ncclGroupStart());
    for (const Rank &rank : ranks) MUST(call(rank));
    MUST(ncclGroupEnd());
    wait_for(ranks);
}

template <class T>
static void reductions(const std::vector<Rank> &ranks, int type, size_t n, bool averages)
{
    const int count = (int)ranks.size();
    for (int op = ncclSum; op <= (averages ? ncclAvg : ncclMin); op++) {
        std::vector<Buffer<T>> send, receive, part, all;
        for (const Rank &rank : ranks) {
            send.emplace_back(rank, n, [&](size_t i) { return value_of(rank.rank, i); });
            receive.emplace_back(rank, n, nothing);
            part.emplace_back(rank, n, nothing);
            all.emplace_back(rank, n * count, [&](size_t i) { return value_of(rank.rank, i); });
        }
        together(ranks, [&](const Rank &r) {
            return ncclAllReduce(send[r.rank].at, receive[r.rank].at, n, type, op, r.comm,
                                 r.stream);
        });
        together(ranks, [&](const Rank &r) {
            return ncclReduceScatter(all[r.rank].at, part[r.rank].at, n, type, op, r.comm,
                                     r.stream);
        });
        together(ranks, [&](const Rank &r) { // in place, to the last rank
            return ncclReduce(send[r.rank].at, send[r.rank].at, n, type, op, count - 1, r.comm,
                              r.stream);
        });
        for (const Rank &r : ranks) {
            EXPECT(receive[r.rank].has(0, n, [&](size_t i) { return combined(op, count, i); }));
            EXPECT(part[r.rank].has(0, n,
                                    [&](size_t i) { return combined(op, count, i + r.rank * n); }));
            EXPECT(send[r.rank].has(0, n, [&](size_t i) {
                return r.rank == count - 1 ? combined(op, count, i) : value_of(r.rank, i);
            }));
        }
    }
}

static void copies(const std::vector<Rank> &ranks, size_t n)
{
    const int count = (int)ranks.size(), root = count - 1;
    std::vector<Buffer<int>> own, all, gathered, crossed, cast, scattered;
    for (const Rank &rank : ranks) {
        own.emplace_back(rank, n, [&](size_t i) { return value_of(rank.rank, i); });
        all.emplace_back(rank, n * count,
                         [&](size_t i) { return 100 * rank.rank + (double)(i % 97); });
        gathered.emplace_back(rank, n * count, nothing);
        crossed.emplace_back(rank, n * count, nothing);
        cast.emplace_back(rank, n, [&](size_t i) { return value_of(rank.rank, i); });
        scattered.emplace_back(rank, n, nothing);
    }
    together(ranks, [&](const Rank &r) {
        return ncclAllGather(own[r.rank].at, gathered[r.rank].at, n, ncclInt32, r.comm, r.stream);
    });
    together(ranks, [&](const Rank &r) {
        return ncclAlltoAll(all[r.rank].at, crossed[r.rank].at, n, ncclInt32, r.comm, r.stream);
    });
    together(ranks, [&](const Rank &r) {
        return ncclBcast(cast[r.rank].at, n, ncclInt32, root, r.comm, r.stream);
    });
    together(ranks, [&](const Rank &r) {
        return ncclScatter(r.rank == root ? all[r.rank].at : nullptr, scattered[r.rank].at, n,
                           ncclInt32, root, r.comm, r.stream);
    });
    for (const Rank &r : ranks) {
        for (int k = 0; k < count; k++) {
            EXPECT(gathered[r.rank].has(k * n, n, [&](size_t i) { return value_of(k, i); }));
            EXPECT(crossed[r.rank].has(
                k * n, n, [&](size_t i) { return 100 * k + (double)((r.rank * n + i) % 97); }));
        }
        EXPECT(cast[r.rank].has(0, n, [&](size_t i) { return value_of(root, i); }));
        EXPECT(scattered[r.rank].has(
            0, n, [&](size_t i) { return 100 * root + (double)((r.rank * n + i) % 97); }));
    }
    together(ranks, [&](const Rank &r) {
        return ncclGather(own[r.rank].at, r.rank == 0 ? crossed[0].at : nullptr, n, ncclInt32, 0,
                          r.comm, r.stream);
    });
    for (int k = 0; k < count; k++)
        EXPECT(crossed[0].has(k * n, n, [&](size_t i) { return value_of(k, i); }));
}

// Each rank sends to the next one, far more than a slot has room for, and a little to itself.
static void messages(const std::vector<Rank> &ranks, size_t n)
{
    const int count = (int)ranks.size();
    std::vector<Buffer<float>> send, receive, self;
    for (const Rank &rank : ranks) {
        send.emplace_back(rank, n, [&](size_t i) { return value_of(rank.rank, i); });
        receive.emplace_back(rank, n, nothing);
        self.emplace_back(rank, 3, nothing);
    }
    MUST(ncclGroupStart());
    for (const Rank &r : ranks) {
        const int next = (r.rank + 1) % count, before = (r.rank + count - 1) % count;
        MUST(ncclSend(send[r.rank].at, n, ncclFloat32, next, r.comm, r.stream));
        MUST(ncclRecv(receive[r.rank].at, n, ncclFloat32, before, r.comm, r.stream));
        MUST(ncclSend(send[r.rank].at, 3, ncclFloat32, r.rank, r.comm, r.stream));
        MUST(ncclRecv(self[r.rank].at, 3, ncclFloat32, r.rank, r.comm, r.stream));
    }
    MUST(ncclGroupEnd());
    wait_for(ranks);
    for (const Rank &r : ranks) {
        const int before = (r.rank + count - 1) % count;
        EXPECT(receive[r.rank].has(0, n, [&](size_t i) { return value_of(before, i); }));
        EXPECT(self[r.rank].has(0, 3, [&](size_t i) { return value_of(r.rank, i); }));
    }
}

// Operators of the program's own: each rank multiplies by a number of its own.
static void scaled(const std::vector<Rank> &ranks, size_t n)
{
    const int count = (int)ranks.size();
    std::vector<Buffer<double>> send, receive;
    std::vector<int> ops(count);
    for (const Rank &r : ranks) {
        double scalar = r.rank + 2;
        send.emplace_back(r, n, [&](size_t i) { return value_of(r.rank, i); });
        receive.emplace_back(r, n, nothing);
        MUST(ncclRedOpCreatePreMulSum(&ops[r.rank], &scalar, ncclFloat64, 1, r.comm));
    }
    together(ranks, [&](const Rank &r) {
        return ncclAllReduce(send[r.rank].at, receive[r.rank].at, n, ncclFloat64, ops[r.rank],
                             r.comm, r.stream);
    });
    for (const Rank &r : ranks) {
        EXPECT(receive[r.rank].has(0, n, [&](size_t i) {
            double all = 0;
            for (int k = 0; k < count; k++) all += (k + 2) * value_of(k, i);
            return all;
        }));
        MUST(ncclRedOpDestroy(ops[r.rank], r.comm));
    }
}

// Two communicators of one: even and odd ranks, in reverse order; rank 0 alone is in none of them.
static void splits(const std::vector<Rank> &ranks)
{
    const int count = (int)ranks.size();
    std::vector<ncclComm_t> made(count);
    MUST(ncclGroupStart());
    for (const Rank &r : ranks)
        MUST(ncclCommSplit(r.comm, r.rank == 0 ? -1 : r.rank % 2, -r.rank, &made[r.rank], nullptr));
    MUST(ncclGroupEnd());
    EXPECT(made[0] == nullptr);
    for (const Rank &r : ranks) {
        int size = 0, place = 0, expected = 0, device = -1;
        if (r.rank == 0) continue;
        for (int k = 1; k < count; k++) expected += k % 2 == r.rank % 2;
        MUST(ncclCommCount(made[r.rank], &size));
        MUST(ncclCommUserRank(made[r.rank], &place));
        MUST(ncclCommCuDevice(made[r.rank], &device));
        EXPECT(size == expected && device == r.rank);
        EXPECT(place == (count - 1 - r.rank) / 2);
    }
    for (const Rank &r : ranks)
        if (r.rank != 0) MUST(ncclCommDestroy(made[r.rank]));
}

// A rank of its own thread or process: a sum, in three steps.
static int one_rank(ncclUniqueId id, int rank, int ranks)
{
    enum { N = 300000 };
    Rank mine = {rank, ranks, nullptr, nullptr};
    mine.here();
    MUST(cudaStreamCreate(&mine.stream));
    MUST(ncclCommInitRank(&mine.comm, ranks, id, rank));
    int bad = 0, state = -1;
    {
        Buffer<float> values(mine, N, [&](size_t i) { return value_of(rank, i); });
        for (int round = 0; round < 3; round++)
            MUST(ncclAllReduce(values.at, values.at, N, ncclFloat32, ncclSum, mine.comm,
                               mine.stream));
        MUST(cudaStreamSynchronize(mine.stream));
        bad = !values.has(0, N,
                          [&](size_t i) { return combined(ncclSum, ranks, i) * ranks * ranks; });
    }
    MUST(ncclCommGetAsyncError(mine.comm, &state));
    MUST(ncclCommFinalize(mine.comm));
    MUST(ncclCommDestroy(mine.comm));
    MUST(cudaStreamDestroy(mine.stream));
    return bad + (state != 0);
}

static void threads(int ranks)
{
    ncclUniqueId id;
    MUST(ncclGetUniqueId(&id));
    std::vector<std::thread> all;
    std::vector<int> bad(ranks);
    for (int k = 0; k < ranks; k++)
        all.emplace_back([&bad, id, k, ranks] { bad[k] = one_rank(id, k, ranks); });
    for (std::thread &one : all) one.join();
    for (int k = 0; k < ranks; k++) EXPECT(bad[k] == 0);
}

// Before this process has used CUDA.
static void processes()
{
    enum { RANKS = 2 };
    ncclUniqueId id;
    MUST(ncclGetUniqueId(&id));
    for (int k = 0; k < RANKS; k++) {
        const pid_t child = fork();
        if (child == 0) exit(one_rank(id, k, RANKS));
    }
    for (int k = 0; k < RANKS; k++) {
        int status = -1;
        wait(&status);
        EXPECT(status == 0);
    }
}

// The last rank gives up. What the others wait for does not come, and they are told; they end when
// they give up as well.
static void abandoned(int ranks)
{
    std::vector<ncclComm_t> comms(ranks);
    std::vector<int *> values(ranks);
    MUST(ncclCommInitAll(comms.data(), ranks, nullptr));
    for (int k = 0; k < ranks; k++) {
        MUST(cudaSetDevice(k));
        MUST(cudaMalloc(&values[k], 4 * sizeof(int)));
        MUST(cudaMemset(values[k], 0, 4 * sizeof(int)));
        MUST(cudaDeviceSynchronize());
        if (k + 1 == ranks) MUST(ncclCommAbort(comms[k]));
        if (k + 1 == ranks) break;
        MUST(ncclGroupStart());
        MUST(ncclAllReduce(values[k], values[k], 4, ncclInt32, ncclSum, comms[k], nullptr));
        MUST(ncclGroupEnd());
    }
    for (int k = 0; k + 1 < ranks; k++) {
        MUST(cudaSetDevice(k));
        EXPECT(cudaStreamQuery(nullptr) == cudaErrorNotReady);
        MUST(ncclCommAbort(comms[k]));
        MUST(cudaDeviceSynchronize());
    }
    for (int *value : values) MUST(cudaFree(value));
}

static void refusals(const std::vector<Rank> &ranks)
{
    Buffer<int> one(ranks[0], 4, nothing);
    const Rank &r = ranks[0];
    EXPECT(ncclAllReduce(one.at, one.at, 4, 99, ncclSum, r.comm, r.stream) == ncclInvalidArgument);
    EXPECT(ncclAllReduce(one.at, one.at, 4, ncclInt32, 77, r.comm, r.stream) ==
           ncclInvalidArgument);
    EXPECT(ncclBcast(one.at, 4, ncclInt32, r.ranks, r.comm, r.stream) == ncclInvalidArgument);
    EXPECT(strlen(ncclGetLastError(nullptr)) > 0);
    EXPECT(strcmp(ncclGetErrorString(0), "no error") == 0);
    MUST(cudaDeviceSynchronize());
}

int main()
{
    int count = 0, version = 0;
    processes();
    MUST(cudaGetDeviceCount(&count));
    MUST(ncclGetVersion(&version));
    EXPECT(version > 20000 && count >= 2);
    std::vector<Rank> ranks(count);
    std::vector<ncclComm_t> comms(count);
    MUST(ncclCommInitAll(comms.data(), count, nullptr));
    for (int k = 0; k < count; k++) {
        ranks[k] = {k, count, nullptr, comms[k]};
        ranks[k].here();
        MUST(cudaStreamCreate(&ranks[k].stream));
    }
    reductions<int8_t>(ranks, ncclInt8, 100, false);
    reductions<uint8_t>(ranks, ncclUint8, 100, false);
    reductions<int32_t>(ranks, ncclInt32, 1, false);
    reductions<uint32_t>(ranks, ncclUint32, 1000, false);
    reductions<int64_t>(ranks, ncclInt64, 1000, false);
    reductions<uint64_t>(ranks, ncclUint64, 1000, false);
    reductions<__half>(ranks, ncclFloat16, 1001, count == 2);
    reductions<float>(ranks, ncclFloat32, 600000, count == 2);
    reductions<double>(ranks, ncclFloat64, 1000, count == 2);
    reductions<__nv_bfloat16>(ranks, ncclBfloat16, 1001, count == 2);
    reductions<float>(ranks, ncclFloat32, 0, false);
    copies(ranks, 17);
    copies(ranks, 300000);
    messages(ranks, 500000);
    scaled(ranks, 1000);
    splits(ranks);
    threads(count);
    abandoned(count);
    refusals(ranks);
    for (const Rank &r : ranks) {
        r.here();
        MUST(cudaStreamDestroy(r.stream));
        MUST(ncclCommDestroy(r.comm));
    }
    printf("%s\n", wrong ? "FAILED" : "PASSED");
    return wrong != 0;
}
