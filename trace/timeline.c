#include "trace/timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct slice {
    const struct trace_record *record;
    size_t row;
};

struct row {
    uint32_t process;
    uint64_t context, stream;
    unsigned lane; /* 0; 1 and more: beside another of the same stream */
    uint64_t until;
};

struct trace_timeline {
    struct slice *slices; /* by start */
    struct row *rows;
    size_t count, row_count;
    uint64_t first, last;
};

static int compare_slices(const void *a, const void *b)
{
    const struct trace_record *x = ((const struct slice *)a)->record;
    const struct trace_record *y = ((const struct slice *)b)->record;
    if (x->start_ns != y->start_ns) return x->start_ns < y->start_ns ? -1 : 1;
    return x < y ? -1 : x > y;
}

static bool is_shown(const struct trace_record *r)
{
    return r->kind == TRACE_OPERATION && r->end_ns > r->start_ns &&
           (r->what == TRACE_KERNEL || r->what == TRACE_COPY || r->what == TRACE_SET ||
            r->what == TRACE_HOST_FUNCTION);
}

/* The row of the record's stream that is free at its start, a new one if none is. */
static size_t find_row(struct trace_timeline *timeline, const struct trace_record *r)
{
    unsigned lane = 0;

    for (size_t i = 0; i < timeline->row_count; i++) {
        struct row *row = &timeline->rows[i];
        if (row->process != r->process || row->context != r->context || row->stream != r->stream)
            continue;
        lane++;
        if (row->until > r->start_ns) continue;
        row->until = r->end_ns;
        return i;
    }
    timeline->rows[timeline->row_count] =
        (struct row){r->process, r->context, r->stream, lane, r->end_ns};
    return timeline->row_count++;
}

struct trace_timeline *trace_timeline_open(const struct trace *trace)
{
    struct trace_timeline *timeline = calloc(1, sizeof *timeline);

    if (timeline == NULL) return NULL;
    timeline->slices = calloc(trace->count + 1, sizeof *timeline->slices);
    timeline->rows = calloc(trace->count + 1, sizeof *timeline->rows);
    if (timeline->slices == NULL || timeline->rows == NULL) {
        trace_timeline_close(timeline);
        return NULL;
    }
    timeline->first = UINT64_MAX;
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_record *r = &trace->records[i];
        if (!is_shown(r)) continue;
        timeline->slices[timeline->count++].record = r;
        if (r->start_ns < timeline->first) timeline->first = r->start_ns;
        if (r->end_ns > timeline->last) timeline->last = r->end_ns;
    }
    qsort(timeline->slices, timeline->count, sizeof *timeline->slices, compare_slices);
    for (size_t i = 0; i < timeline->count; i++)
        timeline->slices[i].row = find_row(timeline, timeline->slices[i].record);
    return timeline;
}

void trace_timeline_close(struct trace_timeline *timeline)
{
    if (timeline == NULL) return;
    free(timeline->slices);
    free(timeline->rows);
    free(timeline);
}

size_t trace_timeline_count(const struct trace_timeline *timeline)
{
    return timeline->count;
}

/* "copy, pinned to device", or the kernel's name. The text may come from student code: what JSON
 * and XML give a meaning is left out. */
static void name_of(const struct trace_record *r, char *text, size_t size)
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

static void name_of_row(const struct row *row, char *text, size_t size)
{
    const int used =
        snprintf(text, size, "context %" PRIu64 ", stream %" PRIu64, row->context, row->stream);
    if (row->lane > 0 && used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, " (%u)", row->lane + 1);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static double microseconds(uint64_t ns)
{
    return (double)ns * 1e-3;
}

void trace_timeline_json(const struct trace_timeline *timeline, FILE *file)
{
    char name[TRACE_NAME_SIZE + 32];

    fprintf(file, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    for (size_t i = 0; i < timeline->row_count; i++) {
        const struct row *row = &timeline->rows[i];
        name_of_row(row, name, sizeof name);
        fprintf(file,
                "%s\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%" PRIu32
                ",\"tid\":%zu,\"args\":{\"name\":\"%s\"}},\n{\"ph\":\"M\",\"name\":"
                "\"thread_sort_index\",\"pid\":%" PRIu32
                ",\"tid\":%zu,\"args\":{\"sort_index\":%zu}}",
                i > 0 ? "," : "", row->process, i + 1, name, row->process, i + 1, i);
    }
    for (size_t i = 0; i < timeline->count; i++) {
        const struct slice *slice = &timeline->slices[i];
        const struct trace_record *r = slice->record;
        name_of(r, name, sizeof name);
        fprintf(file,
                ",\n{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%" PRIu32
                ",\"tid\":%zu,\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"bytes\":%" PRIu64
                ",\"threads\":%" PRIu64 "}}",
                trace_what_name(r->what), name, r->process, slice->row + 1,
                microseconds(r->start_ns - timeline->first), microseconds(r->end_ns - r->start_ns),
                r->bytes, r->count);
    }
    fprintf(file, "\n]}\n");
}

/* ---- SVG ------------------------------------------------------------------------------------- */

#define ROW_HEIGHT 18
#define NAME_WIDTH 150

static const char *colour_of(const struct trace_record *r)
{
    if (r->what == TRACE_KERNEL) return "#4f9d45";
    if (r->what != TRACE_COPY) return "#888888";
    return r->to == TRACE_DEVICE ? "#3b78c2" : "#d9822b";
}

void trace_timeline_svg(const struct trace_timeline *timeline, unsigned width, FILE *file)
{
    const double span =
        timeline->last > timeline->first ? (double)(timeline->last - timeline->first) : 1;
    const double scale = (width > NAME_WIDTH ? (double)(width - NAME_WIDTH) : 1) / span;
    const size_t height = (timeline->row_count + 2) * ROW_HEIGHT;
    char name[TRACE_NAME_SIZE + 32];

    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %zu\" width=\"%u\" "
            "height=\"%zu\" font-family=\"sans-serif\" font-size=\"11\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
            width, height, width, height);
    for (size_t i = 0; i < timeline->row_count; i++) {
        name_of_row(&timeline->rows[i], name, sizeof name);
        fprintf(file, "<text x=\"4\" y=\"%zu\">%s</text>\n", (i + 1) * ROW_HEIGHT - 5, name);
    }
    for (size_t i = 0; i < timeline->count; i++) {
        const struct slice *slice = &timeline->slices[i];
        const struct trace_record *r = slice->record;
        const double wide = (double)(r->end_ns - r->start_ns) * scale;
        name_of(r, name, sizeof name);
        fprintf(file,
                "<rect x=\"%.2f\" y=\"%zu\" width=\"%.2f\" height=\"%d\" fill=\"%s\"><title>%s, "
                "%.3f us</title></rect>\n",
                NAME_WIDTH + (double)(r->start_ns - timeline->first) * scale,
                slice->row * ROW_HEIGHT + 2, wide > 0.3 ? wide : 0.3, ROW_HEIGHT - 4, colour_of(r),
                name, microseconds(r->end_ns - r->start_ns));
    }
    fprintf(file,
            "<text x=\"%d\" y=\"%zu\">0 to %.3f ms; blue: to the device, green: kernels, orange: "
            "from it</text>\n</svg>\n",
            NAME_WIDTH, height - 6, span * 1e-6);
}
