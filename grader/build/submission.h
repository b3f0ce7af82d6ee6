/* submission: which lessons are graded, and in which folders the student's files for them are:
 * lessons/, solutions/, somebody's copy of lessons/, or one lesson's folder. It looks at names
 * only; reading the files is compile's work.
 */
#ifndef OVERLAP_GRADER_BUILD_SUBMISSION_H
#define OVERLAP_GRADER_BUILD_SUBMISSION_H

#include "grader/base/text.h"
#include "grader/evidence/judge.h"

#include <limits.h>

/* One lesson to grade. */
struct handed_in {
    const struct lesson *lesson;
    char folder[PATH_MAX]; /* where its files are */
    char shown[PATH_MAX];  /* the same as the student would type it */
};

struct submission {
    struct handed_in *lessons;
    size_t count;
};

/* Chooses from `table` (NULL-ended) the lessons that `words` name (none: all). `root` is the source
 * tree; `folder` NULL: `root`/lessons, or `root`/solutions if `solutions`. Returns 0, or 2 with a
 * sentence that says what would have been right. */
int submission_choose(struct submission *submission, const struct lesson *const *table,
                      const char *const *words, size_t word_count, const char *root,
                      const char *folder, bool solutions, struct text *why);
void submission_free(struct submission *submission);

/* The lesson is meant by this word: its number, its name, both, or its suite. */
bool submission_is_called(const struct lesson *lesson, const char *word);

#endif
