/* devices: which devices there are to grade on.
 */
#ifndef OVERLAP_GRADER_RUN_DEVICES_H
#define OVERLAP_GRADER_RUN_DEVICES_H

#include "grader/base/trouble.h"
#include "grader/build/toolchain.h"

#include <stdbool.h>
#include <stdint.h>

/* Which device was asked for. */
enum devices_wanted {
    DEVICE_AUTO,
    DEVICE_GPU,
    DEVICE_EMULATOR,
};

struct devices {
    bool gpu;      /* grade on it */
    bool emulator; /* grade on it, at least what has to do with order */
    char gpu_name[128];
    uint64_t gpu_bytes; /* of its memory; 0: not known */
    char no_gpu[256];   /* why not, as the end of a sentence */
    char no_emulator[256];
    char no_opencl[160];     /* why PoCL cannot be graded on, as a sentence; "": it can */
    char no_opencl_gpu[160]; /* the same of NVIDIA's OpenCL */
};

/* Looks for a GPU (in a process of its own: build/grader/probe) unless the emulator alone was asked
 * for, for the emulator's libraries, and, where `opencl` says that a lesson needs it, for OpenCL.
 * Returns 0, or 2 with a sentence when what was asked for is
 * not there, or with trouble when it could not be looked for. */
int devices_find(struct devices *devices, const struct toolchain *toolchain,
                 enum devices_wanted wanted, bool opencl, struct text *why,
                 struct trouble *trouble);

#endif
