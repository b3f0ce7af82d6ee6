/* query: what a judge asks of the evidence: which line a record comes from, which records there
 * are, and how much of two kinds of work ran at the same time. Changes nothing, keeps nothing.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_QUERY_H
#define OVERLAP_GRADER_EVIDENCE_QUERY_H

#include "grader/evidence/run_evidence.h"

/* A place in source code. */
struct place {
    char file[256]; /* as the student knows it: "lessons/02_streams/streams.c" */
    unsigned line;  /* 1-based; 0: unknown */
    char function[64];
    bool submission; /* true: in a file that the student wrote (not drive, not a kernel of ours) */
};

/* The innermost line of the submission's that led to the record: its own, or, where that lies in a
 * header or in one of ours, the one that called; of a finding also one that its sentence names. */
bool evidence_student_place(const struct evidence *evidence, const struct trace_record *record,
                            struct place *place);

/* Where `caller` (a record's field) is. Returns true when it is known. */
bool evidence_place(const struct evidence *evidence, const struct trace_record *record,
                    struct place *place);
/* Where the student's function of that name begins. */
bool evidence_function(const struct evidence *evidence, const char *function, struct place *place);
/* The record was caused by a line of the student's own files. */
bool evidence_by_submission(const struct evidence *evidence, const struct trace_record *record);

/* A phase of the drive. Operations belong to the phase in which they were asked for, whenever the
 * device runs them. */
struct phase {
    size_t first, last;        /* indices of the two marks in trace.records */
    uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC; never compared with a device's clock */
};
/* Finds the index-th phase of that name. False: the drive never began or never ended it. */
bool evidence_phase(const struct evidence *evidence, const char *name, uint32_t index,
                    struct phase *phase);

/* Which records one asks for; a field left 0 or NULL matches all. */
struct query {
    const struct phase *phase; /* only those asked for in it */
    uint32_t kind;             /* TRACE_CALL, TRACE_OPERATION, TRACE_CREATE ... */
    uint32_t what;             /* TRACE_KERNEL, TRACE_COPY, TRACE_STREAM ... */
    uint32_t from, to;         /* copies: TRACE_PINNED, TRACE_DEVICE ... */
    const char *name;          /* the API's name, or the kernel's; "cudaMemcpy*": a prefix */
    uint64_t stream, context, object;
    uint32_t process, thread;
    bool student; /* only those that the student's own files caused (evidence_by_submission) */
};
/* The next record that matches after `after` (NULL: the first), or NULL. */
const struct trace_record *evidence_next(const struct evidence *evidence, const struct query *query,
                                         const struct trace_record *after);
size_t evidence_count(const struct evidence *evidence, const struct query *query);
/* The CALL that asked for this OPERATION, or made or ended this object, or NULL. */
const struct trace_record *evidence_call_of(const struct evidence *evidence,
                                            const struct trace_record *record);
/* The first OPERATION that this CALL asked for, or NULL. */
const struct trace_record *evidence_operation_of(const struct evidence *evidence,
                                                 const struct trace_record *call);
/* The CREATE of the object that the record names (stream, object...), or NULL. */
const struct trace_record *evidence_creation(const struct evidence *evidence, uint32_t process,
                                             uint32_t what, uint64_t object);
/* The CALL that the device made to fail in this run, or NULL. */
const struct trace_record *evidence_made_to_fail(const struct evidence *evidence);
/* What is missing in the record of a run on a GPU, as a sentence; false: nothing. Who fails may
 * fail for that. */
bool evidence_gap(const struct evidence *evidence, char *text, size_t size);
/* The value of a TRACE_SETTING (its text), or NULL. */
const char *evidence_setting(const struct evidence *evidence, const char *key);

/* Device time spent on two classes of operations, by the device's clock: merged intervals. */
struct overlap {
    uint64_t a_ns, b_ns; /* time in which at least one of the class was running */
    uint64_t both_ns;    /* at least one of each (for a == b: at least two) */
    uint64_t a_sum_ns;   /* sum of the durations: a_sum / a = how many at once, on average */
    uint64_t b_sum_ns;
    uint64_t span_ns; /* first start to last end of either */
    size_t a_count, b_count;
};
/* `a` and `b` are queries for operations; b NULL: the class a against itself. */
struct overlap evidence_overlap(const struct evidence *evidence, const struct query *a,
                                const struct query *b);

#endif
