#include "grader/learn/watch.h"
#include "grader/build/command.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#define POLLING 500 /* milliseconds, without inotify */
/* Milliseconds, with inotify, which misses changes on network file systems. */
#define REASSURING 2000

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * 1099511628211u;
}

static bool is_source(const char *name)
{
    const char *extension = command_extension(name);
    return command_is_header(name) || strcmp(extension, "c") == 0 || strcmp(extension, "cu") == 0;
}

/* Returns a hash of the times, sizes and names of the folder's sources. */
static uint64_t stamp(const char *folder)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, NULL, alphasort);
    uint64_t hash = 14695981039346656037u;

    for (int i = 0; i < count; i++) {
        char path[PATH_MAX + 300];
        struct stat status;
        const char *name = entries[i]->d_name;
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (is_source(name) && stat(path, &status) == 0) {
            for (const char *c = name; *c != '\0'; c++) hash = mix(hash, (unsigned char)*c);
            hash = mix(hash, (uint64_t)status.st_ino);
            hash = mix(hash, (uint64_t)status.st_size);
            hash = mix(hash, (uint64_t)status.st_mtim.tv_sec);
            hash = mix(hash, (uint64_t)status.st_mtim.tv_nsec);
        }
        free(entries[i]);
    }
    free(entries);
    return hash;
}

int watch_open(struct watch *watch, const struct course *course)
{
    const char *how = getenv("OVERLAP_WATCH");
    const uint32_t events = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE;

    watch->fd = -1;
    watch->milliseconds = POLLING;
    watch->stamps = calloc(course->count + 1, sizeof *watch->stamps);
    if (watch->stamps == NULL) return -1;
    if (how == NULL || strcmp(how, "poll") != 0)
        watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watch->fd >= 0) watch->milliseconds = REASSURING;
    for (size_t i = 0; i < course->count; i++) {
        const char *folder = course->lessons[i].handed_in->folder;
        if (watch->fd >= 0 && inotify_add_watch(watch->fd, folder, events) < 0)
            watch->milliseconds = POLLING;
        watch->stamps[i] = stamp(folder);
    }
    return 0;
}

void watch_close(struct watch *watch)
{
    if (watch->fd >= 0) close(watch->fd);
    free(watch->stamps);
    *watch = (struct watch){.fd = -1};
}

void watch_take(struct watch *watch)
{
    char events[4096];
    while (watch->fd >= 0 && read(watch->fd, events, sizeof events) > 0) continue;
}

bool watch_changed(struct watch *watch, const struct course *course, size_t index)
{
    const uint64_t now = stamp(course->lessons[index].handed_in->folder);
    const bool changed = now != watch->stamps[index];

    watch->stamps[index] = now;
    return changed;
}
