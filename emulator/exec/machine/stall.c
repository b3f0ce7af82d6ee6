/* Waits at a barrier object (mbarrier) that never end: threads poll an object whose phase can never
 * complete.
 *
 * This is proved, not guessed. When every warp of the block, or of its cluster, has only waited and
 * polled for some rounds, the block is watched: each instruction is observed, and the state of all
 * threads is hashed: their instructions, registers and local memory. Suppose the state recurs,
 * every thread that could run has run in between, and no thread has executed anything that concerns
 * more than itself (EXEC_FORM_OUTSIDE: a store, an arrival, a load from global memory). Then the
 * threads loop for ever: they depend on registers and shared memory alone, nobody changes those,
 * and copies complete when they are issued. A wait with a bound counts in a register, so its state
 * does not recur. Registers that influence neither control flow nor what is polled are not hashed
 * (exec_function.apart): a loop may count its rounds for later.
 *
 * A wait may read a clock, as cuda::barrier's does to sleep longer and longer. Values computed from
 * a clock are not hashed either; instead EXEC_EVER must have passed on it, by which any wait with a
 * time limit has ended.
 *
 * Threads that do more than this may still go on. They are watched again, each time after twice as
 * many rounds.
 */
#include "emulator/base/hash.h"
#include "emulator/exec/check/check.h"
#include "emulator/exec/cluster.h"
#include "emulator/exec/machine/private.h"

#include <string.h>

/* A warp's fragments take their turns one after another; two rounds for each are enough. */
enum { PATIENCE = 32, MOST_PATIENCE = 4096, MOST_ROUNDS = 4096, MOST_COMPARED = 4 * EXEC_LANES };

/* ---- the blocks of a cluster ----------------------------------------------------------------- */

/* Returns the block with that rank; NULL: it has ended. */
static struct exec_block *running_at(struct exec_block *block, uint32_t rank)
{
    struct exec_block *at = block->cluster != NULL ? block->cluster->blocks[rank] : block;
    return at->ended ? NULL : at;
}

/* Loops over the running blocks of the cluster: `at`. */
#define FOR_BLOCKS_WITH(block)                                                                     \
    for (uint32_t rank = 0; rank < exec_cluster_count(block); rank++)                              \
        for (struct exec_block *at = running_at(block, rank); at != NULL; at = NULL)

/* Returns the running block that has its turn last. */
static struct exec_block *last_of(struct exec_block *block)
{
    struct exec_block *last = block;
    FOR_BLOCKS_WITH(block) last = at;
    return last;
}

/* ---- the state of threads -------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = hash_spread(hash ^ value);
    return hash ^ hash >> 32;
}

static uint64_t mix_bytes(uint64_t hash, const unsigned char *bytes, size_t size)
{
    for (size_t at = 0; at + sizeof hash <= size; at += sizeof hash) {
        uint64_t word;
        memcpy(&word, bytes + at, sizeof word);
        hash = mix(hash, word);
    }
    return hash;
}

static uint64_t mix_frame(uint64_t hash, const struct exec_frame *frame)
{
    const struct exec_function *function = frame->function;
    uint32_t at = 0;
    for (size_t k = 0; k < function->apart_count; k++) {
        hash = mix_bytes(hash, frame->slots + at, function->apart[k].offset - at);
        at = function->apart[k].offset + function->apart[k].size;
    }
    return mix_bytes(hash, frame->slots + at, function->frame_bytes - at);
}

/* Returns a hash of the warp's state that does not depend on the order of its fragments. */
static uint64_t held_by(const struct exec_warp *warp)
{
    uint64_t sum = 0;
    for (uint32_t f = 0; f < warp->fragment_count; f++) {
        const struct exec_fragment *fragment = &warp->fragments[f];
        uint64_t hash = mix(mix(mix(HASH_START, (uintptr_t)fragment->pc), fragment->mask),
                            (uint64_t)fragment->wait);
        for (const struct exec_frame *frame = fragment->frame; frame != NULL; frame = frame->parent)
            hash = mix_frame(hash, frame);
        sum += hash;
    }
    return mix_bytes(sum, warp->local, EXEC_LANES * warp->local_stride);
}

static uint64_t held_by_all(struct exec_block *block)
{
    uint64_t hash = HASH_START;
    FOR_BLOCKS_WITH(block)
    {
        for (uint32_t k = 0; k < at->warp_count; k++) hash = mix(hash, held_by(&at->warps[k]));
    }
    return hash;
}

/* ---- watching -------------------------------------------------------------------------------- */

/* Keeps the present state, with which later ones are compared once all threads have run. */
static void keep(struct exec_block *block)
{
    FOR_BLOCKS_WITH(block)
    {
        for (uint32_t k = 0; k < at->warp_count; k++) {
            at->warps[k].ran = 0;
            memset(at->warps[k].awaited, 0, sizeof at->warps[k].awaited);
        }
    }
    block->stall.state = held_by_all(block);
}

static void watch(struct exec_block *block)
{
    FOR_BLOCKS_WITH(block)
    {
        at->stall.watched = true;
        at->stall.goes_on = false;
        at->stall.rounds = at->stall.compared = 0;
        for (uint32_t k = 0; k < at->warp_count; k++) {
            at->warps[k].until = 0;
            at->warps[k].ran = 0;
        }
    }
}

