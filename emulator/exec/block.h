/* exec_block: the state of a running block and of the worker, a host thread, that runs it:
 * barriers, shared memory, and what each load and store of the program knows of the region that it
 * touched last. Data that machine/ changes, ops/ works on and check/ reads. Private to
 * emulator/exec.
 */
#ifndef OVERLAP_EXEC_BLOCK_H
#define OVERLAP_EXEC_BLOCK_H

#include "emulator/exec/check/footprint.h"
#include "emulator/exec/warp.h"
#include "emulator/memory/memory.h"

/* The barriers that programs name, and behind them one for each so many warps, which wait for their
 * wgmma by it. */
#define EXEC_BARRIERS 16
#define EXEC_GROUP_WARPS 4
#define EXEC_ALL_BARRIERS (EXEC_BARRIERS + EXEC_MAX_WARPS / EXEC_GROUP_WARPS)
#define EXEC_MAX_WARPS 32

/* Generic addresses that no host pointer has: bit 56 is set, bits 52.. name the window. */
#define EXEC_WINDOW_BIT (UINT64_C(1) << 56)
#define EXEC_WINDOW_SHARED (EXEC_WINDOW_BIT | UINT64_C(1) << 52)
#define EXEC_WINDOW_LOCAL (EXEC_WINDOW_BIT | UINT64_C(2) << 52)
#define EXEC_WINDOW_PARAM (EXEC_WINDOW_BIT | UINT64_C(3) << 52)
#define EXEC_WINDOW_CODE (EXEC_WINDOW_BIT | UINT64_C(4) << 52)
#define EXEC_WINDOW_GRID (EXEC_WINDOW_BIT | UINT64_C(5) << 52) /* cooperative grid's workspace */
#define EXEC_GRID_WORKSPACE 256                                /* bytes */
#define EXEC_WINDOW_MASK (~UINT64_C(0) << 52)

/* An address of shared memory has an offset in its low bits, and above them the rank of the block
 * in its cluster, plus one; none: of the block of whoever uses it. PTX ISA 9.0, "mapa". */
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

/* The shared memory of a block that a GPU keeps for itself, and lends to cooperative groups. Here
 * it begins behind the block's own, and is there only for programs that ask where it is. */
#define EXEC_RESERVED_SHARED 1024u
#define EXEC_RESERVED_FIRST(bytes) (((bytes) + 15) / 16 * 16)

struct exec_barrier {
    bool used;
    uint32_t expected;                /* threads; 0: every thread that has not exited */
    uint32_t positive;                /* bar.red: arrivals whose predicate was true */
    uint32_t asked;                   /* bar.red: arrivals that brought a predicate */
    uint32_t arrived[EXEC_MAX_WARPS]; /* lanes, waiting or only arrived */
};

/* Clock cycles after which nothing that waits for a time still does: three quarters of an hour. */
#define EXEC_EVER (UINT64_C(1) << 42)

/* Whether the block can ever go on: machine/stall.c. Of a cluster one block has the last three. */
struct exec_stall {
    bool watched;      /* each instruction is looked at */
    bool goes_on;      /* one of them was of a kind that may end the wait */
    uint32_t vain;     /* rounds in a row in which nobody did more than look */
    uint32_t patience; /* rounds before it is watched */
    uint32_t rounds;   /* watched */
    uint32_t compared; /* of them: in which threads could hold what they held */
    uint64_t state;    /* of the threads, when that began */
};

/* Machine code that goes from warp to warp: machine/warp.c. */
struct exec_going {
    bool may;               /* else it runs the one that it was called for */
    struct exec_warp *warp; /* whose turn it is */
    uint64_t executed;      /* instructions of those whose turn is over */
    unsigned met;           /* enum exec_met, the same */
    int step;               /* with EXEC_WENT_ON: what that warp asks */
};

