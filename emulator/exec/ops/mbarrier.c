/* Barrier objects in shared memory: mbarrier.*, cp.async.mbarrier.arrive. PTX ISA 9.0, 9.7.13.15.
 *
 * An object is 64 bits whose layout only these instructions know. For its current phase it counts
 * the pending arrivals and the pending bytes. When neither is left, the phase completes and the
 * next begins. The state that an arrival returns is the object as it was before.
 *
 * No instruction blocks: a wait whose phase is not complete yields to other warps.
 */
#include "emulator/exec/check/cluster.h"
#include "emulator/exec/check/objects.h"
#include "emulator/exec/ops/extra.h"
#include "emulator/exec/ops/private.h"
#include "emulator/exec/ops/tables.h"

#include <string.h>

/* The layout from the low end: pending arrivals; arrivals expected in each phase; pending bytes
 * (signed, since bytes may come before they are expected); the phase's parity; a mark that memory
 * which was never written does not have. */
enum {
    COUNT_BITS = 20,
    EXPECTED_SHIFT = 20,
    BYTES_SHIFT = 40,
    BYTES_BITS = 21,
    PHASE_SHIFT = 61,
    MARK_SHIFT = 62,
    MARK = 1,
    MOST_COUNT = (1 << COUNT_BITS) - 1,
};

struct object {
    uint32_t missing, expected;
    int32_t bytes;
    bool phase;
};

static bool unpack(uint64_t bits, struct object *object)
{
    const uint32_t bytes = (uint32_t)(bits >> BYTES_SHIFT) & ((1u << BYTES_BITS) - 1);
    object->missing = (uint32_t)bits & MOST_COUNT;
    object->expected = (uint32_t)(bits >> EXPECTED_SHIFT) & MOST_COUNT;
    object->bytes = (int32_t)(bytes << (32 - BYTES_BITS)) >> (32 - BYTES_BITS);
    object->phase = bits >> PHASE_SHIFT & 1;
    return bits >> MARK_SHIFT == MARK;
}

static uint64_t pack(const struct object *object)
{
    const uint64_t bytes = (uint64_t)((uint32_t)object->bytes & ((1u << BYTES_BITS) - 1));
    return object->missing | (uint64_t)object->expected << EXPECTED_SHIFT | bytes << BYTES_SHIFT |
           (uint64_t)object->phase << PHASE_SHIFT | (uint64_t)MARK << MARK_SHIFT;
}

/* Begins the next phase if the current one is complete; returns whether it was. A completed phase
 * orders everything that the block did before it ahead of everything after it, but for what a warp
 * has done since its last arrival or fence. The object is at a generic address. */
static bool complete(const struct exec_warp *warp, uint64_t address, struct object *object)
{
    const struct exec_block *home = exec_cluster_home(warp->block, address & ~EXEC_WINDOW_MASK);
    exec_cluster_order_tell(warp, home);
    if (object->missing || object->bytes) return false;
    exec_shadow_order_phase(home);
    object->phase = !object->phase;
    object->missing = object->expected;
    return true;
}

/* Returns the object at a generic address; NULL: a fault is recorded. */
static uint64_t *object_at(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                           uint64_t address)
{
    if ((address & EXEC_WINDOW_MASK) != EXEC_WINDOW_SHARED) {
        exec_stop(
            warp, inst, EXEC_WRONG_SPACE, lane,
            &(struct exec_reason){.finding = FINDING_MBARRIER_NOT_SHARED, .numbers = {address}});
        return NULL;
    }
    return (uint64_t *)(void *)exec_resolve(warp, inst, lane, address, 8, EXEC_ATOMIC, true);
}

static bool live_object(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                        uint64_t address, uint64_t **bits, struct object *object)
{
    *bits = object_at(warp, inst, lane, address);
    if (*bits == NULL) return false;
    if (exec_cluster_home(warp->block, address & ~EXEC_WINDOW_MASK) == warp->block)
        exec_objects_used(warp, inst, lane, address & ~EXEC_WINDOW_MASK & ~EXEC_RANK_MASK);
    if (unpack(**bits, object)) return true;
    exec_stop(warp, inst, EXEC_TRAP, lane,
              &(struct exec_reason){.finding = FINDING_MBARRIER_INVALID,
                                    .numbers = {address & ~EXEC_WINDOW_MASK}});
    return false;
}

