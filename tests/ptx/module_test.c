/* Modules: directives, variables, functions, scopes, labels, calls, source locations; and the
 * errors for invalid text. */
#include "tests/ptx/support.h"

static const struct ptx_function *function_of(const struct ptx_module *module, const char *name)
{
    const struct ptx_function *function = ptx_function_find(module, name);
    ck_assert_msg(function != NULL, "no function %s", name);
    return function;
}

START_TEST(directives_of_a_module)
{
    struct ptx_module *module =
        parsed("// comment\n/* another\n one */\n# 1 \"x.cu\"\n.version 8.7\n"
               ".target sm_90a, debug\n.address_size 64\n"
               ".pragma \"anything\";\n"
               ".file 2 \"/a/b.cu\", 123, 456\n.file 1 \"c.h\"\n"
               ".section .debug_info\n{\n.b8 1,2\nL: .b32 L+4\n{ }\n}\n");
    ck_assert_uint_eq(module->version_major, 8);
    ck_assert_uint_eq(module->version_minor, 7);
    ck_assert_str_eq(module->target, "sm_90a");
    ck_assert_uint_eq(module->address_size, 64);
    ck_assert_uint_eq(module->file_count, 3);
    ck_assert_str_eq(module->files[1], "c.h");
    ck_assert_str_eq(module->files[2], "/a/b.cu");
    ck_assert_ptr_null(module->files[0]);
    check_round_trip(module);
    ptx_module_destroy(module);
    ptx_module_destroy(NULL);
}
END_TEST

#define OLD_MAD "mad.f32 %f0, %f0, %f0, %f0; add.f32 %f0, %f0, %f0; ret; }\n"
#define OLD_HEAD ".entry k() { .reg .f32 %f<1>; "

START_TEST(what_the_oldest_targets_need_not_say)
{
    struct ptx_module *module = parsed(".version 1.4\n.target sm_10\n" OLD_HEAD OLD_MAD);
    const struct ptx_instruction *mad = &module->functions[0]->instructions[0];
    ck_assert_uint_eq(module->address_size, 64);
    ck_assert_uint_eq(mad->modifiers.rounding, PTX_ROUND_RN);
    ck_assert_uint_eq(mad->modifiers.ftz, PTX_FTZ);
    ck_assert_uint_eq(mad[1].modifiers.ftz, PTX_FTZ);
    ck_assert_uint_eq(mad[1].modifiers.rounding, PTX_ABSENT);
    check_round_trip(module);
    ptx_module_destroy(module);
    ck_assert_ptr_nonnull(
        strstr(refusal(".version 9.0\n.target sm_100\n" OLD_HEAD OLD_MAD), "mad needs .rn"));
}
END_TEST

START_TEST(functions_and_what_is_declared_of_them)
{
    struct ptx_module *module = parsed(
        HEAD ".extern .func (.param .b32 out) vprintf (.param .b64 a, .param .b64 b) ;\n"
             ".func helper (.reg .b32 x) ;\n"
             ".visible .entry kernel(.param .u64 .ptr .global .align 16 p, .param .align 8 .b8 "
             "s[24])\n.maxntid 128, 2, 1\n.minnctapersm 4\n.maxnreg 32\n{ ret; }\n"
             ".weak .entry fixed() .reqntid 64 { ret; }\n"
             ".func helper (.reg .b32 x) .noreturn { exit; }\n"
             ".func copy (.reg .b32 x) ;\n.alias copy, helper;\n");
    const struct ptx_function *kernel = function_of(module, "kernel");
    ck_assert(kernel->is_entry && kernel->is_defined);
    ck_assert_int_eq(kernel->linkage, PTX_VISIBLE);
    ck_assert_uint_eq(kernel->prototype.parameter_count, 2);
    ck_assert_uint_eq(kernel->prototype.parameters[0]->size, 8);
    ck_assert_uint_eq(kernel->prototype.parameters[0]->alignment, 8);
    ck_assert_uint_eq(kernel->prototype.parameters[1]->size, 24);
    ck_assert_uint_eq(kernel->prototype.parameters[1]->alignment, 8);
    ck_assert_uint_eq(kernel->max_threads[0], 128);
    ck_assert_uint_eq(kernel->max_threads[1], 2);
    ck_assert_uint_eq(kernel->min_blocks, 4);
    ck_assert_uint_eq(kernel->max_registers, 32);
    ck_assert_uint_eq(function_of(module, "fixed")->required_threads[0], 64);
    ck_assert_uint_eq(function_of(module, "fixed")->required_threads[2], 1);
    const struct ptx_function *print = function_of(module, "vprintf");
    ck_assert(!print->is_defined && !print->is_entry);
    ck_assert_int_eq(print->linkage, PTX_EXTERN);
    ck_assert_uint_eq(print->prototype.return_count, 1);
    const struct ptx_function *helper = function_of(module, "helper");
    ck_assert(helper->is_defined && helper->prototype.noreturn);
    ck_assert_uint_eq(helper->prototype.parameters[0]->space, PTX_SPACE_REG);
    ck_assert_ptr_eq(function_of(module, "copy")->alias_of, helper);
    ck_assert_uint_eq(module->function_count, 5);
    for (uint32_t i = 0; i < module->function_count; i++)
        ck_assert_uint_eq(module->functions[i]->index, i);
    check_round_trip(module);
    ptx_module_destroy(module);
}
END_TEST

