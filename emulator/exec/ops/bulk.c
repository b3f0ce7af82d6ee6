/* Bulk copies and reductions between global and shared memory: cp.async.bulk, cp.reduce.async.bulk,
 * st.bulk. PTX ISA 9.0, 9.7.9.25.4, 9.7.9.15.
 *
 * They are done when they are issued, which is one of the moments that PTX allows; then they tell
 * their barrier object, or belong to a group that is complete.
 */
#include "emulator/exec/check/async.h"
#include "emulator/exec/check/shadow.h"
#include "emulator/exec/lower/lower.h"

#define NO_SLOT UINT32_MAX

enum { BULK_UNIT = 16 }; /* addresses and sizes are multiples of this many bytes */

struct bulk {
    bool tells;          /* slot e has a barrier object's address */
    exec_handler *apply; /* a reduction: the row of the atomic operation; NULL: a copy */
    uint32_t bytes;      /* of an element of a reduction */
    uint32_t address, value, before; /* slots for it */
};

#define FOR_LANES                                                                                  \
    for (uint32_t rest = warp->mask, l; rest && (l = (uint32_t)__builtin_ctz(rest), true);         \
         rest &= rest - 1)

static int check_shape(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint64_t *to = exec_slot(warp, inst->a);
    const uint64_t *from = exec_slot(warp, inst->b);
    const uint32_t *size = exec_slot(warp, inst->c);
    FOR_LANES
    {
        if ((to[l] | from[l] | size[l]) % BULK_UNIT == 0) continue;
        return exec_stop(
            warp, inst, EXEC_MISALIGNED, l,
            "a bulk copy of %u bytes from 0x%llx to 0x%llx: addresses and size must be "
            "multiples of %d",
            size[l], (unsigned long long)from[l], (unsigned long long)to[l], BULK_UNIT);
    }
    return EXEC_GO;
}

static int tell(struct exec_warp *warp, const struct exec_inst *inst)
{
    const struct bulk *bulk = inst->extra;
    const uint32_t *size = exec_slot(warp, inst->c);
    const uint64_t *object = exec_slot(warp, inst->e);
    if (!bulk->tells) return EXEC_GO;
    FOR_LANES
    {
        if (!exec_mbarrier_complete(warp, inst, l, object[l], size[l])) return EXEC_STOP;
    }
    return EXEC_GO;
}

/* The bytes behind an address, in pieces: a range may end anywhere. Sources have a region cache of
 * their own. */
static unsigned char *bytes_at(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                               uint64_t address, uint32_t size, enum exec_access access)
{
    struct exec_inst own = *inst;
    if (access == EXEC_LOAD) own.cache++;
    if ((address & EXEC_WINDOW_MASK) == EXEC_WINDOW_SHARED)
        exec_shadow_touch(warp, inst, lane, address & ~EXEC_WINDOW_MASK, size, access);
    return exec_resolve(warp, &own, lane, address, size, access, true);
}

/* Slots a: to, b: from, c: bytes. */
static int op_copy(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint64_t *to = exec_slot(warp, inst->a);
    const uint64_t *from = exec_slot(warp, inst->b);
    const uint32_t *size = exec_slot(warp, inst->c);
    const struct bulk *bulk = inst->extra;
    const uint64_t *object = exec_slot(warp, inst->e);
    if (check_shape(warp, inst) != EXEC_GO) return EXEC_STOP;
    FOR_LANES
    {
        for (uint32_t at = 0; at < size[l]; at += BULK_UNIT) {
            const unsigned char *source =
                bytes_at(warp, inst, l, from[l] + at, BULK_UNIT, EXEC_LOAD);
            unsigned char *target =
                source ? bytes_at(warp, inst, l, to[l] + at, BULK_UNIT, EXEC_STORE) : NULL;
            if (!target) return EXEC_STOP;
            memmove(target, source, BULK_UNIT);
        }
        if (bulk->tells && (to[l] & EXEC_WINDOW_MASK) == EXEC_WINDOW_SHARED)
            exec_async_begin(warp, inst, l, to[l] & ~EXEC_WINDOW_MASK, size[l],
                             object[l] & ~EXEC_WINDOW_MASK);
        const bool loads = from[l] >> 56 != 1;
        warp->worker->counts.bytes_loaded += loads ? size[l] : 0;
        warp->worker->counts.bytes_stored += to[l] >> 56 != 1 ? size[l] : 0;
        warp->worker->counts.transactions += size[l] / 32;
    }
    return tell(warp, inst);
}

/* The same, element by element through the row of the atomic operation. */
static int op_reduce(struct exec_warp *warp, const struct exec_inst *inst)
{
    const struct bulk *bulk = inst->extra;
    const uint64_t *to = exec_slot(warp, inst->a);
    const uint64_t *from = exec_slot(warp, inst->b);
    const uint32_t *size = exec_slot(warp, inst->c);
    uint64_t *address = exec_slot(warp, bulk->address);
    unsigned char *values = exec_slot(warp, bulk->value);
    const struct exec_inst one = {.run = bulk->apply,
                                  .guard = EXEC_NO_GUARD,
                                  .position = inst->position,
                                  .d = bulk->before,
                                  .a = bulk->address,
                                  .b = bulk->value,
                                  .c = bulk->value,
                                  .e = EXEC_ATOMIC_GENERIC,
                                  .cache = inst->cache};
    const uint32_t all = warp->mask;
    const uint32_t width = bulk->bytes == 8 ? 8 : 4; /* of a lane */
    if (check_shape(warp, inst) != EXEC_GO) return EXEC_STOP;
    int step = EXEC_GO;
    for (uint32_t at = 0, left = all; left && step == EXEC_GO; at += bulk->bytes) {
        left = 0;
        FOR_LANES
        {
            if (at >= size[l]) continue;
            const unsigned char *source =
                bytes_at(warp, inst, l, from[l] + at, bulk->bytes, EXEC_LOAD);
            if (!source) return EXEC_STOP;
            memset(values + width * l, 0, width);
            memcpy(values + width * l, source, bulk->bytes);
            address[l] = to[l] + at;
            left |= 1u << l;
        }
        warp->mask = left;
        if (left) step = bulk->apply(warp, &one);
        warp->mask = all;
    }
    return step == EXEC_GO ? tell(warp, inst) : step;
}

