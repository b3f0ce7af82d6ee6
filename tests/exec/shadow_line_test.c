/* What racecheck finds in shared memory does not depend on whether it keeps touches by lines
 * (check/shadow_line.h) or by cells alone (check/shadow.h), nor on machine code: random programs
 * whose threads load and store words in the usual patterns, with too few barriers. */
#include "emulator/exec/check/racecheck.h"
#include "emulator/exec/decoded.h"
#include "emulator/exec/exec.h"
#include "tests/exec/device.h"
#include "tests/exec/text.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

enum { PROGRAMS = 400, THREADS = 96, WORDS = 256, STEPS = 9, MOST_FOUND = 64 };

struct plan {
    struct text text;
    unsigned labels, line;
};

#define say(plan, ...) text_say(&(plan)->text, __VA_ARGS__)
#define below(plan, limit) text_below(&(plan)->text, limit)

/* Writes to %a which word each thread touches. */
static void say_place(struct plan *plan)
{
    switch (below(plan, 9)) {
    case 0:
    case 1:
    case 2: /* its own, or a neighbour's */
        say(plan, "add.u32 %%a, %%t, %u;\n", below(plan, 2) ? 0 : below(plan, 96));
        break;
    case 3: /* with others */
        say(plan, "shr.u32 %%a, %%t, %u; add.u32 %%a, %%a, %u;\n", 1 + below(plan, 6),
            below(plan, 64));
        break;
    case 4: /* as in rows of 16 */
        say(plan, "and.b32 %%a, %%t, 15; add.u32 %%a, %%a, %u;\n", below(plan, 64));
        break;
    case 5: /* exchanged */
        say(plan, "xor.b32 %%a, %%t, %u;\n", 1u << below(plan, 7));
        break;
    case 6: /* wrapped */
        say(plan,
            "add.u32 %%a, %%t, %u; and.b32 %%a, %%a, 31; and.b32 %%x, %%t, 224;\n"
            "add.u32 %%a, %%a, %%x;\n",
            1 + below(plan, 30));
        break;
    case 7: /* one for all */
        say(plan, "mov.u32 %%a, %u;\n", 31 * below(plan, 4));
        break;
    default: /* turned, or apart */
        if (below(plan, 2))
            say(plan, "sub.u32 %%a, %u, %%t;\n", THREADS + below(plan, 64));
        else
            say(plan, "mul.lo.u32 %%a, %%t, %u; and.b32 %%a, %%a, %u;\n", 2 + below(plan, 32),
                WORDS - 1);
    }
}

/* Writes to %p which threads do it. */
static void say_who(struct plan *plan)
{
    switch (below(plan, 6)) {
    case 0:
        say(plan, "setp.lt.u32 %%p, %%t, %u;\n", 1 + below(plan, THREADS));
        break;
    case 1:
        say(plan, "and.b32 %%x, %%t, %u; setp.eq.u32 %%p, %%x, 0;\n", (2u << below(plan, 5)) - 1);
        break;
    case 2:
        say(plan, "setp.eq.u32 %%p, %%t, %u;\n", 31 * below(plan, 4));
        break;
    case 3:
        say(plan, "shr.u32 %%x, %%t, 5; setp.eq.u32 %%p, %%x, %u;\n", below(plan, 3));
        break;
    default:
        say(plan, "setp.lt.u32 %%p, %%t, %u;\n", THREADS);
    }
}

