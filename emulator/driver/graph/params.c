/* The API's functions for nodes of single types and of any type: adding a node, reading its
 * parameters, changing them in a graph and in an executable graph. */
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/graph/parts.h"

#include <stdlib.h>
#include <string.h>

/* Finds the node of a handle; CUDA_ERROR_INVALID_VALUE if it has another type. */
static CUresult node_of_type(CUgraphNode handle, CUgraphNodeType type, struct graph_node **node)
{
    TRY(graph_node_find(handle, node));
    return (*node)->params.type == type ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult node_set(CUgraphNode handle, CUgraphNodeParams *params)
{
    struct graph_node *node;
    TRY(node_of_type(handle, params->type, &node));
    if (graph_node_is_fixed(node)) return CUDA_ERROR_NOT_SUPPORTED;
    return graph_node_set(node, params);
}

/* Fields that CUDA reserves have to be zero. */
static CUresult check_reserved(const CUgraphNodeParams *params)
{
    for (size_t i = 0; i < sizeof params->reserved0 / sizeof *params->reserved0; i++)
        if (params->reserved0[i] != 0) return CUDA_ERROR_INVALID_VALUE;
    return params->reserved2 == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- any kind ---------------------------------------------------------------------------- */

CUresult driver_cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph,
                                  const CUgraphNode *dependencies,
                                  const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                  CUgraphNodeParams *nodeParams)
{
    NEED_POINTER(nodeParams);
    TRY(check_reserved(nodeParams));
    return graph_node_add(phGraphNode, hGraph, dependencies, dependencyData, numDependencies,
                          nodeParams);
}

CUresult driver_cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                               const CUgraphNode *dependencies, size_t numDependencies,
                               CUgraphNodeParams *nodeParams)
{
    return driver_cuGraphAddNode_v2(phGraphNode, hGraph, dependencies, NULL, numDependencies,
                                    nodeParams);
}

CUresult driver_cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                    const CUgraphNode *dependencies, size_t numDependencies)
{
    return graph_node_add(phGraphNode, hGraph, dependencies, NULL, numDependencies,
                          &(CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_EMPTY});
}

CUresult driver_cuGraphAddChildGraphNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                         const CUgraphNode *dependencies, size_t numDependencies,
                                         CUgraph childGraph)
{
    return graph_node_add(
        phGraphNode, hGraph, dependencies, NULL, numDependencies,
        &(CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph = {childGraph, 0}});
}

CUresult driver_cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph *phGraph)
{
    struct graph_node *node;
    NEED_POINTER(phGraph);
    TRY(graph_node_find(hNode, &node));
    if (node->params.type != CU_GRAPH_NODE_TYPE_GRAPH) return CUDA_ERROR_INVALID_VALUE;
    *phGraph = (CUgraph)node->inside->graphs[0];
    return CUDA_SUCCESS;
}

CUresult driver_cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
    NEED_POINTER(nodeParams);
    TRY(check_reserved(nodeParams));
    return node_set(hNode, nodeParams);
}

CUresult driver_cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                         CUgraphNodeParams *nodeParams)
{
    NEED_POINTER(nodeParams);
    TRY(check_reserved(nodeParams));
    return graph_exec_set(hGraphExec, hNode, nodeParams);
}

CUresult driver_cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                   CUgraph childGraph)
{
    return graph_exec_set(
        hGraphExec, hNode,
        &(CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph = {childGraph, 0}});
}

/* ---- kernels ----------------------------------------------------------------------------- */

/* The later versions of the kernel parameters only add fields at the end. */
_Static_assert(sizeof(CUDA_KERNEL_NODE_PARAMS_v3) == sizeof(CUDA_KERNEL_NODE_PARAMS_v2), "alike");

static CUgraphNodeParams kernel_of(const void *params, size_t size)
{
    CUgraphNodeParams node = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    memcpy(&node.kernel, params, size);
    return node;
}

