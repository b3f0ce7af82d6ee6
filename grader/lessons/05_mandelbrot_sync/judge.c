/* The parent's side of lesson 05: views drawn from the secret seed, pictures compared with the
 * judge's own, order and asynchrony checked in the trace. */
#include "grader/evidence/judge.h"
#include "grader/base/messages.h"
#include "grader/evidence/answer.h"
#include "grader/evidence/failures.h"
#include "grader/evidence/phases.h"
#include "grader/evidence/waits.h"
#include "grader/lessons/05_mandelbrot_sync/exchange.h"
#include "grader/lessons/05_mandelbrot_sync/reference.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION "mandelbrot_sync"
#define OUT_OF_MEMORY 2
#define OPERATING_SYSTEM 304
#define OLD_ERROR 101 /* of the drive's failed call before MANDELBROT_OLD_ERROR */

/* ---- the runs ------------------------------------------------------------------------------ */

/* The well-known picture of the whole set. */
static struct mandelbrot_exchange_view whole_set(uint64_t width, uint64_t height)
{
    return (struct mandelbrot_exchange_view){.width = width,
                                             .height = height,
                                             .real_low = -2.0,
                                             .real_high = 2.0,
                                             .imaginary_low = -2.0,
                                             .imaginary_high = 2.0,
                                             .iterations = 256,
                                             .bound = 2.0f};
}

/* Draws an unpredictable window. The real axis is never in its middle: the set is symmetric about
 * that axis, so a picture upside down would look right. */
static struct mandelbrot_exchange_view some_window(struct random_source *random, uint64_t width,
                                                   uint64_t height)
{
    struct mandelbrot_exchange_view view = {
        .width = width, .height = height, .bound = (float)random_real(random, 2.0, 3.0)};
    view.iterations = (uint32_t)random_between(random, 40, 90);
    view.real_low = random_real(random, -1.9, -1.5);
    view.real_high = random_real(random, 0.3, 0.6);
    view.imaginary_low = random_real(random, -0.4, -0.1);
    view.imaginary_high = random_real(random, 0.9, 1.2);
    return view;
}

static struct mandelbrot_input *allocate(struct run_input *input)
{
    return run_input_allocate(input, sizeof(struct mandelbrot_input));
}

static int prepare_pictures(struct run_input *input)
{
    struct mandelbrot_input *in = allocate(input);
    if (!in) return -1;
    bool gpu = input->device == DRIVE_GPU;
    uint64_t side = gpu ? 512 : 80 + random_below(input->random, 16);
    uint64_t width = (gpu ? 500 : 70) + random_below(input->random, 30);
    uint64_t height = (gpu ? 300 : 50) + random_below(input->random, 20);
    in->view_count = MANDELBROT_VIEWS;
    in->views[0] = whole_set(side, side);
    in->views[1] = some_window(input->random, width, height);
    in->views[2] = some_window(input->random, 30 + random_below(input->random, 9), 21);
    input->output_size = mandelbrot_answer_offset(in, in->view_count);
    return 0;
}

/* More pixels than the limited stack has bytes, and few iterations for each. */
static int prepare_large(struct run_input *input)
{
    struct mandelbrot_input *in = allocate(input);
    if (!in) return -1;
    in->view_count = 1;
    in->views[0] = some_window(input->random, 1100 + random_below(input->random, 30), 1001);
    in->views[0].iterations = 3;
    input->output_size = mandelbrot_answer_offset(in, in->view_count);
    return 0;
}

static int prepare_errors(struct run_input *input)
{
    struct mandelbrot_input *in = allocate(input);
    if (!in) return -1;
    in->view_count = MANDELBROT_VIEWS;
    in->views[0] = some_window(input->random, 40 + random_below(input->random, 20), 33);
    /* 8 TiB for the lattice alone: more than any device or host has today. */
    in->views[1] = some_window(input->random, 1u << 20, 1u << 20);
    /* The number of its points fits a size_t; their bytes, 2^65 + 16, do not, and wrap to those of
     * two points.
     */
    in->views[2] = some_window(input->random, ((uint64_t)1 << 61) + 1, 2);
    input->output_size = MANDELBROT_VIEWS * sizeof(struct mandelbrot_answer);
    return 0;
}

static int prepare_each_failure(struct run_input *input)
{
    struct mandelbrot_input *in = allocate(input);
    if (!in) return -1;
    in->view_count = 1;
    in->views[0] = some_window(input->random, 20 + random_below(input->random, 10), 17);
    input->output_size = mandelbrot_answer_offset(in, in->view_count);
    return 0;
}

