/* Loads and stores of every type, vector, register width and state space; atomic operations on a
 * thread's own word (result and memory) and on contended words (memory, where it does not depend on
 * the order). */
#include "tests/differential/differential.h"

#include <stdio.h>
#include <string.h>

enum { THREADS = 64, BLOCKS = 2, REGION = 64 }; /* REGION: bytes of memory per thread */

/* ---- loads and stores --------------------------------------------------------------------------
 */

static const struct {
    const char *text;
    unsigned bits;
    bool widens; /* the register may be wider */
} types[] = {{"b8", 8, true},    {"u8", 8, true},    {"s8", 8, true},    {"b16", 16, true},
             {"u16", 16, true},  {"s16", 16, true},  {"b32", 32, true},  {"u32", 32, true},
             {"s32", 32, true},  {"f32", 32, false}, {"b64", 64, false}, {"u64", 64, false},
             {"s64", 64, false}, {"f64", 64, false}};

/* The memory's place, and the instruction's name for it. */
static const struct {
    const char *name, *space; /* in the case's name; in the instruction */
    char where;               /* g global, s shared, l local, c constant */
    bool generic;
} spaces[] = {{"global", ".global", 'g', false},
              {"shared", ".shared", 's', false},
              {"local", ".local", 'l', false},
              {"const", ".const", 'c', false},
              {"ggeneric", "", 'g', true},
              {"sgeneric", "", 's', true},
              {"lgeneric", "", 'l', true},
              {"volatile", ".volatile.global", 'g', false},
              {"svolatile", ".volatile.shared", 's', false},
              {"nc", ".global.nc", 'g', false},
              {"relaxed", ".relaxed.gpu.global", 'g', false}};

/* The fields of a case's number: 5 bits of type, 2 of vector, 7 of register width / 8, 4 of space,
 * 1 store. */
struct access {
    unsigned type, vector, width, space;
    bool store;
};

static uint32_t pack(const struct access *access)
{
    return access->type | access->vector << 5 | access->width / 8 << 8 | access->space << 16 |
           (uint32_t)access->store << 24;
}

static struct access unpack(uint32_t number)
{
    return (struct access){.type = number & 31,
                           .vector = number >> 5 & 7,
                           .width = (number >> 8 & 255) * 8,
                           .space = number >> 16 & 255,
                           .store = number >> 24};
}

static void registers(struct diff_text *text)
{
    diff_add(text, ".reg .b64 %%in, %%out, %%at, %%to, %%base;\n"
                   ".reg .b32 %%i, %%n, %%t, %%x, %%offset, %%small;\n"
                   "ld.param.u64 %%in, [p_in];\nld.param.u64 %%out, [p_out];\n"
                   "mov.u32 %%i, %%ctaid.x;\nmov.u32 %%n, %%ntid.x;\nmov.u32 %%t, %%tid.x;\n"
                   "mad.lo.u32 %%i, %%i, %%n, %%t;\n");
}

/* Sets %base, and %small for spaces with 32-bit addresses, to this thread's region, filled from the
 * input. */
static void region(const struct access *access, const char *kernel, struct diff_text *text)
{
    const char where = spaces[access->space].where;
    diff_add(text, "mad.wide.u32 %%at, %%i, %d, %%in;\n", REGION);
    switch (where) {
    case 'g':
        diff_add(text, "mov.u64 %%base, %%at;\n");
        if (access->store) diff_add(text, "mad.wide.u32 %%base, %%i, %d, %%out;\n", REGION);
        break;
    case 's':
        diff_add(text,
                 "mov.u32 %%small, %s_shared;\nmad.lo.u32 %%small, %%t, %d, %%small;\n"
                 "cvt.u64.u32 %%base, %%small;\n",
                 kernel, REGION);
        break;
    case 'l':
        diff_add(text, "mov.u64 %%base, %s_local;\n", kernel);
        break;
    default:
        diff_add(text,
                 "mov.u64 %%base, %s_const;\nand.b32 %%x, %%t, 3;\n"
                 "mad.wide.u32 %%base, %%x, %d, %%base;\n",
                 kernel, REGION);
        break;
    }
    if (where == 's' || where == 'l')
        for (unsigned k = 0; k < REGION; k += 4)
            diff_add(text, "ld.global.b32 %%x, [%%at+%u];\nst.%s.b32 [%%base+%u], %%x;\n", k,
                     where == 's' ? "shared" : "local", k);
    if (spaces[access->space].generic && where != 'g')
        diff_add(text, "cvta.%s.u64 %%base, %%base;\n", where == 's' ? "shared" : "local");
}

