/* The differential test of API programs: makes them, runs them in processes of their own, and
 * compares what they logged with what a GPU gave.
 *
 *     api_programs [--jobs=N] [--only=FAMILY[/NUMBER]] [--dump] [--timeout=SECONDS]
 *                  [--logs=FILE] [--write=GOLDEN] [--golden=GOLDEN] [--full=LOGS]
 *                  [--known=DIFFERENCES]
 *
 * --logs    writes every log as soon as it is complete
 * --write   writes the golden form of them: name, hash of what the program asks, hash of its log,
 *           and four bits of every line's hash, which say where a difference begins
 * --golden  compares with such a file (of two lines about one program the later one counts), --full
 *           with a file of logs; given both, the logs explain.
 *
 * A program that asks something else than it did when the golden file was written has not been run
 * there yet: it is counted and named, and is no difference. When they are many, nothing is tested
 * any more, and that is an error.
 *
 * Where the golden file has a `!` in place of a line's bits, the GPU's own driver ended the process
 * inside the call: what CUDA leaves open to that degree, the device may answer as it likes.
 *
 * --known   names programs that are known to differ, the line from which on, and why: they run, are
 *           counted by cause and printed, and fail when they differ before that line.
 *
 * The library path decides the device. The exit status is 1 when anything differs. */
#include "tests/differential_api/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { JOBS = 64, NAME = 64, NOT_RUN_YET_AT_MOST = 100 };

struct result {
    char name[NAME];
    const struct family *family;
    unsigned number;
    bool wanted, done, differs_as_known;
    char *log; /* lines */
    size_t size, room;
    char *expected; /* log of another device, or NULL */
    uint32_t text;  /* hash of the calls; 0: not known, the process ended before */
    bool cut_off;   /* the process ended inside a call */
    uint32_t golden_text, golden_hash;
    char *golden;      /* bits, or NULL */
    const char *cause; /* reason why it is known to differ, or NULL */
    size_t known;      /* number of the first line that may differ, from 0 */
};

struct worker {
    pid_t pid; /* 0: idle */
    int log;
    size_t at, end; /* the results that it must deliver; at is the present one */
    char line[1024];
    size_t length;
    double heard; /* time of its last write */
};

static struct {
    struct result *results;
    size_t count, next;
    unsigned jobs, timeout;
    const char *only;
    char *known; /* the file's text, to which results point */
    bool dump;
    FILE *logs;
} run = {.jobs = 2, .timeout = 300};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *need(void *memory)
{
    if (memory != NULL) return memory;
    perror("api_programs");
    exit(2);
}

/* ---- the programs ------------------------------------------------------------------------- */

static void list_programs(void)
{
    for (size_t f = 0; f < family_count; f++) run.count += families[f].programs;
    run.results = need(calloc(run.count, sizeof *run.results));
    struct result *result = run.results;
    for (size_t f = 0; f < family_count; f++)
        for (unsigned n = 0; n < families[f].programs; n++, result++) {
            snprintf(result->name, NAME, "%s/%u", families[f].name, n);
            result->family = &families[f];
            result->number = n;
            result->wanted = run.only == NULL || strcmp(run.only, families[f].name) == 0 ||
                             strcmp(run.only, result->name) == 0;
        }
}

static struct result *find_result(const char *name, size_t length)
{
    for (size_t i = 0; i < run.count; i++)
        if (strlen(run.results[i].name) == length && memcmp(run.results[i].name, name, length) == 0)
            return &run.results[i];
    return NULL;
}

static void log_append(struct result *result, const char *line, size_t length)
{
    if (result->size + length + 2 > result->room) {
        result->room = (result->size + length + 2) * 2;
        result->log = need(realloc(result->log, result->room));
    }
    memcpy(result->log + result->size, line, length);
    result->size += length;
    result->log[result->size++] = '\n';
    result->log[result->size] = '\0';
}

/* ---- processes ---------------------------------------------------------------------------- */

/* In the child: runs the programs [at, end), each followed by a separator line. */
static void run_programs(int log, size_t at, size_t end)
{
    if (!run.dump) {
        int nowhere = open("/dev/null", O_WRONLY);
        if (nowhere >= 0) dup2(nowhere, 2);
        if (nowhere >= 0) dup2(nowhere, 1);
    }
    /* With lazy loading the first use of a kernel may wait for running work. */
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    for (; at < end; at++) {
        struct result *result = &run.results[at];
        struct program program = {
            .family = result->family->name, .number = result->number, .log = log};
        program.state = ((uint64_t)digest(result->name, strlen(result->name)) << 32) + 1;
        result->family->run(&program);
        if (dprintf(log, "end %08x\n", program.text) < 0) _exit(3);
    }
    _exit(0);
}

