/* Random programs of one or two warps: straight-line code of mixed types, and branching code with
 * nested divergent ifs, bounded loops, jumps, calls, local memory, and shuffles and exchanges where
 * all threads meet. Programs end by construction: loops count down, and all jumps except a loop's
 * go forward. */
#include "tests/differential/differential.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRAIGHT_PROGRAMS = 320, BRANCHING_PROGRAMS = 400, DEPTH = 3, LOCAL_WORDS = 16 };

/* ---- registers ---------------------------------------------------------------------------------
 * Every kind has its own, all of them are loaded from the input and stored in the end. */

enum pool { POOL_H, POOL_R, POOL_L, POOL_E, POOL_G, POOL_W, POOL_V, POOL_F, POOL_Z, POOL_P, POOLS };

static const struct {
    char name;
    unsigned bits, count;
    enum diff_kind kind;
} pools[POOLS] = {[POOL_H] = {'h', 16, 6, DIFF_INT16},  [POOL_R] = {'r', 32, 10, DIFF_INT32},
                  [POOL_L] = {'l', 64, 6, DIFF_INT64},  [POOL_E] = {'e', 16, 5, DIFF_F16},
                  [POOL_G] = {'g', 16, 4, DIFF_BF16},   [POOL_W] = {'w', 32, 4, DIFF_F16X2},
                  [POOL_V] = {'v', 32, 4, DIFF_BF16X2}, [POOL_F] = {'f', 32, 8, DIFF_F32},
                  [POOL_Z] = {'z', 64, 6, DIFF_F64},    [POOL_P] = {'p', 1, 6, DIFF_PRED}};

static enum pool pool_of(enum diff_kind kind)
{
    for (unsigned k = 0; k < POOLS; k++)
        if (pools[k].kind == kind) return (enum pool)k;
    return POOL_R; /* bytes, amounts, pairs of 16 bits */
}

static unsigned pool_bytes(enum pool pool)
{
    return pools[pool].bits == 1 ? 4 : pools[pool].bits / 8;
}

/* The arrays of all registers, one after the other: returns their bytes per thread. */
static unsigned all_bytes(void)
{
    unsigned bytes = 0;
    for (unsigned k = 0; k < POOLS; k++) bytes += pool_bytes((enum pool)k) * pools[k].count;
    return bytes;
}

/* ---- writing -----------------------------------------------------------------------------------
 */

struct program {
    const struct diff_case *one;
    struct diff_random random;
    struct diff_text *text;
    const char *kernel;
    unsigned labels;
    unsigned loops[DEPTH + 1]; /* labels after the enclosing loops */
    unsigned loop_count;
    unsigned budget;   /* instructions left to write */
    unsigned computed; /* instructions counted against one->prefix */
    bool ending;       /* threads may exit: nothing waits for them any more */
    bool plain;        /* inside a function: no predicates, and only its own registers */
};

static unsigned below(struct program *program, unsigned limit)
{
    return diff_below(&program->random, limit);
}

static unsigned any(struct program *program, enum pool pool)
{
    return below(program, pools[pool].count);
}

/* ---- one instruction ---------------------------------------------------------------------------
 */

/* Chooses an opcode first and then a form, so that the many forms of cvt and setp do not crowd out
 * others. */
static const struct {
    const char *opcode;
    unsigned weight;
} weights[] = {{"add", 8},      {"sub", 6},   {"mul", 7},  {"mad", 5},  {"fma", 7},  {"div", 2},
               {"rem", 2},      {"abs", 2},   {"neg", 2},  {"min", 3},  {"max", 3},  {"popc", 1},
               {"clz", 1},      {"bfind", 1}, {"brev", 1}, {"bfe", 2},  {"bfi", 2},  {"sad", 1},
               {"mul24", 1},    {"mad24", 1}, {"dp4a", 1}, {"dp2a", 1}, {"rcp", 1},  {"sqrt", 1},
               {"copysign", 1}, {"testp", 1}, {"set", 3},  {"setp", 7}, {"selp", 4}, {"slct", 2},
               {"and", 3},      {"or", 3},    {"xor", 3},  {"not", 1},  {"cnot", 1}, {"lop3", 3},
               {"shf", 2},      {"shl", 2},   {"shr", 2},  {"mov", 2},  {"prmt", 2}, {"cvt", 12},
               {"szext", 1},    {"bmsk", 1}};

enum { OPCODES = sizeof weights / sizeof *weights };

