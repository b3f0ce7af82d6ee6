/* exec_quick: loads, stores, atomics, shuffles and votes as machine code has them: what is settled
 * in line, by a few vector instructions, for a whole warp. One function per row that is worth it;
 * each answers whether it has done all that the row does. If not it has done nothing, and the row
 * is asked: for whatever is rare, is judged by check/, or is a fault. ops/quick.c and
 * ops/lone.c are only ever compiled as bitcode, for native/; nothing calls them otherwise.
 */
#ifndef OVERLAP_EXEC_OPS_QUICK_H
#define OVERLAP_EXEC_OPS_QUICK_H

#include "emulator/exec/block.h"

/* What accesses have done that is not in the worker's counts, or the warp's, yet. */
struct exec_quick_counts {
    uint64_t loaded, stored; /* bytes */
    uint64_t transactions;
    uint64_t chain;
};

/* What stays as it is while a warp runs a stretch of machine code, but for the mask. */
struct exec_quick {
    unsigned char *slots;
    struct exec_warp *warp;
    struct exec_worker *worker;
    unsigned char *shared;
    uint32_t shared_bytes;
    uint32_t mask;                               /* the lanes that the instruction is for */
    uint32_t lane;                               /* which is alone */
    bool watched;                                /* the launch is, check/racecheck.h */
    void (*order)(const struct exec_warp *warp); /* exec_shadow_order_warp */
    struct exec_quick_counts *counts;
    struct exec_region_cache *caches; /* these are the worker's ... */
    size_t first_cache, cache_count;  /* ... and of a kernel, known */
    bool stepped;       /* of the instruction's address this is known, in each half of the warp: */
    int64_t step;       /* from lane to lane, bytes */
    uint64_t low, high; /* the first lanes' */
    bool whole;         /* ... and from the lower half's last lane to the upper's first */
};

/* As exec_cache_of. */
static inline struct exec_region_cache *exec_quick_cache_of(const struct exec_quick *quick,
                                                            const struct exec_inst *inst)
{
    return exec_cache_in(quick->caches, quick->first_cache, quick->cache_count, inst);
}

/* Of a lane that is alone, ops/lone.c, the slots are those of lane 0, and `mask` is 1 or 0. */
typedef bool exec_quick_handler(const struct exec_quick *quick, const struct exec_inst *inst);

struct exec_quick_row {
    const char *key;
    exec_quick_handler *run;
};

#endif
