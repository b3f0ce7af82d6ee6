#include "grader/base/descendants.h"
#include "grader/base/files.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_PROCESSES 8192

/* The result of the latest descendants_usage. */
static pid_t found[MOST_PROCESSES];

struct entry {
    pid_t pid, parent;
    char state;
    uint64_t threads;
    bool below;
};

/* Source: proc(5), /proc/pid/stat: fields 3 (state), 4 (ppid) and 20 (num_threads) follow the name,
 * which is in parentheses and may itself contain some. */
static bool read_entry(pid_t pid, struct entry *entry)
{
    char path[64], text[1024];
    int parent;
    unsigned long long threads;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (files_read_small(path, text, sizeof text) <= 0) return false;
    const char *after = strrchr(text, ')');
    if (after == NULL ||
        sscanf(after + 1, " %c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
               &entry->state, &parent, &threads) != 3)
        return false;
    entry->pid = pid;
    entry->parent = parent;
    entry->threads = threads;
    entry->below = false;
    return true;
}

/* Reads all processes of the system. The caller frees the list. */
static struct entry *read_all(size_t *count)
{
    struct entry *entries = malloc(MOST_PROCESSES * sizeof *entries);
    DIR *proc = opendir("/proc");
    struct dirent *item;

    *count = 0;
    while (entries != NULL && proc != NULL && *count < MOST_PROCESSES &&
           (item = readdir(proc)) != NULL) {
        if (!isdigit((unsigned char)item->d_name[0])) continue;
        if (read_entry((pid_t)atoi(item->d_name), &entries[*count])) ++*count;
    }
    if (proc != NULL) closedir(proc);
    return entries;
}

/* Marks the processes below `root`. The list is unordered, so passes are repeated until nothing
 * changes. */
static void mark_below(struct entry *entries, size_t count, pid_t root)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (size_t i = 0; i < count; i++) {
            if (entries[i].below) continue;
            bool below = entries[i].parent == root;
            for (size_t j = 0; j < count && !below; j++)
                below = entries[j].below && entries[j].pid == entries[i].parent;
            if (below) entries[i].below = changed = true;
        }
    }
}

/* A process whose first thread has ended looks like a zombie, but is alive while it has other
 * threads. */
static bool is_alive(const struct entry *entry)
{
    return (entry->state != 'Z' && entry->state != 'X') || entry->threads > 1;
}

unsigned descendants_kill(pid_t root)
{
    size_t count;
    unsigned alive = 0;
    struct entry *entries = read_all(&count);

    mark_below(entries, count, root);
    for (size_t i = 0; i < count; i++) {
        if (!entries[i].below || !is_alive(&entries[i])) continue;
        kill(entries[i].pid, SIGKILL);
        alive++;
    }
    free(entries);
    return alive;
}

size_t descendants_ancestors(pid_t pid, pid_t *found, size_t most)
{
    struct entry entry;
    size_t count = 0;

    while (count < most && read_entry(pid, &entry) && entry.parent > 0)
        found[count++] = pid = entry.parent;
    return count;
}

uint64_t descendants_tasks(void)
{
    char text[256];
    unsigned long long tasks = 0;

    /* Source: proc(5), the fourth field is "running/all". */
    if (files_read_small("/proc/loadavg", text, sizeof text) <= 0 ||
        sscanf(text, "%*s %*s %*s %*u/%llu", &tasks) != 1)
        return 0;
    return tasks;
}

uint64_t descendants_user_tasks(void)
{
    size_t count;
    uint64_t tasks = 0;
    struct entry *entries = read_all(&count);

    for (size_t i = 0; i < count; i++) {
        char path[64];
        struct stat status;
        snprintf(path, sizeof path, "/proc/%d", (int)entries[i].pid);
        if (stat(path, &status) == 0 && status.st_uid == getuid()) tasks += entries[i].threads;
    }
    free(entries);
    return tasks;
}

