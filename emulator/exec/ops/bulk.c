/* Bulk copies and reductions between global and shared memory: cp.async.bulk, cp.reduce.async.bulk,
 * st.bulk. PTX ISA 9.0, 9.7.9.25.4, 9.7.9.15.
 *
 * They take place when they are issued, one of the moments that PTX allows. Then they report to
 * their barrier object, or belong to a group that is complete.
 */
#include "emulator/exec/check/check.h"
#include "emulator/exec/check/proxy.h"
#include "emulator/exec/cluster.h"
#include "emulator/exec/ops/extra.h"
#include "emulator/exec/ops/private.h"
#include "emulator/exec/ops/tables.h"

#include <string.h>

enum { BULK_UNIT = 16 }; /* addresses and sizes are multiples of this many bytes */

static int check_shape(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint64_t *to = exec_slot(warp, inst->a);
    const uint64_t *from = exec_slot(warp, inst->b);
    const uint32_t *size = exec_slot(warp, inst->c);
    EXEC_FOR_ACTIVE
    {
        if ((to[l] | from[l] | size[l]) % BULK_UNIT == 0) continue;
        return exec_stop(warp, inst, EXEC_MISALIGNED, l,
                         &(struct exec_reason){.finding = FINDING_BULK_COPY_MISALIGNED,
                                               .numbers = {size[l], from[l], to[l], BULK_UNIT}});
    }
    return EXEC_GO;
}

unsigned char *exec_bulk_bytes(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                               uint64_t address, uint32_t size, enum exec_access access)
{
    struct exec_inst own = *inst;
    if (access == EXEC_LOAD) own.cache++;
    if ((address & EXEC_WINDOW_MASK) == EXEC_WINDOW_SHARED)
        exec_shadow_touch(warp, inst, lane, address & ~EXEC_WINDOW_MASK, size, access);
    return exec_resolve(warp, &own, lane, address, size, access, true);
}

/* Returns the offset of a shared-memory address, without the window and the block's rank. */
static uint64_t offset_of(uint64_t address)
{
    return address & ~(EXEC_WINDOW_MASK | EXEC_RANK_MASK);
}

/* Returns true when the generic address is in the block's own shared memory. */
static bool is_own(const struct exec_warp *warp, uint64_t address)
{
    return (address & EXEC_WINDOW_MASK) == EXEC_WINDOW_SHARED &&
           exec_cluster_home(warp->block, address & ~EXEC_WINDOW_MASK) == warp->block;
}

void exec_bulk_reading(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                       uint64_t from, uint32_t size)
{
    if (is_own(warp, from)) exec_async_reads(warp, inst, lane, offset_of(from), size);
}

void exec_bulk_reads(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                     uint64_t from, uint32_t size)
{
    if (is_own(warp, from)) exec_proxy_reads(warp, inst, lane, offset_of(from), size);
}

void exec_bulk_fills(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                     uint64_t to, uint32_t size, const uint64_t *object)
{
    if (!is_own(warp, to)) return;
    exec_proxy_fills(warp, inst, offset_of(to), size);
    if (object != NULL) exec_async_begin(warp, inst, lane, offset_of(to), size, offset_of(*object));
}

/* One lane's copy, including its report to the barrier object. */
static bool copy_lane(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                      uint64_t to, uint64_t object)
{
    const uint64_t from = ((const uint64_t *)exec_slot(warp, inst->b))[lane];
    const uint32_t size = ((const uint32_t *)exec_slot(warp, inst->c))[lane];
    const struct exec_bulk *bulk = inst->extra;
    exec_bulk_reads(warp, inst, lane, from, size);
    for (uint32_t at = 0; at < size; at += BULK_UNIT) {
        const unsigned char *source =
            exec_bulk_bytes(warp, inst, lane, from + at, BULK_UNIT, EXEC_LOAD);
        unsigned char *target =
            source != NULL ? exec_bulk_bytes(warp, inst, lane, to + at, BULK_UNIT, EXEC_STORE)
                           : NULL;
        if (target == NULL) return false;
        memmove(target, source, BULK_UNIT);
    }
    if (!bulk->tells) exec_bulk_reading(warp, inst, lane, from, size);
    exec_bulk_fills(warp, inst, lane, to, size, bulk->tells ? &object : NULL);
    warp->worker->counts.bytes_loaded += from >> 56 != 1 ? size : 0;
    warp->worker->counts.bytes_stored += to >> 56 != 1 ? size : 0;
    warp->worker->counts.transactions += size / 32;
    return !bulk->tells || exec_mbarrier_complete(warp, inst, lane, object, size);
}

uint64_t exec_bulk_in_block(uint64_t address, uint32_t rank)
{
    return (address & ~EXEC_RANK_MASK) | (rank + UINT64_C(1)) << EXEC_RANK_SHIFT;
}

/* Slots a: destination, b: source, c: bytes, e: barrier object. With `ranks` the copy goes to the
 * corresponding places in several blocks of the cluster. */
