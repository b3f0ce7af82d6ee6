#include "emulator/exec/check/order.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/base/hash.h"
#include "emulator/exec/check/block_shadow.h"
#include "emulator/exec/check/cluster.h"

enum {
    UNIT_BITS = 2, /* bytes of a unit: 4 */
    WHOLE_UNIT = 0xf,
    ROOM_FIRST = 64,
    ROOM_MOST = 1 << 14,
    QUIET_MOST = 256, /* units recorded although no clock is passed on there */
};

/* A vector clock: per thread, its touches before that moment are known to be over. Immutable once
 * shared. */
struct clock {
    unsigned references;
    int32_t before[];
};

/* What is known of a unit of 4 bytes through which threads communicate. */
struct told {
    uint64_t unit;        /* address >> UNIT_BITS; 0: none */
    struct clock *passes; /* the clock passed on with the value; NULL: none */
    uint32_t writer;      /* thread + 1, of the last strong store; 0: none */
    uint32_t changer;     /* thread + 1, of the last EXEC_ORDER_MODIFIES ... */
    int32_t changed;      /* ... when it was ... */
    int32_t known_from; /* ... a thread whose clock has reached this for `changer` comes after it */
    uint32_t site;
    uint8_t part; /* bytes of the unit that it changed, as bits */
};

struct thread {
    struct clock *known, *pending; /* pending: read since the last fence */
    struct clock *released;        /* `known` at its last fence; made when first passed on */
    int32_t fenced;                /* moment of that fence; 0: there was none */
    int32_t warp_floor;            /* of its warp at that fence */
};

struct exec_order {
    uint32_t count;
    bool any;                     /* something is known since the last exec_order_forget */
    bool fenced;                  /* a thread has executed a fence; before, nothing is passed on */
    bool clocks;                  /* a thread has a clock */
    bool blind;                   /* no memory or room: every thread is taken to know everything */
    uint32_t apart;               /* bitmap: warps whose lanes know different things */
    uint32_t met[EXEC_MAX_WARPS]; /* per warp, bitmap: the warps whose values it has read */
    uint32_t kept;                /* bitmap: warps with a row in exec_warp.own */
    struct told *told;
    size_t told_count, room;
    uint64_t told_first, told_end; /* range of the units in `told` */
    struct thread threads[];
};

/* ---- clocks ---------------------------------------------------------------------------------- */

static void release(struct clock **clock)
{
    if (*clock != NULL && --(*clock)->references == 0) free(*clock);
    *clock = NULL;
}

static struct clock *share(struct clock *clock)
{
    if (clock != NULL) clock->references++;
    return clock;
}

/* Returns NULL without memory; nothing is found any more then. */
static struct clock *copy(struct exec_order *order, const struct clock *from)
{
    const size_t bytes = order->count * sizeof *from->before;
    struct clock *clock =
        from != NULL ? malloc(sizeof *clock + bytes) : calloc(1, sizeof *clock + bytes);
    if (clock == NULL) {
        order->blind = true;
        return NULL;
    }
    clock->references = 1;
    if (from != NULL) memcpy(clock->before, from->before, bytes);
    return clock;
}

/* Returns true when one of the clocks knows of one of a warp's lanes what the other does not. The
 * loops of this and the next function have no branches and a constant length, so that the compiler
 * makes vectors of them. */
static bool exceeds(const int32_t *one, const int32_t *other)
{
    int32_t more = 0;
    for (uint32_t k = 0; k < EXEC_LANES; k++) more |= one[k] > other[k];
    return more;
}

static void raise_to(int32_t *restrict into, const int32_t *restrict from)
{
    for (uint32_t k = 0; k < EXEC_LANES; k++) into[k] = from[k] > into[k] ? from[k] : into[k];
}

/* Adds to *into what `from` knows. A clock that nobody else has stays the same object; one that is
 * shared is replaced, by `from` itself where that knows all of it. */