static void start_worker(struct worker *worker, size_t at, size_t end)
{
    int ends[2];
    if (pipe(ends) != 0) need(NULL);
    fflush(NULL);
    *worker = (struct worker){.at = at, .end = end, .log = ends[0], .heard = now()};
    worker->pid = fork();
    if (worker->pid < 0) need(NULL);
    if (worker->pid == 0) {
        close(ends[0]);
        run_programs(ends[1], at, end);
    }
    close(ends[1]);
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
}

/* Takes the next programs for one process; false: there are none left. */
static bool next_batch(size_t *at, size_t *end)
{
    while (run.next < run.count && !run.results[run.next].wanted) run.next++;
    if (run.next == run.count) return false;
    const struct family *family = run.results[run.next].family;
    *at = *end = run.next;
    while (*end < run.count && *end < *at + family->per_process && run.results[*end].wanted &&
           run.results[*end].family == family)
        ++*end;
    run.next = *end;
    return true;
}

static void program_done(struct result *result)
{
    result->done = true;
    if (run.logs == NULL) return;
    if (fprintf(run.logs, "== %s\n%s", result->name, result->log != NULL ? result->log : "") < 0 ||
        fflush(run.logs) != 0)
        need(NULL);
}

static void take_line(struct worker *worker)
{
    if (worker->at >= worker->end) return;
    struct result *result = &run.results[worker->at];
    if (worker->length == 12 && memcmp(worker->line, "end ", 4) == 0) {
        worker->line[12] = '\0';
        result->text = (uint32_t)strtoul(worker->line + 4, NULL, 16);
        program_done(result);
        worker->at++;
        return;
    }
    if (run.dump) printf("%.*s\n", (int)worker->length, worker->line);
    log_append(result, worker->line, worker->length);
}

/* The process has closed its log. Another process continues with the programs that it leaves. */
static void worker_ended(struct worker *worker, const char *why)
{
    char line[80];
    int status = 0;
    close(worker->log);
    while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR) {
    }
    size_t at = worker->at, end = worker->end;
    *worker = (struct worker){0};
    if (at == end) return;
    if (why != NULL)
        snprintf(line, sizeof line, "%s", why);
    else if (WIFSIGNALED(status))
        snprintf(line, sizeof line, "ended by signal %d", WTERMSIG(status));
    else
        snprintf(line, sizeof line, "ended with status %d", WEXITSTATUS(status));
    if (run.dump) printf("%s\n", line);
    log_append(&run.results[at], line, strlen(line));
    run.results[at].cut_off = true;
    program_done(&run.results[at]);
    if (at + 1 < end) start_worker(worker, at + 1, end);
}

static void read_log(struct worker *worker)
{
    char bytes[4096];
    ssize_t got = read(worker->log, bytes, sizeof bytes);
    if (got <= 0) {
        worker_ended(worker, NULL);
        return;
    }
    worker->heard = now();
    for (ssize_t i = 0; i < got; i++) {
        if (bytes[i] == '\n') {
            take_line(worker);
            worker->length = 0;
        } else if (worker->length < sizeof worker->line) {
            worker->line[worker->length++] = bytes[i];
        }
    }
}

static void run_all(void)
{
    struct worker workers[JOBS] = {0};
    for (;;) {
        struct pollfd polled[JOBS];
        struct worker *of[JOBS];
        nfds_t count = 0;
        for (unsigned i = 0; i < run.jobs; i++) {
            size_t at, end;
            if (workers[i].pid == 0 && next_batch(&at, &end)) start_worker(&workers[i], at, end);
            if (workers[i].pid == 0) continue;
            polled[count] = (struct pollfd){.fd = workers[i].log, .events = POLLIN};
            of[count++] = &workers[i];
        }
        if (count == 0) return;
        poll(polled, count, 1000);
        for (nfds_t i = 0; i < count; i++) {
            if (polled[i].revents != 0) {
                read_log(of[i]);
            } else if (now() - of[i]->heard > run.timeout) {
                kill(of[i]->pid, SIGKILL);
                worker_ended(of[i], "did not end in time");
            }
        }
    }
}

/* ---- comparing ---------------------------------------------------------------------------- */

/* Returns four bits of a line's hash, as a digit. */
static char line_digit(const char *line, size_t length)
{
    uint32_t hash = digest(line, length);
    return "0123456789abcdef"[(hash ^ hash >> 8 ^ hash >> 16) & 15];
}

