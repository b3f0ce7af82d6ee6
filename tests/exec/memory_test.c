/* Loads, stores and atomics: every row of ops/memory.def and ops/atomic.def, generic addresses,
 * faults, and counts. */
#include "emulator/memory/memory.h"
#include "tests/exec/device.h"

#include <check.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32, SPAN = 64 /* bytes per lane */, BYTES = LANES * SPAN };

static char text[16384];
static size_t used;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    used += (size_t)vsnprintf(text + used, sizeof text - used, format, arguments);
    va_end(arguments);
}

static void begin(void)
{
    used = 0;
    say(".version 9.0\n.target sm_75\n.address_size 64\n");
}

/* Sets %in and %out to this lane's SPAN bytes of the two buffers, and %lane. */
static void begin_kernel(void)
{
    say(".visible .entry k(.param .u64 p_in, .param .u64 p_out) {\n"
        ".reg .b64 %%in, %%out, %%first, %%offset, %%at, %%x<8>;\n"
        ".reg .b32 %%lane, %%at32, %%t, %%y<8>;\n.reg .b16 %%h<8>;\n.reg .pred %%p, %%odd;\n"
        "mov.u32 %%lane, %%tid.x;\nmul.wide.u32 %%offset, %%lane, %d;\n"
        "ld.param.u64 %%first, [p_in];\nadd.u64 %%in, %%first, %%offset;\n"
        "ld.param.u64 %%out, [p_out];\nadd.u64 %%out, %%out, %%offset;\n"
        "and.b32 %%t, %%lane, 1;\nsetp.ne.u32 %%odd, %%t, 0;\n",
        SPAN);
}

static void run(const void *in, void *out_host, uint32_t threads)
{
    say("ret;\n}\n");
    struct exec_program *program = device_program(text);
    void *out;
    const uint64_t parameters[] = {device_buffer_of(in, BYTES, NULL), device_buffer(BYTES, &out)};
    struct device_run launch = {
        .program = program, .name = "k", .blocks = 1, .threads = threads, .parameters = parameters};
    device_run(&launch);
    memcpy(out_host, out, BYTES);
    exec_program_destroy(program);
    device_reset();
}

static void fill(unsigned char *bytes)
{
    uint32_t state = 12345;
    for (int k = 0; k < BYTES; k++) {
        state = state * 1664525 + 1013904223;
        bytes[k] = (unsigned char)(state >> 24);
    }
}

/* Patterns of the lanes' addresses: consecutive, far apart and descending, or odd lanes only.
 */
enum { ROW, APART, ODD_LANES, PATTERNS };

static unsigned place_of(int pattern, unsigned lane, unsigned bytes)
{
    return pattern == ROW ? lane * bytes : (LANES - 1 - lane) * SPAN;
}

/* Sets %at (and %at32) to the address, by pattern, in the memory `where`. */
static void say_address(const char *where, int pattern, unsigned bytes)
{
    const bool local = !strcmp(where, "LOCAL");
    if (pattern == ROW)
        say("mul.lo.u32 %%at32, %%lane, %u;\n", local ? 0 : bytes);
    else
        say("sub.u32 %%at32, %d, %%lane;\nmul.lo.u32 %%at32, %%at32, %d;\n", LANES - 1,
            local ? 0 : SPAN);
    say("cvt.u64.u32 %%at, %%at32;\n");
    if (!strcmp(where, "GLOBAL") || !strcmp(where, "GENERIC"))
        say("add.u64 %%at, %%at, %%first;\n");
    if (!strcmp(where, "SHARED64") || !strcmp(where, "SHARED"))
        say("mov.u32 %%t, tile;\nadd.u32 %%at32, %%at32, %%t;\ncvt.u64.u32 %%at, %%at32;\n");
    if (local) say("mov.u64 %%x7, mine;\nadd.u64 %%at, %%at, %%x7;\n");
}

static const char *address_register(const char *where)
{
    return strcmp(where, "SHARED") ? "%at" : "%at32";
}

/* Returns the instruction of a key, "ld.shared64.v2.u8": shared64 is .shared with a 64-bit
 * register, generic is no space.
 */
static void instruction(const char *key, char *result)
{
    strcpy(result, key);
    char *wide = strstr(result, "shared64");
    if (wide) memmove(wide + 6, wide + 8, strlen(wide + 8) + 1);
    char *generic = strstr(result, ".generic");
    if (generic) memmove(generic, generic + 8, strlen(generic + 8) + 1);
}

static const char *register_of(const char *type)
{
    const unsigned bits = (unsigned)atoi(type + 1);
    return bits == 64 ? "x" : bits == 32 ? "y" : "h";
}

static void say_vector(const char *type, unsigned vector)
{
    if (vector > 1) say("{");
    for (unsigned k = 0; k < vector; k++) say("%s%%%s%u", k ? ", " : "", register_of(type), k);
    if (vector > 1) say("}");
}

static uint64_t element(const unsigned char *at, const char *type)
{
    const unsigned bits = (unsigned)atoi(type + 1);
    uint64_t value = 0;
    memcpy(&value, at, bits / 8);
    if (*type == 's' && value >> (bits - 1)) value |= UINT64_MAX << bits;
    return value;
}

static bool in_local(const char *where)
{
    return !strcmp(where, "LOCAL");
}

static void declare(const char *where)
{
    if (in_local(where)) say(".local .align 16 .b8 mine[%d];\n", SPAN);
    if (!strncmp(where, "SHARED", 6)) say(".shared .align 16 .b8 tile[%d];\n", BYTES);
}

/* Copies this lane's bytes to the place, or back. */
static void say_copy(const char *where, bool in)
{
    for (int k = 0; k < SPAN; k += 8) {
        if (in) say("ld.global.u64 %%x0, [%%in+%d];\n", k);
        if (in_local(where))
            say("%s.local.u64 %s[mine+%d]%s;\n", in ? "st" : "ld", in ? "" : "%x0, ", k,
                in ? ", %x0" : "");
        else if (!strncmp(where, "SHARED", 6))
            say("mov.u32 %%t, tile;\nmad.lo.u32 %%t, %%lane, %d, %%t;\n%s.shared.u64 "
                "%s[%%t+%d]%s;\n",
                SPAN, in ? "st" : "ld", in ? "" : "%x0, ", k, in ? ", %x0" : "");
        else if (!in)
            say("ld.global.u64 %%x0, [%%in+%d];\n", k);
        if (!in) say("st.global.u64 [%%out+%d], %%x0;\n", k);
    }
}