static void leave(struct exec_block *block)
{
    FOR_BLOCKS_WITH(block)
    {
        struct exec_stall *stall = &at->stall;
        stall->watched = false;
        stall->vain = 0;
        if (stall->patience < MOST_PATIENCE) stall->patience *= 2;
    }
}

void exec_stall_forget(struct exec_block *block)
{
    block->stall = (struct exec_stall){.patience = PATIENCE};
}

void exec_stall_over(struct exec_block *block)
{
    if (block->stall.watched) leave(block);
    block->stall.vain = 0;
}

/* Returns true if these lanes, by a generic address, only access local memory or parameters, or
 * load from shared memory. */
static bool stays_inside(const struct exec_warp *warp, const struct exec_inst *inst, uint8_t form)
{
    const uint64_t *address = exec_slot(warp, inst->a);
    for (uint32_t rest = exec_racecheck_lanes(warp, inst); rest; rest &= rest - 1) {
        const uint64_t window = (address[__builtin_ctz(rest)] + inst->imm) & EXEC_WINDOW_MASK;
        if (window == EXEC_WINDOW_LOCAL || window == EXEC_WINDOW_PARAM) continue;
        if (window != EXEC_WINDOW_SHARED || form & EXEC_FORM_STORE) return false;
    }
    return true;
}

void exec_stall_step(struct exec_warp *warp, const struct exec_inst *inst)
{
    const struct exec_function *function = warp->frame->function;
    const uint8_t form =
        function->forms != NULL ? function->forms[inst - function->code] : EXEC_FORM_OUTSIDE;
    const bool is_generic = form & EXEC_FORM_WIDTH && !(form & EXEC_FORM_SHARED);
    warp->ran |= warp->mask;
    if (form & EXEC_FORM_OUTSIDE || (is_generic && !stays_inside(warp, inst, form)))
        warp->block->stall.goes_on = true;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static bool is_time(struct exec_block *block)
{
    FOR_BLOCKS_WITH(block) if (at->stall.vain < at->stall.patience) return false;
    return true;
}

/* Returns true if an instruction was executed that may end the wait, or whose effects are
 * unknown. */
static bool goes_on(struct exec_block *block)
{
    FOR_BLOCKS_WITH(block) if (at->stall.goes_on) return true;
    return false;
}

/* Returns true if each lane that could run has run, and the clock has reached warp->until. */
static bool has_gone_round(const struct exec_warp *warp)
{
    for (uint32_t f = 0; f < warp->fragment_count; f++)
        if (warp->fragments[f].wait == EXEC_RUNNABLE && warp->fragments[f].mask & ~warp->ran)
            return false;
    return warp->waited >= warp->until;
}

static bool all_have_gone_round(struct exec_block *block)
{
    FOR_BLOCKS_WITH(block)
    {
        for (uint32_t k = 0; k < at->warp_count; k++)
            if (!has_gone_round(&at->warps[k])) return false;
    }
    return true;
}

/* Returns how well a wait explains the error: an object that lacks bytes, or some of its arrivals,
 * explains more than one at which no thread has arrived. */
static int tells(const struct exec_awaited *awaited)
{
    if (awaited->inst == NULL) return 0;
    return awaited->bytes != 0 ? 3 : awaited->missing != awaited->expected ? 2 : 1;
}

/* Stops the launch with the first of the waits that explain most. Returns false if no thread waits
 * for an object. */
static bool stop(struct exec_block *block)
{
    struct exec_warp *chosen = NULL;
    unsigned lane = 0;
    int most = 0;
    FOR_BLOCKS_WITH(block)
    {
        for (uint32_t k = 0; k < at->warp_count; k++)
            for (uint32_t rest = at->warps[k].ran; rest; rest &= rest - 1) {
                const unsigned l = (unsigned)__builtin_ctz(rest);
                if (tells(&at->warps[k].awaited[l]) <= most) continue;
                most = tells(&at->warps[k].awaited[l]);
                chosen = &at->warps[k];
                lane = l;
            }
    }
    if (chosen != NULL) exec_object_deadlock(chosen, lane);
    return chosen != NULL;
}

/* The state is kept anew at the second, third, fifth, ninth, ... comparison, because machine code
 * may leave different values in dead slots, and because a loop may have a first round that
 * differs. */
bool exec_stall_round(struct exec_block *block)
{
    struct exec_stall *stall = &block->stall;
    stall->vain++;
    if (block != last_of(block)) return false;
    if (!stall->watched) {
        if (is_time(block)) watch(block);
        return false;
    }
    if (goes_on(block) || ++stall->rounds > MOST_ROUNDS || stall->compared > MOST_COMPARED) {
        leave(block);
        return false;
    }
    if (!all_have_gone_round(block)) return false;
    if (stall->compared > 0 && held_by_all(block) == stall->state) {
        if (stop(block)) return true;
        leave(block);
        return false;
    }
    if ((stall->compared & (stall->compared - 1)) == 0) keep(block);
    stall->compared++;
    return false;
}
