/* emulate: the program behind ./emulate, run once everything is built. See --help, in options.c. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emulator/cli/child.h"
#include "emulator/cli/environment.h"
#include "emulator/cli/info.h"
#include "emulator/cli/options.h"
#include "emulator/cli/program.h"
#include "emulator/cli/report.h"
#include "emulator/cli/support.h"
#include "emulator/cli/wrap.h"
#include "trace/scratch.h"
#include "trace/timeline/timeline.h"
#include "trace/trace.h"
#include "version.h"

/* The kinds of records that a report needs: few records, however many calls a program makes. */
#define KINDS                                                                                      \
    (TRACE_KIND_BIT(TRACE_MODULE) | TRACE_KIND_BIT(TRACE_CREATE) | TRACE_KIND_BIT(TRACE_DESTROY) | \
     TRACE_KIND_BIT(TRACE_FINDING) | TRACE_KIND_BIT(TRACE_ADVICE) |                                \
     TRACE_KIND_BIT(TRACE_SETTING) | TRACE_KIND_BIT(TRACE_STACK) | TRACE_KIND_BIT(TRACE_LINE))
#define TIMELINE_WIDTH 1200 /* pixels */
#define CAPACITY (1u << 18) /* records; a sparse file of 230 MB if all are written */

static int trouble(int status, const char *sentence)
{
    wrap_write(stderr, sentence, (size_t)fprintf(stderr, "overlap: "));
    return status;
}

/* Finds the folder with the device's two libraries, beside this program. */
static bool find_libraries(char *folder)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0) return false;
    path[length] = '\0';
    *strrchr(path, '/') = '\0';
    if (snprintf(folder, PATH_MAX, "%s/lib", path) >= PATH_MAX) return false;
    snprintf(path, sizeof path, "%.*s/libcudart.so.13", PATH_MAX - 32, folder);
    return access(path, R_OK) == 0;
}

/* Draws the timeline. A failure is only printed: it must not change the program's exit status. */
static void draw(const struct trace *trace, const char *path)
{
    const bool svg = strcmp(path + strlen(path) - 4, ".svg") == 0;
    struct trace_timeline *timeline = trace_timeline_open();
    const bool taken = timeline != NULL && trace_timeline_add_trace(timeline, "", trace) == 0;
    FILE *file = taken ? fopen(path, "we") : NULL;

    if (file != NULL && svg) trace_timeline_svg(timeline, TIMELINE_WIDTH, file);
    if (file != NULL && !svg) trace_timeline_json(timeline, file);
    bool written = file != NULL && ferror(file) == 0;
    if (file != NULL) written = fclose(file) == 0 && written;
    if (!written) fprintf(stderr, "overlap: %s cannot be written: %s\n", path, strerror(errno));
    if (trace->dropped > 0)
        fprintf(stderr, "overlap: %s shows only the beginning: the rest did not fit\n", path);
    trace_timeline_close(timeline);
}

/* Prints the report; returns the number of findings, at least 0. */
static int report(const char *path, const struct options *options, const struct program *program,
                  int status)
{
    const struct report_run run = {
        .program = options->program[0],
        .may_be_idle = program->names_cuda || program->is_tool,
        .leaks = WIFEXITED(status) && WEXITSTATUS(status) == 0 && !program->is_python,
    };
    struct trace trace;
    char why[256];
    if (trace_read(path, &trace, why, sizeof why) != 0) {
        fprintf(stderr, "overlap: the findings are lost: %s\n", why);
        return 0;
    }
    if (options->timeline != NULL) draw(&trace, options->timeline);
    int count = report_write(stderr, &trace, &run);
    trace_free(&trace);
    if (count < 0) fprintf(stderr, "overlap: the findings are lost: no memory\n");
    return count > 0 ? count : 0;
}

/* A package that was built without nvcc has none. */
static bool has_standins(const char *libraries)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/standins", libraries);
    return access(path, X_OK) == 0;
}

static int run(const struct options *options, const char *libraries)
{
    struct program program;
    char why[PATH_MAX + 1024], path[PATH_MAX];
    struct scratch scratch;
    const char *temporary = getenv("TMPDIR");
    int status = 0, found = 0;

    if (options->standins && !has_standins(libraries))
        return trouble(OPTIONS_EXIT_TROUBLE, "--stand-ins: this build has none, because nvcc was "
                                             "not there when it was made");
    if (!environment_find(libraries)) return trouble(OPTIONS_EXIT_TROUBLE, strerror(ENOMEM));
    int verdict = program_examine(options->program[0], &program, why, sizeof why);
    if (verdict != 0) return trouble(verdict, why);

    if (temporary == NULL || *temporary == '\0' ||
        (!environment_is_plain(libraries) && !environment_is_plain(temporary)))
        temporary = "/tmp";
    if (scratch_make(&scratch, temporary, "emulate", environment_remove) != 0) {
        snprintf(why, sizeof why, "no folder can be made in %s: %s", temporary, strerror(errno));
        return trouble(OPTIONS_EXIT_TROUBLE, why);
    }
    snprintf(path, sizeof path, "%s/trace", scratch.path);
    int failed = 0;
    const uint32_t kinds =
        KINDS | (options->timeline != NULL ? TRACE_KIND_BIT(TRACE_OPERATION) : 0);
    if (trace_create_for(path, CAPACITY, kinds) != 0 ||
        !environment_set(options, &program, libraries, scratch.path, path))
        failed = errno != 0 ? errno : ENOMEM;
    else
        failed = child_run(program.path, options->program, &status);
    if (failed == 0) found = report(path, options, &program, status);
    scratch_remove(&scratch, environment_remove);
    if (failed != 0) {
        snprintf(why, sizeof why, "%s cannot be started: %s", options->program[0],
                 strerror(failed));
        return trouble(OPTIONS_EXIT_CANNOT_RUN, why);
    }
    if (found > 0 && options->findings_status > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return options->findings_status;
    child_end_alike(status);
}

int main(int argument_count, char **arguments)
{
    struct options options;
    char why[1024], libraries[PATH_MAX];

    (void)argument_count;
    if (!options_read(arguments, &options, why, sizeof why))
        return trouble(OPTIONS_EXIT_TROUBLE, why);
    if (options.action == OPTIONS_HELP) {
        fputs(emulate_help, stdout);
        return 0;
    }
    if (options.action == OPTIONS_VERSION) {
        puts("emulate (Overlap) " OVERLAP_VERSION);
        return 0;
    }
    if (options.action == OPTIONS_SUPPORT) {
        support_write(stdout);
        return 0;
    }
    if (!find_libraries(libraries))
        return trouble(OPTIONS_EXIT_TROUBLE, "the software device is not built: ./emulate at the "
                                             "root of the repository builds it");
    if (options.action == OPTIONS_INFO) {
        if (info_write(stdout, libraries, why, sizeof why)) return 0;
        return trouble(OPTIONS_EXIT_TROUBLE, why);
    }
    return run(&options, libraries);
}
