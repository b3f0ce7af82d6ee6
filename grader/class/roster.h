/* roster: who is in the class, from a CSV file; and CSV itself (RFC 4180).
 *
 * The first line names the columns, in any order and in the words of Canvas, Moodle or Gradescope:
 * a name (Student, "Full name", Name, or "First name" and "Last name"), a number (ID, SID,
 * Identifier), and, where they are there, "SIS User ID" or "ID number", "SIS Login ID" or Username,
 * Email, Section, and Submission: the name of what was handed in, without its suffix.
 */
#ifndef OVERLAP_GRADER_CLASS_ROSTER_H
#define OVERLAP_GRADER_CLASS_ROSTER_H

#include "grader/base/json.h"

/* A list of {name, id, sis_id, login, email, section, submission}. NULL with a sentence. */
json_t *roster_read(const char *path, struct text *why);

/* The entry that is meant by the name of a folder, and by a number that an export gives (""): the
 * same number, submission, login, e-mail address (or what stands before its @), or name, whatever
 * their case and whatever lies between the words. NULL: none, or several. */
json_t *roster_find(const json_t *roster, const char *name, const char *id);

#endif
