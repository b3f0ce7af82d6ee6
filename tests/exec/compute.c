#include "tests/exec/compute.h"

#include "tests/exec/device.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct compute_key compute_key(const char *text, size_t length, const char *shape)
{
    struct compute_key key = {.words = 0};
    snprintf(key.text, sizeof key.text, "%.*s", (int)length, text);
    for (const char *at = key.text; *at;) {
        const size_t size = strcspn(at, ".");
        snprintf(key.word[key.words++], sizeof key.word[0], "%.*s", (int)size, at);
        at += size + (at[size] == '.');
    }
    unsigned words = 0;
    for (const char *at = shape; *at;) {
        const size_t size = strcspn(at, " ");
        snprintf(key.shape[words++], sizeof key.shape[0], "%.*s", (int)size, at);
        at += size + (at[size] == ' ');
    }
    key.carry = !strcmp(key.shape[words - 1], "cc");
    key.operands = words - key.carry;
    return key;
}

bool compute_has(const struct compute_key *key, const char *word)
{
    for (unsigned k = 1; k < key->words; k++)
        if (!strcmp(key->word[k], word)) return true;
    return false;
}

const char *compute_type(const struct compute_key *key, unsigned index)
{
    return key->word[key->words - 1 - index];
}

unsigned compute_bits(const char *type)
{
    return *type == 'p' ? 1 : (unsigned)strtoul(type + strcspn(type, "0123456789"), NULL, 10);
}

/* ---- inputs -------------------------------------------------------------------------------------
 */

static uint64_t random_bits(void)
{
    static uint64_t state = UINT64_C(0x853c49e6748fea9b);
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const uint64_t mixed = (state ^ state >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
    return mixed ^ mixed >> 29;
}

static uint64_t integer_value(unsigned index)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     2,
                                     3,
                                     7,
                                     8,
                                     15,
                                     16,
                                     17,
                                     31,
                                     32,
                                     33,
                                     63,
                                     64,
                                     65,
                                     100,
                                     127,
                                     128,
                                     255,
                                     256,
                                     0x7fff,
                                     0x8000,
                                     0xffff,
                                     0x10000,
                                     0x7fffff,
                                     0x800000,
                                     0xffffff,
                                     0x7fffffff,
                                     0x80000000,
                                     0xffffffff,
                                     0x100000000,
                                     UINT64_C(0x7fffffffffffffff),
                                     UINT64_C(0x8000000000000000),
                                     UINT64_MAX,
                                     UINT64_MAX - 1,
                                     UINT64_C(0xffffffff80000000),
                                     UINT64_C(0xffffffff7fffffff),
                                     UINT64_C(0xffffffffffff8000),
                                     UINT64_C(0xffffffffffffff80),
                                     UINT64_C(0x123456789abcdef0)};
    return edges[index % (sizeof edges / sizeof *edges)];
}

static uint64_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

static uint64_t double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
}

static const double numbers[] = {
    0.0,     1.0,     0.5,     1.5,     2.5,          3.5,          0.49999997,   2.0,
    3.0,     10.0,    100.25,  127.5,   128.0,        255.5,        256.0,        32767.5,
    32768.0, 65504.0, 65519.9, 65520.0, 65535.5,      16777217,     1e-3,         3.14159265,
    6.1e-5,  5.97e-8, 2.9e-8,  1e10,    2147483648.0, 4294967295.5, 4294967296.0, 9.3e18,
    1.85e19, 1e-30,   1e30,    1e38};

static uint64_t float_value(unsigned index, bool wide)
{
    enum { NUMBERS = sizeof numbers / sizeof *numbers };
    static const uint32_t odd32[] = {0x7f800000, 0x7fc00000, 0x7f800001, 0x00000001, 0x007fffff,
                                     0x00800000, 0x7f7fffff, 0x3f800001, 0x3f7fffff, 0x00400000};
    static const uint64_t odd64[] = {UINT64_C(0x7ff0000000000000), UINT64_C(0x7ff8000000000000),
                                     UINT64_C(0x7ff0000000000001), UINT64_C(0x0000000000000001),
                                     UINT64_C(0x000fffffffffffff), UINT64_C(0x0010000000000000),
                                     UINT64_C(0x7fefffffffffffff), UINT64_C(0x3ff0000000000001),
                                     UINT64_C(0x3810000000000000), UINT64_C(0x36a0000000000000)};
    const bool negative = index % 2;
    index = index / 2 % (NUMBERS + 10);
    uint64_t bits;
    if (index < NUMBERS)
        bits = wide ? double_bits(numbers[index]) : float_bits((float)numbers[index]);
    else
        bits = wide ? odd64[index - NUMBERS] : odd32[index - NUMBERS];
    return bits ^ (uint64_t)negative << (wide ? 63 : 31);
}

