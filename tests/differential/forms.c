/* The list of instruction forms: every key of the device's tables of computing rows, and the forms
 * that the compile step derives from those rows: directed roundings, set, comparisons combined with
 * a predicate, truth tables. A new row in the tables is a new form here. */
#include "tests/differential/differential.h"
#include "tests/exec/rows.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct test_row rows[] = {
#include "emulator/exec/ops/convert.def"
#include "emulator/exec/ops/float.def"
#include "emulator/exec/ops/half.def"
#include "emulator/exec/ops/half_lanes.def"
#include "emulator/exec/ops/int.def"
};

static struct {
    struct diff_form *forms;
    size_t count, room;
} all;

/* ---- words ------------------------------------------------------------------------------------
 */

enum { WORDS = 10 };

struct words {
    char word[WORDS][20];
    unsigned count;
};

static struct words split(const char *text)
{
    struct words words = {.count = 0};
    while (*text && words.count < WORDS) {
        const size_t size = strcspn(text, ".");
        snprintf(words.word[words.count++], sizeof words.word[0], "%.*s", (int)size, text);
        text += size + (text[size] == '.');
    }
    return words;
}

static int find(const struct words *words, const char *word)
{
    for (unsigned k = 1; k < words->count; k++)
        if (!strcmp(words->word[k], word)) return (int)k;
    return -1;
}

static const char *last(const struct words *words, unsigned from_end)
{
    return from_end < words->count ? words->word[words->count - 1 - from_end] : "";
}

static bool is_one_of(const char *word, const char *list)
{
    const size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ' ')) return true;
    return false;
}

/* ---- kinds -------------------------------------------------------------------------------------
 */

static const struct {
    const char *type;
    enum diff_kind kind;
} packed[] = {{"f16", DIFF_F16},       {"bf16", DIFF_BF16},     {"f16x2", DIFF_F16X2},
              {"bf16x2", DIFF_BF16X2}, {"u16x2", DIFF_INT16X2}, {"s16x2", DIFF_INT16X2},
              {"f32", DIFF_F32},       {"f64", DIFF_F64}};

/* Returns the kind of an operand whose type in the row is `shape`, in an instruction of type
 * `type`. */
static enum diff_kind kind_of(const char *shape, const char *type)
{
    if (*shape == 'p') return DIFF_PRED;
    const unsigned bits = (unsigned)atoi(shape + 1);
    if (*shape == 'f') return bits == 64 ? DIFF_F64 : DIFF_F32;
    for (size_t k = 0; k < sizeof packed / sizeof *packed; k++)
        if (!strcmp(type, packed[k].type) && diff_kind_bits(packed[k].kind) == bits)
            return packed[k].kind;
    return bits == 8 ? DIFF_INT8 : bits == 16 ? DIFF_INT16 : bits == 32 ? DIFF_INT32 : DIFF_INT64;
}

/* Returns true for operands that count bits; operand 0 is the first source. */
static bool is_amount(const char *opcode, unsigned operand)
{
    static const struct {
        const char *opcode;
        unsigned operands; /* a set of operands */
    } amounts[] = {{"shl", 2},  {"shr", 2},  {"shf", 4},   {"bfe", 6},
                   {"bfi", 12}, {"bmsk", 3}, {"szext", 2}, {"fns", 6}};
    for (size_t k = 0; k < sizeof amounts / sizeof *amounts; k++)
        if (!strcmp(opcode, amounts[k].opcode)) return amounts[k].operands >> operand & 1;
    return false;
}

/* ---- the list ----------------------------------------------------------------------------------
 */

const char *diff_excluded(const char *text)
{
    static const struct {
        const char *pattern, *reason;
    } excluded[] = {
#define EXCLUDED(pattern, reason) {pattern, reason},
#include "tests/differential/excluded.def"
#undef EXCLUDED
    };
    for (size_t k = 0; k < sizeof excluded / sizeof *excluded; k++)
        if (!fnmatch(excluded[k].pattern, text, FNM_EXTMATCH)) return excluded[k].reason;
    return NULL;
}

