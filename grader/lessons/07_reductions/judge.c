/* The parent's side of lesson 07: cases drawn from the secret seed, results compared with the
 * judge's own (fold.h), streams and waits checked by a gate and in the trace. */
#include "grader/evidence/judge.h"
#include "grader/base/messages.h"
#include "grader/evidence/answer.h"
#include "grader/evidence/failures.h"
#include "grader/evidence/phases.h"
#include "grader/evidence/queued.h"
#include "grader/evidence/timing.h"
#include "grader/evidence/waits.h"
#include "grader/lessons/07_reductions/exchange.h"
#include "grader/lessons/07_reductions/fold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION "operator()"
#define FINDINGS_CHECK "Reductions.TheDeviceFindsNothingWrong"
#define INVALID_VALUE 1
#define OUT_OF_MEMORY 2
#define ILLEGAL_ADDRESS 700
#define PRIME_COUNT 4

/* ---- the runs ------------------------------------------------------------------------------ */

/* Makes the input with pools of these sizes, filled with random elements. */
static struct reduction_input *make(struct run_input *input, const uint64_t pools[REDUCTION_KINDS],
                                    uint32_t prime)
{
    uint64_t offsets[REDUCTION_KINDS], size = sizeof(struct reduction_input);
    for (uint32_t kind = 0; kind < REDUCTION_KINDS; kind++) {
        offsets[kind] = size = (size + 63) / 64 * 64;
        size += pools[kind] * fold_element_size(kind);
    }
    struct reduction_input *in = run_input_allocate(input, size);
    if (!in) return NULL;
    for (uint32_t kind = 0; kind < REDUCTION_KINDS; kind++) {
        in->pool_offset[kind] = offsets[kind];
        in->pool_count[kind] = pools[kind];
        fold_fill(input->random, kind, prime, (unsigned char *)in + offsets[kind], pools[kind]);
    }
    input->output_size = sizeof(struct reduction_output);
    return in;
}

/* Adds a case on a random range of its kind's pool; returns the case, so that more can be set. */
static struct reduction_case *add(struct run_input *input, struct reduction_input *in,
                                  uint32_t group, uint32_t kind, uint64_t size, uint32_t prime)
{
    if (in->case_count == REDUCTION_CASES) abort(); /* the lists below are too long */
    struct reduction_case *one = &in->cases[in->case_count++];
    *one = (struct reduction_case){.kind = kind, .group = group, .size = size, .parameter = prime};
    one->offset = random_below(input->random, in->pool_count[kind] - size + 1);
    return one;
}

static void give_init(struct run_input *input, struct reduction_case *one)
{
    union fold_value init = fold_draw(input->random, one->kind, one->parameter);
    one->with_init = 1;
    memcpy(one->init, init.bytes, fold_element_size(one->kind));
}

/* Adds the elements 1 to 10000, whose sum is well known. */
static void add_first(struct run_input *input, struct reduction_input *in)
{
    int64_t *pool = (void *)((unsigned char *)in + in->pool_offset[REDUCTION_SUM_INT64]);
    for (int64_t i = 0; i < 10000; i++) pool[i] = i + 1;
    add(input, in, REDUCTION_FIRST, REDUCTION_SUM_INT64, 10000, 0)->offset = 0;
}

static uint32_t draw_prime(struct random_source *random)
{
    static const uint32_t primes[PRIME_COUNT] = {2147483647u, 2147483629u, 1000000007u, 998244353u};
    return primes[random_below(random, PRIME_COUNT)];
}

static int prepare_values(struct run_input *input)
{
    static const uint64_t pools[REDUCTION_KINDS] = {
#define KIND(name, type, operation, pool, words) pool,
        REDUCTION_TABLE(KIND)
#undef KIND
    };
    static const uint64_t sizes[] = {1, 15, 16, 17, 127, 128, 129, 1023, 1024, 1025, 1536, 34567};
    static const uint64_t large[] = {1048576, 1049600, 1049728};
    struct random_source *random = input->random;
    uint32_t prime = draw_prime(random);
    struct reduction_input *in = make(input, pools, prime);
    if (!in) return -1;

    add_first(input, in);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        add(input, in, REDUCTION_SIZES, REDUCTION_SUM_INT64, sizes[i], 0);
    add(input, in, REDUCTION_SIZES, REDUCTION_SUM_INT64, 2 + random_below(random, 12), 0);
    add(input, in, REDUCTION_SIZES, REDUCTION_SUM_INT64, 130 + random_below(random, 800), 0);
    add(input, in, REDUCTION_SIZES, REDUCTION_SUM_INT64, 2000 + random_below(random, 30000), 0);
    const size_t chosen = random_below(random, 3);
    for (size_t i = 0; i < 3; i++)
        if (input->device == DRIVE_GPU || i == chosen)
            add(input, in, REDUCTION_SIZES, REDUCTION_SUM_INT64, large[i], 0);
    add(input, in, REDUCTION_SIZES, REDUCTION_SUM_INT64, 50000 + random_below(random, 10000), 0);

    for (uint32_t kind = 0; kind < REDUCTION_KINDS; kind++) {
        /* Fewer elements, because there are many such kinds. */
        const uint64_t most = fold_is_bytes(kind) ? 2000 : 6000;
        const uint64_t some[] = {1, 2 + random_below(random, 29), 200 + random_below(random, 700),
                                 most + random_below(random, most * 3 / 2)};
        for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
            add(input, in, REDUCTION_KINDLY, kind, some[i], prime);
            give_init(input, add(input, in, REDUCTION_INIT, kind, some[i], prime));
        }
    }
    give_init(input, add(input, in, REDUCTION_EMPTY, REDUCTION_SUM_INT64, 0, 0));
    give_init(input, add(input, in, REDUCTION_EMPTY, REDUCTION_RANGE, 0, 0));
    add(input, in, REDUCTION_EMPTY, REDUCTION_MAX_FLOAT, 0, 0);

    static const uint32_t shifted[] = {REDUCTION_SUM_INT64, REDUCTION_SUM_INT32,
                                       REDUCTION_MAX_FLOAT, REDUCTION_RANGE};
    for (size_t i = 0; i < sizeof shifted / sizeof *shifted; i++) {
        add(input, in, REDUCTION_SHIFTED, shifted[i], 1 + random_below(random, 2), 0)->shift = 1;
        add(input, in, REDUCTION_SHIFTED, shifted[i], 3 + random_below(random, 5), 0)->shift = 1;
        add(input, in, REDUCTION_SHIFTED, shifted[i], 4000 + random_below(random, 9000), 0)->shift =
            1 + 2 * (uint32_t)random_below(random, 2);
    }
    /* So many that a thread of a grid that just fills the device has several, which are often
     * loaded in another way. */
    add(input, in, REDUCTION_SHIFTED, REDUCTION_SUM_INT64, 1700000 + random_below(random, 90000), 0)
        ->shift = 1;
    static const uint32_t skewed[] = {REDUCTION_BYTES_2, REDUCTION_BYTES_8, REDUCTION_BYTES_16};
    for (size_t i = 0; i < sizeof skewed / sizeof *skewed; i++)
        add(input, in, REDUCTION_SHIFTED, skewed[i], 1000 + random_below(random, 900), 0)->skew =
            1 + 2 * (uint32_t)random_below(random, 4);
    return 0;
}

