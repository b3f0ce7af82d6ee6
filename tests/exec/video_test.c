/* Video instructions against the PTX ISA 9.7.18, written here a second time: parts as arrays of
 * digits, values as 64-bit integers. Forms are drawn at random from all possible ones.
 */
#include "tests/exec/device.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMS = 600, THREADS = 64 };

static uint64_t state = 12345;
static uint32_t draw(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) ^ (uint32_t)(state >> 11);
}

static uint32_t value(void)
{
    static const uint32_t edges[] = {0,          1,          0x7f,       0x80,       0xff,
                                     0x7fffffff, 0x80000000, 0xffffffff, 0x80008000, 0x7f80ff01,
                                     0x7fff8001, 33,         31,         32};
    return draw() % 3 ? draw() : edges[draw() % (sizeof edges / sizeof *edges)];
}

/* A form: the parts of its text. */
struct form {
    const char *op;
    unsigned lanes;
    bool is_signed[3]; /* d, a, b; of vset d's is false */
    bool sat, negated[3], plus_one;
    unsigned scale;
    const char *mode;      /* clamp, wrap, a comparison, or "" */
    const char *secondary; /* "", add, min, max */
    unsigned digits[3][4]; /* parts of d, a, b, the last one first */
    unsigned digit_count[3];
    unsigned size[3]; /* bits of a part; 32: no parts */
    bool third;       /* c is given */
};

static int64_t part(uint64_t source, unsigned digit, unsigned bits, bool is_signed)
{
    uint64_t field = source >> (digit * bits);
    if (bits < 64) field &= (UINT64_C(1) << bits) - 1;
    return is_signed && field >> (bits - 1) & 1 ? (int64_t)(field | ~UINT64_C(0) << bits)
                                                : (int64_t)field;
}

static int64_t clamp(int64_t x, unsigned bits, bool is_signed)
{
    const int64_t low = is_signed ? -(INT64_C(1) << (bits - 1)) : 0;
    const int64_t high = low + (INT64_C(1) << bits) - 1;
    return x < low ? low : x > high ? high : x;
}

static int64_t apply(const struct form *form, int64_t a, int64_t b)
{
    const char *op = form->op;
    if (!strncmp(op, "vadd", 4)) return a + b;
    if (!strncmp(op, "vsub", 4)) return a - b;
    if (!strncmp(op, "vabsdiff", 8)) return llabs(a - b);
    if (!strncmp(op, "vmin", 4)) return a < b ? a : b;
    if (!strncmp(op, "vmax", 4)) return a > b ? a : b;
    if (!strncmp(op, "vavrg", 5)) {
        const int64_t sum = a + b; /* halves are rounded away from zero */
        return sum >= 0 ? (sum + 1) / 2 : -((-sum + 1) / 2);
    }
    if (!strncmp(op, "vset", 4)) {
        const int sign = (a > b) - (a < b);
        return form->mode[0] == 'e'   ? sign == 0
               : form->mode[0] == 'n' ? sign != 0
               : form->mode[0] == 'l' ? sign < (form->mode[1] == 'e')
                                      : sign > -(form->mode[1] == 'e');
    }
    const int64_t amount = !strcmp(form->mode, "wrap") ? b % 32 : b > 32 ? 32 : b;
    if (!strcmp(op, "vshl")) return a * (INT64_C(1) << amount);
    int64_t shifted = a;
    for (int64_t k = 0; k < amount; k++) shifted = (shifted - (shifted & 1)) / 2;
    return shifted;
}

__extension__ typedef __int128 wide;

