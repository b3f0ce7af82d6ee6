/* The judge of lesson 10: how many devices there are, their properties, and side effects of the
 * queries. On the software device the judge configures the devices and so knows the right values;
 * on a GPU the drive queries them, too. */
#include "grader/evidence/judge.h"
#include "grader/base/messages.h"
#include "grader/evidence/answer.h"
#include "grader/evidence/failures.h"
#include "grader/lessons/10_device_query/exchange.h"
#include "trace/gpus.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_CHECK "DeviceQuery.EveryDeviceIsDescribed" /* reports why a call failed */
#define NO_DEVICE 100
#define INVALID_DEVICE 101
#define NOWHERE 1000 /* an ordinal that no machine has */

static const char *const functions[] = {
    [DEVICE_QUERY_RUNTIME] = "device_query_runtime",
    [DEVICE_QUERY_DRIVER] = "device_query_driver",
    [DEVICE_QUERY_MEMORY] = "device_query_memory",
};

/* ---- expected values ----------------------------------------------------------------------- */

#define GPU(name) #name,
static const char *const gpus[] = {GPUS(GPU)};
#undef GPU
enum { GPU_COUNT = sizeof gpus / sizeof gpus[0] };

/* The attributes in which the GPUs differ. */
static const struct {
    const char *attribute;
    int64_t values[GPU_COUNT];
} differences[] = {
#define GPU_ATTRIBUTE(name, ...) {#name, {__VA_ARGS__}},
#include "trace/gpus.def"
#undef GPU_ATTRIBUTE
};

/* The limits of a launch, which are the same on all GPUs, and those that are made up. */
static const struct {
    const char *attribute;
    int64_t values[2];
} limits[] = {
#define LIMIT(name, ...) {#name, {__VA_ARGS__}},
#include "trace/limits.def"
#undef LIMIT
};

/* Each figure: its words in a sentence, and its attribute. */
static const struct {
    const char *words, *attribute;
} figures[DEVICE_QUERY_FIGURES] = {
    [DEVICE_QUERY_MAJOR] = {"major", "COMPUTE_CAPABILITY_MAJOR"},
    [DEVICE_QUERY_MINOR] = {"minor", "COMPUTE_CAPABILITY_MINOR"},
    [DEVICE_QUERY_TOTAL] = {"memory", NULL},
    [DEVICE_QUERY_MULTIPROCESSORS] = {"multiprocessors", "MULTIPROCESSOR_COUNT"},
    [DEVICE_QUERY_CLOCK] = {"clock", "CLOCK_RATE"},
    [DEVICE_QUERY_THREADS] = {"threads_per_block", "MAX_THREADS_PER_BLOCK"},
    [DEVICE_QUERY_BLOCK] = {"block[0]", "MAX_BLOCK_DIM_X"},
    [DEVICE_QUERY_BLOCK + 1] = {"block[1]", "MAX_BLOCK_DIM_Y"},
    [DEVICE_QUERY_BLOCK + 2] = {"block[2]", "MAX_BLOCK_DIM_Z"},
    [DEVICE_QUERY_GRID] = {"grid[0]", "MAX_GRID_DIM_X"},
    [DEVICE_QUERY_GRID + 1] = {"grid[1]", "MAX_GRID_DIM_Y"},
    [DEVICE_QUERY_GRID + 2] = {"grid[2]", "MAX_GRID_DIM_Z"},
    [DEVICE_QUERY_SHARED] = {"shared_per_block", "MAX_SHARED_MEMORY_PER_BLOCK"},
};

/* Returns the attribute of that device of the software device; -1: it is in neither table. */
static int64_t of_device(const char *attribute, const struct device_query_device *device)
{
    for (size_t i = 0; i < sizeof differences / sizeof differences[0]; i++)
        if (strcmp(differences[i].attribute, attribute) == 0)
            return differences[i].values[device->gpu];
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (strcmp(limits[i].attribute, attribute) == 0) return limits[i].values[device->made_up];
    return -1;
}

/* Returns the expected description of the program's i-th device. */
static void truth_of(const struct evidence *evidence, uint32_t i, struct device_query_told *truth)
{
    const struct device_query_input *in = evidence->input;
    const struct device_query_output *out = evidence->output;
    if (evidence->device == DRIVE_GPU) {
        *truth = out->truth[i];
        truth->name[sizeof truth->name - 1] = '\0';
        return;
    }
    const struct device_query_device *device = &in->devices[i];
    memset(truth, 0, sizeof *truth);
    snprintf(truth->name, sizeof truth->name, "Overlap software device (%s)", gpus[device->gpu]);
    for (int f = 0; f < DEVICE_QUERY_FIGURES; f++)
        if (figures[f].attribute != NULL)
            truth->figures[f] = of_device(figures[f].attribute, device);
    truth->figures[DEVICE_QUERY_TOTAL] = (int64_t)device->megabytes << 20;
}

static uint32_t count_of(const struct evidence *evidence)
{
    const struct device_query_input *in = evidence->input;
    const struct device_query_output *out = evidence->output;
    if (evidence->device != DRIVE_GPU) return in->count;
    return out->asked <= DEVICE_QUERY_DEVICES ? out->asked : DEVICE_QUERY_DEVICES;
}

/* ---- runs ---------------------------------------------------------------------------------- */

