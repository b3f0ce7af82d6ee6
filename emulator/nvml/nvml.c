#include "emulator/nvml/nvml.h"

#include <cuda.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "emulator/driver/driver.h"
#include "emulator/memory/memory.h"

/* The first driver with the CUDA that the device has, which programs compare with what they need.
 */
static const char driver_version[] = "580.65.06";
static const char library_version[] = "13.580.65.06";

enum { NVIDIA = 0x10de }; /* the vendor's number on PCI */

struct nvmlDevice_st {
    char any; /* a handle is its place in `nvml.handles` */
};

static struct {
    pthread_mutex_t lock;
    unsigned users;
    struct nvmlDevice_st handles[MEMORY_DEVICES];
} nvml = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the library ----------------------------------------------------------------------------- */

nvmlReturn_t nvmlInit_v2(void)
{
    overlap_asked_for();
    pthread_mutex_lock(&nvml.lock);
    nvml.users++;
    pthread_mutex_unlock(&nvml.lock);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlInitWithFlags(unsigned flags)
{
    (void)flags; /* what to do without a GPU, and whether to attach to all of them at once */
    return nvmlInit_v2();
}

nvmlReturn_t nvmlShutdown(void)
{
    pthread_mutex_lock(&nvml.lock);
    const bool used = nvml.users > 0;
    if (used) nvml.users--;
    pthread_mutex_unlock(&nvml.lock);
    return used ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
}

static bool is_ready(void)
{
    pthread_mutex_lock(&nvml.lock);
    const bool used = nvml.users > 0;
    pthread_mutex_unlock(&nvml.lock);
    return used;
}

const char *nvmlErrorString(nvmlReturn_t result)
{
    switch (result) {
    case NVML_SUCCESS:
        return "The operation was successful";
    case NVML_ERROR_UNINITIALIZED:
        return "nvmlInit was not called";
    case NVML_ERROR_INVALID_ARGUMENT:
        return "An argument is invalid";
    case NVML_ERROR_NOT_SUPPORTED:
        return "The software device does not support this";
    case NVML_ERROR_NOT_FOUND:
        return "There is no such device";
    case NVML_ERROR_INSUFFICIENT_SIZE:
        return "An argument is too small for the answer";
    case NVML_ERROR_ARGUMENT_VERSION_MISMATCH:
        return "The version of an argument is not known";
    }
    return "Unknown error";
}

static nvmlReturn_t write_text(const char *text, char *to, unsigned length)
{
    if (to == NULL) return NVML_ERROR_INVALID_ARGUMENT;
    if (strlen(text) >= length) return NVML_ERROR_INSUFFICIENT_SIZE;
    memcpy(to, text, strlen(text) + 1);
    return NVML_SUCCESS;
}

/* These two need no nvmlInit. */
nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned length)
{
    return write_text(library_version, version, length);
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *version)
{
    if (version == NULL) return NVML_ERROR_INVALID_ARGUMENT;
    *version = CUDA_VERSION;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned length)
{
    if (!is_ready()) return NVML_ERROR_UNINITIALIZED;
    return write_text(driver_version, version, length);
}

/* ---- handles --------------------------------------------------------------------------------- */

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *count)
{
    struct overlap_device device;
    if (!is_ready()) return NVML_ERROR_UNINITIALIZED;
    if (count == NULL) return NVML_ERROR_INVALID_ARGUMENT;
    *count = 0;
    while (*count < MEMORY_DEVICES && overlap_device(*count, &device)) ++*count;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device)
{
    struct overlap_device there;
    if (!is_ready()) return NVML_ERROR_UNINITIALIZED;
    if (device == NULL || index >= MEMORY_DEVICES || !overlap_device(index, &there))
        return NVML_ERROR_INVALID_ARGUMENT;
    *device = &nvml.handles[index];
    return NVML_SUCCESS;
}

