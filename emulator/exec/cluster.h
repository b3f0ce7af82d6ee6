/* exec_cluster: the blocks of a thread block cluster, which run at the same time and may use each
 * other's shared memory; and the barrier that all their threads meet at. A block that has ended
 * stays here until the last one has, for what is known of it. A block of a launch without clusters
 * has none, and is a cluster of one. Private to emulator/exec.
 *
 * Source: PTX ISA 9.0, 9.7.13.4 (barrier.cluster), 9.7.9.24 (mapa); CUDA Programming Guide, "Thread
 * Block Clusters".
 */
#ifndef OVERLAP_EXEC_CLUSTER_H
#define OVERLAP_EXEC_CLUSTER_H

#include "emulator/exec/block.h"

struct exec_cluster_order;

struct exec_cluster {
    struct exec_cluster *next;                    /* of the grid */
    uint32_t count, running;                      /* blocks: all, and those that have not ended */
    struct exec_block *blocks[EXEC_CLUSTER_MOST]; /* by rank */
    struct exec_cluster_order *order;             /* check/cluster.h; NULL: nobody watches */
};

/* Of `count` blocks that have been started, by rank; NULL: no memory. */
struct exec_cluster *exec_cluster_create(struct exec_block *const *blocks, uint32_t count);
/* Without its blocks. NULL is fine. */
void exec_cluster_destroy(struct exec_cluster *cluster);

/* Blocks of the cluster that `block` is in. */
static inline uint32_t exec_cluster_count(const struct exec_block *block)
{
    return block->cluster != NULL ? block->cluster->count : 1;
}

/* The block whose shared memory `offset`, an address of shared memory as `block` uses it, is in;
 * NULL: the cluster has no such block. It may have ended. */
static inline struct exec_block *exec_cluster_home(const struct exec_block *block, uint64_t offset)
{
    const uint64_t named = offset >> EXEC_RANK_SHIFT;
    const struct exec_cluster *cluster = block->cluster;
    if (named == 0 || named == block->rank + UINT64_C(1))
        return (struct exec_block *)(uintptr_t)block;
    return cluster != NULL && named <= cluster->count ? cluster->blocks[named - 1] : NULL;
}

/* Whether every block that has not ended waits, in vain. */
bool exec_cluster_is_stuck(const struct exec_cluster *cluster);
/* A block is done: its shared memory is gone. */
void exec_cluster_block_ends(struct exec_block *block);

/* ---- the barrier: machine/cluster.c ---------------------------------------------------------- */

/* The active lanes arrive; `releases`: and pass on what they have done. The handler answers what
 * this answers; the same of the wait. */
int exec_cluster_arrive(struct exec_warp *warp, const struct exec_inst *inst, bool releases);
int exec_cluster_await(struct exec_warp *warp, const struct exec_inst *inst);
/* Threads of the block have exited: the barrier no longer waits for them. */
void exec_cluster_left(struct exec_block *block);

#endif
