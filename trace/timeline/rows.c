#include "trace/timeline/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct trace_timeline *trace_timeline_open(void)
{
    struct trace_timeline *timeline = calloc(1, sizeof *timeline);
    if (timeline != NULL) timeline->span = 1;
    return timeline;
}

void trace_timeline_close(struct trace_timeline *timeline)
{
    if (timeline == NULL) return;
    free(timeline->parts);
    free(timeline->slices);
    free(timeline->rows);
    free(timeline);
}

int trace_timeline_begin_part(struct trace_timeline *timeline, const char *name)
{
    struct part *grown =
        realloc(timeline->parts, (timeline->part_count + 1) * sizeof *timeline->parts);
    if (grown == NULL) return -1;
    timeline->parts = grown;
    struct part *part = &grown[timeline->part_count++];
    *part = (struct part){.first = UINT64_MAX};
    trace_copy_string(part->name, sizeof part->name, name);
    return 0;
}

static bool is_shown(const struct trace_record *r)
{
    return r->kind == TRACE_OPERATION && r->end_ns > r->start_ns &&
           (r->what == TRACE_KERNEL || r->what == TRACE_COPY || r->what == TRACE_SET ||
            r->what == TRACE_HOST_FUNCTION);
}

int trace_timeline_add(struct trace_timeline *timeline, const struct trace_record *record)
{
    if (!is_shown(record)) return 0;
    if (timeline->part_count == 0 && trace_timeline_begin_part(timeline, "") != 0) return -1;
    if (timeline->slice_count == timeline->slice_room) {
        const size_t room = timeline->slice_room * 2 + 64;
        struct slice *grown = realloc(timeline->slices, room * sizeof *grown);
        if (grown == NULL) return -1;
        timeline->slices = grown;
        timeline->slice_room = room;
    }
    struct part *part = &timeline->parts[timeline->part_count - 1];
    timeline->slices[timeline->slice_count++] =
        (struct slice){.record = record, .part = timeline->part_count - 1};
    if (record->start_ns < part->first) part->first = record->start_ns;
    if (record->end_ns > part->last) part->last = record->end_ns;
    if (part->last - part->first > timeline->span) timeline->span = part->last - part->first;
    timeline->arranged = false;
    return 0;
}

int trace_timeline_add_trace(struct trace_timeline *timeline, const char *name,
                             const struct trace *trace)
{
    int result = trace_timeline_begin_part(timeline, name);
    for (size_t i = 0; i < trace->count && result == 0; i++)
        result = trace_timeline_add(timeline, &trace->records[i]);
    return result;
}

size_t trace_timeline_count(const struct trace_timeline *timeline)
{
    return timeline->slice_count;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int compare_slices(const void *a, const void *b)
{
    const struct slice *s = a, *t = b;
    if (s->part != t->part) return s->part < t->part ? -1 : 1;
    if (s->record->start_ns != t->record->start_ns)
        return s->record->start_ns < t->record->start_ns ? -1 : 1;
    return s->record < t->record ? -1 : s->record > t->record;
}

/* The row of the record's stream that is free at its start; a new one if none is. */
static size_t find_row(struct trace_timeline *timeline, size_t part, const struct trace_record *r)
{
    struct part *of = &timeline->parts[part];
    size_t holder = timeline->holder_count;
    unsigned lane = 0;

    for (size_t i = of->first_row; i < timeline->row_count; i++) {
        struct row *row = &timeline->rows[i];
        if (row->process != r->process || row->context != r->context) continue;
        holder = row->holder;
        if (row->stream != r->stream) continue;
        lane++;
        if (row->until > r->start_ns) continue;
        row->until = r->end_ns;
        return i;
    }
    if (holder == timeline->holder_count) {
        timeline->holder_count++;
        of->contexts++;
    }
    timeline->rows[timeline->row_count] =
        (struct row){part, r->process, r->context, r->stream, lane, r->end_ns, holder};
    of->row_count++;
    return timeline->row_count++;
}

int timeline_arrange(struct trace_timeline *timeline)
{
    if (timeline->arranged) return 0;
    free(timeline->rows);
    timeline->rows = calloc(timeline->slice_count + 1, sizeof *timeline->rows);
    timeline->row_count = timeline->holder_count = 0;
    if (timeline->rows == NULL) return -1;
    if (timeline->slice_count > 0)
        qsort(timeline->slices, timeline->slice_count, sizeof *timeline->slices, compare_slices);
    size_t at = 0;
    for (size_t i = 0; i < timeline->part_count; i++) {
        struct part *part = &timeline->parts[i];
        part->first_slice = at;
        part->first_row = timeline->row_count;
        part->row_count = part->contexts = 0;
        for (; at < timeline->slice_count && timeline->slices[at].part == i; at++)
            timeline->slices[at].row = find_row(timeline, i, timeline->slices[at].record);
        part->slice_count = at - part->first_slice;
    }
    timeline->arranged = true;
    return 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

enum timeline_engine timeline_engine_of(const struct trace_record *record)
{
    if (record->what == TRACE_KERNEL) return ENGINE_KERNELS;
    if (record->what != TRACE_COPY || record->from == record->to) return ENGINE_OTHER;
    if (record->to == TRACE_DEVICE) return ENGINE_IN;
    return record->from == TRACE_DEVICE ? ENGINE_OUT : ENGINE_OTHER;
}

const char *timeline_engine_name(enum timeline_engine engine)
{
    static const char *const names[ENGINE_COUNT] = {
        [ENGINE_IN] = "H2D",
        [ENGINE_KERNELS] = "kernels",
        [ENGINE_OUT] = "D2H",
        [ENGINE_OTHER] = "other",
    };
    return names[engine];
}

void timeline_name(const struct trace_record *r, char *text, size_t size)
{
    if (r->what == TRACE_COPY && r->from != 0 && r->to != 0)
        snprintf(text, size, "copy, %s to %s", trace_place_name(r->from), trace_place_name(r->to));
    else if (r->name[0] != '\0')
        snprintf(text, size, "%.*s", TRACE_NAME_SIZE, r->name);
    else
        snprintf(text, size, "%s", trace_what_name(r->what));
    for (char *c = text; *c != '\0'; c++)
        if (strchr("\"\\<>&", *c) != NULL || (unsigned char)*c < ' ' || (unsigned char)*c > '~')
            *c = '?';
}

void timeline_row_name(const struct trace_timeline *timeline, const struct row *row, char *text,
                       size_t size)
{
    int used = 0;
    if (timeline->parts[row->part].contexts > 1)
        used = snprintf(text, size, "context %" PRIu64 ", ", row->context);
    used += snprintf(text + used, size - (size_t)used, "stream %" PRIu64, row->stream);
    if (row->lane > 0) snprintf(text + used, size - (size_t)used, " (%u)", row->lane + 1);
}
