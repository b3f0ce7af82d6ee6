/* Any bytes as a trace file, which student code may have written over. */
#include "tests/fuzz/fuzz.h"
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIXED = 16, HEADER = 32, MOST_RECORDS = 256 };

static char path[] = "/tmp/overlap_fuzz_XXXXXX";
static uint8_t fixed[FIXED]; /* how every trace of this version begins */

static void remove_file(void)
{
    unlink(path);
}

static int open_file(void)
{
    int file = mkstemp(path);
    if (file < 0 || atexit(remove_file) || trace_create(path, 1) ||
        pread(file, fixed, sizeof fixed, 0) != sizeof fixed)
        abort();
    return file;
}

/* With what every trace begins with, unless the first byte is zero, and with the length that its
 * header claims, where that is small: what fails there is refused, and nothing else is reached. */
static void write_whole(int file, const uint8_t *bytes, size_t size)
{
    uint32_t capacity = 0;
    off_t length = (off_t)size;
    if (size >= HEADER) memcpy(&capacity, bytes + FIXED, sizeof capacity);
    if (capacity > 0 && capacity <= MOST_RECORDS)
        length = HEADER + (off_t)(capacity * sizeof(struct trace_record));
    if (ftruncate(file, 0) || pwrite(file, bytes, size, 0) != (ssize_t)size ||
        ftruncate(file, length))
        abort();
    if (size >= HEADER && bytes[0] && pwrite(file, fixed, sizeof fixed, 0) != sizeof fixed) abort();
}

/* Everything that is kept can be named, and every string ends. */
static void look_at(const struct trace_record *record)
{
    if (!memchr(record->name, 0, sizeof record->name) ||
        !memchr(record->file, 0, sizeof record->file) ||
        !memchr(record->text, 0, sizeof record->text))
        abort();
    if (!strcmp(trace_kind_name(record->kind), "unknown") ||
        !strcmp(trace_what_name(record->what), "unknown") ||
        !strcmp(trace_place_name(record->from), "unknown") ||
        !strcmp(trace_place_name(record->to), "unknown"))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static int file = -1;
    struct trace trace;
    char why[256] = "";
    if (file < 0) file = open_file();
    write_whole(file, bytes, size);
    if (trace_read(path, &trace, why, sizeof why)) {
        if (!why[0]) abort(); /* refused without a word */
        return 0;
    }
    for (size_t k = 0; k < trace.count; k++) look_at(&trace.records[k]);
    trace_free(&trace);
    return 0;
}