static uint32_t expected(const struct form *form, uint32_t a, uint32_t b, uint32_t c)
{
    if (!strcmp(form->op, "vmad")) {
        wide product = (wide)part(a, form->digits[1][0], form->size[1], form->is_signed[1]) *
                       part(b, form->digits[2][0], form->size[2], form->is_signed[2]);
        const bool flips = form->negated[0] != form->negated[1];
        const bool is_signed =
            form->is_signed[1] || form->is_signed[2] || flips || form->negated[2];
        wide third = is_signed ? (wide)(int32_t)c : (wide)c;
        if (form->negated[2]) third = -third;
        wide sum = (flips ? -product : product) + third + form->plus_one;
        for (unsigned k = 0; k < form->scale; k++) sum = (sum - (sum & 1)) / 2;
        const wide low = is_signed ? -(wide)0x80000000 : 0;
        const wide high = low + 0xffffffff;
        if (form->sat) sum = sum < low ? low : sum > high ? high : sum;
        return (uint32_t)sum;
    }
    if (form->lanes == 1) {
        int64_t x = apply(form, part(a, form->digits[1][0], form->size[1], form->is_signed[1]),
                          part(b, form->digits[2][0], form->size[2], form->is_signed[2]));
        if (form->sat) x = clamp(x, form->size[0], form->is_signed[0]);
        const int64_t y = part((uint32_t)x, 0, 32, form->is_signed[0]);
        const int64_t z = part(c, 0, 32, form->is_signed[0]);
        if (!strcmp(form->secondary, "add")) return (uint32_t)(y + z);
        if (!strcmp(form->secondary, "min")) return (uint32_t)(y < z ? y : z);
        if (!strcmp(form->secondary, "max")) return (uint32_t)(y > z ? y : z);
        if (form->size[0] == 32) return (uint32_t)x;
        unsigned char bytes[4], from[4];
        const uint32_t low = (uint32_t)x;
        memcpy(bytes, &c, 4);
        memcpy(from, &low, 4);
        for (unsigned k = 0; k < form->size[0] / 8; k++)
            bytes[form->digits[0][0] * form->size[0] / 8 + k] = from[k];
        uint32_t result;
        memcpy(&result, bytes, 4);
        return result;
    }
    const unsigned bits = 32 / form->lanes;
    const uint64_t both = (uint64_t)b << 32 | a;
    uint32_t lanes[4], sum = c;
    for (unsigned k = 0; k < form->lanes; k++) lanes[k] = c >> bits * k & ((1u << bits) - 1);
    for (unsigned n = 0; n < form->digit_count[0]; n++) {
        const unsigned k = form->digits[0][n];
        int64_t x = apply(form, part(both, form->digits[1][k], bits, form->is_signed[1]),
                          part(both, form->digits[2][k], bits, form->is_signed[2]));
        sum += (uint32_t)x;
        if (form->sat) x = clamp(x, bits, form->is_signed[0]);
        lanes[k] = (uint32_t)x & ((1u << bits) - 1);
    }
    if (form->secondary[0]) return sum;
    uint32_t result = 0;
    for (unsigned k = 0; k < form->lanes; k++) result |= lanes[k] << bits * k;
    return result;
}

/* ---- drawing a form ----------------------------------------------------------------------------
 */

static void draw_parts(struct form *form, unsigned operand, char text[16])
{
    const bool target = operand == 0;
    text[0] = 0;
    form->size[operand] = form->lanes == 1 ? 32 : 32 / form->lanes;
    form->digit_count[operand] = form->lanes;
    for (unsigned k = 0; k < form->lanes; k++)
        form->digits[operand][k] = operand == 2 && form->lanes > 1 ? form->lanes + k : k;
    if (draw() % 2) return;
    if (form->lanes == 1) {
        if (target && (form->secondary[0] || !strcmp(form->op, "vmad"))) return;
        const bool halves = draw() % 2;
        form->size[operand] = halves ? 16 : 8;
        form->digits[operand][0] = draw() % (halves ? 2 : 4);
        sprintf(text, ".%c%u", halves ? 'h' : 'b', form->digits[operand][0]);
        if (target) form->third = true;
        return;
    }
    const char kind = form->lanes == 2 ? 'h' : 'b';
    size_t used = (size_t)sprintf(text, ".%c", kind);
    if (target) {
        const unsigned mask = 1 + draw() % ((1u << form->lanes) - 1);
        form->digit_count[0] = 0;
        for (unsigned k = form->lanes; k-- > 0;) {
            if (!(mask >> k & 1)) continue;
            used += (size_t)sprintf(text + used, "%u", k);
            form->digits[0][form->digit_count[0]++] = k;
        }
        return;
    }
    for (unsigned k = form->lanes; k-- > 0;) {
        form->digits[operand][k] = draw() % (2 * form->lanes);
        used += (size_t)sprintf(text + used, "%u", form->digits[operand][k]);
    }
}

