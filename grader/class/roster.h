/* roster: the students of the class, from a CSV file; and a CSV parser (RFC 4180).
 *
 * The first line names the columns, in any order, as Canvas, Moodle or Gradescope name them: a name
 * (Student, "Full name", Name, or "First name" and "Last name"), a number (ID, SID, Identifier),
 * and optionally "SIS User ID" or "ID number", "SIS Login ID" or Username, Email, Section, and
 * Submission: the file or folder name of the submission, without its suffix.
 */
#ifndef OVERLAP_GRADER_CLASS_ROSTER_H
#define OVERLAP_GRADER_CLASS_ROSTER_H

#include "grader/base/json.h"

/* Returns a list of {name, id, sis_id, login, email, section, submission}, or NULL with a
 * sentence. */
json_t *roster_read(const char *path, struct text *why);

/* Finds the student of a folder name, and of a number that an export gives (or ""): the entry with
 * the same number, submission, login, e-mail address (or its part before the @), or name, ignoring
 * case and the characters between words. NULL: no entry matches, or several do. */
json_t *roster_find(const json_t *roster, const char *name, const char *id);

#endif
