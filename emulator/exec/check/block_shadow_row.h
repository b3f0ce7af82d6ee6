/* The fast paths of exec_block_shadow: rows of a full warp, all lanes at once in loops that the
 * compiler vectorises, and loads and stores at any address. What they cannot settle they leave to
 * exec_block_shadow_lanes. For the handlers of loads and stores, and for machine code. Private to
 * emulator/exec.
 */
#ifndef OVERLAP_EXEC_CHECK_BLOCK_SHADOW_ROW_H
#define OVERLAP_EXEC_CHECK_BLOCK_SHADOW_ROW_H

#include "emulator/exec/check/block_shadow.h"

/* The part of a row that lies in one line: `count` cells from `index` on, the first of which is for
 * unit `first` of the row. A lane has 1 << shift units. */
struct exec_block_shadow_part {
    size_t index;
    uint32_t first, count, shift;
    uint32_t thread; /* of lane 0 */
};

static inline int32_t exec_block_shadow_thread(const struct exec_block_shadow_part *part,
                                               uint32_t k)
{
    return (int32_t)(part->thread + ((part->first + k) >> part->shift));
}

/* Returns true if a wanted cell holds an unordered touch of another thread. Orders of the warp
 * alone are left to the slow path. */
static inline bool exec_block_shadow_strange(const struct exec_shadow *shadow, enum exec_kept kept,
                                             const struct exec_block_shadow_part *part,
                                             const uint32_t *wanted)
{
    const int32_t *cells = shadow->cells[kept] + part->index;
    const int32_t floor = shadow->floor;
    uint32_t strange = 0;
    for (uint32_t k = 0; k < part->count; k++) {
        const bool own = (cells[k] & (EXEC_SHADOW_THREAD | EXEC_SHADOW_MANY)) ==
                         exec_block_shadow_thread(part, k);
        strange |= (uint32_t)(cells[k] >= floor) & !own & wanted[k];
    }
    return strange != 0;
}

/* Records a store. A unit that the store does not change keeps its cell if the cell is its own
 * thread's, and otherwise loses its writer. */
static inline void exec_block_shadow_leave(struct exec_shadow *shadow, enum exec_kept kept,
                                           const struct exec_block_shadow_part *part,
                                           const uint32_t *wanted, uint32_t site)
{
    int32_t *cells = shadow->cells[kept] + part->index;
    uint32_t *sites = shadow->sites[kept] + part->index;
    const int32_t now = shadow->time << EXEC_SHADOW_TIME;
    for (uint32_t k = 0; k < part->count; k++) {
        const int32_t thread = exec_block_shadow_thread(part, k);
        const bool own = (cells[k] & (EXEC_SHADOW_THREAD | EXEC_SHADOW_MANY)) == thread;
        cells[k] = wanted[k] ? now | thread : own ? cells[k] : 0;
        sites[k] = wanted[k] ? site : sites[k];
    }
}

/* Marks a line, which has cells, as settled if two warps have read each word since the block's last
 * order and nobody has stored to it. */
static inline void exec_block_shadow_settle(const struct exec_shadow *shadow,
                                            struct exec_block_shadow_line *line, size_t index)
{
    const int32_t *writes = shadow->cells[EXEC_KEPT_WRITE] + index;
    const int32_t *others = shadow->cells[EXEC_KEPT_READ_OTHER] + index;
    const int32_t floor = shadow->floor;
    uint32_t open = 0;
    for (uint32_t k = 0; k < EXEC_NEAR_LINE / 4; k++)
        open |= (uint32_t)(writes[k] >= floor) | (uint32_t)(others[k] < floor);
    if (!open) line->settled = floor;
}

/* Returns true if the line stores a row of just these bytes, by the threads from `thread` on. */
static inline bool exec_block_shadow_has(const struct exec_block_shadow_line *line, uint8_t begin,
                                         uint8_t bytes, uint8_t lane_bits, int32_t thread)
{
    return line->row && line->begin == begin && line->bytes == bytes &&
           line->lane_bits == lane_bits && (line->row & EXEC_SHADOW_THREAD) == thread;
}

/* Stores the row's part in the line itself, if it is the only touch of the line or the same threads
 * have touched just these bytes: x = x + y reads and writes them in one moment. Returns false if
 * the line needs cells. */