static int prepare_time(struct run_input *input)
{
    struct mandelbrot_input *in = allocate(input);
    if (!in) return -1;
    uint64_t side = input->device == DRIVE_GPU ? 512 : 96 + random_below(input->random, 16);
    in->view_count = 2;
    in->views[0] = whole_set(side, side);
    in->views[1] = some_window(input->random, side / 2, side / 3);
    input->output_size = mandelbrot_answer_offset(in, in->view_count);
    return 0;
}

static const struct run_plan runs[] = {
    {.name = "pictures", .flags = RUN_ON_BOTH | RUN_IN_EVERY_ORDER, .prepare = prepare_pictures},
    {.name = "large",
     .flags = RUN_ON_BOTH,
     .prepare = prepare_large,
     .crash_hint =
         N_("This picture has more pixels than the stack has bytes. What is as large as a "
            "picture comes from malloc, and its answer is looked at.")},
    {.name = "errors",
     .flags = RUN_ON_BOTH,
     .prepare = prepare_errors,
     .crash_hint =
         N_("This run asks for more pixels than memory holds, and for more bytes of points "
            "than a size_t counts. Where a product is too large for a size_t, what is "
            "left of it is small, and the allocation succeeds: ask before you multiply, "
            "as with width > SIZE_MAX / sizeof(struct mandelbrot_point) / height. And is "
            "each allocation's answer looked at before its memory is used?")},
    {.name = "time",
     .flags = RUN_ON_BOTH | RUN_TIMED,
     .prepare = prepare_time,
     .phase = MANDELBROT_PHASE_TIME,
     .threshold = &threshold_mandelbrot_sync},
    FAILURES_PLAN(prepare_each_failure),
    {.name = NULL},
};

/* ---- what came back ------------------------------------------------------------------------ */

static struct mandelbrot_answer answer_at(const struct evidence *evidence, size_t offset)
{
    struct mandelbrot_answer answer = {.status = -1};
    if (offset <= evidence->output_size && evidence->output_size - offset >= sizeof answer)
        memcpy(&answer, (const unsigned char *)evidence->output + offset, sizeof answer);
    return answer;
}

static const float *members_at(const struct evidence *evidence, size_t offset)
{
    return (const void *)((const unsigned char *)evidence->output +
                          mandelbrot_members_offset(offset));
}

/* Returns true for a float that was not written. */
static bool is_poison(float value)
{
    unsigned char bytes[sizeof value], poison[sizeof value];
    memcpy(bytes, &value, sizeof value);
    memset(poison, DRIVE_POISON, sizeof poison);
    return !memcmp(bytes, poison, sizeof bytes);
}

static size_t count_of(const struct mandelbrot_exchange_view *view)
{
    return (size_t)(view->width * view->height);
}

/* For all runs: the first answer is at the beginning of the output. */
static bool written(struct verdict *verdict, const struct evidence *evidence)
{
    const struct answer answer = {.evidence = evidence,
                                  .function = FUNCTION,
                                  .api = ANSWER_RUNTIME,
                                  .code = answer_at(evidence, 0).status};
    return answer_written(verdict, &answer);
}

/* As `written`, of every picture of the run "pictures": checks of what was done for a picture have
 * nothing to look at where the function did not come to its end. */
static bool finished(struct verdict *verdict, const struct evidence *evidence)
{
    const struct mandelbrot_input *in = evidence->input;
    for (uint32_t i = 0; i < in->view_count; i++) {
        const struct answer answer = {
            .evidence = evidence,
            .function = FUNCTION,
            .api = ANSWER_RUNTIME,
            .code = answer_at(evidence, mandelbrot_answer_offset(in, i)).status};
        if (!answer_judgeable(verdict, &answer, "MandelbrotSync.ReturnsSuccess")) return false;
    }
    return true;
}

static void judge_returns(struct verdict *verdict, const struct evidence *evidence)
{
    const struct mandelbrot_input *in = evidence->input;
    for (uint32_t i = 0; i < in->view_count; i++) {
        struct phase phase;
        if (!phases_get(verdict, evidence, MANDELBROT_PHASE_PICTURE, i, &phase)) return;
        const struct answer answer = {
            .evidence = evidence,
            .phase = &phase,
            .function = FUNCTION,
            .api = ANSWER_RUNTIME,
            .code = answer_at(evidence, mandelbrot_answer_offset(in, i)).status};
        static const char *const of[MANDELBROT_VIEWS] = {
            [0] = N_("the whole set, 256 iterations"),
            [MANDELBROT_OLD_ERROR] =
                (N_("a window of the set, called when the runtime still held an "
                    "error of the caller's (cudaGetLastError)")),
            [MANDELBROT_NO_FILE] = N_("a window of the set, with `path` NULL")};
        if (i == MANDELBROT_OLD_ERROR && answer.code == OLD_ERROR) {
            verdict_fail(verdict, evidence, answer_first_failed(&answer),
                         "mandelbrot_sync returned the error of a call that its caller had made "
                         "before, cudaErrorInvalidDevice (101).");
            verdict_why(verdict, "cudaGetLastError and cudaPeekAtLastError report an error of any "
                                 "earlier call of the thread, not only of yours.");
            verdict_hint(verdict, "Keep what each of your own calls returns.");
            return;
        }
        if (!answer_succeeded(verdict, &answer, of[i])) return;
    }
    verdict_calls_succeed(verdict, evidence, NULL);
}

