/* Operations of threads together: shuffles, votes, matches, reductions, barriers; divergence and
 * forward progress; the same results on any number of workers; and instructions that lowering
 * builds from several rows. */
#include "tests/exec/device.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 1024 };

/* Runs a kernel whose body has its thread number in %t and its input word in %v and leaves a result
 * in %r, for `threads` threads of `blocks` blocks. More registers: %a..%d, %p, %q, %m (64).
 */
static enum exec_end run_body(const char *body, uint32_t blocks, uint32_t threads,
                              const uint32_t *in, uint32_t *out, unsigned workers,
                              struct device_run *result)
{
    static char text[8192];
    snprintf(text, sizeof text,
             ".version 9.0\n.target sm_100a\n.address_size 64\n.global .align 4 .u32 flag[4];\n"
             ".visible .entry k(.param .u64 p_in, .param .u64 p_out) {\n"
             ".reg .b64 %%in, %%out, %%o, %%m;\n.reg .b32 %%t, %%v, %%r, %%a, %%b, %%c, %%d, %%n;\n"
             ".reg .pred %%p, %%q;\n.shared .align 4 .u32 tile[1024];\n"
             "mov.u32 %%t, %%ctaid.x;\nmov.u32 %%n, %%ntid.x;\nmov.u32 %%a, %%tid.x;\n"
             "mad.lo.u32 %%t, %%t, %%n, %%a;\nmul.wide.u32 %%o, %%t, 4;\n"
             "ld.param.u64 %%in, [p_in];\nadd.u64 %%in, %%in, %%o;\n"
             "ld.param.u64 %%out, [p_out];\nadd.u64 %%out, %%out, %%o;\n"
             "ld.global.u32 %%v, [%%in];\nmov.u32 %%r, 0xdead;\nmov.u32 %%t, %%tid.x;\n"
             "%s\nst.global.u32 [%%out], %%r;\nret;\n}\n",
             body);
    struct exec_program *program = device_program(text);
    void *bytes;
    static const uint32_t zeros[MOST];
    const size_t size = (size_t)blocks * threads * 4;
    const uint64_t parameters[] = {device_buffer_of(in ? in : zeros, size, NULL),
                                   device_buffer(size, &bytes)};
    struct device_run run = {.program = program,
                             .name = "k",
                             .blocks = blocks,
                             .threads = threads,
                             .parameters = parameters,
                             .workers = workers,
                             .limit = 10000000};
    const enum exec_end end = device_launch(&run);
    if (out) memcpy(out, bytes, size);
    if (result) *result = run;
    exec_program_destroy(program);
    device_reset();
    return end;
}

static void run(const char *body, uint32_t threads, const uint32_t *in, uint32_t *out)
{
    struct device_run result;
    const enum exec_end end = run_body(body, 1, threads, in, out, 1, &result);
    ck_assert_msg(end == EXEC_DONE, "%s\n%s", body, device_sentence(&result));
}

static void values(uint32_t *in)
{
    for (uint32_t k = 0; k < 32; k++) in[k] = k * 2654435761u + 17;
}

/* ---- shuffles, votes, matches, reductions
 * ---------------------------------------------------------- */

START_TEST(shuffles)
{
    static const char modes[4][8] = {"up", "down", "bfly", "idx"};
    /* Distances or lanes, and widths: the segment mask and clamp that CUDA makes of them. */
    for (int mode = 0; mode < 4; mode++)
        for (uint32_t b = 0; b < 32; b += 3)
            for (uint32_t width = 4; width <= 32; width *= 2) {
                char body[256];
                uint32_t in[32], out[32];
                const uint32_t c = (32 - width) << 8 | (mode == 0 ? 0 : 31);
                values(in);
                snprintf(body, sizeof body,
                         "shfl.sync.%s.b32 %%r|%%p, %%v, %u, %u, -1;\nselp.u32 %%a, 1, 0, %%p;\n"
                         "xor.b32 %%r, %%r, %%a;",
                         modes[mode], b, c);
                run(body, 32, in, out);
                for (uint32_t lane = 0; lane < 32; lane++) {
                    const uint32_t base = lane / width * width;
                    int64_t from = mode == 0   ? (int64_t)lane - b
                                   : mode == 1 ? (int64_t)lane + b
                                   : mode == 2 ? (int64_t)(lane ^ b)
                                               : (int64_t)(base + b % width);
                    /* A butterfly may reach lower segments, but not higher ones. */
                    const bool inside = from < base + width && (mode == 2 || from >= (int64_t)base);
                    if (!inside) from = lane;
                    ck_assert_msg(out[lane] == (in[from] ^ inside), "%s %u width %u lane %u",
                                  modes[mode], b, width, lane);
                }
            }
}
END_TEST

