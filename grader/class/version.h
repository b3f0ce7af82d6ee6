/* version: hashes of everything by which a submission is graded. A stored result is valid as long
 * as none of them, and nothing in the submission, changes.
 */
#ifndef OVERLAP_GRADER_CLASS_VERSION_H
#define OVERLAP_GRADER_CLASS_VERSION_H

#include "grader/base/json.h"
#include "grader/build/toolchain.h"
#include "grader/evidence/judge.h"
#include "grader/session/options.h"

/* Returns {"grader": the programs and the software device, "lessons": contracts, drives and
 * reference solutions, "options": device, orders, seed, selected lessons and checks}, or NULL with
 * a sentence. */
json_t *version_make(const struct toolchain *toolchain, const struct lesson *const *table,
                     const struct options *options, struct text *why);

#endif
