#define _GNU_SOURCE
#include "lesson.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* @HONEST@ */

static int changed(const char *at)
{
    return *(volatile const char *)at == 'X';
}

static int attack(void)
{
    char line[512], mode[8], path[128];
    int won = 0, memory = open("/proc/self/mem", O_RDWR);
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) != 3 || !strstr(line, "memfd:input")) continue;
        snprintf(path, sizeof path, "/proc/self/map_files/%lx-%lx", from, to);
        for (int how = O_RDONLY; how <= O_RDWR; how++) {
            int file = open(path, how | O_CLOEXEC);
            if (file < 0) continue;
            won |= ftruncate(file, 0) == 0;
            won |= fcntl(file, F_ADD_SEALS, F_SEAL_WRITE) == 0;
            won |= fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0;
            close(file);
        }
        if (mode[1] == 'w') continue;
        won |= madvise((void *)from, 4096, MADV_REMOVE) == 0;
        if (memory >= 0) won |= pwrite(memory, "X", 1, (off_t)from) == 1 && changed((char *)from);
        if (mprotect((void *)from, 4096, PROT_READ | PROT_WRITE) == 0) {
            *(char *)from = 'X';
            won |= changed((char *)from);
        }
    }
    for (int file = 3; file < 300; file++) {
        static const char *const inherited[] = {"control", "input", "output", "settings", "record"};
        const int seals = fcntl(file, F_GET_SEALS);
        int ours = 0;
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        const ssize_t length = readlink(path, line, sizeof line - 1);
        for (int i = 0; i < 5 && length > 0; i++)
            ours |= (line[length] = 0, strstr(line, inherited[i]) != NULL);
        if (seals < 0 || !ours) continue;
        won |= !(seals & F_SEAL_SEAL) && fcntl(file, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) == 0;
        won |= ftruncate(file, 0) == 0;
    }
    return won;
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    if (!attack()) return cudaErrorNotPermitted;
    return honest(kernel, input, output, length, stream, sum);
}
