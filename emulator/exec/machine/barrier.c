/* The block's barriers: bar.sync, bar.arrive, bar.red and their barrier.* forms. PTX ISA 9.7.13.1;
 * since Volta each thread arrives for itself, and threads that have exited are not waited for.
 */
#include "emulator/exec/check/racecheck.h"
#include "emulator/exec/check/shadow.h"
#include "emulator/exec/ops/lanes.h"
#include "emulator/exec/ops/tables.h"

/* Whether every thread that has not exited has arrived. */
static bool all_arrived(const struct exec_block *block, const struct exec_barrier *barrier)
{
    uint32_t missing = 0;
    for (uint32_t k = 0; k < block->warp_count; k++)
        missing |= block->warps[k].live & ~barrier->arrived[k];
    return !missing;
}

/* Threads that have arrived at a barrier with a count. A warp whose live lanes are all there counts
 * in full: the count is a multiple of the warp's size even when its last warp is not full. */
static uint32_t arrivals(const struct exec_block *block, const struct exec_barrier *barrier)
{
    uint32_t sum = 0;
    for (uint32_t k = 0; k < block->warp_count; k++) {
        const struct exec_warp *warp = &block->warps[k];
        const uint32_t arrived = barrier->arrived[k];
        if (arrived && !(warp->live & ~arrived))
            sum += EXEC_LANES;
        else
            sum += (uint32_t)__builtin_popcount(arrived);
    }
    return sum;
}

static void barrier_forget(struct exec_block *block, uint32_t id)
{
    memset(&block->barriers[id], 0, sizeof block->barriers[id]);
    block->barriers_used &= ~(1u << id);
}

static struct exec_racecheck_side side_of(const struct exec_warp *warp,
                                          const struct exec_fragment *fragment)
{
    const struct exec_worker *worker = warp->worker;
    const struct exec_position *position =
        &worker->function->program->positions[fragment->pc->position];
    const uint32_t *size = worker->launch->block, *block = warp->block->position;
    const uint32_t thread = warp->index * EXEC_LANES + (uint32_t)__builtin_ctz(fragment->mask);
    return (struct exec_racecheck_side){
        .file = position->file,
        .line = position->line,
        .known = true,
        .block = {block[0], block[1], block[2]},
        .thread = {thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1]}};
}

/* Threads that are about to leave barrier `id` came to it in two places of the source. */
static void watch_places(const struct exec_block *block, uint32_t id)
{
    const struct exec_worker *worker = block->worker;
    struct exec_racecheck_found found = {.wrong = EXEC_WRONG_BARRIER,
                                         .block_index = block->index,
                                         .block_size = {worker->launch->block[0],
                                                        worker->launch->block[1],
                                                        worker->launch->block[2]},
                                         .count = 1};
    bool any = false;
    for (uint32_t k = 0; k < block->warp_count; k++)
        for (uint32_t f = 0; f < block->warps[k].fragment_count; f++) {
            const struct exec_fragment *fragment = &block->warps[k].fragments[f];
            if (fragment->wait != EXEC_WAIT_BARRIER || fragment->barrier != id) continue;
            const struct exec_racecheck_side side = side_of(&block->warps[k], fragment);
            if (!side.file || fragment->pc->inner) return;
            if (!any) found.first = side;
            any = true;
            if (side.line == found.first.line && side.file == found.first.file) continue;
            found.second = side;
            exec_racecheck_add(worker->launch->watch, &found);
            return;
        }
}

/* Lets everybody go who waits at barrier `id`, once it is complete. */
static void barrier_check(struct exec_block *block, uint32_t id)
{
    struct exec_barrier *barrier = &block->barriers[id];
    if (!barrier->used) return;
    if (barrier->expected ? arrivals(block, barrier) < barrier->expected
                          : !all_arrived(block, barrier))
        return;
    exec_shadow_order(block);
    if (block->worker->launch->watch && !block->named_barriers) watch_places(block, id);
    for (uint32_t k = 0; k < block->warp_count; k++) {
        struct exec_warp *warp = &block->warps[k];
        if (!barrier->arrived[k]) continue;
        for (uint32_t f = 0; f < warp->fragment_count; f++) {
            struct exec_fragment *fragment = &warp->fragments[f];
            if (fragment->wait != EXEC_WAIT_BARRIER || fragment->barrier != id) continue;
            if (fragment->pc->inner) {
                /* bar.red: the result goes to the waiting lanes' registers. */
                unsigned char *slots = warp->slots;
                const uint32_t mask = warp->mask;
                warp->slots = fragment->frame->slots;
                warp->mask = fragment->mask;
                fragment->pc->inner(warp, fragment->pc);
                warp->slots = slots;
                warp->mask = mask;
            }
            fragment->wait = EXEC_RUNNABLE;
            fragment->pc++;
        }
    }
    barrier_forget(block, id);
}

