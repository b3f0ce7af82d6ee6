/* differential: see differential.h.
 *
 *   differential [--match GLOB] [--shard I/N] [--module COUNT] [--limit SECONDS] [--deadline
 * SECONDS]
 *                [--golden FILE] [--known FILE] [--results FILE] [--values FILE]
 *                [--compare FILE]... [--prefixes]
 *   differential --list | --count | --excluded
 *   differential --ptx CASE | --dump CASE | --modules FOLDER
 *
 * Runs the cases (all, those whose names match, or every N-th group from the I-th) on the device
 * that libcuda.so.1 is, in a child process: one that crashes or does not come back for SECONDS is
 * ended, its case is reported, and the next ones run in another. What is not done by the deadline
 * is reported as not run.
 *
 *   --golden   compare with these hashes; what is not in the file is counted and does not fail
 *   --known    differences that are known, one `case reason` per line: printed and counted, and do
 *              not fail; a listed case that does not differ does
 *   --results  write what this device gave, in the form of a golden file, and what failed
 *   --values   write the outputs themselves
 *   --compare  compare with such outputs, element by element
 *   --prefixes instead of the cases, the beginnings of those that are random programs
 *   --level    how much the device's compiler optimises, 0 to 4 (0 for random programs, else 4)
 *   --dump     run one case and print each element of its output
 *   --modules  write the PTX as files, for ptxas
 *
 * Exit status 0, 1 with what differs on stdout, 2 when it cannot run.
 */
#include "tests/differential/golden.h"
#include "tests/differential/run.h"

#include <fnmatch.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SHOWN = 5, ELEMENTS_SHOWN = 6, MODULE = 24 };

struct settings {
    const char *match, *golden, *known, *results, *values, *folder;
    const char *compare[16];
    unsigned compares, shard, shards, module, limit, deadline;
    int level;
};

/* Shared between parent and child. */
struct progress {
    volatile size_t begun; /* cases that were begun */
    struct diff_result results[];
};

struct job {
    const struct settings *settings;
    const struct diff_case **cases;
    size_t count;
    struct progress *progress;
    FILE *values;
    struct diff_outputs outputs; /* to compare with */
    size_t next;
    time_t deadline; /* of the monotonic clock */
};

/* ---- what a person sees ------------------------------------------------------------------------
 */

static void print_case(const struct diff_case *one)
{
    struct diff_text text = {.bytes = NULL};
    diff_module(&one, 1, &text);
    printf("%s: %u blocks of %u threads\n%s", one->name, one->blocks, one->threads, text.bytes);
    diff_text_free(&text);
}

static unsigned element_size(const struct diff_case *one)
{
    return one->stride ? one->stride : 4;
}

static void print_element(const struct diff_case *one, const unsigned char *in,
                          const unsigned char *out, unsigned index)
{
    struct diff_text text = {.bytes = NULL};
    if (one->tell) {
        one->tell(one, in, out, index, &text);
    } else {
        diff_add(&text, "output +%u:", index * element_size(one));
        for (unsigned k = 0; k < element_size(one); k++)
            diff_add(&text, " %02x", out[index * element_size(one) + k]);
    }
    printf("    %u: %s\n", index, text.bytes);
    diff_text_free(&text);
}

static void print_differences(const struct diff_case *one, const unsigned char *in,
                              const unsigned char *ours, const unsigned char *theirs)
{
    const unsigned size = element_size(one), count = one->out_bytes / size;
    unsigned differences = 0;
    for (unsigned n = 0; n < count; n++) {
        if (!memcmp(ours + n * size, theirs + n * size, size)) continue;
        if (differences++ >= ELEMENTS_SHOWN) continue;
        print_element(one, in, ours, n);
        printf("    there:");
        for (unsigned k = size; k--;) printf("%s%02x", k % 8 == 7 ? " " : "", theirs[n * size + k]);
        printf(" (last byte first)\n");
    }
    printf("    %u of %u elements differ\n", differences, count);
}

/* ---- the child ---------------------------------------------------------------------------------
 */

