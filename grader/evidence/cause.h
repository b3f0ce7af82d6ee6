/* cause: why a phase took longer than the reference's, as far as the two records of what the device
 * did can say. It compares; it does not judge.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_CAUSE_H
#define OVERLAP_GRADER_EVIDENCE_CAUSE_H

#include "grader/evidence/judge.h"

#define CAUSE_SIZE 700

/* "copies and kernels never overlap; all 200 copies went to the default stream": the text is a
 * clause or several, without a full stop. False: the records do not differ in what it knows of. */
bool cause_of(const struct evidence *submission, const struct evidence *reference,
              const char *phase, char text[CAUSE_SIZE]);

#endif
