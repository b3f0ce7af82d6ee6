/* Findings of racecheck in device code, through the API: each with its lines, its threads and its
 * memory, and a count; and none for right code. */
#include "tests/driver/support.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 128, BLOCKS = 4, N = THREADS * BLOCKS, BYTES = N * 4, PAGE = 4096 };

/* One kernel each, over (p, q): `x` is the address of this thread's element of p, `y` of q. */
#define KERNEL(name, body)                                                                         \
    ".visible .entry " name "(.param .u64 p, .param .u64 q) {\n"                                   \
    ".reg .b64 %p, %q, %x, %y, %o;\n.reg .b32 %t, %b, %i, %v, %w, %s;\n.reg .pred %c;\n"           \
    ".shared .align 4 .b8 tile[512];\n"                                                            \
    "ld.param.u64 %p, [p];\nld.param.u64 %q, [q];\nmov.u32 %t, %tid.x;\n"                          \
    "mov.u32 %b, %ctaid.x;\nmad.lo.u32 %i, %b, 128, %t;\nmul.wide.u32 %o, %i, 4;\n"                \
    "add.u64 %x, %p, %o;\nadd.u64 %y, %q, %o;\nshl.b32 %s, %t, 2;\n"                               \
    "mov.u32 %w, tile;\nadd.u32 %s, %s, %w;\n" body "ret;\n}\n"

// clang-format off
static const char *const parts[] = {
    ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"/somewhere/t.cu\"\n",
    KERNEL("mirror", ".loc 1 3 0\nst.shared.u32 [%s], %i;\n"
                     ".loc 1 4 0\nxor.b32 %s, %s, 508;\nld.shared.u32 %v, [%s];\n"
                     ".loc 1 5 0\nst.global.u32 [%x], %v;\n"),
    KERNEL("mirror_right", ".loc 1 3 0\nst.shared.u32 [%s], %i;\nbar.sync 0;\n"
                           ".loc 1 4 0\nxor.b32 %s, %s, 508;\nld.shared.u32 %v, [%s];\n"
                           ".loc 1 5 0\nst.global.u32 [%x], %v;\n"),
    KERNEL("near", ".loc 1 8 0\nst.global.u32 [%x], %i;\nsetp.eq.u32 %c, %t, 0;\n"
                   "@%c bra DONE;\n.loc 1 9 0\nld.global.u32 %v, [%x+-4];\nDONE:\n"),
    KERNEL("later", ".loc 1 16 0\ncp.async.ca.shared.global [%s], [%y], 4;\nbar.sync 0;\n"
                    ".loc 1 17 0\nld.shared.u32 %v, [%s];\ncp.async.wait_all;\n"),
    KERNEL("back", ".loc 1 13 0\nst.global.u32 [%x], %i;\nbar.sync 0;\nsetp.eq.u32 %c, %i, 0;\n"
                   "@%c bra DONE;\n.loc 1 14 0\nld.global.u32 %v, [%x+-4];\n"
                   ".loc 1 15 0\nst.global.u32 [%y], %v;\nDONE:\n"),
    KERNEL("places", "setp.lt.u32 %c, %t, 64;\n@%c bra LOW;\n"
                     ".loc 1 21 0\nbar.sync 0;\nbra DONE;\n"
                     "LOW:\n.loc 1 23 0\nbar.sync 0;\nDONE:\n"),
    KERNEL("stuck", "setp.lt.u32 %c, %t, 64;\n@%c bra LOW;\n"
                    ".loc 1 31 0\nbar.sync 1;\nbra DONE;\n"
                    "LOW:\n.loc 1 33 0\nbar.sync 0;\nDONE:\n"),
    KERNEL("absent", "setp.eq.u32 %c, %t, 3;\n@%c bra ONE;\n"
                     ".loc 1 40 0\nbar.warp.sync -1;\nbra DONE;\n"
                     "ONE:\n.loc 1 41 0\nbar.warp.sync 24;\nDONE:\n"),
    KERNEL("unnamed", ".loc 1 44 0\nshfl.sync.idx.b32 %v, %i, 0, 31, 0xff;\n"),
    KERNEL("copy", ".loc 1 51 0\nld.global.u32 %v, [%x];\n"
                   ".loc 1 52 0\nst.global.u32 [%y], %v;\n"),
    KERNEL("wide", "setp.lt.u32 %c, %i, 128;\n@!%c bra DONE;\nmul.wide.u32 %o, %i, 16;\n"
                   "add.u64 %x, %p, %o;\nadd.u64 %y, %q, %o;\n.loc 1 55 0\n"
                   "ld.global.v4.u32 {%v, %w, %s, %t}, [%x];\n"
                   "st.global.v4.u32 [%y], {%v, %w, %s, %t};\nDONE:\n"),
    KERNEL("swap", ".loc 1 57 0\nst.global.u32 [%x], %i;\nld.global.u32 %v, [%x];\n"),
    KERNEL("talk", "st.volatile.global.u32 [%x], %i;\n"),
    KERNEL("count", ".loc 1 61 0\nred.global.add.u32 [%p], 1;\n"),
};
// clang-format on

