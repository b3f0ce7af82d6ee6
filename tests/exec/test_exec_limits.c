/* What no device has room for is refused when it is loaded, with its name and the limit; what just
 * fits is not. What runs out while a kernel runs has a code and a sentence. */
#include "emulator/exec/exec.h"
#include "emulator/ptx/ptx.h"
#include "tests/exec/device.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char log_text[512];

static struct exec_program *build(const char *version, const char *body)
{
    static char text[4096];
    static struct ptx_diagnostics diagnostics;
    snprintf(text, sizeof text, ".version %s\n.target sm_75\n.address_size 64\n%s", version, body);
    struct ptx_module *module = ptx_parse(text, strlen(text), &diagnostics);
    ck_assert_msg(module != NULL, "%s", diagnostics.entries[0].text);
    struct exec_program *program = exec_program_create(module, log_text, sizeof log_text);
    ptx_module_destroy(module);
    return program;
}

static const struct {
    const char *version, *fits, *does_not, *says;
} rows[] = {
    {"8.0", ".visible .entry k() { .shared .b8 s[49152]; ret; }",
     ".visible .entry k() { .shared .b8 s[49153]; ret; }",
     "k: 49153 bytes of static shared memory"},
    {"8.0", ".visible .entry k() { .shared .b8 s[49152]; ret; }",
     ".visible .entry k() { .shared .b8 s[4294967296]; ret; }", "k: 4294967296 bytes of static"},
    {"8.0", ".shared .b8 m[40000];\n.visible .entry k() { .shared .b8 s[9000]; ret; }",
     ".shared .b8 m[40000];\n.visible .entry k() { .reg .u32 r; .shared .b8 s[9400];\n"
     "ld.shared.u32 r, [m]; ret; }",
     "k: 49400 bytes of static shared memory"},
    {"8.0", ".shared .b8 m[49152];\n.visible .entry k() { ret; }",
     ".shared .b8 m[49152];\n.shared .b8 n[1];\n.visible .entry k() { ret; }",
     "n: 49153 bytes of static shared memory"},
    {"8.0", ".visible .entry k() { .local .b8 s[524288]; ret; }",
     ".visible .entry k() { .local .b8 s[524289]; ret; }", "k: 524289 bytes of local memory"},
    {"8.0", ".visible .entry k() { .local .b8 s[524288]; ret; }",
     ".visible .entry k() { .local .b8 s[4294967296]; ret; }", "k: 4294967296 bytes of local"},
    {"8.0", ".func f() { .local .b8 s[200000]; ret; }\n.visible .entry k() { call f; ret; }",
     ".func f() { .local .b8 s[300000]; ret; }\n"
     ".visible .entry k() { .local .b8 s[300000]; call f; ret; }",
     "of local memory for a thread with what it calls"},
    {"8.0", ".func f(.param .b8 a[524288]) { ret; }\n.visible .entry k() { ret; }",
     ".func f(.param .b8 a[524289]) { ret; }\n.visible .entry k() { ret; }",
     "f: 524289 bytes of local memory"},
    {"8.0", ".visible .const .b8 c[65536];\n.visible .entry k() { ret; }",
     ".visible .const .b8 c[65536];\n.visible .const .b8 d[1];\n.visible .entry k() { ret; }",
     "d: 65537 bytes of constant memory"},
    {"8.0", ".visible .entry k(.param .b8 p[4352]) { ret; }",
     ".visible .entry k(.param .b8 p[4353]) { ret; }",
     "k: 4353 bytes of parameters; a device has at most 4352"},
    {"8.1", ".visible .entry k(.param .b8 p[32764]) { ret; }",
     ".visible .entry k(.param .b8 p[32764], .param .b8 q) { ret; }",
     "k: 32765 bytes of parameters"},
    {"8.0", ".global .b8 g[268435456] = {1};\n.visible .entry k() { ret; }",
     ".global .b8 g[268435457] = {1};\n.visible .entry k() { ret; }",
     "g: 268435457 bytes of initialised memory"},
};

START_TEST(what_is_too_large_is_refused)
{
    struct exec_program *program = build(rows[_i].version, rows[_i].fits);
    ck_assert_msg(program != NULL, "%s: %s", rows[_i].fits, log_text);
    exec_program_destroy(program);
    ck_assert_ptr_null(build(rows[_i].version, rows[_i].does_not));
    ck_assert_msg(strstr(log_text, rows[_i].says) != NULL, "it says: %s", log_text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec_limits");
    TCase *tests = tcase_create("all");
    tcase_add_loop_test(tests, what_is_too_large_is_refused, 0, sizeof rows / sizeof *rows);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
