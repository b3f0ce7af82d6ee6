/* entries: the cache of compiled lessons. CACHE/<key>/ holds lesson.so and its companion files, or
 * `failed` with the compilers' messages, and `sum`, a hash of them that is checked each time an
 * entry is used; a damaged entry is made anew. An entry appears by rename, so it is complete or
 * absent. A user of an entry holds a lock on it, and a locked entry is never removed.
 */
#ifndef OVERLAP_GRADER_BUILD_ENTRIES_H
#define OVERLAP_GRADER_BUILD_ENTRIES_H

#include "grader/base/text.h"

#define ENTRIES_LIBRARY "lesson.so"
#define ENTRIES_OBJECTS "objects" /* which addresses come from which file: sources.h */
#define ENTRIES_FAILED "failed"

/* Looks for an intact entry. A damaged one is removed; one that cannot be read at the moment is
 * left alone. Returns the lock (a descriptor; closing it unlocks), or -1: there is no entry.
 * *failed is set when the entry holds the compilers' messages, which are appended to `said`. */
int entries_find(const char *cache, const char *key, bool *failed, struct text *said);

/* Makes the folder `work` the entry, keeping only the files that an entry has. Returns the lock, or
 * -1: the folder is unchanged. */
int entries_keep(const char *cache, const char *key, const char *work);

/* Removes the entries that were not used for longest, and what an interrupted grader left
 * behind. */
void entries_trim(const char *cache);

#endif