/* ---- pixels -------------------------------------------------------------------------------- */

static size_t differences(const float *members, const unsigned char *expected, size_t count)
{
    size_t differ = 0;
    for (size_t i = 0; i < count; i++)
        if (members[i] != (float)expected[i]) differ++;
    return differ;
}

/* Returns the known mistake that gives exactly this picture, if any. */
static const char *name_the_slip(const struct mandelbrot_exchange_view *view, const float *members,
                                 unsigned char *scratch)
{
    for (int slip = REFERENCE_RIGHT + 1; slip < REFERENCE_SLIP_COUNT; slip++) {
        reference_draw(view, (enum reference_slip)slip, scratch);
        if (!differences(members, scratch, count_of(view)))
            return reference_slip_sentence((enum reference_slip)slip);
    }
    return NULL;
}

static void explain_pixels(struct verdict *verdict, const struct evidence *evidence,
                           const struct mandelbrot_exchange_view *view, const float *members,
                           unsigned char *expected)
{
    size_t count = count_of(view), wrong = differences(members, expected, count), poison = 0;
    size_t first = count;
    for (size_t i = count; i-- > 0;) {
        if (members[i] != (float)expected[i]) first = i;
        if (is_poison(members[i])) poison++;
    }
    verdict_fail_in(verdict, evidence, FUNCTION,
                    "%zu of the picture's %zu pixels are wrong; the first is row %zu, column %zu: "
                    "%g instead of %d.",
                    wrong, count, first / (size_t)view->width, first % (size_t)view->width,
                    (double)members[first], expected[first]);
    const char *slip = poison ? NULL : name_the_slip(view, members, expected);
    if (poison) {
        verdict_why(verdict,
                    "%zu pixels still hold what was in `members` before the call: when the "
                    "function returned, the copy out had not brought them.",
                    poison);
        verdict_hint(verdict, "An asynchronous copy has only been asked for when the call "
                              "returns. Who waits for it before the caller reads?");
    } else if (slip) {
        verdict_why(verdict, "%s", _(slip));
        verdict_hint(verdict, "Look at the loop that makes the lattice, and at what it gives to "
                              "mandelbrot_coordinate(from, to, index, count).");
    } else if (first + (size_t)view->width >= count) {
        verdict_why(verdict, "What is wrong is the end of the picture: not all of it was drawn, or "
                             "brought back.");
        verdict_hint(verdict, "width * height points and as many floats, in the allocations, in "
                              "both copies (there in bytes) and in the launch.");
    } else if (evidence->device == DRIVE_EMULATOR) { /* a step too early would be reported */
        verdict_why(verdict, "The lattice is not the one that was asked for.");
        verdict_hint(verdict,
                     "Row after row: the point of column c in row r is lattice[r * width + c]. "
                     "Each point by itself: mandelbrot_coordinate(from, to, index, count), "
                     "which rounds once; what is summed up is rounded at each step.");
    } else {
        verdict_why(verdict, "Either the lattice is not the one that was asked for, or a step used "
                             "what the step before it had not finished: the kernel runs in a "
                             "stream that is not ordered with your copies.");
        verdict_hint(verdict, "Between the copy in and the kernel, and between the kernel and the "
                              "copy out: what makes the second wait for the first?");
    }
}

/* Compares one answer. False: the verdict failed. */
static bool pixels_right(struct verdict *verdict, const struct evidence *evidence, uint32_t index)
{
    const struct mandelbrot_input *in = evidence->input;
    const struct mandelbrot_exchange_view *view = &in->views[index];
    const float *members = members_at(evidence, mandelbrot_answer_offset(in, index));
    size_t count = count_of(view);
    unsigned char *expected = malloc(count);
    if (!expected) {
        verdict_skip(verdict, "the grader has no memory for the reference picture");
        return false;
    }
    reference_draw(view, REFERENCE_RIGHT, expected);
    bool right = !differences(members, expected, count);
    if (!right && !verdict_causes(verdict, evidence))
        explain_pixels(verdict, evidence, view, members, expected);
    free(expected);

    for (size_t i = 0; right && i < MANDELBROT_GUARD; i++) {
        if (is_poison(members[count + i])) continue;
        verdict_fail_in(verdict, evidence, FUNCTION,
                        "`members` was written %zu floats beyond its end.", i + 1);
        verdict_why(verdict, "The caller's buffer has width * height floats; what lies behind "
                             "belongs to somebody else.");
        verdict_hint(verdict, "Look at the size, in bytes, of the copy out.");
        right = false;
    }
    return right;
}

