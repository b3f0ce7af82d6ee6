#include "emulator/driver/findings/gpu_wait.h"

enum { REMEMBERED = 256 };

static struct {
    struct gpu_wait waits[REMEMBERED]; /* ring buffer */
    uint64_t count;
} past;

void gpu_wait_note(uint64_t context, uint64_t stream)
{
    struct gpu_wait *wait = &past.waits[past.count++ % REMEMBERED];
    *wait = (struct gpu_wait){.context = context,
                              .stream = stream,
                              .request = thread.call.request,
                              .caller = (uint64_t)(uintptr_t)thread.call.caller};
    wait->stack = stack_note(wait->caller);
    call_plain_name(wait->name, sizeof wait->name, thread.call.name);
}

const struct gpu_wait *gpu_wait_for(const struct trace_record *work)
{
    const uint64_t oldest = past.count > REMEMBERED ? past.count - REMEMBERED : 0;
    for (uint64_t i = oldest; i < past.count; i++) {
        const struct gpu_wait *wait = &past.waits[i % REMEMBERED];
        if (wait->request < work->request || wait->context != work->context) continue;
        if (wait->stream == 0 || wait->stream == work->stream) return wait;
    }
    return NULL;
}
