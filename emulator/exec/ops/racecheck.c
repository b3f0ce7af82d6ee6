/* The instructions that lowering puts before accesses that are race-checked: "watch"
 * (check/shadow.h) and "order" (check/order.h). Compiled once per EXEC_LEVEL.
 *
 * Nearly all of these accesses are either accesses of 4 bytes to shared memory by full warps
 * without a conflict, or volatile accesses of each thread to a word of its own. These are completed
 * here, 32 lanes at once. All others go to check/shadow.c and check/order.c, lane by lane.
 */
#include "emulator/exec/check/async.h"
#include "emulator/exec/check/block_shadow.h"
#include "emulator/exec/check/cluster.h"
#include "emulator/exec/check/order.h"
#include "emulator/exec/check/shadow.h"
#include "emulator/exec/check/unwritten.h"
#include "emulator/exec/machine/machine.h"
#include "emulator/exec/ops/lanes.h"
#include "emulator/exec/ops/tables.h"
#include "emulator/exec/ops/watch.h"

/* ---- by halves of a warp: exec_halves of ops/lanes.h ----------------------------------------- */

#define FOR_HALF EXEC_NO_DEPENDENCE for (s32 l = 0; l < EXEC_HALF; l++)

/* 1 for each lane that matters: here all. */
static const u32 all_lanes[EXEC_LANES] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                          1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

/* Returns true when every cell that matters, of the two rows at `at`, is ordered before this access
 * or belongs to the accessing thread. */
static inline bool are_clear(const struct exec_shadow *shadow, enum exec_kept kept, const u32 *at,
                             s32 first, const u32 *matters)
{
    enum { WHO = EXEC_SHADOW_THREAD | EXEC_SHADOW_MANY };
    const s32 *low = shadow->cells[kept] + at[0], *high = shadow->cells[kept] + at[1];
    const s32 floor = shadow->floor, second = first + EXEC_HALF;
    s32 strange = 0;
    FOR_HALF
    {
        strange |= (low[l] >= floor) & ((low[l] & WHO) != first + l) & (s32)matters[l];
        strange |=
            (high[l] >= floor) & ((high[l] & WHO) != second + l) & (s32)matters[l + EXEC_HALF];
    }
    return !strange;
}

static inline void leave_rows(struct exec_shadow *shadow, enum exec_kept kept, const u32 *at,
                              s32 first, u32 site, const u32 *changed)
{
    for (s32 k = 0; k < 2; k++, changed += EXEC_HALF) {
        s32 *cells = shadow->cells[kept] + at[k];
        u32 *sites = shadow->sites[kept] + at[k];
        const s32 now = shadow->time << EXEC_SHADOW_TIME | (first + k * EXEC_HALF);
        FOR_HALF cells[l] = changed[l] ? now + l : cells[l];
        FOR_HALF sites[l] = changed[l] ? site : sites[l];
    }
}

static inline bool load_rows(struct exec_warp *warp, const struct exec_inst *inst, const u32 *at)
{
    struct exec_shadow *shadow = warp->block->shadow;
    const s32 first = (s32)(warp->index * EXEC_LANES), floor = shadow->floor;
    const s32 *low = shadow->cells[EXEC_KEPT_READ_OTHER] + at[0];
    const s32 *high = shadow->cells[EXEC_KEPT_READ_OTHER] + at[1];
    s32 alone = 0;
    if (!are_clear(shadow, EXEC_KEPT_WRITE, at, first, all_lanes)) return false;
    FOR_HALF alone |= (low[l] < floor) | (high[l] < floor);
    if (!alone) return true;
    s32 threads[EXEC_LANES];
    EXEC_FOR_LANES threads[l] = first + (s32)l;
    for (s32 k = 0; k < 2; k++)
        exec_shadow_read_turned(shadow, at[k], EXEC_HALF, threads + k * EXEC_HALF, inst->position);
    return true;
}

/* A store of the value that memory already holds is not recorded as a store. If an unordered store
 * of another thread put the value there, the cell loses its owner; that case is left to the slow
 * path. */
