/* program: decides from a file alone whether it can run on the software device: file type, machine,
 * and the CUDA libraries that the loader will look for. This module runs nothing.
 */
#ifndef OVERLAP_CLI_PROGRAM_H
#define OVERLAP_CLI_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct program {
    char path[PATH_MAX]; /* absolute or relative path to execute */
    bool names_cuda;     /* contains a CUDA library, or needs one from the loader */
    bool loads_runtime;  /* needs the shared runtime library */
    bool is_python;      /* Python, or a Python script */
    bool is_tool;        /* builds programs, or lists devices: it need not call CUDA */
};

/* Finds a file on PATH: the first one that is executable, else the first one that exists. */
bool program_on_path(const char *name, char path[PATH_MAX]);

/* Finds `name` as a shell does and examines the file. Returns 0, or an exit status (enum
 * options_exit) with sentences in `why`. Scripts are always accepted: the programs that they call
 * are not examined. */
int program_examine(const char *name, struct program *program, char *why, size_t why_size);

#endif
