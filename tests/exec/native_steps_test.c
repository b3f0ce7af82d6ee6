/* Machine code uses known strides between the lanes' addresses (native/steps.c). That must change
 * nothing: the same results, counts, footprints and faults as the rows', whatever the block's
 * shape, also where the guessed stride is wrong for a warp, where a sum wraps, and where lanes have
 * diverged. */
#include "emulator/exec/check/racecheck.h"
#include "emulator/exec/exec.h"
#include "emulator/memory/memory.h"
#include "tests/exec/device.h"

#include <check.h>
#include <string.h>

enum { WORDS = 1024, MOST = 16 /* races that are compared */ };

/* %t: the thread, %x and %y its coordinates, %w the block's width; %o: its word of the output; %d:
 * the data, 4,096 bytes; %m: words of shared memory. */
#define HEAD                                                                                       \
    ".version 8.0\n.target sm_75\n.address_size 64\n"                                              \
    ".visible .entry k(.param .u64 out, .param .u64 data) {\n"                                     \
    ".reg .u64 %a, %b, %o, %d; .reg .u32 %t, %x, %y, %w, %i, %j, %n, %s, %v, %m;\n"                \
    ".reg .pred %p, %q; .shared .u32 m[1024];\n"                                                   \
    "ld.param.u64 %o, [out]; ld.param.u64 %d, [data]; mov.u32 %x, %tid.x; mov.u32 %y, %tid.y;\n"   \
    "mov.u32 %w, %ntid.x; mad.lo.u32 %t, %y, %w, %x; mul.wide.u32 %a, %t, 4;\n"                    \
    "add.u64 %o, %o, %a; mov.u32 %s, 1; mov.u32 %m, m; mov.u32 %n, 3;\n"
#define TAIL "st.global.u32 [%o], %s; ret; }\n"
#define ROUND "sub.u32 %n, %n, 1; setp.ne.u32 %q, %n, 0; @%q bra more;\n"
#define TAKE "mad.lo.u32 %s, %s, 31, %v;\n"
/* Compares %i or %b with a bound; the results show which lanes are on which side. */
#define BOUND(is, type, row, bound)                                                                \
    "setp." is "." type " %p|%q, " row ", " bound "; @%p mad.lo.u32 %s, %s, 7, 2;\n"               \
    "@%q mad.lo.u32 %s, %s, 31, 1;\n"
#define BOUNDS(type, row, bound)                                                                   \
    BOUND("lt", type, row, bound)                                                                  \
    BOUND("le", type, row, bound) BOUND("gt", type, row, bound) BOUND("ge", type, row, bound)

