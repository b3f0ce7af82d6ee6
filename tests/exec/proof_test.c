/* What is proven before a launch holds: random kernels, whose threads' addresses are recorded when
 * they run, never let two threads touch the same byte of an allocation that was proven to have no
 * race. And what ordinary kernels do is proven. */
#include "emulator/exec/check/proof.h"
#include "emulator/exec/check/racecheck.h"
#include "emulator/exec/exec.h"
#include "emulator/exec/machine/texture.h"
#include "emulator/memory/memory.h"
#include "tests/exec/device.h"
#include "tests/exec/text.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRAMS = 12000, SITES = 4, ROUNDS = 4, SLOTS = SITES * ROUNDS };

struct parameters {
    uint64_t p, q, table;
    uint32_t n, w;
};

struct kernel {
    struct text text;
    bool records; /* the kernel records its addresses and accesses nothing */
    unsigned sites, labels;
    uint32_t usual; /* the state from which most sites' indexes are made, so that they agree */
    uint32_t scale; /* bytes from an index to the next */
    bool loops;     /* it has a loop ... */
    uint32_t pitch; /* ... in whose rounds a thread visits about as many elements */
    uint32_t bytes[SITES];
    bool stores[SITES], of_q[SITES];
};

#define say(kernel, ...) text_say(&(kernel)->text, __VA_ARGS__)
#define below(kernel, limit) text_below(&(kernel)->text, limit)

static const char *one_of(struct kernel *kernel, const char *const *words, uint32_t count)
{
    return words[below(kernel, count)];
}
#define ONE_OF(kernel, ...)                                                                        \
    one_of(kernel, (const char *const[]){__VA_ARGS__},                                             \
           (uint32_t)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)))

/* Registers that hold indexes: of the thread, or of what it does in a loop. */
static const char *index_of(struct kernel *kernel)
{
    return ONE_OF(kernel, "%x", "%x", "%x", "%y", "%tx", "%ty", "%bx", "%k", "%k", "%old",
                  "%either", "%minus", "%line", "%part", "%part", "%rest", "%rest", "%whole");
}

/* Writes an index into %i, with the help of %j. */
static void say_index(struct kernel *kernel)
{
    const char *a = index_of(kernel), *b = index_of(kernel);
    switch (below(kernel, kernel->loops ? 20 : 15)) {
    case 0:
        say(kernel, "mov.u32 %%i, %s;\n", a);
        break;
    case 12:
        say(kernel, "mul.lo.s32 %%j, %s, %s; and.b32 %%i, %%j, %s;\n",
            ONE_OF(kernel, "%x", "%tx", "%k"), ONE_OF(kernel, "1", "4", "2"),
            ONE_OF(kernel, "15", "60", "31", "63", "7", "62", "%w"));
        break;
    case 13: /* a piece for each thread, or group of threads */
        say(kernel, "mad.lo.s32 %%i, %s, %s, %s;\n", ONE_OF(kernel, "%part", "%x", "%whole"),
            ONE_OF(kernel, "%each", "%each", "%w", "8"), ONE_OF(kernel, "%rest", "%k", "%step"));
        break;
    case 1:
    case 2:
    case 3:
        say(kernel, "mad.lo.s32 %%i, %s, %s, %s;\n", ONE_OF(kernel, "%y", "%y", "%k"),
            ONE_OF(kernel, "%w", "%w", "%w", "%n", "64"), ONE_OF(kernel, "%x", "%x", "%k"));
        break;
    case 4:
        say(kernel, "mad.lo.s32 %%i, %s, %s, %s;\n", a, ONE_OF(kernel, "%w", "%n", "32", "3"), b);
        break;
    case 5:
        say(kernel, "not.b32 %%j, %s; add.s32 %%i, %%n, %%j;\n", a);
        break;
    case 6:
        say(kernel, "sub.s32 %%i, %s, %s;\n", a, b);
        break;
    case 7:
        say(kernel, "shl.b32 %%j, %s, %u; or.b32 %%i, %%j, %s;\n",
            ONE_OF(kernel, "%x", "%x", "%y", "%k", "%bx"), below(kernel, 5),
            ONE_OF(kernel, "1", "3", "4", "%tx", "%tx", "%x", "%k"));
        break;
    case 8:
        say(kernel, "add.s32 %%i, %s, %s;\n", a, ONE_OF(kernel, "1", "-1", "%w", "%n"));
        break;
    case 9:
        say(kernel, "mad.lo.s32 %%i, %%x, %%w, %s;\n", b);
        break;
    case 10:
        say(kernel, "sub.s32 %%j, %%k, %%old; add.s32 %%i, %%j, %%x;\n");
        break;
    case 11:
        say(kernel, "mov.u32 %%i, %%line;\n");
        break;
    case 15:
    case 16:
    case 17:
    case 18:
    case 19: /* a row for each thread */
        say(kernel, "mad.lo.s32 %%i, %%x, %u, %%step;\n", kernel->pitch);
        break;
    default:
        say(kernel, "mul.lo.s32 %%j, %s, %s; add.s32 %%i, %%j, %s;\n", a,
            ONE_OF(kernel, "2", "3", "-1", "%w"), b);
    }
}

