/* nvml: libnvidia-ml.so.1, the library by which programs ask what GPUs a machine has before CUDA
 * begins. It answers from the list of devices that the software device has (OVERLAP_DEVICES), and
 * never initialises CUDA: a program may fork between the two. What a GPU measures (temperature,
 * power, utilisation), what it could be set to, and who else uses it, is not supported, as on many
 * real GPUs; each such function of NVIDIA's returns NVML_ERROR_NOT_SUPPORTED (absent.def).
 *
 * All devices that exist are listed, also those that CUDA_VISIBLE_DEVICES hides. The memory in use
 * is what the calling process has allocated, for the devices are in it.
 *
 * The toolkit need not have nvml.h, so what is answered is declared here. A handle is valid until
 * the process ends. Every function may be called by several threads.
 *
 * Source: NVML API Reference Guide (CUDA 13).
 */
#ifndef OVERLAP_NVML_NVML_H
#define OVERLAP_NVML_NVML_H

#include <stddef.h>

#define NVML_EXPORT __attribute__((visibility("default")))

typedef enum {
    NVML_SUCCESS = 0,
    NVML_ERROR_UNINITIALIZED = 1,
    NVML_ERROR_INVALID_ARGUMENT = 2,
    NVML_ERROR_NOT_SUPPORTED = 3,
    NVML_ERROR_NOT_FOUND = 6,
    NVML_ERROR_INSUFFICIENT_SIZE = 7,
    NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
} nvmlReturn_t;

typedef struct nvmlDevice_st *nvmlDevice_t;

enum { NVML_BUS_ID_V2 = 16, NVML_BUS_ID = 32, NVML_NAME = 96, NVML_UUID = 96, NVML_VERSION = 80 };

typedef struct {
    char busIdLegacy[NVML_BUS_ID_V2]; /* "0000:01:00.0" */
    unsigned domain, bus, device;
    unsigned pciDeviceId; /* of the device, above that of the vendor */
    unsigned pciSubSystemId;
    char busId[NVML_BUS_ID]; /* "00000000:01:00.0"; versions 1 and 2 do not have it */
} nvmlPciInfo_t;

typedef struct {
    unsigned long long total, free, used; /* bytes */
} nvmlMemory_t;

typedef struct {
    unsigned version; /* NVML_MEMORY_V2 */
    unsigned long long total, reserved, free, used;
} nvmlMemory_v2_t;
#define NVML_MEMORY_V2 ((unsigned)sizeof(nvmlMemory_v2_t) | 2u << 24)

enum { NVML_CLOCK_GRAPHICS, NVML_CLOCK_SM, NVML_CLOCK_MEM };

/* ---- the library ----------------------------------------------------------------------------- */

/* Calls of nvmlInit are counted: the last nvmlShutdown ends it. */
NVML_EXPORT nvmlReturn_t nvmlInit_v2(void);
NVML_EXPORT nvmlReturn_t nvmlInitWithFlags(unsigned flags);
NVML_EXPORT nvmlReturn_t nvmlShutdown(void);
NVML_EXPORT const char *nvmlErrorString(nvmlReturn_t result);
/* Texts go to `length` bytes; NVML_ERROR_INSUFFICIENT_SIZE: they do not fit. */
NVML_EXPORT nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned length);
NVML_EXPORT nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned length);
NVML_EXPORT nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *version);

/* ---- devices --------------------------------------------------------------------------------- */

NVML_EXPORT nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *count);
NVML_EXPORT nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device);
NVML_EXPORT nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device);
/* With or without the domain. */
NVML_EXPORT nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *bus, nvmlDevice_t *device);

NVML_EXPORT nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned *index);
NVML_EXPORT nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned *number);
NVML_EXPORT nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned length);
NVML_EXPORT nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned length);
NVML_EXPORT nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci);
NVML_EXPORT nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t *pci);
NVML_EXPORT nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major,
                                                            int *minor);
NVML_EXPORT nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, unsigned *architecture);
NVML_EXPORT nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t device, unsigned *cores);
NVML_EXPORT nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned *value);
NVML_EXPORT nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned *value);
NVML_EXPORT nvmlReturn_t nvmlDeviceGetGpuMaxPcieLinkGeneration(nvmlDevice_t device,
                                                               unsigned *value);
NVML_EXPORT nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned *value);
NVML_EXPORT nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned *value);
NVML_EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory);
NVML_EXPORT nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory);
NVML_EXPORT nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, unsigned *bits);
/* `type`: NVML_CLOCK_*; MHz. */
NVML_EXPORT nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, int type, unsigned *clock);
NVML_EXPORT nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, int *mode);
NVML_EXPORT nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, int *current, int *pending);
NVML_EXPORT nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned *is_mig);
NVML_EXPORT nvmlReturn_t nvmlDeviceGetMultiGpuBoard(nvmlDevice_t device, unsigned *is_multi);

#endif
