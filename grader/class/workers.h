/* workers: graders that run side by side, each a process with its share of the processors. When the
 * caller dies, for whatever reason, the graders and their descendants are killed.
 */
#ifndef OVERLAP_GRADER_CLASS_WORKERS_H
#define OVERLAP_GRADER_CLASS_WORKERS_H

#include "grader/base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct worker_job {
    const char *const *arguments; /* NULL-ended; [0] is the program */
    const char *folder;           /* its working directory */
    const char *log;              /* file that receives its output */
};

struct workers;

/* Makes room for `count` graders at one time. NULL: no memory. */
struct workers *workers_open(size_t count);
/* Kills the running graders and frees the struct. */
void workers_close(struct workers *workers);

bool workers_full(const struct workers *workers);

/* Starts a grader under a number of the caller's choice. Returns 0, or -1 with a sentence. */
int workers_start(struct workers *workers, const struct worker_job *job, size_t number,
                  struct text *why);

/* Waits at most `milliseconds` until a grader has ended. Returns true with its number and its
 * waitpid status; false: none ended, none runs, or a signal came. */
bool workers_wait(struct workers *workers, int milliseconds, size_t *number, int *status);

size_t workers_running(const struct workers *workers);

#endif
