/* The state of one translation of a region into an LLVM function, and the helpers that emit its
 * values and instructions. Slots, regions and steps are declared in private.h.
 */
#ifndef OVERLAP_EXEC_NATIVE_TRANSLATION_H
#define OVERLAP_EXEC_NATIVE_TRANSLATION_H

#include "emulator/exec/native/private.h"

/* One side of a fork: the lanes of the other side wait. */
struct native_side {
    const struct native_side *around; /* the side that this fork is in; NULL: none */
    LLVMValueRef others;
    const struct exec_inst *go;   /* where they continue */
    const struct exec_inst *fork; /* the branch */
};

struct native_translation {
    const struct native_unit *unit;
    const struct llvm *llvm;
    LLVMBuilderRef builder;
    const struct native_region *region;
    unsigned versions;        /* bits of enum native_version to be made */
    exec_handler *others_run; /* the handler for warps that no version serves */
    struct native_use *slots; /* the region's, each offset once */
    size_t slot_count;
    bool *reached; /* instructions of the region that control can reach from its entry */
    LLVMValueRef function;
    LLVMValueRef called; /* the parameter: the warp that the function is called for */
    LLVMTypeRef byte, word, wide, bytes; /* i8, i32, i64, i8* */
    LLVMAttributeRef cold;
    /* The rest belongs to the version that is being made. */
    LLVMBasicBlockRef *blocks;    /* of instructions that control may jump to; NULL: none */
    LLVMBasicBlockRef leave, end; /* exits: `leave` copies all slots out, then `end` */
    LLVMValueRef step;            /* the variable that holds the step to be returned */
    LLVMValueRef last, run;       /* variables: run on leaving, and its handler or NULL */
    LLVMValueRef warp, copy;    /* the current warp, and the local copy that inlined handlers see */
    LLVMValueRef place;         /* the variable that holds the current warp */
    LLVMBasicBlockRef over;     /* with `again`: all lanes have left the kernel */
    LLVMBasicBlockRef meets;    /* with `again`: all lanes have come to barrier `last` */
    LLVMBasicBlockRef again;    /* the next warp begins the region here; NULL: none does */
    LLVMValueRef quick, counts; /* struct exec_quick and its counts, for the fast paths */
    LLVMValueRef frame, lanes;  /* the frame's slots, and the local copy that handlers see */
    LLVMValueRef mask, computing;   /* the active lanes, and the lanes whose results are written */
    const struct native_side *side; /* the side of a fork that is being made; NULL: none */
    struct native_place {           /* where lanes may wait, by instruction: branch.c */
        size_t at;                  /* the instruction's index */
        LLVMValueRef lanes;         /* the variable that holds the mask of the waiting lanes */
    } * places;
    size_t place_count;
    LLVMValueRef running, entered; /* variables: masks of the lanes that run and that entered */
    LLVMValueRef since;            /* variable: warp->instructions when `running` last changed */
    LLVMValueRef rounds;  /* variable: times in a row that one lane alone began the region */
    uint32_t pending;     /* instructions emitted but not yet counted */
    bool full;            /* every lane that is not active is dead; also set for `lone` */
    bool lone;            /* one lane is active; its slots are lane 0 of `lanes` */
    LLVMValueRef lane;    /* with `lone`: the lane's index in the warp, 64 bits */
    LLVMValueRef limit;   /* with `lone`: warp->limit */
    bool stepped;         /* the steps that native_steps predicts hold */
    LLVMValueRef *firsts; /* variables: the first lane's value, per wanted slot and part */
    size_t at;            /* the instruction that is being emitted */
    enum {
        NATIVE_NOWHERE,
        NATIVE_BEFORE,
        NATIVE_BEHIND
    } where;              /* whether code is emitted before or behind instruction `at` */
    unsigned quick_count; /* inlined loads and stores so far */
};

/* ---- native/values.c: values, slots and counts ----------------------------------------------- */

LLVMValueRef native_number(const struct native_translation *t, uint64_t value); /* an i32 */
LLVMValueRef native_pointer(const struct native_translation *t, const void *address);
/* Emits the condition that at most one bit of the mask is set. */
LLVMValueRef native_is_single(const struct native_translation *t, LLVMValueRef mask);
/* Declares an LLVM intrinsic. */
LLVMValueRef native_intrinsic(const struct native_translation *t, const char *name,
                              LLVMTypeRef type);
/* Emit a pointer to `type`, `offset` bytes behind `base`; a load from there; a store to there. */
LLVMValueRef native_place(const struct native_translation *t, LLVMValueRef base, size_t offset,
                          LLVMTypeRef type);
LLVMValueRef native_load(const struct native_translation *t, LLVMValueRef base, size_t offset,
                         LLVMTypeRef type);
void native_store(const struct native_translation *t, LLVMValueRef base, size_t offset,
                  LLVMValueRef value);
LLVMBasicBlockRef native_new_block(const struct native_translation *t);
/* Marks a conditional branch as nearly always taking its first way, so that LLVM keeps no registers
 * free for the other. */
void native_expect(const struct native_translation *t, LLVMValueRef branch);
/* The address of the original, which is executed, of an instruction of the unit's copy; and the
 * instruction's index. */
LLVMValueRef native_executed(const struct native_translation *t, const struct exec_inst *inst);
size_t native_index_of(const struct native_translation *t, const struct exec_inst *inst);

