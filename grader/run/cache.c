#include "grader/run/cache.h"
#include "grader/base/messages.h"
#include "grader/evidence/evidence.h"
#include "grader/evidence/injections.h"
#include "grader/evidence/rounds.h"
#include "grader/evidence/sources.h"
#include "grader/evidence/timing.h"
#include "grader/run/gpu_lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
#define HURRIED_SECONDS 4.0
#else
#define HURRIED_SECONDS 1.0
#endif
#define PATIENCE_SECONDS 2.0

/* Returns the slot's value of OVERLAP_ORDER, in the form that emulator/timeline understands. */
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
    store->wanted = calloc(store->plan_count + 1, sizeof *store->wanted);
    if (store->sets == NULL || store->wanted == NULL) return -1;
    /* Without debug information the lines are unknown, but grading goes on. */
    const char *root = store->toolchain->compiled_source;
    store->sources = sources_open(store->compiled->library, store->handed_in->shown, root);
    snprintf(store->reference_shown, sizeof store->reference_shown, "solutions/%.100s",
             lesson->folder);
    if (store->reference != NULL && store->reference->ok)
        store->reference_sources =
            sources_open(store->reference->library, store->reference_shown, root);
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
    free(store->wanted);
    store->wanted = NULL;
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

    if (plan->flags & RUN_OPENCL) {
        gpu = gpu && devices->no_opencl_gpu[0] == '\0';
        emulator = may_emulator && devices->emulator && devices->no_opencl[0] == '\0' && !gpu;
        if (!gpu && !emulator && reason != NULL) {
            text_add(reason, devices->gpu && may_gpu ? devices->no_opencl_gpu
                             : devices->emulator     ? devices->no_opencl
                                                     : devices->no_emulator);
            return 0;
        }
    }
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
            text_format(reason, _("This can only be judged on a GPU, and there is none: %s."),
                        _(devices->no_gpu));
        else
            text_format(reason, _("Only the emulator can %s, and it is not used: %s."),
                        plan->flags & RUN_INJECTIONS ? _("make calls fail") : _("see this"),
                        devices->no_emulator);
    }
    return count;
}

/* After the run without failures, makes the runs in which one call fails each. Returns 0 or -1. */
static int make_faults(const struct run_request *plain, struct run_set *set,
                       struct trouble *trouble)
{
    struct injection chosen[INJECTIONS_MOST];
    struct run_request requests[INJECTIONS_MOST];
    struct evidence *first = &set->repeats[0];

    const size_t count = injections_choose(first, chosen, INJECTIONS_MOST, &first->fault_calls);
    set->injections = calloc(count + 1, sizeof *set->injections);
    if (set->injections == NULL) {
        trouble_set(trouble, TROUBLE_MEMORY, "the grader");
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        requests[i] = *plain;
        requests[i].injection = chosen[i].which;
        requests[i].injection_of_host = chosen[i].of_host;
    }
    if (run_make_several(requests, count, set->injections, &set->injection_count, trouble) != 0)
        return -1;
    first->injections = set->injections;
    first->injection_count = set->injection_count;
    return 0;
}

/* Sets the pointers through which the judge reaches all runs of the set from each of them. */
static void join(struct run_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        set->repeats[i].repeats = set->repeats;
        set->repeats[i].repeat_count = set->count;
        set->repeats[i].references = set->references;
    }
}

static struct run_request request_for(const struct cache *store, const struct run_plan *plan,
                                      enum cache_slot slot, char order[CACHE_ORDER], bool reference)
{
    return (struct run_request){
        .toolchain = store->toolchain,
        .lesson = store->handed_in->lesson,
        .plan = plan,
        .library = reference ? store->reference->library : store->compiled->library,
        .shown_folder = reference ? store->reference_shown : store->handed_in->shown,
        .sources = reference ? store->reference_sources : store->sources,
        .device = slot == SLOT_GPU ? DRIVE_GPU : DRIVE_EMULATOR,
        .gpus = store->devices->gpu_count,
        .order = order_of(slot, order),
        .reference = reference,
        .seed = store->seed,
        .seconds_at_most = store->endless != NULL ? HURRIED_SECONDS : 0,
        .after = store->endless,
    };
}

/* ---- timed runs in turn ----------------------------------------------------------------------
 * On a GPU timed runs are made in sets of fresh processes, because a favourable memory layout, or
 * an effect of the first call, is in every sample of a process. Making and ending a context takes a
 * fifth of a second of all processes' time, so the first set has one process of the submission and
 * one of the reference. Sets with two of each follow where that effect could change the verdict. */

