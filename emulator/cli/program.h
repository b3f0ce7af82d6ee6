/* program: whether a file can run on the software device, seen from the file alone: what it is, for
 * which machine, and which CUDA libraries the loader will look for. It runs nothing.
 */
#ifndef OVERLAP_CLI_PROGRAM_H
#define OVERLAP_CLI_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct program {
    char path[PATH_MAX]; /* to execute */
    bool names_cuda;     /* it has a CUDA library inside, or names one for the loader to find */
    bool loads_runtime;  /* it names the shared runtime library */
    bool is_python;      /* it is Python, or a script of Python's */
};

/* The first file of that name on PATH that can be executed, else the first that is there. */
bool program_on_path(const char *name, char path[PATH_MAX]);

/* Looks for `name` as a shell does, and into the file. Returns 0, or an exit status (enum
 * options_exit) with sentences in `why`. A script is fit: what it calls is another matter. */
int program_examine(const char *name, struct program *program, char *why, size_t why_size);

#endif