START_TEST(inner_scopes_hide_outer_names)
{
    struct ptx_module *module =
        parsed(HEAD ".global .b32 x;\n.entry k() {\n.reg .b32 r<3>;\n.reg .pred p;\n"
                    "mov.b32 r1, 1;\n{\n.reg .b32 r1;\n.shared .b32 x[4];\nmov.b32 r1, 2;\n"
                    "again: @p bra again;\nst.shared.b32 [x], r1;\n}\n"
                    "{\nagain: @p bra again;\n@p bra done;\n}\n"
                    "mov.b32 r2, r1;\nst.global.b32 [x], r1;\ndone: ret;\n}\n");
    const struct ptx_function *k = function_of(module, "k");
    const struct ptx_instruction *i = k->instructions;
    ck_assert_uint_eq(k->instruction_count, 9);
    ck_assert_uint_eq(k->register_count, 4); /* r1, the inner r1, p, r2 */
    ck_assert_uint_ne(i[0].operands[0].reg, i[1].operands[0].reg);
    ck_assert_uint_eq(i[2].operands[0].target, 2);
    ck_assert_ptr_eq(i[3].operands[0].variable, k->variables[0]);
    ck_assert_uint_eq(k->variables[0]->first, 1);
    ck_assert_uint_eq(k->variables[0]->end, 4);
    ck_assert_uint_eq(i[4].operands[0].target, 4);
    ck_assert_uint_eq(i[5].operands[0].target, 8);
    ck_assert_uint_eq(i[6].operands[1].reg, i[0].operands[0].reg);
    ck_assert_ptr_eq(i[7].operands[0].variable, variable_of(module, "x"));
    check_round_trip(module);
    ptx_module_destroy(module);
}
END_TEST

START_TEST(a_label_is_that_of_the_innermost_block_around_its_use)
{
    struct ptx_module *module = parsed(
        HEAD ".entry k() {\na: trap;\n{\n{ bra a; }\na: ret;\n{ bra b; }\n}\nb: bra a;\n}\n");
    const struct ptx_instruction *i = function_of(module, "k")->instructions;
    ck_assert_uint_eq(i[1].operands[0].target, 2);
    ck_assert_uint_eq(i[3].operands[0].target, 4);
    ck_assert_uint_eq(i[4].operands[0].target, 0);
    check_round_trip(module);
    ptx_module_destroy(module);
}
END_TEST

