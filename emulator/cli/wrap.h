/* wrap: breaks sentences into lines that fit a terminal. */
#ifndef OVERLAP_CLI_WRAP_H
#define OVERLAP_CLI_WRAP_H

#include <stddef.h>
#include <stdio.h>

#define WRAP_INDENT 4

/* Writes `text` and a newline, broken between words into lines of at most 100 characters. `used`
 * characters are on the first line already; further lines are indented by WRAP_INDENT. A newline in
 * `text` is kept, and the text behind it is not broken: commands to copy. */
void wrap_write(FILE *out, const char *text, size_t used);

#endif