static struct diff_form *put(const struct diff_form *form)
{
    static struct diff_form left_out;
    if (diff_excluded(form->text)) return &left_out;
    for (size_t k = 0; k < all.count; k++)
        if (!strcmp(all.forms[k].text, form->text) && !strcmp(all.forms[k].extra, form->extra))
            return &all.forms[k];
    if (all.count == all.room) {
        all.room = 2 * all.room + 512;
        struct diff_form *moved = realloc(all.forms, all.room * sizeof *moved);
        if (!moved) {
            fputs("differential: out of memory\n", stderr);
            exit(2);
        }
        all.forms = moved;
    }
    all.forms[all.count] = *form;
    return &all.forms[all.count++];
}

/* Returns the form with word `at` replaced. */
static struct diff_form replaced(const struct diff_form *form, int at, const char *word)
{
    struct diff_form other = *form;
    struct words words = split(form->text);
    snprintf(words.word[at], sizeof words.word[at], "%s", word);
    size_t used = 0;
    for (unsigned k = 0; k < words.count; k++)
        used += (size_t)snprintf(other.text + used, sizeof other.text - used, "%s%s", k ? "." : "",
                                 words.word[k]);
    return other;
}

/* .rz .rm .rp use the row of .rn. */
static void add_directed(const struct diff_form *form, const struct words *words)
{
    static const char *const directed[] = {"rz", "rm", "rp"};
    const int rounding = find(words, "rn");
    const bool converts = !strcmp(words->word[0], "cvt") && is_one_of(last(words, 1), "f32 f64");
    if (rounding < 0 || form->approximate ||
        !is_one_of(last(words, 0), "f32 f64 u8 s8 u16 s16 u32 s32 u64 s64"))
        return;
    if (!converts && !is_one_of(words->word[0], "add sub mul fma mad div rcp sqrt")) return;
    if (!converts && !is_one_of(last(words, 0), "f32 f64")) return;
    for (size_t k = 0; k < 3; k++) {
        struct diff_form other = replaced(form, rounding, directed[k]);
        other.derived = true;
        put(&other);
    }
}

/* The operand after a combined comparison: the kernel's predicate %s, or its negation. */
static const char *const combining[][2] = {{"and", ", %s"}, {"or", ", !%s"}, {"xor", ", %s"}};

/* Adds setp with a predicate, and set with its result types. */
static void add_comparisons(const struct diff_form *form, const struct words *words)
{
    static const char *const results[] = {"u32", "s32", "f32", "f16", "bf16", "u16", "s16"};
    const char *type = last(words, 0);
    const bool half = is_one_of(type, "f16 bf16");
    char middle[24];
    snprintf(middle, sizeof middle, "%s%s", words->word[1], find(words, "ftz") > 0 ? ".ftz" : "");
    for (unsigned k = 0; k < 3; k++) {
        struct diff_form other = *form;
        const char *ftz = find(words, "ftz") > 0 ? ".ftz" : "";
        other.derived = true;
        snprintf(other.text, sizeof other.text, "setp.%s.%s%s.%s", words->word[1], combining[k][0],
                 ftz, type);
        snprintf(other.extra, sizeof other.extra, "%s", combining[k][1]);
        put(&other);
    }
    for (unsigned k = 0; k < sizeof results / sizeof *results; k++) {
        if (half ? k == 2 : k >= 3) continue;
        if (k >= 3 && k < 5 && strcmp(results[k], type) != 0) continue;
        struct diff_form other = *form;
        other.pair = false;
        other.derived = true;
        other.result = k == 2   ? DIFF_F32
                       : k == 3 ? DIFF_F16
                       : k == 4 ? DIFF_BF16
                       : k > 4  ? DIFF_INT16
                                : DIFF_INT32;
        other.width[0] = k < 3 ? 32 : 16;
        snprintf(other.text, sizeof other.text, "set.%s.%s.%s", middle, results[k], type);
        put(&other);
        const unsigned combined = (unsigned)(diff_hash(other.text, strlen(other.text), 0) % 3);
        const char *ftz = find(words, "ftz") > 0 ? ".ftz" : "";
        snprintf(other.text, sizeof other.text, "set.%s.%s%s.%s.%s", words->word[1],
                 combining[combined][0], ftz, results[k], type);
        snprintf(other.extra, sizeof other.extra, "%s", combining[combined][1]);
        put(&other);
    }
}