/* Each site has registers of its own, so that each is written once. */
static void say_address(struct kernel *kernel, unsigned site)
{
    const char *base = kernel->of_q[site] ? "%q" : "%p";
    const uint32_t scale = below(kernel, 16) == 0 ? kernel->bytes[site] : kernel->scale;
    const bool is_signed = below(kernel, 4) != 0, usual = below(kernel, 5) != 0;
    char *from = kernel->text.ptx + kernel->text.length;
    const uint32_t state = kernel->text.state;
    if (usual) kernel->text.state = kernel->usual;
    say_index(kernel);
    if (usual) kernel->text.state = state;
    if (below(kernel, 5) == 0) { /* the next step of an unrolled loop */
        for (char *at = from; (at = strstr(at, "%i")) != NULL; at += 2) at[1] = 'h';
        say(kernel, "add.s32 %%i, %%h, %%all;\n");
    }
    for (char *at = from; (at = strpbrk(at, "hij")) != NULL; at++)
        if (at[-1] == '%') at[0] = (char)((*at == 'h' ? 'I' : *at == 'i' ? 'A' : 'E') + (int)site);
    if (below(kernel, 3) == 0)
        say(kernel, "cvt.%s64.%s32 %%l%u, %%%c; mad.lo.s64 %%a%u, %%l%u, %u, %s;\n",
            is_signed ? "s" : "u", is_signed ? "s" : "u", site, 'A' + (char)site, site, site, scale,
            base);
    else
        say(kernel, "mul.wide.%s32 %%l%u, %%%c, %u; add.s64 %%a%u, %s, %%l%u;\n",
            is_signed ? "s" : "u", site, 'A' + (char)site, scale, site, base, site);
}

static void say_test(struct kernel *kernel)
{
    say(kernel, "setp.%s.%s32 %%c%u, %s, %s;\n", ONE_OF(kernel, "lt", "ge", "gt", "le", "eq", "ne"),
        ONE_OF(kernel, "s", "u"), kernel->labels, index_of(kernel),
        ONE_OF(kernel, "%n", "%w", "%n", "%w", "0", "5"));
}

