/* support: shared functions of the grader's tests: running a program and capturing its output,
 * temporary folders, hand-made records.
 */
#ifndef GRADER_TESTS_SUPPORT_H
#define GRADER_TESTS_SUPPORT_H

#include "grader/base/text.h"
#include "grader/evidence/evidence.h"

#include <check.h>

/* Runs a program in `folder` (NULL: the current one) with additional variables ("NAME=VALUE",
 * NULL-ended, may be NULL). Appends stdout to `out` and stderr to `err` (NULL: discarded). Returns
 * the exit status, or 128 + the signal. */
int support_run(const char *const *arguments, const char *folder, const char *const *variables,
                struct text *out, struct text *err);

/* Makes a new folder, which is removed when the test program ends. */
const char *support_folder(void);

/* Replaces the digits of every "(12 ms" by 0, so that the text can be compared. */
void support_hide_times(struct text *text);

/* Compares with tests/grader/golden/NAME; with OVERLAP_WRITE_GOLDEN=1 writes it instead. */
void support_compare_golden(const char *name, const char *text);

/* Returns how many processes below this one are alive. */
unsigned support_processes(void);

/* Returns empty evidence with room for `count` records, to be filled in by hand and indexed. */
struct evidence support_evidence(struct trace_record *records, size_t count);

int support_finish(SRunner *runner);

#endif