static uint32_t draw(struct run_input *input, int64_t low, int64_t high)
{
    return (uint32_t)random_between(input->random, low, high);
}

static struct device_query_input *allocate(struct run_input *input,
                                           const struct device_query_case *cases, size_t count)
{
    struct device_query_input *in = run_input_allocate(input, sizeof *in);
    if (in == NULL) return NULL;
    in->cases = (uint32_t)count;
    memcpy(in->at, cases, count * sizeof *cases);
    input->output_size = sizeof(struct device_query_output);
    return in;
}

/* Draws `count` devices; neighbours differ in all attributes, and so one of them has limits that no
 * GPU has: who knows the numbers by heart has not asked. */
static void draw_devices(struct run_input *input, struct device_query_device *devices,
                         uint32_t count)
{
    uint32_t gpu = draw(input, 0, GPU_COUNT - 1);
    size_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        gpu = (gpu + draw(input, 1, GPU_COUNT - 1)) % GPU_COUNT;
        devices[i].gpu = gpu;
        devices[i].megabytes = 64 * (i + 1) + draw(input, 0, 60);
        devices[i].made_up = (devices[0].megabytes + i) % 2;
        used += (size_t)snprintf(input->devices + used, sizeof input->devices - used, "%s%s%s:%uM",
                                 i > 0 ? "," : "", gpus[gpu], devices[i].made_up ? "+" : "",
                                 devices[i].megabytes);
    }
}

/* Returns how many devices the program will see. */
static uint32_t draw_count(struct run_input *input)
{
    if (input->device != DRIVE_GPU) return draw(input, 3, 5);
    if (input->gpus == 0) return 1; /* not known */
    return input->gpus < DEVICE_QUERY_DEVICES ? input->gpus : DEVICE_QUERY_DEVICES;
}

/* Returns how many bytes the drive takes of a device. Of one of several GPUs it takes more than the
 * contexts of a process do, so that the free memory of two equal GPUs differs. */
static uint32_t draw_held(struct run_input *input, uint32_t count)
{
    return input->device == DRIVE_GPU && count > 1 ? draw(input, UINT32_MAX / 2, UINT32_MAX)
                                                   : draw(input, 1000, 9000000);
}

/* The cases of "devices"; on a GPU for whatever number of devices there are. */
static int prepare_devices(struct run_input *input)
{
    const bool gpu = input->device == DRIVE_GPU;
    const uint32_t count = draw_count(input);
    const int32_t last = (int32_t)count - 1;
    const int32_t other = last > 0 ? (int32_t)draw(input, 1, last) : 0;
    const uint32_t held = draw_held(input, count);
    const struct device_query_case cases[] = {
        {.what = DEVICE_QUERY_DRIVER, .room = gpu ? DEVICE_QUERY_DEVICES : (int32_t)count},
        {.what = DEVICE_QUERY_RUNTIME, .room = DEVICE_QUERY_DEVICES},
        {.what = DEVICE_QUERY_RUNTIME, .room = last > 0 ? (int32_t)draw(input, 1, last) : 0},
        {.what = DEVICE_QUERY_DRIVER, .room = last > 0 ? (int32_t)draw(input, 1, last) : 0},
        {.what = DEVICE_QUERY_DRIVER, .room = DEVICE_QUERY_DEVICES},
        {.what = DEVICE_QUERY_RUNTIME, .room = 0},
        {.what = DEVICE_QUERY_MEMORY, .ordinal = last},
        {.what = DEVICE_QUERY_MEMORY, .ordinal = other, .current = DEVICE_QUERY_OWN, .held = held},
        {.what = DEVICE_QUERY_MEMORY,
         .ordinal = other,
         .current = DEVICE_QUERY_OWN,
         .at = other,
         .held = held,
         .apart = 1},
        {.what = DEVICE_QUERY_MEMORY,
         .ordinal = other,
         .current = DEVICE_QUERY_PRIMARY,
         .at = other,
         .held = draw(input, 1000, 9000000)},
        {.what = DEVICE_QUERY_MEMORY,
         .ordinal = gpu ? (int32_t)draw(input, NOWHERE, 2 * NOWHERE) : (int32_t)count,
         .current = DEVICE_QUERY_OWN},
        {.what = DEVICE_QUERY_MEMORY, .ordinal = -1},
        {.what = DEVICE_QUERY_RUNTIME,
         .room = DEVICE_QUERY_DEVICES,
         .current = DEVICE_QUERY_OWN,
         .at = other},
    };
    struct device_query_input *in = allocate(input, cases, sizeof cases / sizeof cases[0]);
    if (in == NULL) return -1;
    in->count = count;
    if (!gpu) draw_devices(input, in->devices, count);
    return 0;
}

/* Makes some of the devices visible, in another order; an invalid entry ends the list, so that the
 * entries after it are not read. On a GPU: the first of the devices that may be used here. */
