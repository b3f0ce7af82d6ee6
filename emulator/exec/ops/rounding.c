/* Directed roundings: runs the handler for rounding to nearest while the host's rounding mode is
 * changed. A file of its own, compiled so that the compiler expects such a change
 * (-frounding-math). */
#include "emulator/exec/machine/machine.h"
#include "emulator/exec/ops/ops.h"

#include <fenv.h>

int exec_rounded(struct exec_warp *warp, const struct exec_inst *inst)
{
    static const int modes[] = {[EXEC_ROUND_ZERO] = FE_TOWARDZERO,
                                [EXEC_ROUND_DOWN] = FE_DOWNWARD,
                                [EXEC_ROUND_UP] = FE_UPWARD};
    const int before = fegetround();
    fesetround(modes[inst->imm]);
    const int step = inst->inner(warp, inst);
    fesetround(before);
    return step;
}
