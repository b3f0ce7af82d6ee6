// Right: host functions in streams feed a worker thread, high and low priority streams, buffers
// recycled when the worker is done.
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#define CK(x)                                                                                      \
    do {                                                                                           \
        cudaError_t err = (x);                                                                     \
        if (err != cudaSuccess) {                                                                  \
            std::fprintf(stderr, "%s (line %d)\n", cudaGetErrorString(err), __LINE__);             \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

constexpr int kFrame = 3000;

__global__ void render(int *frame, int n, int id)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) frame[i] = (i * (id + 3)) % 251 + id;
}

__global__ void tone(int *frame, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        frame[i] = frame[i] * 2 + 1;
}

template <class T> class Channel
{
    std::mutex m;
    std::condition_variable cv;
    std::deque<T> q;

  public:
    void send(T v)
    {
        {
            std::lock_guard<std::mutex> l(m);
            q.push_back(v);
        }
        cv.notify_one();
    }
    T receive()
    {
        std::unique_lock<std::mutex> l(m);
        cv.wait(l, [&] { return !q.empty(); });
        T v = q.front();
        q.pop_front();
        return v;
    }
};

struct Slot {
    int *host; // pinned
    int *dev;
    int frame;
    bool urgent;
    Channel<Slot *> *ready;
};

// runs on a thread of the driver; no CUDA calls in here
static void CUDART_CB onReady(void *p)
{
    Slot *s = static_cast<Slot *>(p);
    s->ready->send(s);
}

int main()
{
    int least = 0, greatest = 0;
    CK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    cudaStream_t low, high;
    CK(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, least));
    CK(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest));
    int p = 12345;
    CK(cudaStreamGetPriority(high, &p));
    if (p != greatest) {
        std::printf("priority %d instead of %d\n", p, greatest);
        return 1;
    }

    const int slots = 4, frames = 14;
    Channel<Slot *> ready, idle;
    std::vector<Slot> pool(slots);
    for (Slot &s : pool) {
        CK(cudaMallocHost(&s.host, kFrame * sizeof(int)));
        CK(cudaMalloc(&s.dev, kFrame * sizeof(int)));
        s.ready = &ready;
        idle.send(&s);
    }

    std::vector<long long> sums(frames, -1);
    std::vector<int> bad(frames, 0);
    std::thread worker([&] {
        for (int k = 0; k < frames; ++k) {
            Slot *s = ready.receive();
            long long sum = 0;
            for (int i = 0; i < kFrame; ++i) {
                int want = ((i * (s->frame + 3)) % 251 + s->frame) * 2 + 1;
                if (s->host[i] != want) ++bad[s->frame];
                sum += s->host[i];
            }
            sums[s->frame] = sum;
            idle.send(s); // only now may the buffers be used again
        }
    });

    for (int f = 0; f < frames; ++f) {
        Slot *s = idle.receive();
        s->frame = f;
        s->urgent = f % 3 == 0;
        cudaStream_t st = s->urgent ? high : low;
        render<<<(kFrame + 127) / 128, 128, 0, st>>>(s->dev, kFrame, f);
        CK(cudaGetLastError());
        tone<<<6, 96, 0, st>>>(s->dev, kFrame);
        CK(cudaGetLastError());
        CK(cudaMemcpyAsync(s->host, s->dev, kFrame * sizeof(int), cudaMemcpyDeviceToHost, st));
        CK(cudaLaunchHostFunc(st, onReady, s));
    }
    worker.join();
    CK(cudaDeviceSynchronize());

    int failures = 0;
    for (int f = 0; f < frames; ++f) {
        long long want = 0;
        for (int i = 0; i < kFrame; ++i) want += ((i * (f + 3)) % 251 + f) * 2 + 1;
        if (sums[f] != want || bad[f]) {
            std::printf("frame %d: sum %lld (expected %lld), %d pixels wrong\n", f, sums[f], want,
                        bad[f]);
            ++failures;
        }
    }

    // a host function between two kernels of one stream: the second kernel sees what it wrote
    int *shared;
    CK(cudaHostAlloc(&shared, kFrame * sizeof(int), cudaHostAllocMapped));
    int *dShared;
    CK(cudaHostGetDevicePointer(&dShared, shared, 0));
    render<<<(kFrame + 127) / 128, 128, 0, low>>>(dShared, kFrame, 1);
    CK(cudaGetLastError());
    CK(cudaLaunchHostFunc(
        low,
        [](void *q) {
            for (int i = 0; i < kFrame; ++i) static_cast<int *>(q)[i] += 1000;
        },
        shared));
    tone<<<6, 96, 0, low>>>(dShared, kFrame);
    CK(cudaGetLastError());
    CK(cudaStreamSynchronize(low));
    for (int i = 0; i < kFrame; ++i)
        if (shared[i] != ((i * 4) % 251 + 1 + 1000) * 2 + 1 && failures++ < 5)
            std::printf("shared[%d] = %d\n", i, shared[i]);

    CK(cudaFreeHost(shared));
    for (Slot &s : pool) {
        CK(cudaFreeHost(s.host));
        CK(cudaFree(s.dev));
    }
    CK(cudaStreamDestroy(low));
    CK(cudaStreamDestroy(high));
    if (failures) return 1;
    std::printf("PASS\n");
    return 0;
}
