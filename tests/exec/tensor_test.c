/* Tensor cores: every shape, type and layout is compared with the product of two matrices in plain
 * C. The lanes' shares of mma.sync matrices are written here as PTX documents them, shape by shape;
 * for wmma the test assumes only that loads, products and stores agree. PTX ISA 9.0, 9.7.14. */
#include "tests/exec/device.h"

#include <check.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32, MOST = 32 * 32, REGISTERS = 8, STRIDE = 48, WORDS = 2 * STRIDE * STRIDE };

enum type { F16, BF16, TF32, F32, F64, S8, U8, S32 };
static const struct {
    const char *name;
    uint32_t bytes;
    bool whole;
} types[] = {
    [F16] = {"f16", 2, false}, [BF16] = {"bf16", 2, false}, [TF32] = {"tf32", 4, false},
    [F32] = {"f32", 4, false}, [F64] = {"f64", 8, false},   [S8] = {"s8", 1, true},
    [U8] = {"u8", 1, true},    [S32] = {"s32", 4, true},
};

/* ---- numbers --------------------------------------------------------------------------------- */

static double float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static double half_of(uint32_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 31) return fraction ? (double)NAN : sign * (double)INFINITY;
    return sign * ldexp(exponent ? fraction + 1024 : fraction, (exponent ? exponent : 1) - 25);
}

/* Returns the value of the element at `at`. */
static double get(enum type type, const void *at)
{
    uint64_t bits = 0;
    double value;
    memcpy(&bits, at, types[type].bytes);
    switch (type) {
    case F16:
        return half_of((uint32_t)bits);
    case BF16:
        return float_of((uint32_t)bits << 16);
    case TF32:
        return float_of((uint32_t)bits & 0xffffe000u);
    case F32:
        return float_of((uint32_t)bits);
    case F64:
        memcpy(&value, &bits, sizeof value);
        return value;
    case S8:
        return (int8_t)bits;
    case U8:
        return (uint8_t)bits;
    default:
        return (int32_t)bits;
    }
}

static uint32_t seed;
static uint32_t draw(void)
{
    seed = seed * 1664525 + 1013904223;
    return seed >> 8;
}

/* Draws an element: of some magnitude, or with `whole` a small whole number, so that no sum is
 * rounded. */
static void put(enum type type, void *at, bool whole)
{
    const double value =
        whole ? (double)(draw() % 9) - 4 : ldexp((double)(draw() % 4001) - 2000, -10);
    const float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    uint64_t word = bits;
    if (type == F64) memcpy(&word, &value, sizeof word);
    if (type == BF16) word = bits >> 16;
    if (type == F16) { /* 11 bits of a number that is 0 or from 2^-10 to 4 */
        const uint32_t size = bits & 0x7fffffff;
        word = (bits >> 16 & 0x8000) | (size ? (size - (112u << 23)) >> 13 : 0);
    }
    if (types[type].whole) word = type == S32 ? draw() * 77777u : draw();
    memcpy(at, &word, types[type].bytes);
}

/* ---- products -------------------------------------------------------------------------------- */

struct product {
    uint32_t m, n, k;
    enum type a, b, c, d;
    bool saturates;
};

static double a[MOST], b[MOST], c[MOST];

/* Checks that `found` is a possible result of a * b + c at row i, column j. */
static void check_sum(const struct product *p, uint32_t i, uint32_t j, double found,
                      const char *what)
{
    double sum = c[i * p->n + j], size = fabs(sum);
    for (uint32_t x = 0; x < p->k; x++) {
        const double term = a[i * p->k + x] * b[x * p->n + j];
        sum += term;
        size += fabs(term);
    }
    double slack = ldexp(size * p->k, p->d == F64 ? -52 : -23);
    if (p->d == F16) slack += fabs(sum) * 0x1p-11 + 0x1p-25;
    if (p->d == S32) {
        slack = 0;
        if (p->saturates)
            sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
        else
            sum = (int32_t)(uint32_t)(int64_t)sum;
    }
    ck_assert_msg(fabs(found - sum) <= slack, "%s at %u, %u: %.17g, expected %.17g", what, i, j,
                  found, sum);
}

/* ---- a kernel -------------------------------------------------------------------------------- */

static struct device_run result;

