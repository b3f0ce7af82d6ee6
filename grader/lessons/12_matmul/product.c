#include "grader/lessons/12_matmul/product.h"
#include "grader/base/messages.h"
#include "grader/base/parallel.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define UNIT 0x1p-24 /* largest relative error of one rounding to float */

size_t product_size_a(const struct product *shape)
{
    return (size_t)shape->count * shape->m * shape->n;
}

size_t product_size_b(const struct product *shape)
{
    return (size_t)shape->count * shape->n * shape->p;
}

size_t product_size_c(const struct product *shape)
{
    return (size_t)shape->count * shape->m * shape->p;
}

/* Computes row i of one product: the sums over [from, to), and those of the magnitudes. Adds four
 * products at a time, because accesses to the array of sums dominate the time. */
static void sum_row(const struct product *shape, const float *a, const float *b, uint32_t i,
                    const uint32_t range[2], double *restrict sums, double *restrict sizes)
{
    enum { STEP = 4 };
    const uint32_t n = shape->n, p = shape->p;
    const float *const factors = a + (size_t)i * n;
    uint32_t k = range[0];
    for (uint32_t j = 0; j < p; j++) sums[j] = sizes[j] = 0.0;
    for (; k + STEP <= range[1]; k += STEP) {
        const float *const row = b + (size_t)k * p;
        const double f0 = factors[k], f1 = factors[k + 1], f2 = factors[k + 2], f3 = factors[k + 3];
        for (uint32_t j = 0; j < p; j++) {
            const double p0 = f0 * row[j], p1 = f1 * row[(size_t)p + j],
                         p2 = f2 * row[2 * (size_t)p + j], p3 = f3 * row[3 * (size_t)p + j];
            sums[j] += p0 + p1 + p2 + p3;
            sizes[j] += fabs(p0) + fabs(p1) + fabs(p2) + fabs(p3);
        }
    }
    for (; k < range[1]; k++) {
        const float *const row = b + (size_t)k * p;
        for (uint32_t j = 0; j < p; j++) {
            sums[j] += (double)factors[k] * row[j];
            sizes[j] += fabs((double)factors[k] * row[j]);
        }
    }
}

/* A result below the smallest normal number has an absolute error. */
static double allowed(const struct product *shape, double size)
{
    return shape->n * (UNIT * size + FLT_MIN * UNIT * 2);
}

static bool is_near(float found, double must, double off)
{
    return fabs((double)found - must) <= off; /* false for a NaN */
}

struct row {
    size_t wrong, first; /* SIZE_MAX wrong ones: no memory */
    double must, off;    /* of the first wrong one */
};

/* Compares with the products' sums over [from, to) only. */
struct comparison {
    const struct product *shape;
    const float *a, *b, *found;
    const uint32_t *range;
    struct row *rows; /* one per row of all products */
};

static void compare_row(void *user, size_t number)
{
    const struct comparison *all = user;
    const struct product *shape = all->shape;
    const size_t q = number / shape->m, begin = number * shape->p;
    struct row *row = &all->rows[number];
    double *sums = malloc(2 * sizeof *sums * shape->p), *sizes = sums + shape->p;

    *row = (struct row){.wrong = sums != NULL ? 0 : SIZE_MAX};
    if (sums == NULL) return;
    sum_row(shape, all->a + q * shape->m * shape->n, all->b + q * shape->n * shape->p,
            (uint32_t)(number % shape->m), all->range, sums, sizes);
    for (uint32_t j = 0; j < shape->p; j++) {
        const double off = allowed(shape, sizes[j]);
        if (is_near(all->found[begin + j], sums[j], off)) continue;
        if (row->wrong++ > 0) continue;
        row->first = begin + j;
        row->must = sums[j];
        row->off = off;
    }
    free(sums);
}