static const struct {
    bool reference;
    unsigned repeat; /* pairs with the same number get the same inputs */
} in_turn[] = {{false, 0}, {true, 0}, {true, 1}, {false, 1}};
static const struct turns_pair turn_pairs[] = {{0, 1}, {3, 2}};

#define IN_TURN (sizeof in_turn / sizeof *in_turn)
#define TURN_PAIRS (sizeof turn_pairs / sizeof *turn_pairs)
#define MOST_SETS 3
/* A process may be slow or fast for its whole life, by up to this factor, depending on its memory
 * layout. A process that makes its contexts anew in each round has another layout each time. */
#define OF_A_PROCESS 1.35
/* A ratio beyond this factor is due to the program alone. */
#define BEYOND_DOUBT 2.0

static size_t pairs_of_set(unsigned number)
{
    return number == 0 ? 1 : TURN_PAIRS;
}

/* Returns the process of the submission that ended badly or cannot be judged: the one that had the
 * turn, because the others may have waited for it until their time was up. SIZE_MAX: none. */
static size_t worst_of(const struct turns *turns, const struct evidence *whole)
{
    size_t worst = SIZE_MAX;
    for (size_t i = 0; i < turns->count; i++)
        if (!in_turn[i].reference && !evidence_usable(&whole[i]) &&
            (worst == SIZE_MAX || i == turns->holder))
            worst = i;
    return worst;
}

/* Splits the evidence into rounds, pair by pair. Returns 0 or -1. */
static int split(const struct turns *turns, const struct evidence *whole, struct run_set *set)
{
    for (unsigned round = 1; round <= turns->rounds; round++) {
        for (size_t pair = 0; pair < turns->pair_count; pair++) {
            const size_t a = turn_pairs[pair].submission, b = turn_pairs[pair].reference;
            struct evidence *one = &set->repeats[set->count], *other = &set->references[set->count];
            if (rounds_take(&whole[a], round, one) != 0) return -1;
            set->count++;
            if (rounds_take(&whole[b], round, other) != 0) return -1;
            one->seconds = turns->processes[a].whole_s[round];
            one->clocked = turns->processes[a].clocked_s[round];
            one->between = rounds_call_between(&whole[a]) != NULL;
            other->seconds = turns->processes[b].whole_s[round];
            other->clocked = turns->processes[b].clocked_s[round];
        }
    }
    return 0;
}

/* Reduces the set to this one evidence: a run that ended badly, or one without a reference beside
 * it. */
static void show_alone(struct run_set *set, const struct evidence *one)
{
    for (size_t i = 0; i < set->count; i++) {
        evidence_release(&set->repeats[i]);
        evidence_release(&set->references[i]);
    }
    set->repeats[0] = *one;
    set->count = 1;
    join(set);
    set->repeats[0].references = NULL;
}

/* Runs a set of fresh processes and adds their rounds to the set. Returns 0 or -1; *again is set
 * when more processes could change the outcome. */
static int add_turns(struct cache *store, const struct run_plan *plan, unsigned number,
                     struct run_set *set, bool *again, struct trouble *trouble)
{
    struct run_request requests[IN_TURN];
    struct evidence whole[IN_TURN], one;
    const struct threshold threshold = threshold_on(plan->threshold, DRIVE_GPU);
    struct turns turns = {.pair_count = pairs_of_set(number), .threshold = &threshold};
    int result = 0;

    *again = false;
    turns.count = 2 * turns.pair_count;
    memcpy(turns.pairs, turn_pairs, sizeof turn_pairs);
    for (size_t i = 0; i < turns.count; i++) {
        requests[i] = request_for(store, plan, SLOT_GPU, set->order, in_turn[i].reference);
        requests[i].repeat = number * TURN_PAIRS + in_turn[i].repeat;
        requests[i].rounds = CONTROL_ROUNDS;
    }
    if (run_make_in_turn(requests, &turns, whole, trouble) != 0) return -1;
    const size_t worst = worst_of(&turns, whole);
    if (worst != SIZE_MAX) { /* nothing can be timed; only the ending is reported */
        show_alone(set, &whole[worst]);
        memset(&whole[worst], 0, sizeof whole[worst]);
    } else if (turns.rounds > 0) {
        result = split(&turns, whole, set);
        join(set);
        *again = true;
    } else if (set->count == 0) { /* the reference failed, not the submission */
        result = rounds_take(&whole[0], 0, &one);
        if (result == 0) show_alone(set, &one);
    }
    if (result != 0) trouble_set(trouble, TROUBLE_MEMORY, "the grader");
    for (size_t i = 0; i < turns.count; i++) evidence_release(&whole[i]);
    return result;
}

