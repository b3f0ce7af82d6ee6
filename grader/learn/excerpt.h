/* excerpt: shows the student's lines around a place, with a caret under the place.
 */
#ifndef OVERLAP_GRADER_LEARN_EXCERPT_H
#define OVERLAP_GRADER_LEARN_EXCERPT_H

#include "grader/evidence/verdict.h"
#include "grader/learn/page.h"

/* Adds nothing where the file cannot be read or the place is not in a file. `root`: the clone. */
void excerpt_add(struct page *page, const char *root, const struct verdict_failure *failure);

#endif
