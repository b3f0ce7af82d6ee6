/* bindings: the runtime inside NVIDIA's bindings for Python (cuda.bindings.runtime). The library
 * that has it is stripped, but Cython publishes each of its functions by name, as a capsule that
 * other modules take the function from. When such a module publishes one, the capsule is made to
 * hold the device's function of the same name. So no code of that library is changed, and that of
 * its runtime is never called.
 *
 * It knows nothing of any other library, and leaves a function alone that the device does not have.
 */
#ifndef OVERLAP_FRONT_BINDINGS_H
#define OVERLAP_FRONT_BINDINGS_H

#include <link.h>
#include <stdbool.h>

/* Whether the object publishes a runtime, and whether it may be Python, which is asked to keep it.
 */
bool bindings_publish(const struct link_map *object);
bool bindings_may_be_python(const struct link_map *object);
/* What `name`, which `object` calls and Python has at `address`, is to be in place of that.
 * `runtime`: our libcudart.so.13, which stays. */
uintptr_t bindings_symbol(const struct link_map *object, const struct link_map *python,
                          const struct link_map *runtime, const char *name, uintptr_t address);

#endif
