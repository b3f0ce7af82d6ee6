#include "grader/run/run.h"
#include "grader/base/files.h"
#include "grader/base/parallel.h"
#include "grader/base/process.h"
#include "grader/base/random.h"
#include "grader/base/refused.h"
#include "grader/child/control.h"
#include "grader/evidence/evidence.h"
#include "grader/run/gpu_lock.h"
#include "opencl/layer.h"
#include "threads/refusals.h"
#include "trace/gpus.h"
#include "trace/large.h"
#include "trace/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DEFAULT_SECONDS 20
/* Time limit on the software device, where a solution's run takes a tenth of a second; and how many
 * times as long a run there may compute, since a slow machine needs longer (a right product of
 * many small matrices was seen to compute for 1.8 s). */
#define EMULATOR_SECONDS 5
#define EMULATOR_COMPUTING 4
#define DEFAULT_MEMORY ((uint64_t)2 << 30)
#define DEFAULT_PROCESSES 1
#define PRINTED_LIMIT ((size_t)1 << 20)
#define FILE_LIMIT ((uint64_t)256 << 20) /* of a file written by the submission */
#define OUTPUT_LIMIT ((size_t)16 << 30)
#define FOLDER_LIMIT ((uint64_t)256 << 20) /* of all its files together */
#define FILES_LIMIT 4096
#define MOST_VARIABLES 24
#define MOST_READ 16
/* Files with which PoCL compiles kernels, and the program with which it links them. */
#define POCL_FILES "/usr/share/pocl"
#define POCL_LINKER "/usr/bin/ld"
#define MOST_AT_ONE_TIME 4

/* ---- files handed to the runner ----------------------------------------------------------------
 */

/* Makes a memory file of that size. Returns the descriptor, or -1 with errno. */
static int memory_file(const char *name, size_t size)
{
    int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -1;
    if (size == 0 || ftruncate(file, (off_t)size) == 0) return file;
    close(file);
    return -1;
}

static int write_all(int file, const void *bytes, size_t size)
{
    const char *at = bytes;
    for (off_t offset = 0; (size_t)offset < size;) {
        ssize_t n = pwrite(file, at + offset, size - (size_t)offset, offset);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return -1;
        offset += n;
    }
    return 0;
}

static int read_all(int file, void *bytes, size_t size)
{
    char *at = bytes;
    for (off_t offset = 0; (size_t)offset < size;) {
        ssize_t n = pread(file, at + offset, size - (size_t)offset, offset);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return -1;
        offset += n;
    }
    return 0;
}

static int poison(int file, size_t size)
{
    char block[1 << 14];

    memset(block, DRIVE_POISON, sizeof block);
    for (size_t offset = 0; offset < size;) {
        size_t n = size - offset < sizeof block ? size - offset : sizeof block;
        ssize_t written = pwrite(file, block, n, (off_t)offset);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return -1;
        offset += (size_t)written;
    }
    return 0;
}

/* ---- the environment --------------------------------------------------------------------------
 */

/* Number of warp instructions after which the software device stops a kernel and reports where it
 * loops: a few seconds, less than the run's own limit, which could not name the line, and far more
 * than any lesson's kernel takes. */
#define INSTRUCTION_LIMIT "200000000"

struct environment {
    char text[MOST_VARIABLES][PATH_MAX + 64];
    const char *list[MOST_VARIABLES + 1];
    size_t count;
};

static void set(struct environment *environment, const char *name, const char *value)
{
    if (value == NULL || environment->count == MOST_VARIABLES) return;
    snprintf(environment->text[environment->count], sizeof environment->text[0], "%s=%s", name,
             value);
    environment->list[environment->count] = environment->text[environment->count];
    environment->list[++environment->count] = NULL;
}

/* Returns which of a new thread and its starter is held back on the software device; NULL: neither,
 * because times are measured. Where a call is made to fail by its number, a thread makes its calls
 * before its starter goes on, so that the number is the same call's in each run. */
static const char *threads_order(const struct run_request *request)
{
    const uint32_t flags = request->plan->flags;
    if (request->device != DRIVE_EMULATOR) return NULL;
    if (flags & RUN_IN_EVERY_ORDER) return request->order;
    if (flags & (RUN_TIMED | RUN_ALONE)) return NULL;
    return flags & RUN_INJECTIONS ? "earliest" : request->order;
}

