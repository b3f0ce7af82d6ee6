/* Lanes diverge, wait and reconverge in machine code as they do in the scheduler: random programs,
 * whose branches lead anywhere, have the same results, the same counts (which show which lanes ran
 * together), and the same fault. */
#include "emulator/exec/check/racecheck.h"
#include "emulator/exec/exec.h"
#include "tests/exec/device.h"
#include "tests/exec/text.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

enum { PROGRAMS = 24, BLOCKS = 9, THREADS = 96, WORDS = 4 * THREADS };

struct kernel {
    struct text text;
    unsigned forks; /* written so far */
    bool faults;    /* an access is out of bounds for some lane */
};

#define say(kernel, ...) text_say(&(kernel)->text, __VA_ARGS__)
#define below(kernel, limit) text_below(&(kernel)->text, limit)

/* Writes a predicate that differs from lane to lane. */
static void say_test(struct kernel *kernel)
{
    say(kernel, "shr.u32 %%x, %%s, %u; and.b32 %%x, %%x, %u; setp.%s.u32 %%p|%%q, %%x, 0;\n",
        below(kernel, 24), 1 + below(kernel, 3), below(kernel, 2) ? "eq" : "ne");
}

static void say_fork(struct kernel *kernel, unsigned depth);

static void say_work(struct kernel *kernel)
{
    switch (below(kernel, 14)) {
    case 0:
        say(kernel, "st.global.u32 [%%o], %%s;\n");
        break;
    case 1:
        say(kernel, "ld.global.u32 %%x, [%%o]; add.u32 %%s, %%s, %%x;\n");
        break;
    case 2:
        say(kernel, "st.shared.u32 [%%b], %%s;\n");
        break;
    case 3:
        say(kernel, "ld.shared.u32 %%x, [%%b]; xor.b32 %%s, %%s, %%x;\n");
        break;
    case 4:
        say_test(kernel);
        say(kernel, "@%%p add.u32 %%s, %%s, %u; @!%%q st.global.u32 [%%o], %%s;\n",
            below(kernel, 99));
        break;
    case 5:
        say(kernel,
            "and.b32 %%x, %%s, 31; mad.wide.u32 %%a, %%x, 4, %%d; ld.global.u32 %%x, [%%a];\n"
            "add.u32 %%s, %%s, %%x;\n");
        break;
    case 6:
        say(kernel, "atom.shared.add.u32 %%x, [m], 1;\n");
        break;
    case 7:
    case 8:
        say_fork(kernel, 0);
        break;
    case 9:
        say(kernel, "activemask.b32 %%x; mad.lo.u32 %%s, %%s, 3, %%x;\n");
        break;
    case 10:
        say(kernel, "barrier.sync 0;\n");
        break;
    default:
        say(kernel, "mad.lo.u32 %%s, %%s, %u, %u;\n", 2 * below(kernel, 9999) + 3,
            below(kernel, 77));
    }
}

/* Writes what lanes do that have diverged, and what they do in forks of their own. Now and then one
 * of them accesses what is out of bounds. */
static void say_side(struct kernel *kernel, unsigned depth)
{
    enum { DEPTH = 3 };
    for (uint32_t k = 1 + below(kernel, 2); k > 0; k--)
        say(kernel, "mad.lo.u32 %%s, %%s, %u, %u;\n", 2 * below(kernel, 9999) + 3,
            below(kernel, 77));
    if (below(kernel, 3) == 0) say(kernel, "ld.global.u32 %%x, [%%o]; add.u32 %%s, %%s, %%x;\n");
    if (kernel->faults && below(kernel, 3) == 0)
        say(kernel, "setp.gt.u32 %%p, %%s, 0xf8000000; @%%p st.global.u32 [0], %%s;\n");
    if (depth < DEPTH && below(kernel, 2) == 0) say_fork(kernel, depth + 1);
}

/* Writes an if, with or without an else. */
static void say_fork(struct kernel *kernel, unsigned depth)
{
    const unsigned fork = kernel->forks++;
    const bool has_else = below(kernel, 2) == 0;
    say_test(kernel);
    say(kernel, "@%%p bra f%u;\n", fork);
    say_side(kernel, depth);
    if (has_else) {
        say(kernel, "bra e%u; f%u:\n", fork, fork);
        say_side(kernel, depth);
    }
    say(kernel, "%c%u:\n", has_else ? 'e' : 'f', fork);
}

/* Writes the branch at a block's end: forwards or backwards, for all lanes or some; or an access
 * out of bounds. */
static void say_way(struct kernel *kernel, uint32_t block)
{
    say(kernel, "sub.u32 %%n, %%n, 1; setp.eq.u32 %%p, %%n, 0; @%%p bra done;\n");
    if (kernel->faults && block == BLOCKS / 2)
        say(kernel,
            "and.b32 %%x, %%s, 255; setp.eq.u32 %%p, %%x, 77; @%%p st.global.u32 [0], %%s;\n");
    switch (below(kernel, 6)) {
    case 0:
        say(kernel, "bra.uni b%u;\n", below(kernel, BLOCKS));
        break;
    case 1:
        break;
    case 2:
        say_test(kernel);
        say(kernel, "@%%p bra b%u; @!%%q bra b%u;\n", below(kernel, BLOCKS), below(kernel, BLOCKS));
        break;
    case 3:
        say_test(kernel);
        say(kernel, "@%%q exit;\n");
        break;
    default:
        say_test(kernel);
        say(kernel, "@%%p bra b%u;\n", below(kernel, BLOCKS));
    }
}

