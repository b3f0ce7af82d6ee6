#include "grader/learn/grading.h"
#include "grader/base/messages.h"
#include "grader/base/process.h"
#include "grader/build/stub.h"
#include "grader/evidence/picture.h"
#include "grader/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Messages of the process: a header, and `size` bytes. Sender and receiver are the same program. */
enum news {
    NEWS_STEP,     /* text */
    NEWS_JUDGED,   /* struct verdict */
    NEWS_PRINTED,  /* text */
    NEWS_TIMELINE, /* text */
    NEWS_STREAMS,  /* text */
    NEWS_TROUBLE,  /* text */
};
struct header {
    enum news kind;
    enum test_outcome outcome;
    size_t index;
    size_t size;
};

#define LOOK_MS 200 /* interval at which interrupts are checked */
#define TIMELINE_COLUMNS 80
#define TIMELINE_STREAMS 16 /* per run */

double grading_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- in the grading process --------------------------------------------------------------------
 */

static void tell(const int *fd, const struct header *header, const void *bytes)
{
    const void *const parts[] = {header, bytes};
    const size_t sizes[] = {sizeof *header, header->size};

    for (int i = 0; i < 2; i++) {
        for (size_t done = 0; done < sizes[i];) {
            ssize_t n = write(*fd, (const char *)parts[i] + done, sizes[i] - done);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) _exit(2); /* the reader is gone */
            done += (size_t)n;
        }
    }
}

static void tell_text(void *data, enum news kind, const char *text)
{
    tell(data, &(struct header){.kind = kind, .size = strlen(text)}, text);
}

static void tell_step(void *data, const struct lesson *lesson, const char *step)
{
    (void)lesson;
    tell_text(data, NEWS_STEP, step);
}

static void tell_ran(void *data, const struct evidence *evidence)
{
    struct text text = {0};
    picture_add(&text, evidence, TIMELINE_COLUMNS, 0);
    if (text.size > 0) tell_text(data, NEWS_TIMELINE, text_string(&text));
    text_free(&text);
    picture_add(&text, evidence, TIMELINE_COLUMNS, TIMELINE_STREAMS);
    if (text.size > 0) tell_text(data, NEWS_STREAMS, text_string(&text));
    text_free(&text);
}

static void tell_judged(void *data, const struct suite *suite, size_t index)
{
    const struct test *test = &suite->tests[index];

    if (test->printed.size > 0) tell_text(data, NEWS_PRINTED, text_string(&test->printed));
    tell(data,
         &(struct header){.kind = NEWS_JUDGED,
                          .outcome = test->outcome,
                          .index = index,
                          .size = sizeof *test->verdict},
         test->verdict);
}

static void tell_trouble(void *data, const char *why)
{
    tell_text(data, NEWS_TROUBLE, why);
}

/* Removes GoogleTest's variables, which would select among the checks. */
static void forget_variables(void)
{
    static const char *const names[] = {"GTEST_FILTER",      "GTEST_REPEAT",   "GTEST_SHUFFLE",
                                        "GTEST_FAIL_FAST",   "GTEST_OUTPUT",   "GTEST_TOTAL_SHARDS",
                                        "GTEST_SHARD_INDEX", "XML_OUTPUT_FILE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unsetenv(names[i]);
}

__attribute__((noreturn)) static void grade(int fd, const struct toolchain *toolchain,
                                            const struct lesson *const *table,
                                            const struct lesson *lesson, pid_t parent)
{
    const struct session_observer observer = {.data = &fd,
                                              .step = tell_step,
                                              .ran = tell_ran,
                                              .judged = tell_judged,
                                              .trouble = tell_trouble};
    char name[64];
    char *arguments[] = {(char[]){"learn"}, name, NULL};
    const int nothing = open("/dev/null", O_RDWR);

    /* If the watching process is killed, nobody needs the verdict. */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(2);
    signal(SIGWINCH, SIG_DFL);
    signal(SIGTSTP, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < 3; i++) dup2(nothing, i);
    forget_variables();
    snprintf(name, sizeof name, "%s", lesson->folder);
    _exit(session_observed(toolchain, table, 2, arguments, &observer));
}

/* ---- in the calling process --------------------------------------------------------------------
 */

static void forget(struct grading *grading)
{
    for (size_t i = 0; i < grading->count; i++) free(grading->checks[i].verdict);
    free(grading->checks);
    text_free(&grading->buffer);
    text_free(&grading->timeline);
    text_free(&grading->streams);
    text_free(&grading->printed);
    if (grading->fd >= 0) close(grading->fd);
    memset(grading, 0, sizeof *grading);
    grading->fd = -1;
}

/* Reads until the process has closed its end, because a full pipe would block it. */
static void drain(int fd)
{
    char bytes[1 << 12];

    for (;;) {
        const ssize_t n = read(fd, bytes, sizeof bytes);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return;
        if (n < 0) poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, -1);
    }
}

void grading_end(struct grading *grading)
{
    /* The process first ends what it has started, which takes milliseconds. */
    if (grading->pid > 0) {
        kill(grading->pid, SIGTERM);
        drain(grading->fd);
        while (waitpid(grading->pid, NULL, 0) < 0 && errno == EINTR) continue;
    }
    forget(grading);
}

