// What programs share that ask a GPU.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t e = (call);                                                                    \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s, line %d: %s\n", #call, __LINE__, cudaGetErrorName(e));            \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define NEED(call)                                                                                 \
    do {                                                                                           \
        CUresult e = (call);                                                                       \
        if (e != CUDA_SUCCESS) {                                                                   \
            fprintf(stderr, "%s, line %d: error %d\n", #call, __LINE__, (int)e);                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

// A case and its answer.
inline void say(const char *name, cudaError_t error)
{
    printf("%s: %s\n", name, cudaGetErrorName(error));
    cudaGetLastError();
}

inline void say(const char *name, CUresult code)
{
    const char *text = "no name";
    cuGetErrorName(code, &text);
    printf("%s: %s\n", name, text);
}

// The program once more, with one argument: after some mistakes a process has no device.
inline void in_process(char *self, const char *name)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", self, name, (char *)NULL);
        _exit(127);
    }
    waitpid(child, NULL, 0);
}
