/* The parts of the toolkit's device runtime (libcudadevrt) that programs link against, as PTX,
 * since the toolkit has them as machine code only: grid-wide synchronisation, the conditions of
 * graphs, whose handles are addresses (graph/conditional.c), and fills that kernels ask for, which
 * are kernels that they launch (work/device_runtime.c). What is in neither place is reported by
 * name when it is called.
 *
 * Source: cuda_device_runtime_api.h; cooperative_groups/details/sync.h, which defines the barrier:
 * it is at byte 4 of the grid's workspace, whose address is in %envreg1 and %envreg2. Without a
 * cooperative launch the handle is 0, and a wait returns cudaErrorUnknown, as on an H200. */
#include "emulator/driver/module/parts.h"

#include <string.h>

static const char grid_text[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope) {\n"
    ".reg .pred %p; .reg .b32 %s, %high, %low; .reg .b64 %h;\n"
    "ld.param.u32 %s, [scope]; mov.u32 %high, %envreg1; mov.u32 %low, %envreg2;\n"
    "mov.b64 %h, {%low, %high}; setp.eq.s32 %p, %s, 1; selp.b64 %h, %h, 0, %p;\n"
    "st.param.b64 [handle], %h; ret; }\n"
    ".visible .func (.param .b32 error) cudaCGSynchronizeGrid(\n"
    "    .param .b64 handle, .param .b32 flags) {\n"
    ".reg .pred %p; .reg .b32 %e, %a, %b, %old, %now; .reg .b64 %h;\n"
    "ld.param.u64 %h, [handle]; mov.u32 %e, 999; setp.eq.s64 %p, %h, 0; @%p bra DONE;\n"
    "add.s64 %h, %h, 4; mov.u32 %e, 0; barrier.sync 0;\n"
    "mov.u32 %a, %tid.x; mov.u32 %b, %tid.y; or.b32 %a, %a, %b;\n"
    "mov.u32 %b, %tid.z; or.b32 %a, %a, %b; setp.ne.u32 %p, %a, 0; @%p bra TOGETHER;\n"
    "mov.u32 %a, %nctaid.x; mov.u32 %b, %nctaid.y; mul.lo.u32 %now, %a, %b;\n"
    "mov.u32 %b, %nctaid.z; mul.lo.u32 %now, %now, %b; sub.u32 %now, 0x80000001, %now;\n"
    "mov.u32 %a, %ctaid.x; mov.u32 %b, %ctaid.y; or.b32 %a, %a, %b;\n"
    "mov.u32 %b, %ctaid.z; or.b32 %a, %a, %b; setp.eq.u32 %p, %a, 0;\n"
    "selp.b32 %now, %now, 1, %p; atom.add.release.gpu.u32 %old, [%h], %now;\n"
    "AGAIN: ld.acquire.gpu.u32 %now, [%h]; xor.b32 %now, %now, %old;\n"
    "setp.ge.s32 %p, %now, 0; @%p bra AGAIN;\n"
    "TOGETHER: barrier.sync 0;\n"
    "DONE: st.param.b32 [error], %e; ret; }\n"
    ".visible .func (.param .b32 error) cudaCGSynchronize(\n"
    "    .param .b64 handle, .param .b32 flags) {\n"
    ".reg .b32 %e, %f; .reg .b64 %h; ld.param.u64 %h, [handle]; ld.param.u32 %f, [flags];\n"
    "{ .param .b64 h; .param .b32 f; .param .b32 e; st.param.b64 [h], %h; st.param.b32 [f], %f;\n"
    "call.uni (e), cudaCGSynchronizeGrid, (h, f); ld.param.b32 %e, [e]; }\n"
    "st.param.b32 [error], %e; ret; }\n";

static const char condition_text[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value) {\n"
    ".reg .b32 %v; .reg .b64 %h; ld.param.u64 %h, [handle]; ld.param.u32 %v, [value];\n"
    "st.global.u32 [%h], %v; ret; }\n";

/* The one for code with a default stream per thread has the same fill. A value that is not 0 is
 * refused by name: with the libcudadevrt of CUDA 13.0, an H200 writes 0 whatever the value is. */
#define MEMSET(suffix)                                                                             \
    ".visible .func (.param .b32 error) __cudaCDP2MemsetAsync" suffix                              \
    "(\n    .param .b64 to, .param .b32 value, .param .b64 bytes, .param .b64 stream) {\n"         \
    ".reg .pred %p; .reg .b32 %e, %v, %n; .reg .b64 %to, %bytes, %s, %b, %q;\n"                    \
    "ld.param.u64 %to, [to]; ld.param.u32 %v, [value]; ld.param.u64 %bytes, [bytes];\n"            \
    "ld.param.u64 %s, [stream]; mov.u32 %e, 0; setp.eq.u64 %p, %bytes, 0; @%p bra DONE;\n"         \
    "and.b32 %n, %v, 255; setp.eq.u32 %p, %n, 0; @%p bra ZERO;\n"                                  \
    "call __cudaCDP2MemsetAsync_of_a_value_but_0; ZERO:\n"                                         \
    "add.s64 %b, %bytes, 255; shr.u64 %b, %b, 8; min.u64 %b, %b, 64; cvt.u32.u64 %n, %b;\n"        \
    "mov.u64 %b, cudaMemsetAsync_in_a_kernel;\n"                                                   \
    "{ .param .b64 r; .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 t[12];\n"      \
    ".param .b32 m; st.param.b64 [f], %b; st.param.b32 [g], %n; st.param.b32 [g+4], 1;\n"          \
    "st.param.b32 [g+8], 1; st.param.b32 [t], 256; st.param.b32 [t+4], 1;\n"                       \
    "st.param.b32 [t+8], 1; st.param.b32 [m], 0;\n"                                                \
    "call (r), __cudaCDP2GetParameterBufferV2, (f, g, t, m); ld.param.b64 %q, [r]; }\n"            \
    "mov.u32 %e, 69; setp.eq.s64 %p, %q, 0; @%p bra DONE;\n"                                       \
    "st.u64 [%q], %to; st.u64 [%q+8], %bytes; st.u32 [%q+16], %v;\n"                               \
    "{ .param .b64 q; .param .b64 s; .param .b32 e; st.param.b64 [q], %q;\n"                       \
    "st.param.b64 [s], %s; call (e), __cudaCDP2LaunchDeviceV2" suffix ", (q, s);\n"                \
    "ld.param.b32 %e, [e]; }\nDONE: st.param.b32 [error], %e; ret; }\n"
static const char memset_text[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f,\n"
    "    .param .align 4 .b8 g[12], .param .align 4 .b8 t[12], .param .b32 m);\n"
    ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 q, .param .b64 s);\n"
    ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2_ptsz(.param .b64 q, .param .b64 s);\n"
    ".extern .func __cudaCDP2MemsetAsync_of_a_value_but_0();\n"
    ".visible .entry cudaMemsetAsync_in_a_kernel(\n"
    "    .param .u64 to, .param .u64 bytes, .param .u32 value) {\n"
    ".reg .pred %p; .reg .b32 %v, %i, %n, %t; .reg .b64 %to, %at, %bytes, %step, %x;\n"
    "ld.param.u64 %to, [to]; ld.param.u64 %bytes, [bytes]; ld.param.u32 %v, [value];\n"
    "mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %t, %tid.x;\n"
    "mad.lo.u32 %i, %i, %n, %t; cvt.u64.u32 %at, %i; mov.u32 %t, %nctaid.x;\n"
    "mul.lo.u32 %n, %n, %t; cvt.u64.u32 %step, %n;\n"
    "AGAIN: setp.ge.u64 %p, %at, %bytes; @%p bra DONE; add.s64 %x, %to, %at;\n"
    "st.global.u8 [%x], %v; add.s64 %at, %at, %step; bra AGAIN;\nDONE: ret; }\n" MEMSET("")
        MEMSET("_ptsz");

const char *device_runtime_for(const char *text, size_t index)
{
    static const struct {
        const char *name, *text;
    } rows[] = {{"cudaCGGetIntrinsicHandle", grid_text},
                {"cudaGraphSetConditional", condition_text},
                {"__cudaCDP2MemsetAsync", memset_text}};
    if (index >= sizeof rows / sizeof *rows) return NULL;
    return strstr(text, rows[index].name) != NULL ? rows[index].text : "";
}