static void judge_pixels(struct verdict *verdict, const struct evidence *evidence)
{
    if (!written(verdict, evidence)) return;
    const struct mandelbrot_input *in = evidence->input;
    for (uint32_t i = 0; i < in->view_count; i++)
        if (!pixels_right(verdict, evidence, i)) return;
}

/* ---- the file ------------------------------------------------------------------------------ */

/* Decodes at most width x height pixels of an untrusted file. Returns NULL, or why the file is
 * wrong.
 */
static const char *decode(const unsigned char *file, size_t size, uint64_t width, uint64_t height,
                          unsigned char *pixels)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_memory(&image, file, size)) return _("it is not a PNG file");
    const char *why = NULL;
    if (image.width != width || image.height != height) {
        why = _("its width and height are not the view's");
    } else {
        image.format = PNG_FORMAT_GRAY;
        if (!png_image_finish_read(&image, NULL, pixels, 0, NULL))
            why = _("its pixels cannot be decoded");
    }
    png_image_free(&image);
    return why;
}

/* Checks that no file is written with `path` NULL. */
static void judge_no_file(struct verdict *verdict, const struct evidence *evidence)
{
    const size_t offset = mandelbrot_answer_offset(evidence->input, MANDELBROT_NO_FILE);
    const uint32_t files = answer_at(evidence, offset).new_files;
    if (!files) return;
    verdict_fail_in(verdict, evidence, FUNCTION,
                    "`path` was NULL, and the function left %u file(s) in the working folder.",
                    files);
    verdict_why(verdict, "NULL asks for no file: the caller wants the members alone, and may not "
                         "be allowed to write where the program runs.");
    verdict_hint(verdict, "Call mandelbrot_write_png only where `path` is not NULL, and give it no "
                          "name of your own.");
}

static void judge_file(struct verdict *verdict, const struct evidence *evidence)
{
    if (!finished(verdict, evidence)) return;
    const struct mandelbrot_input *in = evidence->input;
    judge_no_file(verdict, evidence);
    for (uint32_t i = 0; i < MANDELBROT_NO_FILE && !verdict_failed(verdict); i++) {
        const struct mandelbrot_exchange_view *view = &in->views[i];
        size_t offset = mandelbrot_answer_offset(in, i), count = count_of(view);
        uint64_t size = answer_at(evidence, offset).file_size;
        const char *why = NULL;
        if (!size) why = _("nothing was written");
        if (size > mandelbrot_file_capacity(view)) why = _("it is far too large");
        unsigned char *pixels = malloc(count), *expected = malloc(count);
        if (!pixels || !expected) {
            verdict_skip(verdict, "the grader has no memory for the picture");
        } else {
            if (!why)
                why = decode((const unsigned char *)evidence->output +
                                 mandelbrot_file_offset(view, offset),
                             (size_t)size, view->width, view->height, pixels);
            if (why) {
                verdict_fail_in(verdict, evidence, FUNCTION,
                                "The picture's file cannot be used: %s.", why);
                verdict_why(verdict,
                            "The view is %llu pixels wide and %llu high; its file is a "
                            "greyscale PNG of that size.",
                            (unsigned long long)view->width, (unsigned long long)view->height);
                verdict_hint(verdict, "mandelbrot_write_png(path, width, height, pixels), with one "
                                      "byte for each pixel, does it. Is its result looked at?");
            } else {
                reference_draw(view, REFERENCE_RIGHT, expected);
                size_t wrong = 0, first = count;
                for (size_t p = count; p-- > 0;)
                    if (pixels[p] != expected[p] * 255) {
                        wrong++;
                        first = p;
                    }
                if (wrong && !verdict_causes(verdict, evidence)) {
                    verdict_fail_in(verdict, evidence, FUNCTION,
                                    "%zu of the file's %zu pixels are wrong; the first is row %zu, "
                                    "column %zu: %d instead of %d.",
                                    wrong, count, first / (size_t)view->width,
                                    first % (size_t)view->width, pixels[first],
                                    expected[first] * 255);
                    verdict_why(verdict, "A member is white (255), all else black (0); and the "
                                         "file shows what `members` held when it was written.");
                    verdict_hint(verdict, "If `members` is right when the function returns, but "
                                          "not the file: was the file written before the copy out "
                                          "had arrived?");
                }
            }
        }
        free(pixels);
        free(expected);
    }
}