static void join(struct exec_order *order, struct clock **into, struct clock *from)
{
    bool more = false, less = false;
    if (from == NULL || from == *into) return;
    if (*into == NULL) {
        *into = share(from);
        return;
    }
    for (uint32_t k = 0; k < order->count && !(more && less); k += EXEC_LANES) {
        more |= exceeds(&from->before[k], &(*into)->before[k]);
        less |= exceeds(&(*into)->before[k], &from->before[k]);
    }
    if (!more) return;
    if ((*into)->references > 1) {
        struct clock *own = less ? copy(order, *into) : share(from);
        if (own == NULL) return;
        release(into);
        *into = own;
        if (!less) return;
    }
    for (uint32_t k = 0; k < order->count; k += EXEC_LANES)
        raise_to(&(*into)->before[k], &from->before[k]);
}

/* ---- life ------------------------------------------------------------------------------------ */

static struct exec_order *order_of(const struct exec_warp *warp)
{
    struct exec_block *block = warp->block;
    if (block->order != NULL || warp->worker->launch->watch == NULL) return block->order;
    const uint32_t count = block->warp_count * EXEC_LANES;
    struct exec_order *order = calloc(1, sizeof *order + count * sizeof *order->threads);
    if (order == NULL) return NULL;
    order->count = count;
    order->room = ROOM_FIRST;
    order->told = calloc(order->room, sizeof *order->told);
    if (order->told == NULL) {
        free(order);
        return NULL;
    }
    block->order = order;
    return order;
}

static void release_clocks(struct exec_order *order)
{
    for (size_t k = 0; order->fenced && k < order->room; k++) release(&order->told[k].passes);
    for (uint32_t t = 0; order->clocks && t < order->count; t++) {
        release(&order->threads[t].known);
        release(&order->threads[t].pending);
        release(&order->threads[t].released);
        order->threads[t] = (struct thread){.known = NULL};
    }
}

static void forget(struct exec_order *order, const struct exec_block *block)
{
    release_clocks(order);
    if (order->told_count > 0) memset(order->told, 0, order->room * sizeof *order->told);
    order->told_count = 0;
    order->apart = 0;
    memset(order->met, 0, sizeof order->met);
    for (; order->kept; order->kept &= order->kept - 1)
        block->warps[__builtin_ctz(order->kept)].own.mask = 0;
    order->any = order->fenced = order->clocks = order->blind = false;
}

void exec_order_destroy(struct exec_order *order)
{
    if (order == NULL) return;
    release_clocks(order);
    free(order->told);
    free(order);
}

void exec_order_forget(const struct exec_block *block)
{
    if (block->order == NULL || !block->order->any) return;
    forget(block->order, block);
    exec_shadow_converses(block, false);
}

/* ---- units ----------------------------------------------------------------------------------- */

static struct told *slot_of(const struct exec_order *order, uint64_t unit)
{
    size_t k = (size_t)hash_spread(unit) & (order->room - 1);
    while (order->told[k].unit != 0 && order->told[k].unit != unit) k = (k + 1) & (order->room - 1);
    return &order->told[k];
}

static void grow(struct exec_order *order)
{
    struct told *before = order->told;
    const size_t room = order->room;
    struct told *larger = calloc(2 * room, sizeof *larger);
    if (larger == NULL) return;
    order->told = larger;
    order->room = 2 * room;
    for (size_t k = 0; k < room; k++)
        if (before[k].unit != 0) *slot_of(order, before[k].unit) = before[k];
    free(before);
}

/* Returns the state of a unit. NULL: nothing is known of it, and nothing will be recorded. */
static struct told *told_at(struct exec_order *order, uint64_t unit, bool make, bool quiet)
{
    if (order->told_count == 0 && !make) return NULL;
    struct told *told = slot_of(order, unit);
    if (told->unit != 0) return told;
    if (!make || (quiet && order->told_count >= QUIET_MOST)) return NULL;
    if (2 * order->told_count >= order->room) {
        if (order->room < ROOM_MOST) grow(order);
        if (2 * order->told_count >= order->room) return NULL;
        told = slot_of(order, unit);
    }
    told->unit = unit;
    if (order->told_count == 0 || unit < order->told_first) order->told_first = unit;
    if (order->told_count == 0 || unit >= order->told_end) order->told_end = unit + 1;
    order->told_count++;
    return told;
}

