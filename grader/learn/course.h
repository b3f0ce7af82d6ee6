/* course: the lessons, how far the student is with each, and the file that remembers it.
 *
 * What is remembered of a lesson holds for one content only: of the student's files, of everything
 * of ours that goes into lesson.so, and of this program. Any other content is open again. The file
 * (.overlap-progress in the clone's root) may be lost or damaged: then the lessons are graded
 * again.
 */
#ifndef OVERLAP_GRADER_LEARN_COURSE_H
#define OVERLAP_GRADER_LEARN_COURSE_H

#include "grader/base/sha256.h"
#include "grader/build/submission.h"
#include "grader/build/toolchain.h"

#define COURSE_PROGRESS ".overlap-progress"
#define COURSE_NAME 80 /* of a check */
#define COURSE_HINTS HINT_STEPS

enum course_state {
    COURSE_UNKNOWN,   /* not graded as it is now */
    COURSE_UNTOUCHED, /* the stub as it came */
    COURSE_BROKEN,    /* does not compile */
    COURSE_OPEN,      /* a check fails */
    COURSE_PASSED,
    COURSE_STATES
};

enum course_asked { /* what was asked for before it was passed: the second time it is shown */
                    COURSE_ASKED_SOLUTION = 1u << 0,
                    COURSE_ASKED_ANSWERS = 1u << 1,
};

struct course_lesson {
    const struct lesson *lesson;
    const struct handed_in *handed_in;
    char key[SHA256_TEXT_SIZE]; /* of the content as it is now; "" unreadable */
    enum course_state state;
    unsigned passed, skipped, total; /* checks; 0 of 0 where the state says nothing of them */
    char failing[COURSE_NAME];       /* the first check that fails; "" none */
    unsigned hints;                  /* steps shown of the failing check's */
    unsigned asked;                  /* enum course_asked */
};

struct course {
    const struct toolchain *toolchain;
    struct submission submission;
    struct course_lesson *lessons;
    size_t count;
    char program[SHA256_TEXT_SIZE]; /* of this program */
    bool unsaved;                   /* the file cannot be written */
};

/* Looks at lessons/ and reads the file. Returns 0, or -1 (`why`). */
int course_open(struct course *course, const struct toolchain *toolchain,
                const struct lesson *const *table, struct text *why);
void course_close(struct course *course);

/* Looks at the lesson's files again. Returns true when their content is another. */
bool course_look(struct course *course, size_t index);

/* Writes down how far the lesson is; what other calls wrote of other lessons stays. */
void course_save(struct course *course, size_t index);

/* The lesson that is next: the first that is not passed, from `from` on and around. The count: all
 * are passed. */
size_t course_next(const struct course *course, size_t from);
size_t course_passed(const struct course *course);

/* The lesson called `word`; the count: none is. */
size_t course_find(const struct course *course, const char *word);

/* Checks that can be judged on this machine. */
unsigned course_judged(const struct course_lesson *lesson);

#endif
