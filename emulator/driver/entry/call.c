/* One call of the submission: entering and leaving it, the checks before it, its trace record. */
#include "emulator/driver/entry/entry.h"
#include "emulator/driver/entry/logs.h"
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/findings.h"

#include "emulator/driver/stream/stream.h"

#include <stdio.h>
#include <string.h>

static bool is_main(void)
{
    return thread.number == 1;
}

void overlap_call_enter(const char *name, const void *caller, unsigned flags)
{
    if (!thread.known) process_begin();
    if (thread.depth == 0) turns_take();
    if (!thread.known) thread_begin();
    if (thread.depth++ > 0) return;
    if (is_main()) thread_wait_until(__atomic_load_n(&driver.main_clock_ns, __ATOMIC_RELAXED));
    thread.call = (struct call){.name = name, .caller = caller, .flags = flags};
    thread.call.request = __atomic_add_fetch(&driver.requests, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&driver.calls, 1, __ATOMIC_RELAXED);
    thread.call.start_ns = thread.clock_ns;
    thread.call.began_ns = monotonic_ns();
    /* Atomic: another thread may be in cuInit, which selects the model. */
    thread_spend(__atomic_load_n(&timeline_model, __ATOMIC_RELAXED)->call);
}

static void call_ends(int code)
{
    if (is_main()) {
        main_clock_reaches(thread.clock_ns);
        __atomic_store_n(&driver.start_clock_ns, thread.clock_ns, __ATOMIC_RELAXED);
    }
    findings_call_ended(code);
    if (driver.trace == NULL) return;
    const struct call *call = &thread.call;
    struct trace_record record = {
        .kind = TRACE_CALL,
        .flags = (call->flags & OVERLAP_CALL_DRIVER ? TRACE_DRIVER : 0u) |
                 (call->flags & OVERLAP_CALL_ASYNC ? TRACE_ASYNC : 0u) | call->injection,
        .stack = call->stack,
        .code = code,
        .context = call->context,
        .stream = call->stream,
        .object = call->object,
        .request = call->request,
        .start_ns = call->start_ns,
        .end_ns = thread.clock_ns,
        .ran_ns = call->began_ns,
        .caller = (uint64_t)(uintptr_t)call->caller,
    };
    trace_copy_string(record.text, sizeof record.text, call->as_if);
    call_plain_name(record.name, sizeof record.name, call->name);
    trace_put(driver.trace, &record);
}

/* CUDA must not be called in a host function: the call has been refused. */
static void tell_of_host_function(void)
{
    driver_lock();
    struct trace_record found =
        finding_at_call(FINDING_CALL_IN_HOST_FUNCTION, CUDA_ERROR_NOT_PERMITTED);
    call_plain_name(found.name, sizeof found.name, thread.call.name);
    finding_put(&found);
    driver_unlock();
}

int overlap_call_leave(int code)
{
    if (thread.depth == 1 && thread.in_host_function && code == CUDA_ERROR_NOT_PERMITTED)
        tell_of_host_function();
    if (--thread.depth > 0) return code;
    call_ends(code);
    turns_give();
    if (code != CUDA_SUCCESS && code != CUDA_ERROR_NOT_READY &&
        !(thread.call.flags & OVERLAP_CALL_REPEATS))
        logs_error(thread.call.name, code);
    return code;
}

uint64_t overlap_host_clock(void)
{
    if (!thread.known) thread_begin();
    if (is_main()) thread_wait_until(__atomic_load_n(&driver.main_clock_ns, __ATOMIC_RELAXED));
    thread_spend(timeline_model->look);
    return thread.clock_ns;
}

bool overlap_call_permitted(void)
{
    return !thread.in_host_function;
}

bool overlap_forked(void)
{
    return driver.forked;
}

/* Returns the error that prevents a call with the requirements `needs`, or CUDA_SUCCESS. */
static CUresult check(unsigned needs)
{
    if (driver.forked) return needs == ANY ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
    if (thread.in_host_function && needs != ANY) return CUDA_ERROR_NOT_PERMITTED;
    if ((needs & NEEDS_INIT) && !driver.initialised) return CUDA_ERROR_NOT_INITIALIZED;
    if (!(needs & (NEEDS_CONTEXT | OF_HANDLE)))
        return needs & UNSAFE ? capture_check_unsafe() : CUDA_SUCCESS;
    const struct context *context = thread_context();
    if (needs & NEEDS_CONTEXT) {
        if (context == NULL) findings_call_lacks(OBJECT_CONTEXT);
        if (context == NULL) return CUDA_ERROR_INVALID_CONTEXT;
        TRY(context_check(context));
    }
    if (context != NULL) thread.call.context = context->object.id;
    if (needs & UNSAFE) TRY(capture_check_unsafe());
    /* A fault ends every context of the process (as on an H200), an injected error only its own
     * context. */
    CUresult failed = driver.failed;
    if (failed == CUDA_SUCCESS && context != NULL) failed = context->sticky;
    if (failed == CUDA_SUCCESS) return CUDA_SUCCESS;
    if (!(needs & STICKY_LATER)) return failed;
    thread.owed = failed;
    return CUDA_SUCCESS;
}

/* A host that looks for a kernel's flag by copying it again and again makes calls, and waits for
 * them, but not for the kernel: that one has to begin some time. */
enum { CALLS_UNTIL_KERNELS_BEGIN = 4096 };

static void nudge(void)
{
    timeline_nudge(driver.timeline);
    if (++driver.nudges % CALLS_UNTIL_KERNELS_BEGIN == 0)
        timeline_progress(driver.timeline, TIMELINE_CONVERSING);
}

CUresult driver_enter(const char *name, unsigned needs, const void *caller)
{
    overlap_call_enter(name, caller,
                       OVERLAP_CALL_DRIVER | (needs & SUBMITS ? OVERLAP_CALL_ASYNC : 0u));
    if (!driver.forked) driver_lock();
    thread.owed = CUDA_SUCCESS;
    thread.per_thread = needs & PER_THREAD;
    CUresult code = check(needs);
    if (code == CUDA_SUCCESS && driver.timeline != NULL && needs != ANY && !driver.forked) nudge();
    if (code == CUDA_SUCCESS && !driver.forked) code = injection_strikes();
    return code;
}

CUresult driver_leave(CUresult code)
{
    if (code == CUDA_SUCCESS) code = thread.owed;
    if (thread.locked) driver_unlock();
    return (CUresult)overlap_call_leave((int)code);
}
