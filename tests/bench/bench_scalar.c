/* The scalar side of the rows, as a C programmer would first write it. */
#include "tests/bench/bench.h"

#include "emulator/exec/ops/half_lanes.h"

#include <math.h>
#include <string.h>

/* Each step loads and stores, as in the lessons' programs. */
void scalar_multiply_divide(const float *in, volatile float *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = in[i] + 1;
        for (int round = 0; round < BENCH_ROUNDS; round++) {
            out[i] = out[i] * 2;
            out[i] = out[i] / 2;
        }
    }
}

void scalar_mandelbrot(float *out, size_t width, int iterations)
{
    for (size_t i = 0; i < width * width; i++) {
        const float re = -2 + 4.0f * (float)(i % width) / (float)(width - 1);
        const float im = 2 - 4.0f * (float)(i / width) / (float)(width - 1);
        float x = 0, y = 0;
        out[i] = 1;
        for (int k = 0; k < iterations; k++) {
            const float t = x * x - y * y + re;
            y = 2 * x * y + im;
            x = t;
            if (x * x + y * y > 4) {
                out[i] = 0;
                break;
            }
        }
    }
}

int32_t scalar_sum(const int32_t *in, size_t n)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += (uint32_t)in[i];
    return (int32_t)sum;
}

/* Takes a block's elements, and zeros behind the last. */
static void take_block(const int32_t *in, size_t n, size_t first, uint32_t block[BENCH_THREADS])
{
    for (size_t t = 0; t < BENCH_THREADS; t++)
        block[t] = first + t < n ? (uint32_t)in[first + t] : 0;
}

int32_t scalar_sum_tree(const int32_t *in, size_t n)
{
    uint32_t sum = 0, block[BENCH_THREADS];
    for (size_t first = 0; first < n; first += BENCH_THREADS) {
        take_block(in, n, first, block);
        for (size_t half = BENCH_THREADS / 2; half > 0; half /= 2)
            for (size_t t = 0; t < half; t++) block[t] += block[t + half];
        sum += block[0];
    }
    return (int32_t)sum;
}

int32_t scalar_sum_shuffle(const int32_t *in, size_t n)
{
    enum { WARP = 32 };
    uint32_t sum = 0, block[BENCH_THREADS], before[WARP];
    for (size_t first = 0; first < n; first += BENCH_THREADS) {
        take_block(in, n, first, block);
        for (uint32_t *warp = block; warp < block + BENCH_THREADS; warp += WARP)
            for (size_t lanes = WARP / 2; lanes > 0; lanes /= 2) {
                memcpy(before, warp, sizeof before);
                for (size_t l = 0; l < WARP; l++) warp[l] += before[l ^ lanes];
            }
        for (size_t t = 0; t < BENCH_THREADS; t += WARP) sum += block[t];
    }
    return (int32_t)sum;
}

void scalar_add(const float *a, const float *b, float *c, size_t n)
{
    for (size_t i = 0; i < n; i++) c[i] = a[i] + b[i];
}

/* The loop order accesses rows. */
void scalar_matmul(const float *a, const float *b, float *c, size_t width)
{
    memset(c, 0, width * width * sizeof *c);
    for (size_t i = 0; i < width; i++)
        for (size_t k = 0; k < width; k++)
            for (size_t j = 0; j < width; j++)
                c[i * width + j] += a[i * width + k] * b[k * width + j];
}

void scalar_transpose(const uint32_t *in, uint32_t *out, size_t width)
{
    for (size_t y = 0; y < width; y++)
        for (size_t x = 0; x < width; x++) out[y * width + x] = in[x * width + y];
}

void scalar_life(const uint32_t *in, uint32_t *out, size_t width)
{
    static uint32_t other[BENCH_LIFE * BENCH_LIFE];
    uint32_t *now = out, *next = other;
    for (size_t i = 0; i < width * width; i++) out[i] = in[i] & 1;
    for (int k = 0; k < BENCH_GENERATIONS; k++) {
        for (size_t y = 0; y < width; y++)
            for (size_t x = 0; x < width; x++) {
                const size_t up = (y + width - 1) % width * width, down = (y + 1) % width * width;
                const size_t left = (x + width - 1) % width, right = (x + 1) % width;
                const uint32_t around = now[up + left] + now[up + x] + now[up + right] +
                                        now[y * width + left] + now[y * width + right] +
                                        now[down + left] + now[down + x] + now[down + right];
                next[y * width + x] = around == 3 || (around == 2 && now[y * width + x] == 1);
            }
        uint32_t *const before = now;
        now = next;
        next = before;
    }
    if (now != out) memcpy(out, now, width * width * sizeof *out);
}

void scalar_histogram(const uint32_t *in, uint32_t *bins, size_t n)
{
    memset(bins, 0, BENCH_BINS * sizeof *bins);
    for (size_t i = 0; i < n; i++) bins[in[i] % BENCH_BINS]++;
}