/* ---- rows of one warp ------------------------------------------------------------------------ */

/* Returns the bytes from the first lane of `mask` to `lane`, in a row with `bytes` bytes per
 * lane. */
static uint32_t distance_to(uint32_t mask, uint32_t lane, uint32_t bytes)
{
    return (lane - (uint32_t)__builtin_ctz(mask)) * bytes;
}

/* Returns the bytes that the row of `mask` spans, with gaps for lanes that are not in it. */
static uint32_t span_of(uint32_t mask, uint32_t bytes)
{
    return distance_to(mask, EXEC_LANES - (uint32_t)__builtin_clz(mask), bytes);
}

/* Moves what is known of the warp's row to `told`, as if each access had been recorded there. */
static void open_row(struct exec_order *order, struct exec_warp *warp)
{
    struct exec_own_row *row = &warp->own;
    for (uint32_t rest = row->all ? row->mask : row->mask & -row->mask; rest; rest &= rest - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(rest), thread = warp->index * EXEC_LANES + l;
        const uint64_t at = row->address + distance_to(row->mask, l, row->bytes);
        for (uint64_t unit = at >> UNIT_BITS; unit < (at + row->bytes) >> UNIT_BITS; unit++) {
            struct told *told = NULL;
            if (row->changers >> l & 1) told = told_at(order, unit, true, false);
            if (told != NULL) {
                told->changer = thread + 1;
                told->changed = row->changed;
                told->known_from = row->changed + 1;
                told->site = row->site;
                told->part = WHOLE_UNIT; /* rows are of words */
            }
            told = told_at(order, unit, true, true);
            if (told != NULL) told->writer = thread + 1;
        }
    }
    row->mask = 0;
    order->kept &= ~(1u << warp->index);
}

/* ---- what a thread knows --------------------------------------------------------------------- */

static int32_t warp_floor_of(const struct exec_block *block, uint32_t warp)
{
    const struct exec_shadow *shadow = exec_block_shadow_any(block);
    return shadow != NULL ? shadow->warp_floor[warp] : 0;
}

static void fence(const struct exec_warp *warp, struct exec_order *order, uint32_t thread)
{
    struct thread *of = &order->threads[thread];
    for (uint32_t kept = order->kept; kept; kept &= kept - 1)
        open_row(order, &warp->block->warps[__builtin_ctz(kept)]);
    order->fenced = order->clocks = true;
    of->fenced = exec_block_shadow_moment(warp->block);
    of->warp_floor = warp_floor_of(warp->block, warp->index);
    release(&of->released);
    if (of->pending == NULL) return;
    join(order, &of->known, of->pending);
    release(&of->pending);
    order->apart |= 1u << warp->index;
}

/* Returns the clock that the thread passes on with its present store; NULL: none. */
static struct clock *released_of(const struct exec_warp *warp, struct exec_order *order,
                                 uint32_t thread)
{
    struct thread *of = &order->threads[thread];
    const int32_t floor = warp_floor_of(warp->block, warp->index);
    if (of->fenced == 0 || of->released != NULL) return of->released;
    of->released = copy(order, of->known);
    if (of->released == NULL) return NULL;
    int32_t *before = of->released->before;
    const uint32_t first = (uint32_t)warp->index * EXEC_LANES;
    for (uint32_t t = first; t < first + EXEC_LANES; t++) {
        const int32_t fenced = order->threads[t].fenced;
        const int32_t joined = fenced < floor ? fenced : floor;
        const int32_t over = joined > of->warp_floor ? joined : of->warp_floor;
        if (over > before[t]) before[t] = over;
    }
    before[thread] = of->fenced;
    return of->released;
}

