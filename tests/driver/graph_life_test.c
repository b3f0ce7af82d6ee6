/* What graphs, their nodes and their memory keep while launches are in flight, when nodes change,
 * and when a graph belongs to another one. */
#include "tests/driver/support.h"

#include <string.h>

enum { N = 256, BYTES = N * 4 };

static CUgraph graph;
static CUstream stream;

static void begin(int order)
{
    test_context(order);
    stream = test_stream(CU_STREAM_NON_BLOCKING);
    OK(cuGraphCreate(&graph, 0));
}

/* Captures `set` of memory that the graph allocates, and a copy of it to `to`; the graph frees it
 * too if `frees`. Returns the memory. */
static CUdeviceptr capture_own_memory(unsigned *to, bool frees)
{
    CUdeviceptr p;
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuMemAllocAsync(&p, BYTES, stream));
    OK(test_launch("set", stream, p, 7, N));
    OK(cuMemcpyDtoHAsync(to, p, BYTES, stream));
    if (frees) OK(cuMemFreeAsync(p, stream));
    OK(cuGraphDestroy(graph));
    OK(cuStreamEndCapture(stream, &graph));
    return p;
}

static void launch_and_destroy(void)
{
    CUgraphExec exec;
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

static cuuint64_t reserved(void)
{
    cuuint64_t bytes;
    OK(cuDeviceGraphMemTrim(0)); /* without it launched graphs' memory stays with them */
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &bytes));
    return bytes;
}

START_TEST(memory_stays_for_launches_of_a_graph_that_is_gone)
{
    begin(_i);
    unsigned *out = test_pinned(BYTES);
    capture_own_memory(out, true);
    launch_and_destroy();
    OK(cuStreamSynchronize(stream));
    ck_assert_uint_eq(out[N - 1], 7);
    ck_assert_uint_eq(reserved(), 0);
}
END_TEST

START_TEST(memory_that_is_freed_in_a_stream_stays_for_the_launch_before)
{
    begin(_i);
    unsigned *out = test_pinned(BYTES);
    CUdeviceptr p = capture_own_memory(out, false);
    launch_and_destroy();
    OK(cuMemFreeAsync(p, stream));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(p, stream));
    OK(cuStreamSynchronize(stream));
    ck_assert_uint_eq(out[N - 1], 7);
    ck_assert_uint_eq(reserved(), 0);
}
END_TEST

START_TEST(memory_nodes_cannot_be_changed)
{
    CUgraphNode nodes[2];
    CUgraphExec exec;
    CUgraphNodeParams params[2] = {
        {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC,
         .alloc = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
                   .bytesize = BYTES}},
        {.type = CU_GRAPH_NODE_TYPE_MEM_FREE}};
    CUDA_MEM_ALLOC_NODE_PARAMS kept;
    begin(LATEST);
    OK(cuGraphAddNode(&nodes[0], graph, NULL, NULL, 0, &params[0]));
    const CUdeviceptr p = params[1].free.dptr = params[0].alloc.dptr;
    OK(cuGraphAddNode(&nodes[1], graph, nodes, NULL, 1, &params[1]));
    OK(cuGraphInstantiate(&exec, graph, 0));
    params[0].alloc.bytesize = 2 * (size_t)BYTES;
    for (int i = 0; i < 2; i++) {
        FAILS(CUDA_ERROR_NOT_SUPPORTED, cuGraphNodeSetParams(nodes[i], &params[i]));
        FAILS(CUDA_ERROR_NOT_SUPPORTED, cuGraphExecNodeSetParams(exec, nodes[i], &params[i]));
    }
    OK(cuGraphMemAllocNodeGetParams(nodes[0], &kept));
    ck_assert_uint_eq(kept.bytesize, BYTES);
    ck_assert_uint_eq(kept.dptr, p);
}
END_TEST

/* ---- graphs of other graphs --------------------------------------------------------------- */

/* Adds a child graph node to `graph`; returns the embedded graph. */
static CUgraph embed(CUgraph child, CUgraphChildGraphNodeOwnership ownership, CUgraphNode *node)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph = {child, ownership}};
    OK(cuGraphAddNode(node, graph, NULL, NULL, 0, &params));
    return params.graph.graph;
}

