#include "trace/trace.h"

#include <string.h>

static const struct trace_finding_kind kinds[FINDING_KIND_COUNT] = {
#define KIND(id, name, checker, why, hint) [FINDING_KIND_##id] = {name, checker, why, hint},
#define FINDING(id, kind, sentence)
#include "trace/findings.def"
#undef FINDING
#undef KIND
};

static const enum trace_finding_kind_id kind_of[FINDING_COUNT] = {
#define KIND(id, name, checker, why, hint)
#define FINDING(id, kind, sentence) [FINDING_##id] = FINDING_KIND_##kind,
#include "trace/findings.def"
#undef FINDING
#undef KIND
};

static const char *const hints[FINDING_COUNT] = {
#define KIND(id, name, checker, why, hint)
#define FINDING(id, kind, sentence)
#define FINDING_HINT(id, hint) [FINDING_##id] = hint,
#include "trace/findings.def"
#undef FINDING
#undef KIND
};

enum trace_finding_kind_id trace_finding_kind_of(enum trace_finding_id id)
{
    return (unsigned)id < FINDING_COUNT ? kind_of[id] : 0;
}

const struct trace_finding_kind *trace_finding_kind_at(enum trace_finding_kind_id kind)
{
    return &kinds[(unsigned)kind < FINDING_KIND_COUNT ? kind : 0];
}

bool trace_has_finding(const struct trace_record *record)
{
    return record->kind == TRACE_FINDING || record->kind == TRACE_ADVICE;
}

bool trace_finding_is_advice(enum trace_finding_id id)
{
    return strcmp(kinds[trace_finding_kind_of(id)].checker, "advice") == 0;
}

const struct trace_finding_kind *trace_finding_kind(const struct trace_record *record)
{
    const bool is_one = trace_has_finding(record);
    return trace_finding_kind_at(is_one ? trace_finding_kind_of(record->finding.id) : 0);
}

const char *trace_finding_hint(const struct trace_record *record)
{
    const enum trace_finding_id id = trace_has_finding(record) ? record->finding.id : 0;
    const char *own = (unsigned)id < FINDING_COUNT ? hints[id] : NULL;
    return own != NULL ? own : trace_finding_kind(record)->hint;
}

/* ---- words -------------------------------------------------------------------------------- */

const char *trace_finding_word(const struct trace_finding *finding, enum trace_word word)
{
    const char *at = finding->words, *end = finding->words + sizeof finding->words;
    for (int i = 0; i < (int)word && at < end; i++) at += strnlen(at, (size_t)(end - at)) + 1;
    return at < end ? at : "";
}

void trace_finding_word_set(struct trace_finding *finding, enum trace_word word, const char *text)
{
    char words[TRACE_WORDS_SIZE] = "";
    size_t used = 0;
    for (int i = 0; i < WORD_COUNT; i++) {
        const char *from = i == (int)word ? text : trace_finding_word(finding, (enum trace_word)i);
        /* The words behind it need at least their terminators. */
        trace_copy_string(words + used, sizeof words - used - (size_t)(WORD_COUNT - 1 - i), from);
        used += strlen(words + used) + 1;
    }
    memcpy(finding->words, words, sizeof words);
}

/* ---- reading ------------------------------------------------------------------------------ */

bool trace_finding_is_sound(struct trace_finding *finding)
{
    if (finding->id == FINDING_NONE || finding->id >= FINDING_COUNT) return false;
    for (int i = 0; i < TRACE_SIDES; i++) {
        const struct trace_side *side = &finding->sides[i];
        if (side->what >= TRACE_WHAT_COUNT || side->from >= TRACE_PLACE_COUNT ||
            side->to >= TRACE_PLACE_COUNT || side->access >= ACCESS_COUNT ||
            side->role >= ROLE_COUNT || side->stream >= STREAM_COUNT || side->known > 1)
            return false;
    }
    for (int i = 0; i < TRACE_THINGS; i++)
        if (finding->things[i].kind >= THING_COUNT || finding->things[i].relation >= RELATION_COUNT)
            return false;
    for (int i = 0; i < TRACE_WAITERS; i++)
        if (finding->waiters[i].where >= WAITS_COUNT) return false;
    finding->words[sizeof finding->words - 1] = '\0';
    return true;
}

size_t trace_finding_calls(const struct trace_record *record, struct trace_call calls[TRACE_CALLS])
{
    const struct trace_finding *finding = &record->finding;
    size_t count = 0;
    if (!trace_has_finding(record)) return 0;
    calls[count++] = (struct trace_call){finding->sides[1].call, finding->sides[1].stack, 0, false};
    for (int i = 0; i < TRACE_THINGS; i++) {
        const struct trace_thing *thing = &finding->things[i];
        calls[count++] = (struct trace_call){thing->made, 0, thing->id, false};
        calls[count++] = (struct trace_call){thing->ended, 0, thing->id, true};
    }
    for (int i = 0; i < TRACE_SIDES; i++)
        calls[count++] =
            (struct trace_call){finding->sides[i].stream_call, 0,
                                i == 0 ? record->stream : finding->other_stream, false};
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (calls[i].address != 0) calls[kept++] = calls[i];
    return kept;
}
