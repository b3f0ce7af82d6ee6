#include "grader/evidence/evidence.h"
#include "grader/base/messages.h"
#include "grader/evidence/sources.h"
#include "trace/large.h"
#include "trace/sentence.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A CALL or OPERATION that carries a request number. Sorted by process, request, kind, index. */
struct request_link {
    uint32_t process;
    uint64_t request;
    uint32_t kind;
    uint32_t index;
};

/* A record about an object with a number that other records name: its creation or end, a stack, or
 * a call of a thread. Sorted by process, kind, what, object, index. */
struct object_link {
    uint32_t process, kind, what;
    uint64_t object;
    uint32_t index;
};

struct module_base {
    uint32_t process, number; /* the rank in which the record came */
    uint64_t base;
};

/* The trace may be full and made by a submission, so each lookup per record must work without a
 * scan of all records. */
struct evidence_index {
    struct request_link *links;
    size_t link_count;
    struct object_link *objects;
    size_t object_count;
    struct module_base *bases; /* of lesson.so, sorted by process */
    size_t base_count;
    uint32_t *position; /* per record: where it was asked for, as an index into the trace */
    bool callers_known; /* the device records callers: a record without one is not the student's */
};

static int compare_links(const void *a, const void *b)
{
    const struct request_link *x = a, *y = b;
    if (x->process != y->process) return x->process < y->process ? -1 : 1;
    if (x->request != y->request) return x->request < y->request ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Returns the first record of that kind with that request number, or NULL. */
static const struct trace_record *find_request(const struct evidence *evidence, uint32_t process,
                                               uint64_t request, uint32_t kind)
{
    const struct evidence_index *index = evidence->index;
    struct request_link wanted = {.process = process, .request = request, .kind = kind};
    size_t low = 0, high = index->link_count;

    if (request == 0) return NULL;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_links(&index->links[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == index->link_count) return NULL;
    const struct request_link *found = &index->links[low];
    if (found->process != process || found->request != request || found->kind != kind) return NULL;
    return &evidence->trace.records[found->index];
}

static int compare_objects(const void *a, const void *b)
{
    const struct object_link *x = a, *y = b;
    if (x->process != y->process) return x->process < y->process ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->what != y->what) return x->what < y->what ? -1 : 1;
    if (x->object != y->object) return x->object < y->object ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static int compare_bases(const void *a, const void *b)
{
    const struct module_base *x = a, *y = b;
    if (x->process != y->process) return x->process < y->process ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

const struct trace_record *evidence_object(const struct evidence *evidence, uint32_t kind,
                                           const struct trace_record *named,
                                           const struct trace_record *after)
{
    const struct evidence_index *index = evidence->index;
    const struct object_link wanted = {
        .process = named->process,
        .kind = kind,
        .what = named->what,
        .object = named->object,
        .index = after != NULL ? (uint32_t)(after - evidence->trace.records) + 1 : 0};
    size_t low = 0, high = index->object_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_objects(&index->objects[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == index->object_count) return NULL;
    const struct object_link *found = &index->objects[low];
    const bool same = found->process == wanted.process && found->kind == wanted.kind &&
                      found->what == wanted.what && found->object == wanted.object;
    return same ? &evidence->trace.records[found->index] : NULL;
}

/* The runner records the load address of lesson.so before anything else can record one. The first
 * such record of a process counts. */
static void index_bases(struct evidence_index *index, const struct trace *trace)
{
    const char *lesson = NULL;
    size_t kept = 0;

    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_record *r = &trace->records[i];
        if (r->kind != TRACE_MODULE) continue;
        if (lesson == NULL) lesson = r->text;
        if (strcmp(r->text, lesson) != 0) continue;
        index->bases[index->base_count] =
            (struct module_base){r->process, (uint32_t)index->base_count, r->address};
        index->base_count++;
    }
    qsort(index->bases, index->base_count, sizeof *index->bases, compare_bases);
    for (size_t i = 0; i < index->base_count; i++)
        if (kept == 0 || index->bases[kept - 1].process != index->bases[i].process)
            index->bases[kept++] = index->bases[i];
    index->base_count = kept;
}

static void index_record(struct evidence_index *index, const struct trace_record *r, uint32_t i)
{
    if (r->caller != 0 && r->what != TRACE_THREAD) index->callers_known = true;
    if (r->kind == TRACE_CREATE || r->kind == TRACE_DESTROY || r->kind == TRACE_STACK)
        index->objects[index->object_count++] =
            (struct object_link){r->process, r->kind, r->what, r->object, i};
    if (r->kind == TRACE_CALL)
        index->objects[index->object_count++] =
            (struct object_link){r->process, r->kind, TRACE_WHAT_NONE, r->thread, i};
    if (r->request == 0 || (r->kind != TRACE_CALL && r->kind != TRACE_OPERATION)) return;
    index->links[index->link_count++] = (struct request_link){
        .process = r->process, .request = r->request, .kind = r->kind, .index = i};
}

int evidence_index_build(struct evidence *evidence)
{
    const struct trace *trace = &evidence->trace;
    struct evidence_index *index = calloc(1, sizeof *index);

    if (index == NULL) return -1;
    evidence->index = index;
    index->links = calloc(trace->count + 1, sizeof *index->links);
    index->objects = calloc(trace->count + 1, sizeof *index->objects);
    index->bases = calloc(trace->count + 1, sizeof *index->bases);
    index->position = calloc(trace->count + 1, sizeof *index->position);
    if (index->links == NULL || index->objects == NULL || index->bases == NULL ||
        index->position == NULL)
        return -1;
    for (size_t i = 0; i < trace->count; i++) index_record(index, &trace->records[i], (uint32_t)i);
    qsort(index->links, index->link_count, sizeof *index->links, compare_links);
    qsort(index->objects, index->object_count, sizeof *index->objects, compare_objects);
    index_bases(index, trace);
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_record *r = &trace->records[i];
        const struct trace_record *call =
            r->kind == TRACE_OPERATION ? find_request(evidence, r->process, r->request, TRACE_CALL)
                                       : NULL;
        index->position[i] = call != NULL ? (uint32_t)(call - trace->records) : (uint32_t)i;
    }
    return 0;
}

void evidence_seal(const struct evidence *evidence)
{
    large_seal(evidence->input);
    large_seal(evidence->output);
    large_seal(evidence->trace.records);
}

void evidence_release(struct evidence *evidence)
{
    if (evidence->index != NULL) {
        free(evidence->index->links);
        free(evidence->index->objects);
        free(evidence->index->bases);
        free(evidence->index->position);
        free(evidence->index);
    }
    large_give_back((void *)(uintptr_t)evidence->input);
    large_give_back((void *)(uintptr_t)evidence->output);
    free((void *)(uintptr_t)evidence->printed);
    trace_free(&evidence->trace);
    memset(evidence, 0, sizeof *evidence);
}

/* ---- places --------------------------------------------------------------------------------- */

/* Returns the load address of lesson.so in the record's process: the one that the process recorded,
 * else the runner's, which a forked child shares. */
static uint64_t base_in(const struct evidence *evidence, uint32_t process)
{
    const struct evidence_index *index = evidence->index;
    size_t low = 0, high = index->base_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (index->bases[middle].process < process)
            low = middle + 1;
        else
            high = middle;
    }
    const bool found = low < index->base_count && index->bases[low].process == process;
    return found ? index->bases[low].base : evidence->base;
}

/* Computes where in lesson.so the record's call was made. False: not in lesson.so. */
static bool offset_of(const struct evidence *evidence, const struct trace_record *record,
                      uint64_t *offset)
{
    uint64_t caller = record->caller;

    if (caller == 0) {
        const struct trace_record *call = evidence_call_of(evidence, record);
        if (call != NULL) caller = call->caller;
    }
    const uint64_t base = base_in(evidence, record->process);
    /* The return address may already belong to the next line: the byte before it is inside the
     * call. */
    *offset = caller - 1 - base;
    return caller > base;
}

bool evidence_place(const struct evidence *evidence, const struct trace_record *record,
                    struct place *place)
{
    uint64_t offset;

    if (offset_of(evidence, record, &offset))
        return sources_place(evidence->sources, offset, place);
    memset(place, 0, sizeof *place);
    return false;
}

/* Of the calls that a finding names besides its own, takes the first that is the student's: for a
 * race, the other access. */
static bool students_among_calls(const struct evidence *evidence,
                                 const struct trace_record *finding, struct place *place)
{
    struct trace_call calls[TRACE_CALLS];
    const size_t count = trace_finding_calls(finding, calls);
    for (size_t i = 0; i < count; i++) {
        const struct trace_record call = {.process = finding->process, .caller = calls[i].address};
        struct place found;
        if (!evidence_place(evidence, &call, &found) || !found.submission) continue;
        *place = found;
        return true;
    }
    return false;
}

/* Finds the innermost line of the student's on the record's stack. */
static bool place_on_stack(const struct evidence *evidence, const struct trace_record *record,
                           struct place *place)
{
    const struct trace_record named = {.object = record->stack, .process = record->process};
    uint64_t addresses[TRACE_STACK_DEPTH];
    const struct trace_record *stack =
        record->stack != 0 ? evidence_object(evidence, TRACE_STACK, &named, NULL) : NULL;
    const size_t count = stack != NULL ? trace_stack_addresses(stack, addresses) : 0;
    const uint64_t base = base_in(evidence, record->process);
    for (size_t i = 0; i < count; i++)
        if (addresses[i] > base &&
            sources_place(evidence->sources, addresses[i] - 1 - base, place) && place->submission)
            return true;
    return false;
}

bool evidence_student_place(const struct evidence *evidence, const struct trace_record *record,
                            struct place *place)
{
    if (evidence_place(evidence, record, place) && place->submission) return true;
    return place_on_stack(evidence, record, place) || students_among_calls(evidence, record, place);
}

bool evidence_function(const struct evidence *evidence, const char *function, struct place *place)
{
    return sources_function(evidence->sources, function, place);
}

bool evidence_by_submission(const struct evidence *evidence, const struct trace_record *record)
{
    const struct trace_record *call =
        record->caller == 0 ? evidence_call_of(evidence, record) : NULL;
    uint64_t offset;
    bool submission;
    if (!evidence->index->callers_known) return true;
    if (offset_of(evidence, record, &offset) &&
        sources_know(evidence->sources, offset, &submission))
        return submission;
    /* The caller is unknown: the call came through a library that was given the function
     * (pthread_once, a thread whose start routine is the function itself), or from code that the
     * program generated. The project's code does neither. */
    return record->kind != TRACE_HOST_CALL && (record->caller != 0 || (call && call->caller != 0));
}

struct sentence_of {
    const struct evidence *evidence;
    uint32_t process;
    struct place own; /* the place at which the finding itself is shown */
};

static bool write_place(const struct trace_call *call, char *text, size_t size, void *user)
{
    const struct sentence_of *of = user;
    const struct trace_record record = {
        .process = of->process, .caller = call->address, .stack = call->stack};
    struct place place, own;
    if (!evidence_place(of->evidence, &record, &place)) return false;
    /* A call that the project's code made for the student is attributed to the student's line. */
    if (!place.submission && place_on_stack(of->evidence, &record, &own)) place = own;
    if (strcmp(place.file, of->own.file) == 0)
        snprintf(text, size, _("line %u"), place.line);
    else
        snprintf(text, size, "%s:%u", place.file, place.line);
    return true;
}

void evidence_sentence(const struct evidence *evidence, const struct trace_record *finding,
                       char *text, size_t size)
{
    struct sentence_of of = {.evidence = evidence, .process = finding->process};
    const struct trace_places places = {write_place, &of, messages_get};
    if (finding->finding.sides[0].line == 0) evidence_student_place(evidence, finding, &of.own);
    trace_sentence(finding, &places, text, size);
}

/* ---- queries --------------------------------------------------------------------------------- */

bool evidence_phase(const struct evidence *evidence, const char *name, uint32_t index,
                    struct phase *phase)
{
    bool begun = false;

    memset(phase, 0, sizeof *phase);
    for (size_t i = 0; i < evidence->trace.count; i++) {
        const struct trace_record *r = &evidence->trace.records[i];
        if (r->kind != TRACE_MARK || r->object != index || strcmp(r->name, name) != 0) continue;
        if (!begun && (r->flags & TRACE_BEGIN)) {
            phase->first = i;
            phase->begin_ns = r->start_ns;
            begun = true;
        } else if (begun && (r->flags & TRACE_END)) {
            phase->last = i;
            phase->end_ns = r->start_ns;
            return phase->end_ns >= phase->begin_ns;
        }
    }
    return false;
}

static bool name_matches(const char *wanted, const char *name)
{
    size_t length = strlen(wanted);
    if (length > 0 && wanted[length - 1] == '*') return strncmp(name, wanted, length - 1) == 0;
    return strcmp(name, wanted) == 0;
}

static bool number_matches(uint64_t wanted, uint64_t value)
{
    return wanted == 0 || wanted == value;
}

static bool query_matches(const struct evidence *evidence, const struct query *query, size_t i)
{
    const struct trace_record *r = &evidence->trace.records[i];

    if (query->phase != NULL) {
        uint32_t asked = evidence->index->position[i];
        if (asked < query->phase->first || asked > query->phase->last) return false;
    }
    return number_matches(query->kind, r->kind) && number_matches(query->what, r->what) &&
           number_matches(query->from, r->from) && number_matches(query->to, r->to) &&
           number_matches(query->stream, r->stream) && number_matches(query->context, r->context) &&
           number_matches(query->object, r->object) && number_matches(query->process, r->process) &&
           number_matches(query->thread, r->thread) &&
           (query->name == NULL || name_matches(query->name, r->name)) &&
           (!query->student || evidence_by_submission(evidence, r));
}

const struct trace_record *evidence_next(const struct evidence *evidence, const struct query *query,
                                         const struct trace_record *after)
{
    size_t i = after != NULL ? (size_t)(after - evidence->trace.records) + 1 : 0;

    for (; i < evidence->trace.count; i++)
        if (query_matches(evidence, query, i)) return &evidence->trace.records[i];
    return NULL;
}

size_t evidence_count(const struct evidence *evidence, const struct query *query)
{
    size_t count = 0;
    for (const struct trace_record *r = NULL; (r = evidence_next(evidence, query, r)) != NULL;)
        count++;
    return count;
}

const struct trace_record *evidence_call_of(const struct evidence *evidence,
                                            const struct trace_record *record)
{
    return find_request(evidence, record->process, record->request, TRACE_CALL);
}

const struct trace_record *evidence_operation_of(const struct evidence *evidence,
                                                 const struct trace_record *call)
{
    return find_request(evidence, call->process, call->request, TRACE_OPERATION);
}

const struct trace_record *evidence_creation(const struct evidence *evidence, uint32_t process,
                                             uint32_t what, uint64_t object)
{
    const struct trace_record named = {.what = what, .object = object, .process = process};
    return object != 0 ? evidence_object(evidence, TRACE_CREATE, &named, NULL) : NULL;
}

const struct trace_record *evidence_made_to_fail(const struct evidence *evidence)
{
    const struct query all = {0};
    for (const struct trace_record *r = NULL; (r = evidence_next(evidence, &all, r)) != NULL;)
        if ((r->kind == TRACE_CALL || r->kind == TRACE_HOST_CALL) &&
            (r->flags & TRACE_MADE_TO_FAIL) != 0)
            return r;
    return NULL;
}

const char *evidence_setting(const struct evidence *evidence, const char *key)
{
    struct query query = {.kind = TRACE_SETTING, .name = key};
    const struct trace_record *r = evidence_next(evidence, &query, NULL);
    return r != NULL ? r->text : NULL;
}

static bool has_faulted(const struct evidence *evidence, uint32_t process)
{
    const struct query calls = {.kind = TRACE_CALL, .process = process};
    for (const struct trace_record *r = NULL; (r = evidence_next(evidence, &calls, r)) != NULL;)
        if (trace_is_fault(r->code)) return true;
    return false;
}

bool evidence_gap(const struct evidence *evidence, char *text, size_t size)
{
    const struct query query = {.kind = TRACE_SETTING, .name = RECORDER_SETTING "*"};
    const struct trace_record *faulted = NULL; /* of the last process that has */

    if (evidence->device != DRIVE_GPU) return false;
    for (const struct trace_record *r = NULL; (r = evidence_next(evidence, &query, r)) != NULL;) {
        if (strcmp(r->name, RECORDER_SETTING) == 0 && strcmp(r->text, "on") == 0) continue;
        if (strcmp(r->name, RECORDER_SETTING) == 0) {
            snprintf(text, size,
                     _("The GPU gives no record of what it did (CUPTI %s), so that this cannot be "
                       "judged on it."),
                     r->text);
            return true;
        }
        if (strcmp(r->name, RECORDER_UNSTAMPED) == 0) {
            if (faulted == NULL || faulted->process != r->process)
                faulted = has_faulted(evidence, r->process) ? r : NULL;
            if (faulted != NULL) continue;
        }
        snprintf(text, size,
                 _("The GPU's record of what it did lacks %llu operations (CUPTI), so that this "
                   "cannot be judged."),
                 (unsigned long long)r->bytes);
        return true;
    }
    return false;
}

ptrdiff_t judge_first_difference(const void *output, const void *expected, size_t count,
                                 size_t element_size)
{
    const char *a = output, *b = expected;
    for (size_t i = 0; i < count; i++)
        if (memcmp(a + i * element_size, b + i * element_size, element_size) != 0)
            return (ptrdiff_t)i;
    return -1;
}

/* ---- ending -----------------------------------------------------------------------------------
 */

static const char *bytes_in_words(uint64_t bytes, char *text, size_t size)
{
    if (bytes >= 1u << 30)
        snprintf(text, size, "%.1f GiB", (double)bytes / (1u << 30));
    else
        snprintf(text, size, "%.0f MiB", (double)bytes / (1u << 20));
    return text;
}

static const char *signal_in_words(int number)
{
    switch (number) {
    case SIGSEGV:
        return _("a segmentation fault");
    case SIGBUS:
        return _("a bus error");
    case SIGFPE:
        return _("an arithmetic exception (an integer division by zero)");
    case SIGILL:
        return _("an illegal instruction");
    case SIGABRT:
        return _("abort(): an assertion failed, or the heap was damaged");
    case SIGXFSZ:
        return _("writing too large a file");
    default:
        return NULL;
    }
}

bool evidence_usable(const struct evidence *evidence)
{
    return evidence->ending == ENDED_WELL && evidence->trace_sound &&
           evidence->trace.dropped == 0 && !evidence->trace.forged;
}

/* The endings whose sentence contains no values. */
static const char *const plain_endings[ENDED_COUNT + 1] = {
    [ENDED_WELL] = N_("came to its end"),
    [ENDED_OUTPUT] = N_("printed more than 1 MiB and was stopped"),
    [ENDED_FILES] = N_("wrote more than 4096 files or 256 MiB and was stopped"),
    [ENDED_UNWATCHED] = N_("killed the process that enforces its limits, and was stopped"),
    [ENDED_TYPED] = N_("called ioctl to put characters into a terminal's input, which was refused"),
    [ENDED_NOT_MADE] = N_("was not made"),
    [ENDED_COUNT] = N_("ended in an unknown way"),
};

void evidence_describe_ending(const struct evidence *evidence, char *text, size_t size)
{
    char amount[32];

    switch (evidence->ending) {
    case ENDED_NOT_STARTED:
        snprintf(text, size, _("could not be started: %s"), evidence->why);
        break;
    case ENDED_EARLY:
        snprintf(text, size, _("left with exit status %d before the work was done"),
                 evidence->code);
        break;
    case ENDED_DRIVE:
        snprintf(text, size, _("could not be driven to its end (the drive returned %d)"),
                 evidence->code);
        break;
    case ENDED_SIGNAL:
        if (signal_in_words(evidence->signal) != NULL)
            snprintf(text, size, _("was stopped by %s"), signal_in_words(evidence->signal));
        else
            snprintf(text, size, _("was stopped by signal %d (%s)"), evidence->signal,
                     strsignal(evidence->signal));
        break;
    case ENDED_TIME:
        snprintf(text, size, _("was still running after %.0f s and was stopped"),
                 evidence->own_seconds);
        break;
    case ENDED_MEMORY:
        snprintf(text, size, _("used more than %s of memory and was stopped"),
                 bytes_in_words(evidence->allowed_memory, amount, sizeof amount));
        break;
    case ENDED_PROCESSES:
        snprintf(text, size,
                 evidence->allowed_processes == 1
                     ? _("ran more than %u process at one time and was stopped")
                     : _("ran more than %u processes at one time and was stopped"),
                 evidence->allowed_processes);
        break;
    case ENDED_LEFT_RUNNING:
        snprintf(text, size,
                 evidence->left_running == 1
                     ? _("came to its end but left %u process running, which was stopped")
                     : _("came to its end but left %u processes running, which were stopped"),
                 evidence->left_running);
        break;
    case ENDED_REACHED_UP:
        snprintf(text, size, _("called %s on a process that is not its own, which was refused"),
                 evidence->why);
        break;
    default:
        snprintf(text, size, "%s", _(plain_endings[evidence->ending]));
    }
}
