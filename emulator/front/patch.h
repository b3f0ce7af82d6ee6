/* patch: replaces a runtime library that is linked statically into a program or a library (nvcc's
 * default). Each of its public functions gets a jump to the device's function of the same name at
 * its beginning, before any code of the object runs. The rest of that runtime is then never called.
 * Calls of such a program therefore reach the device with the caller's own return address, as those
 * of any other program do.
 *
 * Only code in memory is changed, and only functions that the object's symbol table names or, where
 * it was stripped, whose places stripped.h knows. Runtimes older than CUDA 12's are left alone.
 */
#ifndef OVERLAP_FRONT_PATCH_H
#define OVERLAP_FRONT_PATCH_H

#include <link.h>
#include <stdint.h>

/* The device's libcudart.so.13 and libcudart.so.12, in the program's namespace; NULL: not loaded.
 */
struct patch_runtimes {
    const struct link_map *of_13, *of_12;
};

/* The object is mapped, and none of its code has run. Returns the version of the runtime in an
 * object without its symbols, as 13040; else 0. */
unsigned patch_runtime(const struct link_map *object, const struct patch_runtimes *runtimes);
/* Makes variables of a library that are called as functions of the driver bind within the library:
 * pointers that it fills by dlsym, often. In front of a GPU no libcuda is loaded before it, but
 * here one is, whose functions would take their place. `driver`: the file of the device's libcuda.
 * The object is mapped, and not relocated. A program's own come first anyhow. */
void patch_variables(const struct link_map *object, const char *driver);
/* The address of a public function or variable (STT_FUNC, STT_OBJECT) in a loaded object; 0: it has
 * none. */
uintptr_t patch_defined(const struct link_map *object, unsigned type, const char *name);

#endif
