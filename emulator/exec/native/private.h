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

/* ---- native/rows.c: the handlers of rows as LLVM's functions --------------------------------- */

enum native_form {
    NATIVE_WHOLE, /* all that the row does */
    NATIVE_QUICK, /* of ops/quick.h, where every lane runs or is dead */
    NATIVE_SOME,  /* the same for any lanes */
    NATIVE_FORMS
};

struct native_rows {
    LLVMContextRef context;
    struct native_row {
        exec_handler *run;
        LLVMValueRef forms[NATIVE_FORMS]; /* NULL: there is none, or it is better called */
        bool seen;                        /* it is known which */
    } * entries;                          /* a hash table, by run */
    size_t room;
};

/* A module with the functions of all rows that `function` uses; NULL: it could not be read. */
LLVMModuleRef native_rows_read(const struct llvm *llvm, LLVMContextRef context,
                               const struct exec_function *function, struct native_rows *rows);
void native_rows_end(struct native_rows *rows);
/* The function that may do a load's or store's work, see ops/quick.h; NULL: there is none. */
LLVMValueRef native_row_quick(const struct llvm *llvm, const struct native_rows *rows,
                              exec_handler *run, bool full);
/* The function that may be inlined for a row's handler, or NULL. */
LLVMValueRef native_row_function(const struct llvm *llvm, const struct native_rows *rows,
                                 exec_handler *run);

/* ---- native/region.c: which stretches are compiled ------------------------------------------- */

struct native_region {
    uint32_t first, end; /* indexes of instructions [first, end); it is entered at the first */
    uint64_t address;    /* of its code, when it is compiled */
};

/* The regions of a function that are worth it, or all, malloc; false: no memory. `leads`: whether
 * something can lead to an instruction other than from the one before, malloc. */
bool native_regions(const struct exec_function *function, bool all, struct native_region **regions,
                    size_t *count, bool **leads);

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
void native_live_end(struct native_live *live);

/* ---- native/translate.c: a region as one function -------------------------------------------- */

struct native_unit {
    const struct llvm *llvm;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    struct native_rows rows;
    const struct exec_function *function;
    const bool *leads;
    struct native_live live;
};

/* Adds the region's function, under `name`, to the unit's module; false: no memory. */
bool native_translate(struct native_unit *unit, const struct native_region *region,
                      const char *name);

/* ---- native/polish.c ------------------------------------------------------------------------- */

/* After the handlers were inlined: what LLVM does not find by itself. */
void native_polish(struct native_unit *unit, LLVMValueRef function);

#endif
