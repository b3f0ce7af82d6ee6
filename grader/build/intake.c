#include "grader/build/intake.h"
#include "grader/base/files.h"
#include "grader/build/command.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_LIMIT ((size_t)1 << 20) /* bytes of one source file */
#define FILES_LIMIT 64               /* files of one submission */
#define NAME_LIMIT 100               /* bytes of a file's name */

/* ---- the student's ----------------------------------------------------------------------------
 */

static bool is_listed(const struct lesson *lesson, const char *name)
{
    for (const char *const *file = lesson->files; *file != NULL; file++)
        if (strcmp(*file, name) == 0) return true;
    return false;
}

static bool is_plain_name(const char *name)
{
    const char *const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-";
    return strlen(name) <= NAME_LIMIT && name[strspn(name, plain)] == '\0' && name[0] != '-';
}

/* The lesson's files, and headers or further sources that they include; not a file that the lesson
 * itself provides, and not what an editor or a file manager leaves (".#name.c", "name (copy).c").
 */
static bool is_taken(const struct toolchain *toolchain, const struct lesson *lesson,
                     const char *name)
{
    char ours[PATH_MAX];
    struct stat status;

    if (is_listed(lesson, name)) return true;
    if (name[0] == '.' || !is_plain_name(name)) return false;
    if (!command_is_header(name) && strcmp(command_extension(name), "c") != 0 &&
        strcmp(command_extension(name), "cu") != 0)
        return false;
    snprintf(ours, sizeof ours, "%s/lessons/%s/%s", toolchain->source, lesson->folder, name);
    return stat(ours, &status) != 0;
}

/* What keeps a file from being read, in words. */
static const char *in_words(int error)
{
    if (error == ELOOP) return "it is a link, and a submission holds its own files";
    if (error == EINVAL) return "it is not an ordinary file";
    if (error == EFBIG) return "it is longer than 1 MiB";
    return strerror(error);
}

static int refuse_file(const struct handed_in *handed_in, const char *name, const char *why,
                       struct compiled *result)
{
    struct text quoted = {0};

    text_add_quoted(&quoted, name, strnlen(name, NAME_LIMIT));
    for (size_t i = 0; i < quoted.size; i++)
        if (quoted.data[i] == '\n' || quoted.data[i] == '\t') quoted.data[i] = '?';
    snprintf(result->what, sizeof result->what, "%.150s cannot be read: %.120s.",
             text_string(&quoted), why);
    snprintf(result->place.file, sizeof result->place.file, "%.150s/%.100s", handed_in->shown,
             text_string(&quoted));
    text_free(&quoted);
    return -1;
}

