#include "emulator/exec/check/shadow.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/exec/check/async.h"
#include "emulator/exec/check/block_shadow.h"
#include "emulator/exec/check/causality.h"
#include "emulator/exec/check/cluster.h"
#include "emulator/exec/check/order.h"
#include "emulator/exec/check/shadow_line.h"
#include "emulator/exec/check/unread.h"

enum { LAST_TIME = EXEC_UNREAD_TIME - 1 };

enum { SHADOWS_MOST = 2 + EXEC_CLUSTER_MOST }; /* of one block */

/* ---- time ------------------------------------------------------------------------------------ */

static uint32_t warp_of(int32_t cell)
{
    return (uint32_t)(cell & EXEC_SHADOW_THREAD) / EXEC_LANES;
}

static size_t cell_count(const struct exec_shadow *shadow)
{
    return ((size_t)shadow->bytes >> shadow->shift) + 1;
}

static void cells_free(struct exec_shadow *shadow)
{
    free(shadow->cells[0]);
    for (int k = 0; k < EXEC_KEPT_COUNT; k++) {
        shadow->cells[k] = NULL;
        shadow->sites[k] = NULL;
    }
}

/* One allocation, large enough to come as zero pages, most of which are never touched. */
static bool cells_make(struct exec_shadow *shadow)
{
    const size_t count = cell_count(shadow);
    int32_t *all = calloc(2 * EXEC_KEPT_COUNT * count, sizeof *all);
    if (all == NULL) return false;
    for (int k = 0; k < EXEC_KEPT_COUNT; k++, all += 2 * count) {
        shadow->cells[k] = all;
        shadow->sites[k] = (uint32_t *)all + count;
    }
    return true;
}

struct exec_shadow *exec_shadow_create(uint32_t bytes)
{
    struct exec_shadow *shadow = calloc(1, sizeof *shadow);
    if (shadow == NULL) return NULL;
    shadow->bytes = bytes;
    shadow->shift = 2;
    shadow->time = 1;
    shadow->floor = 1 << EXEC_SHADOW_TIME;
    return shadow;
}

void exec_shadow_destroy(struct exec_shadow *shadow)
{
    if (shadow == NULL) return;
    cells_free(shadow);
    free(shadow->unread);
    free(shadow->lines);
    free(shadow->seen);
    free(shadow);
}

/* Collects the block's shadows, which have the same moments: of its own and others' shared memory,
 * and of global memory. */
static uint32_t shadows_of(const struct exec_block *block,
                           struct exec_shadow *shadows[SHADOWS_MOST])
{
    uint32_t count = 0;
    if (block->shadow != NULL) shadows[count++] = block->shadow;
    if (block->near != NULL) shadows[count++] = block->near->shadow;
    for (uint32_t k = 0; block->visits && k < EXEC_CLUSTER_MOST; k++)
        if (block->away[k] != NULL) shadows[count++] = block->away[k];
    return count;
}

/* Begins the next moment. When moments run out, all touches are forgotten. */
static int32_t tick(const struct exec_block *block, struct exec_shadow *const *shadows,
                    uint32_t count)
{
    const bool anew = shadows[0]->time == LAST_TIME;
    const int32_t time = anew ? 1 : shadows[0]->time + 1;
    if (anew) exec_order_forget(block);
    for (uint32_t i = 0; i < count; i++) {
        struct exec_shadow *shadow = shadows[i];
        shadow->time = time;
        if (!anew) continue;
        for (int k = 0; k < EXEC_KEPT_COUNT && shadow->cells[k] != NULL; k++)
            memset(shadow->cells[k], 0, cell_count(shadow) * sizeof *shadow->cells[k]);
        memset(shadow->warp_floor, 0, sizeof shadow->warp_floor);
        memset(shadow->passed_on, 0, sizeof shadow->passed_on);
        shadow->untold = shadow->untold_end = 0;
        shadow->floor = 1 << EXEC_SHADOW_TIME;
        exec_shadow_line_forget(shadow);
    }
    if (anew && block->near != NULL) exec_block_shadow_forget(block->near);
    return time << EXEC_SHADOW_TIME;
}

static __attribute__((noinline)) void order_block(const struct exec_block *block)
{
    struct exec_shadow *shadows[SHADOWS_MOST];
    const uint32_t count = shadows_of(block, shadows);
    bool any = false;
    for (uint32_t i = 0; i < count; i++)
        any |= shadows[i]->touched || shadows[i]->touched_before ||
               shadows[i]->floor != shadows[i]->time << EXEC_SHADOW_TIME;
    if (!any) return;
    const int32_t now = tick(block, shadows, count);
    for (uint32_t i = 0; i < count; i++) {
        shadows[i]->touched = shadows[i]->touched_before = 0;
        shadows[i]->floor = now;
    }
}

void exec_shadow_order(const struct exec_block *block)
{
    exec_causality_meet_block(block);
    exec_order_forget(block);
    if (block->shadow != NULL || block->near != NULL || block->visits) order_block(block);
}

void exec_shadow_order_without(const struct exec_block *block, const uint32_t *absent)
{
    struct exec_shadow *shadow = block->shadow;
    const int32_t before = shadow != NULL ? shadow->floor : 0;

    if (shadow != NULL) exec_shadow_part(shadow);
    exec_shadow_order(block);
    if (shadow == NULL || shadow->cells[EXEC_KEPT_WRITE] == NULL) return;
    int32_t *cells = shadow->cells[EXEC_KEPT_WRITE];
    for (size_t k = 0; k < cell_count(shadow); k++) {
        const int32_t thread = cells[k] & EXEC_SHADOW_THREAD;
        if (cells[k] < before || !(absent[thread / EXEC_LANES] >> thread % EXEC_LANES & 1))
            continue;
        cells[k] = shadow->floor | (cells[k] & (EXEC_SHADOW_THREAD | EXEC_SHADOW_MANY));
    }
}

