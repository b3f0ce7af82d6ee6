/* What the virtual clock's model has to know of a GPU, and the rows of rows.cu do not tell: asked
 * of one, once, by `rows questions`. Answers are lines to read; nothing is compared with them.
 *
 *   traces   arrays over streams: when each copy in, kernel and copy out began or ended
 *   copies   what copies through one or several streams take, and a few small ones
 *   cache    how long the kernel takes, by what was written, copied or read before
 *   calls    what a call costs the host, by how often it changes the stream
 *   sums     CUB's, between two events that wait for the host or do not
 *
 * The stamps are %globaltimer's, those of copies out the host's clock; all in us.
 */
#include "kernels/multiply_divide.cuh"
#include "tests/timing/stopwatch.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>
#include <cub/device/device_reduce.cuh>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

typedef unsigned long long nanoseconds;

static const size_t ARRAYS = 200, FLOATS = 1 << 20, BYTES = FLOATS * sizeof(float);
static const float ABSENT = -1, THERE = 1, DONE = 2; /* the last float of an array */

static float *host, *device; /* ARRAYS of FLOATS each */
static nanoseconds *stamps;  /* the host's: of each array 2, and what watch() saw */
static const char *queues = "8";

static __device__ nanoseconds globaltimer()
{
    nanoseconds now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

/* kernels/multiply_divide.cu's, with stamps and a mark behind the array that it has ended. */
static __global__ void stamped(float *array, size_t length, nanoseconds *stamp)
{
    if (threadIdx.x == 0) stamp[0] = globaltimer();
    work(array, length, 1.0f);
    __syncthreads();
    if (threadIdx.x > 0) return;
    array[FLOATS - 1] = DONE;
    stamp[1] = globaltimer();
}

/* When the last float of each array was copied in. */
static __global__ void watch(const volatile float *arrays, size_t count, nanoseconds *seen,
                             nanoseconds limit)
{
    const nanoseconds begin = globaltimer();
    nanoseconds now;

    if (threadIdx.x >= count) return;
    float value;
    do {
        now = globaltimer();
        value = arrays[threadIdx.x * FLOATS + FLOATS - 1];
    } while (value < 0 && now - begin < limit);
    seen[threadIdx.x] = now;
}

static __global__ void nothing() {}

static __global__ void tell_time(volatile nanoseconds *stamp)
{
    *stamp = globaltimer();
}

static __global__ void spin(nanoseconds length, long long *cycles)
{
    const nanoseconds begin = globaltimer();
    const long long first = clock64();
    nanoseconds now;
    do now = globaltimer();
    while (now - begin < length);
    if (cycles != nullptr) cycles[0] = clock64() - first, cycles[1] = (long long)(now - begin);
}

static __global__ void read_all(const float *values, size_t count, float *result)
{
    float sum = 0;
    for (size_t i = threadIdx.x + blockIdx.x * blockDim.x; i < count; i += blockDim.x * gridDim.x)
        sum += values[i];
    if (sum == 0.123f) *result = sum;
}

static nanoseconds host_now()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (nanoseconds)now.tv_sec * 1000000000u + (nanoseconds)now.tv_nsec;
}

static void make_arrays()
{
    CHECK(cudaMallocHost(&host, ARRAYS * BYTES));
    CHECK(cudaMalloc(&device, ARRAYS * BYTES));
    CHECK(cudaMallocHost(&stamps, 4 * ARRAYS * sizeof *stamps));
    for (size_t i = 0; i < ARRAYS; i++) {
        std::memset(host + i * FLOATS, 0, BYTES);
        host[(i + 1) * FLOATS - 1] = THERE;
    }
    CHECK(cudaMemset(device, 0, ARRAYS * BYTES));
}

static std::vector<cudaStream_t> make_streams(size_t count)
{
    std::vector<cudaStream_t> streams(count);
    for (cudaStream_t &s : streams) CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    return streams;
}

static void destroy(const std::vector<cudaStream_t> &streams)
{
    for (cudaStream_t s : streams) CHECK(cudaStreamDestroy(s));
}

static void in(size_t i, cudaStream_t s)
{
    CHECK(
        cudaMemcpyAsync(device + i * FLOATS, host + i * FLOATS, BYTES, cudaMemcpyHostToDevice, s));
}

