#include "grader/session/ahead.h"
#include "grader/base/parallel.h"
#include "grader/base/process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_AT_ONE_TIME 16
#define LOOK_AGAIN_MS 20

struct lesson_ahead {
    pid_t process; /* 0: no process runs */
    size_t share;  /* index of its share of the processors */
    int file;      /* the results file; -1: not begun, or already taken */
    bool wanted;   /* to be graded ahead */
    bool ended;    /* its process has ended with complete results */
};

struct ahead {
    struct results *results;
    size_t most;
    ahead_grade grade;
    void *user;
    struct lesson_ahead *lessons;  /* by the suite's index */
    bool shares[MOST_AT_ONE_TIME]; /* the shares in use */
};

/* ---- results file: binary, written and read by this same program, inaccessible to others --------
 */

struct found {
    int result;
    struct trouble trouble;
    size_t why;
    double milliseconds;
    struct timespec started;
};

struct found_test {
    enum test_outcome outcome;
    bool cannot_be_judged, has_verdict;
    double milliseconds;
    struct timespec started;
    size_t printed, picture;
};

static bool put(FILE *file, const void *bytes, size_t size)
{
    return size == 0 || fwrite(bytes, 1, size, file) == size;
}

static bool put_test(FILE *file, const struct test *test)
{
    const struct found_test found = {.outcome = test->outcome,
                                     .cannot_be_judged = test->cannot_be_judged,
                                     .has_verdict = test->verdict != NULL,
                                     .milliseconds = test->milliseconds,
                                     .started = test->started,
                                     .printed = test->printed.size,
                                     .picture = test->picture.size};
    return put(file, &found, sizeof found) &&
           put(file, test->verdict, found.has_verdict ? sizeof *test->verdict : 0) &&
           put(file, test->printed.data, found.printed) &&
           put(file, test->picture.data, found.picture);
}

/* Writes the suite's results and *end. Returns 0 or -1. */
static int hand_back(int descriptor, const struct suite *suite, const struct ahead_end *end)
{
    const struct found found = {.result = end->result,
                                .trouble = end->trouble,
                                .why = end->why.size,
                                .milliseconds = suite->milliseconds,
                                .started = suite->started};
    FILE *file = fdopen(descriptor, "w");
    if (file == NULL) return -1;
    bool all = put(file, &found, sizeof found) && put(file, end->why.data, found.why);
    for (size_t i = 0; i < suite->count && all; i++) all = put_test(file, &suite->tests[i]);
    return fclose(file) == 0 && all ? 0 : -1;
}

static bool get(FILE *file, void *bytes, size_t size)
{
    return size == 0 || fread(bytes, 1, size, file) == size;
}

static bool get_text(FILE *file, struct text *text, size_t size)
{
    char *bytes = malloc(size + 1);
    const bool all = bytes != NULL && get(file, bytes, size);
    if (all) text_add_bytes(text, bytes, size);
    free(bytes);
    return all && !text->failed;
}

static bool get_test(FILE *file, struct test *test)
{
    struct found_test found;
    if (!get(file, &found, sizeof found)) return false;
    test->outcome = found.outcome;
    test->cannot_be_judged = found.cannot_be_judged;
    test->milliseconds = found.milliseconds;
    test->started = found.started;
    if (found.has_verdict) {
        test->verdict = malloc(sizeof *test->verdict);
        if (test->verdict == NULL || !get(file, test->verdict, sizeof *test->verdict)) return false;
    }
    return get_text(file, &test->printed, found.printed) &&
           get_text(file, &test->picture, found.picture);
}

/* Reads results that hand_back wrote; closes the descriptor. */
static bool take_back(int descriptor, struct suite *suite, struct ahead_end *end)
{
    struct found found;
    FILE *file = fdopen(descriptor, "r");
    if (file == NULL) {
        close(descriptor);
        return false;
    }
    rewind(file);
    bool all = get(file, &found, sizeof found) && get_text(file, &end->why, found.why);
    for (size_t i = 0; i < suite->count && all; i++) all = get_test(file, &suite->tests[i]);
    fclose(file);
    if (!all) {
        for (size_t i = 0; i < suite->count; i++) test_forget(&suite->tests[i]);
        text_free(&end->why);
        return false;
    }
    end->result = found.result;
    end->trouble = found.trouble;
    suite->milliseconds = found.milliseconds;
    suite->started = found.started;
    return true;
}

