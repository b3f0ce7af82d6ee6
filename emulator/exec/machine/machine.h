/* exec_machine: the machine that a compiled program runs on: instructions, register frames, warps,
 * blocks, workers. Private to emulator/exec. It never parses PTX and never allocates device memory.
 *
 * Registers. A function's frame is one piece of host memory: constants, special registers and the
 * function's registers, each a slot of 32 lanes (32 x 4 bytes for types up to 32 bits, 32 x 8 bytes
 * for 64 bits; predicates and the carry flag are one 32-bit mask). An operand is the slot's byte
 * offset in the frame, so that constants and registers are read by the same code. Values narrower
 * than 32 bits keep their bits at the bottom of the lane; what is above them means nothing.
 *
 * Divergence. A warp's lanes are split over fragments, each with its own pc and frame. The
 * scheduler runs the deepest call first, then the lowest pc, and merges fragments that meet, so
 * lanes reconverge where a compiler expects them to; a fragment that keeps branching backwards
 * while others wait is put aside for a while, so every lane makes progress (Volta's promise).
 *
 * Native code. The decoded form does not depend on who executes it: an instruction is a row (found
 * by its handler; rows with one handler mean the same), offsets of slots, an immediate, and for
 * control the target's address; a function is one array of them, and what a handler may know is in
 * the warp. A translator from here to machine code has one door, exec_inst.run: it compiles a
 * stretch of instructions and puts the result into `run` of the first, where the loop in
 * machine/warp.c calls it like any other. Such a handler
 *  - begins where a branch can lead or a fragment can stop (a target, behind a branch, call,
 * barrier or .sync) and ends before the next such place, because fragments meet by comparing pc
 * there;
 *  - works on the lanes of warp->mask (all, if warp->full) and may keep slots in machine registers
 *    until its end, where it writes back those that live on (lower/registers.c knows);
 *  - adds the instructions behind the first to warp->instructions and leaves warp->pc behind the
 *    last, so that counts, limits and the order of blocks stay what they are;
 *  - reads and writes memory through the checks in ops/memory.c, which count, mark footprints
 *    and name faults: on a fault it leaves by the instruction's own handler, all of whose operands
 *    must then be in their slots;
 *  - answers EXEC_GO, or what a handler that it called answered.
 * The rows stay the definition of what is computed: a stretch is right if it leaves the slots that
 * its rows would have left.
 */
#ifndef OVERLAP_EXEC_MACHINE_MACHINE_H
#define OVERLAP_EXEC_MACHINE_MACHINE_H

#include "emulator/exec/check/footprint.h"
#include "emulator/exec/exec.h"
#include "emulator/memory/memory.h"

#define EXEC_LANES 32
#define EXEC_ALL 0xffffffffu
#define EXEC_NO_GUARD 0xffffffffu
#define EXEC_BARRIERS 16
#define EXEC_MAX_WARPS 32
#define EXEC_POLLS 4

/* Generic addresses that no host pointer has: bit 56 is set, bits 52.. name the window. */
#define EXEC_WINDOW_BIT (UINT64_C(1) << 56)
#define EXEC_WINDOW_SHARED (EXEC_WINDOW_BIT | UINT64_C(1) << 52)
#define EXEC_WINDOW_LOCAL (EXEC_WINDOW_BIT | UINT64_C(2) << 52)
#define EXEC_WINDOW_PARAM (EXEC_WINDOW_BIT | UINT64_C(3) << 52)
#define EXEC_WINDOW_CODE (EXEC_WINDOW_BIT | UINT64_C(4) << 52)
#define EXEC_WINDOW_GRID (EXEC_WINDOW_BIT | UINT64_C(5) << 52) /* cooperative grid's workspace */
#define EXEC_GRID_WORKSPACE 256                                /* bytes */
#define EXEC_WINDOW_MASK (~UINT64_C(0) << 52)

struct exec_warp;
struct exec_inst;
struct exec_shadow;
struct exec_block_shadow;
struct exec_async;
struct exec_doubt;

