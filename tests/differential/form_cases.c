/* Cases of one instruction form: with many operands (all), under a guard that holds for some lanes
 * (some), with immediate operands (imm). */
#include "tests/differential/differential.h"

#include <stdio.h>
#include <string.h>

enum variant { PLAIN, GUARDED, IMMEDIATE, VARIANTS };

static const struct {
    const char *name;
    unsigned blocks, threads;
} variants[VARIANTS] = {{"all", 32, 64}, {"some", 8, 60}, {"imm", 2, 48}};

enum { IMMEDIATES = 8 };

static unsigned elements(const struct diff_case *one)
{
    return one->blocks * one->threads;
}

static unsigned bytes_of(unsigned bits)
{
    return bits == 1 ? 1 : bits / 8;
}

/* ---- input -------------------------------------------------------------------------------------
 * Each source as an array of 8 bytes per element, then flags: bit 0 the predicate %s of combined
 * comparisons, bit 1 the carry flag before, bit 2 the guard. */

enum { FLAG_PREDICATE = 1, FLAG_CARRY = 2, FLAG_GUARD = 4 };

static void fill(const struct diff_case *one, unsigned char *in)
{
    const struct diff_form *form = one->form;
    const unsigned count = elements(one);
    struct diff_random random = diff_case_random(one, "in");
    for (unsigned n = 0; n < count; n++) {
        uint64_t values[DIFF_SOURCES];
        const unsigned index = one->number == PLAIN ? n : n * 7 + 3;
        diff_tuple(form->source, form->sources, index, &random, values);
        for (unsigned k = 0; k < form->sources; k++)
            memcpy(in + ((size_t)k * count + n) * 8, &values[k], 8);
        const uint32_t flags = (uint32_t)diff_bits(&random);
        memcpy(in + (size_t)form->sources * count * 8 + (size_t)n * 4, &flags, 4);
    }
}

/* ---- the kernel --------------------------------------------------------------------------------
 */

static const char names[] = "abce";

static void declare(const struct diff_form *form, struct diff_text *text)
{
    for (unsigned k = 0; k <= form->sources; k++) {
        const unsigned bits = form->width[k];
        const char name = k ? names[k - 1] : 'd';
        if (bits == 1)
            diff_add(text, ".reg .pred %%%c;\n", name);
        else
            diff_add(text, ".reg .b%u %%%c;\n", bits, name);
    }
}

static void load(const struct diff_case *one, struct diff_text *text)
{
    const struct diff_form *form = one->form;
    const unsigned count = elements(one);
    for (unsigned k = 0; k < form->sources; k++) {
        const unsigned bits = form->width[k + 1];
        const char name = names[k];
        if (bits == 1)
            diff_add(text, "ld.global.u32 %%x, [%%at+%u];\nsetp.ne.u32 %%%c, %%x, 0;\n",
                     8 * k * count, name);
        else
            diff_add(text, "ld.global.b%u %%%c, [%%at+%u];\n", bits, name, 8 * k * count);
    }
    diff_add(text, "mad.wide.u32 %%at, %%i, 4, %%in;\nld.global.u32 %%f, [%%at+%u];\n",
             8 * form->sources * count);
    diff_add(text, "and.b32 %%x, %%f, %d;\nsetp.ne.u32 %%s, %%x, 0;\n", FLAG_PREDICATE);
    if (one->number == GUARDED)
        diff_add(text, "and.b32 %%x, %%f, %d;\nsetp.ne.u32 %%g, %%x, 0;\n", FLAG_GUARD);
}

/* Writes the last operand in PTX syntax. */
static void immediate(const struct diff_form *form, uint64_t value, char *text, size_t size)
{
    const enum diff_kind kind = form->source[form->sources - 1];
    const char *type = strrchr(form->text, '.');
    const bool is_signed = type && type[1] == 's' && kind != DIFF_AMOUNT;
    switch (kind) {
    case DIFF_F32:
        snprintf(text, size, "0f%08x", (unsigned)value);
        break;
    case DIFF_F64:
        snprintf(text, size, "0d%016llx", (unsigned long long)value);
        break;
    case DIFF_INT16:
        snprintf(text, size, "%d", is_signed ? (int)(int16_t)value : (int)(uint16_t)value);
        break;
    case DIFF_INT64:
        if (is_signed)
            snprintf(text, size, "%lld", (long long)value);
        else
            snprintf(text, size, "%llu", (unsigned long long)value);
        break;
    default:
        if (is_signed)
            snprintf(text, size, "%d", (int)(int32_t)value);
        else
            snprintf(text, size, "%u", (unsigned)value);
        break;
    }
}

