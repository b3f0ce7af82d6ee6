/* The checks that every lesson can use: findings, leaks, failed calls. */
#include "grader/base/messages.h"
#include "grader/evidence/evidence.h"
#include "grader/evidence/sources.h"
#include "grader/evidence/verdict.h"
#include "trace/fold.h"
#include "trace/sentence.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAK_PLACES 8
/* Records whose lines are looked up to compare them: more than a program leaves, unless it means to
 * keep the grader busy. */
#define MOST_COMPARED 512
/* cudaErrorNotReady and CUDA_ERROR_NOT_READY: a query's result, not an error. */
#define NOT_READY 600

/* ---- findings -------------------------------------------------------------------------------- */

static bool is_listed(const struct trace_record *finding, const enum trace_finding_kind_id *kinds)
{
    if (kinds == NULL) return true;
    for (; *kinds != FINDING_KIND_COUNT; kinds++)
        if (*kinds == trace_finding_kind_of(finding->finding.id)) return true;
    return false;
}

/* The line of the student's from which a record comes. */
struct origin {
    struct place place;
    struct trace_folded *row;
};

static int compare_origins(const void *a, const void *b)
{
    const struct origin *x = a, *y = b;
    const int files = strcmp(x->place.file, y->place.file);
    if (files != 0) return files;
    return (x->place.line > y->place.line) - (x->place.line < y->place.line);
}

/* Numbers the calls by their lines: a template has its code once for each type, a macro and a
 * function that is inlined once for each use. False: no memory. */
static bool number_calls(const struct evidence *evidence, struct trace_folded *rows, size_t count)
{
    enum { KNOWN = 1 }; /* added to twice the number of a line; an address is doubled alone */
    struct origin *origins = calloc(count + 1, sizeof *origins);
    size_t known = 0, number = 0;

    if (origins == NULL) return false;
    for (size_t i = 0; i < count; i++) {
        struct origin *origin = &origins[known];
        rows[i].call = rows[i].record->caller * 2;
        origin->row = &rows[i];
        if (count > MOST_COMPARED) continue;
        known += evidence_student_place(evidence, rows[i].record, &origin->place) &&
                 origin->place.line != 0;
    }
    qsort(origins, known, sizeof *origins, compare_origins);
    for (size_t i = 0; i < known; i++) {
        number += i > 0 && compare_origins(&origins[i - 1], &origins[i]) != 0;
        origins[i].row->call = number * 2 + KNOWN;
    }
    free(origins);
    return true;
}

/* Returns the listed findings in their order, repetitions folded. The caller frees them. NULL: no
 * memory. */
static struct trace_folded *distinct_findings(const struct evidence *evidence,
                                              enum trace_kind class,
                                              const enum trace_finding_kind_id *kinds,
                                              size_t *count)
{
    struct query query = {.kind = class};
    struct trace_folded *found = calloc(evidence->trace.count + 1, sizeof *found);
    size_t all = 0;

    if (found == NULL) return NULL;
    for (const struct trace_record *r = NULL; (r = evidence_next(evidence, &query, r)) != NULL;)
        if (is_listed(r, kinds))
            found[all++] = (struct trace_folded){.record = r, .count = r->count};
    if (!number_calls(evidence, found, all)) {
        free(found);
        return NULL;
    }
    *count = trace_fold(found, all);
    return found;
}

/* Device code carries its own file name, as the compiler was given it. The place is the student's
 * when that is one of the lesson's files. */
static bool device_place(const struct evidence *evidence, const char *path, uint32_t line,
                         struct place *place)
{
    if (line == 0 || path[0] == '\0') return false;
    memset(place, 0, sizeof *place);
    const char *base = strrchr(path, '/');
    base = base != NULL ? base + 1 : path;
    place->line = line;
    for (const char *const *file = evidence->lesson->files; *file != NULL; file++)
        if (strcmp(*file, base) == 0) {
            snprintf(place->file, sizeof place->file, "%s/%s", evidence->shown_folder, *file);
            place->submission = true;
            return true;
        }
    sources_file(evidence->sources, path, place);
    return true;
}

/* Where the finding is in device code: its first side, or, where that is in a function of the
 * project's that the student's kernel calls, its second, if that is the student's. */
static bool place_in_device_code(const struct evidence *evidence,
                                 const struct trace_record *finding, struct place *place)
{
    const struct trace_finding *found = &finding->finding;
    struct place other;
    if (!device_place(evidence, trace_finding_word(found, WORD_FILE), found->sides[0].line, place))
        return false;
    if (!place->submission &&
        device_place(evidence, trace_finding_word(found, WORD_OTHER_FILE), found->sides[1].line,
                     &other) &&
        other.submission)
        *place = other;
    return true;
}

