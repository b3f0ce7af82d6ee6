/* Graph nodes by type: a kernel is named by its host function, a copy is described as for
 * cudaMemcpy3D. Both are converted to the driver's parameters and back. */
#include "emulator/runtime/runtime.h"

#include <string.h>

/* The first parameters of every function that adds a node. */
#define ADD                                                                                        \
    cudaGraphNode_t *pGraphNode, cudaGraph_t graph, const cudaGraphNode_t *pDependencies,          \
        size_t numDependencies
#define ADDED pGraphNode, graph, pDependencies, numDependencies

/* The context of a copy or fill node: the current one. */
static CUcontext current(void)
{
    CUcontext context = NULL;
    cuCtxGetCurrent(&context);
    return context;
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* Converts a kernel's parameters. The kernel is given by its host function, or by a handle of the
 * runtime or the driver. */
static cudaError_t kernel_of(const struct cudaKernelNodeParams *from, CUDA_KERNEL_NODE_PARAMS *to)
{
    CUfunction function;
    const char *name;
    if (from == NULL) return cudaErrorInvalidValue;
    cudaError_t error = runtime_function(from->func, &function);
    if (error == cudaErrorInvalidResourceHandle) {
        if (cuFuncGetName(&name, (CUfunction)from->func) != CUDA_SUCCESS)
            return cudaErrorInvalidResourceHandle;
        function = (CUfunction)from->func;
        error = cudaSuccess;
    }
    if (error != cudaSuccess) return error;
    *to = (CUDA_KERNEL_NODE_PARAMS){
        .func = function,
        .gridDimX = from->gridDim.x,
        .gridDimY = from->gridDim.y,
        .gridDimZ = from->gridDim.z,
        .blockDimX = from->blockDim.x,
        .blockDimY = from->blockDim.y,
        .blockDimZ = from->blockDim.z,
        .sharedMemBytes = from->sharedMemBytes,
        .kernelParams = from->kernelParams,
        .extra = from->extra,
    };
    return cudaSuccess;
}

static struct cudaKernelNodeParams kernel_from(const CUDA_KERNEL_NODE_PARAMS *from)
{
    return (struct cudaKernelNodeParams){
        .func = (void *)runtime_symbol(from->func),
        .gridDim = {from->gridDimX, from->gridDimY, from->gridDimZ},
        .blockDim = {from->blockDimX, from->blockDimY, from->blockDimZ},
        .sharedMemBytes = from->sharedMemBytes,
        .kernelParams = from->kernelParams,
        .extra = from->extra,
    };
}

cudaError_t runtime_cudaGraphAddKernelNode(ADD, const struct cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS params;
    cudaError_t error = kernel_of(pNodeParams, &params);
    return error == cudaSuccess ? runtime_error(cuGraphAddKernelNode(ADDED, &params)) : error;
}

cudaError_t runtime_cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                                 struct cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS params;
    if (pNodeParams == NULL) return cudaErrorInvalidValue;
    CUresult result = cuGraphKernelNodeGetParams(node, &params);
    if (result == CUDA_SUCCESS) *pNodeParams = kernel_from(&params);
    return runtime_error(result);
}

cudaError_t runtime_cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                                 const struct cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS params;
    cudaError_t error = kernel_of(pNodeParams, &params);
    return error == cudaSuccess ? runtime_error(cuGraphKernelNodeSetParams(node, &params)) : error;
}

cudaError_t runtime_cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec,
                                                     cudaGraphNode_t node,
                                                     const struct cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS params;
    cudaError_t error = kernel_of(pNodeParams, &params);
    if (error != cudaSuccess) return error;
    return runtime_error(cuGraphExecKernelNodeSetParams(hGraphExec, node, &params));
}

cudaError_t runtime_cudaGraphKernelNodeGetAttribute(cudaGraphNode_t hNode,
                                                    cudaLaunchAttributeID attr,
                                                    cudaLaunchAttributeValue *value_out)
{
    return runtime_error(cuGraphKernelNodeGetAttribute(hNode, (CUkernelNodeAttrID)attr,
                                                       (CUkernelNodeAttrValue *)value_out));
}

