/* variant: device memory and the wait are the driver's, found through the runtime
 * orders: 3
 */
#include "lesson.h"

#include <cudaTypedefs.h>
#include <stdint.h>
#include <string.h>

/* The runtime numbers its errors like the driver. */
#define AS_RUNTIME(result) ((cudaError_t)(result))

struct driver {
    PFN_cuMemAlloc_v3020 allocate;
    PFN_cuMemFree_v3020 release;
    PFN_cuStreamSynchronize_v2000 wait;
};

static cudaError_t look_up(const char *name, void *function)
{
    void *entry = NULL;
    enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    cudaError_t error =
        cudaGetDriverEntryPointByVersion(name, &entry, 12000, cudaEnableLegacyStream, &found);
    if (error) return error;
    if (found != cudaDriverEntryPointSuccess || !entry) return cudaErrorNotSupported;
    memcpy(function, &entry, sizeof entry);
    return cudaSuccess;
}

static cudaError_t load(struct driver *driver)
{
    cudaError_t error = look_up("cuMemAlloc", &driver->allocate);
    if (!error) error = look_up("cuMemFree", &driver->release);
    if (!error) error = look_up("cuStreamSynchronize", &driver->wait);
    return error;
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    *sum = 0.0;
    if (length == 0) return cudaSuccess;
    if (length > SIZE_MAX / sizeof(float)) return cudaErrorMemoryAllocation;

    /* The driver works in the current context: make sure that it is the runtime's. */
    int ordinal;
    cudaError_t error = cudaGetDevice(&ordinal);
    if (!error) error = cudaSetDevice(ordinal);
    struct driver driver = {0};
    if (!error) error = load(&driver);
    if (error) return error;

    const size_t bytes = length * sizeof(float);
    CUdeviceptr memory = 0;
    error = AS_RUNTIME(driver.allocate(&memory, bytes));
    if (error) return error;
    float *device = (float *)(uintptr_t)memory;

    error = cudaMemcpyAsync(device, input, bytes, cudaMemcpyHostToDevice, stream);
    if (!error) error = kernel(device, length, stream);
    if (!error) error = cudaMemcpyAsync(output, device, bytes, cudaMemcpyDeviceToHost, stream);

    cudaError_t waited = AS_RUNTIME(driver.wait(stream));
    if (waited) (void)cudaDeviceSynchronize();
    if (!error) error = waited;

    if (!error) {
        double total = 0.0;
        for (size_t i = 0; i < length; i++) total += output[i];
        *sum = total;
    }

    cudaError_t released = AS_RUNTIME(driver.release(memory));
    return error ? error : released;
}
