#include "grader/session/options.h"
#include "grader/base/embedded.h"
#include "grader/base/messages.h"
#include "grader/build/compile.h"
#include "grader/evidence/picture.h"
#include "trace/gpus.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum flag_kind {
    FLAG_BOOL,
    FLAG_INT,
    FLAG_STRING,
    FLAG_IGNORED, /* a GoogleTest flag with no effect here */
};

struct flag {
    const char *name;
    enum flag_kind kind;
    size_t offset;
};

#define FIELD(name) offsetof(struct options, name)

static const struct flag gtest_flags[] = {
    {"filter", FLAG_STRING, FIELD(filter)},
    {"list_tests", FLAG_BOOL, FIELD(list_tests)},
    {"also_run_disabled_tests", FLAG_BOOL, FIELD(also_run_disabled_tests)},
    {"repeat", FLAG_INT, FIELD(repeat)},
    {"shuffle", FLAG_BOOL, FIELD(shuffle)},
    {"random_seed", FLAG_INT, FIELD(random_seed)},
    {"fail_fast", FLAG_BOOL, FIELD(fail_fast)},
    {"brief", FLAG_BOOL, FIELD(brief)},
    {"color", FLAG_STRING, FIELD(color)},
    {"print_time", FLAG_BOOL, FIELD(print_time)},
    {"output", FLAG_STRING, FIELD(output)},
    {"fail_if_no_test_selected", FLAG_BOOL, FIELD(fail_if_no_test_selected)},
    {"break_on_failure", FLAG_IGNORED, 0},
    {"catch_exceptions", FLAG_IGNORED, 0},
    {"death_test_style", FLAG_IGNORED, 0},
    {"death_test_use_fork", FLAG_IGNORED, 0},
    {"fail_if_no_test_linked", FLAG_IGNORED, 0},
    {"install_failure_signal_handler", FLAG_IGNORED, 0},
    {"print_utf8", FLAG_IGNORED, 0},
    {"recreate_environments_when_repeating", FLAG_IGNORED, 0},
    {"stack_trace_depth", FLAG_IGNORED, 0},
    {"stream_result_to", FLAG_IGNORED, 0},
    {"throw_on_failure", FLAG_IGNORED, 0},
};
#define GTEST_FLAG_COUNT (sizeof gtest_flags / sizeof gtest_flags[0])

/* Strings that live as long as the options: a linked list of allocations. */
struct owned {
    struct owned *next;
    char text[];
};

static char *keep(struct options *options, const char *text, size_t size)
{
    struct owned *owned = malloc(sizeof *owned + size + 1);
    if (owned == NULL) return NULL;
    memcpy(owned->text, text, size);
    owned->text[size] = '\0';
    owned->next = options->owned;
    options->owned = owned;
    return owned->text;
}

void options_free(struct options *options)
{
    for (struct owned *owned = options->owned, *next; owned != NULL; owned = next) {
        next = owned->next;
        free(owned);
    }
    free(options->words);
    free(options->reports);
    memset(options, 0, sizeof *options);
}

static bool parse_int(const char *text, long low, long high, int *value)
{
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || number < low || number > high) return false;
    *value = (int)number;
    return true;
}

/* Sets a flag. `value` NULL: the flag stood alone. Returns 0 or 2. */
static int set_flag(struct options *options, const struct flag *flag, const char *shown,
                    const char *value, struct text *why)
{
    char *field = (char *)options + flag->offset;

    switch (flag->kind) {
    case FLAG_IGNORED:
        return 0;
    case FLAG_BOOL:
        /* GoogleTest's rule: false is what begins with 0, f or F. */
        *(bool *)field = value == NULL || strchr("0fF", value[0]) == NULL || value[0] == '\0';
        return 0;
    case FLAG_INT:
        if (value != NULL && parse_int(value, -2147483647L, 2147483647L, (int *)field)) return 0;
        text_format(why, _("%s needs a whole number, as in %s=3"), shown, shown);
        return 2;
    case FLAG_STRING:
        if (value == NULL) {
            text_format(why, _("%s needs a value, as in %s=VALUE"), shown, shown);
            return 2;
        }
        *(const char **)field = value;
        return 0;
    }
    return 2;
}

