/* exec_decoded: the decoded form of a program, which lower/ builds and the other rooms execute.
 * Plain data; its instructions are in instruction.h. Private to emulator/exec.
 */
#ifndef OVERLAP_EXEC_DECODED_H
#define OVERLAP_EXEC_DECODED_H

#include "emulator/base/arena.h"
#include "emulator/exec/exec.h"
#include "emulator/exec/instruction.h"

struct exec_position {
    const char *file; /* NULL: the line is one of the PTX text */
    uint32_t line;
};

/* How a constant slot is filled when a frame is made. */
enum exec_constant_kind {
    EXEC_CONSTANT_VALUE,          /* `value` itself */
    EXEC_CONSTANT_VARIABLE,       /* address of module variable `index` + value */
    EXEC_CONSTANT_CODE,           /* token of function `index` */
    EXEC_CONSTANT_DYNAMIC_SHARED, /* offset of the dynamic shared memory + value */
    EXEC_CONSTANT_LOCAL,          /* offset of the frame's local memory + value */
    EXEC_CONSTANT_PARAMETER, /* the launch's parameter bytes at offset `value`; index: their size,
                                negative if signed */
    EXEC_CONSTANT_SPECIAL,   /* special register `index` (enum ptx_special), component
                                `value`; fixed while a block runs */
};

struct exec_constant {
    enum exec_constant_kind kind;
    uint32_t slot;  /* byte offset in the frame */
    uint32_t width; /* bytes of a lane: 4 or 8 */
    int32_t index;
    uint64_t value;
};

/* The functions of the device runtime that PTX declares .extern and the device provides. */
enum exec_builtin {
    EXEC_BUILTIN_NONE,
    EXEC_BUILTIN_VPRINTF,
    EXEC_BUILTIN_ASSERTFAIL,
    EXEC_BUILTIN_MALLOC,
    EXEC_BUILTIN_ALIGNED_MALLOC,
    EXEC_BUILTIN_FREE,
    EXEC_BUILTIN_CUDA_MALLOC,    /* from the same heap as malloc */
    EXEC_BUILTIN_DEVICE_RUNTIME, /* the launch's device_call tells them apart by name */
};

/* A range of bytes: a formal parameter or return value in a function's local memory, or a slot in
 * its frame. */
struct exec_formal {
    uint32_t offset; /* bytes */
    uint32_t size;   /* bytes */
};

/* How much of a function has been executed, by warps and by single active lanes, and the callback
 * that is called once that is enough, with the `row_lanes` of the calling worker. Several workers
 * count without a lock, so counts may be lost. */
enum exec_heated { EXEC_HEATED_WARPS, EXEC_HEATED_LONE, EXEC_HEATED };
struct exec_heat {
    uint64_t executed[EXEC_HEATED]; /* warp instructions */
    uint64_t enough[EXEC_HEATED];   /* UINT64_MAX: `hot` is not called any more */
    bool always;                    /* it is compiled before it first runs */
    void (*hot)(const struct exec_function *function, enum exec_heated by, uint32_t row_lanes);
    struct exec_native *native; /* its machine code; NULL: none */
};

/* What the latest sampled launch did in its sampled part: machine/probe.h. */
struct exec_probed {
    bool known;
    uint32_t grid[3], block[3], dynamic_shared; /* as in exec_launch */
    uint64_t instructions, wavefronts;          /* warp instructions; as exec_counts.wavefronts */
    uint64_t sectors, found; /* accessed; of these, loaded and found in the cache */
    uint64_t waits,
        short_waits; /* as exec_counts.longest_chain and short_chain, summed over warps */
};

struct exec_function {
    struct exec_function_info info;
    struct exec_program *program;
    bool entry;
    bool defined; /* has a body */
    enum exec_builtin builtin;
    const struct exec_inst *code;
    size_t code_count;
    const uint8_t *flow;            /* enum exec_flow of each instruction; NULL: not needed */
    const uint8_t *forms;           /* enum exec_form bits of each instruction; NULL: no memory */
    struct exec_probed *probed;     /* NULL: no memory */
    const struct exec_proof *proof; /* check/proof.h; NULL: nothing is known */
    uint32_t index;
    struct exec_heat *heat;       /* NULL: never compiled to machine code */
    struct exec_formal *poisoned; /* slots that may be read before they are written */
    size_t poisoned_count;
    struct exec_formal *apart;       /* slots that machine/stall.c ignores */
    size_t apart_count;              /* sorted by offset */
    uint32_t frame_bytes;            /* registers, scratch slots, constants */
    struct exec_constant *constants; /* those that change from block to block come first */
    size_t constant_count;
    size_t changing_count;
    uint32_t local_bytes; /* .local and .param variables of one activation */
    struct exec_formal *formals;
    size_t formal_count;
    struct exec_formal *returns;
    size_t return_count;
    uint32_t common_shared; /* of a device function: bytes of the program's common .shared variables
                               that it and its callees can reach */
    /* Static properties, callees included. */
    exec_handler *commutes; /* the only atomic operation that it does to global memory, if blocks
                               may do it concurrently in any order; NULL: none */
    bool talks;     /* blocks can observe each other, or output is ordered: one worker runs them */
    bool recursive; /* the call graph has a cycle, or an indirect call */
    bool allocates; /* uses alloca: local memory of a size known only at run time */
    bool settled;   /* while calls are followed: stack_bytes is final */
    size_t first_cache;   /* it and its callees use `cache_count` of the program's caches ... */
    size_t cache_count;   /* ... from this one on */
    uint32_t stack_bytes; /* local memory of the deepest call chain, unless recursive */
};

