/* What rows.cu and questions.cu share: errors end the program, a line for each row, times between
 * two events. */
#ifndef OVERLAP_TESTS_TIMING_STOPWATCH_H
#define OVERLAP_TESTS_TIMING_STOPWATCH_H

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime_api.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const int error_ = (int)(call);                                                            \
        if (error_ != 0) {                                                                         \
            std::fprintf(stderr, "%s:%d: %s: error %d\n", __FILE__, __LINE__, #call, error_);      \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

inline void say(const char *name, double value, const char *unit)
{
    std::printf("%s\t%.6g\t%s\n", name, value, unit);
    std::fflush(stdout);
}

/* Between two stamps in a stream of its own. */
struct stopwatch {
    cudaStream_t stream;
    cudaEvent_t first, last;
    stopwatch()
    {
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        CHECK(cudaEventCreate(&first));
        CHECK(cudaEventCreate(&last));
    }
    void start()
    {
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaEventRecord(first, stream));
        CHECK(cudaEventSynchronize(first));
    }
    double stop() /* ms; the host has waited for what is timed, or the stream does */
    {
        float milliseconds = 0;
        CHECK(cudaEventRecord(last, stream));
        CHECK(cudaEventSynchronize(last));
        CHECK(cudaEventElapsedTime(&milliseconds, first, last));
        return milliseconds;
    }
};

/* questions.cu: all parts ("") each in a process of its own, or one. Returns the exit status. */
int questions(const char *part);

#endif
