/* similar: finds submissions that share code which others do not have. The result is a hint for the
 * instructor: it decides nothing and changes no points.
 *
 * Sources are read as tokens without comments and layout; all numbers, all texts, and all names
 * that are not CUDA's or C's count as equal. Windows of WINDOW tokens are compared by their hash.
 * Windows that a stub or a solution contains, or more than a tenth of the class, do not count.
 * After S. Schleimer, D. Wilkerson and A. Aiken, Winnowing, SIGMOD 2003.
 */
#ifndef OVERLAP_GRADER_CLASS_SIMILAR_H
#define OVERLAP_GRADER_CLASS_SIMILAR_H

#include "grader/base/json.h"
#include "grader/evidence/judge.h"

/* Returns a list of {lesson, one, other, part, windows, one_line, other_line}, the most alike
 * first. `class` has the records; `work` is the folder with KEY/lessons/ for each; `source` is the
 * repository. */
json_t *similar_pairs(const json_t *class, const struct lesson *const *table, const char *work,
                      const char *source);

#endif
