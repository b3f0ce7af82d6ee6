#include "emulator/exec/check/causality.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/base/pages.h"
#include "emulator/exec/check/grid_shadow.h"

enum {
    UNIT_BITS = 2, /* bytes of a unit, the smallest that has a cell: 4 */
    UNITS = EXEC_CAUSAL_LINE >> UNIT_BITS,
    BLOCKS_MOST = 2048,   /* that are told apart: a clock has an epoch of each */
    SPLIT_MOST = 1 << 17, /* lines; with more, the check is turned off */
    CHAINS_MOST = 256, /* clocks of chains of atomics: enough for counters, none for histograms */
};

/* A vector clock: per block, its latest epoch that is known to be over. Immutable once shared. */
struct clock {
    unsigned references;
    uint32_t epochs[];
};

/* The last access of a kind: block + 1 (0: none), the block's epoch, and the source position. */
struct by {
    uint32_t block, epoch, site;
};

/* By a strong store or an atomic a block tells those who read it: this is the `number`th that it
 * told anybody (block + 1; 0: none). `heard`: what it had heard from others by then, and, of a
 * chain of atomics, what those before it told; NULL: nothing. */
struct told {
    uint32_t block, number;
    struct clock *heard;
};

/* The cell of a unit of memory. */
struct cell {
    struct by write;      /* plain store */
    struct by modify;     /* store of an update by two volatile accesses */
    struct by late[2];    /* the last atomic that its block may have told of before it made it, and
                             the last such one of another block than that one's */
    struct by latest;     /* store, plain or strong, that no atomic has followed */
    uint32_t told_before; /* what its block had told by then, that store included */
    bool is_strong;       /* there was a strong access to it */
    struct clock *passes; /* the clock passed on with the value; NULL: none */
    struct told told;
};

struct exec_causal_line {
    struct cell *cells; /* per unit; NULL: units `first` to `end` share `alike` */
    struct cell alike;  /* the shared cell; other units are untouched */
    uint8_t first, end;
};

/* The clocks of a block. */
struct clocks {
    struct clock *now;      /* what it knows, with its own epoch; NULL: it is in its first epoch and
                               knows of no other block */
    struct clock *released; /* as it was at the last fence; NULL: there was none */
    struct clock *taken;    /* the clock that it took over last */
    struct clock *acquired; /* what it knew before it read what it has not acquired yet; NULL: it
                               has acquired everything that it knows */
    struct clock *hearsay;  /* per block, what it has told that this one has heard, fences or not;
                               NULL: nothing */
    uint32_t tells;         /* how often it has told anybody anything */
    uint64_t round;         /* of the grid's barrier, at which it has arrived last */
    uint32_t barriers;      /* of the block, that it has passed */
    uint32_t told;          /* warp + 1 that was the first to pass on ... */
    uint32_t told_epoch;    /* ... the latest epoch that was passed on; 0: none was, ... */
    uint32_t told_at;       /* ... after so many barriers */
    bool heard;             /* a thread has read what others tell, ... */
    bool spread;            /* ... and since then a barrier has let all threads know */
};

/* The barrier of the grid. A block waits for the others to arrive in the same round, and is ordered
 * after what they did before that, even if it looks when they have arrived in the next round. By
 * then all have left the round before, so two clocks are enough. */
struct grid_barrier {
    struct clock *passes;  /* of those that have arrived in this round */
    struct clock *over[2]; /* the clock that round k, when complete, passes on, at k % 2 */
    uint64_t arrived;      /* in all rounds */
};

struct exec_causality {
    uint64_t blocks;
    bool off;
    bool talks;       /* blocks have accessed memory by atomics or in order, as they tell others */
    uint64_t moments; /* number of moments so far */
    struct clocks *of_block;
    struct exec_causal *regions;
    struct grid_barrier grid;
    struct cell *homes; /* per block: exec_causality_meet_cluster; NULL: not used yet */
    size_t split;       /* lines with a cell per unit */
    size_t chains;      /* clocks that were made for chains of atomics */
};

/* ---- clocks ---------------------------------------------------------------------------------- */

static void clock_release(struct clock *clock)
{
    if (clock != NULL && --clock->references == 0) free(clock);
}

static struct clock *clock_copy(const struct exec_causality *causality, const struct clock *from)
{
    const size_t bytes = causality->blocks * sizeof *from->epochs;
    struct clock *clock = calloc(1, sizeof *clock + bytes);
    if (clock == NULL) return NULL;
    clock->references = 1;
    if (from != NULL) memcpy(clock->epochs, from->epochs, bytes);
    return clock;
}

