/* From a student's files to lesson.so: compiling, errors, the cache, and from an address back to a
 * line; on the stand-in lessons. */
#include "grader/base/files.h"
#include "grader/build/compile.h"
#include "grader/evidence/sources.h"
#include "grader/run/run.h"
#include "stand_in/judges/01_sum/exchange.h"
#include "support.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const struct lesson lesson_01_sum, lesson_02_twice;

static struct toolchain toolchain;
static struct handed_in handed_in;
static struct compiled compiled;

static void set_up(void)
{
    toolchain = *toolchain_configured();
    toolchain.source = STAND_IN_SOURCE;
    toolchain.lessons = STAND_IN_SOURCE "/judges";
    toolchain.cuda_include = STAND_IN_SOURCE "/device;" PROJECT_SOURCE;
    toolchain.cuda_libraries = toolchain.emulator = STAND_IN_LIBRARIES;
    toolchain.cache = support_folder();
    handed_in.lesson = &lesson_01_sum;
    strcpy(handed_in.shown, "shown/01_sum");
    snprintf(handed_in.folder, sizeof handed_in.folder, "%s", support_folder());
}

static void write_file(const char *name, const char *text)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", handed_in.folder, name);
    unlink(path);
    ck_assert_int_eq(files_write(path, text, strlen(text)), 0);
}

static void compile(void)
{
    struct compile_request request = {.handed_in = &handed_in, .result = &compiled};
    struct trouble trouble = {0};

    compiled_free(&compiled);
    ck_assert_msg(compile_all(&toolchain, &request, 1, &trouble) == 0, "%s", trouble.detail);
}

#define RIGHT                                                                                      \
    "#include \"lesson.h\"\n"                                                                      \
    "int sum_array(const int *values, size_t count, int *result)\n"                                \
    "{\n"                                                                                          \
    "    (void)values; (void)count;\n"                                                             \
    "    return *result;\n"                                                                        \
    "}\n"

#define SAYS_ITS_LIMIT                                                                             \
    "#!/bin/sh\necho \"sum.c:1:1: error: a limit of $(ulimit -St) s\" >&2\nexit 1\n"

START_TEST(what_is_unchanged_is_not_compiled_again)
{
    char first[PATH_MAX];

    write_file("sum.c", RIGHT);
    compile();
    ck_assert_msg(compiled.ok, "%s\n%s", compiled.what, compiled.said ? compiled.said : "");
    ck_assert(!compiled.from_cache);
    strcpy(first, compiled.library);
    compile();
    ck_assert(compiled.ok && compiled.from_cache);
    ck_assert_str_eq(compiled.library, first);

    /* The same text from another folder gives the same lesson.so; another text does not. */
    snprintf(handed_in.folder, sizeof handed_in.folder, "%s", support_folder());
    write_file("sum.c", RIGHT);
    compile();
    ck_assert(compiled.from_cache);
    write_file("sum.c", RIGHT "\n");
    compile();
    ck_assert(compiled.ok && !compiled.from_cache);
    write_file("helper.h", "/* further headers count as well */\n");
    compile();
    ck_assert(compiled.ok && !compiled.from_cache);
    compiled_free(&compiled);
}
END_TEST

START_TEST(errors_have_their_line)
{
    write_file("sum.c", "#include \"lesson.h\"\n\nint sum_array(int x\n{\n    return 0;\n}\n");
    for (int i = 0; i < 2; i++) { /* the second time from the cache */
        compile();
        ck_assert(!compiled.ok && compiled.from_cache == (i == 1));
        ck_assert_str_eq(compiled.place.file, "shown/01_sum/sum.c");
        ck_assert_uint_ge(compiled.place.line, 3);
        ck_assert_ptr_nonnull(strstr(compiled.what, "It does not compile: "));
        ck_assert_ptr_nonnull(strstr(compiled.said, "  | shown/01_sum/sum.c:"));
    }
    compiled_free(&compiled);
}
END_TEST

