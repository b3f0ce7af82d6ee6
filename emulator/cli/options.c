#include "emulator/cli/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char options_help[] =
    "./emulate [OPTIONS] PROGRAM [ARGUMENTS...]\n"
    "\n"
    "Runs a CUDA program without a GPU, on the software device, and prints on stderr at its end "
    "what\n"
    "was found in it: wrong accesses, wrong order, leaks, what the device does not support. "
    "Nothing,\n"
    "when nothing was found. The program is an ordinary one, but linked with the shared runtime:\n"
    "\n"
    "  nvcc -cudart shared -g -lineinfo -o PROGRAM program.cu\n"
    "\n"
    "-g and -lineinfo are for the line numbers. PTX has to be inside, as it is by nvcc's default.\n"
    "\n"
    "  --order=latest     asynchronous work is done as late as CUDA allows (the default), ...\n"
    "  --order=earliest   ... as early as it allows, ...\n"
    "  --order=random:N   ... or in a random order by seed N: a right program does not care\n"
    "  --fail=N           the Nth call that can fail does fail; --fail=cudaMalloc:2, the second\n"
    "                     cudaMalloc: does PROGRAM notice, and give back what it has?\n"
    "  --error-exitcode=N exit with N (1 to 255) if something was found and PROGRAM exited with 0\n"
    "  --info             the device, and how much of CUDA is supported\n"
    "  --support          every function and instruction, supported or not\n"
    "  --help             this\n"
    "\n"
    "OVERLAP_MEMORY=512M gives the device another size of memory (4G).\n"
    "\n"
    "Exit status: PROGRAM's own; if a signal ended it, the same signal ends ./emulate (128 + its\n"
    "number, to a shell). 125: the command line or the set-up is wrong. 126: PROGRAM cannot run "
    "on\n"
    "the software device, or not at all. 127: there is no PROGRAM.\n";

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

/* Which functions can fail the device knows; it says so if this one cannot. */
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

/* The options that have a value. */
static const struct {
    const char *name;
    bool (*read)(const char *value, struct options *options);
    const char *form;
} valued[] = {
    {"--order=", read_order, "latest, earliest, or random: and a number, the seed"},
    {"--fail=", read_fail, "a number, or a function, a colon and a number"},
    {"--error-exitcode=", read_status, "a number from 1 to 255"},
};

static const struct {
    const char *name;
    enum options_action action;
} actions[] = {
    {"--help", OPTIONS_HELP},
    {"-h", OPTIONS_HELP},
    {"--info", OPTIONS_INFO},
    {"--support", OPTIONS_SUPPORT},
};

static bool read_one(const char *argument, struct options *options, char *why, size_t why_size)
{
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (strcmp(argument, actions[i].name) != 0) continue;
        options->action = actions[i].action;
        return true;
    }
    for (size_t i = 0; i < sizeof valued / sizeof *valued; i++) {
        size_t length = strlen(valued[i].name);
        if (strncmp(argument, valued[i].name, length) != 0) continue;
        if (valued[i].read(argument + length, options)) return true;
        snprintf(why, why_size, "%s: the value has to be %s", argument, valued[i].form);
        return false;
    }
    snprintf(why, why_size,
             "%s is no option of ./emulate; the program's own options stand behind its name",
             argument);
    return false;
}

bool options_read(char *const *arguments, struct options *options, char *why, size_t why_size)
{
    memset(options, 0, sizeof *options);
    for (arguments++; *arguments != NULL && (*arguments)[0] == '-'; arguments++) {
        if (strcmp(*arguments, "--") == 0) {
            arguments++;
            break;
        }
        if (!read_one(*arguments, options, why, why_size)) return false;
        if (options->action != OPTIONS_RUN) return true;
    }
    options->program = arguments;
    if (*arguments != NULL) return true;
    snprintf(why, why_size, "which program? ./emulate PROGRAM [ARGUMENTS...]; --help says more");
    return false;
}
