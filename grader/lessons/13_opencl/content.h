/* content: whether what a submission hands back is what its device made: the contents of the
 * copies, which the layer records, against those that there are to be. Keeps nothing.
 */
#ifndef OVERLAP_GRADER_LESSONS_13_OPENCL_CONTENT_H
#define OVERLAP_GRADER_LESSONS_13_OPENCL_CONTENT_H

#include "grader/evidence/judge.h"

/* The values were found right. False: other ones came back from the device, or these went there:
 * the host made them, and the verdict fails. */
bool content_is_the_devices(struct verdict *verdict, const struct evidence *evidence,
                            const struct phase *phase, const float *sums, uint32_t count);

/* These came back from the device, in as many bytes as they have, and nothing else did. */
bool content_came(const struct evidence *evidence, const struct phase *phase, const float *sums,
                  uint32_t count);

/* Two arrays of `count` go to the device, in as many bytes as they have. False: other data do. */
bool content_is_given(struct verdict *verdict, const struct evidence *evidence,
                      const struct phase *phase, const float *arrays, uint32_t count);

#endif
