/* The judge of lesson 01: right values, read after they have arrived; no unnecessary wait; errors
 * returned, those of the kernel included; nothing left behind. */
#include "grader/evidence/judge.h"
#include "grader/base/messages.h"
#include "grader/evidence/answer.h"
#include "grader/evidence/failures.h"
#include "grader/evidence/given.h"
#include "grader/evidence/host_reference.h"
#include "grader/evidence/waits.h"
#include "grader/lessons/01_device_sync/exchange.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FUNCTION "device_sync_transform"
/* The checks that report why a call failed. */
#define VALUES_CHECK                                                                               \
    "DeviceSync.EveryElementIsRight or DeviceSync.TheHostReadsAfterTheResultsArrive"
/* A float sum of a thousand numbers is off by 1e-7 of their magnitudes; double sums in any order
 * stay far below this tolerance. */
#define SUM_TOLERANCE 1e-10
#define FLOAT_TOLERANCE 1e-5 /* tolerance for a sum that was added in float */
#define CAPTURE_FIRST 900    /* the errors of a capture: cudaErrorStreamCaptureUnsupported */
#define CAPTURE_LAST 908
#define INVALID_VALUE 1 /* of a launch that is refused */
#define OUT_OF_MEMORY 2
#define ILLEGAL_ADDRESS 700

/* ---- runs --------------------------------------------------------------------------------- */

static int allocate(struct run_input *input, const struct device_sync_case *cases, uint32_t count)
{
    size_t values = 0;
    for (uint32_t i = 0; i < count; i++) values += cases[i].length;

    struct device_sync_input *in = run_input_allocate(input, sizeof *in + values * sizeof(float));
    if (in == NULL) return -1;
    in->count = count;
    values = 0;
    for (uint32_t i = 0; i < count; i++) {
        in->cases[i] = cases[i];
        in->cases[i].offset = values;
        values += cases[i].length;
    }
    host_reference_draw(input->random, in->values, values);
    input->output_size = sizeof(struct device_sync_output) + values * sizeof(float);
    return 0;
}

static uint32_t draw(struct run_input *input, int64_t low, int64_t high)
{
    return (uint32_t)random_between(input->random, low, high);
}

/* Lengths: empty, one element, less than a block, one more and one less than whole blocks, ragged.
 */
static int prepare_values(struct run_input *input)
{
    const uint32_t large = input->device == DRIVE_GPU ? 1u << 20 : 4096;
    const struct device_sync_case cases[] = {
        {.length = draw(input, 2, 63)},          {.length = 0},
        {.length = 64 * draw(input, 8, 24) + 1}, {.length = 1},
        {.length = 64 * draw(input, 8, 24) - 1}, {.length = large + draw(input, 1, 999)},
    };
    return allocate(input, cases, sizeof cases / sizeof *cases);
}

/* Each failure is followed by a call in which everything is right. */
static int prepare_failures(struct run_input *input)
{
    const struct device_sync_case cases[] = {
        {.way = DEVICE_SYNC_TOO_LONG, .length = draw(input, 100, 200)},
        {.length = draw(input, 500, 900)},
        {.way = DEVICE_SYNC_REFUSED, .length = draw(input, 1000, 2000)},
        {.length = draw(input, 500, 900)},
        {.way = DEVICE_SYNC_UNTOLD, .length = draw(input, 1000, 2000)},
        {.length = draw(input, 500, 900)},
        {.way = DEVICE_SYNC_STALE, .length = draw(input, 500, 900)},
        {.way = DEVICE_SYNC_STALE, .length = 0}, /* nothing to do is a way of its own */
        {.way = DEVICE_SYNC_WRAPS, .length = draw(input, 100, 200)},
        {.length = draw(input, 500, 900)},
    };
    return allocate(input, cases, sizeof cases / sizeof *cases);
}

static int prepare_fault(struct run_input *input)
{
    const struct device_sync_case cases[] = {
        {.length = draw(input, 500, 900)},
        {.way = DEVICE_SYNC_FAULTY, .length = draw(input, 500, 900)},
    };
    return allocate(input, cases, sizeof cases / sizeof *cases);
}

static int prepare_slow(struct run_input *input)
{
    const struct device_sync_case cases[] = {
        {.way = DEVICE_SYNC_SLOW, .length = draw(input, 500, 900)}};
    return allocate(input, cases, sizeof cases / sizeof *cases);
}

