/* devices: finds out which devices there are to grade on.
 */
#ifndef OVERLAP_GRADER_RUN_DEVICES_H
#define OVERLAP_GRADER_RUN_DEVICES_H

#include "grader/base/trouble.h"
#include "grader/build/toolchain.h"

#include <stdbool.h>
#include <stdint.h>

/* The device that the user asked for. */
enum devices_wanted {
    DEVICE_AUTO,
    DEVICE_GPU,
    DEVICE_EMULATOR,
};

struct devices {
    bool gpu;      /* grade on a GPU */
    bool emulator; /* grade on the emulator, at least the order checks */
    char gpu_name[128];
    unsigned gpu_count;      /* how many GPUs the user's programs see */
    uint64_t gpu_bytes;      /* of the first: size of the GPU's memory; 0: not known */
    unsigned gpu_capability; /* of the oldest: compute capability, 75 for 7.5; 0: not known */
    char no_gpu[256];        /* why there is none, as the end of a sentence */
    char no_emulator[256];
    char no_opencl[160];     /* why PoCL cannot be graded on, as a sentence; "": it can */
    char no_opencl_gpu[160]; /* the same for NVIDIA's OpenCL */
};

/* Looks for a GPU (with build/grader/probe, in a process of its own) unless only the emulator was
 * asked for, for the emulator's libraries, and, with `opencl`, for OpenCL. Returns 0; or 2 with a
 * sentence when a device that was asked for is missing, or with trouble when the search itself
 * failed. */
int devices_find(struct devices *devices, const struct toolchain *toolchain,
                 enum devices_wanted wanted, bool opencl, struct text *why,
                 struct trouble *trouble);

#endif
