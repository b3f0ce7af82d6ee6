/* Which file the loader takes for NVIDIA's libraries: the device's own libcuda and libcudart, and
 * for NVIDIA's compilers the libraries of this folder that stand in front of them, and with
 * OVERLAP_STANDINS=on those of emulator/standins, whatever path a program asks for. The library
 * path alone is not enough: a package from PyPI opens NVIDIA's
 * libraries by their full path, and a DT_RPATH is looked at before the library path.
 *
 * A runtime that is linked statically is not loaded at all: patch.h, and for Python bindings.h.
 *
 * A library that stands in front needs the one behind it by the name that begins with BEHIND. That
 * one is the file that was asked for in the first place.
 *
 * Loaded by LD_AUDIT into a namespace of its own, it shares nothing with the program; the loader's
 * lock is held when it is asked.
 *
 * Source: rtld-audit(7).
 */
#include "emulator/front/behind.h"
#include "emulator/front/bindings.h"
#include "emulator/front/patch.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct library {
    const char *name; /* and what has more numbers behind it */
    const char *any; /* the name that is for whatever version there is; NULL: that may be another */
    const char *file;
    bool standin;         /* only where OVERLAP_STANDINS says so */
    char asked[PATH_MAX]; /* what the program asked for; of libraries in front only */
} libraries[] = {
    {"libcuda.so.1", "libcuda.so", "libcuda.so.1", false, ""},
    {"libcudart.so.13", NULL, "libcudart.so.13", false, ""},
    {"libnvrtc.so.13", "libnvrtc.so", "front/liboverlap_nvrtc.so", false, ""},
    {"libnvJitLink.so.13", "libnvJitLink.so", "front/liboverlap_nvjitlink.so", false, ""},
    {"libcublas.so.13", "libcublas.so", "standins/libcublas.so.13", true, ""},
    {"libcufft.so.12", "libcufft.so", "standins/libcufft.so.12", true, ""},
    {"libcurand.so.10", "libcurand.so", "standins/libcurand.so.10", true, ""},
};

static bool are_standins_wanted(void)
{
    const char *setting = getenv("OVERLAP_STANDINS");
    return setting != NULL && strcmp(setting, "on") == 0;
}

static bool is_meant(const struct library *library, const char *name)
{
    const size_t length = strlen(library->name);
    if (library->standin && !are_standins_wanted()) return false;
    if (library->any != NULL && strcmp(library->any, name) == 0) return true;
    return strncmp(library->name, name, length) == 0 &&
           (name[length] == '\0' || name[length] == '.');
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The device's file of that name, or NULL: it is not where it should be. */
static char *own_file(const char *file)
{
    static char path[PATH_MAX];
    Dl_info self;
    if (dladdr((void *)libraries, &self) == 0 || self.dli_fname == NULL) return NULL;
    const int length = (int)(last_part(self.dli_fname) - self.dli_fname);
    const int written = snprintf(path, sizeof path, "%.*s%s", length, self.dli_fname, file);
    return written > 0 && written < (int)sizeof path ? path : NULL;
}

PUBLIC unsigned la_version(unsigned version)
{
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

PUBLIC char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
    const char *plain = last_part(name);
    const bool behind = strncmp(plain, BEHIND, sizeof BEHIND - 1) == 0;
    (void)cookie;
    if (flag != LA_SER_ORIG) return (char *)name;
    if (behind) plain += sizeof BEHIND - 1;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        struct library *library = &libraries[i];
        if (!is_meant(library, plain)) continue;
        if (behind) return *library->asked != '\0' ? library->asked : (char *)library->name;
        char *own = own_file(library->file);
        if (own == NULL || strcmp(name, own) == 0) return (char *)name;
        snprintf(library->asked, sizeof library->asked, "%s", name);
        return own;
    }
    return (char *)name;
}

/* ---- runtimes that are linked statically --------------------------------------------------- */

enum { NEW_MOST = 4096 }; /* objects that are loaded at once */

static const struct link_map *runtime; /* our libcudart.so.13; NULL: not loaded */
static const struct link_map *new_objects[NEW_MOST];
static size_t new_count;

PUBLIC unsigned la_objopen(struct link_map *map, Lmid_t lmid, uintptr_t *cookie)
{
    (void)cookie;
    if (lmid != LM_ID_BASE) return 0;
    if (strcmp(last_part(map->l_name), "libcudart.so.13") == 0)
        runtime = map;
    else if (new_count < NEW_MOST)
        new_objects[new_count++] = map;
    return (bindings_publish(map) ? LA_FLG_BINDFROM : 0u) |
           (bindings_may_be_python(map) ? LA_FLG_BINDTO : 0u);
}

/* Cookies are the objects: nobody has set them. */
PUBLIC uintptr_t la_symbind64(ElfW(Sym) * symbol, unsigned number, uintptr_t *from, uintptr_t *to,
                              unsigned *flags, const char *name)
{
    (void)number, (void)flags;
    return bindings_symbol((const struct link_map *)*from, (const struct link_map *)*to, runtime,
                           name, symbol->st_value);
}

/* All that was asked for is mapped, and none of its code has run. */
PUBLIC void la_activity(uintptr_t *cookie, unsigned flag)
{
    (void)cookie;
    if (flag != LA_ACT_CONSISTENT || runtime == NULL) return;
    for (size_t i = 0; i < new_count; i++) patch_runtime(new_objects[i], runtime);
    new_count = 0;
}

PUBLIC unsigned la_objclose(uintptr_t *cookie)
{
    if (*cookie == (uintptr_t)runtime) runtime = NULL;
    new_count = 0; /* what was not patched by now is not going to be */
    return 0;
}
