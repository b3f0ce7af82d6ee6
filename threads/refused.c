/* Interposes the C library's functions that can be made to fail (threads/refusals.h). Only in the
 * grader's runner: other programs may have allocators of their own. */
#include "threads/parts.h"
#include "threads/refusals.h"
#include "threads/threads.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define NO_MEMORY "there were no memory left"

/* Returns true, with errno set, if this call must fail. */
THREADS_EARLY static bool refused(const char *name, const void *caller, int number,
                                  const char *as_if)
{
    if (!threads_is_watched(caller) || !refusals_strike(name, (uintptr_t)caller, as_if))
        return false;
    errno = number;
    return true;
}

#define REFUSAL(type, name, parameters, arguments, failed, number, as_if)                          \
    THREADS_PUBLIC type name parameters                                                            \
    {                                                                                              \
        THREADS_BEHIND(type, name, parameters);                                                    \
        if (refused(#name, __builtin_return_address(0), number, as_if)) return failed;             \
        return real.call arguments;                                                                \
    }
#define TRANSFER(name, parameters, arguments)                                                      \
    THREADS_PUBLIC ssize_t name parameters                                                         \
    {                                                                                              \
        THREADS_BEHIND(ssize_t, name, parameters);                                                 \
        const void *caller = __builtin_return_address(0);                                          \
        if (refused(#name, caller, EINTR, REFUSALS_INTERRUPTED)) return -1;                        \
        if (size > 1 && refused(#name REFUSALS_IN_PART, caller, errno, "")) size /= 2;             \
        return real.call arguments;                                                                \
    }
#include "threads/refusals.def"

THREADS_PUBLIC pid_t fork(void)
{
    THREADS_BEHIND(pid_t, fork, (void));
    const void *caller = __builtin_return_address(0);
    if (refused("fork", caller, EAGAIN, "there were too many processes")) return -1;
    const pid_t child = real.call();
    if (child < 0 && threads_on_want != NULL && threads_is_watched(caller)) threads_on_want(errno);
    if (child == 0 && refused(REFUSALS_FORK_CHILD, caller, EINTR, "the system had killed it"))
        raise(SIGKILL);
    return child;
}

/* AddressSanitizer and ThreadSanitizer have allocators of their own. The functions behind ours are
 * called by name, because dlsym would allocate, and allocations happen before dlsym is usable. */
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

THREADS_PUBLIC void *malloc(size_t size)
{
    if (refused(__func__, __builtin_return_address(0), ENOMEM, NO_MEMORY)) return NULL;
    return __libc_malloc(size);
}

THREADS_PUBLIC void *calloc(size_t count, size_t size)
{
    if (refused(__func__, __builtin_return_address(0), ENOMEM, NO_MEMORY)) return NULL;
    return __libc_calloc(count, size);
}

THREADS_PUBLIC void *realloc(void *memory, size_t size)
{
    if (refused(__func__, __builtin_return_address(0), ENOMEM, NO_MEMORY)) return NULL;
    return __libc_realloc(memory, size);
}
#endif
