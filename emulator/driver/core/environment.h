/* driver_environment: what the environment says to the device, read once, at cuInit. A value that
 * is none is named on standard error, with what is used instead; nothing else happens because of
 * it.
 *
 *   OVERLAP_ORDER              latest (default), earliest, random:SEED (host threads: threads/)
 *   OVERLAP_MEMORY             the device's memory, 1M to 64G; 4G
 *   OVERLAP_WORKERS            host threads that run blocks, 1 to 64; one per processor
 *   OVERLAP_INSTRUCTION_LIMIT  warp instructions before a kernel is stopped as endless
 *   CUDA_DEVICE_MAX_CONNECTIONS  hardware queues, 1 to 32; 8
 *   CUDA_LAUNCH_BLOCKING       not 0: a launch returns when its kernel has ended
 *   CUDA_VISIBLE_DEVICES       numbers or UUIDs: whether the device, number 0, is there at all
 *
 * It never looks at OVERLAP_TRACE (trace), OVERLAP_QUIET (findings) or OVERLAP_FAIL, which makes
 * one call fail (entry/entry.h).
 *
 * Source: CUDA Programming Guide, "CUDA Environment Variables".
 */
#ifndef OVERLAP_DRIVER_CORE_ENVIRONMENT_H
#define OVERLAP_DRIVER_CORE_ENVIRONMENT_H

#include "emulator/driver/core/core.h"

struct environment {
    enum timeline_order order;
    uint64_t seed;              /* of the random order */
    uint64_t memory;            /* bytes */
    uint64_t workers;           /* 0: one per processor */
    uint64_t instruction_limit; /* warp instructions */
    uint64_t connections;
    bool launch_blocking;
    CUresult refusal; /* of cuInit: there is no device to be seen */
};

/* Reads it, and complains. Under the driver's lock. */
void environment_read(void);
/* What was read last; before that, zeros. */
const struct environment *environment(void);

#endif
