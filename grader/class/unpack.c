#include "grader/class/unpack.h"
#include "grader/base/files.h"
#include "grader/class/archive.h"
#include "grader/class/tool.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_ENTRIES 20000
#define FILE_LIMIT ((int64_t)8 << 20)   /* larger files are left out: no source is so large */
#define TOTAL_LIMIT ((int64_t)64 << 20) /* limit for the contents of one archive */
#define BLOCK 65536
#define GIT_SECONDS 60
#define MOST_GIT_DEPTH 16

bool unpack_is_archive(const char *name)
{
    static const char *const suffixes[] = {".zip",     ".tar",  ".tar.gz", ".tgz",
                                           ".tar.bz2", ".tbz2", ".tar.xz", ".txz",
                                           ".tar.zst", ".7z",   NULL};
    const size_t length = strlen(name);

    for (size_t i = 0; suffixes[i] != NULL; i++) {
        const size_t size = strlen(suffixes[i]);
        if (length > size && strcasecmp(name + length - size, suffixes[i]) == 0) return true;
    }
    return false;
}

static bool is_there(const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct stat status;
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path &&
           lstat(path, &status) == 0 && !S_ISLNK(status.st_mode);
}

bool unpack_is_repository(const char *folder)
{
    char path[PATH_MAX];

    if (is_there(folder, "HEAD") && is_there(folder, "objects") && is_there(folder, "refs"))
        return true;
    return snprintf(path, sizeof path, "%s/.git", folder) < (int)sizeof path &&
           is_there(folder, ".git") && is_there(path, "HEAD") && is_there(path, "objects");
}

/* ---- archives --------------------------------------------------------------------------- */

static const struct archive_functions *library; /* loaded by unpack_archive */

/* Returns true for a relative path without "..", which stays below the folder. */
static bool stays_below(const char *path)
{
    if (path[0] == '/' || path[0] == '\0') return false;
    for (const char *part = path; part != NULL; part = strchr(part, '/')) {
        part += *part == '/';
        const size_t length = strcspn(part, "/");
        if (length == 2 && part[0] == '.' && part[1] == '.') return false;
    }
    return true;
}

static enum unpacked bad(struct archive *in, const char *what, struct text *why)
{
    const char *said = library->archive_error_string(in);
    text_format(why, "the archive %s", what);
    if (said != NULL) {
        text_add(why, ": ");
        text_add_quoted(why, said, strlen(said));
    }
    return UNPACK_BAD;
}

/* Writes one complete file of the archive. */
static enum unpacked take_file(struct archive *in, const char *path, int64_t *total,
                               struct text *why)
{
    struct text content = {0};
    char block[BLOCK];
    la_ssize_t n;
    enum unpacked result = UNPACK_TROUBLE;

    while ((n = library->archive_read_data(in, block, sizeof block)) > 0) {
        *total += n;
        if (*total > TOTAL_LIMIT) {
            text_free(&content);
            text_format(why, "the archive holds more than %lld MiB",
                        (long long)(TOTAL_LIMIT >> 20));
            return UNPACK_BAD;
        }
        /* A file that is too large is read to its end all the same, so that the next entry is
         * found. */
        if ((int64_t)content.size + n <= FILE_LIMIT) text_add_bytes(&content, block, (size_t)n);
    }
    if (n < 0) {
        result = bad(in, "cannot be read", why);
    } else if (content.failed) {
        text_add(why, "no memory");
    } else if (files_replace(path, text_string(&content), content.size) == 0 || errno == EISDIR ||
               errno == ENOTDIR || errno == ENAMETOOLONG) {
        result = UNPACKED; /* an invalid name is left out */
    } else {
        text_format(why, "%s cannot be written: %s", path, strerror(errno));
    }
    text_free(&content);
    return result;
}

/* Whoever grades has to know of it: a mark stands without what was left out. */
static void tell_of(const char *left_out, size_t count, struct text *why)
{
    if (count == 0) return;
    if (why->size > 0) text_add(why, "; ");
    text_format(why, "%s", left_out);
    if (count > 1) text_format(why, " and %zu more", count - 1);
    text_add(why, " of the archive left out: a link, or a path that leads out of it");
}

