/* The driver's state: starting it, entering and leaving a call, threads, forks. */
#include "emulator/driver/driver.h"

#include "emulator/driver/core/environment.h"
#include "emulator/driver/entry/injection.h"
#include "emulator/driver/findings/page_guard.h"
#include "emulator/driver/findings/unchecked.h"
#include "emulator/driver/findings/unfinished.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct driver driver = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
};

__thread struct thread thread;

/* ---- threads ----------------------------------------------------------------------------- */

static pthread_key_t thread_end_key;
static pthread_once_t process_once = PTHREAD_ONCE_INIT;

/* The process's clock is the first thread's: others start where it was after its last call, and
 * what happened in them has happened for whoever joins them, which is the first thread in general.
 * What has ended meanwhile moves no other thread's start: that it had ended before that thread came
 * to its first call says how busy the machine is, and nothing of the program. */
static void main_clock_reaches(uint64_t ns)
{
    uint64_t known = __atomic_load_n(&driver.main_clock_ns, __ATOMIC_RELAXED);
    while (known < ns && !__atomic_compare_exchange_n(&driver.main_clock_ns, &known, ns, true,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

static bool is_main(void)
{
    return thread.number == 1;
}

static void thread_end(void *value)
{
    struct thread *ending = value;
    main_clock_reaches(ending->clock_ns);
    free(ending->stack);
    memory_trap_leave_thread();
    ending->known = false;
}

/* A child of a process that had CUDA has none, and cannot have: its device's state is the parent's,
 * and the lock may be held by a thread that does not exist here. */
static void after_fork_in_child(void)
{
    pthread_mutex_init(&driver.lock, NULL);
    pthread_cond_init(&driver.changed, NULL);
    stack_after_fork();
    thread.depth = 0;
    thread.locked = false;
    if (driver.initialised) driver.forked = true;
}

static void process_start(void)
{
    pthread_key_create(&thread_end_key, thread_end);
    pthread_atfork(NULL, NULL, after_fork_in_child);
    driver.trace = trace_open_from_environment();
    injection_begin();
    unfinished_begin();
}

static void thread_start(void)
{
    pthread_once(&process_once, process_start);
    /* The device's own thread may be inside a host function already. */
    thread = (struct thread){.known = true, .in_host_function = thread.in_host_function};
    thread.number = __atomic_add_fetch(&driver.threads, 1, __ATOMIC_RELAXED);
    thread.clock_ns = __atomic_load_n(&driver.start_clock_ns, __ATOMIC_RELAXED);
    pthread_setspecific(thread_end_key, &thread);
    memory_trap_enter_thread();
}

struct context *thread_context(void)
{
    return thread.depth_of_stack > 0 ? thread.stack[thread.depth_of_stack - 1] : NULL;
}

void thread_spend(double ns)
{
    thread.clock_ns += (uint64_t)ns;
}

void thread_wait_until(uint64_t ns)
{
    if (ns > thread.clock_ns) thread.clock_ns = ns;
}

void thread_spend_exclusively(double ns)
{
    thread_wait_until(driver.exclusive_ns);
    thread_spend(ns);
    driver.exclusive_ns = thread.clock_ns;
}

/* ---- one call of the submission ---------------------------------------------------------- */

void overlap_call_enter(const char *name, const void *caller, unsigned flags)
{
    if (!thread.known) thread_start();
    if (thread.depth++ > 0) return;
    if (is_main()) thread_wait_until(__atomic_load_n(&driver.main_clock_ns, __ATOMIC_RELAXED));
    thread.call = (struct call){.name = name, .caller = caller, .flags = flags};
    thread.call.request = __atomic_add_fetch(&driver.requests, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&driver.calls, 1, __ATOMIC_RELAXED);
    thread.call.start_ns = thread.clock_ns;
    thread_spend(flags & OVERLAP_CALL_ASYNC ? timeline_model.submit : timeline_model.call);
}

void call_plain_name(char *to, size_t size, const char *name)
{
    trace_copy_string(to, size, name);
    char *end = to + strlen(to);
    if (end - to > 5 && (strcmp(end - 5, "_ptsz") == 0 || strcmp(end - 5, "_ptds") == 0))
        *(end -= 5) = '\0';
    if (end - to > 3 && end[-3] == '_' && end[-2] == 'v' && end[-1] >= '0' && end[-1] <= '9')
        end[-3] = '\0';
}

int overlap_call_leave(int code)
{
    if (--thread.depth > 0) return code;
    if (is_main()) {
        main_clock_reaches(thread.clock_ns);
        __atomic_store_n(&driver.start_clock_ns, thread.clock_ns, __ATOMIC_RELAXED);
    }
    if (code != CUDA_SUCCESS && code != CUDA_ERROR_NOT_READY) unfinished_call_failed();
    unchecked_call_ended(code);
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
        .caller = (uint64_t)(uintptr_t)call->caller,
    };
    if (driver.trace == NULL) return code;
    trace_copy_string(record.text, sizeof record.text, call->as_if);
    call_plain_name(record.name, sizeof record.name, call->name);
    trace_put(driver.trace, &record);
    return code;
}

bool overlap_call_permitted(void)
{
    return !thread.in_host_function;
}

bool overlap_forked(void)
{
    return driver.forked;
}

/* What stands in the way of a call that needs `needs`. */
static CUresult check(unsigned needs)
{
    if (driver.forked) return needs == ANY ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
    if (thread.in_host_function && needs != ANY) return CUDA_ERROR_NOT_PERMITTED;
    if ((needs & NEEDS_INIT) && !driver.initialised) return CUDA_ERROR_NOT_INITIALIZED;
    if (!(needs & (NEEDS_CONTEXT | OF_HANDLE)))
        return needs & UNSAFE ? capture_check_unsafe() : CUDA_SUCCESS;
    const struct context *context = thread_context();
    if (needs & NEEDS_CONTEXT) {
        if (context == NULL) unchecked_hurts(OBJECT_CONTEXT);
        if (context == NULL) return CUDA_ERROR_INVALID_CONTEXT;
        TRY(context_check(context));
    }
    if (context != NULL) thread.call.context = context->object.id;
    if (needs & UNSAFE) TRY(capture_check_unsafe());
    /* A fault ends every context of the process (as on an H200). */
    if (driver.failed == CUDA_SUCCESS) return CUDA_SUCCESS;
    if (!(needs & STICKY_LATER)) return driver.failed;
    thread.owed = driver.failed;
    return CUDA_SUCCESS;
}

CUresult driver_enter(const char *name, unsigned needs, const void *caller)
{
    overlap_call_enter(name, caller,
                       OVERLAP_CALL_DRIVER | (needs & SUBMITS ? OVERLAP_CALL_ASYNC : 0u));
    if (!driver.forked) {
        pthread_mutex_lock(&driver.lock);
        thread.locked = true;
    }
    thread.owed = CUDA_SUCCESS;
    thread.per_thread = needs & PER_THREAD;
    CUresult code = check(needs);
    if (code == CUDA_SUCCESS && driver.timeline != NULL && needs != ANY && !driver.forked)
        timeline_nudge(driver.timeline);
    if (code == CUDA_SUCCESS && !driver.forked) code = injection_strikes();
    return code;
}

CUresult driver_leave(CUresult code)
{
    if (code == CUDA_SUCCESS) code = thread.owed;
    if (thread.locked) {
        thread.locked = false;
        pthread_mutex_unlock(&driver.lock);
    }
    return (CUresult)overlap_call_leave((int)code);
}

/* NVIDIA's run-time compiler asks the driver for a table of the driver's own and does without it:
 * nothing that the program needs is missing. */
static bool does_without(const char *name, const void *caller)
{
    Dl_info library;
    return strcmp(name, "cuGetExportTable") == 0 && dladdr(caller, &library) != 0 &&
           library.dli_fname != NULL && strstr(library.dli_fname, "/libnvrtc") != NULL;
}

int overlap_unsupported(const char *name, const void *caller, unsigned flags, int code)
{
    enum { KNOWN = 1024 }; /* more than the names of both libraries that are not supported */
    static const char *known[KNOWN];
    static size_t count;
    bool first = !does_without(name, caller);

    overlap_call_enter(name, caller, flags);
    pthread_mutex_lock(&driver.lock);
    for (size_t i = 0; i < count && first; i++) first = strcmp(known[i], name) != 0;
    if (first && count < KNOWN) known[count++] = name;
    pthread_mutex_unlock(&driver.lock);
    if (first) {
        char sentence[TRACE_TEXT_SIZE];
        snprintf(sentence, sizeof sentence,
                 "%s is not supported by the software device; it returns error %d (not supported)",
                 name, code);
        overlap_finding("not supported", code, sentence);
    }
    return overlap_call_leave(code);
}

/* ---- starting ---------------------------------------------------------------------------- */

static void trace_setting(const char *name, const char *text, uint64_t number)
{
    struct trace_record record = {.kind = TRACE_SETTING, .bytes = number};
    trace_copy_string(record.name, sizeof record.name, name);
    trace_copy_string(record.text, sizeof record.text, text);
    trace_put(driver.trace, &record);
}

/* Called in a signal handler, while host code is inside an instruction that touched a device
 * address. The process is about to end. */
static void host_touched(uint64_t address, bool is_store, uint64_t pc,
                         const struct memory_region *region)
{
    struct trace_record record = {.kind = TRACE_FINDING,
                                  .what = TRACE_DEVICE_MEMORY,
                                  .address = address,
                                  .caller = pc + 1, /* as a call's: just behind it */
                                  .stack = stack_note(pc + 1),
                                  .count = 1};
    char what[256];
    if (region != NULL)
        describe_region(region, what, sizeof what);
    else
        describe_miss(address, what, sizeof what);
    if (region != NULL) record.object = region->id;
    trace_copy_string(record.name, sizeof record.name, "wrong side");
    snprintf(record.text, sizeof record.text,
             "host code %s address 0x%llx, which is %s: the host reaches device memory only "
             "through copies",
             is_store ? "wrote to" : "read from", (unsigned long long)address, what);
    trace_put(driver.trace, &record);
    finding_say(record.text);
}

CUresult driver_cuInit(unsigned int Flags)
{
    if (Flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (driver.forked) return CUDA_ERROR_NOT_INITIALIZED;
    if (driver.initialised) return CUDA_SUCCESS;

    environment_read();
    TRY(environment()->refusal);
    const struct timeline_settings settings = {.order = environment()->order,
                                               .seed = environment()->seed,
                                               .connections = (unsigned)environment()->connections,
                                               .pause = host_pause};
    if (!memory_start(environment()->memory)) {
        fprintf(stderr, "overlap: cannot reserve the range of device addresses (128 GiB of address "
                        "space, none of it used yet); is a limit on address space set?\n");
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    driver.timeline = timeline_create(&settings);
    if (driver.timeline == NULL || !races_begin()) return CUDA_ERROR_OUT_OF_MEMORY;
    memory_trap_install(host_touched);
    page_guards_begin();
    const char *order = settings.order != TIMELINE_LATEST ? getenv("OVERLAP_ORDER") : "latest";
    trace_setting("device", "Overlap software device", 0);
    trace_setting("order", order, settings.seed);
    trace_setting("connections", "", settings.connections);
    driver.initialised = true;
    thread_spend(timeline_model.initialise);
    return CUDA_SUCCESS;
}

CUresult driver_cuDriverGetVersion(int *driverVersion)
{
    NEED_POINTER(driverVersion);
    *driverVersion = CUDA_VERSION;
    return CUDA_SUCCESS;
}

/* What has run but was never waited for gets its record. Nothing else happens at the end of a
 * process: work that nobody waited for does not run, as on a GPU. */
__attribute__((destructor)) static void process_end(void)
{
    if (driver.forked) return;
    injection_end();
    if (driver.timeline == NULL) return;
    if (pthread_mutex_trylock(&driver.lock) != 0) return; /* a thread is still inside a call */
    timeline_settle(driver.timeline);
    unfinished_of_process();
    pthread_mutex_unlock(&driver.lock);
}