static int prepare_visible(struct run_input *input)
{
    const struct device_query_case cases[] = {
        {.what = DEVICE_QUERY_MEMORY},
        {.what = DEVICE_QUERY_RUNTIME, .room = DEVICE_QUERY_DEVICES},
        {.what = DEVICE_QUERY_DRIVER, .room = DEVICE_QUERY_DEVICES},
    };
    struct device_query_device all[6];
    const uint32_t there = draw(input, 4, 6), seen = draw(input, 2, there - 2);
    uint32_t order[6];
    size_t used = 0;
    struct device_query_input *in = allocate(input, cases, sizeof cases / sizeof cases[0]);
    if (in == NULL) return -1;
    input->chooses = true;
    if (input->device == DRIVE_GPU) {
        const char *given = getenv("CUDA_VISIBLE_DEVICES");
        const size_t length = given != NULL ? strcspn(given, ",") : 0;
        snprintf(input->visible, sizeof input->visible, "%.*s,-1", length > 0 ? (int)length : 1,
                 length > 0 ? given : "0");
        return 0;
    }
    draw_devices(input, all, there);
    for (uint32_t i = 0; i < there; i++) order[i] = i;
    for (uint32_t i = there - 1; i > 0; i--) {
        const uint32_t k = draw(input, 0, i), kept = order[i];
        order[i] = order[k];
        order[k] = kept;
    }
    if (order[0] == 0) { /* makes the first visible device differ from the first existing one */
        order[0] = order[1];
        order[1] = 0;
    }
    in->count = seen;
    for (uint32_t i = 0; i < seen; i++) {
        in->devices[i] = all[order[i]];
        used +=
            (size_t)snprintf(input->visible + used, sizeof input->visible - used, "%u,", order[i]);
    }
    snprintf(input->visible + used, sizeof input->visible - used, "%d,%u",
             draw(input, 0, 1) ? -1 : (int)there, order[seen]);
    return 0;
}

/* No device exists, or none is visible. Both are asked twice: a driver that did not start has to be
 * started again. */
static int prepare_none(struct run_input *input)
{
    static const char *const hidden[] = {"", "-1", "7"};
    const struct device_query_case cases[] = {
        {.what = DEVICE_QUERY_RUNTIME, .room = DEVICE_QUERY_DEVICES},
        {.what = DEVICE_QUERY_DRIVER, .room = DEVICE_QUERY_DEVICES},
        {.what = DEVICE_QUERY_MEMORY},
        {.what = DEVICE_QUERY_RUNTIME},
        {.what = DEVICE_QUERY_DRIVER},
    };
    const uint32_t way = draw(input, 0, 3);
    if (allocate(input, cases, sizeof cases / sizeof cases[0]) == NULL) return -1;
    if (way == 3)
        snprintf(input->devices, sizeof input->devices, "0");
    else
        snprintf(input->visible, sizeof input->visible, "%s", hidden[way]);
    input->chooses = way < 3;
    return 0;
}

static int prepare_each_failure(struct run_input *input)
{
    const struct device_query_case cases[] = {
        {.what = DEVICE_QUERY_RUNTIME, .room = DEVICE_QUERY_DEVICES},
        {.what = DEVICE_QUERY_DRIVER, .room = DEVICE_QUERY_DEVICES},
        {.what = DEVICE_QUERY_MEMORY},
        {.what = DEVICE_QUERY_MEMORY, .current = DEVICE_QUERY_OWN},
    };
    struct device_query_input *in = allocate(input, cases, sizeof cases / sizeof cases[0]);
    if (in == NULL) return -1;
    /* An error of the first one must not be lost in what the second one says. */
    in->count = 2;
    draw_devices(input, in->devices, in->count);
    return 0;
}

static const struct run_plan runs[] = {
    {.name = "devices", .flags = RUN_ON_BOTH, .prepare = prepare_devices},
    {.name = "visible", .flags = RUN_ON_BOTH, .prepare = prepare_visible},
    {.name = "none", .flags = RUN_ON_EMULATOR, .prepare = prepare_none},
    FAILURES_PLAN(prepare_each_failure),
    {0},
};

/* ---- reading the evidence ------------------------------------------------------------------ */

/* One case. It must stay where it is, because the answer's phase points into it. */
struct item {
    const struct evidence *evidence;
    const struct device_query_case *c;
    const struct device_query_answer *a;
    struct phase phase;
    struct answer answer;
    char name[120];
};

static uint32_t cases_of(const struct evidence *evidence)
{
    return ((const struct device_query_input *)evidence->input)->cases;
}

static void item_get(const struct evidence *evidence, uint32_t i, struct item *item)
{
    const struct device_query_input *in = evidence->input;
    const struct device_query_output *out = evidence->output;
    const char *const current[] = {_("with no context current"),
                                   _("while another context was current"),
                                   _("while a primary context was current")};
    memset(item, 0, sizeof *item);
    item->evidence = evidence;
    item->c = &in->at[i];
    item->a = &out->answers[i];
    item->answer = answer_in(evidence, DEVICE_QUERY_PHASE, i, functions[item->c->what],
                             item->c->what == DEVICE_QUERY_RUNTIME ? ANSWER_RUNTIME : ANSWER_DRIVER,
                             item->a->code, &item->phase);
    if (item->c->what == DEVICE_QUERY_MEMORY)
        snprintf(item->name, sizeof item->name, _("device %d, called %s"), item->c->ordinal,
                 current[item->c->current]);
    else
        snprintf(item->name, sizeof item->name, _("a query with room for %d"), item->c->room);
}

/* Returns true for a case of device_query_memory with an existing device. */
static bool is_there(const struct item *item)
{
    return item->c->ordinal >= 0 && (uint32_t)item->c->ordinal < count_of(item->evidence);
}

/* Returns the student's last call in the phase whose name begins with one of these (NULL-ended), or
 * NULL. */
