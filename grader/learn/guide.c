#include "grader/learn/guide.h"
#include "grader/base/files.h"
#include "grader/base/messages.h"
#include "grader/base/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A clone that is not writable gets its build cache elsewhere. */
static void choose_cache(struct guide *guide)
{
    static char path[PATH_MAX];
    const char *temporary = getenv("TMPDIR");

    if (access(guide->toolchain.cache, W_OK) == 0 ||
        (files_make_folders(guide->toolchain.cache) == 0 &&
         access(guide->toolchain.cache, W_OK) == 0))
        return;
    snprintf(path, sizeof path, "%s/overlap-cache-%ld",
             temporary != NULL && temporary[0] == '/' ? temporary : "/tmp", (long)getuid());
    guide->toolchain.cache = path;
}

/* Chooses the lesson to begin with: one that was begun and is not passed, else the next. */
static size_t choose_current(const struct course *course)
{
    for (size_t i = 0; i < course->count; i++) {
        const enum course_state state = course->lessons[i].state;
        if (state == COURSE_OPEN || state == COURSE_BROKEN || state == COURSE_UNKNOWN) return i;
    }
    const size_t next = course_next(course, 0);
    return next < course->count ? next : 0;
}

int guide_open(struct guide *guide, const struct toolchain *toolchain,
               const struct lesson *const *table)
{
    memset(guide, 0, sizeof *guide);
    guide->toolchain = *toolchain;
    guide->table = table;
    choose_cache(guide);
    if (course_open(&guide->course, &guide->toolchain, table, &guide->said) != 0) return 2;
    guide->gradings = calloc(guide->course.count + 1, sizeof *guide->gradings);
    if (guide->gradings == NULL) {
        text_add(&guide->said, "no memory");
        return 2;
    }
    for (size_t i = 0; i < guide->course.count; i++) guide->gradings[i].fd = -1;
    guide->current = choose_current(&guide->course);
    return 0;
}

void guide_close(struct guide *guide)
{
    for (size_t i = 0; guide->gradings != NULL && i < guide->course.count; i++)
        grading_end(&guide->gradings[i]);
    free(guide->gradings);
    course_close(&guide->course);
    text_free(&guide->said);
    memset(guide, 0, sizeof *guide);
}

bool guide_grade(struct guide *guide, size_t index)
{
    for (size_t i = 0; i < guide->course.count; i++)
        if (guide->gradings[i].pid > 0) grading_end(&guide->gradings[i]);
    if (grading_start(&guide->gradings[index], &guide->toolchain, guide->table,
                      guide->course.lessons[index].lesson) == 0)
        return true;
    text_format(&guide->said, _("The grading cannot be started: %s."), strerror(errno));
    return false;
}

void guide_graded(struct guide *guide, size_t index)
{
    struct course_lesson *lesson = &guide->course.lessons[index];
    const struct grading *grading = &guide->gradings[index];
    const char *failing =
        grading->first < grading->count ? lesson->lesson->checks[grading->first].name : "";

    /* Saved again in the meantime: the verdict is for another content. */
    if (course_look(&guide->course, index)) return;
    /* After trouble of the machine's nothing is stored. */
    if (grading->trouble[0] != '\0') {
        lesson->state = COURSE_UNKNOWN;
        return;
    }
    if (strcmp(failing, lesson->failing) != 0) lesson->hints = 0;
    snprintf(lesson->failing, sizeof lesson->failing, "%s", failing);
    lesson->passed = (unsigned)grading_passed(grading);
    lesson->skipped = (unsigned)grading_skipped(grading);
    lesson->total = (unsigned)grading->count;
    lesson->state = grading->broken       ? COURSE_BROKEN
                    : failing[0] != '\0'  ? COURSE_OPEN
                    : lesson->passed == 0 ? COURSE_OPEN
                                          : COURSE_PASSED;
    course_save(&guide->course, index);
}

bool guide_know(struct guide *guide, size_t index, bool anew)
{
    struct course_lesson *lesson = &guide->course.lessons[index];

    course_look(&guide->course, index);
    if (lesson->state == COURSE_UNTOUCHED) {
        snprintf(lesson->failing, sizeof lesson->failing, "%s", lesson->lesson->checks[0].name);
        return true;
    }
    if (!anew && lesson->state != COURSE_UNKNOWN) return true;
    if (!guide_grade(guide, index)) return false;
    grading_wait(&guide->gradings[index]);
    if (process_interrupted() != 0) return false;
    guide_graded(guide, index);
    return guide->gradings[index].trouble[0] == '\0';
}
