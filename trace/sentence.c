#include "trace/sentence.h"
#include "trace/unsupported.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PART_SIZE = 640 }; /* a call's place and the words around it */

struct sentence {
    const struct trace_record *record;
    const struct trace_places *places;
    char *text;
    size_t size, used;
};

/* Translates a phrase into the reader's language. */
__attribute__((format_arg(2))) static const char *in_words(const struct sentence *s,
                                                           const char *phrase)
{
    return s->places != NULL && s->places->words != NULL ? s->places->words(phrase) : phrase;
}

/* Every function that writes a field returns true if the finding has a value for it. */
__attribute__((format(printf, 2, 3))) static bool put(struct sentence *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(s->text + s->used, s->size - s->used, format, arguments);
    va_end(arguments);
    if (length > 0) s->used += (size_t)length;
    if (s->used > s->size - 1) s->used = s->size - 1;
    return true;
}

/* A part of a sentence that is written separately, since its position depends on the language. */
struct part {
    char text[PART_SIZE];
    struct sentence sentence;
};

static struct sentence *begin_part(const struct sentence *s, struct part *part)
{
    part->text[0] = '\0';
    part->sentence = (struct sentence){s->record, s->places, part->text, sizeof part->text, 0};
    return &part->sentence;
}

static bool put_bytes(struct sentence *s, uint64_t bytes)
{
    if (bytes == 1) return put(s, in_words(s, N_("%" PRIu64 " byte")), bytes);
    return put(s, in_words(s, N_("%" PRIu64 " bytes")), bytes);
}

static bool put_call(struct sentence *s, struct trace_call call)
{
    char where[512];
    if (s->places == NULL || s->places->place == NULL)
        return put(s, in_words(s, N_("the call before 0x%" PRIx64)), call.address);
    if (call.address == 0 || !s->places->place(&call, where, sizeof where, s->places->user))
        return put(s, "%s", in_words(s, N_("a call")));
    return put(s, in_words(s, N_("the call at %s")), where);
}

/* ---- sides ---------------------------------------------------------------------------------- */

static const struct trace_side *side_of(const struct sentence *s, int side)
{
    return &s->record->finding.sides[side];
}

static const char *name_of(const struct sentence *s, int side)
{
    return side == 0 ? s->record->name : trace_finding_word(&s->record->finding, WORD_OTHER_NAME);
}

static bool put_copy(struct sentence *s, int side)
{
    static const char *const copies[TRACE_PLACE_COUNT][TRACE_PLACE_COUNT] = {
        [TRACE_PAGEABLE][TRACE_DEVICE] = N_("copy to the device"),
        [TRACE_PINNED][TRACE_DEVICE] = N_("copy to the device"),
        [TRACE_DEVICE][TRACE_PAGEABLE] = N_("copy to the host"),
        [TRACE_DEVICE][TRACE_PINNED] = N_("copy to the host"),
        [TRACE_DEVICE][TRACE_DEVICE] = N_("copy from device to device"),
    };
    const char *copy = copies[side_of(s, side)->from][side_of(s, side)->to];
    return put(s, "%s", in_words(s, copy != NULL ? copy : N_("copy")));
}

static bool put_who(struct sentence *s, int side)
{
    const uint32_t what = side_of(s, side)->what;
    const char *library = name_of(s, side);
    struct part copy;
    switch (what) {
    case TRACE_KERNEL:
        return put(s, in_words(s, N_("kernel %s")), name_of(s, side));
    case TRACE_COPY:
        put_copy(begin_part(s, &copy), side);
        if (library[0] != '\0') return put(s, in_words(s, N_("the %s of %s")), copy.text, library);
        return put(s, in_words(s, N_("the %s")), copy.text);
    case TRACE_WHAT_NONE:
        if (name_of(s, side)[0] != '\0') return put(s, "%s", name_of(s, side));
        return put(s, "%s", in_words(s, N_("the host")));
    default:
        return put(s, in_words(s, N_("the %s")), in_words(s, trace_what_name(what)));
    }
}

