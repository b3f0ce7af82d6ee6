#include "emulator/memory/access_size.h"

#include <stdbool.h>

/* Source: Intel's Software Developer's Manual, volume 2, appendix A: opcode maps. */

/* Sizes that depend on prefixes. */
enum {
    BY_OPERAND = 64, /* 4 bytes; 2 with 66; 8 with REX.W */
    BY_WORD,         /* 4 bytes; 8 with REX.W or VEX.W */
    WHOLE,           /* a vector register: 16 bytes; 32 with VEX.L */
    HALF,            /* half of one */
    MMX,             /* a vector register with 66, else 8 bytes */
};

/* The prefix that selects one of several instructions of an opcode. */
enum { ANY = -1, NONE, P66, PF3, PF2 };

/* Opcodes `first` to `last` of a map: 0: one byte; 1: behind 0f; 2: behind 0f 38. The first row
 * that fits is taken. */
static const struct row {
    uint8_t map, first, last;
    int8_t prefix;
    uint8_t size;
} rows[] = {
    {0, 0x63, 0x63, ANY, 4},          /* movsxd */
    {0, 0x69, 0x69, ANY, BY_OPERAND}, /* imul */
    {0, 0x6b, 0x6b, ANY, BY_OPERAND},
    {0, 0x80, 0x80, ANY, 1}, /* arithmetic with a constant */
    {0, 0x81, 0x81, ANY, BY_OPERAND},
    {0, 0x83, 0x83, ANY, BY_OPERAND},
    {0, 0x84, 0x84, ANY, 1}, /* test, xchg, mov */
    {0, 0x85, 0x85, ANY, BY_OPERAND},
    {0, 0x86, 0x86, ANY, 1},
    {0, 0x87, 0x87, ANY, BY_OPERAND},
    {0, 0x88, 0x88, ANY, 1},
    {0, 0x89, 0x89, ANY, BY_OPERAND},
    {0, 0x8a, 0x8a, ANY, 1},
    {0, 0x8b, 0x8b, ANY, BY_OPERAND},
    {0, 0xc0, 0xc0, ANY, 1}, /* shifts */
    {0, 0xc1, 0xc1, ANY, BY_OPERAND},
    {0, 0xc6, 0xc6, ANY, 1}, /* mov of a constant */
    {0, 0xc7, 0xc7, ANY, BY_OPERAND},
    {0, 0xf6, 0xf6, ANY, 1}, /* not, neg, mul, div */
    {0, 0xf7, 0xf7, ANY, BY_OPERAND},
    {0, 0xfe, 0xfe, ANY, 1}, /* inc, dec; push and calls are ff as well */
    {1, 0x10, 0x11, PF3, 4}, /* movss, movsd, movups */
    {1, 0x10, 0x11, PF2, 8},
    {1, 0x10, 0x11, ANY, WHOLE},
    {1, 0x12, 0x13, ANY, 8}, /* movlps, movhps */
    {1, 0x16, 0x17, ANY, 8},
    {1, 0x14, 0x15, ANY, WHOLE},
    {1, 0x28, 0x29, ANY, WHOLE},   /* movaps */
    {1, 0x2a, 0x2a, PF3, BY_WORD}, /* cvtsi2ss, cvtsi2sd */
    {1, 0x2a, 0x2a, PF2, BY_WORD},
    {1, 0x2b, 0x2b, ANY, WHOLE},
    {1, 0x2c, 0x2d, PF3, 4}, /* cvttss2si, cvttsd2si */
    {1, 0x2c, 0x2d, PF2, 8},
    {1, 0x2e, 0x2f, NONE, 4}, /* ucomiss, ucomisd */
    {1, 0x2e, 0x2f, P66, 8},
    {1, 0x40, 0x4f, ANY, BY_OPERAND}, /* cmov */
    {1, 0x5a, 0x5a, NONE, HALF},      /* cvtps2pd, cvtss2sd */
    {1, 0x51, 0x5f, PF3, 4},          /* arithmetic of floats and doubles */
    {1, 0x51, 0x5f, PF2, 8},
    {1, 0x51, 0x5f, ANY, WHOLE},
    {1, 0x60, 0x6d, ANY, MMX}, /* integers in vectors */
    {1, 0x6e, 0x6e, ANY, BY_WORD},
    {1, 0x6f, 0x6f, NONE, 8},
    {1, 0x6f, 0x6f, ANY, WHOLE},
    {1, 0x70, 0x70, ANY, WHOLE},
    {1, 0x74, 0x76, ANY, MMX},
    {1, 0x7e, 0x7e, PF3, 8},
    {1, 0x7e, 0x7e, ANY, BY_WORD},
    {1, 0x7f, 0x7f, NONE, 8},
    {1, 0x7f, 0x7f, ANY, WHOLE},
    {1, 0x90, 0x9f, ANY, 1},          /* setcc */
    {1, 0xaf, 0xaf, ANY, BY_OPERAND}, /* imul */
    {1, 0xb0, 0xb0, ANY, 1},          /* cmpxchg, xadd */
    {1, 0xb1, 0xb1, ANY, BY_OPERAND},
    {1, 0xc0, 0xc0, ANY, 1},
    {1, 0xc1, 0xc1, ANY, BY_OPERAND},
    {1, 0xb6, 0xb6, ANY, 1}, /* movzx, movsx */
    {1, 0xb7, 0xb7, ANY, 2},
    {1, 0xbe, 0xbe, ANY, 1},
    {1, 0xbf, 0xbf, ANY, 2},
    {1, 0xc2, 0xc2, PF3, 4}, /* cmpss, cmpsd */
    {1, 0xc2, 0xc2, PF2, 8},
    {1, 0xc2, 0xc2, ANY, WHOLE},
    {1, 0xc3, 0xc3, ANY, BY_OPERAND}, /* movnti */
    {1, 0xd6, 0xd6, P66, 8},          /* movq */
    {1, 0xe6, 0xe6, PF3, HALF},       /* cvtdq2pd */
    {1, 0xd1, 0xfe, ANY, MMX},
    {2, 0x18, 0x18, ANY, 4}, /* broadcasts */
    {2, 0x19, 0x19, ANY, 8},
    {2, 0x58, 0x58, ANY, 4},
    {2, 0x59, 0x59, ANY, 8},
};