START_TEST(registers_of_ranges_and_vectors)
{
    struct ptx_module *module =
        parsed(HEAD ".entry k() {\n.reg .b32 %r<4000000>, %r1x<3>, a1, a<12>;\n.reg .v2 .f32 v;\n"
                    "mov.b32 %r3999999, %r0;\nmov.b32 a1, a11;\nmov.b32 %r1x2, a1;\n"
                    "add.f32 v.x, v.y, v.y;\nst.global.v2.f32 [0], v;\nret; }\n");
    const struct ptx_function *k = function_of(module, "k");
    ck_assert_uint_eq(k->register_count, 7);
    ck_assert_str_eq(k->registers[k->instructions[0].operands[0].reg].name, "%r3999999");
    ck_assert_str_eq(k->registers[k->instructions[1].operands[1].reg].name, "a11");
    ck_assert_uint_eq(k->instructions[1].operands[0].reg, k->instructions[2].operands[1].reg);
    const struct ptx_operand *sum = k->instructions[3].operands;
    ck_assert_uint_eq(sum[1].reg, sum[0].reg + 1);
    ck_assert_int_eq(k->instructions[4].operands[1].kind, PTX_OPERAND_VECTOR);
    ck_assert_uint_eq(k->instructions[4].operands[1].elements[1].reg, sum[1].reg);
    check_round_trip(module);
    ptx_module_destroy(module);
}
END_TEST

/* As CUTLASS has it in inline assembly: the block's range is shorter than the function's. */
START_TEST(a_short_range_of_a_block_hides_no_more_than_it_has)
{
    struct ptx_module *module =
        parsed(HEAD ".entry k() {\n.reg .b32 %r<99>;\nmov.b32 %r1, 1;\nmov.b32 %r70, 2;\n"
                    "{ .reg .b32 %r<3>;\nmov.b32 %r1, %r70; }\nret; }\n");
    const struct ptx_function *k = function_of(module, "k");
    const struct ptx_operand *inner = k->instructions[2].operands;
    ck_assert_uint_eq(inner[1].reg, k->instructions[1].operands[0].reg);
    ck_assert_uint_ne(inner[0].reg, k->instructions[0].operands[0].reg);
    ptx_module_destroy(module);
}
END_TEST

START_TEST(calls_direct_and_through_a_register)
{
    struct ptx_module *module = parsed(
        HEAD ".func (.param .b32 r) f (.param .b32 a, .param .align 8 .b8 s[16]) ;\n"
             ".global .u64 table[2] = {f, f};\n"
             ".entry k() {\n.reg .b64 %rd<3>;\n.reg .b32 %r<3>;\n"
             "{ .param .b32 p0; .param .align 8 .b8 p1[16]; .param .b32 q0;\n"
             "call.uni (q0), f, (p0, p1);\nld.param.b32 %r1, [q0]; }\n"
             "{ .param .b32 p0; .param .align 8 .b8 p1[16]; .param .b32 q0;\n"
             "proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[16]);\n"
             "call (q0), %rd1, (p0, p1), proto; }\n"
             "{ .param .b32 p0; .param .align 8 .b8 p1[16];\n"
             "list: .calltargets f;\ncall (_), %rd2, (7, p1), list; }\n"
             "ret; }\n.func (.param .b32 r) f (.param .b32 a, .param .align 8 .b8 s[16]) {\n"
             ".reg .b32 %r<2>;\nld.param.b32 %r1, [a];\nst.param.b32 [r], %r1;\nret; }\n");
    const struct ptx_function *k = function_of(module, "k"), *f = function_of(module, "f");
    const struct ptx_call *direct = k->instructions[0].call;
    ck_assert_ptr_eq(direct->function, f);
    ck_assert_ptr_eq(direct->prototype, &f->prototype);
    ck_assert(k->instructions[0].modifiers.uniform);
    ck_assert_uint_eq(direct->result_count, 1);
    ck_assert_uint_eq(direct->argument_count, 2);
    ck_assert_ptr_eq(direct->arguments[1].variable, k->variables[1]);
    ck_assert_uint_eq(k->variables[1]->size, 16);
    ck_assert_uint_eq(k->variables[1]->end, 2);
    const struct ptx_call *indirect = k->instructions[2].call;
    ck_assert_ptr_null(indirect->function);
    ck_assert_str_eq(k->registers[indirect->reg].name, "%rd1");
    ck_assert_str_eq(indirect->prototype->name, "proto");
    const struct ptx_call *listed = k->instructions[3].call;
    ck_assert_ptr_eq(listed->prototype, &f->prototype);
    ck_assert_int_eq(listed->results[0].kind, PTX_OPERAND_SINK);
    ck_assert_uint_eq(listed->arguments[0].bits, 7);
    ck_assert_uint_eq(f->prototype.parameters[0]->function == f, 1);
    check_round_trip(module);
    ptx_module_destroy(module);
}
END_TEST

