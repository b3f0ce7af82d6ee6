/* A finding: something wrong that a device saw, as data; or advice: something that works on GPUs
 * but that no documentation promises. TRACE_FINDING and TRACE_ADVICE records carry it. Only
 * trace/sentence.h makes English of it, from a row of trace/findings.def and these fields.
 *
 * A finding has up to two sides: the first, where the finding is (the record's caller, name, stream
 * and stack belong to it), and the second, such as the access that the first one is not ordered
 * against. Fields that do not apply are 0. Addresses of calls are return addresses in the traced
 * process.
 */
#ifndef OVERLAP_TRACE_FINDING_H
#define OVERLAP_TRACE_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/finding_kind.h"

struct trace_record;

enum trace_access {
    ACCESS_NONE,
    ACCESS_READ,
    ACCESS_WRITE,
    ACCESS_ATOMIC,
    ACCESS_FREE,
    ACCESS_COUNT
};

/* Which of two arguments of a call is meant. */
enum trace_role { ROLE_NONE, ROLE_SOURCE, ROLE_DESTINATION, ROLE_FIRST, ROLE_SECOND, ROLE_COUNT };

enum trace_in_stream { STREAM_NONE, STREAM_DEFAULT, STREAM_CREATED, STREAM_COUNT };

/* One side: the host or an operation that does something. Its name and file are among the words. */
struct trace_side {
    uint8_t what;     /* enum trace_what: kernel, copy, ...; TRACE_WHAT_NONE: the host */
    uint8_t from, to; /* enum trace_place, for a copy */
    uint8_t access;   /* enum trace_access */
    uint8_t stream;   /* enum trace_in_stream */
    uint8_t known;    /* 1: `block` and `thread` are known; else 0 */
    uint16_t role;    /* enum trace_role of the call's argument */
    uint32_t block[3], thread[3];
    uint32_t line;        /* of device code; 0: unknown */
    uint32_t stack;       /* the TRACE_STACK of `call`; for the first side: the record's */
    uint64_t call;        /* the submitting call; for the first side: the record's caller */
    uint64_t stream_call; /* the call that created the stream */
};

enum trace_thing_kind {
    THING_NONE,
    THING_CONTEXT, /* enum object_kind of the driver, plus one */
    THING_STREAM,
    THING_EVENT,
    THING_MODULE,
    THING_FUNCTION,
    THING_LIBRARY,
    THING_KERNEL,
    THING_POOL,
    THING_GRAPH,
    THING_GRAPH_NODE,
    THING_GRAPH_EXEC,
    THING_USER,
    THING_LINK,
    THING_ARRAY,
    THING_TEXTURE,
    THING_ALLOCATION,
    THING_DEVICE_MEMORY,
    THING_PINNED_MEMORY,
    THING_MANAGED_MEMORY,
    THING_VARIABLE,
    THING_HOST_MEMORY,
    THING_QUEUE, /* this and the next two, with contexts, kernels and events: OpenCL */
    THING_BUFFER,
    THING_PROGRAM,
    THING_COUNT
};

/* Where the record's address lies relative to the memory. */
enum trace_relation {
    RELATION_INSIDE,
    RELATION_NULL, /* from here on: not in memory, or not in live memory */
    RELATION_HOST,
    RELATION_NOWHERE,
    RELATION_FREED,
    RELATION_OUTSIDE,
    RELATION_COUNT
};

/* An object or memory that the finding's sentence mentions. */
struct trace_thing {
    uint32_t kind;     /* enum trace_thing_kind */
    uint32_t relation; /* enum trace_relation, for memory */
    uint64_t id;       /* as in its TRACE_CREATE */
    uint64_t address, size;
    uint64_t made, ended; /* return addresses; 0: unknown, or not ended */
};

/* What threads wait for: other threads, or a barrier object in shared memory. */
enum trace_waits { WAITS_IN_BLOCK, WAITS_IN_WARP, WAITS_IN_CLUSTER, WAITS_FOR_OBJECT, WAITS_COUNT };

/* Threads of a block that wait at one line of device code. */
struct trace_waiters {
    uint32_t line;
    uint16_t threads; /* 0: unused entry */
    uint8_t where;    /* enum trace_waits */
    uint8_t unused;
};

/* Strings stored one after another, each NUL-terminated. */
enum trace_word { WORD_FILE, WORD_OTHER_NAME, WORD_OTHER_FILE, WORD_DETAIL, WORD_COUNT };

enum { TRACE_SIDES = 2, TRACE_THINGS = 3, TRACE_WAITERS = 3, TRACE_NUMBERS = 9 };
enum { TRACE_WORDS_SIZE = 408 };

struct trace_finding {
    uint32_t id;           /* enum trace_finding_id */
    uint32_t other_stream; /* stream of the second side, as in its TRACE_CREATE; 0: unknown */
    struct trace_side sides[TRACE_SIDES];
    struct trace_thing things[TRACE_THINGS];
    uint64_t numbers[TRACE_NUMBERS]; /* their meaning depends on the sentence */
    struct trace_waiters waiters[TRACE_WAITERS];
    char words[TRACE_WORDS_SIZE];
};

/* Returns a word; "" if it is not set. The finding owns the string. */
const char *trace_finding_word(const struct trace_finding *finding, enum trace_word word);
/* Sets a word, cut if there is no room; NULL: none. */
void trace_finding_word_set(struct trace_finding *finding, enum trace_word word, const char *text);

/* For readers: returns true if a writer could have written this finding. Terminates its strings. */
bool trace_finding_is_sound(struct trace_finding *finding);

/* ---- calls that a finding names besides its own --------------------------------------------- */

struct trace_call {
    uint64_t address; /* return address */
    uint32_t stack;   /* its TRACE_STACK; 0: unknown */
    uint64_t object;  /* object that the call created, as in TRACE_CREATE; 0: none known */
    bool ended;       /* the call ended the object instead of creating it */
};
enum { TRACE_CALLS = 1 + 2 * TRACE_THINGS + TRACE_SIDES };
/* Lists the calls: first the second side's, then those that created and ended things, then those
 * that created streams. Returns their number. */
size_t trace_finding_calls(const struct trace_record *record, struct trace_call calls[TRACE_CALLS]);

#endif
