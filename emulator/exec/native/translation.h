/* What the files that make LLVM's functions of regions share: one translation, the values that it
 * is made of, and its instructions. Which slots, regions and steps there are is private.h's
 * business.
 */
#ifndef OVERLAP_EXEC_NATIVE_TRANSLATION_H
#define OVERLAP_EXEC_NATIVE_TRANSLATION_H

#include "emulator/exec/native/private.h"

struct native_translation {
    const struct native_unit *unit;
    const struct llvm *llvm;
    LLVMBuilderRef builder;
    const struct native_region *region;
    unsigned versions;        /* enum native_version */
    exec_handler *others_run; /* for whom there is none of them */
    struct native_use *slots; /* of the region, each offset once */
    size_t slot_count;
    LLVMValueRef function;
    LLVMValueRef called;                 /* the warp that it was called for */
    LLVMTypeRef byte, word, wide, bytes; /* i8, i32, i64, i8* */
    LLVMAttributeRef cold;
    /* Of the version that is being made: */
    LLVMBasicBlockRef *blocks;    /* of instructions that lead; NULL: none */
    LLVMBasicBlockRef leave, end; /* ... with all slots; behind that */
    LLVMValueRef step;            /* where what is answered stands, until `leave` */
    LLVMValueRef last, run;       /* the same of an instruction to be executed then, and of what
                                     executes it, or NULL */
    LLVMValueRef warp, copy;      /* the warp, and what handlers see */
    LLVMValueRef place;           /* where the warp stands ... */
    LLVMBasicBlockRef over;       /* where all lanes have left the kernel, if `again` */
    LLVMBasicBlockRef again;      /* ... with which it begins anew here; NULL: with none */
    LLVMValueRef quick, counts;   /* what those of ops/quick.h see */
    LLVMValueRef frame, lanes;    /* the frame's slots, and what handlers see */
    LLVMValueRef mask, computing; /* the lanes that run, those whose results are written */
    LLVMValueRef others;          /* in a branch that some take: the lanes that do not ... */
    const struct exec_inst *go;   /* ... where they go on; NULL: all lanes go together */
    uint32_t alone;               /* instructions in it so far */
    struct native_place {         /* where some may wait, in order: branch.c */
        size_t at;                /* the instruction */
        LLVMValueRef lanes;       /* where the mask of those that do stands */
    } * places;
    size_t place_count;
    LLVMValueRef running, entered; /* ... and that of those that run, and of those that came */
    LLVMValueRef since;            /* ... and how much had been executed when that last changed */
    LLVMValueRef rounds;  /* ... and how often in a row one lane has begun the region alone */
    uint32_t pending;     /* instructions that are not counted yet */
    bool full;            /* every lane that does not run is dead, or: */
    bool lone;            /* one lane runs: its slots are lane 0's of the copy ... */
    LLVMValueRef lane;    /* ... and it is this one's of the frame, of 64 bits */
    LLVMValueRef limit;   /* struct exec_warp's */
    bool stepped;         /* ... and lanes are as native_steps has it */
    bool *wanted;         /* of which slots that matters, by native_live's index ... */
    LLVMValueRef *firsts; /* ... and where their first lanes' values are: of each part */
    size_t at;            /* the instruction that is being made, ... */
    enum {
        NATIVE_NOWHERE,
        NATIVE_BEFORE,
        NATIVE_BEHIND
    } where;              /* ... and whether code goes before or behind it */
    unsigned quick_count; /* loads and stores that are put in line so far */
};

/* ---- native/values.c: values, slots and counts ----------------------------------------------- */

LLVMValueRef native_number(const struct native_translation *t, uint64_t value); /* of 32 bits */
LLVMValueRef native_pointer(const struct native_translation *t, const void *address);
/* Whether one bit of the mask is set, as a condition. */
LLVMValueRef native_is_single(const struct native_translation *t, LLVMValueRef mask);
/* A function of LLVM's own. */
LLVMValueRef native_intrinsic(const struct native_translation *t, const char *name,
                              LLVMTypeRef type);
/* A pointer to `type`, `offset` bytes behind `base`; a load from there, a store to there. */
LLVMValueRef native_place(const struct native_translation *t, LLVMValueRef base, size_t offset,
                          LLVMTypeRef type);
LLVMValueRef native_load(const struct native_translation *t, LLVMValueRef base, size_t offset,
                         LLVMTypeRef type);
void native_store(const struct native_translation *t, LLVMValueRef base, size_t offset,
                  LLVMValueRef value);
LLVMBasicBlockRef native_new_block(const struct native_translation *t);
/* The branch nearly always goes the first of its ways: what the other needs is not kept for it. */
void native_expect(const struct native_translation *t, LLVMValueRef branch);
/* An instruction of the function that is executed, for one of the copy that is read here; and the
 * index of that one. */
const struct exec_inst *native_executed(const struct native_translation *t,
                                        const struct exec_inst *inst);