START_TEST(votes_and_matches)
{
    static const struct {
        const char *body;
        uint32_t expected[32];
    } cases[] = {
        {"setp.gt.u32 %p, %v, 9;\nvote.sync.ballot.b32 %r, %p, -1;", {0xfffffc00}},
        {"setp.gt.u32 %p, %v, 9;\nvote.sync.any.pred %q, %p, -1;\nselp.u32 %r, 7, 3, %q;", {7}},
        {"setp.gt.u32 %p, %v, 9;\nvote.sync.all.pred %q, %p, -1;\nselp.u32 %r, 7, 3, %q;", {3}},
        {"setp.gt.u32 %p, %v, 90;\nvote.sync.uni.pred %q, %p, -1;\nselp.u32 %r, 7, 3, %q;", {7}},
        {"setp.gt.u32 %p, %v, 9;\nvote.sync.uni.pred %q, !%p, -1;\nselp.u32 %r, 7, 3, %q;", {3}},
        {"and.b32 %a, %v, 3;\nmatch.any.sync.b32 %r, %a, -1;",
         {0x11111111, 0x22222222, 0x44444444, 0x88888888}},
        {"and.b32 %a, %v, 3;\ncvt.u64.u32 %m, %a;\nshl.b64 %m, %m, 40;\n"
         "match.any.sync.b64 %r, %m, -1;",
         {0x11111111, 0x22222222, 0x44444444, 0x88888888}},
        {"match.all.sync.b32 %r|%p, %v, -1;\n@%p mov.u32 %r, 5;", {0}},
        {"mov.u32 %a, 8;\nmatch.all.sync.b32 %r|%p, %a, -1;\n@!%p mov.u32 %r, 5;", {0xffffffff}},
        {"mov.u64 %m, 8;\nmatch.all.sync.b64 %r|%p, %m, -1;\n@!%p mov.u32 %r, 5;", {0xffffffff}},
        {"elect.sync %r|%p, -1;\n@%p mov.u32 %r, 99;\n", {99, 0, 0, 0}},
        {"redux.sync.add.s32 %r, %v, -1;", {496}},
        {"redux.sync.add.u32 %r, %v, -1;", {496}},
        {"sub.u32 %a, %v, 5;\nredux.sync.min.s32 %r, %a, -1;", {0xfffffffb}},
        {"sub.u32 %a, %v, 5;\nredux.sync.max.s32 %r, %a, -1;", {26}},
        {"sub.u32 %a, %v, 5;\nredux.sync.min.u32 %r, %a, -1;", {0}},
        {"sub.u32 %a, %v, 5;\nredux.sync.max.u32 %r, %a, -1;", {0xffffffff}},
        {"or.b32 %a, %v, 0x60;\nredux.sync.and.b32 %r, %a, -1;", {0x60}},
        {"or.b32 %a, %v, 0x60;\nredux.sync.or.b32 %r, %a, -1;", {0x7f}},
        {"add.u32 %a, %v, 1;\nredux.sync.xor.b32 %r, %a, -1;", {32}},
    };
    uint32_t in[32], out[32];
    for (uint32_t k = 0; k < 32; k++) in[k] = k;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        /* A short list repeats with its own length: 1, 2 or 4. */
        uint32_t period = 4;
        if (!cases[k].expected[1] && !cases[k].expected[2]) period = 1;
        run(cases[k].body, 32, in, out);
        for (uint32_t lane = 0; lane < 32; lane++) {
            uint32_t expected = cases[k].expected[lane % period];
            if (strstr(cases[k].body, "elect")) expected = lane ? 0 : 99;
            ck_assert_msg(out[lane] == expected, "%s\nlane %u: 0x%x, expected 0x%x", cases[k].body,
                          lane, out[lane], expected);
        }
    }
}
END_TEST

/* In a last warp that is not full the missing lanes are not waited for. */
START_TEST(partial_warps)
{
    uint32_t out[43];
    run("mov.u32 %a, 1;\nredux.sync.add.u32 %r, %a, -1;", 43, NULL, out);
    for (int k = 0; k < 43; k++) ck_assert_uint_eq(out[k], k < 32 ? 32 : 11);
}
END_TEST

/* Halves of a warp reach the shuffle by different branches. */
START_TEST(shuffle_from_two_places)
{
    uint32_t in[32], out[32];
    values(in);
    run("and.b32 %a, %t, 1;\nsetp.eq.u32 %p, %a, 0;\n@%p bra EVEN;\n"
        "add.u32 %v, %v, 1;\nshfl.sync.bfly.b32 %r, %v, 1, 31, -1;\nbra DONE;\n"
        "EVEN: shfl.sync.bfly.b32 %r, %v, 1, 31, -1;\nDONE:",
        32, in, out);
    for (uint32_t k = 0; k < 32; k++) ck_assert_uint_eq(out[k], in[k ^ 1] + !(k & 1));
}
END_TEST

/* A lane comes to the instruction for itself and then once more for all, the others for all alone:
 * they may not take the first time for the second. */
START_TEST(one_lane_for_itself_first)
{
    for (uint32_t alone = 0; alone < 32; alone += 5) {
        char body[400];
        uint32_t in[32], out[32];
        for (uint32_t k = 0; k < 32; k++) in[k] = k;
        snprintf(body, sizeof body,
                 "setp.eq.u32 %%p, %%t, %u;\nselp.b32 %%c, %u, -1, %%p;\nmov.u32 %%d, 0;\n"
                 "AGAIN:\nredux.sync.add.u32 %%r, %%v, %%c;\nadd.u32 %%d, %%d, %%r;\n"
                 "setp.ne.u32 %%p, %%c, -1;\nmov.u32 %%c, -1;\n@%%p bra AGAIN;\nmov.u32 %%r, %%d;",
                 alone, 1u << alone);
        run(body, 32, in, out);
        for (uint32_t k = 0; k < 32; k++) ck_assert_uint_eq(out[k], k == alone ? 496 + alone : 496);
    }
}
END_TEST

START_TEST(lanes_outside_of_the_mask)
{
    struct device_run result;
    ck_assert_int_eq(
        run_body("shfl.sync.idx.b32 %r, %v, 0, 31, 0xff;", 1, 32, NULL, NULL, 1, &result),
        EXEC_MASK);
    ck_assert_ptr_nonnull(strstr(device_sentence(&result), "lane 8"));
    /* A lane that does not participate provides no value. */
    uint32_t few[32];
    run("setp.ge.u32 %p, %t, 8;\n@%p bra DONE;\nshfl.sync.idx.b32 %r, %v, 20, 31, 0xff;\nDONE:", 32,
        NULL, few);
    ck_assert_uint_eq(few[3], 0xa5a5a5a5);
    /* Lane 3 exits; the lanes that name it do not wait for it. */
    uint32_t out[32];
    run("mov.u32 %r, 0;\nsetp.eq.u32 %p, %t, 3;\n@%p exit;\nmov.u32 %a, 1;\n"
        "redux.sync.add.u32 %r, %a, -1;",
        32, NULL, out);
    ck_assert_uint_eq(out[5], 31);
    /* Lane 3 waits for lanes that never arrive. */
    ck_assert_int_eq(run_body("setp.eq.u32 %p, %t, 3;\n@%p bra ONE;\nbar.sync 0;\nbra DONE;\n"
                              "ONE: bar.warp.sync -1;\nDONE:",
                              1, 32, NULL, NULL, 1, &result),
                     EXEC_BARRIER);
    ck_assert_ptr_nonnull(strstr(device_sentence(&result), "31 of 32 threads"));
}
END_TEST

