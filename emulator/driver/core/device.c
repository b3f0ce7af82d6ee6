/* Device queries: name, UUID, attributes, PCI address, links. */
#include "emulator/driver/core/core.h"

#include <stdio.h>
#include <string.h>

static const char device_name[] = "Overlap software device";
/* The UUID of device 0. The last byte counts up for the other devices. */
static const CUuuid device_uuid = {
    {0x4f, 0x76, 0x65, 0x72, 0x6c, 0x61, 0x70, 0x00, 'd', 'e', 'v', 'i', 'c', 'e', ' ', '0'}};

CUresult driver_cuDeviceGet(CUdevice *device, int ordinal)
{
    NEED_POINTER(device);
    NEED_DEVICE(ordinal);
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult driver_cuDeviceGetCount(int *count)
{
    NEED_POINTER(count);
    *count = devices_count();
    return CUDA_SUCCESS;
}

static void write_name(const struct device *device, char *name, size_t size)
{
    if (device->named)
        snprintf(name, size, "%s (%s)", device_name, timeline_model_name(device->gpu));
    else
        snprintf(name, size, "%s", device_name);
}

CUresult driver_cuDeviceGetName(char *name, int len, CUdevice dev)
{
    NEED_POINTER(name);
    NEED_DEVICE(dev);
    if (len < 1) return CUDA_ERROR_INVALID_VALUE;
    write_name(device_at(dev), name, (size_t)len);
    return CUDA_SUCCESS;
}

static CUuuid uuid_of(const struct device *device)
{
    CUuuid uuid = device_uuid;
    uuid.bytes[sizeof uuid.bytes - 1] += (char)device->number;
    return uuid;
}

CUresult driver_cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
    NEED_POINTER(uuid);
    NEED_DEVICE(dev);
    *uuid = uuid_of(device_at(dev));
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
    *bytes = (size_t)device_at(dev)->memory;
    return CUDA_SUCCESS;
}

CUresult driver_cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
    NEED_POINTER(pi);
    NEED_DEVICE(dev);
    return device_attribute(dev, (int)attrib, pi) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
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
    /* The three forms in CUDA's documentation: with domain and function, with domain, with
     * neither. */
    bool read = sscanf(pciBusId, "%x:%x:%x.%x", &domain, &bus, &device, &function) >= 3 ||
                (domain = 0, sscanf(pciBusId, "%x:%x.%x", &bus, &device, &function) >= 2);
    if (!read) return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; domain == 0 && device == 0 && i < devices_count(); i++) {
        if (device_at(i)->number + 1 != bus) continue;
        *dev = i;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_DEVICE;
}

CUresult driver_cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)
{
    NEED_POINTER(pciBusId);
    NEED_DEVICE(dev);
    if (len < (int)sizeof "0000:01:00.0") return CUDA_ERROR_INVALID_VALUE;
    snprintf(pciBusId, (size_t)len, "0000:%02x:00.0", device_at(dev)->number + 1);
    return CUDA_SUCCESS;
}

CUresult driver_cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
{
    NEED_POINTER(canAccessPeer);
    NEED_DEVICE(dev);
    NEED_DEVICE(peerDev);
    *canAccessPeer = device_link(dev, peerDev) != DEVICE_UNLINKED; /* never of itself */
    return CUDA_SUCCESS;
}

CUresult driver_cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib,
                                        CUdevice srcDevice, CUdevice dstDevice)
{
    NEED_POINTER(value);
    NEED_DEVICE(srcDevice);
    NEED_DEVICE(dstDevice);
    if (srcDevice == dstDevice) return CUDA_ERROR_INVALID_DEVICE;
    if ((int)attrib < CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK ||
        attrib > CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED)
        return CUDA_ERROR_INVALID_VALUE;
    const enum device_link link = device_link(srcDevice, dstDevice);
    *value = attrib == CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED ? link == DEVICE_NVLINK
             : attrib == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED ||
                     attrib == CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED
                 ? link != DEVICE_UNLINKED
                 : 0;
    return CUDA_SUCCESS;
}

CUresult driver_cuDeviceGetExecAffinitySupport(int *pi, CUexecAffinityType type, CUdevice dev)
{
    NEED_POINTER(pi);
    NEED_DEVICE(dev);
    if ((int)type < 0 || type >= CU_EXEC_AFFINITY_TYPE_MAX) return CUDA_ERROR_INVALID_VALUE;
    *pi = 0;
    return CUDA_SUCCESS;
}

/* ---- before CUDA begins ---------------------------------------------------------------------- */

static unsigned says(const struct device *device, CUdevice_attribute attribute)
{
    int value = 0;
    device_attribute_of(device, (int)attribute, &value);
    return (unsigned)value;
}

/* Bytes of the device's memory that this process has allocated. */
static uint64_t used_of(unsigned number)
{
    for (int i = 0; driver.initialised && !driver.forked && i < devices_count(); i++)
        if (device_at(i)->number == number) return memory_used((unsigned)i);
    return 0;
}

bool overlap_device(unsigned number, struct overlap_device *device)
{
    driver_lock();
    if (!driver.initialised) environment_read_devices();
    const struct device *there = device_there(number);
    if (there != NULL) {
        *device = (struct overlap_device){
            .bus = says(there, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
            .major = says(there, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
            .minor = says(there, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
            .multiprocessors = says(there, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
            .clock = says(there, CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
            .memory_clock = says(there, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE),
            .memory_width = says(there, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH),
            .ecc = says(there, CU_DEVICE_ATTRIBUTE_ECC_ENABLED) != 0,
            .memory = there->memory,
            .used = used_of(number)};
        const CUuuid uuid = uuid_of(there);
        memcpy(device->uuid, uuid.bytes, sizeof device->uuid);
        write_name(there, device->name, sizeof device->name);
    }
    driver_unlock();
    return there != NULL;
}
