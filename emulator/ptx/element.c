/* Elements of arrays as operands, `a[2]` and `a[%r1]` (PTX ISA 6.4.2). As ptxas has it, an index
 * counts elements of the type without its vector, whatever the array's dimensions, and one in a
 * register of 32 bits is multiplied in 32 bits. The tree has no operand for a register's element:
 * its address is computed by instructions of its own, in front of the one that names it. */
#include "emulator/ptx/internal.h"

#include <string.h>

static struct ptx_operand of_register(uint32_t reg)
{
    return (struct ptx_operand){
        .kind = PTX_OPERAND_REGISTER, .reg = reg, .second = PTX_NO_REGISTER};
}

static struct ptx_operand of_number(uint64_t bits)
{
    return (struct ptx_operand){.kind = PTX_OPERAND_IMMEDIATE,
                                .reg = PTX_NO_REGISTER,
                                .second = PTX_NO_REGISTER,
                                .bits = bits};
}

/* Places an instruction whose result is a new register of `type`, the first of its operands.
 * Returns the register. */
static uint32_t compute(struct ptx_parser *p, struct ptx_instruction *instruction,
                        enum ptx_type type, const struct ptx_operand *sources, uint8_t count)
{
    struct ptx_operand *operands = ptx_new(p, count + 1u, sizeof *operands);
    const uint32_t result = ptx_register_add(p, "%element", type);
    operands[0] = of_register(result);
    memcpy(operands + 1, sources, count * sizeof *operands);
    instruction->operands = operands;
    instruction->operand_count = (uint8_t)(count + 1);
    instruction->guard = PTX_NO_REGISTER;
    instruction->line = p->token.line;
    ptx_instruction_place(p, instruction);
    return result;
}

/* The address of the element whose index is in a register. */
static uint32_t address_of(struct ptx_parser *p, const struct ptx_operand *array, uint32_t index)
{
    const struct ptx_register *registers = p->body.registers.items;
    const enum ptx_type type = registers[index].type;
    const bool is_wide = ptx_type_bytes(type) == sizeof(uint64_t);
    const struct ptx_operand product[] = {of_register(index),
                                          of_number(ptx_type_bytes(array->variable->type))};
    struct ptx_instruction move = {.op = PTX_OP_MOV, .type = PTX_U64, .type2 = PTX_NO_TYPE};
    struct ptx_instruction multiply = {
        .op = PTX_OP_MUL, .type = is_wide ? PTX_U64 : PTX_U32, .type2 = PTX_NO_TYPE};
    struct ptx_instruction add = {.op = PTX_OP_ADD, .type = PTX_U64, .type2 = PTX_NO_TYPE};
    ptx_modifiers_set(&multiply.modifiers, PTX_FIELD_width, PTX_WIDTH_LO);
    uint32_t bytes = compute(p, &multiply, (enum ptx_type)multiply.type, product, 2);
    if (!is_wide) {
        struct ptx_instruction widen = {.op = PTX_OP_CVT, .type = PTX_U64, .type2 = PTX_U32};
        const struct ptx_operand narrow = of_register(bytes);
        bytes = compute(p, &widen, PTX_U64, &narrow, 1);
    }
    const struct ptx_operand sum[] = {of_register(compute(p, &move, PTX_U64, array, 1)),
                                      of_register(bytes)};
    return compute(p, &add, PTX_U64, sum, 2);
}

struct ptx_operand ptx_element_parse(struct ptx_parser *p, struct ptx_operand array, bool address)
{
    char buffer[64];
    struct ptx_token at = p->token;
    uint32_t index, count;
    if (array.variable == NULL || !array.variable->is_array)
        ptx_fail(p, &at, "An index stands behind an array only.");
    ptx_expect_sign(p, '[', "before an index");
    if (address) array.kind = PTX_OPERAND_ADDRESS;
    if (ptx_at_constant(p)) {
        array.offset =
            ptx_constant_integer(p, "An index") * (int64_t)ptx_type_bytes(array.variable->type);
    } else {
        struct ptx_token name = ptx_expect(p, PTX_TOKEN_WORD, "an index");
        if (!ptx_register_find(p, &name, &index, &count) || count != 1)
            ptx_fail(p, &name, "%s is not a register.", ptx_show(&name, buffer));
        const struct ptx_register *registers = p->body.registers.items;
        const uint32_t bytes = ptx_type_bytes(registers[index].type);
        if (!address || (bytes != 4 && bytes != 8) || array.variable->space == PTX_SPACE_PARAM)
            ptx_fail(p, &name, "%s cannot be an index here.", ptx_show(&name, buffer));
        array.kind = PTX_OPERAND_SYMBOL;
        array = of_register(address_of(p, &array, index));
        array.kind = PTX_OPERAND_ADDRESS;
    }
    ptx_expect_sign(p, ']', "behind an index");
    return array;
}