cudaError_t runtime_cudaGraphKernelNodeSetAttribute(cudaGraphNode_t hNode,
                                                    cudaLaunchAttributeID attr,
                                                    const cudaLaunchAttributeValue *value)
{
    return runtime_error(cuGraphKernelNodeSetAttribute(hNode, (CUkernelNodeAttrID)attr,
                                                       (const CUkernelNodeAttrValue *)value));
}

cudaError_t runtime_cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hDst, cudaGraphNode_t hSrc)
{
    return runtime_error(cuGraphKernelNodeCopyAttributes(hDst, hSrc));
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Describes a copy of one row, which needs no pitch. */
static cudaError_t describe_flat(CUDA_MEMCPY3D *copy, void *dst, const void *src, size_t count,
                                 enum cudaMemcpyKind kind)
{
    const struct cudaMemcpy3DParms params = {
        .srcPtr = {(void *)(uintptr_t)src, count, count, 1},
        .dstPtr = {dst, count, count, 1},
        .extent = {count, 1, 1},
        .kind = kind,
    };
    cudaError_t error = runtime_describe_copy(copy, &params);
    if (error == cudaSuccess)
        copy->srcPitch = copy->srcHeight = copy->dstPitch = copy->dstHeight = 0;
    return error;
}

static cudaError_t describe_to_symbol(CUDA_MEMCPY3D *copy, const void *symbol, const void *src,
                                      size_t count, size_t offset, enum cudaMemcpyKind kind)
{
    CUdeviceptr address;
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost)
        return cudaErrorInvalidMemcpyDirection;
    cudaError_t error = runtime_part_of_variable(symbol, offset, count, &address);
    return error == cudaSuccess ? describe_flat(copy, (void *)address, src, count, kind) : error;
}

static cudaError_t describe_from_symbol(CUDA_MEMCPY3D *copy, void *dst, const void *symbol,
                                        size_t count, size_t offset, enum cudaMemcpyKind kind)
{
    CUdeviceptr address;
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice)
        return cudaErrorInvalidMemcpyDirection;
    cudaError_t error = runtime_part_of_variable(symbol, offset, count, &address);
    return error == cudaSuccess ? describe_flat(copy, dst, (void *)address, count, kind) : error;
}

static enum cudaMemcpyKind kind_between(CUmemorytype from, CUmemorytype to)
{
    if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
    if (from == CU_MEMORYTYPE_HOST)
        return to == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
    return to == CU_MEMORYTYPE_HOST ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

/* Where an array takes part, widths and positions are counted in elements. */
static struct cudaMemcpy3DParms copy_from(const CUDA_MEMCPY3D *from)
{
    const bool from_array = from->srcMemoryType == CU_MEMORYTYPE_ARRAY;
    const bool to_array = from->dstMemoryType == CU_MEMORYTYPE_ARRAY;
    const size_t element = from_array ? runtime_array_element((cudaArray_t)from->srcArray)
                           : to_array ? runtime_array_element((cudaArray_t)from->dstArray)
                                      : 1;
    const size_t each = element > 0 ? element : 1; /* 0: the array has been destroyed */
    void *src = from->srcMemoryType == CU_MEMORYTYPE_HOST ? (void *)(uintptr_t)from->srcHost
                                                          : (void *)from->srcDevice;
    void *dst = from->dstMemoryType == CU_MEMORYTYPE_HOST ? from->dstHost : (void *)from->dstDevice;
    struct cudaMemcpy3DParms to = {
        .srcPos = {from->srcXInBytes / each, from->srcY, from->srcZ},
        .dstPos = {from->dstXInBytes / each, from->dstY, from->dstZ},
        .extent = {from->WidthInBytes / each, from->Height, from->Depth},
        .kind = kind_between(from->srcMemoryType, from->dstMemoryType),
    };
    if (from_array)
        to.srcArray = (cudaArray_t)from->srcArray;
    else
        to.srcPtr = (struct cudaPitchedPtr){src, from->srcPitch, from->srcPitch, from->srcHeight};
    if (to_array)
        to.dstArray = (cudaArray_t)from->dstArray;
    else
        to.dstPtr = (struct cudaPitchedPtr){dst, from->dstPitch, from->dstPitch, from->dstHeight};
    return to;
}

cudaError_t runtime_cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                                 struct cudaMemcpy3DParms *pNodeParams)
{
    CUDA_MEMCPY3D copy;
    if (pNodeParams == NULL) return cudaErrorInvalidValue;
    CUresult result = cuGraphMemcpyNodeGetParams(node, &copy);
    if (result == CUDA_SUCCESS) *pNodeParams = copy_from(&copy);
    return runtime_error(result);
}

