/* What a check reports when a run did not end well: how it ended, on which line, and what to look
 * at next. */
#include "grader/base/messages.h"
#include "grader/evidence/evidence.h"
#include "grader/evidence/sources.h"
#include "grader/evidence/verdict.h"
#include "trace/sentence.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

struct advice {
    const char *why;
    const char *hint;
};

static const struct advice advices[ENDED_COUNT] = {
    [ENDED_NOT_STARTED] =
        {N_("Without a process there is nothing to judge."),
         N_("A name that is not found at this point is a function that was declared "
            "and called but belongs to no library that the lesson links.")},
    [ENDED_EARLY] = {N_("A function must return to its caller: exit() ends the whole program, and "
                        "nothing after it is done."),
                     N_("Return the error instead of leaving.")},
    [ENDED_DRIVE] = {N_("The part of the program that calls your function could not go on."),
                     N_("What it printed says why.")},
    [ENDED_SIGNAL] =
        {N_("The program did nothing after that point, so the check cannot be judged."),
         N_("Look at every pointer used on that line: where it comes from, whether it is "
            "the host's or the device's, how many elements it has. Device memory cannot "
            "be touched by host code.")},
    [ENDED_TIME] = {N_("A run has a time limit, far above what the task needs."),
                    N_("Look for a loop whose condition never changes, or for a wait for something "
                       "that was never started.")},
    [ENDED_MEMORY] = {N_("A run has a memory limit, far above what the task needs."),
                      N_("Look for an allocation inside a loop, or one whose size is in the wrong "
                         "unit (bytes or elements).")},
    [ENDED_PROCESSES] =
        {N_("A process that is not waited for is a leak, and a thousand of them stop a machine."),
         N_("Look for a fork() whose child goes on in the parent's code instead of "
            "ending with _exit().")},
    [ENDED_OUTPUT] = {N_("A run may print up to 1 MiB."),
                      N_("Look for a message printed inside a loop.")},
    [ENDED_FILES] = {N_("A run has a folder for small files, far larger than the task needs."),
                     N_("Look for a file written inside a loop.")},
    [ENDED_UNWATCHED] = {N_("A program that is graded may signal only processes that it started."),
                         N_("Look at the arguments of every kill().")},
    [ENDED_REACHED_UP] =
        {N_("A program that is graded may act only on itself and on processes that it started."),
         N_("Look at where the process number in that call comes from: getppid(), -1 "
            "and a fork() that failed are not a child.")},
    [ENDED_TYPED] =
        {N_("What a program puts into a terminal's input runs as if a person had typed it."),
         N_("Print what you have to say. Leave the terminal's input alone: TIOCSTI and TIOCLINUX "
            "are refused.")},
    [ENDED_NOT_MADE] = {N_("A run that did not end is not made again."),
                        N_("Look at the run that did not end first.")},
    [ENDED_LEFT_RUNNING] = {N_("A program waits for the processes that it starts: one that stays "
                               "keeps its memory and its device."),
                            N_("Every fork() needs its waitpid().")},
};

bool evidence_ending_place(const struct evidence *evidence, struct place *place)
{
    for (size_t i = 0; i < evidence->frame_count; i++) {
        uint64_t at = evidence->frames[i] - (i > 0);
        if (at < evidence->base) continue;
        if (sources_place(evidence->sources, at - evidence->base, place) && place->submission)
            return true;
    }
    return false;
}

/* A file that is too large ends the program by a signal, yet no pointer is at fault. */
static const struct advice *advice_for(const struct evidence *evidence)
{
    if (evidence->ending == ENDED_SIGNAL && evidence->signal == SIGXFSZ)
        return &advices[ENDED_FILES];
    return &advices[evidence->ending];
}

/* Returns the run plan's own hint, where it has one for this ending. */
static const char *hint_of(const struct evidence *evidence)
{
    const struct run_plan *plan = evidence->plan;
    const bool crashed = evidence->ending == ENDED_SIGNAL &&
                         (evidence->signal == SIGSEGV || evidence->signal == SIGBUS);

    if (plan != NULL && crashed && plan->crash_hint != NULL) return plan->crash_hint;
    if (plan != NULL && evidence->ending == ENDED_TIME && plan->time_hint != NULL)
        return plan->time_hint;
    return advice_for(evidence)->hint;
}

