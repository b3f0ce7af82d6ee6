/* exec_pool: a few host threads that stay, for launches whose blocks may run side by side. It knows
 * nothing of blocks. After a fork the child starts with no threads and makes its own.
 */
#ifndef OVERLAP_EXEC_MACHINE_POOL_H
#define OVERLAP_EXEC_MACHINE_POOL_H

/* Calls job(argument, 0) on the calling thread and job(argument, k) for k < workers on others, and
 * returns when all have returned. May run fewer when threads cannot be had or another launch uses
 * them; job 0 always runs, so a job must not count on the others. */
void exec_pool_run(unsigned workers, void (*job)(void *argument, unsigned worker), void *argument);

/* Processors that this process may use, at least 1. */
unsigned exec_pool_processors(void);

#endif
