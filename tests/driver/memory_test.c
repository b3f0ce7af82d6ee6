/* Memory through the API: allocation of every kind, limits, attributes of addresses, freeing. */
#include "tests/driver/support.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N = 256, BYTES = N * 4 };

START_TEST(device_memory_is_counted_and_runs_out)
{
    size_t free_bytes, total, after;
    CUdeviceptr p, q;
    setenv("OVERLAP_MEMORY", "64M", 1);
    test_context(_i);
    OK(cuMemGetInfo(&free_bytes, &total));
    ck_assert_uint_eq(total, 64 << 20);
    OK(cuMemAlloc(&p, 40 << 20));
    OK(cuMemGetInfo(&after, &total));
    ck_assert_uint_eq(free_bytes - after, 40 << 20);
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&q, 40 << 20));
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&q, (size_t)1 << 60));
    OK(cuMemFree(p));
    OK(cuMemAlloc(&q, 40 << 20));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&p, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(NULL, 4));
}
END_TEST

START_TEST(freeing_is_for_what_was_allocated_once)
{
    test_context(_i);
    CUdeviceptr p = test_device(BYTES);
    void *pinned = test_pinned(BYTES);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(p + 4));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree((CUdeviceptr)(uintptr_t)pinned));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost((void *)(uintptr_t)p));
    int local;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(&local));
    OK(cuMemFree(p));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));
    OK(cuMemFreeHost(pinned));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(pinned));
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "invalid free"), 4);
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "double free"), 2);
    const struct trace_record *twice = test_find(TRACE_FINDING, 0, "double free");
    ck_assert_ptr_nonnull(strstr(test_sentence(twice), ", allocated by the call before 0x"));
    ck_assert_ptr_nonnull(strstr(test_sentence(twice), ", freed by the call before 0x"));
}
END_TEST

START_TEST(what_a_stream_is_to_free_is_not_freed_again)
{
    test_context(_i);
    CUstream stream = test_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr p;
    OK(cuMemAllocAsync(&p, BYTES, stream));
    OK(cuMemFreeAsync(p, stream));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(p, stream));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));
    OK(cuStreamSynchronize(stream));
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "double free"), 2);
    ck_assert_uint_eq(test_count(TRACE_DESTROY, TRACE_DEVICE_MEMORY, NULL), 1);
}
END_TEST

/* The pool belongs to the device: the end of the context does not free its allocations. */
START_TEST(a_pools_memory_outlives_the_context)
{
    test_context(_i);
    CUcontext own;
    CUdeviceptr in_order, plain;
    OK(cuCtxCreate(&own, NULL, 0, 0));
    OK(cuMemAlloc(&plain, 4));
    OK(cuMemAllocAsync(&in_order, 4, NULL));
    OK(cuCtxSynchronize());
    const size_t before = test_count(TRACE_DESTROY, TRACE_DEVICE_MEMORY, NULL);
    OK(cuCtxDestroy(own));
    ck_assert_uint_eq(test_count(TRACE_DESTROY, TRACE_DEVICE_MEMORY, NULL), before + 1);
}
END_TEST

START_TEST(a_slip_in_a_loop_is_one_finding_with_a_count)
{
    test_context(_i);
    for (int i = 0; i < 7; i++) {
        CUdeviceptr p = test_device(BYTES);
        FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(p + 4));
        OK(cuMemFree(p));
    }
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "invalid free"), 1);
    ck_assert_uint_eq(test_find(TRACE_FINDING, 0, "invalid free")->count, 7);
}
END_TEST

START_TEST(creations_and_ends_are_recorded)
{
    test_context(_i);
    CUdeviceptr p = test_device(BYTES);
    void *pinned = test_pinned(2 * BYTES);
    const struct trace_record *device = test_find(TRACE_CREATE, TRACE_DEVICE_MEMORY, NULL);
    ck_assert_uint_eq(device->address, p);
    ck_assert_uint_eq(device->bytes, BYTES);
    ck_assert_uint_ne(device->caller, 0);
    const struct trace_record *host = test_find(TRACE_CREATE, TRACE_PINNED_MEMORY, NULL);
    ck_assert_uint_eq(host->address, (uintptr_t)pinned);
    OK(cuMemFree(p));
    ck_assert_uint_eq(test_count(TRACE_DESTROY, TRACE_DEVICE_MEMORY, NULL), 1);
    ck_assert_uint_eq(test_count(TRACE_DESTROY, TRACE_PINNED_MEMORY, NULL), 0); /* the leak */
}
END_TEST

