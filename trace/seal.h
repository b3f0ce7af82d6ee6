/* seal: lets a reader verify that the records of a trace are those that its writers put there.
 *
 * The creator of a trace gives its writers a key that no other code in the process gets. A writer
 * sums up what it puts in its own memory, and at its end writes the sums in a TRACE_SEAL record
 * with a code that cannot be made without the key. The reader computes the sums again. Seals add
 * up, so every writer and every process writes its own.
 *
 * The seal protects against code that can write only the trace. Code that can read all of the
 * writer's memory finds the key.
 *
 * Source: J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF" (2012); this is
 * SipHash-1-3.
 */
#ifndef OVERLAP_TRACE_SEAL_H
#define OVERLAP_TRACE_SEAL_H

#include "trace/trace.h"

/* Adds one record, at its place in the file, to the sums. */
void trace_sums_add(struct trace_sums *sums, const struct trace_key *key,
                    const struct trace_record *record, uint64_t place);
bool trace_sums_equal(const struct trace_sums *a, const struct trace_sums *b);

/* Makes a TRACE_SEAL of these sums; its code is computed once its place is known. */
struct trace_record trace_seal_make(const struct trace_sums *sums);
uint64_t trace_seal_code(const struct trace_key *key, const struct trace_record *seal,
                         uint64_t place);
/* Adds the sums of a TRACE_SEAL. Returns false if it was made with another key or for another
 * place. */
bool trace_seal_take(struct trace_sums *sums, const struct trace_key *key,
                     const struct trace_record *seal, uint64_t place);

/* Parses 32 hexadecimal digits. Returns false if the text is not a key. */
bool trace_key_read(struct trace_key *key, const char *text);

#endif