/* Returns true when `clock` knows everything that `other` knows. */
static bool clock_covers(const struct exec_causality *causality, const struct clock *clock,
                         const struct clock *other)
{
    for (uint64_t i = 0; i < causality->blocks; i++)
        if (other->epochs[i] > clock->epochs[i]) return false;
    return true;
}

/* Returns true when `clock` has learned something from `other`. */
static bool clock_join(const struct exec_causality *causality, struct clock *clock,
                       const struct clock *other)
{
    bool any = false;
    for (uint64_t i = 0; i < causality->blocks; i++) {
        if (other->epochs[i] <= clock->epochs[i]) continue;
        clock->epochs[i] = other->epochs[i];
        any = true;
    }
    return any;
}

/* Returns the block's own clock, to change or pass on. NULL: no memory, and the check is turned
 * off. */
static struct clock *clock_of(struct exec_causality *causality, uint64_t block)
{
    struct clock **clock = &causality->of_block[block].now;
    if (*clock == NULL) {
        *clock = clock_copy(causality, NULL);
        if (*clock == NULL)
            causality->off = true;
        else
            (*clock)->epochs[block] = 1;
    }
    return *clock;
}

/* Returns the latest epoch of block `of` that `block` knows to be over; of itself, the present
 * one. */
static uint32_t epoch_of(const struct exec_causality *causality, uint64_t block, uint64_t of)
{
    const struct clock *clock = causality->of_block[block].now;
    return clock != NULL ? clock->epochs[of] : block == of;
}

