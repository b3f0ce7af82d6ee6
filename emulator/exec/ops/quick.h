/* exec_quick: fast paths of loads, stores, atomics, shuffles and votes, which machine code inlines:
 * they complete an instruction by a few vector instructions for a full warp; and of barriers and
 * the kernel's end, at which one warp's turn ends and the next one's begins. There is one function
 * per row that is worth it. A function returns true when it has done all that the row does.
 * Otherwise it returns false without effect, and the row's handler executes the instruction:
 * whatever is rare, needs a slow race check, or faults. ops/quick.c and ops/lone.c are compiled as
 * bitcode only, for native/; nothing else calls them.
 */
#ifndef OVERLAP_EXEC_OPS_QUICK_H
#define OVERLAP_EXEC_OPS_QUICK_H

#include "emulator/exec/block.h"

/* Counts of accesses that have not been added to the worker's or the warp's counts yet. */
struct exec_quick_counts {
    uint64_t loaded, stored; /* bytes */
    uint64_t transactions;
    uint64_t chain;
};

/* What fast paths know. Only `mask` and the fields from `stepped` on change while a warp runs a
 * region. */
struct exec_quick {
    unsigned char *slots;
    struct exec_warp *warp;
    struct exec_worker *worker;
    unsigned char *shared;
    uint32_t shared_bytes;
    uint32_t mask; /* the active lanes whose guard holds */
    uint32_t lane; /* a lone lane's index */
    bool watched;  /* the launch is race-checked (check/racecheck.h) */
    void (*order)(const struct exec_warp *warp); /* exec_shadow_order_warp */
    struct exec_quick_counts *counts;
    struct exec_region_cache *caches; /* the worker's */
    size_t first_cache, cache_count;  /* constants in a kernel's code */
    bool stepped;                     /* the addresses in slot a have a known step in each half: */
    int64_t step;                     /* bytes from one lane to the next */
    uint64_t low, high;               /* values of slot a in lanes 0 and 16 */
    bool whole;                       /* the step also holds from lane 15 to lane 16 */
    /* At a barrier (ops/quick_meet.h), as they are executed: it, and where the region begins. */
    const struct exec_inst *here, *begins;
};

/* The same as exec_cache_of. */
static inline struct exec_region_cache *exec_quick_cache_of(const struct exec_quick *quick,
                                                            const struct exec_inst *inst)
{
    return exec_cache_in(quick->caches, quick->first_cache, quick->cache_count, inst);
}

/* A fast path. For a lone lane (ops/lone.c) the slots have one element, and `mask` is 1 or 0. */
typedef bool exec_quick_handler(const struct exec_quick *quick, const struct exec_inst *inst);

struct exec_quick_row {
    const char *key;
    exec_quick_handler *run;
};

#endif
