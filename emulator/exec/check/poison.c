#include "emulator/exec/check/poison.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/exec/check/shadow.h"

enum { SLOT = 4 }; /* bytes of the smallest slot: a predicate */

struct exec_poison {
    const unsigned char *slots;           /* of the frame that is followed */
    const struct exec_function *function; /* of that frame */
    enum exec_wrong wrong;          /* where the latest value came from: EXEC_WRONG_ABSENT, ... */
    uint32_t site;                  /* ... and the position of the shuffle or load that gave it */
    struct exec_poisoned loaded[4]; /* by the load at hand, per register */
    struct exec_poisoned given;     /* to the shuffle that lanes have come to */
    struct exec_poisoned slot[];    /* indexed by offset / SLOT */
};

void exec_poison_forget(struct exec_warp *warp)
{
    free(warp->poison);
    warp->poison = NULL;
}

static struct exec_poison *begin(struct exec_warp *warp)
{
    const struct exec_function *function = warp->frame->function;
    struct exec_poison *poison = warp->poison;
    if (poison != NULL && poison->slots == warp->slots) return poison;
    exec_poison_forget(warp);
    if (function->flow == NULL) return NULL;
    poison = calloc(1, sizeof *poison + function->frame_bytes / SLOT * sizeof *poison->slot);
    if (poison == NULL) return NULL;
    poison->slots = warp->slots;
    poison->function = function;
    warp->poison = poison;
    return poison;
}

static void copy(struct exec_poisoned *to, uint32_t mask, struct exec_poisoned value)
{
    to->lanes = (to->lanes & ~mask) | (value.lanes & mask);
    to->computed = (to->computed & ~mask) | (value.computed & mask);
}

static void put(struct exec_poison *poison, uint32_t slot, uint32_t mask,
                struct exec_poisoned value)
{
    copy(&poison->slot[slot / SLOT], mask, value);
}

bool exec_poison_shuffle(struct exec_warp *warp, const struct exec_inst *inst, const uint32_t *from,
                         uint32_t absent)
{
    const bool had = warp->poison != NULL;
    struct exec_poison *poison = warp->poison;
    if (warp->worker->launch->watch == NULL) return false;
    if (absent != 0) poison = begin(warp);
    if (poison == NULL || poison->slots != warp->slots) return false;
    const struct exec_poisoned value = poison->given;
    struct exec_poisoned result = {absent, absent};
    for (uint32_t rest = warp->mask & ~absent; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        result.lanes |= (value.lanes >> from[l] & 1) << l;
        result.computed |= (value.computed >> from[l] & 1) << l;
    }
    put(poison, inst->d, warp->mask, result);
    put(poison, inst->e, warp->mask, (struct exec_poisoned){0, 0});
    if (absent != 0) {
        poison->site = inst->position;
        poison->wrong = EXEC_WRONG_ABSENT;
    }
    return !had;
}

bool exec_poison_loads(struct exec_warp *warp, const struct exec_inst *load,
                       const struct exec_poisoned lanes[4], uint32_t site)
{
    const bool any = (lanes[0].lanes | lanes[1].lanes | lanes[2].lanes | lanes[3].lanes) != 0;
    const bool had = warp->poison != NULL;
    const struct exec_function *function = warp->frame->function;
    if (!any && !had) return false;
    if (function->flow == NULL ||
        (function->flow[load - function->code] & ~EXEC_FLOW_COUNT) != EXEC_FLOW_LOAD)
        return false;
    struct exec_poison *poison = any ? begin(warp) : warp->poison;
    if (poison == NULL || poison->slots != warp->slots) return false;
    memcpy(poison->loaded, lanes, sizeof poison->loaded);
    if (any) {
        poison->site = site;
        poison->wrong = EXEC_WRONG_UNWRITTEN;
    }
    return !had;
}

struct exec_poisoned exec_poison_unwritten(const struct exec_warp *warp, uint32_t slot,
                                           uint32_t *site)
{
    const struct exec_poison *poison = warp->poison;
    if (poison == NULL || poison->slots != warp->slots || poison->wrong != EXEC_WRONG_UNWRITTEN)
        return (struct exec_poisoned){0, 0};
    *site = poison->site;
    return poison->slot[slot / SLOT];
}

