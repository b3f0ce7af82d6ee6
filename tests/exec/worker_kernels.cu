// Kernels for test_exec_workers: many blocks, each way in which blocks can and cannot meet. All
// take (const int *in, int *out, int n), out has n + 64 words.

#define KERNEL extern "C" __global__ void

__device__ int index()
{
    return threadIdx.x + blockIdx.x * blockDim.x;
}

KERNEL apart(const int *in, int *out, int n)
{
    for (int i = index(); i < n; i += gridDim.x * blockDim.x) out[i] = in[i] * 3 + blockIdx.x;
}

KERNEL diverging(const int *in, int *out, int n)
{
    int i = index();
    if (i >= n) return;
    unsigned x = in[i];
    int steps = 0;
    while (x > 1 && steps < 200) {
        x = x & 1 ? 3 * x + 1 : x / 2;
        steps++;
    }
    out[i] = steps;
}

KERNEL barriers(const int *in, int *out, int n)
{
    __shared__ int tile[64];
    int i = index();
    tile[threadIdx.x] = i < n ? in[i] : 0;
    for (int step = 1; step < 64; step *= 2) {
        __syncthreads();
        int other = threadIdx.x >= step ? tile[threadIdx.x - step] : 0;
        __syncthreads();
        tile[threadIdx.x] += other;
    }
    if (i < n) out[i] = tile[threadIdx.x];
}

KERNEL uninitialised_shared(const int *in, int *out, int n)
{
    __shared__ int never_written[64];
    int i = index();
    if (i < n) out[i] = never_written[(threadIdx.x + in[i]) & 63];
    never_written[threadIdx.x] = i;
}

// One lane in turn, and work between: atomics that are rare enough for several workers.
__device__ bool my_turn(int round, int &value)
{
    for (int k = 0; k < 2; k++) value = value * 1664525 + 1013904223;
    return (threadIdx.x & 31) == (round & 31);
}

KERNEL sum_without_result(const int *in, int *out, int n)
{
    int i = index();
    if (i >= n) return;
    int value = in[i];
    for (int round = 0; round < 256; round++)
        if (my_turn(round, value)) atomicAdd(&out[value & 1], value);
}

KERNEL largest_without_result(const int *in, int *out, int n)
{
    int i = index();
    if (i >= n) return;
    int value = in[i];
    for (int round = 0; round < 256; round++)
        if (my_turn(round, value)) atomicMax(&out[value & 7], value);
}

KERNEL bits_without_result(const int *in, int *out, int n)
{
    int i = index();
    if (i >= n) return;
    int value = in[i];
    for (int round = 0; round < 256; round++)
        if (my_turn(round, value))
            atomicXor((unsigned long long *)out + (value & 1), 0x123456789ull * value);
}

__device__ __noinline__ void add_to(int *where, int value)
{
    atomicAdd(where, value);
}

KERNEL sum_in_a_function(const int *in, int *out, int n)
{
    int i = index();
    if (i >= n) return;
    int value = in[i];
    for (int round = 0; round < 256; round++)
        if (my_turn(round, value)) add_to(out, value);
}

KERNEL many_sums_without_result(const int *in, int *out, int n)
{
    int i = index();
    if (i < n) atomicAdd(&out[in[i] & 63], in[i]);
}

// Adding and flipping bits do not commute: the order shows.
KERNEL two_kinds(const int *in, int *out, int n)
{
    int i = index();
    if (i >= n) return;
    int value = in[i];
    for (int round = 0; round < 256; round++) {
        if (my_turn(round, value)) atomicAdd(&out[0], value & 15);
        if (my_turn(round, value)) atomicXor(&out[0], value);
    }
}

KERNEL two_kinds_by_a_call(const int *in, int *out, int n)
{
    int i = index();
    if (i >= n) return;
    int value = in[i];
    for (int round = 0; round < 256; round++) {
        if (my_turn(round, value)) add_to(&out[0], value & 15);
        if (my_turn(round, value)) atomicXor(&out[0], value);
    }
}

KERNEL places(const int *in, int *out, int n)
{
    int i = index();
    if (i < n && (in[i] & 3) == 0) out[64 + atomicAdd(&out[0], 1)] = i;
}

KERNEL sum_of_floats(const int *in, int *out, int n)
{
    int i = index();
    if (i < n) atomicAdd((float *)&out[in[i] & 1], 1.0f / (1 + i));
}

KERNEL last_block(const int *in, int *out, int n)
{
    __shared__ bool last;
    int i = index();
    if (i < n) out[64 + i] = in[i];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&out[0], 1) == gridDim.x - 1;
    __syncthreads();
    if (!last || threadIdx.x) return;
    int sum = 0;
    for (int k = 0; k < n; k++) sum += out[64 + k];
    out[1] = sum;
}

// Many blocks do it: the lowest is reported.
KERNEL wrong_address(const int *in, int *out, int n)
{
    int i = index();
    if (i >= n) return;
    out[i] = in[i] % 97 == 96 ? *(const int *)((const char *)in + 1 + 4 * i) : in[i];
}
