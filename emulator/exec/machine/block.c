/* A resident block: its memory, its warps, and their turns. */
#include "emulator/exec/check/causality.h"
#include "emulator/exec/check/objects.h"
#include "emulator/exec/check/order.h"
#include "emulator/exec/check/poison.h"
#include "emulator/exec/check/products.h"
#include "emulator/exec/check/proxy.h"
#include "emulator/exec/check/shadow_line.h"
#include "emulator/exec/check/unread.h"
#include "emulator/exec/check/unwritten.h"
#include "emulator/exec/cluster.h"
#include "emulator/exec/machine/private.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool exec_block_watch(struct exec_block *block)
{
    const struct exec_worker *worker = block->worker;
    const struct exec_program *program = worker->function->program;
    const uint32_t *cluster = worker->launch->cluster;
    if (worker->launch->watch == NULL || !program->watched || !worker->shared_bytes) return true;
    block->shadow = exec_shadow_create(worker->shared_bytes);
    if (block->shadow == NULL || !exec_shadow_tells(block->shadow, 4)) return false;
    if (block->async == NULL && block->outgoing == NULL && !program->proxies &&
        cluster[0] * cluster[1] * cluster[2] <= 1)
        exec_shadow_line(block->shadow);
    return true;
}

void exec_block_forget(struct exec_block *block)
{
    exec_shadow_destroy(block->shadow);
    exec_block_shadow_destroy(block->near);
    block->shadow = NULL;
    block->near = NULL;
}

struct exec_block *exec_block_create(struct exec_worker *worker)
{
    const uint32_t *size = worker->launch->block;
    const uint32_t threads = size[0] * size[1] * size[2];
    const uint32_t warps = (threads + EXEC_LANES - 1) / EXEC_LANES;
    struct exec_block *block = calloc(1, sizeof *block);
    if (block == NULL) return NULL;
    block->worker = worker;
    block->warp_count = warps;
    block->warps = aligned_alloc(_Alignof(struct exec_warp), warps * sizeof *block->warps);
    if (block->warps != NULL) memset(block->warps, 0, warps * sizeof *block->warps);
    const size_t shared = (size_t)worker->shared_bytes + EXEC_SHARED_ROOM;
    block->shared = aligned_alloc(64, (shared + 63) / 64 * 64);
    if (block->warps == NULL || block->shared == NULL) goto fail;
    worker->bytes += sizeof *block + worker->shared_bytes +
                     warps * (sizeof *block->warps + EXEC_LANES * worker->local_stride);
    if (!exec_block_watch(block)) goto fail;
    for (uint32_t k = 0; k < warps; k++) {
        struct exec_warp *warp = &block->warps[k];
        const uint32_t lanes = threads - k * EXEC_LANES;
        warp->block = block;
        warp->worker = worker;
        warp->index = k;
        warp->existing = lanes >= EXEC_LANES ? EXEC_ALL : (1u << lanes) - 1;
        warp->local_stride = worker->local_stride;
        warp->stack_moved = true;
        if (!worker->local_stride) continue;
        warp->local = aligned_alloc(64, (EXEC_LANES * worker->local_stride + 63) / 64 * 64);
        if (warp->local == NULL) goto fail;
    }
    return block;
fail:
    exec_block_destroy(block);
    return NULL;
}

void exec_block_destroy(struct exec_block *block)
{
    if (block == NULL) return;
    for (uint32_t k = 0; block->warps != NULL && k < block->warp_count; k++) {
        exec_frame_free(block->warps[k].root);
        exec_poison_forget(&block->warps[k]);
        free(block->warps[k].local);
    }
    free(block->warps);
    free(block->shared);
    exec_block_forget(block);
    for (uint32_t k = 0; k < EXEC_CLUSTER_MOST; k++) exec_shadow_destroy(block->away[k]);
    exec_async_destroy(block->async);
    exec_async_destroy(block->outgoing);
    exec_proxy_destroy(block->proxy);
    exec_products_destroy(block->products);
    exec_objects_destroy(block->objects);
    exec_unwritten_end(block);
    exec_order_destroy(block->order);
    free(block);
}

/* Returns the block's rank in its cluster. */
static uint32_t rank_of(const struct exec_block *block)
{
    const uint32_t *size = block->worker->launch->cluster, *at = block->position;
    if (size[0] == 0) return 0;
    return at[0] % size[0] + size[0] * (at[1] % size[1] + size[1] * (at[2] % size[2]));
}

