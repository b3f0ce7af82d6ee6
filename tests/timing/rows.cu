/* What docs/predicted.md compares: the same program says what the software device predicts and what
 * a GPU measures. A line for each row: its name, a tab, the value, a tab, the unit.
 *
 *     rows device       copies, contexts, single kernels, reductions
 *     rows lanes        arrays over streams, as many hardware queues as CUDA_DEVICE_MAX_CONNECTIONS
 *                       says
 *     rows lanes quick  those that take less than a second, each more often, with all samples
 *     rows questions    all of these but the slow ones, and what questions.cu asks; it starts
 *                       itself again for each number of queues
 *
 * All times are the device's, between two events, also those of what the host does in between.
 */
#include "kernels/multiply_divide.h"
#include "tests/timing/stopwatch.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cub/device/device_reduce.cuh>
#include <cuda.h>
#include <string>
#include <vector>

static int repeats = 3; /* the best of them */
static bool quick;

/* ---- lanes ------------------------------------------------------------------------------------
 */

static size_t floats = 1 << 20, bytes = sizeof(float) << 20; /* of each array */

enum order { SERIAL, ALL_IN_ALL_OUT, BREADTH, DEPTH };
enum events { NONE, TIMED, UNTIMED };

struct form {
    size_t arrays, streams;
    bool pinned;
    enum order order;
    enum events events;
};

struct lane {
    float *host, *device;
    cudaStream_t stream;
    cudaEvent_t begin, end, done;
};

static void work(const lane &l, const form &how)
{
    if (how.events != NONE) CHECK(cudaEventRecord(l.begin, l.stream));
    CHECK(multiply_divide_launch(l.device, floats, l.stream));
    if (how.events != NONE) CHECK(cudaEventRecord(l.end, l.stream));
}

static void in(const lane &l)
{
    CHECK(cudaMemcpyAsync(l.device, l.host, bytes, cudaMemcpyHostToDevice, l.stream));
}

static void out(const lane &l)
{
    CHECK(cudaMemcpyAsync(l.host, l.device, bytes, cudaMemcpyDeviceToHost, l.stream));
}

static void issue(const std::vector<lane> &lanes, const form &how)
{
    if (how.order == ALL_IN_ALL_OUT) { /* the first program of the lesson: each call waits */
        for (const lane &l : lanes)
            CHECK(cudaMemcpy(l.device, l.host, bytes, cudaMemcpyHostToDevice));
        for (const lane &l : lanes) CHECK(multiply_divide_launch(l.device, floats, nullptr));
        for (const lane &l : lanes)
            CHECK(cudaMemcpy(l.host, l.device, bytes, cudaMemcpyDeviceToHost));
        return;
    }
    if (how.order == BREADTH) {
        for (const lane &l : lanes) in(l);
        for (const lane &l : lanes) work(l, how);
        for (const lane &l : lanes) out(l);
        return;
    }
    for (const lane &l : lanes) {
        in(l);
        work(l, how);
        out(l);
        if (how.order == SERIAL) CHECK(cudaStreamSynchronize(l.stream));
    }
}

static std::vector<lane> make_lanes(const form &how)
{
    std::vector<lane> lanes(how.arrays);
    std::vector<cudaStream_t> streams(how.streams);
    const unsigned flag = how.events == UNTIMED ? cudaEventDisableTiming : cudaEventDefault;

    for (cudaStream_t &s : streams) CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    for (size_t i = 0; i < lanes.size(); i++) {
        lane &l = lanes[i];
        if (how.pinned)
            CHECK(cudaMallocHost(&l.host, bytes));
        else
            l.host = (float *)std::malloc(bytes);
        for (size_t k = 0; i == 0 && k < floats; k++) l.host[k] = (float)(k % 1000);
        if (i > 0) std::memcpy(l.host, lanes[0].host, bytes);
        CHECK(cudaMalloc(&l.device, bytes));
        l.stream = streams[i % how.streams];
        CHECK(cudaEventCreateWithFlags(&l.begin, flag));
        CHECK(cudaEventCreateWithFlags(&l.end, flag));
        CHECK(cudaEventCreateWithFlags(&l.done, cudaEventDisableTiming));
    }
    return lanes;
}

