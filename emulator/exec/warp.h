/* exec_warp: the state of a running warp: frames, fragments, and the warp with what it remembers
 * between instructions. Data that machine/ changes, ops/ works on and check/ reads. Private to
 * emulator/exec.
 *
 * Divergence. A warp's lanes are split over fragments, each with its own pc and frame. The
 * scheduler runs the deepest call first, then the lowest pc, and merges fragments that meet, so
 * lanes reconverge where a compiler expects them to; a fragment that keeps branching backwards
 * while others wait is put aside for a while, so every lane makes progress (Volta's promise).
 */
#ifndef OVERLAP_EXEC_WARP_H
#define OVERLAP_EXEC_WARP_H

#include "emulator/exec/decoded.h"

#define EXEC_POLLS 16
#define EXEC_NO_LIMIT ((const struct exec_inst *)UINTPTR_MAX)

struct exec_poison;

/* The bytes that a call takes from the stack beyond local variables: a return address, and what a
 * GPU would save. Bounds recursion that has no local variables. */
#define EXEC_CALL_BYTES 32

/* One activation of a function, for the lanes that called it from the same frame. Kept for reuse
 * as long as the block's memory: calling again from the same frame finds it again. */
struct exec_frame {
    unsigned char *slots;
    const struct exec_function *function;
    struct exec_frame *parent;
    struct exec_frame *children;
    struct exec_frame *sibling;
    uint64_t block_serial; /* block whose special registers the frame holds */
    uint64_t launches;     /* of the worker, when its other constants were written */
    uint32_t depth;
    uint32_t local_base;                           /* bytes, in each lane's local memory */
    const struct exec_inst *return_to[EXEC_LANES]; /* per lane: the call to return behind */
    uint64_t
        stack_before[EXEC_LANES]; /* of an activation that allocates: the stack when it began */
};

enum exec_wait {
    EXEC_RUNNABLE,
    EXEC_WAIT_BARRIER, /* of the block */
    EXEC_WAIT_SYNC,    /* of named lanes of the warp */
    EXEC_WAIT_CLUSTER, /* of the cluster */
};

struct exec_fragment {
    const struct exec_inst *pc; /* next; of a waiting fragment: the instruction it waits at */
    struct exec_frame *frame;
    uint32_t mask;
    uint32_t tick; /* when it last ran, for fairness */
    enum exec_wait wait;
    uint32_t barrier; /* EXEC_WAIT_BARRIER: which */
};

/* What a warp has stored by volatile or ordered stores, of each lane its own word, side by side:
 * check/order.c. Most such memory is of one thread alone: what is known of it is kept here, until
 * somebody accesses it in any other way. */
struct exec_own_row {
    uint64_t address;            /* of the first lane of `mask` */
    uint32_t mask;               /* lanes; 0: there is no row */
    uint32_t bytes;              /* of a lane: 4 or 8 */
    const unsigned char *memory; /* where the first lane's are; NULL: not looked up yet */
    bool all;                    /* every lane's store has been looked at, else the first's alone */
    uint32_t changers;           /* lanes that have changed theirs, EXEC_ORDER_MODIFIES ... */
    int32_t changed;             /* ... when they did last ... */
    uint32_t site;               /* ... and where */
};

/* What a lane asked a barrier object that was not complete, and what that lacked: by
 * machine/stall.c it is asked again. */
struct exec_awaited {
    const struct exec_inst *inst; /* NULL: nothing */
    struct exec_frame *frame;     /* it stands in */
    uint64_t offset;              /* of the object, in shared memory */
    uint32_t missing, expected;   /* arrivals */
    int32_t bytes;                /* that have not come; negative: came and were not expected */
    bool parity;                  /* of the phase */
};

/* In lines of the cache. A block that begins writes into few of them: for a small kernel each store
 * counts. */
struct exec_warp {
    /* The running fragment; mask is 0 when none runs. */
    _Alignas(64) unsigned char *slots;
    const struct exec_inst *pc;
    uint32_t mask;
    uint32_t full; /* every lane outside of mask is dead: results need not be blended */
    const struct exec_inst *limit; /* it runs until its pc reaches this, of another fragment, or
                                      EXEC_NO_LIMIT; NULL: somebody looks at each instruction */
    struct exec_frame *frame;      /* its slots are those above, even when none runs */
    uint32_t backward; /* taken backward branches left until the scheduler looks again */
    uint32_t tick;
    uint32_t live; /* lanes that have not exited */
    uint32_t fragment_count;
    struct exec_block *block;

