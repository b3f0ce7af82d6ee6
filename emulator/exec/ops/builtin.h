/* exec_builtin: the functions of CUDA's device runtime that nvcc leaves to the driver. Private to
 * emulator/exec.
 */
#ifndef OVERLAP_EXEC_OPS_BUILTIN_H
#define OVERLAP_EXEC_OPS_BUILTIN_H

#include "emulator/exec/machine/machine.h"

/* One lane's printf: the format and the packed arguments at device addresses. `result` is what
 * printf returns: the number of arguments, -1 for a null format. false: an address is wrong and the
 * fault recorded. */
bool exec_print(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                uint64_t format, uint64_t arguments, int *result);

#endif
