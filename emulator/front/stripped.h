/* stripped: finds a runtime that is linked statically in an object that has no symbols of it, as
 * packages from PyPI are. In each version all code of NVIDIA's runtime is one piece, which linkers
 * keep as it is, so a few checksums recognise it, and then the places of its functions are known:
 * runtimes.def. Only versions of x86-64 that are listed there are found; any other object is left
 * alone. No instruction is read or understood.
 */
#ifndef OVERLAP_FRONT_STRIPPED_H
#define OVERLAP_FRONT_STRIPPED_H

#include "emulator/front/symbols.h"

/* Fills `symbols` with the runtime's public functions, as if the object had them. The caller frees
 * `rows`. Returns the runtime's version, as 13040; 0 when there is none that is known, or memory is
 * lacking. */
unsigned stripped_find(const struct symbols_file *file, struct symbols *symbols);

#endif