/* Accesses a place, perhaps under a predicate of its own. */
static void say_site(struct kernel *kernel)
{
    const unsigned site = kernel->sites;
    if (site == SITES) return;
    kernel->sites++;
    kernel->bytes[site] = (uint32_t[]){4, 4, 4, 8, 1, 2}[below(kernel, 6)];
    while (kernel->bytes[site] > kernel->scale && below(kernel, 8) != 0) kernel->bytes[site] /= 2;
    kernel->stores[site] = below(kernel, 3) != 0;
    kernel->of_q[site] = below(kernel, 4) == 0;
    const uint32_t offset =
        below(kernel, 3) == 0
            ? kernel->bytes[site] * below(kernel, kernel->scale / kernel->bytes[site] + 1)
            : 0;
    say_address(kernel, site);
    const unsigned test = kernel->labels;
    const bool guarded = below(kernel, 5) == 0;
    if (guarded) {
        say_test(kernel);
        kernel->labels++;
        say(kernel, "@%s%%c%u ", ONE_OF(kernel, "", "!"), test);
    }
    if (kernel->records) say(kernel, "add.s64 %%a%u, %%a%u, %u; ", site, site, offset);
    if (kernel->records && guarded) { /* the guard again */
        const char *before = kernel->text.ptx + kernel->text.length;
        while (*before != '@') before--;
        char guard[16] = "";
        snprintf(guard, sizeof guard, "%.*s", (int)strcspn(before, " "), before);
        say(kernel, "%s st.global.u64 [%%slot+%u], %%a%u;\n", guard, site * ROUNDS * 8, site);
    } else if (kernel->records) {
        say(kernel, "st.global.u64 [%%slot+%u], %%a%u;\n", site * ROUNDS * 8, site);
    } else if (kernel->stores[site]) {
        say(kernel, "st.global.u%u [%%a%u+%u], %%v%u;\n", 8 * kernel->bytes[site], site, offset,
            8 * kernel->bytes[site]);
    } else {
        say(kernel, "ld.global.u%u %%v%u, [%%a%u+%u];\n", 8 * kernel->bytes[site],
            8 * kernel->bytes[site], site, offset);
    }
}

/* Writes accesses behind a condition: an if, an if and else, or an exit. */
static void say_condition(struct kernel *kernel)
{
    const unsigned test = kernel->labels++;
    const bool joined = below(kernel, 2) == 0;
    kernel->labels++;
    say(kernel, "setp.%s.s32 %%c%u, %s, %s;\n", ONE_OF(kernel, "ge", "gt", "lt", "ne"), test,
        ONE_OF(kernel, "%x", "%y", "%tx", "%k", "%old", "%line", "%part", "%rest"),
        ONE_OF(kernel, "%n", "%w", "0", "%n"));
    say(kernel, "setp.ge.%s32 %%d%u, %s, %s;\n", ONE_OF(kernel, "s", "u"), test,
        ONE_OF(kernel, "%x", "%y", "%minus", "%line"), ONE_OF(kernel, "%n", "%w"));
    if (joined)
        say(kernel, "%s.pred %%e%u, %%c%u, %%d%u;\n", ONE_OF(kernel, "or", "or", "and"), test, test,
            test);
    const char *which = joined ? "e" : ONE_OF(kernel, "c", "d");
    switch (below(kernel, 5)) {
    case 0: /* the second site has a way around the test */
        say(kernel, "@%s%%d%u bra M%u;\n@%%%s%u bra L%u;\n", ONE_OF(kernel, "", "!"), test, test,
            which, test, test);
        say_site(kernel);
        say(kernel, "M%u:\n", test);
        say_site(kernel);
        say(kernel, "L%u:\n", test);
        break;
    case 1:
        say(kernel, "@%s%%%s%u exit;\n", ONE_OF(kernel, "", "", "!"), which, test);
        say_site(kernel);
        break;
    case 2:
        say(kernel, "@%s%%%s%u bra L%u;\n", ONE_OF(kernel, "", "!"), which, test, test);
        say_site(kernel);
        say(kernel, "bra M%u;\nL%u:\n", test, test);
        say_site(kernel);
        say(kernel, "M%u:\n", test);
        break;
    default:
        say(kernel, "@%s%%%s%u bra L%u;\n", ONE_OF(kernel, "", "", "!"), which, test, test);
        say_site(kernel);
        if (below(kernel, 2) == 0) say_site(kernel);
        say(kernel, "L%u:\n", test);
    }
}

