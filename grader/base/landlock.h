/* landlock: restricts the calling process to the files that its rules name (Linux 5.13 and later),
 * by system calls, because C libraries have no wrappers for them. contain.c is its only caller.
 *
 * Source: landlock(7), Documentation/userspace-api/landlock.rst of Linux.
 */
#ifndef OVERLAP_GRADER_BASE_LANDLOCK_H
#define OVERLAP_GRADER_BASE_LANDLOCK_H

#include "grader/base/contain.h"

#define LANDLOCK_WITH_SCOPES 6 /* from this ABI version on: signals and abstract sockets */

/* Returns the kernel's Landlock ABI version; 0: none. */
int landlock_version(void);

/* Restricts the calling process. `own`: a NULL-ended list of further folders that the program may
 * write to. Returns 0, or -1 with errno. */
int landlock_restrict(int version, const struct contain_rules *rules, const char *program,
                      const char *const *own);

#endif
