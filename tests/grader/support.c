#include "support.h"
#include "grader/base/descendants.h"
#include "grader/base/files.h"
#include "trace/large.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void read_all(FILE *file, struct text *text)
{
    char buffer[4096];
    size_t n;

    rewind(file);
    while (text != NULL && (n = fread(buffer, 1, sizeof buffer, file)) > 0)
        text_add_bytes(text, buffer, n);
    fclose(file);
}

int support_run(const char *const *arguments, const char *folder, const char *const *variables,
                struct text *out, struct text *err)
{
    FILE *files[2] = {tmpfile(), tmpfile()};
    int status = 0;

    ck_assert(files[0] != NULL && files[1] != NULL);
    fflush(NULL);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        dup2(fileno(files[0]), 1);
        dup2(fileno(files[1]), 2);
        if (folder != NULL && chdir(folder) != 0) _exit(126);
        for (; variables != NULL && *variables != NULL; variables++)
            putenv((char *)(size_t)*variables);
        execv(arguments[0], (char *const *)(size_t)arguments);
        _exit(127);
    }
    waitpid(child, &status, 0);
    read_all(files[0], out);
    read_all(files[1], err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static char made[64][256];
static int made_count;
static pid_t maker;

static void remove_made(void)
{
    if (getpid() != maker) return;
    for (int i = 0; i < made_count; i++) files_remove(made[i]);
}

const char *support_folder(void)
{
    /* Without ck_assert, because main may call this too. */
    if (maker != getpid()) {
        maker = getpid();
        made_count = 0;
        atexit(remove_made);
    }
    if (made_count == 64) abort();
    const char *parent = getenv("TMPDIR");
    snprintf(made[made_count], sizeof made[0], "%.200s/overlap-test.XXXXXX",
             parent != NULL && *parent != '\0' ? parent : "/tmp");
    if (mkdtemp(made[made_count]) == NULL) abort();
    return made[made_count++];
}

void support_hide_times(struct text *text)
{
    char *to = text->data;

    for (char *at = text->data; at != NULL && *at != '\0';) {
        char *end = at + 1;
        while (*at == '(' && *end >= '0' && *end <= '9') end++;
        if (end > at + 1 && strncmp(end, " ms", 3) == 0) {
            *to++ = '(';
            *to++ = '0';
            at = end;
        } else {
            *to++ = *at++;
        }
    }
    if (to != NULL) *to = '\0';
    text->size = (size_t)(to - text->data);
}

void support_compare_golden(const char *name, const char *text)
{
    char path[512];
    struct text golden = {0};

    snprintf(path, sizeof path, "%s/%s", GOLDEN_FOLDER, name);
    if (getenv("OVERLAP_WRITE_GOLDEN") != NULL) {
        unlink(path);
        ck_assert_int_eq(files_write(path, text, strlen(text)), 0);
    }
    ck_assert_msg(files_read(path, 1 << 20, &golden) == 0, "%s is missing", path);
    ck_assert_msg(strcmp(text_string(&golden), text) == 0,
                  "%s says\n---\n%s---\nbut it is\n---\n%s---", name, text_string(&golden), text);
    text_free(&golden);
}

unsigned support_processes(void)
{
    return descendants_usage(getpid(), 0).processes;
}

static const char *const files[] = {"sum.c", NULL};
static const struct lesson lesson = {
    .number = 1, .folder = "01_sum", .suite = "Sum", .function = "sum_array", .files = files};
static const struct run_plan plan = {.name = "values"};

struct evidence support_evidence(struct trace_record *records, size_t count)
{
    struct evidence evidence = {
        .lesson = &lesson,
        .plan = &plan,
        .device = DRIVE_EMULATOR,
        .order = "latest",
        .shown_folder = "lessons/01_sum",
        .trace_sound = true,
        .repeat_count = 1,
        .trace = {.records = large_take(count * sizeof *records), .count = count},
    };
    if (count > 0) memcpy((void *)(size_t)evidence.trace.records, records, count * sizeof *records);
    ck_assert_int_eq(evidence_index_build(&evidence), 0);
    return evidence;
}

int support_finish(SRunner *runner)
{
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