static inline bool store_rows(struct exec_warp *warp, const struct exec_inst *inst, const u32 *at)
{
    struct exec_shadow *shadow = warp->block->shadow;
    const s32 first = (s32)(warp->index * EXEC_LANES);
    const u32 *memory = (const u32 *)(const void *)warp->block->shared;
    const u32 *values = exec_slot(warp, inst->d);
    const u32 *low = memory + at[0], *high = memory + at[1];
    u32 changed[EXEC_LANES];
    FOR_HALF changed[l] = low[l] != values[l];
    FOR_HALF changed[l + EXEC_HALF] = high[l] != values[l + EXEC_HALF];
    if (at[1] < at[0] + EXEC_HALF || !are_clear(shadow, EXEC_KEPT_WRITE, at, first, all_lanes) ||
        !are_clear(shadow, EXEC_KEPT_READ, at, first, changed) ||
        !are_clear(shadow, EXEC_KEPT_READ_OTHER, at, first, changed))
        return false;
    leave_rows(shadow, EXEC_KEPT_WRITE, at, first, inst->position, changed);
    return true;
}

/* Does the same as check/shadow.c for a cell that threads `first` to `last` of a warp load, with no
 * write in their way: recording the first and the last of them is enough. */
static inline void load_same(struct exec_shadow *shadow, u32 at, s32 first, s32 last, u32 site)
{
    s32 *cell = shadow->cells[EXEC_KEPT_READ] + at, *other = shadow->cells[EXEC_KEPT_READ_OTHER];
    u32 *sites = shadow->sites[EXEC_KEPT_READ];
    const s32 now = shadow->time << EXEC_SHADOW_TIME;
    if (other[at] >= shadow->floor) return;
    if (*cell >= shadow->floor && (*cell & EXEC_SHADOW_THREAD) / EXEC_LANES != first / EXEC_LANES) {
        other[at] = *cell;
        shadow->sites[EXEC_KEPT_READ_OTHER][at] = sites[at];
        *cell = now | first;
    } else {
        *cell = now | last | EXEC_SHADOW_MANY;
    }
    sites[at] = site;
}

/* Each half of a warp loads one cell. Returns false when the slow path must do it. */
static inline bool load_sames(struct exec_warp *warp, const struct exec_inst *inst, const u32 *at)
{
    struct exec_shadow *shadow = warp->block->shadow;
    const s32 *writes = shadow->cells[EXEC_KEPT_WRITE];
    const s32 first = (s32)(warp->index * EXEC_LANES), last = first + EXEC_LANES - 1;
    const u32 site = inst->position;
    if (writes[at[0]] >= shadow->floor || writes[at[1]] >= shadow->floor) return false;
    if (at[0] == at[1]) {
        load_same(shadow, at[0], first, last, site);
    } else {
        load_same(shadow, at[0], first, first + EXEC_HALF - 1, site);
        load_same(shadow, at[1], first + EXEC_HALF, last, site);
    }
    return true;
}

/* ---- by lanes -------------------------------------------------------------------------------- */

/* Computes the cells of a full warp's addresses, and whether they ascend. Returns false when an
 * address is out of bounds or misaligned. */
static inline bool find_cells(const struct exec_warp *warp, const struct exec_inst *inst,
                              s32 *index, bool *ascending)
{
    const u32 *base = exec_slot(warp, inst->a);
    const u32 offset = (u32)inst->imm, size = warp->worker->shared_bytes;
    u32 wrong = size < 4, back = 0;
    EXEC_FOR_LANES
    {
        const u32 at = base[l] + offset;
        wrong |= (u32)(at > size - 4) | (at & 3);
        index[l] = (s32)(at >> 2);
    }
    for (unsigned l = 1; l < EXEC_LANES; l++) back |= index[l] <= index[l - 1];
    *ascending = !back;
    return !wrong;
}

/* Returns true when every one of these cells is ordered before this access or belongs to the
 * accessing thread. */
