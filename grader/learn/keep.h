/* keep: restores the stub, or an earlier version of the student's file. Nothing is ever deleted: a
 * replaced file is kept beside the new one under a dated name ("streams.c.2026-11-22-101500").
 */
#ifndef OVERLAP_GRADER_LEARN_KEEP_H
#define OVERLAP_GRADER_LEARN_KEEP_H

#include "grader/base/text.h"
#include "grader/build/submission.h"
#include "grader/build/toolchain.h"

/* Restores the lesson's stubs. Sentences in `said` report what was done. Returns 0, or -1: it could
 * not be done, which `said` reports as well. */
int keep_reset(const struct toolchain *toolchain, const struct handed_in *handed_in,
               struct text *said);

/* Restores the newest kept version that differs from the present file. */
int keep_restore(const struct toolchain *toolchain, const struct handed_in *handed_in,
                 struct text *said);

#endif
