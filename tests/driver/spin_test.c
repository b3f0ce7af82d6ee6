/* Kernels that wait while they run: for a value that a stream writes, before one that a stream
 * waits for, for ever, and while their memory or their context is destroyed. */
#include "tests/driver/support.h"

#include <stdlib.h>
#include <string.h>

/* serves(in, out): waits until *in is not 0, then writes it to *out. */
static const char text[] =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry serves(.param .u64 in, .param .u64 out) {\n"
    ".reg .b64 %a, %b; .reg .b32 %v; .reg .pred %p;\n"
    "ld.param.u64 %a, [in]; ld.param.u64 %b, [out];\n"
    "again: ld.volatile.global.u32 %v, [%a]; setp.eq.u32 %p, %v, 0;\n@%p bra again;\n"
    "membar.sys; st.volatile.global.u32 [%b], %v; ret; }\n";

static CUfunction serves;

static void begin(int order)
{
    CUmodule module;
    test_context(order);
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(&serves, module, "serves"));
}

static void serve(CUstream stream, CUdeviceptr in, CUdeviceptr out)
{
    void *parameters[] = {&in, &out};
    OK(cuLaunchKernel(serves, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}

/* Returns three words of zeros. */
static CUdeviceptr words(void)
{
    CUdeviceptr p = test_device(16);
    OK(cuMemsetD32(p, 0, 4));
    OK(cuCtxSynchronize());
    return p;
}

static uint32_t word(CUdeviceptr p)
{
    uint32_t value;
    OK(cuMemcpyDtoH(&value, p, sizeof value));
    return value;
}

START_TEST(values_go_from_stream_to_kernel_to_stream)
{
    begin(_i);
    CUstream a = test_stream(CU_STREAM_NON_BLOCKING), b = test_stream(CU_STREAM_NON_BLOCKING),
             c = test_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr p = words();
    serve(a, p, p + 4);
    FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(a));
    OK(cuStreamWaitValue32(c, p + 4, 9, CU_STREAM_WAIT_VALUE_EQ));
    OK(test_launch("set", c, p + 8, 10, 1));
    FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(c));
    OK(cuStreamWriteValue32(b, p, 9, 0));
    OK(cuStreamSynchronize(c));
    ck_assert_uint_eq(word(p + 4), 9);
    ck_assert_uint_eq(word(p + 8), 10);
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, NULL), 0);
}
END_TEST

/* Queries do not use up its patience; a wait does. */
START_TEST(one_that_waits_for_ever_is_named)
{
    setenv("OVERLAP_INSTRUCTION_LIMIT", "1000000", 1);
    begin(_i);
    CUstream a = test_stream(0);
    CUdeviceptr p = words();
    serve(a, p, p + 4);
    for (int i = 0; i < 300; i++) FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(a));
    FAILS(CUDA_ERROR_LAUNCH_TIMEOUT, cuStreamSynchronize(a));
    const struct trace_record *found = test_find(TRACE_FINDING, 0, "endless kernel");
    ck_assert_ptr_nonnull(found);
    ck_assert_ptr_nonnull(strstr(test_sentence(found), "serves"));
    ck_assert_ptr_nonnull(strstr(test_sentence(found), "reading a value that does not change"));
}
END_TEST

START_TEST(a_context_ends_with_a_kernel_that_waits)
{
    begin(_i);
    CUstream a = test_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr p = words();
    serve(a, p, p + 4);
    OK(test_launch("set", a, p + 8, 10, 1));
    FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(a));
    OK(cuCtxDestroy(test_context_handle));
    CUcontext next;
    CUctxCreateParams parameters = {0};
    OK(cuCtxCreate(&next, &parameters, 0, 0));
    p = words();
    OK(cuStreamWriteValue32(NULL, p, 3, 0));
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(word(p), 3);
}
END_TEST

START_TEST(its_memory_goes_while_it_waits)
{
    CUdeviceptr p;
    begin(_i);
    CUdeviceptr out = words();
    CUstream other = test_stream(CU_STREAM_NON_BLOCKING);
    OK(cuMemAllocAsync(&p, 16, other));
    OK(cuMemsetD32Async(p, 0, 4, other));
    OK(cuStreamSynchronize(other));
    serve(test_stream(CU_STREAM_NON_BLOCKING), p, out);
    OK(cuMemFreeAsync(p, other));
    cuStreamSynchronize(other); /* under the earliest order the fault is already there */
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    ck_assert_ptr_nonnull(test_find(TRACE_FINDING, 0, "use after free"));
}
END_TEST

/* A node of a graph waits as well; other launches of the graph are separate. */
START_TEST(a_graphs_kernel_waits)
{
    begin(_i);
    CUstream a = test_stream(CU_STREAM_NON_BLOCKING), b = test_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr p = words();
    CUgraph graph;
    CUgraphExec exec;
    OK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    serve(a, p, p + 4);
    OK(test_launch("add", a, p + 8, 1, 1));
    OK(cuStreamEndCapture(a, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    for (uint32_t i = 1; i <= 3; i++) {
        OK(cuGraphLaunch(exec, a));
        FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(a));
        OK(cuMemsetD32Async(p, i, 1, b));
        OK(cuStreamSynchronize(a));
        ck_assert_uint_eq(word(p + 4), i);
        ck_assert_uint_eq(word(p + 8), i);
        OK(cuMemsetD32Async(p, 0, 1, b));
        OK(cuStreamSynchronize(b));
    }
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("DriverSpin");
    TCase *tcase = tcase_create("spinning");
    tcase_set_timeout(tcase, 300);
    const TTest *const all_orders[] = {
        values_go_from_stream_to_kernel_to_stream,
        one_that_waits_for_ever_is_named,
        a_context_ends_with_a_kernel_that_waits,
        its_memory_goes_while_it_waits,
        a_graphs_kernel_waits,
    };
    for (size_t i = 0; i < sizeof all_orders / sizeof *all_orders; i++)
        tcase_add_loop_test(tcase, all_orders[i], 0, ORDERS);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