static void check_load(const char *key, const char *where, const char *type, unsigned vector)
{
    unsigned char in[BYTES], out[BYTES];
    char name[48];
    const unsigned bits = (unsigned)atoi(type + 1);
    const unsigned bytes = bits / 8 * vector;
    if (bytes > 16) return; /* no such access: lowering refuses it, PTX has none before sm_100 */
    fill(in);
    instruction(key, name);
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
        begin();
        begin_kernel();
        declare(where);
        say_copy(where, true);
        say("bar.sync 0;\n");
        for (unsigned k = 0; k < vector; k++)
            say("mov.b%u %%%s%u, 0;\n", bits < 16 ? 16 : bits, register_of(type), k);
        say_address(where, pattern, bytes);
        if (pattern == ODD_LANES) say("@%%odd ");
        say("%s ", name);
        say_vector(type, vector);
        say(", [%s];\n", address_register(where));
        for (unsigned k = 0; k < vector; k++)
            say("st.global.b%u [%%out+%u], %%%s%u;\n", bits < 16 ? 16 : bits, 8 * k,
                register_of(type), k);
        run(in, out, LANES);
        for (unsigned lane = 0; lane < LANES; lane++)
            for (unsigned k = 0; k < vector; k++) {
                const unsigned place =
                    in_local(where) ? lane * SPAN : place_of(pattern, lane, bytes);
                uint64_t expected = element(in + place + k * bits / 8, type);
                uint64_t got = 0;
                if (pattern == ODD_LANES && lane % 2 == 0) expected = 0;
                memcpy(&got, out + lane * SPAN + 8 * k, bits < 16 ? 2 : bits / 8);
                expected &= UINT64_MAX >> (64 - (bits < 16 ? 16 : bits));
                ck_assert_msg(got == expected, "%s, pattern %d, lane %u: 0x%llx, expected 0x%llx",
                              key, pattern, lane, (unsigned long long)got,
                              (unsigned long long)expected);
            }
    }
}

static void check_store(const char *key, const char *where, const char *type, unsigned vector)
{
    unsigned char in[BYTES], out[BYTES], expected[BYTES];
    char name[48];
    const unsigned bits = (unsigned)atoi(type + 1);
    const unsigned bytes = bits / 8 * vector;
    if (bytes > 16) return;
    fill(in);
    instruction(key, name);
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
        begin();
        begin_kernel();
        declare(where);
        say_copy(where, true);
        /* The stored values: the last bytes of each lane, loaded before. */
        for (unsigned k = 0; k < vector; k++)
            say("ld.global.b%u %%%s%u, [%%in+%u];\n", bits, register_of(type), k,
                SPAN - 32 + 8 * k);
        say("bar.sync 0;\n");
        say_address(where, pattern, bytes);
        if (pattern == ODD_LANES) say("@%%odd ");
        say("%s [%s], ", name, address_register(where));
        say_vector(type, vector);
        say(";\nbar.sync 0;\n");
        say_copy(where, false);
        run(in, out, LANES);
        memcpy(expected, in, BYTES);
        for (unsigned lane = 0; lane < LANES; lane++) {
            if (pattern == ODD_LANES && lane % 2 == 0) continue;
            const unsigned place = in_local(where) ? lane * SPAN : place_of(pattern, lane, bytes);
            for (unsigned k = 0; k < vector; k++)
                memcpy(expected + place + k * bits / 8, in + lane * SPAN + SPAN - 32 + 8 * k,
                       bits / 8);
        }
        ck_assert_msg(!memcmp(out, expected, BYTES), "%s, pattern %d", key, pattern);
    }
}

static const struct {
    void (*check)(const char *key, const char *where, const char *type, unsigned vector);
    const char *key, *where, *type;
    unsigned vector;
} rows[] = {
#define LOAD(name, key, where, T, vector) {check_load, key, #where, #T, vector},
#define STORE(name, key, where, T, vector) {check_store, key, #where, #T, vector},
#include "emulator/exec/ops/memory.def"
#undef LOAD
#undef STORE
};
enum { ROWS = sizeof rows / sizeof *rows, SHARDS = 4 };

START_TEST(loads_and_stores)
{
    for (int k = _i; k < ROWS; k += SHARDS)
        rows[k].check(rows[k].key, rows[k].where, rows[k].type, rows[k].vector);
}
END_TEST

/* ---- registers that are wider than what is loaded, generic addresses
 * -------------------------------- */

