/* From a request to a list of passes: axis after axis, radix after radix. */
#include "emulator/standins/cufft/fft.h"

#include <stdlib.h>

enum { BATCH = 3 }; /* coordinates: 0 is z, 1 is y, 2 is x */

bool fft_is_double(int type)
{
    return type == FFT_Z2Z || type == FFT_D2Z || type == FFT_Z2D;
}

bool fft_is_real_input(int type)
{
    return type == FFT_R2C || type == FFT_D2Z;
}

bool fft_is_real_output(int type)
{
    return type == FFT_C2R || type == FFT_Z2D;
}

/* ---- radices ----------------------------------------------------------------------------------
 */

enum { MOST_RADICES = 32 };
struct radices {
    uint32_t rest; /* 1, or what has a prime factor above FFT_MOST_RADIX */
    int count;
    uint32_t radix[MOST_RADICES];
};

static const struct {
    uint32_t radix;
    const char *kernel;
} butterflies[] = {{16, "pass16"}, {8, "pass8"}, {4, "pass4"}, {2, "pass2"},
                   {7, "pass7"},   {5, "pass5"}, {3, "pass3"}};
enum { BUTTERFLIES = sizeof butterflies / sizeof *butterflies };

static const char any_radix[] = "pass_any";

static const char *kernel_of(uint32_t radix)
{
    for (int k = 0; k < BUTTERFLIES; k++)
        if (butterflies[k].radix == radix) return butterflies[k].kernel;
    return any_radix;
}

static void divide(struct radices *radices, uint32_t by)
{
    while (radices->rest % by == 0) {
        radices->rest /= by;
        radices->radix[radices->count++] = by;
    }
}

/* At most 30 radices, as n <= 2^30. */
static struct radices radices_of(uint32_t n)
{
    struct radices radices = {.rest = n};
    for (int k = 0; k < BUTTERFLIES; k++) divide(&radices, butterflies[k].radix);
    for (uint32_t prime = 11; prime <= FFT_MOST_RADIX; prime += 2) divide(&radices, prime);
    return radices;
}

/* The smallest power of two that holds the convolution of a length, or 0 for a length without one.
 */
static uint32_t padded_of(uint32_t n)
{
    uint32_t padded = 1;
    if (radices_of(n).rest == 1) return 0;
    while (padded < 2 * n - 1) padded *= 2;
    return padded;
}

/* ---- the description of a list ----------------------------------------------------------------
 */

/* One side of the passes that follow. */
struct end {
    enum fft_buffer buffer;
    int kind;
    int64_t step[FFT_COORDINATES];
};

/* What the description of a list knows. Axes and coordinates are numbered alike: 0 is z. */
struct builder {
    struct fft_steps *steps;
    int order[FFT_COORDINATES]; /* order[k]: the coordinate that passes have in place k */
    int64_t size[FFT_COORDINATES];
    struct end now;        /* where the data is */
    struct end between[2]; /* where passes in between put it, alternately */
};

/* The pass between two ends along coordinate `axis`, which has `threads` threads on each line. */
static struct fft_step *append(struct builder *b, int axis, uint32_t threads,
                               const struct end *from, const struct end *to)
{
    struct fft_step *step = &b->steps->step[b->steps->count++];
    *step = (struct fft_step){.from = from->buffer, .to = to->buffer, .axis = axis};
    step->pass.from.kind = from->kind;
    step->pass.to.kind = to->kind;
    for (uint32_t k = 0; k < FFT_COORDINATES; k++) {
        const int coordinate = b->order[k];
        step->pass.from.step[k] = from->step[coordinate];
        step->pass.to.step[k] = to->step[coordinate];
        step->pass.size[k] = coordinate == axis ? threads : (uint32_t)b->size[coordinate];
        if (coordinate == axis) step->pass.axis = k;
    }
    return step;
}

static const struct end *other_end(const struct builder *b)
{
    return &b->between[b->now.buffer == b->between[0].buffer];
}

/* Passes of `radices` from b->now to `to`, or to either end in between if `to` is NULL. */
static void append_radices(struct builder *b, int axis, uint32_t n, uint32_t kept,
                           const struct radices *radices, const struct end *to)
{
    uint32_t done = 1;
    for (int k = 0; k < radices->count; k++) {
        const uint32_t radix = radices->radix[k];
        const char *kernel = kernel_of(radix);
        const bool is_last = k == radices->count - 1;
        const struct end next = is_last && to != NULL ? *to : *other_end(b);
        const uint32_t outputs = is_last ? kept : n;
        const uint32_t threads = kernel == any_radix ? outputs : n / radix;
        struct fft_step *step = append(b, axis, threads, &b->now, &next);
        step->kernel = kernel;
        step->pass.n = n;
        step->pass.kept = outputs;
        step->pass.radix = radix;
        step->pass.done = done;
        done *= radix;
        step->pass.spread = n / done;
        b->now = next;
    }
}