/* Moves touches since the moment `before` of which no one was told to the present one. Returns the
 * warps that made them, as bits. */
static uint32_t keep_untold(struct exec_shadow *shadow, enum exec_kept kept, int32_t before)
{
    int32_t *cells = shadow->cells[kept];
    const size_t count = cell_count(shadow);
    uint32_t warps = 0;
    for (size_t k = 0; k < count; k++) {
        const uint32_t warp = warp_of(cells[k]);
        if (cells[k] < before || cells[k] < shadow->passed_on[warp] || exec_unread_is(cells[k]))
            continue;
        cells[k] = shadow->floor | (cells[k] & (EXEC_SHADOW_THREAD | EXEC_SHADOW_MANY));
        warps |= 1u << warp;
    }
    return warps;
}

/* To lanes of the same warp the phase counts as an order. */
void exec_shadow_order_phase(const struct exec_block *block)
{
    struct exec_shadow *shadow = block->shadow;
    const int32_t before = shadow != NULL ? shadow->floor : 0;
    uint32_t warps = 0;

    if (shadow != NULL && block->cluster == NULL) exec_shadow_part(shadow);
    exec_shadow_order(block);
    if (shadow == NULL || block->cluster != NULL || shadow->cells[EXEC_KEPT_WRITE] == NULL) return;
    for (enum exec_kept kept = EXEC_KEPT_WRITE; kept <= EXEC_KEPT_READ_OTHER; kept++)
        warps |= keep_untold(shadow, kept, before);
    if (!warps) return;
    shadow->touched |= warps;
    exec_shadow_next_moment(block);
    shadow->untold = shadow->floor;
    shadow->untold_end = shadow->time << EXEC_SHADOW_TIME;
    for (; warps; warps &= warps - 1)
        shadow->warp_floor[__builtin_ctz(warps)] = shadow->time << EXEC_SHADOW_TIME;
}

void exec_shadow_pass_on(const struct exec_warp *warp)
{
    struct exec_shadow *shadow = warp->block->shadow;
    if (shadow == NULL || warp->block->cluster != NULL) return;
    shadow->touched |= 1u << warp->index;
    exec_shadow_next_moment(warp->block);
    shadow->passed_on[warp->index] = shadow->time << EXEC_SHADOW_TIME;
}

static __attribute__((noinline)) void order_warp(const struct exec_warp *warp, uint32_t bit)
{
    struct exec_shadow *shadows[SHADOWS_MOST];
    const uint32_t count = shadows_of(warp->block, shadows);
    bool any = false;
    for (uint32_t i = 0; i < count; i++) any |= exec_shadow_is_touched(shadows[i], bit);
    if (!any) return;
    const int32_t now = tick(warp->block, shadows, count);
    for (uint32_t i = 0; i < count; i++) {
        shadows[i]->touched &= ~bit;
        shadows[i]->touched_before &= ~bit;
        shadows[i]->warp_floor[warp->index] = now;
    }
}

void exec_shadow_order_warp(const struct exec_warp *warp)
{
    if (exec_block_shadow_warp_touched(warp)) order_warp(warp, 1u << warp->index);
    if (warp->block->order != NULL) exec_order_join_warp(warp);
}

void exec_shadow_order_lanes(const struct exec_warp *warp, uint32_t lanes)
{
    if (!(warp->live & ~lanes))
        exec_shadow_order_warp(warp);
    else if ((lanes & (lanes - 1)) != 0 &&
             (warp->block->order != NULL || exec_block_shadow_warp_touched(warp)))
        exec_order_join_lanes(warp, lanes);
}

void exec_shadow_next_moment(const struct exec_block *block)
{
    struct exec_shadow *shadows[SHADOWS_MOST];
    const uint32_t count = shadows_of(block, shadows);
    uint32_t touched = 0;
    for (uint32_t i = 0; i < count; i++) {
        touched |= shadows[i]->touched;
        shadows[i]->touched_before |= shadows[i]->touched;
        shadows[i]->touched = 0;
    }
    if (touched) tick(block, shadows, count);
}

void exec_shadow_touched(const struct exec_warp *warp)
{
    struct exec_shadow *shadows[SHADOWS_MOST];
    if (warp->block->shadow == NULL) exec_block_shadow_of(warp);
    if (shadows_of(warp->block, shadows)) shadows[0]->touched |= 1u << warp->index;
}

void exec_shadow_converses(const struct exec_block *block, bool converses)
{
    struct exec_shadow *shadows[SHADOWS_MOST];
    for (uint32_t i = shadows_of(block, shadows); i-- > 0;) {
        if (converses) exec_shadow_part(shadows[i]);
        shadows[i]->converses = converses;
    }
}

