/* One launch: its blocks distributed over workers, or taking turns on one worker.
 *
 * Blocks that cannot observe each other (exec_function.talks) run on several host threads, each
 * block on one of them; every block computes the same, whatever the number of workers. Other blocks
 * run on the calling thread in turns. A new block starts only when the resident ones wait for
 * others or have used up their turn. So a kernel whose blocks wait for each other makes progress,
 * and one whose blocks merely count atomically keeps one block in the cache at a time.
 */
#include "emulator/base/hash.h"
#include "emulator/exec/check/causality.h"
#include "emulator/exec/check/check.h"
#include "emulator/exec/check/proof.h"
#include "emulator/exec/cluster.h"
#include "emulator/exec/machine/pool.h"
#include "emulator/exec/machine/private.h"
#include "emulator/exec/machine/probe.h"
#include "emulator/exec/machine/texture.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK_SLICE = 1 << 20 };

/* Blocks that a worker takes at once: enough that workers do not contend for the counter, but at
 * most this part of what is left, so that all workers finish together. */
enum { MOST_TAKEN = 16, PART_TAKEN = 8 };

/* A kernel whose blocks do commuting atomics runs its first blocks on one worker. If these do an
 * atomic (counted by lanes) for every few instructions, all blocks stay on that worker: several
 * workers would keep taking the same cache lines from each other. */
enum { BLOCKS_OBSERVED = 4, INSTRUCTIONS_EACH = 8 };
/* The same for race-checked kernels, whose first blocks run in sequence until they have taken this
 * many warp instructions. */
enum { BLOCKS_JUDGED = 8, INSTRUCTIONS_JUDGED = 1 << 16 };

/* At most this many race-checked blocks take turns on one worker, unless the launch says otherwise.
 * What two workers do at the same moment they may not see of each other (check/grid_shadow.h): with
 * many blocks others reveal it, with these few none would. */
enum { BLOCKS_IN_TURN = 4 };

/* What a device of 132 multiprocessors holds at once: as on a GPU, a grid whose blocks wait for
 * each other must fit. */
enum { MULTIPROCESSORS = 132, THREADS_EACH = 2048, BLOCKS_EACH = 32 };

/* Detects a block that waits for one that has not started. CUDA does not promise that both are
 * resident at once, so on a GPU the first may wait for ever. The proof: all started blocks have
 * polled in vain for LATER_ROUNDS rounds, another block is started, and then the first of them sees
 * a new value. */
enum { LATER_ROUNDS = 64, LATER_TRIES = 4 };
struct exec_later {
    uint32_t rounds, tries;
    const struct exec_block *block; /* the block that waits; NULL: none is observed */
    uint64_t serial;
    const struct exec_warp *warp; /* that polls, and a hash of what it saw last */
    const struct exec_inst *look;
    uint64_t sum;
    uint64_t waiting; /* number of blocks that polled */
};

/* What a launch needs of its workers' memory. */
struct exec_needs {
    const struct exec_function *function;
    uint32_t block[3], dynamic_shared;
    uint64_t stack_bytes;
    bool watched;
    unsigned workers;
};

struct exec_grid {
    const struct exec_launch *launch;
    struct exec_needs needs;
    uint64_t blocks;
    uint64_t until; /* run the blocks below this: all, or the first few */
    struct exec_worker *workers;
    unsigned worker_count;
    struct exec_probe *probe; /* NULL: none */
    struct exec_proven proven;
    /* These three are atomic: */
    uint64_t next;     /* next block to start */
    uint64_t failed;   /* lowest block that has stopped the launch */
    uint64_t executed; /* warp instructions, for the limit */
    bool together;     /* blocks take turns on one worker (then the fields below are used) */
    struct exec_block **resident; /* `count` blocks, room for `room` */
    uint64_t count, room, started;
    uint32_t cluster[3], cluster_blocks; /* of a cluster; 1 without clusters */
    struct exec_cluster *clusters;       /* those that have not ended */
    bool looks_again;                    /* the launch has paused before */
    uint64_t looks;       /* warp instructions to poll in vain before it pauses again */
    uint64_t vain;        /* warp instructions polled in vain while blocks found no room */
    time_t looks_since;   /* since when all blocks only poll; 0: they do more */
    bool looks_told;      /* atomic */
    uint64_t memory_ends; /* memory_ends() when it paused */
    struct exec_later later;
    unsigned char workspace[EXEC_GRID_WORKSPACE];
};

/* ---- common to all workers ------------------------------------------------------------------- */

