// The device's side of the rows.
extern "C" {
#include "tests/bench/bench.h"
}
#include "kernels/reduce_cub.h"
#include "solutions/07_reductions/reductions.cuh"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_fp16.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            std::fprintf(stderr, "bench: %s: %s\n", #call, cudaGetErrorString(error_));            \
            std::exit(2);                                                                          \
        }                                                                                          \
    } while (0)

static const unsigned THREADS = BENCH_THREADS;

static void wait()
{
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}

void device_wait(void)
{
    wait();
}

static unsigned blocks_for(size_t n)
{
    return (unsigned)((n + THREADS - 1) / THREADS);
}

void *device_take(size_t size)
{
    void *memory;
    CHECK(cudaMalloc(&memory, size));
    return memory;
}

void device_give_back(void *memory)
{
    CHECK(cudaFree(memory));
}

// ---- multiply and divide ------------------------------------------------------------------------

// Every step goes through memory, as in the scalar loop.
__global__ void multiply_divide_memory(const float *in, volatile float *out, size_t n)
{
    size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
    if (i >= n) return;
    out[i] = in[i] + 1;
    for (int round = 0; round < BENCH_ROUNDS; round++) {
        out[i] = out[i] * 2;
        out[i] = out[i] / 2;
    }
}

// As the lessons' kernel is compiled: the value stays in a register.
__global__ void multiply_divide_registers(const float *in, float *out, size_t n)
{
    size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
    if (i >= n) return;
    float value = in[i] + 1;
    for (int round = 0; round < BENCH_ROUNDS; round++) {
        value *= 2.0f;
        value /= 2.0f;
    }
    out[i] = value;
}

void device_multiply_divide(const float *in, float *out, size_t n)
{
    multiply_divide_memory<<<blocks_for(n), THREADS>>>(in, out, n);
    wait();
}

void device_multiply_divide_registers(const float *in, float *out, size_t n)
{
    multiply_divide_registers<<<blocks_for(n), THREADS>>>(in, out, n);
    wait();
}

// ---- Mandelbrot ---------------------------------------------------------------------------------

__global__ void mandelbrot_picture(float *out, int width, int iterations)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= width * width) return;
    float re = -2 + 4.0f * (i % width) / (width - 1);
    float im = 2 - 4.0f * (i / width) / (width - 1);
    float x = 0, y = 0;
    out[i] = 1;
    for (int k = 0; k < iterations; k++) {
        float t = x * x - y * y + re;
        y = 2 * x * y + im;
        x = t;
        if (x * x + y * y > 4) {
            out[i] = 0;
            break;
        }
    }
}

void device_mandelbrot(float *out, size_t width, int iterations)
{
    mandelbrot_picture<<<blocks_for(width * width), THREADS>>>(out, (int)width, iterations);
    wait();
}

// ---- sums ---------------------------------------------------------------------------------------

struct Sum {
    __device__ int32_t operator()(const int32_t &a, const int32_t &b) const
    {
        return a + b;
    }
};

void device_sum_lesson(const int32_t *in, int32_t *out, size_t n)
{
    static const Reduction<int32_t, Sum> sum = {Sum()};
    CHECK(sum(in, n, out, nullptr, 0));
    wait();
}

void device_sum_cub(const int32_t *in, int32_t *out, size_t n)
{
    static void *scratch;
    static size_t size;
    size_t needed = 0;
    CHECK(reduce_cub_int32(nullptr, &needed, in, out, n, 0));
    if (needed > size) {
        CHECK(cudaFree(scratch));
        CHECK(cudaMalloc(&scratch, needed));
        size = needed;
    }
    CHECK(reduce_cub_int32(scratch, &needed, in, out, n, 0));
    wait();
}

__global__ void sum_shuffle(const int32_t *in, int32_t *out, size_t n)
{
    __shared__ int32_t of_warp[THREADS / 32];
    size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
    int32_t value = i < n ? in[i] : 0;
    for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_xor_sync(0xffffffffu, value, lanes);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned w = 1; w < THREADS / 32; w++) value += of_warp[w];
        atomicAdd(out, value);
    }
}

