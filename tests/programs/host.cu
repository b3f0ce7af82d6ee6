// Programs about the host's side: streams, events, callbacks, threads, errors, output, queries.
#undef NDEBUG // the device's assert is tried in every build type
#include "tests/programs/program.cuh"
#include "tests/temporary.h"

#include <cassert>
#include <cooperative_groups.h>
#include <fcntl.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace cg = cooperative_groups;

__global__ void scale(int *x, int n, int factor)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] = x[i] * factor + 1;
}

__global__ void busy(int *x, int rounds)
{
    int value = x[threadIdx.x];
    for (int i = 0; i < rounds; i++) value = value * 3 + i;
    x[threadIdx.x] = value;
}

// ---- order ----------------------------------------------------------------------------------

// Two streams that take turns, ordered by events alone.
static void events_between_streams()
{
    const int n = 3001, rounds = 6;
    int *x, *host;
    cudaStream_t streams[2];
    cudaEvent_t done[2];
    CHECK(cudaMallocHost(&host, n * sizeof(int)));
    CHECK(cudaMalloc(&x, n * sizeof(int)));
    for (int s = 0; s < 2; s++) {
        CHECK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&done[s], cudaEventDisableTiming));
    }
    for (int i = 0; i < n; i++) host[i] = i % 5;
    CHECK(cudaMemcpyAsync(x, host, n * sizeof(int), cudaMemcpyHostToDevice, streams[0]));
    CHECK(cudaEventRecord(done[0], streams[0]));
    for (int r = 1; r <= rounds; r++) {
        int s = r % 2;
        CHECK(cudaStreamWaitEvent(streams[s], done[1 - s], 0));
        scale<<<5, 96, 0, streams[s]>>>(x, n, r);
        CHECK(cudaEventRecord(done[s], streams[s]));
    }
    CHECK(cudaStreamWaitEvent(streams[1], done[rounds % 2], 0));
    CHECK(cudaMemcpyAsync(host, x, n * sizeof(int), cudaMemcpyDeviceToHost, streams[1]));
    CHECK(cudaStreamSynchronize(streams[1]));
    for (int i = 0; i < n; i++) {
        int wanted = i % 5;
        for (int r = 1; r <= rounds; r++) wanted = wanted * r + 1;
        EXPECT(host[i] == wanted);
    }
    for (int s = 0; s < 2; s++) {
        CHECK(cudaStreamDestroy(streams[s]));
        CHECK(cudaEventDestroy(done[s]));
    }
    CHECK(cudaFree(x));
    CHECK(cudaFreeHost(host));
}

static void event_times()
{
    int *x;
    float short_ms = -1.0f, long_ms = -1.0f;
    cudaEvent_t events[3];
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&x, 64 * sizeof(int)));
    CHECK(cudaMemset(x, 0, 64 * sizeof(int)));
    for (cudaEvent_t &event : events) CHECK(cudaEventCreate(&event));
    EXPECT_ERROR(cudaEventElapsedTime(&short_ms, events[0], events[1]),
                 cudaErrorInvalidResourceHandle);
    CHECK(cudaEventQuery(events[0]));  // an event that was never recorded is complete
    busy<<<1, 64, 0, stream>>>(x, 10); // the first launch loads the kernel
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaEventRecord(events[0], stream));
    busy<<<1, 64, 0, stream>>>(x, 20000);
    CHECK(cudaEventRecord(events[1], stream));
    busy<<<1, 64, 0, stream>>>(x, 400000);
    CHECK(cudaEventRecord(events[2], stream));
    CHECK(cudaEventSynchronize(events[2]));
    CHECK(cudaEventQuery(events[1]));
    CHECK(cudaEventElapsedTime(&short_ms, events[0], events[1]));
    CHECK(cudaEventElapsedTime(&long_ms, events[1], events[2]));
    EXPECT(short_ms > 0.0f && long_ms > 2.0f * short_ms);
    for (cudaEvent_t &event : events) CHECK(cudaEventDestroy(event));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(x));
}

struct Diary {
    std::string lines;
    const int *buffer;
    int seen;
    cudaError_t inside;
};

