/* recorder: writes a trace of a real GPU in the same form as the software device's. It is a library
 * that NVIDIA's driver loads into the submission's process (CUDA_INJECTION64_PATH), and it uses
 * CUPTI: callbacks for API calls, activity records for copies, memsets and kernels.
 *
 * The recorder does not change what the program does and reports no mistakes: TRACE_FINDING records
 * come from the software device only. If CUPTI refuses (no privilege, or another tool is
 * subscribed), the program runs unrecorded, and the TRACE_SETTING RECORDER_SETTING is "refused:
 * ..." instead of "on". Other settings count records that are missing nevertheless.
 *
 * Streams are numbered (context number << 32 | CUPTI's stream number), which is unique in the
 * process; events and memory by objects.h.
 */
#ifndef OVERLAP_RECORDER_RECORDER_H
#define OVERLAP_RECORDER_RECORDER_H

#include "trace/rest.h"
#include "trace/trace.h"

#include <stdbool.h>
#include <stdint.h>

/* Reads the environment and opens the trace. Called before the submission is loaded, or else in
 * cuInit. */
const char *overlap_begin(void);

/* Set to 0 in the environment: the caller of each call is not determined, which would take
 * microseconds. For timed runs. */
#define RECORDER_CALLERS_VARIABLE "OVERLAP_CALLERS"

/* Sets how much is recorded from now on. For rounds that are timed and not recorded, so that
 * neither the recorder nor CUPTI adds to their time. The runner calls it by name (trace/rest.h)
 * while the device is idle. */
rest_function overlap_rest;

void recorder_put(const struct trace_record *record);
void recorder_setting(const char *name, const char *text, uint64_t number);

uint64_t recorder_stream_number(uint32_t context, uint32_t stream);

/* Starts activity records (activities.c). Returns 0, or -1 with CUPTI's reason in *why. */
int activities_start(const char **why);
/* After the start: switches activity records off or on again. Returns as above. */
int activities_go_on(bool on, const char **why);
/* Operations of the nested call belong to the outer call, by their correlation numbers. */
void activities_alias(uint32_t nested, uint32_t outer);
/* The outer call returned an error: of what it asked for nothing is missing in the record. */
void activities_refused(uint32_t correlation);
/* Writes the activity records that CUPTI has delivered; `all`: also incomplete buffers. */
void activities_flush(int all);

#endif
