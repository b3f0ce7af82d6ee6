#include "emulator/driver/findings/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "emulator/base/name.h"
#include "emulator/driver/findings/quote.h"
#include "trace/fold.h"
#include "trace/sentence.h"

enum { TOLD = 1024 }; /* distinct findings kept; later ones are reported every time */

/* ---- the sides ------------------------------------------------------------------------------ */

static struct trace_record begin(enum trace_finding_id id)
{
    struct trace_record found = {.kind = trace_finding_is_advice(id) ? TRACE_ADVICE : TRACE_FINDING,
                                 .count = 1};
    found.finding.id = id;
    return found;
}

struct trace_record finding_at_call(enum trace_finding_id id, CUresult code)
{
    struct trace_record found = begin(id);
    found.code = (int32_t)code;
    found.context = thread.call.context;
    found.stream = thread.call.stream;
    trace_at_call(&found);
    return found;
}

/* Fills in a side from an operation's record. */
static void side_of_work(struct trace_side *side, const struct trace_record *work,
                         uint64_t stream_call)
{
    side->what = (uint8_t)work->what;
    side->from = (uint8_t)work->from;
    side->to = (uint8_t)work->to;
    side->call = work->caller;
    side->stack = work->stack;
    side->stream = work->stream == 0  ? STREAM_NONE
                   : stream_call == 0 ? STREAM_DEFAULT
                                      : STREAM_CREATED;
    side->stream_call = work->stream != 0 ? stream_call : 0;
}

/* Writes the operation's name; a kernel's as in its source, without mangling. */
static void name_of_work(const struct trace_record *work, char name[TRACE_NAME_SIZE])
{
    if (work->what == TRACE_KERNEL)
        name_plain(work->name, name, TRACE_NAME_SIZE);
    else
        trace_copy_string(name, TRACE_NAME_SIZE, work->name);
}

struct trace_record finding_at_work(enum trace_finding_id id, const struct trace_record *work,
                                    uint64_t stream_call)
{
    struct trace_record found = begin(id);
    found.context = work->context;
    found.stream = work->stream;
    found.request = work->request;
    found.caller = work->caller;
    found.stack = work->stack;
    side_of_work(&found.finding.sides[0], work, stream_call);
    name_of_work(work, found.name);
    return found;
}

void finding_other(struct trace_record *found, const struct trace_record *work,
                   uint64_t stream_call)
{
    char name[TRACE_NAME_SIZE];
    side_of_work(&found->finding.sides[1], work, stream_call);
    found->finding.other_stream = (uint32_t)work->stream;
    name_of_work(work, name);
    trace_finding_word_set(&found->finding, WORD_OTHER_NAME, name);
}

void finding_other_call(struct trace_record *found)
{
    char name[TRACE_NAME_SIZE];
    if (thread.depth == 0) return;
    call_plain_name(name, sizeof name, thread.call.name);
    trace_finding_word_set(&found->finding, WORD_OTHER_NAME, name);
    found->finding.sides[1].call = (uint64_t)(uintptr_t)thread.call.caller;
    found->finding.sides[1].stack = stack_note(found->finding.sides[1].call);
}

void finding_of_fault(struct trace_record *found, const struct trace_finding *fault)
{
    struct trace_side *side = &found->finding.sides[0];
    const struct trace_side *of = &fault->sides[0];
    side->access = of->access;
    side->known = of->known;
    side->line = of->line;
    memcpy(side->block, of->block, sizeof side->block);
    memcpy(side->thread, of->thread, sizeof side->thread);
    memcpy(found->finding.numbers, fault->numbers, sizeof found->finding.numbers);
    memcpy(found->finding.waiters, fault->waiters, sizeof found->finding.waiters);
    memcpy(found->finding.words, fault->words, sizeof found->finding.words);
}

void finding_line(struct trace_record *found, int side, const char *file, uint32_t line)
{
    if (file == NULL || line == 0) return;
    found->finding.sides[side].line = line;
    trace_finding_word_set(&found->finding, side == 0 ? WORD_FILE : WORD_OTHER_FILE, file);
}

/* ---- the things ----------------------------------------------------------------------------- */

void finding_kind(struct trace_record *found, int thing, enum object_kind kind)
{
    _Static_assert(THING_CONTEXT == OBJECT_CONTEXT + 1 && THING_GRAPH == OBJECT_GRAPH + 1 &&
                       THING_ALLOCATION == OBJECT_ALLOCATION + 1 &&
                       (int)THING_DEVICE_MEMORY == (int)OBJECT_KIND_COUNT + 1,
                   "the same kinds in the same order");
    found->finding.things[thing].kind = (uint32_t)kind + 1;
}