/* ---- the environment --------------------------------------------------------------------------
 */

static int read_environment(struct options *options, struct text *why)
{
    for (size_t i = 0; i < GTEST_FLAG_COUNT; i++) {
        char name[64] = "GTEST_";
        for (size_t j = 0; gtest_flags[i].name[j] != '\0'; j++)
            name[6 + j] = (char)toupper((unsigned char)gtest_flags[i].name[j]);
        const char *value = getenv(name);
        if (value != NULL && set_flag(options, &gtest_flags[i], name, value, why) != 0) return 2;
    }
    if (compile_seconds() == 0) {
        text_format(why, _("%s needs a number from 1 to %d"), COMPILE_SECONDS_VARIABLE,
                    COMPILE_MOST_SECONDS);
        return 2;
    }
    const char *fail_fast = getenv("TESTBRIDGE_TEST_RUNNER_FAIL_FAST");
    if (fail_fast != NULL && getenv("GTEST_FAIL_FAST") == NULL)
        options->fail_fast = strcmp(fail_fast, "1") == 0;
    const char *bridge = getenv("TESTBRIDGE_TEST_ONLY");
    if (bridge != NULL && getenv("GTEST_FILTER") == NULL) options->filter = bridge;
    const char *xml = getenv("XML_OUTPUT_FILE");
    if (xml != NULL && getenv("GTEST_OUTPUT") == NULL) {
        struct text output = {0};
        text_format(&output, "xml:%s", xml);
        options->output = keep(options, text_string(&output), output.size);
        text_free(&output);
        if (options->output == NULL) return 2;
    }
    options->shard_status_file = getenv("GTEST_SHARD_STATUS_FILE");
    options->premature_exit_file = getenv("TEST_PREMATURE_EXIT_FILE");
    return 0;
}

/* Reads GoogleTest's sharding variables; contradictory ones end the program with 1, as in
 * GoogleTest. */
static int read_shards(struct options *options, struct text *why)
{
    const char *total = getenv("GTEST_TOTAL_SHARDS"), *index = getenv("GTEST_SHARD_INDEX");
    int shards = 1, shard = 0;

    options->shards = 1;
    if (total == NULL && index == NULL) return 0;
    if (total == NULL || index == NULL) {
        text_format(why, "Invalid environment variables: you have GTEST_%s, but GTEST_%s is unset.",
                    total != NULL ? "TOTAL_SHARDS" : "SHARD_INDEX",
                    total != NULL ? "SHARD_INDEX" : "TOTAL_SHARDS");
        return 1;
    }
    if (!parse_int(total, 1, 1 << 30, &shards) || !parse_int(index, 0, shards - 1, &shard)) {
        text_format(why,
                    "Invalid environment variables: we require 0 <= GTEST_SHARD_INDEX < "
                    "GTEST_TOTAL_SHARDS, but you have GTEST_SHARD_INDEX=%s, GTEST_TOTAL_SHARDS=%s",
                    index, total);
        return 1;
    }
    options->shards = (unsigned)shards;
    options->shard = (unsigned)shard;
    return 0;
}

/* ---- the arguments ----------------------------------------------------------------------------
 */

static int parse_arguments(struct options *options, int count, char *const *arguments, int depth,
                           struct text *why);

/* Reads a file with one flag per line. */
static int read_flag_file(struct options *options, const char *path, int depth, struct text *why)
{
    char line[4096];
    int result = 0;

    FILE *file = depth < 8 ? fopen(path, "re") : NULL;
    if (file == NULL) {
        text_format(why, _("the flag file %s cannot be read"), path);
        return 2;
    }
    while (result == 0 && fgets(line, sizeof line, file) != NULL) {
        size_t length = strcspn(line, "\r\n");
        if (length == 0) continue;
        char *kept = keep(options, line, length);
        result = kept == NULL ? 2 : parse_arguments(options, 1, &kept, depth + 1, why);
    }
    fclose(file);
    return result;
}

