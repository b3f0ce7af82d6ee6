/* The judge of lesson 14: every cell right, in every order and with devices that do not reach each
 * other; each band on its device, only border rows between them, no wait of the host's; access
 * enabled where it is asked for and possible, and nowhere else. */
#include "grader/evidence/judge.h"
#include "grader/base/messages.h"
#include "grader/evidence/failures.h"
#include "grader/evidence/phases.h"
#include "grader/evidence/queued.h"
#include "grader/evidence/waits.h"
#include "grader/lessons/14_devices/parts.h"
#include "kernels/stencil.h"
#include "trace/gpus.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELL sizeof(int32_t)
#define VALUES_CHECK "Devices.EveryCellIsRight" /* reports why devices_steps failed */
#define LINK_CHECK "Devices.NeighboursReachEachOther"

#define GPU(name) #name,
static const char *const gpus[] = {GPUS(GPU)};
#undef GPU
#define GPU(name) GPU_##name,
enum { GPUS(GPU) };
#undef GPU

/* GPUs of which two reach each other, and one of which two do not. */
static const uint32_t linked_gpus[] = {GPU_h100, GPU_h200, GPU_a100, GPU_t4};
enum { LINKED_GPUS = sizeof linked_gpus / sizeof *linked_gpus };

/* ---- the runs ------------------------------------------------------------------------------- */

static uint32_t draw(struct run_input *input, int64_t low, int64_t high)
{
    return (uint32_t)random_between(input->random, low, high);
}

/* Returns how many devices a run uses; on a GPU at most as many as there are, of which it takes as
 * few as will do. */
static uint32_t devices_for(const struct run_input *input, uint32_t wanted)
{
    if (input->device != DRIVE_GPU) return wanted;
    const uint32_t there = input->gpus > 0 ? input->gpus : 1; /* 0: not known */
    return there < wanted ? there : wanted;
}

/* Makes the software device's list of devices from their kinds. */
static void list_devices(struct run_input *input, const struct devices_input *in)
{
    size_t used = 0;
    for (uint32_t i = 0; i < in->there; i++)
        used += (size_t)snprintf(input->devices + used, sizeof input->devices - used, "%s%s",
                                 i > 0 ? "," : "", gpus[in->kinds[i]]);
}

/* Gives the calls their grids, and draws the cells. */
static int prepare(struct run_input *input, const struct devices_input *plan)
{
    uint64_t cells = 0;
    for (uint32_t i = 0; i < plan->call_count; i++)
        cells += (uint64_t)plan->calls[i].rows * plan->calls[i].columns;
    struct devices_input *in = run_input_allocate(input, sizeof *in + cells * CELL);
    if (in == NULL) return -1;
    *in = *plan;
    for (uint32_t i = 0; i < in->call_count; i++) {
        in->calls[i].offset = in->cell_count;
        in->cell_count += (uint64_t)in->calls[i].rows * in->calls[i].columns;
    }
    for (uint64_t i = 0; i < cells; i++)
        in->cells[i] = (int32_t)random_below(input->random, STENCIL_MODULUS);
    if (input->device != DRIVE_GPU) list_devices(input, in);
    input->output_size = sizeof(struct devices_output) + cells * CELL;
    return 0;
}

/* The devices of the run "values": three of a kind in some order, the first of them never number 0,
 * and the odd one, which none of them reaches. Those behind these four are for one call, with more
 * devices than a table of 4 or 8 has room for. */
#define CAST 4

struct cast {
    uint32_t of_a_kind[3], odd;
};

static struct cast draw_cast(struct run_input *input, struct devices_input *in)
{
    struct cast cast = {.odd = draw(input, 0, CAST - 1)};
    const uint32_t kind = linked_gpus[draw(input, 0, LINKED_GPUS - 1)];
    uint32_t count = 0;
    in->there = DEVICES_MOST;
    for (uint32_t i = 0; i < DEVICES_MOST; i++) {
        in->kinds[i] = i == cast.odd ? GPU_rtx4060 : kind;
        if (i < CAST && i != cast.odd) cast.of_a_kind[count++] = i;
    }
    /* Not in their order: the last one first, or the second. */
    const uint32_t first = draw(input, 1, 2), kept = cast.of_a_kind[0];
    cast.of_a_kind[0] = cast.of_a_kind[first];
    cast.of_a_kind[first] = kept;
    return cast;
}

