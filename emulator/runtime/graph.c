/* CUDA graphs: the driver's functions under the runtime's names, with the runtime's ways of naming
 * kernels and describing copies. Nodes of single types are in runtime/graph_node.c. */
#include "emulator/runtime/runtime.h"

/* Defines a function that only changes the name. Handles are the driver's, and enumerations have
 * the same numbers in both APIs. */
#define SAME(name, driver_name, parameters, arguments)                                             \
    cudaError_t runtime_##name parameters                                                          \
    {                                                                                              \
        return runtime_error(driver_name arguments);                                               \
    }

_Static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData), "one layout");
typedef CUgraphEdgeData edge_data;

/* ---- capture --------------------------------------------------------------------------------- */

SAME(cudaStreamBeginCapture, cuStreamBeginCapture,
     (cudaStream_t stream, enum cudaStreamCaptureMode mode),
     (runtime_stream(stream), (CUstreamCaptureMode)mode))
SAME(cudaStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph,
     (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
      const cudaGraphEdgeData *dependencyData, size_t numDependencies,
      enum cudaStreamCaptureMode mode),
     (runtime_stream(stream), graph, dependencies, (const edge_data *)dependencyData,
      numDependencies, (CUstreamCaptureMode)mode))
SAME(cudaStreamEndCapture, cuStreamEndCapture, (cudaStream_t stream, cudaGraph_t *pGraph),
     (runtime_stream(stream), pGraph))
SAME(cudaStreamIsCapturing, cuStreamIsCapturing,
     (cudaStream_t stream, enum cudaStreamCaptureStatus *pCaptureStatus),
     (runtime_stream(stream), (CUstreamCaptureStatus *)pCaptureStatus))
SAME(cudaStreamGetCaptureInfo, cuStreamGetCaptureInfo,
     (cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
      unsigned long long *id_out, cudaGraph_t *graph_out, const cudaGraphNode_t **dependencies_out,
      const cudaGraphEdgeData **edgeData_out, size_t *numDependencies_out),
     (runtime_stream(stream), (CUstreamCaptureStatus *)captureStatus_out, (cuuint64_t *)id_out,
      graph_out, dependencies_out, (const edge_data **)edgeData_out, numDependencies_out))
SAME(cudaStreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies,
     (cudaStream_t stream, cudaGraphNode_t *dependencies, const cudaGraphEdgeData *dependencyData,
      size_t numDependencies, unsigned int flags),
     (runtime_stream(stream), dependencies, (const edge_data *)dependencyData, numDependencies,
      flags))
SAME(cudaThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode,
     (enum cudaStreamCaptureMode * mode), ((CUstreamCaptureMode *)mode))

/* ---- graphs and their nodes ------------------------------------------------------------------ */

SAME(cudaGraphCreate, cuGraphCreate, (cudaGraph_t * pGraph, unsigned int flags), (pGraph, flags))
SAME(cudaGraphClone, cuGraphClone, (cudaGraph_t * pGraphClone, cudaGraph_t originalGraph),
     (pGraphClone, originalGraph))
SAME(cudaGraphDestroy, cuGraphDestroy, (cudaGraph_t graph), (graph))
SAME(cudaGraphDestroyNode, cuGraphDestroyNode, (cudaGraphNode_t node), (node))
SAME(cudaGraphDebugDotPrint, cuGraphDebugDotPrint,
     (cudaGraph_t graph, const char *path, unsigned int flags), (graph, path, flags))
SAME(cudaGraphGetNodes, cuGraphGetNodes,
     (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *numNodes), (graph, nodes, numNodes))
SAME(cudaGraphGetRootNodes, cuGraphGetRootNodes,
     (cudaGraph_t graph, cudaGraphNode_t *pRootNodes, size_t *pNumRootNodes),
     (graph, pRootNodes, pNumRootNodes))
SAME(cudaGraphGetEdges, cuGraphGetEdges,
     (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *edgeData,
      size_t *numEdges),
     (graph, from, to, (edge_data *)edgeData, numEdges))
SAME(cudaGraphNodeGetType, cuGraphNodeGetType,
     (cudaGraphNode_t node, enum cudaGraphNodeType *pType), (node, (CUgraphNodeType *)pType))
SAME(cudaGraphNodeFindInClone, cuGraphNodeFindInClone,
     (cudaGraphNode_t * pNode, cudaGraphNode_t originalNode, cudaGraph_t clonedGraph),
     (pNode, originalNode, clonedGraph))
SAME(cudaGraphNodeGetDependencies, cuGraphNodeGetDependencies,
     (cudaGraphNode_t node, cudaGraphNode_t *pDependencies, cudaGraphEdgeData *edgeData,
      size_t *pNumDependencies),
     (node, pDependencies, (edge_data *)edgeData, pNumDependencies))
