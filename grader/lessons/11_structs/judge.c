/* The judge of lesson 11: structs and the memory that they point to, on both sides; parameters at
 * their offsets; no unnecessary copies, nothing left behind. */
#include "grader/evidence/judge.h"
#include "grader/base/messages.h"
#include "grader/evidence/answer.h"
#include "grader/evidence/failures.h"
#include "grader/evidence/given.h"
#include "grader/evidence/phases.h"
#include "grader/evidence/queued.h"
#include "grader/lessons/11_structs/exchange.h"
#include "grader/lessons/11_structs/inputs.h"
#include "grader/lessons/11_structs/model.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define GAP 256             /* bytes that may be copied in addition to each array */
#define COPIES_PER_ARRAY 4u /* limit in the contract, for step 3 */
#define MOST_LAUNCHES 2u
#define TOO_LONG 701     /* the error of a launch with too many bytes of parameters */
#define STRUCT_BYTES 24u /* sizeof(struct structs_array) */

static const char *const functions[STRUCTS_STEPS] = {"structs_double", "structs_layouts",
                                                     "structs_multiply", "structs_call"};
/* The checks that report why a call failed. */
static const char *const values_checks[STRUCTS_STEPS] = {
    "Structs.EveryElementIsDoubled", "Structs.BothSidesHaveTheSameLayout",
    "Structs.EveryArrayIsMultiplied", "Structs.EveryValueArrives"};

static const char *const kernel_names[STRUCTS_KERNELS] = {
    "look_growing", "look_mixed", "look_structs", "look_large",
    "work_floats",  "work_bytes", "work_in_place"};

static const struct run_plan runs[] = {
    {.name = "double", .flags = RUN_ON_BOTH | RUN_IN_EVERY_ORDER, .prepare = inputs_double},
    {.name = "layout", .flags = RUN_ON_BOTH | RUN_IN_EVERY_ORDER, .prepare = inputs_layout},
    {.name = "arrays", .flags = RUN_ON_BOTH | RUN_IN_EVERY_ORDER, .prepare = inputs_arrays},
    {.name = "call", .flags = RUN_ON_BOTH | RUN_IN_EVERY_ORDER, .prepare = inputs_call},
    {.name = "time",
     .flags = RUN_ON_BOTH | RUN_TIMED,
     .prepare = inputs_timed,
     .phase = STRUCTS_PHASE_TIME,
     .threshold = &threshold_structs},
    FAILURES_PLAN(inputs_each_failure),
    {0},
};

/* ---- what came back ------------------------------------------------------------------------ */

/* One call of a run: its arguments, its result, and its phase, to which the answer points.
 */
struct call {
    const struct evidence *evidence;
    const struct structs_input *in;
    const struct structs_output *out;
    const struct structs_case *c;
    const struct structs_answer *given;
    struct phase phase;
    struct answer answer;
};

/* Returns false when the verdict has failed or (past the last) the list has ended. */
static bool call_at(struct verdict *verdict, const struct evidence *evidence, uint32_t index,
                    struct call *one)
{
    const struct structs_input *in = evidence->input;
    const struct structs_output *out = evidence->output;
    if (index >= in->case_count) return false;
    const uint32_t step = in->cases[index].step;
    *one =
        (struct call){evidence,
                      in,
                      out,
                      &in->cases[index],
                      &out->answers[index],
                      .answer = {.evidence = evidence,
                                 .function = functions[step],
                                 .api = step == STRUCTS_STEP_CALL ? ANSWER_DRIVER : ANSWER_RUNTIME,
                                 .code = out->answers[index].status}};
    if (one->given->lost == 1) {
        queued_say_lost(verdict, evidence, one->answer.function);
        return false;
    }
    const bool timed = one->c->timed != 0;
    return phases_get(verdict, evidence, timed ? STRUCTS_PHASE_TIME : STRUCTS_PHASE_CALL,
                      timed ? 0 : index, &one->phase);
}

static const char *describe(const struct call *one, char text[160])
{
    const struct structs_case *c = one->c;
    switch (c->step) {
    case STRUCTS_STEP_DOUBLE:
        snprintf(text, 160, _("a matrix of %u x %u with a stride of %u"), c->rows, c->columns,
                 c->stride);
        break;
    case STRUCTS_STEP_LAYOUT:
        snprintf(text, 160, "%s", _("the layout of struct structs_sample"));
        break;
    case STRUCTS_STEP_MULTIPLY:
        snprintf(text, 160, _("%u arrays, those from number %u on to be multiplied twice"),
                 c->count, c->first);
        break;
    default:
        snprintf(text, 160, _("the kernel %s of %u parameters"), kernel_names[c->kernel],
                 c->arguments);
    }
    return text;
}

/* Returns true when the kernel accessed an address whose lower half is the upper half of an address
 * that the call has allocated: the pointer lies half its size before the offset where the kernel
 * expects it. */
