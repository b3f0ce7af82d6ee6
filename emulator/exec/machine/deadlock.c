/* Kernels that do not end: which threads wait where, and which poll for ever. */
#include "emulator/exec/cluster.h"
#include "emulator/exec/machine/private.h"

/* Threads of a block at one instruction, waiting for the same thing. */
struct place {
    const struct exec_inst *inst;
    uint32_t position;   /* in the source */
    enum exec_wait wait; /* EXEC_RUNNABLE: they poll a barrier object */
    uint32_t threads;
    struct exec_warp *warp; /* the first of the threads: warp, frame, lane */
    struct exec_frame *frame;
    unsigned lane;
};

struct census {
    struct place places[TRACE_WAITERS]; /* barriers come before .sync instructions */
    size_t count;
    uint32_t all, exited;
};

/* Counts the lanes of `mask`, which wait at `inst` in `frame`. */
static void count_place(struct census *census, struct exec_warp *warp, struct exec_frame *frame,
                        const struct exec_inst *inst, enum exec_wait wait, uint32_t mask)
{
    const unsigned lane = (unsigned)__builtin_ctz(mask);
    const uint32_t position = exec_place_of(warp, frame, inst, lane);
    size_t k = 0;
    while (k < census->count &&
           (census->places[k].position != position || census->places[k].wait != wait))
        k++;
    if (k == TRACE_WAITERS) return;
    if (k == census->count)
        census->places[census->count++] = (struct place){.inst = inst,
                                                         .position = position,
                                                         .wait = wait,
                                                         .warp = warp,
                                                         .frame = frame,
                                                         .lane = lane};
    census->places[k].threads += (uint32_t)__builtin_popcount(mask);
}

static void count_all(struct census *census, const struct exec_block *block)
{
    *census = (struct census){.count = 0};
    for (uint32_t k = 0; k < block->warp_count; k++) {
        const struct exec_warp *warp = &block->warps[k];
        census->all += (uint32_t)__builtin_popcount(warp->existing);
        census->exited += (uint32_t)__builtin_popcount(warp->existing & ~warp->live);
    }
}

static void count_barriers(struct census *census, struct exec_block *block)
{
    static const enum exec_wait waits[] = {EXEC_WAIT_BARRIER, EXEC_WAIT_SYNC, EXEC_WAIT_CLUSTER};
    for (size_t w = 0; w < sizeof waits / sizeof *waits; w++)
        for (uint32_t k = 0; k < block->warp_count; k++)
            for (uint32_t f = 0; f < block->warps[k].fragment_count; f++) {
                const struct exec_fragment *at = &block->warps[k].fragments[f];
                if (at->wait != waits[w]) continue;
                count_place(census, &block->warps[k], at->frame, at->pc, at->wait, at->mask);
            }
}

static void count_threads(struct census *census, struct exec_block *block)
{
    count_all(census, block);
    count_barriers(census, block);
}

/* Counts the threads that poll barrier objects: machine/stall.c. */
static void count_askers(struct census *census, struct exec_block *block)
{
    for (uint32_t k = 0; k < block->warp_count; k++) {
        struct exec_warp *warp = &block->warps[k];
        for (uint32_t f = 0; f < warp->fragment_count; f++) {
            const struct exec_fragment *fragment = &warp->fragments[f];
            if (fragment->wait != EXEC_RUNNABLE) continue;
            for (uint32_t rest = fragment->mask; rest; rest &= rest - 1) {
                const uint32_t lane = (uint32_t)__builtin_ctz(rest);
                const struct exec_awaited *awaited = &warp->awaited[lane];
                if (awaited->inst == NULL) continue;
                count_place(census, warp, awaited->frame, awaited->inst, EXEC_RUNNABLE, 1u << lane);
            }
        }
    }
}

static void tell_waiters(const struct census *census, const struct exec_block *block)
{
    static const enum trace_waits where[] = {[EXEC_RUNNABLE] = WAITS_FOR_OBJECT,
                                             [EXEC_WAIT_BARRIER] = WAITS_IN_BLOCK,
                                             [EXEC_WAIT_SYNC] = WAITS_IN_WARP,
                                             [EXEC_WAIT_CLUSTER] = WAITS_IN_CLUSTER};
    struct trace_finding *finding = &block->worker->fault.finding;
    const struct exec_position *positions = block->worker->function->program->positions;
    for (size_t k = 0; k < census->count; k++) {
        const struct place *place = &census->places[k];
        finding->waiters[k] = (struct trace_waiters){.line = positions[place->position].line,
                                                     .threads = (uint16_t)place->threads,
                                                     .where = (uint8_t)where[place->wait]};
    }
}

void exec_block_deadlock(struct exec_block *block)
{
    struct census census;
    count_threads(&census, block);
    if (census.count == 0) return;
    const struct place *first = &census.places[0];
    const bool barrier = first->wait == EXEC_WAIT_BARRIER;
    first->warp->frame = first->frame;
    exec_stop(first->warp, first->inst, barrier ? EXEC_BARRIER : EXEC_ABSENT, first->lane,
              &(struct exec_reason){.finding = barrier ? FINDING_DEADLOCK : FINDING_ABSENT_LANES,
                                    .numbers = {census.all, census.exited}});
    tell_waiters(&census, block);
}

/* A thread that waits for the cluster has arrived there; the cause is threads that wait for
 * something else. */
