/* Edges of graphs that let a kernel begin early; batches of memory operations as nodes; events of a
 * whole context. tests/gpu/graph_edges.cu and graph_driver.cu check what a GPU accepts. */
#include "tests/driver/support.h"

#include <string.h>

enum { N = 256, BYTES = N * 4 };

/* first(p): p[0] = 1, after it has let a dependent kernel begin. early(p), late(p): p[1] = p[0],
 * early before and late behind the wait for the first kernel. */
static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
#define KERNEL(name, body)                                                                         \
    ".visible .entry " name "(.param .u64 p) {\n.reg .b64 %a; .reg .b32 %v;\n"                     \
    "ld.param.u64 %a, [p];\n" body "ret; }\n"
    KERNEL("first", "griddepcontrol.launch_dependents; mov.u32 %v, 1; st.global.u32 [%a], %v;\n")
        KERNEL("early", "ld.global.u32 %v, [%a]; st.global.u32 [%a+4], %v;\n"
                        "griddepcontrol.wait;\n")
            KERNEL("late", "griddepcontrol.wait;\n"
                           "ld.global.u32 %v, [%a]; st.global.u32 [%a+4], %v;\n");

static CUgraph graph;
static CUstream stream;
static CUdeviceptr p;

static void begin(int order)
{
    test_context(order);
    stream = test_stream(CU_STREAM_NON_BLOCKING);
    p = test_device(BYTES);
    OK(cuMemsetD32(p, 0, N));
    OK(cuCtxSynchronize());
    OK(cuGraphCreate(&graph, 0));
}

static unsigned seen(unsigned index)
{
    unsigned value;
    OK(cuMemcpyDtoH(&value, p + 4 * index, 4));
    return value;
}

/* ---- edges */

static CUgraphNode kernel(const char *name)
{
    static CUmodule module;
    CUgraphNode node;
    void *arguments[] = {&p};
    CUDA_KERNEL_NODE_PARAMS params = {.gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 1,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = arguments};
    if (module == NULL) OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(&params.func, module, name));
    OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    return node;
}

/* Launches `first` and behind it, by an edge of the port, the other kernel. Returns the number of
 * findings. */
static size_t findings_of(const char *second, unsigned char port)
{
    CUgraphExec exec;
    const CUgraphNode from = kernel("first"), to = kernel(second);
    const CUgraphEdgeData data = {.from_port = port,
                                  .type = port != 0 ? CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC : 0};
    OK(cuGraphAddDependencies(graph, &from, &to, &data, 1));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    return test_count(TRACE_FINDING, 0, NULL);
}

START_TEST(a_kernel_that_reads_before_its_wait_races)
{
    begin(_i);
    ck_assert_uint_eq(findings_of("early", CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC), 1);
}
END_TEST

START_TEST(behind_its_wait_it_is_ordered)
{
    begin(_i);
    ck_assert_uint_eq(findings_of("late", CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC), 0);
    ck_assert_uint_eq(seen(1), 1);
}
END_TEST

START_TEST(an_ordinary_edge_orders_all)
{
    begin(_i);
    ck_assert_uint_eq(findings_of("early", CU_GRAPH_KERNEL_NODE_PORT_DEFAULT), 0);
    ck_assert_uint_eq(seen(1), 1);
}
END_TEST

START_TEST(an_update_keeps_the_edges)
{
    begin(LATEST);
    CUgraph other;
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo info;
    const CUgraphEdgeData data = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                  .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    const CUgraphNode from = kernel("first"), to = kernel("late");
    OK(cuGraphClone(&other, graph));
    OK(cuGraphAddDependencies(graph, &from, &to, NULL, 1));
    CUgraphNode twins[2];
    OK(cuGraphNodeFindInClone(&twins[0], from, other));
    OK(cuGraphNodeFindInClone(&twins[1], to, other));
    OK(cuGraphAddDependencies(other, &twins[0], &twins[1], &data, 1));
    OK(cuGraphInstantiate(&exec, graph, 0));
    FAILS(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, other, &info));
    ck_assert_int_eq(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
}
END_TEST

/* ---- batches */

static CUstreamBatchMemOpParams write(unsigned index, unsigned value)
{
    return (CUstreamBatchMemOpParams){
        .writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, p + 4 * index, {value}, 0, 0}};
}

static CUstreamBatchMemOpParams wait_for(unsigned index, unsigned value)
{
    return (CUstreamBatchMemOpParams){
        .waitValue = {
            CU_STREAM_MEM_OP_WAIT_VALUE_32, p + 4 * index, {value}, CU_STREAM_WAIT_VALUE_EQ, 0}};
}

START_TEST(a_captured_batch_is_one_node)
{
    begin(_i);
    CUgraph captured;
    CUgraphExec exec;
    CUgraphNode nodes[2];
    CUgraphNodeType type;
    size_t count = 2;
    CUDA_BATCH_MEM_OP_NODE_PARAMS params;
    CUstreamBatchMemOpParams ops[] = {wait_for(0, 600), write(1, 7)};
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuStreamWriteValue32(stream, p, 600, 0));
    OK(cuStreamBatchMemOp(stream, 2, ops, 0));
    OK(cuStreamEndCapture(stream, &captured));
    OK(cuGraphGetNodes(captured, nodes, &count));
    ck_assert_uint_eq(count, 2);
    OK(cuGraphNodeGetType(nodes[1], &type));
    ck_assert_int_eq(type, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    OK(cuGraphBatchMemOpNodeGetParams(nodes[1], &params));
    ck_assert_uint_eq(params.count, 2);
    ck_assert_uint_eq(params.paramArray[1].writeValue.value, 7);
    OK(cuGraphInstantiate(&exec, captured, 0));
    OK(cuGraphDestroy(captured));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    ck_assert_uint_eq(seen(0), 600);
    ck_assert_uint_eq(seen(1), 7);
    OK(cuGraphExecDestroy(exec));
}
END_TEST

