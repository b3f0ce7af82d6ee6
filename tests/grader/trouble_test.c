/* Each trouble of the machine is caused for real, as far as the machine permits: whatever is
 * missing, a right submission never fails, the exit status is 2 with the reason, and without the
 * trouble the same cache and the same class give a pass. */
#include "grader/base/files.h"
#include "grader/base/trouble.h"
#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RIGHT " --solutions sum --device=emulator --seed=1"

static char work[64]; /* of this test */
static struct text out, err;

static void set_up(void)
{
    snprintf(work, sizeof work, "%s", support_folder());
}

/* Runs a shell command line in `work`; $GRADER is the grader, with work/cache as its cache. */
static int shell(const char *line)
{
    char cache[128], told[128];
    const char *arguments[] = {"/bin/sh", "-c", line, NULL};
    const char *variables[] = {cache, told, "GRADER=" GRADER, "REFUSE=" REFUSE, NULL};

    snprintf(cache, sizeof cache, "STAND_IN_CACHE=%s/cache", work);
    snprintf(told, sizeof told, "REFUSE_TOLD=%s/told", work);
    text_free(&out);
    text_free(&err);
    return support_run(arguments, work, variables, &out, &err);
}

static bool says(const char *words)
{
    return strstr(text_string(&out), words) != NULL || strstr(text_string(&err), words) != NULL;
}

#define ASSERT_NOT_FAILED()                                                                        \
    ck_assert_msg(!says("[  FAILED  ]"), "%s%s", text_string(&out), text_string(&err))

static void passes(void)
{
    ck_assert_msg(shell("exec $GRADER" RIGHT) == 0, "%s%s", text_string(&out), text_string(&err));
}

static void write_file(const char *name, const char *text, mode_t mode)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", work, name);
    ck_assert_int_eq(files_replace(path, text, strlen(text)), 0);
    ck_assert_int_eq(chmod(path, mode), 0);
}

/* ---- rows -------------------------------------------------------------------------------------
 */

#define SMALL(options, rest)                                                                       \
    "unshare -rm sh -c 'mkdir -p small && mount -t tmpfs -o " options                              \
    " none small || exit 77; " rest "'"
/* Runs as a user other than root. */
#define AS_NOBODY                                                                                  \
    "chmod 777 .; p=; test $(id -u) -ne 0 ||"                                                      \
    " p='setpriv --reuid=65534 --regid=65534 --clear-groups'; $p test -x $GRADER || exit 77; "
#define CC(script) "STAND_IN_CC=$PWD/cc; export STAND_IN_CC; exec $GRADER" RIGHT, script

