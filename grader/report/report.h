/* report: makes the points of a record's checks, and the files that gradebooks read.
 *
 * A record is a JSON object for one submission. The session makes it from what it judged
 * (session/record.h), and every report is made from records only, so that one submission and a
 * class of 300 are handled in the same way. docs/schemas/overlap.schema.json defines its contents:
 *
 *   submission {name, id, email, folder}   command   seed   device   random_orders   seconds
 *   complete   false: grading did not come to its end, and not all checks are present
 *   trouble    "": judged. Otherwise the machine's fault, for which it was not, so without points
 *   lessons    [{lesson, suite, score, max_score, lost, missing, note,
 *              checks [{name, title, outcome, judged, because, score, max_score, why, required,
 *              visibility, seconds, reason, printed, figures,
 *              failures [{file, line, function, kind, what, why, hint, seen,
 *              source [{line, text}]}]}]}]
 *              missing: nothing was handed in for it; because: the check whose failure kept this
 *              one from being judged, "": it was judged
 *   score   max_score
 *
 * This room never judges: it translates outcomes into points and words.
 */
#ifndef OVERLAP_GRADER_REPORT_REPORT_H
#define OVERLAP_GRADER_REPORT_REPORT_H

#include "grader/base/json.h"
#include "grader/base/text.h"

/* ---- points ----------------------------------------------------------------------------- */

struct marks;

/* Reads the table of points: report/marks.txt, which also documents the format, and then the lines
 * of `path` (NULL: none), which take precedence. Returns NULL with a sentence. */
struct marks *marks_read(const char *path, struct text *why);
void marks_free(struct marks *marks);

/* Sets score, max_score, required, visibility and why in the record's checks, and the sums. */
void marks_apply(const struct marks *marks, json_t *record);

/* ---- reports ---------------------------------------------------------------------------- */

/* The reports that --report and --marks asked for. */
struct reports;

/* `values`: "gradescope:FILE" etc.; a FILE that ends in '/' is a folder with one file per
 * submission, named by its key. `marks`: a file, or NULL. Returns NULL with a sentence that says
 * what would have been right. */
struct reports *reports_open(const char *const *values, size_t count, const char *marks,
                             struct text *why);
void reports_close(struct reports *reports);

size_t reports_count(const struct reports *reports);
const struct marks *reports_marks(const struct reports *reports);

/* Checks that the reports can hold a class: a format for one submission needs a folder. Returns 0,
 * or -1 with a sentence. */
int reports_hold_class(const struct reports *reports, struct text *why);

/* Writes the reports of a class: {"submissions": [record...], "similar": [...], "changes": [...]},
 * whose records have points. Every file is replaced atomically. Goes on after a failure. Returns 0,
 * or -1 with a sentence. */
int reports_write(const struct reports *reports, const json_t *class, struct text *why);

/* As reports_write, before grading has ended, and only for formats that somebody waits for in any
 * case: the result of an autograder, but not a gradebook's table. */
int reports_write_unfinished(const struct reports *reports, const json_t *class, struct text *why);

#endif