static int prepare_stream(struct run_input *input)
{
    uint64_t size =
        (input->device == DRIVE_GPU ? 1u << 20 : 20000) + random_below(input->random, 9000);
    uint64_t pools[REDUCTION_KINDS] = {[REDUCTION_SUM_INT64] = size + 100};
    struct reduction_input *in = make(input, pools, 0);
    if (!in) return -1;
    give_init(input, add(input, in, REDUCTION_GATED, REDUCTION_SUM_INT64, size, 0));
    return 0;
}

/* Several blocks each, so that both have partial results. */
static int prepare_together(struct run_input *input)
{
    uint64_t pools[REDUCTION_KINDS] = {[REDUCTION_SUM_INT64] = 60000};
    struct reduction_input *in = make(input, pools, 0);
    if (!in) return -1;
    for (int i = 0; i < 2; i++)
        add(input, in, REDUCTION_TOGETHER, REDUCTION_SUM_INT64,
            20000 + random_below(input->random, 9000), 0);
    return 0;
}

static int prepare_interleaved(struct run_input *input)
{
    if (prepare_together(input) != 0) return -1;
    struct reduction_input *in = input->data;
    /* The second has fewer blocks than half of the first's, which are done when it begins. If both
     * use one counter, none of its blocks sees itself as the last. */
    add(input, in, REDUCTION_TOGETHER, REDUCTION_SUM_INT64,
        20000 + random_below(input->random, 9000), 0);
    add(input, in, REDUCTION_TOGETHER, REDUCTION_SUM_INT64,
        3000 + random_below(input->random, 2000), 0);
    return 0;
}

/* More elements than a device has threads. A submission that cuts the size to 32 bits only after a
 * thread's first element stays within the existing elements, too. */
static int prepare_long(struct run_input *input)
{
    uint64_t pools[REDUCTION_KINDS] = {[REDUCTION_SUM_INT64] = 402000};
    struct reduction_input *in = make(input, pools, 0);
    if (!in) return -1;
    add(input, in, REDUCTION_LONG, REDUCTION_SUM_INT64, 400000 + random_below(input->random, 2000),
        0);
    return 0;
}

/* For one block and for several, with init and without. */
static int prepare_each_failure(struct run_input *input)
{
    uint64_t pools[REDUCTION_KINDS] = {[REDUCTION_SUM_INT64] = 6000};
    struct reduction_input *in = make(input, pools, 0);
    if (!in) return -1;
    add(input, in, REDUCTION_SIZES, REDUCTION_SUM_INT64, 50 + random_below(input->random, 50), 0);
    give_init(input, add(input, in, REDUCTION_SIZES, REDUCTION_SUM_INT64,
                         4500 + random_below(input->random, 1000), 0));
    return 0;
}

/* On a GPU 2^26 elements of 8 bytes, more than any cache holds; the array is a range repeated. */
static int prepare_time(struct run_input *input)
{
    bool gpu = input->device == DRIVE_GPU;
    uint64_t stretch = gpu ? (1u << 18) + 77 : (1u << 18) - 77;
    uint64_t pools[REDUCTION_KINDS] = {[REDUCTION_SUM_INT64] = stretch};
    struct reduction_input *in = make(input, pools, 0);
    if (!in) return -1;
    in->repetitions = 1;
    in->calls = gpu ? 20 : 1;
    in->time_size = gpu ? ((uint64_t)1 << 26) - random_below(input->random, 1000)
                        : stretch - random_below(input->random, 64);
    if (in->time_size < stretch) stretch = in->time_size;
    add(input, in, REDUCTION_SIZES, REDUCTION_SUM_INT64, stretch, 0);
    return 0;
}