static const struct {
    const char *source, *says;
    unsigned line;
} broken[] = {
    {"int other(void);\nint other(void) { return 1; }\n",
     "sum_array, which the lesson calls, is nowhere defined", 0},
    {"#include \"lesson.h\"\nint sum_array(const int *v, size_t n, int *r)\n{\n    *r = v[n - 1];\n"
     "    return helper(r);\n}\n",
     "implicit declaration of function 'helper'", 5},
    {"#include \"lesson.h\"\nint helper(int *);\nint sum_array(const int *v, size_t n, int *r)\n{\n"
     "    *r = v[n - 1];\n    return helper(r);\n}\n",
     "undefined reference to `helper'", 6},
    {RIGHT "int drive_main(void *drive) { return drive != 0; }\n",
     "multiple definition of `drive_main'", 0},
    {"#include \"no_such_file.h\"\n", "no_such_file.h: No such file or directory", 1},
    {"#error \"[  PASSED  ] \033[2J\"\n", "(  PASSED  )", 1},
};

#define BYTES(text) text, sizeof text - 1

static const struct {
    const char *bytes;
    size_t size;
    const char *says;
} no_texts[] = {
    {BYTES("\377\376i\0n\0t\0"), "it is saved as UTF-16, and the compiler reads UTF-8"},
    {BYTES("\376\377\0i\0n\0t"), "it is saved as UTF-16, and the compiler reads UTF-8"},
    {BYTES("\377\376\0\0i\0\0\0"), "it is saved as UTF-32, and the compiler reads UTF-8"},
    {BYTES("i\0n\0t\0 \0a\0;\0"), "it is saved as UTF-16, and the compiler reads UTF-8"},
    {BYTES("int a;\nint\0 b;\n"), "it is no text: line 2 holds a byte that is 0"},
    {BYTES("int a;\nint b;\1\2\n"), "it is no text: line 2 holds a byte that is 1"},
    {BYTES("\177ELF\2\1\1\0\0"), "sum.c cannot be read: it is what a compiler made (ELF)"},
    {BYTES("MZ\220 This program cannot be run in DOS mode"), "it is a program of Windows (EXE)"},
    {BYTES("%PDF-1.7\nstream\n"), "it is a PDF document"},
    {BYTES("PK\3\4abcword/document.xml"), "it is a Word document (DOCX)"},
    {BYTES("PK\3\4abcsum.c"), "it is a ZIP archive"},
    {BYTES("\37\213\10abc"), "it is an archive compressed by gzip"},
    {BYTES("<!DOCTYPE HTML>\n<p>"), "it is a web page (HTML)"},
    {BYTES("{\\rtf1\\ansi"), "it is a document with formatting (RTF)"},
};

START_TEST(what_is_no_text_is_not_compiled)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/sum.c", handed_in.folder);
    ck_assert_int_eq(files_write(path, no_texts[_i].bytes, no_texts[_i].size), 0);
    compile();
    ck_assert(!compiled.ok);
    ck_assert_msg(strstr(compiled.what, no_texts[_i].says) != NULL, "%s", compiled.what);
    ck_assert_str_eq(compiled.place.file, "shown/01_sum/sum.c");
    compiled_free(&compiled);
}
END_TEST

START_TEST(what_cannot_be_built_is_explained)
{
    write_file("sum.c", broken[_i].source);
    compile();
    ck_assert(!compiled.ok);
    ck_assert_msg(strstr(compiled.what, broken[_i].says) != NULL, "%s\n%s", compiled.what,
                  compiled.said);
    if (broken[_i].line != 0) ck_assert_uint_eq(compiled.place.line, broken[_i].line);
    ck_assert(compiled.said == NULL || strchr(compiled.said, '\033') == NULL);
    compiled_free(&compiled);
}
END_TEST

/* The compiler's time limit, as a compiler reports it. tests/hostile/ has sources that exceed
 * it. */