/* Defines the functions for adding a node, setting it, and setting it in an executable graph, for
 * one way to describe a copy. */
#define COPY_FUNCTIONS(suffix, describe, parameters, arguments)                                    \
    cudaError_t runtime_cudaGraphAddMemcpyNode##suffix(ADD, PARAMETERS parameters)                 \
    {                                                                                              \
        CUDA_MEMCPY3D copy;                                                                        \
        cudaError_t error = describe(&copy, PARAMETERS arguments);                                 \
        if (error != cudaSuccess) return error;                                                    \
        return runtime_error(cuGraphAddMemcpyNode(ADDED, &copy, current()));                       \
    }                                                                                              \
    cudaError_t runtime_cudaGraphMemcpyNodeSetParams##suffix(cudaGraphNode_t node,                 \
                                                             PARAMETERS parameters)                \
    {                                                                                              \
        CUDA_MEMCPY3D copy;                                                                        \
        cudaError_t error = describe(&copy, PARAMETERS arguments);                                 \
        if (error != cudaSuccess) return error;                                                    \
        return runtime_error(cuGraphMemcpyNodeSetParams(node, &copy));                             \
    }                                                                                              \
    cudaError_t runtime_cudaGraphExecMemcpyNodeSetParams##suffix(                                  \
        cudaGraphExec_t hGraphExec, cudaGraphNode_t node, PARAMETERS parameters)                   \
    {                                                                                              \
        CUDA_MEMCPY3D copy;                                                                        \
        cudaError_t error = describe(&copy, PARAMETERS arguments);                                 \
        if (error != cudaSuccess) return error;                                                    \
        return runtime_error(cuGraphExecMemcpyNodeSetParams(hGraphExec, node, &copy, current()));  \
    }
#define PARAMETERS(...) __VA_ARGS__
COPY_FUNCTIONS(, runtime_describe_copy, (const struct cudaMemcpy3DParms *pNodeParams),
               (pNodeParams))
COPY_FUNCTIONS(1D, describe_flat,
               (void *dst, const void *src, size_t count, enum cudaMemcpyKind kind),
               (dst, src, count, kind))
COPY_FUNCTIONS(ToSymbol, describe_to_symbol,
               (const void *symbol, const void *src, size_t count, size_t offset,
                enum cudaMemcpyKind kind),
               (symbol, src, count, offset, kind))
COPY_FUNCTIONS(FromSymbol, describe_from_symbol,
               (void *dst, const void *symbol, size_t count, size_t offset,
                enum cudaMemcpyKind kind),
               (dst, symbol, count, offset, kind))
#undef PARAMETERS
#undef COPY_FUNCTIONS

/* ---- fills ----------------------------------------------------------------------------------- */

static CUDA_MEMSET_NODE_PARAMS fill_of(const struct cudaMemsetParams *from)
{
    return (CUDA_MEMSET_NODE_PARAMS){
        .dst = (CUdeviceptr)from->dst,
        .pitch = from->pitch,
        .value = from->value,
        .elementSize = from->elementSize,
        .width = from->width,
        .height = from->height,
    };
}

cudaError_t runtime_cudaGraphAddMemsetNode(ADD, const struct cudaMemsetParams *pMemsetParams)
{
    if (pMemsetParams == NULL) return cudaErrorInvalidValue;
    const CUDA_MEMSET_NODE_PARAMS params = fill_of(pMemsetParams);
    return runtime_error(cuGraphAddMemsetNode(ADDED, &params, current()));
}

