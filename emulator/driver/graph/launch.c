/* Launching executable graphs. A launch consists of a mark in the stream, behind the stream's
 * earlier work and the previous launch of the same executable graph; the nodes, in lanes beside the
 * stream, each behind the mark or the nodes that it depends on; and a mark in the stream behind the
 * leaves. Bodies of conditional nodes are launched in the same way when they are chosen
 * (graph/conditional.c). */
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/graph/parts.h"

#include <stdlib.h>

static bool after_reserve(struct launching *launching, size_t count)
{
    if (count <= launching->room) return true;
    struct timeline_op **after = reallocarray(launching->after, count, sizeof *after);
    if (after == NULL) return false;
    launching->after = after;
    launching->room = count;
    return true;
}

/* A chain stays in one lane; at a fork all but one of the branches get lanes of their own. */
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

/* Checks before a launch that the node's context and event still exist. */
static CUresult check_node(const struct graph_node *node)
{
    const struct operation *operation = node->operation;
    for (size_t i = 0; i < graph_inside_count(node); i++)
        for (struct graph_node *inner = node->inside->graphs[i]->first; inner != NULL;
             inner = inner->next)
            TRY(check_node(inner));
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

/* Finds the stream of a launch, which must not be capturing. */
static CUresult stream_for_graph(CUstream handle, struct stream **stream)
{
    TRY(stream_resolve(handle, stream));
    if ((*stream)->captured != NULL) /* invalid or not */
        return capture_refuse(*stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    return stream_for_work(handle, stream);
}

struct operation *graph_launch_copy(const struct launching *launching,
                                    const struct operation *operation)
{
    struct operation *copy = operation_copy(operation, launching->stream);
    if (copy == NULL || launching->within == NULL) return copy;
    copy->record.stream = launching->within->record.stream;
    copy->record.request = launching->within->record.request;
    copy->stream_caller = launching->within->stream_caller;
    return copy;
}

/* May the node begin before the end of the node of its edge `i`? Tells a kernel so. */
static bool follows_early(const struct graph_node *node, size_t i, struct operation *operation)
{
    const CUgraphEdgeData *data = &node->before.data[i];
    const struct graph_node *before = node->before.list[i];
    const bool at_once = data->from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER;
    if (graph_edge_is_ordinary(data) || before->disabled) return false;
    if (data->type != CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC) return at_once;
    return node->params.type == CU_GRAPH_NODE_TYPE_KERNEL &&
           launch_follow(operation, before->operation, before->op, at_once);
}

/* Puts in launching->after, for each of the node's edges that lets it begin early, a mark that is
 * not behind the end of the node before. */
static CUresult follow_early(struct launching *launching, const struct graph_node *node,
                             struct operation *operation)
{
    static const struct timeline_work mark = {.kind = TIMELINE_MARK, .early = TIMELINE_EARLY};
    for (size_t i = 0; i < node->before.count; i++) {
        if (!follows_early(node, i, operation)) continue;
        struct timeline_op *early = timeline_submit_part(
            launching->time, node->lane, &mark, launching->issue_ns, &launching->after[i], 1);
        if (early == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
        launching->after[i] = early;
    }
    return CUDA_SUCCESS;
}

static void drop_marks(const struct launching *launching, const struct graph_node *node)
{
    for (size_t i = 0; i < node->before.count; i++)
        if (launching->after[i] != node->before.list[i]->op)
            timeline_op_release(launching->after[i]);
}

/* Is the end of the graph to be behind the node's own end, since nothing else is? */
static bool is_leaf(const struct graph_node *node)
{
    for (size_t i = 0; i < node->after.count; i++)
        if (graph_edge_is_ordinary(&node->after.data[i])) return false;
    return true;
}

/* Submits one node behind launching->after. */
static CUresult launch_node(struct launching *launching, struct graph_node *node, size_t count)
{
    static const struct timeline_work mark = {.kind = TIMELINE_MARK};
    if (graph_is_conditional(node)) return graph_conditional_launch(launching, node, count);
    if (node->operation == NULL || node->disabled) {
        node->op = timeline_submit_part(launching->time, node->lane, &mark, launching->issue_ns,
                                        launching->after, count);
        if (node->op == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
        if (node->inside == NULL || node->disabled) return CUDA_SUCCESS;
        struct timeline_op *begin = node->op;
        CUresult code =
            graph_launch_nodes(launching, node->inside->graphs[0], begin, node->lane, &node->op);
        timeline_op_release(begin);
        return code;
    }
    struct event *event = NULL;
    if (node->params.type == CU_GRAPH_NODE_TYPE_WAIT_EVENT) {
        event = object_peek(node->params.eventWait.event, OBJECT_EVENT);
        if (event->record != NULL) launching->after[count++] = event->record;
        if (!after_reserve(launching, count + event->early.count)) return CUDA_ERROR_OUT_OF_MEMORY;
        for (size_t i = 0; i < event->early.count; i++)
            launching->after[count++] = event->early.list[i];
    }
    struct operation *operation = graph_launch_copy(launching, node->operation);
    if (operation == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    struct timeline_stream *carrier = operation->context == launching->context
                                          ? launching->time
                                          : operation->context->legacy->time;
    struct copy_flight flight = {.number = 0};
    const bool copies = operation->record.what == TRACE_COPY;
    const bool flies = copies || operation->record.what == TRACE_SET;
    if (flies) flight = copies ? copy_begins(operation) : fill_flight(operation);
    struct timeline_work work = node->work;
    work.beside = launching->within != NULL;
    CUresult code = follow_early(launching, node, operation);
    if (code == CUDA_SUCCESS)
        code = operation_submit_part(operation, carrier, node->lane, &work, launching->after, count,
                                     &node->op);
    else
        operation_drop(operation);
    drop_marks(launching, node);
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

/* If a node fails at once (possible under the earliest order), the context's work has ended: the
 * rest of the graph is not submitted, and the next call returns the error. */
CUresult graph_launch_nodes(struct launching *launching, const struct graph *graph,
                            struct timeline_op *begin, unsigned lane, struct timeline_op **end)
{
    static const struct timeline_work mark = {.kind = TIMELINE_MARK};
    struct timeline_op **leaves = calloc(graph->count + 1, sizeof *leaves);
    size_t count = 0, launched = 0;
    bool lane_taken = false;
    CUresult code = leaves != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    *end = NULL;
    for (size_t i = 0; i < graph->count && code == CUDA_SUCCESS; i++) {
        struct graph_node *node = graph->order[i];
        if (launching->context->sticky != CUDA_SUCCESS) break;
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
        if (code == CUDA_SUCCESS && is_leaf(node)) leaves[count++] = node->op;
    }
    if (code == CUDA_SUCCESS && count == 0) leaves[count++] = begin;
    if (code == CUDA_SUCCESS)
        *end =
            timeline_submit_part(launching->time, lane, &mark, launching->issue_ns, leaves, count);
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
    struct graph_exec *exec;
    struct stream *stream;
    struct timeline_op *end = NULL, *last;
    TRY(stream_for_graph(hStream, &stream));
    TRY(graph_exec_find(hGraph, &exec));
    for (struct graph_node *node = exec->graph->first; node != NULL; node = node->next)
        TRY(check_node(node));
    TRY(graph_check_memory(exec));
    TRY(stream_await_early(stream)); /* what its nodes wait for themselves is not known here */
    thread_spend(timeline_model->launch);
    struct launching launching = {.time = stream->time,
                                  .context = stream->object.context,
                                  .stream = stream,
                                  .issue_ns = thread.clock_ns,
                                  .lanes = 1};
    struct timeline_op *begin = graph_conditions_begin(exec->graph, stream, exec->last);
    if (begin == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult code = graph_launch_nodes(&launching, exec->graph, begin, 0, &end);
    timeline_op_release(begin);
    free(launching.after);
    if (code != CUDA_SUCCESS) return code;
    last = graph_conditions_end(exec->graph, stream, end);
    timeline_op_release(end);
    if (last == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    timeline_op_release(exec->last);
    exec->last = last;
    graph_memory_launched(exec);
    if (!timeline_is_idle(driver.timeline)) host_thread_wake();
    thread_wait_until(timeline_make_room(driver.timeline));
    return CUDA_SUCCESS;
}

/* A launch needs no preparation on the device. */
CUresult driver_cuGraphUpload(CUgraphExec hGraph, CUstream hStream)
{
    struct graph_exec *exec;
    struct stream *stream;
    TRY(graph_exec_find(hGraph, &exec));
    return stream_for_graph(hStream, &stream);
}
