/* exec_async: asynchronous copies. Keeps which words of a block's shared memory a copy (cp.async,
 * cp.async.bulk) may still be filling, or a bulk copy to global memory may still be reading, and
 * reports accesses that conflict with them. Private to emulator/exec.
 *
 * The device copies when the copy is issued; CUDA guarantees the bytes only after a wait:
 *  - cp.async: the issuing thread waits (cp.async.wait_group, cp.async.wait_all), or arrives at a
 *    barrier object with cp.async.mbarrier.arrive. From then on the bytes count as stored by that
 *    thread: other threads need a barrier as well (check/shadow.h);
 *  - cp.async.bulk: some thread sees a phase of the copy's barrier object complete. The check does
 *    not distinguish phases, and does not check whether other readers have seen it too. Before
 *    that, a plain load, store or atomic to the bytes is an error, whichever thread does it and
 *    whatever barriers of the block lie between. Two copies that fill the same bytes are not
 *    checked against each other.
 *
 * When a copy begins, what other warps have loaded from its target without an order is a race with
 * it, outside of clusters (exec_shadow_overwrite).
 *
 * A bulk copy or reduction to global memory reads until the issuing thread has waited for its group
 * (cp.async.bulk.wait_group, with .read or without); a group is what the thread issued before a
 * cp.async.bulk.commit_group. From then on the bytes count as loaded by that thread: other threads
 * need a barrier before they store there. Before that, a store, an atomic or a copy to the bytes is
 * an error. Of two copies that read the same word only the later one is kept. A block that ends
 * before its copies have read is not reported: no document defines that case.
 *
 * Source: PTX ISA 9.0, 9.7.9.25 (asynchronous copies), 9.7.13.15 (mbarrier).
 */
#ifndef OVERLAP_EXEC_CHECK_ASYNC_H
#define OVERLAP_EXEC_CHECK_ASYNC_H

#include "emulator/exec/check/shadow.h"

struct exec_async;

/* Reports the copy that may still be filling (or, for a store or atomic, reading) the `bytes` bytes
 * at `offset` that lane `lane` accesses. */
void exec_async_touch(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                      uint64_t offset, uint64_t bytes, enum exec_access access);
/* Reports the copy that may still be reading the bytes that the lane's new copy will fill. */
void exec_async_overwrite(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                          uint64_t offset, uint64_t bytes);

#endif
