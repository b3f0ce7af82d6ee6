/* exec_shadow: race check between the threads of a block on its shared memory. Keeps who touched
 * each byte last, and decides whether anything orders a new touch after those. Private to
 * emulator/exec.
 *
 * Terms. A cell is the shadow of a few bytes: the last write, reads and atomics there. Time is
 * counted in moments; an order (a barrier, say) starts a new moment if anything was touched in the
 * present one. Touches before the block's floor are ordered before everything that comes; touches
 * by a warp before that warp's floor, before everything that comes from the same warp.
 *
 * Two touches of a byte by two threads of a block, at least one of them writing, are a race unless
 * something orders them. What orders touches, and what is never reported:
 *  - a barrier of the block (bar, barrier, cluster) that completes, also one with a thread count or
 *    an arrival, and a phase of a barrier object (mbarrier) that completes: everything that the
 *    block did before comes before everything that it does later. For barriers in which only some
 *    threads take part this is more than CUDA promises: a race beside one may be missed, but no
 *    correct program is reported. There are two exceptions. A thread that went round the barrier in
 *    a loop and has exited: its stores stay unordered. And, outside of clusters, what a warp loads
 *    from shared memory or stores there behind its last arrival at any barrier object, and its last
 *    fence: a phase of a barrier object does not order that, since nobody can know of it;
 *  - a .sync instruction (bar.warp.sync, shfl, vote, match, redux, elect): the same for the lanes
 *    that take part, of those that have not exited; the whole warp's floor, or check/order.h.
 *    CUDA promises this for __syncwarp() alone; programs rely on the others;
 *  - flags, tickets and locks, with fences or acquire and release: check/order.h. Without those, a
 *    flag or a lock orders nothing;
 *  - two atomics; and a volatile or ordered access against any other (such accesses converse);
 *  - a store of the value that memory already holds: no thread can observe it. The storing thread
 *    may read that value, too;
 *  - stores by lanes of one warp to shared memory that nobody reads: check/unread.h;
 *  - stores by one instruction of one warp: PTX promises that one of them takes effect. Not so
 *    stores of a value computed from a load of the same address (x++): all such updates but one are
 *    lost. Where lanes store the same value so to shared memory, the warp may read it, too;
 *  - a load from an address that an atomic further on in the function uses too: a look before the
 *    act; and a load of what an atomic has written by a warp whose look, or failed atom.cas, has
 *    read just that.
 * An asynchronous copy into shared memory counts as a store by the issuing thread, at that moment
 * and again when it is waited for (check/async.h). Lanes of a warp that merely run side by side are
 * not ordered (Volta and later). The same rules and cells serve for global memory:
 * check/block_shadow.h.
 *
 * Source: PTX ISA 9.0, chapter 8 (memory consistency model) and 9.7.13; CUDA Programming Guide,
 * "Independent Thread Scheduling", "Synchronization Functions".
 */
#ifndef OVERLAP_EXEC_CHECK_SHADOW_H
#define OVERLAP_EXEC_CHECK_SHADOW_H

#include "emulator/exec/check/check.h"

#include <string.h>

/* A cell's value is one touch: from the high bits down, its moment; whether other lanes of the warp
 * made it too since the warp's last order, or, of stores, another lane stored the same by the same
 * instruction; and the thread. So later touches are larger. 0:
 * never. */
enum {
    EXEC_SHADOW_THREAD_BITS = 10,
    EXEC_SHADOW_MANY = 1 << EXEC_SHADOW_THREAD_BITS,
    EXEC_SHADOW_THREAD = EXEC_SHADOW_MANY - 1,
    EXEC_SHADOW_TIME = EXEC_SHADOW_THREAD_BITS + 1, /* lowest bit of the moment */
};

