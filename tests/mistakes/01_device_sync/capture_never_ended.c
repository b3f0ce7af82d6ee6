/* mistake: a capture is left open when one of its steps is refused
 * fails: DeviceSync.FailedCallsAreReturned
 * finds: nothing, the stream is left in a state that is no object
 */
#include "lesson.h"

#include <stdint.h>

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    *sum = 0.0;
    if (length == 0) return cudaSuccess;
    if (length > SIZE_MAX / sizeof(float)) return cudaErrorMemoryAllocation;

    const size_t bytes = length * sizeof(float);
    float *device = NULL;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t ready = NULL;
    cudaError_t late;

    cudaError_t error = cudaMalloc((void **)&device, bytes);
    if (error) return error;

    error = cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    if (error) goto release;
    error = cudaMemcpyAsync(device, input, bytes, cudaMemcpyHostToDevice, stream);
    if (!error) error = kernel(device, length, stream);
    if (!error) error = cudaMemcpyAsync(output, device, bytes, cudaMemcpyDeviceToHost, stream);
    if (error) goto release;
    error = cudaStreamEndCapture(stream, &graph);
    if (error) goto release;

    error = cudaGraphInstantiate(&ready, graph, 0);
    if (error) goto release;
    error = cudaGraphLaunch(ready, stream);
    late = cudaStreamSynchronize(stream);
    if (late) cudaDeviceSynchronize();
    if (!error) error = late;

    if (!error)
        for (size_t i = 0; i < length; i++) *sum += output[i];

release:
    if (ready) {
        late = cudaGraphExecDestroy(ready);
        if (!error) error = late;
    }
    if (graph) {
        late = cudaGraphDestroy(graph);
        if (!error) error = late;
    }
    late = cudaFree(device);
    return error ? error : late;
}
