/* Processes one submission: unpacks it, finds its lessons wherever they are, and copies them. */
#include "grader/base/files.h"
#include "grader/class/intake.h"
#include "grader/class/unpack.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_DEPTH 8
#define MOST_LOOKED_AT 50000
#define FILE_LIMIT ((size_t)1 << 20) /* the same as on the compiler's side */
#define MOST_FILES 64
#define MOST_NAMED 5
#define MOST_SECONDS 300
#define MOST_MEMORY ((rlim_t)2 << 30)
#define WHY_LIMIT 2000

/* The best place so far for a lesson's files. */
struct place_found {
    const struct lesson *lesson;
    char folder[PATH_MAX];
    unsigned rank;        /* lower is better */
    char other[PATH_MAX]; /* a folder that has such a file as well, and was not taken */
};

struct hunt {
    struct place_found *found;
    size_t count;
    size_t looked_at;
    struct text files; /* the first that were found, whatever their names: "a.c, b.pdf" */
    size_t file_count;
    char link[PATH_MAX]; /* the first link: its name */
    const char *base;    /* what is looked through; its path is left out of what is said */
};

/* Returns what is behind a path's last slash. */
static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* ---- finding ---------------------------------------------------------------------------- */

/* Returns true for folders of the repository, or of tools, whose files are not the student's. */
static bool is_passed_over(const char *name)
{
    static const char *const names[] = {"__MACOSX",     "solutions", "tests",
                                        "node_modules", "stub",      NULL};
    if (name[0] == '.' || strncmp(name, "build", 5) == 0) return true;
    for (size_t i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

/* Returns what is behind a mark of a copy at the beginning of `at`, or `at`: "-2", "(1)", "copy".
 */
static const char *behind_copy_mark(const char *at)
{
    static const char *const words[] = {"- copy", "-copy", "_copy", "copy"};

    while (*at == ' ') at++;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strncasecmp(at, words[i], strlen(words[i])) == 0) return at + strlen(words[i]);
    if (*at != '-' && *at != '(') return at;
    const size_t digits = strspn(at + 1, "0123456789");
    if (digits == 0 || (*at == '(' && at[1 + digits] != ')')) return at;
    return at + 1 + digits + (*at == '(');
}

/* Returns true for a lesson's file by another spelling of its name: in capitals, or what a browser,
 * a desktop, an editor or a second attempt makes of it ("streams (1).c", "streams - Copy.c",
 * "Streams-2.C", "streams.c.txt"). */
static bool is_like(const char *name, const char *file)
{
    const size_t stem = strcspn(file, "."), length = strlen(name);
    char plain[256];
    const char *at = plain + stem, *end = plain;

    if (length >= sizeof plain || length < stem || strncasecmp(name, file, stem) != 0) return false;
    memcpy(plain, name, length + 1);
    if (length > 4 && strcasecmp(plain + length - 4, ".txt") == 0) plain[length - 4] = '\0';
    end = strrchr(plain, '.');
    if (end == NULL || strcasecmp(end, file + stem) != 0) return false;
    while (at < end) {
        const char *behind = behind_copy_mark(at);
        if (behind == at) return false;
        at = behind;
    }
    return at == end;
}

static bool is_below(const char *base, const char *path)
{
    const size_t length = strlen(base);
    return strncmp(path, base, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* Ranks a file of a lesson's name: the name itself is better than another spelling of it, a folder
 * with the lesson's name better than another, and a place near the top better than one far below.
 */
static void look_at_file(struct hunt *hunt, const char *folder, const char *name, unsigned depth)
{
    const char *last = last_part(folder);

    if (name[0] != '.' && hunt->file_count++ < MOST_NAMED)
        text_format(&hunt->files, "%s%s", hunt->file_count > 1 ? ", " : "", name);
    for (size_t i = 0; i < hunt->count; i++) {
        struct place_found *place = &hunt->found[i];
        for (const char *const *file = place->lesson->files; *file != NULL; file++) {
            const bool exact = strcmp(*file, name) == 0;
            if (!exact && !is_like(name, *file)) continue;
            const unsigned rank = depth +
                                  (strcmp(last, place->lesson->folder) == 0 ? 0 : MOST_DEPTH + 1) +
                                  (exact ? 0 : 2 * (MOST_DEPTH + 1));
            if (strcmp(place->folder, folder) != 0 && is_below(hunt->base, place->folder))
                snprintf(place->other, sizeof place->other, "%s",
                         rank < place->rank ? place->folder : folder);
            if (rank >= place->rank) continue;
            place->rank = rank;
            snprintf(place->folder, sizeof place->folder, "%s", folder);
        }
    }
}

static void look_through(struct hunt *hunt, const char *folder, unsigned depth)
{
    struct dirent **names = NULL;
    const int count = depth > MOST_DEPTH ? 0 : scandir(folder, &names, NULL, alphasort);

    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        struct stat status;
        const char *name = names[i]->d_name;
        if (hunt->looked_at++ < MOST_LOOKED_AT &&
            snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path &&
            lstat(path, &status) == 0) {
            if (S_ISDIR(status.st_mode) && !is_passed_over(name))
                look_through(hunt, path, depth + 1);
            else if (S_ISREG(status.st_mode))
                look_at_file(hunt, folder, name, depth);
            else if (S_ISLNK(status.st_mode) && hunt->link[0] == '\0')
                snprintf(hunt->link, sizeof hunt->link, "%s", name);
        }
        free(names[i]);
    }
    free(names);
}

static bool found_anything(const struct hunt *hunt)
{
    for (size_t i = 0; i < hunt->count; i++)
        if (hunt->found[i].folder[0] != '\0') return true;
    return false;
}

/* ---- unpacking -------------------------------------------------------------------------- */

/* Returns the sender's own name behind what an export of Canvas or Moodle puts before it, or NULL
 * where the file is from no export. Canvas: "lovelaceada_4711_90210_streams-1.c". */
static const char *behind_sender(const char *name)
{
    const char *mark = strstr(name, "_assignsubmission_file_");

    if (mark != NULL) return mark + strlen("_assignsubmission_file_");
    /* It follows two consecutive numbers. */
    for (const char *at = name; (at = strchr(at, '_')) != NULL; at++) {
        const size_t first = strspn(at + 1, "0123456789");
        if (first == 0 || at[1 + first] != '_') continue;
        const size_t second = strspn(at + 2 + first, "0123456789");
        if (second == 0 || at[2 + first + second] != '_') continue;
        return at + 3 + first + second;
    }
    return NULL;
}

/* Finds the student's own name for a file of theirs, without the "-1" of a second attempt. */
static void plain_name(const char *path, char *name, size_t size)
{
    const char *last = last_part(path);

    if (behind_sender(last) != NULL) last = behind_sender(last);
    snprintf(name, size, "%s", last);
    char *dot = strrchr(name, '.');
    char *dash = strrchr(name, '-');
    if (dot != NULL && dash != NULL && dash < dot && dash + 1 < dot &&
        strspn(dash + 1, "0123456789") == (size_t)(dot - dash - 1))
        memmove(dash, dot, strlen(dot) + 1);
}

static enum unpacked copy_file(const char *from, const char *to, struct text *why)
{
    struct text content = {0};
    enum unpacked result = UNPACKED;

    if (files_read(from, FILE_LIMIT, &content) != 0) {
        const int error = errno;
        if (error == EFBIG)
            text_format(why, "%s has more than %zu KiB", last_part(from), FILE_LIMIT >> 10);
        else
            text_format(why, "%s cannot be read: %s", last_part(from), strerror(error));
        /* As long, so that its lesson is told the same, and not that nothing was handed in. */
        if (error == EFBIG && files_replace(to, "", 0) == 0 && truncate(to, FILE_LIMIT + 1) != 0)
            unlink(to);
        result = UNPACK_BAD;
    } else if (files_replace(to, text_string(&content), content.size) != 0) {
        text_format(why, "%s cannot be written: %s", to, strerror(errno));
        result = UNPACK_TROUBLE;
    }
    text_free(&content);
    return result;
}

/* Follows "alice.url": a file with one line, the path of a repository. Whoever grades writes it:
 * one that a student handed in could name another student's. */
static enum unpacked follow(const char *path, const char *to, struct text *why)
{
    struct text line = {0};
    enum unpacked result = UNPACK_BAD;
    const char *last = last_part(path);

    if (behind_sender(last) != NULL)
        text_add(why, "a student's file names a repository, and only whoever grades may do so");
    else if (files_read(path, PATH_MAX, &line) != 0)
        text_format(why, "%s cannot be read: %s", path, strerror(errno));
    else {
        line.data[strcspn(line.data, "\r\n")] = '\0';
        result = unpack_repository(line.data, to, why);
    }
    text_free(&line);
    return result;
}

/* Makes a source available as a folder that can be searched: *folder. */
static enum unpacked open_source(const char *source, const char *to, char *folder, size_t size,
                                 struct text *why)
{
    struct stat status;
    char name[256], path[PATH_MAX];
    const size_t length = strlen(source);

    snprintf(folder, size, "%s", to);
    if (lstat(source, &status) != 0) {
        text_format(why, "%s cannot be read: %s", source, strerror(errno));
        return UNPACK_BAD;
    }
    if (S_ISDIR(status.st_mode) && unpack_is_repository(source)) {
        /* The committed files; or the uncommitted ones, where nothing can be checked out. */
        if (unpack_repository(source, to, why) == UNPACKED) return UNPACKED;
    }
    if (S_ISDIR(status.st_mode)) {
        snprintf(folder, size, "%s", source);
        return UNPACKED;
    }
    plain_name(source, name, sizeof name);
    if (unpack_is_archive(name)) return unpack_archive(source, to, why);
    if (length > 4 && strcmp(source + length - 4, ".url") == 0) return follow(source, to, why);
    snprintf(path, sizeof path, "%s/%s", to, name);
    return copy_file(source, path, why);
}

/* Unpacks a folder that contains only archives. */
static enum unpacked open_archives(const char *folder, const char *to, struct text *why)
{
    struct dirent **names = NULL;
    const int count = scandir(folder, &names, NULL, alphasort);
    enum unpacked result = UNPACKED;

    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (result == UNPACKED && unpack_is_archive(names[i]->d_name))
            result = unpack_archive(path, to, why);
        free(names[i]);
    }
    free(names);
    return result;
}

/* ---- copying ---------------------------------------------------------------------------- */

static bool is_source(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && (strcmp(dot, ".c") == 0 || strcmp(dot, ".h") == 0 ||
                           strcmp(dot, ".cu") == 0 || strcmp(dot, ".cuh") == 0);
}

/* Sources of another lesson are not copied. */
static bool is_of_another(const struct hunt *hunt, const struct lesson *lesson, const char *name)
{
    for (size_t i = 0; i < hunt->count; i++)
        for (const char *const *file = hunt->found[i].lesson->files; *file != NULL; file++)
            if (strcmp(*file, name) == 0) return hunt->found[i].lesson != lesson;
    return false;
}

/* Copies the lesson's files that are there only under another spelling of their name, and says so.
 * Of several the last one in the alphabet is taken, which "(2)" is of "(1)" and "(2)". */
static enum unpacked copy_like(const struct place_found *place, struct dirent *const *names,
                               int count, const char *to, struct text *why)
{
    char from[PATH_MAX], path[PATH_MAX];

    for (const char *const *file = place->lesson->files; *file != NULL; file++) {
        const char *like = NULL;
        bool exact = false;
        for (int i = 0; i < count; i++) {
            exact = exact || strcmp(names[i]->d_name, *file) == 0;
            if (is_like(names[i]->d_name, *file)) like = names[i]->d_name;
        }
        if (exact || like == NULL ||
            snprintf(from, sizeof from, "%s/%s", place->folder, like) >= (int)sizeof from ||
            snprintf(path, sizeof path, "%s/%s/%s", to, place->lesson->folder, *file) >=
                (int)sizeof path - 8)
            continue;
        if (why->size > 0) text_add(why, "; ");
        text_format(why, "%s was taken for %s", like, *file);
        if (copy_file(from, path, why) == UNPACK_TROUBLE) return UNPACK_TROUBLE;
    }
    return UNPACKED;
}

static enum unpacked copy_lesson(const struct hunt *hunt, const struct place_found *place,
                                 const char *to, struct text *why)
{
    struct dirent **names = NULL;
    enum unpacked result = UNPACKED;
    char from[PATH_MAX], path[PATH_MAX];
    unsigned taken = 0;

    snprintf(path, sizeof path, "%s/%s", to, place->lesson->folder);
    if (files_make_folders(path) != 0) {
        text_format(why, "%s cannot be made: %s", path, strerror(errno));
        return UNPACK_TROUBLE;
    }
    const int count =
        place->folder[0] == '\0' ? 0 : scandir(place->folder, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        const char *name = names[i]->d_name;
        if (result != UNPACK_TROUBLE && is_source(name) && taken < MOST_FILES &&
            !is_of_another(hunt, place->lesson, name) &&
            snprintf(from, sizeof from, "%s/%s", place->folder, name) < (int)sizeof from &&
            snprintf(path, sizeof path, "%s/%s/%s", to, place->lesson->folder, name) <
                (int)sizeof path - 8) {
            /* An unreadable file counts as missing. */
            result = copy_file(from, path, why);
            taken++;
        }
    }
    if (result != UNPACK_TROUBLE) result = copy_like(place, names, count, to, why);
    for (int i = 0; i < count; i++) free(names[i]);
    free(names);
    return result == UNPACK_TROUBLE ? result : UNPACKED;
}

/* ---- one submission --------------------------------------------------------------------- */

/* Returns the folder's path without that of what is looked through, "." for that itself. */
static const char *inside(const struct hunt *hunt, const char *folder)
{
    const size_t length = strlen(hunt->base);
    return folder[length] == '/' ? folder + length + 1 : ".";
}

/* Looks through what was handed in, and says which of several places of a lesson is taken: the mark
 * is that of one of them. */
static void search(struct hunt *hunt, const char *folder, struct text *why)
{
    hunt->base = folder;
    look_through(hunt, folder, 0);
    for (size_t i = 0; i < hunt->count; i++) {
        struct place_found *place = &hunt->found[i];
        if (place->other[0] == '\0') continue;
        if (why->size > 0) text_add(why, "; ");
        text_format(why, "%s is there more than once: that in %s was taken, not that in %s",
                    place->lesson->files[0], inside(hunt, place->folder),
                    inside(hunt, place->other));
        place->other[0] = '\0';
    }
}

static void tell_of_nothing(const struct hunt *hunt, struct text *why)
{
    if (why->size > 0) text_add(why, "; ");
    text_format(why, "no file of a lesson is in it: %s and the like",
                hunt->count > 0 ? hunt->found[0].lesson->files[0] : "name.c");
    if (hunt->file_count > 0)
        text_format(why, "; there is %s%s", text_string(&hunt->files),
                    hunt->file_count > MOST_NAMED ? ", ..." : "");
    if (hunt->link[0] != '\0')
        text_format(why, "; %s is a link, which is not followed", hunt->link);
}

static enum intake take(const json_t *entry, struct hunt *hunt, const char *to, struct text *why)
{
    char scratch[PATH_MAX], inner[PATH_MAX], folder[PATH_MAX];
    enum unpacked result = UNPACKED, one;
    const json_t *source;
    size_t i;

    json_array_foreach(json_list(entry, "sources"), i, source)
    {
        snprintf(scratch, sizeof scratch, "%s/from/%zu", to, i);
        one = open_source(json_string_value(source), scratch, folder, sizeof folder, why);
        if (one == UNPACKED) {
            const size_t before = hunt->looked_at;
            search(hunt, folder, why);
            if (!found_anything(hunt) && hunt->looked_at > before) {
                snprintf(inner, sizeof inner, "%s/in/%zu", to, i);
                one = open_archives(folder, inner, why);
                search(hunt, inner, why);
            }
        }
        if (one == UNPACK_TROUBLE) return INTAKE_TROUBLE;
        if (one != UNPACKED) result = one;
    }
    snprintf(folder, sizeof folder, "%s/lessons", to);
    for (i = 0; i < hunt->count; i++)
        if (copy_lesson(hunt, &hunt->found[i], folder, why) == UNPACK_TROUBLE)
            return INTAKE_TROUBLE;
    if (found_anything(hunt)) return INTAKE_READY;
    if (result == UNPACKED) tell_of_nothing(hunt, why);
    return INTAKE_BAD;
}

/* Runs in a process of its own, which the submission's files may crash. */
static void take_apart(const json_t *entry, const struct lesson *const *table, const char *to,
                       int report)
{
    struct text why = {0};
    struct hunt hunt = {0};
    const struct rlimit memory = {MOST_MEMORY, MOST_MEMORY};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
#ifndef __SANITIZE_ADDRESS__
    setrlimit(RLIMIT_AS, &memory);
#else
    (void)memory;
#endif
    alarm(MOST_SECONDS);
    while (table[hunt.count] != NULL) hunt.count++;
    hunt.found = calloc(hunt.count + 1, sizeof *hunt.found);
    for (size_t i = 0; hunt.found != NULL && i < hunt.count; i++)
        hunt.found[i] = (struct place_found){.lesson = table[i], .rank = UINT_MAX};
    enum intake result = hunt.found != NULL ? take(entry, &hunt, to, &why) : INTAKE_TROUBLE;
    const size_t size = why.size < WHY_LIMIT ? why.size : WHY_LIMIT;
    if (write(report, text_string(&why), size) < 0) result = INTAKE_TROUBLE;
    _exit((int)result);
}

/* Hashes the names and contents of the folder's files. */
static int hash_folder(struct sha256 *hash, const char *folder)
{
    struct dirent **names = NULL;
    const int count = scandir(folder, &names, NULL, alphasort);
    int result = count < 0 ? -1 : 0;

    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        struct stat status;
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (names[i]->d_name[0] != '.' && lstat(path, &status) == 0) {
            sha256_add_string(hash, names[i]->d_name);
            if (S_ISDIR(status.st_mode))
                result |= hash_folder(hash, path);
            else
                result |= sha256_add_file(hash, path);
        }
        free(names[i]);
    }
    free(names);
    return result;
}