static int prepare_each_failure(struct run_input *input)
{
    const struct device_sync_case cases[] = {{.length = draw(input, 300, 500)}};
    return allocate(input, cases, sizeof cases / sizeof *cases);
}

static int prepare_timed(struct run_input *input)
{
    const uint32_t length = 16384 + draw(input, 1, 999);
    const struct device_sync_case cases[] = {
        {.length = length}, {.length = length}, {.length = length}, {.length = length}};
    return allocate(input, cases, sizeof cases / sizeof *cases);
}

static const struct run_plan runs[] = {
    {.name = "values", .flags = RUN_ON_BOTH | RUN_IN_EVERY_ORDER, .prepare = prepare_values},
    {.name = "failures", .flags = RUN_ON_BOTH, .prepare = prepare_failures},
    {.name = "fault", .flags = RUN_ON_BOTH, .prepare = prepare_fault},
    {.name = "slow", .flags = RUN_ON_EMULATOR, .prepare = prepare_slow, .seconds = 60.0},
    {.name = "timed",
     .flags = RUN_ON_BOTH | RUN_TIMED,
     .prepare = prepare_timed,
     .phase = DEVICE_SYNC_ALL_PHASE,
     .threshold = &threshold_device_sync},
    FAILURES_PLAN(prepare_each_failure),
    {0},
};

/* ---- reading the evidence ------------------------------------------------------------------ */

struct view {
    const struct evidence *evidence;
    const struct device_sync_input *in;
    const struct device_sync_output *out;
    uint32_t reached; /* cases that were called */
};

static struct view look(const struct evidence *evidence)
{
    struct view view = {evidence, evidence->input, evidence->output, 0};
    view.reached = view.out->reached < view.in->count ? view.out->reached : view.in->count;
    return view;
}

/* Fails when the given stream is still being captured: everything done in it fails from then on.
 * Returns true when the verdict failed. */
static bool say_captured(struct verdict *verdict, const struct view *view)
{
    const struct query begins = {
        .kind = TRACE_CALL, .name = "cudaStreamBeginCapture*", .student = true};
    const int later = view->reached > 0 ? view->out->answers[view->reached - 1].later : 0;
    const struct trace_record *call = NULL, *last = NULL;
    if (later < CAPTURE_FIRST || later > CAPTURE_LAST) return false;
    while ((call = evidence_next(view->evidence, &begins, call)) != NULL) last = call;
    verdict_fail(verdict, view->evidence, last,
                 "%s returned while the stream that it was given was still being captured.",
                 FUNCTION);
    verdict_why(verdict, "What is put into the stream from then on is recorded, and not done.");
    verdict_hint(verdict, "A capture that was begun is ended (cudaStreamEndCapture) on every path, "
                          "also when a step in between failed.");
    return true;
}

/* Returns false, with a failure, when the device was lost before all cases were called. */
static bool all_reached(struct verdict *verdict, const struct view *view)
{
    if (view->reached == view->in->count) return true;
    if (say_captured(verdict, view)) return false;
    verdict_findings(verdict, view->evidence, NULL);
    if (verdict_failed(verdict)) return false;
    verdict_fail_in(verdict, view->evidence, FUNCTION,
                    "After call %u of %u the device was in error, and no further call was made.",
                    view->reached, view->in->count);
    verdict_why(verdict, "Work that the call had left behind failed when the device came to it.");
    verdict_hint(verdict, "What had it asked for that it did not wait for, or released too early?");
    return false;
}

/* One case: its answer, its phase, the words for its array. */
struct item {
    const struct device_sync_case *c;
    const struct device_sync_answer *a;
    struct phase phase;
    struct answer answer;
    char name[64];
};

/* Fills in *item, which must stay where it is, because the answer's phase points into it. */
static void item_get(const struct view *view, uint32_t i, struct item *item)
{
    memset(item, 0, sizeof *item);
    item->c = &view->in->cases[i];
    item->a = &view->out->answers[i];
    item->answer = answer_in(view->evidence, DEVICE_SYNC_PHASE, i, FUNCTION, ANSWER_RUNTIME,
                             item->a->code, &item->phase);
    snprintf(item->name, sizeof item->name,
             item->c->length == 1 ? _("an array of %u float") : _("an array of %u floats"),
             item->c->length);
}

