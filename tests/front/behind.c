/* A library that is called as NVIDIA's linker (BEHIND), with a function that only its version has;
 * one that needs it (NEEDS); and a program that opens the second and prints what the function
 * returns. */
#include <dlfcn.h>
#include <stdio.h>

int __nvJitLinkOfThisVersion_13_99(void);
__attribute__((visibility("default"))) int version(void);

#if defined(BEHIND)
__attribute__((visibility("default"))) int __nvJitLinkOfThisVersion_13_99(void)
{
    return 99;
}
#elif defined(NEEDS)
int version(void)
{
    return __nvJitLinkOfThisVersion_13_99();
}
#else
int main(int count, char **files)
{
    int (*ask)(void) = NULL;
    void *library = count > 1 ? dlopen(files[1], RTLD_NOW) : NULL;
    if (library != NULL) *(void **)&ask = dlsym(library, "version");
    if (ask == NULL) {
        puts(dlerror());
        return 1;
    }
    printf("%d\n", ask());
    return 0;
}
#endif