START_TEST(an_embedded_graph_belongs_to_its_parent)
{
    CUgraph child, whole, embedded, copy;
    CUgraphNode node, other;
    CUgraphExec exec, of_parent;
    CUgraphExecUpdateResultInfo info;
    CUDA_MEM_ALLOC_NODE_PARAMS memory = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}},
        .bytesize = BYTES};
    begin(LATEST);
    OK(cuGraphCreate(&whole, 0));
    OK(cuGraphCreate(&child, 0));
    OK(cuGraphAddEmptyNode(&node, child, NULL, 0));
    OK(cuGraphInstantiate(&exec, child, 0));
    embedded = embed(child, (CUgraphChildGraphNodeOwnership)_i, &node);
    ck_assert_int_eq(embedded == child, _i == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE);
    FAILS(CUDA_ERROR_NOT_SUPPORTED, cuGraphInstantiate(&of_parent, embedded, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(embedded));
    FAILS(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddChildGraphNode(&other, whole, NULL, 0, embedded));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphExecUpdate(exec, embedded, &info));
    FAILS(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddMemAllocNode(&other, embedded, NULL, 0, &memory));
    OK(cuGraphClone(&copy, embedded));
    OK(cuGraphInstantiate(&of_parent, graph, 0));
    OK(cuGraphExecChildGraphNodeSetParams(of_parent, node, embedded));
    OK(cuGraphLaunch(of_parent, stream));
    OK(cuStreamSynchronize(stream));
}
END_TEST

START_TEST(a_graph_stays_while_a_capture_is_in_one_of_its_own)
{
    CUgraph child, embedded, captured;
    CUgraphNode node;
    begin(LATEST);
    CUdeviceptr p = test_device(BYTES);
    OK(cuGraphCreate(&child, 0));
    embedded = embed(child, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE, &node);
    OK(cuStreamBeginCaptureToGraph(stream, embedded, NULL, NULL, 0,
                                   CU_STREAM_CAPTURE_MODE_RELAXED));
    FAILS(CUDA_ERROR_ILLEGAL_STATE, cuGraphDestroy(graph));
    FAILS(CUDA_ERROR_ILLEGAL_STATE, cuGraphDestroyNode(node));
    OK(test_launch("set", stream, p, 3, N));
    OK(cuStreamEndCapture(stream, &captured));
    ck_assert_ptr_eq(captured, embedded);
    OK(cuGraphDestroyNode(node));
    OK(cuGraphDestroy(graph));
}
END_TEST

START_TEST(no_graph_is_moved_into_itself)
{
    CUgraph child;
    CUgraphNode node;
    begin(LATEST);
    OK(cuGraphCreate(&child, 0));
    child = embed(child, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE, &node);
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH,
                                .graph = {graph, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE}};
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&node, child, NULL, NULL, 0, &params));
    OK(cuGraphDestroy(graph));
}
END_TEST

/* ---- attributes of kernel nodes ---------------------------------------------------------- */

/* The parameters of `set` of N elements, in `blocks` blocks. */
static const CUDA_KERNEL_NODE_PARAMS *set_in(unsigned blocks, CUdeviceptr p, uint64_t value)
{
    static CUDA_KERNEL_NODE_PARAMS params;
    static CUdeviceptr to;
    static uint64_t with;
    static int n = N;
    static void *arguments[] = {&to, &with, &n};
    to = p;
    with = value;
    params = (CUDA_KERNEL_NODE_PARAMS){.func = test_kernel("set"),
                                       .gridDimX = blocks,
                                       .gridDimY = 1,
                                       .gridDimZ = 1,
                                       .blockDimX = 128,
                                       .blockDimY = 1,
                                       .blockDimZ = 1,
                                       .kernelParams = arguments};
    return &params;
}

static unsigned launched(CUgraphExec exec, CUdeviceptr p)
{
    unsigned out[N];
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH(out, p, BYTES));
    return out[N - 1];
}

