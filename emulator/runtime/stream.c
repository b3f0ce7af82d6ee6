/* Streams and events: the driver's, under the runtime's names. */
#include "emulator/runtime/runtime.h"

/* ---- streams --------------------------------------------------------------------------------- */

cudaError_t runtime_cudaStreamCreate(cudaStream_t *pStream)
{
    return runtime_error(cuStreamCreate(pStream, CU_STREAM_DEFAULT));
}

cudaError_t runtime_cudaStreamCreateWithFlags(cudaStream_t *pStream, unsigned int flags)
{
    return runtime_error(cuStreamCreate(pStream, flags));
}

cudaError_t runtime_cudaStreamCreateWithPriority(cudaStream_t *pStream, unsigned int flags,
                                                 int priority)
{
    return runtime_error(cuStreamCreateWithPriority(pStream, flags, priority));
}

cudaError_t runtime_cudaStreamDestroy(cudaStream_t stream)
{
    return runtime_error(cuStreamDestroy(stream));
}

cudaError_t runtime_cudaStreamQuery(cudaStream_t stream)
{
    return runtime_error(cuStreamQuery(runtime_stream(stream)));
}

cudaError_t runtime_cudaStreamSynchronize(cudaStream_t stream)
{
    return runtime_error(cuStreamSynchronize(runtime_stream(stream)));
}

cudaError_t runtime_cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
    return runtime_error(cuStreamWaitEvent(runtime_stream(stream), event, flags));
}

/* A runtime callback differs from a driver callback only in the name of the error type; the values
 * are the same, so it is called as it is. */
cudaError_t runtime_cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                          void *userData, unsigned int flags)
{
    return runtime_error(cuStreamAddCallback(
        runtime_stream(stream), (CUstreamCallback)(void (*)(void))callback, userData, flags));
}

cudaError_t runtime_cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData)
{
    return runtime_error(cuLaunchHostFunc(runtime_stream(stream), fn, userData));
}

cudaError_t runtime_cudaStreamGetFlags(cudaStream_t hStream, unsigned int *flags)
{
    return runtime_error(cuStreamGetFlags(runtime_stream(hStream), flags));
}

cudaError_t runtime_cudaStreamGetPriority(cudaStream_t hStream, int *priority)
{
    return runtime_error(cuStreamGetPriority(runtime_stream(hStream), priority));
}

cudaError_t runtime_cudaStreamGetId(cudaStream_t hStream, unsigned long long *streamId)
{
    return runtime_error(cuStreamGetId(runtime_stream(hStream), streamId));
}

cudaError_t runtime_cudaStreamGetDevice(cudaStream_t hStream, int *device)
{
    return runtime_error(cuStreamGetDevice(runtime_stream(hStream), device));
}

/* Attributes and values have the same layout in both APIs: since CUDA 12 cuda.h and driver_types.h
 * declare the same unions. */
_Static_assert(sizeof(cudaLaunchAttributeValue) == sizeof(CUlaunchAttributeValue), "one layout");

cudaError_t runtime_cudaStreamGetAttribute(cudaStream_t hStream, cudaLaunchAttributeID attr,
                                           cudaLaunchAttributeValue *value_out)
{
    return runtime_error(cuStreamGetAttribute(runtime_stream(hStream), (CUstreamAttrID)attr,
                                              (CUstreamAttrValue *)value_out));
}

cudaError_t runtime_cudaStreamSetAttribute(cudaStream_t hStream, cudaLaunchAttributeID attr,
                                           const cudaLaunchAttributeValue *value)
{
    return runtime_error(cuStreamSetAttribute(runtime_stream(hStream), (CUstreamAttrID)attr,
                                              (const CUstreamAttrValue *)value));
}

cudaError_t runtime_cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src)
{
    return runtime_error(cuStreamCopyAttributes(runtime_stream(dst), runtime_stream(src)));
}

/* ---- events ---------------------------------------------------------------------------------- */

cudaError_t runtime_cudaEventCreate(cudaEvent_t *event)
{
    return runtime_error(cuEventCreate(event, CU_EVENT_DEFAULT));
}

cudaError_t runtime_cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    return runtime_error(cuEventCreate(event, flags));
}

cudaError_t runtime_cudaEventDestroy(cudaEvent_t event)
{
    return runtime_error(cuEventDestroy(event));
}

cudaError_t runtime_cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return runtime_error(cuEventRecord(event, runtime_stream(stream)));
}

cudaError_t runtime_cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                             unsigned int flags)
{
    return runtime_error(cuEventRecordWithFlags(event, runtime_stream(stream), flags));
}

cudaError_t runtime_cudaEventQuery(cudaEvent_t event)
{
    return runtime_error(cuEventQuery(event));
}

cudaError_t runtime_cudaEventSynchronize(cudaEvent_t event)
{
    return runtime_error(cuEventSynchronize(event));
}

cudaError_t runtime_cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    if (ms == NULL) return cudaErrorInvalidValue;
    return runtime_error(cuEventElapsedTime(ms, start, end));
}