START_TEST(branches_through_a_table)
{
    struct ptx_module *module =
        parsed(HEAD ".entry k() {\n.reg .b32 %r<2>;\ntargets: .branchtargets one, two, one;\n"
                    "brx.idx %r1, targets;\none: trap;\ntwo: ret;\n}\n");
    const struct ptx_function *k = function_of(module, "k");
    const struct ptx_operand *table = &k->instructions[0].operands[1];
    ck_assert_int_eq(table->kind, PTX_OPERAND_TABLE);
    ck_assert_uint_eq(k->tables[table->target].count, 3);
    ck_assert_uint_eq(k->tables[table->target].labels[0].target, 1);
    ck_assert_uint_eq(k->tables[table->target].labels[1].target, 2);
    check_round_trip(module);
    ptx_module_destroy(module);
}
END_TEST

/* As nvcc writes code that was inlined twice, with line 0 between. */
START_TEST(source_lines_and_where_they_were_inlined)
{
    struct ptx_module *module =
        parsed(HEAD ".entry k() {\n.reg .b32 %r<2>;\n.loc 1 16 0\nmov.b32 %r1, 0;\n.loc 1 26 3\n"
                    ".loc 4 897 16, function_name $L__info0, inlined_at 1 26 3\n"
                    ".loc 5 321 17, function_name $L__info1+8, inlined_at 4 897 16\n"
                    "mov.b32 %r1, 1;\n.loc 1 0 3\nmov.b32 %r1, 2;\n.loc 1 27 3\nret;\n}\n"
                    ".file 1 \"a.cu\"\n.file 5 \"deep.h\"\n");
    const struct ptx_function *k = function_of(module, "k");
    const struct ptx_location *first = &k->locations[k->instructions[0].location];
    ck_assert_uint_eq(first->line, 16);
    ck_assert_uint_eq(first->outer_line, 16);
    const struct ptx_location *inlined = &k->locations[k->instructions[1].location];
    ck_assert_uint_eq(inlined->file, 5);
    ck_assert_uint_eq(inlined->line, 321);
    ck_assert_uint_eq(inlined->outer_file, 1);
    ck_assert_uint_eq(inlined->outer_line, 26);
    ck_assert_uint_eq(k->instructions[2].location, k->instructions[1].location);
    ck_assert_uint_eq(k->locations[k->instructions[3].location].line, 27);
    ck_assert_uint_eq(k->instructions[1].line, 11);
    check_round_trip(module);
    ptx_module_destroy(module);
}
END_TEST

START_TEST(an_unsupported_instruction_keeps_its_words)
{
    struct ptx_module *module =
        parsed(HEAD ".entry k() {\n.reg .pred p;\n@!p  tcgen05.x.y\t{ a ,b },  // why\n"
                    "[c+4], \"s t\" /* and */ .z ;\nadd.f32.f16 %r1, %r2;\nret; }\n");
    const struct ptx_function *k = function_of(module, "k");
    const struct ptx_instruction *i = k->instructions;
    ck_assert_int_eq(i[0].op, PTX_OP_TCGEN05);
    ck_assert_str_eq(i[0].text, "tcgen05.x.y { a ,b }, [c+4], \"s t\" .z");
    ck_assert_uint_ne(i[0].guard, PTX_NO_REGISTER);
    ck_assert(i[0].guard_negated);
    ck_assert_int_eq(i[1].op, PTX_OP_UNKNOWN); /* a row promises operands */
    ck_assert_str_eq(i[1].text, "add.f32.f16 %r1, %r2");
    ck_assert_uint_eq(i[1].line, 8);
    check_round_trip(module);
    ptx_module_destroy(module);
}
END_TEST

