/* Chooses the stretches of a function that are compiled: its regions.
 *
 * A region is entered at one instruction only, mostly its first. A loop's region reaches from the
 * target of a backward branch to the last branch back to it. Where all lanes arrive together (at
 * the function's beginning, or behind an instruction that machine code cannot contain), a region
 * extends over forward branches and over loops to the next such instruction. Elsewhere a region is
 * a basic block: from where control may enter to the next branch or excluded instruction. */
#include "emulator/exec/native/private.h"
#include "emulator/exec/ops/ops.h"

#include <stdlib.h>

enum {
    LEAST = 3,       /* lane-arithmetic instructions that a region must have */
    A_JUDGE = 2,     /* the same per called race check, which also reads slots */
    MOST_LOOP = 800, /* instructions of a loop: outer ones contain the code of inner ones again */
    MOST_REACH = 80, /* instructions that all lanes reach: most of it is compiled again */
    MOST_INNER = 24, /* instructions of a loop inside such a region */
    MOST_ROUND = 200 /* instructions of a region that goes round with a loop */
};

static bool is_ours(enum native_kind kind)
{
    return kind == NATIVE_LANES || kind == NATIVE_CALL || kind == NATIVE_TOGETHER;
}

/* Mostly a region that begins with a branch would not be worth it. Behind a barrier many branches
 * leave out what only some warps do before the next one. */
static bool may_begin(const struct exec_function *function, uint32_t first)
{
    const enum native_kind kind = native_kind(&function->code[first]);
    const bool is_behind = first > 0 && function->code[first - 1].run == exec_barrier_sync;
    return is_ours(kind) || (is_behind && kind == NATIVE_BRANCH);
}

/* Marks the instructions at which control may enter, and sets `back` of each to the end of the last
 * branch that leads back to it. */
static void find_leads(const struct exec_function *function, bool *leads, uint32_t *back)
{
    leads[0] = true;
    for (uint32_t k = 0; k < function->code_count; k++) {
        const struct exec_inst *inst = &function->code[k];
        const enum native_kind kind = native_kind(inst);
        if (kind == NATIVE_END || kind == NATIVE_BRANCH) leads[k + 1] = true;
        if (kind != NATIVE_BRANCH) continue;
        const uint32_t target = native_target(function, inst);
        leads[target] = true;
        if (target <= k) back[target] = k + 1;
    }
}

static uint32_t stretch_end(const struct exec_function *function, const bool *leads, uint32_t first)
{
    uint32_t end = first;
    while (end < function->code_count) {
        const enum native_kind kind = native_kind(&function->code[end]);
        end++;
        if (kind == NATIVE_END || kind == NATIVE_BRANCH || leads[end]) break;
    }
    return end;
}

/* Returns true when all lanes arrive here together, as far as can be told. Only some lanes arrive
 * where branches lead. */
static bool is_head(const struct exec_function *function, uint32_t first)
{
    return first == 0 || native_kind(&function->code[first - 1]) == NATIVE_END;
}

static uint32_t reach_end(const struct exec_function *function, const bool *leads,
                          const uint32_t *back, uint32_t first)
{
    uint32_t furthest = first, end = first;
    while (end < function->code_count) {
        const struct exec_inst *inst = &function->code[end];
        const enum native_kind kind = native_kind(inst);
        if (back[end] > furthest) furthest = back[end];
        if (end > first && leads[end] &&
            (back[end] > end + MOST_INNER ||
             (furthest > end ? furthest : end) - first > MOST_REACH))
            break;
        end++;
        if (kind != NATIVE_BRANCH && kind != NATIVE_END) continue;
        const bool is_branch = kind == NATIVE_BRANCH;
        const uint32_t target = is_branch ? native_target(function, inst) : end;
        if (target > furthest && target - first <= MOST_REACH) furthest = target;
        /* A branch back to before the region: most lanes stay in that loop. */
        if (target < first) break;
        if ((!is_branch || inst->guard == EXEC_NO_GUARD) && furthest <= end) break;
    }
    return end;
}

/* Returns where the region begins that is entered at `enter`, behind a barrier, and ends before
 * `end`. If it ends with a branch to before `enter`, that is a loop's with the barrier in it: then
 * the region goes round with the loop, so that it reaches to the next barrier. */
static uint32_t round_first(const struct exec_function *function, uint32_t enter, uint32_t end)
{
    const struct exec_inst *last = &function->code[end - 1];
    if (enter == 0 || function->code[enter - 1].run != exec_barrier_sync ||
        native_kind(last) != NATIVE_BRANCH)
        return enter;
    const uint32_t target = native_target(function, last);
    return target < enter && end - target <= MOST_ROUND ? target : enter;
}

/* Entering and leaving a region costs as much as a few instructions do, and so does a call
 * inside. */