static void vector(const struct access *access, struct diff_text *text)
{
    if (access->vector == 1) {
        diff_add(text, "%%d0");
        return;
    }
    diff_add(text, "{");
    for (unsigned k = 0; k < access->vector; k++) diff_add(text, "%s%%d%u", k ? ", " : "", k);
    diff_add(text, "}");
}

static void write_access(const struct diff_case *one, const char *kernel, struct diff_text *text)
{
    const struct access access = unpack(one->number);
    const char where = spaces[access.space].where;
    const unsigned size = access.vector * types[access.type].bits / 8;
    const unsigned bits = access.width;
    char modifiers[16] = "";
    if (access.vector > 1) snprintf(modifiers, sizeof modifiers, ".v%u", access.vector);
    if (where == 'c') {
        struct diff_random random = diff_case_random(one, "const");
        diff_add(text, ".const .align 16 .b8 %s_const[%d] = {", kernel, 4 * REGION);
        for (unsigned k = 0; k < 4 * REGION; k++)
            diff_add(text, "%s%u", k ? "," : "", diff_below(&random, 256));
        diff_add(text, "};\n");
    }
    diff_add(text, ".visible .entry %s(.param .u64 p_in, .param .u64 p_out) {\n", kernel);
    if (where == 's')
        diff_add(text, ".shared .align 16 .b8 %s_shared[%d];\n", kernel, THREADS * REGION);
    if (where == 'l') diff_add(text, ".local .align 16 .b8 %s_local[%d];\n", kernel, REGION);
    registers(text);
    diff_add(text, ".reg .b%u %%d<4>;\n", bits);
    region(&access, kernel, text);
    /* Stores at four places: the first and the last ones, and one that depends on the thread. */
    diff_add(text, "mul.wide.u32 %%to, %%i, %u;\nadd.u64 %%to, %%to, %%out;\n",
             access.store ? (unsigned)REGION : 3 * access.vector * bits / 8);
    diff_add(text,
             "mul.lo.u32 %%offset, %%t, %u;\nand.b32 %%offset, %%offset, %u;\n"
             "cvt.u64.u32 %%at, %%offset;\nadd.u64 %%at, %%at, %%base;\n",
             5 * size, (unsigned)REGION - size);
    for (unsigned place = 0; place < 3; place++) {
        const unsigned offset = place == 1 ? REGION - size : 0;
        const char *base = place == 2 ? "%at" : "%base";
        if (access.store) {
            diff_add(text, "mad.wide.u32 %%to, %%i, %d, %%in;\n", REGION);
            for (unsigned k = 0; k < access.vector; k++)
                diff_add(text, "ld.global.b%u %%d%u, [%%to+%u];\n", bits, k,
                         (place * 16 + k * bits / 8) % REGION);
            diff_add(text, "st%s%s.%s [%s+%u], ", spaces[access.space].space, modifiers,
                     types[access.type].text, base, offset);
            vector(&access, text);
            diff_add(text, ";\n");
        } else {
            diff_add(text, "ld%s%s.%s ", spaces[access.space].space, modifiers,
                     types[access.type].text);
            vector(&access, text);
            diff_add(text, ", [%s+%u];\n", base, offset);
            for (unsigned k = 0; k < access.vector; k++)
                diff_add(text, "st.global.b%u [%%to+%u], %%d%u;\n", bits,
                         (place * access.vector + k) * bits / 8, k);
        }
    }
    if (access.store && where != 'g') {
        diff_add(text, "mad.wide.u32 %%to, %%i, %d, %%out;\n", REGION);
        for (unsigned k = 0; k < REGION; k += 4)
            diff_add(text, "ld%s.b32 %%x, [%%base+%u];\nst.global.b32 [%%to+%u], %%x;\n",
                     spaces[access.space].generic ? ""
                     : where == 's'               ? ".shared"
                                                  : ".local",
                     k, k);
    }
    diff_add(text, "ret;\n}\n");
}

static void add_access(struct diff_cases *cases, const struct access *access)
{
    const unsigned type = access->type;
    char vector[16] = "";
    if (access->vector > 1) snprintf(vector, sizeof vector, ".v%u", access->vector);
    struct diff_case *one = diff_new(cases, "%s%s.%s/%s%u", access->store ? "st" : "ld", vector,
                                     types[type].text, spaces[access->space].name, access->width);
    one->write = write_access;
    one->fill = diff_fill_random;
    one->number = pack(access);
    one->blocks = BLOCKS;
    one->threads = THREADS;
    one->in_bytes = BLOCKS * THREADS * REGION;
    one->stride = access->store ? (unsigned)REGION : 3 * access->vector * access->width / 8;
    one->out_bytes = BLOCKS * THREADS * one->stride;
}