static CUmodule module;
static CUdeviceptr a, b;

static void begin(int order)
{
    static char kernels[16384];
    test_context(order);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        ck_assert_uint_lt(strlen(kernels) + strlen(parts[i]), sizeof kernels);
        strcat(kernels, parts[i]);
    }
    OK(cuModuleLoadData(&module, kernels));
    a = test_device(BYTES);
    b = test_device(BYTES);
}

static CUresult launch_of(const char *name, CUstream stream, unsigned blocks, CUdeviceptr p,
                          CUdeviceptr q)
{
    CUfunction function;
    void *parameters[] = {&p, &q};
    OK(cuModuleGetFunction(&function, module, name));
    return cuLaunchKernel(function, blocks, 1, 1, THREADS, 1, 1, 0, stream, parameters, NULL);
}

static CUresult launch_in(const char *name, unsigned blocks, CUdeviceptr p, CUdeviceptr q)
{
    return launch_of(name, NULL, blocks, p, q);
}

static void launch(const char *name, CUdeviceptr p, CUdeviceptr q)
{
    OK(launch_in(name, BLOCKS, p, q));
}

static const struct trace_record *only(const char *kind)
{
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, NULL), 1);
    const struct trace_record *found = test_find(TRACE_FINDING, 0, kind);
    ck_assert_ptr_nonnull(found);
    return found;
}

static void nothing(void)
{
    OK(cuCtxSynchronize());
    const bool any = test_count(TRACE_FINDING, 0, NULL) > 0;
    ck_assert_msg(!any, "%s", any ? test_sentence(test_find(TRACE_FINDING, 0, NULL)) : "");
}

#define HAS(record, words)                                                                         \
    ck_assert_msg(strstr(test_sentence(record), words) != NULL, "no \"%s\" in: %s", words,         \
                  test_sentence(record))

/* ---- races inside a kernel ---------------------------------------------------------------- */

START_TEST(shared_memory_without_a_barrier)
{
    begin(_i);
    launch("mirror", a, b);
    launch("mirror", b, a);
    const struct trace_record *found = only("shared memory race");
    ck_assert_str_eq(test_file(found), "/somewhere/t.cu");
    ck_assert_uint_eq(found->finding.sides[0].line, 4);
    ck_assert_uint_eq(found->count, 2 * N); /* both launches, all their threads */
    ck_assert_uint_ne(found->caller, 0);
    HAS(found, "kernel mirror: thread (");
    HAS(found, "of block (0, 0, 0) reads 4 bytes of shared memory");
    HAS(found, "at t.cu:4 that thread (");
    HAS(found, "writes at t.cu:3");
    HAS(found, "no __syncthreads()");
    launch("mirror_right", a, b);
    only("shared memory race");
}
END_TEST

START_TEST(global_memory_without_a_barrier)
{
    begin(_i);
    launch("near", a, b);
    OK(launch_in("near", 1, a, b));
    const struct trace_record *found = only("global memory race");
    ck_assert_str_eq(test_file(found), "/somewhere/t.cu");
    ck_assert_uint_eq(found->finding.sides[0].line, 9);
    /* Each thread except the first of a block has a predecessor; the second launch adds nothing. */
    ck_assert_uint_eq(found->count, N - BLOCKS);
    ck_assert_uint_ge(found->address, a);
    ck_assert_uint_lt(found->address, a + BYTES);
    ck_assert_uint_ne(found->object, 0);
    HAS(found, "kernel near: thread (");
    HAS(found, "of block (0, 0, 0) reads 4 bytes of device memory");
    HAS(found, "allocated by the call before");
    HAS(found, "at t.cu:9 that ");
    HAS(found, "writes at t.cu:8: ");
}
END_TEST

