/* The parent's side of lesson 06: contexts, values and results of threads and processes, errors. */
#include "grader/evidence/judge.h"
#include "grader/evidence/answer.h"
#include "grader/evidence/failures.h"
#include "grader/evidence/host_reference.h"
#include "grader/evidence/phases.h"
#include "grader/evidence/waits.h"
#include "grader/lessons/06_threaded_contexts/exchange.h"
#include "threads/refusals.h"
#include "threads/threads.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define BY_THREADS "threaded_contexts_threads"
#define BY_PROCESSES "threaded_contexts_processes"
#define SUM_TOLERANCE 1e-10 /* times the sum of the magnitudes: any order of adding in double */
#define OUT_OF_MEMORY 2
#define OPERATING_SYSTEM 304

/* ---- the runs ------------------------------------------------------------------------------ */

static int allocate(struct run_input *input, const struct threaded_call *calls, uint32_t count)
{
    uint64_t room = 0;
    for (uint32_t i = 0; i < count; i++) room += threaded_room(&calls[i]);

    struct threaded_input *in = run_input_allocate(input, sizeof *in + room * sizeof(float));
    if (in == NULL) return -1;
    in->call_count = count;
    room = 0;
    for (uint32_t i = 0; i < count; i++) {
        in->calls[i] = calls[i];
        in->calls[i].offset = room;
        room += threaded_room(&calls[i]);
    }
    host_reference_draw(input->random, in->values, (size_t)room);
    input->output_size = sizeof(struct threaded_output) + room * sizeof(float);
    return 0;
}

/* Ten arrays, of about a million floats on a GPU; a few hundred on the emulator, each of another
 * length, so that no array can be taken for its neighbour. */
static struct threaded_call draw_call(struct run_input *input, uint32_t way, uint32_t count)
{
    struct threaded_call call = {.way = way, .count = count};
    for (uint32_t i = 0; i < count; i++)
        call.lengths[i] = input->device == DRIVE_GPU
                              ? (uint64_t)random_between(input->random, 1 << 19, 1 << 20)
                              : (uint64_t)random_between(input->random, 200, 900);
    return call;
}

/* More arrays than a table of a fixed size is likely to have room for; a GPU has none for as many
 * contexts. */
static struct threaded_call draw_many(struct run_input *input, uint32_t way)
{
    struct threaded_call call = {.way = way, .count = input->device == DRIVE_GPU ? 17 : 66};
    for (uint32_t i = 0; i < call.count; i++)
        call.lengths[i] = (uint64_t)random_between(input->random, 1, 40);
    return call;
}

static int prepare_threads(struct run_input *input)
{
    const struct threaded_call calls[] = {draw_call(input, THREADED_BY_THREADS, 10),
                                          draw_call(input, THREADED_BY_THREADS, 3),
                                          draw_many(input, THREADED_BY_THREADS)};
    return allocate(input, calls, 3);
}

static int prepare_processes(struct run_input *input)
{
    struct threaded_call calls[] = {draw_call(input, THREADED_BY_PROCESSES, 10),
                                    draw_call(input, THREADED_BY_PROCESSES, 2),
                                    draw_many(input, THREADED_BY_PROCESSES)};
    /* More bytes than a pipe holds, 64 KiB. */
    for (uint32_t i = 0; i < calls[1].count; i++)
        calls[1].lengths[i] = (uint64_t)random_between(input->random, 20000, 40000);
    return allocate(input, calls, 3);
}

static int prepare_errors(struct run_input *input)
{
    struct threaded_call calls[] = {draw_call(input, THREADED_BY_THREADS, 3),
                                    draw_call(input, THREADED_BY_THREADS, 4),
                                    draw_call(input, THREADED_BY_THREADS, 5)};
    calls[0].slip = THREADED_BAD_IMAGE;
    calls[1].slip = calls[2].slip = THREADED_TOO_LONG;
    calls[1].slip_array = calls[1].second_slip = (uint32_t)random_between(input->random, 1, 2);
    /* Two that fail, most likely with two errors; which of them comes first is the seed's. */
    calls[2].slip_array = 1 + 2 * (uint32_t)random_between(input->random, 0, 1);
    calls[2].second_slip = 4 - calls[2].slip_array;
    return allocate(input, calls, 3);
}

static int prepare_process_errors(struct run_input *input)
{
    struct threaded_call calls[] = {draw_call(input, THREADED_BY_PROCESSES, 3)};
    calls[0].slip = THREADED_BAD_IMAGE;
    return allocate(input, calls, 1);
}

