#include "grader/learn/course.h"
#include "grader/base/files.h"
#include "grader/build/key.h"
#include "grader/build/stub.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define PROGRESS_LIMIT ((size_t)1 << 16)
#define HEADING                                                                                    \
    "# What ./learn has seen. It may be deleted: then the lessons are graded again.\n"             \
    "# lesson, state, checks passed, skipped and in all, first failing, hints, asked, content\n"

static const char *const state_names[COURSE_STATES] = {
    [COURSE_UNKNOWN] = "unknown", [COURSE_UNTOUCHED] = "untouched", [COURSE_BROKEN] = "broken",
    [COURSE_OPEN] = "open",       [COURSE_PASSED] = "passed",
};

/* ---- the file ---------------------------------------------------------------------------------
 */

static void progress_path(const struct course *course, const char *ending, char *path)
{
    snprintf(path, PATH_MAX, "%s/" COURSE_PROGRESS "%s", course->toolchain->source, ending);
}

/* Parses one line of the file; false: it is not valid. */
static bool parse(const char *line, struct course_lesson *lesson, char folder[64])
{
    char state[16], failing[COURSE_NAME];

    if (sscanf(line, "%63s %15s %u %u %u %79s %u %u %64s", folder, state, &lesson->passed,
               &lesson->skipped, &lesson->total, failing, &lesson->hints, &lesson->asked,
               lesson->key) != 9)
        return false;
    lesson->state = COURSE_STATES;
    for (int i = 0; i < COURSE_STATES; i++)
        if (strcmp(state, state_names[i]) == 0) lesson->state = (enum course_state)i;
    snprintf(lesson->failing, sizeof lesson->failing, "%s", strcmp(failing, "-") ? failing : "");
    return lesson->state != COURSE_STATES && lesson->passed <= lesson->total &&
           lesson->skipped <= lesson->total - lesson->passed && lesson->hints <= COURSE_HINTS &&
           strlen(lesson->key) + 1 == SHA256_TEXT_SIZE;
}

static void format(const struct course_lesson *lesson, struct text *text)
{
    text_format(text, "%s %s %u %u %u %s %u %u %s\n", lesson->lesson->folder,
                state_names[lesson->state], lesson->passed, lesson->skipped, lesson->total,
                lesson->failing[0] != '\0' ? lesson->failing : "-", lesson->hints, lesson->asked,
                lesson->key);
}

/* Reads the stored progress of each lesson: rows[i].key is "" where there is none or it makes no
 * sense. */
static void read_progress(const struct course *course, struct course_lesson *rows)
{
    struct text text = {0};
    char path[PATH_MAX], folder[64];

    for (size_t i = 0; i < course->count; i++) rows[i].key[0] = '\0';
    progress_path(course, "", path);
    if (files_read(path, PROGRESS_LIMIT, &text) == 0) {
        char *rest = NULL;
        for (char *line = strtok_r(text.data != NULL ? text.data : (char[]){""}, "\n", &rest);
             line != NULL; line = strtok_r(NULL, "\n", &rest)) {
            struct course_lesson row;
            if (line[0] == '#' || !parse(line, &row, folder)) continue;
            for (size_t i = 0; i < course->count; i++) {
                if (strcmp(folder, course->lessons[i].lesson->folder) != 0) continue;
                row.lesson = course->lessons[i].lesson;
                row.handed_in = course->lessons[i].handed_in;
                rows[i] = row;
            }
        }
    }
    text_free(&text);
}

