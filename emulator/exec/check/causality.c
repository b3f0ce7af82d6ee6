#include "emulator/exec/check/causality.h"

#include <stdlib.h>
#include <string.h>

#include "emulator/base/hash.h"
#include "emulator/exec/check/grid_shadow.h"

enum {
    UNIT_BITS = 2,         /* bytes that are told apart: 4 */
    BLOCKS_MOST = 2048,    /* of a grid */
    CELLS_LEAST = 1 << 12, /* at first */
    CELLS_MOST = 1 << 22,  /* beyond, nothing is found any more */
};

/* For every block the latest of its epochs that is known to be over. Never changed once shared. */
struct clock {
    unsigned references;
    uint32_t epochs[];
};

/* Who accessed something last: block + 1 (0: nobody), in which of its epochs, from where. */
struct by {
    uint32_t block, epoch, site;
};

/* A unit of memory. */
struct cell {
    uint64_t unit;        /* address >> UNIT_BITS; 0: free */
    struct by write;      /* plain */
    struct by modify;     /* a volatile store of what was loaded there before */
    bool is_strong;       /* some access to it was */
    struct clock *passes; /* what comes with the value; NULL: nothing */
};

struct exec_causality {
    uint64_t blocks;
    bool off;
    struct clock **clocks;   /* of each block: what it knows, its own epoch included */
    struct clock **released; /* of each block, as of its last fence; NULL: there was none */
    struct clock **taken;    /* by each block, the last that came with a value it read */
    struct cell *cells;
    size_t mask, used; /* their number - 1; those in use */
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

/* Whether `clock` knows all that `other` does. */
static bool clock_covers(const struct exec_causality *causality, const struct clock *clock,
                         const struct clock *other)
{
    for (uint64_t i = 0; i < causality->blocks; i++)
        if (other->epochs[i] > clock->epochs[i]) return false;
    return true;
}

static void clock_join(const struct exec_causality *causality, struct clock *clock,
                       const struct clock *other)
{
    for (uint64_t i = 0; i < causality->blocks; i++)
        if (other->epochs[i] > clock->epochs[i]) clock->epochs[i] = other->epochs[i];
}

/* The block's own clock, made when it first does something; NULL: no memory, and it is all off. */
static struct clock *clock_of(struct exec_causality *causality, uint64_t block)
{
    struct clock **clock = &causality->clocks[block];
    if (*clock == NULL) {
        *clock = clock_copy(causality, NULL);
        if (*clock == NULL)
            causality->off = true;
        else
            (*clock)->epochs[block] = 1;
    }
    return *clock;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static size_t place_of(const struct exec_causality *causality, uint64_t unit)
{
    size_t k = (size_t)(hash_spread(unit) >> 20) & causality->mask;
    while (causality->cells[k].unit != 0 && causality->cells[k].unit != unit)
        k = (k + 1) & causality->mask;
    return k;
}

static bool grow(struct exec_causality *causality)
{
    const struct exec_causality before = *causality;
    const size_t count = before.cells == NULL ? CELLS_LEAST : 2 * (before.mask + 1);
    if (count > CELLS_MOST) return false;
    struct cell *cells = calloc(count, sizeof *cells);
    if (cells == NULL) return false;
    causality->cells = cells;
    causality->mask = count - 1;
    for (size_t i = 0; before.cells != NULL && i <= before.mask; i++)
        if (before.cells[i].unit != 0)
            cells[place_of(causality, before.cells[i].unit)] = before.cells[i];
    free(before.cells);
    return true;
}

static struct cell *cell_of(struct exec_causality *causality, uint64_t unit)
{
    if (2 * causality->used > causality->mask && !grow(causality)) {
        causality->off = true;
        return NULL;
    }
    struct cell *cell = &causality->cells[place_of(causality, unit)];
    if (cell->unit == 0) causality->used++;
    cell->unit = unit;
    return cell;
}

/* ---- life ------------------------------------------------------------------------------------ */

struct exec_causality *exec_causality_create(uint64_t blocks)
{
    if (blocks > BLOCKS_MOST) return NULL;
    struct exec_causality *causality = calloc(1, sizeof *causality);
    if (causality == NULL) return NULL;
    causality->blocks = blocks;
    causality->clocks = calloc(blocks, sizeof(struct clock *));
    causality->released = calloc(blocks, sizeof(struct clock *));
    causality->taken = calloc(blocks, sizeof(struct clock *));
    if (causality->clocks != NULL && causality->released != NULL && causality->taken != NULL &&
        grow(causality))
        return causality;
    exec_causality_destroy(causality);
    return NULL;
}

void exec_causality_destroy(struct exec_causality *causality)
{
    if (causality == NULL) return;
    for (uint64_t i = 0; i < causality->blocks; i++) {
        if (causality->clocks != NULL) clock_release(causality->clocks[i]);
        if (causality->released != NULL) clock_release(causality->released[i]);
        if (causality->taken != NULL) clock_release(causality->taken[i]);
    }
    for (size_t i = 0; causality->cells != NULL && i <= causality->mask; i++)
        clock_release(causality->cells[i].passes);
    free(causality->clocks);
    free(causality->released);
    free(causality->taken);
    free(causality->cells);
    free(causality);
}

void exec_causality_give_up(struct exec_causality *causality)
{
    if (causality != NULL) causality->off = true;
}

bool exec_causality_judges(const struct exec_worker *worker, const struct memory_region *region)
{
    struct exec_causality *causality = worker->causality;
    return causality != NULL && !causality->off && region->address != worker->launch->heap_address;
}

/* ---- what orders ----------------------------------------------------------------------------- */

/* All that the block has done so far may be passed on from now on. */
static void fence(struct exec_causality *causality, uint64_t block)
{
    struct clock *clock = clock_of(causality, block);
    struct clock *released = clock != NULL ? clock_copy(causality, clock) : NULL;
    if (released == NULL) return;
    clock_release(causality->released[block]);
    causality->released[block] = released;
    clock->epochs[block]++;
}

int exec_causality_fence(struct exec_warp *warp, const struct exec_inst *inst)
{
    struct exec_causality *causality = warp->worker->causality;
    warp->instructions--;
    if (causality != NULL && !causality->off && exec_racecheck_lanes(warp, inst))
        fence(causality, warp->block->index);
    return EXEC_GO;
}

/* The block has read a value. */
static void take_over(struct exec_causality *causality, uint64_t block, const struct cell *cell)
{
    struct clock *passes = cell->passes;
    if (passes == NULL || passes == causality->taken[block]) return; /* it looks again */
    struct clock *clock = clock_of(causality, block);
    if (clock == NULL) return;
    clock_join(causality, clock, passes);
    passes->references++;
    clock_release(causality->taken[block]);
    causality->taken[block] = passes;
}

/* The block leaves a value behind; `adds`: to what was there, as an atomic does. */
static void pass_on(struct exec_causality *causality, uint64_t block, struct cell *cell, bool adds)
{
    struct clock *released = causality->released[block];
    if (adds && cell->passes != NULL) {
        if (released == NULL || clock_covers(causality, cell->passes, released)) return;
        if (!clock_covers(causality, released, cell->passes)) {
            struct clock *both = clock_copy(causality, cell->passes);
            if (both == NULL) return;
            clock_join(causality, both, released);
            clock_release(cell->passes);
            cell->passes = both;
            return;
        }
    }
    if (released != NULL) released->references++;
    clock_release(cell->passes);
    cell->passes = released;
}

static void strong(struct exec_causality *causality, uint64_t block, struct cell *cell,
                   enum exec_access access)
{
    cell->is_strong = true;
    if (access != EXEC_STORE) take_over(causality, block, cell);
    if (access != EXEC_LOAD) pass_on(causality, block, cell, access == EXEC_ATOMIC);
}

static unsigned looks_of(const struct exec_warp *warp, const struct exec_inst *inst)
{
    const struct exec_program *program = warp->worker->function->program;
    return inst->cache < program->looks_room ? program->looks[inst->cache] : 0;
}

void exec_causality_meet(const struct exec_warp *warp, const struct exec_inst *inst,
                         uint64_t address, enum exec_access access)
{
    struct exec_causality *causality = warp->worker->causality;
    if (causality == NULL || causality->off) return;
    if (looks_of(warp, inst) & EXEC_LOOK_RELEASES) fence(causality, warp->block->index);
    struct cell *cell = cell_of(causality, address >> UNIT_BITS);
    if (cell != NULL) strong(causality, warp->block->index, cell, access);
}

/* ---- what nothing orders --------------------------------------------------------------------- */

struct access {
    struct exec_warp *warp;
    const struct exec_inst *inst;
    const struct exec_region_cache *cache;
    unsigned lane;
    uint64_t offset; /* in the region */
    uint32_t bytes;
    struct exec_causality *causality;
    const struct clock *clock; /* of its block */
    uint32_t block;            /* + 1 */
};

/* False: the access comes behind `by`, or that was the same block or nobody. */
static bool is_unordered(const struct access *access, const struct by *by)
{
    return by->block != 0 && by->block != access->block &&
           by->epoch > access->clock->epochs[by->block - 1];
}

static void tell(const struct access *access, const struct by *by, enum exec_access other,
                 enum exec_wrong wrong)
{
    const struct exec_position *position =
        &access->warp->worker->function->program->positions[by->site];
    const struct exec_racecheck_side first = {
        .access = other, .file = position->file, .line = position->line};
    exec_grid_shadow_found(access->warp, access->inst, access->cache, access->lane, access->offset,
                           access->bytes, wrong, &first);
}

static void plain(const struct access *access, struct cell *cell)
{
    if (is_unordered(access, &cell->write))
        tell(access, &cell->write, EXEC_STORE, EXEC_WRONG_UNFENCED);
    if (access->cache->access == EXEC_STORE)
        cell->write = (struct by){access->block, access->clock->epochs[access->block - 1],
                                  access->inst->position};
}

/* What the block loaded there may not be there any more. A store behind a fence is passed on with
 * what that released. */
static void modify(const struct access *access, struct cell *cell)
{
    const struct clock *released = access->causality->released[access->block - 1];
    const struct clock *of = released != NULL ? released : access->clock;
    if (is_unordered(access, &cell->modify))
        tell(access, &cell->modify, EXEC_STORE, EXEC_WRONG_VOLATILE);
    cell->modify =
        (struct by){access->block, of->epochs[access->block - 1], access->inst->position};
}

void exec_causality_touch(struct exec_warp *warp, const struct exec_inst *inst,
                          const struct exec_region_cache *cache, unsigned lane, uint64_t address,
                          uint32_t bytes)
{
    struct exec_causality *causality = warp->worker->causality;
    const uint64_t block = warp->block->index;
    const unsigned looks = looks_of(warp, inst);
    if (causality->off || clock_of(causality, block) == NULL) return;
    const bool is_strong = cache->access == EXEC_ATOMIC || looks & EXEC_LOOK_STRONG;
    /* The host may answer: it makes an order that is not seen here. */
    if (is_strong &&
        (cache->region->kind == MEMORY_PINNED || cache->region->kind == MEMORY_MANAGED)) {
        causality->off = true;
        return;
    }
    if (cache->access == EXEC_ATOMIC && looks & EXEC_LOOK_BLOCK_SCOPE) return;
    if (looks & EXEC_LOOK_RELEASES) fence(causality, block);
    const struct access access = {.warp = warp,
                                  .inst = inst,
                                  .cache = cache,
                                  .lane = lane,
                                  .offset = address - cache->low,
                                  .bytes = bytes,
                                  .causality = causality,
                                  .clock = causality->clocks[block],
                                  .block = (uint32_t)block + 1};
    for (uint64_t unit = address >> UNIT_BITS; unit <= (address + bytes - 1) >> UNIT_BITS; unit++) {
        struct cell *cell = cell_of(causality, unit);
        if (cell == NULL) return;
        if (is_strong && looks & EXEC_LOOK_MODIFIES) modify(&access, cell);
        if (is_strong || cell->is_strong)
            strong(causality, block, cell, cache->access);
        else if (!(looks & EXEC_LOOK_BLOCKS) && bytes >= 1u << UNIT_BITS)
            plain(&access, cell);
    }
}