void device_sum_shuffle(const int32_t *in, int32_t *out, size_t n)
{
    CHECK(cudaMemsetAsync(out, 0, sizeof *out));
    sum_shuffle<<<blocks_for(n), THREADS>>>(in, out, n);
    wait();
}

// As every introduction has it: nine barriers for a block's 256 elements.
__global__ void sum_tree(const int32_t *in, int32_t *out, size_t n)
{
    __shared__ int32_t sums[THREADS];
    size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
    sums[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, sums[0]);
}

void device_sum_tree(const int32_t *in, int32_t *out, size_t n)
{
    CHECK(cudaMemsetAsync(out, 0, sizeof *out));
    sum_tree<<<blocks_for(n), THREADS>>>(in, out, n);
    wait();
}

// ---- threads whose elements lie apart ----------------------------------------------------------

struct Body {
    float position[3], velocity[3], mass;
};

__global__ void bodies_move(const Body *in, Body *out, size_t n)
{
    size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
    if (i >= n) return;
    Body body = in[i];
    for (int k = 0; k < 3; k++)
        body.position[k] = __fadd_rn(body.position[k], __fmul_rn(0.5f, body.velocity[k]));
    out[i] = body;
}

void device_bodies(const float *in, float *out, size_t n)
{
    bodies_move<<<blocks_for(n), THREADS>>>((const Body *)in, (Body *)out, n);
    wait();
}

__global__ void colours_swap(const unsigned char *in, unsigned char *out, size_t n)
{
    size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
    if (i >= n) return;
    out[3 * i] = in[3 * i + 2];
    out[3 * i + 1] = in[3 * i + 1];
    out[3 * i + 2] = in[3 * i];
}

void device_colours(const unsigned char *in, unsigned char *out, size_t n)
{
    colours_swap<<<blocks_for(n), THREADS>>>(in, out, n);
    wait();
}

__global__ void words_scatter(const uint32_t *in, uint32_t *out, size_t n)
{
    size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
    if (i < n) out[i * BENCH_PLACES & (n - 1)] = in[i];
}

void device_scatter(const uint32_t *in, uint32_t *out, size_t n)
{
    words_scatter<<<blocks_for(n), THREADS>>>(in, out, n);
    wait();
}

// ---- vectors, matrices --------------------------------------------------------------------------

__global__ void vector_add(const float *a, const float *b, float *c, size_t n)
{
    size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
    if (i < n) c[i] = a[i] + b[i];
}

void device_add(const float *a, const float *b, float *c, size_t n)
{
    vector_add<<<blocks_for(n), THREADS>>>(a, b, c, n);
    wait();
}

// One thread does it all: the first kernel of many introductions.
__global__ void vector_add_alone(const float *a, const float *b, float *c, size_t n)
{
    for (size_t i = 0; i < n; i++) c[i] = a[i] + b[i];
}

void device_add_alone(const float *a, const float *b, float *c, size_t n)
{
    vector_add_alone<<<1, 1>>>(a, b, c, n);
    wait();
}

static const unsigned TILE = 16;

// Products and sums are rounded apart, so that the answer is scalar C's to the last bit.
__global__ void matmul_tiled(const float *a, const float *b, float *c, unsigned width)
{
    __shared__ float of_a[TILE][TILE], of_b[TILE][TILE];
    unsigned column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
    for (unsigned tile = 0; tile < width; tile += TILE) {
        of_a[threadIdx.y][threadIdx.x] = a[row * width + tile + threadIdx.x];
        of_b[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * width + column];
        __syncthreads();
        for (unsigned k = 0; k < TILE; k++)
            sum = __fadd_rn(sum, __fmul_rn(of_a[threadIdx.y][k], of_b[k][threadIdx.x]));
        __syncthreads();
    }
    c[row * width + column] = sum;
}

void device_matmul(const float *a, const float *b, float *c, size_t width)
{
    const unsigned tiles = (unsigned)(width / TILE);
    matmul_tiled<<<dim3(tiles, tiles), dim3(TILE, TILE)>>>(a, b, c, (unsigned)width);
    wait();
}

