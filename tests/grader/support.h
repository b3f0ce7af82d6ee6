/* support: what the grader's tests share: running a program and keeping what it printed, folders
 * that vanish, hand-made records.
 */
#ifndef GRADER_TESTS_SUPPORT_H
#define GRADER_TESTS_SUPPORT_H

#include "grader/base/text.h"
#include "grader/evidence/evidence.h"

#include <check.h>

/* Runs a program in `folder` (NULL: here) with extra variables ("NAME=VALUE", NULL-ended, may be
 * NULL). Appends stdout to `out` and stderr to `err` (NULL: thrown away). Returns the exit status,
 * or 128 + the signal. */
int support_run(const char *const *arguments, const char *folder, const char *const *variables,
                struct text *out, struct text *err);

/* Makes a new folder, removed when the test program ends. */
const char *support_folder(void);

/* Puts 0 for the digits of every "(12 ms" so that the text can be compared. */
void support_hide_times(struct text *text);

/* Compares with tests/grader/golden/NAME; with OVERLAP_WRITE_GOLDEN=1 writes it instead. */
void support_compare_golden(const char *name, const char *text);

/* How many processes below this one are alive. */
unsigned support_processes(void);

/* Evidence of nothing, with room for `count` records, to be filled in by hand and indexed. */
struct evidence support_evidence(struct trace_record *records, size_t count);

int support_finish(SRunner *runner);

#endif