LLVMTypeRef native_slot_type(const struct native_translation *t, uint32_t width);
LLVMTypeRef native_lane_type(const struct native_translation *t, uint32_t offset);
/* Copies a slot between the frame and the local copy; `out`: to the frame. */
void native_copy_slot(const struct native_translation *t, const struct native_use *slot, bool out);

/* Returns true when first-lane values are kept for the slot, wherever its step is known. */
bool native_keeps_firsts(const struct native_translation *t, uint32_t offset);
/* Returns true when the first-lane values that are kept for the slot are right where code is being
 * emitted, if its step is known there: in a side of a fork, when the slot was written before the
 * fork. */
bool native_knows_firsts(const struct native_translation *t, uint32_t offset);
/* Load the first lane of a part of the warp; and that of a half, where lanes are `step` apart. */
LLVMValueRef native_first_of(const struct native_translation *t, uint32_t offset, unsigned part);
LLVMValueRef native_first_of_half(const struct native_translation *t, uint32_t offset,
                                  unsigned half, int32_t step);
void native_keep_firsts(const struct native_translation *t, uint32_t offset,
                        LLVMValueRef firsts[NATIVE_HALVES]);
/* Extracts the parts' first lanes from a vector of 32 lanes. */
void native_take_firsts(const struct native_translation *t, LLVMValueRef vector,
                        LLVMValueRef firsts[NATIVE_HALVES]);
/* Builds a vector of 32 lanes from the parts' first lanes: lane l of a part is first + l * step. */
LLVMValueRef native_spread(const struct native_translation *t, LLVMValueRef firsts[NATIVE_HALVES],
                           int32_t step);
/* Settling a slot stores all its lanes, computed from the first lanes, to the local copy, which is
 * stale until then. These settle: one slot; all slots; the slots live at instruction `index` whose
 * steps are unknown there; the slots that `inst` reads, with `accesses` except its address. */
void native_settle(const struct native_translation *t, uint32_t offset);
void native_settle_all(const struct native_translation *t);
void native_settle_for(const struct native_translation *t, size_t index);
void native_settle_uses(const struct native_translation *t, const struct exec_inst *inst,
                        bool accesses);

/* Adds `by` to a field of the warp, and returns the sum. */
LLVMValueRef native_count(const struct native_translation *t, size_t field, LLVMTypeRef type,
                          int64_t by);
void native_count_pending(struct native_translation *t);
/* Set all of struct exec_quick_counts to 0; and add its counts to the worker's and the warp's,
 * leaving 0. */
void native_count_nothing(const struct native_translation *t);
void native_count_accesses(const struct native_translation *t);
/* Adds only the count that belongs to the warp. */
void native_count_chain(const struct native_translation *t);
/* ---- native/inline.c: instructions ----------------------------------------------------------- */

LLVMValueRef native_guard_of(const struct native_translation *t, const struct exec_inst *inst);
/* Call a handler for `inst`: through the value of a pointer to it, or the instruction's own. */
LLVMValueRef native_call(const struct native_translation *t, LLVMValueRef run, LLVMValueRef inst);
LLVMValueRef native_call_inst(const struct native_translation *t, const struct exec_inst *inst);
/* Returns the function to inline for the instruction; NULL: its handler is called. */
LLVMValueRef native_row_of(const struct native_translation *t, const struct exec_inst *inst);
/* Emits an instruction at which lanes do not diverge. */
void native_build_straight(struct native_translation *t, const struct exec_inst *inst);

/* Leaves the region: the warp continues at `pc` and the function returns `step`. */
void native_leave(const struct native_translation *t, const struct exec_inst *pc, int step);
/* Leaves the region and lets the interpreter's handler execute `inst`. All slots that are live at
 * `inst` are in the frame by then. */
void native_leave_by(struct native_translation *t, const struct exec_inst *inst);
/* Emits the blocks `leave` and `end`. */
void native_build_leave(struct native_translation *t);
/* Makes the given lanes a fragment at `pc`. */
void native_part(const struct native_translation *t, LLVMValueRef lanes,
                 const struct exec_inst *pc);
/* Returns `step`, by way of exec_warp_gone if the current warp is not the one the function was
 * called for. */
void native_build_return(const struct native_translation *t, LLVMValueRef step);

/* ---- native/branch.c: lanes that diverge, wait and reconverge -------------------------------- */

void native_build_branch(struct native_translation *t, const struct exec_inst *inst);
/* In a side of a fork an access completes or stops the kernel. If it stops it, the lanes that wait
 * become fragments, so that no lane is missing; what they count does not matter any more. */
void native_sides_leave(const struct native_translation *t);
/* Continues from instruction `from` at instruction `index`, which may lie outside the region. */
void native_go_on(const struct native_translation *t, size_t from, size_t index);
/* Finds where lanes of this version may wait. The builder is at the end of the entry block. */
void native_waits_find(struct native_translation *t);
/* Returns true when a waiting lane may read the slot. */
bool native_waits_read(const struct native_translation *t, uint32_t offset);
/* Emits the initial state: no lane waits. */
void native_waits_begin(const struct native_translation *t);
/* At the beginning of a block: lanes that wait at the instruction join the running lanes. */
void native_waits_meet(struct native_translation *t, size_t index);
/* At the beginning of a block, for a lone lane: leaves the region if another fragment stands here.
 */
void native_lone_meets(struct native_translation *t, size_t index);
/* Makes all waiting lanes fragments, and returns the mask of these lanes. */
LLVMValueRef native_waits_leave(const struct native_translation *t);

#endif