static void done(void *context, const struct diff_case *one, const struct diff_result *result,
                 const unsigned char *in, const unsigned char *out)
{
    struct job *job = context;
    size_t at = job->next;
    while (job->cases[at] != one) at++;
    job->next = at + 1;
    job->progress->results[at] = *result;
    job->progress->begun = at + 1;
    if (job->values && out) diff_outputs_write(job->values, one, out);
    const unsigned char *theirs = out ? diff_outputs_find(&job->outputs, one) : NULL;
    if (!theirs) return;
    char why[4] = "";
    const bool same = one->form && one->form->approximate
                          ? diff_digest(one, in, theirs, why, sizeof why) == result->hash
                          : !memcmp(theirs, out, one->out_bytes);
    if (same) return;
    printf("%s differs\n", one->name);
    print_differences(one, in, out, theirs);
    fflush(stdout);
}

/* In the child: runs the cases, the first `alone` ones in modules of their own. */
static void child(struct job *job, size_t from, size_t alone)
{
    const struct settings *settings = job->settings;
    struct diff_device *device = diff_device_open(job->settings->level);
    if (settings->values) job->values = fopen(settings->values, "ab");
    for (unsigned k = 0; k < settings->compares; k++)
        diff_outputs_read(&job->outputs, settings->compare[k]);
    job->next = from;
    for (size_t at = from, step; at < job->count; at += step) {
        const size_t left = job->count - at;
        step = at < from + alone ? 1 : left < settings->module ? left : settings->module;
        diff_device_run(device, &job->cases[at], step, done, job);
    }
    if (job->values) fclose(job->values);
    diff_device_close(device);
    fflush(NULL);
    _exit(0);
}

/* ---- the parent --------------------------------------------------------------------------------
 */

static time_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

/* Waits for the child; kills it when no case completes within the limit, or at the deadline.
 * Returns whether it ended well. */
static bool wait_for(pid_t child, const struct job *job)
{
    size_t begun = job->progress->begun;
    for (time_t since = now();;) {
        int status;
        const pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child) return WIFEXITED(status) && !WEXITSTATUS(status);
        if (job->progress->begun != begun) {
            begun = job->progress->begun;
            since = now();
        }
        if (now() - since > (time_t)job->settings->limit || now() > job->deadline)
            kill(child, SIGKILL);
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
}

/* A child that dies may have died while it loaded a module of many cases. The next one runs them
 * alone, and if it dies too, the case is to blame. */
static void run_all(struct job *job)
{
    for (size_t alone = 0; job->progress->begun < job->count && now() <= job->deadline;) {
        fflush(NULL);
        const size_t from = job->progress->begun;
        const pid_t pid = fork();
        if (pid < 0) exit(2);
        if (!pid) child(job, from, alone);
        if (wait_for(pid, job)) continue;
        const size_t at = job->progress->begun;
        if (at >= job->count || now() > job->deadline) break;
        if (at < from + alone) {
            struct diff_result *result = &job->progress->results[at];
            result->state = DIFF_HUNG;
            snprintf(result->message, sizeof result->message,
                     "the process crashed, or did not come back in %u s", job->settings->limit);
            job->progress->begun = at + 1;
            alone -= at + 1 - from;
        } else {
            alone = job->settings->module;
        }
    }
}

/* Returns a copy of the reason why this case is known to differ, or NULL. */
static char *known_reason(FILE *known, const char *name)
{
    char line[512];
    const size_t length = strlen(name);
    if (!known) return NULL;
    rewind(known);
    while (fgets(line, sizeof line, known))
        if (!strncmp(line, name, length) && line[length] == ' ') {
            line[strcspn(line, "\n")] = 0;
            return strdup(line + length + 1);
        }
    return NULL;
}