START_TEST(an_asynchronous_copy_that_is_not_awaited)
{
    begin(_i);
    OK(cuMemsetD32(b, 7, N));
    launch("later", a, b);
    const struct trace_record *found = only("copy not awaited");
    ck_assert_str_eq(test_file(found), "/somewhere/t.cu");
    ck_assert_uint_eq(found->finding.sides[0].line, 17);
    ck_assert_uint_eq(found->count, N);
    HAS(found, "kernel later: thread (");
    HAS(found, "of block (0, 0, 0) reads 4 bytes of shared memory");
    HAS(found, "at t.cu:17 that an asynchronous copy may still be filling: thread (");
    HAS(found, "asked for it at t.cu:16, and nothing has waited");
}
END_TEST

START_TEST(blocks_that_read_each_other)
{
    begin(_i);
    launch("back", a, b);
    const struct trace_record *found = only("race between blocks");
    ck_assert_uint_ge(found->finding.sides[0].line, 13);
    ck_assert_uint_le(found->finding.sides[0].line, 14);
    ck_assert_uint_ge(found->address, a);
    ck_assert_uint_lt(found->address, a + BYTES);
    ck_assert_uint_ne(found->object, 0);
    HAS(found, "reads");
    HAS(found, "writes");
    HAS(found, "t.cu:13");
    HAS(found, "t.cu:14");
    HAS(found, "allocated by the call before");
}
END_TEST

START_TEST(a_single_block_has_nobody_to_race_with)
{
    begin(LATEST);
    OK(launch_in("back", 1, a, b));
    nothing();
}
END_TEST

START_TEST(barriers_in_two_places)
{
    begin(LATEST);
    launch("places", a, b);
    const struct trace_record *found = only("barrier not reached");
    HAS(found, "t.cu:21");
    HAS(found, "t.cu:23");
    HAS(found, "thread (64, 0, 0)");
    ck_assert_uint_eq(found->count, BLOCKS);
}
END_TEST

START_TEST(a_barrier_that_not_all_reach)
{
    begin(LATEST);
    launch("stuck", a, b);
    FAILS(CUDA_ERROR_LAUNCH_TIMEOUT, cuCtxSynchronize());
    const struct trace_record *found = test_find(TRACE_FINDING, 0, "barrier not reached");
    ck_assert_ptr_nonnull(found);
    ck_assert_uint_eq(found->finding.sides[0].line, 33);
    HAS(found, "64 of 128 threads wait at the barrier on line 33, 64 at the barrier on line 31");
    HAS(found, "The first that waits is thread (0, 0, 0)");
}
END_TEST

START_TEST(lanes_that_are_not_there)
{
    begin(LATEST);
    launch("absent", a, b);
    FAILS(CUDA_ERROR_LAUNCH_TIMEOUT, cuCtxSynchronize());
    const struct trace_record *found = test_find(TRACE_FINDING, 0, "absent lanes");
    ck_assert_ptr_nonnull(found);
    ck_assert_uint_ge(found->finding.sides[0].line, 40);
    HAS(found,
        "31 of 128 threads wait at the warp barrier on line 40, 1 at the warp barrier on line 41");
}
END_TEST

START_TEST(a_lane_that_its_mask_does_not_name)
{
    begin(LATEST);
    launch("unnamed", a, b);
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
    const struct trace_record *found = test_find(TRACE_FINDING, 0, "absent lanes");
    ck_assert_ptr_nonnull(found);
    ck_assert_uint_eq(found->finding.sides[0].line, 44);
    HAS(found, "lane 8 of the warp");
}
END_TEST

/* ---- memory that nothing has written ------------------------------------------------------- */

static unsigned host[N];

