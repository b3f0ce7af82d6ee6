/* exec_shadow: who touched each byte of a block's shared memory last, and whether anything orders a
 * new touch behind those. Private to emulator/exec.
 *
 * Two touches of a byte by two threads of a block, of which one at least writes, are a race unless
 * something orders them. What orders, and what is never accused:
 *  - a barrier of the block (bar, barrier, cluster) that completes, one with a count or an arrival
 *    included, and a phase of a barrier object (mbarrier) that completes: all that the block did
 *    before comes before all that it does later. For barriers that only some threads take part in
 *    this is more than they promise: a race beside one may be missed, no order is. Only what a
 *    thread stored that went round the barrier in a loop and has exited stays unordered;
 *  - a .sync instruction (bar.warp.sync, shfl, vote, match, redux, elect): the same for the warp.
 *    CUDA promises it for __syncwarp() alone; programs rely on the others;
 *  - what threads tell each other by flags, tickets and locks, with fences or acquire and release:
 *    check/order.h. Without those a flag or a lock passes nothing on;
 *  - two atomics; and volatile or ordered accesses against anything (they converse);
 *  - a store of the value that is there already: nobody could see it; and who has stored it may
 *    well read it;
 *  - stores by one instruction of one warp: PTX promises that one of them stays. But for those of
 *    what was loaded there before and changed (x++): of such changes all but one are lost;
 *  - a load whose address an atomic further on in the function has too: a look before the act.
 * An asynchronous copy into shared memory is a store of the thread that asks for it, at that moment
 * and once more when it is waited for (check/async.h). Lanes of a warp that
 * merely run side by side are not ordered (Volta and later). The same rules, and these cells, serve
 * for global memory: check/block_shadow.h.
 *
 * Source: PTX ISA 9.0, chapter 8 (memory consistency model) and 9.7.13; CUDA Programming Guide,
 * "Independent Thread Scheduling", "Synchronization Functions".
 */
#ifndef OVERLAP_EXEC_CHECK_SHADOW_H
#define OVERLAP_EXEC_CHECK_SHADOW_H

#include "emulator/exec/check/check.h"

#include <string.h>

/* A touch: when, whether other lanes of the warp did so since their last order, and which thread.
 * Later ones are larger; 0: never. Time goes on with each order that comes behind a touch. */
enum {
    EXEC_SHADOW_THREAD_BITS = 10,
    EXEC_SHADOW_MANY = 1 << EXEC_SHADOW_THREAD_BITS,
    EXEC_SHADOW_THREAD = EXEC_SHADOW_MANY - 1,
    EXEC_SHADOW_TIME = EXEC_SHADOW_THREAD_BITS + 1, /* the time's lowest bit */
};

/* What is kept of each cell: the last write; the last reader, and the last of another warp before
 * it; the same of atomics. With two of different warps, whoever comes is a stranger to one. */
enum exec_kept {
    EXEC_KEPT_WRITE,
    EXEC_KEPT_READ,
    EXEC_KEPT_READ_OTHER,
    EXEC_KEPT_ATOM,
    EXEC_KEPT_ATOM_OTHER,
    EXEC_KEPT_COUNT
};

struct exec_shadow {
    uint32_t bytes;
    unsigned shift; /* a cell stands for 1 << shift bytes: no access was smaller so far */
    int32_t time;
    int32_t floor;                      /* what is below is ordered before everything */
    int32_t warp_floor[EXEC_MAX_WARPS]; /* the same for a warp's own */
    uint32_t touched;        /* warps, since their last order and the last moment of a fence */
    uint32_t touched_before; /* warps, since their last order, before that moment */
    bool atomics;            /* there was one */
    bool atomics_alone;      /* an atomic and a load are no race */
    bool converses;          /* some thread knows more than the floors: check/order.h */
    bool visited;            /* another block has touched the memory: check/cluster.h */
    int32_t *cells[EXEC_KEPT_COUNT];  /* made by exec_shadow_tells */
    uint32_t *sites[EXEC_KEPT_COUNT]; /* the position of what made the cell what it is */
};

/* Whether a warp has touched anything there since its last order; bit `bit` is its. */
static inline bool exec_shadow_is_touched(const struct exec_shadow *shadow, uint32_t bit)
{
    return shadow != NULL && ((shadow->touched | shadow->touched_before) & bit) != 0;
}

/* ---- touches, for check/block_shadow.c ------------------------------------------------------- */

