#include "grader/evidence/verdict.h"
#include "grader/base/messages.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Begins the next failure with its `what`; returns NULL when VERDICT_FAILURES are kept. */
static struct verdict_failure *begin_failure(struct verdict *verdict, const struct place *place,
                                             const char *format, va_list list)
{
    if (verdict->failure_count == VERDICT_FAILURES) {
        verdict->failures_left_out++;
        return NULL;
    }
    struct verdict_failure *failure = &verdict->failures[verdict->failure_count++];
    memset(failure, 0, sizeof *failure);
    failure->place = *place;
    vsnprintf(failure->what, sizeof failure->what, _(format), list);
    return failure;
}

/* Finds the best place that is known for the lesson as a whole. */
static void place_of_lesson(const struct evidence *evidence, const char *function,
                            struct place *place)
{
    if (function != NULL && evidence_function(evidence, function, place)) return;
    if (evidence_function(evidence, evidence->lesson->function, place)) return;
    memset(place, 0, sizeof *place);
    snprintf(place->file, sizeof place->file, "%s/%s", evidence->shown_folder,
             evidence->lesson->files[0]);
    place->line = 1;
}

void verdict_fail(struct verdict *verdict, const struct evidence *evidence,
                  const struct trace_record *record, const char *format, ...)
{
    struct place place;
    va_list list;

    if (record == NULL || !evidence_student_place(evidence, record, &place))
        place_of_lesson(evidence, NULL, &place);
    va_start(list, format);
    begin_failure(verdict, &place, format, list);
    va_end(list);
}

void verdict_fail_in(struct verdict *verdict, const struct evidence *evidence, const char *function,
                     const char *format, ...)
{
    struct place place;
    va_list list;

    place_of_lesson(evidence, function, &place);
    va_start(list, format);
    begin_failure(verdict, &place, format, list);
    va_end(list);
}

void verdict_fail_at(struct verdict *verdict, const struct place *place, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    begin_failure(verdict, place, format, list);
    va_end(list);
}

/* Returns the failure begun last, or NULL when that one was left out. */
static struct verdict_failure *current(struct verdict *verdict)
{
    if (verdict->failure_count == 0 || verdict->failures_left_out > 0) return NULL;
    return &verdict->failures[verdict->failure_count - 1];
}

void verdict_why(struct verdict *verdict, const char *format, ...)
{
    struct verdict_failure *failure = current(verdict);
    va_list list;

    va_start(list, format);
    if (failure != NULL) vsnprintf(failure->why, sizeof failure->why, _(format), list);
    va_end(list);
}

void verdict_hint(struct verdict *verdict, const char *format, ...)
{
    struct verdict_failure *failure = current(verdict);
    va_list list;

    va_start(list, format);
    if (failure != NULL) vsnprintf(failure->hint, sizeof failure->hint, _(format), list);
    va_end(list);
}

void verdict_kind(struct verdict *verdict, const char *kind)
{
    struct verdict_failure *failure = current(verdict);
    if (failure != NULL) snprintf(failure->kind, sizeof failure->kind, "%s", kind);
}

void verdict_not_judged(struct verdict *verdict, const char *because)
{
    if (current(verdict) == NULL) return;
    verdict->not_judged++;
    snprintf(verdict->because, sizeof verdict->because, "%s", because);
}

const char *verdict_because(const struct verdict *verdict)
{
    const bool all = verdict->not_judged > 0 && verdict->not_judged == verdict->failure_count &&
                     verdict->failures_left_out == 0;
    return all ? verdict->because : NULL;
}

void verdict_slow(struct verdict *verdict)
{
    verdict->slow = true;
}

void verdict_skip(struct verdict *verdict, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    verdict->skipped = true;
    vsnprintf(verdict->skip_reason, sizeof verdict->skip_reason, _(format), list);
    va_end(list);
}

void verdict_pass_over(struct verdict *verdict, const char *reason)
{
    verdict->passed_over = true;
    snprintf(verdict->skip_reason, sizeof verdict->skip_reason, "%s", reason);
}

void verdict_figure(struct verdict *verdict, const char *key, const char *format, ...)
{
    size_t i = 0;
    va_list list;

    /* A check that is judged on several evidences keeps the last figure. */
    while (i < verdict->figure_count && strcmp(verdict->figures[i].key, key) != 0) i++;
    if (i == VERDICT_FIGURES) return;
    if (i == verdict->figure_count) verdict->figure_count++;
    struct verdict_figure *figure = &verdict->figures[i];
    snprintf(figure->key, sizeof figure->key, "%s", key);
    va_start(list, format);
    vsnprintf(figure->text, sizeof figure->text, _(format), list);
    va_end(list);
}

bool verdict_failed(const struct verdict *verdict)
{
    return verdict->failure_count > 0;
}
