/* rows: what the writers of a timeline share: its parts, their rows, and which operation is in
 * which. Nobody else includes it. */
#ifndef OVERLAP_TRACE_TIMELINE_ROWS_H
#define OVERLAP_TRACE_TIMELINE_ROWS_H

#include "trace/timeline/timeline.h"

struct slice {
    const struct trace_record *record;
    size_t part, row; /* the row of its stream */
};

/* A stream of a context, or, where operations of one overlap, one more of it. */
struct row {
    size_t part;
    uint32_t process;
    uint64_t context, stream;
    unsigned lane; /* 0; 1 and more: beside another of the same stream */
    uint64_t until;
    size_t holder; /* number of its context among all parts' */
};

struct part {
    char name[64];
    uint64_t first, last; /* of its operations */
    size_t first_slice, slice_count;
    size_t first_row, row_count;
    size_t contexts;
};

struct trace_timeline {
    struct part *parts;
    struct slice *slices; /* by part and start, once arranged */
    struct row *rows;
    size_t part_count, slice_count, slice_room, row_count;
    size_t holder_count; /* contexts of all parts */
    uint64_t span;       /* of the longest part; at least 1 */
    bool arranged;
};

/* Sorts what was added and finds the rows. Returns 0 or -1: no memory. */
int timeline_arrange(struct trace_timeline *timeline);

/* An engine: a class of operations that share one. */
enum timeline_engine { ENGINE_IN, ENGINE_KERNELS, ENGINE_OUT, ENGINE_OTHER, ENGINE_COUNT };
enum timeline_engine timeline_engine_of(const struct trace_record *record);
const char *timeline_engine_name(enum timeline_engine engine);

/* "copy, pinned to device", or the kernel's name. The text may come from student code: what JSON
 * and XML give a meaning is left out. */
void timeline_name(const struct trace_record *record, char *text, size_t size);
/* "stream 2", or "context 3, stream 2" where the part has several contexts. */
void timeline_row_name(const struct trace_timeline *timeline, const struct row *row, char *text,
                       size_t size);

static inline double timeline_microseconds(uint64_t ns)
{
    return (double)ns * 1e-3;
}

#endif