struct instruction {
    uint8_t map, opcode;
    int8_t prefix;
    bool is_wide;   /* REX.W, VEX.W */
    uint8_t length; /* of a vector register: 0: 16 bytes, 1: 32, 2: 64 */
    bool is_short;  /* 66, also beside a prefix that selects */
};

/* Reads a VEX prefix (c4, c5), whose first byte is code[0]. Returns its length. */
static unsigned read_vex(const uint8_t *code, struct instruction *in)
{
    const bool is_three = code[0] == 0xc4;
    const uint8_t last = code[is_three ? 2 : 1];

    in->map = is_three ? code[1] & 31 : 1;
    in->is_wide = is_three && (last & 0x80) != 0;
    in->length = (last & 4) != 0;
    in->prefix = (int8_t)(last & 3); /* in the order of P66, PF3, PF2 */
    return is_three ? 3 : 2;
}

/* Reads an EVEX prefix, of four bytes. */
static void read_evex(const uint8_t *code, struct instruction *in)
{
    in->map = code[1] & 7;
    in->is_wide = (code[2] & 0x80) != 0;
    in->prefix = (int8_t)(code[2] & 3);
    in->length = code[3] >> 5 & 3;
}

/* Reads everything up to the opcode. Returns false when there is none in the bytes. */
static bool read_instruction(const uint8_t code[ACCESS_SIZE_CODE], struct instruction *in)
{
    enum { LAST = ACCESS_SIZE_CODE - 5 };
    unsigned at = 0;

    for (; at < LAST; at++) {
        const uint8_t byte = code[at];
        if (byte == 0x66)
            in->is_short = true;
        else if (byte == 0xf2 || byte == 0xf3)
            in->prefix = byte == 0xf3 ? PF3 : PF2;
        else if (byte != 0x2e && byte != 0x36 && byte != 0x3e && byte != 0x26 && byte != 0x64 &&
                 byte != 0x65 && byte != 0x67 && byte != 0xf0)
            break;
    }
    if (at == LAST) return false;
    if (in->prefix == NONE && in->is_short) in->prefix = P66;
    if (code[at] == 0x62) {
        read_evex(code + at, in);
        at += 4;
    } else if (code[at] == 0xc4 || code[at] == 0xc5) {
        at += read_vex(code + at, in);
    } else {
        if ((code[at] & 0xf0) == 0x40) in->is_wide = (code[at++] & 8) != 0;
        if (code[at] == 0x0f) {
            in->map = 1;
            at++;
            if (code[at] == 0x38) {
                in->map = 2;
                at++;
            }
        }
    }
    in->opcode = code[at];
    return true;
}

/* Fused multiply-adds: the odd ones of each eight but two are of one float or double. */
static unsigned size_of_fused(const struct instruction *in)
{
    const uint8_t low = in->opcode & 15, high = in->opcode >> 4;

    if (in->map != 2 || high < 9 || high > 11 || low < 6) return 0;
    if (low >= 8 && (low & 1)) return in->is_wide ? 8 : 4;
    return 16u << in->length;
}

static unsigned size_in(const struct instruction *in, uint8_t size)
{
    const unsigned whole = 16u << in->length;

    switch (size) {
    case BY_OPERAND:
        return in->is_wide ? 8 : in->is_short ? 2 : 4;
    case BY_WORD:
        return in->is_wide ? 8 : 4;
    case WHOLE:
        return whole;
    case HALF:
        return whole / 2;
    case MMX:
        return in->prefix == NONE ? 8 : whole;
    default:
        return size;
    }
}

unsigned access_size(const uint8_t code[ACCESS_SIZE_CODE])
{
    struct instruction in = {0};

    if (!read_instruction(code, &in)) return 0;
    /* add, or, adc, sbb, and, sub, xor, cmp: in each eight the first four have a place in memory.
     */
    if (in.map == 0 && in.opcode < 0x40 && (in.opcode & 7) < 4)
        return size_in(&in, in.opcode & 1 ? BY_OPERAND : 1);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        if (row->map == in.map && row->first <= in.opcode && in.opcode <= row->last &&
            (row->prefix == ANY || row->prefix == in.prefix))
            return size_in(&in, row->size);
    }
    return size_of_fused(&in);
}
