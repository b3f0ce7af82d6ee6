/* Barriers, shared memory, calls, recursion, function pointers, branch tables, local arrays,
 * stacks: hand-written kernels, each with several sets of constants and inputs. */
#include "tests/differential/differential.h"

#include <stdio.h>
#include <string.h>

enum { THREADS = 96, BLOCKS = 3, IN = 64, OUT = 32, SEEDS = 4 };

/* In a text: `$k` the kernel's name, `$1` .. `$4` constants below 1000, `$5` .. `$8` below 8. In
 * the body, %t is the thread, %i its number in the grid, %in its IN bytes of input, %out its OUT
 * bytes of output; %r, %l, %f, %z, %h, %p are registers of 32, 64, 32, 64, 16 bits and predicates.
 */
static const struct {
    const char *name, *before, *body;
} kernels[] = {
    {"bar.exchange", "",
     ".shared .align 4 .b32 s[96]; mov.u32 %r0, s; mad.lo.u32 %r1, %t, 4, %r0;"
     "ld.global.u32 %r2, [%in]; st.shared.u32 [%r1], %r2; bar.sync $5;"
     "add.u32 %r3, %t, $1; rem.u32 %r3, %r3, 96; mad.lo.u32 %r3, %r3, 4, %r0;"
     "ld.shared.u32 %r4, [%r3]; st.global.u32 [%out], %r4;"},
    {"bar.many", "",
     ".shared .align 4 .b32 s[96]; mov.u32 %r0, s; mad.lo.u32 %r1, %t, 4, %r0;"
     "ld.global.u32 %r2, [%in]; mov.u32 %r5, 0;"
     "AGAIN: st.shared.u32 [%r1], %r2; bar.sync 0; mad.lo.u32 %r3, %t, $1, %r5;"
     "rem.u32 %r3, %r3, 96; mad.lo.u32 %r3, %r3, 4, %r0; ld.shared.u32 %r4, [%r3];"
     "mad.lo.u32 %r2, %r2, 3, %r4; bar.sync 0; add.u32 %r5, %r5, 1; setp.lt.u32 %p0, %r5, 9;"
     "@%p0 bra AGAIN; st.global.u32 [%out], %r2;"},
    {"bar.warps", "", /* two warps meet at one barrier, the third at another */
     ".shared .align 4 .b32 s[96]; mov.u32 %r0, s; mad.lo.u32 %r1, %t, 4, %r0;"
     "ld.global.u32 %r2, [%in]; st.shared.u32 [%r1], %r2; setp.lt.u32 %p0, %t, 64;"
     "@!%p0 bra OTHER; bar.sync 1, 64; xor.b32 %r3, %t, 33; mad.lo.u32 %r3, %r3, 4, %r0;"
     "ld.shared.u32 %r4, [%r3]; bra DONE; OTHER: bar.sync 2, 32; xor.b32 %r3, %t, $5;"
     "mad.lo.u32 %r3, %r3, 4, %r0; ld.shared.u32 %r4, [%r3]; add.u32 %r4, %r4, $1;"
     "DONE: st.global.u32 [%out], %r4;"},
    {"bar.arrive", "", /* one warp produces, two consume */
     ".shared .align 4 .b32 s[32]; mov.u32 %r0, s; and.b32 %r5, %t, 31;"
     "mad.lo.u32 %r1, %r5, 4, %r0; ld.global.u32 %r2, [%in]; setp.ge.u32 %p0, %t, 32;"
     "@%p0 bra TAKE; st.shared.u32 [%r1], %r2; bar.arrive 3, 96; bra DONE; TAKE: bar.sync 3, 96;"
     "xor.b32 %r3, %r5, $5; mad.lo.u32 %r3, %r3, 4, %r0; ld.shared.u32 %r4, [%r3];"
     "mad.lo.u32 %r2, %r2, $1, %r4; DONE: st.global.u32 [%out], %r2;"},
    {"bar.red", "",
     "ld.global.u32 %r2, [%in]; and.b32 %r3, %r2, $5; setp.ne.u32 %p0, %r3, 0;"
     "bar.red.popc.u32 %r4, 0, %p0; bar.red.and.pred %p1, 0, %p0; bar.red.or.pred %p2, 0, %p0;"
     "bar.red.popc.u32 %r5, 1, 96, !%p0; selp.u32 %r6, 1, 0, %p1; selp.u32 %r7, 1, 0, %p2;"
     "st.global.v4.u32 [%out], {%r4, %r5, %r6, %r7};"},
    {"barrier.unaligned", "", /* each branch has its own barrier instruction */
     ".shared .align 4 .b32 s[96]; mov.u32 %r0, s; mad.lo.u32 %r1, %t, 4, %r0;"
     "ld.global.u32 %r2, [%in]; st.shared.u32 [%r1], %r2; and.b32 %r3, %t, $6;"
     "setp.eq.u32 %p0, %r3, 0; @%p0 bra ONE; barrier.sync 0; bra BOTH; ONE: barrier.sync 0;"
     "BOTH: sub.u32 %r3, 95, %t; mad.lo.u32 %r3, %r3, 4, %r0; ld.shared.u32 %r4, [%r3];"
     "st.global.u32 [%out], %r4;"},
    {"bar.exited", "", /* exited threads are not waited for */
     ".shared .align 4 .b32 s[96]; mov.u32 %r0, s; mad.lo.u32 %r1, %t, 4, %r0;"
     "ld.global.u32 %r2, [%in]; st.shared.u32 [%r1], %r2; setp.ge.u32 %p0, %t, 64;"
     "@%p0 exit; bar.sync 0; xor.b32 %r3, %t, $5; mad.lo.u32 %r3, %r3, 4, %r0;"
     "ld.shared.u32 %r4, [%r3]; st.global.u32 [%out], %r4;"},
    {"scan", "",
     ".shared .align 4 .b32 s[96]; mov.u32 %r0, s; mad.lo.u32 %r1, %t, 4, %r0;"
     "ld.global.u32 %r2, [%in]; st.shared.u32 [%r1], %r2; bar.sync 0; mov.u32 %r5, 1;"
     "STEP: sub.u32 %r3, %t, %r5; setp.ge.s32 %p0, %r3, 0; mov.u32 %r4, 0;"
     "mad.lo.u32 %r6, %r3, 4, %r0; @%p0 ld.shared.u32 %r4, [%r6]; bar.sync 0;"
     "add.u32 %r2, %r2, %r4; st.shared.u32 [%r1], %r2; bar.sync 0; shl.b32 %r5, %r5, 1;"
     "setp.lt.u32 %p1, %r5, 96; @%p1 bra STEP; st.global.u32 [%out], %r2;"},
    {"call.types",
     ".func (.param .b64 r) $k_f(.param .b8 a, .param .b16 b, .param .b32 c, .param .b64 d, .param "
     ".f32 e, .param .f64 f) { .reg .b16 %h<2>; .reg .b32 %x<3>; .reg .b64 %y<3>; .reg .f32 %e; "
     ".reg .f64 %f; ld.param.s8 %h0, [a]; ld.param.u16 %h1, [b]; ld.param.u32 %x0, [c];"
     "ld.param.u64 %y0, [d]; ld.param.f32 %e, [e]; ld.param.f64 %f, [f]; mul.wide.s16 %x1, %h0, "
     "%h1;"
     "add.u32 %x0, %x0, %x1; mov.b32 %x2, %e; xor.b32 %x0, %x0, %x2; mov.b64 %y1, %f;"
     "add.u64 %y0, %y0, %y1; cvt.u64.u32 %y2, %x0; xor.b64 %y0, %y0, %y2; st.param.b64 [r], %y0; "
     "ret; }",
     "ld.global.u16 %h0, [%in]; ld.global.u16 %h1, [%in+2]; ld.global.u32 %r0, [%in+4];"
     "ld.global.u64 %l0, [%in+8]; ld.global.u32 %f0, [%in+16]; ld.global.u64 %z0, [%in+24];"
     "{ .param .b8 a; .param .b16 b; .param .b32 c; .param .b64 d; .param .f32 e; .param .f64 f; "
     ".param .b64 r; st.param.b8 [a], %h0; st.param.b16 [b], %h1; st.param.b32 [c], %r0;"
     "st.param.b64 [d], %l0; st.param.f32 [e], %f0; st.param.f64 [f], %z0;"
     "call.uni (r), $k_f, (a, b, c, d, e, f); ld.param.b64 %l1, [r]; }"
     "st.global.u64 [%out], %l1;"},
    {"call.struct",
     ".func (.param .align 8 .b8 r[24]) $k_f(.param .align 8 .b8 a[24], .param .b32 n) { .reg .b32 "
     "%x<4>; .reg .b64 %y<3>; ld.param.u64 %y0, [a]; ld.param.u32 %x0, [a+8]; ld.param.u8 %x1, "
     "[a+12]; ld.param.u64 %y1, [a+16]; ld.param.u32 %x2, [n]; add.u64 %y0, %y0, %y1;"
     "mad.lo.u32 %x0, %x0, %x2, %x1; st.param.u64 [r], %y0; st.param.u32 [r+8], %x0;"
     "st.param.u32 [r+12], %x1; sub.u64 %y1, %y1, $1; st.param.u64 [r+16], %y1; ret; }",
     "ld.global.u64 %l0, [%in]; ld.global.u64 %l1, [%in+8]; ld.global.u64 %l2, [%in+16];"
     "{ .param .align 8 .b8 a[24]; .param .b32 n; .param .align 8 .b8 r[24];"
     "st.param.b64 [a], %l0; st.param.b64 [a+8], %l1; st.param.b64 [a+16], %l2;"
     "st.param.b32 [n], %t; call.uni (r), $k_f, (a, n); ld.param.b64 %l3, [r];"
     "ld.param.b64 %l4, [r+8]; ld.param.b64 %l5, [r+16]; } st.global.u64 [%out], %l3;"
     "st.global.u64 [%out+8], %l4; st.global.u64 [%out+16], %l5;"},
    {"call.vector",
     ".func (.param .align 16 .b8 r[16]) $k_f(.param .align 16 .b8 a[16]) { .reg .b32 %x<4>; "
     "ld.param.v4.u32 {%x0, %x1, %x2, %x3}, [a]; st.param.v4.b32 [r], {%x3, %x0, %x2, %x1}; ret; }",
     "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%in]; { .param .align 16 .b8 a[16]; .param .align 16 "
     ".b8 r[16]; st.param.v2.b32 [a], {%r0, %r1}; st.param.v2.b32 [a+8], {%r2, %r3};"
     "call.uni (r), $k_f, (a); ld.param.v4.b32 {%r4, %r5, %r6, %r7}, [r]; }"
     "st.global.v4.u32 [%out], {%r4, %r5, %r6, %r7};"},
    {"call.fibonacci",
     ".func (.param .b32 r) $k_f(.param .b32 a) { .reg .b32 %x<4>; .reg .pred %p; ld.param.u32 "
     "%x0, "
     "[a]; setp.lt.u32 %p, %x0, 2; @%p bra SMALL; sub.u32 %x1, %x0, 1; { .param .b32 b; .param "
     ".b32 "
     "s; st.param.b32 [b], %x1; call (s), $k_f, (b); ld.param.b32 %x2, [s]; } sub.u32 %x1, %x0, 2; "
     "{ .param .b32 b; .param .b32 s; st.param.b32 [b], %x1; call (s), $k_f, (b); ld.param.b32 "
     "%x3, "
     "[s]; } add.u32 %x2, %x2, %x3; st.param.b32 [r], %x2; ret; SMALL: add.u32 %x0, %x0, $1; "
     "st.param.b32 [r], %x0; ret; }",
     "ld.global.u32 %r0, [%in]; and.b32 %r0, %r0, 7; { .param .b32 a; .param .b32 r; st.param.b32 "
     "[a], %r0; call (r), $k_f, (a); ld.param.b32 %r1, [r]; } st.global.u32 [%out], %r1;"},
    {"call.mutual",
     ".func (.param .b32 r) $k_g(.param .b32 a, .param .b32 b); .func (.param .b32 r) $k_f(.param "
     ".b32 a, .param .b32 b) { .reg .b32 %x<4>; .reg .pred %p; ld.param.u32 %x0, [a]; ld.param.u32 "
     "%x1, [b]; setp.eq.u32 %p, %x0, 0; @%p bra END; sub.u32 %x0, %x0, 1; mad.lo.u32 %x1, %x1, 3, "
     "$1; { .param .b32 c; .param .b32 d; .param .b32 s; st.param.b32 [c], %x0; st.param.b32 [d], "
     "%x1; call (s), $k_g, (c, d); ld.param.b32 %x2, [s]; } xor.b32 %x1, %x1, %x2; END: "
     "st.param.b32 [r], %x1; ret; } .func (.param .b32 r) $k_g(.param .b32 a, .param .b32 b) { "
     ".reg "
     ".b32 %x<4>; .reg .pred %p; ld.param.u32 %x0, [a]; ld.param.u32 %x1, [b]; setp.lt.u32 %p, "
     "%x0, "
     "2; @%p bra END; sub.u32 %x0, %x0, 2; add.u32 %x1, %x1, $2; { .param .b32 c; .param .b32 d; "
     ".param .b32 s; st.param.b32 [c], %x0; st.param.b32 [d], %x1; call (s), $k_f, (c, d); "
     "ld.param.b32 %x2, [s]; } mad.lo.u32 %x1, %x1, 5, %x2; END: st.param.b32 [r], %x1; ret; }",
     "ld.global.u32 %r0, [%in]; and.b32 %r0, %r0, 15; { .param .b32 a; .param .b32 b; .param .b32 "
     "r; st.param.b32 [a], %r0; st.param.b32 [b], %t; call (r), $k_f, (a, b); ld.param.b32 %r1, "
     "[r]; } st.global.u32 [%out], %r1;"},
    {"call.pointer",
     ".func (.param .b32 r) $k_a(.param .b32 a) { .reg .b32 %x; ld.param.u32 %x, [a]; mad.lo.u32 "
     "%x, %x, $1, 7; st.param.b32 [r], %x; ret; } .func (.param .b32 r) $k_b(.param .b32 a) { .reg "
     ".b32 %x; ld.param.u32 %x, [a]; xor.b32 %x, %x, $2; st.param.b32 [r], %x; ret; } .func "
     "(.param .b32 r) $k_c(.param .b32 a) { .reg .b32 %x; ld.param.u32 %x, [a]; brev.b32 %x, %x; "
     "st.param.b32 [r], %x; ret; } .global .align 8 .u64 $k_table[4] = {$k_a, $k_b, $k_c, $k_b};",
     "ld.global.u32 %r0, [%in]; and.b32 %r1, %r0, 3; mov.u64 %l0, $k_table; mad.wide.u32 %l0, %r1, "
     "8, %l0; ld.global.u64 %l1, [%l0]; { .param .b32 a; .param .b32 r; st.param.b32 [a], %r0; "
     "prototype: .callprototype (.param .b32 _) _ (.param .b32 _); call (r), %l1, (a), prototype; "
     "ld.param.b32 %r2, [r]; } st.global.u32 [%out], %r2;"},
    {"call.divergent",
     ".func (.param .b32 r) $k_f(.param .b32 a) { .reg .b32 %x<3>; .reg .pred %p; ld.param.u32 "
     "%x0, "
     "[a]; mov.u32 %x1, 0; AGAIN: and.b32 %x2, %x0, $3; setp.eq.u32 %p, %x2, 0; @%p bra OUT; "
     "shr.u32 %x0, %x0, 1; add.u32 %x1, %x1, 1; setp.lt.u32 %p, %x1, 9; @%p bra AGAIN; OUT: "
     "st.param.b32 [r], %x1; ret; }",
     "ld.global.u32 %r0, [%in]; and.b32 %r1, %r0, 1; setp.eq.u32 %p0, %r1, 0; mov.u32 %r2, 77; "
     "@%p0 bra SKIP; { .param .b32 a; .param .b32 r; st.param.b32 [a], %r0; call (r), $k_f, (a); "
     "ld.param.b32 %r2, [r]; } SKIP: xor.b32 %r0, %r0, $1; { .param .b32 a; .param .b32 r; "
     "st.param.b32 [a], %r0; call (r), $k_f, (a); ld.param.b32 %r3, [r]; } st.global.v2.u32 "
     "[%out], "
     "{%r2, %r3};"},
    {"table.bytes",
     ".const .align 4 .b32 $k_c[8] = {$1, $2, $3, $4, $5, $6, $7, $8}; .global .align 4 .b8 "
     "$k_g[8] "
     "= {$5, 0x80, 0xff, $6, 1, 2, 3, $7};",
     "ld.global.u32 %r0, [%in]; and.b32 %r1, %r0, 7; mov.u64 %l0, $k_c; mad.wide.u32 %l0, %r1, 4, "
     "%l0; ld.const.u32 %r2, [%l0]; ld.const.u32 %r3, [$k_c+12]; mov.u64 %l1, $k_g; cvt.u64.u32 "
     "%l2, %r1; add.u64 %l1, %l1, %l2; ld.global.s8 %r4, [%l1]; ld.global.u16 %r5, [$k_g+2]; "
     "st.global.v4.u32 [%out], {%r2, %r3, %r4, %r5};"},
    {"branch.table", "",
     "ld.global.u32 %r0, [%in]; rem.u32 %r1, %r0, 5; mov.u32 %r2, $1; JUMP: .branchtargets A, B, "
     "C, "
     "D, B; brx.idx %r1, JUMP; A: add.u32 %r2, %r2, 1; B: mul.lo.u32 %r2, %r2, 3; bra END; C: "
     "xor.b32 %r2, %r2, %r0; D: sub.u32 %r2, %r2, $2; END: st.global.u32 [%out], %r2;"},
    {"branch.collatz", "",
     "ld.global.u32 %r0, [%in]; and.b32 %r0, %r0, 63; add.u32 %r0, %r0, $5; max.u32 %r0, %r0, 1; "
     "mov.u32 %r1, 0; NEXT: setp.eq.u32 %p0, %r0, 1; @%p0 bra END; and.b32 %r2, %r0, 1; "
     "setp.ne.u32 "
     "%p1, %r2, 0; @%p1 bra ODD; shr.u32 %r0, %r0, 1; bra COUNT; ODD: mad.lo.u32 %r0, %r0, 3, 1; "
     "COUNT: add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 200; @%p2 bra NEXT; END: st.global.u32 "
     "[%out], %r1; activemask.b32 %r3;"},
    {"branch.nested", "",
     "ld.global.u32 %r0, [%in]; and.b32 %r1, %r0, 7; mov.u32 %r2, 0; OUTER: and.b32 %r3, %r0, 3; "
     "INNER: mad.lo.u32 %r2, %r2, 31, %r3; shr.u32 %r0, %r0, 1; setp.eq.u32 %p0, %r2, $1; @%p0 bra "
     "END; sub.u32 %r3, %r3, 1; setp.ge.s32 %p1, %r3, 0; @%p1 bra INNER; and.b32 %r4, %r0, $6; "
     "setp.eq.u32 %p2, %r4, 0; @%p2 bra SKIP; add.u32 %r2, %r2, %t; SKIP: sub.u32 %r1, %r1, 1; "
     "setp.ge.s32 %p1, %r1, 0; @%p1 bra OUTER; END: st.global.u32 [%out], %r2;"},
    {"branch.early", "",
     "ld.global.u32 %r0, [%in]; and.b32 %r1, %r0, 3; setp.eq.u32 %p0, %r1, 0; st.global.u32 "
     "[%out], "
     "%r0; @%p0 exit; setp.eq.u32 %p1, %r1, 1; st.global.u32 [%out+4], %r1; @%p1 ret; "
     "mov.u32 %r2, $1; st.global.u32 [%out+8], %r2;"},
    {"local.array", "",
     ".local .align 16 .b8 a[128]; mov.u64 %l0, a; ld.global.u32 %r0, [%in]; mov.u32 %r1, 0; FILL: "
     "mad.wide.u32 %l1, %r1, 4, %l0; mad.lo.u32 %r2, %r1, $1, %r0; st.local.u32 [%l1], %r2; "
     "add.u32 "
     "%r1, %r1, 1; setp.lt.u32 %p0, %r1, 32; @%p0 bra FILL; and.b32 %r3, %r0, 31; mad.wide.u32 "
     "%l1, "
     "%r3, 4, %l0; ld.local.u32 %r4, [%l1]; ld.local.s8 %r5, [%l1+1]; cvta.local.u64 %l2, %l1; "
     "ld.u32 %r6, [%l2]; ld.local.v4.u32 {%r7, %r8, %r9, %r10}, [%l0+16]; xor.b32 %r7, %r7, %r10; "
     "st.global.v4.u32 [%out], {%r4, %r5, %r6, %r7};"},
    {"local.alloca", "",
     "ld.global.u32 %r0, [%in]; and.b32 %r1, %r0, 15; add.u32 %r1, %r1, 2; stacksave.u64 %l5; "
     "mul.wide.u32 %l1, %r1, 8; add.u64 %l1, %l1, 8; and.b64 %l1, %l1, -16; add.u64 %l1, %l1, 16; "
     "alloca.u64 %l0, %l1, 16; cvt.u64.u32 %l2, %r0; st.local.u64 [%l0], %l2; mul.wide.u32 %l3, "
     "%r1, 8; add.u64 %l3, %l3, %l0; add.u64 %l2, %l2, $1; st.local.u64 [%l3], %l2; ld.local.u64 "
     "%l4, [%l0]; ld.local.u64 %l2, [%l3]; stackrestore.u64 %l5; st.global.u64 [%out], %l4; "
     "st.global.u64 [%out+8], %l2;"},
    {"pack.unpack", "",
     "ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%in]; mov.b32 {%h0, %h1}, %r0; mov.b32 "
     "%r4, {%h1, %h0}; mov.b64 %l0, {%r1, %r2}; mov.b64 {%h2, %h3, %h4, %h5}, %l0; "
     "mov.b64 %l1, {%h5, %h2, %h4, %h3}; mov.b64 {%r5, _}, %l1; mov.b64 {_, %r6}, %l1; mov.b16 "
     "%h6, "
     "$1; mov.b32 %r7, {%h6, %h3}; st.global.v4.u32 [%out], {%r4, %r5, %r6, %r7};"},
    {"space", "",
     ".shared .align 4 .b32 s[4]; .local .align 4 .b8 a[16]; mov.u64 %l0, s; cvta.shared.u64 %l1, "
     "%l0; mov.u64 %l2, a; cvta.local.u64 %l3, %l2; isspacep.shared %p0, %l1; isspacep.local %p1, "
     "%l1; isspacep.global %p2, %l1; isspacep.local %p3, %l3; isspacep.global %p4, %l3; "
     "isspacep.global %p5, %out; isspacep.shared %p6, %out; selp.u32 %r0, 1, 0, %p0; selp.u32 %r1, "
     "2, %r0, %p1; selp.u32 %r2, 4, 0, %p2; or.b32 %r1, %r1, %r2; selp.u32 %r2, 8, 0, %p3; or.b32 "
     "%r1, %r1, %r2; selp.u32 %r2, 16, 0, %p4; or.b32 %r1, %r1, %r2; selp.u32 %r2, 32, 0, %p5; "
     "or.b32 %r1, %r1, %r2; selp.u32 %r2, 64, 0, %p6; or.b32 %r1, %r1, %r2; cvta.to.shared.u64 "
     "%l4, "
     "%l1; sub.u64 %l4, %l4, %l0; cvt.u32.u64 %r3, %l4; st.global.v2.u32 [%out], {%r1, %r3};"},
    {"cp.async", "",
     ".shared .align 16 .b8 s[1536]; mov.u32 %r0, s; mad.lo.u32 %r1, %t, 16, %r0; "
     "cp.async.cg.shared.global [%r1], [%in], 16; cp.async.commit_group; cp.async.wait_group 0; "
     "bar.sync 0; xor.b32 %r2, %t, $5; mad.lo.u32 %r2, %r2, 16, %r0; ld.shared.v4.u32 {%r3, %r4, "
     "%r5, %r6}, [%r2]; bar.sync 0; cp.async.ca.shared.global [%r1], [%in+16], 8, 4; "
     "cp.async.ca.shared.global [%r1+8], [%in+24], 4; cp.async.wait_all; ld.shared.v2.u32 {%r7, "
     "%r8}, [%r1]; ld.shared.u32 %r9, [%r1+8]; st.global.v4.u32 [%out], {%r3, %r4, %r5, %r6}; "
     "st.global.v2.u32 [%out+16], {%r7, %r8}; st.global.u32 [%out+24], %r9;"},
    {"spin.lock", "", /* a lock of the block, taken by every thread in turn */
     ".shared .align 4 .b32 lock; .shared .align 4 .b32 sum; setp.eq.u32 %p0, %t, 0; @%p0 "
     "st.shared.u32 [lock], 0; @%p0 st.shared.u32 [sum], $1; bar.sync 0; ld.global.u32 %r0, [%in]; "
     "TRY: atom.shared.cas.b32 %r1, [lock], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra TRY; "
     "ld.volatile.shared.u32 %r2, [sum]; add.u32 %r2, %r2, %r0; st.volatile.shared.u32 [sum], %r2; "
     "membar.cta; atom.shared.exch.b32 %r3, [lock], 0; bar.sync 0; ld.shared.u32 %r4, [sum]; "
     "st.global.u32 [%out], %r4;"},
};

