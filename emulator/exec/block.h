/* exec_block: the state of a running block and of the worker, a host thread, that runs it:
 * barriers, shared memory, and for each load and store of the program the region that it accessed
 * last. Plain data: machine/ changes it, ops/ works on it, check/ reads it. Private to
 * emulator/exec.
 */
#ifndef OVERLAP_EXEC_BLOCK_H
#define OVERLAP_EXEC_BLOCK_H

#include "emulator/exec/check/footprint.h"
#include "emulator/exec/check/owners.h"
#include "emulator/exec/warp.h"
#include "emulator/memory/memory.h"

/* The barriers that programs name (0 to 15), followed by one for each group of EXEC_GROUP_WARPS
 * warps, at which the group's warps wait for their wgmma. */
#define EXEC_BARRIERS 16
#define EXEC_GROUP_WARPS 4
#define EXEC_ALL_BARRIERS (EXEC_BARRIERS + EXEC_MAX_WARPS / EXEC_GROUP_WARPS)
#define EXEC_MAX_WARPS 32

/* Windows of generic addresses: values that no host pointer has. Bit 56 is set; the bits from 52 on
 * name the window. */
#define EXEC_WINDOW_BIT (UINT64_C(1) << 56)
#define EXEC_WINDOW_SHARED (EXEC_WINDOW_BIT | UINT64_C(1) << 52)
#define EXEC_WINDOW_LOCAL (EXEC_WINDOW_BIT | UINT64_C(2) << 52)
#define EXEC_WINDOW_PARAM (EXEC_WINDOW_BIT | UINT64_C(3) << 52)
#define EXEC_WINDOW_CODE (EXEC_WINDOW_BIT | UINT64_C(4) << 52)
#define EXEC_WINDOW_GRID (EXEC_WINDOW_BIT | UINT64_C(5) << 52) /* cooperative grid's workspace */
#define EXEC_GRID_WORKSPACE 256                                /* bytes */
#define EXEC_WINDOW_MASK (~UINT64_C(0) << 52)

/* A shared memory address has the offset in its low bits and, above them, the rank of the block in
 * its cluster plus one; zero there means the accessing block itself. PTX ISA 9.0, "mapa". */
enum { EXEC_CLUSTER_MOST = 16, EXEC_RANK_SHIFT = 24, EXEC_RANK_BITS = 0xff };
#define EXEC_RANK_MASK ((uint64_t)EXEC_RANK_BITS << EXEC_RANK_SHIFT)

struct exec_cluster;
struct exec_shadow;
struct exec_block_shadow;
struct exec_async;
struct exec_proxy;
struct exec_order;
struct exec_causal;
struct exec_doubt;
struct exec_unwritten;
struct exec_probe;

/* Shared memory of a block that a GPU reserves for itself and lends to cooperative groups. Here it
 * begins behind the block's own shared memory, and exists only for programs that read its
 * address. */
#define EXEC_RESERVED_SHARED 1024u
#define EXEC_RESERVED_FIRST(bytes) (((bytes) + 15) / 16 * 16)

/* Bytes behind the end of a block's shared memory, for the words of all lanes where the last active
 * lane's is the last. */
#define EXEC_SHARED_ROOM 128u

struct exec_barrier {
    bool used;
    uint32_t expected;                /* threads; 0: every thread that has not exited */
    uint32_t positive;                /* bar.red: arrivals whose predicate was true */
    uint32_t asked;                   /* bar.red: arrivals that brought a predicate */
    uint32_t arrived[EXEC_MAX_WARPS]; /* arrived lanes, whether they wait or not */
    uint32_t before; /* with a count: arrivals of lanes that have arrived again since */
};

/* Clock cycles, about three quarters of an hour, after which any wait that is bounded by a clock
 * has ended. */
#define EXEC_EVER (UINT64_C(1) << 42)

/* Whether the block can ever go on: machine/stall.c. In a cluster only the last running block uses
 * the last three fields. */
struct exec_stall {
    bool watched;      /* exec_stall_step sees each instruction */
    bool goes_on;      /* an instruction was executed that may end the wait */
    uint32_t vain;     /* consecutive rounds in which every warp only waited and polled */
    uint32_t patience; /* rounds in vain before the block is watched */
    uint32_t rounds;   /* rounds while watched */
    uint32_t compared; /* how often `state` was due to be compared */
    uint64_t state;    /* hash of what all threads held when it was last kept */
};

/* What the turns of a block's warps have come to. */
enum exec_met {
    EXEC_MET_LIFE = 1,  /* a warp has lanes left */
    EXEC_MET_STEPS = 2, /* a warp ran */
    EXEC_MET_WORK = 4,  /* a warp did more than wait and poll */
    EXEC_MET_FAULT = 8,
};

