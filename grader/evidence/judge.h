/* judge: includes everything that a lesson's judge reads and calls, on the parent's side.
 *
 * A judge never touches CUDA, never starts anything, keeps no state between calls, and trusts
 * nothing that it finds in evidence->output or evidence->trace.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_JUDGE_H
#define OVERLAP_GRADER_EVIDENCE_JUDGE_H

#include "grader/evidence/lesson.h"
#include "grader/evidence/query.h"
#include "grader/evidence/run_evidence.h"
#include "grader/evidence/say.h"

#endif
