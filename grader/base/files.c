#include "grader/base/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define FULL_BYTES ((uint64_t)256 << 10) /* a disk with less free space is full */

int files_make_folders(const char *path)
{
    char part[PATH_MAX];

    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part) {
        errno = ENAMETOOLONG;
        return -1;
    }
    for (char *slash = part + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        if (mkdir(part, 0755) != 0 && errno != EEXIST) return -1;
        *slash = '/';
    }
    return mkdir(part, 0755) == 0 || errno == EEXIST ? 0 : -1;
}

/* Each step uses one name relative to an open folder, so neither depth nor a link swapped in
 * matters; folders without permission bits are opened up first. Deep trees are flattened: a folder
 * within a folder is moved up and emptied in its turn, so that few descriptors are open at a
 * time. */
static void empty_folder(int root)
{
    char moved[64];
    unsigned long number = 0;
    bool again = true;

    while (again) {
        again = false;
        int copy = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *folder = copy >= 0 ? fdopendir(copy) : NULL;
        struct dirent *item;
        while (folder != NULL && (item = readdir(folder)) != NULL) {
            const char *name = item->d_name;
            if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
            if (unlinkat(root, name, 0) == 0 || unlinkat(root, name, AT_REMOVEDIR) == 0) continue;
            fchmodat(root, name, 0700, 0);
            int inner = openat(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (inner < 0) continue;
            int inner_copy = dup(inner);
            DIR *inside = inner_copy >= 0 ? fdopendir(inner_copy) : NULL;
            struct dirent *one;
            while (inside != NULL && (one = readdir(inside)) != NULL) {
                if (strcmp(one->d_name, ".") == 0 || strcmp(one->d_name, "..") == 0) continue;
                if (unlinkat(inner, one->d_name, 0) == 0) continue;
                if (unlinkat(inner, one->d_name, AT_REMOVEDIR) == 0) continue;
                do snprintf(moved, sizeof moved, ".removed-%lu", number++);
                while (faccessat(root, moved, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
                fchmodat(inner, one->d_name, 0700, 0); /* moving it writes its ".." */
                again = renameat(inner, one->d_name, root, moved) == 0 || again;
            }
            if (inside != NULL) closedir(inside);
            close(inner);
            again = unlinkat(root, name, AT_REMOVEDIR) == 0 || again;
        }
        if (folder != NULL)
            closedir(folder);
        else if (copy >= 0)
            close(copy);
    }
}

void files_remove(const char *path)
{
    if (unlink(path) == 0) return;
    chmod(path, 0700);
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0) {
        empty_folder(folder);
        close(folder);
    }
    rmdir(path);
}

bool files_disk_is_full(const char *path)
{
    struct statvfs space;

    if (statvfs(path, &space) != 0) return false;
    return (uint64_t)space.f_bavail * space.f_frsize < FULL_BYTES ||
           (space.f_files > 0 && space.f_favail == 0);
}

int files_read(const char *path, size_t limit, struct text *text)
{
    return files_read_at(AT_FDCWD, path, limit, text);
}

int files_read_at(int folder, const char *name, size_t limit, struct text *text)
{
    struct stat status;
    char buffer[1 << 14];
    size_t total = 0;
    ssize_t n;

    /* O_NONBLOCK: a pipe must not block the open; anything but a regular file is rejected below. */
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (file < 0 && errno == ENXIO) errno = EINVAL; /* a socket */
    if (file < 0) return -1;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(file);
        errno = EINVAL;
        return -1;
    }
    while ((n = read(file, buffer, sizeof buffer)) > 0 && total + (size_t)n <= limit) {
        text_add_bytes(text, buffer, (size_t)n);
        total += (size_t)n;
    }
    close(file);
    if (n > 0) errno = EFBIG;
    if (text->failed) errno = ENOMEM;
    return n == 0 && !text->failed ? 0 : -1;
}

ssize_t files_read_small(const char *path, char *buffer, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t n = read(file, buffer, size - 1);
    close(file);
    if (n < 0) return -1;
    buffer[n] = '\0';
    return n;
}

static int write_all(int file, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(file, bytes, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        bytes += n;
        size -= (size_t)n;
    }
    return 0;
}

int files_write(const char *path, const char *bytes, size_t size)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0) return -1;
    if (write_all(file, bytes, size) != 0) {
        close(file);
        return -1;
    }
    return close(file);
}

static int write_in_place(const char *path, const char *bytes, size_t size)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return -1;
    int result = write_all(file, bytes, size);
    return close(file) == 0 ? result : -1;
}

static void make_folder_of(const char *path)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash == NULL || slash == folder) return;
    *slash = '\0';
    files_make_folders(folder);
}

int files_replace(const char *path, const char *bytes, size_t size)
{
    char beside[PATH_MAX];
    struct stat status;

    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        return write_in_place(path, bytes, size);
    if (snprintf(beside, sizeof beside, "%s.XXXXXX", path) >= (int)sizeof beside) {
        errno = ENAMETOOLONG;
        return -1;
    }
    make_folder_of(path);
    int file = mkostemp(beside, O_CLOEXEC);
    if (file < 0) return -1;
    /* mkstemp gives permissions to the owner only. */
    mode_t mask = umask(0);
    umask(mask);
    int failed =
        write_all(file, bytes, size) != 0 || fchmod(file, 0666 & ~mask) != 0 || fsync(file) != 0;
    int error = errno;
    if (close(file) != 0 && !failed) failed = 1, error = errno;
    if (!failed && rename(beside, path) == 0) return 0;
    if (!failed) error = errno;
    unlink(beside);
    errno = error;
    return -1;
}
