#include "grader/build/intake.h"
#include "grader/base/files.h"
#include "grader/base/messages.h"
#include "grader/build/command.h"
#include "grader/build/contract.h"
#include "grader/build/format.h"

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

/* Returns true for the lesson's files, and for headers and further sources that they may include;
 * false for the contract and for backup files of an editor or a file manager (".#name.c", "name
 * (copy).c").
 */
static bool is_taken(const struct lesson *lesson, const char *name)
{
    if (is_listed(lesson, name)) return true;
    if (name[0] == '.' || !is_plain_name(name) || strcmp(name, CONTRACT_FILE) == 0) return false;
    return command_is_header(name) || strcmp(command_extension(name), "c") == 0 ||
           strcmp(command_extension(name), "cu") == 0;
}

/* Says why a file cannot be read. */
static const char *in_words(int error)
{
    if (error == ELOOP) return _("it is a link, and a submission holds its own files");
    if (error == EINVAL) return _("it is not an ordinary file");
    if (error == EFBIG) return _("it is longer than 1 MiB");
    return strerror(error);
}

static int refuse_file(const struct handed_in *handed_in, const char *name, const char *why,
                       struct compiled *result)
{
    struct text quoted = {0};

    text_add_quoted(&quoted, name, strnlen(name, NAME_LIMIT));
    for (size_t i = 0; i < quoted.size; i++)
        if (quoted.data[i] == '\n' || quoted.data[i] == '\t') quoted.data[i] = '?';
    snprintf(result->what, sizeof result->what, _("%.100s cannot be read: %.180s."),
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
        /* The file was there a moment ago: it is just being saved. */
        if (errno == ENOENT || trouble_of_error(errno) != TROUBLE_NONE)
            trouble_set_error(&result->trouble, errno, TROUBLE_CHANGED, "%.100s", name);
        else
            refuse_file(handed_in, name, in_words(errno), result);
    } else if (format_is_no_source(text_string(&content), content.size, why, sizeof why)) {
        refuse_file(handed_in, name, why, result);
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

/* Lists the names that are taken, sorted; names beyond the limit are counted and left out. Returns
 * 0, or -1 with errno: the folder cannot be read; the names found so far are listed all the
 * same. */
static int list_taken(const struct lesson *lesson, int descriptor, char *names[FILES_LIMIT],
                      size_t *count)
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
        if (!is_taken(lesson, item->d_name)) continue;
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
        snprintf(result->what, sizeof result->what, _("%.200s is missing: nothing was handed in."),
                 *file);
        snprintf(result->place.file, sizeof result->place.file, "%.150s/%.100s", handed_in->shown,
                 *file);
        result->missing = true;
        return -1;
    }
    return 0;
}

