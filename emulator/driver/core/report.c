/* Records of the trace, and sentences about what they are of. */
#include "emulator/driver/core/core.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDED = 256 }; /* findings that are told apart; a repeated one is counted */

/* ---- the trace --------------------------------------------------------------------------- */

static void fill_from_call(struct trace_record *record)
{
    record->request = thread.depth > 0 ? thread.call.request : 0;
    record->caller = call_place();
    record->start_ns = record->end_ns = thread.clock_ns;
    if (record->kind != TRACE_DESTROY) record->stack = stack_note(record->caller);
}

void trace_object(const struct object *object, enum trace_kind kind, enum trace_what what,
                  unsigned flags)
{
    struct trace_record record = {.kind = kind,
                                  .what = what,
                                  .flags = flags,
                                  .object = object->id,
                                  .context =
                                      object->context != NULL ? object->context->object.id : 0};
    if (what == TRACE_CONTEXT) record.context = object->id;
    if (what == TRACE_STREAM) record.stream = object->id;
    fill_from_call(&record);
    trace_put(driver.trace, &record);
}

static const enum trace_what memory_whats[MEMORY_KIND_COUNT] = {
    [MEMORY_DEVICE] = TRACE_DEVICE_MEMORY,
    [MEMORY_PINNED] = TRACE_PINNED_MEMORY,
    [MEMORY_MANAGED] = TRACE_MANAGED_MEMORY,
    [MEMORY_VARIABLE] = TRACE_DEVICE_MEMORY,
};

void trace_memory(const struct memory_region *region, enum trace_kind kind, unsigned flags)
{
    struct trace_record record = {.kind = kind,
                                  .what = memory_whats[region->kind],
                                  .flags = flags,
                                  .object = region->id,
                                  .context = region->context,
                                  .address = region->address,
                                  .bytes = region->size};
    fill_from_call(&record);
    trace_put(driver.trace, &record);
}

void finding_say(const char *sentence)
{
    const char *quiet = getenv("OVERLAP_QUIET");
    if (quiet == NULL || *quiet == '\0') fprintf(stderr, "overlap: %s\n", sentence);
}

/* The sentence without its numbers: what a loop meets again and again differs in those alone. */
static uint64_t hash_of_words(const char *sentence)
{
    uint64_t hash = 14695981039346656037u;
    for (const char *at = sentence; *at != '\0'; at++) {
        const bool begins = at == sentence || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        if (begins) at += strspn(at, "0123456789");
        if (begins && at[0] == 'x' && at > sentence) at += 1 + strspn(at + 1, "0123456789abcdef");
        if (*at == '\0') break;
        hash = (hash ^ (unsigned char)*at) * 1099511628211u;
    }
    return hash;
}

/* Puts a finding into the trace; or counts it, where the same was found at the same call. Returns
 * whether it is new. */
static bool put_once(const struct trace_record *record)
{
    static struct {
        uint64_t caller, *count;
        uint64_t words;
    } told[FOLDED];
    static size_t used;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const uint64_t words = hash_of_words(record->text);
    size_t i = 0;
    pthread_mutex_lock(&lock); /* the runtime's findings come without the driver's */
    while (i < used && (told[i].caller != record->caller || told[i].words != words)) i++;
    const bool known = i < used && record->caller != 0;
    if (known && told[i].count != NULL) ++*told[i].count;
    if (!known) {
        uint64_t *count = trace_put_counted(driver.trace, record);
        if (record->caller != 0 && used < FOLDED) {
            told[used].caller = record->caller;
            told[used].count = count;
            told[used++].words = words;
        }
    }
    pthread_mutex_unlock(&lock);
    return !known;
}

void finding_put(const struct trace_record *record)
{
    if (put_once(record)) finding_say(record->text);
}

void overlap_finding(const char *kind, int code, const char *sentence)
{
    struct trace_record record = {.kind = TRACE_FINDING, .code = code, .count = 1};
    fill_from_call(&record);
    record.context = thread.call.context;
    record.stream = thread.call.stream;
    trace_copy_string(record.name, sizeof record.name, kind);
    trace_copy_string(record.text, sizeof record.text, sentence);
    finding_put(&record);
}

void finding(const char *kind, CUresult code, const char *format, ...)
{
    char sentence[TRACE_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    overlap_finding(kind, (int)code, sentence);
}

/* ---- sentences --------------------------------------------------------------------------- */

static const char *const memory_names[MEMORY_KIND_COUNT] = {
    [MEMORY_DEVICE] = "device memory",
    [MEMORY_PINNED] = "pinned host memory",
    [MEMORY_MANAGED] = "managed memory",
    [MEMORY_VARIABLE] = "a module's variable",
};

struct counted count_bytes(uint64_t bytes)
{
    struct counted counted;
    snprintf(counted.text, sizeof counted.text, "%llu byte%s", (unsigned long long)bytes,
             bytes == 1 ? "" : "s");
    return counted;
}

void describe_life(uint64_t made, const char *making, uint64_t ended, const char *ending,
                   char *text, size_t size)
{
    int used = 0;
    if (size > 0) text[0] = '\0';
    if (made != 0)
        used = snprintf(text, size, ", %s by the call before 0x%llx", making,
                        (unsigned long long)made);
    if (ended != 0 && used >= 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, ", %s by the call before 0x%llx", ending,
                 (unsigned long long)ended);
}

void describe_region(const struct memory_region *region, char *text, size_t size)
{
    char life[128];
    describe_life(region->caller, "allocated", region->ended, "freed", life, sizeof life);
    snprintf(text, size, "%s (%s at 0x%llx%s)", memory_names[region->kind],
             count_bytes(region->size).text, (unsigned long long)region->address, life);
}

void describe_miss(uint64_t address, char *text, size_t size)
{
    const struct memory_miss_report report = memory_explain(address);
    const struct memory_region *near = &report.near;
    char life[128];
    switch (report.kind) {
    case MEMORY_MISS_NULL:
        snprintf(text, size, "a null pointer");
        return;
    case MEMORY_MISS_HOST:
        snprintf(text, size, "no device memory but a host address");
        return;
    case MEMORY_MISS_NOWHERE:
        snprintf(text, size, "in no allocation, though in the range of device addresses");
        return;
    case MEMORY_MISS_FREED:
        describe_life(near->caller, "allocated", near->ended, "freed", life, sizeof life);
        snprintf(text, size, "in %s of %s that has been freed%s", memory_names[near->kind],
                 count_bytes(near->size).text, life);
        return;
    case MEMORY_MISS_BEYOND:
        describe_life(near->caller, "allocated", 0, "", life, sizeof life);
        if (address < near->address)
            snprintf(text, size, "%s before %s of %s%s", count_bytes(near->address - address).text,
                     memory_names[near->kind], count_bytes(near->size).text, life);
        else
            snprintf(text, size, "%s past the end of %s of %s%s",
                     count_bytes(address - near->address - near->size).text,
                     memory_names[near->kind], count_bytes(near->size).text, life);
        return;
    }
}
