/* The PTX ISA 9.0's rules for integer instructions (9.7.1, 9.7.2, 9.7.6 to 9.7.9), written bit by
 * bit or in 128-bit arithmetic, so that they share nothing with the handlers that are tested. */
#include "tests/exec/reference.h"

#include <string.h>

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

static uint64_t mask_of(unsigned bits)
{
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static bool is_signed(const char *type)
{
    return *type == 's';
}

static wide value_of(uint64_t bits, const char *type)
{
    const unsigned width = compute_bits(type);
    bits &= mask_of(width);
    if (is_signed(type) && bits >> (width - 1) & 1) return (wide)bits - ((wide)1 << width);
    return (wide)bits;
}

static wide clamp(wide value, const char *type)
{
    const unsigned width = compute_bits(type);
    const wide low = is_signed(type) ? -((wide)1 << (width - 1)) : 0;
    const wide high = is_signed(type) ? ((wide)1 << (width - 1)) - 1 : ((wide)1 << width) - 1;
    return value < low ? low : value > high ? high : value;
}

static wide absolute(wide value)
{
    return value < 0 ? -value : value;
}

/* lo, hi or wide of a product. */
static wide half_of(const struct compute_key *key, wide a, wide b, unsigned bits)
{
    const wide product = (wide)((uwide)a * (uwide)b);
    if (!compute_has(key, "hi")) return product;
    /* Unsigned 64-bit products need all 128 bits. */
    return is_signed(compute_type(key, 0)) ? product >> bits : (wide)((uwide)product >> bits);
}

static bool arithmetic(const struct compute_key *key, const uint64_t *in, wide *result)
{
    const char *op = key->word[0];
    const char *type = compute_type(key, 0);
    const unsigned bits = compute_bits(type);
    const wide a = value_of(in[0], type);
    const wide b = value_of(in[1], type);
    const wide c = value_of(in[2], type);
    const bool saturate = compute_has(key, "sat");
    if (!strcmp(op, "add")) {
        *result = saturate ? clamp(a + b, type) : a + b;
    } else if (!strcmp(op, "sub")) {
        *result = saturate ? clamp(a - b, type) : a - b;
    } else if (!strcmp(op, "mul")) {
        *result = half_of(key, a, b, bits);
    } else if (!strcmp(op, "mad")) {
        const wide addend = compute_has(key, "wide") ? (wide)(in[2] & mask_of(2 * bits)) : c;
        *result = (wide)((uwide)half_of(key, a, b, bits) + (uwide)addend);
        if (saturate) *result = clamp(half_of(key, a, b, bits) + c, type);
    } else if (!strcmp(op, "mul24") || !strcmp(op, "mad24")) {
        const char *narrow = is_signed(type) ? "s24" : "u24";
        const wide product = value_of(in[0], narrow) * value_of(in[1], narrow);
        const wide part = compute_has(key, "hi") ? product >> 16 : product;
        *result = op[1] == 'u' ? part : saturate ? clamp(part + c, type) : part + c;
    } else if (!strcmp(op, "sad")) {
        *result = c + absolute(a - b);
    } else if (!strcmp(op, "div")) {
        *result = b == 0               ? -1
                  : (a < 0) == (b < 0) ? absolute(a) / absolute(b)
                                       : -(absolute(a) / absolute(b));
    } else if (!strcmp(op, "rem")) {
        *result = b == 0 ? -1 : a < 0 ? -(absolute(a) % absolute(b)) : a % absolute(b);
    } else if (!strcmp(op, "abs")) {
        *result = absolute(a);
    } else if (!strcmp(op, "neg")) {
        *result = -a;
    } else if (!strcmp(op, "min") || !strcmp(op, "max")) {
        *result = (op[1] == 'i') == (a < b) ? a : b;
        if (compute_has(key, "relu") && *result < 0) *result = 0;
    } else {
        return false;
    }
    return true;
}

/* ---- packed 16-bit pairs
 * ------------------------------------------------------------------------- */

static bool pairs(const struct compute_key *key, const uint64_t *in, wide *result)
{
    const char *type = compute_type(key, 0);
    if (strcmp(type, "u16x2") != 0 && strcmp(type, "s16x2") != 0) return false;
    struct compute_key single = *key;
    strcpy(single.word[single.words - 1], *type == 's' ? "s16" : "u16");
    *result = 0;
    for (unsigned k = 0; k < 2; k++) {
        const uint64_t part[4] = {in[0] >> 16 * k & 0xffff, in[1] >> 16 * k & 0xffff};
        wide value;
        if (!arithmetic(&single, part, &value)) return false;
        *result |= (wide)((uint64_t)value & 0xffff) << 16 * k;
    }
    return true;
}

/* ---- bits
 * ----------------------------------------------------------------------------------------- */

static unsigned bit(uint64_t value, unsigned index)
{
    return (unsigned)(value >> index & 1);
}

static int highest(uint64_t value, unsigned bits)
{
    int result = -1;
    for (unsigned k = 0; k < bits; k++)
        if (bit(value, k)) result = (int)k;
    return result;
}

static wide find(const struct compute_key *key, uint64_t a, const char *type)
{
    const unsigned bits = compute_bits(type);
    if (is_signed(type) && bit(a, bits - 1)) a = ~a;
    const int position = highest(a & mask_of(bits), bits);
    return position >= 0 && compute_has(key, "shiftamt") ? (int)bits - 1 - position : position;
}

/* Returns a position or length: 8 bits of the operand for 32-bit fields, all of it for longer
 * ones. */
static unsigned amount(uint64_t value, unsigned bits)
{
    const uint32_t whole = (uint32_t)value;
    return bits == 32 ? whole & 0xff : whole < 256 ? whole : 256;
}

static wide extract(const uint64_t *in, const char *type)
{
    const unsigned top = compute_bits(type) - 1;
    const unsigned position = amount(in[1], top + 1);
    const unsigned length = amount(in[2], top + 1);
    unsigned sign = 0;
    if (is_signed(type) && length) {
        const unsigned last = position + length - 1;
        sign = bit(in[0], last < top ? last : top);
    }
    uint64_t result = 0;
    for (unsigned k = 0; k <= top; k++) {
        const bool inside = k < length && position + k <= top;
        result |= (uint64_t)(inside ? bit(in[0], position + k) : sign) << k;
    }
    return (wide)result;
}

static wide insert(const uint64_t *in, unsigned bits)
{
    const unsigned position = amount(in[2], bits);
    const unsigned length = amount(in[3], bits);
    uint64_t result = in[1];
    for (unsigned k = 0; k < length && position + k < bits; k++)
        result = (result & ~(UINT64_C(1) << (position + k))) | (uint64_t)bit(in[0], k)
                                                                   << (position + k);
    return (wide)result;
}

static wide nth_set(uint32_t mask, uint32_t base, int32_t offset)
{
    if (base > 31) return -1;
    int64_t index = base;
    if (offset == 0) return bit(mask, base) ? index : -1;
    const int64_t step = offset > 0 ? 1 : -1;
    int64_t count = 0;
    for (; index >= 0 && index < 32; index += step)
        if (bit(mask, (unsigned)index) && ++count == (offset > 0 ? offset : -(int64_t)offset))
            return index;
    return -1;
}

static wide dot(const struct compute_key *key, const uint64_t *in)
{
    const bool a_signed = compute_type(key, 1)[0] == 's';
    const bool b_signed = compute_type(key, 0)[0] == 's';
    const bool halves = key->word[0][2] == '2';
    const unsigned from = compute_has(key, "hi") ? 16 : 0;
    wide sum = (wide)(in[2] & 0xffffffff);
    for (unsigned k = 0; k < (halves ? 2 : 4); k++) {
        const unsigned width = halves ? 16 : 8;
        const char *a_type = halves ? (a_signed ? "s16" : "u16") : (a_signed ? "s8" : "u8");
        sum += value_of(in[0] >> width * k, a_type) *
               value_of(in[1] >> (from + 8 * k), b_signed ? "s8" : "u8");
    }
    return sum;
}

static wide permute(const struct compute_key *key, const uint64_t *in)
{
    /* The tables of 9.7.9.7, most significant byte first. */
    static const struct {
        const char *mode;
        const char *rows[4];
    } modes[] = {
        {"f4e", {"3210", "4321", "5432", "6543"}}, {"b4e", {"5670", "6701", "7012", "0123"}},
        {"rc8", {"0000", "1111", "2222", "3333"}}, {"ecl", {"3210", "3211", "3222", "3333"}},
        {"ecr", {"0000", "1110", "2210", "3210"}}, {"rc16", {"1010", "3232", "1010", "3232"}}};
    const uint64_t bytes = (in[1] & 0xffffffff) << 32 | (in[0] & 0xffffffff);
    uint64_t result = 0;
    for (unsigned k = 0; k < 4; k++) {
        unsigned selector = in[2] >> 4 * k & 15;
        for (size_t m = 0; m < sizeof modes / sizeof *modes; m++)
            if (compute_has(key, modes[m].mode))
                selector = (unsigned)(modes[m].rows[in[2] & 3][3 - k] - '0');
        uint64_t byte = bytes >> 8 * (selector & 7) & 0xff;
        if (selector & 8) byte = bit(byte, 7) ? 0xff : 0;
        result |= byte << 8 * k;
    }
    return (wide)result;
}

static wide shift(const struct compute_key *key, const uint64_t *in)
{
    const char *type = compute_type(key, 0);
    const unsigned bits = compute_bits(type);
    const uint32_t amount = (uint32_t)in[1];
    wide value = value_of(in[0], type);
    if (key->word[0][2] == 'l') return amount >= bits ? 0 : (wide)((uwide)value << amount);
    if (amount >= bits) return value < 0 ? -1 : 0;
    return value >> amount;
}

static wide funnel(const struct compute_key *key, const uint64_t *in)
{
    const uwide both = (uwide)(in[1] & 0xffffffff) << 32 | (in[0] & 0xffffffff);
    uint32_t amount = (uint32_t)in[2];
    if (compute_has(key, "wrap")) amount %= 32;
    if (amount > 32) amount = 32;
    return (wide)(compute_has(key, "l") ? both << amount >> 32 : both >> amount);
}

static bool bits_of(const struct compute_key *key, const uint64_t *in, wide *result)
{
    const char *op = key->word[0];
    const char *type = compute_type(key, 0);
    const unsigned bits = compute_bits(type);
    const uint64_t a = in[0] & mask_of(bits);
    const uint64_t b = in[1] & mask_of(bits);
    const bool wrap = compute_has(key, "wrap");
    *result = 0;
    if (!strcmp(op, "popc")) {
        for (unsigned k = 0; k < bits; k++) *result += bit(a, k);
    } else if (!strcmp(op, "clz")) {
        *result = (int)bits - 1 - highest(a, bits);
    } else if (!strcmp(op, "bfind")) {
        *result = find(key, in[0], type);
    } else if (!strcmp(op, "fns")) {
        *result = nth_set((uint32_t)in[0], (uint32_t)in[1], (int32_t)in[2]);
    } else if (!strcmp(op, "brev")) {
        for (unsigned k = 0; k < bits; k++) *result |= (wide)bit(a, k) << (bits - 1 - k);
    } else if (!strcmp(op, "bfe")) {
        *result = extract(in, type);
    } else if (!strcmp(op, "bfi")) {
        *result = insert(in, bits);
    } else if (!strcmp(op, "szext")) {
        const uint32_t n = wrap                   ? (uint32_t)in[1] % 32
                           : (uint32_t)in[1] > 32 ? 32
                                                  : (uint32_t)in[1];
        for (unsigned k = 0; k < 32; k++)
            *result |= (wide)(k < n                      ? bit(a, k)
                              : is_signed(type) && n > 0 ? bit(a, n - 1)
                                                         : 0)
                       << k;
    } else if (!strcmp(op, "bmsk")) {
        uint32_t from = (uint32_t)in[0], count = (uint32_t)in[1];
        from = wrap ? from % 32 : from > 32 ? 32 : from;
        count = wrap ? count % 32 : count > 32 ? 32 : count;
        for (unsigned k = from; k < 32 && k < from + count; k++) *result |= (wide)1 << k;
    } else if (!strcmp(op, "dp4a") || !strcmp(op, "dp2a")) {
        *result = dot(key, in);
    } else if (!strcmp(op, "and")) {
        *result = (wide)(a & b);
    } else if (!strcmp(op, "or")) {
        *result = (wide)(a | b);
    } else if (!strcmp(op, "xor")) {
        *result = (wide)(a ^ b);
    } else if (!strcmp(op, "not")) {
        *result = (wide)~a;
    } else if (!strcmp(op, "cnot")) {
        *result = a == 0;
    } else if (!strcmp(op, "lop3")) {
        for (unsigned k = 0; k < 32; k++)
            *result |=
                (wide)(REFERENCE_LOP3 >> (4 * bit(in[0], k) + 2 * bit(in[1], k) + bit(in[2], k)) &
                       1)
                << k;
    } else if (!strcmp(op, "shl") || !strcmp(op, "shr")) {
        *result = shift(key, in);
    } else if (!strcmp(op, "shf")) {
        *result = funnel(key, in);
    } else if (!strcmp(op, "prmt")) {
        *result = permute(key, in);
    } else if (!strcmp(op, "mov")) {
        *result = (wide)a;
    } else if (!strcmp(op, "selp")) {
        *result = (wide)(in[2] & 1 ? a : b);
    } else {
        return false;
    }
    return true;
}

static bool slct(const struct compute_key *key, const uint64_t *in, wide *result)
{
    if (strcmp(key->word[0], "slct") != 0) return false;
    const uint32_t c = (uint32_t)in[2];
    bool first = (int32_t)c >= 0;
    if (!strcmp(compute_type(key, 0), "f32")) {
        float value;
        memcpy(&value, &c, 4);
        if (compute_has(key, "ftz") && (c & 0x7f800000) == 0) value = 0;
        first = value >= 0;
    }
    *result = (wide)((first ? in[0] : in[1]) & mask_of(compute_bits(compute_type(key, 1))));
    return true;
}

static bool comparison(const struct compute_key *key, const uint64_t *in, wide *result)
{
    const char *type = compute_type(key, 0);
    if (strcmp(key->word[0], "setp") != 0 || *type == 'f' || !strcmp(type, "bf16")) return false;
    const wide a = value_of(in[0], type);
    const wide b = value_of(in[1], type);
    const char *how = key->word[1];
    static const struct {
        const char *name;
        bool less, equal, greater;
    } hows[] = {{"eq", false, true, false}, {"ne", true, false, true},  {"lt", true, false, false},
                {"le", true, true, false},  {"gt", false, false, true}, {"ge", false, true, true},
                {"lo", true, false, false}, {"ls", true, true, false},  {"hi", false, false, true},
                {"hs", false, true, true}};
    for (size_t k = 0; k < sizeof hows / sizeof *hows; k++)
        if (!strcmp(hows[k].name, how)) {
            *result = a < b ? hows[k].less : a == b ? hows[k].equal : hows[k].greater;
            return true;
        }
    return false;
}

/* ---- extended precision
 * ----------------------------------------------------------------------------- */

static bool extended(const struct compute_key *key, const uint64_t *in, struct reference *reference)
{
    if (!key->carry) return false;
    const char *op = key->word[0];
    const char *type = compute_type(key, 0);
    const unsigned bits = compute_bits(type);
    const bool reads = op[strlen(op) - 1] == 'c';
    const bool writes = compute_has(key, "cc");
    const unsigned before = in[3] & 1;
    const uwide a = in[0] & mask_of(bits);
    const uwide b = in[1] & mask_of(bits);
    const uwide c = in[2] & mask_of(bits);
    uwide sum;
    if (*op == 's')
        sum = a + (~b & mask_of(bits)) + (reads ? before : 1);
    else if (*op == 'a')
        sum = a + b + (reads ? before : 0);
    else
        sum = ((uwide)half_of(key, value_of(in[0], type), value_of(in[1], type), bits) &
               mask_of(bits)) +
              c + (reads ? before : 0);
    reference->out = (uint64_t)sum & mask_of(bits);
    reference->second = writes ? (unsigned)(sum >> bits) & 1 : before;
    return true;
}

/* ---- cvt between integers
 * ------------------------------------------------------------------------------ */

static bool convert(const struct compute_key *key, const uint64_t *in, wide *result)
{
    const char *from = compute_type(key, 0);
    const char *to = compute_type(key, 1);
    if (strcmp(key->word[0], "cvt") != 0 || !strchr("us", *from) || !strchr("us", *to))
        return false;
    wide value = value_of(in[0], from);
    if (compute_has(key, "sat")) value = clamp(value, to);
    *result = value_of((uint64_t)value, to);
    return true;
}

static bool predicates(const struct compute_key *key, const uint64_t *in, wide *result)
{
    if (strcmp(compute_type(key, 0), "pred") != 0) return false;
    const unsigned a = in[0] & 1, b = in[1] & 1;
    const char *op = key->word[0];
    *result = !strcmp(op, "and")   ? a && b
              : !strcmp(op, "or")  ? a || b
              : !strcmp(op, "xor") ? a != b
              : !strcmp(op, "not") ? !a
                                   : a;
    return true;
}

bool reference_int(const struct compute_key *key, const uint64_t *in, struct reference *reference)
{
    wide result;
    if (extended(key, in, reference)) return true;
    const char *type = compute_type(key, 0);
    if (strcmp(key->word[0], "slct") != 0 && strcmp(key->word[0], "selp") != 0 &&
        strcmp(key->word[0], "mov") != 0 &&
        (*type == 'f' || !strncmp(type, "bf", 2) || !strcmp(key->word[0], "copysign") ||
         (!strcmp(key->word[0], "cvt") &&
          (*compute_type(key, 1) == 'f' || !strncmp(compute_type(key, 1), "bf", 2)))))
        return false;
    if (!predicates(key, in, &result) && !comparison(key, in, &result) &&
        !pairs(key, in, &result) && !convert(key, in, &result) && !slct(key, in, &result) &&
        !bits_of(key, in, &result) && !arithmetic(key, in, &result))
        return false;
    /* A destination narrower than 16 bits is a 32-bit register, extended by the type's sign. */
    const unsigned bits = compute_bits(key->shape[0]);
    reference->out = (uint64_t)result & mask_of(bits < 16 && bits > 1 ? 32 : bits);
    reference->second = !strcmp(key->word[0], "setp") ? !reference->out : 0;
    return true;
}
