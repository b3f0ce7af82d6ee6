/* cause: explains why a phase took longer than the reference's, as far as the two records of the
 * device's work differ. This module compares; it does not judge.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_CAUSE_H
#define OVERLAP_GRADER_EVIDENCE_CAUSE_H

#include "grader/evidence/judge.h"

#define CAUSE_SIZE 700

/* Writes one or several clauses without a full stop: "copies and kernels never overlap; all 200
 * copies went to the default stream". Returns false when the records do not differ in anything that
 * this module compares. */
bool cause_of(const struct evidence *submission, const struct evidence *reference,
              const char *phase, char text[CAUSE_SIZE]);

#endif