START_TEST(wide_registers)
{
    unsigned char in[BYTES], out[BYTES];
    fill(in);
    in[3] |= 0x80;
    begin();
    begin_kernel();
    say("ld.global.s32 %%x0, [%%in];\nst.global.u64 [%%out], %%x0;\n"
        "ld.global.u32 %%x1, [%%in];\nst.global.u64 [%%out+8], %%x1;\n"
        "ld.global.s8 %%x2, [%%in];\nst.global.u64 [%%out+16], %%x2;\n"
        "ld.global.u8 %%y3, [%%in+3];\nst.global.u32 [%%out+24], %%y3;\n"
        "ld.global.s8 %%y4, [%%in+3];\nst.global.u32 [%%out+28], %%y4;\n"
        "ld.global.u64 %%x5, [%%in];\nst.global.u32 [%%out+32], %%x5;\n"
        "st.global.u16 [%%out+36], %%x5;\nst.global.u8 [%%out+38], %%x5;\n"
        "cvt.u16.u64 %%h0, %%x5;\nst.global.u16 [%%out+40], %%h0;\n"
        "mov.b64 {%%y0, %%y1}, %%x5;\nst.global.v2.u32 [%%out+48], {%%y1, %%y0};\n"
        "mov.b32 {%%h0, %%h1}, %%y0;\nmov.b32 %%y2, {%%h1, %%h0};\nst.global.u32 [%%out+56], "
        "%%y2;\n"
        "mov.b64 {%%h0, %%h1, %%h2, %%h3}, %%x5;\nmov.b64 %%x6, {%%h3, %%h2, %%h1, %%h0};\n"
        "st.global.u32 [%%out+60], %%x6;\n"
        /* A signed result is sign-extended, even when the source is wider. */
        "cvt.s16.s32 %%x0, %%y0;\nshr.u64 %%x0, %%x0, 32;\nst.global.u32 [%%out+44], %%x0;\n");
    run(in, out, LANES);
    for (int lane = 0; lane < LANES; lane++) {
        const unsigned char *i = in + lane * SPAN, *o = out + lane * SPAN;
        int64_t s;
        uint64_t u;
        uint32_t word, expected;
        memcpy(&s, o, 8);
        memcpy(&word, i, 4);
        ck_assert_int_eq(s, (int32_t)word);
        memcpy(&u, o + 8, 8);
        ck_assert_uint_eq(u, word);
        memcpy(&s, o + 16, 8);
        ck_assert_int_eq(s, (int8_t)i[0]);
        memcpy(&expected, o + 24, 4);
        ck_assert_uint_eq(expected, i[3]);
        memcpy(&expected, o + 28, 4);
        ck_assert_int_eq((int32_t)expected, (int8_t)i[3]);
        ck_assert_mem_eq(o + 32, i, 4);
        ck_assert_mem_eq(o + 36, i, 2);
        ck_assert_mem_eq(o + 38, i, 1);
        ck_assert_mem_eq(o + 40, i, 2);
        expected = (int16_t)word < 0 ? UINT32_MAX : 0;
        ck_assert_mem_eq(o + 44, &expected, 4);
        ck_assert_mem_eq(o + 48, i + 4, 4);
        ck_assert_mem_eq(o + 52, i, 4);
        ck_assert_mem_eq(o + 56, i + 2, 2);
        ck_assert_mem_eq(o + 58, i, 2);
        ck_assert_mem_eq(o + 60, i + 6, 2);
        ck_assert_mem_eq(o + 62, i + 4, 2);
    }
}
END_TEST

START_TEST(generic_addresses)
{
    unsigned char in[BYTES], out[BYTES];
    fill(in);
    begin();
    say(".const .align 4 .u32 seven[2] = {7, 77};\n.global .align 4 .u32 word = 5;\n"
        ".global .align 8 .u64 pointer = generic(word);\n");
    begin_kernel();
    declare("LOCAL");
    declare("SHARED");
    /* Accesses shared and local memory through generic addresses, and reads it back by its own
     * space. */
    say("ld.global.u32 %%y0, [%%in];\n"
        "mov.u64 %%x0, mine;\ncvta.local.u64 %%x1, %%x0;\nst.u32 [%%x1+4], %%y0;\n"
        "ld.local.u32 %%y1, [mine+4];\nst.global.u32 [%%out], %%y1;\n"
        "mov.u64 %%x0, tile;\nadd.u64 %%x0, %%x0, %%offset;\ncvta.shared.u64 %%x2, %%x0;\n"
        "st.u32 [%%x2], %%y0;\nld.shared.u32 %%y2, [%%x0];\nst.global.u32 [%%out+4], %%y2;\n"
        "cvta.to.shared.u64 %%x3, %%x2;\nsub.u64 %%x3, %%x3, %%x0;\n"
        "st.global.u64 [%%out+8], %%x3;\n"
        "isspacep.shared %%p, %%x2;\nselp.u32 %%y3, 1, 0, %%p;\n"
        "isspacep.local %%p, %%x2;\nselp.u32 %%y4, 2, 0, %%p;\nor.b32 %%y3, %%y3, %%y4;\n"
        "isspacep.local %%p, %%x1;\nselp.u32 %%y4, 4, 0, %%p;\nor.b32 %%y3, %%y3, %%y4;\n"
        "isspacep.global %%p, %%in;\nselp.u32 %%y4, 8, 0, %%p;\nor.b32 %%y3, %%y3, %%y4;\n"
        "isspacep.global %%p, %%x2;\nselp.u32 %%y4, 16, 0, %%p;\nor.b32 %%y3, %%y3, %%y4;\n"
        "st.global.u32 [%%out+16], %%y3;\n"
        "ld.const.u32 %%y5, [seven+4];\nst.global.u32 [%%out+20], %%y5;\n"
        "mov.u64 %%x4, seven;\ncvta.const.u64 %%x4, %%x4;\nld.u32 %%y5, [%%x4];\n"
        "st.global.u32 [%%out+24], %%y5;\n"
        "ld.global.u64 %%x5, [pointer];\nld.u32 %%y6, [%%x5];\nst.global.u32 [%%out+28], %%y6;\n"
        "mov.b64 %%x6, p_out;\ncvta.param.u64 %%x6, %%x6;\nld.u64 %%x7, [%%x6];\n"
        "add.u64 %%x7, %%x7, %%offset;\nsub.u64 %%x7, %%x7, %%out;\n"
        "st.global.u64 [%%out+32], %%x7;\n");
    run(in, out, LANES);
    for (int lane = 0; lane < LANES; lane++) {
        const unsigned char *i = in + lane * SPAN, *o = out + lane * SPAN;
        uint64_t zero = 0;
        const uint32_t words[4] = {1 | 4 | 8, 77, 7, 5};
        ck_assert_mem_eq(o, i, 4);
        ck_assert_mem_eq(o + 4, i, 4);
        ck_assert_mem_eq(o + 8, &zero, 8);
        ck_assert_mem_eq(o + 16, words, sizeof words);
        ck_assert_mem_eq(o + 32, &zero, 8);
    }
}
END_TEST

/* ---- atomics ------------------------------------------------------------------------------------
 */