/* Runs a body with the 64-bit addresses of the buffers in %in and %out, %lane and registers. */
static enum exec_end run_body(const char *body, uint32_t threads, const void *in, void *out)
{
    static char text[65536];
    snprintf(text, sizeof text,
             ".version 9.0\n.target sm_90a\n.address_size 64\n"
             ".visible .entry k(.param .u64 pi, .param .u64 po) {\n"
             ".reg .b64 %%in, %%out, %%x, %%y;\n.reg .b32 %%lane, %%s, %%t, %%r<40>;\n"
             ".reg .f32 %%f<40>;\n.reg .f64 %%g<40>;\n.reg .pred %%p;\n"
             ".shared .align 128 .b8 shared[%d];\n"
             "ld.param.u64 %%in, [pi];\nld.param.u64 %%out, [po];\nmov.u32 %%lane, %%tid.x;\n"
             "%s\nret;\n}\n",
             4 * WORDS, body);
    struct exec_program *program = device_program(text);
    void *bytes;
    const uint64_t parameters[] = {device_buffer_of(in, 4 * WORDS, NULL),
                                   device_buffer(4 * WORDS, &bytes)};
    memset(bytes, 0, 4 * WORDS);
    result = (struct device_run){.program = program,
                                 .name = "k",
                                 .blocks = 1,
                                 .threads = threads,
                                 .parameters = parameters,
                                 .limit = 1000000};
    const enum exec_end end = device_launch(&result);
    if (out != NULL) memcpy(out, bytes, 4 * WORDS);
    exec_program_destroy(program);
    device_reset();
    return end;
}

static void run(const char *body, const void *in, void *out)
{
    const enum exec_end end = run_body(body, LANES, in, out);
    ck_assert_msg(end == EXEC_DONE, "%s\n%s", body, device_sentence(&result));
}

static char body[32768];
static size_t length;

static void __attribute__((format(printf, 1, 2))) say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    length += (size_t)vsnprintf(body + length, sizeof body - length, format, arguments);
    va_end(arguments);
    ck_assert_uint_lt(length, sizeof body);
}

static char letter(enum type type)
{
    return type == F64 ? 'g' : type == F32 ? 'f' : 'r';
}

/* "{%r8, %r9}" */
static void say_registers(enum type type, uint32_t first, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) say("%s%%%c%u", k ? ", " : "{", letter(type), first + k);
    say("}");
}

static uint32_t input[WORDS], output[WORDS];

/* ---- mma.sync: fragments as PTX documents them ------------------------------------------------
 */

static uint32_t per_register(enum type type)
{
    return types[type].bytes < 4 ? 4 / types[type].bytes : 1;
}

/* Returns the row of element i of a for lane l; for `.b16` types, 32-bit types, bytes, f64. */
static uint32_t row_of_a(const struct product *p, uint32_t l, uint32_t i)
{
    const uint32_t group = l / 4;
    if (p->m == 8) return group;
    switch (p->a) {
    case F16:
    case BF16:
        if (p->k == 8) return i < 2 ? group : group + 8;
        return i < 2 || (i >= 4 && i < 6) ? group : group + 8;
    case S8:
    case U8:
        if (p->k == 16) return i < 4 ? group : group + 8;
        return i < 4 || (i >= 8 && i < 12) ? group : group + 8;
    default:
        return i % 2 == 0 ? group : group + 8;
    }
}

static uint32_t column_of_a(const struct product *p, uint32_t l, uint32_t i)
{
    const uint32_t thread = l % 4;
    switch (p->a) {
    case F16:
    case BF16:
        return thread * 2 + (i & 1) + (i >= 4 ? 8 : 0);
    case S8:
    case U8:
        return thread * 4 + (i & 3) + (i >= 8 ? 16 : 0);
    case TF32:
        return thread + (i >= 2 ? 4 : 0);
    default: /* m16n8k16: i * 2, and the same for the odd one behind it */
        return thread + (p->m == 8 ? 0 : i / 2 * 4);
    }
}

static uint32_t row_of_b(const struct product *p, uint32_t l, uint32_t i)
{
    const uint32_t thread = l % 4;
    switch (p->b) {
    case F16:
    case BF16:
        return thread * 2 + (i & 1) + (i >= 2 ? 8 : 0);
    case S8:
    case U8:
        return thread * 4 + (i & 3) + (i >= 4 ? 16 : 0);
    default:
        return thread + i * 4;
    }
}

/* Loads `count` registers of each lane from `input`, from word `at` on. */
static uint32_t load_registers(enum type type, uint32_t first, uint32_t count, uint32_t at)
{
    const uint32_t width = type == F64 ? 8 : 4;
    say("mad.wide.u32 %%x, %%lane, %u, %%in;\n", width);
    for (uint32_t k = 0; k < count; k++)
        say("ld.global.%s %%%c%u, [%%x+%u];\n",
            width == 8    ? "f64"
            : type == F32 ? "f32"
                          : "b32",
            letter(type), first + k, 4 * at + k * width * LANES);
    return at + count * width / 4 * LANES;
}