static CUresult kernel_get(CUgraphNode handle, void *params, size_t size)
{
    struct graph_node *node;
    NEED_POINTER(params);
    TRY(node_of_type(handle, CU_GRAPH_NODE_TYPE_KERNEL, &node));
    memcpy(params, &node->params.kernel, size);
    return CUDA_SUCCESS;
}

/* Defines the functions of one version, by its suffix and parameter type. */
#define KERNEL_FUNCTIONS(suffix, type)                                                             \
    CUresult driver_cuGraphAddKernelNode##suffix(CUgraphNode *phGraphNode, CUgraph hGraph,         \
                                                 const CUgraphNode *dependencies,                  \
                                                 size_t numDependencies, const type *nodeParams)   \
    {                                                                                              \
        NEED_POINTER(nodeParams);                                                                  \
        CUgraphNodeParams params = kernel_of(nodeParams, sizeof *nodeParams);                      \
        return graph_node_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, &params);  \
    }                                                                                              \
    CUresult driver_cuGraphKernelNodeGetParams##suffix(CUgraphNode hNode, type *nodeParams)        \
    {                                                                                              \
        return kernel_get(hNode, nodeParams, sizeof *nodeParams);                                  \
    }                                                                                              \
    CUresult driver_cuGraphKernelNodeSetParams##suffix(CUgraphNode hNode, const type *nodeParams)  \
    {                                                                                              \
        NEED_POINTER(nodeParams);                                                                  \
        CUgraphNodeParams params = kernel_of(nodeParams, sizeof *nodeParams);                      \
        return node_set(hNode, &params);                                                           \
    }                                                                                              \
    CUresult driver_cuGraphExecKernelNodeSetParams##suffix(                                        \
        CUgraphExec hGraphExec, CUgraphNode hNode, const type *nodeParams)                         \
    {                                                                                              \
        NEED_POINTER(nodeParams);                                                                  \
        CUgraphNodeParams params = kernel_of(nodeParams, sizeof *nodeParams);                      \
        return graph_exec_set(hGraphExec, hNode, &params);                                         \
    }
KERNEL_FUNCTIONS(, CUDA_KERNEL_NODE_PARAMS_v1)
KERNEL_FUNCTIONS(_v2, CUDA_KERNEL_NODE_PARAMS_v2)
#undef KERNEL_FUNCTIONS

/* The place of an attribute that has no effect here and is only told back; HINTS: it is none. */
static size_t hint_place(CUkernelNodeAttrID attr)
{
    static const CUkernelNodeAttrID hints[HINTS] = {
        CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
        CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
        CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
        CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
        CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
    };
    size_t place = 0;
    while (place < HINTS && hints[place] != attr) place++;
    return place;
}

bool graph_hints_copy(struct graph_node *to, const struct graph_node *from)
{
    if (from->hints == NULL) {
        free(to->hints);
        to->hints = NULL;
        return true;
    }
    if (to->hints == NULL) to->hints = calloc(HINTS, sizeof *to->hints);
    if (to->hints != NULL) memcpy(to->hints, from->hints, HINTS * sizeof *to->hints);
    return to->hints != NULL;
}

/* The node's own list of hints, with what they are at first. */
static CUkernelNodeAttrValue *hints_of(struct graph_node *node)
{
    if (node->hints != NULL) return node->hints;
    node->hints = calloc(HINTS, sizeof *node->hints);
    if (node->hints != NULL)
        node->hints[hint_place(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP)].memSyncDomainMap.remote =
            1;
    return node->hints;
}

