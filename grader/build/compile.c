#include "grader/build/compile.h"
#include "grader/base/files.h"
#include "grader/base/process.h"
#include "grader/build/command.h"
#include "grader/build/compiler_messages.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_LIMIT ((size_t)1 << 20) /* bytes of one source file */
#define FILES_LIMIT 64               /* files of one submission */
#define MESSAGES_LIMIT ((size_t)1 << 18)
#define AT_ONE_TIME 2   /* compilations */
#define CACHE_LIMIT 400 /* entries kept */

static const struct process_limits compiler_limits = {
    .seconds = 120,
    .memory = (uint64_t)4 << 30,
    .processes = 64,
    .output = MESSAGES_LIMIT,
    .file_bytes = (uint64_t)256 << 20,
};

/* One compilation under way. */
struct job {
    const struct toolchain *toolchain;
    const struct handed_in *handed_in;
    struct compiled *result;
    char key[SHA256_TEXT_SIZE];
    char work[PATH_MAX - 300]; /* the folder it happens in */
    struct command_list commands;
    size_t next; /* the command to run next */
    struct process *process;
    struct text said; /* what the compilers printed so far */
};

/* ---- what the student handed in ---------------------------------------------------------------
 */

static bool is_listed(const struct lesson *lesson, const char *name)
{
    for (const char *const *file = lesson->files; *file != NULL; file++)
        if (strcmp(*file, name) == 0) return true;
    return false;
}

/* The lesson's files, and headers or further sources that they include; not a file that the lesson
 * itself provides. */
static bool is_taken(const struct toolchain *toolchain, const struct lesson *lesson,
                     const char *name)
{
    char ours[PATH_MAX];
    struct stat status;

    if (is_listed(lesson, name)) return true;
    if (!command_is_header(name) && strcmp(command_extension(name), "c") != 0 &&
        strcmp(command_extension(name), "cu") != 0)
        return false;
    snprintf(ours, sizeof ours, "%s/lessons/%s/%s", toolchain->source, lesson->folder, name);
    return stat(ours, &status) != 0;
}

/* Hashes each file that is taken, and copies it when `to` is not NULL. Returns 0, or -1 with the
 * result's sentence. */
