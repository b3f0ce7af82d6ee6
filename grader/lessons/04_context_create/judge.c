/* The judge of lesson 04: the returned data, the context in which the work ran, how many contexts
 * were made and how they ended, and the stack. */
#include "grader/evidence/judge.h"
#include "grader/base/messages.h"
#include "grader/evidence/answer.h"
#include "grader/evidence/failures.h"
#include "grader/evidence/host_reference.h"
#include "grader/evidence/waits.h"
#include "grader/lessons/04_context_create/exchange.h"

#include <stdio.h>
#include <string.h>

#define FUNCTION "context_create_round_trip"
#define VALUES_CHECK "ContextCreate.TheDataComesBack" /* reports why a call failed */
#define OUT_OF_MEMORY 2
#define INVALID_DEVICE 101
#define NOT_FOUND 500
#define ILLEGAL_ADDRESS 700

/* ---- runs --------------------------------------------------------------------------------- */

static int allocate(struct run_input *input, const struct context_create_case *cases,
                    uint32_t count)
{
    uint32_t values = 0;
    for (uint32_t i = 0; i < count; i++) values += cases[i].length;
    struct context_create_input *in =
        run_input_allocate(input, sizeof *in + values * sizeof(float));
    if (in == NULL) return -1;
    in->count = count;
    in->bad_ordinal = (int32_t)random_between(input->random, 1000, 100000);
    values = 0;
    for (uint32_t i = 0; i < count; i++) {
        in->cases[i] = cases[i];
        in->cases[i].offset = values;
        values += cases[i].length;
    }
    host_reference_draw(input->random, in->values, values);
    input->output_size = sizeof(struct context_create_output) + values * sizeof(float);
    return 0;
}

static uint32_t draw(struct run_input *input, int64_t low, int64_t high)
{
    return (uint32_t)random_between(input->random, low, high);
}

/* On a GPU each context takes 0.2 s of all processes together, so there are fewer cases; the
 * software device runs all. */
static int prepare_values(struct run_input *input)
{
    const struct context_create_case cases[] = {
        {.length = 3}, /* [1, 2, 3] was the original's */
        {.length = draw(input, 500, 3000), .inside = CONTEXT_CREATE_OWN},
        {.length = draw(input, 100, 300), .inside = CONTEXT_CREATE_PRIMARY},
        {.length = draw(input, 65, 500)},
    };
    const uint32_t count = sizeof cases / sizeof *cases;
    return allocate(input, cases, input->device == DRIVE_GPU ? count - 1 : count);
}

static int prepare_failures(struct run_input *input)
{
    const struct context_create_case cases[] = {
        {.way = CONTEXT_CREATE_NO_DEVICE, .length = draw(input, 10, 99)},
        {.way = CONTEXT_CREATE_TOO_LONG, .length = draw(input, 10, 99)},
        {.way = CONTEXT_CREATE_REFUSED, .length = draw(input, 100, 900), .inside = 1},
        {.way = CONTEXT_CREATE_TOO_LONG, .length = draw(input, 10, 99), .inside = 1},
        {.way = CONTEXT_CREATE_HALFWAY, .length = draw(input, 700, 900)},
        {.way = CONTEXT_CREATE_NO_DEVICE, .length = draw(input, 10, 99), .inside = 1},
        {.length = draw(input, 100, 900)},
    };
    const struct context_create_case on_gpu[] = {cases[0], cases[3], cases[4], cases[6]};
    return input->device == DRIVE_GPU ? allocate(input, on_gpu, sizeof on_gpu / sizeof *on_gpu)
                                      : allocate(input, cases, sizeof cases / sizeof *cases);
}

static int prepare_each_failure(struct run_input *input)
{
    const struct context_create_case cases[] = {{.length = draw(input, 100, 300)},
                                                {.length = draw(input, 100, 300), .inside = 1}};
    return allocate(input, cases, sizeof cases / sizeof *cases);
}

static int prepare_fault(struct run_input *input)
{
    const struct context_create_case cases[] = {
        {.way = CONTEXT_CREATE_FAULTY, .length = draw(input, 100, 900)}};
    return allocate(input, cases, 1);
}

static int prepare_timed(struct run_input *input)
{
    const uint32_t length = draw(input, 4000, 5000);
    const struct context_create_case cases[] = {{.length = length}};
    return allocate(input, cases, sizeof cases / sizeof *cases);
}

