/* text: small work on strings: growing buffers, quoting what somebody else wrote, the nearest of
 * several names.
 *
 * Quoted text can neither drive a terminal nor be taken for the grader's own lines: control
 * characters and broken UTF-8 are shown as \xNN, and a bracketed tag as wide as GoogleTest's
 * ("[  SKIPPED ]": CTest looks for it anywhere in the output) loses its brackets.
 */
#ifndef OVERLAP_GRADER_BASE_TEXT_H
#define OVERLAP_GRADER_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* A string that grows. Starts as {0}. When memory runs out it keeps what it has and `failed` is
 * set; data is never NULL after the first append that worked. */
struct text {
    char *data;
    size_t size; /* without the end */
    size_t room;
    bool failed;
};

void text_free(struct text *text);
void text_add(struct text *text, const char *string);
void text_add_bytes(struct text *text, const char *bytes, size_t size);
__attribute__((format(printf, 2, 3))) void text_format(struct text *text, const char *format, ...);
void text_format_list(struct text *text, const char *format, va_list list);
const char *text_string(const struct text *text); /* "" when empty */

/* Appends the quoted form. Line feeds and tabs stay. */
void text_add_quoted(struct text *text, const char *bytes, size_t size);

/* Appends `word` as one word for the shell, in quotes where it needs them. */
void text_add_shell_word(struct text *text, const char *word);

/* Appends the text line by line, quoted, each line behind `prefix`; at most `lines` lines of at
 * most 400 bytes, the last ones when `tail`, and a line that says how many were left out. */
void text_add_lines(struct text *text, const char *bytes, size_t size, const char *prefix,
                    size_t lines, bool tail);

/* The character at `string`: its bytes (at least 1) and its columns on a terminal. */
size_t text_character(const char *string, size_t *columns);
/* Columns of the string. */
size_t text_columns(const char *string);
/* How many bytes of it fit into so many columns. */
size_t text_fitting(const char *string, size_t columns);
/* How many bytes of `text` (one line, `length` bytes) go into so many columns, broken between words
 * or between wide characters; *next: where it goes on. A word that is too long is cut, or else
 * stays whole. */
size_t text_break(const char *text, size_t length, size_t columns, bool cut, size_t *next);

/* The candidate (NULL-ended list) that is nearest to `name`, when it is near enough to be what was
 * meant; else NULL. */
const char *text_nearest(const char *name, const char *const *candidates);

#endif
