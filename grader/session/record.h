/* record: makes the JSON object from which every report is made (grader/report/report.h describes
 * it) from what the session judged. This module decides nothing.
 */
#ifndef OVERLAP_GRADER_SESSION_RECORD_H
#define OVERLAP_GRADER_SESSION_RECORD_H

#include "grader/base/json.h"
#include "grader/run/devices.h"
#include "grader/session/options.h"
#include "grader/session/results.h"

struct record_facts {
    const struct options *options;
    const struct devices *devices;
    const struct results *results;
    uint64_t seed;
    bool complete;       /* every test that was to run was judged */
    const char *trouble; /* why the grader could not go on; "" */
};

/* Returns {"submissions": [record]}, a class of one submission; owned by the caller. NULL: no
 * memory. */
json_t *record_make(const struct record_facts *facts);

#endif