static inline bool is_clear(const struct exec_shadow *shadow, enum exec_kept kept, const s32 *index,
                            s32 first)
{
    const s32 *cells = shadow->cells[kept];
    u32 strange = 0;
    EXEC_FOR_LANES
    {
        const s32 cell = cells[index[l]];
        const u32 own = (cell & (EXEC_SHADOW_THREAD | EXEC_SHADOW_MANY)) == first + (s32)l;
        strange |= (u32)(cell >= shadow->floor) & !own;
    }
    return !strange;
}

static inline void leave(struct exec_shadow *shadow, enum exec_kept kept, const s32 *index,
                         s32 first, u32 site)
{
    s32 *cells = shadow->cells[kept];
    u32 *sites = shadow->sites[kept];
    const s32 now = shadow->time << EXEC_SHADOW_TIME | first;
    for (unsigned l = 0; l < EXEC_LANES; l++) {
        cells[index[l]] = now + (s32)l;
        sites[index[l]] = site;
    }
}

/* Loads of consecutive cells with at most MOST_GAPS gaps; a row that wraps round a torus has one.
 * Returns false, without effect, when there are more. */
static bool load_runs(struct exec_warp *warp, const struct exec_inst *inst, const s32 *index)
{
    enum { MOST_GAPS = 3 };
    const s32 first = (s32)(warp->index * EXEC_LANES);
    u32 gap[EXEC_LANES] = {0};
    for (unsigned l = 1; l < EXEC_LANES; l++) gap[l] = index[l] != index[l - 1] + 1;
    u32 gaps = exec_bits(gap), begin = 0;
    if (exec_lane_count(gaps) > MOST_GAPS) return false;
    for (; begin < EXEC_LANES; gaps &= gaps - 1) {
        const u32 end = gaps != 0 ? (u32)__builtin_ctz(gaps) : EXEC_LANES;
        exec_shadow_read_row(warp->block->shadow, (size_t)index[begin], end - begin,
                             first + (s32)begin, 0, inst->position);
        begin = end;
    }
    return true;
}

/* Returns true when the cells are 32 consecutive ones in any order, such as a row that wraps round
 * a torus. `low` becomes the first. */
static inline bool are_neighbours(const s32 *index, s32 *low)
{
    s32 least = index[0];
    u32 beyond = 0, met = 0;
    for (unsigned l = 0; l < EXEC_LANES; l++) least = index[l] < least ? index[l] : least;
    EXEC_FOR_LANES
    {
        const u32 away = (u32)(index[l] - least);
        beyond |= away;
        met |= 1u << (away & (EXEC_LANES - 1));
    }
    *low = least;
    return beyond < EXEC_LANES && met == EXEC_ALL;
}

/* Loads of 32 consecutive cells. Returns false when a write is not ordered before them. */
static inline bool load_neighbours(struct exec_warp *warp, const struct exec_inst *inst,
                                   const s32 *index, s32 low)
{
    struct exec_shadow *shadow = warp->block->shadow;
    const s32 *writes = shadow->cells[EXEC_KEPT_WRITE] + low, floor = shadow->floor;
    const s32 *others = shadow->cells[EXEC_KEPT_READ_OTHER] + low;
    const s32 first = (s32)(warp->index * EXEC_LANES);
    s32 threads[EXEC_LANES];
    u32 recent = 0, alone = 0;
    EXEC_FOR_LANES recent |= (u32)(writes[l] >= floor);
    EXEC_FOR_LANES alone |= (u32)(others[l] < floor);
    if (recent) return false;
    if (!alone) return true;
    for (s32 l = 0; l < EXEC_LANES; l++) threads[index[l] - low] = first + l;
    exec_shadow_read_turned(shadow, (size_t)low, EXEC_LANES, threads, inst->position);
    return true;
}

static inline bool load(struct exec_warp *warp, const struct exec_inst *inst)
{
    struct exec_shadow *shadow = warp->block->shadow;
    const s32 first = (s32)(warp->index * EXEC_LANES);
    s32 index[EXEC_LANES], low;
    u32 wanted = 0;
    bool ascending;
    if (!find_cells(warp, inst, index, &ascending)) return false;
    if (are_neighbours(index, &low) && load_neighbours(warp, inst, index, low)) return true;
    if (!is_clear(shadow, EXEC_KEPT_WRITE, index, first)) return false;
    const s32 *others = shadow->cells[EXEC_KEPT_READ_OTHER];
    EXEC_FOR_LANES wanted |= (u32)(others[index[l]] < shadow->floor);
    if (wanted) {
        if (ascending && is_clear(shadow, EXEC_KEPT_READ, index, first))
            leave(shadow, EXEC_KEPT_READ, index, first, inst->position);
        else if (!load_runs(warp, inst, index))
            exec_shadow_readers(warp, inst, index);
    }
    return true;
}