static int take_file(const struct handed_in *handed_in, int folder, const char *name,
                     const char *to, struct sha256 *hash, struct compiled *result)
{
    struct text content = {0};
    char path[PATH_MAX + 300], why[200];
    int status = -1;

    if (files_read_at(folder, name, FILE_LIMIT, &content) != 0) {
        /* It was there a moment ago: somebody is saving it. */
        if (errno == ENOENT || trouble_of_error(errno) != TROUBLE_NONE)
            trouble_set_error(&result->trouble, errno, TROUBLE_CHANGED, "%.100s", name);
        else
            refuse_file(handed_in, name, in_words(errno), result);
    } else if ((result->place.line = intake_refused_line(text_string(&content), content.size, why,
                                                         sizeof why)) != 0) {
        snprintf(result->what, sizeof result->what, "%s", why);
        snprintf(result->place.file, sizeof result->place.file, "%.150s/%.100s", handed_in->shown,
                 name);
    } else {
        snprintf(path, sizeof path, "%s/%s", to, name);
        status = files_write(path, text_string(&content), content.size);
        if (status != 0) trouble_set_error(&result->trouble, errno, TROUBLE_FOLDER, "%.200s", path);
        sha256_add_string(hash, name);
        sha256_add(hash, &content.size, sizeof content.size);
        sha256_add(hash, text_string(&content), content.size);
    }
    text_free(&content);
    return status;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names that are taken, in order; those after the limit are counted and left out. Returns 0, or
 * -1 with errno: it cannot be read; the names that were found are there all the same. */
static int list_taken(const struct toolchain *toolchain, const struct lesson *lesson,
                      int descriptor, char *names[FILES_LIMIT], size_t *count)
{
    const int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    DIR *folder = own >= 0 ? fdopendir(own) : NULL;
    struct dirent *item;

    *count = 0;
    if (folder == NULL) {
        if (own >= 0) close(own);
        return -1;
    }
    while (errno = 0, (item = readdir(folder)) != NULL) {
        if (!is_taken(toolchain, lesson, item->d_name)) continue;
        if (*count < FILES_LIMIT && (names[*count] = strdup(item->d_name)) == NULL) break;
        ++*count;
    }
    const int error = errno;
    closedir(folder);
    qsort(names, *count < FILES_LIMIT ? *count : FILES_LIMIT, sizeof *names, compare_names);
    errno = error;
    return error == 0 ? 0 : -1;
}

static int check_listed(const struct handed_in *handed_in, int folder, struct compiled *result)
{
    struct stat status;

    for (const char *const *file = handed_in->lesson->files; *file != NULL; file++) {
        if (fstatat(folder, *file, &status, AT_SYMLINK_NOFOLLOW) == 0) continue;
        if (trouble_of_error(errno) != TROUBLE_NONE)
            return trouble_set_error(&result->trouble, errno, TROUBLE_CHANGED, "%.100s", *file);
        snprintf(result->what, sizeof result->what, "%.200s is missing: nothing was handed in.",
                 *file);
        snprintf(result->place.file, sizeof result->place.file, "%.150s/%.100s", handed_in->shown,
                 *file);
        return -1;
    }
    return 0;
}

int intake_submission(const struct toolchain *toolchain, const struct handed_in *handed_in,
                      const char *work, struct sha256 *hash, struct compiled *result)
{
    char to[PATH_MAX], *names[FILES_LIMIT];
    /* Below it nothing is a link either: every file is opened from here, by one name. */
    const int folder = open(handed_in->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (folder < 0 && trouble_of_error(errno) != TROUBLE_NONE)
        return trouble_set_error(&result->trouble, errno, TROUBLE_CHANGED, "%.200s",
                                 handed_in->folder);
    if (folder < 0 && errno != ENOENT) {
        struct stat status;
        const bool link = lstat(handed_in->folder, &status) == 0 && S_ISLNK(status.st_mode);
        return refuse_file(handed_in, "the folder", link ? in_words(ELOOP) : strerror(errno),
                           result);
    }
    if (check_listed(handed_in, folder, result) != 0) {
        if (folder >= 0) close(folder);
        return -1;
    }
    snprintf(to, sizeof to, "%s/src", work);
    size_t count;
    int status = list_taken(toolchain, handed_in->lesson, folder, names, &count);
    const size_t held = count < FILES_LIMIT ? count : FILES_LIMIT;
    if (status != 0)
        trouble_set_error(&result->trouble, errno, TROUBLE_CHANGED, "%.200s", handed_in->folder);
    else if (count > FILES_LIMIT)
        status = refuse_file(handed_in, names[0], "there are more than 64 files", result);
    for (size_t i = 0; i < held; i++) {
        if (status == 0) status = take_file(handed_in, folder, names[i], to, hash, result);
        free(names[i]);
    }
    close(folder);
    return status;
}

/* ---- ours -------------------------------------------------------------------------------------
 */

static int copy_file(const char *from, const char *to)
{
    struct text content = {0};
    int status = files_read(from, SIZE_MAX / 2, &content);

    if (status == 0) status = files_write(to, text_string(&content), content.size);
    text_free(&content);
    return status;
}

/* The headers directly in `from`, a folder that may be missing. */
static int copy_headers(const char *from, const char *to)
{
    struct dirent *item;
    char source[PATH_MAX], target[PATH_MAX];
    int status = files_make_folders(to);

    DIR *folder = opendir(from);
    if (folder == NULL && errno != ENOENT) return -1;
    while (folder != NULL && status == 0 && (item = readdir(folder)) != NULL) {
        if (item->d_name[0] == '.' || !command_is_header(item->d_name)) continue;
        snprintf(source, sizeof source, "%s/%s", from, item->d_name);
        snprintf(target, sizeof target, "%s/%s", to, item->d_name);
        status = copy_file(source, target);
    }
    const int error = errno;
    if (folder != NULL) closedir(folder);
    errno = error;
    return status;
}

int intake_ours(const struct toolchain *toolchain, const struct lesson *lesson, const char *work)
{
    char from[PATH_MAX], to[PATH_MAX];

    snprintf(from, sizeof from, "%s/lessons/%s", toolchain->source, lesson->folder);
    snprintf(to, sizeof to, "%s/ours/lessons/%s", work, lesson->folder);
    if (copy_headers(from, to) != 0) return -1;
    snprintf(from, sizeof from, "%s/kernels", toolchain->source);
    snprintf(to, sizeof to, "%s/ours/kernels", work);
    if (copy_headers(from, to) != 0) return -1;
    snprintf(from, sizeof from, "%s/grader/child", toolchain->source);
    snprintf(to, sizeof to, "%s/ours/grader/child", work);
    if (copy_headers(from, to) != 0) return -1;
    snprintf(from, sizeof from, "%s/%s", toolchain->lessons, lesson->folder);
    snprintf(to, sizeof to, "%s/ours/grader/lessons/%s", work, lesson->folder);
    if (copy_headers(from, to) != 0) return -1;
    for (const char *const *file = lesson->drive_sources; file != NULL && *file != NULL; file++) {
        snprintf(from, sizeof from, "%s/%s/%s", toolchain->lessons, lesson->folder, *file);
        snprintf(to, sizeof to, "%s/ours/grader/lessons/%s/%s", work, lesson->folder, *file);
        if (copy_file(from, to) != 0) return -1;
    }
    return 0;
}
