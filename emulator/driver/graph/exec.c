/* Executable graphs: made from a graph, changed, launched. A launch is: a mark in the stream,
 * behind the stream's earlier work and the exec's earlier launch; the nodes beside the stream, each
 * behind the mark or the nodes that it depends on; a mark in the stream behind the nodes on which
 * nothing depends. */
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/graph/parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- instantiating ----------------------------------------------------------------------- */

/* Sorts a graph that is not going to change, and those embedded in it. */
static CUresult sort_all(struct graph *graph, struct graph_node **offender)
{
    TRY(graph_sort(graph, &graph->order, offender));
    for (struct graph_node *node = graph->first; node != NULL; node = node->next)
        if (node->child != NULL) TRY(sort_all(node->child, offender));
    return CUDA_SUCCESS;
}

/* Fills of what is no memory; `*offender` is one of them. */
static CUresult check_fills(const struct graph *graph, struct graph_node **offender)
{
    for (struct graph_node *node = graph->first; node != NULL; node = node->next) {
        const bool fills = node->params.type == CU_GRAPH_NODE_TYPE_MEMSET;
        if (fills && !fill_is_possible(node->operation)) {
            *offender = node;
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (node->child != NULL) TRY(check_fills(node->child, offender));
    }
    return CUDA_SUCCESS;
}

static CUresult check_flags(cuuint64_t flags, cuuint64_t known)
{
    if (flags & ~known) return CUDA_ERROR_INVALID_VALUE;
    if (!(flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)) return CUDA_SUCCESS;
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) return CUDA_ERROR_INVALID_VALUE;
    return finding_unsupported("graphs that are launched from the device");
}

/* `offender`: a node of `graph` that is in a cycle, or fills what is no memory, when that is the
 * error; else NULL. */
static CUresult instantiate(CUgraphExec *handle, CUgraph graph_handle, cuuint64_t flags,
                            CUgraphNode *offender)
{
    struct graph *graph;
    struct graph_node *copied_offender = NULL;
    *offender = NULL;
    NEED_POINTER(handle);
    TRY(graph_find(graph_handle, &graph));
    if (graph->capturing) return CUDA_ERROR_ILLEGAL_STATE;
    const bool memory = graph_has_memory(graph);
    if (memory && graph->executables > 0) return CUDA_ERROR_NOT_SUPPORTED; /* one at a time */
    struct graph_exec *exec = calloc(1, sizeof *exec);
    if (exec == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult code = graph_copy(graph, &exec->graph);
    if (code == CUDA_SUCCESS) code = sort_all(exec->graph, &copied_offender);
    if (code == CUDA_SUCCESS) code = check_fills(exec->graph, &copied_offender);
    if (code != CUDA_SUCCESS) {
        for (struct graph_node *node = graph->first; node != NULL && copied_offender != NULL;
             node = node->next)
            if (node->object.id == copied_offender->source) *offender = (CUgraphNode)node;
        if (exec->graph != NULL) graph_end(exec->graph);
        free(exec);
        return code;
    }
    graph_seal_memory(graph);
    exec->source = memory ? graph->object.id : 0;
    if (memory) graph->executables++;
    exec->flags = flags;
    object_add(&exec->object, OBJECT_GRAPH_EXEC);
    thread.call.object = exec->object.id;
    *handle = (CUgraphExec)exec;
    return CUDA_SUCCESS;
}

enum {
    FLAGS_WITHOUT_STREAM = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                           CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH |
                           CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY,
    FLAGS_KNOWN = FLAGS_WITHOUT_STREAM | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD,
};

CUresult driver_cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph,
                                            unsigned long long flags)
{
    CUgraphNode offender;
    TRY(check_flags(flags, FLAGS_WITHOUT_STREAM));
    return instantiate(phGraphExec, hGraph, flags, &offender);
}

CUresult driver_cuGraphInstantiate(CUgraphExec *phGraphExec, CUgraph hGraph,
                                   CUgraphNode *phErrorNode, char *logBuffer, size_t bufferSize)
{
    CUgraphNode offender;
    if (logBuffer != NULL && bufferSize > 0) *logBuffer = '\0';
    CUresult code = instantiate(phGraphExec, hGraph, 0, &offender);
    if (phErrorNode != NULL) *phErrorNode = offender;
    return code;
}