/* What an instruction asks of the loop that runs it. */
enum exec_step {
    EXEC_GO = 0,     /* on to warp->pc */
    EXEC_RESCHEDULE, /* the fragments changed: choose again */
    EXEC_STOP,       /* worker->end says why */
};

typedef int exec_handler(struct exec_warp *warp, const struct exec_inst *inst);

/* One decoded instruction. Operands are byte offsets of slots in the frame; what each means is the
 * handler's business (the rows beside the handlers say it). */
struct exec_inst {
    exec_handler *run;
    exec_handler *inner; /* of a wrapper (guard, rounding, .sync): the row's handler */
    uint64_t imm;        /* address offset, immediate, index */
    const void *extra;   /* branch target, call description */
    uint32_t d, a, b, c, e;
    uint32_t guard;    /* predicate slot << 1 | negated, or EXEC_NO_GUARD */
    uint32_t position; /* index of the source position */
    uint32_t cache;    /* index of the region cache entry */
};

struct exec_position {
    const char *file; /* NULL: line is of the PTX text */
    uint32_t line;
};

/* ---- the compiled program ------------------------------------------------------------------ */

/* How a constant slot is filled when a frame is made. */
enum exec_constant_kind {
    EXEC_CONSTANT_VALUE,          /* value */
    EXEC_CONSTANT_VARIABLE,       /* address of module variable `index` + value */
    EXEC_CONSTANT_CODE,           /* token of function `index` */
    EXEC_CONSTANT_DYNAMIC_SHARED, /* offset of the dynamic shared memory + value */
    EXEC_CONSTANT_LOCAL,          /* offset of the frame's local memory + value */
    EXEC_CONSTANT_PARAMETER,      /* the launch's parameter bytes at value; index: their size,
                                     negative: signed */
    EXEC_CONSTANT_SPECIAL,        /* special register `index` (enum ptx_special), component
                                     `value`; fixed while a block runs */
};

struct exec_constant {
    enum exec_constant_kind kind;
    uint32_t slot;  /* byte offset in the frame */
    uint32_t width; /* bytes of a lane: 4 or 8 */
    int32_t index;
    uint64_t value;
};

/* The functions of the device's runtime that PTX declares .extern and we provide. */
enum exec_builtin {
    EXEC_BUILTIN_NONE,
    EXEC_BUILTIN_VPRINTF,
    EXEC_BUILTIN_ASSERTFAIL,
    EXEC_BUILTIN_MALLOC,
    EXEC_BUILTIN_FREE,
};

/* A range of bytes: a formal parameter or return value in a function's local memory, a slot in its
 * frame. */
struct exec_formal {
    uint32_t offset; /* bytes */
    uint32_t size;   /* bytes */
};

struct exec_function {
    struct exec_function_info info;
    struct exec_program *program;
    bool entry;
    bool defined; /* has a body */
    enum exec_builtin builtin;
    const struct exec_inst *code;
    size_t code_count;
    uint32_t index;
    struct exec_formal *poisoned; /* slots that may be read before they are written */
    size_t poisoned_count;
    uint32_t frame_bytes;            /* registers, scratch slots, constants */
    struct exec_constant *constants; /* first those that change from block to block */
    size_t constant_count;
    size_t changing_count;
    uint32_t local_bytes; /* .local and .param variables of one activation */
    struct exec_formal *formals;
    size_t formal_count;
    struct exec_formal *returns;
    size_t return_count;
    bool
        uses_module_shared; /* it or a callee names a .shared variable that several functions see */
    /* Static properties, through calls. */
    exec_handler *commutes; /* the one atomic operation that its blocks do to global memory at once,
                               in any order; NULL: none */
    bool fences;            /* a fence beyond the block: blocks may make an order of their own */
    bool talks;             /* blocks can observe each other, or output is ordered: one worker */
    bool recursive;         /* the call graph has a cycle, or an indirect call */
    bool allocates;         /* alloca: local memory whose size is known at run time */
    bool settled;           /* while calls are followed: the stack is known */
    uint32_t stack_bytes;   /* local memory of the deepest chain of calls, when not recursive */
};

