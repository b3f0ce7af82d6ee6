/* Finds slots whose lanes' values are a constant step apart within each part of the warp
 * (private.h). For a predicate, step 0 says that its bits are equal; no other step is known of
 * predicates.
 *
 * For addresses the step mostly follows from the instructions: a thread's index times a constant,
 * plus uniform values. A step holds where all lanes have come the same way from a place where it
 * held. At a region's beginning lanes may have come by different ways, so steps are predictions
 * there, which the region's code verifies on entry. Inside the region they are certain. */
#include "emulator/exec/native/private.h"
#include "emulator/exec/ops/ops.h"
#include "emulator/ptx/ptx.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHIFT = 31 };

/* ---- rules ----------------------------------------------------------------------------------- */

static struct {
    pthread_once_t once;
    struct native_rule rules[24];
    size_t count;
    struct native_comparison comparisons[16];
    size_t comparison_count;
} known = {.once = PTHREAD_ONCE_INIT};

static void build_comparisons(void)
{
    static const struct {
        const char *key;
        LLVMIntPredicate holds;
        bool is_signed;
    } rows[] = {
        {"setp.lt.u32", LLVMIntULT, false}, {"setp.le.u32", LLVMIntULE, false},
        {"setp.gt.u32", LLVMIntUGT, false}, {"setp.ge.u32", LLVMIntUGE, false},
        {"setp.lt.s32", LLVMIntSLT, true},  {"setp.le.s32", LLVMIntSLE, true},
        {"setp.gt.s32", LLVMIntSGT, true},  {"setp.ge.s32", LLVMIntSGE, true},
        {"setp.lt.u64", LLVMIntULT, false}, {"setp.le.u64", LLVMIntULE, false},
        {"setp.gt.u64", LLVMIntUGT, false}, {"setp.ge.u64", LLVMIntUGE, false},
        {"setp.lt.s64", LLVMIntSLT, true},  {"setp.le.s64", LLVMIntSLE, true},
        {"setp.gt.s64", LLVMIntSGT, true},  {"setp.ge.s64", LLVMIntSGE, true},
    };
    _Static_assert(
        sizeof rows / sizeof *rows == sizeof known.comparisons / sizeof *known.comparisons, "room");
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const struct exec_row *row = exec_row_find(rows[k].key);
        if (row == NULL) continue;
        known.comparisons[known.comparison_count++] = (struct native_comparison){
            .run = row->run, .holds = rows[k].holds, .is_signed = rows[k].is_signed};
    }
}

