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

void exec_async_destroy(struct exec_async *async); /* NULL is fine */
/* Another block begins. */
void exec_async_reset(const struct exec_block *block);

/* Lane `lane` asks for a copy to `offset` of shared memory; `object`: the offset of the barrier
 * object that it tells, or EXEC_ASYNC_OWN: the thread's own groups. In a block that is watched. */
#define EXEC_ASYNC_OWN UINT64_MAX
void exec_async_begin(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                      uint64_t offset, uint64_t bytes, uint64_t object);
/* All of the lane's own copies so far are to be waited for at a barrier object. */
void exec_async_hand_over(const struct exec_warp *warp, unsigned lane);
/* A phase of the object has been seen to be complete. */
void exec_async_seen(const struct exec_warp *warp, uint64_t object);

/* Whether any copy is under way. */
bool exec_async_any(const struct exec_block *block);
/* Lane `lane` touches `bytes` bytes at `offset`: names the copy that may still be filling them. */
void exec_async_touch(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                      uint64_t offset, uint64_t bytes, enum exec_access access);

/* What lowering puts in the place of cp.async.commit_group; and of cp.async.wait_group, which
 * leaves imm groups, and wait_all, imm EXEC_ASYNC_ALL. None of the program's: nothing counts them.
 */
#define EXEC_ASYNC_ALL UINT64_MAX
exec_handler exec_async_commit, exec_async_wait;

#endif