static void out(size_t i, cudaStream_t s)
{
    CHECK(
        cudaMemcpyAsync(host + i * FLOATS, device + i * FLOATS, BYTES, cudaMemcpyDeviceToHost, s));
}

static void kernel(size_t i, cudaStream_t s)
{
    stamped<<<1, MULTIPLY_DIVIDE_THREADS, 0, s>>>(device + i * FLOATS, FLOATS - 64, stamps + 2 * i);
    CHECK(cudaGetLastError());
}

/* ---- traces -----------------------------------------------------------------------------------
 */

struct form {
    size_t arrays, streams;
    bool depth;
    int events; /* 0: none, 1: timed, 2: untimed */
    bool watched;
};

/* What to take from a stamp of the device to have the host's time of it. */
static double device_ahead()
{
    double best = 0, shortest = 1e18;
    volatile nanoseconds *stamp = stamps + 3 * ARRAYS;
    for (int repeat = 0; repeat < 10; repeat++) {
        *stamp = 0;
        const nanoseconds before = host_now();
        tell_time<<<1, 1>>>(stamp);
        CHECK(cudaGetLastError());
        while (*stamp == 0) continue;
        const nanoseconds after = host_now();
        if ((double)(after - before) > shortest) continue;
        shortest = (double)(after - before);
        best = (double)(long long)(*stamp - after); /* seen within a microsecond */
    }
    CHECK(cudaDeviceSynchronize());
    return best;
}

struct poller {
    std::vector<nanoseconds> seen;
    std::atomic<bool> stop{false};
    std::thread thread;
    explicit poller(size_t count) : seen(count, 0)
    {
        thread = std::thread([this] { poll(); });
    }
    void poll()
    {
        size_t left = seen.size();
        while (left > 0 && !stop) {
            for (size_t i = 0; i < seen.size(); i++) {
                if (seen[i] != 0 || ((volatile float *)host)[(i + 1) * FLOATS - 1] != DONE)
                    continue;
                seen[i] = host_now();
                left--;
            }
        }
    }
    void end()
    {
        stop = true;
        thread.join();
    }
};

struct issued {
    nanoseconds begin, copied_in, worked, ended;
};

static issued issue(const form &how, const std::vector<cudaStream_t> &streams,
                    const std::vector<cudaEvent_t> &events)
{
    issued at = {};
    const auto stream = [&](size_t i) { return streams[i % streams.size()]; };
    const auto work_on = [&](size_t i) {
        if (how.events != 0) CHECK(cudaEventRecord(events[2 * i], stream(i)));
        kernel(i, stream(i));
        if (how.events != 0) CHECK(cudaEventRecord(events[2 * i + 1], stream(i)));
    };
    at.begin = host_now();
    for (size_t i = 0; how.depth && i < how.arrays; i++) {
        in(i, stream(i));
        work_on(i);
        out(i, stream(i));
    }
    for (size_t i = 0; !how.depth && i < how.arrays; i++) in(i, stream(i));
    at.copied_in = host_now();
    for (size_t i = 0; !how.depth && i < how.arrays; i++) work_on(i);
    at.worked = host_now();
    for (size_t i = 0; !how.depth && i < how.arrays; i++) out(i, stream(i));
    at.ended = host_now();
    return at;
}

static void say_row(const char *name, const std::vector<double> &values)
{
    std::printf("%s", name);
    for (const double value : values) std::printf(" %.1f", value);
    std::printf("\n");
}

/* The arrays as before the copies, and nothing seen yet. */
static void forget(size_t arrays)
{
    const float absent = ABSENT;
    for (size_t i = 0; i < arrays; i++) {
        host[(i + 1) * FLOATS - 1] = THERE;
        CHECK(cudaMemcpy(device + (i + 1) * FLOATS - 1, &absent, sizeof absent,
                         cudaMemcpyHostToDevice));
    }
    std::memset(stamps, 0, 3 * ARRAYS * sizeof *stamps);
}

/* Since the first call: when each array was there, when and how long its kernel ran, and when it
 * was back. */
