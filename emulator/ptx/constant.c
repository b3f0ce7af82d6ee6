/* Constant expressions (PTX ISA 4.5), evaluated while they are parsed, with C's precedence.
 * Integers have 64 bits and are signed unless an operand is unsigned; arithmetic wraps. */
#include "emulator/ptx/internal.h"

#include <string.h>

static struct ptx_constant ternary(struct ptx_parser *p);

static struct ptx_constant integer(uint64_t bits, bool is_unsigned)
{
    return (struct ptx_constant){.is_unsigned = is_unsigned, .bits = bits};
}

bool ptx_at_constant(const struct ptx_parser *p)
{
    switch (p->token.kind) {
    case PTX_TOKEN_INTEGER:
    case PTX_TOKEN_SINGLE:
    case PTX_TOKEN_DOUBLE:
        return true;
    case PTX_TOKEN_SIGN:
        return ptx_at_sign(p, '-') || ptx_at_sign(p, '+') || ptx_at_sign(p, '~') ||
               ptx_at_sign(p, '(') || ptx_at_sign(p, '!');
    case PTX_TOKEN_WORD:
        return ptx_token_is(&p->token, "WARP_SZ");
    default:
        return false;
    }
}

static void enter(struct ptx_parser *p)
{
    if (++p->expression_depth > PTX_MAX_EXPRESSION)
        ptx_fail(p, &p->token, "The expression is nested deeper than %d.", PTX_MAX_EXPRESSION);
}

static struct ptx_constant need_integer(struct ptx_parser *p, struct ptx_constant value,
                                        const struct ptx_token *at)
{
    if (value.is_float)
        ptx_fail(p, at, "Floating-point constants take no part in expressions but a sign.");
    return value;
}

/* Parses what follows `(`: the rest of a cast, (.s64)x or (.u64)x, or of a parenthesis. */
static struct ptx_constant unary(struct ptx_parser *p);
static struct ptx_constant parenthesis(struct ptx_parser *p)
{
    bool to_unsigned = ptx_at_suffix(p, "u64");
    if (!to_unsigned && !ptx_at_suffix(p, "s64")) {
        struct ptx_constant value = ternary(p);
        ptx_expect_sign(p, ')', "at the end of the expression");
        return value;
    }
    ptx_next(p);
    ptx_expect_sign(p, ')', "after the type of a cast");
    struct ptx_token at = p->token;
    struct ptx_constant value = need_integer(p, unary(p), &at);
    value.is_unsigned = to_unsigned;
    return value;
}

static struct ptx_constant unary(struct ptx_parser *p)
{
    struct ptx_token at = p->token;
    struct ptx_constant value;
    char buffer[64];
    enter(p);
    if (at.kind == PTX_TOKEN_INTEGER) {
        ptx_next(p);
        value = integer(at.value, at.is_unsigned);
    } else if (at.kind == PTX_TOKEN_SINGLE || at.kind == PTX_TOKEN_DOUBLE) {
        ptx_next(p);
        value = (struct ptx_constant){
            .is_float = true, .is_single = at.kind == PTX_TOKEN_SINGLE, .bits = at.value};
    } else if (at.kind == PTX_TOKEN_WORD && ptx_token_is(&at, "WARP_SZ")) {
        ptx_next(p);
        value = integer(32, false);
    } else if (ptx_take_sign(p, '+')) {
        value = unary(p);
    } else if (ptx_take_sign(p, '-')) {
        value = unary(p);
        if (value.is_float) {
            value.bits ^= value.is_single ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
        } else {
            value.bits = 0 - value.bits;
        }
    } else if (ptx_take_sign(p, '~')) {
        value = need_integer(p, unary(p), &at);
        value.bits = ~value.bits;
    } else if (ptx_take_sign(p, '!')) {
        value = integer(need_integer(p, unary(p), &at).bits == 0, false);
    } else if (ptx_take_sign(p, '(')) {
        value = parenthesis(p);
    } else {
        ptx_fail(p, &at, "Expected a constant, found %s.", ptx_show(&at, buffer));
    }
    p->expression_depth--;
    return value;
}