static void write_golden(const char *path)
{
    FILE *file = need(fopen(path, "w"));
    for (size_t i = 0; i < run.count; i++) {
        const struct result *result = &run.results[i];
        if (!result->done) continue;
        size_t size = result->size;
        if (result->cut_off && size > 0) { /* the way it ended is not a result */
            size--;
            while (size > 0 && result->log[size - 1] != '\n') size--;
        }
        fprintf(file, "%s %08x %08x ", result->name, result->text, digest(result->log, size));
        for (const char *line = result->log; line < result->log + size;) {
            size_t length = strcspn(line, "\n");
            fputc(line_digit(line, length), file);
            line += length + 1;
        }
        fputs(result->cut_off ? "!\n" : "\n", file);
    }
    fclose(file);
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        fprintf(stderr, "api_programs: cannot read %s: %s\n", path, strerror(errno));
        exit(2);
    }
    size_t size = 0, room = 1 << 16, got;
    char *text = need(malloc(room));
    while ((got = fread(text + size, 1, room - size - 1, file)) > 0) {
        size += got;
        if (room - size < 2) text = need(realloc(text, room *= 2));
    }
    text[size] = '\0';
    fclose(file);
    return text;
}

static void read_golden(const char *path)
{
    for (char *line = read_file(path); *line != '\0';) {
        size_t length = strcspn(line, "\n"), name = strcspn(line, " ");
        struct result *result = find_result(line, name);
        char *next = line + length + (line[length] == '\n');
        line[length] = '\0';
        if (result != NULL && name < length) {
            char *end;
            result->golden_text = (uint32_t)strtoul(line + name, &end, 16);
            result->golden_hash = (uint32_t)strtoul(end, &end, 16);
            result->golden = end + (*end == ' ');
        }
        line = next;
    }
}

static void read_logs(const char *path)
{
    char *text = read_file(path);
    for (char *at = text; at != NULL && *at != '\0';) {
        char *next = strstr(at, "\n== ");
        if (next != NULL) *++next = '\0';
        size_t name = strcspn(at, "\n");
        struct result *result = name > 3 ? find_result(at + 3, name - 3) : NULL;
        if (result != NULL && at[name] == '\n') result->expected = at + name + 1;
        if (next != NULL) *next = '=';
        if (next != NULL) next[-1] = '\0'; /* ends this log, without its last newline */
        at = next;
    }
}

/* Lines "# cause", each followed by lines "program line". */
static void read_known(const char *path)
{
    const char *cause = NULL;
    run.known = read_file(path);
    for (char *line = run.known; *line != '\0';) {
        size_t length = strcspn(line, "\n"), name = strcspn(line, " ");
        char *next = line + length + (line[length] == '\n');
        line[length] = '\0';
        struct result *result = find_result(line, name);
        if (*line == '#') {
            cause = line + 1 + (line[1] == ' ');
        } else if (*line != '\0') {
            if (result == NULL || cause == NULL || name == length) {
                fprintf(stderr, "api_programs: %s: what is %s?\n", path, line);
                exit(2);
            }
            result->cause = cause;
            result->known = strtoul(line + name, NULL, 10);
        }
        line = next;
    }
}

/* Counts the known differences that still exist, by cause. */
static void tell_known(void)
{
    const char *cause = NULL;
    for (size_t i = 0; i < run.count; i++) {
        cause = run.results[i].differs_as_known ? run.results[i].cause : NULL;
        if (cause == NULL) continue;
        size_t count = 0;
        for (size_t k = i; k < run.count; k++) {
            if (!run.results[k].differs_as_known || run.results[k].cause != cause) continue;
            run.results[k].differs_as_known = false;
            count++;
        }
        printf("known: %4zu %s\n", count, cause);
    }
}

static const char *line_at(const char *log, size_t number)
{
    while (number-- > 0) {
        log = strchr(log, '\n');
        if (log == NULL) return NULL;
        log++;
    }
    return *log != '\0' ? log : NULL;
}

/* Returns the number of the first line that differs. */
static size_t first_difference(const struct result *result)
{
    for (size_t i = 0;; i++) {
        const char *line = line_at(result->log, i);
        size_t length = line != NULL ? strcspn(line, "\n") : 0;
        if (result->expected != NULL) {
            const char *other = line_at(result->expected, i);
            size_t other_length = other != NULL ? strcspn(other, "\n") : 0;
            if (line == NULL || other == NULL || length != other_length ||
                memcmp(line, other, length) != 0)
                return i;
        } else {
            const char *digits = result->golden;
            if (line == NULL || i >= strlen(digits) || line_digit(line, length) != digits[i])
                return i;
        }
    }
}