static void read_told(const struct exec_warp *warp, struct exec_order *order, uint32_t thread,
                      const struct told *told, bool acquires)
{
    struct thread *of = &order->threads[thread];
    if (told->writer != 0 && told->writer != thread + 1)
        order->met[warp->index] |= 1u << ((told->writer - 1) / EXEC_LANES);
    if (told->passes == NULL) return;
    exec_shadow_converses(warp->block, true);
    join(order, acquires ? &of->known : &of->pending, told->passes);
    order->apart |= 1u << warp->index;
}

/* Gives all these lanes one clock, of what any of them knows and what `all` (NULL: nothing) says.
 * Returns it, with the reference that `all` had. */
static struct clock *make_common(struct exec_order *order, struct thread *lanes, uint32_t group,
                                 struct clock *all)
{
    for (uint32_t rest = group; rest; rest &= rest - 1) {
        const struct thread *lane = &lanes[__builtin_ctz(rest)];
        join(order, &all, lane->known);
        join(order, &all, lane->pending);
    }
    for (uint32_t rest = group; rest; rest &= rest - 1) {
        struct thread *lane = &lanes[__builtin_ctz(rest)];
        release(&lane->known);
        release(&lane->pending);
        release(&lane->released);
        lane->known = share(all);
    }
    return all;
}

static __attribute__((noinline)) void join_warp(struct exec_order *order, uint32_t warp)
{
    struct clock *all = make_common(order, &order->threads[warp * EXEC_LANES], EXEC_ALL, NULL);
    release(&all);
    order->apart &= ~(1u << warp);
}

void exec_order_join_warp(const struct exec_warp *warp)
{
    struct exec_order *order = warp->block->order;
    if (order != NULL && (order->apart >> warp->index & 1)) join_warp(order, warp->index);
}

/* Returns the one clock of all these lanes, if nobody else has it; NULL: there is none. */
static struct clock *own_clock(const struct thread *lanes, uint32_t group)
{
    struct clock *clock = lanes[__builtin_ctz(group)].known;
    unsigned holders = 0;
    for (uint32_t rest = group; rest; rest &= rest - 1, holders++) {
        const struct thread *lane = &lanes[__builtin_ctz(rest)];
        if (lane->known != clock || lane->pending != NULL || lane->released != NULL) return NULL;
    }
    return clock != NULL && clock->references == holders ? clock : NULL;
}

void exec_order_join_lanes(const struct exec_warp *warp, uint32_t group)
{
    struct exec_order *order = order_of(warp);
    if (order == NULL) return;
    const uint32_t first = warp->index * EXEC_LANES;
    struct thread *lanes = &order->threads[first];
    exec_shadow_next_moment(warp->block);
    struct clock *clock = own_clock(lanes, group);
    if (clock == NULL) {
        clock = copy(order, NULL);
        if (clock != NULL) make_common(order, lanes, group, clock)->references--;
    }
    order->any = order->clocks = true;
    if (clock != NULL) {
        const int32_t now = exec_block_shadow_moment(warp->block);
        for (uint32_t rest = group; rest; rest &= rest - 1)
            clock->before[first + (uint32_t)__builtin_ctz(rest)] = now;
    }
    order->apart |= 1u << warp->index;
    exec_shadow_converses(warp->block, true);
}

bool exec_order_knows(const struct exec_order *order, uint32_t thread, int32_t cell)
{
    if (order != NULL && order->blind) return true;
    if (order == NULL || order->threads[thread].known == NULL) return false;
    return cell < order->threads[thread].known->before[cell & EXEC_SHADOW_THREAD];
}

bool exec_order_apart(const struct exec_order *order, uint32_t thread, int32_t cell)
{
    const uint32_t other = (uint32_t)cell & EXEC_SHADOW_THREAD;
    return order != NULL && other != thread && other / EXEC_LANES == thread / EXEC_LANES &&
           order->threads[thread].known != NULL &&
           cell < order->threads[thread].known->before[thread];
}