static bool has_immediates(const struct diff_form *form)
{
    if (!form->sources) return false;
    switch (form->source[form->sources - 1]) {
    case DIFF_INT16:
    case DIFF_INT32:
    case DIFF_INT64:
    case DIFF_AMOUNT:
    case DIFF_F32:
    case DIFF_F64:
        return strncmp(form->text, "cvt", 3) != 0 && strncmp(form->text, "mov", 3) != 0 &&
               strcmp(form->text, "testp") != 0;
    default:
        return false;
    }
}

static uint64_t immediate_value(const struct diff_form *form, unsigned index,
                                struct diff_random *random)
{
    const enum diff_kind kind = form->source[form->sources - 1];
    const bool divides = !strncmp(form->text, "div", 3) || !strncmp(form->text, "rem", 3);
    for (;;) {
        const uint64_t value =
            index < 4 ? diff_edge(kind, index + diff_below(random, 20)) : diff_value(kind, random);
        /* Division by a constant zero is left out, because ptxas decides its result: see
         * excluded.def. */
        if (!value && divides) continue;
        /* ptxas accepts positions and lengths of bfe and bfi up to 255, and of a 16-bit shift the
         * lower half of an immediate. */
        return !strncmp(form->text, "bf", 2)                       ? value & 0xff
               : kind == DIFF_AMOUNT && form->result == DIFF_INT16 ? value & 0xffff
                                                                   : value;
    }
}

static void instruction(const struct diff_case *one, const char *last, struct diff_text *text)
{
    const struct diff_form *form = one->form;
    if (form->carry)
        diff_add(text, "shr.u32 %%x, %%f, 1;\nand.b32 %%x, %%x, 1;\n"
                       "add.cc.u32 %%x, %%x, 0xffffffff;\n");
    if (one->number == GUARDED)
        diff_add(text, "@%s%%g ", diff_hash(form->text, strlen(form->text), 0) & 64 ? "!" : "");
    diff_add(text, "%s %%d%s", form->text, form->pair ? "|%q" : "");
    for (unsigned k = 0; k < form->sources; k++) {
        if (last && k + 1 == form->sources)
            diff_add(text, ", %s", last);
        else
            diff_add(text, ", %%%c", names[k]);
    }
    diff_add(text, "%s;\n", form->extra);
}

static void keep(const struct diff_form *form, unsigned offset, struct diff_text *text)
{
    const unsigned bits = form->width[0];
    if (bits == 1) {
        diff_add(text, "selp.u32 %%x, 1, 0, %%d;\n");
        if (form->pair) diff_add(text, "selp.u32 %%y, 2, 0, %%q;\nor.b32 %%x, %%x, %%y;\n");
        diff_add(text, "st.global.u8 [%%to+%u], %%x;\n", offset);
    } else {
        diff_add(text, "st.global.b%u [%%to+%u], %%d;\n", bits, offset);
        if (form->carry) diff_add(text, "addc.u32 %%x, 0, 0;\n");
        if (form->pair) diff_add(text, "selp.u32 %%x, 1, 0, %%q;\n");
        if (form->carry || form->pair) {
            if (bits == 64) diff_add(text, "cvt.u64.u32 %%d, %%x;\n");
            diff_add(text, "st.global.b%u [%%to+%u], %s;\n", bits, offset + bits / 8,
                     bits == 64 ? "%d" : "%x");
        }
    }
}

static unsigned record(const struct diff_form *form)
{
    const bool second = form->carry || (form->pair && form->width[0] > 1);
    return bytes_of(form->width[0]) * (second ? 2 : 1);
}