cudaError_t runtime_cudaGraphMemsetNodeGetParams(cudaGraphNode_t node,
                                                 struct cudaMemsetParams *pNodeParams)
{
    CUDA_MEMSET_NODE_PARAMS params;
    if (pNodeParams == NULL) return cudaErrorInvalidValue;
    CUresult result = cuGraphMemsetNodeGetParams(node, &params);
    if (result == CUDA_SUCCESS)
        *pNodeParams = (struct cudaMemsetParams){
            .dst = (void *)params.dst,
            .pitch = params.pitch,
            .value = params.value,
            .elementSize = params.elementSize,
            .width = params.width,
            .height = params.height,
        };
    return runtime_error(result);
}

cudaError_t runtime_cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                                 const struct cudaMemsetParams *pNodeParams)
{
    if (pNodeParams == NULL) return cudaErrorInvalidValue;
    const CUDA_MEMSET_NODE_PARAMS params = fill_of(pNodeParams);
    return runtime_error(cuGraphMemsetNodeSetParams(node, &params));
}

cudaError_t runtime_cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t hGraphExec,
                                                     cudaGraphNode_t node,
                                                     const struct cudaMemsetParams *pNodeParams)
{
    if (pNodeParams == NULL) return cudaErrorInvalidValue;
    const CUDA_MEMSET_NODE_PARAMS params = fill_of(pNodeParams);
    return runtime_error(cuGraphExecMemsetNodeSetParams(hGraphExec, node, &params, current()));
}

/* ---- functions that are the driver's under other names --------------------------------------- */

_Static_assert(sizeof(struct cudaHostNodeParams) == sizeof(CUDA_HOST_NODE_PARAMS), "one layout");

#define SAME(name, driver_name, parameters, arguments)                                             \
    cudaError_t runtime_##name parameters                                                          \
    {                                                                                              \
        return runtime_error(driver_name arguments);                                               \
    }

SAME(cudaGraphAddHostNode, cuGraphAddHostNode, (ADD, const struct cudaHostNodeParams *pNodeParams),
     (ADDED, (const CUDA_HOST_NODE_PARAMS *)pNodeParams))
SAME(cudaGraphHostNodeGetParams, cuGraphHostNodeGetParams,
     (cudaGraphNode_t node, struct cudaHostNodeParams *pNodeParams),
     (node, (CUDA_HOST_NODE_PARAMS *)pNodeParams))
SAME(cudaGraphHostNodeSetParams, cuGraphHostNodeSetParams,
     (cudaGraphNode_t node, const struct cudaHostNodeParams *pNodeParams),
     (node, (const CUDA_HOST_NODE_PARAMS *)pNodeParams))
SAME(cudaGraphExecHostNodeSetParams, cuGraphExecHostNodeSetParams,
     (cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
      const struct cudaHostNodeParams *pNodeParams),
     (hGraphExec, node, (const CUDA_HOST_NODE_PARAMS *)pNodeParams))
SAME(cudaGraphAddChildGraphNode, cuGraphAddChildGraphNode, (ADD, cudaGraph_t childGraph),
     (ADDED, childGraph))
SAME(cudaGraphChildGraphNodeGetGraph, cuGraphChildGraphNodeGetGraph,
     (cudaGraphNode_t node, cudaGraph_t *pGraph), (node, pGraph))
SAME(cudaGraphExecChildGraphNodeSetParams, cuGraphExecChildGraphNodeSetParams,
     (cudaGraphExec_t hGraphExec, cudaGraphNode_t node, cudaGraph_t childGraph),
     (hGraphExec, node, childGraph))
SAME(cudaGraphAddEmptyNode, cuGraphAddEmptyNode, (ADD), (ADDED))
SAME(cudaGraphAddEventRecordNode, cuGraphAddEventRecordNode, (ADD, cudaEvent_t event),
     (ADDED, event))