/* Streams that are made in a loop have their call in common. */
static bool is_another_stream(const struct sentence *s, int side)
{
    const struct trace_finding *finding = &s->record->finding;
    return side == 1 && finding->sides[0].stream == STREAM_CREATED &&
           finding->sides[0].stream_call == finding->sides[1].stream_call &&
           s->record->stream != 0 && finding->other_stream != 0 &&
           s->record->stream != finding->other_stream;
}

static bool put_stream(struct sentence *s, int side)
{
    struct part call;
    if (side_of(s, side)->stream == STREAM_NONE) return false;
    if (side_of(s, side)->stream == STREAM_DEFAULT)
        return put(s, "%s", in_words(s, N_("in a default stream")));
    put_call(begin_part(s, &call),
             (struct trace_call){.address = side_of(s, side)->stream_call,
                                 .object = side == 0 ? s->record->stream
                                                     : s->record->finding.other_stream});
    return put(s,
               in_words(s, is_another_stream(s, side) ? N_("in another stream made by %s")
                                                      : N_("in the stream made by %s")),
               call.text);
}

static bool put_at(struct sentence *s, int side)
{
    const char *file =
        trace_finding_word(&s->record->finding, side == 0 ? WORD_FILE : WORD_OTHER_FILE);
    const char *base = strrchr(file, '/');
    if (*file == '\0' || side_of(s, side)->line == 0) return false;
    return put(s, "%s:%" PRIu32, base != NULL ? base + 1 : file, side_of(s, side)->line);
}

static bool put_where(struct sentence *s, int side)
{
    const bool has_stream = put_stream(s, side);
    struct part at;
    if (!put_at(begin_part(s, &at), side)) return has_stream;
    return put(s, in_words(s, has_stream ? N_(", at %s") : N_("at %s")), at.text);
}

static bool put_does(struct sentence *s, int side)
{
    static const char *const verbs[ACCESS_COUNT] = {"", N_("reads"), N_("writes"),
                                                    N_("changes atomically"), N_("frees")};
    return put(s, "%s", in_words(s, verbs[side_of(s, side)->access]));
}

static bool put_access(struct sentence *s, int side)
{
    static const char *const nouns[ACCESS_COUNT] = {N_("an access"), N_("a load"), N_("a store"),
                                                    N_("an atomic operation"), N_("a free")};
    const char *function = trace_finding_word(&s->record->finding, WORD_DETAIL);
    if (side_of(s, side)->access == ACCESS_ATOMIC && function[0] != '\0')
        return put(s, in_words(s, N_("an atomic operation (%s)")), function);
    return put(s, "%s", in_words(s, nouns[side_of(s, side)->access]));
}

static bool put_touched(struct sentence *s, int side)
{
    const bool writes = side_of(s, side)->access == ACCESS_WRITE;
    return put(s, "%s", in_words(s, writes ? N_("wrote to") : N_("read from")));
}

static bool put_thread(struct sentence *s, int side)
{
    const uint32_t *at = side_of(s, side)->thread;
    return side_of(s, side)->known &&
           put(s, in_words(s, N_("thread (%" PRIu32 ", %" PRIu32 ", %" PRIu32 ")")), at[0], at[1],
               at[2]);
}

static bool put_block(struct sentence *s, int side)
{
    const uint32_t *at = side_of(s, side)->block;
    return side_of(s, side)->known &&
           put(s, in_words(s, N_("block (%" PRIu32 ", %" PRIu32 ", %" PRIu32 ")")), at[0], at[1],
               at[2]);
}

/* The same form as in messages of device-side assertions. */
static bool put_indices(struct sentence *s, int side)
{
    const uint32_t *block = side_of(s, side)->block, *thread = side_of(s, side)->thread;
    return put(s,
               "block: [%" PRIu32 ",%" PRIu32 ",%" PRIu32 "], thread: [%" PRIu32 ",%" PRIu32
               ",%" PRIu32 "]",
               block[0], block[1], block[2], thread[0], thread[1], thread[2]);
}