/* Writes the end of a round: the count, up or down, and the branch back, in whatever order. */
static void say_end_of_round(struct kernel *kernel, unsigned rounds)
{
    const char *slot = kernel->records ? "add.s64 %slot, %slot, 8;" : "";
    switch (below(kernel, 10)) {
    case 4: /* there are two ways back */
        say(kernel,
            "add.u32 %%round, %%round, 1; %s setp.lt.u32 %%back, %%round, %u; @%%back bra LOOP;\n"
            "setp.lt.u32 %%again, %%round, %u;\n",
            slot, ROUNDS, rounds);
        break;
    case 0:
        say(kernel, "setp.lt.u32 %%again, %%round, %u; add.u32 %%round, %%round, 1; %s\n",
            rounds - 1, slot);
        break;
    case 1:
        say(kernel, "add.s32 %%round, %%round, 1; %s setp.ne.s32 %%again, %%round, %u;\n", slot,
            rounds);
        break;
    case 2:
        say(kernel, "add.s32 %%down, %%down, -1; %s setp.gt.s32 %%again, %%down, %d;\n", slot,
            (int)ROUNDS - (int)rounds);
        break;
    case 3: /* the count is not changed in each round */
        say(kernel,
            "setp.eq.s32 %%odd, %%tx, 3; @%%odd bra SAME; add.s32 %%down, %%down, -1; SAME:\n"
            "add.s32 %%round, %%round, 1; %s setp.gt.s32 %%again, %%down, %d;\n"
            "setp.ge.s32 %%odd, %%round, %u; @%%odd bra OUT;\n",
            slot, (int)ROUNDS - (int)rounds, ROUNDS);
        break;
    case 5: /* what is compared is made of the count: after the change, before it, or of both */
        say(kernel,
            "add.u32 %%round, %%round, 1; %s add.s32 %%far, %%round, 9;\n"
            "setp.ne.s32 %%again, %%far, %u;\n",
            slot, rounds + 9);
        break;
    case 6:
        say(kernel,
            "mul.lo.s32 %%far, %%round, 3; add.u32 %%round, %%round, 1; %s\n"
            "setp.lt.s32 %%again, %%far, %u;\n",
            slot, 3 * (rounds - 1));
        break;
    case 7:
        say(kernel,
            "sub.s32 %%far, %u, %%round; add.u32 %%round, %%round, 1; %s\n"
            "setp.lt.s32 %%again, %%round, %%far;\n",
            2 * rounds - 2, slot);
        break;
    case 8: /* or not in each round */
        say(kernel,
            "setp.gt.s32 %%odd, %%round, 0; @%%odd bra SAME; sub.s32 %%far, %u, %%round; SAME:\n"
            "add.s32 %%round, %%round, 1; %s setp.gt.s32 %%again, %%far, %u;\n"
            "setp.ge.s32 %%odd, %%round, %u; @%%odd bra OUT;\n",
            ROUNDS, slot, ROUNDS - rounds, ROUNDS);
        break;
    default:
        say(kernel, "add.u32 %%round, %%round, 1; %s setp.le.u32 %%again, %%round, %u;\n", slot,
            rounds - 1);
    }
    say(kernel, "@%%again bra LOOP; OUT:\n");
}

/* A loop of at most ROUNDS rounds, in which %k grows. */
static void say_loop(struct kernel *kernel)
{
    static const char *const steps[] = {"%all", "%all", "1", "1", "4", "%w", "%less"};
    const unsigned rounds = 1 + below(kernel, ROUNDS);
    say(kernel, "mov.u32 %%round, 0; mov.u32 %%down, %u;\n", ROUNDS);
    if (kernel->records) say(kernel, "mov.u64 %%first, %%slot;\n");
    say(kernel, "LOOP:\n");
    if (below(kernel, 2) == 0)
        say(kernel, "add.s32 %%old, %%k, 0;\n");
    else
        say(kernel, "mov.u32 %%old, %%x;\n");
    if (below(kernel, 2) == 0)
        say_condition(kernel);
    else
        say_site(kernel);
    const bool skips = below(kernel, 6) == 0;
    if (skips) say(kernel, "setp.eq.s32 %%first_odd, %%round, 1; @%%first_odd bra KEEP;\n");
    say(kernel, "add.s32 %%k, %%k, %s;\n", one_of(kernel, steps, sizeof steps / sizeof *steps));
    say(kernel, "add.s32 %%step, %%step, %s;\n", ONE_OF(kernel, "1", "1", "2", "-1"));
    if (skips) say(kernel, "KEEP:\n");
    if (below(kernel, 3) == 0) say_site(kernel);
    say_end_of_round(kernel, rounds);
    if (kernel->records) say(kernel, "mov.u64 %%slot, %%first;\n");
}