/* Taken backward branches of a warp that is whole before the scheduler looks again: only the slice
 * is at stake. */
#define EXEC_BACKWARD_ALONE 1024

/* Machine code that runs one warp after another within a single call: machine/warp.c. */
struct exec_going {
    bool may;                     /* false: the code runs only the warp it was called for */
    const struct exec_inst *code; /* where fresh warps begin */
    struct exec_warp *first;      /* whose turn is the first */
    struct exec_warp *warp;       /* the warp that runs now ... */
    uint64_t before;              /* ... its instructions when its turn began ... */
    uint32_t lanes;               /* ... and its lanes */
    uint64_t executed;            /* instructions of the warps whose turn is over */
    unsigned met;                 /* enum exec_met bits of those warps */
    int step;                     /* with EXEC_WENT_ON: the enum exec_step of `warp` */
};

/* Whole warps that come to one barrier, all to the same instruction, as nearly all do: while
 * exec_warps_run runs, such a wait is a bit here and needs no fragment. */
struct exec_meeting {
    bool may;                     /* warps may wait so */
    uint32_t waiting, leaving;    /* bitmaps of warps: those that wait, and those let go since */
    const struct exec_inst *at;   /* where `waiting` wait */
    const struct exec_inst *from; /* where `leaving` go on */
    uint32_t last;                /* the warp that came last */
};

struct exec_block {
    uint64_t index;  /* linear, in the grid */
    uint64_t serial; /* counts the worker's blocks, so that frames see a change */
    uint32_t position[3];
    struct exec_worker *worker;
    struct exec_warp *warps;
    uint32_t warp_count;
    unsigned char *shared;
    struct exec_barrier barriers[EXEC_ALL_BARRIERS];
    uint32_t barriers_used;         /* bitmap: barriers[] with `used` set */
    bool named_barriers;            /* it has used a barrier other than __syncthreads() */
    struct exec_shadow *shadow;     /* of its shared memory; NULL: not race-checked */
    struct exec_block_shadow *near; /* of global memory; NULL: not race-checked, or none yet */
    struct exec_order *order;       /* what its threads told each other; NULL: nothing yet */
    struct exec_async *async;       /* copies into its shared memory; NULL: none yet */
    struct exec_async *outgoing;    /* bulk copies out of its shared memory; NULL: none yet */
    struct exec_proxy *proxy;       /* what the async proxy may not see; NULL: not needed yet */
    struct exec_products *products; /* wgmma under way; NULL: none yet */
    struct exec_objects *objects;   /* barrier objects made of late; NULL: none yet */
    int32_t began;                  /* the time of check/shadow.h at which the block began */
    struct exec_probe *probe;       /* machine/probe.h; NULL: not sampled */
    /* check/unwritten.h: */
    bool unwritten;                 /* some words of its shared memory may be unwritten */
    uint32_t unwritten_word;        /* the value that its shared memory was filled with */
    uint32_t unwritten_met;         /* barriers completed so far */
    uint32_t unwritten_told[2];     /* the sites of the latest finding */
    struct exec_unwritten *follows; /* unwritten values stored to shared memory; NULL: none */
    bool polling;                   /* in its last turn every warp only waited and polled */
    struct exec_stall stall;        /* machine/stall.c */
    uint64_t moment;                /* the block's moment in check/causality.h; 0: none yet */
    struct exec_cluster *cluster;   /* cluster.h; NULL: the launch has no clusters */
    uint32_t rank;                  /* in its cluster */
    bool stuck;                     /* it can go on only after threads of other blocks have */
    bool ended;
    bool arrives;                                /* a thread has arrived at the cluster's barrier */
    bool visits;                                 /* it has accessed other blocks' shared memory */
    struct exec_shadow *away[EXEC_CLUSTER_MOST]; /* its shadow of each; check/cluster.h */
    struct exec_block *next;
    struct exec_going going;
    struct exec_meeting meeting;
};

/* A run: accesses of a single active lane, `bytes` bytes each, with a constant stride of `step`
 * bytes. Offsets are in the region. */
struct exec_run {
    uint64_t first, step;
    uint64_t next; /* expected next offset; UINT64_MAX: the stride is not known yet */
    uint32_t bytes;
    uint16_t apart; /* accesses that did not continue it */
    enum { EXEC_RUN_NONE, EXEC_RUN_ONE, EXEC_RUN_STEPS } length;
};
/* So many of them end a run of only two accesses: most of what follows two accesses that are no run
 * is none either. */
