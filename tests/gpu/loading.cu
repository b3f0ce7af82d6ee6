// Programs by a number, in which kernels wait for flags while others are loaded by their first use:
// which of them end? Flags are set by kernels, memsets, copies and the host, in any order, and
// never behind the kernel that waits, so that each program ends if all its kernels are loaded
// before. loading.txt has what an H200 said; the software device has to find "kernel loaded too
// late" in those that do not end there, and in no other (loading_test.sh).
//
//     nvcc -std=c++17 -arch=sm_90 -o loading tests/gpu/loading.cu
//     for k in $(seq 200); do timeout 3 ./loading $k && echo $k ends || echo $k hangs; done
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t error = (call);                                                          \
        if (error != cudaSuccess) {                                                                \
            printf("%s: %s\n", #call, cudaGetErrorName(error));                                    \
            exit(3);                                                                               \
        }                                                                                          \
    } while (0)

template <int> __global__ void waits(volatile int *flag)
{
    while (*flag == 0) {
    }
}
template <int> __global__ void tells(int *flag)
{
    atomicExch(flag, 1);
}
template <int> __global__ void touches(int *word)
{
    atomicAdd(word, 1);
}

typedef void (*Kernel)(int *);
typedef void (*Waiter)(volatile int *);

enum { FLAGS = 4, KERNELS = 6, STREAMS = 3, STEPS = 12 };

static const Waiter waiters[FLAGS] = {waits<0>, waits<1>, waits<2>, waits<3>};
static const Kernel tellers[KERNELS] = {tells<0>, tells<1>, tells<2>, tells<3>, tells<4>, tells<5>};
static const Kernel others[KERNELS] = {touches<0>, touches<1>, touches<2>,
                                       touches<3>, touches<4>, touches<5>};

static cudaStream_t of_waiter[FLAGS], of_others[STREAMS];
static int *on_device, *on_host, *word, *ones;
static bool is_waited_for[FLAGS], is_told[FLAGS];
static uint64_t state;

static unsigned below(unsigned bound)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % bound;
}

// The last of the flags is in page-locked memory.
static int *flag_at(unsigned f)
{
    return f == FLAGS - 1 ? on_host : on_device + f;
}

static void note(const char *what, unsigned k)
{
    if (getenv("STEPS") != NULL) fprintf(stderr, "%s %u\n", what, k);
}

static void load(Kernel kernel)
{
    cudaFuncAttributes attributes;
    int blocks;
    if (below(2) == 0)
        CHECK(cudaFuncGetAttributes(&attributes, kernel));
    else
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32, 0));
}

static void launch(const char *what, Kernel kernel, unsigned k, int *argument, cudaStream_t stream)
{
    note(what, k);
    kernel<<<1, 1, 0, stream>>>(argument);
    CHECK(cudaGetLastError());
}

static void wait_for(unsigned f)
{
    if (is_waited_for[f]) return;
    is_waited_for[f] = true;
    note("wait for flag", f);
    waiters[f]<<<1, 1, 0, of_waiter[f]>>>(flag_at(f));
    CHECK(cudaGetLastError());
}

static void tell(unsigned f)
{
    const cudaStream_t stream = of_others[below(STREAMS)];
    const unsigned k = below(KERNELS), how = below(4);
    if (is_told[f]) return;
    is_told[f] = true;
    note("tell flag", f);
    if (f == FLAGS - 1 && how < 3) {
        note("  by the host", f);
        *(volatile int *)on_host = 1;
    } else if (how == 0) {
        note("  by a memset", f);
        CHECK(cudaMemsetAsync(flag_at(f), 1, sizeof(int), stream));
    } else if (how == 1) {
        note("  by a copy", f);
        CHECK(cudaMemcpyAsync(flag_at(f), ones, sizeof(int), cudaMemcpyDefault, stream));
    } else {
        launch("  by teller", tellers[k], k, flag_at(f), stream);
    }
}

static void step()
{
    const unsigned k = below(KERNELS), f = below(FLAGS);
    switch (below(10)) {
    case 0:
        note("load teller", k), load(tellers[k]);
        break;
    case 1:
        note("load other", k), load(others[k]);
        break;
    case 2:
    case 3:
        launch("launch other", others[k], k, word, of_others[below(STREAMS)]);
        break;
    case 4:
        launch("behind waiter, other", others[k], k, word, of_waiter[f]);
        break;
    case 5:
    case 6:
    case 7:
        wait_for(f);
        break;
    default:
        tell(f);
        break;
    }
}

int main(int count, char **arguments)
{
    state = count > 1 ? strtoull(arguments[1], NULL, 10) * 1000003 : 1;
    for (cudaStream_t &stream : of_waiter)
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (cudaStream_t &stream : of_others)
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&on_device, FLAGS * sizeof *on_device));
    CHECK(cudaMalloc(&word, sizeof *word));
    CHECK(cudaMallocHost(&on_host, sizeof *on_host));
    CHECK(cudaMallocHost(&ones, sizeof *ones));
    CHECK(cudaMemset(on_device, 0, FLAGS * sizeof *on_device));
    CHECK(cudaMemset(word, 0, sizeof *word));
    *on_host = 0;
    *ones = 1;
    CHECK(cudaDeviceSynchronize());
    for (unsigned k = below(KERNELS); k > 0; k--) load(tellers[below(KERNELS)]);
    for (unsigned k = below(KERNELS); k > 0; k--) load(others[below(KERNELS)]);
    for (unsigned k = 0; k < STEPS; k++) step();
    for (unsigned f = 0; f < FLAGS; f++)
        if (is_waited_for[f]) tell(f);
    CHECK(cudaDeviceSynchronize());
    for (cudaStream_t stream : of_waiter) CHECK(cudaStreamDestroy(stream));
    for (cudaStream_t stream : of_others) CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(on_device));
    CHECK(cudaFree(word));
    CHECK(cudaFreeHost(on_host));
    CHECK(cudaFreeHost(ones));
}
