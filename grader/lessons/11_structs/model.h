/* model: what the calls of lesson 11 have to leave behind, computed in plain C, and where what came
 * back differs from it. Says nothing to anybody; no CUDA.
 */
#ifndef OVERLAP_GRADER_LESSONS_11_STRUCTS_MODEL_H
#define OVERLAP_GRADER_LESSONS_11_STRUCTS_MODEL_H

#include "grader/lessons/11_structs/exchange.h"

#include <stdbool.h>
#include <stddef.h>

#define MODEL_SAME SIZE_MAX /* there is no difference */

/* As in lesson.h. */
enum model_way { MODEL_VALUE, MODEL_IN, MODEL_OUT, MODEL_INOUT };

/* A parameter of a kernel. `size`: of a value; otherwise of one of the elements that it points to.
 */
struct model_parameter {
    unsigned way, size, alignment;
};
struct model_kernel {
    unsigned count;
    int length; /* the parameter that says how many elements there are; -1: none */
    struct model_parameter parameters[STRUCTS_ARGUMENTS];
};
extern const struct model_kernel model_kernels[STRUCTS_KERNELS];

/* Where parameter number `i` lies in the kernel's parameters. */
size_t model_offset(const struct model_kernel *kernel, unsigned i);

/* Step 1: what element number `at` of the matrix's memory has to be, and the first that is not. */
float model_doubled(const struct structs_case *c, const float *before, size_t at);
size_t model_double_differs(const struct structs_case *c, const float *before, const float *after);

/* Step 2: size, alignment, offsets. */
extern const uint64_t model_layout[STRUCTS_LAYOUT_FIGURES];
size_t model_layout_differs(const uint64_t figures[STRUCTS_LAYOUT_FIGURES]);

/* Step 3: array number `i` of the case. */
float model_multiplied(const struct structs_case *c, const struct structs_list *list, unsigned i,
                       float before);
size_t model_list_differs(const struct structs_case *c, const struct structs_list *list, unsigned i,
                          const float *before, const float *after);

/* Step 4, kernels that look: the first parameter that was not seen as it was given. `bytes`: the
 * input's. */
size_t model_seen_differs(const struct structs_case *c, const unsigned char *bytes,
                          const unsigned char *seen);
/* They were seen as they are where they lie end to end, without the gaps that alignment asks for.
 */
bool model_seen_without_gaps(const struct structs_case *c, const unsigned char *bytes,
                             const unsigned char *seen);

/* Step 4, kernels that work: the first byte of argument `i` that is not as it has to be. `before`
 * and `after`: the input's bytes and the output's. */
size_t model_argument_differs(const struct structs_case *c, unsigned i, const unsigned char *before,
                              const unsigned char *after);
/* What is only given is in the host's memory as the kernel has left it on the device. */
bool model_came_back(const struct structs_case *c, unsigned i, const unsigned char *after);

/* All that this case asks for is there. */
bool model_right(const struct structs_input *in, const struct structs_output *out, uint32_t index);

#endif
