/* watch: detects that the student saved. inotify wakes the caller at once, also for editors that
 * write by rename; the files are polled at intervals as well, because some file systems send no
 * events.
 */
#ifndef OVERLAP_GRADER_LEARN_WATCH_H
#define OVERLAP_GRADER_LEARN_WATCH_H

#include "grader/learn/course.h"

/* Initialise it with {.fd = -1}. */
struct watch {
    int fd;           /* readable when a folder changed; -1: polling only */
    int milliseconds; /* polling interval */
    uint64_t *stamps; /* one per lesson: a hash of its files' times, sizes and names */
};

/* With OVERLAP_WATCH=poll in the environment inotify is not used. Returns 0, or -1: no memory. */
int watch_open(struct watch *watch, const struct course *course);
void watch_close(struct watch *watch);

/* Reads and discards inotify's events. */
void watch_take(struct watch *watch);

/* Returns true when the lesson's files have changed since the last call: times, sizes or names.
 */
bool watch_changed(struct watch *watch, const struct course *course, size_t index);

#endif
