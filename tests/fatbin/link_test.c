/* Promises of fatbin_link: one definition of every name, private names kept apart, source files
 * told apart, and a sentence where the units contradict each other. */
#include "emulator/fatbin/link.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 9.0\n.target sm_75\n.address_size 64\n"

static struct fatbin_unit joined;
static char why[256];

static enum fatbin_result join(const char *first, const char *second)
{
    struct fatbin_unit units[2] = {{(char *)first, strlen(first), 75},
                                   {(char *)second, strlen(second), 80}};
    struct fatbin fatbin = {units, second[0] != '\0' ? 2 : 1};
    return fatbin_link(&fatbin, &joined, why, sizeof why);
}

static void tear_down(void)
{
    free(joined.text);
    joined = (struct fatbin_unit){0};
}

static size_t occurrences(const char *text)
{
    size_t count = 0;
    for (const char *at = joined.text; (at = strstr(at, text)) != NULL; at++) count++;
    return count;
}

START_TEST(one_unit_is_left_as_it_is)
{
    const char *text = HEAD ".global .align 1 .b8 $str[2] = {1, 2};\n";
    ck_assert_int_eq(join(text, ""), FATBIN_OK);
    ck_assert_ptr_nonnull(strstr(joined.text, "$str[2] = {1, 2};"));
    ck_assert_uint_eq(occurrences("$unit"), 0);
    ck_assert_uint_eq(joined.length, strlen(joined.text));
    ck_assert_uint_eq(joined.arch, 75);
}
END_TEST

START_TEST(a_function_of_another_unit_is_found)
{
    const char *user = HEAD ".extern .func (.param .b32 r) f(.param .b32 f_0);\n"
                            ".visible .entry k(.param .u64 k_0) { ret; }\n";
    const char *owner = HEAD ".visible .func (.param .b32 r) f(.param .b32 f_0) { ret; }\n";
    ck_assert_int_eq(join(user, owner), FATBIN_OK);
    ck_assert_uint_eq(occurrences(".version"), 1);
    ck_assert_uint_eq(occurrences(".extern"), 0); /* declared as it is defined */
    ck_assert_uint_eq(occurrences(".visible .func (.param .b32 r) f"), 2);
    ck_assert_uint_eq(joined.arch, 80);
    tear_down();
    ck_assert_int_eq(join(owner, user), FATBIN_OK);
    ck_assert_uint_eq(occurrences(" f("), 1); /* no declaration after the definition */
    tear_down();
    ck_assert_int_eq(join(user, HEAD), FATBIN_OK);
    ck_assert_uint_eq(occurrences(".extern .func"), 1); /* printf, malloc: the device's own */
}
END_TEST

START_TEST(a_variable_of_another_unit_is_found)
{
    ck_assert_int_eq(join(HEAD ".extern .global .align 4 .u32 x;\n.extern .const .b8 t[];\n",
                          HEAD ".visible .global .align 4 .u32 x = 5;\n"
                               ".visible .const .b8 t[2] = {1, 2};\n"),
                     FATBIN_OK);
    ck_assert_uint_eq(occurrences(".u32 x"), 2);
    ck_assert_uint_eq(occurrences("x = 5;"), 1);
    ck_assert_ptr_nonnull(strstr(strstr(joined.text, ".extern .const .b8 t[];"), "t[2]"));
}
END_TEST

START_TEST(private_names_are_kept_apart)
{
    const char *unit = HEAD "/* $str in a comment */\n"
                            ".global .align 1 .b8 $str[1] = {7};\n"
                            ".func helper(.param .b32 helper_0) { mov.u64 %rd1, $str; ret; }\n"
                            ".weak .func w() { call helper, (a); ret; }\n";
    ck_assert_int_eq(join(unit, unit), FATBIN_OK);
    ck_assert_uint_eq(occurrences("$str$unit1"), 2);
    ck_assert_uint_eq(occurrences(".func helper"), 2);
    ck_assert_uint_eq(occurrences("helper$unit1"), 1); /* the weak caller is the first unit's */
    ck_assert_uint_eq(occurrences("helper_0"), 2);     /* only whole words are renamed */
    ck_assert_uint_eq(occurrences(".weak .func w"), 1);
}
END_TEST

/* The name stays undefined, for whoever loads the text to refuse. */
START_TEST(a_private_name_is_of_no_use_to_another_unit)
{
    const char *owner = HEAD ".func f() { ret; }\n.global .align 4 .u32 x = 5;\n"
                             ".visible .entry a() { call f, (); mov.u64 %rd1, x; ret; }\n";
    const char *user = HEAD ".extern .func f();\n.extern .global .align 4 .u32 x;\n"
                            ".visible .entry b() { call f, (); ret; }\n";
    ck_assert_int_eq(join(owner, user), FATBIN_OK);
    ck_assert_uint_eq(occurrences("f$unit0"), 2);
    ck_assert_uint_eq(occurrences("x$unit0"), 2);
    ck_assert_uint_eq(occurrences(".extern .func f()"), 1);
    tear_down();
    ck_assert_int_eq(join(user, owner), FATBIN_OK);
    ck_assert_uint_eq(occurrences("f$unit1"), 2);
    ck_assert_uint_eq(occurrences("x$unit1"), 2);
}
END_TEST

