/* Graphs: which nodes of a launch are ordered and which are not, when data is copied, what is
 * refused; and stream capture. A test that expects operations *not* to be ordered runs under the
 * latest order, where that shows. */
#include "tests/driver/support.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 256, BYTES = N * 4 };

static CUgraph graph;
static CUstream stream;

static void begin(int order)
{
    test_context(order);
    stream = test_stream(CU_STREAM_NON_BLOCKING);
    OK(cuGraphCreate(&graph, 0));
}

/* Returns device memory that was set to 1. */
static CUdeviceptr ones(void)
{
    CUdeviceptr p = test_device(BYTES);
    OK(cuMemsetD32(p, 1, N));
    OK(cuCtxSynchronize());
    return p;
}

static unsigned seen(CUdeviceptr p)
{
    unsigned out[N];
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoH(out, p, BYTES));
    for (int i = 1; i < N; i++) ck_assert_uint_eq(out[i], out[0]);
    return out[0];
}

/* Returns the present value, without waiting for anything. */
static unsigned seen_at_once(CUdeviceptr p)
{
    unsigned *out = test_pinned(BYTES);
    CUstream reader = test_stream(CU_STREAM_NON_BLOCKING);
    OK(cuMemcpyDtoHAsync(out, p, BYTES, reader));
    OK(cuStreamSynchronize(reader));
    return out[0];
}

/* Adds a kernel node of set, add or copy over N elements to `in`, after `after` (NULL: nothing). */
static CUgraphNode kernel_node_in(CUgraph in, const char *name, CUdeviceptr p, uint64_t second,
                                  CUgraphNode after)
{
    int n = N;
    CUgraphNode node;
    void *arguments[] = {&p, &second, &n};
    const CUDA_KERNEL_NODE_PARAMS params = {
        .func = test_kernel(name),
        .gridDimX = N / 128,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = 128,
        .blockDimY = 1,
        .blockDimZ = 1,
        .kernelParams = arguments,
    };
    OK(cuGraphAddKernelNode(&node, in, after != NULL ? &after : NULL, after != NULL, &params));
    return node;
}

static CUgraphNode kernel_node(const char *name, CUdeviceptr p, uint64_t second, CUgraphNode after)
{
    return kernel_node_in(graph, name, p, second, after);
}

static CUgraphExec instantiate(void)
{
    CUgraphExec exec;
    OK(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

static size_t count_nodes(CUgraph of)
{
    size_t count = 0;
    OK(cuGraphGetNodes(of, NULL, &count));
    return count;
}

/* ---- launches ---------------------------------------------------------------------------- */

START_TEST(nodes_run_in_the_order_of_their_edges)
{
    begin(_i);
    CUdeviceptr p = ones();
    CUgraphNode last = kernel_node("add", p, 5, NULL); /* created in another order than they run */
    CUgraphNode first = kernel_node("set", p, 10, NULL);
    CUgraphNode middle = kernel_node("add", p, 1, first);
    OK(cuGraphAddDependencies(graph, &middle, &last, NULL, 1));
    CUgraphExec exec = instantiate();
    OK(cuGraphLaunch(exec, stream));
    ck_assert_uint_eq(seen(p), 16);
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphLaunch(exec, stream));
    ck_assert_uint_eq(seen(p), 16);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}
END_TEST

START_TEST(nodes_without_an_edge_are_not_ordered)
{
    begin(LATEST);
    CUdeviceptr p = ones();
    kernel_node("set", p, 2, NULL);
    kernel_node("set", p, 3, NULL);
    OK(cuGraphLaunch(instantiate(), stream));
    ck_assert_uint_eq(seen(p), 2); /* the youngest runs first */
}
END_TEST

START_TEST(a_random_order_is_among_the_legal_ones)
{
    bool differ = false;
    begin(_i == 0 ? RANDOM_1 : RANDOM_2);
    unsigned before = 0;
    for (int round = 0; round < 20; round++) {
        CUdeviceptr p = ones();
        CUgraphNode root = kernel_node("set", p, 10, NULL);
        kernel_node("add", p, 1, root);
        kernel_node("set", p, 20, root);
        CUgraphExec exec = instantiate();
        OK(cuGraphLaunch(exec, stream));
        unsigned value = seen(p);
        ck_assert_msg(value == 20 || value == 21, "%u", value);
        if (before != 0 && before != value) differ = true;
        before = value;
        OK(cuGraphExecDestroy(exec));
        OK(cuGraphDestroy(graph));
        OK(cuGraphCreate(&graph, 0));
    }
    ck_assert(differ);
}
END_TEST

START_TEST(a_launch_is_ordered_in_its_stream_as_a_whole)
{
    begin(_i);
    CUdeviceptr p = ones(), q = ones();
    kernel_node("add", p, 1, NULL);
    kernel_node("add", q, 1, NULL);
    CUgraphExec exec = instantiate();
    OK(test_launch("set", stream, p, 10, N));
    OK(test_launch("set", stream, q, 20, N));
    OK(cuGraphLaunch(exec, stream));
    OK(test_launch("add", stream, p, 100, N));
    OK(test_launch("copy", stream, q, p, N));
    OK(test_launch("set", stream, p, 7, N));
    ck_assert_uint_eq(seen(q), 111);
    ck_assert_uint_eq(seen(p), 7);
}
END_TEST

START_TEST(latest_a_launch_waits_until_it_is_waited_for)
{
    begin(LATEST);
    CUdeviceptr p = ones(), q = ones();
    CUstream other = test_stream(CU_STREAM_NON_BLOCKING);
    kernel_node("set", p, 2, NULL);
    OK(cuGraphLaunch(instantiate(), stream));
    FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    ck_assert_uint_eq(seen_at_once(p), 1);
    OK(test_launch("set", other, q, 9, N));
    OK(cuStreamSynchronize(other)); /* another stream */
    ck_assert_uint_eq(seen_at_once(p), 1);
    OK(cuStreamSynchronize(stream));
    ck_assert_uint_eq(seen_at_once(p), 2);
}
END_TEST

START_TEST(the_second_launch_of_an_executable_graph_waits_for_the_first)
{
    begin(_i);
    CUdeviceptr p = ones();
    CUstream other = test_stream(CU_STREAM_NON_BLOCKING);
    kernel_node("add", p, 1, kernel_node("add", p, 1, NULL));
    CUgraphExec exec = instantiate();
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphLaunch(exec, other));
    OK(cuStreamSynchronize(other));
    ck_assert_uint_eq(seen_at_once(p), 5); /* both kernels, though only the second was waited for */
}
END_TEST

