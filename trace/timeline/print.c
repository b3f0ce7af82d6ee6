#include "trace/timeline/rows.h"

#include <stdlib.h>
#include <string.h>

enum {
    INDENT = 2,
    NOTE = 13, /* " 100 %  x1234" */
    CELLS_LEAST = 10,
    NAME_LEAST = 8,
    NAME_MOST = 24,
    HEIGHTS = 8,
};

struct screen {
    FILE *file;
    const struct trace_timeline *timeline;
    const struct trace_timeline_text *text;
    unsigned name;     /* columns */
    unsigned cells;    /* columns */
    double *filled;    /* per cell: ns of all operations in it together */
    uint64_t *longest; /* per cell: ns of the operation that is in it longest */
    const char **sign; /* per cell: that operation's sign */
};

const char *const *trace_timeline_signs(bool utf8)
{
    static const char *const signs[2][ENGINE_COUNT] = {
        {[ENGINE_IN] = ">", [ENGINE_KERNELS] = "#", [ENGINE_OUT] = "<", [ENGINE_OTHER] = "="},
        {[ENGINE_IN] = "\u2193",
         [ENGINE_KERNELS] = "\u2588",
         [ENGINE_OUT] = "\u2191",
         [ENGINE_OTHER] = "\u2592"},
    };
    return signs[utf8];
}

/* ---- a row ----------------------------------------------------------------------------------- */

/* The slices of a part that one row shows: those of an engine, or of a stream. */
struct shown {
    const struct part *part;
    int engine; /* -1: a stream's row */
    size_t row;
};

static bool is_in(const struct slice *slice, const struct shown *shown)
{
    if (shown->engine < 0) return slice->row == shown->row;
    return (int)timeline_engine_of(slice->record) == shown->engine;
}

static uint64_t cell_at(const struct screen *screen, uint64_t ns)
{
    const uint64_t cell = (uint64_t)((double)ns / (double)screen->timeline->span * screen->cells);
    return cell < screen->cells ? cell : screen->cells - 1;
}

static void fill_cells(struct screen *screen, const struct slice *slice, uint64_t first)
{
    const struct trace_record *r = slice->record;
    const double cell_ns = (double)screen->timeline->span / screen->cells;
    const uint64_t from = r->start_ns - first, until = r->end_ns - first;

    /* An operation that ends where a cell begins is not in that cell. */
    for (uint64_t i = cell_at(screen, from); i <= cell_at(screen, until - 1); i++) {
        const double begin = (double)i * cell_ns, end = begin + cell_ns;
        const double in = ((double)until < end ? (double)until : end) -
                          ((double)from > begin ? (double)from : begin);
        const uint64_t inside = in > 1 ? (uint64_t)in : 1;
        screen->filled[i] += in > 0 ? in : 0;
        if (inside <= screen->longest[i]) continue;
        screen->longest[i] = inside;
        screen->sign[i] = trace_timeline_signs(screen->text->utf8)[timeline_engine_of(r)];
    }
}

/* The most operations at one moment, and how long at least one runs. */
struct busy {
    unsigned most;
    uint64_t ns;
};

static int compare_times(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Computed by a sweep over starts and ends; `times` has room for twice the part's slices. */
static struct busy look(const struct screen *screen, const struct shown *shown, uint64_t *times)
{
    struct busy busy = {0};
    const struct part *part = shown->part;
    uint64_t *starts = times, *ends = times + part->slice_count;
    size_t count = 0, ended = 0;
    unsigned now = 0;

    for (size_t i = 0; i < part->slice_count; i++) {
        const struct slice *slice = &screen->timeline->slices[part->first_slice + i];
        if (!is_in(slice, shown)) continue;
        starts[count] = slice->record->start_ns;
        ends[count++] = slice->record->end_ns;
    }
    qsort(ends, count, sizeof *ends, compare_times); /* the starts are sorted already */
    for (size_t i = 0; i < count; i++) {
        while (ended < i && ends[ended] <= starts[i]) {
            ended++;
            now--;
        }
        if (++now > busy.most) busy.most = now;
        const uint64_t next = i + 1 < count ? starts[i + 1] : UINT64_MAX;
        /* Until the next one begins, or the last running one has ended. */
        const uint64_t last = ends[i];
        busy.ns += (last < next ? last : next) - starts[i];
    }
    return busy;
}

static void print_cell(const struct screen *screen, const struct shown *shown, unsigned i,
                       unsigned most)
{
    static const char *const heights[HEIGHTS] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                                 "\u2585", "\u2586", "\u2587", "\u2588"};
    /* Average number of operations in the cell; a digit shows it rounded up. */
    const double at_once = screen->filled[i] * screen->cells / (double)screen->timeline->span;
    const unsigned digit = (unsigned)(at_once + 0.99),
                   height = (unsigned)(at_once / most * HEIGHTS);

    if (screen->longest[i] == 0)
        fputc(' ', screen->file);
    else if (shown->engine < 0)
        fputs(screen->sign[i], screen->file);
    else if (!screen->text->utf8)
        fputc(digit > 9 ? '+' : (int)('0' + (digit > 0 ? digit : 1)), screen->file);
    else
        fputs(heights[height < HEIGHTS ? height : HEIGHTS - 1], screen->file);
}

