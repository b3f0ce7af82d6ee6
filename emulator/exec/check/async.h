/* exec_async: which words of a block's shared memory an asynchronous copy (cp.async, cp.async.bulk)
 * may still be filling, or a bulk copy to global memory reading, and who touches them. Private to
 * emulator/exec.
 *
 * The device copies when it is asked to; CUDA promises the bytes only behind a wait:
 *  - cp.async: the thread that asked waits (cp.async.wait_group, cp.async.wait_all), or arrives at
 * a barrier object with cp.async.mbarrier.arrive. At that moment the bytes are as if that thread
 *    had stored them: others need a barrier more (check/shadow.h);
 *  - cp.async.bulk: some thread sees a phase of the copy's barrier object complete. Which phase,
 * and whether the others that read have seen it too, is not looked at. Until then a plain load,
 * store or atomic there is a mistake, whoever does it and whatever barrier of the block lies
 * between. Whether one writes what another is still filling is not looked at.
 *
 * A bulk copy or reduction to global memory reads until the thread that asked has waited for its
 * group (cp.async.bulk.wait_group, with .read or without); a group is what was asked for before a
 * cp.async.bulk.commit_group. Then it is as if that thread had loaded the bytes: others that store
 * there need a barrier more. Until then a store or atomic there is a mistake, and so is a copy to
 * there. Of two copies that read the same word the earlier is forgotten. That a block ends before
 * its copies have read is not looked at: no document says what happens then.
 *
 * Source: PTX ISA 9.0, 9.7.9.25 (asynchronous copies), 9.7.13.15 (mbarrier).
 */
#ifndef OVERLAP_EXEC_CHECK_ASYNC_H
#define OVERLAP_EXEC_CHECK_ASYNC_H

#include "emulator/exec/check/shadow.h"

struct exec_async;

/* Lane `lane` touches `bytes` bytes at `offset`: names the copy that may still be filling them. */
void exec_async_touch(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                      uint64_t offset, uint64_t bytes, enum exec_access access);
/* A copy of the lane's is to fill them: names the one that may still be reading them. */
void exec_async_overwrite(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                          uint64_t offset, uint64_t bytes);

#endif
