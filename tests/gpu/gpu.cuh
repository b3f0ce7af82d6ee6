// What programs share that ask a GPU.
#pragma once
#include <cstdio>
#include <cstdlib>
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