static int parse_gtest(struct options *options, const char *argument, int depth, struct text *why)
{
    const char *name = argument + strlen("--gtest_"), *equals = strchr(name, '=');
    size_t length = equals != NULL ? (size_t)(equals - name) : strlen(name);

    if (length == strlen("flagfile") && strncmp(name, "flagfile", length) == 0 && equals != NULL)
        return read_flag_file(options, equals + 1, depth, why);
    for (size_t i = 0; i < GTEST_FLAG_COUNT; i++) {
        char shown[64];
        if (strlen(gtest_flags[i].name) != length ||
            strncmp(name, gtest_flags[i].name, length) != 0)
            continue;
        snprintf(shown, sizeof shown, "--gtest_%s", gtest_flags[i].name);
        return set_flag(options, &gtest_flags[i], shown, equals != NULL ? equals + 1 : NULL, why);
    }
    options->help = true;
    text_format(why, _("there is no flag --gtest_%.*s; this is the help, and nothing was run"),
                (int)length, name);
    return 2;
}

/* Returns the value of "--name=value", or of "--name value" (then *used is set). NULL: another
 * flag. */
static const char *value_of(const char *name, int count, char *const *arguments, bool *used)
{
    size_t length = strlen(name);

    *used = false;
    if (strncmp(arguments[0], name, length) != 0) return NULL;
    if (arguments[0][length] == '=') return arguments[0] + length + 1;
    if (arguments[0][length] != '\0') return NULL;
    *used = count > 1;
    return *used ? arguments[1] : "";
}

static int parse_device(struct options *options, const char *value, struct text *why)
{
    static const char *const names[] = {"auto", "gpu", "emulator", NULL};

    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(value, names[i]) == 0) {
            options->device = (enum devices_wanted)i;
            return 0;
        }
    const char *near = text_nearest(value, names);
    text_format(why, _("there is no device \"%s\""), value);
    if (near != NULL) text_format(why, _("; did you mean --device=%s?"), near);
    text_add(why, _(" It is --device=auto, --device=gpu or --device=emulator."));
    return 2;
}

static int parse_sandbox(struct options *options, const char *value, struct text *why)
{
    static const char *const names[] = {"auto", "require", "off", NULL};

    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(value, names[i]) == 0) {
            options->sandbox = (enum options_sandbox)i;
            return 0;
        }
    text_add(why, _("--sandbox is --sandbox=auto, --sandbox=require or --sandbox=off"));
    return 2;
}

static int parse_seed(struct options *options, const char *value, struct text *why)
{
    char *end;
    errno = 0;
    options->seed = strtoull(value, &end, 0);
    options->seed_given = true;
    if (errno == 0 && end != value && *end == '\0') return 0;
    text_format(why, _("--seed needs a number, as in --seed=12345"));
    return 2;
}

static int parse_orders(struct options *options, const char *value, struct text *why)
{
    int orders;
    if (parse_int(value, 0, CACHE_MOST_ORDERS, &orders)) {
        options->random_orders = (unsigned)orders;
        return 0;
    }
    text_format(why, _("--random-orders needs a number from 0 to %d"), CACHE_MOST_ORDERS);
    return 2;
}

static int parse_jobs(struct options *options, const char *value, struct text *why)
{
    if (parse_int(value, 1, OPTIONS_MOST_JOBS, &options->jobs)) return 0;
    text_format(why, _("--jobs needs a number from 1 to %d"), OPTIONS_MOST_JOBS);
    return 2;
}

static int parse_tasks(struct options *options, const char *value, struct text *why)
{
    if (parse_int(value, 1, OPTIONS_MOST_PARTS, &options->slurm_tasks)) return 0;
    text_format(why, _("--slurm-tasks needs a number from 1 to %d"), OPTIONS_MOST_PARTS);
    return 2;
}

static int parse_part(struct options *options, const char *value, struct text *why)
{
    const char *slash = strchr(value, '/');
    char part[16];

    snprintf(part, sizeof part, "%.*s", slash != NULL ? (int)(slash - value) : 0, value);
    if (slash != NULL && parse_int(slash + 1, 1, OPTIONS_MOST_PARTS, &options->parts) &&
        parse_int(part, 0, options->parts - 1, &options->part))
        return 0;
    text_format(why, _("--part is K/N, with N up to %d and K from 0 to N - 1"), OPTIONS_MOST_PARTS);
    return 2;
}

