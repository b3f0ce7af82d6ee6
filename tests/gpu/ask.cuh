// For programs that ask a GPU call after call. A SECTION runs in a process of its own, so that what
// one breaks the next one does not notice; each line begins with its name. A and D print a call of
// the runtime and of the driver as it stands, and its answer; the runtime's last error as well,
// where it is another. Q is a call that has to succeed. V prints a value.
#pragma once
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

static const char *section = "";

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    printf("%s| ", section);
    vprintf(format, list);
    printf("\n");
    fflush(stdout);
    va_end(list);
}

static const char *name_of(CUresult code)
{
    const char *name = "no name";
    cuGetErrorName(code, &name);
    return name;
}

static void answer(const char *what, cudaError_t error)
{
    const cudaError_t last = cudaGetLastError();
    if (last == error)
        say("%s: %s", what, cudaGetErrorName(error));
    else
        say("%s: %s (last %s)", what, cudaGetErrorName(error), cudaGetErrorName(last));
}

#define A(call) answer(#call, (call))
#define AL(label, call) answer(label, (call))
#define D(call) say("%s: %s", #call, name_of(call))
#define DL(label, call) say("%s: %s", label, name_of(call))
#define VL(label, value) say("%s = %lld", label, (long long)(value))
#define V(value) say(#value " = %lld", (long long)(value))
#define Q(call)                                                                                    \
    do {                                                                                           \
        const int failed = (int)(call);                                                            \
        if (failed) say("UNEXPECTED %s: %d", #call, failed);                                       \
    } while (0)

struct Section {
    const char *name;
    void (*run)();
};

static std::vector<Section> &sections()
{
    static std::vector<Section> all;
    return all;
}

struct Registered {
    Registered(const char *name, void (*run)())
    {
        sections().push_back({name, run});
    }
};

#define SECTION(name)                                                                              \
    static void ask_##name();                                                                      \
    static const Registered registered_##name(#name, ask_##name);                                  \
    static void ask_##name()

// In a child of this process, as it is now.
static inline void in_child(const char *name, void (*run)())
{
    int status = 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(8);
        section = name;
        run();
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) say("ENDED BY SIGNAL %d", WTERMSIG(status));
}

int main()
{
    for (const Section &each : sections()) in_child(each.name, each.run);
}