static bool give_bytes(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                       struct object *object, int64_t bytes)
{
    const int64_t sum = object->bytes + bytes;
    if (sum > MOST_COUNT || sum < -MOST_COUNT) {
        exec_stop(warp, inst, EXEC_TRAP, lane,
                  &(struct exec_reason){.finding = FINDING_MBARRIER_BYTES,
                                        .numbers = {(uint64_t)sum, MOST_COUNT}});
        return false;
    }
    object->bytes = (int32_t)sum;
    return true;
}

bool exec_mbarrier_complete(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                            uint64_t address, uint32_t bytes)
{
    struct object object;
    uint64_t *bits;
    if (!live_object(warp, inst, lane, address, &bits, &object) ||
        !give_bytes(warp, inst, lane, &object, -(int64_t)bytes))
        return false;
    complete(warp, address, &object);
    *bits = pack(&object);
    return true;
}

/* ---- handlers: slot a: the object's generic address; slot b: a number ------------------------ */

static int op_init(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint64_t *address = exec_slot(warp, inst->a);
    const uint32_t *count = exec_slot(warp, inst->b);
    EXEC_FOR_ACTIVE
    {
        uint64_t *bits = object_at(warp, inst, l, address[l]);
        if (bits == NULL) return EXEC_STOP;
        if (count[l] < 1 || count[l] > MOST_COUNT)
            return exec_stop(warp, inst, EXEC_TRAP, l,
                             &(struct exec_reason){.finding = FINDING_MBARRIER_COUNT,
                                                   .numbers = {count[l], MOST_COUNT}});
        *bits = pack(&(struct object){.missing = count[l], .expected = count[l]});
        exec_objects_made(warp, inst, l, address[l] & ~EXEC_WINDOW_MASK & ~EXEC_RANK_MASK);
    }
    return EXEC_GO;
}

static int op_inval(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint64_t *address = exec_slot(warp, inst->a);
    EXEC_FOR_ACTIVE
    {
        struct object object;
        uint64_t *bits;
        if (!live_object(warp, inst, l, address[l], &bits, &object)) return EXEC_STOP;
        memset(bits, 0xa5, sizeof *bits);
    }
    return EXEC_GO;
}

static int op_expect(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint64_t *address = exec_slot(warp, inst->a);
    const uint32_t *bytes = exec_slot(warp, inst->b);
    EXEC_FOR_ACTIVE
    {
        struct object object;
        uint64_t *bits;
        if (!live_object(warp, inst, l, address[l], &bits, &object) ||
            !give_bytes(warp, inst, l, &object, bytes[l]))
            return EXEC_STOP;
        *bits = pack(&object);
    }
    return EXEC_GO;
}

static int op_complete(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint64_t *address = exec_slot(warp, inst->a);
    const uint32_t *bytes = exec_slot(warp, inst->b);
    EXEC_FOR_ACTIVE
    {
        if (!exec_mbarrier_complete(warp, inst, l, address[l], bytes[l])) return EXEC_STOP;
    }
    return EXEC_GO;
}

/* imm: EXEC_ARRIVE bits; slot d: receives the state. */
static int op_arrive(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint64_t *address = exec_slot(warp, inst->a);
    const uint32_t *number = exec_slot(warp, inst->b);
    uint64_t *d = exec_slot(warp, inst->d);
    const bool expects = inst->imm & EXEC_ARRIVE_EXPECTS;
    exec_shadow_pass_on(warp);
    EXEC_FOR_ACTIVE
    {
        struct object object;
        uint64_t *bits;
        const uint32_t count = expects ? 1 : number[l];
        if (!live_object(warp, inst, l, address[l], &bits, &object)) return EXEC_STOP;
        const uint64_t before = *bits;
        if (expects && !give_bytes(warp, inst, l, &object, number[l])) return EXEC_STOP;
        if (count < 1 || count > object.missing)
            return exec_stop(
                warp, inst, EXEC_TRAP, l,
                &(struct exec_reason){.finding = FINDING_MBARRIER_ARRIVALS,
                                      .numbers = {count, object.missing, object.expected}});
        object.missing -= count;
        if (inst->imm & EXEC_ARRIVE_DROPS) object.expected -= count;
        if (complete(warp, address[l], &object) && inst->imm & EXEC_ARRIVE_NOT_LAST)
            return exec_stop(warp, inst, EXEC_TRAP, l,
                             &(struct exec_reason){.finding = FINDING_MBARRIER_COMPLETED});
        *bits = pack(&object);
        d[l] = before;
    }
    return EXEC_GO;
}

