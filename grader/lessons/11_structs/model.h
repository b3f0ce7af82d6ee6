/* model: the expected results of lesson 11's calls, computed in plain C, and where actual results
 * differ from them. Reports nothing; no CUDA.
 */
#ifndef OVERLAP_GRADER_LESSONS_11_STRUCTS_MODEL_H
#define OVERLAP_GRADER_LESSONS_11_STRUCTS_MODEL_H

#include "grader/lessons/11_structs/exchange.h"

#include <stdbool.h>
#include <stddef.h>

#define MODEL_SAME SIZE_MAX /* the result of the *_differs functions when nothing differs */

/* As in lesson.h. */
enum model_way { MODEL_VALUE, MODEL_IN, MODEL_OUT, MODEL_INOUT };

/* A parameter of a kernel. `size`: of a value; otherwise of one element of the array that it points
 * to.
 */
struct model_parameter {
    unsigned way, size, alignment;
};
struct model_kernel {
    unsigned count;
    int length; /* index of the parameter that is the number of elements; -1: none */
    struct model_parameter parameters[STRUCTS_ARGUMENTS];
};
extern const struct model_kernel model_kernels[STRUCTS_KERNELS];

/* Returns the offset of parameter `i` in the kernel's parameter buffer. */
size_t model_offset(const struct model_kernel *kernel, unsigned i);

/* Step 1: return what element `at` of the matrix's memory must be, and the index of the first wrong
 * one. */
float model_doubled(const struct structs_case *c, const float *before, size_t at);
size_t model_double_differs(const struct structs_case *c, const float *before, const float *after);

/* Step 2: size, alignment, offsets, and the index of the first wrong one. */
extern const uint64_t model_layout[STRUCTS_LAYOUT_FIGURES];
size_t model_layout_differs(const uint64_t figures[STRUCTS_LAYOUT_FIGURES]);

/* Step 3: the same for array `i` of the case. */
float model_multiplied(const struct structs_case *c, const struct structs_list *list, unsigned i,
                       float before);
size_t model_list_differs(const struct structs_case *c, const struct structs_list *list, unsigned i,
                          const float *before, const float *after);

/* Step 4, LOOK kernels: returns the first parameter that arrived with another value. `bytes`: the
 * input's. */
size_t model_seen_differs(const struct structs_case *c, const unsigned char *bytes,
                          const unsigned char *seen);
/* Returns true when the kernel received the parameters packed without the padding that alignment
 * requires.
 */
bool model_seen_without_gaps(const struct structs_case *c, const unsigned char *bytes,
                             const unsigned char *seen);

/* Step 4, WORK kernels: returns the first wrong byte of argument `i`. `before` and `after`: the
 * input's bytes and the output's. */
size_t model_argument_differs(const struct structs_case *c, unsigned i, const unsigned char *before,
                              const unsigned char *after);
/* Returns true when an input-only argument in host memory has the contents that the kernel left on
 * the device, so that it was copied back. */
bool model_came_back(const struct structs_case *c, unsigned i, const unsigned char *after);

/* Returns true when all results of this case are right. `without_context`: a call that was made to
 * fail took the context with it, so that the drive's own calls behind the function fail. */
bool model_right(const struct structs_input *in, const struct structs_output *out, uint32_t index,
                 bool without_context);

#endif