/* Returns true when one side is in a default stream and the other in a created one: most likely the
 * stream argument was left out. */
static bool left_out_the_stream(const struct trace_record *finding)
{
    const enum trace_finding_kind_id kind = trace_finding_kind_of(finding->finding.id);
    const struct trace_side *sides = finding->finding.sides;
    return (kind == FINDING_KIND_RACE || kind == FINDING_KIND_FREED_IN_USE) &&
           ((sides[0].stream == STREAM_DEFAULT && sides[1].stream == STREAM_CREATED) ||
            (sides[0].stream == STREAM_CREATED && sides[1].stream == STREAM_DEFAULT));
}

/* An access out of bounds in one of the project's kernels comes from the kernel's arguments. */
static const char *hint_of(const struct evidence *evidence, const struct trace_record *finding)
{
    struct place place;
    if (left_out_the_stream(finding))
        return N_("One of the two is in a default stream, the other is not, and nothing else "
                  "orders them: put both into the same stream. Each call that ends in Async has an "
                  "argument for it, which cudaMemcpy has not, cudaLaunchKernel too; it is the "
                  "fourth between <<< and >>>.");
    if (trace_finding_kind_of(finding->finding.id) == FINDING_KIND_OUT_OF_BOUNDS &&
        place_in_device_code(evidence, finding, &place) && !place.submission)
        return N_("The kernel is the lesson's own: look at what it was given, the pointer and the "
                  "length in elements, and at how many bytes were allocated.");
    return trace_finding_hint(finding);
}

/* Fails at the student's own line: the line in the student's kernel, or the line that launched one
 * of the project's kernels. */
static void fail_with_finding(struct verdict *verdict, const struct evidence *evidence,
                              const struct trace_record *finding, const char *before)
{
    struct place place, launch;
    char sentence[TRACE_SENTENCE_SIZE];

    if (verdict->failure_count == VERDICT_FAILURES) { /* counted, but not shown */
        memset(&place, 0, sizeof place);
        verdict_fail_at(verdict, &place, "%s", "");
        return;
    }
    evidence_sentence(evidence, finding, sentence, sizeof sentence);
    bool in_kernel = place_in_device_code(evidence, finding, &place);
    if (in_kernel && !place.submission && evidence_student_place(evidence, finding, &launch))
        verdict_fail_at(verdict, &launch, "%sIn the kernel, at %s:%u: %s", before, place.file,
                        place.line, sentence);
    else if (in_kernel)
        verdict_fail_at(verdict, &place, "%s%s", before, sentence);
    else
        verdict_fail(verdict, evidence, finding, "%s%s", before, sentence);
}

void verdict_findings(struct verdict *verdict, const struct evidence *evidence,
                      const enum trace_finding_kind_id *kinds)
{
    verdict_findings_after(verdict, evidence, kinds, "");
}

bool verdict_causes(struct verdict *verdict, const struct evidence *evidence)
{
    static const enum trace_finding_kind_id causes[] = {FINDING_KIND_RACE,
                                                        FINDING_KIND_FREED_IN_USE,
                                                        FINDING_KIND_CHANGED_IN_FLIGHT,
                                                        FINDING_KIND_USE_AFTER_FREE,
                                                        FINDING_KIND_SHARED_MEMORY_RACE,
                                                        FINDING_KIND_GLOBAL_MEMORY_RACE,
                                                        FINDING_KIND_COPY_NOT_AWAITED,
                                                        FINDING_KIND_COPY_STILL_READS,
                                                        FINDING_KIND_RACE_BETWEEN_BLOCKS,
                                                        FINDING_KIND_BARRIER_NOT_REACHED,
                                                        FINDING_KIND_ABSENT_LANES,
                                                        FINDING_KIND_COUNT};
    if (verdict_failed(verdict)) return false;
    verdict_findings(verdict, evidence, causes);
    return verdict_failed(verdict);
}

