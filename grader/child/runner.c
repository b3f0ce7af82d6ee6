/* runner: the process in which one run of a submission happens. It loads lesson.so, maps the files
 * that the grader handed over, calls drive_main, and records how far it came. It is the same
 * program for every lesson and every device, and knows no CUDA: the library path that the grader
 * set decides which device there is.
 *
 *   runner LESSON.SO        with the descriptors of control.h open
 */
#include "grader/base/refused.h"
#include "grader/child/control.h"
#include "grader/child/drive.h"
#include "threads/refusals.h"
#include "threads/threads.h"
#include "trace/trace.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define MANY_THREADS 200

/* State for the signal handlers and the marks; set before drive_main is called. */
static struct {
    struct control *control;
    struct trace_writer *trace;
    unsigned phases;     /* begun and not ended */
    const char *timed;   /* the timed phase; NULL: none */
    uint64_t word;       /* CONTROL_WORD_SETTING */
    rest_function *rest; /* the recorder's function; NULL: there is none */
    /* Copies of the grader's values: a submission may write to the shared page, and must not be
     * able to change which rounds are recorded. */
    struct control_round round[CONTROL_ROUNDS];
    uint32_t rounds;
} runner;

/* ---- crashes -----------------------------------------------------------------------------------
 */

static uint64_t program_counter(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return context->uc_mcontext.pc;
#else
    (void)context;
    return 0;
#endif
}

static void note_frames(struct control *control, uint64_t at)
{
    void *frames[CONTROL_FRAMES + 8];

    control->frames[0] = at;
    control->frame_count = 1;
    /* backtrace may deadlock if the crash was inside the loader. The values stored above stay
     * valid, and the grader's time limit ends the process. */
    int count = backtrace(frames, CONTROL_FRAMES + 8), first = 0;
    while (first < count && (uint64_t)(uintptr_t)frames[first] != at) first++;
    for (int i = first + 1; i < count && control->frame_count < CONTROL_FRAMES; i++)
        control->frames[control->frame_count++] = (uint64_t)(uintptr_t)frames[i];
}

/* Records the stack, then lets the signal kill the process in the ordinary way. The device's
 * library may have installed its own handler before this one; that handler forwards signals that
 * are not its own. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    struct control *control = runner.control;

    if (control->signal == 0) {
        control->signal = number;
        control->fault =
            number == SIGSEGV || number == SIGBUS ? (uint64_t)(uintptr_t)info->si_addr : 0;
        note_frames(control, program_counter(context));
    }
    signal(number, SIG_DFL);
    raise(number);
}

/* Handler of a refused system call, one that reached for what is not the program's: records the
 * first, and makes each fail. */
static void on_refused(int number, siginfo_t *info, void *context)
{
    struct control *control = runner.control;
    unsigned long second = 0;
    const int refused = refused_call(info, context, &second), kept = errno;

    if (refused == 0) {
        on_signal(number, info, context);
    } else if (control->refused == 0 && control->signal == 0) {
        control->refused = refused;
        control->refused_second = second;
        note_frames(control, program_counter(context));
    }
    errno = kept;
}

static void watch_signals(void)
{
    static const int watched[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGTRAP};
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    stack_t stack = {.ss_size = 1 << 17};
    void *warm[1];

    backtrace(warm, 1); /* loads what backtrace needs now instead of in the handler */
    stack.ss_sp = malloc(stack.ss_size);
    if (stack.ss_sp != NULL) sigaltstack(&stack, NULL);
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof watched / sizeof watched[0]; i++)
        sigaction(watched[i], &action, NULL);
    action.sa_sigaction = on_refused;
    sigaction(SIGSYS, &action, NULL);
}

/* Called when the system has no thread or process left. A process that has used them up itself is
 * not excused. */
static void on_want(int error)
{
    const int kept = errno;
    unsigned threads = 0;
    DIR *tasks = opendir("/proc/self/task");

    while (tasks != NULL && readdir(tasks) != NULL) threads++;
    if (tasks != NULL) closedir(tasks);
    if (threads < MANY_THREADS && runner.control->want == 0) {
        runner.control->word = runner.word;
        runner.control->want = error;
    }
    errno = kept;
}

/* ---- replaced functions of the C library -------------------------------------------------------
 */

/* The C library's tmpfile uses /tmp, to which a contained program may have no access.
 */
