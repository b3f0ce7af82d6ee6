/* query: the questions that a judge asks of the evidence: which source line a record comes from,
 * which records there are, and how much of two kinds of work ran at the same time. A query changes
 * nothing and keeps no state.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_QUERY_H
#define OVERLAP_GRADER_EVIDENCE_QUERY_H

#include "grader/evidence/run_evidence.h"

/* A place in source code. */
struct place {
    char file[256]; /* as the student knows the file: "lessons/02_streams/streams.c" */
    unsigned line;  /* 1-based; 0: unknown */
    char function[64];
    bool submission; /* true: a file that the student wrote, not the drive or a kernel of the
                        project */
};

/* Finds the innermost line of the submission that led to the record: the record's own line, or,
 * where that is in a header or in a file of the project, the submission's line that called it. For
 * a finding, also a line that its sentence names. */
bool evidence_student_place(const struct evidence *evidence, const struct trace_record *record,
                            struct place *place);

/* Finds the source line of the record's `caller` address. Returns true when it is known. */
bool evidence_place(const struct evidence *evidence, const struct trace_record *record,
                    struct place *place);
/* Finds the line where the student's function of that name begins. */
bool evidence_function(const struct evidence *evidence, const char *function, struct place *place);
/* Returns true when a line of the student's own files caused the record. */
bool evidence_by_submission(const struct evidence *evidence, const struct trace_record *record);

/* A phase of the drive. An operation belongs to the phase in which it was asked for, whenever the
 * device runs it. */
struct phase {
    size_t first, last;        /* indices of the two marks in trace.records */
    uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC; never compared with a device's clock */
};
/* Finds the index-th phase of that name. False: the drive never began or never ended it. */
bool evidence_phase(const struct evidence *evidence, const char *name, uint32_t index,
                    struct phase *phase);

/* Selects records; a field left 0 or NULL matches all. */
struct query {
    const struct phase *phase; /* only records asked for in this phase */
    uint32_t kind;             /* TRACE_CALL, TRACE_OPERATION, TRACE_CREATE ... */
    uint32_t what;             /* TRACE_KERNEL, TRACE_COPY, TRACE_STREAM ... */
    uint32_t from, to;         /* copies: TRACE_PINNED, TRACE_DEVICE ... */
    const char *name; /* the API function's or the kernel's name; "cudaMemcpy*" matches a prefix */
    uint64_t stream, context, object;
    uint32_t process, thread;
    bool student; /* only records that the student's own files caused (evidence_by_submission) */
};
/* Returns the next record after `after` (NULL: from the start) that matches, or NULL. */
const struct trace_record *evidence_next(const struct evidence *evidence, const struct query *query,
                                         const struct trace_record *after);
size_t evidence_count(const struct evidence *evidence, const struct query *query);
/* Returns the CALL that asked for this OPERATION, or made or ended this object, or NULL. */
const struct trace_record *evidence_call_of(const struct evidence *evidence,
                                            const struct trace_record *record);
/* Returns the first OPERATION that this CALL asked for, or NULL. */
const struct trace_record *evidence_operation_of(const struct evidence *evidence,
                                                 const struct trace_record *call);
/* Returns the CREATE of the given object (a stream, an event, ...), or NULL. */
const struct trace_record *evidence_creation(const struct evidence *evidence, uint32_t process,
                                             uint32_t what, uint64_t object);
/* Returns the CALL that the device made to fail in this run, or NULL. */
const struct trace_record *evidence_made_to_fail(const struct evidence *evidence);
/* Writes, as a sentence, what is missing in the record of a run on a GPU; false: nothing. A check
 * that fails may fail for that reason. Operations without a time in a process whose kernel faulted
 * do not count: CUPTI has no times for what ended so, and the fault is the program's. */
bool evidence_gap(const struct evidence *evidence, char *text, size_t size);
/* Returns the value (the text) of the TRACE_SETTING `key`, or NULL. */
const char *evidence_setting(const struct evidence *evidence, const char *key);

/* Device time spent on two classes of operations, by the device's clock, from merged intervals. */
struct overlap {
    uint64_t a_ns, b_ns; /* time in which at least one operation of the class was running */
    uint64_t both_ns;    /* time with at least one of each (for a == b: at least two) */
    uint64_t a_sum_ns;   /* sum of the durations: a_sum / a = average number at once */
    uint64_t b_sum_ns;
    uint64_t span_ns; /* first start to last end of both classes */
    size_t a_count, b_count;
};
/* `a` and `b` are queries for operations; b NULL: class a is compared with itself. */
struct overlap evidence_overlap(const struct evidence *evidence, const struct query *a,
                                const struct query *b);

#endif
