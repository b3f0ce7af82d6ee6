/* report: one record for each submission, points for its checks, and the files that gradebooks
 * read.
 *
 * A record is a JSON object. The session makes it from what it judged (session/record.h), and every
 * report is made from records alone, so that one submission and a class of 300 take the same way.
 * What it holds, and nothing else, is said by docs/schemas/overlap.schema.json:
 *
 *   submission {name, id, email, folder}   command   seed   device   random_orders   seconds
 *   complete   false: grading did not come to its end, and the checks that are there are not all
 *   trouble    "": judged. Otherwise why it could not be: the machine's fault, so no points are
 * said lessons [{lesson, suite, score, max_score, lost, checks [{name, title, outcome, judged,
 * score, max_score, why, required, visibility, seconds, reason, printed, figures, failures
 *             [{file, line, function, kind, what, why, hint, seen, source [{line, text}]}]}]}]
 *   score   max_score
 *
 * This room never judges: it gives points for outcomes, and words to both.
 */
#ifndef OVERLAP_GRADER_REPORT_REPORT_H
#define OVERLAP_GRADER_REPORT_REPORT_H

#include "grader/base/json.h"
#include "grader/base/text.h"

/* ---- points ----------------------------------------------------------------------------- */

struct marks;

/* Reads the table of points: report/marks.txt, which is also its description, and then the lines
 * of `path` (NULL: none), which win. Returns NULL with a sentence. */
struct marks *marks_read(const char *path, struct text *why);
void marks_free(struct marks *marks);

/* Sets score, max_score, required, visibility and why in the record's checks, and the sums. */
void marks_apply(const struct marks *marks, json_t *record);

/* ---- reports ---------------------------------------------------------------------------- */

/* What --report and --marks asked for. */
struct reports;

/* `values`: "gradescope:FILE" and so on; a FILE that ends in '/' is a folder, with a file for each
 * submission named by its key. `marks`: a file, or NULL. Returns NULL with a sentence that says
 * what would have been right. */
struct reports *reports_open(const char *const *values, size_t count, const char *marks,
                             struct text *why);
void reports_close(struct reports *reports);

size_t reports_count(const struct reports *reports);
const struct marks *reports_marks(const struct reports *reports);

/* Can they hold a class? A report for one submission needs a folder. Returns 0, or -1 with a
 * sentence. */
int reports_hold_class(const struct reports *reports, struct text *why);

/* Writes them from a class: {"submissions": [record...], "similar": [...], "changes": [...]}, whose
 * records have points. Every file is whole or is what it was before. Goes on after a failure.
 * Returns 0, or -1 with a sentence. */
int reports_write(const struct reports *reports, const json_t *class, struct text *why);

/* The same while grading goes on, and only those that somebody waits for whatever happens: an
 * autograder's answer, never a gradebook's table. */
int reports_write_unfinished(const struct reports *reports, const json_t *class, struct text *why);

#endif
