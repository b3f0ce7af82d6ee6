/* rest: controls how much the recorder of a GPU records. Shared by the runner, which controls it,
 * and the recorder, which is not linked with the runner.
 */
#ifndef OVERLAP_TRACE_REST_H
#define OVERLAP_TRACE_REST_H

#include <stdint.h>

enum rest {
    REST_NOT,     /* everything is recorded */
    REST_DEVICE,  /* only calls are recorded; CUPTI takes longer to resume recording of device
                     work */
    REST_ENTIRELY /* nothing is recorded */
};

/* A secret number, in hexadecimal, that the recorder and the runner read before a submission is
 * loaded. The recorder obeys only callers that pass this number; without the variable it obeys
 * nobody. */
#define REST_WORD_VARIABLE "WORD"

#define REST_FUNCTION "overlap_rest"
typedef void rest_function(uint64_t word, enum rest rest);

#endif
