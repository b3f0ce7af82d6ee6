/* options: the command line of ./emulate. Arguments behind PROGRAM belong to the program and are
 * not examined. This module prints nothing.
 */
#ifndef OVERLAP_CLI_OPTIONS_H
#define OVERLAP_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* ./emulate's own exit statuses, the same as those of env, nice and timeout. */
enum options_exit {
    OPTIONS_EXIT_TROUBLE = 125,    /* wrong command line, or the set-up failed */
    OPTIONS_EXIT_CANNOT_RUN = 126, /* the program exists but cannot run here */
    OPTIONS_EXIT_NOT_FOUND = 127,
};

enum options_action { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_INFO, OPTIONS_SUPPORT, OPTIONS_VERSION };

struct options {
    enum options_action action;
    const char *order;    /* for OVERLAP_ORDER; NULL: unchanged */
    const char *fail;     /* for OVERLAP_FAIL; NULL: unchanged */
    const char *gpu;      /* for OVERLAP_GPU; NULL: unchanged */
    const char *timeline; /* file for the timeline, .json or .svg; NULL: none */
    bool standins;        /* use the stand-ins for NVIDIA's libraries: emulator/standins */
    int findings_status;  /* exit status if there are findings; 0: the program's own */
    char *const *program; /* argv of the program, NULL-terminated; NULL unless OPTIONS_RUN */
};

/* Parses main's argv. On failure returns false with a sentence in `why`. */
bool options_read(char *const *arguments, struct options *options, char *why, size_t why_size);

/* What --help prints. */
extern const char emulate_help[];

#endif
