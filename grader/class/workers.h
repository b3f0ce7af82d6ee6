/* workers: graders side by side, each a process of its own with its share of the processors. When
 * the caller dies, however that happens, so do they, and what runs below them.
 */
#ifndef OVERLAP_GRADER_CLASS_WORKERS_H
#define OVERLAP_GRADER_CLASS_WORKERS_H

#include "grader/base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct worker_job {
    const char *const *arguments; /* NULL-ended; [0] is the program */
    const char *folder;           /* where it runs */
    const char *log;              /* takes what it prints */
};

struct workers;

/* Room for `count` at one time. NULL: no memory. */
struct workers *workers_open(size_t count);
/* Ends those that run. */
void workers_close(struct workers *workers);

bool workers_full(const struct workers *workers);

/* Starts one under a number of the caller's. Returns 0, or -1 with a sentence. */
int workers_start(struct workers *workers, const struct worker_job *job, size_t number,
                  struct text *why);

/* Waits until one has ended, at most `milliseconds`. Returns true with its number and its status as
 * of waitpid; false: none ended, none runs, or a signal came. */
bool workers_wait(struct workers *workers, int milliseconds, size_t *number, int *status);

size_t workers_running(const struct workers *workers);

#endif