SAME(cudaGraphEventRecordNodeGetEvent, cuGraphEventRecordNodeGetEvent,
     (cudaGraphNode_t node, cudaEvent_t *event_out), (node, event_out))
SAME(cudaGraphEventRecordNodeSetEvent, cuGraphEventRecordNodeSetEvent,
     (cudaGraphNode_t node, cudaEvent_t event), (node, event))
SAME(cudaGraphExecEventRecordNodeSetEvent, cuGraphExecEventRecordNodeSetEvent,
     (cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, cudaEvent_t event),
     (hGraphExec, hNode, event))
SAME(cudaGraphAddEventWaitNode, cuGraphAddEventWaitNode, (ADD, cudaEvent_t event), (ADDED, event))
SAME(cudaGraphEventWaitNodeGetEvent, cuGraphEventWaitNodeGetEvent,
     (cudaGraphNode_t node, cudaEvent_t *event_out), (node, event_out))
SAME(cudaGraphEventWaitNodeSetEvent, cuGraphEventWaitNodeSetEvent,
     (cudaGraphNode_t node, cudaEvent_t event), (node, event))
SAME(cudaGraphExecEventWaitNodeSetEvent, cuGraphExecEventWaitNodeSetEvent,
     (cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, cudaEvent_t event),
     (hGraphExec, hNode, event))

/* ---- memory ---------------------------------------------------------------------------------- */

_Static_assert(sizeof(struct cudaMemAllocNodeParams) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) &&
                   offsetof(struct cudaMemAllocNodeParams, dptr) ==
                       offsetof(CUDA_MEM_ALLOC_NODE_PARAMS, dptr),
               "one layout");

SAME(cudaGraphAddMemAllocNode, cuGraphAddMemAllocNode,
     (ADD, struct cudaMemAllocNodeParams *nodeParams),
     (ADDED, (CUDA_MEM_ALLOC_NODE_PARAMS *)nodeParams))
SAME(cudaGraphMemAllocNodeGetParams, cuGraphMemAllocNodeGetParams,
     (cudaGraphNode_t node, struct cudaMemAllocNodeParams *params_out),
     (node, (CUDA_MEM_ALLOC_NODE_PARAMS *)params_out))
SAME(cudaGraphAddMemFreeNode, cuGraphAddMemFreeNode, (ADD, void *dptr), (ADDED, (CUdeviceptr)dptr))
SAME(cudaGraphMemFreeNodeGetParams, cuGraphMemFreeNodeGetParams,
     (cudaGraphNode_t node, void *dptr_out), (node, dptr_out))
SAME(cudaDeviceGetGraphMemAttribute, cuDeviceGetGraphMemAttribute,
     (int device, enum cudaGraphMemAttributeType attr, void *value),
     (device, (CUgraphMem_attribute)attr, value))
SAME(cudaDeviceSetGraphMemAttribute, cuDeviceSetGraphMemAttribute,
     (int device, enum cudaGraphMemAttributeType attr, void *value),
     (device, (CUgraphMem_attribute)attr, value))
SAME(cudaDeviceGraphMemTrim, cuDeviceGraphMemTrim, (int device), (device))

/* ---- any type -------------------------------------------------------------------------------- */

static cudaError_t kernel_of_any(const struct cudaKernelNodeParamsV2 *from, CUgraphNodeParams *to)
{
    const struct cudaKernelNodeParams kernel = {
        .func = from->func,
        .gridDim = from->gridDim,
        .blockDim = from->blockDim,
        .sharedMemBytes = from->sharedMemBytes,
        .kernelParams = from->kernelParams,
        .extra = from->extra,
    };
    CUDA_KERNEL_NODE_PARAMS params;
    const cudaError_t error = kernel_of(&kernel, &params);
    if (error == cudaSuccess) memcpy(&to->kernel, &params, sizeof params);
    return error;
}

/* Converts the union of node parameters to the driver's. Members with the same layout are
 * copied. */
