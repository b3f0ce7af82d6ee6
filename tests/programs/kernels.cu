// Programs about what kernels can do: shared memory, barriers, shuffles, atomics, calls.
#include "tests/programs/program.cuh"

#include <cmath>
#include <vector>

// ---- shared memory --------------------------------------------------------------------------

const int tile = 16;

__global__ void matrix_product(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[tile][tile], bs[tile][tile];
    int x = blockIdx.x * tile + threadIdx.x, y = blockIdx.y * tile + threadIdx.y;
    float sum = 0.0f;
    for (int t = 0; t < n; t += tile) {
        int ax = t + threadIdx.x, by = t + threadIdx.y;
        as[threadIdx.y][threadIdx.x] = y < n && ax < n ? a[y * n + ax] : 0.0f;
        bs[threadIdx.y][threadIdx.x] = x < n && by < n ? b[by * n + x] : 0.0f;
        __syncthreads();
        for (int k = 0; k < tile; k++) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads();
    }
    if (x < n && y < n) c[y * n + x] = sum;
}

static void tiled_matmul()
{
    const int n = 75; // no multiple of the tile
    std::vector<float> a(n * n), b(n * n), c(n * n);
    float *da, *db, *dc;
    for (int i = 0; i < n * n; i++) {
        a[i] = static_cast<float>(value_at(i) % 16);
        b[i] = static_cast<float>(value_at(i + 99) % 16);
    }
    CHECK(cudaMalloc(&da, n * n * sizeof(float)));
    CHECK(cudaMalloc(&db, n * n * sizeof(float)));
    CHECK(cudaMalloc(&dc, n * n * sizeof(float)));
    CHECK(cudaMemcpy(da, a.data(), n * n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b.data(), n * n * sizeof(float), cudaMemcpyHostToDevice));
    matrix_product<<<dim3((n + tile - 1) / tile, (n + tile - 1) / tile), dim3(tile, tile)>>>(da, db,
                                                                                             dc, n);
    CHECK(cudaMemcpy(c.data(), dc, n * n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float sum = 0.0f; // small integers: exact
            for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
            EXPECT(c[y * n + x] == sum);
        }
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
}

// An inclusive prefix sum of one block, in dynamic shared memory.
__global__ void scan_block(const int *in, int *out, int n)
{
    extern __shared__ int values[];
    int i = threadIdx.x;
    values[i] = i < n ? in[i] : 0;
    __syncthreads();
    for (int offset = 1; offset < blockDim.x; offset *= 2) {
        int left = i >= offset ? values[i - offset] : 0;
        __syncthreads();
        values[i] += left;
        __syncthreads();
    }
    if (i < n) out[i] = values[i];
}

static void dynamic_shared()
{
    const int n = 777, threads = 1024;
    int in[n], out[n], *device, sum = 0;
    for (int i = 0; i < n; i++) in[i] = value_at(i);
    CHECK(cudaMalloc(&device, 2 * n * sizeof(int)));
    CHECK(cudaMemcpy(device, in, sizeof in, cudaMemcpyHostToDevice));
    scan_block<<<1, threads, threads * sizeof(int)>>>(device, device + n, n);
    CHECK(cudaMemcpy(out, device + n, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) EXPECT(out[i] == (sum += in[i]));

    // More than 48 KiB must be asked for.
    scan_block<<<1, threads, 60000>>>(device, device + n, n);
    EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
    CHECK(cudaFuncSetAttribute(scan_block, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    CHECK(cudaMemset(device + n, 0xff, sizeof out));
    scan_block<<<1, threads, 60000>>>(device, device + n, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out, device + n, sizeof out, cudaMemcpyDeviceToHost));
    EXPECT(out[n - 1] == sum);
    CHECK(cudaFree(device));
}

// ---- warps ----------------------------------------------------------------------------------

template <typename T> __device__ T warp_sum(T value)
{
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}

template <typename T> __global__ void reduce(const T *in, int n, T *out)
{
    __shared__ T partial[32];
    T sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = warp_sum(threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : T(0));
        if (threadIdx.x == 0) atomicAdd(out, sum);
    }
}

template <typename T> static void reduce_as()
{
    const int n = 30001;
    std::vector<T> in(n);
    T wanted = 0, sum = 0, *device, *result;
    for (int i = 0; i < n; i++) wanted += in[i] = static_cast<T>(value_at(i) / 64);
    CHECK(cudaMalloc(&device, n * sizeof(T)));
    CHECK(cudaMalloc(&result, sizeof(T)));
    CHECK(cudaMemcpy(device, in.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(result, 0, sizeof(T)));
    reduce<T><<<13, 224>>>(device, n, result);
    CHECK(cudaMemcpy(&sum, result, sizeof(T), cudaMemcpyDeviceToHost));
    EXPECT(sum == wanted);
    CHECK(cudaFree(device));
    CHECK(cudaFree(result));
}

static void shuffle_reduction()
{
    reduce_as<int>();
    reduce_as<float>();
    reduce_as<double>();
    reduce_as<unsigned long long>();
}

__global__ void votes(const int *in, unsigned *out)
{
    int value = in[threadIdx.x];
    unsigned odd = __ballot_sync(0xffffffffu, value & 1);
    unsigned *mine = out + threadIdx.x * 5;
    mine[0] = odd;
    mine[1] = __all_sync(0xffffffffu, value > 0) * 2 + __any_sync(0xffffffffu, value == 77);
    mine[2] = __popc(odd) + __clz(odd) * 100 + __ffs(odd) * 10000;
    mine[3] = __shfl_xor_sync(0xffffffffu, value, 5);
    mine[4] = 1000;
    if (value & 1) mine[4] = __popc(__activemask()) + __shfl_sync(odd, value, 3);
}

static void warp_votes()
{
    int in[32], *device_in;
    unsigned out[32][5], *device_out, odd = 0;
    for (int i = 0; i < 32; i++) odd |= static_cast<unsigned>((in[i] = i * 7 + 40) & 1) << i;
    CHECK(cudaMalloc(&device_in, sizeof in));
    CHECK(cudaMalloc(&device_out, sizeof out));
    CHECK(cudaMemcpy(device_in, in, sizeof in, cudaMemcpyHostToDevice));
    votes<<<1, 32>>>(device_in, device_out);
    CHECK(cudaMemcpy(out, device_out, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) {
        EXPECT(out[i][0] == odd);
        EXPECT(out[i][1] == 2); // all are positive, none is 77
        EXPECT(out[i][2] == 16 + 0 * 100 + 2 * 10000);
        EXPECT(out[i][3] == static_cast<unsigned>(in[i ^ 5]));
        EXPECT(out[i][4] == (in[i] & 1 ? 16u + static_cast<unsigned>(in[3]) : 1000u));
    }
    CHECK(cudaFree(device_in));
    CHECK(cudaFree(device_out));
}

// ---- atomics --------------------------------------------------------------------------------

__global__ void histogram(const unsigned char *text, int n, unsigned *bins)
{
    __shared__ unsigned mine[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) mine[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[text[i]], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], mine[i]);
}

static void shared_histogram()
{
    const int n = 50021;
    std::vector<unsigned char> text(n);
    unsigned wanted[256] = {}, bins[256], *device_bins;
    unsigned char *device;
    for (int i = 0; i < n; i++) wanted[text[i] = static_cast<unsigned char>(value_at(i) / 3)]++;
    CHECK(cudaMalloc(&device, n));
    CHECK(cudaMalloc(&device_bins, sizeof bins));
    CHECK(cudaMemcpy(device, text.data(), n, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(device_bins, 0, sizeof bins));
    histogram<<<7, 160>>>(device, n, device_bins);
    CHECK(cudaMemcpy(bins, device_bins, sizeof bins, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 256; i++) EXPECT(bins[i] == wanted[i]);
    CHECK(cudaFree(device));
    CHECK(cudaFree(device_bins));
}

struct Extremes {
    int smallest, largest, locked;
    unsigned lock, bits, ticket;
    float product;
};

// A spin lock within a warp, which needs the forward progress of Volta and later devices, and a
// compare-and-swap loop.
__global__ void contend(Extremes *e, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicMin(&e->smallest, value_at(i));
    atomicMax(&e->largest, value_at(i));
    atomicXor(&e->bits, 1u << (i % 32));
    atomicInc(&e->ticket, 9);
    while (atomicCAS(&e->lock, 0u, 1u) != 0) {
    }
    __threadfence();
    *static_cast<volatile int *>(&e->locked) = *static_cast<volatile int *>(&e->locked) + 1;
    __threadfence();
    atomicExch(&e->lock, 0u);
    if (i < 10) {
        int *bits = reinterpret_cast<int *>(&e->product), old = *bits, seen;
        do {
            seen = old;
            old = atomicCAS(bits, seen, __float_as_int(__int_as_float(seen) * 2.0f));
        } while (old != seen);
    }
}

static void locks_and_swaps()
{
    const int n = 333;
    Extremes host = {0, 0, 0, 0, 0, 0, 1.0f}, *device;
    int smallest = 0, largest = 0;
    unsigned bits = 0;
    for (int i = 0; i < n; i++) {
        smallest = value_at(i) < smallest ? value_at(i) : smallest;
        largest = value_at(i) > largest ? value_at(i) : largest;
        bits ^= 1u << (i % 32);
    }
    CHECK(cudaMalloc(&device, sizeof host));
    CHECK(cudaMemcpy(device, &host, sizeof host, cudaMemcpyHostToDevice));
    contend<<<3, 128>>>(device, n);
    CHECK(cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host.smallest == smallest && host.largest == largest && host.bits == bits);
    EXPECT(host.locked == n && host.lock == 0);
    EXPECT(host.ticket == n % 10);
    EXPECT(host.product == 1024.0f);
    CHECK(cudaFree(device));
}

// ---- calls ----------------------------------------------------------------------------------

__device__ __noinline__ int ackermann(int m, int n)
{
    if (m == 0) return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

__global__ void recurse(int *out)
{
    out[threadIdx.x] = ackermann(threadIdx.x % 3, threadIdx.x % 5);
}

static int ackermann_on_host(int m, int n)
{
    if (m == 0) return n + 1;
    return ackermann_on_host(m - 1, n == 0 ? 1 : ackermann_on_host(m, n - 1));
}

static void recursion()
{
    int out[64], *device;
    CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
    CHECK(cudaMalloc(&device, sizeof out));
    recurse<<<1, 64>>>(device);
    CHECK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) EXPECT(out[i] == ackermann_on_host(i % 3, i % 5));
    CHECK(cudaFree(device));
}

typedef float (*Operator)(float, float);
__device__ float op_add(float a, float b)
{
    return a + b;
}
__device__ float op_mul(float a, float b)
{
    return a * b;
}
__device__ float op_sub(float a, float b)
{
    return a - b;
}
__device__ Operator operators[3] = {op_add, op_mul, op_sub};

class Shape
{
  public:
    __device__ virtual float area() const = 0;
    __device__ virtual ~Shape() {}
};

class Square : public Shape
{
    float side;

  public:
    __device__ explicit Square(float s) : side(s) {}
    __device__ float area() const override
    {
        return side * side;
    }
};

class Box : public Shape
{
    float a, b;

  public:
    __device__ Box(float x, float y) : a(x), b(y) {}
    __device__ float area() const override
    {
        return a * b;
    }
};

__global__ void call_by_pointer(float *out)
{
    int i = threadIdx.x;
    out[i] = operators[i % 3](static_cast<float>(i), 3.0f); // lanes of a warp call different ones
    Square square(static_cast<float>(i));
    Box box(static_cast<float>(i), 2.0f);
    const Shape *shape = i & 1 ? static_cast<const Shape *>(&square) : &box;
    out[blockDim.x + i] = shape->area();
}

static void function_pointers()
{
    const int n = 48;
    float out[2 * n], *device;
    CHECK(cudaMalloc(&device, sizeof out));
    call_by_pointer<<<1, n>>>(device);
    CHECK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        float f = static_cast<float>(i);
        EXPECT(out[i] == (i % 3 == 0 ? f + 3.0f : i % 3 == 1 ? f * 3.0f : f - 3.0f));
        EXPECT(out[n + i] == (i & 1 ? f * f : f * 2.0f));
    }
    CHECK(cudaFree(device));
}

// ---- values ---------------------------------------------------------------------------------

struct Particle {
    double mass;
    float3 position;
    short kind;
    char name[7];
};

__global__ void by_value(Particle p, Particle *out, char tag, double scale)
{
    p.mass *= scale;
    p.position.y += 1.0f;
    p.name[threadIdx.x] = static_cast<char>(tag + threadIdx.x);
    p.kind = static_cast<short>(p.kind - static_cast<short>(threadIdx.x));
    out[threadIdx.x] = p;
}

static void structs_by_value()
{
    Particle p = {2.0, {1.0f, 2.0f, 3.0f}, -7, "abcdef"}, out[6], *device;
    CHECK(cudaMalloc(&device, sizeof out));
    by_value<<<1, 6>>>(p, device, 'u', 1.5);
    CHECK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 6; i++) {
        char name[7] = "abcdef";
        name[i] = static_cast<char>('u' + i);
        EXPECT(out[i].mass == 3.0 && out[i].position.y == 3.0f && out[i].position.z == 3.0f);
        EXPECT(out[i].kind == -7 - i && std::memcmp(out[i].name, name, 7) == 0);
    }
    CHECK(cudaFree(device));
}

__global__ void functions(const double *x, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v = x[i];
    float f = static_cast<float>(v);
    double *mine = out + i * 8;
    mine[0] = sin(v) + cos(v);
    mine[1] = exp(-v * v);
    mine[2] = log(fabs(v) + 1.0);
    mine[3] = pow(fabs(v), 0.3);
    mine[4] = sqrt(fabs(v)) / fma(v, v, 1.0);
    mine[5] = static_cast<double>(sinf(f) * expf(-fabsf(f)));
    mine[6] = fmod(v, 0.7);
    mine[7] = static_cast<double>(tanhf(f)) + floor(v) + rint(v);
}

static bool near(double a, double b, double tolerance)
{
    return std::fabs(a - b) <= tolerance * (std::fabs(b) + 1.0);
}

static void mathematics()
{
    const int n = 500;
    std::vector<double> x(n), out(n * 8);
    double *device;
    for (int i = 0; i < n; i++) x[i] = value_at(i) / 100.0;
    CHECK(cudaMalloc(&device, n * 9 * sizeof(double)));
    CHECK(cudaMemcpy(device, x.data(), n * sizeof(double), cudaMemcpyHostToDevice));
    functions<<<4, 128>>>(device, device + n, n);
    CHECK(cudaMemcpy(out.data(), device + n, n * 8 * sizeof(double), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        double v = x[i], *o = &out[i * 8];
        EXPECT(near(o[0], std::sin(v) + std::cos(v), 1e-14));
        EXPECT(near(o[1], std::exp(-v * v), 1e-14));
        EXPECT(near(o[2], std::log(std::fabs(v) + 1.0), 1e-14));
        EXPECT(near(o[3], std::pow(std::fabs(v), 0.3), 1e-14));
        EXPECT(o[4] == std::sqrt(std::fabs(v)) / std::fma(v, v, 1.0));
        EXPECT(near(o[5], std::sin(v) * std::exp(-std::fabs(v)), 1e-5));
        EXPECT(o[6] == std::fmod(v, 0.7));
        EXPECT(near(o[7], std::tanh(v) + std::floor(v) + std::rint(v), 1e-6));
    }
    CHECK(cudaFree(device));
}

int main(int argc, char **argv)
{
    static const Program programs[] = {
        {"tiled_matmul", tiled_matmul},
        {"dynamic_shared", dynamic_shared},
        {"shuffle_reduction", shuffle_reduction},
        {"warp_votes", warp_votes},
        {"shared_histogram", shared_histogram},
        {"locks_and_swaps", locks_and_swaps},
        {"recursion", recursion},
        {"function_pointers", function_pointers},
        {"structs_by_value", structs_by_value},
        {"mathematics", mathematics},
    };
    return run_programs(argc, argv, programs);
}