START_TEST(a_kernel_that_reads_what_nothing_wrote)
{
    begin(_i);
    launch("copy", a, b);
    launch("copy", a, b);
    const struct trace_record *found = only("never written");
    ck_assert_uint_eq(found->finding.sides[0].line, 51);
    ck_assert_uint_eq(found->address, a);
    ck_assert_uint_eq(found->bytes, BYTES);
    ck_assert_uint_eq(found->count, 2);
    HAS(found, "kernel copy reads 2048 bytes of memory that nothing has ever written");
    HAS(found, "from byte 0 on of device memory (2048 bytes");
}
END_TEST

START_TEST(half_a_buffer_is_not_all_of_it)
{
    begin(_i);
    OK(cuMemcpyHtoD(a, host, BYTES / 2));
    launch("copy", a, b);
    const struct trace_record *found = only("never written");
    ck_assert_uint_eq(found->address, a + BYTES / 2);
    ck_assert_uint_eq(found->bytes, BYTES / 2);
}
END_TEST

START_TEST(a_counter_has_to_begin_somewhere)
{
    begin(LATEST);
    launch("count", a, b);
    const struct trace_record *found = only("never written");
    ck_assert_uint_eq(found->finding.sides[0].line, 61);
    ck_assert_uint_eq(found->bytes, 4);
    HAS(found, "changes atomically 4 bytes");
}
END_TEST

START_TEST(whoever_writes_first_may_read)
{
    begin(_i);
    OK(cuMemsetD32(a, 7, N));
    launch("copy", a, b); /* a memset */
    launch("copy", b, a); /* a kernel */
    CUdeviceptr c = test_device(BYTES), d = test_device(BYTES);
    OK(cuMemcpyDtoD(c, a, BYTES));
    launch("copy", c, d); /* a copy */
    CUdeviceptr e = test_device(BYTES);
    launch("swap", e, d); /* the same kernel */
    CUdeviceptr f = test_device(BYTES);
    launch("talk", f, d); /* one that communicates */
    launch("copy", f, d);
    nothing();
}
END_TEST

START_TEST(memory_of_the_host_may_be_written_by_it)
{
    CUdeviceptr managed;
    begin(LATEST);
    OK(cuMemAllocManaged(&managed, BYTES, CU_MEM_ATTACH_GLOBAL));
    *(volatile char *)managed = 1; /* its page counts as written */
    launch("copy", managed, b);
    OK(cuCtxSynchronize());
    launch("copy", (CUdeviceptr)(uintptr_t)test_pinned(BYTES), b);
    nothing();
}
END_TEST

START_TEST(managed_memory_that_nobody_wrote)
{
    CUdeviceptr managed;
    begin(_i);
    OK(cuMemAllocManaged(&managed, 4 * PAGE, CU_MEM_ATTACH_GLOBAL));
    *(volatile char *)(managed + PAGE) = 1;
    OK(cuMemsetD8(managed + 2 * PAGE, 1, BYTES));
    launch("copy", managed + PAGE, b);
    launch("copy", managed + 2 * PAGE, b);
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "never written"), 0);
    launch("copy", managed, b);
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "never written"), 1);
    *(volatile char *)(managed + 3 * PAGE) = 1; /* between two kernels */
    launch("copy", managed + 3 * PAGE, b);
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "never written"), 1);
    OK(cuMemFree(managed));
}
END_TEST

START_TEST(padding_is_nobodys)
{
    CUdeviceptr rows;
    size_t pitch;
    begin(LATEST);
    /* The last block processes the rounded-up end too. */
    OK(cuMemcpyHtoD(a, host, BYTES - 100));
    launch("copy", a, b);
    /* The ends of the rows of a pitched allocation. */
    OK(cuMemAllocPitch(&rows, &pitch, 400, 4, 4));
    ck_assert_uint_eq(pitch, 512);
    OK(cuMemsetD2D8(rows, pitch, 1, 400, 4));
    launch("copy", rows, b);
    /* Three of four floats, read as one vector: every fourth was never written. */
    CUdeviceptr packed = test_device(BYTES);
    for (size_t at = 0; at < BYTES; at += 16) OK(cuMemsetD32(packed + at, 1, 3));
    launch("wide", packed, b);
    nothing();
}
END_TEST

