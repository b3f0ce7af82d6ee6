/* bench: the speed of the software device, as ratios within one run: every row computes the same in
 * scalar C at -O2, on the device with one worker and on the device with two, in turn, and the
 * results are compared. It uses the public CUDA API like any program, and nothing of the device's
 * internals but its arithmetic of halves, which the scalar side needs too.
 *
 * Not a timed test, because a busy machine would decide the outcome. CTest runs it with --tiny,
 * where only the results count.
 */
#ifndef OVERLAP_TESTS_BENCH_BENCH_H
#define OVERLAP_TESTS_BENCH_BENCH_H

#include <stddef.h>
#include <stdint.h>

/* One row's work. The harness owns the memory; `in` and `out` have the sizes that prepare sets.
 */
struct bench_case {
    size_t n;       /* elements, or another unit of the row's */
    size_t in_size; /* bytes of each input; set by prepare */
    size_t out_size;
    void *in[2];    /* on the host, filled by fill */
    void *expected; /* scalar C's result */
    void *answer;   /* the device's result, copied back */
    void *device_in[2];
    void *device_out;
};

struct bench_row {
    const char *name;
    const char *work;    /* one line: what is compared */
    size_t n, tiny;      /* bench_case.n, and with --tiny */
    double required;     /* scalar C's time / one worker's, lower limit, of which a half is enough
                            while races are looked for; 0: none */
    double required_two; /* one worker's time / two workers', lower limit; 0: none */
    int answers_on_host; /* the device's result is in `answer`, not in device_out */
    double differing;    /* fraction of the result's 4-byte words that may differ: where a compiler
                            contracts, a pixel at the set's edge flips */
    void (*prepare)(struct bench_case *); /* sizes, from n */
    void (*fill)(struct bench_case *);    /* inputs; may be NULL */
    void (*scalar)(struct bench_case *);
    void (*device)(struct bench_case *); /* launches, and waits until the kernel is done */
};

/* bench_rows.c */
extern const struct bench_row bench_rows[];
extern const size_t bench_row_count;

/* ---- bench_scalar.c: plain loops, compiled with -O2 and without vectors --------------------- */

void scalar_multiply_divide(const float *in, volatile float *out, size_t n);
void scalar_mandelbrot(float *out, size_t width, int iterations);
int32_t scalar_sum(const int32_t *in, size_t n);
/* The same sum by the steps of the device's kernels: a tree over each block, or a butterfly over
 * each warp. */
int32_t scalar_sum_tree(const int32_t *in, size_t n);
int32_t scalar_sum_shuffle(const int32_t *in, size_t n);
void scalar_add(const float *a, const float *b, float *c, size_t n);
void scalar_matmul(const float *a, const float *b, float *c, size_t width);
void scalar_transpose(const uint32_t *in, uint32_t *out, size_t width);
/* Conway's Life on a torus, BENCH_GENERATIONS generations: odd values are alive. */
void scalar_life(const uint32_t *in, uint32_t *out, size_t width);
void scalar_histogram(const uint32_t *in, uint32_t *bins, size_t n);
void scalar_bfs(const uint32_t *first, const uint32_t *edges, uint32_t *level, size_t n);
void scalar_doubles(const double *in, double *out, size_t n);
void scalar_integers(const uint64_t *in, uint64_t *out, size_t n);
void scalar_halves(const uint32_t *in, uint32_t *out, size_t n); /* pairs of f16 */
void scalar_bodies(const float *in, float *out, size_t n);       /* BENCH_BODY floats each */
void scalar_colours(const unsigned char *in, unsigned char *out, size_t n); /* three bytes each */
void scalar_scatter(const uint32_t *in, uint32_t *out, size_t n);           /* n: a power of two */
void scalar_sample(const float *in, float *out, size_t width);
void scalar_filter(const float *in, float *out, size_t width);
void scalar_nothing(size_t n);
void scalar_burn(size_t n); /* keeps a processor's arithmetic units busy for about n cycles */
void scalar_copy(const void *from, void *to, size_t size);

/* ---- bench_kernels.cu: the same on the device. Each waits; a failed call ends the program. --- */

void device_multiply_divide(const float *in, float *out, size_t n);
void device_multiply_divide_registers(const float *in, float *out, size_t n);
void device_mandelbrot(float *out, size_t width, int iterations);
void device_sum_lesson(const int32_t *in, int32_t *out, size_t n);
void device_sum_cub(const int32_t *in, int32_t *out, size_t n);
void device_sum_shuffle(const int32_t *in, int32_t *out, size_t n);
void device_sum_tree(const int32_t *in, int32_t *out, size_t n);
void device_add(const float *a, const float *b, float *c, size_t n);
void device_add_alone(const float *a, const float *b, float *c, size_t n);
void device_matmul(const float *a, const float *b, float *c, size_t width);
void device_transpose(const uint32_t *in, uint32_t *out, size_t width);
void device_life(const uint32_t *in, uint32_t *out, size_t width); /* width: 32 at most */
void device_histogram(const uint32_t *in, uint32_t *bins, size_t n);
void device_histogram_global(const uint32_t *in, uint32_t *bins, size_t n);
void device_bfs(const uint32_t *first, const uint32_t *edges, uint32_t *level, size_t n);
void device_doubles(const double *in, double *out, size_t n);
void device_integers(const uint64_t *in, uint64_t *out, size_t n);
void device_halves(const uint32_t *in, uint32_t *out, size_t n);
void device_bodies(const float *in, float *out, size_t n);
void device_colours(const unsigned char *in, unsigned char *out, size_t n);
void device_scatter(const uint32_t *in, uint32_t *out, size_t n);
void device_sample(const float *in, float *out, size_t width, int filters);
void device_nothing(size_t n);
void device_copy_in(const void *from, void *to, size_t size); /* may still be pending on return */
void device_copy_out(const void *from, void *to, size_t size);

void device_wait(void); /* for all pending work */

void *device_take(size_t size);
void device_give_back(void *memory);

enum {
    BENCH_THREADS = 256,    /* of a block */
    BENCH_BURN = 10 << 20,  /* for scalar_burn, to measure the gain of a second processor */
    BENCH_ROUNDS = 50,      /* of multiplying and dividing */
    BENCH_ITERATIONS = 256, /* of the Mandelbrot set */
    BENCH_BINS = 256,
    BENCH_DEGREE = 8,         /* edges that leave a vertex of the graph, on average */
    BENCH_STEPS = 32,         /* of the rows on doubles and 64-bit integers */
    BENCH_BODY = 7,           /* floats of a body: position, velocity, mass */
    BENCH_PLACES = 506952113, /* odd: element i goes to place i times this */
    BENCH_GENERATIONS = 256,
    BENCH_LIFE = 32, /* cells in a row, at most */
};

#endif
