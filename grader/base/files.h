/* files: folders made and removed, files read and copied whole.
 */
#ifndef OVERLAP_GRADER_BASE_FILES_H
#define OVERLAP_GRADER_BASE_FILES_H

#include "grader/base/text.h"

#include <stdbool.h>
#include <sys/types.h>

/* Nothing can be written any more to the disk that `path` is on. */
bool files_disk_is_full(const char *path);

/* Makes the folder and those above it. Returns 0, or -1 with errno. */
int files_make_folders(const char *path);

/* Removes a file, or a folder with everything in it; links are not followed. */
void files_remove(const char *path);

/* Appends at most `limit` bytes of a regular file (not a link). Returns 0, or -1 with errno; EFBIG
 * when the file is longer. */
int files_read(const char *path, size_t limit, struct text *text);
/* The same of a name in an open folder (AT_FDCWD: a path). */
int files_read_at(int folder, const char *name, size_t limit, struct text *text);

/* The beginning of a small file of the kernel's (/proc, a control group), as a string: at most
 * `size` - 1 bytes, read at once. Returns its length, or -1: it cannot be read. */
ssize_t files_read_small(const char *path, char *buffer, size_t size);

/* Writes a new file. Returns 0, or -1 with errno. */
int files_write(const char *path, const char *bytes, size_t size);

/* Writes a file whole or not at all, whatever happens meanwhile: beside it under another name, onto
 * the disk, then renamed. The folder is made. What is no regular file (/dev/stdout, a pipe) is
 * written to as it is. Returns 0, or -1 with errno; then what was there before still is. */
int files_replace(const char *path, const char *bytes, size_t size);

#endif
