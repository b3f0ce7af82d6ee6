/* unpack: unpacks archives (tar, zip and others that libarchive reads) and git repositories to
 * folders. Their contents are not trusted: only regular files and folders are written, nothing
 * outside the folder, no links, no more than the limits. No program that a repository names is run,
 * and no other repository that it names is read.
 */
#ifndef OVERLAP_GRADER_CLASS_UNPACK_H
#define OVERLAP_GRADER_CLASS_UNPACK_H

#include "grader/base/text.h"

enum unpacked {
    UNPACKED,
    UNPACK_BAD,     /* the submission cannot be read, see `why` */
    UNPACK_TROUBLE, /* this machine cannot unpack it (no space, no git), see `why` */
};

/* Decides by the name: .zip, .tar, .tar.gz, .tgz ... */
bool unpack_is_archive(const char *name);
/* Returns true for a folder with HEAD, objects and refs, or one with such a .git. */
bool unpack_is_repository(const char *folder);

/* Makes the folder `to`. */
enum unpacked unpack_archive(const char *archive, const char *to, struct text *why);
/* Writes the files of HEAD; `repository` is a path, or file:// and a path. */
enum unpacked unpack_repository(const char *repository, const char *to, struct text *why);

#endif