START_TEST(a_compiler_has_so_many_seconds)
{
    static const struct {
        const char *asked;
        unsigned limit;
    } seconds[] = {{NULL, COMPILE_MOST_SECONDS}, {"7", 7}, {"", COMPILE_MOST_SECONDS}};
    char script[PATH_MAX + 16], more[16];

    toolchain.cuda = support_folder();
    snprintf(script, sizeof script, "%s/cc", toolchain.cuda);
    ck_assert_int_eq(files_write(script, SAYS_ITS_LIMIT, strlen(SAYS_ITS_LIMIT)), 0);
    ck_assert_int_eq(chmod(script, 0755), 0);
    toolchain.cc = script;
    for (size_t k = 0; k < sizeof seconds / sizeof *seconds; k++) {
        char expected[100], source[sizeof RIGHT + 16];
        if (seconds[k].asked != NULL) setenv(COMPILE_SECONDS_VARIABLE, seconds[k].asked, 1);
        snprintf(source, sizeof source, RIGHT "/* %zu */\n", k); /* not in the cache yet */
        write_file("sum.c", source);
        compile();
        snprintf(expected, sizeof expected, "a limit of %u s", seconds[k].limit);
        ck_assert_msg(compiled.said != NULL && strstr(compiled.said, expected) != NULL,
                      "not \"%s\": %s %s", expected, compiled.what, compiled.said);
        compiled_free(&compiled);
    }
    snprintf(more, sizeof more, "%u", COMPILE_MOST_SECONDS + 1u);
    setenv(COMPILE_SECONDS_VARIABLE, more, 1);
    ck_assert_uint_eq(compile_seconds(), 0);
    unsetenv(COMPILE_SECONDS_VARIABLE);
}
END_TEST

START_TEST(nothing_handed_in)
{
    compile();
    ck_assert(!compiled.ok);
    ck_assert_str_eq(compiled.what, "sum.c is missing: nothing was handed in.");
    ck_assert_str_eq(compiled.place.file, "shown/01_sum/sum.c");

    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/sum.c", handed_in.folder);
    ck_assert_int_eq(mkfifo(path, 0644), 0); /* must not block the grader */
    compile();
    ck_assert(!compiled.ok);
    ck_assert_ptr_nonnull(strstr(compiled.what, "cannot be read"));
    compiled_free(&compiled);
}
END_TEST

START_TEST(the_contract_and_the_makefile_are_ours)
{
    write_file("sum.c", RIGHT);
    write_file("lesson.h", "#error the student's own contract\n");
    write_file("Makefile", "$(error the student's own makefile)\n");
    compile();
    ck_assert_msg(compiled.ok, "%s", compiled.what);
    compiled_free(&compiled);
}
END_TEST

START_TEST(many_at_a_time)
{
    struct handed_in several[5];
    struct compiled results[5];
    struct compile_request requests[5];
    struct trouble trouble = {0};

    for (size_t i = 0; i < 5; i++) {
        char source[600];
        snprintf(handed_in.folder, sizeof handed_in.folder, "%s", support_folder());
        snprintf(source, sizeof source, "%s%s\nstatic const int number = %zu;\n",
                 i == 3 ? "this is not C\n" : "", RIGHT, i);
        write_file("sum.c", source);
        several[i] = handed_in;
        memset(&results[i], 0, sizeof results[i]);
        requests[i] = (struct compile_request){&several[i], &results[i]};
    }
    ck_assert_int_eq(compile_all(&toolchain, requests, 5, &trouble), 0);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_int_eq(results[i].ok, i != 3);
        compiled_free(&results[i]);
    }
    ck_assert_uint_eq(support_processes(), 0);
}
END_TEST

START_TEST(a_drive_can_include_the_submission)
{
    handed_in.lesson = &lesson_02_twice;
    write_file("twice.h", "static int twice(int x)\n{\n    return x + x;\n}\n");
    compile();
    ck_assert_msg(compiled.ok, "%s\n%s", compiled.what, compiled.said ? compiled.said : "");
    write_file("twice.h", "static int twice(int x)\n{\n    return x + y;\n}\n");
    compile();
    ck_assert(!compiled.ok);
    ck_assert_ptr_nonnull(strstr(compiled.what, "'y' undeclared"));
    compiled_free(&compiled);
}
END_TEST

