/* exec_warp: the state of a running warp: its frames, its fragments, and what is kept between
 * instructions. Plain data: machine/ changes it, ops/ works on it, check/ reads it. Private to
 * emulator/exec.
 *
 * Divergence. A warp's lanes are split over fragments, each with its own pc and frame. The
 * scheduler runs the deepest call first, then the lowest pc, and merges fragments that meet, so
 * lanes reconverge where a compiler expects them to. A fragment that keeps branching backwards
 * while others wait is put aside for a while, so that every lane makes progress (Volta's
 * guarantee).
 */
#ifndef OVERLAP_EXEC_WARP_H
#define OVERLAP_EXEC_WARP_H

#include "emulator/exec/decoded.h"

#define EXEC_POLLS 16
#define EXEC_NO_LIMIT ((const struct exec_inst *)UINTPTR_MAX)

struct exec_poison;

/* The bytes that a call takes from the stack besides local variables: a return address, and what a
 * GPU would save. They bound recursion without local variables. */
#define EXEC_CALL_BYTES 32

/* One activation of a function, for the lanes that called it from the same frame. Kept as long as
 * the block's memory: another call of the function from the same frame reuses it. */
struct exec_frame {
    unsigned char *slots;
    const struct exec_function *function;
    struct exec_frame *parent;
    struct exec_frame *children;
    struct exec_frame *sibling;
    uint64_t block_serial; /* block whose special registers the frame holds */
    uint64_t launches;     /* the worker's `launches` when its other constants were written */
    uint32_t depth;
    uint32_t local_base;                           /* bytes, in each lane's local memory */
    const struct exec_inst *return_to[EXEC_LANES]; /* per lane */
    uint64_t stack_before[EXEC_LANES]; /* per lane, if the function uses alloca: the stack when the
                                          activation began */
};

enum exec_wait {
    EXEC_RUNNABLE,
    EXEC_WAIT_BARRIER, /* for a barrier of the block */
    EXEC_WAIT_SYNC,    /* for named lanes of the warp */
    EXEC_WAIT_CLUSTER, /* for the cluster's barrier */
};

struct exec_fragment {
    const struct exec_inst *pc; /* next; if the fragment waits, the instruction at which it waits */
    struct exec_frame *frame;
    uint32_t mask;
    uint32_t tick; /* when the fragment last ran, for fairness */
    enum exec_wait wait;
    uint32_t barrier; /* its index, for EXEC_WAIT_BARRIER */
};

/* A row of adjacent words that a warp stores by volatile or ordered stores, each lane its own word:
 * check/order.c. Usually only one thread uses such a word, so what is known of the row stays here
 * until it is accessed in any other way. */
struct exec_own_row {
    uint64_t address;            /* of the first lane of `mask` */
    uint32_t mask;               /* lanes; 0: there is no row */
    uint32_t bytes;              /* per lane: 4 or 8 */
    const unsigned char *memory; /* of the first lane, on the host; NULL: not looked up yet */
    bool all;                    /* every lane's store is recorded; false: only the first lane's */
    uint32_t changers;           /* lanes whose EXEC_ORDER_MODIFIES store changed memory ... */
    int32_t changed;             /* ... the time of the latest such store ... */
    uint32_t site;               /* ... and its site */
};

/* A lane's latest wait at a barrier object whose phase was incomplete, and what the object lacked.
 * Kept while the block is watched, for machine/stall.c to report. */
struct exec_awaited {
    const struct exec_inst *inst; /* NULL: none */
    struct exec_frame *frame;     /* of `inst` */
    uint64_t offset;              /* of the object, in shared memory */
    uint32_t missing, expected;   /* arrivals that the phase lacks, and that it expects */
    int32_t bytes; /* bytes that have not come; negative: bytes that came unexpectedly */
    bool parity;   /* of the phase */
};

/* Ordered by cache lines: a block that begins writes only a few of them, because each store counts
 * for a small kernel. */
struct exec_warp {
    /* The running fragment; mask is 0 when none runs. */
    _Alignas(64) unsigned char *slots;
    const struct exec_inst *pc;
    uint32_t mask;
    uint32_t full; /* every lane outside of mask is dead, so results need not be blended */
    const struct exec_inst *limit; /* the pc, of another fragment, at which to stop, or
                                      EXEC_NO_LIMIT; NULL: every instruction is observed */
    struct exec_frame *frame;      /* the frame of `slots`, even when no fragment runs */
    uint32_t backward; /* taken backward branches left until the scheduler looks again */
    uint32_t tick;
    uint32_t live; /* lanes that have not exited */
    uint32_t fragment_count;
    struct exec_block *block;

