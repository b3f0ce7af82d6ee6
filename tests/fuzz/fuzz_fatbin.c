/* Arbitrary bytes as an image of known length (a file's): the container's headers, its compressed
 * payloads. Consecutive containers are linked like those of an -rdc program. */
#include "emulator/fatbin/fatbin.h"
#include "emulator/fatbin/link.h"
#include "tests/fuzz/fuzz.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { CAPABILITY = 90, MOST = 4, HEADER = 16 };

/* Takes over the units of `from`. */
static void append(struct fatbin *to, struct fatbin *from)
{
    struct fatbin_unit *units = reallocarray(to->units, to->count + from->count, sizeof *units);
    if (!units) abort();
    memcpy(units + to->count, from->units, from->count * sizeof *units);
    to->units = units;
    to->count += from->count;
    free(from->units);
}

static bool read_one(struct fatbin *all, const uint8_t *bytes, size_t size)
{
    struct fatbin one;
    char why[256];
    const enum fatbin_result result = fatbin_open(bytes, size, CAPABILITY, &one, why, sizeof why);
    if (result != FATBIN_OK) {
        if (!why[0] || one.units) abort(); /* refused without a word, or with something left */
        return false;
    }
    for (size_t k = 0; k < one.count; k++)
        if (strlen(one.units[k].text) != one.units[k].length) abort();
    append(all, &one);
    return true;
}

/* Returns the length that the container at `bytes` claims; `size` if it is not a container. */
static size_t extent(const uint8_t *bytes, size_t size)
{
    static const uint32_t magic = 0xba55ed50;
    uint16_t header;
    uint64_t rest;
    if (size < HEADER || memcmp(bytes, &magic, sizeof magic) != 0) return size;
    memcpy(&header, bytes + 6, sizeof header);
    memcpy(&rest, bytes + 8, sizeof rest);
    return header <= size && rest <= size - header && header + rest > 0 ? header + (size_t)rest
                                                                        : size;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct fatbin all = {0};
    struct fatbin_unit joined;
    char why[256];
    for (size_t at = 0, k = 0; k < MOST; k++) {
        const size_t length = extent(bytes + at, size - at);
        if (!read_one(&all, bytes + at, length)) break;
        at += length;
        if (at == size) break;
    }
    if (all.count > 1) {
        if (fatbin_link(&all, &joined, why, sizeof why) == FATBIN_OK)
            free(joined.text);
        else if (!why[0])
            abort(); /* refused without a word */
    }
    fatbin_close(&all);
    return 0;
}
