/* Instructions, one line each, against the rows: which are accepted, which are refused and how,
 * which are kept as text; every row has a line. */
#include "tests/ptx/support.h"

static const char head[] = ".version 9.0\n.target sm_90a\n.address_size 64\n"
                           ".global .align 16 .b8 gv[64];\n.global .texref tx;\n"
                           ".func dummy() { ret; }\n"
                           ".visible .entry k() {\n.reg .pred %p<16>;\n.reg .b16 %h<16>;\n"
                           ".reg .b32 %r<16>;\n.reg .b64 %d<16>;\n.reg .f32 %f<16>;\n"
                           ".reg .f64 %g<16>;\n.reg .b128 %q<16>;\n"
                           ".shared .align 16 .b8 sv[64];\n"
                           "T1: .branchtargets L1, L1;\nL1: ret;\n";

static struct ptx_diagnostics diagnostics;

static struct ptx_module *parse_line(const char *line)
{
    char text[2048];
    snprintf(text, sizeof text, "%s%s\n}\n", head, line);
    return ptx_parse(text, strlen(text), &diagnostics);
}

static const struct ptx_instruction *only_instruction(const struct ptx_module *module)
{
    const struct ptx_function *function = ptx_function_find(module, "k");
    ck_assert_uint_eq(function->instruction_count, 2);
    return &function->instructions[1];
}

/* Calls `check` for each line of instructions/ that begins with `verdict`. */
static void each_line(const char *verdict, void (*check)(const char *line))
{
    static const char *const files[] = {
        INSTRUCTIONS "converting.txt",  INSTRUCTIONS "others.txt", INSTRUCTIONS "refused.txt",
        INSTRUCTIONS "unsupported.txt", INSTRUCTIONS "tensor.txt", INSTRUCTIONS "tensor_map.txt",
        INSTRUCTIONS "textures.txt",    INSTRUCTIONS "video.txt"};
    size_t length, count = 0;
    for (size_t file = 0; file < sizeof files / sizeof files[0]; file++) {
        char *text = file_text(files[file], &length);
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
            if (strncmp(line, verdict, strlen(verdict)) != 0) continue;
            check(line + 5);
            count++;
        }
        free(text);
    }
    ck_assert_uint_gt(count, 20);
}

static void check_accepted(const char *line)
{
    struct ptx_module *module = parse_line(line);
    ck_assert_msg(module != NULL, "%s: %s", line, diagnostics.entries[0].text);
    ck_assert_msg(only_instruction(module)->text == NULL, "%s: carried as text", line);
    check_round_trip(module);
    ptx_module_destroy(module);
}

START_TEST(what_ptxas_accepts_is_accepted)
{
    each_line("ok", check_accepted);
}
END_TEST

static void check_carried(const char *line)
{
    char printed[512];
    struct ptx_module *module = parse_line(line);
    ck_assert_msg(module != NULL, "%s: %s", line, diagnostics.entries[0].text);
    const struct ptx_instruction *instruction = only_instruction(module);
    ck_assert_msg(instruction->text != NULL, "%s: not carried as text", line);
    ck_assert_uint_eq(instruction->operand_count, 0);
    ptx_print_instruction(ptx_function_find(module, "k"), instruction, printed, sizeof printed);
    ck_assert_str_eq(printed, line);
    ptx_module_destroy(module);
}

START_TEST(what_is_not_supported_is_carried_as_text)
{
    each_line("text", check_carried);
}
END_TEST

static void check_refused(const char *line)
{
    const char *expected = strstr(line, " # ");
    ck_assert_ptr_nonnull(expected);
    char instruction[512];
    snprintf(instruction, sizeof instruction, "%.*s", (int)(expected - line), line);
    struct ptx_module *module = parse_line(instruction);
    ck_assert_msg(module == NULL, "%s: accepted", instruction);
    ck_assert_msg(strcmp(diagnostics.entries[0].text, expected + 3) == 0,
                  "%s\nexpected: %s\nfound:    %s", instruction, expected + 3,
                  diagnostics.entries[0].text);
    ck_assert_uint_eq(diagnostics.entries[0].line, 18);
}

START_TEST(what_is_wrong_is_refused_with_a_sentence)
{
    each_line("no", check_refused);
}
END_TEST

static bool covered[PTX_OPCODE_COUNT];

static void mark(const char *line)
{
    struct ptx_module *module = parse_line(line);
    if (!module) return;
    enum ptx_opcode op = only_instruction(module)->op;
    covered[op] = true;
    ck_assert_msg(ptx_opcode_supported(op) || only_instruction(module)->text != NULL, "%s", line);
    ptx_module_destroy(module);
}