static inline bool exec_block_shadow_alone(struct exec_block_shadow_line *line, bool fresh,
                                           uint8_t begin, uint8_t bytes, uint8_t lane_bits,
                                           enum exec_kept kept, int32_t cell, uint32_t site)
{
    const bool joins = line->row == cell || line->kept == 1u << kept;
    if (!fresh &&
        !(joins && exec_block_shadow_has(line, begin, bytes, lane_bits, cell & EXEC_SHADOW_THREAD)))
        return false;
    line->kept = (uint8_t)((fresh ? 0 : line->kept) | 1u << kept);
    line->row = cell;
    line->sites[kept] = site;
    line->begin = begin;
    line->bytes = bytes;
    line->lane_bits = lane_bits;
    return true;
}

/* Returns true if a store of the values that the row's part of the line holds already changes
 * nothing here: nobody else has touched the line. */
static inline bool exec_block_shadow_is_own(const struct exec_block_shadow_line *line, bool fresh,
                                            uint8_t begin, uint8_t bytes, uint8_t lane_bits,
                                            int32_t thread)
{
    return fresh || exec_block_shadow_has(line, begin, bytes, lane_bits, thread);
}

/* How many of the elements that a warp stores differ from what memory holds. */
enum exec_changed { EXEC_CHANGED_NONE, EXEC_CHANGED_SOME, EXEC_CHANGED_ALL };

/* The elements of a full warp's lanes, which are adjacent. */
struct exec_block_shadow_run {
    uint64_t address;
    uint32_t unit; /* bytes of a unit ... */
    uint32_t each; /* ... of which an element has so many, a power of two */
};

/* wanted[k] is 1 if unit k counts: for a store, if the store changes it. `changed`: how many count;
 * of a load all do. Returns false if the slow path must handle the row lane by lane. */
static inline bool exec_block_shadow_row(struct exec_warp *warp, const struct exec_inst *inst,
                                         const struct exec_block_shadow_run *run, bool store,
                                         const uint32_t *wanted, enum exec_changed changed)
{
    struct exec_block_shadow *near = exec_block_shadow_of(warp);
    const enum exec_kept kept = store ? EXEC_KEPT_WRITE : EXEC_KEPT_READ;
    const uint32_t unit = run->unit, units = EXEC_LANES * run->each;
    struct exec_block_shadow_part part = {.shift = (uint32_t)__builtin_ctz(run->each),
                                          .thread = warp->index * EXEC_LANES};
    if (near == NULL) return true;
    struct exec_shadow *shadow = near->shadow;
    const int32_t now = shadow->time << EXEC_SHADOW_TIME;
    const uint8_t lane_bits = (uint8_t)(part.shift + (uint32_t)__builtin_ctz(unit));
    shadow->touched |= 1u << warp->index;
    for (; part.first < units; part.first += part.count) {
        const uint64_t at = run->address + unit * (uint64_t)part.first;
        const uint32_t inside = (uint32_t)(at % EXEC_NEAR_LINE);
        bool fresh;
        part.count = (EXEC_NEAR_LINE - inside) / unit;
        if (part.count > units - part.first) part.count = units - part.first;
        struct exec_block_shadow_line *line =
            exec_block_shadow_find(near, at >> EXEC_NEAR_LINE_BITS, !store, &fresh);
        if (line == NULL) continue;
        const uint8_t begin = (uint8_t)inside, bytes = (uint8_t)(part.count * unit);
        const int32_t thread = exec_block_shadow_thread(&part, 0);
        if (changed == EXEC_CHANGED_ALL &&
            exec_block_shadow_alone(line, fresh, begin, bytes, lane_bits, kept, now | thread,
                                    inst->position))
            continue;
        if (changed == EXEC_CHANGED_NONE &&
            exec_block_shadow_is_own(line, fresh, begin, bytes, lane_bits, thread))
            continue;
        if (!exec_block_shadow_open(near, line, unit)) continue;
        if (1u << shadow->shift != unit || shadow->atomics || shadow->converses) return false;
        part.index = (exec_block_shadow_offset(near, line) + inside) / unit;
        const uint32_t *here = wanted + part.first;
        if (exec_block_shadow_strange(shadow, EXEC_KEPT_WRITE, &part, here)) return false;
        if (store) {
            if (exec_block_shadow_strange(shadow, EXEC_KEPT_READ, &part, here) ||
                exec_block_shadow_strange(shadow, EXEC_KEPT_READ_OTHER, &part, here))
                return false;
            exec_block_shadow_leave(shadow, EXEC_KEPT_WRITE, &part, here, inst->position);
            continue;
        }
        /* With two readers of different warps no later write goes unnoticed. */
        const int32_t *others = shadow->cells[EXEC_KEPT_READ_OTHER] + part.index;
        uint32_t alone = 0;
        for (uint32_t k = 0; k < part.count; k++) alone |= (uint32_t)(others[k] < shadow->floor);
        if (!alone) {
            if (shadow->shift == 2)
                exec_block_shadow_settle(shadow, line, exec_block_shadow_offset(near, line) / 4);
            continue;
        }
        exec_shadow_read_row(shadow, part.index, part.count, exec_block_shadow_thread(&part, 0),
                             part.shift, inst->position);
    }
    return true;
}