/* What `handle` stands for. `answer`: where the caller wants an answer. */
static nvmlReturn_t look_up(nvmlDevice_t handle, const void *answer, struct overlap_device *device)
{
    if (!is_ready()) return NVML_ERROR_UNINITIALIZED;
    if (answer == NULL) return NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned i = 0; i < MEMORY_DEVICES; i++)
        if (handle == &nvml.handles[i] && overlap_device(i, device)) return NVML_SUCCESS;
    return NVML_ERROR_INVALID_ARGUMENT;
}

#define LOOK_UP(handle, answer)                                                                    \
    struct overlap_device there;                                                                   \
    const nvmlReturn_t refusal = look_up(handle, answer, &there);                                  \
    if (refusal != NVML_SUCCESS) return refusal

static void write_uuid(const struct overlap_device *device, char uuid[NVML_UUID])
{
    size_t used = (size_t)snprintf(uuid, NVML_UUID, "GPU-");
    for (unsigned i = 0; i < sizeof device->uuid; i++)
        used += (size_t)snprintf(uuid + used, NVML_UUID - used, "%s%02x",
                                 i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", device->uuid[i]);
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
    struct overlap_device there;
    char here[NVML_UUID];
    if (!is_ready()) return NVML_ERROR_UNINITIALIZED;
    if (uuid == NULL || device == NULL) return NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned i = 0; i < MEMORY_DEVICES && overlap_device(i, &there); i++) {
        write_uuid(&there, here);
        if (strcasecmp(here, uuid) != 0) continue;
        *device = &nvml.handles[i];
        return NVML_SUCCESS;
    }
    return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *bus, nvmlDevice_t *device)
{
    struct overlap_device there;
    unsigned domain = 0, number = 0, on_bus = 0, function = 0;
    if (!is_ready()) return NVML_ERROR_UNINITIALIZED;
    if (bus == NULL || device == NULL) return NVML_ERROR_INVALID_ARGUMENT;
    if (sscanf(bus, "%x:%x:%x.%x", &domain, &number, &on_bus, &function) < 3 &&
        (domain = 0, sscanf(bus, "%x:%x.%x", &number, &on_bus, &function) < 2))
        return NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned i = 0; i < MEMORY_DEVICES && overlap_device(i, &there); i++) {
        if (there.bus != number || domain != 0 || on_bus != 0) continue;
        *device = &nvml.handles[i];
        return NVML_SUCCESS;
    }
    return NVML_ERROR_NOT_FOUND;
}

/* ---- what a device is ------------------------------------------------------------------------ */

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned *index)
{
    LOOK_UP(device, index);
    *index = (unsigned)(device - nvml.handles);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned *number)
{
    return nvmlDeviceGetIndex(device, number);
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned length)
{
    LOOK_UP(device, name);
    return write_text(there.name, name, length);
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned length)
{
    char text[NVML_UUID];
    LOOK_UP(device, uuid);
    write_uuid(&there, text);
    return write_text(text, uuid, length);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    LOOK_UP(device, pci);
    snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "0000:%02X:00.0", there.bus);
    pci->domain = pci->device = pci->pciSubSystemId = 0;
    pci->bus = there.bus;
    pci->pciDeviceId = NVIDIA;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    const nvmlReturn_t result = nvmlDeviceGetPciInfo_v2(device, pci);
    if (result != NVML_SUCCESS) return result;
    snprintf(pci->busId, sizeof pci->busId, "00000000:%02X:00.0", pci->bus);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor)
{
    LOOK_UP(device, major != NULL ? minor : NULL);
    *major = (int)there.major;
    *minor = (int)there.minor;
    return NVML_SUCCESS;
}

/* By compute capability: NVML_DEVICE_ARCH_*, the cores of a multiprocessor (Programming Guide,
 * "Compute Capabilities"), and the generation and lanes of its link to the host, of the GPU that is
 * modelled (NVIDIA's data sheets). */
static const struct architecture {
    unsigned major, minor, number, cores, generation, lanes;
} architectures[] = {
    {7, 5, 6, 64, 3, 16}, {8, 0, 7, 64, 4, 16}, {8, 9, 8, 128, 4, 8}, {9, 0, 9, 128, 5, 16}};