static void CUDART_CB note(void *data)
{
    Diary *diary = static_cast<Diary *>(data);
    diary->seen = diary->buffer[0];
    diary->lines += "function ";
    void *never;
    diary->inside = cudaMalloc(&never, 16);
}

static void CUDART_CB note_status(cudaStream_t, cudaError_t status, void *data)
{
    Diary *diary = static_cast<Diary *>(data);
    diary->lines += status == cudaSuccess ? "callback " : "failure ";
}

static void host_functions()
{
    int *x, *host;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMallocHost(&host, sizeof(int)));
    CHECK(cudaMalloc(&x, sizeof(int)));
    Diary diary = {"", host, -1, cudaSuccess};
    *host = 20;
    CHECK(cudaMemcpyAsync(x, host, sizeof(int), cudaMemcpyHostToDevice, stream));
    scale<<<1, 1, 0, stream>>>(x, 1, 2);
    CHECK(cudaMemcpyAsync(host, x, sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaLaunchHostFunc(stream, note, &diary));
    CHECK(cudaStreamAddCallback(stream, note_status, &diary, 0));
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(diary.lines == "function callback ");
    EXPECT(diary.seen == 41);
    EXPECT(diary.inside == cudaErrorNotPermitted);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(x));
    CHECK(cudaFreeHost(host));
}

// The legacy default stream waits for blocking streams, and they for it.
static void legacy_default_stream()
{
    int *x, *host;
    cudaStream_t first, second;
    CHECK(cudaStreamCreate(&first));
    CHECK(cudaStreamCreate(&second));
    CHECK(cudaMallocHost(&host, 100 * sizeof(int)));
    CHECK(cudaMalloc(&x, 100 * sizeof(int)));
    CHECK(cudaMemsetAsync(x, 0, 100 * sizeof(int), first));
    scale<<<1, 100, 0, first>>>(x, 100, 7);
    scale<<<1, 100>>>(x, 100, 10);
    scale<<<1, 100, 0, second>>>(x, 100, 3);
    CHECK(cudaMemcpyAsync(host, x, 100 * sizeof(int), cudaMemcpyDeviceToHost, cudaStreamLegacy));
    CHECK(cudaStreamSynchronize(0));
    for (int i = 0; i < 100; i++) EXPECT(host[i] == (1 * 10 + 1) * 3 + 1);
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
    CHECK(cudaFree(x));
    CHECK(cudaFreeHost(host));
}

static void stream_properties()
{
    cudaStream_t stream, plain;
    unsigned flags = 99;
    int least, greatest, priority;
    unsigned long long id, other;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    EXPECT(least >= greatest);
    CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest - 5));
    CHECK(cudaStreamCreate(&plain));
    CHECK(cudaStreamGetFlags(stream, &flags));
    CHECK(cudaStreamGetPriority(stream, &priority));
    EXPECT(flags == cudaStreamNonBlocking && priority == greatest);
    CHECK(cudaStreamGetFlags(plain, &flags));
    EXPECT(flags == cudaStreamDefault);
    CHECK(cudaStreamGetId(stream, &id));
    CHECK(cudaStreamGetId(plain, &other));
    EXPECT(id != other);
    CHECK(cudaStreamQuery(plain));
    EXPECT_ERROR(cudaStreamCreateWithFlags(&plain, 77), cudaErrorInvalidValue);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaStreamDestroy(plain));
}

// ---- host threads ---------------------------------------------------------------------------

static void work_of_thread(int number, bool *right)
{
    const int n = 2003;
    std::vector<int> host(n);
    int *x;
    cudaStream_t stream;
    for (int i = 0; i < n; i++) host[i] = i + number;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&x, n * sizeof(int)));
    CHECK(cudaMemcpyAsync(x, host.data(), n * sizeof(int), cudaMemcpyHostToDevice, stream));
    scale<<<3, 128, 0, stream>>>(x, n, number);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(host.data(), x, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    *right = true;
    for (int i = 0; i < n; i++) *right = *right && host[i] == (i + number) * number + 1;
    CHECK(cudaFree(x));
    CHECK(cudaStreamDestroy(stream));
}

