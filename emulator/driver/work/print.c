#include "emulator/driver/findings/finding.h"
#include "emulator/driver/work/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALL_BYTES = 96 }; /* bytes of the buffer per call, besides the arguments */

static bool room_for_text(struct print *print, size_t length)
{
    if (print->used_text + length <= print->room_text) return true;
    /* Dropped text is removed before more memory is allocated. */
    if (print->dropped_text > print->room_text / 2) {
        print->used_text -= print->dropped_text;
        memmove(print->text, print->text + print->dropped_text, print->used_text);
        print->dropped_text = 0;
        if (print->used_text + length <= print->room_text) return true;
    }
    const size_t room = 2 * (print->used_text + length);
    char *text = realloc(print->text, room);
    if (text == NULL) return false;
    print->text = text;
    print->room_text = room;
    return true;
}

static bool room_for_call(struct print *print)
{
    if (print->count < print->room) return true;
    if (print->first > print->room / 2) {
        print->count -= print->first;
        memmove(print->calls, print->calls + print->first, print->count * sizeof *print->calls);
        print->first = 0;
        return true;
    }
    const size_t room = print->room == 0 ? 64 : 2 * print->room;
    struct print_call *calls = realloc(print->calls, room * sizeof *calls);
    if (calls == NULL) return false;
    print->calls = calls;
    print->room = room;
    return true;
}

static void drop_oldest(struct print *print)
{
    const struct print_call *call = &print->calls[print->first++];
    print->taken -= call->taken;
    print->dropped_text += call->length;
    print->lost++;
}

void print_from_kernel(void *user, const char *text, size_t length, const size_t *arguments)
{
    struct print *print = user;
    if (!room_for_text(print, length)) return;
    memcpy(print->text + print->used_text, text, length);
    print->used_text += length;
    print->open += length;
    if (arguments == NULL || !room_for_call(print)) return;
    const struct print_call call = {.length = print->open, .taken = CALL_BYTES + *arguments};
    print->calls[print->count++] = call;
    print->taken += call.taken;
    print->open = 0;
    while (print->taken > print->limit && print->first + 1 < print->count) drop_oldest(print);
}

static void tell_lost(const struct print *print, const struct operation *operation)
{
    static bool told;
    if (told) return;
    told = true;
    struct trace_record found =
        finding_at_work(FINDING_OUTPUT_LOST, &operation->record, operation->stream_caller);
    found.bytes = print->limit;
    found.finding.numbers[0] = print->lost + (print->count - print->first);
    found.finding.numbers[1] = print->count - print->first;
    found.finding.numbers[2] = print->lost;
    finding_put(&found);
}

void print_drop(struct print *print)
{
    free(print->text);
    free(print->calls);
    *print = (struct print){.limit = print->limit};
}

void print_write(struct print *print, const struct operation *operation)
{
    if (print->used_text > print->dropped_text)
        fwrite(print->text + print->dropped_text, 1, print->used_text - print->dropped_text,
               stdout);
    if (print->lost > 0) tell_lost(print, operation);
    print_drop(print);
}
