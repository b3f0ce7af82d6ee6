/* late_load: remembers which code was loaded by its first use (lazy loading), and reports kernels
 * that would never end on a GPU because of such a load: they wait for what a GPU does behind it.
 * This module itself never loads or delays anything; timeline/loads.c finds out who waits.
 *
 * Source: CUDA Programming Guide, "Lazy Loading", "Concurrent Kernel Execution"; what a load holds
 * up was asked of an H200 by tests/gpu/lazy_loading.cu.
 */
#ifndef OVERLAP_DRIVER_FINDINGS_LATE_LOAD_H
#define OVERLAP_DRIVER_FINDINGS_LATE_LOAD_H

#include "emulator/driver/core/core.h"

/* The current call loads the kernel of that mangled name into a context; NULL: a whole module,
 * which on a GPU waits for all work of the context. */
void late_load_note(const struct context *context, const char *kernel);
/* The operation `held` goes on because of `later`; NULL: of what the host did behind the load of a
 * module. */
void late_load_held_up(const struct operation *held, const struct operation *later);

#endif
