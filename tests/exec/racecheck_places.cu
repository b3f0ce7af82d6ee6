// Kernels for racecheck_test.c as in racecheck_kernels.cu, in which the lanes of a warp store to
// places that are no row of memory: every other word, backwards, words of a structure.

#include "racecheck.cuh"

// ---- right ----------------------------------------------------------------------------------

// Pairs of blocks have every other word of the same sectors.
KERNEL right_places_of_two_blocks(const int *in, int *out, int n)
{
    int i = blockIdx.x / 2 * 128 + threadIdx.x;
    out[2 * i + blockIdx.x % 2] = in[i] + 1;
}

KERNEL right_places_backwards(const int *in, int *out, int n)
{
    out[n - 1 - index()] = in[index()] + 1;
    __syncthreads();
    out[n - 1 - index()] += 3;
}

// Each warp has a member of 32 structures.
KERNEL right_places_of_warps(const int *in, int *out, int n)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int *structure = out + blockIdx.x * 128 + 4 * lane;
    structure[warp] = in[index()];
    __syncthreads();
    int next = structure[(warp + 1) % 4];
    __syncthreads();
    structure[warp] += next;
}

// A warp's lanes reach over 32 words, and leave out those of the block behind.
KERNEL right_places_with_gaps(const int *in, int *out, int n)
{
    int lane = threadIdx.x % 32, first = blockIdx.x / 2 * 128 + threadIdx.x / 32 * 32;
    int even = lane == 31 ? 31 : lane / 2 * 2, odd = lane > 29 ? 29 : lane | 1;
    int word = blockIdx.x % 2 ? odd : even;
#pragma unroll 1
    for (int k = 0; k < 2; k++) out[first + 256 * k + word] = n + word;
}

// All of them store the same, some of it again.
KERNEL right_places_filled_alike(const int *in, int *out, int n)
{
    int lane = threadIdx.x % 32;
    out[blockIdx.x * 128 + 3 * lane] = 7;
    out[blockIdx.x * 128 + 96 - 3 * lane] = 7;
}

KERNEL right_places_wide(const int *in, int *out, int n)
{
    long long *wide = (long long *)out;
    if (threadIdx.x < 64) {
        wide[blockIdx.x * 64 + (threadIdx.x ^ 63)] = in[threadIdx.x] + 1;
        out[2 * (blockIdx.x * 64 + (threadIdx.x ^ 63))] += 1;
    }
}

struct Member {
    int of_own, sum, other[5];
};

// A thread's structure has seven words; blocks share sectors. Its members are read and written.
KERNEL right_places_of_structures(const int *in, int *out, int n)
{
    Member *own = (Member *)out + index() / 2;
#pragma unroll 1
    for (int k = 0; k < 2 && index() % 2 == 0 && index() < n / 4; k++) {
        own->sum += in[index()] + 1;
        own->other[4] -= own->sum;
        own->of_own = own->other[4];
    }
}

// Three bytes to a thread, turned round twice.
KERNEL right_places_of_colours(const int *in, int *out, int n)
{
    unsigned char *pixel = (unsigned char *)out + 3 * index();
    pixel[0] = in[index()] + 1;
    pixel[1] = in[index()] + 2;
    pixel[2] = in[index()] + 3;
#pragma unroll 1
    for (int k = 0; k < 2; k++) {
        unsigned char red = pixel[0], blue = pixel[2];
        pixel[0] = blue;
        pixel[2] = red;
    }
}

// Words of four bytes, of which a store changes some; every second one belongs to another warp.
KERNEL right_places_of_bytes_in_vectors(const int *in, int *out, int n)
{
    uchar4 *vector = (uchar4 *)out + blockIdx.x * 128;
    int i = threadIdx.x % 64 * 2 + threadIdx.x / 64;
#pragma unroll 1
    for (int k = 0; k < 3; k++) {
        uchar4 old = vector[i];
        vector[i] = make_uchar4(old.x + 1, old.y, old.z + in[i], 255 - old.w);
    }
}

