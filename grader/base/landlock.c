#include "grader/base/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* These numbers are the same on every architecture since Linux 5.13; headers may be older. */
#define CREATE_RULESET 444
#define ADD_RULE 445
#define RESTRICT_SELF 446
#define ASK_VERSION 1u
#define PATH_BENEATH 1

enum {
    EXECUTE = 1 << 0,
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_FOLDER = 1 << 3,
    ALL_OF_1 = (1 << 13) - 1,
    REFER = 1 << 13,     /* version 2 */
    TRUNCATE = 1 << 14,  /* version 3 */
    IOCTL_DEV = 1 << 15, /* version 5 */
    READ = READ_FILE | READ_FOLDER,
    OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV,
    /* no device nodes, sockets or named pipes, which could block whoever opens them */
    NO_NODES = (1 << 6) | (1 << 9) | (1 << 10) | (1 << 11),
};
#define TCP 3u    /* bind and connect: version 4 */
#define SCOPES 3u /* abstract sockets and signals: version 6 */

struct ruleset {
    uint64_t files, network, scopes;
};

struct __attribute__((packed)) beneath {
    uint64_t allowed;
    int32_t folder;
};

static const char *const libraries[] = {"/lib",
                                        "/lib32",
                                        "/lib64",
                                        "/usr/lib",
                                        "/usr/lib32",
                                        "/usr/lib64",
                                        "/usr/libx32",
                                        "/usr/local/lib",
                                        "/usr/local/lib64",
                                        "/usr/share/locale",
                                        "/usr/share/zoneinfo",
                                        "/usr/local/nvidia",
                                        "/etc/ld.so.cache",
                                        "/etc/ld.so.preload",
                                        "/etc/localtime",
                                        "/etc/OpenCL",
                                        "/etc/nvidia",
                                        "/proc",
                                        "/sys",
                                        NULL};
static const char *const compilers[] = {"/usr",       "/bin",       "/sbin", "/etc/alternatives",
                                        "/nix/store", "/gnu/store", NULL};
static const char *const read_devices[] = {"/dev/zero", "/dev/random", "/dev/urandom", NULL};
static const char *const write_devices[] = {"/dev/null", "/dev/full", NULL};
static const char *const gpu_devices[] = {
    "/dev/nvidia*", "/dev/nvmap", "/dev/nvhost*", "/dev/nvgpu", "/dev/dxg", "/dev/dri", NULL};

int landlock_version(void)
{
    const long version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
    return version > 0 ? (int)version : 0;
}

static uint64_t handled(int version)
{
    return ALL_OF_1 | (version >= 2 ? REFER : 0u) | (version >= 3 ? TRUNCATE : 0u) |
           (version >= 5 ? IOCTL_DEV : 0u);
}

/* A path that does not exist needs no rule. */
static int allow(int rules, const char *path, uint64_t rights)
{
    struct stat status;
    struct beneath rule = {.allowed = rights, .folder = open(path, O_PATH | O_CLOEXEC)};

    if (rule.folder < 0) return errno == ENOENT || errno == ENOTDIR || errno == EACCES ? 0 : -1;
    if (fstat(rule.folder, &status) == 0 && !S_ISDIR(status.st_mode)) rule.allowed &= OF_FILES;
    const long result = syscall(ADD_RULE, rules, PATH_BENEATH, &rule, 0);
    const int error = errno;
    close(rule.folder);
    errno = error;
    return (int)result;
}

static int allow_all(int rules, const char *const *paths, uint64_t rights)
{
    for (; paths != NULL && *paths != NULL; paths++)
        if (allow(rules, *paths, rights) != 0) return -1;
    return 0;
}

static int allow_matching(int rules, const char *const *patterns, uint64_t rights)
{
    int result = 0;

    for (; *patterns != NULL && result == 0; patterns++) {
        glob_t found = {0};
        if (glob(*patterns, 0, NULL, &found) == 0)
            for (size_t i = 0; i < found.gl_pathc && result == 0; i++)
                result = allow(rules, found.gl_pathv[i], rights);
        globfree(&found);
    }
    return result;
}

static int add_rules(int rules, int version, const struct contain_rules *given, const char *program,
                     const char *const *own)
{
    const uint64_t all = handled(version);
    /* The kernel starts the loader as it starts programs, so without EXECUTE nothing starts. */
    const uint64_t run = EXECUTE;

    if (allow_all(rules, libraries, READ | run) != 0) return -1;
    if (given->compiler && allow_all(rules, compilers, READ | run) != 0) return -1;
    if (allow_all(rules, given->read, READ | (given->compiler ? run : 0)) != 0) return -1;
    if (allow(rules, program, READ | run) != 0) return -1;
    if (given->helper != NULL && allow(rules, given->helper, READ | run) != 0) return -1;
    if (allow_all(rules, read_devices, READ_FILE) != 0) return -1;
    if (allow_all(rules, write_devices, READ_FILE | WRITE_FILE | (all & TRUNCATE)) != 0) return -1;
    const uint64_t write = all & ~(uint64_t)(NO_NODES | EXECUTE | IOCTL_DEV);
    if (allow_all(rules, own, write) != 0) return -1;
    if (given->write != NULL && allow(rules, given->write, write) != 0) return -1;
    if (!given->devices) return 0;
    /* libcuda names its threads by writing to /proc, and fails to start if it cannot. */
    if (allow(rules, "/proc", READ | run | WRITE_FILE | (all & TRUNCATE)) != 0) return -1;
    return allow_matching(rules, gpu_devices, READ | WRITE_FILE | (all & (TRUNCATE | IOCTL_DEV)));
}

int landlock_restrict(int version, const struct contain_rules *given, const char *program,
                      const char *const *own)
{
    const struct ruleset handles = {.files = handled(version),
                                    .network = version >= 4 ? TCP : 0,
                                    .scopes = version >= 6 ? SCOPES : 0};
    const size_t size = version >= 6 ? sizeof handles : version >= 4 ? 16 : 8;
    const int rules = (int)syscall(CREATE_RULESET, &handles, size, 0);
    int result = -1;

    if (rules < 0) return -1;
    if (add_rules(rules, version, given, program, own) == 0)
        result = (int)syscall(RESTRICT_SELF, rules, 0);
    const int error = errno;
    close(rules);
    errno = error;
    return result;
}