static void *element_at(enum type type, uint32_t *words, uint32_t at, uint32_t l, uint32_t i)
{
    const uint32_t per = per_register(type), width = type == F64 ? 8 : 4;
    return (char *)(words + at) + (size_t)(i / per * LANES + l) * width +
           (size_t)(i % per) * types[type].bytes;
}

static void check_mma(const struct product *p)
{
    char what[96];
    const uint32_t counts[] = {
        p->m * p->n / LANES / per_register(p->d), p->m * p->k / LANES / per_register(p->a),
        p->k * p->n / LANES / per_register(p->b), p->m * p->n / LANES / per_register(p->c)};
    snprintf(what, sizeof what, "mma.sync.aligned.m%un%uk%u.row.col%s.%s.%s.%s.%s", p->m, p->n,
             p->k, p->saturates ? ".satfinite" : "", types[p->d].name, types[p->a].name,
             types[p->b].name, types[p->c].name);
    for (int whole = 0; whole < 2; whole++) {
        length = 0;
        const uint32_t at_b = load_registers(p->a, 0, counts[1], 0);
        const uint32_t at_c = load_registers(p->b, 8, counts[2], at_b);
        load_registers(p->c, 16, counts[3], at_c);
        say("%s ", what);
        say_registers(p->d, 24, counts[0]);
        say(", ");
        say_registers(p->a, 0, counts[1]);
        say(", ");
        say_registers(p->b, 8, counts[2]);
        say(", ");
        say_registers(p->c, 16, counts[3]);
        say(";\nmad.wide.u32 %%x, %%lane, %u, %%out;\n", p->d == F64 ? 8 : 4);
        for (uint32_t k = 0; k < counts[0]; k++)
            say("st.global.%s [%%x+%u], %%%c%u;\n", p->d == F64 ? "f64" : "b32",
                k * LANES * (p->d == F64 ? 8 : 4), letter(p->d), 24 + k);

        for (uint32_t l = 0; l < LANES; l++) {
            for (uint32_t i = 0; i < p->m * p->k / LANES; i++) {
                void *at = element_at(p->a, input, 0, l, i);
                put(p->a, at, whole);
                a[row_of_a(p, l, i) * p->k + column_of_a(p, l, i)] = get(p->a, at);
            }
            for (uint32_t i = 0; i < p->k * p->n / LANES; i++) {
                void *at = element_at(p->b, input, at_b, l, i);
                put(p->b, at, whole);
                b[row_of_b(p, l, i) * p->n + l / 4] = get(p->b, at);
            }
            for (uint32_t i = 0; i < p->m * p->n / LANES; i++) {
                void *at = element_at(p->c, input, at_c, l, i);
                put(p->c, at, whole);
                c[(l / 4 + (i < 2 ? 0 : 8)) * p->n + l % 4 * 2 + (i & 1)] = get(p->c, at);
            }
        }
        run(body, input, output);
        for (uint32_t l = 0; l < LANES; l++)
            for (uint32_t i = 0; i < p->m * p->n / LANES; i++)
                check_sum(p, l / 4 + (i < 2 ? 0 : 8), l % 4 * 2 + (i & 1),
                          get(p->d, element_at(p->d, output, 0, l, i)), what);
    }
}

START_TEST(mma_is_the_product)
{
    static const struct product products[] = {
        {16, 8, 8, F16, F16, F16, F16, false},   {16, 8, 16, F16, F16, F16, F16, false},
        {16, 8, 8, F16, F16, F32, F32, false},   {16, 8, 16, F16, F16, F32, F32, false},
        {16, 8, 8, BF16, BF16, F32, F32, false}, {16, 8, 16, BF16, BF16, F32, F32, false},
        {16, 8, 4, TF32, TF32, F32, F32, false}, {16, 8, 8, TF32, TF32, F32, F32, false},
        {8, 8, 4, F64, F64, F64, F64, false},    {16, 8, 4, F64, F64, F64, F64, false},
        {16, 8, 8, F64, F64, F64, F64, false},   {16, 8, 16, F64, F64, F64, F64, false},
    };
    static const uint32_t shapes[][3] = {{8, 8, 16}, {16, 8, 16}, {16, 8, 32}};
    static const enum type bytes[] = {S8, U8};
    seed = 1;
    for (size_t k = 0; k < sizeof products / sizeof *products; k++) check_mma(&products[k]);
    for (size_t k = 0; k < 3; k++)
        for (size_t mix = 0; mix < 8; mix++)
            check_mma(&(struct product){shapes[k][0], shapes[k][1], shapes[k][2], bytes[mix & 1],
                                        bytes[mix >> 1 & 1], S32, S32, mix >> 2});
}
END_TEST

/* ---- wmma ------------------------------------------------------------------------------------ */

