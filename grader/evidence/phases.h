/* phases: the phases of a drive, for judges that cannot judge without one. A record that lacks a
 * phase which the drive always makes has been tampered with: that is a failure, never a pass.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_PHASES_H
#define OVERLAP_GRADER_EVIDENCE_PHASES_H

#include "grader/evidence/judge.h"

/* evidence_phase; where there is no such phase, the verdict fails and false is returned. */
bool phases_get(struct verdict *verdict, const struct evidence *evidence, const char *name,
                uint32_t index, struct phase *phase);

#endif