#define LIST(...) __VA_ARGS__
#define LINK_CALL(devices_, count_, current_, ...)                                                 \
    {                                                                                              \
        .what = DEVICES_LINK, .count = (count_), .devices = {devices_},                            \
        .current = (int32_t)(current_), __VA_ARGS__                                                \
    }
#define STEPS_CALL(devices_, count_, current_, rows_, steps_, ...)                                 \
    {                                                                                              \
        .what = DEVICES_STEPS, .count = (count_), .devices = {devices_},                           \
        .current = (int32_t)(current_), .rows = (rows_), .columns = draw(input, 65, 130),          \
        .steps = (steps_), __VA_ARGS__                                                             \
    }

static void set_calls(struct devices_input *in, const struct devices_call *calls, size_t count)
{
    memcpy(in->calls, calls, count * sizeof *calls);
    in->call_count = (uint32_t)count;
}

/* A GPU with one device has the bands of one device only. */
static int prepare_values_on_gpu(struct run_input *input)
{
    struct devices_input in = {.there = devices_for(input, 3)};
    const int32_t last = (int32_t)in.there - 1;
    const uint32_t count = in.there;
    const struct devices_call calls[] = {
        LINK_CALL(LIST(last, 0, 1), count, 0, .again = 1),
        LINK_CALL(LIST(0, last), count > 1 ? 2 : 1, last, .enabled = {count > 1 ? 1u << last : 0}),
        STEPS_CALL(LIST(last, 0, 1), count, 0, 3 * count + 1 + draw(input, 0, 1), draw(input, 4, 5),
                   .again = 1),
        STEPS_CALL(LIST(last, 0, 1), count, last, count, draw(input, 3, 4), .enabled = {1}),
        STEPS_CALL(LIST(last), 1, 0, draw(input, 5, 9), 3, .again = 0),
        STEPS_CALL(LIST(last, 0, 1), count, 0, draw(input, 5, 9), 0, .again = 1),
    };
    set_calls(&in, calls, sizeof calls / sizeof *calls);
    return prepare(input, &in);
}

static int prepare_values(struct run_input *input)
{
    struct devices_input in = {0};
    if (input->device == DRIVE_GPU) return prepare_values_on_gpu(input);
    const struct cast cast = draw_cast(input, &in);
    const int32_t a = (int32_t)cast.of_a_kind[0], b = (int32_t)cast.of_a_kind[1],
                  c = (int32_t)cast.of_a_kind[2], odd = (int32_t)cast.odd;
    uint32_t before[DEVICES_MOST] = {0};
    before[a] = 1u << b | 1u << c;
    const struct devices_call calls[] = {
        LINK_CALL(LIST(a, b, c), 3, odd, .again = 1),
        LINK_CALL(LIST(a, odd, b), 3, b, .again = 0),
        LINK_CALL(LIST(b, a), 2, odd, .enabled = {before[0], before[1], before[2], before[3]}),
        LINK_CALL(LIST(c), 1, a, .again = 0),
        STEPS_CALL(LIST(a, b, c), 3, odd, 3 * draw(input, 2, 3) + draw(input, 1, 2),
                   draw(input, 4, 5), .again = 1, .enabled = {draw(input, 0, 1)}),
        STEPS_CALL(LIST(b, odd, a), 3, c, draw(input, 5, 8), draw(input, 2, 3), .again = 0),
        STEPS_CALL(LIST(c, a, odd, b), 4, a, 4, draw(input, 4, 5), .enabled = {1}),
        STEPS_CALL(LIST(a), 1, c, draw(input, 3, 7), draw(input, 2, 3), .again = 0),
        STEPS_CALL(LIST(a, c), 2, b, draw(input, 3, 6), 1, .again = 0),
        STEPS_CALL(LIST(c, b), 2, a, draw(input, 3, 6), 0, .again = 1),
        STEPS_CALL(LIST(c, 8, a, 4, odd, 7, 5, b, 6), 9, a, draw(input, 9, 12), 2, .again = 0),
    };
    set_calls(&in, calls, sizeof calls / sizeof *calls);
    return prepare(input, &in);
}

