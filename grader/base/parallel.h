/* parallel: runs the same computation many times on all processors that this process may use. For
 * the host's own work only (drawing inputs, recomputing results): it starts no process, and the
 * calls must not share data.
 */
#ifndef OVERLAP_GRADER_BASE_PARALLEL_H
#define OVERLAP_GRADER_BASE_PARALLEL_H

#include <stddef.h>

/* Returns how many processors this process may use, at least 1. */
size_t parallel_processors(void);

/* Restricts this process and those that it starts to the n-th of `count` shares of the processors:
 * every count-th processor, or one where there are fewer than `count`. So a process that starts one
 * thread per processor does not use its neighbours' processors. */
void parallel_take_share(size_t n, size_t count);

/* Calls work(user, i) once for each i in [0, count), in any order and concurrently, and returns
 * when all calls have returned. Without threads the caller makes all calls itself. */
void parallel_each(size_t count, void (*work)(void *user, size_t index), void *user);

#endif