/* ---- processes ---------------------------------------------------------------------------------
 */

static void become(const struct ahead *ahead, size_t suite, pid_t parent)
{
    const struct lesson_ahead *lesson = &ahead->lessons[suite];
    struct ahead_end end = {0};

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(1);
    parallel_take_share(lesson->share, ahead->most);
    ahead->grade(ahead->user, suite, &end);
    /* _exit, because exit would flush the session's buffered streams, which the session itself
     * writes. */
    _exit(hand_back(lesson->file, &ahead->results->suites[suite], &end) == 0 ? 0 : 1);
}

static bool begin(struct ahead *ahead, size_t suite)
{
    struct lesson_ahead *lesson = &ahead->lessons[suite];
    const pid_t self = getpid();

    for (lesson->share = 0; lesson->share < ahead->most && ahead->shares[lesson->share];)
        lesson->share++;
    if (lesson->share == ahead->most) return false;
    lesson->wanted = false;
    lesson->file = memfd_create("lesson", MFD_CLOEXEC);
    if (lesson->file < 0) return false;
    fflush(NULL);
    lesson->process = fork();
    if (lesson->process == 0) become(ahead, suite, self);
    if (lesson->process > 0) return ahead->shares[lesson->share] = true;
    lesson->process = 0;
    close(lesson->file);
    lesson->file = -1;
    return false;
}

/* Begins as many lessons as there is room for. */
static void begin_next(struct ahead *ahead)
{
    const struct results *results = ahead->results;
    for (size_t i = 0; i < results->count; i++)
        if (ahead->lessons[results->order[i]].wanted && !begin(ahead, results->order[i])) return;
}

/* Reaps ended processes and frees their shares. */
static void reap(struct ahead *ahead)
{
    int status = 0;
    for (size_t i = 0; i < ahead->results->count; i++) {
        struct lesson_ahead *lesson = &ahead->lessons[i];
        if (lesson->process == 0 || waitpid(lesson->process, &status, WNOHANG) == 0) continue;
        lesson->process = 0;
        lesson->ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        ahead->shares[lesson->share] = false;
    }
}

struct ahead *ahead_begin(struct results *results, size_t most, ahead_grade grade, void *user)
{
    struct ahead *ahead = calloc(1, sizeof *ahead);
    if (ahead == NULL) return NULL;
    *ahead = (struct ahead){.results = results,
                            .most = most < MOST_AT_ONE_TIME ? most : MOST_AT_ONE_TIME,
                            .grade = grade,
                            .user = user,
                            .lessons = calloc(results->count + 1, sizeof *ahead->lessons)};
    if (ahead->lessons == NULL) {
        free(ahead);
        return NULL;
    }
    for (size_t i = 0; i < results->count; i++)
        ahead->lessons[i] = (struct lesson_ahead){
            .file = -1, .wanted = suite_count(&results->suites[i], test_runs) > 0};
    begin_next(ahead);
    return ahead;
}

bool ahead_take(struct ahead *ahead, size_t suite, struct ahead_end *end)
{
    struct lesson_ahead *lesson = &ahead->lessons[suite];

    *end = (struct ahead_end){0};
    while (lesson->process != 0) {
        if (process_interrupted() != 0) return false;
        reap(ahead);
        begin_next(ahead);
        if (lesson->process != 0) poll(NULL, 0, LOOK_AGAIN_MS);
    }
    begin_next(ahead);
    lesson->wanted = false;
    const int file = lesson->file;
    lesson->file = -1;
    if (file < 0) return false;
    if (!lesson->ended) {
        close(file);
        return false;
    }
    return take_back(file, &ahead->results->suites[suite], end);
}

void ahead_end(struct ahead *ahead)
{
    if (ahead == NULL) return;
    for (size_t i = 0; i < ahead->results->count; i++) {
        struct lesson_ahead *lesson = &ahead->lessons[i];
        if (lesson->process != 0) kill(lesson->process, SIGTERM);
        while (lesson->process != 0 && waitpid(lesson->process, NULL, 0) < 0 && errno == EINTR)
            continue;
        if (lesson->file >= 0) close(lesson->file);
    }
    free(ahead->lessons);
    free(ahead);
}
