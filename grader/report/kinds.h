/* kinds: the writers of the report formats, for report.c only. Each appends the whole file to
 * `text`, from {"submissions": [record...]} (report.h); formats for one submission use the first
 * record.
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

/* Functions that the writers share. */

/* Returns the student's name, "alice", or a substitute. */
const char *record_name(const json_t *record);
/* Returns true when the record was judged completely and so has points. */
bool record_has_points(const json_t *record);
/* Appends why a check did not pass, in plain text with places; nothing when it passed. */
void check_words(const json_t *check, struct text *text);
/* Returns true for a check that students are shown now. */
bool check_is_visible(const json_t *check);
/* Returns true when the failure of another check kept this one from being judged. */
bool check_is_blocked(const json_t *check);
/* Appends a line that names the checks which were not judged because of `check`, and their points;
 * nothing where there are none. `handed_out`: it names visible checks only. */
void check_blocks(const json_t *lesson, const json_t *check, bool handed_out, struct text *text);
/* Appends the string with <, >, &, " and ' escaped for XML and HTML. */
void text_add_escaped(struct text *text, const char *string);
/* "3", "2.5" */
void text_add_points(struct text *text, double points);

#endif
