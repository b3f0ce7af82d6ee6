#include "threads/parts.h"
#include "threads/refusals.h"
#include "trace/runnable.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

struct module {
    uintptr_t begin, end;
};

static struct {
    pthread_mutex_t mutex;
    struct module module;   /* the watched one */
    struct module standard; /* the C++ library, which starts std::thread's threads; empty if not
                               loaded */
    struct trace_writer *trace;
    uint64_t last_id;
    struct host_thread *threads;
} watch = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void threads_lock(void)
{
    pthread_mutex_lock(&watch.mutex);
}

void threads_unlock(void)
{
    pthread_mutex_unlock(&watch.mutex);
}

struct host_thread *threads_first(void)
{
    return watch.threads;
}

/* ---- the watched module ------------------------------------------------------------------------
 */

THREADS_EARLY static bool is_in(const struct module *module, uintptr_t address)
{
    return address >= module->begin && address < module->end;
}

bool threads_is_watched(const void *address)
{
    return is_in(&watch.module, (uintptr_t)address);
}

static int look_at_module(struct dl_phdr_info *info, size_t size, void *data)
{
    struct module found = {.begin = UINTPTR_MAX};
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD) continue;
        const uintptr_t from = (uintptr_t)info->dlpi_addr + (uintptr_t)part->p_vaddr;
        if (from < found.begin) found.begin = from;
        if (from + part->p_memsz > found.end) found.end = from + part->p_memsz;
    }
    if (is_in(&found, (uintptr_t)data)) watch.module = found;
    if (strstr(info->dlpi_name, "/libstdc++.so.") != NULL) watch.standard = found;
    return 0;
}

/* The calls that led into the C++ library, innermost first: the caller may be a template of its
 * headers, with the program's own line further out. */
struct outside {
    uint64_t calls[TRACE_STACK_DEPTH];
    size_t count;
    bool there; /* beyond our own frames */
};

static _Unwind_Reason_Code look_at_frame(struct _Unwind_Context *context, void *data)
{
    struct outside *outside = data;
    const uintptr_t address = (uintptr_t)_Unwind_GetIP(context);
    if (is_in(&watch.standard, address))
        outside->there = true;
    else if (outside->there)
        outside->calls[outside->count++] = address;
    return outside->count < TRACE_STACK_DEPTH ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* The call in watched code on whose behalf `caller` runs: `caller` itself or, in the C++ library,
 * its caller; then `outside` is filled in as well. 0: other code. */
static uintptr_t watched_caller(const void *caller, struct outside *outside)
{
    outside->count = 0;
    outside->there = false;
    if (is_in(&watch.module, (uintptr_t)caller)) return (uintptr_t)caller;
    if (!is_in(&watch.standard, (uintptr_t)caller)) return 0;
    _Unwind_Backtrace(look_at_frame, outside);
    const uintptr_t first = outside->count > 0 ? (uintptr_t)outside->calls[0] : 0;
    return is_in(&watch.module, first) ? first : 0;
}

/* The thread that forks may be one of ours and continues in the child; other threads do not exist
 * there. Their records are leaked: another thread may have been changing them during the fork, so
 * freeing them is unsafe. */
static void in_child(void)
{
    watch.threads = NULL;
    order_forget();
    pthread_mutex_init(&watch.mutex, NULL);
}

void threads_watch(const void *inside, const char *order, struct trace_writer *trace)
{
    watch.trace = trace;
    order_set(order);
    pthread_atfork(threads_lock, threads_unlock, in_child);
    dl_iterate_phdr(look_at_module, (void *)(uintptr_t)inside);
}

/* ---- what becomes of a thread; under the lock ---------------------------------------------------
 */

static uint64_t *tell_end(const struct host_thread *thread, const char *name, uint32_t flags)
{
    struct trace_record record = {
        .kind = TRACE_DESTROY, .what = TRACE_THREAD, .object = thread->id, .flags = flags};
    trace_copy_string(record.name, sizeof record.name, name);
    return trace_put_counted(watch.trace, &record);
}

static void drop(struct host_thread *thread)
{
    for (struct host_thread **at = &watch.threads; *at != NULL; at = &(*at)->next)
        if (*at == thread) {
            *at = thread->next;
            free(thread);
            return;
        }
}

/* Called before the real call. The lock is then held until start_ends, so that records of the new
 * thread come after the record of its start. NULL: no memory. */
static struct host_thread *start_begins(uintptr_t caller)
{
    struct host_thread *thread = calloc(1, sizeof *thread);
    if (thread == NULL) return NULL;
    threads_lock();
    thread->id = ++watch.last_id;
    thread->caller = (uint64_t)caller;
    thread->starter = gettid();
    thread->joinable = true;
    thread->next = watch.threads;
    watch.threads = thread;
    return thread;
}

/* Returns the stack's number; 0: there is no stack, or the trace wants none. */
static uint32_t tell_stack(const struct host_thread *thread, const struct outside *outside)
{
    static const uint32_t ours = UINT32_C(1) << 31; /* the device numbers its own stacks from 1 */
    struct trace_record record = {.kind = TRACE_STACK, .object = ours | (uint32_t)thread->id};
    if (outside->count == 0 || !trace_wants(watch.trace, TRACE_STACK)) return 0;
    trace_stack_set(&record, outside->calls, outside->count);
    trace_put(watch.trace, &record);
    return (uint32_t)record.object;
}

static void start_ends(struct host_thread *thread, const char *name, bool started, bool detached,
                       const struct outside *outside)
{
    struct trace_record record = {
        .kind = TRACE_CREATE, .what = TRACE_THREAD, .object = thread->id, .caller = thread->caller};
    if (!started) {
        drop(thread);
        threads_unlock();
        return;
    }
    trace_copy_string(record.name, sizeof record.name, name);
    record.stack = tell_stack(thread, outside);
    thread->told = trace_put_counted(watch.trace, &record);
    if (detached) {
        thread->told_left = tell_end(thread, name, TRACE_DETACHED);
        thread->joinable = false;
    }
    order_decide(thread);
    order_hold_starter(thread->id);
    threads_unlock();
}

/* Called in the new thread. */
static void begins(struct host_thread *thread)
{
    threads_lock();
    thread->number = gettid();
    if (thread->told != NULL) *thread->told = (uint64_t)thread->number;
    order_hold_thread(thread);
    threads_unlock();
}

/* Called in the thread, however it ends: return, pthread_exit, cancellation. */
static void ends(void *argument)
{
    struct host_thread *thread = argument;
    threads_lock();
    order_waits(thread->number);
    thread->ended = true;
    if (!thread->joinable) drop(thread);
    threads_unlock();
}

/* If a thread returns the address of a thread-local variable of the watched module, overwrites the
 * variable: it ends with the thread, and a program that reads it through that address would usually
 * still find the old value. */
static int spoil_thread_local(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    if (info->dlpi_tls_data == NULL) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const uintptr_t begin = (uintptr_t)info->dlpi_tls_data;
        const struct module variables = {begin, begin + (uintptr_t)part->p_memsz};
        if (part->p_type == PT_TLS && is_in(&variables, (uintptr_t)data) &&
            is_in(&watch.module, (uintptr_t)info->dlpi_addr + (uintptr_t)part->p_vaddr))
            memset(info->dlpi_tls_data, THREADS_SPOILED, part->p_memsz);
    }
    return 0;
}

