/* front: libraries that stand in front of NVIDIA's compilers and give PTX where machine code is
 * asked for, since the software device executes PTX only. Each defines the functions that it
 * answers differently and needs the library behind it by the name below, so that all the other
 * functions are found there by whoever looks for them (dlsym, the loader). audit.c says which file
 * that is.
 *
 * Nothing here compiles or executes anything.
 */
#ifndef OVERLAP_FRONT_BEHIND_H
#define OVERLAP_FRONT_BEHIND_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#define PUBLIC __attribute__((visibility("default")))

/* As CMakeLists.txt has it. */
#define BEHIND "overlap-behind-"
#define NVRTC_BEHIND BEHIND "libnvrtc.so.13"
#define NVJITLINK_BEHIND BEHIND "libnvJitLink.so.13"

/* A function of the library behind, which is loaded; NULL: it has none of that name. */
static inline void *behind_function(const char *library, const char *name)
{
    void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    void *function = handle != NULL ? dlsym(handle, name) : NULL;
    if (handle != NULL) dlclose(handle); /* the one in front keeps it */
    return function;
}

#endif
