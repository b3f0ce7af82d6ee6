/* text: string functions: growing buffers, quoting untrusted text, finding the nearest of several
 * names.
 *
 * Quoted text can neither control a terminal nor pass for the grader's own lines: control
 * characters, invisible ones, noncharacters and invalid UTF-8 are shown as \xNN, and a bracketed
 * tag as wide as GoogleTest's ("[ SKIPPED ]": CTest looks for it anywhere in the output) loses its
 * brackets.
 */
#ifndef OVERLAP_GRADER_BASE_TEXT_H
#define OVERLAP_GRADER_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* A string that grows. Initialise it with {0}. When memory runs out the text keeps its contents and
 * `failed` is set; data is never NULL after the first successful append. */
struct text {
    char *data;
    size_t size; /* without the terminating 0 */
    size_t room;
    bool failed;
};

void text_free(struct text *text);
void text_add(struct text *text, const char *string);
void text_add_bytes(struct text *text, const char *bytes, size_t size);
__attribute__((format(printf, 2, 3))) void text_format(struct text *text, const char *format, ...);
void text_format_list(struct text *text, const char *format, va_list list);
const char *text_string(const struct text *text); /* "" when empty */

/* Appends the quoted form. Line feeds and tabs are kept. */
void text_add_quoted(struct text *text, const char *bytes, size_t size);

/* Appends `word` as one word for the shell, quoted where needed. */
void text_add_shell_word(struct text *text, const char *word);

/* Appends the text line by line, quoted, each line after `prefix`: at most `lines` lines (the last
 * ones when `tail`) of at most 400 bytes, and a line that says how many were left out. */
void text_add_lines(struct text *text, const char *bytes, size_t size, const char *prefix,
                    size_t lines, bool tail);

/* Measures the character at `string`: returns its bytes (at least 1) and sets its columns on a
 * terminal. */
size_t text_character(const char *string, size_t *columns);
/* Returns the columns of the string. */
size_t text_columns(const char *string);
/* Returns how many bytes of the string fit into `columns` columns. */
size_t text_fitting(const char *string, size_t columns);
/* Returns how many bytes of `text` (one line, `length` bytes) fit into `columns` columns when it is
 * broken between words or between wide characters; *next: where the next line begins. A word that
 * is too long is cut if `cut`, else it stays whole. */
size_t text_break(const char *text, size_t length, size_t columns, bool cut, size_t *next);

/* Returns the candidate (NULL-ended list) nearest to `name`, if it is near enough to be what was
 * meant; else NULL. */
const char *text_nearest(const char *name, const char *const *candidates);

#endif