/* ---- barriers
 * --------------------------------------------------------------------------------------- */

START_TEST(barrier_reductions)
{
    uint32_t out[96];
    run("setp.lt.u32 %p, %t, 70;\nbar.red.popc.u32 %r, 0, %p;\n"
        "bar.red.and.pred %q, 0, %p;\n@%q add.u32 %r, %r, 1000;\n"
        "bar.red.or.pred %q, 0, %p;\n@%q add.u32 %r, %r, 100;",
        96, NULL, out);
    for (int k = 0; k < 96; k++) ck_assert_uint_eq(out[k], 170);
    run("setp.lt.u32 %p, %t, 96;\nbar.red.and.pred %q, 2, %p;\nselp.u32 %r, 1, 0, %q;\n"
        "bar.red.or.pred %q, 3, !%p;\n@%q add.u32 %r, %r, 100;",
        96, NULL, out);
    for (int k = 0; k < 96; k++) ck_assert_uint_eq(out[k], 1);
}
END_TEST

/* Two of three warps meet at a barrier of their own; one only arrives. */
START_TEST(named_barriers)
{
    uint32_t out[96];
    run("mul.lo.u32 %a, %t, 4;\nmov.u32 %b, tile;\nadd.u32 %a, %a, %b;\n"
        "setp.ge.u32 %p, %t, 64;\n@%p bra THIRD;\nsetp.ge.u32 %p, %t, 32;\n@%p bra SECOND;\n"
        "st.shared.u32 [%a], %t;\nbar.arrive 1, 64;\nmov.u32 %r, 1;\nbra DONE;\n"
        "SECOND: barrier.sync 1, 64;\nld.shared.u32 %r, [%a+-128];\nbra DONE;\n"
        "THIRD: mov.u32 %r, 3;\nDONE:",
        96, NULL, out);
    for (uint32_t k = 0; k < 96; k++) ck_assert_uint_eq(out[k], k < 32 ? 1 : k < 64 ? k - 32 : 3);
}
END_TEST

/* A count is one of arrivals, whoever makes them: the first warp arrives for both before its turn,
 * the second one never comes. Lanes that have come apart arrive one half after the other. */
START_TEST(a_warp_may_arrive_twice)
{
    static const char *const halves[] = {
        "bar.arrive 1, 64;\nbar.sync 1, 64;",
        "bar.arrive 1, 96;\nbar.arrive 1, 96;\nbar.sync 1, 96;",
        "setp.ge.u32 %q, %t, 16;\n@%q bra HIGH;\nbarrier.arrive 1, 64;\nbra BOTH;\n"
        "HIGH: barrier.arrive 1, 64;\nBOTH: barrier.sync 1, 64;",
    };
    uint32_t out[64];
    char text[512];
    snprintf(text, sizeof text,
             "setp.ge.u32 %%p, %%t, 32;\nmov.u32 %%r, 1;\n@%%p bra DONE;\n"
             "%s\nmov.u32 %%r, 2;\nDONE:",
             halves[_i]);
    run(text, 64, NULL, out);
    for (uint32_t k = 0; k < 64; k++) ck_assert_uint_eq(out[k], k < 32 ? 2 : 1);
    /* A last warp that is not full counts in full both times. */
    run("bar.arrive 1, 64;\nbar.sync 1, 64;\nmov.u32 %r, 2;", 20, NULL, out);
    for (uint32_t k = 0; k < 20; k++) ck_assert_uint_eq(out[k], 2);
}
END_TEST

/* A counted barrier that includes a last warp that is not full. */
START_TEST(counted_barriers_and_partial_warps)
{
    uint32_t out[50];
    run("mov.u32 %r, 1;\nbar.sync 1, 64;\nmov.u32 %r, 2;", 50, NULL, out);
    for (int k = 0; k < 50; k++) ck_assert_uint_eq(out[k], 2);
}
END_TEST

/* Lanes that call one function from two places meet inside it, and each returns to its own
 * caller. */
START_TEST(a_function_called_from_two_places)
{
    static const char ptx[] =
        ".version 9.0\n.target sm_75\n.address_size 64\n"
        ".func (.param .b32 result) other(.param .b32 value) {\n.reg .b32 %v;\n"
        "ld.param.b32 %v, [value];\nshfl.sync.bfly.b32 %v, %v, 1, 31, -1;\n"
        "st.param.b32 [result], %v;\nret;\n}\n"
        ".visible .entry k(.param .u64 p_out) {\n.reg .b64 %out, %o;\n.reg .b32 %t, %a, %r;\n"
        ".reg .pred %p;\nmov.u32 %t, %tid.x;\nmul.wide.u32 %o, %t, 4;\nld.param.u64 %out, "
        "[p_out];\n"
        "add.u64 %out, %out, %o;\nand.b32 %a, %t, 1;\nsetp.eq.u32 %p, %a, 0;\n@%p bra EVEN;\n"
        "{\n.param .b32 in;\n.param .b32 back;\nst.param.b32 [in], %t;\n"
        "call (back), other, (in);\nld.param.b32 %r, [back];\n}\nadd.u32 %r, %r, 1000;\nbra DONE;\n"
        "EVEN: {\n.param .b32 in;\n.param .b32 back;\nst.param.b32 [in], %t;\n"
        "call (back), other, (in);\nld.param.b32 %r, [back];\n}\nadd.u32 %r, %r, 2000;\n"
        "DONE: st.global.u32 [%out], %r;\nret;\n}\n";
    struct exec_program *program = device_program(ptx);
    uint32_t *out;
    const uint64_t parameters[] = {device_buffer(128, (void **)&out)};
    struct device_run launch = {
        .program = program, .name = "k", .blocks = 1, .threads = 32, .parameters = parameters};
    device_run(&launch);
    for (uint32_t k = 0; k < 32; k++) ck_assert_uint_eq(out[k], (k ^ 1) + (k % 2 ? 1000 : 2000));
    exec_program_destroy(program);
    device_reset();
}
END_TEST

