/* Memory: allocation, pointer attributes, hints, pools. */
#include "emulator/runtime/runtime.h"

#include <string.h>

/* ---- device memory --------------------------------------------------------------------------- */

/* Unlike the driver, the runtime accepts an allocation of size 0 and returns NULL. */
cudaError_t runtime_cudaMalloc(void **devPtr, size_t size)
{
    CUdeviceptr address = 0;
    if (devPtr == NULL) return cudaErrorInvalidValue;
    CUresult result = size > 0 ? cuMemAlloc(&address, size) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS) *devPtr = (void *)address;
    return runtime_error(result);
}

cudaError_t runtime_cudaFree(void *devPtr)
{
    return runtime_error(cuMemFree((CUdeviceptr)devPtr));
}

/* ---- between processes: both APIs have one layout of handles ----------------------------------
 */

_Static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(CUipcMemHandle), "one layout");
_Static_assert(sizeof(cudaIpcEventHandle_t) == sizeof(CUipcEventHandle), "one layout");

cudaError_t runtime_cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *devPtr)
{
    return runtime_error(cuIpcGetMemHandle((CUipcMemHandle *)handle, (CUdeviceptr)devPtr));
}

cudaError_t runtime_cudaIpcOpenMemHandle(void **devPtr, cudaIpcMemHandle_t handle,
                                         unsigned int flags)
{
    CUdeviceptr address = 0;
    CUipcMemHandle same;
    memcpy(&same, &handle, sizeof same);
    if (devPtr == NULL) return cudaErrorInvalidValue;
    const cudaError_t error = runtime_error(cuIpcOpenMemHandle(&address, same, flags));
    if (error == cudaSuccess) *devPtr = (void *)address;
    return error;
}

cudaError_t runtime_cudaIpcCloseMemHandle(void *devPtr)
{
    return runtime_error(cuIpcCloseMemHandle((CUdeviceptr)devPtr));
}

cudaError_t runtime_cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event)
{
    return runtime_error(cuIpcGetEventHandle((CUipcEventHandle *)handle, event));
}

cudaError_t runtime_cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
    CUipcEventHandle same;
    memcpy(&same, &handle, sizeof same);
    return runtime_error(cuIpcOpenEventHandle(event, same));
}

/* ---- pitched memory -------------------------------------------------------------------------- */

static cudaError_t allocate_pitched(void **devPtr, size_t *pitch, size_t width, size_t rows)
{
    enum { WIDEST_ELEMENT = 16 };
    CUdeviceptr address = 0;
    size_t row_bytes = 0;
    CUresult result = CUDA_SUCCESS;
    if (width > 0 && rows > 0)
        result = cuMemAllocPitch(&address, &row_bytes, width, rows, WIDEST_ELEMENT);
    if (result != CUDA_SUCCESS) return runtime_error(result);
    *devPtr = (void *)address;
    *pitch = row_bytes;
    return cudaSuccess;
}

cudaError_t runtime_cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height)
{
    if (devPtr == NULL || pitch == NULL) return cudaErrorInvalidValue;
    return allocate_pitched(devPtr, pitch, width, height);
}

cudaError_t runtime_cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent)
{
    size_t rows;
    if (pitchedDevPtr == NULL) return cudaErrorInvalidValue;
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows))
        return cudaErrorMemoryAllocation;
    pitchedDevPtr->xsize = extent.width;
    pitchedDevPtr->ysize = extent.height;
    return allocate_pitched(&pitchedDevPtr->ptr, &pitchedDevPtr->pitch, extent.width, rows);
}

cudaError_t runtime_cudaMallocManaged(void **devPtr, size_t size, unsigned int flags)
{
    CUdeviceptr address = 0;
    if (devPtr == NULL) return cudaErrorInvalidValue;
    CUresult result = size > 0 ? cuMemAllocManaged(&address, size, flags) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS) *devPtr = (void *)address;
    return runtime_error(result);
}

cudaError_t runtime_cudaMemGetInfo(size_t *free, size_t *total)
{
    return runtime_error(cuMemGetInfo(free, total));
}

/* ---- pinned host memory ---------------------------------------------------------------------- */

static cudaError_t allocate_host(void **pointer, size_t size, unsigned flags)
{
    void *address = NULL;
    if (pointer == NULL) return cudaErrorInvalidValue;
    CUresult result = size > 0 ? cuMemHostAlloc(&address, size, flags) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS) *pointer = address;
    return runtime_error(result);
}

cudaError_t runtime_cudaMallocHost(void **ptr, size_t size)
{
    return allocate_host(ptr, size, cudaHostAllocDefault);
}

/* The flags have the same values in both APIs. */
cudaError_t runtime_cudaHostAlloc(void **pHost, size_t size, unsigned int flags)
{
    return allocate_host(pHost, size, flags);
}