void exec_poison_look(struct exec_warp *warp)
{
    struct exec_frame *frame = warp->frame;
    unsigned char *slots = warp->slots;
    if (warp->poison != NULL || warp->live == 0) return;
    warp->frame = warp->root;
    warp->slots = warp->root->slots;
    begin(warp);
    warp->frame = frame;
    warp->slots = slots;
}

/* ---- effects of instructions ----------------------------------------------------------------- */

void exec_poison_tell(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                      enum exec_wrong wrong, enum exec_access access, enum exec_access got,
                      uint32_t site)
{
    struct exec_block *block = warp->block;
    const uint32_t thread = warp->index * EXEC_LANES + lane;
    const struct exec_reported first = {thread, site, got, true};
    const struct exec_reported second = {thread, inst->position, access, true};
    if (wrong == EXEC_WRONG_UNWRITTEN) {
        /* A block is counted once: check/racecheck.h. */
        if (block->unwritten_told[0] == site && block->unwritten_told[1] == inst->position) return;
        block->unwritten_told[0] = site;
        block->unwritten_told[1] = inst->position;
    }
    exec_report(warp, wrong, &first, &second, NULL, 0, 4);
}

static void tell(const struct exec_warp *warp, const struct exec_inst *inst, uint32_t lanes,
                 enum exec_access access)
{
    exec_poison_tell(warp, inst, (unsigned)__builtin_ctz(lanes), warp->poison->wrong, access,
                     EXEC_LOAD, warp->poison->site);
}

/* Returns the lanes of `mask` whose generic address is in a window, not in global memory; with
 * `own` only those whose window is not the block's shared memory. */
static uint32_t in_windows(const struct exec_warp *warp, const struct exec_inst *inst,
                           uint32_t mask, bool own)
{
    const uint64_t *address = exec_slot(warp, inst->a);
    uint32_t result = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        const uint64_t at = address[l] + inst->imm;
        if (own && (at & EXEC_WINDOW_MASK) == EXEC_WINDOW_SHARED) continue;
        if (at >> 56 == 1) result |= 1u << l;
    }
    return result;
}

static void store(const struct exec_warp *warp, const struct exec_inst *inst, enum exec_flow flow,
                  uint32_t mask)
{
    const struct exec_poison *poison = warp->poison;
    const uint32_t slots[4] = {inst->d, inst->b, inst->c, inst->e};
    const bool absent = poison->wrong == EXEC_WRONG_ABSENT;
    uint32_t has = 0;
    for (uint32_t k = 0; k < (flow & EXEC_FLOW_COUNT); k++) {
        const struct exec_poisoned *value = &poison->slot[slots[k] / SLOT];
        has |= absent ? value->lanes : value->computed;
    }
    has &= mask;
    if (has == 0) return;
    const bool alone = absent && (mask & (mask - 1)) == 0;
    const bool is_shared = (flow & ~EXEC_FLOW_COUNT) == EXEC_FLOW_STORE_SHARED;
    /* A thread's own memory is as good as a register: code for debuggers keeps all values there. */
    if (!is_shared) has &= ~in_windows(warp, inst, mask, alone);
    if (has != 0 && (alone || !is_shared)) tell(warp, inst, has, EXEC_STORE);
}

static struct exec_poisoned sources(const struct exec_poison *poison, const struct exec_inst *inst,
                                    uint32_t count)
{
    const uint32_t slots[4] = {inst->a, inst->b, inst->c, inst->e};
    struct exec_poisoned has = {0, 0};
    for (uint32_t k = 0; k < count; k++) {
        has.lanes |= poison->slot[slots[k] / SLOT].lanes;
        has.computed |= poison->slot[slots[k] / SLOT].computed;
    }
    return has;
}

static struct exec_poisoned computed(struct exec_poisoned from)
{
    return (struct exec_poisoned){from.lanes, from.lanes};
}

/* The operand that a selection does not choose does not matter. */
static struct exec_poisoned chosen(const struct exec_warp *warp, const struct exec_inst *inst)
{
    const struct exec_poisoned *slot = warp->poison->slot;
    const struct exec_poisoned a = slot[inst->a / SLOT], b = slot[inst->b / SLOT];
    const uint32_t p = *(const uint32_t *)exec_slot(warp, inst->c);
    const uint32_t by = slot[inst->c / SLOT].lanes;
    return (struct exec_poisoned){(a.lanes & p) | (b.lanes & ~p) | by,
                                  (a.computed & p) | (b.computed & ~p) | by};
}

