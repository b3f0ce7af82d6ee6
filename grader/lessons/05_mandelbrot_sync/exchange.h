/* exchange: the data that judge and drive of lesson 05 exchange: the views to draw, and the
 * resulting pictures. No CUDA, no pointers; both sides compute the same offsets from the input,
 * which is the parent's.
 */
#ifndef OVERLAP_GRADER_LESSONS_05_MANDELBROT_SYNC_EXCHANGE_H
#define OVERLAP_GRADER_LESSONS_05_MANDELBROT_SYNC_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>

/* Runs. "pictures": each view is drawn, in phase "picture" with the view's index, and written to a
 * file, except for MANDELBROT_NO_FILE; before MANDELBROT_OLD_ERROR a call of the caller's has
 * failed. "large": the same with one view whose pixels have more bytes than the limited stack.
 * "errors": impossible requests, one phase each, named below. "time": view 1 as warm-up, then view
 * 0 in phase "time", both without a file. */
#define MANDELBROT_VIEWS 3
#define MANDELBROT_OLD_ERROR 1
#define MANDELBROT_NO_FILE 2
#define MANDELBROT_PHASE_PICTURE "picture"
#define MANDELBROT_PHASE_TOO_LARGE "too large"     /* view 1: larger than any device's memory */
#define MANDELBROT_PHASE_UNCOUNTABLE "uncountable" /* view 2: more bytes than a size_t counts */
#define MANDELBROT_PHASE_UNWRITABLE "unwritable"   /* view 0, to a path that does not exist */
#define MANDELBROT_PHASE_WARM_UP "warm up"
#define MANDELBROT_PHASE_TIME "time"

#define MANDELBROT_STACK (1u << 20) /* stack limit in bytes in run "large" */

#define MANDELBROT_GUARD 32 /* floats after the picture that must stay unwritten */

struct mandelbrot_exchange_view {
    uint64_t width, height;
    double real_low, real_high, imaginary_low, imaginary_high;
    uint32_t iterations;
    float bound;
};

struct mandelbrot_input {
    uint32_t view_count; /* answers for which the output has room; at most MANDELBROT_VIEWS */
    struct mandelbrot_exchange_view views[MANDELBROT_VIEWS];
};

/* The result of one call, followed by the floats and then by the file's bytes. */
struct mandelbrot_answer {
    int32_t status;     /* what mandelbrot_sync returned */
    uint32_t new_files; /* with `path` NULL: new files in the working folder */
    uint64_t file_size; /* bytes of the PNG file; more than the capacity: it was cut off */
};

static inline size_t mandelbrot_members_offset(size_t answer)
{
    return answer + sizeof(struct mandelbrot_answer);
}

static inline size_t mandelbrot_file_offset(const struct mandelbrot_exchange_view *view,
                                            size_t answer)
{
    return mandelbrot_members_offset(answer) +
           (size_t)(view->width * view->height + MANDELBROT_GUARD) * sizeof(float);
}

/* Room for a greyscale PNG of the view, even if it does not compress. */
static inline size_t mandelbrot_file_capacity(const struct mandelbrot_exchange_view *view)
{
    return (size_t)(view->width * view->height) * 2 + 8192;
}

/* Where answer `index` begins; with index = view_count, the size of the whole output. */
static inline size_t mandelbrot_answer_offset(const struct mandelbrot_input *input, uint32_t index)
{
    size_t offset = 0;
    for (uint32_t i = 0; i < index; i++) {
        const struct mandelbrot_exchange_view *view = &input->views[i];
        offset = mandelbrot_file_offset(view, offset) + mandelbrot_file_capacity(view);
        offset = (offset + 63) / 64 * 64;
    }
    return offset;
}

#endif