size_t native_index_of(const struct native_translation *t, const struct exec_inst *inst);

LLVMTypeRef native_slot_type(const struct native_translation *t, uint32_t width);
LLVMTypeRef native_lane_type(const struct native_translation *t, uint32_t offset);
/* Between the frame's slot and the copy. */
void native_copy_slot(const struct native_translation *t, const struct native_use *slot, bool out);

/* Whether the first lanes' values of the slot are kept where its steps are known. */
bool native_keeps_firsts(const struct native_translation *t, uint32_t offset);
/* That of a part of the warp; and that of a half, whose lanes are `step` apart. */
LLVMValueRef native_first_of(const struct native_translation *t, uint32_t offset, unsigned part);
LLVMValueRef native_first_of_half(const struct native_translation *t, uint32_t offset,
                                  unsigned half, int32_t step);
void native_keep_firsts(const struct native_translation *t, uint32_t offset,
                        LLVMValueRef firsts[NATIVE_HALVES]);
/* Of a vector. */
void native_take_firsts(const struct native_translation *t, LLVMValueRef vector,
                        LLVMValueRef firsts[NATIVE_HALVES]);
/* For 32 lanes, in a vector of its type: the parts' first lanes, and `step` times the others'
 * numbers added. */
LLVMValueRef native_spread(const struct native_translation *t, LLVMValueRef firsts[NATIVE_HALVES],
                           int32_t step);
/* What is in the copy of a slot is not stale any more, or in that of all; of those that instruction
 * `index`, which does not know their steps, may look at; of those that `inst` looks at, but for its
 * address if it is an access. */
void native_settle(const struct native_translation *t, uint32_t offset);
void native_settle_all(const struct native_translation *t);
void native_settle_for(const struct native_translation *t, size_t index);
void native_settle_uses(const struct native_translation *t, const struct exec_inst *inst,
                        bool accesses);

/* Warp field += by, answers the sum. */
LLVMValueRef native_count(const struct native_translation *t, size_t field, LLVMTypeRef type,
                          int64_t by);
void native_count_pending(struct native_translation *t);
/* struct exec_quick_counts: that nothing is in it, and what is to where it belongs. */
void native_count_nothing(const struct native_translation *t);
void native_count_accesses(const struct native_translation *t);
/* The same of what is the warp's. */
void native_count_chain(const struct native_translation *t);
/* Lanes that wait have executed `instructions` less than those that run. */
void native_count_apart(const struct native_translation *t, LLVMValueRef waiting,
                        LLVMValueRef instructions);

/* ---- native/inline.c: instructions ----------------------------------------------------------- */

LLVMValueRef native_guard_of(const struct native_translation *t, const struct exec_inst *inst);
/* Calls a handler, the value of a pointer to it, for `inst`; the same of the instruction's own. */
LLVMValueRef native_call(const struct native_translation *t, LLVMValueRef run, LLVMValueRef inst);
LLVMValueRef native_call_inst(const struct native_translation *t, const struct exec_inst *inst);
/* The function that is put in line for the instruction; NULL: its handler is called. */
LLVMValueRef native_row_of(const struct native_translation *t, const struct exec_inst *inst);
/* An instruction that lanes execute without parting. */
void native_build_straight(struct native_translation *t, const struct exec_inst *inst);

/* Leaves the region, and goes on at `pc`. */
void native_leave(const struct native_translation *t, const struct exec_inst *pc, int step);
/* Leaves, and executes `inst` as the interpreter would: what it reads, or who comes behind it, is
 * in the frame then. */
void native_leave_by(struct native_translation *t, const struct exec_inst *inst);
/* The blocks `leave` and `end`. */
void native_build_leave(struct native_translation *t);
/* Those lanes become a fragment, at `pc`. */
void native_part(const struct native_translation *t, LLVMValueRef lanes,
                 const struct exec_inst *pc);
/* Answers `step`, for whichever warp it is now. */
void native_build_return(const struct native_translation *t, LLVMValueRef step);

/* ---- native/branch.c: lanes that part, wait and meet ----------------------------------------- */

void native_build_branch(struct native_translation *t, const struct exec_inst *inst);
/* From instruction `from` on to instruction `index`, in the region or not. */
void native_go_on(const struct native_translation *t, size_t from, size_t index);
/* Where lanes of this version may wait: with the builder at the entry block's end. */
void native_waits_find(struct native_translation *t);
/* Whether whoever waits may read the slot. */
bool native_waits_read(const struct native_translation *t, uint32_t offset);
/* Nobody waits yet. */
void native_waits_begin(const struct native_translation *t);
/* At the beginning of a block: whoever waits at the instruction runs, too. */
void native_waits_meet(struct native_translation *t, size_t index);
/* At the beginning of a block, of a lane that is alone: where others stand it waits for them. */
void native_lone_meets(struct native_translation *t, size_t index);
/* Whoever waits becomes a fragment. Answers who. */
LLVMValueRef native_waits_leave(const struct native_translation *t);

#endif