/* ---- loads at any address -------------------------------------------------------------------- */

/* All 32 words of a line, each read by one lane: in order, rotated or reversed, say. threads[k]
 * reads word k. Returns false if a store may conflict. */
static inline bool exec_block_shadow_read_line(struct exec_block_shadow *near,
                                               struct exec_block_shadow_line *line,
                                               const int32_t *threads, uint32_t site)
{
    enum { WORDS = EXEC_NEAR_LINE / 4 };
    struct exec_shadow *shadow = near->shadow;
    const size_t index = exec_block_shadow_offset(near, line) / 4;
    const int32_t floor = shadow->floor;
    exec_cells strange = {0}, written = {0}, alone = {0};
    for (size_t k = 0; k < WORDS; k += EXEC_CELLS) {
        const exec_cells write = *exec_cells_at(shadow->cells[EXEC_KEPT_WRITE], index + k);
        const exec_cells who = write & (EXEC_SHADOW_THREAD | EXEC_SHADOW_MANY);
        written |= write >= floor;
        strange |= (write >= floor) & (who != *exec_cells_at(threads, k));
        alone |= *exec_cells_at(shadow->cells[EXEC_KEPT_READ_OTHER], index + k) < floor;
    }
    if (exec_cells_any(strange)) return false;
    if (exec_cells_any(alone))
        exec_shadow_read_turned(shadow, index, WORDS, threads, site);
    else if (!exec_cells_any(written))
        line->settled = floor;
    return true;
}

/* Records the load of one cell. Returns false if a store may conflict. */
static inline bool exec_block_shadow_read_cell(struct exec_shadow *shadow, size_t index,
                                               int32_t thread, uint32_t site)
{
    const int32_t write = shadow->cells[EXEC_KEPT_WRITE][index], floor = shadow->floor;
    int32_t *read = &shadow->cells[EXEC_KEPT_READ][index];
    if (write >= floor && (write & (EXEC_SHADOW_THREAD | EXEC_SHADOW_MANY)) != thread) return false;
    if (*read < floor) { /* the first reader */
        *read = shadow->time << EXEC_SHADOW_TIME | thread;
        shadow->sites[EXEC_KEPT_READ][index] = site;
        return true;
    }
    /* With two readers of different warps no later write goes unnoticed. */
    if (shadow->cells[EXEC_KEPT_READ_OTHER][index] < floor)
        exec_shadow_read_row(shadow, index, 1, thread, 0, site);
    return true;
}

/* Gives the line cells. Returns false if it has a row of smaller units. */
static inline bool exec_block_shadow_cells(const struct exec_block_shadow *near,
                                           struct exec_block_shadow_line *line)
{
    if (line->row && line->lane_bits < near->shadow->shift) return false;
    if (line->row) exec_block_shadow_fill(near, line);
    return true;
}

/* How the lanes' words lie in one line. */
enum exec_block_shadow_order { EXEC_NEAR_ROW, EXEC_NEAR_TURNED, EXEC_NEAR_OTHER };

