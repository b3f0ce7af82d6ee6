/* page: lines of text for a terminal of a given width, each with a style; the same lines go to the
 * screen (screen.h) or to a pipe. This module knows how wide characters are, but controls no
 * terminal.
 */
#ifndef OVERLAP_GRADER_LEARN_PAGE_H
#define OVERLAP_GRADER_LEARN_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum page_style {
    PAGE_PLAIN,
    PAGE_TITLE,
    PAGE_GOOD,
    PAGE_BAD,
    PAGE_MARK, /* the source line that is meant */
    PAGE_FAINT,
    PAGE_STYLES
};

struct page_line {
    char *text; /* without tabs and control characters; owned */
    enum page_style style;
};

/* Initialise it with {.width = N}. When memory runs out lines are left out. */
struct page {
    struct page_line *lines;
    size_t count;
    size_t width; /* columns */
};

void page_free(struct page *page);

/* Adds one line, cut at the width. */
__attribute__((format(printf, 3, 4))) void page_line(struct page *page, enum page_style style,
                                                     const char *format, ...);
/* Adds text wrapped between words (and between wide characters); the lines after the first are
 * indented by the width of `label`. Line feeds in it are kept; a line that begins with a blank is
 * not wrapped. */
void page_paragraph(struct page *page, enum page_style style, const char *label, const char *text);
/* Adds each line of `text` unwrapped, cut at the width. */
void page_text(struct page *page, enum page_style style, const char *text);

void page_print(const struct page *page, FILE *out);

/* Writes a bar of `columns` columns with part/whole of it filled. `bar` needs 3 bytes per column,
 * plus 1. */
void page_bar(char *bar, size_t columns, size_t part, size_t whole);
/* Returns a sign that the terminal can show: a tick, a cross, an arrow, a dot. */
const char *page_sign(char kind);

#endif