/* Computes what memory holds after the atomic on `a`, written from the ISA's table. */
static bool atomic_result(const char *key, uint64_t a, uint64_t b, uint64_t c, bool shared,
                          uint64_t *result)
{
    const char *op = key + 5;
    const char *type = strrchr(key, '.') + 1;
    const unsigned bits = *type == 'b' && type[1] == 'f' ? 16 : (unsigned)atoi(type + 1);
    const int64_t sa = bits == 32 ? (int32_t)a : (int64_t)a;
    const int64_t sb = bits == 32 ? (int32_t)b : (int64_t)b;
    const bool less = *type == 's' ? sa < sb : a < b;
    if (!strncmp(op, "exch", 4))
        *result = b;
    else if (!strncmp(op, "cas", 3))
        *result = a == b ? c : a;
    else if (!strncmp(op, "inc", 3))
        *result = a >= b ? 0 : a + 1;
    else if (!strncmp(op, "dec", 3))
        *result = a == 0 || a > b ? b : a - 1;
    else if (!strncmp(op, "min", 3))
        *result = less ? a : b;
    else if (!strncmp(op, "max", 3))
        *result = less ? b : a;
    else if (!strncmp(op, "and", 3))
        *result = a & b;
    else if (!strncmp(op, "or", 2))
        *result = a | b;
    else if (!strncmp(op, "xor", 3))
        *result = a ^ b;
    else if (!strncmp(op, "add", 3) && !strcmp(type, "f32")) {
        float x, y;
        memcpy(&x, &a, 4);
        memcpy(&y, &b, 4);
        if (!shared && fpclassify(x) == FP_SUBNORMAL) x = 0;
        if (!shared && fpclassify(y) == FP_SUBNORMAL) y = 0;
        x += y;
        *result = 0;
        memcpy(result, &x, 4);
        if (isnan(x)) *result = 0x7fffffff;
    } else if (!strncmp(op, "add", 3) && !strcmp(type, "f64")) {
        double x, y;
        memcpy(&x, &a, 8);
        memcpy(&y, &b, 8);
        x += y;
        memcpy(result, &x, 8);
    } else if (!strncmp(op, "add", 3) && strchr(type, 'f')) {
        return false; /* 16-bit formats: see below */
    } else if (!strncmp(op, "add", 3))
        *result = a + b;
    else
        return false;
    if (bits < 64) *result &= (UINT64_C(1) << bits) - 1;
    return true;
}

static void check_atomic(const char *key, const char *T)
{
    static const struct {
        uint64_t a, b, c;
    } values[] = {{5, 3, 9},
                  {3, 3, 9},
                  {0, 7, 1},
                  {7, 7, 1},
                  {8, 7, 1},
                  {UINT64_MAX, 1, 2},
                  {UINT64_C(0x8000000080000000), UINT64_C(0x7fffffff7fffffff), 0},
                  {UINT64_C(0x3ff8000000000000), UINT64_C(0x4004000000000000), 4},
                  {0x3fc00000, 0x40200000, 4},
                  {0x00000001, 0x00000000, 4}};
    const unsigned bits = (unsigned)atoi(T + 1);
    const char *type = strrchr(key, '.') + 1;
    const char *r = bits == 64 ? "x" : bits == 32 ? "y" : "h";
    for (int shared = 0; shared < 2; shared++)
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            const uint64_t mask = UINT64_MAX >> (64 - bits);
            const uint64_t a = values[k].a & mask, b = values[k].b & mask, c = values[k].c & mask;
            uint64_t in[BYTES / 8] = {a, b, c}, out[BYTES / 8], expected;
            if (!atomic_result(key, a, b, c, shared, &expected)) continue;
            begin();
            begin_kernel();
            declare("SHARED");
            for (unsigned j = 0; j < 3; j++)
                say("ld.global.b%u %%%s%u, [%%in+%u];\n", bits, r, j, 8 * j);
            const char *memory = shared ? "[tile]" : "[%out]";
            const char *space = shared ? "shared" : "global";
            say("st.%s.b%u %s, %%%s0;\n", space, bits, memory, r);
            say("atom.%s.%.*s.%s %%%s3, %s, %%%s1%s%s%s;\n", space, (int)(type - 1 - (key + 5)),
                key + 5, type, r, memory, r, strncmp(key + 5, "cas", 3) ? "" : ", %",
                strncmp(key + 5, "cas", 3) ? "" : r, strncmp(key + 5, "cas", 3) ? "" : "2");
            say("ld.%s.b%u %%%s4, %s;\nst.global.b%u [%%out+8], %%%s4;\n"
                "st.global.b%u [%%out+16], %%%s3;\n",
                space, bits, r, memory, bits, r, bits, r);
            run(in, out, 1);
            ck_assert_msg((out[1] & mask) == expected && (out[2] & mask) == a,
                          "%s.%s of 0x%llx, 0x%llx: memory 0x%llx, expected 0x%llx; d 0x%llx", key,
                          space, (unsigned long long)a, (unsigned long long)b,
                          (unsigned long long)(out[1] & mask), (unsigned long long)expected,
                          (unsigned long long)(out[2] & mask));
        }
}

START_TEST(atomics)
{
    static const struct {
        const char *keys, *type;
    } atomic_rows[] = {
#define ATOMIC(name, keys, T, expression) {keys, #T},
#include "emulator/exec/ops/atomic.def"
#undef ATOMIC
    };
    for (size_t k = 0; k < sizeof atomic_rows / sizeof *atomic_rows; k++)
        for (const char *at = atomic_rows[k].keys; *at;) {
            char key[32];
            const size_t length = strcspn(at, " ");
            snprintf(key, sizeof key, "%.*s", (int)length, at);
            /* 16-bit formats: see atomics_of_half_formats, and breadth_test.c. */
            if (strcmp(key, "atom.add.s64") != 0 && !strstr(key, "f16"))
                check_atomic(key, atomic_rows[k].type);
            at += length + strspn(at + length, " ");
        }
}
END_TEST

START_TEST(atomics_of_half_formats)
{
    /* 1.5 + 2.25 in both formats, single and packed; red leaves no result. */
    uint64_t in[BYTES / 8] = {0x3e003e00, 0x40804080, 0x3fc03fc0, 0x40104010}, out[BYTES / 8];
    used = 0;
    say(".version 9.0\n.target sm_90\n.address_size 64\n");
    begin_kernel();
    say("ld.global.b32 %%y0, [%%in];\nld.global.b32 %%y1, [%%in+8];\n"
        "ld.global.b32 %%y2, [%%in+16];\nld.global.b32 %%y3, [%%in+24];\n"
        "st.global.b32 [%%out], %%y0;\nst.global.b32 [%%out+4], %%y2;\n"
        "st.global.b32 [%%out+8], %%y0;\nst.global.b32 [%%out+12], %%y2;\n"
        "cvt.u16.u32 %%h1, %%y1;\ncvt.u16.u32 %%h3, %%y3;\n"
        "red.global.add.noftz.f16x2 [%%out], %%y1;\nred.global.add.noftz.bf16x2 [%%out+4], %%y3;\n"
        "atom.global.add.noftz.f16 %%h0, [%%out+8], %%h1;\n"
        "atom.global.add.noftz.bf16 %%h0, [%%out+12], %%h3;\n");
    run(in, out, 1);
    ck_assert_uint_eq(out[0], UINT64_C(0x4070407043804380));
    ck_assert_uint_eq(out[1], UINT64_C(0x3fc040703e004380));
}
END_TEST