static const struct run_plan runs[] = {
    {.name = "values", .flags = RUN_ON_BOTH | RUN_IN_EVERY_ORDER, .prepare = prepare_values},
    {.name = "stream", .flags = RUN_ON_BOTH | RUN_IN_EVERY_ORDER, .prepare = prepare_stream},
    {.name = "together", .flags = RUN_ON_BOTH | RUN_IN_EVERY_ORDER, .prepare = prepare_together},
    {.name = "interleaved", .flags = RUN_ON_EMULATOR, .prepare = prepare_interleaved},
    {.name = "long", .flags = RUN_ON_EMULATOR, .prepare = prepare_long},
    {.name = "time",
     .flags = RUN_ON_BOTH | RUN_TIMED,
     .prepare = prepare_time,
     .phase = REDUCTION_PHASE_TIME,
     .threshold = &threshold_reductions,
     .seconds = 60,
     .memory = (uint64_t)4 << 30},
    FAILURES_PLAN(prepare_each_failure),
    {.name = NULL},
};

/* ---- what came back ------------------------------------------------------------------------ */

static const void *array_of(const struct reduction_input *in, const struct reduction_case *wanted)
{
    return (const unsigned char *)in + in->pool_offset[wanted->kind] +
           wanted->offset * fold_element_size(wanted->kind);
}

static union fold_value result_of(const struct reduction_answer *answer, size_t which)
{
    union fold_value value;
    memcpy(value.bytes, answer->result[which], sizeof value.bytes);
    return value;
}

static bool is_poison(uint32_t kind, union fold_value value)
{
    union fold_value poison;
    memset(poison.bytes, DRIVE_POISON, sizeof poison.bytes);
    return fold_same(kind, value, poison);
}

/* "the sum of 64-bit integers, 127 of them, without init" */
static const char *describe(const struct reduction_case *wanted, char text[120])
{
    snprintf(text, 120,
             wanted->with_init ? _("%s, %llu of them, with init")
                               : _("%s, %llu of them, without init"),
             _(fold_words(wanted->kind)), (unsigned long long)wanted->size);
    return text;
}

/* For all runs: the first call is answer 0. */
static bool written(struct verdict *verdict, const struct evidence *evidence)
{
    const struct reduction_output *out = evidence->output;
    const struct answer answer = {.evidence = evidence,
                                  .function = FUNCTION,
                                  .api = ANSWER_RUNTIME,
                                  .code = out->answers[0].status};
    return answer_written(verdict, &answer);
}

/* Checks that the call succeeded and that its work ran to its end. */
static bool went_well(struct verdict *verdict, const struct evidence *evidence, const char *phase,
                      uint32_t index, const struct reduction_case *wanted,
                      const struct reduction_answer *answer)
{
    struct phase where;
    char text[120];
    if (answer->lost == 1) {
        verdict_fail_in(verdict, evidence, FUNCTION,
                        "Not judged: a case before it ended with a fault of the device, which "
                        "takes the whole context (see %s).",
                        FINDINGS_CHECK);
        verdict_not_judged(verdict, FINDINGS_CHECK);
        return false;
    }
    if (!phases_get(verdict, evidence, phase, index, &where)) return false;
    struct answer given = {.evidence = evidence,
                           .phase = &where,
                           .function = FUNCTION,
                           .api = ANSWER_RUNTIME,
                           .code = answer->status};
    if (!answer_succeeded(verdict, &given, describe(wanted, text))) return false;
    if (!answer->later) return true;
    verdict_findings(verdict, evidence, NULL);
    verdict_advice(verdict, evidence);
    if (verdict_failed(verdict)) return false;
    queued_say_failed_later(
        verdict, &given, answer->later, describe(wanted, text),
        N_("An index at or behind `size`? A load that wants more alignment than the "
           "array has? Partial results without room for them, or in memory that was "
           "freed while queued work still needed it (cudaFreeAsync frees in stream "
           "order)?"));
    return false;
}

/* Returns the last kernel, taken to be the one that wrote the result; NULL: none ran. */
static const struct trace_record *last_kernel(const struct evidence *evidence, const char *name,
                                              uint32_t index)
{
    struct phase phase;
    return evidence_phase(evidence, name, index, &phase) ? queued_last_kernel(evidence, &phase)
                                                         : NULL;
}

/* `hint` is for a wrong result; a fault has a hint of its own. */
static bool case_right(struct verdict *verdict, const struct evidence *evidence, const char *phase,
                       uint32_t index, const char *hint)
{
    const struct reduction_input *in = evidence->input;
    const struct reduction_output *out = evidence->output;
    const struct reduction_case *wanted = &in->cases[index];
    const struct reduction_answer *answer = &out->answers[index];
    const void *array = array_of(in, wanted);
    char text[120], value_text[FOLD_TEXT], expected_text[FOLD_TEXT], sentence[FOLD_SENTENCE];

    if (!went_well(verdict, evidence, phase, index, wanted, answer)) return false;
    struct fold_expected expected = fold_case(wanted, array);
    union fold_value value = result_of(answer, 1);
    if (!fold_right(wanted, &expected, value) && verdict_causes(verdict, evidence)) return false;
    if (!fold_right(wanted, &expected, value)) {
        verdict_fail(verdict, evidence, last_kernel(evidence, phase, index),
                     "For %s, the result is %s; it must be %s.", describe(wanted, text),
                     fold_show(wanted->kind, value, value_text),
                     fold_show(wanted->kind, expected.value, expected_text));
        const char *why = fold_explain(wanted, array, &expected, value, sentence);
        if (why) verdict_why(verdict, "%s", why);
        verdict_hint(verdict, "%s", _(hint));
        return false;
    }
    if (is_poison(wanted->kind, result_of(answer, 0)) &&
        is_poison(wanted->kind, result_of(answer, 2)))
        return true;
    verdict_fail_in(verdict, evidence, FUNCTION, "For %s, memory beside *result was written.",
                    describe(wanted, text));
    verdict_why(verdict, "`result` is room for one element; its neighbours are somebody else's.");
    verdict_hint(verdict, "Partial results of several blocks need memory of their own.");
    return false;
}