/* Writes the settings, which the submission does not get to see (control.h). Returns 0 or -1. */
static int write_settings(int file, const struct run_request *request,
                          const struct run_input *input, const struct trace_key *key, uint64_t word)
{
    char key_text[40], word_text[20], opencl[PATH_MAX];
    const bool emulator = request->device == DRIVE_EMULATOR;
    const bool injections = request->plan->flags & RUN_INJECTIONS;
    const bool host = request->injection_of_host;
    const struct {
        const char *name, *value;
    } settings[] = {
        {CONTROL_RUN_SETTING, request->plan->name},
        {CONTROL_DEVICE_SETTING, emulator ? "emulator" : "gpu"},
        {CONTROL_LIBRARIES_SETTING,
         emulator ? request->toolchain->emulator : request->toolchain->cuda_libraries},
        {TRACE_KEY_VARIABLE, key_text},
        /* Finding the line of each call takes microseconds, too much for a timed run. */
        {"OVERLAP_CALLERS", !emulator && request->plan->flags & RUN_TIMED ? "0" : NULL},
        {CONTROL_WORD_SETTING, word_text},
        {CONTROL_TIMED_SETTING, request->rounds > 0 ? request->plan->phase : NULL},
        {"OVERLAP_ORDER", emulator ? request->order : NULL},
        {CONTROL_THREADS_VARIABLE, threads_order(request)},
        /* Makes a time depend on the submission only. */
        {"OVERLAP_TURNS", emulator && request->plan->flags & RUN_TIMED ? "on" : NULL},
        /* Of two blocks that race, which comes first, and so what is found and computed, must not
         * depend on how many processors there are and how busy they are. */
        {"OVERLAP_WORKERS", emulator ? "1" : NULL},
        {"OVERLAP_QUIET", emulator ? "all" : NULL}, /* findings are in the trace */
        {"OVERLAP_FAIL", emulator && !host ? request->injection : NULL},
        {REFUSALS_VARIABLE, !emulator || !injections ? NULL
                            : host                   ? request->injection
                                                     : ""},
        {"OVERLAP_RACES", emulator ? getenv("OVERLAP_RACES") : NULL},
        {GPUS_VARIABLE, emulator ? getenv(GPUS_VARIABLE) : NULL},
        {DEVICES_VARIABLE,
         (emulator || request->plan->flags & RUN_OPENCL) && input->devices[0] != '\0'
             ? input->devices
             : NULL},
        {"OVERLAP_INSTRUCTION_LIMIT", emulator ? INSTRUCTION_LIMIT : NULL},
        {CONTROL_OPENCL_SETTING, request->plan->flags & RUN_OPENCL ? opencl : NULL},
    };
    struct text text = {0};

    snprintf(opencl, sizeof opencl, "%s/" OPENCL_LIBRARY, request->toolchain->emulator);
    snprintf(word_text, sizeof word_text, "%" PRIx64, word);
    snprintf(key_text, sizeof key_text, "%016" PRIx64 "%016" PRIx64, key->half[0], key->half[1]);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        if (settings[i].value == NULL) continue;
        text_format(&text, "%s=%s", settings[i].name, settings[i].value);
        text_add_bytes(&text, "", 1);
    }
    const int result = text.failed ? -1 : write_all(file, text_string(&text), text.size);
    text_free(&text);
    return result;
}

/* Makes the environment, which is all that the submission gets to see: nothing of the grader's own,
 * no seed, and not which run this is. */
