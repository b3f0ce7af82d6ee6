#include "grader/base/contain.h"
#include "grader/base/cgroup.h"
#include "grader/base/confine.h"
#include "grader/base/descendants.h"
#include "grader/base/files.h"
#include "grader/base/landlock.h"
#include "grader/base/messages.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAMESPACES (CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNS)
#define SEGMENT_PAGES "16384" /* of all System V segments of a program together: 64 MiB */
#define NOBODY 65534          /* a user that owns nothing; mapped in most containers */

static struct {
    bool found;
    bool off;       /* containment is switched off */
    int namespaces; /* the clone flags that work; 0: none */
    int landlock;   /* ABI version; 0: none */
    bool filter;
    bool nobody; /* root can become NOBODY */
    bool group;
    char groups[PATH_MAX]; /* where control groups can be made */
    char missing[160];
    int error; /* errno when no process could be had for the tests */
} machine;

/* ---- namespaces ------------------------------------------------------------------------------ */

/* glibc's fork takes no flags. As after a raw clone, the child may call only what is safe after a
 * fork of a single thread. */
static pid_t fork_into(int flags)
{
    return (pid_t)syscall(SYS_clone, (unsigned long)flags | SIGCHLD, 0, 0, 0, 0);
}

static int write_small(const char *path, const char *text)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t n = write(file, text, strlen(text));
    close(file);
    return n == (ssize_t)strlen(text) ? 0 : -1;
}

/* Maps the user to itself in a new user namespace. */
static int map_user(uid_t user, gid_t group)
{
    char text[64];

    prctl(PR_SET_DUMPABLE, 1); /* otherwise /proc/self belongs to root */
    snprintf(text, sizeof text, "%u %u 1", user, user);
    if (write_small("/proc/self/setgroups", "deny") != 0 ||
        write_small("/proc/self/uid_map", text) != 0)
        return -1;
    snprintf(text, sizeof text, "%u %u 1", group, group);
    return write_small("/proc/self/gid_map", text);
}

static uid_t user_outside;
static gid_t group_outside;

/* The supervisor is a fork of the grader and shows the grader's command line; hidepid hides it from
 * processes that cannot trace the supervisor. "ptraceable" needs Linux 5.8; older kernels know the
 * number. */
static int mount_proc(void)
{
    static const char *const hidden[] = {"hidepid=ptraceable", "hidepid=2", NULL};
    const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    size_t i = 0;

    while (mount("proc", "/proc", "proc", flags, hidden[i]) != 0)
        if (hidden[i++] == NULL) return -1;
    return 0;
}

static int enter_namespaces(void)
{
    if ((machine.namespaces & CLONE_NEWUSER) && map_user(user_outside, group_outside) != 0)
        return -1;
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return -1;
    if (mount_proc() != 0) return -1;
    /* Limits segments, because those that no process has attached are counted for none. */
    return write_small("/proc/sys/kernel/shmall", SEGMENT_PAGES);
}

/* World-writable folders, of which a program with a folder of its own gets private ones. */
static const char *const shared[] = {"/tmp", "/dev/shm"};
#define SHARED (sizeof shared / sizeof shared[0])
static const char *own[SHARED + 1]; /* the private ones that were mounted */

static int mount_own(const struct contain_rules *rules, const char *folder)
{
    char options[128];
    const uid_t owner = machine.nobody ? NOBODY : getuid();

    snprintf(options, sizeof options, "size=%llu,nr_inodes=%llu,mode=01777,uid=%u",
             (unsigned long long)rules->write_bytes, (unsigned long long)rules->write_files, owner);
    return mount("scratch", folder, "tmpfs", MS_NOSUID | MS_NODEV, options);
}

static bool is_below(const char *path, const char *folder)
{
    const size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && path[length] == '/';
}

/* Returns true when the program itself, or a path that it reads, lies in the folder. */
static bool is_needed(const struct contain_rules *rules, const char *program, const char *folder)
{
    bool needed = is_below(program, folder);
    for (const char *const *path = rules->read; path != NULL && *path != NULL; path++)
        needed = needed || is_below(*path, folder);
    return needed;
}