/* Fails with all listed findings of `class`, TRACE_FINDING or TRACE_ADVICE. */
static void fail_with_all(struct verdict *verdict, const struct evidence *evidence,
                          enum trace_kind class, const enum trace_finding_kind_id *kinds,
                          const char *before)
{
    size_t count = 0;
    struct trace_folded *findings = distinct_findings(evidence, class, kinds, &count);

    if (findings == NULL) verdict_skip(verdict, "there is no memory to look at what was found");
    for (size_t i = 0; i < count; i++) {
        const struct trace_record *r = findings[i].record;
        fail_with_finding(verdict, evidence, r, before);
        const struct trace_finding_kind *kind = trace_finding_kind(r);
        verdict_kind(verdict, kind->name);
        char times[64] = "";
        if (findings[i].count > 1)
            snprintf(times, sizeof times, _("It was seen %" PRIu64 " times."), findings[i].count);
        if (kind->why != NULL) {
            verdict_why(verdict, "%s%s%s", times, times[0] != '\0' ? " " : "", _(kind->why));
            verdict_hint(verdict, "%s", _(hint_of(evidence, r)));
        } else if (times[0] != '\0') {
            verdict_why(verdict, "%s", times);
        }
    }
    free(findings);
}

void verdict_findings_after(struct verdict *verdict, const struct evidence *evidence,
                            const enum trace_finding_kind_id *kinds, const char *before)
{
    fail_with_all(verdict, evidence, TRACE_FINDING, kinds, _(before));
}

void verdict_advice(struct verdict *verdict, const struct evidence *evidence)
{
    if (verdict_failed(verdict)) return;
    verdict_advice_after(verdict, evidence, "");
}

void verdict_advice_after(struct verdict *verdict, const struct evidence *evidence,
                          const char *before)
{
    static const enum trace_finding_kind_id waits[] = {
        FINDING_KIND_UNPROMISED_WAIT, FINDING_KIND_UNPROMISED_EVENT,
        FINDING_KIND_UNPROMISED_STAGING, FINDING_KIND_COUNT};
    fail_with_all(verdict, evidence, TRACE_ADVICE, waits, _(before));
}

/* ---- leaks --------------------------------------------------------------------------------- */

/* Returns the record of the object's end if it precedes the record `end`, else NULL. */
static const struct trace_record *ending_of(const struct evidence *evidence,
                                            const struct trace_record *created,
                                            const struct trace_record *end)
{
    const struct trace_record *destroyed =
        evidence_object(evidence, TRACE_DESTROY, created, created);
    return destroyed != NULL && (end == NULL || destroyed < end) ? destroyed : NULL;
}

/* A detached thread ends on its own at some time; it leaks when it had not ended by the end of the
 * phase. A call of the thread after that end is proof, and so is that it still exists much later.
 * Existing shortly after is no proof: a thread needs a moment to exit after it has signalled that
 * it is done. */
static const struct trace_record *call_after(const struct evidence *evidence,
                                             const struct trace_record *thread,
                                             const struct trace_record *end)
{
    const struct trace_record caller = {.process = thread->process,
                                        .object = (uint32_t)thread->count};
    return thread->count != 0 ? evidence_object(evidence, TRACE_CALL, &caller, end) : NULL;
}

static void threads_at_work(struct verdict *verdict, const struct evidence *evidence,
                            const struct phase *phase, const char *before)
{
    struct query query = {
        .phase = phase, .kind = TRACE_CREATE, .what = TRACE_THREAD, .student = true};
    const struct trace_record *end = &evidence->trace.records[phase->last];

    for (const struct trace_record *r = NULL; (r = evidence_next(evidence, &query, r)) != NULL;) {
        const struct trace_record *ending = ending_of(evidence, r, end);
        if (ending == NULL || !(ending->flags & TRACE_DETACHED)) continue;
        const struct trace_record *call = call_after(evidence, r, end);
        if (call == NULL && ending->count == 0) continue;
        const char *blank = *before != '\0' ? " " : "";
        if (call != NULL)
            verdict_fail(verdict, evidence, r,
                         "%s%sA thread that was started here and detached was still at work when "
                         "the function had returned: it called %s.",
                         before, blank, call->name);
        else
            verdict_fail(verdict, evidence, r,
                         "%s%sA thread that was started here and detached had not ended when the "
                         "function had returned, nor a while later.",
                         before, blank);
        verdict_kind(verdict, "leak");
        verdict_why(verdict, "After the return the arrays are the caller's, who may read or "
                             "release them while the thread still writes.");
        verdict_hint(verdict, "Join it instead of detaching it, or let it tell when it is done "
                              "(a semaphore, a condition variable) and wait for that.");
        return; /* one failure is enough: the other threads come from the same line */
    }
}

void verdict_leaks(struct verdict *verdict, const struct evidence *evidence,
                   const struct phase *phase)
{
    verdict_leaks_after(verdict, evidence, phase, "");
}