static void build(void)
{
    build_comparisons();
    static const struct {
        const char *key;
        enum native_does does;
        enum native_widens widens;
    } rows[] = {
        {"mov.b32", NATIVE_MOVES, NATIVE_AS_IT_IS},
        {"mov.b64", NATIVE_MOVES, NATIVE_AS_IT_IS},
        {"cvt.u32.u64", NATIVE_MOVES, NATIVE_CUT},
        {"cvt.s32.s64", NATIVE_MOVES, NATIVE_CUT},
        {"cvt.u64.u32", NATIVE_MOVES, NATIVE_BY_ZEROS},
        {"cvt.s64.u32", NATIVE_MOVES, NATIVE_BY_ZEROS},
        {"cvt.s64.s32", NATIVE_MOVES, NATIVE_BY_SIGN},
        {"cvt.u64.s32", NATIVE_MOVES, NATIVE_BY_SIGN},
        {"add.u32", NATIVE_ADDS, NATIVE_AS_IT_IS},
        {"add.u64", NATIVE_ADDS, NATIVE_AS_IT_IS},
        {"sub.u32", NATIVE_SUBTRACTS, NATIVE_AS_IT_IS},
        {"sub.u64", NATIVE_SUBTRACTS, NATIVE_AS_IT_IS},
        {"mul.lo.u32", NATIVE_MULTIPLIES, NATIVE_AS_IT_IS},
        {"mul.lo.u64", NATIVE_MULTIPLIES, NATIVE_AS_IT_IS},
        {"mul.wide.u32", NATIVE_MULTIPLIES, NATIVE_BY_ZEROS},
        {"mul.wide.s32", NATIVE_MULTIPLIES, NATIVE_BY_SIGN},
        {"mad.lo.u32", NATIVE_MULTIPLIES_ADDS, NATIVE_AS_IT_IS},
        {"mad.lo.u64", NATIVE_MULTIPLIES_ADDS, NATIVE_AS_IT_IS},
        {"mad.wide.u32", NATIVE_MULTIPLIES_ADDS, NATIVE_BY_ZEROS},
        {"mad.wide.s32", NATIVE_MULTIPLIES_ADDS, NATIVE_BY_SIGN},
        {"shl.b32", NATIVE_SHIFTS, NATIVE_AS_IT_IS},
        {"shl.b64", NATIVE_SHIFTS, NATIVE_AS_IT_IS},
    };
    _Static_assert(sizeof rows / sizeof *rows <= sizeof known.rules / sizeof *known.rules, "room");
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const struct exec_row *row = exec_row_find(rows[k].key);
        if (row == NULL) continue;
        known.rules[known.count++] =
            (struct native_rule){.run = row->run, .does = rows[k].does, .widens = rows[k].widens};
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

const struct exec_constant *native_constant_at(const struct exec_function *function,
                                               uint32_t offset)
{
    for (size_t k = 0; k < function->constant_count; k++)
        if (function->constants[k].slot == offset) return &function->constants[k];
    return NULL;
}

static bool value_of(const struct exec_function *function, uint32_t offset, uint64_t *value)
{
    const struct exec_constant *constant = native_constant_at(function, offset);
    if (constant == NULL || constant->kind != EXEC_CONSTANT_VALUE) return false;
    *value = constant->value;
    return true;
}

static bool is_uniform(const struct exec_constant *constant)
{
    return constant->kind != EXEC_CONSTANT_SPECIAL || constant->index == PTX_SPECIAL_NTID ||
           constant->index == PTX_SPECIAL_CTAID || constant->index == PTX_SPECIAL_NCTAID;
}

const struct exec_constant *native_uniform_at(const struct exec_function *function, uint32_t offset)
{
    const struct exec_constant *constant = native_constant_at(function, offset);
    return constant != NULL && is_uniform(constant) ? constant : NULL;
}

static int32_t step_of_constant(const struct exec_constant *constant)
{
    if (is_uniform(constant)) return 0;
    switch (constant->index) {
    case PTX_SPECIAL_TID:
        return constant->value == 0;
    case PTX_SPECIAL_LANEID:
        return 1;
    default:
        return NATIVE_ANY;
    }
}

/* Returns a step as it is stored: NATIVE_ANY when it does not fit. */
static int32_t kept(int64_t step)
{
    return step > NATIVE_ANY && step <= INT32_MAX ? (int32_t)step : NATIVE_ANY;
}

/* ---- the effect of an instruction on steps --------------------------------------------------- */

static int32_t *state_of(const struct native_steps *steps, size_t index)
{
    return &steps->steps[index * steps->live->slot_count];
}

static int32_t find(const struct native_steps *steps, const int32_t *state, uint32_t offset)
{
    const int32_t slot = native_live_slot(steps->live, offset);
    return slot < 0 ? NATIVE_ANY : state[slot];
}

/* Sets `factor` to the constant in a slot. Returns false when the slot holds no constant, or one
 * too large for a step. */
static bool factor_of(const struct native_steps *steps, const struct exec_inst *inst,
                      enum native_widens widens, uint32_t offset, int64_t *factor)
{
    const bool wide =
        widens == NATIVE_AS_IT_IS && native_live_width(steps->live, inst->d) == NATIVE_WIDE;
    uint64_t value;
    if (!value_of(steps->function, offset, &value)) return false;
    *factor = wide                        ? (int64_t)value
              : widens == NATIVE_BY_ZEROS ? (int64_t)(uint32_t)value
                                          : (int64_t)(int32_t)value;
    return *factor <= INT32_MAX && *factor >= INT32_MIN;
}

/* Returns the step of a product: known when one factor is constant and the other's step is known,
 * or when both factors are uniform. */
static int32_t product(const struct native_steps *steps, const int32_t *state,
                       const struct exec_inst *inst, enum native_widens widens)
{
    const int32_t a = find(steps, state, inst->a), b = find(steps, state, inst->b);
    int64_t factor;
    if (a == 0 && b == 0) return 0;
    if (b == 0 && factor_of(steps, inst, widens, inst->b, &factor)) return kept(a * factor);
    if (a == 0 && factor_of(steps, inst, widens, inst->a, &factor)) return kept(b * factor);
    return NATIVE_ANY;
}

/* Only constant amounts: an unknown amount may be larger than the width, which PTX clamps. */
static bool shift_of(const struct native_steps *steps, const struct exec_inst *inst, uint64_t *by)
{
    return value_of(steps->function, inst->b, by) && *by < MOST_SHIFT;
}

const struct native_rule *native_rule_of(const struct native_steps *steps,
                                         const struct exec_inst *inst)
{
    uint64_t by;
    pthread_once(&known.once, build);
    for (size_t k = 0; k < known.count; k++)
        if (known.rules[k].run == inst->run)
            return known.rules[k].does != NATIVE_SHIFTS || shift_of(steps, inst, &by)
                       ? &known.rules[k]
                       : NULL;
    return NULL;
}

/* Returns true when 31 steps may go all the way round the slot's numbers: then the last lane's
 * value can be on the expected side of the first one's although values in between are not. */
static bool may_go_round(const struct native_steps *steps, size_t index, uint32_t offset)
{
    const int64_t away = (int64_t)native_step_before(steps, index, offset) * (EXEC_LANES - 1);
    return native_live_width(steps->live, offset) == NATIVE_NARROW &&
           (away > UINT32_MAX || away < -(int64_t)UINT32_MAX);
}

const struct native_comparison *native_comparison_of(const struct native_steps *steps,
                                                     const struct exec_inst *inst)
{
    const size_t index = (size_t)(inst - steps->function->code);
    pthread_once(&known.once, build);
    for (size_t k = 0; k < known.comparison_count; k++)
        if (known.comparisons[k].run == inst->run)
            return steps->in_line[index] &&
                           native_step_before(steps, index, inst->a) != NATIVE_ANY &&
                           native_step_before(steps, index, inst->b) != NATIVE_ANY &&
                           !may_go_round(steps, index, inst->a) &&
                           !may_go_round(steps, index, inst->b)
                       ? &known.comparisons[k]
                       : NULL;
    return NULL;
}

static int32_t by_rule(const struct native_steps *steps, const int32_t *state,
                       const struct exec_inst *inst, const struct native_rule *rule)
{
    const int32_t a = find(steps, state, inst->a);
    const int32_t b = rule->does == NATIVE_MOVES ? 0 : find(steps, state, inst->b);
    int32_t times, c;
    uint64_t by = 0;
    if (a == NATIVE_ANY || b == NATIVE_ANY) return NATIVE_ANY;
    switch (rule->does) {
    case NATIVE_MOVES:
        return a;
    case NATIVE_ADDS:
        return kept((int64_t)a + b);
    case NATIVE_SUBTRACTS:
        return kept((int64_t)a - b);
    case NATIVE_SHIFTS:
        shift_of(steps, inst, &by);
        return kept(a * (INT64_C(1) << by));
    default:
        times = product(steps, state, inst, rule->widens);
        c = rule->does == NATIVE_MULTIPLIES ? 0 : find(steps, state, inst->c);
        return times == NATIVE_ANY || c == NATIVE_ANY ? NATIVE_ANY : kept((int64_t)times + c);
    }
}

/* Returns the step of the result that lane arithmetic leaves in its slot d. A result of uniform
 * sources is uniform. This holds for inlined instructions only: a called handler does not write the
 * lanes that have exited. */
static int32_t result_of(const struct native_steps *steps, const int32_t *state,
                         const struct exec_inst *inst)
{
    struct native_use uses[NATIVE_USES];
    const struct native_rule *rule = native_rule_of(steps, inst);
    if (!steps->in_line[inst - steps->function->code] || inst->guard != EXEC_NO_GUARD)
        return NATIVE_ANY;
    const unsigned count = native_uses(inst, uses);
    const bool compares = native_live_width(steps->live, inst->d) == NATIVE_MASK;
    bool same = true;
    for (unsigned k = 0; k < count; k++) {
        const bool carries = uses[k].writes && uses[k].offset != inst->d && !compares;
        if (carries || uses[k].width != native_live_width(steps->live, uses[k].offset))
            return NATIVE_ANY;
        same = same && (uses[k].writes || find(steps, state, uses[k].offset) == 0);
    }
    return same ? 0 : rule != NULL ? by_rule(steps, state, inst, rule) : NATIVE_ANY;
}

static void set(const struct native_steps *steps, int32_t *state, uint32_t offset, int32_t step)
{
    const int32_t slot = native_live_slot(steps->live, offset);
    if (slot >= 0 && native_constant_at(steps->function, offset) == NULL) state[slot] = step;
}

/* Sets the steps of all slots that the instruction writes to unknown. */
static void forget(const struct native_steps *steps, int32_t *state, const struct exec_inst *inst)
{
    const enum native_kind kind = native_kind(inst);
    const uint32_t named[] = {inst->d, inst->a, inst->b, inst->c, inst->e};
    struct native_use uses[NATIVE_USES];
    if (kind == NATIVE_BRANCH || inst->run == exec_barrier_sync || inst->run == exec_barrier_arrive)
        return;
    if (kind == NATIVE_END) {
        for (size_t k = 0; k < sizeof named / sizeof *named; k++)
            set(steps, state, named[k], NATIVE_ANY);
        return;
    }
    const unsigned count = native_uses(inst, uses);
    for (unsigned k = 0; k < count; k++)
        if (uses[k].writes) set(steps, state, uses[k].offset, NATIVE_ANY);
}

static void pass(const struct native_steps *steps, int32_t *state, const struct exec_inst *inst)
{
    struct native_use uses[NATIVE_USES];
    const int32_t result = result_of(steps, state, inst);
    forget(steps, state, inst);
    if (result == NATIVE_ANY) return;
    const unsigned count = native_uses(inst, uses);
    for (unsigned k = 0; k < count; k++)
        if (uses[k].writes) set(steps, state, uses[k].offset, result);
}

/* ---- the analysis of a function -------------------------------------------------------------- */

static bool meet(const struct native_steps *steps, size_t index, const int32_t *from)
{
    int32_t *into = state_of(steps, index);
    bool changed = !steps->reached[index];
    if (changed) memcpy(into, from, steps->live->slot_count * sizeof *into);
    steps->reached[index] = true;
    for (size_t k = 0; k < steps->live->slot_count; k++) {
        if (into[k] == from[k] || into[k] == NATIVE_ANY) continue;
        into[k] = NATIVE_ANY;
        changed = true;
    }
    return changed;
}

/* Lanes that diverge in a fork have different values at its end: what both sides write is unknown
 * there. */
static bool meet_parted(const struct native_steps *steps, const struct exec_inst *inst,
                        int32_t *state)
{
    const struct exec_inst *code = steps->function->code;
    struct native_fork fork;
    if (!native_fork_find(steps->function, steps->function->code_count, inst, &fork)) return false;
    for (const struct exec_inst *at = inst + 1; at < fork.end; at++) forget(steps, state, at);
    return meet(steps, (size_t)(fork.end - code), state);
}

static bool spread(const struct native_steps *steps, size_t index, int32_t *state)
{
    const struct exec_function *function = steps->function;
    const struct exec_inst *inst = &function->code[index];
    bool changed = false;
    if (!steps->reached[index]) return false;
    memcpy(state, state_of(steps, index), steps->live->slot_count * sizeof *state);
    if (native_kind(inst) == NATIVE_BRANCH) {
        changed |= meet(steps, native_target(function, inst), state);
        if (inst->guard == EXEC_NO_GUARD) return changed;
        changed |= meet(steps, index + 1, state);
        return meet_parted(steps, inst, state) || changed;
    }
    if (native_is_end(inst)) return false;
    pass(steps, state, inst);
    return meet(steps, index + 1, state);
}

bool native_steps_find(const struct exec_function *function, const struct native_live *live,
                       const bool *in_line, struct native_steps *steps)
{
    const size_t count = function->code_count, slots = live->slot_count;
    *steps = (struct native_steps){.function = function, .live = live, .in_line = in_line};
    steps->steps = malloc(((count + 2) * slots + 1) * sizeof *steps->steps);
    steps->reached = calloc(count + 1, sizeof *steps->reached);
    if (steps->steps == NULL || steps->reached == NULL) {
        native_steps_end(steps);
        return false;
    }
    for (size_t k = 0; k < (count + 1) * slots; k++) steps->steps[k] = NATIVE_ANY;
    steps->reached[0] = true;
    for (size_t k = 0; k < slots; k++) {
        const struct exec_constant *constant = native_constant_at(function, live->slots[k].offset);
        steps->steps[k] = constant != NULL ? step_of_constant(constant) : NATIVE_ANY;
    }
    int32_t *state = state_of(steps, count + 1);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t k = 0; k < count; k++) changed |= spread(steps, k, state);
    }
    return true;
}