bool exec_order_met(const struct exec_order *order, uint32_t thread, uint32_t other)
{
    const uint32_t warps[2] = {thread / EXEC_LANES, other / EXEC_LANES};
    return order != NULL &&
           ((order->met[warps[0]] >> warps[1] & 1) || (order->met[warps[1]] >> warps[0] & 1));
}

/* ---- updates by two volatile accesses -------------------------------------------------------- */

/* Returns true if the present store, to the bytes `part` of a unit, is ordered after the last
 * update of them. */
static bool follows_change(const struct exec_warp *warp, const struct exec_order *order,
                           uint32_t thread, const struct told *told, unsigned part)
{
    const uint32_t changer = told->changer - 1;
    const struct clock *known = order->threads[thread].known;
    if (told->changer == 0 || changer == thread || order->blind || !(told->part & part))
        return true;
    if (changer / EXEC_LANES == warp->index &&
        told->changed < warp_floor_of(warp->block, warp->index))
        return true;
    return known != NULL && known->before[changer] >= told->known_from;
}

/* Finds the memory that the present store goes to. Returns false if there is none; the store itself
 * reports this. */
struct target {
    const unsigned char *bytes;
    const struct memory_region *region; /* NULL: shared memory */
    uint64_t offset;
};
static bool find_target(const struct exec_warp *warp, uint64_t address, uint32_t bytes,
                        struct target *target)
{
    if ((address & EXEC_WINDOW_MASK) == EXEC_WINDOW_SHARED) {
        const uint64_t offset = address & ~EXEC_WINDOW_MASK, size = warp->worker->shared_bytes;
        *target = (struct target){warp->block->shared + offset, NULL, offset};
        return size >= bytes && offset <= size - bytes;
    }
    const struct memory_region *region = memory_find(address);
    if (region == NULL || region->size - (address - region->address) < bytes) return false;
    const uint64_t offset = address - region->address;
    *target = (struct target){region->bytes + offset, region, offset};
    return true;
}

/* Records that the present store changes the bytes `part` of a unit. */
static void leave_change(const struct exec_warp *warp, const struct exec_inst *inst,
                         const struct exec_order *order, uint32_t thread, struct told *told,
                         unsigned part)
{
    const int32_t now = exec_block_shadow_moment(warp->block),
                  fenced = order->threads[thread].fenced;
    told->changer = thread + 1;
    told->changed = now;
    told->known_from = fenced != 0 ? fenced : now + 1;
    told->site = inst->position;
    told->part = (uint8_t)part;
}

/* Looks at every unit of the store, and reports it once. */
static void note_change(const struct exec_warp *warp, const struct exec_inst *inst,
                        struct exec_order *order, unsigned lane, uint64_t address)
{
    const uint32_t thread = warp->index * EXEC_LANES + lane, bytes = inst->cache & EXEC_ORDER_BYTES;
    const unsigned char *value = exec_slot(warp, inst->b);
    const unsigned part = ((1u << bytes) - 1) << (address & ((1u << UNIT_BITS) - 1)) & WHOLE_UNIT;
    bool reported = false;
    struct target target;
    if (bytes > 8 || !find_target(warp, address, bytes, &target) ||
        memcmp(target.bytes, value + lane * (bytes == 8 ? 8 : 4), bytes) == 0)
        return; /* it changes nothing */
    for (uint64_t unit = address >> UNIT_BITS; unit <= (address + bytes - 1) >> UNIT_BITS; unit++) {
        struct told *told = told_at(order, unit, true, false);
        if (told == NULL) continue;
        if (!reported && !follows_change(warp, order, thread, told, part)) {
            const struct exec_reported first = {told->changer - 1, told->site, EXEC_STORE, true};
            const struct exec_reported second = {thread, inst->position, EXEC_STORE, true};
            exec_report(warp, EXEC_WRONG_VOLATILE_THREADS, &first, &second, target.region,
                        target.offset, bytes);
            reported = true;
        }
        exec_shadow_touched(warp);
        leave_change(warp, inst, order, thread, told, part);
    }
}