static void make_environment(struct environment *environment, const struct run_request *request,
                             const struct run_input *input, const char *scratch)
{
    const struct toolchain *toolchain = request->toolchain;
    char path[PATH_MAX];

    environment->count = 0;
    set(environment, "PATH", "/usr/bin:/bin");
    set(environment, "LC_ALL", "C.UTF-8");
    set(environment, "HOME", scratch);
    set(environment, "TMPDIR", scratch);
    snprintf(path, sizeof path, "/proc/self/fd/%d", CONTROL_TRACE_FD);
    set(environment, TRACE_PATH_VARIABLE, path);
    if (request->device == DRIVE_EMULATOR) {
        set(environment, "LD_LIBRARY_PATH", toolchain->emulator);
    } else {
        /* The driver may be found only through the user's own path (containers). */
        const char *search = getenv("LD_LIBRARY_PATH");
        snprintf(path, sizeof path, "%s%s%s", toolchain->cuda_libraries, search ? ":" : "",
                 search ? search : "");
        set(environment, "LD_LIBRARY_PATH", path);
        /* NVIDIA's OpenCL uses libcuda, which would start the recorder. */
        if (!(request->plan->flags & RUN_OPENCL) && access(toolchain->recorder, R_OK) == 0)
            set(environment, "CUDA_INJECTION64_PATH", toolchain->recorder);
        if (!input->chooses)
            set(environment, "CUDA_VISIBLE_DEVICES", getenv("CUDA_VISIBLE_DEVICES"));
    }
    if (input->chooses) set(environment, "CUDA_VISIBLE_DEVICES", input->visible);
#ifdef __SANITIZE_ADDRESS__
    /* The runner is built with the sanitizer too. Crashes are left to the runner's own handler, and
     * a submission's leaks on the host are not judged here. */
    set(environment, "ASAN_OPTIONS",
        "detect_leaks=0:handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0:"
        "handle_sigill=0:allocator_may_return_null=1");
#endif
}

/* Makes the files that control.h lists. Input and settings are sealed against writing, and no file
 * can change its size. Returns 0, or -1 with errno. */
static int make_files(int files[CONTROL_FD_COUNT], const struct run_input *input,
                      const struct run_request *request, const struct evidence_rounds *rounds,
                      const struct trace_key *key, uint64_t word)
{
    struct control control = {.rounds = rounds->count,
                              .spread = (request->plan->flags & RUN_THREADS) != 0};
    const int fixed = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

    files[0] = memory_file("control", sizeof(struct control));
    files[1] = memory_file("input", input->size);
    files[2] = memory_file("output", input->output_size);
    files[3] = memory_file("settings", 0);
    files[4] = trace_create_in_memory(request->plan->trace_records, TRACE_ALL_KINDS);
    for (int i = 0; i < CONTROL_FD_COUNT; i++)
        if (files[i] < 0) return -1;
    memcpy(control.round, rounds->round, sizeof control.round);
    if (write_all(files[0], &control, sizeof control) != 0 ||
        write_all(files[1], input->data, input->size) != 0 ||
        poison(files[2], input->output_size) != 0 ||
        write_settings(files[3], request, input, key, word) != 0)
        return -1;
    if (fcntl(files[0], F_ADD_SEALS, fixed) != 0 || fcntl(files[2], F_ADD_SEALS, fixed) != 0)
        return -1;
    if (fcntl(files[1], F_ADD_SEALS, fixed | F_SEAL_WRITE) != 0) return -1;
    return fcntl(files[3], F_ADD_SEALS, fixed | F_SEAL_WRITE);
}

/* ---- evidence ---------------------------------------------------------------------------------
 */

static const enum evidence_ending endings[] = {
    [PROCESS_EXITED] = ENDED_WELL,         [PROCESS_SIGNALLED] = ENDED_SIGNAL,
    [PROCESS_TIME] = ENDED_TIME,           [PROCESS_MEMORY] = ENDED_MEMORY,
    [PROCESS_PROCESSES] = ENDED_PROCESSES, [PROCESS_OUTPUT] = ENDED_OUTPUT,
    [PROCESS_FILES] = ENDED_FILES,         [PROCESS_ABANDONED] = ENDED_UNWATCHED,
};

/* Returns how many processes the kernel has killed for want of memory so far. Source: proc(5),
 * vmstat. */
static uint64_t oom_kills(void)
{
    FILE *file = fopen("/proc/vmstat", "re");
    char line[128];
    unsigned long long kills = 0;

    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "oom_kill %llu", &kills) == 1) break;
    if (file != NULL) fclose(file);
    return kills;
}

/* Returns true, with trouble, when the process ended because of the machine; such a run gets no
 * ending. */