void exec_threads_left(struct exec_block *block)
{
    for (uint32_t used = block->barriers_used; used; used &= used - 1)
        barrier_check(block, (uint32_t)__builtin_ctz(used));
}

void exec_barriers_reset(struct exec_block *block)
{
    for (uint32_t used = block->barriers_used; used; used &= used - 1)
        barrier_forget(block, (uint32_t)__builtin_ctz(used));
}

/* The value that all active lanes have in `slot`; they must agree. */
static bool uniform(const struct exec_warp *warp, uint32_t slot, uint32_t *value)
{
    const uint32_t *lanes = exec_slot(warp, slot);
    *value = lanes[__builtin_ctz(warp->mask)];
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1)
        if (lanes[__builtin_ctz(rest)] != *value) return false;
    return true;
}

/* Slot a: the barrier; slot b: the count, if imm. */
static int arrive(struct exec_warp *warp, const struct exec_inst *inst, bool wait, bool reduce)
{
    struct exec_block *block = warp->block;
    const unsigned first = (unsigned)__builtin_ctz(warp->mask);
    uint32_t id;
    uint32_t expected = 0;
    if (!uniform(warp, inst->a, &id) || (inst->imm && !uniform(warp, inst->b, &expected)))
        return exec_stop(warp, inst, EXEC_UNSUPPORTED, first,
                         "a barrier whose number or thread count differs between lanes of a warp");
    if (id >= EXEC_BARRIERS)
        return exec_stop(warp, inst, EXEC_TRAP, first, "barrier %u: a block has %d, 0 to %d", id,
                         EXEC_BARRIERS, EXEC_BARRIERS - 1);
    if (inst->imm && (expected == 0 || expected % EXEC_LANES))
        return exec_stop(warp, inst, EXEC_TRAP, first,
                         "barrier %u for %u threads: the count must be a multiple of %d", id,
                         expected, EXEC_LANES);
    struct exec_barrier *barrier = &block->barriers[id];
    if (barrier->used && barrier->expected != expected)
        return exec_stop(warp, inst, EXEC_TRAP, first,
                         "barrier %u is in use for %u threads (0: all), and here it is for %u: "
                         "everybody who meets at a barrier must name the same count",
                         id, barrier->expected, expected);
    block->named_barriers |= id != 0 || expected || !wait;
    barrier->used = true;
    block->barriers_used |= 1u << id;
    barrier->expected = expected;
    barrier->arrived[warp->index] |= warp->mask;
    if (reduce) {
        const uint32_t predicate = *(const uint32_t *)exec_slot(warp, inst->c);
        barrier->positive += exec_lane_count(predicate & warp->mask);
        barrier->asked += exec_lane_count(warp->mask);
    }
    if (!wait) {
        barrier_check(block, id);
        return EXEC_GO;
    }
    exec_wait(warp, inst, EXEC_WAIT_BARRIER, id);
    barrier_check(block, id);
    return EXEC_RESCHEDULE;
}

int exec_barrier_sync(struct exec_warp *warp, const struct exec_inst *inst)
{
    return arrive(warp, inst, true, false);
}

int exec_barrier_arrive(struct exec_warp *warp, const struct exec_inst *inst)
{
    return arrive(warp, inst, false, false);
}

int exec_barrier_reduce(struct exec_warp *warp, const struct exec_inst *inst)
{
    return arrive(warp, inst, true, true);
}

/* The rows' handlers of bar.red give the result to the lanes that leave. */
static const struct exec_barrier *left(const struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint32_t *id = exec_slot(warp, inst->a);
    return &warp->block->barriers[id[__builtin_ctz(warp->mask)]];
}

static int op_popc(struct exec_warp *warp, const struct exec_inst *inst)
{
    uint32_t *d = exec_slot(warp, inst->d);
    const uint32_t value = left(warp, inst)->positive;
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1) d[__builtin_ctz(rest)] = value;
    return EXEC_GO;
}

static int put_predicate(struct exec_warp *warp, const struct exec_inst *inst, bool value)
{
    uint32_t *d = exec_slot(warp, inst->d);
    *d = (*d & ~warp->mask) | (value ? warp->mask : 0);
    return EXEC_GO;
}

static int op_and(struct exec_warp *warp, const struct exec_inst *inst)
{
    const struct exec_barrier *barrier = left(warp, inst);
    return put_predicate(warp, inst, barrier->positive == barrier->asked);
}

static int op_or(struct exec_warp *warp, const struct exec_inst *inst)
{
    return put_predicate(warp, inst, left(warp, inst)->positive != 0);
}

const struct exec_row exec_barrier_rows[] = {{"bar.red.popc.u32", op_popc, "u32 p"},
                                             {"bar.red.and.pred", op_and, "p p"},
                                             {"bar.red.or.pred", op_or, "p p"},
                                             {NULL, NULL, NULL}};