static struct host_reference_array array_of(const struct view *view, const struct item *item,
                                            const struct trace_record *at)
{
    return (struct host_reference_array){.function = FUNCTION,
                                         .at = at,
                                         .phase = item->answer.phase,
                                         .alone = true,
                                         .name = item->name,
                                         .input = view->in->values + item->c->offset,
                                         .output = view->out->values + item->c->offset,
                                         .length = item->c->length};
}

static bool compare_at(struct verdict *verdict, const struct view *view, const struct item *item,
                       const struct trace_record *at)
{
    const struct host_reference_array array = array_of(view, item, at);
    return host_reference_compare(verdict, view->evidence, &array);
}

static bool compare(struct verdict *verdict, const struct view *view, const struct item *item)
{
    return compare_at(verdict, view, item, NULL);
}

/* For checks that are not about values. `doing` NULL: an error is reported in one line. */
static bool succeeded(struct verdict *verdict, const struct view *view, const struct item *item,
                      const char *doing)
{
    if (doing == NULL ? !answer_judgeable(verdict, &item->answer, VALUES_CHECK)
                      : !answer_succeeded(verdict, &item->answer, doing))
        return false;
    return compare(verdict, view, item);
}

static bool sum_is_right(const struct view *view, const struct item *item, double *expected)
{
    double scale;
    *expected = host_reference_sum(view->in->values + item->c->offset, item->c->length, &scale);
    return fabs(item->a->sum - *expected) <= SUM_TOLERANCE * scale;
}

/* Explains what a wrong sum is the sum of, as far as the number shows. */
static void explain_sum(struct verdict *verdict, const struct view *view, const struct item *item,
                        double expected)
{
    const float *in = view->in->values + item->c->offset;
    const uint32_t length = item->c->length;
    double of_input = 0.0, scale, poison;

    memset(&poison, DRIVE_POISON, sizeof poison);
    (void)host_reference_sum(in, length, &scale);
    for (uint32_t k = 0; k < length; k++) of_input += in[k];
    if (memcmp(&item->a->sum, &poison, sizeof poison) == 0) {
        verdict_why(verdict, "Nothing was written to *sum.");
        verdict_hint(verdict, "Set *sum on every path that returns cudaSuccess; an empty array has "
                              "the sum 0.");
    } else if (length > 0 && fabs(item->a->sum - of_input) <= SUM_TOLERANCE * scale) {
        verdict_why(verdict, "That is the sum of what went in.");
        verdict_hint(verdict, "Add up output, once the copy out has arrived there.");
    } else if (length > 0 &&
               fabs(item->a->sum + host_reference_expected(in[length - 1], length - 1) -
                    expected) <= SUM_TOLERANCE * scale) {
        verdict_why(verdict, "The last element is missing.");
        verdict_hint(verdict, "Add all `length` elements, from 0 to length - 1.");
    } else if (fabs(item->a->sum - expected) <= FLOAT_TOLERANCE * scale) {
        verdict_why(verdict, "It is off by as much as rounding to float makes it: a float has 24 "
                             "bits, and a thousand additions use them up.");
        verdict_hint(verdict, "Add up in a double from the first element on.");
    } else {
        verdict_why(verdict, "The sum shows what the host saw in output while it added.");
        verdict_hint(verdict, "Add all `length` elements of output, in double, once the copy out "
                              "has arrived there. An empty array has the sum 0.");
    }
}

static bool compare_sum(struct verdict *verdict, const struct view *view, const struct item *item)
{
    double expected;
    if (sum_is_right(view, item, &expected)) return true;
    verdict_fail_in(verdict, view->evidence, FUNCTION, "The sum of %s is %.12g, must be %.12g.",
                    item->name, item->a->sum, expected);
    explain_sum(verdict, view, item, expected);
    return false;
}

/* ---- checks ------------------------------------------------------------------------------- */

static void judge_elements(struct verdict *verdict, const struct evidence *evidence)
{
    const struct view view = look(evidence);
    for (uint32_t i = 0; i < view.reached; i++) {
        struct item item;
        item_get(&view, i, &item);
        if (!answer_succeeded(verdict, &item.answer, item.name)) return;
        if (!compare(verdict, &view, &item)) return;
    }
    all_reached(verdict, &view);
}

