/* search: where an object's own search path has a library that it needs by its plain name. A
 * library in front of that one would look for it along its own path, and find another version. Only
 * reads.
 *
 * Source: ld.so(8).
 */
#ifndef OVERLAP_FRONT_SEARCH_H
#define OVERLAP_FRONT_SEARCH_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

/* Writes the path of the file `name` in the DT_RUNPATH or DT_RPATH of `asker`. Returns false when
 * none of its folders has it, or when the dynamic linker looks elsewhere first and finds it
 * (LD_LIBRARY_PATH). */
bool search_for(const struct link_map *asker, const char *name, char *path, size_t size);

#endif
