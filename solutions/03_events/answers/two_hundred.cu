/* Questions of lesson 03: what is in a time besides the kernel. First the same kernels with
 * pageable and with page-locked memory; then more kernels than can be resident at a time. */
#include "kernels/multiply_divide.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

struct lane {
    float *host, *device;
    cudaStream_t stream;
    cudaEvent_t start, end;
    float milliseconds;
};

static std::vector<lane> open(int count, size_t floats, bool locked)
{
    std::vector<lane> lanes(count);
    for (lane &l : lanes) {
        if (locked)
            cudaMallocHost(&l.host, floats * sizeof(float));
        else
            l.host = (float *)std::malloc(floats * sizeof(float));
        std::fill(l.host, l.host + floats, 1.0f);
        cudaMalloc(&l.device, floats * sizeof(float));
        cudaMemset(l.device, 0, floats * sizeof(float));
        cudaStreamCreateWithFlags(&l.stream, cudaStreamNonBlocking);
        cudaEventCreate(&l.start);
        cudaEventCreate(&l.end);
    }
    cudaDeviceSynchronize(); /* the streams do not wait for the memsets */
    multiply_divide_launch(lanes[0].device, floats, lanes[0].stream); /* a warm-up */
    cudaDeviceSynchronize();
    return lanes;
}

static void report(std::vector<lane> &lanes, const char *what)
{
    double sum = 0, squares = 0;
    float shortest = 1e9f;
    int wrong = 0;

    cudaDeviceSynchronize();
    for (lane &l : lanes) {
        cudaEventElapsedTime(&l.milliseconds, l.start, l.end);
        sum += l.milliseconds;
        shortest = std::min(shortest, l.milliseconds);
    }
    const double mean = sum / (double)lanes.size();
    for (const lane &l : lanes) {
        squares += (l.milliseconds - mean) * (l.milliseconds - mean);
        wrong += l.milliseconds > shortest * 1.05f;
    }
    std::printf("%-22s mean %.4f ms, deviation %.4f, %d of %zu over the shortest by 5 %%\n", what,
                mean, std::sqrt(squares / (double)lanes.size()), wrong, lanes.size());
}

static void close(std::vector<lane> &lanes, bool locked)
{
    for (lane &l : lanes) {
        if (locked)
            cudaFreeHost(l.host);
        else
            std::free(l.host);
        cudaFree(l.device);
        cudaStreamDestroy(l.stream);
        cudaEventDestroy(l.start);
        cudaEventDestroy(l.end);
    }
}

int main()
{
    const size_t floats = 32768, few = 8192;

    for (int locked = 0; locked < 2; locked++) {
        std::vector<lane> lanes = open(32, floats, locked);
        for (const lane &l : lanes) {
            cudaEventRecord(l.start, l.stream);
            multiply_divide_launch(l.device, floats, l.stream);
        }
        for (const lane &l : lanes) {
            cudaMemcpyAsync(l.host, l.device, floats * sizeof(float), cudaMemcpyDeviceToHost,
                            l.stream);
            cudaEventRecord(l.end, l.stream);
        }
        report(lanes, locked ? "page-locked" : "pageable");
        close(lanes, locked);
    }
    for (int late = 0; late < 2; late++) {
        std::vector<lane> lanes = open(200, few, true);
        for (const lane &l : lanes) {
            cudaEventRecord(l.start, l.stream);
            multiply_divide_launch(l.device, few, l.stream);
            if (!late) cudaEventRecord(l.end, l.stream);
        }
        for (const lane &l : lanes)
            if (late) cudaEventRecord(l.end, l.stream);
        report(lanes, late ? "ends behind all" : "start, kernel, end");
        close(lanes, true);
    }
    return 0;
}
