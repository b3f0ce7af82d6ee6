#include "grader/build/compile.h"
#include "grader/base/files.h"
#include "grader/base/messages.h"
#include "grader/base/process.h"
#include "grader/build/command.h"
#include "grader/build/compiler_messages.h"
#include "grader/build/entries.h"
#include "grader/build/intake.h"
#include "grader/build/reads.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MESSAGES_LIMIT ((size_t)1 << 18)
#define AT_ONE_TIME 2 /* compilations */
#define MOST_READ 16

static const struct process_limits compiler_limits = {
    .seconds = 2 * COMPILE_MOST_SECONDS,
    .cpu_seconds = COMPILE_MOST_SECONDS,
    .memory = (uint64_t)4 << 30,
    .processes = 64,
    .output = MESSAGES_LIMIT,
    .file_bytes = (uint64_t)256 << 20,
};

/* One compilation in progress. */
struct job {
    const struct toolchain *toolchain;
    const struct handed_in *handed_in;
    struct compiled *result;
    char key[SHA256_TEXT_SIZE];
    char work[PATH_MAX - 300]; /* its working folder */
    struct command_list commands;
    size_t next; /* index of the next command to run */
    struct process *process;
    struct text said; /* what the compilers printed so far */
};

/* ---- one job ----------------------------------------------------------------------------------
 */

unsigned compile_seconds(void)
{
    const char *said = getenv(COMPILE_SECONDS_VARIABLE);
    char *end;

    if (said == NULL || *said == '\0') return COMPILE_MOST_SECONDS;
    const unsigned long seconds = strtoul(said, &end, 10);
    return *end == '\0' && seconds <= COMPILE_MOST_SECONDS ? (unsigned)seconds : 0;
}

/* Lists the folders that the compilers read besides the system's; `includes` is cut into its
 * folders. */
static void list_read(const struct toolchain *toolchain, char *includes,
                      const char *list[MOST_READ + 1])
{
    size_t count = 0;
    char *rest = NULL;

    list[count++] = toolchain->parts;
    list[count++] = toolchain->emulator;
    list[count++] = toolchain->cuda_libraries;
    if (toolchain->cuda != NULL) list[count++] = toolchain->cuda;
    for (char *folder = strtok_r(includes, ";", &rest); folder != NULL && count < MOST_READ;
         folder = strtok_r(NULL, ";", &rest))
        list[count++] = folder;
    list[count] = NULL;
}

/* Starts the next command. Returns 0, or -1 with the result's trouble. */
static int start_next(struct job *job)
{
    const char *search = getenv("PATH"), *read[MOST_READ + 1];
    char folder[PATH_MAX], path[PATH_MAX], includes[PATH_MAX];

    snprintf(folder, sizeof folder, "%s/src", job->work);
    snprintf(path, sizeof path, "PATH=%s", search != NULL ? search : "/usr/bin:/bin");
    snprintf(includes, sizeof includes, "%s", job->toolchain->cuda_include);
    list_read(job->toolchain, includes, read);
    const char *environment[] = {
        path, "PWD=/proc/self/cwd", "TMPDIR=../temporary", "HOME=../temporary", "LC_ALL=C", NULL};
    const struct contain_rules rules = {.read = read, .write = job->work, .compiler = true};
    struct process_spec spec = {
        .arguments = (const char *const *)job->commands.commands[job->next++].arguments,
        .environment = environment,
        .folder = folder,
        .limits = compiler_limits,
        .contain = &rules,
    };
    const unsigned seconds = compile_seconds();
    if (seconds > 0) spec.limits.cpu_seconds = seconds;
    job->process = process_start(&spec);
    if (job->process != NULL) return 0;
    return trouble_set_error(&job->result->trouble, errno, TROUBLE_PROCESS, "the compiler");
}

/* Takes the result from the cache. Returns false when the cache does not have it. */
static bool find_entry(struct job *job)
{
    struct text said = {0};
    bool failed;

    const int lock = entries_find(job->toolchain->cache, job->key, &failed, &said);
    if (lock >= 0) {
        job->result->lock = lock;
        job->result->locked = true;
        job->result->from_cache = true;
        job->result->ok = !failed;
        if (failed)
            compiler_messages_explain(job->handed_in, text_string(&said), said.size, job->result);
        else
            snprintf(job->result->library, sizeof job->result->library, "%s/%s/%s",
                     job->toolchain->cache, job->key, ENTRIES_LIBRARY);
    }
    text_free(&said);
    return lock >= 0;
}