/* Sets threads[k] to the thread that reads word k, if the lanes read all words of one line. */
static inline enum exec_block_shadow_order exec_block_shadow_order(const uint64_t *address,
                                                                   int32_t first, int32_t *threads)
{
    uint64_t apart = 0;
    uint32_t words = 0, turned = 0;
    for (unsigned l = 0; l < EXEC_LANES; l++) apart |= address[l] ^ address[0];
    if (apart >> EXEC_NEAR_LINE_BITS) return EXEC_NEAR_OTHER;
    for (unsigned l = 0; l < EXEC_LANES; l++) {
        const uint32_t k = (uint32_t)(address[l] % EXEC_NEAR_LINE) / 4;
        threads[k] = first + (int32_t)l;
        words |= 1u << k;
        turned |= k ^ l;
    }
    if (words != EXEC_ALL) return EXEC_NEAR_OTHER;
    return turned ? EXEC_NEAR_TURNED : EXEC_NEAR_ROW;
}

/* Loads of one word per lane by a full warp. Sets `*all` if the words are all of one line; false
 * otherwise, and nothing is recorded. */
static inline bool exec_block_shadow_read_whole(struct exec_block_shadow *near,
                                                const uint64_t *address, int32_t first,
                                                uint32_t site, bool *all)
{
    int32_t threads[EXEC_LANES];
    bool fresh;
    const enum exec_block_shadow_order order = exec_block_shadow_order(address, first, threads);
    *all = order != EXEC_NEAR_OTHER;
    if (!*all) return false;
    struct exec_block_shadow_line *line =
        exec_block_shadow_find(near, address[0] >> EXEC_NEAR_LINE_BITS, true, &fresh);
    if (line == NULL) return false;
    if (order == EXEC_NEAR_ROW &&
        exec_block_shadow_alone(line, fresh, 0, EXEC_NEAR_LINE, 2, EXEC_KEPT_READ,
                                near->shadow->time << EXEC_SHADOW_TIME | first, site))
        return true;
    return exec_block_shadow_cells(near, line) &&
           exec_block_shadow_read_line(near, line, threads, site);
}

/* Loads by the lanes of `mask`, of `bytes` bytes each. Returns false if the slow path must handle
 * the access lane by lane; what has been recorded by then is correct. */
static inline bool exec_block_shadow_read(struct exec_warp *warp, const struct exec_inst *inst,
                                          const uint64_t *address, uint32_t mask, uint32_t bytes)
{
    struct exec_block_shadow *near = warp->block->near;
    const int32_t first = (int32_t)(warp->index * EXEC_LANES);
    uint64_t before = UINT64_MAX;
    size_t start = 0;
    bool all = false, fresh;
    if (near == NULL || near->shadow->cells[0] == NULL || bytes >> near->shadow->shift == 0 ||
        near->shadow->atomics || near->shadow->converses)
        return false;
    const unsigned shift = near->shadow->shift;
    near->shadow->touched |= 1u << warp->index;
    if (mask == EXEC_ALL && bytes == 4 && shift == 2 &&
        exec_block_shadow_read_whole(near, address, first, inst->position, &all))
        return true;
    if (all) return false;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        if (address[l] >> EXEC_NEAR_LINE_BITS != before) {
            struct exec_block_shadow_line *line =
                exec_block_shadow_find(near, address[l] >> EXEC_NEAR_LINE_BITS, true, &fresh);
            if (line == NULL || !exec_block_shadow_cells(near, line)) return false;
            before = address[l] >> EXEC_NEAR_LINE_BITS;
            start = exec_block_shadow_offset(near, line);
        }
        const size_t index = (start + address[l] % EXEC_NEAR_LINE) >> shift;
        for (uint32_t k = 0; k < bytes >> shift; k++)
            if (!exec_block_shadow_read_cell(near->shadow, index + k, first + (int32_t)l,
                                             inst->position))
                return false;
    }
    return true;
}

/* ---- stores at any address ------------------------------------------------------------------- */

/* Records the store of one cell. `fresh`: only this instruction has touched the line, so that the
 * cell is out of date. Returns false if the store may conflict. */