enum { KERNELS = sizeof kernels / sizeof *kernels };

static void expand(const char *from, const char *kernel, const unsigned *constants,
                   struct diff_text *text)
{
    for (; *from; from++) {
        if (*from == '$' && from[1] == 'k')
            diff_add(text, "%s", kernel), from++;
        else if (*from == '$')
            diff_add(text, "%u", constants[*++from - '1']);
        else if (*from == ';')
            diff_add(text, ";\n");
        else
            diff_add(text, "%c", *from);
    }
}

static void write(const struct diff_case *one, const char *kernel, struct diff_text *text)
{
    struct diff_random random = diff_case_random(one, "constants");
    unsigned constants[8];
    for (unsigned k = 0; k < 8; k++) constants[k] = diff_below(&random, k < 4 ? 1000 : 8);
    expand(kernels[one->number].before, kernel, constants, text);
    diff_add(text,
             "\n.visible .entry %s(.param .u64 p_in, .param .u64 p_out) {\n"
             ".reg .b64 %%in, %%out, %%l<8>, %%z<4>;\n.reg .b32 %%i, %%t, %%n, %%r<12>, %%f<4>;\n"
             ".reg .b16 %%h<8>;\n.reg .pred %%p<8>;\n"
             "ld.param.u64 %%in, [p_in];\nld.param.u64 %%out, [p_out];\nmov.u32 %%i, %%ctaid.x;\n"
             "mov.u32 %%n, %%ntid.x;\nmov.u32 %%t, %%tid.x;\nmad.lo.u32 %%i, %%i, %%n, %%t;\n"
             "mad.wide.u32 %%in, %%i, %d, %%in;\nmad.wide.u32 %%out, %%i, %d, %%out;\n",
             kernel, IN, OUT);
    expand(kernels[one->number].body, kernel, constants, text);
    diff_add(text, "\nret;\n}\n");
}

void diff_control_cases(struct diff_cases *cases)
{
    for (unsigned k = 0; k < KERNELS; k++) {
        for (unsigned seed = 0; seed < SEEDS; seed++) {
            struct diff_case *one = diff_new(cases, "%s/%u", kernels[k].name, seed);
            one->write = write;
            one->fill = diff_fill_random;
            one->number = k;
            one->blocks = BLOCKS;
            one->threads = THREADS;
            one->in_bytes = BLOCKS * THREADS * IN;
            one->stride = OUT;
            one->out_bytes = BLOCKS * THREADS * OUT;
        }
    }
}