// Reads down the columns: no two lanes of a warp find their elements in the same sector.
__global__ void transpose(const uint32_t *in, uint32_t *out, unsigned width)
{
    unsigned x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x < width && y < width) out[y * width + x] = in[x * width + y];
}

void device_transpose(const uint32_t *in, uint32_t *out, size_t width)
{
    const dim3 block(32, 8), grid((unsigned)(width + 31) / 32, (unsigned)(width + 7) / 8);
    transpose<<<grid, block>>>(in, out, (unsigned)width);
    wait();
}

// A cell for each thread of one block, in place: two barriers for each generation.
__global__ void life(const uint32_t *in, uint32_t *cells)
{
    const unsigned width = blockDim.x, x = threadIdx.x, y = threadIdx.y, here = y * width + x;
    const unsigned up = (y + width - 1) % width * width, down = (y + 1) % width * width;
    const unsigned left = (x + width - 1) % width, right = (x + 1) % width;
    cells[here] = in[here] & 1;
    for (int k = 0; k < BENCH_GENERATIONS; k++) {
        __syncthreads();
        const uint32_t around = cells[up + left] + cells[up + x] + cells[up + right] +
                                cells[y * width + left] + cells[y * width + right] +
                                cells[down + left] + cells[down + x] + cells[down + right];
        const uint32_t next = around == 3 || (around == 2 && cells[here] == 1);
        __syncthreads();
        cells[here] = next;
    }
}

void device_life(const uint32_t *in, uint32_t *out, size_t width)
{
    life<<<1, dim3((unsigned)width, (unsigned)width)>>>(in, out);
    wait();
}

// ---- atomics ------------------------------------------------------------------------------------

__global__ void histogram_shared(const uint32_t *in, uint32_t *bins, size_t n)
{
    __shared__ uint32_t mine[BENCH_BINS];
    for (unsigned k = threadIdx.x; k < BENCH_BINS; k += blockDim.x) mine[k] = 0;
    __syncthreads();
    size_t step = (size_t)blockDim.x * gridDim.x;
    for (size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x; i < n; i += step)
        atomicAdd(&mine[in[i] % BENCH_BINS], 1u);
    __syncthreads();
    for (unsigned k = threadIdx.x; k < BENCH_BINS; k += blockDim.x) atomicAdd(&bins[k], mine[k]);
}

__global__ void histogram_global(const uint32_t *in, uint32_t *bins, size_t n)
{
    size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
    if (i < n) atomicAdd(&bins[in[i] % BENCH_BINS], 1u);
}

void device_histogram(const uint32_t *in, uint32_t *bins, size_t n)
{
    CHECK(cudaMemsetAsync(bins, 0, BENCH_BINS * sizeof *bins));
    histogram_shared<<<64, THREADS>>>(in, bins, n);
    wait();
}

void device_histogram_global(const uint32_t *in, uint32_t *bins, size_t n)
{
    CHECK(cudaMemsetAsync(bins, 0, BENCH_BINS * sizeof *bins));
    histogram_global<<<blocks_for(n), THREADS>>>(in, bins, n);
    wait();
}

// ---- a graph: lanes go different ways -----------------------------------------------------------

__global__ void bfs_begin(uint32_t *level, size_t n)
{
    size_t v = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
    if (v < n) level[v] = v == 0 ? 0 : UINT32_MAX;
}

__global__ void bfs_step(const uint32_t *first, const uint32_t *edges, uint32_t *level, size_t n,
                         uint32_t now, int *found)
{
    size_t v = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
    if (v >= n || level[v] != now) return;
    for (uint32_t e = first[v]; e < first[v + 1]; e++) {
        if (level[edges[e]] != UINT32_MAX) continue;
        level[edges[e]] = now + 1;
        *found = 1;
    }
}

