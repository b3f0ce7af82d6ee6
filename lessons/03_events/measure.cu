/* Lesson 03's table, measured: `./learn measure events`. Kernels in a stream each, timed by events
 * that are issued in three ways: how long all of it takes, and how far each time is from the
 * kernel's own, which is taken with nothing beside it.
 *
 * OVERLAP_MEASURE=small: fewer and smaller arrays, for the software device, whose clock is a model.
 */
#include "kernels/multiply_divide.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                     \
                         cudaGetErrorString(error_));                                              \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

struct lane {
    float *device;
    size_t floats;
    cudaStream_t stream;
    cudaEvent_t begin, end;
    float alone, seen; /* milliseconds */
};

static size_t count = 100, floats = 1 << 20;

static void record(const lane &l, cudaEvent_t event)
{
    CHECK(cudaEventRecord(event, l.stream));
}
static void launch(const lane &l)
{
    CHECK(multiply_divide_launch(l.device, l.floats, l.stream));
}

enum order { EACH, ENDS_LAST, STARTS_FIRST };
static const char *const names[] = {"start, kernel, end, stream by stream",
                                    "start and kernel; then all ends",
                                    "all starts; all kernels; all ends"};

static void issue(const std::vector<lane> &lanes, order how)
{
    if (how == STARTS_FIRST)
        for (const lane &l : lanes) record(l, l.begin);
    for (const lane &l : lanes) {
        if (how != STARTS_FIRST) record(l, l.begin);
        launch(l);
        if (how == EACH) record(l, l.end);
    }
    if (how != EACH)
        for (const lane &l : lanes) record(l, l.end);
}

/* From the first start to the last end. */
static float span(const std::vector<lane> &lanes)
{
    float longest = 0, time;
    for (const lane &l : lanes) {
        CHECK(cudaEventElapsedTime(&time, lanes[0].begin, l.end));
        if (time > longest) longest = time;
    }
    return longest;
}

static void measure(std::vector<lane> &lanes, order how)
{
    double sum = 0, squares = 0, worst = 0;

    CHECK(cudaDeviceSynchronize());
    issue(lanes, how);
    CHECK(cudaDeviceSynchronize());
    for (lane &l : lanes) {
        CHECK(cudaEventElapsedTime(&l.seen, l.begin, l.end));
        sum += l.seen;
        const double off = std::fabs(l.seen - l.alone) / l.alone;
        if (off > worst) worst = off;
    }
    const double mean = sum / (double)lanes.size();
    for (const lane &l : lanes) squares += (l.seen - mean) * (l.seen - mean);
    std::printf("%-38s %10.3f %10.4f %10.4f %9.1f %%\n", names[how], span(lanes), mean,
                std::sqrt(squares / (double)lanes.size()), 100 * worst);
}

static void table(bool equal)
{
    std::vector<lane> lanes(count);
    size_t number = 0;

    for (lane &l : lanes) {
        l.floats = equal ? floats : floats / 4 * (1 + 3 * (number++ % 2));
        CHECK(cudaMalloc(&l.device, l.floats * sizeof(float)));
        CHECK(cudaMemset(l.device, 0, l.floats * sizeof(float)));
        CHECK(cudaStreamCreateWithFlags(&l.stream, cudaStreamNonBlocking));
        CHECK(cudaEventCreate(&l.begin));
        CHECK(cudaEventCreate(&l.end));
    }
    for (int twice = 0; twice < 2; twice++) /* the first is a warm-up */
        for (lane &l : lanes) {
            CHECK(cudaDeviceSynchronize());
            record(l, l.begin);
            launch(l);
            record(l, l.end);
            CHECK(cudaEventSynchronize(l.end));
            CHECK(cudaEventElapsedTime(&l.alone, l.begin, l.end));
        }
    std::printf("\n%zu kernels of %s\n", count,
                equal ? "one length" : "two lengths, one four times the other, in turn");
    std::printf("%-38s %10s %10s %10s %11s\n", "ms", "all", "mean", "deviation", "off at most");
    for (int how = EACH; how <= STARTS_FIRST; how++) measure(lanes, (order)how);
    for (lane &l : lanes) {
        CHECK(cudaEventDestroy(l.begin));
        CHECK(cudaEventDestroy(l.end));
        CHECK(cudaStreamDestroy(l.stream));
        CHECK(cudaFree(l.device));
    }
}

int main()
{
    if (std::getenv("OVERLAP_MEASURE") != nullptr) {
        count = 32;
        floats = 32768;
    }
    table(true);
    table(false);
    return 0;
}
