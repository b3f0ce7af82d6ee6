// Programs in the manner of NVIDIA's samples: what one finds in a course's second week.
#include "tests/programs/program.cuh"

#include <thread>
#include <vector>

// ---- tiles and shared memory

template <typename T, int tile, int rows>
__global__ void transpose_tiled(T *out, const T *in, int width, int height)
{
    __shared__ T part[tile][tile + 1]; // one column more: no two threads of a warp in one bank
    int x = blockIdx.x * tile + threadIdx.x, y = blockIdx.y * tile + threadIdx.y;
    for (int i = 0; i < tile; i += rows)
        if (x < width && y + i < height)
            part[threadIdx.y + i][threadIdx.x] = in[(y + i) * width + x];
    __syncthreads();
    x = blockIdx.y * tile + threadIdx.x;
    y = blockIdx.x * tile + threadIdx.y;
    for (int i = 0; i < tile; i += rows)
        if (x < height && y + i < width)
            out[(y + i) * height + x] = part[threadIdx.x][threadIdx.y + i];
}

template <typename T> static void transpose_of(int width, int height)
{
    const int tile = 32, rows = 8;
    const size_t bytes = static_cast<size_t>(width) * height * sizeof(T);
    std::vector<T> in(width * height), out(width * height);
    for (size_t i = 0; i < in.size(); i++) in[i] = static_cast<T>(value_at(static_cast<int>(i)));
    T *from, *to;
    CHECK(cudaMalloc(&from, bytes));
    CHECK(cudaMalloc(&to, bytes));
    CHECK(cudaMemcpy(from, in.data(), bytes, cudaMemcpyHostToDevice));
    dim3 grid((width + tile - 1) / tile, (height + tile - 1) / tile), block(tile, rows);
    transpose_tiled<T, tile, rows><<<grid, block>>>(to, from, width, height);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out.data(), to, bytes, cudaMemcpyDeviceToHost));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) EXPECT(out[x * height + y] == in[y * width + x]);
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
}

static void transpose()
{
    transpose_of<float>(96, 64);
    transpose_of<double>(77, 51);
    transpose_of<char>(33, 130);
    transpose_of<short>(1, 40);
}

// ---- reductions, one template for every type and size

