/* The judge of lesson 08: every generation right, in each step; no more launches and bytes than the
 * step needs; no unordered reads; lattices side by side. */
#include "grader/evidence/judge.h"
#include "grader/base/messages.h"
#include "grader/evidence/answer.h"
#include "grader/evidence/failures.h"
#include "grader/evidence/given.h"
#include "grader/evidence/phases.h"
#include "grader/evidence/queued.h"
#include "grader/evidence/timing.h"
#include "grader/evidence/waits.h"
#include "grader/lessons/08_life/exchange.h"
#include "grader/lessons/08_life/torus.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELL sizeof(int32_t)
#define MOST_READS 9 /* reads of a cell per generation of step 1: eight neighbours and itself */
#define ALIVE_PERCENT 30

static const char *const functions[LIFE_STEPS] = {"life_launches", "life_block", "life_shared",
                                                  "life_streams", "life_grid"};
/* The checks that report why a call failed. */
static const char *const values_checks[LIFE_STEPS] = {
    "Life.EveryGenerationIsRight", "Life.OneBlockMakesAllGenerations",
    "Life.SharedMemoryGivesTheSame", "Life.EveryLatticeIsRight", "Life.AGridIsLargerThanABlock"};

static const char *const values_hints[LIFE_STEPS] = {
    N_("Eight neighbours, around the edges as well; a thread for each cell, and none beyond; one "
       "lattice is read and the other one written."),
    N_("Read all neighbours; __syncthreads(); write; __syncthreads(). And each cell has its "
       "thread, "
       "whatever the lattice's size."),
    N_("In shared memory a row may be as long as the lattice's, or as LIFE_BLOCK_SIDE, but it has "
       "to be the same wherever it is used; and the last generation has to go back to `cells`."),
    N_("Copy in, kernel and copy out of lattice i, with the sizes of lattice i, in stream i; and "
       "the "
       "host waits for every stream before it returns."),
    N_("Each thread takes cells in strides of grid.size() until there are none; then grid.sync(), "
       "by "
       "all threads, once in each generation."),
};

/* ---- the runs ------------------------------------------------------------------------------ */

/* What a run asks for: one call each, except that the lattices of one call of step 4 are
 * consecutive entries with MORE. The pairs are minimum and maximum. */
enum { PLAIN = 0, MORE = 1, AGAIN = 2, TIMED = 4 };
struct wanted {
    enum life_step step;
    uint32_t width[2], height[2], generations[2];
    unsigned flags;
};

static uint32_t draw(struct run_input *input, const uint32_t range[2])
{
    return (uint32_t)random_between(input->random, range[0], range[1]);
}

static void add(struct run_input *input, struct life_input *in, const struct wanted *wanted)
{
    if (in->lattice_count == LIFE_LATTICES ||
        ((wanted->flags & MORE) == 0 && in->call_count == LIFE_CALLS))
        abort(); /* the lists below are too long */
    struct life_input_lattice *lattice = &in->lattices[in->lattice_count];
    if ((wanted->flags & MORE) == 0)
        in->calls[in->call_count++] =
            (struct life_call){.step = wanted->step,
                               .first = in->lattice_count,
                               .generations = draw(input, wanted->generations),
                               .again = (wanted->flags & AGAIN) != 0,
                               .timed = (wanted->flags & TIMED) != 0};
    in->calls[in->call_count - 1].count++;
    lattice->width = draw(input, wanted->width);
    lattice->height = draw(input, wanted->height);
    lattice->offset = in->cell_count;
    in->cell_count += (uint64_t)lattice->width * lattice->height;
    in->lattice_count++;
}

static int prepare(struct run_input *input, const struct wanted *wanted, size_t count)
{
    struct life_input plan = {0};
    for (size_t i = 0; i < count; i++) add(input, &plan, &wanted[i]);

    struct life_input *in = run_input_allocate(input, sizeof *in + plan.cell_count * CELL);
    if (in == NULL) return -1;
    *in = plan;
    for (uint64_t i = 0; i < in->cell_count; i++)
        in->cells[i] = random_below(input->random, 100) < ALIVE_PERCENT;
    input->output_size = sizeof(struct life_output) + in->cell_count * CELL;
    return 0;
}

#define PREPARE(list) prepare(input, list, sizeof(list) / sizeof *(list))

