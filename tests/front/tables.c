/* Asks the driver for one of its tables, as a runtime inside a library does: as a library
 * (LIBRARY), and as a program that loads the given libraries and lets each ask twice. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>

#ifdef LIBRARY
__attribute__((visibility("default"))) int ask(void);

int ask(void)
{
    const void *table = NULL;
    static const CUuuid id = {{1}};
    return (int)cuGetExportTable(&table, &id);
}
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
