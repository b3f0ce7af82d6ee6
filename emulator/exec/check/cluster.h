/* exec_cluster_order: what orders the blocks of a cluster, and which touches of each other's shared
 * memory nothing orders. Private to emulator/exec.
 *
 * By vector clocks, one per block, in the moments of check/shadow.h. Each block has its own shadow
 * of each shared memory of the cluster that it touches; a touch is held against all of them. What
 * orders, and what is never accused, is what check/shadow.h says of the threads of a block, and:
 *  - the cluster's barrier: what a block did before its threads arrived comes before what any block
 *    does behind the wait. An arrival that is .relaxed passes on what came before a fence;
 *  - barrier objects: whoever sees a phase of one of a block's objects comes behind all that
 * arrived at any object of that block;
 *  - what is told by strong accesses and atomics, behind a fence or a release, wherever they go.
 * A block counts as one, and so do the objects of a block, and all that the cluster's blocks tell
 * each other by flags: a race beside such may be missed, no order is.
 *
 * A block that ends while nothing orders another's touch of its shared memory before that is found,
 * too: run in another order, the touch comes too late.
 *
 * Source: PTX ISA 9.0, chapter 8 (memory consistency model), 9.7.13.4.
 */
#ifndef OVERLAP_EXEC_CHECK_CLUSTER_H
#define OVERLAP_EXEC_CHECK_CLUSTER_H

#include "emulator/exec/check/shadow.h"
#include "emulator/exec/cluster.h"

/* For blocks that have been started and are watched; false: no memory. */
bool exec_cluster_order_begin(struct exec_cluster *cluster);
void exec_cluster_order_end(struct exec_cluster *cluster);

/* The warp's lanes arrive at the barrier; the barrier of `block`'s cluster is complete. */
void exec_cluster_order_arrive(const struct exec_warp *warp, bool releases);
void exec_cluster_order_meet(const struct exec_block *block);
/* The block has executed a fence, or is about to do a strong access or an atomic. */
void exec_cluster_order_fence(const struct exec_block *block);
void exec_cluster_order_access(const struct exec_warp *warp, enum exec_access access,
                               bool releases);
/* It arrives at a barrier object in the shared memory of `home`, or has seen a phase of one. */
void exec_cluster_order_tell(const struct exec_warp *warp, const struct exec_block *home);
void exec_cluster_order_hear(const struct exec_warp *warp, const struct exec_block *home);
/* The block ends. */
void exec_cluster_order_leaves(const struct exec_block *block);

/* What `block` does in the shared memory of `home`, another block, is kept there; NULL: no memory.
 */
struct exec_shadow *exec_cluster_order_shadow(struct exec_block *block, struct exec_block *home);
/* The touch, of shared memory in a cluster that is watched, is held against those of other blocks.
 */
void exec_cluster_order_touch(const struct exec_touch *touch, uint64_t offset, uint64_t bytes);
/* Two threads of the touch's block do what nothing orders, in another block's shared memory. */
void exec_cluster_order_report(const struct exec_touch *touch, const struct exec_reported *first,
                               const struct exec_block *block, uint64_t offset);

#endif