/* With a branch machine code has versions for some lanes and for one. */
static void say_step(struct plan *plan)
{
    const unsigned label = plan->labels++, times = below(plan, 4) ? 1 : 2;
    const bool stores = below(plan, 2), branches = below(plan, 2);
    const char *value = below(plan, 2) ? "%s" : "%c";
    if (!below(plan, 3)) say(plan, "bar.sync 0;\n");
    if (!below(plan, 4)) say(plan, "bar.warp.sync -1;\n");
    say_place(plan);
    say_who(plan);
    say(plan, "shl.b32 %%a, %%a, 2; add.u32 %%a, %%a, %%m; mov.u32 %%n, %u;\nl%u:\n", times, label);
    if (branches) say(plan, "not.pred %%q, %%p; @%%q bra n%u;\n", label);
    say(plan, ".loc 1 %u 1\n", ++plan->line);
    if (stores)
        say(plan, "%sst.shared.u32 [%%a], %s;\n", branches ? "" : "@%p ", value);
    else
        say(plan, "%sld.shared.u32 %%x, [%%a];\n", branches ? "" : "@%p ");
    say(plan, "n%u: sub.u32 %%n, %%n, 1; setp.ne.u32 %%q, %%n, 0; @%%q bra l%u;\n", label, label);
    say(plan, "mad.lo.u32 %%s, %%s, 3, 1;\n");
}

static void begin(struct plan *plan, uint32_t seed)
{
    *plan = (struct plan){.text.state = 2246822519u * (seed + 1)};
    say(plan,
        ".version 8.0\n.target sm_75\n.address_size 64\n"
        ".visible .entry k(.param .u64 out) {\n"
        ".reg .u32 %%t, %%n, %%s, %%x, %%a, %%c, %%m; .reg .pred %%p, %%q;\n"
        ".shared .align 16 .u32 words[%u];\n"
        "mov.u32 %%t, %%tid.x; mov.u32 %%m, words; mov.u32 %%c, 5; mad.lo.u32 %%s, %%t, 7, 1;\n"
        /* all words are written first */
        "mov.u32 %%a, %%t;\n"
        "f: shl.b32 %%x, %%a, 2; add.u32 %%x, %%x, %%m; st.shared.u32 [%%x], %%a;\n"
        "add.u32 %%a, %%a, %u; setp.lt.u32 %%p, %%a, %u; @%%p bra f;\nbar.sync 0;\n",
        WORDS, THREADS, WORDS);
}

static void end(struct plan *plan)
{
    say(plan, "ret; }\n.file 1 \"k.cu\"\n");
}

/* ---- the findings ---------------------------------------------------------------------------- */

struct finding {
    uint32_t wrong, first, second; /* lines */
};

struct findings {
    struct finding of[MOST_FOUND];
    size_t count;
};

static void find(const struct plan *plan, enum exec_native_use use, bool lines,
                 struct findings *findings)
{
    exec_native_use(use);
    struct exec_program *program = device_program_watched(plan->text.ptx);
    program->proxies = !lines;                  /* such programs have cells alone */
    for (unsigned time = 0; time < 2; time++) { /* the second one finds all machine code made */
        struct device_run run = {.program = program,
                                 .name = "k",
                                 .blocks = 2,
                                 .threads = THREADS,
                                 .parameters = &(uint64_t){0},
                                 .footprint = exec_footprint_create(NULL, NULL),
                                 .watch = exec_racecheck_create()};
        device_run(&run);
        findings->count = exec_racecheck_count(run.watch);
        ck_assert_uint_le(findings->count, MOST_FOUND);
        for (size_t k = 0; k < findings->count; k++) {
            const struct exec_racecheck_found *found = exec_racecheck_at(run.watch, k);
            findings->of[k] = (struct finding){found->wrong, found->first.line, found->second.line};
        }
        exec_racecheck_destroy(run.watch);
        exec_footprint_destroy(run.footprint);
    }
    exec_program_destroy(program);
}

/* Returns true if each of these races shares a line with one of the others. Which of several loads
 * a race is with may differ: a cell knows the latest only. */
static bool are_among(const struct findings *these, const struct findings *others)
{
    for (size_t k = 0; k < these->count; k++) {
        const struct finding *one = &these->of[k];
        bool found = false;
        for (size_t l = 0; l < others->count; l++) {
            const struct finding *other = &others->of[l];
            found |= one->wrong == other->wrong &&
                     (one->first == other->first || one->second == other->second ||
                      one->first == other->second || one->second == other->first);
        }
        if (!found) return false;
    }
    return true;
}

