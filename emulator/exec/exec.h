/* exec: runs PTX. Turns a parsed module into an executable program and executes grids of it, a warp
 * (32 lanes) at a time, with the forward progress that Volta and later devices promise.
 *
 * It knows nothing of streams, contexts or the API: the caller has decided that the kernel runs
 * now. It accesses memory only inside the regions that memory_find returns, and stops with a fault
 * that names the source line at the first access outside of them.
 *
 * Source: PTX ISA 9.0; CUDA Programming Guide, "SIMT Architecture".
 */
#ifndef OVERLAP_EXEC_EXEC_H
#define OVERLAP_EXEC_EXEC_H

#include "emulator/exec/launch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptx_module;
struct ptx_function;
struct exec_program;
struct exec_function; /* an entry point of a program */

/* ---- programs -------------------------------------------------------------------------------- */

/* Builds a program from `module`, which may be freed afterwards if all its functions have been read
 * (ptx_function_read); entries that have not are left out until exec_program_add. Returns NULL on
 * failure, with one sentence per problem in `log` ("line 12: texture instructions (tex.2d) are not
 * supported"). An unsupported instruction inside a function is no error here: executing it is one
 * (EXEC_UNSUPPORTED), so that a module with one exotic kernel still serves its other kernels. */
struct exec_program *exec_program_create(const struct ptx_module *module, char *log,
                                         size_t log_size);
/* The same, for launches that are race-checked (check/racecheck.h). */
struct exec_program *exec_program_create_checked(const struct ptx_module *module, char *log,
                                                 size_t log_size);
/* Adds an entry of the program's module that has been read since. Idempotent. No kernel of the
 * program may be running. Returns false if the entry cannot be added; `log` says why. */
bool exec_program_add(struct exec_program *program, const struct ptx_function *source, char *log,
                      size_t log_size);
void exec_program_destroy(struct exec_program *program);

/* Whether hot functions are compiled to machine code, if LLVM's library is found; the results are
 * the same without. Applies to programs created after the call. */
enum exec_native_use {
    EXEC_NATIVE_OFF,   /* the default */
    EXEC_NATIVE_ON,    /* functions that have run for long */
    EXEC_NATIVE_ALWAYS /* each function, before it first runs */
};
void exec_native_use(enum exec_native_use use);
/* Keeps machine code in a folder, for later runs of programs with the same functions; NULL, the
 * default: in none. What is in the folder is executed: nobody else should be able to write to it.
 * To be called before the first program is created. */
void exec_native_keep(const char *folder);
/* Returns how many stretches of the program's instructions have machine code by now. */
size_t exec_native_stretches(const struct exec_program *program);

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
/* Writes the initial contents of variable `index`, with addresses of other variables and functions
 * resolved, to `bytes`, which has room for its size. Every variable must have been placed
 * before. */
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
    uint32_t ptx_version;         /* the architecture of .target: 75 */
    uint32_t max_threads;         /* per block, from .maxntid; 1024 without */
    uint32_t required_threads[3]; /* .reqntid, or zeros */
    uint32_t cluster[3];          /* .reqnctapercluster, or zeros */
    bool explicit_cluster;        /* .explicitcluster: it must be launched with clusters */
    bool blocks_are_clusters;     /* the grid size of a launch counts clusters, not blocks */
    /* It may exchange values with concurrent work: it has volatile or ordered accesses to global
     * memory, atomics of which locks are made, or ones that count for the host as well (.sys). */
    bool converses;
    bool fences;   /* it has a fence of a scope beyond the block */
    bool launches; /* it may call the device runtime (exec_launch.device_call) */
    bool prints;   /* it may call printf */
    bool takes;    /* it may use the heap: malloc, free and what is made of them */
    bool triggers; /* it may let a dependent kernel begin before it ends (griddepcontrol) */
    /* Some fence, acquire or release of its is of the system's scope (.sys); and some atomic is.
     * Without, nothing that it does can be ordered against, or be atomic for, another device. */
    bool orders_system, counts_system;
};
const struct exec_function *exec_function_find(const struct exec_program *program,
                                               const char *name);
/* Returns true for an address of shared memory, local memory or parameters, which is valid only for
 * one thread or block. */
bool exec_is_own_address(uint64_t address);

size_t exec_function_count(const struct exec_program *program);
const struct exec_function *exec_function_at(const struct exec_program *program, size_t index);
const struct exec_function_info *exec_function_info(const struct exec_function *function);
/* Returns true when the function's blocks can observe each other, so that it matters how many are
 * resident at once (exec_launch.resident). */
bool exec_function_talks(const struct exec_function *function);
/* Returns the entry point that `token`, a function's address in PTX, stands for in a kernel of the
 * same program; NULL: none. */
const struct exec_function *exec_function_meant(const struct exec_function *kernel, uint64_t token);

/* Returns true when the device itself provides a function that PTX declares .extern (vprintf,
 * malloc, ...). */
bool exec_provides(const char *name);
/* Returns the number of host threads made to run blocks, not counting the threads that launch; and
 * whether the calling thread is one of them. */
unsigned exec_threads(void);
bool exec_is_thread(void);
/* Returns why this machine's processor can execute no kernel; NULL: it can. */
const char *exec_rows_missing(void);

#endif
