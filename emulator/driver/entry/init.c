/* The beginning of the process, of its threads and of a forked child; cuInit. */
#include "emulator/driver/entry/entry.h"
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/findings.h"

#include "emulator/driver/graph/graph.h"
#include "emulator/driver/memory/memory.h"
#include "emulator/driver/stream/stream.h"
#include "emulator/exec/exec.h"
#include "emulator/memory/page_guard.h"
#include "emulator/ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- threads ----------------------------------------------------------------------------- */

static pthread_key_t thread_end_key;
static pthread_once_t process_once = PTHREAD_ONCE_INIT;

/* The process's clock is the first thread's clock. Other threads start where the first thread was
 * after its latest call, and what they did counts as past for the first thread, which usually joins
 * them. The end of one thread does not move another thread's start: whether it ended before that
 * thread's first call depends on the load of the machine and not on the program. */
void main_clock_reaches(uint64_t ns)
{
    uint64_t known = __atomic_load_n(&driver.main_clock_ns, __ATOMIC_RELAXED);
    while (known < ns && !__atomic_compare_exchange_n(&driver.main_clock_ns, &known, ns, true,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

static void thread_end(void *value)
{
    struct thread *ending = value;
    main_clock_reaches(ending->clock_ns);
    free(ending->stack);
    memory_trap_leave_thread();
    ending->known = false;
}

/* A child forked after cuInit cannot use CUDA: its device state is a copy of the parent's, and the
 * lock may be held by a thread that does not exist in the child. */
static void after_fork_in_child(void)
{
    pthread_mutex_init(&driver.lock, NULL);
    pthread_cond_init(&driver.changed, NULL);
    stack_after_fork();
    page_guard_forget();
    thread.depth = 0;
    thread.locked = false;
    turns_after_fork();
    if (driver.initialised) driver.forked = true;
}

static void process_start(void)
{
    pthread_key_create(&thread_end_key, thread_end);
    pthread_atfork(NULL, NULL, after_fork_in_child);
    driver.trace = trace_open_from_environment();
    turns_begin();
    memory_room_begin();
    capture_begin();
    injection_begin();
    findings_process_begins();
}

void process_begin(void)
{
    pthread_once(&process_once, process_start);
}

const char *overlap_begin(void)
{
    process_begin();
    environment_keep();
    ptx_begin();
    return exec_rows_missing();
}

void thread_begin(void)
{
    process_begin();
    /* A thread of the device may run a host function already when this is called. */
    thread = (struct thread){.known = true, .in_host_function = thread.in_host_function};
    thread.number = __atomic_add_fetch(&driver.threads, 1, __ATOMIC_RELAXED);
    thread.clock_ns = __atomic_load_n(&driver.start_clock_ns, __ATOMIC_RELAXED);
    pthread_setspecific(thread_end_key, &thread);
    memory_trap_enter_thread();
}

/* ---- starting ---------------------------------------------------------------------------- */

static void trace_setting(const char *name, const char *text, uint64_t number)
{
    struct trace_record record = {.kind = TRACE_SETTING, .bytes = number};
    trace_copy_string(record.name, sizeof record.name, name);
    trace_copy_string(record.text, sizeof record.text, text);
    trace_put(driver.trace, &record);
}

static void note_asked_for(void)
{
    process_begin();
    trace_setting("asked for", "", 0);
}

void overlap_asked_for(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, note_asked_for);
}

/* Called in a signal handler when host code has touched a device address. The process is about to
 * end. */
static void host_touched(uint64_t address, bool is_store, uint64_t pc,
                         const struct memory_region *region)
{
    const struct trace_record work = {.caller = pc + 1, /* just behind the instruction, like a
                                                           return address */
                                      .stack = stack_note(pc + 1)};
    struct trace_record found = finding_at_work(FINDING_HOST_TOUCHED_DEVICE, &work, 0);
    finding_address(&found, address);
    if (region != NULL) finding_memory(&found, 0, region);
    found.finding.sides[0].access = is_store ? ACCESS_WRITE : ACCESS_READ;
    finding_put(&found);
}

/* The timeline's pause callback: the thread that has the turn waits for another thread. */
static void pause_in_turn(void *user, bool stuck)
{
    turns_pause();
    host_pause(user, stuck);
    turns_go_on();
}

/* The timeline's callbacks about kernels that are held up. */
static bool is_alone(void *user)
{
    (void)user;
    return host_is_alone();
}

static void held_up(void *user, void *held, void *later)
{
    (void)user;
    findings_held_up(held, later);
}

CUresult driver_cuInit(unsigned int Flags)
{
    if (Flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (driver.forked) return CUDA_ERROR_NOT_INITIALIZED;
    if (driver.initialised) {
        thread_wait_until(driver.initialised_ns); /* another thread may have initialised */
        return CUDA_SUCCESS;
    }

    environment_read();
    TRY(environment()->refusal);
    const struct timeline_settings settings = {.order = environment()->order,
                                               .seed = environment()->seed,
                                               .connections = (unsigned)environment()->connections,
                                               .pause = pause_in_turn,
                                               .is_alone = is_alone,
                                               .held_up = held_up};
    if (!memory_start(device_at(0)->memory)) {
        device_say("cannot reserve the range of device addresses (128 GiB of address "
                   "space, none of it used yet); is a limit on address space set?");
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (int i = 1; i < devices_count(); i++) memory_limit_set((unsigned)i, device_at(i)->memory);
    driver.timeline = timeline_create(&settings);
    if (driver.timeline == NULL || !findings_begin()) return CUDA_ERROR_OUT_OF_MEMORY;
    memory_trap_install(host_touched);
    end_watch();
    const char *order = settings.order != TIMELINE_LATEST ? environment()->order_name : "latest";
    trace_setting("device", "Overlap software device", 0);
    trace_setting("order", order, settings.seed);
    trace_setting("connections", "", settings.connections);
    driver.initialised = true;
    thread_spend(timeline_model->initialise);
    driver.initialised_ns = thread.clock_ns;
    return CUDA_SUCCESS;
}

unsigned overlap_runtime_inside;

int driver_version(void)
{
    const int inside = (int)__atomic_load_n(&overlap_runtime_inside, __ATOMIC_RELAXED);
    return inside > CUDA_VERSION ? inside : CUDA_VERSION;
}

CUresult driver_cuDriverGetVersion(int *driverVersion)
{
    NEED_POINTER(driverVersion);
    *driverVersion = driver_version();
    return CUDA_SUCCESS;
}