void exec_cluster_deadlock(const struct exec_cluster *cluster)
{
    struct census census;
    for (uint32_t rank = 0; rank < cluster->count; rank++) {
        struct exec_block *block = cluster->blocks[rank];
        if (block->ended) continue;
        count_threads(&census, block);
        if (census.count == 0 || census.places[0].wait == EXEC_WAIT_CLUSTER) continue;
        exec_block_deadlock(block);
        return;
    }
}

/* Returns the finding that says what a barrier object lacks. */
static enum trace_finding_id id_of(const struct exec_awaited *awaited)
{
    if (awaited->bytes < 0) return FINDING_OBJECT_BYTES_UNEXPECTED;
    if (awaited->missing == 0) return FINDING_OBJECT_LACKS_BYTES;
    if (awaited->missing < awaited->expected || awaited->bytes > 0)
        return FINDING_OBJECT_LACKS_ARRIVALS;
    return FINDING_OBJECT_LACKS_ALL;
}

void exec_object_deadlock(struct exec_warp *warp, unsigned lane)
{
    struct exec_block *block = warp->block;
    const struct exec_awaited *awaited = &warp->awaited[lane];
    const int64_t bytes = awaited->bytes;
    struct census census;
    exec_meeting_open(block);
    count_all(&census, block);
    count_askers(&census, block);
    count_barriers(&census, block);
    warp->frame = awaited->frame;
    exec_stop(warp, awaited->inst, EXEC_BARRIER, lane,
              &(struct exec_reason){
                  .finding = id_of(awaited),
                  .numbers = {census.all, census.exited, awaited->missing, awaited->expected,
                              (uint64_t)(bytes < 0 ? -bytes : bytes), awaited->parity,
                              awaited->offset, bytes != 0, awaited->missing != 0}});
    tell_waiters(&census, block);
}

/* Returns a fragment that could run, preferably of a warp that polls. */
static const struct exec_fragment *find_runnable(struct exec_block *block, struct exec_warp **warp)
{
    const struct exec_fragment *found = NULL;
    for (uint32_t k = 0; k < block->warp_count; k++)
        for (uint32_t f = 0; f < block->warps[k].fragment_count; f++) {
            const struct exec_fragment *fragment = &block->warps[k].fragments[f];
            if (fragment->wait != EXEC_RUNNABLE) continue;
            if (found && !(block->warps[k].yield && !(*warp)->yield)) continue;
            found = fragment;
            *warp = &block->warps[k];
        }
    return found;
}

/* Returns the instruction at which the warp polls, or else is. */
static const struct exec_inst *place_of_looks(const struct exec_block *block,
                                              const struct exec_warp *warp,
                                              const struct exec_fragment *fragment, bool *polls)
{
    *polls = block->polling && warp->poll_latest != NULL;
    return *polls ? warp->poll_latest : fragment->pc;
}

bool exec_block_looks(struct exec_block *block, struct exec_looks *looks)
{
    const uint32_t *size = block->worker->launch->block;
    const struct exec_function *function = block->worker->function;
    struct exec_warp *warp;
    bool polls;
    const struct exec_fragment *fragment = find_runnable(block, &warp);
    if (fragment == NULL) return false;
    const unsigned lane = (unsigned)__builtin_ctz(fragment->mask);
    const uint32_t thread = warp->index * EXEC_LANES + lane;
    const struct exec_inst *at = place_of_looks(block, warp, fragment, &polls);
    const struct exec_position *position =
        &function->program->positions[exec_place_of(warp, fragment->frame, at, lane)];
    *looks = (struct exec_looks){
        .function = function->info.name,
        .block = {block->position[0], block->position[1], block->position[2]},
        .thread = {thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1]},
        .file = position->file,
        .line = position->line};
    return true;
}

bool exec_block_endless(struct exec_block *block, uint64_t limit)
{
    struct census census;
    struct exec_warp *warp;
    const struct exec_fragment *fragment = find_runnable(block, &warp);
    if (fragment == NULL) return false;
    count_threads(&census, block);
    bool polls;
    const struct exec_inst *at = place_of_looks(block, warp, fragment, &polls);
    const unsigned lane = (unsigned)__builtin_ctz(fragment->mask);
    const uint32_t place = exec_place_of(warp, fragment->frame, at, lane);
    warp->frame = fragment->frame;
    exec_stop(warp, at, EXEC_ENDLESS, lane,
              &(struct exec_reason){
                  .finding = FINDING_ENDLESS,
                  .numbers = {census.all, census.exited, limit,
                              block->worker->function->program->positions[place].line, polls}});
    tell_waiters(&census, block);
    return true;
}

bool exec_grid_deadlock(struct exec_block *block, uint64_t ended, uint64_t blocks)
{
    struct exec_warp *warp;
    bool polls;
    const struct exec_fragment *fragment = find_runnable(block, &warp);
    if (fragment == NULL) return false;
    const struct exec_inst *at = place_of_looks(block, warp, fragment, &polls);
    warp->frame = fragment->frame;
    exec_stop(warp, at, EXEC_BARRIER, (unsigned)__builtin_ctz(fragment->mask),
              &(struct exec_reason){.finding = FINDING_GRID_NOT_REACHED,
                                    .numbers = {ended, blocks, ended > 0}});
    return true;
}
