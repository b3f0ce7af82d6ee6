/* gpu_lock: graders side by side on one GPU. What is timed has it alone; everything else shares it;
 * of runs that need much of its memory there are those of one submission at a time.
 * On the software device nothing is locked: its clock is virtual.
 */
#ifndef OVERLAP_GRADER_RUN_GPU_LOCK_H
#define OVERLAP_GRADER_RUN_GPU_LOCK_H

#include "grader/base/trouble.h"
#include "grader/build/toolchain.h"

enum gpu_lock_kind {
    GPU_LOCK_SHARED,
    GPU_LOCK_ALONE,
    GPU_LOCK_LARGE, /* a lock of its own, to be taken before the other */
};

/* Waits for it. Returns what gpu_lock_release takes, or -1: interrupted, or no lock to be had.
 * It ends with the process, however that ends. */
int gpu_lock_take(const struct toolchain *toolchain, enum gpu_lock_kind kind,
                  struct trouble *trouble);
void gpu_lock_release(int lock);

#endif