static const struct run_plan runs[] = {
    {.name = "values", .flags = RUN_ON_BOTH | RUN_IN_EVERY_ORDER, .prepare = prepare_values},
    {.name = "failures", .flags = RUN_ON_BOTH, .prepare = prepare_failures},
    {.name = "fault", .flags = RUN_ON_BOTH, .prepare = prepare_fault},
    {.name = "timed",
     .flags = RUN_ON_BOTH | RUN_TIMED | RUN_RECORDED,
     .prepare = prepare_timed,
     .phase = CONTEXT_CREATE_ALL_PHASE,
     .threshold = &threshold_context_create},
    FAILURES_PLAN(prepare_each_failure),
    {0},
};

/* ---- reading the evidence ------------------------------------------------------------------ */

/* The expected outcome of a case, by enum context_create_way. */
static const struct {
    int code;
    const char *because;
    size_t contexts; /* that the function makes */
    uint32_t worked; /* calls of work */
} ways[CONTEXT_CREATE_WAY_COUNT] = {
    [CONTEXT_CREATE_GOOD] = {0, "", 1, 1},
    [CONTEXT_CREATE_NO_DEVICE] = {INVALID_DEVICE, N_("there is no device of that ordinal"), 0, 0},
    [CONTEXT_CREATE_TOO_LONG] = {OUT_OF_MEMORY,
                                 N_("the array does not fit into the device's memory"), 1, 0},
    [CONTEXT_CREATE_REFUSED] = {NOT_FOUND, N_("work could not find its kernel"), 1, 1},
    [CONTEXT_CREATE_HALFWAY] = {NOT_FOUND,
                                N_("work launched one kernel and could not find its next"), 1, 1},
    [CONTEXT_CREATE_FAULTY] = {ILLEGAL_ADDRESS,
                               N_("work's kernel used an address that is not allocated"), 1, 1},
};

/* One case. It must stay where it is, because the answer's phase points into it. */
struct item {
    const struct evidence *evidence;
    const struct context_create_case *c;
    const struct context_create_answer *a;
    const float *input, *output;
    struct phase phase;
    struct answer answer;
    char name[96];
};

static uint32_t count_of(const struct evidence *evidence)
{
    return ((const struct context_create_input *)evidence->input)->count;
}

static void item_get(const struct evidence *evidence, uint32_t i, struct item *item)
{
    const struct context_create_input *in = evidence->input;
    const struct context_create_output *out = evidence->output;
    memset(item, 0, sizeof *item);
    item->evidence = evidence;
    item->c = &in->cases[i];
    item->a = &out->answers[i];
    item->input = in->values + item->c->offset;
    item->output = out->values + item->c->offset;
    item->answer = answer_in(evidence, CONTEXT_CREATE_PHASE, i, FUNCTION, ANSWER_DRIVER,
                             item->a->code, &item->phase);
    snprintf(item->name, sizeof item->name, _("%u floats, called %s"), item->c->length,
             item->c->inside ? _("while another context was current")
                             : _("with no context current"));
    if (item->c->inside == CONTEXT_CREATE_PRIMARY)
        snprintf(item->name, sizeof item->name,
                 _("%u floats, called while the primary context was "
                   "current"),
                 item->c->length);
}

static bool compare(struct verdict *verdict, const struct item *item)
{
    return host_reference_compare(verdict, item->evidence,
                                  &(struct host_reference_array){.function = FUNCTION,
                                                                 .phase = item->answer.phase,
                                                                 .alone = true,
                                                                 .name = item->name,
                                                                 .input = item->input,
                                                                 .output = item->output,
                                                                 .length = item->c->length});
}

/* ---- checks ------------------------------------------------------------------------------- */

static void judge_data(struct verdict *verdict, const struct evidence *evidence)
{
    for (uint32_t i = 0; i < count_of(evidence); i++) {
        struct item item;
        item_get(evidence, i, &item);
        if (!answer_succeeded(verdict, &item.answer, item.name)) return;
        if (!host_reference_same(item.input, item.output, item.c->length) &&
            verdict_causes(verdict, evidence))
            return;
        if (!compare(verdict, &item)) return;
    }
}

