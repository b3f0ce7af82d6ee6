/* gpu_wait: remembers calls that waited because GPUs do, although the documentation promises no
 * wait, so that advice can name the call that a program relied on. This module itself never waits.
 */
#ifndef OVERLAP_DRIVER_FINDINGS_GPU_WAIT_H
#define OVERLAP_DRIVER_FINDINGS_GPU_WAIT_H

#include "emulator/driver/core/core.h"

struct gpu_wait {
    uint64_t context, stream; /* trace ids; `stream` 0: the call waited for all work of the
                                 context */
    uint64_t request, caller;
    uint32_t stack;
    char name[TRACE_NAME_SIZE]; /* plain name of the call */
};

/* Records that the thread's current call waits so. */
void gpu_wait_note(uint64_t context, uint64_t stream);
/* The first such wait since `work` was submitted that covers it; NULL: none is remembered. */
const struct gpu_wait *gpu_wait_for(const struct trace_record *work);

#endif