static int make_work(struct job *job)
{
    static const char *const parts[] = {"src", "temporary"};
    char path[PATH_MAX];

    snprintf(job->work, sizeof job->work, "%s/making.XXXXXX", job->toolchain->cache);
    if (mkdtemp(job->work) == NULL) {
        job->work[0] = '\0';
        return -1;
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", job->work, parts[i]);
        if (mkdir(path, 0700) != 0) return -1;
    }
    return 0;
}

/* Copies and hashes the files, and starts compiling if the cache has no result. Returns 1: started,
 * 0: done. */
static int begin(struct job *job)
{
    const struct lesson *lesson = job->handed_in->lesson;
    struct compiled *result = job->result;
    struct sha256 hash;
    char missing[200];

    memset(result, 0, sizeof *result);
    sha256_begin(&hash);
    if (make_work(job) != 0) {
        trouble_set_error(&result->trouble, errno, TROUBLE_FOLDER, "%.200s", job->toolchain->cache);
        return 0;
    }
    if (intake_submission(job->handed_in, job->work, &hash, result) != 0) return 0;
    if (intake_hash_ours(job->toolchain, lesson, &hash, missing, sizeof missing) != 0) {
        trouble_set_error(&result->trouble, errno, TROUBLE_MISSING, "%s", missing);
        return 0;
    }
    sha256_end(&hash, job->key);
    if (find_entry(job)) return 0;
    errno = 0;
    if (intake_ours(job->toolchain, lesson, job->work) != 0) {
        trouble_set_error(&result->trouble, errno,
                          errno == ENOENT ? TROUBLE_MISSING : TROUBLE_FOLDER, "our own files");
        return 0;
    }
    command_list_make(&job->commands, job->toolchain, lesson);
    if (job->commands.failed) {
        trouble_set(&result->trouble, TROUBLE_MEMORY, "the compiler's command line");
        return 0;
    }
    return start_next(job) == 0 ? 1 : 0;
}

static const char *const limit_sentences[] = {
    [PROCESS_TIME] = N_("The compiler was still at work after ten minutes and was stopped."),
    [PROCESS_MEMORY] = N_("The compiler used more than 4 GiB of memory and was stopped."),
    [PROCESS_PROCESSES] = N_("The compiler started too many processes and was stopped."),
    [PROCESS_OUTPUT] = N_("The compiler printed far too many messages and was stopped."),
    [PROCESS_FILES] = N_("The compiler wrote far too many files and was stopped."),
};

static void say_cpu_seconds_over(struct compiled *result)
{
    snprintf(result->what, sizeof result->what,
             _("The compiler was still at work after %u s of processor time."), compile_seconds());
}

/* Returns true, with trouble, when the compiler ended for a reason other than the student's
 * code. */
static bool is_machines_trouble(const struct job *job, const struct process_result *ended)
{
    struct trouble *trouble = &job->result->trouble;
    const char *program = job->commands.commands[job->next - 1].arguments[0];

    if (ended->ending == PROCESS_BUSY) {
        trouble_set(trouble, TROUBLE_BUSY, "the compiler had too little of a processor in %.0f s",
                    ended->seconds);
    } else if (ended->ending == PROCESS_NOT_STARTED) {
        trouble_set_error(trouble, ended->error, TROUBLE_MISSING, "the compiler \"%s\"", program);
    } else if (ended->ending == PROCESS_ABANDONED) {
        trouble_set(trouble, process_interrupted() != 0 ? TROUBLE_INTERRUPTED : TROUBLE_KILLED,
                    "the compiler's supervisor");
    } else if (ended->ending == PROCESS_SIGNALLED) {
        if (ended->signal == SIGKILL || ended->signal == SIGTERM || ended->signal == SIGHUP)
            trouble_set(trouble, TROUBLE_KILLED, "the compiler %s", program);
    } else if (ended->ending == PROCESS_EXITED) {
        trouble_find_words(trouble, "the compiler said", text_string(&job->said));
        if (trouble->kind == TROUBLE_NONE && files_disk_is_full(job->work))
            trouble_set(trouble, TROUBLE_DISK, "%.200s", job->toolchain->cache);
    }
    return trouble->kind != TROUBLE_NONE;
}

static void keep(struct job *job)
{
    job->result->lock = entries_keep(job->toolchain->cache, job->key, job->work);
    job->result->locked = job->result->lock >= 0;
    if (job->result->locked) job->work[0] = '\0';
}

