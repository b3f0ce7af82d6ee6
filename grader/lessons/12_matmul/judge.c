/* The judge of lesson 12: every element right, whatever the sizes; one launch in the caller's
 * stream; no more accesses of global memory than the step needs; barriers between tiles. */
#include "grader/evidence/judge.h"
#include "grader/base/messages.h"
#include "grader/evidence/answer.h"
#include "grader/evidence/failures.h"
#include "grader/evidence/phases.h"
#include "grader/evidence/queued.h"
#include "grader/evidence/timing.h"
#include "grader/lessons/12_matmul/exchange.h"
#include "grader/lessons/12_matmul/product.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TILE 16 /* MATMUL_TILE */

static const char *const functions[MATMUL_STEPS] = {"matmul_naive", "matmul_tiled",
                                                    "matmul_batched"};
/* The checks that report why a call failed. */
static const char *const values_checks[MATMUL_STEPS] = {"Matmul.EveryElementIsRight",
                                                        "Matmul.TilesGiveTheSame",
                                                        "Matmul.EveryProductOfTheBatchIsRight"};

static const char *const values_hints[MATMUL_STEPS] = {
    N_("Row i of a, column j of b: a[i * n + k], b[k * p + j], c[i * p + j]; a thread for each "
       "element, and none beyond."),
    N_("What lies beyond a matrix counts as 0 in the tile; the loop over tiles goes on until all n "
       "columns of a are done; the sum begins at 0 once, not once for each tile. A thread without "
       "an "
       "element of c fills its place in the tiles all the same, and comes to every barrier: no "
       "early return."),
    N_("Matrix q of a begins at q * m * n, of b at q * n * p, of c at q * m * p; and there are as "
       "many as `count` says. The sum is an integer from its first addend on: a double does not "
       "hold every bit of it."),
};

/* ---- the runs ------------------------------------------------------------------------------ */

/* Describes a call; the pairs are minimum and maximum. */
struct wanted {
    enum matmul_step step;
    uint32_t count[2], m[2], n[2], p[2];
    bool again;
    uint32_t repeats;
};

/* As many rows nobody has the time to multiply: the launch is looked at only. */
#define CAPTURED_ROWS (1u << 29)

static uint32_t draw(struct run_input *input, const uint32_t range[2])
{
    return (uint32_t)random_between(input->random, range[0], range[1]);
}

static struct product shape_of(const struct matmul_call *call)
{
    return (struct product){call->count, call->m, call->n, call->p};
}

static size_t element_of(const struct matmul_call *call)
{
    return call->step == MATMUL_BATCHED ? sizeof(int64_t) : sizeof(float);
}

/* Returns the bytes of `elements` elements, rounded up so that the next piece is aligned. */
static uint64_t room(size_t elements, size_t element)
{
    return (elements * element + 7) / 8 * 8;
}

/* Fills rows and columns with values of very different magnitudes, so that a value from a wrong row
 * or column is far off. */
static void fill_floats(struct run_input *input, float *to, uint32_t rows, uint32_t columns,
                        bool by_row)
{
    float scale[512];
    for (size_t i = 0; i < sizeof scale / sizeof *scale; i++)
        scale[i] = ldexpf(1.0f, (int)random_between(input->random, -9, 9));
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < columns; j++)
            to[(size_t)i * columns + j] =
                scale[(by_row ? i : j) % 512] * (float)random_real(input->random, -1.0, 1.0);
}

static void fill(struct run_input *input, struct matmul_input *in, const struct matmul_call *call)
{
    const struct product shape = shape_of(call);
    void *const a = in->bytes + call->a, *const b = in->bytes + call->b;
    if (call->step != MATMUL_BATCHED) {
        fill_floats(input, a, call->m, call->n, true);
        fill_floats(input, b, call->n, call->p, false);
        return;
    }
    for (size_t i = 0; i < product_size_a(&shape); i++)
        ((uint64_t *)a)[i] = random_bits(input->random);
    for (size_t i = 0; i < product_size_b(&shape); i++)
        ((uint64_t *)b)[i] = random_bits(input->random);
}