START_TEST(two_executable_graphs_of_one_graph_are_not_ordered)
{
    begin(LATEST);
    CUdeviceptr p = ones();
    CUstream other = test_stream(CU_STREAM_NON_BLOCKING);
    kernel_node("add", p, 1, NULL);
    OK(cuGraphLaunch(instantiate(), stream));
    OK(cuGraphLaunch(instantiate(), other));
    OK(cuStreamSynchronize(other));
    ck_assert_uint_eq(seen_at_once(p), 2);
}
END_TEST

START_TEST(branches_overlap_in_virtual_time)
{
    begin(_i);
    CUdeviceptr p = ones(), q = ones();
    kernel_node("slow", p, 2, NULL);
    kernel_node("slow", q, 3, NULL);
    OK(cuGraphLaunch(instantiate(), stream));
    OK(cuStreamSynchronize(stream));
    const uint64_t request = test_find(TRACE_CALL, 0, "cuGraphLaunch")->request;
    const struct trace *trace = test_trace();
    const struct trace_record *found[2];
    int count = 0;
    for (size_t i = 0; i < trace->count; i++)
        if (trace->records[i].kind == TRACE_OPERATION &&
            strcmp(trace->records[i].name, "slow") == 0 && count < 2)
            found[count++] = &trace->records[i];
    ck_assert_int_eq(count, 2);
    ck_assert_uint_lt(found[0]->start_ns, found[1]->end_ns);
    ck_assert_uint_lt(found[1]->start_ns, found[0]->end_ns);
    ck_assert_uint_ne(found[0]->stream, 0);
    ck_assert_uint_eq(found[0]->stream, found[1]->stream);
    ck_assert_uint_eq(found[0]->request, request);
    ck_assert_uint_ne(found[0]->caller, 0);
}
END_TEST

/* In one hardware queue the second branch's long kernel would be behind the first branch's timed
 * event, which waits for a long kernel. */
START_TEST(branches_do_not_hold_each_other_up)
{
    begin(_i);
    CUdeviceptr p = ones(), q = ones();
    CUevent event = test_event(0);
    CUgraphNode record;
    CUgraphNode first = kernel_node("slow", p, 2, NULL);
    CUgraphNode second = kernel_node("set", q, 2, NULL);
    OK(cuGraphAddEventRecordNode(&record, graph, &first, 1, event));
    kernel_node("slow", q, 3, second);
    OK(cuGraphLaunch(instantiate(), stream));
    OK(cuStreamSynchronize(stream));
    const struct trace *trace = test_trace();
    uint64_t starts[2] = {0}, ends[2] = {0};
    int count = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_record *r = &trace->records[i];
        if (r->kind != TRACE_OPERATION || strcmp(r->name, "slow") != 0) continue;
        ck_assert_int_lt(count, 2);
        starts[count] = r->start_ns;
        ends[count++] = r->end_ns;
    }
    ck_assert_int_eq(count, 2);
    ck_assert(starts[0] < ends[1] && starts[1] < ends[0]);
}
END_TEST