static void host_threads()
{
    const int count = 6;
    std::vector<std::thread> threads;
    bool right[count] = {};
    for (int t = 0; t < count; t++) threads.emplace_back(work_of_thread, t + 1, &right[t]);
    for (std::thread &thread : threads) thread.join();
    for (bool ok : right) EXPECT(ok);
}

// An error belongs to the thread that made it.
static void errors_by_thread()
{
    cudaError_t elsewhere = cudaErrorUnknown;
    EXPECT_ERROR(cudaMalloc(static_cast<void **>(nullptr), 4), cudaErrorInvalidValue);
    std::thread([&] { elsewhere = cudaGetLastError(); }).join();
    EXPECT(elsewhere == cudaSuccess);
    EXPECT(cudaPeekAtLastError() == cudaErrorInvalidValue);
    CHECK(cudaFree(nullptr)); // success leaves the error in place
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaSuccess);
}

// ---- errors ---------------------------------------------------------------------------------

static void bad_launches()
{
    int *x;
    CHECK(cudaMalloc(&x, 64 * sizeof(int)));
    scale<<<1, 2048>>>(x, 64, 2);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    scale<<<0, 32>>>(x, 64, 2);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    scale<<<dim3(1, 70000), 32>>>(x, 64, 2);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    scale<<<1, dim3(1, 1, 65)>>>(x, 64, 2);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    scale<<<1, dim3(32, 8, 8)>>>(x, 64, 2); // each within bounds, their product is not
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    scale<<<1, 32, 1 << 20>>>(x, 64, 2);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    EXPECT_ERROR(cudaLaunchKernel(reinterpret_cast<const void *>(bad_launches), dim3(1), dim3(1),
                                  nullptr, 0, 0),
                 cudaErrorInvalidResourceHandle);
    EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
    EXPECT_ERROR(cudaMemcpy(x, x, 4, static_cast<cudaMemcpyKind>(9)),
                 cudaErrorInvalidMemcpyDirection);
    EXPECT_ERROR(cudaSetDevice(1000), cudaErrorInvalidDevice);
    CHECK(cudaMemset(x, 0, 64 * sizeof(int)));
    scale<<<1, 64>>>(x, 64, 2); // none of it has harmed the context
    CHECK(cudaDeviceSynchronize());
    EXPECT(std::strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress") == 0);
    EXPECT(std::strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") == 0);
    CHECK(cudaFree(x));
}

static void too_much_memory()
{
    void *x = nullptr;
    EXPECT_ERROR(cudaMalloc(&x, static_cast<size_t>(1) << 50), cudaErrorMemoryAllocation);
    EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
    CHECK(cudaMalloc(&x, 0));
    CHECK(cudaMalloc(&x, 1));
    CHECK(cudaFree(x));
}

__global__ void write_at(int *x, long long index)
{
    x[index] = 1;
}

// A kernel's fault is found by a later call, and stays.
static void illegal_address()
{
    int *x;
    CHECK(cudaMalloc(&x, 64 * sizeof(int)));
    write_at<<<1, 1>>>(x, 1ll << 36);
    EXPECT_ERROR(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
    EXPECT_ERROR(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    void *more;
    EXPECT_ERROR(cudaMalloc(&more, 16), cudaErrorIllegalAddress);
}

__global__ void insist(int value)
{
    assert(value < 40);
}

static void failing_assert()
{
    insist<<<1, 32>>>(39);
    CHECK(cudaDeviceSynchronize());
    insist<<<1, 32>>>(40);
    EXPECT_ERROR(cudaDeviceSynchronize(), cudaErrorAssert);
}

__global__ void stop()
{
    __trap();
}

static void trap()
{
    stop<<<1, 1>>>();
    EXPECT_ERROR(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
}

// ---- output ---------------------------------------------------------------------------------

__global__ void speak(const char *word, float f)
{
    if (threadIdx.x != 3) return;
    printf("%s %d %5.2f|%-4d|%04x|%c|%lld|%%|%e\n", word, static_cast<int>(threadIdx.x), f, -7,
           0xbeef, 'q', 1ll << 40, 12345.678);
    printf("no arguments\n");
}

static void device_printf()
{
    static const char wanted[] = "before\n"
                                 "word 3  2.50|-7  |beef|q|1099511627776|%|1.234568e+04\n"
                                 "no arguments\n"
                                 "after\n";
    char *word, seen[sizeof wanted + 100] = "";
    int file = open(temporary_file(), O_RDWR), terminal = dup(1);
    EXPECT(file >= 0 && terminal >= 0);
    CHECK(cudaMallocManaged(&word, 5));
    std::memcpy(word, "word", 5);
    std::fflush(stdout);
    dup2(file, 1);
    std::printf("before\n");
    std::fflush(stdout);
    speak<<<1, 32>>>(word, 2.5f);
    cudaError_t error = cudaDeviceSynchronize();
    std::printf("after\n");
    std::fflush(stdout);
    dup2(terminal, 1);
    CHECK(error);
    EXPECT(lseek(file, 0, SEEK_SET) == 0);
    EXPECT(read(file, seen, sizeof seen - 1) == static_cast<ssize_t>(sizeof wanted - 1));
    EXPECT(std::strcmp(seen, wanted) == 0);
    close(file);
    CHECK(cudaFree(word));
}

// ---- cooperative groups ---------------------------------------------------------------------

__global__ void sum_of_tiles(const int *in, int *out)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int value = in[block.thread_rank()];
    for (int offset = tile.size() / 2; offset > 0; offset /= 2)
        value += tile.shfl_down(value, offset);
    block.sync();
    if (tile.thread_rank() == 0) out[block.thread_rank() / 8] = value;
    if (in[block.thread_rank()] % 3 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        if (active.thread_rank() == 0) atomicAdd(&out[16], static_cast<int>(active.size()));
    }
}

__global__ void rounds_of_grid(int *x, int n, int rounds)
{
    cg::grid_group grid = cg::this_grid();
    for (int r = 0; r < rounds; r++) {
        int i = static_cast<int>(grid.thread_rank());
        int left = x[(i + n - 1) % n];
        grid.sync();
        x[i] += left;
        grid.sync();
    }
}

static void tiles_and_groups()
{
    int in[128], out[17] = {}, *device_in, *device_out, thirds = 0;
    for (int i = 0; i < 128; i++) thirds += (in[i] = i * 5 % 31) % 3 == 0;
    CHECK(cudaMalloc(&device_in, sizeof in));
    CHECK(cudaMalloc(&device_out, sizeof out));
    CHECK(cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(device_out, 0, sizeof out));
    sum_of_tiles<<<1, 128>>>(device_in, device_out);
    CHECK(cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int t = 0; t < 16; t++) {
        int sum = 0;
        for (int i = 0; i < 8; i++) sum += in[t * 8 + i];
        EXPECT(out[t] == sum);
    }
    EXPECT(out[16] == thirds);
    CHECK(cudaFree(device_in));
    CHECK(cudaFree(device_out));
}

static void whole_grid()
{
    int n = 4 * 64, rounds = 5, *x;
    unsigned host[4 * 64], before[4 * 64];
    for (int i = 0; i < n; i++) host[i] = static_cast<unsigned>(value_at(i));
    CHECK(cudaMalloc(&x, sizeof host));
    CHECK(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    void *arguments[] = {&x, &n, &rounds};
    CHECK(cudaLaunchCooperativeKernel(rounds_of_grid, dim3(4), dim3(64), arguments));
    for (int r = 0; r < rounds; r++) {
        std::memcpy(before, host, sizeof host);
        for (int i = 0; i < n; i++) host[i] += before[(i + n - 1) % n];
    }
    CHECK(cudaMemcpy(before, x, sizeof before, cudaMemcpyDeviceToHost));
    EXPECT(std::memcmp(host, before, sizeof host) == 0);
    CHECK(cudaFree(x));
}

// ---- queries --------------------------------------------------------------------------------

static void device_query()
{
    int count = 0, device = -1, value = 0, version = 0;
    cudaDeviceProp prop;
    CHECK(cudaGetDeviceCount(&count));
    CHECK(cudaGetDevice(&device));
    EXPECT(count >= 1 && device == 0);
    CHECK(cudaGetDeviceProperties(&prop, 0));
    EXPECT(prop.name[0] != '\0' && prop.major * 10 + prop.minor >= 75);
    EXPECT(prop.warpSize == 32 && prop.maxThreadsPerBlock == 1024 && prop.multiProcessorCount > 0);
    EXPECT(prop.totalGlobalMem > (64 << 20) && prop.sharedMemPerBlock >= 48 << 10);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    EXPECT(value == prop.multiProcessorCount);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxGridDimX, 0));
    EXPECT(value == 2147483647);
    CHECK(cudaRuntimeGetVersion(&version));
    EXPECT(version >= 13000 && version < 14000);
    CHECK(cudaDriverGetVersion(&value));
    EXPECT(value >= version);
    EXPECT_ERROR(cudaGetDeviceProperties(&prop, count), cudaErrorInvalidDevice);
}

__global__ void __launch_bounds__(256) bounded(int *x)
{
    __shared__ int staged[100];
    staged[threadIdx.x % 100] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = staged[(threadIdx.x + 1) % 100];
}

static void kernel_query()
{
    cudaFuncAttributes attributes;
    int blocks = 0, grid = 0, block = 0;
    const char *name = nullptr;
    CHECK(cudaFuncGetAttributes(&attributes, bounded));
    EXPECT(attributes.maxThreadsPerBlock == 256 && attributes.sharedSizeBytes == 400);
    EXPECT(attributes.ptxVersion >= 75 && attributes.numRegs > 0);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 256, 0));
    EXPECT(blocks >= 1 && blocks <= 32);
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, bounded));
    EXPECT(block >= 32 && block <= 256 && grid >= 1);
    CHECK(cudaFuncGetName(&name, reinterpret_cast<const void *>(bounded)));
    EXPECT(std::strcmp(name, "_Z7boundedPi") == 0);
}