START_TEST(every_row_has_a_line)
{
    each_line("ok", mark);
    each_line("text", mark);
    for (unsigned op = 0; op < PTX_OPCODE_COUNT; op++) {
        const char *name = ptx_opcode_name((enum ptx_opcode)op);
        ck_assert_msg(covered[op], "tests/ptx/instructions/ has no line for `%s`", name);
        ck_assert_msg(strlen(ptx_opcode_meaning((enum ptx_opcode)op)) > 5, "`%s`", name);
    }
}
END_TEST

/* The fields of the tree that an executor reads, for one instruction of each kind. */
START_TEST(modifiers_types_and_operands_are_where_they_belong)
{
    struct ptx_module *module = parse_line("@!%p3 atom.acq_rel.gpu.global.cas.b64 %d1, [%d2+-8], "
                                           "%d3, 5;");
    const struct ptx_instruction *i = only_instruction(module);
    const struct ptx_function *function = ptx_function_find(module, "k");
    ck_assert_int_eq(i->op, PTX_OP_ATOM);
    ck_assert_int_eq(i->type, PTX_B64);
    ck_assert_int_eq(i->modifiers.semantics, PTX_SEM_ACQ_REL);
    ck_assert_int_eq(i->modifiers.scope, PTX_SCOPE_GPU);
    ck_assert_int_eq(i->modifiers.space, PTX_SPACE_GLOBAL);
    ck_assert_int_eq(i->modifiers.operation, PTX_ATOMIC_CAS);
    ck_assert(i->guard_negated);
    ck_assert_str_eq(function->registers[i->guard].name, "%p3");
    ck_assert_uint_eq(i->operand_count, 4);
    ck_assert_int_eq(i->operands[1].kind, PTX_OPERAND_ADDRESS);
    ck_assert_str_eq(function->registers[i->operands[1].reg].name, "%d2");
    ck_assert_int_eq(i->operands[1].offset, -8);
    ck_assert_uint_eq(i->operands[3].bits, 5);
    ck_assert_int_eq(ptx_operand_type(i, 3), PTX_B64);
    ck_assert_uint_eq(function->register_count, 4); /* only those that are used */
    ptx_module_destroy(module);

    module = parse_line("setp.ltu.and.ftz.f32 %p1|%p2, %f1, 0fBF800000, !%p3;");
    i = only_instruction(module);
    ck_assert_int_eq(i->modifiers.compare, PTX_CMP_LTU);
    ck_assert_int_eq(i->modifiers.boolean, PTX_BOOL_AND);
    ck_assert(i->modifiers.ftz);
    ck_assert_int_eq(i->operands[0].kind, PTX_OPERAND_PAIR);
    ck_assert_uint_ne(i->operands[0].reg, i->operands[0].second);
    ck_assert_uint_eq(i->operands[2].bits, 0xBF800000u);
    ck_assert(i->operands[3].negated);
    ptx_module_destroy(module);

    module = parse_line("cp.async.cg.shared.global.L2::128B [%d1], [%d2], 16;");
    i = only_instruction(module);
    ck_assert_int_eq(i->op, PTX_OP_CP_ASYNC);
    ck_assert_int_eq(i->modifiers.space, PTX_SPACE_SHARED);
    ck_assert_int_eq(i->modifiers.source, PTX_SOURCE_GLOBAL);
    ck_assert_int_eq(i->modifiers.cache, PTX_CACHE_CG);
    ck_assert_int_eq(i->modifiers.hint, PTX_HINT_L2_128B);
    ptx_module_destroy(module);

    module = parse_line("ld.volatile.global.v4.u8 {%r1, _, %h2, %r3}, [gv+12];");
    i = only_instruction(module);
    ck_assert_int_eq(i->modifiers.vector, PTX_V4);
    ck_assert_uint_eq(i->operands[0].count, 4);
    ck_assert_int_eq(i->operands[0].elements[1].kind, PTX_OPERAND_SINK);
    ck_assert_str_eq(i->operands[1].variable->name, "gv");
    ck_assert_int_eq(i->operands[1].offset, 12);
    ptx_module_destroy(module);

    module = parse_line("mul.wide.s32 %d1, %r1, -3;");
    i = only_instruction(module);
    ck_assert_int_eq(ptx_operand_type(i, 0), PTX_S64);
    ck_assert_int_eq(ptx_operand_type(i, 1), PTX_S32);
    ck_assert_uint_eq(i->operands[2].bits, (uint64_t)-3);
    ptx_module_destroy(module);
}
END_TEST