START_TEST(a_dependent_node_starts_when_the_other_has_ended)
{
    begin(_i);
    CUdeviceptr p = ones();
    CUgraphNode first = kernel_node("slow", p, 2, NULL);
    kernel_node("add", p, 3, first);
    OK(cuGraphLaunch(instantiate(), stream));
    ck_assert_uint_eq(seen(p), 5);
    const uint64_t end = test_find(TRACE_OPERATION, TRACE_KERNEL, "slow")->end_ns;
    const struct trace_record *second = test_find(TRACE_OPERATION, TRACE_KERNEL, "add");
    ck_assert_uint_ge(second->start_ns, end);
}
END_TEST

START_TEST(a_failing_node_spoils_the_context)
{
    begin(_i);
    CUdeviceptr p = ones();
    int n = N;
    void *arguments[] = {&p, &n};
    CUDA_KERNEL_NODE_PARAMS params = {.func = test_kernel("trap"),
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 32,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = arguments};
    CUgraphNode trap;
    OK(cuGraphAddKernelNode(&trap, graph, NULL, 0, &params));
    unsigned *pinned = test_pinned(BYTES); /* the context's end would free device memory */
    pinned[0] = 1;
    kernel_node("set", (CUdeviceptr)(uintptr_t)pinned, 9, trap);
    CUgraphExec exec = instantiate();
    OK(cuGraphLaunch(exec, stream));
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(stream));
    ck_assert_uint_eq(pinned[0], 1);
    FAILS(CUDA_ERROR_LAUNCH_FAILED, cuGraphLaunch(exec, stream));
    ck_assert_uint_eq(test_count(TRACE_OPERATION, TRACE_KERNEL, "set"), 0);
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "trap"), 1);
    OK(cuGraphExecDestroy(exec)); /* belongs to no context, so a lost one does not affect it */
}
END_TEST

/* ---- what is copied when ----------------------------------------------------------------- */

START_TEST(an_executable_graph_does_not_see_later_changes_of_its_graph)
{
    begin(_i);
    CUdeviceptr p = ones();
    CUgraphNode node = kernel_node("set", p, 2, NULL);
    CUgraphExec exec = instantiate();
    CUDA_KERNEL_NODE_PARAMS params;
    OK(cuGraphKernelNodeGetParams(node, &params));
    uint32_t five = 5;
    int n = N;
    void *arguments[] = {&p, &five, &n};
    params.kernelParams = arguments;
    OK(cuGraphKernelNodeSetParams(node, &params));
    kernel_node("add", p, 50, node);
    OK(cuGraphLaunch(exec, stream));
    ck_assert_uint_eq(seen(p), 2);
    OK(cuGraphDestroy(graph));
    OK(cuGraphLaunch(exec, stream));
    ck_assert_uint_eq(seen(p), 2);
}
END_TEST

START_TEST(parameters_are_given_back_and_belong_to_the_node)
{
    begin(LATEST);
    CUdeviceptr p = ones(), q = ones();
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUgraphNode node = kernel_node("set", p, 42, NULL);
    OK(cuGraphKernelNodeGetParams(node, &kernel));
    ck_assert_ptr_eq(kernel.func, test_kernel("set"));
    ck_assert_uint_eq(kernel.gridDimX, 2);
    ck_assert_uint_eq(*(CUdeviceptr *)kernel.kernelParams[0], p);
    ck_assert_uint_eq(*(uint32_t *)kernel.kernelParams[1], 42);
    OK(cuGraphKernelNodeSetParams(node, &kernel)); /* with its own arguments */
    OK(cuGraphKernelNodeGetParams(node, &kernel));
    ck_assert_uint_eq(*(uint32_t *)kernel.kernelParams[1], 42);

    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = p,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = q,
                                .WidthInBytes = BYTES,
                                .Height = 1,
                                .Depth = 1};
    CUDA_MEMCPY3D copy_back;
    OK(cuGraphAddMemcpyNode(&node, graph, &node, 1, &copy, test_context_handle));
    OK(cuGraphMemcpyNodeGetParams(node, &copy_back));
    ck_assert_int_eq(memcmp(&copy, &copy_back, sizeof copy), 0);
    const CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = q, .value = 3, .elementSize = 2, .width = 8, .height = 1};
    CUDA_MEMSET_NODE_PARAMS fill_back;
    OK(cuGraphAddMemsetNode(&node, graph, &node, 1, &fill, test_context_handle));
    OK(cuGraphMemsetNodeGetParams(node, &fill_back));
    ck_assert_int_eq(memcmp(&fill, &fill_back, sizeof fill), 0);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeGetParams(node, &kernel));
    OK(cuGraphLaunch(instantiate(), stream));
    OK(cuCtxSynchronize());
    unsigned out[N];
    OK(cuMemcpyDtoH(out, q, BYTES));
    ck_assert_uint_eq(out[0], 0x00030003);
    ck_assert_uint_eq(out[4], 42);
}
END_TEST