static bool put_role(struct sentence *s, int side)
{
    static const char *const roles[ROLE_COUNT] = {"", N_("source"), N_("destination"), N_("first"),
                                                  N_("second")};
    return put(s, "%s", in_words(s, roles[side_of(s, side)->role]));
}

static bool put_side_call(struct sentence *s, int side)
{
    const struct trace_side *of = side_of(s, side);
    return of->call != 0 &&
           put_call(s, (struct trace_call){.address = of->call, .stack = of->stack});
}

/* ---- objects and memory ------------------------------------------------------------------------
 */

static const char *const thing_names[THING_COUNT] = {
    [THING_CONTEXT] = N_("context"),
    [THING_STREAM] = N_("stream"),
    [THING_EVENT] = N_("event"),
    [THING_MODULE] = N_("module"),
    [THING_FUNCTION] = N_("function"),
    [THING_LIBRARY] = N_("library"),
    [THING_KERNEL] = N_("kernel"),
    [THING_POOL] = N_("memory pool"),
    [THING_GRAPH] = N_("graph"),
    [THING_GRAPH_NODE] = N_("graph node"),
    [THING_GRAPH_EXEC] = N_("executable graph"),
    [THING_USER] = N_("user object"),
    [THING_LINK] = N_("linker's state"),
    [THING_ARRAY] = N_("CUDA array"),
    [THING_TEXTURE] = N_("texture or surface"),
    [THING_ALLOCATION] = N_("physical allocation"),
    [THING_DEVICE_MEMORY] = N_("device memory"),
    [THING_PINNED_MEMORY] = N_("pinned host memory"),
    [THING_MANAGED_MEMORY] = N_("managed memory"),
    [THING_VARIABLE] = N_("a module's variable"),
    [THING_HOST_MEMORY] = N_("the host's own memory"),
    [THING_QUEUE] = N_("command queue"),
    [THING_BUFFER] = N_("buffer"),
    [THING_PROGRAM] = N_("program"),
    [THING_NONE] = N_("nothing that is known"),
};

static const struct trace_thing *thing_of(const struct sentence *s, int thing)
{
    return &s->record->finding.things[thing];
}

static const char *name_of_thing(const struct sentence *s, const struct trace_thing *thing)
{
    return in_words(s, thing_names[thing->kind]);
}

/* `making` and `ending` are formats with a call as their argument; NULL: not mentioned. */
static void put_life(struct sentence *s, const struct trace_thing *thing, const char *making,
                     const char *ending)
{
    const struct {
        struct trace_call call;
        const char *format;
    } ends[] = {{{.address = thing->made, .object = thing->id}, making},
                {{.address = thing->ended, .object = thing->id, .ended = true}, ending}};

    for (size_t i = 0; i < 2; i++) {
        struct part call;
        if (ends[i].format == NULL || ends[i].call.address == 0) continue;
        put_call(begin_part(s, &call), ends[i].call);
        put(s, "%s%s", in_words(s, ends[i].format), call.text);
    }
}

static bool put_memory(struct sentence *s, int which)
{
    const struct trace_thing *thing = thing_of(s, which);
    struct part bytes;
    if (thing->kind == THING_HOST_MEMORY || thing->kind == THING_NONE)
        return put(s, "%s", name_of_thing(s, thing));
    put_bytes(begin_part(s, &bytes), thing->size);
    put(s, in_words(s, N_("%s (%s at 0x%" PRIx64)), name_of_thing(s, thing), bytes.text,
        thing->address);
    put_life(s, thing, N_(", allocated by "), N_(", freed by "));
    return put(s, "%s", in_words(s, N_(")")));
}

