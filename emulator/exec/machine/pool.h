/* exec_pool: persistent host threads for launches whose blocks may run concurrently. It knows
 * nothing of blocks. After a fork the child starts without threads and makes its own.
 */
#ifndef OVERLAP_EXEC_MACHINE_POOL_H
#define OVERLAP_EXEC_MACHINE_POOL_H

/* Calls job(argument, 0) on the calling thread and job(argument, k) for k < workers on others, and
 * returns when all have returned. Runs fewer if threads cannot be made or another launch uses them;
 * only job 0 is certain to run, so no job may wait for another. */
void exec_pool_run(unsigned workers, void (*job)(void *argument, unsigned worker), void *argument);

/* Returns the number of processors that this process may use, at least 1. */
unsigned exec_pool_processors(void);

#endif