/* Returns the lanes of a slot whose value determines the result regardless of the other operand:
 * false or zero for an and, true for an or. */
static uint32_t settles(const struct exec_warp *warp, uint32_t slot, enum exec_flow flow)
{
    const uint32_t *value = exec_slot(warp, slot);
    uint32_t result = 0;
    if (flow == EXEC_FLOW_OR_PREDICATES) return *value;
    if (flow == EXEC_FLOW_AND_PREDICATES) return ~*value;
    for (unsigned l = 0; l < EXEC_LANES; l++) result |= (uint32_t)(value[l] == 0) << l;
    return result;
}

static struct exec_poisoned kept(const struct exec_warp *warp, const struct exec_inst *inst,
                                 enum exec_flow flow)
{
    const struct exec_poisoned *slot = warp->poison->slot;
    const struct exec_poisoned a = slot[inst->a / SLOT], b = slot[inst->b / SLOT];
    const uint32_t settled_by_a = settles(warp, inst->a, flow) & ~a.lanes;
    const uint32_t settled_by_b = settles(warp, inst->b, flow) & ~b.lanes;
    return (struct exec_poisoned){(a.lanes & ~settled_by_b) | (b.lanes & ~settled_by_a),
                                  (a.computed & ~settled_by_b) | (b.computed & ~settled_by_a)};
}

static void forget(struct exec_poison *poison, uint32_t mask)
{
    for (uint32_t k = 0; k < poison->function->frame_bytes / SLOT; k++) {
        poison->slot[k].lanes &= ~mask;
        poison->slot[k].computed &= ~mask;
    }
}

void exec_poison_step(struct exec_warp *warp, const struct exec_inst *inst)
{
    struct exec_poison *poison = warp->poison;
    if (poison->slots != warp->slots) return;
    const enum exec_flow flow =
        (enum exec_flow)poison->function->flow[inst - poison->function->code];
    if (flow == EXEC_FLOW_NONE) return;
    const uint32_t mask = exec_racecheck_lanes(warp, inst), count = flow & EXEC_FLOW_COUNT;
    const uint32_t slots[4] = {inst->d, inst->b, inst->c, inst->e};
    const struct exec_poisoned none = {0, 0};
    switch ((unsigned)flow & ~(unsigned)EXEC_FLOW_COUNT) {
    case EXEC_FLOW_COMPARE:
        put(poison, inst->e, mask, none);
        put(poison, inst->d, mask, computed(sources(poison, inst, count)));
        put(poison, inst->e, mask, poison->slot[inst->d / SLOT]);
        break;
    case EXEC_FLOW_COMPUTE:
        put(poison, inst->d, mask, computed(sources(poison, inst, count)));
        break;
    case EXEC_FLOW_MOVE:
        put(poison, inst->d, mask, sources(poison, inst, count));
        break;
    case EXEC_FLOW_SELECT:
        put(poison, inst->d, mask, chosen(warp, inst));
        break;
    case EXEC_FLOW_AND:
    case EXEC_FLOW_AND_PREDICATES:
    case EXEC_FLOW_OR_PREDICATES:
        put(poison, inst->d, mask, kept(warp, inst, flow));
        break;
    case EXEC_FLOW_LOAD:
        for (uint32_t k = 0; k < count; k++) put(poison, slots[k], mask, poison->loaded[k & 3]);
        memset(poison->loaded, 0, sizeof poison->loaded);
        break;
    case EXEC_FLOW_STORE:
    case EXEC_FLOW_STORE_SHARED:
        store(warp, inst, flow, mask);
        break;
    case EXEC_FLOW_SHUFFLE:
        /* Lanes are served in turns, and the result may be where the next ones' value was. */
        copy(&poison->given, mask, poison->slot[inst->a / SLOT]);
        break;
    case EXEC_FLOW_ATOMIC: {
        const uint32_t has = sources(poison, inst, count).lanes & mask;
        if (has != 0) tell(warp, inst, has, EXEC_ATOMIC);
        put(poison, inst->d, mask, none);
        break;
    }
    default:
        forget(poison, mask);
        break;
    }
}
