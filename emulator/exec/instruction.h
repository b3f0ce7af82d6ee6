/* exec_instruction: one decoded instruction, and the rules about it that lowering and handlers
 * share. Private to emulator/exec.
 *
 * Registers. A function's frame is one piece of host memory: constants, special registers and the
 * function's registers, each a slot of 32 lanes (32 x 4 bytes for types up to 32 bits, 32 x 8 bytes
 * for 64 bits; predicates and the carry flag are one 32-bit mask). An operand is the slot's byte
 * offset in the frame, so that constants and registers are read by the same code. Values narrower
 * than 32 bits are in the low bits of the lane; the bits above are undefined.
 *
 * Rows. A row is an entry of the tables in ops/: an opcode with its types, and the handler that
 * executes it. The decoded form does not depend on who executes it: an instruction is its row
 * (identified by the handler; rows with the same handler mean the same), offsets of slots, an
 * immediate, and for control flow the target's address. A function is one array of instructions.
 * All other state that a handler reads is in the warp.
 *
 * Native code. The translator to machine code, native/, connects through exec_inst.run alone: it
 * compiles a stretch of instructions and stores the result in `run` of the first, where the loop in
 * machine/warp.c calls it like any other handler. Such a handler
 *  - runs only where no other fragment of the warp could stop it inside the stretch (warp->limit),
 *    because fragments merge by comparing pc; elsewhere it calls the first instruction's own
 *    handler;
 *  - ends at an instruction that changes fragments, and at a branch on which a full warp diverges:
 *    that instruction's own handler executes it, after all the rest, with every slot in the frame.
 *    If only some lanes run, lanes that diverge wait inside the handler as fragments would, and
 *    become fragments when it ends; it returns EXEC_RESCHEDULE then;
 *  - works on the lanes of warp->mask (all, if warp->full) and may keep slots in machine registers
 *    until its end, where it writes back those that are live (lower/registers.c knows);
 *  - adds the instructions after the first to warp->instructions and leaves warp->pc behind the
 *    last, so that counts, limits and the order of blocks stay the same;
 *  - accesses memory through the checks in ops/memory.c, which count, mark footprints and report
 *    faults: on a fault it leaves through the instruction's own handler, all of whose operands must
 *    then be in their slots;
 *  - returns EXEC_GO, or what a handler that it called returned;
 *  - may also run the following warps, each from the same instruction on, where their turn would
 *    begin here anyway (exec_warp_next and its kin in machine/machine.h decide, and for
 *    the usual cases ops/quick_meet.h), and then returns EXEC_WENT_ON.
 * The rows remain the definition of what is computed: a stretch is correct if it leaves the slots
 * that its rows would have left.
 */
#ifndef OVERLAP_EXEC_INSTRUCTION_H
#define OVERLAP_EXEC_INSTRUCTION_H

#include <stdint.h>

#define EXEC_LANES 32
#define EXEC_ALL 0xffffffffu
#define EXEC_NO_GUARD 0xffffffffu
#define EXEC_NO_SLOT UINT32_MAX

struct exec_warp;
struct exec_inst;

/* What a handler returns to the loop that runs instructions. */
enum exec_step {
    EXEC_GO = 0,     /* continue at warp->pc */
    EXEC_RESCHEDULE, /* the fragments changed: choose one again */
    EXEC_STOP,       /* worker->end says why */
    EXEC_WENT_ON,    /* another warp runs: block->going has the warp and its step */
};

typedef int exec_handler(struct exec_warp *warp, const struct exec_inst *inst);

/* One decoded instruction. Operands are byte offsets of slots in the frame; their meaning is
 * documented beside the handler's row. */
struct exec_inst {
    exec_handler *run;
    exec_handler *inner; /* for a wrapper (guard, rounding, .sync): the row's own handler */
    uint64_t imm;        /* address offset, immediate, index */
    const void *extra;   /* branch target, call description */
    uint32_t d, a, b, c, e;
    uint32_t guard;    /* predicate slot << 1 | negated, or EXEC_NO_GUARD */
    uint32_t position; /* index of the source position */
    uint32_t cache;    /* index of the region cache entry */
};

/* Between which slots an instruction moves values, for check/poison.h. The low bits hold a count:
 * of the elements of a load or store, else of the sources, which are a, b, c, e in this order. */
enum exec_flow {
    EXEC_FLOW_NONE, /* reads and writes no followed value */
    EXEC_FLOW_COUNT = 7,
    EXEC_FLOW_COMPUTE = 1 << 3, /* to d */
    EXEC_FLOW_COMPARE = 2 << 3, /* to the predicates d and e */
    EXEC_FLOW_SELECT = 3 << 3,  /* from a or b, chosen by c, to d */
    EXEC_FLOW_AND = 4 << 3,     /* from a and b to d, 32 bits */
    EXEC_FLOW_AND_PREDICATES = 5 << 3,
    EXEC_FLOW_OR_PREDICATES = 6 << 3,
    EXEC_FLOW_LOAD = 7 << 3,         /* to d, b, c, e */
    EXEC_FLOW_STORE = 8 << 3,        /* from d, b, c, e, to global memory or a generic address */
    EXEC_FLOW_STORE_SHARED = 9 << 3, /* the same, to shared memory */
    EXEC_FLOW_ATOMIC = 10 << 3,      /* from a, b, c, to d */
    EXEC_FLOW_UNKNOWN = 11 << 3,
    EXEC_FLOW_MOVE = 12 << 3,    /* as COMPUTE, for rows that only move bits */
    EXEC_FLOW_SHUFFLE = 13 << 3, /* gives a to other lanes */
};

/* A load or store of global, generic or shared memory, for machine/probe.h. EXEC_FORM_WIDTH of 0:
 * neither. */
enum exec_form {
    EXEC_FORM_WIDTH = 7, /* 1 + log2 of a lane's bytes */
    EXEC_FORM_STORE = 8,
    EXEC_FORM_SHARED = 16,
    EXEC_FORM_NARROW = 32,  /* addresses of 32 bits */
    EXEC_FORM_OUTSIDE = 64, /* it concerns more than the thread's own state: machine/stall.c */
};

#endif
