/* cache: the evidence of one lesson, made when a check first asks for it and kept until the lesson
 * is done: each run happens once per device and order, however many checks read it.
 *
 * Once a run of the lesson has not come to its end, the others get a second each, and when such
 * ones have taken two seconds more, no further ones are made: their checks are not judged, and
 * say which run was the first.
 */
#ifndef OVERLAP_GRADER_RUN_CACHE_H
#define OVERLAP_GRADER_RUN_CACHE_H

#include "grader/build/compile.h"
#include "grader/run/devices.h"
#include "grader/run/run.h"

#define CACHE_MOST_ORDERS 50 /* random ones */

/* Where and in which order a run happens: SLOT_RANDOM + n is the random order of seed n + 1. */
enum cache_slot {
    SLOT_GPU,
    SLOT_LATEST,
    SLOT_EARLIEST,
    SLOT_RANDOM,
    SLOT_COUNT = SLOT_RANDOM + CACHE_MOST_ORDERS
};

#define CACHE_ORDER 16 /* "random:20" */

/* A run, its repetitions, and the reference's. */
struct run_set {
    bool made;
    char order[CACHE_ORDER]; /* the evidence refers to it */
    struct evidence *repeats;
    struct evidence *references; /* may be `repeats` itself */
    size_t count;
    struct evidence *injections; /* RUN_INJECTIONS */
    size_t injection_count;
};

struct cache {
    const struct toolchain *toolchain;
    const struct devices *devices;
    const struct handed_in *handed_in;
    const struct compiled *compiled;  /* the submission; ok */
    const struct compiled *reference; /* the reference solution; may be NULL: nothing is timed */
    uint64_t seed;
    struct sources *sources, *reference_sources;
    char reference_shown[128];
    struct run_set (*sets)[SLOT_COUNT]; /* one row for each of the lesson's run plans */
    bool (*wanted)[SLOT_COUNT];         /* of each run plan: a check reads it (cache_want) */
    size_t plan_count;
    /* A run that does not end is waited for once: the first such one; NULL: none so far. */
    const struct run_plan *endless;
    double patience_s; /* for further ones that do not end, together, by their own clocks */
};

/* Returns 0, or -1: no memory. */
int cache_open(struct cache *store);
void cache_close(struct cache *store);

/* The plan that a check reads, as an index, or SIZE_MAX: the lesson's table is wrong. */
size_t cache_plan(const struct lesson *lesson, const struct check *check);

/* Which slots a check is judged on, in the order of judging; returns how many. Runs that are made
 * in every order are made in `random_orders` random ones. None: *reason (may be NULL) says why, as
 * the end of a sentence. */
size_t cache_slots(const struct devices *devices, const struct lesson *lesson,
                   const struct check *check, unsigned random_orders,
                   enum cache_slot slots[SLOT_COUNT], struct text *reason);

/* There will be a check that is judged on these slots. When the first of them is asked for, runs
 * are made side by side: on a GPU those of all plans that need not be alone there, on the emulator
 * the orders of one plan. */
void cache_want(struct cache *store, const struct check *check, const enum cache_slot *slots,
                size_t count);

/* The evidence of a slot; runs if it has not been made. NULL: the machine had trouble. */
const struct evidence *cache_evidence(struct cache *store, size_t plan, enum cache_slot slot,
                                      struct trouble *trouble);

#endif