static int prepare_launches(struct run_input *input)
{
    static const struct wanted list[] = {
        {LIFE_LAUNCHES, {128, 128}, {128, 128}, {2, 3}, AGAIN},
        {LIFE_LAUNCHES, {33, 62}, {17, 31}, {5, 6}, PLAIN},
        {LIFE_LAUNCHES, {3, 7}, {33, 62}, {4, 7}, PLAIN},
        {LIFE_LAUNCHES, {65, 95}, {34, 63}, {1, 1}, PLAIN},
        {LIFE_LAUNCHES, {9, 20}, {9, 20}, {0, 0}, AGAIN},
    };
    return PREPARE(list);
}

static int prepare_one_block(struct run_input *input, enum life_step step)
{
    const struct wanted list[] = {
        {step, {32, 32}, {32, 32}, {9, 14}, AGAIN}, {step, {17, 31}, {18, 31}, {7, 8}, PLAIN},
        {step, {3, 6}, {29, 32}, {5, 9}, PLAIN},    {step, {20, 30}, {9, 15}, {1, 1}, PLAIN},
        {step, {9, 20}, {9, 20}, {0, 0}, AGAIN},
    };
    return PREPARE(list);
}

static int prepare_block(struct run_input *input)
{
    return prepare_one_block(input, LIFE_BLOCK);
}

static int prepare_shared(struct run_input *input)
{
    return prepare_one_block(input, LIFE_SHARED);
}

/* A few of all sizes; and more than a table holds that is large enough for those. */
enum { STREAMS_LATTICES = 11, MANY_LATTICES = 70 };

static int prepare_streams(struct run_input *input)
{
    struct wanted list[STREAMS_LATTICES + MANY_LATTICES] = {
        {LIFE_STREAMS, {32, 32}, {32, 32}, {5, 9}, AGAIN},
        {LIFE_STREAMS, {17, 31}, {18, 31}, {0, 0}, MORE},
        {LIFE_STREAMS, {5, 16}, {20, 32}, {0, 0}, MORE},
        {LIFE_STREAMS, {21, 32}, {3, 9}, {0, 0}, MORE},
        {LIFE_STREAMS, {12, 19}, {12, 19}, {3, 4}, PLAIN},
        {LIFE_STREAMS, {20, 32}, {20, 32}, {0, 0}, MORE},
        {LIFE_STREAMS, {3, 9}, {20, 32}, {0, 0}, MORE},
        {LIFE_STREAMS, {20, 32}, {20, 32}, {0, 0}, MORE},
        {LIFE_STREAMS, {9, 20}, {3, 9}, {0, 0}, MORE},
        {LIFE_STREAMS, {32, 32}, {20, 32}, {0, 0}, MORE},
        {LIFE_STREAMS, {12, 19}, {12, 19}, {0, 0}, PLAIN},
    };
    for (size_t i = 0; i < MANY_LATTICES; i++)
        list[STREAMS_LATTICES + i] =
            (struct wanted){LIFE_STREAMS, {3, 5}, {3, 5}, {2, 3}, i > 0 ? MORE : PLAIN};
    return PREPARE(list);
}

/* The last one has more cells than an H200's multiprocessors have threads, 132 * 2048. */
static int prepare_grid(struct run_input *input)
{
    static const struct wanted list[] = {
        {LIFE_GRID, {65, 95}, {41, 59}, {5, 6}, AGAIN},
        {LIFE_GRID, {3, 9}, {100, 200}, {4, 7}, PLAIN},
        {LIFE_GRID, {33, 62}, {33, 62}, {0, 0}, AGAIN},
        {LIFE_GRID, {530, 535}, {521, 529}, {1, 1}, PLAIN},
    };
    return PREPARE(list);
}

static int prepare_each_failure(struct run_input *input)
{
    static const struct wanted list[] = {
        {LIFE_LAUNCHES, {33, 40}, {9, 12}, {3, 3}, PLAIN},
        {LIFE_BLOCK, {9, 20}, {9, 20}, {2, 4}, PLAIN},
        {LIFE_SHARED, {9, 20}, {9, 20}, {2, 4}, PLAIN},
        {LIFE_STREAMS, {9, 20}, {9, 20}, {2, 4}, PLAIN},
        {LIFE_STREAMS, {9, 20}, {9, 20}, {0, 0}, MORE},
        {LIFE_GRID, {33, 40}, {9, 20}, {2, 4}, PLAIN},
    };
    return PREPARE(list);
}

/* One-time work of the first call is not timed. The version in global memory is not judged by time,
 * but shown. */
enum { WARM_UP, TIMED_CALL, GLOBAL_CALL };