void native_steps_end(struct native_steps *steps)
{
    free(steps->steps);
    free(steps->reached);
}

int32_t native_step_before(const struct native_steps *steps, size_t index, uint32_t offset)
{
    return find(steps, state_of(steps, index), offset);
}

int32_t native_step_made(const struct native_steps *steps, size_t index)
{
    return result_of(steps, state_of(steps, index), &steps->function->code[index]);
}

int32_t native_step_behind(const struct native_steps *steps, size_t index, uint32_t offset)
{
    const struct exec_inst *inst = &steps->function->code[index];
    const enum native_kind kind = native_kind(inst);
    return kind != NATIVE_BRANCH && kind != NATIVE_END && native_writes(inst, offset)
               ? native_step_made(steps, index)
               : native_step_before(steps, index, offset);
}

/* ---- slots whose steps matter ---------------------------------------------------------------- */

static void want(const struct native_steps *steps, bool *wanted, uint32_t offset, bool *changed)
{
    const int32_t slot = native_live_slot(steps->live, offset);
    if (slot < 0 || wanted[slot]) return;
    wanted[slot] = *changed = true;
}

/* If the instruction computes a wanted slot by steps, its sources are wanted too. */
static void want_sources(const struct native_steps *steps, bool *wanted, size_t index,
                         bool *changed)
{
    const struct exec_inst *inst = &steps->function->code[index];
    struct native_use uses[NATIVE_USES];
    bool is_wanted = false;
    if (native_step_made(steps, index) == NATIVE_ANY) return;
    const unsigned count = native_uses(inst, uses);
    for (unsigned k = 0; k < count; k++) {
        const int32_t slot = native_live_slot(steps->live, uses[k].offset);
        is_wanted |= uses[k].writes && slot >= 0 && wanted[slot];
    }
    for (unsigned k = 0; k < count && is_wanted; k++)
        if (!uses[k].writes) want(steps, wanted, uses[k].offset, changed);
}

