// Right: money transfers between accounts under per-account spin locks (atomicCAS / fence /
// atomicExch), taken in order.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CK(call)                                                                                   \
    do {                                                                                           \
        cudaError_t e = call;                                                                      \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s at line %d\n", cudaGetErrorString(e), __LINE__);                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

class SpinLock
{
    int word;

  public:
    __device__ void lock()
    {
        unsigned ns = 8;
        while (atomicCAS(&word, 0, 1) != 0) {
            __nanosleep(ns);
            if (ns < 256) ns *= 2;
        }
        __threadfence();
    }
    __device__ bool tryLock()
    {
        bool got = atomicCAS(&word, 0, 1) == 0;
        if (got) __threadfence();
        return got;
    }
    __device__ void unlock()
    {
        __threadfence();
        atomicExch(&word, 0);
    }
};

struct Account {
    SpinLock lock;
    int pad;
    long long balance;
    int moves;
};

__device__ unsigned nextRandom(unsigned &s)
{
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    return s;
}

__global__ void transfers(Account *acc, int nAcc, int perThread, long long *refused)
{
    unsigned rng = (blockIdx.x * blockDim.x + threadIdx.x + 1) * 2654435761u;
    long long no = 0;
    for (int k = 0; k < perThread; ++k) {
        int from = nextRandom(rng) % nAcc, to = nextRandom(rng) % nAcc;
        int amount = nextRandom(rng) % 100;
        if (from == to) continue;
        Account &a = acc[min(from, to)];
        Account &b = acc[max(from, to)];
        a.lock.lock();
        b.lock.lock();
        if (acc[from].balance >= amount) {
            acc[from].balance -= amount;
            acc[to].balance += amount;
            a.moves++;
            b.moves++;
        } else {
            ++no;
        }
        b.lock.unlock();
        a.lock.unlock();
    }
    if (no) atomicAdd((unsigned long long *)refused, (unsigned long long)no);
}

// The older idiom: a loop with a flag, the critical section inside the loop.
__global__ void appendMax(Account *acc, int *log, int *logLen, int capacity)
{
    int me = blockIdx.x * blockDim.x + threadIdx.x;
    bool done = false;
    while (!done) {
        if (acc[0].lock.tryLock()) {
            int at = *logLen;
            if (at < capacity) {
                log[at] = me;
                *logLen = at + 1;
            }
            acc[0].lock.unlock();
            done = true;
        }
    }
}

int main()
{
    const int nAcc = 48, blocks = 8, threads = 64, perThread = 4;
    const long long start = 250;
    Account *d_acc;
    long long *d_refused;
    int *d_log, *d_len;
    CK(cudaMalloc(&d_acc, nAcc * sizeof(Account)));
    CK(cudaMalloc(&d_refused, sizeof(long long)));
    CK(cudaMalloc(&d_log, blocks * threads * sizeof(int)));
    CK(cudaMalloc(&d_len, sizeof(int)));
    CK(cudaMemset(d_acc, 0, nAcc * sizeof(Account)));
    CK(cudaMemset(d_refused, 0, sizeof(long long)));
    CK(cudaMemset(d_len, 0, sizeof(int)));
    CK(cudaMemcpy2D((char *)d_acc + offsetof(Account, balance), sizeof(Account),
                    std::vector<long long>(nAcc, start).data(), sizeof(long long),
                    sizeof(long long), nAcc, cudaMemcpyHostToDevice));

    transfers<<<blocks, threads>>>(d_acc, nAcc, perThread, d_refused);
    CK(cudaGetLastError());
    appendMax<<<blocks, threads / 2>>>(d_acc, d_log, d_len, blocks * threads);
    CK(cudaGetLastError());
    CK(cudaDeviceSynchronize());

    std::vector<long long> bal(nAcc);
    std::vector<int> moves(nAcc);
    long long refused;
    int len;
    CK(cudaMemcpy2D(bal.data(), sizeof(long long), (char *)d_acc + offsetof(Account, balance),
                    sizeof(Account), sizeof(long long), nAcc, cudaMemcpyDeviceToHost));
    CK(cudaMemcpy2D(moves.data(), sizeof(int), (char *)d_acc + offsetof(Account, moves),
                    sizeof(Account), sizeof(int), nAcc, cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(&refused, d_refused, sizeof(refused), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(&len, d_len, sizeof(len), cudaMemcpyDeviceToHost));
    std::vector<int> log(len > 0 ? len : 1, -1);
    CK(cudaMemcpy(log.data(), d_log, len * sizeof(int), cudaMemcpyDeviceToHost));

    // how many transfers there were: the host runs the same generators
    long long attempted = 0;
    for (int t = 0; t < blocks * threads; ++t) {
        unsigned s = (unsigned)(t + 1) * 2654435761u;
        auto next = [&] {
            s ^= s << 13;
            s ^= s >> 17;
            s ^= s << 5;
            return s;
        };
        for (int k = 0; k < perThread; ++k) {
            int f = next() % nAcc, g = next() % nAcc;
            next();
            attempted += f != g;
        }
    }
    long long sum = 0, touched = 0;
    bool ok = true;
    for (int i = 0; i < nAcc; ++i) {
        sum += bal[i];
        touched += moves[i];
        if (bal[i] < 0) {
            printf("account %d is overdrawn: %lld\n", i, bal[i]);
            ok = false;
        }
    }
    if (sum != start * nAcc) {
        printf("total %lld, expected %lld\n", sum, start * nAcc);
        ok = false;
    }
    if (touched != 2 * (attempted - refused)) {
        printf("moves %lld, expected %lld\n", touched, 2 * (attempted - refused));
        ok = false;
    }
    std::vector<char> seen(blocks * threads / 2, 0);
    if (len != blocks * threads / 2) {
        printf("log has %d entries\n", len);
        ok = false;
    } else
        for (int id : log) {
            if (id < 0 || id >= len || seen[id]) {
                printf("log entry %d is wrong or twice there\n", id);
                ok = false;
                break;
            }
            seen[id] = 1;
        }
    cudaFree(d_acc);
    cudaFree(d_refused);
    cudaFree(d_log);
    cudaFree(d_len);
    if (ok) printf("PASS\n");
    return !ok;
}
