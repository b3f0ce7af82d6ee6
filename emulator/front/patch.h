/* patch: a runtime library that is linked into a program, or into a library, statically (nvcc's
 * default). Each of its public functions that the object has a symbol for is made to begin with a
 * jump to the device's function of the same name, before any code of the object runs; none of the
 * rest of that runtime is ever called. So what such a program asks for arrives as that of any
 * other, with the caller's own return address.
 *
 * It changes the code in memory only, and only what the object's symbol table names: of an object
 * that is stripped it knows nothing and leaves it alone. Nor does it touch the runtime of CUDA 12,
 * whose functions take other arguments.
 */
#ifndef OVERLAP_FRONT_PATCH_H
#define OVERLAP_FRONT_PATCH_H

#include <link.h>
#include <stdint.h>

/* `runtime`: our libcudart.so.13, of the same namespace. The object is mapped, and does not run. */
void patch_runtime(const struct link_map *object, const struct link_map *runtime);
/* Where the object, which is loaded, has the public function of that name; 0: nowhere. */
uintptr_t patch_function(const struct link_map *object, const char *name);

#endif
