/* guide: the state of ./learn while it runs, and its actions, which keys and commands share.
 */
#ifndef OVERLAP_GRADER_LEARN_GUIDE_H
#define OVERLAP_GRADER_LEARN_GUIDE_H

#include "grader/learn/course.h"
#include "grader/learn/grading.h"
#include "grader/learn/page.h"

struct guide {
    struct toolchain toolchain;
    const struct lesson *const *table;
    struct course course;
    struct grading *gradings; /* one per lesson; at most one is in progress */
    size_t current;           /* the lesson that the student works on */
    struct text said;         /* sentences to be shown once */
    char reading[PATH_MAX];   /* a file to show in the pager; "": none */
    bool refused;             /* the request is granted when it is repeated */
    bool screen;              /* messages name keys instead of commands */
};

/* Returns 0, or 2 with guide->said. */
int guide_open(struct guide *guide, const struct toolchain *toolchain,
               const struct lesson *const *table);
void guide_close(struct guide *guide);

/* Starts grading the lesson. False: it cannot be started (guide->said). */
bool guide_grade(struct guide *guide, size_t index);
/* Call it when a lesson's grading is done: stores the progress. */
void guide_graded(struct guide *guide, size_t index);
/* Grades the lesson and waits, unless its stored progress is valid and `anew` is false. False: it
 * could not be graded. */
bool guide_know(struct guide *guide, size_t index, bool anew);

/* An action fills in the page that it shows and returns the command's exit status. */
typedef int (*guide_view)(struct guide *guide, size_t lesson, struct page *page);

struct guide_action {
    const char *name; /* as a command */
    char key;
    bool grades;    /* needs the lesson's progress */
    guide_view run; /* changes the stored progress; may be NULL */
    guide_view view;
    const char *help;
};

/* All actions; the last entry has a name NULL. */
extern const struct guide_action guide_actions[];

/* Shows the course on one screen, and the next lesson. */
int guide_view_course(struct guide *guide, size_t lesson, struct page *page);
/* Shows a lesson's progress: the first failing check with its source lines, or what was shown. */
int guide_view_lesson(struct guide *guide, size_t lesson, struct page *page);

#endif
