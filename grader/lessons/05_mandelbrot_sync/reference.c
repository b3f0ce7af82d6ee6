#include "grader/lessons/05_mandelbrot_sync/reference.h"
#include "grader/base/messages.h"
#include "grader/base/parallel.h"

#include <math.h>
#include <stdbool.h>

static float coordinate(double from, double to, uint64_t index, uint64_t steps)
{
    return (float)(from + (to - from) * (double)index / (double)steps);
}

/* Computes one point with the roundings of kernels/mandelbrot.cu, one C operation for each of its
 * intrinsics. The result is exact even without -ffp-contract=off, because no two operations here
 * can be fused.
 */
static unsigned char is_member(float real, float imaginary, uint32_t iterations, float bound)
{
    float x = 0.0f, y = 0.0f;
    for (uint32_t k = 0; k < iterations; k++) {
        float y_squared = y * y;
        float square = fmaf(x, x, -y_squared);
        y = fmaf(x + x, y, imaginary);
        x = square + real;
        y_squared = y * y;
        if (sqrtf(fmaf(x, x, y_squared)) > bound) return 0;
    }
    return 1;
}

/* One picture; its rows are drawn in parallel. */
struct drawing {
    const struct mandelbrot_exchange_view *view;
    enum reference_slip slip;
    double left, right, top, bottom;
    uint64_t column_steps, row_steps;
    unsigned char *members;
};

static void draw_row(void *user, size_t row)
{
    const struct drawing *drawing = user;
    const struct mandelbrot_exchange_view *view = drawing->view;
    const float imaginary = coordinate(drawing->top, drawing->bottom, row, drawing->row_steps);
    const bool exchanged = drawing->slip == REFERENCE_AXES_EXCHANGED;
    for (uint64_t column = 0; column < view->width; column++) {
        const float real = coordinate(drawing->left, drawing->right, column, drawing->column_steps);
        drawing->members[row * view->width + column] =
            is_member(exchanged ? imaginary : real, exchanged ? real : imaginary, view->iterations,
                      view->bound);
    }
}

void reference_draw(const struct mandelbrot_exchange_view *view, enum reference_slip slip,
                    unsigned char *members)
{
    double left = view->real_low, right = view->real_high;
    double top = view->imaginary_high, bottom = view->imaginary_low;
    uint64_t column_steps = view->width - 1, row_steps = view->height - 1;
    if (slip == REFERENCE_UPSIDE_DOWN) {
        top = view->imaginary_low;
        bottom = view->imaginary_high;
    }
    if (slip == REFERENCE_MIRRORED) {
        left = view->real_high;
        right = view->real_low;
    }
    if (slip == REFERENCE_COLUMN_END_EXCLUDED || slip == REFERENCE_BOTH_ENDS_EXCLUDED)
        column_steps++;
    if (slip == REFERENCE_ROW_END_EXCLUDED || slip == REFERENCE_BOTH_ENDS_EXCLUDED) row_steps++;

    struct drawing drawing = {view,   slip,         left,      right,  top,
                              bottom, column_steps, row_steps, members};
    parallel_each((size_t)view->height, draw_row, &drawing);
}

const char *reference_slip_sentence(enum reference_slip slip)
{
    static const char *const sentences[REFERENCE_SLIP_COUNT] = {
        [REFERENCE_UPSIDE_DOWN] = N_("It is the right picture upside down: row 0 is the top, at "
                                     "imaginary_high."),
        [REFERENCE_MIRRORED] = N_("It is the right picture mirrored: column 0 is at real_low."),
        [REFERENCE_COLUMN_END_EXCLUDED] = N_("It is the picture of a real axis whose last column "
                                             "stops short of real_high: both ends are included."),
        [REFERENCE_ROW_END_EXCLUDED] = N_("It is the picture of an imaginary axis whose last row "
                                          "stops short of imaginary_low: both ends are included."),
        [REFERENCE_BOTH_ENDS_EXCLUDED] = N_("It is the picture of axes whose last step stops short "
                                            "of the end: both ends are included."),
        [REFERENCE_AXES_EXCHANGED] = N_("It is the picture with the real and the imaginary part "
                                        "exchanged."),
    };
    return sentences[slip];
}
