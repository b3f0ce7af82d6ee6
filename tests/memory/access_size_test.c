/* How many bytes an instruction accesses, from its code as gcc makes it. */
#include "emulator/memory/access_size.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *code;
    unsigned size;
    const char *what;
} rows[] = {
    {"\x8b\x04\x90", 4, "mov (%rax,%rdx,4),%eax"},
    {"\x48\x8b\x07", 8, "mov (%rdi),%rax"},
    {"\x66\x8b\x07", 2, "mov (%rdi),%ax"},
    {"\x8a\x07", 1, "mov (%rdi),%al"},
    {"\x0f\xb6\x07", 1, "movzbl (%rdi),%eax"},
    {"\x0f\xb7\x07", 2, "movzwl (%rdi),%eax"},
    {"\x48\x63\x07", 4, "movslq (%rdi),%rax"},
    {"\x03\x07", 4, "add (%rdi),%eax"},
    {"\x44\x39\x07", 4, "cmp %r8d,(%rdi)"},
    {"\x48\x83\x3f\x01", 8, "cmpq $1,(%rdi)"},
    {"\xc7\x07\x01\x00\x00\x00", 4, "movl $1,(%rdi)"},
    {"\xf0\x48\x0f\xc1\x07", 8, "lock xadd %rax,(%rdi)"},
    {"\x66\x90", 0, "nop"},
    {"\xf3\xa4", 0, "rep movsb"},
    {"\xf3\x0f\x10\x07", 4, "movss (%rdi),%xmm0"},
    {"\xf3\x44\x0f\x10\x07", 4, "movss (%rdi),%xmm8"},
    {"\xf2\x0f\x58\x07", 8, "addsd (%rdi),%xmm0"},
    {"\xf3\x0f\x5a\x07", 4, "cvtss2sd (%rdi),%xmm0"},
    {"\x0f\x5a\x07", 8, "cvtps2pd (%rdi),%xmm0"},
    {"\x0f\x10\x07", 16, "movups (%rdi),%xmm0"},
    {"\xf3\x0f\x6f\x07", 16, "movdqu (%rdi),%xmm0"},
    {"\xf3\x0f\x7e\x07", 8, "movq (%rdi),%xmm0"},
    {"\x66\x0f\xd6\x07", 8, "movq %xmm0,(%rdi)"},
    {"\x66\x0f\xfe\x07", 16, "paddd (%rdi),%xmm0"},
    {"\xc5\xfa\x10\x07", 4, "vmovss (%rdi),%xmm0"},
    {"\xc5\xfc\x10\x07", 32, "vmovups (%rdi),%ymm0"},
    {"\xc5\xfe\x6f\x07", 32, "vmovdqu (%rdi),%ymm0"},
    {"\xc4\xe2\x7d\x18\x07", 4, "vbroadcastss (%rdi),%ymm0"},
    {"\xc4\xe2\x71\xb9\x07", 4, "vfmadd231ss (%rdi),%xmm1,%xmm0"},
    {"\xc4\xe2\xf1\xb9\x07", 8, "vfmadd231sd (%rdi),%xmm1,%xmm0"},
    {"\xc4\xe2\x75\xb8\x07", 32, "vfmadd231ps (%rdi),%ymm1,%ymm0"},
    {"\x62\xf1\xfe\x48\x6f\x06", 64, "vmovdqu64 (%rsi),%zmm0"},
    {"\x62\xe1\xfe\x28\x6f\x06", 32, "vmovdqu64 (%rsi),%ymm16"},
    {"\x62\xe1\x7c\x48\x11\x07", 64, "vmovups %zmm16,(%rdi)"},
    {"\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66", 0, "prefixes alone"},
};

START_TEST(an_instruction_has_its_size)
{
    uint8_t code[ACCESS_SIZE_CODE];
    memset(code, 0xcc, sizeof code);
    memcpy(code, rows[_i].code, strlen(rows[_i].code));
    ck_assert_msg(access_size(code) == rows[_i].size, "%s: %u", rows[_i].what, access_size(code));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("access size");
    TCase *tests = tcase_create("access size");
    tcase_add_loop_test(tests, an_instruction_has_its_size, 0, sizeof rows / sizeof *rows);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
