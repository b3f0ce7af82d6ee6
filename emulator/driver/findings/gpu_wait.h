/* gpu_wait: remembers the calls that waited because GPUs do, and not because the documentation says
 * so, so that advice can name the one that somebody relied on. It waits for nothing itself.
 */
#ifndef OVERLAP_DRIVER_FINDINGS_GPU_WAIT_H
#define OVERLAP_DRIVER_FINDINGS_GPU_WAIT_H

#include "emulator/driver/core/core.h"

struct gpu_wait {
    uint64_t context, stream; /* `stream` 0: for all work of the context */
    uint64_t request, caller;
    uint32_t stack;
    char name[TRACE_NAME_SIZE]; /* of the call */
};

/* The thread's current call waits. */
void gpu_wait_note(uint64_t context, uint64_t stream);
/* The first such wait since `work` was asked for that it was waited for by; NULL: none that is
 * remembered. */
const struct gpu_wait *gpu_wait_for(const struct trace_record *work);

#endif
