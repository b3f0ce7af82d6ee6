/* logs: CUDA's error log, which programs read or receive through callbacks. Every public call that
 * returns an error adds one line:
 *
 *   Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemAlloc_v2
 *
 * Findings never appear in this log.
 *
 * Source: CUDA Driver API 13.0, Error Log Management Functions; Programming Guide, Error Log
 * Management; an H100's driver 580, which adds lines that say why.
 */
#ifndef OVERLAP_DRIVER_ENTRY_LOGS_H
#define OVERLAP_DRIVER_ENTRY_LOGS_H

#include "emulator/driver/core/core.h"

/* Logs that the function `name` has returned the error `code`: appends to the file that
 * CUDA_LOG_FILE names and calls the registered callbacks. Call it without the driver's lock and
 * outside of any call. */
void logs_error(const char *name, int code);

#endif