static void make(struct kernel *kernel, uint32_t seed, bool records)
{
    *kernel = (struct kernel){.text.state = 2654435761u * (seed + 1), .records = records};
    kernel->usual = 2246822519u * (seed + 1);
    kernel->scale = (uint32_t[]){1, 4, 4, 8, 12, 16}[below(kernel, 6)];
    say(kernel,
        ".version 8.0\n.target sm_75\n.address_size 64\n"
        ".visible .entry k(.param .u64 P, .param .u64 Q, .param .u64 T, .param .u32 N,\n"
        "  .param .u32 W) {\n"
        ".reg .pred %%odd, %%again, %%first_odd, %%back, %%which; .reg .u32 %%down; .reg .u64 %%p, "
        "%%q, %%t, "
        "%%slot, %%first, %%l<%u>, "
        "%%a<%u>, %%v64; .reg .u32 %%n, %%w, %%x, %%y;\n"
        ".reg .u32 %%tx, %%ty, %%bx, %%by, %%sx, %%sy, %%gx, %%all, %%k, %%old, %%round, %%z;\n"
        ".reg .u32 %%far, %%turned, %%part, %%rest, %%whole, %%each, %%either, %%minus, %%line, "
        "%%less, "
        "%%step, %%A, %%B, %%C, %%D, %%E, %%F, "
        "%%G, "
        "%%H, "
        "%%v32;\n"
        ".reg .u32 %%I, %%J, %%K, %%L; .reg .u16 %%v8, %%v16;\n"
        ".reg .pred %%more, %%c<32>, %%d<32>, %%e<32>;\n"
        "ld.param.u64 %%p, [P]; ld.param.u64 %%q, [Q]; ld.param.u64 %%t, [T];\n"
        "ld.param.u32 %%n, [N]; ld.param.u32 %%w, [W];\n"
        "mov.u32 %%tx, %%tid.x; mov.u32 %%ty, %%tid.y; mov.u32 %%bx, %%ctaid.x;\n"
        "mov.u32 %%by, %%ctaid.y; mov.u32 %%sx, %%ntid.x; mov.u32 %%sy, %%ntid.y;\n"
        "mov.u32 %%gx, %%nctaid.x; mul.lo.s32 %%all, %%gx, %%sx;\n"
        "mad.lo.s32 %%x, %%bx, %%sx, %%tx; mad.lo.s32 %%y, %%by, %%sy, %%ty;\n"
        "sub.s32 %%minus, %%x, 5; neg.s32 %%less, %%w; mad.lo.s32 %%line, %%y, %%w, %%x;\n"
        "mov.u64 %%v64, 7; mov.u32 %%v32, 7; mov.u16 %%v16, 7; mov.u16 %%v8, 7;\n",
        SITES, SITES);
    const char *grouped =
        ONE_OF(kernel, "%x", "%x", "%tx", "%line", "%minus", "%turned", "%turned");
    const unsigned bits = (unsigned[]){1, 2, 3, 5, 5}[below(kernel, 5)];
    say(kernel, "sub.s32 %%turned, %%n, %%x;\n");
    say(kernel, "shr.%s32 %%part, %s, %u; and.b32 %%rest, %s, %u; and.b32 %%whole, %s, %d;\n",
        ONE_OF(kernel, "s", "u"), grouped, bits, grouped, (1u << bits) - 1, grouped, -(1 << bits));
    say(kernel, "%s.%s32 %%each, %s, %s;\n", ONE_OF(kernel, "div", "div", "rem", "min", "max"),
        ONE_OF(kernel, "s", "u"), ONE_OF(kernel, "%n", "%w", "64"),
        ONE_OF(kernel, "%sx", "4", "%w", "%gx"));
    say(kernel, "mov.u32 %%k, %s;\n", ONE_OF(kernel, "%x", "%x", "%tx", "0", "%rest", "%part"));
    /* A register that is written twice, and counts no loop. */
    say(kernel,
        "mov.u32 %%either, %s; setp.lt.s32 %%more, %s, 3; @%%more bra OVER;\n"
        "%s OVER:\n",
        ONE_OF(kernel, "%x", "%tx"), ONE_OF(kernel, "%x", "%ty"),
        ONE_OF(kernel, "add.s32 %either, %either, 1;", "add.s32 %either, %either, 8;",
               "add.s32 %either, %either, %all;", "mov.u32 %either, %tx;", "mov.u32 %either, %y;",
               "sub.s32 %either, %n, %either;"));
    if (records) /* where the thread's addresses go */
        say(kernel,
            "mad.lo.u32 %%z, %%by, %%gx, %%bx; mad.lo.u32 %%z, %%z, %%sy, %%ty;\n"
            "mad.lo.u32 %%z, %%z, %%sx, %%tx; mad.wide.u32 %%slot, %%z, %u, %%t;\n",
            SLOTS * 8);
    const unsigned kind = below(kernel, 4);
    kernel->loops = kind >= 2;
    kernel->pitch = 1 + below(kernel, 2 * ROUNDS);
    say(kernel, "mov.u32 %%step, %s;\n", ONE_OF(kernel, "0", "0", "0", "1", "4"));
    if (below(kernel, 4) == 0)
        say(kernel, "setp.lt.s32 %%which, %%tx, 2; @%%which bra SET; mov.u32 %%step, %u; SET:\n",
            below(kernel, 2) * 4);
    if (kind < 2) say(kernel, "mov.u32 %%old, %%x;\n");
    switch (kind) {
    case 0:
        say_site(kernel);
        say_site(kernel);
        break;
    case 1:
        say_condition(kernel);
        break;
    default:
        say_loop(kernel);
    }
    say_site(kernel);
    say(kernel, "ret; }\n");
}

