/* entries: what was compiled before. CACHE/<key>/ holds lesson.so and what belongs to it, or
 * `failed` with what the compilers said, and `sum`, the hash of them, which is checked each time an
 * entry is used: one that was damaged is made anew. An entry appears by rename, whole or not at
 * all; whoever uses one holds a lock on it, and none that is held is thrown away.
 */
#ifndef OVERLAP_GRADER_BUILD_ENTRIES_H
#define OVERLAP_GRADER_BUILD_ENTRIES_H

#include "grader/base/text.h"

#define ENTRIES_LIBRARY "lesson.so"
#define ENTRIES_OBJECTS "objects" /* which addresses come from which file: sources.h */
#define ENTRIES_FAILED "failed"

/* Looks for a sound entry; a damaged one is removed, one that cannot be read just now is left.
 * Returns the lock (a descriptor; closing it lets go), or -1: there is none. *failed: it holds what
 * the compilers said, appended to `said`. */
int entries_find(const char *cache, const char *key, bool *failed, struct text *said);

/* Makes the folder `work` the entry, keeping only what an entry has. Returns the lock or -1: then
 * the folder is as it was. */
int entries_keep(const char *cache, const char *key, const char *work);

/* Throws away those that were not used for longest, and what an interrupted grader left. */
void entries_trim(const char *cache);

#endif
