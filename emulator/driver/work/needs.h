/* needs: what a launch needs of its context that no launch before it has needed: heaps, for which
 * the limits are settled by it, and local memory. It allocates nothing. */
#ifndef OVERLAP_DRIVER_WORK_NEEDS_H
#define OVERLAP_DRIVER_WORK_NEEDS_H

#include "emulator/driver/core/core.h"
#include "emulator/exec/exec.h"

/* A kernel that may print or use the heap decides how large they are, whether or not it does. */
void needs_settle(struct context *context, const struct exec_function_info *info);
/* To be called before the launch, and before needs_settle: tells the findings of what a GPU has to
 * make room for, though other kernels run. */
void needs_note(struct context *context, const struct exec_function_info *info);

#endif