static const struct {
    const char *what;
    const char *line;    /* shell command line; exit status 77: not possible here */
    const char *cc;      /* the compiler, as a script; NULL: the real one */
    const char *because; /* the reason, as in trouble.def */
} rows[] = {
    {"a cache on a read-only disk",
     SMALL("size=1m", "mount -o remount,ro small; STAND_IN_CACHE=$PWD/small exec $GRADER" RIGHT),
     NULL, "a folder that the grader needs cannot be written to"},
    {"a cache where there is a file", "touch file; STAND_IN_CACHE=$PWD/file exec $GRADER" RIGHT,
     NULL, "a folder that the grader needs cannot be written to"},
    {"a cache on a full disk", SMALL("size=8k", "STAND_IN_CACHE=$PWD/small exec $GRADER" RIGHT),
     NULL, "there was no room on a disk"},
    {"a disk that gets full at compiling",
     SMALL("size=24k", "STAND_IN_CACHE=$PWD/small exec $GRADER" RIGHT), NULL,
     "there was no room on a disk"},
    {"a disk that gets full at linking",
     SMALL("size=40k", "STAND_IN_CACHE=$PWD/small exec $GRADER" RIGHT), NULL,
     "there was no room on a disk"},
    {"a disk that gets full after linking",
     SMALL("size=56k", "STAND_IN_CACHE=$PWD/small exec $GRADER" RIGHT), NULL,
     "there was no room on a disk"},
    {"a disk with no more files",
     SMALL("nr_inodes=12", "STAND_IN_CACHE=$PWD/small exec $GRADER" RIGHT), NULL,
     "there was no room on a disk"},
    {"a full TMPDIR", SMALL("nr_inodes=1", "TMPDIR=$PWD/small exec $GRADER" RIGHT), NULL,
     "there was no room on a disk"},
    {"no TMPDIR", "TMPDIR=$PWD/none exec $GRADER" RIGHT, NULL,
     "a folder that the grader needs cannot be written to"},
    {"few descriptors", "ulimit -n 20; exec $GRADER" RIGHT, NULL, "ulimit -n is 20"},
    {"little address space", "ulimit -v 8000000; exec $GRADER" RIGHT, NULL, "ulimit -v is 8000000"},
    {"short files", "ulimit -f 1000; exec $GRADER" RIGHT, NULL, "ulimit -f is "},
    {"little processor time", "ulimit -t 5; exec $GRADER" RIGHT, NULL, "ulimit -t is 5"},
    {"little stack", "ulimit -s 512; exec $GRADER" RIGHT, NULL, "ulimit -s is 512"},
    {"few processes", /* root has no such limit */
     AS_NOBODY "exec $p prlimit --nproc=3 $GRADER" RIGHT, NULL, "ulimit -u is 3"},
    {"a compiler that is missing", "STAND_IN_CC=/no/such/cc exec $GRADER" RIGHT, NULL,
     "a part of the installation is missing"},
    {"a compiler that was killed", CC("kill -9 $$\n"), "the system killed a program"},
    {"a part of the compiler that was killed",
     CC("echo 'gcc: fatal error: Killed signal terminated program cc1' >&2; exit 1\n"),
     "the system killed a program"},
    {"a compiler without memory",
     CC("echo 'cc1: out of memory allocating 65536 bytes after a total of 9' >&2; exit 1\n"),
     "there was not enough memory"},
    {"a compiler without room at a place of the source",
     CC("echo 'sum.c:9: fatal error: error writing to /x.s: No space left on device' >&2; exit "
        "1\n"),
     "there was no room on a disk"},
};

START_TEST(a_right_submission_is_not_failed)
{
    if (rows[_i].cc != NULL) {
        char script[512];
        snprintf(script, sizeof script, "#!/bin/sh\n%s", rows[_i].cc);
        write_file("cc", script, 0755);
    }
    const int status = shell(rows[_i].line);
    if (status == 77 || (status != 2 && says("unshare: "))) {
        printf("skipped: %s: this machine does not allow it\n", rows[_i].what);
        return;
    }
    ck_assert_msg(status == 2, "%s: status %d\n%s%s", rows[_i].what, status, text_string(&out),
                  text_string(&err));
    ck_assert_msg(says("It could not be judged, because ") && says(rows[_i].because), "%s:\n%s%s",
                  rows[_i].what, text_string(&out), text_string(&err));
    ASSERT_NOT_FAILED();
    passes();
}
END_TEST

/* Conditions that must make no difference. */
static const char *const harmless[] = {
    "HOME=/proc exec $GRADER" RIGHT,
    "exec $GRADER" RIGHT " <&-",
    "exec $GRADER" RIGHT " <&- 2>&-",
    /* Damaged entries are made anew. */
    "$GRADER" RIGHT " && for f in cache/*/lesson.so; do echo x >>$f; done && exec $GRADER" RIGHT,
    "$GRADER" RIGHT " && for f in cache/*/lesson.so; do : >$f; done && exec $GRADER" RIGHT,
    "$GRADER" RIGHT " && rm cache/*/sum && exec $GRADER" RIGHT,
    "$GRADER" RIGHT " && rm cache/*/lesson.so && exec $GRADER" RIGHT,
};

START_TEST(this_changes_nothing)
{
    ck_assert_msg(shell(harmless[_i]) == 0, "%s\n%s%s", harmless[_i], text_string(&out),
                  text_string(&err));
}
END_TEST

/* ---- any call --------------------------------------------------------------------------------
 */

static const struct {
    const char *call;
    int error;
} calls[] = {
    {"fork", EAGAIN},         {"clone", EAGAIN},   {"open", EMFILE},    {"fopen", ENFILE},
    {"memfd_create", EMFILE}, {"mkdtemp", ENOSPC}, {"pipe2", EMFILE},   {"mmap", ENOMEM},
    {"ftruncate", ENOSPC},    {"pwrite", ENOSPC},  {"opendir", EMFILE}, {"fdopendir", ENOMEM},
    {"rename", EROFS},
};