static int op_copy(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint64_t *to = exec_slot(warp, inst->a);
    const uint64_t *object = exec_slot(warp, inst->e);
    const struct exec_bulk *bulk = inst->extra;
    const bool many = bulk->ranks != EXEC_NO_SLOT;
    const uint32_t *ranks = many ? exec_slot(warp, bulk->ranks) : NULL;
    if (check_shape(warp, inst) != EXEC_GO) return EXEC_STOP;
    EXEC_FOR_ACTIVE
    {
        if (!many && !copy_lane(warp, inst, l, to[l], object[l])) return EXEC_STOP;
        for (uint32_t left = many ? ranks[l] & UINT16_MAX : 0; left; left &= left - 1) {
            const uint32_t rank = (uint32_t)__builtin_ctz(left);
            if (!copy_lane(warp, inst, l, exec_bulk_in_block(to[l], rank),
                           exec_bulk_in_block(object[l], rank)))
                return EXEC_STOP;
        }
    }
    return EXEC_GO;
}

static int tell(struct exec_warp *warp, const struct exec_inst *inst)
{
    const struct exec_bulk *bulk = inst->extra;
    const uint32_t *size = exec_slot(warp, inst->c);
    const uint64_t *object = exec_slot(warp, inst->e);
    if (!bulk->tells) return EXEC_GO;
    EXEC_FOR_ACTIVE
    {
        if (!exec_mbarrier_complete(warp, inst, l, object[l], size[l])) return EXEC_STOP;
    }
    return EXEC_GO;
}

struct exec_inst exec_bulk_one(const struct exec_inst *inst, const struct exec_bulk *bulk,
                               exec_handler *apply)
{
    return (struct exec_inst){.run = apply,
                              .guard = EXEC_NO_GUARD,
                              .position = inst->position,
                              .d = bulk->before,
                              .a = bulk->address,
                              .b = bulk->value,
                              .c = bulk->value,
                              .e = EXEC_ATOMIC_GENERIC,
                              .cache = inst->cache};
}

void exec_bulk_put(const struct exec_warp *warp, const struct exec_bulk *bulk, unsigned lane,
                   uint64_t address, const unsigned char *element, uint32_t bytes)
{
    const uint32_t width = bytes == 8 ? 8 : 4; /* of a lane's slot */
    unsigned char *value = (unsigned char *)exec_slot(warp, bulk->value) + width * lane;
    memset(value, 0, width);
    memcpy(value, element, bytes);
    ((uint64_t *)exec_slot(warp, bulk->address))[lane] = address;
}

/* The reduction: element by element through the row of the atomic operation. */
static int op_reduce(struct exec_warp *warp, const struct exec_inst *inst)
{
    const struct exec_bulk *bulk = inst->extra;
    const uint64_t *to = exec_slot(warp, inst->a);
    const uint64_t *from = exec_slot(warp, inst->b);
    const uint32_t *size = exec_slot(warp, inst->c);
    const struct exec_inst one = exec_bulk_one(inst, bulk, bulk->apply);
    const uint32_t all = warp->mask;
    if (check_shape(warp, inst) != EXEC_GO) return EXEC_STOP;
    EXEC_FOR_ACTIVE
    {
        exec_bulk_reads(warp, inst, l, from[l], size[l]);
    }
    int step = EXEC_GO;
    for (uint32_t at = 0, left = all; left && step == EXEC_GO; at += bulk->bytes) {
        left = 0;
        EXEC_FOR_ACTIVE
        {
            if (at >= size[l]) continue;
            const unsigned char *source =
                exec_bulk_bytes(warp, inst, l, from[l] + at, bulk->bytes, EXEC_LOAD);
            if (source == NULL) return EXEC_STOP;
            exec_bulk_put(warp, bulk, l, to[l] + at, source, bulk->bytes);
            left |= 1u << l;
        }
        warp->mask = left;
        if (left) step = bulk->apply(warp, &one);
        warp->mask = all;
    }
    if (step != EXEC_GO) return step;
    EXEC_FOR_ACTIVE
    {
        if (!bulk->tells) exec_bulk_reading(warp, inst, l, from[l], size[l]);
    }
    return tell(warp, inst);
}

/* st.bulk. Slot a: address, c: bytes (64 bits) to fill with zeros. */
static int op_store(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint64_t *to = exec_slot(warp, inst->a);
    const uint64_t *size = exec_slot(warp, inst->c);
    EXEC_FOR_ACTIVE
    {
        if (to[l] % 8 || size[l] % 8)
            return exec_stop(warp, inst, EXEC_MISALIGNED, l,
                             &(struct exec_reason){.finding = FINDING_BULK_STORE_MISALIGNED,
                                                   .numbers = {size[l], to[l]}});
        for (uint64_t at = 0; at < size[l]; at += 8) {
            unsigned char *target = exec_bulk_bytes(warp, inst, l, to[l] + at, 8, EXEC_STORE);
            if (target == NULL) return EXEC_STOP;
            memset(target, 0, 8);
        }
    }
    return EXEC_GO;
}

const struct exec_row exec_bulk_rows[] = {{"cp.async.bulk", op_copy, ""},
                                          {"cp.reduce.async.bulk", op_reduce, ""},
                                          {"st.bulk", op_store, ""},
                                          {NULL, NULL, NULL}};
