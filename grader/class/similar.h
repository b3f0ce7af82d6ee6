/* similar: submissions that share code which others do not have. It says where to look; it decides
 * nothing and changes no points.
 *
 * Sources are read as tokens: comments and layout are left out, names that are not CUDA's or C's
 * and all numbers and texts look alike. What is compared are windows of WINDOW tokens, by their
 * hash; those that a stub or a solution has, or more than a tenth of the class, do not count. After
 * S. Schleimer, D. Wilkerson and A. Aiken, Winnowing, SIGMOD 2003.
 */
#ifndef OVERLAP_GRADER_CLASS_SIMILAR_H
#define OVERLAP_GRADER_CLASS_SIMILAR_H

#include "grader/base/json.h"
#include "grader/evidence/judge.h"

/* A list of {lesson, one, other, part, windows, one_line, other_line}, the most alike first.
 * `class` has the records; `work` is the folder with KEY/lessons/ for each; `source` the
 * repository. */
json_t *similar_pairs(const json_t *class, const struct lesson *const *table, const char *work,
                      const char *source);

#endif
