/* Nodes: making, adding and replacing them. The API's functions for single types are in
 * graph/params.c. */
#include "emulator/driver/graph/parts.h"

#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/handle.h"

#include <stdlib.h>
#include <string.h>

/* ---- kinds ------------------------------------------------------------------------------- */

/* Finds the context that parameters name; NULL means the current one. */
static CUresult context_of(CUcontext handle, struct context **context)
{
    *context = handle != NULL ? object_find(handle, OBJECT_CONTEXT) : thread_context();
    if (*context == NULL) return CUDA_ERROR_INVALID_CONTEXT;
    return context_check(*context);
}

static CUresult make_kernel(CUgraphNodeParams *params, struct operation **operation,
                            struct timeline_work *work)
{
    return launch_operation(&params->kernel, operation, work);
}

static bool describe_kernel(const struct operation *operation, CUgraphNodeParams *params)
{
    launch_describe(operation, &params->kernel);
    return true;
}

static CUresult make_copy(CUgraphNodeParams *params, struct operation **operation,
                          struct timeline_work *work)
{
    struct context *context;
    TRY(context_of(params->memcpy.copyCtx, &context));
    return copy_operation(context, &params->memcpy.copyParams, operation, work);
}

static bool describe_copy(const struct operation *operation, CUgraphNodeParams *params)
{
    params->memcpy.copyCtx = (CUcontext)operation->context;
    copy_describe(operation, &params->memcpy.copyParams);
    return true;
}

static CUresult make_fill(CUgraphNodeParams *params, struct operation **operation,
                          struct timeline_work *work)
{
    struct context *context;
    TRY(context_of(params->memset.ctx, &context));
    return fill_operation(context, &params->memset, operation, work);
}

static bool describe_fill(const struct operation *operation, CUgraphNodeParams *params)
{
    fill_describe(operation, &params->memset);
    params->memset.ctx = (CUcontext)operation->context;
    return true;
}

static CUresult make_host(CUgraphNodeParams *params, struct operation **operation,
                          struct timeline_work *work)
{
    *work = (struct timeline_work){.kind = TIMELINE_HOST_FUNCTION};
    return host_function_operation(thread_context(), params->host.fn, params->host.userData,
                                   operation);
}

static bool describe_host(const struct operation *operation, CUgraphNodeParams *params)
{
    return host_function_describe(operation, &params->host);
}

static CUresult make_values(CUgraphNodeParams *params, struct operation **operation,
                            struct timeline_work *work)
{
    struct context *context;
    TRY(context_of(params->memOp.ctx, &context));
    return values_operation(context, &params->memOp, operation, work);
}

static bool describe_values(const struct operation *operation, CUgraphNodeParams *params)
{
    return values_describe(operation, &params->memOp);
}

/* An event node refers to its event by handle: a launch sets the event's record, or waits for
 * it. */
