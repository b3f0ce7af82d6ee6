/* The judge of lesson 02: right values in every order; a stream per array and page-locked memory;
 * copies and kernels overlapping in the device's own record; failures returned without leftovers;
 * as fast as the reference. */
#include "grader/evidence/judge.h"
#include "grader/base/messages.h"
#include "grader/base/parallel.h"
#include "grader/evidence/answer.h"
#include "grader/evidence/failures.h"
#include "grader/evidence/given.h"
#include "grader/evidence/host_reference.h"
#include "grader/evidence/timing.h"
#include "grader/evidence/waits.h"
#include "grader/lessons/02_streams/bound.h"
#include "grader/lessons/02_streams/exchange.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPEN "streams_open"
#define RUN "streams_run"
#define CLOSE "streams_close"
/* The checks that report why a call failed. */
#define VALUES_CHECK "Streams.EveryArrayIsRight or Streams.ResultsHaveArrivedOnReturn"
#define RIGHT_CALL                                                                                 \
    N_("a right call after one that had failed, while the runtime still remembered an error of "   \
       "its "                                                                                      \
       "caller's as its last")
#define OUT_OF_MEMORY 2
#define INVALID_VALUE 1 /* of a launch that is refused */

/* ---- runs --------------------------------------------------------------------------------- */

static struct streams_input *allocate(struct run_input *input, uint32_t count, uint32_t rounds,
                                      int64_t shortest, int64_t longest)
{
    struct streams_input *in = run_input_allocate(input, sizeof *in);
    if (in == NULL) return NULL;
    in->count = count;
    in->rounds = rounds;
    for (uint32_t i = 0; i < count; i++) {
        const bool tiny = i >= STREAMS_FULL_LANES && input->device != DRIVE_GPU;
        /* The second lane is longer than the first, so that the first lane's length is not right
         * for all.
         */
        const int64_t least = tiny ? 1 : i == 1 ? (int64_t)in->lanes[0].length + 1 : shortest;
        const int64_t most = tiny ? STREAMS_TINY : i == 0 ? longest - 1 : longest;
        in->lanes[i].length = (uint64_t)random_between(input->random, least, most);
        in->lanes[i].seed = random_bits(input->random);
        in->lanes[i].offset = in->total;
        in->total += in->lanes[i].length;
    }
    input->output_size = sizeof(struct streams_output);
    return in;
}

static int prepare_values(struct run_input *input)
{
    const bool gpu = input->device == DRIVE_GPU;
    struct streams_input *in =
        gpu ? allocate(input, STREAMS_LANES, 2, 5000, 15000) : allocate(input, 13, 2, 300, 1200);
    if (in == NULL) return -1;
    in->whole = 1;
    input->output_size += in->rounds * in->total * sizeof(float);
    return 0;
}

static int prepare_failures(struct run_input *input)
{
    struct streams_input *in = allocate(input, STREAMS_MANY, 1, 300, 900);
    if (in == NULL) return -1;
    in->whole = 1;
    in->impossible = (uint32_t)random_between(input->random, 2, 4);
    in->refused = (uint32_t)random_between(input->random, 2, 4);
    input->output_size += in->rounds * in->total * sizeof(float);
    return 0;
}

static int prepare_few(struct run_input *input)
{
    struct streams_input *in = allocate(input, 3, 1, 100, 300);
    if (in == NULL) return -1;
    in->whole = 1;
    input->output_size += in->total * sizeof(float);
    return 0;
}

/* This many serial lanes take 0.2 s, and all lanes are alike. */
#define STREAMS_SERIAL 25

/* On a GPU the real constants: 200 arrays of 1024 x 1024 floats, and a ragged end. */
static int prepare_large(struct run_input *input)
{
    const bool gpu = input->device == DRIVE_GPU;
    struct streams_input *in =
        gpu ? allocate(input, STREAMS_LANES, STREAMS_ROUNDS, 1 << 20, (1 << 20) + 999)
            : allocate(input, 32, 1, 15000, 17000);
    if (in == NULL) return -1;
    in->serial = gpu ? STREAMS_SERIAL : in->count;
    in->clearly[0] = 1 / limit_streams_speed_up / RATIO_CLEARLY;
    in->clearly[1] = 1 / limit_streams_speed_up * RATIO_CLEARLY;
    return 0;
}

/* As many, shorter lanes: the overlap is the same, and a sample takes a few tenths of a second. On
 * the software device they are long enough for kernels, not launches, to dominate.
 */
static int prepare_timed(struct run_input *input)
{
    const struct streams_input *in =
        input->device == DRIVE_GPU ? allocate(input, STREAMS_LANES, 1, 1 << 17, (1 << 17) + 999)
                                   : allocate(input, 32, 1, 24000, 26000);
    return in != NULL ? 0 : -1;
}

#define LARGE_SECONDS 60.0
#define LARGE_MEMORY (4ull << 30)

static const struct run_plan runs[] = {
    {.name = "values", .flags = RUN_ON_BOTH | RUN_IN_EVERY_ORDER, .prepare = prepare_values},
    {.name = "failures", .flags = RUN_ON_BOTH, .prepare = prepare_failures},
    {.name = "slow", .flags = RUN_ON_EMULATOR, .prepare = prepare_few, .seconds = LARGE_SECONDS},
    {.name = "compare",
     .flags = RUN_ON_BOTH | RUN_ALONE,
     .prepare = prepare_large,
     .seconds = LARGE_SECONDS,
     .memory = LARGE_MEMORY},
    {.name = "timed",
     .flags = RUN_ON_BOTH | RUN_TIMED | RUN_THREADS,
     .prepare = prepare_timed,
     .phase = STREAMS_PHASE_RUN,
     .threshold = &threshold_streams,
     .seconds = LARGE_SECONDS,
     .memory = LARGE_MEMORY},
    FAILURES_PLAN(prepare_few),
    {0},
};