static bool has_opcode(const struct diff_form *form, const char *opcode)
{
    const size_t length = strlen(opcode);
    return !strncmp(form->text, opcode, length) && form->text[length] == '.';
}

/* Returns the form whose hash with `seed` is the largest, so that a new row in the device's tables
 * changes few choices, and most programs remain the ones that a GPU has run. */
static const struct diff_form *favourite(const struct diff_form *const *forms, size_t count,
                                         uint64_t seed)
{
    const struct diff_form *best = NULL;
    uint64_t most = 0;
    for (size_t k = 0; k < count; k++) {
        struct diff_random mixed = {diff_hash(forms[k]->text, strlen(forms[k]->text), seed | 1)};
        const uint64_t bits = diff_bits(&mixed);
        if (best && bits <= most) continue;
        best = forms[k];
        most = bits;
    }
    return best;
}

/* Returns true for forms that ptxas merges into the next instruction, where the lowest integer
 * turns positive and a NaN gets another sign. */
static bool merged(const struct diff_form *form)
{
    const bool sign = has_opcode(form, "abs") || has_opcode(form, "neg");
    return sign && (!strncmp(form->text, "abs.s", 5) || strstr(form->text, "16x2"));
}

static const struct diff_form *choose(struct program *program)
{
    static struct {
        const struct diff_form **forms;
        size_t count;
    } of[OPCODES];
    static unsigned total;
    if (!total) {
        size_t count;
        const struct diff_form *forms = diff_forms(&count);
        for (unsigned k = 0; k < OPCODES; k++) {
            of[k].forms = diff_allocate(count, sizeof *of[k].forms);
            for (size_t n = 0; n < count; n++)
                if (has_opcode(&forms[n], weights[k].opcode) && !forms[n].approximate &&
                    !forms[n].loose && !forms[n].carry && !merged(&forms[n]))
                    of[k].forms[of[k].count++] = &forms[n];
            total += weights[k].weight;
        }
    }
    for (;;) {
        unsigned at = below(program, total), k = 0;
        while (at >= weights[k].weight) at -= weights[k++].weight;
        if (of[k].count) return favourite(of[k].forms, of[k].count, diff_bits(&program->random));
    }
}

static void operand(struct program *program, enum diff_kind kind)
{
    if (kind == DIFF_AMOUNT && below(program, 3)) {
        diff_add(program->text, "%u", below(program, 32));
        return;
    }
    const enum pool pool = pool_of(kind);
    diff_add(program->text, "%%%c%u", pools[pool].name, any(program, pool));
}

static void guard(struct program *program)
{
    if (below(program, 6) == 0)
        diff_add(program->text, "@%s%%p%u ", below(program, 2) ? "!" : "", any(program, POOL_P));
}

/* Replaces a NaN by a fixed one where ptxas decides which NaN results, because it swaps operands or
 * moves a sign. */
static void one_nan(struct program *program, enum diff_kind kind, unsigned number)
{
    static const struct {
        enum diff_kind kind;
        const char *type, *bits, *canonical;
    } kinds[] = {{DIFF_F16, "f16", "b16", "0x7fff"},
                 {DIFF_BF16, "bf16", "b16", "0x7fff"},
                 {DIFF_F32, "f32", "b32", "0x7fffffff"},
                 {DIFF_F64, "f64", "b64", "0x7fffffffffffffff"}};
    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (kinds[k].kind != kind) continue;
        const char name = pools[pool_of(kind)].name;
        diff_add(program->text, "setp.nan.%s %%nan, %%%c%u, %%%c%u;\n@%%nan mov.%s %%%c%u, %s;\n",
                 kinds[k].type, name, number, name, number, kinds[k].bits, name, number,
                 kinds[k].canonical);
    }
}

