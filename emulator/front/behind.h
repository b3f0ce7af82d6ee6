/* front: libraries that stand in front of NVIDIA's compilers and return PTX where the program asks
 * for machine code, since the software device executes only PTX. Each library defines the functions
 * that it replaces and has a dependency on the library behind it, by the name below; all other
 * functions are found there (by dlsym or the loader). audit.c decides which file that name stands
 * for.
 *
 * Nothing here compiles or executes anything.
 */
#ifndef OVERLAP_FRONT_BEHIND_H
#define OVERLAP_FRONT_BEHIND_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#define PUBLIC __attribute__((visibility("default")))

/* Must agree with CMakeLists.txt. */
#define BEHIND "overlap-behind-"
/* FRONT_BEHIND: defined by CMakeLists.txt, the file behind the library that is compiled. */

/* A function of the library behind, which is loaded already; NULL: no function of that name. */
static inline void *behind_function(const char *library, const char *name)
{
    void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    void *function = handle != NULL ? dlsym(handle, name) : NULL;
    if (handle != NULL) dlclose(handle); /* the library in front keeps it loaded */
    return function;
}

#endif