static bool met_half_a_pointer(const struct call *one)
{
    const struct query findings = {.kind = TRACE_FINDING}, memory = {.phase = &one->phase,
                                                                     .kind = TRACE_CREATE,
                                                                     .what = TRACE_DEVICE_MEMORY};
    for (const struct trace_record *f = NULL, *m = NULL;
         (f = evidence_next(one->evidence, &findings, f)) != NULL;)
        while ((m = evidence_next(one->evidence, &memory, m)) != NULL)
            if (f->address >> 32 != m->address >> 32 &&
                (uint32_t)f->address - (uint32_t)(m->address >> 32) < m->bytes)
                return true;
    return false;
}

static void say_half_a_pointer(struct verdict *verdict, const struct call *one)
{
    char text[160];
    verdict_fail(verdict, one->evidence, queued_last_kernel(one->evidence, &one->phase),
                 "For %s, a pointer is not where the kernel looks for it: the kernel met the "
                 "second half of one as its first.",
                 describe(one, text));
    verdict_why(verdict, "A pointer lies in the parameters as a value of 8 bytes, at a multiple of "
                         "8, whatever the alignment of what it points to.");
    verdict_hint(verdict, "`alignment` is that of what lies at `data`. Where a pointer goes to the "
                          "buffer, round the offset up to alignof(CUdeviceptr).");
}

/* Checks that the call succeeded and that its work ran to its end. */
static bool went_well(struct verdict *verdict, struct call *one)
{
    static const enum trace_finding_kind_id faults[] = {
        FINDING_KIND_OUT_OF_BOUNDS,  FINDING_KIND_WRONG_SIDE,    FINDING_KIND_MISALIGNED,
        FINDING_KIND_USE_AFTER_FREE, FINDING_KIND_NEVER_WRITTEN, FINDING_KIND_COUNT};
    const int status = one->given->status;
    char text[160];
    one->answer.phase = &one->phase;
    if (status != 0 && one->c->step == STRUCTS_STEP_CALL && met_half_a_pointer(one))
        say_half_a_pointer(verdict, one);
    /* A kernel's bad access explains more than the resulting error. */
    if (status != 0 && status != ANSWER_NOT_WRITTEN)
        verdict_findings(verdict, one->evidence, faults);
    if (verdict_failed(verdict)) return false;
    const bool well = queued_went_well(
        verdict, &one->answer, one->given->later, one->given->remembered,
        (uint32_t)(one->c - one->in->cases), describe(one, text),
        N_("Are all pointers that the kernel follows pointers to device memory, those inside of "
           "structs as well?"));
    if (status == TOO_LONG && one->c->step == STRUCTS_STEP_CALL)
        verdict_hint(verdict, "A buffer of parameters ends with the last one: its size is not "
                              "rounded up, and gaps are only as large as alignment asks for.");
    return well;
}

/* Checks, in one line, that every call of the run succeeded; for checks that are about something
 * else. */
static bool all_judgeable(struct verdict *verdict, const struct evidence *evidence)
{
    struct call one;
    for (uint32_t i = 0; call_at(verdict, evidence, i, &one); i++)
        if (!answer_judgeable(verdict, &one.answer, values_checks[one.c->step])) return false;
    return !verdict_failed(verdict);
}

/* Returns the kernel that wrote the result. NULL: there is none. */
static const struct trace_record *last_kernel(const struct call *one)
{
    return queued_last_kernel(one->evidence, &one->phase);
}

static void judge_findings(struct verdict *verdict, const struct evidence *evidence)
{
    if (!all_judgeable(verdict, evidence)) return;
    verdict_findings(verdict, evidence, NULL);
    verdict_advice(verdict, evidence);
}

static const char other_streams[] =
    N_("What the caller has put into the stream before may still be under way, and work in another "
       "stream does not wait for it.");

/* Checks that all operations of the call are in the given stream. */
static bool in_stream(struct verdict *verdict, const struct call *one)
{
    if (!given_say_elsewhere(verdict, one->evidence, &one->phase, given_stream(one->evidence, 0),
                             "the stream that it was given"))
        return true;
    verdict_why(verdict, "%s", _(other_streams));
    verdict_hint(verdict, "The stream is an argument of the launch, the fourth between <<< and "
                          ">>>, and of every copy: cudaMemcpyAsync, cuMemcpyHtoDAsync.");
    return false;
}

/* ---- step 1 -------------------------------------------------------------------------------- */

/* Returns the row stride that explains which elements were changed; 0: there is none. */
static size_t other_stride(const struct structs_case *c, const float *before, const float *after)
{
    const size_t count = (size_t)(c->rows - 1) * c->stride + c->columns;
    size_t last = 0;
    for (size_t i = 0; i < count; i++)
        if (after[i] != before[i]) last = i;
    if (c->rows == 1 || last < c->columns) return 0;
    const size_t step = (last - (c->columns - 1)) / (c->rows - 1);
    if (step * (c->rows - 1) + c->columns - 1 != last || step == c->stride) return 0;
    for (size_t i = 0; i < count; i++) {
        const size_t y = i / step < c->rows ? i / step : c->rows - 1;
        if ((after[i] != before[i]) != (i - y * step < c->columns)) return 0;
    }
    return step;
}