enum { EXEC_RUN_APART = 8 };

/* The region that an instruction accessed last. `low` is a device address. */
struct exec_region_cache {
    uint64_t low;
    uint64_t size;  /* 0: empty */
    uint64_t delta; /* host address - device address */
    bool read_only;
    bool grouped; /* it is in a group: */
    struct exec_group group;
    enum exec_access access;
    uint64_t *marks;              /* footprint bitmap of the region; NULL: no footprint is wanted */
    struct exec_run run;          /* accesses whose bits are not set in `marks` yet */
    struct exec_pending *pending; /* the worker's */
    uint64_t touched, untouched;  /* first byte accessed, and one past the last */
    uint32_t widest;              /* bytes of the largest access */
    struct exec_owners *owners;   /* check/owners.h; NULL: not race-checked */
    bool between_blocks;          /* race-checked by check/grid_shadow.h ... */
    bool block_scope;             /* ... as an atomic that is atomic within its block only */
    bool between_threads;         /* race-checked by check/block_shadow.h */
    uint32_t early; /* bytes of loads still recorded although nothing was stored: EXEC_EARLY */
    struct exec_causal *causal; /* check/causality.h; NULL: not race-checked there */
    uint64_t deed;              /* what the instruction does to memory: enum exec_deed */
    bool judged;                /* race-checked by at least one of the three */
    bool strong, deaf, updates; /* as in struct exec_footprint_site */
    const struct memory_region *region;
    uint32_t position; /* source position: an index, because the program's table may move while a
                          grid pauses */
};

/* Bytes per instruction and launch for which the loading block is recorded before anything has been
 * stored to the allocation. Later loads are recorded only after a store: most memory that is read
 * is never written. */
enum { EXEC_EARLY = 8 << 10 };

static inline void exec_early_spend(struct exec_region_cache *cache, uint64_t bytes)
{
    cache->early -= bytes < cache->early ? (uint32_t)bytes : cache->early;
}

/* Extends the range of bytes that the instruction accessed; their bits are already set in
 * `marks`. */
static inline void exec_mark_again(struct exec_region_cache *cache, uint64_t address,
                                   uint64_t bytes)
{
    const uint64_t offset = address - cache->low;
    if (offset < cache->touched) cache->touched = offset;
    if (offset + bytes > cache->untouched) cache->untouched = offset + bytes;
}

/* Marks the group's bytes for an access to these: of one lane, or of lanes that are adjacent. Not
 * inlined: most accesses are in no group. */
static __attribute__((noinline, unused)) void exec_mark_group(const struct exec_region_cache *cache,
                                                              uint64_t address, uint64_t bytes)
{
    const struct exec_group group = cache->group;
    const uint64_t offset = address - cache->low, end = offset + bytes + group.after;
    const uint64_t first = offset < group.before ? 0 : offset - group.before;
    if (group.follows) return;
    /* Beyond the region another access of the group will fault. */
    exec_footprint_mark(cache->marks, first, (end < cache->size ? end : cache->size) - first);
}

/* Records an access to the region in the footprint. The caller has checked that it is allowed. */
static inline void exec_mark(struct exec_region_cache *cache, uint64_t address, uint64_t bytes)
{
    if (cache->marks == NULL) return;
    exec_early_spend(cache, bytes);
    exec_mark_again(cache, address, bytes);
    if (cache->grouped)
        exec_mark_group(cache, address, bytes);
    else
        exec_footprint_mark(cache->marks, address - cache->low, bytes);
}

/* Fast path for a single active lane that continues its run: the bits of the whole run are set at
 * once later, because the bitmap is only read at the launch's end. Returns false when the access is
 * race-checked or does not continue the run. */
static inline bool exec_mark_next(struct exec_region_cache *cache, uint64_t address)
{
    if (cache->judged | (address - cache->low != cache->run.next)) return false;
    cache->run.next += cache->run.step;
    return true;
}

/* Sets the bits of a run, for a group's first access those of the whole group. */
static inline void exec_mark_steps(const struct exec_region_cache *cache, uint64_t first,
                                   uint64_t step, uint64_t last, uint32_t bytes, bool alone)
{
    const struct exec_group group = cache->group;
    const uint32_t each = group.before + bytes + group.after;
    const uint64_t least = first < last ? first : last, end = first + last - least + bytes;
    const uint64_t size = first < last ? step : -step;
    if (group.follows) return;
    if (least >= group.before && end + group.after <= cache->size) {
        first -= group.before;
        last -= group.before;
        if ((size == 0 || size > 64) && each <= 64)
            exec_pending_mark_steps(cache->pending, cache->marks, first, step, last, each);
        else
            exec_footprint_mark_steps(cache->marks, first, step, last, each, alone);
        return;
    }
    for (uint64_t offset = first;; offset += step) {
        exec_mark_group(cache, cache->low + offset, bytes);
        if (offset == last) break;
    }
}

