#include "emulator/exec/check/poison.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/exec/check/shadow.h"

enum { SLOT = 4 }; /* bytes of the smallest: a predicate */

struct exec_poison {
    const unsigned char *slots;           /* of the frame that has it */
    const struct exec_function *function; /* the frame's */
    uint32_t site;                        /* of the latest shuffle that gave some */
    uint32_t lanes[];                     /* of each slot, by its offset: those that have it */
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
    poison = calloc(1, sizeof *poison + function->frame_bytes / SLOT * sizeof *poison->lanes);
    if (poison == NULL) return NULL;
    poison->slots = warp->slots;
    poison->function = function;
    warp->poison = poison;
    return poison;
}

bool exec_poison_shuffle(struct exec_warp *warp, const struct exec_inst *inst, const uint32_t *from,
                         uint32_t absent)
{
    const bool had = warp->poison != NULL;
    struct exec_poison *poison = warp->poison;
    if (warp->worker->launch->watch == NULL) return false;
    if (absent != 0) poison = begin(warp);
    if (poison == NULL || poison->slots != warp->slots) return false;
    const uint32_t value = poison->lanes[inst->a / SLOT];
    uint32_t result = absent;
    for (uint32_t rest = warp->mask & ~absent; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        result |= (value >> from[l] & 1) << l;
    }
    uint32_t *to = &poison->lanes[inst->d / SLOT];
    *to = (*to & ~warp->mask) | result;
    poison->lanes[inst->e / SLOT] &= ~warp->mask;
    if (absent != 0) poison->site = inst->position;
    return !had;
}

/* ---- what instructions do with it ------------------------------------------------------------ */

static void tell(const struct exec_warp *warp, const struct exec_inst *inst, uint32_t lanes,
                 enum exec_access access, uint32_t bytes)
{
    const uint32_t thread = warp->index * EXEC_LANES + (uint32_t)__builtin_ctz(lanes);
    const struct exec_reported first = {thread, warp->poison->site, EXEC_LOAD, true};
    const struct exec_reported second = {thread, inst->position, access, true};
    exec_report(warp, EXEC_WRONG_ABSENT, &first, &second, NULL, 0, bytes);
}

/* Lanes of `mask` whose generic address is of shared memory, of any window. */
static uint32_t in_windows(const struct exec_warp *warp, const struct exec_inst *inst,
                           uint32_t mask)
{
    const uint64_t *address = exec_slot(warp, inst->a);
    uint32_t result = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        if ((address[l] + inst->imm) >> 56 == 1) result |= 1u << l;
    }
    return result;
}

static void store(const struct exec_warp *warp, const struct exec_inst *inst, enum exec_flow flow,
                  uint32_t mask)
{
    const uint32_t *lanes = warp->poison->lanes;
    const uint32_t slots[4] = {inst->d, inst->b, inst->c, inst->e};
    uint32_t has = 0;
    for (uint32_t k = 0; k < (flow & EXEC_FLOW_COUNT); k++) has |= lanes[slots[k] / SLOT];
    has &= mask;
    if (has == 0) return;
    const bool alone = (mask & (mask - 1)) == 0;
    const bool is_shared = (flow & ~EXEC_FLOW_COUNT) == EXEC_FLOW_STORE_SHARED;
    if (!is_shared && !alone) has &= ~in_windows(warp, inst, mask);
    if (has != 0 && (alone || !is_shared)) tell(warp, inst, has, EXEC_STORE, 4);
}

static uint32_t sources(const struct exec_poison *poison, const struct exec_inst *inst,
                        uint32_t count)
{
    const uint32_t slots[4] = {inst->a, inst->b, inst->c, inst->e};
    uint32_t has = 0;
    for (uint32_t k = 0; k < count; k++) has |= poison->lanes[slots[k] / SLOT];
    return has;
}

/* Of a selection what is not chosen does not matter. */
static uint32_t chosen(const struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint32_t *lanes = warp->poison->lanes;
    const uint32_t p = *(const uint32_t *)exec_slot(warp, inst->c);
    return (lanes[inst->a / SLOT] & p) | (lanes[inst->b / SLOT] & ~p) | lanes[inst->c / SLOT];
}

/* Lanes of a slot whose value settles the result, whatever the other operand is: false or zero of
 * an and, true of an or. */
static uint32_t settles(const struct exec_warp *warp, uint32_t slot, enum exec_flow flow)
{
    const uint32_t *value = exec_slot(warp, slot);
    uint32_t result = 0;
    if (flow == EXEC_FLOW_OR_PREDICATES) return *value;
    if (flow == EXEC_FLOW_AND_PREDICATES) return ~*value;
    for (unsigned l = 0; l < EXEC_LANES; l++) result |= (uint32_t)(value[l] == 0) << l;
    return result;
}

static uint32_t kept(const struct exec_warp *warp, const struct exec_inst *inst,
                     enum exec_flow flow)
{
    const uint32_t *lanes = warp->poison->lanes;
    const uint32_t has_a = lanes[inst->a / SLOT], has_b = lanes[inst->b / SLOT];
    return (has_a & ~(settles(warp, inst->b, flow) & ~has_b)) |
           (has_b & ~(settles(warp, inst->a, flow) & ~has_a));
}

static void put(struct exec_poison *poison, uint32_t slot, uint32_t mask, uint32_t has)
{
    uint32_t *lanes = &poison->lanes[slot / SLOT];
    *lanes = (*lanes & ~mask) | (has & mask);
}

static void forget(struct exec_poison *poison, uint32_t mask)
{
    for (uint32_t k = 0; k < poison->function->frame_bytes / SLOT; k++) poison->lanes[k] &= ~mask;
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
    switch ((unsigned)flow & ~(unsigned)EXEC_FLOW_COUNT) {
    case EXEC_FLOW_COMPARE:
        put(poison, inst->e, mask, 0);
        put(poison, inst->d, mask, sources(poison, inst, count));
        put(poison, inst->e, mask, poison->lanes[inst->d / SLOT]);
        break;
    case EXEC_FLOW_COMPUTE:
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
        for (uint32_t k = 0; k < count; k++) put(poison, slots[k], mask, 0);
        break;
    case EXEC_FLOW_STORE:
    case EXEC_FLOW_STORE_SHARED:
        store(warp, inst, flow, mask);
        break;
    case EXEC_FLOW_ATOMIC: {
        const uint32_t has = sources(poison, inst, count) & mask;
        if (has != 0) tell(warp, inst, has, EXEC_ATOMIC, 4);
        put(poison, inst->d, mask, 0);
        break;
    }
    default:
        forget(poison, mask);
        break;
    }
}