static inline bool store(struct exec_warp *warp, const struct exec_inst *inst)
{
    struct exec_shadow *shadow = warp->block->shadow;
    const s32 first = (s32)(warp->index * EXEC_LANES);
    const u32 *memory = (const u32 *)(const void *)warp->block->shared;
    const u32 *values = exec_slot(warp, inst->d);
    s32 index[EXEC_LANES];
    u32 same = 0;
    bool ascending;
    if (!find_cells(warp, inst, index, &ascending) || !ascending) return false;
    EXEC_FOR_LANES same |= (u32)(memory[index[l]] == values[l]);
    if (same || !is_clear(shadow, EXEC_KEPT_WRITE, index, first) ||
        !is_clear(shadow, EXEC_KEPT_READ, index, first) ||
        !is_clear(shadow, EXEC_KEPT_READ_OTHER, index, first))
        return false;
    leave(shadow, EXEC_KEPT_WRITE, index, first, inst->position);
    return true;
}

static bool atomic(struct exec_warp *warp, const struct exec_inst *inst)
{
    struct exec_shadow *shadow = warp->block->shadow;
    const s32 first = (s32)(warp->index * EXEC_LANES);
    s32 index[EXEC_LANES];
    bool ascending;
    if (shadow->seen != NULL || !find_cells(warp, inst, index, &ascending) ||
        !is_clear(shadow, EXEC_KEPT_WRITE, index, first) ||
        !is_clear(shadow, EXEC_KEPT_READ, index, first) ||
        !is_clear(shadow, EXEC_KEPT_READ_OTHER, index, first))
        return false;
    exec_shadow_atomics(shadow, index, first, inst->position);
    return true;
}

/* ---- some lanes, one by one ------------------------------------------------------------------ */

/* Returns true when nothing has to be reported of the lane's access to the word at `at`. `value`:
 * what it stores; NULL: it loads. */
static inline bool may_touch(const struct exec_warp *warp, u32 lane, u32 at, const u32 *value)
{
    const struct exec_shadow *shadow = warp->block->shadow;
    const u32 *memory = (const u32 *)(const void *)warp->block->shared;
    const s32 thread = (s32)(warp->index * EXEC_LANES + lane);
    const u32 size = warp->worker->shared_bytes, k = at / 4;
    if (size < 4 || at > size - 4 || (at & 3) != 0 ||
        exec_shadow_is_strange(shadow, shadow->cells[EXEC_KEPT_WRITE][k], thread))
        return false;
    return value == NULL || memory[k] == *value ||
           !(exec_shadow_is_strange(shadow, shadow->cells[EXEC_KEPT_READ][k], thread) ||
             exec_shadow_is_strange(shadow, shadow->cells[EXEC_KEPT_READ_OTHER][k], thread));
}

/* Each lane accesses its own word, at addresses that ascend with the lanes. */
static bool some(struct exec_warp *warp, const struct exec_inst *inst, u32 mask, bool is_store)
{
    struct exec_shadow *shadow = warp->block->shadow;
    const u32 *base = exec_slot(warp, inst->a), *values = exec_slot(warp, inst->d);
    const u32 *memory = (const u32 *)(const void *)warp->block->shared, imm = (u32)inst->imm;
    const s32 time = shadow->time << EXEC_SHADOW_TIME;
    u32 behind = 0;
    for (u32 rest = mask; rest; rest &= rest - 1) {
        const u32 l = (u32)__builtin_ctz(rest), at = base[l] + imm;
        if (at / 4 < behind || !may_touch(warp, l, at, is_store ? &values[l] : NULL)) return false;
        behind = at / 4 + 1;
    }
    for (u32 rest = mask; rest; rest &= rest - 1) {
        const u32 l = (u32)__builtin_ctz(rest), k = (base[l] + imm) / 4;
        const s32 now = time | (s32)(warp->index * EXEC_LANES + l);
        if (!is_store) {
            exec_shadow_keep_load(shadow, k, now, inst->position);
        } else if (memory[k] != values[l]) {
            shadow->cells[EXEC_KEPT_WRITE][k] = now;
            shadow->sites[EXEC_KEPT_WRITE][k] = inst->position;
        }
    }
    shadow->touched |= 1u << warp->index;
    return true;
}

