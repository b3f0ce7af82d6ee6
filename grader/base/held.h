/* held: what processes hold beside the pages that they map: memory files and deleted files behind
 * their descriptors, and the files of a folder. descendants.h counts the pages.
 *
 * It misses a memory file of which a part is mapped and that no descriptor leads to any more; a
 * control group (cgroup.h) does not.
 */
#ifndef OVERLAP_GRADER_BASE_HELD_H
#define OVERLAP_GRADER_BASE_HELD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Bytes of the files without a name that the processes have open, each file once: memfds, and what
 * was deleted or never had a name. A process that cannot be looked into counts as none. */
uint64_t held_bytes(const pid_t *processes, size_t count);

/* Adds up what is in the folder and below; stops counting where there are more than `most_files` or
 * `most_bytes`. Links are not followed. */
struct held_folder {
    uint64_t files, bytes;
};
struct held_folder held_in_folder(const char *path, uint64_t most_files, uint64_t most_bytes);

#endif
