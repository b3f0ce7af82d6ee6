/* exec_racecheck: what a launch did that nothing orders: two threads of a block that touch the same
 * bytes of shared memory (check/shadow.h says when) or of global memory (check/block_shadow.h), two
 * blocks that touch the same bytes of global memory (check/grid_shadow.h). Filled by the executor
 * when a launch asks for it and its program was made to be watched; it stops nothing and changes
 * nothing that a kernel computes, costs or prints.
 *
 * The same two places in the source are one finding, counted, with the example of the lowest block.
 * What is found in one block does not depend on the number of workers; of a race between blocks,
 * which of the two came later may.
 */
#ifndef OVERLAP_EXEC_CHECK_RACECHECK_H
#define OVERLAP_EXEC_CHECK_RACECHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emulator/exec/check/footprint.h"

enum exec_wrong {
    EXEC_WRONG_SHARED, /* threads of one block, shared memory */
    EXEC_WRONG_GLOBAL, /* threads of one block, global memory */
    EXEC_WRONG_COPY, /* a touch of what an asynchronous copy may still be filling: check/async.h */
    EXEC_WRONG_SOURCE, /* a store to what a bulk copy, the first, may still be reading: the same */
    EXEC_WRONG_PROXY,  /* a bulk copy of what a thread has stored: check/proxy.h */
    EXEC_WRONG_BLOCKS, /* blocks of one grid, global memory */
    EXEC_WRONG_SCOPE,  /* the same, one of them by an atomic of block scope */
    /* Blocks of one grid that talk to each other, but not about these bytes: check/causality.h. The
     * second: two volatile accesses of one block are taken for one change. */
    EXEC_WRONG_UNFENCED,
    EXEC_WRONG_VOLATILE,
    EXEC_WRONG_GRID, /* blocks of a cooperative grid that never tell each other anything */
    EXEC_WRONG_VOLATILE_THREADS, /* the same by threads of one block, shared or global memory */
    /* Threads of one block that met at a barrier of all from two places: a GPU lets them through
     * if it happens to be the same barrier to it, and CUDA promises nothing. Not looked for in
     * blocks that use barriers with numbers, counts or arrivals: those are made for two places. */
    EXEC_WRONG_BARRIER,
    EXEC_WRONG_LATER,     /* a block waits for one that starts after it; no cooperative launch */
    EXEC_WRONG_CLUSTER,   /* blocks of a cluster, or threads of one, another's shared memory */
    EXEC_WRONG_ENDED,     /* a touch of another block's shared memory, which may be gone by then */
    EXEC_WRONG_ABSENT,    /* a use of what a shuffle, the first, gave out of an absent lane */
    EXEC_WRONG_UNWRITTEN, /* a use of what a load, the first, found in shared memory that nothing
                             had written; or of an atomic, both */
    EXEC_WRONG_LOST,      /* threads of one block load, change and store the same, by one line */
};

struct exec_racecheck_side {
    enum exec_access access;
    const char *file; /* owned by the program; NULL: unknown */
    uint32_t line;    /* 0: unknown */
    bool known;       /* the thread is; else `thread` means nothing, nor `block` between blocks */
    uint32_t block[3], thread[3];
};

struct exec_racecheck_found {
    enum exec_wrong wrong;
    struct exec_racecheck_side first, second; /* in the order in which they ran here */
    const struct memory_region *region;       /* global memory; NULL: shared */
    uint64_t offset;                          /* in the region, or in the block's shared memory */
    uint32_t bytes;                           /* of the second side's access */
    uint32_t block_size[3];                   /* threads */
    uint64_t block_index;                     /* linear, of the second side */
    uint64_t waiting;                         /* EXEC_WRONG_LATER: so many blocks */
    uint32_t home;  /* EXEC_WRONG_CLUSTER, _ENDED: the rank of the block whose memory it is */
    bool met;       /* threads of one block: they tell each other something, but not this */
    uint64_t count; /* how often it was seen */
};

struct exec_racecheck;

struct exec_racecheck *exec_racecheck_create(void); /* NULL: no memory */
void exec_racecheck_destroy(struct exec_racecheck *watch);
size_t exec_racecheck_count(const struct exec_racecheck *watch);
const struct exec_racecheck_found *exec_racecheck_at(const struct exec_racecheck *watch,
                                                     size_t index);

/* For the executor; from several threads at once. */
void exec_racecheck_add(struct exec_racecheck *watch, const struct exec_racecheck_found *found);
/* Of two blocks one reads what the other changes: that side is to be named first. */
bool exec_racecheck_one_reads(const struct exec_racecheck_found *found);
/* The launch is over, of so many blocks, each of which has `words` words of shared memory. Forgets
 * EXEC_WRONG_UNWRITTEN of fewer blocks than chance may account for, and all of them beside races of
 * shared memory: those say more. */
void exec_racecheck_weigh(struct exec_racecheck *watch, uint64_t blocks, uint64_t words);
/* Sides of EXEC_WRONG_BLOCKS whose place was not known when they were found get it from what the
 * launch's footprint says of those bytes. Called when the launch is over. */
void exec_racecheck_place(struct exec_racecheck *watch, const struct exec_footprint *footprint);

#endif
