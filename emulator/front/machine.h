/* machine: what a program expects of a machine with a GPU besides libraries, for the preloaded
 * library liboverlap_front.so: the device files of NVIDIA's driver, which packages look for before
 * they load any library (nodes.c), and NVIDIA's ptxas, whose machine code the software device
 * cannot execute (spawn.c).
 *
 * Nothing here opens a device file, compiles anything, or makes a call of CUDA's.
 */
#ifndef OVERLAP_FRONT_MACHINE_H
#define OVERLAP_FRONT_MACHINE_H

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>

#define PUBLIC __attribute__((visibility("default")))

/* Defines `next`, the function of this name that the library stands in front of. Where there is
 * none, returns -1 with ENOSYS. */
#define MACHINE_NEXT(type, name, ...)                                                              \
    static type (*next)(__VA_ARGS__);                                                              \
    if (next == NULL) next = (type(*)(__VA_ARGS__))(uintptr_t)dlsym(RTLD_NEXT, #name);             \
    if (next == NULL) return errno = ENOSYS, -1

#endif
