/* probe: asks NVIDIA's driver how many GPUs there are, in a process of its own, because the grader
 * never touches CUDA and because a driver that hangs must not hang the grader.
 *
 * Prints one line per GPU, its name, its memory in bytes and its compute capability (75 for 7.5)
 * with tabs between, and exits with 0; exits with 1 and a sentence on stderr when there is none.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*init_function)(unsigned flags);
typedef int (*count_function)(int *count);
typedef int (*device_function)(int *device, int ordinal);
typedef int (*name_function)(char *name, int length, int device);
typedef int (*memory_function)(size_t *bytes, int device);
typedef int (*attribute_function)(int *value, int attribute, int device);

enum { CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 }; /* CU_DEVICE_ATTRIBUTE_COMPUTE_... */

/* dlsym returns a pointer to data, which ISO C cannot convert to a function pointer. */
static int find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

int main(void)
{
    init_function init;
    count_function count_devices;
    device_function get_device;
    name_function get_name;
    memory_function get_memory;
    attribute_function get_attribute;
    int count = 0, error;

    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (driver == NULL) {
        fprintf(stderr, "no NVIDIA driver is installed (libcuda.so.1 was not found)\n");
        return 1;
    }
    if (find(driver, "overlap_call_enter", &init)) {
        fprintf(stderr, "the library path leads to the software device, not to NVIDIA's driver\n");
        return 1;
    }
    if (!find(driver, "cuInit", &init) || !find(driver, "cuDeviceGetCount", &count_devices) ||
        !find(driver, "cuDeviceGet", &get_device) || !find(driver, "cuDeviceGetName", &get_name) ||
        !find(driver, "cuDeviceTotalMem_v2", &get_memory) ||
        !find(driver, "cuDeviceGetAttribute", &get_attribute)) {
        fprintf(stderr, "libcuda.so.1 is not NVIDIA's driver\n");
        return 1;
    }
    if ((error = init(0)) != 0 || (error = count_devices(&count)) != 0) {
        fprintf(stderr, "NVIDIA's driver is installed but answers with error %d\n", error);
        return 1;
    }
    for (int i = 0; i < count; i++) {
        char name[128] = "";
        size_t bytes = 0;
        int device, major, minor;
        if (get_device(&device, i) == 0 && get_name(name, sizeof name, device) == 0 &&
            get_memory(&bytes, device) == 0 &&
            get_attribute(&major, CAPABILITY_MAJOR, device) == 0 &&
            get_attribute(&minor, CAPABILITY_MINOR, device) == 0)
            printf("%s\t%zu\t%d\n", name, bytes, 10 * major + minor);
    }
    if (count == 0) fprintf(stderr, "NVIDIA's driver is installed but sees no GPU\n");
    return count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