/* Ends the block's moment, because its clock has changed. */
static void moment_end(struct exec_causality *causality, struct exec_block *block)
{
    block->moment = ++causality->moments << EXEC_DEED_BITS;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void cell_release(struct cell *cell)
{
    clock_release(cell->passes);
    clock_release(cell->told.heard);
}

static bool region_make(struct exec_causal *causal, uint64_t address, uint64_t bytes)
{
    const uint64_t last = (address + bytes - 1) >> EXEC_CAUSAL_LINE_BITS;
    causal->low = address >> EXEC_CAUSAL_LINE_BITS << EXEC_CAUSAL_LINE_BITS;
    causal->count = last - (address >> EXEC_CAUSAL_LINE_BITS) + 1;
    causal->old = pages_take(causal->count * sizeof *causal->old);
    causal->lines = pages_take(causal->count * sizeof *causal->lines);
    causal->first = causal->count;
    return causal->old != NULL && causal->lines != NULL;
}

static void region_free(struct exec_causal *causal)
{
    for (uint64_t k = causal->first; causal->lines != NULL && k < causal->end; k++) {
        struct exec_causal_line *line = &causal->lines[k];
        cell_release(&line->alike);
        for (unsigned i = 0; line->cells != NULL && i < UNITS; i++) cell_release(&line->cells[i]);
        free(line->cells);
    }
    pages_give(causal->lines, causal->count * sizeof *causal->lines);
    pages_give(causal->old, causal->count * sizeof *causal->old);
}

static struct exec_causal *region_find(struct exec_causality *causality,
                                       const struct memory_region *region)
{
    struct exec_causal *causal = causality->regions;
    while (causal != NULL && causal->region != region) causal = causal->next;
    if (causal != NULL) return causal;
    causal = calloc(1, sizeof *causal);
    if (causal == NULL || !region_make(causal, region->address, region->size)) {
        if (causal != NULL) region_free(causal);
        free(causal);
        causality->off = true;
        return NULL;
    }
    causal->region = region;
    causal->next = causality->regions;
    causality->regions = causal;
    return causal;
}

static struct exec_causal_line *line_at(struct exec_causal *causal, uint64_t index)
{
    if (index < causal->first) causal->first = index;
    if (index >= causal->end) causal->end = index + 1;
    return &causal->lines[index];
}

static bool is_untouched(const struct exec_causal_line *line)
{
    return line->cells == NULL && line->end == 0;
}

/* Returns the cell that units `first` to `end` share, if it stands for them and, unless the access
 * only loads (`looks`), for no other touched unit. NULL: there is none. */
static struct cell *line_alike(struct exec_causal_line *line, unsigned first, unsigned end,
                               bool looks)
{
    if (line->cells != NULL) return NULL;
    if (looks) return line->first <= first && line->end >= end ? &line->alike : NULL;
    if (line->end == 0) {
        line->first = (uint8_t)first;
        line->end = (uint8_t)end;
    }
    return line->first == first && line->end == end ? &line->alike : NULL;
}

/* Gives each unit of the line its own cell. Returns false if the check is turned off for lack of
 * memory. */
static bool line_split(struct exec_causality *causality, struct exec_causal_line *line)
{
    if (line->cells != NULL) return true;
    if (causality->split++ < SPLIT_MOST) line->cells = calloc(UNITS, sizeof *line->cells);
    if (line->cells == NULL) {
        causality->off = true;
        return false;
    }
    for (unsigned i = line->first; i < line->end; i++) {
        line->cells[i] = line->alike;
        if (line->alike.passes != NULL) line->alike.passes->references++;
        if (line->alike.told.heard != NULL) line->alike.told.heard->references++;
    }
    cell_release(&line->alike);
    line->alike = (struct cell){.passes = NULL};
    return true;
}

/* ---- life ------------------------------------------------------------------------------------ */

struct exec_causality *exec_causality_create(uint64_t blocks)
{
    struct exec_causality *causality = calloc(1, sizeof *causality);
    if (causality == NULL) return NULL;
    causality->blocks = blocks < BLOCKS_MOST ? blocks : BLOCKS_MOST;
    causality->of_block = calloc(causality->blocks, sizeof *causality->of_block);
    if (causality->of_block != NULL) return causality;
    exec_causality_destroy(causality);
    return NULL;
}

void exec_causality_destroy(struct exec_causality *causality)
{
    if (causality == NULL) return;
    for (uint64_t i = 0; causality->of_block != NULL && i < causality->blocks; i++) {
        clock_release(causality->of_block[i].now);
        clock_release(causality->of_block[i].released);
        clock_release(causality->of_block[i].taken);
        clock_release(causality->of_block[i].acquired);
        clock_release(causality->of_block[i].hearsay);
    }
    while (causality->regions != NULL) {
        struct exec_causal *causal = causality->regions;
        causality->regions = causal->next;
        region_free(causal);
        free(causal);
    }
    for (uint64_t i = 0; causality->homes != NULL && i < causality->blocks; i++)
        clock_release(causality->homes[i].passes);
    clock_release(causality->grid.passes);
    clock_release(causality->grid.over[0]);
    clock_release(causality->grid.over[1]);
    free(causality->homes);
    free(causality->of_block);
    free(causality);
}

void exec_causality_begin_block(struct exec_causality *causality, uint64_t block)
{
    if (causality != NULL && block >= causality->blocks) causality->off = true;
}

void exec_causality_give_up(struct exec_causality *causality)
{
    if (causality != NULL) causality->off = true;
}

bool exec_causality_judges(const struct exec_causality *causality)
{
    return causality != NULL && !causality->off;
}

static unsigned looks_of(const struct exec_warp *warp, const struct exec_inst *inst)
{
    return exec_looks_of(warp->worker->function->program, inst);
}

void exec_causality_meet_region(const struct exec_warp *warp, const struct exec_inst *inst,
                                struct exec_region_cache *cache)
{
    struct exec_causality *causality = warp->worker->causality;
    const unsigned looks = looks_of(warp, inst);
    const bool store = cache->access == EXEC_STORE;
    if (causality == NULL || causality->off ||
        cache->region->address == warp->worker->launch->heap_address)
        return;
    cache->causal = region_find(causality, cache->region);
    if (cache->access == EXEC_ATOMIC || looks & EXEC_LOOK_RELEASES)
        cache->deed = EXEC_DEED_NEW;
    else if (!(looks & EXEC_LOOK_STRONG))
        cache->deed = store ? EXEC_DEED_STORE : EXEC_DEED_LOAD;
    else if (!store)
        cache->deed = EXEC_DEED_STRONG_LOAD;
    else
        cache->deed = EXEC_DEED_STRONG_STORE | (looks & EXEC_LOOK_MODIFIES ? EXEC_DEED_MODIFY : 0u);
}

/* ---- what orders blocks ---------------------------------------------------------------------- */

/* From now on the block may pass on everything that it has done so far. */
static void fence(struct exec_causality *causality, struct exec_block *block)
{
    struct clock *clock = clock_of(causality, block->index);
    struct clock *released = clock != NULL ? clock_copy(causality, clock) : NULL;
    if (released == NULL) return;
    clock_release(causality->of_block[block->index].released);
    causality->of_block[block->index].released = released;
    clock->epochs[block->index]++;
    moment_end(causality, block);
}

/* From now on the block's plain loads may rely on everything that it knows. */
static void acquire(struct exec_causality *causality, const struct exec_block *block)
{
    struct clock **acquired = &causality->of_block[block->index].acquired;
    clock_release(*acquired);
    *acquired = NULL;
}

void exec_causality_meet_block(const struct exec_block *block)
{
    struct exec_causality *causality = block->worker->causality;
    if (causality == NULL || causality->off) return;
    acquire(causality, block);
    causality->of_block[block->index].barriers++;
    causality->of_block[block->index].spread = causality->of_block[block->index].heard;
}

int exec_causality_fence(struct exec_warp *warp, const struct exec_inst *inst)
{
    struct exec_causality *causality = warp->worker->causality;
    warp->instructions--;
    if (causality != NULL && !causality->off && exec_racecheck_lanes(warp, inst)) {
        fence(causality, warp->block);
        acquire(causality, warp->block);
    }
    return EXEC_GO;
}

/* The block has read a value, and knows the clock that `passes` with it; NULL: none does. */
static void take_over(struct exec_causality *causality, struct exec_block *block,
                      struct clock *passes, bool acquires)
{
    struct clock **acquired = &causality->of_block[block->index].acquired;
    if (acquires) acquire(causality, block);
    if (passes == NULL || passes == causality->of_block[block->index].taken) return; /* it polls */
    struct clock *clock = clock_of(causality, block->index);
    if (clock == NULL) return;
    if (!acquires && *acquired == NULL && !clock_covers(causality, clock, passes))
        *acquired = clock_copy(causality, clock);
    if (clock_join(causality, clock, passes)) moment_end(causality, block);
    passes->references++;
    clock_release(causality->of_block[block->index].taken);
    causality->of_block[block->index].taken = passes;
}

/* The block stores a value: *passes becomes the clock passed on with it. `adds`: in addition to the
 * clock that was there, as an atomic does. */
static void pass_on(struct exec_causality *causality, uint64_t block, struct clock **passes,
                    bool adds)
{
    struct clock *released = causality->of_block[block].released;
    if (adds && *passes != NULL) {
        if (released == NULL || clock_covers(causality, *passes, released)) return;
        if (!clock_covers(causality, released, *passes)) {
            struct clock *both = clock_copy(causality, *passes);
            if (both == NULL) return;
            clock_join(causality, both, released);
            clock_release(*passes);
            *passes = both;
            return;
        }
    }
    if (released != NULL) released->references++;
    clock_release(*passes);
    *passes = released;
}

static void strong(struct exec_causality *causality, struct exec_block *block, struct cell *cell,
                   enum exec_access access, bool acquires)
{
    cell->is_strong = true;
    if (access != EXEC_STORE) take_over(causality, block, cell->passes, acquires);
    if (access != EXEC_LOAD) pass_on(causality, block->index, &cell->passes, access == EXEC_ATOMIC);
}

/* ---- what blocks have heard of each other, fences or not ------------------------------------- */

/* Gives *clock to its owner alone, to change. Returns NULL without memory. */
static struct clock *clock_alone(const struct exec_causality *causality, struct clock **clock)
{
    if (*clock != NULL && (*clock)->references == 1) return *clock;
    struct clock *own = clock_copy(causality, *clock);
    if (own == NULL) return NULL;
    clock_release(*clock);
    return *clock = own;
}

/* The block has read a value by which it may be told something. */
static void hear(struct exec_causality *causality, struct exec_block *block,
                 const struct told *told)
{
    struct clock **hearsay = &causality->of_block[block->index].hearsay;
    const uint64_t of = told->block - UINT64_C(1);
    if (told->block == 0 || of == block->index ||
        (*hearsay != NULL && (*hearsay)->epochs[of] >= told->number))
        return;
    struct clock *own = clock_alone(causality, hearsay);
    if (own == NULL) return;
    if (told->heard != NULL) clock_join(causality, own, told->heard);
    own->epochs[of] = told->number;
    moment_end(causality, block);
}

/* Keeps what was told by the atomic before this one. Returns false if that is not possible. */
static bool chain(struct exec_causality *causality, struct told *told)
{
    const bool is_own = told->heard != NULL && told->heard->references == 1;
    if (!is_own && causality->chains == CHAINS_MOST) return false;
    causality->chains += !is_own;
    struct clock *own = clock_alone(causality, &told->heard);
    if (own == NULL) return false;
    if (own->epochs[told->block - 1] < told->number) own->epochs[told->block - 1] = told->number;
    return true;
}

/* The block stores a value. `adds`: an atomic, which passes on what was told before. */
static void tell_others(struct exec_causality *causality, uint64_t block, struct told *told,
                        bool adds)
{
    struct clock *hearsay = causality->of_block[block].hearsay;
    const bool other = told->block != 0 && told->block != block + 1;
    if (adds && (other ? chain(causality, told) : told->heard != NULL)) {
        struct clock *own =
            hearsay != NULL && hearsay != told->heard ? clock_alone(causality, &told->heard) : NULL;
        if (own != NULL) clock_join(causality, own, hearsay);
    } else {
        if (hearsay != NULL) hearsay->references++;
        clock_release(told->heard);
        told->heard = hearsay;
    }
    told->block = (uint32_t)block + 1;
    told->number = causality->of_block[block].tells;
}

/* ---- barriers of the grid and of clusters ---------------------------------------------------- */

/* The block arrives at the barrier of the grid. */
static void grid_arrive(struct exec_causality *causality, uint64_t block)
{
    struct grid_barrier *grid = &causality->grid;
    const uint64_t round = grid->arrived++ / causality->blocks;
    struct clock **over = &grid->over[round % 2];
    causality->of_block[block].round = round;
    pass_on(causality, block, &grid->passes, true);
    if (grid->arrived % causality->blocks != 0) return;
    clock_release(*over);
    *over = grid->passes;
    grid->passes = NULL;
}

void exec_causality_meet_grid(const struct exec_warp *warp, const struct exec_inst *inst,
                              enum exec_access access)
{
    struct exec_causality *causality = warp->worker->causality;
    if (causality == NULL || causality->off) return;
    const struct grid_barrier *grid = &causality->grid;
    if (looks_of(warp, inst) & EXEC_LOOK_RELEASES) fence(causality, warp->block);
    if (access == EXEC_ATOMIC) grid_arrive(causality, warp->block->index);
    if (access != EXEC_LOAD) return;
    const uint64_t round = causality->of_block[warp->block->index].round;
    if (grid->arrived / causality->blocks > round)
        take_over(causality, warp->block, grid->over[round % 2], true);
}

void exec_causality_meet(struct exec_block *const *blocks, uint32_t count, const bool *releases)
{
    struct exec_causality *causality = blocks[0]->worker->causality;
    if (causality == NULL || causality->off) return;
    struct clock *all = clock_copy(causality, NULL);
    if (all == NULL) causality->off = true;
    for (uint32_t k = 0; k < count && !causality->off; k++) {
        if (releases[k] || blocks[k]->ended) fence(causality, blocks[k]);
        const struct clock *released = causality->of_block[blocks[k]->index].released;
        if (released != NULL) clock_join(causality, all, released);
    }
    for (uint32_t k = 0; k < count && !causality->off; k++) {
        struct clock *clock = clock_of(causality, blocks[k]->index);
        if (clock != NULL && clock_join(causality, clock, all)) moment_end(causality, blocks[k]);
        acquire(causality, blocks[k]);
    }
    clock_release(all);
}

void exec_causality_meet_cluster(const struct exec_warp *warp, const struct exec_block *home,
                                 enum exec_access access, bool releases)
{
    struct exec_causality *causality = warp->worker->causality;
    if (causality == NULL || causality->off) return;
    if (causality->homes == NULL)
        causality->homes = calloc(causality->blocks, sizeof *causality->homes);
    if (causality->homes == NULL) {
        causality->off = true;
        return;
    }
    struct cell *cell = &causality->homes[home->index];
    if (releases) fence(causality, warp->block);
    if (access != EXEC_STORE) take_over(causality, warp->block, cell->passes, true);
    if (access != EXEC_LOAD) pass_on(causality, warp->block->index, &cell->passes, true);
}

/* ---- races ----------------------------------------------------------------------------------- */

struct access {
    struct exec_warp *warp;
    const struct exec_inst *inst;
    const struct exec_region_cache *cache;
    unsigned looks;
    bool is_strong;
    bool keeps;     /* a store of what memory holds already ... */
    bool is_same;   /* ... that is plain */
    uint32_t bytes; /* per lane */
    struct exec_causality *causality;
    struct exec_block *block;
};

/* One lane of an access. */
struct at {
    unsigned lane;
    uint64_t offset; /* in the region */
};

/* Returns false if the access comes after `by`, or `by` is the same block or none. */
static bool is_unordered(const struct access *access, const struct by *by)
{
    const uint64_t block = access->block->index;
    return by->block != 0 && by->block != block + 1 &&
           by->epoch > epoch_of(access->causality, block, by->block - 1);
}

/* Returns true if the access comes after `by` only by what the block has not acquired, and needs
 * more: a load, or a store of a value that was counted up from a load of the same place. */
static bool is_stale(const struct access *access, const struct by *by)
{
    const uint64_t block = access->block->index;
    const struct clock *acquired = access->causality->of_block[block].acquired;
    const bool loads =
        access->cache->deed == EXEC_DEED_LOAD && !(access->looks & EXEC_LOOK_PAST_L1);
    return acquired != NULL && (loads || access->looks & EXEC_LOOK_COUNTS) && by->block != 0 &&
           by->block != block + 1 && by->epoch > acquired->epochs[by->block - 1];
}

/* Returns the atomic that the access, a plain load, comes too early for; NULL: there is none. A
 * thread of that block has told this one that it is done while another one still had the atomic to
 * make, and a barrier of this block has let all rely on it. Any other load of what others change by
 * atomics is taken for a guess, which may be old. */
static const struct by *is_too_early(const struct access *access, const struct cell *cell)
{
    const uint64_t block = access->block->index;
    if (access->cache->deed != EXEC_DEED_LOAD || access->looks & EXEC_LOOK_BLOCKS ||
        access->bytes < 1u << UNIT_BITS || !access->causality->of_block[block].spread)
        return NULL;
    for (unsigned k = 0; k < 2; k++) {
        const struct by *by = &cell->late[k];
        if (is_unordered(access, by) && epoch_of(access->causality, block, by->block - 1) > 0)
            return by;
    }
    return NULL;
}

/* Returns true if the access reads data that another block has stored, and told this one of since:
 * something should order the two. What nobody has told of yet, and what decides what a thread does,
 * may be read at any time. Plain stores against plain loads are left to is_plain. */
static bool is_hearsay(const struct access *access, const struct cell *cell)
{
    const struct by *by = &cell->latest;
    const struct clock *hearsay = access->causality->of_block[access->block->index].hearsay;
    if (hearsay == NULL || by->block == 0 || !(access->looks & EXEC_LOOK_DATA) ||
        access->bytes < 1u << UNIT_BITS ||
        (!access->is_strong && (!cell->is_strong || access->looks & EXEC_LOOK_BLOCKS)))
        return false;
    return hearsay->epochs[by->block - 1] > cell->told_before;
}

static void tell(const struct access *access, const struct at *at, const struct by *by,
                 enum exec_access other, enum exec_wrong wrong)
{
    const struct exec_position *position =
        &access->warp->worker->function->program->positions[by->site];
    const struct exec_racecheck_side first = {
        .access = other, .file = position->file, .line = position->line};
    exec_grid_shadow_found(access->warp, access->inst, access->cache, at->lane, at->offset,
                           access->bytes, wrong, &first);
}

/* A store of less than a unit is not treated as an update: which bytes were changed is not
 * known. */
static bool is_modify(const struct access *access)
{
    return access->is_strong && access->looks & EXEC_LOOK_MODIFIES &&
           access->bytes >= 1u << UNIT_BITS;
}

/* Returns true if the access is compared, as a plain one, with other blocks' plain stores to the
 * cell. */
static bool is_plain(const struct access *access, const struct cell *cell)
{
    return !access->is_strong && !access->is_same && !cell->is_strong &&
           !(access->looks & EXEC_LOOK_BLOCKS) && access->bytes >= 1u << UNIT_BITS;
}

/* Returns the store that the access has to come after; NULL: none. */
static const struct by *store_of(const struct access *access, const struct cell *cell)
{
    if (is_hearsay(access, cell)) return &cell->latest;
    return is_plain(access, cell) ? &cell->write : NULL;
}

static bool is_race(const struct access *access, const struct cell *cell)
{
    const struct by *store = store_of(access, cell);
    return (is_modify(access) && is_unordered(access, &cell->modify)) ||
           (store != NULL && (is_unordered(access, store) || is_stale(access, store))) ||
           is_too_early(access, cell) != NULL;
}

/* Blocks that never tell each other anything, except at the barriers of their clusters or of their
 * grid, are reported as what they are launched as. */
static enum exec_wrong wrong_of(const struct access *access)
{
    const struct exec_worker *worker = access->warp->worker;
    const bool tells = worker->function->info.converses || worker->function->info.fences;
    if (worker->launch->cooperative && !(tells && access->causality->talks)) return EXEC_WRONG_GRID;
    return tells ? EXEC_WRONG_UNFENCED : EXEC_WRONG_BLOCKS;
}

static void tell_all(const struct access *access, const struct at *at, const struct cell *cell)
{
    const struct by *change = is_too_early(access, cell);
    const struct by *store = store_of(access, cell);
    if (is_modify(access) && is_unordered(access, &cell->modify))
        tell(access, at, &cell->modify, EXEC_STORE, EXEC_WRONG_VOLATILE);
    if (store != NULL && is_unordered(access, store))
        tell(access, at, store, EXEC_STORE, wrong_of(access));
    else if (store != NULL && is_stale(access, store))
        tell(access, at, store, EXEC_STORE, EXEC_WRONG_UNACQUIRED);
    if (change != NULL) tell(access, at, change, EXEC_ATOMIC, wrong_of(access));
}

/* What a strong access leaves for is_too_early. An atomic is late if another warp of its block has
 * passed something new on since the last barrier. */
static void leave_strong(const struct access *access, struct cell *cell, uint32_t epoch)
{
    const uint64_t index = access->block->index;
    const enum exec_access kind = access->cache->access;
    struct clocks *mine = &access->causality->of_block[index];
    const uint32_t block = (uint32_t)index + 1, warp = access->warp->index + 1;
    if (kind == EXEC_ATOMIC && mine->told_epoch != 0 && mine->told != warp &&
        mine->told_at == mine->barriers) {
        if (cell->late[0].block != block) cell->late[1] = cell->late[0];
        cell->late[0] = (struct by){block, epoch, access->inst->position};
    }
    if (kind == EXEC_LOAD || access->looks & EXEC_LOOK_HEARS) {
        mine->heard = true;
        mine->spread = false;
    }
    if (kind == EXEC_LOAD || mine->released == NULL ||
        mine->released->epochs[index] <= mine->told_epoch)
        return;
    mine->told = warp;
    mine->told_epoch = mine->released->epochs[index];
    mine->told_at = mine->barriers;
}

/* What any access leaves for is_hearsay. */
static void leave_told(const struct access *access, struct cell *cell, uint32_t epoch)
{
    const struct exec_causality *causality = access->causality;
    const uint64_t block = access->block->index;
    const enum exec_access kind = access->cache->access;
    if (kind != EXEC_LOAD && !access->keeps) {
        const bool stores = kind == EXEC_STORE && access->bytes >= 1u << UNIT_BITS;
        cell->latest = (struct by){stores ? (uint32_t)block + 1 : 0, epoch, access->inst->position};
        cell->told_before = causality->of_block[block].tells;
    }
    if (!access->is_strong) return;
    if (!(access->looks & EXEC_LOOK_DATA) && (kind == EXEC_LOAD || access->looks & EXEC_LOOK_HEARS))
        hear(access->causality, access->block, &cell->told);
    if (kind != EXEC_LOAD) tell_others(access->causality, block, &cell->told, kind == EXEC_ATOMIC);
}

/* Updates the cell after an access, and the block's clock from it. An update by volatile accesses
 * gets the epoch that the block's last fence released: its own store passes on that fence's clock,
 * so a block that reads the value is ordered after the update. */
static void leave(const struct access *access, struct cell *cell)
{
    struct exec_causality *causality = access->causality;
    const uint64_t block = access->block->index;
    const struct clock *released = causality->of_block[block].released;
    const uint32_t now = epoch_of(causality, block, block);
    if (is_modify(access))
        cell->modify =
            (struct by){(uint32_t)block + 1, released != NULL ? released->epochs[block] : now,
                        access->inst->position};
    if (is_plain(access, cell) && access->cache->access == EXEC_STORE)
        cell->write = (struct by){(uint32_t)block + 1, now, access->inst->position};
    leave_told(access, cell, now);
    if (access->is_strong) leave_strong(access, cell, now);
    if (access->is_strong || cell->is_strong)
        strong(causality, access->block, cell, access->cache->access,
               access->looks & EXEC_LOOK_ACQUIRES);
}

/* Begins an access. Returns false if it is not race-checked. */
static bool begin(struct access *access, struct exec_warp *warp, const struct exec_inst *inst,
                  const struct exec_region_cache *cache, uint32_t bytes)
{
    struct exec_causality *causality = warp->worker->causality;
    const unsigned looks = looks_of(warp, inst);
    const enum memory_kind kind = cache->region->kind;
    if (causality->off) return false;
    *access = (struct access){.warp = warp,
                              .inst = inst,
                              .cache = cache,
                              .looks = looks,
                              .is_strong = cache->access == EXEC_ATOMIC || looks & EXEC_LOOK_STRONG,
                              .bytes = bytes,
                              .causality = causality,
                              .block = warp->block};
    /* The host may respond, and so order blocks in a way that is not seen here. */
    if (access->is_strong && (kind == MEMORY_PINNED || kind == MEMORY_MANAGED)) {
        causality->off = true;
        return false;
    }
    if (cache->access == EXEC_ATOMIC && looks & EXEC_LOOK_BLOCK_SCOPE) return false;
    causality->talks |= access->is_strong;
    if (access->is_strong && cache->access != EXEC_LOAD)
        causality->of_block[warp->block->index].tells++;
    if (looks & EXEC_LOOK_RELEASES) fence(causality, warp->block);
    if (warp->block->moment == 0) moment_end(causality, warp->block);
    return true;
}

/* Notes whether the access is a store that leaves memory as it is, in each of the lanes. Code that
 * compacts an array in place does so where nothing has been dropped yet, and other blocks read it.
 */
static void note_same(struct access *access, unsigned first, unsigned end, uint64_t address)
{
    const unsigned stored = (access->looks & EXEC_LOOK_STORED) >> EXEC_LOOK_STORED_BIT;
    if (access->cache->access != EXEC_STORE || stored == 0) return;
    const uint32_t count = 1u << (stored - 1), element = access->bytes / count;
    const unsigned char *memory =
        (const unsigned char *)(uintptr_t)(address + access->cache->delta);
    for (unsigned l = first; l < end; l++, memory += access->bytes)
        if (exec_stores_new(access->warp, access->inst, l, memory, element, count)) return;
    access->keeps = true;
    access->is_same = !access->is_strong;
}

/* Race-checks an access to units of one line. `at`: the lane of the first unit. */
static void touch_units(const struct access *access, struct exec_causal *causal, uint64_t index,
                        unsigned first, unsigned end, struct at at)
{
    const bool looks = access->cache->deed == EXEC_DEED_LOAD;
    const unsigned each = access->bytes >> UNIT_BITS > 0 ? access->bytes >> UNIT_BITS : 1;
    struct exec_causal_line *line = looks ? &causal->lines[index] : line_at(causal, index);
    if (looks && is_untouched(line)) return;
    struct cell *alike = line_alike(line, first, end, looks);
    if (alike != NULL && !is_race(access, alike)) {
        leave(access, alike);
        return;
    }
    if (!looks && !line_split(access->causality, line)) return;
    for (unsigned k = first; k < end; k++) {
        struct cell *cell = line->cells != NULL ? &line->cells[k] : &line->alike;
        const uint32_t lane = (k - first) / each;
        const struct at here = {at.lane + lane, at.offset + (uint64_t)lane * access->bytes};
        if (line->cells == NULL && (k < line->first || k >= line->end)) continue;
        tell_all(access, &here, cell);
        leave(access, cell);
    }
}

void exec_causality_touch(struct exec_warp *warp, const struct exec_inst *inst,
                          const struct exec_region_cache *cache, unsigned lane, uint64_t address,
                          uint32_t bytes)
{
    struct exec_causal *causal = cache->causal;
    struct access access;
    if (!begin(&access, warp, inst, cache, bytes)) return;
    note_same(&access, lane, lane + 1, address);
    const struct at at = {lane, address - cache->low};
    const uint64_t end = ((address + bytes - 1 - causal->low) >> UNIT_BITS) + 1;
    for (uint64_t unit = (address - causal->low) >> UNIT_BITS; unit < end;) {
        const unsigned first = (unsigned)(unit % UNITS);
        const unsigned here = end - unit < UNITS - first ? (unsigned)(end - unit) : UNITS - first;
        if (cache->deed != EXEC_DEED_LOAD) causal->old[unit / UNITS] = 0;
        touch_units(&access, causal, unit / UNITS, first, first + here, at);
        unit += here;
    }
}

/* Records what the block has done to all of a line in its present moment. Earlier deeds are dropped
 * if the line has just become strong, because a plain access to a strong cell has another
 * effect. */
static void note_old(const struct access *access, struct exec_causal *causal, uint64_t index,
                     bool was_strong)
{
    const struct exec_causal_line *line = &causal->lines[index];
    const uint64_t moment = access->block->moment, deeds = (1 << EXEC_DEED_BITS) - 1;
    const bool goes_on =
        (causal->old[index] & ~deeds) == moment && line->alike.is_strong == was_strong;
    const bool whole = is_untouched(line) || line->end - line->first == UNITS;
    if (line->cells != NULL || !whole || access->cache->deed == EXEC_DEED_NEW)
        causal->old[index] = 0;
    else
        causal->old[index] = (goes_on ? causal->old[index] : moment) | access->cache->deed;
}

void exec_causality_row(struct exec_warp *warp, const struct exec_inst *inst,
                        const struct exec_region_cache *cache, uint64_t address, uint32_t bytes)
{
    struct exec_causal *causal = cache->causal;
    struct access access;
    if (bytes < 1u << UNIT_BITS) {
        for (unsigned l = 0; l < EXEC_LANES; l++)
            exec_causality_touch(warp, inst, cache, l, address + (uint64_t)l * bytes, bytes);
        return;
    }
    if (!begin(&access, warp, inst, cache, bytes)) return;
    note_same(&access, 0, EXEC_LANES, address);
    struct at at = {0, address - cache->low};
    uint64_t unit = (address - causal->low) >> UNIT_BITS;
    const unsigned each = bytes >> UNIT_BITS;
    const uint64_t end = unit + (uint64_t)EXEC_LANES * each;
    while (unit < end) {
        const unsigned first = (unsigned)(unit % UNITS);
        const unsigned here = end - unit < UNITS - first ? (unsigned)(end - unit) : UNITS - first;
        const bool was_strong = causal->lines[unit / UNITS].alike.is_strong;
        touch_units(&access, causal, unit / UNITS, first, first + here, at);
        if (access.is_same)
            causal->old[unit / UNITS] = 0; /* the next store there may change something */
        else
            note_old(&access, causal, unit / UNITS, was_strong);
        at.lane += here / each;
        at.offset += (uint64_t)here << UNIT_BITS;
        unit += here;
    }
}
