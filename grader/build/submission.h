/* submission: chooses which lessons are graded, and finds the folders with the student's files for
 * them: lessons/, solutions/, a copy of lessons/, or one lesson's folder. This module looks at
 * names only; compile reads the files.
 */
#ifndef OVERLAP_GRADER_BUILD_SUBMISSION_H
#define OVERLAP_GRADER_BUILD_SUBMISSION_H

#include "grader/base/text.h"
#include "grader/evidence/judge.h"

#include <limits.h>

/* One lesson to grade. */
struct handed_in {
    const struct lesson *lesson;
    char folder[PATH_MAX]; /* its files' folder */
    char shown[PATH_MAX];  /* the same folder as the student would type it */
};

struct submission {
    struct handed_in *lessons;
    size_t count;
};

/* Chooses from `table` (NULL-ended) the lessons that `words` name (none: all). `root` is the source
 * tree; with `folder` NULL the files are in `root`/lessons, or in `root`/solutions if `solutions`.
 * Returns 0, or 2 with a sentence that says what would have been right. */
int submission_choose(struct submission *submission, const struct lesson *const *table,
                      const char *const *words, size_t word_count, const char *root,
                      const char *folder, bool solutions, struct text *why);
void submission_free(struct submission *submission);

/* Returns true when the word names the lesson: its number, its name, both, or its suite. */
bool submission_is_called(const struct lesson *lesson, const char *word);

#endif
