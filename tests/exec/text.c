#include "tests/exec/text.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>

void text_say(struct text *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int written = vsnprintf(text->ptx + text->length, TEXT_ROOM - text->length, format, list);
    va_end(list);
    text->length += (size_t)written;
    ck_assert_uint_lt(text->length, TEXT_ROOM);
}

uint32_t text_below(struct text *text, uint32_t limit)
{
    text->state ^= text->state << 13;
    text->state ^= text->state >> 17;
    text->state ^= text->state << 5;
    return (text->state >> 8) % limit;
}
