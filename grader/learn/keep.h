/* keep: the stub put back, and what was there before taken up again. Nothing is ever deleted: a
 * file that gives way is kept beside it under a dated name ("streams.c.2026-11-22-101500").
 */
#ifndef OVERLAP_GRADER_LEARN_KEEP_H
#define OVERLAP_GRADER_LEARN_KEEP_H

#include "grader/base/text.h"
#include "grader/build/submission.h"
#include "grader/build/toolchain.h"

/* Puts the lesson's stubs back. `said` is told in sentences what was done. Returns 0, or -1: it
 * could not be done, which is said as well. */
int keep_reset(const struct toolchain *toolchain, const struct handed_in *handed_in,
               struct text *said);

/* Takes up the newest kept version that differs from what is there now. */
int keep_restore(const struct toolchain *toolchain, const struct handed_in *handed_in,
                 struct text *said);

#endif
