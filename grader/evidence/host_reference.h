/* host_reference: computes on the host, in plain C, what kernels/multiply_divide makes of an array,
 * and compares arrays with a description of how an array is wrong. The judges of all lessons that
 * use that kernel share it. It launches nothing and includes nothing of CUDA's.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_HOST_REFERENCE_H
#define OVERLAP_GRADER_EVIDENCE_HOST_REFERENCE_H

#include "grader/evidence/judge.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns the value that one launch leaves in element `index` that held `input`, bit for bit. */
float host_reference_expected(float input, size_t index);

/* One array, for host_reference_compare. */
struct host_reference_array {
    const char *function;          /* the student's function: a failure is reported at it, */
    const struct trace_record *at; /* or, when not NULL, at the line of this call, */
    const struct phase *phase; /* or at the statement in this phase that caused it; may be NULL */
    bool alone;                /* no other array is copied in the phase */
    const char *name;          /* in sentences: "array 3"; not empty */
    unsigned marks;            /* how many times the given kernel adds an element's mark; 0: once */
    const float *input;        /* the parent's own copy */
    const float *output;       /* the array that the drive returned */
    size_t length;             /* floats in both */
};

/* Returns true when output equals, bit for bit, what one launch makes of input. Otherwise the
 * verdict fails with the first wrong element, what the wrong elements have in common, and the
 * likely cause. */
bool host_reference_compare(struct verdict *verdict, const struct evidence *evidence,
                            const struct host_reference_array *array);

/* Fails when all copies in one direction together have fewer bytes than the array, and returns
 * true. */
bool host_reference_say_short(struct verdict *verdict, const struct evidence *evidence,
                              const struct host_reference_array *array);

/* As host_reference_compare, without a report. */
bool host_reference_same(const float *input, const float *output, size_t length);

/* Returns, in double, the sum of the elements that one launch makes of input; *scale is the sum of
 * their magnitudes. */
double host_reference_sum(const float *input, size_t length, double *scale);

/* Fills values[0 .. length) with random floats, uniform in [-1000, 1000). */
void host_reference_draw(struct random_source *random, float *values, size_t length);

#endif
