/* base/fatal: the last call before a process dies of a signal, and none before one that lives on.
 * Each case runs in a process of its own, whose exit status tells what was called. */
#include "emulator/base/fatal.h"

#include <check.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };

static struct {
    int said[2]; /* a pipe */
    char *page;
    sigjmp_buf back;
} test;

static void say(char what)
{
    ck_assert_int_eq(write(test.said[1], &what, 1), 1);
}

static void last(int number)
{
    (void)number;
    say('l');
}

/* Runs `body` in a child. Returns how it ended; `said`: what was said, a string. */
static int run(void (*body)(void), char *said)
{
    int status;
    ck_assert_int_eq(pipe(test.said), 0);
    const pid_t child = fork();
    if (child == 0) {
        body();
        _exit(0);
    }
    close(test.said[1]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    const ssize_t length = read(test.said[0], said, 15);
    said[length > 0 ? length : 0] = '\0';
    close(test.said[0]);
    return status;
}

static void own_handler(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

static void watch(int number)
{
    fatal_install(number, fatal_pass_on);
    fatal_call_last(last);
}

static void fault(void)
{
    *(volatile char *)test.page = 1;
}

static void faults(void)
{
    signal(SIGSEGV, SIG_DFL); /* a sanitizer has a handler */
    watch(SIGSEGV);
    fault();
}

static void aborts(void)
{
    watch(SIGABRT);
    abort();
}

START_TEST(the_last_call_comes_before_the_process_dies)
{
    char said[16];
    int status = run(faults, said);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    ck_assert_str_eq(said, "l");
    status = run(aborts, said);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    ck_assert_str_eq(said, "l");
}
END_TEST

static void reports(int number, siginfo_t *info, void *state)
{
    (void)info;
    (void)state;
    say('r');
    signal(number, SIG_DFL);
    raise(number);
}

static void faults_and_reports(void)
{
    own_handler(SIGSEGV, reports);
    watch(SIGSEGV);
    fault();
}

static void aborts_and_reports(void)
{
    own_handler(SIGABRT, reports);
    watch(SIGABRT);
    abort();
}

START_TEST(a_handler_that_reports_and_dies_is_called_before)
{
    char said[16];
    int status = run(faults_and_reports, said);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    ck_assert_str_eq(said, "rl");
    status = run(aborts_and_reports, said);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    ck_assert_str_eq(said, "rl");
}
END_TEST

static void opens(int number, siginfo_t *info, void *state)
{
    (void)number;
    (void)info;
    (void)state;
    say('o');
    mprotect(test.page, PAGE, PROT_READ | PROT_WRITE);
}

static void opens_its_page(void)
{
    own_handler(SIGSEGV, opens);
    watch(SIGSEGV);
    fault();
}

static void jumps(int number, siginfo_t *info, void *state)
{
    (void)number;
    (void)info;
    (void)state;
    say('j');
    siglongjmp(test.back, 1);
}

static void jumps_out(void)
{
    own_handler(SIGSEGV, jumps);
    watch(SIGSEGV);
    for (volatile int round = 0; round < 2; round++)
        if (sigsetjmp(test.back, 1) == 0) fault();
}

static void ignores_what_is_sent(void)
{
    signal(SIGTRAP, SIG_IGN);
    watch(SIGTRAP);
    raise(SIGTRAP);
}

START_TEST(a_program_that_goes_on_gets_no_last_call)
{
    char said[16];
    ck_assert_int_eq(run(opens_its_page, said), 0);
    ck_assert_str_eq(said, "o");
    ck_assert_int_eq(run(jumps_out, said), 0);
    ck_assert_str_eq(said, "jj");
    ck_assert_int_eq(run(ignores_what_is_sent, said), 0);
    ck_assert_str_eq(said, "");
}
END_TEST

static void is_ended(void)
{
    signal(SIGTERM, SIG_DFL); /* Check has a handler */
    fatal_install_for_others(SIGTERM);
    fatal_call_last(last);
    kill(getpid(), SIGTERM);
}

static void again(int number)
{
    last(number);
    raise(number);
    say('a');
}

static void is_ended_twice(void)
{
    signal(SIGINT, SIG_DFL);
    fatal_install_for_others(SIGINT);
    fatal_call_last(again);
    kill(getpid(), SIGINT);
}

static void ignores(void)
{
    signal(SIGHUP, SIG_IGN);
    fatal_install_for_others(SIGHUP);
    fatal_call_last(last);
    kill(getpid(), SIGHUP);
}

START_TEST(others_end_it_unless_it_does_not_want_that)
{
    char said[16];
    int status = run(is_ended, said);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    ck_assert_str_eq(said, "l");
    status = run(is_ended_twice, said);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    ck_assert_str_eq(said, "l");
    ck_assert_int_eq(run(ignores, said), 0);
    ck_assert_str_eq(said, "");
}
END_TEST

int main(void)
{
    test.page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (test.page == MAP_FAILED) return EXIT_FAILURE;
    Suite *suite = suite_create("fatal");
    TCase *tests = tcase_create("fatal");
    tcase_add_test(tests, the_last_call_comes_before_the_process_dies);
    tcase_add_test(tests, a_handler_that_reports_and_dies_is_called_before);
    tcase_add_test(tests, a_program_that_goes_on_gets_no_last_call);
    tcase_add_test(tests, others_end_it_unless_it_does_not_want_that);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
