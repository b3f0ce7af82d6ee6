/* content: checks that the values which a submission returns came from its device: compares the
 * contents of the copies, which the layer records, with the expected ones. Keeps no state.
 */
#ifndef OVERLAP_GRADER_LESSONS_13_OPENCL_CONTENT_H
#define OVERLAP_GRADER_LESSONS_13_OPENCL_CONTENT_H

#include "grader/evidence/judge.h"

/* Called when the values are right. False: the copies from the device had other contents, or the
 * sums were copied to the device, so the host computed them; the verdict has failed. */
bool content_is_the_devices(struct verdict *verdict, const struct evidence *evidence,
                            const struct phase *phase, const float *sums, uint32_t count);

/* Returns true when these sums came back from the device, in exactly as many bytes as they have,
 * and nothing else did. */
bool content_came(const struct evidence *evidence, const struct phase *phase, const float *sums,
                  uint32_t count);

/* Returns true when two arrays of `count` floats go to the device, in exactly as many bytes as they
 * have. False: other data do; the verdict has failed. */
bool content_is_given(struct verdict *verdict, const struct evidence *evidence,
                      const struct phase *phase, const float *arrays, uint32_t count);

#endif