static cudaError_t node_of(const struct cudaGraphNodeParams *from, CUgraphNodeParams *to)
{
    if (from == NULL) return cudaErrorInvalidValue;
    memset(to, 0, sizeof *to);
    to->type = (CUgraphNodeType)from->type;
    memcpy(to->reserved0, from->reserved0, sizeof to->reserved0); /* the driver wants zeros */
    to->reserved2 = from->reserved2;
    switch (from->type) {
    case cudaGraphNodeTypeKernel:
        return kernel_of_any(&from->kernel, to);
    case cudaGraphNodeTypeMemcpy:
        to->memcpy.copyCtx = current();
        return runtime_describe_copy(&to->memcpy.copyParams, &from->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        to->memset.dst = (CUdeviceptr)from->memset.dst;
        to->memset.pitch = from->memset.pitch;
        to->memset.value = from->memset.value;
        to->memset.elementSize = from->memset.elementSize;
        to->memset.width = from->memset.width;
        to->memset.height = from->memset.height;
        to->memset.ctx = current();
        return cudaSuccess;
    case cudaGraphNodeTypeHost:
        to->host.fn = from->host.fn;
        to->host.userData = from->host.userData;
        return cudaSuccess;
    case cudaGraphNodeTypeGraph:
        to->graph.graph = from->graph.graph;
        to->graph.ownership = (CUgraphChildGraphNodeOwnership)from->graph.ownership;
        return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent:
        to->eventWait.event = from->eventWait.event;
        return cudaSuccess;
    case cudaGraphNodeTypeEventRecord:
        to->eventRecord.event = from->eventRecord.event;
        return cudaSuccess;
    case cudaGraphNodeTypeMemAlloc:
        memcpy(&to->alloc, &from->alloc, sizeof to->alloc);
        return cudaSuccess;
    case cudaGraphNodeTypeMemFree:
        to->free.dptr = (CUdeviceptr)from->free.dptr;
        return cudaSuccess;
    case cudaGraphNodeTypeConditional:
        to->conditional.handle = from->conditional.handle;
        to->conditional.type = (CUgraphConditionalNodeType)from->conditional.type;
        to->conditional.size = from->conditional.size;
        return cudaSuccess;
    default: /* types without parameters; the driver refuses unsupported ones by name */
        return cudaSuccess;
    }
}

cudaError_t runtime_cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                     const cudaGraphNode_t *pDependencies,
                                     const cudaGraphEdgeData *dependencyData,
                                     size_t numDependencies, struct cudaGraphNodeParams *nodeParams)
{
    CUgraphNodeParams params;
    cudaError_t error = node_of(nodeParams, &params);
    if (error != cudaSuccess) return error;
    CUresult result =
        cuGraphAddNode(pGraphNode, graph, pDependencies, (const CUgraphEdgeData *)dependencyData,
                       numDependencies, &params);
    if (result == CUDA_SUCCESS && nodeParams->type == cudaGraphNodeTypeGraph)
        nodeParams->graph.graph = params.graph.graph;
    if (result == CUDA_SUCCESS && nodeParams->type == cudaGraphNodeTypeMemAlloc)
        nodeParams->alloc.dptr = (void *)params.alloc.dptr;
    if (result == CUDA_SUCCESS && nodeParams->type == cudaGraphNodeTypeConditional)
        nodeParams->conditional.phGraph_out = (cudaGraph_t *)params.conditional.phGraph_out;
    return runtime_error(result);
}

cudaError_t runtime_cudaGraphNodeSetParams(cudaGraphNode_t node,
                                           struct cudaGraphNodeParams *nodeParams)
{
    CUgraphNodeParams params;
    cudaError_t error = node_of(nodeParams, &params);
    return error == cudaSuccess ? runtime_error(cuGraphNodeSetParams(node, &params)) : error;
}

cudaError_t runtime_cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                               struct cudaGraphNodeParams *nodeParams)
{
    CUgraphNodeParams params;
    cudaError_t error = node_of(nodeParams, &params);
    if (error != cudaSuccess) return error;
    return runtime_error(cuGraphExecNodeSetParams(graphExec, node, &params));
}
