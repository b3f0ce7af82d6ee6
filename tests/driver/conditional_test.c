/* Conditional nodes: which body runs how often, in every order; what a launch keeps when its graph
 * is changed or destroyed; waits and queries from outside. tests/gpu/conditional.cu checks what a
 * GPU accepts and refuses, tests/programs the findings. */
#include "tests/driver/support.h"

#include <string.h>

/* count(p, handle, n): ++*p, and the condition becomes *p % n != 0. put(p, handle, n): the
 * condition becomes n. add(p, handle, n): *p += n. wild: a store to nowhere. */
static const char text[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
                           ".extern .func cudaGraphSetConditional(.param .b64 h, .param .b32 v);\n"
#define KERNEL(name, body)                                                                         \
    ".visible .entry " name "(.param .u64 p, .param .u64 h, .param .u32 n) {\n"                    \
    ".reg .b64 %a, %h; .reg .b32 %n, %v; .reg .pred %p;\n"                                         \
    "ld.param.u64 %a, [p]; ld.param.u64 %h, [h]; ld.param.u32 %n, [n];\n" body "ret; }\n"
#define SET                                                                                        \
    "{ .param .b64 h; .param .b32 v; st.param.b64 [h], %h; st.param.b32 [v], %v;\n"                \
    "call.uni cudaGraphSetConditional, (h, v); }\n"
    KERNEL("count", "ld.global.u32 %v, [%a]; add.u32 %v, %v, 1; st.global.u32 [%a], %v;\n"
                    "rem.u32 %v, %v, %n; setp.ne.u32 %p, %v, 0; selp.u32 %v, 1, 0, %p;\n" SET)
        KERNEL("put", "mov.u32 %v, %n;\n" SET)
            KERNEL("add", "ld.global.u32 %v, [%a]; add.u32 %v, %v, %n; st.global.u32 [%a], %v;\n")
                KERNEL("wild", "st.global.u32 [64], %n;\n");

static CUgraph graph;
static CUstream stream;
static CUdeviceptr cells;

static void begin(int order)
{
    test_context(order);
    stream = test_stream(CU_STREAM_NON_BLOCKING);
    cells = test_device(16);
    OK(cuMemsetD32(cells, 0, 4));
    OK(cuCtxSynchronize());
    OK(cuGraphCreate(&graph, 0));
}

static unsigned cell(unsigned index)
{
    unsigned value;
    OK(cuMemcpyDtoH(&value, cells + 4 * index, 4));
    return value;
}

struct node {
    CUgraph in;
    CUgraphNode after; /* NULL: nothing */
    const char *kernel;
    unsigned cell;
    CUgraphConditionalHandle handle;
    unsigned number;
};

static CUDA_KERNEL_NODE_PARAMS params_of(struct node *node, void *arguments[3],
                                         CUdeviceptr *address)
{
    static CUmodule module;
    CUfunction function;
    if (module == NULL) OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(&function, module, node->kernel));
    *address = cells + 4 * node->cell;
    arguments[0] = address;
    arguments[1] = &node->handle;
    arguments[2] = &node->number;
    return (CUDA_KERNEL_NODE_PARAMS){.func = function,
                                     .gridDimX = 1,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = 1,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = arguments};
}

static CUgraphNode kernel(struct node node)
{
    CUgraphNode made;
    CUdeviceptr address;
    void *arguments[3];
    const CUDA_KERNEL_NODE_PARAMS params = params_of(&node, arguments, &address);
    OK(cuGraphAddKernelNode(&made, node.in, &node.after, node.after != NULL, &params));
    return made;
}

static CUgraphConditionalHandle handle_of(unsigned value)
{
    CUgraphConditionalHandle handle;
    OK(cuGraphConditionalHandleCreate(&handle, graph, test_context_handle, value,
                                      CU_GRAPH_COND_ASSIGN_DEFAULT));
    return handle;
}

