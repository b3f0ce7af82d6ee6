/* watch: whether the student saved. inotify wakes the caller at once, also for editors that write
 * by rename; the files are looked at every so often as well, because some file systems tell
 * nothing.
 */
#ifndef OVERLAP_GRADER_LEARN_WATCH_H
#define OVERLAP_GRADER_LEARN_WATCH_H

#include "grader/learn/course.h"

/* Starts as {.fd = -1}. */
struct watch {
    int fd;           /* readable when a folder changed; -1: there is only looking */
    int milliseconds; /* after how long to look again */
    uint64_t *stamps; /* of each lesson's files */
};

/* OVERLAP_WATCH=poll in the environment: without inotify. Returns 0, or -1: no memory. */
int watch_open(struct watch *watch, const struct course *course);
void watch_close(struct watch *watch);

/* Takes what inotify has to say. */
void watch_take(struct watch *watch);

/* The lesson's files are not those that were there at the last call: other times, sizes or names.
 */
bool watch_changed(struct watch *watch, const struct course *course, size_t index);

#endif
