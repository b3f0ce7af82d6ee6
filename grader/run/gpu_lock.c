#include "grader/run/gpu_lock.h"
#include "grader/base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

int gpu_lock_take(const struct toolchain *toolchain, enum gpu_lock_kind kind,
                  struct trouble *trouble)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", toolchain->cache,
             kind == GPU_LOCK_LARGE ? ".gpu.large.lock" : ".gpu.lock");
    const int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    while (lock >= 0 && flock(lock, kind == GPU_LOCK_SHARED ? LOCK_SH : LOCK_EX) != 0) {
        if (errno == EINTR && process_interrupted() == 0) continue;
        trouble_set_error(trouble, errno,
                          process_interrupted() != 0 ? TROUBLE_INTERRUPTED : TROUBLE_FOLDER,
                          "%.200s", path);
        close(lock);
        return -1;
    }
    if (lock < 0) trouble_set_error(trouble, errno, TROUBLE_FOLDER, "%.200s", path);
    return lock;
}

void gpu_lock_release(int lock)
{
    if (lock < 0) return;
    /* Unlocks explicitly, because a process forked meanwhile has the file open as well. */
    flock(lock, LOCK_UN);
    close(lock);
}