/* ---- reading the evidence ------------------------------------------------------------------ */

struct view {
    const struct evidence *evidence;
    const struct streams_input *in;
    const struct streams_output *out;
};

static struct view look(const struct evidence *evidence)
{
    return (struct view){evidence, evidence->input, evidence->output};
}

/* Returns how often streams_run was called; in the run "compare" until the times are clear. */
static uint32_t rounds_of(const struct view *view)
{
    const bool comparing = strcmp(view->evidence->plan->name, "compare") == 0;
    const uint32_t done = view->out->rounds;
    return comparing && done > 0 && done < view->in->rounds ? done : view->in->rounds;
}

/* Returns true when streams_open and every streams_run succeeded; otherwise the verdict fails with
 * the reason. */
static bool ran_saying(struct verdict *verdict, const struct view *view)
{
    struct phase phase;
    struct answer answer = answer_in(view->evidence, STREAMS_PHASE_OPEN, 0, OPEN, ANSWER_RUNTIME,
                                     view->out->open, &phase);
    if (!answer_succeeded(verdict, &answer, "lanes that the device has room for")) return false;
    if (view->out->incomplete != 0) {
        verdict_fail_in(verdict, view->evidence, OPEN,
                        "streams_open returned success, but %u of %u lanes have no host memory.",
                        view->out->incomplete, view->in->count);
        verdict_hint(verdict, "Set host, device and stream of every lane.");
        return false;
    }
    for (uint32_t round = 0; round < rounds_of(view); round++) {
        answer = answer_in(view->evidence, STREAMS_PHASE_RUN, round, RUN, ANSWER_RUNTIME,
                           view->out->runs[round], &phase);
        if (!answer_succeeded(verdict, &answer,
                              round == 0 ? N_("its first call")
                                         : N_("its second call, with new arrays")))
            return false;
    }
    return true;
}

/* As ran_saying, with a failure of one line, for checks that are about something else. */
static bool ran(struct verdict *verdict, const struct view *view)
{
    const struct answer open = {view->evidence, NULL, OPEN, ANSWER_RUNTIME, view->out->open};
    if (!answer_judgeable(verdict, &open, VALUES_CHECK)) return false;
    if (view->out->incomplete != 0) {
        verdict_fail_in(verdict, view->evidence, OPEN, "Not judged: lanes are incomplete (see %s).",
                        VALUES_CHECK);
        verdict_not_judged(verdict, VALUES_CHECK);
        return false;
    }
    for (uint32_t round = 0; round < rounds_of(view); round++) {
        const struct answer run = {view->evidence, NULL, RUN, ANSWER_RUNTIME,
                                   view->out->runs[round]};
        if (!answer_judgeable(verdict, &run, VALUES_CHECK)) return false;
    }
    return true;
}

static bool run_phase(const struct evidence *evidence, struct phase *phase)
{
    return evidence_phase(evidence, STREAMS_PHASE_RUN, 0, phase);
}

/* Compares one array that was returned whole. */
static bool compare_lane(struct verdict *verdict, const struct view *view, uint32_t round,
                         uint32_t lane, const struct trace_record *at)
{
    const struct streams_input_lane *l = &view->in->lanes[lane];
    char name[64];
    float *input = malloc(l->length * sizeof *input);
    if (input == NULL) {
        verdict_skip(verdict, "no memory to compare with");
        return false;
    }
    for (size_t k = 0; k < l->length; k++) input[k] = values_at(values_seed(l->seed, round), k);
    snprintf(name, sizeof name,
             round == 0 ? _("Array %u of %u") : _("Array %u of %u, in the second call"), lane,
             view->in->count);
    struct phase phase;
    const bool known = evidence_phase(view->evidence, STREAMS_PHASE_RUN, round, &phase);
    const bool right = host_reference_compare(
        verdict, view->evidence,
        &(struct host_reference_array){.function = RUN,
                                       .at = at,
                                       .phase = known ? &phase : NULL,
                                       .name = name,
                                       .marks = STREAMS_MARKS(round),
                                       .input = input,
                                       .output =
                                           view->out->values + round * view->in->total + l->offset,
                                       .length = l->length});
    free(input);
    return right;
}

static bool compare_all(struct verdict *verdict, const struct view *view)
{
    for (uint32_t round = 0; round < rounds_of(view); round++)
        for (uint32_t lane = 0; lane < view->in->count; lane++)
            if (!compare_lane(verdict, view, round, lane, NULL)) return false;
    return true;
}

/* Compares all arrays; a failure is reported at the call that asked for the round's last
 * operation. */
static bool compare_arrived(struct verdict *verdict, const struct view *view)
{
    for (uint32_t round = 0; round < rounds_of(view); round++) {
        struct phase phase;
        const struct trace_record *last =
            evidence_phase(view->evidence, STREAMS_PHASE_RUN, round, &phase)
                ? waits_in(view->evidence, &phase).last_request
                : NULL;
        for (uint32_t lane = 0; lane < view->in->count; lane++)
            if (!compare_lane(verdict, view, round, lane, last)) return false;
    }
    return true;
}

/* Expected digests, for results that are too large to return. Every repetition has its own
 * inputs. */
struct digests {
    const struct streams_input_lane *lanes;
    uint64_t of[STREAMS_LANES];
};

