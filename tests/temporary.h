/* temporary: files and folders of a test's own, below TMPDIR, which go when it exits. A test of
 * Check that fails ends by _exit, and leaves them, as does one that a signal ends: ./selftest
 * removes those. For C and for CUDA C++.
 */
#ifndef OVERLAP_TESTS_TEMPORARY_H
#define OVERLAP_TESTS_TEMPORARY_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TEMPORARY_MOST = 64 }; /* of all tests of a program, where they do not fork */

static char *temporary_paths[TEMPORARY_MOST];
static int temporary_count;
static pid_t temporary_maker;

static inline int temporary_remove_one(const char *path, const struct stat *status, int kind,
                                       struct FTW *where)
{
    (void)status, (void)kind, (void)where;
    remove(path);
    return 0; /* continue */
}

static inline void temporary_remove(void)
{
    if (getpid() != temporary_maker) return;
    for (int i = 0; i < temporary_count; i++)
        nftw(temporary_paths[i], temporary_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Returns a template for mkstemp and mkdtemp. */
static inline char *temporary_template(void)
{
    const char *parent = getenv("TMPDIR");
    if (temporary_maker != getpid()) { /* a fork has its parent's list */
        temporary_maker = getpid();
        temporary_count = 0;
        atexit(temporary_remove);
    }
    if (temporary_count == TEMPORARY_MOST) abort();
    char **path = &temporary_paths[temporary_count++];
    if (asprintf(path, "%s/overlap-test.XXXXXX",
                 parent != NULL && *parent != '\0' ? parent : "/tmp") < 0)
        abort();
    return *path;
}

/* Makes an empty file and returns its path. It goes when the process that made it exits: not one
 * forked of it, and not when a signal ends it. */
static inline const char *temporary_file(void)
{
    char *path = temporary_template();
    const int file = mkstemp(path);
    if (file < 0) abort();
    close(file);
    return path;
}

/* The same for a folder, which goes with everything in it. */
static inline const char *temporary_folder(void)
{
    char *path = temporary_template();
    if (mkdtemp(path) == NULL) abort();
    return path;
}

#endif