static bool is_worth(const struct exec_function *function, uint32_t first, uint32_t end, bool all)
{
    unsigned count = 0, judges = 0;
    for (uint32_t k = first; k < end; k++) {
        count += native_kind(&function->code[k]) == NATIVE_LANES;
        judges += native_is_judge(&function->code[k]);
    }
    return all ? count > 0 : count >= LEAST && count >= A_JUDGE * judges;
}

bool native_regions(const struct exec_function *function, bool all, struct native_region **regions,
                    size_t *count, bool **leads)
{
    const size_t size = function->code_count + 1;
    uint32_t *back = calloc(size, sizeof *back);
    *leads = calloc(size, sizeof **leads);
    *regions = calloc(size, sizeof **regions);
    *count = 0;
    const bool fine = back != NULL && *leads != NULL && *regions != NULL;
    if (fine) find_leads(function, *leads, back);
    for (uint32_t k = 0; fine && k < function->code_count; k++) {
        if (!(*leads)[k] || !may_begin(function, k)) continue;
        const bool is_loop = back[k] > k && back[k] - k <= MOST_LOOP;
        const uint32_t short_end = stretch_end(function, *leads, k);
        const uint32_t end = is_loop                ? back[k]
                             : is_head(function, k) ? reach_end(function, *leads, back, k)
                                                    : short_end;
        const uint32_t first = is_loop ? k : round_first(function, k, end);
        if (is_worth(function, k, end, all))
            (*regions)[(*count)++] = (struct native_region){.first = first, .end = end, .enter = k};
    }
    free(back);
    return fine;
}

/* Marks the successors of instruction `at` of the region. Returns true if one was not marked. */
static bool reach_from(const struct exec_function *function, const struct native_region *region,
                       size_t at, bool *reached)
{
    const struct exec_inst *inst = &function->code[at];
    const enum native_kind kind = native_kind(inst);
    const bool falls = kind == NATIVE_BRANCH ? inst->guard != EXEC_NO_GUARD : kind != NATIVE_END;
    size_t next[2], count = 0;
    bool more = false;
    if (falls) next[count++] = at + 1;
    if (kind == NATIVE_BRANCH) next[count++] = native_target(function, inst);
    for (size_t k = 0; k < count; k++) {
        if (next[k] < region->first || next[k] >= region->end) continue;
        more |= !reached[next[k] - region->first];
        reached[next[k] - region->first] = true;
    }
    return more;
}

bool *native_region_reached(const struct exec_function *function,
                            const struct native_region *region)
{
    bool *reached = calloc(region->end - region->first, sizeof *reached);
    if (reached == NULL) return NULL;
    reached[region->enter - region->first] = true;
    for (bool more = true; more;) {
        more = false;
        for (size_t k = region->first; k < region->end; k++)
            if (reached[k - region->first]) more |= reach_from(function, region, k, reached);
    }
    return reached;
}

const struct native_region *native_region_behind(const struct native_region *regions, size_t count,
                                                 size_t index)
{
    for (size_t k = 0; k < count; k++)
        if (regions[k].enter == index + 1) return &regions[k];
    return NULL;
}

/* ---- forks: lanes that diverge for a few instructions ------------------------------------------
 */

enum {
    MOST_APART = 32
}; /* instructions of a fork that machine code executes with diverged lanes */

/* Returns true when lanes that go from `from` to `to` diverge there in forks only. */
static bool is_side(const struct exec_function *function, const struct exec_inst *from,
                    const struct exec_inst *to)
{
    struct native_fork fork;
    while (from < to) {
        const enum native_kind kind = native_kind(from);
        const bool plain = kind == NATIVE_LANES || (kind == NATIVE_CALL && !native_is_judge(from));
        if (!plain && !native_fork_find(function, (size_t)(to - function->code), from, &fork))
            return false;
        from = plain ? from + 1 : fork.end;
    }
    return true;
}

bool native_fork_find(const struct exec_function *function, size_t end,
                      const struct exec_inst *inst, struct native_fork *fork)
{
    const struct exec_inst *last = function->code + end, *target = inst->extra;
    if (native_kind(inst) != NATIVE_BRANCH || inst->guard == EXEC_NO_GUARD || native_is_round(inst))
        return false;
    if (target <= inst || target > last || target - inst > MOST_APART) return false;
    *fork = (struct native_fork){target, target};
    if (is_side(function, inst + 1, target)) return true;
    const struct exec_inst *over = target - 1;
    if (native_kind(over) != NATIVE_BRANCH || over->guard != EXEC_NO_GUARD || over == inst ||
        native_is_round(over))
        return false;
    fork->end = over->extra;
    return fork->end > target && fork->end <= last && fork->end - target <= MOST_APART &&
           is_side(function, inst + 1, over) && is_side(function, target, fork->end);
}