/* ---- order and asynchrony, from the trace --------------------------------------------------- */

static void judge_copies(struct verdict *verdict, const struct evidence *evidence)
{
    if (!finished(verdict, evidence)) return;
    const struct mandelbrot_input *in = evidence->input;
    for (uint32_t i = 0; i < in->view_count; i++) {
        struct phase phase;
        if (!phases_get(verdict, evidence, MANDELBROT_PHASE_PICTURE, i, &phase)) return;
        struct query copies = {.phase = &phase, .kind = TRACE_OPERATION, .what = TRACE_COPY};
        size_t in_count = 0, out_count = 0;
        for (const struct trace_record *copy = evidence_next(evidence, &copies, NULL); copy;
             copy = evidence_next(evidence, &copies, copy)) {
            bool into = copy->to == TRACE_DEVICE && copy->from != TRACE_DEVICE;
            bool out_of = copy->from == TRACE_DEVICE && copy->to != TRACE_DEVICE;
            if (into) in_count++;
            if (out_of) out_count++;
            if (!into && !out_of) continue;
            if (!(copy->flags & TRACE_ASYNC)) {
                verdict_fail(verdict, evidence, copy,
                             into ? N_("A copy to the device is synchronous.")
                                  : N_("A copy from the device is synchronous."));
                verdict_why(verdict,
                            "A synchronous copy hides the wait inside the call. This "
                            "lesson is about asking first and waiting where it is needed.");
                verdict_hint(verdict, "cudaMemcpyAsync, and then a synchronisation of its own.");
                return;
            }
            if ((into ? copy->from : copy->to) == TRACE_PAGEABLE) {
                verdict_fail(
                    verdict, evidence, copy,
                    into ? N_("An asynchronous copy to the device uses pageable memory.")
                         : N_("An asynchronous copy from the device uses pageable memory."));
                verdict_why(verdict, "The copy engine cannot read memory that the system may move, "
                                     "so such a copy is staged, and may wait in the call or may "
                                     "not: code can rely on neither.");
                verdict_hint(verdict, "cudaMallocHost gives pinned memory. `members` is pinned "
                                      "already.");
                return;
            }
        }
        if (in_count && out_count) continue;
        verdict_fail_in(verdict, evidence, FUNCTION,
                        in_count ? N_("There was no copy from the device.")
                                 : N_("There was no copy to the device."));
        verdict_why(verdict, "The lattice is made on the host and the picture is read there; the "
                             "kernel works in device memory.");
        verdict_hint(verdict, "cudaMemcpyAsync, once in each direction.");
        return;
    }
}

static void judge_kernel(struct verdict *verdict, const struct evidence *evidence)
{
    if (!finished(verdict, evidence)) return;
    const struct mandelbrot_input *in = evidence->input;
    for (uint32_t i = 0; i < in->view_count; i++) {
        struct phase phase;
        if (!phases_get(verdict, evidence, MANDELBROT_PHASE_PICTURE, i, &phase)) return;
        struct query kernels = {
            .phase = &phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL, .name = "mandelbrot"};
        size_t launches = evidence_count(evidence, &kernels), count = count_of(&in->views[i]);
        const struct trace_record *kernel = evidence_next(evidence, &kernels, NULL);
        if (launches == 1 && kernel->count >= count) continue;
        if (launches == 1)
            verdict_fail_in(verdict, evidence, FUNCTION,
                            "The kernel ran with %llu threads for %zu pixels.",
                            (unsigned long long)kernel->count, count);
        else
            verdict_fail_in(verdict, evidence, FUNCTION,
                            "The Mandelbrot kernel ran %zu times for one picture.", launches);
        verdict_why(verdict, "One launch draws the whole picture, a thread for each pixel; the "
                             "device does the work.");
        verdict_hint(verdict, "mandelbrot_launch(lattice, members, width * height, ...), both "
                              "arrays in device memory.");
        return;
    }
}

