/* unpack: archives (tar, zip and what else libarchive reads) and git repositories to folders. What
 * is in them is not trusted: only plain files and folders come out, nothing outside the folder, no
 * links, no more than the limits, and no program that a repository names is run.
 */
#ifndef OVERLAP_GRADER_CLASS_UNPACK_H
#define OVERLAP_GRADER_CLASS_UNPACK_H

#include "grader/base/text.h"

enum unpacked {
    UNPACKED,
    UNPACK_BAD,     /* what was handed in cannot be read: `why` */
    UNPACK_TROUBLE, /* this machine cannot: no space, no git: `why` */
};

/* By its name: .zip, .tar, .tar.gz, .tgz ... */
bool unpack_is_archive(const char *name);
/* A folder with HEAD, objects and refs, or one with such a .git. */
bool unpack_is_repository(const char *folder);

/* `to` is made. */
enum unpacked unpack_archive(const char *archive, const char *to, struct text *why);
/* The files of HEAD; `repository` is a path, or file:// and a path. */
enum unpacked unpack_repository(const char *repository, const char *to, struct text *why);

#endif
