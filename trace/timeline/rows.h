/* rows: shared by the renderers of a timeline: its parts, their rows, and the operations in them.
 * Private to this folder. */
#ifndef OVERLAP_TRACE_TIMELINE_ROWS_H
#define OVERLAP_TRACE_TIMELINE_ROWS_H

#include "trace/timeline/timeline.h"

struct slice {
    const struct trace_record *record;
    size_t part, row; /* row of its stream */
};

/* A row for a stream of a context, or an additional row where operations of one stream overlap. */
struct row {
    size_t part;
    uint32_t process;
    uint64_t context, stream;
    unsigned lane; /* 0; 1 and more: additional rows of the same stream */
    uint64_t until;
    size_t holder; /* number of its context among those of all parts */
};

struct part {
    char name[64];
    uint64_t first, last; /* time range of its operations */
    size_t first_slice, slice_count;
    size_t first_row, row_count;
    size_t contexts;
};

struct trace_timeline {
    struct part *parts;
    struct slice *slices; /* sorted by part and start, once arranged */
    struct row *rows;
    size_t part_count, slice_count, slice_room, row_count;
    size_t holder_count; /* contexts of all parts */
    uint64_t span;       /* duration of the longest part; at least 1 */
    bool arranged;
};

/* Sorts what was added and assigns rows. Returns 0, or -1: no memory. */
int timeline_arrange(struct trace_timeline *timeline);

/* An engine: a class of operations that share a hardware unit. */
enum timeline_engine { ENGINE_IN, ENGINE_KERNELS, ENGINE_OUT, ENGINE_OTHER, ENGINE_COUNT };
enum timeline_engine timeline_engine_of(const struct trace_record *record);
const char *timeline_engine_name(enum timeline_engine engine);

/* Writes "copy, pinned to device", or the kernel's name. The text may come from student code, so
 * characters with a meaning in JSON and XML are left out. */
void timeline_name(const struct trace_record *record, char *text, size_t size);
/* Writes "stream 2", or "context 3, stream 2" if the part has several contexts. */
void timeline_row_name(const struct trace_timeline *timeline, const struct row *row, char *text,
                       size_t size);

static inline double timeline_microseconds(uint64_t ns)
{
    return (double)ns * 1e-3;
}

#endif