static int prepare_timed_shared(struct run_input *input)
{
    const uint32_t generations = input->device == DRIVE_GPU ? 4000 : 60;
    const struct wanted list[] = {
        {LIFE_SHARED, {9, 20}, {9, 20}, {1, 1}, PLAIN},
        {LIFE_SHARED, {32, 32}, {32, 32}, {generations, generations}, TIMED},
        {LIFE_BLOCK, {32, 32}, {32, 32}, {generations, generations}, PLAIN},
    };
    return PREPARE(list);
}

/* So many generations that a kernel takes longer than making the next lattice's stream and memory:
 * a submission that makes them on the way still overlaps lattices. */
static int prepare_timed_streams(struct run_input *input)
{
    const bool gpu = input->device == DRIVE_GPU;
    const uint32_t generations = gpu ? 2000 : 1200, count = gpu ? 64 : 6;
    struct wanted list[LIFE_LATTICES] = {{LIFE_STREAMS, {9, 20}, {9, 20}, {1, 1}, PLAIN}};
    for (uint32_t i = 0; i < count; i++)
        list[TIMED_CALL + i] = (struct wanted){LIFE_STREAMS,
                                               {28, 32},
                                               {28, 32},
                                               {generations, generations},
                                               TIMED | (i > 0 ? MORE : PLAIN)};
    return prepare(input, list, TIMED_CALL + count);
}

static const struct run_plan runs[] = {
    {.name = "launches", .flags = RUN_ON_BOTH | RUN_IN_EVERY_ORDER, .prepare = prepare_launches},
    {.name = "block", .flags = RUN_ON_BOTH, .prepare = prepare_block},
    {.name = "shared", .flags = RUN_ON_BOTH, .prepare = prepare_shared},
    {.name = "streams", .flags = RUN_ON_BOTH | RUN_IN_EVERY_ORDER, .prepare = prepare_streams},
    {.name = "grid", .flags = RUN_ON_BOTH, .prepare = prepare_grid},
    {.name = "time shared",
     .flags = RUN_ON_BOTH | RUN_TIMED,
     .prepare = prepare_timed_shared,
     .phase = LIFE_PHASE_TIME,
     .threshold = &threshold_life_shared},
    {.name = "time streams",
     .flags = RUN_ON_BOTH | RUN_TIMED,
     .prepare = prepare_timed_streams,
     .phase = LIFE_PHASE_TIME,
     .threshold = &threshold_life_streams},
    FAILURES_PLAN(prepare_each_failure),
    {0},
};

/* ---- what came back ------------------------------------------------------------------------ */

/* One call of a run: its arguments, its result, and its phase. */
struct call {
    const struct evidence *evidence;
    const struct life_input *in;
    const struct life_output *out;
    const struct life_call *call;
    const struct life_answer *given;
    struct phase phase;
    struct answer answer;
};

/* Returns false when the verdict has failed or (past the last) the list has ended. */
static bool call_at(struct verdict *verdict, const struct evidence *evidence, uint32_t index,
                    struct call *one)
{
    const struct life_input *in = evidence->input;
    const struct life_output *out = evidence->output;
    if (index >= in->call_count) return false;
    *one = (struct call){evidence,
                         in,
                         out,
                         &in->calls[index],
                         &out->answers[index],
                         .answer = {.evidence = evidence,
                                    .function = functions[in->calls[index].step],
                                    .api = ANSWER_RUNTIME,
                                    .code = out->answers[index].status}};
    if (one->given->lost == 1) {
        queued_say_lost(verdict, evidence, one->answer.function);
        return false;
    }
    if (!phases_get(verdict, evidence, one->call->timed ? LIFE_PHASE_TIME : LIFE_PHASE_CALL,
                    one->call->timed ? 0 : index, &one->phase))
        return false;
    return true;
}

static const char *describe(const struct call *one, char text[160])
{
    const struct life_input_lattice *lattice = &one->in->lattices[one->call->first];
    if (one->call->step == LIFE_STREAMS)
        snprintf(text, 160, _("%u lattices and %u generations"), one->call->count,
                 one->call->generations);
    else
        snprintf(text, 160, _("a lattice of %u x %u and %u generations"), lattice->width,
                 lattice->height, one->call->generations);
    return text;
}

/* Checks that the call succeeded and that its work ran to its end. */
static bool went_well(struct verdict *verdict, struct call *one)
{
    char text[160];
    one->answer.phase = &one->phase;
    return queued_went_well(
        verdict, &one->answer, one->given->later, one->given->remembered,
        (uint32_t)(one->call - one->in->calls), describe(one, text),
        N_("Does every thread know whether it has a cell, and are the neighbours' "
           "indices inside the lattice?"));
}

/* Checks, in one line, that every call of the run succeeded; for checks that are about something
 * else. */
