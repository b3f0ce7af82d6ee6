#include "grader/build/entries.h"
#include "grader/base/files.h"
#include "grader/base/sha256.h"
#include "grader/base/trouble.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ENTRIES_MOST 400 /* kept */
#define SAID_LIMIT ((size_t)1 << 18)
#define LEFT_SECONDS 3600 /* age after which an unfinished folder counts as abandoned */
#define SUM "sum"

static const char *const contents[] = {ENTRIES_LIBRARY, ENTRIES_OBJECTS, ENTRIES_FAILED};
#define CONTENTS (sizeof contents / sizeof contents[0])

/* Computes the hash of the entry's files. Returns 0, or -1 with errno: a file exists and cannot be
 * read. */
static int sum_up(const char *folder, const char *key, char sum[SHA256_TEXT_SIZE])
{
    struct sha256 hash;
    char path[PATH_MAX];
    int result = 0;

    sha256_begin(&hash);
    sha256_add_string(&hash, key);
    for (size_t i = 0; i < CONTENTS; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, contents[i]);
        sha256_add_string(&hash, access(path, F_OK) == 0 ? contents[i] : "");
        if (sha256_add_file(&hash, path) != 0 && trouble_of_error(errno) != TROUBLE_NONE)
            result = -1;
    }
    sha256_end(&hash, sum);
    return result;
}

enum soundness { SOUND, DAMAGED, UNREADABLE };

static enum soundness look_at(const char *folder, const char *key)
{
    char sum[SHA256_TEXT_SIZE], path[PATH_MAX];
    struct text noted = {0};
    enum soundness found = DAMAGED;

    if (sum_up(folder, key, sum) != 0) return UNREADABLE;
    snprintf(path, sizeof path, "%s/%s", folder, SUM);
    if (files_read(path, SHA256_TEXT_SIZE, &noted) != 0)
        found = trouble_of_error(errno) != TROUBLE_NONE ? UNREADABLE : DAMAGED;
    else if (strcmp(text_string(&noted), sum) == 0)
        found = SOUND;
    text_free(&noted);
    return found;
}

static int hold(const char *folder)
{
    const int lock = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (lock < 0) return -1;
    if (flock(lock, LOCK_SH) == 0) return lock;
    close(lock);
    return -1;
}

int entries_find(const char *cache, const char *key, bool *failed, struct text *said)
{
    char folder[PATH_MAX], path[PATH_MAX];

    *failed = false;
    snprintf(folder, sizeof folder, "%s/%s", cache, key);
    const int lock = hold(folder);
    if (lock < 0) return -1;
    const enum soundness found = look_at(folder, key);
    if (found != SOUND) {
        close(lock);
        if (found == DAMAGED) files_remove(folder);
        return -1;
    }
    /* Marks the entry as just used, so that it is the last to be removed. */
    utimensat(AT_FDCWD, folder, NULL, 0);
    snprintf(path, sizeof path, "%s/%s", folder, ENTRIES_LIBRARY);
    if (access(path, R_OK) == 0) return lock;
    snprintf(path, sizeof path, "%s/%s", folder, ENTRIES_FAILED);
    *failed = true;
    files_read(path, SAID_LIMIT, said);
    return lock;
}

static bool is_content(const char *name)
{
    for (size_t i = 0; i < CONTENTS; i++)
        if (strcmp(name, contents[i]) == 0) return true;
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

int entries_keep(const char *cache, const char *key, const char *work)
{
    char path[PATH_MAX], sum[SHA256_TEXT_SIZE];
    DIR *folder = opendir(work);
    struct dirent *item;

    while (folder != NULL && (item = readdir(folder)) != NULL) {
        if (is_content(item->d_name)) continue;
        snprintf(path, sizeof path, "%s/%s", work, item->d_name);
        files_remove(path);
    }
    if (folder != NULL) closedir(folder);
    if (sum_up(work, key, sum) != 0) return -1;
    snprintf(path, sizeof path, "%s/%s", work, SUM);
    if (files_write(path, sum, strlen(sum)) != 0) return -1;
    const int lock = hold(work);
    snprintf(path, sizeof path, "%s/%s", cache, key);
    if (lock >= 0 && rename(work, path) == 0) return lock;
    const int error = errno;
    if (lock >= 0) close(lock);
    errno = error;
    /* Another grader was faster; its entry, made from the same files, is equivalent. */
    bool failed;
    struct text said = {0};
    const int theirs =
        errno == EEXIST || errno == ENOTEMPTY ? entries_find(cache, key, &failed, &said) : -1;
    text_free(&said);
    if (theirs >= 0) files_remove(work);
    errno = error;
    return theirs;
}

/* ---- removal of old entries --------------------------------------------------------------------
 */

struct entry {
    time_t used;
    char name[SHA256_TEXT_SIZE + 16];
};

static int compare_used(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return (x->used > y->used) - (x->used < y->used);
}

static void throw_away(const char *cache, const char *name)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", cache, name);
    const int lock = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (lock < 0) return;
    if (flock(lock, LOCK_EX | LOCK_NB) == 0) files_remove(path);
    close(lock);
}

void entries_trim(const char *cache)
{
    struct entry *entries = NULL;
    size_t count = 0;
    struct dirent *item;
    char path[PATH_MAX];
    struct stat status;

    DIR *folder = opendir(cache);
    while (folder != NULL && (item = readdir(folder)) != NULL) {
        if (item->d_name[0] == '.' || strlen(item->d_name) >= sizeof entries->name) continue;
        struct entry *grown = realloc(entries, (count + 1) * sizeof *entries);
        if (grown == NULL) break;
        entries = grown;
        snprintf(path, sizeof path, "%s/%s", cache, item->d_name);
        if (stat(path, &status) != 0) continue;
        if (strncmp(item->d_name, "making.", 7) == 0) {
            if (status.st_mtime + LEFT_SECONDS < time(NULL)) throw_away(cache, item->d_name);
            continue;
        }
        entries[count].used = status.st_mtime;
        snprintf(entries[count++].name, sizeof entries->name, "%s", item->d_name);
    }
    if (folder != NULL) closedir(folder);
    if (count > 0) qsort(entries, count, sizeof *entries, compare_used);
    for (size_t i = 0; i + ENTRIES_MOST < count; i++) throw_away(cache, entries[i].name);
    free(entries);
}