/* ---- usage ----------------------------------------------------------------------------------
 *
 * Called every few milliseconds. The first process of a namespace has all others of it below
 * itself, and one pass over /proc finds them. Elsewhere the search follows
 * /proc/PID/task/TID/children from the root instead of reading all of /proc. That list may miss a
 * child that is just being forked or adopted (proc(5)); the next call finds it. */

/* Returns the value of a line of /proc/PID/status (proc(5)) in bytes; the file has KiB. 0: there is
 * no such line. */
static uint64_t line_of(const char *text, const char *name)
{
    unsigned long long kib = 0;
    const char *line = strstr(text, name);

    if (line == NULL || sscanf(line + strlen(name), "%llu", &kib) != 1) return 0;
    return kib * 1024;
}

/* Returns true when the first thread has ended and others go on; only those show the process's
 * memory. For a process that is about to end the threads are not searched, because reading /proc of
 * ending threads costs the kernel milliseconds. */
static bool goes_on_in_others(pid_t pid)
{
    struct entry entry;

    return read_entry(pid, &entry) && entry.state == 'Z' && entry.threads > 1;
}

/* Reads the file `name` ("status") of the process. Returns the text's length, or -1. */
static ssize_t read_of_memory(pid_t pid, const char *name, const char *sign, char *text,
                              size_t size)
{
    char path[64];
    struct dirent *item;

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    ssize_t n = files_read_small(path, text, size);
    if (n > 0 && strstr(text, sign) != NULL) return n;
    if (!goes_on_in_others(pid)) return -1;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    n = -1;
    while (tasks != NULL && n < 0 && (item = readdir(tasks)) != NULL) {
        if (!isdigit((unsigned char)item->d_name[0])) continue;
        snprintf(path, sizeof path, "/proc/%d/task/%d/%s", (int)pid, atoi(item->d_name), name);
        if (files_read_small(path, text, size) <= 0 || strstr(text, sign) == NULL) continue;
        n = (ssize_t)strlen(text);
    }
    if (tasks != NULL) closedir(tasks);
    return n;
}

static void add_process(struct descendants_usage *usage, const struct entry *entry)
{
    char text[4096];

    if (!is_alive(entry) || usage->processes == MOST_PROCESSES) return;
    found[usage->processes++] = entry->pid;
    if (read_of_memory(entry->pid, "status", "\nVmRSS:", text, sizeof text) <= 0) return;
    usage->bytes += line_of(text, "\nVmRSS:") + line_of(text, "\nVmPTE:");
    usage->shared += line_of(text, "\nRssShmem:");
}

/* The same, with each page divided by the number of processes that map it (smaps_rollup). */
static uint64_t proportional_bytes(pid_t pid)
{
    char text[4096];
    uint64_t tables = 0;

    if (read_of_memory(pid, "status", "\nVmRSS:", text, sizeof text) <= 0) return 0;
    tables = line_of(text, "\nVmPTE:");
    const uint64_t resident = line_of(text, "\nVmRSS:");
    if (read_of_memory(pid, "smaps_rollup", "\nPss:", text, sizeof text) <= 0)
        return tables + resident;
    return tables + line_of(text, "\nPss:");
}

static void walk(pid_t pid, struct descendants_usage *usage, unsigned depth)
{
    char path[64], text[4096];
    struct dirent *item;

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    while (tasks != NULL && (item = readdir(tasks)) != NULL) {
        if (!isdigit((unsigned char)item->d_name[0])) continue;
        snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, atoi(item->d_name));
        if (files_read_small(path, text, sizeof text) <= 0) continue;
        for (char *at = text, *next; usage->processes < MOST_PROCESSES; at = next) {
            pid_t child = (pid_t)strtol(at, &next, 10);
            if (next == at) break;
            struct entry entry;
            if (!read_entry(child, &entry)) continue;
            add_process(usage, &entry);
            if (depth < 64) walk(child, usage, depth + 1);
        }
    }
    if (tasks != NULL) closedir(tasks);
}

/* Finds all processes below by reading all of /proc: for the first process of a namespace, and for
 * a kernel without CONFIG_PROC_CHILDREN. */