static CUgraphNode conditional(CUgraph in, CUgraphNode after, CUgraphConditionalHandle handle,
                               CUgraphConditionalNodeType type, unsigned size, CUgraph *bodies)
{
    CUgraphNode node;
    CUgraphNodeParams params = {
        .type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
        .conditional = {.handle = handle, .type = type, .size = size, .ctx = test_context_handle}};
    OK(cuGraphAddNode(&node, in, &after, NULL, after != NULL, &params));
    memcpy(bodies, params.conditional.phGraph_out, size * sizeof *bodies);
    return node;
}

static CUgraphExec instantiate(void)
{
    CUgraphExec exec;
    OK(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

/* Makes a loop of n rounds that counts in cell 0; after the loop 1 is added to cell 1. */
static CUgraphNode loop(unsigned n)
{
    CUgraph body;
    const CUgraphConditionalHandle handle = handle_of(1);
    CUgraphNode node = conditional(graph, NULL, handle, CU_GRAPH_COND_TYPE_WHILE, 1, &body);
    kernel((struct node){.in = graph, .after = node, .kernel = "add", .cell = 1, .number = 1});
    return kernel((struct node){.in = body, .kernel = "count", .handle = handle, .number = n});
}

START_TEST(a_loop_goes_on_while_its_condition_is_not_zero)
{
    begin(_i);
    loop(500);
    CUgraphExec exec = instantiate();
    for (int i = 0; i < 3; i++) OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    ck_assert_uint_eq(cell(0), 1500);
    ck_assert_uint_eq(cell(1), 3);
}
END_TEST

START_TEST(a_launch_outlives_its_graph_its_instance_and_its_stream)
{
    begin(_i);
    loop(30);
    CUgraphExec exec = instantiate();
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphDestroy(graph));
    OK(cuGraphExecDestroy(exec));
    OK(cuStreamDestroy(stream));
    OK(cuCtxSynchronize());
    ck_assert_uint_eq(cell(0), 30);
    ck_assert_uint_eq(cell(1), 1);
}
END_TEST

START_TEST(a_launch_keeps_the_body_that_it_was_made_with)
{
    begin(_i);
    CUgraph body, inner;
    CUgraphNode node = conditional(graph, NULL, handle_of(1), CU_GRAPH_COND_TYPE_IF, 1, &body);
    conditional(body, NULL, handle_of(1), CU_GRAPH_COND_TYPE_IF, 1, &inner);
    struct node adds = {.in = inner, .kernel = "add", .number = 1};
    CUgraphNode added = kernel(adds);
    CUgraphExec exec = instantiate();
    OK(cuGraphLaunch(exec, stream));
    CUdeviceptr address;
    void *arguments[3];
    adds.number = 100;
    const CUDA_KERNEL_NODE_PARAMS params = params_of(&adds, arguments, &address);
    OK(cuGraphExecKernelNodeSetParams(exec, added, &params));
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphNodeSetEnabled(exec, added, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    ck_assert_uint_eq(cell(0), 101);
    ck_assert_ptr_nonnull(node);
}
END_TEST

/* Covers the body and the nodes after it, also in virtual time. */
START_TEST(a_stream_that_is_asked_is_over_at_last)
{
    begin(_i);
    CUevent first = test_event(0), last = test_event(0);
    float took = 0;
    loop(40);
    CUgraphExec exec = instantiate();
    OK(cuEventRecord(first, stream));
    OK(cuGraphLaunch(exec, stream));
    OK(cuEventRecord(last, stream));
    int asked = 0;
    while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY) ck_assert_int_lt(asked++, 1000000);
    ck_assert_uint_eq(cell(0), 40);
    OK(cuEventElapsedTime(&took, first, last));
    ck_assert(took > 40 * 0.001); /* ms: a kernel takes a microsecond at least */
}
END_TEST

START_TEST(a_switch_runs_the_body_of_that_number_or_none)
{
    begin(_i);
    for (unsigned value = 0; value < 5; value++) {
        CUgraph bodies[3];
        OK(cuGraphCreate(&graph, 0));
        const CUgraphConditionalHandle handle = handle_of(7);
        CUgraphNode node =
            kernel((struct node){.in = graph, .kernel = "put", .handle = handle, .number = value});
        conditional(graph, node, handle, CU_GRAPH_COND_TYPE_SWITCH, 3, bodies);
        for (unsigned i = 0; i < 3; i++)
            kernel((struct node){.in = bodies[i], .kernel = "add", .cell = i, .number = 1 + value});
        OK(cuGraphLaunch(instantiate(), stream));
        OK(cuStreamSynchronize(stream));
    }
    for (unsigned i = 0; i < 3; i++) ck_assert_uint_eq(cell(i), 1 + i);
}
END_TEST

START_TEST(a_failing_body_ends_the_context)
{
    begin(_i);
    CUgraph body;
    conditional(graph, NULL, handle_of(1), CU_GRAPH_COND_TYPE_WHILE, 1, &body);
    kernel((struct node){.in = body, .kernel = "wild"});
    CUgraphExec exec = instantiate();
    cuGraphLaunch(exec, stream); /* under the earliest order the error may already be known */
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(stream));
    ck_assert_uint_eq(test_count(TRACE_FINDING, 0, NULL), 1);
}
END_TEST

