/* Which instructions execute: every instruction that the parser's tests accept compiles to
 * something that runs, except those listed here; and the table of supported opcodes agrees. */
#include "emulator/ptx/ptx.h"
#include "tests/exec/device.h"
#include "tests/exec/support.h"

#include <check.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Accepted by the parser, and reported when a kernel reaches it. */
static const struct {
    const char *pattern, *why;
} named[] = {
    {"mov.* %pm*", "performance counters"},
    {"tex.1d.v4.f16.*", "results of 16 bits"},
    {"tex.1d.v2.f16x2.*", "results of 16 bits"},
    {"tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%d1, %d2, *", "samplers apart from textures"},
    {"tex.2d.v4.f32.f32 *, {%r1,%r2};", "offsets"},
    {"txq.channel_order.*", "queries of formats"},
    {"txq.addr_mode_0.*", "queries of samplers"},
};

static const char head[] = ".version 9.0\n.target sm_90a\n.address_size 64\n"
                           ".global .align 16 .b8 gv[64];\n.global .texref tx;\n"
                           ".func dummy() { ret; }\n"
                           ".visible .entry k() {\n.reg .pred %p<16>;\n.reg .b16 %h<16>;\n"
                           ".reg .b32 %r<16>;\n.reg .b64 %d<16>;\n.reg .f32 %f<16>;\n"
                           ".reg .f64 %g<16>;\n.reg .b128 %q<16>;\n"
                           ".shared .align 16 .b8 sv[64];\n"
                           "T1: .branchtargets L1, L1;\nL1: ret;\n";

static bool is_named(const char *line)
{
    for (size_t k = 0; k < sizeof named / sizeof *named; k++)
        if (!fnmatch(named[k].pattern, line, FNM_EXTMATCH)) return true;
    return false;
}

static void keep_sentence(void *user, const char *function, const char *sentence)
{
    (void)function;
    snprintf(user, 400, "%s", sentence);
}

/* Appends the problem of one accepted instruction to `log`. */
static void check_line(const char *line, char *log, size_t size)
{
    char text[2048], sentence[400] = "";
    const size_t used = strlen(log);
    snprintf(text, sizeof text, "%s%s\n}\n", head, line);
    struct exec_program *program = device_program(text);
    const size_t missing = exec_support_missing(program, keep_sentence, sentence);
    exec_program_destroy(program);
    device_reset();
    if ((missing != 0) == is_named(line) || used + 300 > size) return;
    snprintf(log + used, size - used, "\n%s: %s", line,
             missing ? sentence : "is listed as one that does not execute, and does");
}

START_TEST(what_the_parser_accepts_executes)
{
    static const char *const files[] = {
        INSTRUCTIONS "converting.txt", INSTRUCTIONS "others.txt",   INSTRUCTIONS "tensor.txt",
        INSTRUCTIONS "tensor_map.txt", INSTRUCTIONS "textures.txt", INSTRUCTIONS "video.txt"};
    static char log[4000];
    char line[512];
    size_t count = 0;
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        FILE *file = fopen(files[k], "r");
        ck_assert_msg(file != NULL, "%s", files[k]);
        while (fgets(line, sizeof line, file)) {
            if (strncmp(line, "ok   ", 5) != 0) continue;
            line[strcspn(line, "\n")] = 0;
            check_line(line + 5, log, sizeof log);
            count++;
        }
        fclose(file);
    }
    ck_assert_uint_gt(count, 1000);
    ck_assert_msg(!log[0], "%s", log);
}
END_TEST

struct forms {
    unsigned count;
    bool rounded_add;
};

static void count_form(void *user, const char *form)
{
    struct forms *forms = user;
    forms->count++;
    if (!strcmp(form, "add.rn.ftz.f32")) forms->rounded_add = true;
    ck_assert_msg(!strncmp(form, "add.", 4), "%s is no form of add", form);
}

START_TEST(the_table_agrees_with_the_rows)
{
    size_t supported = 0;
    for (size_t k = 0; k < exec_support_count(); k++) {
        const struct exec_support row = exec_support_at(k);
        ck_assert(row.name[0] && row.meaning[0]);
        supported += row.supported;
        if (!strcmp(row.name, "tcgen05")) ck_assert(!row.supported);
        if (strcmp(row.name, "add") != 0) continue;
        struct forms forms = {0};
        ck_assert(row.supported);
        exec_support_forms(k, count_form, &forms);
        ck_assert_uint_gt(forms.count, 20);
        ck_assert(forms.rounded_add);
    }
    ck_assert_uint_gt(supported, 100);
}
END_TEST

/* Unsupported tensor core instructions are reported by name. */
START_TEST(tensor_cores_are_named)
{
    static const char *const rows[] = {
        "tcgen05.wait::ld.sync.aligned",
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f16 {%f1, %f2, %f3, %f4}, {%r1, %r2, "
        "%r3, %r4}, {%r5, %r6}, {%r7, %r8}",
        "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.xor.popc {%r1, %r2, %r3, %r4}, %d1, "
        "%d2, %p1",
        "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f2}",
        "mma.sync.aligned.m16n8k8.col.row.f16.f16.f16.f16 {%r1, %r2}, {%r3, %r4}, {%r5}, "
        "{%r6, %r7}",
        "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r3}, {%r5}, {%r6, %r7}",
        "mma.sync.aligned.m16n8k4.row.col.rz.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, "
        "{%r3}, {%f1, %f2, %f3, %f4}",
        "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, "
        "%r3, %r4}, {%r1, %r2, %r3, %r4}, {%f1, %f2, %f3, %f4}, %r5, 2",
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1, %r2}, [%d1]",
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char sentence[400] = "", text[2048];
        snprintf(text, sizeof text, "%s%s;\n}\n", head, rows[k]);
        struct exec_program *program = device_program(text);
        ck_assert_msg(exec_support_missing(program, keep_sentence, sentence) == 1, "%s", rows[k]);
        ck_assert_msg(strstr(sentence, rows[k]) != NULL, "%s: %s", rows[k], sentence);
        exec_program_destroy(program);
    }
    device_reset();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec_support");
    TCase *tests = tcase_create("support");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, what_the_parser_accepts_executes);
    tcase_add_test(tests, the_table_agrees_with_the_rows);
    tcase_add_test(tests, tensor_cores_are_named);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