/* What each cell keeps: the last write; the last reader, and the last reader of another warp before
 * that one; the same for atomics. Two readers of different warps are enough: any third thread is
 * unordered with at least one of them. */
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
    unsigned shift; /* a cell is for 1 << shift bytes, the smallest access so far */
    int32_t time;
    int32_t floor;                      /* touches below are ordered before everything to come */
    int32_t warp_floor[EXEC_MAX_WARPS]; /* the same for touches by the warp itself, per warp */
    /* Per warp: touches below came before its last arrival or fence, by which it may have passed
     * them on. And the touches that exec_shadow_order_phase has kept unordered: from `untold` on,
     * below `untold_end`; both 0: there are none. */
    int32_t passed_on[EXEC_MAX_WARPS];
    int32_t untold, untold_end;
    uint32_t touched;           /* warps that touched since their last order, in this moment ... */
    uint32_t touched_before;    /* ... and in earlier moments */
    bool atomics;               /* there has been one */
    bool atomics_alone;         /* an atomic against a load is no race */
    bool converses;             /* threads may know more than the floors say: check/order.h */
    bool visited;               /* another block has touched this memory: check/cluster.h */
    struct exec_unread *unread; /* made on first use: check/unread.h */
    /* By cell: warps of which a failed atom.cas, or a look, has read what the latest atomic wrote
     * there. NULL: none has yet. */
    uint32_t *seen;
    struct exec_line *lines;          /* NULL: there are only cells. check/shadow_line.h: */
    int32_t lined;                    /* the floor since which the lines hold touches */
    int32_t parted;                   /* the floor since which the cells hold all of them */
    int32_t *cells[EXEC_KEPT_COUNT];  /* allocated by exec_shadow_tells */
    uint32_t *sites[EXEC_KEPT_COUNT]; /* source position of each cell's touch */
};

/* Returns true if the warp with bit `bit` has touched the memory since its last order. */
static inline bool exec_shadow_is_touched(const struct exec_shadow *shadow, uint32_t bit)
{
    return shadow != NULL && ((shadow->touched | shadow->touched_before) & bit) != 0;
}

/* Returns true if something may have to order the touch of a cell before one by `thread`. */
static inline bool exec_shadow_is_strange(const struct exec_shadow *shadow, int32_t cell,
                                          int32_t thread)
{
    if (cell < shadow->floor || (cell & (EXEC_SHADOW_THREAD | EXEC_SHADOW_MANY)) == thread)
        return false;
    const int32_t warp = thread / EXEC_LANES;
    return (cell & EXEC_SHADOW_THREAD) / EXEC_LANES != warp || cell >= shadow->warp_floor[warp];
}

/* ---- touches, for check/block_shadow.c ------------------------------------------------------- */

/* A touch of some cells by one thread. */
struct exec_touch {
    const struct exec_warp *warp;
    const struct exec_inst *inst;
    struct exec_shadow *shadow;
    const struct exec_region_cache *cache; /* for global memory; NULL: shared memory */
    struct exec_block *home; /* in a race-checked cluster: whose shared memory; else NULL */
    uint32_t thread;
    uint32_t bytes;
    int32_t now;   /* the cell value that the touch leaves */
    bool counts;   /* a store with EXEC_LOOK_COUNTS ... */
    bool together; /* ... and another lane of the instruction stores to the same place */
    enum exec_access access;
};

/* Does what load_cell of check/shadow.c does for `count` cells from `index` on. Cell k is read by
 * thread first + (k >> shift); all are of one warp. Only where no write or atomic conflicts and
 * nothing converses. */
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

/* Vectors of cells, which every compiler turns into vector instructions. exec_cells_any: whether
 * any element of a comparison's result is set. */
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

/* exec_shadow_read_row for cells that a warp's threads read in any order: cell k is read by
 * threads[k]. `count` is a multiple of EXEC_CELLS. */
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

/* The same for atomics of 32 lanes, from thread `first` on, each at its cell of `index`. Only where
 * no read or write conflicts and nothing converses. */
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
        /* Two atomics of different warps are kept: any conflicting access is unordered with one of
         * them. */
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