    struct exec_worker *worker;
    uint16_t index;    /* in the block */
    bool fresh;        /* its first turn has not begun, and its counts are another block's */
    uint32_t existing; /* lanes that the block has in this warp */
    struct exec_frame *root;
    struct exec_poison *poison; /* check/poison.h; NULL: it has none */
    unsigned char *local;       /* EXEC_LANES x local_stride */
    uint64_t local_stride;
    const struct exec_inst *poll_latest; /* NULL: none, and nothing of what polls leave is set */
    uint32_t polls;                      /* reads in a row that brought no news, see ops/poll.c */
    uint32_t exchanging;                 /* lanes that wait at a .sync instruction */

    bool yield;        /* waits for other threads' news: others should run */
    bool rotate;       /* the next turn goes to the fragment that waited longest */
    bool halves_begun; /* of halves[], by this block */
    bool stack_moved;  /* by this block */
    bool multiplying;  /* has asked for a wgmma since it waited for one */
    uint32_t rounds;   /* lanes that went round a loop with a barrier in it, and met none since */
    uint32_t arrived;  /* lanes that have arrived in the present phase of the cluster's barrier */
    uint32_t passed;   /* lanes that had in the one before, and have not waited for it */
    const struct exec_inst *clock_inst;
    uint64_t waited;       /* clock cycles slept, or spent reading the clock */
    uint64_t instructions; /* executed by this warp, of this block */
    uint64_t lane_instructions;
    uint64_t chain;    /* global accesses that waited on memory */
    uint64_t barriers; /* waited at */

    uint64_t clock_step;
    /* The latest look at memory that another thread's write may be awaited in, and how much had
     * been done by then. Who looks at the same place again has waited, and how often it did says
     * how the threads were scheduled here, nothing of the program. */
    struct exec_idle {
        uint64_t wasted;              /* instructions between such looks, so far */
        const struct exec_inst *look; /* NULL: none yet */
        uint64_t where;               /* the address register of the first lane */
        uint64_t instructions, chain, loaded, transactions;
    } idle;

    struct exec_fragment fragments[EXEC_LANES]; /* those that do not run */

    /* What is seldom looked at, and large: a block that begins touches none of it. */
    struct exec_own_row own;
    /* Reads whose last answer is known: a loop may look at several things. */
    const struct exec_inst *poll_inst[EXEC_POLLS];
    uint32_t poll_next;                           /* place to be taken next */
    uint32_t poll_mask[EXEC_POLLS];               /* lanes that read ... */
    uint32_t poll_bytes[EXEC_POLLS];              /* ... and of what all lanes' destinations held */
    uint64_t poll_values[EXEC_POLLS][EXEC_LANES]; /* ... so many, from the first on */
    uint64_t stack[EXEC_LANES]; /* alloca takes from the end of local memory: first byte taken */
    /* What lanes gave to the .sync instruction at which they wait. */
    uint64_t exchange[EXEC_LANES];
    uint32_t members[EXEC_LANES];
    exec_handler *exchange_kind[EXEC_LANES];
    uint64_t halves[EXEC_LANES]; /* addresses of the latest scattered access by half sectors */
    uint32_t ran;                /* since the block is watched for a stall: lanes */
    uint64_t until; /* the same: what `waited` must come to, of who reads a clock; 0: nobody did */
    struct exec_awaited awaited[EXEC_LANES]; /* the same */
};

static inline unsigned exec_lane_count(uint32_t mask)
{
    /* Nearly always full; the host of the lowest level has no instruction for the others. */
    return mask == EXEC_ALL ? EXEC_LANES : (unsigned)__builtin_popcount(mask);
}

/* The lanes of the slot at byte `offset` of the running frame. */
static inline void *exec_slot(const struct exec_warp *warp, uint32_t offset)
{
    return warp->slots + offset;
}

#endif