/* Bits of 16-bit floats: f16 and bf16 share the list; special values of one format are arbitrary
 * values of the other. */
static uint64_t half_value(unsigned index)
{
    static const uint16_t edges[] = {0x0000, 0x3c00, 0x3800, 0x3e00, 0x4000, 0x7bff, 0x7c00,
                                     0x7e00, 0x7c01, 0x0001, 0x03ff, 0x0400, 0x3c01, 0x3bff,
                                     0x5bff, 0x6400, 0x2e66, 0x3f80, 0x3f00, 0x4049, 0x7f7f,
                                     0x7f80, 0x7fc0, 0x0080, 0x007f, 0x4b00, 0x4b80};
    enum { EDGES = sizeof edges / sizeof *edges };
    return edges[index / 2 % EDGES] ^ (index % 2 ? 0x8000u : 0);
}

static bool is_half(const struct compute_key *key)
{
    return compute_has(key, "f16") || compute_has(key, "bf16") || compute_has(key, "f16x2") ||
           compute_has(key, "bf16x2");
}

static uint64_t edge_value(const struct compute_key *key, unsigned operand, unsigned index)
{
    const char *type = key->shape[operand + 1];
    if (*type == 'f') return float_value(index, compute_bits(type) == 64);
    if (is_half(key) && !strcmp(type, "u16")) return half_value(index);
    if (is_half(key) && !strcmp(type, "u32") && !compute_has(key, "u32"))
        return half_value(index) | half_value(index * 7 + 3) << 16;
    return integer_value(index);
}

void compute_inputs(const struct compute_key *key, struct compute_case *cases)
{
    enum { RANDOM = 256 };
    for (unsigned n = 0; n < COMPUTE_CASES; n++) {
        unsigned index = n;
        for (unsigned k = 0; k < COMPUTE_SOURCES; k++) {
            uint64_t value = random_bits();
            if (k + 1 < key->operands && n >= RANDOM) {
                if (key->operands == 2)
                    value = edge_value(key, k, n);
                else if (k == 0)
                    value = edge_value(key, k, index % 37 + (unsigned)random_bits() % 64);
                else
                    value = edge_value(key, k, (unsigned)random_bits() % 128);
            }
            cases[n].in[k] = value;
        }
        cases[n].out = cases[n].second = 0;
    }
}

/* ---- running ------------------------------------------------------------------------------------
 */

static const char *register_type(unsigned bits)
{
    return bits == 64 ? "b64" : bits == 16 ? "b16" : "b32";
}