static void add_accesses(struct diff_cases *cases)
{
    enum { TYPES = sizeof types / sizeof *types, SPACES = sizeof spaces / sizeof *spaces };
    static const unsigned vectors[] = {1, 2, 4};
    for (unsigned store = 0; store < 2; store++) {
        for (unsigned type = 0; type < TYPES; type++) {
            for (unsigned v = 0; v < 3; v++) {
                if (vectors[v] * types[type].bits > 128) continue;
                for (unsigned space = 0; space < SPACES; space++) {
                    const char *name = spaces[space].name;
                    /* Repetitions of a space have one type of each width only. */
                    const bool repeated = space > 6;
                    if (repeated && !strstr("u8 s16 b32 u64", types[type].text)) continue;
                    if (store && (!strcmp(name, "const") || !strcmp(name, "nc"))) continue;
                    const unsigned least = types[type].bits == 8 ? 16 : types[type].bits;
                    for (unsigned width = least; width <= 64; width *= 2) {
                        const struct access access = {.type = type,
                                                      .vector = vectors[v],
                                                      .width = width,
                                                      .space = space,
                                                      .store = store};
                        /* Wider registers in all spaces except the repetitions. */
                        if (width > least && (!types[type].widens || space > 4)) continue;
                        add_access(cases, &access);
                    }
                }
            }
        }
    }
}

/* ---- atomics -----------------------------------------------------------------------------------
 */

static const struct {
    const char *keys, *type;
} operations[] = {
#define ATOMIC(name, keys, T, expression) {keys, #T},
#include "emulator/exec/ops/atomic.def"
#undef ATOMIC
};

enum way { OWN, CONTENDED, REDUCED };
static const char *const ways[] = {"own", "many", "red"};
static const char *const atomic_spaces[] = {"global", "shared", "generic", "sgeneric"};

/* The fields of a case's number: operation, its key, way, space. */
static const char *key_of(uint32_t number, char *key, size_t size)
{
    const char *at = operations[number & 255].keys;
    for (unsigned k = number >> 8 & 255; k; k--) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    /* The device's keys omit .noftz. */
    const size_t length = strcspn(at, " ");
    const bool half = strstr(operations[number & 255].keys, "f16") != NULL;
    snprintf(key, size, "%.*s", (int)length, at);
    if (half) {
        char type[16];
        snprintf(type, sizeof type, "%s", strrchr(key, '.'));
        snprintf(strrchr(key, '.'), size - 16, ".noftz%s", type);
    }
    return key;
}

