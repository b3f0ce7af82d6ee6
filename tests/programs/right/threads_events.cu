// Right: host threads, a stream each, hand rounds of work to each other by events and condition
// variables.
#include "tests/programs/program.cuh"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>
__global__ void step(const int *in, int *out, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * 2 + k;
}
int main()
{
    const int n = 4096, stages = 4, rounds = 6;
    int *buf[stages + 1];
    for (auto &b : buf) CHECK(cudaMalloc(&b, n * 4));
    std::vector<int> h(n), back(n);
    std::mutex m;
    std::condition_variable cv;
    int at[stages + 1] = {}; // rounds that have been handed on
    cudaEvent_t ev[stages + 1][rounds];
    for (auto &r : ev)
        for (auto &e : r) CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    cudaStream_t s[stages + 1];
    for (auto &x : s) CHECK(cudaStreamCreateWithFlags(&x, cudaStreamNonBlocking));
    auto pass = [&](int stage, int r) {
        {
            std::lock_guard<std::mutex> l(m);
            at[stage] = r + 1;
        }
        cv.notify_all();
    };
    auto await = [&](int stage, int r) {
        std::unique_lock<std::mutex> l(m);
        cv.wait(l, [&] { return at[stage] > r; });
    };
    std::vector<std::thread> team;
    for (int t = 1; t <= stages; t++)
        team.emplace_back([&, t] {
            for (int r = 0; r < rounds; r++) {
                await(t - 1, r);
                CHECK(cudaStreamWaitEvent(s[t], ev[t - 1][r], 0));
                if (t < stages && r > 0) {
                    await(t + 1, r - 1);
                    CHECK(cudaStreamWaitEvent(s[t], ev[t + 1][r - 1], 0));
                }
                step<<<n / 256, 256, 0, s[t]>>>(buf[t - 1], buf[t], n, t);
                CHECK(cudaGetLastError());
                CHECK(cudaEventRecord(ev[t][r], s[t]));
                pass(t, r);
            }
        });
    for (int r = 0; r < rounds; r++) {
        if (r > 0) {
            await(1, r - 1);
            CHECK(cudaStreamWaitEvent(s[0], ev[1][r - 1], 0));
        }
        for (int i = 0; i < n; i++) h[i] = i + r;
        CHECK(cudaMemcpyAsync(buf[0], h.data(), n * 4, cudaMemcpyHostToDevice, s[0]));
        CHECK(cudaEventRecord(ev[0][r], s[0]));
        pass(0, r);
        CHECK(cudaEventSynchronize(ev[0][r]));
        await(stages, r);
        CHECK(cudaEventSynchronize(ev[stages][r]));
        CHECK(cudaMemcpyAsync(back.data(), buf[stages], n * 4, cudaMemcpyDeviceToHost, s[0]));
        CHECK(cudaStreamSynchronize(s[0]));
        for (int i = 0; i < n; i++) {
            int v = i + r;
            for (int t = 1; t <= stages; t++) v = v * 2 + t;
            EXPECT(back[i] == v);
        }
    }
    for (auto &t : team) t.join();
    for (auto &r : ev)
        for (auto &e : r) CHECK(cudaEventDestroy(e));
    for (auto &x : s) CHECK(cudaStreamDestroy(x));
    for (auto &b : buf) CHECK(cudaFree(b));
    puts("PASS");
    return 0;
}
