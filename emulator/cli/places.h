/* places: where in the source a record of the trace belongs. It knows the processes of a trace,
 * what was mapped in each, and which lines are the user's rather than a library's header.
 */
#ifndef OVERLAP_CLI_PLACES_H
#define OVERLAP_CLI_PLACES_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/trace.h"

struct places;

/* Owned by the caller; `trace` must outlive it. NULL: no memory. */
struct places *places_open(const struct trace *trace);
void places_close(struct places *places);

/* "FILE:LINE" of the submission's call that the record belongs to: the innermost one in the user's
 * own source. Without debug information "main+28 in FILE". False where nothing is known. */
bool places_call(struct places *places, const struct trace_record *record, char *text, size_t size);

/* "FILE:LINE" in device code; false where the record has none. */
bool places_device(const struct trace_record *record, char *text, size_t size);

/* What stands in that line of device code, where the program compiled a string; "" where it is not
 * known. It belongs to the trace. */
const char *places_code(const struct places *places, const struct trace_record *record);

/* What a finding says, with the lines of the calls that it names. */
void places_sentence(struct places *places, const struct trace_record *record, char *text,
                     size_t size);

/* True once a call was shown without its line, for want of debug information. */
bool places_lines_missed(const struct places *places);

#endif
