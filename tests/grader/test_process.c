/* Limits, and that nothing is left running, with small shell programs. */
#include "grader/process.h"
#include "support.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static struct process *start(const char *script, struct process_limits limits)
{
    const char *arguments[] = {"/bin/sh", "-c", script, NULL};
    const char *environment[] = {"PATH=/usr/bin:/bin", "SEEN=yes", NULL};
    struct process_spec spec = {
        .arguments = arguments, .environment = environment, .folder = "/", .limits = limits};
    if (spec.limits.seconds == 0) spec.limits.seconds = 20;
    if (spec.limits.output == 0) spec.limits.output = 4096;
    struct process *process = process_start(&spec);
    ck_assert_ptr_nonnull(process);
    ck_assert_uint_eq(process_wait_any(&process, 1), 0);
    ck_assert_uint_eq(support_processes(), 0);
    return process;
}

START_TEST(it_ends_by_itself)
{
    struct process *p = start("echo out; echo err >&2; exit 3", (struct process_limits){0});
    ck_assert_int_eq(process_result(p)->ending, PROCESS_EXITED);
    ck_assert_int_eq(process_result(p)->code, 3);
    ck_assert_str_eq(process_printed(p), "out\nerr\n");
    process_free(p);
    p = start("kill -USR1 $$", (struct process_limits){0});
    ck_assert_int_eq(process_result(p)->ending, PROCESS_SIGNALLED);
    ck_assert_int_eq(process_result(p)->signal, SIGUSR1);
    process_free(p);
}
END_TEST

START_TEST(it_sees_nothing_of_ours)
{
    setenv("GRADERS_SECRET", "1", 1);
    struct process *p = start("env; pwd; read x || echo no input; ls /proc/self/fd | wc -l",
                              (struct process_limits){0});
    const char *said = process_printed(p);
    ck_assert_ptr_null(strstr(said, "SECRET"));
    ck_assert_ptr_nonnull(strstr(said, "SEEN=yes"));
    ck_assert_ptr_nonnull(strstr(said, "\n/\nno input\n"));
    process_free(p);
}
END_TEST

static const struct {
    const char *script;
    struct process_limits limits;
    enum process_ending ending;
} limited[] = {
    {"sleep 60", {.seconds = 0.3}, PROCESS_TIME},
    {"trap '' XCPU TERM INT HUP; while :; do :; done", {.seconds = 0.3}, PROCESS_TIME},
    {"setsid sleep 60 & setsid sleep 60 & wait", {.seconds = 0.3}, PROCESS_TIME},
    {"yes", {.output = 1 << 16}, PROCESS_OUTPUT},
    {"for i in 1 2 3 4 5 6; do sleep 60 & done; wait", {.processes = 3}, PROCESS_PROCESSES},
    {"x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done", {.memory = 64 << 20}, PROCESS_MEMORY},
};

START_TEST(limits_hold)
{
    struct process *p = start(limited[_i].script, limited[_i].limits);
    ck_assert_int_eq(process_result(p)->ending, limited[_i].ending);
    ck_assert(process_result(p)->seconds < 10);
    process_free(p);
}
END_TEST

START_TEST(what_stays_is_counted_and_ended)
{
    struct process *p =
        start("sleep 60 & setsid sh -c 'sleep 60 & sleep 60' & exit 0", (struct process_limits){0});
    ck_assert_int_eq(process_result(p)->ending, PROCESS_EXITED);
    ck_assert_uint_ge(process_result(p)->left_running, 3);
    process_free(p);
    p = start("sleep 0.05 & exit 0", (struct process_limits){0}); /* ends soon: not counted */
    ck_assert_uint_eq(process_result(p)->left_running, 0);
    process_free(p);
}
END_TEST

START_TEST(what_cannot_be_started_is_named)
{
    const char *arguments[] = {"/no/such/program", NULL}, *environment[] = {NULL};
    struct process_spec spec = {.arguments = arguments,
                                .environment = environment,
                                .folder = "/",
                                .limits = {.seconds = 5, .output = 100}};
    struct process *p = process_start(&spec);
    process_wait_any(&p, 1);
    ck_assert_int_eq(process_result(p)->ending, PROCESS_NOT_STARTED);
    ck_assert_str_eq(process_result(p)->why, "/no/such/program: No such file or directory");
    process_free(p);
}
END_TEST

START_TEST(several_run_at_one_time)
{
    const char *slow[] = {"/bin/sleep", "0.3", NULL}, *fast[] = {"/bin/true", NULL};
    const char *environment[] = {NULL};
    struct process_spec spec = {.arguments = slow,
                                .environment = environment,
                                .folder = "/",
                                .limits = {.seconds = 5, .output = 100}};
    struct process *p[3] = {process_start(&spec), NULL, NULL};
    spec.arguments = fast;
    p[2] = process_start(&spec);
    ck_assert_uint_eq(process_wait_any(p, 3), 2);
    ck_assert_uint_eq(process_wait_any(p, 3), 0);
    ck_assert_uint_eq(process_wait_any(p, 3), 3); /* none is left */
    process_free(p[0]);
    process_free(p[2]);
}
END_TEST

START_TEST(freeing_ends_it)
{
    const char *arguments[] = {"/bin/sleep", "60", NULL}, *environment[] = {NULL};
    struct process_spec spec = {.arguments = arguments,
                                .environment = environment,
                                .folder = "/",
                                .limits = {.seconds = 60, .output = 100}};
    process_free(process_start(&spec));
    ck_assert_uint_eq(support_processes(), 0);
}
END_TEST

START_TEST(an_interrupt_ends_all)
{
    const char *arguments[] = {"/bin/sleep", "60", NULL}, *environment[] = {NULL};
    struct process_spec spec = {.arguments = arguments,
                                .environment = environment,
                                .folder = "/",
                                .limits = {.seconds = 60, .output = 100}};
    process_handle_interrupts();
    struct process *p = process_start(&spec);
    ck_assert_int_eq(process_interrupted(), 0);
    if (fork() == 0) {
        usleep(100000);
        kill(getppid(), SIGTERM);
        _exit(0);
    }
    ck_assert_uint_eq(process_wait_any(&p, 1), 0);
    ck_assert_int_eq(process_interrupted(), SIGTERM);
    ck_assert_int_eq(process_result(p)->ending, PROCESS_ABANDONED);
    process_free(p);
    ck_assert_uint_eq(support_processes(), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("grader process");
    TCase *tcase = tcase_create("process");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, it_ends_by_itself);
    tcase_add_test(tcase, it_sees_nothing_of_ours);
    tcase_add_loop_test(tcase, limits_hold, 0, sizeof limited / sizeof limited[0]);
    tcase_add_test(tcase, what_stays_is_counted_and_ended);
    tcase_add_test(tcase, what_cannot_be_started_is_named);
    tcase_add_test(tcase, several_run_at_one_time);
    tcase_add_test(tcase, freeing_ends_it);
    tcase_add_test(tcase, an_interrupt_ends_all);
    suite_add_tcase(suite, tcase);
    return support_finish(srunner_create(suite));
}