#define MOST_CALLS 400

/* The n-th call of its kind fails, for each n; with an empty cache, or with a filled one. */
static void refuse_each(const char *call, int error, bool fresh, int step)
{
    char line[400], told[128];

    snprintf(told, sizeof told, "%s/told", work);
    for (int n = 1; n < MOST_CALLS; n += step) {
        unlink(told);
        snprintf(line, sizeof line, "%s LD_PRELOAD=$REFUSE REFUSE_CALL=%s:%d:%d exec $GRADER" RIGHT,
                 fresh ? "rm -rf cache;" : "", call, n, error);
        const int status = shell(line);
        if (access(told, F_OK) != 0) return; /* there are fewer calls */
        ck_assert_msg(status == 0 || status == 2, "%s:%d: status %d\n%s%s", call, n, status,
                      text_string(&out), text_string(&err));
        ck_assert_msg(!says("[  FAILED  ]"), "%s:%d\n%s%s", call, n, text_string(&out),
                      text_string(&err));
    }
}

START_TEST(any_call_may_be_refused)
{
    passes();
    refuse_each(calls[_i].call, calls[_i].error, false, 1);
    passes();
    refuse_each(calls[_i].call, calls[_i].error, true, 3);
    passes();
}
END_TEST

/* The submission's own threads: a thread for which there is no memory for a stack looks to its
 * starter as if the system had no thread left (EAGAIN). */
static const char starts_a_thread[] =
    "#include \"lesson.h\"\n#include <pthread.h>\n"
    "static void *nothing(void *x) { return x; }\n"
    "int sum_array(const int *values, size_t count, int *result)\n{\n"
    "    pthread_attr_t large;\n    pthread_t thread;\n    pthread_attr_init(&large);\n"
    "    pthread_attr_setstacksize(&large, (size_t)1 << 60);\n"
    "    int error = pthread_create(&thread, &large, nothing, 0);\n"
    "    if (error != 0) return error;\n    pthread_join(thread, 0);\n"
    "    *result = values[0] + (int)count;\n    return 0;\n}\n";

START_TEST(a_program_that_gets_no_thread_is_not_failed)
{
    ck_assert_int_eq(shell("mkdir 01_sum"), 0);
    write_file("01_sum/sum.c", starts_a_thread, 0644);
    const int status = shell("exec $GRADER --submission=01_sum --device=emulator --seed=1");
    ck_assert_msg(status == 2, "%s%s", text_string(&out), text_string(&err));
    ck_assert(says("It could not be judged, because there was no process or thread to be had"));
    ASSERT_NOT_FAILED();
}
END_TEST

/* ---- what remembers ---------------------------------------------------------------------------
 */

static void report_has(const char *name, const char *words)
{
    char path[256];
    struct text report = {0};

    snprintf(path, sizeof path, "%s/%s", work, name);
    ck_assert_int_eq(files_read(path, 1 << 22, &report), 0);
    ck_assert_msg(strstr(text_string(&report), words) != NULL, "%s should have %s:\n%s", name,
                  words, text_string(&report));
    text_free(&report);
}

START_TEST(reports_count_it_as_an_error)
{
    ck_assert_int_eq(shell("STAND_IN_CC=/no/such/cc exec $GRADER" RIGHT
                           " --report=junit:junit --report=gradescope:gradescope"
                           " --report=json:json --report=html:html --gtest_output=xml:gtest"),
                     2);
    report_has("junit", "errors=\"1\"");
    report_has("junit", "<error message=\"It could not be judged, because a part of");
    report_has("gradescope", "which is not the submission's fault");
    report_has("json", "\"outcome\": \"error\"");
    report_has("html", "It could not be judged, because a part of the installation");
    report_has("gtest", "<error message=");
    ck_assert_int_eq(shell("grep -E '^ *\"score\":' gradescope | head -n 1 | grep -q '^  \"'"), 1);
    ck_assert_int_eq(shell("grep -q 'failures=\"0\" .*errors=\"0\"' gtest"), 1);
}
END_TEST