static size_t compare(const struct product *shape, const float *a, const float *b,
                      const float *found, const uint32_t range[2], size_t *first, double *must,
                      double *off)
{
    const size_t count = (size_t)shape->count * shape->m;
    struct comparison all = {shape, a, b, found, range, calloc(count + 1, sizeof *all.rows)};
    size_t wrong = all.rows != NULL ? 0 : SIZE_MAX;

    if (all.rows != NULL) parallel_each(count, compare_row, &all);
    for (size_t i = 0; i < count && wrong != SIZE_MAX; i++) {
        const struct row *row = &all.rows[i];
        if (wrong == 0 && row->wrong > 0) {
            *first = row->first;
            *must = row->must;
            *off = row->off;
        }
        wrong = row->wrong == SIZE_MAX ? SIZE_MAX : wrong + row->wrong;
    }
    free(all.rows);
    return wrong;
}

size_t product_float(const struct product *shape, const float *a, const float *b,
                     const float *found, size_t *first, double *must, double *off)
{
    return compare(shape, a, b, found, (const uint32_t[2]){0, shape->n}, first, must, off);
}

size_t product_integer(const struct product *shape, const int64_t *a, const int64_t *b,
                       const int64_t *found, size_t *first, int64_t *must)
{
    const size_t each = (size_t)shape->m * shape->p, size = product_size_c(shape);
    size_t wrong = 0;
    for (size_t e = 0; e < size; e++) {
        const size_t q = e / each, i = e % each / shape->p, j = e % each % shape->p;
        const int64_t *row = a + (q * shape->m + i) * shape->n;
        const int64_t *column = b + q * shape->n * shape->p + j;
        uint64_t sum = 0;
        for (size_t k = 0; k < shape->n; k++)
            sum += (uint64_t)row[k] * (uint64_t)column[k * shape->p];
        if ((uint64_t)found[e] == sum) continue;
        if (wrong++ > 0) continue;
        *first = e;
        *must = (int64_t)sum;
    }
    return wrong;
}

/* Returns true when the result has the sums over that part only. */
static bool is_part(const struct product *shape, const float *a, const float *b, const float *found,
                    uint32_t from, uint32_t to)
{
    size_t first;
    double must, off;
    return compare(shape, a, b, found, (const uint32_t[2]){from, to}, &first, &must, &off) == 0;
}

/* Returns true when c or one of the factors is transposed: b's element (j, k) in place of (k,
 * j). */
static bool is_turned(const struct product *shape, const float *a, const float *b,
                      const float *found)
{
    const size_t m = shape->m, n = shape->n, p = shape->p, last = n * p - 1;
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < p; j++) {
            double sum = 0.0, size = 0.0;
            for (size_t k = 0; k < n; k++) {
                const size_t at = j * n + k <= last ? j * n + k : last;
                sum += (double)a[i * n + k] * b[at];
                size += fabs((double)a[i * n + k] * b[at]);
            }
            if (!is_near(found[i * p + j], sum, allowed(shape, size))) return false;
        }
    }
    return true;
}

const char *product_explain(const struct product *shape, const float *a, const float *b,
                            const float *found, uint32_t tile)
{
    const uint32_t n = shape->n, whole = n - n % tile;
    if (shape->count != 1) return NULL;
    if (whole > 0 && whole < n && is_part(shape, a, b, found, 0, whole))
        return _(
            "It is what comes of whole tiles alone: the last columns of a and rows of b, which "
            "fill no tile, are missing.");
    if (n > tile && is_part(shape, a, b, found, 0, tile))
        return _("It is what comes of the first tile alone.");
    if (n > 1 && is_part(shape, a, b, found, 0, n - 1))
        return _("It is what comes without the last column of a and the last row of b.");
    if (n > 1 && is_part(shape, a, b, found, n - 1, n))
        return _("It is the last addend alone: the sum is set where it has to be added to.");
    if (is_turned(shape, a, b, found))
        return _("It is what comes if b is read by columns: b[j * n + k] for b[k * p + j].");
    return NULL;
}