template <typename T, unsigned size> __global__ void reduce(const T *in, T *out, unsigned n)
{
    extern __shared__ unsigned char raw[];
    T *part = reinterpret_cast<T *>(raw);
    T sum = 0;
    for (unsigned i = blockIdx.x * size * 2 + threadIdx.x; i < n; i += gridDim.x * size * 2) {
        sum += in[i];
        if (i + size < n) sum += in[i + size];
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned s = size / 2; s >= 32; s /= 2) {
        if (threadIdx.x < s) part[threadIdx.x] = sum = sum + part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x < 32)
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

template <typename T, unsigned size> static void reduction_of(unsigned n)
{
    const unsigned blocks = 6;
    std::vector<T> in(n), partial(blocks);
    T expected = 0, sum = 0, *device, *sums;
    for (unsigned i = 0; i < n; i++) expected += in[i] = static_cast<T>(value_at(i));
    CHECK(cudaMalloc(&device, n * sizeof(T)));
    CHECK(cudaMalloc(&sums, blocks * sizeof(T)));
    CHECK(cudaMemcpy(device, in.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    reduce<T, size><<<blocks, size, size * sizeof(T)>>>(device, sums, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(partial.data(), sums, blocks * sizeof(T), cudaMemcpyDeviceToHost));
    for (T part : partial) sum += part;
    EXPECT(sum == expected); // small whole numbers: exact in any order
    CHECK(cudaFree(device));
    CHECK(cudaFree(sums));
}

static void reductions()
{
    reduction_of<int, 64>(10007);
    reduction_of<int, 256>(1);
    reduction_of<float, 128>(5000);
    reduction_of<double, 512>(9999);
    reduction_of<long long, 1024>(4096);
}

// ---- scans

// Blelloch's scan of 2 * blockDim.x elements in shared memory; the block's total goes to `totals`.
__global__ void scan_blocks(int *data, int *totals, int n)
{
    extern __shared__ int tree[];
    const int t = threadIdx.x, width = 2 * blockDim.x, base = blockIdx.x * width;
    for (int i = t; i < width; i += blockDim.x) tree[i] = base + i < n ? data[base + i] : 0;
    int offset = 1;
    for (int d = width / 2; d > 0; d /= 2, offset *= 2) {
        __syncthreads();
        if (t < d) tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
    }
    __syncthreads();
    if (t == 0) {
        totals[blockIdx.x] = tree[width - 1];
        tree[width - 1] = 0;
    }
    for (int d = 1; d < width; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < d) {
            int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1,
                kept = tree[left];
            tree[left] = tree[right];
            tree[right] += kept;
        }
    }
    __syncthreads();
    for (int i = t; i < width; i += blockDim.x)
        if (base + i < n) data[base + i] = tree[i];
}

__global__ void add_totals(int *data, const int *totals, int width, int n)
{
    int i = blockIdx.x * width + threadIdx.x;
    for (int end = (blockIdx.x + 1) * width; i < end && i < n; i += blockDim.x)
        data[i] += totals[blockIdx.x];
}

static void scan_on_device(int *data, int n)
{
    const int threads = 64, width = 2 * threads, blocks = (n + width - 1) / width;
    int *totals;
    CHECK(cudaMalloc(&totals, blocks * sizeof(int)));
    scan_blocks<<<blocks, threads, width * sizeof(int)>>>(data, totals, n);
    CHECK(cudaGetLastError());
    if (blocks > 1) {
        scan_on_device(totals, blocks);
        add_totals<<<blocks, threads>>>(data, totals, width, n);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaDeviceSynchronize()); // cudaFree may wait for the kernels, or may not
    CHECK(cudaFree(totals));
}

static void scan_by_blocks()
{
    for (int n : {1, 128, 129, 20011}) {
        std::vector<int> in(n), out(n);
        int *device;
        for (int i = 0; i < n; i++) in[i] = value_at(i);
        CHECK(cudaMalloc(&device, n * sizeof(int)));
        CHECK(cudaMemcpy(device, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
        scan_on_device(device, n);
        CHECK(cudaMemcpy(out.data(), device, n * sizeof(int), cudaMemcpyDeviceToHost));
        for (int i = 0, sum = 0; i < n; sum += in[i++]) EXPECT(out[i] == sum);
        CHECK(cudaFree(device));
    }
}

// A scan in registers: each warp by shuffles, the warps' sums by the first warp.
__global__ void shuffle_scan(const unsigned *in, unsigned *out)
{
    __shared__ unsigned sums[32];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned value = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (unsigned d = 1; d < 32; d *= 2) {
        unsigned other = __shfl_up_sync(0xffffffffu, value, d);
        if (lane >= d) value += other;
    }
    if (lane == 31) sums[warp] = value;
    __syncthreads();
    if (warp == 0) {
        unsigned sum = lane < blockDim.x / 32 ? sums[lane] : 0;
        for (unsigned d = 1; d < 32; d *= 2) {
            unsigned other = __shfl_up_sync(0xffffffffu, sum, d);
            if (lane >= d) sum += other;
        }
        sums[lane] = sum;
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = value + (warp > 0 ? sums[warp - 1] : 0);
}

static void scan_by_shuffles()
{
    const unsigned block = 256, n = 4 * block;
    unsigned in[n], out[n], *device;
    for (unsigned i = 0; i < n; i++) in[i] = i * i % 100;
    CHECK(cudaMalloc(&device, 2 * sizeof in));
    CHECK(cudaMemcpy(device, in, sizeof in, cudaMemcpyHostToDevice));
    shuffle_scan<<<n / block, block>>>(device, device + n);
    CHECK(cudaMemcpy(out, device + n, sizeof out, cudaMemcpyDeviceToHost));
    for (unsigned i = 0, sum = 0; i < n; i++) {
        sum = (i % block == 0 ? 0 : sum) + in[i];
        EXPECT(out[i] == sum);
    }
    CHECK(cudaFree(device));
}

// ---- sorts

__global__ void bitonic_sort_shared(int *data, bool up)
{
    __shared__ int part[512];
    const unsigned t = threadIdx.x;
    part[t] = data[t];
    part[t + 256] = data[t + 256];
    for (unsigned size = 2; size <= 512; size *= 2)
        for (unsigned stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            unsigned at = 2 * t - (t & (stride - 1));
            bool ascending = ((at & size) == 0) == up;
            if ((part[at] > part[at + stride]) == ascending) {
                int kept = part[at];
                part[at] = part[at + stride];
                part[at + stride] = kept;
            }
        }
    __syncthreads();
    data[t] = part[t];
    data[t + 256] = part[t + 256];
}

static void bitonic_sort()
{
    const int n = 512;
    int values[n], *device;
    for (bool up : {true, false}) {
        long long before = 0, after = 0;
        for (int i = 0; i < n; i++) before += values[i] = value_at(i);
        CHECK(cudaMalloc(&device, sizeof values));
        CHECK(cudaMemcpy(device, values, sizeof values, cudaMemcpyHostToDevice));
        bitonic_sort_shared<<<1, n / 2>>>(device, up);
        CHECK(cudaMemcpy(values, device, sizeof values, cudaMemcpyDeviceToHost));
        for (int i = 0; i < n; i++) after += values[i];
        for (int i = 1; i < n; i++)
            EXPECT(up ? values[i - 1] <= values[i] : values[i - 1] >= values[i]);
        EXPECT(before == after);
        CHECK(cudaFree(device));
    }
}

// One pass of a radix sort by one bit: the zeros in front, in their order, then the ones.
__global__ void split_by_bit(const unsigned *in, unsigned *out, int n, int bit)
{
    __shared__ unsigned ones_before[1024];
    const int t = threadIdx.x;
    unsigned value = t < n ? in[t] : ~0u, one = (value >> bit) & 1;
    ones_before[t] = t < n ? one : 0;
    __syncthreads();
    for (int d = 1; d < 1024; d *= 2) {
        unsigned other = t >= d ? ones_before[t - d] : 0;
        __syncthreads();
        ones_before[t] += other;
        __syncthreads();
    }
    unsigned zeros = n - ones_before[1023], ones = ones_before[t] - one;
    if (t < n) out[one ? zeros + ones : t - ones] = value;
}

static void radix_sort()
{
    const int n = 1000;
    std::vector<unsigned> in(n), out(n);
    unsigned *buffer[2];
    for (int i = 0; i < n; i++) in[i] = static_cast<unsigned>(i) * 2654435761u;
    for (unsigned *&b : buffer) CHECK(cudaMalloc(&b, n * sizeof(unsigned)));
    CHECK(cudaMemcpy(buffer[0], in.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    for (int bit = 0; bit < 32; bit++)
        split_by_bit<<<1, 1024>>>(buffer[bit % 2], buffer[1 - bit % 2], n, bit);
    CHECK(cudaMemcpy(out.data(), buffer[0], n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    for (int i = 1; i < n; i++) EXPECT(out[i - 1] < out[i]);
    unsigned sum = 0, expected = 0;
    for (int i = 0; i < n; i++) sum ^= out[i], expected ^= in[i];
    EXPECT(sum == expected);
    for (unsigned *b : buffer) CHECK(cudaFree(b));
}

// ---- atomics of 64 bits

struct Extremes {
    unsigned long long sum, largest, smallest, bits, either, last, least_signed;
    double real_sum;
};

__global__ void gather_extremes(const long long *in, int n, Extremes *found)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned long long value = static_cast<unsigned long long>(in[i]);
        atomicAdd(&found->sum, value);
        atomicMax(&found->largest, value);
        atomicMin(&found->smallest, value);
        atomicMin(reinterpret_cast<long long *>(&found->least_signed), in[i]);
        atomicAnd(&found->bits, value);
        atomicXor(&found->either, value);
        atomicAdd(&found->real_sum, static_cast<double>(in[i]));
        unsigned long long seen = found->last, assumed;
        do {
            assumed = seen;
            seen = atomicCAS(&found->last, assumed, assumed > value ? assumed : value);
        } while (seen != assumed);
    }
}

static void atomics_of_64_bits()
{
    const int n = 1000;
    long long in[n], *device, least = 0;
    Extremes found = {}, *result;
    unsigned long long sum = 0, largest = 0, smallest = ~0ull, bits = ~0ull, either = 0;
    double real_sum = 0;
    found.smallest = found.bits = ~0ull;
    for (int i = 0; i < n; i++) {
        in[i] = (static_cast<long long>(value_at(i)) << 33) + i;
        unsigned long long value = static_cast<unsigned long long>(in[i]);
        sum += value;
        largest = value > largest ? value : largest;
        smallest = value < smallest ? value : smallest;
        least = in[i] < least ? in[i] : least;
        bits &= value;
        either ^= value;
        real_sum += static_cast<double>(in[i]);
    }
    CHECK(cudaMalloc(&device, sizeof in));
    CHECK(cudaMalloc(&result, sizeof found));
    CHECK(cudaMemcpy(device, in, sizeof in, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(result, &found, sizeof found, cudaMemcpyHostToDevice));
    gather_extremes<<<4, 64>>>(device, n, result);
    CHECK(cudaMemcpy(&found, result, sizeof found, cudaMemcpyDeviceToHost));
    EXPECT(found.sum == sum && found.largest == largest && found.smallest == smallest);
    EXPECT(static_cast<long long>(found.least_signed) == least);
    EXPECT(found.bits == bits && found.either == either && found.last == largest);
    EXPECT(found.real_sum == real_sum); // fewer than 53 bits: exact in any order
    CHECK(cudaFree(device));
    CHECK(cudaFree(result));
}

// ---- inline PTX

__device__ unsigned lane_of_ptx()
{
    unsigned lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

__global__ void with_ptx(const unsigned *in, unsigned *out, unsigned long long *wide)
{
    unsigned i = threadIdx.x, value = in[i], reversed, found, ballot;
    asm("brev.b32 %0, %1;" : "=r"(reversed) : "r"(value));
    asm("{\n\t"
        ".reg .pred p;\n\t"
        "setp.gt.u32 p, %1, %2;\n\t"
        "selp.u32 %0, 1, 0, p;\n\t"
        "}"
        : "=r"(found)
        : "r"(value), "n"(1000));
    asm volatile("{ .reg .pred q; setp.ne.u32 q, %1, 0; vote.sync.ballot.b32 %0, q, 0xffffffff; }"
                 : "=r"(ballot)
                 : "r"(value & 1));
    asm("mad.wide.u32 %0, %1, %2, %3;"
        : "=l"(wide[i])
        : "r"(value), "r"(value), "l"(static_cast<unsigned long long>(i)));
    out[4 * i] = reversed;
    out[4 * i + 1] = found;
    out[4 * i + 2] = ballot;
    unsigned at;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(at) : "l"(in + lane_of_ptx()) : "memory");
    out[4 * i + 3] = at;
}

static void inline_ptx()
{
    const unsigned n = 32;
    unsigned in[n], out[4 * n], *device;
    unsigned long long wide[n], *device_wide;
    unsigned ballot = 0;
    for (unsigned i = 0; i < n; i++) {
        in[i] = i * 97 % 2003 * 977;
        ballot |= (in[i] & 1) << i;
    }
    CHECK(cudaMalloc(&device, sizeof in + sizeof out));
    CHECK(cudaMalloc(&device_wide, sizeof wide));
    CHECK(cudaMemcpy(device, in, sizeof in, cudaMemcpyHostToDevice));
    with_ptx<<<1, n>>>(device, device + n, device_wide);
    CHECK(cudaMemcpy(out, device + n, sizeof out, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(wide, device_wide, sizeof wide, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < n; i++) {
        unsigned reversed = 0;
        for (int b = 0; b < 32; b++) reversed |= ((in[i] >> b) & 1u) << (31 - b);
        EXPECT(out[4 * i] == reversed && out[4 * i + 1] == (in[i] > 1000));
        EXPECT(out[4 * i + 2] == ballot && out[4 * i + 3] == in[i]);
        EXPECT(wide[i] == static_cast<unsigned long long>(in[i]) * in[i] + i);
    }
    CHECK(cudaFree(device));
    CHECK(cudaFree(device_wide));
}

// ---- the host does something else in the meantime

__global__ void add_to_all(int *data, int value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] += value;
}

static void host_works_meanwhile()
{
    const int n = 1 << 16;
    int *host, *device;
    unsigned long counted = 0;
    cudaEvent_t start, stop;
    CHECK(cudaMallocHost(&host, n * sizeof(int)));
    CHECK(cudaMalloc(&device, n * sizeof(int)));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    memset(host, 0, n * sizeof(int));
    CHECK(cudaEventRecord(start, 0));
    CHECK(cudaMemcpyAsync(device, host, n * sizeof(int), cudaMemcpyHostToDevice, 0));
    add_to_all<<<(n + 511) / 512, 512>>>(device, 26, n);
    CHECK(cudaMemcpyAsync(host, device, n * sizeof(int), cudaMemcpyDeviceToHost, 0));
    CHECK(cudaEventRecord(stop, 0));
    while (cudaEventQuery(stop) == cudaErrorNotReady) counted++;
    CHECK(cudaEventQuery(stop));
    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    EXPECT(milliseconds > 0 && counted > 0);
    for (int i = 0; i < n; i++) EXPECT(host[i] == 26);
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(device));
}

// ---- double buffering: copy in, compute and copy out of neighbouring pieces side by side

static void overlapped_pieces()
{
    const int pieces = 9, slots = 3, n = 5000;
    const size_t bytes = n * sizeof(int);
    int *in[slots], *out[slots], *device[slots];
    cudaStream_t stream[slots];
    cudaEvent_t done[slots];
    long long sum = 0, expected = 0;
    for (int s = 0; s < slots; s++) {
        CHECK(cudaHostAlloc(&in[s], bytes, cudaHostAllocDefault));
        CHECK(cudaHostAlloc(&out[s], bytes, cudaHostAllocDefault));
        CHECK(cudaMalloc(&device[s], bytes));
        CHECK(cudaStreamCreateWithFlags(&stream[s], cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&done[s], cudaEventDisableTiming));
    }
    for (int piece = 0; piece < pieces + slots; piece++) {
        const int s = piece % slots;
        if (piece >= slots) { // what this slot held has come back
            CHECK(cudaEventSynchronize(done[s]));
            for (int i = 0; i < n; i++) sum += out[s][i];
        }
        if (piece >= pieces) continue;
        for (int i = 0; i < n; i++) expected += (in[s][i] = value_at(piece * n + i)) + piece;
        CHECK(cudaMemcpyAsync(device[s], in[s], bytes, cudaMemcpyHostToDevice, stream[s]));
        add_to_all<<<(n + 255) / 256, 256, 0, stream[s]>>>(device[s], piece, n);
        CHECK(cudaMemcpyAsync(out[s], device[s], bytes, cudaMemcpyDeviceToHost, stream[s]));
        CHECK(cudaEventRecord(done[s], stream[s]));
    }
    EXPECT(sum == expected);
    for (int s = 0; s < slots; s++) {
        CHECK(cudaFreeHost(in[s]));
        CHECK(cudaFreeHost(out[s]));
        CHECK(cudaFree(device[s]));
        CHECK(cudaStreamDestroy(stream[s]));
        CHECK(cudaEventDestroy(done[s]));
    }
}

// ---- many streams, and one kernel that waits for all of them

__global__ void spin_for(long long *waited, long long cycles)
{
    long long start = clock64(), now = start;
    while (now - start < cycles) now = clock64();
    *waited = now - start;
}

__global__ void sum_all(long long *values, int n)
{
    __shared__ long long total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(reinterpret_cast<unsigned long long *>(&total),
                  static_cast<unsigned long long>(values[i]));
    __syncthreads();
    if (threadIdx.x == 0) values[0] = total;
}

static void many_streams()
{
    const int streams = 16;
    const long long cycles = 20000;
    long long *waited, total = 0;
    cudaStream_t stream[streams];
    cudaEvent_t event[streams];
    CHECK(cudaMalloc(&waited, streams * sizeof *waited));
    for (int i = 0; i < streams; i++) {
        CHECK(cudaStreamCreate(&stream[i]));
        CHECK(cudaEventCreateWithFlags(&event[i], cudaEventDisableTiming));
    }
    for (int i = 0; i < streams; i++) {
        spin_for<<<1, 1, 0, stream[i]>>>(waited + i, cycles);
        CHECK(cudaEventRecord(event[i], stream[i]));
        CHECK(cudaStreamWaitEvent(stream[streams - 1], event[i], 0));
    }
    sum_all<<<1, 32, 0, stream[streams - 1]>>>(waited, streams);
    CHECK(
        cudaMemcpyAsync(&total, waited, sizeof total, cudaMemcpyDeviceToHost, stream[streams - 1]));
    CHECK(cudaStreamSynchronize(stream[streams - 1]));
    EXPECT(total >= streams * cycles);
    for (int i = 0; i < streams; i++) {
        CHECK(cudaStreamDestroy(stream[i]));
        CHECK(cudaEventDestroy(event[i]));
    }
    CHECK(cudaFree(waited));
}

// ---- a chain of work with host functions between, from several host threads

struct Chain {
    int *host, *device;
    int links, checked;
    cudaStream_t stream;
};

static void CUDART_CB look_at_link(void *data)
{
    Chain *chain = static_cast<Chain *>(data);
    chain->checked += chain->host[0] == chain->checked + 1;
}

static void run_chain(Chain *chain)
{
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamCreateWithFlags(&chain->stream, cudaStreamNonBlocking));
    CHECK(cudaMallocHost(&chain->host, sizeof(int)));
    CHECK(cudaMalloc(&chain->device, sizeof(int)));
    CHECK(cudaMemsetAsync(chain->device, 0, sizeof(int), chain->stream));
    for (int i = 0; i < chain->links; i++) {
        add_to_all<<<1, 1, 0, chain->stream>>>(chain->device, 1, 1);
        CHECK(cudaMemcpyAsync(chain->host, chain->device, sizeof(int), cudaMemcpyDeviceToHost,
                              chain->stream));
        CHECK(cudaLaunchHostFunc(chain->stream, look_at_link, chain));
    }
    CHECK(cudaStreamSynchronize(chain->stream));
    CHECK(cudaFreeHost(chain->host));
    CHECK(cudaFree(chain->device));
    CHECK(cudaStreamDestroy(chain->stream));
}

static void chains_of_threads()
{
    const int threads = 4;
    Chain chains[threads] = {};
    std::vector<std::thread> running;
    for (int i = 0; i < threads; i++) {
        chains[i].links = 5 + i;
        running.emplace_back(run_chain, &chains[i]);
    }
    for (std::thread &thread : running) thread.join();
    for (int i = 0; i < threads; i++) EXPECT(chains[i].checked == chains[i].links);
}

// ---- a stencil in constant memory, by rows and by columns

enum { RADIUS = 4 };
__constant__ float weights[2 * RADIUS + 1];

__global__ void convolve(float *out, const float *in, int width, int height, int step_x, int step_y)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0.0f;
#pragma unroll
    for (int k = -RADIUS; k <= RADIUS; k++) {
        int sx = min(max(x + k * step_x, 0), width - 1),
            sy = min(max(y + k * step_y, 0), height - 1);
        sum += weights[k + RADIUS] * in[sy * width + sx];
    }
    out[y * width + x] = sum;
}

static void separable_convolution()
{
    const int width = 60, height = 44, n = width * height;
    std::vector<float> image(n), rows(n), expected(n), out(n);
    float weight[2 * RADIUS + 1], *device[2];
    for (int k = 0; k <= 2 * RADIUS; k++) weight[k] = static_cast<float>(k - 3); // whole: exact
    for (int i = 0; i < n; i++) image[i] = static_cast<float>(value_at(i) % 64);
    auto at = [=](const std::vector<float> &v, int x, int y) {
        x = x < 0 ? 0 : x >= width ? width - 1 : x;
        y = y < 0 ? 0 : y >= height ? height - 1 : y;
        return v[y * width + x];
    };
    for (int i = 0; i < n; i++)
        for (int k = -RADIUS; k <= RADIUS; k++)
            rows[i] += weight[k + RADIUS] * at(image, i % width + k, i / width);
    for (int i = 0; i < n; i++)
        for (int k = -RADIUS; k <= RADIUS; k++)
            expected[i] += weight[k + RADIUS] * at(rows, i % width, i / width + k);
    for (float *&d : device) CHECK(cudaMalloc(&d, n * sizeof(float)));
    CHECK(cudaMemcpyToSymbol(weights, weight, sizeof weight));
    CHECK(cudaMemcpy(device[0], image.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    dim3 block(16, 8), grid((width + 15) / 16, (height + 7) / 8);
    convolve<<<grid, block>>>(device[1], device[0], width, height, 1, 0);
    convolve<<<grid, block>>>(device[0], device[1], width, height, 0, 1);
    CHECK(cudaMemcpy(out.data(), device[0], n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) EXPECT(out[i] == expected[i]);
    for (float *d : device) CHECK(cudaFree(d));
}

// ---- matrices of any type, by templates and operators

template <typename T> struct Complex {
    T re, im;
    __host__ __device__ Complex operator*(const Complex &o) const
    {
        return {re * o.re - im * o.im, re * o.im + im * o.re};
    }
    __host__ __device__ Complex &operator+=(const Complex &o)
    {
        re += o.re;
        im += o.im;
        return *this;
    }
    __host__ __device__ bool operator==(const Complex &o) const
    {
        return re == o.re && im == o.im;
    }
};

template <typename T> __global__ void multiply(T *c, const T *a, const T *b, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n) return;
    T sum = {};
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

template <typename T> static void product_of(T (*element)(int))
{
    const int n = 21;
    std::vector<T> a(n * n), b(n * n), c(n * n);
    T *device;
    for (int i = 0; i < n * n; i++) a[i] = element(i), b[i] = element(7 * i + 1);
    const size_t bytes = n * n * sizeof(T);
    CHECK(cudaMalloc(&device, 3 * bytes));
    CHECK(cudaMemcpy(device, a.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device + n * n, b.data(), bytes, cudaMemcpyHostToDevice));
    multiply<<<dim3(3, 3), dim3(8, 8)>>>(device + 2 * n * n, device, device + n * n, n);
    CHECK(cudaMemcpy(c.data(), device + 2 * n * n, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n * n; i++) {
        T sum = {};
        for (int k = 0; k < n; k++) sum += a[i / n * n + k] * b[k * n + i % n];
        EXPECT(sum == c[i]);
    }
    CHECK(cudaFree(device));
}

static void templates()
{
    product_of<int>([](int i) { return value_at(i); });
    product_of<float>([](int i) { return static_cast<float>(value_at(i) % 64); });
    product_of<unsigned char>([](int i) { return static_cast<unsigned char>(value_at(i)); });
    product_of<Complex<double>>([](int i) {
        return Complex<double>{static_cast<double>(value_at(i)), static_cast<double>(i % 5)};
    });
}

// ---- lambdas and variadic templates in kernels

template <typename F, typename... Rest> __global__ void apply(int n, F f, Rest... rest)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) f(i, rest...);
}

struct Saxpy {
    float a;
    __device__ void operator()(int i, const float *x, float *y) const
    {
        y[i] = a * x[i] + y[i];
    }
};

static void functors()
{
    const int n = 500;
    float *x, *y;
    CHECK(cudaMallocManaged(&x, n * sizeof(float)));
    CHECK(cudaMallocManaged(&y, n * sizeof(float)));
    for (int i = 0; i < n; i++) x[i] = static_cast<float>(i), y[i] = 1.0f;
    apply<<<(n + 127) / 128, 128>>>(n, Saxpy{2.0f}, static_cast<const float *>(x), y);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) EXPECT(y[i] == 2.0f * static_cast<float>(i) + 1.0f);
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
}

int main(int argc, char **argv)
{
    static const Program programs[] = {{"transpose", transpose},
                                       {"reductions", reductions},
                                       {"scan_by_blocks", scan_by_blocks},
                                       {"scan_by_shuffles", scan_by_shuffles},
                                       {"bitonic_sort", bitonic_sort},
                                       {"radix_sort", radix_sort},
                                       {"atomics_of_64_bits", atomics_of_64_bits},
                                       {"inline_ptx", inline_ptx},
                                       {"host_works_meanwhile", host_works_meanwhile},
                                       {"overlapped_pieces", overlapped_pieces},
                                       {"many_streams", many_streams},
                                       {"chains_of_threads", chains_of_threads},
                                       {"separable_convolution", separable_convolution},
                                       {"templates", templates},
                                       {"functors", functors}};
    return run_programs(argc, argv, programs);
}
