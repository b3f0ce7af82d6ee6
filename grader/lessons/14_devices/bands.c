/* Which device works on which rows, what moves between the devices, and whether they work at the
 * same time. */
#include "grader/base/messages.h"
#include "grader/evidence/given.h"
#include "grader/evidence/waits.h"
#include "grader/lessons/14_devices/parts.h"
#include "kernels/stencil.h"

#include <inttypes.h>
#include <string.h>

#define NO_DEVICE UINT32_MAX

/* ---- which device --------------------------------------------------------------------------- */

/* The contexts of the devices: the drive makes them before its first phase, in order. */
struct contexts {
    uint64_t of[DEVICES_MOST];
    uint32_t count;
};

static struct contexts contexts_of(const struct evidence *evidence)
{
    struct contexts contexts = {.count = 0};
    for (size_t i = 0; i < evidence->trace.count && contexts.count < DEVICES_MOST; i++) {
        const struct trace_record *r = &evidence->trace.records[i];
        if (r->kind == TRACE_MARK) break;
        if (r->kind == TRACE_CREATE && r->what == TRACE_CONTEXT)
            contexts.of[contexts.count++] = r->context;
    }
    return contexts;
}

static uint32_t device_of(const struct contexts *contexts, uint64_t context)
{
    for (uint32_t i = 0; i < contexts->count; i++)
        if (contexts->of[i] == context) return i;
    return NO_DEVICE;
}

/* Returns the band that the device has in this call; NO_DEVICE: none. */
static uint32_t band_of(const struct devices_call *call, uint32_t device)
{
    for (uint32_t i = 0; i < call->count; i++)
        if ((uint32_t)call->devices[i] == device) return i;
    return NO_DEVICE;
}

/* ---- bands ---------------------------------------------------------------------------------- */

static bool say_not_in_list(struct verdict *verdict, const struct devices_view *view,
                            const struct trace_record *kernel, uint32_t device)
{
    char words[DEVICES_WORDS];
    if (device == NO_DEVICE)
        verdict_fail(verdict, view->evidence, kernel,
                     "For %s, a kernel ran in a context that is no device's primary context.",
                     devices_words(view, words));
    else
        verdict_fail(verdict, view->evidence, kernel,
                     "For %s, a kernel ran on device %u, which is none of them.",
                     devices_words(view, words), device);
    verdict_why(verdict, "The caller says which devices are to work; the others may have other "
                         "things to do.");
    verdict_hint(verdict, "devices[i] is the number for cudaSetDevice; i is only its place in the "
                          "list.");
    return false;
}

/* Adds up the rows that each band's device made. Returns false, with a failure, at a kernel that is
 * on no band's device. */
static bool count_rows(struct verdict *verdict, const struct devices_view *view,
                       uint64_t rows[DEVICES_MOST], const struct trace_record *shown[DEVICES_MOST])
{
    const struct contexts contexts = contexts_of(view->evidence);
    const struct query kernels = {
        .phase = &view->phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL};
    const struct trace_record *kernel = NULL;
    while ((kernel = evidence_next(view->evidence, &kernels, kernel)) != NULL) {
        const uint32_t device = device_of(&contexts, kernel->context);
        const uint32_t band = band_of(view->call, device);
        if (band == NO_DEVICE) return say_not_in_list(verdict, view, kernel, device);
        rows[band] += kernel->count / STENCIL_THREADS;
        shown[band] = kernel;
    }
    return true;
}

static bool bands_right(struct verdict *verdict, const struct devices_view *view)
{
    const struct stencil_grid grid = devices_grid(view);
    const uint32_t steps = view->call->steps;
    uint64_t rows[DEVICES_MOST] = {0};
    const struct trace_record *shown[DEVICES_MOST] = {NULL};
    char words[DEVICES_WORDS];

    if (!count_rows(verdict, view, rows, shown)) return false;
    for (uint32_t i = 0; i < grid.bands; i++) {
        const uint32_t own = stencil_first_row(&grid, i + 1) - stencil_first_row(&grid, i);
        if (rows[i] == (uint64_t)own * steps) continue;
        if (rows[i] == 0)
            verdict_fail_in(verdict, view->evidence, DEVICES_STEPS_FUNCTION,
                            "For %s, device %d made no row at all.", devices_words(view, words),
                            view->call->devices[i]);
        else
            verdict_fail(verdict, view->evidence, shown[i],
                         "For %s, device %d made %" PRIu64 " rows, all steps together, and band %u "
                         "has %u rows: that makes %" PRIu64 ".",
                         devices_words(view, words), view->call->devices[i], rows[i], i, own,
                         (uint64_t)own * steps);
        verdict_why(verdict, "Bands of equal size let the devices be done at the same time. Each "
                             "row is made once in each step, on one device.");
        verdict_hint(verdict, "Band i is for devices[i] and has rows / count rows, and one more "
                              "if i < rows %% count: cudaSetDevice(devices[i]) where its stream "
                              "is made.");
        return false;
    }
    return true;
}