enum fft_buffer fft_describe_wide(struct fft_steps *steps, uint32_t n, uint32_t lines, int axis,
                                  bool inverse)
{
    const struct end wide = {.buffer = FFT_WIDE_0, .step = {1, n}};
    struct builder b = {.steps = steps,
                        .order = {0, 1, 2, 3},
                        .size = {n, lines, 1, 1},
                        .now = wide,
                        .between = {wide, wide}};
    const struct radices radices = radices_of(n);
    const int begin = steps->count;
    b.between[1].buffer = FFT_WIDE_1;
    append_radices(&b, 0, n, n, &radices, NULL);
    for (int k = begin; k < steps->count; k++) {
        steps->step[k].wide = steps->step[k].inner = true;
        steps->step[k].axis = axis;
        steps->step[k].pass.inverse = inverse;
    }
    return b.now.buffer;
}

/* Bluestein's algorithm from b->now to `to`. The long lines lie one after another. */
static void append_chirp(struct builder *b, int axis, uint32_t n, uint32_t kept,
                         const struct end *to)
{
    const uint32_t padded = padded_of(n);
    struct end first = {.buffer = FFT_WIDE_0}, last;
    int64_t lines = 1;
    for (int k = 0; k < FFT_COORDINATES; k++) {
        if (k == axis) continue;
        first.step[k] = lines * padded;
        lines *= b->size[k];
    }
    first.step[axis] = 1;
    last = first;
    struct fft_step *step = append(b, axis, padded, &b->now, &first);
    step->kernel = "chirp_in";
    step->pass.n = n;
    last.buffer = fft_describe_wide(b->steps, padded, (uint32_t)lines, axis, false);
    step = append(b, axis, padded, &last, &first);
    step->kernel = "filter";
    step->wide = step->by_filter = true;
    last.buffer = fft_describe_wide(b->steps, padded, (uint32_t)lines, axis, true);
    b->now = to != NULL ? *to : *other_end(b);
    step = append(b, axis, kept, &last, &b->now);
    step->kernel = "chirp_out";
    step->pass.n = n;
    step->pass.kept = kept;
}

/* ---- layouts ----------------------------------------------------------------------------------
 */

/* The length along a coordinate: that of an axis in the caller's order, or 1, or the batch. */
static int64_t length_of(const struct fft_request *request, int coordinate)
{
    if (coordinate == BATCH) return request->batch;
    return coordinate < request->rank ? request->n[request->rank - 1 - coordinate] : 1;
}

/* Elements of a row of the side that has the half spectrum. */
static int64_t half_of(const struct fft_request *request)
{
    return length_of(request, 0) / 2 + 1;
}

static void set_contiguous(int64_t step[FFT_COORDINATES], const struct fft_request *request,
                           int64_t row)
{
    step[0] = 1;
    step[1] = row;
    for (int k = 2; k < FFT_COORDINATES; k++) step[k] = step[k - 1] * length_of(request, k - 1);
}

/* The layout of a side of the request; rows of the basic layout have `row` elements. */
static struct end end_of(const struct fft_request *request, const struct fft_embedding *side,
                         enum fft_buffer buffer, int64_t row)
{
    struct end end = {.buffer = buffer};
    if (side->basic) {
        set_contiguous(end.step, request, row);
        return end;
    }
    end.step[0] = side->stride;
    for (int k = 1; k < request->rank; k++)
        end.step[k] = end.step[k - 1] * side->embed[request->rank - k];
    end.step[BATCH] = side->distance;
    return end;
}

/* Rows of real numbers have room for the half spectrum when the transform is in place. */
static int64_t row_of(const struct fft_request *request, bool is_real, bool is_half, bool in_place)
{
    if (is_half || (is_real && in_place)) return half_of(request) * (is_real ? 2 : 1);
    return length_of(request, 0);
}

/* The two sides of the list, and the buffers in between. */
static void begin(struct builder *b, const struct fft_request *request, bool in_place,
                  struct end *output)
{
    const bool real_input = fft_is_real_input(request->type);
    const bool real_output = fft_is_real_output(request->type);
    b->now = end_of(request, &request->input, FFT_INPUT,
                    row_of(request, real_input, real_output, in_place));
    *output = end_of(request, &request->output, FFT_OUTPUT,
                     row_of(request, real_output, real_input, in_place));
    for (int k = 0; k < 2; k++) {
        b->between[k] = (struct end){.buffer = k == 0 ? FFT_WORK_0 : FFT_WORK_1};
        set_contiguous(b->between[k].step, request, length_of(request, 0));
    }
    /* Lanes go along the batch where its elements are closest to each other. */
    const bool batch_first = b->now.step[BATCH] < b->now.step[0] && request->batch > 1;
    for (int k = 0; k < FFT_COORDINATES; k++) {
        b->order[k] = batch_first ? (k + BATCH) % FFT_COORDINATES : k;
        b->size[k] = length_of(request, k);
    }
}

/* ---- lists ------------------------------------------------------------------------------------
 */

