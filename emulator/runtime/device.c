/* Devices: number, properties, and the thread's device. */
#include "emulator/driver/driver.h"
#include "emulator/runtime/runtime.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

cudaError_t runtime_cudaDriverGetVersion(int *driverVersion)
{
    return runtime_error(cuDriverGetVersion(driverVersion));
}

cudaError_t runtime_cudaRuntimeGetVersion(int *runtimeVersion)
{
    if (runtimeVersion == NULL) return cudaErrorInvalidValue;
    *runtimeVersion = RUNTIME_VERSION;
    return cudaSuccess;
}

/* ---- properties ------------------------------------------------------------------------------ */

/* Read when the runtime starts. A forked child, which has no driver, is told the same. */
static struct {
    runtime_properties *list;
    int count;
} known;

cudaError_t runtime_cudaGetDeviceCount(int *count)
{
    if (count == NULL) return cudaErrorInvalidValue;
    *count = known.count;
    return cudaSuccess;
}

static const struct property {
    size_t offset;
    size_t size; /* size of the field: an int or a size_t */
    CUdevice_attribute attribute;
} properties[] = {
#define PROPERTY(field, attribute)                                                                 \
    {offsetof(runtime_properties, field), sizeof(((runtime_properties *)NULL)->field),             \
     CU_DEVICE_ATTRIBUTE_##attribute},
#include "emulator/runtime/properties.def"
#undef PROPERTY
};

static CUresult read_properties(runtime_properties *prop, int device)
{
    CUdevice handle;
    CUuuid uuid;
    CUresult result = cuDeviceGet(&handle, device);
    if (result != CUDA_SUCCESS) return result;

    *prop = (runtime_properties){0};
    result = cuDeviceGetName(prop->name, sizeof prop->name, handle);
    if (result == CUDA_SUCCESS) result = cuDeviceTotalMem(&prop->totalGlobalMem, handle);
    if (result == CUDA_SUCCESS) result = cuDeviceGetUuid(&uuid, handle);
    if (result == CUDA_SUCCESS) memcpy(&prop->uuid, &uuid, sizeof prop->uuid);
    for (size_t i = 0; result == CUDA_SUCCESS && i < sizeof properties / sizeof *properties; i++) {
        int value = 0;
        result = cuDeviceGetAttribute(&value, properties[i].attribute, handle);
        size_t wide = (size_t)value;
        memcpy((char *)prop + properties[i].offset,
               properties[i].size == sizeof wide ? (void *)&wide : (void *)&value,
               properties[i].size);
    }
    return result;
}

CUresult runtime_know_devices(void)
{
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    int count = 0;
    pthread_mutex_lock(&once);
    CUresult result = known.list == NULL ? cuDeviceGetCount(&count) : CUDA_SUCCESS;
    runtime_properties *list = count > 0 ? calloc((size_t)count, sizeof *list) : NULL;
    if (count > 0 && list == NULL) result = CUDA_ERROR_OUT_OF_MEMORY;
    for (int i = 0; i < count && result == CUDA_SUCCESS; i++) result = read_properties(&list[i], i);
    if (result == CUDA_SUCCESS && list != NULL) {
        known.list = list;
        known.count = count;
    } else {
        free(list);
    }
    pthread_mutex_unlock(&once);
    return result;
}

cudaError_t runtime_cudaGetDeviceProperties(runtime_properties *prop, int device)
{
    if (prop == NULL) return cudaErrorInvalidValue;
    if (device < 0 || device >= known.count) return cudaErrorInvalidDevice;
    *prop = known.list[device];
    return cudaSuccess;
}

/* Attributes have the same numbers in both APIs. */
cudaError_t runtime_cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
    CUdevice handle;
    CUresult result = cuDeviceGet(&handle, device);
    if (result == CUDA_SUCCESS)
        result = cuDeviceGetAttribute(value, (CUdevice_attribute)attr, handle);
    return runtime_error(result);
}

cudaError_t runtime_cudaDeviceGetByPCIBusId(int *device, const char *pciBusId)
{
    return runtime_error(cuDeviceGetByPCIBusId(device, pciBusId));
}

cudaError_t runtime_cudaDeviceGetPCIBusId(char *pciBusId, int len, int device)
{
    CUdevice handle;
    CUresult result = cuDeviceGet(&handle, device);
    if (result == CUDA_SUCCESS) result = cuDeviceGetPCIBusId(pciBusId, len, handle);
    return runtime_error(result);
}

/* ---- choosing a device ----------------------------------------------------------------------- */

static size_t value_of(const runtime_properties *prop, const struct property *property)
{
    const char *field = (const char *)prop + property->offset;
    size_t wide = 0;
    int narrow = 0;
    memcpy(property->size == sizeof wide ? (void *)&wide : (void *)&narrow, field, property->size);
    return property->size == sizeof wide ? wide : (size_t)narrow;
}

/* How many of the properties that are asked for (not zero) a device has, or more of them. A minor
 * version means something only with its major version. */