/* Judges all cases of a group whose kinds are in the mask, up to the first wrong one. */
static void judge_group(struct verdict *verdict, const struct evidence *evidence, uint32_t group,
                        uint32_t kinds, const char *hint)
{
    const struct reduction_input *in = evidence->input;
    for (uint32_t i = 0; i < in->case_count; i++)
        if (in->cases[i].group == group && (kinds >> in->cases[i].kind & 1) &&
            !case_right(verdict, evidence, REDUCTION_PHASE_CASE, i, hint))
            return;
}

#define ALL_KINDS (~0u)
#define KIND_BIT(name) (1u << REDUCTION_##name)
#define STRANGE_KINDS                                                                              \
    (KIND_BIT(MODULAR) | KIND_BIT(RANGE) | KIND_BIT(BYTES_1) | KIND_BIT(BYTES_2) |                 \
     KIND_BIT(BYTES_3) | KIND_BIT(BYTES_5) | KIND_BIT(BYTES_64))

static void judge_first(struct verdict *verdict, const struct evidence *evidence)
{
    judge_group(verdict, evidence, REDUCTION_FIRST, ALL_KINDS,
                "1 + 2 + ... + 10000 = 50005000, and 10000 is no multiple of what a block "
                "takes. Begin with one block that does it all, and then let several share "
                "the work. And does every thread reach each __syncthreads(), also one "
                "without an element?");
}

static void judge_sizes(struct verdict *verdict, const struct evidence *evidence)
{
    judge_group(verdict, evidence, REDUCTION_SIZES, ALL_KINDS,
                "Which thread takes the last element, when the size is not a "
                "multiple of what a block, a warp or a load takes? And does every "
                "thread reach each __syncthreads()?");
}

static void judge_no_init(struct verdict *verdict, const struct evidence *evidence)
{
    judge_group(verdict, evidence, REDUCTION_KINDLY, ~(STRANGE_KINDS | KIND_BIT(SUM_FLOAT)),
                "Without init no number may be made up: a product that starts at 0 "
                "stays 0, a maximum of negative numbers that starts at 0 is 0. Let "
                "each thread start with its first element, and remember when it has "
                "none.");
}

static void judge_floats(struct verdict *verdict, const struct evidence *evidence)
{
    judge_group(verdict, evidence, REDUCTION_KINDLY, KIND_BIT(SUM_FLOAT),
                "The order of adding is free, and what it changes is allowed for. "
                "Nothing may be lost or rounded to integers on the way.");
}

static void judge_init(struct verdict *verdict, const struct evidence *evidence)
{
    judge_group(verdict, evidence, REDUCTION_INIT, ALL_KINDS,
                "`init` is one more element: it is combined in once, at the end, by "
                "one thread; not by each thread, each block or each pass.");
}

static void judge_strange(struct verdict *verdict, const struct evidence *evidence)
{
    judge_group(verdict, evidence, REDUCTION_KINDLY, STRANGE_KINDS,
                "Nothing may be known of T and Operator but the contract: T may have 1, "
                "3, 12 or 64 bytes (what is moved in words of 4 loses some, and 1024 of 64 "
                "bytes are more than a block's 48 KiB of shared memory), the operator may "
                "carry a value, and only combine(a, b) says what the two make together.");
}

static void judge_shifted(struct verdict *verdict, const struct evidence *evidence)
{
    judge_group(
        verdict, evidence, REDUCTION_SHIFTED, ALL_KINDS,
        "The array begins between two 16-byte boundaries. Loads of several elements at once "
        "need whole boundaries: take the elements before the first one singly. A T of 8 or "
        "16 bytes may be aligned to 1 byte: what may be loaded at once is said by "
        "alignof(T), and not by sizeof(T).");
}

static void judge_empty(struct verdict *verdict, const struct evidence *evidence)
{
    if (!written(verdict, evidence)) return;
    const struct reduction_input *in = evidence->input;
    const struct reduction_output *out = evidence->output;
    for (uint32_t i = 0; i < in->case_count; i++) {
        const struct reduction_case *wanted = &in->cases[i];
        if (wanted->group != REDUCTION_EMPTY) continue;
        if (wanted->with_init) {
            if (case_right(verdict, evidence, REDUCTION_PHASE_CASE, i,
                           "With no element, the result is init, written in the stream like any "
                           "other."))
                continue;
            return;
        }
        struct phase phase;
        if (!phases_get(verdict, evidence, REDUCTION_PHASE_CASE, i, &phase)) return;
        struct answer answer = {.evidence = evidence,
                                .phase = &phase,
                                .function = FUNCTION,
                                .api = ANSWER_RUNTIME,
                                .code = out->answers[i].status};
        if (!answer_failed_with(verdict, &answer, INVALID_VALUE,
                                "there is neither an element nor init"))
            return;
        if (is_poison(wanted->kind, result_of(&out->answers[i], 1))) continue;
        verdict_fail_in(verdict, evidence, FUNCTION,
                        "With size 0 and no init, *result was written.");
        verdict_why(verdict, "An error was returned, so the caller keeps what it had.");
        verdict_hint(verdict, "Look at the arguments before anything is queued.");
        return;
    }
}

/* A submission that processes the whole long array reaches the end of the existing elements. Lack
 * of memory for partial results is an error like any other. */
