/* logs: CUDA's log of errors, which programs read or are called back for. Every public call that
 * returns an error leaves one line in it:
 *
 *     Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemAlloc_v2
 *
 * What is wrong with a program is the findings' matter: nothing of theirs comes here.
 *
 * Source: CUDA Driver API 13.0, Error Log Management Functions; Programming Guide, Error Log
 * Management; an H100's driver 580, which adds lines that say why.
 */
#ifndef OVERLAP_DRIVER_ENTRY_LOGS_H
#define OVERLAP_DRIVER_ENTRY_LOGS_H

#include "emulator/driver/core/core.h"

/* The function of that name has returned `code`, which is no success. Writes to the file that
 * CUDA_LOG_FILE names, and calls who is registered: without the driver's lock, and outside of any
 * call. */
void logs_error(const char *name, int code);

#endif
