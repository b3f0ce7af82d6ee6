#include "grader/base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    remove(path);
    return 0;
}

void files_remove(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

int files_read(const char *path, size_t limit, struct text *text)
{
    struct stat status;
    char buffer[1 << 14];
    size_t total = 0;
    ssize_t n;

    /* O_NONBLOCK: a pipe must not hold up the open; what is not a file is refused below. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
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

int files_write(const char *path, const char *bytes, size_t size)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0) return -1;
    while (size > 0) {
        ssize_t n = write(file, bytes, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            close(file);
            return -1;
        }
        bytes += n;
        size -= (size_t)n;
    }
    return close(file);
}
