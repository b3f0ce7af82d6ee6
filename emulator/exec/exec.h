/* exec: runs PTX. Turns a parsed module into an executable program and executes grids of it, a warp
 * (32 lanes) at a time, with the forward progress that Volta and later devices promise.
 *
 * It knows nothing of streams, contexts or the API: whoever launches has decided that the kernel
 * runs now. It touches memory only inside the regions that memory_find answers, and stops with a
 * fault, naming the source line, at the first access outside of them.
 *
 * Source: PTX ISA 9.0; CUDA Programming Guide, "SIMT Architecture".
 */
#ifndef OVERLAP_EXEC_EXEC_H
#define OVERLAP_EXEC_EXEC_H

#include "trace/finding.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptx_module;
struct exec_program;
struct exec_function; /* an entry point of a program */
struct exec_grid;     /* a launch that has begun */
struct exec_footprint;
struct exec_racecheck;

/* ---- programs -------------------------------------------------------------------------------- */

/* Builds a program from `module`, which may be freed afterwards. Returns NULL on failure with one
 * sentence per problem in `log` ("line 12: texture instructions (tex.2d) are not supported"). An
 * instruction that is not supported inside a function is not an error here: executing it is
 * (EXEC_UNSUPPORTED), so that a module with one exotic kernel still serves its other kernels. */
struct exec_program *exec_program_create(const struct ptx_module *module, char *log,
                                         size_t log_size);
/* The same, ready for launches that are to be watched (check/racecheck.h). */
struct exec_program *exec_program_create_checked(const struct ptx_module *module, char *log,
                                                 size_t log_size);
void exec_program_destroy(struct exec_program *program);

/* Module variables (.global and .const), which the caller places in memory before any launch. */
struct exec_variable {
    const char *name;
    uint64_t size;      /* bytes */
    uint64_t alignment; /* bytes */
    bool constant;      /* .const */
    bool external;      /* .extern: defined by another module */
    bool managed;       /* .attribute(.managed): to be placed where the host can reach it */
    uint64_t address;   /* set by exec_variable_place */
};
size_t exec_variable_count(const struct exec_program *program);
const struct exec_variable *exec_variable_at(const struct exec_program *program, size_t index);
void exec_variable_place(struct exec_program *program, size_t index, uint64_t address);
/* Writes the initial contents (addresses of other variables and functions resolved) of variable
 * `index` to `bytes`, which has room for its size. Call when all variables are placed. */
void exec_variable_initialise(const struct exec_program *program, size_t index,
                              unsigned char *bytes);

struct exec_parameter {
    uint32_t offset; /* bytes, in the launch's parameter block */
    uint32_t size;   /* bytes */
};

/* What cuFuncGetAttribute and a launch need to know. Owned by the program. */
struct exec_function_info {
    const char *name; /* mangled, as in the PTX */
    size_t parameter_count;
    const struct exec_parameter *parameters;
    uint32_t parameter_bytes;
    uint32_t static_shared;       /* bytes */
    uint32_t local_bytes;         /* per thread */
    uint32_t constant_bytes;      /* of the whole module's variables */
    uint32_t registers;           /* an estimate: virtual registers alive at once, 16 to 255 */
    uint32_t max_threads;         /* per block, from .maxntid; 1024 without */
    uint32_t required_threads[3]; /* .reqntid, or zeros */
    uint32_t cluster[3];          /* .reqnctapercluster, or zeros */
    /* It may exchange values with whatever runs beside it: volatile or ordered accesses to global
     * memory, or atomics that locks are made of. */
    bool converses;
};
const struct exec_function *exec_function_find(const struct exec_program *program,
                                               const char *name);
size_t exec_function_count(const struct exec_program *program);
const struct exec_function *exec_function_at(const struct exec_program *program, size_t index);
const struct exec_function_info *exec_function_info(const struct exec_function *function);

/* Whether a function that PTX declares .extern is one that the device itself has (vprintf, malloc,
 * ...). */
bool exec_provides(const char *name);

/* ---- launches -------------------------------------------------------------------------------- */