/* Returns true when other processes could give another outcome. */
static bool is_in_doubt(const struct run_plan *plan, const struct timing *timing, unsigned number)
{
    const struct ratio *ratio = &timing->ratio;
    const bool alone = number == 0 && plan->threshold->bound != BOUND_CONTEXTS;

    return timing->outcome == TIMING_TOO_NOISY ||
           (timing->outcome == TIMING_NOT_MET && ratio->low < BEYOND_DOUBT * ratio->limit) ||
           (timing->outcome == TIMING_MET && alone && ratio->high * OF_A_PROCESS > ratio->limit);
}

/* Makes the timed runs of a plan in turn. Returns 0 or -1. */
static int make_in_turn(struct cache *store, const struct run_plan *plan, struct run_set *set,
                        struct trouble *trouble)
{
    const size_t most = MOST_SETS * TURN_PAIRS * CONTROL_ROUNDS;
    bool again = true;

    set->repeats = calloc(most, sizeof *set->repeats);
    set->references = calloc(most, sizeof *set->references);
    if (set->repeats == NULL || set->references == NULL) {
        trouble_set(trouble, TROUBLE_MEMORY, "the grader");
        return -1;
    }
    for (unsigned number = 0; number < MOST_SETS && again; number++) {
        if (add_turns(store, plan, number, set, &again, trouble) != 0) return -1;
        if (!again) break;
        const struct timing timing = timing_compare(&set->repeats[0]);
        again = is_in_doubt(plan, &timing, number);
    }
    return 0;
}

/* Makes the submission's run, and the reference's at the same time where there is one. The
 * emulator's clock is virtual, so neither affects the other's time. Returns 0 or -1. */
static int make_pair(struct cache *store, const struct run_plan *plan, enum cache_slot slot,
                     struct run_set *set, struct trouble *trouble)
{
    const size_t wanted = set->references != NULL ? 2 : 1;
    struct run_request requests[2];
    struct evidence made[2];
    size_t count = 0;

    for (size_t i = 0; i < wanted; i++)
        requests[i] = request_for(store, plan, slot, set->order, i == 1);
    const int result = run_make_several(requests, wanted, made, &count, trouble);
    if (count > 0) set->repeats[0] = made[0];
    if (count > 1) set->references[0] = made[1];
    set->count = count > 0;
    return result;
}

/* Makes the run once; on the emulator, whose clock is exact, this includes timed runs. Returns 0 or
 * -1. */
static int make_once(struct cache *store, const struct run_plan *plan, enum cache_slot slot,
                     struct run_set *set, bool timed, struct trouble *trouble)
{
    /* The same lesson.so with the same inputs takes the same time. */
    const bool same = timed && strcmp(store->reference->library, store->compiled->library) == 0;

    set->repeats = calloc(1, sizeof *set->repeats);
    if (timed && !same) set->references = calloc(1, sizeof *set->references);
    if (set->repeats == NULL || (timed && !same && set->references == NULL)) {
        trouble_set(trouble, TROUBLE_MEMORY, "the grader");
        return -1;
    }
    if (make_pair(store, plan, slot, set, trouble) != 0) return -1;
    if ((plan->flags & RUN_INJECTIONS) && evidence_usable(set->repeats)) {
        const struct run_request plain = request_for(store, plan, slot, set->order, false);
        if (make_faults(&plain, set, trouble) != 0) return -1;
    }
    if (same) set->references = set->repeats;
    join(set);
    /* The judge sees a reference only beside a submission that ended well. */
    if (!evidence_usable(set->repeats)) set->repeats->references = NULL;
    return 0;
}

/* ---- runs that do not end --------------------------------------------------------------------
 */

static bool does_not_end(const struct evidence *evidence)
{
    struct query query = {.kind = TRACE_FINDING};

    if (evidence->ending == ENDED_TIME) return true;
    for (const struct trace_record *r = NULL; (r = evidence_next(evidence, &query, r)) != NULL;)
        if (r->finding.id == FINDING_ENDLESS) return true;
    return false;
}

/* Checks the runs of a set for one that did not end. The reference's runs do not count. */
static void note_endless(struct cache *store, const struct run_plan *plan,
                         const struct run_set *set)
{
    for (size_t i = 0; i < set->count + set->injection_count; i++) {
        const struct evidence *one =
            i < set->count ? &set->repeats[i] : &set->injections[i - set->count];
        if (!does_not_end(one)) continue;
        if (one->after != NULL) store->patience_s -= one->own_seconds;
        if (store->endless == NULL) store->patience_s = PATIENCE_SECONDS;
        if (store->endless == NULL) store->endless = plan;
    }
}

