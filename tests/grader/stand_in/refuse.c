/* Preloaded into the grader: one call of the C library's fails as it does on a machine that has
 * nothing left. It is there for the tests of trouble alone.
 *
 *   REFUSE_CALL=NAME:N:ERRNO  the N-th call of NAME in a process and those that it forks fails
 *   REFUSE_TOLD=FILE          is made when that has happened
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static long count;

static bool refused(const char *name)
{
    const char *asked = getenv("REFUSE_CALL"), *told = getenv("REFUSE_TOLD");
    const size_t length = strlen(name);
    char *end;

    if (asked == NULL || strncmp(asked, name, length) != 0 || asked[length] != ':') return false;
    const long number = strtol(asked + length + 1, &end, 10);
    if (++count != number) return false;
    const int file = (int)syscall(SYS_openat, AT_FDCWD, told != NULL ? told : "/dev/null",
                                  O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (file >= 0) close(file);
    errno = atoi(end + 1);
    return true;
}

#define REFUSE(type, name, parameters, arguments, failed)                                          \
    type name parameters                                                                           \
    {                                                                                              \
        static type(*real) parameters;                                                             \
        if (real == NULL) *(void **)(void *)&real = dlsym(RTLD_NEXT, #name);                       \
        return refused(#name) ? failed : real arguments;                                           \
    }

REFUSE(pid_t, fork, (void), (), -1)
REFUSE(int, memfd_create, (const char *name, unsigned flags), (name, flags), -1)
REFUSE(int, pipe2, (int ends[2], int flags), (ends, flags), -1)
REFUSE(char *, mkdtemp, (char *name), (name), NULL)
REFUSE(DIR *, opendir, (const char *name), (name), NULL)
REFUSE(DIR *, fdopendir, (int file), (file), NULL)
REFUSE(FILE *, fopen, (const char *name, const char *mode), (name, mode), NULL)
REFUSE(void *, mmap, (void *at, size_t size, int protection, int flags, int file, off_t offset),
       (at, size, protection, flags, file, offset), MAP_FAILED)
REFUSE(int, ftruncate, (int file, off_t size), (file, size), -1)
REFUSE(ssize_t, pwrite, (int file, const void *bytes, size_t size, off_t at),
       (file, bytes, size, at), -1)
REFUSE(int, rename, (const char *from, const char *to), (from, to), -1)

int openat(int folder, const char *name, int flags, ...)
{
    va_list list;

    va_start(list, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
    va_end(list);
    return refused("open") ? -1 : (int)syscall(SYS_openat, folder, name, flags, mode);
}

int open(const char *name, int flags, ...)
{
    va_list list;

    va_start(list, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
    va_end(list);
    return openat(AT_FDCWD, name, flags, mode);
}

/* The grader forks into namespaces without the C library's fork. */
long syscall(long number, ...)
{
    static long (*real)(long, ...);
    long values[6];
    va_list list;

    if (real == NULL) *(void **)(void *)&real = dlsym(RTLD_NEXT, "syscall");
    va_start(list, number);
    for (int i = 0; i < 6; i++) values[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_clone && refused("clone")) return -1;
    return real(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}