/* Returns true for a call that makes the host wait for earlier work. */
static bool waits(const struct trace_record *call, bool whole_context)
{
    static const char *const context_waits[] = {"cudaDeviceSynchronize", "cuCtxSynchronize"};
    static const char *const other_waits[] = {"cudaStreamSynchronize", "cuStreamSynchronize",
                                              "cudaEventSynchronize",  "cuEventSynchronize",
                                              "cudaStreamQuery",       "cuStreamQuery",
                                              "cudaEventQuery",        "cuEventQuery"};
    if (call->kind != TRACE_CALL || call->code) return false;
    for (size_t i = 0; i < sizeof context_waits / sizeof *context_waits; i++)
        if (!strcmp(call->name, context_waits[i])) return true;
    for (size_t i = 0; !whole_context && i < sizeof other_waits / sizeof *other_waits; i++)
        if (!strcmp(call->name, other_waits[i])) return true;
    return false;
}

static bool waited_between(const struct trace_record *from, const struct trace_record *to,
                           bool whole_context)
{
    for (const struct trace_record *call = from + 1; call < to; call++)
        if (call->thread == from->thread && waits(call, whole_context)) return true;
    return false;
}

/* The calls that asked for the three steps of a picture; NULL: not made. A synchronous copy waits
 * itself. */
struct steps {
    const struct trace_record *copy_in, *kernel, *copy_out;
    bool in_waits_itself, out_waits_itself;
};

static void take_later(const struct trace_record **step, bool *waits_itself,
                       const struct trace_record *call, const struct trace_record *operation)
{
    if (*step && call <= *step) return;
    *step = call;
    *waits_itself = !(operation->flags & TRACE_ASYNC);
}

/* Finds the first kernel, the last copy in and the last copy out. */
static struct steps steps_of(const struct evidence *evidence, const struct phase *phase)
{
    struct steps steps = {.copy_in = NULL};
    struct query operations = {.phase = phase, .kind = TRACE_OPERATION};
    for (const struct trace_record *o = evidence_next(evidence, &operations, NULL); o;
         o = evidence_next(evidence, &operations, o)) {
        const struct trace_record *call = evidence_call_of(evidence, o);
        if (!call) continue;
        if (o->what == TRACE_KERNEL && !steps.kernel)
            steps.kernel = call;
        else if (o->what == TRACE_COPY && o->to == TRACE_DEVICE && o->from != TRACE_DEVICE)
            take_later(&steps.copy_in, &steps.in_waits_itself, call, o);
        else if (o->what == TRACE_COPY && o->from == TRACE_DEVICE && o->to != TRACE_DEVICE)
            take_later(&steps.copy_out, &steps.out_waits_itself, call, o);
    }
    /* A kernel that never ran, for example after a fault, has no record of its own. */
    struct query launches = {.phase = phase, .kind = TRACE_CALL, .name = "cudaLaunchKernel*"};
    if (!steps.kernel) steps.kernel = evidence_next(evidence, &launches, NULL);
    return steps;
}

static bool all_there(struct verdict *verdict, const struct evidence *evidence,
                      const struct steps *steps)
{
    if (steps->copy_in && steps->kernel && steps->copy_out) return true;
    verdict_fail_in(verdict, evidence, FUNCTION,
                    "There are not three steps whose order could be judged: %s.",
                    !steps->copy_in  ? _("no copy to the device")
                    : !steps->kernel ? _("no kernel")
                                     : _("no copy from the device"));
    verdict_why(verdict, "A copy in, the kernel, a copy out, each finished before the next "
                         "begins: that order is the lesson.");
    verdict_hint(verdict, "Write the three steps first, then the waits between them.");
    return false;
}

/* Checks the three gaps that a wait of the host must close, because no stream orders the steps;
 * `end`: the function's return. */
static void judge_gaps(struct verdict *verdict, const struct evidence *evidence,
                       const struct steps *steps, const struct trace_record *end)
{
    if (!steps->in_waits_itself && !waited_between(steps->copy_in, steps->kernel, false)) {
        verdict_fail(verdict, evidence, steps->copy_in,
                     "Nothing waits for the copy in before the kernel is launched.");
        verdict_why(verdict, "The kernel runs in a non-blocking stream of the library's. It "
                             "may start while the lattice is still on its way.");
        verdict_hint(verdict, "Synchronise the context between this copy and "
                              "mandelbrot_launch.");
    } else if (!waited_between(steps->kernel, steps->copy_out, true)) {
        verdict_fail(verdict, evidence, steps->copy_out,
                     "Nothing waits for the kernel before the copy out is issued.");
        verdict_why(verdict, "You have no handle of the kernel's stream: no stream, no event "
                             "of yours comes after it, and the default stream does not wait "
                             "for a non-blocking one. This copy may bring what was in the "
                             "memory before.");
        verdict_hint(verdict, "cudaDeviceSynchronize (or cuCtxSynchronize) waits for every "
                              "stream of the context, also for those you cannot name.");
    } else if (!steps->out_waits_itself && !waited_between(steps->copy_out, end, false)) {
        verdict_fail(verdict, evidence, steps->copy_out,
                     "Nothing waits for the copy out before the function returns.");
        verdict_why(verdict, "The caller reads `members` as soon as the function returns, and "
                             "the picture's file is made of it even before.");
        verdict_hint(verdict, "Synchronise once more, after this copy and before anything on "
                              "the host reads `members`.");
    }
}