/* A call site. Arguments and results are copied between the two activations' local memory. */
struct exec_call {
    const struct exec_function *callee; /* NULL: indirect, through slot a */
    size_t argument_count;
    struct exec_formal *arguments; /* in the caller's local memory */
    size_t result_count;
    struct exec_formal *results;
};

/* brx.idx */
struct exec_targets {
    size_t count;
    const struct exec_inst **targets;
    const uint32_t *indexes; /* the same as PTX instructions, while the function is compiled */
};

/* For whom an access is not judged: a look before the act, or one that converses;
 * check/grid_shadow.h, check/block_shadow.h. */
enum exec_look { EXEC_LOOK_BLOCKS = 1, EXEC_LOOK_THREADS = 2, EXEC_LOOK_ALL = 3 };

struct exec_program {
    struct exec_function **functions; /* by the module's index */
    size_t function_count;
    struct exec_function **entries;
    size_t entry_count;
    struct exec_position *positions; /* malloc */
    size_t position_count;
    size_t position_room;
    const char **files; /* by .file number */
    size_t file_count;
    struct exec_variable *variables;
    struct exec_initial *initials; /* one per variable: lower/variables.c */
    uint64_t constant_bytes;       /* of all of them that are .const */
    size_t variable_count;
    uint32_t *module_shared;      /* offset of each module variable in shared memory */
    uint32_t module_shared_bytes; /* of .shared variables that several functions see */
    size_t cache_count;
    uint8_t *looks; /* of each cache, malloc: enum exec_look bits */
    size_t looks_room;
    bool sees_reserved;       /* reads where the reserved shared memory is: see ops/special.c */
    bool watched;             /* made to be watched: see check/shadow.h */
    bool failed;              /* out of memory while it was made */
    char refusal[200];        /* why no device could hold it; empty: one can */
    struct exec_arena *arena; /* owns everything but positions */
};

/* ---- the running machine ------------------------------------------------------------------- */

/* The bytes that a call takes from the stack beyond local variables: a return address, and what a
 * GPU would save. Bounds recursion that has no local variables. */
#define EXEC_CALL_BYTES 32

/* The shared memory of a block that a GPU keeps for itself, and lends to cooperative groups. Here
 * it begins behind the block's own, and is there only for programs that ask where it is. */
#define EXEC_RESERVED_SHARED 1024u
#define EXEC_RESERVED_FIRST(bytes) (((bytes) + 15) / 16 * 16)

/* One activation of a function, for the lanes that called it from the same frame. Kept for reuse
 * as long as the block's memory: calling again from the same frame finds it again. */
struct exec_frame {
    unsigned char *slots;
    const struct exec_function *function;
    struct exec_frame *parent;
    struct exec_frame *children;
    struct exec_frame *sibling;
    uint64_t block_serial; /* block whose special registers the frame holds */
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
};

struct exec_fragment {
    const struct exec_inst *pc; /* next; of a waiting fragment: the instruction it waits at */
    struct exec_frame *frame;
    uint32_t mask;
    uint32_t tick; /* when it last ran, for fairness */
    enum exec_wait wait;
    uint32_t barrier; /* EXEC_WAIT_BARRIER: which */
};

struct exec_warp {
    /* The running fragment; mask is 0 when none runs. */
    unsigned char *slots;
    const struct exec_inst *pc;
    uint32_t mask;
    uint32_t full; /* every lane outside of mask is dead: results need not be blended */
    struct exec_frame *frame;
    uint32_t backward; /* taken backward branches left until the scheduler looks again */
    uint32_t polls;    /* reads in a row that brought no news, see exec_polled */
    bool yield;        /* waits for other threads' news: others should run */
    bool rotate;       /* the next turn goes to the fragment that waited longest */

