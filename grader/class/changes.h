/* changes: what is different from the last time that this class was reported, and why.
 */
#ifndef OVERLAP_GRADER_CLASS_CHANGES_H
#define OVERLAP_GRADER_CLASS_CHANGES_H

#include "grader/base/json.h"

/* A list of {key, what} between two classes; `before` NULL: none. */
json_t *changes_between(const json_t *before, const json_t *after);

#endif
