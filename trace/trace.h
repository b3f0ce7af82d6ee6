/* trace: the record of what a submission did, written by whoever saw it (the software device, the
 * recorder on a real GPU, the runner's drive) and read by the grader.
 *
 * It is one file of fixed-size records behind a small header. A writer maps the file shared and
 * appends with one atomic increment, so that several threads and several processes (a submission
 * may fork) write to the same file and nothing that was written is lost when a process is killed.
 *
 * The reader trusts nothing: the file was writable by student code. It copies the file, bounds
 * every count, forces every string to end, and refuses what is not a trace. It never decides
 * whether the submission was right; that is the checks' work.
 */
#ifndef OVERLAP_TRACE_TRACE_H
#define OVERLAP_TRACE_TRACE_H

#include "trace/record.h"

/* The environment variable that holds the path of the trace file. Unset or empty: nothing is
 * recorded, and every put is a no-op. */
#define TRACE_PATH_VARIABLE "OVERLAP_TRACE"

/* TRACE_SETTINGs of the recorder on a GPU: "on", or "refused: " and why; and, with their number,
 * the operations of which there is no record. */
#define RECORDER_SETTING "recorder"
#define RECORDER_DROPPED "recorder dropped"
#define RECORDER_UNSTAMPED "recorder unstamped"

/* The environment variable with the record's key (trace/seal.h), 32 hexadecimal digits. Unset: the
 * record is not sealed. */
#define TRACE_KEY_VARIABLE "OVERLAP_TRACE_KEY"

#define TRACE_MAGIC 0x4352544c5256304full
#define TRACE_VERSION 6u
#define TRACE_DEFAULT_CAPACITY (1u << 17) /* records; the file is sparse until they are written */
/* ---- writing ---------------------------------------------------------------------------- */

struct trace_writer;

/* Creates the file at `path` with room for `capacity` records (0: the default), replacing an old
 * one. Returns 0, or -1 with errno. The grader calls it before it starts the runner. */
int trace_create(const char *path, uint32_t capacity);

/* The same for records of these kinds alone (a set of TRACE_KIND_BIT); put drops the others. What
 * trace_create makes takes all but TRACE_STACK, which costs a walk up the stack per record. */
int trace_create_for(const char *path, uint32_t capacity, uint32_t kinds);

/* The same in memory, where nobody can replace it or change its size. Returns the descriptor, which
 * the writer opens as /proc/self/fd/N, or -1 with errno. */
int trace_create_in_memory(uint32_t capacity, uint32_t kinds);

/* Opens the file named by TRACE_PATH_VARIABLE for appending. Returns NULL when the variable is
 * unset, or when the file is not a trace (errno says why). Owned by the caller. */
struct trace_writer *trace_open_from_environment(void);

/* Appends a copy of `record`; process, thread and the order of appending are filled in. When the
 * file is full the record is counted as dropped. Safe from several threads, from a forked child,
 * and from a signal handler. A NULL writer is allowed. */
void trace_put(struct trace_writer *writer, const struct trace_record *record);
/* The same. Returns where the record's `count` is, to be raised when the same is seen again, as
 * long as the writer is open; NULL when nothing was recorded. */
uint64_t *trace_put_counted(struct trace_writer *writer, const struct trace_record *record);

/* False where a put of that kind does nothing. */
bool trace_wants(const struct trace_writer *writer, enum trace_kind kind);

/* Seals what was put, where there is a key; what is put afterwards is not recorded. Does nothing in
 * a process that was forked from the one that opened it: what is put there is sealed at once, since
 * it may end at any time. */
void trace_end(struct trace_writer *writer);

void trace_writer_close(struct trace_writer *writer);

/* Copies `text` into a record's string field, cut at its size, always ended. */
void trace_copy_string(char *field, size_t size, const char *text);

/* ---- reading ---------------------------------------------------------------------------- */

struct trace_key {
    uint64_t half[2];
};

/* What there is, or what was put: the same unless somebody else wrote. */
struct trace_sums {
    uint64_t records, code;
    uint64_t bytes;                        /* of all operations */
    uint64_t operations[TRACE_WHAT_COUNT]; /* by what they are */
};

struct trace {
    const struct trace_record *records; /* in the order of appending, TRACE_NONE already left out */
    size_t count;
    uint64_t dropped; /* records that did not fit: what is missing is not known */
    /* Read with a key: */
    struct trace_sums found, put; /* in the file; by the writers' own count */
    bool forged;                  /* the two are not the same */
};

/* Reads and checks the file at `path`. On success returns 0 and fills `trace` (release with
 * trace_free). On failure returns -1 and a sentence in `why` (at most why_size bytes). */
int trace_read(const char *path, struct trace *trace, char *why, size_t why_size);
/* The same of a descriptor, which stays open. `key`: what its writers were given, or NULL. */
int trace_read_descriptor(int file, const struct trace_key *key, struct trace *trace, char *why,
                          size_t why_size);
void trace_free(struct trace *trace);

/* A TRACE_STACK keeps up to TRACE_STACK_DEPTH return addresses, the innermost first; in place of
 * one, TRACE_LINE_ADDRESS and the number of a TRACE_LINE. Both return how many there are. */
#define TRACE_LINE_ADDRESS (UINT64_C(1) << 63)
#define TRACE_STACK_DEPTH (TRACE_TEXT_SIZE / sizeof(uint64_t))
size_t trace_stack_set(struct trace_record *record, const uint64_t *addresses, size_t count);
size_t trace_stack_addresses(const struct trace_record *record,
                             uint64_t addresses[TRACE_STACK_DEPTH]);

#endif
