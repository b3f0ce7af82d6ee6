#include "emulator/cli/report.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/cli/places.h"
#include "emulator/cli/wrap.h"
#include "trace/fold.h"
#include "trace/sentence.h"

enum { PLACE_SIZE = 2 * TRACE_TEXT_SIZE, SENTENCE_SIZE = TRACE_SENTENCE_SIZE };

/* One finding, however often it occurred. */
struct finding {
    const struct trace_finding_kind *kind;
    const char *hint;       /* NULL for a leak */
    char place[PLACE_SIZE]; /* line of the mistake; empty if unknown */
    char asked[PLACE_SIZE]; /* device code: place of the call that launched it */
    const char *code;       /* device code: text of the line; NULL or "": unknown */
    char sentence[SENTENCE_SIZE];
    uint64_t count;
};

struct findings {
    struct finding *rows;
    size_t count;
};

static bool add(struct findings *findings, const struct finding *finding)
{
    struct finding *more = realloc(findings->rows, (findings->count + 1) * sizeof *more);
    if (more == NULL) return false;
    findings->rows = more;
    more[findings->count++] = *finding;
    return true;
}

/* ---- findings of the device ------------------------------------------------------------------ */

/* Strings numbered from 1 on; owns them. */
struct numbered {
    char **texts;
    size_t count;
};

/* Finds or adds the text and sets its number; 0 for an empty text. Returns false if memory runs
 * out. */
static bool number_text(struct numbered *known, const char *text, uint64_t *number)
{
    size_t i = 0;
    *number = 0;
    if (text[0] == '\0') return true;
    while (i < known->count && strcmp(known->texts[i], text) != 0) i++;
    if (i == known->count) {
        char **more = realloc(known->texts, (known->count + 1) * sizeof *more);
        if (more == NULL) return false;
        known->texts = more;
        if ((more[i] = strdup(text)) == NULL) return false;
        known->count++;
    }
    *number = i + 1;
    return true;
}

static void numbered_free(struct numbered *known)
{
    for (size_t i = 0; i < known->count; i++) free(known->texts[i]);
    free(known->texts);
}

static bool add_found(struct findings *findings, struct places *places,
                      const struct trace_folded *folded)
{
    const struct trace_record *record = folded->record;
    struct finding finding = {.kind = trace_finding_kind(record),
                              .hint = trace_finding_hint(record),
                              .count = folded->count};
    if (places_device(record, finding.place, sizeof finding.place)) {
        places_call(places, record, finding.asked, sizeof finding.asked);
        finding.code = places_code(places, record);
    } else
        places_call(places, record, finding.place, sizeof finding.place);
    places_sentence(places, record, finding.sentence, sizeof finding.sentence);
    return add(findings, &finding);
}

/* Adds all findings of a class, TRACE_FINDING or TRACE_ADVICE, each once. Advice is left out where
 * NVIDIA's own headers are what it is for: who uses them cannot follow it. */
static bool add_all(struct findings *findings, struct places *places, const struct trace *trace,
                    enum trace_kind class)
{
    struct trace_folded *rows = calloc(trace->count + 1, sizeof *rows);
    struct numbered calls = {.count = 0};
    size_t count = 0;
    bool whole = rows != NULL;

    for (size_t i = 0; whole && i < trace->count; i++)
        if (trace->records[i].kind == class &&
            (class != TRACE_ADVICE || !places_of_library(places, &trace->records[i])))
            rows[count++] = (struct trace_folded){
                .record = &trace->records[i],
                .count = trace->records[i].count > 0 ? trace->records[i].count : 1};
    for (size_t i = 0; whole && i < count; i++) {
        char call[PLACE_SIZE] = "";
        places_call(places, rows[i].record, call, sizeof call);
        whole = number_text(&calls, call, &rows[i].call);
    }
    if (whole) count = trace_fold(rows, count);
    for (size_t i = 0; whole && i < count; i++) whole = add_found(findings, places, &rows[i]);
    numbered_free(&calls);
    free(rows);
    return whole;
}

/* ---- leaks ----------------------------------------------------------------------------------- */