/* Lanes of a warp with the same address take effect in lane order. */
START_TEST(atomics_of_a_warp)
{
    uint64_t in[BYTES / 8] = {0}, out[BYTES / 8];
    begin();
    begin_kernel();
    say("ld.param.u64 %%at, [p_out];\nmov.u32 %%y0, 100;\n"
        "st.global.u32 [%%at+4], %%y0;\nbar.sync 0;\natom.global.add.u32 %%y1, [%%at+4], %%lane;\n"
        "st.global.u32 [%%out+8], %%y1;\n");
    run(in, out, LANES);
    uint32_t sum = 100;
    for (unsigned lane = 0; lane < LANES; lane++) {
        ck_assert_uint_eq((uint32_t)out[lane * SPAN / 8 + 1], sum);
        sum += lane;
    }
    ck_assert_uint_eq(out[0] >> 32, sum);
}
END_TEST

START_TEST(asynchronous_copies)
{
    unsigned char in[BYTES], out[BYTES];
    fill(in);
    used = 0;
    say(".version 9.0\n.target sm_80\n.address_size 64\n");
    begin_kernel();
    declare("SHARED");
    say("mov.u32 %%t, tile;\nmad.lo.u32 %%t, %%lane, %d, %%t;\n"
        "cp.async.ca.shared.global [%%t], [%%in], 4;\ncp.async.ca.shared.global [%%t+8], [%%in+8], "
        "8;\n"
        "cp.async.cg.shared.global [%%t+16], [%%in+16], 16;\n"
        "cp.async.ca.shared.global [%%t+32], [%%in+32], 8, 4;\n"
        "cp.async.commit_group;\ncp.async.wait_group 0;\n"
        "ld.shared.u32 %%y0, [%%t];\nst.global.u32 [%%out], %%y0;\n",
        SPAN);
    for (int k = 8; k < 40; k += 8)
        say("ld.shared.u64 %%x0, [%%t+%d];\nst.global.u64 [%%out+%d], %%x0;\n", k, k);
    run(in, out, LANES);
    for (int lane = 0; lane < LANES; lane++) {
        const unsigned char *i = in + lane * SPAN, *o = out + lane * SPAN;
        const uint32_t zero = 0;
        ck_assert_mem_eq(o, i, 4);
        ck_assert_mem_eq(o + 8, i + 8, 24);
        ck_assert_mem_eq(o + 32, i + 32, 4);
        ck_assert_mem_eq(o + 36, &zero, 4);
    }
}
END_TEST

/* ---- faults -------------------------------------------------------------------------------------
 */

static const char fault_ptx[] =
    ".version 9.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry load(.param .u64 p) {\n.reg .b64 %a, %o;\n.reg .b32 %t;\n"
    "ld.param.u64 %a, [p];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %o, %t, 4;\nadd.u64 %a, %a, %o;\n"
    "ld.global.u32 %t, [%a];\nret;\n}\n"
    ".visible .entry store(.param .u64 p) {\n.reg .b64 %a, %o;\n.reg .b32 %t;\n"
    "ld.param.u64 %a, [p];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %o, %t, 4;\nadd.u64 %a, %a, %o;\n"
    "st.global.u32 [%a], %t;\nret;\n}\n"
    ".visible .entry add(.param .u64 p) {\n.reg .b64 %a, %o;\n.reg .b32 %t;\n"
    "ld.param.u64 %a, [p];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %o, %t, 4;\nadd.u64 %a, %a, %o;\n"
    "red.global.add.u32 [%a], %t;\nret;\n}\n"
    ".visible .entry swap(.param .u64 p) {\n.reg .b64 %a;\n.reg .b32 %t;\n.reg .pred %q;\n"
    "ld.param.u64 %a, [p];\nmov.u32 %t, %tid.x;\nsetp.lt.u32 %q, %t, 1;\n"
    "@%q atom.global.exch.b32 %t, [%a], %t;\nret;\n}\n"
    ".visible .entry shared(.param .u64 p) {\n.reg .b64 %a;\n.shared .align 4 .b8 s[16];\n"
    "ld.param.u64 %a, [p];\nst.shared.u32 [%a], 5;\nret;\n}\n"
    ".visible .entry local(.param .u64 p) {\n.reg .b64 %a;\n.local .align 4 .b8 s[16];\n"
    "ld.param.u64 %a, [p];\nst.local.u32 [%a], 5;\nret;\n}\n"
    ".visible .entry wrong(.param .u64 p) {\n.reg .b64 %a;\n.shared .align 4 .b8 s[16];\n"
    "mov.u64 %a, s;\ncvta.shared.u64 %a, %a;\nst.global.u32 [%a], 5;\nret;\n}\n";

