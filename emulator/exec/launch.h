/* exec_launch: the arguments of a kernel launch, how it ended, and what it cost. Callers include
 * exec.h.
 */
#ifndef OVERLAP_EXEC_LAUNCH_H
#define OVERLAP_EXEC_LAUNCH_H

#include "trace/finding.h"

#include <stdbool.h>
#include <stdint.h>

struct exec_footprint;
struct exec_function;
struct memory_region;
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
    const char *file; /* source file of the call; NULL: unknown */
    uint32_t line;
    /* Returns the `size` bytes at a generic address of the calling thread; NULL: not mapped. */
    unsigned char *(*memory)(const struct exec_device_call *call, uint64_t address, size_t size);
    const void *place; /* private to exec, for `memory` */
    /* Set by the callee if the launch is to stop: */
    enum trace_finding_id finding;
    uint64_t number;
    const char *said; /* text for the finding; NULL: the function's name */
};

/* A thread that polls for a value that does not arrive, and how long it polls before it is
 * reported. */
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
    uint32_t cluster[3];        /* blocks; the grid is a multiple; zeros: no clusters */
    uint32_t dynamic_shared;    /* bytes */
    const void *parameters;     /* parameter_bytes long */
    uint64_t resident;          /* blocks resident at once; 0: computed from their threads */
    bool cooperative;           /* all blocks resident: grid-wide synchronisation works */
    unsigned workers;           /* host threads to use; 0: one per processor */
    uint64_t instruction_limit; /* warp instructions before EXEC_ENDLESS; 0: no limit */
    /* Device malloc's heap: `heap_bytes` of memory that memory_find returns for `heap_address`,
     * zeros at first, kept by the caller between launches. 0: malloc in a kernel returns NULL. */
    uint64_t heap_address;
    uint64_t heap_bytes;
    uint64_t stack_bytes; /* of local memory per thread for recursive kernels; 0: 16 KiB */
    uint64_t grid_id;     /* what %gridid reads */
    struct exec_footprint *footprint; /* receives the accesses (check/footprint.h); may be NULL */
    struct exec_footprint *early;     /* receives instead the accesses before griddepcontrol.wait,
                                         without source places; NULL: not wanted */
    struct exec_racecheck *watch; /* receives the races inside the launch; NULL: not race-checked */
    /* Lets a kernel that waits for something outside of it (the host, another kernel, a copy)
     * pause. exec_run then returns EXEC_PAUSED and stores its state in *paused, which is NULL at
     * first; calling exec_run again with the same launch continues. NULL: exec_run returns only at
     * the end. */
    struct exec_grid **paused;
    bool *heard;    /* set if, in this part, it reads a new value where it polled. May be NULL */
    bool impatient; /* the caller waits for the end: polls longer, and counts polling */
    /* Device printf, in pieces. `arguments` is NULL except for the last piece of a call, where it
     * holds how many bytes the call's arguments are. May be NULL. */
    void (*print)(void *user, const char *text, size_t length, const size_t *arguments);
    void *user;
    /* Called at most once, when all blocks that have begun have only waited and polled for
     * EXEC_LOOKS_SECONDS while the caller waits for the end. The launch goes on. May be NULL. */
    void (*looks)(const struct exec_looks *looks);
    /* Executes a call of the device runtime. The footprint holds everything that the kernel has
     * accessed before, and may be emptied. Returns false to stop the launch for call->finding.
     * NULL: there is no device runtime. */
    bool (*device_call)(void *device_user, struct exec_device_call *call);
    void *device_user;
    /* 128-byte lines of the first-level cache per warp; 0: no cache. Ignored where
     * exec_is_probed. */
    uint32_t reach;
    uint64_t unseen; /* address of a region whose accesses are not recorded; 0: none */
    /* Returns whether the launch's device may access the live region. Called by several threads at
     * once. NULL: it may access all. */
    bool (*reaches)(const void *reaching, const struct memory_region *region, bool store);
    const void *reaching;
    unsigned device; /* its ordinal, for findings */
};

enum exec_end {
    EXEC_DONE,
    EXEC_OUT_OF_BOUNDS, /* an address outside all regions: cudaErrorIllegalAddress */
    EXEC_MISALIGNED,    /* cudaErrorMisalignedAddress */
    EXEC_WRONG_SPACE,   /* an invalid shared or local address; a store to read-only memory */
    EXEC_ASSERT,        /* device assert failed: cudaErrorAssert */
    EXEC_TRAP,          /* trap, brkpt: cudaErrorLaunchFailure */
    EXEC_ILLEGAL, /* operands that the instruction does not allow: cudaErrorIllegalInstruction */
    EXEC_UNSUPPORTED, /* an instruction, or a use of it, that the device does not support */
    EXEC_ENDLESS,     /* the instruction limit was exceeded */
    EXEC_BARRIER,     /* every warp waits for ever, some at a barrier that not all threads reach */
    EXEC_ABSENT,      /* every warp waits for ever: lanes named by a .sync instruction are absent */
    EXEC_MASK,        /* a lane executes a .sync instruction whose mask does not name it */
    EXEC_STACK,       /* the call stack or local memory is used up */
    EXEC_NO_MEMORY,   /* the host is out of memory */
    EXEC_PAUSED,      /* not an end: see exec_launch.paused */
};

/* What stopped a launch, for one lane of one warp. Of several faults, the one of the lowest
 * block. */
struct exec_fault {
    uint64_t address; /* of the access, where there is one */
    uint32_t size;    /* bytes of the access */
    bool is_store;
    uint32_t block[3];
    uint32_t thread[3];
    const char *function; /* name, owned by the program */
    const char *file;     /* source file from .loc, or NULL; owned by the program */
    uint32_t line;        /* of `file`, or of the PTX text if `file` is NULL */
    /* What happened: its row in trace/findings.def, numbers, words, and which threads wait where.
     * Its first side holds the access, block, thread and line. */
    struct trace_finding finding;
};

/* Input of the GPU time model. Independent of the number of workers. */
struct exec_counts {
    uint64_t warp_instructions;
    uint64_t lane_instructions;
    uint64_t longest_warp; /* warp instructions of the longest warp */
    uint64_t bytes_loaded; /* global memory */
    uint64_t bytes_stored;
    uint64_t transactions;  /* 32-byte sectors, counted per warp access */
    uint64_t longest_chain; /* of one warp: most global accesses that it waited for (latency) */
    uint64_t longest_wait;  /* of one warp: most clock cycles slept, or spun reading the clock */
    uint64_t barriers;      /* of one warp: most waits at barriers of the block */
    /* Estimated from a sample, machine/probe.h: */
    uint64_t found;       /* transactions that hit the first-level cache */
    uint64_t short_chain; /* part of longest_chain that only hit lines cached earlier */
    uint64_t wavefronts; /* passes of all global and shared accesses: one for each 128-byte line, or
                            row of banks */
};

/* Runs the whole grid before it returns, unless the launch may pause. Fills `fault` unless it
 * returns EXEC_DONE or EXEC_PAUSED. */
enum exec_end exec_run(const struct exec_launch *launch, struct exec_counts *counts,
                       struct exec_fault *fault);
/* Returns true when a launch of the same function and shape has been sampled: this one takes its
 * cache counts from that sample (machine/probe.h). */
bool exec_is_probed(const struct exec_launch *launch);
/* Frees a paused launch that will not continue. NULL is fine. */
void exec_paused_drop(struct exec_grid *paused);

#endif
