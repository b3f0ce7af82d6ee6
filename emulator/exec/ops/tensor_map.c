/* Tensor copies, their reductions, and changes of tensor maps: cp.async.bulk.tensor,
 * cp.reduce.async.bulk.tensor, tensormap.*. PTX ISA 9.0, 5.5, 9.7.9.27, 9.7.9.28, 9.7.13.
 *
 * A box is moved row by row, where a row extends along dimension 0. The copy takes place when it is
 * issued, like other bulk copies (ops/bulk.c).
 */
#include "emulator/exec/machine/tensor_map.h"
#include "emulator/exec/check/proxy.h"
#include "emulator/exec/ops/float.h"
#include "emulator/exec/ops/private.h"
#include "emulator/exec/ops/tables.h"

#include <stddef.h>
#include <string.h>

enum {
    UNIT = 16,                /* bytes that stay together in shared memory */
    MOST_ROW_BYTES = 256 * 8, /* elements * bytes: exec_tensor_map_wrong guarantees it */
    CACHE_OF_MAP = 2,         /* behind the instruction's and its source's */
    SHARED = 1,               /* numbers[1] of FINDING_TENSOR_MAP_MISPLACED */
};

/* ---- the map --------------------------------------------------------------------------------- */

/* Reads the map's bytes from memory, or with `writes` writes them. `access` is what it counts as; a
 * change of a map counts as a store for both its read and its write. Returns false when a fault is
 * recorded. */
static bool move_map(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                     uint64_t address, enum exec_access access, unsigned char *bytes, bool writes)
{
    struct exec_inst own = *inst;
    own.cache += CACHE_OF_MAP - (access == EXEC_LOAD); /* exec_bulk_bytes adds one for a load */
    for (unsigned at = 0; at < EXEC_TENSOR_MAP_BYTES; at += UNIT) {
        unsigned char *there = exec_bulk_bytes(warp, &own, lane, address + at, UNIT, access);
        if (there == NULL) return false;
        memcpy(writes ? there : bytes + at, writes ? bytes + at : there, UNIT);
    }
    return true;
}

static bool is_aligned(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                       uint64_t address)
{
    if (address % EXEC_TENSOR_MAP_ALIGNMENT == 0) return true;
    exec_stop(warp, inst, EXEC_MISALIGNED, lane,
              &(struct exec_reason){.finding = FINDING_TENSOR_MAP_MISALIGNED,
                                    .numbers = {address, EXEC_TENSOR_MAP_ALIGNMENT}});
    return false;
}

/* Reads and checks the map at `address` for a copy of `rank` coordinates. Returns false when a
 * fault is recorded. */
static bool open_map(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                     uint64_t address, uint32_t rank, struct exec_tensor_map *map)
{
    const uint64_t window = address & EXEC_WINDOW_MASK;
    unsigned char bytes[EXEC_TENSOR_MAP_BYTES];
    struct exec_reason reason = {.finding = FINDING_NONE, .numbers = {address}};
    if (window == EXEC_WINDOW_SHARED || window == EXEC_WINDOW_LOCAL) {
        reason.finding = FINDING_TENSOR_MAP_MISPLACED;
        reason.numbers[1] = window == EXEC_WINDOW_SHARED ? SHARED : 0;
    } else if (!is_aligned(warp, inst, lane, address) ||
               !move_map(warp, inst, lane, address, EXEC_LOAD, bytes, false)) {
        return false;
    } else if (!exec_tensor_map_open(map, bytes)) {
        reason.finding = FINDING_TENSOR_MAP_NONE;
    } else if ((reason.name = exec_tensor_map_wrong(map)) != NULL) {
        reason.finding = FINDING_TENSOR_MAP_WRONG;
    } else if (map->rank != rank) {
        reason.finding = FINDING_TENSOR_MAP_RANK;
        reason.numbers[0] = rank;
        reason.numbers[1] = rank != 1;
        reason.numbers[2] = map->rank;
        reason.numbers[3] = map->rank != 1;
    }
    if (reason.finding != FINDING_NONE) exec_stop(warp, inst, EXEC_ILLEGAL, lane, &reason);
    if (reason.finding == FINDING_NONE) exec_proxy_map_used(warp, inst, lane, address);
    return reason.finding == FINDING_NONE;
}

/* ---- boxes ----------------------------------------------------------------------------------- */

/* One lane's copy. */
struct box {
    struct exec_warp *warp;
    const struct exec_inst *inst;
    const struct exec_tensor_copy *copy;
    unsigned lane;
    struct exec_tensor_map map;
    uint32_t bytes;                         /* of an element */
    uint32_t count[EXEC_TENSOR_DIMENSIONS]; /* elements along each dimension */
    int64_t first[EXEC_TENSOR_DIMENSIONS];  /* coordinates */
    uint64_t shared;                        /* generic address */
    struct exec_inst one; /* of a reduction: the atomic instruction of one element */
};

