#include "grader/base/trouble.h"
#include "grader/base/descendants.h"
#include "grader/base/messages.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct {
    const char *because, *remedy;
} rows[TROUBLE_COUNT] = {
    [TROUBLE_NONE] = {"", ""},
#define TROUBLE(kind, because, remedy) [TROUBLE_##kind] = {because, remedy},
#include "grader/base/trouble.def"
};

static const struct {
    int error;
    enum trouble_kind kind;
} errors[] = {
    {EAGAIN, TROUBLE_PROCESS}, {ENOMEM, TROUBLE_MEMORY}, {ENOBUFS, TROUBLE_MEMORY},
    {ENOSPC, TROUBLE_DISK},    {EDQUOT, TROUBLE_DISK},   {EIO, TROUBLE_DISK},
    {EMFILE, TROUBLE_FILES},   {ENFILE, TROUBLE_FILES},  {EROFS, TROUBLE_FOLDER},
    {ESTALE, TROUBLE_CHANGED},
};

/* Messages of the C library (strerror), gcc, GNU ld and as, nvcc, and the loader. */
static const struct {
    const char *words;
    enum trouble_kind kind;
} signs[] = {
    {"No space left on device", TROUBLE_DISK},
    {"Disk quota exceeded", TROUBLE_DISK},
    {"Input/output error", TROUBLE_DISK},
    {"Killed signal terminated program", TROUBLE_KILLED},
    {"terminated with signal 9 [Killed]", TROUBLE_KILLED},
    {"died due to signal 9 ", TROUBLE_KILLED},
    {"annot allocate memory", TROUBLE_MEMORY},
    {"memory exhausted", TROUBLE_MEMORY},
    {"out of memory allocating", TROUBLE_MEMORY},
    {"std::bad_alloc", TROUBLE_MEMORY},
    {"failed to map segment from shared object", TROUBLE_MEMORY},
    {"cannot open shared object file", TROUBLE_MISSING},
    {"Resource temporarily unavailable", TROUBLE_PROCESS},
    {"Too many open files", TROUBLE_FILES},
    {"Read-only file system", TROUBLE_FOLDER},
    {"cannot execute", TROUBLE_MISSING},                    /* gcc, about its own parts */
    {"was built for a newer processor", TROUBLE_PROCESSOR}, /* the software device */
};

int trouble_set(struct trouble *trouble, enum trouble_kind kind, const char *format, ...)
{
    va_list list;

    if (trouble->kind != TROUBLE_NONE) return -1;
    trouble->kind = kind;
    va_start(list, format);
    vsnprintf(trouble->detail, sizeof trouble->detail, format, list);
    va_end(list);
    return -1;
}

int trouble_set_error(struct trouble *trouble, int error, enum trouble_kind otherwise,
                      const char *format, ...)
{
    const enum trouble_kind kind = trouble_of_error(error);
    char what[sizeof trouble->detail - 80];
    va_list list;

    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    return trouble_set(trouble, kind != TROUBLE_NONE ? kind : otherwise, "%s: %s", what,
                       strerror(error));
}

enum trouble_kind trouble_of_error(int error)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].error == error) return errors[i].kind;
    return TROUBLE_NONE;
}

/* Returns true for a line about the source, which may quote it: it begins with a blank or with a
 * place ("sum.c:12:", "{standard input}:3:"). Lines in which the compiler reports there that it
 * cannot write do not count. */
static bool is_of_the_source(const char *line)
{
    static const char *const own[] = {"error writing to ", "error closing ", "can't "};
    const char *colon = strchr(line, ':'), *error = strstr(line, "rror: ");
    const bool fatal = error != NULL && error - line > 6 && strncmp(error - 6, "atal e", 6) == 0;

    if (line[0] == ' ' || line[0] == '\t' || strstr(line, "undefined reference to") != NULL)
        return true;
    for (size_t i = 0; fatal && i < sizeof own / sizeof own[0]; i++)
        if (strncmp(error + strlen("rror: "), own[i], strlen(own[i])) == 0) return false;
    return colon != NULL && colon[1] >= '0' && colon[1] <= '9';
}

int trouble_find_words(struct trouble *trouble, const char *what, const char *said)
{
    char line[1024];

    for (; *said != '\0'; said += strcspn(said, "\n"), said += *said == '\n') {
        const size_t length = strcspn(said, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(length < 1000 ? length : 1000), said);
        if (is_of_the_source(line)) continue;
        for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
            if (strstr(line, signs[i].words) != NULL)
                return trouble_set(trouble, signs[i].kind, "%s: %.200s", what, line);
    }
    return 0;
}

void trouble_sentence(const struct trouble *trouble, struct text *text)
{
    text_format(text, _("It could not be judged, because %s"), _(rows[trouble->kind].because));
    if (trouble->detail[0] != '\0') {
        text_add(text, ": ");
        text_add_quoted(text, trouble->detail, strlen(trouble->detail));
    }
    text_format(text, ". %s", _(rows[trouble->kind].remedy));
}

/* ---- limits -----------------------------------------------------------------------------------
 */

#define MIB ((uint64_t)1 << 20)
#define SPARE_TASKS 64 /* processes and threads of a grading, beside those that the user has */

/* RLIMIT_NPROC is checked separately, because the necessary limit depends on what already runs. */
static const struct {
    int which;
    const char *name;
    uint64_t least;
    uint64_t unit; /* of the number that the shell's ulimit takes */
} limits[] = {
    {RLIMIT_NOFILE, "ulimit -n", 256, 1},
    {RLIMIT_FSIZE, "ulimit -f", 512 * MIB, 1024},
    /* The software device reserves two address ranges of 64 GiB each. */
    {RLIMIT_AS, "ulimit -v", 144 * 1024 * MIB, 1024},
    {RLIMIT_DATA, "ulimit -d", 4096 * MIB, 1024},
    {RLIMIT_STACK, "ulimit -s", 1 * MIB, 1024},
    {RLIMIT_CPU, "ulimit -t", 600, 1},
};

/* Raises the limit as far as possible. Returns 0, or -1: it stays below `least`. */
static int raise_limit(int which, const char *name, uint64_t least, uint64_t unit,
                       struct trouble *trouble)
{
    struct rlimit limit;

    if (getrlimit(which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= least)
        return 0;
    if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max >= least) {
        limit.rlim_cur = least;
        if (setrlimit(which, &limit) == 0) return 0;
    }
    return trouble_set(trouble, TROUBLE_LIMIT, "%s is %llu, and the grader needs %llu", name,
                       (unsigned long long)(limit.rlim_max / unit),
                       (unsigned long long)(least / unit));
}

int trouble_find_limits(struct trouble *trouble)
{
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (raise_limit(limits[i].which, limits[i].name, limits[i].least, limits[i].unit,
                        trouble) != 0)
            return -1;
    if (geteuid() == 0) return 0; /* root has no such limit */
    return raise_limit(RLIMIT_NPROC, "ulimit -u", descendants_user_tasks() + SPARE_TASKS, 1,
                       trouble);
}
