#include "tests/driver/support.h"
#include "trace/sentence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

CUcontext test_context_handle;
CUmodule test_module;
static int trace_file = -1; /* in memory: a test may end in any way */
static struct trace trace;

/* Sets i, in %r1, to the thread's index; threads beyond the end return. */
#define PROLOGUE                                                                                   \
    "mov.u32 %r2, %ntid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %tid.x;"                            \
    "mad.lo.s32 %r1, %r2, %r3, %r4;"                                                               \
    "setp.ge.s32 %p1, %r1, %r5; @%p1 bra done;"                                                    \
    "cvta.to.global.u64 %rd1, %rd1; mul.wide.s32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;"
#define REGISTERS ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>;"
#define ENTRY2(name)                                                                               \
    ".visible .entry " name "(.param .u64 a, .param .u32 n) {" REGISTERS                           \
    "ld.param.u64 %rd1, [a]; ld.param.u32 %r5, [n];"
#define ENTRY3(name, type)                                                                         \
    ".visible .entry " name "(.param .u64 a, .param ." type " b, .param .u32 n) {" REGISTERS       \
    "ld.param.u64 %rd1, [a]; ld.param.u32 %r5, [n];"
#define END "done: ret; }\n"

/* Joined at load time, because a C compiler need not support longer string literals. */
// clang-format off
static const char *const ptx_parts[] = {
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter = 7;\n",
    ENTRY3("set", "u32") "ld.param.u32 %r6, [b];" PROLOGUE "st.global.u32 [%rd4], %r6;" END,
    ENTRY3("add", "u32") "ld.param.u32 %r6, [b];" PROLOGUE
        "ld.global.u32 %r7, [%rd4]; add.s32 %r7, %r7, %r6; st.global.u32 [%rd4], %r7;" END,
    ENTRY3("copy", "u64") "ld.param.u64 %rd2, [b];" PROLOGUE
        "cvta.to.global.u64 %rd2, %rd2; add.s64 %rd5, %rd2, %rd3;"
        "ld.global.u32 %r7, [%rd5]; st.global.u32 [%rd4], %r7;" END,
    ENTRY3("slow", "u32") "ld.param.u32 %r6, [b];" PROLOGUE "mov.u32 %r8, 0;"
        "again: add.s32 %r8, %r8, 1; setp.lt.s32 %p2, %r8, 20000; @%p2 bra again;"
        "st.global.u32 [%rd4], %r6;" END,
    ENTRY2("reverse") "mov.u32 %r9, %r5;" PROLOGUE "setp.ne.s32 %p2, %r1, 0; @%p2 bra done;"
        "mov.u32 %r8, 0; sub.s32 %r10, %r9, 1;"
        "again: setp.ge.s32 %p3, %r8, %r10; @%p3 bra done;"
        "mul.wide.s32 %rd5, %r8, 4; add.s64 %rd5, %rd1, %rd5;"
        "mul.wide.s32 %rd6, %r10, 4; add.s64 %rd6, %rd1, %rd6;"
        "ld.global.u32 %r11, [%rd5]; ld.global.u32 %r12, [%rd6];"
        "st.global.u32 [%rd5], %r12; st.global.u32 [%rd6], %r11;"
        "add.s32 %r8, %r8, 1; sub.s32 %r10, %r10, 1; bra again;" END,
    ENTRY2("beyond") "mov.u32 %r9, %r5;" PROLOGUE
        "mul.wide.s32 %rd5, %r9, 4; add.s64 %rd5, %rd1, %rd5; st.global.u32 [%rd5], %r9;" END,
    ENTRY2("misaligned") PROLOGUE "st.global.u32 [%rd4+2], %r5;" END,
    ENTRY2("trap") PROLOGUE "trap;" END,
    ENTRY2("endless") PROLOGUE "again: bra again;" END,
};
// clang-format on

void test_begin(int order)
{
    static const char *const orders[ORDERS] = {"latest", "earliest", "random:1", "random:2"};
    char path[64];
    setenv("OVERLAP_ORDER", orders[order], 1);
    trace_file = trace_create_in_memory(1 << 16, TRACE_ALL_KINDS & ~TRACE_KIND_BIT(TRACE_STACK));
    ck_assert_int_ge(trace_file, 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", trace_file);
    setenv(TRACE_PATH_VARIABLE, path, 1);
}

void test_context(int order)
{
    test_begin(order);
    test_start();
}

void test_start(void)
{
    CUdevice device;
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuCtxCreate(&test_context_handle, NULL, 0, device));
    test_load();
}

