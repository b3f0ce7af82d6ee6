/* Lowers instructions on barrier objects: mbarrier.*, cp.async.mbarrier.arrive. PTX ISA 9.0,
 * 9.7.13.15; their handlers are in ops/mbarrier.c.
 */
#include "emulator/exec/lower/access.h"

bool lower_mbarrier(struct lower *lower)
{
    const struct ptx_instruction *at = lower->at;
    const enum ptx_opcode op = at->op;
    const uint16_t how = at->modifiers.arrival;
    const bool arrives = op == PTX_OP_MBARRIER_ARRIVE || op == PTX_OP_MBARRIER_DROP;
    const bool waits = op == PTX_OP_MBARRIER_TEST || op == PTX_OP_MBARRIER_TRY;
    const bool any = arrives || waits || op == PTX_OP_MBARRIER_INIT ||
                     op == PTX_OP_MBARRIER_INVAL || op == PTX_OP_MBARRIER_EXPECT ||
                     op == PTX_OP_MBARRIER_COMPLETE || op == PTX_OP_MBARRIER_PENDING ||
                     op == PTX_OP_CP_ASYNC_MBARRIER;
    if (!any) return false;
    const uint32_t address = arrives || waits; /* index of the address operand */
    uint32_t a, b = 0, d = 0;
    lower_guard(lower);
    if (op == PTX_OP_MBARRIER_PENDING) {
        a = lower_source(lower, &at->operands[1], 8);
        d = lower_destination(lower, at->operands[0].reg, 4, false);
    } else {
        a = lower_generic(lower, &at->operands[address], at->modifiers.space);
    }
    if (a == EXEC_NO_SLOT) return true;
    if (waits) {
        const bool parity = how == PTX_WAIT_PARITY;
        b = lower_source(lower, &at->operands[2], parity ? 4 : 8);
        d = lower->registers[at->operands[0].reg];
    } else if (at->operand_count > address + 1u && op != PTX_OP_MBARRIER_PENDING) {
        b = lower_source(lower, &at->operands[address + 1], 4);
    } else {
        b = lower_value(lower, 1, 4);
    }
    if (b == EXEC_NO_SLOT) return true;
    if (arrives)
        d = at->operands[0].kind == PTX_OPERAND_SINK
                ? lower_scratch(lower)
                : lower_destination(lower, at->operands[0].reg, 8, false);
    struct exec_inst *inst = lower_row(lower, ptx_opcode_name(op));
    inst->a = a;
    inst->b = b;
    inst->d = d;
    inst->cache = (uint32_t)lower->program->cache_count++;
    if (arrives)
        inst->imm = (how == PTX_ARRIVE_EXPECT_TX ? EXEC_ARRIVE_EXPECTS : 0u) |
                    (how == PTX_ARRIVE_NO_COMPLETE ? EXEC_ARRIVE_NOT_LAST : 0u) |
                    (op == PTX_OP_MBARRIER_DROP ? EXEC_ARRIVE_DROPS : 0u);
    else
        inst->imm = how == PTX_WAIT_PARITY || how == PTX_ARRIVE_NOINC;
    return true;
}