CUresult driver_cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                              CUkernelNodeAttrValue *value_out)
{
    struct graph_node *node;
    unsigned cluster[3];
    NEED_POINTER(value_out);
    TRY(node_of_type(hNode, CU_GRAPH_NODE_TYPE_KERNEL, &node));
    memset(value_out, 0, sizeof *value_out);
    if (hint_place(attr) < HINTS) {
        if (hints_of(node) == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
        *value_out = node->hints[hint_place(attr)];
        return CUDA_SUCCESS;
    }
    switch ((int)attr) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        value_out->cooperative = launch_is_cooperative(node->operation);
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        launch_cluster(node->operation, cluster);
        value_out->clusterDim.x = cluster[0];
        value_out->clusterDim.y = cluster[1];
        value_out->clusterDim.z = cluster[2];
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        value_out->priority = node->priority;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE: /* it never is */
        return CUDA_SUCCESS;
    default: /* of streams, or of launches */
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult driver_cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                              const CUkernelNodeAttrValue *value)
{
    struct graph_node *node;
    NEED_POINTER(value);
    TRY(node_of_type(hNode, CU_GRAPH_NODE_TYPE_KERNEL, &node));
    if (hint_place(attr) < HINTS) {
        TRY(attribute_check(attr, value));
        if (hints_of(node) == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
        node->hints[hint_place(attr)] = *value;
        return CUDA_SUCCESS;
    }
    switch ((int)attr) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        launch_set_cooperative(node->operation, value->cooperative != 0);
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        return launch_set_cluster(
            node->operation,
            (unsigned[]){value->clusterDim.x, value->clusterDim.y, value->clusterDim.z});
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        node->priority = stream_priority_kept(value->priority);
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING: /* not told back by an H200 either */
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        return attribute_unsupported(attr, "attribute %s of a kernel node");
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult driver_cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src)
{
    struct graph_node *to, *from;
    TRY(node_of_type(dst, CU_GRAPH_NODE_TYPE_KERNEL, &to));
    TRY(node_of_type(src, CU_GRAPH_NODE_TYPE_KERNEL, &from));
    /* Not the launch's own error, as on an H200. */
    if (launch_set_like(to->operation, from->operation) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_VALUE;
    to->priority = from->priority;
    return graph_hints_copy(to, from) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* ---- copies ------------------------------------------------------------------------------ */

static CUgraphNodeParams copy_of(const CUDA_MEMCPY3D *params, CUcontext context)
{
    return (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_MEMCPY,
                               .memcpy = {.copyCtx = context, .copyParams = *params}};
}

CUresult driver_cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                     const CUgraphNode *dependencies, size_t numDependencies,
                                     const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
    NEED_POINTER(copyParams);
    CUgraphNodeParams params = copy_of(copyParams, ctx);
    return graph_node_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, &params);
}

CUresult driver_cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams)
{
    struct graph_node *node;
    NEED_POINTER(nodeParams);
    TRY(node_of_type(hNode, CU_GRAPH_NODE_TYPE_MEMCPY, &node));
    *nodeParams = node->params.memcpy.copyParams;
    return CUDA_SUCCESS;
}

CUresult driver_cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D *nodeParams)
{
    struct graph_node *node;
    NEED_POINTER(nodeParams);
    TRY(node_of_type(hNode, CU_GRAPH_NODE_TYPE_MEMCPY, &node));
    CUgraphNodeParams params = copy_of(nodeParams, node->params.memcpy.copyCtx);
    return graph_node_set(node, &params);
}

CUresult driver_cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                               const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
    NEED_POINTER(copyParams);
    CUgraphNodeParams params = copy_of(copyParams, ctx);
    return graph_exec_set(hGraphExec, hNode, &params);
}

/* ---- fills ------------------------------------------------------------------------------- */

static CUgraphNodeParams fill_of(const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context)
{
    return (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_MEMSET,
                               .memset = {.dst = params->dst,
                                          .pitch = params->pitch,
                                          .value = params->value,
                                          .elementSize = params->elementSize,
                                          .width = params->width,
                                          .height = params->height,
                                          .ctx = context}};
}

CUresult driver_cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                     const CUgraphNode *dependencies, size_t numDependencies,
                                     const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx)
{
    NEED_POINTER(memsetParams);
    CUgraphNodeParams params = fill_of(memsetParams, ctx);
    return graph_node_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, &params);
}

