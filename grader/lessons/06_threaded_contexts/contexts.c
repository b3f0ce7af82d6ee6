/* Checks of contexts and modules, and of which threads and processes ran at the same time. */
#include "grader/base/messages.h"
#include "grader/lessons/06_threaded_contexts/parts.h"

#include <string.h>

/* ---- contexts ------------------------------------------------------------------------------ */

/* The contexts that the student's code made in a phase, in the order of making. */
struct contexts {
    const struct trace_record *made[THREADED_ARRAYS];
    size_t count; /* may exceed the room in `made` */
};

static struct contexts contexts_of(const struct evidence *evidence, const struct phase *phase)
{
    struct contexts contexts = {.count = 0};
    struct query query = {.phase = phase, .kind = TRACE_CREATE, .what = TRACE_CONTEXT};
    for (const struct trace_record *r = evidence_next(evidence, &query, NULL); r;
         r = evidence_next(evidence, &query, r)) {
        if (r->flags & TRACE_IMPLICIT) continue;
        if (contexts.count < THREADED_ARRAYS) contexts.made[contexts.count] = r;
        contexts.count++;
    }
    return contexts;
}

/* Returns true for the right number of contexts; otherwise the verdict fails with the number
 * found. */
static bool contexts_counted(struct verdict *verdict, const struct evidence *evidence,
                             const struct threaded_view *view, const struct contexts *contexts)
{
    if (contexts->count == view->call->count) return true;
    const char *whom = view->call->way == THREADED_BY_PROCESSES ? "process" : "thread";
    verdict_fail(verdict, evidence, contexts->count ? contexts->made[0] : NULL,
                 "%zu contexts were created for %u arrays.", contexts->count, view->call->count);
    verdict_why(verdict,
                "Each %s makes a context of its own: its own memory, its own modules, its "
                "own errors. A fault in one does not take the others with it.",
                whom);
    verdict_hint(verdict, "cuCtxCreate, once in each %s, and cuCtxDestroy at its end.", whom);
    return false;
}

static const struct trace_record *owner_of(const struct contexts *contexts, uint32_t process,
                                           uint64_t context)
{
    for (size_t i = 0; i < contexts->count && i < THREADED_ARRAYS; i++)
        if (contexts->made[i]->process == process && contexts->made[i]->object == context)
            return contexts->made[i];
    return NULL;
}

/* Returns true for calls that move or end contexts rather than use them. */
static bool moves_contexts(const char *name)
{
    static const char *const movers[] = {"cuCtxCreate",      "cuCtxDestroy",    "cuCtxPopCurrent",
                                         "cuCtxPushCurrent", "cuCtxSetCurrent", "cuCtxGetCurrent"};
    for (size_t i = 0; i < sizeof movers / sizeof *movers; i++)
        if (!strcmp(name, movers[i])) return true;
    return false;
}

static void judge_contexts_of(struct verdict *verdict, const struct evidence *evidence,
                              const struct threaded_view *view)
{
    struct contexts contexts = contexts_of(evidence, &view->phase);
    uint32_t caller = evidence->trace.records[view->phase.first].thread;
    if (!contexts_counted(verdict, evidence, view, &contexts)) return;

    for (size_t i = 0; i < contexts.count; i++) {
        const struct trace_record *made = contexts.made[i];
        if (made->thread == caller) {
            verdict_fail(verdict, evidence, made, "The calling thread made a context itself.");
            verdict_why(verdict, "The array's own thread makes it, so that it is current there and "
                                 "nowhere else; a context made here is current here.");
            verdict_hint(verdict, "Move cuCtxCreate into the function that pthread_create starts.");
            return;
        }
        for (size_t j = 0; j < i; j++) {
            if (contexts.made[j]->thread != made->thread) continue;
            verdict_fail(verdict, evidence, made, "One thread made two contexts.");
            verdict_why(verdict, "An array, a thread and a context belong together.");
            verdict_hint(verdict,
                         "A thread for each array: pthread_create in a loop over `count`.");
            return;
        }
    }

    struct query calls = {.phase = &view->phase, .kind = TRACE_CALL, .student = true};
    for (const struct trace_record *call = evidence_next(evidence, &calls, NULL); call;
         call = evidence_next(evidence, &calls, call)) {
        if (!call->context || moves_contexts(call->name)) continue;
        const struct trace_record *made = owner_of(&contexts, call->process, call->context);
        if (made && made->thread == call->thread) continue;
        verdict_fail(verdict, evidence, call, "%s was called in a context that %s.", call->name,
                     made ? _("another thread made") : _("none of the threads made"));
        verdict_why(verdict, "Threads that share a context share its queue, its error state and "
                             "its lock: nothing is each thread's own any more.");
        verdict_hint(verdict, "After cuCtxCreate the new context is current to the thread that "
                              "made it. Nothing else needs to be set.");
        return;
    }
}

