/* Asks the driver for one of its tables, as a runtime inside a library does, or to load machine
 * code (LOADS): as a library (LIBRARY), and as a program that loads the given libraries and lets
 * each ask twice. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef LIBRARY
__attribute__((visibility("default"))) int ask(void);

#ifdef LOADS
int ask(void)
{
    /* The head of an ELF file for a device. */
    static const unsigned char code[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1, [16] = 2, [18] = 190};
    CUmodule module;
    CUcontext context;
    CUdevice device = 0;
    cuDevicePrimaryCtxRetain(&context, device);
    cuCtxSetCurrent(context);
#ifdef MADE
    void *made = calloc(1, sizeof code);
    if (made != NULL) memcpy(made, code, sizeof code);
    const CUresult loaded = cuModuleLoadData(&module, made);
    free(made);
    return (int)loaded;
#else
    return (int)cuModuleLoadData(&module, code);
#endif
}
#else
int ask(void)
{
    const void *table = NULL;
    static const CUuuid id = {{1}};
    return (int)cuGetExportTable(&table, &id);
}
#endif
#else
int main(int count, char **files)
{
    if (cuInit(0) != CUDA_SUCCESS) return 1;
    for (int i = 1; i < count; i++) {
        int (*ask)(void) = NULL;
        void *library = dlopen(files[i], RTLD_NOW);
        if (library != NULL) *(void **)&ask = dlsym(library, "ask");
        if (ask == NULL) return 1;
        for (int k = 0; k < 2; k++) printf("%d\n", ask()); // here: ask
    }
    return 0;
}
#endif