/* st.bulk: slot a: address, c: bytes (64 bits), all zero afterwards. */
static int op_store(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint64_t *to = exec_slot(warp, inst->a);
    const uint64_t *size = exec_slot(warp, inst->c);
    FOR_LANES
    {
        if (to[l] % 8 || size[l] % 8)
            return exec_stop(warp, inst, EXEC_MISALIGNED, l,
                             "st.bulk of %llu bytes at 0x%llx: both must be multiples of 8",
                             (unsigned long long)size[l], (unsigned long long)to[l]);
        for (uint64_t at = 0; at < size[l]; at += 8) {
            unsigned char *target = bytes_at(warp, inst, l, to[l] + at, 8, EXEC_STORE);
            if (!target) return EXEC_STOP;
            memset(target, 0, 8);
        }
    }
    return EXEC_GO;
}

const struct exec_row exec_bulk_rows[] = {{"cp.async.bulk", op_copy, ""},
                                          {"cp.reduce.async.bulk", op_reduce, ""},
                                          {"st.bulk", op_store, ""},
                                          {NULL, NULL, NULL}};

/* ---- compilation -------------------------------------------------------------------------------
 */

static void lower_copy(struct lower *lower)
{
    const struct ptx_instruction *at = lower->at;
    const struct ptx_operand *operands = at->operands;
    const bool reduces = at->op == PTX_OP_CP_REDUCE_BULK;
    const bool from_global = at->modifiers.source == PTX_SOURCE_GLOBAL;
    struct bulk *bulk = exec_arena_take(lower->program->arena, 1, sizeof *bulk);
    if (!bulk) {
        lower->failed = true;
        return;
    }
    bulk->tells = at->modifiers.completion == PTX_COMPLETE_TX;
    if (at->modifiers.multicast) {
        lower_unsupported(lower, "the device copies to one block");
        return;
    }
    if (bulk->tells && (at->operand_count < 4 || operands[3].kind != PTX_OPERAND_ADDRESS)) {
        lower_unsupported(lower, "it names no barrier object");
        return;
    }
    if (reduces) {
        struct ptx_instruction plain = *at;
        char key[64];
        plain.op = PTX_OP_ATOM;
        plain.modifiers.hint = plain.modifiers.completion = PTX_ABSENT;
        lower_key(&plain, key, sizeof key);
        const struct exec_row *row = exec_row_find(key);
        if (!row) {
            lower_unsupported(lower, "the device does not have this reduction for this type");
            return;
        }
        bulk->apply = row->run;
        bulk->bytes = ptx_type_bytes((enum ptx_type)at->type);
    }
    lower_guard(lower);
    const uint32_t to = lower_generic(lower, &operands[0], at->modifiers.space);
    const uint32_t from =
        lower_generic(lower, &operands[1], from_global ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED);
    const uint32_t size = lower_source(lower, &operands[2], 4);
    uint32_t object = 0;
    if (bulk->tells) object = lower_generic(lower, &operands[3], PTX_SPACE_SHARED);
    if (to == NO_SLOT || from == NO_SLOT || size == NO_SLOT || object == NO_SLOT) return;
    bulk->address = lower_scratch(lower);
    bulk->value = lower_scratch(lower);
    bulk->before = lower_scratch(lower);
    struct exec_inst *inst = lower_row(lower, reduces ? "cp.reduce.async.bulk" : "cp.async.bulk");
    inst->a = to;
    inst->b = from;
    inst->c = size;
    inst->e = object;
    inst->extra = bulk;
    inst->cache = (uint32_t)lower->program->cache_count;
    lower->program->cache_count += 2;
    if (reduces) lower->function->talks = true;
}

static void lower_store(struct lower *lower)
{
    const struct ptx_operand *operands = lower->at->operands;
    lower_guard(lower);
    const uint32_t a = lower_generic(lower, &operands[0], lower->at->modifiers.space);
    const uint32_t size = lower_source(lower, &operands[1], 8);
    if (a == NO_SLOT || size == NO_SLOT) return;
    struct exec_inst *inst = lower_row(lower, "st.bulk");
    inst->a = a;
    inst->c = size;
    inst->cache = (uint32_t)lower->program->cache_count++;
}

bool lower_bulk(struct lower *lower)
{
    switch (lower->at->op) {
    case PTX_OP_CP_BULK:
    case PTX_OP_CP_REDUCE_BULK:
        lower_copy(lower);
        return true;
    case PTX_OP_ST_BULK:
        lower_store(lower);
        return true;
    case PTX_OP_CP_BULK_COMMIT:
    case PTX_OP_CP_BULK_WAIT:
    case PTX_OP_CP_BULK_PREFETCH:
        lower_row(lower, "nop");
        return true;
    default:
        return false;
    }
}
