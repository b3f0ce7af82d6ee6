/* Copies and fills: their effect, and which of them the host waits for (Driver API, "API
 * synchronization behavior"). A test that expects data *not* to be there yet runs under the latest
 * order only, because the others may copy earlier. */
#include "tests/driver/support.h"

#include <stdlib.h>
#include <string.h>

enum { N = 1000, BYTES = N * 4 };

static unsigned *numbers(unsigned first)
{
    unsigned *p = malloc(BYTES);
    ck_assert_ptr_nonnull(p);
    for (unsigned i = 0; i < N; i++) p[i] = first + i;
    return p;
}

static void check_numbers(const unsigned *p, unsigned first)
{
    for (unsigned i = 0; i < N; i++) ck_assert_uint_eq(p[i], first + i);
}

START_TEST(a_round_trip_gives_the_same_bytes)
{
    test_context(_i);
    unsigned *in = numbers(5), *out = calloc(N, 4);
    CUdeviceptr a = test_device(BYTES), b = test_device(BYTES);
    OK(cuMemcpyHtoD(a, in, BYTES));
    OK(cuMemcpyDtoD(b, a, BYTES));
    OK(cuMemcpyDtoH(out, b, BYTES));
    check_numbers(out, 5);
    free(in);
    free(out);
}
END_TEST

START_TEST(fresh_memory_is_poisoned_not_zero)
{
    test_context(_i);
    unsigned *out = calloc(N, 4);
    OK(cuMemcpyDtoH(out, test_device(BYTES), BYTES));
    for (int i = 0; i < N; i++) ck_assert_uint_eq(out[i], 0x7f7f7f7f);
    ck_assert_uint_eq(*(unsigned *)test_pinned(BYTES), 0x7f7f7f7f);
    free(out);
}
END_TEST

START_TEST(a_pageable_source_may_be_changed_after_the_synchronous_copy)
{
    test_context(_i);
    unsigned *in = numbers(5), *out = calloc(N, 4);
    CUdeviceptr a = test_device(BYTES);
    OK(cuMemcpyHtoD(a, in, BYTES));
    memset(in, 0, BYTES);
    OK(cuMemcpyDtoH(out, a, BYTES));
    check_numbers(out, 5);
    free(in);
    free(out);
}
END_TEST

/* "a stream sync is performed before the copy is initiated" */
START_TEST(a_synchronous_pageable_copy_waits_for_its_stream_first)
{
    test_context(_i);
    unsigned *in = numbers(5);
    unsigned *pinned = test_pinned(BYTES);
    CUdeviceptr a = test_device(BYTES), b = test_device(BYTES);
    OK(test_launch("set", NULL, a, 77, N));
    OK(cuMemcpyDtoHAsync(pinned, a, BYTES, NULL));
    OK(cuMemcpyHtoD(b, in, BYTES));
    for (int i = 0; i < N; i++) ck_assert_uint_eq(pinned[i], 77);
    free(in);
}
END_TEST

/* "... but the DMA to final destination may not have completed" */
START_TEST(latest_a_pageable_copy_in_has_not_arrived_for_another_stream)
{
    test_context(LATEST);
    unsigned *in = numbers(5), *out = test_pinned(BYTES);
    CUstream other = test_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr a = test_device(BYTES);
    OK(cuMemcpyHtoD(a, in, BYTES));
    OK(cuMemcpyDtoHAsync(out, a, BYTES, other));
    OK(cuStreamSynchronize(other));
    ck_assert_uint_eq(out[0], 0x7f7f7f7f);
    free(in);
}
END_TEST

START_TEST(a_pinned_copy_in_is_complete_on_return)
{
    test_context(_i);
    unsigned *in = test_pinned(BYTES), *out = test_pinned(BYTES);
    CUstream other = test_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr a = test_device(BYTES);
    for (unsigned i = 0; i < N; i++) in[i] = 5 + i;
    OK(cuMemcpyHtoD(a, in, BYTES));
    OK(cuMemcpyDtoHAsync(out, a, BYTES, other));
    OK(cuStreamSynchronize(other));
    check_numbers(out, 5);
}
END_TEST