static bool is_file_inside(struct archive_entry *entry, const char *name)
{
    return library->archive_entry_filetype(entry) == AE_IFREG &&
           library->archive_entry_hardlink(entry) == NULL && stays_below(name);
}

static enum unpacked take_all(struct archive *in, const char *to, struct text *why)
{
    struct archive_entry *entry;
    char first[PATH_MAX] = "";
    size_t left_out = 0;
    enum unpacked result = UNPACKED;
    int64_t total = 0;
    int status = ARCHIVE_OK;

    for (size_t count = 0; result == UNPACKED; count++) {
        char path[PATH_MAX];
        status = library->archive_read_next_header(in, &entry);
        if (status == ARCHIVE_EOF) break;
        if (status < ARCHIVE_WARN) return bad(in, "cannot be read", why);
        if (count >= MOST_ENTRIES) return bad(in, "has too many files", why);
        const char *name = library->archive_entry_pathname(entry);
        if (name == NULL || library->archive_entry_filetype(entry) == AE_IFDIR) continue;
        if (!is_file_inside(entry, name)) {
            if (left_out++ == 0) snprintf(first, sizeof first, "%s", name);
            continue;
        }
        if (snprintf(path, sizeof path, "%s/%s", to, name) >= (int)sizeof path - 8) continue;
        result = take_file(in, path, &total, why);
    }
    if (result == UNPACKED) tell_of(first, left_out, why);
    return result;
}

enum unpacked unpack_archive(const char *archive, const char *to, struct text *why)
{
    enum unpacked result = UNPACK_TROUBLE;

    library = archive_functions();
    if (library == NULL) {
        text_format(why, "%s", dlerror());
        return UNPACK_TROUBLE;
    }
    struct archive *in = library->archive_read_new();
    if (in == NULL || files_make_folders(to) != 0) {
        text_format(why, "%s cannot be made: %s", to, strerror(errno));
    } else {
        library->archive_read_support_filter_all(in);
        library->archive_read_support_format_all(in);
        if (library->archive_read_open_filename(in, archive, BLOCK) < ARCHIVE_WARN)
            result = bad(in, "cannot be read", why);
        else
            result = take_all(in, to, why);
    }
    library->archive_read_free(in);
    return result;
}

/* ---- git -------------------------------------------------------------------------------- */

static enum unpacked run_git(const char *const *arguments, const char *folder, struct text *why)
{
    char home[PATH_MAX];
    snprintf(home, sizeof home, "HOME=%s", folder);
    const char *environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin",
                                 home,
                                 "GIT_CONFIG_NOSYSTEM=1",
                                 "GIT_TERMINAL_PROMPT=0",
                                 "LC_ALL=C",
                                 NULL};
    const struct process_spec spec = {
        .arguments = arguments,
        .environment = environment,
        .folder = folder,
        .limits = {.seconds = GIT_SECONDS, .output = 1 << 16, .file_bytes = (uint64_t)256 << 20},
    };
    switch (tool_run(&spec, "cannot read it", NULL, why)) {
    case TOOL_DONE:
        return UNPACKED;
    case TOOL_REFUSED:
        return UNPACK_BAD;
    default:
        return UNPACK_TROUBLE;
    }
}

/* Returns true when nothing at the path leads out of it: it is not there, or it is a file, or a
 * folder of such. A pipe is refused as well, because git would wait for it. */
static bool stays_inside(const char *path, unsigned depth, char *culprit, size_t size)
{
    char inner[PATH_MAX];
    struct stat status;
    struct dirent *item;
    bool result = true;

    snprintf(culprit, size, "%s", path);
    if (lstat(path, &status) != 0) return errno == ENOENT;
    if (S_ISREG(status.st_mode)) return true;
    DIR *folder = S_ISDIR(status.st_mode) && depth > 0 ? opendir(path) : NULL;
    if (folder == NULL) return false;
    while (result && (item = readdir(folder)) != NULL) {
        if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0) continue;
        result = snprintf(inner, sizeof inner, "%s/%s", path, item->d_name) < (int)sizeof inner &&
                 stays_inside(inner, depth - 1, culprit, size);
    }
    closedir(folder);
    return result;
}