/* A row of the box, and the part of it that is inside the tensor. */
struct row {
    uint64_t shared;     /* generic address, before swizzling */
    uint64_t global;     /* address of element `begin` */
    uint32_t begin, end; /* elements of the row; equal: no element is inside */
};

static uint32_t row_count(const struct box *box)
{
    uint32_t rows = 1;
    for (unsigned k = 1; k < box->map.rank; k++) rows *= box->count[k];
    return rows;
}

/* Returns row `index` of the box; dimension 1 varies fastest. */
static struct row row_at(const struct box *box, uint32_t index)
{
    const struct exec_tensor_map *map = &box->map;
    const int64_t size = (int64_t)map->size[0], first = box->first[0], count = box->count[0];
    const int64_t begin = first < 0 ? -first : 0;
    const int64_t end = count < size - first ? count : size - first;
    struct row row = {.shared = box->shared + (uint64_t)index * exec_tensor_pitch(map)};
    bool inside = begin < end;
    uint64_t address = map->address;
    for (unsigned k = 1; k < map->rank; k++) {
        const int64_t at = box->first[k] + (int64_t)(index % box->count[k]) * map->step[k];
        inside &= at >= 0 && at < (int64_t)map->size[k];
        address += (uint64_t)at * map->stride[k - 1];
        index /= box->count[k];
    }
    if (!inside) return row;
    row.begin = (uint32_t)begin;
    row.end = (uint32_t)end;
    row.global = address + (uint64_t)(first + begin) * box->bytes;
    return row;
}

/* Reads `size` bytes of global memory at `address`, or writes them (EXEC_STORE). */
static bool move_global(const struct box *box, uint64_t address, unsigned char *bytes,
                        uint32_t size, enum exec_access access)
{
    while (size) {
        uint32_t piece = UNIT;
        while (address % piece != 0 || piece > size) piece /= 2;
        unsigned char *there =
            exec_bulk_bytes(box->warp, box->inst, box->lane, address, piece, access);
        if (there == NULL) return false;
        memcpy(access == EXEC_LOAD ? bytes : there, access == EXEC_LOAD ? there : bytes, piece);
        address += piece;
        bytes += piece;
        size -= piece;
    }
    return true;
}

/* The same for a row in shared memory, whose chunks are swizzled. */
static bool move_shared(const struct box *box, uint64_t address, unsigned char *bytes,
                        enum exec_access access)
{
    for (uint32_t at = 0; at < box->count[0] * box->bytes; at += UNIT) {
        const uint64_t place = exec_tensor_swizzled(&box->map, address + at);
        unsigned char *there =
            exec_bulk_bytes(box->warp, box->inst, box->lane, place, UNIT, access);
        if (there == NULL) return false;
        if (access == EXEC_LOAD) exec_bulk_reading(box->warp, box->inst, box->lane, place, UNIT);
        memcpy(access == EXEC_LOAD ? bytes + at : there, access == EXEC_LOAD ? there : bytes + at,
               UNIT);
    }
    return true;
}

/* Fills with the value for elements outside the tensor: zeros, or a NaN. PTX ISA 9.0, 5.5.3.3 does
 * not say which NaN; this is what an H100 gives. */
static void fill(const struct box *box, unsigned char *bytes)
{
    const uint64_t nan = UINT64_C(0x7ff77ff77ff77ff7) >> (64 - 8 * box->bytes);
    const uint64_t value = box->map.fill ? nan : 0;
    for (uint32_t k = 0; k < box->count[0]; k++) memcpy(bytes + k * box->bytes, &value, box->bytes);
}

/* Rounds `count` elements to tf32. */
static void round_all(unsigned char *bytes, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++, bytes += sizeof(u32)) {
        u32 word;
        memcpy(&word, bytes, sizeof word);
        word = TF32_OF(word, TF32_UP);
        memcpy(bytes, &word, sizeof word);
    }
}

static bool load_row(const struct box *box, const struct row *row)
{
    unsigned char bytes[MOST_ROW_BYTES];
    unsigned char *inside = bytes + row->begin * box->bytes;
    const uint32_t count = row->end - row->begin;
    fill(box, bytes);
    if (!move_global(box, row->global, inside, count * box->bytes, EXEC_LOAD)) return false;
    if (exec_tensor_element(box->map.type)->rounds) round_all(inside, count);
    return move_shared(box, row->shared, bytes, EXEC_STORE);
}