START_TEST(an_address_is_what_it_was_allocated_as)
{
    CUmemorytype type;
    CUcontext context;
    CUdeviceptr base, device;
    size_t size;
    unsigned managed_flag;
    void *host;
    test_context(_i);
    CUdeviceptr p = test_device(BYTES), managed;
    void *pinned = test_pinned(BYTES);
    OK(cuMemAllocManaged(&managed, BYTES, CU_MEM_ATTACH_GLOBAL));
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 8));
    ck_assert_int_eq(type, CU_MEMORYTYPE_DEVICE);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)pinned));
    ck_assert_int_eq(type, CU_MEMORYTYPE_HOST);
    OK(cuPointerGetAttribute(&managed_flag, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed));
    ck_assert_uint_eq(managed_flag, 1);
    OK(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, p));
    ck_assert_ptr_eq(context, test_context_handle);
    OK(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, (CUdeviceptr)pinned));
    ck_assert_ptr_eq(host, pinned);
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, p));
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)&type));
    OK(cuMemGetAddressRange(&base, &size, p + 100));
    ck_assert_uint_eq(base, p);
    ck_assert_uint_eq(size, BYTES);
    FAILS(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&base, &size, p + BYTES));

    OK(cuMemAllocAsync(&device, BYTES, NULL));
    const CUdeviceptr all[] = {p, managed, (CUdeviceptr)pinned, device};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        unsigned can_be_shared = 77;
        OK(cuPointerGetAttribute(&can_be_shared, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
                                 all[i]));
        ck_assert_uint_eq(can_be_shared, i == 0);
    }

    CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   CU_POINTER_ATTRIBUTE_DEVICE_POINTER};
    void *answers[] = {&type, &device};
    OK(cuPointerGetAttributes(2, asked, answers, p + 8));
    ck_assert_int_eq(type, CU_MEMORYTYPE_DEVICE);
    ck_assert_uint_eq(device, p + 8);
    OK(cuPointerGetAttributes(2, asked, answers, (CUdeviceptr)&type)); /* unknown: zeros */
    ck_assert_int_eq(type, 0);
    ck_assert_uint_eq(device, 0);
}
END_TEST

START_TEST(registered_memory_is_pinned)
{
    unsigned flags;
    CUdeviceptr mapped;
    test_context(_i);
    CUdeviceptr p = test_device(BYTES);
    unsigned *mine = malloc(BYTES);
    memset(mine, 0, BYTES);
    OK(cuMemHostRegister(mine, BYTES, CU_MEMHOSTREGISTER_PORTABLE));
    FAILS(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(mine, BYTES, 0));
    FAILS(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(mine + 4, 4, 0));
    OK(cuMemHostGetFlags(&flags, mine));
    ck_assert_uint_eq(flags & CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_PORTABLE);
    OK(cuMemHostGetDevicePointer(&mapped, mine, 0));
    OK(test_launch("set", NULL, mapped, 6, N));
    OK(cuMemcpyHtoDAsync(p, mine, BYTES, NULL));
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(mine[N - 1], 6);
    ck_assert_uint_eq(test_find(TRACE_OPERATION, TRACE_COPY, NULL)->from, TRACE_PINNED);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFreeHost(mine));
    OK(cuMemHostUnregister(mine));
    FAILS(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(mine));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemHostGetDevicePointer(&mapped, mine, 0));
    free(mine);
}
END_TEST

