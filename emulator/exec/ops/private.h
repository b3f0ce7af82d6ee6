/* What the files of emulator/exec/ops/ tell each other: the functions of CUDA's device runtime that
 * nvcc leaves to the driver, and barrier objects for the copies that tell them.
 */
#ifndef OVERLAP_EXEC_OPS_PRIVATE_H
#define OVERLAP_EXEC_OPS_PRIVATE_H

#include "emulator/exec/machine/machine.h"

/* ops/builtin.c: runs a built-in function for the active lanes. */
int exec_builtin_call(struct exec_warp *warp, const struct exec_inst *inst,
                      const struct exec_call *call, const struct exec_function *function);

/* ops/device_call.c: the same for the device runtime's. */
int exec_device_call(struct exec_warp *warp, const struct exec_inst *inst,
                     const struct exec_call *call, const struct exec_function *function);

/* ops/print.c: one lane's printf: the format and the packed arguments at device addresses. `result`
 * is what printf returns: the number of arguments, -1 for a null format. false: an address is wrong
 * and the fault recorded. */
bool exec_print(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                uint64_t format, uint64_t arguments, int *result);

/* ops/mbarrier.c: `bytes` that the barrier object at a generic address was told to expect have
 * come. False: a fault is recorded. */
bool exec_mbarrier_complete(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                            uint64_t address, uint32_t bytes);

#endif
