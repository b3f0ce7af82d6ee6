/* class: many submissions graded side by side: `./grade --class=DIR`. It finds what was handed in,
 * brings each submission into one form, starts a grader of its own for each that changed, and makes
 * the reports from the records that those leave.
 *
 * It never judges and never runs a student's code: a submission that harms or stalls its grader
 * costs that submission only. What is known lies in the class's state folder, in files that appear
 * whole by rename; a call that was killed is taken up by the next one.
 *
 *   DIR.graded/lock            one call at a time, or several with a part each (--part=K/N)
 *   DIR.graded/lock.K-of-N
 *   DIR.graded/results/KEY.json   the record, under what it was graded as
 *   DIR.graded/work/KEY/lessons/  what was handed in, in the form of lessons/
 *   DIR.graded/logs/KEY.txt       what the submission's grader printed
 */
#ifndef OVERLAP_GRADER_CLASS_CLASS_H
#define OVERLAP_GRADER_CLASS_CLASS_H

#include "grader/build/toolchain.h"
#include "grader/evidence/judge.h"

/* What main does: the command line. Grades a class, checks the lessons, or hands over to
 * session_main. Returns the exit status, which is session_main's; for a class 0 when all were
 * graded, whatever their points are, and 2 when one could not be. */
int class_main(const struct toolchain *toolchain, const struct lesson *const *table, int count,
               char *const *arguments);

#endif
