/* intake: lists the submissions of a class, and brings each into the form of lessons/. It knows the
 * naming schemes of Canvas, Moodle and Gradescope exports, and finds the lessons' files wherever a
 * student put them; it does not read the files' contents.
 */
#ifndef OVERLAP_GRADER_CLASS_INTAKE_H
#define OVERLAP_GRADER_CLASS_INTAKE_H

#include "grader/base/json.h"
#include "grader/base/sha256.h"
#include "grader/evidence/judge.h"

/* Returns a list of {key, name, id, email, sources [paths]}, sorted by key; a key is a valid file
 * name. `roster` (NULL: none) gives names, and the students who handed in nothing (no sources).
 * `folder` may be an archive of the whole class, which is unpacked in `scratch`. `left_out` is set
 * to the names in the folder that are not submissions, `reserved` to those that might be, were
 * their names not of a kind that is never a student's. Returns NULL with a sentence. */
json_t *intake_list(const char *folder, const json_t *roster, const char *scratch,
                    struct text *left_out, struct text *reserved, struct text *why);

enum intake {
    INTAKE_READY,
    INTAKE_BAD,     /* nothing in it can be graded, see `why`; the folder exists and is empty */
    INTAKE_TROUBLE, /* this machine cannot process it, see `why` */
};

/* Makes the folder `to`/lessons from the submission's sources, in a process of its own, because a
 * submission's files may crash the code that unpacks them. `version` is set to a hash of the
 * contents. */
enum intake intake_take(const json_t *entry, const struct lesson *const *table, const char *to,
                        char version[SHA256_TEXT_SIZE], struct text *why);

#endif