/* Returns true for records of one line, as a template's have for all its types. */
static bool is_at_one_line(const struct evidence *evidence, const struct trace_record *a,
                           const struct trace_record *b)
{
    struct place x, y;
    return evidence_student_place(evidence, a, &x) && evidence_student_place(evidence, b, &y) &&
           x.line != 0 && x.line == y.line && strcmp(x.file, y.file) == 0;
}

/* Returns which of the places the record belongs to, or `places`: a new one. Lines are looked up as
 * long as there is room for another place. */
static size_t place_of_leak(const struct evidence *evidence,
                            const struct trace_record *const leaked[LEAK_PLACES], size_t places,
                            const struct trace_record *record)
{
    for (size_t i = 0; i < places; i++)
        if (leaked[i]->caller == record->caller && leaked[i]->what == record->what) return i;
    for (size_t i = 0; places < LEAK_PLACES && i < places; i++)
        if (leaked[i]->what == record->what && is_at_one_line(evidence, leaked[i], record))
            return i;
    return places;
}

/* Fails for leaked objects of kind `what` (0: all kinds), with one failure per source line, however
 * many objects it leaks. */
static void objects_left(struct verdict *verdict, const struct evidence *evidence,
                         const struct phase *phase, uint32_t what, const char *before)
{
    struct query query = {.phase = phase, .kind = TRACE_CREATE, .what = what, .student = true};
    const struct trace_record *end = phase != NULL ? &evidence->trace.records[phase->last] : NULL;
    const struct trace_record *leaked[LEAK_PLACES];
    uint64_t count[LEAK_PLACES], bytes[LEAK_PLACES];
    size_t places = 0;

    for (const struct trace_record *r = NULL; (r = evidence_next(evidence, &query, r)) != NULL;) {
        if ((r->flags & TRACE_IMPLICIT) || ending_of(evidence, r, end) != NULL) continue;
        const size_t i = place_of_leak(evidence, leaked, places, r);
        if (i == LEAK_PLACES) continue;
        if (i == places) {
            leaked[places] = r;
            count[places] = bytes[places] = 0;
            places++;
        }
        count[i]++;
        bytes[i] += r->bytes;
    }
    for (size_t i = 0; i < places; i++) {
        const struct trace_held *row = trace_held(leaked[i]->what);
        char sentence[160];
        if (row == NULL) continue; /* not an object that a program must release */
        trace_leak_sentence(leaked[i]->what, count[i], bytes[i], messages_get, sentence,
                            sizeof sentence);
        verdict_fail(verdict, evidence, leaked[i], "%s%s%s", before, *before != '\0' ? " " : "",
                     sentence);
        verdict_kind(verdict, "leak");
        verdict_why(verdict, "%s", _(row->why));
        verdict_hint(verdict,
                     "It is %s by %s, on every path out of the function, also the ones after an "
                     "error.",
                     _(row->ended), _(trace_ended_by(leaked[i])));
    }
}

void verdict_leaks_after(struct verdict *verdict, const struct evidence *evidence,
                         const struct phase *phase, const char *before)
{
    objects_left(verdict, evidence, phase, 0, before);
    if (phase != NULL) threads_at_work(verdict, evidence, phase, before);
}

bool verdict_threads_left(struct verdict *verdict, const struct evidence *evidence,
                          const struct phase *phase)
{
    if (verdict_failed(verdict)) return false;
    objects_left(verdict, evidence, phase, TRACE_THREAD, "");
    if (!verdict_failed(verdict)) threads_at_work(verdict, evidence, phase, "");
    return verdict_failed(verdict);
}

/* ---- failed calls ------------------------------------------------------------------------------
 */

void verdict_calls_succeed(struct verdict *verdict, const struct evidence *evidence,
                           const struct phase *phase)
{
    struct query query = {.phase = phase, .kind = TRACE_CALL, .student = true};

    for (const struct trace_record *r = NULL; (r = evidence_next(evidence, &query, r)) != NULL;) {
        if (r->code == 0 || r->code == NOT_READY) continue;
        verdict_fail(verdict, evidence, r, "%s returned error %d%s%s%s.", r->name, r->code,
                     r->text[0] != '\0' ? " (" : "", r->text, r->text[0] != '\0' ? ")" : "");
        verdict_why(verdict, "The call did nothing, and the code after it works with something "
                             "that does not exist.");
        verdict_hint(verdict, "Check the arguments on that line, and the returned value of every "
                              "call before it.");
        return; /* later errors have this one as their cause */
    }
}