static const struct trace_record *last_of(const struct item *item, const char *const *names)
{
    const struct trace_record *last = NULL;
    for (; item->answer.phase != NULL && *names != NULL; names++) {
        const struct query calls = {
            .phase = item->answer.phase, .kind = TRACE_CALL, .name = *names, .student = true};
        const struct trace_record *call = NULL;
        while ((call = evidence_next(item->evidence, &calls, call)) != NULL)
            if (last == NULL || call > last) last = call;
    }
    return last;
}

/* Returns the place of that call; without one, the function's beginning. */
static struct place place_of(const struct item *item, const char *const *names)
{
    const struct trace_record *last = last_of(item, names);
    struct place place;
    if (last == NULL || !evidence_student_place(item->evidence, last, &place))
        evidence_function(item->evidence, functions[item->c->what], &place);
    return place;
}

static const char *const counts[] = {"cudaGetDeviceCount*", "cuDeviceGetCount*", NULL},
                         *const infos[] = {"cuMemGetInfo*", "cudaMemGetInfo*", NULL};

/* ---- properties of devices ----------------------------------------------------------------- */

/* Returns an int as the drive initialises it for the function. */
static int32_t unwritten(void)
{
    int32_t value;
    memset(&value, DRIVE_POISON, sizeof value);
    return value;
}

/* Returns true when the function returned the right number of devices. `why`: the reason for that
 * number. */
static bool count_is_right(struct verdict *verdict, const struct item *item, const char *why)
{
    const uint32_t count = count_of(item->evidence);
    const struct place place = place_of(item, counts);
    if (item->a->count == (int32_t)count) return true;
    if (item->a->count == unwritten())
        verdict_fail_at(verdict, &place, "%s has not written *count (%s).",
                        functions[item->c->what], item->name);
    else
        verdict_fail_at(verdict, &place,
                        "%s says that there are %d devices, and there are %u (%s).",
                        functions[item->c->what], item->a->count, count, item->name);
    verdict_why(verdict, "%s", _(why));
    if (item->a->count == unwritten())
        verdict_hint(verdict, "Every path that returns success writes it.");
    else
        verdict_hint(verdict, "What cudaGetDeviceCount or cuDeviceGetCount has written goes to "
                              "*count, as it is, however much room there is.");
    return false;
}

enum { SAME = -1, NAME = -2 };

/* Returns the index of the first figure in which the two differ, NAME, or SAME. */
static int first_difference(const struct device_query_told *a, const struct device_query_told *b)
{
    if (strncmp(a->name, b->name, sizeof a->name) != 0) return NAME;
    for (int f = 0; f < DEVICE_QUERY_FIGURES; f++)
        if (a->figures[f] != b->figures[f]) return f;
    return SAME;
}

/* Returns whether the figure is the limit that all GPUs have, told of a device whose limits are
 * made up. */
static bool is_by_heart(const struct item *item, uint32_t i, int f, int64_t told)
{
    const struct device_query_input *in = item->evidence->input;
    if (item->evidence->device == DRIVE_GPU || !in->devices[i].made_up ||
        figures[f].attribute == NULL)
        return false;
    for (size_t l = 0; l < sizeof limits / sizeof limits[0]; l++)
        if (strcmp(limits[l].attribute, figures[f].attribute) == 0)
            return limits[l].values[0] == told;
    return false;
}

/* Explains a wrong figure. */
static void say_why_of_figure(struct verdict *verdict, const struct item *item, uint32_t i, int f)
{
    const int64_t told = item->a->told[i].figures[f];
    struct device_query_told truth;
    truth_of(item->evidence, i, &truth);
    if ((int32_t)told == unwritten()) {
        verdict_hint(verdict, "Nothing has been written there.");
        return;
    }
    if (is_by_heart(item, i, f, told)) {
        verdict_hint(verdict,
                     "%" PRId64 " is what the GPUs of today have; this device has less, and the "
                     "next GPU may have more. Ask each device for it.",
                     told);
        return;
    }
    for (int other = 0; other < DEVICE_QUERY_FIGURES; other++) {
        if (other == f || truth.figures[other] != told) continue;
        verdict_hint(verdict, "%" PRId64 " is %s of that device.", told, figures[other].words);
        return;
    }
    for (uint32_t other = 0; other < count_of(item->evidence); other++) {
        truth_of(item->evidence, other, &truth);
        if (other == i || truth.figures[f] != told) continue;
        verdict_hint(verdict, "%" PRId64 " is that of device %u. Which device is asked?", told,
                     other);
        return;
    }
    verdict_hint(verdict,
                 f == DEVICE_QUERY_CLOCK
                     ? N_("In kHz, as the attribute has it; cudaDeviceProp has no clockRate "
                          "since CUDA 13.")
                     : N_("Which attribute is asked for, and in which unit? lesson.h says "
                          "what each field means."));
}

static void say_why_of_name(struct verdict *verdict, const struct item *item, uint32_t i)
{
    const struct device_query_told *told = &item->a->told[i];
    struct device_query_told truth;
    if ((item->a->written >> i & 1) == 0) {
        verdict_hint(verdict, "Does the loop go on to the last device that there is room for?");
        return;
    }
    for (uint32_t other = 0; other < count_of(item->evidence); other++) {
        truth_of(item->evidence, other, &truth);
        if (other == i || strncmp(told->name, truth.name, sizeof told->name) != 0) continue;
        verdict_hint(verdict, "That is the name of device %u. Which device is asked?", other);
        return;
    }
    verdict_hint(verdict, "The whole name, with the 0 at its end: there is room for "
                          "DEVICE_QUERY_NAME bytes.");
}

