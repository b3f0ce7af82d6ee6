// Programs whose kernels wait, while they run, for the host, a copy or another kernel: handshakes
// through mapped, managed and device memory, persistent kernels.
#include "tests/programs/program.cuh"

#include <atomic>
#include <cuda/atomic>
#include <thread>

// ---- one flag -----------------------------------------------------------------------------------

// Each thread writes what it is given once the flag is set.
__global__ void wait_and_write(volatile int *flag, volatile int *value, int *out)
{
    if (threadIdx.x == 0)
        while (*flag == 0) {
        }
    __syncthreads();
    __threadfence_system();
    out[blockIdx.x * blockDim.x + threadIdx.x] = *value + threadIdx.x;
}

struct Flag {
    int flag;
    int value;
};

// The host sets a flag in page-locked memory after the launch.
static void host_sets_a_flag()
{
    const int blocks = 3, threads = 70;
    volatile Flag *host;
    Flag *device;
    int *out, answers[blocks * threads];
    CHECK(cudaHostAlloc((void **)&host, sizeof *host, cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer((void **)&device, (void *)host, 0));
    CHECK(cudaMalloc(&out, sizeof answers));
    host->flag = 0;
    wait_and_write<<<blocks, threads>>>(&device->flag, &device->value, out);
    CHECK(cudaGetLastError());
    EXPECT(cudaStreamQuery(0) == cudaErrorNotReady);
    host->value = 4711;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    host->flag = 1;
    CHECK(cudaMemcpy(answers, out, sizeof answers, cudaMemcpyDeviceToHost));
    for (int i = 0; i < blocks * threads; i++) EXPECT(answers[i] == 4711 + i % threads);
    CHECK(cudaFree(out));
    CHECK(cudaFreeHost((void *)host));
}

// The same from a thread, while the one that launched waits in a call.
static void another_thread_sets_a_flag()
{
    const int threads = 32;
    volatile Flag *host;
    int *out, answers[threads];
    CHECK(cudaMallocHost((void **)&host, sizeof *host));
    CHECK(cudaMalloc(&out, sizeof answers));
    host->flag = 0;
    wait_and_write<<<1, threads>>>((int *)&host->flag, (int *)&host->value, out);
    std::thread setter([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        host->value = -3;
        std::atomic_thread_fence(std::memory_order_seq_cst);
        host->flag = 1;
    });
    CHECK(cudaDeviceSynchronize());
    setter.join();
    CHECK(cudaMemcpy(answers, out, sizeof answers, cudaMemcpyDeviceToHost));
    for (int i = 0; i < threads; i++) EXPECT(answers[i] == i - 3);
    CHECK(cudaFree(out));
    CHECK(cudaFreeHost((void *)host));
}

// A copy in another stream brings the flag; a host function sets one; a memset does.
static void another_stream_sets_a_flag()
{
    const int threads = 64;
    Flag *flag, *wanted;
    int *out, answers[threads];
    cudaStream_t waiting, working;
    CHECK(cudaStreamCreateWithFlags(&waiting, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&working, cudaStreamNonBlocking));
    CHECK(cudaMallocHost(&wanted, sizeof *wanted));
    CHECK(cudaMalloc(&flag, sizeof *flag));
    CHECK(cudaMalloc(&out, sizeof answers));
    CHECK(cudaMemset(flag, 0, sizeof *flag));
    CHECK(cudaDeviceSynchronize());
    wait_and_write<<<1, threads, 0, waiting>>>(&flag->flag, &flag->value, out);
    *wanted = {1, 100};
    CHECK(cudaMemcpyAsync(&flag->value, &wanted->value, sizeof(int), cudaMemcpyHostToDevice,
                          working));
    CHECK(
        cudaMemcpyAsync(&flag->flag, &wanted->flag, sizeof(int), cudaMemcpyHostToDevice, working));
    CHECK(cudaStreamSynchronize(waiting));
    CHECK(cudaMemcpy(answers, out, sizeof answers, cudaMemcpyDeviceToHost));
    for (int i = 0; i < threads; i++) EXPECT(answers[i] == 100 + i);

    wanted->flag = 0;
    wait_and_write<<<1, threads, 0, waiting>>>(&wanted->flag, &wanted->value, out);
    CHECK(cudaLaunchHostFunc(
        working,
        [](void *argument) {
            volatile Flag *flag = static_cast<Flag *>(argument);
            flag->value = 7;
            std::atomic_thread_fence(std::memory_order_seq_cst);
            flag->flag = 1;
        },
        wanted));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(answers, out, sizeof answers, cudaMemcpyDeviceToHost));
    for (int i = 0; i < threads; i++) EXPECT(answers[i] == 7 + i);

    CHECK(cudaMemset(flag, 0, sizeof *flag));
    CHECK(cudaDeviceSynchronize());
    wait_and_write<<<2, 32, 0, waiting>>>(&flag->flag, &flag->value, out);
    CHECK(cudaMemsetAsync(&flag->flag, 1, sizeof(int), working));
    CHECK(cudaStreamSynchronize(waiting));
    CHECK(cudaMemcpy(answers, out, sizeof answers, cudaMemcpyDeviceToHost));
    for (int i = 0; i < threads; i++) EXPECT(answers[i] == i % 32);
    CHECK(cudaStreamDestroy(waiting));
    CHECK(cudaStreamDestroy(working));
    CHECK(cudaFree(flag));
    CHECK(cudaFree(out));
    CHECK(cudaFreeHost(wanted));
}

