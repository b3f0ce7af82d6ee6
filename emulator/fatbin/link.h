/* fatbin_link: joins the PTX texts of a program's translation units (nvcc -rdc=true, cuLink) into
 * one text, as a linker joins objects: one definition per name; private names of different units
 * stay distinct.
 *
 * This module reads PTX as tokens and module-level statements only. The parser decides whether the
 * result is valid PTX; an undefined name is reported when a function that needs it is called.
 *
 * Source: PTX ISA 9.0, "Linking Directives", "Debugging Directives".
 */
#ifndef OVERLAP_FATBIN_LINK_H
#define OVERLAP_FATBIN_LINK_H

#include "emulator/fatbin/fatbin.h"

#include <stdbool.h>

/* How a text ends that NVIDIA's linker has accepted as well: what it names and nothing defines,
 * nothing reaches. ptxas refuses such a text by itself. */
#define FATBIN_LINKED "// NVIDIA's linker has seen these\n"

/* Joins all units of `fatbin`. On FATBIN_OK `joined` owns the text, which the caller releases with
 * free. Otherwise zeroes `joined` and writes one sentence to `why`: FATBIN_DAMAGED when a name is
 * defined twice or a text ends in the middle of a statement, FATBIN_NO_MEMORY when the host has no
 * memory. */
enum fatbin_result fatbin_link(const struct fatbin *fatbin, struct fatbin_unit *joined, char *why,
                               size_t why_size);
/* Lets a text end with FATBIN_LINKED. Returns false, and changes nothing, when the host has no
 * memory. */
bool fatbin_mark_linked(struct fatbin_unit *joined);
bool fatbin_is_linked(const struct fatbin_unit *unit);

#endif