void devices_judge_bands(struct verdict *verdict, const struct evidence *evidence)
{
    struct devices_view view;
    if (!devices_judgeable(verdict, evidence, DEVICES_STEPS)) return;
    for (uint32_t i = 0; devices_next(verdict, evidence, DEVICES_STEPS, &i, &view);)
        if (!bands_right(verdict, &view)) return;
}

/* ---- what moves ----------------------------------------------------------------------------- */

/* Returns the first and the last request for a kernel in the context, in the phase; 0: none. */
static void kernels_in(const struct devices_view *view, uint64_t context, uint64_t *first,
                       uint64_t *last)
{
    const struct query kernels = {
        .phase = &view->phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL, .context = context};
    const struct trace_record *kernel = NULL;
    *first = *last = 0;
    while ((kernel = evidence_next(view->evidence, &kernels, kernel)) != NULL) {
        if (*first == 0 || kernel->request < *first) *first = kernel->request;
        if (kernel->request > *last) *last = kernel->request;
    }
}

static bool is_between_kernels(const struct devices_view *view, const struct trace_record *copy)
{
    uint64_t first, last;
    kernels_in(view, copy->context, &first, &last);
    return first != 0 && copy->request > first && copy->request < last;
}

static bool is_of_the_host(const struct trace_record *copy)
{
    return copy->from == TRACE_PINNED || copy->from == TRACE_PAGEABLE || copy->to == TRACE_PINNED ||
           copy->to == TRACE_PAGEABLE;
}

/* Returns true for a copy that some call for two devices has asked for. */
static bool is_between_devices(const struct devices_view *view, const struct trace_record *copy)
{
    const struct trace_record *call = evidence_call_of(view->evidence, copy);
    return call != NULL && strstr(call->name, "Peer") != NULL;
}

static bool copy_right(struct verdict *verdict, const struct devices_view *view,
                       const struct trace_record *copy)
{
    if (is_of_the_host(copy) && is_between_kernels(view, copy)) {
        verdict_fail(verdict, view->evidence, copy,
                     "A border row goes through the host's memory: %s is between two steps.",
                     given_work(copy));
        verdict_why(verdict, "Each row then crosses the host's link twice, and the second copy has "
                             "to wait for the first. From device to device it is one copy, on the "
                             "devices' own link where they have one.");
        verdict_hint(verdict, "cudaMemcpyPeerAsync(to, its device, from, its device, bytes, "
                              "stream).");
        return false;
    }
    if (is_between_devices(view, copy) && (copy->flags & TRACE_ASYNC) == 0) {
        verdict_fail(verdict, view->evidence, copy,
                     "This copy from device to device is in no stream of yours.");
        verdict_why(verdict, "It runs in the default stream, begins when all earlier work of both "
                             "devices has ended, and what comes later waits for it.");
        verdict_hint(verdict, "cudaMemcpyPeerAsync, in the stream of one of the two bands.");
        return false;
    }
    return true;
}

static bool borders_only(struct verdict *verdict, const struct devices_view *view)
{
    const struct query copies = {
        .phase = &view->phase, .kind = TRACE_OPERATION, .what = TRACE_COPY};
    const uint64_t row = (uint64_t)view->call->columns * sizeof(int32_t);
    const uint64_t most = 2 * row * (view->call->count - 1) * view->call->steps;
    const struct trace_record *copy = NULL, *largest = NULL;
    uint64_t moved = 0;
    char words[DEVICES_WORDS];

    while ((copy = evidence_next(view->evidence, &copies, copy)) != NULL) {
        if (!copy_right(verdict, view, copy)) return false;
        if (!is_between_devices(view, copy)) continue;
        moved += copy->bytes;
        if (largest == NULL || copy->bytes > largest->bytes) largest = copy;
    }
    if (moved <= most) return true;
    verdict_fail(verdict, view->evidence, largest,
                 "For %s, %" PRIu64 " bytes went from device to device; the border rows are at "
                 "most %" PRIu64 ".",
                 devices_words(view, words), moved, most);
    verdict_why(verdict, "A border is one row, however high the band is. Whoever sends more pays "
                         "more the more devices there are, and gains nothing.");
    verdict_hint(verdict, "columns * sizeof(int) bytes: the row next to the border, into the row "
                          "beyond the neighbour's last one.");
    return false;
}

