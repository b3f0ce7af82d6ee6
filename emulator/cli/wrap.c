#include "emulator/cli/wrap.h"

#include <string.h>

enum { WIDTH = 100 };

void wrap_write(FILE *out, const char *text, size_t used)
{
    size_t left = strcspn(text, "\n"); /* length of the part that may be broken */
    while (left > 0) {
        size_t room = used < WIDTH ? WIDTH - used : 0, taken = left;
        if (left > room) {
            taken = room;
            while (taken > 0 && text[taken] != ' ') taken--;
            /* A word longer than a line gets a line of its own. */
            if (taken == 0 && used <= WRAP_INDENT) taken = strcspn(text, " \n");
        }
        fprintf(out, "%.*s\n", (int)taken, text);
        text += taken;
        left -= taken;
        while (left > 0 && *text == ' ') text++, left--;
        if (left > 0) used = (size_t)fprintf(out, "%*s", WRAP_INDENT, "");
    }
    if (*text == '\n') fprintf(out, "%s\n", text + 1);
}