START_TEST(generic_nodes_are_the_same_nodes)
{
    begin(_i);
    CUdeviceptr p = ones();
    CUgraphNode set, add, empty, embedded;
    int n = N;
    uint32_t value = 6;
    void *arguments[] = {&p, &value, &n};
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    params.kernel.func = test_kernel("set");
    params.kernel.gridDimX = 2;
    params.kernel.gridDimY = params.kernel.gridDimZ = 1;
    params.kernel.blockDimX = 128;
    params.kernel.blockDimY = params.kernel.blockDimZ = 1;
    params.kernel.kernelParams = arguments;
    OK(cuGraphAddNode(&set, graph, NULL, NULL, 0, &params));
    CUgraph child;
    OK(cuGraphCreate(&child, 0));
    params.kernel.func = test_kernel("add");
    OK(cuGraphAddNode(&add, child, NULL, NULL, 0, &params));
    CUgraphNodeParams other = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    OK(cuGraphAddNode(&empty, graph, &set, NULL, 1, &other));
    CUgraphNodeParams moved = {.type = CU_GRAPH_NODE_TYPE_GRAPH,
                               .graph = {child, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE}};
    OK(cuGraphAddNode(&embedded, graph, &empty, NULL, 1, &moved));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(child)); /* it belongs to the node now */
    CUgraphExec exec = instantiate();
    OK(cuGraphLaunch(exec, stream));
    ck_assert_uint_eq(seen(p), 12);
    value = 100;
    OK(cuGraphExecNodeSetParams(exec, add, &params));
    OK(cuGraphLaunch(exec, stream));
    ck_assert_uint_eq(seen(p), 106);
    CUgraphNodeParams signal = {.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL};
    FAILS(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddNode(&empty, graph, NULL, NULL, 0, &signal));
    ck_assert_ptr_nonnull(
        strstr(test_sentence(test_find(TRACE_FINDING, 0, "not supported")), "semaphore"));
}
END_TEST

START_TEST(a_module_that_is_unloaded_stays_for_its_nodes)
{
    begin(LATEST);
    CUdeviceptr p = ones();
    kernel_node("set", p, 8, NULL);
    CUgraphExec exec = instantiate();
    OK(cuModuleUnload(test_module));
    OK(cuGraphLaunch(exec, stream));
    ck_assert_uint_eq(seen(p), 8);
}
END_TEST

START_TEST(an_event_that_is_gone_is_named)
{
    begin(LATEST);
    CUevent event = test_event(0);
    CUgraphNode node;
    OK(cuGraphAddEventRecordNode(&node, graph, NULL, 0, event));
    CUgraphExec exec = instantiate();
    OK(cuGraphLaunch(exec, stream));
    OK(cuEventSynchronize(event));
    OK(cuEventDestroy(event));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuGraphLaunch(exec, stream));
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, "use after destruction"), 1);
}
END_TEST

START_TEST(timed_event_nodes_measure)
{
    begin(_i);
    CUdeviceptr p = ones();
    CUevent before = test_event(0), after = test_event(0);
    CUgraphNode first, last;
    float ms = 0;
    OK(cuGraphAddEventRecordNode(&first, graph, NULL, 0, before));
    CUgraphNode slow = kernel_node("slow", p, 2, first);
    OK(cuGraphAddEventRecordNode(&last, graph, &slow, 1, after));
    OK(cuGraphLaunch(instantiate(), stream));
    OK(cuEventSynchronize(after));
    OK(cuEventElapsedTime(&ms, before, after));
    const struct trace_record *kernel = test_find(TRACE_OPERATION, TRACE_KERNEL, "slow");
    double kernel_ms = (double)(kernel->end_ns - kernel->start_ns) / 1e6;
    ck_assert_double_ge(ms, kernel_ms - 0.001);
    ck_assert_double_le(ms, kernel_ms + 0.01);
}
END_TEST

/* ---- structure --------------------------------------------------------------------------- */

