/* device: runs kernels for the tests of exec: provides a memory of the test's own, which
 * memory_find searches, and programs with their variables placed. It checks nothing itself.
 */
#ifndef OVERLAP_TESTS_EXEC_DEVICE_H
#define OVERLAP_TESTS_EXEC_DEVICE_H

#include "emulator/exec/exec.h"

#include <check.h>

/* Makes a region of `size` bytes at a new device address, filled with 0xa5, which exists until
 * device_reset. `bytes` is set to its contents. */
uint64_t device_buffer(size_t size, void **bytes);
/* As device_buffer, with the given contents. */
uint64_t device_buffer_of(const void *contents, size_t size, void **bytes);
void device_release(uint64_t address);
/* Removes every region. */
void device_reset(void);

/* Parses and compiles PTX and places its variables; otherwise fails the test with the log. */
struct exec_program *device_program(const char *ptx);
/* As device_program, compiled for racecheck. */
struct exec_program *device_program_watched(const char *ptx);
/* As device_program, from a file. */
struct exec_program *device_program_file(const char *path);
/* As device_program_file, compiled for racecheck if `watched`. */
struct exec_program *device_program_checked(const char *path, bool watched);

/* A launch of `name` over `blocks` x `threads`; `parameters` has the layout of the parameter
 * buffer. */
struct device_run {
    const struct exec_program *program;
    const char *name;
    uint32_t blocks, threads;
    /* All 0: a one-dimensional grid of `blocks`, clusters as compiled. */
    uint32_t grid[3], cluster[3];
    uint32_t block[3]; /* all 0: a one-dimensional block of `threads` */
    const void *parameters;
    unsigned workers; /* 0 means 1 */
    uint32_t shared;
    uint64_t limit;
    uint32_t reach;
    bool cooperative;
    uint64_t heap_address, heap_bytes;
    struct exec_footprint *footprint; /* may be NULL */
    struct exec_racecheck *watch;     /* may be NULL */
    bool pauses; /* the launch may pause; `paused` is then where it continues */
    bool impatient;
    struct exec_grid *paused;
    struct exec_counts counts; /* results */
    struct exec_fault fault;
    char printed[4096];
    size_t printed_length;
};
enum exec_end device_launch(struct device_run *run);

/* Says in English what stopped the launch. Valid until the next call. */
const char *device_sentence(const struct device_run *run);

/* Launches, and fails the test unless the kernel completes. */
void device_run(struct device_run *run);

/* Runs tests of machine code. Returns main's result, or 77 where there is no machine code, because
 * LLVM was missing at build time or its library is missing now. */
int device_native_main(Suite *suite);

#endif