cudaError_t runtime_cudaFreeHost(void *ptr)
{
    return runtime_error(cuMemFreeHost(ptr));
}

cudaError_t runtime_cudaHostRegister(void *ptr, size_t size, unsigned int flags)
{
    return runtime_error(cuMemHostRegister(ptr, size, flags));
}

cudaError_t runtime_cudaHostUnregister(void *ptr)
{
    return runtime_error(cuMemHostUnregister(ptr));
}

cudaError_t runtime_cudaHostGetDevicePointer(void **pDevice, void *pHost, unsigned int flags)
{
    CUdeviceptr address = 0;
    if (pDevice == NULL) return cudaErrorInvalidValue;
    CUresult result = cuMemHostGetDevicePointer(&address, pHost, flags);
    if (result == CUDA_SUCCESS) *pDevice = (void *)address;
    return runtime_error(result);
}

cudaError_t runtime_cudaHostGetFlags(unsigned int *pFlags, void *pHost)
{
    return runtime_error(cuMemHostGetFlags(pFlags, pHost));
}

/* ---- pointer attributes ---------------------------------------------------------------------- */

cudaError_t runtime_cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
                                             const void *ptr)
{
    CUmemorytype type = 0;
    CUdeviceptr device_pointer = 0;
    void *host_pointer = NULL;
    int managed = 0, device = 0;
    CUpointer_attribute wanted[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
        CU_POINTER_ATTRIBUTE_HOST_POINTER, CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *answers[] = {&type, &device_pointer, &host_pointer, &managed, &device};

    if (attributes == NULL) return cudaErrorInvalidValue;
    CUresult result = CUDA_SUCCESS; /* a NULL pointer, which the driver refuses, is treated as an
                                       unknown address */
    if (ptr != NULL)
        result = cuPointerGetAttributes(sizeof wanted / sizeof *wanted, wanted, answers,
                                        (CUdeviceptr)ptr);
    if (result != CUDA_SUCCESS) return runtime_error(result);
    *attributes = (struct cudaPointerAttributes){
        .device = device, .devicePointer = (void *)device_pointer, .hostPointer = host_pointer};
    if (type == 0) { /* memory unknown to CUDA: ordinary host memory */
        attributes->type = cudaMemoryTypeUnregistered;
        attributes->device = cudaInvalidDeviceId;
        attributes->devicePointer = NULL;
        attributes->hostPointer = (void *)ptr;
    } else {
        attributes->type = managed                      ? cudaMemoryTypeManaged
                           : type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost
                                                        : cudaMemoryTypeDevice;
    }
    return cudaSuccess;
}

/* ---- hints about managed memory -------------------------------------------------------------- */

/* Location types and advice have the same numbers in both APIs. */
static CUmemLocation location_of(struct cudaMemLocation location)
{
    return (CUmemLocation){.type = (CUmemLocationType)location.type, .id = location.id};
}

cudaError_t runtime_cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
                                  struct cudaMemLocation location)
{
    return runtime_error(
        cuMemAdvise((CUdeviceptr)devPtr, count, (CUmem_advise)advice, location_of(location)));
}

cudaError_t runtime_cudaMemPrefetchAsync(const void *devPtr, size_t count,
                                         struct cudaMemLocation location, unsigned int flags,
                                         cudaStream_t stream)
{
    return runtime_error(cuMemPrefetchAsync((CUdeviceptr)devPtr, count, location_of(location),
                                            flags, runtime_stream(stream)));
}

cudaError_t runtime_cudaMemRangeGetAttribute(void *data, size_t dataSize,
                                             enum cudaMemRangeAttribute attribute,
                                             const void *devPtr, size_t count)
{
    return runtime_error(cuMemRangeGetAttribute(data, dataSize, (CUmem_range_attribute)attribute,
                                                (CUdeviceptr)devPtr, count));
}

cudaError_t runtime_cudaMemRangeGetAttributes(void **data, size_t *dataSizes,
                                              enum cudaMemRangeAttribute *attributes,
                                              size_t numAttributes, const void *devPtr,
                                              size_t count)
{
    return runtime_error(cuMemRangeGetAttributes(data, dataSizes,
                                                 (CUmem_range_attribute *)attributes, numAttributes,
                                                 (CUdeviceptr)devPtr, count));
}

cudaError_t runtime_cudaStreamAttachMemAsync(cudaStream_t stream, void *devPtr, size_t length,
                                             unsigned int flags)
{
    return runtime_error(
        cuStreamAttachMemAsync(runtime_stream(stream), (CUdeviceptr)devPtr, length, flags));
}

/* ---- stream-ordered memory and pools --------------------------------------------------------- */

