#include "grader/evidence/waits.h"
#include "grader/base/messages.h"
#include "grader/evidence/given.h"

#include <string.h>

/* Names as in the trace, without version suffix. A single query is not a wait, but polling until
 * the device is ready is one: consecutive queries count as one wait. */
static const struct {
    const char *name;
    bool query;
} waiting[] = {
    {"cudaDeviceSynchronize", false},
    {"cudaStreamSynchronize", false},
    {"cudaEventSynchronize", false},
    {"cudaThreadSynchronize", false},
    {"cudaMemcpy", false},
    {"cudaMemcpy2D", false},
    {"cudaMemcpy3D", false},
    {"cudaMemcpyToSymbol", false},
    {"cudaMemcpyFromSymbol", false},
    {"cuCtxSynchronize", false},
    {"cuStreamSynchronize", false},
    {"cuEventSynchronize", false},
    {"cuMemcpy", false},
    {"cuMemcpyHtoD", false},
    {"cuMemcpyDtoH", false},
    {"cudaStreamQuery", true},
    {"cudaEventQuery", true},
    {"cuStreamQuery", true},
    {"cuEventQuery", true},
};

static int find(const struct trace_record *call)
{
    for (size_t i = 0; i < sizeof waiting / sizeof *waiting; i++) {
        if (strncmp(call->name, waiting[i].name, TRACE_NAME_SIZE) == 0) return (int)i;
    }
    return -1;
}

bool waits_call(const struct trace_record *call)
{
    return find(call) >= 0;
}

bool waits_query(const struct trace_record *call)
{
    const int row = find(call);
    return row >= 0 && waiting[row].query;
}

/* Records are in the order of appending, so the larger of two pointers is the later record. Returns
 * the CALL that asked for the last operation of the `count` kinds before `end` (NULL: of the
 * phase). */
static const struct trace_record *last_request(const struct evidence *evidence,
                                               const struct phase *phase,
                                               const struct trace_record *end,
                                               const uint32_t *kinds, size_t count)
{
    const struct trace_record *last = NULL;

    for (size_t k = 0; k < count; k++) {
        const struct query query = {.phase = phase, .kind = TRACE_OPERATION, .what = kinds[k]};
        const struct trace_record *operation = NULL;
        while ((operation = evidence_next(evidence, &query, operation)) != NULL) {
            const struct trace_record *call = evidence_call_of(evidence, operation);
            if (call != NULL && (end == NULL || call < end) && (last == NULL || call > last))
                last = call;
        }
    }
    return last;
}

/* Returns the CALL by which the event of that number was recorded last before `end`, or NULL: a
 * call for just that, or, as the software device tells, one that launched a graph. */
static const struct trace_record *recorded_at(const struct evidence *evidence,
                                              const struct phase *phase, uint64_t event,
                                              const struct trace_record *end)
{
    const struct query calls = {.phase = phase, .kind = TRACE_CALL, .object = event};
    const struct query operations = {
        .phase = phase, .kind = TRACE_OPERATION, .what = TRACE_EVENT_RECORD, .object = event};
    const struct trace_record *call = NULL, *operation = NULL, *last = NULL;

    while ((call = evidence_next(evidence, &calls, call)) != NULL)
        if (call < end && strstr(call->name, "EventRecord") != NULL) last = call;
    while ((operation = evidence_next(evidence, &operations, operation)) != NULL) {
        call = evidence_call_of(evidence, operation);
        if (call != NULL && call < end && (last == NULL || call > last)) last = call;
    }
    return last;
}

/* Returns the CALL that asked for the last work which may be over because of this wait: of a wait
 * for an event, the last before the event was recorded. NULL: there is none. */
static const struct trace_record *waited_for(const struct evidence *evidence,
                                             const struct phase *phase,
                                             const struct trace_record *wait)
{
    static const uint32_t kinds[] = {TRACE_KERNEL, TRACE_COPY, TRACE_SET, TRACE_HOST_FUNCTION};
    const struct trace_record *end = wait + 1; /* a blocking copy waits for itself */

    if (strstr(wait->name, "Event") != NULL) end = recorded_at(evidence, phase, wait->object, wait);
    if (end == NULL) return NULL;
    return last_request(evidence, phase, end, kinds, sizeof kinds / sizeof *kinds);
}

struct waits waits_in(const struct evidence *evidence, const struct phase *phase)
{
    static const uint32_t kinds[] = {TRACE_KERNEL, TRACE_COPY, TRACE_SET};
    const struct query calls = {.phase = phase, .kind = TRACE_CALL, .student = true};
    struct waits waits = {
        .last_request = last_request(evidence, phase, NULL, kinds, sizeof kinds / sizeof *kinds)};
    const struct trace_record *call = NULL, *over = NULL;
    unsigned queries = 0; /* consecutive, without another call between */

