#include "emulator/base/name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void name_plain(const char *name, char *text, size_t size)
{
    const char *at = name;
    snprintf(text, size, "%s", name);
    if (strncmp(at, "_Z", 2) != 0) return;
    const bool nested = at[2] == 'N'; /* otherwise a parameter's type follows the first name */
    at += nested ? 3 : 2;
    if (nested) at += strspn(at, "VK"); /* of a method */
    for (;;) {
        size_t length = 0;
        if (*at == 'L') at++; /* the name of what is static */
        if (*at < '0' || *at > '9') return;
        for (; *at >= '0' && *at <= '9' && length < 1000; at++)
            length = length * 10 + (size_t)(*at - '0');
        if (length == 0 || strlen(at) < length) return;
        snprintf(text, size, "%.*s", (int)length, at);
        at += length;
        if (!nested) return;
    }
}