static int prepare_each_failure(struct run_input *input)
{
    const uint32_t kind = linked_gpus[draw(input, 0, LINKED_GPUS - 1)];
    struct devices_input in = {.there = 2, .kinds = {kind, kind}};
    const struct devices_call calls[] = {
        LINK_CALL(LIST(1, 0), 2, 0, .again = 0),
        STEPS_CALL(LIST(1, 0), 2, 0, 5, 3, .again = 0),
    };
    set_calls(&in, calls, sizeof calls / sizeof *calls);
    return prepare(input, &in);
}

/* The first call warms up. The rows are so long that a step takes longer than asking for it. */
static int prepare_large(struct run_input *input, uint32_t timed)
{
    const bool gpu = input->device == DRIVE_GPU;
    struct devices_input in = {.there = devices_for(input, 3)};
    const int32_t last = (int32_t)in.there - 1;
    const uint32_t count = in.there;
    const struct devices_call calls[] = {
        STEPS_CALL(LIST(last, 0, 1), count, 0, 2 * count + 1, 2, .again = 0),
        STEPS_CALL(LIST(last, 0, 1), count, 0, (gpu ? 4 : 3) * count + 1, gpu ? 20 : 5,
                   .timed = timed),
    };
    set_calls(&in, calls, sizeof calls / sizeof *calls);
    in.calls[1].columns = gpu ? 65000 + draw(input, 0, 500) : 5000 + draw(input, 0, 50);
    for (uint32_t i = 0; i < in.there; i++) in.kinds[i] = GPU_h200;
    return prepare(input, &in);
}

static int prepare_beside(struct run_input *input)
{
    return prepare_large(input, 0);
}

static int prepare_timed(struct run_input *input)
{
    return prepare_large(input, 1);
}

static const struct run_plan runs[] = {
    {.name = "values", .flags = RUN_ON_BOTH | RUN_IN_EVERY_ORDER, .prepare = prepare_values},
    {.name = "beside", .flags = RUN_ON_BOTH | RUN_ALONE, .prepare = prepare_beside},
    {.name = "timed",
     .flags = RUN_ON_BOTH | RUN_TIMED | RUN_THREADS,
     .prepare = prepare_timed,
     .phase = DEVICES_PHASE_TIME,
     .threshold = &threshold_devices},
    FAILURES_PLAN(prepare_each_failure),
    {0},
};

/* ---- what came back ------------------------------------------------------------------------- */

static const char *function_of(const struct devices_call *call)
{
    return call->what == DEVICES_LINK ? DEVICES_LINK_FUNCTION : DEVICES_STEPS_FUNCTION;
}

/* Fills in all but the phase. */
static void look(const struct evidence *evidence, uint32_t index, struct devices_view *view)
{
    const struct devices_input *in = evidence->input;
    const struct devices_output *out = evidence->output;
    *view = (struct devices_view){.evidence = evidence,
                                  .in = in,
                                  .out = out,
                                  .call = &in->calls[index],
                                  .given = &out->answers[index],
                                  .index = index,
                                  .answer = {.evidence = evidence,
                                             .phase = &view->phase,
                                             .function = function_of(&in->calls[index]),
                                             .api = ANSWER_RUNTIME,
                                             .code = out->answers[index].status}};
}

bool devices_next(struct verdict *verdict, const struct evidence *evidence, enum devices_what what,
                  uint32_t *index, struct devices_view *view)
{
    const struct devices_input *in = evidence->input;

    while (*index < in->call_count && in->calls[*index].what != what) ++*index;
    if (*index == in->call_count) return false;
    look(evidence, (*index)++, view);
    if (view->given->lost == 1) {
        queued_say_lost(verdict, evidence, view->answer.function);
        return false;
    }
    const bool timed = view->call->timed != 0;
    return phases_get(verdict, evidence, timed ? DEVICES_PHASE_TIME : DEVICES_PHASE_CALL,
                      timed ? 0 : view->index, &view->phase);
}