static bool is_machines_trouble(const struct run_request *request,
                                const struct process_result *result, const struct control *control,
                                uint64_t killed_before, struct trouble *trouble)
{
    if (process_interrupted() != 0)
        trouble_set(trouble, TROUBLE_INTERRUPTED, "%s", "");
    else if (result->ending == PROCESS_BUSY)
        trouble_set(trouble, TROUBLE_BUSY, "the run \"%s\" had too little of a processor in %.0f s",
                    request->plan->name, result->seconds);
    else if (result->ending == PROCESS_NOT_STARTED)
        trouble_set_error(trouble, result->error, TROUBLE_MISSING, "%.200s",
                          request->toolchain->runner);
    else if (control->stage == CONTROL_REFUSED && access(request->library, R_OK) != 0)
        trouble_set_error(trouble, errno, TROUBLE_CHANGED, "%.200s", request->library);
    else if (control->want != 0 &&
             (result->ending == PROCESS_EXITED || result->ending == PROCESS_SIGNALLED ||
              result->ending == PROCESS_TIME))
        trouble_set_error(trouble, control->want, TROUBLE_PROCESS,
                          "the program's own, in the run \"%s\"", request->plan->name);
    else if (result->ending == PROCESS_SIGNALLED && result->signal == SIGKILL &&
             oom_kills() > killed_before)
        trouble_set(trouble, TROUBLE_KILLED, "the run \"%s\"", request->plan->name);
    else if (control->stage == CONTROL_REFUSED)
        trouble_find_words(trouble, "the run said", control->message);
    return trouble->kind != TROUBLE_NONE;
}

/* Determines how the run ended from what the supervisor saw and what the runner recorded. */
static void conclude(struct evidence *evidence, const struct process_result *result,
                     struct control *control)
{
    evidence->ending = endings[result->ending];
    evidence->code = result->code;
    evidence->signal = result->signal;
    evidence->left_running = result->left_running;
    evidence->seconds = result->seconds;
    evidence->own_seconds = result->own_seconds;
    evidence->peak_bytes = result->peak_bytes;
    snprintf(evidence->why, sizeof evidence->why, "%s", result->why);
    evidence->base = control->base;
    evidence->fault = control->fault;
    evidence->frame_count =
        control->frame_count < CONTROL_FRAMES ? control->frame_count : CONTROL_FRAMES;
    memcpy(evidence->frames, control->frames, sizeof evidence->frames);
    if (control->refused != 0 && control->signal == 0 &&
        (evidence->ending == ENDED_WELL || evidence->ending == ENDED_SIGNAL)) {
        const char *name = refused_name(control->refused);
        const bool typing = refused_is_typing(control->refused, control->refused_second);
        evidence->ending = typing ? ENDED_TYPED : ENDED_REACHED_UP;
        snprintf(evidence->why, sizeof evidence->why, "%s", name != NULL ? name : "a system call");
        return;
    }
    if (evidence->ending != ENDED_WELL) return;
    if (control->stage == CONTROL_REFUSED) {
        evidence->ending = ENDED_NOT_STARTED;
        snprintf(evidence->why, sizeof evidence->why, "%s", control->message);
    } else if (control->stage != CONTROL_DRIVEN) {
        evidence->ending = ENDED_EARLY;
    } else if (control->drive_result != 0) {
        evidence->ending = ENDED_DRIVE;
        evidence->code = control->drive_result;
    } else if (result->left_running > 0) {
        evidence->ending = ENDED_LEFT_RUNNING;
    } else if (result->code != 0) {
        evidence->ending = ENDED_EARLY;
    }
}

/* Copies the output, the trace and the printed text into the evidence. Returns 0, or -1: no
 * memory. */
static int collect(struct evidence *evidence, struct process *process, int output, int trace,
                   const struct trace_key *key)
{
    const struct process_result *result = process_result(process);
    char *printed = malloc(result->printed_size + 1);
    void *copy = large_take(evidence->output_size);

    evidence->printed = printed;
    evidence->output = copy;
    if (printed == NULL || copy == NULL) return -1;
    memcpy(printed, process_printed(process), result->printed_size);
    printed[result->printed_size] = '\0';
    evidence->printed_size = result->printed_size;
    if (read_all(output, copy, evidence->output_size) != 0) return -1;
    evidence->trace_sound = trace_read_descriptor(trace, key, &evidence->trace, evidence->trace_why,
                                                  sizeof evidence->trace_why) == 0;
    if (evidence_index_build(evidence) != 0) return -1;
    evidence_seal(evidence);
    return 0;
}