enum space { GLOBAL, GENERIC, SHARED, SHARED_GENERIC, SPACES };

/* The place and layout of a matrix in `input`, in words. */
struct place {
    uint32_t at, rows, columns;
    bool by_rows;
    enum type type;
};

static void *place_of(const struct place *place, uint32_t *words, uint32_t row, uint32_t column)
{
    const uint32_t index = place->by_rows ? row * STRIDE + column : column * STRIDE + row;
    return (char *)(words + place->at) + (size_t)index * types[place->type].bytes;
}

static uint32_t fill(const struct place *place, double *values, bool whole)
{
    for (uint32_t i = 0; i < place->rows; i++)
        for (uint32_t j = 0; j < place->columns; j++) {
            put(place->type, place_of(place, input, i, j), whole);
            values[i * place->columns + j] = get(place->type, place_of(place, input, i, j));
        }
    const uint32_t lines = place->by_rows ? place->rows : place->columns;
    return place->at + lines * STRIDE * types[place->type].bytes / 4;
}

static uint32_t wmma_registers(enum type type, uint32_t elements, bool factor)
{
    return factor && type == F16 ? REGISTERS : elements / LANES / per_register(type);
}

static void say_load(const char *shape, char name, const struct place *place, enum space space,
                     uint32_t first, uint32_t count)
{
    const char *layout = place->by_rows ? "row" : "col";
    const char *type = types[place->type].name;
    if (space == SHARED)
        say("wmma.load.%c.sync.aligned.%s.%s.shared.%s ", name, layout, shape, type);
    else
        say("wmma.load.%c.sync.aligned.%s.%s%s.%s ", name, layout, shape,
            space == GLOBAL ? ".global" : "", type);
    say_registers(place->type, first, count);
    if (space == SHARED)
        say(", [shared+%u], %%s;\n", 4 * place->at);
    else
        say(", [%s+%u], %d;\n", space == SHARED_GENERIC ? "%y" : "%in", 4 * place->at, STRIDE);
}

/* `how`: a bit each for the layouts of a, b, c and d; then the space. */
static void check_wmma(const struct product *p, unsigned how, bool whole)
{
    const enum space space = (enum space)(how >> 4);
    char shape[24], what[128];
    const bool by[4] = {how & 1, how >> 1 & 1, how >> 2 & 1, how >> 3 & 1};
    snprintf(shape, sizeof shape, "m%un%uk%u", p->m, p->n, p->k);
    struct place pa = {0, p->m, p->k, by[0], p->a}, pb = {0, p->k, p->n, by[1], p->b};
    struct place pc = {0, p->m, p->n, by[2], p->c};
    const struct place pd = {0, p->m, p->n, by[3], p->d};
    pb.at = fill(&pa, a, whole);
    pc.at = fill(&pb, b, whole);
    ck_assert_uint_le(fill(&pc, c, whole), WORDS);
    const uint32_t counts[] = {
        wmma_registers(p->d, p->m * p->n, false), wmma_registers(p->a, p->m * p->k, true),
        wmma_registers(p->b, p->k * p->n, true), wmma_registers(p->c, p->m * p->n, false)};
    length = 0;
    if (space >= SHARED) { /* a copy of all, 16 bytes at a time */
        say("mov.u32 %%t, %%lane;\nmov.u64 %%y, shared;\ncvta.shared.u64 %%y, %%y;\nCOPY:\n"
            "mul.wide.u32 %%x, %%t, 16;\nadd.u64 %%x, %%x, %%in;\n"
            "ld.global.v4.u32 {%%r0, %%r1, %%r2, %%r3}, [%%x];\nsub.u64 %%x, %%x, %%in;\n"
            "add.u64 %%x, %%x, %%y;\nst.v4.u32 [%%x], {%%r0, %%r1, %%r2, %%r3};\n"
            "add.u32 %%t, %%t, 32;\nsetp.lt.u32 %%p, %%t, %d;\n@%%p bra COPY;\n"
            "bar.sync 0;\n",
            WORDS / 4);
    }
    say("mov.u32 %%s, %d;\n", STRIDE);
    say_load(shape, 'a', &pa, space, 0, counts[1]);
    say_load(shape, 'b', &pb, space, 8, counts[2]);
    say_load(shape, 'c', &pc, space, 16, counts[3]);
    snprintf(what, sizeof what, "wmma.mma.sync.aligned.%s.%s.%s.%s", by[0] ? "row" : "col",
             by[1] ? "row" : "col", shape, types[p->d].name);
    say("%s", what);
    if (p->a != F16) say(".%s.%s", types[p->a].name, types[p->b].name);
    say(".%s%s ", types[p->c].name, p->saturates ? ".satfinite" : "");
    say_registers(p->d, 24, counts[0]);
    say(", ");
    say_registers(p->a, 0, counts[1]);
    say(", ");
    say_registers(p->b, 8, counts[2]);
    say(", ");
    say_registers(p->c, 16, counts[3]);
    say(";\nwmma.store.d.sync.aligned.%s.%s.global.%s [%%out], ", by[3] ? "row" : "col", shape,
        types[p->d].name);
    say_registers(p->d, 24, counts[0]);
    say(", %%s;\n");
    run(body, input, output);
    for (uint32_t i = 0; i < p->m; i++)
        for (uint32_t j = 0; j < p->n; j++)
            check_sum(p, i, j, get(p->d, place_of(&pd, output, i, j)), body);
}