/* Returns true when the i-th device is described correctly. */
static bool facts_are_right(struct verdict *verdict, const struct item *item, uint32_t i)
{
    const struct device_query_told *told = &item->a->told[i];
    struct device_query_told truth;
    truth_of(item->evidence, i, &truth);
    const int f = first_difference(told, &truth);
    if (f == SAME) return true;
    if (f == NAME && (item->a->written >> i & 1) == 0)
        verdict_fail_in(verdict, item->evidence, functions[item->c->what],
                        "Device %u (\"%s\") is not described (%s).", i, truth.name, item->name);
    else if (f == NAME)
        verdict_fail_in(verdict, item->evidence, functions[item->c->what],
                        "The name of device %u is \"%.*s\", and not \"%s\" (%s).", i, 60,
                        told->name, truth.name, item->name);
    else
        verdict_fail_in(verdict, item->evidence, functions[item->c->what],
                        "%s of device %u (\"%s\") is %" PRId64 ", and not %" PRId64 " (%s).",
                        figures[f].words, i, truth.name, told->figures[f], truth.figures[f],
                        item->name);
    verdict_why(verdict, "A program chooses its device, its grid and what fits by these figures.");
    if (f == NAME)
        say_why_of_name(verdict, item, i);
    else
        say_why_of_figure(verdict, item, i, f);
    return false;
}

static uint32_t described(const struct item *item)
{
    const uint32_t count = count_of(item->evidence);
    return (uint32_t)item->c->room < count ? (uint32_t)item->c->room : count;
}

static void judge_described(struct verdict *verdict, const struct evidence *evidence)
{
    for (uint32_t i = 0; i < cases_of(evidence); i++) {
        struct item item;
        item_get(evidence, i, &item);
        if (item.c->what == DEVICE_QUERY_MEMORY) continue;
        if (!answer_succeeded(verdict, &item.answer, item.name)) return;
        if (!count_is_right(verdict, &item,
                            N_("Who is told fewer leaves devices idle; who is told more asks for "
                               "one that is not there.")))
            return;
        for (uint32_t d = 0; d < described(&item); d++)
            if (!facts_are_right(verdict, &item, d)) return;
    }
}

static void judge_room(struct verdict *verdict, const struct evidence *evidence)
{
    for (uint32_t i = 0; i < cases_of(evidence); i++) {
        struct item item;
        item_get(evidence, i, &item);
        if (item.c->what == DEVICE_QUERY_MEMORY) continue;
        if (!answer_judgeable(verdict, &item.answer, VALUES_CHECK)) return;
        const uint32_t beyond = item.a->written >> described(&item);
        if (beyond == 0) continue;
        verdict_fail_in(verdict, evidence, functions[item.c->what],
                        "It wrote behind facts[%u], and there are %u devices (%s).",
                        described(&item) > 0 ? described(&item) - 1 : 0, count_of(evidence),
                        item.name);
        verdict_why(verdict, "What lies behind the room is somebody else's memory.");
        verdict_hint(verdict, "The loop ends at the count or at the room, whichever comes first.");
        return;
    }
}

/* Finds the case of that function with room for all devices. */
static bool whole(const struct evidence *evidence, uint32_t what, struct item *item)
{
    for (uint32_t i = 0; i < cases_of(evidence); i++) {
        item_get(evidence, i, item);
        if (item->c->what == what && described(item) == count_of(evidence)) return true;
    }
    return false;
}

static void judge_agreement(struct verdict *verdict, const struct evidence *evidence)
{
    struct item runtime, driver;
    if (!whole(evidence, DEVICE_QUERY_RUNTIME, &runtime) ||
        !whole(evidence, DEVICE_QUERY_DRIVER, &driver) ||
        !answer_judgeable(verdict, &runtime.answer, VALUES_CHECK) ||
        !answer_judgeable(verdict, &driver.answer, VALUES_CHECK))
        return;
    for (uint32_t i = 0; i < count_of(evidence); i++) {
        const struct device_query_told *a = &runtime.a->told[i], *b = &driver.a->told[i];
        const int f = first_difference(a, b);
        if (f == SAME) continue;
        if (f == NAME)
            verdict_fail_in(verdict, evidence, functions[DEVICE_QUERY_DRIVER],
                            "Device %u is \"%.*s\" to the runtime API and \"%.*s\" to the driver "
                            "API.",
                            i, 60, a->name, 60, b->name);
        else
            verdict_fail_in(verdict, evidence, functions[DEVICE_QUERY_DRIVER],
                            "%s of device %u is %" PRId64 " to the runtime API and %" PRId64
                            " to the driver API.",
                            figures[f].words, i, a->figures[f], b->figures[f]);
        verdict_why(verdict, "Both APIs speak of one device, and give it the same ordinal.");
        verdict_hint(verdict, "The attributes have the same numbers in both; where a field of "
                              "cudaDeviceProp stands for one, it has its value and its unit.");
        return;
    }
}