/* Draws the inputs of one round. Returns 0 or -1. */
static int prepare_round(const struct run_request *request, unsigned round, struct run_input *input)
{
    struct random_source random;
    char label[256];

    /* For the inputs each round counts as another repetition. */
    snprintf(label, sizeof label, "%s/%s/%d/%s/%u", request->lesson->folder, request->plan->name,
             (int)request->device, request->order != NULL ? request->order : "",
             request->repeat * CONTROL_ROUNDS + round);
    random_derive(&random, request->seed, label);
    *input = (struct run_input){.device = request->device,
                                .gpus = request->gpus,
                                .run = request->plan->name,
                                .random = &random};
    int result = request->plan->prepare != NULL ? request->plan->prepare(input) : 0;
    input->random = NULL;
    return result == 0 && input->output_size <= OUTPUT_LIMIT ? 0 : -1;
}

#define ROUND_ALIGNMENT 4096

static size_t aligned(size_t size)
{
    return (size + ROUND_ALIGNMENT - 1) / ROUND_ALIGNMENT * ROUND_ALIGNMENT;
}

/* On a GPU every third round is recorded and shows what was done. In the others the recorder, which
 * costs a microsecond or more per call and copy, does not affect the time. */
static bool is_recorded(const struct run_plan *plan, unsigned round)
{
    return (plan->flags & RUN_RECORDED) || round == 0 || round % 3 == 1;
}

/* The inputs of all rounds. */
struct drawing {
    const struct run_request *request;
    struct run_input each[CONTROL_ROUNDS];
    int results[CONTROL_ROUNDS];
};

static void draw_round(void *user, size_t round)
{
    struct drawing *drawing = user;
    drawing->results[round] =
        prepare_round(drawing->request, (unsigned)round, &drawing->each[round]);
}

/* Draws the inputs of all rounds into one buffer, one after another, and records where each is.
 * Returns 0 or -1. */
static int prepare_rounds(const struct run_request *request, struct run_input *input,
                          struct evidence_rounds *rounds)
{
    struct drawing drawing = {.request = request};
    struct run_input *each = drawing.each;
    size_t at = 0;
    int result = 0;

    *input = (struct run_input){.device = request->device, .run = request->plan->name};
    parallel_each(request->rounds, draw_round, &drawing);
    for (unsigned i = 0; i < request->rounds; i++) {
        if (drawing.results[i] != 0) result = -1;
        rounds->round[i] =
            (struct control_round){input->size, each[i].size, input->output_size,
                                   each[i].output_size, is_recorded(request->plan, i)};
        input->size += aligned(each[i].size);
        input->output_size += aligned(each[i].output_size);
    }
    if (result == 0 && run_input_allocate(input, input->size) == NULL) result = -1;
    for (unsigned i = 0; i < request->rounds; i++) {
        if (result == 0 && each[i].size > 0)
            memcpy((char *)input->data + at, each[i].data, each[i].size);
        at += aligned(each[i].size);
        large_give_back(each[i].data);
    }
    rounds->count = request->rounds;
    return result;
}

static int prepare(const struct run_request *request, struct run_input *input,
                   struct evidence_rounds *rounds)
{
    rounds->count = 0;
    return request->rounds > 0 ? prepare_rounds(request, input, rounds)
                               : prepare_round(request, 0, input);
}

/* ---- a run ------------------------------------------------------------------------------------
 */

/* The state of a run between set_up and end. */
struct running {
    const struct run_request *request;
    struct evidence *evidence;
    struct process *process;
    int files[CONTROL_FD_COUNT];
    struct trace_key key; /* of its trace */
    uint64_t word;        /* CONTROL_WORD_SETTING */
    struct scratch scratch;
    struct run_input input; /* belongs to the evidence once it is drawn */
    struct evidence_rounds rounds;
    uint64_t killed_before; /* oom_kills() */
};

