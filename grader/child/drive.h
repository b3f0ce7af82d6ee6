/* drive: the child side of a lesson. The drive calls the student's functions with the inputs that
 * the grader drew, and writes what came back into the output. It runs inside the submission's own
 * process, next to student code, so it decides nothing: everything that it writes is data that the
 * judge (grader/evidence/judge.h, in the parent) checks against the parent's own copy of the
 * inputs.
 *
 * Every lesson.so exports drive_main. grader/child/runner.c loads the .so, maps input and output,
 * and calls it once. Which order the device runs its operations in is not visible here, and which
 * run of several this is neither.
 *
 * Usable from C and from CUDA C++.
 */
#ifndef OVERLAP_GRADER_CHILD_DRIVE_H
#define OVERLAP_GRADER_CHILD_DRIVE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum drive_device {
    DRIVE_EMULATOR = 1,
    DRIVE_GPU,
};

/* The byte that fills the whole output before the drive starts: what the drive does not write
 * stays poisoned, and the judge can see it. */
#define DRIVE_POISON 0xa5

struct drive {
    const char *run;          /* the name of the run plan: one drive may serve several */
    enum drive_device device; /* for what cannot be the same on both; sizes come in the input */
    const void *input;        /* read-only: a write faults. Laid out by the lesson's exchange.h */
    size_t input_size;
    void *output; /* fixed size, filled with DRIVE_POISON */
    size_t output_size;
    /* The host's time in nanoseconds: on the software device that of its model of a host, which
     * makes times that can be compared with the device's own; on a GPU CLOCK_MONOTONIC. */
    uint64_t (*clock)(void);
    /* The runner's; use drive_begin and drive_end. */
    void (*mark)(const struct drive *drive, const char *phase, uint32_t index, uint32_t flags);
    const struct drive_opencl *opencl; /* of a run of OpenCL (drive_opencl.h) */
};

/* Written by each lesson. Returns 0 when it came to its end, also when the student's function
 * returned an error (that is data: write it into the output). Anything else means that the drive
 * itself could not go on (host memory); it says why on stderr first. */
__attribute__((visibility("default"))) int drive_main(struct drive *drive);

/* The phases, 0, 1, ..., of a run with RUN_INJECTIONS in which calls are made to fail, and at whose
 * end nothing may be left: what the student's functions do, and no call of the drive's own. */
#define DRIVE_INJECTIONS "injections"

/* Mark the begin and the end of a phase: a stretch of the run that the judge can ask about, or
 * time, by name (at most 63 bytes) and index (the n-th repetition, 0 where there is one). Phases
 * may nest. Both write a TRACE_MARK with CLOCK_MONOTONIC. Before a phase that is timed ends, the
 * drive must wait for the device (cudaDeviceSynchronize), or work escapes the clock. */
static inline void drive_begin(struct drive *drive, const char *phase, uint32_t index)
{
    drive->mark(drive, phase, index, 1u); /* TRACE_BEGIN */
}

static inline void drive_end(struct drive *drive, const char *phase, uint32_t index)
{
    drive->mark(drive, phase, index, 2u); /* TRACE_END */
}

#ifdef __cplusplus
}
#endif

#endif