static void one_form(struct program *program, const struct diff_form *form)
{
    struct diff_text *text = program->text;
    const bool divides = has_opcode(form, "div") || has_opcode(form, "rem");
    const bool integer = form->source[0] <= DIFF_AMOUNT;
    /* ptxas simplifies divisions with partly known operands, which shows when the divisor is
     * zero. */
    if (divides && integer) {
        const enum pool pool = pool_of(form->source[1]);
        const unsigned bits = pools[pool].bits;
        diff_add(text, "or.b%u %%t%u, %%%c%u, 1;\n", bits, bits, pools[pool].name,
                 any(program, pool));
    }
    /* ptxas (driver 580) loses the guard of a testp, and the previous value of a set's d. */
    if (!has_opcode(form, "testp") && !has_opcode(form, "set")) guard(program);
    const enum pool to = pool_of(form->result);
    const unsigned d = any(program, to);
    diff_add(text, "%s %%%c%u", form->text, pools[to].name, d);
    if (form->pair && to == POOL_P) {
        const unsigned other =
            (d + 1 + below(program, pools[POOL_P].count - 1)) % pools[POOL_P].count;
        diff_add(text, "|%%p%u", other);
    } else if (form->pair) {
        diff_add(text, "|%%p%u", any(program, POOL_P));
    }
    /* ptxas (driver 580) merges a lop3 of fewer than three registers wrongly into the next one. */
    const bool distinct = has_opcode(form, "lop3");
    const unsigned first = any(program, POOL_R);
    for (unsigned k = 0; k < form->sources; k++) {
        diff_add(text, ", ");
        if (distinct) {
            diff_add(text, "%%r%u", (first + 3 * k) % pools[POOL_R].count);
            continue;
        }
        if (divides && integer && k == 1)
            diff_add(text, "%%t%u", pools[pool_of(form->source[1])].bits);
        else
            operand(program, form->source[k]);
    }
    for (const char *at = form->extra; *at; at++) {
        if (!strncmp(at, "%s", 2)) {
            diff_add(text, "%%p%u", any(program, POOL_P));
            at++;
        } else {
            diff_add(text, "%c", *at);
        }
    }
    diff_add(text, ";\n");
    one_nan(program, form->result, d);
}

/* Writes an addition, subtraction or product of several words with the carry flag. */
static void carries(struct program *program)
{
    static const char *const chains[][3] = {{"add.cc.u32", "addc.cc.u32", "addc.u32"},
                                            {"sub.cc.u32", "subc.cc.u32", "subc.u32"},
                                            {"mad.lo.cc.u32", "madc.hi.cc.u32", "addc.u32"},
                                            {"add.cc.u64", "addc.cc.u64", "addc.u64"},
                                            {"sub.cc.s64", "subc.cc.s64", "subc.s64"},
                                            {"mad.lo.cc.u32", "madc.lo.cc.u32", "madc.hi.u32"}};
    const unsigned chain = below(program, sizeof chains / sizeof *chains);
    for (unsigned k = 0; k < 3; k++) {
        const enum pool pool = strstr(chains[chain][k], "64") ? POOL_L : POOL_R;
        diff_add(program->text, "%s %%%c%u", chains[chain][k], pools[pool].name,
                 any(program, pool));
        for (unsigned n = *chains[chain][k] == 'm' ? 3 : 2; n; n--)
            diff_add(program->text, ", %%%c%u", pools[pool].name, any(program, pool));
        diff_add(program->text, ";\n");
    }
}

static void compute(struct program *program)
{
    struct diff_text unwritten = {.bytes = NULL}, *text = program->text;
    const unsigned prefix = program->one->prefix;
    if (prefix && program->computed++ >= prefix) program->text = &unwritten;
    if (program->budget) program->budget--;
    if (below(program, 30) == 0)
        carries(program);
    else
        one_form(program, choose(program));
    program->text = text;
    diff_text_free(&unwritten);
}

/* ---- where all threads meet --------------------------------------------------------------------
 */

static void meet(struct program *program)
{
    struct diff_text *text = program->text;
    const unsigned r = any(program, POOL_R), s = any(program, POOL_R), p = any(program, POOL_P);
    switch (below(program, 9)) {
    case 0:
        diff_add(text, "shfl.sync.bfly.b32 %%r%u|%%p%u, %%r%u, %u, 31, -1;\n", r, p, s,
                 below(program, 32));
        break;
    case 1:
        diff_add(text, "shfl.sync.idx.b32 %%r%u, %%r%u, %%r%u, 31, -1;\n", r, s,
                 any(program, POOL_R));
        break;
    case 2:
        diff_add(text, "shfl.sync.%s.b32 %%f%u|%%p%u, %%f%u, %u, %u, -1;\n", p & 1 ? "up" : "down",
                 any(program, POOL_F), p, any(program, POOL_F), below(program, 32),
                 p & 1 ? 0u : 31u);
        break;
    case 3:
        diff_add(text, "vote.sync.ballot.b32 %%r%u, %%p%u, -1;\n", r, p);
        break;
    case 4:
        diff_add(text, "vote.sync.%s.pred %%p%u, %s%%p%u, -1;\n", r & 1 ? "any" : "all", p,
                 s & 1 ? "!" : "", any(program, POOL_P));
        break;
    case 5:
        diff_add(text, "and.b32 %%t32, %%r%u, 3;\nmatch.any.sync.b32 %%r%u, %%t32, -1;\n", s, r);
        break;
    case 6:
        diff_add(text, "redux.sync.%s %%r%u, %%r%u, -1;\n",
                 s % 4 == 0   ? "add.u32"
                 : s % 4 == 1 ? "min.s32"
                 : s % 4 == 2 ? "max.u32"
                              : "xor.b32",
                 r, s);
        break;
    case 7:
        diff_add(text, "bar.red.popc.u32 %%r%u, 0, %%p%u;\n", r, p);
        break;
    default:
        /* Exchanges values through shared memory, also between warps. */
        diff_add(text,
                 "st.shared.b32 [%%own], %%r%u;\nbar.sync 0;\nmad.lo.u32 %%t32, %%me, %u, %u;\n"
                 "and.b32 %%t32, %%t32, %u;\nshl.b32 %%t32, %%t32, 2;\n"
                 "add.u32 %%t32, %%t32, %%shared;\nld.shared.b32 %%r%u, [%%t32];\nbar.sync 0;\n",
                 s, 2 * below(program, 8) + 1, below(program, 64), program->one->threads - 1, r);
        break;
    }
}

