/* The rows: what each computes, its sizes, and its required ratios. */
#include "tests/bench/bench.h"

/* ---- inputs -------------------------------------------------------------------------------------
 */

static uint32_t scramble(size_t i)
{
    uint32_t x = (uint32_t)i * 2654435761u + 12345u;
    x ^= x >> 16;
    x *= 2246822519u;
    return x ^ x >> 13;
}

static void fill_floats(struct bench_case *c)
{
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < c->in_size / sizeof(float); i++)
            ((float *)c->in[k])[i] = (float)(scramble(i + (size_t)k * 7919) >> 8) * 0x1p-20f;
}

/* Fills with values like a picture's: whole numbers of 8 bits. */
static void fill_bytes(struct bench_case *c)
{
    for (size_t i = 0; i < c->in_size / sizeof(float); i++)
        ((float *)c->in[0])[i] = (float)(scramble(i) >> 24);
}

static void fill_words(struct bench_case *c)
{
    for (size_t i = 0; i < c->in_size / sizeof(uint32_t); i++)
        ((uint32_t *)c->in[0])[i] = scramble(i);
}

static void fill_wide(struct bench_case *c)
{
    for (size_t i = 0; i < c->n; i++)
        ((uint64_t *)c->in[0])[i] = (uint64_t)scramble(i) << 32 | scramble(i + 1);
}

static void fill_doubles(struct bench_case *c)
{
    for (size_t i = 0; i < c->n; i++) ((double *)c->in[0])[i] = (double)scramble(i) * 0x1p-30;
}

/* Makes a graph in compressed rows: in[0] has the begin of each vertex's edges, in[1] their
 * targets. Few vertices have many edges, most have few. */
static void fill_graph(struct bench_case *c)
{
    uint32_t *first = c->in[0], *edges = c->in[1];
    const uint32_t n = (uint32_t)c->n;
    uint32_t used = 0;
    for (uint32_t v = 0; v < n; v++) {
        first[v] = used;
        const uint32_t wanted = v % 64 == 0 ? 7 * BENCH_DEGREE : scramble(v) % (BENCH_DEGREE + 1);
        for (uint32_t e = 0; e < wanted && used < n * BENCH_DEGREE; e++)
            edges[used++] = scramble(v * 64u + e) % n;
    }
    first[n] = used;
}

/* ---- sizes --------------------------------------------------------------------------------------
 */

static void words_to_words(struct bench_case *c)
{
    c->in_size = c->out_size = c->n * 4;
}

static void bodies_to_bodies(struct bench_case *c)
{
    c->in_size = c->out_size = c->n * BENCH_BODY * 4;
}

static void colours_to_colours(struct bench_case *c)
{
    c->in_size = c->out_size = c->n * 3;
}

static void wide_to_wide(struct bench_case *c)
{
    c->in_size = c->out_size = c->n * 8;
}

static void square_words(struct bench_case *c)
{
    c->in_size = c->out_size = c->n * c->n * 4;
}

static void words_to_one(struct bench_case *c)
{
    c->in_size = c->n * 4;
    c->out_size = 4;
}

static void words_to_bins(struct bench_case *c)
{
    c->in_size = c->n * 4;
    c->out_size = BENCH_BINS * 4;
}

static void graph(struct bench_case *c)
{
    c->in_size = c->n * BENCH_DEGREE * 4;
    c->out_size = c->n * 4;
}

static void nowhere(struct bench_case *c)
{
    c->in_size = c->out_size = 4;
}

/* ---- both sides ---------------------------------------------------------------------------------
 */

#define SIDES(name, scalar_call, device_call)                                                      \
    static void name##_scalar(struct bench_case *c)                                                \
    {                                                                                              \
        scalar_call;                                                                               \
    }                                                                                              \
    static void name##_device(struct bench_case *c)                                                \
    {                                                                                              \
        device_call;                                                                               \
    }

SIDES(memory_steps, scalar_multiply_divide(c->in[0], c->expected, c->n),
      device_multiply_divide(c->device_in[0], c->device_out, c->n))
SIDES(register_steps, scalar_multiply_divide(c->in[0], c->expected, c->n),
      device_multiply_divide_registers(c->device_in[0], c->device_out, c->n))
SIDES(mandelbrot, scalar_mandelbrot(c->expected, c->n, BENCH_ITERATIONS),
      device_mandelbrot(c->device_out, c->n, BENCH_ITERATIONS))
SIDES(sum_lesson, *(int32_t *)c->expected = scalar_sum(c->in[0], c->n),
      device_sum_lesson(c->device_in[0], c->device_out, c->n))
