/* Compiled machine code has the same effect as its rows: the same results, instruction counts, and
 * fault at the same line; and the test checks that code was compiled. Each kernel runs interpreted
 * and compiled, in one process. */
#include "emulator/exec/exec.h"
#include "tests/exec/device.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 96, WORDS = 4 * THREADS };

#define HEAD                                                                                       \
    ".version 8.0\n.target sm_75\n.address_size 64\n"                                              \
    ".visible .entry k(.param .u64 out) {\n"                                                       \
    ".reg .u64 %a, %o; .reg .u32 %t, %n, %s, %x, %b; .reg .pred %p, %q; .reg .f32 %f, %g;\n"       \
    ".reg .f64 %d;\n.shared .u32 m[96];\n"                                                         \
    "ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %a, %t, 4; add.u64 %o, %o, %a;\n"
#define TAIL "st.global.u32 [%o], %s; ret; }\n"

static const struct {
    const char *what, *ptx;
} kernels[] = {
    {"a loop that lanes leave at different times",
     HEAD "mov.u32 %n, %t; mov.u32 %s, 1;\n"
          "more: mul.lo.u32 %s, %s, 1664525; add.u32 %s, %s, %n; xor.b32 %s, %s, %t;\n"
          "sub.u32 %n, %n, 1; setp.lt.s32 %p, %n, 0; @!%p bra more;\n" TAIL},
    {"a loop that all leave together, in more rounds than the scheduler lets pass",
     HEAD "mov.u32 %n, 5000; mov.u32 %s, %t;\n"
          "more: mad.lo.u32 %s, %s, 3, %n; sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0;\n"
          "@%p bra more;\n" TAIL},
    {"guards", HEAD "mov.u32 %s, 7; and.b32 %x, %t, 5; setp.gt.u32 %p|%q, %x, 1;\n"
                    "@%p add.u32 %s, %s, %t; @!%p mul.lo.u32 %s, %s, 9; @%q sub.u32 %s, %s, %t;\n"
                    "selp.u32 %x, %s, %t, %q; add.u32 %s, %s, %x;\n" TAIL},
    {"lanes that part and meet inside a loop",
     HEAD "mov.u32 %n, 40; mov.u32 %s, %t;\n"
          "more: and.b32 %x, %s, 1; setp.eq.u32 %p, %x, 0; @%p bra even;\n"
          "mad.lo.u32 %s, %s, 3, 1; add.u32 %s, %s, %t; bra.uni next;\n"
          "even: shr.u32 %s, %s, 1; add.u32 %s, %s, 3;\n"
          "next: sub.u32 %n, %n, 1; setp.ne.u32 %q, %n, 0; @%q bra more;\n" TAIL},
    {"lanes that go round early, and catch up with the others inside the loop",
     HEAD "add.u32 %n, %t, 60; mov.u32 %s, %t;\n"
          "more: mad.lo.u32 %s, %s, 5, %n; sub.u32 %n, %n, 1; and.b32 %x, %n, 3;\n"
          "setp.eq.u32 %p, %x, 1; @%p bra more;\n"
          "xor.b32 %s, %s, %n; add.u32 %s, %s, 7; setp.gt.s32 %q, %n, 0; @%q bra more;\n" TAIL},
    {"some lanes, in a loop of an if and an else that have loops, where they wait for each other",
     HEAD
     "and.b32 %x, %t, 31; mov.u32 %s, %t; setp.gt.u32 %p, %x, 26; @%p bra end; mov.u32 %n, 9;\n"
     "more: and.b32 %b, %s, 3; setp.eq.u32 %p, %b, 0; @%p bra other;\n"
     "one: mad.lo.u32 %s, %s, 5, %t; sub.u32 %b, %b, 1; setp.gt.s32 %q, %b, 0; @%q bra one;\n"
     "bra.uni both; other: and.b32 %b, %s, 5;\n"
     "two: mad.lo.u32 %s, %s, 7, %b; sub.u32 %b, %b, 1; setp.gt.s32 %q, %b, 0; @%q bra two;\n"
     "both: add.u32 %s, %s, %n; sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra more;\n"
     "end: " TAIL},
    {"branches of a few instructions, which touch memory and some lanes take",
     HEAD "mov.u32 %n, 9; mov.u32 %s, %t; mov.u32 %b, m; mad.lo.u32 %b, %t, 4, %b;\n"
          "st.shared.u32 [%b], %t; st.global.u32 [%o], %t;\n"
          "more: add.u32 %x, %s, %n; and.b32 %x, %x, 3; setp.eq.u32 %p|%q, %x, 0; @%p bra over;\n"
          "st.shared.u32 [%b], %s; setp.gt.u32 %q, %x, 1; @%q add.u32 %s, %s, 7;\n"
          "ld.shared.u32 %x, [%b]; @!%q mad.lo.u32 %s, %x, 5, %s; atom.shared.add.u32 %x, [m], 1;\n"
          "over: setp.lt.u32 %q, %x, 2; @%q bra other;\n"
          "st.global.u32 [%o], %s; add.u32 %s, %s, 11; bra.uni both;\n"
          "other: ld.global.u32 %x, [%o]; xor.b32 %s, %s, %x; ld.shared.u32 %x, [%b];\n"
          "both: mad.lo.u32 %s, %s, 3, %x; sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0;\n"
          "@%p bra more;\n" TAIL},
    {"such a branch inside of one, and before a barrier",
     HEAD "mov.u32 %n, 9; mov.u32 %s, %t;\n"
          "more: and.b32 %x, %s, 1; setp.eq.u32 %p, %x, 0; @%p bra over;\n"
          "add.u32 %s, %s, 5; and.b32 %x, %s, 4; setp.eq.u32 %q, %x, 0; @%q bra in;\n"
          "mad.lo.u32 %s, %s, 3, %n; in: add.u32 %s, %s, 1; over: bar.sync 0;\n"
          "mad.lo.u32 %s, %s, 7, %t; sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0;\n"
          "@%p bra more;\n" TAIL},
    {"an access out of bounds in the fifth round of a branch that some lanes take",
     HEAD "mov.u32 %n, 9; mov.u32 %s, %t; mov.u64 %a, 4096; setp.lt.u32 %q, %t, 7;\n"
          "more: mad.lo.u32 %s, %s, 3, 1; @%q bra over; st.global.u32 [%o], %s;\n"
          "add.u32 %s, %s, 1; over: setp.eq.u32 %p, %n, 5; @%p add.u64 %o, %o, %a;\n"
          "sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra more;\n" TAIL},
    {"comparisons of 64 bits",
     HEAD "cvt.u64.u32 %a, %t; mov.u32 %s, %t; setp.lt.u64 %p|%q, %a, 20;\n"
          "@%p add.u32 %s, %s, 100; @!%q mul.lo.u32 %s, %s, 3; shl.b64 %a, %a, 31;\n"
          "setp.ge.s64 %q, %a, 16106127360; @%q xor.b32 %s, %s, 5; setp.ne.u64 %p, %a, 0;\n"
          "selp.u32 %x, %t, 9, %p; mad.lo.u32 %s, %s, 7, %x;\n" TAIL},
    {"sums that all lanes add to one word: usual, subnormal ones, and with a NaN",
     HEAD "ld.param.u64 %a, [out]; mov.u32 %n, 3; mov.u32 %s, 0;\n"
          "more: cvt.rn.f32.u32 %f, %t; mul.f32 %f, %f, 0f3DCCCCCD; setp.eq.u32 %p, %n, 2;\n"
          "and.b32 %x, %t, 1; mad.lo.u32 %x, %x, 0x7fc00000, 0x00c00000; @%p mov.b32 %f, %x; "
          "mad.lo.u32 %x, %t, 8, %n;\n"
          "setp.eq.u32 %p, %x, 321; @%p mov.b32 %f, 0x7fc00001; mov.u32 %b, m;\n"
          "mad.lo.u32 %b, %n, 4, %b; st.shared.u32 [%b], 0;\n"
          "st.global.u32 [%a+512], 0; bar.sync 0;\n"
          "atom.global.add.f32 %g, [%a+512], %f; mov.b32 %x, %g; mad.lo.u32 %s, %s, 31, %x;\n"
          "atom.shared.add.f32 %g, [%b], %f; mov.b32 %x, %g; mad.lo.u32 %s, %s, 31, %x;\n"
          "red.global.add.u32 [%a+768], %t; add.u64 %a, %a, 4; sub.u32 %n, %n, 1;\n"
          "setp.ne.u32 %p, %n, 0; @%p bra more;\n" TAIL},
    {"floating point, and a library's function",
     HEAD "cvt.rn.f32.u32 %f, %t; mov.f32 %g, 0f3F000000; mov.u32 %n, 9;\n"
          "more: fma.rn.f32 %g, %g, %f, %g; div.rn.f32 %g, %g, 0f40400000; sin.approx.f32 %g, %g;\n"
          "cvt.f64.f32 %d, %g; mul.f64 %d, %d, 0d3FF8000000000000; cvt.rn.f32.f64 %g, %d;\n"
          "sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra more;\n"
          "mov.b32 %s, %g;\n" TAIL},
    {"lanes that have exited",
     HEAD "mov.u32 %s, 1; setp.gt.u32 %p, %t, 77; @%p exit; mov.u32 %n, %t;\n"
          "more: add.u32 %s, %s, %n; mul.lo.u32 %s, %s, 5; sub.u32 %n, %n, 1;\n"
          "setp.gt.s32 %q, %n, 3; @%q bra more;\n" TAIL},
    {"shared memory and barriers in a loop",
     HEAD "shl.b32 %x, %t, 2; mov.u32 %n, 6; mov.u32 %s, %t;\n"
          "more: mov.u32 %b, m; add.u32 %b, %b, %x; st.shared.u32 [%b], %s; bar.sync 0;\n"
          "xor.b32 %s, %b, 64; ld.shared.u32 %s, [%s]; mad.lo.u32 %s, %s, 17, %t; bar.sync 0;\n"
          "sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra more;\n" TAIL},
    {"shuffles of every kind, by constants", HEAD
     "mov.u32 %s, %t; mov.u32 %n, 3;\n"
     "more: shfl.sync.bfly.b32 %x|%p, %s, 16, 31, -1; mad.lo.u32 %s, %s, 3, %x;\n"
     "@!%p add.u32 %s, %s, 5; shfl.sync.up.b32 %x|%q, %s, 3, 0, -1; mad.lo.u32 %s, %s, 5, %x;\n"
     "@%q add.u32 %s, %s, 1; shfl.sync.down.b32 %x|%p, %s, 7, 31, -1; mad.lo.u32 %s, %s, 7, "
     "%x;\n@%p add.u32 %s, %s, 9; shfl.sync.idx.b32 %x|%q, %s, 21, 31, -1; xor.b32 %s, %s, %x;\n"
     "@!%q add.u32 %s, %s, %t; sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra more;\n" TAIL},
    {"shuffles in segments, and past a clamp", HEAD
     "mad.lo.u32 %s, %t, 17, 4;\n"
     "shfl.sync.bfly.b32 %x|%p, %s, 9, 0x1807, -1; mad.lo.u32 %s, %s, 3, %x;\n"
     "@%p add.u32 %s, %s, 5; shfl.sync.up.b32 %x|%q, %s, 2, 0x1800, -1; mad.lo.u32 %s, %s, 5, %x;\n"
     "@%q add.u32 %s, %s, 1; shfl.sync.down.b32 %x|%p, %s, 3, 0x181f, -1; mad.lo.u32 %s, %s, 7, "
     "%x;\n@%p add.u32 %s, %s, 9; shfl.sync.idx.b32 %x|%q, %s, 3, 0x181f, -1; xor.b32 %s, %s, %x;\n"
     "@%q add.u32 %s, %s, %t; shfl.sync.idx.b32 %x|%q, %s, 20, 18, -1; mad.lo.u32 %s, %s, 3, %x;\n"
     "@%q add.u32 %s, %s, 2;\n" TAIL},
    {"shuffles whose distances are registers, the same for all or not",
     HEAD "mov.u32 %s, %t; mov.u32 %n, 33;\n"
          "more: shfl.sync.up.b32 %x, %s, %n, 0, -1; mad.lo.u32 %s, %s, 3, %x;\n"
          "shfl.sync.down.b32 %x, %s, %n, 31, -1; mad.lo.u32 %s, %s, 5, %x;\n"
          "shfl.sync.bfly.b32 %x, %s, %n, 31, -1; mad.lo.u32 %s, %s, 7, %x;\n"
          "shfl.sync.idx.b32 %x, %s, %n, 31, -1; mad.lo.u32 %s, %s, 9, %x;\n"
          "add.u32 %b, %t, %n; shfl.sync.idx.b32 %x, %s, %b, 31, -1; mad.lo.u32 %s, %s, 11, %x;\n"
          "shfl.sync.down.b32 %x, %s, %b, 31, -1; xor.b32 %s, %s, %x;\n"
          "sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra more;\n" TAIL},
    {"votes",
     HEAD "mov.u32 %s, %t; mov.u32 %n, 9;\n"
          "more: shr.u32 %x, %s, %n; and.b32 %x, %x, 1; setp.eq.u32 %p, %x, 1;\n"
          "vote.sync.ballot.b32 %b, %p, -1; mad.lo.u32 %s, %s, 3, %b;\n"
          "vote.sync.all.pred %q, %p, -1; @%q add.u32 %s, %s, 1;\n"
          "vote.sync.any.pred %q, %p, -1; @%q mul.lo.u32 %s, %s, 5; setp.ge.u32 %p, %n, 5;\n"
          "vote.sync.uni.pred %q, %p, -1; @%q add.u32 %s, %s, %t; bar.warp.sync -1;\n"
          "vote.sync.all.pred %q, %p, -1; @%q xor.b32 %s, %s, 77;\n"
          "vote.sync.any.pred %q, !%p, -1; @!%q add.u32 %s, %s, 1000;\n"
          "sub.u32 %n, %n, 1; setp.ne.u32 %q, %n, 0; @%q bra more;\n" TAIL},
    {"halves of a warp that shuffle, each for itself",
     HEAD "and.b32 %x, %t, 16; setp.eq.u32 %p, %x, 0; selp.u32 %b, 0xffff, 0xffff0000, %p;\n"
          "mov.u32 %s, %t; mov.u32 %n, 4;\n"
          "more: shfl.sync.down.b32 %x, %s, 1, 31, %b; mad.lo.u32 %s, %s, 3, %x;\n"
          "@%p bra low; shfl.sync.bfly.b32 %x, %s, 2, 31, 0xffff0000; add.u32 %s, %s, %x;\n"
          "low: vote.sync.ballot.b32 %x, %q, %b; add.u32 %s, %s, %x; xor.b32 %s, %s, 3;\n"
          "sub.u32 %n, %n, 1; setp.ne.u32 %q, %n, 0; @%q bra more;\n" TAIL},
    {"shuffles of lanes some of which have exited",
     HEAD "setp.gt.u32 %p, %t, 70; @%p exit; mov.u32 %s, %t;\n"
          "shfl.sync.up.b32 %x, %s, 1, 0, -1; mad.lo.u32 %s, %s, 3, %x;\n"
          "vote.sync.all.pred %q, !%p, -1; @%q add.u32 %s, %s, 9; add.u32 %s, %s, 1;\n" TAIL},
    {"a shuffle in a lane that the mask does not name",
     HEAD "mov.u32 %s, %t; add.u32 %s, %s, 3; mul.lo.u32 %s, %s, 5;\n"
          "setp.lt.u32 %p, %t, 40; selp.u32 %b, -1, 0x7fffffff, %p;\n"
          "shfl.sync.up.b32 %x, %s, 1, 0, %b; mad.lo.u32 %s, %s, 3, %x;\n" TAIL},
    {"an access out of bounds in the fifth round",
     HEAD "mov.u32 %n, 5; mov.u32 %s, %t; mov.u64 %a, 4096;\n"
          "more: add.u32 %s, %s, 3; mul.lo.u32 %s, %s, 5; st.global.u32 [%o], %s;\n"
          "sub.u32 %n, %n, 1; setp.eq.u32 %p, %n, 1; @%p add.u64 %o, %o, %a;\n"
          "setp.ne.u32 %q, %n, 0; @%q bra more;\n" TAIL},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

struct answer {
    uint32_t words[WORDS];
    struct exec_counts counts;
    enum exec_end end;
    struct exec_fault fault;
    size_t stretches;
};

static struct answer run(const char *ptx, enum exec_native_use use, uint32_t threads)
{
    struct answer answer;
    void *bytes;
    device_reset();
    const uint64_t out = device_buffer(sizeof answer.words, &bytes);
    exec_native_use(use);
    struct exec_program *program = device_program(ptx);
    struct device_run one = {
        .program = program, .name = "k", .blocks = 1, .threads = threads, .parameters = &out};
    answer.end = device_launch(&one);
    answer.counts = one.counts;
    memcpy(answer.words, bytes, sizeof answer.words);
    answer.fault = one.fault;
    answer.stretches = exec_native_stretches(program);
    exec_program_destroy(program);
    return answer;
}

START_TEST(compiled_is_what_the_rows_are)
{
    static const uint32_t sizes[] = {THREADS, 32, 19};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const char *what = kernels[_i].what;
        const struct answer rows = run(kernels[_i].ptx, EXEC_NATIVE_OFF, sizes[k]);
        const struct answer code = run(kernels[_i].ptx, EXEC_NATIVE_ALWAYS, sizes[k]);
        ck_assert_uint_eq(rows.stretches, 0);
        ck_assert_msg(code.stretches > 0, "%s: nothing was compiled", what);
        ck_assert_msg(!memcmp(rows.words, code.words, sizeof rows.words), "%s: other answers",
                      what);
        ck_assert_msg(!memcmp(&rows.counts, &code.counts, sizeof rows.counts), "%s: other counts",
                      what);
        ck_assert_int_eq(rows.end, code.end);
        if (rows.end == EXEC_DONE) continue;
        ck_assert_uint_eq(rows.fault.line, code.fault.line);
        ck_assert_mem_eq(rows.fault.thread, code.fault.thread, sizeof rows.fault.thread);
    }
}
END_TEST

