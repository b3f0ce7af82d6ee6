#include "grader/base/confine.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOWER_HALF 0xffffffffu

/* Everything from which the rules are made; the first error of libseccomp is kept. */
struct filter {
    scmp_filter_ctx context;
    const pid_t *above;
    size_t count;
    unsigned granted;
    bool runner;
    int error;
};

static void rule(struct filter *filter, uint32_t action, int number, unsigned count,
                 const struct scmp_arg_cmp *compared)
{
    int error = seccomp_rule_add_array(filter->context, action, number, count, compared);
    if (error != 0 && filter->error == 0) filter->error = error;
}

/* Process numbers, flags and commands are ints: the kernel looks at the lower half only, so the
 * filter must too. */
static struct scmp_arg_cmp equals(unsigned argument, long value)
{
    return SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, LOWER_HALF, (uint32_t)value);
}

static void trap_value(struct filter *filter, int number, unsigned argument, long value)
{
    const struct scmp_arg_cmp compared = equals(argument, value);
    rule(filter, SCMP_ACT_TRAP, number, 1, &compared);
}

static void trap_processes(struct filter *filter, int number, unsigned argument)
{
    for (size_t i = 0; i < filter->count; i++)
        trap_value(filter, number, argument, filter->above[i]);
}

static void trap_targets(struct filter *filter, int number, unsigned argument)
{
    trap_processes(filter, number, argument);
    trap_value(filter, number, argument, -1);
    for (size_t i = 0; i < filter->count; i++) {
        const pid_t group = getpgid(filter->above[i]);
        if (group > 1) trap_value(filter, number, argument, -group);
    }
}

/* For setpriority and ioprio_set: `value` selects a process, the next value a group, the one after
 * it a user. */
static void trap_who(struct filter *filter, const struct refused_row *row)
{
    for (size_t i = 0; i < filter->count; i++) {
        const pid_t group = getpgid(filter->above[i]);
        const struct scmp_arg_cmp process[] = {equals(row->argument, (long)row->value),
                                               equals(row->argument + 1, filter->above[i])};
        const struct scmp_arg_cmp of_group[] = {equals(row->argument, (long)row->value + 1),
                                                equals(row->argument + 1, group)};
        rule(filter, SCMP_ACT_TRAP, row->number, 2, process);
        if (group > 1) rule(filter, SCMP_ACT_TRAP, row->number, 2, of_group);
    }
    trap_value(filter, row->number, row->argument, (long)row->value + 2);
}

static void refuse_setting(struct filter *filter, const struct refused_row *row)
{
    const struct scmp_arg_cmp compared[] = {equals(row->argument, (long)row->value),
                                            SCMP_CMP(row->argument + 1, SCMP_CMP_NE, 0, 0)};
    rule(filter, SCMP_ACT_ERRNO(EPERM), row->number, 2, compared);
}

static void refuse_row(struct filter *filter, const struct refused_row *row)
{
    struct scmp_arg_cmp compared;

    switch (row->how) {
    case REFUSED_BY_PROCESS:
        trap_processes(filter, row->number, row->argument);
        break;
    case REFUSED_BY_TARGET:
        trap_targets(filter, row->number, row->argument);
        break;
    case REFUSED_BY_WHO:
        trap_who(filter, row);
        break;
    case REFUSED_VALUE:
    case REFUSED_TYPING:
        trap_value(filter, row->number, row->argument, (long)row->value);
        break;
    case REFUSED_QUIETLY:
        compared = equals(row->argument, (long)row->value);
        rule(filter, SCMP_ACT_ERRNO(EPERM), row->number, 1, &compared);
        break;
    case REFUSED_SETTING:
        refuse_setting(filter, row);
        break;
    case REFUSED_FLAG:
        compared = SCMP_CMP(row->argument, SCMP_CMP_MASKED_EQ, row->value, row->value);
        rule(filter, SCMP_ACT_ERRNO(EPERM), row->number, 1, &compared);
        break;
    case REFUSED_UNLESS:
        compared = SCMP_CMP(row->argument, SCMP_CMP_NE, row->value, 0);
        if (filter->granted & CONFINE_DRIVER)
            rule(filter, SCMP_ACT_ERRNO(EPERM), row->number, 1, &compared);
        else
            rule(filter, SCMP_ACT_ERRNO(EPERM), row->number, 0, NULL);
        break;
    case REFUSED_TO_RUNNER:
        if (!filter->runner) break;
        rule(filter, SCMP_ACT_ERRNO(EPERM), row->number, 0, NULL);
        break;
    case REFUSED_SHARED:
        if (!(filter->granted & CONFINE_OWN_IPC))
            rule(filter, SCMP_ACT_ERRNO(EPERM), row->number, 0, NULL);
        break;
    case REFUSED_ALWAYS:
        rule(filter, SCMP_ACT_ERRNO(EPERM), row->number, 0, NULL);
        break;
    case REFUSED_UNKNOWN:
        rule(filter, SCMP_ACT_ERRNO(ENOSYS), row->number, 0, NULL);
        break;
    }
}