/* Makes cells for smaller units: each part gets what was known of the whole. */
static bool refine(struct exec_shadow *shadow, unsigned shift)
{
    exec_shadow_line_drop(shadow);
    struct exec_shadow finer = *shadow;
    finer.shift = shift;
    memset(finer.cells, 0, sizeof finer.cells);
    memset(finer.sites, 0, sizeof finer.sites);
    finer.seen = NULL;
    const bool made = cells_make(&finer);
    const size_t parts = (size_t)1 << (shadow->shift - shift);
    for (int k = 0; k < EXEC_KEPT_COUNT && made; k++)
        for (size_t i = 0; shadow->cells[k] != NULL && i < cell_count(&finer); i++) {
            if (!shadow->cells[k][i / parts]) continue;
            finer.cells[k][i] = shadow->cells[k][i / parts];
            finer.sites[k][i] = shadow->sites[k][i / parts];
        }
    cells_free(made ? shadow : &finer);
    if (made) free(shadow->seen);
    if (made) *shadow = finer;
    return made;
}

/* ---- one cell -------------------------------------------------------------------------------- */

static inline bool is_known(const struct exec_touch *touch, int32_t cell)
{
    return touch->shadow->converses &&
           exec_order_knows(touch->warp->block->order, touch->thread, cell);
}

static inline bool unordered(const struct exec_touch *touch, int32_t cell)
{
    const struct exec_shadow *shadow = touch->shadow;
    if (cell < shadow->floor) return false;
    const uint32_t warp = touch->thread / EXEC_LANES;
    if (warp_of(cell) == warp &&
        (cell < shadow->warp_floor[warp] ||
         ((uint32_t)(cell & EXEC_SHADOW_THREAD) == touch->thread && !(cell & EXEC_SHADOW_MANY))))
        return false;
    return !is_known(touch, cell);
}

static bool is_untold(const struct exec_shadow *shadow, int32_t cell)
{
    return cell >= shadow->untold && cell < shadow->untold_end;
}

static struct exec_racecheck_side side_of(const struct exec_warp *warp,
                                          const struct exec_reported *by)
{
    const struct exec_worker *worker = warp->worker;
    const struct exec_block *block = warp->block;
    const struct exec_position *position = &worker->function->program->positions[by->site];
    const uint32_t *size = worker->launch->block;
    return (struct exec_racecheck_side){
        .access = by->access,
        .file = position->file,
        .line = position->line,
        .known = by->known,
        .block = {block->position[0], block->position[1], block->position[2]},
        .thread = {by->thread % size[0], by->thread / size[0] % size[1],
                   by->thread / size[0] / size[1]},
    };
}

static struct exec_racecheck_found found_of(const struct exec_warp *warp, enum exec_wrong wrong,
                                            const struct exec_reported *first,
                                            const struct exec_reported *second)
{
    const struct exec_launch *launch = warp->worker->launch;
    const struct exec_order *order = warp->block->order;
    return (struct exec_racecheck_found){
        .wrong = wrong,
        .first = side_of(warp, first),
        .second = side_of(warp, second),
        .block_size = {launch->block[0], launch->block[1], launch->block[2]},
        .block_index = warp->block->index,
        .met = exec_order_met(order, first->thread, second->thread),
        .count = 1,
    };
}

void exec_report(const struct exec_warp *warp, enum exec_wrong wrong,
                 const struct exec_reported *first, const struct exec_reported *second,
                 const struct memory_region *region, uint64_t offset, uint32_t bytes)
{
    struct exec_racecheck_found found = found_of(warp, wrong, first, second);
    found.region = region;
    found.offset = offset;
    found.bytes = bytes;
    exec_racecheck_add(warp->worker->launch->watch, &found);
}

/* Describes the race of the touch with that of the cell. Returns false if it is not reported here.
 */
static bool describe(const struct exec_touch *touch, size_t index, enum exec_kept kept,
                     struct exec_racecheck_found *found)
{
    static const enum exec_access accesses[EXEC_KEPT_COUNT] = {EXEC_STORE, EXEC_LOAD, EXEC_LOAD,
                                                               EXEC_ATOMIC, EXEC_ATOMIC};
    const struct exec_region_cache *cache = touch->cache;
    const uint64_t at = (uint64_t)index << touch->shadow->shift;
    /* Of several lanes the cell keeps the last one. If that is this thread, the other lane is not
     * known. */
    const int32_t cell = touch->shadow->cells[kept][index];
    const uint32_t other = (uint32_t)cell & EXEC_SHADOW_THREAD;
    const struct exec_reported first = {other, touch->shadow->sites[kept][index], accesses[kept],
                                        other != touch->thread};
    const struct exec_reported second = {touch->thread, touch->inst->position, touch->access, true};
    if (touch->home != NULL && touch->home != touch->warp->block) {
        exec_cluster_order_report(touch, &first, touch->warp->block, at);
        return false;
    }
    /* In programs with locks, a race means that the lock fails, not that an update is lost. */
    const bool lost = touch->counts && first.site == second.site &&
                      (kept == EXEC_KEPT_WRITE || touch->together) &&
                      !touch->warp->worker->function->program->converses;
    const enum exec_wrong wrong = cache != NULL ? EXEC_WRONG_GLOBAL : EXEC_WRONG_SHARED;
    *found = found_of(touch->warp, lost ? EXEC_WRONG_LOST : wrong, &first, &second);
    found->apart = exec_order_apart(touch->warp->block->order, touch->thread, cell);
    found->untold = wrong == EXEC_WRONG_SHARED && !lost && is_untold(touch->shadow, cell);
    found->bytes = touch->bytes;
    found->offset = at;
    if (cache != NULL) {
        found->region = cache->region;
        found->offset = exec_block_shadow_address(touch->warp->block->near, at) - cache->low;
    }
    return true;
}