static void say_stamps(const form &how, double since, double ahead,
                       const std::vector<nanoseconds> &seen)
{
    std::vector<double> rows[4];
    for (size_t i = 0; i < how.arrays; i++) {
        rows[0].push_back(((double)(long long)stamps[2 * ARRAYS + i] - ahead - since) / 1e3);
        rows[1].push_back(((double)(long long)stamps[2 * i] - ahead - since) / 1e3);
        rows[2].push_back((double)(stamps[2 * i + 1] - stamps[2 * i]) / 1e3);
        rows[3].push_back(((double)(long long)seen[i] - since) / 1e3);
    }
    if (how.watched) say_row("in", rows[0]);
    say_row("kernel", rows[1]);
    say_row("lasts", rows[2]);
    say_row("out", rows[3]);
}

/* Since the first array's first. */
static void say_events(const std::vector<cudaEvent_t> &events)
{
    static const char *const names[] = {"first event", "second event"};
    for (size_t k = 0; k < 2; k++) {
        std::vector<double> row;
        for (size_t i = k; i < events.size(); i += 2) {
            float milliseconds = 0;
            CHECK(cudaEventElapsedTime(&milliseconds, events[0], events[i]));
            row.push_back(1e3 * (double)milliseconds);
        }
        say_row(names[k], row);
    }
}

static void trace(const form &how)
{
    static const char *const events_names[] = {"no events", "timed events", "untimed events"};
    const std::vector<cudaStream_t> streams = make_streams(how.streams);
    std::vector<cudaEvent_t> events(2 * how.arrays);
    cudaStream_t aside;
    int least, greatest;

    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(cudaStreamCreateWithPriority(&aside, cudaStreamNonBlocking, greatest));
    for (cudaEvent_t &e : events)
        CHECK(cudaEventCreateWithFlags(&e, how.events == 2 ? cudaEventDisableTiming : 0));
    forget(how.arrays);
    const double ahead = device_ahead();
    poller outs(how.arrays);
    if (how.watched)
        watch<<<1, 256, 0, aside>>>(device, how.arrays, stamps + 2 * ARRAYS, 100000000);
    usleep(200);
    const issued at = issue(how, streams, events);
    const double since = (double)at.begin;
    for (cudaStream_t s : streams) CHECK(cudaStreamSynchronize(s));
    const double total = ((double)host_now() - since) / 1e3;
    CHECK(cudaDeviceSynchronize());
    usleep(200);
    outs.end();
    std::printf(
        "## trace: %s queues, %zu arrays, %zu streams, %s, %s%s: %.1f us; issued after %.1f "
        "%.1f %.1f\n",
        queues, how.arrays, how.streams, how.depth ? "depth-first" : "breadth-first",
        events_names[how.events], how.watched ? ", watched" : "", total,
        ((double)at.copied_in - since) / 1e3, ((double)at.worked - since) / 1e3,
        ((double)at.ended - since) / 1e3);
    say_stamps(how, since, ahead, outs.seen);
    if (how.events == 1) say_events(events);
    std::fflush(stdout);
    for (cudaEvent_t e : events) CHECK(cudaEventDestroy(e));
    CHECK(cudaStreamDestroy(aside));
    destroy(streams);
}

static void ask_traces()
{
    make_arrays();
    const bool one = std::strcmp(queues, "1") == 0;
    trace({8, 8, true, 0, false}); /* loaded */
    for (const bool watched : {false, true}) {
        for (const size_t arrays : {200, 100}) {
            for (const bool depth : {false, true}) {
                trace({arrays, arrays, depth, 0, watched});
                if (!one) trace({arrays, arrays, depth, 1, watched});
                if (!watched && !one) trace({arrays, arrays, depth, 2, watched});
            }
        }
        if (one) continue;
        trace({200, 8, true, 1, watched});
        trace({200, 32, true, 1, watched});
        trace({8, 8, true, 0, watched});
        trace({8, 8, false, 0, watched});
        trace({8, 8, false, 0, watched});
        trace({32, 32, false, 1, watched});
    }
}

/* ---- copies -----------------------------------------------------------------------------------
 */

/* us from one event to the next around `body(stream)`, all of it behind a kernel that keeps the
 * device until the host has issued it. */