/* Sets the bits of the pending run, and ends it. `alone`: as for exec_footprint_mark_steps. */
static inline void exec_mark_run(struct exec_region_cache *cache, bool alone)
{
    const struct exec_run run = cache->run;
    const bool steps = run.length == EXEC_RUN_STEPS && run.step != 0;
    const uint64_t last = steps ? run.next - run.step : run.first;
    const uint64_t least = run.first < last ? run.first : last;
    if (run.length == EXEC_RUN_NONE) return;
    cache->run = (struct exec_run){.next = UINT64_MAX};
    exec_mark_again(cache, cache->low + least, run.first + last - 2 * least + run.bytes);
    exec_mark_steps(cache, run.first, steps ? run.step : 0, last, run.bytes, alone);
}

/* Records an access of a single active lane that exec_mark_next refused. */
static inline void exec_mark_lone(struct exec_region_cache *cache, uint64_t address, uint32_t bytes)
{
    const uint64_t offset = address - cache->low;
    struct exec_run *run = &cache->run;
    if (cache->judged) {
        exec_mark(cache, address, bytes);
    } else if (run->length == EXEC_RUN_ONE) {
        run->step = offset - run->first;
        run->next = offset + run->step;
        run->length = EXEC_RUN_STEPS;
    } else if (run->length == EXEC_RUN_STEPS && run->next == run->first + 2 * run->step &&
               run->apart < EXEC_RUN_APART) {
        exec_mark_again(cache, address, bytes);
        /* The usual case, without what steps and groups need. */
        if (cache->grouped | (offset % 64 + bytes > 64))
            exec_mark_steps(cache, offset, 0, offset, bytes, false);
        else
            exec_pending_mark(cache->pending, &cache->marks[offset / 64],
                              exec_footprint_mask(offset % 64, bytes));
        run->apart++;
    } else {
        exec_mark_run(cache, false);
        *run = (struct exec_run){
            .first = offset, .next = UINT64_MAX, .bytes = bytes, .length = EXEC_RUN_ONE};
    }
}

/* The bytes from the first that the lanes access to one past the last. exec_span_is_few: short
 * enough that it pays to test the whole span at once. */
struct exec_span {
    uint64_t first, end;
};
enum { EXEC_SPAN_FEW = 512 };

static inline bool exec_span_is_few(const struct exec_span *span)
{
    return span->end - span->first <= EXEC_SPAN_FEW;
}

/* Returns true when all bytes of the span, which is short, are marked. */
static inline bool exec_span_is_marked(const struct exec_region_cache *cache,
                                       const struct exec_span *span)
{
    return exec_span_is_few(span) && span->first >= cache->low &&
           span->end <= cache->low + cache->size &&
           exec_footprint_is_marked(cache->marks, span->first - cache->low, span->end - cache->low);
}

/* Marks `each` bytes, at most 64, for each lane of `mask`, from `before` bytes before its address
 * on; all are in the region. Neighbouring lanes usually share a word of the bitmap. */
static inline void exec_mark_pieces(struct exec_region_cache *cache, const uint64_t *address,
                                    uint32_t mask, uint32_t before, uint32_t each)
{
    uint64_t word = 0, bits = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const uint64_t offset = address[__builtin_ctz(rest)] - cache->low - before;
        const uint64_t at = offset % 64, here = at + each > 64 ? 64 - at : each;
        if (offset / 64 != word) {
            if (bits != 0) exec_pending_mark(cache->pending, &cache->marks[word], bits);
            word = offset / 64;
            bits = 0;
        }
        bits |= exec_footprint_mask(at, here);
        if (here == each) continue;
        exec_pending_mark(cache->pending, &cache->marks[word++], bits);
        bits = exec_footprint_mask(0, each - here);
    }
    if (bits != 0) exec_pending_mark(cache->pending, &cache->marks[word], bits);
}

/* exec_mark_group for each lane of `mask`; `span` covers all of them. Mostly the lanes' groups are
 * adjacent. */