/* ---- an access ------------------------------------------------------------------------------- */

static void access_unit(struct exec_warp *warp, const struct exec_inst *inst,
                        struct exec_order *order, uint32_t thread, uint64_t unit)
{
    const enum exec_access access = exec_order_access_of(inst);
    const bool partly = (inst->cache & EXEC_ORDER_BYTES) < 1u << UNIT_BITS;
    struct clock *passes = access == EXEC_LOAD ? NULL : released_of(warp, order, thread);
    struct told *told = told_at(order, unit, access != EXEC_LOAD, passes == NULL);
    if (told == NULL) {
        order->blind |= passes != NULL;
        return;
    }
    if (access != EXEC_STORE)
        read_told(warp, order, thread, told, inst->cache & EXEC_ORDER_ACQUIRES);
    if (access == EXEC_LOAD) return;
    told->writer = thread + 1;
    if (access == EXEC_STORE && !partly) release(&told->passes);
    join(order, &told->passes, passes);
}

/* ---- an access to a row ---------------------------------------------------------------------- */

/* Returns true if each lane of `mask` accesses its own word of a row that begins at `first`. */
static bool is_row(const struct exec_warp *warp, const struct exec_inst *inst, uint32_t mask,
                   uint64_t first)
{
    const uint32_t bytes = inst->cache & EXEC_ORDER_BYTES;
    if ((bytes != 4 && bytes != 8) || first == 0 || first % bytes != 0) return false;
    if (mask == EXEC_ALL && !(inst->cache & EXEC_ORDER_NARROW)) { /* nearly always */
        const uint64_t *wide = exec_slot(warp, inst->a);
        uint64_t off = 0;
        for (uint32_t l = 0; l < EXEC_LANES; l++) off |= wide[l] ^ (wide[0] + (uint64_t)l * bytes);
        return off == 0;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        if (exec_order_address(warp, inst, l) != first + distance_to(mask, l, bytes)) return false;
    }
    return true;
}

/* Moves rows in which lanes of `mask` access anything to `told`. */
static void open_met(const struct exec_warp *warp, const struct exec_inst *inst,
                     struct exec_order *order, uint32_t mask)
{
    for (uint32_t kept = order->kept; kept; kept &= kept - 1) {
        struct exec_warp *owner = &warp->block->warps[__builtin_ctz(kept)];
        const struct exec_own_row *row = &owner->own;
        const uint64_t first = row->address, end = first + span_of(row->mask, row->bytes);
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            const uint64_t at = exec_order_address(warp, inst, (unsigned)__builtin_ctz(rest));
            if (at >= end || at + (inst->cache & EXEC_ORDER_BYTES) <= first) continue;
            open_row(order, owner);
            break;
        }
    }
}

/* Returns true if no recorded access overlaps the range. */
static bool is_free(const struct exec_warp *warp, const struct exec_order *order, uint64_t first,
                    uint64_t end)
{
    if (order->told_count > 0 && first >> UNIT_BITS < order->told_end &&
        end >> UNIT_BITS > order->told_first)
        return false;
    for (uint32_t kept = order->kept; kept; kept &= kept - 1) {
        const struct exec_own_row *row = &warp->block->warps[__builtin_ctz(kept)].own;
        if (row->address < end && first < row->address + span_of(row->mask, row->bytes))
            return false;
    }
    return true;
}

/* Returns the lanes whose store changes memory. */
static uint32_t find_changers(const struct exec_own_row *row, const unsigned char *value)
{
    uint32_t changers = 0;
    for (uint32_t rest = row->mask; rest; rest &= rest - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(rest);
        const unsigned char *memory = row->memory + distance_to(row->mask, l, row->bytes);
        const bool same = row->bytes == 4 ? memcmp(memory, value + (size_t)l * 4, 4) == 0
                                          : memcmp(memory, value + (size_t)l * 8, 8) == 0;
        changers |= (uint32_t)!same << l;
    }
    return changers;
}

