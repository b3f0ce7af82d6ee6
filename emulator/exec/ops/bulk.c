/* Bulk copies and reductions between global and shared memory: cp.async.bulk, cp.reduce.async.bulk,
 * st.bulk. PTX ISA 9.0, 9.7.9.25.4, 9.7.9.15.
 *
 * They are done when they are issued, which is one of the moments that PTX allows; then they tell
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
        return exec_stop(warp, inst, EXEC_MISALIGNED, l,
                         &(struct exec_reason){.finding = FINDING_BULK_COPY_MISALIGNED,
                                               .numbers = {size[l], from[l], to[l], BULK_UNIT}});
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

/* Of shared memory without the window, and without the block. */
static uint64_t offset_of(uint64_t address)
{
    return address & ~(EXEC_WINDOW_MASK | EXEC_RANK_MASK);
}

/* Whether the generic address is of the block's own shared memory. */
static bool is_own(const struct exec_warp *warp, uint64_t address)
{
    return (address & EXEC_WINDOW_MASK) == EXEC_WINDOW_SHARED &&
           exec_cluster_home(warp->block, address & ~EXEC_WINDOW_MASK) == warp->block;
}

/* One lane's copy, and what it tells. */
static bool copy_lane(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                      uint64_t to, uint64_t object)
{
    const uint64_t from = ((const uint64_t *)exec_slot(warp, inst->b))[lane];
    const uint32_t size = ((const uint32_t *)exec_slot(warp, inst->c))[lane];
    const struct exec_bulk *bulk = inst->extra;
    if (is_own(warp, from)) exec_proxy_reads(warp, inst, lane, offset_of(from), size);
    for (uint32_t at = 0; at < size; at += BULK_UNIT) {
        const unsigned char *source = bytes_at(warp, inst, lane, from + at, BULK_UNIT, EXEC_LOAD);
        unsigned char *target =
            source != NULL ? bytes_at(warp, inst, lane, to + at, BULK_UNIT, EXEC_STORE) : NULL;
        if (target == NULL) return false;
        memmove(target, source, BULK_UNIT);
    }
    if (is_own(warp, to)) {
        exec_proxy_fills(warp, inst, offset_of(to), size);
        if (bulk->tells) exec_async_begin(warp, inst, lane, offset_of(to), size, offset_of(object));
    }
    warp->worker->counts.bytes_loaded += from >> 56 != 1 ? size : 0;
    warp->worker->counts.bytes_stored += to >> 56 != 1 ? size : 0;
    warp->worker->counts.transactions += size / 32;
    return !bulk->tells || exec_mbarrier_complete(warp, inst, lane, object, size);
}

/* The same place in the shared memory of the cluster's block `rank`. */
static uint64_t in_block(uint64_t address, uint32_t rank)
{
    return (address & ~EXEC_RANK_MASK) | (rank + UINT64_C(1)) << EXEC_RANK_SHIFT;
}

/* Slots a: to, b: from, c: bytes, e: the object; or to the same places in some of the cluster's
 * blocks. */
static int op_copy(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint64_t *to = exec_slot(warp, inst->a);
    const uint64_t *object = exec_slot(warp, inst->e);
    const struct exec_bulk *bulk = inst->extra;
    const bool many = bulk->ranks != EXEC_NO_SLOT;
    const uint32_t *ranks = many ? exec_slot(warp, bulk->ranks) : NULL;
    if (check_shape(warp, inst) != EXEC_GO) return EXEC_STOP;
    FOR_LANES
    {
        if (!many && !copy_lane(warp, inst, l, to[l], object[l])) return EXEC_STOP;
        for (uint32_t left = many ? ranks[l] & UINT16_MAX : 0; left; left &= left - 1) {
            const uint32_t rank = (uint32_t)__builtin_ctz(left);
            if (!copy_lane(warp, inst, l, in_block(to[l], rank), in_block(object[l], rank)))
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
    FOR_LANES
    {
        if (!exec_mbarrier_complete(warp, inst, l, object[l], size[l])) return EXEC_STOP;
    }
    return EXEC_GO;
}

/* The same, element by element through the row of the atomic operation. */
static int op_reduce(struct exec_warp *warp, const struct exec_inst *inst)
{
    const struct exec_bulk *bulk = inst->extra;
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
    FOR_LANES
    {
        if (is_own(warp, from[l])) exec_proxy_reads(warp, inst, l, offset_of(from[l]), size[l]);
    }
    int step = EXEC_GO;
    for (uint32_t at = 0, left = all; left && step == EXEC_GO; at += bulk->bytes) {
        left = 0;
        FOR_LANES
        {
            if (at >= size[l]) continue;
            const unsigned char *source =
                bytes_at(warp, inst, l, from[l] + at, bulk->bytes, EXEC_LOAD);
            if (source == NULL) return EXEC_STOP;
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
                             &(struct exec_reason){.finding = FINDING_BULK_STORE_MISALIGNED,
                                                   .numbers = {size[l], to[l]}});
        for (uint64_t at = 0; at < size[l]; at += 8) {
            unsigned char *target = bytes_at(warp, inst, l, to[l] + at, 8, EXEC_STORE);
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