/* Begins a new moment if anything was touched in the present one. */
void exec_shadow_next_moment(const struct exec_block *block);
/* Records that the warp has touched something that has no cell. */
void exec_shadow_touched(const struct exec_warp *warp);
/* Sets whether threads may know more of each other than the floors say. */
void exec_shadow_converses(const struct exec_block *block, bool converses);

/* Begins a touch of `shadow` by `warp`, for its own block's memory. `cache` as in exec_touch;
 * `bytes`: of one lane's access. exec_touch_by chooses the lane, exec_touch_cells checks and
 * records it. */
void exec_touch_begin(struct exec_touch *touch, const struct exec_warp *warp,
                      const struct exec_inst *inst, struct exec_shadow *shadow,
                      const struct exec_region_cache *cache, enum exec_access access,
                      uint32_t bytes);
void exec_touch_by(struct exec_touch *touch, unsigned lane);
void exec_touch_cells(const struct exec_touch *touch, uint64_t offset, uint64_t bytes);
/* A store of the value that memory already holds. If an unordered store of another thread put that
 * value there, the cells lose their writer. */
void exec_touch_same(const struct exec_touch *touch, uint64_t offset, uint64_t bytes);
/* Makes cells fine enough for accesses of `unit` bytes, a power of two. Returns false without
 * memory. */
bool exec_shadow_tells(struct exec_shadow *shadow, uint64_t unit);

/* Records that thread `thread` of the block has stored there just now, at position `site`. Earlier
 * touches are not checked. */
void exec_shadow_stored(struct exec_shadow *shadow, uint32_t thread, uint64_t offset,
                        uint64_t bytes, uint32_t site);

/* Makes `now` a cell's latest load, unless it knows two readers of different warps: then any store
 * is unordered with one of them. */
static inline void exec_shadow_keep_load(struct exec_shadow *shadow, size_t index, int32_t now,
                                         uint32_t site)
{
    const int32_t thread = now & EXEC_SHADOW_THREAD, warp = thread / EXEC_LANES;
    int32_t *read = &shadow->cells[EXEC_KEPT_READ][index];
    int32_t *other = &shadow->cells[EXEC_KEPT_READ_OTHER][index];
    if (*other >= shadow->floor) return;
    if (*read >= shadow->floor && (*read & EXEC_SHADOW_THREAD) / EXEC_LANES != warp) {
        *other = *read;
        shadow->sites[EXEC_KEPT_READ_OTHER][index] = shadow->sites[EXEC_KEPT_READ][index];
    } else if (*read >= shadow->floor && *read >= shadow->warp_floor[warp]) {
        now |= (*read & EXEC_SHADOW_THREAD) == thread ? *read & EXEC_SHADOW_MANY : EXEC_SHADOW_MANY;
    }
    *read = now;
    shadow->sites[EXEC_KEPT_READ][index] = site;
}

/* exec_shadow_stored for a load. */
void exec_shadow_loaded(struct exec_shadow *shadow, uint32_t thread, uint64_t offset,
                        uint64_t bytes, uint32_t site);

/* One side of a finding: a thread of the block and a source position. */
struct exec_reported {
    uint32_t thread, site;
    enum exec_access access;
    bool known; /* false: the thread is not certain */
};
/* Adds a finding to the launch's exec_racecheck. `region`: of global memory, or NULL; `offset`: in
 * it, or in shared memory; `bytes`: of the second side's access. */
void exec_report(const struct exec_warp *warp, enum exec_wrong wrong,
                 const struct exec_reported *first, const struct exec_reported *second,
                 const struct memory_region *region, uint64_t offset, uint32_t bytes);

/* Records loads by all lanes, lane l at cell index[l], with which no write conflicts. */
void exec_shadow_readers(struct exec_warp *warp, const struct exec_inst *inst,
                         const int32_t *index);

#endif