/* Most grids have one axis, and a division takes as long as a warp of a small kernel. */
static void set_position(struct exec_block *block, const uint32_t *grid)
{
    const bool is_row = block->index < grid[0];
    const uint64_t row = is_row ? 0 : block->index / grid[0];
    block->position[0] = (uint32_t)(block->index - row * grid[0]);
    block->position[1] = is_row ? 0 : (uint32_t)(row % grid[1]);
    block->position[2] = is_row ? 0 : (uint32_t)(row / grid[1]);
}

bool exec_block_start(struct exec_block *block, uint64_t index)
{
    struct exec_worker *worker = block->worker;
    const uint32_t *grid = worker->launch->grid;
    block->index = index;
    block->serial = ++worker->block_serial;
    exec_causality_begin_block(worker->causality, index);
    set_position(block, grid);
    assert(block->position[2] < grid[2]);
    block->rank = rank_of(block);
    block->cluster = NULL;
    block->stuck = block->ended = block->arrives = false;
    block->polling = false;
    exec_stall_forget(block);
    block->probe = index == 0 ? worker->probe : NULL;
    block->moment = 0;
    block->named_barriers = false;
    if (block->barriers_used) exec_barriers_reset(block);
    exec_shadow_order(block);
    if (block->shadow != NULL) {
        block->began = block->shadow->time;
        exec_unread_forget(block->shadow);
    }
    exec_async_reset(block->async);
    exec_async_reset(block->outgoing);
    exec_products_reset(block->products);
    exec_objects_met(block->objects);
    exec_unwritten_begin(block);
    return exec_warps_start(block);
}

static bool can_run(const struct exec_warp *warp)
{
    for (uint32_t k = 0; k < warp->fragment_count; k++)
        if (warp->fragments[k].wait == EXEC_RUNNABLE) return true;
    return false;
}

static bool waits_for_cluster(const struct exec_block *block)
{
    for (uint32_t k = 0; k < block->warp_count && block->cluster != NULL; k++)
        for (uint32_t f = 0; f < block->warps[k].fragment_count; f++)
            if (block->warps[k].fragments[f].wait == EXEC_WAIT_CLUSTER) return true;
    return false;
}

static void larger(uint64_t *most, uint64_t value)
{
    if (value > *most) *most = value;
}

/* Adds what the block's warps did to the worker's counts. */
static void account(struct exec_block *block)
{
    struct exec_counts counts = block->worker->counts; /* a copy, kept in registers */
    for (uint32_t k = 0; k < block->warp_count; k++) {
        const struct exec_warp *warp = &block->warps[k];
        assert((warp->live | warp->exchanging) == 0);
        assert(warp->idle.wasted <= warp->instructions);
        const uint64_t worked = warp->instructions - warp->idle.wasted;
        counts.warp_instructions += worked;
        counts.lane_instructions += warp->lane_instructions;
        larger(&counts.longest_warp, worked);
        larger(&counts.longest_chain, warp->chain);
        larger(&counts.longest_wait, warp->waited);
        larger(&counts.barriers, warp->barriers);
    }
    block->worker->counts = counts;
}

enum exec_turn exec_block_run(struct exec_block *block, uint64_t slice, uint64_t *executed)
{
    enum exec_turn result = EXEC_TURN_SPENT;
    uint64_t done = 0;
    while (done < slice) {
        const unsigned met = exec_warps_run(block, &done);
        if (met & EXEC_MET_FAULT) {
            result = EXEC_TURN_STOPPED;
            break;
        }
        if (!(met & EXEC_MET_LIFE)) {
            exec_stall_over(block);
            account(block);
            result = EXEC_TURN_DONE;
            break;
        }
        /* A barrier may have released warps whose turn came earlier in this round. */
        bool released = false;
        for (uint32_t k = 0; k < block->warp_count && !released; k++)
            released = block->warps[k].live && can_run(&block->warps[k]);
        const bool waits = !(met & EXEC_MET_STEPS) && !released;
        if (waits && waits_for_cluster(block)) {
            block->stuck = block->polling = true;
        } else if (waits) {
            exec_block_deadlock(block);
            result = EXEC_TURN_STOPPED;
            break;
        } else {
            block->polling = (met & (EXEC_MET_STEPS | EXEC_MET_WORK)) == EXEC_MET_STEPS;
        }
        if (!block->polling) {
            exec_stall_over(block);
            continue;
        }
        if (exec_stall_round(block)) result = EXEC_TURN_STOPPED;
        break;
    }
    *executed += done;
    return result;
}
