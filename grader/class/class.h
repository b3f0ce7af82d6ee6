/* class: grades many submissions side by side: `./grade --class=DIR`. It finds the submissions,
 * brings each into one form, starts a grader of its own for each that changed, and makes the
 * reports from the records that the graders leave.
 *
 * It never judges and never runs a student's code: a submission that harms or stalls its grader
 * costs that submission only. Results are stored in the class's state folder, in files that appear
 * complete by rename; a call after an interrupted one continues from them.
 *
 *   DIR.graded/lock            held by one call, or shared by calls for parts (--part=K/N)
 *   DIR.graded/lock.K-of-N
 *   DIR.graded/results/KEY.json   the record, and the version by which it was graded
 *   DIR.graded/work/KEY/lessons/  the submission, in the form of lessons/
 *   DIR.graded/logs/KEY.txt       the output of the submission's grader
 */
#ifndef OVERLAP_GRADER_CLASS_CLASS_H
#define OVERLAP_GRADER_CLASS_CLASS_H

#include "grader/build/toolchain.h"
#include "grader/evidence/judge.h"

/* The grader's main: grades a class, checks the lessons, or passes the command line on to
 * session_main. Returns the exit status of session_main; for a class 0 when all submissions were
 * graded, whatever their points, and 2 when one could not be. */
int class_main(const struct toolchain *toolchain, const struct lesson *const *table, int count,
               char *const *arguments);

#endif