static void make(struct kernel *kernel, uint32_t seed, bool faults)
{
    kernel->text.length = kernel->forks = 0;
    kernel->faults = faults;
    kernel->text.state = 2654435761u * (seed + 1);
    say(kernel, ".version 8.0\n.target sm_75\n.address_size 64\n"
                ".visible .entry k(.param .u64 out) {\n"
                ".reg .u64 %%a, %%d, %%o; .reg .u32 %%t, %%n, %%s, %%x, %%b; .reg .pred %%p, %%q;\n"
                ".shared .u32 m[128];\n"
                "ld.param.u64 %%d, [out]; mov.u32 %%t, %%tid.x; mad.wide.u32 %%o, %%t, 4, %%d;\n"
                "add.u64 %%o, %%o, 128; mov.u32 %%b, m; mad.lo.u32 %%b, %%t, 4, %%b;\n"
                "add.u32 %%b, %%b, 4; st.shared.u32 [%%b], %%t; st.global.u32 [%%o], %%t;\n"
                "mul.lo.u32 %%s, %%t, 0x9e3779b1; and.b32 %%n, %%t, 7; add.u32 %%n, %%n, 40;\n");
    /* Some lanes wait at the end from the beginning on, so that the rest has code for partial
     * warps, too.
     */
    if (below(kernel, 4) != 0)
        say(kernel, "and.b32 %%x, %%t, 31; setp.gt.u32 %%p, %%x, 26; @%%p bra done;\n");
    for (uint32_t block = 0; block < BLOCKS; block++) {
        say(kernel, "b%u:\n", block);
        for (uint32_t k = below(kernel, 4); k > 0; k--) say_work(kernel);
        say_way(kernel, block);
    }
    say(kernel, "done: st.global.u32 [%%o], %%s; ret; }\n");
}

struct answer {
    uint32_t words[WORDS];
    struct exec_counts counts;
    enum exec_end end;
    struct exec_fault fault;
    size_t races;
};

static void launch(const struct exec_program *program, bool watched, uint32_t threads,
                   struct answer *answer)
{
    void *bytes;
    device_reset();
    *answer = (struct answer){.end = EXEC_DONE};
    const uint64_t out = device_buffer_of(answer->words, sizeof answer->words, &bytes);
    struct device_run one = {.program = program,
                             .name = "k",
                             .blocks = 1,
                             .threads = threads,
                             .parameters = &out,
                             .footprint = watched ? exec_footprint_create(NULL, NULL) : NULL,
                             .watch = watched ? exec_racecheck_create() : NULL};
    answer->end = device_launch(&one);
    answer->counts = one.counts;
    memcpy(answer->words, bytes, sizeof answer->words);
    answer->fault = one.fault;
    answer->races = watched ? exec_racecheck_count(one.watch) : 0;
    exec_racecheck_destroy(one.watch);
    exec_footprint_destroy(one.footprint);
}

/* Runs it twice: code for partial warps is made when the first one arrives. */
static void run(const char *ptx, enum exec_native_use use, bool watched, uint32_t threads,
                struct answer *answer)
{
    exec_native_use(use);
    struct exec_program *program = watched ? device_program_watched(ptx) : device_program(ptx);
    launch(program, watched, threads, answer);
    launch(program, watched, threads, answer);
    ck_assert_int_eq(exec_native_stretches(program) > 0, use == EXEC_NATIVE_ALWAYS);
    exec_program_destroy(program);
}

START_TEST(lanes_part_as_for_the_scheduler)
{
    static struct kernel kernel;
    static struct answer rows, code;
    /* A warp with a single lane, the last or the only one, has code of its own. */
    static const uint32_t few[] = {65, 1};
    const bool watched = _i % 2 != 0, faults = _i % 3 == 0;
    const uint32_t count = _i < 16 ? THREADS : few[_i % 4 / 2];
    make(&kernel, (uint32_t)_i, faults);
    run(kernel.text.ptx, EXEC_NATIVE_OFF, watched, count, &rows);
    run(kernel.text.ptx, EXEC_NATIVE_ALWAYS, watched, count, &code);
    ck_assert_msg(!memcmp(rows.words, code.words, sizeof rows.words), "other answers\n%s",
                  kernel.text.ptx);
    ck_assert_msg(!memcmp(&rows.counts, &code.counts, sizeof rows.counts),
                  "other counts: %llu and %llu, of lanes %llu and %llu\n%s",
                  (unsigned long long)rows.counts.warp_instructions,
                  (unsigned long long)code.counts.warp_instructions,
                  (unsigned long long)rows.counts.lane_instructions,
                  (unsigned long long)code.counts.lane_instructions, kernel.text.ptx);
    ck_assert_uint_eq(rows.races, code.races);
    ck_assert_int_eq(rows.end, code.end);
    if (rows.end == EXEC_DONE) return;
    ck_assert_uint_eq(rows.fault.line, code.fault.line);
    ck_assert_mem_eq(rows.fault.thread, code.fault.thread, sizeof rows.fault.thread);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec native parting");
    TCase *tests = tcase_create("parting");
    tcase_add_loop_test(tests, lanes_part_as_for_the_scheduler, 0, PROGRAMS);
    suite_add_tcase(suite, tests);
    return device_native_main(suite);
}