START_TEST(the_values_of_a_batch_may_change_but_not_its_kinds)
{
    begin(_i);
    CUgraphExec exec;
    CUgraphNode node;
    CUstreamBatchMemOpParams ops[] = {write(0, 1), write(1, 2)};
    CUDA_BATCH_MEM_OP_NODE_PARAMS params = {.ctx = test_context_handle, 2, ops, 0};
    OK(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params));
    OK(cuGraphInstantiate(&exec, graph, 0));
    ops[1] = write(2, 3);
    OK(cuGraphExecBatchMemOpNodeSetParams(exec, node, &params));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    ck_assert_uint_eq(seen(1), 0);
    ck_assert_uint_eq(seen(2), 3);
    ops[1] = wait_for(2, 3);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphExecBatchMemOpNodeSetParams(exec, node, &params));
    OK(cuGraphBatchMemOpNodeSetParams(node, &params));
    params.count = 1;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphExecBatchMemOpNodeSetParams(exec, node, &params));
    ops[0].writeValue.address++;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphBatchMemOpNodeSetParams(node, &params));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetEnabled(exec, node, 0));
}
END_TEST

/* A batch that waits in the middle goes on from there. */
START_TEST(a_batch_goes_on_behind_its_wait)
{
    begin(_i);
    volatile unsigned *flag = test_pinned(8);
    flag[0] = flag[1] = 0;
    CUstreamBatchMemOpParams ops[] = {write(0, 5), wait_for(0, 1), write(1, 6)};
    ops[1].waitValue.address = (CUdeviceptr)(uintptr_t)flag;
    OK(cuStreamBatchMemOp(stream, 3, ops, 0));
    FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    flag[0] = 1;
    while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY) continue;
    ck_assert_uint_eq(seen(0), 5);
    ck_assert_uint_eq(seen(1), 6);
}
END_TEST

/* ---- events of a context */

START_TEST(an_event_of_a_context_stands_for_all_its_streams)
{
    begin(_i);
    CUevent event = test_event(CU_EVENT_DISABLE_TIMING);
    CUstream blocking = test_stream(0), later;
    const CUdeviceptr to = test_device(BYTES);
    OK(test_launch("slow", stream, p, 3, N / 2));
    OK(test_launch("slow", blocking, p + BYTES / 2, 3, N / 2));
    OK(cuCtxRecordEvent(test_context_handle, event));
    OK(cuCtxWaitEvent(test_context_handle, event));
    later = test_stream(CU_STREAM_NON_BLOCKING);
    OK(test_launch("copy", later, to, p, N));
    OK(cuStreamSynchronize(later));
    OK(test_launch("copy", NULL, to, p, N));
    OK(cuEventSynchronize(event));
    ck_assert_uint_eq(seen(0), 3);
    ck_assert_uint_eq(seen(N - 1), 3);
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "race"), 0);
}
END_TEST

START_TEST(none_of_the_streams_waits_for_another_at_its_record)
{
    begin(_i);
    CUevent event = test_event(CU_EVENT_DISABLE_TIMING);
    CUstream other = test_stream(CU_STREAM_NON_BLOCKING);
    OK(test_launch("add", stream, p, 1, N));
    OK(cuCtxRecordEvent(test_context_handle, event));
    OK(test_launch("add", other, p, 1, N));
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "race"), 1);
}
END_TEST

START_TEST(a_capture_stands_in_the_way_of_a_contexts_events)
{
    begin(LATEST);
    CUevent event = test_event(CU_EVENT_DISABLE_TIMING);
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    FAILS(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuCtxRecordEvent(test_context_handle, event));
    FAILS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxRecordEvent(NULL, event));
    OK(cuCtxWaitEvent(test_context_handle, event)); /* never recorded: nothing to wait for */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("driver_edge");
    TCase *tcase = tcase_create("edges");
    tcase_add_loop_test(tcase, a_kernel_that_reads_before_its_wait_races, 0, ORDERS);
    tcase_add_loop_test(tcase, behind_its_wait_it_is_ordered, 0, ORDERS);
    tcase_add_loop_test(tcase, an_ordinary_edge_orders_all, 0, ORDERS);
    tcase_add_test(tcase, an_update_keeps_the_edges);
    tcase_add_loop_test(tcase, a_captured_batch_is_one_node, 0, ORDERS);
    tcase_add_loop_test(tcase, the_values_of_a_batch_may_change_but_not_its_kinds, 0, ORDERS);
    tcase_add_loop_test(tcase, a_batch_goes_on_behind_its_wait, 0, ORDERS);
    tcase_add_loop_test(tcase, an_event_of_a_context_stands_for_all_its_streams, 0, ORDERS);
    tcase_add_loop_test(tcase, none_of_the_streams_waits_for_another_at_its_record, 0, ORDERS);
    tcase_add_test(tcase, a_capture_stands_in_the_way_of_a_contexts_events);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
