/* guide: what ./learn knows while it runs, and what it does: the same for a key and for a command.
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
    struct grading *gradings; /* of each lesson; at most one is under way */
    size_t current;           /* the lesson that is worked on */
    struct text said;         /* what is to be told once, in sentences */
    char reading[PATH_MAX];   /* a file that is to be shown in the pager; "": none */
    bool refused;             /* what was asked for is shown when it is asked for again */
    bool screen;              /* keys are there: name them, not commands */
};

/* Returns 0, or 2 with guide->said. */
int guide_open(struct guide *guide, const struct toolchain *toolchain,
               const struct lesson *const *table);
void guide_close(struct guide *guide);

/* Starts grading the lesson. False: it cannot be started (guide->said). */
bool guide_grade(struct guide *guide, size_t index);
/* Its grading is done: remembers how far the lesson is. */
void guide_graded(struct guide *guide, size_t index);
/* Grades it and waits, unless what is remembered holds. False: it could not be graded. */
bool guide_know(struct guide *guide, size_t index, bool anew);

/* An action fills in the page that answers it and returns the exit status of the command. */
typedef int (*guide_view)(struct guide *guide, size_t lesson, struct page *page);

struct guide_action {
    const char *name; /* as a command */
    char key;
    bool grades;    /* needs to know how far the lesson is */
    guide_view run; /* changes what is remembered; may be NULL */
    guide_view view;
    const char *help;
};

/* All of them, ended by a name NULL. */
extern const struct guide_action guide_actions[];

/* The course on one screen, and what comes next. */
int guide_view_course(struct guide *guide, size_t lesson, struct page *page);
/* How far the lesson is: the first failing check and the lines it means, or what was shown. */
int guide_view_lesson(struct guide *guide, size_t lesson, struct page *page);

#endif
