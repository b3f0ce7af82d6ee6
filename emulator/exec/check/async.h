/* exec_async: which words of a block's shared memory an asynchronous copy (cp.async, cp.async.bulk)
 * may still be filling, and who touches them. Private to emulator/exec.
 *
 * The device copies when it is asked to; CUDA promises the bytes only behind a wait:
 *  - cp.async: the thread that asked waits (cp.async.wait_group, cp.async.wait_all), or arrives at
 * a barrier object with cp.async.mbarrier.arrive. At that moment the bytes are as if that thread
 *    had stored them: others need a barrier more (check/shadow.h);
 *  - cp.async.bulk: some thread sees a phase of the copy's barrier object complete. Which phase,
 * and whether the others that read have seen it too, is not looked at. Until then a plain load,
 * store or atomic there is a mistake, whoever does it and whatever barrier of the block lies
 * between. What an asynchronous copy reads is not looked at, nor whether one writes what another is
 * still filling.
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

#endif