void device_bfs(const uint32_t *first, const uint32_t *edges, uint32_t *level, size_t n)
{
    static int *found;
    if (!found) CHECK(cudaMalloc(&found, sizeof *found));
    bfs_begin<<<blocks_for(n), THREADS>>>(level, n);
    int more = 1;
    for (uint32_t now = 0; more; now++) {
        CHECK(cudaMemsetAsync(found, 0, sizeof *found));
        bfs_step<<<blocks_for(n), THREADS>>>(first, edges, level, n, now, found);
        CHECK(cudaMemcpy(&more, found, sizeof more, cudaMemcpyDeviceToHost));
    }
    wait();
}

// ---- 64 bits ------------------------------------------------------------------------------------

__global__ void doubles(const double *in, double *out, size_t n)
{
    size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
    if (i >= n) return;
    double x = in[i];
    for (int k = 0; k < BENCH_STEPS; k++)
        x = __dadd_rn(__dmul_rn(x, 0.75), 1.0 / __dadd_rn(x, 2.0));
    out[i] = x;
}

__global__ void halves(const uint32_t *in, uint32_t *out, size_t n)
{
    size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
    if (i >= n) return;
    uint32_t bits = in[i] & 0x3fff3fff;
    __half2 pair, factor = __float2half2_rn(0.75f), more = __float2half2_rn(0.5f);
    memcpy(&pair, &bits, sizeof pair);
    for (int k = 0; k < BENCH_STEPS; k++) pair = __hfma2(pair, factor, more);
    memcpy(&out[i], &pair, sizeof pair);
}

void device_halves(const uint32_t *in, uint32_t *out, size_t n)
{
    halves<<<blocks_for(n), THREADS>>>(in, out, n);
    wait();
}

__global__ void integers(const uint64_t *in, uint64_t *out, size_t n)
{
    size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
    if (i >= n) return;
    uint64_t x = in[i] | 1;
    for (int k = 0; k < BENCH_STEPS; k++) {
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        x = x * UINT64_C(0x2545f4914f6cdd1d) + k;
    }
    out[i] = x;
}

void device_doubles(const double *in, double *out, size_t n)
{
    doubles<<<blocks_for(n), THREADS>>>(in, out, n);
    wait();
}

void device_integers(const uint64_t *in, uint64_t *out, size_t n)
{
    integers<<<blocks_for(n), THREADS>>>(in, out, n);
    wait();
}

// ---- textures
// ------------------------------------------------------------------------------------

__global__ void sample(cudaTextureObject_t image, float *out, unsigned width)
{
    const unsigned x = threadIdx.x + blockIdx.x * blockDim.x;
    const unsigned y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x >= width || y >= width) return;
    const float u = 0.75f * (float)x - 0.25f * (float)y + 5.3125f;
    const float v = 0.75f * (float)y + 0.25f * (float)x - 3.6875f;
    out[(size_t)y * width + x] = tex2D<float>(image, u, v);
}

void device_sample(const float *in, float *out, size_t width, int filters)
{
    const dim3 block(32, 8), grid((unsigned)(width + 31) / 32, (unsigned)(width + 7) / 8);
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t image;
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = const_cast<float *>(in);
    resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    resource.res.pitch2D.width = resource.res.pitch2D.height = width;
    resource.res.pitch2D.pitchInBytes = width * sizeof(float);
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = filters ? cudaFilterModeLinear : cudaFilterModePoint;
    CHECK(cudaCreateTextureObject(&image, &resource, &how, NULL));
    sample<<<grid, block>>>(image, out, (unsigned)width);
    wait();
    CHECK(cudaDestroyTextureObject(image));
}

// ---- calls --------------------------------------------------------------------------------------

__global__ void nothing() {}

void device_nothing(size_t n)
{
    for (size_t k = 0; k < n; k++) nothing<<<1, 1>>>();
    wait();
}

void device_copy_in(const void *from, void *to, size_t size)
{
    CHECK(cudaMemcpy(to, from, size, cudaMemcpyHostToDevice));
}

void device_copy_out(const void *from, void *to, size_t size)
{
    CHECK(cudaMemcpy(to, from, size, cudaMemcpyDeviceToHost));
}