    while ((call = evidence_next(evidence, &calls, call)) != NULL) {
        const int row = find(call);
        queries = row >= 0 && waiting[row].query ? queries + 1 : 0;
        /* One query only asks; the second in a row makes it a wait; further ones belong to the same
         * wait. */
        if (row < 0 || (waiting[row].query && queries != 2)) continue;
        if (waits.last_request != NULL && call < waits.last_request) {
            if (waits.early_count++ == 0) waits.early = call;
            continue;
        }
        const struct trace_record *reached = waited_for(evidence, phase, call);
        if (waits.late_count++ != 0 && waits.surplus == NULL &&
            (reached == NULL || (over != NULL && reached <= over)))
            waits.surplus = call;
        if (over == NULL || (reached != NULL && reached > over)) over = reached;
    }
    return waits;
}

/* Sets whether the thread of the wait asks for such operations before it, and behind it. */
static void asked_around(const struct evidence *evidence, const struct phase *phase,
                         const struct trace_record *wait, const uint32_t *kinds, size_t count,
                         bool *before, bool *behind)
{
    const struct query calls = {.phase = phase, .kind = TRACE_CALL, .thread = wait->thread};
    const struct trace_record *call = NULL;

    *before = *behind = false;
    while ((call = evidence_next(evidence, &calls, call)) != NULL) {
        const struct trace_record *work = evidence_operation_of(evidence, call);
        for (size_t k = 0; k < count && work != NULL; k++) {
            *before = *before || (work->what == kinds[k] && call < wait);
            *behind = *behind || (work->what == kinds[k] && call > wait);
        }
    }
}

const struct trace_record *waits_between(const struct evidence *evidence, const struct phase *phase,
                                         const uint32_t *kinds, size_t count)
{
    const struct query calls = {.phase = phase, .kind = TRACE_CALL, .student = true};
    const struct trace_record *wait = NULL;
    unsigned queries = 0; /* consecutive, as in waits_in */

    while ((wait = evidence_next(evidence, &calls, wait)) != NULL) {
        bool before, behind;
        queries = waits_query(wait) ? queries + 1 : 0;
        if (!waits_call(wait) || queries == 1) continue;
        asked_around(evidence, phase, wait, kinds, count, &before, &behind);
        if (before && behind) return wait;
    }
    return NULL;
}

/* Returns the first OPERATION that was asked for in the phase and that the software device ran
 * after the phase's end, or NULL. In the order `latest` an operation runs when something waits for
 * it. On a GPU the result is always NULL: its record lacks that time (ran_ns). */
static const struct trace_record *find_left(const struct evidence *evidence,
                                            const struct phase *phase)
{
    static const uint32_t kinds[] = {TRACE_COPY, TRACE_KERNEL, TRACE_SET, TRACE_HOST_FUNCTION};
    const struct trace_record *left = NULL;

    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const struct query query = {.phase = phase, .kind = TRACE_OPERATION, .what = kinds[k]};
        const struct trace_record *operation = NULL;
        while ((operation = evidence_next(evidence, &query, operation)) != NULL)
            if (operation->ran_ns > phase->end_ns &&
                (left == NULL || operation->ran_ns < left->ran_ns))
                left = operation;
    }
    return left;
}

bool waits_say_left(struct verdict *verdict, const struct evidence *evidence,
                    const struct phase *phase, const char *function, const char *before)
{
    const struct trace_record *left = find_left(evidence, phase);
    if (left == NULL) return false;
    verdict_fail(verdict, evidence, left,
                 "%s%s returned while %s that it asks for here was still to be done.", _(before),
                 function, given_work(left));
    verdict_why(verdict, "The caller has its memory again, and reads, changes or releases it "
                         "beside that work.");
    if (given_in_default(evidence, left))
        verdict_hint(verdict, "It is in a default stream, for which no wait for another stream "
                              "waits: is that the stream that it was to be in?");
    else
        verdict_hint(verdict,
                     "Wait for every stream that was given work, on every path out of the "
                     "function: an error of one call ends nothing that was asked for before "
                     "it.");
    return true;
}

const struct trace_record *waits_before_kernel(const struct evidence *evidence,
                                               const struct phase *phase)
{
    const struct query calls = {.phase = phase, .kind = TRACE_CALL, .student = true};
    const struct trace_record *call = NULL;
    while ((call = evidence_next(evidence, &calls, call)) != NULL) {
        const struct query kernels = {
            .phase = phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL, .stream = call->stream};
        const struct trace_record *kernel = NULL;
        if (strstr(call->name, "StreamWaitEvent") == NULL) continue;
        while ((kernel = evidence_next(evidence, &kernels, kernel)) != NULL)
            if (kernel->request > call->request) return call;
    }
    return NULL;
}