/* Returns true when the sum is wrong, and so are the elements. */
static bool sums_wrong_elements(const struct view *view, const struct item *item)
{
    double expected;
    const uint32_t offset = item->c->offset;
    return !sum_is_right(view, item, &expected) &&
           !host_reference_same(view->in->values + offset, view->out->values + offset,
                                item->c->length);
}

static void judge_sum(struct verdict *verdict, const struct evidence *evidence)
{
    const struct view view = look(evidence);
    for (uint32_t i = 0; i < view.reached; i++) {
        struct item item;
        item_get(&view, i, &item);
        if (!answer_judgeable(verdict, &item.answer, VALUES_CHECK)) return;
        if (sums_wrong_elements(&view, &item)) {
            verdict_fail_in(verdict, evidence, FUNCTION,
                            "Not judged: the elements that are added are wrong (see %s).",
                            VALUES_CHECK);
            verdict_not_judged(verdict, VALUES_CHECK);
            return;
        }
        if (!compare_sum(verdict, &view, &item)) return;
    }
    all_reached(verdict, &view);
}

static void judge_arrival(struct verdict *verdict, const struct evidence *evidence)
{
    const struct view view = look(evidence);
    for (uint32_t i = 0; i < view.reached; i++) {
        struct item item;
        item_get(&view, i, &item);
        if (!answer_written(verdict, &item.answer) ||
            !answer_succeeded(verdict, &item.answer, item.name))
            return;
        if (item.answer.phase != NULL &&
            waits_say_left(verdict, evidence, &item.phase, FUNCTION, ""))
            return;
        const struct trace_record *last =
            item.answer.phase != NULL ? waits_in(evidence, &item.phase).last_request : NULL;
        /* Too few bytes are a mistake of their own, however long the host waits. */
        const struct host_reference_array array = array_of(&view, &item, NULL);
        if (host_reference_say_short(verdict, evidence, &array)) return;
        if (compare_at(verdict, &view, &item, last) && compare_sum(verdict, &view, &item)) {
            if (item.a->later == 0) continue;
            verdict_fail_in(
                verdict, evidence, FUNCTION,
                "Work for %s was still on the device when %s returned, and failed there.",
                item.name, FUNCTION);
        }
        verdict_why(verdict, "An asynchronous copy returns when it has been asked for, not when it "
                             "is done. Until the host has waited, output holds what it held before "
                             "or a part of the new; on a busy day, or a faster host, the same "
                             "program gives another answer.");
        verdict_hint(verdict, "After the copy out is asked for and before output is read, wait for "
                              "the stream that the copy is in. The stream is non-blocking: a wait "
                              "for, or a copy in, another stream says nothing about it.");
        return;
    }
    all_reached(verdict, &view);
}

static void judge_waits(struct verdict *verdict, const struct evidence *evidence)
{
    const struct view view = look(evidence);
    for (uint32_t i = 0; i < view.reached; i++) {
        struct item item;
        item_get(&view, i, &item);
        if (!answer_judgeable(verdict, &item.answer, VALUES_CHECK)) return;
        if (item.c->length == 0 || item.answer.phase == NULL) continue;
        const struct waits waits = waits_in(evidence, &item.phase);
        if (waits.last_request == NULL) {
            verdict_fail_in(verdict, evidence, FUNCTION,
                            "%s asked the device for nothing: no copy, no kernel.", FUNCTION);
            verdict_why(verdict, "The work is to be done on the device.");
            verdict_hint(verdict, "Copy in, kernel(array, length, stream), copy out.");
            return;
        }
        if (waits.early != NULL) {
            verdict_fail(verdict, evidence, waits.early,
                         "%.*s makes the host wait although more work for the same stream follows "
                         "(%zu such wait%s for one array).",
                         TRACE_NAME_SIZE, waits.early->name, waits.early_count,
                         waits.early_count == 1 ? "" : "s");
            verdict_why(verdict, "One stream already runs its copies and kernels in the order in "
                                 "which they were given. A wait between them orders nothing; the "
                                 "device idles until the host has come back.");
            verdict_hint(verdict, "Ask for all three (cudaMemcpyAsync, kernel, cudaMemcpyAsync), "
                                  "then wait once, before the host reads.");
            return;
        }
        if (waits.surplus != NULL) {
            verdict_fail(verdict, evidence, waits.surplus,
                         "%.*s waits again: the host had already waited for everything.",
                         TRACE_NAME_SIZE, waits.surplus->name);
            verdict_why(verdict,
                        "A wait that orders nothing makes it hard to see which wait is needed.");
            verdict_hint(verdict, "One wait after the copy out is enough.");
            return;
        }
    }
}