static __attribute__((noinline)) void report(const struct exec_touch *touch, size_t index,
                                             enum exec_kept kept)
{
    struct exec_racecheck_found found;
    if (describe(touch, index, kept, &found))
        exec_racecheck_add(touch->warp->worker->launch->watch, &found);
}

/* Of stores that nobody had read the touch reads what they left: they are a race. */
static __attribute__((noinline)) void read_unread(const struct exec_touch *touch, size_t index)
{
    struct exec_unread *unread = exec_unread_at(touch->shadow, index, false);
    if (unread != NULL) exec_racecheck_add(touch->warp->worker->launch->watch, &unread->found);
    exec_unread_settle(touch->shadow, index, unread);
}

/* Returns whether the touch reads what a lane of its warp has stored together with others that
 * stored the same: it is most likely one of them. */
static bool is_alike(const struct exec_touch *touch, int32_t store)
{
    return touch->access == EXEC_LOAD && (store & EXEC_SHADOW_MANY) && !exec_unread_is(store) &&
           warp_of(store) == touch->thread / EXEC_LANES;
}

static inline bool check(const struct exec_touch *touch, size_t index, enum exec_kept kept)
{
    const int32_t *cell = &touch->shadow->cells[kept][index];
    if (!unordered(touch, *cell)) return true;
    if (kept == EXEC_KEPT_WRITE && is_alike(touch, *cell)) return true;
    if (kept == EXEC_KEPT_WRITE && exec_unread_is(*cell)) {
        read_unread(touch, index);
        if (!unordered(touch, *cell)) return true;
    }
    report(touch, index, kept);
    return false;
}

/* How a store meets the one before. */
enum meeting { MEETING_ORDERED, MEETING_REPORTED, MEETING_UNREAD };

/* ... which is unordered, or unread. */
static __attribute__((noinline)) enum meeting meet(const struct exec_touch *touch, size_t index)
{
    struct exec_shadow *shadow = touch->shadow;
    const int32_t before = shadow->cells[EXEC_KEPT_WRITE][index];
    const bool in_warp = warp_of(before) == touch->thread / EXEC_LANES;
    struct exec_unread *unread = NULL;
    if (exec_unread_is(before)) {
        unread = exec_unread_at(shadow, index, false);
        if (unread == NULL || !unordered(touch, unread->cell)) {
            exec_unread_settle(shadow, index, unread);
            return MEETING_ORDERED;
        }
        if (in_warp) return MEETING_UNREAD;
        exec_unread_settle(shadow, index, unread);
    } else if (in_warp && touch->cache == NULL && touch->home == NULL && !touch->counts) {
        unread = exec_unread_at(shadow, index, true);
        if (unread != NULL) {
            unread->used = describe(touch, index, EXEC_KEPT_WRITE, &unread->found);
            return unread->used ? MEETING_UNREAD : MEETING_REPORTED;
        }
    }
    report(touch, index, EXEC_KEPT_WRITE);
    return MEETING_REPORTED;
}

/* Makes the touch the latest of its kind in the cell. */
static inline void keep(const struct exec_touch *touch, size_t index, enum exec_kept last,
                        enum exec_kept other)
{
    struct exec_shadow *shadow = touch->shadow;
    const int32_t before = shadow->cells[last][index];
    const uint32_t warp = touch->thread / EXEC_LANES;
    int32_t now = touch->now;
    if (before >= shadow->floor && !is_known(touch, before)) {
        if (warp_of(before) != warp) {
            shadow->cells[other][index] = before;
            shadow->sites[other][index] = shadow->sites[last][index];
        } else if (before >= shadow->warp_floor[warp]) {
            const bool self = (uint32_t)(before & EXEC_SHADOW_THREAD) == touch->thread;
            now |= self ? before & EXEC_SHADOW_MANY : EXEC_SHADOW_MANY;
        }
    }
    shadow->cells[last][index] = now;
    shadow->sites[last][index] = touch->inst->position;
}

/* Returns true when a failed swap or a look of the touch's warp has read what is there. A load by
 * the same thread then reads that, or what came later, whatever orders the two: of one location no
 * thread reads older values than it has read. (PTX ISA 9.0, 8.10: "Coherence".) Sets whose keys are
 * put in by a swap, once, are read so. Kept by warp: a load of another lane is missed. */
static inline bool has_seen(const struct exec_touch *touch, size_t index)
{
    return touch->shadow->seen != NULL &&
           touch->shadow->seen[index] >> touch->thread / EXEC_LANES & 1;
}

/* Records that the warp has read what is in the cell. */
static void see(struct exec_shadow *shadow, size_t index, uint32_t warp)
{
    if (shadow->seen == NULL) shadow->seen = calloc(cell_count(shadow), sizeof *shadow->seen);
    if (shadow->seen != NULL) shadow->seen[index] |= 1u << warp;
}

static inline void load_cell(const struct exec_touch *touch, size_t index)
{
    const struct exec_shadow *shadow = touch->shadow;
    if (!check(touch, index, EXEC_KEPT_WRITE)) return;
    if (shadow->atomics && !shadow->atomics_alone && !has_seen(touch, index) &&
        (!check(touch, index, EXEC_KEPT_ATOM) || !check(touch, index, EXEC_KEPT_ATOM_OTHER)))
        return;
    /* With two readers of different warps no later write goes unnoticed, unless it is ordered after
     * them. */
    if (shadow->cells[EXEC_KEPT_READ_OTHER][index] < shadow->floor || shadow->converses)
        keep(touch, index, EXEC_KEPT_READ, EXEC_KEPT_READ_OTHER);
}