static void *posix_main(void *argument)
{
    struct host_thread *thread = argument;
    void *result;
    pthread_cleanup_push(ends, thread);
    begins(thread);
    result = thread->function.posix(thread->argument);
    if (result != NULL) dl_iterate_phdr(spoil_thread_local, result);
    pthread_cleanup_pop(1);
    return result;
}

static int c11_main(void *argument)
{
    struct host_thread *thread = argument;
    int result;
    pthread_cleanup_push(ends, thread);
    begins(thread);
    result = thread->function.c11(thread->argument);
    pthread_cleanup_pop(1);
    return result;
}

/* Finds the thread of a handle that the caller is about to join or detach; NULL: not one of ours.
 * Called before the real call, since afterwards the handle may belong to a new thread. */
static struct host_thread *give_back_begins(pthread_t handle, bool joins)
{
    struct host_thread *thread;
    threads_lock();
    for (thread = watch.threads; thread != NULL; thread = thread->next)
        if (thread->joinable && !thread->joining && pthread_equal(thread->handle, handle)) break;
    if (thread != NULL) thread->joining = true;
    if (thread != NULL && joins) order_is_wanted(thread);
    if (joins) order_waits(gettid());
    threads_unlock();
    return thread;
}

static void give_back_ends(struct host_thread *thread, const char *name, bool done, uint32_t flags)
{
    threads_lock();
    thread->joining = false;
    if (done) {
        thread->told_left = tell_end(thread, name, flags);
        thread->joinable = false;
        /* a joined thread has ended; a detached one is kept until it ends */
        if (thread->ended || !(flags & TRACE_DETACHED)) drop(thread);
    }
    threads_unlock();
}

/* Returns the number of threads that still run; sets *eager to the number of those that are
 * runnable. */
static size_t at_work(size_t *eager)
{
    size_t count = 0;
    *eager = 0;
    for (const struct host_thread *thread = watch.threads; thread != NULL; thread = thread->next) {
        if (thread->ended || thread->hold == HOLD_FOREVER) continue;
        count++;
        *eager += thread->number == 0 || runnable_thread(thread->number);
    }
    return count;
}

