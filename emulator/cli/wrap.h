/* wrap: sentences for people, in lines that fit a terminal. */
#ifndef OVERLAP_CLI_WRAP_H
#define OVERLAP_CLI_WRAP_H

#include <stddef.h>
#include <stdio.h>

#define WRAP_INDENT 4

/* Writes `text` and a newline in lines of at most 100 characters, broken between words. The first
 * stands behind `used` characters that are there already, further ones behind WRAP_INDENT blanks.
 * A newline in `text` is kept, and what follows it is not broken: commands to copy. */
void wrap_write(FILE *out, const char *text, size_t used);

#endif
