/* gpu_lock: graders side by side on one GPU. What is timed has it alone; everything else shares it.
 * On the software device nothing is locked: its clock is virtual.
 */
#ifndef OVERLAP_GRADER_RUN_GPU_LOCK_H
#define OVERLAP_GRADER_RUN_GPU_LOCK_H

#include "grader/base/trouble.h"
#include "grader/build/toolchain.h"

#include <stdbool.h>

/* Waits for it. Returns what gpu_lock_release takes, or -1: interrupted, or no lock to be had.
 * It ends with the process, however that ends. */
int gpu_lock_take(const struct toolchain *toolchain, bool alone, struct trouble *trouble);
void gpu_lock_release(int lock);

#endif
