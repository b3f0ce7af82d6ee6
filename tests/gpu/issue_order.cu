/* What the order of issuing costs: 200 arrays of 4 MiB, a stream each, issued breadth-first and
 * depth-first, with and without an event before and behind each kernel, against one array after the
 * other. Prints a table of milliseconds by the host's clock, all taken in this one run, so it means
 * something on a GPU only. Not a test.
 *
 *   nvcc -cudart shared -gencode arch=compute_75,code=compute_75 -I. -o issue_order \
 *       tests/gpu/issue_order.cu kernels/multiply_divide.cu
 *   ./issue_order [ARRAYS [FLOATS]]
 *
 * CUDA_DEVICE_MAX_CONNECTIONS in the environment sets the number of hardware queues.
 */
#include "kernels/multiply_divide.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
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

static double now_ms()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

struct lane {
    float *host, *device;
    cudaStream_t stream;
    cudaEvent_t begin, end; /* around the kernel, where the way to issue has events */
};

static size_t floats = 1 << 20;

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

/* The ways to issue the same work. */
enum way { SERIAL, BREADTH, DEPTH, BREADTH_EVENTS, DEPTH_EVENTS, WAYS };
static const char *const names[WAYS] = {"serial", "breadth", "depth", "breadth+ev", "depth+ev"};

static void timed_work(const lane &l)
{
    CHECK(cudaEventRecord(l.begin, l.stream));
    work(l);
    CHECK(cudaEventRecord(l.end, l.stream));
}

static double run(const std::vector<lane> &lanes, way how)
{
    void (*const middle)(const lane &) =
        how == BREADTH_EVENTS || how == DEPTH_EVENTS ? timed_work : work;
    const double begin = now_ms();
    if (how == BREADTH || how == BREADTH_EVENTS) {
        for (const lane &l : lanes) in(l);
        for (const lane &l : lanes) middle(l);
        for (const lane &l : lanes) out(l);
    } else {
        for (const lane &l : lanes) {
            in(l);
            middle(l);
            out(l);
            if (how == SERIAL) CHECK(cudaDeviceSynchronize());
        }
    }
    CHECK(cudaDeviceSynchronize());
    return now_ms() - begin;
}

int main(int argc, char **argv)
{
    const size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 200;
    if (argc > 2) floats = std::strtoul(argv[2], nullptr, 10);
    if (count == 0 || floats == 0) {
        std::fprintf(stderr, "usage: issue_order [ARRAYS [FLOATS]]\n");
        return 2;
    }
    const char *connections = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
    std::printf("%zu arrays of %zu floats, CUDA_DEVICE_MAX_CONNECTIONS %s\n", count, floats,
                connections ? connections : "not set");
    std::printf("%-18s", "ms, best of 3");
    for (const char *name : names) std::printf(" %11s", name);
    std::printf("\n");
    const struct {
        const char *name;
        unsigned stream, event;
    } kinds[] = {{"blocking", cudaStreamDefault, cudaEventDefault},
                 {"non-blocking", cudaStreamNonBlocking, cudaEventDefault},
                 {"events untimed", cudaStreamNonBlocking, cudaEventDisableTiming}};
    for (const auto &kind : kinds) {
        std::vector<lane> lanes(count);
        for (lane &l : lanes) {
            CHECK(cudaMallocHost(&l.host, floats * sizeof(float)));
            CHECK(cudaMalloc(&l.device, floats * sizeof(float)));
            CHECK(cudaStreamCreateWithFlags(&l.stream, kind.stream));
            CHECK(cudaEventCreateWithFlags(&l.begin, kind.event));
            CHECK(cudaEventCreateWithFlags(&l.end, kind.event));
            for (size_t i = 0; i < floats; i++) l.host[i] = float(i % 1000);
        }
        run(lanes, BREADTH); /* warm-up */
        std::printf("%-18s", kind.name);
        for (int how = 0; how < WAYS; how++) {
            double best = run(lanes, way(how));
            for (int repeat = 1; repeat < (how == SERIAL ? 1 : 3); repeat++) {
                const double time = run(lanes, way(how));
                if (time < best) best = time;
            }
            std::printf(" %11.3f", best);
        }
        std::printf("\n");
        for (lane &l : lanes) {
            CHECK(cudaEventDestroy(l.begin));
            CHECK(cudaEventDestroy(l.end));
            CHECK(cudaStreamDestroy(l.stream));
            CHECK(cudaFree(l.device));
            CHECK(cudaFreeHost(l.host));
        }
    }
    return 0;
}
