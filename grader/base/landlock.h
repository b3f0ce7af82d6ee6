/* landlock: holds the calling process to the files that its rules name (Linux 5.13 and later), by
 * the system's own calls, because no C library has them. contain.c is its only caller.
 *
 * Source: landlock(7), Documentation/userspace-api/landlock.rst of Linux.
 */
#ifndef OVERLAP_GRADER_BASE_LANDLOCK_H
#define OVERLAP_GRADER_BASE_LANDLOCK_H

#include "grader/base/contain.h"

#define LANDLOCK_WITH_SCOPES 6 /* from this version on: signals and abstract sockets */

/* The version of its interface that the kernel has; 0: none. */
int landlock_version(void);

/* `own`: a NULL-ended list of further folders that are the program's to write. Returns 0, or -1
 * with errno. */
int landlock_restrict(int version, const struct contain_rules *rules, const char *program,
                      const char *const *own);

#endif