static void judge_long(struct verdict *verdict, const struct evidence *evidence)
{
    const struct reduction_input *in = evidence->input;
    const struct reduction_answer *answer =
        &((const struct reduction_output *)evidence->output)->answers[0];
    struct reduction_case wanted = in->cases[0];
    struct phase phase;
    char text[120];

    wanted.size += REDUCTION_TOO_MANY;
    if (!written(verdict, evidence) ||
        !phases_get(verdict, evidence, REDUCTION_PHASE_CASE, 0, &phase))
        return;
    const struct answer given = {.evidence = evidence,
                                 .phase = &phase,
                                 .function = FUNCTION,
                                 .api = ANSWER_RUNTIME,
                                 .code = answer->status};
    /* A submission that waits, which another check reports, gets the fault at once. */
    if (answer->status == OUT_OF_MEMORY || answer->status == ILLEGAL_ADDRESS ||
        !answer_succeeded(verdict, &given, describe(&wanted, text)) || answer->later)
        return;
    verdict_fail(verdict, evidence, last_kernel(evidence, REDUCTION_PHASE_CASE, 0),
                 "For %s, no kernel came to any element but the first %llu.", text,
                 (unsigned long long)in->cases[0].size);
    verdict_why(verdict,
                "Cut to 32 bits the size is %llu: what is reduced is the begin of a long "
                "array, and nobody is told.",
                (unsigned long long)in->cases[0].size);
    verdict_hint(verdict, "Sizes, indices and offsets are size_t from the argument to the last "
                          "kernel's parameter.");
}

/* ---- the stream ---------------------------------------------------------------------------- */

/* Returns the stream that the drive made and passed: its only non-blocking one. */
static uint64_t given_stream(const struct evidence *evidence, const struct phase *phase)
{
    struct query streams = {.kind = TRACE_CREATE, .what = TRACE_STREAM};
    for (const struct trace_record *r = evidence_next(evidence, &streams, NULL); r;
         r = evidence_next(evidence, &streams, r))
        if ((r->flags & TRACE_NON_BLOCKING) && r < evidence->trace.records + phase->first)
            return r->object;
    return 0;
}

/* Checks that all operations asked for in the phase are in the given stream. Adds to the number of
 * operations. */
static bool stays_in(struct verdict *verdict, const struct evidence *evidence,
                     const struct phase *phase, uint64_t given, size_t *operations)
{
    static const uint32_t kinds[] = {TRACE_KERNEL, TRACE_COPY, TRACE_SET, TRACE_HOST_FUNCTION};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct query query = {.phase = phase, .kind = TRACE_OPERATION, .what = kinds[k]};
        for (const struct trace_record *r = evidence_next(evidence, &query, NULL); r;
             r = evidence_next(evidence, &query, r)) {
            ++*operations;
            if (!given || r->stream == given) continue;
            verdict_fail(verdict, evidence, r, "A %s runs in another stream than the one given.",
                         trace_what_name(r->what));
            verdict_why(verdict, "What comes before the reduction in the caller's stream, here the "
                                 "copy that brings the array, is not waited for; and what comes "
                                 "after it does not wait for the result.");
            verdict_hint(verdict, "The stream is the fourth argument between <<< and >>>; the "
                                  "asynchronous copies and allocations take it as well. Left out, "
                                  "it is the default stream.");
            return false;
        }
    }
    return true;
}

static void judge_stream(struct verdict *verdict, const struct evidence *evidence)
{
    const struct reduction_input *in = evidence->input;
    const struct reduction_output *out = evidence->output;
    struct phase phase, warm_up;
    if (!phases_get(verdict, evidence, REDUCTION_PHASE_GATED, 0, &phase) ||
        !phases_get(verdict, evidence, REDUCTION_PHASE_WARM_UP, 0, &warm_up))
        return;

    uint64_t given = given_stream(evidence, &warm_up);
    size_t operations = 0;
    if (!written(verdict, evidence) || !stays_in(verdict, evidence, &warm_up, given, &operations) ||
        !stays_in(verdict, evidence, &phase, given, &operations) ||
        !went_well(verdict, evidence, REDUCTION_PHASE_GATED, 0, &in->cases[0], &out->answers[0]))
        return;
    if (!operations) {
        verdict_fail_in(verdict, evidence, FUNCTION, "Nothing was queued in the given stream.");
        verdict_why(verdict, "The array is only there when the stream has come to it.");
        verdict_hint(verdict, "Launch the kernels in `stream`.");
        return;
    }
    case_right(verdict, evidence, REDUCTION_PHASE_GATED, 0,
               "The array is still on its way, in the given stream, when the call "
               "is made: what of the reduction does not wait for it there? And init is gone "
               "when the call has returned: is it read before, or copied later?");
}

/* Judges the two calls of a pair. */
static void judge_pair(struct verdict *verdict, const struct evidence *evidence, uint32_t first)
{
    const struct reduction_output *out = evidence->output;
    for (uint32_t i = first; i < first + 2 && !verdict_failed(verdict); i++)
        if (out->answers[i].lost != 2)
            case_right(
                verdict, evidence, REDUCTION_PHASE_TOGETHER, i,
                "Two reductions were at work in two streams. What do they share: a __device__ "
                "array, a counter, memory that is kept from call to call?");
}

/* Judges two calls at a time, in two streams. */
static void judge_together(struct verdict *verdict, const struct evidence *evidence)
{
    static const enum trace_finding_kind_id races[] = {FINDING_KIND_RACE, FINDING_KIND_FREED_IN_USE,
                                                       FINDING_KIND_GLOBAL_MEMORY_RACE,
                                                       FINDING_KIND_COUNT};
    if (!written(verdict, evidence)) return;
    verdict_findings(verdict, evidence, races);
    judge_pair(verdict, evidence, 0);
}

/* Judges the pair in which half of the first one's blocks wait for the second. The device reports
 * no race of a kernel that may wait for others, so only the values are judged. */
static void judge_interleaved(struct verdict *verdict, const struct evidence *evidence)
{
    if (written(verdict, evidence)) judge_pair(verdict, evidence, 2);
}

/* Returns true for calls that make the host wait for the device although that is not their
 * purpose. */