/* Explains what the wrong elements have in common, if known. */
static void say_why_not_doubled(struct verdict *verdict, const struct structs_case *c,
                                const float *before, const float *after)
{
    const size_t count = (size_t)(c->rows - 1) * c->stride + c->columns,
                 step = other_stride(c, before, after);
    size_t missed = 0, often = 0, between = 0;
    for (size_t i = 0; i < count; i++) {
        const float must = model_doubled(c, before, i);
        if (after[i] == must) continue;
        if (i % c->stride >= c->columns)
            between++;
        else if (after[i] == before[i])
            missed++;
        else if (after[i] == 2.0f * must || after[i] == 4.0f * must)
            often++;
    }
    if (step > 0)
        verdict_why(verdict,
                    "What was changed is what lies there when a row begins %zu elements "
                    "behind the one before it; the stride is %u.",
                    step, c->stride);
    else if (between > 0)
        verdict_why(verdict, "Between two rows lies memory that is not the matrix's: it is to stay "
                             "as it is.");
    else if (often > 0)
        verdict_why(verdict, "Some elements were doubled more than once: two threads came to the "
                             "same one.");
    else if (missed > 0)
        verdict_why(verdict, "Some elements are what they were: no thread came to them, or another "
                             "one came to where it should not.");
}

/* Two threads that access the same element have a wrong index, and a barrier does not help. So of
 * the device's findings only those about streams and memory are reported before the values. */
static bool has_another_cause(struct verdict *verdict, const struct evidence *evidence)
{
    static const enum trace_finding_kind_id causes[] = {
        FINDING_KIND_RACE, FINDING_KIND_FREED_IN_USE, FINDING_KIND_CHANGED_IN_FLIGHT,
        FINDING_KIND_USE_AFTER_FREE, FINDING_KIND_COUNT};
    verdict_findings(verdict, evidence, causes);
    return verdict_failed(verdict);
}

static bool doubled(struct verdict *verdict, const struct call *one)
{
    const struct structs_case *c = one->c;
    const float *before = (const void *)(one->in->bytes + c->at),
                *after = (const void *)(one->out->bytes + c->at);
    const size_t first = model_double_differs(c, before, after);
    char text[160];

    if (first == MODEL_SAME) return true;
    if (has_another_cause(verdict, one->evidence)) return false;
    const size_t y = first / c->stride, x = first % c->stride;
    const double is = (double)after[first], must = (double)model_doubled(c, before, first);
    if (x < c->columns)
        verdict_fail(verdict, one->evidence, last_kernel(one),
                     "For %s, element (%zu, %zu) is %.9g and must be %.9g.", describe(one, text), y,
                     x, is, must);
    else
        verdict_fail(verdict, one->evidence, last_kernel(one),
                     "For %s, what lies behind row %zu, in place %zu, is %.9g and must be %.9g.",
                     describe(one, text), y, x, is, must);
    say_why_not_doubled(verdict, c, before, after);
    verdict_hint(verdict, "Element (y, x) is elements[y * stride + x]: the row's number counts "
                          "strides, whatever their length, and no 4. A thread for each x below "
                          "columns and each y below rows.");
    return false;
}

static void judge_doubled(struct verdict *verdict, const struct evidence *evidence)
{
    struct call one;
    for (uint32_t i = 0; call_at(verdict, evidence, i, &one); i++)
        if (!went_well(verdict, &one) || !doubled(verdict, &one)) return;
}

/* Checks for one launch in the given stream, no other work and no wait; on the software device also
 * for the right number of bytes. */
static bool queued(struct verdict *verdict, const struct call *one)
{
    const struct query work = {.phase = &one->phase, .kind = TRACE_OPERATION};
    const struct query kernels = {
        .phase = &one->phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL};
    const size_t launches = evidence_count(one->evidence, &kernels),
                 others = evidence_count(one->evidence, &work) - launches;
    const uint64_t enough = (uint64_t)2 * one->c->rows * one->c->columns;
    const struct trace_record *kernel = last_kernel(one);
    char text[160];

    if (!queued_in_given_stream(
            verdict, one->evidence, &one->phase, one->answer.function, other_streams,
            N_("Who waits is the caller, for the stream, when the matrix is needed.")))
        return false;
    if (launches != 1 || others != 0) {
        verdict_fail(verdict, one->evidence, kernel,
                     "For %s, %zu kernels were launched, and %zu copies or fills were asked for.",
                     describe(one, text), launches, others);
        verdict_why(verdict, "The struct goes with the launch: a kernel's parameters are copied "
                             "for it, structs as well.");
        verdict_hint(verdict, "Give the struct itself to the kernel, not its address, and let one "
                              "launch have threads for all elements.");
        return false;
    }
    if (one->evidence->device != DRIVE_EMULATOR || kernel->bytes <= enough * sizeof(float))
        return true;
    verdict_fail(verdict, one->evidence, kernel,
                 "For %s, elements were read or written %" PRIu64
                 " times in global memory; %" PRIu64 " are enough.",
                 describe(one, text), kernel->bytes / sizeof(float), enough);
    verdict_why(verdict, "Each element is read once and written once, and what lies between two "
                         "rows is nobody's.");
    verdict_hint(verdict, "Compare x with columns, not with stride, and y with rows.");
    return false;
}