static void judge_waits(struct verdict *verdict, const struct evidence *evidence)
{
    if (!finished(verdict, evidence)) return;
    const struct mandelbrot_input *in = evidence->input;
    for (uint32_t i = 0; i < in->view_count; i++) {
        struct phase phase;
        if (!phases_get(verdict, evidence, MANDELBROT_PHASE_PICTURE, i, &phase)) return;
        const struct steps steps = steps_of(evidence, &phase);
        if (!all_there(verdict, evidence, &steps)) return;
        judge_gaps(verdict, evidence, &steps, evidence->trace.records + phase.last);
        if (verdict_failed(verdict)) return;
    }
}

/* ---- errors, leaks, time ------------------------------------------------------------------- */

static bool drew(const struct evidence *evidence, const struct phase *phase)
{
    struct query kernels = {.phase = phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL};
    return evidence_next(evidence, &kernels, NULL) != NULL;
}

static void judge_errors(struct verdict *verdict, const struct evidence *evidence)
{
    if (!written(verdict, evidence)) return;
    struct phase phase;
    struct answer answer = {
        .evidence = evidence, .phase = &phase, .function = FUNCTION, .api = ANSWER_RUNTIME};

    if (!phases_get(verdict, evidence, MANDELBROT_PHASE_TOO_LARGE, 0, &phase)) return;
    answer.code = answer_at(evidence, sizeof(struct mandelbrot_answer)).status;
    if (!answer_failed_with(verdict, &answer, OUT_OF_MEMORY,
                            "a picture of 2^40 pixels does not fit into any memory"))
        return;

    if (!phases_get(verdict, evidence, MANDELBROT_PHASE_UNCOUNTABLE, 0, &phase)) return;
    answer.code = answer_at(evidence, 2 * sizeof(struct mandelbrot_answer)).status;
    if (answer.code == 0) {
        answer_failed_with(verdict, &answer, OUT_OF_MEMORY,
                           "a picture of 2^62 pixels does not fit into any memory");
        return;
    }

    if (!phases_get(verdict, evidence, MANDELBROT_PHASE_UNWRITABLE, 0, &phase)) return;
    answer.code = answer_at(evidence, 0).status;
    if (drew(evidence, &phase)) {
        answer_failed_with(verdict, &answer, OPERATING_SYSTEM,
                           "the picture's file lies in a folder that does not exist");
        return;
    }
    verdict_fail_in(verdict, evidence, FUNCTION,
                    "mandelbrot_sync returned %d before it had drawn anything.", answer.code);
    verdict_why(verdict, "The view is an ordinary one; only the file cannot be written. An error "
                         "is returned by the step that meets it.");
    verdict_hint(verdict, "First the picture, then its file.");
}

static void judge_leaks(struct verdict *verdict, const struct evidence *evidence)
{
    if (!written(verdict, evidence)) return;
    const struct mandelbrot_input *in = evidence->input;
    for (uint32_t i = 0; i < in->view_count && !verdict_failed(verdict); i++) {
        struct phase phase;
        if (phases_get(verdict, evidence, MANDELBROT_PHASE_PICTURE, i, &phase))
            verdict_leaks(verdict, evidence, &phase);
    }
}

static void judge_error_leaks(struct verdict *verdict, const struct evidence *evidence)
{
    if (!written(verdict, evidence)) return;
    struct phase phase;
    if (phases_get(verdict, evidence, MANDELBROT_PHASE_TOO_LARGE, 0, &phase))
        verdict_leaks(verdict, evidence, &phase);
    if (!verdict_failed(verdict) &&
        phases_get(verdict, evidence, MANDELBROT_PHASE_UNCOUNTABLE, 0, &phase))
        verdict_leaks(verdict, evidence, &phase);
    if (!verdict_failed(verdict) &&
        phases_get(verdict, evidence, MANDELBROT_PHASE_UNWRITABLE, 0, &phase))
        verdict_leaks(verdict, evidence, &phase);
}

static struct answer answer_to_failure(const struct evidence *evidence,
                                       const struct trace_record *failed, struct phase *phase)
{
    uint32_t index;
    const bool known = failures_find(evidence, MANDELBROT_PHASE_PICTURE, failed, phase, &index);
    return (struct answer){.evidence = evidence,
                           .phase = known ? phase : NULL,
                           .function = FUNCTION,
                           .api = ANSWER_RUNTIME,
                           .code = answer_at(evidence, 0).status};
}

