#include "grader/learn/keep.h"
#include "grader/base/files.h"
#include "grader/base/messages.h"
#include "grader/build/stub.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LIMIT ((size_t)1 << 20) /* bytes of one source file */
#define PATH_ROOM (PATH_MAX + 300)

static bool same(const struct text *a, const struct text *b)
{
    return a->size == b->size && memcmp(text_string(a), text_string(b), a->size) == 0;
}

/* Writes `content` to the file atomically. */
static int put(const char *path, const struct text *content)
{
    char temporary[PATH_ROOM + 32];

    snprintf(temporary, sizeof temporary, "%s.%ld.new", path, (long)getpid());
    unlink(temporary);
    if (files_write(temporary, text_string(content), content->size) == 0 &&
        rename(temporary, path) == 0)
        return 0;
    const int trouble = errno;
    unlink(temporary);
    errno = trouble;
    return -1;
}

/* Keeps a copy of `content` under a new dated name, which is reported. */
static int keep(const struct handed_in *handed_in, const char *name, const struct text *content,
                struct text *said)
{
    char path[PATH_ROOM], date[40];
    const time_t now = time(NULL);
    struct tm local;

    localtime_r(&now, &local);
    strftime(date, sizeof date, "%Y-%m-%d-%H%M%S", &local);
    for (int i = 1; i < 100; i++) {
        char number[8] = "";
        if (i > 1) snprintf(number, sizeof number, "-%d", i);
        snprintf(path, sizeof path, "%s/%s.%s%s", handed_in->folder, name, date, number);
        if (files_write(path, text_string(content), content->size) == 0) {
            text_format(said, _("Your %s is kept as %s/%s.%s%s.\n"), name, handed_in->shown, name,
                        date, number);
            return 0;
        }
        if (errno != EEXIST) break;
    }
    text_format(said, _("%s/%s cannot be kept, so it stays as it is: %s.\n"), handed_in->shown,
                name, strerror(errno));
    return -1;
}

/* Returns true for a kept version of `name`: "streams.c.2026-..." */
static bool is_kept(const char *entry, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && strncmp(entry + length, ".20", 3) == 0;
}

/* Finds the newest kept version that differs from `now`; or, with `equal`, the one that equals it.
 * Its name is written to `found`. Returns 0 or -1. */
static int find_kept(const struct handed_in *handed_in, const char *name, const struct text *now,
                     bool equal, struct text *content, char found[256])
{
    struct dirent **entries = NULL;
    const int count = scandir(handed_in->folder, &entries, NULL, alphasort);
    int status = -1;

    for (int i = count - 1; i >= 0; i--) {
        char path[PATH_ROOM];
        const char *entry = entries[i]->d_name;
        if (status != 0 && is_kept(entry, name)) {
            snprintf(path, sizeof path, "%s/%s", handed_in->folder, entry);
            text_free(content);
            if (files_read(path, LIMIT, content) == 0 && same(content, now) == equal) {
                snprintf(found, 256, "%s", entry);
                status = 0;
            }
        }
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* Replaces the file by `content`. The old file is kept unless it is the stub or a kept version
 * equals it.
 */
static int replace(const struct toolchain *toolchain, const struct handed_in *handed_in,
                   const char *name, const struct text *content, struct text *said)
{
    struct text now = {0}, stub = {0}, kept = {0};
    char path[PATH_ROOM], found[256];
    int status = -1;

    snprintf(path, sizeof path, "%s/%s", handed_in->folder, name);
    stub_read(toolchain, handed_in->lesson, name, &stub);
    const bool there = files_read(path, LIMIT, &now) == 0;
    if (!there && errno != ENOENT) {
        text_format(said, _("%s/%s cannot be read, so it stays as it is: %s.\n"), handed_in->shown,
                    name, strerror(errno));
        goto done;
    }
    if (there && !same(&now, &stub) && find_kept(handed_in, name, &now, true, &kept, found) != 0 &&
        keep(handed_in, name, &now, said) != 0)
        goto done;
    status = put(path, content);
    if (status != 0)
        text_format(said, _("%s/%s cannot be written: %s.\n"), handed_in->shown, name,
                    strerror(errno));
done:
    text_free(&now);
    text_free(&stub);
    text_free(&kept);
    return status;
}

int keep_reset(const struct toolchain *toolchain, const struct handed_in *handed_in,
               struct text *said)
{
    int status = 0;

    if (stub_untouched(toolchain, handed_in)) {
        text_format(said, _("%s is the stub already.\n"), handed_in->shown);
        return 0;
    }
    for (const char *const *file = handed_in->lesson->files; *file != NULL && status == 0; file++) {
        struct text stub = {0};
        status = stub_read(toolchain, handed_in->lesson, *file, &stub);
        if (status != 0)
            text_format(said, _("The stub of %s cannot be read: %s.\n"), *file, strerror(errno));
        else
            status = replace(toolchain, handed_in, *file, &stub, said);
        text_free(&stub);
        if (status == 0)
            text_format(said, _("%s/%s is the stub again.\n"), handed_in->shown, *file);
    }
    return status;
}

int keep_restore(const struct toolchain *toolchain, const struct handed_in *handed_in,
                 struct text *said)
{
    int status = 0;

    for (const char *const *file = handed_in->lesson->files; *file != NULL && status == 0; file++) {
        struct text now = {0}, kept = {0};
        char path[PATH_ROOM], found[256];
        snprintf(path, sizeof path, "%s/%s", handed_in->folder, *file);
        files_read(path, LIMIT, &now);
        if (find_kept(handed_in, *file, &now, false, &kept, found) != 0) {
            text_format(said, _("No other version of %s/%s is kept.\n"), handed_in->shown, *file);
            status = -1;
        } else {
            status = replace(toolchain, handed_in, *file, &kept, said);
            if (status == 0)
                text_format(said, _("%s/%s is %s again.\n"), handed_in->shown, *file, found);
        }
        text_free(&now);
        text_free(&kept);
    }
    return status;
}