/* ---- any ordinary access --------------------------------------------------------------------- */

/* Returns true when the lines take the access. */
static inline bool line(struct exec_warp *warp, const struct exec_inst *inst, u32 mask)
{
    const u32 *base = exec_slot(warp, inst->a);
    const u32 offset = (u32)inst->imm;
    const bool stores = inst->cache & EXEC_WATCH_VALUES;
    u32 at[EXEC_LANES], shift;
    if (!exec_lines_hold(warp->block->shadow) || !exec_watch_moves(inst, stores, &shift))
        return false;
    EXEC_FOR_LANES at[l] = base[l] + offset;
    return exec_watch_lines(warp, inst, mask, at, shift, stores);
}

/* Of a full warp. Returns false when it needs the slow path. */
static inline bool whole(struct exec_warp *warp, const struct exec_inst *inst, bool is_store)
{
    const u32 *base = exec_slot(warp, inst->a);
    const u32 offset = (u32)inst->imm, size = warp->worker->shared_bytes;
    const u32 at[2] = {(u32)(base[0] + offset) / 4, (u32)(base[EXEC_HALF] + offset) / 4};
    const enum exec_halves halves =
        size < 4 ? EXEC_HALVES_APART : exec_halves_of(base, offset, size - 4, 4);
    bool settled;
    if (halves == EXEC_HALVES_ROWS)
        settled = is_store ? store_rows(warp, inst, at) : load_rows(warp, inst, at);
    else if (halves == EXEC_HALVES_SAMES && !is_store)
        settled = load_sames(warp, inst, at);
    else
        settled = is_store ? store(warp, inst) : load(warp, inst);
    if (settled) warp->block->shadow->touched |= 1u << warp->index;
    return settled;
}

/* Of a word each, by the cells. Returns false when it needs the slow path. */
static inline bool settle(struct exec_warp *warp, const struct exec_inst *inst, u32 mask)
{
    const bool stores = exec_watch_is(inst, EXEC_WATCH_STORE);
    if (exec_watch_is(inst, EXEC_WATCH_ATOMIC)) {
        exec_shadow_part(warp->block->shadow);
        return mask == EXEC_ALL && atomic(warp, inst);
    }
    if (!stores && !exec_watch_is(inst, EXEC_WATCH_LOAD)) return false;
    exec_shadow_part(warp->block->shadow);
    if (warp->block->shadow->atomics) return false;
    return mask == EXEC_ALL ? whole(warp, inst, stores) : some(warp, inst, mask, stores);
}

/* Returns true when everything that the lanes load or change atomically, of words in bounds, has
 * been written (it differs from the fill word), and nothing but that has to be checked. */
static inline bool is_written(const struct exec_warp *warp, const struct exec_inst *inst, u32 mask)
{
    const u32 *base = exec_slot(warp, inst->a);
    const u32 *memory = (const u32 *)(const void *)warp->block->shared;
    const u32 offset = (u32)inst->imm, size = warp->worker->user_shared;
    const u32 word = warp->block->unwritten_word;
    u32 wanted = 0;
    if (warp->poison != NULL || size < 4) return false;
    if (exec_watch_is(inst, EXEC_WATCH_STORE)) return true;
    if (!exec_watch_is(inst, EXEC_WATCH_LOAD) && !exec_watch_is(inst, EXEC_WATCH_ATOMIC))
        return false;
    if (mask != EXEC_ALL) {
        for (u32 rest = mask; rest; rest &= rest - 1) {
            const u32 at = base[__builtin_ctz(rest)] + offset;
            if (at > size - 4 || memory[at / 4] == word) return false;
        }
        return true;
    }
    EXEC_FOR_LANES
    {
        const u32 at = base[l] + offset, beyond = (u32)(at > size - 4);
        wanted |= beyond | (u32)(memory[beyond ? 0 : at / 4] == word);
    }
    return !wanted;
}