/* Goes over all vertices once per level, as the kernel does. */
void scalar_bfs(const uint32_t *first, const uint32_t *edges, uint32_t *level, size_t n)
{
    memset(level, 0xff, n * sizeof *level);
    level[0] = 0;
    int found = 1;
    for (uint32_t now = 0; found; now++) {
        found = 0;
        for (size_t v = 0; v < n; v++) {
            if (level[v] != now) continue;
            for (uint32_t e = first[v]; e < first[v + 1]; e++) {
                if (level[edges[e]] != UINT32_MAX) continue;
                level[edges[e]] = now + 1;
                found = 1;
            }
        }
    }
}

void scalar_doubles(const double *in, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double x = in[i];
        for (int k = 0; k < BENCH_STEPS; k++) x = x * 0.75 + 1.0 / (x + 2.0);
        out[i] = x;
    }
}

void scalar_integers(const uint64_t *in, uint64_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t x = in[i] | 1;
        for (int k = 0; k < BENCH_STEPS; k++) {
            x ^= x >> 12;
            x ^= x << 25;
            x ^= x >> 27;
            x = x * UINT64_C(0x2545f4914f6cdd1d) + (uint64_t)k;
        }
        out[i] = x;
    }
}

/* Maps pixel (x, y) of a rotated and reduced picture to its place in the original. All values are
 * exact in floats. */
static float across(size_t x, size_t y)
{
    return 0.75f * (float)x - 0.25f * (float)y + 5.3125f;
}

static float down(size_t x, size_t y)
{
    return 0.75f * (float)y + 0.25f * (float)x - 3.6875f;
}

static long clamp(long i, size_t width)
{
    return i < 0 ? 0 : i >= (long)width ? (long)width - 1 : i;
}

static uint32_t fused(uint32_t half)
{
    const float x = half_from_f16((uint16_t)half), factor = 0.75f, more = 0.5f;
    return half_to_f16(half_fma32(x, factor, more));
}

void scalar_halves(const uint32_t *in, uint32_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t pair = in[i] & 0x3fff3fff; /* below 2 */
        for (int k = 0; k < BENCH_STEPS; k++) pair = fused(pair & 0xffff) | fused(pair >> 16) << 16;
        out[i] = pair;
    }
}

void scalar_bodies(const float *in, float *out, size_t n)
{
    for (size_t i = 0; i < n * BENCH_BODY; i += BENCH_BODY) {
        for (int k = 0; k < 3; k++) out[i + k] = in[i + k] + 0.5f * in[i + 3 + k];
        for (int k = 3; k < BENCH_BODY; k++) out[i + k] = in[i + k];
    }
}

void scalar_colours(const unsigned char *in, unsigned char *out, size_t n)
{
    for (size_t i = 0; i < 3 * n; i += 3) {
        out[i] = in[i + 2];
        out[i + 1] = in[i + 1];
        out[i + 2] = in[i];
    }
}

void scalar_scatter(const uint32_t *in, uint32_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++) out[i * BENCH_PLACES % n] = in[i];
}

void scalar_sample(const float *in, float *out, size_t width)
{
    for (size_t y = 0; y < width; y++)
        for (size_t x = 0; x < width; x++) {
            const long u = clamp((long)floorf(across(x, y)), width);
            const long v = clamp((long)floorf(down(x, y)), width);
            out[y * width + x] = in[(size_t)v * width + (size_t)u];
        }
}

/* Interpolates between four texels, with 8-bit weights as a texture unit has. */
void scalar_filter(const float *in, float *out, size_t width)
{
    const float most = (float)(width - 1);
    for (size_t y = 0; y < width; y++)
        for (size_t x = 0; x < width; x++) {
            const float u = fminf(fmaxf(across(x, y) - 0.5f, 0), most);
            const float v = fminf(fmaxf(down(x, y) - 0.5f, 0), most);
            const long left = (long)u, top = (long)v;
            const long right = clamp(left + 1, width), below = clamp(top + 1, width);
            const int wx = (int)((u - (float)left) * 256 + 0.5f);
            const int wy = (int)((v - (float)top) * 256 + 0.5f);
            const int far = (wx * wy + 128) / 256;
            const float *const upper = in + (size_t)top * width;
            const float *const lower = in + (size_t)below * width;
            out[y * width + x] =
                (upper[left] * (float)(256 - wx - wy + far) + upper[right] * (float)(wx - far) +
                 lower[left] * (float)(wy - far) + lower[right] * (float)far) /
                256;
        }
}

static __attribute__((noinline)) void nothing(void)
{
    __asm__ volatile("" ::: "memory");
}

void scalar_nothing(size_t n)
{
    for (size_t i = 0; i < n; i++) nothing();
}

/* Independent chains, enough to keep a processor busy. */
void scalar_burn(size_t n)
{
    uint32_t x[4] = {1, 2, 3, 4};
    for (size_t i = 0; i < n; i++) {
        for (int k = 0; k < 4; k++) x[k] = (x[k] ^ (uint32_t)i) + 12345;
        __asm__ volatile("" : "+r"(x[0]), "+r"(x[1]), "+r"(x[2]), "+r"(x[3]));
    }
}

void scalar_copy(const void *from, void *to, size_t size)
{
    memcpy(to, from, size);
}