/* Returns EXEC_SHADOW_MANY if the lane stores the same to shared memory as the lane of the cell,
 * which the same instruction has just dealt with. */
static int32_t alike(const struct exec_touch *touch, int32_t cell)
{
    enum { ONE = 1 << EXEC_WATCH_COUNT_SHIFT, COUNT = 0xf << EXEC_WATCH_COUNT_SHIFT };
    const struct exec_inst *inst = touch->inst;
    const uint32_t lane = touch->thread % EXEC_LANES, other = (uint32_t)cell % EXEC_LANES;
    if (touch->cache != NULL || !(inst->cache & EXEC_WATCH_VALUES) ||
        (inst->cache & COUNT) != ONE || lane == other)
        return 0;
    return memcmp(exec_stored(touch->warp, inst, lane, 0, touch->bytes),
                  exec_stored(touch->warp, inst, other, 0, touch->bytes), touch->bytes) == 0
               ? EXEC_SHADOW_MANY
               : 0;
}

static inline void store_cell(const struct exec_touch *touch, size_t index)
{
    struct exec_shadow *shadow = touch->shadow;
    const int32_t before = shadow->cells[EXEC_KEPT_WRITE][index];
    const bool same_instruction = !touch->counts && warp_of(before) == touch->thread / EXEC_LANES &&
                                  shadow->sites[EXEC_KEPT_WRITE][index] == touch->inst->position;
    const enum meeting met =
        (same_instruction && !exec_unread_is(before)) || !unordered(touch, before)
            ? MEETING_ORDERED
            : meet(touch, index);
    if (met != MEETING_REPORTED && check(touch, index, EXEC_KEPT_READ) &&
        check(touch, index, EXEC_KEPT_READ_OTHER) && shadow->atomics &&
        check(touch, index, EXEC_KEPT_ATOM))
        check(touch, index, EXEC_KEPT_ATOM_OTHER);
    if (met == MEETING_UNREAD)
        exec_unread_keep(shadow, index, exec_unread_at(shadow, index, false), touch->now);
    else
        shadow->cells[EXEC_KEPT_WRITE][index] =
            touch->now | (same_instruction ? alike(touch, before) : 0);
    shadow->sites[EXEC_KEPT_WRITE][index] = touch->inst->position;
}

static inline void atomic_cell(const struct exec_touch *touch, size_t index)
{
    struct exec_shadow *shadow = touch->shadow;
    shadow->atomics = true;
    if (shadow->seen != NULL) shadow->seen[index] = 0;
    if (check(touch, index, EXEC_KEPT_WRITE) && !shadow->atomics_alone &&
        check(touch, index, EXEC_KEPT_READ))
        check(touch, index, EXEC_KEPT_READ_OTHER);
    keep(touch, index, EXEC_KEPT_ATOM, EXEC_KEPT_ATOM_OTHER);
}

static inline void touch_cells(const struct exec_touch *touch, uint64_t offset, uint64_t bytes)
{
    const unsigned shift = touch->shadow->shift;
    const size_t end = (size_t)((offset + bytes - 1) >> shift);
    if (touch->home != NULL && (touch->shadow->visited || touch->home != touch->warp->block))
        exec_cluster_order_touch(touch, offset, bytes);
    for (size_t index = (size_t)(offset >> shift); index <= end; index++) {
        if (touch->access == EXEC_LOAD)
            load_cell(touch, index);
        else if (touch->access == EXEC_STORE)
            store_cell(touch, index);
        else
            atomic_cell(touch, index);
    }
}

void exec_touch_cells(const struct exec_touch *touch, uint64_t offset, uint64_t bytes)
{
    touch_cells(touch, offset, bytes);
}

void exec_touch_same(const struct exec_touch *touch, uint64_t offset, uint64_t bytes)
{
    struct exec_shadow *shadow = touch->shadow;
    const size_t end = (size_t)((offset + bytes - 1) >> shadow->shift);
    for (size_t index = (size_t)(offset >> shadow->shift); index <= end; index++)
        if (unordered(touch, shadow->cells[EXEC_KEPT_WRITE][index]))
            shadow->cells[EXEC_KEPT_WRITE][index] = 0;
}

void exec_touch_begin(struct exec_touch *touch, const struct exec_warp *warp,
                      const struct exec_inst *inst, struct exec_shadow *shadow,
                      const struct exec_region_cache *cache, enum exec_access access,
                      uint32_t bytes)
{
    const bool is_in_cluster = warp->block->cluster != NULL && warp->block->cluster->order != NULL;
    *touch = (struct exec_touch){.warp = warp,
                                 .inst = inst,
                                 .shadow = shadow,
                                 .cache = cache,
                                 .home = is_in_cluster && cache == NULL ? warp->block : NULL,
                                 .bytes = bytes,
                                 .access = access};
    shadow->touched |= 1u << warp->index;
}

void exec_touch_by(struct exec_touch *touch, unsigned lane)
{
    touch->thread = touch->warp->index * EXEC_LANES + lane;
    touch->now = (touch->shadow->time << EXEC_SHADOW_TIME) | (int32_t)touch->thread;
}