static void add_truth_tables(const struct diff_form *form)
{
    static const uint8_t tables[] = {0x96, 0xe8, 0xca, 0x1b, 0x80, 0xfe, 0x00, 0xff, 0x4d, 0xb2};
    for (size_t k = 0; k < sizeof tables; k++) {
        struct diff_form other = *form;
        snprintf(other.extra, sizeof other.extra, ", 0x%02x", tables[k]);
        put(&other);
    }
    for (size_t k = 0; k < 2; k++) {
        struct diff_form other = *form;
        other.pair = true;
        snprintf(other.text, sizeof other.text, "lop3.%s.b32", combining[k][0]);
        snprintf(other.extra, sizeof other.extra, ", 0x%02x%s", tables[k], combining[k][1]);
        put(&other);
    }
}

static void add_key(const char *key, size_t length, const char *shape)
{
    struct diff_form form = {.sources = 0};
    snprintf(form.text, sizeof form.text, "%.*s", (int)length, key);
    const struct words words = split(form.text);
    const char *opcode = words.word[0];
    /* Pieces from which lowering builds vector moves: no instruction has these keys. */
    if (is_one_of(opcode, "pack low high widen")) return;
    char operand[6][8];
    unsigned operands = 0;
    for (const char *at = shape; *at && operands < 6;) {
        const size_t size = strcspn(at, " ");
        snprintf(operand[operands++], sizeof operand[0], "%.*s", (int)size, at);
        at += size + (at[size] == ' ');
    }
    form.carry = !strcmp(operand[operands - 1], "cc");
    form.sources = operands - 1 - form.carry;
    if (form.carry && !is_one_of(opcode, "mad madc")) form.sources = 2;
    if (is_one_of(form.text, "not.pred mov.pred")) form.sources = 1;
    for (unsigned k = 0; k <= form.sources; k++) {
        const char *type = last(&words, 0);
        if (!k && diff_kind_bits(kind_of(operand[0], last(&words, 1))) ==
                      (unsigned)atoi(last(&words, 1) + 1))
            type = last(&words, 1);
        enum diff_kind kind = kind_of(operand[k], type);
        if (k && is_amount(opcode, k - 1)) kind = DIFF_AMOUNT;
        if (k)
            form.source[k - 1] = kind;
        else
            form.result = kind;
        form.width[k] = diff_kind_bits(kind) == 8 ? 32 : diff_kind_bits(kind);
    }
    form.pair = !strcmp(opcode, "setp") && !is_one_of(last(&words, 0), "f16 bf16");
    form.approximate = find(&words, "approx") > 0 || find(&words, "full") > 0;
    form.loose = is_one_of(opcode, "add sub mul") && form.source[0] >= DIFF_F16 &&
                 form.source[0] <= DIFF_F64 && find(&words, "rn") < 0;
    if (!strcmp(opcode, "prmt") && words.count == 3)
        snprintf(form.text, sizeof form.text, "prmt.b32.%.8s", words.word[1]);
    if (!strcmp(opcode, "lop3")) {
        add_truth_tables(&form);
        return;
    }
    put(&form);
    add_directed(&form, &words);
    if (!strcmp(opcode, "setp")) add_comparisons(&form, &words);
}

const struct diff_form *diff_forms(size_t *count)
{
    if (!all.count) {
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            for (const char *at = rows[k].keys; *at;) {
                const size_t length = strcspn(at, " ");
                add_key(at, length, rows[k].shape);
                at += length + strspn(at + length, " ");
            }
        }
    }
    *count = all.count;
    return all.forms;
}
