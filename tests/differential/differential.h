/* differential: kernels that are run on a GPU and on the software device and must give the same
 * bits.
 *
 * A case is one kernel: PTX text, input bytes and a launch shape, all derived from the case's name
 * only, so that a case is the same on every machine and does not change when others are added. Its
 * result is the output buffer. The GPU's results are stored as one hash per case (*.golden);
 * approximate functions are checked against the errors that the PTX ISA allows (bounds.c), and
 * their hash covers only the kinds of the numbers (NaN, infinite, zero).
 *
 * Sources of cases: forms.c (each instruction in the device's tables of rows, and forms that reuse
 * those rows), values.c (operands), memory.c, warp.c, control.c, random.c. Exclusions are listed,
 * with reasons, in excluded.def.
 *
 * This module knows no CUDA (run.c does) and uses nothing of the device but its tables of names.
 */
#ifndef OVERLAP_TESTS_DIFFERENTIAL_DIFFERENTIAL_H
#define OVERLAP_TESTS_DIFFERENTIAL_DIFFERENTIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- growing text; a host without memory ends the program ---------------------------------------
 */

struct diff_text {
    char *bytes;
    size_t length, room;
};

void diff_add(struct diff_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void diff_text_free(struct diff_text *text);
void *diff_allocate(size_t count, size_t size);

/* ---- random numbers, the same on every machine -------------------------------------------------
 */

struct diff_random {
    uint64_t state;
};

uint64_t diff_hash(const void *bytes, size_t size, uint64_t seed); /* seed 0: a new hash */
uint64_t diff_bits(struct diff_random *random);
unsigned diff_below(struct diff_random *random, unsigned limit);

/* ---- values ------------------------------------------------------------------------------------
 */

enum diff_kind {
    DIFF_INT8,
    DIFF_INT16,
    DIFF_INT32,
    DIFF_INT64,
    DIFF_AMOUNT, /* 32 bits: a shift, a position, a length */
    DIFF_F16,
    DIFF_BF16,
    DIFF_F16X2,
    DIFF_BF16X2,
    DIFF_F32,
    DIFF_F64,
    DIFF_PRED,
    DIFF_INT16X2,
    DIFF_KIND_COUNT
};

unsigned diff_kind_bits(enum diff_kind kind); /* a predicate has 1 */
/* Returns the bits of a value: often a special one or one near it, or halfway between two shorter
 * ones. */
uint64_t diff_value(enum diff_kind kind, struct diff_random *random);
/* Returns special value `index` modulo their number; the most important come first. */
uint64_t diff_edge(enum diff_kind kind, unsigned index);
unsigned diff_edge_count(enum diff_kind kind);
/* Makes the operands of one instruction: tuple `index` of all. Crossed special values come first,
 * then mixtures and related values (equal, opposite, cancelling). */
void diff_tuple(const enum diff_kind *kinds, unsigned count, unsigned index,
                struct diff_random *random, uint64_t *values);

/* ---- instruction forms -------------------------------------------------------------------------
 */

enum { DIFF_SOURCES = 4 };

/* One instruction with its types and modifiers. */
struct diff_form {
    char text[64];  /* "add.sat.s32" */
    char extra[24]; /* text after the operands: a truth table, a predicate */
    unsigned sources;
    enum diff_kind result;               /* DIFF_PRED: also its complement */
    enum diff_kind source[DIFF_SOURCES]; /* of each */
    unsigned width[DIFF_SOURCES + 1];    /* register bits, the result's first; 1: predicate */
    bool carry;                          /* reads and writes the carry flag */
    bool pair;                           /* has the form d|q */
    bool approximate;                    /* only its error is bounded, its bits are not specified */
    bool derived;                        /* uses the row of another form */
    bool loose;                          /* ptxas may fuse it with another */
};

/* Returns all forms; they are made once and never freed. */
const struct diff_form *diff_forms(size_t *count);
const char *diff_excluded(const char *text); /* why the form is left out, or NULL */

/* Checks an approximate form's result (one of a pair: `half` 0 or 1) against the error that the ISA
 * allows; if it is beyond that, writes the problem into `why`. Returns the kind of number on which
 * both devices must agree: 'n' NaN, 'I' 'i' infinite, 'Z' 'z' zero where the true result is zero,
 * 'f' another, '?' where the ISA promises nothing. */
unsigned char diff_bound(const struct diff_form *form, const uint64_t *sources, uint64_t result,
                         unsigned half, char *why, size_t size);

/* ---- cases -------------------------------------------------------------------------------------
 */

struct diff_case {
    char name[64]; /* "group/variant", no blanks; text after a # does not affect the case's seed */
    /* Writes the kernel `.visible .entry kernel(.param .u64 in, .param .u64 out)`, and the
     * functions that it needs, whose names begin with the kernel's. */
    void (*write)(const struct diff_case *one, const char *kernel, struct diff_text *text);
    void (*fill)(const struct diff_case *one, unsigned char *in);
    /* Describes one element of the output and its inputs; NULL: only its bytes are shown. */
    void (*tell)(const struct diff_case *one, const unsigned char *in, const unsigned char *out,
                 unsigned index, struct diff_text *text);
    const struct diff_form *form; /* forms.c */
    uint32_t number;              /* for the other files */
    uint32_t prefix;              /* for a random program: number of computations to keep; 0: all */
    bool plain;                   /* without optimisation, or the compilers would be compared */
    uint32_t blocks, threads;
    uint32_t in_bytes, out_bytes; /* at most DIFF_BUFFER */
    uint32_t stride;              /* bytes of output per element that `tell` describes */
};

enum { DIFF_BUFFER = 1 << 18 };

struct diff_cases {
    struct diff_case *cases;
    size_t count, room;
};

/* Appends a new case, zeroed except for its name. */
struct diff_case *diff_new(struct diff_cases *cases, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct diff_random diff_case_random(const struct diff_case *one, const char *purpose);
void diff_fill_random(const struct diff_case *one, unsigned char *in);

void diff_form_cases(struct diff_cases *cases);
void diff_memory_cases(struct diff_cases *cases);
void diff_warp_cases(struct diff_cases *cases);
void diff_control_cases(struct diff_cases *cases);
void diff_random_cases(struct diff_cases *cases);
void diff_all_cases(struct diff_cases *cases);
/* Makes the prefixes of a random program, to find where two devices begin to differ. */
void diff_prefix_cases(struct diff_cases *cases, const struct diff_case *one);

/* Returns the hash that is compared. For approximate forms also checks that every result is within
 * its bound: `why`, if not empty after the call, names one that is not. */
uint64_t diff_digest(const struct diff_case *one, const unsigned char *in, const unsigned char *out,
                     char *why, size_t size);

#endif
