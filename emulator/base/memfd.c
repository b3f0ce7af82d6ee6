#include "emulator/base/memfd.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int memfd_open(int process, int file, const char *name)
{
    char path[64], target[128], expected[128];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", process, file);
    const ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0) return -1;
    target[length] = '\0';
    snprintf(expected, sizeof expected, "/memfd:%s (deleted)", name);
    return strcmp(target, expected) == 0 ? open(path, O_RDWR | O_CLOEXEC) : -1;
}
