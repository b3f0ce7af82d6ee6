#define _GNU_SOURCE
#include "lesson.h"
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static void mark(const char *suffix)
{
    static const char *const places[] = {"@MARKS@/overlap-hostile-leak-parent-secrets",
                                         "/dev/shm/@TOKEN@-leak-parent-secrets"};
    for (size_t i = 0; i < 2; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s%s", places[i], suffix);
        int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        if (file >= 0)
            close(file);
    }
}

/* The lesson's task, done as it should be. */
static cudaError_t honest(device_sync_kernel kernel, const float *input, float *output,
                          size_t length, cudaStream_t stream, double *sum)
{
    float *device = NULL;
    *sum = 0.0;
    if (length == 0)
        return cudaSuccess;
    if (length > (size_t)-1 / sizeof *device)
        return cudaErrorMemoryAllocation;
    size_t bytes = length * sizeof *device;
    cudaError_t error = cudaMalloc((void **)&device, bytes);
    if (error != cudaSuccess)
        return error;
    error = cudaMemcpyAsync(device, input, bytes, cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess)
        error = kernel(device, length, stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(output, device, bytes, cudaMemcpyDeviceToHost, stream);
    cudaError_t late = cudaStreamSynchronize(stream);
    if (error == cudaSuccess)
        error = late;
    if (error == cudaSuccess)
        for (size_t i = 0; i < length; i++)
            *sum += (double)output[i];
    late = cudaFree(device);
    return error != cudaSuccess ? error : late;
}

extern char **environ;

static int won;

static void got(const char *what)
{
    printf("OVERLAP-HOSTILE-LEAK leak-parent-secrets: %s\n", what);
    fflush(stdout);
    mark(what);
    won = 1;
}

static void parents(pid_t parent)
{
    static const char *const files[] = {"environ", "auxv"};
    char name[64], line[512], bytes[64];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(name, sizeof name, "/proc/%d/%s", (int)parent, files[i]);
        int file = open(name, O_RDONLY | O_CLOEXEC);
        if (file >= 0 && read(file, bytes, sizeof bytes) > 0)
            got(i == 0 ? "-environ" : "-auxv");
        if (file >= 0)
            close(file);
    }
    snprintf(name, sizeof name, "/proc/%d/cwd/.", (int)parent);
    DIR *folder = opendir(name);
    if (folder) {
        got("-cwd");
        closedir(folder);
    }
    snprintf(name, sizeof name, "/proc/%d/mem", (int)parent);
    int memory = open(name, O_RDONLY | O_CLOEXEC);
    snprintf(name, sizeof name, "/proc/%d/maps", (int)parent);
    FILE *maps = fopen(name, "r");
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx", &from, &to) != 2 ||
            !(strstr(line, "[heap]") || strstr(line, "[stack]")))
            continue;
        unsigned long last = to - sizeof bytes;
        struct iovec here = {bytes, sizeof bytes}, there = {(void *)last, sizeof bytes};
        if (process_vm_readv(parent, &here, 1, &there, 1, 0) > 0)
            got("-vm");
        if (memory >= 0 && pread(memory, bytes, sizeof bytes, (off_t)last) > 0)
            got("-mem");
    }
    if (maps)
        fclose(maps);
    if (memory >= 0)
        close(memory);
}

static int attack(void)
{
    pid_t parent = getppid();
    if (parent > 1)
        parents(parent);
    for (char **entry = environ; entry && *entry; entry++) {
        char name[64];
        size_t i = 0;
        for (; i + 1 < sizeof name && (*entry)[i] && (*entry)[i] != '='; i++)
            name[i] = (char)tolower((unsigned char)(*entry)[i]);
        name[i] = 0;
        if (strstr(name, "seed") || strstr(name, "secret") || strstr(name, "nonce"))
            got("-own");
    }
    return won;
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    static int done, won;
    if (!done) {
        done = 1;
        won = attack();
    }
    if (!won)
        return cudaErrorNotPermitted; /* contained: the lesson is visibly not done */
    return honest(kernel, input, output, length, stream, sum);
}
