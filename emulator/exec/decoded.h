/* exec_decoded: the decoded form of a program, which lower/ makes and the other rooms execute: data
 * without functions. Its instructions are instruction.h's. Private to emulator/exec.
 */
#ifndef OVERLAP_EXEC_DECODED_H
#define OVERLAP_EXEC_DECODED_H

#include "emulator/base/arena.h"
#include "emulator/exec/exec.h"
#include "emulator/exec/instruction.h"

struct exec_position {
    const char *file; /* NULL: line is of the PTX text */
    uint32_t line;
};

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
    EXEC_BUILTIN_CUDA_MALLOC,    /* of the same heap */
    EXEC_BUILTIN_DEVICE_RUNTIME, /* which one, whoever launches knows by its name */
};

/* A range of bytes: a formal parameter or return value in a function's local memory, a slot in its
 * frame. */
struct exec_formal {
    uint32_t offset; /* bytes */
    uint32_t size;   /* bytes */
};

/* How much of a function has been executed, by warps and by lanes that are alone, and who is told
 * when it is enough: with `row_lanes` of the worker that runs it then. Several workers count: now
 * and then one's count is lost. */
enum exec_heated { EXEC_HEATED_WARPS, EXEC_HEATED_LONE, EXEC_HEATED };
struct exec_heat {
    uint64_t executed[EXEC_HEATED]; /* warp instructions */
    uint64_t enough[EXEC_HEATED];   /* UINT64_MAX: nobody is told any more */
    void (*hot)(const struct exec_function *function, enum exec_heated by, uint32_t row_lanes);
    struct exec_native *native; /* its machine code; NULL: none */
};

/* What the latest launch that was looked at did, as far as it was: machine/probe.h. */
struct exec_probed {
    bool known;
    uint32_t grid[3], block[3], dynamic_shared; /* exec_launch's */
    uint64_t instructions, wavefronts;          /* of warps; exec_counts.wavefronts */
    uint64_t sectors, found;                    /* asked for; of them, of loads, in the cache */
    uint64_t waits, short_waits; /* exec_counts.longest_chain and short_chain, of all */
};

struct exec_function {
    struct exec_function_info info;
    struct exec_program *program;
    bool entry;
    bool defined; /* has a body */
    enum exec_builtin builtin;
    const struct exec_inst *code;
    size_t code_count;
    const uint8_t *flow;        /* enum exec_flow of each instruction; NULL: it is not needed */
    const uint8_t *forms;       /* enum exec_form bits of each; NULL: no memory for it */
    struct exec_probed *probed; /* the same */
    uint32_t index;
    struct exec_heat *heat;       /* NULL: it is only interpreted */
    struct exec_formal *poisoned; /* slots that may be read before they are written */
    size_t poisoned_count;
    struct exec_formal *apart;       /* slots that machine/stall.c does not look at */
    size_t apart_count;              /* in their order */
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
    size_t first_cache;     /* of the program's: it and what it calls have the cache_count ones */
    size_t cache_count;     /* from here on */
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
enum exec_look {
    EXEC_LOOK_BLOCKS = 1,
    EXEC_LOOK_THREADS = 2,
    EXEC_LOOK_ALL = 3,
    /* What the blocks' order is made of: check/causality.h. */
    EXEC_LOOK_STRONG = 4,       /* volatile or ordered, of a scope beyond the block */
    EXEC_LOOK_RELEASES = 8,     /* a fence is in it */
    EXEC_LOOK_MODIFIES = 16,    /* a volatile store of what was loaded there before */
    EXEC_LOOK_BLOCK_SCOPE = 32, /* an atomic of scope .cta */
    /* A store of what a load has brought from the same address, changed; done twice it is not what
     * it is done once: check/shadow.h. */
    EXEC_LOOK_UPDATES = 64,
    EXEC_LOOK_COUNTS = 128,
    EXEC_LOOK_AFTER_WAIT = 256, /* behind a griddepcontrol.wait, on some way */
};

struct exec_program {
    const struct ptx_module *module;  /* only while there are entries to add */
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
    uint16_t *looks; /* of each cache, malloc: enum exec_look bits */
    size_t looks_room;
    bool sees_reserved;         /* reads where the reserved shared memory is: see ops/special.c */
    bool converses;             /* its threads may tell each other things: check/order.h */
    bool watched;               /* made to be watched: see check/shadow.h */
    bool failed;                /* out of memory while it was made */
    char refusal[200];          /* why no device could hold it; empty: one can */
    struct exec_native *native; /* machine code of hot functions: native/native.h */
    struct arena arena;         /* owns everything but positions and machine code */
};

/* What is known of the access with that cache: enum exec_look bits. */
static inline unsigned exec_looks_of(const struct exec_program *program,
                                     const struct exec_inst *inst)
{
    return inst->cache < program->looks_room ? program->looks[inst->cache] : 0;
}

#endif
