/* Whatever way the threads of a block come to a barrier, behind it each reads what all of them
 * stored before it: whole warps to one instruction or to two, lanes that have parted, threads that
 * have left, in loops, at barriers with names, counts and predicates, interpreted and as machine
 * code. Random programs are compared with a model that knows of no warps. */
#include "emulator/exec/check/racecheck.h"
#include "emulator/exec/exec.h"
#include "tests/exec/device.h"
#include "tests/exec/text.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

enum { PROGRAMS = 48, THREADS = 224, BLOCKS = 3, STEPS = 7 };

enum way {
    WAY_PLAIN,  /* one instruction for all */
    WAY_TWO,    /* one for every other warp, another for the rest, and then other work */
    WAY_PARTED, /* the same for some lanes of each warp and the rest */
    WAY_LATE,   /* some lanes of one warp work longer */
    WAY_NAMED,  /* barrier 3 */
    WAY_COUNT,  /* with the number of threads */
    WAY_POLLED, /* each thread looks at a word first */
    WAY_SUM,    /* bar.red.popc */
    WAYS
};

/* Each thread stores its value and reads the `apart`th thread's from there; `times` times. */
struct step {
    enum way way, again; /* at the barriers behind the store, and behind the load */
    unsigned times, apart, adds;
    unsigned leave; /* before the step threads leave: 0 none, else those of warp leave - 1, or every
                       leave-th thread */
    bool whole;     /* it is a whole warp */
};

struct plan {
    struct step steps[STEPS];
    struct text text;
    unsigned labels, threads;
};

#define say(plan, ...) text_say(&(plan)->text, __VA_ARGS__)
#define below(plan, limit) text_below(&(plan)->text, limit)

static void say_barrier(struct plan *plan, enum way way)
{
    const unsigned label = plan->labels++, round = (plan->threads + 31) / 32 * 32;
    switch (way) {
    case WAY_TWO:
    case WAY_PARTED:
        say(plan,
            "and.b32 %%x, %%t, %u; setp.eq.u32 %%p, %%x, 0; @%%p bra t%u;\n"
            "bar.sync 0; add.u32 %%s, %%s, 1; bra n%u;\n"
            "t%u: bar.sync 0; add.u32 %%s, %%s, 2; n%u:\n",
            way == WAY_TWO ? 32 : 3, label, label, label, label);
        break;
    case WAY_LATE:
        say(plan,
            "setp.ge.u32 %%p, %%t, 11; @%%p bra n%u; mov.u32 %%x, %%t;\n"
            "t%u: add.u32 %%x, %%x, 1; setp.lt.u32 %%q, %%x, 40; @%%q bra t%u;\n"
            "n%u: bar.sync 0;\n",
            label, label, label, label);
        break;
    case WAY_NAMED:
        say(plan, "bar.sync 3;\n");
        break;
    case WAY_COUNT:
        say(plan, "bar.sync 0, %u;\n", round);
        break;
    case WAY_POLLED:
        say(plan,
            "mov.u32 %%y, 0; t%u: ld.volatile.shared.u32 %%x, [m]; add.u32 %%y, %%y, 1;\n"
            "setp.lt.u32 %%p, %%y, 3; @%%p bra t%u; bar.sync 0;\n",
            label, label);
        break;
    case WAY_SUM:
        say(plan, "and.b32 %%x, %%t, 1; setp.ne.u32 %%p, %%x, 0;\n"
                  "bar.red.popc.u32 %%x, 0, %%p; add.u32 %%s, %%s, %%x;\n");
        break;
    default:
        say(plan, "bar.sync 0;\n");
    }
}