static int by_object(const void *a, const void *b)
{
    const struct trace_record *x = *(const struct trace_record *const *)a;
    const struct trace_record *y = *(const struct trace_record *const *)b;
    if (x->process != y->process) return x->process < y->process ? -1 : 1;
    if (x->what != y->what) return x->what < y->what ? -1 : 1;
    if (x->object != y->object) return x->object < y->object ? -1 : 1;
    return (x > y) - (x < y); /* a graph's memory is created and ended at each launch */
}

static int by_position(const void *a, const void *b)
{
    const struct trace_record *x = *(const struct trace_record *const *)a;
    const struct trace_record *y = *(const struct trace_record *const *)b;
    return (x > y) - (x < y);
}

/* Returns true if the record's process has initialised the device. Other programs, such as those
 * that a script calls, may leave threads running. */
static bool used_device(const struct trace *trace, const struct trace_record *record)
{
    for (size_t i = 0; i < trace->count; i++)
        if (trace->records[i].kind == TRACE_SETTING &&
            trace->records[i].process == record->process &&
            strcmp(trace->records[i].name, "device") == 0)
            return true;
    return false;
}

/* Finds what the submission created, could have released and did not, in order of creation. */
static const struct trace_record **find_leaks(const struct trace *trace, size_t *count)
{
    const struct trace_record **sorted = calloc(trace->count + 1, sizeof *sorted);
    size_t objects = 0, left = 0;

    *count = 0;
    if (sorted == NULL) return NULL;
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_record *r = &trace->records[i];
        if ((r->kind == TRACE_CREATE || r->kind == TRACE_DESTROY) && trace_held(r->what) != NULL)
            sorted[objects++] = r;
    }
    qsort(sorted, objects, sizeof *sorted, by_object);
    for (size_t i = 0; i < objects; i++) {
        const struct trace_record *r = sorted[i], *next = i + 1 < objects ? sorted[i + 1] : NULL;
        assert(r != NULL);
        bool ended = next != NULL && next->kind == TRACE_DESTROY && next->process == r->process &&
                     next->what == r->what && next->object == r->object;
        if (r->kind != TRACE_CREATE || ended || (r->flags & TRACE_IMPLICIT)) continue;
        if (r->what != TRACE_THREAD || used_device(trace, r)) sorted[left++] = r;
    }
    qsort(sorted, left, sizeof *sorted, by_position);
    *count = left;
    return sorted;
}

/* Leaks are found here and not by the device, so the trace's rows have no kind for them. */
static const struct trace_finding_kind leak_kind = {.name = "leak", .checker = "memcheck"};

struct leak {
    uint32_t what;
    const char *by;
    char place[PLACE_SIZE];
    uint64_t count, bytes;
};