    struct exec_block *block;
    struct exec_worker *worker;
    uint32_t index;    /* in the block */
    uint32_t existing; /* lanes that the block has in this warp */
    uint32_t live;     /* lanes that have not exited */
    uint32_t tick;
    struct exec_fragment fragments[EXEC_LANES]; /* those that do not run */
    uint32_t fragment_count;
    struct exec_frame *root;
    unsigned char *local; /* EXEC_LANES x local_stride */
    uint64_t local_stride;
    uint64_t stack[EXEC_LANES]; /* alloca takes from the end of local memory: first byte taken */
    bool stack_moved;           /* by this block */
    /* Reads whose last answer is known: a loop may look at several things. */
    const struct exec_inst *poll_inst[EXEC_POLLS];
    uint64_t poll_sum[EXEC_POLLS];
    const struct exec_inst *poll_latest;
    uint32_t poll_next; /* place to be taken next */
    /* What lanes gave to the .sync instruction at which they wait. */
    uint64_t exchange[EXEC_LANES];
    uint32_t members[EXEC_LANES];
    exec_handler *exchange_kind[EXEC_LANES];
    uint32_t exchanging;   /* lanes that wait at a .sync instruction */
    uint64_t instructions; /* executed by this warp, of this block */
    uint64_t lane_instructions;
    uint64_t chain;  /* global accesses that waited on memory */
    uint64_t waited; /* clock cycles slept, or spent reading the clock */
    const struct exec_inst *clock_inst;
    uint64_t clock_step;
    /* The latest look at memory that another thread's write may be awaited in, and how much had
     * been done by then. Who looks at the same place again has waited, and how often it did says
     * how the threads were scheduled here, nothing of the program. */
    struct exec_idle {
        const struct exec_inst *look; /* NULL: none yet */
        uint64_t where;               /* the address register of the first lane */
        uint64_t instructions, chain, loaded, transactions;
        uint64_t wasted; /* instructions between such looks, so far */
    } idle;
};

struct exec_barrier {
    bool used;
    uint32_t expected;                /* threads; 0: every thread that has not exited */
    uint32_t positive;                /* bar.red: arrivals whose predicate was true */
    uint32_t asked;                   /* bar.red: arrivals that brought a predicate */
    uint32_t arrived[EXEC_MAX_WARPS]; /* lanes, waiting or only arrived */
};

struct exec_block {
    uint64_t index;  /* linear, in the grid */
    uint64_t serial; /* of the worker's blocks, so that frames know when theirs has changed */
    uint32_t position[3];
    struct exec_worker *worker;
    struct exec_warp *warps;
    uint32_t warp_count;
    unsigned char *shared;
    struct exec_barrier barriers[EXEC_BARRIERS];
    uint32_t barriers_used;         /* a bit each: barriers[] with `used` set */
    bool named_barriers;            /* it uses others than those of __syncthreads() */
    struct exec_shadow *shadow;     /* of its shared memory; NULL: nobody wants to know */
    struct exec_block_shadow *near; /* of what it touches of global memory; NULL: the same */
    struct exec_async *async;       /* copies into its shared memory; NULL: none yet */
    bool polling;                   /* in its last turn no warp did more than wait and look */
    struct exec_block *next;
};

/* A region that an instruction touched last; addresses are compared in the device's terms. */
struct exec_region_cache {
    uint64_t low;
    uint64_t size;  /* 0: empty */
    uint64_t delta; /* host address - device address */
    bool read_only;
    enum exec_access access;
    uint64_t *marks;             /* the launch's footprint there; NULL: none is wanted */
    uint64_t touched, untouched; /* the first byte that was touched and the first after the last */
    uint32_t widest;             /* bytes of the largest access */
    struct exec_owners *owners;  /* check/grid_shadow.h; NULL: not judged */
    bool between_blocks;         /* judged there */
    bool between_threads;        /* judged in check/block_shadow.h */
    uint64_t owned_page;         /* exec_owners_reach: 1 + the last one; 0: none */
    const struct memory_region *region;
    const struct exec_position *position;
};

/* Every access to a region ends here once it is known to be allowed. */
static inline void exec_mark(struct exec_region_cache *cache, uint64_t address, uint64_t bytes)
{
    if (!cache->marks) return;
    const uint64_t offset = address - cache->low;
    if (offset < cache->touched) cache->touched = offset;
    if (offset + bytes > cache->untouched) cache->untouched = offset + bytes;
    exec_footprint_mark(cache->marks, offset, bytes);
}