/* Memory near the address, or memory freed before the access. */
static bool put_near(struct sentence *s, const struct trace_thing *near)
{
    const uint64_t address = s->record->address;
    struct part size, distance;

    put_bytes(begin_part(s, &size), near->size);
    if (near->relation == RELATION_FREED) {
        put(s, in_words(s, N_("in %s of %s that has been freed")), name_of_thing(s, near),
            size.text);
    } else if (address < near->address) {
        put_bytes(begin_part(s, &distance), near->address - address);
        put(s, in_words(s, N_("%s before %s of %s")), distance.text, name_of_thing(s, near),
            size.text);
    } else {
        put_bytes(begin_part(s, &distance), address - near->address - near->size);
        put(s, in_words(s, N_("%s past the end of %s of %s")), distance.text,
            name_of_thing(s, near), size.text);
    }
    put_life(s, near, N_(", allocated by "),
             near->relation == RELATION_FREED ? N_(", freed by ") : NULL);
    return true;
}

/* Describes what the record's address points to. */
static bool put_place(struct sentence *s, int which)
{
    const struct trace_thing *thing = thing_of(s, which);
    const bool by_kernel = side_of(s, 0)->what == TRACE_KERNEL;
    struct part memory;
    switch (thing->relation) {
    case RELATION_NULL:
        return put(s, "%s",
                   in_words(s, by_kernel ? N_("a null pointer, or an index added to one")
                                         : N_("a null pointer")));
    case RELATION_HOST:
        return put(s, "%s",
                   in_words(s, by_kernel ? N_("ordinary host memory, which a kernel cannot reach "
                                              "(copy the data first), or an uninitialised pointer")
                                         : N_("ordinary host memory")));
    case RELATION_NOWHERE:
        return put(s, "%s",
                   in_words(s, N_("in no allocation, though in the range of device addresses")));
    case RELATION_FREED:
    case RELATION_OUTSIDE:
        return put_near(s, thing);
    default:
        if (!by_kernel) return put_memory(s, which);
        put_memory(begin_part(s, &memory), which);
        return put(s, in_words(s, N_("past the end of %s")), memory.text);
    }
}

static bool put_object(struct sentence *s, int which)
{
    const struct trace_thing *thing = thing_of(s, which);
    put(s, in_words(s, thing->made != 0 ? N_("the %s %" PRIu64) : N_("the default %s %" PRIu64)),
        name_of_thing(s, thing), thing->id);
    put_life(s, thing, N_(", created by "), N_(", destroyed by "));
    return true;
}

static bool put_kind(struct sentence *s, int which)
{
    const struct trace_thing *thing = thing_of(s, which);
    const bool vowel = strchr("aeio", thing_names[thing->kind][0]) != NULL;
    return put(s, in_words(s, vowel ? N_("an %s") : N_("a %s")), name_of_thing(s, thing));
}

/* ---- other fields ------------------------------------------------------------------------------
 */

/* A wait: the call's name and its place. The thing's `made` field holds the call. */
static bool put_wait(struct sentence *s, int which)
{
    if (thing_of(s, which)->made == 0) return false;
    put(s, "%s, ", trace_finding_word(&s->record->finding, WORD_DETAIL));
    return put_call(s, (struct trace_call){.address = thing_of(s, which)->made});
}

static bool put_number(struct sentence *s, int which)
{
    return put(s, "%" PRIu64, s->record->finding.numbers[which]);
}

/* Other forms of a number: hexadecimal, signed, an axis of a grid; and whether it is not 0, without
 * printing it. */
static bool put_hex(struct sentence *s, int which)
{
    return put(s, "0x%" PRIx64, s->record->finding.numbers[which]);
}

static bool put_signed(struct sentence *s, int which)
{
    return put(s, "%" PRId64, (int64_t)s->record->finding.numbers[which]);
}

static bool put_axis(struct sentence *s, int which)
{
    return put(s, "%c", "xyz"[s->record->finding.numbers[which] % 3]);
}

static bool put_condition(struct sentence *s, int which)
{
    return s->record->finding.numbers[which] != 0;
}

/* Writes "64 of 128 threads wait at the barrier on line 21, 32 at the warp barrier on line 25; 32
 * have exited": n0 is the number of threads, n1 of them have exited. */
