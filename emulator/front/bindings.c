#include "emulator/front/bindings.h"
#include "emulator/front/patch.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The modules of cuda.bindings 13; the second is the variant for per-thread default streams. */
static const char internal[] = "/cuda/bindings/_internal/runtime";
static const char per_thread[] = "/cuda/bindings/_internal/runtime_ptds";

bool bindings_publish(const struct link_map *object)
{
    return strstr(object->l_name, internal) != NULL;
}

bool bindings_may_be_python(const struct link_map *object)
{
    return *object->l_name == '\0' || strstr(object->l_name, "/libpython3") != NULL;
}

/* Functions of Python that are called here, by their C types; Python's lock is held. */
static struct {
    const struct link_map *runtime;
    int (*set_item)(void *dictionary, const char *name, void *object);
    int (*set_pointer)(void *capsule, void *pointer);
    void (*clear)(void);
} python;

/* The device's function for a name; per-thread variants come first where wanted. */
static uintptr_t device_function(const char *name, bool for_threads)
{
    static const char *const ends[] = {"_ptds", "_ptsz", ""};
    char whole[128];
    uintptr_t found = 0;
    for (size_t i = for_threads ? 0 : 2; i < sizeof ends / sizeof *ends && found == 0; i++) {
        snprintf(whole, sizeof whole, "%s%s", name, ends[i]);
        found = patch_defined(python.runtime, STT_FUNC, whole);
    }
    return found;
}

static int publish(void *dictionary, const char *name, void *object, bool for_threads)
{
    const uintptr_t function =
        strncmp(name, "_cuda", 5) == 0 ? device_function(name + 1, for_threads) : 0;
    if (function != 0 && python.set_pointer(object, (void *)function) != 0)
        python.clear(); /* not a capsule */
    return python.set_item(dictionary, name, object);
}

static int publish_plain(void *dictionary, const char *name, void *object)
{
    return publish(dictionary, name, object, false);
}

static int publish_for_threads(void *dictionary, const char *name, void *object)
{
    return publish(dictionary, name, object, true);
}

uintptr_t bindings_symbol(const struct link_map *object, const struct link_map *from,
                          const struct link_map *runtime, const char *name, uintptr_t address)
{
    if (runtime == NULL || strcmp(name, "PyDict_SetItemString") != 0) return address;
    python.runtime = runtime;
    *(void **)&python.set_item = (void *)address;
    *(void **)&python.set_pointer = (void *)patch_defined(from, STT_FUNC, "PyCapsule_SetPointer");
    *(void **)&python.clear = (void *)patch_defined(from, STT_FUNC, "PyErr_Clear");
    if (python.set_pointer == NULL || python.clear == NULL) return address;
    return strstr(object->l_name, per_thread) != NULL ? (uintptr_t)publish_for_threads
                                                      : (uintptr_t)publish_plain;
}