/* Returns the last CUDA call of the phase that work made, for a failure at the line where the
 * student calls work. NULL: none.
 */
static const struct trace_record *last_for_work(const struct item *item)
{
    const struct query calls = {.phase = item->answer.phase, .kind = TRACE_CALL};
    const struct trace_record *call = NULL, *last = NULL;
    if (item->answer.phase == NULL) return NULL;
    while ((call = evidence_next(item->evidence, &calls, call)) != NULL)
        if (!evidence_by_submission(item->evidence, call)) last = call;
    return last;
}

/* Checks that every operation of the phase ran in a context that the student's own lines made in
 * the phase. */
static void judge_place(struct verdict *verdict, const struct evidence *evidence)
{
    for (uint32_t i = 0; i < count_of(evidence); i++) {
        static const uint32_t kinds[] = {TRACE_COPY, TRACE_KERNEL};
        struct item item;
        item_get(evidence, i, &item);
        if (!answer_succeeded(verdict, &item.answer, item.name)) return;
        if (item.a->worked != 1) {
            verdict_fail(verdict, evidence, last_for_work(&item), "work was called %u times (%s).",
                         item.a->worked, item.name);
            verdict_hint(verdict, "Once, between the copy in and the copy out.");
            return;
        }
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            const struct query query = {
                .phase = &item.phase, .kind = TRACE_OPERATION, .what = kinds[k]};
            const struct trace_record *operation = NULL;
            while ((operation = evidence_next(evidence, &query, operation)) != NULL) {
                const struct trace_record *made = evidence_creation(
                    evidence, operation->process, TRACE_CONTEXT, operation->context);
                if (made == NULL || evidence_by_submission(evidence, made)) continue;
                verdict_fail(verdict, evidence, evidence_call_of(evidence, operation),
                             "A %s ran in a context that context_create_round_trip did not make "
                             "(%s).",
                             trace_what_name(kinds[k]), item.name);
                verdict_why(verdict, "Memory, modules and errors of that context are somebody "
                                     "else's.");
                verdict_hint(verdict, "cuCtxCreate makes the new context current; is it popped, or "
                                      "another one set, before the work is done? The runtime API "
                                      "(cuda...) would use the current context, too.");
                return;
            }
        }
    }
}

static void judge_one_each(struct verdict *verdict, const struct evidence *evidence)
{
    for (uint32_t i = 0; i < count_of(evidence); i++) {
        struct item item;
        item_get(evidence, i, &item);
        if (!answer_written(verdict, &item.answer)) return;
        const struct query query = {
            .phase = &item.phase, .kind = TRACE_CREATE, .what = TRACE_CONTEXT, .student = true};
        const struct trace_record *made = NULL;
        size_t count = 0;
        for (const struct trace_record *r = NULL; (r = evidence_next(evidence, &query, r)) != NULL;)
            if ((r->flags & TRACE_IMPLICIT) == 0) {
                made = r;
                count++;
            }
        if (item.answer.phase == NULL || count == ways[item.c->way].contexts) continue;
        verdict_fail(verdict, evidence, made,
                     count == 1 ? N_("%zu context was made, must be %zu (%s%s%s).")
                                : N_("%zu contexts were made, must be %zu (%s%s%s)."),
                     count, ways[item.c->way].contexts, item.name,
                     item.c->way == CONTEXT_CREATE_GOOD ? "" : "; ", _(ways[item.c->way].because));
        verdict_why(verdict, "A context costs about a tenth of a second and some hundred megabytes "
                             "on a real device.");
        if (ways[item.c->way].contexts == 0)
            verdict_hint(verdict, "What makes the call impossible shows before a context is made: "
                                  "return that error then.");
        else
            verdict_hint(verdict,
                         "cuCtxCreate, once. The primary context (cuDevicePrimaryCtxRetain, or "
                         "any runtime call) is not one of your own: everybody in the process "
                         "shares it.");
        return;
    }
}

/* When work has failed after launching a kernel, and the student releases the kernel's memory
 * without a wait, GPUs happen to wait in that release. The result is right, though CUDA does not
 * promise it, and the data does not matter any more, so it is advice. Judged by the device's clock,
 * because any call that lasts so long counts as a wait. */