KERNEL right_places_of_halves_of_words(const int *in, int *out, int n)
{
    unsigned short *half = (unsigned short *)out + blockIdx.x * 256;
    half[2 * threadIdx.x] = in[index()] + 1;
    half[255 - 2 * threadIdx.x] = in[index()] + 2;
    __syncthreads();
    half[2 * threadIdx.x + 1] += half[2 * (127 - threadIdx.x)];
}

// A warp's lanes store, wait for each other, and store to the places of the lanes before them.
KERNEL right_places_after_the_warp(const int *in, int *out, int n)
{
    int lane = threadIdx.x % 32, *own = out + blockIdx.x * 128 + threadIdx.x / 32 * 32;
    own[lane * 5 % 32] = in[index()] + 1;
    __syncwarp();
    own[(lane + 1) * 5 % 32] = in[index()] + 2;
    __syncwarp();
    own[lane * 3 % 32] += 3;
}

// Each warp reads and writes its row, and again, before and behind a barrier.
KERNEL right_places_in_rows(const int *in, int *out, int n)
{
    out[index()] = in[index()] + 1;
#pragma unroll 1
    for (int k = 0; k < 3; k++) out[index()] = out[index()] * 3 + k;
    __syncthreads();
    int *other = &out[blockIdx.x * 128 + (threadIdx.x + 32) % 128];
    *other = *other * 5 + 1;
}

// All warps fill the same row, and each reads what it has stored itself.
KERNEL right_places_in_rows_filled_alike(const int *in, int *out, int n)
{
    int *row = &out[blockIdx.x * 128 + threadIdx.x % 32];
#pragma unroll 1
    for (int k = 0; k < 2; k++) {
        *row = 7;
        asm volatile("" ::: "memory");
        int seen = *row;
        asm volatile("" ::"r"(seen));
    }
}

// ---- wrong ----------------------------------------------------------------------------------

KERNEL places_of_the_next_block(const int *in, int *out, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < 2 && threadIdx.x < 64; k++)
        out[(2 * i + 128 * k) % n] = in[i] + 1 + n * k; // places_of_the_next_block
}

KERNEL places_read_by_the_next_block(const int *in, int *out, int n)
{
    int i = blockIdx.x / 2 * 64 + threadIdx.x % 64;
#pragma unroll 1
    for (int k = 0; k < 2; k++) {
        int *part = out + 256 * k;
        part[2 * i + blockIdx.x % 2] = in[i] + 1; // places_read_by_the_next_block
    }
    __syncthreads();
    int other = out[256 + 2 * i + 1 - blockIdx.x % 2]; // places_read_by_the_next_block
    if (other == 5) out[n + blockIdx.x] = other;
}

KERNEL places_backwards_in_the_next_block(const int *in, int *out, int n)
{
    int i = n - 1 - index();
#pragma unroll 1
    for (int k = 0; k < 2; k++)
        out[(i + 128 * k) % n] = in[i] + 1 + n * k; // places_backwards_in_the_next_block
}

// Sectors of which each block has a part, and one block a word more.
KERNEL places_of_one_word_too_many(const int *in, int *out, int n)
{
    int i = blockIdx.x / 2 * 128 + threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < 2; k++)
        if (k == 0 || (blockIdx.x == 2 && threadIdx.x % 32 > 3)) {
            int odd = k == 1 && threadIdx.x == 77;
            out[2 * i + (blockIdx.x + odd) % 2] = in[i] + 1 + k; // places_of_one_word_too_many
        }
}

KERNEL places_of_all_warps(const int *in, int *out, int n)
{
    int lane = threadIdx.x % 32;
    out[blockIdx.x * 128 + 3 * lane] = in[index()]; // places_of_all_warps
}

KERNEL places_of_the_next_warp(const int *in, int *out, int n)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int *structure = out + blockIdx.x * 128 + 4 * lane;
    structure[warp] = in[index()] + 1;    // places_of_the_next_warp
    int next = structure[(warp + 1) % 4]; // places_of_the_next_warp
    __syncthreads();
    structure[warp] = next;
}