static bool is_right_all_the_same(const struct evidence *evidence)
{
    const struct mandelbrot_input *in = evidence->input;
    const size_t count = count_of(&in->views[0]);
    unsigned char *expected = malloc(count);
    if (!expected) return false;
    reference_draw(&in->views[0], REFERENCE_RIGHT, expected);
    const bool right = !differences(members_at(evidence, 0), expected, count) &&
                       answer_at(evidence, 0).file_size > 0;
    free(expected);
    return right;
}

static void judge_each_failure(struct verdict *verdict, const struct evidence *evidence)
{
    static const struct failures_contract contract = {.api = ANSWER_RUNTIME,
                                                      .answer = answer_to_failure,
                                                      .right = is_right_all_the_same,
                                                      .advice = true};
    const struct answer answer = {.evidence = evidence,
                                  .function = FUNCTION,
                                  .api = ANSWER_RUNTIME,
                                  .code = answer_at(evidence, 0).status};
    if (answer_judgeable(verdict, &answer, "MandelbrotSync.ReturnsSuccess"))
        failures_judge(verdict, evidence, &contract);
}

/* Fails for everything that the device itself reports. */
static void judge_findings(struct verdict *verdict, const struct evidence *evidence)
{
    if (!written(verdict, evidence)) return;
    verdict_findings(verdict, evidence, NULL);
    verdict_advice(verdict, evidence);
    waits_say_unpromised_in(verdict, evidence, MANDELBROT_PHASE_PICTURE, FUNCTION);
    if (!verdict_failed(verdict)) judge_returns(verdict, evidence);
}

static void judge_time(struct verdict *verdict, const struct evidence *evidence)
{
    if (!written(verdict, evidence)) return;
    const struct evidence *runs_of = evidence->repeats ? evidence->repeats : evidence;
    for (size_t i = 0; i < evidence->repeat_count; i++)
        if (!pixels_right(verdict, &runs_of[i], 0)) return;
    verdict_time_ratio(verdict, evidence);
    if (verdict_failed(verdict))
        verdict_hint(verdict, "One copy in, one launch, one copy out and three waits are all there "
                              "is. What else does the function do, and how often?");
}

static const struct check checks[] = {
    {"ReturnsSuccess", "pictures", 0, "the function finishes its work and says so", judge_returns},
    {"TheContextIsSynchronised", "pictures", CHECK_ORDER,
     "a wait between copy and kernel, kernel and copy, copy and host", judge_waits},
    {"EveryPixelIsRight", "pictures", CHECK_ORDER,
     "all pixels of the whole set and of a random window equal the reference", judge_pixels},
    {"ALargePictureIsRight", "large", 0, "more pixels than a stack has bytes", judge_pixels},
    {"ThePictureIsWritten", "pictures", CHECK_ORDER, "the PNG file shows the finished picture",
     judge_file},
    {"TheKernelDrawsThePicture", "pictures", 0, "one launch, a thread for each pixel",
     judge_kernel},
    {"CopiesAreAsynchronous", "pictures", 0, "both copies are asynchronous, from pinned memory",
     judge_copies},
    {"ErrorsAreReturned", "errors", 0, "the first error comes back to the caller", judge_errors},
    {"NothingLeaks", "pictures", 0, "all that was taken is released", judge_leaks},
    {"NothingLeaksOnErrors", "errors", 0, "also when the function fails half-way",
     judge_error_leaks},
    {FAILURES_CHECK, FAILURES_RUN, CHECK_EMULATOR_ONLY,
     "each call that can fail does so once, and is returned", judge_each_failure},
    {"TheDeviceFindsNothingWrong", "pictures", CHECK_EMULATOR_ONLY,
     "no access out of bounds, to the wrong side, or to memory that is gone", judge_findings},
    {"AsFastAsTheReference", "time", 0, "as fast as the reference; no gain is the point",
     judge_time},
    {.name = NULL},
};

static const struct hint hints[] = {
#include "grader/lessons/05_mandelbrot_sync/hints.def"
    {0}};

const struct lesson lesson_05_mandelbrot_sync = {
    .number = 5,
    .folder = "05_mandelbrot_sync",
    .suite = "MandelbrotSync",
    .function = FUNCTION,
    .files = (const char *const[]){"mandelbrot_sync.c", NULL},
    .parts = (const char *const[]){"05_mandelbrot_sync_drive", "mandelbrot", NULL},
    .libraries = (const char *const[]){"png", NULL},
    .runs = runs,
    .checks = checks,
    .hints = hints,
};