/* The passes along one axis. `only`: no other pass comes before or after them. */
static void append_axis(struct builder *b, const struct fft_request *request, int axis, bool only,
                        const struct end *to)
{
    const bool real_input = fft_is_real_input(request->type) && axis == 0;
    const bool real_output = fft_is_real_output(request->type) && axis == 0;
    const uint32_t n = (uint32_t)length_of(request, axis);
    const uint32_t kept = real_input ? n / 2 + 1 : n;
    struct radices radices = radices_of(n);
    struct end real_to;
    if (real_input) b->now.kind = FFT_REAL;
    if (real_output) {
        b->now.kind = FFT_HALF;
        real_to = *to; /* the last axis: `to` is the output */
        real_to.kind = FFT_REAL;
        to = &real_to;
    }
    if (radices.rest > 1) {
        append_chirp(b, axis, n, kept, to);
        return;
    }
    /* A radix of 1 copies: one element, or out of the buffer that keeps a pass out of place. */
    if (radices.count == 0) radices.radix[radices.count++] = 1;
    if (only && radices.count == 1) radices.radix[radices.count++] = 1;
    append_radices(b, axis, n, kept, &radices, to);
}

/* The list of one kind of execution. The axis of real numbers comes where they are. */
static void describe(struct fft_steps *steps, const struct fft_request *request, bool in_place)
{
    struct builder b = {.steps = steps};
    struct end output;
    int axes[FFT_MOST_AXES], count = 0;
    const bool real_output = fft_is_real_output(request->type);
    const bool is_half = real_output || fft_is_real_input(request->type);
    begin(&b, request, in_place, &output);
    if (!real_output) axes[count++] = 0;
    for (int axis = 1; axis < request->rank; axis++)
        if (length_of(request, axis) > 1) axes[count++] = axis;
    if (real_output) axes[count++] = 0;
    for (int k = 0; k < count; k++) {
        b.size[0] = is_half ? half_of(request) : length_of(request, 0);
        append_axis(&b, request, axes[k], in_place && count == 1, k == count - 1 ? &output : NULL);
    }
}

/* ---- the work area ----------------------------------------------------------------------------
 */

enum { ALIGNMENT = 256, MOST_LENGTH = 1 << 30, MOST_THREADS = INT32_MAX };
static const size_t sizes[] = {2 * sizeof(float), 2 * sizeof(double)};

/* Threads of a pass, or 0 if there are too many for a launch. */
static uint64_t threads_of(const struct fft_pass *pass)
{
    uint64_t threads = 1;
    for (int k = 0; k < FFT_COORDINATES; k++) {
        threads *= pass->size[k];
        if (threads > MOST_THREADS) return 0;
    }
    return threads;
}

static void grow(size_t *size, size_t bytes)
{
    if (bytes > *size) *size = bytes;
}

/* Adds the buffers that a list uses. The pass that fills the first wide buffer has a thread for
 * each of its elements; the second one is as large. */
static enum fft_status measure(const struct fft_steps *steps, uint64_t elements, bool is_double,
                               size_t size[FFT_BUFFERS])
{
    for (int k = 0; k < steps->count; k++) {
        const struct fft_step *step = &steps->step[k];
        const uint64_t threads = threads_of(&step->pass);
        if (threads == 0) return FFT_INVALID_SIZE;
        if (step->to < FFT_WIDE_0) {
            grow(&size[step->to], elements * sizes[is_double]);
        } else {
            grow(&size[FFT_WIDE_0], threads * sizes[true]);
            grow(&size[FFT_WIDE_1], threads * sizes[true]);
        }
    }
    return FFT_SUCCESS;
}

enum fft_status fft_describe(struct fft_plan *plan)
{
    const struct fft_request *request = &plan->request;
    size_t size[FFT_BUFFERS] = {0};
    uint64_t elements = 1;
    for (int k = 0; k < FFT_COORDINATES; k++) {
        if (length_of(request, k) > MOST_LENGTH) return FFT_INVALID_SIZE;
        elements *= (uint64_t)length_of(request, k);
        if (elements > MOST_THREADS) return FFT_INVALID_SIZE;
    }
    plan->steps = calloc(2, sizeof *plan->steps);
    if (plan->steps == NULL) return FFT_ALLOC_FAILED;
    for (int axis = 0; axis < FFT_MOST_AXES; axis++) {
        const uint32_t n = (uint32_t)length_of(request, axis);
        plan->axis[axis] = (struct fft_axis){.n = n, .padded = padded_of(n)};
    }
    for (int in_place = 0; in_place < 2; in_place++) {
        describe(&plan->steps[in_place], request, in_place);
        const enum fft_status status =
            measure(&plan->steps[in_place], elements, fft_is_double(request->type), size);
        if (status != FFT_SUCCESS) return status;
    }
    for (int buffer = FFT_WORK_0; buffer < FFT_BUFFERS; buffer++) {
        plan->offset[buffer] = plan->work_size;
        plan->work_size += (size[buffer] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    return FFT_SUCCESS;
}