void devices_judge_borders(struct verdict *verdict, const struct evidence *evidence)
{
    struct devices_view view;
    if (!devices_judgeable(verdict, evidence, DEVICES_STEPS)) return;
    for (uint32_t i = 0; devices_next(verdict, evidence, DEVICES_STEPS, &i, &view);)
        if (!borders_only(verdict, &view)) return;
    if (!verdict_failed(verdict)) (void)devices_too_few(verdict, evidence);
}

/* ---- at the same time ----------------------------------------------------------------------- */

void devices_judge_waits(struct verdict *verdict, const struct evidence *evidence)
{
    static const uint32_t kinds[] = {TRACE_KERNEL};
    struct devices_view view;
    if (!devices_judgeable(verdict, evidence, DEVICES_STEPS)) return;
    for (uint32_t i = 0; devices_next(verdict, evidence, DEVICES_STEPS, &i, &view);) {
        const struct trace_record *wait =
            waits_between(evidence, &view.phase, kinds, sizeof kinds / sizeof *kinds);
        if (wait == NULL) continue;
        verdict_fail(verdict, evidence, wait,
                     "%.*s makes the host wait, and steps are asked for before it and behind it.",
                     TRACE_NAME_SIZE, wait->name);
        verdict_why(verdict, "While the host waits, no device is given work, and each of them has "
                             "run dry when it goes on: in every step all wait for the slowest, and "
                             "then for the host.");
        verdict_hint(verdict, "cudaEventRecord in the stream that makes a row, cudaStreamWaitEvent "
                              "in the stream that needs it. The host waits once, at the end.");
        return;
    }
}

/* Returns how many devices were busy on average, while at least one was. */
static double devices_at_once(const struct devices_view *view)
{
    const struct contexts contexts = contexts_of(view->evidence);
    struct query kernels = {.phase = &view->phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL};
    const struct overlap all = evidence_overlap(view->evidence, &kernels, NULL);
    double busy = 0.0;

    for (uint32_t i = 0; i < contexts.count; i++) {
        kernels.context = contexts.of[i];
        busy += (double)evidence_overlap(view->evidence, &kernels, NULL).a_ns;
    }
    return all.a_ns > 0 ? busy / (double)all.a_ns : 0.0;
}

/* The last call is the one that is looked at; those before it warm up. */
void devices_judge_side_by_side(struct verdict *verdict, const struct evidence *evidence)
{
    struct devices_view view;
    uint32_t i = ((const struct devices_input *)evidence->input)->call_count - 1;

    if (!devices_judgeable(verdict, evidence, DEVICES_STEPS)) return;
    if (devices_too_few(verdict, evidence) ||
        !devices_next(verdict, evidence, DEVICES_STEPS, &i, &view))
        return;
    const double at_once = devices_at_once(&view), least = limit_devices_busy * view.call->count;
    verdict_figure(verdict, "devices_at_once",
                   "%.1f of %u devices at once on average (at least %.1f)", at_once,
                   view.call->count, least);
    if (at_once >= least) return;
    const struct query waits = {
        .phase = &view.phase, .kind = TRACE_CALL, .name = "cudaStreamWaitEvent", .student = true};
    const struct trace_record *shown = evidence_next(evidence, &waits, NULL);
    verdict_fail(verdict, evidence, shown,
                 "The devices work one after the other: %.2f at once on average.", at_once);
    verdict_why(verdict, "A device needs two rows of its neighbours in a step, and those of the "
                         "step before. In the same step nobody has to wait for anybody.");
    verdict_hint(verdict, "First all devices are asked for the step, then all for the border rows. "
                          "The rows of step s are waited for before step s + 1, not before step "
                          "s of the neighbour; and no default stream.");
}