static __attribute__((noinline, unused)) void exec_mark_groups(struct exec_region_cache *cache,
                                                               const uint64_t *address,
                                                               uint32_t mask, uint32_t bytes,
                                                               const struct exec_span *span)
{
    const struct exec_group group = cache->group;
    const uint32_t each = group.before + bytes + group.after;
    const struct exec_span whole = {span->first - group.before, span->end + group.after};
    uint64_t apart = ~mask;
    if (group.follows || exec_span_is_marked(cache, &whole)) return;
    for (unsigned l = 1; l < EXEC_LANES; l++) apart |= address[l] ^ (address[0] + l * each);
    if (!apart) {
        exec_mark_group(cache, address[0], (EXEC_LANES - 1) * each + bytes);
        return;
    }
    if (whole.first >= cache->low && whole.end <= cache->low + cache->size) {
        exec_mark_pieces(cache, address, mask, group.before, each);
        return;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        exec_mark_group(cache, address[__builtin_ctz(rest)], bytes);
}

/* exec_mark for each lane of `mask`; `span` covers all of them. Usually every bit of the span is
 * set already. */
static inline void exec_mark_lanes(struct exec_region_cache *cache, const uint64_t *address,
                                   uint32_t mask, uint32_t bytes, const struct exec_span *span)
{
    if (cache->marks == NULL) return;
    exec_early_spend(cache, exec_lane_count(mask) * (uint64_t)bytes);
    exec_mark_again(cache, span->first, span->end - span->first);
    if (cache->grouped)
        exec_mark_groups(cache, address, mask, bytes, span);
    else if (!exec_span_is_marked(cache, span))
        exec_mark_pieces(cache, address, mask, 0, bytes);
}

/* A store to these bytes after which block owner `me` owns them: `bytes` from `offset` on or, if
 * that is 0, some of the sector at `offset`. */
struct exec_grid_shadow_mark {
    struct exec_owners *owners;
    uint64_t offset;
    uint32_t bytes;
    uint8_t me;
    struct exec_owned_some some;
};

/* One launch, shared by all its workers. */
struct exec_grid;

/* What one host thread needs to run blocks. */
struct exec_worker {
    struct exec_grid *grid;
    const struct exec_launch *launch;
    const struct exec_function *function;
    bool alone;         /* no other worker runs blocks of this launch */
    uint32_t row_lanes; /* adjacent lanes that are threads of one row of the block, in every warp:
                           EXEC_LANES, half of that, or 1 if neither holds */
    uint64_t news;      /* polled reads that returned a new value (ops/poll.c) */
    bool heard;         /* one of them, of a place that had been polled before */
    uint64_t commuted;  /* atomics on global memory, counted by lanes, that commute */
    struct exec_region_cache *caches; /* exec_cache_of; the last is for all others */
    size_t first_cache, cache_count;  /* the function's range, without that last one */
    struct exec_pending pending;      /* of the launch's footprint */
    unsigned char *grid_workspace;    /* EXEC_GRID_WORKSPACE bytes */
    struct exec_counts counts;
    uint32_t shared_bytes;   /* static and dynamic, plus the reserved part if the program sees it */
    uint32_t user_shared;    /* static and dynamic */
    uint32_t dynamic_offset; /* where the dynamic part begins */
    uint64_t local_stride;   /* bytes of local memory per lane */
    uint64_t block_serial;
    uint64_t launches;                /* launches that the memory of its blocks has served */
    uint64_t bytes;                   /* size of that memory */
    struct exec_probe *probe;         /* of the launch, for its first block; NULL: not sampled */
    struct exec_block *spare;         /* finished blocks, for reuse */
    struct exec_doubt *doubts;        /* check/grid_shadow.c */
    const struct exec_proven *proven; /* the launch's */
    struct exec_causality *causality; /* of a grid with one worker; NULL: not race-checked there */
    uint32_t doubt_count, own_count;
    struct exec_grid_shadow_mark
        owns[EXEC_LANES]; /* stores whose owner is not recorded yet: exec_grid_shadow_settle */
    enum exec_end end;    /* other than EXEC_DONE: `fault` is set */
    struct exec_fault fault;
    uint64_t fault_block;
};

/* The cache of a load or store among `count` caches whose first has index `first`. An instruction
 * outside of that range, which accesses no region, gets the extra cache behind them. */
static inline struct exec_region_cache *exec_cache_in(struct exec_region_cache *caches,
                                                      size_t first, size_t count,
                                                      const struct exec_inst *inst)
{
    const size_t k = inst->cache - first;
    return &caches[k < count ? k : count];
}

/* The cache of an instruction of the kernel or of a function that it calls. */
static inline struct exec_region_cache *exec_cache_of(const struct exec_worker *worker,
                                                      const struct exec_inst *inst)
{
    return exec_cache_in(worker->caches, worker->first_cache, worker->cache_count, inst);
}

#endif