static bool waits_on_the_side(const struct trace_record *call)
{
    static const char *const names[] = {"cudaFree", "cudaFreeHost", "cuMemFree", "cuMemFreeHost"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(call->name, names[i])) return true;
    return false;
}

/* Checks that nothing in the phase waits. */
static bool goes_on(struct verdict *verdict, const struct evidence *evidence,
                    const struct phase *phase)
{
    struct query calls = {.phase = phase, .kind = TRACE_CALL, .student = true};
    for (const struct trace_record *call = evidence_next(evidence, &calls, NULL); call;
         call = evidence_next(evidence, &calls, call)) {
        bool aside = waits_on_the_side(call);
        if (!aside && !waits_call(call)) continue;
        verdict_fail(verdict, evidence, call, "%s was called inside the reduction.", call->name);
        if (aside) {
            verdict_why(verdict,
                        "%s may wait until the whole device is idle: for every stream of "
                        "everybody, not only for this one's work. Where it does not wait, it takes "
                        "memory away that queued work still needs.",
                        call->name);
            verdict_hint(verdict, "cudaMallocAsync and cudaFreeAsync take and give memory in "
                                  "stream order, without waiting.");
        } else {
            verdict_why(
                verdict,
                "The call returns when the work is queued. If it waited, a caller with three "
                "streams would get three reductions one after another, with the host idle.");
            verdict_hint(verdict, "The second kernel of a stream begins when the first has ended: "
                                  "nothing on the host has to wait between them.");
        }
        return false;
    }
    return true;
}

static void judge_waiting(struct verdict *verdict, const struct evidence *evidence)
{
    const struct reduction_input *in = evidence->input;
    const struct reduction_output *out = evidence->output;
    struct phase phase, warm_up;
    if (!phases_get(verdict, evidence, REDUCTION_PHASE_GATED, 0, &phase) ||
        !phases_get(verdict, evidence, REDUCTION_PHASE_WARM_UP, 0, &warm_up) ||
        !written(verdict, evidence) || !goes_on(verdict, evidence, &warm_up) ||
        !goes_on(verdict, evidence, &phase) ||
        !went_well(verdict, evidence, REDUCTION_PHASE_GATED, 0, &in->cases[0], &out->answers[0]))
        return;
    if (out->answers[0].held) return;
    verdict_fail_in(verdict, evidence, FUNCTION,
                    "The call did not return while its stream, and another one, were held back.");
    verdict_why(verdict, "It waited for the device. The caller's streams were held back by a host "
                         "function each, which gave up after a while.");
    verdict_hint(verdict, "Which call inside waits for the device to finish?");
}

/* ---- bytes, leaks, time -------------------------------------------------------------------- */

/* Returns the sum over the timed array: the range repeated, and a part of it at the end. */
static int64_t timed_sum(const struct reduction_input *in, bool as_int32)
{
    const struct reduction_case *stretch = &in->cases[0];
    const void *array = array_of(in, stretch);
    uint64_t whole = in->time_size / stretch->size, rest = in->time_size % stretch->size;
    uint64_t sum = 0, sum_32 = 0;
    for (uint64_t i = 0; i < stretch->size; i++) {
        uint64_t value = fold_element(REDUCTION_SUM_INT64, array, (size_t)i).uint64;
        uint64_t times = whole + (i < rest);
        sum += value * times;
        sum_32 += ((value & 0xffffffffu) + (value >> 32)) * times;
    }
    return as_int32 ? (int64_t)(int32_t)(uint32_t)sum_32 : (int64_t)sum;
}

static bool timed_right(struct verdict *verdict, const struct evidence *evidence)
{
    if (!written(verdict, evidence)) return false;
    const struct reduction_input *in = evidence->input;
    const struct reduction_output *out = evidence->output;
    size_t answers = evidence->device == DRIVE_GPU ? 2 : 1;
    for (size_t i = 0; i < answers; i++) {
        const struct reduction_answer *answer = &out->answers[i];
        struct reduction_case wanted = {.kind = i ? REDUCTION_SUM_INT32 : REDUCTION_SUM_INT64,
                                        .size = in->time_size * (i ? 2 : 1)};
        if (!went_well(verdict, evidence, i ? REDUCTION_PHASE_TIME_32 : REDUCTION_PHASE_TIME, 0,
                       &wanted, answer))
            return false;
        union fold_value value = result_of(answer, 1);
        int64_t sum = timed_sum(in, i == 1), given = i ? value.int32 : value.int64;
        if (given == sum) continue;
        verdict_fail_in(verdict, evidence, FUNCTION,
                        "For the timed sum of %llu integers the result is %lld; it must be %lld.",
                        (unsigned long long)wanted.size, (long long)given, (long long)sum);
        verdict_why(verdict, "A time without the right result counts for nothing.");
        if (wanted.size * (i == 1 ? sizeof(int32_t) : sizeof(int64_t)) > UINT32_MAX)
            verdict_hint(verdict,
                         "Sizes and offsets of this array do not fit into 32 bits of bytes.");
        else
            verdict_hint(verdict, "This array is longer than those of the other checks: look at "
                                  "what depends on how many blocks there are.");
        return false;
    }
    return true;
}

/* Per byte of the array: one read, plus partial results written and read again, which in a tree of
 * width four adds 2/3. Reading the array twice exceeds this. */
#define MOST_BYTES_MOVED 1.7

