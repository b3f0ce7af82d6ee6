/* page: lines of text for a terminal of a given width, each with a style; the same lines go to the
 * screen (screen.h) or to a pipe. It knows how wide characters are, and nothing of terminals.
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
    PAGE_MARK, /* the line that is meant */
    PAGE_FAINT,
    PAGE_STYLES
};

struct page_line {
    char *text; /* without tabs and control characters; owned */
    enum page_style style;
};

/* Starts as {.width = N}. When memory runs out lines are left out. */
struct page {
    struct page_line *lines;
    size_t count;
    size_t width; /* columns */
};

void page_free(struct page *page);

/* One line, cut at the width. */
__attribute__((format(printf, 3, 4))) void page_line(struct page *page, enum page_style style,
                                                     const char *format, ...);
/* Wrapped between words (and between wide characters), the lines after the first indented as far as
 * `label` is wide. Line feeds in it stay; a line of it that begins with a blank is not wrapped. */
void page_paragraph(struct page *page, enum page_style style, const char *label, const char *text);
/* Each line of `text` as it is, cut at the width. */
void page_text(struct page *page, enum page_style style, const char *text);

void page_print(const struct page *page, FILE *out);

/* A bar of `columns` columns with part/whole of it filled. `bar` holds 3 bytes a column and 1. */
void page_bar(char *bar, size_t columns, size_t part, size_t whole);
/* A sign that the terminal can show: a tick, a cross, an arrow, a dot. */
const char *page_sign(char kind);

#endif