static void advise_on_wait(struct verdict *verdict, const struct item *item)
{
    static const char *const releases[] = {"cuMemFree", "cudaFree", "cuCtxDestroy"};
    const struct evidence *evidence = item->evidence;
    const struct query launches = {
        .phase = &item->phase, .kind = TRACE_CALL, .name = "cuLaunchKernel*"};
    const struct trace_record *launch = evidence_next(evidence, &launches, NULL), *early = NULL;
    const struct trace_record *kernel =
        launch != NULL ? evidence_operation_of(evidence, launch) : NULL;
    if (kernel == NULL) return;
    for (size_t k = 0; k < sizeof releases / sizeof *releases; k++) {
        const struct query calls = {
            .phase = &item->phase, .kind = TRACE_CALL, .name = releases[k], .student = true};
        for (const struct trace_record *call = NULL;
             (call = evidence_next(evidence, &calls, call)) != NULL;)
            if (call->request > launch->request && call->start_ns < kernel->end_ns &&
                (early == NULL || call->request < early->request))
                early = call;
    }
    if (early == NULL) return;
    verdict_figure(verdict, "advice",
                   "advice: where work fails behind a kernel that it launched, %.*s is all that "
                   "waits for that kernel; GPUs do, nothing promises it: cuCtxSynchronize",
                   TRACE_NAME_SIZE, early->name);
}

/* For the runs "values" and "failures": every object that the phase made has ended with the
 * phase. */
static void judge_destroyed(struct verdict *verdict, const struct evidence *evidence)
{
    for (uint32_t i = 0; i < count_of(evidence); i++) {
        struct item item;
        item_get(evidence, i, &item);
        if (!answer_written(verdict, &item.answer)) return;
        if (item.answer.phase == NULL) continue;
        verdict_leaks(verdict, evidence, &item.phase);
        if (!verdict_failed(verdict)) {
            if (item.c->way == CONTEXT_CREATE_HALFWAY) advise_on_wait(verdict, &item);
            continue;
        }
        if (item.c->way == CONTEXT_CREATE_GOOD)
            verdict_hint(verdict, "cuCtxDestroy. A pop takes the context off the stack and leaves "
                                  "it alive.");
        else
            verdict_hint(verdict,
                         "On this path %s. Whatever was made before that has to go: jump "
                         "to the clean-up instead of returning.",
                         _(ways[item.c->way].because));
        return;
    }
}

/* Returns the student's last call in the phase whose name begins with one of these; NULL: none. */
static const struct trace_record *last_called(const struct item *item, const char *const *names)
{
    const struct trace_record *last = NULL;
    for (; item->answer.phase != NULL && *names != NULL; names++) {
        const struct query calls = {
            .phase = item->answer.phase, .kind = TRACE_CALL, .name = *names, .student = true};
        const struct trace_record *call = NULL;
        while ((call = evidence_next(item->evidence, &calls, call)) != NULL)
            if (call->code == 0 && (last == NULL || call > last)) last = call;
    }
    return last;
}

static void judge_stack(struct verdict *verdict, const struct evidence *evidence)
{
    static const char *const resets[] = {"cudaDeviceReset*", "cuDevicePrimaryCtxReset*", NULL},
                             *const pushes[] = {"cuCtxCreate*", "cuCtxPushCurrent*",
                                                "cuCtxSetCurrent*", NULL},
                             *const pops[] = {"cuCtxPopCurrent*", "cuCtxSetCurrent*",
                                              "cuCtxDestroy*", NULL};
    for (uint32_t i = 0; i < count_of(evidence); i++) {
        struct item item;
        item_get(evidence, i, &item);
        if (!answer_written(verdict, &item.answer)) return;
        if (item.a->spoiled) {
            verdict_fail(verdict, evidence, last_called(&item, resets),
                         "The caller's memory in the primary context is gone (%s).", item.name);
            verdict_why(verdict, "The primary context is shared by the whole process. Whoever "
                                 "resets it takes everybody's memory, streams and modules along.");
            verdict_hint(verdict, "Take down what you made: cuCtxDestroy of your own context. "
                                  "cudaDeviceReset and cuDevicePrimaryCtxReset are for a program "
                                  "that ends.");
            return;
        }
        if (item.a->extra == 0 && item.a->lost == 0) continue;
        if (item.a->extra != 0)
            verdict_fail(verdict, evidence, last_called(&item, pushes),
                         "%u context%s left on the stack (%s%s%s).", item.a->extra,
                         item.a->extra == 1 ? " was" : "s were", item.name,
                         item.c->way == CONTEXT_CREATE_GOOD ? "" : "; ",
                         _(ways[item.c->way].because));
        else
            verdict_fail(verdict, evidence, last_called(&item, pops),
                         "The caller's context is no longer on the stack (%s%s%s).", item.name,
                         item.c->way == CONTEXT_CREATE_GOOD ? "" : "; ",
                         _(ways[item.c->way].because));
        verdict_why(verdict, "The caller's next call goes to whatever context is current to its "
                             "thread: here, to the wrong one, or to none.");
        verdict_hint(verdict, "cuCtxCreate pushes. cuCtxDestroy pops if the context is current to "
                              "the calling thread, and only then. So destroy without popping "
                              "first, or pop and then destroy; never pop twice. What was current "
                              "before is current again by itself: do not push it.");
        return;
    }
}

