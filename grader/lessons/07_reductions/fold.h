/* fold: the judge's own reductions, computed sequentially on the host, and explanations of wrong
 * results. No CUDA, nothing of the submission's.
 */
#ifndef OVERLAP_GRADER_LESSONS_07_REDUCTIONS_FOLD_H
#define OVERLAP_GRADER_LESSONS_07_REDUCTIONS_FOLD_H

#include "grader/base/random.h"
#include "grader/lessons/07_reductions/exchange.h"

#include <stdbool.h>

/* One element of any kind. */
union fold_value {
    int64_t int64;
    int32_t int32;
    uint64_t uint64;
    uint32_t uint32;
    float real;
    struct reduction_range range;
    unsigned char bytes[REDUCTION_ELEMENT_SIZE];
};

size_t fold_element_size(uint32_t kind);
const char *fold_words(uint32_t kind); /* "the sum of 64-bit integers" */

/* Returns true for the types that are added byte by byte. */
static inline bool fold_is_bytes(uint32_t kind)
{
    return kind >= REDUCTION_BYTES_1;
}

/* Draws a random element of the kind; `prime` for MODULAR. */
union fold_value fold_draw(struct random_source *random, uint32_t kind, uint32_t prime);
/* Draws an array of `count` elements. */
void fold_fill(struct random_source *random, uint32_t kind, uint32_t prime, void *array,
               size_t count);

union fold_value fold_combine(uint32_t kind, uint32_t prime, union fold_value a,
                              union fold_value b);

/* The array's element `index`. */
union fold_value fold_element(uint32_t kind, const void *array, size_t index);

/* Returns true when the values are equal (padding ignored). */
bool fold_same(uint32_t kind, union fold_value a, union fold_value b);

#define FOLD_TEXT 80
/* Writes the value in words; returns `text`. */
const char *fold_show(uint32_t kind, union fold_value value, char text[FOLD_TEXT]);

/* The expected result of one case. */
struct fold_expected {
    union fold_value value; /* of all elements, and of init if there is one */
    bool exists;            /* false: size 0 and no init */
    double tolerance;       /* SUM_FLOAT: largest error for any order of additions */
};
struct fold_expected fold_case(const struct reduction_case *wanted, const void *array);

/* Returns true when `value` is the expected result. */
bool fold_right(const struct reduction_case *wanted, const struct fold_expected *expected,
                union fold_value value);

/* Returns a sentence that explains a wrong result, or NULL when there is no explanation. The
 * sentence may be stored in `text`. */
#define FOLD_SENTENCE 200
const char *fold_explain(const struct reduction_case *wanted, const void *array,
                         const struct fold_expected *expected, union fold_value value,
                         char text[FOLD_SENTENCE]);

#endif