static void say_step(struct plan *plan, const struct step *step)
{
    const unsigned label = plan->labels++;
    if (step->leave && step->whole)
        say(plan, "shr.u32 %%x, %%t, 5; setp.eq.u32 %%p, %%x, %u; @%%p bra done;\n",
            step->leave - 1);
    else if (step->leave)
        say(plan, "rem.u32 %%x, %%t, %u; setp.eq.u32 %%p, %%x, 0; @%%p bra done;\n", step->leave);
    say(plan, "mov.u32 %%n, %u; l%u: st.shared.u32 [%%b], %%s;\n", step->times, label);
    say_barrier(plan, step->way);
    say(plan,
        "add.u32 %%x, %%t, %u; rem.u32 %%x, %%x, %u; mad.lo.u32 %%x, %%x, 4, %%f;\n"
        "ld.shared.u32 %%x, [%%x]; mad.lo.u32 %%s, %%s, 3, %%x; add.u32 %%s, %%s, %u;\n",
        step->apart, plan->threads, step->adds);
    say_barrier(plan, step->again);
    say(plan, "sub.u32 %%n, %%n, 1; setp.ne.u32 %%p, %%n, 0; @%%p bra l%u;\n", label);
}

static enum way some_way(struct plan *plan, bool left)
{
    const enum way way = below(plan, 2) ? WAY_PLAIN : (enum way)below(plan, WAYS);
    return way == WAY_COUNT && left ? WAY_PLAIN : way; /* the count is of all threads */
}

static void make(struct plan *plan, uint32_t seed)
{
    bool left = false;
    *plan = (struct plan){.text.state = 2654435761u * (seed + 1),
                          .threads = seed % 4 == 3 ? THREADS - 13 : THREADS};
    say(plan,
        ".version 8.0\n.target sm_75\n.address_size 64\n"
        ".visible .entry k(.param .u64 out) {\n"
        ".reg .u64 %%d, %%o; .reg .u32 %%t, %%n, %%s, %%x, %%y, %%b, %%f, %%c;\n"
        ".reg .pred %%p, %%q; .shared .u32 m[%u];\n"
        "ld.param.u64 %%d, [out]; mov.u32 %%t, %%tid.x; mov.u32 %%c, %%ctaid.x;\n"
        "mad.lo.u32 %%x, %%c, %u, %%t; mad.wide.u32 %%o, %%x, 4, %%d;\n"
        "mad.lo.u32 %%s, %%x, 7, 1; mov.u32 %%f, m; add.u32 %%f, %%f, 4;\n"
        "mad.lo.u32 %%b, %%t, 4, %%f; setp.eq.u32 %%p, %%t, 0; @%%p st.shared.u32 [m], 5;\n"
        "st.shared.u32 [%%b], %%t; bar.sync 0;\n",
        THREADS + 1, THREADS);
    for (unsigned k = 0; k < STEPS; k++) {
        struct step *step = &plan->steps[k];
        step->leave = below(plan, 5) ? 0 : 1 + below(plan, 6);
        step->whole = below(plan, 2);
        if (step->leave == 1 && !step->whole) step->leave = 7; /* every thread would leave */
        left |= step->leave != 0;
        step->way = some_way(plan, left);
        step->again = some_way(plan, left);
        step->times = 1 + below(plan, 4);
        step->apart = below(plan, plan->threads);
        step->adds = below(plan, 1000);
        say_step(plan, step);
    }
    say(plan, "done: st.global.u32 [%%o], %%s; ret; }\n");
}

/* ---- the model ------------------------------------------------------------------------------- */

struct model {
    uint32_t value[THREADS], stored[THREADS];
    bool left[THREADS];
};

/* What the barrier itself adds to each thread's value. */
static void pass(struct model *model, const struct plan *plan, enum way way)
{
    uint32_t odd = 0;
    for (unsigned t = 0; t < plan->threads; t++) odd += !model->left[t] && t % 2;
    for (unsigned t = 0; t < plan->threads; t++) {
        if (model->left[t]) continue;
        if (way == WAY_SUM) model->value[t] += odd;
        if (way == WAY_TWO) model->value[t] += t & 32 ? 1 : 2;
        if (way == WAY_PARTED) model->value[t] += t & 3 ? 1 : 2;
    }
}