    struct exec_worker *worker;
    uint16_t index;    /* in the block */
    bool fresh;        /* its first turn has not begun; its counts are still another block's */
    uint32_t existing; /* lanes that the block has in this warp, exited or not */
    struct exec_frame *root;
    struct exec_poison *poison; /* check/poison.h; NULL: no value is followed */
    unsigned char *local;       /* EXEC_LANES x local_stride */
    uint64_t local_stride;
    const struct exec_inst
        *poll_latest;    /* latest poll; NULL: none, and the poll fields are clear */
    uint32_t polls;      /* consecutive polls without a new value, ops/poll.c */
    uint32_t exchanging; /* lanes that wait at a .sync instruction */

    bool yield;        /* it waits for other threads: others should run */
    bool rotate;       /* the next turn goes to the fragment that has waited longest */
    bool halves_begun; /* this block has initialised halves[] */
    bool stack_moved;  /* this block has changed stack[] */
    bool multiplying;  /* it has issued a wgmma since it last waited for one */
    uint32_t rounds;   /* lanes that have repeated a loop containing a barrier, without one since */
    uint32_t arrived;  /* lanes that have arrived in the present phase of the cluster's barrier */
    uint32_t passed;   /* lanes that had arrived in the phase before, and have not waited for it */
    const struct exec_inst *clock_inst;
    uint64_t waited;       /* clock cycles slept, or spent reading the clock */
    uint64_t instructions; /* executed by this warp, of this block */
    uint64_t lane_instructions;
    uint64_t chain;    /* global accesses that waited on memory */
    uint64_t barriers; /* waited at */
    /* The barrier to which it came last, if by machine code that has kept the steps
     * (native/steps.c) of its slots; else NULL. */
    const struct exec_inst *stepped;

    uint64_t clock_step;
    /* The latest poll of memory that another thread may write, and the counts at that time. Polling
     * the same place again is waiting: how often a warp polls depends on the scheduling here, not
     * on the program, so it is not counted. */
    struct exec_idle {
        uint64_t wasted;              /* instructions between such polls, so far */
        const struct exec_inst *look; /* the polling instruction; NULL: none yet */
        uint64_t where;               /* the address register of the first lane */
        uint64_t instructions, chain, loaded, transactions;
    } idle;

    struct exec_fragment fragments[EXEC_LANES]; /* those that do not run */

    /* Large and rarely used; a block that begins does not write it. */
    struct exec_own_row own;
    /* Polling instructions whose latest result is known: a loop may poll several places. */
    const struct exec_inst *poll_inst[EXEC_POLLS];
    uint32_t poll_next;                           /* entry to be replaced next */
    uint32_t poll_mask[EXEC_POLLS];               /* lanes that polled */
    uint32_t poll_bytes[EXEC_POLLS];              /* valid bytes of poll_values[k] */
    uint64_t poll_values[EXEC_POLLS][EXEC_LANES]; /* the destinations of all lanes */
    uint64_t stack[EXEC_LANES]; /* per lane: first byte taken by alloca, which takes from the end of
                                   local memory */
    /* What lanes have given to the .sync instruction at which they wait: value, member mask,
     * handler. */
    uint64_t exchange[EXEC_LANES];
    uint32_t members[EXEC_LANES];
    exec_handler *exchange_kind[EXEC_LANES];
    uint64_t halves[EXEC_LANES]; /* addresses of the latest scattered access by half sectors */
    uint32_t ran;                /* lanes that have run since the block was watched for a stall */
    uint64_t until; /* while watched: what `waited` must reach if a clock is read; 0: none was */
    struct exec_awaited awaited[EXEC_LANES]; /* while watched: one per lane */
    /* The rest has 8192 bytes, and a block's warps would share a few sets of a cache. */
    unsigned char apart[64];
};

static inline unsigned exec_lane_count(uint32_t mask)
{
    /* Nearly always full; hosts of the lowest EXEC_LEVEL have no instruction for other masks. */
    return mask == EXEC_ALL ? EXEC_LANES : (unsigned)__builtin_popcount(mask);
}

/* The lanes of the slot at byte `offset` of the running frame. */
static inline void *exec_slot(const struct exec_warp *warp, uint32_t offset)
{
    return warp->slots + offset;
}

#endif
