/* Declarations that the files of emulator/exec/native/ share.
 *
 * Terms. A region is a stretch or loop of a function's decoded instructions that becomes one
 * function of machine code. A row is a line of the tables in ops/: its handler executes one form of
 * an opcode. A version of a region is its code for one kind of warp. A lone lane is the only active
 * lane of its fragment.
 */
#ifndef OVERLAP_EXEC_NATIVE_PRIVATE_H
#define OVERLAP_EXEC_NATIVE_PRIVATE_H

#include "emulator/exec/decoded.h"
#include "emulator/exec/native/llvm.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- native/decode.c: the kinds of instructions ---------------------------------------------- */

enum native_kind {
    NATIVE_END,      /* lanes may diverge or wait, or it is unknown: its handler ends the region */
    NATIVE_LANES,    /* arithmetic of each lane by itself: inlined, if the row's handler can be */
    NATIVE_CALL,     /* its handler is called: it uses its slots and memory, and returns */
    NATIVE_BRANCH,   /* bra, with or without a guard */
    NATIVE_TOGETHER, /* a shuffle or vote of a full warp: inlined, or its handler ends the region */
};

/* Widths of slots, in bytes. */
enum { NATIVE_MASK = 4, NATIVE_NARROW = 4 * EXEC_LANES, NATIVE_WIDE = 8 * EXEC_LANES };

struct native_use {
    uint32_t offset; /* bytes in the frame */
    uint32_t width;  /* NATIVE_MASK, ... */
    bool writes;
};
enum { NATIVE_USES = 7 };

enum native_kind native_kind(const struct exec_inst *inst);
/* Returns the index of the instruction to which the branch of `function` leads. */
static inline uint32_t native_target(const struct exec_function *function,
                                     const struct exec_inst *branch)
{
    return (uint32_t)((const struct exec_inst *)branch->extra - function->code);
}
/* Returns the row's own handler, without a wrapper (guard, .sync) around it. */
exec_handler *native_row_handler(const struct exec_inst *inst);
/* Returns true when the instruction counts as one of the program's, as all but row "watch" do.
 * native_is_round: for a branch that goes round a loop with a barrier in it. */
bool native_is_counted(const struct exec_inst *inst);
bool native_is_round(const struct exec_inst *inst);
/* Returns true for `ret` and `exit`. */
bool native_is_end(const struct exec_inst *inst);
/* Returns true for a row beside an access ("order", "poll") that checks the access and is always
 * called, never inlined. */
bool native_is_judge(const struct exec_inst *inst);
bool native_is_atomic(const struct exec_inst *inst);
/* Lists the slots of an instruction of NATIVE_LANES or NATIVE_TOGETHER, or of a load, store or
 * atomic, and returns how many they are. Any other NATIVE_CALL writes no slot; for it the list has
 * only the slots that its inlined form reads. */
unsigned native_uses(const struct exec_inst *inst, struct native_use uses[NATIVE_USES]);
/* Returns true when the instruction writes the slot at `offset`. */
bool native_writes(const struct exec_inst *inst, uint32_t offset);

/* ---- native/rows.c: the rows' handlers as LLVM functions ------------------------------------- */

enum native_form {
    NATIVE_WHOLE,      /* the complete row */
    NATIVE_WHOLE_LONE, /* the same for a lone lane, in lane 0 of its slots */
    NATIVE_QUICK,      /* the fast path of ops/quick.c: every lane is active or dead */
    NATIVE_SOME,       /* the fast path for any active lanes */
    NATIVE_QUICK_LONE, /* the fast path for a lone lane, of ops/lone.c */
    NATIVE_FORMS
};

struct native_rows {
    LLVMContextRef context;
    struct native_row {
        exec_handler *run;
        size_t order;                     /* in which the function names the rows */
        LLVMValueRef forms[NATIVE_FORMS]; /* NULL: none, or better called than inlined */
        bool seen[NATIVE_FORMS];          /* native_row_function has decided this form */
    } * entries;                          /* a hash table, by run */
    size_t room;
};

/* Creates a module with the functions of all rows that `function` uses. `lone`: with the forms for
 * a lone lane too. Returns NULL when the bitcode cannot be read or memory is lacking. The caller
 * ends `rows` with native_rows_end. */
LLVMModuleRef native_rows_read(const struct llvm *llvm, LLVMContextRef context,
                               const struct exec_function *function, bool lone,
                               struct native_rows *rows);
