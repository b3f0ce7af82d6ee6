/* course: the lessons, the student's progress in each, and the file that stores it.
 *
 * The stored progress of a lesson is valid for one content only: the student's files, everything of
 * the project's that goes into lesson.so, and this program. With any other content the lesson is
 * open again. If the file (.overlap-progress in the clone's root) is lost or damaged, the lessons
 * are graded again.
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
    COURSE_UNKNOWN,   /* the present content was not graded */
    COURSE_UNTOUCHED, /* the unchanged stub */
    COURSE_BROKEN,    /* does not compile */
    COURSE_OPEN,      /* a check failed */
    COURSE_PASSED,
    COURSE_STATES
};

enum course_asked { /* requested before the lesson was passed: shown at the second request */
                    COURSE_ASKED_SOLUTION = 1u << 0,
                    COURSE_ASKED_ANSWERS = 1u << 1,
};

struct course_lesson {
    const struct lesson *lesson;
    const struct handed_in *handed_in;
    char key[SHA256_TEXT_SIZE]; /* key of the present content; "": unreadable */
    enum course_state state;
    unsigned passed, skipped, total; /* numbers of checks; 0 of 0 where they are not known */
    char failing[COURSE_NAME];       /* the first failing check; "": none */
    unsigned hints;                  /* hints shown for the failing check */
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

/* Reads lessons/ and the file. Returns 0, or -1 (`why`). */
int course_open(struct course *course, const struct toolchain *toolchain,
                const struct lesson *const *table, struct text *why);
void course_close(struct course *course);

/* Reads the lesson's files again. Returns true when their content has changed. */
bool course_look(struct course *course, size_t index);

/* Stores the lesson's progress; what other processes stored about other lessons is kept. */
void course_save(struct course *course, size_t index);

/* Returns the next lesson that is not passed, from `from` on, cyclically; the number of lessons:
 * all are passed. */
size_t course_next(const struct course *course, size_t from);
size_t course_passed(const struct course *course);

/* Returns the lesson called `word`; the number of lessons: there is none. */
size_t course_find(const struct course *course, const char *word);

/* Returns the number of checks that can be judged on this machine. */
unsigned course_judged(const struct course_lesson *lesson);

#endif