static void write(const struct diff_case *one, const char *kernel, struct diff_text *text)
{
    const struct diff_form *form = one->form;
    const unsigned bits = form->width[0];
    diff_add(text,
             ".visible .entry %s(.param .u64 p_in, .param .u64 p_out) {\n"
             ".reg .b64 %%in, %%out, %%at, %%to;\n.reg .b32 %%i, %%t, %%n, %%x, %%y, %%f;\n"
             ".reg .pred %%q, %%g, %%s;\n",
             kernel);
    declare(form, text);
    diff_add(text,
             "ld.param.u64 %%in, [p_in];\nld.param.u64 %%out, [p_out];\nmov.u32 %%i, %%ctaid.x;\n"
             "mov.u32 %%n, %%ntid.x;\nmov.u32 %%t, %%tid.x;\nmad.lo.u32 %%i, %%i, %%n, %%t;\n"
             "mad.wide.u32 %%at, %%i, 8, %%in;\nmad.wide.u32 %%to, %%i, %u, %%out;\n",
             one->stride);
    load(one, text);
    if (one->number == GUARDED) {
        if (bits == 1)
            diff_add(text, "setp.eq.u32 %%d, %%i, 7;\n");
        else
            diff_add(text, "mov.b%u %%d, 0x%s;\n", bits,
                     bits == 64   ? "a5a5a5a55a5a5a5a"
                     : bits == 32 ? "a5a55a5a"
                                  : "5a5a");
        if (form->pair) diff_add(text, "setp.eq.u32 %%q, %%i, 9;\n");
    }
    if (one->number == IMMEDIATE) {
        struct diff_random random = diff_case_random(one, "immediates");
        for (unsigned k = 0; k < IMMEDIATES; k++) {
            char last[40];
            immediate(form, immediate_value(form, k, &random), last, sizeof last);
            instruction(one, last, text);
            keep(form, k * record(form), text);
        }
    } else {
        instruction(one, NULL, text);
        keep(form, 0, text);
    }
    diff_add(text, "ret;\n}\n");
}

/* ---- results -----------------------------------------------------------------------------------
 */

static uint64_t source_of(const struct diff_case *one, const unsigned char *in, unsigned index,
                          unsigned source)
{
    uint64_t value;
    memcpy(&value, in + ((size_t)source * elements(one) + index) * 8, 8);
    return value;
}

static void tell(const struct diff_case *one, const unsigned char *in, const unsigned char *out,
                 unsigned index, struct diff_text *text)
{
    const struct diff_form *form = one->form;
    uint32_t flags;
    memcpy(&flags, in + (size_t)form->sources * elements(one) * 8 + (size_t)index * 4, 4);
    diff_add(text, "%s(", form->text);
    for (unsigned k = 0; k < form->sources; k++)
        diff_add(text, "%s0x%0*llx", k ? ", " : "", (int)(diff_kind_bits(form->source[k]) + 3) / 4,
                 (unsigned long long)source_of(one, in, index, k));
    diff_add(text, "%s) flags %u:", form->extra, (unsigned)(flags & 7));
    const unsigned size = bytes_of(form->width[0]);
    for (unsigned k = 0; k < one->stride; k += size) {
        uint64_t value = 0;
        memcpy(&value, out + (size_t)index * one->stride + k, size);
        diff_add(text, " 0x%0*llx", (int)(2 * size), (unsigned long long)value);
    }
}

/* Returns true where sign and payload of a NaN are unspecified: the ISA says so for abs and neg of
 * f32, and ptxas flips a constant's sign where that saves an instruction. */
static bool nan_is_open(const struct diff_case *one)
{
    const struct diff_form *form = one->form;
    if (form->approximate || (form->result != DIFF_F32 && form->result != DIFF_F64)) return false;
    return one->number == IMMEDIATE || !strncmp(form->text, "abs.", 4) ||
           !strncmp(form->text, "neg.", 4);
}

