/* rest: how much the recorder of a GPU records, between the runner that says so and the recorder,
 * which is linked into nothing of the runner's.
 */
#ifndef OVERLAP_TRACE_REST_H
#define OVERLAP_TRACE_REST_H

#include <stdint.h>

enum rest {
    REST_NOT,     /* all is recorded */
    REST_DEVICE,  /* calls alone. What the device does takes CUPTI longer to begin with again. */
    REST_ENTIRELY /* nothing is */
};

/* A number, in hexadecimal, that the recorder and the runner read before a submission is loaded.
 * Only who knows it is obeyed; without the variable nobody is. */
#define REST_WORD_VARIABLE "WORD"

#define REST_FUNCTION "overlap_rest"
typedef void rest_function(uint64_t word, enum rest rest);

#endif
