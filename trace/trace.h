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
 *
 * Times: `start_ns`/`end_ns` are nanoseconds on the clock of the device that the record comes from
 * (the virtual clock of the software device, CUPTI's clock on a GPU), except in TRACE_MARK, where
 * they are CLOCK_MONOTONIC of the host, as in `ran_ns`. The two clocks are never compared with each
 * other.
 */
#ifndef OVERLAP_TRACE_TRACE_H
#define OVERLAP_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/finding.h"

/* The environment variable that holds the path of the trace file. Unset or empty: nothing is
 * recorded, and every put is a no-op. */
#define TRACE_PATH_VARIABLE "OVERLAP_TRACE"

/* The environment variable with the record's key (trace/seal.h), 32 hexadecimal digits. Unset: the
 * record is not sealed. */
#define TRACE_KEY_VARIABLE "OVERLAP_TRACE_KEY"

#define TRACE_MAGIC 0x4352544c5256304full
#define TRACE_VERSION 5u
#define TRACE_DEFAULT_CAPACITY (1u << 17) /* records; the file is sparse until they are written */
#define TRACE_NAME_SIZE 64
#define TRACE_TEXT_SIZE 512

enum trace_kind {
    TRACE_NONE = 0,  /* reserved but not (completely) written: the writer died in between */
    TRACE_MODULE,    /* a file mapped into the process: address = load base, text = path */
    TRACE_MARK,      /* a phase of the drive: name, object = its number, flags TRACE_BEGIN/END */
    TRACE_CALL,      /* one public API call made by the submission, written when it returns */
    TRACE_CREATE,    /* an object came to be: what, object; address/bytes for memory */
    TRACE_DESTROY,   /* and ended */
    TRACE_OPERATION, /* work done on the device: what, stream, start, end, bytes, from/to */
    TRACE_FINDING,   /* something wrong that the device saw: name = who, finding */
    TRACE_SETTING,   /* a fact about the device: name = key, text = value (or bytes = number) */
    TRACE_STACK,     /* the calls that led to one: object = its number, see trace_stack_addresses */
    TRACE_HOST_CALL, /* a call of the C library's that can be made to fail: threads/refusals.h */
    TRACE_SEAL,      /* what a writer has put (trace/seal.h); no reader is shown one */
    TRACE_ADVICE,    /* as a finding: right on GPUs, promised by nobody */
    TRACE_KIND_COUNT
};

/* Sets of kinds: what a trace is wanted for. */
#define TRACE_KIND_BIT(kind) (1u << (kind))
#define TRACE_ALL_KINDS (TRACE_KIND_BIT(TRACE_KIND_COUNT) - 1u)

/* What a CREATE, DESTROY or OPERATION record is about. */
enum trace_what {
    TRACE_WHAT_NONE = 0,
    TRACE_CONTEXT,
    TRACE_STREAM,
    TRACE_EVENT,
    TRACE_LIBRARY, /* a loaded module (CUmodule, CUlibrary) */
    TRACE_DEVICE_MEMORY,
    TRACE_PINNED_MEMORY,
    TRACE_MANAGED_MEMORY,
    TRACE_THREAD, /* of the host; ended: joined or detached */
    TRACE_KERNEL, /* from here on: operations */
    TRACE_COPY,
    TRACE_SET,
    TRACE_HOST_FUNCTION,
    TRACE_EVENT_RECORD, /* start = end = the time the event was reached; object = event id */
    TRACE_EVENT_WAIT,   /* a stream waited for an event; object = event id */
    TRACE_WHAT_COUNT
};

/* Where a copy reads from and writes to. */
enum trace_place {
    TRACE_PLACE_NONE = 0,
    TRACE_PAGEABLE,
    TRACE_PINNED,
    TRACE_DEVICE,
    TRACE_MANAGED,
    TRACE_ARRAY,
    TRACE_PLACE_COUNT
};

enum trace_flag {
    TRACE_BEGIN = 1u << 0,    /* MARK */
    TRACE_END = 1u << 1,      /* MARK */
    TRACE_ASYNC = 1u << 2,    /* CALL, OPERATION: the call that asked for it was asynchronous */
    TRACE_DRIVER = 1u << 3,   /* CALL: of the driver API */
    TRACE_IMPLICIT = 1u << 4, /* CREATE, DESTROY: by the device itself (primary context,
                                 default stream, a context's end taking its streams along) */
    TRACE_TIMING_DISABLED = 1u << 5, /* CREATE of an event */
    TRACE_NON_BLOCKING = 1u << 6,    /* CREATE of a stream */
    TRACE_CAN_FAIL = 1u << 7,        /* CALL, HOST_CALL: one that can be made to fail */
    TRACE_MADE_TO_FAIL = 1u << 8,    /* CALL, HOST_CALL: it was, and did nothing else: text = as if
                                        what */
    TRACE_DETACHED = 1u << 9,        /* DESTROY of a thread: nobody waited for its end */
};

/* Identifiers: 0 is "none"; otherwise small numbers, given once per process and never reused, so
 * that a new stream at an old handle's address is another stream. The default streams have ids too.
 */
struct trace_record {
    uint32_t kind;  /* enum trace_kind; written last, with release */
    uint32_t what;  /* enum trace_what */
    uint32_t flags; /* enum trace_flag */
    uint32_t from;  /* enum trace_place */
    uint32_t to;    /* enum trace_place */
    int32_t code;   /* CALL: cudaError_t or CUresult. FINDING: the error it will be returned as */
    uint32_t process;
    uint32_t thread;
    uint64_t context;
    uint64_t stream;
    uint64_t object;  /* CREATE/DESTROY: the object; CALL: the event or other object it names */
    uint64_t request; /* correlation: the CALL and the OPERATION that it asked for share it */
    uint64_t start_ns;
    uint64_t end_ns;
    uint64_t
        ran_ns; /* OPERATION of the software device: CLOCK_MONOTONIC when it was done; else 0 */
    uint64_t bytes;
    uint64_t address;
    uint64_t caller; /* return address into the submission's code; 0 where unknown */
    uint64_t count;  /* OPERATION kernel: threads in the grid; FINDING: times it was seen; CREATE of
                        a thread: its number, as in `thread`, or 0: it has not begun; DESTROY of a
                        detached thread: 1: long after the function's end it had not ended */
    uint32_t unused;
    uint32_t stack; /* object of the TRACE_STACK with the calls up to `caller`; 0: not recorded */
    char name[TRACE_NAME_SIZE]; /* CALL: the API's name without version suffix; kernel's name */
    union {
        char text[TRACE_TEXT_SIZE];
        struct trace_finding finding;                       /* FINDING, ADVICE */
        uint64_t calls[TRACE_TEXT_SIZE / sizeof(uint64_t)]; /* STACK */
    };
};

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

/* A TRACE_STACK keeps up to TRACE_STACK_DEPTH return addresses, the innermost first. Both return
 * how many there are. */
#define TRACE_STACK_DEPTH (TRACE_TEXT_SIZE / sizeof(uint64_t))
size_t trace_stack_set(struct trace_record *record, const uint64_t *addresses, size_t count);
size_t trace_stack_addresses(const struct trace_record *record,
                             uint64_t addresses[TRACE_STACK_DEPTH]);

/* The English names used in messages and in dumps: "kernel", "copy", "pinned", ... */
const char *trace_kind_name(uint32_t kind);
const char *trace_what_name(uint32_t what);
const char *trace_place_name(uint32_t place);

/* How one speaks of an object that a program makes and gives back: "a stream" is created and
 * destroyed. NULL: `what` is none. */
struct trace_held {
    const char *one, *made, *ended; /* "a stream", "created", "destroyed" */
    const char *by;                 /* the call that ends it */
    const char *why;                /* it matters that it is ended */
};
const struct trace_held *trace_held(uint32_t what);

/* "A stream that was created here was never destroyed.", "3 times device memory (96 bytes) that was
 * allocated here was never released."; empty for what is no such object.
 * `words` as in struct trace_places. */
void trace_leak_sentence(uint32_t what, uint64_t count, uint64_t bytes,
                         const char *(*words)(const char *), char *text, size_t size);

#endif
