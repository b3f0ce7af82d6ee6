// Kernels for racecheck_test.c as in racecheck_kernels.cu, in which whole warps read the words of a
// line of memory in whatever order, again and again: what several warps have read already is soon
// looked at no more, until somebody stores to it.

#include "racecheck.cuh"

// The 32 words that all warps of a block read: once round to the left and to the right, turned
// about, in pairs, all the same one, every other one.
__device__ int read_all(const int *line)
{
    const int l = threadIdx.x % 32;
    int sum = 0;
    for (int k = 0; k < 3; k++)
        sum += line[(l + 31) % 32] + line[l] * line[(l + 1) % 32] + line[31 - l] - line[l ^ k] +
               line[k] * line[l * 2 % 32];
    return sum;
}

KERNEL right_settled_torus(const int *in, int *out, int n)
{
    int *const cells = out + blockIdx.x * 128;
    const int x = threadIdx.x % 32, y = threadIdx.x / 32;
    const int up = (y + 3) % 4 * 32, down = (y + 1) % 4 * 32, left = (x + 31) % 32;
    cells[threadIdx.x] = in[index()] & 1;
    for (int k = 0; k < 20; k++) {
        __syncthreads();
        const int around = cells[up + left] + cells[up + x] + cells[up + (x + 1) % 32] +
                           cells[y * 32 + left] + cells[y * 32 + (x + 1) % 32] +
                           cells[down + left] + cells[down + x] + cells[down + (x + 1) % 32];
        const int next = around == 3 || (around == 2 && cells[threadIdx.x] == 1);
        __syncthreads();
        cells[threadIdx.x] = next;
    }
}

KERNEL right_settled_shared_torus(const int *in, int *out, int n)
{
    __shared__ int cells[128];
    const int x = threadIdx.x % 32, y = threadIdx.x / 32, up = (y + 3) % 4 * 32;
    cells[threadIdx.x] = in[index()];
    for (int k = 0; k < 20; k++) {
        __syncthreads();
        const int next = cells[up + (x + 31) % 32] + cells[up + x] + cells[up + (x + 1) % 32] +
                         cells[y * 32 + 31 - x];
        __syncthreads();
        cells[threadIdx.x] = next;
    }
    out[index()] = cells[threadIdx.x];
}

KERNEL right_settled_turns(const int *in, int *out, int n)
{
    int *const line = out + blockIdx.x * 128;
    int sum = in[index()];
    for (int k = 0; k < 8; k++) {
        if (threadIdx.x / 32 == k % 4) line[threadIdx.x % 32] = sum + k;
        __syncthreads();
        sum += read_all(line);
        __syncthreads();
    }
    if (threadIdx.x >= 32) line[threadIdx.x] = sum;
}

KERNEL settled_then_stored(const int *in, int *out, int n)
{
    int *const line = out + blockIdx.x * 128;
    const int l = threadIdx.x % 32;
    if (threadIdx.x < 32) line[l] = in[index()];
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 4; k++)
        sum += line[(l + 1) % 32] - line[(l + k) % 32];            // settled_then_stored
    if (threadIdx.x == 107) line[7] = (wait_a_while(n) & 1) + 100; // settled_then_stored
    __syncthreads();
    line[threadIdx.x] = sum;
}

KERNEL settled_shared_then_stored(const int *in, int *out, int n)
{
    __shared__ int line[32];
    const int l = threadIdx.x % 32;
    if (threadIdx.x < 32) line[l] = in[index()];
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 4; k++)
        sum += line[(l + 1) % 32] - line[(l + k) % 32];            // settled_shared_then_stored
    if (threadIdx.x == 107) line[7] = (wait_a_while(n) & 1) + 100; // settled_shared_then_stored
    __syncthreads();
    out[index()] = sum;
}

// The load behind the store is one that looks at nothing where nobody has stored.
KERNEL settled_stored_and_read(const int *in, int *out, int n)
{
    int *const line = out + blockIdx.x * 128;
    const int l = threadIdx.x % 32;
    if (threadIdx.x < 32) line[l] = in[index()];
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 4; k++) sum += line[(l + k) % 32];        // settled_stored_and_read
    if (threadIdx.x == 39) line[7] = (wait_a_while(n) & 1) + 100; // settled_stored_and_read
    if (threadIdx.x / 32 == 3) {
        int late = wait_a_while(n) ^ wait_a_while(n + 1);
        late ^= wait_a_while(n + 2);
        sum += line[(l + (late & 1)) % 32] * 3; // settled_stored_and_read
    }
    __syncthreads();
    line[threadIdx.x] = sum;
}

// Nothing but loads from there on, in another order by each warp: of the words one is the storer's.
KERNEL settled_after_a_store(const int *in, int *out, int n)
{
    int *const line = out + blockIdx.x * 128;
    const int l = threadIdx.x % 32, w = threadIdx.x / 32;
    if (threadIdx.x < 32) line[l] = in[index()];
    __syncthreads();
    if (threadIdx.x == 5) line[9] = n; // settled_after_a_store
    int sum = wait_a_while(n) & 1;
    sum += line[(l + w) % 32]; // settled_after_a_store
    __syncthreads();
    line[threadIdx.x] = sum;
}

// What no store has been to when it is read, out of line, by the blocks before.
KERNEL settled_for_other_blocks(const int *in, int *out, int n)
{
    const int l = threadIdx.x % 32;
    int sum = in[index()];
#pragma unroll 1 // the instruction's first load is not like those that follow
    for (int k = 0; k < 64 && blockIdx.x < 3; k += 32)
        sum += out[n + k + (l + 1) % 32];                                // settled_for_other_blocks
    if (blockIdx.x == 3 && threadIdx.x == 9) out[n + 44] = sum + 100000; // settled_for_other_blocks
    out[index()] = sum;
}