static void check_layouts(const struct product *p)
{
    for (unsigned how = 0; how < 16; how++)
        check_wmma(p, how | (how * 7 / 3 % SPACES) << 4, how & 1);
    for (unsigned space = 0; space < SPACES; space++) check_wmma(p, space << 4 | 9, false);
}

START_TEST(wmma_is_the_product)
{
    static const uint32_t shapes[][3] = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}};
    static const enum type of_half[][2] = {{F16, F16}, {F16, F32}, {F32, F16}, {F32, F32}};
    seed = 2;
    for (size_t k = 0; k < 3; k++) {
        const uint32_t m = shapes[k][0], n = shapes[k][1], depth = shapes[k][2];
        for (size_t i = 0; i < 4; i++)
            check_layouts(
                &(struct product){m, n, depth, F16, F16, of_half[i][0], of_half[i][1], false});
        check_layouts(&(struct product){m, n, depth, BF16, BF16, F32, F32, false});
        check_layouts(&(struct product){m, n, depth, S8, S8, S32, S32, false});
        check_layouts(&(struct product){m, n, depth, U8, U8, S32, S32, true});
    }
    check_layouts(&(struct product){16, 16, 8, TF32, TF32, F32, F32, false});
    check_layouts(&(struct product){8, 8, 4, F64, F64, F64, F64, false});
}
END_TEST

/* Without a stride the matrix is dense. */
START_TEST(a_matrix_without_a_stride_is_dense)
{
    for (uint32_t k = 0; k < WORDS; k++) input[k] = k;
    run("wmma.load.c.sync.aligned.row.m32n8k16.global.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, "
        "%f7}, [%in];\nwmma.store.d.sync.aligned.col.m32n8k16.global.f32 [%out], {%f0, %f1, %f2, "
        "%f3, %f4, %f5, %f6, %f7};",
        input, output);
    for (uint32_t row = 0; row < 32; row++)
        for (uint32_t column = 0; column < 8; column++)
            ck_assert_uint_eq(output[column * 32 + row], row * 8 + column);
}
END_TEST

/* ---- the edges of numbers -------------------------------------------------------------------- */

/* Returns d of one product in which all elements of a, of b and of c are equal; bits of d and c. */
static uint32_t uniform(const char *types_of, uint32_t a_bits, uint32_t b_bits, uint32_t c_bits)
{
    const bool half = !strncmp(types_of, "f16", 3);
    length = 0;
    for (uint32_t k = 0; k < 4; k++) say("mov.b32 %%r%u, 0x%x;\n", k, a_bits);
    for (uint32_t k = 4; k < 6; k++) say("mov.b32 %%r%u, 0x%x;\n", k, b_bits);
    for (uint32_t k = 6; k < 10; k++)
        say("mov.b32 %%r%u, 0x%x;\nmov.b32 %%f%u, %%r%u;\n", k, c_bits, k, k);
    say("mma.sync.aligned.m16n8k16.row.col.%s ", types_of);
    if (half)
        say("{%%r20, %%r21}, {%%r0, %%r1, %%r2, %%r3}, {%%r4, %%r5}, {%%r6, %%r7};\n");
    else
        say("{%%f20, %%f21, %%f22, %%f23}, {%%r0, %%r1, %%r2, %%r3}, {%%r4, %%r5}, "
            "{%%f6, %%f7, %%f8, %%f9};\nmov.b32 %%r20, %%f20;\n");
    say("st.global.b32 [%%out], %%r20;\n");
    run(body, input, output);
    return output[0];
}