/* Appends to a list that the options own. Returns 0, or 2: no memory. */
static int append(const char ***list, size_t *count, const char *value)
{
    const char **grown = realloc(*list, (*count + 1) * sizeof *grown);
    if (grown == NULL) return 2;
    grown[(*count)++] = value;
    *list = grown;
    return 0;
}

static int parse_report(struct options *options, const char *value, struct text *why)
{
    (void)why; /* the reports check the value (report.h) */
    return append(&options->reports, &options->report_count, value);
}

/* Puts the value into the environment, from which the device reads it. */
static int parse_gpu(struct options *options, const char *value, struct text *why)
{
#define GPU(name) #name,
    static const char *const names[] = {GPUS(GPU) NULL};
#undef GPU

    (void)options;
    for (size_t i = 0; names[i] != NULL; i++)
        if (strcmp(value, names[i]) == 0) return setenv(GPUS_VARIABLE, value, 1) == 0 ? 0 : 2;
    text_format(why, _("the software device does not know the times of a \"%s\": it knows"), value);
    for (size_t i = 0; names[i] != NULL; i++) text_format(why, "%s %s", i > 0 ? "," : "", names[i]);
    return 2;
}

static int parse_timeline(struct options *options, const char *value, struct text *why)
{
    options->timeline = value;
    if (value[0] == '\0' || picture_takes(value)) return 0;
    text_format(
        why, _("--timeline draws in the terminal, --timeline=FILE into a FILE that ends in .json "
               "or .svg"));
    return 2;
}

/* The grader's own flags. A flag with an example takes a value, which goes to `parse` or into a
 * string field; one without sets a bool. With "" as its example a flag takes an optional value,
 * only after "=". */
static const struct own_flag {
    const char *name, *example;
    size_t offset;
    int (*parse)(struct options *options, const char *value, struct text *why);
} own_flags[] = {
    {"--timeline", "", 0, parse_timeline},
    {"--help", NULL, FIELD(help), NULL},
    {"--version", NULL, FIELD(version), NULL},
    {"--solutions", NULL, FIELD(solutions), NULL},
    {"--again", NULL, FIELD(again), NULL},
    {"--slurm", NULL, FIELD(slurm), NULL},
    {"--check-lessons", NULL, FIELD(check_lessons), NULL},
    {"--submission", "handed_in/alice", FIELD(submission), NULL},
    {"--class", "handed_in", FIELD(class), NULL},
    {"--state", "handed_in.graded", FIELD(state), NULL},
    {"--roster", "roster.csv", FIELD(roster), NULL},
    {"--marks", "marks.txt", FIELD(marks), NULL},
    {"--device", "emulator", 0, parse_device},
    {"--random-orders", "2", 0, parse_orders},
    {"--gpu", "a100", 0, parse_gpu},
    {"--seed", "12345", 0, parse_seed},
    {"--sandbox", "require", 0, parse_sandbox},
    {"--jobs", "2", 0, parse_jobs},
    {"--slurm-tasks", "30", 0, parse_tasks},
    {"--part", "0/30", 0, parse_part},
    {"--report", "html:class.html", 0, parse_report},
};
#define OWN_COUNT (sizeof own_flags / sizeof own_flags[0])

static int unknown_flag(const char *argument, struct text *why)
{
    const char *names[OWN_COUNT + 4] = {"--gtest_filter", "--gtest_list_tests", "--gtest_output"};
    char name[64];

    for (size_t i = 0; i < OWN_COUNT; i++) names[3 + i] = own_flags[i].name;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(argument, "="), argument);
    const char *near = text_nearest(name, names);
    text_format(why, _("there is no flag %s"), name);
    if (near != NULL)
        text_format(why, _("; did you mean %s?"), near);
    else
        text_add(why, _("; --help lists them."));
    return 2;
}

/* Parses one of the grader's own flags; *used is set when the next argument was its value. Returns
 * 0 or 2. */