static int op_watch(struct exec_warp *warp, const struct exec_inst *inst)
{
    const struct exec_shadow *shadow = warp->block->shadow;
    warp->instructions--;
    if (shadow == NULL) return EXEC_GO;
    const u32 mask = exec_racecheck_lanes(warp, inst);
    if (!mask) return EXEC_GO;
    if (inst->cache & EXEC_WATCH_LOOKS) {
        exec_shadow_look(warp, inst, mask);
        return EXEC_GO;
    }
    const int step = exec_unwritten_wanted(warp) && !is_written(warp, inst, mask) &&
                             exec_unwritten_watch(warp, inst, mask)
                         ? EXEC_RESCHEDULE
                         : EXEC_GO;
    if (line(warp, inst, mask)) return step;
    if (exec_watch_tells(warp->block) && !exec_async_any(warp->block) && settle(warp, inst, mask))
        return step;
    exec_shadow_racecheck(warp, inst, mask);
    return step;
}

/* Returns true when every lane's address is its own word of the warp's row, given that lane 0's
 * is. */
static __attribute__((noinline)) bool is_row(const struct exec_warp *warp,
                                             const struct exec_inst *inst)
{
    const u32 *narrow = exec_slot(warp, inst->a), bytes = warp->own.bytes;
    const u64 *wide = exec_slot(warp, inst->a);
    u32 off = 0;
    if (!(inst->cache & EXEC_ORDER_NARROW))
        return bytes == 4 ? exec_is_row(wide, 4) : exec_is_row(wide, 8);
    EXEC_FOR_LANES off |= narrow[l] ^ (narrow[0] + l * bytes);
    return !off;
}

/* Returns true when the access tells check/order.c nothing new: in its own row the warp loads, or
 * stores without having loaded there, or all lanes change their words again in the same moment. */
static inline bool is_known(const struct exec_warp *warp, const struct exec_inst *inst, u32 mask)
{
    const struct exec_own_row *row = &warp->own;
    const bool narrow = inst->cache & EXEC_ORDER_NARROW;
    const u64 window =
        inst->cache & (EXEC_ORDER_NARROW | EXEC_ORDER_SHARED) ? EXEC_WINDOW_SHARED : 0;
    const unsigned first = (unsigned)__builtin_ctz(mask);
    const u64 at = narrow ? ((const u32 *)exec_slot(warp, inst->a))[first] + (u32)inst->imm
                          : ((const u64 *)exec_slot(warp, inst->a))[first] + inst->imm;
    if (mask != row->mask || exec_order_access_of(inst) == EXEC_ATOMIC ||
        (inst->cache & (EXEC_ORDER_BYTES | EXEC_ORDER_RELEASES)) != row->bytes ||
        window + at != row->address)
        return false;
    if (!(inst->cache & EXEC_ORDER_MODIFIES)) return true; /* checking the first lane is enough */
    return row->changers == EXEC_ALL && row->changed == exec_block_shadow_moment(warp->block) &&
           is_row(warp, inst);
}

static int op_order(struct exec_warp *warp, const struct exec_inst *inst)
{
    const u32 mask = exec_racecheck_lanes(warp, inst);
    warp->instructions--;
    if (mask != 0 && warp->block->cluster != NULL)
        exec_cluster_order_access(warp, exec_order_access_of(inst),
                                  inst->cache & EXEC_ORDER_RELEASES);
    if (mask != 0 && !is_known(warp, inst, mask)) exec_order_access(warp, inst, mask);
    return EXEC_GO;
}

const struct exec_row EXEC_TABLE(exec_racecheck_rows)[] = {
    {"watch", op_watch, ""}, {"order", op_order, ""}, {NULL, NULL, NULL}};