struct exec_block {
    uint64_t index;  /* linear, in the grid */
    uint64_t serial; /* of the worker's blocks, so that frames know when theirs has changed */
    uint32_t position[3];
    struct exec_worker *worker;
    struct exec_warp *warps;
    uint32_t warp_count;
    unsigned char *shared;
    struct exec_barrier barriers[EXEC_ALL_BARRIERS];
    uint32_t barriers_used;         /* a bit each: barriers[] with `used` set */
    bool named_barriers;            /* it uses others than those of __syncthreads() */
    struct exec_shadow *shadow;     /* of its shared memory; NULL: nobody wants to know */
    struct exec_block_shadow *near; /* of what it touches of global memory; NULL: the same */
    struct exec_order *order;       /* of its threads; NULL: nobody has told another anything */
    struct exec_async *async;       /* copies into its shared memory; NULL: none yet */
    struct exec_async *outgoing;    /* bulk copies out of it; NULL: the same */
    struct exec_proxy *proxy;       /* bulk copies out of it; NULL: none yet */
    int32_t began;                  /* when, as check/shadow.h has it */
    struct exec_probe *probe;       /* machine/probe.h; NULL: nobody looks */
    /* check/unwritten.h: */
    bool unwritten;                 /* words of its shared memory may be as they were at first */
    uint32_t unwritten_word;        /* that */
    uint32_t unwritten_met;         /* barriers so far */
    uint32_t unwritten_told[2];     /* the sites of what was told last */
    struct exec_unwritten *follows; /* what was stored of such; NULL: nothing */
    bool polling;                   /* in its last turn no warp did more than wait and look */
    struct exec_stall stall;        /* machine/stall.c */
    uint64_t moment;                /* check/causality.h; 0: none yet */
    struct exec_cluster *cluster;   /* cluster.h; NULL: it is alone */
    uint32_t rank;                  /* in its cluster */
    bool stuck;                     /* no thread can go on before those of other blocks do */
    bool ended;
    bool arrives;                                /* some thread has come to the cluster's barrier */
    bool visits;                                 /* other blocks' shared memory: */
    struct exec_shadow *away[EXEC_CLUSTER_MOST]; /* what it did there; check/cluster.h */
    struct exec_block *next;
    struct exec_going going;
};

/* Accesses of a lane that is alone, of `bytes` bytes each, each so many further on than the one
 * before; offsets in the region. */
struct exec_run {
    uint64_t first, step;
    uint64_t next; /* where it would go on; UINT64_MAX: only one so far, or none */
    uint32_t bytes;
    enum { EXEC_RUN_NONE, EXEC_RUN_ONE, EXEC_RUN_STEPS } length;
};

/* A region that an instruction touched last; addresses are compared in the device's terms. */
struct exec_region_cache {
    uint64_t low;
    uint64_t size;  /* 0: empty */
    uint64_t delta; /* host address - device address */
    bool read_only;
    enum exec_access access;
    uint64_t *marks;             /* the launch's footprint there; NULL: none is wanted */
    struct exec_run run;         /* of accesses that have yet to leave theirs */
    uint64_t touched, untouched; /* the first byte that was touched and the first after the last */
    uint32_t widest;             /* bytes of the largest access */
    struct exec_owners *owners;  /* check/owners.h; NULL: not judged */
    bool between_blocks;         /* judged there, ... */
    bool block_scope;           /* ... as an atomic that is one to the threads of its block alone */
    bool between_threads;       /* judged in check/block_shadow.h */
    uint32_t early;             /* bytes of loads judged between blocks before any store */
    struct exec_causal *causal; /* check/causality.h; NULL: not judged there */
    uint64_t deed;              /* what the instruction does there: enum exec_deed */
    bool judged;                /* whether it is, or may come to be, in one of the three */
    const struct memory_region *region;
    uint32_t position; /* in the program's table, which may move while a grid pauses */
};

/* Of an instruction's first loads in a launch it is remembered which block made them; of more only
 * once something has been stored to the same allocation: most of what is read is never written. */
enum { EXEC_EARLY = 8 << 10 };

static inline void exec_early_spend(struct exec_region_cache *cache, uint64_t bytes)
{
    cache->early -= bytes < cache->early ? (uint32_t)bytes : cache->early;
}

/* The instruction touches these bytes, which have their marks. */
static inline void exec_mark_again(struct exec_region_cache *cache, uint64_t address,
                                   uint64_t bytes)
{
    const uint64_t offset = address - cache->low;
    if (offset < cache->touched) cache->touched = offset;
    if (offset + bytes > cache->untouched) cache->untouched = offset + bytes;
}

/* Every access to a region ends here once it is known to be allowed. */
static inline void exec_mark(struct exec_region_cache *cache, uint64_t address, uint64_t bytes)
{
    if (cache->marks == NULL) return;
    exec_early_spend(cache, bytes);
    exec_mark_again(cache, address, bytes);
    exec_footprint_mark(cache->marks, address - cache->low, bytes);
}

/* A lane that is alone mostly goes on by the same step, and nobody looks at the marks before the
 * launch's end: such accesses leave theirs all at once. False: it is judged, or does not go on. */
static inline bool exec_mark_next(struct exec_region_cache *cache, uint64_t address)
{
    if (cache->judged | (address - cache->low != cache->run.next)) return false;
    cache->run.next += cache->run.step;
    return true;
}

/* Those have theirs from now on. */
static inline void exec_mark_run(struct exec_region_cache *cache)
{
    const struct exec_run run = cache->run;
    const bool steps = run.length == EXEC_RUN_STEPS && run.step != 0;
    const uint64_t last = steps ? run.next - run.step : run.first;
    const uint64_t least = run.first < last ? run.first : last;
    if (run.length == EXEC_RUN_NONE) return;
    cache->run = (struct exec_run){.next = UINT64_MAX};
    exec_mark_again(cache, cache->low + least, run.first + last - 2 * least + run.bytes);
    exec_footprint_mark_steps(cache->marks, run.first, steps ? run.step : 0, last, run.bytes);
}