template <typename F> static std::vector<double> device_us(int repeats, F &&body)
{
    std::vector<double> times;
    stopwatch clock;
    for (int repeat = 0; repeat < repeats; repeat++) {
        float milliseconds = 0;
        spin<<<1, 1, 0, clock.stream>>>(300000, nullptr);
        CHECK(cudaEventRecord(clock.first, clock.stream));
        body(clock.stream);
        CHECK(cudaEventRecord(clock.last, clock.stream));
        CHECK(cudaEventSynchronize(clock.last));
        CHECK(cudaEventElapsedTime(&milliseconds, clock.first, clock.last));
        times.push_back(1e3 * (double)milliseconds);
    }
    return times;
}

/* The same where the host waits for the first event before it goes on, as rows.cu does. */
template <typename F> static std::vector<double> both_us(int repeats, F &&body)
{
    std::vector<double> times;
    stopwatch clock;
    for (int repeat = 0; repeat < repeats; repeat++) {
        clock.start();
        body(clock.stream);
        times.push_back(1e3 * clock.stop());
    }
    return times;
}

template <typename F> static void ask(const char *name, int repeats, F &&body)
{
    char row[200];
    std::snprintf(row, sizeof row, "%s | with the host:", name);
    say_row(row, both_us(repeats, body));
    std::snprintf(row, sizeof row, "%s | without:", name);
    say_row(row, device_us(repeats, body));
    std::fflush(stdout);
}

static void ask_small_copies()
{
    char name[100];
    ask("nothing", 8, [](cudaStream_t) {});
    ask("one empty kernel", 8, [](cudaStream_t s) { nothing<<<1, 1, 0, s>>>(); });
    ask("two empty kernels", 8, [](cudaStream_t s) {
        nothing<<<1, 1, 0, s>>>();
        nothing<<<1, 1, 0, s>>>();
    });
    for (const size_t size : {4, 1024, 4096, 16384, 65536, 131072, 262144, 1048576, 4194304}) {
        for (const cudaMemcpyKind kind : {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost}) {
            for (const int count : {1, 2, 8}) {
                const bool to = kind == cudaMemcpyHostToDevice;
                std::snprintf(name, sizeof name, "%d of %zu bytes %s", count, size,
                              to ? "in" : "out");
                ask(name, 4, [&](cudaStream_t s) {
                    for (int i = 0; i < count; i++) {
                        float *there = device + (size_t)i * FLOATS,
                              *here = host + (size_t)i * FLOATS;
                        CHECK(cudaMemcpyAsync(to ? there : here, to ? here : there, size, kind, s));
                    }
                });
            }
        }
    }
}

/* 96 arrays in or out or both, through so many streams, `run` after another through each. */
static void ask_many_copies(size_t count, size_t run, bool ins, bool outs)
{
    char name[100];
    const std::vector<cudaStream_t> streams = make_streams(count), others = make_streams(count);
    cudaEvent_t done;
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    std::snprintf(name, sizeof name, "%s queues, 96 arrays%s%s, %zu streams, %zu at a time", queues,
                  ins ? " in" : "", outs ? " out" : "", count, run);
    say_row(name, both_us(3, [&](cudaStream_t watch_stream) {
                for (size_t i = 0; i < 96; i++) {
                    if (ins) in(i, streams[i / run % count]);
                    if (outs) out(96 + i, others[i / run % count]);
                }
                for (size_t i = 0; i < 2 * count; i++) {
                    CHECK(cudaEventRecord(done, i < count ? streams[i] : others[i - count]));
                    CHECK(cudaStreamWaitEvent(watch_stream, done, 0));
                }
            }));
    CHECK(cudaEventDestroy(done));
    destroy(streams);
    destroy(others);
}

static void ask_copies()
{
    make_arrays();
    if (std::strcmp(queues, "8") == 0) ask_small_copies();
    for (const size_t count : {1, 2, 4, 8, 16, 32, 96}) {
        ask_many_copies(count, 1, true, false);
        ask_many_copies(count, 1, false, true);
        ask_many_copies(count, 1, true, true);
        if (count > 1 && count < 96) ask_many_copies(count, 96 / count, true, false);
        if (count > 1 && count < 96) ask_many_copies(count, 96 / count, true, true);
    }
}

/* ---- the cache --------------------------------------------------------------------------------
 */

static cudaStream_t own;