static void judge_failures(struct verdict *verdict, const struct evidence *evidence)
{
    for (uint32_t i = 0; i < count_of(evidence); i++) {
        struct item item;
        item_get(evidence, i, &item);
        if (item.c->way != CONTEXT_CREATE_GOOD) {
            if (!answer_failed_with(verdict, &item.answer, ways[item.c->way].code,
                                    _(ways[item.c->way].because)))
                return;
            if (item.a->worked == ways[item.c->way].worked) continue;
            if (item.c->way == CONTEXT_CREATE_TOO_LONG) {
                const struct query made = {.phase = &item.phase,
                                           .kind = TRACE_CREATE,
                                           .what = TRACE_DEVICE_MEMORY,
                                           .student = true};
                verdict_fail(verdict, evidence, evidence_next(evidence, &made, NULL),
                             "work was called, although the array does not fit into the "
                             "device's memory.");
                verdict_why(verdict, "Memory was allocated for an array that no device has room "
                                     "for: fewer bytes were requested than length floats need.");
                verdict_hint(verdict, "2^50 floats are more bytes than 32 bits can count: compute "
                                      "the size in size_t, from length on.");
                return;
            }
            verdict_fail(verdict, evidence, last_for_work(&item),
                         "work was called %u times, must be %u: %s.", item.a->worked,
                         ways[item.c->way].worked, _(ways[item.c->way].because));
            verdict_why(verdict, "A second try after an error meets what the first has left "
                                 "behind; whether to try again is the caller's decision.");
            verdict_hint(verdict, "Once, if all went well before it; and an error that it returns "
                                  "is passed on.");
            return;
        } else if (!answer_succeeded(verdict, &item.answer,
                                     N_("a right call after some that had failed")) ||
                   !compare(verdict, &item)) {
            return;
        }
    }
}

/* Finds the case in which the call failed. */
static void item_of_failure(const struct evidence *evidence, const struct trace_record *failed,
                            struct item *item)
{
    struct phase phase;
    uint32_t index;
    item_get(evidence,
             failures_find(evidence, CONTEXT_CREATE_PHASE, failed, &phase, &index) &&
                     index < count_of(evidence)
                 ? index
                 : 0,
             item);
}

static struct answer answer_to_failure(const struct evidence *evidence,
                                       const struct trace_record *failed, struct phase *phase)
{
    struct item item;
    item_of_failure(evidence, failed, &item);
    *phase = item.phase;
    item.answer.phase = phase;
    return item.answer;
}

static bool is_right_all_the_same(const struct evidence *evidence)
{
    for (uint32_t i = 0; i < count_of(evidence); i++) {
        struct item item;
        item_get(evidence, i, &item);
        if (item.a->code != 0 || !host_reference_same(item.input, item.output, item.c->length))
            return false;
    }
    return true;
}

static void judge_stack_of_failure(struct verdict *verdict, const struct evidence *evidence,
                                   const struct answer *answer, const struct trace_record *failed,
                                   const char *before)
{
    struct item item;
    (void)answer;
    item_of_failure(evidence, failed, &item);
    if (item.a->extra == 0 && item.a->lost == 0) return;
    if (item.a->extra != 0)
        verdict_fail(verdict, evidence, failed, "%s, and %u context%s left on the stack (%s).",
                     before, item.a->extra, item.a->extra == 1 ? " was" : "s were", item.name);
    else
        verdict_fail(verdict, evidence, failed,
                     "%s, and the caller's context is no longer on the stack (%s).", before,
                     item.name);
    verdict_why(verdict, "The caller's next call goes to whatever context is current to its "
                         "thread: here, to the wrong one, or to none.");
    verdict_hint(verdict, "Whatever fails after cuCtxCreate has to pass the line that takes the "
                          "context down; what fails before it must not.");
}