START_TEST(faults_say_what_happened)
{
    struct exec_program *program = device_program(fault_ptx);
    uint32_t *bytes;
    const uint64_t buffer = device_buffer(256, (void **)&bytes);
    const uint64_t gone = device_buffer(256, NULL);
    device_release(gone);
    const uint64_t fixed = device_buffer(256, NULL);
    ((struct memory_region *)memory_find(fixed))->read_only = true;
    const struct {
        const char *name;
        uint64_t address;
        enum exec_end end;
        unsigned thread;
        const char *message;
    } faults[] = {
        {"load", buffer + 160, EXEC_OUT_OF_BOUNDS, 24, "a load of"},
        {"store", buffer + 200, EXEC_OUT_OF_BOUNDS, 14, "a store of"},
        {"load", buffer - 128, EXEC_OUT_OF_BOUNDS, 0, "a load of"},
        {"load", buffer + 1, EXEC_MISALIGNED, 0, "not a multiple of 4"},
        {"store", 0, EXEC_OUT_OF_BOUNDS, 0, "at address 0x0"},
        {"load", gone, EXEC_OUT_OF_BOUNDS, 0, "at address 0x"},
        {"load", (uint64_t)(uintptr_t)&faults & ~UINT64_C(255), EXEC_OUT_OF_BOUNDS, 0,
         "at address 0x"},
        {"add", buffer + 200, EXEC_OUT_OF_BOUNDS, 14, "an atomic operation (atomicAdd) of 4 bytes"},
        {"swap", buffer + 256, EXEC_OUT_OF_BOUNDS, 0,
         "an atomic operation (atomicExch) of 4 bytes"},
        {"store", fixed, EXEC_WRONG_SPACE, 0, "mapped to be read only"},
        {"shared", 16, EXEC_WRONG_SPACE, 0, "shared memory"},
        {"local", 4096, EXEC_WRONG_SPACE, 0, "local memory"},
        {"wrong", 0, EXEC_WRONG_SPACE, 0, "an address of shared memory"},
    };
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        struct device_run launch = {.program = program,
                                    .name = faults[k].name,
                                    .blocks = 1,
                                    .threads = 32,
                                    .parameters = &faults[k].address};
        memset(bytes, 0xa5, 256);
        ck_assert_msg(device_launch(&launch) == faults[k].end, "%zu: %s", k,
                      device_sentence(&launch));
        ck_assert_uint_eq(launch.fault.thread[0], faults[k].thread);
        ck_assert_msg(strstr(device_sentence(&launch), faults[k].message), "%zu: %s", k,
                      device_sentence(&launch));
        /* An instruction that faults stores nothing. */
        for (int j = 0; j < 64; j++) ck_assert_uint_eq(bytes[j], 0xa5a5a5a5);
    }
    exec_program_destroy(program);
    device_reset();
}
END_TEST

/* XLA's compiler loads before it looks whether the thread has an element, up to the next multiple
 * of 256 bytes, which its allocators promise. What is stored there is out of bounds all the same.
 */
START_TEST(a_load_may_go_on_into_padding)
{
    static const struct {
        const char *name;
        uint64_t offset;
        enum exec_end end;
        unsigned thread;
    } rows[] = {
        {"load", 0, EXEC_DONE, 0},
        {"load", 128, EXEC_DONE, 0},
        {"load", 132, EXEC_OUT_OF_BOUNDS, 31},
        {"load", 256, EXEC_OUT_OF_BOUNDS, 0},
        {"store", 0, EXEC_OUT_OF_BOUNDS, 9},
    };
    struct exec_program *program = device_program(fault_ptx);
    const uint64_t buffer = device_buffer(36, NULL);
    ((struct memory_region *)memory_find(buffer))->padding = 256 - 36;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const uint64_t address = buffer + rows[k].offset;
        struct device_run launch = {.program = program,
                                    .name = rows[k].name,
                                    .blocks = 1,
                                    .threads = 32,
                                    .parameters = &address};
        ck_assert_msg(device_launch(&launch) == rows[k].end, "%zu: %s", k,
                      device_sentence(&launch));
        if (rows[k].end != EXEC_DONE) ck_assert_uint_eq(launch.fault.thread[0], rows[k].thread);
    }
    exec_program_destroy(program);
    device_reset();
}
END_TEST

/* As linkers emit it: the last element of a load of four is after the end of the block's memory,
 * and unused. A load that begins there, and a store, are out of bounds. */
START_TEST(a_wide_load_may_end_behind_shared_memory)
{
    static const struct {
        const char *access;
        enum exec_end end;
    } rows[] = {
        {"ld.shared.v4.b32 {%a,%b,%c,%e}, [s+16];", EXEC_DONE},
        {"ld.shared.v2.b32 {%c,%e}, [s+24];", EXEC_DONE},
        {"ld.shared.v4.b32 {%a,%b,%c,%e}, [s+32];", EXEC_WRONG_SPACE},
        {"ld.shared.b64 %q, [s+24];", EXEC_WRONG_SPACE},
        {"ld.shared.b32 %c, [s+28];", EXEC_WRONG_SPACE},
        {"st.shared.v4.b32 [s+16], {%c,%c,%c,%c};", EXEC_WRONG_SPACE},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        void *out;
        const uint64_t parameter = device_buffer(256, &out);
        used = 0;
        say(".version 7.0\n.target sm_70\n.address_size 64\n"
            ".extern .shared .align 16 .b8 s[];\n.visible .entry k(.param .u64 p) {\n"
            ".reg .b32 %%a, %%b, %%c, %%e;\n.reg .b64 %%p, %%q;\nld.param.u64 %%p, [p];\n"
            "mov.u32 %%c, 7;\nst.shared.b32 [s+24], %%c;\nmov.u32 %%c, 1;\n%s\n"
            "st.global.b32 [%%p], %%c;\nret;\n}\n",
            rows[k].access);
        struct exec_program *program = device_program(text);
        struct device_run launch = {.program = program,
                                    .name = "k",
                                    .blocks = 1,
                                    .threads = 32,
                                    .shared = 28,
                                    .parameters = &parameter};
        ck_assert_msg(device_launch(&launch) == rows[k].end, "%s: %s", rows[k].access,
                      device_sentence(&launch));
        if (rows[k].end == EXEC_DONE) ck_assert_uint_eq(*(uint32_t *)out, 7);
        exec_program_destroy(program);
        device_reset();
    }
}
END_TEST

/* `a[2]` and `a[%r]`: which words of the arrays are read, as the code that ptxas of CUDA 13.0 makes
 * of the same text. Its .v4 counts floats, rows do not count, and a product has 32 bits. */