/* Accesses a word of the thread's own array, at an index unknown at compile time. */
static void local(struct program *program)
{
    struct diff_text *text = program->text;
    diff_add(text,
             "and.b32 %%t32, %%r%u, %d;\nshl.b32 %%t32, %%t32, 2;\ncvt.u64.u32 %%t64, %%t32;\n"
             "add.u64 %%t64, %%t64, %%local;\n",
             any(program, POOL_R), LOCAL_WORDS - 1);
    if (below(program, 2))
        diff_add(text, "st.local.b32 [%%t64], %%r%u;\n", any(program, POOL_R));
    else
        diff_add(text, "ld.local.b32 %%r%u, [%%t64];\n", any(program, POOL_R));
}

static void call(struct program *program)
{
    diff_add(program->text,
             "{\n.param .b32 a;\n.param .b64 b;\n.param .b32 r;\nst.param.b32 [a], %%r%u;\n"
             "st.param.b64 [b], %%l%u;\ncall (r), %s_f, (a, b);\nld.param.b32 %%r%u, [r];\n}\n",
             any(program, POOL_R), any(program, POOL_L), program->kernel, any(program, POOL_R));
}

/* ---- blocks ------------------------------------------------------------------------------------
 */

static void block(struct program *program, unsigned depth, unsigned size);

/* Returns a predicate that usually differs between lanes. */
static unsigned condition(struct program *program)
{
    const unsigned p = any(program, POOL_P);
    if (below(program, 3)) {
        diff_add(program->text, "and.b32 %%t32, %%r%u, %u;\nsetp.%s.u32 %%p%u, %%t32, %u;\n",
                 any(program, POOL_R), 1u << below(program, 5) | 1u << below(program, 5),
                 below(program, 2) ? "ne" : "eq", p, 0u);
    }
    return p;
}

static void branch(struct program *program, unsigned depth)
{
    const unsigned label = program->labels++, p = condition(program);
    diff_add(program->text, "@%s%%p%u bra E%u;\n", below(program, 2) ? "!" : "", p, label);
    block(program, depth + 1, 1 + below(program, 6));
    const bool has_else = below(program, 2);
    if (has_else) diff_add(program->text, "bra F%u;\n", label);
    diff_add(program->text, "E%u:\n", label);
    if (!has_else) return;
    block(program, depth + 1, 1 + below(program, 6));
    diff_add(program->text, "F%u:\n", label);
}

static void loop(struct program *program, unsigned depth)
{
    const unsigned label = program->labels++, count = program->loop_count;
    diff_add(program->text, "and.b32 %%c%u, %%r%u, 3;\nL%u:\n", count, any(program, POOL_R), label);
    program->loops[program->loop_count++] = label;
    block(program, depth + 1, 1 + below(program, 6));
    program->loop_count--;
    diff_add(program->text, "sub.u32 %%c%u, %%c%u, 1;\nsetp.ge.s32 %%again, %%c%u, 0;\n", count,
             count, count);
    diff_add(program->text, "@%%again bra L%u;\nM%u:\n", label, label);
}