/* Completes the result after the last command has linked. */
static void conclude_linked(struct job *job)
{
    struct compiled *result = job->result;

    if (reads_check(job->handed_in, job->toolchain, job->work, &job->commands, result) != 0) return;
    if (reads_note_objects(job->handed_in->lesson, job->work) != 0) {
        trouble_set_error(&result->trouble, errno, TROUBLE_FOLDER, "%.200s", job->work);
        return;
    }
    keep(job);
    result->ok = result->locked;
    snprintf(result->library, sizeof result->library, "%s/%s/%s", job->toolchain->cache, job->key,
             ENTRIES_LIBRARY);
    if (!result->ok)
        trouble_set_error(&result->trouble, errno, TROUBLE_FOLDER, "%.200s", job->toolchain->cache);
}

static void conclude_failed(struct job *job)
{
    char path[PATH_MAX];
    const char *said = text_string(&job->said);

    compiler_messages_explain(job->handed_in, said, job->said.size, job->result);
    /* On a faster machine the result could be another, so it is not kept in the cache. */
    if (strstr(said, "CPU time limit exceeded") != NULL) {
        say_cpu_seconds_over(job->result);
        return;
    }
    snprintf(path, sizeof path, "%s/%s", job->work, ENTRIES_LIBRARY);
    unlink(path);
    snprintf(path, sizeof path, "%s/%s", job->work, ENTRIES_FAILED);
    if (files_write(path, said, job->said.size) == 0) keep(job);
}

/* Handles the end of a command. Returns true when another one was started. */
static bool go_on(struct job *job)
{
    const struct process_result *ended = process_result(job->process);
    struct compiled *result = job->result;

    text_add_bytes(&job->said, process_printed(job->process), ended->printed_size);
    if (ended->ending == PROCESS_EXITED && ended->code == 0) {
        if (job->next < job->commands.count) {
            process_free(job->process);
            job->process = NULL;
            return start_next(job) == 0;
        }
        conclude_linked(job);
    } else if (is_machines_trouble(job, ended)) {
        result->ok = false;
    } else if (ended->ending == PROCESS_EXITED) {
        conclude_failed(job);
    } else if (ended->ending == PROCESS_SIGNALLED) {
        if (ended->signal == SIGXCPU)
            say_cpu_seconds_over(result);
        else
            snprintf(result->what, sizeof result->what, _("The compiler was stopped by signal %d."),
                     ended->signal);
    } else {
        compiler_messages_explain(job->handed_in, text_string(&job->said), job->said.size, result);
        snprintf(result->what, sizeof result->what, "%s", _(limit_sentences[ended->ending]));
    }
    return false;
}

static void end(struct job *job)
{
    process_free(job->process);
    job->process = NULL;
    command_list_free(&job->commands);
    text_free(&job->said);
    if (job->work[0] != '\0') files_remove(job->work);
    job->work[0] = '\0';
}

int compile_all(const struct toolchain *toolchain, const struct compile_request *requests,
                size_t count, struct trouble *trouble)
{
    struct job *jobs = calloc(AT_ONE_TIME, sizeof *jobs);
    struct process *running[AT_ONE_TIME] = {0};
    size_t next = 0;
    int result = -1;

    if (jobs == NULL) return trouble_set(trouble, TROUBLE_MEMORY, "compiling");
    if (files_make_folders(toolchain->cache) != 0) {
        trouble_set_error(trouble, errno, TROUBLE_FOLDER, "%.200s", toolchain->cache);
        goto done;
    }
    for (;;) {
        for (size_t i = 0; i < AT_ONE_TIME; i++) {
            while (running[i] == NULL && next < count && process_interrupted() == 0) {
                memset(&jobs[i], 0, sizeof jobs[i]);
                jobs[i].toolchain = toolchain;
                jobs[i].handed_in = requests[next].handed_in;
                jobs[i].result = requests[next++].result;
                if (begin(&jobs[i]) == 1)
                    running[i] = jobs[i].process;
                else
                    end(&jobs[i]);
            }
        }
        size_t which = process_wait_any(running, AT_ONE_TIME);
        if (which == AT_ONE_TIME) break;
        running[which] = NULL;
        if (go_on(&jobs[which]))
            running[which] = jobs[which].process;
        else
            end(&jobs[which]);
    }
    if (process_interrupted() != 0) {
        trouble_set(trouble, TROUBLE_INTERRUPTED, "%s", "");
        goto done;
    }
    entries_trim(toolchain->cache);
    result = 0;
done:
    free(jobs);
    return result;
}

void compiled_free(struct compiled *compiled)
{
    free(compiled->said);
    if (compiled->locked) close(compiled->lock);
    memset(compiled, 0, sizeof *compiled);
}