static double lasts(size_t i)
{
    return (double)(stamps[2 * i + 1] - stamps[2 * i]) / 1e3;
}

/* The kernel over arrays [from, to), one after another: us each. */
static std::vector<double> kernels(size_t from, size_t to)
{
    std::vector<double> times;
    for (size_t i = from; i < to; i++) {
        CHECK(cudaStreamSynchronize(own));
        kernel(i, own);
        CHECK(cudaStreamSynchronize(own));
        times.push_back(lasts(i));
    }
    return times;
}

enum flush { BY_SET, BY_COPIES, BY_READING, BY_COPIES_OUT, BY_COPIES_INSIDE };
static const char *const flush_names[] = {"set", "copied in", "read", "copied out",
                                          "copied inside"};

/* Goes over the last `mebibytes` MiB of the arrays, 400 at most. */
static void flush(enum flush how, size_t mebibytes)
{
    const size_t size = mebibytes << 20, first = ARRAYS * BYTES - size;
    char *to = (char *)device + first, *from = (char *)host + first;
    if (mebibytes == 0) return;
    if (how == BY_SET) CHECK(cudaMemsetAsync(to, 0, size, own));
    if (how == BY_COPIES) CHECK(cudaMemcpyAsync(to, from, size, cudaMemcpyHostToDevice, own));
    if (how == BY_COPIES_OUT) CHECK(cudaMemcpyAsync(from, to, size, cudaMemcpyDeviceToHost, own));
    if (how == BY_COPIES_INSIDE)
        CHECK(cudaMemcpyAsync(to, to - size / 2, size / 2, cudaMemcpyDeviceToDevice, own));
    if (how == BY_READING)
        read_all<<<264, 512, 0, own>>>((const float *)to, size / sizeof(float), device);
    CHECK(cudaStreamSynchronize(own));
}

static void in_now(size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) in(i, own);
    CHECK(cudaStreamSynchronize(own));
}

static void ask_alone()
{
    char name[100];
    for (int how = BY_SET; how <= BY_COPIES_INSIDE; how++) {
        for (const size_t size : {0, 4, 16, 32, 48, 64, 128, 400}) {
            if (how != BY_SET && size < 400 && size % 64 != 0) continue;
            std::vector<double> times[4];
            for (int repeat = 0; repeat < 2; repeat++) {
                const auto next = [&](int which) { times[which].push_back(kernels(0, 1)[0]); };
                kernels(0, 1);
                flush((enum flush)how, size);
                next(0);
                flush((enum flush)how, size);
                in_now(0, 1);
                next(1);
                next(2);
                in_now(0, 1);
                next(3);
            }
            static const char *const then[] = {"kernel", "copy, kernel", "again",
                                               "copy, kernel again"};
            for (int k = 0; k < 4; k++) {
                std::snprintf(name, sizeof name, "%zu MiB %s, then %s:", size, flush_names[how],
                              then[k]);
                say_row(name, times[k]);
            }
        }
    }
}

static void ask_rows()
{
    char name[100];
    for (const size_t count : {1, 2, 3, 4, 6, 8, 12, 16}) { /* which of a row of copies is there */
        for (const enum flush how : {BY_SET, BY_READING, BY_COPIES}) {
            flush(how, 400);
            in_now(0, count);
            std::snprintf(name, sizeof name,
                          "400 MiB %s, %zu arrays copied in, kernels in that order:",
                          flush_names[how], count);
            say_row(name, kernels(0, count));
            flush(how, 400);
            in_now(0, count);
            std::snprintf(name, sizeof name,
                          "400 MiB %s, %zu arrays copied in, the last's kernel:", flush_names[how],
                          count);
            say_row(name, kernels(count - 1, count));
        }
    }
    for (const bool outs : {false, true}) {
        std::vector<double> times;
        flush(BY_SET, 400);
        for (size_t i = 0; i < 24; i++) {
            in_now(i, i + 1);
            times.push_back(kernels(i, i + 1)[0]);
            if (outs) out(i, own);
        }
        say_row(outs ? "in, kernel, out, one array after another:"
                     : "in, kernel, one array after another:",
                times);
    }
}