static size_t append(char *text, size_t size, size_t used, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static size_t append(char *text, size_t size, size_t used, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    used += (size_t)vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
    return used;
}

/* Writes the text of a kernel that loads the sources, executes the instruction and stores the
 * result. The fence ends a region of machine code, so that the instruction is alone in its region:
 * accesses take LLVM longer than most rows do, and native_access_test.c covers them. */
static void write_kernel(const struct compute_key *key, const char *extra, char *text, size_t size)
{
    static const char names[] = "dabce";
    size_t used = append(text, size, 0,
                         ".version 9.0\n.target sm_120a\n.address_size 64\n"
                         ".visible .entry k(.param .u64 p0) {\n"
                         ".reg .b64 %%base, %%at, %%index;\n.reg .b32 %%i, %%t, %%n, %%x, %%y;\n"
                         ".reg .pred %%q;\n");
    for (unsigned k = 0; k < key->operands; k++) {
        const unsigned bits = compute_bits(key->shape[k]);
        used = append(text, size, used, ".reg .%s %%%c;\n",
                      bits == 1 ? "pred" : register_type(bits), names[k]);
    }
    used = append(text, size, used,
                  "ld.param.u64 %%base, [p0];\nmov.u32 %%i, %%ctaid.x;\nmov.u32 %%n, %%ntid.x;\n"
                  "mov.u32 %%t, %%tid.x;\nmad.lo.u32 %%i, %%i, %%n, %%t;\n"
                  "mul.wide.u32 %%index, %%i, 48;\nadd.u64 %%at, %%base, %%index;\n"
                  "membar.cta;\n");
    for (unsigned k = 1; k < key->operands; k++) {
        const unsigned bits = compute_bits(key->shape[k]);
        if (bits == 1)
            used = append(text, size, used,
                          "ld.global.u32 %%x, [%%at+%u];\nand.b32 %%x, %%x, 1;\n"
                          "setp.ne.u32 %%%c, %%x, 0;\n",
                          8 * (k - 1), names[k]);
        else
            used = append(text, size, used, "ld.global.%s %%%c, [%%at+%u];\n", register_type(bits),
                          names[k], 8 * (k - 1));
    }
    /* The carry flag before: bit 0 of the fourth input. */
    if (key->carry) used = append(text, size, used, "ld.global.u32 %%x, [%%at+24];\n");
    used = append(text, size, used, "membar.cta;\n");
    if (key->carry)
        used = append(text, size, used, "and.b32 %%x, %%x, 1;\nadd.cc.u32 %%y, %%x, 0xffffffff;\n");
    char instruction[96];
    snprintf(instruction, sizeof instruction, "%s", key->text);
    if (!strcmp(key->word[0], "prmt") && key->words == 3)
        snprintf(instruction, sizeof instruction, "prmt.b32.%s", key->word[1]);
    /* For three operands the row's name has a 3; a third type follows the key. */
    if (!strcmp(key->word[0], "min3") || !strcmp(key->word[0], "max3"))
        snprintf(instruction, sizeof instruction, "%.3s%s", key->text, key->text + 4);
    if (!strncmp(key->text, "cvt.pack", 8) && key->operands == 4)
        snprintf(instruction, sizeof instruction, "%s.b32", key->text);
    used = append(text, size, used, "%s %%d", instruction);
    const bool pair = !strcmp(key->word[0], "setp");
    if (pair) used = append(text, size, used, "|%%q");
    unsigned operands = key->operands;
    /* Rows share shapes; these instructions have fewer operands. */
    if (key->carry && strncmp(key->word[0], "mad", 3) != 0) operands = 3;
    if (!strcmp(key->text, "not.pred") || !strcmp(key->text, "mov.pred")) operands = 2;
    for (unsigned k = 1; k < operands; k++) used = append(text, size, used, ", %%%c", names[k]);
    used = append(text, size, used, "%s;\n", extra);
    if (key->carry) {
        used = append(text, size, used, "addc.u32 %%x, 0, 0;\n");
    } else {
        used = append(text, size, used, pair ? "selp.u32 %%x, 1, 0, %%q;\n" : "mov.u32 %%x, 0;\n");
    }
    const unsigned bits = compute_bits(key->shape[0]);
    if (bits == 1)
        used = append(text, size, used,
                      "selp.u32 %%y, 1, 0, %%d;\nmembar.cta;\nst.global.u32 [%%at+32], %%y;\n");
    else
        used = append(text, size, used, "membar.cta;\nst.global.%s [%%at+32], %%d;\n",
                      register_type(bits));
    append(text, size, used, "st.global.u32 [%%at+40], %%x;\nret;\n}\n");
}

void compute_run(const struct compute_key *key, const char *extra, struct compute_case *cases)
{
    char text[4096];
    void *bytes;
    write_kernel(key, extra, text, sizeof text);
    struct exec_program *program = device_program(text);
    const uint64_t buffer = device_buffer_of(cases, COMPUTE_CASES * sizeof *cases, &bytes);
    /* Blocks of 96 and a last warp that is not full: full and partial masks both run. */
    struct device_run run = {.program = program,
                             .name = "k",
                             .blocks = COMPUTE_CASES / 48,
                             .threads = 48,
                             .parameters = &buffer};
    device_run(&run);
    memcpy(cases, bytes, COMPUTE_CASES * sizeof *cases);
    exec_program_destroy(program);
    device_reset();
}
