/* files: makes and removes folders, reads, writes and copies whole files.
 */
#ifndef OVERLAP_GRADER_BASE_FILES_H
#define OVERLAP_GRADER_BASE_FILES_H

#include "grader/base/text.h"

#include <stdbool.h>
#include <sys/types.h>

/* Returns true when the disk of `path` has no room left. */
bool files_disk_is_full(const char *path);

/* Makes the folder and its parents. Returns 0, or -1 with errno. */
int files_make_folders(const char *path);

/* Removes a file, or a folder with everything in it; links are not followed. */
void files_remove(const char *path);

/* Appends the contents of a regular file (not a link), at most `limit` bytes. Returns 0, or -1 with
 * errno; EFBIG when the file is longer. */
int files_read(const char *path, size_t limit, struct text *text);
/* As files_read, for a name in an open folder (AT_FDCWD: a path). */
int files_read_at(int folder, const char *name, size_t limit, struct text *text);

/* Reads the beginning of a small kernel file (/proc, a control group) as a string, at most `size` -
 * 1 bytes, with one read. Returns its length, or -1: it cannot be read. */
ssize_t files_read_small(const char *path, char *buffer, size_t size);

/* Writes a new file. Returns 0, or -1 with errno. */
int files_write(const char *path, const char *bytes, size_t size);

/* Replaces a file atomically: writes a file beside it, syncs it to the disk, and renames it. Makes
 * the folder. A path that is not a regular file (/dev/stdout, a pipe) is written to directly.
 * Returns 0, or -1 with errno; then the previous file is unchanged. */
int files_replace(const char *path, const char *bytes, size_t size);

#endif