/* Releases everything except the evidence; with `result` not 0 the evidence too. Returns
 * `result`. */
static int finish(struct running *run, int result)
{
    process_free(run->process);
    run->process = NULL;
    for (int i = 0; i < CONTROL_FD_COUNT; i++) {
        if (run->files[i] >= 0) close(run->files[i]);
        run->files[i] = -1;
    }
    scratch_remove(&run->scratch, files_remove);
    if (result != 0) evidence_release(run->evidence);
    return result;
}

/* Makes the files and folders that the runner gets. Returns 0, or -1 with errno. */
static int make_room(struct running *run)
{
    const char *temporary = getenv("TMPDIR");

    if (scratch_make(&run->scratch, temporary != NULL && temporary[0] == '/' ? temporary : "/tmp",
                     "grade", files_remove) != 0)
        return -1;
    if (random_secret(&run->key.half[0]) != 0 || random_secret(&run->key.half[1]) != 0 ||
        random_secret(&run->word) != 0)
        return -1;
    return make_files(run->files, &run->input, run->request, &run->rounds, &run->key, run->word);
}

/* Lists what the runner may read besides the system's libraries. The strings belong to the
 * toolchain and to `search`, which is cut into its folders. */
static void list_read(const struct run_request *request, char *search,
                      const char *list[MOST_READ + 1])
{
    const struct toolchain *toolchain = request->toolchain;
    size_t count = 0;

    list[count++] = request->library;
    if (request->plan->flags & RUN_OPENCL) {
        list[count++] = toolchain->emulator;
        list[count++] = POCL_FILES;
    } else if (request->device == DRIVE_EMULATOR) {
        list[count++] = toolchain->emulator;
    }
    if (request->device == DRIVE_GPU) {
        list[count++] = toolchain->recorder;
        list[count++] = toolchain->cuda_libraries;
        if (toolchain->cuda != NULL) list[count++] = toolchain->cuda; /* CUPTI */
        char *rest = NULL;
        for (char *folder = strtok_r(search, ":", &rest); folder != NULL && count < MOST_READ;
             folder = strtok_r(NULL, ":", &rest))
            if (folder[0] == '/' && folder[1] != '\0') list[count++] = folder;
    }
    list[count] = NULL;
}

static struct process *start(const struct running *run)
{
    const char *given = getenv("LD_LIBRARY_PATH"), *read[MOST_READ + 1];
    char search[PATH_MAX];
    const struct run_request *request = run->request;
    const struct evidence *evidence = run->evidence;
    struct environment *environment = malloc(sizeof *environment);
    if (environment == NULL) return NULL;

    make_environment(environment, request, &run->input, run->scratch.path);
    /* NVIDIA's driver may start its own helper program (nvidia-modprobe) for a moment. */
    const bool opencl = (request->plan->flags & RUN_OPENCL) != 0;
    const unsigned helpers = request->device == DRIVE_GPU || opencl ? 1 : 0;
    const char *arguments[] = {request->toolchain->runner, request->library, NULL};
    snprintf(search, sizeof search, "%s", given != NULL ? given : "");
    list_read(request, search, read);
    const struct contain_rules rules = {
        .read = read,
        .write = run->scratch.path,
        .write_bytes = FOLDER_LIMIT,
        .write_files = FILES_LIMIT,
        .devices = request->device == DRIVE_GPU,
        .one_program = true,
        .helper = opencl && request->device == DRIVE_EMULATOR ? POCL_LINKER : NULL};
    const struct process_spec spec = {
        .arguments = arguments,
        .environment = environment->list,
        .folder = run->scratch.path,
        .handed = {run->files[0], run->files[1], run->files[2], run->files[3], run->files[4]},
        .handed_count = CONTROL_FD_COUNT,
        .limits = {.seconds = evidence->allowed_seconds,
                   .computing = request->device == DRIVE_EMULATOR ? EMULATOR_COMPUTING : 1,
                   .memory = evidence->allowed_memory,
                   .processes = evidence->allowed_processes + helpers,
                   .output = PRINTED_LIMIT,
                   .file_bytes = FILE_LIMIT},
        .ask_where = 1,
        .contain = &rules,
    };
    struct process *process = process_start(&spec);
    free(environment);
    return process;
}