void exec_shadow_overwrite(const struct exec_warp *warp, const struct exec_inst *inst,
                           unsigned lane, uint64_t offset, uint64_t bytes)
{
    struct exec_shadow *shadow = warp->block->shadow;
    struct exec_touch touch;
    exec_touch_begin(&touch, warp, inst, shadow, NULL, EXEC_STORE, (uint32_t)bytes);
    exec_touch_by(&touch, lane);
    const size_t end = (size_t)((offset + bytes - 1) >> shadow->shift);
    for (size_t index = (size_t)(offset >> shadow->shift); index <= end; index++)
        for (enum exec_kept kept = EXEC_KEPT_READ; kept <= EXEC_KEPT_READ_OTHER; kept++)
            if (warp_of(shadow->cells[kept][index]) != warp->index && !check(&touch, index, kept))
                return;
}

void exec_shadow_stored(struct exec_shadow *shadow, uint32_t thread, uint64_t offset,
                        uint64_t bytes, uint32_t site)
{
    const size_t end = (size_t)((offset + bytes - 1) >> shadow->shift);
    exec_shadow_part(shadow);
    for (size_t index = (size_t)(offset >> shadow->shift); index <= end; index++) {
        shadow->cells[EXEC_KEPT_WRITE][index] =
            (shadow->time << EXEC_SHADOW_TIME) | (int32_t)thread;
        shadow->sites[EXEC_KEPT_WRITE][index] = site;
    }
    shadow->touched |= 1u << (thread / EXEC_LANES);
}

void exec_shadow_loaded(struct exec_shadow *shadow, uint32_t thread, uint64_t offset,
                        uint64_t bytes, uint32_t site)
{
    const size_t end = (size_t)((offset + bytes - 1) >> shadow->shift);
    const int32_t now = (shadow->time << EXEC_SHADOW_TIME) | (int32_t)thread;
    exec_shadow_part(shadow);
    for (size_t index = (size_t)(offset >> shadow->shift); index <= end; index++)
        exec_shadow_keep_load(shadow, index, now, site);
    shadow->touched |= 1u << (thread / EXEC_LANES);
}

bool exec_shadow_tells(struct exec_shadow *shadow, uint64_t unit)
{
    const unsigned shift = unit >= 4 ? 2 : unit == 2 ? 1 : 0;
    if (shift >= shadow->shift) return shadow->cells[0] != NULL || cells_make(shadow);
    return refine(shadow, shift);
}

/* Begins a touch of the shared memory of `home`, which has not ended. NULL: nothing is recorded
 * there. */
static struct exec_shadow *begin_at(struct exec_touch *touch, const struct exec_warp *warp,
                                    const struct exec_inst *inst, struct exec_block *home,
                                    uint64_t unit, enum exec_access access, uint32_t bytes)
{
    struct exec_block *block = warp->block;
    struct exec_shadow *shadow =
        home == block ? block->shadow : exec_cluster_order_shadow(block, home);
    if (shadow == NULL) return NULL;
    exec_shadow_part(shadow);
    if (!exec_shadow_tells(shadow, unit)) return NULL;
    exec_touch_begin(touch, warp, inst, shadow, NULL, access, bytes);
    if (touch->home != NULL) touch->home = home;
    return shadow;
}

void exec_shadow_touch(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                       uint64_t offset, uint64_t bytes, enum exec_access access)
{
    struct exec_touch touch;
    struct exec_block *home = exec_cluster_home(warp->block, offset);
    const uint64_t at = offset & ~EXEC_RANK_MASK;
    if (warp->block->shadow == NULL || home == NULL || home->ended ||
        at + bytes > warp->block->shadow->bytes || bytes == 0)
        return;
    if (home == warp->block && exec_async_any(warp->block))
        exec_async_touch(warp, inst, lane, at, bytes, access);
    if (begin_at(&touch, warp, inst, home, (at | bytes) & 3 ? 1 : 4, access, (uint32_t)bytes) ==
        NULL)
        return;
    exec_touch_by(&touch, lane);
    touch_cells(&touch, at, bytes);
}

/* ---- a warp's access ------------------------------------------------------------------------- */

struct access {
    uint32_t element, count;
    enum exec_access access;
    bool values;
    uint32_t mask; /* lanes that access shared memory */
    uint32_t away; /* of these, lanes that access another block's */
    uint32_t offset[EXEC_LANES];
    struct exec_block *home[EXEC_LANES]; /* of lanes in `away` */
};

/* Finds where the lanes' addresses point to. Returns false if one of them is in no block's memory;
 * the access itself reports this. */
static bool find_offsets(const struct exec_warp *warp, const struct exec_inst *inst, uint32_t mask,
                         struct access *access)
{
    const uint64_t *wide = exec_slot(warp, inst->a);
    const uint32_t *narrow = exec_slot(warp, inst->a);
    const uint32_t bytes = access->element * access->count;
    const uint32_t size = warp->worker->shared_bytes;
    access->mask = access->away = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        uint64_t at = inst->cache & EXEC_WATCH_WIDE ? wide[l] + inst->imm
                                                    : (uint32_t)(narrow[l] + (uint32_t)inst->imm);
        if (inst->cache & EXEC_WATCH_GENERIC) {
            if ((at & EXEC_WINDOW_MASK) != EXEC_WINDOW_SHARED) continue;
            at &= ~EXEC_WINDOW_MASK;
            if (at >> EXEC_RANK_SHIFT) {
                access->home[l] = exec_cluster_home(warp->block, at);
                if (access->home[l] == NULL || access->home[l]->ended) return false;
                access->away |= (uint32_t)(access->home[l] != warp->block) << l;
                at &= ~EXEC_RANK_MASK;
            }
        }
        if (at > size || size - at < bytes || at & (bytes - 1)) return false;
        access->offset[l] = (uint32_t)at;
        access->mask |= 1u << l;
    }
    return access->mask != 0;
}

