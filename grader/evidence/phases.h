/* phases: finds phases of a drive for judges that cannot judge without one. The drive always makes
 * these phases, so a record that lacks one has been tampered with: the check fails and never
 * passes.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_PHASES_H
#define OVERLAP_GRADER_EVIDENCE_PHASES_H

#include "grader/evidence/judge.h"

/* As evidence_phase; where there is no such phase, the verdict fails and the function returns
 * false. */
bool phases_get(struct verdict *verdict, const struct evidence *evidence, const char *name,
                uint32_t index, struct phase *phase);

#endif
