/* device: what the tests of exec run kernels on: a made-up memory that memory_find answers from,
 * and a program with its variables placed. It checks nothing itself.
 */
#ifndef OVERLAP_TESTS_EXEC_DEVICE_H
#define OVERLAP_TESTS_EXEC_DEVICE_H

#include "emulator/exec/exec.h"

#include <check.h>

/* A region of `size` bytes at a new device address, filled with 0xa5; forgotten by device_reset.
 * `bytes` receives where its contents are. */
uint64_t device_buffer(size_t size, void **bytes);
/* The same with contents. */
uint64_t device_buffer_of(const void *contents, size_t size, void **bytes);
void device_release(uint64_t address);
/* Forgets every region. */
void device_reset(void);

/* Parses and compiles PTX and places its variables; fails the test with the log otherwise. */
struct exec_program *device_program(const char *ptx);
/* The same, made to be watched. */
struct exec_program *device_program_watched(const char *ptx);
/* The same from a file. */
struct exec_program *device_program_file(const char *path);
/* The same, made to be watched or not. */
struct exec_program *device_program_checked(const char *path, bool watched);

/* A launch of `name` over `blocks` x `threads` with parameters as they lie in memory. */
struct device_run {
    const struct exec_program *program;
    const char *name;
    uint32_t blocks, threads;
    uint32_t grid[3], cluster[3]; /* zeros: `blocks` in a row, as the kernel was compiled */
    uint32_t block[3];            /* zeros: `threads` in a row */
    const void *parameters;
    unsigned workers; /* 0 means 1 */
    uint32_t shared;
    uint64_t limit;
    uint32_t reach;
    bool cooperative;
    uint64_t heap_address, heap_bytes;
    struct exec_footprint *footprint; /* may be NULL */
    struct exec_racecheck *watch;     /* the same */
    bool pauses;                      /* it need not end; `paused` is where it goes on then */
    bool impatient;
    struct exec_grid *paused;
    struct exec_counts counts; /* results */
    struct exec_fault fault;
    char printed[4096];
    size_t printed_length;
};
enum exec_end device_launch(struct device_run *run);

/* What stopped the launch, in English. Valid until the next call. */
const char *device_sentence(const struct device_run *run);

/* Launches and fails the test unless the kernel is done. */
void device_run(struct device_run *run);

/* Runs tests of machine code; answers what main returns, 77 where none is made: LLVM was not there
 * when this was built, or its library is not now. */
int device_native_main(Suite *suite);

#endif