void waits_hint_patience(struct verdict *verdict, const struct evidence *evidence,
                         const struct phase *phase)
{
    const struct query calls = {.phase = phase, .kind = TRACE_CALL, .student = true};
    const struct trace_record *call = NULL;
    while ((call = evidence_next(evidence, &calls, call)) != NULL && !waits_query(call)) continue;
    if (call == NULL) return;
    verdict_hint(verdict, "Wait until the device is done, however long that takes: a wait that "
                          "gives up after so many questions is no wait.");
}

/* Returns true for calls that wait for all work of the context on today's GPUs, although CUDA does
 * not promise it. */
static bool waits_unpromised(const struct trace_record *call)
{
    static const char *const names[] = {
        "cudaFree",       "cudaFreeHost",  "cudaFreeArray",  "cudaHostUnregister",
        "cuMemFree",      "cuMemFreeHost", "cuArrayDestroy", "cuMemHostUnregister",
        "cuModuleUnload", "cuCtxDestroy"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(call->name, names[i], TRACE_NAME_SIZE) == 0) return true;
    return false;
}

/* Returns the call, on the thread that asked for the operation, in which the operation ran only
 * because that call happens to wait. NULL: there is none, or a call that does wait came later or
 * was made on another thread, which may have waited for it. */
static const struct trace_record *only_waited_for_by(const struct evidence *evidence,
                                                     const struct phase *phase,
                                                     const struct trace_record *operation)
{
    const struct query calls = {
        .phase = phase, .kind = TRACE_CALL, .process = operation->process, .student = true};
    const struct trace_record *asked = evidence_call_of(evidence, operation);
    const struct trace_record *call = NULL, *found = NULL;

    if (operation->ran_ns == 0 || operation->ran_ns > phase->end_ns || asked == NULL) return NULL;
    while ((call = evidence_next(evidence, &calls, call)) != NULL) {
        if (call->request < operation->request) continue;
        if (waits_call(call) && (call == asked || call->thread != asked->thread || found != NULL))
            return NULL;
        if (found == NULL && call->thread == asked->thread && waits_unpromised(call) &&
            call->ran_ns <= operation->ran_ns)
            found = call;
    }
    return found;
}

bool waits_say_unpromised(struct verdict *verdict, const struct evidence *evidence,
                          const struct phase *phase, const char *function, const char *before)
{
    static const uint32_t kinds[] = {TRACE_HOST_FUNCTION, TRACE_COPY, TRACE_KERNEL, TRACE_SET};
    const struct trace_finding_kind *kind = trace_finding_kind_at(FINDING_KIND_UNPROMISED_WAIT);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const struct query query = {.phase = phase, .kind = TRACE_OPERATION, .what = kinds[k]};
        const struct trace_record *operation = NULL;
        while ((operation = evidence_next(evidence, &query, operation)) != NULL) {
            const struct trace_record *wait = only_waited_for_by(evidence, phase, operation);
            if (wait == NULL) continue;
            verdict_fail(verdict, evidence, wait,
                         "%s%.*s, here, is all in %s that waits for %s that it asks for.", before,
                         TRACE_NAME_SIZE, wait->name, function, given_work(operation));
            verdict_kind(verdict, kind->name);
            verdict_why(verdict, "%s", _(kind->why));
            verdict_hint(verdict, "%s", _(kind->hint));
            return true;
        }
    }
    return false;
}

void waits_say_unpromised_in(struct verdict *verdict, const struct evidence *evidence,
                             const char *phases, const char *function)
{
    struct phase phase;
    for (uint32_t i = 0; !verdict_failed(verdict) && evidence_phase(evidence, phases, i, &phase);
         i++)
        waits_say_unpromised(verdict, evidence, &phase, function, "");
}

bool waits_copied_before_failure(const struct evidence *evidence)
{
    const struct trace_record *failed = evidence_made_to_fail(evidence), *copy = NULL;
    const struct query copies = {.kind = TRACE_OPERATION, .what = TRACE_COPY, .to = TRACE_PAGEABLE};

    if (failed == NULL) return false;
    while ((copy = evidence_next(evidence, &copies, copy)) != NULL)
        if (copy->process == failed->process && copy->thread == failed->thread &&
            copy->request < failed->request)
            return true;
    return false;
}

bool waits_say_any(struct verdict *verdict, const struct evidence *evidence,
                   const struct phase *phase, const char *function)
{
    const struct query calls = {.phase = phase, .kind = TRACE_CALL, .student = true};
    const struct trace_record *call = NULL;
    while ((call = evidence_next(evidence, &calls, call)) != NULL) {
        if (!waits_call(call)) continue;
        verdict_fail(verdict, evidence, call, "%.*s was called in %s.", TRACE_NAME_SIZE, call->name,
                     function);
        verdict_why(verdict, "The function returns when the work is queued; a kernel begins when "
                             "the one before it in the stream has ended, without the host.");
        return true;
    }
    return false;
}