static void write_below(const char *tree, const char *name, const char *text)
{
    char path[PATH_MAX + 64];

    snprintf(path, sizeof path, "%s/lessons/02_twice", tree);
    ck_assert_int_eq(files_make_folders(path), 0);
    snprintf(path, sizeof path, "%s/lessons/02_twice/%s", tree, name);
    unlink(path);
    ck_assert_int_eq(files_write(path, text, strlen(text)), 0);
}

#define USES_HELPER "#include \"lesson.h\"\n#include \"helper.h\"\n"

/* A student's folder is in the source tree, where a reference or another submission is compiled
 * with lesson.h from there and with nothing else of it. */
START_TEST(of_a_students_folder_only_the_contract_goes_into_another_submission)
{
    static const char *const theirs[] = {"twice.h", "helper.h"};
    char tree[PATH_MAX];

    handed_in.lesson = &lesson_02_twice;
    snprintf(tree, sizeof tree, "%s", support_folder());
    toolchain.source = tree;
    write_below(tree, "lesson.h", "/* 1 */\n");
    write_file("helper.h", "#define TWO 2\n");
    write_file("twice.h", USES_HELPER "static int twice(int x)\n{\n    return TWO * x;\n}\n");
    compile();
    ck_assert_msg(compiled.ok && !compiled.from_cache, "%s", compiled.said);
    for (size_t i = 0; i < 2; i++) {
        write_below(tree, theirs[i], "#error begun\n");
        compile();
        ck_assert(compiled.ok && compiled.from_cache);
    }
    write_file("twice.h", USES_HELPER "static int twice(int x)\n{\n    return x * TWO;\n}\n");
    compile();
    ck_assert_msg(compiled.ok && !compiled.from_cache, "%s", compiled.said);
    write_below(tree, "lesson.h", "/* 2 */\n");
    compile();
    ck_assert(compiled.ok && !compiled.from_cache);
    compiled_free(&compiled);
}
END_TEST

START_TEST(no_room_is_an_error_of_the_grader)
{
    struct compile_request request = {.handed_in = &handed_in, .result = &compiled};
    struct trouble trouble = {0};

    toolchain.cache = "/proc/no/such/folder";
    ck_assert_int_eq(compile_all(&toolchain, &request, 1, &trouble), -1);
    ck_assert_int_eq(trouble.kind, TROUBLE_FOLDER);
}
END_TEST

START_TEST(addresses_have_lines)
{
    struct place place;

    write_file("sum.c", "#include \"device.h\"\n#include \"lesson.h\"\n\n"
                        "int sum_array(const int *values, size_t count, int *result)\n{\n"
                        "    (void)values;\n    (void)count;\n    return *result;\n}\n");
    compile();
    ck_assert_msg(compiled.ok, "%s", compiled.what);
    struct sources *sources = sources_open(compiled.library, "mine/01_sum", STAND_IN_SOURCE);
    ck_assert_ptr_nonnull(sources);
    ck_assert(sources_function(sources, "sum_array", &place));
    ck_assert_str_eq(place.file, "mine/01_sum/sum.c");
    ck_assert_uint_eq(place.line, 4);
    ck_assert(place.submission);
    /* Not a function of the student's. */
    ck_assert(!sources_function(sources, "drive_main", &place));
    ck_assert(!sources_function(sources, "no_such_function", &place));

    setenv("LD_LIBRARY_PATH", STAND_IN_LIBRARIES, 1);
    void *library = dlopen(compiled.library, RTLD_LAZY);
    if (library != NULL) { /* the stand-in device is found only through the library path */
        Dl_info info;
        void *function = dlsym(library, "drive_main");
        ck_assert_int_ne(dladdr(function, &info), 0);
        uint64_t offset = (uint64_t)((char *)function - (char *)info.dli_fbase);
        ck_assert(sources_place(sources, offset + 1, &place));
        /* Its first instructions may belong to a function that is inlined there. */
        ck_assert_ptr_nonnull(strstr(place.file, "drive."));
        ck_assert_str_eq(place.function, "drive_main");
        ck_assert(!place.submission);
        function = dlsym(library, "sum_array");
        offset = (uint64_t)((char *)function - (char *)info.dli_fbase);
        ck_assert(sources_place(sources, offset, &place));
        ck_assert_str_eq(place.file, "mine/01_sum/sum.c");
        ck_assert(place.submission);
    }
    ck_assert(!sources_place(sources, 0x7fffffff, &place));
    sources_close(sources);
    ck_assert_ptr_null(sources_open("/no/such/file", "x", "y"));
    ck_assert(!sources_place(NULL, 0, &place));
    compiled_free(&compiled);
}
END_TEST