/* Returns the seconds allowed for all rounds but the first. */
static double rounds_seconds(const struct evidence *evidence)
{
    const double allowed = evidence->allowed_seconds;
    return allowed < TURNS_SECONDS ? allowed : TURNS_SECONDS;
}

static double seconds_for(const struct run_request *request)
{
    double seconds = request->plan->seconds > 0 ? request->plan->seconds : DEFAULT_SECONDS;

    /* With OpenCL the time includes PoCL's compilation. */
    const bool opencl = (request->plan->flags & RUN_OPENCL) != 0;
    if (request->device == DRIVE_EMULATOR && !opencl && seconds > EMULATOR_SECONDS)
        seconds = EMULATOR_SECONDS;
    if (request->seconds_at_most > 0 && seconds > request->seconds_at_most)
        seconds = request->seconds_at_most;
    return seconds;
}

/* Draws the inputs and makes the files. Returns 0: go() must follow; or -1: everything is
 * released. */
static int set_up(struct running *run, const struct run_request *request, struct evidence *evidence,
                  struct trouble *trouble)
{
    const struct run_plan *plan = request->plan;
    *run =
        (struct running){.request = request, .evidence = evidence, .files = {-1, -1, -1, -1, -1}};
    *evidence = (struct evidence){
        .lesson = request->lesson,
        .plan = plan,
        .device = request->device,
        .order = request->device == DRIVE_EMULATOR ? request->order : NULL,
        .reference = request->reference,
        .sources = request->sources,
        .shown_folder = request->shown_folder,
        .allowed_seconds = seconds_for(request),
        .allowed_memory = plan->memory > 0 ? plan->memory : DEFAULT_MEMORY,
        .allowed_processes = plan->processes > 0 ? plan->processes : DEFAULT_PROCESSES,
        .repeat_count = 1,
        .after = request->after,
    };
    /* Includes the time spent waiting for the other processes' turns. */
    if (request->rounds > 0) evidence->allowed_seconds += rounds_seconds(evidence);
    const int prepared = prepare(request, &run->input, &run->rounds);
    evidence->input = run->input.data;
    evidence->input_size = run->input.size;
    evidence->output_size = run->input.output_size;
    if (prepared != 0) {
        trouble_set(trouble, TROUBLE_MEMORY, "the inputs of the run \"%s\"", plan->name);
        return finish(run, -1);
    }
    if (make_room(run) != 0) {
        trouble_set_error(trouble, errno, TROUBLE_FOLDER, "the run \"%s\"", plan->name);
        return finish(run, -1);
    }
    return 0;
}

/* Starts the process. Returns 0: run->process runs, and end() must follow; or -1: everything is
 * released.
 */
static int go(struct running *run, struct trouble *trouble)
{
    run->killed_before = oom_kills();
    run->process = start(run);
    if (run->process != NULL) return 0;
    trouble_set_error(trouble, errno, TROUBLE_PROCESS, "the run \"%s\"", run->request->plan->name);
    return finish(run, -1);
}

/* Completes the evidence after the process has ended. Returns 0 or -1. */
static int end(struct running *run, struct trouble *trouble)
{
    struct control control;

    if (read_all(run->files[0], &control, sizeof control) != 0) memset(&control, 0, sizeof control);
    control.message[sizeof control.message - 1] = '\0';
    if (control.word != run->word) { /* the submission wrote it, not the runner */
        control.want = 0;
        if (control.stage == CONTROL_REFUSED) control.stage = CONTROL_STARTED;
    }
    if (is_machines_trouble(run->request, process_result(run->process), &control,
                            run->killed_before, trouble))
        return finish(run, -1);
    conclude(run->evidence, process_result(run->process), &control);
    if (collect(run->evidence, run->process, run->files[2], run->files[4], &run->key) != 0) {
        trouble_set(trouble, TROUBLE_MEMORY, "what the run \"%s\" left", run->request->plan->name);
        return finish(run, -1);
    }
    return finish(run, 0);
}

static size_t at_one_time(void)
{
    const size_t processors = parallel_processors();
    return processors < MOST_AT_ONE_TIME ? processors : MOST_AT_ONE_TIME;
}

