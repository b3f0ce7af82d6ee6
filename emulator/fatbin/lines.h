/* lines: gives PTX that was found in machine code its source lines back. ptxas leaves the .loc out
 * of that text, but two tables in the machine code say of each instruction's address which line of
 * the source it is of, and which line of the PTX. Together they say which line of the source a line
 * of the PTX is of.
 *
 * A damaged table is as good as none: the lines are a help, not what is run.
 *
 * Source: DWARF 2, 6.2 (line numbers); that .nv_debug_line_sass has the same form, and its lines
 * are the PTX's, is behaviour of ptxas, which tests/fatbin checks.
 */
#ifndef OVERLAP_FATBIN_LINES_H
#define OVERLAP_FATBIN_LINES_H

#include "emulator/fatbin/sections.h"

/* Returns `text`, the PTX of section `name`, with .loc and .file, which the caller releases with
 * free; NULL: there are no lines to add, or no memory. */
char *lines_put(const struct sections *sections, const char *name, const char *text);

#endif