static bool add_leaks(struct findings *findings, struct places *places, const struct trace *trace)
{
    size_t count, groups = 0;
    bool whole = false;
    const struct trace_record **leaked = find_leaks(trace, &count);
    struct leak *leaks = calloc(count + 1, sizeof *leaks);

    if (leaked == NULL || leaks == NULL) goto done;
    for (size_t i = 0; i < count; i++) {
        struct leak *leak = &leaks[groups];
        size_t k = 0;
        leak->what = leaked[i]->what;
        leak->place[0] = '\0';
        places_call(places, leaked[i], leak->place, sizeof leak->place);
        while (k < groups &&
               (leaks[k].what != leak->what || strcmp(leaks[k].place, leak->place) != 0))
            k++;
        if (k == groups) leaks[groups++].by = trace_ended_by(leaked[i]);
        leaks[k].count++;
        leaks[k].bytes += leaked[i]->bytes;
    }
    for (size_t i = 0; i < groups; i++) {
        struct finding finding = {.kind = &leak_kind, .count = 1};
        char leak[256];
        trace_leak_sentence(leaks[i].what, leaks[i].count, leaks[i].bytes, NULL, leak, sizeof leak);
        snprintf(finding.sentence, sizeof finding.sentence, "%s It is %s by %s.", leak,
                 trace_held(leaks[i].what)->ended, leaks[i].by);
        snprintf(finding.place, sizeof finding.place, "%s", leaks[i].place);
        if (!add(findings, &finding)) goto done;
    }
    whole = true;
done:
    free(leaked);
    free(leaks);
    return whole;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_indented(FILE *out, const char *label, const char *text)
{
    int used = fprintf(out, "%*s%s", WRAP_INDENT, "", label);
    wrap_write(out, text, used > 0 ? (size_t)used : 0);
}

/* The explanation and the hint of a kind of finding are printed with the `first` finding of that
 * kind. */
static void write_finding(FILE *out, const struct finding *finding, bool first, const char *class)
{
    char more[PLACE_SIZE + 64] = "";
    int used = fprintf(out, "%s%s%s%s: ", finding->place, finding->place[0] != '\0' ? ": " : "",
                       class, finding->kind->name);
    wrap_write(out, finding->sentence, used > 0 ? (size_t)used : 0);
    if (finding->code != NULL && finding->code[0] != '\0')
        write_indented(out, "Line: ", finding->code);
    if (finding->asked[0] != '\0')
        snprintf(more, sizeof more, "Started by the call at %s.", finding->asked);
    if (finding->count > 1)
        snprintf(more + strlen(more), sizeof more - strlen(more), "%sSeen %" PRIu64 " times.",
                 more[0] != '\0' ? " " : "", finding->count);
    if (more[0] != '\0') write_indented(out, "", more);
    if (first && finding->kind->why != NULL) {
        write_indented(out, "Why:  ", finding->kind->why);
        write_indented(out, "Hint: ", finding->hint);
    }
}

static bool is_first_of_kind(const struct findings *findings, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (findings->rows[i].kind == findings->rows[index].kind) return false;
    return true;
}

static void write_all(FILE *out, const struct findings *findings, const char *class)
{
    for (size_t i = 0; i < findings->count; i++)
        write_finding(out, &findings->rows[i], is_first_of_kind(findings, i), class);
}

/* Writes "overlap: ./vec: 3 findings: out of bounds (1), leak (2)". */
static void write_summary(FILE *out, const struct findings *findings, const char *program)
{
    fprintf(out, "overlap: %s: %zu finding%s", program, findings->count,
            findings->count == 1 ? "" : "s");
    const char *separator = ": ";
    for (size_t i = 0; i < findings->count; i++) {
        const struct trace_finding_kind *kind = findings->rows[i].kind;
        size_t alike = 0;
        if (!is_first_of_kind(findings, i)) continue;
        for (size_t k = i; k < findings->count; k++) alike += findings->rows[k].kind == kind;
        fprintf(out, "%s%s (%zu)", separator, kind->name, alike);
        separator = ", ";
    }
    fputc('\n', out);
}

static bool device_was_used(const struct trace *trace)
{
    for (size_t i = 0; i < trace->count; i++)
        if (trace->records[i].kind == TRACE_SETTING) return true;
    return false;
}

int report_write(FILE *out, const struct trace *trace, const struct report_run *run)
{
    struct findings findings = {NULL, 0}, advice = {NULL, 0};
    int result = -1;
    struct places *places = places_open(trace);

    if (places == NULL) return -1;
    if (!add_all(&findings, places, trace, TRACE_FINDING) ||
        !add_all(&advice, places, trace, TRACE_ADVICE))
        goto done;
    /* If records are missing, apparent leaks may not be leaks. */
    if (run->leaks && trace->dropped == 0 && !add_leaks(&findings, places, trace)) goto done;

    write_all(out, &findings, "");
    write_all(out, &advice, "advice: ");
    if (findings.count + advice.count > 0 && places_lines_missed(places))
        fprintf(out, "overlap: for the lines of your source, build it with nvcc -g -lineinfo\n");
    if (trace->dropped > 0)
        fprintf(out,
                "overlap: %s made and released more objects than are kept (%" PRIu64
                " records too many): leaks are not looked for, and findings may be missing\n",
                run->program, trace->dropped);
    if (findings.count > 0)
        write_summary(out, &findings, run->program);
    else if (!run->may_be_idle && !device_was_used(trace))
        fprintf(out,
                "overlap: %s made no CUDA call that reached the software device. If it should "
                "have, see that what it runs is of CUDA 12 or 13\n",
                run->program);
    result = (int)findings.count;
done:
    places_close(places);
    free(findings.rows);
    free(advice.rows);
    return result;
}