int run_make_several(const struct run_request *requests, size_t count, struct evidence *evidences,
                     size_t *made, struct trouble *trouble)
{
    struct running runs[MOST_AT_ONE_TIME];
    struct process *processes[MOST_AT_ONE_TIME] = {NULL};
    const size_t most = at_one_time();
    bool go_on = true;
    int result = 0;

    *made = 0;
    for (;;) {
        for (size_t i = 0; i < most && go_on && *made < count; i++) {
            if (processes[i] != NULL) continue;
            if (set_up(&runs[i], &requests[*made], &evidences[*made], trouble) != 0 ||
                go(&runs[i], trouble) != 0) {
                go_on = false;
                result = -1;
                break;
            }
            processes[i] = runs[i].process;
            ++*made;
        }
        const size_t which = process_wait_any(processes, most);
        if (which == most) return result;
        processes[which] = NULL;
        if (end(&runs[which], trouble) != 0) result = -1;
        go_on = go_on && result == 0 && evidence_usable(runs[which].evidence);
    }
}

/* Maps the page that the process and the grader share. NULL: it cannot be mapped. */
static struct control *share_control(const struct running *run)
{
    void *page =
        mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, run->files[0], 0);
    return page == MAP_FAILED ? NULL : page;
}

/* Sets up all runs. Returns how many can go on; when they are fewer than `count`, the trouble is
 * set. */
static size_t set_up_all(struct running *runs, const struct run_request *requests, size_t count,
                         struct evidence *evidences, struct trouble *trouble)
{
    size_t made = 0;
    while (made < count && set_up(&runs[made], &requests[made], &evidences[made], trouble) == 0)
        made++;
    return made;
}

/* Starts the processes and gives them turns through their rounds. Returns 0 or -1; *begun is set to
 * the number of processes started. */
static int take_turns(struct running *runs, struct turns *turns, size_t *begun,
                      struct trouble *trouble)
{
    struct process *processes[TURNS_PROCESSES] = {NULL};
    size_t which;

    for (*begun = 0; *begun < turns->count; ++*begun) {
        turns->processes[*begun].control = share_control(&runs[*begun]);
        if (turns->processes[*begun].control == NULL || go(&runs[*begun], trouble) != 0) return -1;
        processes[*begun] = runs[*begun].process;
    }
    if (turns_begin(turns) != 0) return -1;
    while ((which = process_wait_any(processes, turns->count)) != turns->count) {
        processes[which] = NULL;
        turns_gone(turns, which);
    }
    turns_end(turns);
    return 0;
}

int run_make_in_turn(const struct run_request *requests, struct turns *turns,
                     struct evidence *evidences, struct trouble *trouble)
{
    struct running runs[TURNS_PROCESSES];
    size_t begun = 0;
    const size_t made = set_up_all(runs, requests, turns->count, evidences, trouble);
    int result = made == turns->count ? 0 : -1;

    for (size_t i = 0; i < turns->count; i++) turns->processes[i].control = NULL;
    turns->lock = -1;
    turns->most_s = made > 0 ? rounds_seconds(&evidences[0]) : 0;
    for (unsigned i = 0; made > 0 && i < CONTROL_ROUNDS; i++)
        turns->counts[i] =
            (requests[0].plan->flags & RUN_RECORDED) || !runs[0].rounds.round[i].recorded;
    if (result == 0) turns->lock = gpu_lock_take(requests[0].toolchain, GPU_LOCK_ALONE, trouble);
    if (result == 0 && turns->lock < 0) result = -1;
    if (result == 0) result = take_turns(runs, turns, &begun, trouble);
    if (result != 0) trouble_set(trouble, TROUBLE_MEMORY, "a run by turns");
    gpu_lock_release(turns->lock);
    for (size_t i = 0; i < made; i++) {
        if (turns->processes[i].control != NULL)
            munmap(turns->processes[i].control, sizeof(struct control));
        evidences[i].rounds = runs[i].rounds;
        if (result != 0)
            finish(&runs[i], -1);
        else if (end(&runs[i], trouble) != 0)
            result = -1;
    }
    if (result != 0)
        for (size_t i = 0; i < made; i++) evidence_release(&evidences[i]);
    return result;
}
