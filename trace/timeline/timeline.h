/* trace_timeline: when the device did what, as a picture: in a terminal, for Perfetto
 * (ui.perfetto.dev) or Chrome, or as an SVG for a slide. The one renderer of timelines, over the
 * records of traces alone.
 *
 * A picture has parts, one for each run that is shown, on one scale and each from its own
 * beginning. A part has rows: its engines (the copies of each direction, the kernels), and each
 * stream of each context. It judges nothing, and leaves out what has no time.
 */
#ifndef OVERLAP_TRACE_TIMELINE_H
#define OVERLAP_TRACE_TIMELINE_H

#include "trace/trace.h"

#include <stdio.h>

struct trace_timeline;

/* Owned by the caller. NULL: no memory. */
struct trace_timeline *trace_timeline_open(void);
void trace_timeline_close(struct trace_timeline *timeline);

/* Begins a part. `name`: whose it is, copied; "": the only one. Returns 0 or -1: no memory. */
int trace_timeline_begin_part(struct trace_timeline *timeline, const char *name);
/* Adds a record to the part that was begun last, if it is an operation that took time. The record
 * has to live as long as the timeline. Returns 0 or -1: no memory. */
int trace_timeline_add(struct trace_timeline *timeline, const struct trace_record *record);
/* All of a trace, as one part. */
int trace_timeline_add_trace(struct trace_timeline *timeline, const char *name,
                             const struct trace *trace);

size_t trace_timeline_count(const struct trace_timeline *timeline); /* operations, of all parts */

/* Each of these draws what was added. Nothing is drawn when memory runs out. */

/* Chrome's trace event format: complete events, in microseconds; a process for each context, a
 * thread for each stream. Operations of one stream that overlap, which a stream's do not and
 * records of a clock's accuracy may, get a thread each: readers refuse slices that overlap in part.
 */
void trace_timeline_json(struct trace_timeline *timeline, FILE *file);

/* `width` in pixels. */
void trace_timeline_svg(struct trace_timeline *timeline, unsigned width, FILE *file);

struct trace_timeline_text {
    unsigned width;   /* columns of the terminal; no line is longer */
    unsigned streams; /* rows for streams, of each part, at most; 0: the engines alone */
    bool utf8;        /* else ASCII */
};
/* A cell of an engine says how many operations run in it: 1 to 9, + for more; in UTF-8 the height
 * of a bar. A cell of a stream says what it does most of: > copied in, # kernel, < copied out, =
 * other. Behind each row: how much of the time something runs, and of the engines how many at most.
 */
/* The four signs of a stream's cells, in the order above. */
const char *const *trace_timeline_signs(bool utf8);
void trace_timeline_print(struct trace_timeline *timeline, const struct trace_timeline_text *text,
                          FILE *file);

#endif