START_TEST(only_memory_that_is_there_is_registered)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), most = 3000 * page;
    test_context(_i);
    unsigned char *mine = mmap(NULL, most, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert(mine != MAP_FAILED);
    OK(cuMemHostRegister(mine, most, 0));
    OK(cuMemHostUnregister(mine));
    munmap(mine + most - page, page);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(mine, most, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister((void *)page, 16, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(mine, SIZE_MAX, 0));
}
END_TEST

START_TEST(managed_memory_is_both_sides)
{
    CUdeviceptr p;
    test_context(_i);
    OK(cuMemAllocManaged(&p, BYTES, CU_MEM_ATTACH_GLOBAL));
    unsigned *host = (unsigned *)(uintptr_t)p;
    for (unsigned i = 0; i < N; i++) host[i] = i;
    OK(cuMemPrefetchAsync(p, BYTES, (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
                          0, NULL));
    OK(test_launch("add", NULL, p, 3, N));
    OK(cuCtxSynchronize());
    for (unsigned i = 0; i < N; i++) ck_assert_uint_eq(host[i], i + 3);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAllocManaged(&p, BYTES, 7));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAllocManaged(&p, 0, CU_MEM_ATTACH_GLOBAL));
}
END_TEST

START_TEST(stream_ordered_memory_lives_between_its_calls)
{
    CUdeviceptr p;
    CUmemoryPool pool;
    cuuint64_t threshold = 123;
    size_t before, after, total;
    test_context(_i);
    unsigned *out = test_pinned(BYTES);
    CUstream stream = test_stream(CU_STREAM_NON_BLOCKING);
    OK(cuMemGetInfo(&before, &total));
    OK(cuMemAllocAsync(&p, BYTES, stream));
    OK(test_launch("set", stream, p, 4, N));
    OK(cuMemcpyDtoHAsync(out, p, BYTES, stream));
    OK(cuMemFreeAsync(p, stream));
    OK(cuStreamSynchronize(stream));
    ck_assert_uint_eq(out[N - 1], 4);
    OK(cuMemGetInfo(&after, &total));
    ck_assert_uint_eq(before, after);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(p, stream));
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    threshold = 0;
    OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    ck_assert_uint_eq(threshold, 123);
    OK(cuMemAllocFromPoolAsync(&p, BYTES, pool, stream));
    OK(cuMemFree(p));
}
END_TEST

static cuuint64_t pool_value(CUmemoryPool pool, CUmemPool_attribute attribute)
{
    cuuint64_t value = 77;
    OK(cuMemPoolGetAttribute(pool, attribute, &value));
    return value;
}

/* The values are an H200's. */
START_TEST(a_pool_keeps_what_its_threshold_says)
{
    const CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                       .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    const uint64_t piece = 32u << 20;
    cuuint64_t threshold = UINT64_MAX;
    test_context(_i);
    for (int keeps = 0; keeps < 2; keeps++) {
        CUmemoryPool pool;
        CUdeviceptr p;
        OK(cuMemPoolCreate(&pool, &properties));
        if (keeps) OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
        OK(cuMemAllocFromPoolAsync(&p, 40000, pool, NULL));
        ck_assert_uint_eq(pool_value(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), piece);
        OK(cuMemFreeAsync(p, NULL));
        ck_assert_uint_eq(pool_value(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
        OK(cuCtxSynchronize());
        ck_assert_uint_eq(pool_value(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT),
                          keeps ? piece : 0);
        OK(cuMemPoolTrimTo(pool, 0));
        ck_assert_uint_eq(pool_value(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
        ck_assert_uint_eq(pool_value(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH), piece);
        OK(cuMemPoolDestroy(pool));
    }
}
END_TEST

START_TEST(a_pool_has_no_more_than_its_greatest_size)
{
    const size_t most = 32u << 20;
    const CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                       .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
                                       .maxSize = most};
    CUmemoryPool pool;
    CUdeviceptr p, q;
    test_context(_i);
    OK(cuMemPoolCreate(&pool, &properties));
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocFromPoolAsync(&q, most + 1, pool, NULL));
    OK(cuMemAllocFromPoolAsync(&p, most, pool, NULL));
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAllocFromPoolAsync(&q, 16, pool, NULL));
    OK(cuMemFreeAsync(p, NULL));
    OK(cuMemAllocFromPoolAsync(&q, most, pool, NULL)); /* in the same stream */
    OK(cuMemFreeAsync(q, NULL));
}
END_TEST

START_TEST(a_pool_knows_what_is_taken_from_it)
{
    CUmemoryPool pool, of;
    CUdeviceptr a, b;
    cuuint64_t none = 0, some = 5;
    int reuse = 0;
    test_context(_i);
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &reuse));
    ck_assert_int_eq(reuse, 1);
    OK(cuMemAllocAsync(&a, 0, NULL));
    ck_assert_uint_eq(a, 0);
    OK(cuMemFreeAsync(a, NULL));
    OK(cuMemAllocAsync(&a, 1000, NULL));
    OK(cuMemAllocAsync(&b, 24, NULL));
    ck_assert_uint_eq(pool_value(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 1024);
    ck_assert_uint_ge(pool_value(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 1024);
    OK(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, a));
    ck_assert_ptr_eq(of, pool);
    OK(cuMemFreeAsync(a, NULL));
    OK(cuMemFree(b));
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(pool_value(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
    ck_assert_uint_eq(pool_value(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 1024);
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &none));
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &some));
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &none));
    ck_assert_uint_eq(pool_value(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 0);
}
END_TEST

