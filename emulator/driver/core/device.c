/* The device: there is one, number 0. */
#include "emulator/driver/core/core.h"
#include "emulator/timeline/model.h"

#include <stdio.h>
#include <string.h>

static const char device_name[] = "Overlap software device";
static const char device_bus[] = "0000:01:00.0";
static const CUuuid device_uuid = {
    {0x4f, 0x76, 0x65, 0x72, 0x6c, 0x61, 0x70, 0x00, 'd', 'e', 'v', 'i', 'c', 'e', ' ', '0'}};

static const struct {
    int attribute, value;
} attributes[] = {
#define ATTRIBUTE(name, value) {CU_DEVICE_ATTRIBUTE_##name, value},
#include "emulator/driver/core/attributes.def"
#undef ATTRIBUTE
};

CUresult driver_cuDeviceGet(CUdevice *device, int ordinal)
{
    NEED_POINTER(device);
    NEED_DEVICE(ordinal);
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult driver_cuDeviceGetCount(int *count)
{
    NEED_POINTER(count);
    *count = 1;
    return CUDA_SUCCESS;
}

CUresult driver_cuDeviceGetName(char *name, int len, CUdevice dev)
{
    NEED_POINTER(name);
    NEED_DEVICE(dev);
    if (len < 1) return CUDA_ERROR_INVALID_VALUE;
    snprintf(name, (size_t)len, "%s", device_name);
    return CUDA_SUCCESS;
}

CUresult driver_cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
    NEED_POINTER(uuid);
    NEED_DEVICE(dev);
    *uuid = device_uuid;
    return CUDA_SUCCESS;
}

CUresult driver_cuDeviceGetLuid(char *luid, unsigned int *deviceNodeMask, CUdevice dev)
{
    (void)luid;
    (void)deviceNodeMask;
    NEED_DEVICE(dev);
    return CUDA_ERROR_NOT_SUPPORTED; /* Windows only */
}

CUresult driver_cuDeviceTotalMem(size_t *bytes, CUdevice dev)
{
    NEED_POINTER(bytes);
    NEED_DEVICE(dev);
    *bytes = (size_t)memory_limit();
    return CUDA_SUCCESS;
}

CUresult driver_cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
    NEED_POINTER(pi);
    NEED_DEVICE(dev);
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        if (attributes[i].attribute != (int)attrib) continue;
        *pi = attrib == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
                  ? (int)timeline_model->multiprocessors
                  : attributes[i].value;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult driver_cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
    NEED_POINTER(major);
    NEED_POINTER(minor);
    TRY(driver_cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, dev));
    return driver_cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, dev);
}

CUresult driver_cuDeviceGetProperties(CUdevprop *prop, CUdevice dev)
{
    NEED_POINTER(prop);
    NEED_DEVICE(dev);
    const struct {
        int *field;
        CUdevice_attribute attribute;
    } rows[] = {
        {&prop->maxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
        {&prop->maxThreadsDim[0], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X},
        {&prop->maxThreadsDim[1], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y},
        {&prop->maxThreadsDim[2], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z},
        {&prop->maxGridSize[0], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X},
        {&prop->maxGridSize[1], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y},
        {&prop->maxGridSize[2], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z},
        {&prop->sharedMemPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK},
        {&prop->totalConstantMemory, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY},
        {&prop->SIMDWidth, CU_DEVICE_ATTRIBUTE_WARP_SIZE},
        {&prop->memPitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH},
        {&prop->regsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK},
        {&prop->clockRate, CU_DEVICE_ATTRIBUTE_CLOCK_RATE},
        {&prop->textureAlign, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        TRY(driver_cuDeviceGetAttribute(rows[i].field, rows[i].attribute, dev));
    return CUDA_SUCCESS;
}

CUresult driver_cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId)
{
    unsigned domain = 0, bus = 0, device = 0, function = 0;
    NEED_POINTER(dev);
    NEED_POINTER(pciBusId);
    /* The three forms of the documentation: with domain and function, with domain, with neither. */
    bool read = sscanf(pciBusId, "%x:%x:%x.%x", &domain, &bus, &device, &function) >= 3 ||
                (domain = 0, sscanf(pciBusId, "%x:%x.%x", &bus, &device, &function) >= 2);
    if (!read || domain != 0 || bus != 1 || device != 0) return CUDA_ERROR_INVALID_DEVICE;
    *dev = 0;
    return CUDA_SUCCESS;
}

CUresult driver_cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)
{
    NEED_POINTER(pciBusId);
    NEED_DEVICE(dev);
    if (len < 1) return CUDA_ERROR_INVALID_VALUE;
    snprintf(pciBusId, (size_t)len, "%s", device_bus);
    return CUDA_SUCCESS;
}

CUresult driver_cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
{
    NEED_POINTER(canAccessPeer);
    NEED_DEVICE(dev);
    NEED_DEVICE(peerDev);
    *canAccessPeer = 0; /* a device is no peer of itself */
    return CUDA_SUCCESS;
}

CUresult driver_cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib,
                                        CUdevice srcDevice, CUdevice dstDevice)
{
    (void)attrib;
    NEED_POINTER(value);
    NEED_DEVICE(srcDevice);
    NEED_DEVICE(dstDevice);
    return CUDA_ERROR_INVALID_DEVICE; /* the devices must differ */
}

CUresult driver_cuDeviceGetExecAffinitySupport(int *pi, CUexecAffinityType type, CUdevice dev)
{
    NEED_POINTER(pi);
    NEED_DEVICE(dev);
    if ((int)type < 0 || type >= CU_EXEC_AFFINITY_TYPE_MAX) return CUDA_ERROR_INVALID_VALUE;
    *pi = 0;
    return CUDA_SUCCESS;
}