struct touch {
    uint64_t first, end;
    uint32_t thread;
    bool stores;
};

static int by_first(const void *a, const void *b)
{
    const struct touch *one = a, *other = b;
    return (one->first > other->first) - (one->first < other->first);
}

/* Returns whether two threads touch the same byte; *race: one of them stores to it. */
static bool meet(struct touch *touches, size_t count, bool *race)
{
    bool any = false;
    *race = false;
    qsort(touches, count, sizeof *touches, by_first);
    for (size_t k = 0; k < count; k++)
        for (size_t l = k + 1; l < count && touches[l].first < touches[k].end; l++) {
            if (touches[l].thread == touches[k].thread) continue;
            any = true;
            *race |= touches[l].stores | touches[k].stores;
        }
    return any;
}

struct shape {
    uint32_t grid[3], block[3], threads;
};

/* Runs the kernel that records; returns how many touches of the region of p, or of q, it made. */
static size_t record(const struct kernel *kernel, const struct shape *shape,
                     struct parameters *parameters, bool of_q, bool same, struct touch *touches)
{
    const size_t size = shape->threads * (size_t)SLOTS * sizeof(uint64_t);
    void *bytes;
    size_t count = 0;
    parameters->table = device_buffer(size, &bytes);
    memset(bytes, 0, size);
    struct exec_program *program = device_program(kernel->text.ptx);
    struct device_run run = {.program = program, .name = "k", .parameters = parameters};
    memcpy(run.grid, shape->grid, sizeof run.grid);
    memcpy(run.block, shape->block, sizeof run.block);
    device_run(&run);
    const uint64_t *slots = bytes;
    for (size_t k = 0; k < shape->threads * (size_t)SLOTS; k++) {
        const size_t site = k % SLOTS / ROUNDS;
        if (slots[k] == 0 || site >= kernel->sites || (!same && kernel->of_q[site] != of_q))
            continue;
        touches[count++] = (struct touch){.first = slots[k],
                                          .end = slots[k] + kernel->bytes[site],
                                          .thread = (uint32_t)(k / SLOTS),
                                          .stores = kernel->stores[site]};
    }
    exec_program_destroy(program);
    device_release(parameters->table);
    return count;
}

