#include "grader/learn/page.h"
#include "grader/base/messages.h"
#include "grader/base/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define TAB 8

void page_free(struct page *page)
{
    for (size_t i = 0; i < page->count; i++) free(page->lines[i].text);
    free(page->lines);
    page->lines = NULL;
    page->count = 0;
}

static void add(struct page *page, enum page_style style, const char *bytes, size_t size)
{
    struct page_line *lines = realloc(page->lines, (page->count + 1) * sizeof *lines);
    char *text = strndup(bytes, size);

    if (lines != NULL) page->lines = lines;
    if (lines == NULL || text == NULL) {
        free(text);
        return;
    }
    page->lines[page->count++] = (struct page_line){text, style};
}

/* Replaces tabs by blanks, and characters that the terminal cannot show by question marks. */
static void add_cut(struct page *page, enum page_style style, const char *bytes, size_t size)
{
    struct text shown = {0};
    size_t column = 0;

    for (size_t i = 0; i < size;) {
        size_t width, length = text_character(bytes + i, &width);
        if (bytes[i] == '\t') {
            width = TAB - column % TAB;
            text_format(&shown, "%*s", (int)width, "");
        } else if (length == 1 && ((unsigned char)bytes[i] < ' ' || (bytes[i] & 0x80) != 0)) {
            text_add(&shown, "?");
            width = 1;
        } else {
            text_add_bytes(&shown, bytes + i, length);
        }
        column += width;
        i += length;
    }
    const char *line = text_string(&shown);
    add(page, style, line, text_fitting(line, page->width));
    text_free(&shown);
}

void page_line(struct page *page, enum page_style style, const char *format, ...)
{
    struct text text = {0};
    va_list list;

    va_start(list, format);
    text_format_list(&text, format, list);
    va_end(list);
    add_cut(page, style, text_string(&text), text.size);
    text_free(&text);
}

void page_text(struct page *page, enum page_style style, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        add_cut(page, style, text, length);
        text += length + (text[length] == '\n');
    }
}

void page_paragraph(struct page *page, enum page_style style, const char *label, const char *text)
{
    const size_t indent = text_columns(label);
    const size_t room = page->width > indent + 10 ? page->width - indent : 10;
    bool first = true;

    while (*text != '\0') {
        size_t length = strcspn(text, "\n"), next = length, taken = length;
        struct text line = {0};
        if (text[0] != ' ') taken = text_break(text, length, room, true, &next);
        text_format(&line, "%s%*s%.*s", first ? label : "", first ? 0 : (int)indent, "", (int)taken,
                    text);
        add_cut(page, style, text_string(&line), line.size);
        text_free(&line);
        first = false;
        text += next;
        if (next == length && *text == '\n') text++;
    }
}

void page_print(const struct page *page, FILE *out)
{
    for (size_t i = 0; i < page->count; i++) {
        size_t length = strlen(page->lines[i].text);
        while (length > 0 && page->lines[i].text[length - 1] == ' ') length--;
        fprintf(out, "%.*s\n", (int)length, page->lines[i].text);
    }
}

void page_bar(char *bar, size_t columns, size_t part, size_t whole)
{
    const size_t filled = whole > 0 ? part * columns / whole : 0;
    const char *full = messages_utf8() ? "\u2588" : "#", *empty = messages_utf8() ? "\u2591" : ".";

    bar[0] = '\0';
    for (size_t i = 0; i < columns; i++) strcat(bar, i < filled ? full : empty);
}

const char *page_sign(char kind)
{
    static const struct {
        char kind;
        const char *utf8, *ascii;
    } signs[] = {
        {'+', "\u2713", "+"}, {'-', "\u2717", "x"}, {'>', "\u25b8", ">"}, {'.', "\u00b7", "."}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (signs[i].kind == kind) return messages_utf8() ? signs[i].utf8 : signs[i].ascii;
    return " ";
}