static void table(struct program *program, unsigned depth)
{
    const unsigned label = program->labels++;
    diff_add(program->text,
             "and.b32 %%t32, %%r%u, 3;\nT%u: .branchtargets S%u_0, S%u_1, S%u_2, S%u_3;\n"
             "brx.idx %%t32, T%u;\n",
             any(program, POOL_R), label, label, label, label, label, label);
    for (unsigned k = 0; k < 4; k++) {
        diff_add(program->text, "S%u_%u:\n", label, k);
        block(program, depth + 1, 1 + below(program, 2));
        /* Some cases fall through into the next. */
        if (below(program, 4)) diff_add(program->text, "bra S%u_4;\n", label);
    }
    diff_add(program->text, "S%u_4:\n", label);
}

static void leave(struct program *program)
{
    const unsigned p = condition(program);
    if (program->loop_count && below(program, 2))
        diff_add(program->text, "@%%p%u bra M%u;\n", p,
                 program->loops[below(program, program->loop_count)]);
    else if (program->ending && below(program, 3))
        diff_add(program->text, "@%%p%u bra DONE;\n", p);
    else if (program->ending)
        diff_add(program->text, "@%%p%u exit;\n", p);
}

static void block(struct program *program, unsigned depth, unsigned size)
{
    for (unsigned k = 0; k < size; k++) {
        const unsigned choice = below(program, 100);
        if (choice < 58 || !program->budget)
            compute(program);
        else if (choice < 64)
            local(program);
        else if (choice < 67)
            call(program);
        else if (choice < 72)
            leave(program);
        else if (depth >= DEPTH)
            compute(program);
        else if (choice < 86)
            branch(program, depth);
        else if (choice < 94)
            loop(program, depth);
        else if (choice < 96)
            table(program, depth);
        else
            compute(program);
        if (!depth && !program->ending && below(program, 4) == 0) meet(program);
    }
}

/* Writes a function of the program: some arithmetic, and a recursive call for as long as its
 * argument says.
 */
static void function(struct program *program)
{
    const unsigned mask = 3 + 4 * below(program, 2), drawn = 1 + below(program, 3);
    /* 3 of 3 would recurse deeper than any stack. */
    const unsigned pattern = mask == drawn ? 1 : drawn;
    diff_add(program->text,
             ".func (.param .b32 r) %s_f(.param .b32 a, .param .b64 b) {\n"
             ".reg .b32 %%x, %%y;\n.reg .b64 %%z;\n.reg .pred %%p;\nld.param.b32 %%x, [a];\n"
             "ld.param.b64 %%z, [b];\nand.b32 %%y, %%x, %u;\nsetp.eq.u32 %%p, %%y, %u;\n"
             "@%%p bra DEEPER;\nmad.lo.u32 %%x, %%x, %u, %u;\ncvt.u32.u64 %%y, %%z;\n"
             "xor.b32 %%x, %%x, %%y;\nst.param.b32 [r], %%x;\nret;\nDEEPER:\n"
             "shr.u32 %%x, %%x, 1;\nadd.u64 %%z, %%z, %u;\n"
             "{\n.param .b32 c;\n.param .b64 d;\n.param .b32 s;\nst.param.b32 [c], %%x;\n"
             "st.param.b64 [d], %%z;\ncall (s), %s_f, (c, d);\nld.param.b32 %%y, [s];\n}\n"
             "add.u32 %%y, %%y, %%x;\nst.param.b32 [r], %%y;\nret;\n}\n",
             program->kernel, mask, pattern, 2 * below(program, 1000) + 1, below(program, 1000),
             below(program, 1000), program->kernel);
}

/* ---- a program ---------------------------------------------------------------------------------
 */

enum kind { STRAIGHT, BRANCHING };

static void transfer(const struct diff_case *one, struct diff_text *text, bool in)
{
    unsigned offset = 0;
    for (unsigned k = 0; k < POOLS; k++) {
        const unsigned bytes = pool_bytes((enum pool)k);
        diff_add(text, "mad.wide.u32 %%t64, %%index, %u, %%%s;\n", bytes, in ? "in" : "out");
        for (unsigned n = 0; n < pools[k].count; n++) {
            if (k == POOL_P && in)
                diff_add(text, "ld.global.b32 %%t32, [%%t64+%u];\nsetp.ne.u32 %%p%u, %%t32, 0;\n",
                         offset, n);
            else if (k == POOL_P)
                diff_add(text, "selp.u32 %%t32, 1, 0, %%p%u;\nst.global.b32 [%%t64+%u], %%t32;\n",
                         n, offset);
            else if (in)
                diff_add(text, "ld.global.b%u %%%c%u, [%%t64+%u];\n", pools[k].bits, pools[k].name,
                         n, offset);
            else
                diff_add(text, "st.global.b%u [%%t64+%u], %%%c%u;\n", pools[k].bits, offset,
                         pools[k].name, n);
            offset += bytes * one->blocks * one->threads;
        }
    }
}