/* Reduces element by element through the row of the atomic operation. */
static bool reduce_row(const struct box *box, const struct row *row, const unsigned char *bytes)
{
    struct exec_warp *warp = box->warp;
    const uint32_t all = warp->mask;
    int step = EXEC_GO;
    warp->mask = 1u << box->lane;
    for (uint32_t k = row->begin; k < row->end && step == EXEC_GO; k++) {
        exec_bulk_put(warp, &box->copy->bulk, box->lane,
                      row->global + (uint64_t)(k - row->begin) * box->bytes, bytes + k * box->bytes,
                      box->bytes);
        step = box->one.run(warp, &box->one);
    }
    warp->mask = all;
    return step == EXEC_GO;
}

/* Elements outside the tensor are dropped. */
static bool store_row(const struct box *box, const struct row *row)
{
    unsigned char bytes[MOST_ROW_BYTES];
    if (row->begin == row->end) return true;
    if (!move_shared(box, row->shared, bytes, EXEC_LOAD)) return false;
    if (box->copy->operation != NULL) return reduce_row(box, row, bytes);
    return move_global(box, row->global, bytes + row->begin * box->bytes,
                       (row->end - row->begin) * box->bytes, EXEC_STORE);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Moves the box to or from shared address `shared`, and reports the bytes to the barrier object. */
static bool copy_box(struct box *box, uint64_t shared, uint64_t object)
{
    struct exec_counts *counts = &box->warp->worker->counts;
    const uint32_t rows = row_count(box), size = rows * exec_tensor_pitch(&box->map);
    const uint32_t moved = rows * box->count[0] * box->bytes;
    box->shared = shared;
    if (!box->copy->loads) exec_bulk_reads(box->warp, box->inst, box->lane, shared, size);
    for (uint32_t k = 0; k < rows; k++) {
        const struct row row = row_at(box, k);
        if (!(box->copy->loads ? load_row(box, &row) : store_row(box, &row))) return false;
    }
    *(box->copy->loads ? &counts->bytes_loaded : &counts->bytes_stored) += moved;
    counts->transactions += moved / 32;
    if (!box->copy->loads) return true;
    exec_bulk_fills(box->warp, box->inst, box->lane, shared, size, &object);
    return exec_mbarrier_complete(box->warp, box->inst, box->lane, object, moved);
}

/* Reads and checks what a lane's copy needs. Returns false when a fault is recorded. */
static bool begin_box(struct box *box)
{
    const struct exec_tensor_copy *copy = box->copy;
    struct exec_warp *warp = box->warp;
    const uint64_t at = ((const uint64_t *)exec_slot(warp, box->inst->b))[box->lane];
    const uint64_t shared = ((const uint64_t *)exec_slot(warp, box->inst->a))[box->lane];
    if (!open_map(warp, box->inst, box->lane, at, copy->rank, &box->map)) return false;
    box->bytes = exec_tensor_element(box->map.type)->bytes;
    for (unsigned k = 0; k < copy->rank; k++) {
        box->count[k] = exec_tensor_count(&box->map, k);
        box->first[k] = ((const int32_t *)exec_slot(warp, copy->coordinates[k]))[box->lane];
    }
    struct exec_reason reason = {.finding = FINDING_NONE};
    enum exec_end end = EXEC_ILLEGAL;
    unsigned negative = 0;
    while (negative < copy->rank && box->first[negative] >= 0) negative++;
    const int64_t begins = box->first[0] * (int64_t)box->bytes;
    if (begins % UNIT != 0) { /* an H100 faults here, though no document says so */
        reason = (struct exec_reason){
            .finding = FINDING_TENSOR_COORDINATE,
            .numbers = {(uint64_t)(begins < 0 ? -begins : begins), begins < 0, UNIT}};
    } else if (negative < copy->rank && !copy->loads) { /* the same */
        reason = (struct exec_reason){.finding = FINDING_TENSOR_STORE_BEFORE,
                                      .numbers = {(uint64_t)-box->first[negative], negative}};
    } else if (shared % EXEC_TENSOR_ALIGNMENT != 0) {
        end = EXEC_MISALIGNED;
        reason =
            (struct exec_reason){.finding = FINDING_TENSOR_COPY_MISALIGNED,
                                 .numbers = {shared & ~EXEC_WINDOW_MASK, EXEC_TENSOR_ALIGNMENT}};
    } else if (copy->operation != NULL && copy->apply[box->map.type] == NULL) {
        reason = (struct exec_reason){
            .finding = FINDING_TENSOR_REDUCTION, .numbers = {at}, .name = copy->operation};
    }
    if (reason.finding != FINDING_NONE) exec_stop(warp, box->inst, end, box->lane, &reason);
    if (reason.finding == FINDING_NONE && copy->operation != NULL)
        box->one = exec_bulk_one(box->inst, &copy->bulk, copy->apply[box->map.type]);
    return reason.finding == FINDING_NONE;
}

/* struct exec_tensor_copy describes the slots. With ranks the copy goes to the corresponding places
 * in several blocks of the cluster. */
static int op_copy(struct exec_warp *warp, const struct exec_inst *inst)
{
    const struct exec_tensor_copy *copy = inst->extra;
    const uint64_t *shared = exec_slot(warp, inst->a);
    const uint64_t *object = exec_slot(warp, inst->e);
    const bool many = copy->bulk.ranks != EXEC_NO_SLOT;
    const uint32_t *ranks = many ? exec_slot(warp, copy->bulk.ranks) : NULL;
    EXEC_FOR_ACTIVE
    {
        struct box box = {.warp = warp, .inst = inst, .copy = copy, .lane = l};
        if (!begin_box(&box)) return EXEC_STOP;
        if (!many && !copy_box(&box, shared[l], copy->loads ? object[l] : 0)) return EXEC_STOP;
        for (uint32_t left = many ? ranks[l] & UINT16_MAX : 0; left; left &= left - 1) {
            const uint32_t rank = (uint32_t)__builtin_ctz(left);
            if (!copy_box(&box, exec_bulk_in_block(shared[l], rank),
                          exec_bulk_in_block(object[l], rank)))
                return EXEC_STOP;
        }
    }
    return EXEC_GO;
}

/* ---- changes of maps ------------------------------------------------------------------------- */

static int op_replace(struct exec_warp *warp, const struct exec_inst *inst)
{
    static const unsigned char zeros[EXEC_TENSOR_MAP_BYTES];
    const struct exec_tensor_replace *replace = inst->extra;
    const uint64_t *address = exec_slot(warp, inst->a);
    const void *values = exec_slot(warp, inst->b);
    EXEC_FOR_ACTIVE
    {
        unsigned char bytes[EXEC_TENSOR_MAP_BYTES];
        struct exec_tensor_map map = {0};
        uint64_t value =
            replace->wide ? ((const uint64_t *)values)[l] : ((const uint32_t *)values)[l];
        if (!is_aligned(warp, inst, l, address[l]) ||
            !move_map(warp, inst, l, address[l], EXEC_STORE, bytes, false))
            return EXEC_STOP;
        /* A kernel may build a map out of zeros; any other bytes must be a map that was sealed. */
        if (memcmp(bytes, zeros, sizeof zeros) != 0 && !exec_tensor_map_open(&map, bytes))
            return exec_stop(
                warp, inst, EXEC_ILLEGAL, l,
                &(struct exec_reason){.finding = FINDING_TENSOR_MAP_NONE, .numbers = {address[l]}});
        value += replace->plus_one;
        if (replace->bytes == 1 && value > UINT8_MAX) value = UINT8_MAX;
        memcpy((unsigned char *)&map + replace->offset, &value, replace->bytes);
        exec_tensor_map_seal(&map, bytes);
        if (!move_map(warp, inst, l, address[l], EXEC_STORE, bytes, true)) return EXEC_STOP;
        exec_proxy_map_changed(warp, inst, l, address[l]);
    }
    return EXEC_GO;
}

/* tensormap.cp_fenceproxy. Slot a: destination, b: source; the same in all lanes, so one lane does
 * it. */
static int op_move(struct exec_warp *warp, const struct exec_inst *inst)
{
    const unsigned lane = (unsigned)__builtin_ctz(warp->mask);
    const uint64_t to = ((const uint64_t *)exec_slot(warp, inst->a))[lane];
    const uint64_t from = ((const uint64_t *)exec_slot(warp, inst->b))[lane];
    unsigned char bytes[EXEC_TENSOR_MAP_BYTES];
    const bool moved = is_aligned(warp, inst, lane, to) && is_aligned(warp, inst, lane, from) &&
                       move_map(warp, inst, lane, from, EXEC_LOAD, bytes, false) &&
                       move_map(warp, inst, lane, to, EXEC_STORE, bytes, true);
    if (moved) exec_proxy_map_changed(warp, inst, lane, to);
    return moved ? EXEC_GO : EXEC_STOP;
}

const struct exec_row exec_tensor_map_rows[] = {{"cp.async.bulk.tensor", op_copy, ""},
                                                {"tensormap.replace", op_replace, ""},
                                                {"tensormap.cp_fenceproxy", op_move, ""},
                                                {NULL, NULL, NULL}};