/* `count` kernels at once, over what was used before and over what is in memory. */
static void ask_beside()
{
    char name[100];
    const std::vector<cudaStream_t> streams = make_streams(128);
    for (const size_t count : {1, 2, 4, 8, 16, 32, 64, 100, 128, 132, 200}) {
        for (const char *how : {"used before", "set 400 MiB before", "copied in before"}) {
            if (how[0] == 's') flush(BY_SET, 400);
            if (how[0] == 'c') in_now(0, count);
            for (size_t i = 0; i < count; i++) kernel(i, streams[i % 128]);
            CHECK(cudaDeviceSynchronize());
            std::vector<double> times;
            for (size_t i = 0; i < count; i++) times.push_back(lasts(i));
            std::sort(times.begin(), times.end());
            std::snprintf(name, sizeof name, "%zu kernels at once, %s: least, median, most", count,
                          how);
            say_row(name, {times.front(), times[count / 2], times.back()});
        }
    }
    destroy(streams);
}

static void ask_clock_rate()
{
    long long *cycles;
    CHECK(cudaMallocHost(&cycles, 2 * sizeof *cycles));
    for (const nanoseconds length : {1000000, 10000000}) {
        spin<<<1, 1>>>(length, cycles);
        CHECK(cudaDeviceSynchronize());
        std::printf("%lld cycles in %lld ns\n", cycles[0], cycles[1]);
    }
    CHECK(cudaFreeHost(cycles));
}

static void ask_cache()
{
    make_arrays();
    CHECK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
    ask_clock_rate();
    ask_alone();
    ask_rows();
    ask_beside();
    ask_clock_rate();
}

/* ---- calls ------------------------------------------------------------------------------------
 */

/* us of host time for each of `count` calls through so many streams, from an idle device: the best
 * and the middle of 20 times; and the device's time of all of them, from the first call on. */
template <typename F> static void ask_calls(const char *name, size_t streams, int count, F &&call)
{
    char row[200];
    const std::vector<cudaStream_t> all = make_streams(streams);
    std::vector<double> each, whole;
    for (int repeat = 0; repeat < 20; repeat++) {
        CHECK(cudaDeviceSynchronize());
        const nanoseconds begin = host_now();
        for (int i = 0; i < count; i++) call(all[(size_t)i % streams]);
        const nanoseconds issued = host_now();
        CHECK(cudaDeviceSynchronize());
        each.push_back((double)(issued - begin) / 1e3 / count);
        whole.push_back((double)(host_now() - begin) / 1e3);
    }
    std::sort(each.begin(), each.end());
    std::sort(whole.begin(), whole.end());
    std::snprintf(row, sizeof row, "%s queues, %d %s, %zu streams", queues, count, name, streams);
    std::printf("%s: each %.3f %.3f, until all have ended %.1f %.1f\n", row, each[0], each[10],
                whole[0], whole[10]);
    std::fflush(stdout);
    destroy(all);
}

static void ask_all_calls()
{
    cudaEvent_t timed, untimed;
    cudaStream_t aside;
    char *there;
    CHECK(cudaEventCreate(&timed));
    CHECK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    CHECK(cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking));
    CHECK(cudaMallocHost(&host, 1 << 20));
    CHECK(cudaMalloc(&there, 1 << 20));
    for (const size_t streams : {1, 2, 8, 16, 32, 128}) {
        const auto launch_it = [](cudaStream_t s) { nothing<<<1, 1, 0, s>>>(); };
        const auto copy_in = [&](cudaStream_t s) {
            CHECK(cudaMemcpyAsync(there, host, 4096, cudaMemcpyHostToDevice, s));
        };
        const auto copy_out = [&](cudaStream_t s) {
            CHECK(cudaMemcpyAsync(host, there, 4096, cudaMemcpyDeviceToHost, s));
        };
        for (const int count : {16, 128}) ask_calls("launches", streams, count, launch_it);
        for (const int count : {16, 128}) ask_calls("copies in", streams, count, copy_in);
        ask_calls("copies out", streams, 128, copy_out);
        ask_calls("timed records", streams, 128,
                  [&](cudaStream_t s) { CHECK(cudaEventRecord(timed, s)); });
        ask_calls("untimed records", streams, 128,
                  [&](cudaStream_t s) { CHECK(cudaEventRecord(untimed, s)); });
        ask_calls("untimed records and waits", streams, 128, [&](cudaStream_t s) {
            CHECK(cudaEventRecord(untimed, s));
            CHECK(cudaStreamWaitEvent(aside, untimed, 0));
        });
        ask_calls("copies in, launches, copies out", streams, 64, [&](cudaStream_t s) {
            copy_in(s);
            launch_it(s);
            copy_out(s);
        });
        ask_calls("launches, waited for", streams, 32, [&](cudaStream_t s) {
            launch_it(s);
            CHECK(cudaStreamSynchronize(s));
        });
        ask_calls("waits for nothing", streams, 128,
                  [](cudaStream_t s) { CHECK(cudaStreamSynchronize(s)); });
    }
}