static void go(struct model *model, const struct plan *plan, const struct step *step)
{
    for (unsigned t = 0; t < plan->threads && step->leave; t++)
        model->left[t] |= step->whole ? t / 32 == step->leave - 1 : t % step->leave == 0;
    for (unsigned n = 0; n < step->times; n++) {
        for (unsigned t = 0; t < plan->threads; t++)
            if (!model->left[t]) model->stored[t] = model->value[t];
        pass(model, plan, step->way);
        for (unsigned t = 0; t < plan->threads; t++)
            if (!model->left[t])
                model->value[t] = model->value[t] * 3 +
                                  model->stored[(t + step->apart) % plan->threads] + step->adds;
        pass(model, plan, step->again);
    }
}

static void expect(const struct plan *plan, uint32_t *words)
{
    for (unsigned block = 0; block < BLOCKS; block++) {
        struct model model = {.left = {false}}; /* not static: gcc 12.2 loses what go() stores */
        for (unsigned t = 0; t < plan->threads; t++) {
            model.value[t] = (block * THREADS + t) * 7 + 1;
            model.stored[t] = t;
        }
        for (unsigned k = 0; k < STEPS; k++) go(&model, plan, &plan->steps[k]);
        for (unsigned t = 0; t < plan->threads; t++) words[block * THREADS + t] = model.value[t];
    }
}

/* ---- the device ------------------------------------------------------------------------------ */

static void run(const struct plan *plan, enum exec_native_use use, bool watched,
                const uint32_t *expected, struct exec_counts *counts)
{
    static const uint32_t zeros[BLOCKS * THREADS];
    exec_native_use(use);
    struct exec_program *program =
        watched ? device_program_watched(plan->text.ptx) : device_program(plan->text.ptx);
    for (unsigned time = 0; time < 2; time++) { /* the second one finds all machine code made */
        void *bytes;
        device_reset();
        const uint64_t out = device_buffer_of(zeros, sizeof zeros, &bytes);
        struct device_run one = {.program = program,
                                 .name = "k",
                                 .blocks = BLOCKS,
                                 .threads = plan->threads,
                                 .parameters = &out,
                                 .footprint = watched ? exec_footprint_create(NULL, NULL) : NULL,
                                 .watch = watched ? exec_racecheck_create() : NULL};
        device_run(&one);
        for (unsigned k = 0; k < BLOCKS * THREADS; k++)
            if (k % THREADS < plan->threads && ((const uint32_t *)bytes)[k] != expected[k])
                ck_abort_msg("block %u, thread %u: %u, not %u\n%s", k / THREADS, k % THREADS,
                             ((const uint32_t *)bytes)[k], expected[k], plan->text.ptx);
        if (watched)
            ck_assert_msg(exec_racecheck_count(one.watch) == 0, "accused\n%s", plan->text.ptx);
        *counts = one.counts;
        exec_racecheck_destroy(one.watch);
        exec_footprint_destroy(one.footprint);
    }
    exec_program_destroy(program);
}

START_TEST(threads_read_what_was_stored_before_the_barrier)
{
    static struct plan plan;
    static uint32_t expected[BLOCKS * THREADS];
    const bool watched = _i % 2 != 0;
    struct exec_counts rows, code;
    make(&plan, (uint32_t)_i);
    expect(&plan, expected);
    run(&plan, EXEC_NATIVE_OFF, watched, expected, &rows);
    run(&plan, EXEC_NATIVE_ALWAYS, watched, expected, &code);
    ck_assert_msg(!memcmp(&rows, &code, sizeof rows), "other counts\n%s", plan.text.ptx);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec meeting");
    TCase *tests = tcase_create("meeting");
    tcase_add_loop_test(tests, threads_read_what_was_stored_before_the_barrier, 0, PROGRAMS);
    suite_add_tcase(suite, tests);
    return device_native_main(suite);
}
