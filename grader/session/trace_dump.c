/* trace_dump: prints a trace in readable form.
 *
 *   trace_dump FILE            prints the records of a trace
 *   trace_dump --create FILE   makes an empty one, for a program started with OVERLAP_TRACE=FILE
 */
#include "trace/sentence.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Prints `value` after its name, unless it is 0. */
static void show(const char *name, uint64_t value)
{
    if (value != 0) printf(" %s=%" PRIu64, name, value);
}

static void show_finding(const struct trace_record *r)
{
    char place[TRACE_WORDS_SIZE + 16], sentence[TRACE_SENTENCE_SIZE];
    if (trace_finding_place(r, false, place, sizeof place)) printf(" %s", place);
    trace_sentence(r, NULL, sentence, sizeof sentence);
    printf(" \"%s\"", sentence);
}

static void show_record(const struct trace_record *r)
{
    printf("%-9s", trace_kind_name(r->kind));
    if (r->what != 0) printf(" %s", trace_what_name(r->what));
    if (trace_has_finding(r)) printf(" %s", trace_finding_kind(r)->name);
    if (r->name[0] != '\0') printf(" %s", r->name);
    if (r->from != 0 || r->to != 0)
        printf(" %s->%s", trace_place_name(r->from), trace_place_name(r->to));
    if (r->kind == TRACE_MARK) printf(" %s", r->flags & TRACE_BEGIN ? "begin" : "end");
    if (r->flags & TRACE_ASYNC) printf(" async");
    if (r->flags & TRACE_DRIVER) printf(" driver");
    if (r->flags & TRACE_IMPLICIT) printf(" implicit");
    if (r->flags & TRACE_MADE_TO_FAIL) printf(" made to fail");
    if (r->code != 0) printf(" code=%d", r->code);
    show("context", r->context);
    show("stream", r->stream);
    show("object", r->object);
    show("request", r->request);
    show("bytes", r->bytes);
    show("count", r->count);
    if (r->start_ns != 0 || r->end_ns != 0)
        printf(" %" PRIu64 "..%" PRIu64 " ns (%.3f us)", r->start_ns, r->end_ns,
               (double)(r->end_ns - r->start_ns) / 1000);
    if (r->address != 0) printf(" address=%#" PRIx64, r->address);
    if (r->caller != 0) printf(" caller=%#" PRIx64, r->caller);
    if (trace_has_finding(r))
        show_finding(r);
    else if (r->kind != TRACE_STACK && r->text[0] != '\0')
        printf(" \"%s\"", r->text);
    printf(" [%u/%u]\n", r->process, r->thread);
}

int main(int count, char **arguments)
{
    struct trace trace;
    char why[256];

    if (count == 3 && strcmp(arguments[1], "--create") == 0) {
        if (trace_create(arguments[2], 0) == 0) return 0;
        fprintf(stderr, "trace_dump: %s: %s\n", arguments[2], strerror(errno));
        return 1;
    }
    if (count != 2) {
        fprintf(stderr, "usage: trace_dump [--create] FILE\n");
        return 2;
    }
    if (trace_read(arguments[1], &trace, why, sizeof why) != 0) {
        fprintf(stderr, "trace_dump: %s\n", why);
        return 1;
    }
    for (size_t i = 0; i < trace.count; i++) show_record(&trace.records[i]);
    if (trace.dropped > 0) printf("and %" PRIu64 " records that did not fit\n", trace.dropped);
    trace_free(&trace);
    return 0;
}
