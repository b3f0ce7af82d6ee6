/* The device files of NVIDIA's driver. JAX takes the CPU where there is no /dev/nvidia0, before it
 * asks any library. So the functions that tell whether a file is there find one. Whoever opens it
 * finds none: that is for NVIDIA's own driver library.
 */
#include "emulator/front/machine.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { MAJOR = 195, CONTROL = 255 }; /* the driver's numbers */

/* The first device's, and the one of all; OVERLAP_DEVICES=0 is a machine without. -1: none. */
static int minor_of(const char *path)
{
    static const struct {
        const char *path;
        int minor;
    } nodes[] = {{"/dev/nvidia0", 0}, {"/dev/nvidiactl", CONTROL}};
    const char *devices = getenv("OVERLAP_DEVICES");
    if (path == NULL || (devices != NULL && strcmp(devices, "0") == 0)) return -1;
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        if (strcmp(nodes[i].path, path) == 0) return nodes[i].minor;
    return -1;
}

/* What the system says of a file, where it says that there is none. */
#define ANSWER(result, path, status)                                                               \
    const int minor = (result) == 0 || errno != ENOENT ? -1 : minor_of(path);                      \
    if (minor < 0) return result;                                                                  \
    memset(status, 0, sizeof *(status));                                                           \
    (status)->st_mode = S_IFCHR | 0666;                                                            \
    (status)->st_nlink = 1;                                                                        \
    (status)->st_rdev = makedev(MAJOR, (unsigned)minor);                                           \
    return 0;

/* As programs call it that were built with glibc 2.33 or later, */
#define STAT(name, structure)                                                                      \
    PUBLIC int name(const char *restrict path, struct structure *restrict status)                  \
    {                                                                                              \
        MACHINE_NEXT(int, name, const char *, struct structure *);                                 \
        const int result = next(path, status);                                                     \
        ANSWER(result, path, status)                                                               \
    }
/* and those of an earlier one. */
#define XSTAT(name, structure)                                                                     \
    PUBLIC int name(int version, const char *path, struct structure *status);                      \
    PUBLIC int name(int version, const char *path, struct structure *status)                       \
    {                                                                                              \
        MACHINE_NEXT(int, name, int, const char *, struct structure *);                            \
        const int result = next(version, path, status);                                            \
        ANSWER(result, path, status)                                                               \
    }

STAT(stat, stat)
STAT(stat64, stat64)
XSTAT(__xstat, stat)
XSTAT(__xstat64, stat64)

PUBLIC int access(const char *path, int mode)
{
    MACHINE_NEXT(int, access, const char *, int);
    const int result = next(path, mode);
    const bool is_ours = result != 0 && errno == ENOENT && minor_of(path) >= 0;
    return is_ours && (mode & X_OK) == 0 ? 0 : result;
}