/* Returns the student's first call in the phase that belongs to the other API. */
static const struct trace_record *of_the_other_api(const struct item *item)
{
    const struct query calls = {.phase = item->answer.phase, .kind = TRACE_CALL, .student = true};
    const struct trace_record *call = NULL;
    const bool runtime = item->c->what == DEVICE_QUERY_RUNTIME;
    if (item->answer.phase == NULL) return NULL;
    while ((call = evidence_next(item->evidence, &calls, call)) != NULL)
        if (runtime != (strncmp(call->name, "cuda", 4) == 0)) return call;
    return NULL;
}

static void judge_each_api(struct verdict *verdict, const struct evidence *evidence)
{
    for (uint32_t i = 0; i < cases_of(evidence); i++) {
        struct item item;
        item_get(evidence, i, &item);
        if (item.c->what == DEVICE_QUERY_MEMORY) continue;
        if (!answer_judgeable(verdict, &item.answer, VALUES_CHECK)) return;
        const struct trace_record *call = of_the_other_api(&item);
        if (call == NULL) continue;
        verdict_fail(verdict, evidence, call, "%s calls %.*s, which is of the other API.",
                     functions[item.c->what], TRACE_NAME_SIZE, call->name);
        verdict_why(verdict, "Two answers from one source agree always, and prove nothing.");
        verdict_hint(verdict, "Functions that begin with cuda are the runtime API's, those that "
                              "begin with cu and a capital letter the driver API's.");
        return;
    }
}

/* ---- side effects -------------------------------------------------------------------------- */

static void judge_no_context(struct verdict *verdict, const struct evidence *evidence)
{
    for (uint32_t i = 0; i < cases_of(evidence); i++) {
        struct item item;
        item_get(evidence, i, &item);
        if (!answer_written(verdict, &item.answer)) return;
        if (item.answer.phase == NULL) continue;
        const struct query made = {
            .phase = &item.phase, .kind = TRACE_CREATE, .what = TRACE_CONTEXT};
        const bool memory = item.c->what == DEVICE_QUERY_MEMORY;
        for (const struct trace_record *r = NULL;
             (r = evidence_next(evidence, &made, r)) != NULL;) {
            if (memory && (r->flags & TRACE_IMPLICIT) != 0) continue;
            verdict_fail(verdict, evidence, r,
                         memory ? N_("A context was made beside the primary one (%s).")
                                : N_("A context was made just to ask (%s)."),
                         item.name);
            verdict_why(verdict, "A context costs about a tenth of a second and some hundred "
                                 "megabytes, on every device that is asked.");
            verdict_hint(
                verdict,
                memory ? N_("cuDevicePrimaryCtxRetain instead of cuCtxCreate: who uses the "
                            "device has it already.")
                       : N_("Count, names, attributes and the size of the memory are told "
                            "by ordinal, without a context: no cudaSetDevice, no cudaFree(0), "
                            "no cudaMemGetInfo."));
            return;
        }
    }
}

/* Returns true when the thread's stack and the primary contexts are unchanged. `before` begins the
 * sentence: "", or the call that was made to fail, which then is `failed`. */
static bool is_left_as_found(struct verdict *verdict, const struct item *item,
                             const struct trace_record *failed, const char *before)
{
    static const char *const stack[] = {"cuCtx*", "cudaSetDevice*", NULL},
                             *const resets[] = {"cuDevicePrimaryCtxReset*", "cudaDeviceReset*",
                                                NULL},
                             *const primary[] = {"cuDevicePrimaryCtx*", "cuda*", NULL};
    const struct evidence *evidence = item->evidence;
    const struct device_query_answer *a = item->a;
    struct place place;
    if (!a->spoiled && !a->moved && a->before == a->after) return true;
    if (failed == NULL || !evidence_student_place(evidence, failed, &place))
        place = place_of(item, last_of(item, resets) != NULL ? resets
                               : a->moved && !a->spoiled     ? stack
                                                             : primary);
    if (a->spoiled) {
        verdict_fail_at(verdict, &place,
                        "%sThe caller's memory in the primary context is gone (%s).", before,
                        item->name);
        verdict_why(verdict, "The primary context is shared by the whole process.");
        verdict_hint(verdict, "One cuDevicePrimaryCtxRelease for each cuDevicePrimaryCtxRetain, no "
                              "more, and no reset.");
    } else if (a->moved) {
        verdict_fail_at(verdict, &place, "%sWhat was current to the thread is not as it was (%s).",
                        before, item->name);
        verdict_why(verdict, "The caller's next call goes to another device, or to none.");
        verdict_hint(verdict, "One cuCtxPopCurrent for each cuCtxPushCurrent, on every path. "
                              "cudaSetDevice makes the primary context current, and leaves it so.");
    } else {
        verdict_fail_at(verdict, &place,
                        (a->after & ~a->before) != 0
                            ? N_("%sA primary context is alive that was not before (%s).")
                            : N_("%sA primary context is no longer alive (%s)."),
                        before, item->name);
        verdict_why(verdict, "It keeps some hundred megabytes of the device until the process "
                             "ends, or is missing to those who share it.");
        verdict_hint(verdict, "One cuDevicePrimaryCtxRelease for each cuDevicePrimaryCtxRetain, on "
                              "every path behind it. The runtime API retains it and never releases "
                              "it.");
    }
    return false;
}

static void judge_left_as_found(struct verdict *verdict, const struct evidence *evidence)
{
    for (uint32_t i = 0; i < cases_of(evidence); i++) {
        struct item item;
        item_get(evidence, i, &item);
        if (!answer_written(verdict, &item.answer)) return;
        if (!is_left_as_found(verdict, &item, NULL, "")) return;
    }
}

