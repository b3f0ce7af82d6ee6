// Right: the program handles its own faults, as garbage collectors and interpreters do, while work
// is pending: it opens a page that it has closed, and jumps out of a fault.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <sys/mman.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t e = (call);                                                                    \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

constexpr int N = 1024;
constexpr size_t PAGE = 4096;

static char *page;
static sigjmp_buf back;

static void on_fault(int, siginfo_t *info, void *)
{
    if (info->si_addr == page)
        mprotect(page, PAGE, PROT_READ | PROT_WRITE);
    else
        siglongjmp(back, 1);
}

__global__ void fill(int *out, int value)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < N) out[i] = value + i;
}

int main()
{
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, nullptr);
    page = (char *)mmap(nullptr, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return 2;

    int *device, *host, faults = 0;
    CHECK(cudaMalloc(&device, N * sizeof *device));
    CHECK(cudaMallocHost(&host, N * sizeof *host));
    for (int round = 0; round < 3; round++) {
        fill<<<N / 256, 256>>>(device, 10 * round);
        CHECK(cudaMemcpyAsync(host, device, N * sizeof *host, cudaMemcpyDeviceToHost));
        mprotect(page, PAGE, PROT_NONE);
        *(volatile char *)page = 1;
        if (sigsetjmp(back, 1) == 0)
            *(volatile char *)8 = 1;
        else
            faults++;
        CHECK(cudaDeviceSynchronize());
        for (int i = 0; i < N; i++)
            if (host[i] != 10 * round + i) return 1;
    }
    if (faults != 3) return 1;
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(device));
    return 0;
}