START_TEST(elements_of_arrays)
{
    static const struct {
        const char *accesses;
        uint32_t expected;
    } rows[] = {
        {"ld.global.u32 %r, words[2];", 12},
        {"ld.global.u32 %r, words[%i];", 13},
        {"ld.global.u32 %r, words[%wide];", 13},
        {"ld.global.u32 %r, words[%high];", 13},
        {"@%no ld.global.u32 %r, words[%i];", 9},
        {"ld.global.u32 %r, grid[%i];", 23},
        {"ld.global.v4.u32 {%i, %r, %high, %w}, fours[%four];", 35},
        {"ld.const.u32 %r, fixed[%i];", 43},
        {"st.shared.u32 room[%i], %i;\nld.shared.u32 %r, [room+12];", 3},
        {"st.local.u32 own[%i], %i;\nld.local.u32 %r, own[3];", 3},
        {"mov.u64 %at, words[1];\nld.global.u32 %r, [%at];", 11},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        void *out;
        const uint64_t parameter = device_buffer(256, &out);
        used = 0;
        say(".version 8.0\n.target sm_80\n.address_size 64\n"
            ".global .u32 words[4] = {10, 11, 12, 13};\n"
            ".global .u32 grid[2][3] = {{20, 21, 22}, {23, 24, 25}};\n"
            ".global .align 16 .v4 .u32 fours[2] = {{30, 31, 32, 33}, {34, 35, 36, 37}};\n"
            ".const .u32 fixed[4] = {40, 41, 42, 43};\n.shared .u32 room[4];\n"
            ".visible .entry k(.param .u64 p) {\n.reg .b32 %%r, %%i, %%four, %%high, %%w;\n"
            ".reg .b64 %%p, %%wide, %%at;\n.reg .pred %%no;\n.local .u32 own[4];\n"
            "ld.param.u64 %%p, [p];\nmov.u32 %%i, 3;\nmov.u32 %%four, 4;\nmov.u64 %%wide, 3;\n"
            "mov.u32 %%high, 0x40000003;\nsetp.eq.u32 %%no, %%i, 4;\nmov.u32 %%r, 9;\n%s\n"
            "st.global.u32 [%%p], %%r;\nret;\n}\n",
            rows[k].accesses);
        struct exec_program *program = device_program(text);
        struct device_run launch = {
            .program = program, .name = "k", .blocks = 1, .threads = 1, .parameters = &parameter};
        ck_assert_msg(device_launch(&launch) == EXEC_DONE, "%s: %s", rows[k].accesses,
                      device_sentence(&launch));
        ck_assert_msg(*(uint32_t *)out == rows[k].expected, "%s: %u", rows[k].accesses,
                      *(uint32_t *)out);
        exec_program_destroy(program);
        device_reset();
    }
}
END_TEST

/* An address of 64 bits in a .shared instruction may be a generic one of shared memory. */
START_TEST(a_shared_access_takes_a_generic_address)
{
    static const char *const accesses[] = {
        "ld.shared.u32 %r, [%g+4];",
        "ld.volatile.shared::cta.u32 %r, [%g+4];",
        "st.shared.u32 [%g+8], 7;\nld.shared.u32 %r, [s+8];",
        "atom.shared.add.u32 %r, [%g+4], 1;",
        "atom.acquire.cta.shared::cta.cas.b32 %r, [%g+4], 7, 9;",
        "st.shared.v2.u32 [%g+8], {%r, %r};\nld.shared.u32 %r, [s+12];",
        "cp.async.ca.shared.global [%g+8], [%p], 4;\ncp.async.wait_all;\nld.shared.u32 %r, [s+8];",
    };
    for (size_t k = 0; k < sizeof accesses / sizeof *accesses; k++) {
        void *out;
        const uint64_t parameter = device_buffer_of(&(uint32_t){7}, 4, &out);
        used = 0;
        say(".version 8.0\n.target sm_80\n.address_size 64\n"
            ".visible .entry k(.param .u64 p) {\n.reg .b32 %%r;\n.reg .b64 %%p, %%g;\n"
            ".shared .align 16 .b8 s[16];\nld.param.u64 %%p, [p];\nmov.u64 %%g, s;\n"
            "cvta.shared.u64 %%g, %%g;\nmov.u32 %%r, 7;\nst.shared.u32 [s+4], %%r;\n%s\n"
            "add.u32 %%r, %%r, 1;\nst.global.u32 [%%p], %%r;\nret;\n}\n",
            accesses[k]);
        struct exec_program *program = device_program(text);
        struct device_run launch = {
            .program = program, .name = "k", .blocks = 1, .threads = 1, .parameters = &parameter};
        ck_assert_msg(device_launch(&launch) == EXEC_DONE, "%s: %s", accesses[k],
                      device_sentence(&launch));
        ck_assert_msg(*(uint32_t *)out == 8, "%s: %u", accesses[k], *(uint32_t *)out);
        exec_program_destroy(program);
        device_reset();
    }
}
END_TEST

/* Of a module's .shared variables a kernel has those that it names, and those that device functions
 * have that it can reach: separately compiled kernels of one program may have more together than a
 * block can hold. ptxas of CUDA 13.0 counts the same. */
START_TEST(shared_memory_of_a_module)
{
    static const struct {
        const char *name;
        uint32_t bytes;
    } rows[] = {{"none", 0}, {"first", 700000}, {"second", 700016}, {"calls", 20}, {"both", 132}};
    void *out;
    const uint64_t parameter = device_buffer(256, &out);
    used = 0;
    say(".version 8.0\n.target sm_80\n.address_size 64\n"
        ".shared .align 4 .b8 a[700000];\n.shared .align 16 .b8 b[700016];\n"
        ".shared .align 4 .b8 c[20];\n.shared .align 4 .b8 d[112];\n"
        ".func (.reg .b32 r) get(.reg .b32 x) {\n"
        "st.shared.u32 [c+16], x;\nld.shared.u32 r, [c+16];\nret;\n}\n"
        ".visible .entry none(.param .u64 p) {\nret;\n}\n"
        ".visible .entry first(.param .u64 p) {\nst.shared.u32 [a], 1;\nret;\n}\n"
        ".visible .entry second(.param .u64 p) {\nst.shared.u32 [b+700012], 1;\nret;\n}\n"
        ".visible .entry calls(.param .u64 p) {\n.reg .b32 %%a;\n.reg .b64 %%p;\n"
        "ld.param.u64 %%p, [p];\nmov.u32 %%a, 5;\ncall (%%a), get, (%%a);\n"
        "st.global.u32 [%%p], %%a;\nret;\n}\n"
        ".visible .entry both(.param .u64 p) {\n.reg .b32 %%a, %%b;\n.reg .b64 %%p;\n"
        "ld.param.u64 %%p, [p];\nmov.u32 %%a, 5;\nst.shared.u32 [d], 6;\n"
        "st.shared.u32 [d+108], 7;\ncall (%%a), get, (%%a);\nld.shared.u32 %%b, [d];\n"
        "st.global.v2.u32 [%%p], {%%a, %%b};\nld.shared.u32 %%b, [d+108];\n"
        "st.global.u32 [%%p+8], %%b;\nret;\n}\n");
    struct exec_program *program = device_program(text);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const struct exec_function *function = exec_function_find(program, rows[k].name);
        ck_assert_ptr_nonnull(function);
        ck_assert_msg(exec_function_info(function)->static_shared == rows[k].bytes,
                      "%s has %u bytes", rows[k].name, exec_function_info(function)->static_shared);
    }
    struct device_run launch = {
        .program = program, .name = "calls", .blocks = 1, .threads = 1, .parameters = &parameter};
    device_run(&launch);
    ck_assert_uint_eq(*(uint32_t *)out, 5);
    launch.name = "both";
    device_run(&launch);
    static const uint32_t expected[] = {5, 6, 7};
    ck_assert_mem_eq(out, expected, sizeof expected);
    exec_program_destroy(program);
    device_reset();
}
END_TEST

