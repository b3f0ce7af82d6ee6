#include "emulator/exec/check/order.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/base/hash.h"
#include "emulator/exec/check/block_shadow.h"

enum {
    UNIT_BITS = 2, /* bytes that are told apart: 4 */
    ROOM_FIRST = 64,
    ROOM_MOST = 1 << 14,
    QUIET_MOST = 256, /* places that are remembered though nothing is passed on there */
    OWN_ENOUGH = 1,   /* changes again of what nobody else has changed; the next are not noted */
};

/* Of every thread: its touches from before that moment are over. Never changed once shared. */
struct clock {
    unsigned references;
    int32_t before[];
};

/* What is known of 4 bytes that threads tell each other things by. */
struct told {
    uint64_t unit;        /* address >> UNIT_BITS; 0: none */
    struct clock *passes; /* what comes with the value; NULL: nothing */
    uint32_t writer;      /* thread + 1, of the last strong store; 0: none */
    uint32_t changer;     /* thread + 1, of the last EXEC_ORDER_MODIFIES ... */
    int32_t changed;      /* ... when it was ... */
    int32_t known_from;   /* ... and what of that thread has to be known to come behind it */
    uint32_t site;
};

struct thread {
    struct clock *known, *pending; /* pending: read, and no fence since */
    struct clock *released;        /* as of its last fence; made when it is passed on */
    int32_t fenced;                /* when that was; 0: there was none */
    int32_t warp_floor;            /* of its warp, then */
};

