#include "grader/session/printer.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum color {
    RED = 1,
    GREEN = 2,
    YELLOW = 3,
};

/* GoogleTest's list of terminals that support colours. */
static bool terminal_has_colors(void)
{
    static const char *const names[] = {
        "xterm",        "xterm-color", "xterm-kitty", "alacritty",     "screen", "tmux",
        "rxvt-unicode", "linux",       "cygwin",      "xterm-ghostty", NULL};
    const char *terminal = getenv("TERM");
    if (terminal == NULL) return false;
    for (const char *const *name = names; *name != NULL; name++)
        if (strcmp(*name, terminal) == 0) return true;
    size_t length = strlen(terminal);
    const char *end = "-256color";
    return length > strlen(end) && strcmp(terminal + length - strlen(end), end) == 0;
}

/* Returns the terminal's width, or 80 columns. */
static unsigned width_of(FILE *out)
{
    struct winsize size = {0};

    if (isatty(fileno(out)) && ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

void printer_begin(struct printer *printer, FILE *out, const struct options *options)
{
    const char *color = options->color;

    *printer = (struct printer){.out = out,
                                .brief = options->brief,
                                .print_time = options->print_time,
                                .width = width_of(out)};
    if (strcmp(color, "auto") == 0)
        printer->color = isatty(fileno(out)) && terminal_has_colors();
    else
        printer->color = strcmp(color, "yes") == 0 || strcmp(color, "true") == 0 ||
                         strcmp(color, "t") == 0 || strcmp(color, "1") == 0;
}

__attribute__((format(printf, 3, 4))) static void
print_colored(const struct printer *printer, enum color color, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    if (printer->color) fprintf(printer->out, "\033[0;3%dm", (int)color);
    vfprintf(printer->out, format, list);
    if (printer->color) fprintf(printer->out, "\033[m");
    va_end(list);
}

static void print_count(const struct printer *printer, size_t count, const char *one,
                        const char *many)
{
    fprintf(printer->out, "%zu %s", count, count == 1 ? one : many);
}

static void print_tests(const struct printer *printer, size_t count)
{
    print_count(printer, count, "test", "tests");
}

static void print_totals(const struct printer *printer, const struct results *results)
{
    print_tests(printer, results_count(results, test_runs));
    fprintf(printer->out, " from ");
    print_count(printer, results_suites_that_run(results), "test suite", "test suites");
}

void printer_iteration_start(const struct printer *printer, const struct results *results,
                             const struct options *options, int iteration, int random_seed)
{
    if (printer->brief) return;
    if (options->repeat != 1)
        fprintf(printer->out, "\nRepeating all tests (iteration %d) . . .\n\n", iteration + 1);
    if (strcmp(options->filter, "*") != 0)
        print_colored(printer, YELLOW, "Note: Google Test filter = %s\n", options->filter);
    if (options->shards > 1)
        print_colored(printer, YELLOW, "Note: This is test shard %u of %u.\n", options->shard + 1,
                      options->shards);
    if (options->shuffle)
        print_colored(printer, YELLOW, "Note: Randomizing tests' orders with a seed of %d .\n",
                      random_seed);
    print_colored(printer, GREEN, "[==========] ");
    fprintf(printer->out, "Running ");
    print_totals(printer, results);
    fprintf(printer->out, ".\n");
    fflush(printer->out);
}

void printer_set_up(const struct printer *printer)
{
    if (printer->brief) return;
    print_colored(printer, GREEN, "[----------] ");
    fprintf(printer->out, "Global test environment set-up.\n");
    fflush(printer->out);
}

void printer_suite_start(const struct printer *printer, const struct suite *suite)
{
    if (printer->brief) return;
    print_colored(printer, GREEN, "[----------] ");
    print_tests(printer, suite_count(suite, test_runs));
    fprintf(printer->out, " from %s\n", suite->name);
    fflush(printer->out);
}

static void print_name(const struct printer *printer, const struct suite *suite,
                       const struct test *test)
{
    fprintf(printer->out, "%s.%s", suite->name, test->check->name);
}

void printer_test_start(const struct printer *printer, const struct suite *suite,
                        const struct test *test)
{
    if (printer->brief) return;
    print_colored(printer, GREEN, "[ RUN      ] ");
    print_name(printer, suite, test);
    fprintf(printer->out, "\n");
    fflush(printer->out);
}

void printer_test_disabled(const struct printer *printer, const struct suite *suite,
                           const struct test *test)
{
    if (printer->brief) return;
    print_colored(printer, YELLOW, "[ DISABLED ] ");
    print_name(printer, suite, test);
    fprintf(printer->out, "\n");
    fflush(printer->out);
}

static void print_parts(const struct printer *printer, const struct suite *suite,
                        const struct test *test)
{
    const struct verdict *verdict = test->verdict;
    struct text text = {0};

    if (printer->brief && test->outcome != TEST_FAILED) return;
    if (test->printed.size > 0) {
        text_add(&text, "It printed:\n");
        text_add(&text, text_string(&test->printed));
    }
    for (size_t i = 0; verdict != NULL && i < verdict->figure_count; i++) {
        text_add(&text, "  ");
        text_add_quoted(&text, verdict->figures[i].text, strlen(verdict->figures[i].text));
        text_add(&text, "\n");
    }
    for (size_t i = 0; verdict != NULL && i < verdict->failure_count; i++) {
        results_place_text(&verdict->failures[i].place, &text);
        text_add(&text, " Failure\n");
        results_failure_text(verdict, i, &text);
        text_add(&text, "\n");
    }
    text_add(&text, text_string(&test->picture));
    if (test_not_judged(test)) {
        const char *reason = verdict != NULL ? verdict->skip_reason : "";
        text_add_quoted(&text, suite->handed_in->shown, strlen(suite->handed_in->shown));
        text_format(&text, "/%s:1: Skipped\n", suite->handed_in->lesson->files[0]);
        text_add_quoted(&text, reason, strlen(reason));
        text_add(&text, "\n");
    }
    fputs(text_string(&text), printer->out);
    fflush(printer->out);
    text_free(&text);
}

void printer_test_end(const struct printer *printer, const struct suite *suite,
                      const struct test *test)
{
    print_parts(printer, suite, test);
    if (printer->brief && test->outcome != TEST_FAILED) return;
    if (test->outcome == TEST_FAILED)
        print_colored(printer, RED, "[  FAILED  ] ");
    else if (test_not_judged(test))
        print_colored(printer, GREEN, "[  SKIPPED ] ");
    else
        print_colored(printer, GREEN, "[       OK ] ");
    print_name(printer, suite, test);
    if (printer->print_time) fprintf(printer->out, " (%.0f ms)", test->milliseconds);
    fprintf(printer->out, "\n");
    fflush(printer->out);
}

void printer_suite_end(const struct printer *printer, const struct suite *suite)
{
    if (printer->brief || !printer->print_time) return;
    print_colored(printer, GREEN, "[----------] ");
    print_tests(printer, suite_count(suite, test_runs));
    fprintf(printer->out, " from %s (%.0f ms total)\n\n", suite->name, suite->milliseconds);
    fflush(printer->out);
}

void printer_tear_down(const struct printer *printer)
{
    if (printer->brief) return;
    print_colored(printer, GREEN, "[----------] ");
    fprintf(printer->out, "Global test environment tear-down\n");
    fflush(printer->out);
}

static void print_list(const struct printer *printer, const struct results *results,
                       enum color color, const char *tag, test_predicate predicate)
{
    size_t count = results_count(results, predicate);

    if (count == 0) return;
    print_colored(printer, color, "%s", tag);
    print_tests(printer, count);
    fprintf(printer->out, ", listed below:\n");
    for (size_t i = 0; i < results->count; i++) {
        const struct suite *suite = &results->suites[results->order[i]];
        for (size_t j = 0; j < suite->count; j++) {
            const struct test *test = &suite->tests[suite->order[j]];
            if (!predicate(test)) continue;
            print_colored(printer, color, "%s", tag);
            print_name(printer, suite, test);
            fprintf(printer->out, "\n");
        }
    }
}

void printer_iteration_end(const struct printer *printer, const struct results *results,
                           const struct options *options)
{
    size_t failed = results_count(results, test_failed);
    size_t skipped = results_count(results, test_not_judged);
    size_t disabled = results_count(results, test_reportable_disabled);

    print_colored(printer, GREEN, "[==========] ");
    print_totals(printer, results);
    fprintf(printer->out, " ran.");
    if (printer->print_time) fprintf(printer->out, " (%.0f ms total)", results->milliseconds);
    fprintf(printer->out, "\n");
    print_colored(printer, GREEN, "[  PASSED  ] ");
    print_tests(printer, results_count(results, test_passed));
    fprintf(printer->out, ".\n");
    if (printer->brief) {
        if (skipped > 0) {
            print_colored(printer, GREEN, "[  SKIPPED ] ");
            print_tests(printer, skipped);
            fprintf(printer->out, ".\n");
        }
    } else {
        print_list(printer, results, GREEN, "[  SKIPPED ] ", test_not_judged);
        print_list(printer, results, RED, "[  FAILED  ] ", test_failed);
        if (failed > 0)
            fprintf(printer->out, "\n%2zu FAILED %s\n", failed, failed == 1 ? "TEST" : "TESTS");
    }
    if (disabled > 0 && !options->also_run_disabled_tests) {
        if (failed == 0) fprintf(printer->out, "\n");
        print_colored(printer, YELLOW, "  YOU HAVE %zu DISABLED %s\n\n", disabled,
                      disabled == 1 ? "TEST" : "TESTS");
    }
    fflush(printer->out);
}

void printer_list(const struct printer *printer, const struct results *results)
{
    for (size_t i = 0; i < results->count; i++) {
        const struct suite *suite = &results->suites[i];
        bool named = false;
        for (size_t j = 0; j < suite->count; j++) {
            if (!suite->tests[j].matches) continue;
            if (!named) fprintf(printer->out, "%s.\n", suite->name);
            named = true;
            fprintf(printer->out, "  %s\n", suite->tests[j].check->name);
        }
    }
    fflush(printer->out);
}