START_TEST(wrong_structure_is_refused)
{
    begin(LATEST);
    CUgraph other;
    CUgraphNode a, b, foreign, list[2], offender = NULL;
    CUgraphExec exec;
    OK(cuGraphCreate(&other, 0));
    OK(cuGraphAddEmptyNode(&a, graph, NULL, 0));
    OK(cuGraphAddEmptyNode(&b, graph, &a, 1));
    OK(cuGraphAddEmptyNode(&foreign, other, NULL, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddEmptyNode(&b, graph, &foreign, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddEmptyNode(&b, graph, NULL, 1));
    list[0] = list[1] = a;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddEmptyNode(&b, graph, list, 2));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies(graph, &a, &b, NULL, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies(graph, &a, &foreign, NULL, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphRemoveDependencies(graph, &b, &a, NULL, 1));
    OK(cuGraphAddDependencies(graph, &b, &a, NULL, 1));
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithParams(&exec, graph, &params));
    ck_assert_int_eq(params.result_out, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
    offender = params.hErrNode_out;
    ck_assert(offender == a || offender == b);
    OK(cuGraphDestroyNode(a)); /* its edges go with it */
    ck_assert_uint_eq(count_nodes(graph), 1);
    OK(cuGraphInstantiate(&exec, graph, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphDestroyNode(a));
    OK(cuGraphDestroy(graph));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(graph));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphNodeGetType(b, &(CUgraphNodeType){0}));
}
END_TEST

START_TEST(lists_are_cut_and_filled_up)
{
    begin(LATEST);
    CUgraphNode a, b, c, list[4];
    size_t count = 0;
    OK(cuGraphAddEmptyNode(&a, graph, NULL, 0));
    OK(cuGraphAddEmptyNode(&b, graph, &a, 1));
    OK(cuGraphAddEmptyNode(&c, graph, &a, 1));
    count = 2;
    OK(cuGraphGetNodes(graph, list, &count));
    ck_assert_uint_eq(count, 2);
    ck_assert(list[0] == a && list[1] == b);
    count = 4;
    list[3] = a;
    OK(cuGraphGetNodes(graph, list, &count));
    ck_assert_uint_eq(count, 3);
    ck_assert_ptr_null(list[3]);
    OK(cuGraphNodeGetDependentNodes(a, NULL, NULL, &count));
    ck_assert_uint_eq(count, 2);
    CUgraphNode from[4], to[4];
    count = 4;
    OK(cuGraphGetEdges(graph, from, to, NULL, &count));
    ck_assert_uint_eq(count, 2);
    ck_assert(from[0] == a && from[1] == a && to[0] == b && to[1] == c);
}
END_TEST

START_TEST(updates_are_told_what_did_not_match)
{
    begin(LATEST);
    CUdeviceptr p = ones();
    CUgraphNode first = kernel_node("set", p, 1, NULL);
    kernel_node("add", p, 1, first);
    CUgraphExec exec = instantiate();
    CUgraph with;
    CUgraphExecUpdateResultInfo info;
    OK(cuGraphCreate(&with, 0));
    CUgraphNode a = kernel_node_in(with, "set", p, 30, NULL), b;
    FAILS(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, with, &info));
    ck_assert_int_eq(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    OK(cuGraphAddEmptyNode(&b, with, &a, 1));
    FAILS(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, with, &info));
    ck_assert_int_eq(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
    ck_assert_ptr_eq(info.errorNode, b);
    OK(cuGraphDestroyNode(b));
    b = kernel_node_in(with, "add", p, 4, NULL);
    FAILS(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, with, &info));
    ck_assert_int_eq(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    OK(cuGraphLaunch(exec, stream));
    ck_assert_uint_eq(seen(p), 2); /* as it was */
    OK(cuGraphAddDependencies(with, &a, &b, NULL, 1));
    OK(cuGraphExecUpdate(exec, with, &info));
    OK(cuGraphLaunch(exec, stream));
    ck_assert_uint_eq(seen(p), 34);
}
END_TEST

static int destroyed;

static void count_destroyed(void *value)
{
    __atomic_add_fetch(&destroyed, *(int *)value, __ATOMIC_SEQ_CST);
}

static void wait_until_destroyed(int wanted)
{
    while (__atomic_load_n(&destroyed, __ATOMIC_SEQ_CST) < wanted) usleep(1000);
    ck_assert_int_eq(__atomic_load_n(&destroyed, __ATOMIC_SEQ_CST), wanted);
}

START_TEST(user_objects_go_with_the_last_graph)
{
    begin(LATEST);
    static int one = 1;
    CUuserObject object;
    OK(cuUserObjectCreate(&object, &one, count_destroyed, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    CUgraphExec exec = instantiate();
    OK(cuGraphDestroy(graph));
    usleep(5000);
    ck_assert_int_eq(destroyed, 0);
    OK(cuGraphExecDestroy(exec));
    wait_until_destroyed(1);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuUserObjectRelease(object, 1));
}
END_TEST

START_TEST(references_to_user_objects_are_counted_up_to_any_number)
{
    begin(LATEST);
    static int one = 1;
    CUuserObject object;
    OK(cuUserObjectCreate(&object, &one, count_destroyed, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cuUserObjectRetain(object, INT32_MAX));
    OK(cuUserObjectRetain(object, INT32_MAX));
    OK(cuGraphRetainUserObject(graph, object, INT32_MAX, 0));
    OK(cuGraphRetainUserObject(graph, object, 2, CU_GRAPH_USER_OBJECT_MOVE));
    OK(cuUserObjectRelease(object, INT32_MAX));
    OK(cuUserObjectRelease(object, INT32_MAX - 1));
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuGraphReleaseUserObject(graph, object, (unsigned)INT32_MAX + 1));
    OK(cuGraphReleaseUserObject(graph, object, INT32_MAX));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphReleaseUserObject(graph, object, 3));
    OK(cuGraphReleaseUserObject(graph, object, 1));
    OK(cuUserObjectRetain(object, 1));
    ck_assert_int_eq(destroyed, 0);
    OK(cuUserObjectRelease(object, 1));
    OK(cuGraphReleaseUserObject(graph, object, 1));
    wait_until_destroyed(1);
}
END_TEST

/* ---- memory of graphs -------------------------------------------------------------------- */

static CUgraphNode allocate_node(CUdeviceptr *p)
{
    CUgraphNode node;
    CUDA_MEM_ALLOC_NODE_PARAMS params = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = BYTES};
    OK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    *p = params.dptr;
    return node;
}