static int take_files(struct job *job, struct sha256 *hash, const char *to)
{
    const struct lesson *lesson = job->handed_in->lesson;
    struct compiled *result = job->result;
    struct dirent **entries = NULL;
    int count = scandir(job->handed_in->folder, &entries, NULL, alphasort), taken = 0;
    int status = 0;
    char path[PATH_MAX + 300];

    for (const char *const *file = lesson->files; *file != NULL && status == 0; file++) {
        snprintf(path, sizeof path, "%s/%s", job->handed_in->folder, *file);
        if (access(path, R_OK) == 0) continue;
        snprintf(result->what, sizeof result->what, "%.200s is missing: nothing was handed in.",
                 *file);
        snprintf(result->place.file, sizeof result->place.file, "%.150s/%.100s",
                 job->handed_in->shown, *file);
        status = -1;
    }
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        struct text content = {0};
        snprintf(path, sizeof path, "%s/%s", job->handed_in->folder, name);
        if (status == 0 && is_taken(job->toolchain, lesson, name)) {
            if (++taken > FILES_LIMIT || files_read(path, FILE_LIMIT, &content) != 0) {
                snprintf(result->what, sizeof result->what, "%.100s cannot be read: %s.", name,
                         taken > FILES_LIMIT ? "there are too many files" : strerror(errno));
                status = -1;
            } else if (to != NULL) {
                snprintf(path, sizeof path, "%s/%s", to, name);
                if (files_write(path, text_string(&content), content.size) != 0) {
                    snprintf(result->what, sizeof result->what, "%.100s cannot be copied: %s.",
                             name, strerror(errno));
                    status = -1;
                }
            }
            if (hash != NULL && status == 0) {
                sha256_add_string(hash, name);
                sha256_add(hash, &content.size, sizeof content.size);
                sha256_add(hash, text_string(&content), content.size);
            }
        }
        text_free(&content);
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* ---- the cache ---------------------------------------------------------------------------------
 *
 * cache/<hash>/lesson.so, or cache/<hash>/failed with what the compiler said. An entry appears by
 * rename, whole or not at all. */

static void entry_path(const struct job *job, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s%s%s", job->toolchain->cache, job->key, name[0] ? "/" : "", name);
}

static void conclude_failed(struct job *job, const char *said, size_t size)
{
    compiler_messages_explain(job->handed_in, said, size, job->result);
}

/* Takes the result from the cache if it is there. */
static bool look_in_cache(struct job *job)
{
    char path[PATH_MAX];
    struct text said = {0};
    bool found = true;

    entry_path(job, "lesson.so", path, sizeof path);
    if (access(path, R_OK) == 0) {
        job->result->ok = true;
        snprintf(job->result->library, sizeof job->result->library, "%s", path);
    } else {
        entry_path(job, "failed", path, sizeof path);
        found = files_read(path, MESSAGES_LIMIT, &said) == 0;
        if (found) conclude_failed(job, text_string(&said), said.size);
    }
    text_free(&said);
    if (!found) return false;
    job->result->from_cache = true;
    entry_path(job, "", path, sizeof path);
    utimensat(AT_FDCWD, path, NULL, 0); /* used just now: the last to be thrown away */
    return true;
}

/* The work folder becomes the cache's entry. */
static void keep_in_cache(struct job *job)
{
    char from[PATH_MAX], path[PATH_MAX];

    snprintf(from, sizeof from, "%s/src", job->work);
    files_remove(from);
    for (size_t i = 0; i < COMMAND_MOST; i++) {
        snprintf(from, sizeof from, "%s/%zu.o", job->work, i);
        unlink(from);
    }
    entry_path(job, "", path, sizeof path);
    if (rename(job->work, path) == 0) job->work[0] = '\0';
}

struct cache_entry {
    time_t used;
    char name[SHA256_TEXT_SIZE + 16];
};

static int compare_used(const void *a, const void *b)
{
    const struct cache_entry *x = a, *y = b;
    return (x->used > y->used) - (x->used < y->used);
}

/* Throws the entries away that were not used for longest. */
static void trim_cache(const struct toolchain *toolchain)
{
    struct cache_entry *entries = NULL;
    size_t count = 0;
    struct dirent *item;
    char path[PATH_MAX];
    struct stat status;

    DIR *folder = opendir(toolchain->cache);
    while (folder != NULL && (item = readdir(folder)) != NULL) {
        if (item->d_name[0] == '.' || strlen(item->d_name) >= sizeof entries->name) continue;
        struct cache_entry *grown = realloc(entries, (count + 1) * sizeof *entries);
        if (grown == NULL) break;
        entries = grown;
        snprintf(path, sizeof path, "%s/%s", toolchain->cache, item->d_name);
        if (stat(path, &status) != 0) continue;
        entries[count].used = status.st_mtime;
        snprintf(entries[count++].name, sizeof entries->name, "%s", item->d_name);
    }
    if (folder != NULL) closedir(folder);
    if (count > CACHE_LIMIT) {
        qsort(entries, count, sizeof *entries, compare_used);
        for (size_t i = 0; i + CACHE_LIMIT < count; i++) {
            snprintf(path, sizeof path, "%s/%s", toolchain->cache, entries[i].name);
            files_remove(path);
        }
    }
    free(entries);
}

/* ---- one job ----------------------------------------------------------------------------------
 */

/* Starts the next command. Returns 0, or -1 with the result's sentence. */
static int start_next(struct job *job)
{
    char folder[PATH_MAX], temporary[PATH_MAX], home[PATH_MAX];
    const char *search = getenv("PATH");
    char path[PATH_MAX];

    snprintf(folder, sizeof folder, "%s/src", job->work);
    snprintf(temporary, sizeof temporary, "TMPDIR=%s", job->work);
    snprintf(home, sizeof home, "HOME=%s", job->work);
    snprintf(path, sizeof path, "PATH=%s", search != NULL ? search : "/usr/bin:/bin");
    const char *environment[] = {path, temporary, home, "LC_ALL=C", NULL};
    struct process_spec spec = {
        .arguments = (const char *const *)job->commands.commands[job->next++].arguments,
        .environment = environment,
        .folder = folder,
        .limits = compiler_limits,
    };
    job->process = process_start(&spec);
    if (job->process != NULL) return 0;
    snprintf(job->result->what, sizeof job->result->what, "The compiler cannot be started: %s.",
             strerror(errno));
    return -1;
}

/* Hashes, and if need be prepares the folder and starts. Returns 1: started, 0: done already. */
static int begin(struct job *job)
{
    struct sha256 hash;
    char missing[200], path[PATH_MAX];

    memset(job->result, 0, sizeof *job->result);
    sha256_begin(&hash);
    if (take_files(job, &hash, NULL) != 0) return 0;
    if (command_add_to_hash(&hash, job->toolchain, job->handed_in->lesson, missing,
                            sizeof missing) != 0) {
        snprintf(job->result->what, sizeof job->result->what,
                 "%s is missing: the project is not built.", missing);
        return 0;
    }
    sha256_end(&hash, job->key);
    if (look_in_cache(job)) return 0;

    snprintf(job->work, sizeof job->work, "%s/making.XXXXXX", job->toolchain->cache);
    if (mkdtemp(job->work) == NULL) {
        snprintf(job->result->what, sizeof job->result->what,
                 "There is no room to compile in %.150s: %s.", job->toolchain->cache,
                 strerror(errno));
        job->work[0] = '\0';
        return 0;
    }
    snprintf(path, sizeof path, "%s/src", job->work);
    if (files_make_folders(path) != 0 || take_files(job, NULL, path) != 0) return 0;
    command_list_make(&job->commands, job->toolchain, job->handed_in->lesson, job->work);
    if (job->commands.failed) {
        snprintf(job->result->what, sizeof job->result->what, "The command line is too long.");
        return 0;
    }
    return start_next(job) == 0 ? 1 : 0;
}

static const char *const limit_sentences[] = {
    [PROCESS_TIME] = "The compiler was still at work after two minutes and was stopped.",
    [PROCESS_MEMORY] = "The compiler used more than 4 GiB of memory and was stopped.",
    [PROCESS_PROCESSES] = "The compiler started too many processes and was stopped.",
    [PROCESS_OUTPUT] = "The compiler printed far too many messages and was stopped.",
    [PROCESS_ABANDONED] = "The compilation was interrupted.",
};

/* A command ended. Returns true when another one was started. */
static bool go_on(struct job *job)
{
    const struct process_result *ended = process_result(job->process);
    char path[PATH_MAX];
    bool started = false;

    text_add_bytes(&job->said, process_printed(job->process), ended->printed_size);
    if (ended->ending == PROCESS_EXITED && ended->code == 0) {
        if (job->next < job->commands.count) {
            process_free(job->process);
            job->process = NULL;
            return start_next(job) == 0;
        }
        job->result->ok = true;
        keep_in_cache(job);
        entry_path(job, "lesson.so", job->result->library, sizeof job->result->library);
    } else if (ended->ending == PROCESS_EXITED) {
        snprintf(path, sizeof path, "%s/failed", job->work);
        conclude_failed(job, text_string(&job->said), job->said.size);
        if (files_write(path, text_string(&job->said), job->said.size) == 0) {
            snprintf(path, sizeof path, "%s/lesson.so", job->work);
            unlink(path);
            keep_in_cache(job);
        }
    } else if (ended->ending == PROCESS_SIGNALLED) {
        snprintf(job->result->what, sizeof job->result->what,
                 "The compiler was stopped by signal %d.", ended->signal);
    } else if (ended->ending == PROCESS_NOT_STARTED) {
        snprintf(job->result->what, sizeof job->result->what, "The compiler cannot be started: %s.",
                 ended->why);
    } else {
        conclude_failed(job, text_string(&job->said), job->said.size);
        snprintf(job->result->what, sizeof job->result->what, "%s", limit_sentences[ended->ending]);
    }
    return started;
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
                size_t count, struct text *why)
{
    struct job *jobs = calloc(AT_ONE_TIME, sizeof *jobs);
    struct process *running[AT_ONE_TIME] = {0};
    size_t next = 0;
    int result = -1;

    if (jobs == NULL) {
        text_add(why, "no memory");
        return -1;
    }
    if (files_make_folders(toolchain->cache) != 0) {
        text_format(why, "the folder %s cannot be made: %s", toolchain->cache, strerror(errno));
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
        text_add(why, "interrupted");
        goto done;
    }
    trim_cache(toolchain);
    result = 0;
done:
    free(jobs);
    return result;
}

void compiled_free(struct compiled *compiled)
{
    free(compiled->said);
    memset(compiled, 0, sizeof *compiled);
}
