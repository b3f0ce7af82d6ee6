#include "emulator/cli/options.h"

#include "trace/gpus.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_number(const char *text)
{
    return *text != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static bool read_order(const char *value, struct options *options)
{
    bool random = strncmp(value, "random:", 7) == 0 && is_number(value + 7);
    options->order = value;
    return random || strcmp(value, "latest") == 0 || strcmp(value, "earliest") == 0;
}

/* The device knows which functions can fail, and reports a name that cannot. */
static bool read_fail(const char *value, struct options *options)
{
    const char *colon = strchr(value, ':');
    options->fail = value;
    return is_number(colon != NULL ? colon + 1 : value);
}

static bool read_status(const char *value, struct options *options)
{
    if (!is_number(value) || strlen(value) > 3) return false;
    options->findings_status = atoi(value);
    return options->findings_status >= 1 && options->findings_status <= 255;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);
    return length > end_length && strcmp(text + length - end_length, end) == 0;
}

static bool read_gpu(const char *value, struct options *options)
{
#define GPU(name) #name,
    static const char *const names[] = {GPUS(GPU)};
#undef GPU
    options->gpu = value;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(value, names[i]) == 0) return true;
    return false;
}

static bool read_timeline(const char *value, struct options *options)
{
    options->timeline = value;
    return ends_with(value, ".json") || ends_with(value, ".svg");
}

enum {
    OPTION_HELP = 'h',
    OPTION_INFO = 256,
    OPTION_SUPPORT,
    OPTION_VERSION,
    OPTION_STANDINS,
    OPTION_VALUED
};

#define GPU_WORD(name) " " #name

/* Options with a value; getopt's number is OPTION_VALUED plus the row. */
static const struct {
    bool (*read)(const char *value, struct options *options);
    const char *form;
} valued[] = {
    {read_order, "latest, earliest, or random: and a number, the seed"},
    {read_fail, "a number, or a function, a colon and a number"},
    {read_status, "a number from 1 to 255"},
    {read_timeline, "a file whose name ends in .json or .svg"},
    {read_gpu, "one of" GPUS(GPU_WORD)},
};

static const struct option long_options[] = {
    {"order", required_argument, NULL, OPTION_VALUED},
    {"fail", required_argument, NULL, OPTION_VALUED + 1},
    {"error-exitcode", required_argument, NULL, OPTION_VALUED + 2},
    {"timeline", required_argument, NULL, OPTION_VALUED + 3},
    {"gpu", required_argument, NULL, OPTION_VALUED + 4},
    {"stand-ins", no_argument, NULL, OPTION_STANDINS},
    {"help", no_argument, NULL, OPTION_HELP},
    {"info", no_argument, NULL, OPTION_INFO},
    {"support", no_argument, NULL, OPTION_SUPPORT},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

bool options_read(char *const *arguments, struct options *options, char *why, size_t why_size)
{
    int count = 0, found;
    memset(options, 0, sizeof *options);
    while (arguments[count] != NULL) count++;
    optind = 0; /* 0 restarts getopt; '+' stops it at the program's name */
    opterr = 0;
    while ((found = getopt_long(count, arguments, "+:h", long_options, NULL)) != -1) {
        const char *argument = arguments[optind - 1];
        switch (found) {
        case OPTION_HELP:
            options->action = OPTIONS_HELP;
            return true;
        case OPTION_INFO:
            options->action = OPTIONS_INFO;
            return true;
        case OPTION_SUPPORT:
            options->action = OPTIONS_SUPPORT;
            return true;
        case OPTION_VERSION:
            options->action = OPTIONS_VERSION;
            return true;
        case OPTION_STANDINS:
            options->standins = true;
            break;
        case '?':
            snprintf(why, why_size,
                     "%s is no option of ./emulate; the program's own options come after its name",
                     argument);
            return false;
        case ':':
            snprintf(why, why_size, "%s needs a value: --help has the forms", argument);
            return false;
        default:
            if (valued[found - OPTION_VALUED].read(optarg, options)) continue;
            snprintf(why, why_size, "%s: the value has to be %s", argument,
                     valued[found - OPTION_VALUED].form);
            return false;
        }
    }
    options->program = arguments + optind;
    if (*options->program != NULL) return true;
    snprintf(why, why_size,
             "no program is named: ./emulate PROGRAM [ARGUMENTS...]; --help says more");
    return false;
}