CUresult driver_cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS *nodeParams)
{
    struct graph_node *node;
    NEED_POINTER(nodeParams);
    TRY(node_of_type(hNode, CU_GRAPH_NODE_TYPE_MEMSET, &node));
    const CUDA_MEMSET_NODE_PARAMS_v2 *params = &node->params.memset;
    *nodeParams = (CUDA_MEMSET_NODE_PARAMS){.dst = params->dst,
                                            .pitch = params->pitch,
                                            .value = params->value,
                                            .elementSize = params->elementSize,
                                            .width = params->width,
                                            .height = params->height};
    return CUDA_SUCCESS;
}

CUresult driver_cuGraphMemsetNodeSetParams(CUgraphNode hNode,
                                           const CUDA_MEMSET_NODE_PARAMS *nodeParams)
{
    struct graph_node *node;
    NEED_POINTER(nodeParams);
    TRY(node_of_type(hNode, CU_GRAPH_NODE_TYPE_MEMSET, &node));
    CUgraphNodeParams params = fill_of(nodeParams, node->params.memset.ctx);
    return graph_node_set(node, &params);
}

CUresult driver_cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                               const CUDA_MEMSET_NODE_PARAMS *memsetParams,
                                               CUcontext ctx)
{
    NEED_POINTER(memsetParams);
    CUgraphNodeParams params = fill_of(memsetParams, ctx);
    return graph_exec_set(hGraphExec, hNode, &params);
}

/* ---- host functions ---------------------------------------------------------------------- */

static CUgraphNodeParams host_of(const CUDA_HOST_NODE_PARAMS *params)
{
    return (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_HOST,
                               .host = {.fn = params->fn, .userData = params->userData}};
}

CUresult driver_cuGraphAddHostNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                   const CUgraphNode *dependencies, size_t numDependencies,
                                   const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    NEED_POINTER(nodeParams);
    CUgraphNodeParams params = host_of(nodeParams);
    return graph_node_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, &params);
}

CUresult driver_cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS *nodeParams)
{
    struct graph_node *node;
    NEED_POINTER(nodeParams);
    TRY(node_of_type(hNode, CU_GRAPH_NODE_TYPE_HOST, &node));
    *nodeParams = (CUDA_HOST_NODE_PARAMS){node->params.host.fn, node->params.host.userData};
    return CUDA_SUCCESS;
}

CUresult driver_cuGraphHostNodeSetParams(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    NEED_POINTER(nodeParams);
    CUgraphNodeParams params = host_of(nodeParams);
    return node_set(hNode, &params);
}

CUresult driver_cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                             const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    NEED_POINTER(nodeParams);
    CUgraphNodeParams params = host_of(nodeParams);
    return graph_exec_set(hGraphExec, hNode, &params);
}

/* ---- events ------------------------------------------------------------------------------ */

/* Record and wait nodes differ only in type and field name. */
#define EVENT_FUNCTIONS(kind, TYPE, field)                                                         \
    CUresult driver_cuGraphAdd##kind##Node(CUgraphNode *phGraphNode, CUgraph hGraph,               \
                                           const CUgraphNode *dependencies,                        \
                                           size_t numDependencies, CUevent event)                  \
    {                                                                                              \
        CUgraphNodeParams params = {.type = TYPE, .field = {event}};                               \
        return graph_node_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, &params);  \
    }                                                                                              \
    CUresult driver_cuGraph##kind##NodeGetEvent(CUgraphNode hNode, CUevent *event_out)             \
    {                                                                                              \
        struct graph_node *node;                                                                   \
        NEED_POINTER(event_out);                                                                   \
        TRY(node_of_type(hNode, TYPE, &node));                                                     \
        *event_out = node->params.field.event;                                                     \
        return CUDA_SUCCESS;                                                                       \
    }                                                                                              \
    CUresult driver_cuGraph##kind##NodeSetEvent(CUgraphNode hNode, CUevent event)                  \
    {                                                                                              \
        CUgraphNodeParams params = {.type = TYPE, .field = {event}};                               \
        return node_set(hNode, &params);                                                           \
    }                                                                                              \
    CUresult driver_cuGraphExec##kind##NodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode,     \
                                                    CUevent event)                                 \
    {                                                                                              \
        CUgraphNodeParams params = {.type = TYPE, .field = {event}};                               \
        return graph_exec_set(hGraphExec, hNode, &params);                                         \
    }
