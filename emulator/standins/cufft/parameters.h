/* parameters: the parameter of the kernels of kernels.cu. C and CUDA share this header, which
 * declares no function.
 *
 * A transform of up to three dimensions and a batch is a sequence of passes, each one launch along
 * one axis. An element is addressed by four coordinates, z (the last dimension), y, x and the
 * index in the batch, in an order that the host chooses. A line is the set of elements that differ
 * in the coordinate of the pass's axis alone. Steps and sizes are in elements.
 */
#ifndef OVERLAP_STANDINS_CUFFT_PARAMETERS_H
#define OVERLAP_STANDINS_CUFFT_PARAMETERS_H

#include <stdint.h>

enum { FFT_COORDINATES = 4 };

/* What the elements of a line are. */
enum fft_kind {
    FFT_COMPLEX,
    FFT_REAL, /* imaginary parts are 0 when read and are dropped when written */
    FFT_HALF, /* complex, only elements 0 to n / 2; the others are the conjugates of their mirror
                 images; read only */
};

struct fft_side {
    void *first;
    int64_t step[FFT_COORDINATES];
    int32_t kind; /* enum fft_kind */
};

/* exp(-2 pi i k / n) for 0 <= k < n, in double precision:
 * low[k mod 2^FFT_LOW_BITS] * high[k / 2^FFT_LOW_BITS]. `high` is absent for small n. */
enum { FFT_LOW_BITS = 14 };
struct fft_roots {
    const void *low, *high;
};

/* One pass. A Stockham pass of `radix` R reads, for each line, elements j + r n / R for r < R, and
 * writes elements that are sorted as the input of the next pass; `done` is the product of the
 * radices of earlier passes along this axis. */
struct fft_pass {
    struct fft_side from, to;
    uint32_t size[FFT_COORDINATES]; /* threads along each coordinate */
    uint32_t axis;                  /* index of the coordinate that the pass goes along */
    uint32_t n;                     /* length of a line */
    uint32_t radix, done;
    uint32_t spread; /* n / (radix * done): from exponents of this pass to those of `roots` */
    uint32_t kept;   /* elements of a line that are written, the first ones; n or n / 2 + 1 */
    uint32_t inverse;
    struct fft_roots roots;
    /* Of Bluestein's algorithm: exp(-pi i k^2 / n), or the spectrum of the filter. */
    const void *factors;
};

/* What the kernels that fill tables are given. */
struct fft_table {
    void *to;         /* complex double */
    uint32_t entries; /* one thread each */
    uint32_t n;       /* of the exponents */
    uint32_t stride;  /* of the roots: entry k is exp(-2 pi i k stride / n) */
};

#endif
