#include "trace/timeline/rows.h"

#include <inttypes.h>

enum { NAME_ROOM = TRACE_NAME_SIZE + 96 };

/* Numbers unique in the file: readers distinguish processes and threads by number only. */
static size_t process_number(const struct row *row)
{
    return row->holder + 1;
}

/* Writes the separator before each event of the list. */
static void separate(FILE *file, size_t *events)
{
    fputs((*events)++ > 0 ? ",\n" : "\n", file);
}

static void name_process(const struct trace_timeline *timeline, const struct row *row, FILE *file)
{
    const struct part *part = &timeline->parts[row->part];

    fprintf(file,
            "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%zu,\"args\":{\"name\":\"%s%scontext "
            "%" PRIu64 " of process %" PRIu32
            "\"}},\n{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":%zu,\"args\":{"
            "\"sort_index\":%zu}}",
            process_number(row), part->name, part->name[0] != '\0' ? ": " : "", row->context,
            row->process, process_number(row), row->holder);
}

static void name_thread(const struct row *row, size_t number, FILE *file)
{
    char lane[16] = "";

    if (row->lane > 0) snprintf(lane, sizeof lane, " (%u)", row->lane + 1);
    fprintf(file,
            "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%zu,\"tid\":%zu,\"args\":{\"name\":"
            "\"stream %" PRIu64 "%s\"}},\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%zu,"
            "\"tid\":%zu,\"args\":{\"sort_index\":%zu}}",
            process_number(row), number, row->stream, lane, process_number(row), number, number);
}

void trace_timeline_json(struct trace_timeline *timeline, FILE *file)
{
    char name[NAME_ROOM];
    size_t named = 0, events = 0;

    if (timeline_arrange(timeline) != 0) return;
    fprintf(file, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    for (size_t i = 0; i < timeline->row_count; i++) {
        const struct row *row = &timeline->rows[i];
        separate(file, &events);
        if (row->holder == named) {
            name_process(timeline, row, file);
            separate(file, &events);
            named++;
        }
        name_thread(row, i + 1, file);
    }
    for (size_t i = 0; i < timeline->slice_count; i++) {
        const struct slice *slice = &timeline->slices[i];
        const struct trace_record *r = slice->record;
        timeline_name(r, name, sizeof name);
        separate(file, &events);
        fprintf(file,
                "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%zu,\"tid\":%zu,\"ts\":%.3f,"
                "\"dur\":%.3f,\"args\":{\"bytes\":%" PRIu64 ",\"threads\":%" PRIu64 "}}",
                trace_what_name(r->what), name, process_number(&timeline->rows[slice->row]),
                slice->row + 1,
                timeline_microseconds(r->start_ns - timeline->parts[slice->part].first),
                timeline_microseconds(r->end_ns - r->start_ns), r->bytes, r->count);
    }
    fprintf(file, "\n]}\n");
}
