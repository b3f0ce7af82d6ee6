// Wrong: an owner gives page-locked memory back to a cache when its scope ends, with an event that
// the cache does not ask before it gives the memory away again: the copy from it may still run.
// Found: race
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <numeric>
#include <utility>
#include <vector>

#define CK(x)                                                                                      \
    if ((x) != cudaSuccess) {                                                                      \
        printf("failed in line %d\n", __LINE__);                                                   \
        exit(1);                                                                                   \
    }

constexpr size_t n = 4096;
struct Cache {
    std::vector<std::pair<float *, cudaEvent_t>> idle;
    float *get()
    {
        for (size_t i = 0; i < idle.size(); i++) {
            float *p = idle[i].first;
            CK(cudaEventDestroy(idle[i].second));
            idle.erase(idle.begin() + i);
            return p;
        }
        float *p;
        CK(cudaMallocHost(&p, n * sizeof(float)));
        return p;
    }
    void put(float *p, cudaStream_t s)
    {
        cudaEvent_t e;
        CK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
        CK(cudaEventRecord(e, s));
        idle.push_back({p, e});
    }
    ~Cache()
    {
        for (auto &i : idle) {
            CK(cudaEventDestroy(i.second));
            CK(cudaFreeHost(i.first));
        }
    }
};
struct Pinned {
    Cache &cache;
    cudaStream_t s;
    float *p;
    Pinned(Cache &c, cudaStream_t st) : cache(c), s(st), p(c.get()) {}
    ~Pinned()
    {
        cache.put(p, s);
    }
};
int main()
{
    cudaStream_t s;
    float *d[3], back[3];
    CK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    for (float *&p : d) CK(cudaMalloc(&p, n * sizeof(float)));
    {
        Cache cache;
        for (int k = 0; k < 3; k++) {
            Pinned pinned(cache, s);
            std::iota(pinned.p, pinned.p + n, 1000.0f * k);
            CK(cudaMemcpyAsync(d[k], pinned.p, n * sizeof(float), cudaMemcpyHostToDevice, s));
        }
        CK(cudaStreamSynchronize(s));
    }
    for (int k = 0; k < 3; k++)
        CK(cudaMemcpy(&back[k], d[k] + 5, sizeof(float), cudaMemcpyDeviceToHost));
    printf("%g %g %g\n", back[0], back[1], back[2]);
    const bool right = back[0] == 5.0f && back[1] == 1005.0f && back[2] == 2005.0f;
    for (float *p : d) CK(cudaFree(p));
    CK(cudaStreamDestroy(s));
    return right ? 0 : 1;
}