/* Fills `access`, whose large arrays hold what find_offsets finds; returns what it returns. */
static bool find_access(const struct exec_warp *warp, const struct exec_inst *inst, uint32_t mask,
                        struct access *access)
{
    access->element = inst->cache & 0xff;
    access->count = inst->cache >> EXEC_WATCH_COUNT_SHIFT & 0xf;
    access->access = (enum exec_access)(inst->cache >> EXEC_WATCH_ACCESS_SHIFT & 3);
    access->values = inst->cache & EXEC_WATCH_VALUES;
    return find_offsets(warp, inst, mask, access);
}

/* Of adjacent lanes that read the same place, the first and the last stand for all. */
static void load_lanes(struct exec_touch *touch, const struct access *access)
{
    const uint32_t bytes = access->element * access->count;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        const uint32_t later = rest & (rest - 1);
        exec_touch_by(touch, l);
        touch_cells(touch, access->offset[l], bytes);
        if (!later || access->offset[__builtin_ctz(later)] != access->offset[l]) continue;
        while ((rest & (rest - 1)) &&
               access->offset[__builtin_ctz(rest & (rest - 1))] == access->offset[l])
            rest &= rest - 1;
        exec_touch_by(touch, (unsigned)__builtin_ctz(rest));
        touch_cells(touch, access->offset[l], bytes);
    }
}

/* Returns the lanes that access the same place in shared memory as another lane. */
static uint32_t lanes_together(const struct access *access)
{
    struct exec_places places = {{0}};
    uint32_t together = 0;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        const unsigned before = exec_places_visit(&places, access->offset[l] / access->element, l);
        if (before != 0 && access->offset[before - 1] == access->offset[l])
            together |= 1u << l | 1u << (before - 1);
    }
    return together;
}

/* A store that does not change memory is not recorded as a store. */
static void store_lanes(struct exec_touch *touch, const struct access *access)
{
    const struct exec_warp *warp = touch->warp;
    const unsigned char *memory = touch->home != NULL ? touch->home->shared : warp->block->shared;
    const uint32_t together = touch->counts ? lanes_together(access) : 0;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        exec_touch_by(touch, l);
        touch->together = together >> l & 1;
        for (uint32_t k = 0; k < access->count; k++) {
            const uint32_t offset = access->offset[l] + k * access->element;
            const unsigned char *value = exec_stored(warp, touch->inst, l, k, access->element);
            if (access->values && !memcmp(memory + offset, value, access->element))
                exec_touch_same(touch, offset, access->element);
            else
                touch_cells(touch, offset, access->element);
        }
    }
}

/* Returns the lanes whose swap changes the block's own memory, where the lanes swap one after the
 * other. */
static uint32_t lanes_that_swap(const struct exec_touch *touch, const struct access *access)
{
    const struct exec_warp *warp = touch->warp;
    const uint32_t bytes = access->element;
    uint32_t swap = 0;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        const unsigned char *there = warp->block->shared + access->offset[l];
        const unsigned char *compared = exec_stored(warp, touch->inst, l, 0, bytes);
        const unsigned char *stored = exec_stored(warp, touch->inst, l, 1, bytes);
        for (uint32_t before = swap; before; before &= before - 1) {
            const unsigned k = (unsigned)__builtin_ctz(before);
            if (access->offset[k] == access->offset[l])
                there = exec_stored(warp, touch->inst, k, 1, bytes);
        }
        if (!memcmp(there, compared, bytes) && memcmp(there, stored, bytes)) swap |= 1u << l;
    }
    return swap;
}

/* A swap that leaves memory as it is only reads it. */
static void swap_lanes(struct exec_touch *touch, const struct access *access)
{
    struct exec_shadow *shadow = touch->shadow;
    const uint32_t swap = lanes_that_swap(touch, access);
    shadow->atomics = true;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        const size_t first = access->offset[l] >> shadow->shift;
        exec_touch_by(touch, l);
        if (swap >> l & 1) {
            touch_cells(touch, access->offset[l], touch->bytes);
            continue;
        }
        for (size_t k = first; k <= (access->offset[l] + touch->bytes - 1) >> shadow->shift; k++) {
            /* The latest swap that succeeded stays known. */
            if (check(touch, k, EXEC_KEPT_WRITE) &&
                shadow->cells[EXEC_KEPT_ATOM][k] < shadow->floor)
                keep(touch, k, EXEC_KEPT_ATOM, EXEC_KEPT_ATOM_OTHER);
            see(shadow, k, touch->warp->index);
        }
    }
}

/* Fast path of atomic_cell for an atomic after atomics only, one cell per lane, where nothing
 * converses and the block is in no cluster: histograms do little else. Other lanes take the slow
 * path. */