/* Returns the device's last finding: the device saw the error before the process died of it, and
 * its sentence says more than the signal. */
static const struct trace_record *last_finding(const struct evidence *evidence)
{
    struct query query = {.kind = TRACE_FINDING};
    const struct trace_record *last = NULL;
    for (const struct trace_record *r = NULL; (r = evidence_next(evidence, &query, r)) != NULL;)
        last = r;
    return last;
}

/* Returns the student's last call that ended a device's context with all that the process has
 * there, or NULL. */
static const struct trace_record *last_reset(const struct evidence *evidence)
{
    static const char *const names[] = {"cudaDeviceReset*", "cuDevicePrimaryCtxReset*"};
    const struct trace_record *last = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct query calls = {.kind = TRACE_CALL, .name = names[i], .student = true};
        for (const struct trace_record *r = NULL; (r = evidence_next(evidence, &calls, r)) != NULL;)
            last = r;
    }
    return last;
}

/* Whose memory is gone crashes somewhere, which may be far from the call that took it. */
static bool say_reset(struct verdict *verdict, const struct evidence *evidence, const char *ending)
{
    const struct trace_record *reset =
        evidence->ending == ENDED_SIGNAL ? last_reset(evidence) : NULL;
    if (reset == NULL) return false;
    verdict_fail(verdict, evidence, reset,
                 "The program %s. Before that it called %.*s here, which ends all that the process "
                 "has on the device, the caller's memory, streams and events too.",
                 ending, TRACE_NAME_SIZE, reset->name);
    verdict_why(verdict, "A device belongs to the whole process. What others have there is not the "
                         "function's to end.");
    verdict_hint(verdict, "Release what the function itself has made, one by one, and leave the "
                          "device as it is.");
    return true;
}

static void fail_somewhere(struct verdict *verdict, const struct evidence *evidence,
                           const char *what)
{
    struct place place;
    if (evidence_ending_place(evidence, &place))
        verdict_fail_at(verdict, &place, "%s", what);
    else
        verdict_fail(verdict, evidence, last_finding(evidence), "%s", what);
}

static void say_briefly(struct verdict *verdict, const struct evidence *evidence, const char *told)
{
    char ending[300], what[600];

    if (evidence->ending == ENDED_WELL)
        snprintf(ending, sizeof ending, _("left no complete record"));
    else
        evidence_describe_ending(evidence, ending, sizeof ending);
    snprintf(what, sizeof what, _("Not judged: the run it needs %s (see %.150s above)."), ending,
             told);
    fail_somewhere(verdict, evidence, what);
    verdict_not_judged(verdict, told);
}

/* Reports a run that was cut short or not made because another run did not end. */
static void say_given_up(struct verdict *verdict, const struct evidence *evidence, const char *told)
{
    char what[600], see[200] = "", given_up[100] = "";

    if (evidence->ending == ENDED_TIME)
        snprintf(given_up, sizeof given_up, _(", and this one had not after %.0f s"),
                 evidence->own_seconds);
    if (told != NULL) snprintf(see, sizeof see, _(" (see %.150s above)"), told);
    snprintf(what, sizeof what, _("Not judged: the run \"%s\" did not end%s%s."),
             evidence->after->name, see, given_up);
    fail_somewhere(verdict, evidence, what);
    if (told != NULL) verdict_not_judged(verdict, told);
}

/* Writes "3 kernels", or with `what` NULL only "2" or "none". */
static const char *amount(uint64_t count, const char *what, char *text, size_t size)
{
    if (what == NULL)
        snprintf(text, size, count == 0 ? _("none") : "%" PRIu64, count);
    else /* the plural "s" is for English only */
        snprintf(text, size, "%" PRIu64 " %s%s", count, what,
                 count == 1 || messages_language()[0] != '\0' ? "" : "s");
    return text;
}

/* Reports a record that differs from what the device wrote: the counts in the record, and the
 * device's own counts. */