void finding_object(struct trace_record *found, int thing, const struct object *object)
{
    finding_kind(found, thing, object->kind);
    found->finding.things[thing].id = object->id;
    found->finding.things[thing].made = object->caller;
    found->finding.things[thing].ended = object->ended;
}

void finding_memory(struct trace_record *found, int thing, const struct memory_region *region)
{
    static const enum trace_thing_kind kinds[MEMORY_KIND_COUNT] = {
        [MEMORY_DEVICE] = THING_DEVICE_MEMORY,
        [MEMORY_PINNED] = THING_PINNED_MEMORY,
        [MEMORY_MANAGED] = THING_MANAGED_MEMORY,
        [MEMORY_VARIABLE] = THING_VARIABLE,
    };
    struct trace_thing *memory = &found->finding.things[thing];
    memory->kind = THING_HOST_MEMORY;
    if (region == NULL) return;
    *memory = (struct trace_thing){.kind = kinds[region->kind],
                                   .id = region->id,
                                   .address = region->address,
                                   .size = region->size,
                                   .made = region->caller,
                                   .ended = region->ended};
    if (thing == 0) found->object = region->id;
}

void finding_address(struct trace_record *found, uint64_t address)
{
    static const enum trace_relation relations[] = {
        [MEMORY_MISS_NULL] = RELATION_NULL,       [MEMORY_MISS_HOST] = RELATION_HOST,
        [MEMORY_MISS_NOWHERE] = RELATION_NOWHERE, [MEMORY_MISS_FREED] = RELATION_FREED,
        [MEMORY_MISS_BEYOND] = RELATION_OUTSIDE,
    };
    const struct memory_region *region = memory_find(address);
    found->address = address;
    if (region != NULL) {
        finding_memory(found, 0, region);
        return;
    }
    const struct memory_miss_report report = memory_explain(address);
    if (report.kind == MEMORY_MISS_FREED || report.kind == MEMORY_MISS_BEYOND)
        finding_memory(found, 0, &report.near);
    found->object = 0;
    found->finding.things[0].relation = relations[report.kind];
}

static void set_detail(struct trace_record *found, const char *format, va_list arguments)
{
    char detail[TRACE_WORDS_SIZE];
    vsnprintf(detail, sizeof detail, format, arguments);
    trace_finding_word_set(&found->finding, WORD_DETAIL, detail);
}

void finding_detail(struct trace_record *found, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_detail(found, format, arguments);
    va_end(arguments);
}

/* ---- reporting ------------------------------------------------------------------------------- */

static void say(const struct trace_record *found)
{
    char sentence[TRACE_SENTENCE_SIZE], place[TRACE_WORDS_SIZE + 16];
    if (device_is_quiet()) return;
    trace_sentence(found, NULL, sentence, sizeof sentence);
    if (trace_finding_place(found, false, place, sizeof place))
        device_say("%s: %s", place, sentence);
    else
        device_say("%s", sentence);
}

/* Records the finding, or counts it if it is known. Returns true if it is new. */
static bool put_once(const struct trace_record *found)
{
    static struct {
        struct trace_record found;
        uint64_t *count; /* in the trace; NULL: the trace keeps no findings, or is full */
    } told[TOLD];
    static size_t used;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    size_t i = 0;
    pthread_mutex_lock(&lock); /* findings of the runtime come without the driver's lock */
    while (i < used && !trace_finding_repeats(&told[i].found, found)) i++;
    const bool known = i < used;
    if (known && told[i].count != NULL) *told[i].count += found->count;
    if (!known) {
        uint64_t *count = trace_put_counted(driver.trace, found);
        if (used < TOLD) {
            told[used].found = *found;
            told[used++].count = count;
        }
    }
    pthread_mutex_unlock(&lock);
    return !known;
}

void finding_put(const struct trace_record *found)
{
    if (found->kind == TRACE_ADVICE && !environment()->advises) return;
    if (!put_once(found)) return;
    quote_put(found);
    say(found);
}

CUresult finding_tell(enum trace_finding_id id, CUresult code, const char *format, ...)
{
    struct trace_record found = finding_at_call(id, code);
    va_list arguments;
    va_start(arguments, format);
    set_detail(&found, format, arguments);
    va_end(arguments);
    finding_put(&found);
    return code;
}

CUresult finding_unsupported(const char *format, ...)
{
    struct trace_record found = finding_at_call(FINDING_UNSUPPORTED, CUDA_ERROR_NOT_SUPPORTED);
    va_list arguments;
    va_start(arguments, format);
    set_detail(&found, format, arguments);
    va_end(arguments);
    finding_put(&found);
    return CUDA_ERROR_NOT_SUPPORTED;
}