static void judge_stream(struct verdict *verdict, const struct evidence *evidence)
{
    const struct view view = look(evidence);
    for (uint32_t i = 0; i < view.reached; i++) {
        struct item item;
        item_get(&view, i, &item);
        if (!answer_judgeable(verdict, &item.answer, VALUES_CHECK)) return;
        if (item.answer.phase == NULL ||
            !given_say_elsewhere(verdict, evidence, &item.phase, given_stream(evidence, 0),
                                 N_("the one given")))
            continue;
        verdict_why(verdict, "The caller orders its own work by its stream: what is elsewhere is "
                             "beside that order, however well it is ordered in itself.");
        verdict_hint(verdict, "Both copies and the kernel get `stream`.");
        return;
    }
}

static void judge_patience(struct verdict *verdict, const struct evidence *evidence)
{
    const struct view view = look(evidence);
    struct item item;
    item_get(&view, 0, &item);
    if (!answer_succeeded(verdict, &item.answer, "a kernel that takes seconds")) return;
    if (item.answer.phase != NULL && waits_say_left(verdict, evidence, &item.phase, FUNCTION,
                                                    N_("The kernel took seconds this time; "))) {
        waits_hint_patience(verdict, evidence, &item.phase);
        return;
    }
    /* A submission that stopped waiting and left the rest to cudaFree has read too early. */
    verdict_findings_after(verdict, evidence, NULL, N_("The kernel took seconds this time: "));
    verdict_advice_after(verdict, evidence, N_("The kernel took seconds this time: "));
    if (verdict_failed(verdict))
        waits_hint_patience(verdict, evidence, item.answer.phase);
    else
        compare(verdict, &view, &item);
}

/* Fails when the array was too large for memory and the allocating call got another size. Returns
 * true when the verdict failed. */
static bool say_cut(struct verdict *verdict, const struct evidence *evidence,
                    const struct item *item)
{
    const struct query made = {
        .phase = &item->phase, .kind = TRACE_CREATE, .what = TRACE_DEVICE_MEMORY, .student = true};
    const size_t beyond = device_sync_beyond(item->c->way);
    const struct trace_record *memory =
        item->answer.phase != NULL && beyond != 0 ? evidence_next(evidence, &made, NULL) : NULL;
    if (memory == NULL) return false;
    verdict_fail(verdict, evidence, memory,
                 "%zu floats were to be transformed, and %llu bytes of device memory were "
                 "allocated for them.",
                 beyond + item->c->length, (unsigned long long)memory->bytes);
    if (item->c->way == DEVICE_SYNC_WRAPS) {
        verdict_why(verdict, "So many floats are more bytes than a size_t can hold: the product "
                             "begins again at 0.");
        verdict_hint(verdict,
                     "Compare before multiplying: where length > SIZE_MAX / sizeof(float), "
                     "return an error.");
        return true;
    }
    verdict_why(verdict, "A size in bytes does not fit into 32 bits from 2^30 floats on; what is "
                         "cut off is memory that the kernel works on all the same.");
    verdict_hint(verdict, "Compute sizes in size_t.");
    return true;
}

