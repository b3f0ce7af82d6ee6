/* Finds the instructions of a kernel that may run after its wait for the preceding kernel. Accesses
 * before that wait are unordered against those of the preceding kernel. PTX ISA 9.7.13.13,
 * griddepcontrol.
 */
#include "emulator/exec/lower/lower.h"
#include "emulator/ptx/ptx.h"

#include <stdlib.h>

/* A called function may wait. */
static bool waits(const struct ptx_instruction *inst)
{
    return inst->op == PTX_OP_CALL ||
           (inst->op == PTX_OP_GRIDDEPCONTROL && inst->modifiers.mode == PTX_GRID_WAIT);
}

bool lower_dependent(struct lower *lower)
{
    const struct ptx_function *source = lower->source;
    const uint32_t count = source->instruction_count;
    bool any = false;
    for (uint32_t k = 0; k < count && !any; k++) any = waits(&source->instructions[k]);
    if (!any || !lower->program->watched || !lower->function->entry) return true;
    lower->waited = calloc(count + 1u, sizeof *lower->waited);
    if (lower->waited == NULL) return false;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k < count; k++)
            if (lower->waited[k] || waits(&source->instructions[k]))
                changed |= lower_spread(source, k, lower->waited);
    }
    return true;
}