/* Hashes all NaNs alike. */
static uint64_t digest_numbers(const struct diff_case *one, const unsigned char *out)
{
    const unsigned bytes = bytes_of(one->form->width[0]);
    const uint64_t infinity = bytes == 4 ? UINT64_C(0x7f800000) : UINT64_C(0x7ff) << 52;
    const uint64_t sign = UINT64_C(1) << (8 * bytes - 1);
    uint64_t hash = 0;
    for (uint32_t at = 0; at + bytes <= one->out_bytes; at += bytes) {
        uint64_t value = 0;
        memcpy(&value, out + at, bytes);
        if ((value & ~sign) > infinity) value = ~sign;
        hash = diff_hash(&value, sizeof value, hash);
    }
    return hash;
}

uint64_t diff_digest(const struct diff_case *one, const unsigned char *in, const unsigned char *out,
                     char *why, size_t size)
{
    const struct diff_form *form = one->form;
    if (size) *why = 0;
    if (form && nan_is_open(one)) return digest_numbers(one, out);
    if (!form || !form->approximate) return diff_hash(out, one->out_bytes, 0);
    const unsigned bytes = form->width[0] / 8, count = elements(one);
    struct diff_random random = diff_case_random(one, "immediates");
    uint64_t constants[IMMEDIATES] = {0};
    const unsigned results = one->number == IMMEDIATE ? IMMEDIATES : 1;
    for (unsigned k = 0; k < IMMEDIATES && one->number == IMMEDIATE; k++)
        constants[k] = immediate_value(form, k, &random);
    uint64_t hash = 0;
    for (unsigned n = 0; n < count; n++) {
        uint32_t flags;
        memcpy(&flags, in + (size_t)form->sources * count * 8 + (size_t)n * 4, 4);
        const bool inverted = diff_hash(form->text, strlen(form->text), 0) & 64;
        if (one->number == GUARDED && !(flags & FLAG_GUARD) != inverted) continue;
        for (unsigned r = 0; r < results; r++) {
            uint64_t value = 0, sources[DIFF_SOURCES] = {0};
            memcpy(&value, out + (size_t)n * one->stride + (size_t)r * bytes, bytes);
            for (unsigned k = 0; k < form->sources; k++) sources[k] = source_of(one, in, n, k);
            if (one->number == IMMEDIATE) sources[form->sources - 1] = constants[r];
            const unsigned halves = form->result == DIFF_F16X2 || form->result == DIFF_BF16X2;
            for (unsigned half = 0; half <= halves; half++) {
                char wrong[160];
                const unsigned char class =
                    diff_bound(form, sources, value, half, wrong, sizeof wrong);
                hash = diff_hash(&class, 1, hash);
                if (*wrong && size && !*why) snprintf(why, size, "%s", wrong);
            }
        }
    }
    return hash;
}

/* ---- the list ----------------------------------------------------------------------------------
 */

void diff_form_cases(struct diff_cases *cases)
{
    size_t count;
    const struct diff_form *forms = diff_forms(&count);
    for (size_t k = 0; k < count; k++) {
        for (unsigned variant = 0; variant < VARIANTS; variant++) {
            if (variant == IMMEDIATE && !has_immediates(&forms[k])) continue;
            /* ptxas loses the guard of a testp (driver 580). */
            if (variant == GUARDED && !strncmp(forms[k].text, "testp", 5)) continue;
            /* The row was tested under guards and with immediates in its own form. */
            if (variant != PLAIN && forms[k].derived) continue;
            char extra[24] = "";
            unsigned used = 0;
            for (const char *at = forms[k].extra; *at; at++)
                if (!strchr(", %", *at)) extra[used++] = *at;
            extra[used] = 0;
            struct diff_case *one = diff_new(cases, "%s%s%s/%s", forms[k].text, used ? ":" : "",
                                             extra, variants[variant].name);
            one->write = write;
            one->fill = fill;
            one->tell = tell;
            one->form = &forms[k];
            one->number = variant;
            one->blocks = variants[variant].blocks;
            one->threads = variants[variant].threads;
            one->stride = record(&forms[k]) * (variant == IMMEDIATE ? IMMEDIATES : 1);
            one->in_bytes = elements(one) * (8 * forms[k].sources + 4);
            one->out_bytes = elements(one) * one->stride;
        }
    }
}
