/* exec_cluster: the blocks of a thread block cluster, which run at the same time and may access
 * each other's shared memory, and the barrier of all their threads. A block that has ended stays in
 * its cluster until the last one has ended, because the race check still needs its state. In a
 * launch without clusters block->cluster is NULL, and the block counts as a cluster of one. Private
 * to emulator/exec.
 *
 * Source: PTX ISA 9.0, 9.7.13.4 (barrier.cluster), 9.7.9.24 (mapa); CUDA Programming Guide, "Thread
 * Block Clusters".
 */
#ifndef OVERLAP_EXEC_CLUSTER_H
#define OVERLAP_EXEC_CLUSTER_H

#include "emulator/exec/block.h"

struct exec_cluster_order;

struct exec_cluster {
    struct exec_cluster *next;                    /* next of the grid's clusters */
    uint32_t count, running;                      /* blocks: all, and those that have not ended */
    struct exec_block *blocks[EXEC_CLUSTER_MOST]; /* by rank */
    struct exec_cluster_order *order;             /* check/cluster.h; NULL: not race-checked */
};

/* Makes a cluster of `count` started blocks, ordered by rank. Returns NULL without memory. */
struct exec_cluster *exec_cluster_create(struct exec_block *const *blocks, uint32_t count);
/* Frees the cluster but not its blocks. NULL is fine. */
void exec_cluster_destroy(struct exec_cluster *cluster);

/* Returns the number of blocks in the cluster of `block`. */
static inline uint32_t exec_cluster_count(const struct exec_block *block)
{
    return block->cluster != NULL ? block->cluster->count : 1;
}

/* Returns the block whose shared memory `offset`, a shared memory address used by `block`, lies in,
 * or NULL if the cluster has no such block. The block may have ended. */
static inline struct exec_block *exec_cluster_home(const struct exec_block *block, uint64_t offset)
{
    const uint64_t named = offset >> EXEC_RANK_SHIFT;
    const struct exec_cluster *cluster = block->cluster;
    if (named == 0 || named == block->rank + UINT64_C(1))
        return (struct exec_block *)(uintptr_t)block;
    return cluster != NULL && named <= cluster->count ? cluster->blocks[named - 1] : NULL;
}

/* Returns true when every block that has not ended waits for another one. */
bool exec_cluster_is_stuck(const struct exec_cluster *cluster);
/* Records that the block has ended: its shared memory is gone. */
void exec_cluster_block_ends(struct exec_block *block);

/* ---- the barrier: machine/cluster.c ---------------------------------------------------------- */

/* The active lanes arrive at the barrier or wait for it. `releases`: the arrival makes earlier
 * accesses visible to the other blocks. A handler returns what these return. */
int exec_cluster_arrive(struct exec_warp *warp, const struct exec_inst *inst, bool releases);
int exec_cluster_await(struct exec_warp *warp, const struct exec_inst *inst);
/* Tells the barrier that threads of the block have exited: it no longer waits for them. */
void exec_cluster_left(struct exec_block *block);

#endif