static void add_digest(void *user, size_t lane)
{
    struct digests *digests = user;
    const struct streams_input_lane *l = &digests->lanes[lane];
    struct streams_digest digest = {{0}};
    float values[STREAMS_CHAINS];
    for (size_t k = 0; k < l->length; k++) {
        const size_t at = k % STREAMS_CHAINS;
        values[at] = host_reference_expected(values_at(l->seed, k), k);
        if (at + 1 == STREAMS_CHAINS || k + 1 == l->length)
            streams_digest_add(&digest, values, at + 1);
    }
    digests->of[lane] = streams_digest_end(&digest);
}

static bool compare_digests(struct verdict *verdict, const struct evidence *evidence)
{
    const struct view view = look(evidence);
    struct digests digests = {.lanes = view.in->lanes};
    parallel_each(view.in->count, add_digest, &digests);
    for (uint32_t lane = 0; lane < view.in->count; lane++) {
        const struct streams_input_lane *l = &view.in->lanes[lane];
        if (view.out->digests[0][lane] == digests.of[lane]) continue;
        verdict_fail_in(verdict, evidence, RUN,
                        "Array %u of %u (%llu floats) is wrong in the run that was timed.", lane,
                        view.in->count, (unsigned long long)l->length);
        verdict_why(verdict, "Time counts only for right results.");
        verdict_hint(verdict, "Is something kept from one call to the next, or limited to a size "
                              "or a number of lanes?");
        return false;
    }
    return true;
}

/* ---- checks: values and order -----------------------------------------------------------------
 */

static void judge_values(struct verdict *verdict, const struct evidence *evidence)
{
    const struct view view = look(evidence);
    if (ran_saying(verdict, &view)) compare_all(verdict, &view);
}

/* Fails when a call of streams_run left work pending. Returns true when the verdict failed. */
static bool say_left(struct verdict *verdict, const struct view *view)
{
    struct phase phase;
    for (uint32_t round = 0; round < rounds_of(view); round++)
        if (evidence_phase(view->evidence, STREAMS_PHASE_RUN, round, &phase) &&
            waits_say_left(verdict, view->evidence, &phase, RUN, ""))
            return true;
    return false;
}

static void judge_arrival(struct verdict *verdict, const struct evidence *evidence)
{
    const struct view view = look(evidence);
    const struct answer open = {evidence, NULL, OPEN, ANSWER_RUNTIME, view.out->open};
    if (!answer_written(verdict, &open) || !ran_saying(verdict, &view) || say_left(verdict, &view))
        return;
    if (!compare_arrived(verdict, &view)) {
        verdict_why(
            verdict,
            "The three steps of one lane are ordered only if they are in one stream, and the host "
            "is ordered behind them only if it waits. Otherwise the result depends on timing.");
        verdict_hint(verdict, "Every copy and the kernel of lane i get lanes[i].stream, and before "
                              "streams_run returns the host has waited for each of the streams.");
        return;
    }
    if (view.out->busy != 0) {
        verdict_fail_in(verdict, evidence, RUN,
                        "streams_run returned while %u of its streams still had work.",
                        view.out->busy);
        verdict_why(verdict, "The caller will read, change or release the arrays now.");
        verdict_hint(verdict, "Wait for every stream before returning.");
    }
}

/* ---- checks: how it is done --------------------------------------------------------------------
 */

/* Fails for copies that are in none of the streams in which the kernels are. */
static void copies_with_kernels(struct verdict *verdict, const struct evidence *evidence,
                                const struct phase *phase, const uint64_t *streams, size_t count)
{
    const struct query copies = {.phase = phase, .kind = TRACE_OPERATION, .what = TRACE_COPY};
    const struct trace_record *copy = NULL;
    while ((copy = evidence_next(evidence, &copies, copy)) != NULL) {
        size_t k = 0;
        while (k < count && streams[k] != copy->stream) k++;
        if (k < count) continue;
        const char *work = given_work(copy);
        verdict_fail(verdict, evidence, copy, "%c%s of a lane is in %s, not in the lane's.",
                     toupper((unsigned char)work[0]), work + 1,
                     given_in_default(evidence, copy) ? _("the default stream")
                                                      : _("a stream that belongs to no lane"));
        verdict_why(verdict, "There it has to be ordered behind the lane's kernel, and is ordered "
                             "behind those of other lanes as well.");
        verdict_hint(verdict, "lanes[i].stream for all three steps of lane i.");
        return;
    }
}

static void judge_streams(struct verdict *verdict, const struct evidence *evidence)
{
    const struct view view = look(evidence);
    struct phase phase;
    if (!ran(verdict, &view) || !run_phase(evidence, &phase)) return;

    const struct query kernels = {.phase = &phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL};
    uint64_t seen[STREAMS_LANES];
    size_t kernel_count = 0, distinct = 0, by_default = 0;
    const struct trace_record *kernel = NULL, *shown = NULL;
    while ((kernel = evidence_next(evidence, &kernels, kernel)) != NULL &&
           kernel_count < STREAMS_LANES) {
        const bool in_default = given_in_default(evidence, kernel);
        size_t k = 0;
        while (k < distinct && seen[k] != kernel->stream) k++;
        if (k == distinct) seen[distinct++] = kernel->stream;
        if (shown == NULL || (in_default && by_default == 0)) shown = kernel;
        by_default += in_default;
        kernel_count++;
    }
    if (by_default != 0) {
        verdict_fail(verdict, evidence, shown, "%zu of %zu kernels ran in the default stream.",
                     by_default, kernel_count);
        verdict_why(verdict, "Work in the default stream waits for all blocking streams, and they "
                             "wait for it: everything runs one after the other.");
        verdict_hint(verdict, "A stream argument left out, or NULL, is the default stream. Is the "
                              "stream made before it is used?");
    } else if (distinct < view.in->count) {
        verdict_fail(verdict, evidence, shown, "%u arrays went through %zu stream%s.",
                     view.in->count, distinct, distinct == 1 ? "" : "s");
        verdict_why(verdict, "What is in one stream runs one after the other.");
        verdict_hint(verdict, "Make one stream per lane in streams_open, and use lanes[i].stream "
                              "for all three steps of lane i.");
    } else {
        copies_with_kernels(verdict, evidence, &phase, seen, distinct);
    }
}