START_TEST(infinities_nan_and_subnormals)
{
    static const struct {
        const char *types;
        uint32_t a, b, c, d;
    } rows[] = {
        {"f32.f16.f16.f32", 0x7c007c00, 0x3c003c00, 0, 0x7f800000},          /* inf * 1 */
        {"f32.f16.f16.f32", 0x7c007c00, 0x00000000, 0, 0x7fffffff},          /* inf * 0 */
        {"f32.f16.f16.f32", 0x7c007c00, 0x3c003c00, 0xff800000, 0x7fffffff}, /* inf - inf */
        {"f32.f16.f16.f32", 0x7e017e01, 0x3c003c00, 0, 0x7fffffff},          /* NaN */
        {"f32.f16.f16.f32", 0x3c003c00, 0x3c003c00, 0xffc12345, 0x7fffffff},
        {"f32.f16.f16.f32", 0x00010001, 0x3c003c00, 0, 0x35800000},          /* 16 * 2^-24 */
        {"f32.f16.f16.f32", 0x78007800, 0x78007800, 0, 0x50800000},          /* 16 * 2^30 */
        {"f32.f16.f16.f32", 0x80008000, 0x3c003c00, 0x80000000, 0x00000000}, /* only -0 */
        {"f16.f16.f16.f16", 0x7bff7bff, 0x3c003c00, 0, 0x7c007c00},          /* overflow */
        {"f16.f16.f16.f16", 0x6d006d00, 0x3c003c00, 0, 0x7c007c00},          /* 81920 */
        {"f16.f16.f16.f16", 0x6bff6bff, 0x3c003c00, 0x4c004c00, 0x7c007c00}, /* 65520 */
        {"f16.f16.f16.f16", 0x6bff6bff, 0x3c003c00, 0x4bff4bff, 0x7bff7bff}, /* less */
        {"f16.f16.f16.f16", 0x7c007c00, 0x80008000, 0, 0x7fff7fff},
        {"f16.f16.f16.f16", 0xfc00fc00, 0x3c003c00, 0, 0xfc00fc00},
        {"f16.f16.f16.f16", 0x00010001, 0x3c003c00, 0x00010001, 0x00110011}, /* 17 * 2^-24 */
        {"f16.f16.f16.f16", 0x10001000, 0x0c000c00, 0, 0x00200020},          /* 16 * 2^-23 */
        {"f16.f16.f16.f16", 0x01000100, 0x04000400, 0x00010001, 0x00010001}, /* too small */
        {"f32.bf16.bf16.f32", 0x7f807f80, 0xbf80bf80, 0, 0xff800000},
        {"f32.bf16.bf16.f32", 0x7f007f00, 0x40004000, 0, 0x7f800000}, /* 2^127 * 2 */
        {"f32.bf16.bf16.f32", 0x00010001, 0x3f803f80, 0, 0x00100000}, /* 16 * 2^-133 */
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const uint32_t d = uniform(rows[k].types, rows[k].a, rows[k].b, rows[k].c);
        ck_assert_msg(d == rows[k].d, "row %zu, %s: %08x, expected %08x", k, rows[k].types, d,
                      rows[k].d);
    }
}
END_TEST

/* Products are exact; they are aligned to the largest with 25 bits after the point, added, then
 * truncated. */
START_TEST(sums_are_cut_at_two_bits_more_than_f32_has)
{
    /* 16 * 2^-25 are four units in the last place of 1; addends of 2^-26 are truncated. */
    ck_assert_uint_eq(uniform("f32.f16.f16.f32", 0x0c000c00, 0x08000800, 0x3f800000), 0x3f800004);
    ck_assert_uint_eq(uniform("f32.f16.f16.f32", 0x08000800, 0x08000800, 0x3f800000), 0x3f800000);
    ck_assert_uint_eq(uniform("f32.f16.f16.f32", 0x88000800, 0x08000800, 0x3f800000), 0x3f800000);
    /* (1 + 2^-10)^2 needs 21 bits, and sixteen of them still fit. */
    ck_assert_uint_eq(uniform("f32.f16.f16.f32", 0x3c013c01, 0x3c013c01, 0), 0x41804008);
    /* A negative sum below half the smallest number is +0. */
    ck_assert_uint_eq(uniform("f16.f16.f16.f16", 0x80018001, 0x00010001, 0), 0);
}
END_TEST

/* ---- ldmatrix, stmatrix, movmatrix ----------------------------------------------------------- */

static uint16_t tile[4][8][8];

static void fill_tiles(void)
{
    for (uint32_t k = 0; k < 4 * 64; k++) ((uint16_t *)tile)[k] = (uint16_t)(k * 257 + 3);
}

/* Returns the part of the tiles that register `matrix` of lane l has. */
static uint32_t share(uint32_t matrix, uint32_t l, bool transposed)
{
    const uint32_t i = l / 4, j = l % 4 * 2;
    const uint16_t low = transposed ? tile[matrix][j][i] : tile[matrix][i][j];
    const uint16_t high = transposed ? tile[matrix][j + 1][i] : tile[matrix][i][j + 1];
    return low | (uint32_t)high << 16;
}