KERNEL places_wide_of_all_warps(const int *in, int *out, int n)
{
    long long *wide = (long long *)out + blockIdx.x * 64;
    wide[threadIdx.x % 32 * 2 + 1] = in[index()]; // places_wide_of_all_warps
}

KERNEL places_of_two_lanes(const int *in, int *out, int n)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int *own = out + blockIdx.x * 128 + 32 * warp;
    own[lane * 7 % 32] = in[index()] + 1; // places_of_two_lanes
    out[index()] = own[lane / 2] + n;     // places_of_two_lanes
}

// The last byte of a thread's colour is the first one of the next thread's.
KERNEL places_of_the_next_colour(const int *in, int *out, int n)
{
    unsigned char *pixel = (unsigned char *)out + 3 * index();
#pragma unroll 1
    for (int k = 0; k < 4 - (threadIdx.x == 127); k++)
        pixel[k] = in[index()] + k + 1; // places_of_the_next_colour
}

KERNEL places_of_a_vectors_byte(const int *in, int *out, int n)
{
    uchar4 *vector = (uchar4 *)out + blockIdx.x * 128;
    int i = (threadIdx.x ^ 127), j = threadIdx.x % 64 + 32;
    vector[i] = make_uchar4(in[i] + 1, 0, in[i] + 2, 0);        // places_of_a_vectors_byte
    if (((unsigned char *)&vector[j])[2] == 77) out[n - 1] = 1; // places_of_a_vectors_byte
}

// Two warps add to the same structures.
KERNEL places_of_structures_added_to(const int *in, int *out, int n)
{
    int *structure = out + blockIdx.x * 128 + threadIdx.x % 32 * 3;
    int add = in[index()] + 1;
    if (threadIdx.x < 64) *structure += add; // places_of_structures_added_to
}

KERNEL places_of_halves_too_many(const int *in, int *out, int n)
{
    unsigned short *half = (unsigned short *)out + blockIdx.x * 256;
    int last = 255 - 2 * threadIdx.x - (threadIdx.x == 64);
    half[2 * threadIdx.x] = in[index()] + 1; // places_of_halves_too_many
    half[last] = 1 - in[index()];            // places_of_halves_too_many
}

// The rows are read and written by their own warp, and then by another.
KERNEL places_in_rows_read_by_another(const int *in, int *out, int n)
{
    int *own = &out[index()], *other = &out[blockIdx.x * 128 + (threadIdx.x + 32) % 128];
    *own = *own + in[index()] + 1; // places_in_rows_read_by_another
    int seen = *other;             // places_in_rows_read_by_another
    if (seen == 5) out[0] = 1;
}

// A warp waits for itself; only another warp's lanes are in its way.
KERNEL places_after_the_wrong_warp(const int *in, int *out, int n)
{
    int lane = threadIdx.x % 32, *row = out + blockIdx.x * 128;
    if (threadIdx.x < 64) row[lane * 3] = in[index()] + 1; // places_after_the_wrong_warp
    __syncwarp();
}

// The first access of an instruction takes the slow path, so each of these has two.
KERNEL places_in_rows_read_before(const int *in, int *out, int n)
{
    int *own = &out[index()], *other = &out[index() ^ 32];
#pragma unroll 1
    for (int k = 0; k < 2; k++) {
        __syncthreads();
        asm volatile("" ::"r"(*own));
        *own = in[index()] + 1 + k; // places_in_rows_read_before
        if (k == 1 && threadIdx.x & 32)
            asm volatile("" ::"r"(*other)); // places_in_rows_read_before
    }
}

// Lanes of one warp, with nothing between their stores.
KERNEL places_of_the_same_warp(const int *in, int *out, int n)
{
    int lane = threadIdx.x % 32, *own = out + blockIdx.x * 128 + threadIdx.x / 32 * 32;
#pragma unroll 1
    for (int k = 0; k < 2; k++) {
        __syncthreads();
        own[lane * 5 % 32] = in[index()] + 1;                    // places_of_the_same_warp
        own[lane * (k == 1 ? 3 : 5) % 32] = in[index()] + 2 + k; // places_of_the_same_warp
    }
}
