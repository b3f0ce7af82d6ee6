/* places: finds the source line that a record of the trace belongs to. It uses the processes of a
 * trace, the files mapped in each, and rules that tell the user's lines from those of library
 * headers.
 */
#ifndef OVERLAP_CLI_PLACES_H
#define OVERLAP_CLI_PLACES_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/trace.h"

struct places;

/* Opens the places of a trace, which must outlive them. Owned by the caller. NULL: no memory. */
struct places *places_open(const struct trace *trace);
void places_close(struct places *places);

/* Writes "FILE:LINE" of the submission's call that the record belongs to: the innermost call in the
 * user's own source. Without debug information writes "main+28 in FILE". Returns false if nothing
 * is known. */
bool places_call(struct places *places, const struct trace_record *record, char *text, size_t size);

/* Writes "FILE:LINE" in device code. Returns false if the record has no such line. */
bool places_device(const struct trace_record *record, char *text, size_t size);

/* The text of that line of device code, for code that the program compiled from a string; "" if
 * unknown. The trace owns the string. */
const char *places_code(const struct places *places, const struct trace_record *record);

/* Returns true if NVIDIA's libraries of headers (Thrust, CUB, libcu++) make the calls that the
 * finding names: the submitting one and that of its other side, if there is one. */
bool places_of_library(const struct places *places, const struct trace_record *record);

/* Writes a finding's sentence, with the lines of the calls that it names. */
void places_sentence(struct places *places, const struct trace_record *record, char *text,
                     size_t size);

/* Returns true once a call was shown without its line because debug information was missing. */
bool places_lines_missed(const struct places *places);

#endif