__attribute__((visibility("default"))) FILE *tmpfile(void)
{
    const int file = memfd_create("tmpfile", 0);
    FILE *stream = file >= 0 ? fdopen(file, "w+") : NULL;
    if (stream == NULL && file >= 0) close(file);
    return stream;
}

/* ---- the drive ---------------------------------------------------------------------------------
 */

/* Sets the turn and wakes the grader, which may be waiting for it. */
static void tell_turn(enum control_turn turn)
{
    __atomic_store_n(&runner.control->turn, (uint32_t)turn, __ATOMIC_RELEASE);
    syscall(SYS_futex, &runner.control->turn, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static uint64_t monotonic_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void put_mark(const char *phase, uint32_t index, uint32_t flags)
{
    struct trace_record record = {.kind = TRACE_MARK, .object = index, .flags = flags};

    trace_copy_string(record.name, sizeof record.name, phase);
    record.start_ns = record.end_ns = monotonic_ns();
    trace_put(runner.trace, &record);
}

static void mark(const struct drive *drive, const char *phase, uint32_t index, uint32_t flags)
{
    const int timed = runner.timed != NULL && index == 0 && strcmp(phase, runner.timed) == 0 &&
                      runner.control->turn != CONTROL_BEFORE;

    (void)drive;
    /* The grader's clock encloses the marks. */
    if (timed && (flags & TRACE_BEGIN)) tell_turn(CONTROL_TIMING);
    put_mark(phase, index, flags);
    if (timed && (flags & TRACE_END)) tell_turn(CONTROL_TIMED);
    if (flags & TRACE_BEGIN) {
        runner.phases++;
    } else if (runner.phases > 0 && --runner.phases == 0) {
        /* The student's function has returned, and the drive goes on to release the memory that it
         * passed. A leftover thread must not crash there; it is reported through the record
         * instead. */
        threads_settle();
    }
}

/* Waits for this process's turn. False: there is no further round. */
static int take_turn(void)
{
    uint32_t turn;

    tell_turn(CONTROL_WAITING);
    while ((turn = __atomic_load_n(&runner.control->turn, __ATOMIC_ACQUIRE)) == CONTROL_WAITING)
        syscall(SYS_futex, &runner.control->turn, FUTEX_WAIT, CONTROL_WAITING, NULL, NULL, 0);
    return turn == CONTROL_GIVEN;
}

/* Binds the process to one processor: in the same round all processes use the same one, in the next
 * round another. Processors can differ by a third (a neighbour on a virtual machine), and the
 * scheduler leaves a process where it is. On any error the process may run anywhere. */
static void choose_processor(const cpu_set_t *allowed, uint32_t round)
{
    const int count = CPU_COUNT(allowed);
    int wanted = count > 0 ? (int)(round * 5 % (uint32_t)count) : -1;
    cpu_set_t one;

    if (runner.control->spread) return;
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && wanted >= 0; i++)
        if (CPU_ISSET(i, allowed) && wanted-- == 0) CPU_SET(i, &one);
    if (CPU_COUNT(&one) == 1) (void)sched_setaffinity(0, sizeof one, &one);
}

static void rest(enum rest rest)
{
    if (runner.rest != NULL) runner.rest(runner.word, rest);
}

/* Calls drive_main once per round, or once for a run without rounds. Returns the last result. */
static int drive_rounds(int (*drive_main)(struct drive *), const struct drive *whole)
{
    struct drive drive = *whole;
    cpu_set_t allowed;
    int result = 0;

    CPU_ZERO(&allowed);
    (void)sched_getaffinity(0, sizeof allowed, &allowed);
    if (runner.rounds == 0) return drive_main(&drive);
    for (uint32_t i = 0; i < runner.rounds && result == 0; i++) {
        const struct control_round *round = &runner.round[i];
        if (i > 0 && !take_turn()) break;
        if (i > 0) choose_processor(&allowed, i);
        rest(round->recorded ? REST_NOT : REST_ENTIRELY);
        drive = *whole;
        drive.input = (const char *)whole->input + round->input;
        drive.input_size = round->input_size;
        drive.output = (char *)whole->output + round->output;
        drive.output_size = round->output_size;
        put_mark(CONTROL_ROUND_PHASE, i, TRACE_BEGIN);
        result = drive_main(&drive);
        put_mark(CONTROL_ROUND_PHASE, i, TRACE_END);
        /* Calls while others are timed are still recorded. */
        if (!round->recorded) rest(REST_DEVICE);
        /* Also after the last round, so that the grader learns of its end while this process still
         * exists. */
        if (i + 1 == runner.rounds && result == 0) (void)take_turn();
    }
    return result;
}

/* Records for the grader why the run cannot begin. */
__attribute__((format(printf, 1, 2))) static int refuse(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(runner.control->message, sizeof runner.control->message, format, list);
    va_end(list);
    runner.control->word = runner.word;
    runner.control->stage = CONTROL_REFUSED;
    return 1;
}

/* Maps a descriptor; an empty file gives NULL. Returns 0 or -1. */
static int map(int descriptor, int protection, void **address, size_t *size)
{
    struct stat status;

    *address = NULL;
    if (fstat(descriptor, &status) != 0) return -1;
    *size = (size_t)status.st_size;
    if (*size > 0) *address = mmap(NULL, *size, protection, MAP_SHARED, descriptor, 0);
    close(descriptor);
    return *address == MAP_FAILED ? -1 : 0;
}

/* ---- settings ---------------------------------------------------------------------------------
 */

struct settings {
    char *text; /* the variables lie in this buffer only */
    size_t size;
};

/* Puts the settings into the environment. Returns 0 or -1. */
static int settings_enter(struct settings *settings)
{
    struct stat status;

    if (fstat(CONTROL_SETTINGS_FD, &status) != 0) return -1;
    settings->size = (size_t)status.st_size;
    settings->text = calloc(settings->size + 1, 1);
    if (settings->text == NULL ||
        pread(CONTROL_SETTINGS_FD, settings->text, settings->size, 0) != (ssize_t)settings->size)
        return -1;
    close(CONTROL_SETTINGS_FD);
    for (size_t at = 0; at < settings->size; at += strlen(settings->text + at) + 1)
        if (putenv(settings->text + at) != 0) return -1;
    return 0;
}

/* Removes the settings from the environment and erases them. A variable is found by its "=", so
 * each must stay intact until it is removed. */
static void settings_forget(struct settings *settings)
{
    char name[64];

    for (size_t at = 0; at < settings->size; at += strlen(settings->text + at) + 1) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(settings->text + at, "="),
                 settings->text + at);
        unsetenv(name);
    }
    explicit_bzero(settings->text, settings->size);
    free(settings->text);
}