bool devices_judgeable(struct verdict *verdict, const struct evidence *evidence,
                       enum devices_what what)
{
    struct devices_view view;
    for (uint32_t i = 0; devices_next(verdict, evidence, what, &i, &view);)
        if (!answer_judgeable(verdict, &view.answer,
                              what == DEVICES_LINK ? LINK_CHECK : VALUES_CHECK))
            return false;
    return !verdict_failed(verdict);
}

const char *devices_words(const struct devices_view *view, char words[DEVICES_WORDS])
{
    const struct devices_call *call = view->call;
    char list[48];
    size_t used = 0;
    for (uint32_t i = 0; i < call->count; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%d", i > 0 ? ", " : "",
                                 call->devices[i]);
    if (call->what == DEVICES_LINK)
        snprintf(words, DEVICES_WORDS, _("devices {%s}"), list);
    else
        snprintf(words, DEVICES_WORDS, _("a grid of %u x %u, %u steps and devices {%s}"),
                 call->rows, call->columns, call->steps, list);
    return words;
}

bool devices_too_few(struct verdict *verdict, const struct evidence *evidence)
{
    const struct devices_input *in = evidence->input;
    if (in->there > 1) return false;
    verdict_pass_over(verdict, _("It takes two devices, and there is one GPU here."));
    return true;
}

struct stencil_grid devices_grid(const struct devices_view *view)
{
    return (struct stencil_grid){view->call->rows, view->call->columns, view->call->count,
                                 view->in->cells + view->call->offset};
}

/* ---- values --------------------------------------------------------------------------------- */

/* Returns true for what the drive puts into the output beforehand. */
static bool is_untouched(int32_t cell)
{
    int32_t untouched;
    memset(&untouched, DRIVE_POISON, sizeof untouched);
    return cell == untouched;
}

/* Says where the first wrong cell is. */
static void say_wrong(struct verdict *verdict, const struct devices_view *view, size_t first,
                      int32_t must, size_t wrong)
{
    const struct stencil_grid grid = devices_grid(view);
    const int32_t *found = view->out->cells + view->call->offset;
    const uint32_t row = (uint32_t)(first / grid.columns),
                   column = (uint32_t)(first % grid.columns);
    uint32_t band = 0;
    char words[DEVICES_WORDS];

    while (stencil_first_row(&grid, band + 1) <= row) band++;
    const uint32_t begin = stencil_first_row(&grid, band), end = stencil_first_row(&grid, band + 1);
    if (is_untouched(found[first]))
        verdict_fail(verdict, view->evidence, queued_last_kernel(view->evidence, &view->phase),
                     "For %s: cell (%u, %u) of the output was never written. It is in row %u of "
                     "the %u rows of band %u, which is device %d's.",
                     devices_words(view, words), row, column, row - begin, end - begin, band,
                     view->call->devices[band]);
    else
        verdict_fail(verdict, view->evidence, queued_last_kernel(view->evidence, &view->phase),
                     "For %s: cell (%u, %u) is %" PRId32 " and must be %" PRId32
                     "; %zu of %zu cells are wrong. It is in row %u of the %u rows of band %u, "
                     "which is device %d's.",
                     devices_words(view, words), row, column, found[first], must, wrong,
                     (size_t)grid.rows * grid.columns, row - begin, end - begin, band,
                     view->call->devices[band]);
}

/* Returns what the call is to make, to be freed; NULL: no memory. */
static int32_t *expected_of(const struct devices_view *view)
{
    struct stencil_grid grid = devices_grid(view);
    grid.bands = 1;
    return stencil_steps(&grid, view->call->steps, STENCIL_EACH_STEP);
}

