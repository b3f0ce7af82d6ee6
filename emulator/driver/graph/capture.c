/* Stream capture: turns work for a stream into nodes of a graph. A stream takes part from
 * cuStreamBeginCapture, or from a wait for an event that the capture recorded, until the capture
 * ends. A call that would connect captured work with running work is an error and invalidates the
 * capture; after that the capture can only be ended. */
#include "emulator/driver/graph/parts.h"

#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/handle.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- parts ------------------------------------------------------------------------------- */

/* A stream's or an event's part in a capture. `captured`, the part that the rooms below know, must
 * be first. */
struct part {
    struct captured captured;
    struct graph_nodes tips; /* the next captured node depends on these */
};

static struct graph_nodes *tips_of(struct captured *captured)
{
    return &((struct part *)captured)->tips;
}

/* Makes a part; NULL: no memory. */
static struct captured *part_make(struct capture *capture, struct stream *stream)
{
    struct part *made = calloc(1, sizeof *made);
    if (made == NULL) return NULL;
    struct captured *part = &made->captured;
    part->capture = capture;
    part->stream = stream;
    part->stream_id = stream != NULL ? stream->object.id : 0;
    part->next = capture->parts;
    capture->parts = part;
    return part;
}

/* Removes a part from its capture. A stream's part is freed; an event's part stays, to show that
 * the event was captured. */
static void part_leave(struct captured *part)
{
    graph_nodes_clear(tips_of(part));
    part->capture = NULL;
    if (part->stream_id == 0) return;
    if (part->stream != NULL) part->stream->captured = NULL;
    free(part);
}

static void part_remove(struct captured *part)
{
    if (part->capture == NULL) return;
    struct captured **link = &part->capture->parts;
    while (*link != part) link = &(*link)->next;
    *link = part->next;
}

