/* Injected errors: OVERLAP_FAIL makes one call fail, so that one can see how a program handles it.
 *
 *   OVERLAP_FAIL=N        the N-th call of the program that can fail, from 1
 *   OVERLAP_FAIL=NAME:N   the N-th call of that function: cudaMalloc:2
 *   OVERLAP_FAIL=NAME:N:alone   the same, but always with an out-of-memory error, so that the
 * context stays valid and no later call returns the error
 *
 * entry/injection.def lists the calls that can fail, and their errors. Only calls that the program
 * itself makes count, in all its threads and in the processes it forks, with one common count.
 * Calls of the runtime library to the driver do not count, nor calls that fail anyway. The chosen
 * call does nothing but return the error (the runtime also keeps it as the thread's last error); a
 * call that waits for the device loses its context as well. The trace marks the call as made to
 * fail.
 *
 * Calls that release something never fail, and nothing is chosen at random.
 */
#include "emulator/driver/entry/entry.h"

#include "emulator/driver/findings/findings.h"
#include "emulator/driver/stream/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- the errors ------------------------------------------------------------------------------ */

enum way {
    RESOURCES,
    LAUNCH,
    LATE,
    NOT_STARTED,
    MISMATCH,
    PEERS,
    BAD_DEVICE,
    BAD_CONTEXT,
    BUSY,
    NOT_FOUND,
    BAD_FUNCTION,
    BAD_SYMBOL,
};

static const struct {
    CUresult code;
    const char *as_if;
} ways[] = {
    [RESOURCES] = {CUDA_ERROR_OUT_OF_MEMORY, "there were no memory or other resource left for it"},
    [LAUNCH] = {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "there were no resources for the launch"},
    [LATE] = {CUDA_ERROR_LAUNCH_FAILED, "work that was asked for earlier had failed"},
    [NOT_STARTED] = {CUDA_ERROR_NOT_INITIALIZED, "the driver could not be started"},
    [MISMATCH] = {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "the driver could not be started"},
    [PEERS] = {CUDA_ERROR_TOO_MANY_PEERS, "there were no resources for one more peer"},
    [BAD_DEVICE] = {CUDA_ERROR_INVALID_DEVICE, "there were no such device"},
    [BAD_CONTEXT] = {CUDA_ERROR_INVALID_CONTEXT, "the context were not valid"},
    [BUSY] = {CUDA_ERROR_DEVICE_UNAVAILABLE, "the device were not available"},
    [NOT_FOUND] = {CUDA_ERROR_NOT_FOUND, "there were nothing of that name"},
    [BAD_FUNCTION] = {(CUresult)98, "the device had no such function"}, /* runtime only */
    [BAD_SYMBOL] = {(CUresult)13, "the device had no such variable"},   /* runtime only */
};

struct row {
    const char *name;
    enum way way;
};

static const struct row rows[] = {
#define INJECTION(name, way) {#name, way},
#include "emulator/driver/entry/injection.def"
#undef INJECTION
};

static int compare(const void *name, const void *row)
{
    return strcmp(name, ((const struct row *)row)->name);
}

static const struct row *find(const char *name)
{
    return bsearch(name, rows, sizeof rows / sizeof *rows, sizeof *rows, compare);
}

/* ---- the chosen call -------------------------------------------------------------------------
 */

enum { NAME_SIZE = 64 };

static struct {
    bool read;
    char name[NAME_SIZE]; /* empty: any function */
    unsigned long number; /* 0: no call fails */
    bool alone;
    pid_t process; /* the one that read the variable */
    /* Calls so far that matched, in memory that forked processes share. */
    unsigned long *count;
} wanted;