static void judge_bytes(struct verdict *verdict, const struct evidence *evidence)
{
    const struct reduction_input *in = evidence->input;
    struct phase phase;
    if (!timed_right(verdict, evidence) ||
        !phases_get(verdict, evidence, REDUCTION_PHASE_TIME, 0, &phase))
        return;
    struct query kernels = {.phase = &phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL};
    uint64_t bytes = 0, array = in->time_size * sizeof(int64_t);
    size_t launches = 0;
    for (const struct trace_record *r = evidence_next(evidence, &kernels, NULL); r;
         r = evidence_next(evidence, &kernels, r)) {
        bytes += r->bytes;
        launches++;
    }
    if (!launches) {
        verdict_fail_in(verdict, evidence, FUNCTION, "No kernel ran.");
        verdict_why(verdict, "There are no bytes to count.");
        verdict_hint(verdict, "The README begins with one kernel of one block.");
        return;
    }
    double times = (double)bytes / (double)array;
    verdict_figure(verdict, "bytes_per_input_byte",
                   "%.3f bytes moved by kernels for each byte of the array", times);
    if (times >= 1.0 && times < MOST_BYTES_MOVED) return;
    verdict_fail_in(verdict, evidence, FUNCTION,
                    "The kernels moved %.2f bytes for each byte of the array.", times);
    if (times > 1.0)
        verdict_why(verdict, "A reduction does next to nothing with what it reads, so its time is "
                             "the time of reading. Reading the array twice, or writing "
                             "intermediate results of its size, takes twice as long.");
    else
        verdict_why(verdict, "The kernels read fewer bytes than the array has.");
    verdict_hint(verdict, "Keep what a thread has combined so far in a register, what a block has "
                          "in shared memory, and write one partial result for each block.");
}

static void judge_leaks(struct verdict *verdict, const struct evidence *evidence)
{
    if (!written(verdict, evidence)) return;
    const struct reduction_input *in = evidence->input;
    const struct reduction_output *out = evidence->output;
    for (uint32_t i = 0; i < in->case_count && !verdict_failed(verdict); i++) {
        struct phase phase;
        if (out->answers[i].lost == 1) {
            went_well(verdict, evidence, REDUCTION_PHASE_CASE, i, &in->cases[i], &out->answers[i]);
            return;
        }
        if (!phases_get(verdict, evidence, REDUCTION_PHASE_CASE, i, &phase)) return;
        verdict_leaks(verdict, evidence, &phase);
        if (verdict_failed(verdict))
            verdict_hint(verdict,
                         "Memory from cudaMallocAsync goes back with cudaFreeAsync, in the "
                         "same stream behind the last kernel that uses it, on every path "
                         "out of the function.");
    }
}

static struct answer answer_to_failure(const struct evidence *evidence,
                                       const struct trace_record *failed, struct phase *phase)
{
    const struct reduction_input *in = evidence->input;
    const struct reduction_output *out = evidence->output;
    uint32_t index = 0;
    const bool known = failures_find(evidence, REDUCTION_PHASE_CASE, failed, phase, &index) &&
                       index < in->case_count;
    return (struct answer){.evidence = evidence,
                           .phase = known ? phase : NULL,
                           .function = FUNCTION,
                           .api = ANSWER_RUNTIME,
                           .code = out->answers[known ? index : 0].status};
}

static bool is_right_all_the_same(const struct evidence *evidence)
{
    const struct reduction_input *in = evidence->input;
    const struct reduction_output *out = evidence->output;
    for (uint32_t i = 0; i < in->case_count; i++) {
        const struct fold_expected expected = fold_case(&in->cases[i], array_of(in, &in->cases[i]));
        if (out->answers[i].lost || out->answers[i].status || out->answers[i].later ||
            !fold_right(&in->cases[i], &expected, result_of(&out->answers[i], 1)))
            return false;
    }
    return true;
}

static void judge_each_failure(struct verdict *verdict, const struct evidence *evidence)
{
    static const struct failures_contract contract = {
        .api = ANSWER_RUNTIME, .answer = answer_to_failure, .right = is_right_all_the_same};
    const struct reduction_input *in = evidence->input;
    const struct reduction_output *out = evidence->output;
    for (uint32_t i = 0; i < in->case_count; i++)
        if (!went_well(verdict, evidence, REDUCTION_PHASE_CASE, i, &in->cases[i], &out->answers[i]))
            return;
    failures_judge(verdict, evidence, &contract);
}

/* Fails for everything that the device itself reports. */
static void judge_findings(struct verdict *verdict, const struct evidence *evidence)
{
    const struct query calls = {.kind = TRACE_CALL, .student = true};
    const struct trace_record *call = NULL;
    if (!written(verdict, evidence)) return;
    verdict_findings(verdict, evidence, NULL);
    while ((call = evidence_next(evidence, &calls, call)) != NULL)
        if (waits_on_the_side(call)) return; /* reported by NothingWaitsForTheDevice */
    verdict_advice(verdict, evidence);
}

static void judge_time(struct verdict *verdict, const struct evidence *evidence)
{
    const struct evidence *repeats = evidence->repeats ? evidence->repeats : evidence;
    for (size_t r = 0; r < evidence->repeat_count; r++)
        if (!timed_right(verdict, &repeats[r])) return;
    verdict_time_ratio(verdict, evidence);
    if (verdict_failed(verdict))
        verdict_hint(verdict, "Do neighbouring threads read neighbouring elements? Are there "
                              "enough blocks for the whole device, and enough loads on their way "
                              "at a time?");
}

/* Returns the seconds of a call, in the first phase of that name; 0: not known. */
static double call_time(const struct evidence *evidence, const char *name)
{
    const struct reduction_input *in = evidence->input;
    struct phase phase;
    if (!evidence_phase(evidence, name, 0, &phase) || in->calls == 0) return 0.0;
    return (double)(phase.end_ns - phase.begin_ns) * 1e-9 / in->calls;
}

