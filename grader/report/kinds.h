/* kinds: the writers of the single reports, for report.c alone. Each appends the whole file to
 * `text`, from {"submissions": [record...]} (report.h); those of one submission look at the first.
 *
 * Sources: https://gradescope-autograders.readthedocs.io/en/latest/specs/ (gradescope),
 * classroom-resources/autograding-grading-reporter (github), docs.autolabproject.com/lab (autolab),
 * Canvas' "Gradebook import" and Moodle's "Offline grading worksheet" (canvas, moodle),
 * GoogleTest's XML (junit).
 */
#ifndef OVERLAP_GRADER_REPORT_KINDS_H
#define OVERLAP_GRADER_REPORT_KINDS_H

#include "grader/base/json.h"
#include "grader/base/text.h"

void report_page(const json_t *class, struct text *text);
void report_student_page(const json_t *class, struct text *text);
void report_json(const json_t *class, struct text *text);
void report_junit(const json_t *class, struct text *text);
void report_canvas(const json_t *class, struct text *text);
void report_moodle(const json_t *class, struct text *text);
void report_gradescope(const json_t *class, struct text *text);
void report_github(const json_t *class, struct text *text);
void report_autolab(const json_t *class, struct text *text);

/* What they share. */

/* "alice", or what stands for it. */
const char *record_name(const json_t *record);
/* Judged to its end: it has points. */
bool record_has_points(const json_t *record);
/* Why a check did not pass, in plain text with places, for people; "" when it passed. */
void check_words(const json_t *check, struct text *text);
/* Appends with <, >, &, " and ' replaced, for XML and HTML. */
void text_add_escaped(struct text *text, const char *string);
/* "3", "2.5" */
void text_add_points(struct text *text, double points);

#endif
