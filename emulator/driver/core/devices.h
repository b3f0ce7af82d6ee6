/* devices: which devices exist and which of them the program sees. Both are read from the
 * environment once, together with the other settings (environment.c), and never change afterwards.
 *
 *   OVERLAP_DEVICES        the devices that exist: a number N of default devices, or a list of GPUs
 *                          (trace/gpus.h). A device of the list reports the attributes of that GPU;
 *                          its memory size may follow a colon (default: OVERLAP_MEMORY):
 *                          h100,a100:2G,t4. With a "+" behind the name it reports limits of a
 *                          launch that no GPU has (trace/limits.def): t4+:2G. 0: no device
 *   CUDA_VISIBLE_DEVICES   the devices that the program sees, in this order: numbers or UUIDs
 *
 * Device attributes are queried in core/device.c. Devices work side by side, but there is one
 * virtual clock, and the times of all are modelled on the first visible device.
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
    unsigned number; /* index among all devices that exist */
    size_t gpu;      /* the GPU whose attributes and times it has: index in trace/gpus.h */
    bool named;      /* OVERLAP_DEVICES names this GPU */
    bool made_up;    /* so are its limits: trace/limits.def */
    uint64_t memory; /* bytes */
};

/* Reads both variables and names invalid values on standard error. `memory`: bytes, from
 * OVERLAP_MEMORY; `gpu`: the GPU of OVERLAP_GPU. Returns CUDA_SUCCESS, or the error that cuInit
 * must return because the program sees no device. */
CUresult devices_read(uint64_t memory, size_t gpu);
/* The same of the devices that exist only. */
void devices_read_there(uint64_t memory, size_t gpu);

/* The number of visible devices, and the device of an ordinal, which must be visible. */
int devices_count(void);
const struct device *device_at(int ordinal);
/* The device of a number among all that exist; NULL: there is none. */
const struct device *device_there(unsigned number);
/* The ordinal of the device of the calling thread's current context, else 0. Valid once cuInit has
 * succeeded. */
int device_current(void);

/* How two devices reach each other's memory. They do if they are the same GPU, and it is one that
 * has such a link. */
enum device_link { DEVICE_UNLINKED, DEVICE_PCIE, DEVICE_NVLINK };
enum device_link device_link(int ordinal, int other);

/* Writes the value of an attribute. Returns false if no device has an attribute of that number. */
bool device_attribute(int ordinal, int attribute, int *value);
bool device_attribute_of(const struct device *device, int attribute, int *value);
/* Returns the value of an attribute that is known to exist. */
int device_says(int ordinal, CUdevice_attribute attribute);
/* The timing model of the device's GPU, including the number of multiprocessors and what one of
 * them holds. */
const struct timeline_model *device_model(int ordinal);
/* Ten times the compute capability of the thread's current device; this is also the newest PTX
 * target that the device accepts. */
unsigned device_capability(void);

#endif
