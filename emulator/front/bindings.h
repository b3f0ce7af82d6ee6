/* bindings: replaces the runtime inside NVIDIA's Python bindings (cuda.bindings.runtime). The
 * library that contains it is stripped, but Cython publishes each of its functions by name, in a
 * capsule from which other modules take the function. When such a module publishes a function, the
 * capsule gets the device's function of the same name instead. No code of that library is changed,
 * and its own runtime is never called.
 *
 * Other libraries, and functions that the device does not have, are left alone.
 */
#ifndef OVERLAP_FRONT_BINDINGS_H
#define OVERLAP_FRONT_BINDINGS_H

#include <link.h>
#include <stdbool.h>

/* Returns true if the object publishes a runtime, or if it may be Python, which stores what is
 * published.
 */
bool bindings_publish(const struct link_map *object);
bool bindings_may_be_python(const struct link_map *object);
/* Called for each symbol binding: returns the address to use for `name`, which `object` imports and
 * `python` defines at `address`. `runtime`: the device's libcudart.so.13, which stays loaded. */
uintptr_t bindings_symbol(const struct link_map *object, const struct link_map *python,
                          const struct link_map *runtime, const char *name, uintptr_t address);

#endif
