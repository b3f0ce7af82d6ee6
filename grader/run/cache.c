#include "grader/run/cache.h"
#include "grader/evidence/evidence.h"
#include "grader/evidence/injections.h"
#include "grader/evidence/sources.h"
#include "grader/evidence/timing.h"
#include "grader/run/gpu_lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The slot's OVERLAP_ORDER, as emulator/timeline understands it. */
static const char *order_of(enum cache_slot slot, char text[CACHE_ORDER])
{
    if (slot == SLOT_GPU) return NULL;
    if (slot < SLOT_RANDOM)
        snprintf(text, CACHE_ORDER, "%s", slot == SLOT_LATEST ? "latest" : "earliest");
    else
        snprintf(text, CACHE_ORDER, "random:%d", (int)(slot - SLOT_RANDOM) + 1);
    return text;
}

int cache_open(struct cache *store)
{
    const struct lesson *lesson = store->handed_in->lesson;

    store->plan_count = 0;
    while (lesson->runs[store->plan_count].name != NULL) store->plan_count++;
    store->sets = calloc(store->plan_count + 1, sizeof *store->sets);
    if (store->sets == NULL) return -1;
    /* Without debug information lines are not known, but the grading goes on. */
    store->sources =
        sources_open(store->compiled->library, store->handed_in->shown, store->toolchain->source);
    snprintf(store->reference_shown, sizeof store->reference_shown, "solutions/%.100s",
             lesson->folder);
    if (store->reference != NULL && store->reference->ok)
        store->reference_sources = sources_open(store->reference->library, store->reference_shown,
                                                store->toolchain->source);
    return 0;
}

void cache_close(struct cache *store)
{
    for (size_t i = 0; store->sets != NULL && i < store->plan_count; i++) {
        for (size_t slot = 0; slot < SLOT_COUNT; slot++) {
            struct run_set *set = &store->sets[i][slot];
            bool shared = set->references == set->repeats;
            for (size_t j = 0; j < set->count; j++) {
                evidence_release(&set->repeats[j]);
                if (set->references != NULL && !shared) evidence_release(&set->references[j]);
            }
            for (size_t j = 0; j < set->injection_count; j++) evidence_release(&set->injections[j]);
            free(set->injections);
            free(set->repeats);
            if (!shared) free(set->references);
        }
    }
    free(store->sets);
    sources_close(store->sources);
    sources_close(store->reference_sources);
    store->sets = NULL;
    store->sources = store->reference_sources = NULL;
}

size_t cache_plan(const struct lesson *lesson, const struct check *check)
{
    for (size_t i = 0; lesson->runs[i].name != NULL; i++)
        if (strcmp(lesson->runs[i].name, check->run) == 0) return i;
    return SIZE_MAX;
}

size_t cache_slots(const struct devices *devices, const struct lesson *lesson,
                   const struct check *check, unsigned random_orders,
                   enum cache_slot slots[SLOT_COUNT], struct text *reason)
{
    const struct run_plan *plan = &lesson->runs[cache_plan(lesson, check)];
    bool may_gpu = (plan->flags & RUN_ON_GPU) && !(check->flags & CHECK_EMULATOR_ONLY);
    bool may_emulator = (plan->flags & RUN_ON_EMULATOR) && !(check->flags & CHECK_GPU_ONLY);
    bool gpu = may_gpu && devices->gpu;
    bool emulator = may_emulator && devices->emulator && (!gpu || (check->flags & CHECK_ORDER));
    size_t count = 0;

    if (gpu) slots[count++] = SLOT_GPU;
    if (emulator) {
        bool every = plan->flags & RUN_IN_EVERY_ORDER;
        bool earliest = every && (check->flags & CHECK_EARLIEST);
        if (!earliest) slots[count++] = SLOT_LATEST;
        if (every) slots[count++] = SLOT_EARLIEST;
        for (unsigned i = 0; every && !earliest && i < random_orders; i++)
            slots[count++] = SLOT_RANDOM + i;
    }
    if (count == 0 && reason != NULL) {
        if (may_gpu)
            text_format(reason, "This can only be judged on a GPU, and there is none: %s.",
                        devices->no_gpu);
        else
            text_format(reason, "Only the emulator can %s, and it is not used: %s.",
                        plan->flags & RUN_INJECTIONS ? "make calls fail" : "see this",
                        devices->no_emulator);
    }
    return count;
}