static void tell(const struct result *result, size_t difference)
{
    printf("%s differs:\n", result->name);
    for (size_t i = 0; i < difference; i++) {
        const char *line = line_at(result->log, i);
        if (line == NULL) break;
        printf("    %.*s\n", (int)strcspn(line, "\n"), line);
    }
    const char *line = line_at(result->log, difference);
    printf(" -> %.*s\n", line != NULL ? (int)strcspn(line, "\n") : 9,
           line != NULL ? line : "(no more)");
    line = result->expected != NULL ? line_at(result->expected, difference) : NULL;
    if (result->expected != NULL)
        printf(" == %.*s\n", line != NULL ? (int)strcspn(line, "\n") : 9,
               line != NULL ? line : "(no more)");
}

/* Returns true when the program's log is as expected. */
static bool same(const struct result *result)
{
    size_t lines = result->golden != NULL ? strlen(result->golden) : 0;
    if (lines > 0 && result->golden[lines - 1] == '!') {
        const char *end = line_at(result->log, lines - 1);
        return end != NULL &&
               digest(result->log, (size_t)(end - result->log)) == result->golden_hash;
    }
    if (result->expected != NULL) {
        size_t size = strlen(result->expected);
        size_t mine = result->size;
        while (size > 0 && result->expected[size - 1] == '\n') size--;
        while (mine > 0 && result->log[mine - 1] == '\n') mine--;
        return size == mine && (size == 0 || memcmp(result->expected, result->log, size) == 0);
    }
    return result->golden_hash == digest(result->log, result->size);
}

/* Returns true when the golden file's results are for other calls. A process that ended early does
 * not tell what it would have called, so its log is compared as it is. */
static bool not_run_yet(const struct result *result)
{
    return result->golden != NULL && result->golden_text != 0 && result->text != 0 &&
           result->golden_text != result->text;
}

static int compare(void)
{
    size_t compared = 0, different = 0, unknown = 0, lines = 0, known = 0, gone = 0;
    size_t stale = 0;
    for (size_t i = 0; i < run.count; i++) {
        struct result *result = &run.results[i];
        if (!result->done) continue;
        for (size_t k = 0; k < result->size; k++) lines += result->log[k] == '\n';
        if (result->expected == NULL && result->golden == NULL) {
            unknown++;
            continue;
        }
        if (not_run_yet(result)) {
            printf("not run on a GPU yet: %s\n", result->name);
            stale++;
            continue;
        }
        compared++;
        if (same(result)) {
            gone += result->cause != NULL;
            continue;
        }
        if (result->cause != NULL && first_difference(result) >= result->known) {
            result->differs_as_known = true;
            known++;
            continue;
        }
        if (++different <= 200) tell(result, first_difference(result));
    }
    tell_known();
    printf("%zu programs compared, %zu lines; %zu differ, %zu have nothing to compare with; %zu "
           "more differ as known, %zu known to differ do not; %zu not run on a GPU yet\n",
           compared, lines, different, unknown, known, gone, stale);
    return different > 0 || unknown > 0 || stale > NOT_RUN_YET_AT_MOST;
}

int main(int argc, char **argv)
{
    const char *golden = NULL, *full = NULL, *known = NULL, *write_to = NULL;
    for (int i = 1; i < argc; i++) {
        const char *value = strchr(argv[i], '=') != NULL ? strchr(argv[i], '=') + 1 : "";
        if (strncmp(argv[i], "--jobs=", 7) == 0)
            run.jobs = (unsigned)atoi(value);
        else if (strncmp(argv[i], "--timeout=", 10) == 0)
            run.timeout = (unsigned)atoi(value);
        else if (strncmp(argv[i], "--only=", 7) == 0)
            run.only = value;
        else if (strcmp(argv[i], "--dump") == 0)
            run.dump = true;
        else if (strncmp(argv[i], "--logs=", 7) == 0)
            run.logs = need(fopen(value, "w"));
        else if (strncmp(argv[i], "--write=", 8) == 0)
            write_to = value;
        else if (strncmp(argv[i], "--golden=", 9) == 0)
            golden = value;
        else if (strncmp(argv[i], "--known=", 8) == 0)
            known = value;
        else if (strncmp(argv[i], "--full=", 7) == 0)
            full = value;
        else {
            fprintf(stderr, "api_programs: what is %s? See the head of main.c.\n", argv[i]);
            return 2;
        }
    }
    if (run.jobs < 1 || run.jobs > JOBS) run.jobs = 2;
    list_programs();
    if (golden != NULL) read_golden(golden);
    if (full != NULL) read_logs(full);
    if (known != NULL) read_known(known);
    run_all();
    if (write_to != NULL) write_golden(write_to);
    const int status = golden != NULL || full != NULL ? compare() : 0;
    free(run.known);
    return status;
}