static void free_lanes(const std::vector<lane> &lanes, const form &how)
{
    for (size_t i = 0; i < lanes.size(); i++) {
        const lane &l = lanes[i];
        if (how.pinned)
            CHECK(cudaFreeHost(l.host));
        else
            std::free(l.host);
        CHECK(cudaFree(l.device));
        CHECK(cudaEventDestroy(l.begin));
        CHECK(cudaEventDestroy(l.end));
        CHECK(cudaEventDestroy(l.done));
        if (i < how.streams) CHECK(cudaStreamDestroy(l.stream));
    }
}

/* Nothing of it overlaps, or nearly. */
static bool is_slow(const form &how, const char *queues)
{
    if (floats < 1 << 20) return false;
    return how.streams <= 2 || (how.events == TIMED && std::strcmp(queues, "1") == 0);
}

static void measure(const form &how, const char *queues)
{
    if (quick && is_slow(how, queues)) return;
    static const char *const orders[] = {"one after the other", "all in, all kernels, all out",
                                         "breadth-first", "depth-first"};
    static const char *const events[] = {"", ", timed events", ", untimed events"};
    const std::vector<lane> lanes = make_lanes(how);
    stopwatch watch;
    std::vector<double> samples;
    char name[200];

    /* Arrays that the cache holds are there from the time before, on a GPU and in its model. */
    const int times = repeats > 1 || how.arrays * bytes > (size_t)32 << 20 ? repeats : 2;
    for (int repeat = 0; repeat < times; repeat++) {
        watch.start();
        issue(lanes, how);
        for (const lane &l : lanes) {
            CHECK(cudaEventRecord(l.done, l.stream));
            CHECK(cudaStreamWaitEvent(watch.stream, l.done, 0));
        }
        samples.push_back(watch.stop());
    }
    free_lanes(lanes, how);
    std::snprintf(name, sizeof name, "%zu %sarrays, %zu streams, %s, %s%s, %s queues", how.arrays,
                  bytes < 1 << 20 ? "small " : "", how.streams, how.pinned ? "pinned" : "pageable",
                  orders[how.order], events[how.events], queues);
    say(name, *std::min_element(samples.begin(), samples.end()), "ms");
    if (!quick) return;
    std::printf("# each time:");
    for (const double time : samples) std::printf(" %.4g", time);
    std::printf("\n");
}

static void measure_lanes()
{
    const char *queues = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
    if (queues == nullptr) queues = "8";
    for (const size_t arrays : {200, 100}) {
        measure({arrays, 1, true, SERIAL, NONE}, queues);
        for (const events e : {NONE, TIMED, UNTIMED}) {
            if (e == UNTIMED && (arrays == 100 || std::strcmp(queues, "32") == 0)) continue;
            measure({arrays, arrays, true, BREADTH, e}, queues);
            measure({arrays, arrays, true, DEPTH, e}, queues);
        }
    }
    floats = 32768;
    bytes = floats * sizeof(float);
    measure({32, 32, true, BREADTH, NONE}, queues);
    measure({32, 32, true, DEPTH, NONE}, queues);
    measure({32, 1, true, SERIAL, NONE}, queues);
    floats = 1 << 20;
    bytes = floats * sizeof(float);
    if (std::strcmp(queues, "1") == 0) return;
    measure({200, 32, true, DEPTH, TIMED}, queues);
    if (std::strcmp(queues, "8") != 0) return;
    for (const size_t streams : {128, 8, 2, 1}) measure({200, streams, true, DEPTH, TIMED}, queues);
    measure({200, 1, false, ALL_IN_ALL_OUT, NONE}, queues);
    measure({200, 1, true, ALL_IN_ALL_OUT, NONE}, queues);
    measure({200, 200, false, BREADTH, NONE}, queues);
    for (const events e : {NONE, TIMED}) {
        measure({32, 32, true, BREADTH, e}, queues);
        measure({8, 8, true, BREADTH, e}, queues);
        measure({8, 8, true, DEPTH, e}, queues);
    }
}