static void say_record_is_forged(struct verdict *verdict, const struct evidence *evidence)
{
    static const struct {
        enum trace_what what;
        const char *name, *done;
    } work[] = {{TRACE_KERNEL, N_("kernel"), N_("executed")},
                {TRACE_COPY, N_("copy operation"), N_("made")},
                {TRACE_SET, N_("memset"), N_("made")},
                {TRACE_HOST_FUNCTION, N_("host function"), N_("called")}};
    const struct trace_sums *found = &evidence->trace.found, *put = &evidence->trace.put;
    char text[300] = "", a[48], b[48];

    for (size_t i = 0; i < sizeof work / sizeof work[0] && text[0] == '\0'; i++) {
        const uint64_t told = found->operations[work[i].what], done = put->operations[work[i].what];
        if (told == done) continue;
        snprintf(text, sizeof text, _("The record is forged: it speaks of %s, the device %s %s."),
                 amount(told, _(work[i].name), a, sizeof a), _(work[i].done),
                 amount(done, NULL, b, sizeof b));
    }
    if (text[0] == '\0' && put->records == 0)
        snprintf(text, sizeof text,
                 _("The program ended without the device, which was to say "
                   "that the record is complete."));
    else if (text[0] == '\0')
        snprintf(text, sizeof text,
                 _("The record is forged: its entries are not those that the device wrote."));
    fail_somewhere(verdict, evidence, text);
    verdict_why(verdict, "The device counts what it does; a record that speaks of anything else "
                         "was written by the program.");
    verdict_hint(verdict, "Look for a write through a pointer that was not initialised.");
}

/* The trace was damaged, or is full. */
static void say_record_is_lost(struct verdict *verdict, const struct evidence *evidence)
{
    if (!evidence->trace_sound) {
        fail_somewhere(verdict, evidence,
                       _("The record of what the program did was written over by the program."));
        verdict_why(verdict, "Without it the check cannot be judged.");
        verdict_hint(verdict, "Look for a write through a pointer that was not initialised.");
        return;
    }
    if (evidence->trace.dropped == 0) {
        say_record_is_forged(verdict, evidence);
        return;
    }
    fail_somewhere(verdict, evidence,
                   _("The program made far more calls than the task needs, so that their record is "
                     "incomplete."));
    verdict_why(verdict, "%" PRIu64 " entries did not fit: what is missing cannot be judged.",
                evidence->trace.dropped);
    verdict_hint(verdict, "Look for a loop that calls CUDA more often than it has to, such as one "
                          "that asks for a query again and again.");
}

static int number_of(const struct evidence *evidence)
{
    return 1 + (int)evidence->ending + ENDED_COUNT * evidence->signal;
}

bool verdict_ending(struct verdict *verdict, const struct evidence *evidence, const char *told)
{
    char ending[300], what[300 + 200 + TRACE_SENTENCE_SIZE];
    const char *whose = evidence->reference ? _("The reference solution") : _("The program");

    if (evidence_usable(evidence)) return false;
    verdict->ended = number_of(evidence);
    if (evidence->after != NULL &&
        (evidence->ending == ENDED_TIME || evidence->ending == ENDED_NOT_MADE)) {
        say_given_up(verdict, evidence, told);
        return true;
    }
    if (told != NULL) {
        say_briefly(verdict, evidence, told);
        return true;
    }
    if (evidence->ending == ENDED_WELL) {
        say_record_is_lost(verdict, evidence);
        return true;
    }
    evidence_describe_ending(evidence, ending, sizeof ending);
    if (!evidence->reference && say_reset(verdict, evidence, ending)) return true;
    const struct trace_record *finding = last_finding(evidence);
    int used = snprintf(what, sizeof what, _("%s %s."), whose, ending);
    if (evidence->ending == ENDED_SIGNAL &&
        (evidence->signal == SIGSEGV || evidence->signal == SIGBUS) && evidence->frame_count > 0)
        used +=
            snprintf(what + used, sizeof what - (size_t)used,
                     _(" It touched the address 0x%llx%s."), (unsigned long long)evidence->fault,
                     evidence->fault < 4096 ? _(" (a null pointer)") : "");
    if (finding != NULL) {
        char sentence[TRACE_SENTENCE_SIZE];
        evidence_sentence(evidence, finding, sentence, sizeof sentence);
        snprintf(what + used, sizeof what - (size_t)used, _(" Before that, the device said: %s"),
                 sentence);
    }
    fail_somewhere(verdict, evidence, what);
    if (finding != NULL) verdict_kind(verdict, trace_finding_kind(finding)->name);
    verdict_why(verdict, "%s", _(advice_for(evidence)->why));
    verdict_hint(verdict, "%s", _(hint_of(evidence)));
    return true;
}