/* Dynamic shared memory begins behind the static one, at a multiple of what any of the module's
 * variables in it asks for, at least 16. The gap counts as static, as on an H200 (580.159.04). */
START_TEST(dynamic_shared_memory_is_aligned)
{
    static const struct {
        const char *variables, *own;
        uint32_t fixed, begins;
    } rows[] = {
        {"", "", 20, 0},
        {".extern .shared .align 4 .b8 d[];", "d", 32, 32},
        {".extern .shared .align 32 .b8 d[];", "d", 32, 32},
        {".extern .shared .align 128 .b8 d[];", "d", 128, 128},
        {".extern .shared .align 1024 .b8 d[];", "d", 1024, 1024},
        {".extern .shared .align 128 .b8 e[];.extern .shared .align 4 .b8 d[];", "d", 128, 128},
        {".extern .shared .align 128 .b8 e[];", "", 128, 0},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        void *out;
        const uint64_t parameter = device_buffer(256, &out);
        used = 0;
        say(".version 8.0\n.target sm_80\n.address_size 64\n%s\n"
            ".visible .entry k(.param .u64 p) {\n.reg .b32 %%a;\n.reg .b64 %%p;\n"
            ".shared .align 4 .b8 s[20];\nld.param.u64 %%p, [p];\nmov.u32 %%a, 0;\n"
            "st.shared.u32 [s], %%a;\n",
            rows[k].variables);
        if (*rows[k].own) say("mov.u32 %%a, %s;\nst.shared.u8 [%%a+39], %%a;\n", rows[k].own);
        say("st.global.u32 [%%p], %%a;\nret;\n}\n");
        struct exec_program *program = device_program(text);
        struct device_run launch = {.program = program,
                                    .name = "k",
                                    .blocks = 1,
                                    .threads = 1,
                                    .shared = 40,
                                    .parameters = &parameter};
        device_run(&launch);
        ck_assert_uint_eq(*(uint32_t *)out, rows[k].begins);
        const struct exec_function *function = exec_function_find(program, "k");
        ck_assert_uint_eq(exec_function_info(function)->static_shared, rows[k].fixed);
        exec_program_destroy(program);
        device_reset();
    }
}
END_TEST

/* ---- counts -------------------------------------------------------------------------------------
 */

START_TEST(counts_of_accesses)
{
    static const char ptx[] =
        ".version 9.0\n.target sm_75\n.address_size 64\n"
        ".visible .entry k(.param .u64 p, .param .u32 stride) {\n.reg .b64 %a, %o;\n"
        ".reg .b32 %t, %s, %x, %y;\nld.param.u64 %a, [p];\nld.param.u32 %s, [stride];\n"
        "mov.u32 %t, %tid.x;\nmul.lo.u32 %t, %t, %s;\ncvt.u64.u32 %o, %t;\nadd.u64 %a, %a, %o;\n"
        "ld.global.u32 %x, [%a];\nld.global.u32 %y, [%a+4];\nadd.u32 %x, %x, %y;\n"
        "ld.global.u32 %y, [%a+8];\nadd.u32 %x, %x, %y;\nst.global.u32 [%a], %x;\nret;\n}\n";
    struct exec_program *program = device_program(ptx);
    struct {
        uint64_t p;
        uint32_t stride;
    } parameters = {device_buffer(65536, NULL), 4};
    struct device_run launch = {
        .program = program, .name = "k", .blocks = 1, .threads = 64, .parameters = &parameters};
    device_run(&launch);
    ck_assert_uint_eq(launch.counts.bytes_loaded, 64 * 12);
    ck_assert_uint_eq(launch.counts.bytes_stored, 64 * 4);
    /* 4 sectors a warp where aligned, 5 where it starts inside one. */
    ck_assert_uint_eq(launch.counts.transactions, 2 * (4 + 5 + 5 + 4));
    /* The first two loads are in flight together; the third waits for them. */
    ck_assert_uint_eq(launch.counts.longest_chain, 2);
    ck_assert_uint_eq(launch.counts.lane_instructions, 32 * launch.counts.warp_instructions);
    ck_assert_uint_eq(2 * launch.counts.longest_warp, launch.counts.warp_instructions);
    parameters.stride = 64;
    device_run(&launch);
    ck_assert_uint_eq(launch.counts.transactions, 2 * 4 * 32);
    exec_program_destroy(program);
    device_reset();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec_memory");
    TCase *tests = tcase_create("memory");
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, loads_and_stores, 0, SHARDS);
    tcase_add_test(tests, wide_registers);
    tcase_add_test(tests, generic_addresses);
    tcase_add_test(tests, atomics);
    tcase_add_test(tests, atomics_of_half_formats);
    tcase_add_test(tests, atomics_of_a_warp);
    tcase_add_test(tests, asynchronous_copies);
    tcase_add_test(tests, faults_say_what_happened);
    tcase_add_test(tests, a_load_may_go_on_into_padding);
    tcase_add_test(tests, a_wide_load_may_end_behind_shared_memory);
    tcase_add_test(tests, a_shared_access_takes_a_generic_address);
    tcase_add_test(tests, elements_of_arrays);
    tcase_add_test(tests, shared_memory_of_a_module);
    tcase_add_test(tests, dynamic_shared_memory_is_aligned);
    tcase_add_test(tests, counts_of_accesses);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