static bool put_waiters(struct sentence *s, int unused)
{
    static const char *const barriers[WAITS_COUNT] = {N_("barrier"), N_("warp barrier"),
                                                      N_("cluster barrier"), N_("barrier object")};
    const struct trace_finding *finding = &s->record->finding;
    (void)unused;
    for (int i = 0; i < TRACE_WAITERS && finding->waiters[i].threads != 0; i++) {
        const struct trace_waiters *of = &finding->waiters[i];
        const char *barrier = in_words(s, barriers[of->where]);
        if (i == 0)
            put(s, in_words(s, N_("%d of %" PRIu64 " threads wait at the %s on line %" PRIu32)),
                of->threads, finding->numbers[0], barrier, of->line);
        else
            put(s, in_words(s, N_(", %d at the %s on line %" PRIu32)), of->threads, barrier,
                of->line);
    }
    if (finding->waiters[0].threads == 0) return false;
    if (finding->numbers[1] != 0)
        put(s, in_words(s, N_("; %" PRIu64 " have exited")), finding->numbers[1]);
    return true;
}

static bool put_word(struct sentence *s, int which)
{
    const char *word = trace_finding_word(&s->record->finding, (enum trace_word)which);
    put(s, "%s", word);
    return word[0] != '\0';
}

static bool put_name(struct sentence *s, int unused)
{
    (void)unused;
    return put(s, "%s", s->record->name);
}

static bool put_size(struct sentence *s, int unused)
{
    (void)unused;
    return put_bytes(s, s->record->bytes);
}

static bool put_address(struct sentence *s, int unused)
{
    (void)unused;
    return put(s, "0x%" PRIx64, s->record->address);
}

static bool put_code(struct sentence *s, int unused)
{
    (void)unused;
    return put(s, "%" PRId32, s->record->code);
}

/* Writes why the device does not execute an instruction. */
static bool put_unsupported(struct sentence *s, int which)
{
    static const char *const reasons[UNSUPPORTED_COUNT] = {
#define UNSUPPORTED(id, reason) [UNSUPPORTED_##id] = reason,
#include "trace/unsupported.def"
#undef UNSUPPORTED
    };
    const uint64_t why = s->record->finding.numbers[which];
    return why < UNSUPPORTED_COUNT && put(s, "%s", in_words(s, reasons[why]));
}

static const struct field {
    const char *name;
    bool (*put)(struct sentence *s, int which);
    int which;
} fields[] = {
    {"this", put_who, 0},                /* kernel add; the memset; cudaFree; the host */
    {"other", put_who, 1},               /* */
    {"this.copy", put_copy, 0},          /* copy to the device */
    {"this.where", put_where, 0},        /* in the stream made by the call at FILE:LINE, at ... */
    {"other.where", put_where, 1},       /* */
    {"this.stream", put_stream, 0},      /* in a default stream */
    {"this.at", put_at, 0},              /* add.cu:12, device code */
    {"other.at", put_at, 1},             /* */
    {"this.does", put_does, 0},          /* reads */
    {"other.does", put_does, 1},         /* */
    {"this.access", put_access, 0},      /* a load; an atomic operation (atomicAdd) */
    {"this.touched", put_touched, 0},    /* read from */
    {"this.thread", put_thread, 0},      /* thread (1, 2, 3) */
    {"other.thread", put_thread, 1},     /* */
    {"this.block", put_block, 0},        /* block (1, 2, 3) */
    {"other.block", put_block, 1},       /* */
    {"this.indices", put_indices, 0},    /* block: [1,0,0], thread: [2,0,0] */
    {"this.role", put_role, 0},          /* source */
    {"other.call", put_side_call, 1},    /* the call at FILE:LINE */
    {"memory", put_memory, 0},           /* device memory (4 bytes at 0x..., allocated by ...) */
    {"place", put_place, 0},             /* 4 bytes past the end of ...; a null pointer */
    {"object", put_object, 0},           /* the stream 3, created by ..., destroyed by ... */
    {"second", put_object, 1},           /* */
    {"third", put_object, 2},            /* */
    {"second.kind", put_kind, 1},        /* an event */
    {"wait", put_wait, 1},               /* cudaFree, the call at FILE:LINE */
    {"bytes", put_size, 0},              /* 1 byte */
    {"address", put_address, 0},         /* 0x7f0012340000 */
    {"code", put_code, 0},               /* 700 */
    {"name", put_name, 0},               /* the record's */
    {"file", put_word, WORD_FILE},       /* */
    {"said", put_word, WORD_OTHER_NAME}, /* by the program: an assertion's text */
    {"detail", put_word, WORD_DETAIL},   /* a name, or what another program has said */
    {"unsupported", put_unsupported, 0}, /* the device has no such comparison */
    {"waiters", put_waiters, 0},         /* 64 of 128 threads wait at the barrier on line 21 */
#define NUMBER(digit)                                                                              \
    {"n" #digit, put_number, digit}, {"x" #digit, put_hex, digit},                                 \
        {"i" #digit, put_signed, digit}, {"axis" #digit, put_axis, digit},                         \
    {                                                                                              \
        "if" #digit, put_condition, digit                                                          \
    }
    /* 16, 0x10, -16, y; and no text, only whether the number is not 0 */
    NUMBER(0),
    NUMBER(1),
    NUMBER(2),
    NUMBER(3),
    NUMBER(4),
    NUMBER(5),
    NUMBER(6),
    NUMBER(7),
    NUMBER(8),
#undef NUMBER
};

static const char *const templates[FINDING_COUNT] = {
#define KIND(id, name, checker, why, hint)
#define FINDING(id, kind, sentence) [FINDING_##id] = sentence,
#include "trace/findings.def"
#undef FINDING
#undef KIND
};

/* Writes the field whose name begins at `at` and has `length` characters. */
static bool put_field(struct sentence *s, const char *at, size_t length)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strlen(fields[i].name) == length && memcmp(fields[i].name, at, length) == 0)
            return fields[i].put(s, fields[i].which);
    return put(s, "{%.*s}", (int)length, at); /* a mistake in the row; the golden list shows it */
}