SIDES(sum_cub, *(int32_t *)c->expected = scalar_sum(c->in[0], c->n),
      device_sum_cub(c->device_in[0], c->device_out, c->n))
SIDES(sum_shuffle, *(int32_t *)c->expected = scalar_sum(c->in[0], c->n),
      device_sum_shuffle(c->device_in[0], c->device_out, c->n))
SIDES(sum_tree, *(int32_t *)c->expected = scalar_sum(c->in[0], c->n),
      device_sum_tree(c->device_in[0], c->device_out, c->n))
SIDES(sum_shuffle_steps, *(int32_t *)c->expected = scalar_sum_shuffle(c->in[0], c->n),
      device_sum_shuffle(c->device_in[0], c->device_out, c->n))
SIDES(sum_tree_steps, *(int32_t *)c->expected = scalar_sum_tree(c->in[0], c->n),
      device_sum_tree(c->device_in[0], c->device_out, c->n))
SIDES(add, scalar_add(c->in[0], c->in[1], c->expected, c->n),
      device_add(c->device_in[0], c->device_in[1], c->device_out, c->n))
SIDES(add_alone, scalar_add(c->in[0], c->in[1], c->expected, c->n),
      device_add_alone(c->device_in[0], c->device_in[1], c->device_out, c->n))
SIDES(matmul, scalar_matmul(c->in[0], c->in[1], c->expected, c->n),
      device_matmul(c->device_in[0], c->device_in[1], c->device_out, c->n))
SIDES(transpose, scalar_transpose(c->in[0], c->expected, c->n),
      device_transpose(c->device_in[0], c->device_out, c->n))
SIDES(life, scalar_life(c->in[0], c->expected, c->n),
      device_life(c->device_in[0], c->device_out, c->n))
SIDES(histogram, scalar_histogram(c->in[0], c->expected, c->n),
      device_histogram(c->device_in[0], c->device_out, c->n))
SIDES(histogram_global, scalar_histogram(c->in[0], c->expected, c->n),
      device_histogram_global(c->device_in[0], c->device_out, c->n))
SIDES(bfs, scalar_bfs(c->in[0], c->in[1], c->expected, c->n),
      device_bfs(c->device_in[0], c->device_in[1], c->device_out, c->n))
SIDES(doubles, scalar_doubles(c->in[0], c->expected, c->n),
      device_doubles(c->device_in[0], c->device_out, c->n))
SIDES(integers, scalar_integers(c->in[0], c->expected, c->n),
      device_integers(c->device_in[0], c->device_out, c->n))
SIDES(halves, scalar_halves(c->in[0], c->expected, c->n),
      device_halves(c->device_in[0], c->device_out, c->n))
SIDES(bodies, scalar_bodies(c->in[0], c->expected, c->n),
      device_bodies(c->device_in[0], c->device_out, c->n))
SIDES(colours, scalar_colours(c->in[0], c->expected, c->n),
      device_colours(c->device_in[0], c->device_out, c->n))
SIDES(scatter, scalar_scatter(c->in[0], c->expected, c->n),
      device_scatter(c->device_in[0], c->device_out, c->n))
SIDES(nearest, scalar_sample(c->in[0], c->expected, c->n),
      device_sample(c->device_in[0], c->device_out, c->n, 0))
SIDES(filtered, scalar_filter(c->in[0], c->expected, c->n),
      device_sample(c->device_in[0], c->device_out, c->n, 1))
SIDES(nothing, scalar_nothing(c->n), device_nothing(c->n))
SIDES(copy_in, scalar_copy(c->in[0], c->expected, c->in_size),
      (device_copy_in(c->in[0], c->device_out, c->in_size), device_wait()))
SIDES(copy_out, scalar_copy(c->in[0], c->expected, c->in_size),
      device_copy_out(c->device_in[0], c->answer, c->in_size))

#define BOTH(name) .scalar = name##_scalar, .device = name##_device
#define M (1u << 20)
#define K (1u << 10)