START_TEST(allocating_again_begins_again)
{
    begin(LATEST);
    OK(cuMemsetD32(a, 7, N));
    launch("copy", a, b);
    OK(cuCtxSynchronize());
    OK(cuMemFree(a));
    CUdeviceptr again = test_device(BYTES);
    launch("copy", again, b);
    ck_assert_uint_eq(only("never written")->address, again);
}
END_TEST

START_TEST(a_copy_of_what_nothing_wrote)
{
    begin(_i);
    CUdeviceptr c = test_device(BYTES);
    OK(cuMemcpyDtoH(host, c + 8, 64));
    const struct trace_record *found = only("never written");
    ck_assert_uint_eq(found->address, c + 8);
    ck_assert_uint_eq(found->bytes, 64);
    HAS(found, "the copy to the host reads 64 bytes of device memory (2048 bytes");
}
END_TEST

START_TEST(a_copy_of_what_a_kernel_was_given)
{
    begin(_i);
    /* The kernel wrote nothing into q on purpose: the host knows which part of q is valid. */
    launch("count", a, b);
    OK(cuMemcpyDtoH(host, b, BYTES));
    ck_assert_str_eq(trace_finding_kind(only("never written"))->name,
                     "never written"); /* the counter's finding */
    CUdeviceptr c = test_device(BYTES);
    OK(cuMemsetD32(c + 64, 1, 1));
    OK(cuMemcpyDtoH(host, c, BYTES)); /* a part of it was written */
    only("never written");
}
END_TEST

static CUdeviceptr managed_memory(void)
{
    CUdeviceptr managed;
    OK(cuMemAllocManaged(&managed, 3 * 4096, CU_MEM_ATTACH_GLOBAL));
    return managed;
}

static volatile unsigned *as_seen_here(CUdeviceptr managed)
{
    return (volatile unsigned *)(uintptr_t)managed + 1200;
}

START_TEST(the_host_reads_managed_memory_that_nothing_wrote)
{
    begin(_i);
    CUdeviceptr freed = managed_memory(), given = managed_memory(), kept = managed_memory();
    host[0] += *as_seen_here(freed) + *as_seen_here(given);
    OK(cuMemFree(freed));
    launch("swap", given, b);
    OK(cuCtxSynchronize());
    const struct trace_record *found = only("never written");
    ck_assert_uint_eq(found->count, 2);
    HAS(found, "the host has read managed memory (12288 bytes");
    (void)kept; /* untouched */
}
END_TEST

START_TEST(the_host_reads_managed_memory_that_something_wrote)
{
    begin(_i);
    CUdeviceptr by_host = managed_memory(), by_device = managed_memory(),
                by_kernel = managed_memory(), by_system = managed_memory();
    memset((void *)(uintptr_t)by_host, 0, 12);
    OK(cuMemsetD8(by_device, 0, 12));
    launch("swap", by_kernel, b);
    OK(cuCtxSynchronize());
    int zeros = open("/dev/zero", O_RDONLY);
    ck_assert_int_eq(read(zeros, (void *)(uintptr_t)by_system, 12), 12);
    close(zeros);
    CUdeviceptr all[] = {by_host, by_device, by_kernel, by_system};
    for (int i = 0; i < 4; i++) {
        host[0] += *as_seen_here(all[i]);
        OK(cuMemFree(all[i]));
    }
    nothing();
}
END_TEST

/* Launches in one stream, in order, or in another stream. */
struct two_streams {
    CUstream first, other;
    void *pinned;
};

static struct two_streams begin_two(int order)
{
    begin(order);
    return (struct two_streams){test_stream(CU_STREAM_NON_BLOCKING),
                                test_stream(CU_STREAM_NON_BLOCKING), test_pinned(BYTES)};
}

START_TEST(who_reads_beside_the_writer_races)
{
    struct two_streams in = begin_two(_i);
    OK(cuMemcpyHtoDAsync(a, in.pinned, BYTES, in.first));
    OK(launch_of("copy", in.other, BLOCKS, a, b));
    only("race");
}
END_TEST

START_TEST(who_reads_beside_a_kernel_that_writes_races)
{
    struct two_streams in = begin_two(_i);
    OK(launch_of("swap", in.first, BLOCKS, a, b));
    OK(cuMemcpyDtoHAsync(in.pinned, a, BYTES, in.other));
    only("race");
}
END_TEST