/* ---- several runs ---------------------------------------------------------------------------- */

#define SEVERAL 12

/* A function that returns a value made from OVERLAP_FAIL; "crash" makes it crash. */
static const char tells_what_it_was_given[] =
    "#include \"lesson.h\"\n"
    "#include <stdlib.h>\n"
    "extern const char *device_given(void);\n"
    "int sum_array(const int *values, size_t count, int *result)\n"
    "{\n"
    "    const char *given = device_given();\n"
    "    (void)values; (void)count;\n"
    "    if (given[0] == 'c') abort();\n"
    "    *result = atoi(given);\n"
    "    return 0;\n"
    "}\n";

static struct evidence evidences[SEVERAL];

/* Returns how many runs were made; those from `bad` on crash. */
static size_t make_several(size_t bad)
{
    struct run_request requests[SEVERAL];
    char faults[SEVERAL][8];
    struct trouble trouble = {0};
    size_t made = 99;

    write_file("sum.c", tells_what_it_was_given);
    compile();
    ck_assert(compiled.ok);
    for (size_t i = 0; i < SEVERAL; i++) {
        snprintf(faults[i], sizeof faults[i], i >= bad ? "crash" : "%zu", i);
        requests[i] = (struct run_request){.toolchain = &toolchain,
                                           .lesson = &lesson_01_sum,
                                           .plan = &lesson_01_sum.runs[0],
                                           .library = compiled.library,
                                           .shown_folder = handed_in.shown,
                                           .device = DRIVE_EMULATOR,
                                           .order = "latest",
                                           .injection = faults[i],
                                           .seed = 7};
    }
    ck_assert_int_eq(run_make_several(requests, SEVERAL, evidences, &made, &trouble), 0);
    ck_assert_int_eq(trouble.kind, TROUBLE_NONE);
    for (size_t i = 0; i < made; i++) {
        const struct sum_output *output = evidences[i].output;
        ck_assert_int_eq(evidences[i].ending, i >= bad ? ENDED_SIGNAL : ENDED_WELL);
        if (i < bad) ck_assert_int_eq(output->result, (int)i);
        /* The same inputs for all. */
        ck_assert_uint_eq(evidences[i].input_size, evidences[0].input_size);
        ck_assert_mem_eq(evidences[i].input, evidences[0].input, evidences[0].input_size);
    }
    for (size_t i = 0; i < made; i++) evidence_release(&evidences[i]);
    return made;
}

START_TEST(several_runs_keep_apart)
{
    ck_assert_uint_eq(make_several(SEVERAL), SEVERAL);
}
END_TEST

START_TEST(no_run_begins_after_one_that_ended_badly)
{
    const size_t made = make_several(3);
    ck_assert_uint_gt(made, 3);
    ck_assert_uint_le(made, 3 + 4); /* runs that had begun together with the first */
}
END_TEST

/* ---- what does not depend on the machine ------------------------------------------------------
 */

/* Returns the submission's result in a run of a plan with these flags. */
static int result_with(unsigned flags, const char *order)
{
    struct run_plan plan = lesson_01_sum.runs[0];
    struct evidence evidence;
    struct trouble trouble = {0};
    size_t made = 0;

    plan.flags = flags;
    const struct run_request request = {.toolchain = &toolchain,
                                        .lesson = &lesson_01_sum,
                                        .plan = &plan,
                                        .library = compiled.library,
                                        .shown_folder = handed_in.shown,
                                        .device = DRIVE_EMULATOR,
                                        .order = order,
                                        .seed = 7};
    ck_assert_int_eq(run_make_several(&request, 1, &evidence, &made, &trouble), 0);
    ck_assert_uint_eq(made, 1);
    ck_assert_int_eq(evidence.ending, ENDED_WELL);
    const int result = ((const struct sum_output *)evidence.output)->result;
    evidence_release(&evidence);
    return result;
}

