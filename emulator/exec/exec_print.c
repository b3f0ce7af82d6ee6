/* The functions of CUDA's device runtime that nvcc leaves to the driver: vprintf, __assertfail,
 * malloc, free. */
#include "emulator/exec/exec_machine.h"

int exec_builtin_call(struct exec_warp *warp, const struct exec_inst *inst,
                      const struct exec_call *call, enum exec_builtin builtin)
{
    (void)call;
    return exec_stop(warp, inst, EXEC_UNSUPPORTED, (unsigned)__builtin_ctz(warp->mask),
                     "call of device function %d", (int)builtin);
}
