#include "trace/timeline/rows.h"

#include <inttypes.h>

enum {
    NAME_WIDTH = 150, /* pixels */
    NOTE_WIDTH = 16,
    ROW_MOST = 18,
    ROW_NAMED = 10,      /* rows of this height or more show their names */
    HEIGHT_WANTED = 900, /* of all rows: many streams get thin rows */
    NAME_ROOM = TRACE_NAME_SIZE + 96,
};

struct canvas {
    FILE *file;
    const struct trace_timeline *timeline;
    double scale; /* pixels per ns */
    unsigned row; /* height of a stream's row */
    unsigned y;
};

static const char *colour_of(const struct trace_record *r)
{
    static const char *const colours[ENGINE_COUNT] = {
        [ENGINE_IN] = "#3b78c2",
        [ENGINE_KERNELS] = "#4f9d45",
        [ENGINE_OUT] = "#d9822b",
        [ENGINE_OTHER] = "#888888",
    };
    return colours[timeline_engine_of(r)];
}

static void draw_label(const struct canvas *canvas, const char *text, bool bold)
{
    fprintf(canvas->file, "<text x=\"4\" y=\"%u\"%s>", canvas->y + 12,
            bold ? " font-weight=\"bold\"" : "");
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || *text == '<' || *text == '>' || *text == '&')
            fputc('?', canvas->file);
        else
            fputc(*text, canvas->file);
    fprintf(canvas->file, "</text>\n");
}

/* `clear`: transparent, for slices drawn over others. */
static void draw_slice(const struct canvas *canvas, const struct slice *slice, unsigned y,
                       unsigned height, bool clear)
{
    const struct trace_record *r = slice->record;
    const struct part *part = &canvas->timeline->parts[slice->part];
    const double wide = (double)(r->end_ns - r->start_ns) * canvas->scale;
    char name[NAME_ROOM];

    timeline_name(r, name, sizeof name);
    fprintf(
        canvas->file,
        "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%u\" fill=\"%s\"%s><title>%s, stream "
        "%" PRIu64 ", %.3f us</title></rect>\n",
        NAME_WIDTH + (double)(r->start_ns - part->first) * canvas->scale, y,
        wide > 0.3 ? wide : 0.3, height, colour_of(r), clear ? " fill-opacity=\"0.4\"" : "", name,
        r->stream, timeline_microseconds(r->end_ns - r->start_ns));
}

static void draw_engines(struct canvas *canvas, const struct part *part)
{
    for (int engine = 0; engine < ENGINE_COUNT; engine++) {
        bool any = false;
        for (size_t i = 0; i < part->slice_count; i++) {
            const struct slice *slice = &canvas->timeline->slices[part->first_slice + i];
            if ((int)timeline_engine_of(slice->record) != engine) continue;
            if (!any) draw_label(canvas, timeline_engine_name((enum timeline_engine)engine), false);
            any = true;
            draw_slice(canvas, slice, canvas->y + 2, ROW_MOST - 4, true);
        }
        if (any) canvas->y += ROW_MOST;
    }
}

static void draw_streams(struct canvas *canvas, const struct part *part)
{
    const unsigned gap = canvas->row > 6 ? 4 : canvas->row > 3 ? 1 : 0, from = canvas->y;
    char name[NAME_ROOM];

    for (size_t i = 0; i < part->row_count && canvas->row >= ROW_NAMED; i++) {
        canvas->y = from + (unsigned)i * canvas->row - (ROW_MOST - canvas->row) / 2;
        timeline_row_name(canvas->timeline, &canvas->timeline->rows[part->first_row + i], name,
                          sizeof name);
        draw_label(canvas, name, false);
    }
    for (size_t i = 0; i < part->slice_count; i++) {
        const struct slice *slice = &canvas->timeline->slices[part->first_slice + i];
        draw_slice(canvas, slice,
                   from + (unsigned)(slice->row - part->first_row) * canvas->row + gap / 2,
                   canvas->row - gap, false);
    }
    canvas->y = from + (unsigned)part->row_count * canvas->row + ROW_MOST / 2;
}

static void draw_part(struct canvas *canvas, const struct part *part)
{
    char title[sizeof part->name + 48];

    snprintf(title, sizeof title, "%s%s%.3f ms", part->name, part->name[0] != '\0' ? ": " : "",
             part->slice_count > 0 ? (double)(part->last - part->first) * 1e-6 : 0);
    draw_label(canvas, title, true);
    canvas->y += ROW_MOST;
    draw_engines(canvas, part);
    draw_streams(canvas, part);
}

void trace_timeline_svg(struct trace_timeline *timeline, unsigned width, FILE *file)
{
    struct canvas canvas = {.file = file, .timeline = timeline};

    if (timeline_arrange(timeline) != 0) return;
    canvas.row = timeline->row_count > 0 ? (unsigned)(HEIGHT_WANTED / timeline->row_count) : 0;
    if (canvas.row > ROW_MOST) canvas.row = ROW_MOST;
    if (canvas.row < 2) canvas.row = 2;
    const double room = width > NAME_WIDTH + NOTE_WIDTH ? width - NAME_WIDTH - NOTE_WIDTH : 1;
    canvas.scale = room / (double)timeline->span;
    const size_t height = timeline->row_count * canvas.row +
                          timeline->part_count * (ENGINE_COUNT + 2) * ROW_MOST + 2 * ROW_MOST;
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %zu\" width=\"%u\" "
            "height=\"%zu\" font-family=\"sans-serif\" font-size=\"11\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
            width, height, width, height);
    for (size_t i = 0; i < timeline->part_count; i++) draw_part(&canvas, &timeline->parts[i]);
    canvas.y += ROW_MOST / 2;
    draw_label(&canvas, "Blue: copied to the device; green: kernels; orange: copied from it.",
               false);
    fprintf(file, "</svg>\n");
}