// ---- handshakes ---------------------------------------------------------------------------------

struct Court {
    int ball; // even: the host's turn, odd: the kernel's
    int sum;
};

__global__ void plays(volatile Court *court, int rounds)
{
    for (int r = 0; r < rounds; r++) {
        while (court->ball != 2 * r + 1) {
        }
        court->sum = court->sum * 3 + r;
        __threadfence_system();
        court->ball = 2 * r + 2;
    }
}

static void ping_pong_through_volatile()
{
    const int rounds = 100;
    volatile Court *court;
    unsigned wanted = 1;
    CHECK(cudaMallocHost((void **)&court, sizeof *court));
    court->ball = 0;
    court->sum = 1;
    plays<<<1, 1>>>((Court *)court, rounds);
    CHECK(cudaGetLastError());
    for (int r = 0; r < rounds; r++) {
        while (court->ball != 2 * r) {
        }
        std::atomic_thread_fence(std::memory_order_seq_cst);
        EXPECT(court->sum == static_cast<int>(wanted));
        court->sum = static_cast<int>(wanted + 1);
        wanted = (wanted + 1) * 3 + r;
        std::atomic_thread_fence(std::memory_order_seq_cst);
        court->ball = 2 * r + 1;
    }
    CHECK(cudaDeviceSynchronize());
    EXPECT(court->ball == 2 * rounds && court->sum == static_cast<int>(wanted));
    CHECK(cudaFreeHost((void *)court));
}

__global__ void plays_by_atomics(Court *court, int rounds)
{
    cuda::atomic_ref<int, cuda::thread_scope_system> ball(court->ball);
    for (int r = 0; r < rounds; r++) {
        while (ball.load(cuda::std::memory_order_acquire) != 2 * r + 1) {
        }
        court->sum = court->sum * 5 - r;
        ball.store(2 * r + 2, cuda::std::memory_order_release);
    }
}

static void ping_pong_through_atomic_ref()
{
    const int rounds = 100;
    Court *court;
    unsigned wanted = 1;
    CHECK(cudaMallocManaged(&court, sizeof *court));
    *court = {0, 1};
    cuda::atomic_ref<int, cuda::thread_scope_system> ball(court->ball);
    plays_by_atomics<<<1, 1>>>(court, rounds);
    CHECK(cudaGetLastError());
    for (int r = 0; r < rounds; r++) {
        while (ball.load(cuda::std::memory_order_acquire) != 2 * r) {
        }
        EXPECT(court->sum == static_cast<int>(wanted));
        wanted = wanted * 5 - r;
        ball.store(2 * r + 1, cuda::std::memory_order_release);
    }
    CHECK(cudaDeviceSynchronize());
    EXPECT(court->sum == static_cast<int>(wanted));
    CHECK(cudaFree(court));
}

// Two kernels in two streams, each waiting for what the other writes.
__global__ void passes(volatile int *mine, volatile int *other, int rounds, int start)
{
    for (int r = 1; r <= rounds; r++) {
        if (start || r > 1)
            while (*other < r - (start ? 0 : 1)) {
            }
        __threadfence();
        *mine = r;
    }
}

static void two_kernels_take_turns()
{
    const int rounds = 30;
    int *turns, last[2];
    cudaStream_t streams[2];
    CHECK(cudaMalloc(&turns, 2 * sizeof(int)));
    CHECK(cudaMemset(turns, 0, 2 * sizeof(int)));
    CHECK(cudaDeviceSynchronize());
    for (cudaStream_t &stream : streams)
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    passes<<<1, 1, 0, streams[0]>>>(&turns[0], &turns[1], rounds, 1);
    passes<<<1, 1, 0, streams[1]>>>(&turns[1], &turns[0], rounds, 0);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(last, turns, sizeof last, cudaMemcpyDeviceToHost));
    EXPECT(last[0] == rounds && last[1] == rounds);
    for (cudaStream_t stream : streams) CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(turns));
}

