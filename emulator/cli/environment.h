/* environment: what a program on the software device finds in its environment: the device's
 * libraries in front of NVIDIA's, the compilers of emulator/front in front of theirs, and for the
 * caches of Python's packages folders of their own, so that no machine code that is kept for a GPU
 * comes here, and no PTX that is kept here goes to a GPU.
 */
#ifndef OVERLAP_CLI_ENVIRONMENT_H
#define OVERLAP_CLI_ENVIRONMENT_H

#include <stdbool.h>

struct options;
struct program;

/* Puts the compilers on PATH, and says where the toolkit is (CUDA_ROOT): before the program is
 * looked for there. */
bool environment_find(const char *libraries);

/* Can a variable with a list of folders hold this one? */
bool environment_is_plain(const char *path);

/* Changes this process's environment. `folder`: the device's. `temporary`: this run's own folder,
 * plain, for a cache that has no place else and for a link to the device's if that is not plain.
 * `trace`: the trace's path. False: no memory, or no link (errno). */
bool environment_set(const struct options *options, const struct program *program,
                     const char *folder, const char *temporary, const char *trace);

/* Removes this run's folder with all that is in it. */
void environment_remove(const char *temporary);

#endif