/* After the run in which no call was made to fail, those in which one is. Returns 0 or -1. */
static int make_faults(const struct run_request *plain, struct run_set *set, struct text *why)
{
    struct injection chosen[INJECTIONS_MOST];
    struct run_request requests[INJECTIONS_MOST];
    struct evidence *first = &set->repeats[0];

    const size_t count = injections_choose(first, chosen, INJECTIONS_MOST, &first->fault_calls);
    set->injections = calloc(count + 1, sizeof *set->injections);
    if (set->injections == NULL) {
        text_add(why, "no memory");
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        requests[i] = *plain;
        requests[i].injection = chosen[i].which;
        requests[i].injection_of_host = chosen[i].of_host;
    }
    if (run_make_several(requests, count, set->injections, &set->injection_count, why) != 0)
        return -1;
    first->injections = set->injections;
    first->injection_count = set->injection_count;
    return 0;
}

/* Runs the submission and, if it is timed, the reference in turn with it. Returns 0 or -1. */
static int make_set(struct cache *store, size_t plan_index, enum cache_slot slot,
                    struct run_set *set, struct text *why)
{
    const struct lesson *lesson = store->handed_in->lesson;
    const struct run_plan *plan = &lesson->runs[plan_index];
    bool timed = (plan->flags & RUN_TIMED) && store->reference != NULL && store->reference->ok;
    /* On the emulator's clock the same lesson.so with the same inputs takes the same time. */
    bool same = timed && slot != SLOT_GPU &&
                strcmp(store->reference->library, store->compiled->library) == 0;
    size_t warm_ups = timed && slot == SLOT_GPU ? TIMING_WARM_UPS : 0;
    size_t count = timed && slot == SLOT_GPU ? TIMING_PAIRS : 1;
    struct run_request submission = {
        .toolchain = store->toolchain,
        .lesson = lesson,
        .plan = plan,
        .library = store->compiled->library,
        .shown_folder = store->handed_in->shown,
        .sources = store->sources,
        .device = slot == SLOT_GPU ? DRIVE_GPU : DRIVE_EMULATOR,
        .order = order_of(slot, set->order),
        .seed = store->seed,
    };

    set->repeats = calloc(count, sizeof *set->repeats);
    if (timed && !same) set->references = calloc(count, sizeof *set->references);
    if (set->repeats == NULL || (timed && !same && set->references == NULL)) {
        text_add(why, "no memory");
        return -1;
    }
    for (size_t i = 0; i < warm_ups + count; i++) {
        size_t at = i < warm_ups ? 0 : i - warm_ups;
        struct run_request reference = submission;
        reference.repeat = submission.repeat = (unsigned)i;
        if (run_make(&submission, &set->repeats[at], why) != 0) return -1;
        set->count = at + 1;
        /* Once it has ended badly there is nothing to time. */
        if (set->repeats[at].ending != ENDED_WELL) break;
        if (set->references != NULL) {
            reference.library = store->reference->library;
            reference.shown_folder = store->reference_shown;
            reference.sources = store->reference_sources;
            reference.reference = true;
            if (run_make(&reference, &set->references[at], why) != 0) return -1;
        }
        if (i < warm_ups) {
            evidence_release(&set->repeats[at]);
            if (set->references != NULL) evidence_release(&set->references[at]);
            set->count = 0;
        }
    }
    if ((plan->flags & RUN_INJECTIONS) && evidence_usable(&set->repeats[0]) &&
        make_faults(&submission, set, why) != 0)
        return -1;
    if (same) set->references = set->repeats;
    for (size_t i = 0; i < set->count; i++) {
        set->repeats[i].repeats = set->repeats;
        set->repeats[i].repeat_count = set->count;
        /* A reference that was not run for want of a good submission is not shown to the judge. */
        if (set->repeats[set->count - 1].ending == ENDED_WELL)
            set->repeats[i].references = set->references;
    }
    return 0;
}

/* The same; on a GPU, alone where something is timed. */
static int make_set_locked(struct cache *store, size_t plan, enum cache_slot slot,
                           struct run_set *set, struct text *why)
{
    const bool timed = store->handed_in->lesson->runs[plan].flags & RUN_TIMED;

    if (slot != SLOT_GPU) return make_set(store, plan, slot, set, why);
    const int lock = gpu_lock_take(store->toolchain, timed, why);
    if (lock < 0) return -1;
    const int result = make_set(store, plan, slot, set, why);
    gpu_lock_release(lock);
    return result;
}

const struct evidence *cache_evidence(struct cache *store, size_t plan, enum cache_slot slot,
                                      struct text *why)
{
    struct run_set *set = &store->sets[plan][slot];

    if (!set->made && make_set_locked(store, plan, slot, set, why) != 0) return NULL;
    set->made = true;
    return &set->repeats[0];
}