static int report(const struct job *job)
{
    struct diff_golden golden = {.lines = NULL};
    const struct settings *settings = job->settings;
    if (settings->golden && !diff_golden_read(&golden, settings->golden)) return 2;
    size_t ran = 0, wrong = 0, unknown = 0, refused = 0, listed = 0;
    FILE *list = settings->known ? fopen(settings->known, "r") : NULL;
    if (settings->known && !list) return 2;
    FILE *file = settings->results ? fopen(settings->results, "w") : NULL;
    for (size_t k = 0; k < job->count; k++) {
        const struct diff_case *one = job->cases[k];
        const struct diff_result *result = &job->progress->results[k];
        if (file) diff_golden_write(file, one, result);
        if (result->state != DIFF_RAN) {
            refused++;
            printf("%s: not run: %s\n", one->name,
                   result->state == DIFF_UNTRIED ? "no time left" : result->message);
            continue;
        }
        ran++;
        if (*result->message) printf("%s: inexact: %s\n", one->name, result->message);
        uint64_t expected = 0;
        const bool known = diff_golden_find(&golden, one, &expected);
        unknown += settings->golden && !known;
        const bool same = !known || expected == result->hash;
        char *reason = known_reason(list, one->name);
        if (reason) {
            const bool stale = same && !*result->message;
            listed++;
            printf("%s: %s: %s\n", one->name,
                   stale ? "listed as a known difference, but it is the same" : "known difference",
                   reason);
            free(reason);
            wrong += stale;
            continue;
        }
        if (same && !*result->message) continue;
        if (!same) printf("%s: not what a GPU gave\n", one->name);
        if (wrong++ < SHOWN) print_case(one);
    }
    if (file) fclose(file);
    if (list) fclose(list);
    diff_golden_free(&golden);
    printf("%zu kernels run, %zu wrong, %zu not run, %zu known to differ", ran, wrong, refused,
           listed);
    if (settings->golden) printf(", %zu that no GPU has run yet", unknown);
    printf("\n");
    return wrong || refused ? 1 : 0;
}

/* ---- one case ----------------------------------------------------------------------------------
 */

static void dumped(void *context, const struct diff_case *one, const struct diff_result *result,
                   const unsigned char *in, const unsigned char *out)
{
    (void)context;
    if (!out) {
        printf("not run: %s\n", result->message);
        return;
    }
    for (unsigned n = 0; n < one->out_bytes / element_size(one); n++)
        print_element(one, in, out, n);
    printf("hash %016llx %s\n", (unsigned long long)result->hash, result->message);
}

static int one_case(const struct diff_cases *all, const char *name, bool run)
{
    for (size_t k = 0; k < all->count; k++) {
        const struct diff_case *one = &all->cases[k];
        if (strcmp(one->name, name) != 0) continue;
        print_case(one);
        if (!run) return 0;
        struct diff_device *device = diff_device_open(-1);
        diff_device_run(device, &one, 1, dumped, NULL);
        diff_device_close(device);
        return 0;
    }
    fprintf(stderr, "differential: no case %s\n", name);
    return 2;
}

static int write_modules(const struct job *job)
{
    for (size_t at = 0; at < job->count; at += job->settings->module) {
        const size_t left = job->count - at;
        struct diff_text text = {.bytes = NULL};
        diff_module(&job->cases[at], left < job->settings->module ? left : job->settings->module,
                    &text);
        char path[512];
        snprintf(path, sizeof path, "%s/module%04zu.ptx", job->settings->folder,
                 at / job->settings->module);
        FILE *file = fopen(path, "w");
        if (!file) return 2;
        fputs(text.bytes, file);
        fclose(file);
        diff_text_free(&text);
    }
    return 0;
}

static int print_excluded(void)
{
    static const char *const list[][2] = {
#define EXCLUDED(pattern, reason) {pattern, reason},
#include "tests/differential/excluded.def"
#undef EXCLUDED
        {NULL, NULL}};
    for (size_t k = 0; list[k][0]; k++) printf("%-32s %s\n", list[k][0], list[k][1]);
    return 0;
}

static struct diff_cases beginnings(struct diff_cases *all, struct settings *settings)
{
    struct diff_cases parts = {.cases = NULL};
    for (size_t k = 0; k < all->count; k++)
        if (!fnmatch(settings->match, all->cases[k].name, FNM_EXTMATCH))
            diff_prefix_cases(&parts, &all->cases[k]);
    free(all->cases);
    settings->match = "*";
    return parts;
}

