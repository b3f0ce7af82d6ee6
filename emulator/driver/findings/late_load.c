#include "emulator/driver/findings/late_load.h"

#include "emulator/base/name.h"
#include "emulator/driver/findings/finding.h"

enum { REMEMBERED = 64 };

/* What is told of each; `waits`: the call itself waits, for all that runs. */
static const struct {
    enum trace_finding_id finding;
    bool waits;
} rows[] = {
    [FIRST_USE_OF_KERNEL] = {FINDING_LOADED_TOO_LATE, false},
    [FIRST_USE_OF_MODULE] = {FINDING_LOADED_BESIDE_ONE_THAT_WAITS, true},
    [FIRST_NEED_OF_HEAPS] = {FINDING_HEAPS_TOO_LATE, false},
    [FIRST_NEED_OF_LOCAL] = {FINDING_LOCAL_BESIDE_ONE_THAT_WAITS, true},
};

static struct {
    struct late_load {
        struct trace_record call; /* the current one, as far as a finding needs it */
        enum findings_first_what what;
        uint32_t bytes;
        char kernel[TRACE_NAME_SIZE]; /* plain name */
    } loads[REMEMBERED];              /* ring buffer */
    uint64_t count;
} past;

bool late_load_note(const struct context *context, const struct findings_first *first)
{
    struct late_load *load = &past.loads[past.count++ % REMEMBERED];
    const uint64_t caller = (uint64_t)(uintptr_t)thread.call.caller;
    load->call = (struct trace_record){.context = context->object.id,
                                       .request = thread.call.request,
                                       .caller = caller,
                                       .stack = stack_note(caller)};
    load->what = first->what;
    load->bytes = first->bytes;
    load->kernel[0] = '\0';
    if (first->kernel != NULL) name_plain(first->kernel, load->kernel, sizeof load->kernel);
    return rows[first->what].waits;
}

/* The first that is remembered behind the call of `held`, up to the call number `last`; NULL: none
 * is. */
static const struct late_load *load_behind(const struct trace_record *held, uint64_t last,
                                           bool waits)
{
    const uint64_t oldest = past.count > REMEMBERED ? past.count - REMEMBERED : 0;
    for (uint64_t i = oldest; i < past.count; i++) {
        const struct late_load *load = &past.loads[i % REMEMBERED];
        if (load->call.context == held->context && load->call.request > held->request &&
            load->call.request <= last && rows[load->what].waits == waits)
            return load;
    }
    return NULL;
}

void late_load_held_up(const struct operation *held, const struct operation *later)
{
    const uint64_t last = later != NULL ? later->record.request : UINT64_MAX;
    const struct late_load *load = load_behind(&held->record, last, later == NULL);
    if (load == NULL) return;
    const enum trace_finding_id id = rows[load->what].finding;
    struct trace_record found = later != NULL
                                    ? finding_at_work(id, &later->record, later->stream_caller)
                                    : finding_at_work(id, &load->call, 0);
    finding_other(&found, &held->record, held->stream_caller);
    if (load->kernel[0] != '\0') finding_detail(&found, "%s", load->kernel);
    if (load->what == FIRST_NEED_OF_LOCAL) found.finding.numbers[0] = load->bytes;
    finding_put(&found);
}