static void judge_queue(struct verdict *verdict, const struct evidence *evidence)
{
    struct call one;
    if (!all_judgeable(verdict, evidence)) return;
    for (uint32_t i = 0; call_at(verdict, evidence, i, &one); i++)
        if (!queued(verdict, &one)) return;
}

/* ---- step 2 -------------------------------------------------------------------------------- */

/* "the offset of `code`" */
static const char *figure_name(size_t figure, char text[80])
{
    static const char *const fields[STRUCTS_LAYOUT_FIGURES] = {NULL,   NULL,     "letter", "weight",
                                                               "code", "colour", "data",   "last"};
    if (fields[figure] != NULL)
        snprintf(text, 80, _("the offset of `%s`"), fields[figure]);
    else
        snprintf(text, 80, "%s", figure == 0 ? _("the size") : _("the alignment"));
    return text;
}

static bool layout_right(struct verdict *verdict, const struct call *one, bool of_device)
{
    const uint64_t *figures = of_device ? one->given->device : one->given->host;
    const size_t figure = model_layout_differs(figures);
    uint64_t poison;
    char name[80];

    memset(&poison, DRIVE_POISON, sizeof poison);
    if (figure == MODEL_SAME) return true;
    if (verdict_causes(verdict, one->evidence)) return false;
    figure_name(figure, name);
    if (of_device)
        verdict_fail_in(verdict, one->evidence, one->answer.function,
                        "In the device's layout %s is given as %" PRIu64 ", and it is %" PRIu64 ".",
                        name, figures[figure], model_layout[figure]);
    else
        verdict_fail_in(verdict, one->evidence, one->answer.function,
                        "In the host's layout %s is given as %" PRIu64 ", and it is %" PRIu64 ".",
                        name, figures[figure], model_layout[figure]);
    if (figures[figure] == poison)
        verdict_why(verdict, "It is what was there before the call: nothing was written, or it "
                             "had not arrived when the function returned.");
    else
        verdict_why(verdict,
                    "A field begins at a multiple of its alignment, and the struct's size is a "
                    "multiple of the largest alignment in it: between fields, and at the end, "
                    "there is padding.");
    verdict_hint(verdict, "Ask the compiler: sizeof, alignof, offsetof, on the host and in the "
                          "kernel. The offsets are in the order of the fields.");
    return false;
}

static void judge_layout(struct verdict *verdict, const struct evidence *evidence)
{
    struct call one;
    for (uint32_t i = 0; call_at(verdict, evidence, i, &one); i++)
        if (!went_well(verdict, &one) || !layout_right(verdict, &one, false) ||
            !layout_right(verdict, &one, true))
            return;
}

static void judge_device_asked(struct verdict *verdict, const struct evidence *evidence)
{
    struct call one;
    judge_findings(verdict, evidence);
    if (verdict_failed(verdict)) return;
    for (uint32_t i = 0; call_at(verdict, evidence, i, &one); i++) {
        const struct trace_record *kernel = last_kernel(&one);
        if (!in_stream(verdict, &one)) return;
        if (kernel != NULL &&
            (evidence->device != DRIVE_EMULATOR || kernel->bytes >= STRUCTS_LAYOUT_FIGURES))
            continue;
        if (kernel == NULL)
            verdict_fail_in(verdict, evidence, one.answer.function, "No kernel was launched.");
        else
            verdict_fail(verdict, evidence, kernel, "The kernel has written less than a layout.");
        verdict_why(verdict, "What the host believes of the device's layout is not what the device "
                             "has: with other options, or another compiler, it is another one.");
        verdict_hint(verdict, "Let a kernel of one thread fill a struct structs_layout in device "
                              "memory, and copy that back.");
        return;
    }
}

/* ---- step 3 -------------------------------------------------------------------------------- */

/* Returns the factor, or its square, as it is where it has lost its sign or its upper bits, if that
 * is what made `after` of `before`; 0: it is not. */
static float cut_factor(int32_t factor, float before, float after)
{
    const float unsign = (float)(uint16_t)factor,
                cuts[] = {unsign, unsign * unsign, (float)(int16_t)(factor * factor),
                          (float)(uint16_t)(factor * factor)};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
        if (after == before * cuts[i] && cuts[i] != (float)factor &&
            cuts[i] != (float)(factor * factor))
            return cuts[i];
    return 0.0f;
}