static inline bool exec_block_shadow_write_cell(struct exec_shadow *shadow, size_t index,
                                                int32_t thread, bool changes, bool fresh,
                                                uint32_t site)
{
    int32_t *write = &shadow->cells[EXEC_KEPT_WRITE][index];
    if (!changes) {
        if (exec_shadow_is_strange(shadow, *write, thread)) *write = 0;
        return true;
    }
    if (!fresh &&
        (exec_shadow_is_strange(shadow, *write, thread) ||
         exec_shadow_is_strange(shadow, shadow->cells[EXEC_KEPT_READ][index], thread) ||
         exec_shadow_is_strange(shadow, shadow->cells[EXEC_KEPT_READ_OTHER][index], thread)))
        return false;
    *write = shadow->time << EXEC_SHADOW_TIME | thread;
    shadow->sites[EXEC_KEPT_WRITE][index] = site;
    return true;
}

/* Returns true if two elements of `bytes` bytes, usually a constant, are different. */
static inline bool exec_block_shadow_differ(const unsigned char *one, const unsigned char *other,
                                            uint32_t bytes)
{
    if (bytes == 1) return *one != *other;
    if (bytes == 2) return memcmp(one, other, 2) != 0;
    if (bytes == 4) return memcmp(one, other, 4) != 0;
    return bytes == 8 ? memcmp(one, other, 8) != 0 : memcmp(one, other, bytes) != 0;
}

/* Returns true if the lane's store changes all of its elements. */
static inline bool exec_block_shadow_changes(const struct exec_warp *warp,
                                             const struct exec_inst *inst, unsigned lane,
                                             const unsigned char *memory, uint32_t element,
                                             uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        if (!exec_block_shadow_differ(memory + k * (size_t)element,
                                      exec_stored(warp, inst, lane, k, element), element))
            return false;
    return true;
}

/* Stores by the lanes of `mask`, of `count` elements of `element` bytes each, from the slots of a
 * row of ops/memory.def. A line that nobody has touched stores the first lane's elements itself.
 * Returns false if the slow path must handle the access lane by lane; what has been recorded by
 * then is correct. */
static inline bool exec_block_shadow_write(struct exec_warp *warp, const struct exec_inst *inst,
                                           const struct exec_region_cache *cache,
                                           const uint64_t *address, uint32_t mask, uint32_t element,
                                           uint32_t count)
{
    struct exec_block_shadow *near = exec_block_shadow_of(warp);
    struct exec_block_shadow_line *line = NULL;
    const uint32_t bytes = element * count, unit = element < 4 ? element : 4;
    uint64_t before = UINT64_MAX;
    bool fresh = false;
    if (near == NULL) return true;
    struct exec_shadow *shadow = near->shadow;
    const int32_t now = shadow->time << EXEC_SHADOW_TIME;
    shadow->touched |= 1u << warp->index;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        const uint32_t inside = (uint32_t)(address[l] % EXEC_NEAR_LINE);
        const int32_t thread = (int32_t)(warp->index * EXEC_LANES + l);
        const unsigned char *memory = (const unsigned char *)(uintptr_t)(address[l] + cache->delta);
        const bool is_next = address[l] >> EXEC_NEAR_LINE_BITS != before;
        if (is_next) {
            before = address[l] >> EXEC_NEAR_LINE_BITS;
            line = exec_block_shadow_find(near, before, false, &fresh);
            if (shadow->atomics || shadow->converses) return false;
        }
        if (line == NULL) continue;
        if (is_next && fresh && exec_block_shadow_changes(warp, inst, l, memory, element, count)) {
            exec_block_shadow_alone(line, true, (uint8_t)inside, (uint8_t)bytes,
                                    (uint8_t)__builtin_ctz(bytes), EXEC_KEPT_WRITE, now | thread,
                                    inst->position);
            continue;
        }
        if (!exec_block_shadow_ready(near, line, unit)) return true;
        size_t index = (exec_block_shadow_offset(near, line) + inside) >> shadow->shift;
        for (uint32_t k = 0; k < count; k++) {
            const bool changes = exec_block_shadow_differ(
                memory + k * (size_t)element, exec_stored(warp, inst, l, k, element), element);
            for (uint32_t c = 0; c < element >> shadow->shift; c++)
                if (!exec_block_shadow_write_cell(shadow, index++, thread, changes, fresh,
                                                  inst->position))
                    return false;
        }
    }
    return true;
}

#endif
