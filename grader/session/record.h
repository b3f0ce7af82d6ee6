/* record: what the session judged, as the JSON object that every report is made from
 * (grader/report/report.h says what is in it). Results go in, a value comes out; nothing is
 * decided.
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

/* A class of one: {"submissions": [record]}. The caller's. NULL: no memory. */
json_t *record_make(const struct record_facts *facts);

#endif