static void prove(const struct exec_program *program, const char *name, const struct shape *shape,
                  const void *parameters, struct exec_proven *proven)
{
    struct exec_racecheck *watch = exec_racecheck_create();
    struct exec_launch launch = {
        .function = exec_function_find(program, name), .parameters = parameters, .watch = watch};
    memcpy(launch.grid, shape->grid, sizeof launch.grid);
    memcpy(launch.block, shape->block, sizeof launch.block);
    ck_assert_ptr_nonnull(launch.function);
    exec_proof_make(&launch, exec_texture_region, proven);
    exec_racecheck_destroy(watch);
}

/* What came of a region. */
enum outcome { UNTOUCHED, TOGETHER, APART, PROVEN };

static enum outcome examine(struct kernel *kernel, uint32_t seed, bool of_q)
{
    static struct touch touches[256 * SLOTS];
    struct exec_proven proven;
    bool race;
    device_reset();
    make(kernel, seed, false);
    /* Small numbers beside the sizes of the grid, so that many guards matter. */
    struct shape shape = {
        .grid = {1 + below(kernel, 4), below(kernel, 2) + 1, 1},
        .block = {(uint32_t[]){4, 8, 16}[below(kernel, 3)], 1 + below(kernel, 2), 1}};
    if (below(kernel, 3) == 0) { /* several warps in a row, the last of which may be short */
        shape.grid[0] = 1 + below(kernel, 2);
        shape.block[0] = below(kernel, 2) ? 64 : 40;
        shape.block[1] = 1;
    }
    shape.threads = shape.grid[0] * shape.grid[1] * shape.block[0] * shape.block[1];
    const uint32_t wide = shape.grid[0] * shape.block[0];
    struct parameters parameters = {.p = device_buffer(65536, NULL) + 16384,
                                    .n = wide - below(kernel, 4) * below(kernel, 3),
                                    .w = wide + below(kernel, 3) - below(kernel, 3)};
    if (below(kernel, 3) == 0) parameters.w = wide / 2;
    if (below(kernel, 3) == 0) parameters.n = wide / 2;
    const bool same = below(kernel, 3) == 0;
    parameters.q = same ? parameters.p + (uint64_t)4 * below(kernel, 3) * wide
                        : device_buffer(65536, NULL) + 16384;
    struct exec_program *program = device_program_watched(kernel->text.ptx);
    prove(program, "k", &shape, &parameters, &proven);
    exec_program_destroy(program);
    const struct memory_region *region = memory_find(of_q ? parameters.q : parameters.p);
    const bool holds = exec_proof_holds(&proven, region);
    const uint32_t after = kernel->text.state;
    make(kernel, seed, true);
    const size_t count = record(kernel, &shape, &parameters, of_q, same, touches);
    const bool shared = meet(touches, count, &race);
    bool stores = false;
    for (size_t k = 0; k < count; k++) stores |= touches[k].stores;
    if (holds && race) {
        make(kernel, seed, false);
        ck_abort_msg("seed %u: proven, but two threads meet in the region of %s; grid %u x %u, "
                     "block %u x %u, n %u, w %u, same %d\n%s",
                     seed, of_q ? "q" : "p", shape.grid[0], shape.grid[1], shape.block[0],
                     shape.block[1], parameters.n, parameters.w, same, kernel->text.ptx);
    }
    kernel->text.state = after;
    return !stores ? UNTOUCHED : holds ? PROVEN : shared ? TOGETHER : APART;
}

START_TEST(no_two_threads_meet_where_that_is_proven)
{
    static struct kernel kernel;
    unsigned outcomes[4] = {0};
    for (uint32_t seed = 0; seed < PROGRAMS; seed++)
        for (int of_q = 0; of_q < 2; of_q++) outcomes[examine(&kernel, seed, of_q != 0)]++;
    fprintf(stderr, "of %u regions that threads share no byte of %u are proven; %u are shared\n",
            outcomes[PROVEN] + outcomes[APART], outcomes[PROVEN], outcomes[TOGETHER]);
    ck_assert_uint_gt(outcomes[PROVEN], PROGRAMS / 16);
    ck_assert_uint_gt(outcomes[TOGETHER], PROGRAMS / 16);
    ck_assert_uint_gt(3 * outcomes[PROVEN], outcomes[APART]);
}
END_TEST