/* Two of each, so that there is one beside the one whose call is made to fail. */
static int prepare_thread_failures(struct run_input *input)
{
    const struct threaded_call calls[] = {draw_call(input, THREADED_BY_THREADS, 2)};
    return allocate(input, calls, 1);
}

static int prepare_child_failures(struct run_input *input)
{
    const struct threaded_call calls[] = {draw_call(input, THREADED_BY_PROCESSES, 2)};
    return allocate(input, calls, 1);
}

static int prepare_time(struct run_input *input)
{
    /* On a GPU each context takes 0.2 s to make and to end, and there are many samples. */
    const uint32_t count = input->device == DRIVE_GPU ? 2 : 10;
    const struct threaded_call calls[] = {draw_call(input, THREADED_BY_THREADS, count)};
    return allocate(input, calls, 1);
}

#define MEMORY ((uint64_t)8 << 30) /* ten contexts, or ten processes with one, on a GPU */

static const struct run_plan runs[] = {
    {.name = "threads",
     .flags = RUN_ON_BOTH | RUN_IN_EVERY_ORDER | RUN_ALONE,
     .prepare = prepare_threads,
     .seconds = 60,
     .memory = MEMORY},
    {.name = "processes",
     .flags = RUN_ON_BOTH | RUN_ALONE,
     .prepare = prepare_processes,
     .seconds = 30,
     .memory = MEMORY,
     .processes = 96},
    {.name = "errors",
     .flags = RUN_ON_BOTH,
     .prepare = prepare_errors,
     .seconds = 60,
     .memory = MEMORY},
    {.name = "process errors",
     .flags = RUN_ON_BOTH,
     .prepare = prepare_process_errors,
     .seconds = 60,
     .memory = MEMORY,
     .processes = 32},
    FAILURES_PLAN(prepare_thread_failures),
    {.name = "child faults",
     .flags = RUN_ON_EMULATOR | RUN_INJECTIONS,
     .prepare = prepare_child_failures,
     .seconds = FAILURES_SECONDS,
     .trace_records = FAILURES_RECORDS,
     .processes = 8},
    {.name = "time",
     .flags = RUN_ON_BOTH | RUN_TIMED | RUN_THREADS,
     .prepare = prepare_time,
     .phase = THREADED_PHASE,
     .threshold = &threshold_threaded_contexts,
     .seconds = 60,
     .memory = MEMORY},
    {.name = NULL},
};

/* ---- what came back ------------------------------------------------------------------------ */

struct view { /* one call of one of the functions, with all that is known of it */
    const struct threaded_input *input;
    const struct threaded_call *call;
    const struct threaded_answer *answer;
    const float *before, *after; /* all its arrays, with guards */
    const char *function;
    struct phase phase;
};

/* False: there is no such call in this run; or its phase is missing, and the verdict has failed. */
static bool view_of(struct verdict *verdict, const struct evidence *evidence, uint32_t index,
                    struct view *view)
{
    const struct threaded_input *in = evidence->input;
    const struct threaded_output *out = evidence->output;
    if (index >= in->call_count) return false;
    view->input = in;
    view->call = &in->calls[index];
    view->answer = &out->answers[index];
    view->before = in->values + view->call->offset;
    view->after = out->values + view->call->offset;
    view->function = view->call->way == THREADED_BY_PROCESSES ? BY_PROCESSES : BY_THREADS;
    return phases_get(verdict, evidence, THREADED_PHASE, index, &view->phase);
}

static struct answer answer_of(const struct evidence *evidence, const struct view *view)
{
    return (struct answer){.evidence = evidence,
                           .phase = &view->phase,
                           .function = view->function,
                           .api = ANSWER_DRIVER,
                           .code = view->answer->error};
}

static bool written(struct verdict *verdict, const struct evidence *evidence)
{
    struct view view;
    if (!view_of(verdict, evidence, 0, &view)) return false;
    const struct answer answer = answer_of(evidence, &view);
    return answer_written(verdict, &answer);
}

/* ---- values and results -------------------------------------------------------------------- */

static const float *before_of(const struct view *view, uint32_t index)
{
    return view->before + (threaded_offset(view->call, index) - view->call->offset);
}

static const float *after_of(const struct view *view, uint32_t index)
{
    return view->after + (threaded_offset(view->call, index) - view->call->offset);
}