struct exec_order {
    uint32_t count;
    bool any;       /* something is known since it was all forgotten */
    bool fenced;    /* so has some thread: without that nothing is passed on */
    bool blind;     /* there was no memory for it: everybody is taken to know everything */
    uint32_t apart; /* warps whose lanes know different things */
    uint32_t met[EXEC_MAX_WARPS]; /* of each warp: those whose values it has read, a bit each */
    struct own {          /* of each warp: what its lanes change that nobody else has changed */
        uint64_t address; /* of the first lane's */
        uint32_t mask, changes;
    } own[EXEC_MAX_WARPS];
    struct told *told;
    size_t told_count, room;
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

/* NULL: no memory, and nothing is found any more. */
static struct clock *copy(struct exec_order *order, const struct clock *from)
{
    const size_t bytes = order->count * sizeof *from->before;
    struct clock *clock = calloc(1, sizeof *clock + bytes);
    if (clock == NULL) {
        order->blind = true;
        return NULL;
    }
    clock->references = 1;
    if (from != NULL) memcpy(clock->before, from->before, bytes);
    return clock;
}

/* *into knows what `from` does. */
static void join(struct exec_order *order, struct clock **into, struct clock *from)
{
    bool any = false;
    if (from == NULL || from == *into) return;
    if (*into == NULL) {
        *into = share(from);
        return;
    }
    for (uint32_t k = 0; k < order->count && !any; k++) any = from->before[k] > (*into)->before[k];
    if (!any) return;
    if ((*into)->references > 1) {
        struct clock *own = copy(order, *into);
        if (own == NULL) return;
        release(into);
        *into = own;
    }
    for (uint32_t k = 0; k < order->count; k++)
        if (from->before[k] > (*into)->before[k]) (*into)->before[k] = from->before[k];
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

static void forget(struct exec_order *order)
{
    for (size_t k = 0; k < order->room; k++) release(&order->told[k].passes);
    for (uint32_t t = 0; t < order->count; t++) {
        release(&order->threads[t].known);
        release(&order->threads[t].pending);
        release(&order->threads[t].released);
    }
    memset(order->told, 0, order->room * sizeof *order->told);
    memset(order->threads, 0, order->count * sizeof *order->threads);
    order->told_count = 0;
    order->apart = 0;
    memset(order->met, 0, sizeof order->met);
    memset(order->own, 0, sizeof order->own);
    order->any = order->fenced = order->blind = false;
}

void exec_order_destroy(struct exec_order *order)
{
    if (order == NULL) return;
    forget(order);
    free(order->told);
    free(order);
}

void exec_order_forget(const struct exec_block *block)
{
    if (block->order == NULL || !block->order->any) return;
    forget(block->order);
    exec_shadow_converses(block, false);
}

/* ---- places ---------------------------------------------------------------------------------- */

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

/* NULL: nothing is known of it, and nothing will be. */
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
    order->told_count++;
    return told;
}

/* ---- what a thread knows --------------------------------------------------------------------- */

static int32_t warp_floor_of(const struct exec_block *block, uint32_t warp)
{
    const struct exec_shadow *shadow = block->shadow != NULL ? block->shadow
                                       : block->near != NULL ? block->near->shadow
                                                             : NULL;
    return shadow != NULL ? shadow->warp_floor[warp] : 0;
}

static void fence(const struct exec_warp *warp, struct exec_order *order, uint32_t thread)
{
    struct thread *of = &order->threads[thread];
    order->fenced = true;
    of->fenced = exec_shadow_moment(warp->block);
    of->warp_floor = warp_floor_of(warp->block, warp->index);
    release(&of->released);
    if (of->pending == NULL) return;
    join(order, &of->known, of->pending);
    release(&of->pending);
    order->apart |= 1u << warp->index;
}

/* What the thread passes on with what it stores now; NULL: nothing. */
static struct clock *released_of(const struct exec_warp *warp, struct exec_order *order,
                                 uint32_t thread)
{
    struct thread *of = &order->threads[thread];
    const int32_t floor = warp_floor_of(warp->block, warp->index);
    if (of->fenced == 0 || of->released != NULL) return of->released;
    of->released = copy(order, of->known);
    if (of->released == NULL) return NULL;
    int32_t *before = of->released->before;
    for (uint32_t t = warp->index * EXEC_LANES; t < (warp->index + 1) * EXEC_LANES; t++) {
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

void exec_order_join_warp(const struct exec_warp *warp)
{
    struct exec_order *order = warp->block->order;
    if (order == NULL || !(order->apart >> warp->index & 1)) return;
    struct thread *lanes = &order->threads[warp->index * EXEC_LANES];
    struct clock *all = NULL;
    for (unsigned l = 0; l < EXEC_LANES; l++) {
        join(order, &all, lanes[l].known);
        join(order, &all, lanes[l].pending);
    }
    for (unsigned l = 0; l < EXEC_LANES; l++) {
        release(&lanes[l].known);
        release(&lanes[l].pending);
        release(&lanes[l].released);
        lanes[l].known = share(all);
    }
    release(&all);
    order->apart &= ~(1u << warp->index);
}

bool exec_order_knows(const struct exec_order *order, uint32_t thread, int32_t cell)
{
    if (order != NULL && order->blind) return true;
    if (order == NULL || order->threads[thread].known == NULL) return false;
    return cell < order->threads[thread].known->before[cell & EXEC_SHADOW_THREAD];
}

bool exec_order_met(const struct exec_order *order, uint32_t thread, uint32_t other)
{
    const uint32_t warps[2] = {thread / EXEC_LANES, other / EXEC_LANES};
    return order != NULL &&
           ((order->met[warps[0]] >> warps[1] & 1) || (order->met[warps[1]] >> warps[0] & 1));
}

/* ---- a read-modify-write by two accesses ----------------------------------------------------- */

/* Whether the store at hand comes behind the last change of the place. */
static bool follows_change(const struct exec_warp *warp, const struct exec_order *order,
                           uint32_t thread, const struct told *told)
{
    const uint32_t changer = told->changer - 1;
    const struct clock *known = order->threads[thread].known;
    if (told->changer == 0 || changer == thread || order->blind) return true;
    if (changer / EXEC_LANES == warp->index &&
        told->changed < warp_floor_of(warp->block, warp->index))
        return true;
    return known != NULL && known->before[changer] >= told->known_from;
}

/* Where the store at hand goes; NULL: nowhere, which it will say itself. */
struct target {
    const unsigned char *bytes;
    const struct memory_region *region; /* of global memory */
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

/* Returns whether the place is the thread's own: it alone has changed it, now and before. */
static bool note_change(const struct exec_warp *warp, const struct exec_inst *inst,
                        struct exec_order *order, unsigned lane, uint64_t address)
{
    const uint32_t thread = warp->index * EXEC_LANES + lane, bytes = inst->cache & EXEC_ORDER_BYTES;
    const unsigned char *value = exec_slot(warp, inst->b);
    struct target target;
    if (bytes > 8 || !find_target(warp, address, bytes, &target) ||
        memcmp(target.bytes, value + lane * (bytes == 8 ? 8 : 4), bytes) == 0)
        return false; /* it changes nothing */
    struct told *told = told_at(order, address >> UNIT_BITS, true, false);
    if (told == NULL) return false;
    const bool own = told->changer == thread + 1;
    if (!follows_change(warp, order, thread, told)) {
        const struct exec_reported first = {told->changer - 1, told->site, EXEC_STORE, true};
        const struct exec_reported second = {thread, inst->position, EXEC_STORE, true};
        exec_report(warp, EXEC_WRONG_VOLATILE_THREADS, &first, &second, target.region,
                    target.offset, bytes);
    }
    exec_shadow_touched(warp);
    const int32_t now = exec_shadow_moment(warp->block), fenced = order->threads[thread].fenced;
    told->changer = thread + 1;
    told->changed = now;
    told->known_from = fenced != 0 ? fenced : now + 1;
    told->site = inst->position;
    return own;
}

/* Whether the warp's lanes have changed these places often enough, and nobody else has, that one
 * change more says nothing new. It is noted again after the next barrier, and when the warp changes
 * others. */
static bool is_own(const struct exec_warp *warp, const struct exec_order *order, uint32_t mask,
                   uint64_t address)
{
    const struct own *own = &order->own[warp->index];
    return own->changes >= OWN_ENOUGH && own->mask == mask && own->address == address;
}

static void note_own(const struct exec_warp *warp, struct exec_order *order, uint32_t mask,
                     uint64_t address, bool all_own)
{
    struct own *own = &order->own[warp->index];
    if (!all_own || own->mask != mask || own->address != address)
        *own = (struct own){.address = address, .mask = mask};
    own->changes += all_own;
}

/* ---- the instructions ------------------------------------------------------------------------ */

/* The generic address; 0: it is of neither shared nor global memory. */
static uint64_t address_of(const struct exec_warp *warp, const struct exec_inst *inst,
                           unsigned lane)
{
    const uint64_t *wide = exec_slot(warp, inst->a);
    const uint32_t *narrow = exec_slot(warp, inst->a);
    if (inst->cache & EXEC_ORDER_NARROW)
        return EXEC_WINDOW_SHARED + (uint32_t)(narrow[lane] + (uint32_t)inst->imm);
    const uint64_t at = wide[lane] + inst->imm;
    if (inst->cache & EXEC_ORDER_SHARED) return EXEC_WINDOW_SHARED + at;
    return (at >> 56) == 1 && (at & EXEC_WINDOW_MASK) != EXEC_WINDOW_SHARED ? 0 : at;
}

static void access_unit(struct exec_warp *warp, const struct exec_inst *inst,
                        struct exec_order *order, uint32_t thread, uint64_t unit)
{
    const enum exec_access access = (enum exec_access)(inst->cache >> EXEC_ORDER_ACCESS_SHIFT & 3);
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

int exec_order_access(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint32_t bytes = inst->cache & EXEC_ORDER_BYTES;
    const bool releases = inst->cache & EXEC_ORDER_RELEASES;
    const bool modifies = inst->cache & EXEC_ORDER_MODIFIES;
    const enum exec_access access = (enum exec_access)(inst->cache >> EXEC_ORDER_ACCESS_SHIFT & 3);
    const bool loads = access == EXEC_LOAD;
    bool all_own = true;
    uint32_t mask = exec_racecheck_lanes(warp, inst);
    struct exec_order *order = mask && !loads ? order_of(warp) : warp->block->order;
    warp->instructions--;
    if (!mask || order == NULL || (loads && !order->any)) return EXEC_GO;
    order->any = true;
    if (releases) exec_shadow_next_moment(warp->block);
    const uint64_t first = address_of(warp, inst, (unsigned)__builtin_ctz(mask));
    const uint32_t whole = mask;
    if (!order->fenced && !releases && (loads || access == EXEC_STORE) &&
        is_own(warp, order, mask, first))
        return EXEC_GO;
    /* Nothing to be passed on: for who has met whom a lane of the warp is enough. */
    if (!order->fenced && !releases && !modifies) mask &= -mask;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        const uint32_t thread = warp->index * EXEC_LANES + l;
        const uint64_t at = address_of(warp, inst, l);
        if (at == 0) continue;
        if (releases) fence(warp, order, thread);
        if (modifies) all_own &= note_change(warp, inst, order, l, at);
        for (uint64_t unit = at >> UNIT_BITS; unit <= (at + bytes - 1) >> UNIT_BITS; unit++)
            access_unit(warp, inst, order, thread, unit);
    }
    if (modifies) note_own(warp, order, whole, first, all_own);
    if (order->blind) exec_shadow_converses(warp->block, true);
    return EXEC_GO;
}

int exec_order_fence(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint32_t mask = exec_racecheck_lanes(warp, inst);
    struct exec_order *order = mask ? order_of(warp) : NULL;
    warp->instructions--;
    if (order == NULL) return EXEC_GO;
    order->any = true;
    exec_shadow_next_moment(warp->block);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        fence(warp, order, warp->index * EXEC_LANES + (unsigned)__builtin_ctz(rest));
    return EXEC_GO;
}