static void note_failure(struct exec_grid *grid, uint64_t block)
{
    uint64_t before = __atomic_load_n(&grid->failed, __ATOMIC_SEQ_CST);
    while (block < before && !__atomic_compare_exchange_n(&grid->failed, &before, block, true,
                                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
}

/* Adds `executed` and returns true if the launch has passed its limit; the fault is attributed to
 * `block`. */
static bool past_limit(struct exec_grid *grid, struct exec_block *block, uint64_t executed)
{
    const uint64_t limit = grid->launch->instruction_limit;
    const uint64_t total =
        __atomic_fetch_add(&grid->executed, executed, __ATOMIC_SEQ_CST) + executed;
    return limit && total > limit && exec_block_endless(block, limit);
}

/* Calls the launch's `looks`, at most once, if all threads that could run have only polled since
 * *since. */
static void note_looks(struct exec_grid *grid, struct exec_block *block, time_t *since)
{
    struct exec_looks looks;
    struct timespec now;
    if (grid->launch->looks == NULL || __atomic_load_n(&grid->looks_told, __ATOMIC_RELAXED)) return;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    if (*since == 0) *since = now.tv_sec;
    if (now.tv_sec - *since < EXEC_LOOKS_SECONDS || !exec_block_looks(block, &looks)) return;
    if (!__atomic_exchange_n(&grid->looks_told, true, __ATOMIC_RELAXED))
        grid->launch->looks(&looks);
}

static void fail_memory(struct exec_worker *worker, uint64_t block)
{
    worker->end = EXEC_NO_MEMORY;
    worker->fault = (struct exec_fault){.function = worker->function->info.name,
                                        .finding = {.id = FINDING_NO_MEMORY_FOR_BLOCK}};
    worker->fault_block = block;
}

static struct exec_block *block_begin(struct exec_worker *worker, uint64_t index)
{
    struct exec_block *block = worker->spare;
    if (block != NULL)
        worker->spare = block->next;
    else
        block = exec_block_create(worker);
    if (block != NULL && exec_block_start(block, index)) return block;
    exec_block_destroy(block);
    fail_memory(worker, index);
    return NULL;
}

static void block_retire(struct exec_worker *worker, struct exec_block *block)
{
    assert(block != NULL);
    block->next = worker->spare;
    worker->spare = block;
}

/* ---- blocks that do not talk, on several workers --------------------------------------------- */

static void run_apart(void *argument, unsigned index)
{
    struct exec_grid *grid = argument;
    struct exec_worker *worker = &grid->workers[index];
    for (;;) {
        const uint64_t seen = __atomic_load_n(&grid->next, __ATOMIC_SEQ_CST);
        if (seen >= grid->until) return;
        uint64_t taken = (grid->until - seen) / ((uint64_t)grid->worker_count * PART_TAKEN);
        if (taken > MOST_TAKEN) taken = MOST_TAKEN;
        if (taken < 1) taken = 1;
        const uint64_t first = __atomic_fetch_add(&grid->next, taken, __ATOMIC_SEQ_CST);
        uint64_t end = first + taken;
        uint64_t executed = 0;
        if (end > grid->until) end = grid->until;
        if (first >= end) return;
        assert(end <= grid->blocks);
        for (uint64_t next = first; next < end; next++) {
            if (next > __atomic_load_n(&grid->failed, __ATOMIC_SEQ_CST)) return;
            struct exec_block *block = block_begin(worker, next);
            bool stopped = block == NULL;
            time_t since = 0;
            while (block != NULL) {
                const enum exec_turn turn = exec_block_run(block, BLOCK_SLICE, &executed);
                const bool done = turn == EXEC_TURN_DONE;
                if (turn == EXEC_TURN_SPENT && block->polling)
                    note_looks(grid, block, &since);
                else
                    since = 0;
                stopped = turn == EXEC_TURN_STOPPED;
                if (!stopped && (!done || next + 1 == end)) {
                    stopped = past_limit(grid, block, executed);
                    executed = 0;
                }
                if (stopped || done || __atomic_load_n(&grid->failed, __ATOMIC_SEQ_CST) < next)
                    break;
            }
            if (block != NULL) block_retire(worker, block);
            if (stopped) {
                note_failure(grid, next);
                return;
            }
        }
    }
}

static void set_alone(struct exec_worker *worker, bool alone)
{
    worker->alone = worker->pending.alone = alone;
}

/* Runs the first blocks one after the other. Workers that run blocks at the same moment may miss
 * races between them (check/owners.h); most errors show among the first few blocks, and small
 * kernels run entirely in this way. Long blocks are not waited for. */
static void run_first_blocks(struct exec_grid *grid)
{
    struct exec_worker *worker = &grid->workers[0];
    const bool judged = grid->launch->watch != NULL;
    const uint64_t most = judged ? BLOCKS_JUDGED : BLOCKS_OBSERVED;
    const uint64_t count = most < grid->blocks ? most : grid->blocks;
    set_alone(worker, true);
    for (grid->until = 0; grid->until < count && worker->end == EXEC_DONE;) {
        if (judged && worker->counts.warp_instructions > INSTRUCTIONS_JUDGED) return;
        grid->until++;
        exec_pool_run(1, run_apart, grid);
    }
}

static void run_blocks_apart(struct exec_grid *grid)
{
    unsigned count = grid->worker_count;
    const bool commutes = grid->launch->function->commutes != NULL;
    if (count > 1 && (commutes || grid->launch->watch != NULL)) {
        struct exec_worker *worker = &grid->workers[0];
        run_first_blocks(grid);
        if (worker->end != EXEC_DONE) return;
        if (commutes && worker->commuted * INSTRUCTIONS_EACH > worker->counts.warp_instructions)
            count = 1;
        set_alone(worker, count == 1);
    }
    grid->until = grid->blocks;
    exec_pool_run(count, run_apart, grid);
}

/* ---- blocks that talk, in turns -------------------------------------------------------------- */

/* A grid waits for something outside of it when, for this many rounds, every resident block has
 * only waited and polled, and no other block may start. Then the launch pauses, if it may. A launch
 * that has paused before polls again only briefly; while the caller waits for its end it polls
 * longer each time, until the instruction limit ends it. */
enum { IDLE_ROUNDS = 64, IDLE_ROUNDS_AGAIN = 4 };
enum { IDLE_FIRST = 1 << 16, IDLE_AGAIN = 1 << 12, IDLE_MOST = 1 << 22 }; /* warp instructions */
/* The limit for blocks that wait while others find no room: nothing outside can help them. */
enum { CROWDED_MOST = 1 << 24 };

static bool may_pause(const struct exec_grid *grid)
{
    return grid->launch->paused != NULL && grid->launch->function->info.converses;
}

static bool turns_begin(struct exec_grid *grid)
{
    const uint32_t *size = grid->launch->block;
    const uint32_t threads = size[0] * size[1] * size[2];
    uint32_t each = THREADS_EACH / threads;
    if (each < 1) each = 1;
    if (each > BLOCKS_EACH) each = BLOCKS_EACH;
    grid->room = (uint64_t)MULTIPROCESSORS * each;
    if (grid->launch->resident > 0) grid->room = grid->launch->resident;
    grid->room -= grid->room % grid->cluster_blocks;
    if (grid->room < grid->cluster_blocks) grid->room = grid->cluster_blocks;
    if (grid->room > grid->blocks) grid->room = grid->blocks;
    grid->resident = calloc(grid->room, sizeof *grid->resident);
    if (grid->resident != NULL) return true;
    fail_memory(&grid->workers[0], 0);
    return false;
}

/* Returns true if the warp has polled at `look`; *sum is a hash of what it saw. */
static bool sees(const struct exec_warp *warp, const struct exec_inst *look, uint64_t *sum)
{
    for (uint32_t k = 0; k < EXEC_POLLS; k++) {
        if (warp->poll_inst[k] != look) continue;
        *sum = hash_add(hash_bytes(warp->poll_values[k], warp->poll_bytes[k]), warp->poll_mask[k]);
        return true;
    }
    return false;
}

/* All started blocks poll and another one could start. `news`: one has just seen a new value.
 * Returns true if the start may go ahead, false if it is delayed. Observes the first block from
 * then on. */
static bool later_begins(struct exec_grid *grid, bool news)
{
    struct exec_later *later = &grid->later;
    const struct exec_worker *worker = &grid->workers[0];
    if (later->block != NULL || later->tries == LATER_TRIES || grid->count == 0 ||
        grid->launch->cooperative || grid->cluster_blocks > 1 ||
        !exec_causality_judges(worker->causality))
        return true;
    if (news) later->rounds = 0;
    if (++later->rounds < LATER_ROUNDS) return false;
    later->rounds = 0;
    later->tries++;
    const struct exec_block *block = grid->resident[0];
    for (uint32_t k = 0; k < block->warp_count && later->block == NULL; k++) {
        const struct exec_warp *warp = &block->warps[k];
        if (warp->live == 0 || warp->poll_latest == NULL ||
            !sees(warp, warp->poll_latest, &later->sum))
            continue;
        later->block = block;
        later->serial = block->serial;
        later->warp = warp;
        later->look = warp->poll_latest;
        later->waiting = grid->count;
    }
    return true;
}

/* The observed block has had its turn, or has ended: reports it if it saw a new value. */
static void later_looks(struct exec_grid *grid)
{
    struct exec_later *later = &grid->later;
    const struct exec_warp *warp = later->warp;
    const struct exec_worker *worker = &grid->workers[0];
    uint64_t sum;
    if (later->block->serial == later->serial && sees(warp, later->look, &sum) && sum == later->sum)
        return;
    if (sees(warp, later->look, &sum) && sum != later->sum &&
        exec_causality_judges(worker->causality)) {
        exec_grid_shadow_waited(warp, later->look, later->waiting);
        later->tries = LATER_TRIES;
    }
    later->block = NULL;
}

/* Returns the grid index of the block with rank `rank` in cluster `cluster`. */
static uint64_t index_of(const struct exec_grid *grid, uint64_t cluster, uint64_t rank)
{
    const uint32_t *size = grid->cluster, *all = grid->launch->grid;
    const uint64_t wide = all[0] / size[0], high = all[1] / size[1];
    const uint64_t at[3] = {cluster % wide * size[0] + rank % size[0],
                            cluster / wide % high * size[1] + rank / size[0] % size[1],
                            cluster / wide / high * size[2] + rank / size[0] / size[1]};
    return at[0] + all[0] * (at[1] + all[1] * at[2]);
}

/* Starts a block, or all blocks of a cluster, for which there is room. Returns false without
 * memory. */
static bool start_blocks(struct exec_grid *grid)
{
    const uint32_t count = grid->cluster_blocks;
    struct exec_block **blocks = &grid->resident[grid->count];
    for (uint32_t rank = 0; rank < count; rank++) {
        const uint64_t index =
            count > 1 ? index_of(grid, grid->started / count, rank) : grid->started;
        blocks[rank] = block_begin(&grid->workers[0], index);
        if (blocks[rank] == NULL) return false;
        grid->count++;
    }
    grid->started += count;
    if (count == 1) return true;
    struct exec_cluster *cluster = exec_cluster_create(blocks, count);
    if (cluster == NULL) {
        fail_memory(&grid->workers[0], blocks[0]->index);
        return false;
    }
    cluster->next = grid->clusters;
    grid->clusters = cluster;
    return true;
}

/* Retires the block, or all blocks of its cluster once the last of them has ended. */
static void block_ends(struct exec_grid *grid, struct exec_block *block)
{
    struct exec_cluster *cluster = block->cluster, **link = &grid->clusters;
    if (cluster == NULL) {
        block_retire(&grid->workers[0], block);
        return;
    }
    exec_cluster_block_ends(block);
    if (cluster->running > 0) return;
    while (*link != cluster) link = &(*link)->next;
    *link = cluster->next;
    for (uint32_t rank = 0; rank < cluster->count; rank++)
        block_retire(&grid->workers[0], cluster->blocks[rank]);
    exec_cluster_destroy(cluster);
}

/* One turn for each resident block, then new blocks if there is room. Returns false if the launch
 * has stopped. *idle: every block only polled. */
static bool run_round(struct exec_grid *grid, bool *idle, uint64_t *looked)
{
    struct exec_worker *worker = &grid->workers[0];
    const bool free_looks = may_pause(grid) && !grid->launch->impatient;
    const uint64_t news = worker->news;
    bool all_look = true;
    assert(grid->count <= grid->room && grid->started <= grid->blocks);
    for (uint64_t k = 0; k < grid->count; k++) {
        uint64_t executed = 0;
        struct exec_block *block = grid->resident[k];
        assert(block != NULL);
        const enum exec_turn turn = exec_block_run(block, BLOCK_SLICE, &executed);
        if (turn == EXEC_TURN_STOPPED) return false;
        if (!(free_looks && block->polling) && past_limit(grid, block, executed)) return false;
        *looked += executed;
        if (block == grid->later.block) later_looks(grid);
        if (block->stuck && exec_cluster_is_stuck(block->cluster)) {
            exec_cluster_deadlock(block->cluster);
            return false;
        }
        if (turn == EXEC_TURN_DONE) {
            block_ends(grid, block);
            memmove(&grid->resident[k], &grid->resident[k + 1],
                    (grid->count - k - 1) * sizeof *grid->resident);
            grid->count--;
            k--;
            all_look = false;
        } else if (!block->polling) {
            all_look = false;
        }
    }
    *idle = all_look && worker->news == news;
    if (grid->room - grid->count < grid->cluster_blocks || grid->started == grid->blocks)
        return true;
    *idle = false;
    if (all_look && !later_begins(grid, worker->news != news)) return true;
    return start_blocks(grid);
}

/* Returns for how many warp instructions, and sets for how many rounds, blocks may poll in vain
 * before the grid pauses. */
static uint64_t idle_limit(struct exec_grid *grid, uint32_t *rounds)
{
    *rounds = grid->looks_again ? IDLE_ROUNDS_AGAIN : IDLE_ROUNDS;
    if (!grid->looks_again) return IDLE_FIRST;
    if (!grid->launch->impatient) return IDLE_AGAIN;
    grid->looks = grid->looks < IDLE_AGAIN ? IDLE_AGAIN : 2 * grid->looks;
    if (grid->looks > IDLE_MOST) grid->looks = IDLE_MOST;
    return grid->looks;
}

/* Returns true, with the fault recorded, if all resident blocks wait in vain while others find no
 * room. */
static bool is_crowded_out(struct exec_grid *grid, uint64_t looked)
{
    if (!grid->launch->impatient || grid->started == grid->blocks || grid->count == 0) return false;
    grid->vain += looked;
    return grid->vain > CROWDED_MOST && exec_block_endless(grid->resident[0], grid->vain);
}

/* Returns true if the block's warps wait for each other or poll the grid's workspace. */
static bool waits_for_grid(const struct exec_block *block)
{
    for (uint32_t k = 0; k < block->warp_count; k++) {
        const struct exec_warp *warp = &block->warps[k];
        uint32_t runnable = 0;
        for (uint32_t f = 0; f < warp->fragment_count; f++)
            runnable += warp->fragments[f].wait == EXEC_RUNNABLE;
        if (runnable == 0) continue;
        if (runnable > 1 || warp->poll_latest == NULL || warp->poll_latest != warp->idle.look ||
            (warp->idle.where & EXEC_WINDOW_MASK) != EXEC_WINDOW_GRID)
            return false;
    }
    return true;
}

/* Returns true, with the fault recorded, if all blocks that have not ended poll the workspace, as
 * grid.sync() does: they alone can change it. */
static bool is_deadlocked(struct exec_grid *grid)
{
    if (!grid->launch->cooperative || grid->started < grid->blocks || grid->count == 0)
        return false;
    for (uint64_t k = 0; k < grid->count; k++)
        if (!waits_for_grid(grid->resident[k])) return false;
    return exec_grid_deadlock(grid->resident[0], grid->blocks - grid->count, grid->blocks);
}

/* Runs the blocks in turns. Returns true if the launch pauses. */
static bool run_in_turns(struct exec_grid *grid)
{
    uint32_t idle_rounds = 0, most_rounds;
    uint64_t looked = 0;
    if (grid->resident == NULL && !turns_begin(grid)) return false;
    uint64_t most = idle_limit(grid, &most_rounds);
    while (grid->count || grid->started < grid->blocks) {
        bool idle;
        if (!run_round(grid, &idle, &looked)) break;
        if (!idle) {
            idle_rounds = 0;
            grid->vain = 0;
            looked = 0;
            grid->looks = 0;
            grid->looks_since = 0;
            continue;
        }
        if (grid->launch->impatient || !may_pause(grid))
            note_looks(grid, grid->resident[0], &grid->looks_since);
        if (++idle_rounds >= IDLE_ROUNDS && is_deadlocked(grid)) return false;
        if (idle_rounds >= most_rounds && looked >= most && may_pause(grid)) {
            if (is_crowded_out(grid, looked)) return false;
            grid->looks_again = true;
            return true;
        }
    }
    return false;
}

/* ---- the launch ------------------------------------------------------------------------------ */

static void add_counts(struct exec_counts *sum, const struct exec_counts *part)
{
    sum->warp_instructions += part->warp_instructions;
    sum->lane_instructions += part->lane_instructions;
    sum->bytes_loaded += part->bytes_loaded;
    sum->bytes_stored += part->bytes_stored;
    sum->transactions += part->transactions;
    if (part->longest_warp > sum->longest_warp) sum->longest_warp = part->longest_warp;
    if (part->longest_chain > sum->longest_chain) sum->longest_chain = part->longest_chain;
    if (part->longest_wait > sum->longest_wait) sum->longest_wait = part->longest_wait;
    if (part->barriers > sum->barriers) sum->barriers = part->barriers;
}

static uint32_t row_lanes_of(const uint32_t block[3])
{
    if (block[1] * block[2] == 1 || block[0] % EXEC_LANES == 0) return EXEC_LANES;
    return block[0] % (EXEC_LANES / 2) == 0 ? EXEC_LANES / 2 : 1;
}

static bool worker_prepare(struct exec_worker *worker, struct exec_grid *grid)
{
    const struct exec_function *function = grid->launch->function;
    const uint64_t stack = grid->launch->stack_bytes ? grid->launch->stack_bytes : 16384;
    worker->grid = grid;
    worker->launch = grid->launch;
    worker->proven = &grid->proven;
    worker->function = function;
    worker->grid_workspace = grid->workspace;
    set_alone(worker, grid->worker_count == 1);
    worker->row_lanes = row_lanes_of(grid->launch->block);
    worker->dynamic_offset = (function->info.static_shared + 15) / 16 * 16;
    worker->user_shared = grid->launch->dynamic_shared
                              ? worker->dynamic_offset + grid->launch->dynamic_shared
                              : function->info.static_shared;
    worker->shared_bytes = worker->user_shared;
    if (function->program->sees_reserved)
        worker->shared_bytes = EXEC_RESERVED_FIRST(worker->user_shared) + EXEC_RESERVED_SHARED;
    worker->local_stride = function->stack_bytes;
    if (function->recursive) worker->local_stride += stack;
    worker->local_stride = (worker->local_stride + 15) / 16 * 16;
    worker->first_cache = function->first_cache;
    worker->cache_count = function->cache_count;
    worker->caches = calloc(worker->cache_count + 1, sizeof *worker->caches);
    worker->bytes = (worker->cache_count + 1) * sizeof *worker->caches;
    return worker->caches != NULL;
}

static void caches_empty(struct exec_worker *worker)
{
    memset(worker->caches, 0, (worker->cache_count + 1) * sizeof *worker->caches);
}

static void worker_release(struct exec_worker *worker)
{
    while (worker->spare != NULL) {
        struct exec_block *block = worker->spare;
        worker->spare = block->next;
        exec_block_destroy(block);
    }
    free(worker->caches);
    free(worker->doubts);
    exec_causality_destroy(worker->causality);
}

static void grid_destroy(struct exec_grid *grid)
{
    while (grid->clusters != NULL) {
        struct exec_cluster *cluster = grid->clusters;
        struct exec_block *ended[EXEC_CLUSTER_MOST] = {NULL};
        for (uint32_t rank = 0; rank < cluster->count; rank++)
            if (cluster->blocks[rank]->ended) ended[rank] = cluster->blocks[rank];
        grid->clusters = cluster->next;
        exec_cluster_destroy(cluster);
        for (uint32_t rank = 0; rank < EXEC_CLUSTER_MOST; rank++) exec_block_destroy(ended[rank]);
    }
    for (uint64_t k = 0; k < grid->count; k++) exec_block_destroy(grid->resident[k]);
    for (unsigned k = 0; grid->workers && k < grid->worker_count; k++)
        worker_release(&grid->workers[k]);
    exec_probe_destroy(grid->probe);
    free(grid->resident);
    free(grid->workers);
    free(grid);
}

static bool runs_together(const struct exec_launch *launch)
{
    return launch->function->talks || launch->cooperative ||
           (uint64_t)launch->cluster[0] * launch->cluster[1] * launch->cluster[2] > 1;
}

static bool is_watched(const struct exec_launch *launch)
{
    return launch->watch != NULL || launch->footprint != NULL;
}

static struct exec_needs needs_of(const struct exec_launch *launch)
{
    const uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    struct exec_needs needs = {.function = launch->function,
                               .block = {launch->block[0], launch->block[1], launch->block[2]},
                               .dynamic_shared = launch->dynamic_shared,
                               .stack_bytes = launch->stack_bytes,
                               .watched = is_watched(launch),
                               .workers = 1};
    if (runs_together(launch) || blocks == 1) return needs;
    if (needs.watched && !launch->workers && blocks <= BLOCKS_IN_TURN) return needs;
    needs.workers = launch->workers ? launch->workers : exec_pool_processors();
    if (needs.workers > blocks) needs.workers = (unsigned)blocks;
    return needs;
}

static struct exec_grid *grid_create(const struct exec_launch *launch,
                                     const struct exec_needs *needs)
{
    struct exec_grid *grid = calloc(1, sizeof *grid);
    if (grid == NULL) return NULL;
    grid->launch = launch;
    grid->needs = *needs;
    grid->blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    grid->cluster_blocks = 1;
    for (int i = 0; i < 3; i++) {
        grid->cluster[i] = launch->cluster[i] > 0 ? launch->cluster[i] : 1;
        grid->cluster_blocks *= grid->cluster[i];
        assert(launch->grid[i] % grid->cluster[i] == 0);
    }
    grid->together = runs_together(launch);
    grid->failed = UINT64_MAX;
    const bool talks = launch->function->info.converses || launch->function->info.fences ||
                       launch->cooperative || grid->cluster_blocks > 1;
    grid->worker_count = needs->workers;
    assert(grid->worker_count > 0); /* neither number of blocks nor of processors is 0 */
    grid->workers = calloc(grid->worker_count, sizeof *grid->workers);
    bool made = grid->workers;
    for (unsigned k = 0; made && k < grid->worker_count; k++)
        made = worker_prepare(&grid->workers[k], grid);
    if (made && talks && grid->together && grid->blocks > 1 && launch->watch != NULL &&
        launch->footprint != NULL && launch->function->program->watched)
        grid->workers[0].causality = exec_causality_create(grid->blocks);
    if (made) return grid;
    grid_destroy(grid);
    return NULL;
}

/* ---- grids kept for the next launch ---------------------------------------------------------- */

/* Making a small kernel's grid costs more than running it. The grid of a launch that has ended is
 * kept for the next launch of the same function with the same block shape, one grid per function,
 * until another function takes its place in the table. Shadows of race-checked launches are not
 * kept. */
enum { KEPT_BITS = 4, KEPT_BYTES = 512 << 10 /* per worker */ };
static struct exec_grid *kept[1 << KEPT_BITS]; /* atomic: an entry is taken by one owner */

static struct exec_grid **place_of(const struct exec_function *function)
{
    return &kept[hash_spread((uintptr_t)function) >> (64 - KEPT_BITS)];
}

static bool suits(const struct exec_needs *a, const struct exec_needs *b)
{
    return a->function == b->function && a->block[0] == b->block[0] && a->block[1] == b->block[1] &&
           a->block[2] == b->block[2] && a->dynamic_shared == b->dynamic_shared &&
           a->stack_bytes == b->stack_bytes && a->watched == b->watched && a->workers == b->workers;
}

static void kept_put(struct exec_grid *grid)
{
    for (unsigned k = 0; grid->needs.watched && k < grid->worker_count; k++)
        for (struct exec_block *block = grid->workers[k].spare; block != NULL; block = block->next)
            exec_block_forget(block);
    struct exec_grid *before =
        __atomic_exchange_n(place_of(grid->needs.function), grid, __ATOMIC_ACQ_REL);
    if (before != NULL) grid_destroy(before);
}

/* Returns false without memory. */
static bool blocks_watch(struct exec_worker *worker)
{
    bool made = true;
    for (struct exec_block *block = worker->spare; made && block != NULL; block = block->next)
        made = exec_block_watch(block);
    return made;
}

/* Returns a kept grid for the launch, reset as if it were new. NULL: there is none. */
static struct exec_grid *kept_take(const struct exec_launch *launch, const struct exec_needs *needs)
{
    struct exec_grid *grid = __atomic_exchange_n(place_of(needs->function), NULL, __ATOMIC_ACQ_REL);
    if (grid == NULL || !suits(&grid->needs, needs)) {
        if (grid != NULL) grid_destroy(grid);
        return NULL;
    }
    grid->launch = launch;
    grid->blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    grid->next = grid->executed = 0;
    grid->looks_told = false;
    assert(grid->failed == UINT64_MAX && grid->count == 0 && !grid->together);
    for (unsigned k = 0; k < grid->worker_count; k++) {
        struct exec_worker *worker = &grid->workers[k];
        worker->launch = launch;
        worker->launches++;
        set_alone(worker, grid->worker_count == 1);
        worker->news = worker->commuted = 0;
        worker->counts = (struct exec_counts){0};
        assert(worker->doubt_count == 0 && worker->own_count == 0 && worker->causality == NULL);
        if (blocks_watch(worker)) continue;
        grid_destroy(grid);
        return NULL;
    }
    return grid;
}

/* Returns true if the grid, as it is after this launch, can be kept. */
static bool is_to_be_kept(const struct exec_grid *grid, enum exec_end end)
{
    if (end != EXEC_DONE || grid->together) return false;
    for (unsigned k = 0; k < grid->worker_count; k++) {
        if (grid->workers[k].bytes > KEPT_BYTES) return false;
        for (struct exec_block *block = grid->workers[k].spare; block != NULL; block = block->next)
            if (block->order != NULL) return false; /* holds what its threads told each other */
    }
    return true;
}

void exec_grids_forget(const struct exec_program *program)
{
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++) {
        struct exec_grid *grid = __atomic_exchange_n(&kept[k], NULL, __ATOMIC_ACQ_REL);
        if (grid == NULL) continue;
        if (grid->needs.function->program == program)
            grid_destroy(grid);
        else
            kept_put(grid);
    }
}

/* ---- the end of a launch --------------------------------------------------------------------- */

/* Continues a paused grid with the caller's launch, which is another object than before; cached
 * regions are dropped if any memory has been freed since. */
static void grid_resume(struct exec_grid *grid, const struct exec_launch *launch)
{
    struct exec_worker *worker = &grid->workers[0];
    assert(launch->function == worker->function && grid->worker_count == 1);
    grid->launch = worker->launch = launch;
    exec_causality_give_up(worker->causality); /* whatever it waited for may order its blocks */
    if (grid->memory_ends != memory_ends()) caches_empty(worker);
}

/* Collects the counts of the whole grid, and the fault of the lowest block that has one. */
static enum exec_end grid_end(struct exec_grid *grid, struct exec_counts *counts,
                              struct exec_fault *fault)
{
    const struct exec_launch *launch = grid->launch;
    enum exec_end end = EXEC_DONE;
    uint64_t first = UINT64_MAX;
    for (unsigned k = 0; k < grid->worker_count; k++) {
        struct exec_worker *worker = &grid->workers[k];
        set_alone(worker, true); /* the others have ended */
        add_counts(counts, &worker->counts);
        exec_touches_settle(worker);
        if (worker->end == EXEC_DONE || worker->fault_block >= first) continue;
        first = worker->fault_block;
        end = worker->end;
        *fault = worker->fault;
    }
    if (launch->watch == NULL) return end;
    exec_racecheck_weigh(launch->watch, grid->blocks, grid->workers[0].user_shared / 4);
    exec_racecheck_place(launch->watch, launch->footprint);
    return end;
}

static void probe_begin(struct exec_grid *grid)
{
    grid->probe = exec_probe_create(grid->launch);
    for (unsigned k = 0; k < grid->worker_count; k++) grid->workers[k].probe = grid->probe;
}

static void probe_end(struct exec_grid *grid, struct exec_counts *counts)
{
    exec_probe_count(grid->probe, grid->launch, counts);
    exec_probe_destroy(grid->probe);
    grid->probe = NULL;
}

enum exec_end exec_run(const struct exec_launch *launch, struct exec_counts *counts,
                       struct exec_fault *fault)
{
    struct exec_grid *grid = launch->paused != NULL ? *launch->paused : NULL;
    memset(counts, 0, sizeof *counts);
    if (grid != NULL) {
        grid_resume(grid, launch);
    } else {
        const struct exec_needs needs = needs_of(launch);
        if (!runs_together(launch)) grid = kept_take(launch, &needs);
        if (grid == NULL) grid = grid_create(launch, &needs);
        if (grid != NULL) probe_begin(grid);
        if (grid != NULL) exec_proof_make(launch, exec_texture_region, &grid->proven);
    }
    if (launch->paused != NULL) *launch->paused = NULL;
    if (grid != NULL) grid->workers[0].heard = false;
    if (grid == NULL) {
        *fault = (struct exec_fault){.finding = {.id = FINDING_NO_MEMORY_FOR_LAUNCH}};
        return EXEC_NO_MEMORY;
    }
    const bool pauses = grid->together && run_in_turns(grid);
    if (launch->heard != NULL) *launch->heard = grid->workers[0].heard;
    if (!grid->together) {
        run_blocks_apart(grid);
    } else if (pauses) {
        grid->memory_ends = memory_ends();
        exec_pending_settle(&grid->workers[0].pending);
        if (launch->footprint != NULL) exec_footprint_pause(launch->footprint);
        *launch->paused = grid;
        return EXEC_PAUSED;
    }
    const enum exec_end end = grid_end(grid, counts, fault);
    probe_end(grid, counts);
    if (is_to_be_kept(grid, end))
        kept_put(grid);
    else
        grid_destroy(grid);
    return end;
}

void exec_paused_drop(struct exec_grid *paused)
{
    if (paused != NULL) grid_destroy(paused);
}
