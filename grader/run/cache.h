/* cache: the evidence of one lesson, made when a check first asks for it and kept until the lesson
 * is done: each run happens once per device and order, however many checks read it.
 *
 * Once a run of the lesson has not come to its end, each other run gets one second, and when such
 * runs have used two more seconds together, no further runs are made. Their checks are not judged,
 * and say which run was the first that did not end.
 */
#ifndef OVERLAP_GRADER_RUN_CACHE_H
#define OVERLAP_GRADER_RUN_CACHE_H

#include "grader/build/compile.h"
#include "grader/run/devices.h"
#include "grader/run/run.h"

#define CACHE_MOST_ORDERS 50 /* random orders */

/* The device and order of a run: SLOT_RANDOM + n is the random order of seed n + 1. */
enum cache_slot {
    SLOT_GPU,
    SLOT_LATEST,
    SLOT_EARLIEST,
    SLOT_RANDOM,
    SLOT_COUNT = SLOT_RANDOM + CACHE_MOST_ORDERS
};

#define CACHE_ORDER 16 /* "random:20" */

/* A run, its repetitions, and the reference's runs. */
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
    const struct compiled *compiled;  /* the submission; it compiled */
    const struct compiled *reference; /* the reference solution; may be NULL: nothing is timed */
    uint64_t seed;
    struct sources *sources, *reference_sources;
    char reference_shown[128];
    struct run_set (*sets)[SLOT_COUNT]; /* one row per run plan of the lesson */
    bool (*wanted)[SLOT_COUNT];         /* per run plan: a check will read it (cache_want) */
    size_t plan_count;
    /* The plan of the first run that did not end; NULL: none so far. */
    const struct run_plan *endless;
    double patience_s; /* seconds left for further runs that do not end, all together, by the runs'
                          own clocks */
};

/* Returns 0, or -1: no memory. */
int cache_open(struct cache *store);
void cache_close(struct cache *store);

/* Returns the index of the plan that a check reads, or SIZE_MAX: the lesson's table is wrong. */
size_t cache_plan(const struct lesson *lesson, const struct check *check);

/* Lists the slots on which a check is judged, in the order of judging; returns how many. A plan
 * with RUN_IN_EVERY_ORDER gets `random_orders` random orders. With 0 slots *reason (may be NULL)
 * says why, as the end of a sentence. */
size_t cache_slots(const struct devices *devices, const struct lesson *lesson,
                   const struct check *check, unsigned random_orders,
                   enum cache_slot slots[SLOT_COUNT], struct text *reason);

/* Announces that a check will be judged on these slots. When the first of them is asked for, runs
 * are made side by side: on a GPU those of all plans that need not run alone, on the emulator the
 * orders of one plan. */
void cache_want(struct cache *store, const struct check *check, const enum cache_slot *slots,
                size_t count);

/* Returns the evidence of a slot, and makes the run if it was not made yet. NULL: the machine had
 * trouble. */
const struct evidence *cache_evidence(struct cache *store, size_t plan, enum cache_slot slot,
                                      struct trouble *trouble);

#endif
