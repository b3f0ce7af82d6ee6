#include "grader/session/options.h"

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
    FLAG_IGNORED, /* GoogleTest has it; here it has nothing to act on */
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
    {"break_on_failure", FLAG_IGNORED, 0},
    {"catch_exceptions", FLAG_IGNORED, 0},
    {"death_test_style", FLAG_IGNORED, 0},
    {"death_test_use_fork", FLAG_IGNORED, 0},
    {"fail_if_no_test_linked", FLAG_IGNORED, 0},
    {"fail_if_no_test_selected", FLAG_IGNORED, 0},
    {"install_failure_signal_handler", FLAG_IGNORED, 0},
    {"print_utf8", FLAG_IGNORED, 0},
    {"recreate_environments_when_repeating", FLAG_IGNORED, 0},
    {"stack_trace_depth", FLAG_IGNORED, 0},
    {"stream_result_to", FLAG_IGNORED, 0},
    {"throw_on_failure", FLAG_IGNORED, 0},
};
#define GTEST_FLAG_COUNT (sizeof gtest_flags / sizeof gtest_flags[0])

static const char *const own_flags[] = {"--device",
                                        "--solutions",
                                        "--submission",
                                        "--seed",
                                        "--help",
                                        "--random-orders",
                                        "--version",
                                        "--gtest_filter",
                                        "--gtest_list_tests",
                                        "--gtest_output",
                                        NULL};

/* Text that lives as long as the options: a chain of allocations. */
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
        text_format(why, "%s needs a whole number, as in %s=3", shown, shown);
        return 2;
    case FLAG_STRING:
        if (value == NULL) {
            text_format(why, "%s needs a value, as in %s=VALUE", shown, shown);
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

/* GoogleTest's sharding variables; a contradiction ends the program with 1, as there. */
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

/* One flag per line. */
static int read_flag_file(struct options *options, const char *path, int depth, struct text *why)
{
    char line[4096];
    int result = 0;

    FILE *file = depth < 8 ? fopen(path, "re") : NULL;
    if (file == NULL) {
        text_format(why, "the flag file %s cannot be read", path);
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
    return 0;
}

/* The value of "--name=value", or of "--name value" (then *used is set). NULL: another flag. */
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
    text_format(why, "there is no device \"%s\"", value);
    if (near != NULL) text_format(why, "; did you mean --device=%s?", near);
    text_add(why, " It is --device=auto, --device=gpu or --device=emulator.");
    return 2;
}

static int parse_seed(struct options *options, const char *value, struct text *why)
{
    char *end;
    errno = 0;
    options->seed = strtoull(value, &end, 0);
    options->seed_given = true;
    if (errno == 0 && end != value && *end == '\0') return 0;
    text_format(why, "--seed needs a number, as in --seed=12345");
    return 2;
}

static int parse_orders(struct options *options, const char *value, struct text *why)
{
    int orders;
    if (parse_int(value, 0, CACHE_MOST_ORDERS, &orders)) {
        options->random_orders = (unsigned)orders;
        return 0;
    }
    text_format(why, "--random-orders needs a number from 0 to %d", CACHE_MOST_ORDERS);
    return 2;
}

static int unknown_flag(const char *argument, struct text *why)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(argument, "="), argument);
    const char *near = text_nearest(name, own_flags);
    text_format(why, "there is no flag %s", name);
    if (near != NULL)
        text_format(why, "; did you mean %s?", near);
    else
        text_add(why, "; --help lists them.");
    return 2;
}

static int parse_arguments(struct options *options, int count, char *const *arguments, int depth,
                           struct text *why)
{
    int result = 0;

    for (int i = 0; i < count && result == 0; i++) {
        const char *argument = arguments[i], *value;
        bool used = false;
        if (argument[0] != '-' || argument[1] == '\0') {
            const char **words = realloc(options->words, (options->word_count + 1) * sizeof *words);
            if (words == NULL) return 2;
            options->words = words;
            options->words[options->word_count++] = argument;
        } else if (strncmp(argument, "--gtest_", 8) == 0) {
            result = parse_gtest(options, argument, depth, why);
        } else if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0 ||
                   strcmp(argument, "-?") == 0) {
            options->help = true;
        } else if (strcmp(argument, "--version") == 0) {
            options->version = true;
        } else if (strcmp(argument, "--solutions") == 0) {
            options->solutions = true;
        } else if ((value = value_of("--device", count - i, arguments + i, &used)) != NULL) {
            result = parse_device(options, value, why);
        } else if ((value = value_of("--submission", count - i, arguments + i, &used)) != NULL) {
            options->submission = value;
            if (value[0] == '\0') {
                text_add(why, "--submission needs a folder, as in --submission=handed_in/alice");
                result = 2;
            }
        } else if ((value = value_of("--random-orders", count - i, arguments + i, &used)) != NULL) {
            result = parse_orders(options, value, why);
        } else if ((value = value_of("--seed", count - i, arguments + i, &used)) != NULL) {
            result = parse_seed(options, value, why);
        } else {
            result = unknown_flag(argument, why);
        }
        if (used) i++;
    }
    return result;
}