void native_rows_end(struct native_rows *rows);
/* Returns true for the name of a function that rows call and that is the same in every module.
 * _shared: creates a module with those that are `wanted`, which other modules can refer to. NULL:
 * the bitcode cannot be read. */
enum { NATIVE_NAME = 96 }; /* room for such a name */
bool native_rows_is_shared(const char *name);
LLVMModuleRef native_rows_shared(const struct llvm *llvm, LLVMContextRef context,
                                 bool (*wanted)(const char *name));
/* Returns the function to be inlined for a row's handler in that form; NULL: there is none. */
LLVMValueRef native_row_function(const struct llvm *llvm, const struct native_rows *rows,
                                 exec_handler *run, enum native_form form);

/* ---- native/symbols.c: addresses by name ----------------------------------------------------- */

struct native_symbols {
    struct native_symbol {
        char name[NATIVE_NAME];
        uint64_t address;
    } * list;
    size_t count, room;
    bool failed; /* memory was lacking */
};

/* Returns the name of an address, a new one if need be, good until the next call; names follow the
 * order in which addresses come, so that the same function has the same names in each process.
 * NULL: memory is lacking. _add: gives an address that name; false: memory is lacking. */
const char *native_symbol(struct native_symbols *symbols, const void *address);
bool native_symbol_add(struct native_symbols *symbols, const char *name, uint64_t address);
void native_symbols_end(struct native_symbols *symbols);

/* ---- native/store.c: objects that are kept between runs ---------------------------------------
 */

/* Names of shared functions (native_rows_is_shared). */
struct native_names {
    char (*list)[NATIVE_NAME];
    size_t count, room;
};

/* Returns false when memory is lacking. */
bool native_name_add(struct native_names *names, const char *name);

/* An object file, and the shared functions that it calls. Ended with native_object_end. */
struct native_object {
    LLVMMemoryBufferRef code; /* NULL: none */
    struct native_names called;
};
void native_object_end(const struct llvm *llvm, struct native_object *object);

/* What an object is made of: a module as it is before all passes, with the host's processor, and
 * the shared functions that are compiled already and so are left out of it. */
struct native_key {
    uint64_t hashes[2], size;
};

/* Returns false when the key cannot be computed. */
bool native_key_of(const struct llvm *llvm, LLVMModuleRef module, const struct native_names *names,
                   struct native_key *key);
/* Returns true if a folder for objects has been chosen (exec_native_keep). */
bool native_store_is_used(void);
/* Finds a kept object. Returns false, and an empty `object`, when there is none. */
bool native_store_find(const struct llvm *llvm, const struct native_key *key,
                       struct native_object *object);
/* Remembers how much has been done without an object, in all runs; _done: returns it, 0 if it is
 * not known. */
void native_store_add(const struct native_key *key, uint64_t done);
uint64_t native_store_done(const struct native_key *key);
/* Keeps an object, if possible. */
void native_store_keep(const struct llvm *llvm, const struct native_key *key,
                       const struct native_object *object);

/* ---- native/engine.c: from a module to an object file -----------------------------------------
 */

/* Passes in this order: NATIVE_INLINE, NATIVE_SIMPLIFY, native_optimise, which also chooses the
 * host's processor. They return false when LLVM refuses. */
#define NATIVE_INLINE "globaldce,always-inline,globaldce"
#define NATIVE_SIMPLIFY "function(sroa,early-cse,instcombine,sroa)"
bool native_pass(const struct llvm *llvm, LLVMModuleRef module, const char *passes);
bool native_optimise(const struct llvm *llvm, LLVMContextRef context, LLVMModuleRef module);
/* Compiles a module that has gone through the passes to an object file. NULL: LLVM refuses. */
LLVMMemoryBufferRef native_emit(const struct llvm *llvm, LLVMModuleRef module);

/* ---- native/link.c: from an object file to machine code ---------------------------------------
 */

struct native_code;

/* Puts an object file's code into memory, ready to be executed. `known`: what it may refer to
 * besides the process's own functions. NULL: memory is lacking, or the file
 * has what code of this module never has. The caller ends the result with native_unlink. */
struct native_code *native_link(const void *object, size_t size,
                                const struct native_symbols *known);
/* Returns where a function of the object is; 0: there is none with that name. */
uint64_t native_address(const struct native_code *code, const char *name);
void native_unlink(struct native_code *code);