START_TEST(allocated_memory_is_fresh_at_each_launch)
{
    begin(_i);
    CUdeviceptr p, q = ones();
    CUgraphNode node = allocate_node(&p), release;
    node = kernel_node("copy", q, p, node); /* before anybody wrote it */
    node = kernel_node("set", p, 5, node);
    OK(cuGraphAddMemFreeNode(&release, graph, &node, 1, p));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemFreeNode(&release, graph, &node, 1, p));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemFreeNode(&release, graph, &node, 1, q));
    CUgraphExec exec = instantiate(), second;
    FAILS(CUDA_ERROR_NOT_SUPPORTED, cuGraphInstantiate(&second, graph, 0));
    for (int i = 0; i < 3; i++) {
        OK(cuGraphLaunch(exec, stream));
        ck_assert_uint_eq(seen(q), 0x7f7f7f7f);
    }
    cuuint64_t used;
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &used));
    ck_assert_uint_ge(used, BYTES);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphInstantiate(&second, graph, 0));
    OK(cuGraphExecDestroy(second));
    OK(cuGraphDestroy(graph));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));
}
END_TEST

START_TEST(memory_that_a_graph_leaves_is_freed_outside)
{
    begin(_i);
    CUdeviceptr p;
    cuuint64_t used;
    CUgraphNode node = allocate_node(&p);
    kernel_node("set", p, 5, node);
    CUgraphExec exec = instantiate();
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(p)); /* not yet */
    OK(cuGraphLaunch(exec, stream));
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
    ck_assert_uint_eq(used, 32u << 20); /* as an H200: in such pieces, until a trim */
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, stream)); /* not freed in between */
    ck_assert_uint_eq(seen(p), 5);
    OK(cuMemFreeAsync(p, stream));
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
    ck_assert_uint_eq(used, 32u << 20);
    OK(cuGraphLaunch(exec, stream));
    ck_assert_uint_eq(seen(p), 5);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    ck_assert_uint_eq(seen(p), 5); /* still the submission's */
    OK(cuMemFree(p));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));
    ck_assert_uint_eq(test_count(TRACE_CREATE, TRACE_DEVICE_MEMORY, NULL),
                      test_count(TRACE_DESTROY, TRACE_DEVICE_MEMORY, NULL));
}
END_TEST

/* ---- capture ----------------------------------------------------------------------------- */

START_TEST(captured_work_does_not_run)
{
    begin(_i);
    CUdeviceptr p = ones();
    CUgraph captured;
    CUgraphExec exec;
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(test_launch("set", stream, p, 3, N));
    OK(cuMemsetD32Async(p, 9, 1, stream));
    OK(cuStreamEndCapture(stream, &captured));
    ck_assert_uint_eq(count_nodes(captured), 2);
    ck_assert_uint_eq(seen(p), 1);
    OK(cuGraphInstantiate(&exec, captured, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuCtxSynchronize());
    unsigned out[N];
    OK(cuMemcpyDtoH(out, p, BYTES));
    ck_assert_uint_eq(out[0], 9);
    ck_assert_uint_eq(out[1], 3);
    ck_assert_uint_eq(test_count(TRACE_OPERATION, TRACE_KERNEL, "set"), 1);
}
END_TEST

START_TEST(a_host_copy_is_captured_and_waits_for_nobody)
{
    begin(_i);
    static unsigned from[4] = {1, 2, 3, 4}, to[4];
    CUgraph captured;
    CUgraphExec exec;
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemcpyAsync((CUdeviceptr)(uintptr_t)to, (CUdeviceptr)(uintptr_t)from, sizeof to, stream));
    OK(cuStreamEndCapture(stream, &captured));
    ck_assert_uint_eq(to[3], 0);
    OK(cuGraphInstantiate(&exec, captured, 0));
    from[3] = 40; /* the source is read when it runs */
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    ck_assert_uint_eq(to[3], 40);
}
END_TEST