static const struct architecture *architecture_of(const struct overlap_device *device)
{
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++)
        if (architectures[i].major == device->major && architectures[i].minor == device->minor)
            return &architectures[i];
    return NULL;
}

nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, unsigned *architecture)
{
    LOOK_UP(device, architecture);
    const struct architecture *of = architecture_of(&there);
    if (of == NULL) return NVML_ERROR_NOT_SUPPORTED;
    *architecture = of->number;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t device, unsigned *cores)
{
    LOOK_UP(device, cores);
    const struct architecture *of = architecture_of(&there);
    if (of == NULL) return NVML_ERROR_NOT_SUPPORTED;
    *cores = there.multiprocessors * of->cores;
    return NVML_SUCCESS;
}

/* The link is always at its best. */
#define LINK(name, figure)                                                                         \
    nvmlReturn_t name(nvmlDevice_t device, unsigned *value)                                        \
    {                                                                                              \
        LOOK_UP(device, value);                                                                    \
        const struct architecture *of = architecture_of(&there);                                   \
        if (of == NULL) return NVML_ERROR_NOT_SUPPORTED;                                           \
        *value = of->figure;                                                                       \
        return NVML_SUCCESS;                                                                       \
    }
LINK(nvmlDeviceGetCurrPcieLinkGeneration, generation)
LINK(nvmlDeviceGetMaxPcieLinkGeneration, generation)
LINK(nvmlDeviceGetGpuMaxPcieLinkGeneration, generation)
LINK(nvmlDeviceGetCurrPcieLinkWidth, lanes)
LINK(nvmlDeviceGetMaxPcieLinkWidth, lanes)

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
    LOOK_UP(device, memory);
    *memory = (nvmlMemory_t){
        .total = there.memory, .free = there.memory - there.used, .used = there.used};
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory)
{
    LOOK_UP(device, memory);
    if (memory->version != NVML_MEMORY_V2) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    *memory = (nvmlMemory_v2_t){.version = NVML_MEMORY_V2,
                                .total = there.memory,
                                .free = there.memory - there.used,
                                .used = there.used};
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, unsigned *bits)
{
    LOOK_UP(device, bits);
    *bits = there.memory_width;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, int type, unsigned *clock)
{
    LOOK_UP(device, clock);
    if (type < NVML_CLOCK_GRAPHICS || type > NVML_CLOCK_MEM) return NVML_ERROR_NOT_SUPPORTED;
    *clock = (type == NVML_CLOCK_MEM ? there.memory_clock : there.clock) / 1000;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, int *mode)
{
    LOOK_UP(device, mode);
    *mode = 0; /* NVML_COMPUTEMODE_DEFAULT: several contexts per device */
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, int *current, int *pending)
{
    LOOK_UP(device, current != NULL ? pending : NULL);
    *current = *pending = there.ecc;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned *is_mig)
{
    LOOK_UP(device, is_mig);
    *is_mig = 0;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMultiGpuBoard(nvmlDevice_t device, unsigned *is_multi)
{
    LOOK_UP(device, is_multi);
    *is_multi = 0;
    return NVML_SUCCESS;
}

/* ---- older names ----------------------------------------------------------------------------- */

/* A function under the name of an earlier version: one that does the same. */
#define ALSO(old, now) NVML_EXPORT __typeof__(now) old __attribute__((alias(#now)))
ALSO(nvmlInit, nvmlInit_v2);
ALSO(nvmlSystemGetCudaDriverVersion_v2, nvmlSystemGetCudaDriverVersion);
ALSO(nvmlDeviceGetCount, nvmlDeviceGetCount_v2);
ALSO(nvmlDeviceGetHandleByIndex, nvmlDeviceGetHandleByIndex_v2);
ALSO(nvmlDeviceGetHandleByPciBusId, nvmlDeviceGetHandleByPciBusId_v2);
ALSO(nvmlDeviceGetPciInfo, nvmlDeviceGetPciInfo_v2);
