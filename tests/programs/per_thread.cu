// Programs built with --default-stream per-thread: stream 0 is the calling thread's own.
#include "tests/programs/program.cuh"

#include <thread>
#include <vector>

__device__ int bias = 5;

__global__ void shift(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += bias;
}

static void work_of_thread(int number, bool *right)
{
    const int n = 1009;
    std::vector<int> in(n), out(n);
    int *x;
    for (int i = 0; i < n; i++) in[i] = i * number;
    CHECK(cudaMalloc(&x, n * sizeof(int)));
    CHECK(cudaMemcpy(x, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    shift<<<8, 128>>>(x, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(out.data(), x, n * sizeof(int), cudaMemcpyDeviceToHost, 0));
    CHECK(cudaStreamSynchronize(0));
    *right = true;
    for (int i = 0; i < n; i++) *right = *right && out[i] == in[i] + 5;
    CHECK(cudaFree(x));
}

static void stream_of_each_thread()
{
    const int count = 4;
    std::vector<std::thread> threads;
    bool right[count] = {};
    for (int t = 0; t < count; t++) threads.emplace_back(work_of_thread, t + 1, &right[t]);
    for (std::thread &thread : threads) thread.join();
    for (bool ok : right) EXPECT(ok);
}

static void variables_and_fills()
{
    int value = 9, host[6], *x;
    CHECK(cudaMemcpyToSymbol(bias, &value, sizeof value));
    CHECK(cudaMalloc(&x, sizeof host));
    CHECK(cudaMemset(x, 0, sizeof host));
    CHECK(cudaMemset2D(x, 8, 1, 4, 3));
    shift<<<1, 6>>>(x, 6);
    CHECK(cudaMemcpy2D(host, 8, x, 8, 8, 3, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 6; i++) EXPECT(host[i] == 9 + (i % 2 == 0 ? 0x01010101 : 0));
    CHECK(cudaMemcpyFromSymbol(&value, bias, sizeof value));
    EXPECT(value == 9);
    CHECK(cudaFree(x));
}

static void same_stream()
{
    unsigned long long by_zero, by_name, legacy;
    CHECK(cudaStreamGetId(0, &by_zero));
    CHECK(cudaStreamGetId(cudaStreamPerThread, &by_name));
    CHECK(cudaStreamGetId(cudaStreamLegacy, &legacy));
    EXPECT(by_zero == by_name && by_zero != legacy);
}

int main(int argc, char **argv)
{
    static const Program programs[] = {{"stream_of_each_thread", stream_of_each_thread},
                                       {"variables_and_fills", variables_and_fills},
                                       {"same_stream", same_stream}};
    return run_programs(argc, argv, programs);
}