/* Returns true when the run is not made any more: the time for such runs is used up, or the plan
 * has many runs. */
static bool is_given_up(const struct cache *store, const struct run_plan *plan)
{
    return store->endless != NULL &&
           (store->patience_s <= 0 || (plan->flags & RUN_INJECTIONS) != 0);
}

/* Makes the evidence of a run that was not made. Returns 0 or -1. */
static int make_nothing(struct cache *store, const struct run_plan *plan, enum cache_slot slot,
                        struct run_set *set, struct trouble *trouble)
{
    const struct run_request request = request_for(store, plan, slot, set->order, false);

    set->repeats = calloc(1, sizeof *set->repeats);
    if (set->repeats == NULL) return trouble_set(trouble, TROUBLE_MEMORY, "the grader");
    set->repeats[0] = (struct evidence){.lesson = request.lesson,
                                        .plan = plan,
                                        .device = request.device,
                                        .order = request.order,
                                        .ending = ENDED_NOT_MADE,
                                        .after = store->endless,
                                        .shown_folder = request.shown_folder,
                                        .sources = request.sources,
                                        .trace_sound = true,
                                        .repeat_count = 1};
    set->count = 1;
    if (evidence_index_build(&set->repeats[0]) != 0)
        return trouble_set(trouble, TROUBLE_MEMORY, "the grader");
    join(set);
    return 0;
}

/* Returns true for a timed plan with a compiled reference. */
static bool is_compared(const struct cache *store, const struct run_plan *plan)
{
    return (plan->flags & RUN_TIMED) && store->reference != NULL && store->reference->ok;
}

static int make_set(struct cache *store, size_t plan_index, enum cache_slot slot,
                    struct run_set *set, struct trouble *trouble)
{
    const struct run_plan *plan = &store->handed_in->lesson->runs[plan_index];
    const bool timed = is_compared(store, plan);

    const int result = timed && slot == SLOT_GPU
                           ? make_in_turn(store, plan, set, trouble)
                           : make_once(store, plan, slot, set, timed, trouble);
    if (result == 0) note_endless(store, plan, set);
    return result;
}

/* ---- side by side ---------------------------------------------------------------------------- */

/* GPU memory that is enough for all RUN_LARGE runs of one submission at once; each of them has
 * contexts of half a GiB.
 */
#define ROOMY ((uint64_t)40 << 30)

static bool is_roomy(const struct cache *store)
{
    return store->devices->gpu_bytes >= ROOMY;
}

/* Returns true where the device's own times are judged, so that nothing else may run beside it. */
static bool is_alone(const struct run_plan *plan)
{
    return (plan->flags & (RUN_TIMED | RUN_ALONE)) != 0;
}

/* A run that may be made. */
struct candidate {
    size_t plan;
    enum cache_slot slot;
};

/* Returns true when `other` may be made together with `asked`. */
static bool goes_with(const struct cache *store, struct candidate asked, struct candidate other)
{
    const struct run_plan *plans = store->handed_in->lesson->runs;

    if (!store->wanted[other.plan][other.slot] || store->sets[other.plan][other.slot].made)
        return false;
    if (asked.slot != SLOT_GPU) return other.slot != SLOT_GPU && other.plan == asked.plan;
    if (other.slot != SLOT_GPU || is_alone(&plans[other.plan])) return false;
    /* A RUN_LARGE run needs a lock, which is held only if a RUN_LARGE run was asked for. */
    if (plans[asked.plan].flags & RUN_LARGE) return is_roomy(store);
    return (plans[other.plan].flags & RUN_LARGE) == 0;
}

/* Lists the run that was asked for and those that go with it. Returns how many. */
static size_t list_candidates(const struct cache *store, struct candidate asked,
                              struct candidate *list)
{
    size_t count = 0;

    list[count++] = asked;
    for (size_t i = 0; i < store->plan_count; i++) {
        for (size_t slot = 0; slot < SLOT_COUNT; slot++) {
            const struct candidate other = {(asked.plan + i) % store->plan_count, slot};
            if ((other.plan != asked.plan || other.slot != asked.slot) &&
                goes_with(store, asked, other))
                list[count++] = other;
        }
    }
    return count;
}

static struct run_set *set_of(const struct cache *store, struct candidate candidate)
{
    return &store->sets[candidate.plan][candidate.slot];
}

/* Makes the runs of the list and keeps those that were made. After a run that ends badly the
 * remaining ones wait until they are asked for. Returns 0 or -1. */