/* Binary operators by precedence, the lowest first. */
static const struct {
    uint32_t sign;
    int level;
} operators[] = {
    {PTX_SIGN('|', '|'), 0},
    {PTX_SIGN('&', '&'), 1},
    {'|', 2},
    {'^', 3},
    {'&', 4},
    {PTX_SIGN('=', '='), 5},
    {PTX_SIGN('!', '='), 5},
    {'<', 6},
    {'>', 6},
    {PTX_SIGN('<', '='), 6},
    {PTX_SIGN('>', '='), 6},
    {PTX_SIGN('<', '<'), 7},
    {PTX_SIGN('>', '>'), 7},
    {'+', 8},
    {'-', 8},
    {'*', 9},
    {'/', 9},
    {'%', 9},
};
#define LEVELS 10

static bool less(struct ptx_constant a, struct ptx_constant b)
{
    if (a.is_unsigned || b.is_unsigned) return a.bits < b.bits;
    return (int64_t)a.bits < (int64_t)b.bits;
}

static uint64_t divide(struct ptx_parser *p, const struct ptx_token *at, uint32_t sign,
                       struct ptx_constant a, struct ptx_constant b)
{
    if (b.bits == 0) ptx_fail(p, at, "The expression divides by zero.");
    if (a.is_unsigned || b.is_unsigned) return sign == '/' ? a.bits / b.bits : a.bits % b.bits;
    if (b.bits == UINT64_MAX) return sign == '/' ? 0 - a.bits : 0; /* division by -1 may overflow */
    return sign == '/' ? (uint64_t)((int64_t)a.bits / (int64_t)b.bits)
                       : (uint64_t)((int64_t)a.bits % (int64_t)b.bits);
}

static uint64_t shift_right(struct ptx_constant a, uint64_t amount)
{
    if (a.is_unsigned) return amount > 63 ? 0 : a.bits >> amount;
    uint64_t sign = (int64_t)a.bits < 0 ? UINT64_MAX : 0;
    if (amount == 0) return a.bits;
    return amount > 63 ? sign : a.bits >> amount | sign << (64 - amount);
}

static struct ptx_constant apply(struct ptx_parser *p, const struct ptx_token *at, uint32_t sign,
                                 struct ptx_constant a, struct ptx_constant b)
{
    bool is_unsigned = a.is_unsigned || b.is_unsigned;
    switch (sign) {
    case PTX_SIGN('|', '|'):
        return integer(a.bits || b.bits, false);
    case PTX_SIGN('&', '&'):
        return integer(a.bits && b.bits, false);
    case PTX_SIGN('=', '='):
        return integer(a.bits == b.bits, false);
    case PTX_SIGN('!', '='):
        return integer(a.bits != b.bits, false);
    case '<':
        return integer(less(a, b), false);
    case '>':
        return integer(less(b, a), false);
    case PTX_SIGN('<', '='):
        return integer(!less(b, a), false);
    case PTX_SIGN('>', '='):
        return integer(!less(a, b), false);
    case PTX_SIGN('<', '<'):
        return integer(b.bits > 63 ? 0 : a.bits << b.bits, a.is_unsigned);
    case PTX_SIGN('>', '>'):
        return integer(shift_right(a, b.bits), a.is_unsigned);
    case '|':
        return integer(a.bits | b.bits, is_unsigned);
    case '^':
        return integer(a.bits ^ b.bits, is_unsigned);
    case '&':
        return integer(a.bits & b.bits, is_unsigned);
    case '+':
        return integer(a.bits + b.bits, is_unsigned);
    case '-':
        return integer(a.bits - b.bits, is_unsigned);
    case '*':
        return integer(a.bits * b.bits, is_unsigned);
    default:
        return integer(divide(p, at, sign, a, b), is_unsigned);
    }
}

static int level_of(const struct ptx_parser *p)
{
    if (p->token.kind != PTX_TOKEN_SIGN) return -1;
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        if (p->token.value == operators[i].sign) return operators[i].level;
    }
    return -1;
}