/* These bytes of a map of check/grid_shadow.h become `me`. */
struct exec_grid_shadow_mark {
    uint8_t *owners;
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
    bool alone;                       /* no other worker runs blocks of this launch */
    uint64_t news;                    /* reads of exec_polled that gave something new */
    uint64_t commuted;                /* atomics, by lanes, that others may do at the same time */
    struct exec_region_cache *caches; /* one per load and store of the program */
    unsigned char *grid_workspace;    /* EXEC_GRID_WORKSPACE bytes */
    struct exec_counts counts;
    uint32_t shared_bytes;   /* static and dynamic, and behind them the reserved ones if seen */
    uint32_t user_shared;    /* static and dynamic */
    uint32_t dynamic_offset; /* of the dynamic part */
    uint64_t local_stride;   /* bytes of local memory per lane */
    uint64_t block_serial;
    struct exec_block *spare;  /* finished blocks, for reuse */
    struct exec_doubt *doubts; /* check/grid_shadow.c */
    uint32_t doubt_count, own_count;
    struct exec_grid_shadow_mark
        owns[EXEC_LANES]; /* stores that are not marked yet: exec_grid_shadow_settle */
    enum exec_end end;    /* not EXEC_DONE: the fault is set */
    struct exec_fault fault;
    uint64_t fault_block;
};

static inline unsigned exec_lane_count(uint32_t mask)
{
    /* Nearly always full; the host of the lowest level has no instruction for the others. */
    return mask == EXEC_ALL ? EXEC_LANES : (unsigned)__builtin_popcount(mask);
}

/* Slots. */
static inline void *exec_slot(const struct exec_warp *warp, uint32_t offset)
{
    return warp->slots + offset;
}

/* ---- machine/fault.c --------------------------------------------------------------------------
 */

/* Records why the launch stops, for lane `lane` of `warp` at `inst`; answers EXEC_STOP. */
int exec_stop(struct exec_warp *warp, const struct exec_inst *inst, enum exec_end end,
              unsigned lane, const char *format, ...) __attribute__((format(printf, 5, 6)));
/* The same for an access that memory does not allow: explains the address. */
int exec_stop_access(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                     uint64_t address, uint32_t size, bool store, bool generic);

/* ---- machine/access.c -------------------------------------------------------------------------
 */

/* The host address of `size` bytes at a generic `address` as lane `lane` sees it, or NULL with the
 * fault recorded. `generic`: the windows are allowed. */
unsigned char *exec_resolve(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                            uint64_t address, uint32_t size, enum exec_access access, bool generic);
/* Adds what a worker's cache entry has seen to the launch's footprint. */
void exec_cache_flush(const struct exec_worker *worker, const struct exec_region_cache *cache);
/* Bytes readable from `address` on, without a fault: 0 when there are none. For strings. */
const unsigned char *exec_peek(struct exec_warp *warp, unsigned lane, uint64_t address,
                               size_t *size);

/* ---- ops/control.c, machine/sync.c, machine/barrier.c
 * ------------------------------------------------------------ */

/* Splits the running fragment: the lanes of `mask` leave it and continue at `pc` in `frame`. */
void exec_split(struct exec_warp *warp, uint32_t mask, const struct exec_inst *pc,
                struct exec_frame *frame);

/* Handlers that the compile step puts around others, or uses where no row fits. */
exec_handler exec_guarded, exec_branch_guarded, exec_unsupported, exec_fell_off;
/* A .sync instruction whose lanes have given their values and member masks: runs the row's handler
 * (inner) when all that are named are there, else waits. */
exec_handler exec_sync_meet;
/* Runs a floating-point row (inner) in another rounding mode (imm, enum exec_round). */
exec_handler exec_rounded;
enum exec_round { EXEC_ROUND_ZERO, EXEC_ROUND_DOWN, EXEC_ROUND_UP };
exec_handler exec_barrier_sync, exec_barrier_arrive, exec_barrier_reduce;
/* Puts the running fragment aside, waiting; the caller answers EXEC_RESCHEDULE. */
void exec_wait(struct exec_warp *warp, const struct exec_inst *inst, enum exec_wait wait,
               uint32_t barrier);
