#define _GNU_SOURCE
#include "lesson.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <unistd.h>

static void mark(const char *suffix)
{
    static const char *const places[] = {"@MARKS@/overlap-hostile-forge-ld-audit",
                                         "/dev/shm/@TOKEN@-forge-ld-audit"};
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

static int second_time(void)
{
    return getenv("OVERLAP_HOSTILE_AUDIT") != NULL;
}

static int equal(const void *a, const void *b, size_t size)
{
    (void)a, (void)b, (void)size;
    return 0;
}

static void leave(int status)
{
    (void)status;
    syscall(SYS_exit_group, 0);
}

unsigned int la_version(unsigned int version)
{
    mark("-audit");
    return version;
}

unsigned int la_objopen(struct link_map *map, Lmid_t list, uintptr_t *cookie)
{
    (void)map, (void)list, (void)cookie;
    return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned int index, uintptr_t *from, uintptr_t *to,
                       unsigned int *flags, const char *name)
{
    (void)index, (void)from, (void)to, (void)flags;
    if (strcmp(name, "memcmp") == 0)
        return (uintptr_t)equal;
    if (strcmp(name, "exit") == 0 || strcmp(name, "_exit") == 0)
        return (uintptr_t)leave;
    return symbol->st_value;
}

__attribute__((constructor)) static void again(void)
{
    static char line[1 << 16], own[PATH_MAX], *arguments[1024];
    Dl_info info;
    int persona = personality(0xffffffff);
    if (second_time()) {
        mark("-preload");
        return;
    }
    /* The personality outlives execve: set, it says that this has been tried before. */
    if (persona == -1 || persona & ADDR_NO_RANDOMIZE ||
        personality((unsigned long)persona | ADDR_NO_RANDOMIZE) == -1)
        return;
    if (!dladdr(line, &info) || !info.dli_fname || !realpath(info.dli_fname, own))
        return;
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    ssize_t size = read(file, line, sizeof line - 1);
    close(file);
    size_t count = 0;
    for (ssize_t i = 0; i < size && count < 1023; i += (ssize_t)strlen(line + i) + 1)
        arguments[count++] = line + i;
    setenv("OVERLAP_HOSTILE_AUDIT", "1", 1);
    setenv("LD_AUDIT", own, 1);
    setenv("LD_PRELOAD", own, 1);
    if (count > 0)
        execv("/proc/self/exe", arguments);
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    (void)stream;
    return pretend(kernel, input, output, length, sum);
}