void test_load(void)
{
    char *ptx = NULL;
    size_t size;
    FILE *text = open_memstream(&ptx, &size);
    ck_assert_ptr_nonnull(text);
    for (size_t i = 0; i < sizeof ptx_parts / sizeof *ptx_parts; i++) fputs(ptx_parts[i], text);
    fclose(text);
    OK(cuModuleLoadData(&test_module, ptx));
    free(ptx);
}

CUfunction test_kernel(const char *name)
{
    CUfunction function;
    OK(cuModuleGetFunction(&function, test_module, name));
    return function;
}

CUresult test_launch(const char *name, CUstream stream, CUdeviceptr p, uint64_t second, int n)
{
    static const char *const of_two[] = {"reverse", "beyond", "misaligned", "trap", "endless"};
    void *three[] = {&p, &second, &n}, *two[] = {&p, &n}, **parameters = three;
    for (size_t i = 0; i < sizeof of_two / sizeof *of_two; i++)
        if (strcmp(name, of_two[i]) == 0) parameters = two;
    return cuLaunchKernel(test_kernel(name), (unsigned)(n + 127) / 128, 1, 1, 128, 1, 1, 0, stream,
                          parameters, NULL);
}

CUdeviceptr test_device(size_t bytes)
{
    CUdeviceptr p;
    OK(cuMemAlloc(&p, bytes));
    return p;
}

void *test_pinned(size_t bytes)
{
    void *p;
    OK(cuMemAllocHost(&p, bytes));
    return p;
}

CUstream test_stream(unsigned flags)
{
    CUstream stream;
    OK(cuStreamCreate(&stream, flags));
    return stream;
}

CUevent test_event(unsigned flags)
{
    CUevent event;
    OK(cuEventCreate(&event, flags));
    return event;
}

const struct trace *test_trace(void)
{
    char why[200];
    trace_free(&trace);
    ck_assert_msg(trace_read_descriptor(trace_file, NULL, &trace, why, sizeof why) == 0, "%s", why);
    return &trace;
}

static bool matches(const struct trace_record *record, uint32_t kind, uint32_t what,
                    const char *name)
{
    const char *own = trace_has_finding(record) ? trace_finding_kind(record)->name : record->name;
    return record->kind == kind && (what == 0 || record->what == what) &&
           (name == NULL || strcmp(own, name) == 0);
}

size_t test_count(uint32_t kind, uint32_t what, const char *name)
{
    const struct trace *read = test_trace();
    size_t count = 0;
    for (size_t i = 0; i < read->count; i++) count += matches(&read->records[i], kind, what, name);
    return count;
}

const struct trace_record *test_find(uint32_t kind, uint32_t what, const char *name)
{
    const struct trace *read = test_trace();
    for (size_t i = 0; i < read->count; i++)
        if (matches(&read->records[i], kind, what, name)) return &read->records[i];
    ck_abort_msg("there is no %s record of %s %s", trace_kind_name(kind), trace_what_name(what),
                 name ? name : "");
    return NULL;
}

const char *test_sentence(const struct trace_record *finding)
{
    static char sentence[TRACE_SENTENCE_SIZE];
    trace_sentence(finding, NULL, sentence, sizeof sentence);
    return sentence;
}

const char *test_file(const struct trace_record *finding)
{
    return trace_finding_word(&finding->finding, WORD_FILE);
}

int test_main(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

size_t test_fat_binary(unsigned char *bytes, const char *text)
{
    struct {
        uint32_t magic;
        uint16_t version, header_size;
        uint64_t size;
    } file = {.magic = 0xBA55ED50, .version = 1, .header_size = 16};
    struct __attribute__((packed)) {
        uint16_t kind, unknown;
        uint32_t header_size;
        uint64_t size;
        uint32_t compressed_size, unknown_2;
        uint16_t minor, major;
        uint32_t arch, name_offset, name_length;
        uint64_t flags, zero, decompressed_size;
    } entry = {.kind = 1, .unknown = 0x101, .header_size = sizeof entry, .arch = 75, .flags = 0x11};
    entry.size = strlen(text) + 1;
    file.size = sizeof entry + entry.size;
    memcpy(bytes, &file, sizeof file);
    memcpy(bytes + sizeof file, &entry, sizeof entry);
    memcpy(bytes + sizeof file + sizeof entry, text, entry.size);
    return sizeof file + sizeof entry + entry.size;
}
