/* exec_cluster_order: race check between the blocks of a cluster on each other's shared memory.
 * Private to emulator/exec.
 *
 * It uses vector clocks, one per block, in the moments of check/shadow.h. Each block has its own
 * shadow of each shared memory of the cluster that it touches; a touch is compared with the shadows
 * of all blocks. What orders touches, and what is never reported, is as check/shadow.h says for the
 * threads of a block, and:
 *  - the cluster's barrier: what a block did before its threads arrived comes before what any block
 *    does after the wait. A .relaxed arrival passes on only what came before a fence;
 *  - barrier objects: a block that sees a phase of one of a block's objects complete comes after
 *    everything that arrived at any object of that block;
 *  - strong accesses and atomics after a fence or a release, whatever their address.
 * A block counts as one thread; so do all objects of a block, and all flags of the cluster: some
 * races are missed, no correct program is reported.
 *
 * A block is also reported if it ends while another block's touch of its shared memory is unordered
 * with that end: in another schedule the touch would come too late.
 *
 * Source: PTX ISA 9.0, chapter 8 (memory consistency model), 9.7.13.4.
 */
#ifndef OVERLAP_EXEC_CHECK_CLUSTER_H
#define OVERLAP_EXEC_CHECK_CLUSTER_H

#include "emulator/exec/check/shadow.h"
#include "emulator/exec/cluster.h"

/* For race-checked blocks that have been started. Returns false without memory. */
bool exec_cluster_order_begin(struct exec_cluster *cluster);
void exec_cluster_order_end(struct exec_cluster *cluster);

/* The warp's lanes arrive at the barrier; then, the barrier of `block`'s cluster is complete. */
void exec_cluster_order_arrive(const struct exec_warp *warp, bool releases);
void exec_cluster_order_meet(const struct exec_block *block);
/* The block has executed a fence, or is about to do a strong access or an atomic. */
void exec_cluster_order_fence(const struct exec_block *block);
void exec_cluster_order_access(const struct exec_warp *warp, enum exec_access access,
                               bool releases);
/* The warp's block arrives at a barrier object in the shared memory of `home`, or has seen a phase
 * of one complete. */
void exec_cluster_order_tell(const struct exec_warp *warp, const struct exec_block *home);
void exec_cluster_order_hear(const struct exec_warp *warp, const struct exec_block *home);
/* The block ends: reports touches of its shared memory that are unordered with this. */
void exec_cluster_order_leaves(const struct exec_block *block);

/* Returns the shadow in which `block` keeps its touches of the shared memory of `home`, another
 * block. NULL: no memory. */
struct exec_shadow *exec_cluster_order_shadow(struct exec_block *block, struct exec_block *home);
/* Compares a touch of shared memory, in a race-checked cluster, with those of other blocks. */
void exec_cluster_order_touch(const struct exec_touch *touch, uint64_t offset, uint64_t bytes);
/* Reports a race between two threads of the touch's block in another block's shared memory. */
void exec_cluster_order_report(const struct exec_touch *touch, const struct exec_reported *first,
                               const struct exec_block *block, uint64_t offset);

#endif
