/* NVIDIA's driver on a machine with two GPUs, as far as the probe asks it. */
#include <stddef.h>
#include <stdio.h>

int cuInit(unsigned flags);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetName(char *name, int length, int device);
int cuDeviceTotalMem_v2(size_t *bytes, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device);

int cuInit(unsigned flags)
{
    return (int)flags;
}

int cuDeviceGetCount(int *count)
{
    *count = 2;
    return 0;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return 0;
}

int cuDeviceGetName(char *name, int length, int device)
{
    snprintf(name, (size_t)length, "GPU number %d", device);
    return 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    *bytes = (size_t)(device + 1) << 30;
    return 0;
}

/* Of compute capability 9.0 and 7.5. */
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    static const int capability[][2] = {{9, 0}, {7, 5}};
    *value = capability[device][attribute - 75];
    return 0;
}