/* A function that returns the number of workers. */
START_TEST(blocks_run_one_after_the_other)
{
    write_file("sum.c", "#include \"lesson.h\"\n"
                        "#include <stdlib.h>\n"
                        "extern const char *device_workers(void);\n"
                        "int sum_array(const int *values, size_t count, int *result)\n"
                        "{\n"
                        "    (void)values; (void)count;\n"
                        "    *result = atoi(device_workers());\n"
                        "    return 0;\n"
                        "}\n");
    compile();
    ck_assert(compiled.ok);
    ck_assert_int_eq(result_with(RUN_ON_EMULATOR, "latest"), 1);
    ck_assert_int_eq(result_with(RUN_ON_EMULATOR | RUN_TIMED, "latest"), 1);
}
END_TEST

/* A function that returns 1 if its thread ran before it went on itself. */
static const char asks_which_is_first[] =
    "#include \"lesson.h\"\n"
    "#include <pthread.h>\n"
    "static int gone_on, first;\n"
    "static void *thread(void *unused)\n"
    "{\n"
    "    first = !gone_on;\n"
    "    return unused;\n"
    "}\n"
    "int sum_array(const int *values, size_t count, int *result)\n"
    "{\n"
    "    pthread_t id;\n"
    "    (void)values; (void)count;\n"
    "    if (pthread_create(&id, NULL, thread, NULL)) return 1;\n"
    "    gone_on = 1;\n"
    "    pthread_join(id, NULL);\n"
    "    *result = first;\n"
    "    return 0;\n"
    "}\n";

START_TEST(whether_a_thread_or_its_starter_is_first_is_known)
{
    write_file("sum.c", asks_which_is_first);
    compile();
    ck_assert(compiled.ok);
    ck_assert_int_eq(result_with(RUN_ON_EMULATOR | RUN_IN_EVERY_ORDER, "latest"), 0);
    ck_assert_int_eq(result_with(RUN_ON_EMULATOR | RUN_IN_EVERY_ORDER, "earliest"), 1);
    ck_assert_int_eq(result_with(RUN_ON_EMULATOR, "latest"), 0);
    ck_assert_int_eq(result_with(RUN_ON_EMULATOR | RUN_INJECTIONS, "latest"), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("grader building");
    TCase *tcase = tcase_create("building");
    tcase_set_timeout(tcase, 300);
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, what_is_unchanged_is_not_compiled_again);
    tcase_add_test(tcase, errors_have_their_line);
    tcase_add_loop_test(tcase, what_is_no_text_is_not_compiled, 0,
                        sizeof no_texts / sizeof no_texts[0]);
    tcase_add_loop_test(tcase, what_cannot_be_built_is_explained, 0,
                        sizeof broken / sizeof broken[0]);
    tcase_add_test(tcase, a_compiler_has_so_many_seconds);
    tcase_add_test(tcase, nothing_handed_in);
    tcase_add_test(tcase, the_contract_and_the_makefile_are_ours);
    tcase_add_test(tcase, many_at_a_time);
    tcase_add_test(tcase, a_drive_can_include_the_submission);
    tcase_add_test(tcase, of_a_students_folder_only_the_contract_goes_into_another_submission);
    tcase_add_test(tcase, no_room_is_an_error_of_the_grader);
    tcase_add_test(tcase, addresses_have_lines);
    tcase_add_test(tcase, several_runs_keep_apart);
    tcase_add_test(tcase, no_run_begins_after_one_that_ended_badly);
    tcase_add_test(tcase, blocks_run_one_after_the_other);
    tcase_add_test(tcase, whether_a_thread_or_its_starter_is_first_is_known);
    suite_add_tcase(suite, tcase);
    return support_finish(srunner_create(suite));
}