/* Fails when the host waits for some of the work and then asks for more: the later work was delayed
 * by the wait. Other threads may wait for their own work in the meantime. */
static void judge_independent(struct verdict *verdict, const struct evidence *evidence)
{
    const struct view view = look(evidence);
    struct phase phase;
    if (!ran(verdict, &view) || !run_phase(evidence, &phase)) return;

    static const uint32_t kinds[] = {TRACE_COPY, TRACE_KERNEL};
    const struct trace_record *wait =
        waits_between(evidence, &phase, kinds, sizeof kinds / sizeof *kinds);
    if (wait == NULL) return;
    verdict_fail(verdict, evidence, wait,
                 "%.*s makes the host wait for lanes, and other lanes are given work only then.",
                 TRACE_NAME_SIZE, wait->name);
    verdict_why(verdict, "A lane that is issued after the wait has waited for the lanes before "
                         "it, although nothing of theirs concerns it.");
    verdict_hint(verdict, "Issue all lanes first; then wait for each.");
}

/* Checks that each lane's host memory is page-locked to its end, in one piece or several. */
static void locked_whole(struct verdict *verdict, const struct view *view)
{
    const struct query made = {.kind = TRACE_CREATE, .what = TRACE_PINNED_MEMORY, .student = true};
    for (uint32_t lane = 0; lane < view->in->count; lane++) {
        const uint64_t bytes = view->in->lanes[lane].length * sizeof(float);
        const uint64_t begin = view->out->hosts[lane], end = begin + bytes;
        const struct trace_record *memory = NULL, *last = NULL;
        uint64_t locked = begin;
        while (locked < end && (memory = evidence_next(view->evidence, &made, memory)) != NULL) {
            if (memory->address > locked || memory->address + memory->bytes <= locked) continue;
            locked = memory->address + memory->bytes;
            last = memory;
            memory = NULL; /* start again from the first: the pieces are unordered */
        }
        /* NULL: the check of copies reports the kind of memory. */
        if (last == NULL || locked >= end) continue;
        verdict_fail(verdict, view->evidence, last,
                     "Of the %llu bytes of array %u of %u only %llu are page-locked here.",
                     (unsigned long long)bytes, lane, view->in->count,
                     (unsigned long long)(locked - begin));
        verdict_why(verdict, "The copy engine cannot reach the rest by itself.");
        verdict_hint(verdict, "Sizes are in bytes: lanes[i].length * sizeof(float).");
        return;
    }
}

/* Fails for a copy from or to managed memory, which is not page-locked host memory. Returns true
 * when the verdict failed.
 */
static bool say_managed(struct verdict *verdict, const struct evidence *evidence,
                        const struct phase *phase)
{
    const struct query copies = {.phase = phase, .kind = TRACE_OPERATION, .what = TRACE_COPY};
    const struct trace_record *copy = NULL;
    while ((copy = evidence_next(evidence, &copies, copy)) != NULL) {
        if (copy->from != TRACE_MANAGED && copy->to != TRACE_MANAGED) continue;
        verdict_fail(verdict, evidence, copy, "A lane's host memory is managed memory.");
        verdict_why(verdict, "Managed memory moves between host and device as it is touched; "
                             "page-locked memory stays where the copy engine finds it.");
        verdict_hint(verdict, "Allocate lanes[i].host with cudaMallocHost (or cudaHostAlloc).");
        return true;
    }
    return false;
}

static void judge_pinned(struct verdict *verdict, const struct evidence *evidence)
{
    const struct view view = look(evidence);
    struct phase phase;
    if (!ran(verdict, &view) || !run_phase(evidence, &phase)) return;

    const struct query copies = {.phase = &phase, .kind = TRACE_OPERATION, .what = TRACE_COPY};
    const struct trace_record *copy = NULL;
    size_t pageable = 0;
    const struct trace_record *first = NULL;
    while ((copy = evidence_next(evidence, &copies, copy)) != NULL) {
        if (copy->from != TRACE_PAGEABLE && copy->to != TRACE_PAGEABLE) continue;
        if (pageable++ == 0) first = copy;
    }
    if (pageable == 0) {
        if (!say_managed(verdict, evidence, &phase)) locked_whole(verdict, &view);
        return;
    }
    verdict_fail(verdict, evidence, first, "%zu of the copies go through pageable host memory.",
                 pageable);
    verdict_why(verdict, "The copy engine cannot reach memory that the system may move. The driver "
                         "copies it through a buffer of its own first, on the host's time, and the "
                         "copy is asynchronous in name only.");
    verdict_hint(verdict, "Allocate lanes[i].host with cudaMallocHost (or cudaHostAlloc), not with "
                          "malloc.");
}