/* In every round CUB follows the student's function, in the same process. */
static void compare_with_cub(struct verdict *verdict, const struct evidence *evidence,
                             const char *words, const char *key, const char *ours, const char *cubs)
{
    const struct reduction_input *in = evidence->input;
    const double bytes = (double)(in->time_size * sizeof(int64_t));
    struct ratio_pair pairs[RATIO_MOST_PAIRS];
    size_t count = 0;
    char times[160];

    for (size_t r = 0; r < evidence->repeat_count && count < RATIO_MOST_PAIRS; r++) {
        pairs[count].submission = call_time(&evidence->repeats[r], ours);
        pairs[count].reference = call_time(&evidence->repeats[r], cubs);
        if (pairs[count].submission > 0 && pairs[count].reference > 0) count++;
    }
    if (count == 0) {
        verdict_skip(verdict, "the time of CUB is not known");
        return;
    }
    const struct ratio ratio = ratio_of(pairs, count, &threshold_cub);
    timing_say_ratio(&ratio, _("CUB's time"), times, sizeof times);
    verdict_figure(verdict, key, "%s: %s, at most %.2f asked for (%.0f against %.0f GB/s)", words,
                   times, ratio.limit, bytes / ratio.submission_s * 1e-9,
                   bytes / ratio.reference_s * 1e-9);
    if (ratio.answer == RATIO_UNCLEAR)
        verdict_skip(verdict, "too noisy to say: %s: %s; at most %.2f is asked for", words, times,
                     ratio.limit);
    if (ratio.answer != RATIO_NOT_MET) return;
    verdict_fail_in(verdict, evidence, FUNCTION, "%s took %s; at most %.2f is asked for.", words,
                    times, ratio.limit);
    verdict_why(verdict, "CUB reads at nearly the speed of the memory. A slower kernel leaves the "
                         "memory idle part of the time.");
    verdict_hint(verdict, "Wide loads, several of them asked for before the first is used, and a "
                          "grid that fills the device.");
}

static void judge_cub(struct verdict *verdict, const struct evidence *evidence)
{
    if (!timed_right(verdict, evidence)) return;
    compare_with_cub(verdict, evidence, "2^26 64-bit integers", "against_cub_64",
                     REDUCTION_PHASE_TIME, REDUCTION_PHASE_CUB);
    compare_with_cub(verdict, evidence, "2^27 32-bit integers", "against_cub_32",
                     REDUCTION_PHASE_TIME_32, REDUCTION_PHASE_CUB_32);
}

/* A finding names two places and is the cause of a wrong value; also, an unordered value may come
 * out right by chance. So its check comes first. */
static const struct check checks[] = {
    {"TheDeviceFindsNothingWrong", "values", CHECK_EMULATOR_ONLY,
     "no access out of bounds, to the wrong side, or to memory that is gone", judge_findings},
    {"SumOfOneToTenThousandIs50005000", "values", 0, "the simplest sum", judge_first},
    {"EverySizeIsReduced", "values", CHECK_ORDER,
     "sizes from 1 to 2^20 and more, off every boundary", judge_sizes},
    {"WithoutInitNothingIsMadeUp", "values", CHECK_ORDER,
     "products, maxima of negative and minima of positive numbers start with an element",
     judge_no_init},
    {"FloatSumsAreAccurate", "values", CHECK_ORDER, "within what the order of adding changes",
     judge_floats},
    {"AnyOperatorAndTypeWork", "values", CHECK_ORDER,
     "an operator with a value of its own; types of 1 to 64 bytes", judge_strange},
    {"InitIsUsedOnce", "values", CHECK_ORDER, "whatever the operator, the type and the size",
     judge_init},
    {"AnEmptyArrayGivesInit", "values", 0, "and without init an error", judge_empty},
    {"NoSizeIsCutTo32Bits", "long", CHECK_EMULATOR_ONLY, "more elements than 32 bits count",
     judge_long},
    {"AnyAlignmentWorks", "values", 0, "arrays that begin between two 16-byte boundaries",
     judge_shifted},
    {"ItRunsInTheGivenStream", "stream", CHECK_ORDER, "all of it, and nowhere else", judge_stream},
    {"NothingWaitsForTheDevice", "stream", 0, "the call returns while its stream is held back",
     judge_waiting},
    {"CallsInTwoStreamsDoNotMeet", "together", CHECK_ORDER,
     "two calls at a time, each in a stream of its own", judge_together},
    {"CallsThatInterleaveDoNotMeet", "interleaved", CHECK_EMULATOR_ONLY,
     "one call's blocks wait until another call is done", judge_interleaved},
    {"NothingLeaks", "values", 0, "all memory is given back", judge_leaks},
    {"EachElementIsReadOnce", "time", CHECK_EMULATOR_ONLY, "bytes moved for each byte of input",
     judge_bytes},
    {FAILURES_CHECK, FAILURES_RUN, CHECK_EMULATOR_ONLY,
     "each call that can fail does so once, and is returned", judge_each_failure},
    {"AsFastAsTheReference", "time", 0, "as fast as the reference", judge_time},
    {"AsFastAsCub", "time", CHECK_GPU_ONLY, "against CUB's DeviceReduce, in the same run",
     judge_cub},
    {.name = NULL},
};

static const struct hint hints[] = {
#include "grader/lessons/07_reductions/hints.def"
    {0}};

const struct lesson lesson_07_reductions = {
    .number = 7,
    .folder = "07_reductions",
    .suite = "Reductions",
    .function = FUNCTION,
    .files = (const char *const[]){"reductions.cuh", NULL},
    .drive_sources = (const char *const[]){"calls.cu", NULL},
    .parts = (const char *const[]){"07_reductions_drive", NULL},
    .gpu_parts = (const char *const[]){"reduce_cub", NULL},
    .runs = runs,
    .checks = checks,
    .hints = hints,
};