static int prepare(struct run_input *input, const struct wanted *wanted, size_t count)
{
    struct matmul_input plan = {.call_count = (uint32_t)count};
    uint64_t out = 0;
    for (size_t i = 0; i < count; i++) {
        struct matmul_call *call = &plan.calls[i];
        *call = (struct matmul_call){.step = wanted[i].step,
                                     .count = draw(input, wanted[i].count),
                                     .m = draw(input, wanted[i].m),
                                     .n = draw(input, wanted[i].n),
                                     .p = draw(input, wanted[i].p),
                                     .again = wanted[i].again,
                                     .repeats = wanted[i].repeats};
        call->captured = call->m >= CAPTURED_ROWS;
        if (call->captured) continue;
        const struct product shape = shape_of(call);
        call->a = plan.size;
        call->b = call->a + room(product_size_a(&shape), element_of(call));
        plan.size = call->b + room(product_size_b(&shape), element_of(call));
        call->c = out;
        out += room(product_size_c(&shape), element_of(call));
    }
    struct matmul_input *in = run_input_allocate(input, sizeof *in + plan.size);
    if (in == NULL) return -1;
    *in = plan;
    for (size_t i = 0; i < count; i++)
        if (!in->calls[i].captured) fill(input, in, &in->calls[i]);
    input->output_size = sizeof(struct matmul_output) + out;
    return 0;
}

#define PREPARE(list) prepare(input, list, sizeof(list) / sizeof *(list))

/* The last one has more rows than a grid may have blocks in y. */
static int prepare_naive(struct run_input *input)
{
    static const struct wanted list[] = {
        {MATMUL_NAIVE, {1, 1}, {32, 32}, {32, 32}, {32, 32}, true, 0},
        {MATMUL_NAIVE, {1, 1}, {33, 47}, {17, 31}, {5, 15}, false, 0},
        {MATMUL_NAIVE, {1, 1}, {3, 15}, {65, 79}, {49, 63}, false, 0},
        {MATMUL_NAIVE, {1, 1}, {1, 1}, {1, 1}, {1, 1}, false, 0},
        {MATMUL_NAIVE, {1, 1}, {65600, 66000}, {2, 3}, {1, 1}, false, 0},
    };
    return PREPARE(list);
}

static int prepare_tiled(struct run_input *input)
{
    static const struct wanted list[] = {
        {MATMUL_TILED, {1, 1}, {48, 48}, {64, 64}, {32, 32}, true, 0},
        {MATMUL_TILED, {1, 1}, {33, 47}, {65, 79}, {49, 63}, false, 0},
        {MATMUL_TILED, {1, 1}, {49, 63}, {3, 13}, {17, 31}, false, 0},
        {MATMUL_TILED, {1, 1}, {1, 9}, {17, 31}, {33, 47}, false, 0},
        {MATMUL_TILED, {1, 1}, {1, 1}, {1, 1}, {1, 1}, false, 0},
    };
    return PREPARE(list);
}

/* A product of the last one has more elements than a block may have threads. */
static int prepare_batched(struct run_input *input)
{
    static const struct wanted list[] = {
        {MATMUL_BATCHED, {3, 7}, {10, 10}, {10, 10}, {10, 10}, true, 0},
        {MATMUL_BATCHED, {2, 5}, {17, 31}, {3, 9}, {33, 47}, false, 0},
        {MATMUL_BATCHED, {0, 0}, {5, 9}, {5, 9}, {5, 9}, true, 0},
        {MATMUL_BATCHED, {1, 1}, {1, 3}, {70, 99}, {1, 3}, false, 0},
        {MATMUL_BATCHED, {2, 3}, {33, 47}, {3, 9}, {33, 47}, false, 0},
    };
    return PREPARE(list);
}

/* More products than a grid may have blocks in y, and more elements than a float can count
 * (2^24). */
static int prepare_many(struct run_input *input)
{
    static const struct wanted list[] = {
        {MATMUL_BATCHED, {65537, 66000}, {16, 16}, {1, 1}, {17, 17}, false, 0},
    };
    return PREPARE(list);
}