static bool all_judgeable(struct verdict *verdict, const struct evidence *evidence)
{
    struct call one;
    for (uint32_t i = 0; call_at(verdict, evidence, i, &one); i++)
        if (!answer_judgeable(verdict, &one.answer, values_checks[one.call->step])) return false;
    return !verdict_failed(verdict);
}

static bool lattice_right(struct verdict *verdict, const struct call *one, uint32_t number)
{
    const struct life_input_lattice *lattice = &one->in->lattices[one->call->first + number];
    const struct torus torus = {lattice->width, lattice->height, one->in->cells + lattice->offset};
    const int32_t *found = one->out->cells + lattice->offset;
    const size_t cells = (size_t)lattice->width * lattice->height;
    int32_t *expected = torus_generation(&torus, one->call->generations);
    size_t wrong = 0;
    char of[48] = "";

    if (expected == NULL) {
        verdict_skip(verdict, "no memory to compare with");
        return false;
    }
    const ptrdiff_t first = judge_first_difference(found, expected, cells, CELL);
    for (size_t i = 0; i < cells; i++) wrong += found[i] != expected[i];
    const int32_t must = first < 0 ? 0 : expected[first];
    free(expected);
    if (first < 0) return true;
    if (verdict_causes(verdict, one->evidence)) return false;
    if (one->call->step == LIFE_STREAMS)
        snprintf(of, sizeof of, _("Lattice %u of %u: "), number, one->call->count);
    verdict_fail(verdict, one->evidence, queued_last_kernel(one->evidence, &one->phase),
                 "%sIn generation %u of a lattice of %u x %u, cell (%u, %u) is %" PRId32
                 " and must be %" PRId32 "; %zu of %zu cells are wrong.",
                 of, one->call->generations, lattice->width, lattice->height,
                 (unsigned)((size_t)first % lattice->width),
                 (unsigned)((size_t)first / lattice->width), found[first], must, wrong, cells);
    const char *why = torus_explain(&torus, one->call->generations, found);
    if (why != NULL) verdict_why(verdict, "%s", why);
    verdict_hint(verdict, "%s", _(values_hints[one->call->step]));
    return false;
}

static bool all_right(struct verdict *verdict, const struct evidence *evidence)
{
    struct call one;
    for (uint32_t i = 0; call_at(verdict, evidence, i, &one); i++) {
        if (!went_well(verdict, &one)) return false;
        for (uint32_t k = 0; k < one.call->count; k++)
            if (!lattice_right(verdict, &one, k)) return false;
    }
    return !verdict_failed(verdict);
}

/* ---- values and findings ------------------------------------------------------------------- */

static void judge_values(struct verdict *verdict, const struct evidence *evidence)
{
    (void)all_right(verdict, evidence);
}

static void judge_streams(struct verdict *verdict, const struct evidence *evidence)
{
    struct call one;
    for (uint32_t i = 0; call_at(verdict, evidence, i, &one); i++)
        if (waits_say_left(verdict, evidence, &one.phase, one.answer.function, "")) return;
    (void)all_right(verdict, evidence);
}

/* Returns true for a cooperative launch; cudaLaunchKernelEx can make one too. */
static bool is_cooperative(const struct trace_record *call)
{
    return call != NULL && (strstr(call->name, "Cooperative") != NULL ||
                            strncmp(call->name, "cudaLaunchKernelEx", 18) == 0 ||
                            strncmp(call->name, "cuLaunchKernelEx", 16) == 0 ||
                            strncmp(call->name, "cudaGraphLaunch", 15) == 0);
}

/* Fails when the call's last kernel was not launched cooperatively. Returns true when the verdict
 * failed. */
static bool say_not_cooperative(struct verdict *verdict, const struct call *one)
{
    const struct trace_record *kernel = queued_last_kernel(one->evidence, &one->phase);
    if (kernel == NULL || is_cooperative(evidence_call_of(one->evidence, kernel))) return false;
    verdict_fail(verdict, one->evidence, kernel, "This launch is not a cooperative one.");
    verdict_why(verdict,
                "The blocks of another launch need not be on the device together: the ones "
                "that run may wait for ever for those that cannot begin.");
    verdict_hint(verdict, "cudaLaunchCooperativeKernel refuses a grid that has no room as a whole; "
                          "grid.sync() needs it.");
    return true;
}

/* Where a kernel has failed, the launch is checked first. The device's findings are reported here
 * as well, because this step has no check of its own for them. */