int options_parse(struct options *options, int count, char *const *arguments, struct text *why)
{
    *options = (struct options){.random_orders = 2,
                                .filter = "*",
                                .repeat = 1,
                                .color = "auto",
                                .print_time = true,
                                .output = "",
                                .shards = 1};
    int result = read_environment(options, why);
    if (result == 0) result = parse_arguments(options, count - 1, arguments + 1, 0, why);
    if (result == 0) result = read_shards(options, why);
    if (result == 0 && options->solutions && options->submission != NULL) {
        text_add(why, "--solutions and --submission exclude each other: grade one or the other");
        result = 2;
    }
    if (result == 0 && (options->random_seed < 0 || options->random_seed > 99999)) {
        text_add(why, "--gtest_random_seed is from 0 to 99999; 0 takes it from the clock");
        result = 2;
    }
    return result;
}

void options_help(struct text *text, const char *const *lessons)
{
    text_add(text, "This program contains tests written using Overlap, which speaks Google Test's\n"
                   "language: every check of a lesson is a test.\n"
                   "\n"
                   "  grade [LESSON...] [FLAG...]\n"
                   "\n"
                   "Lessons:\n");
    for (; *lessons != NULL; lessons++) text_format(text, "  %s\n", *lessons);
    text_add(
        text,
        "  A lesson can be named by its number (02), its name (streams) or both. None: all.\n"
        "\n"
        "What is graded:\n"
        "  --solutions\n"
        "      The reference solutions instead of lessons/.\n"
        "  --submission=DIR\n"
        "      Somebody's copy of lessons/, or of one lesson's folder.\n"
        "  --device=(auto|gpu|emulator)\n"
        "      Where it runs. auto, the default: on the GPU, and for order also on the emulator;\n"
        "      without a GPU on the emulator.\n"
        "  --seed=NUMBER\n"
        "      Draw the same inputs again. Without it they are new each time.\n"
        "  --random-orders=NUMBER\n"
        "      On the emulator, what depends on order runs as late and as early as CUDA allows,\n"
        "      and in this many random orders between: 2, unless it is said here, up to 50.\n"
        "  --version\n"
        "      Overlap's version.\n"
        "\n"
        "Test Selection:\n"
        "  --gtest_list_tests\n"
        "      List the names of all tests instead of running them. The name of\n"
        "      TEST(Foo, Bar) is \"Foo.Bar\".\n"
        "  --gtest_filter=POSITIVE_PATTERNS[-NEGATIVE_PATTERNS]\n"
        "      Run only the tests whose name matches one of the positive patterns but\n"
        "      none of the negative ones. '?' is any character, '*' any string, ':' or.\n"
        "  --gtest_also_run_disabled_tests\n"
        "      Run all disabled tests too.\n"
        "\n"
        "Test Execution:\n"
        "  --gtest_repeat=[COUNT]\n"
        "      Run the tests repeatedly; a negative count: for ever.\n"
        "  --gtest_shuffle\n"
        "      Randomize the tests' order on every iteration.\n"
        "  --gtest_random_seed=[NUMBER]\n"
        "      The seed for that (1 to 99999, or 0 to take it from the time).\n"
        "  --gtest_fail_fast\n"
        "      Skip what is left after the first failure.\n"
        "\n"
        "Test Output:\n"
        "  --gtest_color=(yes|no|auto)\n"
        "      Colours. auto, the default: if it is a terminal.\n"
        "  --gtest_brief=1\n"
        "      Only print failures.\n"
        "  --gtest_print_time=0\n"
        "      Don't print the time of each test.\n"
        "  --gtest_output=(json|xml)[:DIRECTORY_PATH/|:FILE_PATH]\n"
        "      Write a report there; without a path into test_detail.xml or .json.\n"
        "\n"
        "Each --gtest_ flag can also be given as a variable, as in GTEST_COLOR=no.\n"
        "Exit status: 0 all passed, 1 a check failed, 2 the command line or the set-up is "
        "wrong.\n");
}