cudaError_t runtime_cudaMallocAsync(void **devPtr, size_t size, cudaStream_t hStream)
{
    CUdeviceptr address = 0;
    if (devPtr == NULL) return cudaErrorInvalidValue;
    CUresult result =
        size > 0 ? cuMemAllocAsync(&address, size, runtime_stream(hStream)) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS) *devPtr = (void *)address;
    return runtime_error(result);
}

cudaError_t runtime_cudaFreeAsync(void *devPtr, cudaStream_t hStream)
{
    if (devPtr == NULL) return cudaSuccess;
    return runtime_error(cuMemFreeAsync((CUdeviceptr)devPtr, runtime_stream(hStream)));
}

cudaError_t runtime_cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t memPool,
                                            cudaStream_t stream)
{
    CUdeviceptr address = 0;
    if (ptr == NULL) return cudaErrorInvalidValue;
    CUresult result = cuMemAllocFromPoolAsync(&address, size, memPool, runtime_stream(stream));
    if (result == CUDA_SUCCESS) *ptr = (void *)address;
    return runtime_error(result);
}

cudaError_t runtime_cudaDeviceGetDefaultMemPool(cudaMemPool_t *memPool, int device)
{
    return runtime_error(cuDeviceGetDefaultMemPool(memPool, device));
}

cudaError_t runtime_cudaDeviceGetMemPool(cudaMemPool_t *memPool, int device)
{
    return runtime_error(cuDeviceGetMemPool(memPool, device));
}

cudaError_t runtime_cudaDeviceSetMemPool(int device, cudaMemPool_t memPool)
{
    return runtime_error(cuDeviceSetMemPool(device, memPool));
}

cudaError_t runtime_cudaMemPoolCreate(cudaMemPool_t *memPool,
                                      const struct cudaMemPoolProps *poolProps)
{
    if (memPool == NULL || poolProps == NULL) return cudaErrorInvalidValue;
    CUmemPoolProps properties = {
        .allocType = (CUmemAllocationType)poolProps->allocType,
        .handleTypes = (CUmemAllocationHandleType)poolProps->handleTypes,
        .location = location_of(poolProps->location),
        .win32SecurityAttributes = poolProps->win32SecurityAttributes,
        .maxSize = poolProps->maxSize,
        .usage = poolProps->usage,
    };
    _Static_assert(sizeof properties.reserved == sizeof poolProps->reserved, "the same in both");
    memcpy(properties.reserved, poolProps->reserved, sizeof properties.reserved);
    return runtime_error(cuMemPoolCreate(memPool, &properties));
}

cudaError_t runtime_cudaMemPoolExportToShareableHandle(void *shareableHandle, cudaMemPool_t memPool,
                                                       enum cudaMemAllocationHandleType handleType,
                                                       unsigned int flags)
{
    return runtime_error(cuMemPoolExportToShareableHandle(
        shareableHandle, memPool, (CUmemAllocationHandleType)handleType, flags));
}

cudaError_t runtime_cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData *exportData, void *ptr)
{
    return runtime_error(
        cuMemPoolExportPointer((CUmemPoolPtrExportData *)exportData, (CUdeviceptr)ptr));
}

cudaError_t runtime_cudaMemPoolDestroy(cudaMemPool_t memPool)
{
    return runtime_error(cuMemPoolDestroy(memPool));
}

cudaError_t runtime_cudaMemPoolSetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr,
                                            void *value)
{
    return runtime_error(cuMemPoolSetAttribute(memPool, (CUmemPool_attribute)attr, value));
}

cudaError_t runtime_cudaMemPoolGetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr,
                                            void *value)
{
    return runtime_error(cuMemPoolGetAttribute(memPool, (CUmemPool_attribute)attr, value));
}

cudaError_t runtime_cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep)
{
    return runtime_error(cuMemPoolTrimTo(memPool, minBytesToKeep));
}

cudaError_t runtime_cudaMemPoolSetAccess(cudaMemPool_t memPool,
                                         const struct cudaMemAccessDesc *descList, size_t count)
{
    CUmemAccessDesc access;
    CUresult result = CUDA_SUCCESS;
    if (count > 0 && descList == NULL) return cudaErrorInvalidValue;
    for (size_t i = 0; result == CUDA_SUCCESS && i < count; i++) {
        access = (CUmemAccessDesc){.location = location_of(descList[i].location),
                                   .flags = (CUmemAccess_flags)descList[i].flags};
        result = cuMemPoolSetAccess(memPool, &access, 1);
    }
    return runtime_error(result);
}

cudaError_t runtime_cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t memPool,
                                         struct cudaMemLocation *location)
{
    CUmemAccess_flags access = 0;
    if (flags == NULL || location == NULL) return cudaErrorInvalidValue;
    CUmemLocation where = location_of(*location);
    CUresult result = cuMemPoolGetAccess(&access, memPool, &where);
    if (result == CUDA_SUCCESS) *flags = (enum cudaMemAccessFlags)access;
    return runtime_error(result);
}