void course_save(struct course *course, size_t index)
{
    struct course_lesson *rows = calloc(course->count + 1, sizeof *rows);
    struct text text = {0};
    char path[PATH_MAX], temporary[PATH_MAX], ending[32];

    course->unsaved = true;
    const int lock = open(course->toolchain->source, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (rows == NULL || lock < 0) goto done;
    flock(lock, LOCK_EX);
    read_progress(course, rows);
    rows[index] = course->lessons[index];
    text_add(&text, HEADING);
    for (size_t i = 0; i < course->count; i++)
        if (rows[i].key[0] != '\0') format(&rows[i], &text);
    progress_path(course, "", path);
    snprintf(ending, sizeof ending, ".%ld", (long)getpid());
    progress_path(course, ending, temporary);
    unlink(temporary);
    if (text.failed || files_write(temporary, text_string(&text), text.size) != 0 ||
        rename(temporary, path) != 0)
        unlink(temporary);
    else
        course->unsaved = false;
done:
    if (lock >= 0) close(lock);
    text_free(&text);
    free(rows);
}

/* ---- content -----------------------------------------------------------------------------------
 */

static void hash_program(struct course *course)
{
    struct sha256 hash;
    sha256_begin(&hash);
    sha256_add_file(&hash, "/proc/self/exe");
    sha256_end(&hash, course->program);
}

static void find_key(const struct course *course, const struct course_lesson *lesson,
                     char key[SHA256_TEXT_SIZE])
{
    struct sha256 hash;
    char content[SHA256_TEXT_SIZE];

    key[0] = '\0';
    if (key_of(course->toolchain, lesson->handed_in, content) != 0) return;
    sha256_begin(&hash);
    sha256_add_string(&hash, content);
    sha256_add_string(&hash, course->program);
    sha256_end(&hash, key);
}

static void forget(struct course_lesson *lesson)
{
    lesson->state = COURSE_UNKNOWN;
    lesson->passed = lesson->skipped = lesson->total = 0;
}

bool course_look(struct course *course, size_t index)
{
    struct course_lesson *lesson = &course->lessons[index];
    char key[SHA256_TEXT_SIZE];

    find_key(course, lesson, key);
    if (strcmp(key, lesson->key) == 0) return false;
    strcpy(lesson->key, key);
    forget(lesson);
    if (stub_untouched(course->toolchain, lesson->handed_in)) {
        lesson->state = COURSE_UNTOUCHED;
        lesson->failing[0] = '\0';
        lesson->hints = 0;
    }
    return true;
}

/* ---- course ------------------------------------------------------------------------------------
 */

/* Applies the stored progress of the lesson, as far as it is valid for the present content. */
static void remember(struct course_lesson *lesson, const struct course_lesson *row)
{
    const bool same = strcmp(row->key, lesson->key) == 0;

    lesson->asked = row->asked;
    if (lesson->state == COURSE_UNTOUCHED && !same) return;
    strcpy(lesson->failing, row->failing);
    lesson->hints = row->hints; /* kept while the same check fails */
    if (lesson->state == COURSE_UNTOUCHED || !same) return;
    lesson->state = row->state;
    lesson->passed = row->passed;
    lesson->skipped = row->skipped;
    lesson->total = row->total;
}

int course_open(struct course *course, const struct toolchain *toolchain,
                const struct lesson *const *table, struct text *why)
{
    memset(course, 0, sizeof *course);
    course->toolchain = toolchain;
    if (submission_choose(&course->submission, table, NULL, 0, toolchain->source, NULL, false,
                          why) != 0)
        return -1;
    course->count = course->submission.count;
    course->lessons = calloc(course->count + 1, sizeof *course->lessons);
    struct course_lesson *rows = calloc(course->count + 1, sizeof *rows);
    if (course->lessons == NULL || rows == NULL) {
        free(rows);
        text_add(why, "no memory");
        return -1;
    }
    hash_program(course);
    for (size_t i = 0; i < course->count; i++) {
        course->lessons[i].handed_in = &course->submission.lessons[i];
        course->lessons[i].lesson = course->submission.lessons[i].lesson;
    }
    read_progress(course, rows);
    for (size_t i = 0; i < course->count; i++) {
        struct course_lesson *lesson = &course->lessons[i];
        course_look(course, i);
        if (rows[i].key[0] != '\0') remember(lesson, &rows[i]);
    }
    free(rows);
    return 0;
}

void course_close(struct course *course)
{
    free(course->lessons);
    submission_free(&course->submission);
    memset(course, 0, sizeof *course);
}

size_t course_next(const struct course *course, size_t from)
{
    for (size_t i = 0; i < course->count; i++) {
        size_t at = (from + i) % course->count;
        if (course->lessons[at].state != COURSE_PASSED) return at;
    }
    return course->count;
}

size_t course_passed(const struct course *course)
{
    size_t count = 0;
    for (size_t i = 0; i < course->count; i++) count += course->lessons[i].state == COURSE_PASSED;
    return count;
}

size_t course_find(const struct course *course, const char *word)
{
    size_t i = 0;
    while (i < course->count && !submission_is_called(course->lessons[i].lesson, word)) i++;
    return i;
}

unsigned course_judged(const struct course_lesson *lesson)
{
    unsigned total = lesson->total;
    if (total == 0)
        while (lesson->lesson->checks[total].name != NULL) total++;
    return total - lesson->skipped;
}
