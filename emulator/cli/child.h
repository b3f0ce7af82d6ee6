/* child: runs the program as if ./emulate were not there: the same stdin, stdout, stderr and
 * process group; signals go to it, and what ends it is reported. It knows nothing of CUDA.
 */
#ifndef OVERLAP_CLI_CHILD_H
#define OVERLAP_CLI_CHILD_H

/* Runs `path` with `arguments` (its name first, ended by NULL) in the present environment until it
 * ends. Returns 0 and its wait status, or the errno of why it was not started. */
int child_run(const char *path, char *const *arguments, int *status);

/* Ends this process as the child ended: by the same exit status, or by the same signal, without
 * another core file. */
_Noreturn void child_end_alike(int status);

#endif