int intake_submission(const struct handed_in *handed_in, const char *work, struct sha256 *hash,
                      struct compiled *result)
{
    char to[PATH_MAX], *names[FILES_LIMIT];
    /* Files in the folder must not be links either: each is opened relative to this descriptor, by
     * a single name. */
    const int folder = open(handed_in->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (folder < 0 && trouble_of_error(errno) != TROUBLE_NONE)
        return trouble_set_error(&result->trouble, errno, TROUBLE_CHANGED, "%.200s",
                                 handed_in->folder);
    if (folder < 0 && errno != ENOENT) {
        struct stat status;
        const bool link = lstat(handed_in->folder, &status) == 0 && S_ISLNK(status.st_mode);
        return refuse_file(handed_in, _("the folder"), link ? in_words(ELOOP) : strerror(errno),
                           result);
    }
    if (check_listed(handed_in, folder, result) != 0) {
        if (folder >= 0) close(folder);
        return -1;
    }
    snprintf(to, sizeof to, "%s/src", work);
    size_t count;
    int status = list_taken(handed_in->lesson, folder, names, &count);
    const size_t held = count < FILES_LIMIT ? count : FILES_LIMIT;
    if (status != 0)
        trouble_set_error(&result->trouble, errno, TROUBLE_CHANGED, "%.200s", handed_in->folder);
    else if (count > FILES_LIMIT)
        status = refuse_file(handed_in, names[0], _("there are more than 64 files"), result);
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

static int is_header(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && command_is_header(entry->d_name);
}

/* `from`: a file of the project's; `name`: its name below WORK/ours. Returns 0, or -1 with
 * errno. */
typedef int (*ours_visit)(void *data, const char *from, const char *name);

/* Visits the headers directly in root/`folder`, which may be missing, in the order of their names.
 */
static int visit_headers(const char *root, const char *folder, const char *folder_below,
                         ours_visit visit, void *data)
{
    struct dirent **entries = NULL;
    char path[PATH_MAX], below[PATH_MAX];
    int status = 0;

    snprintf(path, sizeof path, "%s/%s", root, folder);
    const int count = scandir(path, &entries, is_header, alphasort);
    if (count < 0) return errno == ENOENT ? 0 : -1;
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", root, folder, entries[i]->d_name);
        snprintf(below, sizeof below, "%s/%s", folder_below, entries[i]->d_name);
        if (status == 0) status = visit(data, path, below);
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* Visits all files of the project's that a lesson needs. Of the folder in which the student works
 * only the contract counts. */
static int visit_ours(const struct toolchain *toolchain, const struct lesson *lesson,
                      ours_visit visit, void *data)
{
    char path[PATH_MAX], below[PATH_MAX];

    snprintf(below, sizeof below, "lessons/%s/" CONTRACT_FILE, lesson->folder);
    snprintf(path, sizeof path, "%s/%s", toolchain->source, below);
    int status = visit(data, path, below);
    if (status == 0) status = visit_headers(toolchain->source, "kernels", "kernels", visit, data);
    if (status == 0)
        status = visit_headers(toolchain->source, "grader/child", "grader/child", visit, data);
    snprintf(below, sizeof below, "grader/lessons/%s", lesson->folder);
    if (status == 0) status = visit_headers(toolchain->lessons, lesson->folder, below, visit, data);
    for (const char *const *file = lesson->drive_sources;
         status == 0 && file != NULL && *file != NULL; file++) {
        snprintf(path, sizeof path, "%s/%s/%s", toolchain->lessons, lesson->folder, *file);
        snprintf(below, sizeof below, "grader/lessons/%s/%s", lesson->folder, *file);
        status = visit(data, path, below);
    }
    return status;
}

static int copy_to_work(void *data, const char *from, const char *name)
{
    const char *work = data;
    char to[PATH_MAX];

    snprintf(to, sizeof to, "%s/ours/%.*s", work, (int)(strrchr(name, '/') - name), name);
    if (files_make_folders(to) != 0) return -1;
    snprintf(to, sizeof to, "%s/ours/%s", work, name);
    return copy_file(from, to);
}

int intake_ours(const struct toolchain *toolchain, const struct lesson *lesson, const char *work)
{
    return visit_ours(toolchain, lesson, copy_to_work, (void *)work);
}

struct hashing {
    struct sha256 *hash;
    char *missing;
    size_t size;
};

static int add_to_hash(void *data, const char *from, const char *name)
{
    struct hashing *hashing = data;

    sha256_add_string(hashing->hash, name);
    if (sha256_add_file(hashing->hash, from) == 0) return 0;
    snprintf(hashing->missing, hashing->size, "%s", from);
    return -1;
}

int intake_hash_ours(const struct toolchain *toolchain, const struct lesson *lesson,
                     struct sha256 *hash, char *missing, size_t size)
{
    struct hashing hashing = {hash, missing, size};

    if (command_add_to_hash(hash, toolchain, lesson, missing, size) != 0) return -1;
    snprintf(missing, size, "%s", toolchain->lessons);
    return visit_ours(toolchain, lesson, add_to_hash, &hashing);
}