static int64_t computed(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The time limit counts the threads' own time: time asleep, and time computing. */
void threads_settle(void)
{
    const int64_t second = 1000000000, most = 2 * second, most_on_the_wall = 60 * second;
    int64_t looked = 0, passed = 0, computed_before = computed();
    size_t eager;
    order_look(&looked);
    const int64_t begin = looked;
    threads_lock();
    order_freeze();
    while (at_work(&eager) > 0 && passed < most && looked - begin < most_on_the_wall) {
        order_pause();
        const int64_t since = order_look(&looked), computed_now = computed();
        const int64_t used = computed_now - computed_before;
        passed += eager == 0 || used > since ? since : used;
        computed_before = computed_now;
    }
    for (struct host_thread *thread = watch.threads; thread != NULL; thread = thread->next)
        if (!thread->ended && thread->told_left != NULL) *thread->told_left = 1;
    threads_unlock();
}

/* ---- interposed functions -----------------------------------------------------------------------
 */

void *threads_behind(void **known, const char *name)
{
    void *address = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (address != NULL) return address;
    address = dlsym(RTLD_NEXT, name);
    if (address == NULL) abort(); /* a C library with threads but without this function */
    __atomic_store_n(known, address, __ATOMIC_RELAXED);
    return address;
}

#define NO_THREADS "there were too many threads"
/* After a failed pthread_create the handle is undefined (POSIX), and so is joining it. An invalid
 * address makes the mistake visible. */
#define NO_HANDLE 0xa5a5a5a5a5a5a5a5u

static bool is_detached(const pthread_attr_t *attributes)
{
    int state = PTHREAD_CREATE_JOINABLE;
    if (attributes != NULL) pthread_attr_getdetachstate(attributes, &state);
    return state == PTHREAD_CREATE_DETACHED;
}

void (*threads_on_want)(int error);

THREADS_PUBLIC int pthread_create(pthread_t *handle, const pthread_attr_t *attributes,
                                  void *(*function)(void *), void *argument)
{
    THREADS_BEHIND(int, pthread_create,
                   (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *));
    struct outside outside;
    const uintptr_t caller = watched_caller(__builtin_return_address(0), &outside);
    if (caller == 0) return real.call(handle, attributes, function, argument);
    if (refusals_strike(__func__, caller, NO_THREADS)) {
        *handle = (pthread_t)NO_HANDLE;
        return EAGAIN;
    }

    struct host_thread *thread = start_begins(caller);
    if (thread == NULL) return EAGAIN;
    thread->function.posix = function;
    thread->argument = argument;
    const int error = real.call(&thread->handle, attributes, posix_main, thread);
    if (error == EAGAIN && threads_on_want != NULL) threads_on_want(error);
    if (error == 0) *handle = thread->handle;
    start_ends(thread, __func__, error == 0, is_detached(attributes), &outside);
    return error;
}

THREADS_PUBLIC int thrd_create(thrd_t *handle, thrd_start_t function, void *argument)
{
    THREADS_BEHIND(int, thrd_create, (thrd_t *, thrd_start_t, void *));
    struct outside outside;
    const uintptr_t caller = watched_caller(__builtin_return_address(0), &outside);
    if (caller == 0) return real.call(handle, function, argument);
    if (refusals_strike(__func__, caller, NO_THREADS)) return thrd_nomem;

    struct host_thread *thread = start_begins(caller);
    if (thread == NULL) return thrd_nomem;
    thread->function.c11 = function;
    thread->argument = argument;
    const int result = real.call(&thread->handle, c11_main, thread);
    /* thrd_error stands for EAGAIN as well. */
    if (result != thrd_success && threads_on_want != NULL) threads_on_want(EAGAIN);
    if (result == thrd_success) *handle = thread->handle;
    start_ends(thread, __func__, result == thrd_success, false, &outside);
    return result;
}

#define GIVE_BACK(name, handle, parameters, arguments, joins, flags)                               \
    THREADS_PUBLIC int name parameters                                                             \
    {                                                                                              \
        THREADS_BEHIND(int, name, parameters);                                                     \
        struct host_thread *given = give_back_begins(handle, joins);                               \
        const int result = real.call arguments;                                                    \
        if (given != NULL) give_back_ends(given, #name, result == 0, flags);                       \
        return result;                                                                             \
    }
#define JOIN(name, handle, parameters, arguments)                                                  \
    GIVE_BACK(name, handle, parameters, arguments, true, 0)
#define DETACH(name, handle, parameters, arguments)                                                \
    GIVE_BACK(name, handle, parameters, arguments, false, TRACE_DETACHED)
/* Only waits of watched code itself: the device's own waits inside a CUDA call say nothing about
 * the program's threads. */
#define WAIT(name, parameters, arguments)                                                          \
    THREADS_PUBLIC int name parameters                                                             \
    {                                                                                              \
        THREADS_BEHIND(int, name, parameters);                                                     \
        struct outside outside;                                                                    \
        if (order_holds_any() && watched_caller(__builtin_return_address(0), &outside) != 0) {     \
            threads_lock();                                                                        \
            order_waits(gettid());                                                                 \
            threads_unlock();                                                                      \
        }                                                                                          \
        return real.call arguments;                                                                \
    }
#include "threads/calls.def"