START_TEST(an_executable_graphs_node_keeps_its_attributes)
{
    static const CUkernelNodeAttrValue values[] = {{.cooperative = 1}, {.clusterDim = {2, 1, 1}}};
    static const CUkernelNodeAttrID ids[] = {CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                             CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
    CUgraphNode node;
    CUgraphExec exec;
    begin(_i / 2);
    CUdeviceptr p = test_device(BYTES);
    const bool clusters = _i % 2;
    OK(cuGraphAddKernelNode(&node, graph, NULL, 0, set_in(4, p, 3)));
    OK(cuGraphKernelNodeSetAttribute(node, ids[clusters], &values[clusters]));
    OK(cuGraphInstantiate(&exec, graph, 0));
    ck_assert_uint_eq(launched(exec, p), 3);
    OK(cuGraphExecKernelNodeSetParams(exec, node, set_in(8, p, 9)));
    ck_assert_uint_eq(launched(exec, p), 9);
    const CUresult uneven = clusters ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_SUCCESS;
    FAILS(uneven, cuGraphExecKernelNodeSetParams(exec, node, set_in(3, p, 9)));
    FAILS(uneven, cuGraphKernelNodeSetParams(node, set_in(3, p, 9)));
}
END_TEST

START_TEST(attributes_are_copied_whether_set_or_not)
{
    CUgraphNode with, without;
    CUkernelNodeAttrValue value = {.clusterDim = {2, 1, 1}};
    begin(LATEST);
    CUdeviceptr p = test_device(BYTES);
    OK(cuGraphAddKernelNode(&with, graph, NULL, 0, set_in(4, p, 3)));
    OK(cuGraphAddKernelNode(&without, graph, NULL, 0, set_in(3, p, 3)));
    OK(cuGraphKernelNodeSetAttribute(with, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeCopyAttributes(without, with));
    OK(cuGraphKernelNodeCopyAttributes(with, without));
    OK(cuGraphKernelNodeGetAttribute(with, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
    ck_assert_uint_eq(value.clusterDim.x, 0);
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuGraphKernelNodeGetAttribute(with, (CUkernelNodeAttrID)99, &value));
    FAILS(CUDA_ERROR_INVALID_VALUE,
          cuGraphKernelNodeSetAttribute(with, (CUkernelNodeAttrID)99, &value));
}
END_TEST

/* ---- what a capture prohibits ------------------------------------------------------------ */

static CUarray array;
static CUmipmappedArray levels;
static const CUDA_ARRAY3D_DESCRIPTOR texels = {
    .Width = 8, .Height = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};

static CUresult create_array(void)
{
    CUarray made;
    return cuArrayCreate(&made, &(CUDA_ARRAY_DESCRIPTOR){8, 8, CU_AD_FORMAT_FLOAT, 1});
}

static CUresult create_plane(void)
{
    CUarray made;
    return cuArray3DCreate(&made, &texels);
}

static CUresult destroy_array(void)
{
    return cuArrayDestroy(array);
}

static CUresult create_levels(void)
{
    CUmipmappedArray made;
    return cuMipmappedArrayCreate(&made, &texels, 2);
}

static CUresult destroy_levels(void)
{
    return cuMipmappedArrayDestroy(levels);
}

static CUresult unload_module(void)
{
    return cuModuleUnload(test_module);
}

/* As on an H200: each allocates or waits for the context. */
START_TEST(arrays_and_modules_neither_come_nor_go_during_a_capture)
{
    static CUresult (*const calls[])(void) = {create_array,  create_plane,   destroy_array,
                                              create_levels, destroy_levels, unload_module};
    CUgraph captured;
    begin(LATEST);
    test_kernel("set");
    OK(cuArray3DCreate(&array, &texels));
    OK(cuMipmappedArrayCreate(&levels, &texels, 2));
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        const CUresult code = calls[i]();
        ck_assert_msg(code == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "%zu: %d", i, (int)code);
        FAILS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &captured));
    }
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) OK(calls[i]());
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("graphs' lives");
    TCase *tcase = tcase_create("graphs' lives");
    tcase_set_timeout(tcase, 300);
    suite_add_tcase(suite, tcase);
    tcase_add_loop_test(tcase, memory_stays_for_launches_of_a_graph_that_is_gone, 0, ORDERS);
    tcase_add_loop_test(tcase, memory_that_is_freed_in_a_stream_stays_for_the_launch_before, 0,
                        ORDERS);
    tcase_add_test(tcase, memory_nodes_cannot_be_changed);
    tcase_add_loop_test(tcase, an_embedded_graph_belongs_to_its_parent, 0, 2);
    tcase_add_test(tcase, a_graph_stays_while_a_capture_is_in_one_of_its_own);
    tcase_add_test(tcase, no_graph_is_moved_into_itself);
    tcase_add_loop_test(tcase, an_executable_graphs_node_keeps_its_attributes, 0, 2 * ORDERS);
    tcase_add_test(tcase, attributes_are_copied_whether_set_or_not);
    tcase_add_test(tcase, arrays_and_modules_neither_come_nor_go_during_a_capture);
    return test_main(suite);
}