void threaded_judge_contexts(struct verdict *verdict, const struct evidence *evidence)
{
    if (!threaded_written(verdict, evidence)) return;
    const struct threaded_input *in = evidence->input;
    struct threaded_view view;
    for (uint32_t c = 0; c < in->call_count && threaded_view(verdict, evidence, c, &view); c++) {
        judge_contexts_of(verdict, evidence, &view);
        if (verdict_failed(verdict)) return;
    }
}

void threaded_judge_modules(struct verdict *verdict, const struct evidence *evidence)
{
    if (!threaded_written(verdict, evidence)) return;
    const struct threaded_input *in = evidence->input;
    struct threaded_view view;
    for (uint32_t c = 0; c < in->call_count && threaded_view(verdict, evidence, c, &view); c++) {
        struct contexts contexts = contexts_of(evidence, &view.phase);
        if (!contexts_counted(verdict, evidence, &view, &contexts)) return;
        for (size_t i = 0; i < contexts.count; i++) {
            const struct trace_record *made = contexts.made[i];
            struct query query = {.phase = &view.phase,
                                  .kind = TRACE_CREATE,
                                  .what = TRACE_LIBRARY,
                                  .process = made->process,
                                  .context = made->object};
            if (evidence_next(evidence, &query, NULL)) continue;
            query.context = 0;
            verdict_fail(verdict, evidence, evidence_next(evidence, &query, NULL),
                         "Not every context has a module of its own: none was loaded into context "
                         "%llu.",
                         (unsigned long long)made->object);
            verdict_why(verdict, "A module is loaded into the context that is current, and its "
                                 "functions exist only there. Launched in another context, a "
                                 "CUfunction is an invalid handle.");
            verdict_hint(verdict, "cuModuleLoadData in each thread, after its cuCtxCreate.");
            return;
        }
    }
}

/* Returns how many of the contexts existed at the same time. Records are in order of time. */
static size_t most_at_once(const struct evidence *evidence, const struct phase *phase)
{
    size_t now = 0, most = 0;
    for (size_t i = phase->first; i <= phase->last; i++) {
        const struct trace_record *r = &evidence->trace.records[i];
        if (r->what != TRACE_CONTEXT || (r->flags & TRACE_IMPLICIT)) continue;
        if (r->kind == TRACE_CREATE && ++now > most) most = now;
        if (r->kind == TRACE_DESTROY && now) now--;
    }
    return most;
}

/* How many threads were started, in all and before the first join. Threads that are not joined give
 * another proof: all are started before the first one has done its work and destroys its context,
 * because a new thread lets its starter go first. */
struct starts {
    size_t all, before_first_end;
    bool joined;
};

static struct starts starts_of(const struct evidence *evidence, const struct phase *phase)
{
    struct starts starts = {0};
    size_t before_first_context_ends = 0;
    bool context_ended = false;
    for (size_t i = phase->first; i <= phase->last; i++) {
        const struct trace_record *r = &evidence->trace.records[i];
        if (r->what == TRACE_THREAD && r->kind == TRACE_CREATE) {
            starts.all++;
            if (!starts.joined) starts.before_first_end++;
            if (!context_ended) before_first_context_ends++;
        }
        if (r->what == TRACE_THREAD && r->kind == TRACE_DESTROY && !(r->flags & TRACE_DETACHED))
            starts.joined = true;
        if (r->what == TRACE_CONTEXT && r->kind == TRACE_DESTROY) context_ended = true;
    }
    const bool starter_first = evidence->order != NULL && strcmp(evidence->order, "latest") == 0;
    if (!starts.joined && starter_first) starts.before_first_end = before_first_context_ends;
    return starts;
}

/* Uses two kinds of proof, because one may be missing: on a busy machine a short thread may have
 * ended before the next one begins, and threads may be started in ways that are not recorded. */
void threaded_judge_together(struct verdict *verdict, const struct evidence *evidence)
{
    if (!threaded_written(verdict, evidence)) return;
    struct threaded_view view;
    if (!threaded_view(verdict, evidence, 0, &view)) return;
    struct contexts contexts = contexts_of(evidence, &view.phase);
    if (!contexts_counted(verdict, evidence, &view, &contexts)) return;
    const size_t most = most_at_once(evidence, &view.phase);
    const struct starts starts = starts_of(evidence, &view.phase);
    const bool seen = starts.all >= view.call->count;
    /* On the emulator a thread is done before the next one begins. */
    if (evidence->device == DRIVE_GPU)
        verdict_figure(verdict, "contexts_at_once", "%zu of %u contexts existed at one time", most,
                       view.call->count);
    if (seen ? starts.before_first_end >= view.call->count : most > 1) return;
    if (seen && starts.joined)
        verdict_fail_in(verdict, evidence, BY_THREADS,
                        "A thread was joined when only %zu of %u had been started.",
                        starts.before_first_end, view.call->count);
    else
        verdict_fail_in(verdict, evidence, BY_THREADS,
                        "No two contexts existed at the same time: the threads ran one after "
                        "another.");
    verdict_why(verdict, "A thread that is joined as soon as it is started runs alone: the arrays "
                         "are done one after another.");
    verdict_hint(verdict, "Two loops: the first starts all threads, the second joins them.");
}