static unsigned met(const runtime_properties *asked, const runtime_properties *device)
{
    enum { MINORS = 100 };
    unsigned count = asked->totalGlobalMem > 0 && device->totalGlobalMem >= asked->totalGlobalMem;
    count += asked->major > 0 &&
             device->major * MINORS + device->minor >= asked->major * MINORS + asked->minor;
    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
        const struct property *property = &properties[i];
        if (property->attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ||
            property->attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
            continue;
        const size_t wanted = value_of(asked, property);
        count += wanted > 0 && value_of(device, property) >= wanted;
    }
    return count;
}

/* "The device which has properties that best match *prop": the one that meets most of them, and the
 * first of several such. CUDA says no more. */
cudaError_t runtime_cudaChooseDevice(int *device, const runtime_properties *prop)
{
    runtime_properties here;
    unsigned most = 0;
    int count = 0;
    if (device == NULL || prop == NULL) return cudaErrorInvalidValue;
    cudaError_t error = runtime_cudaGetDeviceCount(&count);
    if (error == cudaSuccess) *device = 0;
    for (int k = 0; error == cudaSuccess && k < count; k++) {
        error = runtime_cudaGetDeviceProperties(&here, k);
        const unsigned these = error == cudaSuccess ? met(prop, &here) : 0;
        if (these <= most) continue;
        most = these;
        *device = k;
    }
    return error;
}

cudaError_t runtime_cudaGetDevice(int *device)
{
    if (device == NULL) return cudaErrorInvalidValue;
    *device = runtime_device();
    return cudaSuccess;
}

cudaError_t runtime_cudaSetDevice(int device)
{
    return runtime_use_device(device);
}

cudaError_t runtime_cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags)
{
    CUdevice handle;
    CUresult result = cuDeviceGet(&handle, device);
    if (result != CUDA_SUCCESS) return runtime_error(result);
    if ((flags & cudaInitDeviceFlagsAreValid) == 0) return runtime_start_device(device);
    CUcontext current;
    result = cuDevicePrimaryCtxSetFlags(handle, deviceFlags & ~(unsigned)cudaDeviceMapHost);
    if (result == CUDA_SUCCESS) result = cuCtxGetCurrent(&current);
    if (result != CUDA_SUCCESS) return runtime_error(result);

    /* Initialises the device, then restores the thread's own device. */
    int before = runtime_device();
    cudaError_t error = runtime_use_device(device);
    if (error == cudaSuccess && before != device) error = runtime_use_device(before);
    if (error == cudaSuccess && current != NULL) error = runtime_error(cuCtxSetCurrent(current));
    return error;
}

cudaError_t runtime_cudaSetValidDevices(int *device_arr, int len)
{
    int count;
    CUresult result = cuDeviceGetCount(&count);
    if (result != CUDA_SUCCESS) return runtime_error(result);
    if (len < 0 || len > count || (len > 0 && device_arr == NULL)) return cudaErrorInvalidValue;
    for (int i = 0; i < len; i++)
        if (device_arr[i] < 0 || device_arr[i] >= count) return cudaErrorInvalidDevice;
    /* All devices work. The list is the calling thread's (tests/gpu/valid_devices.cu). */
    runtime_prefer_device(len > 0 ? device_arr[0] : 0);
    return cudaSuccess;
}

cudaError_t runtime_cudaSetDeviceFlags(unsigned int flags)
{
    const int device = runtime_device();
    CUcontext current = NULL;
    CUresult result = cuDevicePrimaryCtxSetFlags(device, flags & ~(unsigned)cudaDeviceMapHost);
    if (result == CUDA_SUCCESS) result = cuCtxGetCurrent(&current);
    if (result != CUDA_SUCCESS || current != NULL) return runtime_error(result);
    return runtime_use_device(device); /* a device that has not started yet starts with the flags */
}

cudaError_t runtime_cudaGetDeviceFlags(unsigned int *flags)
{
    CUcontext current;
    int active;
    if (flags == NULL) return cudaErrorInvalidValue;
    CUresult result = cuCtxGetCurrent(&current);
    if (result == CUDA_SUCCESS)
        result = current != NULL ? cuCtxGetFlags(flags)
                                 : cuDevicePrimaryCtxGetState(runtime_device(), flags, &active);
    if (result == CUDA_SUCCESS) {
        *flags &= ~(unsigned)(CU_CTX_COREDUMP_ENABLE | CU_CTX_USER_COREDUMP_ENABLE);
        /* Always possible and always reported, but of a context that cudaDeviceReset has ended. */
        if (!runtime_is_reset(current)) *flags |= cudaDeviceMapHost;
    }
    return runtime_error(result);
}

cudaError_t runtime_cudaDeviceReset(void)
{
    return runtime_reset_device(runtime_device());
}

/* ---- the current device ---------------------------------------------------------------------- */

cudaError_t runtime_cudaDeviceSynchronize(void)
{
    return runtime_error(cuCtxSynchronize());
}

