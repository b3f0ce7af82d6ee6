// Wrong: a pool hands over blocks from one stream's list to another's, waits for the
// one's event there, and does not record the other's anew: a third stream waits for
// nothing. As in rapidsai/rmm, issue 2489.
// Found: race
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <map>
#include <vector>

static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    printf("%s\n", cudaGetErrorString(error));
    exit(1);
}

static int report(long wrong)
{
    printf(wrong ? "%ld wrong\n" : "PASS\n", wrong);
    return wrong != 0;
}

struct Block {
    char *at;
    size_t size;
};

struct List {
    cudaEvent_t event;
    std::vector<Block> free;
};

struct Pool {
    std::map<cudaStream_t, List> lists;
    std::vector<char *> all;
    List &of(cudaStream_t s)
    {
        auto found = lists.find(s);
        if (found != lists.end()) return found->second;
        List list;
        check(cudaEventCreateWithFlags(&list.event, cudaEventDisableTiming));
        return lists[s] = list;
    }
    static bool fit(List &list, size_t size, Block *block)
    {
        for (size_t i = 0; i < list.free.size(); i++)
            if (list.free[i].size >= size) {
                *block = list.free[i];
                list.free.erase(list.free.begin() + i);
                return true;
            }
        return false;
    }
    Block allocate(size_t size, cudaStream_t s)
    {
        List &mine = of(s);
        Block block;
        if (fit(mine, size, &block)) return block;
        for (auto &other : lists) // take one from another stream's list
            if (other.first != s && fit(other.second, size, &block)) {
                check(cudaStreamWaitEvent(s, other.second.event, 0));
                return block;
            }
        for (auto &other : lists) // none is large enough: merge them all into this one
            if (other.first != s && !other.second.free.empty()) {
                check(cudaStreamWaitEvent(s, other.second.event, 0));
                mine.free.insert(mine.free.end(), other.second.free.begin(),
                                 other.second.free.end());
                other.second.free.clear();
            }
        check(cudaMalloc(&block.at, size));
        block.size = size;
        all.push_back(block.at);
        return block;
    }
    void deallocate(Block block, cudaStream_t s)
    {
        List &mine = of(s);
        check(cudaEventRecord(mine.event, s));
        mine.free.push_back(block);
    }
};

int main()
{
    const size_t SMALL = 1 << 16;
    static char host[SMALL];
    cudaStream_t a, b, c;
    check(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    check(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    check(cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking));
    Pool pool;
    Block x = pool.allocate(SMALL, a);
    check(cudaMemsetAsync(x.at, 1, SMALL, a));
    pool.deallocate(x, a);
    Block large = pool.allocate(4 * SMALL, b);
    Block y = pool.allocate(SMALL, c);
    check(cudaMemsetAsync(y.at, 2, SMALL, c));
    check(cudaMemcpyAsync(host, y.at, SMALL, cudaMemcpyDeviceToHost, c));
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(host, y.at, SMALL, cudaMemcpyDeviceToHost));
    long wrong = 0;
    for (size_t i = 0; i < SMALL; i++) wrong += host[i] != 2;
    pool.deallocate(y, c);
    pool.deallocate(large, b);
    check(cudaDeviceSynchronize());
    for (char *p : pool.all) check(cudaFree(p));
    for (auto &list : pool.lists) check(cudaEventDestroy(list.second.event));
    check(cudaStreamDestroy(a));
    check(cudaStreamDestroy(b));
    check(cudaStreamDestroy(c));
    return report(wrong);
}