/* Arguments and results that are registers or immediates, in a loop whose label is a call, in a
 * call that some lanes make, and in a function that begins with a label and returns from two
 * places. */
static uint32_t step_of(uint32_t x, uint64_t y, float f)
{
    do x += 3;
    while (x < 20);
    const uint32_t r = x + (uint32_t)y + (uint32_t)f;
    return r > 90 ? r : r + 1;
}

START_TEST(arguments_in_registers)
{
    static const char ptx[] =
        ".version 9.0\n.target sm_75\n.address_size 64\n"
        ".func (.reg .u32 r) step(.reg .u32 x, .reg .u64 y, .reg .f32 f) {\n"
        ".reg .u32 %a;\n.reg .pred %q;\n"
        "AGAIN: add.u32 x, x, 3;\nsetp.lt.u32 %q, x, 20;\n@%q bra AGAIN;\n"
        "cvt.u32.u64 %a, y;\nadd.u32 r, x, %a;\ncvt.rzi.u32.f32 %a, f;\nadd.u32 r, r, %a;\n"
        "setp.gt.u32 %q, r, 90;\n@%q ret;\nadd.u32 r, r, 1;\nret;\n}\n"
        ".visible .entry k(.param .u64 p_out) {\n.reg .b64 %out, %o;\n.reg .b32 %t, %a, %r, %n;\n"
        ".reg .pred %p;\nmov.u32 %t, %tid.x;\nmul.wide.u32 %o, %t, 4;\nld.param.u64 %out, "
        "[p_out];\nadd.u64 %out, %out, %o;\nmov.u32 %r, %t;\nmov.u32 %n, 0;\n"
        "LOOP: call (%r), step, (%r, %o, 0f40A00000);\nadd.u32 %n, %n, 1;\n"
        "setp.lt.u32 %p, %n, 3;\n@%p bra LOOP;\n"
        "and.b32 %a, %t, 1;\nsetp.eq.u32 %p, %a, 0;\n@%p call (%r), step, (7, 4, 0f3F800000);\n"
        "st.global.u32 [%out], %r;\nret;\n}\n";
    struct exec_program *program = device_program(ptx);
    uint32_t *out;
    const uint64_t parameters[] = {device_buffer(128, (void **)&out)};
    struct device_run launch = {
        .program = program, .name = "k", .blocks = 1, .threads = 32, .parameters = parameters};
    device_run(&launch);
    for (uint32_t k = 0; k < 32; k++) {
        uint32_t r = k;
        for (int n = 0; n < 3; n++) r = step_of(r, 4 * k, 5.0f);
        ck_assert_uint_eq(out[k], k % 2 ? r : step_of(7, 4, 1.0f));
    }
    exec_program_destroy(program);
    device_reset();
}
END_TEST

START_TEST(a_predicate_is_no_argument)
{
    static const char ptx[] = ".version 9.0\n.target sm_75\n.address_size 64\n"
                              ".func f(.reg .pred q) {\nret;\n}\n.visible .entry k() {\n"
                              ".reg .pred %p;\nsetp.eq.u32 %p, 1, 1;\ncall f, (%p);\nret;\n}\n";
    struct exec_program *program = device_program(ptx);
    struct device_run launch = {.program = program, .name = "k", .blocks = 1, .threads = 32};
    ck_assert_int_eq(device_launch(&launch), EXEC_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(device_sentence(&launch), "must be .param variables"));
    exec_program_destroy(program);
    device_reset();
}
END_TEST

/* Lanes of a warp reach the same barrier at different times. */
START_TEST(barriers_count_threads)
{
    uint32_t out[64];
    run("mov.u32 %r, 0;\nand.b32 %a, %t, 1;\nsetp.eq.u32 %p, %a, 0;\n@%p bra EVEN;\n"
        "barrier.sync 0;\nld.shared.u32 %r, [tile];\nbra DONE;\n"
        "EVEN: st.shared.u32 [tile], 77;\nbarrier.sync 0;\nDONE:",
        64, NULL, out);
    for (uint32_t k = 0; k < 64; k++) ck_assert_uint_eq(out[k], k % 2 ? 77 : 0);
}
END_TEST

START_TEST(wrong_barriers)
{
    struct device_run result;
    ck_assert_int_eq(run_body("bar.sync %v, 33;", 1, 64, NULL, NULL, 1, &result), EXEC_TRAP);
    ck_assert_ptr_nonnull(strstr(device_sentence(&result), "multiple of 32"));
    ck_assert_int_eq(run_body("add.u32 %a, %v, 16;\nbar.sync %a;", 1, 64, NULL, NULL, 1, &result),
                     EXEC_TRAP);
    ck_assert_int_eq(run_body("setp.lt.u32 %p, %t, 32;\n@%p bra ONE;\nbar.sync 0, 64;\nbra DONE;\n"
                              "ONE: bar.sync 0, 96;\nDONE:",
                              1, 64, NULL, NULL, 1, &result),
                     EXEC_TRAP);
    ck_assert_ptr_nonnull(strstr(device_sentence(&result), "same count"));
}
END_TEST

/* ---- divergence
 * -------------------------------------------------------------------------------------- */