static bool list_right(struct verdict *verdict, const struct call *one, uint32_t i)
{
    const struct structs_list *list =
        (const struct structs_list *)(const void *)(one->in->bytes + one->c->at) + i;
    const float *before = (const void *)(one->in->bytes + list->at),
                *after = (const void *)(one->out->bytes + list->at);
    const size_t k = model_list_differs(one->c, list, i, before, after);
    char text[160];

    if (k == MODEL_SAME) return true;
    if (verdict_causes(verdict, one->evidence)) return false;
    const float cut = cut_factor(list->factor, before[k], after[k]);
    verdict_fail(verdict, one->evidence, last_kernel(one),
                 "For %s, element %zu of array %u (of %u) is %.9g and must be %.9g.",
                 describe(one, text), k, i, list->length, (double)after[k],
                 (double)model_multiplied(one->c, list, i, before[k]));
    if (isinf(after[k]))
        verdict_why(verdict, "It was made of memory that nobody has filled: the elements have not "
                             "been copied to where the kernel reads them.");
    else if (after[k] == before[k])
        verdict_why(verdict, "It is what it was: no thread came to it, or it was not copied back.");
    else if (after[k] == before[k] * (float)list->factor)
        verdict_why(verdict, "It was multiplied once, and from array number `first` on it is to "
                             "be twice.");
    else if (after[k] == before[k] * (float)list->factor * (float)list->factor)
        verdict_why(verdict, "It was multiplied twice, and in front of array number `first` it is "
                             "to be once.");
    else if (cut != 0)
        verdict_why(verdict, "It was multiplied by %.0f, and the array's factor is %d.",
                    (double)cut, list->factor);
    if (isinf(after[k]))
        verdict_hint(verdict, "Copy the elements behind each cudaMalloc, in the given stream.");
    else if (cut != 0)
        verdict_hint(verdict, "A factor is an int16_t: it has a sign, and its square is longer. "
                              "Multiply the float by it, and once more where it is to be.");
    else
        verdict_hint(verdict, "A block to a struct, and a loop over its elements from threadIdx.x "
                              "in steps of blockDim.x; the second launch is given the address of "
                              "struct number `first` on the device.");
    return false;
}

static bool arrays_right(struct verdict *verdict, const struct call *one)
{
    for (uint32_t i = 0; i < one->c->count; i++)
        if (!list_right(verdict, one, i)) return false;
    return true;
}

static bool all_multiplied(struct verdict *verdict, const struct evidence *evidence)
{
    struct call one;
    for (uint32_t i = 0; call_at(verdict, evidence, i, &one); i++)
        if (!went_well(verdict, &one) || !arrays_right(verdict, &one)) return false;
    return !verdict_failed(verdict);
}

static void judge_multiplied(struct verdict *verdict, const struct evidence *evidence)
{
    (void)all_multiplied(verdict, evidence);
}

static void judge_spoilt(struct verdict *verdict, const struct evidence *evidence)
{
    struct call one;
    char text[160];
    for (uint32_t i = 0; call_at(verdict, evidence, i, &one); i++) {
        if (!answer_judgeable(verdict, &one.answer, values_checks[one.c->step])) return;
        if (one.given->spoilt == 0) continue;
        verdict_fail_in(verdict, evidence, one.answer.function,
                        "For %s, the caller's struct number %u is not what it was.",
                        describe(&one, text), one.given->spoilt - 1);
        verdict_why(verdict, "The pointers in the caller's structs are the host's, and the caller "
                             "goes on using them; a pointer to device memory in their place leads "
                             "nowhere.");
        verdict_hint(verdict, "Make structs for the device in memory of your own, and put the "
                              "device's pointers there.");
        return;
    }
}

/* Number and bytes of the copies between host and device in a phase. */
struct traffic {
    size_t to_device_count, to_host_count;
    uint64_t to_device, to_host;
    const struct trace_record *last_to_device, *last_to_host;
};

static bool on_host(uint32_t place)
{
    return place == TRACE_PAGEABLE || place == TRACE_PINNED;
}

static struct traffic traffic_of(const struct call *one)
{
    const struct query copies = {.phase = &one->phase, .kind = TRACE_OPERATION, .what = TRACE_COPY};
    struct traffic all = {0};
    for (const struct trace_record *r = NULL;
         (r = evidence_next(one->evidence, &copies, r)) != NULL;) {
        if (on_host(r->from)) {
            all.to_device_count++;
            all.to_device += r->bytes;
            all.last_to_device = r;
        } else if (on_host(r->to)) {
            all.to_host_count++;
            all.to_host += r->bytes;
            all.last_to_host = r;
        }
    }
    return all;
}

/* Checks that no more bytes were copied than necessary. */
static bool spares_copies(struct verdict *verdict, const struct call *one,
                          const struct traffic *traffic, uint64_t to_device, uint64_t to_host,
                          uint64_t gaps)
{
    const bool in = traffic->to_device > to_device + gaps;
    char text[160];

    if (!in && traffic->to_host <= to_host + gaps) return true;
    if (in)
        verdict_fail(verdict, one->evidence, traffic->last_to_device,
                     "For %s, %" PRIu64 " bytes were copied to the device, and there are %" PRIu64
                     " to copy.",
                     describe(one, text), traffic->to_device, to_device);
    else
        verdict_fail(verdict, one->evidence, traffic->last_to_host,
                     "For %s, %" PRIu64 " bytes were copied to the host, and there are %" PRIu64
                     " to copy.",
                     describe(one, text), traffic->to_host, to_host);
    return false;
}