static int cover_folder(const struct contain_rules *rules, const char *program)
{
    size_t count = 0;

    for (size_t i = 0; i < SHARED; i++) {
        if (is_needed(rules, program, shared[i]) || mount_own(rules, shared[i]) != 0) continue;
        own[count++] = shared[i];
        /* The new mount hides the program's folder, so it is made again. */
        if (is_below(rules->write, shared[i]) && files_make_folders(rules->write) != 0) return -1;
    }
    return mount_own(rules, rules->write);
}

/* Keeps errors about lacking resources only. A namespace that is not permitted fails with EPERM,
 * EINVAL, EUSERS or ENOSPC. */
static void note_error(void)
{
    if (errno == EAGAIN || errno == ENOMEM) machine.error = errno;
}

/* Tries all steps in a child, because a system may permit the namespaces but not the mounts. */
static bool namespaces_work(int flags)
{
    int status = -1;

    machine.namespaces = flags;
    const pid_t child = fork_into(flags);
    if (child < 0) note_error();
    if (child == 0) {
        const struct contain_rules rules = {
            .write = "/tmp", .write_bytes = 1 << 16, .write_files = 16};
        _exit(enter_namespaces() == 0 && mount_own(&rules, rules.write) == 0 ? 0 : 1);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    machine.namespaces = child > 0 && status == 0 ? flags : 0;
    return machine.namespaces != 0;
}

/* ---- tests of the machine -------------------------------------------------------------------- */

/* Runs `try` in a child and returns its result. */
static bool works(bool (*try)(void))
{
    int status = -1;
    const pid_t child = fork();

    if (child < 0) note_error();
    if (child == 0) _exit(try() ? 0 : 1);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return child > 0 && status == 0;
}

static bool filter_works(void)
{
    return confine_install(NULL, 0, NULL, 0) == 0;
}

static bool nobody_works(void)
{
    return setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
           setresuid(NOBODY, NOBODY, NOBODY) == 0;
}

static void add_missing(const char *what)
{
    const size_t size = strlen(machine.missing);
    snprintf(machine.missing + size, sizeof machine.missing - size, "%s%s", size > 0 ? ", " : "",
             what);
}

/* Tests once what the machine offers, and makes the calling process one that no other can read or
 * trace.
 */
static void find_machine(void)
{
    if (machine.found) return;
    machine.found = true;
    user_outside = geteuid();
    group_outside = getegid();
    if (!namespaces_work(NAMESPACES)) namespaces_work(NAMESPACES | CLONE_NEWUSER);
    machine.landlock = landlock_version();
    machine.filter = works(filter_works);
    machine.nobody = geteuid() == 0 && works(nobody_works);
    machine.group =
        cgroup_find("/proc/self/mountinfo", "/proc/self/cgroup", "memory pids", machine.groups);
    if (machine.namespaces == 0) add_missing(_("namespaces"));
    if (machine.landlock == 0)
        add_missing("Landlock");
    else if (machine.landlock < LANDLOCK_WITH_SCOPES)
        add_missing(_("Landlock's scopes of signals"));
    if (!machine.filter) add_missing("seccomp");
    if (!machine.group) add_missing("cgroup");
    if (geteuid() == 0 && !machine.nobody) add_missing(_("an unprivileged user"));
#ifndef __SANITIZE_ADDRESS__ /* its leak check traces its own process */
    prctl(PR_SET_DUMPABLE, 0);
#endif
}

/* ---- a process ------------------------------------------------------------------------------- */

static unsigned granted(const struct contain_rules *rules)
{
    return (rules->devices ? CONFINE_DRIVER : 0u) | (rules->helper != NULL ? CONFINE_HELPER : 0u) |
           (machine.namespaces & CLONE_NEWIPC ? CONFINE_OWN_IPC : 0u);
}

/* In namespaces the filter is the same for all programs with the same rules, because the supervisor
 * has number 1 and no other process outside is visible. */
static struct {
    struct confine_filter filter;
    const char *program;
    unsigned granted;
} filters[4];

static const struct confine_filter *find_filter(const struct contain_rules *rules,
                                                const char *program)
{
    static const pid_t supervisor = 1;
    const char *only = rules->one_program ? program : NULL;

    if (machine.namespaces == 0 || !machine.filter) return NULL;
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
        if (filters[i].filter.count == 0) {
            filters[i].program = only;
            filters[i].granted = granted(rules);
            if (confine_make(&filters[i].filter, &supervisor, 1, only, granted(rules)) != 0)
                return NULL;
        }
        if (filters[i].program == only && filters[i].granted == granted(rules))
            return &filters[i].filter;
    }
    return NULL;
}