START_TEST(special_registers)
{
    struct ptx_module *module =
        parsed(HEAD ".entry k() {\n.reg .b32 %r<5>;\nmov.u32 %r1, %ctaid.z;\n"
                    "mov.u32 %r1, %envreg31;\nmov.u32 %r1, %lanemask_lt;\n"
                    "mov.v4.u32 {%r1, %r2, %r3, %r4}, %tid;\nret; }\n");
    const struct ptx_instruction *i = function_of(module, "k")->instructions;
    ck_assert_int_eq(i[0].operands[1].special, PTX_SPECIAL_CTAID);
    ck_assert_uint_eq(i[0].operands[1].component, 2);
    ck_assert_int_eq(i[1].operands[1].special, PTX_SPECIAL_ENVREG);
    ck_assert_uint_eq(i[1].operands[1].component, 31);
    ck_assert_int_eq(i[2].operands[1].special, PTX_SPECIAL_LANEMASK_LT);
    ck_assert_uint_eq(i[3].operands[1].count, 4);
    ck_assert(ptx_special_supported(PTX_SPECIAL_TID) && !ptx_special_supported(PTX_SPECIAL_PM));
    check_round_trip(module);
    ptx_module_destroy(module);
}
END_TEST

#define BODY(text) HEAD ".entry k() {\n.reg .b32 %r<4>;\n.reg .pred %p<4>;\n" text "\n}\n"