/* Parses "12" or "cudaMalloc:12", the latter perhaps with ":alone". */
static bool read_wanted(const char *text)
{
    const char *colon = strchr(text, ':');
    const size_t length = colon != NULL ? (size_t)(colon - text) : 0;
    const char *digits = colon != NULL ? colon + 1 : text;
    const char *behind = digits + strspn(digits, "0123456789");
    wanted.alone = colon != NULL && strcmp(behind, ":alone") == 0;
    if (length >= sizeof wanted.name || (*behind != '\0' && !wanted.alone)) return false;
    memcpy(wanted.name, text, length);
    wanted.name[length] = '\0';
    wanted.number = strtoul(digits, NULL, 10);
    return wanted.number > 0 && (colon == NULL || find(wanted.name) != NULL);
}

void injection_begin(void)
{
    const char *text = getenv("OVERLAP_FAIL");
    if (wanted.read || text == NULL || *text == '\0') return;
    wanted.read = true;
    wanted.process = getpid();
    void *shared = MAP_FAILED;
    if (!read_wanted(text))
        device_say("OVERLAP_FAIL=%.60s is neither a number from 1 nor FUNCTION:NUMBER with a "
                   "function that can fail; no call is made to fail",
                   text);
    else
        shared = mmap(NULL, sizeof *wanted.count, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        wanted.number = 0;
    else
        wanted.count = shared;
}

__attribute__((constructor)) static void library_loaded(void)
{
    injection_begin();
}

/* Counts the call; returns true if it is the chosen one. */
static bool is_wanted(const char *name)
{
    if (wanted.number == 0 || (wanted.name[0] != '\0' && strcmp(name, wanted.name) != 0))
        return false;
    return __atomic_fetch_add(wanted.count, 1, __ATOMIC_SEQ_CST) + 1 == wanted.number;
}

/* Nothing of the context goes on, and the caller knows that from the error. */
static void lose(struct context *context, CUresult code)
{
    if (context == NULL || !context->alive) return;
    context_lose(context, code);
    timeline_context_finish(context->time);
}

/* As after a fault on a GPU, all devices are lost to a program that uses their primary contexts
 * (tests/gpu/peers.cu, error_of_one). */
static void lose_current(CUresult code)
{
    struct context *context = thread_context();
    if (context != NULL && context->primary)
        for (int i = 0; i < devices_count(); i++) lose(driver.primary[i].context, code);
    else
        lose(context, code);
    findings_host_waited();
}

CUresult injection_strikes(void)
{
    char name[NAME_SIZE];
    if (thread.depth != 1 || thread.in_host_function) return CUDA_SUCCESS;
    if (wanted.number == 0 && !trace_wants(driver.trace, TRACE_CALL)) return CUDA_SUCCESS;
    call_plain_name(name, sizeof name, thread.call.name);
    const struct row *row = find(name);
    if (row == NULL) return CUDA_SUCCESS;
    thread.call.injection = TRACE_CAN_FAIL;
    if (!is_wanted(name)) return CUDA_SUCCESS;
    thread.call.injection |= TRACE_MADE_TO_FAIL;
    const enum way way = wanted.alone ? RESOURCES : row->way;
    thread.call.as_if = ways[way].as_if;
    thread.call.stack = stack_note((uint64_t)(uintptr_t)thread.call.caller);
    device_say("%s is made to fail with error %d, as if %s", name, (int)ways[way].code,
               ways[way].as_if);
    if (way == LATE) lose_current(ways[way].code);
    return ways[way].code;
}

int overlap_call_fault(void)
{
    if (driver.forked) return 0;
    driver_lock();
    const CUresult code = injection_strikes();
    driver_unlock();
    return (int)code;
}

void injection_end(void)
{
    if (wanted.number == 0 || wanted.process != getpid()) return;
    const unsigned long count = __atomic_load_n(wanted.count, __ATOMIC_SEQ_CST);
    if (count >= wanted.number) return;
    device_say("no call was made to fail: OVERLAP_FAIL asks for number %lu of %s%s, "
               "and there were %lu",
               wanted.number, wanted.name[0] != '\0' ? "" : "those that can", wanted.name, count);
}
