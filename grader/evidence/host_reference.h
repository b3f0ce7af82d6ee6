/* marks: what kernels/multiply_divide makes of an array, computed on the host in plain C, and a
 * comparison that says in words in which way an array is wrong. Shared by the judges of the lessons
 * that use that kernel. It launches nothing and includes nothing of CUDA's.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_HOST_REFERENCE_H
#define OVERLAP_GRADER_EVIDENCE_HOST_REFERENCE_H

#include "grader/evidence/judge.h"

#include <stdbool.h>
#include <stddef.h>

/* What one launch leaves in element `index` that held `input`; bit for bit. */
float host_reference_expected(float input, size_t index);

/* One array, for host_reference_compare. */
struct host_reference_array {
    const char *function;          /* the student's: where a failure is reported, */
    const struct trace_record *at; /* or, when not NULL, at the line of this call, */
    const struct phase *phase;     /* or at the statement in this phase that it comes from; NULL */
    bool alone;                    /* no other array is copied in the phase */
    const char *name;              /* in sentences: "array 3"; not empty */
    unsigned marks;                /* of the kernel that was given; 0: 1 */
    const float *input;            /* the parent's own copy */
    const float *output;           /* what came back */
    size_t length;                 /* floats in both */
};

/* True when output is what one launch makes of input, bit for bit. Otherwise the verdict fails with
 * the first wrong element, what the wrong ones have in common, and what makes them so. */
bool host_reference_compare(struct verdict *verdict, const struct evidence *evidence,
                            const struct host_reference_array *array);

/* The same, and nobody is told. */
bool host_reference_same(const float *input, const float *output, size_t length);

/* The sum of what one launch makes of input, in double; *scale is the sum of the magnitudes. */
double host_reference_sum(const float *input, size_t length, double *scale);

/* Fills values[0 .. length) with finite floats of both signs that are all over the place. */
void host_reference_draw(struct random_source *random, float *values, size_t length);

#endif
