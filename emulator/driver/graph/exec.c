/* Executable graphs: instantiating and updating them. Launching is graph/launch.c. */
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/graph/parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- instantiating ----------------------------------------------------------------------- */

CUresult graph_sort_all(struct graph *graph, struct graph_node **offender)
{
    TRY(graph_sort(graph, &graph->order, offender));
    for (struct graph_node *node = graph->first; node != NULL; node = node->next)
        for (size_t i = 0; i < graph_inside_count(node); i++)
            TRY(graph_sort_all(node->inside->graphs[i], offender));
    return CUDA_SUCCESS;
}

/* Returns an error, and one such node, if a fill's destination is not memory. */
static CUresult check_fills(const struct graph *graph, struct graph_node **offender)
{
    for (struct graph_node *node = graph->first; node != NULL; node = node->next) {
        const bool fills = node->params.type == CU_GRAPH_NODE_TYPE_MEMSET;
        if (fills && !fill_is_possible(node->operation)) {
            *offender = node;
            return CUDA_ERROR_INVALID_VALUE;
        }
        for (size_t i = 0; i < graph_inside_count(node); i++)
            TRY(check_fills(node->inside->graphs[i], offender));
    }
    return CUDA_SUCCESS;
}

static CUresult check_flags(cuuint64_t flags, cuuint64_t known)
{
    const bool both = (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) &&
                      (flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    return (flags & ~known) || both ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* A graph for launches from the device holds only what the device can do alone; the others are
 * refused as on a GPU, and such a graph because no kernel here could launch it. */
static CUresult check_device_launch(const struct graph *graph, CUgraphNode *offender,
                                    CUgraphInstantiateResult *why)
{
    static const bool possible[] = {[CU_GRAPH_NODE_TYPE_KERNEL] = true,
                                    [CU_GRAPH_NODE_TYPE_MEMCPY] = true,
                                    [CU_GRAPH_NODE_TYPE_MEMSET] = true,
                                    [CU_GRAPH_NODE_TYPE_GRAPH] = true,
                                    [CU_GRAPH_NODE_TYPE_EMPTY] = true};
    for (struct graph_node *node = graph->first; node != NULL; node = node->next) {
        const size_t type = (size_t)node->params.type;
        if (type < sizeof possible / sizeof *possible && possible[type]) continue;
        *offender = (CUgraphNode)node;
        *why = CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
        return CUDA_ERROR_INVALID_VALUE;
    }
    return finding_unsupported("graphs that are launched from the device");
}

/* `offender`: on error a node of `graph` that is in a cycle or fills something that is not memory;
 * else NULL. */
static CUresult instantiate(CUgraphExec *handle, CUgraph graph_handle, cuuint64_t flags,
                            CUgraphNode *offender, CUgraphInstantiateResult *why)
{
    struct graph *graph;
    struct graph_node *copied_offender = NULL;
    *offender = NULL;
    *why = CUDA_GRAPH_INSTANTIATE_ERROR;
    NEED_POINTER(handle);
    TRY(graph_find(graph_handle, &graph));
    if (graph->holder != NULL) return CUDA_ERROR_NOT_SUPPORTED; /* it is a part of another graph */
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
        return check_device_launch(graph, offender, why);
    const bool alone = graph_has_memory(graph) || graph_has_conditional(graph);
    if (alone && graph->executables > 0) return CUDA_ERROR_NOT_SUPPORTED; /* one at a time */
    struct graph_node *wrong = NULL;
    const CUresult refused = graph_conditional_check(graph, &wrong, why);
    *offender = (CUgraphNode)wrong;
    TRY(refused);
    struct graph_exec *exec = calloc(1, sizeof *exec);
    if (exec == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult code = graph_copy(graph, &exec->graph);
    if (code == CUDA_SUCCESS) code = graph_sort_all(exec->graph, &copied_offender);
    if (code == CUDA_SUCCESS) code = check_fills(exec->graph, &copied_offender);
    if (code != CUDA_SUCCESS) {
        for (struct graph_node *node = graph->first; node != NULL && copied_offender != NULL;
             node = node->next)
            if (node->object.id == copied_offender->source) *offender = (CUgraphNode)node;
        if (*offender != NULL) *why = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
        if (exec->graph != NULL) graph_end(exec->graph);
        free(exec);
        return code;
    }
    graph_seal_memory(graph);
    exec->source = alone ? graph->object.id : 0;
    if (alone) graph->executables++;
    *why = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    exec->flags = flags;
    object_add(&exec->object, OBJECT_GRAPH_EXEC);
    thread.call.object = exec->object.id;
    trace_object(&exec->object, TRACE_CREATE, TRACE_GRAPH_EXEC, 0);
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
    CUgraphInstantiateResult why;
    TRY(check_flags(flags, FLAGS_WITHOUT_STREAM));
    return instantiate(phGraphExec, hGraph, flags, &offender, &why);
}

CUresult driver_cuGraphInstantiate(CUgraphExec *phGraphExec, CUgraph hGraph,
                                   CUgraphNode *phErrorNode, char *logBuffer, size_t bufferSize)
{
    CUgraphNode offender;
    CUgraphInstantiateResult why;
    if (logBuffer != NULL && bufferSize > 0) *logBuffer = '\0';
    CUresult code = instantiate(phGraphExec, hGraph, 0, &offender, &why);
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
    return instantiate(phGraphExec, hGraph, params->flags, &params->hErrNode_out,
                       &params->result_out);
}

CUresult driver_cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t *flags)
{
    struct graph_exec *exec;
    NEED_POINTER(flags);
    TRY(graph_exec_find(hGraphExec, &exec));
    *flags = exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH; /* as an H200 */
    return CUDA_SUCCESS;
}

/* Allows the original graph, if it still exists, to be instantiated again. */
static void executable_ended(uint64_t source)
{
    for (struct object *object = NULL; source != 0 && (object = object_next(object)) != NULL;)
        if (object->kind == OBJECT_GRAPH && object->id == source)
            ((struct graph *)object)->executables--;
}

/* Launches that were submitted have operations of their own and are not affected. */
CUresult driver_cuGraphExecDestroy(CUgraphExec hGraphExec)
{
    struct graph_exec *exec;
    TRY(graph_exec_find(hGraphExec, &exec));
    timeline_op_release(exec->last);
    executable_ended(exec->source);
    trace_object(&exec->object, TRACE_DESTROY, TRACE_GRAPH_EXEC, 0);
    object_remove(&exec->object);
    graph_end(exec->graph);
    object_free(&exec->object);
    return CUDA_SUCCESS;
}

/* ---- updating ---------------------------------------------------------------------------- */

/* Finds the executable graph's own node for a node of the original graph. */
static CUresult exec_node(CUgraphExec handle, CUgraphNode original_handle, struct graph_node **node)
{
    struct graph_exec *exec;
    struct graph_node *original;
    TRY(graph_exec_find(handle, &exec));
    TRY(graph_node_find(original_handle, &original));
    TRY(graph_conditional_own(exec->graph));
    *node = graph_node_of_source(exec->graph, original->object.id);
    return *node != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Only kernels, copies and fills can be switched off. */
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

/* ---- updating whole graphs */

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

/* Pairs `node`, of the executable graph, with `with`, and then the nodes that both depend on, edge
 * by edge. */
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
    for (size_t i = 0; i < graph_inside_count(node) && result == CU_GRAPH_EXEC_UPDATE_SUCCESS; i++)
        result = pair_graphs(node->inside->graphs[i], with->inside->graphs[i], info);
    return result;
}

/* The first node from `*node` on that no other node depends on; NULL: none. */
static struct graph_node *next_leaf(struct graph_node **node)
{
    while (*node != NULL && (*node)->after.count > 0) *node = (*node)->next;
    return *node;
}

/* Pairs the leaves of both graphs in order of creation, then the nodes that those depend on, in
 * order of the edges. Uses a list instead of recursion, since chains can be long. */
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
            const struct graph_nodes *before = &todo.list[i]->before;
            const struct graph_nodes *others = &todo.list[i]->pair->before;
            node = before->list[k];
            other = others->list[k];
            const bool alike =
                memcmp(&before->data[k], &others->data[k], sizeof *before->data) == 0;
            if (alike && node->pair == other) continue;
            if (!alike || node->pair != NULL || other->pair != NULL)
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

/* Replaces each node's work by that of its pair, of `with`, and the conditions and user objects by
 * those of `with`. */
static CUresult take_over(struct graph *graph, const struct graph *with)
{
    graph_conditions_release(graph);
    if (!graph_conditions_share(with, graph) || !user_objects_replace(graph, with))
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (struct graph_node *node = graph->first; node != NULL; node = node->next) {
        for (size_t i = 0; i < graph_inside_count(node); i++)
            TRY(take_over(node->inside->graphs[i], node->pair->inside->graphs[i]));
        if (node->inside == NULL) TRY(graph_node_copy(node, node->pair));
        if (graph_is_conditional(node)) graph_conditional_take(node, node->pair);
    }
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
    if (graph_is_embedded(graph)) return CUDA_ERROR_INVALID_VALUE;
    TRY(graph_conditional_own(exec->graph));
    if (pair_graphs(exec->graph, graph, resultInfo) != CU_GRAPH_EXEC_UPDATE_SUCCESS)
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    return take_over(exec->graph, graph);
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

/* ---- updating single nodes */

/* Returns true for one-row copies. An update of a single copy node allows only those; an update of
 * a whole graph allows more. */
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
    if (graph_node_is_fixed(node)) return CUDA_ERROR_NOT_SUPPORTED;
    /* The new work is made in a temporary graph, so that the old work stays untouched on
     * failure. */
    struct graph *aside = graph_make();
    struct graph_node *with = aside != NULL ? graph_node_make(aside, params->type) : NULL;
    CUresult code = with != NULL ? graph_node_set_like(with, params, node->operation)
                                 : CUDA_ERROR_OUT_OF_MEMORY;
    if (code != CUDA_SUCCESS) goto done;
    code = CUDA_ERROR_INVALID_VALUE;
    if (graph_node_may_become(node, with) != CU_GRAPH_EXEC_UPDATE_SUCCESS) goto done;
    if (params->type == CU_GRAPH_NODE_TYPE_MEMCPY && !(is_flat(node) && is_flat(with))) goto done;
    if (node->inside == NULL)
        code = graph_node_copy(node, with);
    else if (pair_graphs(node->inside->graphs[0], with->inside->graphs[0], &info) ==
             CU_GRAPH_EXEC_UPDATE_SUCCESS)
        code = take_over(node->inside->graphs[0], with->inside->graphs[0]);
    else
        code = CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
done:
    if (aside != NULL) graph_end(aside);
    return code;
}
