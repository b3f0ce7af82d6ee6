// Kernels for test_exec_watch that read shared memory, as racecheck_kernels.cu has them: right ones
// may read what nothing has written as long as nobody uses it. Of wrong ones the lines that read it
// and that use it are marked.

#include "racecheck.cuh"

// ---- right -----------------------------------------------------------------------------------

// The lanes above 100 scan what nobody wrote, and nobody asks them.
KERNEL right_unwritten_scan(const int *in, int *out, int n)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    if (t < 100) s[t] = in[index()];
    __syncthreads();
    for (int step = 1; step < 128; step *= 2) {
        int below = t >= step ? s[t - step] : 0;
        __syncthreads();
        s[t] += below;
        __syncthreads();
    }
    if (t < 100) out[index()] = s[t];
}

KERNEL right_unwritten_padding(const int *in, int *out, int n)
{
    __shared__ __align__(16) int tile[8][20];
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    tile[y][x] = in[index()];
    __syncthreads();
    int4 four = *(int4 *)&tile[y][16];
    out[index()] = tile[y][15 - x] + (x > 16 ? four.x : 0);
}

KERNEL right_unwritten_chosen(const int *in, int *out, int n)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    bool there = in[index()] % 3 == 0;
    if (there) s[t] = in[index()];
    __syncthreads();
    int value = s[t];
    out[index()] = there ? value : -1;
}

KERNEL right_unwritten_exchange(const int *in, int *out, int n)
{
    __shared__ int latest;
    atomicExch(&latest, in[index()]);
    __syncthreads();
    out[index()] = latest;
}

// What was not written in the first round is in the second.
KERNEL right_unwritten_later(const int *in, int *out, int n)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    for (int round = 0; round < 2; round++) {
        if (t % 2 <= round) s[t] = in[index()] + round;
        __syncthreads();
        int value = s[t ^ 1];
        __syncthreads();
        s[t] = value;
        if (t % 2 <= round || round == 1) s[t] = in[index()];
        __syncthreads();
    }
    out[index()] = s[127 - t];
}

// Bytes and halves of words.
KERNEL right_unwritten_bytes(const int *in, int *out, int n)
{
    __shared__ unsigned char bytes[128];
    __shared__ short halves[128];
    int t = threadIdx.x;
    bytes[t] = in[index()];
    halves[t] = in[index()];
    __syncthreads();
    out[index()] = bytes[t ^ 5] + halves[t ^ 9];
}

// ---- wrong -----------------------------------------------------------------------------------

KERNEL unwritten_sum(const int *in, int *out, int n)
{
    __shared__ int sum;
    if (in[index()] % 2) atomicAdd(&sum, 1); // unwritten_sum
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

KERNEL unwritten_bins(const int *in, int *out, int n)
{
    __shared__ int bins[64];
    atomicAdd(&bins[in[index()] % 64], 1); // unwritten_bins
    __syncthreads();
    if (threadIdx.x < 64) out[index()] = bins[threadIdx.x]; // unwritten_bins
}

KERNEL unwritten_rest(const int *in, int *out, int n)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    if (t < 100) s[t] = in[index()];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) s[t] = max(s[t], s[t + half]); // unwritten_rest
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0]; // unwritten_rest
}

KERNEL unwritten_edge(const int *in, int *out, int n)
{
    __shared__ int s[130];
    int t = threadIdx.x;
    s[t + 1] = in[index()];
    if (t == 127) s[129] = 0;
    __syncthreads();
    int left = s[t];                           // unwritten_edge
    out[index()] = left + s[t + 1] + s[t + 2]; // unwritten_edge
}

KERNEL unwritten_counted(const int *in, int *out, int n)
{
    __shared__ int first;
    if (n < 0) first = n;
    int mine = first;                                             // unwritten_counted
    if (threadIdx.x % 32 == 3) atomicAdd(&out[blockIdx.x], mine); // unwritten_counted
}

KERNEL unwritten_wide(const int *in, int *out, int n)
{
    __shared__ double s[128];
    int t = threadIdx.x;
    if (t != 77) s[t] = in[index()];
    __syncthreads();
    double other = s[t ^ 1];   // unwritten_wide
    out[index()] = (int)other; // unwritten_wide
}

KERNEL unwritten_vectors(const int *in, int *out, int n)
{
    __shared__ int4 s[64];
    int t = threadIdx.x;
    if (t < 64) ((int *)s)[4 * t] = in[index()];
    __syncthreads();
    int4 four = s[t / 2];           // unwritten_vectors
    out[index()] = four.x + four.z; // unwritten_vectors
}

// Through the memory of two threads.
KERNEL unwritten_moved(const int *in, int *out, int n)
{
    __shared__ int s[128], d[128];
    int t = threadIdx.x;
    if (t > 10) s[t] = in[index()];
    __syncthreads();
    d[t] = 3 * s[127 - t] + 1; // unwritten_moved
    __syncthreads();
    int value = d[t ^ 64];
    __syncthreads();
    s[t] = value ^ 5;
    __syncthreads();
    out[index()] = s[t ^ 2]; // unwritten_moved
}