/* ---- sums -------------------------------------------------------------------------------------
 */

template <typename T> static void ask_sum(const char *name, size_t count, int fill)
{
    T *values, *result;
    void *scratch = nullptr;
    size_t room = 0;

    CHECK(cudaMalloc(&values, count * sizeof(T)));
    CHECK(cudaMalloc(&result, sizeof(T)));
    CHECK(cudaMemset(values, fill, count * sizeof(T)));
    CHECK(cub::DeviceReduce::Sum(scratch, room, values, result, (int)count));
    CHECK(cudaMalloc(&scratch, room));
    const auto sum = [&](cudaStream_t s) {
        CHECK(cub::DeviceReduce::Sum(scratch, room, values, result, (int)count, s));
    };
    ask(name, 12, sum);
    CHECK(cudaDeviceSynchronize());
    const nanoseconds begin = host_now();
    for (int i = 0; i < 20; i++) sum(nullptr);
    const nanoseconds end = host_now();
    CHECK(cudaDeviceSynchronize());
    std::printf("%s | the host, for a call: %.2f\n", name, (double)(end - begin) / 20e3);
    CHECK(cudaFree(scratch));
    CHECK(cudaFree(result));
    CHECK(cudaFree(values));
}

static void ask_sums()
{
    for (const int fill : {0, 0x35}) {
        ask_sum<int>("sum of 2^28 int32", (size_t)1 << 28, fill);
        ask_sum<long long>("sum of 2^27 int64", (size_t)1 << 27, fill);
        ask_sum<int>("sum of 2^26 int32", (size_t)1 << 26, fill);
    }
    ask_sum<float>("sum of 2^20 float", (size_t)1 << 20, 0);
    ask_sum<float>("sum of 2^16 float", (size_t)1 << 16, 0);
    ask_clock_rate();
}

/* ---- all of them ------------------------------------------------------------------------------
 */

static void start_self(const char *what, const char *part, const char *connections)
{
    std::printf("# rows %s %s, %s queues\n", what, part, connections);
    std::fflush(stdout);
    const nanoseconds begin = host_now();
    const pid_t child = fork();
    if (child == 0) {
        setenv("CUDA_DEVICE_MAX_CONNECTIONS", connections, 1);
        execl("/proc/self/exe", "rows", what, part, (char *)nullptr);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    std::printf("# status %d, %.1f s\n", status, (double)(host_now() - begin) / 1e9);
    std::fflush(stdout);
}

int questions(const char *part)
{
    static const struct {
        const char *name;
        void (*ask)();
    } parts[] = {{"copies", ask_copies},
                 {"calls", ask_all_calls},
                 {"cache", ask_cache},
                 {"sums", ask_sums},
                 {"traces", ask_traces}};

    if (part[0] == '\0') {
        start_self("questions", "cache", "8");
        start_self("questions", "traces", "8");
        start_self("lanes", "quick", "8");
        start_self("device", "", "8");
        start_self("questions", "copies", "8");
        start_self("questions", "calls", "8");
        start_self("questions", "sums", "8");
        for (const char *connections : {"1", "32"}) {
            start_self("lanes", "quick", connections);
            start_self("questions", "traces", connections);
            start_self("questions", "calls", connections);
            start_self("questions", "copies", connections);
        }
        return 0;
    }
    if (std::getenv("CUDA_DEVICE_MAX_CONNECTIONS") != nullptr)
        queues = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
    for (const auto &one : parts) {
        if (std::strcmp(one.name, part) != 0) continue;
        one.ask();
        return 0;
    }
    return 2;
}