SAME(cudaGraphNodeGetDependentNodes, cuGraphNodeGetDependentNodes,
     (cudaGraphNode_t node, cudaGraphNode_t *pDependentNodes, cudaGraphEdgeData *edgeData,
      size_t *pNumDependentNodes),
     (node, pDependentNodes, (edge_data *)edgeData, pNumDependentNodes))
SAME(cudaGraphAddDependencies, cuGraphAddDependencies,
     (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
      const cudaGraphEdgeData *edgeData, size_t numDependencies),
     (graph, from, to, (const edge_data *)edgeData, numDependencies))
SAME(cudaGraphRemoveDependencies, cuGraphRemoveDependencies,
     (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
      const cudaGraphEdgeData *edgeData, size_t numDependencies),
     (graph, from, to, (const edge_data *)edgeData, numDependencies))

cudaError_t runtime_cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *pHandle_out,
                                                     cudaGraph_t graph,
                                                     unsigned int defaultLaunchValue,
                                                     unsigned int flags)
{
    CUcontext context = NULL;
    cuCtxGetCurrent(&context);
    return runtime_error(cuGraphConditionalHandleCreate((CUgraphConditionalHandle *)pHandle_out,
                                                        graph, context, defaultLaunchValue, flags));
}

/* ---- executable graphs ----------------------------------------------------------------------- */

_Static_assert(sizeof(cudaGraphInstantiateParams) == sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS) &&
                   sizeof(cudaGraphExecUpdateResultInfo) == sizeof(CUgraphExecUpdateResultInfo),
               "one layout");

SAME(cudaGraphInstantiate, cuGraphInstantiate,
     (cudaGraphExec_t * pGraphExec, cudaGraph_t graph, unsigned long long flags),
     (pGraphExec, graph, flags))
SAME(cudaGraphInstantiateWithFlags, cuGraphInstantiate,
     (cudaGraphExec_t * pGraphExec, cudaGraph_t graph, unsigned long long flags),
     (pGraphExec, graph, flags))

cudaError_t runtime_cudaGraphInstantiateWithParams(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                                   cudaGraphInstantiateParams *instantiateParams)
{
    if (instantiateParams == NULL) return cudaErrorInvalidValue;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {
        .flags = instantiateParams->flags,
        .hUploadStream = runtime_stream(instantiateParams->uploadStream),
    };
    CUresult result = cuGraphInstantiateWithParams(pGraphExec, graph, &params);
    instantiateParams->errNode_out = params.hErrNode_out;
    instantiateParams->result_out = (cudaGraphInstantiateResult)params.result_out;
    return runtime_error(result);
}

SAME(cudaGraphExecGetFlags, cuGraphExecGetFlags,
     (cudaGraphExec_t graphExec, unsigned long long *flags), (graphExec, (cuuint64_t *)flags))
SAME(cudaGraphExecDestroy, cuGraphExecDestroy, (cudaGraphExec_t graphExec), (graphExec))
SAME(cudaGraphUpload, cuGraphUpload, (cudaGraphExec_t graphExec, cudaStream_t stream),
     (graphExec, runtime_stream(stream)))
SAME(cudaGraphLaunch, cuGraphLaunch, (cudaGraphExec_t graphExec, cudaStream_t stream),
     (graphExec, runtime_stream(stream)))
SAME(cudaGraphNodeSetEnabled, cuGraphNodeSetEnabled,
     (cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, unsigned int isEnabled),
     (hGraphExec, hNode, isEnabled))
SAME(cudaGraphNodeGetEnabled, cuGraphNodeGetEnabled,
     (cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, unsigned int *isEnabled),
     (hGraphExec, hNode, isEnabled))
SAME(cudaGraphExecUpdate, cuGraphExecUpdate,
     (cudaGraphExec_t hGraphExec, cudaGraph_t hGraph, cudaGraphExecUpdateResultInfo *resultInfo),
     (hGraphExec, hGraph, (CUgraphExecUpdateResultInfo *)resultInfo))

/* ---- user objects ---------------------------------------------------------------------------- */

SAME(cudaUserObjectCreate, cuUserObjectCreate,
     (cudaUserObject_t * object_out, void *ptr, cudaHostFn_t destroy, unsigned int initialRefcount,
      unsigned int flags),
     (object_out, ptr, destroy, initialRefcount, flags))
SAME(cudaUserObjectRetain, cuUserObjectRetain, (cudaUserObject_t object, unsigned int count),
     (object, count))
SAME(cudaUserObjectRelease, cuUserObjectRelease, (cudaUserObject_t object, unsigned int count),
     (object, count))
SAME(cudaGraphRetainUserObject, cuGraphRetainUserObject,
     (cudaGraph_t graph, cudaUserObject_t object, unsigned int count, unsigned int flags),
     (graph, object, count, flags))
SAME(cudaGraphReleaseUserObject, cuGraphReleaseUserObject,
     (cudaGraph_t graph, cudaUserObject_t object, unsigned int count), (graph, object, count))