static int make_listed(struct cache *store, const struct candidate *list, size_t count,
                       struct trouble *trouble)
{
    struct run_request *requests = calloc(count, sizeof *requests);
    struct evidence *evidences = calloc(count, sizeof *evidences);
    size_t made = 0;
    int result = requests != NULL && evidences != NULL ? 0 : -1;

    for (size_t i = 0; i < count && result == 0; i++) {
        struct run_set *set = set_of(store, list[i]);
        set->repeats = calloc(1, sizeof *set->repeats);
        if (set->repeats == NULL) result = -1;
        requests[i] = request_for(store, &store->handed_in->lesson->runs[list[i].plan],
                                  list[i].slot, set->order, false);
    }
    if (result != 0) trouble_set(trouble, TROUBLE_MEMORY, "the grader");
    if (result == 0) result = run_make_several(requests, count, evidences, &made, trouble);
    for (size_t i = 0; i < count; i++) {
        struct run_set *set = set_of(store, list[i]);
        if (i < made && result == 0) {
            set->repeats[0] = evidences[i];
            set->made = true;
            set->count = 1;
            join(set);
            note_endless(store, set->repeats[0].plan, set);
        } else {
            if (i < made) evidence_release(&evidences[i]);
            free(set->repeats);
            set->repeats = NULL;
        }
    }
    free(requests);
    free(evidences);
    return result;
}

/* Makes this run and those that go with it. On a GPU most of a small run's time is process start;
 * on the emulator a run seldom uses more than one processor. Returns 0 or -1. */
static int make_together(struct cache *store, size_t plan, enum cache_slot slot,
                         struct trouble *trouble)
{
    struct candidate *list = calloc(store->plan_count * SLOT_COUNT, sizeof *list);
    int result = -1;

    if (list == NULL)
        trouble_set(trouble, TROUBLE_MEMORY, "the grader");
    else
        result = make_listed(store, list,
                             list_candidates(store, (struct candidate){plan, slot}, list), trouble);
    free(list);
    return result;
}

static int make_locked(struct cache *store, size_t plan, struct trouble *trouble)
{
    const struct run_plan *asked = &store->handed_in->lesson->runs[plan];
    const bool alone = is_alone(asked);
    /* Timed runs take the lock themselves, so that inputs are drawn and results read without it. */
    if (is_compared(store, asked))
        return make_set(store, plan, SLOT_GPU, &store->sets[plan][SLOT_GPU], trouble);
    const bool large = (asked->flags & RUN_LARGE) != 0;
    int memory = -1, lock = -1, result = -1;
    if (large && (memory = gpu_lock_take(store->toolchain, GPU_LOCK_LARGE, trouble)) < 0) return -1;
    lock = gpu_lock_take(store->toolchain,
                         alone || (large && !is_roomy(store)) ? GPU_LOCK_ALONE : GPU_LOCK_SHARED,
                         trouble);
    if (lock >= 0)
        result = alone ? make_set(store, plan, SLOT_GPU, &store->sets[plan][SLOT_GPU], trouble)
                       : make_together(store, plan, SLOT_GPU, trouble);
    gpu_lock_release(lock);
    gpu_lock_release(memory);
    return result;
}

/* Makes runs on the emulator, side by side. Once a run has not come to its end, the others are made
 * one after another, because each may be the last (is_given_up). */
static int make_on_emulator(struct cache *store, size_t plan, enum cache_slot slot,
                            struct trouble *trouble)
{
    const unsigned flags = store->handed_in->lesson->runs[plan].flags;

    if ((flags & RUN_IN_EVERY_ORDER) && !(flags & (RUN_TIMED | RUN_INJECTIONS)) &&
        store->endless == NULL)
        return make_together(store, plan, slot, trouble);
    return make_set(store, plan, slot, &store->sets[plan][slot], trouble);
}

void cache_want(struct cache *store, const struct check *check, const enum cache_slot *slots,
                size_t count)
{
    const size_t plan = cache_plan(store->handed_in->lesson, check);
    for (size_t i = 0; i < count; i++) store->wanted[plan][slots[i]] = true;
}

const struct evidence *cache_evidence(struct cache *store, size_t plan, enum cache_slot slot,
                                      struct trouble *trouble)
{
    struct run_set *set = &store->sets[plan][slot];
    const struct run_plan *one = &store->handed_in->lesson->runs[plan];

    if (set->made) return &set->repeats[0];
    if ((is_given_up(store, one) ? make_nothing(store, one, slot, set, trouble)
         : slot == SLOT_GPU      ? make_locked(store, plan, trouble)
                                 : make_on_emulator(store, plan, slot, trouble)) != 0)
        return NULL;
    set->made = true;
    return &set->repeats[0];
}
