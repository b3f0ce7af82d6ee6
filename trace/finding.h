/* A finding: something wrong that a device saw, as data; or advice: something that is right on GPUs
 * and promised by nobody. TRACE_FINDING and TRACE_ADVICE records carry it; nobody writes English
 * but trace/sentence.h, from a row of trace/findings.def and these fields.
 *
 * Two sides can be told of: this one, where the finding is (the record's caller, name, stream,
 * stack), and the other one, such as the access that this one is not ordered against. What does not
 * apply is 0. Addresses of calls are return addresses in the traced process.
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

/* Which of two that a call was given. */
enum trace_role { ROLE_NONE, ROLE_SOURCE, ROLE_DESTINATION, ROLE_FIRST, ROLE_SECOND, ROLE_COUNT };

enum trace_in_stream { STREAM_NONE, STREAM_DEFAULT, STREAM_CREATED, STREAM_COUNT };

/* Who does something. Its name and its file are among the words. */
struct trace_side {
    uint8_t what;     /* enum trace_what: kernel, copy, ...; TRACE_WHAT_NONE: the host */
    uint8_t from, to; /* enum trace_place, of a copy */
    uint8_t access;   /* enum trace_access */
    uint8_t stream;   /* enum trace_in_stream */
    uint8_t known;    /* `block` and `thread` are; 0 or 1 */
    uint16_t role;    /* enum trace_role, of what the call was given */
    uint32_t block[3], thread[3];
    uint32_t line;        /* of device code; 0: unknown */
    uint32_t stack;       /* the TRACE_STACK of `call`; of this side: the record's */
    uint64_t call;        /* that asked for it; of this side: the record's caller */
    uint64_t stream_call; /* that created the stream */
};

enum trace_thing_kind {
    THING_NONE,
    THING_CONTEXT, /* as enum object_kind of the driver, one more */
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
    THING_QUEUE, /* of OpenCL, with contexts, kernels and events */
    THING_BUFFER,
    THING_PROGRAM,
    THING_COUNT
};

/* Where the record's address is, seen from the memory. */
enum trace_relation {
    RELATION_INSIDE,
    RELATION_NULL, /* from here on: in no memory, or in none any more */
    RELATION_HOST,
    RELATION_NOWHERE,
    RELATION_FREED,
    RELATION_OUTSIDE,
    RELATION_COUNT
};

/* An object or memory that a finding speaks of. */
struct trace_thing {
    uint32_t kind;     /* enum trace_thing_kind */
    uint32_t relation; /* enum trace_relation, of memory */
    uint64_t id;       /* as in its TRACE_CREATE */
    uint64_t address, size;
    uint64_t made, ended; /* the calls; 0: unknown, or it has not ended */
};

/* For whom threads wait, or for what: a barrier object in shared memory. */
enum trace_waits { WAITS_IN_BLOCK, WAITS_IN_WARP, WAITS_IN_CLUSTER, WAITS_FOR_OBJECT, WAITS_COUNT };

/* Threads of a block that wait at one line of device code. */
struct trace_waiters {
    uint32_t line;
    uint16_t threads; /* 0: nobody */
    uint8_t where;    /* enum trace_waits */
    uint8_t unused;
};

/* Strings, one behind the other, each ended. */
enum trace_word { WORD_FILE, WORD_OTHER_NAME, WORD_OTHER_FILE, WORD_DETAIL, WORD_COUNT };

enum { TRACE_SIDES = 2, TRACE_THINGS = 3, TRACE_WAITERS = 3, TRACE_NUMBERS = 9 };
enum { TRACE_WORDS_SIZE = 408 };

struct trace_finding {
    uint32_t id;           /* enum trace_finding_id */
    uint32_t other_stream; /* of the other side, as in its TRACE_CREATE; 0: unknown */
    struct trace_side sides[TRACE_SIDES];
    struct trace_thing things[TRACE_THINGS];
    uint64_t numbers[TRACE_NUMBERS]; /* what they are, the sentence says */
    struct trace_waiters waiters[TRACE_WAITERS];
    char words[TRACE_WORDS_SIZE];
};

/* A word; "" where there is none. It belongs to the finding. */
const char *trace_finding_word(const struct trace_finding *finding, enum trace_word word);
/* Sets one, cut where there is no room; NULL: none. */
void trace_finding_word_set(struct trace_finding *finding, enum trace_word word, const char *text);

/* For the reader: whether a writer could have written it. Ends its strings. */
bool trace_finding_is_sound(struct trace_finding *finding);

/* ---- the calls that a finding names beside its own ------------------------------------------ */

struct trace_call {
    uint64_t address; /* of return */
    uint32_t stack;   /* its TRACE_STACK; 0: unknown */
    uint64_t object;  /* what the call made, as in TRACE_CREATE; 0: nothing that is known */
    bool ended;       /* the object, rather than made it */
};
enum { TRACE_CALLS = 1 + 2 * TRACE_THINGS + TRACE_SIDES };
/* The other side's first, then those that made and ended things, then those that made streams.
 * Returns how many. */
size_t trace_finding_calls(const struct trace_record *record, struct trace_call calls[TRACE_CALLS]);

#endif
