/* trace_timeline: draws what the device did over time: in a terminal, for Perfetto
 * (ui.perfetto.dev) or Chrome, or as an SVG. All timelines are drawn by this module, from trace
 * records alone.
 *
 * A picture has one part per run, all on one scale, each starting at its own beginning. A part has
 * rows: one per engine (copies of each direction, kernels) and one per stream of each context.
 * Operations without times are left out.
 */
#ifndef OVERLAP_TRACE_TIMELINE_H
#define OVERLAP_TRACE_TIMELINE_H

#include "trace/trace.h"

#include <stdio.h>

struct trace_timeline;

/* Owned by the caller. NULL: no memory. */
struct trace_timeline *trace_timeline_open(void);
void trace_timeline_close(struct trace_timeline *timeline);

/* Begins a part. `name` is copied; "": the only part. Returns 0, or -1: no memory. */
int trace_timeline_begin_part(struct trace_timeline *timeline, const char *name);
/* Adds a record to the latest part, if it is an operation that took time. The record must live as
 * long as the timeline. Returns 0, or -1: no memory. */
int trace_timeline_add(struct trace_timeline *timeline, const struct trace_record *record);
/* Adds all records of a trace, as one part. */
int trace_timeline_add_trace(struct trace_timeline *timeline, const char *name,
                             const struct trace *trace);

size_t trace_timeline_count(const struct trace_timeline *timeline); /* operations, of all parts */

/* Each of the following functions draws what was added, and nothing if memory runs out. */

/* Writes Chrome's trace event format: complete events, in microseconds; a process per context, a
 * thread per stream. Operations of one stream that overlap (possible only through clock inaccuracy)
 * get threads of their own, since readers refuse slices that overlap partially.
 */
void trace_timeline_json(struct trace_timeline *timeline, FILE *file);

/* `width` in pixels. */
void trace_timeline_svg(struct trace_timeline *timeline, unsigned width, FILE *file);

struct trace_timeline_text {
    unsigned width;   /* columns of the terminal; no line is longer */
    unsigned streams; /* most rows of streams per part; 0: engines only */
    bool utf8;        /* else ASCII */
};
/* Draws for a terminal. A cell of an engine shows how many operations run in it: 1 to 9, + for
 * more; in UTF-8 the height of a bar. A cell of a stream shows the predominant operation: > copied
 * in, # kernel, < copied out, = other. Behind each row: the fraction of the time in which something
 * runs and, for engines, the most operations at once.
 */
/* The four signs for a stream's cells, in the order above. */
const char *const *trace_timeline_signs(bool utf8);
void trace_timeline_print(struct trace_timeline *timeline, const struct trace_timeline_text *text,
                          FILE *file);

#endif