/* Checks that kernels did the work, within the limits of launches and copies. */
static bool in_few_calls(struct verdict *verdict, const struct call *one,
                         const struct traffic *traffic, uint64_t elements)
{
    const struct query kernels = {
        .phase = &one->phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL};
    const size_t launches = evidence_count(one->evidence, &kernels),
                 copies = traffic->to_device_count + traffic->to_host_count,
                 most = (size_t)COPIES_PER_ARRAY * one->c->count;
    char text[160];

    if (elements > 0 && launches == 0) {
        verdict_fail_in(verdict, one->evidence, one->answer.function,
                        "For %s, no kernel was launched.", describe(one, text));
        verdict_why(verdict, "The elements are to be multiplied on the device.");
        verdict_hint(verdict, "Copy the structs with the device's pointers in them, and launch a "
                              "block for each.");
        return false;
    }
    if (launches > MOST_LAUNCHES) {
        verdict_fail(verdict, one->evidence, last_kernel(one),
                     "For %s, %zu kernels were launched; 2 are enough.", describe(one, text),
                     launches);
        verdict_why(verdict, "Each launch costs as much as thousands of products. For a block it "
                             "is nothing to find its own struct.");
        verdict_hint(verdict, "arrays[blockIdx.x], with as many blocks as there are structs.");
        return false;
    }
    if (copies <= most) return true;
    verdict_fail(verdict, one->evidence, traffic->last_to_device,
                 "For %s, there were %zu copies; %zu are enough.", describe(one, text), copies,
                 most);
    verdict_why(verdict, "Every copy costs some microseconds, however few bytes it brings.");
    verdict_hint(verdict, "The elements of an array lie side by side, and so do the structs: one "
                          "copy each.");
    return false;
}

static void judge_traffic(struct verdict *verdict, const struct evidence *evidence)
{
    struct call one;
    if (!all_judgeable(verdict, evidence)) return;
    for (uint32_t i = 0; call_at(verdict, evidence, i, &one); i++) {
        const struct structs_list *lists = (const void *)(one.in->bytes + one.c->at);
        const struct traffic traffic = traffic_of(&one);
        uint64_t elements = 0;
        for (uint32_t k = 0; k < one.c->count; k++) elements += lists[k].length;
        const uint64_t bytes = elements * sizeof(float), gaps = (uint64_t)GAP * (one.c->count + 1);
        if (!in_stream(verdict, &one) || !in_few_calls(verdict, &one, &traffic, elements)) return;
        if (spares_copies(verdict, &one, &traffic, bytes + (uint64_t)STRUCT_BYTES * one.c->count,
                          bytes, gaps))
            continue;
        verdict_why(verdict, "The way between host and device is far slower than either's memory.");
        verdict_hint(verdict, "What the first launch leaves on the device the second one finds "
                              "there; the structs need not come back at all.");
        return;
    }
}

/* ---- step 4 -------------------------------------------------------------------------------- */

static bool looks(const struct structs_case *c)
{
    return c->kernel <= STRUCTS_LOOK_LARGE;
}

/* Writes "0x01 02 03", as many bytes as the parameter has. */
static const char *bytes_in_words(const unsigned char *bytes, size_t count, char text[64])
{
    size_t used = 0;
    for (size_t i = 0; i < count && i < 16; i++)
        used += (size_t)snprintf(text + used, 64 - used, "%s%02x", i > 0 ? " " : "", bytes[i]);
    return text;
}

static bool seen_right(struct verdict *verdict, const struct call *one)
{
    const struct structs_case *c = one->c;
    const unsigned char *seen = one->out->bytes + c->at;
    const size_t i = model_seen_differs(c, one->in->bytes, seen);
    char text[160], is[64], must[64];
    size_t at = 0;

    if (i == MODEL_SAME) return true;
    if (verdict_causes(verdict, one->evidence)) return false;
    for (size_t k = 0; k < i; k++) at += c->given[k].size;
    verdict_fail(verdict, one->evidence, last_kernel(one),
                 "For %s, the kernel found the bytes %s in its parameter %zu (from 0), and the "
                 "value's are %s.",
                 describe(one, text), bytes_in_words(seen + at, c->given[i].size, is), i,
                 bytes_in_words(one->in->bytes + c->given[i].at, c->given[i].size, must));
    if (seen[0] == DRIVE_POISON && last_kernel(one) == NULL)
        verdict_why(verdict, "No kernel has run.");
    else if (model_seen_without_gaps(c, one->in->bytes, seen))
        verdict_why(verdict,
                    "That is what lies there when the parameters are packed end to end. "
                    "This one is looked for at byte %zu, the next multiple of its "
                    "alignment, %u.",
                    model_offset(&model_kernels[c->kernel], (unsigned)i), c->given[i].alignment);
    else
        verdict_why(verdict,
                    "The kernel looks for it at byte %zu of its parameters, and takes %u "
                    "bytes from there.",
                    model_offset(&model_kernels[c->kernel], (unsigned)i), c->given[i].size);
    verdict_hint(verdict, "In a buffer, round the offset up to the parameter's alignment before "
                          "each: offset = (offset + alignment - 1) / alignment * alignment. Or "
                          "give cuLaunchKernel an array of pointers to the values.");
    return false;
}