static void judge_grid(struct verdict *verdict, const struct evidence *evidence)
{
    struct call one;
    for (uint32_t i = 0; call_at(verdict, evidence, i, &one); i++) {
        if (one.given->later == 0) continue;
        if (say_not_cooperative(verdict, &one)) return;
        break; /* the following calls were not made */
    }
    if (!verdict_failed(verdict) && all_right(verdict, evidence))
        verdict_findings(verdict, evidence, NULL);
}

static void judge_findings(struct verdict *verdict, const struct evidence *evidence)
{
    if (!all_judgeable(verdict, evidence)) return;
    verdict_findings(verdict, evidence, NULL);
    verdict_advice(verdict, evidence);
}

/* ---- launches, bytes and streams ----------------------------------------------------------- */

/* Checks that there are `launches` kernels, all in the given stream, and no wait. */
static bool queued(struct verdict *verdict, const struct call *one, size_t launches)
{
    const struct query kernels = {
        .phase = &one->phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL};
    const size_t count = evidence_count(one->evidence, &kernels);
    char text[160];

    if (!queued_in_given_stream(
            verdict, one->evidence, &one->phase, one->answer.function,
            N_("The lattice may still be on its way, in the given stream, and what "
               "comes behind in it does not wait for other streams."),
            N_("Who waits is the caller, for the stream, when the lattice is needed.")))
        return false;
    if (count == launches) return true;
    verdict_fail(verdict, one->evidence, queued_last_kernel(one->evidence, &one->phase),
                 "For %s, %zu kernels were launched.", describe(one, text), count);
    if (one->call->step == LIFE_LAUNCHES) {
        verdict_why(verdict, "A launch for each generation is what it takes: the stream keeps them "
                             "apart.");
        verdict_hint(verdict, "What else is launched? Swap the two pointers, and copy nothing.");
    } else {
        verdict_why(verdict, "One launch is to make all generations, and none where there are "
                             "none.");
        verdict_hint(verdict, "The loop over the generations belongs into the kernel.");
    }
    return false;
}

/* Returns the bytes of global memory that the phase's kernels and copies moved; 0: not known. */
static uint64_t bytes_moved(const struct call *one)
{
    const struct query work = {.phase = &one->phase, .kind = TRACE_OPERATION};
    const struct trace_record *r = NULL;
    uint64_t bytes = 0;
    while ((r = evidence_next(one->evidence, &work, r)) != NULL)
        bytes += r->what == TRACE_KERNEL ? r->bytes : r->what == TRACE_COPY ? 2 * r->bytes : 0;
    return bytes;
}

/* Checks that each cell is accessed at most `most` times; the software device counts. */
static bool spares_memory(struct verdict *verdict, const struct call *one, uint32_t most)
{
    const struct life_input_lattice *lattice = &one->in->lattices[one->call->first];
    const double each =
        (double)bytes_moved(one) / ((double)lattice->width * lattice->height * CELL);
    char text[160];

    if (one->evidence->device != DRIVE_EMULATOR || one->call->generations == 0) return true;
    if (each <= most) return true;
    verdict_fail(verdict, one->evidence, queued_last_kernel(one->evidence, &one->phase),
                 "For %s, each cell was read or written %.1f times in global memory; %u are "
                 "enough.",
                 describe(one, text), each, most);
    if (one->call->step == LIFE_LAUNCHES) {
        verdict_why(verdict, "A cell is read at most nine times in a generation, as a neighbour "
                             "and as itself, and written once.");
        verdict_hint(verdict, "Is something copied that the next launch could read where it is?");
    } else {
        verdict_why(verdict, "Shared memory is on the multiprocessor, global memory beside it, ten "
                             "times as far away. The generations between the first and the last "
                             "need not go there.");
        verdict_hint(verdict, "Read `cells` into a __shared__ array in front of the loop, and "
                              "write it back behind it.");
    }
    return false;
}

static void judge_queue(struct verdict *verdict, const struct evidence *evidence)
{
    struct call one;
    if (!all_judgeable(verdict, evidence)) return;
    for (uint32_t i = 0; call_at(verdict, evidence, i, &one); i++) {
        const uint32_t generations = one.call->generations;
        const bool each = one.call->step == LIFE_LAUNCHES;
        if (!queued(verdict, &one, each ? generations : generations > 0)) return;
        if (each && !spares_memory(verdict, &one, generations * (MOST_READS + 1))) return;
        if (one.call->step == LIFE_SHARED && !spares_memory(verdict, &one, 2)) return;
    }
}