pid_t contain_fork(const struct contain_rules *rules, const char *program)
{
    find_machine();
    user_outside = geteuid();
    group_outside = getegid();
    (void)find_filter(rules, program);
    return machine.namespaces != 0 ? fork_into(machine.namespaces) : fork();
}

int contain_settle(const struct contain_rules *rules, const char *program)
{
    if (machine.namespaces != 0) {
        if (enter_namespaces() != 0) return -1;
        if (rules->write_bytes > 0 && cover_folder(rules, program) != 0) return -1;
    } else if (machine.nobody && !rules->compiler && rules->write != NULL &&
               chown(rules->write, NOBODY, (gid_t)-1) != 0) {
        return -1;
    }
    prctl(PR_SET_DUMPABLE, 0);
    return 0;
}

bool contain_has_own_folder(const struct contain_rules *rules)
{
    return machine.namespaces != 0 && rules->write_bytes > 0;
}

const char *contain_groups(void)
{
    return machine.group ? machine.groups : NULL;
}

int contain_error(void)
{
    find_machine();
    return machine.error;
}

void contain_nothing(void)
{
    machine.found = machine.off = true;
    snprintf(machine.missing, sizeof machine.missing, "%s", _("anything (--sandbox=off)"));
}

const char *contain_missing(void)
{
    find_machine();
    return machine.missing;
}

/* ---- giving up privileges ----------------------------------------------------------------------
 */

/* Returns true when NOBODY could start the program and read its files. Tests it by becoming NOBODY
 * for a moment. */
static bool nobody_reaches(const struct contain_rules *rules, const char *program)
{
    gid_t groups[64];
    const int count = getgroups(sizeof groups / sizeof groups[0], groups);
    bool reached =
        count >= 0 && setgroups(0, NULL) == 0 && setegid(NOBODY) == 0 && seteuid(NOBODY) == 0;

    reached = reached && eaccess(program, X_OK) == 0;
    reached = reached && (rules->write == NULL || eaccess(rules->write, W_OK | X_OK) == 0);
    for (const char *const *path = rules->read; reached && path != NULL && *path != NULL; path++)
        reached = eaccess(*path, R_OK) == 0 || errno == ENOENT;
    if (seteuid(0) != 0 || setegid(group_outside) != 0 || count < 0 ||
        setgroups((size_t)count, groups) != 0)
        return false;
    return reached;
}

/* Drops all capabilities for good, also across exec; the user number stays root's. */
static int drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};

    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    for (unsigned long i = 0; i < 64; i++) prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
    prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                 SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED);
    return (int)syscall(SYS_capset, &header, none);
}

static int give_up_root(const struct contain_rules *rules, const char *program)
{
    const bool nobody = machine.nobody && !rules->compiler && nobody_reaches(rules, program);

    if (!nobody && machine.nobody && !rules->compiler && rules->write != NULL &&
        chown(rules->write, geteuid(), (gid_t)-1) != 0)
        return -1;
    if (nobody) {
        for (unsigned long i = 0; i < 64; i++) prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
        return nobody_works() ? 0 : -1;
    }
    return drop_capabilities();
}

/* Installs the filter of find_filter, or one made for this process alone. */
static int hold_to_filter(const struct contain_rules *rules, const char *program)
{
    const struct confine_filter *made = find_filter(rules, program);
    pid_t above[CONFINE_MOST] = {1};
    size_t count = 1;

    if (made != NULL) return confine_hold(made);
    if (machine.namespaces == 0) count = descendants_ancestors(getpid(), above, CONFINE_MOST);
    return confine_install(above, count, rules->one_program ? program : NULL, granted(rules));
}

int contain_give_up(const struct contain_rules *rules, const char *program)
{
    if (machine.off) return 0;
    if (geteuid() == 0 && give_up_root(rules, program) != 0) return -1;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    if (machine.landlock > 0 && landlock_restrict(machine.landlock, rules, program, own) != 0)
        return -1;
    return machine.filter ? hold_to_filter(rules, program) : 0;
}