CUresult driver_cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph,
                                             CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
    NEED_POINTER(instantiateParams);
    CUDA_GRAPH_INSTANTIATE_PARAMS *params = instantiateParams;
    struct stream *stream;
    params->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    params->hErrNode_out = NULL;
    TRY(check_flags(params->flags, FLAGS_KNOWN));
    if (params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD)
        TRY(stream_for_work(params->hUploadStream, &stream));
    CUresult code = instantiate(phGraphExec, hGraph, params->flags, &params->hErrNode_out);
    if (code == CUDA_SUCCESS)
        params->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    else if (params->hErrNode_out != NULL)
        params->result_out = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
    return code;
}

CUresult driver_cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t *flags)
{
    struct graph_exec *exec;
    NEED_POINTER(flags);
    TRY(graph_exec_find(hGraphExec, &exec));
    *flags = exec->flags & ~(cuuint64_t)CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    return CUDA_SUCCESS;
}

/* The graph that it was made from, if it is still there, may be instantiated again. */
static void executable_ended(uint64_t source)
{
    for (struct object *object = NULL; source != 0 && (object = object_next(object)) != NULL;)
        if (object->kind == OBJECT_GRAPH && object->id == source)
            ((struct graph *)object)->executables--;
}

/* What has been launched has operations of its own, and goes on. */
CUresult driver_cuGraphExecDestroy(CUgraphExec hGraphExec)
{
    struct graph_exec *exec;
    TRY(graph_exec_find(hGraphExec, &exec));
    timeline_op_release(exec->last);
    executable_ended(exec->source);
    object_remove(&exec->object);
    graph_end(exec->graph);
    object_free(&exec->object);
    return CUDA_SUCCESS;
}

/* ---- launching --------------------------------------------------------------------------- */

struct launching {
    struct stream *stream;
    unsigned lanes; /* in use so far */
    /* What the node that comes next is ordered behind; kept from node to node. */
    struct timeline_op **after;
    size_t room;
};

static bool after_reserve(struct launching *launching, size_t count)
{
    if (count <= launching->room) return true;
    struct timeline_op **after = reallocarray(launching->after, count, sizeof *after);
    if (after == NULL) return false;
    launching->after = after;
    launching->room = count;
    return true;
}

/* A chain stays on one lane; where it forks, all but one of the branches get lanes of their own. */
static unsigned choose_lane(struct launching *launching, const struct graph_node *node,
                            unsigned lane, bool *lane_taken)
{
    for (size_t i = 0; i < node->before.count; i++) {
        struct graph_node *before = node->before.list[i];
        if (before->lane_taken) continue;
        before->lane_taken = true;
        return before->lane;
    }
    if (node->before.count == 0 && !*lane_taken) {
        *lane_taken = true;
        return lane;
    }
    return launching->lanes++;
}