int grading_start(struct grading *grading, const struct toolchain *toolchain,
                  const struct lesson *const *table, const struct lesson *lesson)
{
    const pid_t parent = getpid();
    int ends[2];

    grading_end(grading);
    while (lesson->checks[grading->count].name != NULL) grading->count++;
    grading->checks = calloc(grading->count + 1, sizeof *grading->checks);
    grading->lesson = lesson;
    grading->first = grading->count;
    grading->started = grading->step_started = grading_now();
    if (grading->checks == NULL || pipe2(ends, O_CLOEXEC) != 0) return -1;
    fflush(NULL);
    grading->pid = fork();
    if (grading->pid == 0) {
        close(ends[0]);
        grade(ends[1], toolchain, table, lesson, parent);
    }
    close(ends[1]);
    grading->fd = ends[0];
    fcntl(grading->fd, F_SETFL, O_NONBLOCK);
    if (grading->pid > 0) return 0;
    grading->pid = 0;
    return -1;
}

/* Ends the previous step. */
static void end_step(struct grading *grading)
{
    const double now = grading_now();
    size_t i = 0;

    while (i < grading->step_count && strcmp(grading->steps[i].name, grading->step) != 0) i++;
    if (grading->step[0] != '\0' && i < GRADING_STEPS) {
        struct grading_step *step = &grading->steps[i];
        if (i == grading->step_count) {
            snprintf(step->name, sizeof step->name, "%s", grading->step);
            grading->step_count++;
        }
        step->seconds += now - grading->step_started;
    }
    grading->step_started = now;
    grading->step[0] = '\0';
}

static void take_judged(struct grading *grading, const struct header *header, const char *bytes)
{
    if (header->index >= grading->count || header->size != sizeof(struct verdict)) return;
    struct grading_check *check = &grading->checks[header->index];
    if (check->verdict == NULL) check->verdict = malloc(sizeof *check->verdict);
    if (check->verdict == NULL) return;
    memcpy(check->verdict, bytes, sizeof *check->verdict);
    check->outcome = header->outcome;
    grading->judged++;
    if (header->outcome == TEST_FAILED && header->index < grading->first)
        grading->first = header->index;
}

static void take_news(struct grading *grading, const struct header *header, const char *bytes)
{
    const int length = header->size < 10000 ? (int)header->size : 10000;

    switch (header->kind) {
    case NEWS_STEP:
        end_step(grading);
        snprintf(grading->step, sizeof grading->step, "%.*s", length, bytes);
        break;
    case NEWS_JUDGED:
        take_judged(grading, header, bytes);
        break;
    case NEWS_PRINTED:
        text_add_bytes(&grading->printed, bytes, header->size);
        break;
    case NEWS_TIMELINE:
        text_add_bytes(&grading->timeline, bytes, header->size);
        break;
    case NEWS_STREAMS:
        text_add_bytes(&grading->streams, bytes, header->size);
        break;
    case NEWS_TROUBLE:
        snprintf(grading->trouble, sizeof grading->trouble, "%.*s", length, bytes);
        break;
    }
}

/* Called when the process has closed its end. */
static void conclude(struct grading *grading)
{
    int status = 0;

    while (waitpid(grading->pid, &status, 0) < 0 && errno == EINTR) continue;
    grading->pid = 0;
    close(grading->fd);
    grading->fd = -1;
    end_step(grading);
    grading->seconds = grading_now() - grading->started;
    grading->done = true;
    if (grading->trouble[0] == '\0' &&
        (!WIFEXITED(status) || WEXITSTATUS(status) > 1 || grading->judged < grading->count))
        snprintf(grading->trouble, sizeof grading->trouble,
                 _("The grading did not come to its end."));
    const struct verdict *first =
        grading->first < grading->count ? grading->checks[grading->first].verdict : NULL;
    grading->broken = first != NULL && first->not_compiled;
}

bool grading_take(struct grading *grading)
{
    char bytes[1 << 16];
    bool any = false;
    ssize_t n;

    if (grading->fd < 0) return false;
    while ((n = read(grading->fd, bytes, sizeof bytes)) > 0) {
        text_add_bytes(&grading->buffer, bytes, (size_t)n);
        any = true;
    }
    size_t at = 0;
    for (struct header header; grading->buffer.size - at >= sizeof header;) {
        memcpy(&header, grading->buffer.data + at, sizeof header);
        if (grading->buffer.size - at - sizeof header < header.size) break;
        take_news(grading, &header, grading->buffer.data + at + sizeof header);
        at += sizeof header + header.size;
    }
    if (at > 0) {
        memmove(grading->buffer.data, grading->buffer.data + at, grading->buffer.size - at);
        grading->buffer.size -= at;
    }
    if (n == 0) {
        conclude(grading);
        any = true;
    }
    return any;
}

void grading_wait(struct grading *grading)
{
    while (!grading->done && process_interrupted() == 0) {
        struct pollfd news = {.fd = grading->fd, .events = POLLIN};
        /* The timeout covers an interrupt just before poll, which would not end it. */
        if (poll(&news, 1, LOOK_MS) > 0) grading_take(grading);
    }
}

static size_t count(const struct grading *grading, enum test_outcome outcome)
{
    size_t found = 0;
    for (size_t i = 0; i < grading->count; i++) found += grading->checks[i].outcome == outcome;
    return found;
}

size_t grading_passed(const struct grading *grading)
{
    return count(grading, TEST_PASSED);
}

size_t grading_skipped(const struct grading *grading)
{
    return count(grading, TEST_SKIPPED);
}