/* Finds the folder in which git keeps a repository, and sees to it that git reads nothing beyond
 * it. git follows links there, and takes another repository's files where a file names it: that
 * would hand in another student's work, or the reference solutions, as this one's. The names that
 * begin with ".git" are where git looks first, or where this folder is not to its taste. Hooks and
 * the like, which git does not read here, may be links. */
static bool find_own_repository(const char *from, char *git, size_t size, struct text *why)
{
    static const char *const elsewhere[] = {"/.git", "/commondir", "/objects/info/alternates",
                                            ".git"};
    static const char *const read[] = {"HEAD",        "config",   "config.worktree",
                                       "packed-refs", "shallow",  "objects",
                                       "refs",        "reftable", "info"};
    char path[PATH_MAX + 32], culprit[PATH_MAX + 32];
    struct stat status;

    snprintf(path, sizeof path, "%s/.git", from);
    const bool has_files = lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
    bool own = snprintf(git, size, "%s%s", from, has_files ? "/.git" : "") < (int)size;
    /* Beside a repository without files stands another submission. */
    for (size_t i = 0; own && i < (has_files ? 4 : 3); i++) {
        snprintf(culprit, sizeof culprit, "%s%s", git, elsewhere[i]);
        own = lstat(culprit, &status) != 0;
    }
    for (size_t i = 0; own && i < sizeof read / sizeof *read; i++) {
        snprintf(path, sizeof path, "%s/%s", git, read[i]);
        own = stays_inside(path, MOST_GIT_DEPTH, culprit, sizeof culprit);
    }
    if (own) return true;
    text_add(why, "the repository leads to files that are not its own: ");
    text_add_quoted(why, culprit, strlen(culprit));
    return false;
}

static const char *find_git(void)
{
    static const char *const places[] = {"/usr/bin/git", "/usr/local/bin/git", "/bin/git", NULL};
    for (size_t i = 0; places[i] != NULL; i++)
        if (access(places[i], X_OK) == 0) return places[i];
    return "git";
}

enum unpacked unpack_repository(const char *repository, const char *to, struct text *why)
{
    char copy[PATH_MAX], tar[PATH_MAX], output[PATH_MAX + 16], from[PATH_MAX], git[PATH_MAX];
    const char *absolute;

    if (strncmp(repository, "file://", 7) == 0) repository += 7;
    absolute = realpath(repository, from);
    if (absolute == NULL) {
        text_format(why, "there is no repository %s: %s", repository, strerror(errno));
        return UNPACK_BAD;
    }
    if (!find_own_repository(from, git, sizeof git, why)) return UNPACK_BAD;
    if (files_make_folders(to) != 0) {
        text_format(why, "%s cannot be made: %s", to, strerror(errno));
        return UNPACK_TROUBLE;
    }
    snprintf(copy, sizeof copy, "%s/.copy.git", to);
    snprintf(tar, sizeof tar, "%s/.head.tar", to);
    snprintf(output, sizeof output, "--output=%s", tar);
    /* A clone has its own configuration, so programs that the student's configuration names
     * (filters, hooks, monitors) are not run. */
    const char *clone[] = {find_git(),
                           "-c",
                           "safe.directory=*",
                           "-c",
                           "core.hooksPath=/dev/null",
                           "clone",
                           "--bare",
                           "--no-local",
                           "-q",
                           "--template=",
                           "--depth=1",
                           "--",
                           git,
                           copy,
                           NULL};
    const char *archive[] = {find_git(), "-c",      "safe.directory=*", "-C",
                             copy,       "archive", "--format=tar",     output,
                             "HEAD",     NULL};
    enum unpacked result = run_git(clone, to, why);
    if (result == UNPACKED) result = run_git(archive, to, why);
    if (result == UNPACKED) result = unpack_archive(tar, to, why);
    files_remove(copy);
    unlink(tar);
    return result;
}
