/* child: runs the program as if ./emulate were not there, with the same stdin, stdout, stderr and
 * process group. Signals are passed on to the program, and its end is reported. This module knows
 * nothing of CUDA.
 */
#ifndef OVERLAP_CLI_CHILD_H
#define OVERLAP_CLI_CHILD_H

/* Runs `path` with `arguments` (argv, NULL-terminated) in the current environment until it ends.
 * Returns 0 and sets its wait status, or returns the errno that explains why it was not started. */
int child_run(const char *path, char *const *arguments, int *status);

/* Ends this process as the child ended: with the same exit status, or by the same signal, without a
 * second core file. */
_Noreturn void child_end_alike(int status);

#endif