START_TEST(host_memory_of_nothing_and_flags_of_managed_memory)
{
    void *p = &p;
    CUdeviceptr managed;
    unsigned flags = 77;
    test_context(_i);
    OK(cuMemHostAlloc(&p, 0, CU_MEMHOSTALLOC_PORTABLE));
    ck_assert_ptr_null(p);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemHostAlloc(&p, 0, 16));
    OK(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemHostGetFlags(&flags, (void *)managed));
    ck_assert_uint_eq(flags, CU_MEMHOSTALLOC_DEVICEMAP);
}
END_TEST

/* rmm #2156: freed on one stream while another still uses it. */
START_TEST(latest_memory_freed_in_another_stream_is_named)
{
    CUdeviceptr p;
    test_context(LATEST);
    CUstream a = test_stream(CU_STREAM_NON_BLOCKING), b = test_stream(CU_STREAM_NON_BLOCKING);
    OK(cuMemAllocAsync(&p, BYTES, a));
    OK(cuStreamSynchronize(a));
    OK(test_launch("set", a, p, 4, N));
    OK(cuMemFreeAsync(p, b));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "use after free"), 1);
}
END_TEST

START_TEST(latest_pinned_memory_freed_under_a_copy_is_advised_about)
{
    test_context(LATEST);
    CUdeviceptr p = test_device(BYTES);
    void *pinned = test_pinned(BYTES);
    OK(cuMemsetD8(p, 1, BYTES));
    OK(cuMemcpyDtoHAsync(pinned, p, BYTES, NULL));
    OK(cuMemFreeHost(pinned));
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, NULL), 0);
    ck_assert_uint_eq(test_count(TRACE_ADVICE, 0, NULL), 1);
}
END_TEST

START_TEST(addresses_are_not_used_again_soon)
{
    test_context(LATEST);
    CUdeviceptr first = test_device(BYTES);
    OK(cuMemFree(first));
    for (int i = 0; i < 100; i++) {
        CUdeviceptr p = test_device(BYTES);
        ck_assert_uint_ne(p, first);
        ck_assert_uint_eq(p % 512, 0);
        OK(cuMemFree(p));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("DriverMemory");
    TCase *tcase = tcase_create("memory");
    tcase_set_timeout(tcase, 300);
    const TTest *const all_orders[] = {
        device_memory_is_counted_and_runs_out,
        freeing_is_for_what_was_allocated_once,
        what_a_stream_is_to_free_is_not_freed_again,
        a_pools_memory_outlives_the_context,
        a_slip_in_a_loop_is_one_finding_with_a_count,
        creations_and_ends_are_recorded,
        an_address_is_what_it_was_allocated_as,
        registered_memory_is_pinned,
        only_memory_that_is_there_is_registered,
        managed_memory_is_both_sides,
        stream_ordered_memory_lives_between_its_calls,
        a_pool_keeps_what_its_threshold_says,
        a_pool_has_no_more_than_its_greatest_size,
        a_pool_knows_what_is_taken_from_it,
        host_memory_of_nothing_and_flags_of_managed_memory,
    };
    for (size_t i = 0; i < sizeof all_orders / sizeof *all_orders; i++)
        tcase_add_loop_test(tcase, all_orders[i], 0, ORDERS);
    tcase_add_test(tcase, latest_memory_freed_in_another_stream_is_named);
    tcase_add_test(tcase, latest_pinned_memory_freed_under_a_copy_is_advised_about);
    tcase_add_test(tcase, addresses_are_not_used_again_soon);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