START_TEST(branch_tables)
{
    uint32_t in[40], out[40];
    for (uint32_t k = 0; k < 40; k++) in[k] = k * 7 % 4;
    run("BACK:\nTABLE: .branchtargets A, B, C, D;\nmov.u32 %b, 0;\nbrx.idx %v, TABLE;\n"
        "A: add.u32 %b, %b, 1;\nB: add.u32 %b, %b, 10;\nC: add.u32 %b, %b, 100;\nD: mov.u32 %r, "
        "%b;\n"
        "activemask.b32 %a;\npopc.b32 %a, %a;\nmad.lo.u32 %r, %a, 1000, %r;",
        40, in, out);
    static const uint32_t sums[4] = {111, 110, 100, 0};
    /* All lanes have reconverged after the join. */
    for (uint32_t k = 0; k < 40; k++)
        ck_assert_uint_eq(out[k], sums[in[k]] + 1000 * (k < 32 ? 32 : 8));
    struct device_run result;
    in[9] = 4;
    ck_assert_int_eq(run_body("T: .branchtargets A, A;\nmov.u32 %b, 0;\nbrx.idx %v, T;\nA:", 1, 32,
                              in, NULL, 1, &result),
                     EXEC_TRAP);
}
END_TEST

START_TEST(nested_branches_meet_again)
{
    uint32_t out[32];
    run("mov.u32 %r, 0;\nand.b32 %a, %t, 1;\nsetp.eq.u32 %p, %a, 0;\n@%p bra L1;\n"
        "and.b32 %a, %t, 2;\nsetp.eq.u32 %p, %a, 0;\n@%p bra L2;\nadd.u32 %r, %r, 1;\n"
        "L2: add.u32 %r, %r, 10;\nactivemask.b32 %b;\npopc.b32 %b, %b;\n"
        "mad.lo.u32 %r, %b, 1000, %r;\n"
        "L1: activemask.b32 %b;\npopc.b32 %b, %b;\nmad.lo.u32 %r, %b, 100000, %r;",
        32, NULL, out);
    for (uint32_t k = 0; k < 32; k++)
        ck_assert_uint_eq(out[k], 3200000 + (k % 2 ? 16010 + (k & 2 ? 1 : 0) : 0));
}
END_TEST

/* One lane waits for a word that another lane of its warp writes, whichever runs first. */
START_TEST(producer_and_consumer_in_a_warp)
{
    for (int first = 0; first < 2; first++) {
        char body[512];
        uint32_t out[32];
        snprintf(body, sizeof body,
                 "mov.u32 %%r, 0;\nst.shared.u32 [tile], 0;\nbar.warp.sync -1;\n"
                 "setp.%s.u32 %%p, %%t, %d;\n@%%p bra LATER;\n"
                 "WAIT: ld.volatile.shared.u32 %%r, [tile];\nsetp.eq.u32 %%q, %%r, 0;\n"
                 "@%%q bra WAIT;\nbra DONE;\n"
                 "LATER: mov.u32 %%a, 1234;\nst.volatile.shared.u32 [tile], %%a;\nDONE:",
                 first ? "lt" : "ge", first ? 1 : 31);
        run(body, 32, NULL, out);
        ck_assert_uint_eq(out[5], 1234);
    }
}
END_TEST

/* Backward branches without polling: the fragment that loops must still let the other one run.
 */
START_TEST(plain_loops_let_others_run)
{
    uint32_t out[32];
    run("mov.u32 %r, 0;\nst.shared.u32 [tile], 0;\nbar.warp.sync -1;\nsetp.ge.u32 %p, %t, 31;\n"
        "@%p bra LATER;\nWAIT: ld.shared.u32 %r, [tile];\nsetp.eq.u32 %q, %r, 0;\n"
        "@%q bra WAIT;\nbra DONE;\nLATER: mov.u32 %a, 4;\nst.shared.u32 [tile], %a;\nDONE:",
        32, NULL, out);
    ck_assert_uint_eq(out[5], 4);
}
END_TEST

/* The same where the loop diverges and reconverges in every round. */
START_TEST(diverging_loops_let_others_run)
{
    uint32_t out[32];
    run("mov.u32 %r, 0;\nmov.u32 %c, 0;\nst.shared.u32 [tile], 0;\nbar.warp.sync -1;\n"
        "setp.ge.u32 %p, %t, 31;\n@%p bra LATER;\nWAIT: add.u32 %c, %c, 1;\nadd.u32 %b, %c, %t;\n"
        "and.b32 %b, %b, 1;\nsetp.eq.u32 %q, %b, 0;\n@%q bra EVEN;\nadd.u32 %d, %c, 1;\n"
        "EVEN: ld.shared.u32 %r, [tile];\nsetp.eq.u32 %q, %r, 0;\n@%q bra WAIT;\nbra DONE;\n"
        "LATER: mov.u32 %a, 4;\nst.shared.u32 [tile], %a;\nDONE:",
        32, NULL, out);
    ck_assert_uint_eq(out[5], 4);
}
END_TEST

/* Warps of one block wait for each other through shared memory. */
START_TEST(warps_take_turns)
{
    uint32_t out[256];
    run("setp.ne.u32 %p, %t, 0;\n@!%p st.shared.u32 [tile], 0;\nbar.sync 0;\nshr.u32 %a, %t, 5;\n"
        "xor.b32 %a, %a, 7;\n"
        "WAIT: ld.volatile.shared.u32 %r, [tile];\nsetp.ne.u32 %q, %r, %a;\n@%q bra WAIT;\n"
        "bar.warp.sync -1;\nand.b32 %b, %t, 31;\nsetp.ne.u32 %q, %b, 0;\n@%q bra DONE;\n"
        "add.u32 %c, %a, 1;\nst.volatile.shared.u32 [tile], %c;\nDONE:",
        256, NULL, out);
    for (uint32_t k = 0; k < 256; k++) ck_assert_uint_eq(out[k], 7 - k / 32);
}
END_TEST

/* ---- guards, predicates, set
 * ---------------------------------------------------------------------- */