static void *load(const char *folder, const char *name, int binding)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder != NULL ? folder : "", name);
    return dlopen(path, binding | RTLD_LOCAL);
}

/* Records that nothing will be recorded on this GPU, for which the submission is not to blame. */
static void note_no_recorder(const char *recorder)
{
    struct trace_record record = {.kind = TRACE_SETTING};
    const char *why = recorder != NULL ? dlerror() : NULL;

    trace_copy_string(record.name, sizeof record.name, RECORDER_SETTING);
    snprintf(record.text, sizeof record.text, "%s%s",
             recorder == NULL ? "was not there when the grader was built" : "cannot be loaded: ",
             why != NULL ? why : "");
    trace_put(runner.trace, &record);
}

/* Lets the component that writes the trace (the software device or the recorder) open it and read
 * its settings before the student's code is loaded. The libraries loaded here are the ones that
 * lesson.so, or NVIDIA's driver, gets for the same name. Returns NULL, or why the device cannot be
 * used. */
static const char *begin_device(struct drive *drive)
{
    const char *folder = getenv(CONTROL_LIBRARIES_SETTING);
    const char *recorder = getenv("CUDA_INJECTION64_PATH"),
               *opencl = getenv(CONTROL_OPENCL_SETTING);
    const bool emulator = drive->device == DRIVE_EMULATOR && opencl == NULL;
    const char *(*begin)(void) = NULL;
    const struct drive_opencl *(*begin_drive)(void) = NULL;
    void *writer = NULL, *symbol = NULL;

    if (opencl != NULL)
        writer = dlopen(opencl, RTLD_NOW | RTLD_LOCAL);
    else if (emulator)
        writer = load(folder, "libcuda.so.1", RTLD_NOW);
    else if (recorder != NULL)
        writer = dlopen(recorder, RTLD_NOW | RTLD_LOCAL);
    if (opencl == NULL && !emulator && writer == NULL) note_no_recorder(recorder);
    /* A lesson calls few of the runtime's many functions, so binding is lazy. Where a GPU is timed
     * it is not, so that no call is slow for being the first. */
    const int binding = emulator ? RTLD_LAZY : RTLD_NOW;
    const bool runtime = opencl == NULL && load(folder, "libcudart.so.13", binding) != NULL;
    if (opencl != NULL ? writer == NULL : emulator && (writer == NULL || !runtime))
        return dlerror();
    if (writer != NULL) symbol = dlsym(writer, "overlap_begin");
    memcpy(&begin, &symbol, sizeof begin);
    symbol = writer != NULL ? dlsym(writer, REST_FUNCTION) : NULL;
    memcpy(&runner.rest, &symbol, sizeof runner.rest);
    symbol = emulator ? dlsym(writer, "overlap_host_clock") : NULL;
    if (symbol != NULL) memcpy(&drive->clock, &symbol, sizeof drive->clock);
    symbol = opencl != NULL ? dlsym(writer, "overlap_drive") : NULL;
    memcpy(&begin_drive, &symbol, sizeof begin_drive);
    if (begin_drive != NULL) drive->opencl = begin_drive();
    const char *why = begin != NULL ? begin() : NULL;
    unsetenv(TRACE_PATH_VARIABLE);
    close(CONTROL_TRACE_FD);
    return why;
}