START_TEST(a_copy_out_is_complete_on_return)
{
    test_context(_i);
    unsigned *pageable = calloc(N, 4), *pinned = test_pinned(BYTES);
    CUdeviceptr a = test_device(BYTES);
    OK(test_launch("set", NULL, a, 9, N));
    OK(cuMemcpyDtoH(pageable, a, BYTES));
    ck_assert_uint_eq(pageable[N - 1], 9);
    OK(test_launch("set", NULL, a, 10, N));
    OK(cuMemcpyDtoH(pinned, a, BYTES));
    ck_assert_uint_eq(pinned[N - 1], 10);
    free(pageable);
}
END_TEST

START_TEST(latest_a_copy_inside_the_device_is_not_waited_for)
{
    test_context(LATEST);
    unsigned *out = test_pinned(BYTES);
    CUstream other = test_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr a = test_device(BYTES), b = test_device(BYTES);
    OK(cuMemsetD32(a, 3, N));
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoD(b, a, BYTES));
    OK(cuMemcpyDtoHAsync(out, b, BYTES, other));
    OK(cuStreamSynchronize(other));
    ck_assert_uint_eq(out[0], 0x7f7f7f7f);
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoHAsync(out, b, BYTES, other));
    OK(cuStreamSynchronize(other));
    ck_assert_uint_eq(out[0], 3);
}
END_TEST

START_TEST(a_copy_between_host_memories_is_complete_on_return)
{
    test_context(_i);
    unsigned *in = numbers(5), *out = calloc(N, 4), *pinned = test_pinned(BYTES);
    OK(cuMemcpy((CUdeviceptr)(uintptr_t)out, (CUdeviceptr)(uintptr_t)in, BYTES));
    check_numbers(out, 5);
    OK(cuMemcpyAsync((CUdeviceptr)(uintptr_t)pinned, (CUdeviceptr)(uintptr_t)in, BYTES, NULL));
    check_numbers(pinned, 5);
    free(in);
    free(out);
}
END_TEST

START_TEST(latest_an_asynchronous_pinned_copy_out_is_not_there_before_a_synchronisation)
{
    test_context(LATEST);
    unsigned *out = test_pinned(BYTES);
    CUstream stream = test_stream(0);
    CUdeviceptr a = test_device(BYTES);
    OK(cuMemsetD32Async(a, 3, N, stream));
    OK(cuMemcpyDtoHAsync(out, a, BYTES, stream));
    ck_assert_uint_eq(out[0], 0x7f7f7f7f);
    OK(cuStreamSynchronize(stream));
    ck_assert_uint_eq(out[0], 3);
}
END_TEST

/* As a GPU does: "might be synchronous". */
START_TEST(latest_an_asynchronous_pageable_copy_out_is_there_when_it_returns)
{
    test_context(LATEST);
    unsigned *out = calloc(N, 4);
    CUstream stream = test_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr a = test_device(BYTES);
    OK(cuMemsetD32Async(a, 3, N, stream));
    OK(cuMemcpyDtoHAsync(out, a, BYTES, stream));
    ck_assert_uint_eq(out[0], 3);
    free(out);
}
END_TEST

START_TEST(latest_an_asynchronous_pageable_copy_in_has_taken_its_source_when_it_returns)
{
    enum { LARGE = 3 << 20 }; /* waits for its stream, smaller ones do not */
    test_context(LATEST);
    CUstream stream = test_stream(CU_STREAM_NON_BLOCKING);
    static const size_t sizes[] = {4, BYTES, LARGE};
    for (size_t i = 0; i < 3; i++) {
        const size_t size = sizes[i];
        unsigned *in = malloc(size), *out = calloc(1, size);
        CUdeviceptr a = test_device(size);
        memset(in, 1, size);
        OK(cuMemsetD8Async(a, 9, size, stream));
        OK(cuMemcpyHtoDAsync(a, in, size, stream));
        memset(in, 2, size);
        OK(cuMemcpyDtoHAsync(out, a, size, stream));
        ck_assert_uint_eq(out[0], 0x01010101);
        ck_assert_uint_eq(out[size / 4 - 1], 0x01010101);
        free(in);
        free(out);
    }
}
END_TEST