/* cp.async.mbarrier.arrive. Copies take place when they are issued, so the arrival is immediate.
 * Without .noinc (imm 0) the instruction also raises the phase's pending arrivals by one, and the
 * two cancel out. */
static int op_copied(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint64_t *address = exec_slot(warp, inst->a);
    EXEC_FOR_ACTIVE
    {
        struct object object;
        uint64_t *bits;
        if (!live_object(warp, inst, l, address[l], &bits, &object)) return EXEC_STOP;
        exec_async_hand_over(warp, l);
        exec_shadow_pass_on(warp);
        if (!inst->imm) continue;
        if (!object.missing)
            return exec_stop(warp, inst, EXEC_TRAP, l,
                             &(struct exec_reason){.finding = FINDING_MBARRIER_COMPLETE});
        object.missing--;
        complete(warp, address[l], &object);
        *bits = pack(&object);
    }
    return EXEC_GO;
}

/* Records, for machine/stall.c, that the lane waits for the object's current phase. */
static void await(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                  uint64_t offset, const struct object *object)
{
    if (!warp->block->stall.watched) return;
    warp->awaited[lane] = (struct exec_awaited){.inst = inst,
                                                .frame = warp->frame,
                                                .offset = offset,
                                                .missing = object->missing,
                                                .expected = object->expected,
                                                .bytes = object->bytes,
                                                .parity = object->phase};
}

/* Slot d: predicate; slot b: a state, or a parity if imm is set. */
static int op_wait(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint64_t *address = exec_slot(warp, inst->a);
    const uint64_t *state = exec_slot(warp, inst->b);
    const uint32_t *parity = exec_slot(warp, inst->b);
    uint32_t *d = exec_slot(warp, inst->d);
    uint32_t over = 0;
    EXEC_FOR_ACTIVE
    {
        struct object object, then;
        uint64_t *bits;
        if (!live_object(warp, inst, l, address[l], &bits, &object)) return EXEC_STOP;
        if (inst->imm)
            then.phase = parity[l] & 1;
        else if (!unpack(state[l], &then))
            return exec_stop(
                warp, inst, EXEC_TRAP, l,
                &(struct exec_reason){.finding = FINDING_MBARRIER_STATE, .numbers = {state[l]}});
        over |= (uint32_t)(object.phase != then.phase) << l;
        const uint64_t offset = address[l] & ~EXEC_WINDOW_MASK;
        if (object.phase == then.phase) {
            await(warp, inst, l, offset & ~EXEC_RANK_MASK, &object);
            continue;
        }
        exec_async_seen(warp, offset & ~EXEC_RANK_MASK);
        exec_cluster_order_hear(warp, exec_cluster_home(warp->block, offset));
    }
    if (over) exec_objects_heard(warp);
    *d = (*d & ~warp->mask) | over;
    if (over == warp->mask) return EXEC_GO;
    warp->yield = true;
    warp->backward = 0;
    return EXEC_RESCHEDULE;
}

/* Slot a: a state; slot d: its pending arrivals. */
static int op_pending(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint64_t *state = exec_slot(warp, inst->a);
    uint32_t *d = exec_slot(warp, inst->d);
    EXEC_FOR_ACTIVE
    {
        struct object object;
        unpack(state[l], &object);
        d[l] = object.missing;
    }
    return EXEC_GO;
}

const struct exec_row exec_mbarrier_rows[] = {
    {"mbarrier.init", op_init, ""},
    {"mbarrier.inval", op_inval, ""},
    {"mbarrier.expect_tx", op_expect, ""},
    {"mbarrier.complete_tx", op_complete, ""},
    {"mbarrier.arrive mbarrier.arrive_drop", op_arrive, ""},
    {"cp.async.mbarrier.arrive", op_copied, ""},
    {"mbarrier.test_wait mbarrier.try_wait", op_wait, ""},
    {"mbarrier.pending_count", op_pending, ""},
    {NULL, NULL, NULL}};