static int parse_own(struct options *options, int count, char *const *arguments, bool *used,
                     struct text *why)
{
    for (size_t i = 0; i < OWN_COUNT; i++) {
        const struct own_flag *flag = &own_flags[i];
        char *field = (char *)options + flag->offset;
        const char *value;
        if (flag->example == NULL) {
            if (strcmp(arguments[0], flag->name) != 0) continue;
            *(bool *)field = true;
            return 0;
        }
        const bool may_lack = flag->example[0] == '\0';
        value = value_of(flag->name, may_lack ? 1 : count, arguments, used);
        if (value == NULL) continue;
        if (value[0] == '\0' && !may_lack) {
            text_format(why, _("%s needs a value, as in %s=%s"), flag->name, flag->name,
                        flag->example);
            return 2;
        }
        if (flag->parse != NULL) return flag->parse(options, value, why);
        *(const char **)field = value;
        return 0;
    }
    return unknown_flag(arguments[0], why);
}

static int parse_arguments(struct options *options, int count, char *const *arguments, int depth,
                           struct text *why)
{
    int result = 0;

    for (int i = 0; i < count && result == 0; i++) {
        const char *argument = arguments[i];
        bool used = false;
        if (argument[0] != '-' || argument[1] == '\0')
            result = append(&options->words, &options->word_count, argument);
        else if (strncmp(argument, "--gtest_", 8) == 0)
            result = parse_gtest(options, argument, depth, why);
        else if (strcmp(argument, "-h") == 0 || strcmp(argument, "-?") == 0)
            options->help = true;
        else
            result = parse_own(options, count - i, arguments + i, &used, why);
        if (used) i++;
    }
    return result;
}

/* Rejects flags that exclude each other. Returns 0 or 2. */
static int check_together(const struct options *options, struct text *why)
{
    if (options->solutions && options->submission != NULL)
        text_add(why, _("--solutions and --submission exclude each other: grade one or the other"));
    else if (options->class != NULL && (options->solutions || options->submission != NULL))
        text_add(why,
                 _("--class grades what is handed in: leave out --solutions and --submission"));
    else if (options->class != NULL && options->timeline != NULL)
        text_add(why, _("--timeline is drawn of one submission: leave out --class"));
    else if (options->class == NULL &&
             (options->roster != NULL || options->state != NULL || options->again ||
              options->slurm || options->slurm_tasks > 0 || options->parts > 0))
        text_add(why, _("--roster, --state, --again, --slurm and --part belong to --class=DIR"));
    else if (options->parts > 0 && (options->slurm || options->report_count > 0))
        text_add(why, _("--part grades for a call without it, which makes the reports: leave out "
                        "--report and --slurm"));
    else if (options->random_seed < 0 || options->random_seed > 99999)
        text_add(why, _("--gtest_random_seed is from 0 to 99999; 0 takes it from the clock"));
    else
        return 0;
    return 2;
}

int options_parse(struct options *options, int count, char *const *arguments, struct text *why)
{
    *options = (struct options){.random_orders = 2,
                                .filter = "*",
                                .repeat = 1,
                                .fail_if_no_test_selected = true,
                                .color = "auto",
                                .print_time = true,
                                .output = "",
                                .shards = 1};
    const char *gpu = getenv(GPUS_VARIABLE);
    int result = read_environment(options, why);
    if (result == 0 && gpu != NULL && gpu[0] != '\0') result = parse_gpu(options, gpu, why);
    if (result == 0) result = parse_arguments(options, count - 1, arguments + 1, 0, why);
    if (result == 0) result = read_shards(options, why);
    if (result == 0) result = check_together(options, why);
    return result;
}

void options_help(struct text *text, const char *const *lessons)
{
    static const char mark[] = "@LESSONS@\n";
    const char *place = strstr(embedded_grade_help, mark);

    text_add_bytes(text, embedded_grade_help, (size_t)(place - embedded_grade_help));
    for (; *lessons != NULL; lessons++) text_format(text, "  %s\n", *lessons);
    text_add(text, place + strlen(mark));
}
