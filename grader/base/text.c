#include "grader/base/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define TAG_WIDTH 10 /* between the brackets of "[  PASSED  ]" */
#define LINE_LIMIT 400

void text_free(struct text *text)
{
    free(text->data);
    memset(text, 0, sizeof *text);
}

static bool text_reserve(struct text *text, size_t more)
{
    if (text->failed) return false;
    if (text->size + more + 1 <= text->room) return true;
    size_t room = text->room ? text->room : 128;
    while (room < text->size + more + 1) room *= 2;
    char *data = realloc(text->data, room);
    if (data == NULL) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->room = room;
    return true;
}

void text_add_bytes(struct text *text, const char *bytes, size_t size)
{
    if (!text_reserve(text, size)) return;
    if (size > 0) memcpy(text->data + text->size, bytes, size);
    text->size += size;
    text->data[text->size] = '\0';
}

void text_add(struct text *text, const char *string)
{
    text_add_bytes(text, string, strlen(string));
}

void text_format_list(struct text *text, const char *format, va_list list)
{
    va_list again;
    va_copy(again, list);
    int size = vsnprintf(NULL, 0, format, list);
    if (size >= 0 && text_reserve(text, (size_t)size)) {
        vsnprintf(text->data + text->size, (size_t)size + 1, format, again);
        text->size += (size_t)size;
    }
    va_end(again);
}

void text_format(struct text *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    text_format_list(text, format, list);
    va_end(list);
}

const char *text_string(const struct text *text)
{
    return text->data != NULL ? text->data : "";
}

/* ---- quoting ------------------------------------------------------------------------------ */

/* Returns the length of a well-formed UTF-8 sequence at `bytes`, or 0. Source: Unicode 15, table
 * 3-7. */
static size_t utf8_length(const unsigned char *bytes, size_t size)
{
    unsigned char first = bytes[0];
    size_t length = first < 0x80                    ? 1
                    : first >= 0xc2 && first < 0xe0 ? 2
                    : first >= 0xe0 && first < 0xf0 ? 3
                    : first >= 0xf0 && first < 0xf5 ? 4
                                                    : 0;
    if (length == 0 || length > size) return 0;
    for (size_t i = 1; i < length; i++)
        if ((bytes[i] & 0xc0) != 0x80) return 0;
    if (first == 0xe0 && bytes[1] < 0xa0) return 0;
    if (first == 0xed && bytes[1] > 0x9f) return 0;
    if (first == 0xf0 && bytes[1] < 0x90) return 0;
    if (first == 0xf4 && bytes[1] > 0x8f) return 0;
    if (first == 0xc2 && bytes[1] < 0xa0) return 0; /* C1 controls, which control some terminals */
    return length;
}

/* The code point of a well-formed sequence. */
static unsigned point_of(const unsigned char *bytes, size_t length)
{
    static const unsigned char first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    unsigned point = bytes[0] & first[length];
    for (size_t i = 1; i < length; i++) point = point << 6 | (bytes[i] & 0x3fu);
    return point;
}

/* Returns true for characters that nobody sees or that are none: those that change how others are
 * shown (direction overrides, isolates and marks, line separators, the byte order mark); tags,
 * which carry a text of their own; noncharacters, two of which make a report in XML unreadable.
 * Sources: Unicode Standard Annex 9; The Unicode Standard 15, chapters 23.7 and 23.9; XML 1.0,
 * "Characters". */
static bool is_unseen(const unsigned char *bytes, size_t length)
{
    static const unsigned ranges[][2] = {
        {0x061c, 0x061c}, {0x200b, 0x200c}, {0x200e, 0x200f}, {0x2028, 0x202e},
        {0x2066, 0x2069}, {0xfdd0, 0xfdef}, {0xfeff, 0xfeff}, {0xe0000, 0xe007f},
    };
    const unsigned point = point_of(bytes, length);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (ranges[i][0] <= point && point <= ranges[i][1]) return true;
    return (point & 0xfffe) == 0xfffe; /* the last two of each plane */
}