static void judge_seen(struct verdict *verdict, const struct evidence *evidence)
{
    const struct structs_input *in = evidence->input;
    struct call one;
    for (uint32_t i = 0; i < in->case_count; i++)
        if (looks(&in->cases[i]) && (!call_at(verdict, evidence, i, &one) ||
                                     !went_well(verdict, &one) || !seen_right(verdict, &one)))
            return;
}

static const char *way_name(unsigned way)
{
    static const char *const names[] = {"STRUCTS_VALUE", "STRUCTS_IN", "STRUCTS_OUT",
                                        "STRUCTS_INOUT"};
    return names[way & 3u];
}

/* The bytes that step 4 has to copy, and the number of arguments in device memory. */
static struct traffic needed(const struct structs_case *c, uint32_t *pointers)
{
    struct traffic least = {0};
    *pointers = 0;
    for (uint32_t k = 0; k < c->arguments; k++) {
        const struct structs_given *given = &c->given[k];
        if (given->way == MODEL_IN || given->way == MODEL_INOUT) least.to_device += given->size;
        if (given->way == MODEL_OUT || given->way == MODEL_INOUT) least.to_host += given->size;
        *pointers += given->way != MODEL_VALUE;
    }
    return least;
}

static void say_not_back(struct verdict *verdict, const struct call *one)
{
    uint32_t pointers;
    if (traffic_of(one).to_host < needed(one->c, &pointers).to_host)
        verdict_why(verdict, "It is what it was before the call: nothing was copied back.");
    else
        verdict_why(verdict, "It is what it was before the call: the copy back was asked for, and "
                             "had not arrived when the function returned. Who waits for the "
                             "stream?");
}

static bool argument_right(struct verdict *verdict, const struct call *one, uint32_t i)
{
    const struct structs_case *c = one->c;
    const struct structs_given *given = &c->given[i];
    const size_t at = model_argument_differs(c, i, one->in->bytes, one->out->bytes);
    const unsigned char *before = one->in->bytes + given->at, *after = one->out->bytes + given->at;
    char text[160];

    if (at == MODEL_SAME) return true;
    if (verdict_causes(verdict, one->evidence)) return false;
    verdict_fail(verdict, one->evidence, last_kernel(one),
                 "For %s, argument %u (from 0), %s, of %u bytes, is not right from byte %zu on.",
                 describe(one, text), i, way_name(given->way), given->size, at);
    if (model_came_back(c, i, one->out->bytes))
        verdict_why(verdict, "It is what the kernel has left there: what is only given was copied "
                             "back, or the kernel was given the host's own memory.");
    else if (given->way != MODEL_IN && memcmp(before, after, given->size) == 0)
        say_not_back(verdict, one);
    else if (given->way == MODEL_INOUT)
        verdict_why(verdict, "The kernel reads it and writes it: it has to be copied there and "
                             "back.");
    verdict_hint(verdict, "STRUCTS_IN is copied to the device before the launch, STRUCTS_OUT from "
                          "it afterwards, STRUCTS_INOUT both; each has its size in bytes.");
    return false;
}

static void judge_arguments(struct verdict *verdict, const struct evidence *evidence)
{
    struct call one;
    for (uint32_t i = 0; call_at(verdict, evidence, i, &one); i++) {
        if (looks(one.c)) {
            if (!answer_judgeable(verdict, &one.answer, values_checks[STRUCTS_STEP_CALL])) return;
            continue;
        }
        if (!went_well(verdict, &one)) return;
        for (uint32_t k = 0; k < one.c->arguments; k++)
            if (!argument_right(verdict, &one, k)) return;
    }
}

static void judge_call_traffic(struct verdict *verdict, const struct evidence *evidence)
{
    struct call one;
    char text[160];
    if (!all_judgeable(verdict, evidence)) return;
    for (uint32_t i = 0; call_at(verdict, evidence, i, &one); i++) {
        const struct query kernels = {
            .phase = &one.phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL};
        const size_t launches = evidence_count(evidence, &kernels);
        const struct traffic traffic = traffic_of(&one);
        uint32_t pointers;
        const struct traffic least = needed(one.c, &pointers);
        if (!in_stream(verdict, &one)) return;
        if (launches != 1) {
            verdict_fail(verdict, evidence, last_kernel(&one), "For %s, %zu kernels were launched.",
                         describe(&one, text), launches);
            verdict_why(verdict, "The kernel is called once.");
            verdict_hint(verdict, "One cuLaunchKernel with all parameters.");
            return;
        }
        if (spares_copies(verdict, &one, &traffic, least.to_device, least.to_host,
                          (uint64_t)GAP * pointers))
            continue;
        verdict_why(verdict, "That is what the three ways are for: what the kernel does not read "
                             "need not go, and what it does not write need not come back.");
        verdict_hint(verdict, "Copy to the device what is STRUCTS_IN or STRUCTS_INOUT, and from it "
                              "what is STRUCTS_OUT or STRUCTS_INOUT.");
        return;
    }
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
    const struct structs_input *in = evidence->input;
    const struct structs_output *out = evidence->output;
    uint32_t index = 0;
    const bool known = failures_find(evidence, STRUCTS_PHASE_CALL, failed, phase, &index) &&
                       index < in->case_count;
    if (!known) index = 0;
    const uint32_t step = in->cases[index].step;
    return (struct answer){.evidence = evidence,
                           .phase = known ? phase : NULL,
                           .function = functions[step],
                           .api = step == STRUCTS_STEP_CALL ? ANSWER_DRIVER : ANSWER_RUNTIME,
                           .code = out->answers[index].status};
}

