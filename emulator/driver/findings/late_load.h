/* late_load: remembers what a GPU prepared for the first use of something (code that it loads
 * lazily, room that kernels need), and reports kernels that would never end there because of it:
 * they wait for what a GPU does behind it. This module itself never loads or delays anything;
 * timeline/loads.c finds out who waits.
 *
 * Source: CUDA Programming Guide, "Lazy Loading", "Concurrent Kernel Execution"; what is held up
 * was asked of an H200 by tests/gpu/lazy_loading.cu.
 */
#ifndef OVERLAP_DRIVER_FINDINGS_LATE_LOAD_H
#define OVERLAP_DRIVER_FINDINGS_LATE_LOAD_H

#include "emulator/driver/findings/findings.h"

/* The current call is the first to use something in a context. Returns true if it waits on a GPU.
 */
bool late_load_note(const struct context *context, const struct findings_first *first);
/* The operation `held` goes on because of `later`; NULL: of what the host did behind a call that
 * waits. */
void late_load_held_up(const struct operation *held, const struct operation *later);

#endif