START_TEST(what_is_wrong_is_said_with_its_place)
{
    static const struct {
        const char *text;
        const char *sentences;
    } rows[] = {
        {"", "line 1, column 1: PTX begins with .version.\n"},
        {"hello", "line 1, column 1: PTX begins with .version.\n"},
        {".version 9.0\n", "line 1, column 1: The module has no .target.\n"},
        {".version x\n", "line 1, column 10: Expected a version such as 9.0 after .version.\n"},
        {HEAD "add.s32 a, b, c;",
         "line 4, column 1: Expected a directive such as .func or .global, found `add`.\n"},
        {HEAD "\x01", "line 4, column 1: Byte 0x01 cannot stand here in PTX.\n"},
        {HEAD "/* open", "line 4, column 1: The comment is never closed.\n"},
        {HEAD ".file 1 \"open\n", "line 4, column 9: The string is never closed.\n"},
        {HEAD ".file 99999999 \"a\"", "line 4, column 7: A file number is at most 65536.\n"},
        {HEAD ".address_size 16", "line 4, column 15: An address has 32 or 64 bits, not 16.\n"},
        {HEAD ".section .debug {", "line 4, column 10: The section is never closed by `}`.\n"},
        {HEAD ".global .b32 x[99999999999999999];", "line 4, column 16: The array is too large.\n"},
        {HEAD ".global .b32 x[1",
         "line 4, column 17: Expected `]` after an array's size, found the "
         "end of the text.\n"},
        {HEAD ".global .b32 x[-1];", "line 4, column 16: The array is too large.\n"},
        {HEAD ".global .align 3 .b32 x;",
         "line 4, column 16: An alignment is a power of two, not 3.\n"},
        {HEAD ".global x;", "line 4, column 9: Expected a type such as .b32, found `x`.\n"},
        {HEAD ".global .pred x;",
         "line 4, column 15: A predicate is a register; it cannot be a variable.\n"},
        {HEAD ".extern .global .b64 x;\n.global .u32 x;",
         "line 5, column 14: `x` was declared in line 4 as something else.\n"},
        {HEAD ".global .b32 x;\n.const .b32 x;", "line 5, column 13: `x` is declared twice.\n"},
        {HEAD ".global .b32 x[];", "line 4, column 14: `x` has no size: only an .extern array may "
                                   "leave it out.\n"},
        {HEAD ".local .b32 x;", "line 4, column 1: A .local variable belongs inside a function.\n"},
        {HEAD ".shared .b32 x = 5;",
         "line 4, column 14: Only .global and .const variables can be initialised.\n"},
        {HEAD ".func f() ;\n.func f(.param .b32 a) ;",
         "line 5, column 7: `f` was declared in line 4 with other parameters.\n"},
        {HEAD ".entry k() { ret; }\n.entry k() { ret; }",
         "line 5, column 8: `k` is defined twice.\n"},
        {HEAD ".entry (.param .b32 a) k() { ret; }",
         "line 4, column 8: An .entry returns nothing.\n"},
        {HEAD ".entry k() {", "line 4, column 13: The function's body is never closed by `}`.\n"},
        {HEAD ".entry k() .maxntid 0 { ret; }",
         "line 4, column 21: Expected one to three sizes of at least 1.\n"},
        {HEAD ".entry k() .fast { ret; }",
         "line 4, column 12: `.fast` does not belong in a function's header.\n"},
        {BODY("add.s32 %r1, %r2, %x;"),
         "line 7, column 19: `%x` is neither a declared register nor a special one.\n"},
        {BODY("add.s32 %r1, %r2, %r4;"),
         "line 7, column 19: `%r4` is neither a declared register nor a special one.\n"},
        {BODY("add.s32 %r1, %r2, %r01;"),
         "line 7, column 19: `%r01` is neither a declared register nor a special one.\n"},
        {BODY("mov.b32 %r1, %envreg32;"),
         "line 7, column 14: `%envreg32` is neither a declared register nor a special one.\n"},
        {BODY(".reg .f16x2 h;\nadd.f32 h, h, h;"),
         "line 8, column 9: `h` is a .f16x2 register, and add needs .f32 here.\n"
         "line 8, column 12: `h` is a .f16x2 register, and add needs .f32 here.\n"
         "line 8, column 15: `h` is a .f16x2 register, and add needs .f32 here.\n"},
        {BODY("add.s32 %r1, %r2, y;"), "line 7, column 19: `y` is not declared.\n"},
        {BODY("bra nowhere;"), "line 7, column 5: There is no label `nowhere` here.\n"},
        {BODY("{ inner: ret; }\nbra inner;"),
         "line 8, column 5: There is no label `inner` here.\n"},
        {BODY("a: ret;\na: ret;"), "line 8, column 1: `a` is declared twice.\n"},
        {BODY("@%r1 bra a; a: ret;"), "line 7, column 2: `%r1` is not a predicate register.\n"},
        {BODY("add.s32 %r1, %r2 %r3;"),
         "line 7, column 18: Expected `,` or `;` after an operand of add, found `%r3`.\n"},
        {BODY("add.s32.s32 %r1, %r2, %r3;\nmul.s32 %r1, %r2;"),
         "line 7, column 1: add has no second type .s32.\n"
         "line 8, column 1: mul takes 3 operands, and 2 are given.\n"},
        {BODY("add.wide.s32 %r1, %r2, %r3;"), "line 7, column 4: add has no modifier `.wide`.\n"},
        {BODY("add.sat.sat.s32 %r1, %r2, %r3;"),
         "line 7, column 8: `.sat` of add comes after .sat, which excludes it.\n"},
        {BODY("frobnicate.sync.u32 [%x], {,} \"y\";\nfly;\nadd.s32.frob %r1, %r2, %r3;"),
         "line 7, column 1: PTX has no instruction `frobnicate`.\n"
         "line 8, column 1: PTX has no instruction `fly`.\n"
         "line 9, column 8: add has no modifier `.frob`.\n"},
        {BODY("cp.async.ca.shared.global.fly [%r1], [%r1], 4;"),
         "line 7, column 26: cp.async has no modifier `.fly`.\n"},
        {BODY("frobnicate %r1"), "line 7, column 1: The instruction is never ended by `;`.\n"},
        {BODY("mov.u32 %r1, 5/0;"), "line 7, column 16: The expression divides by zero.\n"},
        {BODY("mov.u32 %r1, 99999999999999999999;"),
         "line 7, column 14: The number does not fit in 64 bits.\n"},
        {BODY("mov.u32 %r1, 12ab;"), "line 7, column 14: The number runs into the letter `a`.\n"},
        {BODY("mov.u32 %r1, 0f12;"),
         "line 7, column 14: A floating-point constant has 8 hexadecimal digits after 0f and 16 "
         "after 0d.\n"},
        {BODY("mov.u32 %r1, 1.5 + 1;"), "line 7, column 14: Floating-point constants take no part "
                                        "in expressions but a sign.\n"},
        {BODY("call f;"), "line 7, column 6: `f` is neither a function nor a register.\n"},
        {BODY("brx.idx %r1, t;"), "line 7, column 14: `t` is not a list made by .branchtargets.\n"},
        {BODY(".global .b32 x;"),
         "line 7, column 1: `.global` does not belong in a function's body.\n"},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        const char *found = refusal(rows[row].text);
        ck_assert_msg(strcmp(found, rows[row].sentences) == 0, "text: %s\nexpected: %s\nfound: %s",
                      rows[row].text, rows[row].sentences, found);
    }
}
END_TEST

