/* drive: the child side of a lesson. The drive calls the student's functions with the inputs that
 * the grader drew, and writes their results into the output. It runs in the submission's own
 * process, next to student code, so it decides nothing: the judge (grader/evidence/judge.h, in the
 * parent) checks everything that the drive writes against the parent's own copy of the inputs.
 *
 * Every lesson.so exports drive_main. grader/child/runner.c loads the .so, maps input and output,
 * and calls drive_main once, or once per round. The drive sees neither the order in which the
 * device runs its operations nor which of several runs this is.
 *
 * Usable from C and from CUDA C++.
 */
#ifndef OVERLAP_GRADER_CHILD_DRIVE_H
#define OVERLAP_GRADER_CHILD_DRIVE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum drive_device {
    DRIVE_EMULATOR = 1,
    DRIVE_GPU,
};

/* The byte that fills the whole output before the drive starts, so that the judge can see what the
 * drive did not write. */
#define DRIVE_POISON 0xa5

struct drive {
    const char *run;          /* the name of the run plan: one drive may serve several */
    enum drive_device device; /* for behaviour that must differ; sizes come in the input */
    const void *input;        /* read-only: a write faults. Layout: the lesson's exchange.h */
    size_t input_size;
    void *output; /* fixed size, filled with DRIVE_POISON */
    size_t output_size;
    /* Returns the host's time in nanoseconds: on the software device the time of its model of a
     * host, comparable with the device's own times; on a GPU CLOCK_MONOTONIC. */
    uint64_t (*clock)(void);
    /* Provided by the runner; use drive_begin and drive_end. */
    void (*mark)(const struct drive *drive, const char *phase, uint32_t index, uint32_t flags);
    const struct drive_opencl *opencl; /* for a run of OpenCL (drive_opencl.h) */
};

/* Written by each lesson. Returns 0 when it came to its end, also when the student's function
 * returned an error (an error is data: write it into the output). Any other value means that the
 * drive itself could not go on (host memory); it prints the reason to stderr first. */
__attribute__((visibility("default"))) int drive_main(struct drive *drive);

/* The phases (index 0, 1, ...) of a run with RUN_INJECTIONS in which calls are made to fail and at
 * whose end nothing may be left. They contain the student's functions and no CUDA call of the
 * drive's own. */
#define DRIVE_INJECTIONS "injections"

/* The phases in which a call that went well is made once more, while the runtime holds an earlier
 * error of the caller's: drive_remember in drive_cuda.h. The index is the call's. */
#define DRIVE_REMEMBERS "remembers"

#define DRIVE_SOILED 16384 /* bytes of the stack */

/* Fills the stack below the caller with DRIVE_POISON, where the student's function will have its
 * variables. One that was never set is then no zero by chance, on the paths of errors either. */
__attribute__((noinline, unused)) static void drive_soil_stack(void)
{
    unsigned char below[DRIVE_SOILED];
    memset(below, DRIVE_POISON, sizeof below);
    __asm__ volatile("" : : "r"(below) : "memory"); /* keeps the memset */
}

/* Mark the begin and the end of a phase: a part of the run that the judge can query or time by name
 * (at most 63 bytes) and index (the n-th repetition, 0 for a single one). Phases may nest. Both
 * write a TRACE_MARK with CLOCK_MONOTONIC. Before the end of a timed phase the drive must wait for
 * the device (cudaDeviceSynchronize), or work is not timed. drive_begin is put in line, so that
 * what it soils lies where the function that is called next lies. */
__attribute__((always_inline)) static inline void drive_begin(struct drive *drive,
                                                              const char *phase, uint32_t index)
{
    drive->mark(drive, phase, index, 1u); /* TRACE_BEGIN */
    drive_soil_stack();
}

static inline void drive_end(struct drive *drive, const char *phase, uint32_t index)
{
    drive->mark(drive, phase, index, 2u); /* TRACE_END */
}

#ifdef __cplusplus
}
#endif

#endif