static void judge_failures(struct verdict *verdict, const struct evidence *evidence)
{
    static const struct {
        int code;
        const char *because, *before;
    } wanted[] = {
        [DEVICE_SYNC_TOO_LONG] = {OUT_OF_MEMORY,
                                  N_("the array does not fit into the device's memory"),
                                  N_("There was no memory for the array; ")},
        [DEVICE_SYNC_WRAPS] = {OUT_OF_MEMORY, N_("no size_t can hold the array's size in bytes"),
                               N_("No size_t can hold the array's size; ")},
        [DEVICE_SYNC_REFUSED] = {INVALID_VALUE, N_("the kernel's launch was refused"),
                                 N_("The kernel's launch was refused; ")},
        [DEVICE_SYNC_UNTOLD] = {DEVICE_SYNC_UNTOLD_ERROR, N_("that is what kernel(...) returned"),
                                N_("kernel(...) returned an error; ")},
    };
    const struct view view = look(evidence);

    for (uint32_t i = 0; i < view.reached; i++) {
        struct item item;
        item_get(&view, i, &item);
        if (!answer_written(verdict, &item.answer)) return;
        if (item.c->way >= DEVICE_SYNC_TOO_LONG) {
            /* No CUDA call fails there, and the contract does not say which error to return. */
            const bool any = item.c->way == DEVICE_SYNC_WRAPS && item.a->code != 0;
            if (say_cut(verdict, evidence, &item) ||
                (!any && !(item.c->way <= DEVICE_SYNC_WRAPS ? answer_failed_with
                                                            : answer_launch_failed_with)(
                             verdict, &item.answer, wanted[item.c->way].code,
                             wanted[item.c->way].because)) ||
                (item.answer.phase != NULL && waits_say_left(verdict, evidence, &item.phase,
                                                             FUNCTION, wanted[item.c->way].before)))
                return;
        } else if (!succeeded(
                       verdict, &view, &item,
                       item.c->way == DEVICE_SYNC_STALE
                           ? N_("a right call, while the runtime still remembered an error of "
                                "its caller's as its last")
                           : N_("a right call after one that had failed"))) {
            return;
        }
    }
    all_reached(verdict, &view);
}

static void judge_fault(struct verdict *verdict, const struct evidence *evidence)
{
    const struct view view = look(evidence);
    struct item item;

    item_get(&view, 0, &item);
    if (!answer_written(verdict, &item.answer) || !all_reached(verdict, &view)) return;
    item_get(&view, view.in->count - 1, &item);
    if (item.a->code == ILLEGAL_ADDRESS) return;
    const struct trace_record *told = answer_first_failed(&item.answer);
    if (item.a->code == 0 && item.a->later == 0) {
        verdict_fail_in(verdict, evidence, FUNCTION,
                        "A kernel that writes out of bounds was given to %s, and neither it nor a "
                        "later call reported the error.",
                        FUNCTION);
        verdict_why(verdict, "So the kernel did not run.");
        verdict_hint(verdict, "Call kernel(array, length, stream) once per array.");
    } else if (item.a->code == 0) {
        verdict_fail(verdict, evidence, told,
                     "The kernel failed while it ran, and %s returned success; %s got "
                     "cudaErrorIllegalAddress (700).",
                     FUNCTION, told != NULL ? _("the call here") : _("the next call"));
        verdict_why(verdict, "A launch returns before the kernel has run. What goes wrong in it is "
                             "returned by the wait that follows, and if nobody looks there, by "
                             "some later call that has nothing to do with it.");
        verdict_hint(verdict, "Return what the wait returned.");
    } else {
        answer_failed_with(verdict, &item.answer, ILLEGAL_ADDRESS,
                           "the kernel wrote to an address that is not allocated");
    }
}

static void judge_leaks(struct verdict *verdict, const struct evidence *evidence)
{
    const struct view view = look(evidence);
    for (uint32_t i = 0; i < view.reached && !verdict_failed(verdict); i++) {
        struct item item;
        item_get(&view, i, &item);
        if (!answer_written(verdict, &item.answer)) return;
        if (item.answer.phase != NULL) verdict_leaks(verdict, evidence, &item.phase);
        if (verdict_failed(verdict))
            verdict_hint(verdict, "%s",
                         item.c->way == DEVICE_SYNC_GOOD
                             ? _("cudaFree what cudaMalloc gave, before returning.")
                             : _("This call failed in the middle. Send every failure "
                                 "to one clean-up at the end (goto), which releases "
                                 "what there is."));
    }
}

static struct answer answer_to_failure(const struct evidence *evidence,
                                       const struct trace_record *failed, struct phase *phase)
{
    const struct view view = look(evidence);
    struct item item;
    (void)failed;
    item_get(&view, 0, &item);
    *phase = item.phase;
    item.answer.phase = phase;
    return item.answer;
}

static bool is_right_all_the_same(const struct evidence *evidence)
{
    const struct view view = look(evidence);
    struct item item;
    double expected;
    item_get(&view, 0, &item);
    return item.a->later == 0 && sum_is_right(&view, &item, &expected) &&
           host_reference_same(view.in->values + item.c->offset, view.out->values + item.c->offset,
                               item.c->length);
}