START_TEST(calls_that_do_not_fit_their_function)
{
    const char *head = HEAD ".func (.param .b32 r) f (.param .b64 a) ;\n.entry k() {\n"
                            ".reg .b64 %rd<3>;\n.param .b32 p;\n.param .b64 q;\n.shared .b64 s;\n";
    static const struct {
        const char *line;
        const char *sentences;
    } rows[] = {
        {"call f, (q);", "line 10, column 6: `f` has 1 result, and the call names 0.\n"},
        {"call (p), f;", "line 10, column 11: `f` has 1 parameter, and the call names 0.\n"},
        {"call (p), f, (p);",
         "line 10, column 11: Parameter 1 of `f` has 8 bytes, and the call's value 4.\n"},
        {"call (p), f, (s);",
         "line 10, column 11: Value 1 of the call to `f` is no .param variable.\n"},
        {"call (p), %rd1, (q);",
         "line 10, column 11: A call through `%rd1` needs a .callprototype or .calltargets.\n"},
        {"call (p), f, ([q]);",
         "line 10, column 15: `[` cannot be passed to or returned from a function.\n"},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        char text[1024];
        snprintf(text, sizeof text, "%s%s\nret; }\n", head, rows[row].line);
        ck_assert_str_eq(refusal(text), rows[row].sentences);
    }
}
END_TEST

/* Limits: text with endless nesting or repetition is refused, quickly and without a crash. */
START_TEST(hostile_text_is_refused)
{
    enum { MANY = 100000 };
    char *text = malloc(MANY + 4096);
    ck_assert_ptr_nonnull(text);
    static const struct {
        const char *head;
        char repeated;
        const char *sentence;
    } rows[] = {
        {HEAD ".entry k() {\n.reg .b32 %r<2>;\nmov.u32 %r1, ", '(', "is nested deeper than 64."},
        {HEAD ".entry k() {\n.reg .b32 %r<2>;\nmov.u32 %r1, ", '-', "is nested deeper than 64."},
        {HEAD ".entry k() ", '{', "Blocks are nested deeper than 256."},
        {HEAD ".global .b32 x[1] = ", '{', "nested deeper than the array."},
        {HEAD ".global .b32 x", '[', "Expected a constant"},
        {HEAD ".section x ", '{', "The section is never closed"},
        {HEAD ".entry k() { foo ", '[', "The instruction is never ended"},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        size_t length = strlen(rows[row].head);
        memcpy(text, rows[row].head, length);
        memset(text + length, rows[row].repeated, MANY);
        text[length + MANY] = '\0';
        const char *found = refusal(text);
        ck_assert_msg(strstr(found, rows[row].sentence) != NULL, "%s", found);
    }
    free(text);

    const char *dots =
        ".v2.v2.v2.v2.v2.v2.v2.v2.v2.v2.v2.v2.v2.v2.v2.v2.v2.v2.v2.v2.v2.v2.v2.v2.v2";
    char many[2048];
    snprintf(many, sizeof many, HEAD ".entry k() { ld%s; }", dots);
    ck_assert_ptr_nonnull(strstr(refusal(many), "at most 24 modifiers"));
    ck_assert_ptr_nonnull(
        strstr(refusal(HEAD ".entry k() { .reg .b32 r<9999999999>; }"), "too many registers"));
}
END_TEST

START_TEST(a_text_need_not_end_with_nul)
{
    const char *text = HEAD ".entry k() { ret; }garbage";
    struct ptx_diagnostics diagnostics;
    struct ptx_module *module = ptx_parse(text, strlen(text) - strlen("garbage"), &diagnostics);
    ck_assert_ptr_nonnull(module);
    ptx_module_destroy(module);
    module = ptx_parse("\0", 1, &diagnostics);
    ck_assert_ptr_null(module);
    ck_assert_uint_eq(diagnostics.total, 1);
    ck_assert_ptr_null(ptx_parse(NULL, 0, &diagnostics));

    char one[8];
    ck_assert_uint_eq(ptx_diagnostics_print(&diagnostics, one, sizeof one), 7);
    ck_assert_str_eq(one, "line 1,");
    ck_assert_uint_eq(ptx_diagnostics_print(&diagnostics, one, 0), 0);
}
END_TEST