/* The lanes of the running fragment are finished. */
int exec_exit_lanes(struct exec_warp *warp);
/* Lanes of the warp have exited: .sync instructions no longer wait for them. */
int exec_sync_check(struct exec_warp *warp);

/* Threads of the block have exited: barriers no longer wait for them. */
void exec_threads_left(struct exec_block *block);
/* Forgets the barriers of the block that ran before. */
void exec_barriers_reset(struct exec_block *block);

/* ---- check/deadlock.c ---------------------------------------------------------------------------
 */

/* Stops the launch because every thread of the block waits, and says who waits where. */
void exec_block_deadlock(struct exec_block *block);
/* The same because the launch has executed `limit` warp instructions; false when no thread of this
 * block could still run. */
bool exec_block_endless(struct exec_block *block, uint64_t limit);

/* ---- ops/mbarrier.c ------------------------------------------------------------------------ */

/* `bytes` that the barrier object at a generic address was told to expect have come. False: a fault
 * is recorded. */
bool exec_mbarrier_complete(struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                            uint64_t address, uint32_t bytes);

/* ---- machine/warp.c -------------------------------------------------------------------------- */

enum exec_turn {
    EXEC_TURN_SPENT,   /* the slice is used up */
    EXEC_TURN_BLOCKED, /* every live lane waits */
    EXEC_TURN_DONE,    /* no lane is left */
    EXEC_TURN_STOPPED, /* a fault */
};

/* Runs `warp` for about `slice` instructions. */
enum exec_turn exec_warp_run(struct exec_warp *warp, uint64_t slice);

/* The frame of `function` called from `parent` (NULL: the kernel itself), made or found again.
 * NULL when the stack is used up or the host has no memory (`*end` says which). */
struct exec_frame *exec_frame_enter(struct exec_warp *warp, struct exec_frame *parent,
                                    const struct exec_function *function, enum exec_end *end);
/* Brings the special registers of a frame that an earlier block used up to date. */
void exec_frame_renew(struct exec_warp *warp, struct exec_frame *frame);
void exec_frame_free(struct exec_frame *frame);

/* ---- ops/special.c ------------------------------------------------------------------------- */

/* Whether special register `special` (enum ptx_special) may differ from block to block. */
bool exec_special_changes(unsigned special);
/* Whether whoever reads it may touch the reserved shared memory. */
bool exec_special_reserved(unsigned special);
/* Writes its value for every lane of `warp` to a slot of `width` bytes per lane. */
void exec_special_fill(const struct exec_warp *warp, unsigned special, unsigned component,
                       unsigned char *slot, uint32_t width);
/* The value of a launch parameter's field. */
uint64_t exec_parameter_value(const struct exec_launch *launch,
                              const struct exec_constant *constant);

/* ---- machine/block.c ---------------------------------------------------------------------------
 */

/* A block's memory, which runs one block of the grid after another. NULL without host memory. */
struct exec_block *exec_block_create(struct exec_worker *worker);
void exec_block_destroy(struct exec_block *block);
/* Prepares it to run block `index` of the grid; false without host memory. */
bool exec_block_start(struct exec_block *block, uint64_t index);
/* Runs it for about `slice` instructions: EXEC_TURN_SPENT when there is more to do. */
enum exec_turn exec_block_run(struct exec_block *block, uint64_t slice, uint64_t *executed);

/* Where an atomic instruction's address lies (its slot e). */
enum exec_atomic_where {
    EXEC_ATOMIC_GLOBAL,
    EXEC_ATOMIC_GENERIC,
    EXEC_ATOMIC_SHARED,
    EXEC_ATOMIC_SHARED64,
};

/* ---- ops/builtin.c -------------------------------------------------------------------------- */

/* Runs a built-in function for the active lanes. */
int exec_builtin_call(struct exec_warp *warp, const struct exec_inst *inst,
                      const struct exec_call *call, enum exec_builtin builtin);

#endif