static void filter_free(struct confine_filter *filter)
{
    free(filter->rules);
    *filter = (struct confine_filter){NULL, 0};
}

/* Exports the filter; libseccomp can only write one to a file. Returns 0, or -1 with errno. */
static int take_out(scmp_filter_ctx context, struct confine_filter *filter)
{
    struct stat status;
    int error = ENOMEM;
    const int file = memfd_create("filter", MFD_CLOEXEC);

    if (file < 0) return -1;
    if (seccomp_export_bpf(context, file) != 0 || fstat(file, &status) != 0) {
        error = ENOSYS;
        goto failed;
    }
    filter->rules = malloc((size_t)status.st_size);
    if (filter->rules == NULL) goto failed;
    if (pread(file, filter->rules, (size_t)status.st_size, 0) != (ssize_t)status.st_size) {
        error = EIO;
        goto failed;
    }
    filter->count = (unsigned short)((size_t)status.st_size / sizeof(struct sock_filter));
    close(file);
    return 0;
failed:
    close(file);
    filter_free(filter);
    errno = error;
    return -1;
}

int confine_make(struct confine_filter *made, const pid_t *above, size_t count,
                 const char *only_program, unsigned granted)
{
    struct filter filter = {.above = above,
                            .count = count < CONFINE_MOST ? count : CONFINE_MOST,
                            .granted = granted,
                            .runner = only_program != NULL};
    int result = -1;

    *made = (struct confine_filter){NULL, 0};
    filter.context = seccomp_init(SCMP_ACT_ALLOW);
    if (filter.context == NULL) {
        errno = ENOSYS;
        return -1;
    }
    /* Refuses calls with the numbers of another architecture (x32 among them), which would be a
     * second way to each call. */
    filter.error = seccomp_attr_set(filter.context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM));
#ifdef SCMP_FLTATR_CTL_OPTIMIZE
    /* Asks for a binary tree instead of a list; an older libseccomp ignores it. */
    (void)seccomp_attr_set(filter.context, SCMP_FLTATR_CTL_OPTIMIZE, 2);
#endif
    for (size_t i = 0; i < refused_count; i++) refuse_row(&filter, &refused_rows[i]);
    if (only_program != NULL && !(granted & CONFINE_HELPER)) {
        const struct scmp_arg_cmp elsewhere =
            SCMP_CMP(0, SCMP_CMP_NE, (scmp_datum_t)(uintptr_t)only_program, 0);
        rule(&filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(execve), 1, &elsewhere);
    }
    if (filter.error == 0)
        result = take_out(filter.context, made);
    else
        errno = -filter.error;
    const int error = errno;
    seccomp_release(filter.context);
    errno = error;
    return result;
}

int confine_hold(const struct confine_filter *filter)
{
    const struct sock_fprog program = {.len = filter->count, .filter = filter->rules};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

int confine_install(const pid_t *above, size_t count, const char *only_program, unsigned granted)
{
    struct confine_filter filter;

    if (confine_make(&filter, above, count, only_program, granted) != 0) return -1;
    const int result = confine_hold(&filter);
    const int error = errno;
    filter_free(&filter);
    errno = error;
    return result;
}