static bool array_is_right(struct verdict *verdict, const struct evidence *evidence,
                           const struct view *view, uint32_t index)
{
    char name[32];
    snprintf(name, sizeof name, "array %u", index);
    const struct host_reference_array array = {.function = view->function,
                                               .name = name,
                                               .input = before_of(view, index),
                                               .output = after_of(view, index),
                                               .length = (size_t)view->call->lengths[index]};
    if (!host_reference_same(array.input, array.output, array.length) &&
        verdict_causes(verdict, evidence))
        return false;
    if (!host_reference_compare(verdict, evidence, &array)) {
        if (view->call->way == THREADED_BY_PROCESSES)
            verdict_hint(verdict, "A child has a copy of its parent's memory, not the memory: what "
                                  "it writes to arrays[i].values stays in the child. Share a "
                                  "region (mmap, MAP_SHARED) before the fork, or send it through "
                                  "a pipe.");
        else
            verdict_hint(verdict,
                         "Each thread copies its own array in, launches the kernel on the "
                         "whole of it, and copies it out. Which array does thread %u "
                         "think it has?",
                         index);
        return false;
    }
    size_t length = (size_t)view->call->lengths[index];
    if (judge_first_difference(array.output + length, array.input + length, THREADED_GUARD,
                               sizeof(float)) < 0)
        return true;
    verdict_fail_in(verdict, evidence, view->function, "Array %u was written beyond its end.",
                    index);
    verdict_why(verdict, "Behind its last value lies somebody else's.");
    verdict_hint(verdict, "Sizes of copies are in bytes: length * sizeof(float).");
    return false;
}

static bool sum_is_right(const struct view *view, uint32_t index, double *sum)
{
    double scale = 0.0;
    *sum = host_reference_sum(before_of(view, index), (size_t)view->call->lengths[index], &scale);
    return fabs(view->answer->results[index].sum - *sum) <= SUM_TOLERANCE * scale;
}

static bool result_is_right(struct verdict *verdict, const struct evidence *evidence,
                            const struct view *view, uint32_t index)
{
    double sum, given = view->answer->results[index].sum;
    int32_t error = view->answer->results[index].error;
    if (sum_is_right(view, index, &sum) && error == 0) return true;

    if (error)
        verdict_fail_in(verdict, evidence, view->function,
                        "results[%u].error is %d, although nothing was wrong with array %u.", index,
                        error, index);
    else
        verdict_fail_in(verdict, evidence, view->function,
                        "results[%u].sum is %.17g; the array's new values add up to %.17g.", index,
                        given, sum);
    if (view->call->way == THREADED_BY_PROCESSES) {
        verdict_why(verdict, "A child's variables end with the child. What its parent shall know "
                             "has to go through memory that both share, or through a pipe; an exit "
                             "status has eight bits.");
        verdict_hint(verdict, "Is the result written to shared memory in the child, and read in "
                              "the parent after waitpid?");
    } else {
        verdict_why(verdict, "What a thread has found out reaches its starter as the value that "
                             "pthread_join delivers. A pointer to a variable of the thread's own "
                             "stack, or to a thread-local one, points at nothing when the thread "
                             "has ended.");
        verdict_hint(verdict, "Return memory from malloc, or a place that the starter owns; take "
                              "it from pthread_join's second argument, and write results[i].");
    }
    return false;
}

/* A result was read where a thread had returned the address of a thread-local variable. */
static bool ended_with_their_thread(struct verdict *verdict, const struct evidence *evidence,
                                    const struct view *view)
{
    int32_t spoiled;
    memset(&spoiled, THREADS_SPOILED, sizeof spoiled);
    for (uint32_t i = 0; i < view->call->count; i++) {
        if (view->answer->results[i].error != spoiled) continue;
        verdict_fail_in(verdict, evidence, BY_THREADS,
                        "results[%u] was read from a variable that had ended with its thread.", i);
        verdict_why(verdict,
                    "A thread-local variable ends with its thread, as its stack does; what "
                    "pthread_join delivers has to outlive the thread.");
        verdict_hint(verdict, "Return memory from malloc, or a place that the starter owns.");
        return true;
    }
    return false;
}

static void judge_finishes(struct verdict *verdict, const struct evidence *evidence)
{
    const struct threaded_input *in = evidence->input;
    for (uint32_t c = 0; c < in->call_count; c++) {
        struct view view;
        char doing[40];
        if (!view_of(verdict, evidence, c, &view)) return;
        struct answer answer = answer_of(evidence, &view);
        if (view.call->way == THREADED_BY_THREADS &&
            ended_with_their_thread(verdict, evidence, &view))
            return;
        snprintf(doing, sizeof doing, "%u arrays", view.call->count);
        if (!answer_succeeded(verdict, &answer, doing)) return;
    }
    verdict_calls_succeed(verdict, evidence, NULL);
}

