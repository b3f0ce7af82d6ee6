/* recorder: writes the same trace from a real GPU that the software device writes itself. It is a
 * library that NVIDIA's driver loads into the submission's process (CUDA_INJECTION64_PATH), and it
 * listens through CUPTI: API calls by callbacks, copies, memsets and kernels by activity records.
 *
 * It changes nothing of what the program does, and finds nothing wrong: TRACE_FINDING comes from
 * the software device only. When CUPTI refuses (no privilege, another tool is subscribed), the
 * program runs on unrecorded and the TRACE_SETTING RECORDER_SETTING says "refused: ..."; otherwise
 * it is "on". Others count the records that are missing all the same.
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

/* Read before the submission is loaded (overlap_begin), or else in cuInit. */
const char *overlap_begin(void);

/* Set to 0 in the environment: do not look for the caller of each call, which takes microseconds:
 * for runs that are timed. */
#define RECORDER_CALLERS_VARIABLE "OVERLAP_CALLERS"

/* How much is recorded, from now on: for rounds that are timed and not recorded, so that nothing of
 * it, CUPTI's own part too, is in their time. Called by the runner, by name (trace/rest.h), when
 * the device has nothing to do. */
rest_function overlap_rest;

void recorder_put(const struct trace_record *record);
void recorder_setting(const char *name, const char *text, uint64_t number);

uint64_t recorder_stream_number(uint32_t context, uint32_t stream);

/* Activity records (activities.c). Returns 0, or -1 with CUPTI's reason. */
int activities_start(const char **why);
/* Once started: no more of them, or again. Returns as above. */
int activities_go_on(bool on, const char **why);
/* A nested call's correlation number stands for that of the submission's own call. */
void activities_alias(uint32_t nested, uint32_t outer);
/* Writes what is there; `all`: also what is not complete. */
void activities_flush(int all);

#endif