/* A call site. Arguments and results are copied between the local memory of the two activations. */
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
    const uint32_t *indexes; /* as PTX instruction indexes, while the function is lowered */
};

/* What lowering knows of an access, as bits. The first three say which race check skips it, because
 * it is a look before the act or because it converses: check/grid_shadow.h,
 * check/block_shadow.h. */
enum exec_look {
    EXEC_LOOK_BLOCKS = 1,
    EXEC_LOOK_THREADS = 2,
    EXEC_LOOK_ALL = 3,
    /* For the order of blocks, check/causality.h: */
    EXEC_LOOK_STRONG = 4,       /* volatile or ordered, of a scope beyond the block */
    EXEC_LOOK_RELEASES = 8,     /* it includes a fence */
    EXEC_LOOK_MODIFIES = 16,    /* a volatile store after a volatile load from there */
    EXEC_LOOK_BLOCK_SCOPE = 32, /* an atomic of scope .cta */
    /* A plain store of a value computed from a load of the same address. COUNTS: computing it twice
     * differs from computing it once (x += 1, not x |= 1); check/shadow.h. */
    EXEC_LOOK_UPDATES = 64,
    EXEC_LOOK_COUNTS = 128,
    EXEC_LOOK_AFTER_WAIT = 256, /* a griddepcontrol.wait precedes it on some path */
    /* For the order of blocks again: */
    EXEC_LOOK_ACQUIRES = 512,
    EXEC_LOOK_PAST_L1 = 1024, /* a load that the L1 cache does not answer: .cg, .cv */
    EXEC_LOOK_SWAPS = 2048,   /* an atom.cas of 4 bytes: machine/access.c */
    /* A plain store whose value is in the slots d, b, c, e: the bits hold 1 + log2 of how many. */
    EXEC_LOOK_STORED = 3 << 12,
    EXEC_LOOK_STORED_BIT = 12,
    EXEC_LOOK_HEARS = 1 << 14, /* an atomic whose result is used */
    EXEC_LOOK_DATA = 1 << 15,  /* a load, or an atomic other than a swap, whose result decides
                                  nothing that its thread does: lower/decisions.c */
};

/* A load or store of a group: plain accesses through one register, all of which a warp's lanes
 * execute or none, and which together access adjacent bytes. The group's first access marks all of
 * these in the launch's footprint, and the others nothing. All zero: in no group. */
struct exec_group {
    uint8_t before, after; /* bytes before and behind those of the first access */
    bool follows;          /* it is not the first */
};

struct exec_program {
    const struct ptx_module *module;  /* needed only while entries are added */
    struct exec_function **functions; /* indexed as in the module */
    size_t function_count;
    struct exec_function **entries;
    size_t entry_count;
    struct exec_position *positions; /* from malloc */
    size_t position_count;
    size_t position_room;
    const char **files; /* indexed by .file number */
    size_t file_count;
    struct exec_variable *variables;
    struct exec_initial *initials; /* one per variable: lower/variables.c */
    uint64_t constant_bytes;       /* of all .const variables together */
    size_t variable_count;
    uint32_t *module_shared; /* place of each module variable in shared memory: lower/layout.c */
    uint32_t module_shared_bytes; /* size of the .shared variables that device functions name */
    uint32_t dynamic_alignment;   /* of dynamic shared memory; 0: no variable lies there */
    size_t cache_count;
    uint16_t *looks; /* per cache, from malloc: enum exec_look bits */
    size_t looks_room;
    struct exec_group *groups; /* per cache, from malloc; fewer than there are caches */
    size_t groups_room;
    bool sees_reserved; /* it reads the address of the reserved shared memory: ops/special.c */
    bool proxies;       /* it copies or multiplies what is in shared memory through a proxy */
    bool converses;     /* its threads may communicate through memory: check/order.h */
    bool watched;       /* lowered with the instructions of the race check: check/check.h */
    bool failed;        /* memory ran out while it was built */
    char refusal[200];  /* why no device can hold the program; empty: a device can */
    struct exec_native *native; /* machine code of hot functions: native/native.h */
    struct arena arena;         /* owns everything but positions and machine code */
};

/* Returns the enum exec_look bits of the access with that cache. */
static inline unsigned exec_looks_of(const struct exec_program *program,
                                     const struct exec_inst *inst)
{
    return inst->cache < program->looks_room ? program->looks[inst->cache] : 0;
}

#endif
