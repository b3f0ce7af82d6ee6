/* A program that makes PTX itself (XLA, MLIR) starts NVIDIA's ptxas by a path that no variable
 * changes: one of its own package, or a toolkit's. What is started is then the ptxas of this
 * folder, which asks that one.
 */
#include "emulator/front/machine.h"

#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Told to the ptxas in front: the one behind it. */
#define BEHIND_VARIABLE "OVERLAP_BEHIND_PTXAS="

/* Writes the path of the ptxas in front. Returns false if there is none. */
static bool find_front(char *front)
{
    Dl_info self;
    const char *slash;
    if (dladdr((void *)(uintptr_t)find_front, &self) == 0 ||
        (slash = strrchr(self.dli_fname, '/')) == NULL)
        return false;
    const int length = (int)(slash - self.dli_fname);
    return snprintf(front, PATH_MAX, "%.*s/front/ptxas", length, self.dli_fname) < PATH_MAX &&
           access(front, X_OK) == 0;
}

/* nvcc starts its own, for what it links. */
static bool is_for_us(const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    return slash != NULL && strcmp(slash, "/ptxas") == 0 &&
           strcmp(program_invocation_short_name, "nvcc") != 0;
}

/* An environment with one more variable, in front of all others. NULL: no memory. */
static char **with_variable(char *const *variables, char *variable)
{
    size_t count = 0;
    while (variables != NULL && variables[count] != NULL) count++;
    char **more = malloc((count + 2) * sizeof *more);
    if (more == NULL) return NULL;
    more[0] = variable;
    if (count > 0) memcpy(more + 1, variables, count * sizeof *more);
    more[count + 1] = NULL;
    return more;
}

typedef int spawn_function(pid_t *, const char *, const posix_spawn_file_actions_t *,
                           const posix_spawnattr_t *, char *const *, char *const *);

static int spawn(spawn_function *next, pid_t *pid, const char *path,
                 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                 char *const *arguments, char *const *variables)
{
    char front[PATH_MAX], real[PATH_MAX], behind[PATH_MAX + sizeof BEHIND_VARIABLE];
    if (!is_for_us(path) || !find_front(front) || realpath(front, real) == NULL ||
        (realpath(path, behind) != NULL && strcmp(real, behind) == 0))
        return next(pid, path, actions, attributes, arguments, variables);
    snprintf(behind, sizeof behind, BEHIND_VARIABLE "%s", path);
    char **more = with_variable(variables, behind);
    if (more == NULL) return ENOMEM;
    const int error = next(pid, front, actions, attributes, arguments, more);
    free(more);
    return error;
}

#define SPAWN(name)                                                                                \
    PUBLIC int name(pid_t *restrict pid, const char *restrict path,                                \
                    const posix_spawn_file_actions_t *actions,                                     \
                    const posix_spawnattr_t *restrict attributes, char *const *restrict arguments, \
                    char *const *restrict variables)                                               \
    {                                                                                              \
        static spawn_function *next;                                                               \
        if (next == NULL) next = (spawn_function *)(uintptr_t)dlsym(RTLD_NEXT, #name);             \
        if (next == NULL) return ENOSYS;                                                           \
        return spawn(next, pid, path, actions, attributes, arguments, variables);                  \
    }
SPAWN(posix_spawn)
SPAWN(posix_spawnp)