static bool grid_right(struct verdict *verdict, const struct devices_view *view)
{
    const struct stencil_grid grid = devices_grid(view);
    const int32_t *found = view->out->cells + view->call->offset;
    const size_t cells = (size_t)grid.rows * grid.columns;
    int32_t *expected = expected_of(view);
    size_t wrong = 0;

    if (expected == NULL) {
        verdict_skip(verdict, "no memory to compare with");
        return false;
    }
    const ptrdiff_t first = judge_first_difference(found, expected, cells, CELL);
    for (size_t i = 0; i < cells; i++) wrong += found[i] != expected[i];
    const int32_t must = first < 0 ? 0 : expected[first];
    free(expected);
    if (first < 0) return true;
    if (verdict_causes(verdict, view->evidence)) return false;
    say_wrong(verdict, view, (size_t)first, must, wrong);
    const char *why = stencil_explain(&grid, view->call->steps, found);
    if (why != NULL) verdict_why(verdict, "%s", _(why));
    if (view->call->steps == 0)
        verdict_hint(verdict, "With no steps output is what input is.");
    else if (is_untouched(found[first]))
        verdict_hint(verdict, "Each device copies the rows of its band to where they lie in "
                              "output; the bands together are the whole grid.");
    else
        verdict_hint(verdict, "A band's array has two rows more than the band: the neighbours' "
                              "rows, new in each step, or zeros at the grid's edge. Step s reads "
                              "one array and writes the other, and the result is in the one that "
                              "was written last.");
    return false;
}

/* Returns true when the call succeeded, left its input alone, and made the right grid. */
static bool steps_right(struct verdict *verdict, const struct devices_view *view)
{
    char words[DEVICES_WORDS];
    if (!queued_went_well(verdict, &view->answer, view->given->later, view->given->remembered,
                          view->index, devices_words(view, words),
                          N_("Are the arrays two rows higher than the band, and is each copy as "
                             "long as what it copies?")))
        return false;
    if (view->given->changed != 0) {
        verdict_fail_in(verdict, view->evidence, DEVICES_STEPS_FUNCTION,
                        "For %s: the input is not as it was.", devices_words(view, words));
        verdict_why(verdict, "It is the caller's, who may need it again.");
        verdict_hint(verdict, "The steps are made in device memory; only output is written.");
        return false;
    }
    return grid_right(verdict, view);
}

static bool all_steps_right(struct verdict *verdict, const struct evidence *evidence)
{
    struct devices_view view;
    for (uint32_t i = 0; devices_next(verdict, evidence, DEVICES_STEPS, &i, &view);)
        if (!steps_right(verdict, &view)) return false;
    return !verdict_failed(verdict);
}

static void judge_values(struct verdict *verdict, const struct evidence *evidence)
{
    (void)all_steps_right(verdict, evidence);
}

static void judge_arrival(struct verdict *verdict, const struct evidence *evidence)
{
    struct devices_view view;
    for (uint32_t i = 0; devices_next(verdict, evidence, DEVICES_STEPS, &i, &view);) {
        if (!answer_written(verdict, &view.answer)) return;
        if (waits_say_left(verdict, evidence, &view.phase, DEVICES_STEPS_FUNCTION, "")) return;
    }
    if (!verdict_failed(verdict)) (void)all_steps_right(verdict, evidence);
}

static void judge_findings(struct verdict *verdict, const struct evidence *evidence)
{
    struct devices_view view;
    uint32_t i = 0;
    if (!devices_next(verdict, evidence, DEVICES_STEPS, &i, &view) ||
        !answer_written(verdict, &view.answer))
        return;
    verdict_findings(verdict, evidence, NULL);
    verdict_advice(verdict, evidence);
    waits_say_unpromised_in(verdict, evidence, DEVICES_PHASE_CALL, DEVICES_STEPS_FUNCTION);
}

/* ---- what is left --------------------------------------------------------------------------- */

/* Returns the student's last cudaSetDevice in the phase, or NULL. */
static const struct trace_record *last_set(const struct evidence *evidence,
                                           const struct phase *phase)
{
    const struct query calls = {
        .phase = phase, .kind = TRACE_CALL, .name = "cudaSetDevice", .student = true};
    const struct trace_record *call = NULL, *last = NULL;
    while ((call = evidence_next(evidence, &calls, call)) != NULL) last = call;
    return last;
}