/* Writes up to one of the characters in `ends`, and returns its position. *whole becomes false if a
 * field has no value. */
static const char *put_until(struct sentence *s, const char *at, const char *ends, bool *whole)
{
    *whole = true;
    while (*at != '\0' && strchr(ends, *at) == NULL) {
        if (*at == '{') {
            const size_t length = strcspn(at + 1, "}");
            if (!put_field(s, at + 1, length)) *whole = false;
            at += length + 2;
        } else {
            const size_t length = 1 + strcspn(at + 1, "{[|]");
            put(s, "%.*s", (int)length, at);
            at += length;
        }
    }
    return at;
}

/* Writes "[first|instead]", beginning behind the opening bracket. Returns the position behind
 * it. */
static const char *put_option(struct sentence *s, const char *at)
{
    const size_t before = s->used;
    bool whole, unused;
    at = put_until(s, at, "|]", &whole);
    if (!whole) s->used = before;
    if (*at == '|') {
        const size_t first = s->used;
        at = put_until(s, at + 1, "]", &unused);
        if (whole) s->used = first;
    }
    s->text[s->used] = '\0';
    return *at == ']' ? at + 1 : at;
}

void trace_sentence(const struct trace_record *record, const struct trace_places *places,
                    char *text, size_t size)
{
    struct sentence s = {record, places, text, size, 0};
    const char *at = trace_has_finding(record) && record->finding.id < FINDING_COUNT
                         ? in_words(&s, templates[record->finding.id])
                         : NULL;
    bool unused;
    if (size == 0) return;
    text[0] = '\0';
    while (at != NULL && *at != '\0') {
        at = put_until(&s, at, "[", &unused);
        if (*at == '[') at = put_option(&s, at + 1);
    }
}

bool trace_finding_place(const struct trace_record *record, bool brief, char *text, size_t size)
{
    const char *file = trace_finding_word(&record->finding, WORD_FILE);
    const char *base = strrchr(file, '/');
    if (!trace_has_finding(record) || *file == '\0' || record->finding.sides[0].line == 0)
        return false;
    snprintf(text, size, "%s:%" PRIu32, brief && base != NULL ? base + 1 : file,
             record->finding.sides[0].line);
    return true;
}