static void judge_asynchronous(struct verdict *verdict, const struct evidence *evidence)
{
    const struct view view = look(evidence);
    struct phase phase;
    if (!ran(verdict, &view) || !run_phase(evidence, &phase)) return;

    const struct query copies = {.phase = &phase, .kind = TRACE_OPERATION, .what = TRACE_COPY};
    const struct trace_record *copy = NULL;
    size_t blocking = 0, count = 0;
    const struct trace_record *first = NULL;
    while ((copy = evidence_next(evidence, &copies, copy)) != NULL) {
        count++;
        if ((copy->flags & TRACE_ASYNC) == 0 && blocking++ == 0) first = copy;
    }
    if (blocking != 0) {
        verdict_fail(verdict, evidence, first,
                     "%zu of %zu copies hold the host until they are "
                     "done.",
                     blocking, count);
        verdict_why(verdict, "While the host waits in a copy it cannot give the device more work, "
                             "so nothing runs beside the copy.");
        verdict_hint(verdict, "cudaMemcpyAsync, with the lane's stream.");
    } else if (count < 2 * (size_t)view.in->count) {
        verdict_fail_in(verdict, evidence, RUN, "%u arrays, but only %zu copies.", view.in->count,
                        count);
        verdict_hint(verdict, "Each array goes to the device and back.");
    }
}

static void judge_patience(struct verdict *verdict, const struct evidence *evidence)
{
    const struct view view = look(evidence);
    struct phase phase;
    if (!ran_saying(verdict, &view) || !run_phase(evidence, &phase)) return;
    if (waits_say_left(verdict, evidence, &phase, RUN, N_("The kernels took seconds this time; ")))
        waits_hint_patience(verdict, evidence, &phase);
    else
        compare_all(verdict, &view);
}

/* ---- checks: overlap and time ------------------------------------------------------------------
 */

/* Measures the kernels of streams_run in the run "compare"; false when the verdict is already
 * decided. */
static bool overlapped(struct verdict *verdict, const struct evidence *evidence,
                       const struct query *with, struct phase *phase, struct overlap *overlap)
{
    const struct view view = look(evidence);
    struct query kernels = {.phase = phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL};
    if (!ran(verdict, &view) || !run_phase(evidence, phase)) return false;
    *overlap = evidence_overlap(evidence, &kernels, with);
    if (overlap->a_count >= view.in->count && overlap->a_ns != 0) return true;
    verdict_fail_in(verdict, evidence, RUN, "%u arrays, but %zu kernels ran.", view.in->count,
                    overlap->a_count);
    verdict_hint(verdict, "Call kernel(lanes[i].device, lanes[i].length, lanes[i].stream) once per "
                          "lane.");
    return false;
}

static void judge_kernels_overlap(struct verdict *verdict, const struct evidence *evidence)
{
    struct phase phase;
    struct overlap overlap;
    if (!overlapped(verdict, evidence, NULL, &phase, &overlap)) return;

    const double at_once = (double)overlap.a_sum_ns / (double)overlap.a_ns;
    verdict_figure(verdict, "kernels_at_once", "%.1f kernels at once on average (at least %.0f)",
                   at_once, limit_streams_kernels_at_once);
    if (at_once >= limit_streams_kernels_at_once) return;
    const struct trace_record *chained = waits_before_kernel(evidence, &phase);
    verdict_fail(verdict, evidence, chained,
                 "The kernels run one after the other: %.2f at once on average.", at_once);
    if (chained != NULL) {
        verdict_why(verdict,
                    "%.*s makes the stream wait for the event, and with it every kernel "
                    "that the stream is given from then on.",
                    TRACE_NAME_SIZE, chained->name);
        verdict_hint(verdict, "No lane's stream waits for an event of another lane. Only a stream "
                              "that runs no kernel may wait for all of them.");
        return;
    }
    verdict_why(verdict, "One kernel here is one small block. Alone it uses one of the device's "
                         "many multiprocessors and leaves the others idle.");
    verdict_hint(verdict, "Kernels run side by side if they are in different streams and nothing "
                          "makes the host wait between two launches: no synchronisation and no "
                          "blocking copy inside the loop, nothing in the default stream.");
}

static void judge_copies_overlap(struct verdict *verdict, const struct evidence *evidence)
{
    struct phase phase;
    struct overlap overlap;
    const struct query copies = {.phase = &phase, .kind = TRACE_OPERATION, .what = TRACE_COPY};
    if (!overlapped(verdict, evidence, &copies, &phase, &overlap)) return;

    const double part = overlap.b_ns != 0 ? (double)overlap.both_ns / (double)overlap.b_ns : 0.0;
    verdict_figure(verdict, "copies_beside_kernels",
                   "%.0f %% of the copying time beside a kernel (at least %.0f %%)", 100.0 * part,
                   100.0 * limit_streams_copies_beside);
    if (part >= limit_streams_copies_beside) return;
    verdict_fail_in(verdict, evidence, RUN,
                    "No copy runs beside a kernel: %.1f %% of the copying time.", 100.0 * part);
    verdict_why(verdict, "The copy engines are not the multiprocessors: a copy beside a kernel "
                         "costs no time at all.");
    if (given_any_in_default(evidence, &phase))
        verdict_hint(verdict, "Work in the default stream keeps the blocking streams waiting: look "
                              "first at what Streams.EveryArrayHasItsOwnStream says.");
    else
        verdict_hint(verdict,
                     "Does something between the copies in, the kernels and the copies out "
                     "wait for all of one kind before the next begins? Only the end of "
                     "streams_run needs a wait.");
}

/* Compares the rounds of streams_run with the baseline. Returns false when the verdict is already
 * decided.
 */