/* A touch of some cells, by one thread. */
struct exec_touch {
    const struct exec_warp *warp;
    const struct exec_inst *inst;
    struct exec_shadow *shadow;
    const struct exec_region_cache *cache; /* of global memory; NULL: shared */
    struct exec_block *home; /* of shared memory, in a cluster: whose it is; else NULL */
    uint32_t thread;
    uint32_t bytes;
    int32_t now;   /* the cell that it leaves */
    bool counts;   /* a store as EXEC_LOOK_COUNTS has it ... */
    bool together; /* ... and another lane of its instruction stores to the same place */
    enum exec_access access;
};

/* What load_cell of check/shadow.c leaves of `count` cells from `index` on, where no write and no
 * atomic is in the way and nothing converses: cell k is read by thread first + (k >> shift). All
 * are of one warp. */
static inline __attribute__((always_inline)) void
exec_shadow_read_row(struct exec_shadow *shadow, size_t index, uint32_t count, int32_t first,
                     uint32_t shift, uint32_t site)
{
    const int32_t warp = first / EXEC_LANES, floor = shadow->floor;
    const int32_t warp_floor = shadow->warp_floor[warp], time = shadow->time << EXEC_SHADOW_TIME;
    int32_t *restrict reads = shadow->cells[EXEC_KEPT_READ] + index;
    int32_t *restrict others = shadow->cells[EXEC_KEPT_READ_OTHER] + index;
    uint32_t *restrict sites = shadow->sites[EXEC_KEPT_READ] + index;
    uint32_t *restrict other_sites = shadow->sites[EXEC_KEPT_READ_OTHER] + index;
    for (uint32_t k = 0; k < count; k++) {
        const int32_t self = first + (int32_t)(k >> shift), before = reads[k], other = others[k];
        const uint32_t site_before = sites[k], other_site = other_sites[k];
        const int32_t alone = other < floor, fresh = before >= floor;
        const int32_t foreign =
            (before & EXEC_SHADOW_THREAD & ~(EXEC_LANES - 1)) != warp * EXEC_LANES;
        const int32_t again = fresh & !foreign & (before >= warp_floor);
        const int32_t many = (before & EXEC_SHADOW_THREAD) != self ? EXEC_SHADOW_MANY : before;
        const int32_t now = time | self | (again ? many & EXEC_SHADOW_MANY : 0);
        others[k] = alone & fresh & foreign ? before : other;
        other_sites[k] = alone & fresh & foreign ? site_before : other_site;
        reads[k] = alone ? now : before;
        sites[k] = alone ? site : site_before;
    }
}

/* Some cells at once, in vectors that every compiler makes instructions of; and whether any of a
 * comparison's is set. */
typedef int32_t exec_cells __attribute__((vector_size(32), aligned(4)));
enum { EXEC_CELLS = sizeof(exec_cells) / sizeof(int32_t) };

static inline exec_cells *exec_cells_at(const void *cells, size_t index)
{
    return (exec_cells *)(uintptr_t)((const int32_t *)cells + index);
}

static inline bool exec_cells_any(exec_cells cells)
{
    uint64_t parts[sizeof cells / sizeof(uint64_t)], any = 0;
    memcpy(parts, &cells, sizeof parts);
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) any |= parts[k];
    return any != 0;
}

/* exec_shadow_read_row of cells, a multiple of EXEC_CELLS, that a warp's threads read in whatever
 * order: cell k is read by threads[k]. */
static inline void exec_shadow_read_turned(struct exec_shadow *shadow, size_t index, size_t count,
                                           const int32_t *threads, uint32_t site)
{
    const int32_t warp = threads[0] / EXEC_LANES, floor = shadow->floor;
    const int32_t warp_floor = shadow->warp_floor[warp], time = shadow->time << EXEC_SHADOW_TIME;
    for (size_t k = index, l = 0; l < count; k += EXEC_CELLS, l += EXEC_CELLS) {
        exec_cells *reads = exec_cells_at(shadow->cells[EXEC_KEPT_READ], k);
        exec_cells *others = exec_cells_at(shadow->cells[EXEC_KEPT_READ_OTHER], k);
        exec_cells *sites = exec_cells_at(shadow->sites[EXEC_KEPT_READ], k);
        exec_cells *other_sites = exec_cells_at(shadow->sites[EXEC_KEPT_READ_OTHER], k);
        const exec_cells self = *exec_cells_at(threads, l), before = *reads;
        const exec_cells who = before & EXEC_SHADOW_THREAD;
        const exec_cells alone = *others < floor, fresh = before >= floor;
        const exec_cells foreign = (who & ~(EXEC_LANES - 1)) != warp * EXEC_LANES;
        const exec_cells again = fresh & ~foreign & (before >= warp_floor);
        const exec_cells many = ((who != self) | before) & EXEC_SHADOW_MANY;
        const exec_cells now = time | self | (again & many), moves = alone & fresh & foreign;
        *others = (before & moves) | (*others & ~moves);
        *other_sites = (*sites & moves) | (*other_sites & ~moves);
        *reads = (now & alone) | (before & ~alone);
        *sites = ((int32_t)site & alone) | (*sites & ~alone);
    }
}

