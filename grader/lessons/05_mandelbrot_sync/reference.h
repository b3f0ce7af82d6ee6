/* reference: the judge's own Mandelbrot pictures: the right one, and those that known mistakes
 * produce, so that the judge can name the mistake. Runs on the host and uses nothing of the
 * submission's.
 */
#ifndef OVERLAP_GRADER_LESSONS_05_MANDELBROT_SYNC_REFERENCE_H
#define OVERLAP_GRADER_LESSONS_05_MANDELBROT_SYNC_REFERENCE_H

#include "grader/lessons/05_mandelbrot_sync/exchange.h"

enum reference_slip {
    REFERENCE_RIGHT = 0,
    REFERENCE_UPSIDE_DOWN,
    REFERENCE_MIRRORED,
    REFERENCE_COLUMN_END_EXCLUDED, /* real_high is never reached */
    REFERENCE_ROW_END_EXCLUDED,    /* imaginary_low is never reached */
    REFERENCE_BOTH_ENDS_EXCLUDED,
    REFERENCE_AXES_EXCHANGED, /* real and imaginary part */
    REFERENCE_SLIP_COUNT
};

/* Writes width * height bytes, 1 member and 0 escaped, row after row. */
void reference_draw(const struct mandelbrot_exchange_view *view, enum reference_slip slip,
                    unsigned char *members);

/* Describes the mistake: "the rows are upside down: ..."; NULL for REFERENCE_RIGHT. */
const char *reference_slip_sentence(enum reference_slip slip);

#endif
