/* The lesson's task, done as it should be. */
static cudaError_t honest(device_sync_kernel kernel, const float *input, float *output,
                          size_t length, cudaStream_t stream, double *sum)
{
    float *device = NULL;
    *sum = 0.0;
    if (length == 0) return cudaSuccess;
    cudaError_t error = cudaMalloc((void **)&device, length * sizeof *device);
    if (error != cudaSuccess) return error;
    size_t bytes = length * sizeof *device;
    error = cudaMemcpyAsync(device, input, bytes, cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess) error = kernel(device, length, stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(output, device, bytes, cudaMemcpyDeviceToHost, stream);
    cudaError_t late = cudaStreamSynchronize(stream);
    if (error == cudaSuccess) error = late;
    if (error == cudaSuccess)
        for (size_t i = 0; i < length; i++) *sum += (double)output[i];
    late = cudaFree(device);
    return error != cudaSuccess ? error : late;
}
