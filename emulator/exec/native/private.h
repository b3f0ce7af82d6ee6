/* What the files of emulator/exec/native/ tell each other.
 */
#ifndef OVERLAP_EXEC_NATIVE_PRIVATE_H
#define OVERLAP_EXEC_NATIVE_PRIVATE_H

#include "emulator/exec/decoded.h"
#include "emulator/exec/native/llvm.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- native/decode.c: what an instruction is to a translator --------------------------------- */

enum native_kind {
    NATIVE_END, /* lanes may part or wait, or nothing is known of it: its handler ends the region */
    NATIVE_LANES,    /* each lane's arithmetic: inlined, if the row's handler can be */
    NATIVE_CALL,     /* its handler is called: it touches its slots and memory, and comes back */
    NATIVE_BRANCH,   /* bra, with or without a guard */
    NATIVE_TOGETHER, /* a whole warp's shuffle or vote: in line, or its handler ends the region */
};

/* Bytes of slots. */
enum { NATIVE_MASK = 4, NATIVE_NARROW = 4 * EXEC_LANES, NATIVE_WIDE = 8 * EXEC_LANES };

struct native_use {
    uint32_t offset; /* bytes in the frame */
    uint32_t width;  /* NATIVE_MASK, ... */
    bool writes;
};
enum { NATIVE_USES = 7 };

enum native_kind native_kind(const struct exec_inst *inst);
/* The row's own handler, without what is put around it. */
exec_handler *native_row_handler(const struct exec_inst *inst);
/* Whether an instruction that may be put in line is one of the program's. */
bool native_is_counted(const struct exec_inst *inst);
bool native_is_round(const struct exec_inst *inst);
/* Whether its lanes leave the function by it. */
bool native_is_end(const struct exec_inst *inst);
/* Whether it judges an access, and is never put in line. */
bool native_is_judge(const struct exec_inst *inst);
bool native_is_atomic(const struct exec_inst *inst);
/* The slots of an instruction of NATIVE_LANES or NATIVE_TOGETHER, or of a load, store or atomic;
 * answers how many. Of another NATIVE_CALL, which writes none, those that it looks at in line. */
unsigned native_uses(const struct exec_inst *inst, struct native_use uses[NATIVE_USES]);
/* Whether one of those slots is written there. */
bool native_writes(const struct exec_inst *inst, uint32_t offset);

/* ---- native/rows.c: the handlers of rows as LLVM's functions --------------------------------- */

enum native_form {
    NATIVE_WHOLE,      /* all that the row does */
    NATIVE_WHOLE_LONE, /* ... for a lane that is alone: lane 0 of its slots */
    NATIVE_QUICK,      /* of ops/quick.h, where every lane runs or is dead */
    NATIVE_SOME,       /* the same for any lanes */
    NATIVE_QUICK_LONE, /* ... and for a lane that is alone */
    NATIVE_FORMS
};

struct native_rows {
    LLVMContextRef context;
    struct native_row {
        exec_handler *run;
        LLVMValueRef forms[NATIVE_FORMS]; /* NULL: there is none, or it is better called */
        bool seen[NATIVE_FORMS];          /* it is known which */
    } * entries;                          /* a hash table, by run */
    size_t room;
};

/* A module with the functions of all rows that `function` uses, `lone`: and those for a lane that
 * is alone; NULL: it could not be read. */
LLVMModuleRef native_rows_read(const struct llvm *llvm, LLVMContextRef context,
                               const struct exec_function *function, bool lone,
                               struct native_rows *rows);
void native_rows_end(struct native_rows *rows);
/* The function that may be inlined for a row's handler in that form; NULL: there is none. */
LLVMValueRef native_row_function(const struct llvm *llvm, const struct native_rows *rows,
                                 exec_handler *run, enum native_form form);

/* ---- native/region.c: which stretches are compiled ------------------------------------------- */

struct native_region {
    uint32_t first, end;  /* indexes of instructions [first, end); it is entered at the first */
    uint64_t address;     /* of its code, when it is compiled */
    exec_handler *others; /* who runs it where that code does not: atomic */
    /* Bits of enum native_version: what such warps were asked for, atomic, and got. */
    unsigned wanted, made;
};

/* The regions of a function that are worth it, or all, malloc; false: no memory. `leads`: whether
 * something can lead to an instruction other than from the one before, malloc. */
bool native_regions(const struct exec_function *function, bool all, struct native_region **regions,
                    size_t *count, bool **leads);

/* A branch that some lanes take and others not. The scheduler (machine/warp.c) runs the lanes that
 * do not take it first, from the next instruction to `target`, where the others wait; or, of an if
 * that has an else, to a branch before it over what is there to `end`, where all meet. */
struct native_fork {
    const struct exec_inst *target, *end; /* the same: there is no else */
};

/* Whether lanes that part at `inst` meet again behind a few instructions that machine code has
 * either side of, before instruction `end`. */
bool native_fork_find(const struct exec_function *function, size_t end,
                      const struct exec_inst *inst, struct native_fork *fork);

/* ---- native/live.c: whose values are still read ---------------------------------------------- */

struct native_live {
    struct native_use *slots; /* that known instructions name, by offset */
    size_t slot_count;
    uint64_t *sets; /* of each instruction the slots read from it on; `words` each */
    size_t words;
};