static CUresult tips_add(struct graph_nodes *tips, const struct graph_nodes *more)
{
    return graph_nodes_merge(tips, more) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* The nodes passed to the API, as dependencies of what is captured next, which may be a kernel. */
static CUresult tips_of_call(struct graph_nodes *tips, const struct graph *graph,
                             const CUgraphNode *nodes, const CUgraphEdgeData *data, size_t count)
{
    TRY(graph_check_dependencies(graph, nodes, data, count, CU_GRAPH_NODE_TYPE_KERNEL));
    for (size_t i = 0; i < count; i++) {
        if (graph_nodes_add_edge(tips, (struct graph_node *)nodes[i], graph_edge_data(data, i)))
            continue;
        graph_nodes_clear(tips);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

static void forget_event(struct event *event)
{
    struct captured *part = event->captured;
    if (part == NULL) return;
    part_remove(part);
    graph_nodes_clear(tips_of(part));
    free(part);
    event->captured = NULL;
}

/* Ends a capture for all its participants. A graph that is not handed out is destroyed, and as on
 * an H200 also one that existed before, if the capture is invalid. */
static void capture_end(struct capture *capture, bool keep_graph)
{
    struct capture **link = &driver.captures;
    while (*link != capture) link = &(*link)->next;
    *link = capture->next;
    capture->graph->capturing = false;
    if (!keep_graph && (!capture->borrowed || capture->invalid)) graph_end(capture->graph);
    while (capture->parts != NULL) {
        struct captured *part = capture->parts;
        capture->parts = part->next;
        part_leave(part);
    }
    free(capture);
}

/* The stream ends. If it is the origin, the capture ends; otherwise its captured work stays and
 * still has to be joined. */
static void forget_stream(struct stream *stream)
{
    const struct captured *part = stream->captured;
    if (part->capture->origin == stream)
        capture_end(part->capture, false);
    else
        stream->captured->stream = NULL;
}

/* ---- adding ------------------------------------------------------------------------------ */

/* Makes a new node behind the stream's tips, which it then replaces. `dependent`: a kernel that may
 * begin before a kernel before it ends (programmatic stream serialization). As an H200 does, a
 * programmatic edge stays one if no kernel is behind it. */
static CUresult tip_make(const struct stream *stream, CUgraphNodeType type, bool dependent,
                         struct graph_node **made)
{
    static const CUgraphEdgeData early = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                          .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    struct captured *part = stream->captured;
    const struct graph_nodes *tips = tips_of(part);
    struct graph_node *node = graph_node_make(part->capture->graph, type);
    if (node == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < tips->count; i++) {
        CUgraphEdgeData data = tips->data[i];
        if (dependent && tips->list[i]->params.type == CU_GRAPH_NODE_TYPE_KERNEL) data = early;
        if (graph_edge_add(tips->list[i], node, data)) continue;
        graph_node_end(node);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *made = node;
    return CUDA_SUCCESS;
}

static CUresult tip_set(const struct stream *stream, struct graph_node *node, CUresult code)
{
    struct graph_nodes *tips = tips_of(stream->captured);
    const size_t before = tips->count;
    if (code == CUDA_SUCCESS && before == 0 && !graph_nodes_add(tips, node))
        code = CUDA_ERROR_OUT_OF_MEMORY;
    if (code != CUDA_SUCCESS) {
        graph_node_end(node);
        return code;
    }
    tips->list[0] = node;
    tips->data[0] = (CUgraphEdgeData){0};
    tips->count = 1;
    return CUDA_SUCCESS;
}

static CUresult take(struct operation *operation, const struct stream *stream,
                     const struct timeline_work *work)
{
    CUgraphNodeType type;
    struct graph_node *node;
    CUresult code = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (graph_type_of(operation, &type))
        code = tip_make(stream, type, launch_is_dependent(operation), &node);
    else
        capture_invalidate(stream->captured->capture, code, FINDING_CAPTURE_UNKNOWN_WORK);
    if (code == CUDA_SUCCESS) {
        if (type != CU_GRAPH_NODE_TYPE_KERNEL || !launch_priority(operation, &node->priority))
            node->priority = stream->priority;
        code = tip_set(stream, node, graph_node_take(node, operation, work));
        if (code == CUDA_SUCCESS) return CUDA_SUCCESS;
    }
    operation_drop(operation);
    return code;
}

static CUresult add(const struct stream *stream, CUgraphNodeParams *params)
{
    struct graph_node *node;
    if (params->type == CU_GRAPH_NODE_TYPE_MEM_FREE &&
        !graph_may_free(stream->captured->capture->graph, params->free.dptr))
        return CUDA_ERROR_INVALID_VALUE;
    TRY(tip_make(stream, params->type, false, &node));
    return tip_set(stream, node, graph_node_set(node, params));
}

/* ---- events ------------------------------------------------------------------------------ */

static CUresult record(struct event *event, struct stream *stream, bool external)
{
    struct captured *part = stream->captured;
    if (external)
        return add(stream, &(CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                                                .eventRecord = {(CUevent)event}});
    forget_event(event);
    event->captured = part_make(part->capture, NULL);
    if (event->captured == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    return tips_add(tips_of(event->captured), tips_of(part));
}

static CUresult record_port(struct event *event, const struct stream *stream, bool at_once,
                            bool programmatic)
{
    struct captured *part = stream->captured;
    forget_event(event);
    event->captured = part_make(part->capture, NULL);
    const CUgraphEdgeData data = {.from_port = at_once ? CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER
                                                       : CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                  .type = programmatic ? CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC
                                                       : CU_GRAPH_DEPENDENCY_TYPE_DEFAULT};
    return event->captured != NULL &&
                   graph_nodes_add_edge(tips_of(event->captured), tips_of(part)->list[0], data)
               ? CUDA_SUCCESS
               : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult wait(struct stream *stream, struct event *event, bool external)
{
    struct captured *part = stream->captured, *recorded = event->captured;
    const bool is_old = recorded != NULL && recorded->capture == NULL;
    if (external && part != NULL && !is_old)
        return add(stream, &(CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                                                .eventWait = {(CUevent)event}});
    if (recorded == NULL && event->record == NULL) return CUDA_SUCCESS; /* it stands for no work */
    assert(part != NULL || recorded != NULL); /* otherwise no capture is involved */
    if (recorded == NULL)
        return capture_invalidate(part->capture, CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                                  FINDING_CAPTURE_FOREIGN_EVENT);
    if (is_old && part == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (is_old)
        return capture_invalidate(part->capture, CUDA_ERROR_INVALID_VALUE,
                                  FINDING_CAPTURE_OLD_EVENT);
    if (recorded->capture->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (part != NULL && part->capture != recorded->capture) {
        capture_invalidate(recorded->capture, CUDA_ERROR_STREAM_CAPTURE_MERGE,
                           FINDING_CAPTURES_MIXED);
        return capture_invalidate(part->capture, CUDA_ERROR_STREAM_CAPTURE_MERGE,
                                  FINDING_CAPTURES_MIXED);
    }
    if (part == NULL && stream_is_legacy(stream))
        return capture_invalidate(recorded->capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                                  FINDING_CAPTURE_DEFAULT_STREAM_WAITS);
    if (part == NULL) {
        part = part_make(recorded->capture, stream);
        if (part == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
        stream->captured = part;
    }
    return tips_add(tips_of(part), tips_of(recorded));
}

void capture_begin(void)
{
    static const struct capture_verbs verbs = {
        .take = take,
        .add = add,
        .record = record,
        .record_port = record_port,
        .wait = wait,
        .forget_event = forget_event,
        .forget_stream = forget_stream,
    };
    capture_install(&verbs);
}

/* ---- beginning and ending a capture ------------------------------------------------------ */

static CUresult begin(CUstream handle, CUstreamCaptureMode mode, CUgraph graph_handle,
                      const CUgraphNode *dependencies, const CUgraphEdgeData *data, size_t count)
{
    struct stream *stream;
    struct graph *graph = NULL;
    struct captured *part = NULL;
    struct graph_nodes tips = {0};
    TRY(stream_resolve(handle, &stream));
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
    if (stream_is_legacy(stream)) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (stream->captured != NULL) return CUDA_ERROR_ILLEGAL_STATE;
    if (graph_handle != NULL) {
        TRY(graph_find(graph_handle, &graph));
        if (graph->capturing) return CUDA_ERROR_ILLEGAL_STATE;
        TRY(tips_of_call(&tips, graph, dependencies, data, count));
    }
    struct capture *capture = calloc(1, sizeof *capture);
    const bool borrowed = graph != NULL;
    if (capture != NULL && !borrowed) graph = graph_make();
    if (capture == NULL || graph == NULL) {
        graph_nodes_clear(&tips);
        free(capture);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    capture->borrowed = borrowed;
    capture->graph = graph;
    capture->graph->capturing = true;
    capture->origin = stream;
    capture->mode = mode;
    capture->thread = thread.number;
    capture->id = ++driver.ids;
    capture->next = driver.captures;
    driver.captures = capture;
    part = part_make(capture, stream);
    stream->captured = part;
    if (part != NULL) {
        *tips_of(part) = tips;
        return CUDA_SUCCESS;
    }
    graph_nodes_clear(&tips);
    capture_end(capture, false);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult driver_cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode)
{
    return begin(hStream, mode, NULL, NULL, NULL, 0);
}

CUresult driver_cuStreamBeginCapture(CUstream hStream)
{
    return begin(hStream, CU_STREAM_CAPTURE_MODE_GLOBAL, NULL, NULL, NULL, 0);
}

CUresult driver_cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph,
                                            const CUgraphNode *dependencies,
                                            const CUgraphEdgeData *dependencyData,
                                            size_t numDependencies, CUstreamCaptureMode mode)
{
    NEED_POINTER(hGraph);
    return begin(hStream, mode, hGraph, dependencies, dependencyData, numDependencies);
}

/* Marks `tips`, the nodes that were let go, and all nodes that these depend on. */
static CUresult mark_ancestors(struct graph *graph, const struct graph_nodes *tips)
{
    struct graph_nodes todo = {0};
    CUresult code = tips_add(&todo, tips);
    for (struct graph_node *node = graph->first; node != NULL; node = node->next) {
        node->mark = 0;
        if (node->let_go && !graph_nodes_have(tips, node) && !graph_nodes_add(&todo, node))
            code = CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (size_t i = 0; i < todo.count; i++) todo.list[i]->mark = 1;
    for (size_t i = 0; i < todo.count && code == CUDA_SUCCESS; i++) {
        const struct graph_nodes *before = &todo.list[i]->before;
        for (size_t k = 0; k < before->count; k++) {
            if (before->list[k]->mark != 0) continue;
            before->list[k]->mark = 1;
            if (!graph_nodes_add(&todo, before->list[k])) code = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    graph_nodes_clear(&todo);
    return code;
}

/* Checks that the work of every stream was joined: its last nodes precede the origin's last nodes,
 * or nodes of which the program has said that no later work is behind them
 * (cudaStreamSetCaptureDependencies). */
static CUresult check_joined(const struct capture *capture)
{
    TRY(mark_ancestors(capture->graph, tips_of(capture->origin->captured)));
    for (struct captured *part = capture->parts; part != NULL; part = part->next) {
        if (part->stream_id == 0) continue;
        for (size_t i = 0; i < tips_of(part)->count; i++) {
            if (tips_of(part)->list[i]->mark != 0) continue;
            struct trace_record found =
                finding_at_call(FINDING_CAPTURE_NOT_JOINED, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
            found.finding.numbers[0] = capture->origin->object.id;
            found.finding.numbers[1] = part->stream_id;
            finding_put(&found);
            return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
        }
    }
    return CUDA_SUCCESS;
}

/* Ends the capture unless the stream is not its origin. On failure, or without `phGraph`, the graph
 * is dropped. */
CUresult driver_cuStreamEndCapture(CUstream hStream, CUgraph *phGraph)
{
    struct stream *stream;
    if (phGraph != NULL) *phGraph = NULL;
    TRY(stream_resolve(hStream, &stream));
    if (stream->captured == NULL) return CUDA_ERROR_ILLEGAL_STATE;
    struct capture *capture = stream->captured->capture;
    if (capture->origin != stream)
        return capture_invalidate(capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
                                  FINDING_CAPTURE_ENDED_ELSEWHERE);
    const bool elsewhere =
        capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != thread.number;
    CUresult code = capture->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                    : elsewhere      ? CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD
                                     : check_joined(capture);
    struct graph *graph = capture->graph;
    const bool wanted = code == CUDA_SUCCESS && phGraph != NULL, borrowed = capture->borrowed;
    capture_end(capture, wanted);
    if (!wanted) return code;
    if (!borrowed) graph_give(graph);
    *phGraph = (CUgraph)graph;
    return code;
}

/* ---- queries ----------------------------------------------------------------------------- */

CUresult driver_cuStreamGetCaptureInfo_v3(CUstream hStream,
                                          CUstreamCaptureStatus *captureStatus_out,
                                          cuuint64_t *id_out, CUgraph *graph_out,
                                          const CUgraphNode **dependencies_out,
                                          const CUgraphEdgeData **edgeData_out,
                                          size_t *numDependencies_out)
{
    struct stream *stream;
    NEED_POINTER(captureStatus_out);
    if (edgeData_out != NULL && dependencies_out == NULL) return CUDA_ERROR_INVALID_VALUE;
    TRY(stream_resolve(hStream, &stream));
    if (stream_is_legacy(stream)) {
        for (const struct capture *c = driver.captures; c != NULL; c = c->next)
            for (const struct captured *part = c->parts; part != NULL; part = part->next)
                if (part->stream != NULL && stream_is_blocking(part->stream) &&
                    part->stream->object.context == stream->object.context)
                    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    struct captured *part = stream->captured;
    *captureStatus_out = part == NULL             ? CU_STREAM_CAPTURE_STATUS_NONE
                         : part->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                                  : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (*captureStatus_out != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
    const struct graph_nodes *tips = tips_of(part);
    if (dependencies_out != NULL && edgeData_out == NULL && graph_nodes_have_data(tips))
        return CUDA_ERROR_LOSSY_QUERY;
    if (id_out != NULL) *id_out = part->capture->id;
    if (graph_out != NULL) *graph_out = (CUgraph)part->capture->graph;
    if (dependencies_out != NULL) *dependencies_out = (const CUgraphNode *)tips->list;
    if (numDependencies_out != NULL) *numDependencies_out = tips->count;
    if (edgeData_out != NULL) *edgeData_out = tips->data;
    return CUDA_SUCCESS;
}

CUresult driver_cuStreamGetCaptureInfo_v2(CUstream hStream,
                                          CUstreamCaptureStatus *captureStatus_out,
                                          cuuint64_t *id_out, CUgraph *graph_out,
                                          const CUgraphNode **dependencies_out,
                                          size_t *numDependencies_out)
{
    return driver_cuStreamGetCaptureInfo_v3(hStream, captureStatus_out, id_out, graph_out,
                                            dependencies_out, NULL, numDependencies_out);
}

CUresult driver_cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                       cuuint64_t *id_out)
{
    return driver_cuStreamGetCaptureInfo_v3(hStream, captureStatus_out, id_out, NULL, NULL, NULL,
                                            NULL);
}

CUresult driver_cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus)
{
    return driver_cuStreamGetCaptureInfo(hStream, captureStatus, NULL);
}

CUresult driver_cuStreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode *dependencies,
                                                     const CUgraphEdgeData *dependencyData,
                                                     size_t numDependencies, unsigned int flags)
{
    struct stream *stream;
    struct graph_nodes tips = {0}, more = {0};
    if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES) return CUDA_ERROR_INVALID_VALUE;
    TRY(stream_resolve(hStream, &stream));
    struct captured *part = stream->captured;
    if (part == NULL) return CUDA_ERROR_ILLEGAL_STATE;
    if (part->capture->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    TRY(tips_of_call(&more, part->capture->graph, dependencies, dependencyData, numDependencies));
    const bool adds = flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES;
    CUresult code = adds ? tips_add(&tips, tips_of(part)) : CUDA_SUCCESS;
    if (code == CUDA_SUCCESS) code = tips_add(&tips, &more);
    if (code == CUDA_SUCCESS && !graph_nodes_reserve(&tips, 1)) code = CUDA_ERROR_OUT_OF_MEMORY;
    graph_nodes_clear(&more);
    if (code != CUDA_SUCCESS) {
        graph_nodes_clear(&tips);
        return code;
    }
    for (size_t i = 0; i < tips_of(part)->count && !adds; i++)
        tips_of(part)->list[i]->let_go = true;
    graph_nodes_clear(tips_of(part));
    *tips_of(part) = tips;
    return CUDA_SUCCESS;
}

CUresult driver_cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode *dependencies,
                                                  size_t numDependencies, unsigned int flags)
{
    return driver_cuStreamUpdateCaptureDependencies_v2(hStream, dependencies, NULL, numDependencies,
                                                       flags);
}

CUresult driver_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    NEED_POINTER(mode);
    CUstreamCaptureMode previous = thread.capture_mode;
    thread.capture_mode = *mode;
    *mode = previous;
    return CUDA_SUCCESS;
}