static enum intake wait_for(pid_t child, int report, struct text *why)
{
    char said[WHY_LIMIT];
    ssize_t n;
    int status = 0;

    while ((n = read(report, said, sizeof said)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0) text_add_quoted(why, said, (size_t)n);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) <= INTAKE_TROUBLE)
        return (enum intake)WEXITSTATUS(status);
    text_add(why, "unpacking it took too long, or too much memory");
    return INTAKE_BAD;
}

enum intake intake_take(const json_t *entry, const struct lesson *const *table, const char *to,
                        char version[SHA256_TEXT_SIZE], struct text *why)
{
    char fresh[PATH_MAX], path[PATH_MAX];
    struct sha256 hash;
    int report[2];

    snprintf(fresh, sizeof fresh, "%s.new", to);
    snprintf(path, sizeof path, "%s/lessons", fresh);
    files_remove(fresh);
    if (files_make_folders(path) != 0 || pipe(report) != 0) {
        text_format(why, "%s cannot be made: %s", path, strerror(errno));
        return INTAKE_TROUBLE;
    }
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) take_apart(entry, table, fresh, report[1]);
    close(report[1]);
    enum intake result = INTAKE_TROUBLE;
    if (child > 0)
        result = wait_for(child, report[0], why);
    else
        text_format(why, "no process can be started: %s", strerror(errno));
    close(report[0]);
    sha256_begin(&hash);
    if (result != INTAKE_TROUBLE && hash_folder(&hash, path) != 0) result = INTAKE_TROUBLE;
    sha256_end(&hash, version);
    snprintf(path, sizeof path, "%s/from", fresh);
    files_remove(path);
    snprintf(path, sizeof path, "%s/in", fresh);
    files_remove(path);
    if (result == INTAKE_TROUBLE) {
        files_remove(fresh);
        return result;
    }
    files_remove(to);
    if (rename(fresh, to) == 0) return result;
    text_format(why, "%s cannot be made: %s", to, strerror(errno));
    return INTAKE_TROUBLE;
}
