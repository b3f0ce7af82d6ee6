// Right: two processes share an allocation, its handle and two events sent through pipes; each
// writes what the other reads.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t e = (call);                                                                    \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define N 1000

struct Message {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t ready, done;
};

__global__ void fill(int *p, int first)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) p[i] = first + i;
}

__global__ void double_it(int *p)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) p[i] *= 2;
}

static void put(int to, const void *bytes, size_t size)
{
    if (write(to, bytes, size) != (ssize_t)size) exit(2);
}

static void get(int from, void *bytes, size_t size)
{
    if (read(from, bytes, size) != (ssize_t)size) exit(2);
}

// The other process: doubles what it finds, twice.
static int other(int from, int to)
{
    Message message;
    cudaEvent_t ready, done;
    cudaStream_t stream;
    void *opened, *again;
    char go;
    get(from, &message, sizeof message);
    CHECK(cudaIpcOpenMemHandle(&opened, message.memory, cudaIpcMemLazyEnablePeerAccess));
    CHECK(cudaIpcOpenMemHandle(&again, message.memory, cudaIpcMemLazyEnablePeerAccess));
    if (again != opened) return 3;
    CHECK(cudaIpcCloseMemHandle(again));
    CHECK(cudaIpcOpenEventHandle(&ready, message.ready));
    CHECK(cudaIpcOpenEventHandle(&done, message.done));
    CHECK(cudaStreamCreate(&stream));
    for (int round = 0; round < 2; round++) {
        get(from, &go, 1);
        CHECK(cudaStreamWaitEvent(stream, ready, 0));
        double_it<<<4, 256, 0, stream>>>(static_cast<int *>(opened));
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(done, stream));
        put(to, &go, 1);
    }
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaEventDestroy(ready));
    CHECK(cudaEventDestroy(done));
    CHECK(cudaIpcCloseMemHandle(opened));
    CHECK(cudaStreamDestroy(stream));
    return 0;
}

static int owner(int from, int to)
{
    Message message;
    cudaEvent_t ready, done;
    cudaStream_t stream;
    int *p, *host, wrong = 0;
    char go = 1;
    CHECK(cudaMalloc(&p, N * sizeof *p));
    CHECK(cudaMallocHost(&host, N * sizeof *host));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming | cudaEventInterprocess));
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming | cudaEventInterprocess));
    CHECK(cudaIpcGetMemHandle(&message.memory, p));
    CHECK(cudaIpcGetEventHandle(&message.ready, ready));
    CHECK(cudaIpcGetEventHandle(&message.done, done));
    put(to, &message, sizeof message);
    for (int round = 0; round < 2; round++) {
        fill<<<4, 256, 0, stream>>>(p, 100 * round);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(ready, stream));
        put(to, &go, 1);
        get(from, &go, 1);
        CHECK(cudaStreamWaitEvent(stream, done, 0));
        CHECK(cudaMemcpyAsync(host, p, N * sizeof *p, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
        for (int i = 0; i < N; i++) wrong += host[i] != 2 * (100 * round + i);
    }
    CHECK(cudaEventDestroy(ready));
    CHECK(cudaEventDestroy(done));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(host));
    return wrong;
}

int main()
{
    int there[2], back[2], status = 1;
    if (pipe(there) != 0 || pipe(back) != 0) return 1;
    const pid_t child = fork();
    if (child == 0) _exit(other(there[0], back[1]));
    const int wrong = owner(back[0], there[1]);
    waitpid(child, &status, 0);
    CHECK(cudaDeviceReset());
    printf("%d wrong, the other process ended with %d\n", wrong, status);
    return wrong != 0 || status != 0;
}