/* The bytes taken from pageable memory for pending copies, and for later ones. */
START_TEST(large_pageable_copies_on_their_way_keep_their_own_bytes)
{
    enum { COPIES = 3, ROUNDS = 2 };
    static const size_t sizes[COPIES] = {2 << 20, 3 << 20, 1 << 20};
    unsigned char *in = malloc(sizes[1]), *out = malloc(sizes[1]);
    test_context(_i);
    for (int round = 0; round < ROUNDS; round++) {
        CUdeviceptr to[COPIES];
        for (int k = 0; k < COPIES; k++) {
            to[k] = test_device(sizes[k]);
            memset(in, COPIES * round + k, sizes[k]);
            OK(cuMemcpyHtoDAsync(to[k], in, sizes[k], test_stream(CU_STREAM_NON_BLOCKING)));
        }
        OK(cuCtxSynchronize());
        for (int k = 0; k < COPIES; k++) {
            OK(cuMemcpyDtoH(out, to[k], sizes[k]));
            for (size_t i = 0; i < sizes[k]; i += 4093)
                ck_assert_uint_eq(out[i], COPIES * round + k);
        }
    }
    free(in);
    free(out);
}
END_TEST

START_TEST(earliest_an_asynchronous_copy_has_run_on_return)
{
    test_context(EARLIEST);
    unsigned *out = test_pinned(BYTES);
    CUdeviceptr a = test_device(BYTES);
    OK(cuMemsetD32Async(a, 3, N, NULL));
    OK(cuMemcpyDtoHAsync(out, a, BYTES, NULL));
    ck_assert_uint_eq(out[0], 3);
}
END_TEST

START_TEST(latest_a_memset_of_device_memory_is_not_waited_for)
{
    test_context(LATEST);
    unsigned *out = test_pinned(BYTES);
    CUstream other = test_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr a = test_device(BYTES);
    OK(cuMemsetD32(a, 3, N));
    OK(cuMemcpyDtoHAsync(out, a, BYTES, other));
    OK(cuStreamSynchronize(other));
    ck_assert_uint_eq(out[0], 0x7f7f7f7f);
}
END_TEST

START_TEST(a_memset_of_pinned_or_managed_memory_is_waited_for)
{
    test_context(_i);
    unsigned *pinned = test_pinned(BYTES);
    CUdeviceptr managed;
    OK(cuMemAllocManaged(&managed, BYTES, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemsetD32((CUdeviceptr)(uintptr_t)pinned, 3, N));
    ck_assert_uint_eq(pinned[N - 1], 3);
    OK(cuMemsetD32(managed, 4, N));
    ck_assert_uint_eq(((unsigned *)(uintptr_t)managed)[N - 1], 4);
}
END_TEST

START_TEST(memsets_fill_units_of_every_size)
{
    test_context(_i);
    unsigned char out[64];
    CUdeviceptr a = test_device(64);
    OK(cuMemsetD8(a, 0, 64));
    OK(cuMemsetD8(a + 1, 0xab, 3));
    OK(cuMemsetD16(a + 8, 0x1234, 2));
    OK(cuMemsetD32(a + 16, 0x89abcdef, 1));
    OK(cuMemcpyDtoH(out, a, 64));
    static const unsigned char wanted[24] = {0,    0xab, 0xab, 0xab, 0, 0, 0,    0,    0x34, 0x12,
                                             0x34, 0x12, 0,    0,    0, 0, 0xef, 0xcd, 0xab, 0x89};
    ck_assert_mem_eq(out, wanted, sizeof wanted);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(a + 2, 0, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(a, 0, 65));
}
END_TEST

START_TEST(rows_and_slices_are_copied_and_filled)
{
    enum { WIDTH = 12, HEIGHT = 3, DEPTH = 2 };
    test_context(_i);
    unsigned char host[DEPTH * HEIGHT * WIDTH], out[sizeof host];
    CUdeviceptr pitched;
    size_t pitch;
    for (unsigned i = 0; i < sizeof host; i++) host[i] = (unsigned char)i;
    OK(cuMemAllocPitch(&pitched, &pitch, WIDTH, HEIGHT * DEPTH, 4));
    ck_assert_uint_ge(pitch, WIDTH);
    OK(cuMemsetD2D8(pitched, pitch, 0xee, WIDTH, HEIGHT * DEPTH));
    CUDA_MEMCPY3D copy = {
        .srcMemoryType = CU_MEMORYTYPE_HOST,
        .srcHost = host,
        .srcPitch = WIDTH,
        .srcHeight = HEIGHT,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = pitched,
        .dstPitch = pitch,
        .dstHeight = HEIGHT,
        .WidthInBytes = WIDTH,
        .Height = HEIGHT,
        .Depth = DEPTH,
    };
    OK(cuMemcpy3D(&copy));
    CUDA_MEMCPY2D back = {
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice = pitched,
        .srcPitch = pitch,
        .srcXInBytes = 4,
        .srcY = 1,
        .dstMemoryType = CU_MEMORYTYPE_HOST,
        .dstHost = out,
        .dstPitch = 8,
        .WidthInBytes = 8,
        .Height = HEIGHT * DEPTH - 1,
    };
    OK(cuMemcpy2D(&back));
    for (int y = 0; y < HEIGHT * DEPTH - 1; y++)
        for (int x = 0; x < 8; x++)
            ck_assert_uint_eq(out[y * 8 + x], host[(y + 1) * WIDTH + x + 4]);
    back.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&back));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(NULL));
}
END_TEST