START_TEST(a_fork_must_be_joined)
{
    begin(LATEST);
    CUdeviceptr p = ones();
    CUstream side = test_stream(0);
    CUevent fork = test_event(0), join = test_event(0);
    CUgraph captured = (CUgraph)1;
    CUstreamCaptureStatus status;
    for (int joined = 0; joined < 2; joined++) {
        OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
        OK(cuEventRecord(fork, stream));
        OK(cuStreamWaitEvent(side, fork, 0));
        OK(cuStreamIsCapturing(side, &status));
        ck_assert_int_eq(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
        OK(test_launch("set", side, p, 3, N));
        OK(cuEventRecord(join, side));
        if (joined) OK(cuStreamWaitEvent(stream, join, 0));
        CUresult code = cuStreamEndCapture(stream, &captured);
        ck_assert_int_eq(code, joined ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
        ck_assert(joined == (captured != NULL));
        OK(cuStreamIsCapturing(side, &status));
        ck_assert_int_eq(status, CU_STREAM_CAPTURE_STATUS_NONE);
        OK(test_launch("add", side, p, 1, N));
        ck_assert_uint_eq(seen(p), 2u + (unsigned)joined);
    }
    FAILS(CUDA_ERROR_INVALID_VALUE, cuEventQuery(join));
    OK(cuEventRecord(join, side));
    OK(cuEventSynchronize(join));
}
END_TEST

START_TEST(captures_do_not_mix)
{
    begin(LATEST);
    CUstream other = test_stream(0);
    CUevent event = test_event(0);
    CUgraph captured;
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuStreamBeginCapture(other, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuEventRecord(event, stream));
    FAILS(CUDA_ERROR_STREAM_CAPTURE_MERGE, cuStreamWaitEvent(other, event, 0));
    FAILS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &captured));
    FAILS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(other, &captured));
    FAILS(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(other, &captured));
}
END_TEST

static CUresult from_thread;

static void *end_in_thread(void *unused)
{
    CUgraph captured;
    (void)unused;
    OK(cuCtxSetCurrent(test_context_handle));
    from_thread = cuStreamEndCapture(stream, &captured);
    return NULL;
}

static void *allocate_in_thread(void *unused)
{
    CUdeviceptr p;
    (void)unused;
    OK(cuCtxSetCurrent(test_context_handle));
    from_thread = cuMemAlloc(&p, 16);
    return NULL;
}

static CUresult in_a_thread(void *(*function)(void *))
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, function, NULL), 0);
    pthread_join(thread, NULL);
    return from_thread;
}

/* Depends on the capture's mode: calls of the capturing thread, and of other threads. */
START_TEST(unsafe_calls_are_prohibited_by_mode)
{
    static const struct {
        CUstreamCaptureMode mode;
        CUresult own, other, end_elsewhere;
    } rows[] = {
        {CU_STREAM_CAPTURE_MODE_GLOBAL, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
         CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD},
        {CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUDA_SUCCESS,
         CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD},
        {CU_STREAM_CAPTURE_MODE_RELAXED, CUDA_SUCCESS, CUDA_SUCCESS, CUDA_SUCCESS},
    };
    begin(LATEST);
    CUdeviceptr p;
    CUgraph captured;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int other = 0; other < 2; other++) {
            OK(cuStreamBeginCapture(stream, rows[i].mode));
            CUresult code = other ? in_a_thread(allocate_in_thread) : cuMemAlloc(&p, 16);
            CUresult wanted = other ? rows[i].other : rows[i].own;
            ck_assert_msg(code == wanted, "mode %d: %d", (int)rows[i].mode, (int)code);
            CUresult ended = cuStreamEndCapture(stream, &captured);
            ck_assert_int_eq(ended, wanted == CUDA_SUCCESS ? CUDA_SUCCESS
                                                           : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        }
        OK(cuStreamBeginCapture(stream, rows[i].mode));
        CUresult code = in_a_thread(end_in_thread);
        ck_assert_int_eq(code, rows[i].end_elsewhere);
        FAILS(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(stream, &captured)); /* it has ended */
    }
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    ck_assert_int_eq(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemAlloc(&p, 16)); /* the thread has chosen the relaxed mode */
    OK(cuStreamEndCapture(stream, &captured));
}
END_TEST

