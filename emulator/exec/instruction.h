/* exec_instruction: one decoded instruction, and what lowering and handlers agree on about it.
 * Private to emulator/exec.
 *
 * Registers. A function's frame is one piece of host memory: constants, special registers and the
 * function's registers, each a slot of 32 lanes (32 x 4 bytes for types up to 32 bits, 32 x 8 bytes
 * for 64 bits; predicates and the carry flag are one 32-bit mask). An operand is the slot's byte
 * offset in the frame, so that constants and registers are read by the same code. Values narrower
 * than 32 bits keep their bits at the bottom of the lane; what is above them means nothing.
 *
 * Native code. The decoded form does not depend on who executes it: an instruction is a row (found
 * by its handler; rows with one handler mean the same), offsets of slots, an immediate, and for
 * control the target's address; a function is one array of them, and what a handler may know is in
 * the warp. The translator from here to machine code, native/, has one door, exec_inst.run: it
 * compiles a stretch of instructions and puts the result into `run` of the first, where the loop in
 * machine/warp.c calls it like any other. Such a handler
 *  - runs only where no other fragment of the warp could stop it inside (warp->limit), because
 *    fragments meet by comparing pc; elsewhere it hands over to the first one's own handler;
 *  - ends with whatever changes fragments, and with a branch at which lanes of a whole warp part:
 *    its own handler executes it, behind all the rest, with every slot in the frame. Where some
 *    lanes run, those that part wait inside, as fragments would, and become fragments where the
 *    handler ends, which answers EXEC_RESCHEDULE then;
 *  - works on the lanes of warp->mask (all, if warp->full) and may keep slots in machine registers
 *    until its end, where it writes back those that live on (lower/registers.c knows);
 *  - adds the instructions behind the first to warp->instructions and leaves warp->pc behind the
 *    last, so that counts, limits and the order of blocks stay what they are;
 *  - reads and writes memory through the checks in ops/memory.c, which count, mark footprints
 *    and name faults: on a fault it leaves by the instruction's own handler, all of whose operands
 *    must then be in their slots;
 *  - answers EXEC_GO, or what a handler that it called answered;
 *  - may run the warps behind its own too, each from the same instruction on, where that one's turn
 *    would begin here anyhow (exec_warp_next of machine/machine.h says), and answers EXEC_WENT_ON.
 * The rows stay the definition of what is computed: a stretch is right if it leaves the slots that
 * its rows would have left.
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

/* What an instruction asks of the loop that runs it. */
enum exec_step {
    EXEC_GO = 0,     /* on to warp->pc */
    EXEC_RESCHEDULE, /* the fragments changed: choose again */
    EXEC_STOP,       /* worker->end says why */
    EXEC_WENT_ON,    /* another warp runs: block->going says which, and what it asks */
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

/* From which slots to which an instruction takes values: check/poison.h. The low bits count: of a
 * load or store its elements, else the sources, a first. */
enum exec_flow {
    EXEC_FLOW_NONE, /* from none, to none */
    EXEC_FLOW_COUNT = 7,
    EXEC_FLOW_COMPUTE = 1 << 3, /* to d */
    EXEC_FLOW_COMPARE = 2 << 3, /* to the predicates d and e */
    EXEC_FLOW_SELECT = 3 << 3,  /* from a or b by c, to d */
    EXEC_FLOW_AND = 4 << 3,     /* from a and b to d, 32 bits */
    EXEC_FLOW_AND_PREDICATES = 5 << 3,
    EXEC_FLOW_OR_PREDICATES = 6 << 3,
    EXEC_FLOW_LOAD = 7 << 3,         /* to d, b, c, e */
    EXEC_FLOW_STORE = 8 << 3,        /* from d, b, c, e, to global memory or a generic address */
    EXEC_FLOW_STORE_SHARED = 9 << 3, /* the same to shared memory */
    EXEC_FLOW_ATOMIC = 10 << 3,      /* from a, b, c, to d */
    EXEC_FLOW_UNKNOWN = 11 << 3,
    EXEC_FLOW_MOVE = 12 << 3, /* as COMPUTE, of what only moves bits: a copy is made of such */
};

/* A load or store of global, generic or shared memory: machine/probe.h; its width is 0: it is none.
 */
enum exec_form {
    EXEC_FORM_WIDTH = 7, /* 1 + the binary logarithm of a lane's bytes */
    EXEC_FORM_STORE = 8,
    EXEC_FORM_SHARED = 16,
    EXEC_FORM_NARROW = 32,  /* addresses of 32 bits */
    EXEC_FORM_OUTSIDE = 64, /* it does, or sees, more than a thread's own: machine/stall.c */
};

#endif
