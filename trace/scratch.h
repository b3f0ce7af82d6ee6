/* scratch: the temporary folder of one run of a tool, below TMPDIR. Its maker keeps it locked; when
 * the maker was killed, and could not remove it, the next call that makes one does. Never touches a
 * folder that somebody uses, or another user's.
 */
#ifndef OVERLAP_TRACE_SCRATCH_H
#define OVERLAP_TRACE_SCRATCH_H

#include <limits.h>

struct scratch {
    char path[PATH_MAX - 64]; /* "": none */
    int lock;
};

/* Makes the folder `parent`/overlap-`tool`.XXXXXX. Before that it removes, by `remove_folder`,
 * those of the same tool whose maker is gone. Returns 0, or -1 with errno. */
int scratch_make(struct scratch *scratch, const char *parent, const char *tool,
                 void (*remove_folder)(const char *path));

/* Removes the folder with everything in it. Without one it does nothing. */
void scratch_remove(struct scratch *scratch, void (*remove_folder)(const char *path));

#endif