static void judge_arrays(struct verdict *verdict, const struct evidence *evidence)
{
    if (!written(verdict, evidence)) return;
    const struct threaded_input *in = evidence->input;
    struct view view;
    for (uint32_t c = 0; c < in->call_count && view_of(verdict, evidence, c, &view); c++)
        for (uint32_t i = 0; i < view.call->count; i++)
            if (!array_is_right(verdict, evidence, &view, i)) return;
}

static void judge_results(struct verdict *verdict, const struct evidence *evidence)
{
    if (!written(verdict, evidence)) return;
    const struct threaded_input *in = evidence->input;
    struct view view;
    for (uint32_t c = 0; c < in->call_count && view_of(verdict, evidence, c, &view); c++)
        for (uint32_t i = 0; i < view.call->count; i++)
            if (!result_is_right(verdict, evidence, &view, i)) return;
}

/* ---- contexts ------------------------------------------------------------------------------ */

/* The contexts that the student's code made in a phase, in the order of making. */
struct contexts {
    const struct trace_record *made[THREADED_ARRAYS];
    size_t count; /* may be larger than there is room for */
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

/* The right number of contexts, or a failure that says what there was instead. */
static bool contexts_counted(struct verdict *verdict, const struct evidence *evidence,
                             const struct view *view, const struct contexts *contexts)
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

/* Calls that move contexts about, or end them, rather than use them. */
static bool moves_contexts(const char *name)
{
    static const char *const movers[] = {"cuCtxCreate",      "cuCtxDestroy",    "cuCtxPopCurrent",
                                         "cuCtxPushCurrent", "cuCtxSetCurrent", "cuCtxGetCurrent"};
    for (size_t i = 0; i < sizeof movers / sizeof *movers; i++)
        if (!strcmp(name, movers[i])) return true;
    return false;
}

static void judge_contexts_of(struct verdict *verdict, const struct evidence *evidence,
                              const struct view *view)
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
                     made ? "another thread made" : "none of the threads made");
        verdict_why(verdict, "A context that several threads use is one queue, one error state and "
                             "one lock for all of them: nothing is each thread's own any more.");
        verdict_hint(verdict, "After cuCtxCreate the new context is current to the thread that "
                              "made it. Nothing else needs to be set.");
        return;
    }
}

static void judge_contexts(struct verdict *verdict, const struct evidence *evidence)
{
    if (!written(verdict, evidence)) return;
    const struct threaded_input *in = evidence->input;
    struct view view;
    for (uint32_t c = 0; c < in->call_count && view_of(verdict, evidence, c, &view); c++) {
        judge_contexts_of(verdict, evidence, &view);
        if (verdict_failed(verdict)) return;
    }
}

