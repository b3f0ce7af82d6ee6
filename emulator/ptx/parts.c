/* Parts of a register that video instructions read or write (PTX ISA 9.7.18). In a scalar
 * instruction a part is one byte or half of an operand; in two- and four-lane instructions the
 * parts order the lanes of both sources, and for the destination they are a mask. */
#include "emulator/ptx/internal.h"

#include <stdio.h>

/* Encoding: digits of three bits each, the last digit lowest; their number; whether they count
 * halves. */
enum { DIGIT_BITS = 3, COUNT_SHIFT = 12, HALVES_SHIFT = 15, MOST_DIGITS = 4 };

uint32_t ptx_parts_count(uint16_t parts)
{
    return parts >> COUNT_SHIFT & 7u;
}

uint32_t ptx_parts_digit(uint16_t parts, uint32_t index)
{
    return parts >> DIGIT_BITS * index & 7u;
}

bool ptx_parts_halves(uint16_t parts)
{
    return parts >> HALVES_SHIFT & 1u;
}

uint16_t ptx_parts_parse(struct ptx_parser *p)
{
    char buffer[64];
    const struct ptx_token at = p->token;
    unsigned parts = 0;
    if (at.kind != PTX_TOKEN_SUFFIX) return 0;
    const bool halves = at.text[0] == 'h';
    bool known = (halves || at.text[0] == 'b') && at.length > 1 && at.length <= 1 + MOST_DIGITS;
    for (uint32_t i = 1; known && i < at.length; i++) {
        known = at.text[i] >= '0' && at.text[i] <= '7';
        parts = parts << DIGIT_BITS | (unsigned)(at.text[i] - '0');
    }
    if (!known)
        ptx_fail(p, &at, "%s is no part of a register such as .b0 or .h10.", ptx_show(&at, buffer));
    ptx_next(p);
    return (uint16_t)(parts | (at.length - 1) << COUNT_SHIFT | (unsigned)halves << HALVES_SHIFT);
}

void ptx_parts_print(uint16_t parts, char text[8])
{
    const uint32_t count = ptx_parts_count(parts);
    text[0] = '\0';
    if (!count) return;
    text[0] = '.';
    text[1] = ptx_parts_halves(parts) ? 'h' : 'b';
    for (uint32_t i = 0; i < count; i++)
        text[2 + i] = (char)('0' + ptx_parts_digit(parts, count - 1 - i));
    text[2 + count] = '\0';
}

/* Returns how many values of a register the opcode processes at once: 1, 2 or 4. */
static uint32_t lanes_of(enum ptx_opcode op)
{
    if (op >= PTX_OP_VADD4 && op <= PTX_OP_VSET4) return 4;
    return op >= PTX_OP_VADD2 && op <= PTX_OP_VSET2 ? 2 : 1;
}

void ptx_parts_check(struct ptx_parser *p, const struct ptx_instruction *instruction,
                     const struct ptx_token *at, const struct ptx_operand *operand,
                     bool destination)
{
    const uint16_t parts = operand->parts;
    const uint32_t count = ptx_parts_count(parts), lanes = lanes_of(instruction->op);
    char text[8];
    bool fine = true;
    if (operand->negated && instruction->op != PTX_OP_VMAD)
        ptx_complain(p, at->line, at->column, "%s takes no negated register.",
                     ptx_opcode_name(instruction->op));
    if (!count) return;
    const bool halves = ptx_parts_halves(parts);
    if (lanes == 1) {
        fine = count == 1 && ptx_parts_digit(parts, 0) < (halves ? 2u : 4u);
        if (destination && instruction->operand_count < 4) fine = false; /* merged into c */
    } else {
        fine = halves == (lanes == 2) && (destination ? count <= lanes : count == lanes);
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t digit = ptx_parts_digit(parts, i);
            if (digit >= (destination ? lanes : 2 * lanes)) fine = false;
            if (destination && i && digit <= ptx_parts_digit(parts, i - 1)) fine = false;
        }
    }
    ptx_parts_print(parts, text);
    if (!fine)
        ptx_complain(p, at->line, at->column, "%s has no such part here: %s.",
                     ptx_opcode_name(instruction->op), text);
}

/* ---- common rules of video instructions ------------------------------------------------------ */

void ptx_video_check(struct ptx_parser *p, const struct ptx_instruction *instruction,
                     const struct ptx_token *at)
{
    const enum ptx_opcode op = instruction->op;
    const struct ptx_modifiers *modifiers = &instruction->modifiers;
    const bool compares = op == PTX_OP_VSET || op == PTX_OP_VSET2 || op == PTX_OP_VSET4;
    const bool shifts = op == PTX_OP_VSHL || op == PTX_OP_VSHR;
    const char *needed = NULL;
    if (op < PTX_OP_VADD || op > PTX_OP_VSET4) return;
    if (!compares && !modifiers->third) needed = "three types";
    if (modifiers->third == PTX_THIRD_B32) needed = "a third type .u32 or .s32";
    if (shifts && modifiers->third == PTX_THIRD_S32) needed = "an amount of type .u32";
    if (shifts && !modifiers->clamp) needed = ".clamp or .wrap";
    if (compares && (modifiers->compare < PTX_CMP_EQ || modifiers->compare > PTX_CMP_GE))
        needed = "a comparison from .eq to .ge";
    if (modifiers->operation && lanes_of(op) > 1 && modifiers->operation != PTX_ATOMIC_ADD)
        needed = "no operation but .add";
    if (modifiers->operation > PTX_ATOMIC_MAX) needed = "no operation but .add, .min and .max";
    if (modifiers->operation && lanes_of(op) > 1 && modifiers->sat) needed = "no .sat with .add";
    if (op != PTX_OP_VMAD && modifiers->operation && instruction->operand_count < 4)
        needed = "a third source with .add, .min or .max";
    if (needed != NULL)
        ptx_complain(p, at->line, at->column, "%s takes %s.", ptx_opcode_name(op), needed);
}