const struct bench_row bench_rows[] = {
    {"multiply/divide", "2^19 floats, each step through volatile memory: one worker", M / 2, 5 * K,
     1, 0, 0, 0, words_to_words, fill_floats, BOTH(memory_steps)},
    {"... in registers", "as the lessons' kernel is compiled, against the same C", M / 2, 5 * K, 1,
     1.8, 0, 0, words_to_words, fill_floats, BOTH(register_steps)},
    {"Mandelbrot", "768 x 768, 256 iterations", 768, 33, 0.25, 1.8, 0, 0.001, square_words, NULL,
     BOTH(mandelbrot)},
    {"sum, lesson 07", "2^24 int32, the reference solution", 16 * M, 5 * K + 3, 0.1, 1.8, 0, 0,
     words_to_one, fill_words, BOTH(sum_lesson)},
    {"sum, CUB", "2^24 int32, cub::DeviceReduce", 16 * M, 5 * K + 3, 0.1, 1.8, 0, 0, words_to_one,
     fill_words, BOTH(sum_cub)},
    {"sum, shuffles", "2^20 int32, a shuffle tree and an atomic per block", M, 5 * K + 3, 0, 0, 0,
     0, words_to_one, fill_words, BOTH(sum_shuffle)},
    {"... in the same steps", "against the same butterfly in C", M, 5 * K + 3, 0, 0, 0, 0,
     words_to_one, fill_words, BOTH(sum_shuffle_steps)},
    {"sum, tree", "2^20 int32, a tree in shared memory, a barrier for each level", M, 5 * K + 3, 0,
     0, 0, 0, words_to_one, fill_words, BOTH(sum_tree)},
    {"... in the same steps", "against the same tree in C", M, 5 * K + 3, 0, 0, 0, 0, words_to_one,
     fill_words, BOTH(sum_tree_steps)},
    {"vector addition", "2^20 floats", M, 5 * K + 3, 0, 0, 0, 0, words_to_words, fill_floats,
     BOTH(add)},
    {"addition, one thread", "2^18 floats, by one thread of one block", M / 4, 5 * K + 3, 0, 0, 0,
     0, words_to_words, fill_floats, BOTH(add_alone)},
    {"matrix product", "256 x 256 floats, shared tiles and barriers", 256, 32, 0, 0, 0, 0,
     square_words, fill_floats, BOTH(matmul)},
    {"transposition", "1024 x 1024 words, read down the columns", K, 64, 0, 0, 0, 0, square_words,
     fill_words, BOTH(transpose)},
    {"structures", "2^18 bodies of 7 floats, read and written whole", M / 4, 5 * K + 3, 0, 0, 0, 0,
     bodies_to_bodies, fill_floats, BOTH(bodies)},
    {"colours", "2^20 pixels of 3 bytes, turned round", M, 4 * K, 0, 0, 0, 0, colours_to_colours,
     fill_words, BOTH(colours)},
    {"scattered words", "2^20 words to places all over", M, 4 * K, 0, 0, 0, 0, words_to_words,
     fill_words, BOTH(scatter)},
    {"Life, one launch", "256 generations of 32 x 32 in one block, in place", BENCH_LIFE, 8, 0, 0,
     0, 0, square_words, fill_words, BOTH(life)},
    {"histogram, shared", "2^20 values, shared atomics", M, 5 * K + 3, 0, 0, 0, 0, words_to_bins,
     fill_words, BOTH(histogram)},
    {"histogram, global", "2^20 values, global atomics", M, 5 * K + 3, 0, 0, 0, 0, words_to_bins,
     fill_words, BOTH(histogram_global)},
    {"breadth-first search", "2^16 vertices, lanes part", 64 * K, 2 * K, 0, 0, 0, 0, graph,
     fill_graph, BOTH(bfs)},
    {"doubles", "2^19, 32 steps of multiply, add, divide", 512 * K, 5 * K + 3, 0, 0, 0, 0,
     wide_to_wide, fill_doubles, BOTH(doubles)},
    {"halves", "2^18 pairs, 32 fused multiply-adds", M / 4, 5 * K + 3, 0, 0, 0, 0, words_to_words,
     fill_words, BOTH(halves)},
    {"64-bit integers", "2^19, 32 steps of shift, xor, multiply", 512 * K, 5 * K + 3, 0, 0, 0, 0,
     wide_to_wide, fill_wide, BOTH(integers)},
    {"texture, nearest", "1024 x 1024 samples of floats, turned", K, 64, 0, 0, 0, 0, square_words,
     fill_bytes, BOTH(nearest)},
    {"texture, filtered", "1024 x 1024 samples between four floats each", K, 64, 0, 0, 0, 0,
     square_words, fill_bytes, BOTH(filtered)},
    {"launches", "2^12 empty kernels (no answer) against as many calls", 4 * K, 10, 0, 0, 0, 1,
     nowhere, NULL, BOTH(nothing)},
    {"copy to the device", "16 MiB from pageable memory, against memcpy", 4 * M, 5 * K, 0, 0, 0, 0,
     words_to_words, fill_words, BOTH(copy_in)},
    {"copy to the host", "16 MiB to pageable memory, against memcpy", 4 * M, 5 * K, 0, 0, 1, 0,
     words_to_words, fill_words, BOTH(copy_out)},
};
const size_t bench_row_count = sizeof bench_rows / sizeof *bench_rows;
