/* options: the command line of ./emulate. What stands behind PROGRAM is the program's own and is
 * not looked at. It prints nothing.
 */
#ifndef OVERLAP_CLI_OPTIONS_H
#define OVERLAP_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* ./emulate's own exit statuses, as of other programs that run one (env, nice, timeout). */
enum options_exit {
    OPTIONS_EXIT_TROUBLE = 125,    /* the command line, or the set-up */
    OPTIONS_EXIT_CANNOT_RUN = 126, /* the program is there, but cannot run here */
    OPTIONS_EXIT_NOT_FOUND = 127,
};

enum options_action { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_INFO, OPTIONS_SUPPORT, OPTIONS_VERSION };

struct options {
    enum options_action action;
    const char *order;    /* of OVERLAP_ORDER; NULL: as the environment says */
    const char *fail;     /* of OVERLAP_FAIL; NULL: as the environment says */
    const char *gpu;      /* of OVERLAP_GPU; NULL: as the environment says */
    const char *timeline; /* file to draw it to, .json or .svg; NULL: none */
    bool standins;        /* in place of NVIDIA's libraries: emulator/standins */
    int findings_status;  /* exit status where something was found; 0: the program's own */
    char *const *program; /* its name and its arguments, ended by NULL; NULL unless OPTIONS_RUN */
};

/* True, or false with a sentence in `why`. `arguments` is main's argv. */
bool options_read(char *const *arguments, struct options *options, char *why, size_t why_size);

/* What --help prints. */
extern const char emulate_help[];

#endif