/* A function is compiled when it has run for long, while it runs. */
START_TEST(hot_is_compiled_while_it_runs)
{
    static const char ptx[] =
        HEAD "mov.u32 %n, 6000000; mov.u32 %s, %t;\n"
             "more: mad.lo.u32 %s, %s, 3, %n; sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0;\n"
             "@%p bra more;\n" TAIL;
    const struct answer code = run(ptx, EXEC_NATIVE_ON, 32);
    ck_assert_uint_gt(code.stretches, 0);
    for (uint32_t t = 0; t < 32; t++) {
        uint32_t s = t;
        for (uint32_t n = 6000000; n != 0; n--) s = s * 3 + n;
        ck_assert_uint_eq(code.words[t], s);
    }
}
END_TEST

/* Code for a single active lane is compiled earlier, and by itself; full warps then run as before,
 * until there is code for them. */
START_TEST(a_lone_lane_has_its_code_first)
{
    enum { ROUNDS = 1500000 }; /* of four instructions: earlier than code for a full warp */
    static const char ptx[] =
        HEAD "mov.u32 %n, 1500000; mov.u32 %s, %t;\n"
             "more: mad.lo.u32 %s, %s, 3, %n; sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0;\n"
             "@%p bra more;\n" TAIL;
    static const uint32_t threads[] = {1, 32, 1, 32, 32, 32, 1, 19};
    void *bytes;
    device_reset();
    const uint64_t out = device_buffer(WORDS * sizeof(uint32_t), &bytes);
    exec_native_use(EXEC_NATIVE_ON);
    struct exec_program *program = device_program(ptx);
    for (size_t k = 0; k < sizeof threads / sizeof *threads; k++) {
        struct device_run one = {.program = program,
                                 .name = "k",
                                 .blocks = 1,
                                 .threads = threads[k],
                                 .parameters = &out};
        memset(bytes, 0, WORDS * sizeof(uint32_t));
        ck_assert_int_eq(device_launch(&one), EXEC_DONE);
        ck_assert_uint_gt(exec_native_stretches(program), 0);
        for (uint32_t t = 0; t < threads[k]; t++) {
            uint32_t s = t, word;
            for (uint32_t n = ROUNDS; n != 0; n--) s = s * 3 + n;
            memcpy(&word, (unsigned char *)bytes + t * sizeof word, sizeof word);
            ck_assert_uint_eq(word, s);
        }
    }
    exec_program_destroy(program);
}
END_TEST