/* ---- native/shared.c: functions that are compiled once for the process ----------------------- */

/* Makes the module's shared functions external, compiles those that no module has called yet, and
 * adds the names of all to `called`. Returns false when that fails. */
bool native_shared_take(const struct llvm *llvm, LLVMModuleRef module, struct native_names *called);
/* Adds to `symbols` where the functions with these names are, and compiles those that are missing.
 * Returns false when that fails. */
bool native_shared_find(const struct llvm *llvm, const struct native_names *names,
                        struct native_symbols *symbols);

/* ---- native/region.c: the regions of a function ---------------------------------------------- */

struct native_region {
    uint32_t first, end;  /* indexes of instructions, [first, end) */
    uint32_t enter;       /* the only entry, mostly `first` */
    uint64_t address;     /* of the machine code, once it is compiled */
    exec_handler *others; /* the handler for warps that this code does not serve: atomic */
    /* Bits of enum native_version: the versions that warps have asked for (atomic), those that are
     * being made, and those that exist. */
    unsigned wanted, making, made;
    bool *steps; /* while code is made: native_steps_want */
};

/* Finds the regions of a function that are worth compiling, or with `all` every possible region.
 * The caller frees `regions` and `leads`. `leads` has an entry for each instruction: control may
 * reach it otherwise than from the instruction before. Returns false when memory is lacking. */
bool native_regions(const struct exec_function *function, bool all, struct native_region **regions,
                    size_t *count, bool **leads);

/* Returns the region behind the instruction; NULL: none begins there. */
const struct native_region *native_region_behind(const struct native_region *regions, size_t count,
                                                 size_t index);

/* Returns for each of the region's instructions whether control can reach it from the region's
 * entry without leaving the region. The caller frees the array; NULL: no memory. */
bool *native_region_reached(const struct exec_function *function,
                            const struct native_region *region);

/* A branch at which lanes of a warp diverge for a few instructions. The scheduler (machine/warp.c)
 * first runs the lanes that do not take the branch, from the next instruction to `target`, where
 * the others wait. For an if with an else, the first side ends with a branch from just before
 * `target` to `end`; the other side runs from `target` to `end`, where all lanes reconverge. A side
 * may contain forks. */
struct native_fork {
    const struct exec_inst *target, *end; /* equal when there is no else */
};

/* Returns true, and fills `fork`, when lanes that diverge at `inst` reconverge before instruction
 * `end`, after a few instructions all of which machine code can execute. */
bool native_fork_find(const struct exec_function *function, size_t end,
                      const struct exec_inst *inst, struct native_fork *fork);

/* ---- native/live.c: liveness of slots -------------------------------------------------------- */

struct native_live {
    struct native_use *slots; /* slots that known instructions name, sorted by offset */
    size_t slot_count;
    uint64_t *sets; /* per instruction, the slots live before it: one bit each, `words` words */
    size_t words;
};

/* Computes `live`, which the caller ends with native_live_end. Returns false when memory is
 * lacking. */
bool native_live_find(const struct exec_function *function, struct native_live *live);
/* Returns true when a lane that reaches instruction `index` may read the slot before writing it. */
bool native_is_live(const struct native_live *live, size_t index, uint32_t offset);
/* The index of a slot in `slots`, -1 when no known instruction names it; and its width in bytes, 0
 * likewise. */
int32_t native_live_slot(const struct native_live *live, uint32_t offset);
uint32_t native_live_width(const struct native_live *live, uint32_t offset);
void native_live_end(struct native_live *live);

/* ---- native/steps.c: slots whose lanes are a constant step apart ------------------------------
 *
 * The step (stride) of a slot is the difference between neighbouring lanes' values. It holds within
 * a part of the warp: the full warp, or each half of it where rows of a block are 16 threads long.
 * The choice between the two is made once per function, when the function becomes hot; the rules
 * are the same for both. */

enum { NATIVE_HALVES = 2, NATIVE_HALF = EXEC_LANES / NATIVE_HALVES };

#define NATIVE_ANY INT32_MIN /* no step is known */

/* How a source is converted before the operation. */
enum native_widens { NATIVE_AS_IT_IS, NATIVE_CUT, NATIVE_BY_ZEROS, NATIVE_BY_SIGN };

/* An instruction that maps known steps to a known step. (Any instruction maps uniform sources to a
 * uniform result.) */
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
    enum native_widens widens; /* applies to the factors, or to the moved value */
};