static void check_ldmatrix(uint32_t count, bool transposed, bool generic)
{
    /* Lane l copies 16 bytes, row l of all, to row 31 - l of shared memory, and passes that
     * address. */
    memset(input, 0, sizeof input);
    memcpy(input, tile, sizeof tile);
    length = 0;
    say("mul.wide.u32 %%x, %%lane, 16;\nadd.u64 %%x, %%x, %%in;\n"
        "ld.global.v4.u32 {%%r0, %%r1, %%r2, %%r3}, [%%x];\nmov.u32 %%s, shared;\n"
        "sub.u32 %%t, 31, %%lane;\nmad.lo.u32 %%t, %%t, 16, %%s;\n"
        "st.shared.v4.u32 [%%t], {%%r0, %%r1, %%r2, %%r3};\nbar.sync 0;\n"
        "cvt.u64.u32 %%y, %%t;\ncvta.shared.u64 %%y, %%y;\n");
    say("ldmatrix.sync.aligned.m8n8.x%u%s%s.b16 ", count, transposed ? ".trans" : "",
        generic ? "" : ".shared");
    say_registers(S32, 8, count);
    say(", [%s];\nmad.wide.u32 %%x, %%lane, 4, %%out;\n", generic ? "%y" : "%t");
    for (uint32_t k = 0; k < count; k++) say("st.global.u32 [%%x+%u], %%r%u;\n", 128 * k, 8 + k);
    run(body, input, output);
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t l = 0; l < LANES; l++)
            ck_assert_msg(output[32 * k + l] == share(k, l, transposed), "%s: %u, %u", body, k, l);
}

static void check_stmatrix(uint32_t count, bool transposed, bool generic)
{
    for (uint32_t k = 0; k < 4; k++)
        for (uint32_t l = 0; l < LANES; l++) input[32 * k + l] = share(k, l, transposed);
    length = 0;
    say("mad.wide.u32 %%x, %%lane, 4, %%in;\n");
    for (uint32_t k = 0; k < 4; k++) say("ld.global.u32 %%r%u, [%%x+%u];\n", 8 + k, 128 * k);
    say("mov.u32 %%s, shared;\nsub.u32 %%t, 31, %%lane;\nmad.lo.u32 %%t, %%t, 16, %%s;\n"
        "cvt.u64.u32 %%y, %%t;\ncvta.shared.u64 %%y, %%y;\n"
        "st.shared.v4.u32 [%%t], {0, 0, 0, 0};\nbar.sync 0;\n");
    say("stmatrix.sync.aligned.m8n8.x%u%s%s.b16 [%s], ", count, transposed ? ".trans" : "",
        generic ? "" : ".shared", generic ? "%y" : "%t");
    say_registers(S32, 8, count);
    say(";\nbar.sync 0;\nld.shared.v4.u32 {%%r0, %%r1, %%r2, %%r3}, [%%t];\n"
        "mad.wide.u32 %%x, %%lane, 16, %%out;\n"
        "st.global.v4.u32 [%%x], {%%r0, %%r1, %%r2, %%r3};\n");
    run(body, input, output);
    static const uint16_t none[8];
    for (uint32_t k = 0; k < 4; k++)
        for (uint32_t row = 0; row < 8; row++)
            ck_assert_msg(
                !memcmp((char *)output + 128 * k + 16 * row, k < count ? tile[k][row] : none, 16),
                "%s: %u, %u", body, k, row);
}

START_TEST(matrices_by_rows_that_lanes_name)
{
    fill_tiles();
    for (uint32_t count = 1; count <= 4; count *= 2)
        for (int how = 0; how < 4; how++) {
            check_ldmatrix(count, how & 1, how >> 1);
            check_stmatrix(count, how & 1, how >> 1);
        }
}
END_TEST

START_TEST(movmatrix_transposes)
{
    fill_tiles();
    for (uint32_t l = 0; l < LANES; l++) input[l] = share(0, l, false);
    run("mad.wide.u32 %x, %lane, 4, %in;\nmad.wide.u32 %y, %lane, 4, %out;\n"
        "ld.global.u32 %r1, [%x];\nmovmatrix.sync.aligned.m8n8.trans.b16 %r1, %r1;\n"
        "st.global.u32 [%y], %r1;",
        input, output);
    for (uint32_t l = 0; l < LANES; l++) ck_assert_uint_eq(output[l], share(0, l, true));
}
END_TEST

/* ---- what is wrong --------------------------------------------------------------------------- */

#define PRODUCT                                                                                    \
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%g0, %g1}, {%g2}, {%g3}, {%g4, %g5};\n"
#define LOAD(address, stride)                                                                      \
    "wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, " \
    "[" address "], " stride ";\n"

