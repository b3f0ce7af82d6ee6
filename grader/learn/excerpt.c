#include "grader/learn/excerpt.h"
#include "grader/base/files.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define BEFORE 2 /* lines shown before and after the place */
#define AFTER 2
#define FILE_LIMIT ((size_t)1 << 20)
#define TAB 8

/* Returns the column (from 1) that a compiler named for this place, or 0. */
static size_t named_column(const struct verdict_failure *failure)
{
    char place[300];

    snprintf(place, sizeof place, "%s:%u:", failure->place.file, failure->place.line);
    const char *found = strstr(failure->what, place);
    return found != NULL ? strtoul(found + strlen(place), NULL, 10) : 0;
}

/* Returns the screen column of the byte at `offset`, with tabs expanded. */
static size_t screen_column(const char *line, size_t offset)
{
    size_t column = 0;
    for (size_t i = 0; i < offset; i++)
        column = line[i] == '\t' ? (column / TAB + 1) * TAB : column + ((line[i] & 0xc0) != 0x80);
    return column;
}

/* Expands tabs, because the line begins at another column here. */
static void spread(struct text *text, const char *line, size_t length)
{
    size_t column = 0;
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '\t') {
            const size_t to = (column / TAB + 1) * TAB;
            text_format(text, "%*s", (int)(to - column), "");
            column = to;
        } else {
            text_add_bytes(text, line + i, 1);
            column += (line[i] & 0xc0) != 0x80;
        }
    }
}

void excerpt_add(struct page *page, const char *root, const struct verdict_failure *failure)
{
    const struct place *place = &failure->place;
    struct text file = {0};
    char path[PATH_MAX];
    unsigned number = 1;

    snprintf(path, sizeof path, "%s%s%s", place->file[0] == '/' ? "" : root,
             place->file[0] == '/' ? "" : "/", place->file);
    if (place->line == 0 || files_read(path, FILE_LIMIT, &file) != 0) goto done;
    for (const char *at = text_string(&file); *at != '\0' && number <= place->line + AFTER;
         number++) {
        const size_t length = strcspn(at, "\n");
        if (number + BEFORE >= place->line) {
            struct text line = {0};
            const bool meant = number == place->line;
            spread(&line, at, length);
            page_line(page, meant ? PAGE_MARK : PAGE_FAINT, "%s%5u | %s",
                      meant ? page_sign('>') : " ", number, text_string(&line));
            text_free(&line);
            if (meant) {
                size_t column = named_column(failure), offset = strspn(at, " \t");
                if (column > 0 && column - 1 <= length) offset = column - 1;
                page_line(page, PAGE_MARK, "%6s | %*s^", "", (int)screen_column(at, offset), "");
            }
        }
        at += length + (at[length] == '\n');
    }
done:
    text_free(&file);
}