static bool against_baseline(struct verdict *verdict, const struct view *view, struct ratio *ratio)
{
    const struct threshold half = {.ratio = 1 / limit_streams_speed_up};
    const double serial =
        timing_of_phase(view->evidence, STREAMS_PHASE_SERIAL) * streams_of_serial(view->in);
    struct ratio_pair pairs[STREAMS_ROUNDS];
    const size_t count = rounds_of(view);
    double least;

    for (uint32_t i = 0; i < count; i++) {
        pairs[i] =
            (struct ratio_pair){timing_of_phase_at(view->evidence, STREAMS_PHASE_RUN, i), serial};
        if (pairs[i].submission > 0.0 && serial > 0.0) continue;
        verdict_skip(verdict, "the device recorded no times");
        return false;
    }
    *ratio = view->evidence->device == DRIVE_EMULATOR ? ratio_of(pairs, count, &half)
                                                      : ratio_of_few(pairs, count, &half);
    const uint64_t bytes = view->in->total * sizeof(float);
    if (!timing_beats_the_link(view->evidence, ratio->submission_s, bytes, bytes, &least))
        return true;
    verdict_fail_in(verdict, view->evidence, RUN,
                    "The time that was measured cannot be: it is faster than the physical bound, "
                    "%.3f ms for copies that take %.3f ms at the fastest rate of this run.",
                    ratio->submission_s * 1e3, least * 1e3);
    verdict_why(verdict, "Work that goes on after the function has returned was not timed.");
    return false;
}

static void show_speed_up(struct verdict *verdict, const struct view *view,
                          const struct ratio *ratio)
{
    const double streams = ratio->submission_s, bound = streams_bound_ns(view->evidence) * 1e-9;
    const double breadth = timing_of_phase(view->evidence, STREAMS_PHASE_BREADTH);

    verdict_figure(verdict, "speed_up",
                   "%.1f times as fast as one array after the other (at least %.0f): %.3f ms, was "
                   "%.3f ms",
                   1 / ratio->middle, limit_streams_speed_up, streams * 1e3,
                   ratio->reference_s * 1e3);
    if (view->in->serial < view->in->count)
        verdict_figure(verdict, "serial",
                       "one array after the other was measured for %u of %u, which take %.3f ms",
                       view->in->serial, view->in->count,
                       ratio->reference_s * 1e3 / streams_of_serial(view->in));
    if (bound > 0.0)
        verdict_figure(verdict, "of_bound",
                       "%.0f %% of what copies in, kernels and copies out allow (%.3f ms)",
                       100.0 * bound / streams, bound * 1e3);
    if (view->out->breadth_first == 0 && breadth > 0.0)
        verdict_figure(
            verdict, "breadth_first",
            "the same lanes issued breadth-first by the grader: %.3f ms, %.1f times yours",
            breadth * 1e3, breadth / streams);
}

static void judge_speed_up(struct verdict *verdict, const struct evidence *evidence)
{
    const struct view view = look(evidence);
    struct ratio ratio;

    if (!ran(verdict, &view) || !compare_digests(verdict, evidence)) return;
    if (!against_baseline(verdict, &view, &ratio)) return;
    show_speed_up(verdict, &view, &ratio);
    if (ratio.answer == RATIO_UNCLEAR)
        verdict_skip(verdict,
                     "too noisy to say: %.2f times as fast as one array after the other; at least "
                     "%.0f is asked for",
                     1 / ratio.middle, limit_streams_speed_up);
    if (ratio.answer != RATIO_NOT_MET) return;
    verdict_fail_in(verdict, evidence, RUN,
                    "streams_run is %.2f times as fast as one array after the other, from pageable "
                    "memory, in one stream.",
                    1 / ratio.middle);
    verdict_why(verdict, "Streams are there to make the device do several things at once.");
    verdict_hint(verdict, "Streams.KernelsRunBesideKernels and Streams.CopiesRunBesideKernels say "
                          "which of them it does not.");
}

/* Explains why lanes that overlap still take long. */
static void explain_time(struct verdict *verdict, const struct evidence *evidence)
{
    struct phase phase;
    const struct query records = {
        .phase = &phase, .kind = TRACE_CALL, .name = "cudaEventRecord*", .student = true};
    if (run_phase(evidence, &phase) && evidence_next(evidence, &records, NULL) != NULL)
        verdict_hint(verdict, "The stamp of a timed event behind a kernel is taken when the kernel "
                              "has ended; until then it holds up the kernels of all streams that "
                              "share its hardware queue, of which there are 8. "
                              "cudaEventDisableTiming makes an event without a stamp.");
    else
        verdict_hint(verdict, "Is something set up in streams_run that belongs in streams_open? "
                              "Does the host do work of its own between two lanes?");
}

static void judge_time(struct verdict *verdict, const struct evidence *evidence)
{
    const struct view view = look(evidence);
    if (!ran(verdict, &view)) return;
    for (size_t i = 0; i < evidence->repeat_count; i++)
        if (!compare_digests(verdict, &evidence->repeats[i])) return;
    verdict_time_ratio(verdict, evidence);
    if (verdict_failed(verdict)) explain_time(verdict, evidence);
}

/* ---- checks: failures and leaks ----------------------------------------------------------------
 */