/* More rows than the blocks of any size in a grid's y. */
static int prepare_rows(struct run_input *input)
{
    static const struct wanted list[] = {
        {MATMUL_NAIVE, {1, 1}, {CAPTURED_ROWS, 1u << 30}, {1, 1}, {1, 1}, false, 0},
        {MATMUL_TILED, {1, 1}, {CAPTURED_ROWS, 1u << 30}, {1, 1}, {1, 1}, false, 0},
    };
    return PREPARE(list);
}

static int prepare_each_failure(struct run_input *input)
{
    static const struct wanted list[] = {
        {MATMUL_NAIVE, {1, 1}, {9, 20}, {9, 20}, {9, 20}, false, 0},
        {MATMUL_TILED, {1, 1}, {9, 20}, {9, 20}, {9, 20}, false, 0},
        {MATMUL_BATCHED, {2, 4}, {3, 9}, {3, 9}, {3, 9}, false, 0},
    };
    return PREPARE(list);
}

/* One-time work of the first call is not timed. Step 1 is not judged by time either, but shown
 * beside the timed call. */
enum { WARM_UP, TIMED_CALL, NAIVE_CALL };

static int prepare_timed(struct run_input *input)
{
    const bool gpu = input->device == DRIVE_GPU;
    const uint32_t side = gpu ? 512 : 96, inner = gpu ? 1024 : 128, repeats = gpu ? 20 : 1;
    const struct wanted list[] = {
        {MATMUL_TILED, {1, 1}, {9, 20}, {9, 20}, {9, 20}, false, 0},
        {MATMUL_TILED, {1, 1}, {side, side}, {inner, inner}, {side, side}, false, repeats},
        {MATMUL_NAIVE, {1, 1}, {side, side}, {inner, inner}, {side, side}, false, 0},
    };
    return PREPARE(list);
}

#define LARGE_MEMORY (4ull << 30) /* cuBLAS needs much memory */

static const struct run_plan runs[] = {
    {.name = "naive", .flags = RUN_ON_BOTH | RUN_IN_EVERY_ORDER, .prepare = prepare_naive},
    {.name = "tiled", .flags = RUN_ON_BOTH, .prepare = prepare_tiled},
    {.name = "batched", .flags = RUN_ON_BOTH, .prepare = prepare_batched},
    {.name = "many", .flags = RUN_ON_BOTH, .prepare = prepare_many},
    {.name = "rows", .flags = RUN_ON_EMULATOR, .prepare = prepare_rows},
    {.name = "time",
     .flags = RUN_ON_BOTH | RUN_TIMED,
     .prepare = prepare_timed,
     .phase = MATMUL_PHASE_TIME,
     .memory = LARGE_MEMORY,
     .threshold = &threshold_matmul},
    FAILURES_PLAN(prepare_each_failure),
    {0},
};

/* ---- what came back ------------------------------------------------------------------------ */

/* One call of a run: its arguments, its result, and its phase. */
struct call {
    const struct evidence *evidence;
    const struct matmul_input *in;
    const struct matmul_output *out;
    const struct matmul_call *call;
    const struct matmul_answer *given;
    struct phase phase;
    struct answer answer;
};

/* Returns false when the verdict has failed or (past the last) the list has ended. */
static bool call_at(struct verdict *verdict, const struct evidence *evidence, uint32_t index,
                    struct call *one)
{
    const struct matmul_input *in = evidence->input;
    const struct matmul_output *out = evidence->output;
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
    const bool timed = one->call->repeats > 0;
    return phases_get(verdict, evidence, timed ? MATMUL_PHASE_TIME : MATMUL_PHASE_CALL,
                      timed ? 0 : index, &one->phase);
}

static const char *describe(const struct call *one, char text[160])
{
    const struct matmul_call *call = one->call;
    if (call->step == MATMUL_BATCHED)
        snprintf(text, 160, _("%u products of %u x %u by %u x %u"), call->count, call->m, call->n,
                 call->n, call->p);
    else
        snprintf(text, 160, _("a product of %u x %u by %u x %u"), call->m, call->n, call->n,
                 call->p);
    return text;
}

