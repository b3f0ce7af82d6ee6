/* trace: the record of what a submission did, written by the code that observed it (the software
 * device, the recorder on a real GPU, the runner's drive) and read by the grader.
 *
 * A trace is one file of fixed-size records behind a small header. A writer maps the file shared
 * and appends with one atomic increment, so several threads and processes (a submission may fork)
 * can write to the same file, and no record is lost when a process is killed.
 *
 * The reader trusts nothing, because student code could write to the file. It copies the file,
 * bounds every count, terminates every string, and refuses files that are not traces. It never
 * decides whether the submission was right; the grader's checks do.
 */
#ifndef OVERLAP_TRACE_TRACE_H
#define OVERLAP_TRACE_TRACE_H

#include "trace/record.h"

/* The environment variable with the path of the trace file. Unset or empty: nothing is recorded,
 * and every put is a no-op. */
#define TRACE_PATH_VARIABLE "OVERLAP_TRACE"

/* TRACE_SETTINGs of the recorder on a GPU: "on", or "refused: " and the reason; and the numbers of
 * operations that were dropped or have no times. */
#define RECORDER_SETTING "recorder"
#define RECORDER_DROPPED "recorder dropped"
#define RECORDER_UNSTAMPED "recorder unstamped"

/* Returns true if a call that returned this (CUresult, cudaError_t) met a fault of a kernel, after
 * which the context can do no more. 702 is none: a machine may stop a right kernel that takes long.
 */
bool trace_is_fault(int32_t code);

/* The environment variable with the record's key (trace/seal.h), 32 hexadecimal digits. Unset: the
 * trace is not sealed. */
#define TRACE_KEY_VARIABLE "OVERLAP_TRACE_KEY"

#define TRACE_MAGIC 0x4352544c5256304full
#define TRACE_VERSION 6u
#define TRACE_DEFAULT_CAPACITY (1u << 17) /* records; the file is sparse until they are written */
/* ---- writing ---------------------------------------------------------------------------- */

struct trace_writer;

/* Creates the file at `path` with room for `capacity` records (0: the default), replacing an old
 * one. Returns 0, or -1 with errno. The grader calls it before it starts the runner. */
int trace_create(const char *path, uint32_t capacity);

/* The same for records of these kinds only (a set of TRACE_KIND_BIT); other kinds are dropped.
 * trace_create accepts all kinds but TRACE_STACK, which costs a stack walk per record. */
int trace_create_for(const char *path, uint32_t capacity, uint32_t kinds);

/* The same in memory, where nobody can replace the file or change its size. Returns a descriptor,
 * which the writer opens as /proc/self/fd/N, or -1 with errno. */
int trace_create_in_memory(uint32_t capacity, uint32_t kinds);

/* Opens the file named by TRACE_PATH_VARIABLE for appending. Returns NULL if the variable is unset,
 * or if the file is not a trace (with errno). Owned by the caller. */
struct trace_writer *trace_open_from_environment(void);

/* Appends a copy of `record`; process, thread and the order of appending are filled in. A query
 * that is repeated in a loop may be left out (trace/repeats.h). When the file is full the record is
 * counted as dropped. Safe from several threads, from a forked child,
 * and from a signal handler. A NULL writer is allowed. */
void trace_put(struct trace_writer *writer, const struct trace_record *record);
/* The same. Returns the address of the record's `count`, which may be raised for repetitions as
 * long as the writer is open; NULL if nothing was recorded. */
uint64_t *trace_put_counted(struct trace_writer *writer, const struct trace_record *record);

/* Returns false if a put of that kind does nothing. */
bool trace_wants(const struct trace_writer *writer, enum trace_kind kind);

/* Seals what was put, if there is a key; later puts are not recorded. Does nothing in a process
 * forked from the one that opened the writer: its records are sealed one by one, since such a
 * process may end at any time. */
void trace_end(struct trace_writer *writer);

void trace_writer_close(struct trace_writer *writer);

/* Copies `text` into a string field, cut to its size, always terminated. */
void trace_copy_string(char *field, size_t size, const char *text);

/* ---- reading ---------------------------------------------------------------------------- */

struct trace_key {
    uint64_t half[2];
};

/* Sums over records: as found in the file, or as counted by the writers. They differ if anybody
 * else wrote to the file. */
struct trace_sums {
    uint64_t records, code;
    uint64_t bytes;                        /* of all operations */
    uint64_t operations[TRACE_WHAT_COUNT]; /* number by enum trace_what */
};

struct trace {
    const struct trace_record *records; /* in the order of appending, without TRACE_NONE */
    size_t count;
    uint64_t dropped; /* records that did not fit into the file */
    /* Set if a key was given: */
    struct trace_sums found, put; /* as found in the file; as counted by the writers */
    bool forged;                  /* the two differ */
};

/* Reads and checks the file at `path`. On success returns 0 and fills `trace` (release with
 * trace_free). On failure returns -1 and a sentence in `why` (at most why_size bytes). */
int trace_read(const char *path, struct trace *trace, char *why, size_t why_size);
/* The same for a descriptor, which stays open. `key`: the key given to the writers, or NULL. */
int trace_read_descriptor(int file, const struct trace_key *key, struct trace *trace, char *why,
                          size_t why_size);
void trace_free(struct trace *trace);

/* A TRACE_STACK holds up to TRACE_STACK_DEPTH return addresses, innermost first. An entry with
 * TRACE_LINE_ADDRESS set holds the number of a TRACE_LINE instead. Both functions return the number
 * of entries. */
#define TRACE_LINE_ADDRESS (UINT64_C(1) << 63)
#define TRACE_STACK_DEPTH (TRACE_TEXT_SIZE / sizeof(uint64_t))
size_t trace_stack_set(struct trace_record *record, const uint64_t *addresses, size_t count);
size_t trace_stack_addresses(const struct trace_record *record,
                             uint64_t addresses[TRACE_STACK_DEPTH]);

#endif