static void look_everywhere(pid_t root, struct descendants_usage *usage)
{
    size_t count;
    struct entry *entries = read_all(&count);

    if (root == 1)
        for (size_t i = 0; i < count; i++) entries[i].below = entries[i].pid != root;
    else
        mark_below(entries, count, root);
    for (size_t i = 0; i < count; i++)
        if (entries[i].below) add_process(usage, &entries[i]);
    free(entries);
}

static bool have_children_lists(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)getpid(), (int)getpid());
    return access(path, R_OK) == 0;
}

struct descendants_usage descendants_usage(pid_t root, uint64_t precise_above)
{
    struct descendants_usage usage = {.pids = found};

    if (root != 1 && have_children_lists())
        walk(root, &usage, 0);
    else
        look_everywhere(root, &usage);
    if (precise_above > 0 && usage.bytes > precise_above) {
        usage.bytes = 0;
        for (unsigned i = 0; i < usage.processes; i++) usage.bytes += proportional_bytes(found[i]);
    }
    return usage;
}

/* ---- work -----------------------------------------------------------------------------------
 */

/* Returns true for a thread in vfork, which waits for a child to end or to start a program. The
 * kernel shows it in state D, and yet nothing has to come from the machine: a child that sleeps
 * lets it wait for ever. The first word of the file is the number of the call. */
static bool waits_in_vfork(pid_t pid, pid_t thread)
{
    char path[64], text[256], *end;

    snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", (int)pid, (int)thread);
    if (files_read_small(path, text, sizeof text) <= 0) return false;
    const long call = strtol(text, &end, 10);
    if (end == text) return false; /* "running" */
#ifdef SYS_vfork
    if (call == SYS_vfork) return true;
#endif
    return call == SYS_clone || call == SYS_clone3;
}

/* Returns true for a thread that runs, is ready to run, or waits for a disk. */
static bool is_eager(pid_t pid, pid_t thread, char state)
{
    return state == 'R' || (state == 'D' && !waits_in_vfork(pid, thread));
}

/* Counts the threads of the process that are eager. */
static unsigned eager_tasks(pid_t pid)
{
    char path[64], text[1024];
    struct dirent *item;
    unsigned eager = 0;

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    while (tasks != NULL && (item = readdir(tasks)) != NULL) {
        if (!isdigit((unsigned char)item->d_name[0])) continue;
        snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, atoi(item->d_name));
        if (files_read_small(path, text, sizeof text) <= 0) continue;
        const char *after = strrchr(text, ')');
        eager += after != NULL && is_eager(pid, (pid_t)atoi(item->d_name), after[2]);
    }
    if (tasks != NULL) closedir(tasks);
    return eager;
}

/* Source: proc(5), stat: fields 14 to 17 are the processor time of its threads and of the children
 * that it waited for, ended ones included; field 20 is the number of threads. */
static void add_work(pid_t pid, struct descendants_work *work)
{
    char path[64], text[1024], state;
    unsigned long long own[2], threads;
    long long waited[2];

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (files_read_small(path, text, sizeof text) <= 0) return;
    const char *after = strrchr(text, ')');
    if (after == NULL ||
        sscanf(after + 1,
               " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu %lld %lld %*s %*s %llu",
               &state, &own[0], &own[1], &waited[0], &waited[1], &threads) != 6)
        return;
    work->seconds += (double)(own[0] + own[1] + (unsigned long long)(waited[0] + waited[1])) /
                     (double)sysconf(_SC_CLK_TCK);
    work->eager += threads > 1 ? eager_tasks(pid) : is_eager(pid, pid, state);
}

struct descendants_work descendants_work(const struct descendants_usage *usage)
{
    struct descendants_work work = {0, 0};
    struct rusage ended;

    for (unsigned i = 0; i < usage->processes; i++) add_work(usage->pids[i], &work);
    if (getrusage(RUSAGE_CHILDREN, &ended) == 0)
        work.seconds += (double)(ended.ru_utime.tv_sec + ended.ru_stime.tv_sec) +
                        (double)(ended.ru_utime.tv_usec + ended.ru_stime.tv_usec) * 1e-6;
    return work;
}