static void draw_form(struct form *form, char *text, size_t size)
{
    static const char *const names[] = {"vadd",  "vsub",  "vabsdiff",  "vmin",  "vmax",  "vshl",
                                        "vshr",  "vmad",  "vset",      "vadd2", "vsub2", "vavrg2",
                                        "vmin2", "vmax2", "vabsdiff2", "vset2", "vadd4", "vsub4",
                                        "vmin4", "vmax4", "vabsdiff4", "vset4", "vavrg4"};
    static const char *const comparisons[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    static const char *const secondaries[] = {"", "add", "min", "max"};
    static const char types[2][4] = {"u32", "s32"};
    *form = (struct form){.op = names[draw() % (sizeof names / sizeof *names)], .mode = ""};
    const char last = form->op[strlen(form->op) - 1];
    const bool set = !strncmp(form->op, "vset", 4), mad = !strcmp(form->op, "vmad");
    const bool shift = !strncmp(form->op, "vsh", 3);
    form->lanes = last == '2' ? 2 : last == '4' ? 4 : 1;
    for (unsigned k = 0; k < 3; k++) form->is_signed[k] = draw() % 2;
    if (set) form->is_signed[0] = false;
    if (shift) form->is_signed[2] = false;
    form->secondary = secondaries[mad ? 0 : draw() % (form->lanes == 1 ? 4 : 2)];
    form->sat = !set && draw() % 2 && !(form->lanes > 1 && form->secondary[0]);
    form->third = mad || form->lanes > 1 || form->secondary[0];
    if (set) form->mode = comparisons[draw() % 6];
    if (shift) form->mode = draw() % 2 ? "wrap" : "clamp";
    if (mad) {
        form->plus_one = draw() % 3 == 0;
        form->scale = draw() % 3 == 0 ? 7 : draw() % 2 ? 15 : 0;
        for (unsigned k = 0; k < 3 && !form->plus_one; k++) form->negated[k] = draw() % 4 == 0;
        if (form->negated[0] || form->negated[1]) form->negated[2] = false;
    }
    char parts[3][16], scale[16] = "";
    for (unsigned k = 0; k < 3; k++) draw_parts(form, k, parts[k]);
    if (form->scale) sprintf(scale, ".shr%u", form->scale);
    size_t used = (size_t)snprintf(text, size, "%s", form->op);
    for (unsigned k = set; k < 3; k++)
        used += (size_t)snprintf(text + used, size - used, ".%s", types[form->is_signed[k]]);
    used +=
        (size_t)snprintf(text + used, size - used, "%s%s%s%s%s%s%s", form->plus_one ? ".po" : "",
                         form->sat ? ".sat" : "", form->mode[0] ? "." : "", form->mode, scale,
                         form->secondary[0] ? "." : "", form->secondary);
    used += (size_t)snprintf(text + used, size - used, " %%d%s, %s%%a%s, %s%%b%s", parts[0],
                             form->negated[0] ? "-" : "", parts[1], form->negated[1] ? "-" : "",
                             parts[2]);
    if (form->third)
        snprintf(text + used, size - used, ", %s%%c;", form->negated[2] ? "-" : "");
    else
        snprintf(text + used, size - used, ";");
}

START_TEST(every_form_does_what_the_isa_says)
{
    static char text[FORMS / 10 * 160 + 4000];
    state = (uint64_t)_i * 7919 + 17;
    enum { EACH = FORMS / 10 };
    static struct form forms[EACH];
    char lines[EACH][160];
    size_t used = (size_t)snprintf(
        text, sizeof text,
        ".version 9.0\n.target sm_75\n.address_size 64\n"
        ".visible .entry k(.param .u64 pi, .param .u64 po) {\n.reg .b64 %%i, %%o, %%x;\n"
        ".reg .b32 %%t, %%a, %%b, %%c, %%d;\nmov.u32 %%t, %%tid.x;\nld.param.u64 %%i, [pi];\n"
        "ld.param.u64 %%o, [po];\nmul.wide.u32 %%x, %%t, 12;\nadd.u64 %%i, %%i, %%x;\n"
        "mul.wide.u32 %%x, %%t, %d;\nadd.u64 %%o, %%o, %%x;\nld.global.u32 %%a, [%%i];\n"
        "ld.global.u32 %%b, [%%i+4];\nld.global.u32 %%c, [%%i+8];\n",
        4 * EACH);
    for (unsigned k = 0; k < EACH; k++) {
        draw_form(&forms[k], lines[k], sizeof lines[k]);
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "%s\nst.global.u32 [%%o+%u], %%d;\n", lines[k], 4 * k);
    }
    snprintf(text + used, sizeof text - used, "ret;\n}\n");
    uint32_t in[THREADS][3];
    for (unsigned t = 0; t < THREADS; t++)
        for (unsigned k = 0; k < 3; k++) in[t][k] = value();
    struct exec_program *program = device_program(text);
    void *bytes;
    const uint64_t parameters[] = {device_buffer_of(in, sizeof in, NULL),
                                   device_buffer((size_t)THREADS * EACH * 4, &bytes)};
    struct device_run run = {
        .program = program, .name = "k", .blocks = 1, .threads = THREADS, .parameters = parameters};
    device_run(&run);
    const uint32_t(*out)[EACH] = bytes;
    for (unsigned t = 0; t < THREADS; t++)
        for (unsigned k = 0; k < EACH; k++) {
            const uint32_t right = expected(&forms[k], in[t][0], in[t][1], in[t][2]);
            ck_assert_msg(out[t][k] == right, "%s of 0x%x, 0x%x, 0x%x: 0x%x, expected 0x%x",
                          lines[k], in[t][0], in[t][1], in[t][2], out[t][k], right);
        }
    exec_program_destroy(program);
    device_reset();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec_video");
    TCase *tests = tcase_create("video");
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, every_form_does_what_the_isa_says, 0, 10);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
