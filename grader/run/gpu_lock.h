/* gpu_lock: lets several graders share one GPU. Timed runs have the GPU alone; all others share it;
 * runs that need much of its memory take place for one submission at a time. On the software device
 * nothing is locked, because its clock is virtual.
 */
#ifndef OVERLAP_GRADER_RUN_GPU_LOCK_H
#define OVERLAP_GRADER_RUN_GPU_LOCK_H

#include "grader/base/trouble.h"
#include "grader/build/toolchain.h"

enum gpu_lock_kind {
    GPU_LOCK_SHARED,
    GPU_LOCK_ALONE,
    GPU_LOCK_LARGE, /* a lock of its own, taken before the other */
};

/* Waits for the lock. Returns a handle for gpu_lock_release, or -1: interrupted, or there is no
 * lock. The lock ends with the process, however the process ends. */
int gpu_lock_take(const struct toolchain *toolchain, enum gpu_lock_kind kind,
                  struct trouble *trouble);
void gpu_lock_release(int lock);

#endif