/* Checks streams_run with a failing launch, in two ways. */
static bool run_failed_well(struct verdict *verdict, const struct view *view)
{
    const struct {
        const char *phase;
        int code, expected;
        const char *because, *before;
    } ways[] = {
        {STREAMS_PHASE_RUN_FAILS, view->out->run_failed, INVALID_VALUE,
         N_("one of the kernels' launches was refused"),
         N_("One of the kernels' launches was refused; ")},
        {STREAMS_PHASE_RUN_UNTOLD, view->out->run_untold, STREAMS_UNTOLD_ERROR,
         N_("that is what one of the calls of kernel(...) returned"),
         N_("One of the calls of kernel(...) returned an error; ")},
    };
    struct phase phase;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const struct answer answer =
            answer_in(view->evidence, ways[i].phase, 0, RUN, ANSWER_RUNTIME, ways[i].code, &phase);
        if (!answer_launch_failed_with(verdict, &answer, ways[i].expected, ways[i].because))
            return false;
        if (answer.phase != NULL &&
            waits_say_left(verdict, view->evidence, &phase, RUN, ways[i].before))
            return false;
    }
    if (view->out->busy_failed == 0) return true;
    verdict_fail_in(verdict, view->evidence, RUN,
                    "streams_run returned an error while %u of its streams still had work.",
                    view->out->busy_failed);
    verdict_why(verdict, "The lanes that were issued before the failure still read and write "
                         "arrays that the caller is about to release.");
    verdict_hint(verdict, "Wait for every stream on the way out of a failure as well.");
    return false;
}

static void judge_failures(struct verdict *verdict, const struct evidence *evidence)
{
    const struct view view = look(evidence);
    struct phase phase;
    struct answer answer = answer_in(evidence, STREAMS_PHASE_OPEN_FAILS, 0, OPEN, ANSWER_RUNTIME,
                                     view.out->open_failed, &phase);

    if (!answer_failed_with(verdict, &answer, OUT_OF_MEMORY,
                            "the device has no room for one of the lanes"))
        return;
    if (view.out->kept != 0) {
        verdict_fail_in(verdict, evidence, OPEN,
                        "streams_open failed, and %u pointers in the lanes were not set back to "
                        "NULL.",
                        view.out->kept);
        verdict_why(verdict, "The caller cannot tell what it still owns, and releases it twice.");
        verdict_hint(verdict, "Release what was made, and set the pointer to NULL where it is "
                              "released.");
        return;
    }
    answer =
        answer_in(evidence, STREAMS_PHASE_OPEN, 0, OPEN, ANSWER_RUNTIME, view.out->open, &phase);
    if (!answer_succeeded(verdict, &answer, RIGHT_CALL)) return;
    if (view.out->incomplete != 0) return; /* reported by the checks of values */
    if (!run_failed_well(verdict, &view)) return;
    answer =
        answer_in(evidence, STREAMS_PHASE_RUN, 0, RUN, ANSWER_RUNTIME, view.out->runs[0], &phase);
    if (!answer_succeeded(verdict, &answer, RIGHT_CALL) || !compare_all(verdict, &view)) return;
    answer =
        answer_in(evidence, STREAMS_PHASE_CLOSE, 0, CLOSE, ANSWER_RUNTIME, view.out->close, &phase);
    if (!answer_succeeded(verdict, &answer,
                          "lanes that are open, and one in the middle that is not"))
        return;
    if (view.out->kept_closed != 0) {
        verdict_fail_in(verdict, evidence, CLOSE,
                        "%u pointers in the lanes are not NULL after streams_close; the lane in "
                        "the middle was never open.",
                        view.out->kept_closed);
        verdict_hint(verdict, "Set host, device and stream to NULL when they are released; a lane "
                              "whose pointers are NULL already is passed over, and the next one "
                              "is released like any other.");
        return;
    }
    answer = answer_in(evidence, STREAMS_PHASE_CLOSE, 1, CLOSE, ANSWER_RUNTIME,
                       view.out->close_again, &phase);
    answer_succeeded(verdict, &answer, "lanes that were closed already");
}

static void judge_left(struct verdict *verdict, const struct evidence *evidence)
{
    const struct view view = look(evidence);
    struct phase phase;
    struct answer answer =
        answer_in(evidence, STREAMS_PHASE_CLOSE, 0, CLOSE, ANSWER_RUNTIME, view.out->close, &phase);

    if (!ran(verdict, &view)) return;
    if (!answer_succeeded(verdict, &answer, "lanes that are open")) return;
    if (!evidence_phase(evidence, STREAMS_PHASE_LIFE, 0, &phase)) return;
    verdict_leaks(verdict, evidence, &phase);
    if (verdict_failed(verdict))
        verdict_hint(verdict, "streams_close gives back all three of every lane: "
                              "cudaStreamDestroy, cudaFree, cudaFreeHost; and whatever streams_run "
                              "made for itself.");
}

static void judge_left_on_failure(struct verdict *verdict, const struct evidence *evidence)
{
    const struct view view = look(evidence);
    struct phase phase;
    struct answer answer = answer_in(evidence, STREAMS_PHASE_OPEN_FAILS, 0, OPEN, ANSWER_RUNTIME,
                                     view.out->open_failed, &phase);
    if (!answer_written(verdict, &answer) || answer.phase == NULL) return;
    verdict_leaks(verdict, evidence, &phase);
    if (verdict_failed(verdict))
        verdict_hint(verdict, "streams_open failed at one lane. What that lane, and those before "
                              "it, had got by then was to be released: the caller does not know "
                              "of it.");
}

/* Returns the function (of the three) in whose phase the call failed, and its return value. */
static struct answer answer_to_failure(const struct evidence *evidence,
                                       const struct trace_record *failed, struct phase *phase)
{
    const struct view view = look(evidence);
    const struct {
        const char *phase, *function;
        int code;
    } parts[] = {
        {STREAMS_PHASE_OPEN, OPEN, view.out->open},
        {STREAMS_PHASE_RUN, RUN, view.out->runs[0]},
        {STREAMS_PHASE_CLOSE, CLOSE, view.out->close},
    };
    uint32_t index;
    size_t i = 0;
    while (i < 2 && !failures_find(evidence, parts[i].phase, failed, phase, &index)) i++;
    return answer_in(evidence, parts[i].phase, 0, parts[i].function, ANSWER_RUNTIME, parts[i].code,
                     phase);
}