static void say_findings(const char *by, const struct findings *findings)
{
    for (size_t k = 0; k < findings->count; k++)
        printf("by %s: %u between lines %u and %u\n", by, findings->of[k].wrong,
               findings->of[k].first, findings->of[k].second);
}

static void compare(const struct plan *plan, const struct findings *cells,
                    const struct findings *lines, const char *how)
{
    if (are_among(cells, lines) && are_among(lines, cells)) return;
    say_findings("cells", cells);
    say_findings("lines", lines);
    ck_abort_msg("other findings %s\n%s", how, plan->text.ptx);
}

START_TEST(lines_find_what_cells_find)
{
    static struct plan plan;
    static struct findings cells, lines, code;
    begin(&plan, (uint32_t)_i);
    for (unsigned k = 0; k < STEPS; k++) say_step(&plan);
    end(&plan);
    find(&plan, EXEC_NATIVE_OFF, false, &cells);
    find(&plan, EXEC_NATIVE_OFF, true, &lines);
    compare(&plan, &cells, &lines, "interpreted");
    if (_i % 8 != 0) return; /* compiling takes long */
    find(&plan, EXEC_NATIVE_ALWAYS, true, &code);
    compare(&plan, &cells, &code, "as machine code");
}
END_TEST

/* The last lane's load stands for those of all. */
START_TEST(a_store_races_with_the_loads_of_other_lanes)
{
    static struct plan plan;
    static struct findings found;
    begin(&plan, 0);
    say(&plan, "setp.lt.u32 %%p, %%t, 32;\n.loc 1 1 1\n@%%p ld.shared.u32 %%x, "
               "[words];\nsetp.eq.u32 %%p, %%t, 31;\n"
               ".loc 1 2 1\n@%%p st.shared.u32 [words], %%s;\n");
    end(&plan);
    for (unsigned lines = 0; lines < 2; lines++) {
        find(&plan, EXEC_NATIVE_OFF, lines, &found);
        ck_assert_uint_eq(found.count, 1);
    }
}
END_TEST

/* Loads of a word by each half of a warp, in rounds, are joined to one touch. */
START_TEST(a_store_races_with_each_of_a_rows_words)
{
    static struct plan plan;
    static struct findings found;
    begin(&plan, 0);
    say(&plan, "shr.u32 %%a, %%t, 4; mad.lo.u32 %%a, %%a, 64, %%m; mov.u32 %%n, 0;\n"
               "setp.ge.u32 %%p, %%t, 32; @%%p bra other;\n"
               "l: .loc 1 1 1\nld.shared.u32 %%x, [%%a];\n"
               "add.u32 %%a, %%a, 4; add.u32 %%n, %%n, 1; setp.lt.u32 %%q, %%n, 3; @%%q bra l;\n"
               "other: setp.eq.u32 %%p, %%t, 40;\n"
               ".loc 1 2 1\n@%%p st.shared.u32 [words+8], %%s;\n");
    end(&plan);
    find(&plan, EXEC_NATIVE_OFF, false, &found);
    ck_assert_uint_eq(found.count, 1);
    find(&plan, EXEC_NATIVE_OFF, true, &found);
    ck_assert_uint_eq(found.count, 1);
    find(&plan, EXEC_NATIVE_ALWAYS, true, &found);
    ck_assert_uint_eq(found.count, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec shadow line");
    TCase *tests = tcase_create("lines");
    tcase_add_loop_test(tests, lines_find_what_cells_find, 0, PROGRAMS);
    tcase_add_test(tests, a_store_races_with_the_loads_of_other_lanes);
    tcase_add_test(tests, a_store_races_with_each_of_a_rows_words);
    suite_add_tcase(suite, tests);
    return device_native_main(suite);
}