struct exec_launch {
    const struct exec_function *function;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t dynamic_shared;    /* bytes */
    const void *parameters;     /* parameter_bytes long */
    uint64_t resident;          /* blocks that fit on the device at once; 0: go by their threads */
    bool cooperative;           /* all blocks resident: grid-wide synchronisation works */
    unsigned workers;           /* host threads to use; 0: one per processor */
    uint64_t instruction_limit; /* warp instructions before EXEC_ENDLESS; 0: no limit */
    /* Device malloc's heap: `heap_bytes` of memory that memory_find answers at `heap_address`,
     * zeros at first, kept by the caller between launches. 0: malloc in a kernel gives NULL. */
    uint64_t heap_address;
    uint64_t heap_bytes;
    uint64_t stack_bytes; /* of local memory per thread for recursive kernels; 0: 16 KiB */
    uint64_t grid_id;     /* what %gridid reads */
    struct exec_footprint
        *footprint;               /* receives what is touched (check/footprint.h); may be NULL */
    struct exec_racecheck *watch; /* receives what is not ordered inside; NULL: nobody looks */
    /* A kernel that waits for the world outside (the host, another kernel, a copy) need not be
     * waited for: where its state is kept when exec_run answers EXEC_PAUSED, NULL at first. Calling
     * again with the same launch goes on. NULL: exec_run stays until the end. */
    struct exec_grid **paused;
    bool impatient; /* somebody waits for the end: looks longer, and looking counts for the limit */
    /* Device printf, in pieces; `arguments` is NULL but for a call's last piece: how many bytes its
     * arguments are. May be NULL. */
    void (*print)(void *user, const char *text, size_t length, const size_t *arguments);
    void *user;
};

enum exec_end {
    EXEC_DONE,
    EXEC_OUT_OF_BOUNDS, /* an address in no region: cudaErrorIllegalAddress */
    EXEC_MISALIGNED,    /* cudaErrorMisalignedAddress */
    EXEC_WRONG_SPACE,   /* a shared or local address that is none; a store to constant memory */
    EXEC_ASSERT,        /* device assert failed: cudaErrorAssert */
    EXEC_TRAP,          /* trap, brkpt: cudaErrorLaunchFailure */
    EXEC_UNSUPPORTED,   /* an instruction, or what it is to do */
    EXEC_ENDLESS,       /* the instruction limit was passed */
    EXEC_BARRIER,       /* every warp waits for ever: some for a barrier that not all reach */
    EXEC_ABSENT,    /* every warp waits for ever: lanes that a .sync instruction names are absent */
    EXEC_MASK,      /* a lane executes a .sync instruction whose mask does not name it */
    EXEC_STACK,     /* the call stack or local memory is used up */
    EXEC_NO_MEMORY, /* of the host */
    EXEC_PAUSED,    /* not an end: see exec_launch.paused */
};

/* What stopped a launch, for one lane of one warp: the first in block order. */
struct exec_fault {
    uint64_t address; /* of the access, where there is one */
    uint32_t size;    /* bytes of the access */
    bool is_store;
    uint32_t block[3];
    uint32_t thread[3];
    const char *function; /* name, owned by the program */
    const char *file;     /* source file from .loc, or NULL; owned by the program */
    uint32_t line;        /* of file, or of the PTX where file is NULL */
    /* What happened: its row of trace/findings.def, its numbers, its words, who waits where; and of
     * this side the access, the block, the thread and the line. */
    struct trace_finding finding;
};

/* What the model of a GPU's time is made from; independent of the number of workers. */
struct exec_counts {
    uint64_t warp_instructions;
    uint64_t lane_instructions;
    uint64_t longest_warp; /* warp instructions of the longest warp */
    uint64_t bytes_loaded; /* global memory */
    uint64_t bytes_stored;
    uint64_t transactions;  /* 32-byte sectors touched, warp access by warp access */
    uint64_t longest_chain; /* of one warp: global accesses that waited on memory, for latency */
    uint64_t longest_wait;  /* of one warp: clock cycles slept, or spun away reading the clock */
};

/* Runs the whole grid before it returns, unless the launch lets it pause. `fault` is filled unless
 * the answer is EXEC_DONE or EXEC_PAUSED. */
enum exec_end exec_run(const struct exec_launch *launch, struct exec_counts *counts,
                       struct exec_fault *fault);
/* Ends a launch that is paused and will not go on. NULL is fine. */
void exec_paused_drop(struct exec_grid *paused);

#endif