START_TEST(immediates_become_bits_of_their_type)
{
    static const struct {
        const char *line;
        uint64_t bits;
    } rows[] = {
        {"mov.u32 %r1, -1;", 0xFFFFFFFFu},
        {"mov.s32 %r1, 0xFFFFFFFF;", UINT64_MAX},
        {"mov.u16 %h1, 70000;", 70000 - 65536},
        {"mov.b64 %d1, -1;", UINT64_MAX},
        {"mov.u32 %r1, (1 + 2) * 3 << 1 | 1;", 19},
        {"mov.u32 %r1, 7 / 2 - 7 % 4 * 2;", (uint32_t)-3},
        {"mov.s32 %r1, -7 / 2;", (uint64_t)-3},
        {"mov.u64 %d1, (.u64)-7 / 2;", ((uint64_t)-7) / 2},
        {"mov.u32 %r1, 1 < 2 && 3 >= 3 || 0;", 1},
        {"mov.u32 %r1, 0 ? 5 : 3 == 3 ? 6 : 7;", 6},
        {"mov.u32 %r1, ~0 ^ 0xF0;", 0xFFFFFF0Fu},
        {"mov.s64 %d1, -8 >> 1;", (uint64_t)-4},
        {"mov.u64 %d1, 0xFFFFFFFFFFFFFFFF / 2;", INT64_MAX},
        {"mov.u64 %d1, (.s64)(1 << 63) / -1;", UINT64_C(1) << 63},
        {"mov.u64 %d1, (.s64)(1 << 63) % -1;", 0},
        {"mov.u32 %r1, !0 + !5;", 1},
        {"mov.u32 %r1, WARP_SZ + 010 + 0b11 + 0x1fU;", 32 + 8 + 3 + 31},
        {"mov.f32 %f1, 1.5;", 0x3FC00000u},
        {"mov.f32 %f1, -0f3F800000;", 0xBF800000u},
        {"mov.f32 %f1, 0d3FF8000000000000;", 0x3FC00000u},
        {"mov.f64 %g1, 0f3FC00000;", UINT64_C(0x3FF8000000000000)},
        {"mov.f64 %g1, 1e3;", UINT64_C(0x408F400000000000)},
        {"mov.b32 %r1, 0f3F800000;", 0x3F800000u},
        {"mov.pred %p1, 2;", 1},
        {"cvt.rn.bf16.f32 %h1, 0f3F800000;", 0x3F800000u},
        {"add.f16 %h1, %h2, 0f3F800000;", 0x3C00},
        {"add.f16 %h1, %h2, 0f33800001;", 0x0001}, /* the smallest subnormal, from above */
        {"add.f16 %h1, %h2, 0f33000000;", 0x0000}, /* half of it: to even */
        {"add.f16 %h1, %h2, 0f387FC000;", 0x03FF}, /* the largest subnormal */
        {"add.f16 %h1, %h2, 0f387FE000;", 0x0400}, /* rounds up into the normal ones */
        {"add.f16 %h1, %h2, 0f477FEFFF;", 0x7BFF},
        {"add.f16 %h1, %h2, 0f477FF000;", 0x7C00},
        {"add.f16 %h1, %h2, 0fFF800000;", 0xFC00},
        {"add.f16 %h1, %h2, 0f7FC00000;", 0x7FFF},
        {"add.bf16 %h1, %h2, 0f3F808000;", 0x3F80}, /* to even */
        {"add.bf16 %h1, %h2, 0f3F818000;", 0x3F82},
    };
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        struct ptx_module *module = parse_line(rows[row].line);
        ck_assert_msg(module != NULL, "%s: %s", rows[row].line, diagnostics.entries[0].text);
        const struct ptx_instruction *i = only_instruction(module);
        uint64_t bits = i->operands[i->operand_count - 1].bits;
        ck_assert_msg(bits == rows[row].bits, "%s: %llx", rows[row].line, (unsigned long long)bits);
        check_round_trip(module);
        ptx_module_destroy(module);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ptx_instruction");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 300);
    tcase_add_test(all, what_ptxas_accepts_is_accepted);
    tcase_add_test(all, what_is_not_supported_is_carried_as_text);
    tcase_add_test(all, what_is_wrong_is_refused_with_a_sentence);
    tcase_add_test(all, every_row_has_a_line);
    tcase_add_test(all, modifiers_types_and_operands_are_where_they_belong);
    tcase_add_test(all, immediates_become_bits_of_their_type);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}