/* The recursion is bounded: between two parentheses each level is entered once. */
static struct ptx_constant binary(struct ptx_parser *p, int level)
{
    if (level == LEVELS) return unary(p);
    struct ptx_token at = p->token;
    struct ptx_constant left = binary(p, level + 1);
    while (level_of(p) == level) {
        uint32_t sign = (uint32_t)p->token.value;
        left = need_integer(p, left, &at);
        ptx_next(p);
        struct ptx_token right_at = p->token;
        struct ptx_constant right = need_integer(p, binary(p, level + 1), &right_at);
        left = apply(p, &right_at, sign, left, right);
    }
    return left;
}

static struct ptx_constant ternary(struct ptx_parser *p)
{
    enter(p);
    struct ptx_token at = p->token;
    struct ptx_constant value = binary(p, 0);
    if (ptx_take_sign(p, '?')) {
        bool chosen = need_integer(p, value, &at).bits != 0;
        struct ptx_constant first = ternary(p);
        ptx_expect_sign(p, ':', "between the branches of ?");
        struct ptx_constant second = ternary(p);
        value = chosen ? first : second;
    }
    p->expression_depth--;
    return value;
}

struct ptx_constant ptx_constant_parse(struct ptx_parser *p)
{
    p->expression_depth = 0;
    return ternary(p);
}

int64_t ptx_constant_integer(struct ptx_parser *p, const char *what)
{
    struct ptx_token at = p->token;
    struct ptx_constant value = ptx_constant_parse(p);
    if (value.is_float) ptx_fail(p, &at, "%s is an integer, not a floating-point number.", what);
    return (int64_t)value.bits;
}

/* ---- floats ---------------------------------------------------------------------------------- */

static double value_of(const struct ptx_constant *constant)
{
    double wide;
    float narrow;
    uint32_t low = (uint32_t)constant->bits;
    memcpy(&wide, &constant->bits, sizeof wide);
    memcpy(&narrow, &low, sizeof narrow);
    return constant->is_single ? (double)narrow : wide;
}

/* Converts the bits of a single to bf16, its upper half, rounding to nearest even. */
static uint64_t to_bfloat(uint32_t bits)
{
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return 0x7FFF;
    return (bits + 0x7FFFu + (bits >> 16 & 1)) >> 16;
}

/* Converts the bits of a single to half precision, rounding to nearest even. */
static uint64_t to_half(uint32_t bits)
{
    uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u) return 0x7FFF;
    if (magnitude >= 0x477FF000u) return sign | 0x7C00u; /* rounds to infinity */
    int exponent = (int)(magnitude >> 23) - 127;
    if (exponent < -25) return sign;
    uint32_t mantissa = (magnitude & 0x7FFFFFu) | 0x800000u;
    uint32_t dropped = exponent < -14 ? (uint32_t)(13 - 14 - exponent) : 13u;
    uint32_t kept = mantissa >> dropped;
    uint32_t rest = mantissa & ((1u << dropped) - 1), half = 1u << (dropped - 1);
    if (rest > half || (rest == half && (kept & 1))) kept++;
    /* a subnormal has no implied bit; a carry propagates into the exponent */
    return sign | (exponent < -14 ? kept : kept + ((uint32_t)(exponent + 14) << 10));
}

bool ptx_constant_to_float(const struct ptx_constant *constant, enum ptx_type type, uint64_t *bits)
{
    uint32_t single;
    if (constant->is_single) {
        single = (uint32_t)constant->bits;
    } else {
        float narrow = (float)value_of(constant);
        memcpy(&single, &narrow, sizeof single);
    }
    switch (type) {
    case PTX_F64:
        if (constant->is_single) {
            double wide = value_of(constant);
            memcpy(bits, &wide, sizeof wide);
        } else {
            *bits = constant->bits;
        }
        return true;
    case PTX_F32:
        *bits = single;
        return true;
    case PTX_F16:
        *bits = to_half(single);
        return true;
    case PTX_BF16:
        *bits = to_bfloat(single);
        return true;
    default:
        return false;
    }
}
