/* calls: the calls of the student's template, for each type and operator. They are compiled with
 * each submission, and the drive, which makes and judges nothing with the submission's header in
 * sight, once. For CUDA C++ only.
 */
#ifndef OVERLAP_GRADER_LESSONS_07_REDUCTIONS_CALLS_H
#define OVERLAP_GRADER_LESSONS_07_REDUCTIONS_CALLS_H

#include "grader/lessons/07_reductions/exchange.h"

#include <cuda_runtime_api.h>

/* One type and operator. `init`: NULL where there is none. */
struct reduction_student {
    size_t element; /* bytes */
    cudaError_t (*call)(const struct reduction_case *wanted, const void *array, void *result,
                        const void *init, cudaStream_t stream);
};

extern const struct reduction_student reduction_students[REDUCTION_KINDS];

/* A sum of 64-bit integers, half of whose blocks wait at the gate, if there is one. Host memory:
 * the first number says that they wait, the second lets them go. */
extern const struct reduction_student reduction_held_sum;
extern volatile int *reduction_held_sums_gate; /* of the next call */

#endif
