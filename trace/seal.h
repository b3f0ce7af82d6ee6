/* seal: how a reader knows that the entries of a record are those that its writers put there.
 *
 * Whoever makes the record gives its writers a key that nothing else in the process is told. A
 * writer counts what it puts in memory of its own, and at the end puts the counts as well, with a
 * code that cannot be made without the key: TRACE_SEAL. The reader counts again. Seals add up, so
 * that every writer and every process writes its own.
 *
 * It keeps out who knows the record alone. Who can read all of the writer's memory finds the key.
 *
 * Source: J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF" (2012); this is
 * SipHash-1-3.
 */
#ifndef OVERLAP_TRACE_SEAL_H
#define OVERLAP_TRACE_SEAL_H

#include "trace/trace.h"

/* Adds one record, at its place in the file. */
void trace_sums_add(struct trace_sums *sums, const struct trace_key *key,
                    const struct trace_record *record, uint64_t place);
bool trace_sums_equal(const struct trace_sums *a, const struct trace_sums *b);

/* A TRACE_SEAL of these sums; its code is made when its place is known. */
struct trace_record trace_seal_make(const struct trace_sums *sums);
uint64_t trace_seal_code(const struct trace_key *key, const struct trace_record *seal,
                         uint64_t place);
/* Adds the sums of a TRACE_SEAL; false: it was not made with this key, or for another place. */
bool trace_seal_take(struct trace_sums *sums, const struct trace_key *key,
                     const struct trace_record *seal, uint64_t place);

/* 32 hexadecimal digits. False: it is no key. */
bool trace_key_read(struct trace_key *key, const char *text);

#endif
