/* Loads, stores and atomics in machine code have the same effect as their rows: every type and
 * memory space, with consecutive, broadcast and arbitrary addresses, for all lanes of a warp or
 * some, with a fault in the middle: the same bytes, counts, footprint, races and fault. Each kernel
 * runs interpreted and compiled, in one process, with racecheck and without. It is compiled once,
 * and its second parameter selects the address shape, because LLVM takes longer than all of the
 * runs. */
#include "emulator/exec/check/racecheck.h"
#include "emulator/exec/exec.h"
#include "emulator/memory/memory.h"
#include "tests/exec/device.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 4096, THREADS = 96, ROOM = 1 << 15 };

static const struct {
    const char *name, *registers, *width; /* of an address operand */
} places[] = {{"global", "a", "u64"}, {"generic", "a", "u64"}, {"shared", "b", "u32"}};
enum { PLACES = sizeof places / sizeof *places };

/* Computes the element of lane %l of a warp, in %i; %u is free for use. */
static const struct {
    const char *what, *ptx;
} shapes[] = {
    {"a row", "mov.u32 %i, %l;"},
    {"a row for every warp", "mov.u32 %i, %t;"},
    {"two rows", "shr.u32 %u, %l, 4; and.b32 %i, %l, 15; mad.lo.u32 %i, %u, 50, %i;"},
    {"two rows, the first at the beginning of a line",
     "shr.u32 %u, %l, 4; and.b32 %i, %l, 15; mad.lo.u32 %i, %u, 32, %i; add.u32 %i, %i, 8;"},
    {"two rows that overlap", "shr.u32 %u, %l, 4; and.b32 %i, %l, 15; mad.lo.u32 %i, %u, 9, %i;"},
    {"the same row twice", "and.b32 %i, %l, 15;"},
    {"one element", "mov.u32 %i, 7;"},
    {"one element for each half", "shr.u32 %u, %l, 4; mad.lo.u32 %i, %u, 33, 2;"},
    {"every other element", "shl.b32 %i, %l, 1;"},
    {"a row but for its last lane", "setp.eq.u32 %q, %l, 31; selp.u32 %i, 40, %l, %q;"},
    {"a row but for lane 16", "setp.eq.u32 %q, %l, 16; selp.u32 %i, 3, %l, %q;"},
    {"backwards", "sub.u32 %i, 31, %l;"},
    {"a row that goes round", "add.u32 %i, %l, 5; and.b32 %i, %i, 31;"},
    {"any", "mad.lo.u32 %i, %l, 1103515245, 12345; shr.u32 %i, %i, 16; and.b32 %i, %i, 127;"},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Which lanes participate, and what makes an address invalid in the third round: %n counts down. */
static const struct {
    const char *what, *before, *guard, *address;
} moods[] = {
    {"all lanes", "", "", ""},
    {"a guard that holds", "setp.lt.u32 %g, %l, 32;", "@%g ", ""},
    {"a guard that holds for some", "and.b32 %u, %l, 5; setp.ne.u32 %g, %u, 1;", "@%g ", ""},
    {"a guard that holds for none", "setp.gt.u32 %g, %l, 32;", "@%g ", ""},
    {"a branch that some take", "and.b32 %u, %l, 5; setp.ne.u32 %g, %u, 1;", "@!%g bra ", ""},
    {"a branch that some take, and one is far away", "and.b32 %u, %l, 5; setp.ne.u32 %g, %u, 1;",
     "@!%g bra ", "setp.eq.u32 %q, %n, 2; @%q mov.u32 %u, 1048576; @%q add.u32 %i, %i, %u;"},
    {"a branch that one takes", "setp.eq.u32 %g, %l, 18;", "@!%g bra ", ""},
    {"a branch that one takes, askew at last", "setp.eq.u32 %g, %l, 2;", "@!%g bra ",
     "setp.eq.u32 %q, %n, 1; @%q add.u32 %k, %k, 1;"},
    {"a branch that one takes, far away at last", "setp.eq.u32 %g, %l, 21;", "@!%g bra ",
     "setp.eq.u32 %q, %n, 1; @%q mov.u32 %u, 1048576; @%q add.u32 %i, %i, %u;"},
    {"some have exited", "setp.gt.u32 %g, %t, 80; @%g exit;", "", ""},
    {"some have gone ahead", "and.b32 %u, %l, 5; setp.eq.u32 %g, %u, 1; @%g bra ahead;", "", ""},
    {"some have gone ahead, and one is far away",
     "and.b32 %u, %l, 5; setp.eq.u32 %g, %u, 1; @%g bra ahead;", "",
     "setp.eq.u32 %q, %n, 2; @%q mov.u32 %u, 1048576; @%q add.u32 %i, %i, %u;"},
    {"one is far away", "", "",
     "setp.eq.u32 %q, %n, 2; @%q mov.u32 %u, 4096; @%q add.u32 %i, %i, %u;"},
    {"the last is just outside", "", "", "setp.eq.u32 %q, %n, 2; @%q add.u32 %i, %i, 485;"},
    {"all are askew", "", "", "setp.eq.u32 %q, %n, 2; @%q add.u32 %k, %k, 1;"},
    {"all are below", "", "", "setp.eq.u32 %q, %n, 2; @%q sub.u32 %k, 0, 64;"},
};
enum { MOODS = sizeof moods / sizeof *moods };

static const struct {
    const char *name;
    unsigned bytes;
    bool stored;
    const char *value;  /* registers */
    const char *atomic; /* after the store; NULL: none */
} types[] = {{"u8", 1, true, "%v", NULL},
             {"v4.u32", 16, true, "{%v, %x, %y, %z}", NULL},
             {"u64", 8, true, "%w", "atom%s.add.u64 %%w, [%%%s], %%w; cvt.u32.u64 %%v, %%w"},
             {"s8", 1, false, "%v", NULL},
             {"v2.u64", 16, true, "{%w, %p}", NULL},
             {"u32", 4, true, "%v", "atom%s.add.u32 %%v, [%%%s], %%s"},
             {"u16", 2, true, "%v", NULL},
             {"f32", 4, true, "%f", "atom%s.add.f32 %%f, [%%%s], 0f40490FDB; mov.b32 %%v, %%f"},
             {"u32", 4, true, "%v", "atom%s.cas.b32 %%v, [%%%s], %%y, %%t"},
             {"s16", 2, false, "%v", NULL},
             {"v2.u32", 8, true, "{%v, %x}", NULL},
             {"s32", 4, true, "%v", "atom%s.min.s32 %%v, [%%%s], %%s"},
             {"u32", 4, true, "%v", "atom%s.exch.b32 %%v, [%%%s], %%s"},
             {"v4.u8", 4, true, "{%v, %x, %y, %z}", NULL},
             {"v2.u16", 4, true, "{%v, %x}", NULL},
             {"v4.u16", 8, true, "{%v, %x, %y, %z}", NULL},
             {"v2.u8", 2, true, "{%v, %x}", NULL}};
enum { TYPES = sizeof types / sizeof *types, TYPES_APART = 4 };

/* ---- the kernel ------------------------------------------------------------------------------ */

static size_t add_address(char *at, size_t room, unsigned place, unsigned type)
{
    if (places[place].registers[0] == 'b')
        return (size_t)snprintf(at, room, "mad.lo.u32 %%b, %%i, %u, %%k; add.u32 %%b, %%b, %%m;\n",
                                types[type].bytes);
    return (size_t)snprintf(at, room,
                            "mul.wide.u32 %%a, %%i, %u; cvt.s64.s32 %%c, %%k; add.u64 %%a, %%a, "
                            "%%c; add.u64 %%a, %%a, %%o;\n",
                            types[type].bytes);
}

/* Writes the text before an access, or after it: a guard, or a branch around the access. */
static size_t add_guard(char *at, size_t room, const char *guard, unsigned label, bool behind)
{
    if (strstr(guard, "bra") == NULL) return (size_t)snprintf(at, room, "%s", behind ? "" : guard);
    if (behind) return (size_t)snprintf(at, room, "over%u:\n", label);
    return (size_t)snprintf(at, room, "%sover%u; ", guard, label);
}

static size_t add_type(char *at, size_t room, unsigned place, unsigned type, const char *guard)
{
    const bool wide = types[type].value[strcspn(types[type].value, "w")] == 'w';
    const char *name = types[type].name, *where = places[place].name;
    const char *address = places[place].registers, *value = types[type].value;
    char dot[16] = "";
    if (strcmp(where, "generic") != 0) snprintf(dot, sizeof dot, ".%s", where);
    size_t used = add_address(at, room, place, type);
    used += add_guard(at + used, room - used, guard, 3 * type, false);
    used += (size_t)snprintf(at + used, room - used, "ld%s.%s %s, [%%%s+16];\n", dot, name, value,
                             address);
    used += add_guard(at + used, room - used, guard, 3 * type, true);
    used += (size_t)snprintf(at + used, room - used, "%s%smad.lo.u32 %%s, %%s, 31, %%v;\n",
                             wide ? "xor.b64 %w, %w, %p; cvt.u32.u64 %v, %w; " : "",
                             value[1] == 'f' ? "mov.b32 %v, %f; " : "");
    if (!types[type].stored) return used;
    used +=
        (size_t)snprintf(at + used, room - used,
                         "xor.b32 %%v, %%s, %%t; add.u32 %%v, %%v, %%z; sub.u32 %%v, %%v, %%y;\n"
                         "cvt.u64.u32 %%w, %%v; cvt.rn.f32.u32 %%f, %%v;\n");
    used += add_guard(at + used, room - used, guard, 3 * type + 1, false);
    used += (size_t)snprintf(at + used, room - used, "st%s.%s [%%%s+%u], %s;\n", dot, name, address,
                             16 * type, value);
    used += add_guard(at + used, room - used, guard, 3 * type + 1, true);
    if (types[type].atomic == NULL) return used;
    used += add_guard(at + used, room - used, guard, 3 * type + 2, false);
    used += (size_t)snprintf(at + used, room - used, types[type].atomic, dot, address);
    used += (size_t)snprintf(at + used, room - used, "; ");
    used += add_guard(at + used, room - used, guard, 3 * type + 2, true);
    return used + (size_t)snprintf(at + used, room - used, "mad.lo.u32 %%s, %%s, 31, %%v;\n");
}

/* Computes the lane's element of the shape that the second parameter selects, in %h. */
static size_t add_shapes(char *at, size_t room)
{
    size_t used = (size_t)snprintf(at, room, "ld.param.u32 %%r, [shape]; mov.u32 %%h, 0;\n");
    for (unsigned k = 0; k < SHAPES; k++)
        used += (size_t)snprintf(at + used, room - used,
                                 "%s setp.eq.u32 %%q, %%r, %u; selp.u32 %%h, %%i, %%h, %%q;\n",
                                 shapes[k].ptx, k);
    return used;
}

/* `shape`: SHAPES selects it by the parameter; otherwise LLVM knows the shape. */
static void write_kernel(char text[ROOM], unsigned place, unsigned shape, unsigned mood,
                         unsigned first)
{
    const bool known = shape < SHAPES;
    size_t used = (size_t)snprintf(
        text, ROOM,
        ".version 8.0\n.target sm_75\n.address_size 64\n"
        ".visible .entry k(.param .u64 out, .param .u32 shape) {\n"
        ".reg .u64 %%a, %%c, %%o, %%p, %%w; .reg .u32 %%b, %%h, %%i, %%k, %%l, %%m, %%n, %%r, %%s, "
        "%%t, %%u, %%v, %%x, %%y, %%z; .reg .f32 %%f;\n.reg .pred %%g, %%q;\n"
        ".shared .align 8 .b8 m[%u];\n"
        "ld.param.u64 %%o, [out]; mov.u32 %%t, %%tid.x; and.b32 %%l, %%t, 31; mov.u32 %%m, m;\n"
        "mov.u32 %%s, %%t; mov.u64 %%w, 1; mov.u32 %%v, 1; mov.u64 %%p, 9; mov.u32 %%x, 2;\n"
        "mov.u32 %%y, 3; mov.u32 %%z, 4; mov.f32 %%f, 0f3F800000;\n"
        "mov.u32 %%i, %%t;\n"
        "fill: shl.b32 %%u, %%i, 2; add.u32 %%b, %%m, %%u; mul.lo.u32 %%u, %%u, 2654435761;\n"
        "st.shared.u32 [%%b], %%u; add.u32 %%i, %%i, %u; setp.lt.u32 %%q, %%i, %u; @%%q bra fill;\n"
        "bar.sync 0;\n",
        BYTES, THREADS, BYTES / 4);
    if (!known) used += add_shapes(text + used, ROOM - used);
    used += (size_t)snprintf(text + used, ROOM - used,
                             "%s\nmov.u32 %%n, 4;\n"
                             "more: %s\nadd.u32 %%i, %%i, %%n; mov.u32 %%k, 0; %s\n",
                             moods[mood].before, known ? shapes[shape].ptx : "mov.u32 %i, %h;",
                             moods[mood].address);
    for (unsigned k = first; k < TYPES; k += TYPES_APART)
        used += add_type(text + used, ROOM - used, place, k, moods[mood].guard);
    snprintf(text + used, ROOM - used,
             "sub.u32 %%n, %%n, 1; setp.ne.u32 %%q, %%n, 0; @%%q bra more;\n"
             "ahead: mul.wide.u32 %%a, %%t, 4; add.u64 %%a, %%a, %%o;\n"
             "st.global.u32 [%%a+%u], %%s; bar.sync 0; mov.u32 %%i, %%t;\n"
             "drain: shl.b32 %%u, %%i, 2; add.u32 %%b, %%m, %%u; ld.shared.u32 %%v, [%%b];\n"
             "cvt.u64.u32 %%a, %%u; add.u64 %%a, %%a, %%o; st.global.u32 [%%a+%u], %%v;\n"
             "add.u32 %%i, %%i, %u; setp.lt.u32 %%q, %%i, %u; @%%q bra drain; ret; }\n",
             BYTES, BYTES + 4 * THREADS, THREADS, BYTES / 4);
}

/* Memory where warps read the same words: the block's shared memory, or its part of `out`.
 */
static const struct {
    const char *name, *address, *place; /* of element %i */
} halls[] = {{"shared", "shl.b32 %b, %i, 2; add.u32 %b, %b, %m;", "%b"},
             {"global", "mul.wide.u32 %a, %i, 4; add.u64 %a, %a, %p;", "%a"}};
enum { HALLS = sizeof halls / sizeof *halls };

/* Warps read the same words between two barriers, in `count` shapes from `first` on; then a thread
 * stores to some of the words, and all warps read again. The reported races show which readers the
 * words' shadow cells have kept. */
static void write_readers(char text[ROOM], unsigned hall, unsigned first, unsigned count)
{
    static const unsigned words[] = {0, 7, 15, 18, 31, 40, 62, 81};
    const char *name = halls[hall].name, *address = halls[hall].address, *at = halls[hall].place;
    size_t used = (size_t)snprintf(
        text, ROOM,
        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"
        ".reg .u64 %%a, %%o, %%p; .reg .u32 %%b, %%i, %%l, %%m, %%n, %%s, %%t, %%u, %%v;\n"
        ".reg .pred %%p1, %%q; .shared .align 8 .b8 m[1024];\n"
        "ld.param.u64 %%o, [out]; mov.u32 %%t, %%tid.x; and.b32 %%l, %%t, 31; mov.u32 %%s, 1;\n"
        "mov.u32 %%m, m; mov.u32 %%u, %%ctaid.x; mul.wide.u32 %%p, %%u, 1024;\n"
        "add.u64 %%p, %%p, %%o; add.u64 %%p, %%p, 1024;\n"
        "mov.u32 %%n, 3;\nmore: shl.b32 %%i, %%t, 1; %s\n"
        "st.%s.u32 [%s], %%n; st.%s.u32 [%s+4], %%t; bar.sync 0;\n",
        address, name, at, name, at);
    for (unsigned k = 0; k < count; k++)
        used += (size_t)snprintf(text + used, ROOM - used,
                                 "%s %s\nld.%s.u32 %%v, [%s+%u];\nmad.lo.u32 %%s, %%s, 31, %%v;\n",
                                 shapes[(first + k) % SHAPES].ptx, address, name, at, k % 3 * 12);
    for (unsigned k = 0; k < sizeof words / sizeof *words; k++)
        used += (size_t)snprintf(text + used, ROOM - used,
                                 "mov.u32 %%i, %u; %s\n"
                                 "setp.eq.u32 %%p1, %%t, %u; @%%p1 st.%s.u32 [%s], %%s;\n",
                                 words[k], address,
                                 count == 1  ? 23u
                                 : first % 2 ? 70u
                                             : 5u,
                                 name, at);
    snprintf(text + used, ROOM - used,
             "%s %s\nld.%s.u32 %%v, [%s];\n"
             "bar.sync 0; sub.u32 %%n, %%n, 1; setp.ne.u32 %%q, %%n, 0; @%%q bra more;\n"
             "mul.wide.u32 %%a, %%t, 4; add.u64 %%a, %%a, %%o; st.global.u32 [%%a], %%s; ret; }\n",
             shapes[first].ptx, address, name, at);
}

/* Warps store rows, each its own with exceptions, and another warp reads from or stores to a word
 * of each row: cases of changed values, halves, order, and earlier accesses. */
static const struct {
    const char *what, *ptx;
    bool races;
} writers[] = {
    {"words that change", "st.shared.u32 [%b], %u;", true},
    {"words that stay as they are", "st.shared.u32 [%b], %t;", false},
    {"every other word changes", "selp.u32 %v, %u, %t, %q; st.shared.u32 [%b], %v;", true},
    {"words that change twice", "st.shared.u32 [%b], %u; st.shared.u32 [%b], %n;", true},
    {"words that change back", "st.shared.u32 [%b], %u; st.shared.u32 [%b], %t;", true},
    {"the upper half first",
     "xor.b32 %v, %t, 16; shl.b32 %v, %v, 2; add.u32 %v, %v, %m; st.shared.u32 [%v], %u;", true},
    {"both halves the same row",
     "and.b32 %v, %t, -17; shl.b32 %v, %v, 2; add.u32 %v, %v, %m; st.shared.u32 [%v], %u;", true},
    {"after another's load", "ld.shared.u32 %v, [%c]; st.shared.u32 [%b], %u;", true},
    {"after another's loads of one word",
     "ld.shared.u32 %v, [m]; ld.shared.u32 %v, [m+128]; st.shared.u32 [%b], %u;", true},
    {"after another's store", "st.shared.u32 [%c], %n; st.shared.u32 [%b], %u;", true},
    {"after its own load", "ld.shared.u32 %v, [%b]; st.shared.u32 [%b], %u;", true},
    {"after all warps' loads of two words",
     "ld.shared.u32 %v, [%b]; and.b32 %v, %t, 16; shl.b32 %v, %v, 2; add.u32 %v, %v, %m;"
     "ld.shared.u32 %v, [%v]; st.shared.u32 [%c], %u;",
     true},
    {"after all warps' loads of two words of the first",
     "ld.shared.u32 %v, [%b+512]; and.b32 %v, %t, 16; shl.b32 %v, %v, 2; add.u32 %v, %v, %m;"
     "ld.shared.u32 %v, [%v]; bar.warp.sync -1; st.shared.u32 [%b], %u;",
     true},
    {"after all warps' loads of two words of the second",
     "ld.shared.u32 %v, [%b+512]; and.b32 %v, %t, 16; shl.b32 %v, %v, 2; add.u32 %v, %v, %m;"
     "ld.shared.u32 %v, [%v+128]; bar.warp.sync -1; st.shared.u32 [%b], %u;",
     true},
    {"some lanes' words", "@%q st.shared.u32 [%b], %u;", true},
    {"some lanes' words, as they are", "@%q st.shared.u32 [%b], %t;", false},
    {"some of some lanes' words",
     "and.b32 %v, %t, 2; add.u32 %v, %v, %t; @%q st.shared.u32 [%b], %v;", true},
    {"some lanes' words, by a branch", "@%q bra over; st.shared.u32 [%b], %u;\nover:", true},
    {"some lanes' words, twice", "@%q st.shared.u32 [%b], %u; @%q st.shared.u32 [%b], %n;", true},
    {"some lanes' words, and their neighbours",
     "@%q st.shared.u32 [%b], %u; @!%q st.shared.u32 [%b+4], %n;", true},
    {"some lanes' words, a meeting, and their neighbours",
     "@%q st.shared.u32 [%b], %u; bar.warp.sync -1; @!%q st.shared.u32 [%b+4], %n;", true},
    {"words that some lanes share",
     "and.b32 %v, %t, -4; shl.b32 %v, %v, 2; add.u32 %v, %v, %m; @%q st.shared.u32 [%v], %u;",
     true},
    {"words that some lanes share, and one leaves as it is",
     "and.b32 %s, %t, -4; and.b32 %v, %t, 2; setp.ne.u32 %p, %v, 0; selp.u32 %u, %s, %u, %p;"
     "shl.b32 %v, %s, 2; add.u32 %v, %v, %m; @%q st.shared.u32 [%v], %u;",
     true},
    {"words that change between barriers", "bar.sync 0; st.shared.u32 [%b], %u; bar.sync 0;",
     false},
    {"some lanes' words, after their loads", "ld.shared.u32 %v, [%b]; @%q st.shared.u32 [%b], %u;",
     true},
    {"some lanes' words, after some lanes' loads of the neighbours'",
     "@!%q ld.shared.u32 %v, [%b+4]; @%q st.shared.u32 [%b], %u;", true},
    {"some lanes' words, after some others' loads",
     "@%q ld.shared.u32 %v, [%c]; @%q st.shared.u32 [%b], %u;", true},
    {"some lanes' words, after all warps' loads of two words",
     "ld.shared.u32 %v, [m+4]; bar.warp.sync -1; @%q st.shared.u32 [%b], %u;", true},
    {"some lanes' words, after two warps' loads in turn",
     "@%q ld.shared.u32 %v, [m+28]; @!%q ld.shared.u32 %v, [m+28]; bar.warp.sync -1;"
     "@%q st.shared.u32 [%b], %u;",
     true},
    {"some lanes' words, where atomics were",
     "@%q atom.shared.add.u32 %v, [%c], 1; @%q st.shared.u32 [%b], %u;", true},
    {"atomics", "atom.shared.add.u32 %v, [%b], %n;", true},
    {"atomics upon one word", "atom.shared.add.u32 %v, [m+28], %n;", true},
    {"atomics upon the same words, by two warps",
     "atom.shared.add.u32 %v, [%b], %n; atom.shared.add.u32 %v, [%c], %n;", true},
    {"atomics upon the neighbours' words",
     "atom.shared.add.u32 %v, [%b], %n;\n"
     "xor.b32 %v, %t, 1; shl.b32 %v, %v, 2; add.u32 %v, %v, %m; atom.shared.add.u32 %v, [%v], 1;",
     true},
    {"atomics upon the neighbours' words, and stores",
     "xor.b32 %v, %t, 1; shl.b32 %v, %v, 2; add.u32 %v, %v, %m; atom.shared.add.u32 %v, [%v], 1;\n"
     "atom.shared.add.u32 %v, [%b], %n; st.shared.u32 [%b], %u;",
     true},
    {"atomics upon the neighbours' words, a meeting, and stores",
     "xor.b32 %v, %t, 1; shl.b32 %v, %v, 2; add.u32 %v, %v, %m; atom.shared.add.u32 %v, [%v], 1;\n"
     "bar.warp.sync -1; atom.shared.add.u32 %v, [%b], %n; st.shared.u32 [%b], %u;",
     true},
    {"atomics upon the same words, by two warps, a meeting, and loads",
     "atom.shared.add.u32 %v, [%c+256], %n;\natom.shared.add.u32 %v, [%b+256], %n;\n"
     "bar.warp.sync -1; ld.shared.u32 %v, [%b+256];",
     true},
    {"atomics, one of them far away",
     "setp.eq.u32 %p, %t, 5; selp.u32 %v, 2147483632, 0, %p; add.u32 %v, %v, %b;"
     "atom.shared.add.u32 %v, [%v], 1;",
     true},
    {"atomics twice, and stores",
     "atom.shared.add.u32 %v, [%b], %n;\natom.shared.add.u32 %v, [%b], %n;\n"
     "st.shared.u32 [%b], %u;",
     true},
    {"atomics where bytes are told apart",
     "ld.shared.u8 %v, [m+3]; bar.sync 0; atom.shared.add.u32 %v, [%b], %n;", true},
    {"atomics after stores", "st.shared.u32 [%b], %u;\natom.shared.add.u32 %v, [%c], %n;", true},
    {"atomics after loads", "ld.shared.u32 %v, [%b];\natom.shared.add.u32 %v, [%c], %n;", true},
    {"atomics after two warps' loads",
     "ld.shared.u32 %v, [%b]; ld.shared.u32 %v, [%c];\natom.shared.add.u32 %v, [%b], %n;", true},
    {"atomics between barriers",
     "bar.sync 0; atom.shared.add.u32 %v, [%b], %n; bar.sync 0; atom.shared.add.u32 %v, [%b], %n;"
     "bar.sync 0; st.shared.u32 [%b], %u; bar.sync 0;",
     false},
    {"after its warp's loads of two words, and a meeting",
     "and.b32 %v, %t, -16; shl.b32 %v, %v, 2; add.u32 %v, %v, %m; ld.shared.u32 %v, [%v];"
     "bar.warp.sync -1; st.shared.u32 [%b], %u;",
     true},
};
enum { WRITERS = sizeof writers / sizeof *writers };

static void write_writers(char text[ROOM], unsigned how)
{
    static const unsigned words[] = {0, 7, 16, 31, 40, 47, 62};
    size_t used = (size_t)snprintf(
        text, ROOM,
        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"
        ".reg .u64 %%a, %%o; .reg .u32 %%b, %%c, %%m, %%n, %%s, %%t, %%u, %%v;\n"
        ".reg .pred %%p, %%q; .shared .align 8 .b8 m[1024];\n"
        "ld.param.u64 %%o, [out]; mov.u32 %%t, %%tid.x; mov.u32 %%s, 0; mov.u32 %%n, 3;\n"
        "mov.u32 %%m, m; shl.b32 %%b, %%t, 2; add.u32 %%b, %%b, %%m;\n"
        "xor.b32 %%c, %%t, 32; shl.b32 %%c, %%c, 2; add.u32 %%c, %%c, %%m;\n"
        "and.b32 %%u, %%t, 1; setp.ne.u32 %%q, %%u, 0;\n"
        "more: mad.lo.u32 %%u, %%n, 1000, %%t; st.shared.u32 [%%b], %%t; bar.sync 0;\n%s\n",
        writers[how].ptx);
    for (unsigned k = 0; k < sizeof words / sizeof *words; k++)
        used += (size_t)snprintf(text + used, ROOM - used,
                                 "setp.eq.u32 %%p, %%t, %u;\n@%%p ld.shared.u32 %%v, [m+%u];\n",
                                 (words[k] + 37) % 64, 4 * words[k]);
    snprintf(text + used, ROOM - used,
             "bar.sync 0; sub.u32 %%n, %%n, 1; setp.ne.u32 %%p, %%n, 0; @%%p bra more;\n"
             "ld.shared.u32 %%s, [%%b];\n"
             "mul.wide.u32 %%a, %%t, 4; add.u64 %%a, %%a, %%o; st.global.u32 [%%a], %%s; ret; }\n");
}

/* The accesses of the second block to what the first accessed by atomics. */
static const char *const seconds[] = {"atom.global.add.u32 %v, [%a], 3;", "st.global.u32 [%a], %t;",
                                      "ld.global.u32 %v, [%a];", "st.global.u32 [%a+1024], %t;"};
enum { SECONDS = sizeof seconds / sizeof *seconds };

static void write_judged(char text[ROOM], unsigned second)
{
    snprintf(
        text, ROOM,
        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"
        ".reg .u64 %%a, %%o; .reg .u32 %%b, %%i, %%s, %%t, %%v; .reg .pred %%q;\n"
        "ld.param.u64 %%o, [out]; mov.u32 %%t, %%tid.x; mov.u32 %%b, %%ctaid.x; mov.u32 %%v, 1;\n"
        "mul.lo.u32 %%i, %%t, 7; and.b32 %%i, %%i, 63; mul.wide.u32 %%a, %%i, 4;\n"
        "add.u64 %%a, %%a, %%o; setp.ne.u32 %%q, %%b, 0; @%%q bra second;\n"
        "atom.global.add.u32 %%v, [%%a], %%t; mad.lo.u32 %%s, %%v, 31, %%t;\n"
        "atom.global.max.u32 %%v, [%%a+512], %%s; xor.b32 %%v, %%v, %%s; bra.uni done;\n"
        "second: add.u32 %%s, %%t, 5; %s add.u32 %%v, %%v, %%s;\n"
        "done: bar.sync 0; mad.lo.u32 %%i, %%b, %u, %%t; mul.wide.u32 %%a, %%i, 4; add.u64 %%a, "
        "%%a, %%o;\n"
        "st.global.u32 [%%a+%u], %%v; ret; }\n",
        seconds[second], THREADS, BYTES);
}

/* Each warp of two blocks stores rows of every width, three times. The bits of %h select
 * variations: to the rows of the other block; to those of other warps; shifted by half a line; the
 * same values; a barrier in between; a read of the next warp's row; a read of the next lane's
 * element, after a warp barrier, in the last round. */
enum { ROW_KERNELS = 128 };
static const char rows_judged[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry k(.param .u64 out, .param .u32 how) {\n"
    ".reg .u64 %a, %o, %w; .reg .u32 %b, %h, %i, %l, %n, %s, %t, %u, %v, %x; .reg .pred %q;\n"
    "ld.param.u64 %o, [out]; ld.param.u32 %h, [how]; mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x;\n"
    "and.b32 %l, %t, 31; mov.u32 %s, 0; mov.u32 %n, 3;\n"
    "not.b32 %u, %h; and.b32 %u, %u, 1; mul.lo.u32 %i, %u, %b; mul.lo.u32 %i, %i, 3;\n"
    "not.b32 %u, %h; shr.u32 %u, %u, 1; and.b32 %u, %u, 1; shr.u32 %x, %t, 5;\n"
    "mad.lo.u32 %i, %u, %x, %i; and.b32 %u, %h, 4; shl.b32 %u, %u, 4; cvt.u64.u32 %w, %u;\n"
    "add.u64 %o, %o, %w;\n"
    "more: mad.lo.u32 %v, %n, 1000, %t; mad.lo.u32 %v, %b, 7, %v;\n"
    "and.b32 %u, %h, 8; setp.ne.u32 %q, %u, 0; selp.u32 %v, 77, %v, %q;\n"
    "mad.lo.u32 %x, %i, 32, %l; mul.wide.u32 %a, %x, 4; add.u64 %a, %a, %o;\n"
    "st.global.u32 [%a], %v; cvt.u64.u32 %w, %v; mul.wide.u32 %a, %x, 8; add.u64 %a, %a, %o;\n"
    "st.global.u64 [%a+1024], %w; mul.wide.u32 %a, %x, 2; add.u64 %a, %a, %o;\n"
    "st.global.u16 [%a+2688], %v; cvt.u64.u32 %a, %x; add.u64 %a, %a, %o;\n"
    "st.global.u8 [%a+3136], %v;\n"
    "and.b32 %u, %h, 16; setp.eq.u32 %q, %u, 0; @%q bra over; bar.sync 0;\n"
    "over: and.b32 %u, %h, 32; setp.eq.u32 %q, %u, 0; @%q bra unseen;\n"
    "xor.b32 %x, %x, 32; mul.wide.u32 %w, %x, 4; add.u64 %w, %w, %o;\n"
    "ld.global.u32 %v, [%w]; mad.lo.u32 %s, %s, 31, %v;\n"
    "unseen: and.b32 %u, %h, 64; setp.eq.u32 %q, %u, 0; @%q bra alone; bar.warp.sync 0xffffffff;\n"
    "setp.ne.u32 %q, %n, 1; @%q bra alone; xor.b32 %x, %x, 1; mul.wide.u32 %w, %x, 4; add.u64 %w, "
    "%w, %o;\n"
    "ld.global.u32 %v, [%w]; mad.lo.u32 %s, %s, 31, %v;\n"
    "alone: sub.u32 %n, %n, 1; setp.ne.u32 %q, %n, 0; @%q bra more;\n"
    "mad.lo.u32 %x, %b, 96, %t; mul.wide.u32 %a, %x, 4; add.u64 %a, %a, %o;\n"
    "st.global.u32 [%a+4096], %s; ret; }\n";

/* Tests of what was recorded for a row of %o + 2048 * block that machine code has race-checked: %w
 * is the warp, %a its row. */
static const struct {
    const char *what, *ptx;
    bool races;
} sequels[] = {
    {"rows that go round the warps, with barriers",
     "more: add.u32 %x, %w, %n; rem.u32 %x, %x, 3; mad.lo.u32 %x, %x, 32, %l;\n"
     "mul.wide.u32 %a, %x, 4; add.u64 %a, %a, %o; mad.lo.u32 %v, %n, 1000, %t;\n"
     "st.global.u32 [%a], %v; bar.sync 0; sub.u32 %n, %n, 1; setp.ne.u32 %q, %n, 0;\n"
     "@%q bra more;",
     false},
    {"a row in two lines, and a look at the second",
     "st.global.u32 [%a+64], %t; setp.ne.u32 %q, %t, 67; @%q bra done;\n"
     "ld.global.u32 %v, [%o+400];\ndone:",
     true},
    {"a bulk copy that has no owner yet, another row, and a look from the other block",
     "setp.ne.u32 %q, %b, 0; @%q bra look;\n"
     "mov.u32 %x, m; mad.lo.u32 %x, %l, 2, %x; st.shared.u16 [%x], %l; mov.u32 %x, m;\n"
     "more: st.global.u32 [%a], %n; setp.ne.u32 %q, %w, 1; @%q bra done;\n"
     "sub.u32 %n, %n, 1; setp.eq.u32 %q, %n, 0; @%q bra done; setp.eq.u32 %q, %l, 0;\n"
     "@%q cp.async.bulk.global.shared::cta.bulk_group [%o+1024], [%x], 64;\n"
     "bra.uni more;\nlook: ld.global.u32 %v, [%o+-1024]; st.global.u32 [%a], %v;\ndone:",
     true},
};
enum { SEQUELS = sizeof sequels / sizeof *sequels };

static void write_sequel(char text[ROOM], unsigned which)
{
    snprintf(text, ROOM,
             ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"
             ".reg .u64 %%a, %%o; .reg .u32 %%b, %%l, %%n, %%t, %%v, %%w, %%x; .reg .pred %%q;\n"
             ".shared .align 16 .b8 m[256];\n"
             "ld.param.u64 %%o, [out]; mov.u32 %%t, %%tid.x; mov.u32 %%b, %%ctaid.x;\n"
             "mul.wide.u32 %%a, %%b, 2048; add.u64 %%o, %%o, %%a; mov.u32 %%n, 3;\n"
             "and.b32 %%l, %%t, 31; shr.u32 %%w, %%t, 5; mad.lo.u32 %%x, %%w, 64, %%l;\n"
             "mul.wide.u32 %%a, %%x, 4; add.u64 %%a, %%a, %%o;\n%s\nret; }\n",
             sequels[which].ptx);
}

/* ---- a run ----------------------------------------------------------------------------------- */

enum { ALL = BYTES + 4 * THREADS + BYTES, MOST = 64 };

/* Objects of the launch or the program, such as regions and files, are gone with it, so results are
 * copied here. */
struct answer {
    unsigned char bytes[ALL];
    unsigned char touched[EXEC_ACCESS_COUNT][ALL / 8];
    struct exec_counts counts;
    enum exec_end end;
    struct exec_fault fault;
    size_t stretches, sites, races;
    struct exec_footprint_site site[MOST];
    struct exec_racecheck_found race[MOST];
};

static void keep_footprint(struct answer *answer, const struct exec_footprint *footprint)
{
    for (size_t k = 0; k < exec_footprint_region_count(footprint); k++) {
        const struct exec_footprint_region *at = exec_footprint_region_at(footprint, k);
        for (unsigned a = 0; a < EXEC_ACCESS_COUNT; a++)
            if (at->bits[a] != NULL) memcpy(answer->touched[a], at->bits[a], ALL / 8);
    }
    answer->sites = exec_footprint_site_count(footprint);
    ck_assert_uint_le(answer->sites, MOST);
    for (size_t k = 0; k < answer->sites; k++)
        answer->site[k] = *exec_footprint_site_at(footprint, k);
}

static void keep_races(struct answer *answer, const struct exec_racecheck *watch)
{
    answer->races = exec_racecheck_count(watch);
    ck_assert_uint_le(answer->races, MOST);
    for (size_t k = 0; k < answer->races; k++) answer->race[k] = *exec_racecheck_at(watch, k);
}

static struct exec_program *program_of(const char *ptx, enum exec_native_use use, bool watched)
{
    exec_native_use(use);
    return watched ? device_program_watched(ptx) : device_program(ptx);
}

/* Without racecheck the launch records a footprint for half of the shapes. */
static struct answer *launch(const struct exec_program *program, uint32_t shape, uint32_t threads,
                             bool watched)
{
    struct answer *answer = calloc(1, sizeof *answer);
    if (answer == NULL) abort();
    unsigned char *bytes;
    device_reset();
    const uint64_t out = device_buffer(ALL, (void **)&bytes);
    const uint64_t parameters[] = {out, shape};
    for (unsigned k = 0; k < BYTES; k++) bytes[k] = (unsigned char)(k * 167 >> 3);
    struct device_run one = {
        .program = program, .name = "k", .blocks = 2, .threads = threads, .parameters = parameters};
    if (watched || shape % 2 != 0) one.footprint = exec_footprint_create(NULL, NULL);
    if (watched) one.watch = exec_racecheck_create();
    answer->end = device_launch(&one);
    answer->counts = one.counts;
    memcpy(answer->bytes, bytes, ALL);
    answer->fault = one.fault;
    answer->stretches = exec_native_stretches(program);
    if (one.footprint != NULL) keep_footprint(answer, one.footprint);
    if (watched) keep_races(answer, one.watch);
    exec_racecheck_destroy(one.watch);
    exec_footprint_destroy(one.footprint);
    return answer;
}

static struct answer *run(const char *ptx, enum exec_native_use use, uint32_t threads, bool watched)
{
    struct exec_program *program = program_of(ptx, use, watched);
    struct answer *answer = launch(program, 0, threads, watched);
    exec_program_destroy(program);
    return answer;
}

static bool same_sites(const struct answer *rows, const struct answer *code)
{
    bool same = rows->sites == code->sites;
    for (size_t k = 0; k < rows->sites && same; k++) {
        const struct exec_footprint_site *a = &rows->site[k], *b = &code->site[k];
        same = a->access == b->access && a->first == b->first && a->end == b->end &&
               a->line == b->line && a->widest == b->widest;
    }
    return same;
}

static bool same_side(const struct exec_racecheck_side *a, const struct exec_racecheck_side *b)
{
    return a->access == b->access && a->line == b->line && a->known == b->known &&
           !memcmp(a->block, b->block, sizeof a->block) &&
           !memcmp(a->thread, b->thread, sizeof a->thread);
}

static bool same_races(const struct answer *rows, const struct answer *code)
{
    bool same = rows->races == code->races;
    for (size_t k = 0; k < rows->races && same; k++) {
        const struct exec_racecheck_found *a = &rows->race[k], *b = &code->race[k];
        same = a->wrong == b->wrong && same_side(&a->first, &b->first) &&
               same_side(&a->second, &b->second) && a->offset == b->offset &&
               a->bytes == b->bytes &&
               !memcmp(a->block_size, b->block_size, sizeof a->block_size) &&
               a->block_index == b->block_index && a->waiting == b->waiting && a->home == b->home &&
               a->met == b->met && a->count == b->count;
    }
    return same;
}

static void compare(const char *what, const struct answer *rows, const struct answer *code)
{
    ck_assert_msg(code->stretches > 0, "%s: nothing was compiled", what);
    ck_assert_msg(!memcmp(rows->bytes, code->bytes, ALL), "%s: other bytes", what);
    ck_assert_msg(!memcmp(&rows->counts, &code->counts, sizeof rows->counts), "%s: other counts",
                  what);
    ck_assert_msg(rows->end == code->end, "%s: another end", what);
    ck_assert_msg(!memcmp(rows->touched, code->touched, sizeof rows->touched),
                  "%s: another footprint", what);
    ck_assert_msg(same_sites(rows, code), "%s: other sites", what);
    ck_assert_msg(same_races(rows, code), "%s: other races", what);
    if (rows->end == EXEC_DONE) return;
    ck_assert_msg(rows->fault.line == code->fault.line && rows->fault.size == code->fault.size &&
                      rows->fault.is_store == code->fault.is_store &&
                      !memcmp(rows->fault.thread, code->fault.thread, sizeof rows->fault.thread) &&
                      !memcmp(rows->fault.block, code->fault.block, sizeof rows->fault.block),
                  "%s: another fault", what);
}

/* Checks a kernel for the shapes from `first` on: all, or the one for which it was made. */
static void check(const char *ptx, unsigned first, unsigned end, bool watched, const char *what)
{
    static const uint32_t threads[] = {THREADS, 32, 51, 1}; /* with 51 a warp is not full */
    char text[200];
    struct exec_program *rows = program_of(ptx, EXEC_NATIVE_OFF, watched);
    struct exec_program *code = program_of(ptx, EXEC_NATIVE_ALWAYS, watched);
    for (unsigned shape = first; shape < end; shape++) {
        for (unsigned k = 0; k < sizeof threads / sizeof *threads; k++) {
            struct answer *of_rows = launch(rows, shape, threads[k], watched);
            struct answer *of_code = launch(code, shape, threads[k], watched);
            snprintf(text, sizeof text, "%s, %s, %u threads%s", what, shapes[shape].what,
                     (unsigned)threads[k], watched ? ", watched" : "");
            compare(text, of_rows, of_code);
            free(of_rows);
            free(of_code);
        }
    }
    exec_program_destroy(rows);
    exec_program_destroy(code);
}

/* ---- the tests ------------------------------------------------------------------------------- */

START_TEST(every_mood)
{
    static char ptx[ROOM];
    const unsigned place = (unsigned)_i % PLACES, mood = (unsigned)_i / PLACES;
    char what[100];
    snprintf(what, sizeof what, "%s memory, %s", places[place].name, moods[mood].what);
    for (unsigned watched = 0; watched < 2; watched++) {
        write_kernel(ptx, place, SHAPES, mood, (place + mood + mood / 4 + watched) % TYPES_APART);
        check(ptx, 0, SHAPES, watched != 0, what);
    }
}
END_TEST

/* Shapes that LLVM knows at compile time. */
START_TEST(every_shape)
{
    static char ptx[ROOM];
    const unsigned shape = (unsigned)_i, place = shape % PLACES;
    write_kernel(ptx, place, shape, 0, shape % TYPES_APART);
    check(ptx, shape, shape + 1, shape / 2 % 2 == 1, places[place].name);
}
END_TEST

START_TEST(readers_of_the_same_words)
{
    static char ptx[ROOM];
    const unsigned hall = (unsigned)_i % HALLS, first = (unsigned)_i / HALLS;
    char what[100];
    snprintf(what, sizeof what, "%s memory, %s", halls[hall].name, shapes[first].what);
    for (int alone = 0; alone < 2; alone++) { /* 1: a single warp, which reads once */
        const uint32_t threads = alone ? 32 : THREADS;
        write_readers(ptx, hall, first, alone ? 1 : SHAPES);
        struct answer *rows = run(ptx, EXEC_NATIVE_OFF, threads, true);
        struct answer *code = run(ptx, EXEC_NATIVE_ALWAYS, threads, true);
        ck_assert(alone || rows->races > 0);
        compare(what, rows, code);
        free(rows);
        free(code);
    }
}
END_TEST

START_TEST(writers_of_shared_memory)
{
    static char ptx[ROOM];
    write_writers(ptx, (unsigned)_i);
    struct answer *rows = run(ptx, EXEC_NATIVE_OFF, 64, true);
    struct answer *code = run(ptx, EXEC_NATIVE_ALWAYS, 64, true);
    ck_assert_msg((rows->races > 0) == writers[_i].races, "%s: races", writers[_i].what);
    compare(writers[_i].what, rows, code);
    free(rows);
    free(code);
}
END_TEST

START_TEST(atomics_that_are_judged)
{
    static char ptx[ROOM];
    write_judged(ptx, (unsigned)_i);
    struct answer *rows = run(ptx, EXEC_NATIVE_OFF, THREADS, true);
    struct answer *code = run(ptx, EXEC_NATIVE_ALWAYS, THREADS, true);
    ck_assert_int_eq(rows->races > 0, _i % 2 == 1);
    compare(seconds[_i], rows, code);
    free(rows);
    free(code);
}
END_TEST

START_TEST(rows_that_are_judged)
{
    struct exec_program *rows = program_of(rows_judged, EXEC_NATIVE_OFF, true);
    struct exec_program *code = program_of(rows_judged, EXEC_NATIVE_ALWAYS, true);
    unsigned wrong = 0;
    char what[40];
    for (uint32_t how = 0; how < ROW_KERNELS; how++) {
        struct answer *of_rows = launch(rows, how, THREADS, true);
        struct answer *of_code = launch(code, how, THREADS, true);
        snprintf(what, sizeof what, "rows stored in way %u", (unsigned)how);
        compare(what, of_rows, of_code);
        wrong += of_rows->races > 0;
        free(of_rows);
        free(of_code);
    }
    ck_assert_uint_gt(wrong, ROW_KERNELS / 4);
    ck_assert_uint_lt(wrong, ROW_KERNELS);
    exec_program_destroy(rows);
    exec_program_destroy(code);
}
END_TEST

START_TEST(what_follows_a_row_that_is_judged)
{
    static char ptx[ROOM];
    write_sequel(ptx, (unsigned)_i);
    struct answer *rows = run(ptx, EXEC_NATIVE_OFF, THREADS, true);
    struct answer *code = run(ptx, EXEC_NATIVE_ALWAYS, THREADS, true);
    ck_assert_msg((rows->races > 0) == sequels[_i].races, "%s: races", sequels[_i].what);
    compare(sequels[_i].what, rows, code);
    free(rows);
    free(code);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec native access");
    TCase *tests = tcase_create("access");
    tcase_set_timeout(tests, 600);
    tcase_add_loop_test(tests, every_mood, 0, PLACES * MOODS);
    tcase_add_loop_test(tests, every_shape, 0, SHAPES);
    TCase *judged = tcase_create("judged");
    tcase_set_timeout(judged, 600);
    tcase_add_loop_test(judged, atomics_that_are_judged, 0, SECONDS);
    tcase_add_test(judged, rows_that_are_judged);
    tcase_add_loop_test(judged, what_follows_a_row_that_is_judged, 0, SEQUELS);
    TCase *readers = tcase_create("readers");
    tcase_set_timeout(readers, 600);
    tcase_add_loop_test(readers, readers_of_the_same_words, 0, HALLS * SHAPES);
    tcase_add_loop_test(readers, writers_of_shared_memory, 0, WRITERS);
    suite_add_tcase(suite, tests);
    suite_add_tcase(suite, judged);
    suite_add_tcase(suite, readers);
    return device_native_main(suite);
}