/* Returns true when the slot's first lane is kept anyway, or is a constant's and so costs nothing
 * to keep: its step follows from the block's shape. */
static bool is_at_hand(const struct native_steps *steps, const bool *wanted, uint32_t offset)
{
    const int32_t slot = native_live_slot(steps->live, offset);
    return slot >= 0 && (wanted[slot] || native_constant_at(steps->function, offset) != NULL);
}

static void want_compared(const struct native_steps *steps, bool *wanted, size_t index)
{
    const struct exec_inst *inst = &steps->function->code[index];
    bool ignored;
    if (native_comparison_of(steps, inst) == NULL || !is_at_hand(steps, wanted, inst->a) ||
        !is_at_hand(steps, wanted, inst->b))
        return;
    want(steps, wanted, inst->a, &ignored);
    want(steps, wanted, inst->b, &ignored);
}

static void want_all_sources(const struct native_steps *steps, const struct native_region *region)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t k = region->end; k-- > region->first;)
            want_sources(steps, region->steps, k, &changed);
    }
}

static void want_own(const struct native_steps *steps, const struct native_region *region)
{
    bool ignored;
    for (size_t k = region->first; k < region->end; k++) {
        const struct exec_inst *inst = &steps->function->code[k];
        if (native_kind(inst) == NATIVE_CALL && native_step_before(steps, k, inst->a) != NATIVE_ANY)
            want(steps, region->steps, inst->a, &ignored);
    }
    want_all_sources(steps, region);
    for (size_t k = region->first; k < region->end; k++) want_compared(steps, region->steps, k);
}