/* Sizes that would begin again at 0. */
START_TEST(a_box_larger_than_all_addresses_is_refused)
{
    test_context(_i);
    const CUdeviceptr from = test_device(64), to = test_device(64);
    const CUDA_MEMCPY3D right = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                 .srcDevice = from,
                                 .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                 .dstDevice = to,
                                 .WidthInBytes = 4,
                                 .Height = 2,
                                 .Depth = 2};
    CUDA_MEMCPY3D wrong[] = {right, right, right, right};
    OK(cuMemsetD8(from, 1, 64));
    OK(cuMemsetD8(to, 1, 64));
    OK(cuMemcpy3D(&right));
    wrong[0].srcPitch = (size_t)1 << 32, wrong[0].srcHeight = (size_t)1 << 32;
    wrong[1].srcDevice += 32, wrong[1].srcXInBytes = SIZE_MAX - 15, wrong[1].srcPitch = 4;
    wrong[2].dstDevice += 32, wrong[2].dstY = SIZE_MAX - 1, wrong[2].dstHeight = 2;
    wrong[3].dstDevice += 32, wrong[3].dstZ = SIZE_MAX - 1;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(cuMemcpy3D(&wrong[i]) == CUDA_ERROR_INVALID_VALUE, "%zu", i);
}
END_TEST

START_TEST(a_pointer_of_the_wrong_side_is_named)
{
    test_context(_i);
    unsigned *host = calloc(N, 4);
    CUdeviceptr a = test_device(BYTES), b = test_device(BYTES);
    const CUdeviceptr host_address = (CUdeviceptr)(uintptr_t)host;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(host_address, host, BYTES));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoD(a, host_address, BYTES));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(host_address, 0, N));
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "wrong side"), 3);
    ck_assert_uint_ne(test_find(TRACE_FINDING, 0, "wrong side")->caller, 0);

    /* A device address passed as a host address: copied by where it is, and reported all the
     * same. */
    OK(cuMemsetD32(a, 7, N));
    OK(cuMemcpyHtoD(b, (void *)(uintptr_t)a, BYTES));
    OK(cuMemcpyDtoH(host, b, BYTES));
    ck_assert_uint_eq(host[N - 1], 7);
    OK(cuMemsetD32(a, 8, N));
    OK(cuMemcpyDtoHAsync((void *)(uintptr_t)b, a, BYTES, NULL));
    OK(cuMemcpyDtoH(host, b, BYTES));
    ck_assert_uint_eq(host[0], 8);
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "wrong side"), 5);
    free(host);
}
END_TEST

START_TEST(a_copy_past_the_end_is_refused_and_named)
{
    test_context(_i);
    unsigned *host = calloc(N + 1, 4);
    CUdeviceptr a = test_device(BYTES);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(a, host, BYTES + 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host, a + 4, BYTES));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host, a + BYTES, 1));
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "out of bounds"), 2);
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "invalid address"), 1);
    free(host);
}
END_TEST

START_TEST(a_host_pointer_that_leads_nowhere_is_an_error_not_a_crash)
{
    test_context(_i);
    CUdeviceptr a = test_device(BYTES);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(a, (void *)16, BYTES));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH((void *)16, a, BYTES));
    OK(cuCtxSynchronize());
}
END_TEST

