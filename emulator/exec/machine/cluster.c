/* The blocks of a cluster, and their barrier. Each thread arrives for itself and may do other
 * things before it waits; threads that have exited are not waited for. The instructions are in
 * ops/cluster.c.
 */
#include "emulator/exec/cluster.h"

#include "emulator/exec/check/cluster.h"
#include "emulator/exec/machine/private.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool is_watched(const struct exec_worker *worker)
{
    return worker->launch->watch != NULL && worker->function->program->watched;
}

struct exec_cluster *exec_cluster_create(struct exec_block *const *blocks, uint32_t count)
{
    struct exec_cluster *cluster = calloc(1, sizeof *cluster);
    assert(count <= EXEC_CLUSTER_MOST);
    if (cluster == NULL) return NULL;
    cluster->count = cluster->running = count;
    memcpy(cluster->blocks, blocks, count * sizeof(struct exec_block *));
    for (uint32_t rank = 0; rank < count; rank++) {
        assert(blocks[rank]->rank == rank);
        blocks[rank]->cluster = cluster;
    }
    if (!is_watched(blocks[0]->worker) || exec_cluster_order_begin(cluster)) return cluster;
    exec_cluster_destroy(cluster);
    return NULL;
}

void exec_cluster_destroy(struct exec_cluster *cluster)
{
    if (cluster == NULL) return;
    for (uint32_t rank = 0; rank < cluster->count; rank++) cluster->blocks[rank]->cluster = NULL;
    exec_cluster_order_end(cluster);
    free(cluster);
}

bool exec_cluster_is_stuck(const struct exec_cluster *cluster)
{
    for (uint32_t rank = 0; rank < cluster->count; rank++)
        if (!cluster->blocks[rank]->ended && !cluster->blocks[rank]->stuck) return false;
    return cluster->running > 0;
}

void exec_cluster_block_ends(struct exec_block *block)
{
    struct exec_cluster *cluster = block->cluster;
    assert(!block->ended && cluster->running > 0);
    if (cluster->order != NULL) exec_cluster_order_leaves(block);
    block->ended = true;
    cluster->running--;
}

/* ---- the barrier ----------------------------------------------------------------------------- */

static struct exec_block *block_at(struct exec_block *block, uint32_t rank)
{
    return block->cluster != NULL ? block->cluster->blocks[rank] : block;
}

/* Releases the block's waiting threads, and records those that have arrived but not waited yet. */
static void release(struct exec_block *block)
{
    block->stuck = false;
    for (uint32_t k = 0; k < block->warp_count; k++) {
        struct exec_warp *warp = &block->warps[k];
        warp->passed |= warp->arrived & warp->live;
        warp->arrived = 0;
        for (uint32_t f = 0; f < warp->fragment_count; f++) {
            struct exec_fragment *fragment = &warp->fragments[f];
            if (fragment->wait != EXEC_WAIT_CLUSTER) continue;
            warp->passed &= ~fragment->mask;
            fragment->wait = EXEC_RUNNABLE;
            fragment->pc++;
        }
    }
}

/* Ends the phase if every thread that has not exited has arrived. */
static void phase_check(struct exec_block *block)
{
    const uint32_t count = exec_cluster_count(block);
    uint32_t arrived = 0, missing = 0;
    for (uint32_t rank = 0; rank < count; rank++) {
        const struct exec_block *other = block_at(block, rank);
        for (uint32_t k = 0; k < other->warp_count; k++) {
            arrived |= other->warps[k].arrived & other->warps[k].live;
            missing |= other->warps[k].live & ~other->warps[k].arrived;
        }
    }
    if (!arrived || missing) return;
    exec_cluster_order_meet(block);
    for (uint32_t rank = 0; rank < count; rank++) release(block_at(block, rank));
}

void exec_cluster_left(struct exec_block *block)
{
    if (block->cluster != NULL || block->arrives) phase_check(block);
}

int exec_cluster_arrive(struct exec_warp *warp, const struct exec_inst *inst, bool releases)
{
    const uint32_t twice = warp->mask & (warp->arrived | warp->passed);
    if (twice)
        return exec_stop(warp, inst, EXEC_TRAP, (unsigned)__builtin_ctz(twice),
                         &(struct exec_reason){.finding = FINDING_CLUSTER_ARRIVED_TWICE});
    warp->arrived |= warp->mask;
    warp->block->arrives = true;
    exec_cluster_order_arrive(warp, releases);
    phase_check(warp->block);
    return EXEC_GO;
}

int exec_cluster_await(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint32_t passed = warp->mask & warp->passed;
    const uint32_t absent = warp->mask & ~(warp->arrived | passed);
    if (absent)
        return exec_stop(warp, inst, EXEC_TRAP, (unsigned)__builtin_ctz(absent),
                         &(struct exec_reason){.finding = FINDING_CLUSTER_NOT_ARRIVED});
    warp->passed &= ~passed;
    if (passed == warp->mask) return EXEC_GO;
    if (passed) exec_split(warp, passed, inst + 1, warp->frame);
    exec_wait(warp, inst, EXEC_WAIT_CLUSTER, 0);
    return EXEC_RESCHEDULE;
}
