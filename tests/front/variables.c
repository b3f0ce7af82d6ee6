/* A library whose public variables are called as functions of the driver, as those are that look
 * for libcuda themselves (LIBRARY); and a program that opens it, or is linked with it (LINKED). */
#include <dlfcn.h>
#include <stdio.h>

#if defined LIBRARY
#define PUBLIC __attribute__((visibility("default")))

extern int (*cuInit)(unsigned);
extern int (*cuDeviceGetCount)(int *);
extern int *cuOfNobody;
PUBLIC int (*cuInit)(unsigned);
PUBLIC int (*cuDeviceGetCount)(int *);
PUBLIC int *cuOfNobody; /* other libraries may mean this one */
int find_devices(void);

PUBLIC int find_devices(void)
{
    int count = -1;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (driver == NULL) return -2;
    *(void **)&cuInit = dlsym(driver, "cuInit");
    *(void **)&cuDeviceGetCount = dlsym(driver, "cuDeviceGetCount");
    cuOfNobody = &count;
    return cuInit(0) == 0 && cuDeviceGetCount(&count) == 0 ? *cuOfNobody : -3;
}
#elif defined LINKED
int find_devices(void);

int main(void)
{
    printf("%d\n", find_devices());
    return 0;
}
#else
int main(int count, char **files)
{
    int (*find_devices)(void) = NULL;
    void *library = count > 1 ? dlopen(files[1], RTLD_NOW) : NULL;
    if (library != NULL) *(void **)&find_devices = dlsym(library, "find_devices");
    if (find_devices == NULL) return 1;
    printf("%d\n", find_devices());
    return dlsym(library, "cuOfNobody") == NULL;
}
#endif
