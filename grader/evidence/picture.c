#include "grader/evidence/picture.h"
#include "grader/base/messages.h"
#include "grader/evidence/evidence.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds the operations that were asked for in the timed phase. Returns 0, or -1: no memory. */
static int add_run(struct trace_timeline *timeline, const char *whose,
                   const struct evidence *evidence)
{
    struct phase phase;
    const struct query query = {.phase = &phase, .kind = TRACE_OPERATION};
    int result = 0;

    if (!evidence_phase(evidence, evidence->plan->phase, 0, &phase)) return 0;
    result = trace_timeline_begin_part(timeline, whose);
    for (const struct trace_record *r = NULL;
         result == 0 && (r = evidence_next(evidence, &query, r)) != NULL;)
        result = trace_timeline_add(timeline, r);
    return result;
}

/* Returns NULL when there is nothing to draw or no memory. */
static struct trace_timeline *draw(const struct evidence *evidence)
{
    struct trace_timeline *timeline = NULL;

    if ((evidence->plan->flags & RUN_TIMED) && evidence_usable(evidence))
        timeline = trace_timeline_open();
    if (timeline == NULL) return NULL;
    int result = add_run(timeline, _("yours"), evidence);
    /* When the solutions themselves are graded, submission and reference are the same run. */
    if (result == 0 && evidence->references != NULL && evidence->references != evidence)
        result = add_run(timeline, _("the reference solution's"), evidence->references);
    if (result == 0 && trace_timeline_count(timeline) > 0) return timeline;
    trace_timeline_close(timeline);
    return NULL;
}

bool picture_possible(const struct evidence *evidence)
{
    struct trace_timeline *timeline = draw(evidence);
    trace_timeline_close(timeline);
    return timeline != NULL;
}

static void add_legend(struct text *text, const struct trace_timeline_text *style)
{
    const char *const *sign = trace_timeline_signs(style->utf8);

    /* Keeps each line within 80 columns. */
    text_add(text, _("Time goes to the right. H2D, D2H: copies to the device and from it;\n"));
    text_add(
        text,
        style->utf8
            ? _("x: so many at once at most; a bar: how many of them run at that moment.\n")
            : _("x: so many at once at most; a digit: so many at that moment, +: over nine.\n"));
    if (style->streams > 0)
        text_format(text,
                    _("In a stream: %s copied to the device, %s kernel, %s copied from it, %s "
                      "other.\n"),
                    sign[0], sign[1], sign[2], sign[3]);
}

void picture_add(struct text *text, const struct evidence *evidence, unsigned width,
                 unsigned streams)
{
    const struct trace_timeline_text style = {width, streams, messages_utf8()};
    struct trace_timeline *timeline = draw(evidence);
    char *drawn = NULL;
    size_t size = 0;
    FILE *file = timeline != NULL ? open_memstream(&drawn, &size) : NULL;

    if (file != NULL) {
        trace_timeline_print(timeline, &style, file);
        fclose(file);
        text_add_bytes(text, drawn, size);
        add_legend(text, &style);
    }
    free(drawn);
    trace_timeline_close(timeline);
}

static bool ends_in(const char *path, const char *ending)
{
    const size_t length = strlen(path), wanted = strlen(ending);
    return length > wanted && strcmp(path + length - wanted, ending) == 0;
}

bool picture_takes(const char *path)
{
    return ends_in(path, ".json") || ends_in(path, ".svg");
}

int picture_write(const struct evidence *evidence, const char *path)
{
    struct trace_timeline *timeline = draw(evidence);
    FILE *file = NULL;

    errno = timeline != NULL ? 0 : ENODATA;
    if (timeline != NULL) file = fopen(path, "we");
    if (file != NULL && ends_in(path, ".svg")) trace_timeline_svg(timeline, PICTURE_PIXELS, file);
    if (file != NULL && !ends_in(path, ".svg")) trace_timeline_json(timeline, file);
    bool written = file != NULL && ferror(file) == 0;
    if (file != NULL) written = fclose(file) == 0 && written;
    trace_timeline_close(timeline);
    return written ? 0 : -1;
}