/* Records an update by the row's lanes. Returns false if the row must be moved to `told`. */
static bool change_row(const struct exec_warp *warp, const struct exec_inst *inst,
                       struct exec_own_row *row)
{
    struct target target;
    if (row->memory == NULL) {
        if (!find_target(warp, row->address, span_of(row->mask, row->bytes), &target)) return false;
        row->memory = target.bytes;
    }
    const uint32_t changers = find_changers(row, exec_slot(warp, inst->b));
    if (changers != 0 && row->changers != 0 && changers != row->changers) return false;
    row->all = true;
    if (changers == 0) return true;
    exec_shadow_touched(warp);
    row->changers = changers;
    row->changed = exec_block_shadow_moment(warp->block);
    row->site = inst->position;
    return true;
}

/* Records a store in the warp's row. Returns false if each word must be recorded on its own. */
static bool keep_row(struct exec_warp *warp, const struct exec_inst *inst, struct exec_order *order,
                     uint32_t mask)
{
    struct exec_own_row *row = &warp->own;
    const uint32_t bytes = inst->cache & EXEC_ORDER_BYTES;
    const uint64_t first = exec_order_address(warp, inst, (unsigned)__builtin_ctz(mask));
    if (!is_row(warp, inst, mask, first)) return false;
    if (row->mask != mask || row->bytes != bytes || row->address != first) {
        if (!is_free(warp, order, first, first + span_of(mask, bytes))) return false;
        if (row->mask != 0) open_row(order, warp);
        *row = (struct exec_own_row){.address = first, .mask = mask, .bytes = bytes};
        order->kept |= 1u << warp->index;
    }
    return !(inst->cache & EXEC_ORDER_MODIFIES) || change_row(warp, inst, row);
}

/* ---- the instructions ------------------------------------------------------------------------ */

void exec_order_access(struct exec_warp *warp, const struct exec_inst *inst, uint32_t mask)
{
    const uint32_t bytes = inst->cache & EXEC_ORDER_BYTES;
    const bool releases = inst->cache & EXEC_ORDER_RELEASES;
    const bool modifies = inst->cache & EXEC_ORDER_MODIFIES;
    const bool loads = exec_order_access_of(inst) == EXEC_LOAD;
    struct exec_order *order = loads ? warp->block->order : order_of(warp);
    if (order == NULL || (loads && !order->any)) return;
    order->any = true;
    if (releases) {
        exec_shadow_next_moment(warp->block);
        exec_shadow_pass_on(warp);
    }
    if (exec_order_access_of(inst) == EXEC_STORE && !order->fenced && !releases &&
        keep_row(warp, inst, order, mask))
        return;
    /* No clock to pass on: one lane is enough to record which warps have met. */
    if (!order->fenced && !releases && !modifies) mask &= -mask;
    open_met(warp, inst, order, mask);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        const uint32_t thread = warp->index * EXEC_LANES + l;
        const uint64_t at = exec_order_address(warp, inst, l);
        if (at == 0) continue;
        if (releases) fence(warp, order, thread);
        if (modifies) note_change(warp, inst, order, l, at);
        for (uint64_t unit = at >> UNIT_BITS; unit <= (at + bytes - 1) >> UNIT_BITS; unit++)
            access_unit(warp, inst, order, thread, unit);
    }
    if (order->blind) exec_shadow_converses(warp->block, true);
}

int exec_order_fence(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint32_t mask = exec_racecheck_lanes(warp, inst);
    struct exec_order *order = mask ? order_of(warp) : NULL;
    warp->instructions--;
    if (mask) exec_cluster_order_fence(warp->block);
    if (order == NULL) return EXEC_GO;
    order->any = true;
    exec_shadow_next_moment(warp->block);
    exec_shadow_pass_on(warp);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        fence(warp, order, warp->index * EXEC_LANES + (unsigned)__builtin_ctz(rest));
    return EXEC_GO;
}
