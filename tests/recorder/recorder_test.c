/* The recorder's parts that need no GPU: names, parameters, numbers. gpu.sh tests what CUPTI itself
 * delivers. */
#include "recorder/calls.h"
#include "recorder/objects.h"
#include "trace/trace.h"

#include <check.h>
#include <cuda_runtime_api.h>

/* Structs with the layout of cudaEventRecord's and cudaMalloc's parameters. */
struct event_parameters {
    void *event, *stream;
};
struct malloc_parameters {
    void **pointer;
    size_t size;
};

START_TEST(names_lose_their_versions)
{
    static const struct {
        const char *name, *plain;
        bool per_thread;
    } rows[] = {
        {"cudaMalloc", "cudaMalloc", false},
        {"cuMemcpyHtoDAsync_v2", "cuMemcpyHtoDAsync", false},
        {"cuMemcpyHtoDAsync_v2_ptsz", "cuMemcpyHtoDAsync", true},
        {"cudaMemcpyAsync_ptsz", "cudaMemcpyAsync", true},
        {"cudaMemcpy_ptds_v7000", "cudaMemcpy", true},
        {"__cudaLaunchKernel_ptsz", "cudaLaunchKernel", true},
        {"cuMemsetD2D8_v2", "cuMemsetD2D8", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char plain[TRACE_NAME_SIZE];
        bool per_thread;
        calls_plain_name(rows[i].name, plain, sizeof plain, &per_thread);
        ck_assert_str_eq(plain, rows[i].plain);
        ck_assert_int_eq(per_thread, rows[i].per_thread);
    }
}
END_TEST

START_TEST(parameters_are_read_by_the_row)
{
    struct event_parameters event = {(void *)0x1000, (void *)0x2000};
    const struct calls_row *row = calls_find("cudaEventRecord");

    ck_assert_ptr_nonnull(row);
    ck_assert_uint_eq(calls_parameter(&event, row->event), 0x1000);
    ck_assert_uint_eq(calls_parameter(&event, row->stream), 0x2000);
    ck_assert_uint_eq(calls_parameter(&event, row->handle), 0);
    ck_assert_uint_eq(calls_parameter(NULL, row->event), 0);

    void *memory = (void *)0x3000;
    struct malloc_parameters allocation = {&memory, 4096};
    row = calls_find("cudaMalloc");
    ck_assert_int_eq(row->effect, CALLS_MAKES);
    ck_assert_uint_eq(row->what, TRACE_DEVICE_MEMORY);
    ck_assert_uint_eq(calls_pointed(&allocation, row->handle), 0x3000);
    ck_assert_uint_eq(calls_parameter(&allocation, row->bytes), 4096);
    ck_assert_ptr_null(calls_find("cudaNoSuchFunction"));

    row = calls_find("cudaMallocFromPoolAsync");
    ck_assert_ptr_nonnull(row);
    ck_assert_int_eq(row->effect, CALLS_POOLED);

    cudaLaunchConfig_t config = {.stream = (void *)0x4000};
    struct {
        const cudaLaunchConfig_t *config;
    } launch = {&config};
    row = calls_find("cudaLaunchKernelExC");
    ck_assert_ptr_nonnull(row);
    ck_assert_uint_eq(calls_stream(row, &launch), 0x4000);
    ck_assert_uint_eq(calls_stream(calls_find("cudaEventRecord"), &event), 0x2000);
}
END_TEST

START_TEST(asynchronous_by_name)
{
    ck_assert(calls_is_asynchronous("cudaMemcpyAsync"));
    ck_assert(calls_is_asynchronous("cudaLaunchKernel"));
    ck_assert(calls_is_asynchronous("cudaEventRecord"));
    ck_assert(!calls_is_asynchronous("cudaMemcpy"));
    ck_assert(!calls_is_asynchronous("cudaEventQuery"));
    ck_assert(calls_is_generated("__cudaPushCallConfiguration"));
    ck_assert(calls_is_generated("cuKernelGetName"));
    ck_assert(!calls_is_generated("__cudaLaunchKernel_ptsz"));
    ck_assert(!calls_is_generated("cudaLaunchKernel"));
}
END_TEST

START_TEST(a_handle_used_again_is_another_object)
{
    struct object stream = {.what = TRACE_EVENT, .handle = 0x10, .context = 1}, taken;
    uint64_t first = objects_add(&stream);

    ck_assert_uint_ne(first, 0);
    ck_assert_uint_eq(objects_find(TRACE_EVENT, 0x10), first);
    ck_assert_uint_eq(objects_find(TRACE_STREAM, 0x10), 0);
    ck_assert_int_eq(objects_take(TRACE_EVENT, 0x10, &taken), 1);
    ck_assert_uint_eq(taken.id, first);
    ck_assert_int_eq(objects_take(TRACE_EVENT, 0x10, &taken), 0);
    ck_assert_uint_ne(objects_add(&stream), first);
}
END_TEST

START_TEST(a_context_takes_its_objects_along)
{
    struct object taken;

    for (uint64_t i = 0; i < 5000; i++) {
        struct object object = {
            .what = TRACE_DEVICE_MEMORY, .handle = 0x100 + i * 512, .context = 1 + i % 2};
        objects_add(&object);
    }
    int count = 0;
    while (objects_take_of_context(2, false, &taken)) {
        ck_assert_uint_eq(taken.context, 2);
        count++;
    }
    ck_assert_int_eq(count, 2500);
    ck_assert_uint_ne(objects_find(0, 0x100), 0);
    ck_assert_uint_eq(objects_find(0, 0x100 + 512), 0);
}
END_TEST

/* cuCtxDestroy leaves memory from a pool, and the pool: NVIDIA's documentation of it. */
START_TEST(a_context_leaves_what_is_of_a_pool)
{
    static const struct {
        const char *name;
        enum calls_effect effect;
    } rows[] = {
        {"cuMemAllocAsync", CALLS_POOLED}, {"cudaMallocAsync", CALLS_POOLED},
        {"cuMemPoolCreate", CALLS_POOLED}, {"cudaMemPoolCreate", CALLS_POOLED},
        {"cuMemAlloc", CALLS_MAKES},       {"cuMemAllocManaged", CALLS_MAKES},
        {"cuMemAllocHost", CALLS_MAKES},   {"cuMemAllocPitch", CALLS_MAKES},
        {"cuEventCreate", CALLS_MAKES},
    };
    const struct object plain = {.what = TRACE_DEVICE_MEMORY, .handle = 0x40, .context = 9},
                        pooled = {.what = TRACE_DEVICE_MEMORY,
                                  .handle = 0x50,
                                  .context = 9,
                                  .pooled = true};
    struct object taken;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_msg(calls_find(rows[i].name)->effect == rows[i].effect, "%s", rows[i].name);
    objects_add(&pooled);
    objects_add(&plain);
    ck_assert_int_eq(objects_take_of_context(9, false, &taken), 1);
    ck_assert_uint_eq(taken.handle, plain.handle);
    ck_assert_int_eq(objects_take_of_context(9, false, &taken), 0);
    ck_assert_uint_ne(objects_find(TRACE_DEVICE_MEMORY, pooled.handle), 0);
    ck_assert_int_eq(objects_take_of_context(9, true, &taken), 1);
    ck_assert_uint_eq(taken.handle, pooled.handle);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recorder");
    TCase *tcase = tcase_create("parts");
    tcase_add_test(tcase, names_lose_their_versions);
    tcase_add_test(tcase, parameters_are_read_by_the_row);
    tcase_add_test(tcase, asynchronous_by_name);
    tcase_add_test(tcase, a_handle_used_again_is_another_object);
    tcase_add_test(tcase, a_context_takes_its_objects_along);
    tcase_add_test(tcase, a_context_leaves_what_is_of_a_pool);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