static void judge_cooperative(struct verdict *verdict, const struct evidence *evidence)
{
    struct call one;
    judge_queue(verdict, evidence);
    if (verdict_failed(verdict)) return;
    for (uint32_t i = 0; call_at(verdict, evidence, i, &one); i++)
        if (say_not_cooperative(verdict, &one)) return;
}

/* ---- step 4 -------------------------------------------------------------------------------- */

static void say_shared_streams(struct verdict *verdict, const struct call *one,
                               const struct trace_record *kernel, size_t streams)
{
    if (given_in_default(one->evidence, kernel))
        verdict_fail(verdict, one->evidence, kernel, "This kernel ran in the default stream.");
    else
        verdict_fail(verdict, one->evidence, kernel, "%u lattices went through %zu stream%s.",
                     one->call->count, streams, streams == 1 ? "" : "s");
    verdict_why(verdict, "What is in one stream runs one after the other.");
    verdict_hint(verdict, "A stream for each lattice, for its copies and its kernel.");
}

/* Checks that there is a kernel for each lattice, no two in one stream; sets `streams`. */
static bool kernels_apart(struct verdict *verdict, const struct call *one,
                          uint64_t streams[LIFE_LATTICES])
{
    const struct query kernels = {
        .phase = &one->phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL};
    const uint32_t wanted = one->call->generations > 0 ? one->call->count : 0;
    const size_t count = evidence_count(one->evidence, &kernels);
    const struct trace_record *kernel = NULL, *shown = NULL;
    size_t distinct = 0;

    if (count != wanted) {
        verdict_fail(verdict, one->evidence, queued_last_kernel(one->evidence, &one->phase),
                     "%u lattices, but %zu kernels were launched.", wanted, count);
        verdict_why(verdict, "Each lattice goes through all its generations in one launch.");
        verdict_hint(verdict, "Step 3 has the kernel.");
        return false;
    }
    while ((kernel = evidence_next(one->evidence, &kernels, kernel)) != NULL) {
        size_t k = 0;
        while (k < distinct && streams[k] != kernel->stream) k++;
        if (k == distinct) streams[distinct++] = kernel->stream;
        if (shown == NULL || given_in_default(one->evidence, kernel)) shown = kernel;
    }
    if (distinct == wanted && (shown == NULL || !given_in_default(one->evidence, shown)))
        return true;
    say_shared_streams(verdict, one, shown, distinct);
    return false;
}

static bool copies_with_kernels(struct verdict *verdict, const struct call *one,
                                const uint64_t streams[LIFE_LATTICES])
{
    const struct query copies = {.phase = &one->phase, .kind = TRACE_OPERATION, .what = TRACE_COPY};
    const size_t lattices = one->call->count;
    const struct trace_record *copy = NULL;
    /* Nothing has to be done, and copies do no harm. */
    if (one->call->generations == 0) return true;
    while ((copy = evidence_next(one->evidence, &copies, copy)) != NULL) {
        size_t k = 0;
        while (k < lattices && streams[k] != copy->stream) k++;
        if (k < lattices && (copy->flags & TRACE_ASYNC) != 0) continue;
        if (k == lattices)
            verdict_fail(verdict, one->evidence, copy,
                         "This copy is in no stream that a lattice's kernel is in.");
        else
            verdict_fail(verdict, one->evidence, copy,
                         "This copy holds the host until it is done.");
        verdict_why(verdict, "All three steps of a lattice are in its own stream, so that its "
                             "kernel waits for its copy and for nothing else, the host included.");
        verdict_hint(verdict, "cudaMemcpyAsync, with the lattice's stream.");
        return false;
    }
    return true;
}

static void judge_own_streams(struct verdict *verdict, const struct evidence *evidence)
{
    uint64_t streams[LIFE_LATTICES];
    struct call one;
    if (!all_judgeable(verdict, evidence)) return;
    for (uint32_t i = 0; call_at(verdict, evidence, i, &one); i++)
        if (!kernels_apart(verdict, &one, streams) || !copies_with_kernels(verdict, &one, streams))
            return;
}

static void judge_side_by_side(struct verdict *verdict, const struct evidence *evidence)
{
    struct call one;
    if (!all_judgeable(verdict, evidence) || !call_at(verdict, evidence, TIMED_CALL, &one)) return;
    const struct query kernels = {
        .phase = &one.phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL};
    const struct overlap overlap = evidence_overlap(evidence, &kernels, NULL);
    const double at_once = overlap.a_ns > 0 ? (double)overlap.a_sum_ns / (double)overlap.a_ns : 0.0;
    verdict_figure(verdict, "kernels_at_once",
                   "%.1f of %u lattices at once on average (at least %.1f)", at_once,
                   one.call->count, limit_life_kernels_at_once);
    if (at_once >= limit_life_kernels_at_once) return;
    verdict_fail(verdict, evidence, queued_last_kernel(one.evidence, &one.phase),
                 "The lattices run one after the other: %.2f at once on average.", at_once);
    verdict_why(verdict, "One lattice is one block, on one of the device's many multiprocessors; "
                         "the others are idle meanwhile.");
    verdict_hint(verdict, "Streams of their own; all lattices queued before the first is waited "
                          "for; streams and memory made before, since making them takes long.");
}