START_TEST(guards_and_predicates)
{
    uint32_t in[32], out[32];
    for (uint32_t k = 0; k < 32; k++) in[k] = k;
    run("setp.lt.u32 %p|%q, %v, 10;\nmov.u32 %r, 0;\n@%p add.u32 %r, %r, 1;\n@%q add.u32 %r, %r, "
        "2;\n"
        "@!%p add.u32 %r, %r, 4;\nand.b32 %a, %v, 1;\nsetp.eq.and.u32 %p|%q, %a, 0, %p;\n"
        "@%p add.u32 %r, %r, 8;\n@%q add.u32 %r, %r, 16;\nsetp.eq.or.u32 %p, %a, 0, !%p;\n"
        "@%p add.u32 %r, %r, 32;\nsetp.gt.xor.u32 %p|%q, %v, 20, %p;\n@%p add.u32 %r, %r, 64;\n"
        "@%q add.u32 %r, %r, 128;\nnot.pred %q, %p;\nor.pred %q, %q, %p;\n@%q add.u32 %r, %r, "
        "256;\n"
        "set.lt.u32.u32 %a, %v, 5;\nand.b32 %a, %a, 512;\nadd.u32 %r, %r, %a;\n"
        "setp.gt.u32 %p, %v, 2;\nset.lt.and.f32.u32 %a, %v, 5, %p;\nshr.u32 %a, %a, 13;\n"
        "add.u32 %r, %r, %a;",
        32, in, out);
    for (uint32_t v = 0; v < 32; v++) {
        uint32_t r = 0;
        bool p = v < 10, q = !p, c, even = v % 2 == 0;
        if (p) r += 1;
        if (q) r += 2;
        if (!p) r += 4;
        c = p;
        p = even && c;
        q = !even && c;
        if (p) r += 8;
        if (q) r += 16;
        p = even || !p;
        if (p) r += 32;
        c = p;
        p = (v > 20) != c;
        q = !(v > 20) != c;
        if (p) r += 64;
        if (q) r += 128;
        r += 256;
        if (v < 5) r += 512;
        if (v < 5 && v > 2) r += 0x3f800000 >> 13;
        ck_assert_msg(out[v] == r, "lane %u: %u, expected %u", v, out[v], r);
    }
}
END_TEST

/* Both halves of a pair at once: p is the lower half's result, q the upper half's. A guard that the
 * instruction itself overwrites holds for all of it. */
START_TEST(comparisons_of_pairs)
{
    uint32_t in[32], out[32];
    for (uint32_t k = 0; k < 32; k++) in[k] = (k & 1 ? 0x3c00 : 0x4000) | (k & 2 ? 0x3c000000u : 0);
    run("mov.u32 %a, 0x3c003c00;\nsetp.eq.f16x2 %p|%q, %v, %a;\nselp.u32 %r, 1, 0, %p;\n"
        "@%q add.u32 %r, %r, 2;\nsetp.ne.u32 %p, %t, 99;\n@%p setp.eq.f16x2 %p|%q, %v, %a;\n"
        "@%p add.u32 %r, %r, 4;\n@%q add.u32 %r, %r, 8;\n"
        "setp.ne.u32 %p, %t, 99;\n@%p setp.ge.and.u32 %p|%q, %t, 16, %p;\n"
        "@%p add.u32 %r, %r, 16;\n@%q add.u32 %r, %r, 32;",
        32, in, out);
    for (uint32_t k = 0; k < 32; k++) ck_assert_uint_eq(out[k], (k & 3) * 5 + (k >= 16 ? 16 : 32));
}
END_TEST

/* A register that a guard leaves unwritten keeps its old value, however registers share slots. */
START_TEST(guarded_writes_keep_the_rest)
{
    uint32_t out[32];
    run("mov.u32 %a, 11;\nadd.u32 %a, %a, %t;\nand.b32 %b, %t, 1;\nsetp.eq.u32 %p, %b, 0;\n"
        "@%p mov.u32 %a, 100;\nmul.lo.u32 %c, %t, 7;\nadd.u32 %d, %c, 1;\n"
        "@!%p add.u32 %d, %d, 1000;\nadd.u32 %r, %a, %d;",
        32, NULL, out);
    for (uint32_t k = 0; k < 32; k++)
        ck_assert_uint_eq(out[k], k % 2 ? 11 + k + 7 * k + 1001 : 100 + 7 * k + 1);
}
END_TEST

/* The same around a loop, where the value must survive the short live ranges of other registers. */
START_TEST(guarded_writes_in_loops)
{
    uint32_t out[32];
    run(".reg .b32 %z<4>;\nmov.u32 %r, 0;\nmov.u32 %c, 0;\nadd.u32 %a, %t, 5;\nand.b32 %b, %t, 1;\n"
        "LOOP: add.u32 %d, %c, %b;\nsetp.eq.u32 %p, %d, 2;\n@%p mov.u32 %a, 500;\n"
        "add.u32 %r, %r, %a;\nmul.lo.u32 %z0, %c, 1;\nmul.lo.u32 %z1, %c, 2;\n"
        "mul.lo.u32 %z2, %c, 3;\nadd.u32 %z3, %c, 0;\nadd.u32 %r, %r, %z0;\nadd.u32 %r, %r, %z1;\n"
        "add.u32 %r, %r, %z2;\nadd.u32 %r, %r, %z3;\nadd.u32 %c, %c, 1;\n"
        "setp.lt.u32 %q, %c, 4;\n@%q bra LOOP;",
        32, NULL, out);
    for (uint32_t k = 0; k < 32; k++)
        ck_assert_uint_eq(out[k], k % 2 ? (k + 5) + 3 * 500 + 42 : 2 * (k + 5) + 2 * 500 + 42);
}
END_TEST

/* A register that is read before it is written has the same value in every block and on every
 * worker. */