static void judge_each_failure(struct verdict *verdict, const struct evidence *evidence)
{
    static const struct failures_contract contract = {.api = ANSWER_DRIVER,
                                                      .answer = answer_to_failure,
                                                      .right = is_right_all_the_same,
                                                      .more = judge_stack_of_failure};
    for (uint32_t i = 0; i < count_of(evidence); i++) {
        struct item item;
        item_get(evidence, i, &item);
        if (!answer_judgeable(verdict, &item.answer, VALUES_CHECK)) return;
    }
    failures_judge(verdict, evidence, &contract);
}

/* Fails for everything that the device itself reports. */
static void judge_findings(struct verdict *verdict, const struct evidence *evidence)
{
    struct item item;
    item_get(evidence, 0, &item);
    if (!answer_written(verdict, &item.answer)) return;
    verdict_findings(verdict, evidence, NULL);
    verdict_advice(verdict, evidence);
    waits_say_unpromised_in(verdict, evidence, CONTEXT_CREATE_PHASE, FUNCTION);
}

static void judge_time(struct verdict *verdict, const struct evidence *evidence)
{
    for (size_t r = 0; r < evidence->repeat_count; r++) {
        const struct evidence *one = &evidence->repeats[r];
        for (uint32_t i = 0; i < count_of(one); i++) {
            struct item item;
            item_get(one, i, &item);
            if (!answer_judgeable(verdict, &item.answer, VALUES_CHECK) || !compare(verdict, &item))
                return;
        }
    }
    verdict_time_ratio(verdict, evidence);
    if (verdict_failed(verdict))
        verdict_hint(verdict, "Making a context is by far the most expensive call here. Is there "
                              "one too many?");
}

static const struct check checks[] = {
    {"TheWorkIsInTheNewContext", "values", 0, "copies and kernel run in the context that was made",
     judge_place},
    {"TheDataComesBack", "values", CHECK_ORDER, "in, through the kernel, and out again",
     judge_data},
    {"TheContextIsDestroyed", "values", 0, "nothing is left behind", judge_destroyed},
    {"OneContextPerCall", "values", 0, "one context is made, and of the right kind",
     judge_one_each},
    {"TheStackIsLeftAsFound", "values", 0, "what was current before is current after", judge_stack},
    {"FailedCallsAreReturned", "failures", 0,
     "the first error is returned, and the next call works", judge_failures},
    {"AFaultIsReturned", "fault", 0, "an error of work's kernel, met later, is returned",
     judge_failures},
    {"OneContextPerCallOnFailure", "failures", 0, "none where there is no device", judge_one_each},
    {"TheContextIsDestroyedOnFailure", "failures", 0, "nothing is left behind on any path",
     judge_destroyed},
    {"TheStackIsLeftAsFoundOnFailure", "failures", 0, "on any path", judge_stack},
    {FAILURES_CHECK, FAILURES_RUN, CHECK_EMULATOR_ONLY,
     "each call that can fail does so once, and is returned", judge_each_failure},
    {"TheDeviceFindsNothingWrong", "values", CHECK_EMULATOR_ONLY,
     "no access out of bounds, to the wrong side, or to memory that is gone", judge_findings},
    {"AsFastAsTheReference", "timed", 0, "no time is lost against the reference solution",
     judge_time},
    {0},
};

static const struct hint hints[] = {
#include "grader/lessons/04_context_create/hints.def"
    {0}};

const struct lesson lesson_04_context_create = {
    .number = 4,
    .folder = "04_context_create",
    .suite = "ContextCreate",
    .function = FUNCTION,
    .files = (const char *const[]){"context_create.c", NULL},
    .parts = (const char *const[]){"04_context_create_drive", "multiply_divide_image", NULL},
    .runs = runs,
    .checks = checks,
    .hints = hints,
};