/* ---- the device -------------------------------------------------------------------------------
 */

template <typename F> static double best_ms(F &&body)
{
    stopwatch watch;
    double best = 0;
    for (int repeat = 0; repeat < repeats + 1; repeat++) {
        watch.start();
        body(watch.stream);
        const double time = watch.stop();
        if (repeat == 0 || time < best) best = time;
    }
    return best;
}

static void measure_copies()
{
    const size_t size = (size_t)256 << 20;
    char *pinned, *other, *device, *second, *pageable = (char *)std::malloc(size);
    cudaStream_t back;
    cudaEvent_t done;

    std::memset(pageable, 1, size);
    CHECK(cudaMallocHost(&pinned, size));
    CHECK(cudaMallocHost(&other, size));
    CHECK(cudaMalloc(&device, size));
    CHECK(cudaMalloc(&second, size));
    CHECK(cudaStreamCreateWithFlags(&back, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    const double gb = (double)size * 1e-6; /* over ms: GB/s */
    say("copy to the device, pinned",
        gb / best_ms([&](cudaStream_t s) {
            CHECK(cudaMemcpyAsync(device, pinned, size, cudaMemcpyHostToDevice, s));
        }),
        "GB/s");
    say("copy from the device, pinned",
        gb / best_ms([&](cudaStream_t s) {
            CHECK(cudaMemcpyAsync(pinned, device, size, cudaMemcpyDeviceToHost, s));
        }),
        "GB/s");
    say("copies both ways at once, in all",
        2 * gb / best_ms([&](cudaStream_t s) {
            CHECK(cudaMemcpyAsync(other, second, size, cudaMemcpyDeviceToHost, back));
            CHECK(cudaMemcpyAsync(device, pinned, size, cudaMemcpyHostToDevice, s));
            CHECK(cudaEventRecord(done, back));
            CHECK(cudaStreamWaitEvent(s, done, 0));
        }),
        "GB/s");
    say("copy to the device, pageable",
        gb / best_ms([&](cudaStream_t) {
            CHECK(cudaMemcpy(device, pageable, size, cudaMemcpyHostToDevice));
        }),
        "GB/s");
    say("copy from the device, pageable",
        gb / best_ms([&](cudaStream_t) {
            CHECK(cudaMemcpy(pageable, device, size, cudaMemcpyDeviceToHost));
        }),
        "GB/s");
    say("copy inside the device, read and write",
        2 * gb / best_ms([&](cudaStream_t s) {
            CHECK(cudaMemcpyAsync(second, device, size, cudaMemcpyDeviceToDevice, s));
        }),
        "GB/s");
    say("memset", gb / best_ms([&](cudaStream_t s) { CHECK(cudaMemsetAsync(device, 1, size, s)); }),
        "GB/s");
    say("copy of 4 KiB to the device, pinned",
        1e3 * best_ms([&](cudaStream_t s) {
            CHECK(cudaMemcpyAsync(device, pinned, 4096, cudaMemcpyHostToDevice, s));
        }),
        "us");
    CHECK(cudaFree(device));
    CHECK(cudaFree(second));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFreeHost(other));
    std::free(pageable);
}

static void measure_contexts()
{
    CUcontext own, made;
    CUdevice device;

    CHECK(cudaFree(nullptr));
    CHECK(cuCtxGetCurrent(&own));
    CHECK(cuDeviceGet(&device, 0));
    stopwatch watch;
    watch.start();
    CHECK(cuCtxCreate(&made, nullptr, 0, device));
    CHECK(cuCtxSetCurrent(own));
    say("cuCtxCreate", watch.stop(), "ms");
    watch.start();
    CHECK(cuCtxDestroy(made));
    CHECK(cuCtxSetCurrent(own));
    say("cuCtxDestroy", watch.stop(), "ms");
}

/* The kernel over `small`, in ms, once so much else was written that nothing of it is in the cache,
 * and it has been copied in again or not. */
static double alone(float *small, float *other, size_t others, bool copied)
{
    stopwatch watch;
    double best = 0;
    float *host;

    CHECK(cudaMallocHost(&host, bytes));
    std::memset(host, 0, bytes);
    for (int repeat = 0; repeat < repeats; repeat++) {
        CHECK(cudaMemset(other, 0, others * sizeof *other));
        if (copied) CHECK(cudaMemcpy(small, host, bytes, cudaMemcpyHostToDevice));
        watch.start();
        CHECK(multiply_divide_launch(small, floats, watch.stream));
        const double time = watch.stop();
        if (repeat == 0 || time < best) best = time;
    }
    CHECK(cudaFreeHost(host));
    return best;
}

static void measure_kernels()
{
    const size_t large = (size_t)100 << 20;
    float *array, *small;
    char name[80];

    CHECK(cudaMalloc(&small, bytes));
    CHECK(cudaMemset(small, 0, bytes));
    CHECK(cudaMalloc(&array, large * sizeof *array));
    CHECK(cudaMemset(array, 0, large * sizeof *array));
    CHECK(multiply_divide_launch(array, 64, nullptr)); /* loaded */
    say("one kernel, 1024 x 1024 floats, just used",
        best_ms([&](cudaStream_t s) { CHECK(multiply_divide_launch(small, floats, s)); }), "ms");
    say("one kernel, 1024 x 1024 floats, behind its copy", alone(small, array, large, true), "ms");
    say("one kernel, 1024 x 1024 floats, not in the cache", alone(small, array, large, false),
        "ms");
    const int kept = repeats;
    repeats = 0;
    say("one kernel, 100 x 1024 x 1024 floats",
        best_ms([&](cudaStream_t s) { CHECK(multiply_divide_launch(array, large, s)); }), "ms");
    repeats = kept;
    for (const size_t count : {16, 128}) {
        std::vector<cudaStream_t> streams(count);
        for (cudaStream_t &s : streams) CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
        std::snprintf(name, sizeof name, "%zu kernels of 64 x 1024 floats at once", count);
        say(name, best_ms([&](cudaStream_t) {
                for (size_t i = 0; i < count; i++)
                    CHECK(multiply_divide_launch(array + i * 65536, 65536, streams[i]));
                for (cudaStream_t s : streams) CHECK(cudaStreamSynchronize(s));
            }),
            "ms");
        for (cudaStream_t s : streams) CHECK(cudaStreamDestroy(s));
    }
    CHECK(cudaFree(array));
    CHECK(cudaFree(small));
}

template <typename T> static void measure_sum(const char *name, size_t count)
{
    T *values, *result;
    void *scratch = nullptr;
    size_t room = 0;

    CHECK(cudaMalloc(&values, count * sizeof(T)));
    CHECK(cudaMalloc(&result, sizeof(T)));
    CHECK(cudaMemset(values, 0, count * sizeof(T)));
    CHECK(cub::DeviceReduce::Sum(scratch, room, values, result, (int)count));
    CHECK(cudaMalloc(&scratch, room));
    say(name, (double)(count * sizeof(T)) * 1e-6 / best_ms([&](cudaStream_t s) {
                  CHECK(cub::DeviceReduce::Sum(scratch, room, values, result, (int)count, s));
              }),
        "GB/s");
    CHECK(cudaFree(scratch));
    CHECK(cudaFree(result));
    CHECK(cudaFree(values));
}

int main(int count, char **arguments)
{
    const std::string what = count > 1 ? arguments[1] : "", more = count > 2 ? arguments[2] : "";

    if (std::getenv("OVERLAP_MEASURE") != nullptr) repeats = 1; /* a clock that is exact */
    if (what == "questions") return questions(more.c_str());
    quick = more == "quick";
    if (quick) repeats = 6;
    if (what == "lanes") {
        measure_lanes();
        return 0;
    }
    if (what != "device") return 2;
    measure_contexts();
    measure_copies();
    measure_kernels();
    measure_sum<long long>("CUB's sum of 2^27 int64", (size_t)1 << 27);
    measure_sum<int>("CUB's sum of 2^28 int32", (size_t)1 << 28);
    measure_sum<float>("CUB's sum of 2^20 float", (size_t)1 << 20);
    return 0;
}