static void write(const struct diff_case *one, const char *kernel, struct diff_text *text)
{
    const enum kind kind = one->number & 1 ? BRANCHING : STRAIGHT;
    struct program program = {
        .one = one, .random = diff_case_random(one, "program"), .text = text, .kernel = kernel};
    if (kind == BRANCHING) function(&program);
    diff_add(text, ".visible .entry %s(.param .u64 p_in, .param .u64 p_out) {\n", kernel);
    for (unsigned k = 0; k < POOLS; k++)
        diff_add(text, ".reg .%s %%%c<%u>;\n",
                 k == POOL_P           ? "pred"
                 : pools[k].bits == 16 ? "b16"
                 : pools[k].bits == 32 ? "b32"
                                       : "b64",
                 pools[k].name, pools[k].count);
    diff_add(
        text,
        ".reg .b64 %%in, %%out, %%t64, %%local;\n.reg .b16 %%t16;\n"
        ".reg .b32 %%t32, %%me, %%index, %%own, %%shared, %%c<%d>;\n.reg .pred %%again, %%nan;\n"
        ".shared .align 4 .b8 memory[%u];\n.local .align 4 .b8 array[%d];\n"
        "ld.param.u64 %%in, [p_in];\nld.param.u64 %%out, [p_out];\nmov.u32 %%me, %%tid.x;\n"
        "mov.u32 %%t32, %%ctaid.x;\nmad.lo.u32 %%index, %%t32, %u, %%me;\n",
        DEPTH + 1, 4 * one->threads, 4 * LOCAL_WORDS, one->threads);
    transfer(one, text, true);
    if (kind == BRANCHING) {
        diff_add(text, "mov.u32 %%shared, memory;\nmad.lo.u32 %%own, %%me, 4, %%shared;\n"
                       "mov.u64 %%local, array;\n");
        for (unsigned k = 0; k < LOCAL_WORDS; k++)
            diff_add(text, "st.local.b32 [%%local+%u], %%r%u;\n", 4 * k, k % pools[POOL_R].count);
        program.budget = 70;
        block(&program, 0, 10 + below(&program, 6));
        program.ending = true;
        block(&program, 0, 6);
        diff_add(text, "DONE:\n");
    } else {
        for (unsigned left = 30 + below(&program, 50); left; left--) compute(&program);
    }
    transfer(one, text, false);
    diff_add(text, "ret;\n}\n");
}

static void fill(const struct diff_case *one, unsigned char *in)
{
    struct diff_random random = diff_case_random(one, "in");
    const unsigned count = one->blocks * one->threads;
    for (unsigned k = 0; k < POOLS; k++) {
        for (unsigned n = 0; n < pools[k].count * count; n++) {
            const uint64_t value = diff_value(pools[k].kind, &random);
            memcpy(in, &value, pool_bytes((enum pool)k));
            in += pool_bytes((enum pool)k);
        }
    }
}

void diff_random_cases(struct diff_cases *cases)
{
    for (unsigned k = 0; k < STRAIGHT_PROGRAMS + BRANCHING_PROGRAMS; k++) {
        const bool branching = k >= STRAIGHT_PROGRAMS;
        const unsigned number = branching ? k - STRAIGHT_PROGRAMS : k;
        struct diff_case *one = diff_new(cases, "%s%u/%u", branching ? "branching" : "straight",
                                         number / 20, number % 20);
        one->write = write;
        one->fill = fill;
        one->number = branching;
        one->plain = true;
        one->blocks = branching ? 2 : 3;
        one->threads = branching ? 64 : 32;
        one->in_bytes = one->out_bytes = all_bytes() * one->blocks * one->threads;
        one->stride = 0;
    }
}

void diff_prefix_cases(struct diff_cases *cases, const struct diff_case *one)
{
    const struct diff_case whole = *one;
    for (unsigned k = 1; k < 90 && whole.write == write; k++) {
        struct diff_case *part = diff_new(cases, "%.50s#%u", whole.name, k);
        char name[sizeof part->name];
        memcpy(name, part->name, sizeof name);
        *part = whole;
        memcpy(part->name, name, sizeof name);
        part->prefix = k;
    }
}