/* Returns true when the current device is as it was. `before` begins the sentence: "", or the call
 * that was made to fail. */
static bool device_kept(struct verdict *verdict, const struct devices_view *view,
                        const struct trace_record *at, const char *before)
{
    char words[DEVICES_WORDS];
    if (view->given->current == view->call->current) return true;
    verdict_fail(verdict, view->evidence, at != NULL ? at : last_set(view->evidence, &view->phase),
                 "%sFor %s: device %d was current before the call of %s, and device %d is "
                 "afterwards.",
                 before, devices_words(view, words), view->call->current, view->answer.function,
                 view->given->current);
    verdict_why(verdict, "What the caller allocates and launches next goes to another device, and "
                         "nobody has asked for that.");
    verdict_hint(verdict, "cudaGetDevice(&before) at the beginning, cudaSetDevice(before) on every "
                          "path out of the function.");
    return false;
}

static void judge_current(struct verdict *verdict, const struct evidence *evidence)
{
    struct devices_view view;
    for (int what = DEVICES_LINK; what <= DEVICES_STEPS; what++)
        for (uint32_t i = 0; devices_next(verdict, evidence, what, &i, &view);)
            if (!answer_written(verdict, &view.answer) || !device_kept(verdict, &view, NULL, ""))
                return;
    if (!verdict_failed(verdict)) (void)devices_too_few(verdict, evidence);
}

static void judge_leaks(struct verdict *verdict, const struct evidence *evidence)
{
    struct devices_view view;
    for (uint32_t i = 0;
         devices_next(verdict, evidence, DEVICES_STEPS, &i, &view) && !verdict_failed(verdict);)
        if (view.given->status == 0) verdict_leaks(verdict, evidence, &view.phase);
    if (!verdict_failed(verdict)) (void)devices_judgeable(verdict, evidence, DEVICES_STEPS);
}

/* ---- each call made to fail ----------------------------------------------------------------- */

static struct answer answer_to_failure(const struct evidence *evidence,
                                       const struct trace_record *failed, struct phase *phase)
{
    const struct devices_input *in = evidence->input;
    const struct devices_output *out = evidence->output;
    uint32_t index = 0;
    const bool known = failures_find(evidence, DEVICES_PHASE_CALL, failed, phase, &index) &&
                       index < in->call_count;
    if (!known) index = 0;
    return (struct answer){.evidence = evidence,
                           .phase = known ? phase : NULL,
                           .function = function_of(&in->calls[index]),
                           .api = ANSWER_RUNTIME,
                           .code = out->answers[index].status};
}

static bool call_right(const struct evidence *evidence, uint32_t index)
{
    struct devices_view view;
    look(evidence, index, &view);
    const bool unseen = view.given->later != 0 && failures_lose_context(evidence);
    if (view.given->lost != 0) return failures_lose_context(evidence);
    if (view.given->status != 0 || (view.given->later != 0 && !unseen)) return false;
    if (view.call->what == DEVICES_LINK) return unseen || devices_linked_right(&view);
    int32_t *expected = expected_of(&view);
    const size_t bytes = (size_t)view.call->rows * view.call->columns * CELL;
    const bool same =
        expected != NULL && memcmp(expected, view.out->cells + view.call->offset, bytes) == 0;
    free(expected);
    return same;
}

static bool is_right_all_the_same(const struct evidence *evidence)
{
    const struct devices_input *in = evidence->input;
    for (uint32_t i = 0; i < in->call_count; i++)
        if (!call_right(evidence, i)) return false;
    return true;
}