/* The weak definition becomes a declaration for the rest of its unit. */
START_TEST(a_definition_that_gives_way_declares)
{
    ck_assert_int_eq(join(HEAD ".weak .global .align 4 .u32 x = 1;\n"
                               ".weak .func (.param .b32 r) w() { mov.u32 %r1, 1; }\n"
                               ".visible .entry k() { call (a), w; ret; }\n",
                          HEAD ".visible .func (.param .b32 r) w() { mov.u32 %r1, 2; }\n"
                               ".visible .global .align 4 .u32 x = 2;\n"),
                     FATBIN_OK);
    ck_assert_uint_eq(occurrences("%r1, 1"), 0);
    ck_assert_uint_eq(occurrences(".visible .func (.param .b32 r) w() ;"), 1);
    ck_assert_uint_eq(occurrences(".visible .func (.param .b32 r) w() {"), 1);
    ck_assert_uint_eq(occurrences(".extern .global .align 4 .u32 x ;"), 1);
    ck_assert_uint_eq(occurrences("x = 1"), 0);
    ck_assert_uint_eq(occurrences("x = 2"), 1);
    tear_down();
    /* before a use in a unit between them */
    ck_assert_int_eq(join(HEAD ".weak .func w() { ret; }\n.extern .func w();\n",
                          HEAD ".visible .func w() { exit; }\n"),
                     FATBIN_OK);
    ck_assert_uint_eq(occurrences(" w()"), 2);
}
END_TEST

START_TEST(a_strong_definition_wins_over_a_weak_one)
{
    ck_assert_int_eq(join(HEAD ".weak .func w() { mov.u32 %r1, 1; }\n",
                          HEAD ".visible .func w() { mov.u32 %r1, 2; }\n"),
                     FATBIN_OK);
    ck_assert_uint_eq(occurrences("%r1, 1"), 0);
    ck_assert_uint_eq(occurrences("%r1, 2"), 1);
}
END_TEST

START_TEST(source_files_get_numbers_of_their_own)
{
    ck_assert_int_eq(join(HEAD ".visible .entry a() {\n.loc 2 5 0\nret; }\n"
                               ".file 1 \"one.cu\"\n.file 2 \"two 1.h\"\n",
                          HEAD ".visible .entry b() {\n.loc 1 9 0, function_name $L, inlined_at 1 "
                               "4 0\nret; }\n.file 1 \"three.cu\"\n"),
                     FATBIN_OK);
    ck_assert_ptr_nonnull(strstr(joined.text, ".loc 2 5 0"));
    ck_assert_ptr_nonnull(strstr(joined.text, ".loc 3 9 0, function_name $L, inlined_at 3 4 0"));
    ck_assert_ptr_nonnull(strstr(joined.text, ".file 2 \"two 1.h\""));
    ck_assert_ptr_nonnull(strstr(joined.text, ".file 3 \"three.cu\""));
}
END_TEST

START_TEST(two_definitions_are_refused)
{
    const char *unit = HEAD ".visible .global .u32 counter = 1;\n";
    ck_assert_int_eq(join(unit, unit), FATBIN_DAMAGED);
    ck_assert_str_eq(why, "counter is defined in two translation units");
    ck_assert_ptr_null(joined.text);
}
END_TEST

static const char *const cuts[] = {".visible .entry k(.param .u64 p) { ret;",
                                   ".global .u32 x",
                                   ".visible .func (",
                                   ".global .b8 s[1] = {1",
                                   "\"",
                                   ".pragma \"no end",
                                   ".entry {{{{(((("};

START_TEST(a_text_that_ends_too_soon_is_refused)
{
    ck_assert_int_eq(join(cuts[_i], HEAD), FATBIN_DAMAGED);
    ck_assert_str_eq(why, "PTX ends in the middle of a statement");
    ck_assert_int_eq(join(HEAD, cuts[_i]), FATBIN_DAMAGED);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fatbin_link");
    TCase *tcase = tcase_create("fatbin_link");
    tcase_add_checked_fixture(tcase, NULL, tear_down);
    tcase_add_test(tcase, one_unit_is_left_as_it_is);
    tcase_add_test(tcase, a_function_of_another_unit_is_found);
    tcase_add_test(tcase, a_variable_of_another_unit_is_found);
    tcase_add_test(tcase, private_names_are_kept_apart);
    tcase_add_test(tcase, a_private_name_is_of_no_use_to_another_unit);
    tcase_add_test(tcase, a_strong_definition_wins_over_a_weak_one);
    tcase_add_test(tcase, a_definition_that_gives_way_declares);
    tcase_add_test(tcase, source_files_get_numbers_of_their_own);
    tcase_add_test(tcase, two_definitions_are_refused);
    tcase_add_loop_test(tcase, a_text_that_ends_too_soon_is_refused, 0,
                        (int)(sizeof cuts / sizeof *cuts));
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