/* Checks that the call succeeded and that its work ran to its end. */
static bool went_well(struct verdict *verdict, struct call *one)
{
    char text[160];
    one->answer.phase = &one->phase;
    return queued_went_well(verdict, &one->answer, one->given->later, one->given->remembered,
                            (uint32_t)(one->call - one->in->calls), describe(one, text),
                            N_("Does every thread know whether it has an element, and are the "
                               "indices inside the matrices?"));
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

/* Writes "Element (3, 4)", with the product's number in a batch. */
static const char *element_at(const struct call *one, size_t place, char text[80])
{
    const size_t each = (size_t)one->call->m * one->call->p, in_one = place % each;
    if (one->call->step == MATMUL_BATCHED)
        snprintf(text, 80, _("element (%zu, %zu) of product %zu"), in_one / one->call->p,
                 in_one % one->call->p, place / each);
    else
        snprintf(text, 80, _("element (%zu, %zu)"), in_one / one->call->p, in_one % one->call->p);
    return text;
}

/* Returns true for what the result's memory held before the call: the fill of the software device,
 * or the drive's poison on a GPU. */
static bool is_left_over(const void *element, size_t size)
{
    static const unsigned char fills[] = {0x7f, DRIVE_POISON};
    const unsigned char *bytes = element;
    for (size_t f = 0; f < sizeof fills; f++) {
        size_t same = 0;
        while (same < size && bytes[same] == fills[f]) same++;
        if (same == size) return true;
    }
    return false;
}

static bool say_left_over(struct verdict *verdict, const void *element, size_t size)
{
    if (!is_left_over(element, size)) return false;
    verdict_why(verdict, "It is what the memory held before: nobody has written the element, or "
                         "the sum was added to what c held, which is nothing yet.");
    return true;
}

static bool floats_right(struct verdict *verdict, const struct call *one)
{
    const struct product shape = shape_of(one->call);
    const float *a = (const void *)(one->in->bytes + one->call->a),
                *b = (const void *)(one->in->bytes + one->call->b),
                *found = (const void *)(one->out->bytes + one->call->c);
    char text[160], place[80];
    size_t first = 0;
    double must = 0, off = 0;
    const size_t wrong = product_float(&shape, a, b, found, &first, &must, &off);

    if (wrong == 0) return true;
    if (wrong == SIZE_MAX) {
        verdict_skip(verdict, "no memory to compare with");
        return false;
    }
    if (verdict_causes(verdict, one->evidence)) return false;
    verdict_fail(verdict, one->evidence, queued_last_kernel(one->evidence, &one->phase),
                 "For %s, %s is %.9g and must be %.9g; rounding explains %.2g. %zu of %zu are "
                 "wrong.",
                 describe(one, text), element_at(one, first, place), found[first], must, off, wrong,
                 product_size_c(&shape));
    verdict_hint(verdict, "%s", _(values_hints[one->call->step]));
    if (say_left_over(verdict, &found[first], sizeof *found)) return false;
    const char *why = product_explain(&shape, a, b, found, TILE);
    if (why != NULL) verdict_why(verdict, "%s", why);
    return false;
}

static bool integers_right(struct verdict *verdict, const struct call *one)
{
    const struct product shape = shape_of(one->call);
    const int64_t *found = (const void *)(one->out->bytes + one->call->c);
    char text[160], place[80];
    size_t first = 0;
    int64_t must = 0;
    const size_t wrong =
        product_integer(&shape, (const void *)(one->in->bytes + one->call->a),
                        (const void *)(one->in->bytes + one->call->b), found, &first, &must);

    if (wrong == 0) return true;
    if (verdict_causes(verdict, one->evidence)) return false;
    verdict_fail(verdict, one->evidence, queued_last_kernel(one->evidence, &one->phase),
                 "For %s, %s is %" PRId64 " and must be %" PRId64 ". %zu of %zu are wrong.",
                 describe(one, text), element_at(one, first, place), found[first], must, wrong,
                 product_size_c(&shape));
    verdict_hint(verdict, "%s", _(values_hints[one->call->step]));
    (void)say_left_over(verdict, &found[first], sizeof *found);
    return false;
}

static bool call_right(struct verdict *verdict, struct call *one)
{
    return went_well(verdict, one) &&
           (one->call->step == MATMUL_BATCHED ? integers_right(verdict, one)
                                              : floats_right(verdict, one));
}

static bool all_right(struct verdict *verdict, const struct evidence *evidence)
{
    struct call one;
    for (uint32_t i = 0; call_at(verdict, evidence, i, &one); i++)
        if (!call_right(verdict, &one)) return false;
    return !verdict_failed(verdict);
}

/* ---- values and findings ------------------------------------------------------------------- */

static void judge_values(struct verdict *verdict, const struct evidence *evidence)
{
    (void)all_right(verdict, evidence);
}

static void judge_findings(struct verdict *verdict, const struct evidence *evidence)
{
    if (!all_judgeable(verdict, evidence)) return;
    verdict_findings(verdict, evidence, NULL);
    verdict_advice(verdict, evidence);
}

/* The launches were captured and have not run: their grids are all that can be wrong. */
static void judge_rows(struct verdict *verdict, const struct evidence *evidence)
{
    struct call one;
    char text[160];
    for (uint32_t i = 0; call_at(verdict, evidence, i, &one); i++) {
        one.answer.phase = &one.phase;
        if (one.given->status == 0 && one.given->later == 0) continue;
        if (one.given->status == 0)
            (void)went_well(verdict, &one);
        else
            (void)answer_succeeded(verdict, &one.answer, describe(&one, text));
        verdict_why(verdict, "A grid has 65535 blocks at most in y and in z, and 2^31 - 1 in x. "
                             "With tiles of 16 rows, and the rows along y, that is a million rows; "
                             "a matrix of one column may have two thousand times as many.");
        verdict_hint(verdict, "Let the rows go along x, or count all tiles along x.");
        return;
    }
}

/* ---- launches and bytes -------------------------------------------------------------------- */

/* Checks for one launch in the given stream (none without products), no other work and no wait. */
static bool queued(struct verdict *verdict, const struct call *one)
{
    const struct query work = {.phase = &one->phase, .kind = TRACE_OPERATION};
    const struct query kernels = {
        .phase = &one->phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL};
    const size_t launches = evidence_count(one->evidence, &kernels),
                 others = evidence_count(one->evidence, &work) - launches,
                 wanted = one->call->count > 0;
    char text[160];

    if (!queued_in_given_stream(
            verdict, one->evidence, &one->phase, one->answer.function,
            N_("The matrices may still be on their way, in the given stream, and what "
               "comes behind in it does not wait for other streams."),
            N_("Who waits is the caller, for the stream, when the product is needed.")))
        return false;
    if (launches == wanted && others == 0) return true;
    verdict_fail(verdict, one->evidence, queued_last_kernel(one->evidence, &one->phase),
                 "For %s, %zu kernels were launched, and %zu copies or fills were asked for.",
                 describe(one, text), launches, others);
    verdict_why(verdict, "One launch is to make all elements, and none where there are none.");
    verdict_hint(verdict,
                 "Each element begins at 0 in its thread, and is written by it: nothing is "
                 "to be filled before, nothing to be copied.");
    return false;
}

static uint64_t divide_up(uint64_t number, uint64_t by)
{
    return (number + by - 1) / by;
}

/* Returns the largest permitted number of accesses of global memory; 0: unlimited. */
static uint64_t most_accesses(const struct matmul_call *call)
{
    const uint64_t m = call->m, n = call->n, p = call->p;
    switch (call->step) {
    case MATMUL_NAIVE:
        return 2 * m * n * p + m * p;
    case MATMUL_TILED:
        return m * n * divide_up(p, TILE) + n * p * divide_up(m, TILE) + m * p;
    default:
        return 0;
    }
}

/* Checks the accesses that the software device counted. */
static bool spares_memory(struct verdict *verdict, const struct call *one)
{
    const struct trace_record *kernel = queued_last_kernel(one->evidence, &one->phase);
    const uint64_t most = most_accesses(one->call);
    char text[160];

    if (one->evidence->device != DRIVE_EMULATOR || kernel == NULL || most == 0) return true;
    if (kernel->bytes <= most * sizeof(float)) return true;
    verdict_fail(verdict, one->evidence, kernel,
                 "For %s, elements were read or written %" PRIu64
                 " times in global memory; %" PRIu64 " are enough.",
                 describe(one, text), kernel->bytes / sizeof(float), most);
    if (one->call->step == MATMUL_NAIVE) {
        verdict_why(verdict,
                    "The sum grows in a register: a(i, k) and b(k, j) are read once for each "
                    "addend, and c(i, j) is written once, at the end.");
        verdict_hint(verdict,
                     "float sum = 0.0f; in front of the loop, c[i * p + j] = sum; behind it.");
    } else {
        verdict_why(verdict, "What a block has in a tile of shared memory all its threads use: an "
                             "element of a is fetched once for each column of tiles, and not for "
                             "each column.");
        verdict_hint(verdict, "Each thread fetches one element of a and one of b into __shared__ "
                              "arrays; behind a barrier all read there.");
    }
    return false;
}

static void judge_queue(struct verdict *verdict, const struct evidence *evidence)
{
    struct call one;
    if (!all_judgeable(verdict, evidence)) return;
    for (uint32_t i = 0; call_at(verdict, evidence, i, &one); i++)
        if (!queued(verdict, &one) || !spares_memory(verdict, &one)) return;
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
    const struct matmul_input *in = evidence->input;
    const struct matmul_output *out = evidence->output;
    uint32_t index = 0;
    const bool known =
        failures_find(evidence, MATMUL_PHASE_CALL, failed, phase, &index) && index < in->call_count;
    if (!known) index = 0;
    return (struct answer){.evidence = evidence,
                           .phase = known ? phase : NULL,
                           .function = functions[in->calls[index].step],
                           .api = ANSWER_RUNTIME,
                           .code = out->answers[index].status};
}

static bool is_right_all_the_same(const struct evidence *evidence)
{
    const struct matmul_input *in = evidence->input;
    const struct matmul_output *out = evidence->output;
    for (uint32_t i = 0; i < in->call_count; i++) {
        const struct matmul_call *call = &in->calls[i];
        const struct product shape = shape_of(call);
        const void *a = in->bytes + call->a, *b = in->bytes + call->b, *c = out->bytes + call->c;
        size_t first;
        double must, off;
        int64_t whole;
        if (out->answers[i].lost != 0 || out->answers[i].status != 0 || out->answers[i].later != 0)
            return false;
        if ((call->step == MATMUL_BATCHED
                 ? product_integer(&shape, a, b, c, &first, &whole)
                 : product_float(&shape, a, b, c, &first, &must, &off)) != 0)
            return false;
    }
    return true;
}

static void judge_each_failure(struct verdict *verdict, const struct evidence *evidence)
{
    static const struct failures_contract contract = {.advice = true,
                                                      .api = ANSWER_RUNTIME,
                                                      .answer = answer_to_failure,
                                                      .right = is_right_all_the_same};
    struct call one;
    for (uint32_t i = 0; call_at(verdict, evidence, i, &one); i++)
        if (!went_well(verdict, &one)) return;
    if (!verdict_failed(verdict)) failures_judge(verdict, evidence, &contract);
}

/* Returns the seconds that the last kernel of the run's call took; 0: not known. */
static double kernel_seconds(struct verdict *verdict, const struct evidence *evidence,
                             uint32_t index)
{
    struct call one;
    return call_at(verdict, evidence, index, &one)
               ? queued_last_kernel_seconds(one.evidence, &one.phase)
               : 0.0;
}

/* Returns the seconds of one product by cuBLAS, all its kernels together; 0: cuBLAS is not
 * installed.
 */
static double cublas_seconds(const struct evidence *evidence)
{
    const struct matmul_input *in = evidence->input;
    const struct trace_record *kernel = NULL;
    struct phase phase;
    uint64_t ns = 0;

    if (in->call_count <= TIMED_CALL || in->calls[TIMED_CALL].repeats == 0 ||
        !evidence_phase(evidence, MATMUL_PHASE_CUBLAS, 0, &phase))
        return 0.0;
    const struct query kernels = {.phase = &phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL};
    while ((kernel = evidence_next(evidence, &kernels, kernel)) != NULL)
        ns += kernel->end_ns - kernel->start_ns;
    return (double)ns * 1e-9 / in->calls[TIMED_CALL].repeats;
}

static void judge_time(struct verdict *verdict, const struct evidence *evidence)
{
    const struct evidence *repeats = evidence->repeats != NULL ? evidence->repeats : evidence;
    struct call one;
    char a[32], b[32];
    for (size_t r = 0; r < evidence->repeat_count; r++)
        if (!call_at(verdict, &repeats[r], TIMED_CALL, &one) || !call_right(verdict, &one)) return;
    verdict_time_ratio(verdict, evidence);
    if (verdict_failed(verdict))
        verdict_hint(verdict, "Do the threads of a warp read neighbours in global memory, and one "
                              "row or one column of a tile in shared memory?");
    const double tiled = kernel_seconds(verdict, evidence, TIMED_CALL),
                 naive = kernel_seconds(verdict, evidence, NAIVE_CALL);
    if (tiled > 0 && naive > 0)
        verdict_figure(verdict, "against_step_1",
                       "the kernel of step 1 takes %s for the same, %.1f times the %s of step 2",
                       timing_in_words(naive, a, sizeof a), naive / tiled,
                       timing_in_words(tiled, b, sizeof b));
    const double cublas = cublas_seconds(evidence);
    if (tiled > 0 && cublas > 0)
        verdict_figure(verdict, "against_cublas",
                       "cuBLAS takes %s for the same, the kernel of step 2 %.1f times as long",
                       timing_in_words(cublas, a, sizeof a), tiled / cublas);
}

static const struct check checks[] = {
    {"EveryElementIsRight", "naive", CHECK_ORDER, "step 1: sizes off every boundary, and many rows",
     judge_values},
    {"AccessesStayInside", "naive", CHECK_EMULATOR_ONLY,
     "step 1: nothing beyond a matrix is touched, nothing read that was never written",
     judge_findings},
    {"OneLaunchInTheGivenStream", "naive", 0,
     "step 1: nothing else, no wait, and each element written once", judge_queue},
    {"TilesGiveTheSame", "tiled", CHECK_ORDER,
     "step 2: sizes that fill their tiles, and sizes that do not", judge_values},
    {"BarriersKeepTilesApart", "tiled", CHECK_EMULATOR_ONLY,
     "step 2: a barrier between filling and reading, and one between reading and filling",
     judge_findings},
    {"TilesSpareGlobalMemory", "tiled", 0,
     "step 2: an element of a is read once for each column of tiles, one of b for each row of them",
     judge_queue},
    {"EveryProductOfTheBatchIsRight", "batched", CHECK_ORDER,
     "step 3: batches of several products, of one and of none", judge_values},
    {"ProductsStayInside", "batched", CHECK_EMULATOR_ONLY,
     "step 3: each product touches its own matrices", judge_findings},
    {"OneLaunchForTheBatch", "batched", 0, "step 3: in the given stream, and none for no products",
     judge_queue},
    {"ABatchMayBeLongerThanAGrid", "many", 0, "step 3: more than 65535 products", judge_values},
    {"AGridMayHaveToBeLongInX", "rows", CHECK_EMULATOR_ONLY,
     "steps 1 and 2: a launch for a matrix of 2^29 rows and more is accepted", judge_rows},
    {"NothingLeaks", "injections", CHECK_EMULATOR_ONLY, "what is made is given back", judge_leaks},
    {FAILURES_CHECK, FAILURES_RUN, CHECK_EMULATOR_ONLY,
     "each call that can fail does so once, and is returned", judge_each_failure},
    {"AsFastAsTheReference", "time", 0, "step 2, against the reference", judge_time},
    {0},
};

static const struct hint hints[] = {
#include "grader/lessons/12_matmul/hints.def"
    {0},
};

const struct lesson lesson_12_matmul = {
    .number = 12,
    .folder = "12_matmul",
    .suite = "Matmul",
    .function = "matmul_naive",
    .files = (const char *const[]){"matmul.cu", NULL},
    .parts = (const char *const[]){"12_matmul_drive", NULL},
    .runs = runs,
    .checks = checks,
    .hints = hints,
};