static const struct {
    const char *what, *ptx;
} kernels[] = {
    {"a row", HEAD "mul.wide.u32 %a, %t, 4; add.u64 %a, %d, %a; ld.global.u32 %v, [%a];\n" TAKE
                   "ld.global.u32 %v, [%a+8];\n" TAKE "st.global.u32 [%a+1024], %s;\n" TAIL},
    {"rows of pairs and of four", HEAD
     "mul.wide.u32 %a, %x, 8; add.u64 %a, %d, %a; ld.global.v2.u32 {%v, %i}, [%a];\n" TAKE
     "add.u32 %s, %s, %i; mad.wide.u32 %a, %x, 16, %d; ld.global.v4.u32 {%v, %i, %j, %n}, [%a];\n"
     "add.u32 %v, %v, %j;\n" TAKE "st.global.v2.u32 [%a], {%s, %v};\n" TAIL},
    {"one word for all, for each half, or for each line of the block",
     HEAD "ld.global.u32 %v, [%d+12];\n" TAKE "mad.wide.u32 %a, %y, 4, %d;\n"
          "ld.global.u32 %v, [%a];\n" TAKE "mad.lo.u32 %i, %y, %w, 5; mad.wide.s32 %a, %i, 4, %d;\n"
          "ld.global.u32 %v, [%a+4];\n" TAKE TAIL},
    {"backwards",
     HEAD "sub.u32 %i, 200, %t; mad.wide.u32 %a, %i, 4, %d; ld.global.u32 %v, [%a];\n" TAKE
          "st.global.u32 [%a], %s;\n" TAIL},
    {"numbers below zero, by sign",
     HEAD "sub.u32 %i, %t, 24; mul.wide.s32 %a, %i, 4; add.u64 %a, %a, %d;\n"
          "ld.global.u32 %v, [%a+96];\n" TAKE "cvt.s64.s32 %b, %i; shl.b64 %b, %b, 2;\n"
          "add.u64 %b, %d, %b; ld.global.u32 %v, [%b+128];\n" TAKE TAIL},
    {"numbers below zero, by zeros: the first are far away",
     HEAD "sub.u32 %i, %t, 24; cvt.u64.u32 %a, %i; shl.b64 %a, %a, 2; add.u64 %a, %a, %d;\n"
          "ld.global.u32 %v, [%a];\n" TAKE TAIL},
    {"a sum that wraps by sign in the middle of a warp, not reached by those who would fault",
     HEAD "add.u32 %i, %t, 0x7ffffff8; setp.lt.u32 %p, %t, 8; mul.wide.s32 %a, %i, 4;\n"
          "mov.u64 %b, 0x1ffffffe0; sub.u64 %a, %a, %b; add.u64 %a, %a, %d;\n"
          "@%p ld.global.u32 %v, [%a]; @!%p mov.u32 %v, 9;\n" TAKE TAIL},
    {"a sum that wraps, and faults",
     HEAD "add.u32 %i, %t, 0x7ffffff8; mul.wide.s32 %a, %i, 4; mov.u64 %b, 0x1ffffffe0;\n"
          "sub.u64 %a, %a, %b; add.u64 %a, %a, %d; ld.global.u32 %v, [%a];\n" TAKE TAIL},
    {"64 bits", HEAD "cvt.u64.u32 %a, %x; cvt.u64.u32 %b, %y; mad.lo.u64 %a, %b, 20, %a;\n"
                     "shl.b64 %a, %a, 2; add.u64 %a, %a, %d; ld.global.u32 %v, [%a];\n" TAKE
                     "mul.lo.u64 %b, %b, 12; add.u64 %b, %b, %d; ld.global.u32 %v, [%b];\n" TAKE
                     "cvt.u32.u64 %i, %b; cvt.u32.u64 %j, %d; sub.u32 %i, %i, %j;\n"
                     "mad.wide.u32 %a, %i, 4, %d; ld.global.u32 %v, [%a];\n" TAKE TAIL},
    {"members of structures of seven words, some of them changed",
     HEAD "mul.wide.u32 %a, %t, 28; add.u64 %a, %d, %a; ld.global.u32 %v, [%a+8];\n" TAKE
          "ld.global.u32 %v, [%a+4];\n" TAKE "ld.global.u32 %v, [%a+16];\n" TAKE
          "st.global.u32 [%a+20], %s; st.global.u32 [%a+24], %v;\n" TAIL},
    {"all members of structures of three words",
     HEAD "mul.wide.u32 %a, %t, 12; add.u64 %a, %d, %a; ld.global.u32 %v, [%a+4];\n" TAKE
          "ld.global.u32 %v, [%a];\n" TAKE "ld.global.u32 %v, [%a+8];\n" TAKE
          "st.global.u32 [%a+2048], %s; st.global.u32 [%a+2052], %v; st.global.u32 [%a+2056], "
          "%i;\n" TAIL},
    {"colours, each byte by an address of its own",
     HEAD "mad.lo.u32 %i, %t, 3, 1; cvt.u64.u32 %a, %i; add.u64 %a, %d, %a;\n"
          "ld.global.u8 %v, [%a];\n" TAKE "add.u32 %i, %i, 1; cvt.u64.u32 %a, %i;\n"
          "add.u64 %a, %d, %a; ld.global.s8 %v, [%a];\n" TAKE "sub.u32 %i, %i, 2;\n"
          "cvt.u64.u32 %a, %i; add.u64 %a, %d, %a; st.global.u8 [%a], %s;\n" TAIL},
    {"halves of words, and words of 64 bits, a step apart in each line of the block", HEAD
     "mul.lo.u32 %i, %x, 5; mad.lo.u32 %i, %y, 70, %i; mad.wide.u32 %a, %i, 2, %d;\n"
     "ld.global.u16 %v, [%a];\n" TAKE "st.global.u16 [%a+2], %s; ld.global.s16 %v, [%a+6];\n" TAKE
     "mul.lo.u32 %i, %x, 3; mad.lo.u32 %i, %y, 30, %i; mad.wide.u32 %a, %i, 8, %d;\n"
     "ld.global.u64 %b, [%a+8]; cvt.u32.u64 %v, %b;\n" TAKE "st.global.u64 [%a], %b;\n" TAIL},
    {"steps longer than a word of the footprint, and longer than a line",
     HEAD "mul.wide.u32 %a, %x, 72; add.u64 %a, %d, %a; ld.global.u64 %b, [%a];\n"
          "cvt.u32.u64 %v, %b;\n" TAKE "st.global.u64 [%a+16], %b; mul.wide.u32 %a, %x, 132;\n"
          "add.u64 %a, %d, %a; st.global.u32 [%a], %s; ld.global.u32 %v, [%a+4];\n" TAKE TAIL},
    {"steps that reach the end of the memory, and go past it at last", HEAD
     "mul.wide.u32 %a, %x, 20; add.u64 %a, %d, %a; add.u64 %a, %a, 3432;\nmore:\n"
     "ld.global.u32 %v, [%a];\n" TAKE "st.global.u32 [%a+4], %s; add.u64 %a, %a, 20;\n" ROUND TAIL},
    {"steps of an address askew",
     HEAD "mul.wide.u32 %a, %x, 12; add.u64 %a, %d, %a;\nmore: ld.global.u32 %v, [%a];\n" TAKE
          "add.u64 %a, %a, 2;\n" ROUND TAIL},
    {"a loop that strides", HEAD
     "mov.u32 %i, %t; mov.u32 %j, 0;\nmore: mad.wide.u32 %a, %i, 4, %d;\n"
     "ld.global.u32 %v, [%a];\n" TAKE "mad.wide.u32 %a, %j, 4, %d; ld.global.u32 %v, [%a];\n" TAKE
     "add.u32 %i, %i, 96; add.u32 %j, %j, 3;\n" ROUND TAIL},
    {"a loop whose address is moved on",
     HEAD "mad.wide.u32 %a, %t, 4, %d;\nmore: ld.global.u32 %v, [%a];\n" TAKE
          "st.global.u32 [%a], %s; add.u64 %a, %a, 384;\n" ROUND TAIL},
    {"a loop to which one warp comes with other addresses",
     HEAD "mad.wide.u32 %a, %t, 4, %d; setp.lt.u32 %p, %t, 32; @%p bra more;\n"
          "xor.b32 %i, %t, 5; mad.wide.u32 %a, %i, 4, %d; bar.warp.sync -1;\n"
          "more: ld.global.u32 %v, [%a];\n" TAKE "add.u64 %a, %a, 256;\n" ROUND TAIL},
    {"what some lanes have changed",
     HEAD "mov.u32 %i, %t; and.b32 %j, %t, 3; setp.eq.u32 %p, %j, 1; mad.wide.u32 %a, %i, 4, %d;\n"
          "ld.global.u32 %v, [%a];\n" TAKE "@%p mov.u32 %i, 77; mad.wide.u32 %a, %i, 4, %d;\n"
          "ld.global.u32 %v, [%a];\n" TAKE TAIL},
    {"what some lanes have changed in each round", HEAD
     "mov.u32 %i, %t; and.b32 %j, %t, 3; setp.eq.u32 %p, %j, 1;\nmore: @%p add.u32 %i, %i, 7;\n"
     "mad.wide.u32 %a, %i, 4, %d; ld.global.u32 %v, [%a];\n" TAKE
     "setp.gt.u32 %q, %j, 1; @%q bra over; add.u32 %i, %i, 2; over: mad.wide.u32 %a, %i, 4, %d;\n"
     "ld.global.u32 %v, [%a];\n" TAKE ROUND TAIL},
    {"what all lanes of a line have changed, or none",
     HEAD "mov.u32 %i, %x; setp.gt.u32 %p, %y, 1; @%p add.u32 %i, %i, 9; selp.u32 %j, 4, 40, %p;\n"
          "add.u32 %j, %j, %x; mad.wide.u32 %a, %i, 4, %d; ld.global.u32 %v, [%a];\n" TAKE
          "mad.wide.u32 %a, %j, 4, %d; ld.global.u32 %v, [%a];\n" TAKE
          "@%p bra over; add.u32 %j, %j, 3; bra.uni both;\nover: sub.u32 %j, %j, 2;\n"
          "both: mad.wide.u32 %a, %j, 4, %d; ld.global.u32 %v, [%a];\n" TAKE TAIL},
    {"lanes that have exited, the first among them, and what the others were told",
     HEAD "setp.eq.u32 %p, %x, 0; @%p exit; ld.global.u32 %i, [%d+64]; and.b32 %i, %i, 63;\n"
          "mad.wide.u32 %a, %i, 4, %d; ld.global.u32 %v, [%a];\n" TAKE
          "add.u32 %i, %i, %x; mad.wide.u32 %a, %i, 4, %d; ld.global.u32 %v, [%a];\n" TAKE TAIL},
    {"shared memory, by rows and columns",
     HEAD "mad.lo.u32 %i, %t, 4, %m; st.shared.u32 [%i], %t; bar.sync 0;\n"
          "more: shl.b32 %j, %y, 2; add.u32 %j, %j, %m; ld.shared.u32 %v, [%j];\n" TAKE
          "mul.lo.u32 %j, %x, 4; add.u32 %j, %m, %j; ld.shared.u32 %v, [%j+4];\n" TAKE
          "bar.sync 0; st.shared.u32 [%i], %s; bar.sync 0;\n" ROUND TAIL},
    {"shared memory, every other word and backwards",
     HEAD "mad.lo.u32 %i, %t, 8, %m; st.shared.u32 [%i], %t; bar.sync 0; sub.u32 %j, 90, %t;\n"
          "mad.lo.u32 %j, %j, 8, %m; max.u32 %j, %j, %m; ld.shared.u32 %v, [%i];\n" TAKE
          "bar.sync 0; st.shared.u32 [%i], %s; ld.shared.u32 %v, [%i];\n" TAKE TAIL},
    {"shared memory past its end", HEAD
     "mad.lo.u32 %i, %t, 4, %m; st.shared.u32 [%i+4000], %t; ld.shared.u32 %v, [%i+4000];\n" TAKE
         TAIL},
    {"shared memory that nothing has written: the interpreter goes on in the middle", HEAD
     "mad.lo.u32 %i, %t, 4, %m; mad.wide.u32 %a, %t, 4, %d; ld.shared.u32 %v, [%i]; xor.b32 %v, "
     "%v, %v;\n" TAKE "add.u64 %a, %a, 64; add.u32 %i, %i, 128; st.shared.u32 [%i], %t;\n"
     "ld.global.u32 %v, [%a];\n" TAKE
     "ld.shared.u32 %v, [%i]; st.global.u32 [%a], %v;\n" TAKE TAIL},
    {"carries, and shifts by what is not known",
     HEAD "and.b32 %i, %w, 3; shl.b32 %j, %x, %i; mad.wide.u32 %a, %j, 4, %d; ld.global.u32 %v, "
          "[%a];\n" TAKE "add.cc.u32 %j, %x, -5; addc.u32 %j, %y, 0; mad.wide.u32 %a, %j, 4, %d;\n"
          "ld.global.u32 %v, [%a];\n" TAKE "shl.b32 %j, %w, 40; add.u32 %j, %j, %x;\n"
          "mad.wide.u32 %a, %j, 4, %d; ld.global.u32 %v, [%a];\n" TAKE
          "rem.u32 %j, %w, 7; min.u32 %j, %j, %y;\n"
          "mad.wide.u32 %a, %j, 4, %d; ld.global.u32 %v, [%a];\n" TAKE TAIL},
    {"what is not put in line, of lanes the first of which have exited",
     HEAD "setp.lt.u32 %p, %x, 3; @%p exit; cvt.u64.u32 %b, %w; rem.u64 %b, %b, 7;\n"
          "mad.lo.u64 %a, %b, 4, %d; ld.global.u32 %v, [%a];\n" TAKE TAIL},
    {"an address that is stored",
     HEAD "mad.wide.u32 %a, %x, 8, %d; st.global.u64 [%a], %a; ld.global.u64 %b, [%a];\n"
          "sub.u64 %b, %b, %d; cvt.u32.u64 %v, %b; st.global.u64 [%a], %b;\n" TAKE
          "mad.wide.u32 %b, %x, 16, %d; st.global.v2.u64 [%b+1024], {%d, %b};\n"
          "ld.global.u64 %a, [%b+1032]; sub.u64 %a, %a, %d; cvt.u32.u64 %v, %a;\n"
          "st.global.v2.u64 [%b+1024], {%a, %a};\n" TAKE TAIL},
    {"a row whose upper half is past the end at last",
     HEAD "mad.wide.u32 %a, %x, 4, %d;\nmore: ld.global.u32 %v, [%a];\n" TAKE
          "add.u64 %a, %a, 2016;\n" ROUND TAIL},
    {"a row that is stored past the end at last",
     HEAD "mad.wide.u32 %a, %x, 4, %d;\nmore: st.global.u32 [%a], %x; add.u64 %a, %a, 2016;\n" ROUND
         TAIL},
    {"a sum that wraps in the upper half, not reached by those who would fault",
     HEAD "add.u32 %i, %t, 0x7fffffe8; setp.lt.u32 %p, %t, 24; mul.wide.s32 %a, %i, 4;\n"
          "mov.u64 %b, 0x1ffffffa0; sub.u64 %a, %a, %b; add.u64 %a, %a, %d;\n"
          "@%p ld.global.u32 %v, [%a]; @!%p mov.u32 %v, 9;\n" TAKE
          "ld.global.u32 %v, [%a];\n" TAKE TAIL},
    {"a predicate that is one half's, to which both have come by ways of their own",
     HEAD "and.b32 %i, %t, 16; setp.eq.u32 %q, %i, 0; @%q bra other; setp.eq.u32 %p, %t, 99;\n"
          "@%p bra in; in: setp.ne.u32 %p, %w, 0; mov.u32 %j, 4; bra.uni both;\n"
          "other: setp.eq.u32 %p, %w, 0; mov.u32 %j, 4;\n"
          "both: selp.u32 %i, 4, 40, %p; add.u32 %i, %i, %j; mad.wide.u32 %a, %i, 4, %d;\n"
          "ld.global.u32 %v, [%a];\n" TAKE "ld.global.u32 %v, [%a+4];\n" TAKE TAIL},
    {"atomics of rows",
     HEAD "mad.wide.u32 %a, %x, 4, %d; atom.global.add.u32 %v, [%a], 1;\n"
          "mad.lo.u32 %i, %t, 4, %m; st.shared.u32 [%i], %t; bar.sync 0;\n"
          "mul.lo.u32 %i, %x, 4; add.u32 %i, %m, %i;\n"
          "atom.shared.add.u32 %v, [%i], %t; bar.sync 0;\n"
          "ld.shared.u32 %v, [%i];\n" TAKE "ld.global.u32 %v, [%a+512];\n" TAKE TAIL},
    {"bounds in front of a warp, in it and behind it", HEAD
     "mov.u32 %i, %t; mad.wide.u32 %a, %i, 4, %d; ld.global.u32 %v, [%a];\n" TAKE BOUNDS("u32",
                                                                                         "%i", "0")
         BOUNDS("u32", "%i", "31") BOUNDS("u32", "%i", "32") BOUNDS("s32", "%i", "45")
             BOUNDS("s32", "%i", "-1") BOUNDS("u32", "%i", "-1") BOUNDS("u32", "%w", "32") TAIL},
    {"bounds of rows that wrap, or run backwards", HEAD
     "sub.u32 %i, %t, 40; add.u32 %j, %i, 40; mad.wide.u32 %a, %j, 4, %d; ld.global.u32 %v, "
     "[%a];\n" TAKE BOUNDS("u32", "%i", "8") BOUNDS("s32", "%i", "8") BOUNDS("u32", "%i", "-8")
         BOUNDS("s32", "%i",
                "-8") "sub.u32 %i, 60, %t; add.u32 %j, %i, 40;\n"
                      "mad.wide.u32 %a, %j, 4, %d; ld.global.u32 %v, [%a];\n" TAKE BOUNDS("u32",
                                                                                          "%i", "8")
                          BOUNDS("s32", "%i",
                                 "8") "add.u32 %i, %t, 0x7fffffe0; sub.u32 %j, %i, 0x7fffffe0;\n"
                                      "mad.wide.u32 %a, %j, 4, %d; ld.global.u32 %v, [%a];\n" TAKE
                                          BOUNDS("s32", "%i", "0x7ffffff0")
                                              BOUNDS("u32", "%i", "0x7ffffff0") TAIL},
    {"bounds of rows whose steps go all the way round", HEAD
     "mul.lo.u32 %i, %t, 2654435761; add.u32 %i, %i, 0x33333333; mul.lo.u32 %n, %t, "
     "1640531535; add.u32 %j, %i, %n; sub.u32 %j, %j, 0x33333333;\n"
     "mad.wide.u32 %a, %j, 4, %d; ld.global.u32 %v, [%a];\n" TAKE BOUNDS("u32", "%i", "0x10000000")
         BOUNDS("s32", "%i", "0x10000000") BOUNDS("u32", "%i", "0x100000")
             BOUNDS("s32", "%i", "-0x100000") TAIL},
    {"bounds of 64 bits",
     HEAD "cvt.u64.u32 %b, %x; sub.u64 %b, %b, 20; add.u64 %a, %b, 20; mad.lo.u64 %a, %a, 4, %d;\n"
          "ld.global.u32 %v, [%a];\n" TAKE BOUNDS("u64", "%b", "4") BOUNDS("s64", "%b", "4")
              BOUNDS("s64", "%b", "-20") BOUNDS("u64", "%b", "100") BOUNDS("u64", "%b", "-1") TAIL},
    {"a loop to a bound in a warp, with what is behind the barrier", HEAD
     "mov.u32 %i, %t;\nmore: setp.ge.u32 %p, %i, 210; @%p bra over;\n"
     "mad.wide.u32 %a, %i, 4, %d; ld.global.u32 %v, [%a];\n" TAKE
     "add.u32 %i, %i, 96; bra.uni more;\nover: bar.sync 0; st.global.u32 [%d], %s; bar.sync 0;\n"
     "ld.global.u32 %v, [%d];\n" TAIL},
    {"a warp that has ended, those behind it, and a barrier",
     HEAD "mad.wide.u32 %a, %t, 4, %d; ld.global.u32 %v, [%a];\n" TAKE
          "sub.u32 %i, %t, 32; setp.lt.u32 %p, %i, 32; @%p bra last;\n"
          "st.shared.u32 [%m], %s; bar.sync 0; ld.shared.u32 %v, [%m];\n" TAKE "last: " TAIL},
    {"a warp that faults, and those in front of it and behind it",
     HEAD "mad.wide.u32 %a, %t, 4, %d; shr.u32 %i, %t, 5; setp.eq.u32 %p, %i, 1;\n"
          "@%p add.u64 %a, %a, 0x100000; ld.global.u32 %v, [%a];\n" TAKE TAIL},
    {"a warp whose lanes part, and those in front of it and behind it",
     HEAD "mad.wide.u32 %a, %t, 4, %d; ld.global.u32 %v, [%a];\n" TAKE
          "sub.u32 %i, %t, 32; setp.lt.u32 %p, %i, 9; @!%p bra over; mov.u32 %n, %i;\n"
          "add.u32 %n, %n, 1;\nmore: ld.global.u32 %v, [%a+64];\n" TAKE ROUND "over: " TAIL},
    {"a row of shared memory for some lanes, to its end, and again with one lane too many", HEAD
     "mad.lo.u32 %i, %t, 4, %m; st.shared.u32 [%i], %t; bar.sync 0; setp.ge.u32 %p, %t, 20;\n"
     "@%p bra over; ld.shared.u32 %v, [%i+4016];\n" TAKE
     "st.shared.u32 [%i+4016], %s; ld.shared.u32 %v, [%i+8];\n" TAKE
     "st.shared.u32 [%i+8], %s;\nover: bar.sync 0; ld.shared.u32 %v, [%i];\n" TAKE
     "setp.ge.u32 %p, %t, 21; @%p bra last; ld.shared.u32 %v, [%i+4016];\n" TAKE "last: " TAIL},
    {"a row of shared memory whose first lanes would be in front of it",
     HEAD "mad.lo.u32 %i, %t, 4, %m; st.shared.u32 [%i], %t; bar.sync 0; setp.lt.u32 %p, %t, 4;\n"
          "@%p bra over; ld.shared.u32 %v, [%i-16];\n" TAKE "st.shared.u32 [%i-16], %s;\n"
          "over: bar.sync 0; ld.shared.u32 %v, [%i];\n" TAKE TAIL},
    {"bytes of shared memory for some lanes",
     HEAD "add.u32 %i, %t, %m; st.shared.u8 [%i], %t; bar.sync 0; setp.ge.u32 %p, %t, 20;\n"
          "@%p bra over; ld.shared.u8 %v, [%i+4076];\n" TAKE "ld.shared.s8 %v, [%i+3];\n" TAKE
          "st.shared.u8 [%i], %s;\nover: bar.sync 0; ld.shared.s8 %v, [%i];\n" TAKE TAIL},
    {"halves of words in shared memory for some lanes",
     HEAD "mad.lo.u32 %i, %t, 2, %m; st.shared.u16 [%i], %t; bar.sync 0; setp.ge.u32 %p, %t, 20;\n"
          "@%p bra over; ld.shared.u16 %v, [%i+4056];\n" TAKE "ld.shared.s16 %v, [%i+6];\n" TAKE
          "st.shared.u16 [%i], %s;\nover: bar.sync 0; ld.shared.s16 %v, [%i];\n" TAKE TAIL},
    {"words of 64 bits in shared memory for some lanes", HEAD
     "mad.lo.u32 %i, %t, 8, %m; mov.b64 %b, {%t, %x}; st.shared.u64 [%i], %b; bar.sync 0;\n"
     "setp.ge.u32 %p, %t, 20; @%p bra over; ld.shared.u64 %b, [%i+3936]; cvt.u32.u64 %v, %b;\n" TAKE
     "mov.b64 %b, {%s, %v}; st.shared.u64 [%i+8], %b;\nover: bar.sync 0;\n"
     "ld.shared.u32 %v, [%i];\n" TAKE "ld.shared.u32 %v, [%i+4];\n" TAKE TAIL},
    {"shared memory for every other lane, whose step is not known, and crosswise",
     HEAD "and.b32 %n, %t, 1023; mad.lo.u32 %i, %n, 4, %m; xor.b32 %n, %n, 1;\n"
          "mad.lo.u32 %j, %n, 4, %m; st.shared.u32 [%i], %t; bar.sync 0; and.b32 %n, %t, 1;\n"
          "setp.eq.u32 %p, %n, 1; @%p bra over; ld.shared.u32 %v, [%i+4];\n" TAKE
          "ld.shared.u32 %v, [%j];\n" TAKE "st.shared.u32 [%i], %s; bra.uni both;\n"
          "over: ld.shared.u32 %v, [%j+4];\n" TAKE "st.shared.u32 [%i+64], %s;\n"
          "both: bar.sync 0; ld.shared.u32 %v, [%j];\n" TAKE TAIL},
    {"an address that the lanes of one side change, and those of a side in it",
     HEAD "mad.lo.u32 %i, %t, 4, %m; st.shared.u32 [%i], %t; bar.sync 0; setp.ge.u32 %p, %t, 20;\n"
          "@%p bra over; ld.shared.u32 %v, [%i];\n" TAKE "add.u32 %i, %i, 4;\n"
          "ld.shared.u32 %v, [%i]; setp.ge.u32 %q, %t, 9; @%q bra in; sub.u32 %i, %i, 4;\n"
          "in:" TAKE "ld.shared.u32 %v, [%i];\n" TAKE
          "st.shared.u32 [%i], %s;\nover: ld.shared.u32 %v, [%i];\n" TAKE TAIL},
    {"lanes that have moved their addresses on unequally often, and meet at barriers",
     HEAD "mad.lo.u32 %i, %x, 4, %m; st.shared.u32 [%i], %t; bar.sync 0; and.b32 %j, %x, 3;\n"
          "more: mov.u32 %v, %j;\nin: add.u32 %i, %i, 4; setp.eq.u32 %p, %v, 0; @%p bra met;\n"
          "sub.u32 %v, %v, 1; bra.uni in;\nmet: bar.sync 0; ld.shared.u32 %v, [%i];\n" TAKE
          "bar.sync 0; st.shared.u32 [%i], %s; bar.sync 0;\n" ROUND TAIL},
    {"the same, in the last round only: the steps before were right",
     HEAD "mad.lo.u32 %i, %x, 4, %m; st.shared.u32 [%i], %t; bar.sync 0; mov.u32 %j, 0;\n"
          "more: mov.u32 %v, %j;\nin: add.u32 %i, %i, 4; setp.eq.u32 %p, %v, 0; @%p bra met;\n"
          "sub.u32 %v, %v, 1; bra.uni in;\nmet: bar.sync 0; ld.shared.u32 %v, [%i];\n" TAKE
          "bar.sync 0; st.shared.u32 [%i], %s; bar.sync 0; setp.eq.u32 %p, %n, 2;\n"
          "@%p and.b32 %j, %t, 3;\n" ROUND TAIL},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

/* The first shape that runs decides whether strides are taken over a warp or over half a warp. */
static const uint32_t shapes[][3] = {{96, 1, 1}, {32, 3, 1}, {16, 6, 1}, {8, 12, 1}, {24, 4, 1},
                                     {20, 3, 1}, {1, 40, 1}, {4, 4, 6},  {19, 1, 1}, {64, 2, 1}};
enum { SHAPES = sizeof shapes / sizeof *shapes, A_WARP = 0, A_HALF = 2 };

struct answer {
    uint32_t words[WORDS], data[WORDS];
    struct exec_counts counts;
    enum exec_end end;
    struct exec_fault fault;
    size_t races;
    uint32_t lines[MOST][2];                                          /* of both accesses */
    uint64_t marks[EXEC_ACCESS_COUNT][sizeof(uint32_t) * WORDS / 64]; /* of `data` */
};

static void keep_marks(struct answer *answer, const struct exec_footprint *footprint, uint64_t data)
{
    for (size_t k = 0; k < exec_footprint_region_count(footprint); k++) {
        const struct exec_footprint_region *at = exec_footprint_region_at(footprint, k);
        for (int access = 0; access < EXEC_ACCESS_COUNT; access++)
            if (at->region->address == data && at->bits[access] != NULL)
                memcpy(answer->marks[access], at->bits[access], sizeof *answer->marks);
    }
}

/* Each launch begins with the same memory. `marked`: it records its footprint. */
static void run(const struct exec_program *program, const uint32_t block[3], bool watched,
                bool marked, struct answer *answer)
{
    void *bytes, *data;
    device_reset();
    *answer = (struct answer){.end = EXEC_DONE};
    for (size_t k = 0; k < WORDS; k++) answer->data[k] = (uint32_t)k * 2654435761u;
    const uint64_t out = device_buffer(sizeof answer->words, &bytes);
    const uint64_t parameters[] = {out, device_buffer_of(answer->data, sizeof answer->data, &data)};
    struct device_run one = {.program = program,
                             .name = "k",
                             .blocks = 1,
                             .block = {block[0], block[1], block[2]},
                             .parameters = parameters,
                             .footprint = marked ? exec_footprint_create(NULL, NULL) : NULL,
                             .watch = watched ? exec_racecheck_create() : NULL};
    answer->end = device_launch(&one);
    answer->counts = one.counts;
    memcpy(answer->words, bytes, sizeof answer->words);
    memcpy(answer->data, data, sizeof answer->data);
    answer->fault = one.fault;
    if (marked) keep_marks(answer, one.footprint, parameters[1]);
    answer->races = watched ? exec_racecheck_count(one.watch) : 0;
    for (size_t k = 0; k < answer->races && k < MOST; k++) {
        answer->lines[k][0] = exec_racecheck_at(one.watch, k)->first.line;
        answer->lines[k][1] = exec_racecheck_at(one.watch, k)->second.line;
    }
    exec_racecheck_destroy(one.watch);
    exec_footprint_destroy(one.footprint);
}

static struct exec_program *program_of(size_t kernel, enum exec_native_use use, bool watched)
{
    const char *ptx = kernels[kernel].ptx;
    exec_native_use(use);
    return watched ? device_program_watched(ptx) : device_program(ptx);
}

static void compare(const struct answer *rows, const struct answer *code, const char *what,
                    const uint32_t block[3])
{
    ck_assert_msg(!memcmp(rows->words, code->words, sizeof rows->words),
                  "%s, %u x %u x %u: other answers", what, block[0], block[1], block[2]);
    ck_assert_msg(!memcmp(rows->data, code->data, sizeof rows->data),
                  "%s, %u x %u x %u: other data", what, block[0], block[1], block[2]);
    ck_assert_msg(!memcmp(&rows->counts, &code->counts, sizeof rows->counts),
                  "%s, %u x %u x %u: other counts", what, block[0], block[1], block[2]);
    ck_assert_msg(!memcmp(rows->marks, code->marks, sizeof rows->marks),
                  "%s, %u x %u x %u: another footprint", what, block[0], block[1], block[2]);
    ck_assert_uint_eq(rows->races, code->races);
    ck_assert_mem_eq(rows->lines, code->lines, sizeof rows->lines);
    ck_assert_int_eq(rows->end, code->end);
    if (rows->end == EXEC_DONE) return;
    ck_assert_uint_eq(rows->fault.line, code->fault.line);
    ck_assert_mem_eq(rows->fault.thread, code->fault.thread, sizeof rows->fault.thread);
}

/* Runs twice: code for strides other than the guessed ones is compiled when they first occur. With
 * racecheck and without; then the second time with a footprint. */
START_TEST(steps_change_nothing)
{
    const size_t kernel = (size_t)_i / 4, first = _i % 4 < 2 ? A_WARP : A_HALF;
    const bool watched = _i % 2 != 0;
    struct exec_program *rows = program_of(kernel, EXEC_NATIVE_OFF, watched);
    struct exec_program *code = program_of(kernel, EXEC_NATIVE_ALWAYS, watched);
    for (size_t k = 0; k < 2 * SHAPES; k++) {
        static struct answer expected, found;
        const uint32_t *shape = shapes[(first + k) % SHAPES];
        const bool marked = watched || k / SHAPES != 0;
        run(rows, shape, watched, marked, &expected);
        run(code, shape, watched, marked, &found);
        compare(&expected, &found, kernels[kernel].what, shape);
    }
    ck_assert_msg(exec_native_stretches(code) > 0, "%s: nothing was compiled",
                  kernels[kernel].what);
    exec_program_destroy(rows);
    exec_program_destroy(code);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("exec native steps");
    TCase *tests = tcase_create("steps");
    tcase_add_loop_test(tests, steps_change_nothing, 0, 4 * KERNELS);
    suite_add_tcase(suite, tests);
    return device_native_main(suite);
}