// Everything is gone after a reset, and everything works again.
static void reset()
{
    int *x;
    for (int round = 0; round < 3; round++) {
        int host[32];
        CHECK(cudaMalloc(&x, sizeof host));
        CHECK(cudaMemset(x, 0, sizeof host));
        scale<<<1, 32>>>(x, 32, 2);
        CHECK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
        for (int value : host) EXPECT(value == 1);
        CHECK(cudaDeviceReset());
    }
}

// ---- the end ------------------------------------------------------------------------------------

__global__ void adds_up(float *sums, int n)
{
    float sum = sums[threadIdx.x];
    for (int i = 0; i < n; i++) sum = sum * 0.5f + (float)i;
    sums[threadIdx.x] = sum;
}

__global__ void takes_away(float *sums, int n)
{
    float sum = sums[threadIdx.x];
    for (int i = 0; i < n; i++) sum = sum > 3 ? sum - sqrtf(sum) : sum * 0.25f + (float)(i & 7);
    sums[threadIdx.x] = sum;
}

// The second kernel is still to run when the program ends.
static void left_at_exit()
{
    float *sums;
    CHECK(cudaMalloc(&sums, 64 * sizeof *sums));
    CHECK(cudaMemset(sums, 0, 64 * sizeof *sums));
    adds_up<<<1, 64>>>(sums, 1000);
    CHECK(cudaDeviceSynchronize());
    takes_away<<<1, 64>>>(sums, 1000);
    CHECK(cudaGetLastError());
}

int main(int argc, char **argv)
{
    static const Program programs[] = {
        {"events_between_streams", events_between_streams},
        {"event_times", event_times},
        {"host_functions", host_functions},
        {"legacy_default_stream", legacy_default_stream},
        {"stream_properties", stream_properties},
        {"host_threads", host_threads},
        {"errors_by_thread", errors_by_thread},
        {"bad_launches", bad_launches},
        {"too_much_memory", too_much_memory},
        {"illegal_address", illegal_address},
        {"failing_assert", failing_assert},
        {"trap", trap},
        {"device_printf", device_printf},
        {"tiles_and_groups", tiles_and_groups},
        {"whole_grid", whole_grid},
        {"device_query", device_query},
        {"kernel_query", kernel_query},
        {"reset", reset},
        {"left_at_exit", left_at_exit},
    };
    return run_programs(argc, argv, programs);
}