START_TEST(a_class_is_graded_when_it_is_over)
{
    static const char *const grade = "exec $GRADER --class=class --device=emulator --seed=1 sum";

    ck_assert_int_eq(shell("mkdir -p class/anna/01_sum class/ben/01_sum && for n in anna ben; do "
                           "cp " STAND_IN_SOURCE "/solutions/01_sum/sum.c class/$n/01_sum; done"),
                     0);
    char line[256];
    snprintf(line, sizeof line, "STAND_IN_CC=/no/such/cc; export STAND_IN_CC; %s", grade);
    ck_assert_int_eq(shell(line), 2);
    ck_assert_msg(says("anna: not judged: It could not be judged, because a part of"), "%s",
                  text_string(&out));
    ck_assert(says("2 not judged"));
    ck_assert_int_eq(shell("ls class.graded/results/*.json"), 2);
    ck_assert_msg(shell(grade) == 0, "%s", text_string(&out));
    ck_assert(says("2 graded now, 0 unchanged, 0 not judged"));
}
END_TEST

/* ---- words ------------------------------------------------------------------------------------
 */

static const struct {
    const char *said;
    enum trouble_kind kind;
} words[] = {
    {"/usr/bin/ld: final link failed: No space left on device\n", TROUBLE_DISK},
    {"collect2: fatal error: ld terminated with signal 9 [Killed]\n", TROUBLE_KILLED},
    {"nvcc error   : 'cicc' died due to signal 9 (Kill signal)\n", TROUBLE_KILLED},
    {"{standard input}:7: Fatal error: can't write 9 bytes: No space left on device\n",
     TROUBLE_DISK},
    {"gcc: fatal error: cannot execute 'cc1': execvp: No such file or directory\n",
     TROUBLE_MISSING},
    {"the software device was built for a newer processor than this machine's. Build it here\n",
     TROUBLE_PROCESSOR},
    /* A source may quote these messages. */
    {"sum.c:1:2: error: #error No space left on device\n", TROUBLE_NONE},
    {"    1 | #error Killed signal terminated program cc1\n", TROUBLE_NONE},
    {"sum.c:1:2: error: #error x: fatal error: error writing to y: No space left on device\n",
     TROUBLE_NONE},
    {"{standard input}:9: Error: Cannot allocate memory\n", TROUBLE_NONE},
    {"/usr/bin/ld: x: undefined reference to `No space left on device'\n", TROUBLE_NONE},
    {"", TROUBLE_NONE},
};

START_TEST(a_compilers_words_are_told_from_the_sources)
{
    struct trouble trouble = {0};
    trouble_find_words(&trouble, "it said", words[_i].said);
    ck_assert_msg(trouble.kind == words[_i].kind, "%s", words[_i].said);
}
END_TEST

START_TEST(the_first_trouble_is_the_cause)
{
    struct trouble trouble = {0};
    struct text sentence = {0};

    ck_assert_int_eq(trouble_set_error(&trouble, ENOSPC, TROUBLE_FOLDER, "%s", "/x"), -1);
    trouble_set(&trouble, TROUBLE_BUSY, "later");
    trouble_sentence(&trouble, &sentence);
    ck_assert_str_eq(text_string(&sentence),
                     "It could not be judged, because there was no room on a disk: /x: No space "
                     "left on device. Make room there, and grade again.");
    text_free(&sentence);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("grader trouble");
    TCase *tcase = tcase_create("trouble");
    tcase_set_timeout(tcase, 900);
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_loop_test(tcase, a_right_submission_is_not_failed, 0, sizeof rows / sizeof rows[0]);
    tcase_add_loop_test(tcase, this_changes_nothing, 0, sizeof harmless / sizeof harmless[0]);
    tcase_add_loop_test(tcase, any_call_may_be_refused, 0, sizeof calls / sizeof calls[0]);
    tcase_add_test(tcase, a_program_that_gets_no_thread_is_not_failed);
    tcase_add_test(tcase, reports_count_it_as_an_error);
    tcase_add_test(tcase, a_class_is_graded_when_it_is_over);
    tcase_add_loop_test(tcase, a_compilers_words_are_told_from_the_sources, 0,
                        sizeof words / sizeof words[0]);
    tcase_add_test(tcase, the_first_trouble_is_the_cause);
    suite_add_tcase(suite, tcase);
    return support_finish(srunner_create(suite));
}
