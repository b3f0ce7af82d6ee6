/* intake: what was handed in, as one list, and each of it in the form of lessons/. It knows how
 * Canvas, Moodle and Gradescope name what they export, and looks for the lessons' files wherever a
 * student put them; what they contain it does not read.
 */
#ifndef OVERLAP_GRADER_CLASS_INTAKE_H
#define OVERLAP_GRADER_CLASS_INTAKE_H

#include "grader/base/json.h"
#include "grader/base/sha256.h"
#include "grader/evidence/judge.h"

/* A list of {key, name, id, email, sources [paths]}, in the order of the keys, which are names of
 * files. `roster` (NULL: none) gives names, and the students who handed in nothing (no sources).
 * `folder` may be an archive of the whole, which is unpacked in `scratch`. `left_out`: names in the
 * folder that are no submission. NULL with a sentence. */
json_t *intake_list(const char *folder, const json_t *roster, const char *scratch,
                    struct text *left_out, struct text *why);

enum intake {
    INTAKE_READY,
    INTAKE_BAD,     /* nothing in it can be graded: `why`; the folder is there and empty */
    INTAKE_TROUBLE, /* this machine cannot take it: `why` */
};

/* Makes the folder `to`/lessons from the submission's sources, in a process of its own: what it
 * meets there may harm that. `version` is the hash of what is in it. */
enum intake intake_take(const json_t *entry, const struct lesson *const *table, const char *to,
                        char version[SHA256_TEXT_SIZE], struct text *why);

#endif