START_TEST(more_mistakes_than_are_kept_are_counted)
{
    char text[8192];
    size_t used = (size_t)snprintf(text, sizeof text, HEAD ".entry k() {\n.reg .b32 %%r<2>;\n");
    for (int i = 0; i < 40; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "add.s32 %%r1, 1;\n");
    snprintf(text + used, sizeof text - used, "}\n");
    struct ptx_diagnostics diagnostics;
    ck_assert_ptr_null(ptx_parse(text, strlen(text), &diagnostics));
    ck_assert_uint_eq(diagnostics.count, PTX_DIAGNOSTIC_MAX);
    ck_assert_uint_eq(diagnostics.total, 40);
    ck_assert_uint_eq(diagnostics.entries[15].line, 21);
}
END_TEST

/* In a skipped body only braces count, except those in comments and strings. */
START_TEST(bodies_can_be_read_later)
{
    static const char text[] = HEAD ".entry first() {\n.reg .b32 %r<2>; // }\n/* } */\n"
                                    ".pragma \"}\"; { mov.b32 %r1, 1; }\n#}\nret;\n}\n"
                                    ".entry wrong() {\n{ mov.b32 %r9, 1;\n} ret; }\n"
                                    ".func beside() { ret; }\n"
                                    ".entry last() { .reg .b32 %r<2>; mov.b32 %r1, 2; ret; }\n";
    struct ptx_diagnostics diagnostics;
    struct ptx_module *module = ptx_parse_heads(text, strlen(text), &diagnostics);
    ck_assert_ptr_nonnull(module);
    ck_assert_uint_eq(module->function_count, 4);
    const struct ptx_function *const *functions = module->functions;
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert(functions[i]->is_defined);
        ck_assert_int_eq(functions[i]->unread == NULL, !functions[i]->is_entry);
    }
    for (int again = 0; again < 2; again++) {
        ck_assert(!ptx_function_read(module, functions[1], &diagnostics));
        ck_assert_uint_eq(diagnostics.entries[0].line, 12);
        ck_assert_str_eq(refusal(text) + strlen("line 12, column 11: "),
                         strcat(diagnostics.entries[0].text, "\n"));
    }
    ck_assert(ptx_function_read(module, functions[3], &diagnostics));
    ck_assert(ptx_function_read(module, functions[0], &diagnostics));
    ck_assert(ptx_function_read(module, functions[0], &diagnostics));
    ck_assert_uint_eq(functions[0]->instruction_count, 2);
    ck_assert_uint_eq(functions[3]->instruction_count, 2);
    ck_assert_ptr_null(functions[3]->unread);
    ptx_module_destroy(module);
    static const char open[] = HEAD ".entry k() { { ret; }\n";
    ck_assert_ptr_null(ptx_parse_heads(open, strlen(open), &diagnostics));
    ck_assert_uint_eq(diagnostics.entries[0].line, 4);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ptx_module");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 300);
    tcase_add_test(all, directives_of_a_module);
    tcase_add_test(all, what_the_oldest_targets_need_not_say);
    tcase_add_test(all, functions_and_what_is_declared_of_them);
    tcase_add_test(all, inner_scopes_hide_outer_names);
    tcase_add_test(all, a_label_is_that_of_the_innermost_block_around_its_use);
    tcase_add_test(all, registers_of_ranges_and_vectors);
    tcase_add_test(all, a_short_range_of_a_block_hides_no_more_than_it_has);
    tcase_add_test(all, calls_direct_and_through_a_register);
    tcase_add_test(all, branches_through_a_table);
    tcase_add_test(all, source_lines_and_where_they_were_inlined);
    tcase_add_test(all, an_unsupported_instruction_keeps_its_words);
    tcase_add_test(all, special_registers);
    tcase_add_test(all, what_is_wrong_is_said_with_its_place);
    tcase_add_test(all, calls_that_do_not_fit_their_function);
    tcase_add_test(all, hostile_text_is_refused);
    tcase_add_test(all, a_text_need_not_end_with_nul);
    tcase_add_test(all, more_mistakes_than_are_kept_are_counted);
    tcase_add_test(all, bodies_can_be_read_later);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