START_TEST(what_nobody_waits_for_is_given_up)
{
    begin(LATEST);
    loop(10);
    OK(cuGraphLaunch(instantiate(), stream));
    OK(cuCtxDestroy(test_context_handle));
}
END_TEST

START_TEST(a_handle_whose_context_is_gone_is_refused)
{
    CUgraphExec exec;
    CUgraphNode node;
    CUgraph later;
    CUcontext other;
    CUgraphNodeParams params[2] = {{.type = CU_GRAPH_NODE_TYPE_CONDITIONAL},
                                   {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL}};
    begin(LATEST);
    OK(cuCtxCreate(&other, NULL, 0, 0));
    OK(cuGraphCreate(&later, 0));
    for (int i = 0; i < 2; i++) {
        params[i].conditional.size = 1;
        OK(cuGraphConditionalHandleCreate(&params[i].conditional.handle, i == 0 ? graph : later,
                                          other, 1, 0));
    }
    OK(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params[0]));
    OK(cuCtxDestroy(other));
    OK(cuCtxSetCurrent(test_context_handle));
    FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuGraphInstantiate(&exec, graph, 0));
    FAILS(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuGraphAddNode(&node, later, NULL, NULL, 0, &params[1]));
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(later));
}
END_TEST

START_TEST(two_in_one_graph_are_not_ordered)
{
    begin(LATEST);
    for (unsigned i = 0; i < 2; i++) {
        CUgraph body;
        conditional(graph, NULL, handle_of(1), CU_GRAPH_COND_TYPE_IF, 1, &body);
        kernel((struct node){.in = body, .kernel = "add", .number = 1});
    }
    OK(cuGraphLaunch(instantiate(), stream));
    OK(cuStreamSynchronize(stream));
    const struct trace_record *found = test_find(TRACE_FINDING, 0, NULL);
    ck_assert_ptr_nonnull(found);
    ck_assert_ptr_nonnull(strstr(test_sentence(found), "both are nodes of one graph"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("conditional nodes");
    TCase *tcase = tcase_create("conditional nodes");
    tcase_set_timeout(tcase, 300);
    suite_add_tcase(suite, tcase);
    tcase_add_loop_test(tcase, a_loop_goes_on_while_its_condition_is_not_zero, 0, ORDERS);
    tcase_add_loop_test(tcase, a_launch_outlives_its_graph_its_instance_and_its_stream, 0, ORDERS);
    tcase_add_loop_test(tcase, a_launch_keeps_the_body_that_it_was_made_with, 0, ORDERS);
    tcase_add_loop_test(tcase, a_stream_that_is_asked_is_over_at_last, 0, ORDERS);
    tcase_add_loop_test(tcase, a_switch_runs_the_body_of_that_number_or_none, 0, ORDERS);
    tcase_add_loop_test(tcase, a_failing_body_ends_the_context, 0, ORDERS);
    tcase_add_test(tcase, what_nobody_waits_for_is_given_up);
    tcase_add_test(tcase, a_handle_whose_context_is_gone_is_refused);
    tcase_add_test(tcase, two_in_one_graph_are_not_ordered);
    return test_main(suite);
}