static void print_row(struct screen *screen, const struct shown *shown, const char *name,
                      uint64_t *times)
{
    const struct part *part = shown->part;
    const double span = (double)(part->last - part->first);

    memset(screen->filled, 0, screen->cells * sizeof *screen->filled);
    memset(screen->longest, 0, screen->cells * sizeof *screen->longest);
    for (size_t i = 0; i < part->slice_count; i++) {
        const struct slice *slice = &screen->timeline->slices[part->first_slice + i];
        if (is_in(slice, shown)) fill_cells(screen, slice, part->first);
    }
    const struct busy busy = look(screen, shown, times);
    fprintf(screen->file, "%*s%-*.*s|", INDENT, "", (int)screen->name, (int)screen->name - 1, name);
    for (unsigned i = 0; i < screen->cells; i++) print_cell(screen, shown, i, busy.most);
    fprintf(screen->file, "|%4.0f %%", (double)busy.ns / span * 100);
    if (shown->engine >= 0) fprintf(screen->file, "  x%u", busy.most);
    fputc('\n', screen->file);
}

/* ---- a part ---------------------------------------------------------------------------------- */

static void print_engines(struct screen *screen, const struct part *part, uint64_t *times)
{
    for (int engine = 0; engine < ENGINE_COUNT; engine++) {
        const struct shown shown = {.part = part, .engine = engine};
        for (size_t i = 0; i < part->slice_count; i++) {
            if (!is_in(&screen->timeline->slices[part->first_slice + i], &shown)) continue;
            print_row(screen, &shown, timeline_engine_name((enum timeline_engine)engine), times);
            break;
        }
    }
}

static void print_part(struct screen *screen, const struct part *part)
{
    const double ns = part->slice_count > 0 ? (double)(part->last - part->first) : 0;
    uint64_t *times = calloc(2 * part->slice_count + 1, sizeof *times);
    char name[96];

    if (times == NULL) return;
    fprintf(screen->file, "%s%s%.*f %s\n", part->name, part->name[0] != '\0' ? ": " : "",
            ns < 1e6 ? 1 : 3, ns < 1e6 ? ns * 1e-3 : ns * 1e-6, ns < 1e6 ? "us" : "ms");
    print_engines(screen, part, times);
    for (size_t i = 0; i < part->row_count && i < screen->text->streams; i++) {
        const struct shown shown = {.part = part, .engine = -1, .row = part->first_row + i};
        timeline_row_name(screen->timeline, &screen->timeline->rows[shown.row], name, sizeof name);
        print_row(screen, &shown, name, times);
    }
    if (screen->text->streams > 0 && part->row_count > screen->text->streams)
        fprintf(screen->file, "%*s... %zu more\n", INDENT, "",
                part->row_count - screen->text->streams);
    free(times);
}

/* The width of the longest visible name, within bounds. */
static unsigned name_columns(const struct trace_timeline *timeline,
                             const struct trace_timeline_text *text)
{
    unsigned columns = NAME_LEAST;
    char name[96];

    for (size_t i = 0; i < timeline->part_count; i++)
        for (size_t k = 0; k < timeline->parts[i].row_count && k < text->streams; k++) {
            timeline_row_name(timeline, &timeline->rows[timeline->parts[i].first_row + k], name,
                              sizeof name);
            if (strlen(name) + 1 > columns) columns = (unsigned)strlen(name) + 1;
        }
    return columns < NAME_MOST ? columns : NAME_MOST;
}

void trace_timeline_print(struct trace_timeline *timeline, const struct trace_timeline_text *text,
                          FILE *file)
{
    struct screen screen = {.file = file, .timeline = timeline, .text = text};

    if (timeline_arrange(timeline) != 0) return;
    screen.name = name_columns(timeline, text);
    const unsigned around = INDENT + screen.name + 2 + NOTE;
    screen.cells = text->width > around + CELLS_LEAST ? text->width - around : CELLS_LEAST;
    screen.filled = calloc(screen.cells, sizeof *screen.filled);
    screen.longest = calloc(screen.cells, sizeof *screen.longest);
    screen.sign = calloc(screen.cells, sizeof *screen.sign);
    if (screen.filled != NULL && screen.longest != NULL && screen.sign != NULL)
        for (size_t i = 0; i < timeline->part_count; i++) print_part(&screen, &timeline->parts[i]);
    free(screen.filled);
    free(screen.longest);
    free(screen.sign);
}