EVENT_FUNCTIONS(EventRecord, CU_GRAPH_NODE_TYPE_EVENT_RECORD, eventRecord)
EVENT_FUNCTIONS(EventWait, CU_GRAPH_NODE_TYPE_WAIT_EVENT, eventWait)
#undef EVENT_FUNCTIONS

/* ---- batches of memory operations -------------------------------------------------------- */

static CUgraphNodeParams values_of(const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    return (CUgraphNodeParams){
        .type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
        .memOp = {params->ctx, params->count, params->paramArray, params->flags}};
}

CUresult driver_cuGraphAddBatchMemOpNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                         const CUgraphNode *dependencies, size_t numDependencies,
                                         const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
    NEED_POINTER(nodeParams);
    CUgraphNodeParams params = values_of(nodeParams);
    return graph_node_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, &params);
}

CUresult driver_cuGraphBatchMemOpNodeGetParams(CUgraphNode hNode,
                                               CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams_out)
{
    struct graph_node *node;
    NEED_POINTER(nodeParams_out);
    TRY(node_of_type(hNode, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, &node));
    const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *params = &node->params.memOp;
    *nodeParams_out = (CUDA_BATCH_MEM_OP_NODE_PARAMS){params->ctx, params->count,
                                                      params->paramArray, params->flags};
    return CUDA_SUCCESS;
}

CUresult driver_cuGraphBatchMemOpNodeSetParams(CUgraphNode hNode,
                                               const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
    NEED_POINTER(nodeParams);
    CUgraphNodeParams params = values_of(nodeParams);
    return node_set(hNode, &params);
}

CUresult driver_cuGraphExecBatchMemOpNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                   const CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
    NEED_POINTER(nodeParams);
    CUgraphNodeParams params = values_of(nodeParams);
    return graph_exec_set(hGraphExec, hNode, &params);
}

/* ---- memory ------------------------------------------------------------------------------ */

CUresult driver_cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                       const CUgraphNode *dependencies, size_t numDependencies,
                                       CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams)
{
    NEED_POINTER(nodeParams);
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    memcpy(&params.alloc, nodeParams, sizeof *nodeParams);
    TRY(graph_node_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, &params));
    nodeParams->dptr = params.alloc.dptr;
    return CUDA_SUCCESS;
}

CUresult driver_cuGraphMemAllocNodeGetParams(CUgraphNode hNode,
                                             CUDA_MEM_ALLOC_NODE_PARAMS *params_out)
{
    struct graph_node *node;
    NEED_POINTER(params_out);
    TRY(node_of_type(hNode, CU_GRAPH_NODE_TYPE_MEM_ALLOC, &node));
    memcpy(params_out, &node->params.alloc, sizeof *params_out);
    return CUDA_SUCCESS;
}

CUresult driver_cuGraphAddMemFreeNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                      const CUgraphNode *dependencies, size_t numDependencies,
                                      CUdeviceptr dptr)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .free = {dptr}};
    return graph_node_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, &params);
}

CUresult driver_cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr *dptr_out)
{
    struct graph_node *node;
    NEED_POINTER(dptr_out);
    TRY(node_of_type(hNode, CU_GRAPH_NODE_TYPE_MEM_FREE, &node));
    *dptr_out = node->params.free.dptr;
    return CUDA_SUCCESS;
}
