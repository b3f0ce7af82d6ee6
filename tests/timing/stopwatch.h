/* Shared by rows.cu and questions.cu: a failed call ends the program, each row prints a line, times
 * are taken between two events. */
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

/* Measures the time between two events in a stream of its own. */
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
    double stop() /* ms; the host, or the stream, must have waited for the timed work */
    {
        float milliseconds = 0;
        CHECK(cudaEventRecord(last, stream));
        CHECK(cudaEventSynchronize(last));
        CHECK(cudaEventElapsedTime(&milliseconds, first, last));
        return milliseconds;
    }
};

/* Runs all parts ("") in a process each, or one part. Returns the exit status. */
int questions(const char *part);

#endif
