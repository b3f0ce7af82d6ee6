#include "emulator/cli/info.h"

#include <cuda.h>
#include <dlfcn.h>
#include <limits.h>

#include "emulator/cli/support.h"

static const struct {
    const char *name, *unit;
    CUdevice_attribute attribute;
    int divisor; /* 0: shown as yes or no */
} properties[] = {
    {"multiprocessors", "", CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 1},
    {"clock", "MHz", CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1000},
    {"threads per warp", "", CU_DEVICE_ATTRIBUTE_WARP_SIZE, 1},
    {"threads per block, at most", "", CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1},
    {"threads per multiprocessor", "", CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 1},
    {"registers per block", "", CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 1},
    {"shared memory per block", "KiB", CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 1024},
    {"  when asked for", "KiB", CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 1024},
    {"constant memory", "KiB", CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 1024},
    {"copy engines", "", CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 1},
    {"kernels side by side", "", CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 0},
    {"cooperative launch", "", CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 0},
    {"clusters of blocks", "", CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 0},
    {"managed memory", "", CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 0},
    {"stream-ordered memory", "", CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 0},
};

/* Features of CUDA's documentation that are missing; --support lists single names. */
static const struct {
    const char *what, *names;
} missing[] = {
    {"some of the tensor cores",
     "tcgen05; mma and wgmma of sparse matrices, of fp8, 4 bits and 1 bit"},
    {"some tensor maps", "im2col, interleaved layouts, 4 and 6 bits"},
    {"kernels that start graphs", "device-side graph launch"},
    {"memory of other APIs", "external memory and semaphores"},
    {"graphics", "OpenGL, Vulkan, Direct3D, EGL"},
    {"some textures", "gradients of mipmaps, views in other formats, samplers apart from images"},
    {"machine code",
     "a binary without PTX: build with nvcc's default or -gencode ...,code=compute_XX"},
};

/* The functions of the driver API that are used here. */
struct driver {
    CUresult (*init)(unsigned flags);
    CUresult (*name)(char *name, int size, CUdevice device);
    CUresult (*memory)(size_t *bytes, CUdevice device);
    CUresult (*attribute)(int *value, CUdevice_attribute attribute, CUdevice device);
};

static bool open_driver(struct driver *driver, const char *libraries)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/libcuda.so.1", libraries);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return false;
    /* The conversion that dlsym(3) recommends for pointers to functions. */
    *(void **)&driver->init = dlsym(library, "cuInit");
    *(void **)&driver->name = dlsym(library, "cuDeviceGetName");
    *(void **)&driver->memory = dlsym(library, "cuDeviceTotalMem_v2");
    *(void **)&driver->attribute = dlsym(library, "cuDeviceGetAttribute");
    return driver->init != NULL && driver->name != NULL && driver->memory != NULL &&
           driver->attribute != NULL;
}

static void write_device(FILE *out, const struct driver *driver)
{
    char name[128];
    size_t bytes;
    int major, minor, value;

    if (driver->name(name, sizeof name, 0) == CUDA_SUCCESS) fprintf(out, "%s\n", name);
    if (driver->attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0) ==
            CUDA_SUCCESS &&
        driver->attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0) == CUDA_SUCCESS)
        fprintf(out, "  %-28s %d.%d\n", "compute capability", major, minor);
    if (driver->memory(&bytes, 0) == CUDA_SUCCESS)
        fprintf(out, "  %-28s %zu MiB (OVERLAP_MEMORY)\n", "memory", bytes >> 20);
    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
        if (driver->attribute(&value, properties[i].attribute, 0) != CUDA_SUCCESS) continue;
        const char *unit = properties[i].unit;
        if (properties[i].divisor == 0)
            fprintf(out, "  %-28s %s\n", properties[i].name, value != 0 ? "yes" : "no");
        else
            fprintf(out, "  %-28s %d%s%s\n", properties[i].name, value / properties[i].divisor,
                    *unit != '\0' ? " " : "", unit);
    }
}

bool info_write(FILE *out, const char *libraries, char *why, size_t why_size)
{
    struct driver driver;
    if (!open_driver(&driver, libraries)) {
        snprintf(why, why_size, "the software device cannot be loaded: %s", dlerror());
        return false;
    }
    if (driver.init(0) != CUDA_SUCCESS) {
        snprintf(why, why_size, "the software device does not start");
        return false;
    }
    write_device(out, &driver);
    fprintf(out, "\nSupported of CUDA %d.%d\n", CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10);
    for (int group = 0; group < SUPPORT_GROUP_COUNT; group++) {
        const struct support_total total = support_total((enum support_group)group);
        fprintf(out, "  %4zu of %4zu %s\n", total.supported, total.all, total.group);
    }
    fprintf(out, "\nNot supported, among others:\n");
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        fprintf(out, "  %-28s %s\n", missing[i].what, missing[i].names);
    fprintf(out, "\n./emulate --support lists them all. A function that is not supported says so "
                 "when it is called,\nand returns cudaErrorNotSupported.\n");
    return true;
}