START_TEST(unwritten_registers)
{
    static uint32_t one[MOST], many[MOST];
    static const char body[] = "add.u32 %r, %c, %t;\nmov.u32 %c, %ctaid.x;\nmul.lo.u32 %d, %c, 3;\n"
                               "st.shared.u32 [tile], %d;";
    ck_assert_int_eq(run_body(body, 16, 64, NULL, one, 1, NULL), EXEC_DONE);
    ck_assert_int_eq(run_body(body, 16, 64, NULL, many, 3, NULL), EXEC_DONE);
    ck_assert_mem_eq(one, many, sizeof one);
    for (uint32_t k = 0; k < MOST; k++) ck_assert_uint_eq(one[k] - k % 64, one[0]);
    /* Uninitialised shared memory is the same on every worker, not zero, and different in each
     * block. */
    static const char reads[] = "ld.shared.u32 %r, [tile+64];\nbar.sync 0;\n"
                                "st.shared.u32 [tile+64], 7;";
    ck_assert_int_eq(run_body(reads, 16, 64, NULL, one, 1, NULL), EXEC_DONE);
    ck_assert_int_eq(run_body(reads, 16, 64, NULL, many, 3, NULL), EXEC_DONE);
    ck_assert_mem_eq(one, many, sizeof one);
    for (uint32_t k = 0; k < MOST; k++) {
        ck_assert_uint_ne(one[k], 0);
        ck_assert_uint_eq(one[k], one[k / 64 * 64]);
        if (k >= 64) ck_assert_uint_ne(one[k], one[k - 64]);
    }
}
END_TEST

START_TEST(special_registers)
{
    uint32_t out[3 * 70];
    struct device_run result;
    ck_assert_int_eq(
        run_body(".reg .u64 %graph;\nmov.u32 %r, %laneid;\nmov.u32 %a, %warpid;\nmad.lo.u32 %r, "
                 "%a, 100, %r;\n"
                 "mov.u32 %a, %nwarpid;\nmad.lo.u32 %r, %a, 1000, %r;\nmov.u32 %a, %ctaid.x;\n"
                 "mad.lo.u32 %r, %a, 10000, %r;\nmov.u32 %a, %nctaid.x;\n"
                 "mad.lo.u32 %r, %a, 100000, %r;\nmov.u32 %a, %lanemask_lt;\nmov.u32 %b, "
                 "%lanemask_ge;\nadd.u32 %a, %a, %b;\nadd.u32 %r, %r, %a;\nadd.u32 %r, %r, 1;\n"
                 "mov.u32 %a, %lanemask_le;\nmov.u32 %b, %lanemask_gt;\nadd.u32 %a, %a, %b;\n"
                 "add.u32 %r, %r, %a;\nadd.u32 %r, %r, 1;\nmov.u32 %a, %ntid.y;\n"
                 "mad.lo.u32 %r, %a, 1000000, %r;\nmov.u32 %a, %tid.z;\nadd.u32 %r, %r, %a;\n"
                 "mov.u32 %a, %total_smem_size;\nadd.u32 %r, %r, %a;\n"
                 "mov.u32 %a, %gridid;\nadd.u32 %r, %r, %a;\nmov.u64 %graph, "
                 "%current_graph_exec;\ncvt.u32.u64 %a, %graph;\nadd.u32 %r, %r, %a;",
                 3, 70, NULL, out, 1, &result),
        EXEC_DONE);
    for (uint32_t b = 0; b < 3; b++)
        for (uint32_t t = 0; t < 70; t++)
            ck_assert_uint_eq(out[b * 70 + t], 1000000 + 300000 + 10000 * b + 64000 +
                                                   100 * (t / 32) + t % 32 + 4096);
}
END_TEST

/* As an H200 answered (580.159.04): all that a block gets comes in units of 128 bytes, the sum with
 * what is reserved does not. */
START_TEST(sizes_of_shared_memory)
{
    static const struct {
        uint32_t fixed, dynamic, total, aggregate;
    } rows[] = {{4, 0, 128, 1028},   {128, 0, 128, 1152},  {132, 0, 256, 1156},
                {32, 40, 128, 1096}, {32, 100, 256, 1156}, {16, 1000, 1024, 2040}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char text[512];
        void *out;
        const uint64_t parameter = device_buffer(16, &out);
        snprintf(text, sizeof text,
                 ".version 8.1\n.target sm_90\n.address_size 64\n"
                 ".visible .entry k(.param .u64 p) {\n.reg .b32 %%a;\n.reg .b64 %%p;\n"
                 ".shared .b8 s[%u];\nld.param.u64 %%p, [p];\nmov.u32 %%a, %%dynamic_smem_size;\n"
                 "st.global.u32 [%%p], %%a;\nmov.u32 %%a, %%total_smem_size;\n"
                 "st.global.u32 [%%p+4], %%a;\nmov.u32 %%a, %%aggr_smem_size;\n"
                 "st.global.u32 [%%p+8], %%a;\nret;\n}\n",
                 rows[k].fixed);
        struct exec_program *program = device_program(text);
        struct device_run launch = {.program = program,
                                    .name = "k",
                                    .blocks = 1,
                                    .threads = 1,
                                    .shared = rows[k].dynamic,
                                    .parameters = &parameter};
        device_run(&launch);
        const uint32_t expected[] = {rows[k].dynamic, rows[k].total, rows[k].aggregate};
        ck_assert_mem_eq(out, expected, sizeof expected);
        exec_program_destroy(program);
        device_reset();
    }
}
END_TEST

START_TEST(reserved_shared_memory)
{
    uint32_t out[2 * 64];
    struct device_run result;
    /* Every thread stores a word there for its neighbour: 256 bytes are reserved for cooperative
     * groups.
     */
    ck_assert_int_eq(
        run_body("mov.u32 %a, %reserved_smem_offset_1;\nmov.u32 %b, %tid.x;\n"
                 "mad.lo.u32 %a, %b, 4, %a;\nst.shared.u32 [%a], %b;\nbar.sync 0;\n"
                 "xor.b32 %b, %b, 1;\nmov.u32 %a, %reserved_smem_offset_1;\n"
                 "mad.lo.u32 %a, %b, 4, %a;\nld.shared.u32 %r, [%a];\n"
                 "mov.u32 %a, %reserved_smem_offset_end;\n"
                 "mov.u32 %b, %reserved_smem_offset_begin;\nsub.u32 %a, %a, %b;\n"
                 "mad.lo.u32 %r, %a, 100, %r;\nmov.u32 %a, %aggr_smem_size;\n"
                 "mov.u32 %b, %total_smem_size;\nsub.u32 %a, %a, %b;\n"
                 "mad.lo.u32 %r, %a, 1000000, %r;\nmov.u32 %a, %reserved_smem_offset_cap;\n"
                 "sub.u32 %r, %r, %a;",
                 2, 64, NULL, out, 1, &result),
        EXEC_DONE);
    for (uint32_t t = 0; t < 2 * 64; t++)
        ck_assert_uint_eq(out[t], 1024 * 1000000u + 1024 * 100 + ((t % 64) ^ 1) - 1024);
}
END_TEST