START_TEST(copies_overlap_and_kernels_read_pinned_memory)
{
    test_context(_i);
    unsigned *pinned = test_pinned(BYTES);
    CUdeviceptr a = test_device(BYTES), mapped;
    for (unsigned i = 0; i < N; i++) pinned[i] = i;
    OK(cuMemHostGetDevicePointer(&mapped, pinned, 0));
    OK(test_launch("copy", NULL, a, mapped, N));
    OK(test_launch("add", NULL, mapped, 5, N));
    OK(cuCtxSynchronize());
    check_numbers(pinned, 5);
    OK(cuMemcpyDtoH(pinned, a, BYTES));
    check_numbers(pinned, 0);
}
END_TEST

/* The trace records what was moved, from where to where, and when. */
START_TEST(copies_are_recorded_with_their_places)
{
    test_context(_i);
    unsigned *pageable = numbers(0), *pinned = test_pinned(BYTES);
    CUdeviceptr a = test_device(BYTES), b = test_device(BYTES);
    OK(cuMemcpyHtoD(a, pageable, BYTES));
    OK(cuMemcpyDtoD(b, a, BYTES));
    OK(cuMemcpyDtoHAsync(pinned, b, BYTES, NULL));
    OK(cuCtxSynchronize());
    static const struct {
        uint32_t from, to;
        bool asynchronous;
    } wanted[] = {{TRACE_PAGEABLE, TRACE_DEVICE, false},
                  {TRACE_DEVICE, TRACE_DEVICE, false},
                  {TRACE_DEVICE, TRACE_PINNED, true}};
    const struct trace *trace = test_trace();
    size_t seen = 0;
    uint64_t end = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_record *r = &trace->records[i];
        if (r->kind != TRACE_OPERATION || r->what != TRACE_COPY) continue;
        ck_assert_uint_eq(r->from, wanted[seen].from);
        ck_assert_uint_eq(r->to, wanted[seen].to);
        ck_assert_uint_eq(r->bytes, BYTES);
        ck_assert_uint_eq((r->flags & TRACE_ASYNC) != 0, wanted[seen].asynchronous);
        ck_assert_uint_ge(r->start_ns, end);
        ck_assert_uint_gt(r->end_ns, r->start_ns);
        ck_assert_uint_ne(r->request, 0);
        end = r->end_ns;
        seen++;
    }
    ck_assert_uint_eq(seen, 3);
    free(pageable);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("DriverCopy");
    TCase *tcase = tcase_create("copies");
    tcase_set_timeout(tcase, 300);
    const TTest *const all_orders[] = {
        a_round_trip_gives_the_same_bytes,
        fresh_memory_is_poisoned_not_zero,
        a_pageable_source_may_be_changed_after_the_synchronous_copy,
        a_synchronous_pageable_copy_waits_for_its_stream_first,
        a_pinned_copy_in_is_complete_on_return,
        a_copy_out_is_complete_on_return,
        a_copy_between_host_memories_is_complete_on_return,
        a_memset_of_pinned_or_managed_memory_is_waited_for,
        memsets_fill_units_of_every_size,
        rows_and_slices_are_copied_and_filled,
        a_box_larger_than_all_addresses_is_refused,
        a_pointer_of_the_wrong_side_is_named,
        a_copy_past_the_end_is_refused_and_named,
        a_host_pointer_that_leads_nowhere_is_an_error_not_a_crash,
        copies_overlap_and_kernels_read_pinned_memory,
        copies_are_recorded_with_their_places,
        large_pageable_copies_on_their_way_keep_their_own_bytes,
    };
    for (size_t i = 0; i < sizeof all_orders / sizeof *all_orders; i++)
        tcase_add_loop_test(tcase, all_orders[i], 0, ORDERS);
    tcase_add_test(tcase, latest_a_pageable_copy_in_has_not_arrived_for_another_stream);
    tcase_add_test(tcase, latest_a_copy_inside_the_device_is_not_waited_for);
    tcase_add_test(tcase,
                   latest_an_asynchronous_pinned_copy_out_is_not_there_before_a_synchronisation);
    tcase_add_test(tcase, latest_an_asynchronous_pageable_copy_out_is_there_when_it_returns);
    tcase_add_test(tcase,
                   latest_an_asynchronous_pageable_copy_in_has_taken_its_source_when_it_returns);
    tcase_add_test(tcase, earliest_an_asynchronous_copy_has_run_on_return);
    tcase_add_test(tcase, latest_a_memset_of_device_memory_is_not_waited_for);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