/* Returns true when every lane is complete and the results are right. */
static bool is_right_all_the_same(const struct evidence *evidence)
{
    const struct view view = look(evidence);
    if (view.out->open != 0 || view.out->kept != 3 * view.in->count || view.out->runs[0] != 0)
        return false;
    for (uint32_t lane = 0; lane < view.in->count; lane++) {
        const struct streams_input_lane *l = &view.in->lanes[lane];
        for (size_t k = 0; k < l->length; k++) {
            const float expected = host_reference_expected(values_at(l->seed, k), k);
            if (memcmp(&view.out->values[l->offset + k], &expected, sizeof expected) != 0)
                return false;
        }
    }
    return true;
}

static void judge_kept(struct verdict *verdict, const struct evidence *evidence,
                       const struct answer *answer, const struct trace_record *failed,
                       const char *before)
{
    const struct view view = look(evidence);
    if (strcmp(answer->function, OPEN) != 0 || view.out->open == 0 || view.out->kept == 0) return;
    verdict_fail(
        verdict, evidence, failed,
        "%s; streams_open returned that, and %u pointers in the lanes were not set back to "
        "NULL.",
        before, view.out->kept);
    verdict_why(verdict, "The caller cannot tell what it still owns, and releases it twice.");
    verdict_hint(verdict, "Set the pointer to NULL where it is released.");
}

static void judge_each_failure(struct verdict *verdict, const struct evidence *evidence)
{
    static const struct failures_contract contract = {.api = ANSWER_RUNTIME,
                                                      .answer = answer_to_failure,
                                                      .right = is_right_all_the_same,
                                                      .more = judge_kept,
                                                      .waits = true};
    const struct view view = look(evidence);
    if (ran(verdict, &view)) failures_judge(verdict, evidence, &contract);
}

static size_t races(const struct evidence *evidence)
{
    const struct query findings = {.kind = TRACE_FINDING};
    const struct trace_record *r = NULL;
    size_t count = 0;
    while ((r = evidence_next(evidence, &findings, r)) != NULL)
        count += trace_finding_kind_of(r->finding.id) == FINDING_KIND_RACE;
    return count;
}

/* Fails for everything that the device itself reports. */
static void judge_findings(struct verdict *verdict, const struct evidence *evidence)
{
    const struct view view = look(evidence);
    const struct answer open = {evidence, NULL, OPEN, ANSWER_RUNTIME, view.out->open};
    if (!answer_written(verdict, &open)) return;
    /* Pending work causes races with any later access, so the pending work is reported first. */
    if (evidence_count(evidence, &(struct query){.kind = TRACE_FINDING}) == races(evidence))
        say_left(verdict, &view);
    verdict_findings(verdict, evidence, NULL);
    verdict_advice(verdict, evidence);
    waits_say_unpromised_in(verdict, evidence, STREAMS_PHASE_RUN, RUN);
}

/* A finding names two places and is the cause of a wrong value, so its check comes first.
 */
static const struct check checks[] = {
    {"TheDeviceFindsNothingWrong", "values", CHECK_EMULATOR_ONLY,
     "no access out of bounds, to the wrong side, or to memory that is gone", judge_findings},
    {"EveryArrayIsRight", "values", CHECK_EARLIEST, "every array goes through the kernel once",
     judge_values},
    {"ResultsHaveArrivedOnReturn", "values", CHECK_ORDER,
     "each array's steps are ordered, and the host waits for all of them", judge_arrival},
    {"HostMemoryIsPageLocked", "values", 0, "the copy engines can work on their own", judge_pinned},
    {"CopiesAreAsynchronous", "values", 0, "the host goes on while the device copies",
     judge_asynchronous},
    {"EveryArrayHasItsOwnStream", "values", 0, "no array shares a stream with another",
     judge_streams},
    {"NoLaneWaitsForAnother", "values", 0,
     "the host waits when all lanes have been given their work", judge_independent},
    {"TheHostWaitsAsLongAsItTakes", "slow", CHECK_EMULATOR_ONLY,
     "kernels of many seconds are waited for as well", judge_patience},
    {"KernelsRunBesideKernels", "compare", 0, "several arrays are worked on at the same time",
     judge_kernels_overlap},
    {"CopiesRunBesideKernels", "compare", 0, "copies cost no time of their own",
     judge_copies_overlap},
    {"FasterThanOneAfterTheOther", "compare", 0, "the speed-up over the serial baseline",
     judge_speed_up},
    {"FailuresLeaveAllInOrder", "failures", 0,
     "the first error is returned, and the next call works", judge_failures},
    {"NothingIsLeftBehind", "values", 0, "streams destroyed, memory released", judge_left},
    {"NothingIsLeftBehindOnFailure", "failures", 0, "also when streams_open fails half-way",
     judge_left_on_failure},
    {FAILURES_CHECK, FAILURES_RUN, CHECK_EMULATOR_ONLY,
     "each call that can fail does so once, and is returned", judge_each_failure},
    {"AsFastAsTheReference", "timed", 0, "no time is lost against the reference solution",
     judge_time},
    {0},
};

static const struct hint hints[] = {
#include "grader/lessons/02_streams/hints.def"
    {0}};

const struct lesson lesson_02_streams = {
    .number = 2,
    .folder = "02_streams",
    .suite = "Streams",
    .function = RUN,
    .files = (const char *const[]){"streams.c", NULL},
    .parts = (const char *const[]){"02_streams_drive", "multiply_divide", "broken", NULL},
    .runs = runs,
    .checks = checks,
    .hints = hints,
};
