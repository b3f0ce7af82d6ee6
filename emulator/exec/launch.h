/* exec_launch: what a launch of a kernel is given, how it ended, and what it cost. Whoever launches
 * includes exec.h.
 */
#ifndef OVERLAP_EXEC_LAUNCH_H
#define OVERLAP_EXEC_LAUNCH_H

#include "trace/finding.h"

#include <stdbool.h>
#include <stdint.h>

struct exec_footprint;
struct exec_function;
struct exec_grid; /* a launch that has begun */
struct exec_racecheck;

/* One thread's call of a function of the device runtime, `__cudaCDP2...`: CUDA C++ Programming
 * Guide, "CUDA Dynamic Parallelism". */
enum { EXEC_DEVICE_ARGUMENTS = 6 };
struct exec_device_call {
    const char *name;
    uint64_t block;  /* linear, in the grid */
    uint32_t thread; /* linear, in the block */
    size_t argument_count;
    struct {
        const unsigned char *bytes;
        uint32_t size;
    } arguments[EXEC_DEVICE_ARGUMENTS];
    uint64_t result;
    const char *file; /* where the call stands; NULL: unknown */
    uint32_t line;
    /* The calling thread's `size` bytes at a generic address; NULL: it has none there. */
    unsigned char *(*memory)(const struct exec_device_call *call, uint64_t address, size_t size);
    const void *place; /* exec's own, for `memory` */
    /* Why the launch stops, if it does: */
    enum trace_finding_id finding;
    uint64_t number;
    const char *said; /* of the finding's words; NULL: the function's name */
};

/* A thread that looks for something that does not come. */
enum { EXEC_LOOKS_SECONDS = 10 };
struct exec_looks {
    const char *function; /* mangled */
    uint32_t block[3], thread[3];
    const char *file; /* NULL: the line is of the PTX text */
    uint32_t line;
};

struct exec_launch {
    const struct exec_function *function;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t cluster[3];        /* blocks, of which the grid is a multiple; zeros: none is named */
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
    struct exec_footprint *early; /* receives instead what is touched ahead of griddepcontrol.wait,
                                     but for the places in the source; NULL: nobody asks */
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
    /* Told once, when for EXEC_LOOKS_SECONDS all blocks that had begun have only waited and looked,
     * while somebody waits for the end. It goes on. May be NULL. */
    void (*looks)(const struct exec_looks *looks);
    /* What the device runtime does. The footprint has all that the kernel has touched before, and
     * may be emptied. false: the launch stops for call->finding. NULL: there is none. */
    bool (*device_call)(void *device_user, struct exec_device_call *call);
    void *device_user;
    /* Lines of 128 bytes of the first-level cache for each warp; 0: no cache. Not asked for where
     * exec_is_probed. */
    uint32_t reach;
    uint64_t unseen; /* the address of a region whose touches are nobody's business; 0: none */
};

enum exec_end {
    EXEC_DONE,
    EXEC_OUT_OF_BOUNDS, /* an address in no region: cudaErrorIllegalAddress */
    EXEC_MISALIGNED,    /* cudaErrorMisalignedAddress */
    EXEC_WRONG_SPACE,   /* a shared or local address that is none; a store to constant memory */
    EXEC_ASSERT,        /* device assert failed: cudaErrorAssert */
    EXEC_TRAP,          /* trap, brkpt: cudaErrorLaunchFailure */
    EXEC_ILLEGAL,       /* what an instruction is given makes none: cudaErrorIllegalInstruction */
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
    uint64_t barriers;      /* of one warp: the most times at a barrier of the block */
    /* By a sample, machine/probe.h: */
    uint64_t found;       /* of the transactions: in the first-level cache */
    uint64_t short_chain; /* of longest_chain: all of it in the first-level cache, from before */
    uint64_t wavefronts;  /* of all accesses to global or shared memory: lines of 128 bytes, or rows
                             of banks, of which one passes at a time */
};

/* Runs the whole grid before it returns, unless the launch lets it pause. `fault` is filled unless
 * the answer is EXEC_DONE or EXEC_PAUSED. */
enum exec_end exec_run(const struct exec_launch *launch, struct exec_counts *counts,
                       struct exec_fault *fault);
/* A launch of the same function and shape has been looked at: what this one would find in the
 * first-level cache is taken from there (machine/probe.h). */
bool exec_is_probed(const struct exec_launch *launch);
/* Ends a launch that is paused and will not go on. NULL is fine. */
void exec_paused_drop(struct exec_grid *paused);

#endif
