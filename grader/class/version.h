/* version: what a submission is graded by, as hashes. A result holds as long as none of them, and
 * nothing in the submission, changes.
 */
#ifndef OVERLAP_GRADER_CLASS_VERSION_H
#define OVERLAP_GRADER_CLASS_VERSION_H

#include "grader/base/json.h"
#include "grader/build/toolchain.h"
#include "grader/evidence/judge.h"
#include "grader/session/options.h"

/* {"grader": the programs and the software device, "lessons": contracts, drives and reference
 * solutions, "options": device, orders, seed, which lessons and checks}. NULL with a sentence. */
json_t *version_make(const struct toolchain *toolchain, const struct lesson *const *table,
                     const struct options *options, struct text *why);

#endif