/* Limits, cache and bank configurations have the same numbers in both APIs. */
cudaError_t runtime_cudaDeviceGetLimit(size_t *pValue, enum cudaLimit limit)
{
    return runtime_error(cuCtxGetLimit(pValue, (CUlimit)limit));
}

cudaError_t runtime_cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    return runtime_error(cuCtxSetLimit((CUlimit)limit, value));
}

cudaError_t runtime_cudaDeviceGetCacheConfig(enum cudaFuncCache *pCacheConfig)
{
    CUfunc_cache config = CU_FUNC_CACHE_PREFER_NONE;
    if (pCacheConfig == NULL) return cudaErrorInvalidValue;
    CUresult result = cuCtxGetCacheConfig(&config);
    *pCacheConfig = (enum cudaFuncCache)config;
    return runtime_error(result);
}

cudaError_t runtime_cudaDeviceSetCacheConfig(enum cudaFuncCache cacheConfig)
{
    return runtime_error(cuCtxSetCacheConfig((CUfunc_cache)cacheConfig));
}

cudaError_t runtime_cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *pConfig)
{
    CUsharedconfig config = CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE;
    if (pConfig == NULL) return cudaErrorInvalidValue;
    CUresult result = cuCtxGetSharedMemConfig(&config);
    *pConfig = (enum cudaSharedMemConfig)config;
    return runtime_error(result);
}

cudaError_t runtime_cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    return runtime_error(cuCtxSetSharedMemConfig((CUsharedconfig)config));
}

cudaError_t runtime_cudaDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    return runtime_error(cuCtxGetStreamPriorityRange(leastPriority, greatestPriority));
}

cudaError_t runtime_cudaCtxResetPersistingL2Cache(void)
{
    return runtime_error(cuCtxResetPersistingL2Cache());
}

cudaError_t runtime_cudaProfilerStart(void)
{
    return runtime_error(cuProfilerStart());
}

cudaError_t runtime_cudaProfilerStop(void)
{
    return runtime_error(cuProfilerStop());
}

/* ---- peers ----------------------------------------------------------------------------------- */

cudaError_t runtime_cudaDeviceCanAccessPeer(int *canAccessPeer, int device, int peerDevice)
{
    return runtime_error(cuDeviceCanAccessPeer(canAccessPeer, device, peerDevice));
}

cudaError_t runtime_cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attr,
                                              int srcDevice, int dstDevice)
{
    return runtime_error(
        cuDeviceGetP2PAttribute(value, (CUdevice_P2PAttribute)attr, srcDevice, dstDevice));
}

cudaError_t runtime_cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags)
{
    CUcontext peer;
    CUdevice handle;
    if (flags != 0) return cudaErrorInvalidValue;
    CUresult result = cuDeviceGet(&handle, peerDevice);
    if (result == CUDA_SUCCESS) result = runtime_primary(peerDevice, true, &peer);
    return runtime_error(result == CUDA_SUCCESS ? cuCtxEnablePeerAccess(peer, 0) : result);
}

cudaError_t runtime_cudaDeviceDisablePeerAccess(int peerDevice)
{
    CUcontext peer;
    CUdevice handle;
    CUresult result = cuDeviceGet(&handle, peerDevice);
    if (result == CUDA_SUCCESS) result = runtime_primary(peerDevice, false, &peer);
    if (result == CUDA_SUCCESS && peer == NULL) return cudaErrorPeerAccessNotEnabled;
    return runtime_error(result == CUDA_SUCCESS ? cuCtxDisablePeerAccess(peer) : result);
}

/* ---- entry points of the driver -------------------------------------------------------------- */

cudaError_t
runtime_cudaGetDriverEntryPointByVersion(const char *symbol, void **funcPtr,
                                         unsigned int cudaVersion, unsigned long long flags,
                                         enum cudaDriverEntryPointQueryResult *driverStatus)
{
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    if (symbol == NULL || funcPtr == NULL) return cudaErrorInvalidValue;
    if (flags == cudaEnableDefault && runtime_per_thread())
        flags = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    CUresult result = cuGetProcAddress(symbol, funcPtr, (int)cudaVersion, flags, &status);
    if (driverStatus != NULL && result == CUDA_SUCCESS)
        *driverStatus = (enum cudaDriverEntryPointQueryResult)status;
    return runtime_error(result);
}

cudaError_t runtime_cudaGetDriverEntryPoint(const char *symbol, void **funcPtr,
                                            unsigned long long flags,
                                            enum cudaDriverEntryPointQueryResult *driverStatus)
{
    return runtime_cudaGetDriverEntryPointByVersion(symbol, funcPtr, RUNTIME_VERSION, flags,
                                                    driverStatus);
}

/* ---- channel descriptions -------------------------------------------------------------------- */

RUNTIME_EXPORT struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                                  enum cudaChannelFormatKind f)
{
    return (struct cudaChannelFormatDesc){.x = x, .y = y, .z = z, .w = w, .f = f};
}
