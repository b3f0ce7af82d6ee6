// What every test program is made of: a table of small CUDA programs of the kind that students
// write, each of which checks its own answer against the host. They know nothing of the software
// device, and must pass on a real GPU as well.
//
//     programs_memory vector_add        runs one of them: exit 0 passed, 1 with a line that says
//     why programs_memory                   lists their names: each is to have a process of its own
#ifndef OVERLAP_TESTS_PROGRAM_CUH
#define OVERLAP_TESTS_PROGRAM_CUH

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

// Stops the program when a CUDA call fails.
#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            std::fprintf(stderr, "%s:%d: %s gives %s (%s)\n", __FILE__, __LINE__, #call,           \
                         cudaGetErrorName(error_), cudaGetErrorString(error_));                    \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

// Stops the program when a condition does not hold.
#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);           \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

// Stops the program when a call gives another error than it should.
#define EXPECT_ERROR(call, wanted)                                                                 \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != (wanted)) {                                                                  \
            std::fprintf(stderr, "%s:%d: %s gives %s instead of %s\n", __FILE__, __LINE__, #call,  \
                         cudaGetErrorName(error_), #wanted);                                       \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

struct Program {
    const char *name;
    void (*run)();
};

template <size_t count> int run_programs(int argc, char **argv, const Program (&programs)[count])
{
    for (const Program &program : programs) {
        if (argc < 2) std::puts(program.name);
        if (argc < 2 || std::strcmp(argv[1], program.name) != 0) continue;
        program.run();
        return 0;
    }
    if (argc > 1) std::fprintf(stderr, "%s: no program is called %s\n", argv[0], argv[1]);
    return argc > 1 ? 2 : 0;
}

// A number that differs from index to index, small enough to be exact in a float.
__host__ __device__ inline int value_at(int i)
{
    return static_cast<int>((static_cast<unsigned>(i) * 2654435761u) >> 20) - 2048;
}

#endif
