/* fold: the judge's own reductions, one element after another on the host, and the words for what a
 * wrong result looks like. Nothing of CUDA, nothing of the submission's.
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

/* A type of no word's size, added byte by byte. */
static inline bool fold_is_bytes(uint32_t kind)
{
    return kind >= REDUCTION_BYTES_1;
}

/* A random element of the kind; `prime` for MODULAR. */
union fold_value fold_draw(struct random_source *random, uint32_t kind, uint32_t prime);
/* An array of `count` of them. */
void fold_fill(struct random_source *random, uint32_t kind, uint32_t prime, void *array,
               size_t count);

union fold_value fold_combine(uint32_t kind, uint32_t prime, union fold_value a,
                              union fold_value b);

/* The array's element `index`. */
union fold_value fold_element(uint32_t kind, const void *array, size_t index);

/* Do they say the same (padding left out)? */
bool fold_same(uint32_t kind, union fold_value a, union fold_value b);

#define FOLD_TEXT 80
/* The value in words; returns `text`. */
const char *fold_show(uint32_t kind, union fold_value value, char text[FOLD_TEXT]);

/* What is to come out of one case. */
struct fold_expected {
    union fold_value value; /* of all elements and of init, if there is one */
    bool exists;            /* false: size 0 and no init */
    double tolerance;       /* SUM_FLOAT: how far off it may be, for any order of adding */
};
struct fold_expected fold_case(const struct reduction_case *wanted, const void *array);

/* Is `value` what is to come out? */
bool fold_right(const struct reduction_case *wanted, const struct fold_expected *expected,
                union fold_value value);

/* In which way a wrong result is wrong, as a sentence, or NULL when nobody knows. The text may be
 * in `text`. */
#define FOLD_SENTENCE 200
const char *fold_explain(const struct reduction_case *wanted, const void *array,
                         const struct fold_expected *expected, union fold_value value,
                         char text[FOLD_SENTENCE]);

#endif
