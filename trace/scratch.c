#include "trace/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define RANDOM "XXXXXX" /* as mkdtemp wants it */

/* Opens a folder of this user's. Returns -1 where there is none, with errno. */
static int open_own(const char *path)
{
    struct stat status;
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return -1;
    if (fstat(folder, &status) == 0 && status.st_uid == geteuid() && status.st_nlink > 0)
        return folder;
    close(folder);
    errno = ENOENT;
    return -1;
}

/* The lock belongs to the maker and to what it forked, and is gone with the last of them, however
 * that ended. A file system that cannot lock a folder keeps what is left. */
static void remove_left(const char *parent, const char *prefix,
                        void (*remove_folder)(const char *path))
{
    char path[PATH_MAX];
    DIR *folder = opendir(parent);
    struct dirent *item;

    while (folder != NULL && (item = readdir(folder)) != NULL) {
        if (strncmp(item->d_name, prefix, strlen(prefix)) != 0 ||
            strlen(item->d_name) != strlen(prefix) + strlen(RANDOM) ||
            snprintf(path, sizeof path, "%s/%s", parent, item->d_name) >= (int)sizeof path)
            continue;
        const int left = open_own(path);
        if (left < 0) continue;
        if (flock(left, LOCK_EX | LOCK_NB) == 0) remove_folder(path);
        close(left);
    }
    if (folder != NULL) closedir(folder);
}

/* Somebody who removes what is left may come between the making and the lock. Returns 1 then, and 0
 * or -1 with errno as scratch_make. */
static int make_one(struct scratch *scratch)
{
    struct stat status;

    if (mkdtemp(scratch->path) == NULL) return -1;
    scratch->lock = open_own(scratch->path);
    if (scratch->lock < 0) {
        const int error = errno;
        rmdir(scratch->path);
        errno = error;
        return error == ENOENT ? 1 : -1;
    }
    while (flock(scratch->lock, LOCK_EX) != 0 && errno == EINTR) {
    }
    if (fstat(scratch->lock, &status) == 0 && status.st_nlink > 0) return 0;
    close(scratch->lock);
    return 1;
}

int scratch_make(struct scratch *scratch, const char *parent, const char *tool,
                 void (*remove_folder)(const char *path))
{
    char prefix[32];
    int made = 1;

    snprintf(prefix, sizeof prefix, "overlap-%s.", tool);
    remove_left(parent, prefix, remove_folder);
    for (int attempt = 0; made > 0 && attempt < 100; attempt++) {
        if (snprintf(scratch->path, sizeof scratch->path, "%s/%s" RANDOM, parent, prefix) >=
            (int)sizeof scratch->path) {
            errno = ENAMETOOLONG;
            made = -1;
        } else {
            made = make_one(scratch);
        }
    }
    if (made == 0) return 0;
    scratch->path[0] = '\0';
    scratch->lock = -1;
    return -1;
}

void scratch_remove(struct scratch *scratch, void (*remove_folder)(const char *path))
{
    if (scratch->path[0] == '\0') return;
    remove_folder(scratch->path);
    scratch->path[0] = '\0';
    if (scratch->lock >= 0) close(scratch->lock);
    scratch->lock = -1;
}
