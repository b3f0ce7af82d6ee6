/* A tool's temporary folder: one whose maker was killed is removed by the next call of the tool,
 * and no other; many at once do not take each other's. */
#include "tests/temporary.h"
#include "trace/scratch.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char removed[PATH_MAX];

static void remove_it(const char *path)
{
    snprintf(removed, sizeof removed, "%s", path);
    nftw(path, temporary_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static bool is_there(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

static unsigned count_in(const char *path)
{
    unsigned count = 0;
    DIR *folder = opendir(path);
    ck_assert_ptr_nonnull(folder);
    for (struct dirent *item; (item = readdir(folder)) != NULL;) count += item->d_name[0] != '.';
    closedir(folder);
    return count;
}

/* In a process of its own, which a signal ends. */
static void make_and_be_killed(const char *parent)
{
    int status;
    const pid_t child = fork();
    if (child == 0) {
        struct scratch scratch;
        char path[PATH_MAX];
        if (scratch_make(&scratch, parent, "tool", remove_it) != 0) _exit(1);
        snprintf(path, sizeof path, "%s/inside", scratch.path);
        if (mkdir(path, 0700) != 0) _exit(2);
        raise(SIGKILL);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
}

START_TEST(what_a_killed_one_left_goes_with_the_next_call)
{
    const char *parent = temporary_folder();
    struct scratch mine, other;

    make_and_be_killed(parent);
    ck_assert_uint_eq(count_in(parent), 1);
    ck_assert_int_eq(scratch_make(&other, parent, "other", remove_it), 0);
    ck_assert_uint_eq(count_in(parent), 2); /* it is of another tool */
    ck_assert_int_eq(scratch_make(&mine, parent, "tool", remove_it), 0);
    ck_assert(is_there(mine.path) && is_there(other.path));
    ck_assert_uint_eq(count_in(parent), 2);
    scratch_remove(&mine, remove_it);
    scratch_remove(&mine, remove_it); /* does nothing */
    scratch_remove(&other, remove_it);
    ck_assert_uint_eq(count_in(parent), 0);
}
END_TEST

START_TEST(what_somebody_uses_stays)
{
    const char *parent = temporary_folder();
    char path[PATH_MAX];
    struct scratch first, second;
    int ends[2], status;

    ck_assert_int_eq(scratch_make(&first, parent, "tool", remove_it), 0);
    ck_assert_int_eq(scratch_make(&second, parent, "tool", remove_it), 0);
    ck_assert(is_there(first.path) && is_there(second.path));
    scratch_remove(&second, remove_it);
    /* A fork goes on after its maker is gone. */
    ck_assert_int_eq(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        _exit(read(ends[0], path, 1) == 0 ? 0 : 1);
    }
    close(first.lock);
    ck_assert_int_eq(scratch_make(&second, parent, "tool", remove_it), 0);
    ck_assert(is_there(first.path));
    scratch_remove(&second, remove_it);
    close(ends[1]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(scratch_make(&second, parent, "tool", remove_it), 0);
    ck_assert(!is_there(first.path));
    ck_assert_str_eq(removed, first.path);
    scratch_remove(&second, remove_it);
}
END_TEST

/* Files, links, and folders with other names. */
START_TEST(what_is_nobodys_scratch_stays)
{
    static const char *const names[] = {"overlap-tool.", "overlap-tool.12345",
                                        "overlap-tool.1234567", "overlap-tools.123456",
                                        "xoverlap-tool.123456"};
    enum { NAMES = sizeof names / sizeof *names };
    const char *parent = temporary_folder(), *elsewhere = temporary_folder();
    char path[PATH_MAX];
    struct scratch scratch;

    for (int i = 0; i < NAMES; i++) {
        snprintf(path, sizeof path, "%s/%s", parent, names[i]);
        ck_assert_int_eq(mkdir(path, 0700), 0);
    }
    snprintf(path, sizeof path, "%s/overlap-tool.linked", parent);
    ck_assert_int_eq(symlink(elsewhere, path), 0);
    snprintf(path, sizeof path, "%s/overlap-tool.a-file", parent);
    fclose(fopen(path, "w"));
    ck_assert_int_eq(scratch_make(&scratch, parent, "tool", remove_it), 0);
    scratch_remove(&scratch, remove_it);
    ck_assert_uint_eq(count_in(parent), NAMES + 2);
    ck_assert(is_there(elsewhere));
}
END_TEST

/* Each makes many, and looks whether the one it made is there. */
START_TEST(many_at_once_keep_their_own)
{
    enum { PROCESSES = 8, TURNS = 200 };
    const char *parent = temporary_folder();
    pid_t children[PROCESSES];

    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] != 0) continue;
        for (int turn = 0; turn < TURNS; turn++) {
            struct scratch scratch;
            if (scratch_make(&scratch, parent, "tool", remove_it) != 0) _exit(1);
            if (!is_there(scratch.path)) _exit(2);
            if (turn % 3 != 0)
                scratch_remove(&scratch, remove_it);
            else
                close(scratch.lock); /* as if it had been killed */
        }
        _exit(0);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
        ck_assert_int_eq(status, 0);
    }
    struct scratch last;
    ck_assert_int_eq(scratch_make(&last, parent, "tool", remove_it), 0);
    scratch_remove(&last, remove_it);
    ck_assert_uint_eq(count_in(parent), 0);
}
END_TEST

START_TEST(where_none_can_be_made_is_said)
{
    struct scratch scratch;
    char longest[PATH_MAX];

    removed[0] = '\0';
    ck_assert_int_eq(scratch_make(&scratch, "/nowhere/at/all", "tool", remove_it), -1);
    ck_assert_int_eq(errno, ENOENT);
    scratch_remove(&scratch, remove_it);
    memset(longest, 'a', sizeof longest - 1);
    longest[0] = '/';
    longest[sizeof longest - 1] = '\0';
    ck_assert_int_eq(scratch_make(&scratch, longest, "tool", remove_it), -1);
    ck_assert_int_eq(errno, ENAMETOOLONG);
    ck_assert_str_eq(removed, ""); /* nothing was */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("scratch");
    TCase *tests = tcase_create("folders");
    tcase_add_test(tests, what_a_killed_one_left_goes_with_the_next_call);
    tcase_add_test(tests, what_somebody_uses_stays);
    tcase_add_test(tests, what_is_nobodys_scratch_stays);
    tcase_add_test(tests, many_at_once_keep_their_own);
    tcase_add_test(tests, where_none_can_be_made_is_said);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