/* ---- leaks, failures, time ----------------------------------------------------------------- */

static void judge_leaks(struct verdict *verdict, const struct evidence *evidence)
{
    struct call one;
    for (uint32_t i = 0; call_at(verdict, evidence, i, &one) && !verdict_failed(verdict); i++)
        if (one.given->status == 0) verdict_leaks(verdict, evidence, &one.phase);
    if (!verdict_failed(verdict)) (void)all_judgeable(verdict, evidence);
}

static struct answer answer_to_failure(const struct evidence *evidence,
                                       const struct trace_record *failed, struct phase *phase)
{
    const struct life_input *in = evidence->input;
    const struct life_output *out = evidence->output;
    uint32_t index = 0;
    const bool known =
        failures_find(evidence, LIFE_PHASE_CALL, failed, phase, &index) && index < in->call_count;
    if (!known) index = 0;
    return (struct answer){.evidence = evidence,
                           .phase = known ? phase : NULL,
                           .function = functions[in->calls[index].step],
                           .api = ANSWER_RUNTIME,
                           .code = out->answers[index].status};
}

static bool is_right_all_the_same(const struct evidence *evidence)
{
    const struct life_input *in = evidence->input;
    const struct life_output *out = evidence->output;
    const bool without_context = failures_lose_context(evidence);
    for (uint32_t i = 0; i < in->call_count; i++) {
        const struct life_answer *answer = &out->answers[i];
        /* What life_streams has is on the host when it returns. */
        const bool on_the_host = in->calls[i].step == LIFE_STREAMS;
        if (answer->lost != 0 && without_context) continue;
        if (answer->lost != 0 || answer->status != 0 ||
            (answer->later != 0 && !(without_context && on_the_host)))
            return false;
        for (uint32_t k = 0; k < in->calls[i].count; k++) {
            const struct life_input_lattice *lattice = &in->lattices[in->calls[i].first + k];
            const struct torus torus = {lattice->width, lattice->height,
                                        in->cells + lattice->offset};
            const size_t cells = (size_t)lattice->width * lattice->height;
            int32_t *expected = torus_generation(&torus, in->calls[i].generations);
            const bool same = expected != NULL && memcmp(expected, out->cells + lattice->offset,
                                                         cells * sizeof *expected) == 0;
            free(expected);
            if (!same) return false;
        }
    }
    return true;
}

/* life_streams must leave no work pending; the other four return while theirs is queued. */
static void leaves_no_work(struct verdict *verdict, const struct evidence *evidence,
                           const struct answer *answer, const struct trace_record *failed,
                           const char *before)
{
    char sentence[420];
    (void)failed;
    snprintf(sentence, sizeof sentence, _("%s; then "), before);
    if (answer->phase != NULL && strcmp(answer->function, functions[LIFE_STREAMS]) == 0)
        (void)waits_say_left(verdict, evidence, answer->phase, answer->function, sentence);
}

static void judge_each_failure(struct verdict *verdict, const struct evidence *evidence)
{
    static const struct failures_contract contract = {.advice = true,
                                                      .api = ANSWER_RUNTIME,
                                                      .answer = answer_to_failure,
                                                      .right = is_right_all_the_same,
                                                      .more = leaves_no_work};
    struct call one;
    for (uint32_t i = 0; call_at(verdict, evidence, i, &one); i++)
        if (!went_well(verdict, &one)) return;
    if (!verdict_failed(verdict)) failures_judge(verdict, evidence, &contract);
}

static bool timed_right(struct verdict *verdict, const struct evidence *evidence)
{
    const struct evidence *repeats = evidence->repeats != NULL ? evidence->repeats : evidence;
    for (size_t r = 0; r < evidence->repeat_count; r++)
        if (!all_right(verdict, &repeats[r])) return false;
    return true;
}

/* Returns the seconds that the kernels of the run's call took; 0: not known. */
static double kernel_seconds(struct verdict *verdict, const struct evidence *evidence,
                             uint32_t index)
{
    struct call one;
    return call_at(verdict, evidence, index, &one)
               ? queued_last_kernel_seconds(one.evidence, &one.phase)
               : 0.0;
}