static void judge_each_failure(struct verdict *verdict, const struct evidence *evidence)
{
    static const struct failures_contract contract = {.api = ANSWER_RUNTIME,
                                                      .answer = answer_to_failure,
                                                      .right = is_right_all_the_same,
                                                      .waits = true,
                                                      .advice = true};
    const struct view view = look(evidence);
    struct item item;
    item_get(&view, 0, &item);
    if (answer_judgeable(verdict, &item.answer, VALUES_CHECK))
        failures_judge(verdict, evidence, &contract);
}

/* Fails for the device's findings: an access out of bounds or to the wrong side, an unsupported
 * call. */
static void judge_findings(struct verdict *verdict, const struct evidence *evidence)
{
    const struct view view = look(evidence);
    struct item item;
    item_get(&view, 0, &item);
    if (answer_written(verdict, &item.answer)) {
        verdict_findings(verdict, evidence, NULL);
        verdict_advice(verdict, evidence);
        waits_say_unpromised_in(verdict, evidence, DEVICE_SYNC_PHASE, FUNCTION);
    }
}

static void judge_time(struct verdict *verdict, const struct evidence *evidence)
{
    for (size_t r = 0; r < evidence->repeat_count; r++) {
        const struct view view = look(&evidence->repeats[r]);
        for (uint32_t i = 0; i < view.reached; i++) {
            struct item item;
            item_get(&view, i, &item);
            if (!succeeded(verdict, &view, &item, NULL)) return;
        }
        if (!all_reached(verdict, &view)) return;
    }
    verdict_time_ratio(verdict, evidence);
    if (verdict_failed(verdict))
        verdict_hint(verdict, "Each wait between two steps costs a round trip to the host. Memory "
                              "that is allocated twice and a copy in pieces cost time as well.");
}

/* A finding names two places and is the cause of a wrong value, so its check comes first.
 */
static const struct check checks[] = {
    {"TheDeviceFindsNothingWrong", "values", CHECK_EMULATOR_ONLY,
     "no access out of bounds, to the wrong side, or to memory that is gone", judge_findings},
    {"EveryElementIsRight", "values", CHECK_EARLIEST,
     "the array goes through the kernel and comes back whole", judge_elements},
    {"TheSumIsRight", "values", CHECK_EARLIEST, "the host adds up all the results, in double",
     judge_sum},
    {"TheHostReadsAfterTheResultsArrive", "values", CHECK_ORDER,
     "nothing is read, or given back, while the device works on it", judge_arrival},
    {"TheHostWaitsOnlyForTheResults", "values", 0, "one stream needs no wait between its steps",
     judge_waits},
    {"AllTheWorkIsInTheGivenStream", "values", 0,
     "the caller's stream orders all that is asked for", judge_stream},
    {"TheHostWaitsAsLongAsItTakes", "slow", CHECK_EMULATOR_ONLY,
     "a kernel of many seconds is waited for as well", judge_patience},
    {"FailedCallsAreReturned", "failures", 0,
     "the first error is returned, and the next call works", judge_failures},
    {"TheKernelsOwnErrorIsReturned", "fault", 0, "an asynchronous error is not swallowed",
     judge_fault},
    {"NothingLeaks", "values", 0, "what was allocated is released", judge_leaks},
    {"NothingLeaksOnFailure", "failures", 0, "what was allocated is released on failure as well",
     judge_leaks},
    {FAILURES_CHECK, FAILURES_RUN, CHECK_EMULATOR_ONLY,
     "each call that can fail does so once, and is returned", judge_each_failure},
    {"AsFastAsTheReference", "timed", 0, "no time is lost against the reference solution",
     judge_time},
    {0},
};

static const struct hint hints[] = {
#include "grader/lessons/01_device_sync/hints.def"
    {0}};

const struct lesson lesson_01_device_sync = {
    .number = 1,
    .folder = "01_device_sync",
    .suite = "DeviceSync",
    .function = FUNCTION,
    .files = (const char *const[]){"device_sync.c", NULL},
    .parts = (const char *const[]){"01_device_sync_drive", "multiply_divide", "broken", NULL},
    .runs = runs,
    .checks = checks,
    .hints = hints,
};
