#include "grader/build/submission.h"
#include "grader/base/messages.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Copies the folder's name without trailing slashes, except for the root. */
static void copy_folder(char *to, size_t size, const char *folder)
{
    snprintf(to, size, "%s", folder);
    for (size_t length = strlen(to); length > 1 && to[length - 1] == '/';) to[--length] = '\0';
}

/* The lesson "02_streams" is called "02", "2", "streams", "02_streams", its suite's name, or as the
 * shell completes it: "lessons/02_streams/", "./02_streams". */
bool submission_is_called(const struct lesson *lesson, const char *word)
{
    const char *name = strchr(lesson->folder, '_');
    char number[16], plain[PATH_MAX];

    /* Accepts a path only directly in a folder "lessons", or a name without a folder. */
    copy_folder(plain, sizeof plain, word);
    char *slash = strrchr(plain, '/');
    if (slash != NULL && slash[1] != '\0') {
        *slash = '\0';
        const char *above = strrchr(plain, '/') != NULL ? strrchr(plain, '/') + 1 : plain;
        return (strcmp(above, "lessons") == 0 || strcmp(above, ".") == 0) &&
               strcmp(slash + 1, lesson->folder) == 0;
    }
    snprintf(number, sizeof number, "%u", lesson->number);
    if (strcmp(word, lesson->folder) == 0 || strcmp(word, lesson->suite) == 0) return true;
    if (name != NULL && strcmp(word, name + 1) == 0) return true;
    while (word[0] == '0' && word[1] != '\0') word++;
    return strcmp(word, number) == 0;
}

static int unknown_lesson(const struct lesson *const *table, const char *word, struct text *why)
{
    const char *names[200];
    size_t count = 0;

    for (size_t i = 0; table[i] != NULL && count < 199; i++) {
        const char *name = strchr(table[i]->folder, '_');
        names[count++] = name != NULL ? name + 1 : table[i]->folder;
    }
    names[count] = NULL;
    const char *near = text_nearest(word, names);
    text_add(why, _("there is no lesson \""));
    text_add_quoted(why, word, strlen(word));
    text_add(why, "\"");
    if (near != NULL) text_format(why, _("; did you mean %s?"), near);
    text_add(why, _(" The lessons are:"));
    for (size_t i = 0; i < count; i++) text_format(why, "%s %s", i > 0 ? "," : "", names[i]);
    return 2;
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool has_file(const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct stat status;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) return false;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Returns the lesson whose files lie directly in `folder`, or NULL. */
static const struct lesson *lesson_in(const struct lesson *const *table, const char *folder)
{
    for (; *table != NULL; table++)
        for (const char *const *file = (*table)->files; *file != NULL; file++)
            if (has_file(folder, *file)) return *table;
    return NULL;
}

static bool holds_lessons(const struct lesson *const *table, const char *folder)
{
    char path[PATH_MAX];
    for (; *table != NULL; table++)
        if (snprintf(path, sizeof path, "%s/%s", folder, (*table)->folder) < (int)sizeof path &&
            is_folder(path))
            return true;
    return false;
}

static int not_a_submission(const struct lesson *const *table, const char *folder, struct text *why)
{
    text_add_quoted(why, folder, strlen(folder));
    if (!is_folder(folder)) {
        text_format(why, _(" is not a folder that can be opened: %s"),
                    errno != 0 ? strerror(errno) : strerror(ENOTDIR));
        return 2;
    }
    text_format(why,
                _(" is no submission: it should hold a copy of lessons/ (folders named like %s) or "
                  "the files of one lesson (such as %s)"),
                *table != NULL ? (*table)->folder : "01_name",
                *table != NULL ? (*table)->files[0] : "name.c");
    return 2;
}

int submission_choose(struct submission *submission, const struct lesson *const *table,
                      const char *const *words, size_t word_count, const char *root,
                      const char *folder, bool solutions, struct text *why)
{
    const char *own = solutions ? "solutions" : "lessons";
    const struct lesson *single = NULL;
    char shown[PATH_MAX - 300], place[PATH_MAX - 300];
    size_t lesson_count = 0;

    memset(submission, 0, sizeof *submission);
    for (size_t i = 0; i < word_count; i++) {
        const struct lesson *const *lesson = table;
        while (*lesson != NULL && !submission_is_called(*lesson, words[i])) lesson++;
        if (*lesson == NULL) return unknown_lesson(table, words[i], why);
    }
    if (folder != NULL) {
        errno = 0;
        copy_folder(shown, sizeof shown, folder);
        copy_folder(place, sizeof place, folder);
        if (!holds_lessons(table, folder)) {
            single = lesson_in(table, folder);
            if (single == NULL) return not_a_submission(table, folder, why);
        }
    } else {
        snprintf(shown, sizeof shown, "%s", own);
        snprintf(place, sizeof place, "%s/%s", root, own);
    }

    while (table[lesson_count] != NULL) lesson_count++;
    submission->lessons = calloc(lesson_count + 1, sizeof *submission->lessons);
    if (submission->lessons == NULL) {
        text_add(why, _("no memory"));
        return 2;
    }
    for (; *table != NULL; table++) {
        bool wanted = word_count == 0;
        for (size_t i = 0; i < word_count; i++)
            wanted = wanted || submission_is_called(*table, words[i]);
        if (!wanted || (single != NULL && *table != single)) continue;
        struct handed_in *one = &submission->lessons[submission->count++];
        one->lesson = *table;
        snprintf(one->folder, sizeof one->folder, "%s%s%s", place, single ? "" : "/",
                 single ? "" : (*table)->folder);
        snprintf(one->shown, sizeof one->shown, "%s%s%s", shown, single ? "" : "/",
                 single ? "" : (*table)->folder);
    }
    if (submission->count == 0 && single != NULL) {
        text_add_quoted(why, folder, strlen(folder));
        text_format(why,
                    _(" is a submission for the lesson %s, which is not among the lessons asked "
                      "for"),
                    single->folder);
        submission_free(submission);
        return 2;
    }
    return 0;
}

void submission_free(struct submission *submission)
{
    free(submission->lessons);
    memset(submission, 0, sizeof *submission);
}
