/* Kernels for proof_test.c: of each, the allocation that `out` points to is proven to have no race
 * if the name begins with own_, and not if it begins with shared_. The launch has 9 x 9 blocks of
 * 16 x 16 threads if the name says plane, else 16 of 256; `n` is 130 or 4,000. */
#include <cassert>
#include <cstdio>

struct body {
    float x, y, z, vx, vy, vz, mass;
};

#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define X (blockIdx.x * blockDim.x + threadIdx.x)
#define Y (blockIdx.y * blockDim.y + threadIdx.y)

extern "C" {
__global__ void own_element(float *out, const float *in, int n)
{
    const int i = I;
    if (i < n) out[i] = in[i] + in[i + 1];
}
__global__ void own_update(float *out, const float *in, int n)
{
    const int i = I;
    if (i >= n) return;
    out[i] += in[i];
}
__global__ void own_reversed(float *out, const float *, int n)
{
    const int i = I;
    if (i < n) out[n - 1 - i] = 1;
}
__global__ void own_wide_index(float *out, const float *in, int n)
{
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < (size_t)n) out[i] = in[i];
}
__global__ void own_members(float *out, const float *, int n)
{
    body *bodies = (body *)out;
    const int i = I;
    if (i >= n) return;
    bodies[i].x += bodies[i].vx;
    bodies[i].y += bodies[i].vy;
    bodies[i].mass = 1;
}
__global__ void own_bytes(float *out, const float *in, int n)
{
    unsigned char *to = (unsigned char *)out;
    const unsigned char *from = (const unsigned char *)in;
    const unsigned i = I;
    if (i >= (unsigned)n) return;
    to[3 * i] = from[3 * i + 2];
    to[3 * i + 1] = from[3 * i + 1];
    to[3 * i + 2] = from[3 * i];
}
__global__ void own_pair(float *out, const float *in, int n)
{
    const int i = I;
    if (i < n) {
        out[2 * i] = in[i];
        out[2 * i + 1] = -in[i];
    }
}
__global__ void own_grid_stride(float *out, const float *in, int n)
{
    for (int i = I; i < n; i += gridDim.x * blockDim.x) out[i] = in[i];
}
__global__ void own_wide_grid_stride(float *out, const float *in, int n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < (size_t)n;
         i += gridDim.x * (size_t)blockDim.x)
        out[i] *= in[0];
}
__global__ void own_blocks_result(float *out, const float *in, int)
{
    __shared__ float sum;
    if (threadIdx.x == 0) sum = in[blockIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
__global__ void own_plane(float *out, const float *in, int n)
{
    const int x = X, y = Y;
    if (x < n && y < n) out[y * n + x] = in[y * n + x];
}
__global__ void own_plane_wide(float *out, const float *in, int n)
{
    const int x = X, y = Y;
    if (x >= n || y >= n) return;
    out[(size_t)y * n + x] = in[(size_t)y * n + x];
}
__global__ void own_plane_transposed(float *out, const float *in, int n)
{
    const int x = X, y = Y;
    if (x < n && y < n) out[x * n + y] = in[y * n + x];
}
__global__ void own_plane_fits(float *out, const float *, int)
{
    out[Y * (gridDim.x * blockDim.x) + X] = 1;
}
__global__ void own_gathered(float *out, const float *in, int n)
{
    const int *index = (const int *)(in + n);
    const int i = I;
    if (i < n) out[i] = in[index[i]];
}

__global__ void own_low_bits(float *out, const float *in, int)
{
    const unsigned lane = (threadIdx.x * 4) & 1020;
    for (unsigned k = 0; k < 4; k++) out[blockIdx.x * 1024 + (lane | k)] = in[lane];
}
__global__ void own_with_assertion(float *out, const float *in, int n)
{
    const int i = I;
    assert(n > 0);
    if (i >= n) return;
    if (in[i] < 0) printf("%d\n", i);
    out[i] = in[i];
}
__global__ void own_textured(float *out, cudaTextureObject_t in, int n)
{
    const int i = I;
    if (i < n) out[i] = tex1Dfetch<float>(in, i) + tex1Dfetch<float>(in, n - i);
}
__global__ void own_surface_read(float *out, cudaSurfaceObject_t in, int n)
{
    const int i = I;
    if (i < n) out[i] = surf1Dread<float>(in, 4 * i);
}
__global__ void own_row(float *out, const float *, int n)
{
    const int i = I;
    if (i >= n) return;
    for (int k = 0; k < n; k++) out[i * n + k] *= 2;
}
__global__ void own_odd_row(float *out, const float *, int n)
{
    const int i = I;
    if (i >= n) return;
    for (int k = 0; k < n - 1; k++) out[i * (n - 1) + k] *= 2;
}
__global__ void own_piece(float *out, const float *in, int)
{
    for (int k = 0; k < 37; k++) out[I * 37 + k] = in[k];
}

__global__ void own_row_unsigned(float *out, const float *, int n)
{
    const unsigned i = I, width = n;
    if (i >= width) return;
    for (unsigned k = 0; k < width; k++) out[i * width + k] *= 2;
}
__global__ void own_row_wide(float *out, const float *, int n)
{
    const size_t i = I, width = n;
    if (i >= width) return;
    for (size_t k = 0; k < width; k++) out[i * width + k] *= 2;
}

__global__ void shared_row_unsigned(float *out, const float *, int n)
{
    const unsigned i = I, width = n;
    if (i >= width) return;
    for (unsigned k = 0; k < width + 1; k++) out[i * width + k] *= 2;
}
__global__ void shared_row(float *out, const float *, int n)
{
    const int i = I;
    if (i >= n) return;
    for (int k = 0; k <= n; k++) out[i * n + k] *= 2;
}
__global__ void shared_piece(float *out, const float *in, int)
{
    for (int k = 0; k < 38; k++) out[I * 37 + k] = in[k];
}
__global__ void shared_textured(float *out, cudaTextureObject_t in, int n)
{
    const int i = I;
    if (i < n) out[i] = tex1Dfetch<float>(in, n - i); /* the texture is of what out points to */
}
__global__ void shared_textured_surface(float *out, cudaSurfaceObject_t in, int n)
{
    const int i = I;
    if (i >= n) return;
    out[i] = 1;
    surf1Dwrite(2.0f, in, 4 * (n - i));
}
__global__ void shared_neighbour(float *out, const float *, int n)
{
    const int i = I;
    if (i >= n) return;
    out[i] = 1;
    out[i + 1] = 2;
}
__global__ void shared_read_of_neighbour(float *out, const float *, int n)
{
    const int i = I;
    if (i < n) out[i] += out[i + 1];
}
__global__ void shared_half(float *out, const float *, int n)
{
    const int i = I;
    if (i < n) out[i / 2] = i;
}
__global__ void shared_by_blocks(float *out, const float *, int)
{
    out[threadIdx.x] = blockIdx.x;
}
__global__ void shared_by_threads(float *out, const float *, int)
{
    out[blockIdx.x] = threadIdx.x;
}
__global__ void shared_sum(float *out, const float *in, int n)
{
    const int i = I;
    if (i < n) atomicAdd(out, in[i]);
}
__global__ void shared_scattered(float *out, const float *in, int n)
{
    const int *index = (const int *)in;
    const int i = I;
    if (i < n) out[index[i]] = i;
}
__global__ void shared_plane_too_wide(float *out, const float *, int n)
{
    const int x = X, y = Y;
    if (y < n) out[y * n + x] = 1; /* x is not less than n */
}
__global__ void shared_some_unguarded(float *out, const float *, int n)
{
    const int x = X, y = Y;
    if (x < n && y < n) out[y * n + x] = 1;
    if (y < n) out[y * n + x] = 2;
}
__global__ void shared_through_memory(float *out, float *const *in, int n)
{
    const int i = I;
    if (i < n) out[i] = 1;
    in[0][0] = 2; /* may be anywhere */
}
__global__ void shared_elsewhere(float *out, float *in, int n)
{
    const int i = I;
    if (i < n) {
        out[i] = 1;
        in[n - i] = 2; /* in is out in the launch of this kernel */
    }
}
__global__ void shared_next_round(float *out, const float *, int n)
{
    int before = I;
    for (int i = I; i < n; i += gridDim.x * blockDim.x) {
        out[i] = out[before + 1];
        before = i;
    }
}
__global__ void shared_plane_two_limits(float *out, const float *, int n)
{
    const int x = X, y = Y;
    if (x < n && y < n) out[y * n + x] = 1;
    if (x < n + 8 && y < n) out[y * n + x] = 2;
}
__global__ void shared_plane_edges(float *out, const float *, int n)
{
    const int x = X, y = Y;
    if ((unsigned)(x - 5) >= 95 && y < n) out[y * 100 + x] = 1; /* x < 5, too */
}
__global__ void shared_going_down(float *out, const float *, int n)
{
    for (int i = I; i >= n - 4000; i -= 1024)
        if (i < 1024) out[i] = 1;
}
__global__ void shared_plane_gaps(float *out, const float *, int n)
{
    const int x = blockIdx.x * 48 + threadIdx.x, y = Y;
    if (x >= n || y >= n) return;
    out[y * n + x] = 1;
    out[y * n + x + 32] = 2; /* the next row's begin */
}
__global__ void own_warps_result(float *out, const float *in, int)
{
    const unsigned warp = I >> 5, lane = I & 31;
    if (lane == 0) out[warp] = in[warp];
}
__global__ void own_warps_result_signed(float *out, const float *in, int)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 31) out[blockIdx.x * 8 + warp] = in[warp];
}
__global__ void own_lanes_turned(float *out, const float *in, int)
{
    const int lane = threadIdx.x & 31, whole = threadIdx.x & ~31;
    out[blockIdx.x * 256 + whole + 31 - lane] = in[lane];
}
__global__ void own_part(float *out, const float *in, int n)
{
    const unsigned each = n / (gridDim.x * blockDim.x / 64);
    for (unsigned k = 0; k < each; k++) out[I * each + k] = in[k];
}
__global__ void own_part_rounded(float *out, const float *in, int n)
{
    const int each = (n + 1023) / 1024;
    for (int k = 0; k < each; k++) out[I * each + k] = in[k];
}

__global__ void shared_warps_result(float *out, const float *in, int)
{
    const unsigned warp = I >> 5, lane = I & 31;
    if (lane < 2) out[warp] = in[lane];
}
__global__ void shared_by_lanes(float *out, const float *in, int)
{
    out[blockIdx.x * 32 + (threadIdx.x & 31)] = in[threadIdx.x];
}
__global__ void shared_part(float *out, const float *in, int n)
{
    const unsigned each = n / (gridDim.x * blockDim.x / 64);
    for (unsigned k = 0; k < each + 1; k++) out[I * each + k] = in[k];
}
}