START_TEST(what_is_wrong_is_named)
{
    static const struct {
        const char *body;
        uint32_t threads;
        enum exec_end end;
        const char *words;
    } rows[] = {
        {PRODUCT, 24, EXEC_MASK, "only 24 of 32 lanes"},
        {"setp.eq.u32 %p, %lane, 5;\n@%p exit;\n" PRODUCT, 32, EXEC_MASK, "only 31 of 32 lanes"},
        /* Some lanes are at another product: here the first one in the text. */
        {"setp.lt.u32 %p, %lane, 8;\n@%p bra ONE;\n" PRODUCT "bra END;\nONE:\n" PRODUCT "END:\n",
         32, EXEC_MASK, "only 24 of 32 lanes"},
        /* Some lanes wait at a barrier of the warp. */
        {"setp.lt.u32 %p, %lane, 8;\n@%p bar.warp.sync -1;\n@!%p " PRODUCT, 32, EXEC_ABSENT,
         "deadlock"},
        {LOAD("%in+2", "16"), 32, EXEC_MISALIGNED, "multiple of"},
        {LOAD("%in+8", "16"), 32, EXEC_MISALIGNED, "not a multiple of 16"},
        {LOAD("%in", "18"), 32, EXEC_MISALIGNED, "not a multiple of 16"},
        {"wmma.store.d.sync.aligned.col.m8n32k16.f16 [%out], {%r1, %r2, %r3, %r4}, 12;", 32,
         EXEC_MISALIGNED, "a store of 16 bytes"},
        {LOAD("%in+18176", "16"), 32, EXEC_OUT_OF_BOUNDS, "past the end"},
        {LOAD("%in", "100000"), 32, EXEC_OUT_OF_BOUNDS, "past the end"},
        {LOAD("%in", "%lane"), 32, EXEC_UNSUPPORTED, "differs between lanes"},
        {"mad.wide.u32 %x, %lane, 32, %in;\n" LOAD("%x", "16"), 32, EXEC_UNSUPPORTED,
         "differs between lanes"},
        {"mul.lo.u32 %s, %lane, 8;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%s];\n", 32,
         EXEC_MISALIGNED, "multiple of"},
        {"mov.b32 %r0, 0x44444454;\n"
         "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r3, "
         "%r4}, {%r5, %r6}, {%r7, %r8}, %r0, 0;\n",
         32, EXEC_UNSUPPORTED, "positions of a sparse matrix's elements, 0x5"},
        {"ldmatrix.sync.aligned.m8n8.x1.b16 {%r1}, [%in];\n", 32, EXEC_WRONG_SPACE, "shared"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const enum exec_end end = run_body(rows[k].body, rows[k].threads, input, output);
        ck_assert_msg(end == rows[k].end, "%s: %d, expected %d: %s", rows[k].body, end, rows[k].end,
                      device_sentence(&result));
        ck_assert_msg(strstr(device_sentence(&result), rows[k].words) != NULL, "%s: %s",
                      rows[k].body, device_sentence(&result));
    }
}
END_TEST

/* Lanes that arrive one after another wait for each other; lanes excluded by a guard do not. */
START_TEST(lanes_wait_for_the_warp)
{
    fill_tiles();
    for (uint32_t l = 0; l < LANES; l++) input[l] = share(0, l, false);
    run("mad.wide.u32 %x, %lane, 4, %in;\nmad.wide.u32 %y, %lane, 4, %out;\n"
        "setp.lt.u32 %p, %lane, 9;\nld.global.u32 %r1, [%x];\n@%p bra LATE;\nBACK:\n"
        "movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1;\nst.global.u32 [%y], %r2;\nbra END;\n"
        "LATE:\nadd.u32 %r3, %r1, 1;\nbra BACK;\nEND:\nsetp.lt.u32 %p, %lane, 40;\n@!%p " PRODUCT,
        input, output);
    for (uint32_t l = 0; l < LANES; l++) ck_assert_uint_eq(output[l], share(0, l, true));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec_tensor");
    TCase *tests = tcase_create("tensor");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, mma_is_the_product);
    tcase_add_test(tests, wmma_is_the_product);
    tcase_add_test(tests, a_matrix_without_a_stride_is_dense);
    tcase_add_test(tests, infinities_nan_and_subnormals);
    tcase_add_test(tests, sums_are_cut_at_two_bits_more_than_f32_has);
    tcase_add_test(tests, matrices_by_rows_that_lanes_name);
    tcase_add_test(tests, movmatrix_transposes);
    tcase_add_test(tests, what_is_wrong_is_named);
    tcase_add_test(tests, lanes_wait_for_the_warp);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