static void atomic_lanes(struct exec_touch *touch, const struct access *access)
{
    struct exec_shadow *shadow = touch->shadow;
    int32_t *last = shadow->cells[EXEC_KEPT_ATOM], *other = shadow->cells[EXEC_KEPT_ATOM_OTHER];
    uint32_t *sites = shadow->sites[EXEC_KEPT_ATOM];
    const int32_t *writes = shadow->cells[EXEC_KEPT_WRITE], *reads = shadow->cells[EXEC_KEPT_READ];
    const int32_t *other_reads = shadow->cells[EXEC_KEPT_READ_OTHER];
    const uint32_t warp = touch->warp->index, site = touch->inst->position;
    const int32_t floor = shadow->floor, warp_floor = shadow->warp_floor[warp];
    const unsigned shift = shadow->shift;
    const bool plain = !shadow->converses && shadow->seen == NULL && touch->home == NULL &&
                       touch->bytes == 1u << shift;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        const size_t index = access->offset[l] >> shift;
        exec_touch_by(touch, l);
        if (!plain || writes[index] >= floor || reads[index] >= floor ||
            other_reads[index] >= floor) {
            touch_cells(touch, access->offset[l], touch->bytes);
            continue;
        }
        const int32_t before = last[index];
        int32_t now = touch->now;
        if (before >= floor && other[index] >= floor) continue; /* as exec_shadow_atomics */
        if (before >= floor && warp_of(before) != warp) {
            other[index] = before;
            shadow->sites[EXEC_KEPT_ATOM_OTHER][index] = sites[index];
        } else if (before >= floor && before >= warp_floor) {
            const bool self = (before & EXEC_SHADOW_THREAD) == (now & EXEC_SHADOW_THREAD);
            now |= self ? before & EXEC_SHADOW_MANY : EXEC_SHADOW_MANY;
        }
        last[index] = now;
        sites[index] = site;
    }
    shadow->atomics = true;
}

/* async_lanes: accesses to what a copy may still be filling. begin_copies: copies that begin. */
static void async_lanes(const struct exec_warp *warp, const struct exec_inst *inst,
                        const struct access *access)
{
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        exec_async_touch(warp, inst, l, access->offset[l], access->element * access->count,
                         access->access);
    }
}

static void begin_copies(const struct exec_warp *warp, const struct exec_inst *inst,
                         const struct access *access)
{
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        exec_async_overwrite(warp, inst, l, access->offset[l], access->element);
        exec_async_begin(warp, inst, l, access->offset[l], access->element, EXEC_ASYNC_OWN);
    }
}

/* Of adjacent lanes that read the same place, the first and the last stand for all. */
void exec_shadow_readers(struct exec_warp *warp, const struct exec_inst *inst, const int32_t *index)
{
    struct exec_shadow *shadow = warp->block->shadow;
    struct exec_touch touch;
    uint32_t firsts = 1;
    for (unsigned l = 1; l < EXEC_LANES; l++) firsts |= (uint32_t)(index[l] != index[l - 1]) << l;
    exec_touch_begin(&touch, warp, inst, shadow, NULL, EXEC_LOAD, 4);
    for (uint32_t rest = firsts | firsts >> 1 | 1u << (EXEC_LANES - 1); rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        if (shadow->cells[EXEC_KEPT_READ_OTHER][index[l]] >= shadow->floor) continue;
        exec_touch_by(&touch, l);
        keep(&touch, (size_t)index[l], EXEC_KEPT_READ, EXEC_KEPT_READ_OTHER);
    }
}

/* Race-checks the lanes of access->mask, all of which access the shared memory of `home`. */
static void judge(struct exec_warp *warp, const struct exec_inst *inst, struct exec_block *home,
                  const struct access *access)
{
    struct exec_touch touch;
    if (begin_at(&touch, warp, inst, home, access->element, access->access,
                 access->element * access->count) == NULL)
        return;
    touch.counts = inst->cache & EXEC_WATCH_COUNTS;
    if (access->access == EXEC_STORE) {
        store_lanes(&touch, access);
    } else if (access->access == EXEC_LOAD) {
        load_lanes(&touch, access);
    } else if (inst->cache & EXEC_WATCH_SWAPS && touch.home == NULL) {
        swap_lanes(&touch, access);
    } else {
        atomic_lanes(&touch, access);
    }
}

void exec_shadow_look(const struct exec_warp *warp, const struct exec_inst *inst, uint32_t mask)
{
    struct exec_shadow *shadow = warp->block->shadow;
    struct access access;
    if (!shadow->atomics || !find_access(warp, inst, mask, &access)) return;
    const uint32_t bytes = access.element * access.count;
    for (uint32_t rest = access.mask & ~access.away; rest; rest &= rest - 1) {
        const uint32_t offset = access.offset[__builtin_ctz(rest)];
        for (size_t k = offset >> shadow->shift; k <= (offset + bytes - 1) >> shadow->shift; k++)
            if (shadow->cells[EXEC_KEPT_ATOM][k] >= shadow->floor) see(shadow, k, warp->index);
    }
}

void exec_shadow_racecheck(struct exec_warp *warp, const struct exec_inst *inst, uint32_t mask)
{
    struct access access;
    if (!find_access(warp, inst, mask, &access)) return;
    const uint32_t own = access.mask & ~access.away;
    for (uint32_t away = access.away; away;) {
        struct exec_block *home = access.home[__builtin_ctz(away)];
        access.mask = 0;
        for (uint32_t rest = away; rest; rest &= rest - 1)
            if (access.home[__builtin_ctz(rest)] == home) access.mask |= rest & -rest;
        judge(warp, inst, home, &access);
        away &= ~access.mask;
    }
    access.mask = own;
    if (!own) return;
    if (exec_async_any(warp->block) && !(inst->cache & EXEC_WATCH_COPY))
        async_lanes(warp, inst, &access);
    judge(warp, inst, warp->block, &access);
    if (inst->cache & EXEC_WATCH_COPY) begin_copies(warp, inst, &access);
}
