/* trace_timeline: when the device did what, as a picture: for Perfetto (ui.perfetto.dev) or Chrome,
 * or as an SVG for a slide. The renderer of the timelines, over the records of a trace alone.
 *
 * A row for each stream of each context. Operations of one row that overlap, which a stream's do
 * not and records of a clock's accuracy may, get a row each: readers refuse slices that overlap in
 * part. It judges nothing, and leaves out what has no time.
 */
#ifndef OVERLAP_TRACE_TIMELINE_H
#define OVERLAP_TRACE_TIMELINE_H

#include "trace/trace.h"

#include <stdio.h>

struct trace_timeline;

/* Owned by the caller; refers to the trace. NULL: no memory. */
struct trace_timeline *trace_timeline_open(const struct trace *trace);
void trace_timeline_close(struct trace_timeline *timeline);

size_t trace_timeline_count(const struct trace_timeline *timeline); /* operations */

/* Chrome's trace event format: complete events, in microseconds from the first. */
void trace_timeline_json(const struct trace_timeline *timeline, FILE *file);
/* `width` in pixels. */
void trace_timeline_svg(const struct trace_timeline *timeline, unsigned width, FILE *file);

#endif
