#include "emulator/driver/findings/late_load.h"

#include "emulator/base/name.h"
#include "emulator/driver/findings/finding.h"

enum { REMEMBERED = 64 };

static struct {
    struct late_load {
        struct trace_record call;     /* the call that loaded it, as far as a finding needs it */
        char kernel[TRACE_NAME_SIZE]; /* plain name; empty: a module */
    } loads[REMEMBERED];              /* ring buffer */
    uint64_t count;
} past;

void late_load_note(const struct context *context, const char *kernel)
{
    struct late_load *load = &past.loads[past.count++ % REMEMBERED];
    const uint64_t caller = (uint64_t)(uintptr_t)thread.call.caller;
    load->call = (struct trace_record){.context = context->object.id,
                                       .request = thread.call.request,
                                       .caller = caller,
                                       .stack = stack_note(caller)};
    load->kernel[0] = '\0';
    if (kernel != NULL) name_plain(kernel, load->kernel, sizeof load->kernel);
}

/* The first load of a kernel (or module) behind the call of `held` that is remembered, up to the
 * call number `last`; NULL: none is. */
static const struct late_load *load_behind(const struct trace_record *held, uint64_t last,
                                           bool is_module)
{
    const uint64_t oldest = past.count > REMEMBERED ? past.count - REMEMBERED : 0;
    for (uint64_t i = oldest; i < past.count; i++) {
        const struct late_load *load = &past.loads[i % REMEMBERED];
        if (load->call.context == held->context && load->call.request > held->request &&
            load->call.request <= last && (load->kernel[0] == '\0') == is_module)
            return load;
    }
    return NULL;
}

void late_load_held_up(const struct operation *held, const struct operation *later)
{
    const uint64_t last = later != NULL ? later->record.request : UINT64_MAX;
    const struct late_load *load = load_behind(&held->record, last, later == NULL);
    if (load == NULL) return;
    struct trace_record found =
        later != NULL
            ? finding_at_work(FINDING_LOADED_TOO_LATE, &later->record, later->stream_caller)
            : finding_at_work(FINDING_LOADED_BESIDE_ONE_THAT_WAITS, &load->call, 0);
    finding_other(&found, &held->record, held->stream_caller);
    if (later != NULL) finding_detail(&found, "%s", load->kernel);
    finding_put(&found);
}