/* ---- free memory --------------------------------------------------------------------------- */

/* Returns true when total and free memory are right: exactly, where no other process uses the
 * device. */
static bool memory_is_right(const struct item *item)
{
    struct device_query_told truth;
    truth_of(item->evidence, (uint32_t)item->c->ordinal, &truth);
    const uint64_t total = (uint64_t)truth.figures[DEVICE_QUERY_TOTAL];
    if (item->a->total != total) return false;
    if (item->evidence->device != DRIVE_GPU) return item->a->free == total - item->c->held;
    return item->a->free > 0 && item->a->held <= total && item->a->free <= total - item->a->held;
}

static void judge_free(struct verdict *verdict, const struct evidence *evidence)
{
    for (uint32_t i = 0; i < cases_of(evidence); i++) {
        struct item item;
        struct device_query_told truth;
        item_get(evidence, i, &item);
        if (item.c->what != DEVICE_QUERY_MEMORY || !is_there(&item)) continue;
        if (!answer_succeeded(verdict, &item.answer, item.name)) return;
        if (memory_is_right(&item)) continue;
        truth_of(evidence, (uint32_t)item.c->ordinal, &truth);
        const uint64_t total = (uint64_t)truth.figures[DEVICE_QUERY_TOTAL];
        const struct place place = place_of(&item, infos);
        if (item.a->total != total)
            verdict_fail_at(verdict, &place,
                            "*total is %" PRIu64 ", and the device has %" PRIu64 " bytes (%s).",
                            item.a->total, total, item.name);
        else
            verdict_fail_at(verdict, &place,
                            "*free is %" PRIu64 ", and of %" PRIu64 " bytes %u are taken (%s).",
                            item.a->free, total,
                            evidence->device == DRIVE_GPU ? item.a->held : item.c->held, item.name);
        verdict_why(verdict, "Who asks the wrong device, or the wrong question, runs out of memory "
                             "where there is some, or takes what is not there.");
        verdict_hint(verdict, "cuMemGetInfo speaks of the device of the current context. Is it "
                              "that of `ordinal`, and is what comes first the free memory?");
        return;
    }
}

static void judge_not_there(struct verdict *verdict, const struct evidence *evidence)
{
    for (uint32_t i = 0; i < cases_of(evidence); i++) {
        struct item item;
        item_get(evidence, i, &item);
        if (item.c->what != DEVICE_QUERY_MEMORY || is_there(&item)) continue;
        if (item.a->code == 0) {
            verdict_fail_in(verdict, evidence, item.answer.function,
                            "It returned success, and there is no device %d.", item.c->ordinal);
            verdict_why(verdict, "The caller takes another device's memory for the one it asked "
                                 "about.");
            verdict_hint(verdict, "Give `ordinal` to cuDeviceGet as it is, and return the error.");
            return;
        }
        if (!answer_failed_with(verdict, &item.answer, INVALID_DEVICE,
                                N_("there is no device of that ordinal")))
            return;
    }
}

/* ---- visible devices, and none ------------------------------------------------------------- */

static void judge_visible(struct verdict *verdict, const struct evidence *evidence)
{
    for (uint32_t i = 0; i < cases_of(evidence); i++) {
        struct item item;
        item_get(evidence, i, &item);
        if (!answer_succeeded(verdict, &item.answer, item.name)) return;
        if (item.c->what == DEVICE_QUERY_MEMORY) {
            if (memory_is_right(&item)) continue;
            const struct place place = place_of(&item, infos);
            verdict_fail_at(verdict, &place,
                            "The memory is not that of the first device in CUDA_VISIBLE_DEVICES.");
            verdict_why(verdict, "An ordinal counts the devices that the program sees, in the "
                                 "order of that list.");
            verdict_hint(verdict, "Give the ordinal to cuDeviceGet as it is.");
            return;
        }
        if (!count_is_right(verdict, &item,
                            N_("CUDA_VISIBLE_DEVICES lists the devices that a program sees; the "
                               "list ends at the first entry that names none.")))
            return;
        for (uint32_t d = 0; d < described(&item); d++)
            if (!facts_are_right(verdict, &item, d)) return;
    }
}

/* Checks for success with 0 devices. */
static bool none_is_right(struct verdict *verdict, const struct item *item)
{
    if (item->a->code == NO_DEVICE) {
        verdict_fail(verdict, item->evidence, answer_first_failed(&item->answer),
                     "There is no device, and %s returned that as an error.",
                     functions[item->c->what]);
        verdict_why(verdict, "A program that can do without a device asks how many there are: that "
                             "it is none is what it wanted to know.");
        verdict_hint(verdict,
                     item->c->what == DEVICE_QUERY_RUNTIME
                         ? N_("cudaErrorNoDevice from cudaGetDeviceCount: *count is 0, and "
                              "the answer success.")
                         : N_("CUDA_ERROR_NO_DEVICE from cuInit: *count is 0, and the answer "
                              "success."));
        return false;
    }
    if (!answer_succeeded(verdict, &item->answer, _("a machine without a device"))) return false;
    if (!count_is_right(verdict, item,
                        N_("A call that fails writes nothing: what was in *count before is still "
                           "there.")))
        return false;
    if (item->a->kept == 0) return true;
    const struct place place = place_of(item, counts);
    verdict_fail_at(verdict, &place,
                    "There is no device, and the runtime still remembers that as an error.");
    verdict_why(verdict, "The caller asks cudaGetLastError after its next launch and is told of an "
                         "error that was none.");
    verdict_hint(verdict, "cudaGetLastError gives the last error and forgets it.");
    return false;
}