START_TEST(unsupported_instructions_are_named)
{
    struct device_run result;
    ck_assert_int_eq(
        run_body("mov.u32 %r, 1;\ntcgen05.wait::ld.sync.aligned;", 1, 32, NULL, NULL, 1, &result),
        EXEC_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(device_sentence(&result), "tcgen05.wait::ld.sync.aligned"));
    /* An unsupported instruction that is not reached does no harm. */
    uint32_t out[32];
    run("mov.u32 %r, 1;\nsetp.eq.u32 %p, %r, 2;\n@%p tcgen05.wait::ld.sync.aligned;\n"
        "@!%p bra DONE;\ntcgen05.wait::ld.sync.aligned;\nDONE:",
        32, NULL, out);
    ck_assert_uint_eq(out[0], 1);
}
END_TEST

/* ---- workers
 * --------------------------------------------------------------------------------------- */

static const char busy[] =
    "mov.u32 %r, 0;\nmov.u32 %a, %ctaid.x;\nadd.u32 %a, %a, %t;\nLOOP: mad.lo.u32 %r, %r, 31, %a;\n"
    "sub.u32 %a, %a, 1;\nsetp.gt.s32 %p, %a, 0;\n@%p bra LOOP;\nmul.lo.u32 %b, %t, 4;\n"
    "mov.u32 %c, tile;\nadd.u32 %b, %b, %c;\nst.shared.u32 [%b], %r;\nbar.sync 0;\n"
    "ld.shared.u32 %c, [tile];\nadd.u32 %r, %r, %c;";

START_TEST(any_number_of_workers)
{
    enum { BLOCKS = 16, THREADS = 64 };
    static uint32_t first[MOST], other[MOST];
    struct device_run one, many;
    ck_assert_int_eq(run_body(busy, BLOCKS, THREADS, NULL, first, 1, &one), EXEC_DONE);
    static const unsigned workers[] = {2, 5, 16};
    for (int k = 0; k < 3; k++) {
        ck_assert_int_eq(run_body(busy, BLOCKS, THREADS, NULL, other, workers[k], &many),
                         EXEC_DONE);
        ck_assert_mem_eq(first, other, sizeof first);
        ck_assert_mem_eq(&one.counts, &many.counts, sizeof one.counts);
    }
    ck_assert_uint_ne(first[100], first[200]);
}
END_TEST

/* The fault of the lowest block is reported, however blocks are distributed. */
START_TEST(the_first_fault_on_any_number_of_workers)
{
    for (unsigned workers = 1; workers <= 5; workers += 2) {
        struct device_run result;
        ck_assert_int_eq(run_body("mov.u32 %a, %ctaid.x;\nsetp.lt.u32 %p, %a, 5;\n@%p bra DONE;\n"
                                  "mov.u64 %m, 64;\nld.global.u32 %r, [%m];\nDONE:",
                                  16, 32, NULL, NULL, workers, &result),
                         EXEC_OUT_OF_BOUNDS);
        ck_assert_uint_eq(result.fault.block[0], 5);
    }
}
END_TEST

START_TEST(a_forked_child_runs_too)
{
    static uint32_t out[MOST], again[MOST];
    ck_assert_int_eq(run_body(busy, 16, 64, NULL, out, 3, NULL), EXEC_DONE);
    const pid_t child = fork();
    if (child == 0) {
        const bool fine = run_body(busy, 16, 64, NULL, again, 3, NULL) == EXEC_DONE &&
                          !memcmp(out, again, sizeof out);
        _exit(fine ? 0 : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec_warp");
    TCase *tests = tcase_create("warp");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, shuffles);
    tcase_add_test(tests, votes_and_matches);
    tcase_add_test(tests, partial_warps);
    tcase_add_test(tests, shuffle_from_two_places);
    tcase_add_test(tests, one_lane_for_itself_first);
    tcase_add_test(tests, lanes_outside_of_the_mask);
    tcase_add_test(tests, barrier_reductions);
    tcase_add_test(tests, named_barriers);
    tcase_add_test(tests, counted_barriers_and_partial_warps);
    tcase_add_loop_test(tests, a_warp_may_arrive_twice, 0, 3);
    tcase_add_test(tests, a_function_called_from_two_places);
    tcase_add_test(tests, arguments_in_registers);
    tcase_add_test(tests, a_predicate_is_no_argument);
    tcase_add_test(tests, barriers_count_threads);
    tcase_add_test(tests, wrong_barriers);
    tcase_add_test(tests, branch_tables);
    tcase_add_test(tests, nested_branches_meet_again);
    tcase_add_test(tests, producer_and_consumer_in_a_warp);
    tcase_add_test(tests, plain_loops_let_others_run);
    tcase_add_test(tests, diverging_loops_let_others_run);
    tcase_add_test(tests, warps_take_turns);
    tcase_add_test(tests, guards_and_predicates);
    tcase_add_test(tests, comparisons_of_pairs);
    tcase_add_test(tests, guarded_writes_keep_the_rest);
    tcase_add_test(tests, guarded_writes_in_loops);
    tcase_add_test(tests, unwritten_registers);
    tcase_add_test(tests, special_registers);
    tcase_add_test(tests, sizes_of_shared_memory);
    tcase_add_test(tests, reserved_shared_memory);
    tcase_add_test(tests, unsupported_instructions_are_named);
    tcase_add_test(tests, any_number_of_workers);
    tcase_add_test(tests, the_first_fault_on_any_number_of_workers);
    tcase_add_test(tests, a_forked_child_runs_too);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