static void judge_shared_time(struct verdict *verdict, const struct evidence *evidence)
{
    char a[32], b[32];
    if (!timed_right(verdict, evidence)) return;
    verdict_time_ratio(verdict, evidence);
    if (verdict_failed(verdict))
        verdict_hint(verdict, "Does each generation stay in shared memory? Is there a thread for "
                              "each cell? More than two barriers in each generation?");
    const double shared = kernel_seconds(verdict, evidence, TIMED_CALL),
                 global = kernel_seconds(verdict, evidence, GLOBAL_CALL);
    if (shared > 0 && global > 0)
        verdict_figure(verdict, "against_global_memory",
                       "the kernel of step 2 takes %s for the same, %.1f times the %s of step 3",
                       timing_in_words(global, a, sizeof a), global / shared,
                       timing_in_words(shared, b, sizeof b));
}

static void judge_time(struct verdict *verdict, const struct evidence *evidence)
{
    if (!timed_right(verdict, evidence)) return;
    verdict_time_ratio(verdict, evidence);
    if (verdict_failed(verdict))
        verdict_hint(verdict, "Are all lattices queued before the host waits for the first?");
}

static const struct check checks[] = {
    {"EveryGenerationIsRight", "launches", CHECK_ORDER,
     "step 1: lattices of 128 x 128 and of sizes off every boundary", judge_values},
    {"GenerationsAreNotMixed", "launches", CHECK_EMULATOR_ONLY,
     "step 1: no cell is read from the generation that is being written", judge_findings},
    {"OneLaunchForEachGeneration", "launches", 0,
     "step 1: in the given stream, and each cell read nine times at most", judge_queue},
    {"OneBlockMakesAllGenerations", "block", CHECK_ORDER,
     "step 2: lattices of up to 32 x 32, in place", judge_values},
    {"BarriersKeepGenerationsApart", "block", CHECK_EMULATOR_ONLY,
     "step 2: a barrier between reading and writing, and one between writing and reading",
     judge_findings},
    {"OneLaunchForAllGenerations", "block", 0, "step 2: one launch, in the given stream",
     judge_queue},
    {"SharedMemoryGivesTheSame", "shared", CHECK_ORDER, "step 3: the same lattices", judge_values},
    {"SharedMemoryHasNoRace", "shared", CHECK_EMULATOR_ONLY, "step 3: the same barriers",
     judge_findings},
    {"GlobalMemoryIsReadAndWrittenOnce", "shared", 0,
     "step 3: one launch, two accesses of each cell whatever the number of generations",
     judge_queue},
    {"EveryLatticeIsRight", "streams", CHECK_ORDER,
     "step 4: lattices of several sizes, there on return", judge_streams},
    {"LatticesDoNotMeet", "streams", CHECK_EMULATOR_ONLY,
     "step 4: each lattice's memory is touched by its own stream, and by the host after the wait",
     judge_findings},
    {"EveryLatticeHasItsOwnStream", "streams", 0,
     "step 4: for its copies and for the one kernel that makes all its generations",
     judge_own_streams},
    {"LatticesRunSideBySide", "time streams", 0, "step 4: by the device's own record",
     judge_side_by_side},
    {"AGridIsLargerThanABlock", "grid", CHECK_ORDER,
     "step 5: more cells than a block has threads, and than the device has", judge_grid},
    {"OneCooperativeLaunch", "grid", 0, "step 5: for all generations, in the given stream",
     judge_cooperative},
    {"NothingLeaks", "injections", CHECK_EMULATOR_ONLY, "streams and memory are given back",
     judge_leaks},
    {FAILURES_CHECK, FAILURES_RUN, CHECK_EMULATOR_ONLY,
     "each call that can fail does so once, and is returned", judge_each_failure},
    {"SharedMemoryIsAsFastAsTheReference", "time shared", 0, "step 3, against the reference",
     judge_shared_time},
    {"AsFastAsTheReference", "time streams", 0, "step 4, against the reference", judge_time},
    {0},
};

static const struct hint hints[] = {
#include "grader/lessons/08_life/hints.def"
    {0},
};

const struct lesson lesson_08_life = {
    .number = 8,
    .folder = "08_life",
    .suite = "Life",
    .function = "life_launches",
    .files = (const char *const[]){"life.cu", NULL},
    .parts = (const char *const[]){"08_life_drive", NULL},
    .runs = runs,
    .checks = checks,
    .hints = hints,
};