int main(int count, char **arguments)
{
    enum { LIST = 256, COUNT, EXCLUDED_FORMS, PTX, DUMP, PREFIXES };
    static const struct option options[] = {{"match", required_argument, NULL, 'm'},
                                            {"shard", required_argument, NULL, 's'},
                                            {"module", required_argument, NULL, 'k'},
                                            {"limit", required_argument, NULL, 'l'},
                                            {"deadline", required_argument, NULL, 'd'},
                                            {"level", required_argument, NULL, 'o'},
                                            {"golden", required_argument, NULL, 'g'},
                                            {"known", required_argument, NULL, 'n'},
                                            {"results", required_argument, NULL, 'r'},
                                            {"values", required_argument, NULL, 'v'},
                                            {"compare", required_argument, NULL, 'c'},
                                            {"modules", required_argument, NULL, 'f'},
                                            {"list", no_argument, NULL, LIST},
                                            {"count", no_argument, NULL, COUNT},
                                            {"prefixes", no_argument, NULL, PREFIXES},
                                            {"excluded", no_argument, NULL, EXCLUDED_FORMS},
                                            {"ptx", required_argument, NULL, PTX},
                                            {"dump", required_argument, NULL, DUMP},
                                            {NULL, 0, NULL, 0}};
    struct settings settings = {
        .match = "*", .shards = 1, .module = MODULE, .limit = 300, .deadline = 3600, .level = -1};
    struct diff_cases all = {.cases = NULL};
    int action = 0;
    const char *name = NULL;
    bool prefixes = false;
    for (int option; (option = getopt_long(count, arguments, "", options, NULL)) != -1;) {
        switch (option) {
        case 'm':
            settings.match = optarg;
            break;
        case 's':
            if (sscanf(optarg, "%u/%u", &settings.shard, &settings.shards) != 2) return 2;
            break;
        case 'k':
            settings.module = (unsigned)atoi(optarg);
            break;
        case 'l':
            settings.limit = (unsigned)atoi(optarg);
            break;
        case 'd':
            settings.deadline = (unsigned)atoi(optarg);
            break;
        case 'o':
            settings.level = atoi(optarg);
            break;
        case 'g':
            settings.golden = optarg;
            break;
        case 'n':
            settings.known = optarg;
            break;
        case 'r':
            settings.results = optarg;
            break;
        case 'v':
            settings.values = optarg;
            break;
        case 'c':
            if (settings.compares < 16) settings.compare[settings.compares++] = optarg;
            break;
        case 'f':
            settings.folder = optarg;
            break;
        case PREFIXES:
            prefixes = true;
            break;
        case '?':
            return 2;
        default:
            action = option;
            name = optarg;
            break;
        }
    }
    if (optind < count || !settings.module || !settings.shards) return 2;
    diff_all_cases(&all);
    if (prefixes) all = beginnings(&all, &settings);
    if (action == PTX || action == DUMP) return one_case(&all, name, action == DUMP);
    if (action == EXCLUDED_FORMS) return print_excluded();

    struct job job = {.settings = &settings};
    job.cases = diff_allocate(all.count, sizeof *job.cases);
    size_t matching = 0;
    for (size_t k = 0; k < all.count; k++)
        if (!fnmatch(settings.match, all.cases[k].name, FNM_EXTMATCH) &&
            matching++ / settings.module % settings.shards == settings.shard)
            job.cases[job.count++] = &all.cases[k];
    int status = 0;
    if (action == COUNT) {
        printf("%zu\n", job.count);
    } else if (action == LIST) {
        for (size_t k = 0; k < job.count; k++) puts(job.cases[k]->name);
    } else if (settings.folder) {
        status = write_modules(&job);
    } else {
        const size_t size = sizeof *job.progress + job.count * sizeof job.progress->results[0];
        job.progress = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (job.progress == MAP_FAILED) return 2;
        job.deadline = now() + (time_t)settings.deadline;
        run_all(&job);
        status = report(&job);
        munmap(job.progress, size);
    }
    free(job.cases);
    free(all.cases);
    return status;
}
