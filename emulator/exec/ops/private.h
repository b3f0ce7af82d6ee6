/* Declarations that the files of emulator/exec/ops/ share: the functions of CUDA's device runtime
 * that nvcc leaves to the driver, and what bulk copies and barrier objects need of each other.
 */
#ifndef OVERLAP_EXEC_OPS_PRIVATE_H
#define OVERLAP_EXEC_OPS_PRIVATE_H

#include "emulator/exec/check/footprint.h"
#include "emulator/exec/machine/machine.h"
#include "emulator/exec/ops/extra.h"

/* A loop over the active lanes `l`. */
#define EXEC_FOR_ACTIVE                                                                            \
    for (uint32_t rest = warp->mask, l; rest && (l = (uint32_t)__builtin_ctz(rest), true);         \
         rest &= rest - 1)

/* ops/builtin.c: executes a built-in function for the active lanes, and returns the handler's
 * step. */
int exec_builtin_call(struct exec_warp *warp, const struct exec_inst *inst,
                      const struct exec_call *call, const struct exec_function *function);

/* ops/device_call.c: the same for functions of the device runtime. */
int exec_device_call(struct exec_warp *warp, const struct exec_inst *inst,
                     const struct exec_call *call, const struct exec_function *function);

/* ops/print.c: executes one lane's printf, whose format and packed arguments are at device
 * addresses. `result` is what printf returns: the number of arguments, or -1 for a null format.
 * Returns false when an address is invalid; the fault is recorded then. */
bool exec_print(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                uint64_t format, uint64_t arguments, int *result);

/* ops/mbarrier.c: `bytes` of those that the barrier object at a generic address expects have
 * arrived. Returns false when a fault is recorded. */
bool exec_mbarrier_complete(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                            uint64_t address, uint32_t bytes);

/* ops/bulk.c: returns the host address of bytes that a bulk copy reads or writes at a generic
 * address: at most 16, aligned to their size. NULL: a fault is recorded. Sources have a region
 * cache of their own, the one behind the instruction's. */
unsigned char *exec_bulk_bytes(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                               uint64_t address, uint32_t size, enum exec_access access);
/* exec_bulk_reads: a bulk copy is about to read `size` bytes at a generic address; bytes that the
 * async proxy may not see yet are reported. exec_bulk_fills: a bulk copy has written the bytes;
 * they are visible once a phase of the barrier object `object` is seen to be complete (NULL: it has
 * none). Both do nothing outside the block's own shared memory. */
void exec_bulk_reads(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                     uint64_t from, uint32_t size);
void exec_bulk_fills(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                     uint64_t to, uint32_t size, const uint64_t *object);
/* A bulk copy of one of the lane's groups has read these bytes. Until the group is waited for, the
 * copy may still be reading them. */
void exec_bulk_reading(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                       uint64_t from, uint32_t size);
/* Returns the corresponding address in the shared memory of the cluster's block `rank`. */
uint64_t exec_bulk_in_block(uint64_t address, uint32_t rank);
/* A bulk reduction executes the atomic row `apply` per element. exec_bulk_one returns the
 * instruction for it; exec_bulk_put sets a lane's operands: the element, of `bytes`, and the
 * generic address of the element that it is combined with. */
struct exec_inst exec_bulk_one(const struct exec_inst *inst, const struct exec_bulk *bulk,
                               exec_handler *apply);
void exec_bulk_put(const struct exec_warp *warp, const struct exec_bulk *bulk, unsigned lane,
                   uint64_t address, const unsigned char *element, uint32_t bytes);

#endif