/* False: no memory. */
bool native_live_find(const struct exec_function *function, struct native_live *live);
/* Whether the slot may be read before it is written, from instruction `index` on, by a lane that
 * comes there. */
bool native_is_live(const struct native_live *live, size_t index, uint32_t offset);
/* The index of a slot; -1: no known instruction names it. And its width; 0: the same. */
int32_t native_live_slot(const struct native_live *live, uint32_t offset);
uint32_t native_live_width(const struct native_live *live, uint32_t offset);
void native_live_end(struct native_live *live);

/* ---- native/steps.c: whose lanes' values are a step apart -------------------------------------
 *
 * In the whole warp, one part, or in each half of it, where rows of a block are half as long: that
 * is decided once for a function, when it is hot, and what is known of steps is the same. */

enum { NATIVE_HALVES = 2, NATIVE_HALF = EXEC_LANES / NATIVE_HALVES };

#define NATIVE_ANY INT32_MIN /* no step is known */

/* What is made of a slot's value before anything else. */
enum native_widens { NATIVE_AS_IT_IS, NATIVE_CUT, NATIVE_BY_ZEROS, NATIVE_BY_SIGN };

/* An instruction of which more is known than that it makes the same of the same. */
struct native_rule {
    exec_handler *run;
    enum native_does {
        NATIVE_MOVES,           /* a */
        NATIVE_ADDS,            /* a + b */
        NATIVE_SUBTRACTS,       /* a - b */
        NATIVE_SHIFTS,          /* a << b */
        NATIVE_MULTIPLIES,      /* a * b */
        NATIVE_MULTIPLIES_ADDS, /* a * b + c */
    } does;
    enum native_widens widens; /* what is multiplied or moved */
};

/* A comparison of integers that, of a row of values a step apart, is the same for all if it is for
 * the first and for the last. */
struct native_comparison {
    exec_handler *run;
    LLVMIntPredicate holds;
    bool is_signed;
};

struct native_steps {
    const struct exec_function *function;
    const struct native_live *live; /* whose slots */
    const bool *in_line;
    int32_t *steps; /* of each slot, before each instruction */
    bool *reached;  /* whether anybody comes to it */
};

/* The constant that a slot holds; NULL: it holds none. */
const struct exec_constant *native_constant_at(const struct exec_function *function,
                                               uint32_t offset);
/* The same if all lanes have the same there. */
const struct exec_constant *native_uniform_at(const struct exec_function *function,
                                              uint32_t offset);
/* `in_line`: which instructions are lanes' arithmetic that no handler is called for. It and `live`
 * must stay. False: no memory. */
bool native_steps_find(const struct exec_function *function, const struct native_live *live,
                       const bool *in_line, struct native_steps *steps);
void native_steps_end(struct native_steps *steps);
/* By how much a lane's value in the slot is more than that of the lane before, in each part of the
 * warp, before instruction `index`; or NATIVE_ANY. */
int32_t native_step_before(const struct native_steps *steps, size_t index, uint32_t offset);
/* The same behind it, and of what lanes' arithmetic leaves in its slot d. */
int32_t native_step_behind(const struct native_steps *steps, size_t index, uint32_t offset);
int32_t native_step_made(const struct native_steps *steps, size_t index);
/* What more is known of the instruction; NULL: nothing, as of a shift by what is not known. */
const struct native_rule *native_rule_of(const struct native_steps *steps,
                                         const struct exec_inst *inst);
/* What is known of the comparison; NULL: it is none, or the steps of what it compares are not
 * known. */
const struct native_comparison *native_comparison_of(const struct native_steps *steps,
                                                     const struct exec_inst *inst);
/* The slots of which a region's addresses are made by steps, and those compared with them: malloc,
 * for each of live's; NULL: no memory. */
bool *native_steps_wanted(const struct native_steps *steps, const struct native_region *region);

/* ---- native/translate.c: a region as one function -------------------------------------------- */

/* Which warps code is for. */
enum native_version {
    NATIVE_STEPPED = 1, /* every lane takes part or is dead, and the lanes are as steps.c guesses */
    NATIVE_FULL = 2,    /* the same, however the lanes are */
    NATIVE_PARTLY = 4,  /* some lanes take part */
    NATIVE_LONE = 8,    /* one does */
};

struct native_unit {
    const struct llvm *llvm;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    struct native_rows rows;
    const struct exec_function *function; /* a copy, with its rows' handlers, ... */
    const struct exec_inst *code;         /* ... of what is executed */
    const bool *leads;
    unsigned parts; /* of a warp: 1 or NATIVE_HALVES */
    struct native_live live;
    struct native_steps steps;
};

/* Adds the region's function, under `name`, to the unit's module: NATIVE_STEPPED alone, or of the
 * others those in `versions`. `others`: who runs the region for all other warps. False: no memory.
 */
bool native_translate(struct native_unit *unit, const struct native_region *region,
                      unsigned versions, exec_handler *others, const char *name);

/* ---- native/polish.c ------------------------------------------------------------------------- */

/* After the handlers were inlined: what LLVM does not find by itself. */
void native_polish(struct native_unit *unit, LLVMValueRef function);

#endif
