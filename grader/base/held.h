/* held: memory and disk space that processes hold besides their mapped pages, which descendants.h
 * counts: memory files and deleted files behind descriptors, and the files of a folder.
 *
 * Not counted: a memory file of which a part is mapped and to which no descriptor leads any more. A
 * control group (cgroup.h) does count it.
 */
#ifndef OVERLAP_GRADER_BASE_HELD_H
#define OVERLAP_GRADER_BASE_HELD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Returns the bytes of all nameless files that the processes have open (memfds, deleted files,
 * files that never had a name), each file once. A process that cannot be inspected counts as 0. */
uint64_t held_bytes(const pid_t *processes, size_t count);

/* Adds up the files in the folder and below; stops counting beyond `most_files` or `most_bytes`.
 * Links are not followed. */
struct held_folder {
    uint64_t files, bytes;
};
struct held_folder held_in_folder(const char *path, uint64_t most_files, uint64_t most_bytes);

#endif