/* ---- kernels as people write them ------------------------------------------------------------ */

/* Names of the kernels in proof.cu. */
static const char *const kernels[] = {"own_element",
                                      "own_update",
                                      "own_reversed",
                                      "own_wide_index",
                                      "own_members",
                                      "own_bytes",
                                      "own_pair",
                                      "own_grid_stride",
                                      "own_wide_grid_stride",
                                      "own_blocks_result",
                                      "own_plane",
                                      "own_plane_wide",
                                      "own_plane_transposed",
                                      "own_plane_fits",
                                      "own_gathered",
                                      "shared_neighbour",
                                      "shared_read_of_neighbour",
                                      "shared_half",
                                      "shared_by_blocks",
                                      "shared_by_threads",
                                      "shared_sum",
                                      "shared_scattered",
                                      "shared_plane_too_wide",
                                      "shared_some_unguarded",
                                      "shared_through_memory",
                                      "shared_elsewhere",
                                      "shared_next_round",
                                      "own_low_bits",
                                      "own_with_assertion",
                                      "own_textured",
                                      "own_row",
                                      "own_row_unsigned",
                                      "own_row_wide",
                                      "own_odd_row",
                                      "own_piece",
                                      "shared_row",
                                      "shared_row_unsigned",
                                      "shared_piece",
                                      "own_surface_read",
                                      "shared_textured",
                                      "shared_textured_surface",
                                      "shared_plane_two_limits",
                                      "shared_plane_edges",
                                      "shared_going_down",
                                      "shared_plane_gaps",
                                      "own_warps_result",
                                      "own_warps_result_signed",
                                      "own_lanes_turned",
                                      "own_part",
                                      "own_part_rounded",
                                      "shared_warps_result",
                                      "shared_by_lanes",
                                      "shared_part"};

START_TEST(what_threads_do_not_share_is_proven)
{
    const char *name = kernels[_i];
    const bool plane = strstr(name, "plane") != NULL || strstr(name, "unguarded") != NULL;
    const struct shape shape = plane ? (struct shape){{9, 9, 1}, {16, 16, 1}, 0}
                                     : (struct shape){{16, 1, 1}, {256, 1, 1}, 0};
    struct {
        uint64_t out, in;
        int32_t n;
    } parameters = {.n = plane ? 130 : 4000};
    struct exec_proven proven;
    device_reset();
    parameters.out = device_buffer(1 << 20, NULL);
    struct exec_texture texture = {
        .width = 1 << 18, .height = 1, .depth = 1, .dimensions = 1, .linear = true, .channels = 1};
    const bool itself = strstr(name, "shared_elsewhere") || strstr(name, "shared_textured");
    parameters.in = itself ? parameters.out : device_buffer(1 << 20, NULL);
    texture.address = parameters.in;
    const uint64_t handle = exec_texture_add(&texture);
    if (strstr(name, "textured") || strstr(name, "surface")) parameters.in = handle;
    struct exec_program *program = device_program_checked(PROOF_PTX, true);
    prove(program, name, &shape, &parameters, &proven);
    ck_assert_int_eq(exec_proof_holds(&proven, memory_find(parameters.out)),
                     !strncmp(name, "own_", 4));
    exec_texture_remove(handle);
    exec_program_destroy(program);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec proof");
    TCase *written = tcase_create("kernels");
    tcase_add_loop_test(written, what_threads_do_not_share_is_proven, 0,
                        sizeof kernels / sizeof *kernels);
    suite_add_tcase(suite, written);
    TCase *random = tcase_create("random");
    tcase_set_timeout(random, 600);
    tcase_add_test(random, no_two_threads_meet_where_that_is_proven);
    suite_add_tcase(suite, random);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