bool native_is_guessed(const struct native_steps *steps, const struct native_region *region,
                       size_t slot)
{
    const uint32_t offset = steps->live->slots[slot].offset;
    return region->steps[slot] && native_step_before(steps, region->enter, offset) != NATIVE_ANY &&
           native_is_live(steps->live, region->enter, offset);
}

/* A warp that has kept the steps up to a barrier need not be tested behind it: what `behind` takes
 * for granted is wanted before. Returns true if anything is new. */
static bool want_behind(const struct native_steps *steps, const struct native_region *region,
                        const struct native_region *behind)
{
    bool changed = false;
    for (size_t k = 0; k < steps->live->slot_count; k++) {
        const uint32_t offset = steps->live->slots[k].offset;
        if (native_is_guessed(steps, behind, k) &&
            native_constant_at(steps->function, offset) == NULL)
            want(steps, region->steps, offset, &changed);
    }
    if (changed) want_all_sources(steps, region);
    return changed;
}

bool native_steps_want(const struct native_steps *steps, struct native_region *regions,
                       size_t count)
{
    for (size_t k = 0; k < count; k++) {
        regions[k].steps = calloc(steps->live->slot_count + 1, sizeof *regions[k].steps);
        if (regions[k].steps == NULL) return false;
        want_own(steps, &regions[k]);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t k = 0; k < count; k++)
            for (size_t at = regions[k].first; at < regions[k].end; at++) {
                if (!exec_barrier_is_plain(&steps->function->code[at])) continue;
                const struct native_region *behind = native_region_behind(regions, count, at);
                if (behind != NULL) changed |= want_behind(steps, &regions[k], behind);
            }
    }
    return true;
}

void native_steps_forget(struct native_region *regions, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        free(regions[k].steps);
        regions[k].steps = NULL;
    }
}
