/* Lesson 02's table, measured: `./learn measure streams`. The same work issued in different ways,
 * over 1, 8 and 32 hardware queues, in milliseconds by the device's clock: from before the first
 * request to behind the last.
 *
 * OVERLAP_MEASURE=small: fewer and smaller arrays, for the software device, whose clock is a model.
 */
#include "kernels/multiply_divide.h"

#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>
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
    float *host, *device;
    cudaStream_t stream;
    cudaEvent_t begin, end; /* around the kernel, where the way to issue has events */
    cudaEvent_t done;       /* untimed: behind everything */
};

static size_t count = 200, floats = 1 << 20;
static int repeats = 3;

static void in(const lane &l)
{
    CHECK(cudaMemcpyAsync(l.device, l.host, floats * sizeof(float), cudaMemcpyHostToDevice,
                          l.stream));
}
static void work(const lane &l)
{
    CHECK(multiply_divide_launch(l.device, floats, l.stream));
}
static void out(const lane &l)
{
    CHECK(cudaMemcpyAsync(l.host, l.device, floats * sizeof(float), cudaMemcpyDeviceToHost,
                          l.stream));
}
static void watched_work(const lane &l)
{
    CHECK(cudaEventRecord(l.begin, l.stream));
    work(l);
    CHECK(cudaEventRecord(l.end, l.stream));
}

/* The ways to issue the same work. */
struct way {
    const char *name;
    bool serial, breadth, events;
    unsigned event; /* flags of the events around the kernels */
};
static const way ways[] = {
    {"one after the other", true, false, false, cudaEventDefault},
    {"breadth-first", false, true, false, cudaEventDefault},
    {"depth-first", false, false, false, cudaEventDefault},
    {"breadth-first, timed event before and behind", false, true, true, cudaEventDefault},
    {"depth-first, the same", false, false, true, cudaEventDefault},
    {"breadth-first, events without timing", false, true, true, cudaEventDisableTiming},
    {"depth-first, the same", false, false, true, cudaEventDisableTiming},
};

static void issue(const std::vector<lane> &lanes, const way &how)
{
    void (*const middle)(const lane &) = how.events ? watched_work : work;
    if (how.breadth) {
        for (const lane &l : lanes) in(l);
        for (const lane &l : lanes) middle(l);
        for (const lane &l : lanes) out(l);
        return;
    }
    for (const lane &l : lanes) {
        in(l);
        middle(l);
        out(l);
        if (how.serial) CHECK(cudaStreamSynchronize(l.stream));
    }
}

/* Between two stamps in a stream of its own, of which the second waits for all lanes. */
static float run(const std::vector<lane> &lanes, const way &how, cudaStream_t clock)
{
    cudaEvent_t first, last;
    float milliseconds = 0;

    CHECK(cudaEventCreate(&first));
    CHECK(cudaEventCreate(&last));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventRecord(first, clock));
    issue(lanes, how);
    for (const lane &l : lanes) {
        CHECK(cudaEventRecord(l.done, l.stream));
        CHECK(cudaStreamWaitEvent(clock, l.done, 0));
    }
    CHECK(cudaEventRecord(last, clock));
    CHECK(cudaEventSynchronize(last));
    CHECK(cudaEventElapsedTime(&milliseconds, first, last));
    CHECK(cudaEventDestroy(first));
    CHECK(cudaEventDestroy(last));
    return milliseconds;
}

static float measure(const way &how)
{
    std::vector<lane> lanes(count);
    cudaStream_t clock;
    float best = 0;

    CHECK(cudaStreamCreateWithFlags(&clock, cudaStreamNonBlocking));
    for (lane &l : lanes) {
        CHECK(cudaMallocHost(&l.host, floats * sizeof(float)));
        CHECK(cudaMalloc(&l.device, floats * sizeof(float)));
        CHECK(cudaStreamCreateWithFlags(&l.stream, cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&l.begin, how.event));
        CHECK(cudaEventCreateWithFlags(&l.end, how.event));
        CHECK(cudaEventCreateWithFlags(&l.done, cudaEventDisableTiming));
        for (size_t i = 0; i < floats; i++) l.host[i] = float(i % 1000);
    }
    for (int repeat = 0; repeat < (how.serial ? 1 : repeats); repeat++) {
        const float time = run(lanes, how, clock);
        if (repeat == 0 || time < best) best = time;
    }
    for (lane &l : lanes) {
        CHECK(cudaEventDestroy(l.begin));
        CHECK(cudaEventDestroy(l.end));
        CHECK(cudaEventDestroy(l.done));
        CHECK(cudaStreamDestroy(l.stream));
        CHECK(cudaFree(l.device));
        CHECK(cudaFreeHost(l.host));
    }
    CHECK(cudaStreamDestroy(clock));
    return best;
}

/* The number of queues is read when CUDA starts, so each column is a process of its own. */
static std::vector<float> column(const char *queues)
{
    std::vector<float> times(sizeof ways / sizeof *ways);
    int ends[2];

    if (pipe(ends) != 0) std::exit(1);
    const pid_t child = fork();
    if (child == 0) {
        setenv("CUDA_DEVICE_MAX_CONNECTIONS", queues, 1);
        for (size_t i = 0; i < times.size(); i++) times[i] = measure(ways[i]);
        const ssize_t size = (ssize_t)(times.size() * sizeof times[0]);
        _exit(write(ends[1], times.data(), (size_t)size) == size ? 0 : 1);
    }
    close(ends[1]);
    const ssize_t size = read(ends[0], times.data(), times.size() * sizeof times[0]);
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0 || size <= 0) std::exit(1);
    return times;
}

int main()
{
    static const char *const queues[] = {"1", "8", "32"};
    std::vector<std::vector<float>> columns;

    if (std::getenv("OVERLAP_MEASURE") != nullptr) {
        count = 32;
        floats = 32768;
        repeats = 1; /* the software device takes the same time every time */
    }
    for (const char *each : queues) columns.push_back(column(each));
    std::printf("%zu arrays of %zu floats, a stream each; ms, best of %d\n", count, floats,
                repeats);
    std::printf("%-46s", "hardware queues");
    for (const char *each : queues) std::printf(" %9s", each);
    std::printf("\n");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        std::printf("%-46s", ways[i].name);
        for (const auto &each : columns) std::printf(" %9.3f", each[i]);
        std::printf("\n");
    }
    return 0;
}
