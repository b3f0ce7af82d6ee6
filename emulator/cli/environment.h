/* environment: sets the environment of a program on the software device: the device's libraries
 * come before NVIDIA's, the compilers of emulator/front before NVIDIA's, and caches of Python
 * packages get folders of their own, so that cached GPU machine code is not loaded here and PTX
 * cached here is not used on a GPU.
 */
#ifndef OVERLAP_CLI_ENVIRONMENT_H
#define OVERLAP_CLI_ENVIRONMENT_H

#include <stdbool.h>

struct options;
struct program;

/* Puts the compilers on PATH and sets the toolkit's folder (CUDA_ROOT). Called before the program
 * is looked for on PATH. */
bool environment_find(const char *libraries);

/* Returns true if a variable with a list of folders can contain this path. */
bool environment_is_plain(const char *path);

/* Changes this process's environment. `folder`: the device's libraries. `temporary`: this run's own
 * folder, a plain path; it holds caches that have no other place, and a link to the device's folder
 * if that path is not plain. `trace`: the trace's path. Returns false if memory runs out or the
 * link fails (errno). */
bool environment_set(const struct options *options, const struct program *program,
                     const char *folder, const char *temporary, const char *trace);

/* Removes this run's folder with all its contents. */
void environment_remove(const char *temporary);

#endif
