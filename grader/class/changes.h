/* changes: the differences between this report of a class and the previous one, and their causes.
 */
#ifndef OVERLAP_GRADER_CLASS_CHANGES_H
#define OVERLAP_GRADER_CLASS_CHANGES_H

#include "grader/base/json.h"

/* Returns a list of {key, what}, the differences between two classes; `before` NULL: there are
 * none. */
json_t *changes_between(const json_t *before, const json_t *after);

#endif