START_TEST(a_capture_can_be_looked_into_and_steered)
{
    begin(LATEST);
    CUdeviceptr p = ones();
    CUstreamCaptureStatus status;
    CUgraph inside, captured;
    const CUgraphNode *tips;
    CUgraphNode extra;
    size_t count;
    cuuint64_t id;
    CUgraphNode first = kernel_node("set", p, 1, NULL);
    OK(cuStreamBeginCaptureToGraph(stream, graph, &first, NULL, 1, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(test_launch("add", stream, p, 4, N));
    OK(cuStreamGetCaptureInfo(stream, &status, &id, &inside, &tips, NULL, &count));
    ck_assert_ptr_eq(inside, graph);
    ck_assert_uint_eq(count, 1);
    FAILS(CUDA_ERROR_ILLEGAL_STATE, cuGraphDestroy(inside));
    ck_assert_ptr_nonnull(tips[0]);
    OK(cuGraphAddEmptyNode(&extra, inside, NULL, 0));
    OK(cuStreamUpdateCaptureDependencies(stream, &extra, NULL, 1,
                                         CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    OK(test_launch("add", stream, p, 2, N));
    OK(cuStreamEndCapture(stream, &captured));
    ck_assert_ptr_eq(captured, graph);
    ck_assert_uint_eq(count_nodes(graph), 4);
    OK(cuGraphNodeGetDependentNodes(first, NULL, NULL, &count));
    ck_assert_uint_eq(count, 1);
    OK(cuGraphLaunch(instantiate(), stream));
    ck_assert_uint_eq(seen(p), 7);
    FAILS(CUDA_ERROR_ILLEGAL_STATE, cuStreamUpdateCaptureDependencies(stream, &extra, NULL, 1, 0));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("graphs");
    TCase *tcase = tcase_create("graphs");
    tcase_set_timeout(tcase, 300);
    suite_add_tcase(suite, tcase);
    tcase_add_loop_test(tcase, nodes_run_in_the_order_of_their_edges, 0, ORDERS);
    tcase_add_test(tcase, nodes_without_an_edge_are_not_ordered);
    tcase_add_loop_test(tcase, a_random_order_is_among_the_legal_ones, 0, 2);
    tcase_add_loop_test(tcase, a_launch_is_ordered_in_its_stream_as_a_whole, 0, ORDERS);
    tcase_add_test(tcase, latest_a_launch_waits_until_it_is_waited_for);
    tcase_add_loop_test(tcase, the_second_launch_of_an_executable_graph_waits_for_the_first, 0,
                        ORDERS);
    tcase_add_test(tcase, two_executable_graphs_of_one_graph_are_not_ordered);
    tcase_add_loop_test(tcase, branches_overlap_in_virtual_time, 0, ORDERS);
    tcase_add_loop_test(tcase, branches_do_not_hold_each_other_up, 0, ORDERS);
    tcase_add_loop_test(tcase, a_dependent_node_starts_when_the_other_has_ended, 0, ORDERS);
    tcase_add_loop_test(tcase, a_failing_node_spoils_the_context, 0, ORDERS);
    tcase_add_loop_test(tcase, an_executable_graph_does_not_see_later_changes_of_its_graph, 0,
                        ORDERS);
    tcase_add_test(tcase, parameters_are_given_back_and_belong_to_the_node);
    tcase_add_loop_test(tcase, generic_nodes_are_the_same_nodes, 0, ORDERS);
    tcase_add_test(tcase, a_module_that_is_unloaded_stays_for_its_nodes);
    tcase_add_test(tcase, an_event_that_is_gone_is_named);
    tcase_add_loop_test(tcase, timed_event_nodes_measure, 0, ORDERS);
    tcase_add_test(tcase, wrong_structure_is_refused);
    tcase_add_test(tcase, lists_are_cut_and_filled_up);
    tcase_add_test(tcase, updates_are_told_what_did_not_match);
    tcase_add_test(tcase, user_objects_go_with_the_last_graph);
    tcase_add_test(tcase, references_to_user_objects_are_counted_up_to_any_number);
    tcase_add_loop_test(tcase, allocated_memory_is_fresh_at_each_launch, 0, ORDERS);
    tcase_add_loop_test(tcase, memory_that_a_graph_leaves_is_freed_outside, 0, ORDERS);
    tcase_add_loop_test(tcase, captured_work_does_not_run, 0, ORDERS);
    tcase_add_loop_test(tcase, a_host_copy_is_captured_and_waits_for_nobody, 0, ORDERS);
    tcase_add_test(tcase, a_fork_must_be_joined);
    tcase_add_test(tcase, captures_do_not_mix);
    tcase_add_test(tcase, unsafe_calls_are_prohibited_by_mode);
    tcase_add_test(tcase, a_capture_can_be_looked_into_and_steered);
    return test_main(suite);
}
