/* The GPUs that the software device can model, by the names that users type. The emulator has their
 * figures (emulator/timeline/model.def); the grader's command line uses only the names. */
#ifndef OVERLAP_TRACE_GPUS_H
#define OVERLAP_TRACE_GPUS_H

/* The environment variable that chooses the modelled GPU; unset: the first. */
#define GPUS_VARIABLE "OVERLAP_GPU"
/* The environment variable that lists the devices (emulator/driver/core/devices.h); unset: one
 * device. */
#define DEVICES_VARIABLE "OVERLAP_DEVICES"

#define GPUS(GPU) GPU(h100) GPU(h200) GPU(a100) GPU(rtx4060) GPU(t4)

#endif