/* An access that exec_mark_next does not take. */
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
    } else {
        exec_mark_run(cache);
        *run = (struct exec_run){
            .first = offset, .next = UINT64_MAX, .bytes = bytes, .length = EXEC_RUN_ONE};
    }
}

/* From the first byte that lanes touch to the one after the last. Few: so many that it pays to ask
 * about all of them at once. */
struct exec_span {
    uint64_t first, end;
};
enum { EXEC_SPAN_FEW = 512 };

static inline bool exec_span_is_few(const struct exec_span *span)
{
    return span->end - span->first <= EXEC_SPAN_FEW;
}

/* exec_mark for each lane of `mask`, whose span that is: mostly all of it has its marks, and
 * neighbours mostly share a word of them. */
static inline void exec_mark_lanes(struct exec_region_cache *cache, const uint64_t *address,
                                   uint32_t mask, uint32_t bytes, const struct exec_span *span)
{
    uint64_t word = 0, bits = 0;
    if (cache->marks == NULL) return;
    exec_early_spend(cache, exec_lane_count(mask) * (uint64_t)bytes);
    exec_mark_again(cache, span->first, span->end - span->first);
    if (exec_span_is_few(span) &&
        exec_footprint_is_marked(cache->marks, span->first - cache->low, span->end - cache->low))
        return;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const uint64_t offset = address[__builtin_ctz(rest)] - cache->low, at = offset % 64;
        if (at + bytes > 64) {
            exec_footprint_mark(cache->marks, offset, bytes);
            continue;
        }
        if (offset / 64 != word) {
            exec_footprint_mark_word(&cache->marks[word], bits);
            word = offset / 64;
            bits = 0;
        }
        bits |= exec_footprint_mask(at, bytes);
    }
    exec_footprint_mark_word(&cache->marks[word], bits);
}

/* These bytes, stored to, become `me`'s. */
struct exec_grid_shadow_mark {
    struct exec_owners *owners;
    uint64_t offset;
    uint32_t bytes;
    uint8_t me;
};

/* The launch that all workers share. */
struct exec_grid;

/* What one host thread needs to run blocks. */
struct exec_worker {
    struct exec_grid *grid;
    const struct exec_launch *launch;
    const struct exec_function *function;
    bool alone;         /* no other worker runs blocks of this launch */
    uint32_t row_lanes; /* lanes side by side that are threads of one row of the block, in all
                           warps: EXEC_LANES, half of that, or 1: neither */
    uint64_t news;      /* reads of exec_polled that gave something new */
    uint64_t commuted;  /* atomics, by lanes, that others may do at the same time */
    struct exec_region_cache *caches; /* exec_cache_of; the last is for the rest */
    size_t first_cache, cache_count;  /* of the function, without the last */
    unsigned char *grid_workspace;    /* EXEC_GRID_WORKSPACE bytes */
    struct exec_counts counts;
    uint32_t shared_bytes;   /* static and dynamic, and behind them the reserved ones if seen */
    uint32_t user_shared;    /* static and dynamic */
    uint32_t dynamic_offset; /* of the dynamic part */
    uint64_t local_stride;   /* bytes of local memory per lane */
    uint64_t block_serial;
    uint64_t launches;                /* that its blocks' memory has served */
    uint64_t bytes;                   /* of that memory */
    struct exec_probe *probe;         /* the launch's, for its first block; NULL: none */
    struct exec_block *spare;         /* finished blocks, for reuse */
    struct exec_doubt *doubts;        /* check/grid_shadow.c */
    struct exec_causality *causality; /* of the grid, whose only worker it is; NULL: none */
    uint32_t doubt_count, own_count;
    struct exec_grid_shadow_mark
        owns[EXEC_LANES]; /* stores that are not marked yet: exec_grid_shadow_settle */
    enum exec_end end;    /* not EXEC_DONE: the fault is set */
    struct exec_fault fault;
    uint64_t fault_block;
};

/* Of `count` caches, and one for the rest, that of a load or store; an instruction without one,
 * which finds no region, gets the last. */
static inline struct exec_region_cache *exec_cache_in(struct exec_region_cache *caches,
                                                      size_t first, size_t count,
                                                      const struct exec_inst *inst)
{
    const size_t k = inst->cache - first;
    return &caches[k < count ? k : count];
}

/* That of the kernel or of what it calls. */
static inline struct exec_region_cache *exec_cache_of(const struct exec_worker *worker,
                                                      const struct exec_inst *inst)
{
    return exec_cache_in(worker->caches, worker->first_cache, worker->cache_count, inst);
}

#endif
