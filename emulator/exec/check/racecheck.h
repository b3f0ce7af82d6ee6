/* exec_racecheck: the findings of one launch: two threads of a block that touch the same bytes of
 * shared memory (check/shadow.h) or of global memory (check/block_shadow.h) without an order, two
 * blocks that touch the same bytes of global memory (check/grid_shadow.h), and related errors.
 * Filled by the executor when a launch asks for it and its program was made for that. It stops
 * nothing and changes nothing that a kernel computes, costs or prints.
 *
 * Findings with the same two source places are one, with a count and the example of the lowest
 * block; a race across warps goes before one within a warp. What is found within one block does not
 * depend on the number of workers; for a race between blocks, which of the two came later may.
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
    EXEC_WRONG_COPY,   /* an access to what an asynchronous copy may still fill: check/async.h */
    EXEC_WRONG_SOURCE, /* a store to what a bulk copy (first side) may still be reading: the same */
    EXEC_WRONG_PROXY,  /* a bulk copy that may not see what a thread has stored: check/proxy.h */
    EXEC_WRONG_BLOCKS, /* blocks of one grid, global memory */
    EXEC_WRONG_SCOPE,  /* the same, where one access is an atomic of block scope */
    /* Blocks of one grid that synchronise, but not for these bytes: check/causality.h. _VOLATILE:
     * two volatile accesses of one block are meant as one update. _UNACQUIRED: a block has read the
     * flag, but nothing acquired it before the load. */
    EXEC_WRONG_UNFENCED,
    EXEC_WRONG_UNACQUIRED,
    EXEC_WRONG_VOLATILE,
    EXEC_WRONG_GRID, /* blocks of a cooperative grid that tell each other nothing, but for the
                        grid's barrier */
    EXEC_WRONG_VOLATILE_THREADS, /* as _VOLATILE, threads of one block, any memory */
    /* Threads of one block met at a barrier of the whole block from two source places. A GPU lets
     * them through if both happen to be the same barrier; CUDA does not promise it. Not checked in
     * blocks that use barriers with numbers, counts or arrivals: those are made for two places. */
    EXEC_WRONG_BARRIER,
    EXEC_WRONG_LATER,   /* a block waits for one that starts later, without a cooperative launch */
    EXEC_WRONG_CLUSTER, /* blocks of a cluster, or threads of one, another's shared memory */
    EXEC_WRONG_ENDED,   /* a touch of another block's shared memory, which may have ended by then */
    EXEC_WRONG_ABSENT,  /* a use of what a shuffle (first side) took from an absent lane */
    EXEC_WRONG_UNWRITTEN, /* a use of what a load (first side) found in unwritten shared memory;
                             both sides the same if an atomic found it */
    EXEC_WRONG_LOST, /* threads of one block load, change and store the same place on one line */
};

struct exec_racecheck_side {
    enum exec_access access;
    const char *file; /* owned by the program; NULL: unknown */
    uint32_t line;    /* 0: unknown */
    bool known;       /* false: `thread` is undefined, and between blocks so is `block` */
    uint32_t block[3], thread[3];
};

struct exec_racecheck_found {
    enum exec_wrong wrong;
    struct exec_racecheck_side first, second; /* in the order in which they ran here */
    const struct memory_region *region;       /* NULL: shared memory */
    uint64_t offset;                          /* in the region, or in the block's shared memory */
    uint32_t bytes;                           /* of the second side's access */
    uint32_t block_size[3];                   /* threads */
    uint64_t block_index;                     /* linear, of the second side */
    uint64_t waiting; /* EXEC_WRONG_LATER: number of blocks that only polled */
    uint32_t home;    /* EXEC_WRONG_CLUSTER, _ENDED: rank of the block whose memory it is */
    bool met;         /* threads of one block that communicate, but not for these bytes */
    bool apart;       /* lanes of one warp, of which the first was not among those that the second
                         synchronised with in between */
    bool untold;      /* the first touch came behind its thread's arrival at a barrier object, and
                         a phase is complete since: no arrival of the thread speaks of it */
    uint64_t count;   /* how often it was seen */
};

struct exec_racecheck;

struct exec_racecheck *exec_racecheck_create(void); /* NULL: no memory */
void exec_racecheck_destroy(struct exec_racecheck *watch);
size_t exec_racecheck_count(const struct exec_racecheck *watch);
const struct exec_racecheck_found *exec_racecheck_at(const struct exec_racecheck *watch,
                                                     size_t index);

/* For the executor. Thread-safe. */
void exec_racecheck_add(struct exec_racecheck *watch, const struct exec_racecheck_found *found);
/* Returns true if both threads are of one warp, or one is unknown: the shadow knows only the last
 * thread of the accessing warp. */
bool exec_racecheck_in_warp(const struct exec_racecheck_found *found);
/* Returns true for two blocks of which one only reads: the other side is to be named first. */
bool exec_racecheck_one_reads(const struct exec_racecheck_found *found);
/* To be called when a launch of `blocks` blocks with `words` words of shared memory each is over.
 * Drops EXEC_WRONG_UNWRITTEN findings that chance may explain, and all of them if there are races
 * on shared memory, which explain more. */
void exec_racecheck_weigh(struct exec_racecheck *watch, uint64_t blocks, uint64_t words);
/* To be called when the launch is over: sides of EXEC_WRONG_BLOCKS without a source place get one
 * from the launch's footprint of those bytes. */
void exec_racecheck_place(struct exec_racecheck *watch, const struct exec_footprint *footprint);

#endif