static CUresult make_event(CUevent handle, enum trace_what what, struct operation **operation,
                           struct timeline_work *work)
{
    const struct event *event = object_find(handle, OBJECT_EVENT);
    if (event == NULL) return CUDA_ERROR_INVALID_VALUE;
    const bool stamp = what == TRACE_EVENT_RECORD && !(event->flags & CU_EVENT_DISABLE_TIMING);
    *work = (struct timeline_work){.kind = stamp ? TIMELINE_STAMP : TIMELINE_MARK};
    *operation = operation_make(event->object.context->legacy, what, 0);
    if (*operation == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    (*operation)->record.object = event->object.id;
    return CUDA_SUCCESS;
}

static CUresult make_record(CUgraphNodeParams *params, struct operation **operation,
                            struct timeline_work *work)
{
    return make_event(params->eventRecord.event, TRACE_EVENT_RECORD, operation, work);
}

static CUresult make_wait(CUgraphNodeParams *params, struct operation **operation,
                          struct timeline_work *work)
{
    return make_event(params->eventWait.event, TRACE_EVENT_WAIT, operation, work);
}

static CUresult make_allocation(CUgraphNodeParams *params, struct operation **operation,
                                struct timeline_work *work)
{
    return graph_memory_allocate(&params->alloc, operation, work);
}

static CUresult make_free(CUgraphNodeParams *params, struct operation **operation,
                          struct timeline_work *work)
{
    return graph_memory_free(&params->free, operation, work);
}

/* ---- permitted replacements in an executable graph */

static CUgraphExecUpdateResult replace_kernel(const struct graph_node *node,
                                              const struct graph_node *with)
{
    if (node->operation->context != with->operation->context)
        return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
    if (!launch_is_like(node->operation, with->operation))
        return CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

static CUgraphExecUpdateResult replace_copy(const struct graph_node *node,
                                            const struct graph_node *with)
{
    const CUDA_MEMCPY3D *a = &node->params.memcpy.copyParams, *b = &with->params.memcpy.copyParams;
    /* Copies of more than a row keep their shape, as on an H200. */
    const bool flat = a->Height <= 1 && a->Depth <= 1 && b->Height <= 1 && b->Depth <= 1;
    const bool shape =
        a->WidthInBytes == b->WidthInBytes && a->Height == b->Height && a->Depth == b->Depth;
    const bool same = a->srcMemoryType == b->srcMemoryType &&
                      a->dstMemoryType == b->dstMemoryType && (flat || shape);
    return same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

static CUgraphExecUpdateResult replace_fill(const struct graph_node *node,
                                            const struct graph_node *with)
{
    const CUDA_MEMSET_NODE_PARAMS_v2 *a = &node->params.memset, *b = &with->params.memset;
    const bool same = a->height == b->height &&
                      (a->height == 1 || (a->width == b->width && a->pitch == b->pitch &&
                                          a->elementSize == b->elementSize));
    return same && fill_is_possible(with->operation)
               ? CU_GRAPH_EXEC_UPDATE_SUCCESS
               : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

static CUgraphExecUpdateResult replace_values(const struct graph_node *node,
                                              const struct graph_node *with)
{
    return values_are_like(node->operation, with->operation)
               ? CU_GRAPH_EXEC_UPDATE_SUCCESS
               : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

/* The parameters of memory nodes are fixed. */
static CUgraphExecUpdateResult replace_memory(const struct graph_node *node,
                                              const struct graph_node *with)
{
    const bool allocates = node->params.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    const bool same = allocates ? node->params.alloc.dptr == with->params.alloc.dptr
                                : node->params.free.dptr == with->params.free.dptr;
    return same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

/* Only the bodies and the default value may change. */
static CUgraphExecUpdateResult replace_conditional(const struct graph_node *node,
                                                   const struct graph_node *with)
{
    const bool same = node->params.conditional.type == with->params.conditional.type &&
                      node->inside->count == with->inside->count;
    return same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
}

static const struct node_kind {
    const char *name;
    /* NULL: nodes of this type have no operation. */
    CUresult (*make)(CUgraphNodeParams *params, struct operation **operation,
                     struct timeline_work *work);
    /* Reads the parameters from a captured operation; false: no node of this type can hold it.
     * NULL: this type is never captured. */
    bool (*describe)(const struct operation *operation, CUgraphNodeParams *params);
    enum trace_what captured;
    bool supported;
    bool fixed; /* its parameters cannot be changed: cuGraphNodeSetParams, cuGraphExecNodeSetParams
                 */
    CUgraphExecUpdateResult (*replace)(const struct graph_node *node,
                                       const struct graph_node *with); /* NULL: always */
} kinds[] = {
    [CU_GRAPH_NODE_TYPE_KERNEL] = {"kernel", make_kernel, describe_kernel, TRACE_KERNEL, true,
                                   false, replace_kernel},
    [CU_GRAPH_NODE_TYPE_MEMCPY] = {"memory copy", make_copy, describe_copy, TRACE_COPY, true, false,
                                   replace_copy},
    [CU_GRAPH_NODE_TYPE_MEMSET] = {"memory set", make_fill, describe_fill, TRACE_SET, true, false,
                                   replace_fill},
    [CU_GRAPH_NODE_TYPE_HOST] = {"host function", make_host, describe_host, TRACE_HOST_FUNCTION,
                                 true, false, NULL},
    [CU_GRAPH_NODE_TYPE_GRAPH] = {"child graph", NULL, NULL, TRACE_WHAT_NONE, true, false, NULL},
    [CU_GRAPH_NODE_TYPE_EMPTY] = {"empty", NULL, NULL, TRACE_WHAT_NONE, true, false, NULL},
    [CU_GRAPH_NODE_TYPE_WAIT_EVENT] = {"event wait", make_wait, NULL, TRACE_WHAT_NONE, true, false,
                                       NULL},
    [CU_GRAPH_NODE_TYPE_EVENT_RECORD] = {"event record", make_record, NULL, TRACE_WHAT_NONE, true,
                                         false, NULL},
    [CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL] = {.name = "external semaphore signal"},
    [CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT] = {.name = "external semaphore wait"},
    [CU_GRAPH_NODE_TYPE_MEM_ALLOC] = {"memory allocation", make_allocation, NULL, TRACE_WHAT_NONE,
                                      true, true, replace_memory},
    [CU_GRAPH_NODE_TYPE_MEM_FREE] = {"memory free", make_free, NULL, TRACE_WHAT_NONE, true, true,
                                     replace_memory},
    [CU_GRAPH_NODE_TYPE_BATCH_MEM_OP] = {"batch of memory operations", make_values, describe_values,
                                         TRACE_WHAT_NONE, true, false, replace_values},
    [CU_GRAPH_NODE_TYPE_CONDITIONAL] = {"conditional", NULL, NULL, TRACE_WHAT_NONE, true, true,
                                        replace_conditional},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

const char *graph_type_name(CUgraphNodeType type)
{
    return kinds[type].name;
}

bool graph_type_of(const struct operation *operation, CUgraphNodeType *type)
{
    CUgraphNodeParams params;
    for (int i = 0; i < KINDS; i++) {
        if (kinds[i].captured != operation->record.what || kinds[i].describe == NULL) continue;
        *type = (CUgraphNodeType)i;
        return kinds[i].describe(operation, &params);
    }
    return false;
}

CUgraphExecUpdateResult graph_node_may_become(const struct graph_node *node,
                                              const struct graph_node *with)
{
    const struct node_kind *kind = &kinds[node->params.type];
    return kind->replace != NULL ? kind->replace(node, with) : CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

bool graph_node_is_fixed(const struct graph_node *node)
{
    return kinds[node->params.type].fixed;
}

static CUresult check_kind(CUgraphNodeType type)
{
    if ((unsigned)type >= KINDS) return CUDA_ERROR_INVALID_VALUE;
    if (kinds[type].supported) return CUDA_SUCCESS;
    return finding_unsupported("graph nodes of the kind \"%s\"", kinds[type].name);
}

/* ---- life -------------------------------------------------------------------------------- */

struct graph_node *graph_node_make(struct graph *graph, CUgraphNodeType type)
{
    struct graph_node *node = calloc(1, sizeof *node);
    if (node == NULL) return NULL;
    node->graph = graph;
    node->params.type = type;
    object_add(&node->object, OBJECT_GRAPH_NODE);
    node->previous = graph->last;
    *(graph->last != NULL ? &graph->last->next : &graph->first) = node;
    graph->last = node;
    graph->count++;
    return node;
}

/* Releases what the node does and what its parameters point to. */
static void node_empty(struct graph_node *node)
{
    if (node->operation != NULL) graph_node_release_memory(node);
    graph_conditional_forget(node);
    if (!graph_is_conditional(node)) graph_inside_release(node->inside);
    operation_drop(node->operation); /* a conditional node's operation owns the graphs inside it */
    node->operation = NULL;
    node->inside = NULL;
    if (node->params.type == CU_GRAPH_NODE_TYPE_KERNEL) free(node->params.kernel.kernelParams);
}

void graph_node_end(struct graph_node *node)
{
    struct graph *graph = node->graph;
    for (size_t i = 0; i < node->before.count; i++)
        graph_nodes_remove(&node->before.list[i]->after, node);
    for (size_t i = 0; i < node->after.count; i++)
        graph_nodes_remove(&node->after.list[i]->before, node);
    *(node->previous != NULL ? &node->previous->next : &graph->first) = node->next;
    *(node->next != NULL ? &node->next->previous : &graph->last) = node->previous;
    graph->count--;
    node_empty(node);
    graph_nodes_clear(&node->before);
    graph_nodes_clear(&node->after);
    free(node->hints);
    object_remove(&node->object);
    object_free(&node->object);
}

/* Replaces the node's work by `operation`. `params` are its parameters; the node makes its own list
 * of kernel arguments, and the operation has a batch. */
static CUresult node_fill(struct graph_node *node, const CUgraphNodeParams *params,
                          struct operation *operation, const struct timeline_work *work)
{
    CUgraphNodeParams own = *params;
    if (own.type == CU_GRAPH_NODE_TYPE_KERNEL) {
        void **arguments = calloc(launch_arguments(operation, NULL) + 1, sizeof *arguments);
        CUDA_KERNEL_NODE_PARAMS_v3 whole;
        if (arguments == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
        launch_arguments(operation, arguments);
        launch_describe(operation, &whole);
        own.kernel.func = whole.func; /* also of a CUkernel, as on an H200 */
        own.kernel.kern = whole.kern; /* also of a function */
        own.kernel.ctx = whole.ctx;
        own.kernel.kernelParams = arguments;
        own.kernel.extra = NULL;
    } else if (own.type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP) {
        values_describe(operation, &own.memOp);
    }
    node_empty(node);
    node->params = own;
    node->operation = operation;
    graph_node_retain_memory(node);
    node->work = *work;
    return CUDA_SUCCESS;
}

/* Embeds `child` in the node. `is_copy`: `child` is ended on failure. */
static CUresult child_take(struct graph_node *node, struct graph *child, bool is_copy)
{
    struct graph_inside *inside = calloc(1, sizeof *inside + sizeof child);
    if (inside == NULL) {
        if (is_copy) graph_end(child);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    node_empty(node);
    *inside = (struct graph_inside){.references = 1, .count = 1};
    inside->graphs[0] = child;
    child->holder = node;
    node->inside = inside;
    return CUDA_SUCCESS;
}

/* Is `inner` the graph `outer`, or somewhere inside it? */
static bool is_inside(const struct graph *inner, const struct graph *outer)
{
    while (inner != outer && inner->holder != NULL) inner = inner->holder->graph;
    return inner == outer;
}

/* Embeds a copy of the graph, or with MOVE the graph itself. */
static CUresult child_set(struct graph_node *node, CUDA_CHILD_GRAPH_NODE_PARAMS *params)
{
    struct graph *graph, *child = NULL;
    TRY(graph_find(params->graph, &graph));
    const bool move = params->ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    if (!move && params->ownership != CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE)
        return CUDA_ERROR_INVALID_VALUE;
    if (graph == node->graph || (move && graph->capturing)) return CUDA_ERROR_INVALID_VALUE;
    if (move && (graph->holder != NULL || graph->executables > 0 || is_inside(node->graph, graph)))
        return CUDA_ERROR_INVALID_VALUE;
    if (!move && graph_has_memory(graph)) return CUDA_ERROR_NOT_SUPPORTED;
    if (graph_has_conditional(graph)) return CUDA_ERROR_NOT_SUPPORTED;
    if (!move) TRY(graph_copy(graph, &child));
    TRY(child_take(node, move ? graph : child, !move));
    if (move) graph_take(graph);
    params->graph = (CUgraph)node->inside->graphs[0];
    node->params.graph = *params;
    return CUDA_SUCCESS;
}

CUresult graph_node_set(struct graph_node *node, CUgraphNodeParams *params)
{
    return graph_node_set_like(node, params, node->operation);
}

CUresult graph_node_set_like(struct graph_node *node, CUgraphNodeParams *params,
                             const struct operation *like)
{
    const struct node_kind *kind = &kinds[params->type];
    struct operation *operation = NULL;
    struct timeline_work work = {.kind = TIMELINE_MARK};
    if (params->type == CU_GRAPH_NODE_TYPE_GRAPH) return child_set(node, &params->graph);
    if (params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        return graph_conditional_set(node, &params->conditional);
    if (kind->make == NULL) return CUDA_SUCCESS;
    TRY(kind->make(params, &operation, &work));
    CUresult code = CUDA_SUCCESS;
    if (params->type == CU_GRAPH_NODE_TYPE_KERNEL && like != NULL)
        code = launch_set_like(operation, like);
    if (code == CUDA_SUCCESS) code = node_fill(node, params, operation, &work);
    if (code != CUDA_SUCCESS) operation_drop(operation);
    return code;
}

CUresult graph_node_take(struct graph_node *node, struct operation *operation,
                         const struct timeline_work *work)
{
    CUgraphNodeParams params = {.type = node->params.type};
    kinds[params.type].describe(operation, &params);
    return node_fill(node, &params, operation, work);
}

CUresult graph_node_copy(struct graph_node *to, const struct graph_node *from)
{
    if (graph_is_conditional(from)) return graph_conditional_copy(to, from);
    if (from->inside != NULL) {
        struct graph *child;
        TRY(graph_copy(from->inside->graphs[0], &child));
        TRY(child_take(to, child, true));
        to->params.graph = from->params.graph;
        to->params.graph.graph = (CUgraph)child;
        return CUDA_SUCCESS;
    }
    if (from->operation == NULL) return CUDA_SUCCESS;
    struct operation *operation = operation_copy(from->operation, NULL);
    if (operation == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult code = node_fill(to, &from->params, operation, &from->work);
    if (code != CUDA_SUCCESS) operation_drop(operation);
    return code;
}

/* ---- adding ------------------------------------------------------------------------------ */

/* An embedded graph gets no more memory nodes, and is not embedded once more (cuda.h,
 * CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE; an H200 says the same of copies). */
static CUresult check_embedded(const struct graph *graph, const CUgraphNodeParams *params)
{
    const struct graph *child = NULL;
    if (params->type == CU_GRAPH_NODE_TYPE_GRAPH)
        child = object_peek(params->graph.graph, OBJECT_GRAPH);
    const bool is_memory =
        params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || params->type == CU_GRAPH_NODE_TYPE_MEM_FREE;
    return (is_memory && graph_is_embedded(graph)) || (child != NULL && graph_is_embedded(child))
               ? CUDA_ERROR_NOT_SUPPORTED
               : CUDA_SUCCESS;
}

CUresult graph_node_add(CUgraphNode *handle, CUgraph graph_handle, const CUgraphNode *dependencies,
                        const CUgraphEdgeData *data, size_t count, CUgraphNodeParams *params)
{
    struct graph *graph;
    CUresult code = CUDA_ERROR_OUT_OF_MEMORY;
    NEED_POINTER(handle);
    TRY(graph_find(graph_handle, &graph));
    TRY(check_kind(params->type));
    TRY(graph_check_dependencies(graph, dependencies, data, count, params->type));
    TRY(check_embedded(graph, params));
    if (params->type == CU_GRAPH_NODE_TYPE_MEM_FREE && !graph_may_free(graph, params->free.dptr))
        return CUDA_ERROR_INVALID_VALUE;
    struct graph_node *node = graph_node_make(graph, params->type);
    if (node == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++)
        if (!graph_edge_add((struct graph_node *)dependencies[i], node, graph_edge_data(data, i)))
            goto failed;
    code = graph_node_set(node, params);
    if (code != CUDA_SUCCESS) goto failed;
    *handle = (CUgraphNode)node;
    return CUDA_SUCCESS;

failed:
    graph_node_end(node);
    return code;
}