// ---- a persistent kernel ------------------------------------------------------------------------

enum { SLOTS = 4, WIDTH = 64 };

struct Queue {
    int put;  // items that the host has put in
    int done; // items that the kernel has finished
    int quit;
    int items[SLOTS];
    int answers[SLOTS];
};

__global__ void serves(volatile Queue *queue, int *work)
{
    __shared__ int item, quits;
    for (int next = 0;; next++) {
        if (threadIdx.x == 0) {
            while (queue->put == next && !queue->quit) {
            }
            quits = queue->put == next;
            if (!quits) item = queue->items[next % SLOTS];
        }
        __syncthreads();
        if (quits) return;
        work[threadIdx.x] = item * static_cast<int>(threadIdx.x);
        __syncthreads();
        if (threadIdx.x == 0) {
            int sum = 0;
            for (int i = 0; i < WIDTH; i++) sum += work[i];
            queue->answers[next % SLOTS] = sum;
            __threadfence_system();
            queue->done = next + 1;
        }
    }
}

static void a_persistent_kernel_is_fed()
{
    const int items = 60;
    volatile Queue *queue;
    int *work;
    cudaStream_t stream, other;
    cudaEvent_t event;
    CHECK(cudaMallocHost((void **)&queue, sizeof *queue));
    CHECK(cudaMalloc(&work, WIDTH * sizeof(int)));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&event));
    queue->put = queue->done = queue->quit = 0;
    serves<<<1, WIDTH, 0, stream>>>((Queue *)queue, work);
    CHECK(cudaGetLastError());
    for (int i = 0; i < items; i++) {
        while (queue->put - queue->done == SLOTS) {
        }
        queue->items[i % SLOTS] = i + 1;
        std::atomic_thread_fence(std::memory_order_seq_cst);
        queue->put = i + 1;
        // Other calls go on beside it.
        if (i % 20 == 7) {
            CHECK(cudaEventRecord(event, other));
            CHECK(cudaEventSynchronize(event));
            EXPECT(cudaStreamQuery(stream) == cudaErrorNotReady);
        }
        while (queue->done <= i) {
        }
        std::atomic_thread_fence(std::memory_order_seq_cst);
        EXPECT(queue->answers[i % SLOTS] == (i + 1) * WIDTH * (WIDTH - 1) / 2);
    }
    queue->quit = 1;
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaStreamDestroy(other));
    CHECK(cudaEventDestroy(event));
    CHECK(cudaFree(work));
    CHECK(cudaFreeHost((void *)queue));
}

// Memory that has nothing to do with the kernel comes and goes while it waits.
static void allocations_while_a_kernel_waits()
{
    volatile Flag *host;
    int *out, *other, answers[32];
    CHECK(cudaMallocHost((void **)&host, sizeof *host));
    CHECK(cudaMalloc(&out, sizeof answers));
    cudaStream_t stream, beside;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking));
    host->flag = 0;
    wait_and_write<<<1, 32, 0, stream>>>((int *)&host->flag, (int *)&host->value, out);
    for (int i = 0; i < 3; i++) {
        CHECK(cudaMallocAsync(&other, 4096, beside));
        CHECK(cudaMemsetAsync(other, i, 4096, beside));
        CHECK(cudaFreeAsync(other, beside));
        CHECK(cudaStreamSynchronize(beside));
    }
    host->value = 9;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    host->flag = 1;
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(answers, out, sizeof answers, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) EXPECT(answers[i] == 9 + i);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaStreamDestroy(beside));
    CHECK(cudaFree(out));
    CHECK(cudaFreeHost((void *)host));
}

static const Program programs[] = {
    {"host_sets_a_flag", host_sets_a_flag},
    {"another_thread_sets_a_flag", another_thread_sets_a_flag},
    {"another_stream_sets_a_flag", another_stream_sets_a_flag},
    {"ping_pong_through_volatile", ping_pong_through_volatile},
    {"ping_pong_through_atomic_ref", ping_pong_through_atomic_ref},
    {"two_kernels_take_turns", two_kernels_take_turns},
    {"a_persistent_kernel_is_fed", a_persistent_kernel_is_fed},
    {"allocations_while_a_kernel_waits", allocations_while_a_kernel_waits},
};

int main(int argc, char **argv)
{
    return run_programs(argc, argv, programs);
}