/* ---- processes ----------------------------------------------------------------------------- */

bool threaded_parent_calls_nothing(struct verdict *verdict, const struct evidence *evidence,
                                   const struct phase *phase)
{
    const uint32_t parent = evidence->trace.records[phase->first].process;
    const struct query calls = {.phase = phase, .kind = TRACE_CALL, .process = parent};
    const struct trace_record *call = evidence_next(evidence, &calls, NULL);
    if (call == NULL) return true;
    verdict_fail(verdict, evidence, call, "The parent process called %s.", call->name);
    verdict_why(verdict, "A started driver has threads, locks and a connection to the device "
                         "that a fork does not carry over: every CUDA call in a child of this "
                         "process returns CUDA_ERROR_NOT_INITIALIZED (3), or worse, hangs.");
    verdict_hint(verdict, "Leave all of CUDA, cuInit and the names of errors included, to the "
                          "children, after fork().");
    return false;
}

bool threaded_children_end(struct verdict *verdict, const struct evidence *evidence,
                           const struct phase *phase)
{
    const struct trace_record *begin = &evidence->trace.records[phase->first];
    for (size_t i = phase->first; i < evidence->trace.count; i++) {
        const struct trace_record *r = &evidence->trace.records[i];
        if (r->kind != TRACE_MARK || r->object != begin->object || r->process == begin->process ||
            strcmp(r->name, begin->name) != 0)
            continue;
        verdict_fail_in(verdict, evidence, BY_PROCESSES,
                        "A child process returned from threaded_contexts_processes.");
        verdict_why(verdict,
                    "The caller's code then goes on twice: in the parent, and in a copy of "
                    "it.");
        verdict_hint(verdict, "A child ends with _exit, on every path, also after an error.");
        return false;
    }
    return true;
}

void threaded_judge_fork(struct verdict *verdict, const struct evidence *evidence)
{
    if (!threaded_written(verdict, evidence)) return;
    struct threaded_view view;
    if (!threaded_view(verdict, evidence, 0, &view)) return;
    if (!threaded_parent_calls_nothing(verdict, evidence, &view.phase)) return;
    struct contexts contexts = contexts_of(evidence, &view.phase);
    if (!contexts_counted(verdict, evidence, &view, &contexts)) return;
    for (size_t i = 0; i < contexts.count; i++)
        for (size_t j = 0; j < i; j++) {
            if (contexts.made[j]->process != contexts.made[i]->process) continue;
            verdict_fail(verdict, evidence, contexts.made[i], "One process made two contexts.");
            verdict_why(verdict, "An array, a process and a context belong together.");
            verdict_hint(verdict, "fork() once for each array.");
            return;
        }
}

bool threaded_children_are_waited_for(struct verdict *verdict, const struct evidence *evidence,
                                      const struct threaded_view *view, const char *before)
{
    const char *blank = before[0] != '\0' ? "; " : "";
    if (view->answer->child_taken) {
        verdict_fail_in(verdict, evidence, BY_PROCESSES,
                        "%s%sa child of the caller's own was waited for.", before, blank);
        verdict_why(verdict, "wait() and waitpid(-1, ...) take any child that has ended. The "
                             "caller's child is then gone for the caller, and one of this "
                             "function's own is not counted.");
        verdict_hint(verdict, "waitpid() with each pid that fork() gave.");
        return false;
    }
    if (!view->answer->children_left) return true;
    verdict_fail_in(verdict, evidence, BY_PROCESSES,
                    "%s%sa child process had not been waited for when the function returned.",
                    before, blank);
    verdict_why(verdict, "A child that has ended stays in the process table until its parent takes "
                         "its status; and until then the parent does not know whether the child "
                         "finished or died.");
    if (strstr(before, _("a signal had interrupted it")) != NULL)
        verdict_hint(verdict, "A caller may have handlers for signals: where waitpid fails and "
                              "errno is EINTR, call it again.");
    else
        verdict_hint(verdict, "waitpid() for each pid that fork() gave, and look at the status.");
    return false;
}

void threaded_judge_children(struct verdict *verdict, const struct evidence *evidence)
{
    if (!threaded_written(verdict, evidence)) return;
    const struct threaded_input *in = evidence->input;
    struct threaded_view view;
    for (uint32_t c = 0; c < in->call_count && threaded_view(verdict, evidence, c, &view); c++)
        if (!threaded_children_are_waited_for(verdict, evidence, &view, "")) return;
}