static bool is_right_all_the_same(const struct evidence *evidence)
{
    const struct structs_input *in = evidence->input;
    const struct structs_output *out = evidence->output;
    const bool without_context = failures_lose_context(evidence);
    for (uint32_t i = 0; i < in->case_count; i++) {
        if (out->answers[i].lost != 0 && without_context) continue;
        if (!model_right(in, out, i, without_context)) return false;
    }
    return true;
}

static void judge_each_failure(struct verdict *verdict, const struct evidence *evidence)
{
    static const struct failures_contract contract = {.advice = true,
                                                      .waits = true,
                                                      .api = ANSWER_RUNTIME,
                                                      .answer = answer_to_failure,
                                                      .right = is_right_all_the_same};
    struct call one;
    for (uint32_t i = 0; call_at(verdict, evidence, i, &one); i++)
        if (!went_well(verdict, &one)) return;
    if (!verdict_failed(verdict)) failures_judge(verdict, evidence, &contract);
}

static void judge_time(struct verdict *verdict, const struct evidence *evidence)
{
    const struct evidence *repeats = evidence->repeats != NULL ? evidence->repeats : evidence;
    for (size_t r = 0; r < evidence->repeat_count; r++)
        if (!all_multiplied(verdict, &repeats[r])) return;
    verdict_time_ratio(verdict, evidence);
    if (verdict_failed(verdict))
        verdict_hint(verdict, "One copy for an array in each direction, one wait for all, and "
                              "threads enough for the elements of an array.");
}

static const struct check checks[] = {
    {"EveryElementIsDoubled", "double", CHECK_ORDER,
     "step 1: 4 x 4, 5 x 5, and matrices with memory between their rows", judge_doubled},
    {"AccessesStayInside", "double", CHECK_EMULATOR_ONLY,
     "step 1: nothing beyond the matrix is touched", judge_findings},
    {"OneLaunchInTheGivenStream", "double", 0,
     "step 1: the struct goes with the launch; each element is read and written once", judge_queue},
    {"BothSidesHaveTheSameLayout", "layout", CHECK_ORDER,
     "step 2: size, alignment and offsets, padding included", judge_layout},
    {"TheDeviceIsAsked", "layout", 0, "step 2: by a kernel in the given stream",
     judge_device_asked},
    {"EveryArrayIsMultiplied", "arrays", CHECK_ORDER,
     "step 3: all once, and from one on twice, there on return", judge_multiplied},
    {"TheCallersStructsStayAsTheyWere", "arrays", 0, "step 3: no device pointer gets into them",
     judge_spoilt},
    {"PointersLeadToTheDevice", "arrays", CHECK_EMULATOR_ONLY,
     "step 3: kernels follow the device's pointers, and stay inside", judge_findings},
    {"EachArrayTravelsOnce", "arrays", 0,
     "step 3: few copies, two launches, no byte twice, in the given stream", judge_traffic},
    {"EveryValueArrives", "call", 0, "step 4: each parameter where the kernel looks for it",
     judge_seen},
    {"InAndOutAreKeptApart", "call", CHECK_ORDER,
     "step 4: what is to come back does, and only that", judge_arguments},
    {"ArgumentsAreInOrder", "call", CHECK_EMULATOR_ONLY,
     "step 4: the kernel's pointers are right, and nothing is used too early", judge_findings},
    {"NothingTravelsInVain", "call", 0, "step 4: by counted bytes, in the given stream",
     judge_call_traffic},
    {"NothingLeaks", "injections", CHECK_EMULATOR_ONLY, "what is made is given back", judge_leaks},
    {FAILURES_CHECK, FAILURES_RUN, CHECK_EMULATOR_ONLY,
     "each call that can fail does so once, and is returned", judge_each_failure},
    {"AsFastAsTheReference", "time", 0, "step 3, against the reference", judge_time},
    {0},
};

static const struct hint hints[] = {
#include "grader/lessons/11_structs/hints.def"
    {0},
};

const struct lesson lesson_11_structs = {
    .number = 11,
    .folder = "11_structs",
    .suite = "Structs",
    .function = "structs_double",
    .files = (const char *const[]){"structs.cu", NULL},
    .parts = (const char *const[]){"11_structs_drive", NULL},
    .runs = runs,
    .checks = checks,
    .hints = hints,
};