/* Records lesson.so's load address, for the frames of a crash and for the trace. */
static void note_module(void *library, const char *path)
{
    struct trace_record record = {.kind = TRACE_MODULE};
    struct link_map *loaded = NULL;

    if (dlinfo(library, RTLD_DI_LINKMAP, &loaded) != 0) return;
    record.address = loaded->l_addr;
    trace_copy_string(record.text, sizeof record.text, path);
    trace_put(runner.trace, &record);
    runner.control->base = loaded->l_addr;
}

int main(int count, char **arguments)
{
    struct drive drive = {.mark = mark, .clock = monotonic_ns};
    struct settings settings = {0};
    void *control = NULL, *input = NULL;
    size_t size = 0;

    if (map(CONTROL_FD, PROT_READ | PROT_WRITE, &control, &size) != 0 ||
        size < sizeof(struct control) || count != 2) {
        fprintf(stderr, "runner: started by the grader only\n");
        return 2;
    }
    runner.control = control;
    runner.rounds =
        runner.control->rounds < CONTROL_ROUNDS ? runner.control->rounds : CONTROL_ROUNDS;
    memcpy(runner.round, runner.control->round, sizeof runner.round);
    if (settings_enter(&settings) != 0) return refuse("the settings cannot be read");
    const char *word = getenv(CONTROL_WORD_SETTING);
    if (word != NULL) runner.word = strtoull(word, NULL, 16);
    if (map(CONTROL_INPUT_FD, PROT_READ, &input, &drive.input_size) != 0 ||
        map(CONTROL_OUTPUT_FD, PROT_READ | PROT_WRITE, &drive.output, &drive.output_size) != 0)
        return refuse("the input or the output cannot be mapped");
    drive.input = input;
    const char *run = getenv(CONTROL_RUN_SETTING), *device = getenv(CONTROL_DEVICE_SETTING);
    const char *order = getenv(CONTROL_THREADS_VARIABLE);
    drive.run = run = strdup(run != NULL ? run : "");
    drive.device = device != NULL && strcmp(device, "gpu") == 0 ? DRIVE_GPU : DRIVE_EMULATOR;
    if (order != NULL) order = strdup(order);
    const char *timed = getenv(CONTROL_TIMED_SETTING);
    if (timed != NULL) runner.timed = strdup(timed);
    setvbuf(stdout, NULL, _IOLBF, 0); /* text printed before a crash is not lost */
    runner.trace = trace_open_from_environment();
    refusals_begin(getenv(REFUSALS_VARIABLE), runner.trace);
    watch_signals();
    const char *why = begin_device(&drive);
    if (why != NULL) return refuse("%s", why);
    settings_forget(&settings);

    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return refuse("%s", dlerror());
    int (*drive_main)(struct drive *) = NULL;
    void *symbol = dlsym(library, "drive_main");
    memcpy(&drive_main, &symbol, sizeof drive_main);
    if (drive_main == NULL) return refuse("%s", dlerror());
    note_module(library, arguments[1]);
    threads_on_want = on_want;
    threads_watch(symbol, order, runner.trace);
    runner.control->stage = CONTROL_LOADED;

    runner.control->stage = CONTROL_DRIVING;
    int result = drive_rounds(drive_main, &drive);
    runner.control->drive_result = result;
    runner.control->stage = CONTROL_DRIVEN;
    fflush(NULL);
    trace_end(runner.trace);
    /* Returns, so that exit lets the recorder write what it still holds. */
    return 0;
}
