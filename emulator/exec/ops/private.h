/* What the files of emulator/exec/ops/ tell each other: the functions of CUDA's device runtime that
 * nvcc leaves to the driver, and barrier objects for the copies that tell them.
 */
#ifndef OVERLAP_EXEC_OPS_PRIVATE_H
#define OVERLAP_EXEC_OPS_PRIVATE_H

#include "emulator/exec/check/footprint.h"
#include "emulator/exec/machine/machine.h"
#include "emulator/exec/ops/extra.h"

/* For each active lane: `l`. */
#define EXEC_FOR_ACTIVE                                                                            \
    for (uint32_t rest = warp->mask, l; rest && (l = (uint32_t)__builtin_ctz(rest), true);         \
         rest &= rest - 1)

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

/* ops/bulk.c: the bytes behind a generic address, at most 16 and aligned to their size, of what a
 * bulk copy reads or writes; NULL: a fault is recorded. Sources have a region cache of their own,
 * the one behind the instruction's. */
unsigned char *exec_bulk_bytes(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                               uint64_t address, uint32_t size, enum exec_access access);
/* A bulk copy is about to read `size` bytes at a generic address, which is told if they may not be
 * there; and has written them: they are there when a phase of the barrier object `object` is seen
 * to be complete (NULL: it has none). Of the block's own shared memory; else nothing. */
void exec_bulk_reads(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                     uint64_t from, uint32_t size);
void exec_bulk_fills(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                     uint64_t to, uint32_t size, const uint64_t *object);
/* It has read these bytes, and belongs to one of the lane's groups: until that is waited for it may
 * still be reading them. */
void exec_bulk_reading(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                       uint64_t from, uint32_t size);
/* The same place in the shared memory of the cluster's block `rank`. */
uint64_t exec_bulk_in_block(uint64_t address, uint32_t rank);
/* A reduction's atomic operation of one element, by the row `apply`; and what the lane gives it: an
 * element of `bytes`, to be combined with the one at a generic address. */
struct exec_inst exec_bulk_one(const struct exec_inst *inst, const struct exec_bulk *bulk,
                               exec_handler *apply);
void exec_bulk_put(const struct exec_warp *warp, const struct exec_bulk *bulk, unsigned lane,
                   uint64_t address, const unsigned char *element, uint32_t bytes);

#endif