/* What can only be found out now. */
static CUresult check_node(const struct graph_node *node)
{
    const struct operation *operation = node->operation;
    if (node->child != NULL) {
        for (struct graph_node *inner = node->child->first; inner != NULL; inner = inner->next)
            TRY(check_node(inner));
    }
    if (operation == NULL || node->disabled) return CUDA_SUCCESS;
    if (!operation->context->alive || operation->context->object.id != operation->record.context) {
        struct trace_record found =
            finding_at_call(FINDING_NODE_OF_DESTROYED_CONTEXT, CUDA_ERROR_CONTEXT_IS_DESTROYED);
        finding_detail(&found, "%s", graph_type_name(node->params.type));
        found.finding.numbers[0] = operation->record.context;
        finding_put(&found);
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    const bool waits = node->params.type == CU_GRAPH_NODE_TYPE_WAIT_EVENT;
    if (!waits && node->params.type != CU_GRAPH_NODE_TYPE_EVENT_RECORD) return CUDA_SUCCESS;
    const struct event *event = object_peek(
        waits ? node->params.eventWait.event : node->params.eventRecord.event, OBJECT_EVENT);
    if (event != NULL && event->object.id == operation->record.object) return CUDA_SUCCESS;
    return finding_tell(FINDING_NODE_OF_DESTROYED_EVENT, CUDA_ERROR_INVALID_HANDLE, "%s",
                        graph_type_name(node->params.type));
}

/* An executable graph goes into streams that run, not into those that are captured. */
static CUresult stream_for_graph(CUstream handle, struct stream **stream)
{
    TRY(stream_for_work(handle, stream));
    return (*stream)->captured == NULL
               ? CUDA_SUCCESS
               : capture_refuse(*stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

static CUresult launch_nodes(struct launching *launching, const struct graph *graph,
                             struct timeline_op *begin, unsigned lane, struct timeline_op **end);

/* Puts one node into the timeline, behind launching->after. */
static CUresult launch_node(struct launching *launching, struct graph_node *node, size_t count)
{
    static const struct timeline_work mark = {.kind = TIMELINE_MARK};
    struct stream *stream = launching->stream;
    if (node->operation == NULL || node->disabled) {
        node->op = timeline_submit_part(stream->time, node->lane, &mark, thread.clock_ns,
                                        launching->after, count);
        if (node->op == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
        if (node->child == NULL || node->disabled) return CUDA_SUCCESS;
        struct timeline_op *begin = node->op;
        CUresult code = launch_nodes(launching, node->child, begin, node->lane, &node->op);
        timeline_op_release(begin);
        return code;
    }
    struct event *event = NULL;
    if (node->params.type == CU_GRAPH_NODE_TYPE_WAIT_EVENT) {
        event = object_peek(node->params.eventWait.event, OBJECT_EVENT);
        if (event->record != NULL) launching->after[count++] = event->record;
    }
    struct operation *operation = operation_copy(node->operation, stream);
    if (operation == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    struct timeline_stream *carrier = operation->context == stream->object.context
                                          ? stream->time
                                          : operation->context->legacy->time;
    struct copy_flight flight = {.number = 0};
    const bool copies = operation->record.what == TRACE_COPY;
    const bool flies = copies || operation->record.what == TRACE_SET;
    if (flies) flight = copies ? copy_begins(operation) : fill_flight(operation);
    const CUresult code = operation_submit_part(operation, carrier, node->lane, &node->work,
                                                launching->after, count, &node->op);
    if (flies) copy_submitted(&flight, node->op);
    if (code != CUDA_SUCCESS) return code;
    if (node->params.type != CU_GRAPH_NODE_TYPE_EVENT_RECORD) return CUDA_SUCCESS;
    event = object_peek(node->params.eventRecord.event, OBJECT_EVENT);
    event->tried = true;
    if (event->captured != NULL) capturing->forget_event(event);
    timeline_op_release(event->record);
    event->record = timeline_op_retain(node->op);
    return CUDA_SUCCESS;
}

/* All nodes of a graph, behind `begin`. On success `*end` is a reference to what comes after all of
 * them. A node that fails at once (under the earliest order) ends the context's work: the rest of
 * the graph is not submitted, and the error is the next call's. */
static CUresult launch_nodes(struct launching *launching, const struct graph *graph,
                             struct timeline_op *begin, unsigned lane, struct timeline_op **end)
{
    static const struct timeline_work mark = {.kind = TIMELINE_MARK};
    const struct context *context = launching->stream->object.context;
    struct timeline_op **leaves = calloc(graph->count + 1, sizeof *leaves);
    size_t count = 0, launched = 0;
    bool lane_taken = false;
    CUresult code = leaves != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    *end = NULL;
    for (size_t i = 0; i < graph->count && code == CUDA_SUCCESS; i++) {
        struct graph_node *node = graph->order[i];
        if (context->sticky != CUDA_SUCCESS) break;
        node->lane = choose_lane(launching, node, lane, &lane_taken);
        node->lane_taken = false;
        size_t before = 0;
        if (!after_reserve(launching, node->before.count + 2)) {
            code = CUDA_ERROR_OUT_OF_MEMORY;
            break;
        }
        for (size_t k = 0; k < node->before.count; k++)
            launching->after[before++] = node->before.list[k]->op;
        if (before == 0) launching->after[before++] = begin;
        node->op = NULL;
        code = launch_node(launching, node, before);
        launched = i + 1;
        if (code == CUDA_SUCCESS && node->after.count == 0) leaves[count++] = node->op;
    }
    if (code == CUDA_SUCCESS && count == 0) leaves[count++] = begin;
    if (code == CUDA_SUCCESS)
        *end = timeline_submit_part(launching->stream->time, lane, &mark, thread.clock_ns, leaves,
                                    count);
    if (code == CUDA_SUCCESS && *end == NULL) code = CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < launched; i++) {
        timeline_op_release(graph->order[i]->op);
        graph->order[i]->op = NULL;
    }
    free(leaves);
    return code;
}

CUresult driver_cuGraphLaunch(CUgraphExec hGraph, CUstream hStream)
{
    static const struct timeline_work mark = {.kind = TIMELINE_MARK};
    struct graph_exec *exec;
    struct launching launching = {.lanes = 1};
    struct timeline_op *end = NULL, *last;
    TRY(graph_exec_find(hGraph, &exec));
    TRY(stream_for_graph(hStream, &launching.stream));
    for (struct graph_node *node = exec->graph->first; node != NULL; node = node->next)
        TRY(check_node(node));
    TRY(graph_check_memory(exec));
    struct stream *stream = launching.stream;
    struct timeline_op *begin =
        timeline_submit(stream->time, &mark, thread.clock_ns, &exec->last, exec->last != NULL);
    if (begin == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult code = launch_nodes(&launching, exec->graph, begin, 0, &end);
    timeline_op_release(begin);
    free(launching.after);
    if (code != CUDA_SUCCESS) return code;
    last = timeline_submit(stream->time, &mark, thread.clock_ns, &end, 1);
    timeline_op_release(end);
    if (last == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    timeline_op_release(exec->last);
    exec->last = last;
    graph_memory_launched(exec);
    if (!timeline_is_idle(driver.timeline)) host_thread_wake();
    thread_wait_until(timeline_make_room(driver.timeline));
    return CUDA_SUCCESS;
}

/* Nothing needs to be brought to the device before a launch. */
CUresult driver_cuGraphUpload(CUgraphExec hGraph, CUstream hStream)
{
    struct graph_exec *exec;
    struct stream *stream;
    TRY(graph_exec_find(hGraph, &exec));
    return stream_for_graph(hStream, &stream);
}

/* ---- changing ---------------------------------------------------------------------------- */

/* The exec's own node for one of the graph that it was made from. */
static CUresult exec_node(CUgraphExec handle, CUgraphNode original_handle, struct graph_node **node)
{
    struct graph_exec *exec;
    struct graph_node *original;
    TRY(graph_exec_find(handle, &exec));
    TRY(graph_node_find(original_handle, &original));
    *node = graph_node_of_source(exec->graph, original->object.id);
    return *node != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Kernels, copies and fills: those are the nodes that can be switched off. */
static bool can_be_disabled(const struct graph_node *node)
{
    return node->params.type == CU_GRAPH_NODE_TYPE_KERNEL ||
           node->params.type == CU_GRAPH_NODE_TYPE_MEMCPY ||
           node->params.type == CU_GRAPH_NODE_TYPE_MEMSET;
}

CUresult driver_cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
                                      unsigned int isEnabled)
{
    struct graph_node *node;
    TRY(exec_node(hGraphExec, hNode, &node));
    if (!can_be_disabled(node)) return CUDA_ERROR_INVALID_VALUE;
    node->disabled = isEnabled == 0;
    return CUDA_SUCCESS;
}

CUresult driver_cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode,
                                      unsigned int *isEnabled)
{
    struct graph_node *node;
    NEED_POINTER(isEnabled);
    TRY(exec_node(hGraphExec, hNode, &node));
    if (!can_be_disabled(node)) return CUDA_ERROR_INVALID_VALUE;
    *isEnabled = !node->disabled;
    return CUDA_SUCCESS;
}

/* ---- whole graphs */

typedef CUgraphExecUpdateResultInfo update_info;

static CUgraphExecUpdateResult no_match(update_info *info, CUgraphExecUpdateResult result,
                                        const struct graph_node *node,
                                        const struct graph_node *from)
{
    *info = (update_info){result, (CUgraphNode)node, (CUgraphNode)from};
    return result;
}

static CUgraphExecUpdateResult pair_graphs(struct graph *graph, struct graph *with,
                                           update_info *info);

/* Pairs `node`, of the exec, with `with`, and from there what both depend on, edge by edge. */
static CUgraphExecUpdateResult pair_nodes(struct graph_node *node, struct graph_node *with,
                                          update_info *info)
{
    node->pair = with;
    with->pair = node;
    if (node->params.type != with->params.type)
        return no_match(info, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, with, NULL);
    CUgraphExecUpdateResult result = graph_node_may_become(node, with);
    if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return no_match(info, result, with, NULL);
    if (node->before.count != with->before.count)
        return no_match(info, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, with, NULL);
    return node->child != NULL ? pair_graphs(node->child, with->child, info) : result;
}

/* The first node from `*node` on on which nothing depends; NULL: none. */
static struct graph_node *next_leaf(struct graph_node **node)
{
    while (*node != NULL && (*node)->after.count > 0) *node = (*node)->next;
    return *node;
}

/* Nodes on which nothing depends, in the order in which they were made; then what those depend on,
 * in the order of the edges. A list instead of recursion, since chains can be long. */
static CUgraphExecUpdateResult pair_graphs(struct graph *graph, struct graph *with,
                                           update_info *info)
{
    if (graph->count != with->count)
        return no_match(info, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, NULL, NULL);
    struct graph_nodes todo = {0};
    CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    struct graph_node *node = graph->first, *other = with->first;
    while (next_leaf(&node) != NULL && next_leaf(&other) != NULL)
        node = node->next, other = other->next;
    if ((node == NULL) != (next_leaf(&other) == NULL))
        return no_match(info, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
                        other != NULL ? other : with->last, NULL);
    for (node = graph->first; node != NULL; node = node->next) node->pair = NULL;
    for (node = with->first; node != NULL; node = node->next) node->pair = NULL;
    node = graph->first, other = with->first;
    while (result == CU_GRAPH_EXEC_UPDATE_SUCCESS && next_leaf(&node) != NULL) {
        result = pair_nodes(node, next_leaf(&other), info);
        if (!graph_nodes_add(&todo, node)) result = CU_GRAPH_EXEC_UPDATE_ERROR;
        node = node->next, other = other->next;
    }
    for (size_t i = 0; i < todo.count && result == CU_GRAPH_EXEC_UPDATE_SUCCESS; i++) {
        for (size_t k = 0; k < todo.list[i]->before.count; k++) {
            node = todo.list[i]->before.list[k];
            other = todo.list[i]->pair->before.list[k];
            if (node->pair == other) continue;
            if (node->pair != NULL || other->pair != NULL)
                result = no_match(info, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
                                  todo.list[i]->pair, other);
            else
                result = pair_nodes(node, other, info);
            if (result == CU_GRAPH_EXEC_UPDATE_SUCCESS && !graph_nodes_add(&todo, node))
                result = CU_GRAPH_EXEC_UPDATE_ERROR;
            if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS) break;
        }
    }
    graph_nodes_clear(&todo);
    info->result = result;
    return result;
}

/* Takes over the work of every node's pair. */
static CUresult take_over(struct graph *graph)
{
    for (struct graph_node *node = graph->first; node != NULL; node = node->next)
        TRY(node->child != NULL ? take_over(node->child) : graph_node_copy(node, node->pair));
    return CUDA_SUCCESS;
}

CUresult driver_cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
                                     CUgraphExecUpdateResultInfo *resultInfo)
{
    struct graph_exec *exec;
    struct graph *graph;
    update_info unwanted;
    if (resultInfo == NULL) resultInfo = &unwanted;
    *resultInfo = (update_info){.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    TRY(graph_exec_find(hGraphExec, &exec));
    TRY(graph_find(hGraph, &graph));
    if (graph->capturing) return CUDA_ERROR_INVALID_VALUE;
    if (pair_graphs(exec->graph, graph, resultInfo) != CU_GRAPH_EXEC_UPDATE_SUCCESS)
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    return take_over(exec->graph);
}

CUresult driver_cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph,
                                  CUgraphNode *hErrorNode_out,
                                  CUgraphExecUpdateResult *updateResult_out)
{
    CUgraphExecUpdateResultInfo info;
    NEED_POINTER(updateResult_out);
    CUresult code = driver_cuGraphExecUpdate_v2(hGraphExec, hGraph, &info);
    *updateResult_out = info.result;
    if (hErrorNode_out != NULL) *hErrorNode_out = info.errorNode;
    return code;
}

/* ---- single nodes */

/* More is allowed to a whole graph's update than to a copy node's own. */
static bool is_flat(const struct graph_node *node)
{
    const CUDA_MEMCPY3D *copy = &node->params.memcpy.copyParams;
    return copy->Height <= 1 && copy->Depth <= 1;
}

CUresult graph_exec_set(CUgraphExec exec, CUgraphNode handle, CUgraphNodeParams *params)
{
    struct graph_node *node;
    update_info info;
    TRY(exec_node(exec, handle, &node));
    if (node->params.type != params->type) return CUDA_ERROR_INVALID_VALUE;
    /* The new work is made beside the old, which stays as it was if it may not become that. */
    struct graph *aside = graph_make();
    struct graph_node *with = aside != NULL ? graph_node_make(aside, params->type) : NULL;
    CUresult code = with != NULL ? graph_node_set(with, params) : CUDA_ERROR_OUT_OF_MEMORY;
    if (code != CUDA_SUCCESS) goto done;
    code = CUDA_ERROR_INVALID_VALUE;
    if (graph_node_may_become(node, with) != CU_GRAPH_EXEC_UPDATE_SUCCESS) goto done;
    if (params->type == CU_GRAPH_NODE_TYPE_MEMCPY && !(is_flat(node) && is_flat(with))) goto done;
    if (node->child == NULL)
        code = graph_node_copy(node, with);
    else if (pair_graphs(node->child, with->child, &info) == CU_GRAPH_EXEC_UPDATE_SUCCESS)
        code = take_over(node->child);
done:
    if (aside != NULL) graph_end(aside);
    return code;
}