static void judge_modules(struct verdict *verdict, const struct evidence *evidence)
{
    if (!written(verdict, evidence)) return;
    const struct threaded_input *in = evidence->input;
    struct view view;
    for (uint32_t c = 0; c < in->call_count && view_of(verdict, evidence, c, &view); c++) {
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

/* How many of the contexts existed at one time. Records are in the order of happening. */
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

/* How many threads were started, and how many when the first was joined. Threads that are not
 * joined leave another proof of how they were run: all are started before the first has done its
 * work and destroys its context, as long as new threads let their starter go first. */
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

/* Two kinds of proof, as one of them may be missing: on a busy machine a short thread may have
 * ended before the next one has begun, and threads may be started in ways that are not seen. */
static void judge_together(struct verdict *verdict, const struct evidence *evidence)
{
    if (!written(verdict, evidence)) return;
    struct view view;
    if (!view_of(verdict, evidence, 0, &view)) return;
    struct contexts contexts = contexts_of(evidence, &view.phase);
    if (!contexts_counted(verdict, evidence, &view, &contexts)) return;
    const size_t most = most_at_once(evidence, &view.phase);
    const struct starts starts = starts_of(evidence, &view.phase);
    const bool seen = starts.all >= view.call->count;
    if (evidence->device == DRIVE_GPU) /* the emulator is done before the next thread begins */
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
    verdict_why(verdict, "A thread that is joined as soon as it is started is a function call with "
                         "more steps.");
    verdict_hint(verdict, "Two loops: the first starts all threads, the second joins them.");
}

/* ---- processes ----------------------------------------------------------------------------- */

/* Only the children call CUDA, on no path the parent. */
static bool parent_calls_nothing(struct verdict *verdict, const struct evidence *evidence,
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

static void judge_fork(struct verdict *verdict, const struct evidence *evidence)
{
    if (!written(verdict, evidence)) return;
    struct view view;
    if (!view_of(verdict, evidence, 0, &view)) return;
    if (!parent_calls_nothing(verdict, evidence, &view.phase)) return;
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

static void judge_children(struct verdict *verdict, const struct evidence *evidence)
{
    if (!written(verdict, evidence)) return;
    const struct threaded_input *in = evidence->input;
    struct view view;
    for (uint32_t c = 0; c < in->call_count && view_of(verdict, evidence, c, &view); c++) {
        if (view.answer->child_taken) {
            verdict_fail_in(verdict, evidence, BY_PROCESSES,
                            "A child of the caller's own was waited for.");
            verdict_why(verdict, "wait() and waitpid(-1, ...) take any child that has ended. The "
                                 "caller's child is then gone for the caller, and one of this "
                                 "function's own is not counted.");
            verdict_hint(verdict, "waitpid() with each pid that fork() gave.");
            return;
        }
        if (view.answer->children_left) {
            verdict_fail_in(verdict, evidence, BY_PROCESSES,
                            "A child process had not been waited for when the function returned.");
            verdict_why(verdict, "A child that has ended stays in the process table until its "
                                 "parent takes its status; and until then the parent does not know "
                                 "whether the child finished or died.");
            verdict_hint(verdict,
                         "waitpid() for each pid that fork() gave, and look at the status.");
            return;
        }
    }
}

/* ---- errors, leaks, time ------------------------------------------------------------------- */

/* The first call of the phase, in any thread or process, that failed. */
static const struct trace_record *first_error(const struct evidence *evidence,
                                              const struct phase *phase)
{
    struct query calls = {.phase = phase, .kind = TRACE_CALL};
    for (const struct trace_record *call = evidence_next(evidence, &calls, NULL); call;
         call = evidence_next(evidence, &calls, call))
        if (call->code) return call;
    return NULL;
}

/* Where there is an error there is no sum, and nothing was changed. False: it has failed. */
static bool failed_cleanly(struct verdict *verdict, const struct evidence *evidence,
                           const struct view *view, uint32_t index)
{
    const double sum = view->answer->results[index].sum;
    if (fpclassify(sum) != FP_ZERO) {
        verdict_fail_in(verdict, evidence, view->function,
                        "results[%u] has an error, %d, and its sum is %g; it must be 0.", index,
                        view->answer->results[index].error, sum);
        verdict_why(verdict, "A caller that adds the sums up would add what nobody has computed.");
        verdict_hint(verdict, "Write the whole of results[i] on every path.");
        return false;
    }
    if (judge_first_difference(after_of(view, index), before_of(view, index),
                               (size_t)view->call->lengths[index], sizeof(float)) < 0 ||
        waits_copied_before_failure(evidence))
        return true;
    verdict_fail_in(verdict, evidence, view->function,
                    "Array %u was changed although its work failed.", index);
    verdict_why(verdict, "The caller would take half-finished values for an answer.");
    verdict_hint(verdict, "Copy back only what the kernel has finished.");
    return false;
}

/* Every result is an error, and no array was touched. */
static void judge_bad_image(struct verdict *verdict, const struct evidence *evidence,
                            const struct view *view)
{
    struct answer answer = answer_of(evidence, view);
    const struct trace_record *failed = first_error(evidence, &view->phase);
    if (!answer_written(verdict, &answer)) return;
    if (!failed || answer.code == 0) {
        answer_failed_with(verdict, &answer, failed ? failed->code : 218,
                           "the image is not a module");
        return;
    }
    if (!answer_failed_with(verdict, &answer, failed->code, "the image is not a module")) return;
    for (uint32_t i = 0; i < view->call->count; i++) {
        if (view->answer->results[i].error == failed->code) continue;
        verdict_fail(verdict, evidence, failed, "%s failed with %d; results[%u].error is %d.",
                     failed->name, failed->code, i, view->answer->results[i].error);
        verdict_why(verdict, "Each thread or process has its own errors, and each result says what "
                             "became of its own array.");
        verdict_hint(verdict, "Write results[i] on every path, also on the ones that fail.");
        return;
    }
    for (uint32_t i = 0; i < view->call->count; i++)
        if (!failed_cleanly(verdict, evidence, view, i)) return;
}

/* Two arrays failed: the first by its index is the one whose error is returned. */
static void judge_two_errors(struct verdict *verdict, const struct evidence *evidence,
                             const struct view *view)
{
    const uint32_t slip = view->call->slip_array, second = view->call->second_slip;
    const uint32_t first = slip < second ? slip : second, last = slip < second ? second : slip;
    const int32_t error = view->answer->results[first].error;
    char one[ANSWER_NAME_SIZE], other[ANSWER_NAME_SIZE], given[ANSWER_NAME_SIZE];

    if (error != 0 && view->answer->results[last].error != 0 && view->answer->error == error)
        return;
    verdict_fail_in(verdict, evidence, view->function,
                    "Arrays %u and %u are too long for any device: results[%u].error is %s, "
                    "results[%u].error is %s, and %s returned %s.",
                    first, last, first, answer_name(ANSWER_DRIVER, error, one), last,
                    answer_name(ANSWER_DRIVER, view->answer->results[last].error, other),
                    view->function, answer_name(ANSWER_DRIVER, view->answer->error, given));
    verdict_why(verdict,
                "Both have failed. What is returned is the error of the first array, by its "
                "index, whichever failed first in time.");
    verdict_hint(verdict, "When all have ended, go through results from 0 and return the first "
                          "error there is.");
}

/* One result is an error, or two; the others are as if nothing had been wrong. */
static void judge_too_long(struct verdict *verdict, const struct evidence *evidence,
                           const struct view *view)
{
    struct answer answer = answer_of(evidence, view);
    for (uint32_t i = 0; i < view->call->count; i++) {
        if (i == view->call->slip_array || i == view->call->second_slip) {
            if (!failed_cleanly(verdict, evidence, view, i)) return;
            continue;
        }
        if (!array_is_right(verdict, evidence, view, i) ||
            !result_is_right(verdict, evidence, view, i)) {
            verdict_why(verdict,
                        "Array %u is too long for any device, and only array %u may fail "
                        "for it: contexts and threads are there to keep trouble apart.",
                        view->call->slip_array, view->call->slip_array);
            return;
        }
    }
    if (view->call->second_slip != view->call->slip_array) {
        judge_two_errors(verdict, evidence, view);
        return;
    }
    if (!answer_failed_with(verdict, &answer, OUT_OF_MEMORY,
                            "one array is too long for the device's memory"))
        return;
    int32_t error = view->answer->results[view->call->slip_array].error;
    if (error == OUT_OF_MEMORY) return;
    verdict_fail_in(verdict, evidence, BY_THREADS,
                    "results[%u].error is %d, although its memory could not be had (2).",
                    view->call->slip_array, error);
    verdict_why(verdict, "Each result says what became of its own array.");
    verdict_hint(verdict, "Let each thread return its first error through pthread_join.");
}

static void judge_errors(struct verdict *verdict, const struct evidence *evidence)
{
    if (!written(verdict, evidence)) return;
    const struct threaded_input *in = evidence->input;
    struct view view;
    for (uint32_t c = 0; c < in->call_count && view_of(verdict, evidence, c, &view); c++) {
        if (view.call->slip == THREADED_BAD_IMAGE) judge_bad_image(verdict, evidence, &view);
        if (view.call->slip == THREADED_TOO_LONG) judge_too_long(verdict, evidence, &view);
        if (!verdict_failed(verdict) && view.call->way == THREADED_BY_PROCESSES)
            parent_calls_nothing(verdict, evidence, &view.phase);
        if (verdict_failed(verdict)) return;
    }
}

static void judge_leaks(struct verdict *verdict, const struct evidence *evidence)
{
    if (!written(verdict, evidence)) return;
    const struct threaded_input *in = evidence->input;
    struct view view;
    for (uint32_t c = 0; c < in->call_count && view_of(verdict, evidence, c, &view); c++) {
        struct answer answer = answer_of(evidence, &view);
        if (!answer_written(verdict, &answer)) return;
        verdict_leaks(verdict, evidence, &view.phase);
        if (verdict_failed(verdict)) return;
    }
}

/* ---- each call made to fail --------------------------------------------------------------------
 */

static struct answer answer_to_failure(const struct evidence *evidence,
                                       const struct trace_record *failed, struct phase *phase)
{
    const struct threaded_input *in = evidence->input;
    const struct threaded_output *out = evidence->output;
    (void)failed;
    const bool known = evidence_phase(evidence, THREADED_PHASE, 0, phase);
    return (struct answer){.evidence = evidence,
                           .phase = known ? phase : NULL,
                           .function = in->calls[0].way == THREADED_BY_PROCESSES ? BY_PROCESSES
                                                                                 : BY_THREADS,
                           .api = ANSWER_DRIVER,
                           .code = out->answers[0].error};
}

/* The one call of such a run. */
static struct view view_of_failure(const struct evidence *evidence)
{
    const struct threaded_input *in = evidence->input;
    const struct threaded_output *out = evidence->output;
    return (struct view){.input = in,
                         .call = &in->calls[0],
                         .answer = &out->answers[0],
                         .before = in->values + in->calls[0].offset,
                         .after = out->values + in->calls[0].offset};
}

static bool is_done(const struct view *view, uint32_t index)
{
    double sum;
    return view->answer->results[index].error == 0 && sum_is_right(view, index, &sum) &&
           host_reference_same(before_of(view, index), after_of(view, index),
                               (size_t)view->call->lengths[index]);
}

static bool is_right_all_the_same(const struct evidence *evidence)
{
    const struct view view = view_of_failure(evidence);
    for (uint32_t i = 0; i < view.call->count; i++)
        if (!is_done(&view, i)) return false;
    return true;
}

/* A failure that is one array's: a CUDA call that its thread or process made, or that it could not
 * be started, or that its process was killed. The error that its result then has, or 0: any. */
static bool is_of_one_array(const struct trace_record *failed, int32_t *error)
{
    static const char *const starts[] = {"pthread_create", "thrd_create", "fork",
                                         REFUSALS_FORK_CHILD};
    *error = failed->code;
    if (failed->kind == TRACE_CALL) return true;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strcmp(failed->name, starts[i]) == 0) {
            *error = OPERATING_SYSTEM;
            return true;
        }
    *error = 0;
    return false;
}

/* Array `index` is not done: its result holds the error. */
static bool has_its_error(struct verdict *verdict, const struct evidence *evidence,
                          const struct view *view, uint32_t index,
                          const struct trace_record *failed, const char *before)
{
    const int32_t error = view->answer->results[index].error;
    char name[ANSWER_NAME_SIZE], must[ANSWER_NAME_SIZE];
    int32_t wanted;
    is_of_one_array(failed, &wanted);
    if (error != 0 && (wanted == 0 || error == wanted)) return true;
    verdict_fail(verdict, evidence, failed,
                 "%s; array %u is not done, and results[%u].error is %s%s%s.", before, index, index,
                 answer_name(ANSWER_DRIVER, error, name), wanted != 0 ? "; it must be " : "",
                 wanted != 0 ? answer_name(ANSWER_DRIVER, wanted, must) : "");
    verdict_why(verdict, "Each result says what became of its own array.");
    if (failed->kind == TRACE_HOST_CALL && wanted != 0)
        verdict_hint(verdict, "A thread or a process that cannot be started, or ends without a "
                              "result, is CUDA_ERROR_OPERATING_SYSTEM. pthread_create returns a "
                              "positive number when it fails, fork -1; and WEXITSTATUS means "
                              "something only where WIFEXITED says so.");
    else
        verdict_hint(verdict, "Let each thread or process hand back its first error, and write "
                              "results[i] on every path.");
    return false;
}

/* Each array is done, or its result holds the error and its values are as they were; and all but
 * one are done, unless the failure takes the process's whole device, or is one of what all share.
 */
static void judge_the_others(struct verdict *verdict, const struct evidence *evidence,
                             const struct answer *answer, const struct trace_record *failed,
                             const char *before)
{
    const struct view view = view_of_failure(evidence);
    const bool threads = view.call->way == THREADED_BY_THREADS;
    int32_t error;
    const bool shared = !is_of_one_array(failed, &error);
    uint32_t done = 0;

    for (uint32_t i = 0; i < view.call->count; i++) {
        if (is_done(&view, i))
            done++;
        else if (!has_its_error(verdict, evidence, &view, i, failed, before) ||
                 !failed_cleanly(verdict, evidence, &view, i))
            return;
    }
    if (!threads && answer->phase != NULL &&
        !parent_calls_nothing(verdict, evidence, answer->phase))
        return;
    if (shared || done + 1 >= view.call->count) return;
    verdict_fail(verdict, evidence, failed, "%s for one array, and %u of %u were not done.", before,
                 view.call->count - done, view.call->count);
    verdict_why(verdict, "An array that fails does not keep the others from being done.");
    verdict_hint(verdict,
                 "Join every thread and wait for every child before %s returns, and let "
                 "none of them stop another.",
                 answer->function);
}

static void judge_each_failure(struct verdict *verdict, const struct evidence *evidence)
{
    static const struct failures_contract contract = {.api = ANSWER_DRIVER,
                                                      .answer = answer_to_failure,
                                                      .right = is_right_all_the_same,
                                                      .more = judge_the_others};
    struct phase phase;
    const struct answer answer = answer_to_failure(evidence, NULL, &phase);
    if (answer_judgeable(verdict, &answer,
                         "ThreadedContexts.ThreadsFinishTheirWork or "
                         "ThreadedContexts.ProcessesFinishTheirWork"))
        failures_judge(verdict, evidence, &contract);
}

/* What the device itself objects to. */
static void judge_findings(struct verdict *verdict, const struct evidence *evidence)
{
    if (!written(verdict, evidence)) return;
    verdict_findings(verdict, evidence, NULL);
    if (!verdict_failed(verdict)) judge_finishes(verdict, evidence);
}

static void judge_time(struct verdict *verdict, const struct evidence *evidence)
{
    struct view view;
    for (size_t r = 0; r < evidence->repeat_count && !verdict_failed(verdict); r++)
        judge_results(verdict, &evidence->repeats[r]);
    if (verdict_failed(verdict) || !view_of(verdict, evidence, 0, &view)) return;
    struct query kernels = {.phase = &view.phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL};
    struct overlap overlap = evidence_overlap(evidence, &kernels, NULL);
    if (overlap.a_ns)
        verdict_figure(verdict, "kernels_at_once",
                       "%.2f kernels at once, on average: contexts take turns on the device",
                       (double)overlap.a_sum_ns / (double)overlap.a_ns);
    verdict_time_ratio(verdict, evidence);
    if (verdict_failed(verdict))
        verdict_hint(verdict,
                     "Making the contexts is nearly all of the time. Are there more than one "
                     "per array, or does something wait in between?");
}

static const struct check checks[] = {
    {"ThreadsFinishTheirWork", "threads", 0, "the function returns success, and no call failed",
     judge_finishes},
    {"EveryArrayOfAThreadIsRight", "threads", CHECK_ORDER,
     "each array went through the kernel once", judge_arrays},
    {"ValuesComeBackThroughJoin", "threads", CHECK_ORDER, "each thread's error and sum arrive",
     judge_results},
    {"EachThreadHasItsOwnContext", "threads", 0, "context i is only used by thread i",
     judge_contexts},
    {"EachContextHasItsOwnModule", "threads", 0, "the image is loaded once in each context",
     judge_modules},
    {"ThreadsLiveTogether", "threads", 0, "all are started before the first is joined",
     judge_together},
    {"ThreadsLeaveNothingBehind", "threads", 0, "every context is destroyed", judge_leaks},
    {"OneArraysErrorIsItsOwn", "errors", 0, "errors come back, and the other arrays are done",
     judge_errors},
    {"ErrorsLeaveNothingBehind", "errors", 0, "contexts are destroyed also when something fails",
     judge_leaks},
    {"ProcessesFinishTheirWork", "processes", 0, "the function returns success, and no call failed",
     judge_finishes},
    {"CudaStartsAfterTheFork", "processes", 0, "the parent makes no CUDA call; a context a child",
     judge_fork},
    {"EveryArrayOfAProcessIsRight", "processes", CHECK_ORDER,
     "the children's values reach the parent's arrays", judge_arrays},
    {"ResultsComeBackFromChildren", "processes", CHECK_ORDER,
     "each child's error and sum reach the parent", judge_results},
    {"EveryChildIsWaitedFor", "processes", 0, "no child is left when the function returns",
     judge_children},
    {"ProcessesLeaveNothingBehind", "processes", 0, "every child destroys its context",
     judge_leaks},
    {"ProcessesReportErrors", "process errors", 0, "a child's error reaches the caller",
     judge_errors},
    {FAILURES_CHECK, FAILURES_RUN, CHECK_EMULATOR_ONLY,
     "each call in a thread that can fail does so once, and is returned", judge_each_failure},
    {"EveryErrorOfAChildIsReturnedAndNothingLeaks", "child faults", CHECK_EMULATOR_ONLY,
     "the same in a process", judge_each_failure},
    {"TheDeviceFindsNothingWrong", "threads", CHECK_EMULATOR_ONLY,
     "no access out of bounds, to the wrong side, or to memory that is gone", judge_findings},
    {"AsFastAsTheReference", "time", 0, "as fast as the reference, with threads", judge_time},
    {.name = NULL},
};

static const struct hint hints[] = {
#include "grader/lessons/06_threaded_contexts/hints.def"
    {0}};

const struct lesson lesson_06_threaded_contexts = {
    .number = 6,
    .folder = "06_threaded_contexts",
    .suite = "ThreadedContexts",
    .function = BY_THREADS,
    .files = (const char *const[]){"threaded_contexts.c", NULL},
    .parts = (const char *const[]){"06_threaded_contexts_drive", "multiply_divide_image", NULL},
    .runs = runs,
    .checks = checks,
    .hints = hints,
};