static void judge_none(struct verdict *verdict, const struct evidence *evidence)
{
    for (uint32_t i = 0; i < cases_of(evidence); i++) {
        struct item item;
        item_get(evidence, i, &item);
        if (!answer_written(verdict, &item.answer)) return;
        if (item.c->what == DEVICE_QUERY_MEMORY &&
            !answer_failed_with(verdict, &item.answer, NO_DEVICE, N_("there is no device")))
            return;
        if (item.c->what != DEVICE_QUERY_MEMORY && !none_is_right(verdict, &item)) return;
    }
}

/* ---- every call made to fail --------------------------------------------------------------- */

static struct answer answer_to_failure(const struct evidence *evidence,
                                       const struct trace_record *failed, struct phase *phase)
{
    struct item item;
    uint32_t i = 0;
    failures_find(evidence, DEVICE_QUERY_PHASE, failed, phase, &i);
    item_get(evidence, i, &item);
    return answer_in(evidence, DEVICE_QUERY_PHASE, i, item.answer.function, item.answer.api,
                     item.a->code, phase);
}

/* The function succeeded although the call had failed: are the values right? "No device" is never
 * right in these runs. */
static bool is_right_all_the_same(const struct evidence *evidence)
{
    const struct trace_record *failed = evidence_made_to_fail(evidence);
    struct phase phase;
    struct item item;
    uint32_t i = 0;
    if (failed == NULL) return false;
    failures_find(evidence, DEVICE_QUERY_PHASE, failed, &phase, &i);
    item_get(evidence, i, &item);
    if (item.c->what == DEVICE_QUERY_MEMORY) return memory_is_right(&item);
    if (item.a->count != (int32_t)count_of(evidence)) return false;
    for (uint32_t d = 0; d < described(&item); d++) {
        struct device_query_told truth;
        truth_of(evidence, d, &truth);
        if (first_difference(&item.a->told[d], &truth) != SAME) return false;
    }
    return true;
}

static void judge_left_after_failure(struct verdict *verdict, const struct evidence *evidence,
                                     const struct answer *answer, const struct trace_record *failed,
                                     const char *before)
{
    char sentence[440];
    struct phase phase;
    struct item item;
    uint32_t i = 0;
    (void)answer;
    snprintf(sentence, sizeof sentence, _("%s. Then: "), before);
    failures_find(evidence, DEVICE_QUERY_PHASE, failed, &phase, &i);
    item_get(evidence, i, &item);
    is_left_as_found(verdict, &item, failed, sentence);
}

static void judge_each_failure(struct verdict *verdict, const struct evidence *evidence)
{
    static const struct failures_contract contract = {.api = ANSWER_DRIVER,
                                                      .answer = answer_to_failure,
                                                      .right = is_right_all_the_same,
                                                      .more = judge_left_after_failure};
    for (uint32_t i = 0; i < cases_of(evidence); i++) {
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
}

static const struct check checks[] = {
    {"EveryDeviceIsDescribed", "devices", 0, "count, names and figures, through both APIs",
     judge_described},
    {"NothingIsWrittenBehindTheRoom", "devices", 0, "nor behind the last device", judge_room},
    {"BothApisAgree", "devices", 0, "the runtime API says what the driver API says",
     judge_agreement},
    {"EachApiIsAskedItself", "devices", CHECK_EMULATOR_ONLY,
     "neither answer is taken from the other API", judge_each_api},
    {"AskingMakesNoContext", "devices", 0, "what is told without a context is asked without one",
     judge_no_context},
    {"TheFreeMemoryIsThatDevices", "devices", 0, "free and total memory are those of the ordinal",
     judge_free},
    {"AllIsLeftAsFound", "devices", 0, "what was current, and every primary context",
     judge_left_as_found},
    {"ADeviceThatIsNotThereIsAnError", "devices", 0, "an ordinal of nobody's is refused",
     judge_not_there},
    {"VisibleDevicesAreCounted", "visible", 0, "a subset, in the order of CUDA_VISIBLE_DEVICES",
     judge_visible},
    {"NoDeviceIsAnAnswer", "none", CHECK_EMULATOR_ONLY, "count 0, success, and no error kept",
     judge_none},
    {FAILURES_CHECK, FAILURES_RUN, CHECK_EMULATOR_ONLY,
     "each call that can fail does so once, and is returned", judge_each_failure},
    {"TheDeviceFindsNothingWrong", "devices", CHECK_EMULATOR_ONLY,
     "no handle of nobody's, no error that is overlooked", judge_findings},
    {0},
};

static const struct hint hints[] = {
#include "grader/lessons/10_device_query/hints.def"
    {0}};

const struct lesson lesson_10_device_query = {
    .number = 10,
    .folder = "10_device_query",
    .suite = "DeviceQuery",
    .function = "device_query_runtime",
    .files = (const char *const[]){"device_query.c", NULL},
    .parts = (const char *const[]){"10_device_query_drive", NULL},
    .runs = runs,
    .checks = checks,
    .hints = hints,
};