static enum diff_kind kind_of(const char *key)
{
    static const struct {
        const char *type;
        enum diff_kind kind;
    } kinds[] = {{".f32", DIFF_F32},       {".f64", DIFF_F64}, {".f16x2", DIFF_F16X2},
                 {".bf16x2", DIFF_BF16X2}, {".f16", DIFF_F16}, {".bf16", DIFF_BF16},
                 {".b16", DIFF_INT16},     {"64", DIFF_INT64}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (strlen(key) >= strlen(kinds[k].type) &&
            !strcmp(key + strlen(key) - strlen(kinds[k].type), kinds[k].type))
            return kinds[k].kind;
    return DIFF_INT32;
}

static void write_atomic(const struct diff_case *one, const char *kernel, struct diff_text *text)
{
    char key[48];
    key_of(one->number, key, sizeof key);
    const enum way way = one->number >> 16 & 255;
    const unsigned space = one->number >> 24;
    const unsigned bits = diff_kind_bits(kind_of(key)), size = bits / 8;
    const bool shared = space & 1, cas = strstr(key, ".cas") != NULL;
    const char *type = strchr(key, '.');
    diff_add(text, ".visible .entry %s(.param .u64 p_in, .param .u64 p_out) {\n", kernel);
    diff_add(text, ".shared .align 16 .b8 %s_shared[%u];\n", kernel, THREADS * 8);
    registers(text);
    diff_add(text, ".reg .b%u %%d, %%b, %%c, %%old;\n", bits);
    diff_add(text, "mad.wide.u32 %%at, %%i, 24, %%in;\nmad.wide.u32 %%to, %%i, %u, %%out;\n",
             2 * size);
    diff_add(text,
             "ld.global.b%u %%old, [%%at];\nld.global.b%u %%b, [%%at+8];\n"
             "ld.global.b%u %%c, [%%at+16];\n",
             bits, bits, bits);
    /* %base is the word; contended: one of eight of the block. */
    diff_add(text, "%s.b32 %%x, %%t, %d;\n", way == OWN ? "or" : "and", way == OWN ? 0 : 7);
    if (shared)
        diff_add(text,
                 "mov.u32 %%small, %s_shared;\nmad.lo.u32 %%small, %%x, %u, %%small;\n"
                 "cvt.u64.u32 %%base, %%small;\n",
                 kernel, size < 4 ? 4 : size);
    else if (way == OWN)
        diff_add(text, "add.u64 %%base, %%to, %u;\n", size);
    else
        diff_add(text,
                 "mov.u32 %%small, %%ctaid.x;\nmad.lo.u32 %%small, %%small, %d, %%x;\n"
                 "mad.wide.u32 %%base, %%small, %u, %%out;\n",
                 THREADS, 2 * size);
    /* Every word starts with its first thread's value. */
    diff_add(text, ".reg .pred %%first;\nsetp.%s.u32 %%first, %%t, %d;\n", way == OWN ? "ne" : "lt",
             way == OWN ? 12345 : 8);
    diff_add(text, "@%%first st.%s.b%u [%%base], %%old;\nbar.sync 0;\n",
             shared ? "shared" : "global", bits);
    if (space == 3) diff_add(text, "cvta.shared.u64 %%base, %%base;\n");
    const char *place = space == 0 ? ".global" : space == 1 ? ".shared" : "";
    if (way == REDUCED)
        diff_add(text, "red%s%s [%%base], %%b;\n", place, type);
    else
        diff_add(text, "atom%s%s %%d, [%%base], %%b%s;\n", place, type, cas ? ", %c" : "");
    if (way == OWN) {
        diff_add(text, "st.global.b%u [%%to], %%d;\n", bits);
        diff_add(text, "ld%s.b%u %%d, [%%base];\nst.global.b%u [%%to+%u], %%d;\n", place, bits,
                 bits, size);
    } else if (shared) {
        diff_add(text, "bar.sync 0;\nld%s.b%u %%d, [%%base];\nst.global.b%u [%%to], %%d;\n", place,
                 bits, bits);
    }
    diff_add(text, "ret;\n}\n");
}

static void fill_atomic(const struct diff_case *one, unsigned char *in)
{
    char key[48];
    const enum diff_kind kind = kind_of(key_of(one->number, key, sizeof key));
    const enum way way = one->number >> 16 & 255;
    struct diff_random random = diff_case_random(one, "in");
    /* 1 in each floating-point format, so that contended sums are exact. */
    static const uint64_t ones[DIFF_KIND_COUNT] = {
        [DIFF_F16] = 0x3c00,       [DIFF_BF16] = 0x3f80,
        [DIFF_F16X2] = 0x40003c00, [DIFF_BF16X2] = 0x40003f80,
        [DIFF_F32] = 0x3f800000,   [DIFF_F64] = UINT64_C(0x3ff0000000000000)};
    for (unsigned n = 0; n < BLOCKS * THREADS; n++) {
        const enum diff_kind kinds[] = {kind, kind, kind};
        uint64_t values[3];
        diff_tuple(kinds, 3, n * 5, &random, values);
        if (strstr(key, ".cas") && diff_below(&random, 2)) values[1] = values[0];
        if (way != OWN && ones[kind]) values[0] = values[1] = ones[kind];
        /* inc and dec in any order only commute with the same limit. */
        if (way != OWN && (strstr(key, ".inc") || strstr(key, ".dec"))) {
            values[0] = 3;
            values[1] = 10;
        }
        memcpy(in + 24 * n, values, 24);
    }
}

static void add_atomics(struct diff_cases *cases)
{
    for (unsigned operation = 0; operation < sizeof operations / sizeof *operations; operation++) {
        unsigned keys = 1;
        for (const char *at = operations[operation].keys; *at; at++) keys += *at == ' ';
        for (unsigned k = 0; k < keys; k++) {
            for (unsigned way = 0; way < 3; way++) {
                for (unsigned space = 0; space < 4; space++) {
                    const uint32_t number = operation | k << 8 | way << 16 | space << 24;
                    char key[48];
                    key_of(number, key, sizeof key);
                    const bool order = strstr(key, ".exch") || strstr(key, ".cas");
                    if ((way != OWN && order) || diff_excluded(key)) continue;
                    struct diff_case *one =
                        diff_new(cases, "%s/%s-%s", key, ways[way], atomic_spaces[space]);
                    const unsigned size = diff_kind_bits(kind_of(key)) / 8;
                    one->write = write_atomic;
                    one->fill = fill_atomic;
                    one->number = number;
                    one->blocks = BLOCKS;
                    one->threads = THREADS;
                    one->in_bytes = 24 * BLOCKS * THREADS;
                    one->stride = 2 * size;
                    one->out_bytes = one->stride * BLOCKS * THREADS;
                }
            }
        }
    }
}

void diff_memory_cases(struct diff_cases *cases)
{
    add_accesses(cases);
    add_atomics(cases);
}
