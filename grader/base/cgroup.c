#include "grader/base/cgroup.h"
#include "grader/base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define END_TRIES 1000 /* a millisecond each: a killed process needs time to exit */

static int write_to(const char *folder, const char *name, const char *text)
{
    char path[PATH_MAX + 64];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    /* The kernel's files exist already; those of a test do not. */
    const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return -1;
    const ssize_t n = write(file, text, strlen(text));
    const int error = errno;
    close(file);
    errno = error;
    return n == (ssize_t)strlen(text) ? 0 : -1;
}

/* Returns false when the file cannot be read. */
static bool read_from(const char *folder, const char *name, char *text, size_t size)
{
    char path[PATH_MAX + 64];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return files_read_small(path, text, size) >= 0;
}

static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = list; (at = strstr(at, word)) != NULL; at++) {
        const bool begins = at == list || strchr(" \n", at[-1]) != NULL;
        if (begins && strchr(" \n", at[length]) != NULL) return true;
    }
    return false;
}

/* Returns true when `folder` delegates each of the controllers to its children. */
static bool hands_down(const char *folder, const char *controllers)
{
    char enabled[512], word[32];

    if (!read_from(folder, "cgroup.subtree_control", enabled, sizeof enabled)) return false;
    while (*controllers != '\0') {
        const size_t length = strcspn(controllers, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, controllers);
        if (!has_word(enabled, word)) return false;
        controllers += length + (controllers[length] == ' ');
    }
    return true;
}

/* Tests the parent: makes a group there, joins it in a child, and removes it again. */
static bool works_below(const char *parent)
{
    struct cgroup group;
    int status = -1;

    if (cgroup_make(&group, parent, 0, 0) != 0) return false;
    const pid_t child = fork();
    if (child == 0) _exit(cgroup_enter(&group) == 0 ? 0 : 1);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    cgroup_end(&group);
    return child > 0 && status == 0;
}

/* Finds where the hierarchy is mounted, and the group that is its root there (mountinfo's fields 5
 * and 4). */
static bool find_mount(const char *mounts, char point[PATH_MAX], char root[PATH_MAX])
{
    char line[2 * PATH_MAX];
    FILE *file = fopen(mounts, "re");
    bool found = false;

    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        const char *after = strstr(line, " - cgroup2 ");
        found = after != NULL && sscanf(line, "%*s %*s %*s %4095s %4095s", root, point) == 2;
    }
    if (file != NULL) fclose(file);
    return found;
}

bool cgroup_find(const char *mounts, const char *own, const char *controllers,
                 char parent[PATH_MAX])
{
    char point[PATH_MAX], root[PATH_MAX], lines[8192];

    if (!find_mount(mounts, point, root) || files_read_small(own, lines, sizeof lines) < 0)
        return false;
    char *path = strncmp(lines, "0::", 3) == 0 ? lines : strstr(lines, "\n0::");
    if (path == NULL) return false;
    path = strchr(path, '/');
    if (path == NULL) return false;
    path[strcspn(path, "\n")] = '\0';
    if (strcmp(root, "/") != 0 && strncmp(path, root, strlen(root)) == 0) path += strlen(root);
    if (strstr(path, "/..") != NULL) return false;
    snprintf(parent, PATH_MAX, "%.*s%s", PATH_MAX / 2, point, strcmp(path, "/") == 0 ? "" : path);
    const size_t top = strlen(point);
    /* Tries this process's own group first. A group with processes in it may be unable to delegate;
     * then the one above is tried, which a user's session permits to write to. */
    for (int tries = 0; tries < 2; tries++) {
        if (hands_down(parent, controllers) && works_below(parent)) return true;
        char *last = strrchr(parent + top, '/');
        if (last == NULL) return false;
        *last = '\0';
    }
    return false;
}

static int set_number(const char *folder, const char *name, uint64_t value)
{
    char text[32];

    if (value == 0) return 0;
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return write_to(folder, name, text);
}

int cgroup_make(struct cgroup *group, const char *parent, uint64_t bytes, uint64_t tasks)
{
    static unsigned number;
    char path[PATH_MAX + 64];
    int error;

    group->entry = -1;
    snprintf(group->path, sizeof group->path, "%.*s/overlap-%ld-%u", PATH_MAX - 64, parent,
             (long)getpid(), ++number);
    if (mkdir(group->path, 0755) != 0) return -1;
    if (set_number(group->path, "memory.max", bytes) != 0 ||
        set_number(group->path, "pids.max", tasks) != 0)
        goto failed;
    /* Ignores errors: memory.swap.max is missing where there is no swap. memory.oom.group kills all
     * processes of the group or none. */
    if (bytes > 0) {
        (void)write_to(group->path, "memory.swap.max", "0");
        (void)write_to(group->path, "memory.oom.group", "1");
    }
    snprintf(path, sizeof path, "%s/cgroup.procs", group->path);
    group->entry = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (group->entry >= 0) return 0;
failed:
    error = errno;
    rmdir(group->path);
    errno = error;
    return -1;
}

int cgroup_enter(const struct cgroup *group)
{
    return write(group->entry, "0", 1) == 1 ? 0 : -1;
}

bool cgroup_ran_out(const struct cgroup *group)
{
    char events[1024];
    unsigned long long count = 0;

    if (group->entry < 0 || !read_from(group->path, "memory.events", events, sizeof events))
        return false;
    const char *line = strstr(events, "oom_kill ");
    return line != NULL && sscanf(line, "oom_kill %llu", &count) == 1 && count > 0;
}

void cgroup_kill(const struct cgroup *group)
{
    if (group->entry >= 0) (void)write_to(group->path, "cgroup.kill", "1"); /* Linux 5.14 */
}

void cgroup_end(struct cgroup *group)
{
    if (group->entry < 0) return;
    close(group->entry);
    for (int i = 0; i < END_TRIES && rmdir(group->path) != 0 && errno == EBUSY; i++) {
        if (i == 0) cgroup_kill(group);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    group->entry = -1;
}