/* The same of 32 lanes that change their cells atomically, from thread `first` on, where no read or
 * write is in the way and nothing converses. */
static inline void exec_shadow_atomics(struct exec_shadow *shadow, const int32_t *index,
                                       int32_t first, uint32_t site)
{
    const int32_t warp = first / EXEC_LANES, floor = shadow->floor;
    const int32_t warp_floor = shadow->warp_floor[warp], time = shadow->time << EXEC_SHADOW_TIME;
    int32_t *last = shadow->cells[EXEC_KEPT_ATOM], *others = shadow->cells[EXEC_KEPT_ATOM_OTHER];
    uint32_t *sites = shadow->sites[EXEC_KEPT_ATOM];
    uint32_t *other_sites = shadow->sites[EXEC_KEPT_ATOM_OTHER];
    for (int32_t l = 0; l < EXEC_LANES; l++) {
        const int32_t k = index[l], before = last[k], thread = before & EXEC_SHADOW_THREAD;
        int32_t many = 0;
        /* With two of different warps no other access is unseen. */
        if (before >= floor && others[k] >= floor) continue;
        if (before >= floor && thread / EXEC_LANES != warp) {
            others[k] = before;
            other_sites[k] = sites[k];
        } else if (before >= floor && before >= warp_floor) {
            many = thread == first + l ? before & EXEC_SHADOW_MANY : EXEC_SHADOW_MANY;
        }
        last[k] = time | (first + l) | many;
        sites[k] = site;
    }
    shadow->atomics = true;
    shadow->touched |= 1u << warp;
}

/* ---- moments, for check/order.c -------------------------------------------------------------- */

/* The next moment, if anything was touched in this one. */
void exec_shadow_next_moment(const struct exec_block *block);
/* The warp has touched something that has no cell. */
void exec_shadow_touched(const struct exec_warp *warp);
/* Whether threads know more of each other than the floors say. */
void exec_shadow_converses(const struct exec_block *block, bool converses);

/* Begins touches of `shadow` by `warp`, of its own block's memory; `cache` as above; `bytes`: of
 * one lane's access. */
void exec_touch_begin(struct exec_touch *touch, const struct exec_warp *warp,
                      const struct exec_inst *inst, struct exec_shadow *shadow,
                      const struct exec_region_cache *cache, enum exec_access access,
                      uint32_t bytes);
void exec_touch_by(struct exec_touch *touch, unsigned lane);
void exec_touch_cells(const struct exec_touch *touch, uint64_t offset, uint64_t bytes);
/* The thread stores there what another has stored already: from now on it is nobody's. */
void exec_touch_same(const struct exec_touch *touch, uint64_t offset, uint64_t bytes);
/* Makes cells that tell accesses of `unit` bytes, a power of two, apart; false: no memory. */
bool exec_shadow_tells(struct exec_shadow *shadow, uint64_t unit);

/* Thread `thread` of the block has stored there just now, at `site` of the source; what was before
 * is not looked at. */
void exec_shadow_stored(struct exec_shadow *shadow, uint32_t thread, uint64_t offset,
                        uint64_t bytes, uint32_t site);

/* The same of a load. */
void exec_shadow_loaded(struct exec_shadow *shadow, uint32_t thread, uint64_t offset,
                        uint64_t bytes, uint32_t site);

/* One side of what is told: thread of the block, position of the source. */
struct exec_reported {
    uint32_t thread, site;
    enum exec_access access;
    bool known; /* the thread is */
};
/* Adds to the launch's exec_racecheck. `region`: of global memory, or NULL; `offset` in it, or in
 * shared memory; `bytes`: of the second side's access. */
void exec_report(const struct exec_warp *warp, enum exec_wrong wrong,
                 const struct exec_reported *first, const struct exec_reported *second,
                 const struct memory_region *region, uint64_t offset, uint32_t bytes);

/* All lanes read, each its cell of `index`, and no write is in their way. */
void exec_shadow_readers(struct exec_warp *warp, const struct exec_inst *inst,
                         const int32_t *index);

#endif
