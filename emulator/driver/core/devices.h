/* devices: which devices there are, and which of them the program sees. Read from the environment,
 * once, with the rest of it (environment.c); from then on nothing here changes.
 *
 *   OVERLAP_DEVICES        how many there are: N, each of them like the one device that there is
 *                          without it; or a list of GPUs (trace/gpus.h), each of which describes
 *                          itself as that GPU, with the memory behind a colon (OVERLAP_MEMORY
 *                          without one): h100,a100:2G,t4. 0: none
 *   CUDA_VISIBLE_DEVICES   numbers or UUIDs: which of those are seen, in this order
 *
 * What a device says of itself is core/device.c's. Contexts work on every device, but there is one
 * virtual clock: the first visible device's, on which the contexts of all devices take turns as
 * those of one GPU do. No device is a peer of another.
 *
 * Source of what is visible: CUDA Programming Guide, "CUDA Environment Variables".
 */
#ifndef OVERLAP_EMULATOR_DRIVER_CORE_DEVICES_H
#define OVERLAP_EMULATOR_DRIVER_CORE_DEVICES_H

#include "emulator/memory/memory.h"
#include "emulator/timeline/model.h"

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

struct device {
    unsigned number; /* among all that there are */
    size_t gpu;      /* whose figures it has: index in trace/gpus.h */
    bool named;      /* OVERLAP_DEVICES says that it is one */
    uint64_t memory; /* bytes */
};

/* Reads both variables; complains about values that are none. What cuInit has to return:
 * CUDA_SUCCESS, or why the program sees no device. `memory`: OVERLAP_MEMORY; `gpu`: OVERLAP_GPU. */
CUresult devices_read(uint64_t memory, size_t gpu);

/* How many the program sees, and the one of that ordinal, which must be there. */
int devices_count(void);
const struct device *device_at(int ordinal);
/* Of the calling thread's current context, or the first; it is there once cuInit has succeeded. */
int device_current(void);

/* An attribute of a device; false: no device has one of that number. */
bool device_attribute(int ordinal, int attribute, int *value);
/* The same of an attribute that there is. */
int device_says(int ordinal, CUdevice_attribute attribute);
/* Its GPU's figures: what a multiprocessor holds, and how many there are. */
const struct timeline_model *device_model(int ordinal);
/* Of the thread's device: the compute capability times ten, the newest PTX that it takes. */
unsigned device_capability(void);

#endif
