/* parallel: the same arithmetic many times, on as many processors as this process may use. For
 * the host's own work only (inputs that are drawn, results that are computed again): it starts no
 * process, and what is called may touch nothing that another call touches.
 */
#ifndef OVERLAP_GRADER_BASE_PARALLEL_H
#define OVERLAP_GRADER_BASE_PARALLEL_H

#include <stddef.h>

/* How many processors this process may use, at least 1. */
size_t parallel_processors(void);

/* From now on this process and those that it starts may use the n-th of `count` shares: every
 * count-th processor, or one where there are fewer. So one that starts as many threads as it has
 * processors does not take its neighbours'. */
void parallel_take_share(size_t n, size_t count);

/* Calls work(user, i) once for each i in [0, count), in any order and side by side, and returns
 * when all have returned. Where no thread can be had, the caller's does it all. */
void parallel_each(size_t count, void (*work)(void *user, size_t index), void *user);

#endif