START_TEST(who_reads_before_the_writer_reads_nothing)
{
    struct two_streams in = begin_two(_i);
    OK(launch_of("copy", in.first, BLOCKS, a, b));
    OK(cuMemcpyHtoDAsync(a, in.pinned, BYTES, in.first));
    only("never written");
}
END_TEST

START_TEST(who_copies_before_the_kernel_copies_nothing)
{
    struct two_streams in = begin_two(_i);
    OK(cuMemcpyDtoHAsync(in.pinned, a, BYTES, in.first));
    OK(launch_of("swap", in.first, BLOCKS, a, b));
    only("never written");
}
END_TEST

START_TEST(a_kernel_beside_that_only_reads_excuses_nothing)
{
    struct two_streams in = begin_two(_i);
    CUdeviceptr c = test_device(BYTES);
    OK(launch_of("copy", in.first, BLOCKS, a, b));
    OK(launch_of("copy", in.other, BLOCKS, a, c));
    ck_assert_uint_eq(only("never written")->count, 2);
}
END_TEST

START_TEST(the_environment_turns_it_off)
{
    setenv("OVERLAP_RACES", "off", 1);
    begin(LATEST);
    launch("mirror", a, b);
    launch("back", a, b);
    launch("places", a, b);
    CUdeviceptr c = test_device(BYTES);
    launch("copy", c, b);
    OK(cuMemcpyDtoH(host, c, 64));
    nothing();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("driver_racecheck");
    TCase *tcase = tcase_create("watch");
    tcase_add_loop_test(tcase, shared_memory_without_a_barrier, 0, ORDERS);
    tcase_add_loop_test(tcase, global_memory_without_a_barrier, 0, ORDERS);
    tcase_add_loop_test(tcase, an_asynchronous_copy_that_is_not_awaited, 0, ORDERS);
    tcase_add_loop_test(tcase, blocks_that_read_each_other, 0, ORDERS);
    tcase_add_test(tcase, a_single_block_has_nobody_to_race_with);
    tcase_add_test(tcase, barriers_in_two_places);
    tcase_add_test(tcase, a_barrier_that_not_all_reach);
    tcase_add_test(tcase, lanes_that_are_not_there);
    tcase_add_test(tcase, a_lane_that_its_mask_does_not_name);
    tcase_add_loop_test(tcase, a_kernel_that_reads_what_nothing_wrote, 0, ORDERS);
    tcase_add_loop_test(tcase, half_a_buffer_is_not_all_of_it, 0, ORDERS);
    tcase_add_test(tcase, a_counter_has_to_begin_somewhere);
    tcase_add_loop_test(tcase, whoever_writes_first_may_read, 0, ORDERS);
    tcase_add_test(tcase, memory_of_the_host_may_be_written_by_it);
    tcase_add_loop_test(tcase, managed_memory_that_nobody_wrote, 0, ORDERS);
    tcase_add_test(tcase, padding_is_nobodys);
    tcase_add_test(tcase, allocating_again_begins_again);
    tcase_add_loop_test(tcase, a_copy_of_what_nothing_wrote, 0, ORDERS);
    tcase_add_loop_test(tcase, a_copy_of_what_a_kernel_was_given, 0, ORDERS);
    tcase_add_loop_test(tcase, the_host_reads_managed_memory_that_nothing_wrote, 0, ORDERS);
    tcase_add_loop_test(tcase, the_host_reads_managed_memory_that_something_wrote, 0, ORDERS);
    tcase_add_loop_test(tcase, who_reads_beside_the_writer_races, 0, ORDERS);
    tcase_add_loop_test(tcase, who_reads_beside_a_kernel_that_writes_races, 0, ORDERS);
    tcase_add_loop_test(tcase, who_reads_before_the_writer_reads_nothing, 0, ORDERS);
    tcase_add_loop_test(tcase, who_copies_before_the_kernel_copies_nothing, 0, ORDERS);
    tcase_add_loop_test(tcase, a_kernel_beside_that_only_reads_excuses_nothing, 0, ORDERS);
    tcase_add_test(tcase, the_environment_turns_it_off);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