/* LLVM computes operations on constants when it makes the code. The NaN of an invalid one is
 * negative all the same, as GPUs have it. In the first block it is not seen. */
START_TEST(constants_make_the_nan_of_a_gpu)
{
    static const char *const operations[] = {
        "mul.rn.f64 %d, 0d0000000000000000, 0d7FF0000000000000;",
        "add.rn.f64 %d, 0dFFF0000000000000, 0d7FF0000000000000;",
        "sub.rn.f64 %d, 0d7FF0000000000000, 0d7FF0000000000000;",
        "div.rn.f64 %d, 0d0000000000000000, 0d0000000000000000;",
        "fma.rn.f64 %d, 0d0000000000000000, 0d7FF0000000000000, 0d3FF0000000000000;",
    };
    for (size_t k = 0; k < sizeof operations / sizeof *operations; k++) {
        char ptx[1024];
        void *bytes;
        device_reset();
        const uint64_t out = device_buffer(WORDS * sizeof(uint32_t), &bytes);
        snprintf(ptx, sizeof ptx, "%s%s%s",
                 HEAD "add.u64 %o, %o, %a; red.global.add.u32 [%o], %t;\n", operations[k],
                 "st.global.f64 [%o], %d; ret; }\n");
        exec_native_use(EXEC_NATIVE_ALWAYS);
        struct exec_program *program = device_program(ptx);
        struct device_run one = {
            .program = program, .name = "k", .blocks = 2, .threads = 64, .parameters = &out};
        ck_assert_int_eq(device_launch(&one), EXEC_DONE);
        ck_assert_uint_gt(exec_native_stretches(program), 0);
        for (size_t t = 0; t < 64; t++) {
            uint64_t result;
            memcpy(&result, (unsigned char *)bytes + t * sizeof result, sizeof result);
            ck_assert_msg(result == UINT64_C(0xfff8) << 48, "%s: 0x%016llx", operations[k],
                          (unsigned long long)result);
        }
        exec_program_destroy(program);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec native");
    TCase *tests = tcase_create("native");
    tcase_add_loop_test(tests, compiled_is_what_the_rows_are, 0, KERNELS);
    tcase_add_test(tests, hot_is_compiled_while_it_runs);
    tcase_add_test(tests, a_lone_lane_has_its_code_first);
    tcase_add_test(tests, constants_make_the_nan_of_a_gpu);
    suite_add_tcase(suite, tests);
    return device_native_main(suite);
}
