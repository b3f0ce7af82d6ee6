/* Variables and their initial values: bytes, addresses, masks, rows. */
#include "tests/ptx/support.h"

START_TEST(spaces_types_and_attributes)
{
    struct ptx_module *module =
        parsed(HEAD ".visible .global .align 16 .v4 .f32 a[3];\n.const .u8 b;\n"
                    ".extern .shared .align 8 .b8 dynamic[];\n.weak .global .u64 w;\n"
                    ".common .global .b32 c;\n.global .attribute(.managed) .align 4 .u32 m;\n"
                    ".extern .global .b32 later;\n.visible .global .b32 later = 5;\n"
                    ".global .texref t;\n.global .samplerref s = { addr_mode_0 = clamp_to_edge };\n"
                    ".global .b16 several, others[2];\n");
    const struct ptx_variable *a = variable_of(module, "a");
    ck_assert_uint_eq(a->space, PTX_SPACE_GLOBAL);
    ck_assert_int_eq(a->type, PTX_F32);
    ck_assert_uint_eq(a->vector, 4);
    ck_assert_uint_eq(a->size, 48);
    ck_assert_uint_eq(a->alignment, 16);
    ck_assert_int_eq(a->linkage, PTX_VISIBLE);
    ck_assert_uint_eq(variable_of(module, "b")->space, PTX_SPACE_CONST);
    const struct ptx_variable *dynamic = variable_of(module, "dynamic");
    ck_assert(dynamic->is_unsized && dynamic->is_array);
    ck_assert_uint_eq(dynamic->size, 0);
    ck_assert_int_eq(dynamic->linkage, PTX_EXTERN);
    ck_assert_int_eq(variable_of(module, "w")->linkage, PTX_WEAK);
    ck_assert_int_eq(variable_of(module, "c")->linkage, PTX_COMMON);
    ck_assert(variable_of(module, "m")->managed && !a->managed);
    ck_assert_int_eq(variable_of(module, "later")->linkage, PTX_VISIBLE);
    ck_assert(variable_of(module, "later")->initialised);
    ck_assert_uint_eq(variable_of(module, "t")->size, 8);
    ck_assert_uint_eq(variable_of(module, "others")->size, 4);
    for (uint32_t i = 0; i < module->variable_count; i++)
        ck_assert_uint_eq(module->variables[i]->index, i);
    ptx_module_destroy(module);
}
END_TEST

START_TEST(numbers_become_bytes)
{
    static const struct {
        const char *declaration;
        uint32_t size;
        unsigned char bytes[24];
    } rows[] = {
        {".global .b8 x[4] = {1, 255, -1};", 4, {1, 255, 255, 0}},
        {".global .u32 x = 0x01020304;", 4, {4, 3, 2, 1}},
        {".global .s16 x[2] = {-2, 3};", 4, {254, 255, 3, 0}},
        {".global .u64 x = 18446744073709551615;", 8, {255, 255, 255, 255, 255, 255, 255, 255}},
        {".const .f32 x[2] = {0f3F800000, -2.0};", 8, {0, 0, 128, 63, 0, 0, 0, 192}},
        {".global .f64 x = 0d3FF8000000000000;", 8, {0, 0, 0, 0, 0, 0, 248, 63}},
        {".global .f16 x = 1.0;", 2, {0, 60}},
        {".global .b32 x = 0f3F800000;", 4, {0, 0, 128, 63}},
        {".global .u8 x[2][3] = {{1}, {2, 3}};", 6, {1, 0, 0, 2, 3, 0}},
        {".global .u8 x[2][3] = {1, 2, 3, 4};", 6, {1, 2, 3, 4, 0, 0}},
        {".global .u8 x[2][2][2] = {{{1}, {2, 3}}, {{}, {4}}};", 8, {1, 0, 2, 3, 0, 0, 4, 0}},
        {".global .u8 x[] = {7, 8, 9};", 3, {7, 8, 9}},
        {".global .u8 x[][2] = {{7}, {8, 9}, {1}};", 6, {7, 0, 8, 9, 1, 0}},
        {".global .v2 .u16 x = {1, 2};", 4, {1, 0, 2, 0}},
        {".global .v2 .u8 x[2] = {{1, 2}, {3}};", 4, {1, 2, 3, 0}},
        {".global .u8 x[3] = {};", 3, {0, 0, 0}},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        char text[512];
        unsigned char bytes[64];
        snprintf(text, sizeof text, HEAD "%s\n", rows[row].declaration);
        struct ptx_module *module = parsed(text);
        const struct ptx_variable *x = variable_of(module, "x");
        ck_assert_msg(x->size == rows[row].size, "%s", rows[row].declaration);
        memset(bytes, 0xA5, sizeof bytes);
        ptx_variable_contents(x, bytes);
        ck_assert_msg(memcmp(bytes, rows[row].bytes, x->size) == 0, "%s", rows[row].declaration);
        ck_assert_uint_eq(bytes[x->size], 0xA5);
        check_round_trip(module);
        ptx_module_destroy(module);
    }
}
END_TEST