/* A cudaSetDevice that fails at the end leaves nothing that could be done. */
static void keeps_the_device(struct verdict *verdict, const struct evidence *evidence,
                             const struct answer *answer, const struct trace_record *failed,
                             const char *before)
{
    char sentence[420];
    struct devices_view view;
    if (answer->phase == NULL || failed == last_set(evidence, answer->phase)) return;
    snprintf(sentence, sizeof sentence, "%s. ", before);
    for (int what = DEVICES_LINK; what <= DEVICES_STEPS; what++)
        for (uint32_t i = 0; devices_next(verdict, evidence, what, &i, &view);)
            if (strcmp(view.answer.function, answer->function) == 0 &&
                !device_kept(verdict, &view, failed, sentence))
                return;
}

static void judge_each_failure(struct verdict *verdict, const struct evidence *evidence)
{
    static const struct failures_contract contract = {.advice = true,
                                                      .api = ANSWER_RUNTIME,
                                                      .answer = answer_to_failure,
                                                      .right = is_right_all_the_same,
                                                      .more = keeps_the_device,
                                                      .waits = true};
    if (devices_judgeable(verdict, evidence, DEVICES_LINK) &&
        devices_judgeable(verdict, evidence, DEVICES_STEPS))
        failures_judge(verdict, evidence, &contract);
}

/* ---- time ----------------------------------------------------------------------------------- */

static void judge_time(struct verdict *verdict, const struct evidence *evidence)
{
    for (size_t i = 0; i < evidence->repeat_count; i++)
        if (!all_steps_right(verdict, &evidence->repeats[i])) return;
    verdict_time_ratio(verdict, evidence);
    if (verdict_failed(verdict))
        verdict_hint(verdict,
                     "Devices.DevicesWorkSideBySide says whether the devices wait for "
                     "each other. If they do not: is a step one launch for each device? Is "
                     "anything made anew in it, or moved that could stay?");
}

/* A finding names two places and is the cause of a wrong value, so its check comes first. */
static const struct check checks[] = {
    {"NeighboursReachEachOther", "values", CHECK_ORDER,
     "access in both directions, between neighbours", devices_judge_linked},
    {"NothingElseIsEnabled", "values", CHECK_ORDER,
     "no access between others, and none asked for in vain", devices_judge_nothing_else},
    {"AccessAlreadyEnabledIsNoError", "values", CHECK_ORDER,
     "neither returned nor left behind for the next who asks", devices_judge_already},
    {"TheDeviceFindsNothingWrong", "values", CHECK_EMULATOR_ONLY,
     "no row is read before it is there, or overwritten while it is read", judge_findings},
    {"EveryCellIsRight", "values", CHECK_EARLIEST, "the grid is that of one device", judge_values},
    {"ResultsHaveArrivedOnReturn", "values", CHECK_ORDER,
     "devices wait for each other, and the host for all of them", judge_arrival},
    {"EveryDeviceHasItsBand", "values", CHECK_ORDER, "band i is worked on by devices[i]",
     devices_judge_bands},
    {"OnlyBordersMove", "values", CHECK_ORDER, "one row, from device to device",
     devices_judge_borders},
    {"TheHostDoesNotWaitBetweenSteps", "values", CHECK_ORDER, "streams wait for events instead",
     devices_judge_waits},
    {"TheCurrentDeviceIsKept", "values", CHECK_ORDER, "both functions put it back", judge_current},
    {"NothingLeaks", "values", CHECK_ORDER, "on no device", judge_leaks},
    {FAILURES_CHECK, FAILURES_RUN, CHECK_EMULATOR_ONLY,
     "each call that can fail does so once, and is returned", judge_each_failure},
    {"DevicesWorkSideBySide", "beside", CHECK_ORDER, "several devices are busy at the same time",
     devices_judge_side_by_side},
    {"AsFastAsTheReference", "timed", 0, "no time is lost against the reference solution",
     judge_time},
    {0},
};

static const struct hint hints[] = {
#include "grader/lessons/14_devices/hints.def"
    {0}};

const struct lesson lesson_14_devices = {
    .number = 14,
    .folder = "14_devices",
    .suite = "Devices",
    .function = DEVICES_STEPS_FUNCTION,
    .files = (const char *const[]){"devices.c", NULL},
    .parts = (const char *const[]){"14_devices_drive", "stencil", NULL},
    .runs = runs,
    .checks = checks,
    .hints = hints,
};
