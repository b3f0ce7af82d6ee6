/* The GPUs whose times the software device can take, by the names that people type: the emulator
 * has their figures (emulator/timeline/model.def), the grader's command line the names. */
#ifndef OVERLAP_TRACE_GPUS_H
#define OVERLAP_TRACE_GPUS_H

/* The environment variable that chooses one; unset: the first. */
#define GPUS_VARIABLE "OVERLAP_GPU"
/* And the one that says which devices there are (emulator/driver/core/devices.h); unset: one. */
#define DEVICES_VARIABLE "OVERLAP_DEVICES"

#define GPUS(GPU) GPU(h100) GPU(h200) GPU(a100) GPU(rtx4060) GPU(t4)

#endif