START_TEST(addresses_become_relocations)
{
    struct ptx_module *module =
        parsed(HEAD ".func f() ;\n.global .b32 v;\n"
                    ".global .u64 x[6] = {v, v+4, generic(v), generic(v)+8, f, 7};\n"
                    ".global .b8 m[6] = {0xFF(v), 0xFF00(v+2), 1, 0xFF0000(generic(v)), "
                    "0xFF00000000000000(f), 2};\n.global .u64 self = self;\n");
    const struct ptx_variable *x = variable_of(module, "x"), *v = variable_of(module, "v");
    static const struct {
        uint64_t offset;
        int64_t addend;
        bool generic;
        bool is_function;
    } expected[] = {{0, 0, false, false},
                    {8, 4, false, false},
                    {16, 0, true, false},
                    {24, 8, true, false},
                    {32, 0, false, true}};
    ck_assert_uint_eq(x->relocation_count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        const struct ptx_relocation *r = &x->relocations[i];
        ck_assert_uint_eq(r->offset, expected[i].offset);
        ck_assert_uint_eq(r->bytes, 8);
        ck_assert_uint_eq(r->shift, 0);
        ck_assert_int_eq(r->addend, expected[i].addend);
        ck_assert_int_eq(r->generic, expected[i].generic);
        ck_assert_ptr_eq(r->variable, expected[i].is_function ? NULL : v);
        ck_assert_int_eq(r->function != NULL, expected[i].is_function);
    }
    unsigned char bytes[48];
    ptx_variable_contents(x, bytes);
    ck_assert_uint_eq(bytes[40], 7);
    ck_assert_uint_eq(bytes[8], 0);

    const struct ptx_variable *m = variable_of(module, "m");
    ck_assert_uint_eq(m->relocation_count, 4);
    ck_assert_uint_eq(m->relocations[1].shift, 8);
    ck_assert_uint_eq(m->relocations[1].bytes, 1);
    ck_assert_int_eq(m->relocations[1].addend, 2);
    ck_assert_uint_eq(m->relocations[2].offset, 3);
    ck_assert_uint_eq(m->relocations[2].shift, 16);
    ck_assert(m->relocations[2].generic);
    ck_assert_uint_eq(m->relocations[3].shift, 56);
    ck_assert_ptr_eq(variable_of(module, "self")->relocations[0].variable,
                     variable_of(module, "self"));
    check_round_trip(module);
    ptx_module_destroy(module);
}
END_TEST

START_TEST(large_arrays_cost_what_is_written)
{
    struct ptx_module *module = parsed(HEAD ".global .u8 x[3][1000000000] = {{1, 2}, {}, {3}};\n");
    ck_assert_uint_eq(variable_of(module, "x")->size, UINT64_C(3000000000));
    check_round_trip(module);
    ptx_module_destroy(module);
}
END_TEST

START_TEST(values_that_do_not_fit)
{
    static const struct {
        const char *declaration;
        const char *sentences;
    } rows[] = {
        {".global .u8 x[2] = {1, 2, 3};",
         "line 4, column 27: There are more values than the variable has room for.\n"},
        {".global .u8 x[2][2] = {{1, 2, 3}};",
         "line 4, column 31: There are more values than the variable has room for.\n"},
        {".global .u8 x[2] = 1;", "line 4, column 20: An array's values stand in braces.\n"},
        {".global .u8 x[2] = {1, 2",
         "line 4, column 25: Expected `}` at the end of the values, found the end of the text.\n"},
        {".global .u32 x = 1.5;",
         "line 4, column 18: A .u32 variable takes no floating-point number.\n"},
        {".global .f32 x = 1;", "line 4, column 18: A .f32 variable takes floating-point numbers, "
                                "such as 0f3F800000.\n"},
        {".global .u64 x = y;", "line 4, column 18: `y` is not declared.\n"},
        {".global .u8 x = x;", "line 4, column 17: An address does not fit in an element of 1 "
                               "bytes; masks such as 0xFF(symbol) give its parts.\n"},
        {".global .u8 x = 0x0F(x);", "line 4, column 17: The mask of an address chooses whole "
                                     "bytes, one after another.\n"},
        {".global .u8 x = 0xFFFF(x);",
         "line 4, column 17: The mask chooses more bytes than an element has.\n"},
        {".global .u64 x = generic(generic(x));",
         "line 4, column 26: generic() inside of generic().\n"},
        {".global .u8 x[2][2] = {1, {2}};",
         "line 4, column 27: A braced row begins in the middle of another.\n"},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        char text[512];
        snprintf(text, sizeof text, HEAD "%s", rows[row].declaration);
        ck_assert_str_eq(refusal(text), rows[row].sentences);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ptx_initialiser");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 300);
    tcase_add_test(all, spaces_types_and_attributes);
    tcase_add_test(all, numbers_become_bytes);
    tcase_add_test(all, addresses_become_relocations);
    tcase_add_test(all, large_arrays_cost_what_is_written);
    tcase_add_test(all, values_that_do_not_fit);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
