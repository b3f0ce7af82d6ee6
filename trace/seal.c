#include "trace/seal.h"

#include <string.h>

/* ---- SipHash-1-3 of whole words -------------------------------------------------------------- */

struct state {
    uint64_t v[4];
};

static uint64_t rotate(uint64_t value, unsigned by)
{
    return value << by | value >> (64 - by);
}

static void turn(struct state *s)
{
    s->v[0] += s->v[1], s->v[1] = rotate(s->v[1], 13) ^ s->v[0], s->v[0] = rotate(s->v[0], 32);
    s->v[2] += s->v[3], s->v[3] = rotate(s->v[3], 16) ^ s->v[2];
    s->v[0] += s->v[3], s->v[3] = rotate(s->v[3], 21) ^ s->v[0];
    s->v[2] += s->v[1], s->v[1] = rotate(s->v[1], 17) ^ s->v[2], s->v[2] = rotate(s->v[2], 32);
}

static void take(struct state *s, uint64_t word)
{
    s->v[3] ^= word;
    turn(s);
    s->v[0] ^= word;
}

static uint64_t code_of(const struct trace_key *key, const struct trace_record *record,
                        uint64_t place)
{
    struct state s = {{key->half[0] ^ 0x736f6d6570736575, key->half[1] ^ 0x646f72616e646f6d,
                       key->half[0] ^ 0x6c7967656e657261, key->half[1] ^ 0x7465646279746573}};
    uint64_t word;

    _Static_assert(sizeof *record % sizeof word == 0, "whole words");
    take(&s, place);
    for (size_t at = 0; at < sizeof *record; at += sizeof word) {
        memcpy(&word, (const char *)record + at, sizeof word);
        take(&s, word);
    }
    s.v[2] ^= 0xff;
    for (int i = 0; i < 3; i++) turn(&s);
    return s.v[0] ^ s.v[1] ^ s.v[2] ^ s.v[3];
}

/* ---- sums ------------------------------------------------------------------------------------ */

void trace_sums_add(struct trace_sums *sums, const struct trace_key *key,
                    const struct trace_record *record, uint64_t place)
{
    struct trace_record counted = *record;
    /* The count of other kinds may be raised after the record was put (trace_put_counted). */
    if (record->kind != TRACE_OPERATION && record->kind != TRACE_CALL) counted.count = 0;
    sums->records++;
    sums->code += code_of(key, &counted, place);
    if (record->kind != TRACE_OPERATION || record->what >= TRACE_WHAT_COUNT) return;
    sums->operations[record->what]++;
    sums->bytes += record->bytes;
}

bool trace_sums_equal(const struct trace_sums *a, const struct trace_sums *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* ---- seals ----------------------------------------------------------------------------------- */

_Static_assert(sizeof(struct trace_sums) <= TRACE_TEXT_SIZE, "sums fit into a record");

struct trace_record trace_seal_make(const struct trace_sums *sums)
{
    struct trace_record seal = {.kind = TRACE_SEAL};
    memcpy(seal.text, sums, sizeof *sums);
    return seal;
}

uint64_t trace_seal_code(const struct trace_key *key, const struct trace_record *seal,
                         uint64_t place)
{
    struct trace_record without = *seal;
    without.address = 0;
    return code_of(key, &without, place);
}

bool trace_seal_take(struct trace_sums *sums, const struct trace_key *key,
                     const struct trace_record *seal, uint64_t place)
{
    struct trace_sums more;
    if (seal->address != trace_seal_code(key, seal, place)) return false;
    memcpy(&more, seal->text, sizeof more);
    sums->records += more.records;
    sums->code += more.code;
    sums->bytes += more.bytes;
    for (int i = 0; i < TRACE_WHAT_COUNT; i++) sums->operations[i] += more.operations[i];
    return true;
}

bool trace_key_read(struct trace_key *key, const char *text)
{
    static const char digits[] = "0123456789abcdef";
    if (strlen(text) != 32 || strspn(text, digits) != 32) return false;
    *key = (struct trace_key){{0}};
    for (int i = 0; i < 32; i++)
        key->half[i / 16] = key->half[i / 16] << 4 | (uint64_t)(strchr(digits, text[i]) - digits);
    return true;
}