/* An integer comparison. When the lanes' values are a constant step apart, all lanes have the same
 * result if the first and the last lane have. */
struct native_comparison {
    exec_handler *run;
    LLVMIntPredicate holds;
    bool is_signed;
};

struct native_steps {
    const struct exec_function *function;
    const struct native_live *live; /* numbers the slots */
    const bool *in_line;
    int32_t *steps; /* of each slot before each instruction: NATIVE_ANY or the step */
    bool *reached;  /* whether control reaches each instruction */
};

/* Returns the constant that a slot holds; NULL: it holds none. */
const struct exec_constant *native_constant_at(const struct exec_function *function,
                                               uint32_t offset);
/* The same, only if the constant is uniform: equal in all lanes. */
const struct exec_constant *native_uniform_at(const struct exec_function *function,
                                              uint32_t offset);
/* Computes `steps`. `in_line[k]` says that instruction k is lane arithmetic that is inlined. `live`
 * and `in_line` must outlive `steps`, which the caller ends with native_steps_end. Returns false
 * when memory is lacking. */
bool native_steps_find(const struct exec_function *function, const struct native_live *live,
                       const bool *in_line, struct native_steps *steps);
void native_steps_end(struct native_steps *steps);
/* Returns the step of a slot before instruction `index`: each lane's value less that of the lane
 * before it, within each part of the warp; or NATIVE_ANY. */
int32_t native_step_before(const struct native_steps *steps, size_t index, uint32_t offset);
/* The step of a slot after instruction `index`; and the step of the result that lane arithmetic
 * leaves in its slot d. */
int32_t native_step_behind(const struct native_steps *steps, size_t index, uint32_t offset);
int32_t native_step_made(const struct native_steps *steps, size_t index);
/* Returns the rule for the instruction; NULL: none, as for a shift by an unknown amount. */
const struct native_rule *native_rule_of(const struct native_steps *steps,
                                         const struct exec_inst *inst);
/* Returns the comparison's description; NULL: the instruction is no such comparison, or the steps
 * of its operands are unknown. */
const struct native_comparison *native_comparison_of(const struct native_steps *steps,
                                                     const struct exec_inst *inst);
/* Sets for each of the regions whether the step of each slot of `live` matters in it: addresses are
 * computed from it, or it is compared with such a slot, there or in a region behind a barrier that
 * the region leads to. The caller ends the arrays with native_steps_forget. Returns false when
 * memory is lacking. */
bool native_steps_want(const struct native_steps *steps, struct native_region *regions,
                       size_t count);
void native_steps_forget(struct native_region *regions, size_t count);
/* Returns true if the region takes the slot's step for granted where it begins. */
bool native_is_guessed(const struct native_steps *steps, const struct native_region *region,
                       size_t slot);

/* ---- native/translate.c: a region as one function -------------------------------------------- */

/* The kind of warp that a version of the code is for. */
enum native_version {
    NATIVE_STEPPED = 1, /* every lane is active or dead, and steps are as steps.c predicts */
    NATIVE_FULL = 2,    /* every lane is active or dead, whatever the steps */
    NATIVE_PARTLY = 4,  /* some lanes are active */
    NATIVE_LONE = 8,    /* one lane is active */
};

struct native_unit {
    const struct llvm *llvm;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    struct native_rows rows;
    const struct exec_function *function; /* a copy whose instructions have their rows' handlers */
    const struct exec_inst *code;         /* the original's instructions, which are executed */
    struct native_symbols *symbols;       /* what the module refers to */
    struct native_key key;                /* of the module; unknown where nothing is kept */
    const bool *leads;
    const struct native_region *regions; /* all of the function's */
    size_t region_count;
    unsigned parts; /* of a warp, for steps: 1 or NATIVE_HALVES */
    struct native_live live;
    struct native_steps steps;
};

/* Adds the region's function, called `name`, to the unit's module, with the versions in `versions`:
 * NATIVE_STEPPED alone, or any of the others. `others` is the handler that runs the region for all
 * other warps. Returns false when memory is lacking. */
bool native_translate(struct native_unit *unit, const struct native_region *region,
                      unsigned versions, exec_handler *others, const char *name);

/* ---- native/polish.c: simplifications -------------------------------------------------------- */

/* Simplifies patterns that LLVM does not recognise, after the handlers have been inlined. */
void native_polish(struct native_unit *unit, LLVMValueRef function);

#endif