/* Returns true for "[ PASSED ]" and similar tags. */
static bool is_tag(const char *bytes, size_t size)
{
    if (size < TAG_WIDTH + 2 || bytes[0] != '[' || bytes[TAG_WIDTH + 1] != ']') return false;
    for (size_t i = 1; i <= TAG_WIDTH; i++)
        if (strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZ =-", bytes[i]) == NULL || bytes[i] == '\0')
            return false;
    return true;
}

void text_add_quoted(struct text *text, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size;) {
        unsigned char c = (unsigned char)bytes[i];
        if (is_tag(bytes + i, size - i)) {
            text_add(text, "(");
            text_add_bytes(text, bytes + i + 1, TAG_WIDTH);
            text_add(text, ")");
            i += TAG_WIDTH + 2;
            continue;
        }
        size_t length = utf8_length((const unsigned char *)bytes + i, size - i);
        if (length > 1 && is_unseen((const unsigned char *)bytes + i, length)) length = 0;
        if (length == 0 || c == 0x7f || (c < 0x20 && c != '\n' && c != '\t')) {
            text_format(text, "\\x%02x", c);
            i++;
        } else {
            text_add_bytes(text, bytes + i, length);
            i += length;
        }
    }
}

void text_add_lines(struct text *text, const char *bytes, size_t size, const char *prefix,
                    size_t lines, bool tail)
{
    size_t total = 0, first = 0, number = 0;

    for (size_t i = 0; i < size; i++)
        if (bytes[i] == '\n' || i + 1 == size) total++;
    if (tail && total > lines) first = total - lines;
    if (first > 0) text_format(text, "%s(%zu lines before)\n", prefix, first);
    for (size_t start = 0; start < size; number++) {
        const char *end = memchr(bytes + start, '\n', size - start);
        size_t length = end != NULL ? (size_t)(end - (bytes + start)) : size - start;
        if (number >= first && number < first + lines) {
            text_add(text, prefix);
            text_add_quoted(text, bytes + start, length < LINE_LIMIT ? length : LINE_LIMIT);
            text_add(text, length > LINE_LIMIT ? " ...\n" : "\n");
        }
        start += length + 1;
    }
    if (total > first + lines)
        text_format(text, "%s(%zu lines more)\n", prefix, total - first - lines);
}

/* ---- nearest name -------------------------------------------------------------------------- */

/* Levenshtein distance of names of up to 63 bytes; longer names are far from everything. */
static size_t distance(const char *a, const char *b)
{
    size_t row[64], m = strlen(a), n = strlen(b);

    if (m > 63 || n > 63) return SIZE_MAX;
    for (size_t j = 0; j <= n; j++) row[j] = j;
    for (size_t i = 1; i <= m; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[n];
}

const char *text_nearest(const char *name, const char *const *candidates)
{
    const char *best = NULL;
    size_t best_distance = strlen(name) / 3 + 2;

    for (; *candidates != NULL; candidates++) {
        size_t d = distance(name, *candidates);
        if (d < best_distance) {
            best_distance = d;
            best = *candidates;
        }
    }
    return best;
}

void text_add_shell_word(struct text *text, const char *word)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=-+,:@";

    if (word[strspn(word, plain)] == '\0' && word[0] != '\0') {
        text_add(text, word);
        return;
    }
    text_add(text, "'");
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            text_add(text, "'\\''");
        else
            text_add_bytes(text, word, 1);
    }
    text_add(text, "'");
}

/* ---- columns -------------------------------------------------------------------------------- */

size_t text_character(const char *string, size_t *columns)
{
    mbstate_t state = {0};
    wchar_t wide;
    size_t bytes = mbrtowc(&wide, string, MB_CUR_MAX, &state);

    if (bytes == 0 || bytes > MB_CUR_MAX) {
        *columns = 1;
        return 1;
    }
    const int width = wcwidth(wide);
    *columns = width > 0 ? (size_t)width : 0;
    return bytes;
}

size_t text_columns(const char *string)
{
    size_t total = 0, columns;
    while (*string != '\0') {
        string += text_character(string, &columns);
        total += columns;
    }
    return total;
}

size_t text_fitting(const char *string, size_t columns)
{
    const char *at = string;
    size_t used = 0;

    while (*at != '\0') {
        size_t width, bytes = text_character(at, &width);
        if (used + width > columns) break;
        used += width;
        at += bytes;
    }
    return (size_t)(at - string);
}

size_t text_break(const char *text, size_t length, size_t columns, bool cut, size_t *next)
{
    size_t used = 0, at = 0, good = 0, resume = 0;

    while (at < length) {
        size_t width, bytes = text_character(text + at, &width);
        if (text[at] == ' ') {
            good = at;
            resume = at + 1;
        } else if (width == 2 && at > 0) {
            good = resume = at;
        }
        if (used + width > columns && text[at] != ' ' && (cut || good > 0)) break;
        if (used > columns && text[at] == ' ') break; /* after a word that is too long */
        used += width;
        at += bytes;
    }
    if (at >= length) {
        *next = length;
        return length;
    }
    *next = good > 0 ? resume : at;
    return good > 0 ? good : at;
}
