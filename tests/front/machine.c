/* What a program does on a machine with a GPU without asking any of CUDA's libraries:
 *   front_machine nodes               prints which device files of NVIDIA's driver there are
 *   front_machine spawn PROGRAM ...   starts it by its path, as XLA starts ptxas; exits as it does
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int nodes(void)
{
    static const char *const paths[] = {"/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia7",
                                        "/dev/null"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct stat status;
        const int found = stat(paths[i], &status), reached = access(paths[i], R_OK | W_OK);
        printf("%s: %d %d", paths[i], found, reached);
        if (found == 0)
            printf(", %s %u:%u", S_ISCHR(status.st_mode) ? "characters" : "another kind",
                   major(status.st_rdev), minor(status.st_rdev));
        printf(", %s\n", open(paths[i], O_RDWR | O_CLOEXEC) >= 0 ? "opens" : "does not open");
    }
    return 0;
}

static int spawn(char **arguments)
{
    pid_t pid;
    int status;
    if (posix_spawnp(&pid, arguments[0], NULL, NULL, arguments, environ) != 0) return 126;
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) return 125;
    return WEXITSTATUS(status);
}

int main(int count, char **arguments)
{
    if (count == 2 && strcmp(arguments[1], "nodes") == 0) return nodes();
    if (count > 2 && strcmp(arguments[1], "spawn") == 0) return spawn(arguments + 2);
    return 2;
}
